// Looking for the largest margin: the smallest products u.z of all rows, and the nearest point of a hull.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>

#include "linear/loops.h"

namespace novikoff {

// ---- one pass over the rows ----------------------------------------------------------------------
// The k pairs with the smallest weight * d of a range of rows, in float arithmetic; ties go to the lower
// pair. What is not among the k smallest seen so far costs one comparison.
class Lowest {
    size_t k;
    double limit = INFINITY;

    void cut() {
        std::nth_element(found.begin(), found.begin() + int64_t(k) - 1, found.end());
        found.resize(k);
        limit = found.back().first;  // nth_element leaves the largest of the k there
    }

  public:
    std::vector<std::pair<double, int64_t>> found;  // product, pair

    explicit Lowest(size_t count) : k(count) { found.reserve(2 * k); }
    NOVIKOFF_INLINE void operator()(double value, int64_t pair) {
        if (!(value <= limit)) return;  // NaN too
        found.emplace_back(value, pair);
        if (found.size() >= 2 * k) cut();
    }
    void finish() {
        if (found.size() > k) cut();
        std::sort(found.begin(), found.end());
    }
};

template <class Rows>
void lowest(const Learner& m, const Rows& rows, const Visits& v, Lowest& out) {
    const int64_t ahead = rows.lookahead();
    Ahead to{0, 0, m.weights, m.stride, false, false, m.features * m.stride * 8 > (1 << 18)};
    std::vector<double> s(size_t(m.stride));
    for (int64_t i = v.begin; i < v.end; ++i) {
        to.next = std::min(i + ahead, v.end - 1);
        const int64_t y = v.labels[i];
        if (m.binary()) {
            const double score = rows.template approach<true>(i, to).dot(m.weights) + m.bias[0];
            out((y ? score : -score) * v.weight(i), i);
            continue;
        }
        class_scores(rows.template approach<false>(i, to), m, s.data());
        for (int64_t c = 0; c < m.classes; ++c)
            if (c != y) out((s[y] - s[c]) * v.weight(i), i * m.classes + c);
    }
}

// ---- the nearest point of a hull -----------------------------------------------------------------
// min |w|, w = sum of alpha_i z_i, alpha >= 0, sum alpha = 1, for m points of which the Gram matrix G is
// known. With g = G alpha, w.z_i = g_i and |w|^2 = alpha.g; alpha is best if and only if g_i >= |w|^2 for
// every i.
struct Hull {
    const double* gram;
    int64_t m;
    double* alpha;
    std::vector<double> g;
    double size = 0;  // the largest |z|^2

    Hull(const double* products, int64_t points, double* weights)
        : gram(products), m(points), alpha(weights), g(size_t(m)) {
        for (int64_t i = 0; i < m; ++i) size = std::max(size, gram[i * m + i]);
    }

    // By one order of summation, the same on every machine: entry i is added to accumulator i mod 4.
    double dot(const double* a, const double* b, int64_t n) const {
        Vec sum{};
        int64_t i = 0;
        for (; i + 4 <= n; i += 4) sum += load4(a + i) * load4(b + i);
        for (; i < n; ++i) sum[i & 3] += a[i] * b[i];
        return total(sum);
    }
    void add(double step, const double* row) {
        for (int64_t i = 0; i < m; ++i) g[i] += step * row[i];
    }
    double refresh() {  // g and |w|^2 again
        std::fill(g.begin(), g.end(), 0.0);
        for (int64_t i = 0; i < m; ++i)
            if (alpha[i] > 0) add(alpha[i], gram + i * m);
        return dot(alpha, g.data(), m);
    }

    // Mitchell, Demyanov and Malozemov 1974: move weight from the point of the support that lies farthest
    // along w to the point that lies least far, as much as shortens w the most. Returns the steps made.
    int64_t mdm(int64_t steps, double tolerance) {
        const double square = refresh();
        for (int64_t t = 0; t < steps; ++t) {
            int64_t low = 0, high = -1;
            for (int64_t i = 0; i < m; ++i) {
                if (g[i] < g[low]) low = i;
                if (alpha[i] > 0 && (high < 0 || g[i] > g[high])) high = i;
            }
            if (high < 0) return t;  // no point has any weight: alpha belongs to no hull
            const double *a = gram + low * m, *b = gram + high * m;
            const double difference = g[high] - g[low], bend = a[low] - 2 * a[high] + b[high];
            if (!(difference > tolerance * square) || !(bend > 0)) return t;
            const double step = std::min(alpha[high], difference / bend);
            alpha[low] += step;
            alpha[high] = step < alpha[high] ? alpha[high] - step : 0;
            for (int64_t i = 0; i < m; ++i) g[i] += step * (a[i] - b[i]);
        }
        return steps;
    }
};

// glibc 2.35 has a second `hypot`, without errno. The first has the same values, and older systems have it too, so
// that a wheel runs there.
#if defined(__x86_64__) && defined(__GLIBC__)
__asm__(".symver hypot, hypot@GLIBC_2.2.5");
#endif

// Wolfe 1976, the method that src/novikoff/proof/minnorm.py states: the corral F with L L' = G_FF + size, row
// by row.
class Corral {
    Hull& h;
    std::vector<int64_t> F;
    std::vector<std::vector<double>> L;  // L[k] has k + 1 entries
    std::vector<char> taken;             // whether a point is in F
    static constexpr double kDependent = 1e-14;
    static constexpr int64_t kStale = 20;

