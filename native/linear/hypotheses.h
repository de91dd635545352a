// The hypotheses of a run as training held them, recovered from its sequence of updates:
//
//     w_0 = 0,   w_k = fl(w_{k-1} + fl(tau_k z_k)) element by element,   b_k = fl(b_{k-1} + fl(tau_k bias2))
//
// What matters is the sign of w_k . x + b_k as a real number. On a row x the prefix sums
//
//     s_k = fl(s_{k-1} + fl(tau_k d_k)),   d_k the float sum of z_k . x + bias2
//
// tell it for all k at once where they are far enough from 0; for the others w_k is made again.
//
// How far. Let z~ = (z, sqrt bias2) and x~ = (x, sqrt bias2), u = 2^-53, n the most values of a support, and
// N_k = |tau_1| |z~_1| + ... + |tau_k| |z~_k|, so that |w~_k| <= N_k (1 + 2 k u).
//   - An update of the weights is off by at most u |tau z~| + u |w~_k|, coordinate by coordinate, which changes
//     the score by at most (u |tau_k| |z~_k| + u N_k) |x~|.
//   - d_k is off by at most (n + 6) u |z~_k| |x~|, whatever the order of summation; tau_k d_k by one rounding
//     more; and adding it to the score by u |s_k| <= u N_k |x~|.
// So |s_k - (w_k . x + b_k)| <= e_k |x~| with e_k = 1.02 u sum_{i <= k} ((n + 8) |tau_i| |z~_i| + 2 N_i):
// 1.02 covers what is of second order (n, k < 2^40) and the rounding of e_k and |x~| themselves. Underflow
// takes at most 2^-1074 per product, which with |tau|, |z~| <= 2^100, |x~| <= 2^200 and n k < 2^80 is below
// 2^-690 in all: 2^-160 in e_k and |x~| >= 2^-200 cover it. Anything larger is not bounded, and every
// hypothesis is made again.
//
// Where nothing rounds. Let all tau be multiples of 2^t, all values of supports of 2^g, those of x of 2^h and
// bias2 of 2^a, G = t + min(g + h, a), and N_K |x~| < 2^(53 + G). Then the numbers above are doubles, each a
// multiple of a power of two that it exceeds less than 2^53 times: s_k of 2^G; d_k of 2^(G - t), as |tau| >=
// 2^t leaves |z~| |x~| <= N_K |x~| 2^-t; w_k of 2^(t + g), as |x| >= 2^h leaves N_K < 2^(53 + t + g); b_k of
// 2^(t + a), as |b_k| <= N_K |x~|. Integers, counts, pixels.
#pragma once

#include <algorithm>
#include <climits>
#include <cmath>
#include <vector>

#include "linear/loops.h"

namespace novikoff {

// The update sequence. Two classes: steps are signed, and labels and rivals are ignored.
struct Sequence {
    int64_t classes = 2, updates = 0;
    const int64_t* support = nullptr;  // which support each update used
    const double* step = nullptr;
    const int32_t *label = nullptr, *rival = nullptr;
    const int64_t* survived = nullptr;  // updates + 1 counts
    double bias2 = 0;
};

// The exponent of the last bit of v: v is an odd multiple of 2^that.
inline int last_bit(double v) {
    uint64_t bits;
    std::memcpy(&bits, &v, 8);
    const int e = int(bits >> 52) & 0x7ff;
    const uint64_t m = (bits & ((uint64_t(1) << 52) - 1)) | (e ? uint64_t(1) << 52 : 0);
    return m ? (e ? e : 1) - 1075 + __builtin_ctzll(m) : INT_MAX;
}

// What is known of all prefix sums of a run. `error` and `norm` are e_k and N_k of the above.
class Prefixes {
    static constexpr int64_t kNever = INT64_MAX;
    double bias2;
    std::vector<int64_t> first;  // by column, without a bias: the number of the first update that moves it
    int step_bit = INT_MAX, value_bit = INT_MAX;
    bool on_grid = false;

  public:
    std::vector<double> error, norm;

