// Rows as the loops see them: one small view for a dense row, one for a sparse row.
// Both offer the same few operations, and nothing else knows how a matrix is stored.
//
//   dot(w)            sum of w[j] x[j], in any order of summation
//   dot_norm(w)       the same, together with sum of x[j]^2
//   scores<V>(...)    4V class scores at once from weights stored feature by feature
//   add(...)          w[j] = fl(w[j] + fl(step x[j])): element by element, so that no lane width,
//                     thread or storage order can change a bit of the weights
//   for_each(f)       f(j, x[j]) for every stored value but zeros
//   four(k), place(k) the stored values from the k-th, and a stored value's j
//   on_grid()         whether every value is a multiple of 2^-10 (of a limited size)
//
// With factors s, powers of two, a learner learns z[j] = s[j] x[j] while its weights are those of x: v[j] = s[j] w[j],
// where w are the weights of z. As w.z = v.x, dot and scores do not change; lengths are those of z (norm2, on_grid,
// measured, four_measured), and w += t z is v[j] += t s[j]^2 x[j]. Products with powers of two are exact.
//
//   valid(d)          false when indices are out of range, or not strictly increasing nor known to be distinct
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__FMA__) && defined(__AVX2__)
#include <immintrin.h>
#endif

#define NOVIKOFF_INLINE inline __attribute__((always_inline))

namespace novikoff {

typedef double Vec __attribute__((vector_size(32)));

struct DotNorm {
    double dot, norm2;
};

// Four stored values as doubles.
template <class T>
NOVIKOFF_INLINE Vec load4(const T* p) {
    typedef T Four __attribute__((vector_size(4 * sizeof(T))));
    Four v;
    std::memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, Vec);
}
template <>
NOVIKOFF_INLINE Vec load4<uint8_t>(const uint8_t* p) {  // through int32, for which there are instructions
    typedef int32_t Int4 __attribute__((vector_size(16)));
#if defined(__AVX2__)
    int32_t four;
    std::memcpy(&four, p, 4);
    return __builtin_convertvector((Int4)_mm_cvtepu8_epi32(_mm_cvtsi32_si128(four)), Vec);
#else
    return __builtin_convertvector((Int4{p[0], p[1], p[2], p[3]}), Vec);
#endif
}

// sum + a * b inside a dot product, where any rounding will do; never in an update.
NOVIKOFF_INLINE Vec multiply_add(Vec a, Vec b, Vec sum) {
#if defined(__FMA__)
    return (Vec)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)sum);
#else
    return sum + a * b;
#endif
}
NOVIKOFF_INLINE void store4(double* p, Vec v) { std::memcpy(p, &v, sizeof v); }
NOVIKOFF_INLINE double total(Vec v) { return (v[0] + v[1]) + (v[2] + v[3]); }

// Where step * x goes: `weights`, and, scaled by the visits made before, `sums` for the average.
struct Target {
    double* weights;
    double* sums;  // null when nothing is averaged
    int64_t stride;
    double step, sum_step;
};

NOVIKOFF_INLINE void add_one(const Target& t, int64_t j, double x) {
    t.weights[j * t.stride] += t.step * x;
    if (t.sums) t.sums[j * t.stride] += t.sum_step * x;
}

// ---- rows that are learned with factors ---------------------------------------------------------------
// f(k, z) for the k-th stored value, four at a time and the rest one by one.
template <class Row, class Four, class One>
NOVIKOFF_INLINE void for_measured(const Row& row, Four&& four, One&& one) {
    const int64_t n = row.stored();
    int64_t k = 0;
    for (; k + 4 <= n; k += 4) four(row.four(k) * row.four_factors(k));
    for (; k < n; ++k) one(row.factor(k) * double(row.x[k]));
}
template <class Row>
__attribute__((noinline)) double measured_norm2(const Row& row) {
    Vec a{};
    double rest = 0;
    for_measured(row, [&](Vec z) { a = multiply_add(z, z, a); }, [&](double z) { rest += z * z; });
    return total(a) + rest;
}
// Whether v is a multiple of 2^-10: adding and subtracting `shift` rounds to a whole number.
template <class V>
NOVIKOFF_INLINE auto off_grid(V v) {
    const double shift = 0x1.8p52;
    v *= 0x1p10;
    return ((v + shift) - shift) != v;
}
template <class Row>
__attribute__((noinline)) bool measured_on_grid(const Row& row) {
    typedef int64_t Mask __attribute__((vector_size(32)));
    Mask off{};
    bool rest = false;
    for_measured(row, [&](Vec z) { off |= off_grid(z); }, [&](double z) { rest |= off_grid(z); });
    return !(off[0] | off[1] | off[2] | off[3]) && !rest;
}
template <class Row>
__attribute__((noinline)) void add_measured(const Row& row, const Target& t) {
    for (int64_t k = 0; k < row.stored(); ++k) {
        const double s = row.factor(k);
        add_one(t, row.place(k), s * (s * double(row.x[k])));
    }
}