    // `floor`: what the last diagonal entry, squared, is known to be at least.
    bool append(int64_t j, double floor) {
        std::vector<double> row;
        row.reserve(F.size() + 1);
        double rest = h.gram[j * h.m + j] + h.size;
        for (size_t k = 0; k < F.size(); ++k) {
            const double v = h.gram[j * h.m + F[k]] + h.size - h.dot(row.data(), L[k].data(), int64_t(k));
            row.push_back(v / L[k][k]);
            rest -= row[k] * row[k];
        }
        rest = std::max(rest, floor);
        if (!(rest > (floor > 0 ? 0 : kDependent * h.size))) return false;
        row.push_back(std::sqrt(rest));
        F.push_back(j);
        L.push_back(std::move(row));
        return true;
    }

    // Take out entry r: rotations bring the rows below back to a triangle.
    void remove(size_t r) {
        F.erase(F.begin() + int64_t(r));
        L.erase(L.begin() + int64_t(r));
        std::vector<double> c(F.size() - r), s(F.size() - r);
        for (size_t k = r; k < F.size(); ++k) {
            std::vector<double>& row = L[k];  // k + 2 entries, of which the last is to vanish
            for (size_t i = r; i < k; ++i) {
                const double a = row[i], b = row[i + 1];
                row[i] = c[i - r] * a + s[i - r] * b;
                row[i + 1] = c[i - r] * b - s[i - r] * a;
            }
            const double a = row[k], b = row[k + 1],
                         length = std::sqrt(a * a + b * b);  // hypot is not the same everywhere
            c[k - r] = a / length;
            s[k - r] = b / length;
            row[k] = length;
            row.pop_back();
        }
    }

    // The weights of the nearest point of the plane through F, up to their sum.
    std::vector<double> plane() const {
        const int64_t n = int64_t(F.size());
        std::vector<double> x(size_t(n), 1.0);
        for (int64_t k = 0; k < n; ++k) x[k] = (x[k] - h.dot(L[k].data(), x.data(), k)) / L[k][k];
        for (int64_t k = n - 1; k >= 0; --k) {
            x[k] /= L[k][k];
            for (int64_t i = 0; i < k; ++i) x[i] -= L[k][i] * x[k];
        }
        return x;
    }

    // To the nearest point of the plane, or, while that is outside of the hull of F, as far as the hull goes.
    void settle() {
        while (!F.empty()) {
            std::vector<double> beta = plane();
            const double sum = std::accumulate(beta.begin(), beta.end(), 0.0);
            double theta = 1;
            for (size_t k = 0; k < F.size(); ++k) {
                beta[k] /= sum;
                if (!(beta[k] > 0)) theta = std::min(theta, h.alpha[F[k]] / (h.alpha[F[k]] - beta[k]));
            }
            if (theta == 1 && std::all_of(beta.begin(), beta.end(), [](double b) { return b > 0; })) {
                for (size_t k = 0; k < F.size(); ++k) h.alpha[F[k]] = beta[k];
                return;
            }
            for (size_t k = F.size(); k-- > 0;) {
                double& a = h.alpha[F[k]];
                const bool gone = !(beta[k] > 0) && a / (a - beta[k]) <= theta;
                a = gone ? 0 : a + theta * (beta[k] - a);
                if (gone || !(a > 0)) a = 0, remove(k);
            }
        }
    }

    void normalize() {
        const double sum = std::accumulate(h.alpha, h.alpha + h.m, 0.0);
        for (int64_t i = 0; i < h.m; ++i) h.alpha[i] /= sum;
    }

  public:
    explicit Corral(Hull& hull) : h(hull), taken(size_t(hull.m), 0) {
        std::vector<int64_t> support;
        for (int64_t i = 0; i < h.m; ++i)
            if (h.alpha[i] > 0) support.push_back(i);
        std::stable_sort(support.begin(), support.end(),
                         [&](int64_t a, int64_t b) { return h.alpha[a] > h.alpha[b]; });
        for (int64_t i : support)
            if (!append(i, 0)) h.alpha[i] = 0;
        normalize();
    }

    // Runs rounds until no point lies below w by more than tolerance * size, or until w has not become
    // shorter for a long time, which is due to rounding; true in the first case. Leaves the shortest w.
    bool run(int64_t rounds, double tolerance) {
        settle();
        std::vector<double> best;
        double shortest = INFINITY;
        int64_t since = 0;
        bool ended = false;
        for (int64_t t = 0; !ended && t <= rounds; ++t) {
            normalize();
            const double square = h.refresh();
            since = square < shortest ? 0 : since + 1;
            if (square < shortest) shortest = square, best.assign(h.alpha, h.alpha + h.m);
            std::fill(taken.begin(), taken.end(), 0);
            for (int64_t i : F) taken[size_t(i)] = 1;
            int64_t low = -1;
            for (int64_t i = 0; i < h.m; ++i)
                if (!taken[size_t(i)] && (low < 0 || h.g[i] < h.g[low])) low = i;
            ended = low < 0 || !(h.g[low] < square - tolerance * h.size) ||
                    square <= 10 * tolerance * h.size || since > kStale;
            if (ended || t == rounds) break;
            // w is perpendicular to the plane through F: this tells how far z is from it, with more digits
            // than L.
            const double below = square - h.g[low];
            ended = !append(low, h.size * below * below / (square * (square + h.size)));
            if (!ended) settle();
        }
        std::copy(best.begin(), best.end(), h.alpha);
        return ended;
    }
};

}  // namespace novikoff
