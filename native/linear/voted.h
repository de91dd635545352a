// Prediction by vote (Freund and Schapire 1999, section 2), from the sequence of updates.
//
// The hypotheses of a run are w_0 = 0 and w_k = w_{k-1} + tau_k z_k, where z_k is one of the m distinct
// rows that caused updates, the supports; w_k survived c_k visits. On a row x
//
//     s_k = s_{k-1} + tau_k (z_k . x)        the prediction is the sign of  sum_k c_k sign(s_k)
//
// so m dots and one prefix sum give the scores of all hypotheses: no weight vector is ever made. With
// three classes or more s has one component per class (label + tau, rival - tau), and each hypothesis votes
// for its argmax.
//
// These are float sums. Where their signs, or their argmax, are in doubt, w_k is computed again as
// training computed it, and decides exactly (hypotheses.h). So votes are those of the weights that the run
// held, and depend on nothing else.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "linear/hypotheses.h"

namespace novikoff {

// Column j is added to accumulator j mod 16, and the 16 in one tree, for any type with addition:
// ((a + b) + (c + e)) by lanes, then (0 + 1) + (2 + 3).
template <class V, class At>
NOVIKOFF_INLINE V reduce16(const At& at) {
    auto lane = [&](int l) { return (at(l) + at(4 + l)) + (at(8 + l) + at(12 + l)); };
    return (lane(0) + lane(1)) + (lane(2) + lane(3));
}

// ---- dense supports ------------------------------------------------------------------------------
// n doubles at a cache line's start, all 0. By calloc: of a large block only the part in use is touched.
class Zeros {
    int64_t n;
    std::unique_ptr<void, decltype(&std::free)> memory;

  public:
    explicit Zeros(int64_t count) : n(count), memory(std::calloc(size_t(n) + 8, sizeof(double)), &std::free) {
        if (!memory) throw std::bad_alloc();
    }
    double* data() { return reinterpret_cast<double*>((uintptr_t(memory.get()) + 63) / 64 * 64); }
    void clear() { std::fill_n(data(), n, 0.0); }
};

// A block of test rows with a block of supports, a slice of columns at a time. The 16 accumulators are taken
// by quarters: quarter g sums columns 4g .. 4g+3 of every 16, which lie together in memory, and those
// of 3 x 3 pairs of rows stay in registers while the supports' quarter stays in the nearest cache.
struct DenseBlock {
    static constexpr int64_t kRows = 48, kSupports = 12, kColumns = 1024, kTall = 3, kWide = 3;
    static_assert(kRows % kTall == 0 && kSupports % kWide == 0 && kRows % 8 == 0, "tiles fill a block");
    int64_t d, slices, run;  // run: doubles of one row, one slice, one quarter
    Zeros x, z, sums;  // x[slice][quarter][row][run], z[quarter][support][run], sums[row][support][16]

    explicit DenseBlock(int64_t features)
        : d(features), slices(std::max<int64_t>((d + kColumns - 1) / kColumns, 1)),
          run(((d + slices - 1) / slices + 15) / 16 * 4), x(kRows * run * 4 * slices), z(kSupports * run * 4),
          sums(kRows * kSupports * 16) {}

    template <class Row>
    NOVIKOFF_INLINE void put(const Row& row, int64_t i) {
        const int64_t columns = 4 * run;
        double* to = x.data() + i * run;
        row.for_each([&](int64_t j, double v) {
            const int64_t slice = j / columns, k = j % columns;
            to[(slice * 4 + k % 16 / 4) * kRows * run + k / 16 * 4 + k % 4] = v;
        });
    }
    template <class Rows>
    void clear(const Rows&, int64_t, int64_t) {
        x.clear();
    }

    template <class T>
    NOVIKOFF_INLINE void put_support(const DenseRow<T>& row, int64_t slice, int64_t s) {
        const int64_t first = slice * 4 * run, count = std::clamp<int64_t>(d - first, 0, 4 * run);
        const T* from = row.x + first;
        double* to = z.data() + s * run;
        int64_t j = 0;
        for (; j + 16 <= count; j += 16)
            for (int g = 0; g < 4; ++g) store4(to + g * kSupports * run + j / 4, load4(from + j + 4 * g));
        for (; j < 4 * run; ++j)
            to[j % 16 / 4 * kSupports * run + j / 16 * 4 + j % 4] = j < count ? double(from[j]) : 0.0;
    }

