// Exact signs and correctly rounded values of sums of products of doubles.
//
// A sum is described by a callable `terms(f)` that calls f(a, b) once for every product a*b.
// Two engines evaluate it:
//
//   1. a compensated sum (Ogita, Rump and Oishi 2005, algorithm Dot2): TwoProduct and TwoSum give
//      each operation's rounding error exactly, so the true value lies within
//          2 n u E   of   hi + lo,      E = sum of the |errors|.
//      E = 0 means that no operation rounded at all: integers, counts, pixels, powers of two. It is E that
//      tells, not 2 n u E, which may underflow to 0.
//   2. a long (Kulisch) accumulator: every product of two finite doubles fits into 4,352 bits of
//      fixed point, so nothing is ever rounded. It is the last resort and cannot fail.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace novikoff {

constexpr double kUnit = 0x1p-53;  // u, the unit roundoff of binary64

// How often a decision needed more than the plain floating-point sum.
struct Fallbacks {
    int64_t compensated = 0;  // settled by engine 1, or passed on to engine 2
    int64_t accumulator = 0;  // settled by engine 2
};

// A positive or negative number m * 2^e with |m| of 53 bits, or 0: a double without limits on e.
struct Scaled {
    double mantissa = 0;
    int exponent = 0;
};

class LongAccumulator {
    // limb[i] has weight 2^(32 i - 2176) and is kept as a signed 64-bit digit: carries are deferred.
    static constexpr int kLimbs = 136, kBias = 2176;
    int64_t limb[kLimbs] = {};
    int pending = 0;

    static uint64_t significand(double v, int& exponent) {
        uint64_t bits;
        std::memcpy(&bits, &v, 8);
        int e = int(bits >> 52) & 0x7ff;
        uint64_t m = bits & ((uint64_t(1) << 52) - 1);
        exponent = (e ? e : 1) - 1075;
        return e ? m | (uint64_t(1) << 52) : m;
    }

    void carry() {
        int64_t c = 0;
        for (int i = 0; i < kLimbs - 1; ++i) {
            int64_t v = limb[i] + c;
            limb[i] = v & 0xffffffff;
            c = v >> 32;
        }
        limb[kLimbs - 1] += c;  // holds the sign
        pending = 0;
    }

    // |value| = top * 2^exponent with the highest bit of `top` set; bits below are or-ed into bit 0.
    // Returns the sign and leaves the magnitude in the limbs.
    int magnitude(uint64_t& top, int& exponent) {
        carry();
        bool negative = limb[kLimbs - 1] < 0;
        if (negative) {
            for (int64_t& v : limb) v = -v;
            carry();
        }
        int t = kLimbs - 1;
        while (t >= 0 && limb[t] == 0) --t;
        if (t < 0) return 0;
        auto digit = [&](int i) { return i >= 0 ? uint64_t(limb[i]) : uint64_t(0); };
        int shift = __builtin_clzll(digit(t)) - 32;  // 0 .. 31
        top = (digit(t) << (32 + shift)) | (digit(t - 1) << shift) | (digit(t - 2) >> (32 - shift));
        uint64_t rest = digit(t - 2) & ((uint64_t(1) << (32 - shift)) - 1);
        for (int i = t - 3; i >= 0 && !rest; --i) rest = digit(i);
        if (rest) top |= 1;
        exponent = 32 * (t - 1) - kBias - shift;
        return negative ? -1 : 1;
    }

    static uint64_t round_shift(uint64_t m, int shift) {  // nearest, ties to even; shift in 1..63
        uint64_t kept = m >> shift, rest = m & ((uint64_t(1) << shift) - 1),
                 half = uint64_t(1) << (shift - 1);
        return kept + (rest > half || (rest == half && (kept & 1)));
    }

  public:
    void operator()(double a, double b) {
        int ea, eb;
        uint64_t ma = significand(a, ea), mb = significand(b, eb);
        if (!ma || !mb) return;
        unsigned __int128 p = (unsigned __int128)ma * mb;
        int position = ea + eb + kBias, offset = position & 31;
        int64_t* d = limb + (position >> 5);
        bool negative = std::signbit(a) != std::signbit(b);
        for (int i = 0; i < 4; ++i) {
            uint64_t piece = uint64_t(uint32_t(p >> (32 * i))) << offset;
            int64_t low = int64_t(piece & 0xffffffff), high = int64_t(piece >> 32);
            d[i] += negative ? -low : low;
            d[i + 1] += negative ? -high : high;
        }
        if (++pending == (1 << 28)) carry();
    }

    LongAccumulator& operator-=(const LongAccumulator& other) {  // deferred carries and all
        for (int i = 0; i < kLimbs; ++i) limb[i] -= other.limb[i];
        if ((pending += other.pending) >= (1 << 28)) carry();
        return *this;
    }

    int sign() {
        uint64_t top;
        int exponent;
        return magnitude(top, exponent);
    }

