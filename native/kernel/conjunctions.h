// The monotone-conjunction kernel, exactly: K(a, b) = 2^|a AND b| for rows of 0 and 1.
//
// It is the inner product of the 2^n monotone conjunctions: one for each set of columns, true where all of
// its columns are 1, and true for both rows exactly if the set lies within a AND b. Rows are packed into
// words, so that |a AND b| is a few instructions. A score is a sum of +-2^k with k up to n, which no float
// can hold: it is kept as a whole number in digits of 32 bits,
//
//     s = sum_j digit_j 2^(32 j),        adding m 2^k:  digit_{k / 32} += m 2^(k mod 32)
//
// Digits are signed and wider than 32 bits, and nothing is carried while terms are added. The sign is found
// from the top: let r be the digits from j on as one number, in units of 2^(32 j). With M = the sum of all
// |m| a digit is at most M 2^31, so that those below j come to less than M units: |r| > M settles it,
// otherwise the next digit joins r. Nothing is rounded anywhere, so no decision is in doubt at any n.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "rows/rows.h"

namespace novikoff {

// ---- rows as bits --------------------------------------------------------------------------------
class Bits {
    std::vector<uint64_t> all;
    std::vector<int32_t> count;

  public:
    const int64_t n, d, words;

    template <class Rows>
    explicit Bits(const Rows& rows)
        : count(size_t(rows.n)), n(rows.n), d(rows.d), words(std::max<int64_t>(1, (rows.d + 63) / 64)) {
        all.assign(size_t(n * words), 0);
        for (int64_t i = 0; i < n; ++i) {
            uint64_t* w = all.data() + i * words;
            rows[i].for_each([&](int64_t j, double v) {
                if (v == 0) return;
                if (v != 1 || j < 0 || j >= d) refuse(i, j, v);
                w[j >> 6] |= uint64_t(1) << (j & 63);
            });
            int64_t ones = 0;
            for (int64_t k = 0; k < words; ++k) ones += __builtin_popcountll(w[k]);
            count[size_t(i)] = int32_t(ones);
        }
    }
    const uint64_t* operator[](int64_t i) const { return all.data() + i * words; }
    int64_t ones(int64_t i) const { return count[size_t(i)]; }

  private:
    [[noreturn]] static void refuse(int64_t i, int64_t j, double v) {
        char value[32];
        std::snprintf(value, sizeof value, "%.6g", v);
        throw std::invalid_argument("X[" + std::to_string(i) + ", " + std::to_string(j) + "] is " + value +
                                    ": the monotone-conjunction kernel takes rows of 0 and 1.");
    }
};

NOVIKOFF_INLINE int64_t common(const uint64_t* a, const uint64_t* b, int64_t words) {
    int64_t sum = 0, even = 0, k = 0;
    for (; k + 2 <= words; k += 2) {
        sum += __builtin_popcountll(a[k] & b[k]);
        even += __builtin_popcountll(a[k + 1] & b[k + 1]);
    }
    if (k < words) sum += __builtin_popcountll(a[k] & b[k]);
    return sum + even;
}

// The same with four rows that lie one after another: a word of `a` is loaded once.
NOVIKOFF_INLINE void common4(const uint64_t* a, const uint64_t* b, int64_t words, int64_t* out) {
    const uint64_t *c = b + words, *d = c + words, *e = d + words;
    int64_t p = 0, q = 0, r = 0, s = 0;
    for (int64_t k = 0; k < words; ++k) {
        const uint64_t w = a[k];
        p += __builtin_popcountll(w & b[k]);
        q += __builtin_popcountll(w & c[k]);
        r += __builtin_popcountll(w & d[k]);
        s += __builtin_popcountll(w & e[k]);
    }
    out[0] = p, out[1] = q, out[2] = r, out[3] = s;
}

// f(j, |a AND b_j|) for rows b_from, ..., b_to-1 that lie one after another.
template <class F>
NOVIKOFF_INLINE void for_each_common(const uint64_t* a, const uint64_t* b, int64_t words, int64_t from,
                                     int64_t to, F&& f) {
    int64_t j = from, four[4];
    for (; j + 4 <= to; j += 4) {
        common4(a, b + j * words, words, four);
        for (int64_t l = 0; l < 4; ++l) f(j + l, four[l]);
    }
    for (; j < to; ++j) f(j, common(a, b + j * words, words));
}

// ---- whole numbers of any size -------------------------------------------------------------------
constexpr int64_t kDigit = 32;
inline int64_t digits_for(int64_t largest_exponent) { return largest_exponent / kDigit + 1; }

template <class D>
NOVIKOFF_INLINE void add_power(D* digits, int64_t k, D m) {
    digits[k / kDigit] += m * (D(1) << (k % kDigit));
}

// The sign of sum_j (a_j - b_j) 2^(32 j), or of a alone; `total` is the sum of all |m|.
inline int sign_of(const int64_t* a, const int64_t* b, int64_t length, int64_t total) {
    __int128 r = 0;
    for (int64_t j = length; j-- > 0;) {
        r = r * (__int128(1) << kDigit) + a[j] - (b ? b[j] : 0);
        if (r > total) return 1;
        if (r < -total) return -1;
    }
    return (r > 0) - (r < 0);
}

// A number as sign, and magnitude in proper digits.
struct Whole {
    int sign = 0;
    std::vector<uint32_t> magnitude;

