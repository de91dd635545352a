// Binds what dependency trees need: scores of arcs, features of trees, the best tree.
#include "structured/trees.h"

#include "binding.h"
#include "hand_over.h"
#include "memory/growing.h"

namespace {

using Codes = Vector<const uint64_t>;

Arcs arcs(const Codes& words, const Codes& tags, const Codes& table, const Codes& extra, int bits) {
    const int64_t n = int64_t(words.shape(0)) - 1;
    if (n < 0 || int64_t(tags.shape(0)) != n + 3 || table.shape(0) % 9 || extra.shape(0) != 5 || bits < 1 ||
        bits > 30)
        throw std::invalid_argument("words, tags and factors do not fit");
    return {words.data(), tags.data(), n, table.data(), int64_t(table.shape(0)) / 9, extra.data(), bits};
}

}  // namespace

void bind_trees(nb::module_& m) {
    m.def(
        "arc_scores",
        [](const Codes& words, const Codes& tags, const Codes& table, const Codes& extra, int bits,
           const Floats& w, Vector<double> out) {
            const Arcs a = arcs(words, tags, table, extra, bits);
            if (w.shape(0) != size_t(1) << bits || out.shape(0) != words.shape(0) * words.shape(0))
                throw std::invalid_argument("weights and output do not fit");
            nb::gil_scoped_release nogil;
            a.scores(w.data(), out.data());
        },
        nb::arg("words"), nb::arg("tags"), nb::arg("table"), nb::arg("extra"), nb::arg("bits"), nb::arg("w"),
        nb::arg("out"), "Write the score of every arc, (n + 1) × (n + 1), into `out`.");

    m.def(
        "tree_places",
        [](const Codes& words, const Codes& tags, const Codes& table, const Codes& extra, int bits,
           const Order& heads) {
            const Arcs a = arcs(words, tags, table, extra, bits);
            if (heads.shape(0) + 1 != words.shape(0))
                throw std::invalid_argument("words and heads do not fit");
            for (size_t i = 0; i < heads.shape(0); ++i)
                if (heads.data()[i] < 0 || heads.data()[i] >= int64_t(words.shape(0)) ||
                    heads.data()[i] == int64_t(i) + 1)
                    throw std::invalid_argument("a head is out of range");
            Growing<int64_t> places;
            a.tree(heads.data(), [&](uint64_t p) { places.push(int64_t(p)); });
            return hand_over(places);
        },
        nb::arg("words"), nb::arg("tags"), nb::arg("table"), nb::arg("extra"), nb::arg("bits"),
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
