// A linear learner's state, its rules, and what happens at one example whose decision is not
// obvious: the exact comparison, the step, the update.
//
// Two classes share one weight vector w and d = y (w.x + b), y in {-1, +1}. Three or more have a
// vector each (Kesler's construction): d = s_y - s_r, where the rival r is the lowest class other
// than y of the highest score. Everything below speaks of d:
//
//   mistake   d < 0, or d = 0 where a tie counts against y
//   update    as the rule says, always at a mistake
//
// The bias is one more coordinate of size sqrt(bias2): b stands for its contribution to the score,
// so that a step tau adds tau * y * bias2 to b.
#pragma once

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "exact/exact.h"
#include "exact/lanes.h"
#include "exact/outward.h"
#include "rows/rows.h"

namespace novikoff {

enum class Rule { perceptron, normalized, margin, pa, pa1, pa2, arow, scw, second_order };

enum class Problem { none, not_finite, bad_index, overflow };

// What a loop reports: how far it came, and, where it stopped early, why and at which row.
struct Outcome {
    Problem problem = Problem::none;
    int64_t row = -1;
};

// The mean of a weight after each of T visits, (T w - u) / T. Where T w overflows, w - u / T: the mean of
// finite numbers is finite, up to rounding at the very end of the range.
inline double mean_weight(double w, double u, double visits) {
    const double mean = (visits * w - u) / visits;
    if (std::isfinite(mean)) return mean;
    return std::clamp(w - u / visits, -std::numeric_limits<double>::max(),
                      std::numeric_limits<double>::max());
}

// How a learner decides and steps.
struct UpdateRule {
    Rule rule = Rule::perceptron;
    bool tie_is_mistake = false;
    double margin = 0, C = 1, bias2 = 1;  // bias2 = 0: no bias
    double phi = 1;                       // of scw

    // Whether only mistakes, possibly of the size 0, lead to updates.
    bool needs_mistake() const { return rule <= Rule::normalized || rule == Rule::second_order; }
    bool has_hinge() const { return rule >= Rule::pa && rule <= Rule::arow; }
    // Whether each weight has a variance: see second_order.h.
    bool adapts() const { return rule >= Rule::arow; }
};

struct Learner : UpdateRule {
    Learner() = default;
    explicit Learner(const UpdateRule& how) : UpdateRule(how) {}

    // what it learns: weights[j * stride + c], owned by the caller
    int64_t classes = 2, stride = 1, features = 0;
    double *weights = nullptr, *bias = nullptr;
    double *weight_sums = nullptr, *bias_sums = nullptr;  // null when nothing is averaged
    double *confidences = nullptr, *bias_confidences = nullptr;  // of the rules that adapt
    // With factors the rows are z[j] = factors[j] x[j], and so are R, norms and steps; `weights` are those of x: see
    // rows.h. Powers of two from 2^-300 to 2^300.
    const double* factors = nullptr;
    double largest_factor = 1, smallest_factor = 1;  // or 1, if that is larger or smaller
    // what it counts
    int64_t visits = 0, mistakes = 0, updates = 0;
    int64_t ties = 0;  // mistakes with d = 0
    double step_sum = 0;  // sum of the steps, before sample weights
    double radius = 0;  // R, rounded up: the largest sample weight * norm of a row with its bias
    double square_low = 0, square_high = 0;  // R^2, enclosed
    double drift = 0;  // at least |w - sum of the steps * y * x|: what rounding has done to w
    Fallbacks fallbacks;
    // what the filter needs
    std::vector<double> norm2;  // per class, an upper bound on |w|^2
    double largest_row = 0;  // upper bound on the norm of a row with its bias
    int64_t most_stored = 0;
    double error = 0;  // bound on the rounding error of a float score of any row
    // per update, when asked for: (row, true class, rival, step with its weight, visits before)
    struct Update {
        int64_t row;
        int32_t label, rival;
        double step;
        int64_t visit;
    };
    std::vector<Update>* record = nullptr;

    bool binary() const { return classes == 2; }
    // Above it no example is updated on. For scw, whose threshold depends on the row, the largest of all rows.
    double threshold() const {
        return rule == Rule::margin ? margin : has_hinge() ? 1.0 : rule == Rule::scw ? farthest_reach() : 0.0;
    }
    // What d must exceed to be beyond doubt, where it is the sum of `doubts` scores.
    double clear_of(double doubts) const {
        const double at = threshold();
        return at + doubts * error + at * 0x1p-50;
    }

