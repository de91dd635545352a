// Binds the tagger. Arrays are checked when they are passed in, so that no number can lead outside them.
#include "tagging/tagger.h"

#include <nanobind/stl/pair.h>

#include <memory>

#include "hand_over.h"
#include "tagging/k_best.h"

namespace {

struct PySentences : Sentences {
    std::vector<nb::object> owners;
    int64_t tokens, features = 0;  // features: the largest number plus one

    PySentences(Order starts_, Order indptr_, Vector<const int32_t> ids_, std::optional<Floats> values_) {
        n = int64_t(starts_.shape(0)) - 1;
        tokens = int64_t(indptr_.shape(0)) - 1;
        const int64_t stored = int64_t(ids_.shape(0));
        auto rises = [](const int64_t* at, int64_t count, int64_t to) {
            bool sound = count >= 0 && at[0] == 0 && at[count] == to;
            for (int64_t i = 0; sound && i < count; ++i) sound = at[i] <= at[i + 1];
            return sound;
        };
        if (tokens < 0 || !rises(starts_.data(), n, tokens) || !rises(indptr_.data(), tokens, stored) ||
            (values_ && int64_t(values_->shape(0)) != stored))
            throw std::invalid_argument(
                "starts must rise from 0 to the tokens, indptr from 0 to the stored features");
        uint32_t largest = 0;  // a negative one becomes larger than any
        for (int64_t k = 0; k < stored; ++k) largest = std::max(largest, uint32_t(ids_.data()[k]));
        if (largest > uint32_t(std::numeric_limits<int32_t>::max()))
            throw std::invalid_argument("a feature number is negative");
        if (stored) features = int64_t(largest) + 1;
        starts = starts_.data(), indptr = indptr_.data(), ids = ids_.data();
        values = values_ ? values_->data() : nullptr;
        owners = {nb::cast(starts_), nb::cast(indptr_), nb::cast(ids_)};
        if (values_) owners.push_back(nb::cast(*values_));
    }
    void check_range(int64_t begin, int64_t end, int64_t most) const {
        if (begin < 0 || end < begin || end > most) throw std::invalid_argument("sentences out of range");
    }
};

struct PyAllowed {
    Bytes step, start, end;
    int64_t labels;

    PyAllowed(Bytes next, Bytes first, Bytes last)
        : step(next), start(first), end(last), labels(int64_t(start.shape(0))) {
        if (labels < 1 || int64_t(step.shape(0)) != labels * labels || int64_t(end.shape(0)) != labels)
            throw std::invalid_argument("the allowed bigrams do not fit the number of labels");
    }
    Allowed view() const { return {step.data(), start.data(), end.data()}; }
};

int64_t stride_of(int64_t labels) { return (labels + kGroup - 1) / kGroup * kGroup; }

void check_labels(const PySentences& x, const Labels& y, int64_t labels, int64_t begin, int64_t end,
                  const Order* order = nullptr) {
    if (int64_t(y.shape(0)) != x.tokens) throw std::invalid_argument("there must be a label for each token");
    x.check_range(begin, end, order ? int64_t(order->shape(0)) : x.n);
    for (int64_t i = begin; i < end; ++i) {
        const int64_t s = order ? order->data()[i] : i;
        if (s < 0 || s >= x.n) throw std::invalid_argument("order names a sentence out of range");
        for (int64_t t = x.starts[s]; t < x.starts[s + 1]; ++t)
            if (uint32_t(y.data()[t]) >= uint32_t(labels)) throw std::invalid_argument("label out of range");
    }
}

// A learner together with the arrays that it writes to.
template <class W>
struct PyLearner : TaggerLearner<W> {
    using Weights = Table<W>;
    using Sums = std::pair<Matrix, Matrix>;  // of emissions and transitions, for the average
    Weights w_array, a_array;
    std::optional<Sums> sums_arrays;
    Vector<int32_t> slots_array;
    PyAllowed allowed_arrays;
    InUse in_use{"the learner"};

