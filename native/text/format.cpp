// Binds the writer of rows as text.
#include "text/format.h"

#include <nanobind/stl/pair.h>

#include "binding.h"

namespace {

// Checked once, so that no offset can lead outside.
Texts texts_of(const Bytes& bytes, const Order& begins, size_t at_least) {
    const size_t n = begins.shape(0);
    const int64_t* const at = begins.data();
    bool sound = n > at_least && at[0] >= 0 && at[n - 1] <= int64_t(bytes.shape(0));
    for (size_t i = 0; sound && i + 1 < n; ++i) sound = at[i] <= at[i + 1];
    if (!sound) throw std::invalid_argument("texts and where they begin do not fit");
    return {reinterpret_cast<const char*>(bytes.data()), at};
}

struct PyRowFormat {
    std::string between, tail;
    std::optional<std::pair<Bytes, Order>> names;

    PyRowFormat(const nb::bytes& within, const nb::bytes& end, std::optional<std::pair<Bytes, Order>> of)
        : between(within.c_str(), within.size()), tail(end.c_str(), end.size()), names(of) {}
    RowFormat view() const { return {between, tail}; }

    nb::bytes dense(const Table<const double>& x, const Bytes& heads, const Order& head_begins) const {
        const Texts head = texts_of(heads, head_begins, x.shape(0));
        Growing<char> out;
        {
            nb::gil_scoped_release nogil;
            RowWriter writer(out, view());
            const int64_t n = int64_t(x.shape(0)), d = int64_t(x.shape(1));
            for (int64_t i = 0; i < n; ++i) writer.plain(head[i], x.data() + i * d, d);
        }
        return nb::bytes(out.data(), out.size());
    }

    nb::bytes sparse(const Floats& data, const Order& indices, const Order& indptr, const Bytes& heads,
                     const Order& head_begins) const {
        const size_t n = indptr.shape(0) - 1, stored = data.shape(0);
        const int64_t* const p = indptr.data();
        bool sound =
            indptr.shape(0) > 0 && p[0] >= 0 && p[n] <= int64_t(stored) && indices.shape(0) == stored;
        for (size_t i = 0; sound && i < n; ++i) sound = p[i] <= p[i + 1];
        if (!sound) throw std::invalid_argument("indptr does not increase from 0 to the stored values");
        const Texts head = texts_of(heads, head_begins, n);
        Texts texts{nullptr, nullptr};
        if (names) {
            texts = texts_of(names->first, names->second, 0);
            const uint64_t known = names->second.shape(0) - 1;
            for (size_t k = 0; k < stored; ++k)
                if (uint64_t(indices.data()[k]) >= known)
                    throw std::invalid_argument("an index is not that of a name");
        }
        Growing<char> out;
        {
            nb::gil_scoped_release nogil;
            RowWriter writer(out, view());
            for (size_t i = 0; i < n; ++i) {
                const double* const x = data.data() + p[i];
                const int64_t* const j = indices.data() + p[i];
                if (names) writer.named(head[int64_t(i)], x, j, p[i + 1] - p[i], texts);
                else writer.numbered(head[int64_t(i)], x, j, p[i + 1] - p[i]);
            }
        }
        return nb::bytes(out.data(), out.size());
    }
};

}  // namespace

void bind_format(nb::module_& m) {
    nb::class_<PyRowFormat>(m, "RowFormat", "How rows are written as text.")
        .def(
            nb::init<const nb::bytes&, const nb::bytes&, std::optional<std::pair<Bytes, Order>>>(),
            nb::arg("between"), nb::arg("tail"), nb::arg("names").none() = nb::none(),
            "What is between two features, what ends a row, and the names of features as texts: their bytes, and "
            "where each begins.")
        .def("dense", &PyRowFormat::dense, nb::arg("x"), nb::arg("heads"), nb::arg("head_begins"),
             "Rows of numbers: head, the numbers with `between` between them, tail.")
        .def(
            "sparse", &PyRowFormat::sparse, nb::arg("data"), nb::arg("indices"), nb::arg("indptr"),
            nb::arg("heads"), nb::arg("head_begins"),
            "CSR rows: head, name and value of each feature with `between` between them, tail. Without names "
            "each feature is a blank and number:value, sorted.");
}
