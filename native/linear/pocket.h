// The pocket algorithm (Gallant 1990): a perceptron learns, and its weights go into the pocket when they
// get a longer run of examples right than those in the pocket did.
//
// The loop over visits is the perceptron's own; `Streak` watches it and stops it when the run of the
// current weights is the longest so far, so that the caller can look at them. It stops once for each
// weight vector: whether it goes into the pocket or not does not change while the run continues.
#pragma once

#include "linear/loops.h"

namespace novikoff {

struct Streak {
    int64_t run = 0;      // examples that the present weights got right in a row
    int64_t longest = 0;  // the same for the weights in the pocket
    bool looked = false;  // the present weights have been looked at
    bool held = false;    // and are those in the pocket

    bool right() { return ++run > longest && !looked; }
    void wrong() {
        if (held) longest = run;
        run = 0;
        looked = held = false;
    }
};

// The weight of the rows of a range that are wrong, added to `total`; ends early when that reaches `limit`.
template <class Rows>
Outcome add_errors(Learner& m, const Rows& rows, const Visits& v, double limit, double& total) {
    std::vector<double> scratch(m.binary() ? 1 : m.stride);
    double *s = scratch.data(), slack;
    for (int64_t t = v.begin; t < v.end && total < limit; ++t) {
        const int64_t i = v.row(t), y = v.labels[i];
        const auto row = rows[i];
        const Problem problem = evaluate(m, row, s, slack);
        if (problem != Problem::none) return {problem, i};
        if (decide(m, row, s, slack) != y) total += v.weight(i);
    }
    return {};
}

}  // namespace novikoff
