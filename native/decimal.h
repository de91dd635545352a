// Decimal numbers in text, correctly rounded, without a read outside the text.
//
// Digits are read eight at a time in one 64-bit word ("SIMD within a register"): whether a byte is a digit,
// how many there are, and their value come from a few additions and multiplications of the whole word, so
// that no branch depends on how many digits a number happens to have.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <system_error>

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
    w <<= 64 - 8 * n;  // zero bytes in front count as zeros
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

enum class Decimal { good, malformed, too_large };

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
            if (e < (int64_t(1) << 52)) e = e * 10 + (*p - '0');  // larger ones are out of range with any digits
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
    }
    if (negative) out = -out;
    return Decimal::good;
}

// The high bit of bytes up to ' ', of which the first is right (later ones may be marked by its borrow).
inline uint64_t blanks(uint64_t w) { return (w - 0x2121212121212121ull) & ~w & 0x8080808080808080ull; }

// The common case of `decimal` without a branch on length, sign or point: [-] digits [. digits] with a blank or
// a line end behind, all in eight bytes. Returns how many bytes the number has, 0 when it is of another form. The
// next token can only be loaded when it is known where this one ends, so that comes first, from the blank alone.
inline unsigned short_decimal(const char* p, const char* end, double& out) {
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
    const uint64_t before = ((uint64_t(1) << 8 * i) - 1) | (uint64_t(point) - 1);  // the point; all without one
    const uint64_t joined = (w & before) | ((w >> 8) & ~before);
    const double value = double(int64_t(leading(joined, n))) / powers_of_ten[n - i];
    out = negative ? -value : value;
    return length;
}

}  // namespace novikoff
