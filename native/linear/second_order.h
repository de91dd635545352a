// The rules that keep a variance for each weight: AROW, SCW-I and the second-order perceptron, with diagonal
// matrices. Included by learner.h; reference/second_order.py is the twin.
//
// The variance of w_j is s_j = 1 / (1 + q_j). Its confidence q_j is 0 at first, so that a table of them is as
// free as one of zero weights, and grows by g x_j^2 at an update: the drop form of the diagonal, in which the
// inverse of the matrix takes the diagonal of g x x^T (Crammer, Dredze and Pereira 2009). With
//
//   k = C * the row's weight,   v = sum of s_j x_j^2 over all vectors that the update moves
//
//   arow          d < 1          alpha = (1 - d) / (v + 1/k),  g = k      (Crammer, Kulesza and Dredze 2009; r = 1/k)
//   scw           d < phi √v     alpha and g as in `scw_step`             (Wang, Zhao and Hoi 2012, proposition 1)
//                                w_j += alpha y s_j x_j, with s_j from before the update
//   second-order  at mistakes    g = k,  w_j += s_j x_j (y - k w_j x_j), with s_j from after the update
//
// The last is w = (I + C S)^-1 (sum of y x), where S is the diagonal of the sum of x x^T over the mistakes: a times
// the vector of Cesa-Bianchi, Conconi and Gentile (2005), with a = 1/C. With full matrices it does not change
// the sign of w.x whether S includes the row to be predicted (Sherman and Morrison); here it does not.
//
// Every operation is rounded as written; v is the correctly rounded sum of fl(s_j * fl(x_j * x_j)). With factors, x
// is z everywhere here, and the weights are those of z: what is stored is divided by the factors first (see rows.h).
#pragma once

