// Binds what looks for the largest margin.
#include "linear/margins.h"

#include "hand_over.h"
#include "linear/examples.h"
#include "linear/py_learner.h"

namespace {

Hull hull_of(const Table<const double>& gram, const Vector<double>& alpha) {
    if (gram.shape(0) != gram.shape(1) || gram.shape(0) != alpha.shape(0))
        throw std::invalid_argument("the Gram matrix and the weights do not fit");
    return {gram.data(), int64_t(alpha.shape(0)), alpha.data()};
}

}  // namespace

void bind_margins(nb::module_& m) {
    m.def(
        "lowest",
        [](const PyLearner& l, const Examples& x, int64_t begin, int64_t end, int64_t k) {
            const Reading read(l.in_use);
            const Visits v = x.labelled(begin, end, l.classes);
            if (x.rows.d() != l.features || v.order || k < 1)
                throw std::invalid_argument("rows and weights do not fit");
            const int64_t pairs = (end - begin) * std::max<int64_t>(l.classes - 1, 1);
            Lowest found{size_t(std::max<int64_t>(std::min(k, pairs), 1))};
            Growing<int64_t> which;
            Growing<double> values;
            {
                nb::gil_scoped_release nogil;
                x.rows.visit([&](auto& r) { lowest(l, r, v, found); });
                found.finish();
                for (const auto& [value, pair] : found.found) which.push(pair), values.push(value);
            }
            return std::make_tuple(hand_over(which), hand_over(values));
        },
        nb::arg("learner"), nb::arg("examples"), nb::arg("begin"), nb::arg("end"), nb::arg("k"),
        "The k pairs of a range of rows with the smallest products, smallest first: (pairs, products). "
        "The rows must have been checked, and the examples have no order.");

    m.def(
        "mdm",
        [](const Table<const double>& gram, Vector<double> alpha, int64_t steps, double tolerance) {
            Hull hull = hull_of(gram, alpha);
            nb::gil_scoped_release nogil;
            return hull.mdm(steps, tolerance);
        },
        nb::arg("gram"), nb::arg("alpha"), nb::arg("steps"), nb::arg("tolerance"),
        "Improve convex weights in place by steps that move weight between two points; how many were made.");

    m.def(
        "wolfe",
        [](const Table<const double>& gram, Vector<double> alpha, int64_t rounds, double tolerance) {
            Hull hull = hull_of(gram, alpha);
            nb::gil_scoped_release nogil;
            return Corral(hull).run(rounds, tolerance);
        },
        nb::arg("gram"), nb::arg("alpha"), nb::arg("rounds"), nb::arg("tolerance"),
        "Bring convex weights in place to those of the nearest point of the hull; whether it was reached.");
}
