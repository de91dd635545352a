// Winnow (Littlestone 1988): weights are multiplied instead of added to.
//
//   score      s = sum of w_j x_j - theta, or with two weights a feature ("balanced")
//              s = sum of (w_j - 1/w_j) x_j - theta
//   predicts   the second class when s >= 0
//   mistake    w_j <- w_j alpha^(y sign x_j) for every x_j != 0, y = +1 or -1
//
// A weight is kept as its exponent e_j, a whole number: w_j = alpha^e_j, so that promotions and demotions
// undo one another whatever alpha is. `table` gives the double for every exponent from -reach to +reach,
// which an exponent never leaves; for alpha = 2 these are powers of two, and exact. Below them lies a weight
// of 0, for features that Winnow1 has eliminated; they keep it.
// The sign of s is that of the real number for the doubles in the table and in the row.
#pragma once

#include "linear/loops.h"
#include "memory/still_valid.h"

namespace novikoff {

struct Winnow {
    int32_t* exponents = nullptr;
    const double* table = nullptr;  // 2 reach + 2 numbers: 0, alpha^-reach, ..., alpha^reach
    int32_t reach = 0;
    double theta = 0;
    bool balanced = false, eliminates = false;
    int64_t promotions = 0, demotions = 0;
    Fallbacks fallbacks;

    double weight(int32_t e) const { return table[e + reach + 1]; }

    template <class Row, class F>
    void terms(const Row& row, F& f) const {
        row.for_each([&](int64_t j, double x) {
            f(x, weight(exponents[j]));
            if (balanced) f(-x, weight(-exponents[j]));
        });
        f(-1.0, theta);
    }

    // A float score; it is within `slack` of the true one: n products and sums, each off by a part in 2^53.
    template <class Row>
    NOVIKOFF_INLINE double score(const Row& row, double& slack) const {
        double sum = 0, size = std::fabs(theta);
        int64_t n = 4;
        row.for_each([&](int64_t j, double x) {
            const double a = x * weight(exponents[j]), b = balanced ? x * weight(-exponents[j]) : 0.0;
            sum += a - b;
            size += std::fabs(a) + std::fabs(b);
            n += 3;
        });
        slack = double(n) * (kUnit * 1.000001 * size + 0x1p-1074);
        return sum - theta;
    }

    template <class Row>
    NOVIKOFF_INLINE int sign(const Row& row) {
        double slack, s = score(row, slack);
        if (std::fabs(s) > slack) return s > 0 ? 1 : -1;  // never where something is infinite
        return exact_sign([&](auto& f) { terms(row, f); }, fallbacks);
    }

    template <class Row>
    void update(const Row& row, bool promote) {
        ++(promote ? promotions : demotions);
        row.for_each([&](int64_t j, double x) {
            int32_t& e = exponents[j];
            if (e < -reach) return;
            if (eliminates && !promote) e = -reach - 1;
            else e = std::clamp(e + ((x > 0) == promote ? 1 : -1), -reach, reach);
        });
    }
};

template <class Rows>
void winnow_epoch(Winnow& w, const Rows& rows, const Visits& v) {
    for (int64_t t = v.begin; t < v.end; ++t) {
        const int64_t i = v.row(t);
        const auto row = still_valid(rows, i);
        const bool positive = v.labels[i];
        if ((w.sign(row) >= 0) != positive) w.update(row, positive);
    }
}

// Correctly rounded scores, whose sign is the exact one.
template <class Rows>
void winnow_scores(Winnow& w, const Rows& rows, int64_t begin, int64_t end, double* out) {
    for (int64_t i = begin; i < end; ++i) {
        const auto row = still_valid(rows, i);
        auto terms = [&](auto& f) { w.terms(row, f); };
        double s = exact_value(terms, w.fallbacks);
        if (s == 0) s = 0x1p-1074 * exact_sign(terms, w.fallbacks);
        out[i] = s;
    }
}

}  // namespace novikoff
