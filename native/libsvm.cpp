// Binds the reader of LIBSVM text.
#include "libsvm.h"

#include "binding.h"
#include "hand_over.h"

namespace {

// Where each row begins, and where the last ends.
template <class I>
nb::object row_pointers(const Growing<int64_t>& ends) {
    Growing<I> pointers;
    pointers.push(0);
    pointers.append(ends);
    return hand_over(pointers);
}

}  // namespace

void bind_libsvm(nb::module_& m) {
    nb::class_<LibsvmRows>(m, "LibsvmRows", "Rows read from LIBSVM text, in arrays that grow.")
        .def(nb::init<bool>(), nb::arg("single"), "Values are float32 when `single`, otherwise float64.")
        .def(
            "parse",
            [](LibsvmRows& rows, const Vector<const uint8_t>& text, bool zero_based, int64_t n_features,
               int64_t max_line) {
                const char* const p = reinterpret_cast<const char*>(text.data());
                const size_t n = text.shape(0);
                nb::gil_scoped_release nogil;
                return n == 0 || rows.parse(p, p + n, {zero_based, n_features, max_line});
            },
            nb::arg("text"), nb::arg("zero_based"), nb::arg("n_features"), nb::arg("max_line"),
            "Append the rows of whole lines; n_features -1 allows any index. False leaves the reason in `problem`.")
        .def("append", &LibsvmRows::append, nb::arg("other"), nb::call_guard<nb::gil_scoped_release>(),
             "Append the rows and lines of another.")
        .def("clear", &LibsvmRows::clear, "Forget everything but the memory it took.")
        .def_ro("lines", &LibsvmRows::lines, "Lines read so far.")
        .def_ro("problem", &LibsvmRows::problem, "What is wrong with the line after them.")
        .def_ro("largest", &LibsvmRows::largest, "The largest index, from zero; -1 without any.")
        .def_prop_ro("n", [](const LibsvmRows& rows) { return rows.labels.size(); })
        .def(
            "take",
            [](LibsvmRows& rows) {
                // one type for both index arrays, which is what scipy and the loops want
                if (rows.stored() > size_t(std::numeric_limits<int32_t>::max())) rows.widen();
                nb::object pointers = rows.is_wide ? row_pointers<int64_t>(rows.ends) : row_pointers<int32_t>(rows.ends);
                nb::object indices = rows.is_wide ? hand_over(rows.wide) : hand_over(rows.narrow);
                nb::object values = rows.is_single ? hand_over(rows.singles) : hand_over(rows.doubles);
                nb::object qids = rows.qids.size() ? hand_over(rows.qids) : nb::none();
                nb::object labels = hand_over(rows.labels);
                rows.clear();
                return nb::make_tuple(labels, values, indices, pointers, qids);
            },
            "Hand over (labels, values, indices, indptr, qids or None), and be empty.");
}
