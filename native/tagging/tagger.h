// First-order sequence tagging: Viterbi, one epoch of the structured perceptron, distances to the runner-up.
//
// A sentence of tokens 0 … T-1, each a list of features f with values v_f (1 unless given), and labels y in
// 0 … L-1 have the score
//
//     s(x, y) = Σ_t e_t(y_t) + Σ_{t>0} a(y_{t-1}, y_t),      e_t(c) = Σ_f v_f · w(f, c),
//
// which is w·Φ(x, y) for the counts Φ of (feature, label) pairs and label bigrams. The decoder finds its
// maximum over all label sequences that are allowed, and of several the one that is smallest read from the
// end:
//
//     D_0(c) = e_0(c),   D_t(c) = e_t(c) + max_p (D_{t-1}(p) + a(p, c)),
//
// then the lowest c of the largest D_{T-1}(c), and back from there each time the lowest p that attains the
// maximum. A mistake is a sentence whose decoded labels ŷ differ from y; then w += Φ(x, y) − Φ(x, ŷ) (Collins
// 2002).
//
// Sums are taken in the order written above, so that rounding, where there is any, is the same everywhere.
// While all values are 1 the weights are whole numbers; they are kept as int32, and summed as int32 where no
// sum of the sentence can leave it, else as float64, which holds them exactly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "memory/zeroed.h"

namespace novikoff {

// Sentences as feature numbers, read in place: token t of sentence s, starts[s] ≤ t < starts[s + 1], has the
// features ids[indptr[t]] … ids[indptr[t + 1] - 1].
struct Sentences {
    const int64_t *starts, *indptr;
    const int32_t* ids;
    const double* values;  // null: every value is 1
    int64_t n;
};

constexpr int64_t kGroup = 8;  // labels in a group; tables are padded to whole ones
#if defined(__AVX2__)
constexpr int64_t kVectorBytes = 32;
#else
constexpr int64_t kVectorBytes = 16;
#endif
template <class T>
constexpr int64_t kLanes = kVectorBytes / int64_t(sizeof(T));

// N numbers as one vector. (The processor's own width: the compiler splits wider ones badly.)
template <class T, int64_t N = kLanes<T>>
struct Lanes {
    typedef T Vec __attribute__((vector_size(N * sizeof(T)), aligned(alignof(T)), may_alias));
};
template <class T>
inline auto& lanes(T* p) {
    return *reinterpret_cast<typename Lanes<T>::Vec*>(p);
}
template <class T>
inline const auto& lanes(const T* p) {
    return *reinterpret_cast<const typename Lanes<T>::Vec*>(p);
}
// As many numbers as make a vector of A.
template <class A, class W>
inline auto lanes_as(const W* p) {
    using Vec = typename Lanes<A>::Vec;
    return __builtin_convertvector((*reinterpret_cast<const typename Lanes<W, kLanes<A>>::Vec*>(p)), Vec);
}

// What a forbidden step adds. Whole numbers have no infinity: all sums of a sentence are kept above -2^27
// otherwise, so that nothing allowed comes near it, and sums are cut off below it.
template <class A>
constexpr A kForbidden = std::is_same_v<A, double> ? -std::numeric_limits<A>::infinity() : A(-(1 << 29));
template <class A>
inline bool forbidden(A score) {
    return std::is_same_v<A, double> ? score == kForbidden<A> : score < kForbidden<A> / 2;
}

// Which labels may follow which, begin and end a sentence: one byte each.
struct Allowed {
    const uint8_t *step, *start, *end;  // step[p * L + c]
};

// Scores of label bigrams as the decoder reads them: rows by the label before, and by the label after; with
// what is forbidden, and without, for sentences for which nothing is allowed.
template <class A>
struct Bigrams {
    int64_t labels, stride;
    std::vector<A> step, back, start, end;
    std::vector<A> free_step, free_back, free_ends;
    Allowed allowed;

