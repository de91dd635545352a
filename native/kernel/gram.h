// What a kernel value is: a number that depends on its two rows alone.
//
// It must not depend on how the work is divided into panels or threads, nor on how a row is stored. So a
// product x . z is defined by one order of summation: column j is added to accumulator j mod 4, in increasing
// order of j, with one rounding per step (a fused multiply-add), and the four are added as (0 + 1) + (2 + 3).
// Zeros change no accumulator, so sparse rows may leave them out, and dense rows may be taken 4 columns at a
// time. Rows of uint8 are multiplied as integers, which is exact, and so the same number.
//
// From the product t (for some kernels a distance) the kernel's value is one formula without branches:
//
//     linear t          poly (gamma t + c0)^degree, by squaring           cosine t / (|x| |z|)
//     rbf exp(-gamma |x - z|^2), |x - z|^2 = |x|^2 + |z|^2 - 2t           laplacian exp(-gamma |x - z|_1)
//     chi2 exp(-gamma sum (x - z)^2 / (x + z))                           (non-negative rows)
//
// exp is our own, so that it can be vectorised and is the same everywhere.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "rows/rows.h"

namespace novikoff {

enum class KernelName { linear, poly, rbf, cosine, laplacian, chi2 };

struct Kernel {
    KernelName name = KernelName::linear;
    double gamma = 1, coef0 = 0;
    int degree = 1;
    double offset = 0;  // added to every value: the square of a bias coordinate

    bool by_product() const { return name != KernelName::laplacian && name != KernelName::chi2; }
};

inline Kernel make_kernel(const std::string& name, double gamma, double coef0, int degree, double offset) {
    const char* names[] = {"linear", "poly", "rbf", "cosine", "laplacian", "chi2"};
    for (int k = 0; k < 6; ++k)
        if (name == names[k]) return {KernelName(k), gamma, coef0, degree, offset};
    throw std::invalid_argument("unknown kernel '" + name + "'");
}

// a b + sum, rounded once: on every machine, so that values are the same everywhere.
#if defined(__FMA__)
NOVIKOFF_INLINE Vec fused(Vec a, Vec b, Vec sum) { return multiply_add(a, b, sum); }
#else
NOVIKOFF_INLINE Vec fused(Vec a, Vec b, Vec sum) {
    for (int l = 0; l < 4; ++l) sum[l] = __builtin_fma(a[l], b[l], sum[l]);
    return sum;
}
#endif

// ---- formulas ------------------------------------------------------------------------------------
// e^x for x <= 0 to within about 1 ulp, 0 below -708: 2^k e^r with |r| <= ln2/2, Taylor to degree 13. A step
// waits for the one before, so N vectors go side by side.
template <int N>
NOVIKOFF_INLINE void exp_negative(Vec (&x)[N]) {
    typedef int64_t Long4 __attribute__((vector_size(32)));
    const Vec lowest = Vec{} - 708.0, magic = Vec{} + 0x1.8p52;
    constexpr double factorial[] = {6227020800.0, 479001600.0, 39916800.0, 3628800.0, 362880.0,
                                    40320.0,      5040.0,      720.0,      120.0,     24.0,
                                    6.0,          2.0,         1.0,        1.0};
    Vec r[N], p[N], scale[N];
    for (int i = 0; i < N; ++i) {
        const Vec y = x[i] < lowest ? lowest : x[i];
        // rounds to an integer k, which its low bits hold
        const Vec shifted = y * 1.4426950408889634 + magic;
        const Vec k = shifted - magic;
        r[i] = y - k * 0x1.62e42fee00000p-1;  // ln 2 in two parts: k times the first is exact
        r[i] -= k * 0x1.a39ef35793c76p-33;
        scale[i] = (Vec)(((Long4)shifted + 1023) << 52);  // 2^k
        p[i] = Vec{} + 1.0 / factorial[0];
    }
    for (int n = 1; n < 14; ++n)
        for (int i = 0; i < N; ++i) p[i] = fused(p[i], r[i], Vec{} + 1.0 / factorial[n]);
    for (int i = 0; i < N; ++i) x[i] = x[i] < lowest ? Vec{} : p[i] * scale[i];
}

// f(vectors, i): N vectors of four values from number i on, in place, while that many are left; returns where
// they stopped.
template <int N, class F>
NOVIKOFF_INLINE int64_t by_vectors(double* t, int64_t i, int64_t n, const F& f) {
    for (; i + 4 * N <= n; i += 4 * N) {
        Vec v[N];
        for (int k = 0; k < N; ++k) v[k] = load4(t + i + 4 * k);
        f(v, i);
        for (int k = 0; k < N; ++k) store4(t + i + 4 * k, v[k]);
    }
    return i;
}
// The same for a whole array, the last values being padded. A value is the same wherever it lies.
template <class F>
NOVIKOFF_INLINE void by_fours(double* t, int64_t n, const F& f) {
    const int64_t i = by_vectors<1>(t, by_vectors<4>(t, 0, n, f), n, f);
    if (i == n) return;
    Vec last[1] = {};
    std::memcpy(last, t + i, size_t(n - i) * sizeof(double));
    f(last, i);
    std::memcpy(t + i, last, size_t(n - i) * sizeof(double));
}

// By squaring; a constant degree makes it a few multiplications.
template <class T>
NOVIKOFF_INLINE T power(T base, int degree) {
    T result = T{} + 1;
    for (;;) {
        if (degree & 1) result *= base;
        degree >>= 1;
        if (!degree) return result;
        base *= base;
    }
}

// The kernel's formula over a run of products (or distances) t with one row x, in place.
// `norm2` has |z|^2 of each, `own` is |x|^2.
inline void apply_formula(const Kernel& k, double* t, const double* norm2, double own, int64_t n) {
    const double gamma = k.gamma, coef0 = k.coef0;  // by value: writing to t cannot change them
    auto poly = [=](auto degree) {
        by_fours(t, n, [=](auto& v, int64_t) {
            for (Vec& each : v) each = power(gamma * each + coef0, degree);
        });
    };
    switch (k.name) {
        case KernelName::linear: return;
        case KernelName::poly:
            switch (k.degree) {
                case 1: return poly(std::integral_constant<int, 1>());
                case 2: return poly(std::integral_constant<int, 2>());
                case 3: return poly(std::integral_constant<int, 3>());
                case 4: return poly(std::integral_constant<int, 4>());
                case 5: return poly(std::integral_constant<int, 5>());
                case 6: return poly(std::integral_constant<int, 6>());
                default: return poly(k.degree);
            }
        case KernelName::rbf:
            by_fours(t, n, [=](auto& v, int64_t i) {
                for (Vec& each : v) {
                    // norm2 is padded
                    const Vec squared = (own + load4(norm2 + i + 4 * (&each - v))) - 2 * each;
                    each = -gamma * (squared > 0 ? squared : Vec{});
                }
                exp_negative(v);
            });
            return;
        case KernelName::cosine:
            for (int64_t i = 0; i < n; ++i) {
                const double lengths = std::sqrt(own) * std::sqrt(norm2[i]);
                t[i] = lengths > 0 ? t[i] / lengths : 0;
            }
            return;
        case KernelName::laplacian:
        case KernelName::chi2:
            by_fours(t, n, [=](auto& v, int64_t) {
                for (Vec& each : v) each *= -gamma;
                exp_negative(v);
            });
            return;
    }
}

inline void apply(const Kernel& k, double* t, const double* norm2, double own, int64_t n) {
    apply_formula(k, t, norm2, own, n);
    if (k.offset != 0)
        for (int64_t i = 0; i < n; ++i) t[i] += k.offset;
}

// ---- products ------------------------------------------------------------------------------------

constexpr int64_t kDoubles = 4;  // columns: rows made dense are padded with zeros to a multiple

// R rows with C supports, both dense and padded: out[r * step + c] = x_r . z_c.
template <int R, int C>
NOVIKOFF_INLINE void product_tile(const double* x, const double* z, int64_t d, double* out, int64_t step) {
    Vec sum[R][C] = {};
    for (int64_t j = 0; j < d; j += 4) {
        Vec v[C];
        for (int c = 0; c < C; ++c) v[c] = load4(z + c * d + j);
        for (int r = 0; r < R; ++r) {
            const Vec u = load4(x + r * d + j);
            for (int c = 0; c < C; ++c) sum[r][c] = fused(u, v[c], sum[r][c]);
        }
    }
    for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) out[r * step + c] = total(sum[r][c]);
}