template <class T>
struct DenseRow {
    const T* x;
    int64_t d;
    const T* ahead;  // a row to be read soon: fetched line by line while this one is summed
    const double* factors = nullptr;
    const T* after = nullptr;  // like `ahead`, a row to be read a little later, if there is one

    static constexpr bool kDense = true;
    int64_t stored() const { return d; }
    NOVIKOFF_INLINE int64_t place(int64_t k) const { return k; }
    NOVIKOFF_INLINE Vec four(int64_t k) const { return load4(x + k); }
    NOVIKOFF_INLINE Vec four_factors(int64_t k) const { return load4(factors + k); }
    NOVIKOFF_INLINE double factor(int64_t k) const { return factors ? factors[k] : 1.0; }
    bool valid(int64_t) const { return true; }

    // What begins a cache line at the j-th value, if one does; `fetch_rest` the line of the last value.
    NOVIKOFF_INLINE void fetch(int64_t j) const {
        if (j * sizeof(T) % 64 != 0) return;
        __builtin_prefetch(ahead + j);
        if (after) __builtin_prefetch(after + j, 0, 2);
    }
    NOVIKOFF_INLINE void fetch_rest() const {
        __builtin_prefetch(ahead + d - 1);
        if (after) __builtin_prefetch(after + d - 1, 0, 2);
    }

    NOVIKOFF_INLINE double dot(const double* w) const {
        Vec a{}, b{}, c{}, e{};
        int64_t j = 0;
        fetch_rest();
        for (; j + 16 <= d; j += 16) {
            fetch(j);
            a = multiply_add(load4(x + j), load4(w + j), a);
            b = multiply_add(load4(x + j + 4), load4(w + j + 4), b);
            c = multiply_add(load4(x + j + 8), load4(w + j + 8), c);
            e = multiply_add(load4(x + j + 12), load4(w + j + 12), e);
        }
        double s = total((a + b) + (c + e));
        for (; j < d; ++j) s += double(x[j]) * w[j];
        return s;
    }

    NOVIKOFF_INLINE DotNorm dot_norm(const double* w) const {
        if (factors) return {dot(w), measured_norm2(*this)};
        Vec a[4] = {}, b[4] = {};
        int64_t j = 0;
        fetch_rest();
        for (; j + 16 <= d; j += 16) {
            fetch(j);
            for (int k = 0; k < 4; ++k) {
                Vec v = load4(x + j + 4 * k);
                a[k] = multiply_add(v, load4(w + j + 4 * k), a[k]);
                b[k] = multiply_add(v, v, b[k]);
            }
        }
        DotNorm r{total((a[0] + a[1]) + (a[2] + a[3])), total((b[0] + b[1]) + (b[2] + b[3]))};
        for (; j < d; ++j) {
            double v = double(x[j]);
            r.dot += v * w[j];
            r.norm2 += v * v;
        }
        return r;
    }

    NOVIKOFF_INLINE double norm2() const {
        if (factors) return measured_norm2(*this);
        Vec a{}, b{};
        int64_t j = 0;
        for (; j + 8 <= d; j += 8) {
            Vec u = load4(x + j), v = load4(x + j + 4);
            a = multiply_add(u, u, a);
            b = multiply_add(v, v, b);
        }
        double s = total(a + b);
        for (; j < d; ++j) s += double(x[j]) * double(x[j]);
        return s;
    }

    NOVIKOFF_INLINE bool on_grid() const {
        if (factors) return measured_on_grid(*this);
        if constexpr (std::is_integral_v<T>) return true;
        int64_t j = 0;
        typedef int64_t Mask __attribute__((vector_size(32)));
        Mask off{};
        for (; j + 4 <= d; j += 4) off |= off_grid(load4(x + j));
        bool on = !(off[0] | off[1] | off[2] | off[3]);
        for (; j < d; ++j) on &= !off_grid(double(x[j]));
        return on;
    }

    // Two features per step: twice as many independent sums, which hides the latency of additions.
    template <int V>
    NOVIKOFF_INLINE void scores(const double* w, int64_t stride, Vec* out) const {
        Vec a[V] = {}, b[V] = {};
        int64_t j = 0;
        for (; j + 2 <= d; j += 2) {
            const double* r = w + j * stride;
            double u = double(x[j]), v = double(x[j + 1]);
            for (int k = 0; k < V; ++k) a[k] = multiply_add(Vec{} + u, load4(r + 4 * k), a[k]);
            for (int k = 0; k < V; ++k) b[k] = multiply_add(Vec{} + v, load4(r + stride + 4 * k), b[k]);
        }
        if (j < d)
            for (int k = 0; k < V; ++k) a[k] += double(x[j]) * load4(w + j * stride + 4 * k);
        for (int k = 0; k < V; ++k) out[k] = a[k] + b[k];
    }

