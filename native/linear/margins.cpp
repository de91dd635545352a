// Binds what looks for the largest margin.
#include "linear/margins.h"

#include "binding.h"

void bind_margins(nb::module_& m) {
    m.def(
        "lowest",
        [](const Rows& rows, const Labels& y, const std::optional<Floats>& c,
           Array<double, nb::ndim<2>, nb::c_contig> weights, Vector<double> bias, int64_t classes,
           int64_t begin, int64_t end, int64_t k) {
            Learner l;
            l.classes = classes;
            l.features = int64_t(weights.shape(0));
            l.stride = int64_t(weights.shape(1));
            l.weights = weights.data();
            l.bias = bias.data();
            const int64_t expected = classes == 2 ? 1 : (classes + 3) / 4 * 4;
            if (classes < 2 || l.stride != expected || int64_t(bias.shape(0)) != l.stride ||
                rows.d() != l.features || int64_t(y.shape(0)) != rows.n() ||
                (c && int64_t(c->shape(0)) != rows.n()) || begin < 0 || end < begin || end > rows.n() ||
                k < 1)
                throw std::invalid_argument("rows, labels and weights do not fit");
            for (int64_t i = begin; i < end; ++i)
                if (y.data()[i] < 0 || y.data()[i] >= classes)
                    throw std::invalid_argument("label out of range");
            const Visits v{y.data(), c ? c->data() : nullptr, nullptr, begin, end};
            const int64_t pairs = (end - begin) * std::max<int64_t>(classes - 1, 1);
            Lowest found{size_t(std::max<int64_t>(std::min(k, pairs), 1))};
            {
                nb::gil_scoped_release nogil;
                rows.visit([&](auto& r) { lowest(l, r, v, found); });
                found.finish();
            }
            const size_t n = found.found.size();
            double* values = new double[n];
            nb::capsule values_owner(values, [](void* p) noexcept { delete[] static_cast<double*>(p); });
            int64_t* which = new int64_t[n];
            nb::capsule which_owner(which, [](void* p) noexcept { delete[] static_cast<int64_t*>(p); });
            for (size_t i = 0; i < n; ++i) values[i] = found.found[i].first, which[i] = found.found[i].second;
            return std::make_tuple(nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>(which, {n}, which_owner),
                                   nb::ndarray<nb::numpy, double, nb::ndim<1>>(values, {n}, values_owner));
        },
        nb::arg("rows"), nb::arg("labels"), nb::arg("sample_weights").none(), nb::arg("weights"),
        nb::arg("bias"), nb::arg("classes"), nb::arg("begin"), nb::arg("end"), nb::arg("k"),
        "The k pairs of a range of rows with the smallest products, smallest first: (pairs, products). "
        "The rows must have been checked.");

    m.def(
        "mdm",
        [](Array<const double, nb::ndim<2>, nb::c_contig> gram, Vector<double> alpha, int64_t steps,
           double tolerance) {
            if (gram.shape(0) != gram.shape(1) || gram.shape(0) != alpha.shape(0))
                throw std::invalid_argument("the Gram matrix and the weights do not fit");
            nb::gil_scoped_release nogil;
            Hull hull(gram.data(), int64_t(alpha.shape(0)), alpha.data());
            return hull.mdm(steps, tolerance);
        },
        nb::arg("gram"), nb::arg("alpha"), nb::arg("steps"), nb::arg("tolerance"),
        "Improve convex weights in place by steps that move weight between two points; how many were made.");

    m.def(
        "wolfe",
        [](Array<const double, nb::ndim<2>, nb::c_contig> gram, Vector<double> alpha, int64_t rounds,
           double tolerance) {
            if (gram.shape(0) != gram.shape(1) || gram.shape(0) != alpha.shape(0))
                throw std::invalid_argument("the Gram matrix and the weights do not fit");
            nb::gil_scoped_release nogil;
            Hull hull(gram.data(), int64_t(alpha.shape(0)), alpha.data());
            return Corral(hull).run(rounds, tolerance);
        },
        nb::arg("gram"), nb::arg("alpha"), nb::arg("rounds"), nb::arg("tolerance"),
        "Bring convex weights in place to those of the nearest point of the hull; whether it was reached.");
}
