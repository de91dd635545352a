// Panels: some rows, the supports, in a form that many other rows can be multiplied with.
//
// Supports lie side by side, up to 32 in a group: for each column a line of their values. A number of a row
// multiplies one line, so no sum has to be gathered from the parts of a register, and zeros can be left out.
// The forms give the same values bit for bit (gram.h):
//
//     full      rows of few columns, seldom zero: all columns in turn; also the sums of |x - z|
//     lines     a list of the columns that are not zero
//     placed    the same for sparse rows, which may have very many columns: a group has lines only for its own
//     pairs     uint8 as int16, exactly: a list of pairs of columns, both of them in one step
//     tiles     supports one after another: rows of many columns, seldom zero or with few supports; distances
#pragma once

#include <new>
#include <type_traits>
#include <vector>

#include "kernel/gram.h"
#include "kernel/support_rows.h"
#include "memory/still_valid.h"
#include "memory/zeroed.h"

namespace novikoff {

// Memory that begins with a line of the cache, so that no vector lies across two.
template <class T>
struct Aligned {
    using value_type = T;
    Aligned() = default;
    template <class U>
    Aligned(const Aligned<U>&) {}
    T* allocate(size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(64))); }
    void deallocate(T* p, size_t) { ::operator delete(p, std::align_val_t(64)); }
    bool operator==(const Aligned&) const { return true; }
    bool operator!=(const Aligned&) const { return false; }
};
template <class T>
using AlignedVector = std::vector<T, Aligned<T>>;

// ---- rows, as lists of what is not zero ----------------------------------------------------------------
// By lane, j mod 4, and by increasing column in each: gram.h's order of summation.
class LaneList {
    std::vector<int32_t> columns;
    std::vector<double> numbers;
    int64_t room = 0;

    void make_room(int64_t each) {
        if (each <= room) return;
        room = each;
        columns.resize(size_t(4 * room)), numbers.resize(size_t(4 * room));
    }

  public:
    int64_t count[4] = {};
    const int32_t* column(int lane) const { return columns.data() + lane * room; }
    const double* value(int lane) const { return numbers.data() + lane * room; }

    template <class Row>
    void take(const Row& row) {
        make_room(row.stored());
        int64_t n[4] = {};
        row.for_each([&](int64_t j, double v) {
            const int64_t lane = j & 3, at = lane * room + n[lane]++;
            columns[size_t(at)] = int32_t(j), numbers[size_t(at)] = v;
        });
        std::copy(n, n + 4, count);
    }
    template <class T>
    void take(const DenseRow<T>& row) {
        make_room(row.d / 4 + 1);
        int64_t n[4] = {};
        int32_t* to = columns.data();
        double* out = numbers.data();
        // written without a branch, and kept if it is not zero
        auto four = [&](int64_t j, const Vec& v, int lanes) {
            for (int l = 0; l < lanes; ++l) {
                to[l * room + n[l]] = int32_t(j + l), out[l * room + n[l]] = v[l];
                n[l] += v[l] != 0;
            }
        };
        int64_t j = 0;
        for (; j + 4 <= row.d; j += 4) {
            uint32_t words[sizeof(T)], any = 0;
            std::memcpy(words, row.x + j, sizeof words);
            for (uint32_t word : words) any |= word;
            if (any) four(j, load4(row.x + j), 4);
        }
        Vec last{};
        for (int64_t k = j; k < row.d; ++k) last[k - j] = double(row.x[k]);
        four(j, last, int(row.d - j));
        std::copy(n, n + 4, count);
    }
};

// Which of eight are set in a mask, first ones first; what follows them does not matter.
struct Chosen {
    alignas(8) uint8_t of[256][8] = {};
    constexpr Chosen() {
        for (int mask = 0; mask < 256; ++mask)
            for (int bit = 0, n = 0; bit < 8; ++bit)
                if (mask >> bit & 1) of[mask][n++] = uint8_t(bit);
    }
};
constexpr Chosen chosen{};

// Pairs of columns of uint8, of which at least one is not zero: their number, and both values in 32 bits.
class PairList {
    std::vector<int32_t> pairs, values;

  public:
    int64_t count = 0;
    const int32_t* pair() const { return pairs.data(); }
    const int32_t* value() const { return values.data(); }