namespace novikoff {

// phi √v of any row, rounded up; infinite where v may not be finite.
inline double Learner::farthest_reach() const {
    const double most = largest_row * (binary() ? 1.0 : 1.4142135623730952);
    return most < 0x1p500 ? phi * most * (1 + 0x1p-48) : INFINITY;
}

// alpha and g of SCW-I for the signed score m: proposition 1, with √u = (√(t² + 4v) - t) / 2, t = alpha v phi,
// written without cancellation.
struct Step {
    double alpha, gain;
};
inline Step scw_step(double m, double v, double k, double phi) {
    if (v == 0) return {k, 0.0};
    const double square = phi * phi, psi = 1 + square / 2, zeta = 1 + square;
    const double root = std::sqrt(m * m * (square * square) / 4 + v * square * zeta);
    double alpha = (root - m * psi) / (v * zeta);
    alpha = alpha > 0 ? alpha : 0.0;
    alpha = alpha < k ? alpha : k;
    const double t = alpha * v * phi;
    return {alpha, alpha * phi * (std::sqrt(t * t + 4 * v) + t) / (2 * v)};
}

// For one class: each stored value's s x^2 into `terms` and s x into `scaled`, and those of the bias, s bias2,
// after them. False when a term is not finite.
template <class Row>
bool Learner::spread(const Row& row, int64_t c, double* terms, double* scaled) const {
    const int64_t n = row.stored();
    const double* q = confidences + c;
    const Vec one = Vec{} + 1.0;
    Vec largest{};
    int64_t k = 0;
    for (; k + 4 <= n; k += 4) {
        Vec x = row.four(k);
        if (row.factors) x *= row.four_factors(k);
        const Vec s = one / (one + gather4(row, k, q, stride)), term = s * (x * x);
        store4(terms + k, term);
        store4(scaled + k, s * x);
        largest = term > largest ? term : largest;
    }
    double most = std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
    for (; k < n; ++k) {
        const double x = row.factor(k) * double(row.x[k]), s = 1 / (1 + q[row.place(k) * stride]);
        terms[k] = s * (x * x);
        scaled[k] = s * x;
        most = std::max(most, terms[k]);
    }
    terms[n] = scaled[n] = 1 / (1 + bias_confidences[c]) * bias2;
    return most < INFINITY;
}

// One class's part of an update. `scaled` is from `spread`; null: the second-order perceptron, with k = gain.
// False when a number is no longer finite.
template <class Row>
bool Learner::shift(const Row& row, int64_t c, double step, double gain, const double* scaled) {
    const int64_t n = row.stored();
    const double count = double(visits);
    double *w = weights + c, *u = weight_sums ? weight_sums + c : nullptr, *q = confidences + c;
    Vec before4{}, after4{}, confident4{};
    // for Vec and double alike: a weight's move, given its value x, itself and its confidences old and new
    auto moved = [&](auto x, auto weight, auto confidence, auto x_scaled) {
        if (scaled) return step * x_scaled;
        return (step - gain * (weight * x)) * (1.0 / (1.0 + confidence) * x);
    };
    int64_t k = 0;
    for (; k + 4 <= n; k += 4) {
        Vec x = row.four(k), old = gather4(row, k, w, stride), factor = Vec{} + 1.0;
        if (row.factors) {  // to z and its weights, which are those of x divided by the factors
            factor = row.four_factors(k);
            x *= factor;
            old /= factor;
        }
        const Vec confidence = gather4(row, k, q, stride) + gain * (x * x);
        const Vec move = moved(x, old, confidence, scaled ? load4(scaled + k) : x), now = old + move;
        scatter4(row, k, w, stride, factor * now);
        scatter4(row, k, q, stride, confidence);
        if (u) scatter4(row, k, u, stride, gather4(row, k, u, stride) + factor * (count * move));
        before4 = multiply_add(old, old, before4);
        after4 = multiply_add(now, now, after4);
        confident4 += confidence;
    }
    double before = total(before4), after = total(after4), confident = total(confident4);
    for (; k < n; ++k) {
        const int64_t j = row.place(k) * stride;
        const double factor = row.factor(k), x = factor * double(row.x[k]), old = w[j] / factor;
        q[j] += gain * (x * x);
        const double move = moved(x, old, q[j], scaled ? scaled[k] : 0.0), now = old + move;
        w[j] = factor * now;
        if (u) u[j] += factor * (count * move);
        confident += q[j];
        before += old * old;
        after += now * now;
    }
    if (bias2) {
        // b = c w for the coordinate's weight w and its value c: b moves by c times what w does
        double& b = bias[c];
        bias_confidences[c] += gain * bias2;
        const double c0 = std::sqrt(bias2), old = b / c0;
        const double move =
            scaled ? step * scaled[n] : (step - gain * b) * (1.0 / (1.0 + bias_confidences[c]) * bias2);
        b += move;
        if (bias_sums) bias_sums[c] += count * move;
        before += old * old;
        after += (b / c0) * (b / c0);
        confident += bias_confidences[c];
    }
    // |w|^2 loses what the moved weights had and gains what they have.
    const double slack = norm_slack(n) + 0x1p-46, most = norm2[c] + (after - before);
    norm2[c] = std::max(most, 0.0) * (1 + 0x1p-46) + (norm2[c] + before + after) * slack;
    sum_reach += count * (std::sqrt(before) + std::sqrt(after));
    if (is_far_from_overflow(c) && confident < 0x1p1000) return true;
    if (!(norm2[c] < INFINITY)) norm2[c] = INFINITY;
    return still_finite(row, c);
}

// An example whose float d did not clear the threshold, as `settle`.
template <class Row>
__attribute__((noinline)) bool Learner::adapt(const Row& row, int64_t i, int64_t label, int64_t rival,
                                              double sample_weight, double d, double doubt) {
    const int64_t n = row.stored() + 1, both[2] = {binary() ? 0 : label, rival}, moving = binary() ? 1 : 2;
    const double k = C * sample_weight;
    double at = threshold(), v = 0;
    scratch.resize(size_t(4 * n));
    double *const terms = scratch.data(), *const scaled = terms + 2 * n;
    auto measure_spread = [&] {
        bool finite = true;
        for (int64_t m = 0; m < moving; ++m) finite &= spread(row, both[m], terms + m * n, scaled + m * n);
        v = exact_sum(terms, moving * n, fallbacks);
        return finite;
    };
    if (rule == Rule::scw) {
        if (!measure_spread()) return false;
        at = phi * std::sqrt(v);
    }
    const Verdict verdict = judge(row, label, rival, d, doubt, at);
    mistakes += verdict.mistake;
    if (!verdict.update) return true;
    Step step{sample_weight, k};
    if (rule == Rule::arow) {
        if (!measure_spread()) return false;
        step = {-difference(row, label, rival, 1.0) / (v + 1 / k), k};
    } else if (rule == Rule::scw) {
        step = scw_step(difference(row, label, rival, 0.0), v, k, phi);
    }
    if (!std::isfinite(step.alpha) || !std::isfinite(step.gain)) return false;
    const double *const first = rule == Rule::second_order ? nullptr : scaled,
                        sign = binary() && !label ? -1.0 : 1.0;
    bool finite = shift(row, both[0], sign * step.alpha, step.gain, first);
    if (moving == 2) finite &= shift(row, rival, -step.alpha, step.gain, first ? first + n : nullptr);
    ++updates;
    step_sum += rule == Rule::second_order ? 1.0 : step.alpha;
    if (record) record->push_back({i, int32_t(label), int32_t(rival), step.alpha, visits});
    note_norms(label, rival);
    return finite;
}

}  // namespace novikoff
