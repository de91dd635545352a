// Where the tokens of a text end: the first stage of parsing, after simdjson (Langdale and Lemire 2019).
//
// When the ends are known beforehand, no token has to wait for the one before it to be read. All bytes up to
// ' ' are separators, and the colon, and one more that the format has. Processors without AVX2 gain nothing
// by it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>

#include "memory/growing.h"

namespace novikoff {

// A bit for each of 64 bytes, the first lowest: whether it is a separator.
template <char more>
inline uint64_t separators(const char* p) {
    auto half = [](const char* q) {
        const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(q));
        const __m256i low = _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(' ')), v);
        __m256i colon = _mm256_cmpeq_epi8(v, _mm256_set1_epi8(':'));
        if (more != ':') colon = _mm256_or_si256(colon, _mm256_cmpeq_epi8(v, _mm256_set1_epi8(more)));
        return uint64_t(uint32_t(_mm256_movemask_epi8(_mm256_or_si256(low, colon))));
    };
    return half(p) | half(p + 32) << 32;
}

// Writes where the separators of whole groups of 64 bytes from p are, counted from p, and returns the end of
// that. Up to 64 more places behind it may be written to.
template <char more>
inline uint32_t* separator_places(const char* p, size_t groups, uint32_t* out) {
    for (size_t g = 0; g < groups; ++g) {
        uint64_t bits = separators<more>(p + 64 * g);
        const int n = __builtin_popcountll(bits);
        const uint32_t base = uint32_t(64 * g);
        auto write = [&](int from, int to) {
            for (int k = from; k < to; ++k) {
                out[k] = base + uint32_t(__builtin_ctzll(bits | uint64_t(1) << 63));
                bits &= bits - 1;
            }
        };
        write(0, 16);  // as many as there mostly are, without a branch for each
        if (n > 16) write(16, 24);
        if (n > 24) write(24, 64);
        out += n;
    }
    return out;
}

// Where the tokens of whole lines end, for one window of the text after another.
template <char more = ':'>
class Separators {
    Growing<uint32_t> places;
    const uint32_t* last = nullptr;

  public:
    const char* text = nullptr;        // where the window begins
    const uint32_t* next = nullptr;    // the first place, counted from there, that was not passed

    void clear() { next = last = nullptr; }
    bool empty() const { return next == last; }
    size_t left() const { return size_t(last - next); }
    void pass_to(const char* p) {
        while (next < last && text + *next < p) ++next;
    }
    // Reads the window from p: 16 KiB, whose places stay in the first cache, or as much as its first line
    // needs. It is empty when less than 64 bytes are left, or a line without its end. Returns the bytes read.
    size_t read(const char* p, const char* end) {
        text = p;
        for (size_t window = 1 << 14;; window *= 2) {
            const size_t groups = std::min(window, size_t(end - p)) / 64;
            next = places.reserve(groups * 64 + 64);
            last = separator_places<more>(p, groups, places.data());
            while (last > next && p[last[-1]] != '\n') --last;  // whole lines only
            if (last > next || groups * 64 < window || window >= size_t(1) << 30) return groups * 64;
        }
    }
};

}  // namespace novikoff
#endif