    template <class D>
    void read(const D* digits, int64_t length) {
        carry(digits, length, 1);
        if (sign < 0) carry(digits, length, -1), sign = -1;
    }
    // The nearest double to the number times 2^-exponent, where `exponent` is a multiple of 32.
    double rounded(int64_t& exponent) const {
        int64_t top = int64_t(magnitude.size());
        while (top > 0 && !magnitude[size_t(top - 1)]) --top;
        const int64_t low = std::max<int64_t>(0, top - 3);
        unsigned __int128 head = 0;
        for (int64_t j = top; j-- > low;) head = (head << kDigit) | magnitude[size_t(j)];
        for (int64_t j = 0; j < low; ++j)
            if (magnitude[size_t(j)]) head |= 1;  // more than 53 bits stand above it: it only breaks ties
        exponent = low * kDigit;
        return sign * double(head);
    }

  private:
    // Sets the sign, and the magnitude where factor * number is positive.
    template <class D>
    void carry(const D* digits, int64_t length, int factor) {
        magnitude.assign(size_t(length + 4), 0);
        D rest = 0;
        bool any = false;
        for (int64_t j = 0; j < length + 4; ++j) {
            rest += j < length ? factor * digits[j] : D(0);
            magnitude[size_t(j)] = uint32_t(rest & D(0xffffffff));
            any |= magnitude[size_t(j)] != 0;
            rest >>= kDigit;  // rounds down
        }
        sign = rest < 0 ? -1 : any;
    }
};

// ---- learning ------------------------------------------------------------------------------------
// The perceptron in its dual form over packed rows. Row i has its scores as whole numbers, which hold the
// first upto[i] updates; the rest are added when the row is visited, or by `push` to all rows.
class ConjunctionLearner {
    struct Made {
        int64_t row, visit;
    };
    const Bits& rows;
    const int64_t columns;
    const bool joint, tie_is_mistake, bias;
    // of each row's digits: `columns` numbers of equal length, one after another
    std::vector<int64_t> begin;
    std::vector<int64_t> digits, upto;
    std::vector<uint64_t> supports;  // a copy of each update's row
    std::vector<int64_t> first{0};   // of each update's moves
    std::vector<int32_t> column;
    std::vector<int64_t> factor;
    int64_t total = 0;  // of |factor|, for any one column at most
    std::vector<__int128> norm2;     // |w|^2 of each column, `width` digits per number
    int64_t width = 1;

    int64_t length(int64_t i) const { return digits_for(rows.ones(i)); }
    const int64_t* number(int64_t i, int64_t c) const {
        return digits.data() + begin[size_t(i)] + c * length(i);
    }

    void add(const uint64_t* support) {
        supports.insert(supports.end(), support, support + rows.words);
        int64_t largest = 0;
        for (int64_t e = first.back(); e < int64_t(column.size()); ++e)
            largest = std::max(largest, std::abs(factor[size_t(e)]));
        first.push_back(int64_t(column.size()));
        total += largest * (bias ? 2 : 1);
        if (total >= int64_t(1) << 30) throw std::overflow_error("more than 2^30 updates");
    }

