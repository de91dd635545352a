// The perceptron in its dual form, from kernel values: scores that updates are added to, votes of all
// hypotheses, and decisions.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "exact/exact.h"
#include "rows/rows.h"

namespace novikoff {

// ---- adding --------------------------------------------------------------------------------------
// What each support adds to each class's score. A support moves few classes, so only what is not zero is
// kept; what a class's score takes is added in the order of the supports, so that it is the same sum however
// they were cut into panels. The values of some supports may be `kept` from before, as columns of all rows;
// the others come in lines.
class Coefficients {
    struct Term {
        double factor;
        int64_t place;         // in a line
        const double* column;  // or here, if not null
    };
    int64_t classes;
    std::vector<Term> terms;  // class by class
    std::vector<size_t> begin;

  public:
    Coefficients(const double* coef, int64_t supports, int64_t columns,
                 const std::vector<const double*>& kept = {})
        : classes(columns), begin{0} {
        for (int64_t k = 0; k < classes; ++k) {
            for (int64_t c = 0, place = 0; c < supports; ++c) {
                const double* column = kept.empty() ? nullptr : kept[size_t(c)];
                if (double a = coef[c * classes + k]; a != 0) terms.push_back({a, place, column});
                place += !column;
            }
            begin.push_back(terms.size());
        }
    }
    // Adds to the scores of some rows, the first being row t; `line` numbers lie between one row's values and
    // the next's.
    void add(const double* values, int64_t line, int64_t t, int64_t rows, double* scores) const {
        // each step of a sum waits for the one before; four sums side by side do not
        for (int64_t r = 0; r < rows; r += 4) {
            const int64_t count = std::min<int64_t>(4, rows - r);
            const double* at[4];
            for (int64_t l = 0; l < 4; ++l) at[l] = values + std::min(r + l, rows - 1) * line;
            for (int64_t k = 0; k < classes; ++k) {
                double* mine = scores + r * classes + k;
                Vec sum{};
                for (int64_t l = 0; l < count; ++l) sum[l] = mine[l * classes];
                for (size_t e = begin[k]; e < begin[k + 1]; ++e) {
                    const Term& term = terms[e];
                    const int64_t z = term.place;
                    Vec value{};
                    if (!term.column) value = Vec{at[0][z], at[1][z], at[2][z], at[3][z]};
                    else if (count == 4) value = load4(term.column + t + r);
                    else std::memcpy(&value, term.column + t + r, size_t(count) * sizeof(double));
                    sum += term.factor * value;
                }
                for (int64_t l = 0; l < count; ++l) mine[l * classes] = sum[l];
            }
        }
    }
};

// ---- voting --------------------------------------------------------------------------------------
// Votes of the hypotheses of one class on rows of kernel values (Freund and Schapire 1999): after update k
// the score is s_k = s_{k-1} + step_k K(x, z_k), step_k = +1 or -1, and it casts survived[k] votes for its
// sign, where sign(0) = +1. Four rows go side by side. out[r * step] += sum_k survived[k] sign(s_k), with s_0
// = 0 at first.
//
// The signs are those of the exact sums. TwoSum gives the error q of each addition exactly, so the float
// score is off by at most E = the sum of all |q| so far. Where it is not farther from 0 than that, and E > 0,
// the row's sums are taken by the long accumulator.
struct ClassRun {
    int64_t updates;
    const int64_t* support;
    const double* step;
    const double* survived;  // updates + 1 counts, whole numbers
};

// sum + value, and to `error` what that was rounded by.
template <class V>
NOVIKOFF_INLINE V add_noting(V sum, V value, V& error) {
    const V s = sum + value, z = s - sum, q = (sum - (s - z)) + (value - z);
    error += q < 0 ? -q : q;
    return s;
}

// The hypotheses that the floats could not tell (in increasing order), by the exact sums.
inline double settle_votes(const ClassRun& q, const double* line, const std::vector<int64_t>& open) {
    LongAccumulator sum;
    double votes = 0;
    int64_t u = 0;
    for (int64_t k : open) {
        for (; u <= k; ++u) sum(q.step[u], line[q.support[u]]);
        LongAccumulator here = sum;
        votes += here.sign() >= 0 ? q.survived[k + 1] : -q.survived[k + 1];
    }
    return votes;
}

inline void vote(const ClassRun& q, const double* k, int64_t rows, int64_t supports, double* out,
                 int64_t out_step) {
    std::vector<int64_t> open[4];
    for (int64_t r = 0; r < rows; r += 4) {
        const double* line[4];
        for (int l = 0; l < 4; ++l) line[l] = k + std::min(r + l, rows - 1) * supports;
        Vec score{}, error{}, votes = Vec{} + q.survived[0];
        for (int64_t u = 0; u < q.updates; ++u) {
            const int64_t z = q.support[u];
            score = add_noting(score, q.step[u] * Vec{line[0][z], line[1][z], line[2][z], line[3][z]}, error);
            const Vec count = Vec{} + q.survived[u + 1];
            const Vec size = score < 0 ? -score : score;
            const auto clear = (size > error * 1.01) | (error == 0);
            votes += clear ? (score >= 0 ? count : -count) : Vec{};
            if (__builtin_expect(!(clear[0] & clear[1] & clear[2] & clear[3]), 0))
                for (int l = 0; l < 4; ++l)
                    if (!clear[l]) open[l].push_back(u);
        }
        for (int64_t l = 0; l < 4; ++l) {
            if (r + l < rows) out[(r + l) * out_step] += votes[l] + settle_votes(q, line[l], open[l]);
            open[l].clear();
        }
    }
}

// Joint classes: update u adds K to the label's score and takes it from the rival's, and each hypothesis
// votes for its highest score, the first of those tied. out[r * classes + c] += the votes for c.
struct JointRun {
    int64_t updates, classes;
    const int64_t* support;
    const int32_t *label, *rival;
    const double* survived;
};

inline void settle_joint_votes(const JointRun& q, const double* line, const std::vector<int64_t>& open,
                               double* votes) {
    std::vector<LongAccumulator> sums(size_t(q.classes));
    int64_t u = 0;
    for (int64_t k : open) {
        for (; u <= k; ++u) {
            sums[size_t(q.label[u])](1.0, line[q.support[u]]);
            sums[size_t(q.rival[u])](-1.0, line[q.support[u]]);
        }
        int64_t best = 0;
        for (int64_t c = 1; c < q.classes; ++c) {
            LongAccumulator difference = sums[size_t(c)];
            if ((difference -= sums[size_t(best)]).sign() > 0) best = c;
        }
        votes[best] += q.survived[k + 1];
    }
}

inline void vote_jointly(const JointRun& q, const double* k, int64_t rows, int64_t supports, double* out) {
    std::vector<double> score(size_t(q.classes)), error(size_t(q.classes));
    std::vector<int64_t> open;
    for (int64_t r = 0; r < rows; ++r) {
        const double* line = k + r * supports;
        double* votes = out + r * q.classes;
        std::fill(score.begin(), score.end(), 0.0);
        std::fill(error.begin(), error.end(), 0.0);
        votes[0] += q.survived[0];
        int64_t best = 0;
        bool rounded = false;
        for (int64_t u = 0; u < q.updates; ++u) {
            const double value = line[q.support[u]];
            const size_t label = size_t(q.label[u]), rival = size_t(q.rival[u]);
            const int32_t up = value >= 0 ? q.label[u] : q.rival[u];
            score[label] = add_noting(score[label], value, error[label]);
            score[rival] = add_noting(score[rival], -value, error[rival]);
            rounded |= error[label] != 0 || error[rival] != 0;
            const int64_t down = up == q.label[u] ? q.rival[u] : q.label[u];
            if (down == best) best = std::max_element(score.begin(), score.end()) - score.begin();
            else if (score[size_t(up)] > score[size_t(best)] ||
                     (score[size_t(up)] == score[size_t(best)] && up < best))
                best = up;
            bool clear = true;
            for (int64_t c = 0; rounded && c < q.classes; ++c) {
                const double room = error[size_t(c)] + error[size_t(best)];
                clear &= c == best || room == 0 || score[size_t(best)] - score[size_t(c)] > room * 1.01;
            }
            if (clear) votes[best] += q.survived[u + 1];
            else open.push_back(u);
        }
        settle_joint_votes(q, line, open, votes);
        open.clear();
    }
}

// ---- rounding ------------------------------------------------------------------------------------
// How far a float score, the sum of updates, may be from the exact one: size * slack(c), where size * size'
// bounds the kernel value of two rows. Nothing is rounded where all values are integers and their sums are
// below 2^53.
class Rounding {
    std::vector<double> slacks;

