// Templates: what stands around a token, as feature numbers.
//
// The cells of a column are numbered by their values. A function of a cell, such as its suffix, is worked out once
// for each value and not for each token; its results are numbered too. Both are *domains*: a token has at most one
// value of each. A template is a tuple of parts (d_i, o_i); its feature at token t is the tuple (v_1, …, v_k),
// v_i the value of domain d_i at token t + o_i, and there is none where a token lies outside the sentence or has no
// value. Features are numbered in the order in which they are first met, tokens in order, and at each the templates
// in order. So expanding is work on integers: for each token and template one look into a table, whose memory was
// asked for some tokens before. The name of a feature, "w[-1]|w[0]=in|the", is put together only when asked for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "growing.h"
#include "vocabulary.h"

namespace novikoff {

// Sentences as value numbers: cells[k][t] is what token t has in column k, -1 where it has nothing.
struct Tokens {
    Growing<int64_t> starts;  // sentence s is tokens starts[s] to starts[s + 1]
    std::vector<Growing<int32_t>> cells;

    explicit Tokens(size_t columns) : cells(columns) { starts.push(0); }
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
        return fold(ab ^ 0x9e3779b97f4a7c15, uint32_t(c) ^ 0xd6e8feb86659fd93);
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
    int32_t column;         // whose cells it is about
    bool derived;           // a function of them, or they themselves
    Vocabulary values;
    Growing<int32_t> of;    // derived: the value that comes of each of the column's, -1 for none
    int64_t kept = 0;       // values that belong to a frozen table; further ones come and go

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

    Growing<int32_t> single;         // one part: the feature of each value
    TupleTable tuples;               // two or more
    std::vector<TupleTable> inner;   // more than three: the first three count as one, and so on
    Growing<int32_t> rows;           // the values of each feature
    // Values that contain '|' can give one name to several tuples, which then are one feature.
    std::unordered_map<std::string, int32_t> spelled;
};

struct Expanded {
    Growing<int64_t> indptr;
    Growing<int32_t> ids;
};

class TemplateIndex {
    static constexpr int32_t unknown = -1, unsure = -2;

    // A feature on its way: its key, which is looked up a while later.
    struct Pending {
        uint64_t hash;
        int32_t a, b, c;
        int32_t templ;  // negative: the key could not be made, ~templ
        int32_t token;  // of the sentence
    };

    Growing<uint16_t> templates_of;  // features
    Growing<int32_t> rows_of;        // their row among those of the template

  public:
    std::vector<Domain> domains;  // the columns first
    std::vector<Template> templates;
    bool frozen = false;

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
        if (feature == std::numeric_limits<int32_t>::max()) throw std::length_error("more than 2^31 - 1 features");
        templates_of.push(uint16_t(templ));
        rows_of.push(int32_t(row));
        m.rows.append(values, m.parts.size());
        index(m, values, int32_t(feature));
        if (has_bar(m, values)) m.spelled.emplace(spelling(m, values), int32_t(feature));
        return int32_t(feature);
    }
    // The number of a tuple of values, or -1.
    int32_t find(size_t templ, const int32_t* values) const {
        Pending p{};
        const Template& m = templates[templ];
        p.templ = int32_t(templ);
        if (!const_cast<TemplateIndex*>(this)->key(const_cast<Template&>(m), values, false, p)) return unknown;
        return look(m, p);
    }

    // The features of all tokens. With `grow` what is new gets a number, else it is left out.
    void expand(const Tokens& tokens, bool grow, Expanded& out) {
        pad(grow);
        const std::vector<std::vector<int32_t>> values = values_of(tokens);
        if (grow) fit();
        constexpr size_t batch = 512;
        std::vector<Pending> pending;
        std::vector<std::pair<int64_t, size_t>> ends;  // of tokens among them
        pending.reserve(batch + templates.size());
        out.indptr.push(int64_t(out.ids.size()));
        for (int64_t s = 0; s < tokens.sentences(); ++s) {
            const int64_t begin = tokens.starts[size_t(s)], end = tokens.starts[size_t(s) + 1];
            for (int64_t t = begin; t < end; ++t) {
                for (size_t k = 0; k < templates.size(); ++k) ask(values, k, t, begin, end, grow, pending);
                ends.emplace_back(t, pending.size());
                if (pending.size() >= batch) answer(values, begin, end, grow, pending, ends, out);
            }
            answer(values, begin, end, grow, pending, ends, out);
        }
    }

