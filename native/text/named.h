// Rows of named features, gathered from text of several formats, block by block.
//
// A name gets a number in the block's own vocabulary; which columns of the model the names of a block have is
// asked once per name and block, not once per value. A name that comes twice in a row is found through the
// place of its latest value, without sorting, and its values are added in the order of the row.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "text/lines.h"
#include "text/vocabulary.h"

namespace novikoff {

struct NamedRows {
    Growing<int64_t> pointers;  // where each row begins, and where the last ends
    Growing<int32_t> indices;  // numbers in `names`, distinct in a row
    Growing<double> values;
    Vocabulary names;

    NamedRows() { pointers.push(0); }

    void clear() {
        pointers.clear();
        pointers.push(0);
        indices.clear(), values.clear(), latest.clear();
        names.truncate(0);
        drop_row();
    }

    // Adds a value to the current row. Names are only looked up when the row is finished, all at once: by
    // then their places in the table have been prefetched.
    void add(const char* p, size_t n, double x) { stage(staged_key(p, n), n, x); }
    void drop_row() { shorten_row({}); }

    // Drops what was added to the current row.
    struct Mark {
        size_t staged = 0, long_names = 0;
    };
    Mark mark() const { return {staged.size(), long_names.size()}; }
    void shorten_row(const Mark& m) {
        staged.shrink(m.staged), numbers.shrink(m.staged), divisors.shrink(m.staged);
        long_names.shrink(m.long_names);
    }
    // Where two values of one name add up to more than a double can hold, that name is what comes back, and
    // the row is dropped.
    std::optional<std::string> finish_row() {
        const size_t m = staged.size();
        const int64_t known = names.size(), begin = int64_t(values.size());
        double* const x = values.extend(m);
        int32_t* const j = indices.extend(m);
        number_names(j, m);
        for (size_t i = 0; i < m; ++i) x[i] = numbers[i] / divisors[i];
        size_t n = 0;
        while (n < m && latest[size_t(j[n])] < begin) latest[size_t(j[n])] = begin + int64_t(n), ++n;
        int64_t overflow = -1;
        if (n < m) overflow = add_up(j, x, n, m);
        values.shrink(size_t(begin) + n);
        indices.shrink(size_t(begin) + n);
        pointers.push(begin + int64_t(n));
        drop_row();
        if (overflow < 0) return {};
        std::string name(names.list[overflow]);
        undo_row(known);
        return name;
    }

  protected:
    struct Staged {
        uint64_t key, length, hash;  // of a name
    };
    // The current row: its names, and its values as quotients, since a division takes long unless there are
    // many.
    Growing<Staged> staged;
    Growing<double> numbers, divisors;
    void stage(uint64_t key, size_t n, double x) {
        staged.push({key, n, names.prefetch(key)});
        numbers.push(x);
        divisors.push(1);
    }
    void grow_row(size_t n) { staged.grow(n), numbers.grow(n), divisors.grow(n); }

    // The key of a name that is about to be staged.
    uint64_t staged_key(const char* p, size_t n) {
        if (n > 8) long_names.append(p, n);
        return Vocabulary::key({p, n});
    }

  private:
    Growing<char> long_names;  // of the row, those of more than eight bytes
    Growing<uint32_t> others;  // places in the row of names that the first look did not find
    Growing<int64_t> latest;  // a name's latest value

    // Most short names are in the first place looked at: those are read without a branch that depends on
    // it.
    void number_names(int32_t* ids, size_t m) {
        uint32_t* const other = others.reserve(m + 1);
        size_t n = 0;
        for (size_t i = 0; i < m; ++i) {
            other[n] = uint32_t(i);
            n += !names.at_home(staged[i].hash, staged[i].key, staged[i].length, ids[i]);
        }
        const char* long_name = long_names.data();
        for (size_t k = 0; k < n; ++k) {
            const Staged& s = staged[other[k]];
            ids[other[k]] = int32_t(names.number(s.key, long_name, s.length));
            if (s.length > 8) long_name += s.length;
        }
        while (int64_t(latest.size()) < names.size()) latest.push(-1);
        for (size_t i = 0; i < m; ++i) __builtin_prefetch(latest.data() + ids[i]);
    }
    // The row from its n-th value on, of which the first has a name that was there before. Returns a name
    // whose values are too large together, or -1.
    int64_t add_up(int32_t* j, double* x, size_t& n, size_t m) {
        const int64_t begin = pointers[pointers.size() - 1];
        for (size_t i = n; i < m; ++i) {
            const int32_t id = j[i];
            int64_t& last = latest[size_t(id)];
            if (last < begin) {
                last = begin + int64_t(n);
                j[n] = id;
                x[n++] = x[i];
            } else if (!std::isfinite(x[last - begin] += x[i])) {
                return id;
            }
        }
        return -1;
    }
    // Takes back the last row and the names that only it had: `known` is how many there were before it.
    void undo_row(int64_t known) {
        pointers.shrink(pointers.size() - 1);
        const size_t begin = size_t(pointers[pointers.size() - 1]);
        for (size_t k = begin; k < values.size(); ++k) latest[size_t(indices[k])] = -1;
        indices.shrink(begin);
        values.shrink(begin);
        latest.shrink(size_t(known));
        names.truncate(known);
    }
};

// What parsers of lines with named features share.
class NamedLines : public NamedRows, public Lines {
    size_t rows = 0;  // some of which may be handed over

