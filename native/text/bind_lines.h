// What all parsers of lines offer to Python.
#pragma once

#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>

#include "binding.h"
#include "hand_over.h"
#include "text/lines.h"
#include "text/python_text.h"

inline constexpr const char* label_kinds[] = {"", "number", "text", "none"};

// How lines are read, from words.
inline LineOptions line_options(const std::string& label, const std::string& kind, bool skip_bad,
                                bool round) {
    if (label != "required" && label != "optional")
        throw std::invalid_argument("label is 'required' or 'optional'");
    for (uint8_t k = 0; k < 4; ++k)
        if (kind == label_kinds[k]) return {label == "optional", LabelKind(k), skip_bad, round};
    throw std::invalid_argument("the kind of labels is '', 'number', 'text' or 'none'");
}

// The memory of a Growing as an array that owns it.
struct HandOver {
    template <class T>
    Made<T> operator()(Growing<T>& g) const {
        return hand_over(g);
    }
};

// The same as an array that leaves it where it is.
struct Show {
    nb::handle owner;  // of names
    template <class T>
    Made<T> operator()(Growing<T>& g) const {
        return alias(g);
    }
};

// Labels as an array of numbers; or, when they are text, their codes and the different ones; or None.
using TextLabels = std::tuple<Made<int32_t>, std::vector<std::string>>;
using RowLabels = std::optional<std::variant<Made<double>, TextLabels>>;

template <class Give>
RowLabels label_array(Lines& rows, const Give& give) {
    if (rows.kind == LabelKind::number) return give(rows.labels);
    if (rows.kind != LabelKind::text) return std::nullopt;
    return TextLabels(give(rows.label_codes), texts_of(rows.label_values.list));
}

// `arrays(rows, give)` makes the tuple of arrays that the parser gives.
template <class Parser, class Arrays>
void bind_lines(nb::class_<Parser>& c, Arrays arrays) {
    c.def(
         "parse",
         [](Parser& rows, const Vector<const uint8_t>& text) {
             const char* const p = reinterpret_cast<const char*>(text.data());
             const size_t n = text.shape(0);
             const Writing change(rows.in_use);
             ++rows.changes;
             nb::gil_scoped_release nogil;
             return n == 0 || rows.parse(p, p + n);
         },
         nb::arg("text"), "Append the rows of whole lines. False leaves the reason in `problem`.")
        .def(
            "clear",
            [](Parser& rows) {
                const Writing change(rows.in_use);
                ++rows.changes;
                rows.clear();
            },
            "Forget everything, but keep the memory.")
        .def(
            "row_line",
            [](const Parser& rows, int64_t row) {
                const Reading read(rows.in_use);
                return rows.row_line(row);
            },
            nb::arg("row"), "The line of a row, from 0; until `clear`.")
        .def_prop_ro("n", reads<Parser>([](const Parser& rows) { return rows.n(); }))
        .def_prop_ro("lines", reads<Parser>([](const Parser& rows) { return rows.lines; }),
                     "Lines read so far.")
        .def_prop_ro("problem", reads<Parser>([](const Parser& rows) { return rows.problem; }),
                     "What is wrong with the line after them.")
        .def_prop_ro("kind", reads<Parser>([](const Parser& rows) { return label_kinds[size_t(rows.kind)]; }),
                     "Of the labels: 'number', 'text', 'none', or '' while there is no row.")
        .def_prop_ro("n_skipped", reads<Parser>([](const Parser& rows) { return rows.n_skipped; }),
                     "Bad lines passed over.")
        .def_prop_ro("skipped", reads<Parser>([](const Parser& rows) { return rows.skipped; }),
                     "The first few of them: line from 0, what is wrong.")
        .def_prop_ro("n_rounded", reads<Parser>([](const Parser& rows) { return rows.n_rounded; }),
                     "Integers that no double holds, rounded.")
        .def_prop_ro("rounded", reads<Parser>([](const Parser& rows) { return rows.rounded; }),
                     "The first: line from 0, its text.")
        .def(
            "view",
            [arrays](nb::pointer_and_handle<Parser> rows) {
                const Writing change(rows.p->in_use);
                return arrays(*rows.p, Show{rows.h});
            },
            "The arrays, which hold these rows until the next `parse` or `clear`, and other rows or none afterwards.")
        .def(
            "take",
            [arrays](Parser& rows) {
                const Writing change(rows.in_use);
                ++rows.changes;
                return arrays(rows, HandOver());
            },
            "The arrays, handed over; of the rows only their lines are left.");
}