    // The same with names hashed to 2^bits numbers.
    void expand_hashed(const Tokens& tokens, int bits, uint64_t seed, Expanded& out) {
        pad(true);
        const std::vector<std::vector<int32_t>> values = values_of(tokens);
        const uint64_t low = (uint64_t(1) << bits) - 1;
        std::string text;
        std::vector<int32_t> tuple;
        out.indptr.push(int64_t(out.ids.size()));
        for (int64_t s = 0; s < tokens.sentences(); ++s) {
            const int64_t begin = tokens.starts[size_t(s)], end = tokens.starts[size_t(s) + 1];
            for (int64_t t = begin; t < end; ++t) {
                for (const Template& m : templates) {
                    if (!gather(values, m, t, begin, end, tuple)) continue;
                    text.assign(m.name);
                    for (size_t i = 0; i < tuple.size(); ++i) {
                        text += i ? '|' : '=';
                        text += domains[size_t(m.parts[i].domain)].values.list[tuple[i]];
                    }
                    out.ids.push(int32_t(hash_bytes(text.data(), text.size(), seed) & low));
                }
                out.indptr.push(int64_t(out.ids.size()));
            }
        }
    }

    // Forgets the values that a frozen table has met and not kept.
    void forget() {
        for (Domain& d : domains) {
            d.values.truncate(d.kept);
            d.of.clear();  // it may lead to values that are gone
        }
    }

