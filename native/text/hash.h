// Names as bytes: their hash, the same on every machine and in every process, and whether two are equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace novikoff {

// Both halves of the 128-bit product, folded: every bit of a and b reaches every bit of the result.
inline uint64_t fold(uint64_t a, uint64_t b) {
    unsigned __int128 p = (unsigned __int128)a * b;
    return uint64_t(p) ^ uint64_t(p >> 64);
}

// Eight bytes as a word, the first lowest, on every machine.
inline uint64_t little_endian(const char* p) {
    uint64_t v;
    std::memcpy(&v, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

// A seeded 64-bit hash of bytes, eight at a time.
inline uint64_t hash_bytes(const char* p, size_t n, uint64_t seed) {
    constexpr uint64_t a = 0x9e3779b97f4a7c15, b = 0xd6e8feb86659fd93;
    auto byte = [](const char* q, int shift) { return uint64_t(uint8_t(*q)) << shift; };
    uint64_t h = fold(seed ^ a, b) ^ uint64_t(n);
    for (; n > 8; p += 8, n -= 8) h = fold(h ^ little_endian(p) ^ a, b);
    uint64_t rest = 0;  // of 0 to 8 bytes; the length is in h already
    if (n == 8) rest = little_endian(p);
    else if (n >= 4)
        for (int i = 0; i < 4; ++i) rest |= byte(p + i, 8 * i) | byte(p + n - 4 + i, 32 + 8 * i);
    else if (n) rest = byte(p, 0) | byte(p + n / 2, 8) | byte(p + n - 1, 16);
    h = fold(h ^ rest ^ a, b);
    return fold(h ^ a, b);
}

// Names are short: a call of memcmp costs more than the comparison.
inline __attribute__((always_inline)) bool same_bytes(const char* a, const char* b, size_t n) {
    auto differ = [&](auto word, size_t at) {
        decltype(word) p, q;
        std::memcpy(&p, a + at, sizeof p);
        std::memcpy(&q, b + at, sizeof q);
        return p != q;
    };
    if (n >= 8) {
        for (size_t at = 0; at + 8 < n; at += 8)
            if (differ(uint64_t(), at)) return false;
        return !differ(uint64_t(), n - 8);  // the last eight, some of them once more
    }
    if (n >= 4) return !differ(uint32_t(), 0) && !differ(uint32_t(), n - 4);
    for (size_t at = 0; at < n; ++at)
        if (a[at] != b[at]) return false;
    return true;
}

}  // namespace novikoff
