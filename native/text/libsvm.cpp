// Binds the reader of LIBSVM text.
#include "text/libsvm.h"

#include "text/bind_lines.h"

namespace {

// Where each row begins, and where the last ends.
template <class I>
nb::object row_pointers(const Growing<int64_t>& ends) {
    Growing<I> pointers;
    pointers.push(0);
    pointers.append(ends);
    return HandOver()(pointers);
}

template <class Give>
nb::tuple arrays(LibsvmRows& rows, const Give& give) {
    // one type for both index arrays, which is what scipy and the loops want
    if (rows.stored() > size_t(std::numeric_limits<int32_t>::max())) rows.widen();
    nb::object pointers = rows.is_wide ? row_pointers<int64_t>(rows.ends) : row_pointers<int32_t>(rows.ends);
    nb::object indices = rows.is_wide ? give(rows.wide) : give(rows.narrow);
    nb::object values = rows.is_single ? give(rows.singles) : give(rows.doubles);
    nb::object qids = rows.qids.size() ? give(rows.qids) : nb::none();
    nb::object labels = label_array(rows, give);
    return nb::make_tuple(labels, values, indices, pointers, qids);
}

}  // namespace

void bind_libsvm(nb::module_& m) {
    nb::class_<LibsvmRows> c(
        m, "LibsvmRows",
        "Rows read from LIBSVM text: (labels or None, values, indices, indptr, qids or None).");
    c.def(
         "__init__",
         [](LibsvmRows* self, bool single, bool zero_based, int64_t n_features, int64_t max_columns,
            const std::string& label, const std::string& kind, bool skip_bad, bool round) {
             new (self) LibsvmRows({single, zero_based, n_features, max_columns},
                                   line_options(label, kind, skip_bad, round));
         },
         nb::kw_only(), nb::arg("single") = false, nb::arg("zero_based") = false, nb::arg("n_features") = -1,
         nb::arg("max_columns") = -1, nb::arg("label") = "required", nb::arg("kind") = "",
         nb::arg("skip_bad") = false, nb::arg("round") = false,
         "Values are float32 when `single`, otherwise float64; n_features -1 allows any index up to max_columns, and "
         "max_columns -1 any.")
        .def(
            "append",
            [](LibsvmRows& rows, const LibsvmRows& other) {
                if (&rows == &other) throw std::invalid_argument("rows cannot be appended to themselves");
                const Writing change(rows.in_use);
                const Reading read(other.in_use);
                ++rows.changes;
                rows.append(other);
            },
            nb::arg("other"), nb::call_guard<nb::gil_scoped_release>(),
            "Append the rows and lines of another.")
        .def_prop_ro(
            "largest",
            [](const LibsvmRows& rows) {
                const Reading read(rows.in_use);
                return rows.largest;
            },
            "The largest index, from zero; -1 without any.");
    bind_lines(c, [](LibsvmRows& rows, const auto& give) {
        nb::tuple given = arrays(rows, give);
        if (std::is_same_v<decltype(give), const HandOver&>) rows.clear_rows();
        return given;
    });
}