  private:
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
            if (domains[size_t(m.parts[i].domain)].values.list[values[i]].find('|') != std::string_view::npos) return true;
        return false;
    }

    // What stands for tokens outside of a sentence has a number like any value; without `grow` only if it is known.
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

    // Every domain's value at every token.
    std::vector<std::vector<int32_t>> values_of(const Tokens& tokens) const {
        std::vector<std::vector<int32_t>> out(domains.size());
        const size_t n = size_t(tokens.size());
        for (size_t d = 0; d < domains.size(); ++d) {
            const Growing<int32_t>& cells = tokens.cells[size_t(domains[d].column)];
            out[d].assign(cells.data(), cells.data() + n);
            if (domains[d].derived)
                for (int32_t& v : out[d]) v = v < 0 ? -1 : domains[d].of[size_t(v)];
        }
        return out;
    }

    static int32_t value(const std::vector<std::vector<int32_t>>& values, const Part& part, int64_t t, int64_t begin,
                         int64_t end) {
        const int64_t at = t + part.offset;
        if (at >= begin && at < end) return values[size_t(part.domain)][size_t(at)];
        if (part.pads.empty()) return -1;
        return part.pads[size_t(at < begin ? begin - at - 1 : at - end)];
    }
    bool gather(const std::vector<std::vector<int32_t>>& values, const Template& m, int64_t t, int64_t begin,
                int64_t end, std::vector<int32_t>& out) const {
        out.clear();
        if ((m.where == Where::first && t != begin) || (m.where == Where::last && t + 1 != end)) return false;
        for (const Part& part : m.parts) {
            const int32_t v = value(values, part, t, begin, end);
            if (v < 0) return false;
            out.push_back(v);
        }
        return true;
    }

    // The key of a tuple: itself, or where it is longer than three, with its beginning replaced by numbers.
    bool key(Template& m, const int32_t* v, bool grow, Pending& p) {
        const size_t n = m.parts.size();
        if (n < 2) {
            p.a = n ? v[0] : 0;
            return true;
        }
        p.a = v[0], p.b = v[1], p.c = n > 2 ? v[2] : -1;
        size_t used = 3;
        for (TupleTable& table : m.inner) {
            const uint64_t hash = TupleTable::hash(p.a, p.b, p.c);
            int32_t number = table.find(hash, p.a, p.b, p.c);
            if (number < 0) {
                if (!grow) return false;
                table.add(hash, p.a, p.b, p.c, number = int32_t(table.size()));
            }
            p.a = number, p.b = v[used], p.c = used + 1 < n ? v[used + 1] : -1;
            used += 2;
        }
        p.hash = TupleTable::hash(p.a, p.b, p.c);
        return true;
    }
    static int32_t look(const Template& m, const Pending& p) {
        if (m.parts.size() < 2) return size_t(p.a) < m.single.size() ? m.single[size_t(p.a)] : unknown;
        return m.tuples.find(p.hash, p.a, p.b, p.c);
    }
    void index(Template& m, const int32_t* values, int32_t feature) {
        Pending p{};
        key(m, values, true, p);
        if (m.parts.size() < 2) {
            while (m.single.size() <= size_t(p.a)) m.single.push(unknown);
            m.single[size_t(p.a)] = feature;
        } else {
            m.tuples.add(p.hash, p.a, p.b, p.c, feature);
        }
    }

    void ask(const std::vector<std::vector<int32_t>>& values, size_t templ, int64_t t, int64_t begin, int64_t end,
             bool grow, std::vector<Pending>& pending) {
        Template& m = templates[templ];
        Pending p{};
        p.templ = int32_t(templ);
        p.token = int32_t(t - begin);
        switch (m.parts.size()) {
            case 0:
                if ((m.where == Where::first && t != begin) || (m.where == Where::last && t + 1 != end)) return;
                break;
            case 1:
                if ((p.a = value(values, m.parts[0], t, begin, end)) < 0) return;
                break;
            case 2:
            case 3:
                if ((p.a = value(values, m.parts[0], t, begin, end)) < 0) return;
                if ((p.b = value(values, m.parts[1], t, begin, end)) < 0) return;
                p.c = -1;
                if (m.parts.size() == 3 && (p.c = value(values, m.parts[2], t, begin, end)) < 0) return;
                p.hash = TupleTable::hash(p.a, p.b, p.c);
                m.tuples.prefetch(p.hash);
                break;
            default:
                if (!gather(values, m, t, begin, end, tuple)) return;
                if (key(m, tuple.data(), grow, p)) m.tuples.prefetch(p.hash);
                else p.templ = ~p.templ;
        }
        pending.push_back(p);
    }

    void answer(const std::vector<std::vector<int32_t>>& values, int64_t begin, int64_t end, bool grow,
                std::vector<Pending>& pending, std::vector<std::pair<int64_t, size_t>>& ends, Expanded& out) {
        size_t i = 0;
        for (const auto& [t, stop] : ends) {
            for (; i < stop; ++i) {
                const Pending& p = pending[i];
                Template& m = templates[size_t(p.templ < 0 ? ~p.templ : p.templ)];
                int32_t feature = p.templ < 0 ? unknown : look(m, p);
                if (feature < 0 && (grow || !m.spelled.empty())) {
                    gather(values, m, t, begin, end, tuple);
                    feature = meet(m, tuple.data(), grow);
                }
                if (feature >= 0) out.ids.push(feature);
            }
            out.indptr.push(int64_t(out.ids.size()));
        }
        pending.clear();
        ends.clear();
    }

    // A tuple that is not in the table: another that is spelled the same, or with `grow` a new feature.
    __attribute__((noinline)) int32_t meet(Template& m, const int32_t* values, bool grow) {
        if (!m.spelled.empty() && has_bar(m, values)) {
            const auto found = m.spelled.find(spelling(m, values));
            if (found != m.spelled.end()) {
                if (grow) index(m, values, found->second);
                return found->second;
            }
        }
        return grow ? add(size_t(&m - templates.data()), values) : unknown;
    }

    std::vector<int32_t> tuple;  // at hand
};

}  // namespace novikoff
