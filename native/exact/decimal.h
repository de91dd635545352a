// Decimal numbers in text, correctly rounded, without reading outside the text.
//
// Digits are read eight at a time in one 64-bit word ("SIMD within a register"): whether a byte is a digit,
// how many there are, and their value come from a few additions and multiplications of the whole word, so
// that no branch depends on how many digits a number happens to have.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <system_error>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace novikoff {

// Text ends as a line does: past the last byte there are only line ends.
inline char at(const char* p, const char* end) { return p < end ? *p : '\n'; }

// The eight bytes from p, the first of them lowest.
inline uint64_t word(const char* p, const char* end) {
    uint64_t w = 0x0A0A0A0A0A0A0A0Aull;
    if (end - p >= 8) std::memcpy(&w, p, 8);  // one load
    else std::memcpy(&w, p, size_t(end - p));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    w = __builtin_bswap64(w);
#endif
    return w;
}

// The high bit of every byte that is no digit, right up to the first byte above 0x7F (its sum may carry).
inline uint64_t non_digits(uint64_t w) {
    const uint64_t t = w ^ 0x3030303030303030ull;  // digits become 0 to 9
    return ((t + 0x7676767676767676ull) | t) & 0x8080808080808080ull;
}

inline unsigned first_byte(uint64_t marks) { return unsigned(__builtin_ctzll(marks)) >> 3; }

// The first n bytes of w, 1 to 8 digits, as a number: neighbours are joined to pairs, fours, eights.
inline uint64_t leading(uint64_t w, unsigned n) {
    w <<= 64 - 8 * n;  // leading zero bytes count as zeros
    w = (w & 0x0F0F0F0F0F0F0F0Full) * 2561 >> 8;
    w = (w & 0x00FF00FF00FF00FFull) * 6553601 >> 16;
    return (w & 0x0000FFFF0000FFFFull) * 42949672960001ull >> 32;
}