    // |w + m x|^2 = |w|^2 + 2 m s + m^2 K(x, x), where s is the score of x before.
    template <class D>
    void lengthen(int64_t c, int64_t m, const D* score, int64_t ones) {
        __int128* mine = norm2.data() + c * width;
        for (int64_t j = 0; j < digits_for(ones); ++j) mine[j] += 2 * m * __int128(score[j]);
        add_power(mine, ones, __int128(m) * m);
        if (bias) mine[0] += m * m;
    }

    void update(int64_t i, int64_t count) {
        made.push_back({i, count});
        for (int64_t e = first.back(); e < int64_t(column.size()); ++e)
            lengthen(column[size_t(e)], factor[size_t(e)], number(i, column[size_t(e)]), rows.ones(i));
        add(rows[i]);
    }

    bool beats(int64_t i, int64_t a, int64_t b) const {  // score a > score b
        return sign_of(number(i, a), number(i, b), length(i), 2 * total) > 0;
    }

    // How the scores must move, added to column and factor; false where the row is right.
    bool decide(int64_t i, int64_t label) {
        if (!joint) {
            bool any = false;
            for (int64_t c = 0; c < columns; ++c) {
                const int64_t y = side(label, c);
                if (right(sign(i, c), y, tie_is_mistake)) continue;
                column.push_back(int32_t(c));
                factor.push_back(y);
                any = true;
            }
            return any;
        }
        const int64_t best = winner(i, label, tie_is_mistake);
        if (best == label) return false;
        column.push_back(int32_t(label)), factor.push_back(1);
        column.push_back(int32_t(best)), factor.push_back(-1);
        return true;
    }
    int64_t side(int64_t label, int64_t c) const { return (columns == 1 ? label == 1 : label == c) ? 1 : -1; }
    static bool right(int sign, int64_t y, bool strictly) { return sign ? sign == y : y > 0 && !strictly; }
    // The class with the highest score, the first of those tied; `strictly`: the label only if no other has
    // as much.
    int64_t winner(int64_t i, int64_t label, bool strictly) const {
        int64_t best = -1;
        for (int64_t c = 0; c < columns; ++c)
            if (!(strictly && c == label) && (best < 0 || beats(i, c, best))) best = c;
        return strictly && beats(i, label, best) ? label : best;
    }

  public:
    std::vector<Made> made;

    ConjunctionLearner(const Bits& x, int64_t n_columns, bool is_joint, bool ties, bool with_bias)
        : rows(x), columns(n_columns), joint(is_joint), tie_is_mistake(ties), bias(with_bias),
          upto(size_t(x.n), 0) {
        begin.push_back(0);
        for (int64_t i = 0; i < rows.n; ++i) begin.push_back(begin.back() + columns * length(i));
        digits.assign(size_t(begin.back()), 0);
        for (int64_t i = 0; i < rows.n; ++i) width = std::max(width, length(i));
        norm2.assign(size_t(columns * width), 0);
    }
    int64_t n() const { return rows.n; }
    int64_t n_columns() const { return columns; }
    int64_t updates() const { return int64_t(first.size()) - 1; }

    // What was learned before, from other rows: alpha has one line per support. Norms are counted from here
    // on.
    void begin_with(const Bits& earlier, const int64_t* alpha) {
        if (earlier.d != rows.d)
            throw std::invalid_argument("rows and supports have different numbers of columns");
        for (int64_t z = 0; z < earlier.n; ++z) {
            for (int64_t c = 0; c < columns; ++c)
                if (alpha[z * columns + c])
                    column.push_back(int32_t(c)), factor.push_back(alpha[z * columns + c]);
            add(earlier[z]);
        }
    }