    template <class W>
    Bigrams(int64_t labels, int64_t stride, const W* a, Allowed allowed)
        : labels(labels), stride(stride), step(size_t(stride * stride), kForbidden<A>), back(step),
          start(size_t(stride), kForbidden<A>), end(start), free_step(step), free_back(step),
          free_ends(start), allowed(allowed) {
        for (int64_t p = 0; p < labels; ++p) {
            free_ends[p] = 0;
            start[p] = allowed.start[p] ? A(0) : kForbidden<A>;
            end[p] = allowed.end[p] ? A(0) : kForbidden<A>;
            for (int64_t c = 0; c < labels; ++c) set(p, c, A(a[p * stride + c]));
        }
    }
    void set(int64_t p, int64_t c, A score) {
        free_step[p * stride + c] = free_back[c * stride + p] = score;
        if (allowed.step[p * labels + c]) step[p * stride + c] = back[c * stride + p] = score;
    }
};

// ---- emissions ---------------------------------------------------------------------------------------
// A row of weights per feature, one per label. G is the number of groups of labels in it; 0: not known to the
// compiler.
template <class W>
struct DenseWeights {
    const W* w;
    const int32_t* slots;  // by feature: the number of its row
    int64_t stride;

    static constexpr int64_t ahead = 32;  // features whose weights are being fetched

    template <class A, int G>
    void emissions(const Sentences& x, int64_t begin, int64_t end, A* out) const {
        using Vec = typename Lanes<A>::Vec;
        constexpr int64_t NV = G * kGroup / kLanes<A>;
        const int64_t nv = G ? NV : stride / kLanes<A>, last = x.indptr[end];
        auto row = [&](const W* first, int64_t v) { return lanes_as<A>(first + v * kLanes<A>); };
        for (int64_t t = begin; t < end; ++t, out += stride) {
            Vec sum[NV ? NV : 1] = {};
            if (!NV) std::fill(out, out + stride, A(0));
            for (int64_t k = x.indptr[t]; k < x.indptr[t + 1]; ++k) {
                if (k + 2 * ahead < last) __builtin_prefetch(slots + x.ids[k + 2 * ahead]);
                if (k + ahead < last) {
                    const W* const next = w + int64_t(slots[x.ids[k + ahead]]) * stride;
                    for (int64_t b = 0; b < stride; b += int64_t(64 / sizeof(W)))
                        __builtin_prefetch(next + b);
                }
                const W* const first = w + int64_t(slots[x.ids[k]]) * stride;
                if (!x.values) {
                    for (int64_t v = 0; v < nv; ++v)
                        if constexpr (NV) sum[v] += row(first, v);
                        else lanes(out + v * kLanes<A>) += row(first, v);
                } else if constexpr (std::is_same_v<A, double>) {
                    for (int64_t v = 0; v < nv; ++v)
                        if constexpr (NV) sum[v] += row(first, v) * x.values[k];
                        else lanes(out + v * kLanes<A>) += row(first, v) * x.values[k];
                }
            }
            if constexpr (NV)
                for (int64_t v = 0; v < NV; ++v) lanes(out + v * kLanes<A>) = sum[v];
        }
    }
};

// Weights of which most are 0. A feature has a short list of (label, weight), or, where that is not shorter,
// a whole row: those are the features that most tokens have.
class MixedWeights {
    struct Entry {
        double w;
        int64_t label;
    };
    struct Place {
        int32_t begin, count;  // of the entries; count -1: `begin` is the number of a row
    };
    ZeroTable<Place> places;  // by feature; none has no entries
    std::vector<Entry> entries;
    std::vector<double> rows;

  public:
    int64_t stride;

