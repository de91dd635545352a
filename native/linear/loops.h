// The loops over rows: learning, checking, predicting, and finding the smallest difference.
// Each takes a range of positions, so that its caller can stop between two calls; none of them
// draws a random number, allocates a matrix or decides when to stop.
#pragma once

#include <limits>

#include "linear/learner.h"
#include "rows/digest.h"
#include "rows/riffle.h"

namespace novikoff {

// Which rows, in which order, with which labels and weights.
struct Visits {
    const int32_t* labels;
    const double* weights;  // null: all 1
    const int64_t* order;   // null: 0, 1, 2, ...
    int64_t begin, end;

    NOVIKOFF_INLINE int64_t row(int64_t t) const { return order ? order[t] : t; }
    NOVIKOFF_INLINE double weight(int64_t i) const { return weights ? weights[i] : 1.0; }
};

// All class scores of a row, 16 classes at a time: the row stays in the cache, the sums in registers.
template <class Row>
NOVIKOFF_INLINE void class_scores(const Row& row, const Learner& m, double* out) {
    Vec v[4];
    for (int64_t c = 0; c < m.stride; c += 16) {
        const double* w = m.weights + c;
        int64_t blocks = std::min<int64_t>((m.stride - c) / 4, 4);
        if (blocks == 1) row.template scores<1>(w, m.stride, v);
        else if (blocks == 2) row.template scores<2>(w, m.stride, v);
        else if (blocks == 3) row.template scores<3>(w, m.stride, v);
        else row.template scores<4>(w, m.stride, v);
        for (int64_t k = 0; k < blocks; ++k) store4(out + c + 4 * k, v[k] + load4(m.bias + c + 4 * k));
    }
}

// A row's float scores (one for two classes) and, from the same pass over its memory, its squared norm.
// With a digest, the row's hash as well.
template <bool Binary, class Row>
NOVIKOFF_INLINE double scores_and_norm(const Row& row, const Learner& m, double* s,
                                       const Digest* digest = nullptr, uint64_t* hash = nullptr) {
    if (!Binary) {
        class_scores(row, m, s);
        if (digest) *hash = digest->hash(row);
        return row.norm2();
    }
    const DotNorm both = digest ? digest->dot_norm(row, m.weights, *hash) : row.dot_norm(m.weights);
    s[0] = both.dot + m.bias[0];
    return digest && row.factors ? row.norm2() : both.norm2;
}

NOVIKOFF_INLINE double best_other(const double* s, int64_t classes, int64_t y) {
    double most = -INFINITY;
    for (int64_t c = 0; c < classes; ++c)
        if (c != y && !(s[c] <= most)) most = s[c];
    return most;
}

// The rows with the factors of a learner.
template <class Rows>
NOVIKOFF_INLINE Rows measured_by(const Learner& m, Rows rows) {
    rows.factors = m.factors;
    return rows;
}

// ---- learning ------------------------------------------------------------------------------------
// w <- w + tau y x wherever the rule asks for it, over one range of visits.
//
// An example is skipped when its float d exceeds the threshold by more than rounding can explain:
// one comparison with a number that changes only at updates. Everything else is settled exactly.
// On the first visit to a row (First) its norm, its finiteness and its indices are checked in the
// same pass over its memory, and it is added to `digest` (prepared for its columns) where there is one.
//
// `watch` is told at every visit whether the example was right, and may end the loop there.
struct Unwatched {
    static constexpr bool right() { return false; }
    static constexpr void wrong() {}
};

template <bool First, bool Binary, class Rows, class Watch = Unwatched>
Outcome epoch(Learner& m, const Rows& rows, const Visits& v, Watch&& watch = {}, Digest* digest = nullptr) {
    const int64_t before = m.visits, ahead = rows.lookahead();
    const double doubts = Binary ? 1.000001 : 2.000002;  // d is one score, or two
    Ahead to{0,
             0,
             m.weights,
             m.stride,
             v.order != nullptr,
             v.order && in_runs(v.order, v.begin, v.end),
             m.features * m.stride * 8 > (1 << 18)};
    const bool fetches = to.hops || to.large;
    double one, *s = &one;
    std::vector<double> many(Binary ? 0 : m.stride);
    if (!Binary) s = many.data();
    m.current_norm = m.weight_norm();
    m.refresh_error();
    double limit = m.clear_of(doubts);
    uint64_t hash = 0;
    for (int64_t t = v.begin; t < v.end; ++t) {
        const int64_t i = v.row(t);
        if (fetches) {
            to.next = v.row(std::min(t + ahead, v.end - 1));
            to.far = v.row(std::min(t + 4 * ahead, v.end - 1));
        }
        const auto row = rows.template approach<Binary>(i, to);
        const int64_t y = v.labels[i];
        if (First) {
            Problem problem = row.valid(m.features) ? Problem::none : Problem::bad_index;
            if (problem == Problem::none) {
                const double norm2 = scores_and_norm<Binary>(row, m, s, digest, &hash);
                if (!m.familiar(row, norm2, v.weight(i))) {
                    problem = m.observe(row, norm2, v.weight(i));
                    limit = m.clear_of(doubts);
                }
            }
            if (problem != Problem::none) return m.visits = before + t - v.begin, Outcome{problem, i};
            if (digest) digest->add(hash, y, v.weight(i));
        } else if (Binary) {
            s[0] = row.dot(m.weights) + m.bias[0];
        } else {
            class_scores(row, m, s);
        }
        const double d = Binary ? (y ? s[0] : -s[0]) : s[y] - best_other(s, m.classes, y);
        if (d > limit) {
            if (watch.right()) return m.visits = before + t + 1 - v.begin, Outcome{};
            continue;
        }
        m.visits = before + t - v.begin;
        const int64_t mistakes = m.mistakes;
        if (!m.settle(row, i, y, v.weight(i), s, m.error)) return {Problem::overflow, i};
        limit = m.clear_of(doubts);
        if (m.mistakes > mistakes) watch.wrong();
        else if (watch.right()) return m.visits = before + t + 1 - v.begin, Outcome{};
    }
    m.visits = before + v.end - v.begin;
    return {};
}

// The checks of a first epoch without its learning: norms, finiteness, indices.
struct Scan {
    Outcome outcome;
    double smallest_norm = INFINITY;  // of the rows that are not zero
    double heaviest = 0;
};

template <class Rows>
Scan scan(Learner& m, const Rows& rows, const Visits& v, Digest* digest = nullptr) {
    Scan result;
    for (int64_t t = v.begin; t < v.end; ++t) {
        const int64_t i = v.row(t);
        const auto row = rows[i];
        if (!row.valid(m.features)) return result.outcome = {Problem::bad_index, i}, result;
        double norm2 = row.norm2();
        Problem problem =
            m.familiar(row, norm2, v.weight(i)) ? Problem::none : m.observe(row, norm2, v.weight(i));
        if (problem != Problem::none) return result.outcome = {problem, i}, result;
        if (digest) digest->add(digest->hash(row), v.labels[i], v.weight(i));
        double norm = m.row_norm(row, norm2);
        result.heaviest = std::max(result.heaviest, v.weight(i));
        if (norm > 0) result.smallest_norm = std::min(result.smallest_norm, norm);
    }
    return result;
}

// ---- using a model -------------------------------------------------------------------------------
// A row's float scores, and how far each may be off.
template <class Row>
NOVIKOFF_INLINE Problem evaluate(Learner& m, const Row& row, double* s, double& slack) {
    if (!row.valid(m.features)) return Problem::bad_index;
    const double norm2 = m.binary() ? scores_and_norm<true>(row, m, s) : scores_and_norm<false>(row, m, s);
    slack = m.rounding_of(row, norm2);
    return m.familiar(row, norm2, 1.0) ? Problem::none : m.observe(row, norm2, 1.0);
}

// The winner by float scores if rounding cannot have changed it, or -1.
inline int64_t clear_winner(const double* s, int64_t classes, double slack) {
    int64_t best = 0;
    for (int64_t c = 1; c < classes; ++c)
        if (s[c] > s[best]) best = c;
    return s[best] - best_other(s, classes, best) > 2.000002 * slack ? best : -1;
}

// The class of a row: the exact sign, or the exact argmax. `s` and `slack` come from `evaluate`.
template <class Row>
NOVIKOFF_INLINE int64_t decide(Learner& m, const Row& row, const double* s, double slack) {
    if (m.binary()) return s[0] > slack || (!(s[0] < -slack) && m.difference_sign(row, 1, 0, 0.0) >= 0);
    const int64_t best = clear_winner(s, m.classes, slack);
    return best >= 0 ? best : m.settle_rival(row, s, -1, slack);
}

// f(i, row, its float scores, their slack), for each row of a range.
template <class Rows, class F>
NOVIKOFF_INLINE Outcome for_each_evaluated(Learner& m, const Rows& rows, int64_t begin, int64_t end, F&& f) {
    std::vector<double> scratch(m.binary() ? 1 : m.stride);
    double *s = scratch.data(), slack;
    for (int64_t i = begin; i < end; ++i) {
        const auto row = rows[i];
        const Problem problem = evaluate(m, row, s, slack);
        if (problem != Problem::none) return {problem, i};
        f(i, row, s, slack);
    }
    return {};
}

// The predicted class of each row of a range.
template <class Rows>
Outcome predict(Learner& m, const Rows& rows, int64_t begin, int64_t end, int32_t* out) {
    return for_each_evaluated(m, rows, begin, end, [&](int64_t i, const auto& row, double* s, double slack) {
        out[i] = int32_t(decide(m, row, s, slack));
    });
}

// Scores whose sign (two classes) or argmax (more) is the exact one; out has one column or `classes`.
template <class Rows>
Outcome scores(Learner& m, const Rows& rows, int64_t begin, int64_t end, double* out) {
    return for_each_evaluated(m, rows, begin, end, [&](int64_t i, const auto& row, double* s, double slack) {
        if (m.binary()) {
            if (!(std::fabs(s[0]) > slack)) {
                s[0] = m.difference(row, 1, 0, 0.0);
                if (s[0] == 0) s[0] = 0x1p-1074 * m.difference_sign(row, 1, 0, 0.0);
            }
            out[i] = s[0];
            return;
        }
        if (clear_winner(s, m.classes, slack) < 0) {
            int64_t best = m.settle_rival(row, s, -1, slack);
            for (int64_t c = 0; c < m.classes; ++c) s[c] = m.score(row, c);
            for (int64_t c = 0; c < best; ++c) {  // rounding may make a tie of what is none
                if (s[c] == INFINITY) s[c] = std::numeric_limits<double>::max();  // s[best] is infinite too
                if (s[c] >= s[best]) s[best] = std::nextafter(s[c], INFINITY);
            }
        }
        std::copy(s, s + m.classes, out + i * m.classes);
    });
}

// Adds x to a column's figures: Σx and Σx², each as two doubles whose sum carries twice the digits (Knuth's
// TwoSum, TwoProduct by FMA), and max |x|. A zero changes nothing, so dense and sparse rows give the same
// bits, and so does any division into blocks.
inline void add_to_column(double* figures, double x) {
    auto add = [](double& high, double& low, double y) {
        const double sum = high + y, part = sum - high;
        low += (high - (sum - part)) + (y - part);
        high = sum;
    };
    const double square = x * x;
    add(figures[0], figures[1], x);
    add(figures[2], figures[3], square);
    figures[3] += std::fma(x, x, -square);
    figures[4] = std::max(figures[4], std::fabs(x));
}

// The largest |x| of every column over a range of visits. NaN is passed over; indices beyond `d` too.
template <class T>
void add_sizes(const DenseRow<T>& row, int64_t, double* sizes) {
    int64_t j = 0;
    for (; j + 4 <= row.d; j += 4) {
        const Vec x = load4(row.x + j), size = x < 0 ? -x : x, most = load4(sizes + j);
        store4(sizes + j, size > most ? size : most);
    }
    for (; j < row.d; ++j) sizes[j] = std::max(sizes[j], std::fabs(double(row.x[j])));
}
template <class T, class I>
void add_sizes(const SparseRow<T, I>& row, int64_t d, double* sizes) {
    for (int64_t k = 0; k < row.n; ++k) {
        if (row.index[k] < 0 || int64_t(row.index[k]) >= d) continue;
        double& most = sizes[row.index[k]];
        most = std::max(most, std::fabs(double(row.x[k])));
    }
}

// The smallest weight * d over a range of visits, correctly rounded, and the lowest row that has it
// (at 0, a row whose tie is a mistake comes before one whose tie is not).
// `guarded` looks only at pairs where a tie would be a mistake (negatives; rivals below the label).
// `stop` ends at the first row that the model gets wrong.
struct Smallest {
    Outcome outcome;
    double value = INFINITY;
    double least = INFINITY;  // the same, rounded down
    int64_t row = -1;
    bool hurts = false;  // the value is 0, and that row's tie is a mistake
    bool wrong = false;  // some row is a mistake
};

template <class Rows>
Smallest smallest(Learner& m, const Rows& rows, const Visits& v, bool guarded, bool stop) {
    Smallest result;
    std::vector<double> scratch(m.binary() ? 1 : m.stride);
    double *s = scratch.data(), slack;
    for (int64_t t = v.begin; t < v.end; ++t) {
        const int64_t i = v.row(t), y = v.labels[i];
        const auto row = rows[i];
        Problem problem = evaluate(m, row, s, slack);
        if (problem != Problem::none) return result.outcome = {problem, i}, result;
        for (int64_t c = 0; c < m.classes; ++c) {
            if (c == y || (guarded && (m.binary() ? y == 1 : c > y))) continue;
            double d = m.binary() ? (y ? s[0] : -s[0]) : s[y] - s[c], weight = v.weight(i);
            const double beaten = result.value / weight;
            if (d - 2.000002 * slack > beaten + std::fabs(beaten) * 0x1p-50) continue;
            double value = m.difference(row, y, c, 0.0);
            if (value == 0) value = 0x1p-1074 * m.difference_sign(row, y, c, 0.0);
            bool tie_hurts = m.tie_is_mistake || (m.binary() ? y == 0 : c < y);
            bool wrong = value < 0 || (value == 0 && tie_hurts);
            const int side = (value > 0) - (value < 0);
            double least = m.is_below(row, y, c, value) ? below(value) : value;
            value *= weight;
            if (value == 0) value = 0x1p-1074 * side;  // underflow makes no tie
            if (weight != 1 && least != 0)
                least = least > 0 ? product_down(least, weight) : below(least * weight);
            result.least = std::min(result.least, least);
            const bool hurts = value == 0 && tie_hurts;
            if (value < result.value || (value == result.value && hurts && !result.hurts)) {
                result.value = value;
                result.row = i;
                result.hurts = hurts;
            }
            result.wrong |= wrong;
            if (wrong && stop) return result;
        }
    }
    return result;
}

}  // namespace novikoff