    double weight_norm() const {  // an upper bound on every class's |w|, never 0
        double most = 0;
        for (double v : norm2) most = v <= most ? most : v;  // NaN and infinity go through
        return std::sqrt(most + 0x1p-1022);
    }

    // |fl(w.x + b) - (w.x + b)| <= n u (|w| |x| + |b|) for n terms summed in any order, plus underflow. Where
    // the bias is a coordinate both norms have it in them; where it is not (bias2 = 0), b may still have been
    // given.
    double rounding(int64_t stored, double row_norm, double weight_norm) const {
        double size = row_norm * weight_norm + given_bias, n = double(stored + 5);
        return size < 0x1p1000 ? n * kUnit * 1.000001 * size + n * 0x1p-1074 : INFINITY;
    }
    double given_bias = 0;  // the largest |b| of a learner without a bias coordinate: measure_norm() sets it

    void refresh_error() { error = rounding(most_stored, largest_row, current_norm); }

    // Whether a row's norm, stored values and weight are within what was seen before: then it is finite
    // and changes neither R nor the filter.
    template <class Row>
    NOVIKOFF_INLINE bool familiar(const Row& row, double norm2_of_row, double sample_weight) const {
        return norm2_of_row <= familiar_norm2 && norm2_of_row >= 0x1p-900 && row.stored() <= most_stored &&
               sample_weight <= heaviest;
    }
    double largest_norm2 = -1, heaviest = 0;  // of one row, so that both hold together
    double familiar_norm2 = -1;  // below it a row is certainly not the largest, as long as `measures` last
    int64_t measures = 100;  // rows that may still be measured exactly: many rows may have equal norms

    // How far a squared norm may be off, relatively, when it was summed in any order.
    static double norm_slack(int64_t stored) { return double(stored + 8) * 2 * kUnit; }
    double bias2_up() const {  // of c^2, of which bias2 is the rounded value
        const double c = std::sqrt(bias2);
        return std::fma(c, c, -bias2) == 0 ? bias2 : above(bias2);
    }
    double bias2_down() const {
        const double c = std::sqrt(bias2);
        return std::fma(c, c, -bias2) == 0 ? bias2 : below(bias2);
    }

    // R and R^2, rounded outward. Rows that may be the largest are measured exactly while this is cheap;
    // from then on by their float norms and what these may be off by.
    template <class Row>
    void measure(const Row& row, double norm2_of_row, double sample_weight) {
        const double slack = norm_slack(most_stored),
                     weight2 = sample_weight * sample_weight * (1 + 4 * kUnit);
        const double total = norm2_of_row + bias2;
        const bool ordinary = total > 0x1p-900 && total < 0x1p900 && weight2 > 0x1p-100 && weight2 < 0x1p100;
        if (ordinary && total * (1 + slack) * weight2 * (1 + 8 * kUnit) <= square_low) return;
        if (measures > 0 || !ordinary) {
            measures -= measures > 0;
            const Enclosed high = enclose([&](auto& f) { square_terms(row, f, bias2_up()); });
            const Enclosed low =
                bias2_up() == bias2 ? high : enclose([&](auto& f) { square_terms(row, f, bias2_down()); });
            const double root = root_up(high.high);
            radius = std::max(radius, sample_weight == 1 ? root : product_up(sample_weight, root));
            double most = value_up(high.high), least = value_down(low.low);
            if (sample_weight != 1) {
                most = product_up(product_up(sample_weight, sample_weight), most);
                least = product_down(product_down(sample_weight, sample_weight), least);
            }
            square_high = std::max(square_high, most);
            square_low = std::max(square_low, least);
            return;
        }
        const double square = total * sample_weight * sample_weight;
        square_high = std::max(square_high, square * (1 + slack) * (1 + 16 * kUnit));
        square_low = std::max(square_low, square * (1 - slack) * (1 - 16 * kUnit));
        radius = std::max(radius, std::sqrt(square_high) * (1 + 4 * kUnit));
    }

