// Binds the monotone-conjunction kernel.
#include "kernel/conjunctions.h"

#include "binding.h"
#include "hand_over.h"

namespace {

void check_range(int64_t begin, int64_t end, int64_t n) {
    if (begin < 0 || begin > end || end > n) throw std::invalid_argument("rows out of range");
}
void check_same(const Bits& a, const Bits& b) {
    if (a.d != b.d) throw std::invalid_argument("rows and supports have different numbers of columns");
}

// Only `push` is called by several threads at once, each for its own rows: it shares what all other calls
// have alone.
struct PyConjunctionLearner : ConjunctionLearner {
    InUse in_use{"the learner"};
    using ConjunctionLearner::ConjunctionLearner;
};

// Numbers of all rows as doubles and exponents: f(row, exponent).
template <class F>
auto with_exponents(int64_t n, int64_t columns, const F& f) {
    std::vector<double> values(size_t(n * columns));
    std::vector<int64_t> exponents(size_t(n * columns));
    {
        nb::gil_scoped_release nogil;
        for (int64_t k = 0; k < n * columns; ++k)
            values[size_t(k)] = f(k / columns, k % columns, exponents[size_t(k)]);
    }
    return std::make_tuple(array_of(std::move(values), {size_t(n), size_t(columns)}),
                           array_of(std::move(exponents), {size_t(n), size_t(columns)}));
}

struct PyScores {
    nb::object owner;  // of the supports
    const Bits& supports;
    Table<const int64_t> alpha;
    bool bias;
    double divisor;

    PyScores(nb::handle_t<Bits> of, Table<const int64_t> a, bool with_bias, double by)
        : owner(nb::borrow(of)), supports(*nb::inst_ptr<Bits>(of)), alpha(a), bias(with_bias), divisor(by) {
        if (int64_t(alpha.shape(0)) != supports.n)
            throw std::invalid_argument("supports and coefficients do not fit");
    }

    void scores(const Bits& rows, int64_t begin, int64_t end, const Matrix& out) const {
        check_same(rows, supports);
        check_range(begin, end, rows.n);
        const int64_t columns = int64_t(alpha.shape(1));
        if (int64_t(out.shape(0)) != rows.n || int64_t(out.shape(1)) != columns)
            throw std::invalid_argument("coefficients and scores do not fit");
        nb::gil_scoped_release nogil;
        ConjunctionScores score(supports, alpha.data(), columns, bias, divisor);
        for (int64_t i = begin; i < end; ++i) score(rows[i], rows.ones(i), out.data() + i * columns);
    }
};

struct PyVotes {
    nb::object owner;  // of the supports
    const Bits& supports;
    Order used;
    Table<const int8_t> moves;
    Floats survived;
    bool joint, bias;

    PyVotes(nb::handle_t<Bits> of, Order supports_used, Table<const int8_t> made, Floats visits, bool jointly,
            bool with_bias)
        : owner(nb::borrow(of)), supports(*nb::inst_ptr<Bits>(of)), used(supports_used), moves(made),
          survived(visits), joint(jointly), bias(with_bias) {
        const size_t updates = used.shape(0);
        if (moves.shape(0) != updates || survived.shape(0) != updates + 1 || updates >= size_t(1) << 30)
            throw std::invalid_argument("the parts of the update sequence do not fit");
    }

    void vote(const Bits& rows, int64_t begin, int64_t end, const Matrix& out) const {
        check_same(rows, supports);
        check_range(begin, end, rows.n);
        const int64_t updates = int64_t(used.shape(0)), columns = int64_t(moves.shape(1));
        if (int64_t(out.shape(0)) != rows.n || int64_t(out.shape(1)) != columns)
            throw std::invalid_argument("moves and votes do not fit");
        for (int64_t u = 0; u < updates; ++u)
            if (used.data()[u] < 0 || used.data()[u] >= supports.n)
                throw std::invalid_argument("an update names no support");
        nb::gil_scoped_release nogil;
        const ConjunctionVotes votes{supports, columns,     updates,      joint,
                                     bias,     used.data(), moves.data(), survived.data()};
        for (int64_t i = begin; i < end; ++i) votes(rows[i], out.data() + i * columns);
    }
};

}  // namespace

