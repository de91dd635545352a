// Templates: what stands around a token, as feature numbers.
//
// The cells of a column are numbered by their values. A function of a cell, such as its suffix, is computed
// once for each value and not for each token; its results are numbered too. Both are *domains*: a token has
// at most one value of each. A template is a tuple of parts (d_i, o_i); its feature at token t is the tuple
// (v_1, …, v_k), v_i the value of domain d_i at token t + o_i, and there is none where a token lies outside
// the sentence or has no value. Features are numbered in the order in which they are first met, tokens in
// order, and at each the templates in order. So expanding is work on integers: for each token and template
// one look-up in a table, whose memory was prefetched some tokens before. The name of a feature,
// "w[-1]|w[0]=in|the", is put together only when asked for.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "memory/growing.h"
#include "text/vocabulary.h"

namespace novikoff {

// Sentences as value numbers: cells[k][t] is what token t has in column k, -1 where it has nothing. The
// numbers are those of the tokens' own `values`, in order of appearance, so that reading sentences changes no
// index that others use; an index notes in `places` which of its values these are.
struct Tokens {
    Growing<int64_t> starts;  // sentence s is tokens starts[s] to starts[s + 1]
    std::vector<Growing<int32_t>> cells;
    std::vector<Vocabulary> values;  // one for each column

    std::vector<std::vector<int32_t>> places;
    uint64_t era = 0;  // of the index: when they are valid

    explicit Tokens(size_t columns) : cells(columns) {
        starts.push(0);
        for (size_t k = 0; k < columns; ++k) values.emplace_back(64);  // often they are all of one sentence
    }
    int64_t sentences() const { return int64_t(starts.size()) - 1; }
    int64_t size() const { return starts[starts.size() - 1]; }
};

// Numbers of tuples of up to three integers.
class TupleTable {
    struct Slot {
        int32_t a, b, c, number;
    };
    using Table = std::vector<Slot, HugePages<Slot>>;
    static constexpr Slot free_slot{-1, -1, -1, -1};
    Table slots = Table(64, free_slot);
    uint64_t mask = 63;
    size_t used = 0;

    void enlarge() {
        Table old(2 * slots.size(), free_slot);
        old.swap(slots);
        mask = slots.size() - 1;
        for (const Slot& s : old)
            if (s.number >= 0) place(hash(s.a, s.b, s.c), s.a, s.b, s.c) = s;
    }
    Slot& place(uint64_t hash, int32_t a, int32_t b, int32_t c) {
        for (size_t at = size_t(hash & mask);; at = (at + 1) & mask) {
            Slot& s = slots[at];
            if ((s.a == a) & (s.b == b) & (s.c == c)) return s;  // a is never -1
            if (s.number < 0) return s;
        }
    }

  public:
    static uint64_t hash(int32_t a, int32_t b, int32_t c) {
        const uint64_t ab = uint64_t(uint32_t(a)) << 32 | uint32_t(b);
        return table_key.words(ab, uint32_t(c));
    }
    void prefetch(uint64_t hash) const { __builtin_prefetch(&slots[size_t(hash & mask)]); }
    size_t size() const { return used; }

    int32_t find(uint64_t hash, int32_t a, int32_t b, int32_t c) const {
        return const_cast<TupleTable*>(this)->place(hash, a, b, c).number;
    }
    // What is not there yet.
    void add(uint64_t hash, int32_t a, int32_t b, int32_t c, int32_t number) {
        if (2 * (++used) > slots.size()) enlarge();
        place(hash, a, b, c) = {a, b, c, number};
    }
};

struct Domain {
    int32_t column;  // whose cells it is about
    bool derived;  // a function of them, or they themselves
    Vocabulary values;
    int64_t kept = 0;  // values that features may have; others come and go
    Growing<int32_t> of;  // derived: the value that comes of each of the column's, -1 for none
    Growing<uint8_t> done;  // a column: whether its functions have been computed for a value
    bool used = false;  // a column: whether there is a function of it

    Domain(int32_t column, bool derived) : column(column), derived(derived) {}
};

struct Part {
    int32_t domain, offset;
    std::vector<int32_t> pads;  // values for 1, 2, … tokens outside of the sentence; empty: there are none
};

enum class Where : uint8_t { everywhere, first, last };

struct Template {
    std::string name;
    std::vector<Part> parts;
    Where where = Where::everywhere;  // of the sentence; for a template without parts

