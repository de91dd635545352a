// Binds the reader of LIBSVM text.
#include "libsvm.h"

#include <nanobind/stl/pair.h>

#include "binding.h"
#include "hand_over.h"

namespace {

// The memory of a Growing as an array that has it for its own.
struct HandOver {
    template <class T>
    nb::object operator()(Growing<T>& g) const {
        return hand_over(g);
    }
};

// The same as an array that leaves it where it is.
struct Show {
    nb::handle owner;
    template <class T>
    nb::object operator()(Growing<T>& g) const {
        return alias(g, owner);
    }
};

// Where each row begins, and where the last ends.
template <class I>
nb::object row_pointers(const Growing<int64_t>& ends) {
    Growing<I> pointers;
    pointers.push(0);
    pointers.append(ends);
    return HandOver()(pointers);
}

nb::object text_labels(const LibsvmRows& rows) {
    const size_t n = rows.label_ends.size(), width = rows.label_width;
    uint32_t* const out = static_cast<uint32_t*>(std::malloc(std::max(n * width, size_t(1)) * sizeof(uint32_t)));
    if (!out) throw std::bad_alloc();
    rows.write_labels(out);
    nb::capsule owner(out, [](void* p) noexcept { std::free(p); });
    return nb::cast(nb::ndarray<nb::numpy, uint32_t, nb::ndim<2>>(out, {n, width}, owner));
}

template <class Give>
nb::tuple arrays(LibsvmRows& rows, const Give& give) {
    // one type for both index arrays, which is what scipy and the loops want
    if (rows.stored() > size_t(std::numeric_limits<int32_t>::max())) rows.widen();
    nb::object pointers = rows.is_wide ? row_pointers<int64_t>(rows.ends) : row_pointers<int32_t>(rows.ends);
    nb::object indices = rows.is_wide ? give(rows.wide) : give(rows.narrow);
    nb::object values = rows.is_single ? give(rows.singles) : give(rows.doubles);
    nb::object qids = rows.qids.size() ? give(rows.qids) : nb::none();
    nb::object labels = rows.kind == LabelKind::text     ? text_labels(rows)
                        : rows.kind == LabelKind::number ? give(rows.labels)
                                                         : nb::none();
    return nb::make_tuple(labels, values, indices, pointers, qids);
}

constexpr const char* kind_names[] = {"", "number", "text", "none"};

LabelKind kind_named(const std::string& name) {
    for (uint8_t k = 0; k < 4; ++k)
        if (name == kind_names[k]) return LabelKind(k);
    throw std::invalid_argument("unknown kind of label");
}

bool optional_named(const std::string& name) {
    if (name != "required" && name != "optional") throw std::invalid_argument("label is 'required' or 'optional'");
    return name == "optional";
}

}  // namespace

void bind_libsvm(nb::module_& m) {
    nb::class_<LibsvmRows>(m, "LibsvmRows", "Rows read from LIBSVM text, in arrays that grow.")
        .def(
            "__init__",
            [](LibsvmRows* self, bool single, bool zero_based, int64_t n_features, const std::string& label,
               const std::string& kind, bool skip_bad) {
                new (self) LibsvmRows(
                    single, {zero_based, n_features, optional_named(label), skip_bad, kind_named(kind)});
            },
            nb::kw_only(), nb::arg("single") = false, nb::arg("zero_based") = false, nb::arg("n_features") = -1,
            nb::arg("label") = "required", nb::arg("kind") = "", nb::arg("skip_bad") = false,
            "Values are float32 when `single`, otherwise float64; n_features -1 allows any index.")
        .def(
            "parse",
            [](LibsvmRows& rows, const Vector<const uint8_t>& text) {
                const char* const p = reinterpret_cast<const char*>(text.data());
                const size_t n = text.shape(0);
                nb::gil_scoped_release nogil;
                return n == 0 || rows.parse(p, p + n);
            },
            nb::arg("text"), "Append the rows of whole lines. False leaves the reason in `problem`.")
        .def("append", &LibsvmRows::append, nb::arg("other"), nb::call_guard<nb::gil_scoped_release>(),
             "Append the rows and lines of another.")
        .def("clear", &LibsvmRows::clear, "Forget everything but the memory it took.")
        .def("row_line", &LibsvmRows::row_line, nb::arg("row"), "The line of a row, from zero; until `clear`.")
        .def_ro("lines", &LibsvmRows::lines, "Lines read so far.")
        .def_ro("problem", &LibsvmRows::problem, "What is wrong with the line after them.")
        .def_ro("n_skipped", &LibsvmRows::n_skipped, "Bad lines passed over.")
        .def_ro("skipped", &LibsvmRows::skipped, "The first few of them: line from zero, what is wrong.")
        .def_ro("largest", &LibsvmRows::largest, "The largest index, from zero; -1 without any.")
        .def_prop_ro("kind", [](const LibsvmRows& rows) { return kind_names[size_t(rows.kind)]; },
                     "Of the labels: 'number', 'text', 'none', or '' as long as there is no row.")
        .def_prop_ro("n", &LibsvmRows::n)
        .def(
            "view",
            [](nb::pointer_and_handle<LibsvmRows> rows) { return arrays(*rows.p, Show{rows.h}); },
            "(labels, values, indices, indptr, qids or None), valid until `clear` or `parse`. Labels that are text "
            "are rows of code points; None when there are no labels.")
        .def(
            "take",
            [](LibsvmRows& rows) {
                nb::tuple taken = arrays(rows, HandOver());
                rows.clear_rows();
                return taken;
            },
            "The same, handed over; there are no rows afterwards.");
}