    void catch_up(int64_t i) {
        const int64_t now = updates(), own = length(i);
        const uint64_t* x = rows[i];
        int64_t* mine = digits.data() + begin[size_t(i)];
        for_each_common(x, supports.data(), rows.words, upto[size_t(i)], now, [&](int64_t u, int64_t k) {
            for (int64_t e = first[size_t(u)]; e < first[size_t(u + 1)]; ++e) {
                int64_t* number = mine + column[size_t(e)] * own;
                add_power(number, k, factor[size_t(e)]);
                if (bias) number[0] += factor[size_t(e)];
            }
        });
        upto[size_t(i)] = now;
    }
    void push(int64_t from, int64_t to) {
        for (int64_t i = from; i < to; ++i) catch_up(i);
    }

    int sign(int64_t i, int64_t c) const { return sign_of(number(i, c), nullptr, length(i), total); }

    bool is_right(int64_t i, int64_t label, bool strictly) {
        catch_up(i);
        strictly |= tie_is_mistake;
        if (joint) return winner(i, label, strictly) == label;
        for (int64_t c = 0; c < columns; ++c)
            if (!right(sign(i, c), side(label, c), strictly)) return false;
        return true;
    }

    // Visits order[from..to), until `limit` updates have been made; where it stopped. Visits are counted from
    // `count`.
    int64_t visit(const int32_t* labels, const int64_t* order, int64_t from, int64_t to, int64_t count,
                  int64_t limit) {
        const int64_t enough = updates() + limit;
        int64_t t = from;
        for (; t < to && updates() < enough; ++t) {
            const int64_t i = order[t];
            catch_up(i);
            if (decide(i, labels[i])) update(i, count + t - from);
        }
        return t;
    }
    // One update as given: moves has one number per column.
    void move(int64_t i, int64_t count, const int64_t* moves) {
        catch_up(i);
        for (int64_t c = 0; c < columns; ++c)
            if (moves[c]) column.push_back(int32_t(c)), factor.push_back(moves[c]);
        update(i, count);
    }

    // The moves of update u, counted from those of `begin_with` on.
    template <class F>
    void moves(int64_t u, F&& f) const {
        for (int64_t e = first[size_t(u)]; e < first[size_t(u + 1)]; ++e)
            f(column[size_t(e)], factor[size_t(e)]);
    }

    // The smallest y s of the columns, or of the differences to the rivals, of a row brought up to date: the
    // nearest double, times 2^exponent.
    double margin(int64_t i, int64_t label, int64_t& exponent) const {
        const int64_t own = length(i);
        std::vector<int64_t> all(size_t(columns * own));
        const int64_t* from = number(i, 0);
        int64_t least = -1;
        for (int64_t c = 0; c < columns; ++c) {
            if (joint && c == label) continue;
            const int64_t y = side(label, c);
            for (int64_t j = 0; j < own; ++j)
                all[size_t(c * own + j)] =
                    joint ? from[label * own + j] - from[c * own + j] : y * from[c * own + j];
            if (least < 0 || sign_of(&all[size_t(c * own)], &all[size_t(least * own)], own, 4 * total) < 0)
                least = c;
        }
        Whole whole;
        whole.read(&all[size_t(least * own)], own);
        return whole.rounded(exponent);
    }
    double norm_squared(int64_t c, int64_t& exponent) const {
        Whole whole;
        whole.read(norm2.data() + c * width, width);
        return whole.rounded(exponent);
    }
    double score(int64_t i, int64_t c, int64_t& exponent) const {
        Whole whole;
        whole.read(number(i, c), length(i));
        return whole.rounded(exponent);
    }
};

// ---- predicting ----------------------------------------------------------------------------------
// The scores of a row by coefficients that may be large (sums of visits): 128 bits per digit. All are divided
// by `divisor`, and those of a row that would pass 2^1000 by one power of two. Signs are exact, and the exact
// winner, the first of those tied, is the first largest number.
class ConjunctionScores {
    const Bits& supports;
    const int64_t* alpha;
    const int64_t columns;
    const bool bias;
    const double divisor;
    std::vector<__int128> digits;
    std::vector<Whole> wholes;

  public:
    ConjunctionScores(const Bits& z, const int64_t* a, int64_t n_columns, bool with_bias, double by)
        : supports(z), alpha(a), columns(n_columns), bias(with_bias), divisor(by), wholes(size_t(n_columns)) {
    }

