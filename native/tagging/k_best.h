// The k best labellings of a sentence: Viterbi with the k best prefixes per token and label.
//
// A prefix is a labelling of the tokens 0 … t. P_t(c) lists the best that end in label c, best first:
//
//     P_0(c) = [e_0(c)],   P_t(c) = e_t(c) + the k best of { P_{t-1}(p)[i] + a(p, c) : p, i },
//
// where of equal sums the one with the lowest p comes first, then the one with the lowest i. The labellings
// are the k best of { P_{T-1}(c)[i] : c, i } in the same order. Each list of a p is sorted, so they are merged:
// L + k log L steps per list. The first labelling is the one that Viterbi finds, with the same sums.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tagging/tagger.h"

namespace novikoff {

class KBest {
    struct Prefix {
        double score;
        int64_t before;  // the prefix that it extends, in `prefixes`
    };
    struct Next {
        double score;
        int32_t label;
        int64_t prefix;
    };
    std::vector<Prefix> prefixes;
    std::vector<int64_t> at;  // of token t and label c: its first prefix is number at[t * L + c]
    std::vector<Next> heap;
    Decoder<double> decoder;
    const int64_t k;

    static bool worse(const Next& a, const Next& b) {
        return a.score < b.score || (a.score == b.score && a.label > b.label);
    }

    // Calls f(score, prefix) for the k best of all prefixes of a token, each with step[label] added.
    template <class F>
    void merge(const int64_t* first, const double* step, int64_t labels, F&& f) {
        auto push = [&](int32_t p, int64_t prefix) {
            const double score = prefixes[size_t(prefix)].score + step[p];
            if (!forbidden(score)) heap.push_back({score, p, prefix});
        };
        heap.clear();
        for (int64_t p = 0; p < labels; ++p)
            if (first[p] < first[p + 1]) push(int32_t(p), first[p]);
        std::make_heap(heap.begin(), heap.end(), worse);
        for (int64_t found = 0; found < k && !heap.empty(); ++found) {
            std::pop_heap(heap.begin(), heap.end(), worse);
            const Next best = heap.back();
            heap.pop_back();
            f(best.score, best.prefix);
            if (best.prefix + 1 < first[best.label + 1]) {
                const size_t before = heap.size();
                push(best.label, best.prefix + 1);
                if (heap.size() > before) std::push_heap(heap.begin(), heap.end(), worse);
            }
        }
    }

  public:
    explicit KBest(int64_t k) : k(k) {}

    // Calls f(score, labels) for each labelling, best first; there may be fewer than k. A sentence for which
    // nothing is allowed is decoded as if everything were.
    template <int G, class F>
    void decode(const TaggerScorer& scorer, const Sentences& x, int64_t s, F&& f) {
        const Bigrams<double>& a = scorer.bigrams;
        const int64_t L = a.labels, stride = a.stride;
        decoder.decode<G>(scorer.w, a, x, s);
        const int64_t length = decoder.length;
        std::vector<int32_t>& labels = decoder.labels;
        if (!length) return f(0.0, labels);
        const bool restricted = decoder.restricted;
        const double* const start = (restricted ? a.start : a.free_ends).data();
        const double* const end = (restricted ? a.end : a.free_ends).data();
        const double* const back = (restricted ? a.back : a.free_back).data();
        prefixes.clear(), at.assign(1, 0);
        for (int64_t t = 0; t < length; ++t)
            for (int64_t c = 0; c < L; ++c) {
                const double e = decoder.emission(t, stride)[c];
                if (t)
                    merge(&at[size_t((t - 1) * L)], back + c * stride, L,
                          [&](double score, int64_t before) { prefixes.push_back({e + score, before}); });
                else if (!forbidden(start[c])) prefixes.push_back({e + start[c], -1});
                at.push_back(int64_t(prefixes.size()));
            }
        merge(&at[size_t((length - 1) * L)], end, L, [&](double score, int64_t prefix) {
            for (int64_t t = length; t-- > 0; prefix = prefixes[size_t(prefix)].before) {
                const auto from = at.begin() + t * L;
                labels[size_t(t)] = int32_t(std::upper_bound(from, from + L + 1, prefix) - from) - 1;
            }
            f(score, labels);
        });
    }
};

}  // namespace novikoff
