// Kernel values between rows: tiles of a Gram matrix whose entries depend on the two rows alone.
//
// An entry must not depend on how the work was cut into tiles or threads, nor on how a row is stored. So a
// product x . z is defined by one order of summation: column j is added to accumulator j mod 4, in increasing
// order of j, with one rounding a step (a fused multiply-add), and the four are added as (0 + 1) + (2 + 3).
// Zeros change no accumulator, so sparse rows may leave them out, and dense rows may be taken 4 columns at a
// time. Rows of uint8 are multiplied as integers, which is exact, and so the same number.
//
// From the product t (for some kernels a distance) the kernel's value is one formula, without a choice:
//
//     linear t          poly (gamma t + c0)^degree, by squaring           cosine t / (|x| |z|)
//     rbf exp(-gamma |x - z|^2), |x - z|^2 = |x|^2 + |z|^2 - 2t           laplacian exp(-gamma |x - z|_1)
//     chi2 exp(-gamma sum (x - z)^2 / (x + z))                           (non-negative rows)
//
// exp is our own, so that it vectorises and is the same everywhere.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "rows.h"

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

// ---- scalar formulas -----------------------------------------------------------------------------
// e^x for x <= 0 within 1 ulp or so, 0 below -708: 2^k e^r with |r| <= ln2/2, Taylor to degree 13.
NOVIKOFF_INLINE Vec exp_negative(Vec x) {
    typedef int64_t Long4 __attribute__((vector_size(32)));
    const Vec lowest = Vec{} - 708.0, y = x < lowest ? lowest : x, magic = Vec{} + 0x1.8p52;
    const Vec shifted = y * 1.4426950408889634 + magic;  // rounds to an integer k, which its low bits hold
    const Vec k = shifted - magic;
    Vec r = y - k * 0x1.62e42fee00000p-1;  // ln 2 in two parts: k times the first is exact
    r -= k * 0x1.a39ef35793c76p-33;
    constexpr double factorial[] = {6227020800.0, 479001600.0, 39916800.0, 3628800.0, 362880.0, 40320.0, 5040.0,
                                    720.0,        120.0,       24.0,       6.0,       2.0,      1.0,     1.0};
    Vec p = Vec{} + 1.0 / factorial[0];
    for (int n = 1; n < 14; ++n) p = fused(p, r, Vec{} + 1.0 / factorial[n]);
    const Vec scale = (Vec)(((Long4)shifted + 1023) << 52);  // 2^k
    return x < lowest ? Vec{} : p * scale;
}

// f(four values) over an array, the last ones padded: the same result wherever a value lies.
template <class F>
NOVIKOFF_INLINE void by_fours(double* t, int64_t n, const F& f) {
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) store4(t + i, f(load4(t + i), i));
    if (i < n) {
        double last[4] = {};
        std::memcpy(last, t + i, size_t(n - i) * sizeof(double));
        Vec v = f(load4(last), i);
        std::memcpy(t + i, &v, size_t(n - i) * sizeof(double));
    }
}

