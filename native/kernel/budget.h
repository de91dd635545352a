// Kernel perceptrons with a budget: at most B supports, whatever they learn from.
//
// A score is s_c(x) = sum_j alpha_jc K(x, z_j) over the supports z_j; all columns c (one for two classes,
// otherwise one per class) share the supports, and the budget counts them once. On a mistake of a column (the
// sign of s_c is not y_c) the perceptron adds y_c K(x, .). When x is a support already, or the budget is not
// yet full, that is what happens. Otherwise, with k = (K(x, z_1), ..., K(x, z_B)):
//
//   projectron    Orabona, Keshet and Caputo 2008/2009: f <- f + y P K(x, .), P the orthogonal projection onto the span
//                 of the supports: P K(x, .) = sum_j d_j K(z_j, .) with G d = k, G the supports' Gram matrix. Their
//                 threshold eta is 0 until the budget is full, and infinite from then on.
//   projectron++  the same, and for rows that are right by less than 1: with the loss l = 1 - y s(x) their
//                 f <- f + y tau P K(x, .), tau = min(l / |P K(x, .)|^2, 2 (l - |delta| / eta) / |P K(x, .)|^2, 1). At
//                 eta = 0 that is never done, at eta = infinity the second term drops out.
//   forgetron     Dekel, Shalev-Shwartz and Singer 2008, self-tuned: f' = f + y K(x, .), f'' = phi f', and the oldest
//                 support r is removed from f''. With lambda = |alpha_r|, mu = sign(alpha_r) f'(z_r), the damage is
//                     Psi(phi) = (lambda phi)^2 + 2 lambda phi - 2 lambda mu phi^2,
//                 and phi is the largest in (0, 1] for which Psi(phi) + Q <= (15/32) M, where Q has the damage so far
//                 and M the mistakes. They take K(x, x) <= 1; here f' is divided by the largest K(x, x) seen at an
//                 update. With several columns, Psi, Q and M are sums over the columns and phi is one for all.
//   oldest        the oldest support is removed.
//   random        Cavallanti, Cesa-Bianchi and Gentile 2007: one is removed, drawn uniformly.
//
// A support's age counts from its last update. G is kept as its Cholesky factor L, which grows by one row per
// support in O(B^2), and unlike an inverse cannot drift: both solutions are backward stable. A support that
// lies, but for 1e-8 of its square, in the span of those before gets no row in L: G stays well-conditioned,
// and the span is the same.
//
// Sums are taken by sixteen lanes, entry j in lane j mod 16, and everything else goes entry by entry, so that
// a plain twin can give the same bits. Signs of scores are exact for the coefficients and kernel values as
// they are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "exact/exact.h"
#include "memory/in_use.h"
#include "rows/rows.h"

