// The riffle: an order of rows that is as good as random to a learner, and reads memory in a few sequences.
//
// The rows 0 ... n-1 lie in a circle, cut into piles of neighbours. Draw t, a random byte, names the pile whose
// next row is visit t: the shuffle of Gilbert, Shannon and Reeds. src/novikoff/reference/riffle.py is the
// readable twin. The number of piles is a power of two, so that every pile has the same chance.
#pragma once

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

}  // namespace novikoff