    void take(const DenseRow<uint8_t>& row) {
        pairs.resize(size_t(row.d / 2 + 8)), values.resize(size_t(row.d / 2 + 8));
        int32_t *to = pairs.data(), *out = values.data();
        int64_t n = 0, j = 0;
#if defined(__AVX2__)
        // eight pairs: those that are not zero to the front, the rest overwritten
        for (; j + 16 <= row.d; j += 16) {
            const __m128i x = _mm_loadu_si128((const __m128i*)(row.x + j));
            const __m128i zero = _mm_cmpeq_epi16(x, _mm_setzero_si128());
            const unsigned mask = ~unsigned(_mm_movemask_epi8(_mm_packs_epi16(zero, zero))) & 0xff;
            const __m256i front = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)chosen.of[mask]));
            const __m256i number = _mm256_add_epi32(front, _mm256_set1_epi32(int32_t(j / 2)));
            _mm256_storeu_si256((__m256i*)(to + n), number);
            _mm256_storeu_si256((__m256i*)(out + n),
                                _mm256_permutevar8x32_epi32(_mm256_cvtepu8_epi16(x), front));
            n += __builtin_popcount(mask);
        }
#endif
        for (; j < row.d; j += 2) {
            const uint32_t low = row.x[j], high = j + 1 < row.d ? row.x[j + 1] : 0;
            to[n] = int32_t(j / 2), out[n] = int32_t(low | high << 16);
            n += (low | high) != 0;
        }
        count = n;
    }
};

// ---- products with a group -----------------------------------------------------------------------------
// out[c] = x . z_c for 4 V supports, whose values of a column are one line. step(lane, f) calls f(number,
// line) for the columns of a lane, by increasing column. `add` is what a column does to a sum: a product, or
// a part of a distance.
struct Product {
    NOVIKOFF_INLINE Vec operator()(Vec x, Vec z, Vec sum) const { return fused(x, z, sum); }
};
template <int V, class Add = Product, class Step>
NOVIKOFF_INLINE void group_products(double* out, const Step& step) {
    Vec sum[4][V];
    for (int lane = 0; lane < 4; ++lane) {
        Vec mine[V] = {};
        step(lane, [&](double x, const double* z) {
            const Vec v{x, x, x, x};
            for (int i = 0; i < V; ++i) mine[i] = Add()(v, load4(z + 4 * i), mine[i]);
        });
        for (int i = 0; i < V; ++i) sum[lane][i] = mine[i];
    }
    for (int i = 0; i < V; ++i) store4(out + 4 * i, (sum[0][i] + sum[1][i]) + (sum[2][i] + sum[3][i]));
}
// A row as a list of what is not zero; `place` tells the line of a column, where not all have one.
template <int V, bool Placed>
NOVIKOFF_INLINE void group_products(const LaneList& x, const double* lines, const int32_t* place,
                                    double* out) {
    group_products<V>(out, [&](int lane, auto&& f) {
        const int32_t* column = x.column(lane);
        const double* value = x.value(lane);
        for (int64_t k = 0, n = x.count[lane]; k < n; ++k)
            f(value[k], lines + int64_t(Placed ? place[column[k]] : column[k]) * (4 * V));
    });
}
// A row with all its columns.
template <int V, class Add>
NOVIKOFF_INLINE void group_products(const double* x, int64_t d, const double* lines, double* out) {
    group_products<V, Add>(out, [&](int lane, auto&& f) {
        for (int64_t j = lane; j < d; j += 4) f(x[j], lines + j * (4 * V));
    });
}

// The same for 8 V supports in pairs of columns, and for R rows that have the same pairs. A sum of 2^16
// products of two bytes fits into 32 bits.
constexpr int64_t kIntegerColumns = 1 << 16;
template <int R, int V>
NOVIKOFF_INLINE void group_products(const PairList* x, const int16_t* lines, double* out, int64_t step) {
    const int32_t *pair = x[0].pair(), *value[R];
    for (int r = 0; r < R; ++r) value[r] = x[r].value();
#if defined(__AVX2__)
    __m256i sum[R][V];
    for (int r = 0; r < R; ++r)
        for (int i = 0; i < V; ++i) sum[r][i] = _mm256_setzero_si256();
    for (int64_t k = 0, n = x[0].count; k < n; ++k) {
        const int16_t* at = lines + int64_t(pair[k]) * (16 * V);
        __m256i v[R];
        for (int r = 0; r < R; ++r) v[r] = _mm256_set1_epi32(value[r][k]);
        for (int i = 0; i < V; ++i) {
            const __m256i z = _mm256_loadu_si256((const __m256i*)(at + 16 * i));
            for (int r = 0; r < R; ++r) sum[r][i] = _mm256_add_epi32(sum[r][i], _mm256_madd_epi16(v[r], z));
        }
    }
    for (int r = 0; r < R; ++r)
        for (int i = 0; i < V; ++i) {  // through signed numbers, for which there is an instruction
            const __m256i shifted = _mm256_xor_si256(sum[r][i], _mm256_set1_epi32(INT32_MIN));
            const __m256d back = _mm256_set1_pd(0x1p31);
            double* to = out + r * step + 8 * i;
            _mm256_storeu_pd(to, _mm256_add_pd(_mm256_cvtepi32_pd(_mm256_castsi256_si128(shifted)), back));
            _mm256_storeu_pd(to + 4,
                             _mm256_add_pd(_mm256_cvtepi32_pd(_mm256_extracti128_si256(shifted, 1)), back));
        }
#else
    for (int r = 0; r < R; ++r) {
        uint32_t sum[8 * V] = {};
        for (int64_t k = 0; k < x[0].count; ++k) {
            const int16_t* z = lines + int64_t(pair[k]) * (16 * V);
            const uint32_t low = uint32_t(value[r][k]) & 0xffff, high = uint32_t(value[r][k]) >> 16;
            for (int c = 0; c < 8 * V; ++c)
                sum[c] += low * uint32_t(z[2 * c]) + high * uint32_t(z[2 * c + 1]);
        }
        for (int c = 0; c < 8 * V; ++c) out[r * step + c] = sum[c];
    }
#endif
}

