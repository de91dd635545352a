// Hashes for tables that are looked up by what files say, under a key that is drawn once per process: nobody can
// choose names that meet in a table whose key he does not know. No result depends on the key: tables give names the
// numbers in which they appear. (Where a hash decides a column, as with hash_bits, it is that of hash.h.)
#pragma once

#include <random>
#include <string>

#include "hash.h"

namespace novikoff {

// SipHash-1-3 (Aumasson and Bernstein 2012), as Python and Rust use it for their tables: a pseudorandom function.
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

    // h(x) = (a·x + b mod 2^128) div 2^64, of which any l low bits are strongly universal (Dietzfelbinger 1996): for
    // any two words, chosen in ignorance of a and b, all 4^l pairs of values are equally likely. So however words are
    // chosen, n of them in a table of twice as many places with linear probing take O(sqrt n) steps each in
    // expectation at worst (Pagh, Pagh and Ruzic 2009), and about one unless they were made for another a.
    uint64_t word(uint64_t x) const { return uint64_t((a * x + b) >> 64); }
    // The same for pairs: a·x + c·y + b.
    uint64_t words(uint64_t x, uint64_t y) const { return uint64_t((a * x + c * y + b) >> 64); }
    uint64_t bytes(const char* p, size_t n) const { return siphash13(p, n, sip0, sip1); }

    static TableKey drawn() {
        std::random_device chance;
        auto word = [&] { return uint64_t(chance()) << 32 | chance(); };
        auto two = [&] { return (unsigned __int128)word() << 64 | word(); };
        return {word(), word(), two(), two(), two()};
    }
};

inline const TableKey table_key = TableKey::drawn();

struct KeyedHash {  // for the tables of the standard library
    size_t operator()(const std::string& text) const { return size_t(table_key.bytes(text.data(), text.size())); }
};

}  // namespace novikoff
