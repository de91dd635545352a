// Numbers rounded in a known direction, so that what is claimed of them holds for real numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "exact/exact.h"

namespace novikoff {

inline double above(double v) { return std::nextafter(v, INFINITY); }
inline double below(double v) { return std::nextafter(v, -INFINITY); }

// A sum of squares, enclosed in two numbers of 53 bits: equal where it is such a number itself.
struct Enclosed {
    Scaled low, high;
};

template <class Terms>
__attribute__((noinline)) Enclosed enclose(const Terms& terms) {
    LongAccumulator sum;
    terms(sum);
    Scaled nearest = sum.scaled(), low = nearest, high = nearest;
    if (!nearest.mantissa) return {};
    int rest = 0;  // the sign of the sum less `nearest`
    const bool told = std::abs(nearest.exponent) < 1000;
    if (told) {
        sum(-nearest.mantissa, std::ldexp(1.0, nearest.exponent));
        rest = sum.sign();
    }
    if (rest > 0 || !told) high.mantissa = above(high.mantissa);
    if (rest < 0 || !told) low.mantissa = below(low.mantissa);
    return {low, high};
}

// a * b, a and b >= 0, rounded up or down.
inline double product_up(double a, double b) {
    const double p = a * b;
    return p > 0x1p-900 ? (std::fma(a, b, -p) > 0 ? above(p) : p) : a > 0 && b > 0 ? above(p) : 0;
}
inline double product_down(double a, double b) {
    const double p = a * b;
    if (!(p < INFINITY)) return 0x1.fffffffffffffp1023;
    return p > 0x1p-900 ? (std::fma(a, b, -p) < 0 ? below(p) : p) : std::max(below(p), 0.0);
}

// As a double, rounded up or down where it is beyond the range of normal numbers.
inline double value_up(Scaled s) {
    const double v = std::ldexp(s.mantissa, s.exponent);
    return s.mantissa && v < 0x1p-1000 ? above(v) : v;
}
inline double value_down(Scaled s) {
    const double v = std::ldexp(s.mantissa, s.exponent);
    if (!(v < INFINITY)) return 0x1.fffffffffffffp1023;
    return v < 0x1p-1000 ? std::max(below(v), 0.0) : v;
}

inline double root_up(Scaled s) {
    if (!s.mantissa) return 0;
    if (s.exponent & 1) s = {s.mantissa * 2, s.exponent - 1};
    double root = std::sqrt(s.mantissa);
    if (std::fma(root, root, -s.mantissa) < 0) root = above(root);
    const double v = std::ldexp(root, s.exponent / 2);
    return v < 0x1p-1000 ? above(v) : v;
}

}  // namespace novikoff
