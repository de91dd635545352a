// Binds panels of supports: kernel values, and scores to which they are added.
#include "gram.h"

#include "binding.h"

namespace {

void check(const Panel& panel, const Rows& rows, const std::optional<Order>& order, int64_t begin, int64_t end) {
    const int64_t count = order ? int64_t(order->shape(0)) : rows.n();
    if (rows.d() != panel.columns() || begin < 0 || begin > end || end > count)
        throw std::invalid_argument("rows, supports and range do not fit");
    if (order)
        for (int64_t t = begin; t < end; ++t)
            if (order->data()[t] < 0 || order->data()[t] >= rows.n()) throw std::invalid_argument("no such row");
}

}  // namespace

void bind_gram(nb::module_& m) {
    nb::class_<Panel>(m, "Panel", "Some rows, ready for kernel values with many others.")
        .def(
            "__init__",
            [](Panel* self, const std::string& kernel, double gamma, double coef0, int degree, double offset,
               const Rows& rows, const Order& which) {
                const int64_t count = int64_t(which.shape(0));
                for (int64_t c = 0; c < count; ++c)
                    if (which.data()[c] < 0 || which.data()[c] >= rows.n()) throw std::invalid_argument("no such row");
                const Kernel k = make_kernel(kernel, gamma, coef0, degree, offset);
                nb::gil_scoped_release nogil;
                rows.visit([&](auto& r) { new (self) Panel(k, r, which.data(), count); });
            },
            nb::arg("kernel"), nb::arg("gamma"), nb::arg("coef0"), nb::arg("degree"), nb::arg("offset"), nb::arg("rows"),
            nb::arg("which"))
        .def_prop_ro("size", &Panel::size)
        .def(
            "values",
            [](const Panel& panel, const Rows& rows, std::optional<Order> order, int64_t begin, int64_t end,
               Array<double, nb::ndim<2>, nb::c_contig> out) {
                check(panel, rows, order, begin, end);
                const int64_t m = panel.size();
                if (int64_t(out.shape(0)) != end - begin || int64_t(out.shape(1)) != m)
                    throw std::invalid_argument("the output has another shape");
                double* to = out.data();
                nb::gil_scoped_release nogil;
                rows.visit([&](auto& r) {
                    panel.by_groups(r, order ? order->data() : nullptr, begin, end,
                                    [&](int64_t t, int64_t count, const double* k) {
                                        std::memcpy(to + (t - begin) * m, k, size_t(count * m) * sizeof(double));
                                    });
                });
            },
            nb::arg("rows"), nb::arg("order").none(), nb::arg("begin"), nb::arg("end"), nb::arg("out"),
            "Write the kernel values of a range of rows (lines) with the supports (columns) into `out`.")
        .def(
            "add_scores",
            [](const Panel& panel, const Rows& rows, std::optional<Order> order, int64_t begin, int64_t end,
               Array<const double, nb::ndim<2>, nb::c_contig> coef, Array<double, nb::ndim<2>, nb::c_contig> scores) {
                check(panel, rows, order, begin, end);
                const int64_t m = panel.size(), classes = int64_t(coef.shape(1));
                const int64_t lines = order ? int64_t(order->shape(0)) : rows.n();
                if (int64_t(coef.shape(0)) != m || int64_t(scores.shape(0)) != lines || int64_t(scores.shape(1)) != classes)
                    throw std::invalid_argument("coefficients and scores have other shapes");
                const Coefficients moves(coef.data(), m, classes);
                double* to = scores.data();
                nb::gil_scoped_release nogil;
                rows.visit([&](auto& r) {
                    panel.by_groups(r, order ? order->data() : nullptr, begin, end,
                                    [&](int64_t t, int64_t count, const double* k) {
                                        moves.add(k, count, to + t * classes);
                                    });
                });
            },
            nb::arg("rows"), nb::arg("order").none(), nb::arg("begin"), nb::arg("end"), nb::arg("coef"),
            nb::arg("scores"), "scores[t, c] += sum over the supports of coef[support, c] K(row t, support).");
    m.def(
        "add_products",
        [](Array<const double, nb::ndim<2>, nb::c_contig> values, Array<const double, nb::ndim<2>, nb::c_contig> coef,
           Array<double, nb::ndim<2>, nb::c_contig> scores) {
            const int64_t n = int64_t(values.shape(0)), m = int64_t(values.shape(1)), classes = int64_t(coef.shape(1));
            if (int64_t(coef.shape(0)) != m || int64_t(scores.shape(0)) != n || int64_t(scores.shape(1)) != classes)
                throw std::invalid_argument("values, coefficients and scores do not fit");
            const Coefficients moves(coef.data(), m, classes);
            const double* k = values.data();
            double* to = scores.data();
            nb::gil_scoped_release nogil;
            moves.add(k, n, to);
        },
        nb::arg("values"), nb::arg("coef"), nb::arg("scores"),
        "scores[t, c] += sum over j of values[t, j] coef[j, c], added in the order of j.");
    m.def(
        "first_in_doubt",
        [](Array<const double, nb::ndim<2>, nb::c_contig> scores, const Labels& labels, const Floats& size,
           const Floats& slack, bool joint, bool tie_is_mistake, int64_t begin) {
            const int64_t n = int64_t(scores.shape(0));
            if (int64_t(labels.shape(0)) != n || int64_t(size.shape(0)) != n || slack.shape(0) != scores.shape(1))
                throw std::invalid_argument("scores, labels and slack do not fit");
            const Deciding how{int64_t(scores.shape(1)), joint, tie_is_mistake, slack.data(), size.data()};
            nb::gil_scoped_release nogil;
            return first_in_doubt(how, scores.data(), labels.data(), begin, n);
        },
        nb::arg("scores"), nb::arg("labels"), nb::arg("size"), nb::arg("slack"), nb::arg("joint"),
        nb::arg("tie_is_mistake"), nb::arg("begin"),
        "The first row from `begin` whose scores are a mistake or too close to tell; their number if none.");
    m.def(
        "kernel_votes",
        [](Array<const double, nb::ndim<2>, nb::c_contig> values, const Order& support, const Floats& step,
           const Floats& survived, int64_t column, Array<double, nb::ndim<2>, nb::c_contig> out) {
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
        nb::arg("values"), nb::arg("support"), nb::arg("step"), nb::arg("survived"), nb::arg("column"), nb::arg("out"),
        "Add the votes of one class's hypotheses, for (+) or against (-) it, to a column of `out`.");
    m.def(
        "joint_kernel_votes",
        [](Array<const double, nb::ndim<2>, nb::c_contig> values, const Order& support, const Labels& label,
           const Labels& rival, const Floats& survived, Array<double, nb::ndim<2>, nb::c_contig> out) {
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