    // Feature used[i], of n, has the weights w[at[i]] … w[at[i + 1] - 1], for the labels of the same places.
    MixedWeights(int64_t stride, int64_t features, int64_t n, const int64_t* used, const int64_t* at,
                 const int32_t* label, const double* w)
        : places(size_t(features)), stride(stride) {
        for (int64_t i = 0; i < n; ++i) {
            const int64_t count = at[i + 1] - at[i];
            Place& place = places[size_t(used[i])];
            if (3 * count >= stride) {
                place = {int32_t(int64_t(rows.size()) / stride), -1};
                rows.resize(rows.size() + size_t(stride));
                for (int64_t j = at[i]; j < at[i + 1]; ++j)
                    rows[rows.size() - size_t(stride) + size_t(label[j])] = w[j];
            } else {
                place = {int32_t(entries.size()), int32_t(count)};
                for (int64_t j = at[i]; j < at[i + 1]; ++j) entries.push_back({w[j], label[j]});
            }
        }
    }

    template <class A, int G>
    void emissions(const Sentences& x, int64_t begin, int64_t end, A* out) const {
        constexpr int64_t ahead = 16;  // features whose weights are being fetched
        const int64_t last = x.indptr[end], nv = G ? G * kGroup / kLanes<A> : stride / kLanes<A>;
        std::fill(out, out + (end - begin) * stride, A(0));
        for (int64_t t = begin; t < end; ++t, out += stride)
            for (int64_t k = x.indptr[t]; k < x.indptr[t + 1]; ++k) {
                if (k + 2 * ahead < last) __builtin_prefetch(&places[size_t(x.ids[k + 2 * ahead])]);
                if (k + ahead < last) {
                    const Place next = places[size_t(x.ids[k + ahead])];
                    if (next.count > 0) __builtin_prefetch(&entries[size_t(next.begin)]);
                }
                const Place place = places[size_t(x.ids[k])];
                const double v = x.values ? x.values[k] : 1.0;
                if (place.count < 0) {
                    const double* const row = &rows[size_t(place.begin * stride)];
                    for (int64_t i = 0; i < nv; ++i)
                        lanes(out + i * kLanes<A>) += lanes(row + i * kLanes<A>) * v;
                } else {
                    for (int32_t j = 0; j < place.count; ++j) {
                        const Entry& e = entries[size_t(place.begin + j)];
                        out[e.label] += e.w * v;
                    }
                }
            }
    }
};

// ---- decoding ----------------------------------------------------------------------------------------
// out(c) = max_p (before(p) + step(p, c)), for all c.
template <class A, int G>
inline void best_step(const A* before, const A* step, int64_t labels, int64_t stride, A* out) {
    using Vec = typename Lanes<A>::Vec;
    auto over = [&](int64_t v0, auto width) {
        constexpr int N = decltype(width)::value;
        Vec best[N];
        for (int64_t v = 0; v < N; ++v) best[v] = before[0] + lanes(step + (v0 + v) * kLanes<A>);
        for (int64_t p = 1; p < labels; ++p)
            for (int64_t v = 0; v < N; ++v) {
                const Vec next = before[p] + lanes(step + p * stride + (v0 + v) * kLanes<A>);
                best[v] = next > best[v] ? next : best[v];
            }
        for (int64_t v = 0; v < N; ++v) lanes(out + (v0 + v) * kLanes<A>) = best[v];
    };
    constexpr int NV = int(G * kGroup / kLanes<A>);
    if constexpr (NV && NV <= 8) over(0, std::integral_constant<int, NV>());
    else {
        const int64_t nv = stride / kLanes<A>;
        int64_t v = 0;
        for (; v + 4 <= nv; v += 4) over(v, std::integral_constant<int, 4>());
        for (; v < nv; ++v) over(v, std::integral_constant<int, 1>());
    }
}

// One sentence under way: its emissions, the best scores that end in each label, the labels found.
template <class A>
class Decoder {
    std::vector<A> e, d, b;