    // The rows skipped from now on: those that are certainly smaller, or, once nothing is measured
    // exactly any more, those whose float norms are; R has room for these.
    void renew_familiar() {
        const double slack = norm_slack(most_stored);
        familiar_norm2 = measures > 0 ? largest_norm2 * (1 - 3 * slack) : largest_norm2;
        if (measures > 0 || !(largest_norm2 > 0)) return;
        const double square = (largest_norm2 + bias2) * heaviest * heaviest * (1 + slack) * (1 + 16 * kUnit);
        if (square > 0x1p-900 && square < 0x1p900) {
            square_high = std::max(square_high, square);
            radius = std::max(radius, std::sqrt(square) * (1 + 4 * kUnit));
        } else {  // squares say nothing here
            familiar_norm2 = -1;
        }
    }

    template <class Row>
    __attribute__((noinline)) Problem observe(const Row& row, double norm2_of_row, double sample_weight) {
        if (!(norm2_of_row <= 0x1.fffffffffffffp1023)) {
            bool finite = true;
            row.for_each([&](int64_t, double x) { finite &= std::isfinite(x); });
            if (!finite) return Problem::not_finite;
        }
        double norm = row_norm(row, norm2_of_row);
        most_stored = std::max(most_stored, row.stored());
        largest_row =
            std::max(largest_row, std::max(norm, 0x1p-440) * (1 + double(most_stored + 8) * 4 * kUnit));
        measure(row, norm2_of_row, sample_weight);
        // A square that overflows measures nothing: compared with it even infinity would be familiar.
        if (norm2_of_row < 0x1p1000 && norm2_of_row >= largest_norm2 && sample_weight >= heaviest) {
            largest_norm2 = norm2_of_row;
            heaviest = sample_weight;
        }
        renew_familiar();
        refresh_error();
        return Problem::none;
    }
    double current_norm = 0x1p-511;  // weight_norm(), kept between updates

    // All that the filter knows besides largest_row and most_stored: with it a learner
    // that was stored continues to count fallbacks as if it had never been stored.
    std::vector<double> filter() const {
        std::vector<double> known{current_norm, largest_norm2, heaviest, sum_reach};
        known.insert(known.end(), norm2.begin(), norm2.end());
        known.push_back(double(measures));  // files of earlier versions do not have it
        return known;
    }
    void set_filter(const std::vector<double>& known) {
        const size_t n = 4 + norm2.size();
        if (known.size() != n && known.size() != n + 1)
            throw std::invalid_argument("the filter does not fit the classes");
        current_norm = known[0];
        largest_norm2 = known[1] < 0x1p1000 ? known[1] : -1;
        heaviest = known[2];
        sum_reach = known[3];
        std::copy(known.begin() + 4, known.begin() + int64_t(n), norm2.begin());
        if (known.size() > n) measures = known[n] >= 1 && known[n] <= 100 ? int64_t(known[n]) : 0;
        renew_familiar();
    }

    // Takes over what another learner has seen of rows.
    void take(const Learner& other) {
        radius = std::max(radius, other.radius);
        square_low = std::max(square_low, other.square_low);
        square_high = std::max(square_high, other.square_high);
        measures = std::min(measures, other.measures);
        largest_row = std::max(largest_row, other.largest_row);
        most_stored = std::max(most_stored, other.most_stored);
        renew_familiar();
    }

    // Whether n updates could take a weight or a sum out of the range of a double. A step's length is
    // at most R (perceptron, margin), 1 (normalized), or what a projection needs (passive-aggressive:
    // |w| grows by at most 1/|x|, unless a weight above 1 overshoots).
    bool may_overflow(int64_t n, double smallest_row, double heaviest_row) const {
        if (adapts()) return true;  // no simple bound is known
        const bool passive = rule >= Rule::pa;
        const double length =
            std::max({largest_row, 1.0, passive ? 1 / smallest_row : 1.0}) * std::max(heaviest_row, 1.0);
        const double reach = (weight_norm() + double(n + 1) * length) * double(visits + n + 1);
        return !(reach < 0x1p1000 / largest_factor) || (passive && heaviest_row > 1);
    }

    // The bound for one row, by its own norm.
    template <class Row>
    double rounding_of(const Row& row, double norm2_of_row) const {
        double norm = std::max(row_norm(row, norm2_of_row), 0x1p-440);
        return rounding(row.stored(), norm * (1 + double(row.stored() + 8) * 4 * kUnit), current_norm);
    }

    // sqrt(norm2 + bias2), without overflow or underflow on the way.
    template <class Row>
    double row_norm(const Row& row, double norm2_of_row) const {
        double sum = norm2_of_row + bias2;
        if (sum < 0x1p1000 && (sum > 0x1p-900 || row.stored() == 0)) return std::sqrt(sum);
        Fallbacks ignored;
        return exact_norm([&](auto& f) { square_terms(row, f); }, ignored);
    }