constexpr double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Reads digits, appends them to m (modulo 2^64: right for 19 digits at most) and returns where they end.
inline const char* digits(const char* p, const char* end, uint64_t& m) {
    static constexpr uint64_t shift[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    for (;;) {
        const uint64_t w = word(p, end), stops = non_digits(w);
        const unsigned n = stops ? first_byte(stops) : 8;
        if (n) m = m * shift[n] + leading(w, n);
        p += n;
        if (n < 8) return p;
    }
}

// inexact: digits alone, an integer that no double holds; what is read is the nearest
enum class Decimal { good, malformed, too_large, inexact };

// Whether a double holds an integer: at most 53 bits from its highest to its lowest.
inline bool holds(uint64_t m) { return m >> 53 < (m & (~m + 1)) || m == 0; }

// The same for digits, without leading zeros, whose nearest double is known.
inline bool holds(const char* first, const char* last, double nearest) {
    if (last - first <= 19) {
        uint64_t m = 0;
        digits(first, last, m);
        return holds(m);
    }
    char exact[310];  // all digits of the double, of which there are 309 at most
    const auto r = std::to_chars(exact, exact + sizeof exact, nearest, std::chars_format::fixed, 0);
    return r.ec == std::errc() && r.ptr - exact == last - first && std::equal(first, last, exact);
}

// By the standard library, which rounds correctly whatever the length. `magnitude` is the power of ten of the
// first significant digit: a number out of range is too large or, below every double, zero.
inline Decimal long_decimal(const char* first, const char* last, int64_t magnitude, double& out) {
    const auto r = std::from_chars(first, last, out);
    if (r.ec == std::errc::result_out_of_range) {
        if (magnitude > 0) return Decimal::too_large;
        out = 0;
    } else if (r.ec != std::errc() || r.ptr != last) {
        return Decimal::malformed;
    }
    return std::isinf(out) ? Decimal::too_large : Decimal::good;
}

// Reads [+-] digits [. digits] [e [+-] digits] with a digit before or after the point, as far as it goes.
inline Decimal decimal(const char*& p, const char* end, double& out) {
    const bool negative = at(p, end) == '-';
    if (negative || at(p, end) == '+') ++p;
    const char* const first = p;
    uint64_t m = 0;
    p = digits(p, end, m);
    const char* const after = p;
    int64_t whole = p - first, n = whole, exponent = 0;
    if (at(p, end) == '.') {
        const char* const fraction = ++p;
        p = digits(p, end, m);
        exponent = fraction - p;
        n -= exponent;
    }
    if (n == 0) return Decimal::malformed;
    if ((at(p, end) | 32) == 'e') {
        ++p;
        const bool down = at(p, end) == '-';
        if (down || at(p, end) == '+') ++p;
        const char* const power = p;
        int64_t e = 0;
        for (; at(p, end) >= '0' && at(p, end) <= '9'; ++p)
            // larger ones are out of range whatever the digits
            if (e < (int64_t(1) << 52)) e = e * 10 + (*p - '0');
        if (p == power) return Decimal::malformed;
        exponent += down ? -e : e;
        whole += down ? -e : e;
    }
    // m and the power of ten are doubles, so one operation rounds once: the result is the nearest double.
    if (n <= 19 && m <= uint64_t(1) << 53 && exponent >= -22 && exponent <= 22) {
        out = exponent < 0 ? double(m) / powers_of_ten[-exponent] : double(m) * powers_of_ten[exponent];
    } else {
        int64_t zeros = 0;  // in front; they do not count towards the magnitude
        for (const char* q = first; q < p && (*q == '0' || *q == '.'); ++q) zeros += *q == '0';
        const Decimal d = long_decimal(first, p, whole - zeros, out);
        if (d != Decimal::good) return d;
        if (p == after && !holds(first + zeros, p, out)) {  // no point, no exponent
            if (negative) out = -out;
            return Decimal::inexact;
        }
    }
    if (negative) out = -out;
    return Decimal::good;
}

// The high bit of bytes up to ' ', of which the first is right (later ones may be marked by its borrow).
inline uint64_t blanks(uint64_t w) { return (w - 0x2121212121212121ull) & ~w & 0x8080808080808080ull; }

// The common case of `decimal` without a branch on length, sign or point: [-] digits [. digits] with a blank
// or a line end behind, all in eight bytes. Returns how many bytes the number has, 0 when it is of another
// form. The next token can only be loaded when it is known where this one ends, so that comes first, from the
// blank alone.
[[gnu::always_inline]] inline unsigned short_decimal(const char* p, const char* end, double& out) {
    if (end - p < 8) return 0;
    uint64_t w = word(p, end);
    const uint64_t behind = blanks(w);
    if (!behind) return 0;
    const unsigned length = first_byte(behind);
    const unsigned negative = (w & 0xFF) == '-';
    w >>= 8 * negative;  // the zero that enters above is no digit
    const unsigned last = length - negative;
    uint64_t stops = non_digits(w);
    const unsigned i = first_byte(stops);
    const unsigned point = ((w >> 8 * i) & 0xFF) == '.';
    stops &= stops - point;  // with a point, on to the next
    const unsigned n = last - point;
    if (n - 1 > 7 || first_byte(stops) != last) return 0;
    // the point; all without one
    const uint64_t before = ((uint64_t(1) << 8 * i) - 1) | (uint64_t(point) - 1);
    const uint64_t joined = (w & before) | ((w >> 8) & ~before);
    const double value = double(int64_t(leading(joined, n))) / powers_of_ten[n - i];
    out = negative ? -value : value;
    return length;
}

#if defined(__AVX2__)
// Tokens whose end is known, so that reading one need not wait for the one before it. The 8 or 16 bytes
// before the end are read, whether or not they belong to the token.

// The eight bytes before end, of which the first is lowest.
inline uint64_t word_before(const char* end) { return word(end - 8, end); }

struct DecimalTables {
    alignas(16) uint8_t closing[17][16];  // how bytes move when the one at this place, a point, is removed
    alignas(16) uint8_t last[17][16];     // the last n bytes
    double power[2][17];                  // powers of ten, for a point at this place; and negative ones
    constexpr DecimalTables() : closing(), last(), power() {
        for (int q = 0; q <= 16; ++q)
            for (int i = 0; i < 16; ++i) {
                closing[q][i] = uint8_t(q == 16 || i > q ? i : i == 0 ? 0x80 : i - 1);
                last[q][i] = i >= 16 - q ? 0xFF : 0;
            }
        for (int q = 0; q <= 16; ++q) power[1][q] = -(power[0][q] = q == 16 ? 1 : powers_of_ten[15 - q]);
    }
};
inline constexpr DecimalTables decimal_tables;

// The common case of `decimal` without a branch on length, sign or point: [-] digits [. digits], all of p to
// end, in 15 bytes or less without the sign. False when it is of another form. The number is out / power:
// both are exact, and whoever has several divides them at once.
inline bool token_decimal(const char* p, const char* end, double& out, double& power) {
    const size_t negative = *p == '-', n = size_t(end - p) - negative;
    if (n - 1 > 14) return false;
    auto row = [](const uint8_t* t) { return _mm_load_si128(reinterpret_cast<const __m128i*>(t)); };
    __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(end - 16));
    v = _mm_and_si128(_mm_xor_si128(v, _mm_set1_epi8('0')), row(decimal_tables.last[n]));
    const unsigned point = unsigned(_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8('.' ^ '0'))));
    const unsigned other = unsigned(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(v, _mm_set1_epi8(10)), v)));
    // one point at most, and not at the end
    if ((other ^ point) | (point & ((point - 1) | 0x8000))) return false;
    const unsigned place = unsigned(__builtin_ctz(point | 0x10000));
    v = _mm_shuffle_epi8(v, row(decimal_tables.closing[place]));
    v = _mm_maddubs_epi16(v, _mm_set1_epi16(0x010A));      // pairs: 10 and 1
    v = _mm_madd_epi16(v, _mm_set1_epi32(0x00010064));     // fours: 100 and 1
    v = _mm_packus_epi32(v, v);
    v = _mm_madd_epi16(v, _mm_set1_epi32(0x00012710));     // eights: 10000 and 1
    const __m128d halves = _mm_cvtepi32_pd(v);
    out = _mm_cvtsd_f64(halves) * 1e8 + _mm_cvtsd_f64(_mm_unpackhi_pd(halves, halves));
    power = decimal_tables.power[negative][place];
    return true;
}
// Both in one: 1 to 8 digits from p, a colon, and a decimal up to end.
inline bool token_pair(const char* p, const char* colon, const char* end, int64_t& index, double& out,
                       double& power) {
    const size_t negative = colon[1] == '-', n = size_t(end - colon) - 1 - negative,
                 digits = size_t(colon - p);
    if (n - 1 > 14 || digits - 1 > 7) return false;
    auto row = [](const void* t) { return _mm_loadu_si128(static_cast<const __m128i*>(t)); };
    auto rows = [&](const void* low, const void* high) {
        return _mm256_inserti128_si256(_mm256_castsi128_si256(row(low)), row(high), 1);
    };
    __m256i v = _mm256_xor_si256(rows(end - 16, colon - 16), _mm256_set1_epi8('0'));
    v = _mm256_and_si256(v, rows(decimal_tables.last[n], decimal_tables.last[digits]));
    auto equal = [&](__m256i to) { return unsigned(_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, to))); };
    const unsigned point = equal(_mm256_set1_epi8('.' ^ '0')),
                   other = equal(_mm256_max_epu8(v, _mm256_set1_epi8(10)));
    if ((other ^ point) | (point & ((point - 1) | 0xFFFF8000))) return false;
    const unsigned place = unsigned(__builtin_ctz(point | 0x10000));
    v = _mm256_shuffle_epi8(v, rows(decimal_tables.closing[place], decimal_tables.closing[16]));
    v = _mm256_maddubs_epi16(v, _mm256_set1_epi16(0x010A));
    v = _mm256_madd_epi16(v, _mm256_set1_epi32(0x00010064));
    v = _mm256_packus_epi32(v, v);
    v = _mm256_madd_epi16(v, _mm256_set1_epi32(0x00012710));
    index = _mm256_extract_epi32(v, 5);
    const __m128d halves = _mm_cvtepi32_pd(_mm256_castsi256_si128(v));
    out = _mm_cvtsd_f64(halves) * 1e8 + _mm_cvtsd_f64(_mm_unpackhi_pd(halves, halves));
    power = decimal_tables.power[negative][place];
    return true;
}
#endif

}  // namespace novikoff
