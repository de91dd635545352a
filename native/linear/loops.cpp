// Binds the loops over rows: learning, checking, looking for what is wrong, predicting.
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 takes the optional arrays of Examples, which nanobind destroys, for uninitialised ones.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include "linear/loops.h"

#include "hand_over.h"
#include "linear/examples.h"
#include "linear/pocket.h"
#include "linear/py_learner.h"
#include "rows/riffle.h"

namespace {

// What the loops write to, and who uses it.
struct PyDigest : Digest {
    InUse in_use{"the digest"};
};
struct PyStreak : Streak {
    InUse in_use{"the streak"};
};

Visits visits_for(const Learner& l, const Examples& x, int64_t begin, int64_t end) {
    if (l.adapts() && !l.confidences) throw std::invalid_argument("the learner has no confidences");
    if (x.rows.d() > l.features)
        throw std::invalid_argument("rows have more features than there are weights");
    return x.labelled(begin, end, l.classes);
}

// Dense rows need the keys of all columns; sparse rows make the few that they need.
void prepare(Digest& digest, const Rows& rows) {
    rows.visit([&](auto& r) {
        if (std::decay_t<decltype(r)>::kDense) digest.prepare(r.d);
    });
}

void add(PyDigest& digest, const Examples& x, int64_t begin, int64_t end) {
    const Visits v = x.labelled(begin, end);
    const Writing change(digest.in_use);
    nb::gil_scoped_release nogil;
    prepare(digest, x.rows);
    x.rows.visit([&](auto& r) {
        for (int64_t t = v.begin; t < v.end; ++t) {
            const int64_t i = v.row(t);
            digest.add(digest.hash(r[i]), v.labels[i], v.weight(i));
        }
    });
}

Report learn(PyLearner& l, const Examples& x, int64_t begin, int64_t end, bool first, PyDigest* digest) {
    const Writing change(l.in_use);
    std::optional<Writing> change_digest;
    if (digest) change_digest.emplace(digest->in_use);
    const Visits v = visits_for(l, x, begin, end);
    nb::gil_scoped_release nogil;
    if (digest && first) prepare(*digest, x.rows);
    return report(x.rows.visit([&](auto& stored) {
        const auto r = measured_by(l, stored);
        if (l.binary()) return first ? epoch<true, true>(l, r, v, {}, digest) : epoch<false, true>(l, r, v);
        return first ? epoch<true, false>(l, r, v, {}, digest) : epoch<false, false>(l, r, v);
    }));
}

Report learn_until_longest(PyLearner& l, PyStreak& streak, const Examples& x, int64_t begin, int64_t end) {
    const Writing change(l.in_use), change_streak(streak.in_use);
    Streak& run = streak;
    const Visits v = visits_for(l, x, begin, end);
    nb::gil_scoped_release nogil;
    return report(x.rows.visit([&](auto& stored) {
        const auto r = measured_by(l, stored);
        return l.binary() ? epoch<false, true>(l, r, v, run) : epoch<false, false>(l, r, v, run);
    }));
}

auto errors_added(PyLearner& l, const Examples& x, int64_t begin, int64_t end, double limit, double total) {
    const Writing change(l.in_use);
    const Visits v = visits_for(l, x, begin, end);
    nb::gil_scoped_release nogil;
    const Outcome o =
        x.rows.visit([&](auto& r) { return add_errors(l, measured_by(l, r), v, limit, total); });
    return std::make_tuple(std::string(name(o.problem)), o.row, total);
}

auto scanned(PyLearner& l, const Examples& x, int64_t begin, int64_t end, PyDigest* digest) {
    const Writing change(l.in_use);
    std::optional<Writing> change_digest;
    if (digest) change_digest.emplace(digest->in_use);
    if (x.rows.d() > l.features)
        throw std::invalid_argument("rows have more features than there are weights");
    const Visits v = digest ? x.labelled(begin, end) : x.visits(begin, end);
    Learner seen;
    seen.features = x.rows.d();
    seen.bias2 = l.bias2;
    seen.square_low = l.square_low;  // what is smaller need not be measured
    seen.measures = l.measures;
    nb::gil_scoped_release nogil;
    if (digest) prepare(*digest, x.rows);
    const Scan s = x.rows.visit([&](auto& r) { return scan(seen, measured_by(l, r), v, digest); });
    const bool fine = s.outcome.problem == Problem::none;
    if (fine) l.take(seen);
    return std::make_tuple(std::string(name(s.outcome.problem)), s.outcome.row,
                           fine && l.may_overflow(end - begin, s.smallest_norm, s.heaviest));
}

auto smallest_of(PyLearner& l, const Examples& x, int64_t begin, int64_t end, bool guarded, bool stop) {
    const Writing change(l.in_use);
    const Visits v = visits_for(l, x, begin, end);
    nb::gil_scoped_release nogil;
    const Smallest s =
        x.rows.visit([&](auto& r) { return smallest(l, measured_by(l, r), v, guarded, stop); });
    return std::make_tuple(std::string(name(s.outcome.problem)), s.outcome.row, s.value, s.row, s.hurts,
                           s.wrong, s.least);
}

Made<double> row_norms(const Rows& rows, double bias_square, const std::optional<Floats>& factors) {
    Growing<double> out;
    double* const norms = out.extend(size_t(rows.n()));
    if (factors && int64_t(factors->shape(0)) < rows.d())
        throw std::invalid_argument("there are fewer factors than columns");
    Learner l;
    l.bias2 = bias_square;
    l.factors = factors ? factors->data() : nullptr;
    rows.visit([&](auto& stored) {
        const auto r = measured_by(l, stored);
        for (int64_t i = 0; i < r.n; ++i) norms[i] = l.row_norm(r[i], r[i].norm2());
    });
    return hand_over(out);
}

void column_sizes(const Examples& x, int64_t begin, int64_t end, Vector<double> sizes) {
    const int64_t d = x.rows.d();
    if (int64_t(sizes.shape(0)) < d) throw std::invalid_argument("there are fewer sizes than columns");
    const Visits v = x.visits(begin, end);
    nb::gil_scoped_release nogil;
    x.rows.visit([&](auto& r) {
        for (int64_t t = v.begin; t < v.end; ++t) add_sizes(r[v.row(t)], d, sizes.data());
    });
}

int64_t add_columns(const Rows& rows, Array<double, nb::shape<-1, 5>, nb::c_contig> sums) {
    if (rows.d() > int64_t(sums.shape(0))) throw std::invalid_argument("the sums have too few columns");
    double* out = sums.data();
    nb::gil_scoped_release released;
    return rows.visit([&](auto& r) -> int64_t {
        for (int64_t i = 0; i < r.n; ++i) {
            if (!r[i].valid(r.d)) return i;
            r[i].for_each([&](int64_t j, double x) { add_to_column(out + 5 * j, x); });
        }
        return -1;
    });
}

Report predicted(PyLearner& l, const Rows& rows, int64_t begin, int64_t end, Vector<int32_t> out) {
    const Writing change(l.in_use);  // it counts
    if (rows.d() != l.features || int64_t(out.shape(0)) != rows.n() || begin < 0 || end > rows.n())
        throw std::invalid_argument("rows, weights and output do not fit");
    nb::gil_scoped_release nogil;
    return report(rows.visit([&](auto& r) { return predict(l, measured_by(l, r), begin, end, out.data()); }));
}

Report scored(PyLearner& l, const Rows& rows, int64_t begin, int64_t end, Array<double, nb::c_contig> out) {
    const Writing change(l.in_use);
    const int64_t columns = l.binary() ? 1 : l.classes;
    if (rows.d() != l.features || int64_t(out.size()) != rows.n() * columns || begin < 0 || end > rows.n())
        throw std::invalid_argument("rows, weights and output do not fit");
    nb::gil_scoped_release nogil;
    return report(rows.visit([&](auto& r) { return scores(l, measured_by(l, r), begin, end, out.data()); }));
}

void check_piles(size_t piles) {
    if (piles == 0 || piles > 256 || (piles & (piles - 1)))
        throw std::invalid_argument("the number of piles must be a power of two, at most 256");
}

void draws_counted(const Bytes& draws, Vector<int64_t> sizes) {
    check_piles(sizes.size());
    nb::gil_scoped_release released;
    count_draws(draws.data(), int64_t(draws.size()), int64_t(sizes.size()), sizes.data());
}

Made<int64_t> dealt(const Bytes& draws, Vector<int64_t> next, int64_t n) {
    check_piles(next.size());
    Growing<int64_t> out;
    int64_t* const order = out.extend(draws.size());
    {
        nb::gil_scoped_release released;
        deal(draws.data(), int64_t(draws.size()), int64_t(next.size()), n, next.data(), order);
    }
    return hand_over(out);
}

}  // namespace

