// Whether every row of a sparse matrix holds each of its columns once, in whatever order.
#pragma once

#include <algorithm>
#include <cstdint>

#include "memory/zeroed.h"
#include "rows/rows.h"

namespace novikoff {

template <class T>
bool all_distinct(const DenseRows<T>&) {
    return true;
}

// A table says which row had a column last; with numbers of 16 bits it fits into a fast cache. False also for an index
// out of range. An index is read once, because other owners of the array may write to it.
template <class T, class I>
bool all_distinct(const SparseRows<T, I>& rows) {
    ZeroTable<uint16_t> last(static_cast<size_t>(rows.d));
    uint16_t number = 0;  // of the row; 0: no row
    for (int64_t i = 0; i < rows.n; ++i) {
        if (++number == 0) {
            std::fill(last.begin(), last.end(), uint16_t(0));
            number = 1;
        }
        const auto row = rows[i];
        bool repeated = false;
        for (int64_t k = 0; k < row.n; ++k) {
            const uint64_t j = uint64_t(int64_t(row.index[k]));
            if (j >= uint64_t(rows.d)) return false;
            repeated |= last[j] == number;
            last[j] = number;
        }
        if (repeated) return false;
    }
    return true;
}

}  // namespace novikoff
