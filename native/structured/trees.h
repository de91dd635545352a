// Projective dependency trees: the features of arcs, their scores, and Eisner's algorithm.
//
// Words are numbered from 1; 0 stands above the root. A feature's code is a sum of its parts' hashes times
// odd factors, one for each place in each template, and a constant; its weight is at the top bits of the
// mixed code. The twin is src/novikoff/reference/trees.py.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace novikoff {

class Arcs {
    static constexpr int64_t columns = 9;  // h: word, tag, tag before, tag after; m: the same; the constant
    const int64_t n, templates;
    const uint64_t *const tags, *const extra;  // tags has two more entries than words: those beyond the ends
    const int bits;
    std::vector<uint64_t> heads, dependents;  // by template and word: a code is a sum of one of each
    std::vector<uint64_t> kinds;  // the different tags, in order
    std::vector<int32_t> kind_of;  // by word

    uint64_t tag(int64_t i) const { return tags[i + 1]; }
    uint64_t place(uint64_t code) const {
        code ^= code >> 32;
        return (code * 0x9e3779b97f4a7c15u) >> (64 - bits);
    }
    // Direction, and distance: 1, 2, 3, 4, up to 9, or more.
    static uint64_t way(int64_t h, int64_t m) {
        const int64_t distance = h < m ? m - h : h - m;
        return uint64_t((distance < 5 ? distance : distance < 10 ? 5 : 6) + (h < m ? 8 : 0) + 1);
    }

  public:
    Arcs(const uint64_t* words, const uint64_t* tags, int64_t n, const uint64_t* table, int64_t templates,
         const uint64_t* extra, int bits)
        : n(n), templates(templates), tags(tags), extra(extra), bits(bits) {
        heads.resize(size_t(templates * (n + 1)));
        dependents.resize(heads.size());
        for (int64_t t = 0; t < templates; ++t) {
            const uint64_t* const f = table + t * columns;
            for (int64_t i = 0; i <= n; ++i) {
                const uint64_t parts[4] = {words[i], tag(i), tags[i], tags[i + 2]};
                uint64_t h = f[8], m = 0;
                for (int k = 0; k < 4; ++k) h += parts[k] * f[k], m += parts[k] * f[4 + k];
                heads[size_t(t * (n + 1) + i)] = h;
                dependents[size_t(t * (n + 1) + i)] = m;
            }
        }
        kinds.assign(tags + 1, tags + n + 2);
        std::sort(kinds.begin(), kinds.end());
        kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
        for (int64_t i = 0; i <= n; ++i)
            kind_of.push_back(int32_t(std::lower_bound(kinds.begin(), kinds.end(), tag(i)) - kinds.begin()));
    }

    // The places of an arc's features except those of tags between, alone and with direction and distance.
    template <class F>
    void each(int64_t h, int64_t m, F&& use) const {
        const uint64_t away = way(h, m) * extra[0];
        for (const uint64_t added : {uint64_t(0), away})
            for (int64_t t = 0; t < templates; ++t)
                use(place(heads[size_t(t * (n + 1) + h)] + dependents[size_t(t * (n + 1) + m)] + added));
    }
    // The places of its features by tags between, of which `inside` counts each kind.
    template <class F>
    void each_between(int64_t h, int64_t m, const std::vector<int32_t>& inside, F&& use) const {
        const uint64_t across = tag(h) * extra[1] + tag(m) * extra[2] + (way(h, m) >> 3) * extra[3];
        for (size_t k = 0; k < kinds.size(); ++k)
            if (inside[k]) use(place(across + kinds[k] * extra[4]));
    }

    // Scores of all arcs, (n + 1) × (n + 1), the sums of weights in the order of the features.
    void scores(const double* w, double* out) const {
        std::vector<int32_t> inside(kinds.size());
        std::fill(out, out + (n + 1) * (n + 1), 0.0);
        for (int64_t h = 0; h <= n; ++h)
            for (const int64_t step : {int64_t(1), int64_t(-1)}) {
                std::fill(inside.begin(), inside.end(), 0);
                for (int64_t m = h + step; m >= 1 && m <= n; m += step) {
                    double own = 0, between = 0;
                    each(h, m, [&](uint64_t p) { own += w[p]; });
                    each_between(h, m, inside, [&](uint64_t p) { between += w[p]; });
                    out[h * (n + 1) + m] = own + between;
                    ++inside[size_t(kind_of[size_t(m)])];
                }
            }
    }

