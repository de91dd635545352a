// Where the tokens of a text end: the first stage of parsing, after simdjson (Langdale and Lemire 2019).
//
// When the ends are known beforehand, no token has to wait for the one before it to be read. All bytes up to ' '
// are separators, and the colon.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace novikoff {

// A bit for each of 64 bytes, the first lowest: whether it is a separator.
#if defined(__AVX2__)
inline uint64_t separators(const char* p) {
    auto half = [](const char* q) {
        const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(q));
        const __m256i low = _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(' ')), v);
        const __m256i colon = _mm256_cmpeq_epi8(v, _mm256_set1_epi8(':'));
        return uint64_t(uint32_t(_mm256_movemask_epi8(_mm256_or_si256(low, colon))));
    };
    return half(p) | half(p + 32) << 32;
}
#elif defined(__SSE2__)
inline uint64_t separators(const char* p) {
    auto quarter = [](const char* q) {
        const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(q));
        const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(' ')), v);
        const __m128i colon = _mm_cmpeq_epi8(v, _mm_set1_epi8(':'));
        return uint64_t(uint32_t(_mm_movemask_epi8(_mm_or_si128(low, colon))));
    };
    return quarter(p) | quarter(p + 16) << 16 | quarter(p + 32) << 32 | quarter(p + 48) << 48;
}
#else
inline uint64_t separators(const char* p) {
    uint64_t bits = 0;
    for (int k = 0; k < 64; ++k) bits |= uint64_t(static_cast<unsigned char>(p[k]) <= ' ' || p[k] == ':') << k;
    return bits;
}
#endif

// Writes where the separators of whole groups of 64 bytes from p are, counted from p, and returns the end of that.
// Up to 64 more places behind it may be written to.
inline uint32_t* separator_places(const char* p, size_t groups, uint32_t* out) {
    for (size_t g = 0; g < groups; ++g) {
        uint64_t bits = separators(p + 64 * g);
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

}  // namespace novikoff