void bind_conjunctions(nb::module_& m) {
    nb::class_<Bits>(m, "Bits", "Rows of 0 and 1, packed into words; refuses other values.")
        .def(
            "__init__",
            [](Bits* self, const Rows& rows) {
                nb::gil_scoped_release nogil;
                rows.visit([&](auto& r) { new (self) Bits(r); });
            },
            nb::arg("rows"))
        .def_prop_ro("n", [](const Bits& b) { return b.n; })
        .def(
            "ones",
            [](const Bits& b) {
                std::vector<int64_t> ones;
                for (int64_t i = 0; i < b.n; ++i) ones.push_back(b.ones(i));
                return array_of(std::move(ones));
            },
            "How many ones each row has.")
        .def(
            "common",
            [](const Bits& a, const Bits& b) {
                check_same(a, b);
                std::vector<int64_t> out(size_t(a.n * b.n));
                {
                    nb::gil_scoped_release nogil;
                    for (int64_t i = 0; i < a.n; ++i)
                        for (int64_t j = 0; j < b.n; ++j)
                            out[size_t(i * b.n + j)] = common(a[i], b[j], a.words);
                }
                return array_of(std::move(out), {size_t(a.n), size_t(b.n)});
            },
            nb::arg("other"), "How many ones each row has in common with each row of another.");

    nb::class_<PyConjunctionLearner>(m, "ConjunctionLearner",
                                     "Exact scores of packed rows, and the perceptron on them.")
        .def(nb::init<const Bits&, int64_t, bool, bool, bool>(), nb::arg("rows"), nb::arg("columns"),
             nb::arg("joint"), nb::arg("tie_is_mistake"), nb::arg("bias"), nb::keep_alive<1, 2>())
        .def(
            "begin_with",
            [](PyConjunctionLearner& l, const Bits& supports, Table<const int64_t> alpha) {
                const Writing change(l.in_use);
                if (int64_t(alpha.shape(0)) != supports.n || int64_t(alpha.shape(1)) != l.n_columns())
                    throw std::invalid_argument("supports and coefficients do not fit");
                l.begin_with(supports, alpha.data());
            },
            nb::arg("supports"), nb::arg("alpha"))
        .def_prop_ro("n_made",
                     [](PyConjunctionLearner& l) {
                         const Writing alone(l.in_use);
                         return l.made.size();
                     })
        .def(
            "visit",
            [](PyConjunctionLearner& l, const Labels& labels, const Order& order, int64_t begin, int64_t end,
               int64_t count, int64_t limit) {
                const Writing change(l.in_use);
                check_range(begin, end, int64_t(order.shape(0)));
                if (int64_t(labels.shape(0)) != l.n())
                    throw std::invalid_argument("labels do not match the rows");
                for (int64_t t = begin; t < end; ++t)
                    if (order.data()[t] < 0 || order.data()[t] >= l.n())
                        throw std::invalid_argument("no such row");
                nb::gil_scoped_release nogil;
                return l.visit(labels.data(), order.data(), begin, end, count, limit);
            },
            nb::arg("labels"), nb::arg("order"), nb::arg("begin"), nb::arg("end"), nb::arg("count"),
            nb::arg("limit"), "Visit rows until `limit` updates have been made; the position reached.")
        .def(
            "move",
            [](PyConjunctionLearner& l, int64_t row, int64_t count, const Order& moves) {
                const Writing change(l.in_use);
                check_range(row, row + 1, l.n());
                if (int64_t(moves.shape(0)) != l.n_columns())
                    throw std::invalid_argument("as many moves as columns");
                l.move(row, count, moves.data());
            },
            nb::arg("row"), nb::arg("count"), nb::arg("moves"), "One update as given.")
        .def(
            "push",
            [](PyConjunctionLearner& l, int64_t begin, int64_t end) {
                const Reading others_have_other_rows(l.in_use);
                check_range(begin, end, l.n());
                nb::gil_scoped_release nogil;
                l.push(begin, end);
            },
            nb::arg("begin"), nb::arg("end"), "Add all updates to the scores of these rows.")
        .def(
            "made",
            [](PyConjunctionLearner& l, int64_t since) {
                const Writing alone(l.in_use);
                const int64_t n = int64_t(l.made.size()), earlier = l.updates() - n, columns = l.n_columns();
                check_range(since, n, n);
                const size_t count = size_t(n - since);
                std::vector<int64_t> row, visit;
                std::vector<double> moves(count * size_t(columns));
                for (int64_t u = since; u < n; ++u) {
                    row.push_back(l.made[size_t(u)].row);
                    visit.push_back(l.made[size_t(u)].visit);
                    l.moves(earlier + u, [&](int32_t c, int64_t m) {
                        moves[size_t((u - since) * columns + c)] = double(m);
                    });
                }
                return std::make_tuple(array_of(std::move(row)), array_of(std::move(visit)),
                                       array_of(std::move(moves), {count, size_t(columns)}));
            },
            nb::arg("since"), "Row, visit and moves of the updates made from number `since` on.")
        .def(
            "is_right",
            [](PyConjunctionLearner& l, int64_t row, int64_t label, bool strictly) {
                const Writing change(l.in_use);
                check_range(row, row + 1, l.n());
                return l.is_right(row, label, strictly);
            },
            nb::arg("row"), nb::arg("label"), nb::arg("strictly"))
        .def(
            "margins",
            [](PyConjunctionLearner& l, const Labels& labels) {
                const Writing alone(l.in_use);
                if (int64_t(labels.shape(0)) != l.n())
                    throw std::invalid_argument("labels do not match the rows");
                return with_exponents(l.n(), 1, [&](int64_t i, int64_t, int64_t& e) {
                    return l.margin(i, labels.data()[i], e);
                });
            },
            nb::arg("labels"), "The smallest y s of every row, as (x, e) for x 2^e.")
        .def(
            "norms_squared",
            [](PyConjunctionLearner& l) {
                const Writing alone(l.in_use);
                return with_exponents(1, l.n_columns(),
                                      [&](int64_t, int64_t c, int64_t& e) { return l.norm_squared(c, e); });
            },
            "What the updates made added to |w|^2 of every column, as (x, e) for x 2^e.")
        .def(
            "scores",
            [](PyConjunctionLearner& l) {
                const Writing alone(l.in_use);
                return with_exponents(l.n(), l.n_columns(),
                                      [&](int64_t i, int64_t c, int64_t& e) { return l.score(i, c, e); });
            },
            "The scores of every row, as (x, e) for x 2^e.");

    nb::class_<PyScores>(m, "ConjunctionScores", "Scores of rows by supports and their coefficients.")
        .def(nb::init<nb::handle_t<Bits>, Table<const int64_t>, bool, double>(), nb::arg("supports"),
             nb::arg("alpha"), nb::arg("bias"), nb::arg("divisor"))
        .def("scores", &PyScores::scores, nb::arg("rows"), nb::arg("begin"), nb::arg("end"), nb::arg("out"),
             "Write scores, whose signs and winners are exact, into these lines of `out`.");
    nb::class_<PyVotes>(m, "ConjunctionVotes", "Votes of all hypotheses that a run held.")
        .def(nb::init<nb::handle_t<Bits>, Order, Table<const int8_t>, Floats, bool, bool>(),
             nb::arg("supports"), nb::arg("used"), nb::arg("moves"), nb::arg("survived"), nb::arg("joint"),
             nb::arg("bias"))
        .def("vote", &PyVotes::vote, nb::arg("rows"), nb::arg("begin"), nb::arg("end"), nb::arg("out"),
             "Add the votes on these rows to `out`.");
}