    template <int G>
    bool forward(const Bigrams<A>& a, const A* step, const A* start, const A* end) {
        using Vec = typename Lanes<A>::Vec;
        const int64_t stride = a.stride, nv = stride / kLanes<A>;
        for (int64_t c = 0; c < stride; ++c) d[c] = e[c] + start[c];
        for (int64_t t = 1; t < length; ++t) {
            A* const now = d.data() + t * stride;
            best_step<A, G>(now - stride, step, a.labels, stride, now);
            for (int64_t v = 0; v < nv; ++v) {
                Vec sum = lanes(e.data() + t * stride + v * kLanes<A>) + lanes(now + v * kLanes<A>);
                if constexpr (!std::is_same_v<A, double>) {
                    const Vec floor = Vec{} + kForbidden<A>;
                    sum = sum > floor ? sum : floor;
                }
                lanes(now + v * kLanes<A>) = sum;
            }
        }
        const A* const finish = d.data() + (length - 1) * stride;
        last = 0;
        for (int64_t c = 1; c < a.labels; ++c)
            if (finish[c] + end[c] > finish[last] + end[last]) last = c;
        return !forbidden(A(finish[last] + end[last]));
    }
    int64_t last = 0;  // the label that the best sequence ends with

  public:
    int64_t length = 0;
    bool restricted = true;  // whether something allowed was found
    std::vector<int32_t> labels;

    const A* emission(int64_t t, int64_t stride) const { return e.data() + t * stride; }

    template <int G, class Weights>
    void decode(const Weights& w, const Bigrams<A>& a, const Sentences& x, int64_t s) {
        const int64_t begin = x.starts[s], stride = a.stride;
        length = x.starts[s + 1] - begin;
        labels.resize(size_t(length));
        if (!length) return;
        if (int64_t(e.size()) < length * stride) e.resize(size_t(length * stride)), d.resize(e.size());
        w.template emissions<A, G>(x, begin, begin + length, e.data());
        restricted = forward<G>(a, a.step.data(), a.start.data(), a.end.data());
        if (!restricted) forward<G>(a, a.free_step.data(), a.free_ends.data(), a.free_ends.data());
        const A* const back = (restricted ? a.back : a.free_back).data();
        labels[size_t(length) - 1] = int32_t(last);
        for (int64_t t = length - 1; t-- > 0;) {
            const A *const now = d.data() + t * stride, *const step = back + labels[size_t(t) + 1] * stride;
            int32_t best = 0;
            for (int32_t p = 1; p < a.labels; ++p)
                if (now[p] + step[p] > now[best] + step[best]) best = p;
            labels[size_t(t)] = best;
        }
    }

    // After decode: for every position and label the score of the best sequence that has it there, D_t(c) +
    // B_t(c) with B_t(p) = max_c (a(p, c) + e_{t+1}(c) + B_{t+1}(c)). Handed to f(t, scores) from the end on.
    template <int G, class F>
    void through(const Bigrams<A>& a, F&& f) {
        const int64_t stride = a.stride;
        if (!length) return;
        const A* const back = (restricted ? a.back : a.free_back).data();
        b.resize(size_t(3 * stride));
        A *const now = b.data(), *const next = now + stride, *const sum = next + stride;
        std::copy_n((restricted ? a.end : a.free_ends).data(), stride, now);
        for (int64_t t = length; t-- > 0;) {
            for (int64_t c = 0; c < stride; ++c) sum[c] = d[t * stride + c] + now[c];
            f(t, sum);
            if (!t) break;
            for (int64_t c = 0; c < stride; ++c) next[c] = e[t * stride + c] + now[c];
            best_step<A, G>(next, back, a.labels, stride, now);
        }
    }
};

// Calls f with the number of groups a row has as a constant, 0 where it is larger than 4.
template <class F>
auto with_groups(int64_t stride, F&& f) {
    switch (stride / kGroup) {
        case 1: return f(std::integral_constant<int, 1>());
        case 2: return f(std::integral_constant<int, 2>());
        case 3: return f(std::integral_constant<int, 3>());
        case 4: return f(std::integral_constant<int, 4>());
        default: return f(std::integral_constant<int, 0>());
    }
}

// ---- learning ----------------------------------------------------------------------------------------
// Weights under training. A feature gets a row of weights with its first update: most never do, and what is
// not there need not be read. Row 0 stays zero, for all the others. The mean of w after each of N visits is
// (N·w − u)/N with u = Σ (visits before)·Δ, so that only what changes is ever touched.
template <class W>
struct TaggerLearner {
    int64_t features = 0, labels = 0, stride = 0;
    W *w = nullptr, *a = nullptr;  // (1 + features) × stride, labels × stride
    double *u = nullptr, *ua = nullptr;  // the same; null: no averages
    int32_t* slots = nullptr;  // by feature: its row; 0 while it has none
    int64_t rows = 0;  // given to features so far
    Allowed allowed{};
    int64_t visits = 0, mistakes = 0, updates = 0, wrong_tokens = 0;
    double norm2 = 0;  // ‖w‖²
    double radius2 = 0;  // the largest ‖Φ(x, y) − Φ(x, ŷ)‖² of an update
    double largest = 0;  // |w|, an upper bound
    double grown = 0;  // of ‖w‖² since the update began