    // The places of the features of a tree's arcs, arc by arc.
    template <class F>
    void tree(const int64_t* head, F&& use) const {
        std::vector<int32_t> inside(kinds.size());
        for (int64_t m = 1; m <= n; ++m) {
            const int64_t h = head[m - 1];
            std::fill(inside.begin(), inside.end(), 0);
            for (int64_t i = std::min(h, m) + 1; i < std::max(h, m); ++i)
                ++inside[size_t(kind_of[size_t(i)])];
            each(h, m, use);
            each_between(h, m, inside, use);
        }
    }
};

// Eisner's algorithm (1996) for one root, in O(n³). A span from i to j has its head at one end; an open one
// has an arc between its ends, a closed one is complete but for its head's own head. S[h][m] scores the arc
// from h to m.
//
//     open(i → j)   = max_r closed(i → r) + closed(r + 1 ← j) + S[i][j]     (and with S[j][i] for i ← j)
//     closed(i → j) = max_r open(i → r) + closed(r → j)
//     closed(i ← j) = max_r closed(i ← r) + open(r ← j)
//
// The root is the r with the highest closed(1 ← r) + closed(r → n) + S[0][r]. The lowest r wins a tie,
// everywhere.
class Eisner {
    const int64_t n;
    // Spans whose right part varies are kept by their last word too, so that both parts are read in a row.
    std::vector<double> right, left, left_by_last, open_right, open_left_by_last, right_by_last;
    std::vector<int32_t> joint, split_right, split_left;

    size_t at(int64_t i, int64_t j) const { return size_t(i * n + j); }

    void heads(int64_t i, int64_t j, bool rightward, int64_t* out) const {
        while (i != j) {
            const int64_t r = rightward ? split_right[at(i, j)] : split_left[at(i, j)];
            const int64_t a = rightward ? i : r, b = rightward ? r : j;  // the open span
            out[rightward ? b : a] = (rightward ? a : b) + 1;
            const int64_t s = joint[at(a, b)];
            heads(a, s, true, out);
            heads(s + 1, b, false, out);
            rightward ? i = r : j = r;
        }
    }

  public:
    explicit Eisner(int64_t n)
        : n(n), right(size_t(n * n)), left(right), left_by_last(right), open_right(right),
          open_left_by_last(right), right_by_last(right), joint(size_t(n * n)), split_right(joint),
          split_left(joint) {}

    void operator()(const double* S, int64_t* out) {
        const int64_t width = n + 1;
        auto arc = [&](int64_t h, int64_t m) { return S[(h + 1) * width + m + 1]; };
        auto best = [](const double* a, const double* b, int64_t count, int64_t& q) {
            double top = a[0] + b[0];
            q = 0;
            for (int64_t k = 1; k < count; ++k)
                if (a[k] + b[k] > top) top = a[k] + b[k], q = k;
            return top;
        };
        for (int64_t k = 1; k < n; ++k)
            for (int64_t i = 0; i + k < n; ++i) {
                const int64_t j = i + k;
                int64_t q;
                const double both = best(&right[at(i, i)], &left_by_last[at(j, i + 1)], k, q);
                joint[at(i, j)] = int32_t(i + q);
                open_right[at(i, j)] = both + arc(i, j);
                open_left_by_last[at(j, i)] = both + arc(j, i);
                left[at(i, j)] = left_by_last[at(j, i)] =
                    best(&left[at(i, i)], &open_left_by_last[at(j, i)], k, q);
                split_left[at(i, j)] = int32_t(i + q);
                right[at(i, j)] = right_by_last[at(j, i)] =
                    best(&open_right[at(i, i + 1)], &right_by_last[at(j, i + 1)], k, q);
                split_right[at(i, j)] = int32_t(i + 1 + q);
            }
        int64_t root = 0;
        double top = -std::numeric_limits<double>::infinity();
        for (int64_t r = 0; r < n; ++r) {
            const double value = left[at(0, r)] + right[at(r, n - 1)] + S[r + 1];
            if (value > top) top = value, root = r;
        }
        out[root] = 0;
        heads(0, root, false, out);
        heads(root, n - 1, true, out);
    }
};

}  // namespace novikoff