    void operator()(const uint64_t* x, int64_t ones, double* out) {
        const int64_t own = digits_for(ones);
        digits.assign(size_t(columns * own), 0);
        for_each_common(x, supports[0], supports.words, 0, supports.n, [&](int64_t z, int64_t k) {
            for (int64_t c = 0; c < columns; ++c)
                if (const int64_t a = alpha[z * columns + c]) {
                    add_power(digits.data() + c * own, k, __int128(a));
                    if (bias) digits[size_t(c * own)] += a;
                }
        });
        std::vector<int64_t> exponent(static_cast<size_t>(columns));
        int64_t highest = 0, best = 0;
        for (int64_t c = 0; c < columns; ++c) {
            wholes[size_t(c)].read(digits.data() + c * own, own);
            out[c] = wholes[size_t(c)].rounded(exponent[size_t(c)]);
            if (out[c] != 0) highest = std::max(highest, exponent[size_t(c)] + std::ilogb(out[c]));
            if (c && beats(c, best, own)) best = c;
        }
        const int64_t down = std::max<int64_t>(0, highest - 1000);
        double top = -std::numeric_limits<double>::infinity();
        for (int64_t c = 0; c < columns; ++c) {
            const double exact = out[c];
            out[c] = std::ldexp(exact, int(exponent[size_t(c)] - down)) / divisor;
            if (out[c] == 0 && exact != 0)
                out[c] = std::copysign(std::numeric_limits<double>::denorm_min(), exact);
            top = std::max(top, out[c]);
        }
        // what was not a tie was rounded to one
        if (columns > 1 && std::find(out, out + columns, top) - out != best)
            out[best] = std::nextafter(top, std::numeric_limits<double>::infinity());
    }

  private:
    bool beats(int64_t a, int64_t b, int64_t own) const {
        std::vector<__int128> difference(static_cast<size_t>(own));
        for (int64_t j = 0; j < own; ++j)
            difference[size_t(j)] = digits[size_t(a * own + j)] - digits[size_t(b * own + j)];
        Whole whole;
        whole.read(difference.data(), own);
        return whole.sign > 0;
    }
};

// Votes of all hypotheses on a row (Freund and Schapire 1999), of exact prefix sums: for the class (+) or
// against it (-) in each column; with joint classes for the highest score, the first of those tied.
struct ConjunctionVotes {
    const Bits& supports;
    int64_t columns, updates;
    bool joint, bias;
    const int64_t* used;      // the support of each update
    const int8_t* move;       // updates * columns
    const double* survived;   // updates + 1: visits between them

    void operator()(const uint64_t* x, double* out) const {
        std::vector<int64_t> exponents(size_t(supports.n));
        int64_t largest = 0;
        for_each_common(x, supports[0], supports.words, 0, supports.n, [&](int64_t z, int64_t k) {
            exponents[size_t(z)] = k;
            largest = std::max(largest, k);
        });
        const int64_t own = digits_for(largest);
        std::vector<int64_t> digits(size_t(columns * own), 0);
        std::vector<int> sign(size_t(columns), 1);
        int64_t best = 0, total = 0, top = 0;  // no digit from `top` on has been added to
        cast(sign, best, survived[0], out);
        for (int64_t u = 0; u < updates; ++u) {
            total += bias ? 2 : 1;
            const int64_t k = exponents[size_t(used[u])];
            top = std::max(top, digits_for(k));
            for (int64_t c = 0; c < columns; ++c) {
                const int64_t m = move[u * columns + c];
                if (!m) continue;
                int64_t* number = digits.data() + c * own;
                add_power(number, k, m);
                if (bias) number[0] += m;
                if (!joint) sign[size_t(c)] = sign_of(number, nullptr, top, total) < 0 ? -1 : 1;
            }
            if (joint) {
                best = 0;
                for (int64_t c = 1; c < columns; ++c)
                    if (sign_of(digits.data() + c * own, digits.data() + best * own, top, 2 * total) > 0)
                        best = c;
            }
            cast(sign, best, survived[u + 1], out);
        }
    }

  private:
    void cast(const std::vector<int>& sign, int64_t best, double count, double* out) const {
        if (joint) out[best] += count;
        else
            for (int64_t c = 0; c < columns; ++c) out[c] += sign[size_t(c)] * count;
    }
};

}  // namespace novikoff