    void renew() {
        double most = 0;
        for (double w : weight) most = std::max(most, w);
        const bool exact = whole && most * largest < 0x1p52;
        for (size_t c = 0; c < weight.size(); ++c)
            slacks[c] = exact ? 0 : double(terms + 4) * 0x1p-53 * 1.01 * weight[c];
    }

  public:
    // by column of scores: the sum of |move| size, which times size is at least that of |a K|
    std::vector<double> weight;
    int64_t terms = 0;
    double largest;  // size
    bool whole;
    const bool known;  // sizes are; else an update's is the largest of its values

    Rounding(int64_t columns, double largest, bool whole, bool known)
        : slacks(size_t(columns)), weight(size_t(columns)), largest(largest), whole(whole), known(known) {}

    const std::vector<double>& slack() const { return slacks; }
    void add(const double* move, double size) {
        for (size_t c = 0; c < weight.size(); ++c) weight[c] += std::fabs(move[c]) * size;
        ++terms;
        renew();
    }
    void set_weight(const double* w) {
        std::copy(w, w + weight.size(), weight.begin());
        renew();
    }
    void set_whole(bool is) {
        whole = is;
        renew();
    }
};

// ---- deciding ------------------------------------------------------------------------------------
// Visits to a block of rows whose scores by all updates before it are known: one column per class (one for
// two classes). An update adds its kernel values to the scores of the rows to come. It stops where it needs
// something: a decision that is too close for floats, or kernel values.
class Block {
  public:
    enum class Stop { done, close, values };
    enum class Verdict { right, wrong, close };

