// Rows that are added and removed as supports, and the kernel values of one row with all of them.
//
// The values are those of gram.h, bit for bit: an entry depends on the two rows alone. Dense rows are kept
// made dense and padded; sparse ones as the columns they store, so that columns may be added while it learns.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernel/gram.h"
#include "memory/zeroed.h"

namespace novikoff {

// The columns that a sparse row stores: those of lane 0 (j mod 4 = 0) first, then of lanes 1, 2 and 3,
// increasing in each, so that the sum of a lane is one run of the loop.
struct SparseColumns {
    std::vector<int64_t> index;
    std::vector<double> value;
    size_t begin[5] = {};

    bool operator==(const SparseColumns& other) const { return index == other.index && value == other.value; }
};

// The current row: all columns, and for a sparse row also the stored ones.
struct TakenRow {
    ZeroTable<double> dense;  // of a sparse row only what it stores takes room
    SparseColumns stored;
    std::vector<int64_t> order;
    double norm2 = 0;
};

class SupportRows {
    std::vector<double> values;  // dense: `padded` columns per row
    std::vector<SparseColumns> columns;  // sparse
    std::vector<double> norm2;
    int64_t padded = 0;

  public:
    // |x - z|_1, or sum (x - z)^2 / (x + z), over the columns that either row stores.
    template <bool Chi2>
    static double sparse_distance(const SparseColumns& x, const SparseColumns& z) {
        double lane[4] = {};
        for (int l = 0; l < 4; ++l)
            for (size_t p = x.begin[l], q = z.begin[l]; p < x.begin[l + 1] || q < z.begin[l + 1];) {
                const bool mine = q == z.begin[l + 1] || (p < x.begin[l + 1] && x.index[p] <= z.index[q]);
                const bool its = p == x.begin[l + 1] || (q < z.begin[l + 1] && z.index[q] <= x.index[p]);
                const double a = mine ? x.value[p] : 0.0, b = its ? z.value[q] : 0.0, difference = a - b;
                if (!Chi2) lane[l] += std::fabs(difference);
                else if (a + b > 0) lane[l] += difference * difference / (a + b);
                p += mine, q += its;
            }
        return (lane[0] + lane[1]) + (lane[2] + lane[3]);
    }

  private:
    static double sparse_product(const double* x, const SparseColumns& z) {
        double lane[4] = {};
        const int64_t* at = z.index.data();
        const double* v = z.value.data();
        for (int l = 0; l < 4; ++l) {
            double sum = 0;
            for (size_t k = z.begin[l]; k < z.begin[l + 1]; ++k) sum = __builtin_fma(x[at[k]], v[k], sum);
            lane[l] = sum;
        }
        return (lane[0] + lane[1]) + (lane[2] + lane[3]);
    }

  public:
    Kernel kernel;
    bool sparse;
    int64_t d = 0;

    SupportRows(const Kernel& k, bool sparse, int64_t features) : kernel(k), sparse(sparse) {
        set_columns(features);
    }

    void set_columns(int64_t features) {
        if (features < d || (!sparse && d > 0 && features != d))
            throw std::invalid_argument("rows have other columns");
        d = features;
        padded = (d + kDoubles - 1) / kDoubles * kDoubles;
    }

    template <class Row>
    void take(const Row& row, TakenRow& x) const {
        if (sparse)
            for (int64_t j : x.stored.index) x.dense[j] = 0;
        else std::fill(x.dense.begin(), x.dense.end(), 0.0);
        if (int64_t(x.dense.size()) < padded) x.dense.resize(size_t(padded));
        double lane[4] = {};
        if (!sparse) {
            row.for_each([&](int64_t j, double v) {
                x.dense[j] = v;
                lane[j & 3] = __builtin_fma(v, v, lane[j & 3]);
            });
            x.norm2 = (lane[0] + lane[1]) + (lane[2] + lane[3]);
            return;
        }
        x.order.clear();
        bool ordered = true;
        row.for_each([&](int64_t j, double v) {
            x.dense[j] = v;
            ordered &= x.order.empty() || x.order.back() < j;
            x.order.push_back(j);
        });
        if (!ordered) std::sort(x.order.begin(), x.order.end());
        x.stored.index.clear(), x.stored.value.clear();
        for (int l = 0; l < 4; ++l) {
            for (int64_t j : x.order)
                if ((j & 3) == l) {
                    const double v = x.dense[j];
                    x.stored.index.push_back(j), x.stored.value.push_back(v);
                    lane[l] = __builtin_fma(v, v, lane[l]);
                }
            x.stored.begin[l + 1] = x.stored.index.size();
        }
        x.norm2 = (lane[0] + lane[1]) + (lane[2] + lane[3]);
    }