NOVIKOFF_INLINE double power(double base, int degree) {
    double result = 1;
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
    switch (k.name) {
        case KernelName::linear: return;
        case KernelName::poly:
            for (int64_t i = 0; i < n; ++i) t[i] = k.gamma * t[i] + k.coef0;
            switch (k.degree) {  // a constant degree vectorises
                case 1: return;
                case 2: for (int64_t i = 0; i < n; ++i) t[i] = power(t[i], 2); return;
                case 3: for (int64_t i = 0; i < n; ++i) t[i] = power(t[i], 3); return;
                case 4: for (int64_t i = 0; i < n; ++i) t[i] = power(t[i], 4); return;
                case 5: for (int64_t i = 0; i < n; ++i) t[i] = power(t[i], 5); return;
                case 6: for (int64_t i = 0; i < n; ++i) t[i] = power(t[i], 6); return;
                default: for (int64_t i = 0; i < n; ++i) t[i] = power(t[i], k.degree); return;
            }
        case KernelName::rbf:
            by_fours(t, n, [&](Vec v, int64_t i) {
                const Vec squared = (own + load4(norm2 + i)) - 2 * v;  // norm2 is padded
                return exp_negative(-k.gamma * (squared > 0 ? squared : Vec{}));
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
            by_fours(t, n, [&](Vec v, int64_t) { return exp_negative(-k.gamma * v); });
            return;
    }
}

inline void apply(const Kernel& k, double* t, const double* norm2, double own, int64_t n) {
    apply_formula(k, t, norm2, own, n);
    if (k.offset != 0)
        for (int64_t i = 0; i < n; ++i) t[i] += k.offset;
}

// ---- products ------------------------------------------------------------------------------------

constexpr int64_t kDoubles = 4, kIntegers = 16;  // columns: rows made dense are padded with zeros to a multiple

// R rows against C supports, both dense and padded: out[r * step + c] = x_r . z_c.
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

// The same for uint8 values held as int16, exactly. A lane of 32 bits takes an eighth of the columns, each
// product below 2^16: up to 2^17 columns cannot overflow it.
constexpr int64_t kIntegerColumns = 1 << 17;
template <int R, int C>
NOVIKOFF_INLINE void product_tile(const int16_t* x, const int16_t* z, int64_t d, double* out, int64_t step) {
#if defined(__AVX2__)
    __m256i sum[R][C];
    for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) sum[r][c] = _mm256_setzero_si256();
    for (int64_t j = 0; j < d; j += 16) {
        __m256i v[C];
        for (int c = 0; c < C; ++c) v[c] = _mm256_loadu_si256((const __m256i*)(z + c * d + j));
        for (int r = 0; r < R; ++r) {
            const __m256i u = _mm256_loadu_si256((const __m256i*)(x + r * d + j));
            for (int c = 0; c < C; ++c) sum[r][c] = _mm256_add_epi32(sum[r][c], _mm256_madd_epi16(u, v[c]));
        }
    }
    for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) {
            const __m256i low = _mm256_and_si256(sum[r][c], _mm256_set1_epi64x(0xffffffff));
            const __m256i pairs = _mm256_add_epi64(low, _mm256_srli_epi64(sum[r][c], 32));
            const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
            out[r * step + c] = double(_mm_cvtsi128_si64(two) + _mm_extract_epi64(two, 1));
        }
#else
    for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) {
            int64_t all = 0;
            for (int64_t j = 0; j < d; ++j) all += int32_t(x[r * d + j]) * int32_t(z[c * d + j]);
            out[r * step + c] = double(all);
        }
#endif
}

// C supports against some rows, R at a time: the supports stay in the nearest cache meanwhile.
template <int R, int C, class S>
NOVIKOFF_INLINE void product_stripe(const S* x, int64_t rows, const S* z, int64_t d, double* out, int64_t step) {
    int64_t r = 0;
    for (; r + R <= rows; r += R) product_tile<R, C>(x + r * d, z, d, out + r * step, step);
    for (; r < rows; ++r) product_tile<1, C>(x + r * d, z, d, out + r * step, step);
}

// All supports of a panel against some rows: four supports at a time, then what is left one by one.
template <int R, class S>
NOVIKOFF_INLINE void products(const S* x, int64_t rows, const S* z, int64_t m, int64_t d, double* out) {
    int64_t c = 0;
    for (; c + 4 <= m; c += 4) product_stripe<R, 4>(x, rows, z + c * d, d, out + c, m);
    for (; c < m; ++c) product_stripe<R, 1>(x, rows, z + c * d, d, out + c, m);
}

// |x - z|_1, or sum (x - z)^2 / (x + z), by the same order of summation.
template <bool Chi2>
NOVIKOFF_INLINE double distance(const double* x, const double* z, int64_t d) {
    Vec sum{};
    for (int64_t j = 0; j < d; j += 4) {
        const Vec a = load4(x + j), b = load4(z + j), difference = a - b;
        if (Chi2) {
            const Vec both = a + b, quotient = difference * difference / both;
            sum += both > 0 ? quotient : Vec{};
        } else {
            sum += difference < 0 ? -difference : difference;
        }
    }
    return total(sum);
}