// C supports with some rows, R at a time, while the supports stay in the nearest cache.
template <int R, int C>
NOVIKOFF_INLINE void product_stripe(const double* x, int64_t rows, const double* z, int64_t d, double* out,
                                    int64_t step) {
    int64_t r = 0;
    for (; r + R <= rows; r += R) product_tile<R, C>(x + r * d, z, d, out + r * step, step);
    for (; r < rows; ++r) product_tile<1, C>(x + r * d, z, d, out + r * step, step);
}

// All supports of a panel with some rows: four supports at a time, then the rest one by one.
template <int R>
NOVIKOFF_INLINE void products(const double* x, int64_t rows, const double* z, int64_t m, int64_t d,
                              double* out, int64_t step) {
    int64_t c = 0;
    for (; c + 4 <= m; c += 4) product_stripe<R, 4>(x, rows, z + c * d, d, out + c, step);
    for (; c < m; ++c) product_stripe<R, 1>(x, rows, z + c * d, d, out + c, step);
}

// |x - z|_1, or sum (x - z)^2 / (x + z), by the same order of summation: what a column adds, ...
struct Apart {
    NOVIKOFF_INLINE Vec operator()(Vec x, Vec z, Vec sum) const {
        typedef int64_t Long4 __attribute__((vector_size(32)));
        return sum + (Vec)((Long4)(x - z) & INT64_MAX);  // without its sign
    }
};
struct Squared {
    NOVIKOFF_INLINE Vec operator()(Vec x, Vec z, Vec sum) const {
        const Vec difference = x - z, both = x + z, quotient = difference * difference / both;
        return sum + (both > 0 ? quotient : Vec{});
    }
};
// ... and all of them.
template <class Add>
NOVIKOFF_INLINE double distance(const double* x, const double* z, int64_t d) {
    Vec sum{};
    for (int64_t j = 0; j < d; j += 4) sum = Add()(load4(x + j), load4(z + j), sum);
    return total(sum);
}

}  // namespace novikoff