    static constexpr bool whole = std::is_same_v<W, int32_t>;

    void change(W& weight, double* sum, double by) {
        const double before = double(weight), after = before + by;
        if (whole && std::fabs(after) > 0x1p30) throw std::overflow_error("a weight grows beyond 2^30");
        weight = W(after);
        grown += (after - before) * (after + before);
        largest = std::max(largest, std::fabs(after));
        if (sum) *sum += double(visits) * by;
    }

    template <class A, int G>
    void learn(Decoder<A>& decoder, const Bigrams<A>& bigrams, const Sentences& x, int64_t s,
               const int32_t* y, Bigrams<A>* kept) {
        decoder.template decode<G>(DenseWeights<W>{w, slots, stride}, bigrams, x, s);
        const int64_t begin = x.starts[s], length = decoder.length;
        const int32_t *const gold = y + begin, *const found = decoder.labels.data();
        int64_t wrong = 0;
        for (int64_t t = 0; t < length; ++t) wrong += gold[t] != found[t];
        if (wrong) {
            ++mistakes;
            wrong_tokens += wrong;
            update<A>(decoder, x, begin, length, gold, found, kept);
        }
        ++visits;
    }

    template <class A>
    void update(const Decoder<A>& decoder, const Sentences& x, int64_t begin, int64_t length,
                const int32_t* gold, const int32_t* found, Bigrams<A>* kept) {
        double gain = 0;  // w·(Φ(x, y) − Φ(x, ŷ)), with the old w
        for (int64_t t = 0; t < length; ++t) {
            const A* const e = decoder.emission(t, stride);
            gain += double(e[gold[t]]) - double(e[found[t]]);
            if (t)
                gain +=
                    double(a[gold[t - 1] * stride + gold[t]]) - double(a[found[t - 1] * stride + found[t]]);
        }
        grown = 0;
        for (int64_t t = 0; t < length; ++t) {
            const int32_t g = gold[t], z = found[t];
            if (g != z)
                for (int64_t k = x.indptr[begin + t]; k < x.indptr[begin + t + 1]; ++k) {
                    int32_t& slot = slots[x.ids[k]];
                    if (!slot) slot = int32_t(++rows);
                    const int64_t row = int64_t(slot) * stride;
                    const double v = x.values ? x.values[k] : 1.0;
                    change(w[row + g], u ? u + row + g : nullptr, v);
                    change(w[row + z], u ? u + row + z : nullptr, -v);
                }
            if (t && (g != z || gold[t - 1] != found[t - 1])) {
                bigram(gold[t - 1], g, 1.0, kept);
                bigram(found[t - 1], z, -1.0, kept);
            }
        }
        const double moved2 = grown - 2 * gain;  // ‖w + Δ‖² = ‖w‖² + 2 w·Δ + ‖Δ‖²
        norm2 = std::max(norm2 + grown, 0.0);
        radius2 = std::max(radius2, moved2);
        updates += moved2 > 0;
    }

