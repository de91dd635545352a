// Binds the votes of an update sequence.
#include "linear/voted.h"

#include "binding.h"

namespace {

void check_sequence(const Sequence& q, int64_t supports) {
    for (int64_t k = 0; k < q.updates; ++k) {
        if (q.support[k] < 0 || q.support[k] >= supports)
            throw std::invalid_argument("an update names no support");
        if (q.classes > 2 &&
            (q.label[k] < 0 || q.label[k] >= q.classes || q.rival[k] < 0 || q.rival[k] >= q.classes))
            throw std::invalid_argument("an update names no class");
    }
}

// The block of test rows for each storage of the supports.
template <class T>
DenseBlock block_for(const DenseRows<T>&);
template <class T, class I>
SparseBlock block_for(const SparseRows<T, I>&);

// A run's updates with their supports: all hypotheses that it held.
struct Hypotheses {
    using Updates = std::tuple<Order, Labels, Labels, Floats>;  // support, label, rival, step
    nb::object owner;  // of the supports
    const Rows& supports;
    int64_t classes;
    double bias_square;
    Updates updates;
    Order survived;

    Hypotheses(nb::handle_t<Rows> of, int64_t n_classes, double square, Updates made, Order visits)
        : owner(nb::borrow(of)), supports(*nb::inst_ptr<Rows>(of)), classes(n_classes), bias_square(square),
          updates(made), survived(visits) {
        const size_t n = std::get<0>(updates).shape(0);
        if (classes < 2 || std::get<1>(updates).shape(0) != n || std::get<2>(updates).shape(0) != n ||
            std::get<3>(updates).shape(0) != n || survived.shape(0) != n + 1)
            throw std::invalid_argument("the parts of the update sequence differ in length");
    }

    Report vote(const Rows& rows, int64_t begin, int64_t end, const Table<int64_t>& out) const {
        const auto& [support, label, rival, step] = updates;
        const int64_t columns = classes == 2 ? 1 : classes;
        if (rows.d() != supports.d() || begin < 0 || end > rows.n() || int64_t(out.shape(0)) != rows.n() ||
            int64_t(out.shape(1)) != columns)
            throw std::invalid_argument("rows, supports and output do not fit");
        const Sequence q{classes,      int64_t(support.shape(0)), support.data(), step.data(), label.data(),
                         rival.data(), survived.data(),           bias_square};
        nb::gil_scoped_release nogil;
        check_sequence(q, supports.n());
        auto with_rows = [&](auto&& f) { return rows.visit(f); };
        return report(supports.visit([&](auto& z) {
            for (int64_t i = 0; i < z.n; ++i)  // anyone may have written to them since the fit
                if (!z[i].valid(z.d))
                    throw std::invalid_argument("a support has indices out of order or range");
            return votes<decltype(block_for(z))>(q, z, with_rows, begin, end, out.data());
        }));
    }
};

}  // namespace

void bind_voted(nb::module_& m) {
    nb::class_<Hypotheses>(m, "Hypotheses",
                           "All hypotheses of a run: its updates, and the rows that caused them.")
        .def(
            nb::init<nb::handle_t<Rows>, int64_t, double, Hypotheses::Updates, Order>(), nb::arg("supports"),
            nb::arg("classes"), nb::arg("bias_square"), nb::arg("updates"), nb::arg("survived"),
            "Each update has the number of its support, label, rival and step; `survived` are visits, of the "
            "weights 0 first.")
        .def(
            "vote", &Hypotheses::vote, nb::arg("rows"), nb::arg("begin"), nb::arg("end"), nb::arg("out"),
            "Write the votes on a range of rows into `out`: for the second of two classes, or for each of more.");
}
