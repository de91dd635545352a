// Binds Winnow's loops. Rows have been checked before: finite, with indices in range.
#include "linear/winnow.h"

#include "linear/examples.h"

namespace {

// What the weights of all classes share.
struct PyWinnow {
    Floats table;
    double theta;
    bool balanced, eliminates;

    PyWinnow(Floats powers, double threshold, bool two_weights, bool eliminate)
        : table(powers), theta(threshold), balanced(two_weights), eliminates(eliminate) {
        if (reach() < 1 || table.shape(0) % 2)
            throw std::invalid_argument("the table of weights has a wrong length");
        if (balanced && eliminates) throw std::invalid_argument("balanced weights cannot be eliminated");
    }
    int32_t reach() const { return int32_t(table.shape(0)) / 2 - 1; }

    template <class Exponents>
    Winnow with(const Exponents& exponents, const Rows& rows) const {
        if (rows.d() != int64_t(exponents.shape(0)))
            throw std::invalid_argument("rows and exponents do not fit");
        for (size_t j = 0; j < exponents.shape(0); ++j)
            if (exponents.data()[j] > reach() || exponents.data()[j] < -reach() - !balanced)
                throw std::invalid_argument("an exponent is out of range");
        Winnow w;
        w.exponents = const_cast<int32_t*>(exponents.data());  // those of `scores` are only read
        w.table = table.data(), w.reach = reach(), w.theta = theta;
        w.balanced = balanced, w.eliminates = eliminates;
        return w;
    }
};

}  // namespace

void bind_winnow(nb::module_& m) {
    nb::class_<PyWinnow>(m, "Winnow", "What an exponent weighs, and how Winnow decides.")
        .def(nb::init<Floats, double, bool, bool>(), nb::arg("table"), nb::arg("theta"), nb::arg("balanced"),
             nb::arg("eliminates") = false)
        .def(
            "epoch",
            [](const PyWinnow& winnow, const Vector<int32_t>& exponents, const Examples& x, int64_t begin,
               int64_t end) {
                Winnow w = winnow.with(exponents, x.rows);
                const Visits v = x.labelled(begin, end);
                nb::gil_scoped_release nogil;
                x.rows.visit([&](auto& r) { winnow_epoch(w, r, v); });
                return std::make_tuple(w.promotions, w.demotions);
            },
            nb::arg("exponents"), nb::arg("examples"), nb::arg("begin"), nb::arg("end"),
            "Learn from a range of visits to checked rows: (promotions, demotions).")
        .def(
            "scores",
            [](const PyWinnow& winnow, const Labels& exponents, const Rows& rows, int64_t begin, int64_t end,
               Vector<double> out) {
                Winnow w = winnow.with(exponents, rows);
                if (begin < 0 || end > rows.n() || int64_t(out.shape(0)) != rows.n())
                    throw std::invalid_argument("rows and output do not fit");
                nb::gil_scoped_release nogil;
                rows.visit([&](auto& r) { winnow_scores(w, r, begin, end, out.data()); });
            },
            nb::arg("exponents"), nb::arg("rows"), nb::arg("begin"), nb::arg("end"), nb::arg("out"),
            "Write the correctly rounded scores of a range of checked rows into `out`.");
}
