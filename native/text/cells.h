// Lines of cells that are all plain numbers, as rows of doubles.
//
// This is the fast path of CSV and TSV. It reads only plain cells; a block with anything else in it (a
// quote, an empty cell, a word, a blank line, too few cells) is left, as a whole, to the reader that handles
// these.
#pragma once

#include <cstdint>

#include "exact/decimal.h"

namespace novikoff {

// Where a cell goes: a column of the row from 0, or one of these.
enum CellTarget : int32_t { ignored_cell = -1, label_cell = -2, weight_cell = -3 };

struct NumberCells {
    const int32_t* targets;  // of each cell of a line
    int64_t cells;
    char delimiter;
    char quote;  // or the delimiter, when there is none

    bool is_end(char c) const { return c == delimiter || c == '\n' || c == '\r'; }

    // Reads one number with blanks around it, up to the delimiter or the end of the line.
    bool number(const char*& p, const char* end, double& out) const {
        if (end - p >= 2 && p[1] == delimiter && p[0] >= '0' && p[0] <= '9') {  // most cells of indicators
            out = p[0] - '0';
            ++p;
            return true;
        }
        while (at(p, end) == ' ') ++p;
        if (decimal(p, end, out) != Decimal::good) return false;
        while (at(p, end) == ' ') ++p;
        return is_end(at(p, end));
    }

    bool pass_over(const char*& p, const char* end) const {
        for (; !is_end(at(p, end)); ++p)
            if (*p == quote) return false;
        return true;
    }

    // Reads exactly `rows` lines into rows of `width` doubles. False: there is something else, and what was
    // written means nothing.
    bool read(const char* p, const char* end, int64_t rows, int64_t width, double* out, double* labels,
              double* weights) const {
        for (int64_t i = 0; i < rows; ++i, out += width) {
            for (int64_t k = 0; k < cells; ++k) {
                if (k && at(p, end) != delimiter) return false;
                p += k > 0;
                const int32_t target = targets[k];
                if (target == ignored_cell) {
                    if (!pass_over(p, end)) return false;
                    continue;
                }
                double* const place = target == label_cell    ? labels + i
                                      : target == weight_cell ? weights + i
                                                              : out + target;
                if (!number(p, end, *place)) return false;
                if (target == weight_cell && *place < 0) return false;
            }
            if (at(p, end) == '\r') ++p;
            if (at(p, end) != '\n') return false;
            if (p < end) ++p;
        }
        return p == end;
    }
};

}  // namespace novikoff