    template <class A>
    void bigram(int32_t p, int32_t c, double by, Bigrams<A>* kept) {
        const int64_t at = p * stride + c;
        change(a[at], ua ? ua + at : nullptr, by);
        if (kept) kept->set(p, c, A(a[at]));
    }

    // Visits sentences order[begin] … order[end - 1] (s = begin … end - 1 without an order), with labels y by
    // token.
    template <int G>
    void epoch(const Sentences& x, const int32_t* y, const int64_t* order, int64_t begin, int64_t end) {
        using Fast = std::conditional_t<whole, int32_t, double>;
        Bigrams<Fast> bigrams(labels, stride, a, allowed);
        Decoder<Fast> decoder;
        Decoder<double> wide;
        for (int64_t i = begin; i < end; ++i) {
            const int64_t s = order ? order[i] : i;
            const int64_t t0 = x.starts[s], t1 = x.starts[s + 1];
            const double terms = double(x.indptr[t1] - x.indptr[t0] + t1 - t0);
            if (!whole || largest * terms < 0x1p27) learn<Fast, G>(decoder, bigrams, x, s, y, &bigrams);
            else if constexpr (whole) {
                const Bigrams<double> exact(labels, stride, a, allowed);
                learn<double, G>(wide, exact, x, s, y, nullptr);
                bigrams = Bigrams<Fast>(labels, stride, a, allowed);
            }
        }
    }
};

// The weights that predict: most are 0, and they are summed in float64.
struct TaggerScorer {
    MixedWeights w;
    Bigrams<double> bigrams;

    template <int G>
    void tag(const Sentences& x, int64_t begin, int64_t end, int32_t* out) const {
        Decoder<double> decoder;
        for (int64_t s = begin; s < end; ++s) {
            decoder.decode<G>(w, bigrams, x, s);
            std::copy(decoder.labels.begin(), decoder.labels.end(), out + x.starts[s]);
        }
    }

    // For every token and label the score of the best sequence that has it there; out is tokens × labels.
    template <int G>
    void through(const Sentences& x, int64_t begin, int64_t end, double* out) const {
        Decoder<double> decoder;
        for (int64_t s = begin; s < end; ++s) {
            decoder.decode<G>(w, bigrams, x, s);
            decoder.through<G>(bigrams, [&](int64_t t, const double* scores) {
                std::copy_n(scores, bigrams.labels, out + (x.starts[s] + t) * bigrams.labels);
            });
        }
    }

    // By how much y beats the best other sequence, s(x, y) − max_{z≠y} s(x, z): any z ≠ y differs somewhere,
    // so this is the least over all positions of what the best sequence through another label there falls
    // short of y.
    template <int G>
    double gap(Decoder<double>& decoder, const Sentences& x, int64_t s, const int32_t* y) const {
        decoder.decode<G>(w, bigrams, x, s);
        const int32_t* const gold = y + x.starts[s];
        double own = 0, other = kForbidden<double>;
        for (int64_t t = 0; t < decoder.length; ++t) {
            const double e = decoder.emission(t, bigrams.stride)[gold[t]];
            own = t ? e + (own + bigrams.free_step[gold[t - 1] * bigrams.stride + gold[t]]) : e;
        }
        decoder.through<G>(bigrams, [&](int64_t t, const double* scores) {
            for (int64_t c = 0; c < bigrams.labels; ++c)
                if (c != gold[t]) other = std::max(other, scores[c]);
        });
        return own - other;
    }
};

}  // namespace novikoff
