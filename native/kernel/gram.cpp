// Binds panels of supports: kernel values, and scores to which they are added.
#include <nanobind/stl/map.h>

#include <map>

#include "binding.h"
#include "hand_over.h"
#include "kernel/dual.h"
#include "kernel/panel.h"
#include "memory/parallel.h"

namespace {

constexpr int64_t kPart = 1024;  // rows that one thread takes at a time

void check(const Panel& panel, const Rows& rows, const std::optional<Order>& order, int64_t begin,
           int64_t end) {
    const int64_t count = order ? int64_t(order->shape(0)) : rows.n();
    if (rows.d() != panel.columns() || begin < 0 || begin > end || end > count)
        throw std::invalid_argument("rows, supports and range do not fit");
    if (order)
        for (int64_t t = begin; t < end; ++t)
            if (order->data()[t] < 0 || order->data()[t] >= rows.n())
                throw std::invalid_argument("no such row");
}

void add_scores(const Panel& panel, const Rows& rows, int64_t begin, int64_t end,
                const Table<const double>& coef, const Matrix& scores, const std::map<int64_t, Floats>& kept,
                const std::map<int64_t, Vector<double>>& keep, int64_t jobs) {
    check(panel, rows, std::nullopt, begin, end);
    const int64_t m = int64_t(coef.shape(0)), classes = int64_t(coef.shape(1)), n = rows.n();
    if (m != panel.size() + int64_t(kept.size()) || int64_t(scores.shape(0)) != n ||
        int64_t(scores.shape(1)) != classes)
        throw std::invalid_argument("coefficients and scores have other shapes");
    std::vector<const double*> columns(size_t(m), nullptr);
    for (const auto& [k, column] : kept) {
        if (k < 0 || k >= m || int64_t(column.shape(0)) != n)
            throw std::invalid_argument("a kept column does not fit");
        columns[size_t(k)] = column.data();
    }
    std::vector<std::pair<int64_t, double*>> copies;  // from which place in a line, to where
    for (const auto& [k, column] : keep) {
        if (k < 0 || k >= m || columns[size_t(k)] || int64_t(column.shape(0)) != n)
            throw std::invalid_argument("a column to be kept does not fit");
        copies.emplace_back(std::count(columns.begin(), columns.begin() + k, nullptr), column.data());
    }
    const Coefficients moves(coef.data(), m, classes, columns);
    double* to = scores.data();
    nb::gil_scoped_release nogil;
    rows.visit([&](auto& r) {
        in_parallel(begin, end, kPart, jobs, [&](int64_t first, int64_t last) {
            panel.by_groups(r, nullptr, first, last,
                            [&](int64_t t, int64_t count, const double* k, int64_t line) {
                                moves.add(k, line, t, count, to + t * classes);
                                for (const auto& [place, column] : copies)
                                    for (int64_t i = 0; i < count; ++i) column[t + i] = k[i * line + place];
                            });
        });
    });
}

// A block together with the arrays that it reads and writes, converted ones too.
struct PyBlock : Block {
    Matrix scores;
    Labels labels;
    Floats sizes;

    PyBlock(const Matrix& s, const Labels& y, const Floats& z, bool joint, bool tie_is_mistake,
            Rounding& rounding)
        : Block(s.data(), y.data(), z.data(), int64_t(s.shape(0)), int64_t(s.shape(1)), joint, tie_is_mistake,
                rounding),
          scores(s), labels(y), sizes(z) {}
};

}  // namespace