    Growing<int32_t> single;  // one part: the feature of each value
    TupleTable tuples;  // two or more
    std::vector<TupleTable> inner;  // more than three: the first three count as one, and so on
    Growing<int32_t> rows;  // the values of each feature
    // Values that contain '|' can give one name to several tuples, which then are one feature.
    std::unordered_map<std::string, int32_t, KeyedHash> spelled;
};

struct Expanded {
    Growing<int64_t> indptr;
    Growing<int32_t> ids;
};

class TemplateIndex {
    static constexpr int32_t unknown = -1, absent = -2;
    static constexpr size_t batch = 128;  // tokens whose features are looked up together

    struct Key {
        uint64_t hash;
        int32_t a, b, c;  // a < 0: there is none
    };

    // Every domain's value at every token, with room around the sentences for parts that look beyond them:
    // g tokens past the end of a sentence it is -2 - g, and what has no value is -1.
    struct Grid {
        int64_t reach = 0;
        std::vector<std::vector<int32_t>> values;
    };
    // The current tokens: where they are in the grid, and whether their sentence begins or ends with them.
    struct Batch {
        size_t n = 0;
        int64_t at[batch];
        bool first[batch], last[batch];
    };

    Growing<uint16_t> templates_of;  // features
    Growing<int32_t> rows_of;  // their row among those of the template
    uint64_t era = next_era();  // in which values keep their numbers

    static uint64_t next_era() {  // no two indices share one
        static std::atomic<uint64_t> last{0};
        return ++last;
    }

  public:
    std::vector<Domain> domains;  // the columns first
    std::vector<Template> templates;

    int64_t size() const { return int64_t(templates_of.size()); }
    const Growing<uint16_t>& order() const { return templates_of; }

    const int32_t* row(int64_t feature) const {
        const Template& m = templates[templates_of[size_t(feature)]];
        return m.rows.data() + size_t(rows_of[size_t(feature)]) * m.parts.size();
    }
    std::string name(int64_t feature) const {
        const Template& m = templates[templates_of[size_t(feature)]];
        return m.parts.empty() ? m.name : m.name + "=" + spelling(m, row(feature));
    }

    // Numbers the tuple of values, which must be new, as the next feature.
    int32_t add(size_t templ, const int32_t* values) {
        Template& m = templates[templ];
        const int64_t feature = size(), row = m.parts.empty() ? 0 : int64_t(m.rows.size() / m.parts.size());
        if (feature == std::numeric_limits<int32_t>::max())
            throw std::length_error("more than 2^31 - 1 features");
        templates_of.push(uint16_t(templ));
        rows_of.push(int32_t(row));
        m.rows.append(values, m.parts.size());
        index(m, values, int32_t(feature));
        if (has_bar(m, values)) m.spelled.emplace(spelling(m, values), int32_t(feature));
        return int32_t(feature);
    }
    // The number of a tuple of values, or -1.
    int32_t find(size_t templ, const int32_t* values) const {
        const Template& m = templates[templ];
        Key k{};
        return key(m, values, k) ? look(m, k) : unknown;
    }

    // The features of all tokens. With `grow` what is new gets a number, else it is left out. False: the
    // functions of some values are not computed, or no longer known.
    bool expand(Tokens& tokens, bool grow, Expanded& out) {
        if (!ready(tokens)) return false;
        pad(grow);
        if (grow) fit();
        const Grid grid = grid_of(tokens);
        const size_t k = templates.size();
        std::vector<int32_t> found(batch * k);
        std::vector<Key> keys(batch);
        std::vector<int32_t> tuple;
        out.indptr.push(int64_t(out.ids.size()));
        in_batches(tokens, grid, [&](const Batch& b) {
            for (size_t j = 0; j < k; ++j) look_up(templates[j], grid, b, keys.data(), found.data() + j);
            int32_t* const ids = out.ids.reserve(b.n * k);
            size_t n = 0;
            for (size_t i = 0; i < b.n; ++i) {
                for (size_t j = 0; j < k; ++j) {
                    int32_t id = found[i * k + j];
                    if (id == unknown && (grow || !templates[j].spelled.empty())) {
                        gather(templates[j], grid, b.at[i], tuple);
                        id = meet(j, tuple.data(), grow);
                    }
                    ids[n] = id;
                    n += id >= 0;
                }
                out.indptr.push(int64_t(out.ids.size() + n));
            }
            out.ids.grow(n);
        });
        if (grow)  // features may have any of them
            for (Domain& d : domains) d.kept = d.values.size();
        return true;
    }

