// The cost of exact decisions in instructions: the library's epoch compared with a naive twin that
// trusts the float score. Both use the same rows, dots, updates, first-epoch checks and prefetching,
// so the difference is the filter, its norms, and the fallbacks.
//
//   exactness SET exact|naive first|later    runs one first epoch and one later epoch, the chosen one
//                                            inside `counted`, where a profiler can count it
//   exactness SET fallbacks EPOCHS           prints visits, updates, compensated sums, accumulators
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "linear/loops.h"

using namespace novikoff;

// The library's loop and its counts, without everything that makes decisions exact: no norms of
// weights, no bounds, no exact recheck.
struct Naive {
    double* weights;
    double bias = 0, bias2 = 1, largest_norm2 = -1, step_sum = 0;
    int64_t features, visits = 0, mistakes = 0, updates = 0, most_stored = 0;
};

template <class Row>
__attribute__((noinline)) void naive_update(Naive& m, const Row& row, double step) {
    ++m.mistakes;
    row.add(Target{m.weights, nullptr, 1, step, 0});
    m.bias += step * m.bias2;
    ++m.updates;
    m.step_sum += 1;
}

template <bool First, class Rows>
Outcome naive_epoch(Naive& m, const Rows& rows, const Visits& v) {
    const int64_t before = m.visits, ahead = rows.lookahead();
    Ahead to{0, 0, m.weights, 1, v.order != nullptr, m.features * 8 > (1 << 18)};
    const bool fetches = to.hops || to.large;
    for (int64_t t = v.begin; t < v.end; ++t) {
        const int64_t i = v.row(t);
        if (fetches) {
            to.next = v.row(std::min(t + ahead, v.end - 1));
            to.far = v.row(std::min(t + 4 * ahead, v.end - 1));
        }
        const auto row = rows.template approach<true>(i, to);
        const int64_t y = v.labels[i];
        double s;
        if (First) {
            if (!row.valid(m.features)) return {Problem::bad_index, i};
            DotNorm both = row.dot_norm(m.weights);
            s = both.dot + m.bias;
            if (!(both.norm2 <= m.largest_norm2) || row.stored() > m.most_stored) {
                if (!std::isfinite(both.norm2)) return {Problem::not_finite, i};
                m.largest_norm2 = std::max(m.largest_norm2, both.norm2);
                m.most_stored = std::max(m.most_stored, row.stored());
            }
        } else {
            s = row.dot(m.weights) + m.bias;
        }
        if (y ? s >= 0 : s < 0) continue;
        m.visits = before + t - v.begin;
        naive_update(m, row, y ? v.weight(i) : -v.weight(i));
    }
    m.visits = before + v.end - v.begin;
    return {};
}

extern "C" __attribute__((noipa)) void counted(void (*work)(void*), void* context) { work(context); }

template <class F>
void maybe_counted(bool count, F&& f) {
    if (!count) return f();
    counted([](void* g) { (*static_cast<std::remove_reference_t<F>*>(g))(); }, &f);
}

// ---- data ------------------------------------------------------------------------------------------
struct Data {
    std::vector<float> values;
    std::vector<int32_t> indices, indptr{0}, labels;
    int64_t features;
};

constexpr int64_t kRows = 5000;

// Text: `stored` different words of zipf frequency, two thirds of them from the vocabulary of the
// row's own class; the values are tf-idf scaled to norm 1, or 1 each.
Data text(int64_t stored, bool tfidf) {
    std::mt19937_64 rng(1);
    std::uniform_real_distribution<double> uniform(0, 1);
    Data data;
    data.features = 1 << 15;
    for (int64_t i = 0; i < kRows; ++i) {
        data.labels.push_back(int32_t(rng() % 2));
        std::vector<int32_t> words;
        while (int64_t(words.size()) < stored) {
            auto rank = int32_t(std::exp(uniform(rng) * std::log(data.features / 2.0))) - 1;
            int32_t word = 2 * rank + (data.labels[i] ^ (rng() % 3 == 0));
            if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
        }
        std::sort(words.begin(), words.end());
        std::vector<double> x;
        double norm2 = 0;
        for (int32_t word : words) {
            x.push_back(tfidf ? (1 + std::log(1 + double(rng() % 4))) * (1 + std::log(word + 1.0)) : 1);
            norm2 += x.back() * x.back();
        }
        for (double v : x) data.values.push_back(float(tfidf ? v / std::sqrt(norm2) : 1));
        data.indices.insert(data.indices.end(), words.begin(), words.end());
        data.indptr.push_back(int32_t(data.indices.size()));
    }
    return data;
}

// Two clouds whose centres are four standard deviations apart.
Data dense(int64_t features) {
    std::mt19937_64 rng(1);
    std::normal_distribution<double> normal;
    Data data;
    data.features = features;
    const double shift = 2 / std::sqrt(double(features));
    for (int64_t i = 0; i < kRows; ++i) {
        data.labels.push_back(int32_t(rng() % 2));
        for (int64_t j = 0; j < features; ++j)
            data.values.push_back(float(normal(rng) + (data.labels[i] ? shift : -shift)));
    }
    return data;
}

// ---- running ---------------------------------------------------------------------------------------
template <class Rows>
int run(const Data& data, const Rows& rows, const std::string& loop, const std::string& which) {
    std::vector<double> weights(data.features);
    const Visits all{data.labels.data(), nullptr, nullptr, 0, kRows};
    if (loop == "naive") {
        Naive m{weights.data()};
        m.features = data.features;
        maybe_counted(which == "first", [&] { naive_epoch<true>(m, rows, all); });
        maybe_counted(which == "later", [&] { naive_epoch<false>(m, rows, all); });
        std::printf("%lld %lld\n", (long long)m.visits, (long long)m.mistakes);
        return 0;
    }
    double bias = 0;
    Learner m;
    m.features = data.features;
    m.weights = weights.data();
    m.bias = &bias;
    m.norm2.assign(1, 0.0);
    m.current_norm = m.weight_norm();
    maybe_counted(which == "first", [&] { epoch<true, true>(m, rows, all); });
    const int more = loop == "fallbacks" ? std::atoi(which.c_str()) - 1 : 1;
    for (int k = 0; k < more; ++k)
        maybe_counted(which == "later", [&] { epoch<false, true>(m, rows, all); });
    std::printf("%lld %lld %lld %lld\n", (long long)m.visits, (long long)m.updates,
                (long long)m.fallbacks.compensated, (long long)m.fallbacks.accumulator);
    return 0;
}

int main(int count, char** arguments) {
    if (count != 4) return std::fprintf(stderr, "exactness SET exact|naive|fallbacks first|later|EPOCHS\n"), 2;
    const std::string set = arguments[1], kind = set.substr(0, set.find(':')), loop = arguments[2], which = arguments[3];
    const int64_t stored = std::atoll(set.c_str() + set.find(':') + 1);
    if (kind == "dense") {
        const Data data = dense(stored);
        return run(data, DenseRows<float>{data.values.data(), kRows, stored, stored}, loop, which);
    }
    const Data data = text(stored, kind == "tfidf");
    const SparseRows<float, int32_t> rows{data.values.data(), data.indices.data(), data.indptr.data(), kRows,
                                          data.features};
    return run(data, rows, loop, which);
}
