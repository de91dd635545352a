// One row gathered value by value, as the loops see a matrix, and the error for an example that is refused.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "rows/rows.h"
#include "text/keyed.h"

namespace novikoff {

namespace nb = nanobind;

template <class... A>
[[noreturn]] void fail(PyObject* type, const char* format, A... arguments) {
    PyErr_Format(type, format, arguments...);
    throw nb::python_error();
}

// Why an example is refused. It is thrown where no foreign code may run, and becomes an error when whatever
// the example added has been undone: the message asks its objects for their repr.
struct Refusal {
    PyObject* type;
    const char* format;  // of key and value, or of the number
    nb::object key, value;
    long long number = 0;

    [[noreturn]] void raise() const {
        if (key.is_valid()) fail(type, format, key.ptr(), value.is_valid() ? value.ptr() : Py_None);
        fail(type, format, number);
    }
};

// One row as the loops see a matrix. Its indices are distinct but in no order: decisions are exact
// and updates go element by element, so the order cannot matter.
struct OneRow {
    struct Row : SparseRow<double, int64_t> {
        bool valid(int64_t) const { return true; }
    };
    Row row;

    int64_t lookahead() const { return 1; }
    const Row& operator[](int64_t) const { return row; }
    template <bool Binary, class Ahead>
    const Row& approach(int64_t, const Ahead&) const {
        return row;
    }
};

// The row at hand: distinct indices, their values, and the largest size of one.
class GatheredRow {
    struct Mark {
        uint64_t row;
        int64_t index, place;
    };
    std::vector<Mark> marks;
    uint64_t rows_merged = 0;

  public:
    std::vector<double> values;
    std::vector<int64_t> indices;
    int64_t stored = 0;
    double largest = 0;  // |value|

    OneRow row() const { return {{{values.data(), indices.data(), stored}}}; }

  protected:
    void begin_row(size_t size) {
        if (values.size() < size) values.resize(size), indices.resize(size);
        stored = 0;
        largest = 0;
    }
    NOVIKOFF_INLINE void push(int64_t index, double value) {
        largest = std::max(largest, std::fabs(value));
        indices[stored] = index;
        values[stored++] = value;
    }

    // Several names may lead to one index: their values are added, in the order of the dict.
    void merge() {
        size_t size = 16;
        while (size < 2 * size_t(stored)) size *= 2;
        if (marks.size() < size) marks.assign(size, {0, 0, 0}), rows_merged = 0;
        ++rows_merged;
        int64_t n = 0;
        for (int64_t k = 0; k < stored; ++k) {
            size_t at = size_t(table_key.word(uint64_t(indices[k])));
            while (at &= marks.size() - 1, marks[at].row == rows_merged && marks[at].index != indices[k])
                ++at;
            if (marks[at].row == rows_merged) {
                double& v = values[size_t(marks[at].place)];
                v += values[k];
                if (!std::isfinite(v))
                    throw Refusal{PyExc_ValueError,
                                  "features that share index %lld add up to more than a float can hold",
                                  {},
                                  {},
                                  (long long)indices[k]};
                largest = std::max(largest, std::fabs(v));
                continue;
            }
            marks[at] = {rows_merged, indices[k], n};
            indices[n] = indices[k];
            values[n++] = values[k];
        }
        stored = n;
    }
};

}  // namespace novikoff