void bind_gram(nb::module_& m) {
    nb::class_<Kernel>(m, "Kernel", "The formula of a kernel of rows.")
        .def(
            "__init__",
            [](Kernel* self, const std::string& name, double gamma, double coef0, int degree, double offset) {
                new (self) Kernel(make_kernel(name, gamma, coef0, degree, offset));
            },
            nb::arg("name"), nb::arg("gamma") = 1.0, nb::arg("coef0") = 0.0, nb::arg("degree") = 1,
            nb::arg("offset") = 0.0, "`offset` is added to every value: the square of a bias coordinate.");
    nb::class_<Panel>(m, "Panel", "Some rows, ready for kernel values with many others.")
        .def(
            "__init__",
            [](Panel* self, const Kernel& kernel, const Rows& rows, const Order& which) {
                const int64_t count = int64_t(which.shape(0));
                for (int64_t c = 0; c < count; ++c)
                    if (which.data()[c] < 0 || which.data()[c] >= rows.n())
                        throw std::invalid_argument("no such row");
                nb::gil_scoped_release nogil;
                rows.visit([&](auto& r) { new (self) Panel(kernel, r, which.data(), count); });
            },
            nb::arg("kernel"), nb::arg("rows"), nb::arg("which"))
        .def_prop_ro("size", &Panel::size)
        .def(
            "values",
            [](const Panel& panel, const Rows& rows, int64_t begin, int64_t end, const Matrix& out,
               const std::optional<Order>& order, int64_t jobs) {
                check(panel, rows, order, begin, end);
                const int64_t m = panel.size();
                if (int64_t(out.shape(0)) != end - begin || int64_t(out.shape(1)) != m)
                    throw std::invalid_argument("the output has another shape");
                double* to = out.data();
                const int64_t* which = order ? order->data() : nullptr;
                nb::gil_scoped_release nogil;
                rows.visit([&](auto& r) {
                    in_parallel(begin, end, kPart, jobs, [&](int64_t first, int64_t last) {
                        panel.by_groups(r, which, first, last,
                                        [&](int64_t t, int64_t count, const double* k, int64_t line) {
                                            for (int64_t i = 0; i < count; ++i)
                                                std::memcpy(to + (t - begin + i) * m, k + i * line,
                                                            size_t(m) * sizeof(double));
                                        });
                    });
                });
            },
            nb::arg("rows"), nb::arg("begin"), nb::arg("end"), nb::arg("out"),
            nb::arg("order").none() = nb::none(), nb::arg("jobs") = 1,
            "Write the kernel values of a range of rows (lines) with the supports (columns) into `out`.")
        .def(
            "add_scores",
            [](const Panel& panel, const Rows& rows, int64_t begin, int64_t end,
               const Table<const double>& coef,
               const Matrix& scores) { add_scores(panel, rows, begin, end, coef, scores, {}, {}, 1); },
            nb::arg("rows"), nb::arg("begin"), nb::arg("end"), nb::arg("coef"), nb::arg("scores"),
            "scores[t, c] += sum over j of coef[j, c] K(row t, support j), for t from `begin` to `end`, in the "
            "order of j.")
        .def(
            "push",
            [](const Panel& panel, const Rows& rows, const Table<const double>& coef, const Matrix& scores,
               const std::map<int64_t, Floats>& kept, const std::map<int64_t, Vector<double>>& keep,
               int64_t jobs) { add_scores(panel, rows, 0, rows.n(), coef, scores, kept, keep, jobs); },
            nb::arg("rows"), nb::arg("coef"), nb::arg("scores"), nb::arg("kept"), nb::arg("keep"),
            nb::arg("jobs") = 1,
            "The same for all rows, with columns of values that are known or wanted.\n\n"
            "The values of those j that `kept` names are its columns; the panel's supports are the others. "
            "`keep` names\ncolumns that values are written to.");
    m.def(
        "add_products",
        [](Table<const double> values, Table<const double> coef, Matrix scores) {
            const int64_t n = int64_t(values.shape(0)), m = int64_t(values.shape(1)),
                          classes = int64_t(coef.shape(1));
            if (int64_t(coef.shape(0)) != m || int64_t(scores.shape(0)) != n ||
                int64_t(scores.shape(1)) != classes)
                throw std::invalid_argument("values, coefficients and scores do not fit");
            const Coefficients moves(coef.data(), m, classes);
            const double* k = values.data();
            double* to = scores.data();
            nb::gil_scoped_release nogil;
            moves.add(k, m, 0, n, to);
        },
        nb::arg("values"), nb::arg("coef"), nb::arg("scores"),
        "scores[t, c] += sum over j of values[t, j] coef[j, c], added in the order of j.");
    nb::class_<Rounding>(m, "Rounding", "How far float scores may be from the exact ones: size times slack.")
        .def(nb::init<int64_t, double, bool, bool>(), nb::arg("columns"), nb::arg("largest"),
             nb::arg("whole"), nb::arg("known"),
             "`known`: the sizes of rows are; otherwise those of values are.")
        .def_ro("terms", &Rounding::terms)
        .def_ro("known", &Rounding::known)
        .def_prop_rw(
            "whole", [](const Rounding& r) { return r.whole; }, &Rounding::set_whole)
        .def_prop_rw(
            "weight", [](const Rounding& r) { return array_of(r.weight); },
            [](Rounding& r, const Floats& weight) {
                if (weight.shape(0) != r.weight.size()) throw std::invalid_argument("one weight per column");
                r.set_weight(weight.data());
            },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "slack", [](const Rounding& r) { return array_of(r.slack()); }, nb::rv_policy::automatic,
            "For a row of size 1, by column of scores.")
        .def(
            "add",
            [](Rounding& r, const Floats& move, double size) {
                if (move.shape(0) != r.weight.size()) throw std::invalid_argument("one move per column");
                r.add(move.data(), size);
            },
            nb::arg("move"), nb::arg("size"), "One more update, and the size of its support.");
    nb::class_<PyBlock>(m, "Block",
                        "Visits to a block of rows: stops where it needs a decision or kernel values.")
        .def(
            "__init__",
            [](PyBlock* self, Matrix scores, const Labels& labels, const Floats& sizes, bool joint,
               bool tie_is_mistake, Rounding& rounding) {
                const int64_t n = int64_t(scores.shape(0)), classes = int64_t(scores.shape(1));
                if (int64_t(labels.shape(0)) != n || int64_t(sizes.shape(0)) != n ||
                    rounding.weight.size() != size_t(classes))
                    throw std::invalid_argument("scores, labels and sizes do not fit");
                for (int64_t t = 0; joint && t < n; ++t)
                    if (labels.data()[t] < 0 || labels.data()[t] >= classes)
                        throw std::invalid_argument("no such class");
                new (self) PyBlock(scores, labels, sizes, joint, tie_is_mistake, rounding);
            },
            nb::arg("scores"), nb::arg("labels"), nb::arg("sizes"), nb::arg("joint"),
            nb::arg("tie_is_mistake"), nb::arg("rounding"), nb::keep_alive<1, 7>())
        .def_ro("at", &PyBlock::at)
        .def(
            "visit",
            [](PyBlock& b, int64_t limit) {
                const char* names[] = {"done", "close", "values"};
                return names[int(b.visit(limit))];
            },
            nb::arg("limit"),
            "Continue until all is 'done' or `limit` updates are made; or row `at` is too 'close', or needs 'values'.")
        .def(
            "decide",
            [](PyBlock& b, std::optional<Floats> move) {
                if (move && move->shape(0) != b.columns()) throw std::invalid_argument("one move per column");
                if (b.at >= b.size()) throw std::invalid_argument("no row to be decided");
                b.decide(move ? move->data() : nullptr);
            },
            nb::arg("move").none(), "How row `at` moves the scores; None if it is right.")
        .def(
            "ahead", [](const PyBlock& b, int64_t count) { return array_of(b.ahead(count)); },
            nb::arg("count"), "Row `at`, and the next ones that look wrong.")
        .def(
            "give",
            [](PyBlock& b, const Order& rows, Table<const double> values) {
                if (values.shape(1) != rows.shape(0) || int64_t(values.shape(0)) != b.size() - b.at)
                    throw std::invalid_argument("values do not fit");
                b.give(rows.data(), int64_t(rows.shape(0)), values.data());
            },
            nb::arg("rows"), nb::arg("values"),
            "Kernel values of some rows (columns) with those from `at` on (lines).")
        .def(
            "made",
            [](const PyBlock& b, size_t since) {
                if (since > b.places.size()) throw std::invalid_argument("there are not so many updates");
                const size_t columns = b.columns(), first = since * columns, count = b.places.size() - since;
                return std::make_tuple(
                    array_of(std::vector<int64_t>(b.places.begin() + since, b.places.end())),
                    array_of(std::vector<double>(b.moves.begin() + first, b.moves.end()), {count, columns}),
                    array_of(std::vector<double>(b.gains.begin() + first, b.gains.end()), {count, columns}));
            },
            nb::arg("since"), "Of the updates from a number on: rows, moves, and gains of |w|^2.");
    m.def(
        "kernel_votes",
        [](Table<const double> values, const Order& support, const Floats& step, const Floats& survived,
           int64_t column, Matrix out) {
            const int64_t rows = int64_t(values.shape(0)), supports = int64_t(values.shape(1));
            const int64_t updates = int64_t(support.shape(0)), columns = int64_t(out.shape(1));
            if (int64_t(step.shape(0)) != updates || int64_t(survived.shape(0)) != updates + 1 ||
                int64_t(out.shape(0)) != rows || column < 0 || column >= columns)
                throw std::invalid_argument("the parts of the update sequence do not fit");
            for (int64_t u = 0; u < updates; ++u)
                if (support.data()[u] < 0 || support.data()[u] >= supports)
                    throw std::invalid_argument("an update names no support");
            const ClassRun q{updates, support.data(), step.data(), survived.data()};
            nb::gil_scoped_release nogil;
            vote(q, values.data(), rows, supports, out.data() + column, columns);
        },
        nb::arg("values"), nb::arg("support"), nb::arg("step"), nb::arg("survived"), nb::arg("column"),
        nb::arg("out"),
        "Add the votes of one class's hypotheses, for (+) or against (-) it, to a column of `out`.");
    m.def(
        "joint_kernel_votes",
        [](Table<const double> values, const Order& support, const Labels& label, const Labels& rival,
           const Floats& survived, Matrix out) {
            const int64_t rows = int64_t(values.shape(0)), supports = int64_t(values.shape(1));
            const int64_t updates = int64_t(support.shape(0)), classes = int64_t(out.shape(1));
            if (int64_t(label.shape(0)) != updates || int64_t(rival.shape(0)) != updates ||
                int64_t(survived.shape(0)) != updates + 1 || int64_t(out.shape(0)) != rows || classes < 1)
                throw std::invalid_argument("the parts of the update sequence do not fit");
            for (int64_t u = 0; u < updates; ++u)
                if (support.data()[u] < 0 || support.data()[u] >= supports || label.data()[u] < 0 ||
                    label.data()[u] >= classes || rival.data()[u] < 0 || rival.data()[u] >= classes)
                    throw std::invalid_argument("an update names no support or no class");
            const JointRun q{updates, classes, support.data(), label.data(), rival.data(), survived.data()};
            nb::gil_scoped_release nogil;
            vote_jointly(q, values.data(), rows, supports, out.data());
        },
        nb::arg("values"), nb::arg("support"), nb::arg("label"), nb::arg("rival"), nb::arg("survived"),
        nb::arg("out"), "Add the votes of all hypotheses for each class to `out`.");
}