    template <class Rows>
    Prefixes(const Sequence& q, const Rows& supports) : bias2(q.bias2) {
        std::vector<double> length(size_t(supports.n));
        int64_t most = 0;
        for (int64_t i = 0; i < supports.n; ++i) {
            const auto z = supports[i];
            length[size_t(i)] = std::sqrt(z.norm2() + bias2 + 0x1p-400);
            most = std::max(most, z.stored());
        }
        error.assign(1, 0x1p-160);
        norm.assign(1, 0.0);
        double sum = 0;  // of (n + 8) |tau z~| + 2 N
        for (int64_t k = 0; k < q.updates; ++k) {
            const double step = std::fabs(q.step[k]), size = length[size_t(q.support[k])];
            norm.push_back(norm.back() + step * size);
            sum += double(most + 8) * step * size + 2 * norm.back();
            error.push_back(step <= 0x1p100 && size <= 0x1p100 ? 1.02 * kUnit * sum + 0x1p-160 : INFINITY);
            error.back() = std::max(error.back(), error[size_t(k)]);  // once unbounded, always unbounded
            step_bit = std::min(step_bit, last_bit(step));
        }
        std::vector<int64_t> earliest(size_t(supports.n), kNever);
        for (int64_t k = q.updates; k-- > 0;) earliest[size_t(q.support[k])] = k + 1;
        if (!bias2) first.assign(size_t(supports.d), kNever);
        for (int64_t i = 0; i < supports.n; ++i)
            supports[i].for_each([&](int64_t j, double v) {
                value_bit = std::min(value_bit, last_bit(v));
                if (!bias2) first[size_t(j)] = std::min(first[size_t(j)], earliest[size_t(i)]);
            });
        const int grid = step_bit == INT_MAX || value_bit == INT_MAX ? INT_MIN : step_bit + value_bit;
        on_grid = grid > -1000 && norm.back() < std::ldexp(1.0, std::min(53 + grid, 400));
    }

    // For one row: |x~| to multiply e_k by, or -1 where nothing rounds; and the first hypothesis whose score
    // may differ from 0. `d` is the number of columns.
    template <class Row>
    Problem measure(const Row& row, int64_t d, double& reach, int64_t& begin) const {
        if (!row.valid(d)) return Problem::bad_index;
        const double norm2 = row.norm2();
        if (!(norm2 < 0x1p400)) {
            bool finite = true;
            row.for_each([&](int64_t, double x) { finite &= std::isfinite(x); });
            if (!finite) return Problem::not_finite;
        }
        begin = 1;
        reach = norm2 + bias2 < 0x1p400 ? std::sqrt(norm2 + bias2 + 0x1p-400) : INFINITY;
        if (!bias2) {
            begin = kNever;
            row.for_each([&](int64_t j, double) { begin = std::min(begin, first[size_t(j)]); });
        }
        if (on_grid && reach < INFINITY) {
            int bit = INT_MAX;
            row.for_each([&](int64_t, double x) { bit = std::min(bit, last_bit(x)); });
            int products = bit == INT_MAX ? INT_MAX : value_bit + bit;
            if (bias2) products = std::min(products, last_bit(bias2));
            const bool normal = products > -1000 && products < 1000 && step_bit + products > -1000;
            if (normal && norm.back() * reach * 1.01 < std::ldexp(1.0, 53 + step_bit + products)) reach = -1;
        }
        return Problem::none;
    }
};

// The weights of one hypothesis after another, by the same operations as in training.
class Replay {
    const Sequence& q;
    std::vector<double> weights, bias, scores;
    Learner m;

  public:
    Replay(const Sequence& sequence, int64_t features) : q(sequence) {
        m.classes = q.classes;
        m.stride = q.classes == 2 ? 1 : (q.classes + 3) / 4 * 4;
        m.features = features;
        m.bias2 = q.bias2;
        bias.resize(size_t(m.stride));
        scores.resize(size_t(m.stride));
    }

    // The exact votes on rows first, first + 1, ... of the hypotheses 1 .. last: `doubt[k]` has a bit for
    // each row that needs that of number k. They are added to `out`, and the bits are cleared.
    template <class Supports, class Rows>
    void vote(const Supports& supports, const Prefixes& known, const Rows& rows, int64_t first,
              uint64_t* doubt, int64_t last, int64_t* out) {
        weights.resize(size_t(m.features * m.stride));
        m.weights = weights.data();
        m.bias = bias.data();
        for (int64_t k = 1; k <= last; ++k) {
            const auto z = supports[q.support[k - 1]];
            const double step = q.step[k - 1];
            if (m.binary()) {
                move(z, 0, step);
            } else {
                move(z, q.label[k - 1], step);
                move(z, q.rival[k - 1], -step);
            }
            m.current_norm = known.norm[size_t(k)] * 1.01 + 0x1p-511;
            for (; doubt[k]; doubt[k] &= doubt[k] - 1) {
                const int64_t i = first + __builtin_ctzll(doubt[k]);
                const auto row = rows[i];
                if (m.binary()) {
                    if (m.difference_sign(row, 1, 0, 0.0) >= 0) out[i] += q.survived[k];
                } else {
                    class_scores(row, m, scores.data());
                    const int64_t c = m.settle_rival(row, scores.data(), -1, m.rounding_of(row, row.norm2()));
                    out[i * q.classes + c] += q.survived[k];
                }
            }
        }
        for (int64_t k = 0; k < last; ++k)  // only what was written to
            supports[q.support[k]].for_each(
                [&](int64_t j, double) { std::fill_n(weights.begin() + j * m.stride, m.stride, 0.0); });
        std::fill(bias.begin(), bias.end(), 0.0);
    }

  private:
    template <class Row>
    void move(const Row& z, int64_t c, double step) {
        z.add({m.weights + c, nullptr, m.stride, step, 0});
        if (q.bias2) m.bias[c] += step * q.bias2;
    }
};

}  // namespace novikoff
