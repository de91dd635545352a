// Binds Winnow's loops. Rows have been checked before: finite, with indices in range.
#include "linear/winnow.h"

#include "binding.h"

namespace {

template <class Exponents>
Winnow winnow(const Exponents& exponents, const Floats& table, double theta, bool balanced, bool eliminates,
              const Rows& rows) {
    const int32_t reach = int32_t(table.shape(0)) / 2 - 1;
    if (reach < 1 || table.shape(0) % 2)
        throw std::invalid_argument("the table of weights has a wrong length");
    if (rows.d() != int64_t(exponents.shape(0))) throw std::invalid_argument("rows and exponents do not fit");
    if (balanced && eliminates) throw std::invalid_argument("balanced weights cannot be eliminated");
    for (size_t j = 0; j < exponents.shape(0); ++j)
        if (exponents.data()[j] > reach || exponents.data()[j] < -reach - !balanced)
            throw std::invalid_argument("an exponent is out of range");
    return {const_cast<int32_t*>(exponents.data()), table.data(), reach, theta, balanced, eliminates};
}

}  // namespace

void bind_winnow(nb::module_& m) {
    m.def(
        "winnow_epoch",
        [](Vector<int32_t> exponents, const Floats& table, double theta, bool balanced, bool eliminates,
           const Rows& rows, const Labels& y, const std::optional<Order>& order, int64_t begin, int64_t end) {
            Winnow w = winnow(exponents, table, theta, balanced, eliminates, rows);
            const int64_t n = rows.n(), positions = order ? int64_t(order->shape(0)) : n;
            if (int64_t(y.shape(0)) != n || begin < 0 || end < begin || end > positions)
                throw std::invalid_argument("visits out of range");
            for (int64_t t = begin; order && t < end; ++t)
                if (order->data()[t] < 0 || order->data()[t] >= n)
                    throw std::invalid_argument("order names a row out of range");
            const Visits v{y.data(), nullptr, order ? order->data() : nullptr, begin, end};
            nb::gil_scoped_release nogil;
            rows.visit([&](auto& r) { winnow_epoch(w, r, v); });
            return std::make_tuple(w.promotions, w.demotions);
        },
        nb::arg("exponents"), nb::arg("table"), nb::arg("theta"), nb::arg("balanced"), nb::arg("eliminates"),
        nb::arg("rows"), nb::arg("labels"), nb::arg("order").none(), nb::arg("begin"), nb::arg("end"),
        "Learn from a range of visits to checked rows: (promotions, demotions).");

    m.def(
        "winnow_scores",
        [](const Labels& exponents, const Floats& table, double theta, bool balanced, const Rows& rows,
           int64_t begin, int64_t end, Vector<double> out) {  // the exponents are only read
            Winnow w = winnow(exponents, table, theta, balanced, false, rows);
            if (begin < 0 || end > rows.n() || int64_t(out.shape(0)) != rows.n())
                throw std::invalid_argument("rows and output do not fit");
            nb::gil_scoped_release nogil;
            rows.visit([&](auto& r) { winnow_scores(w, r, begin, end, out.data()); });
        },
        nb::arg("exponents"), nb::arg("table"), nb::arg("theta"), nb::arg("balanced"), nb::arg("rows"),
        nb::arg("begin"), nb::arg("end"), nb::arg("out"),
        "Write the correctly rounded scores of a range of checked rows into `out`.");
}