    // One quarter of the accumulators of kTall x kWide pairs goes on over one run.
    NOVIKOFF_INLINE void tile(const double* p, const double* q, double* to) const {
        Vec a[kTall][kWide];
        for (int r = 0; r < kTall; ++r)
            for (int s = 0; s < kWide; ++s) a[r][s] = load4(to + (r * kSupports + s) * 16);
        for (int64_t j = 0; j < run; j += 4) {
            Vec b[kWide];
            for (int s = 0; s < kWide; ++s) b[s] = load4(q + s * run + j);
            for (int r = 0; r < kTall; ++r) {
                Vec v = load4(p + r * run + j);
                for (int s = 0; s < kWide; ++s) a[r][s] += v * b[s];
            }
        }
        for (int r = 0; r < kTall; ++r)
            for (int s = 0; s < kWide; ++s) store4(to + (r * kSupports + s) * 16, a[r][s]);
    }
};

// dots[m * kRows + i] = support m . row i of the block.
template <class T>
void block_dots(DenseBlock& b, const DenseRows<T>& supports, int64_t rows, double* dots) {
    constexpr int64_t R = DenseBlock::kRows, S = DenseBlock::kSupports;
    const double *x = b.x.data(), *z = b.z.data();
    double* sums = b.sums.data();
    for (int64_t first = 0; first < supports.n; first += S) {
        const int64_t count = std::min(S, supports.n - first);
        b.sums.clear();
        for (int64_t k = 0; k < b.slices; ++k) {
            for (int64_t s = 0; s < count; ++s) b.put_support(supports[first + s], k, s);
            for (int64_t g = 0; g < 4; ++g)
                for (int64_t i = 0; i < rows; i += DenseBlock::kTall)
                    for (int64_t s = 0; s < count; s += DenseBlock::kWide)
                        b.tile(x + ((k * 4 + g) * R + i) * b.run, z + (g * S + s) * b.run,
                               sums + (i * S + s) * 16 + g * 4);
        }
        for (int64_t s = 0; s < count; ++s)
            for (int64_t i = 0; i < rows; ++i) {
                const double* a = sums + (i * S + s) * 16;
                dots[(first + s) * R + i] = reduce16<double>([&](int l) { return a[l]; });
            }
    }
}

// ---- sparse supports -----------------------------------------------------------------------------
// Eight test rows lie side by side, x[8 j + i]: each stored value of a support meets one cache line.
struct SparseBlock {
    static constexpr int64_t kRows = 8;
    int64_t d;
    Zeros memory;
    double* x;

    explicit SparseBlock(int64_t features) : d(features), memory(features * kRows), x(memory.data()) {}

    template <class Row>
    NOVIKOFF_INLINE void put(const Row& row, int64_t i) {
        row.for_each([&](int64_t j, double v) { x[j * kRows + i] = v; });
    }
    template <class Rows>
    void clear(const Rows& rows, int64_t begin, int64_t end) {  // only what was put
        for (int64_t i = begin; i < end; ++i)
            rows[i].for_each([&](int64_t j, double) {
                // read again: anyone may have written to it
                if (uint64_t(j) < uint64_t(d)) x[j * kRows + i - begin] = 0;
            });
    }
};

template <class T, class I>
void block_dots(SparseBlock& b, const SparseRows<T, I>& supports, int64_t, double* dots) {
    constexpr int64_t R = SparseBlock::kRows;
    for (int64_t m = 0; m < supports.n; ++m) {
        const auto row = supports[m];
        Vec low[16] = {}, high[16] = {};
        for (int64_t k = 0; k < row.n; ++k) {
            const int64_t j = row.index[k];
            const double z = double(row.x[k]);
            low[j % 16] += z * load4(b.x + j * R);
            high[j % 16] += z * load4(b.x + j * R + 4);
        }
        store4(dots + m * R, reduce16<Vec>([&](int l) { return low[l]; }));
        store4(dots + m * R + 4, reduce16<Vec>([&](int l) { return high[l]; }));
    }
}

// ---- the prefix sum and the votes ----------------------------------------------------------------
typedef int64_t Counts __attribute__((vector_size(32)));

NOVIKOFF_INLINE bool any(Counts c) {
#if defined(__AVX2__)
    return !_mm256_testz_si256((__m256i)c, (__m256i)c);
#else
    return (c[0] | c[1] | c[2] | c[3]) != 0;
#endif
}

#if defined(__AVX2__)
NOVIKOFF_INLINE Vec larger(Vec a, Vec b) { return (Vec)_mm256_max_pd((__m256d)a, (__m256d)b); }
NOVIKOFF_INLINE Vec smaller(Vec a, Vec b) { return (Vec)_mm256_min_pd((__m256d)a, (__m256d)b); }
#else
NOVIKOFF_INLINE Vec larger(Vec a, Vec b) { return a > b ? a : b; }
NOVIKOFF_INLINE Vec smaller(Vec a, Vec b) { return a < b ? a : b; }
#endif

// What is in doubt in a block of rows: what e_k is multiplied by (-1: no doubt), the first hypothesis that
// is not 0 on the row, and for each hypothesis a bit for each row on which it is in doubt.
template <int64_t Rows>
struct Doubts {
    static_assert(Rows <= 64, "one bit per row");
    double reach[Rows];
    int64_t begin[Rows];
    std::vector<uint64_t> bits;
    int64_t count = 0;  // of rows; the rest of the block is unused
    int64_t last = 0;  // the last hypothesis in doubt