    // The same with names hashed to 2^bits numbers.
    bool expand_hashed(Tokens& tokens, int bits, uint64_t seed, Expanded& out) {
        if (!ready(tokens)) return false;
        pad(true);
        const Grid grid = grid_of(tokens);
        const uint64_t low = (uint64_t(1) << bits) - 1;
        std::string text;
        std::vector<int32_t> tuple;
        out.indptr.push(int64_t(out.ids.size()));
        in_batches(tokens, grid, [&](const Batch& b) {
            for (size_t i = 0; i < b.n; ++i) {
                for (const Template& m : templates) {
                    if (!is_there(m, b, i) || !gather(m, grid, b.at[i], tuple)) continue;
                    text.assign(m.name);
                    for (size_t p = 0; p < tuple.size(); ++p) {
                        text += p ? '|' : '=';
                        text += domains[size_t(m.parts[p].domain)].values.list[tuple[p]];
                    }
                    out.ids.push(int32_t(hash_bytes(text.data(), text.size(), seed) & low));
                }
                out.indptr.push(int64_t(out.ids.size()));
            }
        });
        return true;
    }

    // Forgets the values that no feature has when there are many. (While features are added, any may be
    // one's.)
    void forget(int64_t more_than) {
        bool many = false;
        for (const Domain& d : domains) many |= d.values.size() - d.kept > more_than;
        if (!many) return;
        era = next_era();
        for (Domain& d : domains) {
            d.values.truncate(d.kept);
            d.of.clear();  // it may lead to values that are gone
            d.done.clear();
        }
    }

    // The tokens' values in a column whose functions have not been computed, in order of appearance.
    // The caller computes them and calls `derive`. Others may do so in between, or forget: everything is by
    // text.
    std::vector<std::string> waiting(size_t column, Tokens& tokens) {
        place(tokens);
        const Domain& d = domains[column];
        const NameList& texts = tokens.values[column].list;
        std::vector<std::string> out;
        for (int64_t i = 0; i < texts.size(); ++i)
            if (!is_done(d, tokens.places[column][size_t(i)])) out.emplace_back(texts[i]);
        return out;
    }
    // What all functions of a column give for these texts, by domain; an empty text is nothing.
    using Texts = std::vector<std::string_view>;
    void derive(size_t column, const Texts& texts, const std::vector<std::pair<size_t, Texts>>& results) {
        auto number = [](Vocabulary& values, std::string_view text) {
            return int32_t(values.number(Vocabulary::key(text), text.data(), text.size()));
        };
        Domain& base = domains[column];
        std::vector<size_t> numbers;
        for (const std::string_view text : texts) numbers.push_back(size_t(number(base.values, text)));
        for (const auto& [domain, found] : results) {
            Domain& d = domains[domain];
            while (d.of.size() < size_t(base.values.size())) d.of.push(-1);
            for (size_t i = 0; i < numbers.size(); ++i)
                d.of[numbers[i]] = found[i].empty() ? -1 : number(d.values, found[i]);
        }
        while (base.done.size() < size_t(base.values.size())) base.done.push(0);
        for (const size_t i : numbers) base.done[i] = 1;
    }

  private:
    static bool is_done(const Domain& d, int32_t value) {
        return size_t(value) < d.done.size() && d.done[size_t(value)];
    }

    // Numbers the tokens' values here, unless that was done and is still valid.
    void place(Tokens& tokens) {
        if (tokens.era == era) return;
        tokens.places.assign(tokens.values.size(), {});
        for (size_t k = 0; k < tokens.values.size(); ++k) {
            const NameList& own = tokens.values[k].list;
            tokens.places[k].reserve(size_t(own.size()));
            for (int64_t i = 0; i < own.size(); ++i) {
                const std::string_view text = own[i];
                const int64_t number =
                    domains[k].values.number(Vocabulary::key(text), text.data(), text.size());
                tokens.places[k].push_back(int32_t(number));
            }
        }
        tokens.era = era;
    }
    bool ready(Tokens& tokens) {
        place(tokens);
        for (size_t k = 0; k < tokens.values.size(); ++k)
            if (domains[k].used)
                for (const int32_t value : tokens.places[k])
                    if (!is_done(domains[k], value)) return false;
        return true;
    }

