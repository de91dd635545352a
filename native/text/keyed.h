// Hashes for tables whose keys come from files, under a secret drawn once per process: nobody
// can choose names that collide in a table without knowing its secret. No result depends on the key: tables
// give names the numbers in which they appear. (Where a hash decides a column, as with hash_bits, it is that
// of hash.h.)
#pragma once

#include <random>
#include <string>

#include "text/hash.h"

namespace novikoff {

// SipHash-1-3 (Aumasson and Bernstein 2012), as Python and Rust use it for their tables: a pseudorandom
// function.
inline uint64_t siphash13(const char* p, size_t n, uint64_t k0, uint64_t k1) {
    uint64_t v0 = k0 ^ 0x736f6d6570736575, v1 = k1 ^ 0x646f72616e646f6d;
    uint64_t v2 = k0 ^ 0x6c7967656e657261, v3 = k1 ^ 0x7465646279746573;
    auto rotl = [](uint64_t x, int b) { return x << b | x >> (64 - b); };
    auto round = [&] {
        v0 += v1, v1 = rotl(v1, 13) ^ v0, v0 = rotl(v0, 32);
        v2 += v3, v3 = rotl(v3, 16) ^ v2;
        v0 += v3, v3 = rotl(v3, 21) ^ v0;
        v2 += v1, v1 = rotl(v1, 17) ^ v2, v2 = rotl(v2, 32);
    };
    uint64_t last = uint64_t(n) << 56;
    for (; n >= 8; p += 8, n -= 8) {
        const uint64_t m = little_endian(p);
        v3 ^= m;
        round();
        v0 ^= m;
    }
    for (size_t i = 0; i < n; ++i) last |= uint64_t(static_cast<unsigned char>(p[i])) << 8 * i;
    v3 ^= last;
    round();
    v0 ^= last;
    v2 ^= 0xff;
    round(), round(), round();
    return v0 ^ v1 ^ v2 ^ v3;
}

struct TableKey {
    uint64_t sip0, sip1;
    unsigned __int128 a, b, c;

    // h(x) = (a·x + b mod 2^128) div 2^64 is strongly universal (Dietzfelbinger 1996): whichever two words
    // are chosen in ignorance of a and b, their hashes are two independent random numbers. So no choice makes
    // more words meet than chance does, on average over the keys, and a look-up in a table with linear
    // probing takes O(sqrt n) steps in expectation for the worst choice of n words (Pagh, Pagh and Ruzic
    // 2009). What is no worst choice takes one or two: a progression would stay a progression under a·x + b,
    // and fold, which is fixed, takes that order away.
    uint64_t word(uint64_t x) const { return mixed(a * x + b); }
    // The same for pairs.
    uint64_t words(uint64_t x, uint64_t y) const { return mixed(a * x + c * y + b); }
    uint64_t bytes(const char* p, size_t n) const { return siphash13(p, n, sip0, sip1); }

    static uint64_t mixed(unsigned __int128 h) { return fold(uint64_t(h >> 64), 0xd6e8feb86659fd93); }

    static TableKey drawn() {
        std::random_device chance;
        auto word = [&] { return uint64_t(chance()) << 32 | chance(); };
        auto two = [&] { return (unsigned __int128)word() << 64 | word(); };
        return {word(), word(), two(), two(), two()};
    }
};

inline const TableKey table_key = TableKey::drawn();

struct KeyedHash {  // for the tables of the standard library
    size_t operator()(const std::string& text) const {
        return size_t(table_key.bytes(text.data(), text.size()));
    }
};

}  // namespace novikoff