    NOVIKOFF_INLINE void add(const Target& t) const {
        if (factors) return add_measured(*this, t);
        int64_t j = 0;
        if (t.stride == 1) {
            for (; j + 4 <= d; j += 4) store4(t.weights + j, load4(t.weights + j) + t.step * load4(x + j));
            for (int64_t k = 0; t.sums && k < j; k += 4)
                store4(t.sums + k, load4(t.sums + k) + t.sum_step * load4(x + k));
        }
        for (; j < d; ++j) add_one(t, j, double(x[j]));
    }

    template <class F>
    NOVIKOFF_INLINE void for_each(F&& f) const {
        for (int64_t j = 0; j < d; ++j)
            if (x[j] != 0) f(j, double(x[j]));
    }
};

template <class T, class I>
struct SparseRow {
    const T* x;
    const I* index;
    int64_t n;
    const I* ahead = nullptr;  // indices whose weights are needed soon: fetched while this row is summed
    int64_t n_ahead = 0;
    bool distinct = false;  // known to be so, in whatever order; otherwise they must increase
    const double* factors = nullptr;

    static constexpr bool kDense = false;
    int64_t stored() const { return n; }
    NOVIKOFF_INLINE int64_t place(int64_t k) const { return int64_t(index[k]); }
    NOVIKOFF_INLINE Vec four(int64_t k) const { return load4(x + k); }
    NOVIKOFF_INLINE Vec four_factors(int64_t k) const {
        return Vec{factors[index[k]], factors[index[k + 1]], factors[index[k + 2]], factors[index[k + 3]]};
    }
    NOVIKOFF_INLINE double factor(int64_t k) const { return factors ? factors[index[k]] : 1.0; }

    NOVIKOFF_INLINE bool valid(int64_t d) const {
        if (n == 0) return true;
        if (distinct) {
            I lowest = index[0], highest = index[0];
            for (int64_t k = 1; k < n; ++k)
                lowest = std::min(lowest, index[k]), highest = std::max(highest, index[k]);
            return lowest >= 0 && highest < d;
        }
        I falls = 0;  // of the indices' own width, so that the comparisons fill whole vectors
        for (int64_t k = 1; k < n; ++k) falls |= I(index[k - 1] >= index[k]);
        return !falls && index[0] >= 0 && index[n - 1] < d;
    }

    NOVIKOFF_INLINE double dot(const double* w) const {
        double a = 0, b = 0, c = 0, e = 0;
        int64_t k = 0;
        auto four = [&] {
            a += double(x[k]) * w[index[k]];
            b += double(x[k + 1]) * w[index[k + 1]];
            c += double(x[k + 2]) * w[index[k + 2]];
            e += double(x[k + 3]) * w[index[k + 3]];
            k += 4;
        };
        const int64_t both = std::min(n, n_ahead);
        while (k + 4 <= both) {  // spread out, so that none has to wait
            for (int64_t l = k; l < k + 4; ++l) __builtin_prefetch(w + uint64_t(ahead[l]));
            four();
        }
        for (int64_t l = k; l < n_ahead; ++l) __builtin_prefetch(w + uint64_t(ahead[l]));
        while (k + 4 <= n) four();
        for (; k < n; ++k) a += double(x[k]) * w[index[k]];
        return (a + b) + (c + e);
    }

    NOVIKOFF_INLINE DotNorm dot_norm(const double* w) const { return {dot(w), norm2()}; }

    NOVIKOFF_INLINE double norm2() const {
        return factors ? measured_norm2(*this) : DenseRow<T>{x, n, x}.norm2();
    }

    NOVIKOFF_INLINE bool on_grid() const {
        return factors ? measured_on_grid(*this) : DenseRow<T>{x, n, x}.on_grid();
    }

    template <int V>
    NOVIKOFF_INLINE void scores(const double* w, int64_t stride, Vec* out) const {
        Vec a[V] = {}, b[V] = {};
        int64_t k = 0;
        for (; k + 2 <= n; k += 2) {
            const double *r = w + int64_t(index[k]) * stride, *s = w + int64_t(index[k + 1]) * stride;
            double u = double(x[k]), v = double(x[k + 1]);
            for (int i = 0; i < V; ++i) a[i] = multiply_add(Vec{} + u, load4(r + 4 * i), a[i]);
            for (int i = 0; i < V; ++i) b[i] = multiply_add(Vec{} + v, load4(s + 4 * i), b[i]);
        }
        if (k < n)
            for (int i = 0; i < V; ++i) a[i] += double(x[k]) * load4(w + int64_t(index[k]) * stride + 4 * i);
        for (int i = 0; i < V; ++i) out[i] = a[i] + b[i];
    }

