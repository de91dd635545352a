// Rows that come and go as supports, and the kernel values of one row with all of them.
//
// The values are those of gram.h, bit for bit: an entry depends on the two rows alone. Dense rows are kept made dense
// and padded; sparse ones as their columns in increasing order, so that columns may be added while it learns.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "gram.h"

namespace novikoff {

// A row at hand. `dense` has all columns; of a sparse row also the stored ones, in order.
struct TakenRow {
    std::vector<double> dense, value;
    std::vector<int64_t> index;
    double norm2 = 0;
};

class SupportRows {
    std::vector<double> values;               // dense: `padded` columns a row
    std::vector<std::vector<int64_t>> index;  // sparse
    std::vector<std::vector<double>> value;
    std::vector<double> norm2;
    int64_t padded = 0;

    template <bool Chi2>
    static void add_distance(double* lane, int64_t j, double a, double b) {
        const double difference = a - b;
        if (!Chi2) lane[j & 3] += std::fabs(difference);
        else if (a + b > 0) lane[j & 3] += difference * difference / (a + b);
    }

    // Over the columns that either row stores, in increasing order.
    template <bool Chi2>
    double sparse_distance(const TakenRow& x, int64_t slot) const {
        double lane[4] = {};
        const auto &xi = x.index, &zi = index[slot];
        size_t p = 0, q = 0;
        while (p < xi.size() || q < zi.size()) {
            const bool mine = q == zi.size() || (p < xi.size() && xi[p] <= zi[q]);
            const bool its = p == xi.size() || (q < zi.size() && zi[q] <= xi[p]);
            add_distance<Chi2>(lane, mine ? xi[p] : zi[q], mine ? x.value[p] : 0.0, its ? value[slot][q] : 0.0);
            p += mine, q += its;
        }
        return (lane[0] + lane[1]) + (lane[2] + lane[3]);
    }

    double sparse_product(const TakenRow& x, int64_t slot) const {
        double lane[4] = {};
        const int64_t* at = index[slot].data();
        const double *v = value[slot].data(), *w = x.dense.data();
        const size_t n = index[slot].size();
        for (size_t k = 0; k < n; ++k) lane[at[k] & 3] = __builtin_fma(w[at[k]], v[k], lane[at[k] & 3]);
        return (lane[0] + lane[1]) + (lane[2] + lane[3]);
    }

  public:
    Kernel kernel;
    bool sparse;
    int64_t d = 0;

    SupportRows(const Kernel& k, bool sparse, int64_t columns) : kernel(k), sparse(sparse) { set_columns(columns); }

    void set_columns(int64_t columns) {
        if (columns < d || (!sparse && d > 0 && columns != d)) throw std::invalid_argument("rows have other columns");
        d = columns;
        padded = (d + kPad - 1) / kPad * kPad;
    }

    template <class Row>
    void take(const Row& row, TakenRow& x) const {
        for (int64_t j : x.index) x.dense[j] = 0;
        x.index.clear(), x.value.clear();
        if (int64_t(x.dense.size()) < padded) x.dense.resize(size_t(padded));
        if (!sparse) std::fill(x.dense.begin(), x.dense.end(), 0.0);
        double lane[4] = {};
        bool ordered = true;
        row.for_each([&](int64_t j, double v) {
            x.dense[j] = v;
            if (!sparse) return;
            ordered &= x.index.empty() || x.index.back() < j;
            x.index.push_back(j);
        });
        if (!ordered) std::sort(x.index.begin(), x.index.end());
        for (int64_t j : x.index) x.value.push_back(x.dense[j]);
        auto square = [&](int64_t j, double v) { lane[j & 3] = __builtin_fma(v, v, lane[j & 3]); };
        if (sparse) for (size_t k = 0; k < x.index.size(); ++k) square(x.index[k], x.value[k]);
        else for (int64_t j = 0; j < d; ++j) square(j, x.dense[j]);
        x.norm2 = (lane[0] + lane[1]) + (lane[2] + lane[3]);
    }

    void take_support(int64_t slot, TakenRow& x) const {
        if (sparse) take(SparseRow<double, int64_t>{value[slot].data(), index[slot].data(), int64_t(index[slot].size())}, x);
        else take(DenseRow<double>{values.data() + slot * padded, d, nullptr}, x);
    }

    // K(x, z_j) for the first m supports.
    void kernel_values(const TakenRow& x, int64_t m, double* out) const {
        if (sparse) {
            for (int64_t c = 0; c < m; ++c)
                out[c] = kernel.by_product()                  ? sparse_product(x, c)
                         : kernel.name == KernelName::chi2 ? sparse_distance<true>(x, c)
                                                           : sparse_distance<false>(x, c);
        } else if (kernel.by_product()) {
            products<1>(x.dense.data(), values.data(), m, padded, out);
        } else {
            for (int64_t c = 0; c < m; ++c)
                out[c] = kernel.name == KernelName::chi2 ? distance<true>(x.dense.data(), values.data() + c * padded, padded)
                                                         : distance<false>(x.dense.data(), values.data() + c * padded, padded);
        }
        apply(kernel, out, norm2.data(), x.norm2, m);
    }

    double self(const TakenRow& x) const {
        double t[4] = {kernel.by_product() ? x.norm2 : 0.0}, own[4] = {x.norm2};
        apply(kernel, t, own, x.norm2, 1);
        return t[0];
    }

    bool equal(const TakenRow& x, int64_t slot) const {
        if (sparse) return x.index == index[slot] && x.value == value[slot];
        return std::equal(x.dense.begin(), x.dense.begin() + d, values.begin() + slot * padded);
    }

    void put(const TakenRow& x, int64_t slot) {
        if (int64_t(norm2.size()) < slot + 4) norm2.resize(size_t(slot + 4));  // so that four can be read from anywhere
        norm2[slot] = x.norm2;
        if (sparse) {
            if (int64_t(index.size()) <= slot) index.resize(size_t(slot + 1)), value.resize(size_t(slot + 1));
            index[slot] = x.index;
            value[slot] = x.value;
        } else {
            if (int64_t(values.size()) < (slot + 1) * padded) values.resize(size_t((slot + 1) * padded));
            std::copy(x.dense.begin(), x.dense.begin() + padded, values.begin() + slot * padded);
        }
    }

    // f(column, value) for what a support stores.
    template <class F>
    void for_each(int64_t slot, F&& f) const {
        if (sparse)
            for (size_t k = 0; k < index[slot].size(); ++k) f(index[slot][k], value[slot][k]);
        else
            for (int64_t j = 0; j < d; ++j)
                if (values[slot * padded + j] != 0) f(j, values[slot * padded + j]);
    }

    int64_t bytes() const {
        int64_t total = int64_t(values.capacity() + norm2.capacity()) * 8;
        for (const auto& v : index) total += int64_t(v.capacity()) * 8;
        for (const auto& v : value) total += int64_t(v.capacity()) * 8;
        return total + int64_t(index.capacity() * sizeof index[0] + value.capacity() * sizeof value[0]);
    }
};

}  // namespace novikoff