    PyLearner(Vector<int32_t> slots, int64_t rows, Weights w, Weights a, const PyAllowed& allowed,
              std::optional<Sums> sums)
        : w_array(w), a_array(a), sums_arrays(sums), slots_array(slots), allowed_arrays(allowed) {
        const int64_t labels = allowed.labels;
        this->labels = labels;
        this->stride = stride_of(labels);
        this->features = int64_t(slots.shape(0));
        this->slots = slots.data();
        this->rows = rows;
        int64_t given = 0;
        bool sound = true;
        for (int64_t f = 0; f < this->features; ++f) {
            given += slots.data()[f] != 0;
            sound = sound && slots.data()[f] >= 0 && slots.data()[f] <= rows;
        }
        if (!sound || given != rows) throw std::invalid_argument("features and rows of weights do not fit");
        auto fits = [&](const auto& m, int64_t rows) {
            return int64_t(m.shape(0)) == rows && int64_t(m.shape(1)) == this->stride;
        };
        if (!fits(w, this->features + 1) || !fits(a, labels) ||
            (sums && (!fits(sums->first, this->features + 1) || !fits(sums->second, labels))))
            throw std::invalid_argument("weights and sums do not fit the number of labels");
        this->w = w.data(), this->a = a.data();
        this->u = sums ? sums->first.data() : nullptr, this->ua = sums ? sums->second.data() : nullptr;
        this->allowed = allowed_arrays.view();
    }
};

// The weights that are or were not 0: (feature, at, label, w, u), the first being the features that have any.
template <class W>
auto pairs(const PyLearner<W>& l) {
    Growing<int64_t> feature, at;
    Growing<int32_t> label;
    Growing<double> w, u;
    const Reading read(l.in_use);
    {
        nb::gil_scoped_release nogil;
        at.push(0);
        for (int64_t f = 0; f < l.features; ++f) {
            if (!l.slots[f]) continue;
            const int64_t row = l.slots[f] * l.stride;
            for (int64_t j = row; j < row + l.labels; ++j) {
                if (l.w[j] == 0 && (!l.u || l.u[j] == 0)) continue;
                label.push(int32_t(j - row));
                w.push(double(l.w[j]));
                if (l.u) u.push(l.u[j]);
            }
            if (int64_t(label.size()) == at[at.size() - 1]) continue;
            feature.push(f);
            at.push(int64_t(label.size()));
        }
    }
    return std::make_tuple(l.features, hand_over(feature), hand_over(at), hand_over(label), hand_over(w),
                           l.u ? std::optional(hand_over(u)) : std::nullopt);
}

template <class W>
void bind_learner(nb::module_& m, const char* name) {
    using L = PyLearner<W>;
    nb::class_<L> learner(m, name, "Weights of a tagger under training, and counts.");
    guarded(learner, "visits", &L::visits);
    guarded(learner, "mistakes", &L::mistakes);
    guarded(learner, "updates", &L::updates);
    guarded(learner, "wrong_tokens", &L::wrong_tokens);
    guarded(learner, "norm2", &L::norm2);
    guarded(learner, "radius2", &L::radius2);
    guarded(learner, "largest", &L::largest);
    learner
        .def(nb::init<Vector<int32_t>, int64_t, typename L::Weights, typename L::Weights, const PyAllowed&,
                      std::optional<typename L::Sums>>(),
             nb::arg("slots"), nb::arg("rows"), nb::arg("emissions"), nb::arg("transitions"),
             nb::arg("allowed"), nb::arg("sums").none() = nb::none(),
             "`sums` are those of emissions and transitions for the average.")
        .def_prop_ro("rows", reads<L>([](const L& l) { return l.rows; }))
        .def("pairs", &pairs<W>,
             "Weights and sums that are not 0, by feature: (features, feature, at, label, w, u or None).")
        .def(
            "epoch",
            [](L& l, const PySentences& x, const Labels& y, int64_t begin, int64_t end,
               const std::optional<Order>& order) {
                const Writing change(l.in_use);
                check_labels(x, y, l.labels, begin, end, order ? &*order : nullptr);
                if (x.features > l.features) throw std::invalid_argument("a feature number has no weights");
                if (x.values && l.whole) throw std::invalid_argument("values need weights of float64");
                nb::gil_scoped_release nogil;
                with_groups(l.stride, [&](auto g) {
                    l.template epoch<decltype(g)::value>(x, y.data(), order ? order->data() : nullptr, begin,
                                                         end);
                });
            },
            nb::arg("sentences"), nb::arg("labels"), nb::arg("begin"), nb::arg("end"),
            nb::arg("order").none() = nb::none(), "Learn from a range of visits.");
}

// Weights of (feature, label), by feature: those of used[i] are number at[i] to at[i + 1].
struct Emissions {
    int64_t features;
    Order used, at;
    Labels label;
    Floats weights;

