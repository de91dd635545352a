// Two rows, or one, that prove inseparability by themselves: z = 0, or z + z' = 0.
// src/novikoff/reference/asking.py is the readable twin.
//
// With a bias coordinate z + z' = 0 means that x = x' under different labels. Without one, x = -x' under the same label
// is the other case, and x = 0 a third. Rows are met in their order; each is looked up, by the digest's hash of its
// values, among the first rows of every kind. A row's kind is its label and, without a bias, its sign: that of its first
// value that is not 0, by which the row is multiplied before it is hashed. Rows whose hashes agree are then compared
// themselves, so that accidents of the hash can hide a pair, and never make one.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "memory/still_valid.h"
#include "rows/digest.h"

namespace novikoff {

class Cancelling {
    struct Entry {
        uint64_t hash;
        int64_t row = -1;  // the first of its kind; -1: nobody's place
        int32_t label = 0, sign = 0;
    };
    using Values = std::vector<std::pair<int64_t, double>>;

    int64_t classes;
    bool lifted, tie_is_mistake;
    Digest digest;
    std::vector<Entry> table;
    int64_t entries = 0;
    Values mine, theirs;

    // Whether a tie is a mistake at one of the z of these rows that cancel out; i = j for a row of zeros.
    bool is_strict(int32_t a, int32_t b) const {
        return tie_is_mistake || a != b || (classes == 2 ? a == 0 : a != 0);
    }

    template <class Row>
    static void list(const Row& row, int sign, Values& out) {
        out.clear();
        row.for_each([&](int64_t j, double x) { out.emplace_back(j, sign < 0 ? -x : x); });
        if (!std::is_sorted(out.begin(), out.end())) std::sort(out.begin(), out.end());
    }
    static uint64_t hash_of(const Values& values) {
        uint64_t h = 0;
        for (const auto& [j, x] : values) {
            const uint64_t key = column_key(uint64_t(j));
            h += keyed(bits_of(x), key) - product_of_halves(key);
        }
        return h;
    }

    void grow() {
        std::vector<Entry> old(table.empty() ? 1024 : 2 * table.size(), Entry{});
        old.swap(table);
        for (const Entry& e : old)
            if (e.row >= 0) *place(e.hash, [](const Entry&) { return false; }) = e;
    }
    // The first entry of this hash that `wanted` accepts, else the empty place behind them all.
    template <class F>
    Entry* place(uint64_t hash, const F& wanted) {
        for (uint64_t at = mix(hash);; ++at) {
            Entry& e = table[at & (table.size() - 1)];
            if (e.row < 0 || (e.hash == hash && wanted(e))) return &e;
        }
    }

  public:
    std::pair<int64_t, int64_t> strict{-1, -1}, lax{-1, -1};  // the first pairs that cancel out
    int64_t nonzeros = 0, zero_rows = 0;

    Cancelling(int64_t k, bool with_bias, bool tie) : classes(k), lifted(with_bias), tie_is_mistake(tie) {}

    // Goes over a range of rows, in order, until a strict pair is found; the row after the last one seen.
    template <class Rows>
    int64_t look(const Rows& rows, const int32_t* labels, int64_t begin, int64_t end) {
        if (Rows::kDense) digest.prepare(rows.d);
        for (int64_t i = begin; i < end && strict.first < 0; ++i) {
            const auto row = still_valid(rows, i);
            const int32_t label = labels[i];
            for (int64_t k = 0; k < row.stored(); ++k) nonzeros += row.x[k] != 0;
            int32_t sign = 0;
            uint64_t hash;
            if (lifted) {
                hash = digest.hash(row);
            } else {
                list(row, 1, mine);
                if (mine.empty()) {
                    ++zero_rows;
                    auto& found = is_strict(label, label) ? strict : lax;
                    if (found.first < 0) found = {i, i};
                    continue;
                }
                sign = mine.front().second < 0 ? -1 : 1;
                if (sign < 0)
                    for (auto& [j, x] : mine) x = -x;
                hash = hash_of(mine);
            }
            if (2 * (entries + 1) > int64_t(table.size())) grow();
            bool known = false;
            int64_t best = -1;  // the lowest row that cancels out with this one, strictly where there is one
            bool best_strict = false;
            Entry* const empty = place(hash, [&](const Entry& e) {
                if (e.label == label && e.sign == sign) return known = true, false;
                if ((e.sign == sign) == (e.label == label)) return false;  // -x under another label
                const bool strictly = is_strict(e.label, label);
                if (best >= 0 && (best_strict > strictly || (best_strict == strictly && best < e.row)))
                    return false;
                list(row, sign, mine);
                list(rows[e.row], e.sign, theirs);
                if (mine == theirs) best = e.row, best_strict = strictly;
                return false;
            });
            if (best >= 0) {
                auto& found = best_strict ? strict : lax;
                if (found.first < 0) found = {best, i};
            }
            if (!known) *empty = Entry{hash, i, label, sign}, ++entries;
            if (strict.first >= 0) return i + 1;
        }
        return strict.first < 0 ? end : begin;
    }
};

}  // namespace novikoff