    // Rows i .. i + 7 on which hypothesis k is too close to call: true for those where that is no doubt,
    // because the score is 0.
    void note(int64_t k, int64_t i, const Counts* open, bool* zero) {
        for (int l = 0; l < 8; ++l) {
            const bool own = open[l / 4][l % 4] && i + l < count;
            zero[l] = own && k < begin[i + l];
            if (!own || zero[l]) continue;
            bits[size_t(k)] |= uint64_t(1) << (i + l);
            last = std::max(last, k);
        }
    }
};

// Two classes, eight rows at a time: how often the second class was voted for, where that is beyond doubt.
template <class D>
void tally_two(const Sequence& q, const Prefixes& known, const double* dots, int64_t width, D& doubts,
               int64_t i, int64_t* second) {
    Vec s[2] = {}, reach[2] = {load4(doubts.reach + i), load4(doubts.reach + i + 4)};
    Counts votes[2] = {Counts{} + q.survived[0], Counts{} + q.survived[0]};  // s = 0: sign(0) = +1
    for (int64_t k = 0; k < q.updates; ++k) {
        const double *dot = dots + q.support[k] * width, error = known.error[size_t(k + 1)];
        Counts open[2];
        for (int h = 0; h < 2; ++h) {
            s[h] += q.step[k] * (load4(dot + 4 * h) + q.bias2);
            const Counts clear = (Vec)((Counts)s[h] & INT64_MAX) > error * reach[h];  // false for NaN
            votes[h] += (s[h] >= 0.0) & clear & q.survived[k + 1];
            open[h] = ~clear;
        }
        if (__builtin_expect(any(open[0] | open[1]), 0) && q.survived[k + 1]) {
            bool zero[8];
            doubts.note(k + 1, i, open, zero);
            for (int l = 0; l < 8; ++l) votes[l / 4][l % 4] += zero[l] ? q.survived[k + 1] : 0;
        }
    }
    for (int l = 0; l < 8; ++l) second[l] = votes[l / 4][l % 4];
}

// Three classes or more, eight rows at a time. The classes play a knock-out tournament, a binary tree
// whose leaves are the scores: an update changes two leaves, so only the matches on their two paths
// are played again. The left, lower class wins ties. The second best score tells how clear the win is.
class Tournament {
    static constexpr int64_t kRows = 8;
    struct alignas(32) Node {
        Vec score[2], second[2];
        Counts winner[2];
    };
    int64_t classes, leaves = 1;
    std::vector<Node> nodes;  // 1 is the root, the children of n are 2n and 2n + 1

    NOVIKOFF_INLINE void play(int64_t n) {
        const Node &left = nodes[size_t(2 * n)], &right = nodes[size_t(2 * n + 1)];
        Node& here = nodes[size_t(n)];
        for (int h = 0; h < 2; ++h) {
            const Vec l = left.score[h], r = right.score[h];
            here.second[h] = larger(larger(left.second[h], right.second[h]), smaller(l, r));
            here.score[h] = larger(r, l);
            here.winner[h] = r > l ? right.winner[h] : left.winner[h];
        }
    }

  public:
    explicit Tournament(int64_t n_classes) : classes(n_classes) {
        while (leaves < classes) leaves *= 2;
        nodes.resize(size_t(2 * leaves));
    }

