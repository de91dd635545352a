// The riffle: an order of rows that is as good as random to a learner, and reads memory in a few sequences.
//
// The rows 0 ... n-1 lie in a circle, cut into piles of neighbours. Draw t, a random byte, names the pile whose
// next row is visit t: the shuffle of Gilbert, Shannon and Reeds. src/novikoff/reference/riffle.py is the
// readable twin. The number of piles is a power of two, so that every pile has the same chance.
#pragma once

#include <algorithm>
#include <cstdint>

namespace novikoff {

// How many rows each pile gets: the number of draws that name it.
inline void count_draws(const uint8_t* draws, int64_t count, int64_t piles, int64_t* sizes) {
    for (int64_t t = 0; t < count; ++t) ++sizes[draws[t] & (piles - 1)];
}

// The rows of the next visits; `next` has the next row of each pile.
inline void deal(const uint8_t* draws, int64_t count, int64_t piles, int64_t n, int64_t* next,
                 int64_t* order) {
    for (int64_t t = 0; t < count; ++t) {
        int64_t& at = next[draws[t] & (piles - 1)];
        order[t] = at;
        if (++at >= n) at = 0;
    }
}

// Whether an order reads runs forward, as a riffle does: the row after each is visited soon. Only what is
// fetched in advance depends on it.
inline bool in_runs(const int64_t* order, int64_t begin, int64_t end) {
    const int64_t soon = 512;  // visits: 16 times the number of runs
    int found = 0;
    for (int64_t t = begin; t < std::min(begin + 3, end); ++t) {
        const int64_t* const last = order + std::min(t + soon, end);
        found += std::find(order + t, last, order[t] + 1) != last;
    }
    return found > 1;
}

}  // namespace novikoff