// ---- panels --------------------------------------------------------------------------------------
// Some rows (the supports) in a form that many others can be multiplied with. Dense: made dense and padded,
// one after another. Sparse, where rows have few values of many columns: only the columns in use, each with
// the values of sixteen supports side by side, and a table from column to place.
class Panel {
    static constexpr int64_t kSide = 16;
    Kernel kernel;
    int64_t m = 0, d = 0, padded = 0;
    bool integers = false, sparse = false;
    std::vector<int16_t> small;
    std::vector<double> values;  // dense: m * padded; sparse: groups of kSide supports, one after another
    std::vector<int32_t> place;  // sparse: by group and column, -1 for none
    std::vector<int64_t> group_begin;
    std::vector<double> norm2;

    template <class Row, class S>
    static void spread(const Row& row, S* out, int64_t padded) {
        std::memset(out, 0, size_t(padded) * sizeof(S));
        row.for_each([&](int64_t j, double v) { out[j] = S(v); });
    }
    static void spread(const DenseRow<uint8_t>& row, int16_t* out, int64_t padded) {
        for (int64_t j = 0; j < row.d; ++j) out[j] = row.x[j];
        for (int64_t j = row.d; j < padded; ++j) out[j] = 0;
    }

    template <class Rows>
    void pack_sparse(const Rows& rows, const int64_t* which) {
        const int64_t groups = (m + kSide - 1) / kSide;
        place.assign(size_t(groups * d), -1);
        for (int64_t g = 0; g < groups; ++g) {
            group_begin.push_back(int64_t(values.size()));
            int32_t* at = place.data() + g * d;
            int32_t used = 0;
            for (int64_t c = g * kSide; c < std::min(m, (g + 1) * kSide); ++c)
                rows[which[c]].for_each([&](int64_t j, double v) {
                    if (at[j] < 0) {
                        at[j] = used++;
                        values.resize(values.size() + kSide, 0.0);
                    }
                    values[size_t(group_begin[g] + at[j] * kSide + c % kSide)] = v;
                });
        }
    }

    template <class Row>
    void sparse_products(const Row& row, double* out) const {
        for (int64_t g = 0; g < int64_t(group_begin.size()); ++g) {
            Vec sum[4][4] = {};  // by column mod 4, then sixteen supports
            const int32_t* at = place.data() + g * d;
            const double* base = values.data() + group_begin[g];
            row.for_each([&](int64_t j, double v) {
                if (at[j] < 0) return;
                const double* z = base + int64_t(at[j]) * kSide;
                Vec* s = sum[j & 3];
                for (int k = 0; k < 4; ++k) s[k] = fused(Vec{} + v, load4(z + 4 * k), s[k]);
            });
            double tile[kSide];
            for (int k = 0; k < 4; ++k) store4(tile + 4 * k, (sum[0][k] + sum[1][k]) + (sum[2][k] + sum[3][k]));
            for (int64_t c = g * kSide; c < std::min(m, (g + 1) * kSide); ++c) out[c] = tile[c % kSide];
        }
    }

    // |x|^2 by the products' own order of summation, so that |x - x|^2 is 0; where the kernel needs it.
    template <class Row>
    double own_norm2(const Row& row) const {
        if (kernel.name != KernelName::rbf && kernel.name != KernelName::cosine) return 0;
        double lane[4] = {};
        row.for_each([&](int64_t j, double v) { lane[j & 3] = __builtin_fma(v, v, lane[j & 3]); });
        return (lane[0] + lane[1]) + (lane[2] + lane[3]);
    }

  public:
    int64_t size() const { return m; }
    int64_t columns() const { return d; }

    template <class Rows>
    Panel(const Kernel& k, const Rows& rows, const int64_t* which, int64_t count) : kernel(k), m(count), d(rows.d) {
        using Row = typename Rows::Row;
        constexpr bool dense = std::is_same_v<Row, DenseRow<float>> || std::is_same_v<Row, DenseRow<double>> ||
                               std::is_same_v<Row, DenseRow<uint8_t>>;
        integers = std::is_same_v<Row, DenseRow<uint8_t>> && kernel.by_product() && d <= kIntegerColumns;
        const int64_t unit = integers ? kIntegers : kDoubles;
        padded = (d + unit - 1) / unit * unit;
        int64_t stored = 0;
        for (int64_t c = 0; c < m; ++c) {
            stored += rows[which[c]].stored();
            norm2.push_back(own_norm2(rows[which[c]]));
        }
        norm2.resize(size_t(m + 3));  // so that four can be read from anywhere
        sparse = !dense && kernel.by_product() && 6 * stored < m * d;
        if (sparse) {
            pack_sparse(rows, which);
            return;
        }
        if (integers) small.resize(size_t(m * padded));
        else values.resize(size_t(m * padded));
        for (int64_t c = 0; c < m; ++c) {
            if (integers) spread(rows[which[c]], small.data() + c * padded, padded);
            else spread(rows[which[c]], values.data() + c * padded, padded);
        }
    }