// ---- panels ------------------------------------------------------------------------------------------
class Panel {
    static constexpr int64_t kGroup = 32;  // supports
    static constexpr int64_t kSmall = 128;  // columns: all lines of a group stay near
    static constexpr int64_t kNear = 2048;  // columns: they stay in the second cache
    // supports: looking for what is not zero in a dense row costs more than it saves
    static constexpr int64_t kFew = 16;
    enum class Form { full, lines, placed, pairs, tiles, merged };
    struct Group {
        // its first support, the supports there is room for, where its lines begin
        int64_t first, width, begin;
    };
    Kernel kernel;
    Form form = Form::tiles;
    int64_t m = 0, d = 0, padded = 0, line = 0;  // line: numbers from one row's values to the next's
    std::vector<Group> groups;
    AlignedVector<int16_t> small;
    AlignedVector<double> values;
    ZeroTable<int32_t> place;  // placed: by group and column; 0 for those it has not, whose line is zeros
    std::vector<double> norm2;
    std::vector<SparseColumns> stored;  // merged: distances of sparse rows, by the columns that they store

    template <class Row>
    static void spread(const Row& row, double* out, int64_t padded) {
        std::memset(out, 0, size_t(padded) * sizeof(double));
        row.for_each([&](int64_t j, double v) { out[j] = v; });
    }
    template <class T>
    static void spread(const DenseRow<T>& row, double* out, int64_t padded) {
        for (int64_t j = 0; j < row.d; ++j) out[j] = double(row.x[j]);
        for (int64_t j = row.d; j < padded; ++j) out[j] = 0;
    }

    // Groups of 32 supports, the last of as many as are left or a little more, down to `least`.
    void cut(int64_t least) {
        for (int64_t first = 0; first < m; first += kGroup) {
            int64_t width = kGroup;
            while (width > least && width / 2 >= m - first) width /= 2;
            groups.push_back({first, width, 0});
            line = first + width;
        }
    }

    template <class Rows>
    void pack_lines(const Rows& rows, const int64_t* which) {
        cut(4);
        if (form == Form::placed) place = ZeroTable<int32_t>(groups.size() * size_t(d));
        for (size_t g = 0; g < groups.size(); ++g) {
            Group& group = groups[g];
            group.begin = int64_t(values.size());
            int32_t* at = form == Form::placed ? place.data() + int64_t(g) * d : nullptr;
            int32_t used = 1;  // the line of zeros
            values.resize(values.size() + size_t(group.width * (at ? 1 : d)), 0.0);
            for (int64_t c = group.first; c < std::min(m, group.first + group.width); ++c)
                rows[which[c]].for_each([&](int64_t j, double v) {
                    if (at && !at[j]) {
                        at[j] = used++;
                        values.resize(values.size() + size_t(group.width), 0.0);
                    }
                    values[size_t(group.begin + (at ? at[j] : j) * group.width + c - group.first)] = v;
                });
        }
    }

    template <class Row>
    void merge(const SupportRows& reader, const Row& row, TakenRow& x, double* out) const {
        reader.take(row, x);
        for (int64_t c = 0; c < m; ++c)
            out[c] = kernel.name == KernelName::chi2
                         ? SupportRows::sparse_distance<true>(x.stored, stored[size_t(c)])
                         : SupportRows::sparse_distance<false>(x.stored, stored[size_t(c)]);
    }

