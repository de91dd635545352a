// Binds the reader of LIBSVM text.
#include "text/libsvm.h"

#include "text/bind_lines.h"

namespace {

// Where each row begins, and where the last ends.
template <class I>
Made<I> row_pointers(const Growing<int64_t>& ends) {
    Growing<I> pointers;
    pointers.push(0);
    pointers.append(ends);
    return hand_over(pointers);
}

template <class Give>
auto arrays(LibsvmRows& rows, const Give& give) {
    using Values = std::variant<Made<float>, Made<double>>;
    using Indices = std::variant<Made<int32_t>, Made<int64_t>>;
    // one type for both index arrays, which is what scipy and the loops want
    if (rows.stored() > size_t(std::numeric_limits<int32_t>::max())) rows.widen();
    Indices pointers =
        rows.is_wide ? Indices(row_pointers<int64_t>(rows.ends)) : row_pointers<int32_t>(rows.ends);
    Indices indices = rows.is_wide ? Indices(give(rows.wide)) : give(rows.narrow);
    Values values = rows.is_single ? Values(give(rows.singles)) : give(rows.doubles);
    auto qids = rows.qids.size() ? std::optional(give(rows.qids)) : std::nullopt;
    return std::make_tuple(label_array(rows, give), std::move(values), std::move(indices),
                           std::move(pointers), std::move(qids));
}

}  // namespace

void bind_libsvm(nb::module_& m) {
    nb::class_<LibsvmRows> c(
        m, "LibsvmRows",
        "Rows read from LIBSVM text: (labels or None, values, indices, indptr, qids or None).");
    nb::class_<LineOptions>(m, "LineOptions", "How lines of text are read.")
        .def(
            "__init__",
            [](LineOptions* self, const std::string& label, const std::string& kind, bool skip_bad,
               bool round) { new (self) LineOptions(line_options(label, kind, skip_bad, round)); },
            nb::arg("label") = "required", nb::arg("kind") = "", nb::arg("skip_bad") = false,
            nb::arg("round") = false,
            "`label` is 'required' or 'optional', `kind` '', 'number', 'text' or 'none'; bad lines are passed over "
            "with `skip_bad`, and integers that no double holds rounded with `round`.");
    c.def(
         "__init__",
         [](LibsvmRows* self, const LineOptions& options, bool single, bool zero_based, int64_t n_features,
            int64_t max_columns) {
             new (self) LibsvmRows({single, zero_based, n_features, max_columns}, options);
         },
         nb::arg("options") = LineOptions(), nb::kw_only(), nb::arg("single") = false,
         nb::arg("zero_based") = false, nb::arg("n_features") = -1, nb::arg("max_columns") = -1,
         "Values are float32 when `single`, otherwise float64; n_features -1 allows any index up to max_columns, "
         "and max_columns -1 any.")
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
        auto given = arrays(rows, give);
        if (std::is_same_v<decltype(give), const HandOver&>) rows.clear_rows();
        return given;
    });
}
