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

// Which block of test rows goes with which storage of the supports.
template <class T>
DenseBlock block_for(const DenseRows<T>&);
template <class T, class I>
SparseBlock block_for(const SparseRows<T, I>&);

}  // namespace

void bind_voted(nb::module_& m) {
    m.def(
        "votes",
        [](const Rows& supports, const Order& support, const Floats& step, const Labels& label,
           const Labels& rival, const Order& survived, int64_t classes, double bias_square, const Rows& rows,
           int64_t begin, int64_t end, Array<int64_t, nb::ndim<2>, nb::c_contig> out) {
            const int64_t updates = int64_t(support.shape(0)), columns = classes == 2 ? 1 : classes;
            if (classes < 2 || int64_t(step.shape(0)) != updates || int64_t(label.shape(0)) != updates ||
                int64_t(rival.shape(0)) != updates || int64_t(survived.shape(0)) != updates + 1)
                throw std::invalid_argument("the parts of the update sequence differ in length");
            if (rows.d() != supports.d() || begin < 0 || end > rows.n() ||
                int64_t(out.shape(0)) != rows.n() || int64_t(out.shape(1)) != columns)
                throw std::invalid_argument("rows, supports and output do not fit");
            const Sequence q{classes,      updates,      support.data(),  step.data(),
                             label.data(), rival.data(), survived.data(), bias_square};
            nb::gil_scoped_release nogil;
            check_sequence(q, supports.n());
            auto with_rows = [&](auto&& f) { return rows.visit(f); };
            return report(supports.visit([&](auto& z) {
                for (int64_t i = 0; i < z.n; ++i)  // anyone may have written to them since the fit
                    if (!z[i].valid(z.d))
                        throw std::invalid_argument("a support has indices out of order or range");
                return votes<decltype(block_for(z))>(q, z, with_rows, begin, end, out.data());
            }));
        },
        nb::arg("supports"), nb::arg("support"), nb::arg("step"), nb::arg("label"), nb::arg("rival"),
        nb::arg("survived"), nb::arg("classes"), nb::arg("bias_square"), nb::arg("rows"), nb::arg("begin"),
        nb::arg("end"), nb::arg("out"),
        "Write the votes on a range of rows into `out`: for the second of two classes, or for each of more.");
}