namespace novikoff {

enum class Policy { projectron, projectron_margin, forgetron, oldest, random };

inline Policy policy_named(const std::string& name) {
    const char* names[] = {"projectron", "projectron++", "forgetron", "oldest", "random"};
    for (int k = 0; k < 5; ++k)
        if (name == names[k]) return Policy(k);
    throw std::invalid_argument("unknown policy '" + name + "'");
}

// sum_j a_j b_j, and on request sum_j |a_j b_j|.
template <bool Absolute>
NOVIKOFF_INLINE double lanes16(const double* a, const double* b, int64_t n, double* absolute = nullptr) {
    Vec sum[4] = {}, size[4] = {};
    auto add = [&](const double* p, const double* q) {
        for (int l = 0; l < 4; ++l) {
            const Vec product = load4(p + 4 * l) * load4(q + 4 * l);
            sum[l] += product;
            if (Absolute) size[l] += product < 0 ? -product : product;
        }
    };
    int64_t j = 0;
    for (; j + 16 <= n; j += 16) add(a + j, b + j);
    if (j < n) {
        double p[16] = {}, q[16] = {};
        std::copy(a + j, a + n, p);
        std::copy(b + j, b + n, q);
        add(p, q);
    }
    if (Absolute) *absolute = total((size[0] + size[1]) + (size[2] + size[3]));
    return total((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

struct Fit {  // how to learn a row
    double self = 0;  // K(x, x)
    int64_t same = -1;  // the support that it equals
    double draw = 0;  // in [0, 1), for 'random'
    const double* of_oldest = nullptr;  // kernel values of the oldest support with all, for 'forgetron'
};

struct BudgetRule {
    Policy policy;
    int64_t budget, columns;
    bool joint, tie_is_mistake;

    BudgetRule(const std::string& policy_name, int64_t budget, int64_t columns, bool joint,
               bool tie_is_mistake)
        : policy(policy_named(policy_name)), budget(budget), columns(columns), joint(joint),
          tie_is_mistake(tie_is_mistake) {
        if (budget < 1 || columns < 1) throw std::invalid_argument("a budget and columns are at least 1");
    }
};

class Budgeted : public BudgetRule {
    static constexpr double kDependent = 1e-8;
    std::vector<double> score, size, move, d, v;
    std::vector<uint8_t> in_margin;
    Fallbacks exact;

    double y(int32_t label, int64_t c) const { return (columns == 1 ? label == 1 : label == c) ? 1 : -1; }

    // The sign of sum_j (alpha_ja - alpha_jb) k_j; b < 0: of column a alone.
    int sign(const double* k, int64_t a, int64_t b) {
        const double s = b < 0 ? score[a] : score[a] - score[b], z = b < 0 ? size[a] : size[a] + size[b];
        if (std::fabs(s) > double(m + 8) * kUnit * 1.01 * z + double(m) * 0x1p-1073 || m == 0)
            return (s > 0) - (s < 0);
        if (z > 0) ++close;
        return exact_sign(
            [&](auto& f) {
                for (int64_t j = 0; j < m; ++j) {
                    f(k[j], alpha[a * room + j]);
                    if (b >= 0) f(k[j], -alpha[b * room + j]);
                }
            },
            exact);
    }

    void enlarge() {
        const int64_t wanted = std::min(budget, std::max<int64_t>(16, 2 * room));
        auto wider = [&](std::vector<double>& from, int64_t lines, int64_t more) {
            std::vector<double> to(size_t(more * wanted));
            for (int64_t c = 0; c < lines; ++c)
                std::copy_n(from.data() + c * room, m, to.data() + c * wanted);
            from.swap(to);
        };
        if (projects()) wider(factor, room, wanted);
        wider(alpha, columns, columns);
        wider(sums, columns, columns);
        touched.resize(size_t(wanted));
        room = wanted;
    }

    // alpha_jc += step, which counts in the mean for the visits from this one on.
    void add(int64_t c, int64_t j, double step) {
        alpha[c * room + j] += step;
        sums[c * room + j] += double(visits) * step;
    }

    // L v = k on the basis, column by column.
    void solve_forward(const double* k) {
        const int64_t q = int64_t(basis.size());
        v.resize(size_t(q));
        for (int64_t i = 0; i < q; ++i) v[i] = k[basis[i]];
        for (int64_t i = 0; i < q; ++i) {
            const double* column = factor.data() + i * room;
            const double vi = v[i] /= column[i];
            double* rest = v.data();
            for (int64_t r = i + 1; r < q; ++r) rest[r] -= vi * column[r];
        }
    }
    // L' d = v.
    void solve_backward() {
        const int64_t q = int64_t(basis.size());
        d.resize(size_t(q));
        for (int64_t i = q - 1; i >= 0; --i) {
            const double* column = factor.data() + i * room;
            d[i] = (v[i] - lanes16<false>(column + i + 1, d.data() + i + 1, q - i - 1)) / column[i];
        }
    }

    void extend_factor(const double* k, double self, int64_t slot) {
        solve_forward(k);
        const int64_t q = int64_t(basis.size());
        const double rest = self - lanes16<false>(v.data(), v.data(), q);
        if (!(rest > kDependent * self)) return;
        for (int64_t i = 0; i < q; ++i) factor[i * room + q] = v[i];
        factor[q * room + q] = std::sqrt(rest);
        basis.push_back(slot);
    }

    // The steps of columns whose margin is too small, now that |P K(x, .)|^2 is known.
    void set_margin_steps(int32_t label, double projected) {
        for (int64_t c = 0; c < columns; ++c) {
            if (!in_margin[c]) continue;
            if (jointly()) {  // the difference of two columns moves by 2 tau
                const double tau = std::min((1 - (score[label] - score[c])) / (2 * projected), 1.0);
                if (projected > 0) move[label] = tau, move[c] = -tau;
            } else if (projected > 0) {
                move[c] = y(label, c) * std::min((1 - y(label, c) * score[c]) / projected, 1.0);
            }
        }
    }

    void project(const double* k, int32_t label) {
        solve_forward(k);
        set_margin_steps(label, lanes16<false>(v.data(), v.data(), int64_t(v.size())));
        solve_backward();
        for (int64_t c = 0; c < columns; ++c)
            for (size_t i = 0; move[c] != 0 && i < d.size(); ++i) add(c, basis[i], move[c] * d[i]);
    }

    // phi for the removal of support r.
    double shrinking(const double* k, int64_t r, const double* of_oldest) {
        double a = 0, b = 0;
        for (int64_t c = 0; c < columns; ++c) {
            const double coefficient = alpha[c * room + r], lambda = std::fabs(coefficient);
            if (lambda == 0) continue;
            const double f = lanes16<false>(alpha.data() + c * room, of_oldest, m) + move[c] * k[r];
            const double mu = (coefficient < 0 ? -f : f) / (largest > 0 ? largest : 1.0);
            a += lambda * lambda - 2 * lambda * mu;
            b += 2 * lambda;
        }
        const double c = damage - 0.46875 * double(mistakes);  // a phi^2 + b phi + c <= 0
        double phi = 1;
        // 1 is too much: the root of the rising branch, (-b + root) / 2a without cancellation
        if (a + b + c > 0) phi = std::min(-2 * c / (b + std::sqrt(std::max(b * b - 4 * a * c, 0.0))), 1.0);
        damage += a * phi * phi + b * phi;
        return phi;
    }

    void replace(int64_t r) {
        for (int64_t c = 0; c < columns; ++c) {
            alpha[c * room + r] = sums[c * room + r] = 0;
            add(c, r, move[c]);
        }
        touched[r] = visits;
    }

    // Columns that a row moves; of joint classes both together count as one.
    int64_t moved() const {
        const auto made = std::count_if(move.begin(), move.end(), [](double s) { return s != 0; });
        return jointly() ? made > 0 : made;
    }

    int64_t learn(const double* k, int32_t label, const Fit& how) {
        if (how.same >= 0) {  // its projection is itself
            set_margin_steps(label, how.self);
            for (int64_t c = 0; c < columns; ++c)
                if (move[c] != 0) add(c, how.same, move[c]);
            touched[how.same] = visits;
            return -1;
        }
        if (!full()) {
            reserve();
            const int64_t slot = m++;
            replace(slot);
            if (projects()) extend_factor(k, how.self, slot);
            return slot;
        }
        if (projects()) {
            project(k, label);
            return -1;
        }
        int64_t slot;
        if (by_age()) slot = oldest();
        else
            slot =
                how.draw >= 0 && how.draw < 1 ? std::min(int64_t(how.draw * double(budget)), budget - 1) : 0;
        if (forgets()) {
            const double phi = shrinking(k, slot, how.of_oldest);
            for (double& a : alpha) a *= phi;
            for (double& step : move) step *= phi;
        }
        replace(slot);
        return slot;
    }

  public:
    InUse in_use{"the learner"};
    int64_t m = 0, room = 0;  // supports, and places for them
    // one line per column, `room` places each; sums: visits before times steps
    std::vector<double> alpha, sums;
    std::vector<int64_t> touched;  // the visit of a support's last update
    std::vector<double> factor;  // L, column after column, `room` places each
    std::vector<int64_t> basis;  // the supports that have a row in L
    double damage = 0, largest = 0;  // the Forgetron's Q, and the largest K(x, x) at an update
    int64_t visits = 0, wrong = 0, mistakes = 0, updates = 0, close = 0;

    explicit Budgeted(const BudgetRule& rule) : BudgetRule(rule) {}

    bool jointly() const { return joint && columns > 1; }  // two classes share a column
    bool has_decided() const { return int64_t(move.size()) == columns; }
    bool full() const { return m >= budget; }
    bool limited() const { return budget < INT64_MAX; }
    bool projects() const {
        return limited() && (policy == Policy::projectron || policy == Policy::projectron_margin);
    }
    bool forgets() const { return policy == Policy::forgetron; }
    bool by_age() const { return forgets() || policy == Policy::oldest; }
    void reserve() {
        if (m == room && !full()) enlarge();
    }

    int64_t oldest() const {
        return std::min_element(touched.begin(), touched.begin() + m) - touched.begin();
    }

    // One more class: from two, the column f becomes (-f, f, 0); after that another column of zeros.
    void add_class() {
        const int64_t wanted = columns == 1 ? 3 : columns + 1;
        for (auto* lines : {&alpha, &sums}) {
            lines->resize(size_t(wanted * room));
            for (int64_t j = 0; columns == 1 && j < room; ++j) {
                (*lines)[room + j] = (*lines)[j];
                (*lines)[j] = 0.0 - (*lines)[j];
            }
        }
        columns = wanted;
    }

    // Whether a row with these kernel values is to be learned from.
    bool decide(const double* k, int32_t label) {
        score.resize(size_t(columns)), size.resize(size_t(columns));
        move.assign(size_t(columns), 0.0);
        in_margin.assign(size_t(columns), 0);
        const bool margins = policy == Policy::projectron_margin && full();
        for (int64_t c = 0; c < columns; ++c)
            score[c] = lanes16<true>(alpha.data() + c * room, k, m, &size[c]);
        bool acts = false;
        if (jointly()) {
            int64_t best = -1;  // the first of the highest, the label itself aside if it must win alone
            for (int64_t c = 0; c < columns; ++c)
                if (!(tie_is_mistake && c == label) && (best < 0 || sign(k, c, best) > 0)) best = c;
            const bool mistake = best != label && (!tie_is_mistake || sign(k, label, best) <= 0);
            if (mistake) move[label] = 1, move[best] = -1;
            else if (margins) {
                int64_t rival = -1;
                for (int64_t c = 0; c < columns; ++c)
                    if (c != label && (rival < 0 || score[c] > score[rival])) rival = c;
                in_margin[rival] = score[label] - score[rival] < 1;
                acts = in_margin[rival];
            }
            wrong += mistake;
            return mistake || acts;
        }
        for (int64_t c = 0; c < columns; ++c) {
            const int s = sign(k, c, -1);
            const double own = y(label, c);
            if (own * s < 0 || (s == 0 && (own < 0 || tie_is_mistake))) move[c] = own;
            else in_margin[c] = margins && own * score[c] < 1;
            acts |= move[c] != 0 || in_margin[c];
        }
        if (columns == 1) wrong += move[0] != 0;
        else wrong += std::max_element(score.begin(), score.end()) - score.begin() != label;
        return acts;
    }

    // Learn from the row last decided on; the place where it must be kept as a support, -1 for none.
    int64_t update(const double* k, int32_t label, const Fit& how) {
        mistakes += moved();
        largest = std::max(largest, how.self);
        const int64_t slot = learn(k, label, how);
        updates += moved();
        return slot;
    }

    // The score of column c, by the last or the mean coefficients times the visits; its sign is exact. `room`
    // is what it may be off by.
    double score_of(const double* k, int64_t c, const double* coefficients, double& room) const {
        double z;
        const double s = lanes16<true>(coefficients + c * m, k, m, &z);
        room = double(m + 8) * kUnit * 1.01 * z + double(m) * 0x1p-1073;
        if (std::fabs(s) > room || m == 0) return s;
        Fallbacks ignored;
        auto terms = [&](auto& f) {
            for (int64_t j = 0; j < m; ++j) f(k[j], coefficients[c * m + j]);
        };
        const double value = exact_value(terms, ignored);
        return value == 0 ? 0x1p-1074 * exact_sign(terms, ignored) : value;
    }

    // The scores of all columns; the first of the highest is the exact one, too.
    void scores_of(const double* k, const double* coefficients, double* out) const {
        double most = 0, room = 0;
        for (int64_t c = 0; c < columns; ++c) {
            out[c] = score_of(k, c, coefficients, room);
            most = std::max(most, room);
        }
        const int64_t top = std::max_element(out, out + columns) - out;
        int64_t best = -1;
        Fallbacks ignored;
        for (int64_t c = 0; c < columns; ++c) {
            if (out[c] < out[top] - 2.01 * most) continue;
            auto difference = [&](auto& f) {
                for (int64_t j = 0; j < m; ++j) {
                    f(k[j], coefficients[c * m + j]);
                    f(k[j], -coefficients[best * m + j]);
                }
            };
            if (best < 0 || exact_sign(difference, ignored) > 0) best = c;
        }
        if (best != top) out[best] = std::nextafter(out[top], INFINITY);
    }

    int64_t bytes() const {
        int64_t doubles = 0;
        for (const auto* held : {&alpha, &sums, &factor, &score, &size, &move, &d, &v})
            doubles += int64_t(held->capacity());
        return int64_t(sizeof *this) +
               8 * (doubles + int64_t(touched.capacity()) + int64_t(basis.capacity()));
    }
};

}  // namespace novikoff