    // votes[l * classes + c] of rows i + l, l = 0 .. 7, where they are beyond doubt
    template <class D>
    NOVIKOFF_INLINE void tally(const Sequence& q, const Prefixes& known, const double* dots, int64_t width,
                               D& doubts, int64_t i, int64_t* votes) {
        for (int64_t c = 0; c < leaves; ++c)
            for (int h = 0; h < 2; ++h) {
                nodes[size_t(leaves + c)].score[h] = Vec{} + (c < classes ? 0.0 : -INFINITY);
                nodes[size_t(leaves + c)].second[h] = Vec{} - INFINITY;
                nodes[size_t(leaves + c)].winner[h] = Counts{} + c;
            }
        for (int64_t n = leaves - 1; n > 0; --n) play(n);
        std::fill(votes, votes + kRows * classes, 0);
        for (int64_t l = 0; l < kRows; ++l) votes[l * classes] = q.survived[0];  // all 0: the lowest class
        const Vec reach[2] = {load4(doubts.reach + i), load4(doubts.reach + i + 4)};
        for (int64_t k = 0; k < q.updates; ++k) {
            const double *dot = dots + q.support[k] * width, error = 2.01 * known.error[size_t(k + 1)];
            int64_t up = leaves + q.label[k], down = leaves + q.rival[k];
            for (int h = 0; h < 2; ++h) {
                const Vec move = q.step[k] * (load4(dot + 4 * h) + q.bias2);
                nodes[size_t(up)].score[h] += move;
                nodes[size_t(down)].score[h] -= move;
            }
            for (up /= 2, down /= 2; up != down; up /= 2, down /= 2) {
                play(up);
                play(down);
            }
            for (; up > 0; up /= 2) play(up);
            Counts open[2];
            for (int h = 0; h < 2; ++h)
                open[h] = ~(nodes[1].score[h] - nodes[1].second[h] > error * reach[h]);
            if (__builtin_expect(any(open[0] | open[1]), 0) && q.survived[k + 1]) {
                bool zero[8];
                doubts.note(k + 1, i, open, zero);
                for (int64_t l = 0; l < kRows; ++l)
                    if (!open[l / 4][l % 4] || zero[l])
                        votes[l * classes + nodes[1].winner[l / 4][l % 4]] += q.survived[k + 1];
                continue;
            }
            for (int64_t l = 0; l < kRows; ++l)
                votes[l * classes + nodes[1].winner[l / 4][l % 4]] += q.survived[k + 1];
        }
    }
};

// ---- all together --------------------------------------------------------------------------------
// Rows first .. first + count of a block made dense, and measured.
template <class Block, class Rows, class D>
Outcome load(Block& block, const Rows& rows, int64_t first, int64_t count, const Prefixes& known, D& doubts) {
    std::fill(std::begin(doubts.reach), std::end(doubts.reach), -1.0);
    doubts.count = count;
    for (int64_t i = 0; i < count; ++i) {
        const auto row = rows[first + i];
        Problem problem = known.measure(row, block.d, doubts.reach[i], doubts.begin[i]);
        if (problem != Problem::none) return {problem, first + i};
        block.put(row, i);
    }
    return {};
}

// Votes on a range of rows into `out`: one column (the second class of two) or `classes`.
// `with_rows(f)` calls f with the matrix as it is stored.
template <class Block, class Supports, class WithRows>
Outcome votes(const Sequence& q, const Supports& supports, const WithRows& with_rows, int64_t begin,
              int64_t end, int64_t* out) {
    Block block(supports.d);
    constexpr int64_t width = Block::kRows;
    const int64_t columns = q.classes == 2 ? 1 : q.classes;
    std::vector<double> dots(size_t(supports.n * width));
    std::vector<int64_t> eight(size_t(8 * columns));
    Tournament tournament(q.classes);
    const Prefixes known(q, supports);
    Replay replay(q, supports.d);
    Doubts<width> doubts;
    doubts.bits.assign(size_t(q.updates + 1), 0);
    for (int64_t first = begin; first < end; first += width) {
        const int64_t count = std::min(width, end - first);
        Outcome o = with_rows([&](auto& rows) { return load(block, rows, first, count, known, doubts); });
        if (o.problem != Problem::none) return o;
        block_dots(block, supports, count, dots.data());
        for (int64_t i = 0; i < count; i += 8) {
            if (q.classes == 2) tally_two(q, known, dots.data() + i, width, doubts, i, eight.data());
            else tournament.tally(q, known, dots.data() + i, width, doubts, i, eight.data());
            std::copy_n(eight.data(), std::min<int64_t>(8, count - i) * columns, out + (first + i) * columns);
        }
        with_rows([&](auto& rows) {
            if (doubts.last) replay.vote(supports, known, rows, first, doubts.bits.data(), doubts.last, out);
            block.clear(rows, first, first + count);
        });
        doubts.last = 0;
    }
    return {};
}

}  // namespace novikoff