  public:
    Growing<double> weights;  // empty as long as all are 1

    using Lines::Lines;

    size_t n() const { return rows; }

    void clear() {
        NamedRows::clear();
        clear_lines();
        weights.clear();
        rows = 0;
    }

  protected:
    bool is_row = false;  // whether the current line, sound so far, is one

    // `line` reads one line up to its end, reports whether it is a row, and returns where it stopped, null
    // when something is wrong.
    template <class Line>
    bool parse_lines(const char* from, const char* end, Line&& line) {
        if (pointers.size() != n() + 1) clear();  // the rows were handed over
        problem.clear();
        while (from < end) {
            const LabelKind kind_before = kind;
            is_row = false;
            const char* const stop = line(from, end);
            if (problem.empty() && is_row) end_row();
            if (!problem.empty()) {
                drop_row();
                drop_rounded();
                kind = kind_before;
                keep_labels(n());
                weights.shrink(std::min(weights.size(), n()));
                if (!options.skip_bad) return false;
                skip_line();
            }
            from = next_line(stop ? stop : from, end);
            ++lines;
        }
        return true;
    }

    bool no_label(const std::string& message) {
        return (options.optional_labels && is_kind(LabelKind::none)) || wrong(message);
    }
    // What can be read as a number is a number, wherever it stands.
    bool label(std::string_view token) {
        double y = 0;
        const Decimal d = whole_decimal(token, y);
        if (d == Decimal::good) return number_label(y, token);
        if (d == Decimal::inexact) return inexact_label(token);
        if (d == Decimal::too_large) return wrong("label " + quoted(token) + " is too large for float64");
        if (says_not_finite(token)) return wrong("expected a finite label, found " + quoted(token));
        if (utf8_length(token.data(), token.data() + token.size()) < 0)
            return wrong("the label " + quoted(token) + " is not UTF-8");
        if (token.find('\0') != token.npos)
            return wrong("the label " + quoted(token) + " has a NUL character");
        return text_label(token);
    }
    bool weight(double w, std::string_view shown) {
        if (!(w >= 0)) return wrong("expected a weight of 0 or more, found " + quoted(shown));
        while (weights.size() < n()) weights.push(1);
        weights.push(w);
        return true;
    }

  private:
    void end_row() {
        if (const std::optional<std::string> name = finish_row()) {
            wrong("the values of " + quoted(*name) + " add up to more than float64 can hold");
            return;
        }
        if (weights.size() && weights.size() <= n()) weights.push(1);
        has_row(int64_t(rows++));
    }
};

// Rows whose numbers are those of a block's names as rows of columns: `columns` says where each name leads,
// -1 to drop it. Values that meet in one column of a row are added in the row's order. `recolumned` of a
// block in which nothing meets and nothing is dropped, the usual one, has the same values at the same places.
class Recolumn {
    const int64_t* columns;
    std::vector<int32_t> first;  // of all names that lead to the same column

  public:
    bool plain = true;  // nothing meets, nothing is dropped
    int64_t largest = -1;  // column

    Recolumn(const int64_t* columns, int64_t n) : columns(columns), first(size_t(n), -1) {
        size_t size = 16;
        while (size < 2 * size_t(n)) size *= 2;
        std::vector<int32_t> table(size, -1);
        for (int64_t i = 0; i < n; ++i) {
            const int64_t j = columns[i];
            largest = std::max(largest, j);
            if (j < 0) {
                plain = false;
                continue;
            }
            size_t at = size_t(table_key.word(uint64_t(j))) & (size - 1);
            while (table[at] >= 0 && columns[table[at]] != j) at = (at + 1) & (size - 1);
            if (table[at] < 0) table[at] = int32_t(i);
            else plain = false;
            first[size_t(i)] = table[at];
        }
    }

    // Returns how many values are left, -1 - row when a sum is not finite. `out_pointers` has rows + 1
    // places.
    template <class J>
    int64_t apply(const double* values, const int32_t* indices, const int64_t* pointers, int64_t rows,
                  double* out_values, J* out_indices, J* out_pointers) const {
        std::vector<int64_t> latest(first.size(), -1);
        int64_t n = 0;
        out_pointers[0] = 0;
        for (int64_t i = 0; i < rows; ++i) {
            const int64_t begin = n;
            for (int64_t k = pointers[i]; k < pointers[i + 1]; ++k) {
                const int32_t id = first[size_t(indices[k])];
                if (id < 0) continue;
                int64_t& last = latest[size_t(id)];
                if (last >= begin) {
                    double& sum = out_values[last];
                    sum += values[k];
                    if (!std::isfinite(sum)) return -1 - i;
                    continue;
                }
                last = n;
                out_values[n] = values[k];
                out_indices[n++] = J(columns[id]);
            }
            out_pointers[i + 1] = J(n);
        }
        return n;
    }
};

}  // namespace novikoff