    // Correctly rounded; overflows to infinity and underflows as binary64 does.
    double rounded() {
        uint64_t top;
        int e, sign = magnitude(top, e);
        if (!sign) return 0;
        int shift = e < -1074 - 11 ? -1074 - e : 11;
        double r = shift > 64    ? 0
                   : shift == 64 ? double(top > uint64_t(1) << 63)
                                 : double(round_shift(top, shift));
        return sign * std::ldexp(r, e + shift);
    }

    // Correctly rounded to 53 bits, with no limit on the exponent.
    Scaled scaled() {
        uint64_t top;
        int e, sign = magnitude(top, e);
        if (!sign) return {};
        return {sign * double(round_shift(top, 11)), e + 11};
    }
};

// hi + (the sum of all q and r) is the true value, because q and r are exact:
//   q   TwoSum has no error but by overflow (sums of doubles are never rounded for being small);
//   r   the error of a product is a multiple of 2^-1074 as soon as |p| >= 2^-1074 + 106 = 2^-968, so that FMA gives
//       it exactly. A smaller product of nonzero factors makes the sum `tiny`, which engine 2 takes.
// What overflows leaves hi or E infinite or NaN, and so does not pass `bounded`. lo is the float sum of the n
// numbers fl(q + r), so it is off by at most n u / (1 - n u) of the true E, which is at most fl(E) / (1 -
// u)^n; with n < 2^40 that is below 1.01 n u fl(E). Underflow can take at most 2^-1075 from that last
// product: 2^-1074 is added.
class CompensatedSum {
    double hi = 0, lo = 0, error = 0;
    int64_t n = 0;
    bool tiny = false;  // a product too small for TwoProduct to be exact

    bool bounded() const { return !tiny && error < 0x1p1000 && std::fabs(hi) < 0x1p1000; }
    bool unrounded() const { return error == 0; }
    // Twice what hi + lo may be off by: the other half covers the rounding of what is done with it below.
    double radius() const { return 2.02 * double(n + 2) * kUnit * error + 0x1p-1074; }

  public:
    void operator()(double a, double b) {
        double p = a * b, r = __builtin_fma(a, b, -p);
        double s = hi + p, z = s - hi, q = (hi - (s - z)) + (p - z);
        hi = s;
        lo += q + r;
        error += std::fabs(q) + std::fabs(r);
        tiny |= std::fabs(p) < 0x1p-960 && a != 0 && b != 0;
        ++n;
    }
    // Adds the compensated sum of `terms` others: high + low, where `errors` is the sum of their |errors|.
    void merge(double high, double low, double errors, bool was_tiny, int64_t terms) {
        const double s = hi + high, z = s - hi, q = (hi - (s - z)) + (high - z);
        hi = s;
        lo += q + low;
        error += std::fabs(q) + errors;
        tiny |= was_tiny;
        n += terms + 2;
    }
    // The sign of the true value; false when it cannot be told.
    bool sign(int& out) const {
        if (!bounded()) return false;
        const double v = unrounded() ? hi : hi + lo;
        if (!unrounded() && !(std::fabs(v) > 2 * radius())) return false;
        out = (v > 0) - (v < 0);
        return true;
    }
    // The true value, correctly rounded; false when it cannot be told.
    bool rounded(double& out) const {
        if (!bounded()) return false;
        if (unrounded()) {
            out = hi;
            return true;
        }
        const double v = hi + lo, z = v - hi, rest = (hi - (v - z)) + (lo - z), r = radius();
        // v + rest = hi + lo, and |rest| <= |lo| <= 1.01 E: both ends of the interval, wider by r than need
        // be for their own rounding (u |rest| < r / 2), must round to v.
        const double lower = rest - 2 * r, upper = rest + 2 * r;
        if (v + lower != v || v + upper != v || std::fabs(v) < 0x1p-900) return false;
        out = v;
        return true;
    }
};

template <class Terms>
__attribute__((noinline)) int exact_sign(const Terms& terms, Fallbacks& count) {
    CompensatedSum quick;
    terms(quick);
    ++count.compensated;
    int sign;
    if (quick.sign(sign)) return sign;
    ++count.accumulator;
    LongAccumulator slow;
    terms(slow);
    return slow.sign();
}

template <class Terms>
__attribute__((noinline)) double exact_value(const Terms& terms, Fallbacks& count) {
    CompensatedSum quick;
    terms(quick);
    ++count.compensated;
    double value;
    if (quick.rounded(value)) return value;
    ++count.accumulator;
    LongAccumulator slow;
    terms(slow);
    return slow.rounded();
}

// The square root of a sum of squares: sqrt(RN(sum)) with no limit on the sum's exponent.
template <class Terms>
__attribute__((noinline)) double exact_norm(const Terms& terms, Fallbacks& count) {
    CompensatedSum quick;
    terms(quick);
    double value;
    if (quick.rounded(value)) return std::sqrt(value);
    ++count.accumulator;
    LongAccumulator slow;
    terms(slow);
    Scaled s = slow.scaled();
    if (s.exponent & 1) s = {s.mantissa * 2, s.exponent - 1};
    return std::ldexp(std::sqrt(s.mantissa), s.exponent / 2);
}

}  // namespace novikoff