    // f(t, count, values): the rows order[t..t + count), or t..t + count themselves, until all from begin to end have
    // been seen; values has a line of K(x, z_0), ..., K(x, z_m-1) for each.
    template <class Rows, class F>
    void by_groups(const Rows& rows, const int64_t* order, int64_t begin, int64_t end, F&& f) const {
        constexpr bool bytes = std::is_same_v<typename Rows::Row, DenseRow<uint8_t>>;
        constexpr int R = bytes ? 2 : 3;  // as many as the registers hold sums for, with four supports
        constexpr int64_t G = bytes ? 8 : 6;  // rows at a time
        std::vector<double> out(size_t(G * m)), wide;
        std::vector<int16_t> narrow;
        const bool as_integers = integers && bytes;
        if (!sparse) {
            if (as_integers) narrow.resize(size_t(G * padded));
            else wide.resize(size_t(G * padded));
        }
        if (integers && !bytes) throw std::invalid_argument("rows and supports are stored in different ways");
        for (int64_t t = begin; t < end; t += G) {
            const int64_t count = std::min<int64_t>(G, end - t);
            for (int64_t r = 0; r < count; ++r) {
                const auto row = rows[order ? order[t + r] : t + r];
                if (sparse) sparse_products(row, out.data() + r * m);
                else if (as_integers) spread(row, narrow.data() + r * padded, padded);
                else spread(row, wide.data() + r * padded, padded);
            }
            if (!sparse && kernel.by_product()) {
                if (as_integers) products<R>(narrow.data(), count, small.data(), m, padded, out.data());
                else products<R>(wide.data(), count, values.data(), m, padded, out.data());
            }
            for (int64_t r = 0; r < count; ++r) {
                const int64_t i = order ? order[t + r] : t + r;
                double* mine = out.data() + r * m;
                if (!kernel.by_product())
                    for (int64_t c = 0; c < m; ++c)
                        mine[c] = kernel.name == KernelName::chi2
                                      ? distance<true>(wide.data() + r * padded, values.data() + c * padded, padded)
                                      : distance<false>(wide.data() + r * padded, values.data() + c * padded, padded);
                apply(kernel, mine, norm2.data(), own_norm2(rows[i]), m);
            }
            f(t, count, static_cast<const double*>(out.data()));
        }
    }
};

// ---- adding --------------------------------------------------------------------------------------
// What each support adds to each class's score. A support moves few classes, so only what is not zero is kept;
// it is added support by support, so that a score is the same sum however the supports were cut into panels.
class Coefficients {
    int64_t m, classes;
    std::vector<int64_t> support, column;
    std::vector<double> factor;

  public:
    Coefficients(const double* coef, int64_t supports, int64_t columns) : m(supports), classes(columns) {
        for (int64_t c = 0; c < m; ++c)
            for (int64_t k = 0; k < classes; ++k)
                if (double a = coef[c * classes + k]; a != 0)
                    support.push_back(c), column.push_back(k), factor.push_back(a);
    }
    // A line of m values and a line of scores for each row.
    void add(const double* values, int64_t rows, double* scores) const {
        const size_t n = factor.size();
        if (classes > 1) {
            for (int64_t r = 0; r < rows; ++r, values += m, scores += classes)
                for (size_t e = 0; e < n; ++e) scores[column[e]] += factor[e] * values[support[e]];
            return;
        }
        for (int64_t r = 0; r < rows; r += 4) {  // one sum a row waits for its own last step: four side by side do not
            const double* line[4];
            double sum[4] = {};
            for (int64_t l = 0; l < 4; ++l) line[l] = values + std::min(r + l, rows - 1) * m;
            const int64_t count = std::min<int64_t>(4, rows - r);
            std::memcpy(sum, scores + r, size_t(count) * sizeof(double));
            Vec total = load4(sum);
            for (size_t e = 0; e < n; ++e) {
                const int64_t z = support[e];
                total += factor[e] * Vec{line[0][z], line[1][z], line[2][z], line[3][z]};
            }
            store4(sum, total);
            std::memcpy(scores + r, sum, size_t(count) * sizeof(double));
        }
    }
};

