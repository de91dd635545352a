// Binds one linear learner: its rule, its weights and its counts.
#include "hand_over.h"
#include "linear/py_learner.h"

namespace {

Rule rule_named(const std::string& s) {
    if (s == "perceptron") return Rule::perceptron;
    if (s == "normalized") return Rule::normalized;
    if (s == "margin") return Rule::margin;
    if (s == "pa") return Rule::pa;
    if (s == "pa1") return Rule::pa1;
    if (s == "pa2") return Rule::pa2;
    if (s == "arow") return Rule::arow;
    if (s == "scw") return Rule::scw;
    if (s == "second-order") return Rule::second_order;
    throw std::invalid_argument("unknown rule " + s);
}

// One array per field, handed over: afterwards the learner holds none of them.
auto recorded(PyLearner& l) {
    const auto made = [&] {
        const Writing change(l.in_use);
        return std::exchange(l.updates_made, {});
    }();
    auto column = [&](auto field) {
        Growing<std::decay_t<decltype(field(made[0]))>> out;
        std::transform(made.begin(), made.end(), out.extend(made.size()), field);
        return hand_over(out);
    };
    using U = Learner::Update;
    return std::make_tuple(column([](const U& u) { return u.row; }),
                           column([](const U& u) { return u.label; }),
                           column([](const U& u) { return u.rival; }),
                           column([](const U& u) { return u.step; }),
                           column([](const U& u) { return u.visit; }));
}

}  // namespace

void bind_learner(nb::module_& m) {
    nb::class_<UpdateRule>(m, "Rule", "How a linear learner decides and steps.")
        .def(
            "__init__",
            [](UpdateRule* self, const std::string& name, bool tie_is_mistake, double margin, double C,
               double bias_square, double phi) {
                new (self) UpdateRule{rule_named(name), tie_is_mistake, margin, C, bias_square, phi};
            },
            nb::arg("name"), nb::arg("tie_is_mistake") = false, nb::arg("margin") = 0.0, nb::arg("C") = 1.0,
            nb::arg("bias_square") = 1.0, nb::arg("phi") = 1.0,
            "`bias_square` is that of the bias coordinate, 0 without a bias; `phi` is Φ⁻¹(η) of 'scw'.");

    nb::class_<PyLearner> learner(m, "Learner", "Weights, rule and counts of one linear learner.");
    guarded(learner, "visits", &PyLearner::visits);
    guarded(learner, "mistakes", &PyLearner::mistakes);
    guarded(learner, "updates", &PyLearner::updates);
    guarded(learner, "ties", &PyLearner::ties);
    guarded(learner, "step_sum", &PyLearner::step_sum);
    guarded(learner, "radius", &PyLearner::radius);
    guarded(learner, "square_low", &PyLearner::square_low);
    guarded(learner, "square_high", &PyLearner::square_high);
    guarded(learner, "drift", &PyLearner::drift);
    guarded(learner, "largest_row", &PyLearner::largest_row);
    guarded(learner, "most_stored", &PyLearner::most_stored);
    learner
        .def(nb::init<int64_t, Matrix, Vector<double>, const UpdateRule&, std::optional<PyLearner::Sums>,
                      bool>(),
             nb::arg("classes"), nb::arg("weights"), nb::arg("bias"), nb::arg("rule"),
             nb::arg("sums").none() = nb::none(), nb::arg("zero") = false,
             "`sums` are those of weights and bias for the average; `zero`: the weights are known to be 0.")
        .def_prop_ro("weight_norm", reads<PyLearner>([](const PyLearner& l) { return l.current_norm; }))
        .def_prop_rw("fallbacks", reads<PyLearner>([](const PyLearner& l) {
                         return std::make_tuple(l.fallbacks.compensated, l.fallbacks.accumulator);
                     }),
                     [](PyLearner& l, std::tuple<int64_t, int64_t> v) {
                         const Writing change(l.in_use);
                         l.fallbacks = {std::get<0>(v), std::get<1>(v)};
                     })
        .def_prop_rw(
            "seen", reads<PyLearner>([](const PyLearner& l) {
                return std::make_tuple(l.radius, l.square_low, l.square_high, l.largest_row, l.most_stored);
            }),
            [](PyLearner& l, const std::tuple<double, double, double, double, int64_t>& v) {
                const Writing change(l.in_use);
                std::tie(l.radius, l.square_low, l.square_high, l.largest_row, l.most_stored) = v;
            },
            "What is known of the sizes of the rows seen.")
        .def_prop_rw("filter", reads<PyLearner>([](const PyLearner& l) { return l.filter(); }),
                     [](PyLearner& l, const std::vector<double>& v) {
                         const Writing change(l.in_use);
                         l.set_filter(v);
                     })
        .def(
            "set_confidences",
            [](PyLearner& l, const PyLearner::Sums& arrays) {
                const Writing change(l.in_use);
                l.set_confidences(arrays);
            },
            nb::arg("arrays"), "What the inverse variances of weights and bias have gained: 1/σ - 1.")
        .def(
            "set_factors",
            [](PyLearner& l, std::optional<Vector<double>> factors) {
                const Writing change(l.in_use);
                l.set_factors(factors);
            },
            nb::arg("factors").none(),
            "Learn rows whose columns are multiplied by these powers of two; weights stay those of the rows as they "
            "are. Then measure the norm.")
        .def(
            "measure_norm",
            [](PyLearner& l) {
                const Writing change(l.in_use);
                return l.measure_norm();
            },
            nb::call_guard<nb::gil_scoped_release>())
        .def(
            "measure_norm_of",
            [](PyLearner& l, const Order& rows) {
                const Writing change(l.in_use);
                return l.measure_norm_of(rows);
            },
            nb::arg("rows"), "The same when only these rows, in increasing order, are not zero.")
        .def(
            "take",
            [](PyLearner& l, const PyLearner& other) {
                if (&l == &other) return;
                const Writing change(l.in_use);
                const Reading read(other.in_use);
                l.take(other);
            },
            nb::arg("other"), "Take over the norms of the rows that another learner has seen.")
        .def(
            "turn",
            [](PyLearner& l) {
                const Writing change(l.in_use);
                if (!l.binary())
                    throw std::invalid_argument("only one class of two can turn out to be the other");
                l.turn();
            },
            nb::call_guard<nb::gil_scoped_release>(),
            "The class of all visits so far, the first of two, is the second.")
        .def(
            "view",
            [](const PyLearner& l) {
                const Reading read(l.in_use);
                PyLearner copy(l);
                copy.record = nullptr;
                return copy;
            },
            "The same weights with counts of its own.")
        .def(
            "record_updates",
            [](PyLearner& l) {
                const Writing change(l.in_use);
                l.updates_made.clear();
                l.record = &l.updates_made;
            },
            "From now on, record every update.")
        .def("recorded", &recorded,
             "Hand over the updates recorded so far: (row, label, rival, step, visits before) as arrays.");
}
