// Passes over rows whose sums are defined to the last bit: the smallest u.z, and sums of z.
// src/novikoff/reference/asking.py is the readable twin.
//
// A score is x.w + b by one order of summation: the product x[j] w[j], rounded, is added to accumulator j mod 4, in
// increasing order of j; the four are added as (0 + 1) + (2 + 3), and b to that. Zeros change no accumulator (none is
// ever -0), so sparse rows may leave them out. No product is fused with its sum, so that processors without such an
// instruction are as good.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "linear/margins.h"
#include "memory/still_valid.h"

namespace novikoff {

// f(j, x) for the values of a row in increasing order of j; values are written to `kept` where they are in no order.
template <class T, class F>
NOVIKOFF_INLINE void in_order(const DenseRow<T>& row, std::vector<std::pair<int64_t, double>>&, const F& f) {
    for (int64_t j = 0; j < row.d; ++j)
        if (row.x[j] != 0) f(j, double(row.x[j]));
}
template <class T, class I, class F>
NOVIKOFF_INLINE void in_order(const SparseRow<T, I>& row, std::vector<std::pair<int64_t, double>>& kept,
                              const F& f) {
    if (!row.distinct) {
        for (int64_t k = 0; k < row.n; ++k) f(int64_t(row.index[k]), double(row.x[k]));
        return;
    }
    kept.clear();
    for (int64_t k = 0; k < row.n; ++k) kept.emplace_back(row.index[k], row.x[k]);
    std::sort(kept.begin(), kept.end());
    for (const auto& [j, x] : kept) f(j, x);
}

// The products of a pass: `lowest` with sums in the order above. Weights are column by column, `stride` classes each.
struct Pass {
    const double *weights, *bias;
    int64_t classes, stride;
    std::vector<double> sums;
    std::vector<std::pair<int64_t, double>> kept;

    Pass(const double* w, const double* b, int64_t k, int64_t s)
        : weights(w), bias(b), classes(k), stride(s), sums(4 * size_t(s)) {}

    template <class Rows>
    void run(const Rows& rows, const int32_t* labels, int64_t begin, int64_t end, Lowest& out) {
        int64_t i = begin;
        if constexpr (Rows::kDense)
            for (; classes == 2 && i + 4 <= end; i += 4) four(rows, labels, i, out);
        for (; i < end; ++i) {
            const auto row = still_valid(rows, i);
            const int64_t y = labels[i];
            if (classes == 2) {
                double lane[4] = {};
                in_order(row, kept, [&](int64_t j, double x) { lane[j & 3] += x * weights[j]; });
                const double score = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + bias[0];
                out(y ? score : -score, i);
                continue;
            }
            std::fill(sums.begin(), sums.end(), 0.0);
            in_order(row, kept, [&](int64_t j, double x) {
                const double* w = weights + j * stride;
                double* to = sums.data() + (j & 3) * stride;
                for (int64_t c = 0; c < stride; c += 4) store4(to + c, load4(to + c) + x * load4(w + c));
            });
            double* s = sums.data();
            for (int64_t c = 0; c < stride; ++c)
                s[c] = ((s[c] + s[stride + c]) + (s[2 * stride + c] + s[3 * stride + c])) + bias[c];
            for (int64_t c = 0; c < classes; ++c)
                if (c != y) out(s[y] - s[c], i * classes + c);
        }
    }

  private:
    // Four dense rows side by side: none waits for its own sum.
    template <class T>
    void four(const DenseRows<T>& rows, const int32_t* labels, int64_t i, Lowest& out) const {
        const T* x = rows.data + i * rows.stride;
        Vec sum[4] = {};
        int64_t j = 0;
        for (; j + 4 <= rows.d; j += 4) {
            const Vec w = load4(weights + j);
            for (int r = 0; r < 4; ++r) sum[r] += load4(x + r * rows.stride + j) * w;
        }
        for (int r = 0; r < 4; ++r) {
            for (int64_t k = j; k < rows.d; ++k) sum[r][k & 3] += double(x[r * rows.stride + k]) * weights[k];
            const double score = total(sum[r]) + bias[0];
            out(labels[i + r] ? score : -score, i + r);
        }
    }
};

// weights[j, own] += share x[j], weights[j, rival] -= share x[j], row by row; rival < 0: there is none.
template <class Rows>
void add_rows(const Rows& rows, const int64_t* own, const int64_t* rival, const double* shares,
              double* weights, int64_t stride) {
    for (int64_t i = 0; i < rows.n; ++i)
        still_valid(rows, i).for_each([&](int64_t j, double x) {
            const double step = shares[i] * x;
            weights[j * stride + own[i]] += step;
            if (rival[i] >= 0) weights[j * stride + rival[i]] -= step;
        });
}

}  // namespace novikoff