    template <class Row, class F>
    void square_terms(const Row& row, F& f) const {
        square_terms(row, f, bias2);
    }
    template <class Row, class F>
    static void square_terms(const Row& row, F& f, double bias_square) {
        if constexpr (std::is_same_v<F, CompensatedSum>) {
            add_squares(row, f);
        } else {
            row.for_each([&](int64_t j, double x) {
                const double z = row.factors ? row.factors[j] * x : x;
                f(z, z);
            });
        }
        if (bias_square) f(bias_square, 1.0);
    }

    // ---- d - shift, exactly ------------------------------------------------------------------
    template <class Row, class F>
    void difference_terms(const Row& row, int64_t label, int64_t rival, double shift, F& f) const {
        constexpr bool in_lanes = std::is_same_v<F, CompensatedSum>;
        if (binary()) {
            double y = label ? 1.0 : -1.0;
            if constexpr (in_lanes) add_products(row, weights, stride, y, f);
            else row.for_each([&](int64_t j, double x) { f(y * x, weights[j]); });
            f(y, bias[0]);
        } else {
            if constexpr (in_lanes) {
                add_products(row, weights + label, stride, 1.0, f);
                add_products(row, weights + rival, stride, -1.0, f);
            } else {
                row.for_each([&](int64_t j, double x) {
                    f(x, weights[j * stride + label]);
                    f(-x, weights[j * stride + rival]);
                });
            }
            f(1.0, bias[label]);
            f(-1.0, bias[rival]);
        }
        if (shift) f(-shift, 1.0);
    }
    template <class Row>
    int difference_sign(const Row& row, int64_t label, int64_t rival, double shift) {
        return exact_sign([&](auto& f) { difference_terms(row, label, rival, shift, f); }, fallbacks);
    }
    template <class Row>
    double difference(const Row& row, int64_t label, int64_t rival, double shift) {
        return exact_value([&](auto& f) { difference_terms(row, label, rival, shift, f); }, fallbacks);
    }

    // Whether d is below `value`, to which it was rounded; not counted as a fallback.
    template <class Row>
    bool is_below(const Row& row, int64_t label, int64_t rival, double value) const {
        if (std::isinf(value)) return value > 0;
        Fallbacks ignored;
        return exact_sign([&](auto& f) { difference_terms(row, label, rival, value, f); }, ignored) < 0;
    }

    template <class Row>
    double score(const Row& row, int64_t c) {
        return exact_value(
            [&](auto& f) {
                row.for_each([&](int64_t j, double x) { f(x, weights[j * stride + c]); });
                f(1.0, bias[c]);
            },
            fallbacks);
    }

    // The lowest class other than y of the exactly highest score (y = -1: of all classes), given
    // float scores that are off by at most `slack` each.
    template <class Row>
    int64_t settle_rival(const Row& row, const double* scores, int64_t y, double slack) {
        double most = -INFINITY;
        bool usable = true;
        for (int64_t c = 0; c < classes; ++c) {
            if (!std::isfinite(scores[c])) usable = false;
            if (c != y) most = std::max(most, scores[c]);
        }
        int64_t best = -1;
        for (int64_t c = 0; c < classes; ++c) {
            if (c == y || (usable && scores[c] < most - 2.000001 * slack)) continue;
            if (best < 0 || difference_sign(row, c, best, 0.0) > 0) best = c;
        }
        return best;
    }

    // ---- one update --------------------------------------------------------------------------
    template <class Row>
    __attribute__((noinline)) double step(const Row& row, int64_t label, int64_t rival) {
        const double copies = binary() ? 1 : 2;  // |z|^2 = copies * |x|^2
        auto squares = [&](auto& f) { square_terms(row, f); };
        auto norm = [&] { return exact_norm(squares, fallbacks); };
        auto norm2 = [&] { return copies * exact_value(squares, fallbacks); };
        auto loss = [&] { return -difference(row, label, rival, 1.0); };
        // A zero row has step 0; one whose |x|^2 only rounds to 0 an infinite one, which is refused, as is
        // one whose |x| is no double any more.
        auto quotient = [&](double a, double b) { return b == 0 && norm() == 0 ? 0.0 : a / b; };
        auto reciprocal = [&](double b) { return b < INFINITY ? quotient(1, b) : INFINITY; };
        switch (rule) {
            case Rule::perceptron: return 1;
            case Rule::margin: return 1;
            case Rule::normalized: return reciprocal(norm());
            case Rule::pa: return quotient(loss(), norm2());
            case Rule::pa1: return std::min(C, quotient(loss(), norm2()));
            case Rule::pa2: return quotient(loss(), norm2() + 1 / (2 * C));
            default: return 0;  // `adapt` has these
        }
    }