    void pack_pairs(const DenseRows<uint8_t>& rows, const int64_t* which) {
        cut(8);
        const int64_t columns = (d + 1) / 2 * 2;
        for (Group& group : groups) {
            group.begin = int64_t(small.size());
            small.resize(small.size() + size_t(group.width * columns), 0);
            for (int64_t c = group.first; c < std::min(m, group.first + group.width); ++c) {
                int16_t* to = small.data() + group.begin + 2 * (c - group.first);
                const DenseRow<uint8_t> row = rows[which[c]];
                for (int64_t j = 0; j < d; ++j) to[j / 2 * 2 * group.width + j % 2] = row.x[j];
            }
        }
    }

    // Products of some rows with all supports, group by group, so that a group stays in the nearest cache.
    // f(width / 4, row, lines, place, out), the first as a constant.
    template <class F>
    void by_width(int64_t rows, double* out, const F& f) const {
        for (size_t g = 0; g < groups.size(); ++g) {
            const double* lines = values.data() + groups[g].begin;
            const int32_t* at = place.empty() ? nullptr : place.data() + int64_t(g) * d;
            double* to = out + groups[g].first;
            for (int64_t r = 0; r < rows; ++r, to += line) switch (groups[g].width) {
                    case 4: f(std::integral_constant<int, 1>(), r, lines, at, to); break;
                    case 8: f(std::integral_constant<int, 2>(), r, lines, at, to); break;
                    case 16: f(std::integral_constant<int, 4>(), r, lines, at, to); break;
                    default: f(std::integral_constant<int, 8>(), r, lines, at, to); break;
                }
        }
    }
    template <bool Placed>
    void line_products(const LaneList* x, int64_t rows, double* out) const {
        by_width(rows, out, [&](auto width, int64_t r, const double* lines, const int32_t* at, double* to) {
            group_products<decltype(width)::value, Placed>(x[r], lines, at, to);
        });
    }
    template <class Add>
    void full_products(const double* x, int64_t rows, double* out) const {
        by_width(rows, out, [&](auto width, int64_t r, const double* lines, const int32_t*, double* to) {
            group_products<decltype(width)::value, Add>(x + r * padded, d, lines, to);
        });
    }

    template <int V>
    void pair_products(const PairList* x, int64_t rows, const int16_t* lines, double* out) const {
        const int64_t all = (d + 1) / 2;
        for (int64_t r = 0; r < rows;) {
            const bool two = r + 1 < rows && x[r].count == all && x[r + 1].count == all;
            if (two) group_products<2, V>(x + r, lines, out + r * line, line);
            else group_products<1, V>(x + r, lines, out + r * line, line);
            r += 1 + two;
        }
    }
    void pair_products(const PairList* x, int64_t rows, double* out) const {
        for (const Group& group : groups) {
            const int16_t* lines = small.data() + group.begin;
            switch (group.width) {
                case 8: pair_products<1>(x, rows, lines, out + group.first); break;
                case 16: pair_products<2>(x, rows, lines, out + group.first); break;
                default: pair_products<4>(x, rows, lines, out + group.first); break;
            }
        }
    }

    // |x|^2 by the products' own order of summation, so that |x - x|^2 is 0.
    template <class Row>
    static double norm2_of(const Row& row) {
        double lane[4] = {};
        row.for_each([&](int64_t j, double v) { lane[j & 3] = __builtin_fma(v, v, lane[j & 3]); });
        return (lane[0] + lane[1]) + (lane[2] + lane[3]);
    }
    double dense_norm2(const double* x) const {
        Vec sum{};
        for (int64_t j = 0; j < padded; j += 4) sum = fused(load4(x + j), load4(x + j), sum);
        return total(sum);
    }
    bool needs_norm() const { return kernel.name == KernelName::rbf || kernel.name == KernelName::cosine; }

  public:
    int64_t size() const { return m; }
    int64_t columns() const { return d; }