    std::string spelling(const Template& m, const int32_t* values) const {
        std::string text;
        for (size_t i = 0; i < m.parts.size(); ++i) {
            if (i) text += '|';
            text += domains[size_t(m.parts[i].domain)].values.list[values[i]];
        }
        return text;
    }
    bool has_bar(const Template& m, const int32_t* values) const {
        if (m.parts.size() < 2) return false;
        for (size_t i = 0; i < m.parts.size(); ++i)
            if (domains[size_t(m.parts[i].domain)].values.list[values[i]].find('|') != std::string_view::npos)
                return true;
        return false;
    }

    // What stands for tokens outside of a sentence has a number like any value; without `grow` only if it is
    // known.
    void pad(bool grow) {
        for (Template& m : templates)
            for (Part& part : m.parts)
                for (size_t i = 0; i < part.pads.size(); ++i) {
                    const std::string text = (part.offset < 0 ? "_B-" : "_B+") + std::to_string(i + 1);
                    Vocabulary& values = domains[size_t(part.domain)].values;
                    const uint64_t key = Vocabulary::key(text);
                    part.pads[i] = int32_t(grow ? values.number(key, text.data(), text.size())
                                                : values.find(key, text.data(), text.size()));
                }
    }

    // Room in the tables that are looked up by value.
    void fit() {
        for (Template& m : templates) {
            if (m.parts.size() > 1) continue;
            const size_t n = m.parts.empty() ? 1 : size_t(domains[size_t(m.parts[0].domain)].values.size());
            while (m.single.size() < n) m.single.push(unknown);
        }
    }

    Grid grid_of(const Tokens& tokens) const {
        Grid grid;
        for (const Template& m : templates)
            for (const Part& part : m.parts)
                grid.reach = std::max(grid.reach, int64_t(std::abs(part.offset)));
        const size_t n = size_t(tokens.size() + (tokens.sentences() + 1) * grid.reach);
        for (const Domain& d : domains) {
            std::vector<int32_t> values(n);
            int32_t* out = values.data();
            auto gap = [&] {
                for (int64_t g = 0; g < grid.reach; ++g) *out++ = int32_t(-2 - g);
            };
            const int32_t* const cells = tokens.cells[size_t(d.column)].data();
            std::vector<int32_t> here = tokens.places[size_t(d.column)];  // what the tokens' own values are
            if (d.derived)
                for (int32_t& v : here) v = d.of[size_t(v)];
            gap();
            for (int64_t s = 0; s < tokens.sentences(); ++s) {
                const int64_t begin = tokens.starts[size_t(s)], end = tokens.starts[size_t(s) + 1];
                for (int64_t t = begin; t < end; ++t) *out++ = cells[t] < 0 ? -1 : here[size_t(cells[t])];
                gap();
            }
            grid.values.push_back(std::move(values));
        }
        return grid;
    }
    template <class Each>
    static void in_batches(const Tokens& tokens, const Grid& grid, Each&& each) {
        Batch b;
        int64_t at = grid.reach;
        for (int64_t s = 0; s < tokens.sentences(); ++s, at += grid.reach) {
            const int64_t begin = tokens.starts[size_t(s)], end = tokens.starts[size_t(s) + 1];
            for (int64_t t = begin; t < end; ++t) {
                b.at[b.n] = at++;
                b.first[b.n] = t == begin;
                b.last[b.n++] = t + 1 == end;
                if (b.n == batch) each(b), b.n = 0;
            }
        }
        if (b.n) each(b);
    }

    // What stands in the grid where the part looks: a value, or negative.
    static int32_t padded(const Part& part, int64_t reach, int32_t v) {
        if (v > -2 || part.pads.empty()) return -1;
        const int64_t g = -2 - v;
        return part.pads[size_t(part.offset > 0 ? g : reach - 1 - g)];
    }
    static bool is_there(const Template& m, const Batch& b, size_t i) {
        return m.where == Where::everywhere || (m.where == Where::first ? b.first[i] : b.last[i]);
    }
    bool gather(const Template& m, const Grid& grid, int64_t at, std::vector<int32_t>& out) const {
        out.clear();
        for (const Part& part : m.parts) {
            int32_t v = grid.values[size_t(part.domain)][size_t(at + part.offset)];
            if (v < 0) v = padded(part, grid.reach, v);
            if (v < 0) return false;
            out.push_back(v);
        }
        return true;
    }