    // w_c += step * x for one class; false when a weight or a sum is no longer finite.
    template <class Row>
    NOVIKOFF_INLINE bool move(const Row& row, int64_t c, double step, double score, double slack) {
        const double sum_step = weight_sums ? double(visits) * step : 0;
        row.add({weights + c, weight_sums ? weight_sums + c : nullptr, stride, step, sum_step});
        if (bias2) bias[c] += step * bias2;
        if (bias2 && bias_sums) bias_sums[c] += sum_step * bias2;
        // |w + tx|^2 = |w|^2 + 2t w.x + t^2 |x|^2, each part rounded up.
        const double size = std::fabs(step) * largest_row, before = norm2[c];
        const double after = before + 2 * (step * score + std::fabs(step) * slack) + size * size;
        norm2[c] = std::max(after, 0.0) * (1 + 0x1p-46) + (before + size * size) * 0x1p-46;
        sum_reach += std::fabs(sum_step) * largest_row;
        // No weight exceeds |w|, no sum what was added to it: usually that settles it.
        if (is_far_from_overflow(c)) return true;
        if (!(after < INFINITY)) norm2[c] = INFINITY;
        return still_finite(row, c);
    }
    bool is_far_from_overflow(int64_t c) const {
        return norm2[c] < 0x1p1000 / largest_factor / largest_factor && sum_reach < 0x1p1000 / largest_factor;
    }
    double sum_reach = 0;  // at least as large as any averaged sum

    // What an update with the step `base` (times the sample's weight) may have rounded. A step is rounded up
    // to twice (fl(weight * base), fl(c^2)), its product with x once and each sum once: in all 3u |step| |x|
    // + u |w| for each vector that moves. At a mistake |w|^2 grows by at most R^2; it is never longer than
    // the sum of the steps times R. All of it is counted or stored, so that a fit that is resumed
    // counts the same.
    template <class Row>
    NOVIKOFF_INLINE void drift_on(const Row& row, double base, double tau) {
        const double size = base * radius;
        const double length =
            rule == Rule::perceptron ? std::sqrt(double(updates)) * radius : step_sum * radius;
        if (drift == 0 && moves_exactly(row, tau, size, length)) return;
        drift += 1.0001 * kUnit * (3 * size + length) * (binary() ? 1 : 2) +
                 double(row.stored() + 2) * (0x1p-1073 / smallest_factor);
        if (!(drift < INFINITY)) drift = INFINITY;
    }
    // Whether w + tau * x certainly does not round: whole steps, x and w on the grid 2^-10, and all of them
    // small. After some thousand updates the difference is negligible, and looking at x would take time.
    template <class Row>
    NOVIKOFF_INLINE bool moves_exactly(const Row& row, double tau, double size, double length) const {
        return (rule == Rule::perceptron || rule == Rule::margin) && updates <= 4096 &&
               tau == std::rint(tau) && size < 0x1p41 && length < 0x1p41 && (bias2 == 0 || bias2 == 1) &&
               row.on_grid();
    }

    template <class Row>
    __attribute__((noinline)) bool still_finite(const Row& row, int64_t c) const {
        bool finite = std::isfinite(bias[c]) && (!bias_sums || std::isfinite(bias_sums[c])) &&
                      (!bias_confidences || std::isfinite(bias_confidences[c]));
        row.for_each([&](int64_t j, double) {
            finite &= std::isfinite(weights[j * stride + c]);
            finite &= !weight_sums || std::isfinite(weight_sums[j * stride + c]);
            finite &= !confidences || std::isfinite(confidences[j * stride + c]);
        });
        return finite;
    }