    template <class Rows>
    Panel(const Kernel& k, const Rows& rows, const int64_t* which, int64_t count)
        : kernel(k), m(count), d(rows.d) {
        using Row = typename Rows::Row;
        constexpr bool bytes = std::is_same_v<Row, DenseRow<uint8_t>>;
        constexpr bool dense =
            bytes || std::is_same_v<Row, DenseRow<float>> || std::is_same_v<Row, DenseRow<double>>;
        int64_t present = 0;
        for (int64_t c = 0; c < m; ++c) {
            still_valid(rows, which[c]).for_each([&](int64_t, double) { ++present; });
            norm2.push_back(needs_norm() ? norm2_of(rows[which[c]]) : 0);
        }
        norm2.resize(size_t(m + 3));  // so that four can be read from anywhere
        padded = (d + kDoubles - 1) / kDoubles * kDoubles;
        line = (m + 3) / 4 * 4;
        if constexpr (bytes) {
            if (kernel.by_product() && d <= kIntegerColumns) {
                form = Form::pairs;
                pack_pairs(rows, which);
                return;
            }
        }
        if (kernel.name == KernelName::laplacian && d <= kNear) {
            form = Form::full;
            pack_lines(rows, which);
            return;
        }
        if (kernel.by_product() && (d <= kSmall || (2 * present < m * d && (m > kFew || !dense)))) {
            form = 2 * present >= m * d ? Form::full : dense || d <= kSmall ? Form::lines : Form::placed;
            pack_lines(rows, which);
            return;
        }
        // made dense, they would take all columns that a file may claim
        if (!dense && !kernel.by_product()) {
            form = Form::merged;
            const SupportRows reader(kernel, true, d);
            TakenRow x;
            for (int64_t c = 0; c < m; ++c) {
                reader.take(rows[which[c]], x);
                stored.push_back(x.stored);
            }
            return;
        }
        values.resize(size_t(m * padded));
        for (int64_t c = 0; c < m; ++c) spread(rows[which[c]], values.data() + c * padded, padded);
    }

    // f(t, count, values, line): the rows order[t..t + count), or t..t + count themselves, until all from
    // begin to end have been seen; values has K(x, z_0), ..., K(x, z_m-1) for each, `line` numbers after the
    // last row's.
    template <class Rows, class F>
    void by_groups(const Rows& rows, const int64_t* order, int64_t begin, int64_t end, F&& f) const {
        constexpr bool bytes = std::is_same_v<typename Rows::Row, DenseRow<uint8_t>>;
        constexpr int64_t G = 12;  // rows at a time
        AlignedVector<double> out(size_t(G * line)), wide;
        std::vector<LaneList> lanes(form == Form::lines || form == Form::placed ? G : 0);
        std::vector<PairList> pairs(form == Form::pairs ? G : 0);
        const SupportRows reader(kernel, true, d);
        TakenRow x;
        const bool made_dense = form == Form::tiles || form == Form::full;
        if (made_dense) wide.resize(size_t(G * padded));
        if (form == Form::pairs && !bytes)
            throw std::invalid_argument("rows and supports are stored in different ways");
        for (int64_t t = begin; t < end; t += G) {
            const int64_t count = std::min<int64_t>(G, end - t);
            if (m == 0) {
                f(t, count, static_cast<const double*>(out.data()), line);
                continue;
            }
            for (int64_t r = 0; r < count; ++r) {
                const auto row = still_valid(rows, order ? order[t + r] : t + r);
                if constexpr (bytes)
                    if (form == Form::pairs) {
                        pairs[size_t(r)].take(row);
                        continue;
                    }
                if (made_dense) spread(row, wide.data() + r * padded, padded);
                else if (form == Form::merged) merge(reader, row, x, out.data() + r * line);
                else lanes[size_t(r)].take(row);
            }
            switch (form) {
                case Form::full:
                    if (kernel.name == KernelName::laplacian)
                        full_products<Apart>(wide.data(), count, out.data());
                    else full_products<Product>(wide.data(), count, out.data());
                    break;
                case Form::lines: line_products<false>(lanes.data(), count, out.data()); break;
                case Form::placed: line_products<true>(lanes.data(), count, out.data()); break;
                case Form::pairs: pair_products(pairs.data(), count, out.data()); break;
                case Form::merged: break;
                case Form::tiles:  // three rows: the registers hold their sums with four supports
                    if (kernel.by_product())
                        products<3>(wide.data(), count, values.data(), m, padded, out.data(), line);
                    break;
            }
            for (int64_t r = 0; r < count; ++r) {
                double* mine = out.data() + r * line;
                if (form == Form::tiles && !kernel.by_product())
                    for (int64_t c = 0; c < m; ++c) {
                        const double *x = wide.data() + r * padded, *z = values.data() + c * padded;
                        mine[c] = kernel.name == KernelName::chi2 ? distance<Squared>(x, z, padded)
                                                                  : distance<Apart>(x, z, padded);
                    }
                const auto row = rows[order ? order[t + r] : t + r];
                const double own = !needs_norm() ? 0
                                   : made_dense  ? dense_norm2(wide.data() + r * padded)
                                                 : norm2_of(row);
                // whole vectors, though the last values are not used
                apply(kernel, mine, norm2.data(), own, (m + 3) / 4 * 4);
            }
            f(t, count, static_cast<const double*>(out.data()), line);
        }
    }
};

}  // namespace novikoff
