// A digest of examples, defined on their values: the same for dense and sparse rows of any type, for any
// order of visits and for any division into blocks. src/novikoff/reference/digest.py is the readable twin.
//
// With b the 64 bits of x[j] as a double (-0 counts as 0) and k = key(j),
//
//   f(j, x) = (lo(b) + lo(k)) (hi(b) + hi(k)) - lo(k) hi(k),   sums mod 2^32, products and differences mod 2^64,
//
// so that a zero adds nothing. A row is h = sum of f (NH of Black et al. 1999, one pair of pieces per value),
// an example e = mix(mix(h + label) + weight), and a set of examples the sum of their e, all mod 2^64. Two
// sets that differ by accident have the same digest with a probability of about 2^-32; nothing here resists
// an adversary.
#pragma once

#include <memory>
#include <vector>

#include "memory/fork_safe.h"
#include "rows/rows.h"

namespace novikoff {

typedef uint64_t Words4 __attribute__((vector_size(32)));
typedef uint32_t Halves8 __attribute__((vector_size(32)));

template <class W>
NOVIKOFF_INLINE W product_of_low_halves(W a, W b) {
    return (a & 0xffffffffu) * (b & 0xffffffffu);
}
#if defined(__AVX2__)
template <>
NOVIKOFF_INLINE Words4 product_of_low_halves(Words4 a, Words4 b) {
    return (Words4)_mm256_mul_epu32((__m256i)a, (__m256i)b);
}
#endif

// Two rounds of multiplication and shift, in steps that AVX2 can do for four columns at once.
template <class W>
NOVIKOFF_INLINE W column_key(W j) {
    W a = product_of_low_halves(j, W{} + 0x9E3779B1u) + (j >> 32) + 0x9E3779B97F4A7C15u;
    a ^= a >> 32;
    W b = product_of_low_halves(a, W{} + 0x85EBCA77u) + a;
    return (b ^ (b >> 32)) | 0x100000001u;  // neither half is 0: f(j, x) is not 0 for a whole number x
}

NOVIKOFF_INLINE uint64_t mix(uint64_t h) {  // the finalizer of splitmix64
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBu;
    return h ^ (h >> 31);
}

NOVIKOFF_INLINE uint64_t bits_of(double x) {
    uint64_t b;
    x += 0.0;  // -0 becomes 0
    std::memcpy(&b, &x, 8);
    return b;
}
NOVIKOFF_INLINE uint64_t product_of_halves(uint64_t t) { return (t & 0xffffffffu) * (t >> 32); }
NOVIKOFF_INLINE uint64_t keyed(uint64_t b, uint64_t k) {
    return product_of_halves(((b + k) & 0xffffffffu) | ((((b >> 32) + (k >> 32)) & 0xffffffffu) << 32));
}
NOVIKOFF_INLINE Words4 keyed(Words4 b, Words4 k) {
    const Words4 t = (Words4)((Halves8)b + (Halves8)k);
    return product_of_low_halves(t, t >> 32);
}
template <class T>
NOVIKOFF_INLINE Words4 bits_of(Vec v) {
    return (Words4)(sizeof(T) == 1 ? v : v + 0.0);  // whole numbers have no -0
}
NOVIKOFF_INLINE uint64_t total(Words4 v) { return (v[0] + v[1]) + (v[2] + v[3]); }

// The keys of columns, made once for all dense rows of the process: a call that learns from one row should
// not have to make as many keys as it has columns.
struct ColumnKeys {
    std::vector<uint64_t> key, blank;  // blank[d]: what the keys add up to on a row of d zeros

    static std::shared_ptr<const ColumnKeys> of(int64_t d) {
        static ForkSafe lock;
        static std::shared_ptr<const ColumnKeys> known;
        const std::lock_guard<ForkSafe> held(lock);
        if (!known || int64_t(known->key.size()) < d) {
            auto more = known ? std::make_shared<ColumnKeys>(*known) : std::make_shared<ColumnKeys>();
            if (more->blank.empty()) more->blank.push_back(0);
            for (int64_t j = int64_t(more->key.size()); j < d; ++j) {
                more->key.push_back(column_key(uint64_t(j)));
                more->blank.push_back(more->blank.back() + product_of_halves(more->key.back()));
            }
            known = more;
        }
        return known;
    }
};

// The digest of the examples so far.
struct Digest {
    uint64_t value = 0;
    int64_t count = 0;
    std::shared_ptr<const ColumnKeys> columns;
    const uint64_t* key = nullptr;  // of the columns that dense rows have
    uint64_t blank = 0;  // what these add up to on a row of zeros