    NOVIKOFF_INLINE void add(const Target& t) const {
        if (factors) return add_measured(*this, t);
        if (t.stride == 1 && !t.sums) {
            for (int64_t k = 0; k < n; ++k) t.weights[index[k]] += t.step * double(x[k]);
        } else {
            for (int64_t k = 0; k < n; ++k) add_one(t, index[k], double(x[k]));
        }
    }

    template <class F>
    NOVIKOFF_INLINE void for_each(F&& f) const {
        for (int64_t k = 0; k < n; ++k)
            if (x[k] != 0) f(int64_t(index[k]), double(x[k]));
    }
};

// Prefetching: the loop names the row it visits, the one `lookahead()` visits later and one four times
// as far ahead; the matrix knows what to fetch so that each is there in time.
struct Ahead {
    int64_t next, far;
    const double* weights;
    int64_t stride;
    bool hops;  // the hardware cannot predict the order of the rows
    bool runs;  // but they are read in runs: the row after each will be visited a little later
    bool large;  // the weights do not fit into the cache
};
// bytes: for a dense matrix read in order, this is a little faster than the hardware alone
constexpr int64_t kReadAhead = 2048;

template <class T>
struct DenseRows {
    using Row = DenseRow<T>;
    static constexpr bool kDense = true;
    const T* data;
    int64_t n, d, stride;
    const double* factors = nullptr;

    NOVIKOFF_INLINE Row operator[](int64_t i) const {
        return {data + i * stride, d, data + i * stride, factors};
    }
    // The time of reading some 8 KiB hides the latency of memory (measured; flat around it).
    int64_t lookahead() const {
        return std::clamp<int64_t>(8192 / std::max<int64_t>(d * int64_t(sizeof(T)), 1), 1, 16);
    }
    template <bool Binary>
    NOVIKOFF_INLINE Row approach(int64_t i, const Ahead& to) const {
        if (!Binary && to.hops) {
            const char* p = reinterpret_cast<const char*>(data + to.next * stride);
            int64_t bytes = std::min<int64_t>(d * int64_t(sizeof(T)), 4096);
            for (int64_t k = 0; k < bytes; k += 64) __builtin_prefetch(p + k);
        }
        const T* x = data + i * stride;
        if (!to.hops) return {x, d, x + kReadAhead / int64_t(sizeof(T)), factors};
        return {x, d, data + to.next * stride, factors, to.runs ? x + stride : nullptr};
    }
};

template <class T, class I>
struct SparseRows {
    using Row = SparseRow<T, I>;
    static constexpr bool kDense = false;
    const T* data;
    const I* indices;
    const I* indptr;
    int64_t n, d;
    bool distinct = false;  // the indices of a row are, though they may be in no order
    const double* factors = nullptr;

    NOVIKOFF_INLINE Row operator[](int64_t i) const {
        const int64_t stored = int64_t(indptr[i + 1]) - int64_t(indptr[i]);
        return {data + indptr[i], indices + indptr[i], stored, nullptr, 0, distinct, factors};
    }
    // Some 150 stored values ahead hide the latency of a random read of a weight (measured; flat around it).
    static constexpr int64_t kStoredAhead = 150;
    int64_t lookahead() const {
        int64_t mean = n ? (int64_t(indptr[n]) - int64_t(indptr[0])) / n : 0;
        return std::clamp<int64_t>(kStoredAhead / std::max<int64_t>(mean, 1), 1, 16);
    }
    template <bool Binary>
    NOVIKOFF_INLINE Row approach(int64_t i, const Ahead& to) const {
        Row row = (*this)[i];
        if (to.hops) {  // the indices and values of the far row
            const int64_t begin = indptr[to.far], stored = std::min<int64_t>(indptr[to.far + 1] - begin, 512);
            const char *p = reinterpret_cast<const char*>(indices + begin),
                       *q = reinterpret_cast<const char*>(data + begin);
            for (int64_t k = 0; k < stored * int64_t(sizeof(I)); k += 64) __builtin_prefetch(p + k);
            for (int64_t k = 0; k < stored * int64_t(sizeof(T)); k += 64) __builtin_prefetch(q + k);
        }
        // the weights of the next row, or, when rows are read in order, of what comes next in memory
        if (to.large) {
            const Row next = (*this)[to.next];
            row.ahead = next.index;
            row.n_ahead = std::min<int64_t>(next.n, 512);
            if (!to.hops && indptr[i + 1] + kStoredAhead <= indptr[n])
                row.ahead = row.index + kStoredAhead, row.n_ahead = row.n;
            if (!Binary) {
                for (int64_t k = 0; k < row.n_ahead; ++k)
                    __builtin_prefetch(to.weights + uint64_t(row.ahead[k]) * uint64_t(to.stride));
            }
        }
        return row;
    }
};

}  // namespace novikoff