    // ---- the class of all visits so far, 0 of two, turns out to be 1 -----------------------------
    // Where every visit is of one class, w = y v, and v depends on y only at d = 0: a tie is a mistake for
    // class 0, and for class 1 only with tie_is_mistake. So the run as class 1 is the run as class 0 with w
    // negated, except that rules which update only at mistakes never leave w = 0 where a tie is right.
    bool stays_at_zero() const { return !tie_is_mistake && needs_mistake(); }
    void turn() {
        const double factor = stays_at_zero() ? 0.0 : -1.0;
        auto turned = [&](double* v, int64_t n) {
            for (int64_t j = 0; v && j < n; ++j)
                if (v[j] != 0 || std::signbit(v[j])) v[j] = v[j] * factor + 0.0;  // no negative zeros
        };
        turned(weights, features), turned(weight_sums, features);
        turned(bias, 1), turned(bias_sums, 1);
        if (stays_at_zero()) {
            if (confidences) turned(confidences, features), turned(bias_confidences, 1);
            mistakes = updates = 0;
            step_sum = sum_reach = drift = norm2[0] = 0;
            current_norm = weight_norm();
            refresh_error();
        } else if (!tie_is_mistake) {
            mistakes -= ties;
        }
        ties = tie_is_mistake ? ties : 0;
    }

    struct Verdict {
        bool mistake, update;
    };

    // What an example calls for, decided exactly where its float d is within `doubt` of the line.
    template <class Row>
    __attribute__((noinline)) Verdict judge(const Row& row, int64_t label, int64_t rival, double d,
                                            double doubt, double at) {
        auto side = [&](double shift) {  // the sign of d - shift
            double distance = d - shift, room = doubt + std::fabs(shift) * 0x1p-50;
            if (distance > room) return 1;
            if (distance < -room) return -1;
            return difference_sign(row, label, rival, shift);
        };
        const int of_zero = side(0.0);
        const bool tie_hurts = tie_is_mistake || (binary() ? label == 0 : rival < label);
        const bool mistake = of_zero < 0 || (of_zero == 0 && tie_hurts);
        ties += mistake && of_zero == 0;
        if (rule == Rule::margin) return {mistake, (at == 0 ? of_zero : side(at)) <= 0};
        return {mistake, needs_mistake() ? mistake : side(at) < 0};
    }

    // ---- the rules that adapt: second_order.h
    double farthest_reach() const;
    template <class Row>
    bool adapt(const Row& row, int64_t i, int64_t label, int64_t rival, double sample_weight, double d,
               double doubt);
    template <class Row>
    bool spread(const Row& row, int64_t c, double* terms, double* scaled) const;
    template <class Row>
    bool shift(const Row& row, int64_t c, double step, double gain, const double* scaled);
    void note_norms(int64_t label, int64_t rival) {
        if (binary()) current_norm = std::sqrt(norm2[0] + 0x1p-1022);
        else
            for (int64_t c : {label, rival})
                current_norm = std::max(current_norm, std::sqrt(norm2[c] + 0x1p-1022));
        refresh_error();
    }
    std::vector<double> scratch;

    // An example whose float d did not clear the threshold. `scores` are off by at most `slack`
    // each (one score for two classes). False: the update would overflow.
    template <class Row>
    __attribute__((noinline)) bool settle(const Row& row, int64_t i, int64_t label, double sample_weight,
                                          const double* scores, double slack) {
        int64_t rival = binary() ? 1 - label : settle_rival(row, scores, label, slack);
        double d = binary() ? (label ? scores[0] : -scores[0]) : scores[label] - scores[rival];
        double doubt = binary() ? slack : 2.000001 * slack;
        if (adapts()) return adapt(row, i, label, rival, sample_weight, d, doubt);
        if (!(d < -doubt && rule <= Rule::normalized)) {  // not a plain mistake beyond doubt
            const Verdict verdict = judge(row, label, rival, d, doubt, threshold());
            mistakes += verdict.mistake;
            if (!verdict.update) return true;
        } else {
            ++mistakes;
        }
        double base = rule == Rule::perceptron ? 1.0 : step(row, label, rival), tau = sample_weight * base;
        if (!std::isfinite(tau)) return false;
        bool finite;
        if (binary()) {
            finite = move(row, 0, label ? tau : -tau, scores[0], slack);
        } else {
            finite = move(row, label, tau, scores[label], slack);
            finite &= move(row, rival, -tau, scores[rival], slack);
        }
        ++updates;
        step_sum += base;
        drift_on(row, base, tau);
        if (record) record->push_back({i, int32_t(label), int32_t(rival), tau, visits});
        note_norms(label, rival);
        return finite;
    }
};

}  // namespace novikoff

#include "linear/second_order.h"