  private:
    double* scores;
    const int32_t* labels;
    const double* sizes;
    int64_t n, classes;
    bool joint, tie_is_mistake;
    Rounding& rounding;
    std::vector<double> pending;  // the move of the current row, once it has been decided
    bool decided = false;
    std::vector<int64_t> given;  // the rows whose values have been, ...
    std::vector<double> values;  // ... side by side, from row `from` on
    int64_t from = 0;

    // score a - score b > 0: 1, 0 or -1; 2 if that is too close to tell.
    int compare(const double* s, double size, int64_t a, int64_t b) const {
        const double difference = s[a] - s[b],
                     room = size * (rounding.slack()[a] + rounding.slack()[b]) * 1.01;
        if (room > 0 && !(std::fabs(difference) > room)) return 2;
        return (difference > 0) - (difference < 0);
    }

    Verdict judge_jointly(int64_t t, double* move) const {
        const double *s = scores + t * classes, size = sizes[t];
        const int64_t y = labels[t];
        bool clear = true;
        for (int64_t c = 0; c < classes && clear; ++c) clear = c == y || compare(s, size, y, c) == 1;
        if (clear) return Verdict::right;
        int64_t best = -1;  // the first of the highest; where a tie is a mistake, of the others
        for (int64_t c = 0; c < classes; ++c) {
            if (tie_is_mistake && c == y) continue;
            const int above = best < 0 ? 1 : compare(s, size, c, best);
            if (above == 2) return Verdict::close;
            if (above == 1) best = c;
        }
        if (best == y) return Verdict::right;
        if (tie_is_mistake) {
            const int above = compare(s, size, y, best);
            if (above == 2) return Verdict::close;
            if (above == 1) return Verdict::right;
        }
        if (move) std::fill(move, move + classes, 0.0), move[y] = 1, move[best] = -1;
        return Verdict::wrong;
    }