    void prepare(int64_t d) {
        columns = ColumnKeys::of(d);
        key = columns->key.data();
        blank = columns->blank[size_t(d)];
    }

    void add(uint64_t row, int64_t label, double weight) {
        value += mix(mix(row + uint64_t(label)) + bits_of(weight));
        ++count;
    }

    template <class T>
    uint64_t hash(const DenseRow<T>& row) const {
        Words4 sum{};
        int64_t j = 0;
        for (; j + 4 <= row.d; j += 4) sum += keyed(bits_of<T>(load4(row.x + j)), keys4(j));
        return ending(row, j, total(sum));
    }

    // The same from the pass that sums products and squares.
    template <class T>
    NOVIKOFF_INLINE DotNorm dot_norm(const DenseRow<T>& row, const double* w, uint64_t& h) const {
        Vec a[4] = {}, b[4] = {};
        Words4 sum{};
        int64_t j = 0;
        row.fetch_rest();
        for (; j + 16 <= row.d; j += 16) {
            row.fetch(j);
            for (int k = 0; k < 4; ++k) {
                Vec v = load4(row.x + j + 4 * k);
                a[k] = multiply_add(v, load4(w + j + 4 * k), a[k]);
                b[k] = multiply_add(v, v, b[k]);
                sum += keyed(bits_of<T>(v), keys4(j + 4 * k));
            }
        }
        h = ending(row, j, total(sum));
        DotNorm r{novikoff::total((a[0] + a[1]) + (a[2] + a[3])),
                  novikoff::total((b[0] + b[1]) + (b[2] + b[3]))};
        for (; j < row.d; ++j) {
            double v = double(row.x[j]);
            r.dot += v * w[j];
            r.norm2 += v * v;
        }
        return r;
    }

    template <class T, class I>
    uint64_t hash(const SparseRow<T, I>& row) const {
        Words4 sum{};
        int64_t k = 0;
        typedef I Four __attribute__((vector_size(4 * sizeof(I))));
        for (; k + 4 <= row.n; k += 4) {
            Four index;
            std::memcpy(&index, row.index + k, sizeof index);
            const Words4 key = column_key(__builtin_convertvector(index, Words4));
            sum += keyed(bits_of<T>(load4(row.x + k)), key) - product_of_low_halves(key, key >> 32);
        }
        if (k < row.n && row.n >= 4) {  // the last four again, of which those that have been added count as 0
            Four index;
            std::memcpy(&index, row.index + row.n - 4, sizeof index);
            const Words4 key = column_key(__builtin_convertvector(index, Words4));
            const Words4 fresh = (Words4)(Words4{0, 1, 2, 3} >= Words4{} + uint64_t(4 - (row.n - k)));
            sum += keyed(bits_of<T>(load4(row.x + row.n - 4)) & fresh, key) -
                   product_of_low_halves(key, key >> 32);
            k = row.n;
        }
        uint64_t h = total(sum);
        for (; k < row.n; ++k) {
            const uint64_t key = column_key(uint64_t(row.index[k]));
            h += keyed(bits_of(double(row.x[k])), key) - product_of_halves(key);
        }
        return h;
    }
    template <class T, class I>
    NOVIKOFF_INLINE DotNorm dot_norm(const SparseRow<T, I>& row, const double* w, uint64_t& h) const {
        h = hash(row);
        return row.dot_norm(w);
    }

  private:
    NOVIKOFF_INLINE Words4 keys4(int64_t j) const {
        Words4 k;
        std::memcpy(&k, key + j, sizeof k);
        return k;
    }
    template <class T>
    NOVIKOFF_INLINE uint64_t ending(const DenseRow<T>& row, int64_t j, uint64_t h) const {
        for (; j < row.d; ++j) h += keyed(bits_of(double(row.x[j])), key[j]);
        return h - blank;
    }
};

}  // namespace novikoff