    MixedWeights view(int64_t labels) const {
        const int64_t n = int64_t(at.shape(0)) - 1, stored = int64_t(weights.shape(0));
        bool sound = features >= 0 && n >= 0 && n == int64_t(used.shape(0)) && at.data()[0] == 0 &&
                     at.data()[n] == stored && int64_t(label.shape(0)) == stored &&
                     stored <= std::numeric_limits<int32_t>::max();
        for (int64_t i = 0; sound && i < n; ++i)
            sound = at.data()[i] <= at.data()[i + 1] && used.data()[i] >= 0 && used.data()[i] < features &&
                    (!i || used.data()[i - 1] < used.data()[i]);
        for (int64_t j = 0; sound && j < stored; ++j) sound = uint32_t(label.data()[j]) < uint32_t(labels);
        if (!sound) throw std::invalid_argument("the weights of the features do not fit together");
        return {stride_of(labels), features, n, used.data(), at.data(), label.data(), weights.data()};
    }
};

struct PyScorer {
    PyAllowed allowed;
    TaggerScorer scorer;
    int64_t features;

    PyScorer(const Emissions& emissions, const Matrix& transitions, const PyAllowed& bigrams)
        : allowed(bigrams), scorer{emissions.view(allowed.labels), checked(transitions)},
          features(emissions.features) {}

    Bigrams<double> checked(const Matrix& a) const {
        const int64_t labels = allowed.labels;
        if (int64_t(a.shape(0)) != labels || int64_t(a.shape(1)) != stride_of(labels))
            throw std::invalid_argument("the weights of bigrams do not fit the number of labels");
        return {labels, stride_of(labels), a.data(), allowed.view()};
    }
    void check(const PySentences& x, int64_t begin, int64_t end) const {
        x.check_range(begin, end, x.n);
        if (x.features > features) throw std::invalid_argument("a feature number has no weights");
    }
};

}  // namespace

