// Engine 1 of exact.h in eight lanes: the compensated sum of many products, or of many numbers.
//
// Each lane is a compensated sum of its own. Merged they are one of all terms, with the same bounds.
#pragma once

#include "exact/exact.h"
#include "rows/rows.h"

namespace novikoff {

class CompensatedLanes {
    typedef int64_t Mask __attribute__((vector_size(32)));
    Vec hi[2] = {}, lo[2] = {}, error[2] = {};
    Mask tiny{};
    int64_t n = 0;

    static NOVIKOFF_INLINE Vec size(Vec v) { return v < 0 ? -v : v; }
    static NOVIKOFF_INLINE Vec product_error(Vec a, Vec b, Vec p) {
#if defined(__FMA__)
        return (Vec)_mm256_fmsub_pd((__m256d)a, (__m256d)b, (__m256d)p);
#else
        return Vec{__builtin_fma(a[0], b[0], -p[0]), __builtin_fma(a[1], b[1], -p[1]),
                   __builtin_fma(a[2], b[2], -p[2]), __builtin_fma(a[3], b[3], -p[3])};
#endif
    }
    NOVIKOFF_INLINE Vec add(int half, Vec p) {
        const Vec s = hi[half] + p, z = s - hi[half], q = (hi[half] - (s - z)) + (p - z);
        hi[half] = s;
        return q;
    }

  public:
    // Four terms, as a * b or as they are; halves are independent of each other.
    NOVIKOFF_INLINE void product(int half, Vec a, Vec b) {
        const Vec p = a * b, r = product_error(a, b, p), q = add(half, p);
        lo[half] += q + r;
        error[half] += size(q) + size(r);
        tiny |= (size(p) < 0x1p-960) & (a != 0) & (b != 0);
        n += 1;
    }
    NOVIKOFF_INLINE void term(int half, Vec t) {
        const Vec q = add(half, t);
        lo[half] += q;
        error[half] += size(q);
        n += 1;
    }
    void merge_into(CompensatedSum& sum) const {
        for (int half = 0; half < 2; ++half)
            for (int l = 0; l < 4; ++l) sum.merge(hi[half][l], lo[half][l], error[half][l], tiny[l] != 0, n);
    }
};

// Four weights at the places of a row's stored values, from the k-th, and back.
template <class Row>
NOVIKOFF_INLINE Vec gather4(const Row& row, int64_t k, const double* from, int64_t stride) {
    if constexpr (Row::kDense)
        if (stride == 1) return load4(from + k);
    return Vec{from[row.place(k) * stride], from[row.place(k + 1) * stride], from[row.place(k + 2) * stride],
               from[row.place(k + 3) * stride]};
}
template <class Row>
NOVIKOFF_INLINE void scatter4(const Row& row, int64_t k, double* to, int64_t stride, Vec v) {
    if constexpr (Row::kDense)
        if (stride == 1) return store4(to + k, v);
    for (int l = 0; l < 4; ++l) to[row.place(k + l) * stride] = v[l];
}

// The terms sign * x[j] * w[j] of a row and a column of weights.
template <class Row>
NOVIKOFF_INLINE void add_products(const Row& row, const double* w, int64_t stride, double sign,
                                  CompensatedSum& to) {
    CompensatedLanes lanes;
    const int64_t n = row.stored();
    int64_t k = 0;
    for (; k + 8 <= n; k += 8) {
        lanes.product(0, sign * row.four(k), gather4(row, k, w, stride));
        lanes.product(1, sign * row.four(k + 4), gather4(row, k + 4, w, stride));
    }
    if (k) lanes.merge_into(to);
    for (; k < n; ++k) to(sign * double(row.x[k]), w[row.place(k) * stride]);
}

// The terms x[j]^2 of a row, or, with factors, z[j]^2.
template <class Row>
NOVIKOFF_INLINE void add_squares(const Row& row, CompensatedSum& to) {
    CompensatedLanes lanes;
    const int64_t n = row.stored();
    int64_t k = 0;
    for (; k + 8 <= n; k += 8)
        for (int half = 0; half < 2; ++half) {
            Vec x = row.four(k + 4 * half);
            if (row.factors) x *= row.four_factors(k + 4 * half);
            lanes.product(half, x, x);
        }
    if (k) lanes.merge_into(to);
    for (; k < n; ++k) {
        const double x = row.factor(k) * double(row.x[k]);
        to(x, x);
    }
}

// The sum of n numbers, correctly rounded.
inline double exact_sum(const double* terms, int64_t n, Fallbacks& count) {
    CompensatedLanes lanes;
    CompensatedSum quick;
    int64_t k = 0;
    for (; k + 8 <= n; k += 8) {
        lanes.term(0, load4(terms + k));
        lanes.term(1, load4(terms + k + 4));
    }
    if (k) lanes.merge_into(quick);
    for (int64_t i = k; i < n; ++i) quick(terms[i], 1.0);
    double value;
    if (quick.rounded(value)) return value;
    ++count.accumulator;
    LongAccumulator slow;
    for (int64_t i = 0; i < n; ++i) slow(terms[i], 1.0);
    return slow.rounded();
}

}  // namespace novikoff