// ---- voting --------------------------------------------------------------------------------------
// Votes of the hypotheses of one class on rows of kernel values (Freund and Schapire 1999): after update k the
// score is s_k = s_{k-1} + step_k K(x, z_k), and it votes survived[k] times for its sign, where sign(0) = +1.
// Four rows go side by side. out[r * step] += sum_k survived[k] sign(s_k), with s_0 = 0 at first.
struct ClassRun {
    int64_t updates;
    const int64_t* support;
    const double* step;
    const double* survived;  // updates + 1 counts, whole numbers
};

inline void vote(const ClassRun& q, const double* k, int64_t rows, int64_t supports, double* out, int64_t out_step) {
    for (int64_t r = 0; r < rows; r += 4) {
        const double* line[4];
        for (int l = 0; l < 4; ++l) line[l] = k + std::min(r + l, rows - 1) * supports;
        Vec score{}, votes = Vec{} + q.survived[0];
        for (int64_t u = 0; u < q.updates; ++u) {
            const int64_t z = q.support[u];
            score += q.step[u] * Vec{line[0][z], line[1][z], line[2][z], line[3][z]};
            const Vec count = Vec{} + q.survived[u + 1];
            votes += score >= 0 ? count : -count;
        }
        for (int64_t l = 0; l < 4 && r + l < rows; ++l) out[(r + l) * out_step] += votes[l];
    }
}

// Joint classes: update u adds K to the label's score and takes it from the rival's, and each hypothesis votes for
// its highest score, the first of those tied. out[r * classes + c] += the votes for c.
struct JointRun {
    int64_t updates, classes;
    const int64_t* support;
    const int32_t *label, *rival;
    const double* survived;
};

inline void vote_jointly(const JointRun& q, const double* k, int64_t rows, int64_t supports, double* out) {
    std::vector<double> score(size_t(q.classes));
    for (int64_t r = 0; r < rows; ++r) {
        const double* line = k + r * supports;
        double* votes = out + r * q.classes;
        std::fill(score.begin(), score.end(), 0.0);
        votes[0] += q.survived[0];
        int64_t best = 0;
        for (int64_t u = 0; u < q.updates; ++u) {
            const double value = line[q.support[u]];
            const int32_t up = value >= 0 ? q.label[u] : q.rival[u];
            score[size_t(q.label[u])] += value;
            score[size_t(q.rival[u])] -= value;
            const int64_t down = up == q.label[u] ? q.rival[u] : q.label[u];
            if (down == best) best = std::max_element(score.begin(), score.end()) - score.begin();
            else if (score[size_t(up)] > score[size_t(best)] || (score[size_t(up)] == score[size_t(best)] && up < best)) best = up;
            votes[best] += q.survived[u + 1];
        }
    }
}

// ---- deciding ------------------------------------------------------------------------------------
// The first position of a block, from `begin`, whose scores are a mistake or too close to tell: `scores` has a
// column a class (one for two classes), each off by at most size[t] * slack[c].
struct Deciding {
    int64_t classes;  // columns of scores
    bool joint, tie_is_mistake;
    const double* slack;
    const double* size;
};

inline int64_t first_in_doubt(const Deciding& how, const double* scores, const int32_t* labels, int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
        const double* s = scores + t * how.classes;
        if (how.joint) {
            const int64_t y = labels[t];
            for (int64_t c = 0; c < how.classes; ++c)
                if (c != y && !(s[y] - s[c] > how.size[t] * (how.slack[c] + how.slack[y]) * 1.01)) return t;
        } else {
            for (int64_t c = 0; c < how.classes; ++c) {
                const bool positive = how.classes == 1 ? labels[t] == 1 : labels[t] == c;
                const double margin = positive ? s[c] : -s[c], slack = how.size[t] * how.slack[c];
                if (!(margin > slack)) {
                    if (margin == 0 && slack == 0 && positive && !how.tie_is_mistake) continue;  // exactly 0: no mistake
                    return t;
                }
            }
        }
    }
    return end;
}

}  // namespace novikoff