    void take_support(int64_t slot, TakenRow& x) const {
        if (sparse) {
            const SparseColumns& z = columns[slot];
            take(SparseRow<double, int64_t>{z.value.data(), z.index.data(), int64_t(z.index.size())}, x);
        } else {
            take(DenseRow<double>{values.data() + slot * padded, d, nullptr}, x);
        }
    }

    // K(x, z_j) for the first m supports.
    void kernel_values(const TakenRow& x, int64_t m, double* out) const {
        if (sparse) {
            for (int64_t c = 0; c < m; ++c)
                out[c] = kernel.by_product()               ? sparse_product(x.dense.data(), columns[c])
                         : kernel.name == KernelName::chi2 ? sparse_distance<true>(x.stored, columns[c])
                                                           : sparse_distance<false>(x.stored, columns[c]);
        } else if (kernel.by_product()) {
            products<1>(x.dense.data(), 1, values.data(), m, padded, out, m);
        } else {
            for (int64_t c = 0; c < m; ++c) {
                const double *row = x.dense.data(), *z = values.data() + c * padded;
                out[c] = kernel.name == KernelName::chi2 ? distance<Squared>(row, z, padded)
                                                         : distance<Apart>(row, z, padded);
            }
        }
        apply(kernel, out, norm2.data(), x.norm2, m);
    }

    double self(const TakenRow& x) const {
        double t[4] = {kernel.by_product() ? x.norm2 : 0.0}, own[4] = {x.norm2};
        apply(kernel, t, own, x.norm2, 1);
        return t[0];
    }

    bool equal(const TakenRow& x, int64_t slot) const {
        if (sparse) return x.stored == columns[slot];
        return std::equal(x.dense.begin(), x.dense.begin() + d, values.begin() + slot * padded);
    }

    // `room`: the places to allocate memory for, and no more.
    void put(const TakenRow& x, int64_t slot, int64_t room) {
        auto fit = [](auto& held, int64_t size) {
            if (int64_t(held.size()) < size) held.reserve(size_t(size)), held.resize(size_t(size));
        };
        fit(norm2, room + 3);  // so that four can be read from anywhere
        norm2[slot] = x.norm2;
        if (sparse) {
            fit(columns, room);
            columns[slot] = x.stored;
        } else {
            fit(values, room * padded);
            std::copy(x.dense.begin(), x.dense.begin() + padded, values.begin() + slot * padded);
        }
    }

    // f(column, value) for what a support stores, by increasing column.
    template <class F>
    void for_each(int64_t slot, F&& f) const {
        if (!sparse) {
            DenseRow<double>{values.data() + slot * padded, d, nullptr}.for_each(f);
            return;
        }
        std::vector<std::pair<int64_t, double>> pairs;
        for (size_t k = 0; k < columns[slot].index.size(); ++k)
            pairs.emplace_back(columns[slot].index[k], columns[slot].value[k]);
        std::sort(pairs.begin(), pairs.end());
        for (const auto& [j, v] : pairs) f(j, v);
    }

    int64_t bytes() const {
        int64_t numbers = int64_t(values.capacity() + norm2.capacity());
        for (const SparseColumns& z : columns) numbers += int64_t(z.index.capacity() + z.value.capacity());
        return 8 * numbers + int64_t(columns.capacity() * sizeof(SparseColumns));
    }
};

}  // namespace novikoff