    Verdict judge_apart(int64_t t, double* move) const {
        const double* s = scores + t * classes;
        Verdict found = Verdict::right;
        for (int64_t c = 0; c < classes; ++c) {
            const double slack = sizes[t] * rounding.slack()[c];
            const bool positive = labels[t] == (classes == 1 ? 1 : c);
            const double margin = positive ? s[c] : -s[c];
            if (margin > slack) {
                if (move) move[c] = 0;
                continue;
            }
            if (slack > 0 && margin >= -slack) return Verdict::close;
            const bool wrong = margin < 0 || !positive || tie_is_mistake;
            if (move) move[c] = wrong ? (positive ? 1 : -1) : 0;
            if (wrong) found = Verdict::wrong;
        }
        return found;
    }

    void update(const double* v, int64_t step) {
        const double* move = pending.data();
        const double* s = scores + at * classes;
        double size = sizes[at];
        if (!rounding.known) {
            size = 0;
            bool integers = rounding.whole;
            for (int64_t t = 0; t < n - at; ++t) {
                size = std::max(size, std::fabs(v[t * step]));
                integers &= v[t * step] == std::rint(v[t * step]);
            }
            rounding.whole = integers;
        }
        places.push_back(at);
        moves.insert(moves.end(), move, move + classes);
        for (int64_t c = 0; c < classes; ++c) gains.push_back(2 * move[c] * s[c] + move[c] * move[c] * v[0]);
        rounding.add(move, size);
        for (int64_t c = 0; c < classes; ++c)
            if (move[c] != 0)
                for (int64_t t = at + 1; t < n; ++t) scores[t * classes + c] += v[(t - at) * step] * move[c];
    }

  public:
    int64_t at = 0;
    std::vector<int64_t> places;  // of updates; the moves and gains of ||w||^2 that each made
    std::vector<double> moves, gains;

    Block(double* scores, const int32_t* labels, const double* sizes, int64_t n, int64_t classes, bool joint,
          bool tie_is_mistake, Rounding& rounding)
        : scores(scores), labels(labels), sizes(sizes), n(n), classes(classes), joint(joint),
          tie_is_mistake(tie_is_mistake), rounding(rounding), pending(size_t(classes)) {}

    int64_t size() const { return n; }
    size_t columns() const { return size_t(classes); }
    Verdict judge(int64_t t, double* move) const {
        return joint ? judge_jointly(t, move) : judge_apart(t, move);
    }

    // Continues until the block is done, `limit` updates have been made, or row `at` needs something.
    Stop visit(int64_t limit) {
        for (; at < n && int64_t(places.size()) < limit; ++at) {
            if (!decided) {
                const Verdict verdict = judge(at, pending.data());
                if (verdict == Verdict::right) continue;
                if (verdict == Verdict::close) return Stop::close;
                decided = true;
            }
            const auto found = std::find(given.begin(), given.end(), at);
            if (found == given.end()) return Stop::values;
            const int64_t step = int64_t(given.size());
            update(values.data() + (at - from) * step + (found - given.begin()), step);
            decided = false;
        }
        return Stop::done;
    }

    // How row `at` moves the scores, as decided by the caller: null if it is right.
    void decide(const double* move) {
        decided = move != nullptr;
        if (decided) std::copy(move, move + classes, pending.begin());
        else ++at;
    }

    // Row `at`, and the next ones that would not be right if nothing changed before them.
    std::vector<int64_t> ahead(int64_t count) const {
        std::vector<int64_t> found{at};
        for (int64_t t = at + 1; t < n && int64_t(found.size()) < count; ++t)
            if (judge(t, nullptr) != Verdict::right) found.push_back(t);
        return found;
    }

    // The kernel values of some rows (columns) with those from `at` on (lines).
    void give(const int64_t* rows, int64_t count, const double* v) {
        given.assign(rows, rows + count);
        values.assign(v, v + count * (n - at));
        from = at;
    }
};

}  // namespace novikoff
