// Binds what training itself may ask: which rows cancel out, and passes whose sums are defined.
#include <nanobind/stl/pair.h>

#include "binding.h"
#include "hand_over.h"
#include "proof/cancelling.h"
#include "proof/passes.h"

namespace {

using WeightTable = Array<const double, nb::ndim<2>, nb::c_contig>;

void check_range(const Rows& rows, const Labels& y, int64_t classes, int64_t begin, int64_t end) {
    if (int64_t(y.shape(0)) != rows.n() || begin < 0 || end < begin || end > rows.n())
        throw std::invalid_argument("rows, labels and range do not fit");
    for (int64_t i = begin; i < end; ++i)
        if (y.data()[i] < 0 || y.data()[i] >= classes) throw std::invalid_argument("label out of range");
}

struct PyCancelling : Cancelling {
    int64_t classes;
    const Rows* rows = nullptr;
    InUse in_use{"the search for rows that cancel out"};
    PyCancelling(int64_t k, bool with_bias, bool tie) : Cancelling(k, with_bias, tie), classes(k) {}
};

struct PyPass : Pass {
    WeightTable weights_array;
    Floats bias_array;
    Lowest lowest;
    InUse in_use{"the pass"};
    PyPass(const WeightTable& w, const Floats& b, int64_t k, int64_t count)
        : Pass(w.data(), b.data(), k, int64_t(w.shape(1))), weights_array(w), bias_array(b),
          lowest(size_t(count)) {}
};

}  // namespace

void bind_asking(nb::module_& m) {
    nb::class_<PyCancelling> cancelling(m, "Cancelling",
                                        "Rows that prove inseparability by themselves, as they are met.");
    cancelling
        .def(nb::init<int64_t, bool, bool>(), nb::arg("classes"), nb::arg("lifted"),
             nb::arg("tie_is_mistake"))
        .def(
            "look",
            [](PyCancelling& c, const Rows& rows, const Labels& y, int64_t begin, int64_t end) {
                const Writing change(c.in_use);
                check_range(rows, y, c.classes, begin, end);
                if (c.rows && c.rows != &rows)
                    throw std::invalid_argument("the rows must be the same in every call");
                c.rows = &rows;
                nb::gil_scoped_release nogil;
                return rows.visit([&](auto& r) { return c.look(r, y.data(), begin, end); });
            },
            nb::arg("rows"), nb::arg("labels"), nb::arg("begin"), nb::arg("end"), nb::keep_alive<1, 2>(),
            "Go over a range of checked rows until two cancel out; the row after the last one seen.")
        .def_prop_ro(
            "strict", reads<PyCancelling>([](const PyCancelling& c) { return c.strict; }),
            "Two rows that cancel out, where some tie is a mistake; twice the same: a row of zeros; (-1, -1).")
        .def_prop_ro("lax", reads<PyCancelling>([](const PyCancelling& c) { return c.lax; }),
                     "The first two whose ties are no mistakes.")
        .def_prop_ro("nonzeros", reads<PyCancelling>([](const PyCancelling& c) { return c.nonzeros; }))
        .def_prop_ro("zero_rows", reads<PyCancelling>([](const PyCancelling& c) { return c.zero_rows; }));

    nb::class_<PyPass>(m, "Pass", "The k pairs with the smallest u.z, by sums whose rounding is defined.")
        .def(
            "__init__",
            [](PyPass* self, const WeightTable& weights, const Floats& bias, int64_t classes, int64_t count) {
                const int64_t stride = int64_t(weights.shape(1));
                if (classes < 2 || stride != (classes == 2 ? 1 : (classes + 3) / 4 * 4) ||
                    int64_t(bias.shape(0)) != stride || count < 1)
                    throw std::invalid_argument("weights, bias and classes do not fit");
                new (self) PyPass(weights, bias, classes, count);
            },
            nb::arg("weights"), nb::arg("bias"), nb::arg("classes"), nb::arg("count"))
        .def(
            "run",
            [](PyPass& p, const Rows& rows, const Labels& y, int64_t begin, int64_t end) {
                const Writing change(p.in_use);
                check_range(rows, y, p.classes, begin, end);
                if (rows.d() != int64_t(p.weights_array.shape(0)))
                    throw std::invalid_argument("rows and weights do not fit");
                nb::gil_scoped_release nogil;
                rows.visit([&](auto& r) { p.run(r, y.data(), begin, end, p.lowest); });
            },
            nb::arg("rows"), nb::arg("labels"), nb::arg("begin"), nb::arg("end"),
            "Go over a range of checked rows.")
        .def(
            "found",
            [](PyPass& p) {
                const Writing change(p.in_use);
                p.lowest.finish();
                std::vector<int64_t> pairs;
                std::vector<double> products;
                for (const auto& [product, pair] : p.lowest.found)
                    pairs.push_back(pair), products.push_back(product);
                return std::make_pair(array_of(std::move(pairs)), array_of(std::move(products)));
            },
            "(pairs, products), smallest first.");

    m.def(
        "add_rows",
        [](const Rows& rows, const Order& own, const Order& rival, const Floats& shares, Matrix weights) {
            const int64_t n = rows.n(), stride = int64_t(weights.shape(1));
            if (int64_t(own.shape(0)) != n || int64_t(rival.shape(0)) != n || int64_t(shares.shape(0)) != n ||
                int64_t(weights.shape(0)) != rows.d())
                throw std::invalid_argument("rows, shares and weights do not fit");
            for (int64_t i = 0; i < n; ++i)
                if (own.data()[i] < 0 || own.data()[i] >= stride || rival.data()[i] >= stride)
                    throw std::invalid_argument("no such class");
            nb::gil_scoped_release nogil;
            rows.visit([&](auto& r) {
                add_rows(r, own.data(), rival.data(), shares.data(), weights.data(), stride);
            });
        },
        nb::arg("rows"), nb::arg("own"), nb::arg("rival"), nb::arg("shares"), nb::arg("weights"),
        "weights[j, own] += share x[j] and weights[j, rival] -= share x[j], row by row; rival -1: none.");
}