void bind_tagger(nb::module_& m) {
    nb::class_<PySentences>(m, "Sentences", "Sentences as feature numbers, read in place.")
        .def(nb::init<Order, Order, Vector<const int32_t>, std::optional<Floats>>(), nb::arg("starts"),
             nb::arg("indptr"), nb::arg("ids"), nb::arg("values").none() = nb::none())
        .def_prop_ro(
            "features", [](const PySentences& x) { return x.features; },
            "The largest feature number plus one.");

    nb::class_<PyAllowed>(m, "Allowed",
                          "Which label may follow which, begin a sentence, and end one: 1 or 0.")
        .def(nb::init<Bytes, Bytes, Bytes>(), nb::arg("step"), nb::arg("start"), nb::arg("end"));
    nb::class_<Emissions>(m, "Emissions", "Weights by feature and label, those that are not 0.")
        .def(
            "__init__",
            [](Emissions* self, int64_t features, Order used, Order at, Labels label, Floats weights) {
                new (self) Emissions{features, used, at, label, weights};
            },
            nb::arg("features"), nb::arg("used"), nb::arg("at"), nb::arg("label"), nb::arg("weights"),
            "`used` are the features that have any; theirs are number at[i] to at[i + 1].");

    bind_learner<int32_t>(m, "WholeTaggerLearner");
    bind_learner<double>(m, "TaggerLearner");

    nb::class_<PyScorer>(m, "TaggerScorer",
                         "What tags: sparse weights by feature, weights of bigrams, what is allowed.")
        .def(nb::init<const Emissions&, const Matrix&, const PyAllowed&>(), nb::arg("emissions"),
             nb::arg("transitions"), nb::arg("allowed"))
        .def(
            "tag",
            [](const PyScorer& p, const PySentences& x, int64_t begin, int64_t end, Vector<int32_t> out) {
                p.check(x, begin, end);
                if (int64_t(out.shape(0)) != x.tokens)
                    throw std::invalid_argument("there must be a place for each token");
                nb::gil_scoped_release nogil;
                with_groups(p.scorer.w.stride,
                            [&](auto g) { p.scorer.tag<decltype(g)::value>(x, begin, end, out.data()); });
            },
            nb::arg("sentences"), nb::arg("begin"), nb::arg("end"), nb::arg("out"),
            "Write the labels of a range of sentences into `out`.")
        .def(
            "through",
            [](const PyScorer& p, const PySentences& x, int64_t begin, int64_t end, Matrix out) {
                p.check(x, begin, end);
                if (int64_t(out.shape(0)) != x.tokens || int64_t(out.shape(1)) != p.scorer.bigrams.labels)
                    throw std::invalid_argument("there must be a place for each token and label");
                nb::gil_scoped_release nogil;
                with_groups(p.scorer.w.stride,
                            [&](auto g) { p.scorer.through<decltype(g)::value>(x, begin, end, out.data()); });
            },
            nb::arg("sentences"), nb::arg("begin"), nb::arg("end"), nb::arg("out"),
            "For every token and label the score of the best sequence that has it there.")
        .def(
            "k_best",
            [](const PyScorer& p, const PySentences& x, int64_t begin, int64_t end, int64_t k) {
                p.check(x, begin, end);
                if (k < 1) throw std::invalid_argument("k is at least 1");
                Growing<int64_t> counts;
                Growing<double> scores;
                Growing<int32_t> labels;
                {
                    nb::gil_scoped_release nogil;
                    with_groups(p.scorer.w.stride, [&](auto g) {
                        KBest best(k);
                        for (int64_t s = begin; s < end; ++s) {
                            const size_t before = scores.size();
                            best.decode<decltype(g)::value>(p.scorer, x, s,
                                                            [&](double score,
                                                                const std::vector<int32_t>& found) {
                                                                scores.push(score);
                                                                for (int32_t c : found) labels.push(c);
                                                            });
                            counts.push(int64_t(scores.size() - before));
                        }
                    });
                }
                return std::make_tuple(hand_over(counts), hand_over(scores), hand_over(labels));
            },
            nb::arg("sentences"), nb::arg("begin"), nb::arg("end"), nb::arg("k"),
            "The k best labellings of each sentence: how many there are, their scores, and their labels.")
        .def(
            "gaps",
            [](const PyScorer& p, const PySentences& x, const Labels& y, int64_t begin, int64_t end,
               Vector<double> out) {
                p.check(x, begin, end);
                check_labels(x, y, p.scorer.bigrams.labels, begin, end);
                if (int64_t(out.shape(0)) != x.n)
                    throw std::invalid_argument("there must be a place for each sentence");
                nb::gil_scoped_release nogil;
                with_groups(p.scorer.w.stride, [&](auto g) {
                    Decoder<double> decoder;
                    for (int64_t s = begin; s < end; ++s)
                        out.data()[s] = p.scorer.gap<decltype(g)::value>(decoder, x, s, y.data());
                });
            },
            nb::arg("sentences"), nb::arg("labels"), nb::arg("begin"), nb::arg("end"), nb::arg("out"),
            "By how much each sentence's labels beat the best other ones.");
}
