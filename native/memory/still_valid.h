// For slow loops over rows that were checked before: other owners of the arrays may have written to them
// since. (The loops of linear learners do without, where it would cost a tenth to a third of an epoch.)
#pragma once

#include <stdexcept>
#include <string>

#include "rows/rows.h"

namespace novikoff {

template <class Rows>
auto still_valid(const Rows& rows, int64_t i) {
    const auto row = rows[i];
    if (!row.valid(rows.d))
        throw std::runtime_error("row " + std::to_string(i) +
                                 " of the sparse matrix has indices out of order or range: it "
                                 "was changed while it was learned from or predicted");
    return row;
}

}  // namespace novikoff
