// Binds what dependency trees need: scores of arcs, features of trees, the best tree.
#include "structured/trees.h"

#include "hand_over.h"

namespace {

using Codes = Vector<const uint64_t>;

// The arcs of a sentence, together with the arrays that they are made of.
struct PyArcs {
    Codes words, tags, table, extra;
    int bits;

    PyArcs(Codes w, Codes t, Codes factors, Codes more, int hash_bits)
        : words(w), tags(t), table(factors), extra(more), bits(hash_bits) {
        if (words.shape(0) < 1 || tags.shape(0) != words.shape(0) + 2 || table.shape(0) % 9 ||
            extra.shape(0) != 5 || bits < 1 || bits > 30)
            throw std::invalid_argument("words, tags and factors do not fit");
    }
    Arcs view() const {
        return {
            words.data(), tags.data(), int64_t(words.shape(0)) - 1, table.data(), int64_t(table.shape(0)) / 9,
            extra.data(), bits};
    }
};

}  // namespace

void bind_trees(nb::module_& m) {
    nb::class_<PyArcs>(m, "Arcs", "The arcs of a sentence, by hashes of its words and tags.")
        .def(nb::init<Codes, Codes, Codes, Codes, int>(), nb::arg("words"), nb::arg("tags"), nb::arg("table"),
             nb::arg("extra"), nb::arg("bits"))
        .def(
            "scores",
            [](const PyArcs& arcs, const Floats& w, Vector<double> out) {
                if (w.shape(0) != size_t(1) << arcs.bits ||
                    out.shape(0) != arcs.words.shape(0) * arcs.words.shape(0))
                    throw std::invalid_argument("weights and output do not fit");
                const Arcs a = arcs.view();
                nb::gil_scoped_release nogil;
                a.scores(w.data(), out.data());
            },
            nb::arg("w"), nb::arg("out"), "Write the score of every arc, (n + 1) × (n + 1), into `out`.")
        .def(
            "places",
            [](const PyArcs& arcs, const Order& heads) {
                const int64_t n = int64_t(arcs.words.shape(0));
                if (int64_t(heads.shape(0)) + 1 != n)
                    throw std::invalid_argument("words and heads do not fit");
                for (int64_t i = 0; i + 1 < n; ++i)
                    if (heads.data()[i] < 0 || heads.data()[i] >= n || heads.data()[i] == i + 1)
                        throw std::invalid_argument("a head is out of range");
                Growing<int64_t> places;
                arcs.view().tree(heads.data(), [&](uint64_t p) { places.push(int64_t(p)); });
                return hand_over(places);
            },
            nb::arg("heads"), "The places of the features of a tree's arcs, with repetitions.");

    m.def(
        "eisner",
        [](const Floats& scores, Vector<int64_t> out) {
            const size_t n = out.shape(0);
            if (!n || n > 30000 || scores.shape(0) != (n + 1) * (n + 1))
                throw std::invalid_argument("scores and heads do not fit");
            nb::gil_scoped_release nogil;
            Eisner e{int64_t(n)};
            e(scores.data(), out.data());
        },
        nb::arg("scores"), nb::arg("out"),
        "Write the heads of the best projective tree with one root into `out`.");
}