void bind_loops(nb::module_& m) {
    nb::class_<Examples>(m, "Examples", "Rows with labels and weights, and the order of their visits.")
        .def(
            nb::init<nb::handle_t<Rows>, const std::optional<Labels>&, const std::optional<Floats>&,
                     const std::optional<Order>&>(),
            nb::arg("rows"), nb::arg("labels").none() = nb::none(), nb::arg("weights").none() = nb::none(),
            nb::arg("order").none() = nb::none(),
            "Without weights each is 1; without an order rows are visited as they lie. Visit t is to row order[t].");

    nb::class_<PyDigest> digest(m, "Digest",
                                "A digest of examples by their values, in any storage, order and blocks.");
    guarded(digest, "value", &PyDigest::value);
    guarded(digest, "count", &PyDigest::count);
    digest.def(nb::init<>())
        .def("add", &add, nb::arg("examples"), nb::arg("begin"), nb::arg("end"),
             "Add the visits of a range, without checking the rows.");

    nb::class_<PyStreak> streak(m, "Streak",
                                "Runs of right examples: of the current weights and of those in the pocket.");
    streak.def(nb::init<>());
    guarded(streak, "run", &PyStreak::run);
    guarded(streak, "longest", &PyStreak::longest);
    guarded(streak, "looked", &PyStreak::looked);
    guarded(streak, "held", &PyStreak::held);

    m.def("epoch", &learn, nb::arg("learner"), nb::arg("examples"), nb::arg("begin"), nb::arg("end"),
          nb::arg("first") = false, nb::arg("digest").none() = nb::none(),
          "Learn from a range of visits; `first` checks each row as it comes, and adds it to the digest. "
          "Returns (problem, row).");
    m.def(
        "pocket_epoch", &learn_until_longest, nb::arg("learner"), nb::arg("streak"), nb::arg("examples"),
        nb::arg("begin"), nb::arg("end"),
        "As `epoch`, but stops where weights that have not been looked at have the longest run: the learner's "
        "visits tell where.");
    m.def("add_errors", &errors_added, nb::arg("learner"), nb::arg("examples"), nb::arg("begin"),
          nb::arg("end"), nb::arg("limit"), nb::arg("total"),
          "`total` plus the weight of the wrong rows of a range, up to `limit`: (problem, row, total).");
    m.def(
        "scan", &scanned, nb::arg("learner"), nb::arg("examples"), nb::arg("begin"), nb::arg("end"),
        nb::arg("digest").none() = nb::none(),
        "Check rows without learning, add them to the digest, and take over their norms: (problem, row, may "
        "learning them overflow).");
    m.def(
        "smallest", &smallest_of, nb::arg("learner"), nb::arg("examples"), nb::arg("begin"), nb::arg("end"),
        nb::arg("guarded"), nb::arg("stop"),
        "The smallest difference: (problem, row, value, its row, whether a tie there hurts, whether a row is "
        "wrong, the value rounded down).");
    m.def("row_norms", &row_norms, nb::arg("rows"), nb::arg("bias_square"),
          nb::arg("factors").none() = nb::none(),
          "The norm of every row with its bias coordinate; with factors that of the row times these.");
    m.def("column_sizes", &column_sizes, nb::arg("examples"), nb::arg("begin"), nb::arg("end"),
          nb::arg("sizes"),
          "Raise each column's size to its largest |x| over a range of visits; NaN is passed over.");
    m.def(
        "add_columns", &add_columns, nb::arg("rows"), nb::arg("sums"),
        "Add to every column its sum and sum of squares, two doubles each, and its largest size; the first bad "
        "row or -1.");
    m.def("count_draws", &draws_counted, nb::arg("draws"), nb::arg("sizes"),
          "Add to the size of each pile the number of draws that name it, as the remainder of a byte.");
    m.def(
        "deal", &dealt, nb::arg("draws"), nb::arg("next"), nb::arg("n"),
        "The rows that these draws take from the piles of a circle of n rows; `next` has the next row of each.");
    m.def("predict", &predicted, nb::arg("learner"), nb::arg("rows"), nb::arg("begin"), nb::arg("end"),
          nb::arg("out"), "Write the exact class of a range of rows into `out`.");
    m.def("scores", &scored, nb::arg("learner"), nb::arg("rows"), nb::arg("begin"), nb::arg("end"),
          nb::arg("out"), "Write scores whose sign or argmax is exact into `out`.");
}