    // The template's feature at each token of the batch, unknown or absent; into every k-th place of `found`.
    void look_up(const Template& m, const Grid& grid, const Batch& b, Key* keys, int32_t* found) const {
        const size_t step = templates.size(), n = m.parts.size();
        auto reader = [&](size_t i) {
            const Part* const part = &m.parts[i];
            return [part, reach = grid.reach,
                    from = grid.values[size_t(part->domain)].data() + part->offset](int64_t at) {
                const int32_t v = from[at];
                return v < 0 ? padded(*part, reach, v) : v;
            };
        };
        if (n == 0) {
            for (size_t i = 0; i < b.n; ++i)
                found[i * step] = !is_there(m, b, i) ? absent : m.single.size() ? m.single[0] : unknown;
        } else if (n == 1) {
            const auto value = reader(0);
            const int32_t* const single = m.single.data();
            const size_t known = m.single.size();
            for (size_t i = 0; i < b.n; ++i) {
                const int32_t v = value(b.at[i]);
                found[i * step] = v < 0 ? absent : size_t(v) < known ? single[v] : unknown;
            }
        } else if (n <= 3) {
            const auto first = reader(0), second = reader(1), third = reader(n - 1);
            const bool three = n == 3;
            for (size_t i = 0; i < b.n; ++i) {
                const int32_t x = first(b.at[i]), y = second(b.at[i]), z = three ? third(b.at[i]) : -1;
                const bool whole = (x >= 0) & (y >= 0) & (!three | (z >= 0));
                keys[i] = {TupleTable::hash(x, y, z), whole ? x : -1, y, z};
                m.tuples.prefetch(keys[i].hash);
            }
            for (size_t i = 0; i < b.n; ++i) found[i * step] = keys[i].a < 0 ? absent : look(m, keys[i]);
        } else {
            std::vector<int32_t> tuple;
            for (size_t i = 0; i < b.n; ++i) {
                Key k{};
                found[i * step] = !gather(m, grid, b.at[i], tuple) ? absent
                                  : key(m, tuple.data(), k)        ? look(m, k)
                                                                   : unknown;
            }
        }
    }

    // The key of a tuple: itself, or where it is longer than three, with its beginning replaced by a number,
    // which `number(table, key)` finds or makes; false when it is negative.
    template <class Number>
    static bool make_key(size_t n, size_t inner, const int32_t* v, Key& k, Number&& number) {
        if (n < 2) {
            k.a = n ? v[0] : 0;
            return true;
        }
        k.a = v[0], k.b = v[1], k.c = n > 2 ? v[2] : -1;
        k.hash = TupleTable::hash(k.a, k.b, k.c);
        for (size_t i = 0, used = 3; i < inner; ++i, used += 2) {
            k.a = number(i, k);
            if (k.a < 0) return false;
            k.b = v[used], k.c = used + 1 < n ? v[used + 1] : -1;
            k.hash = TupleTable::hash(k.a, k.b, k.c);
        }
        return true;
    }
    static bool key(const Template& m, const int32_t* v, Key& k) {
        return make_key(m.parts.size(), m.inner.size(), v, k,
                        [&](size_t i, const Key& q) { return m.inner[i].find(q.hash, q.a, q.b, q.c); });
    }
    static int32_t look(const Template& m, const Key& k) {
        if (m.parts.size() < 2) return size_t(k.a) < m.single.size() ? m.single[size_t(k.a)] : unknown;
        return m.tuples.find(k.hash, k.a, k.b, k.c);
    }
    static void index(Template& m, const int32_t* values, int32_t feature) {
        Key k{};
        make_key(m.parts.size(), m.inner.size(), values, k, [&](size_t i, const Key& q) {
            int32_t number = m.inner[i].find(q.hash, q.a, q.b, q.c);
            if (number < 0) m.inner[i].add(q.hash, q.a, q.b, q.c, number = int32_t(m.inner[i].size()));
            return number;
        });
        if (m.parts.size() < 2) {
            while (m.single.size() <= size_t(k.a)) m.single.push(unknown);
            m.single[size_t(k.a)] = feature;
        } else {
            m.tuples.add(k.hash, k.a, k.b, k.c, feature);
        }
    }

    // A tuple that was not in the table before: it is there now, or another that is spelled the same is, or
    // with `grow` a new feature.
    __attribute__((noinline)) int32_t meet(size_t templ, const int32_t* values, bool grow) {
        Template& m = templates[templ];
        if (grow) {
            const int32_t found = find(templ, values);
            if (found >= 0) return found;
        }
        if (!m.spelled.empty() && has_bar(m, values)) {
            const auto found = m.spelled.find(spelling(m, values));
            if (found != m.spelled.end()) {
                if (grow) index(m, values, found->second);
                return found->second;
            }
        }
        return grow ? add(templ, values) : unknown;
    }
};

}  // namespace novikoff
