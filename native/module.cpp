// The Python face of the core: arrays come in as they are, the loops run without the GIL.
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "binding.h"
#include "linear/loops.h"
#include "linear/pocket.h"

Rule rule_named(const std::string& s) {
    if (s == "perceptron") return Rule::perceptron;
    if (s == "normalized") return Rule::normalized;
    if (s == "margin") return Rule::margin;
    if (s == "pa") return Rule::pa;
    if (s == "pa1") return Rule::pa1;
    if (s == "pa2") return Rule::pa2;
    throw std::invalid_argument("unknown rule " + s);
}

using Matrix = Array<double, nb::ndim<2>, nb::c_contig>;

// A Learner together with the arrays that it writes to.
struct PyLearner : Learner {
    Matrix weights_array;
    Vector<double> bias_array;
    std::optional<Matrix> sums_array;
    std::optional<Vector<double>> bias_sums_array;
    std::vector<Update> updates_made;
    InUse in_use{"the learner"};

    PyLearner(int64_t n_classes, Matrix w, Vector<double> b, std::optional<Matrix> ws,
              std::optional<Vector<double>> bs, const std::string& rule_name, bool tie, double beta, double c,
              double bias_square, bool zero)
        : weights_array(w), bias_array(b), sums_array(ws), bias_sums_array(bs) {
        rule = rule_named(rule_name);
        tie_is_mistake = tie;
        margin = beta;
        C = c;
        bias2 = bias_square;
        classes = n_classes;
        features = int64_t(w.shape(0));
        stride = int64_t(w.shape(1));
        const int64_t expected = classes == 2 ? 1 : (classes + 3) / 4 * 4;
        if (classes < 2 || stride != expected || int64_t(b.shape(0)) != stride ||
            (ws && (int64_t(ws->shape(0)) != features || int64_t(ws->shape(1)) != stride)) ||
            (bs && int64_t(bs->shape(0)) != stride))
            throw std::invalid_argument("weights, bias and sums do not fit the number of classes");
        weights = w.data();
        bias = b.data();
        weight_sums = ws ? ws->data() : nullptr;
        bias_sums = bs ? bs->data() : nullptr;
        if (zero) norm2.assign(size_t(stride), 0.0);
        else measure_norm();
    }

    // The Frobenius norm; on the way the filter's norms are made tight again.
    double measure_norm() {
        auto every = [&](auto&& visit) {
            for (int64_t j = 0; j < features; ++j) visit(j);
        };
        return measure_norm(stride == 1 ? DenseRow<double>{weights, features, weights}.norm2() : 0, every);
    }
    // The same numbers, where only these rows, in their order, are not zero: no other is looked at.
    double measure_norm_of(const Order& rows) {
        const int64_t *const used = rows.data(), n = int64_t(rows.shape(0)), paired = features / 8 * 8;
        for (int64_t i = 0; i < n; ++i)
            if (used[i] < 0 || used[i] >= features || (i && used[i - 1] >= used[i]))
                throw std::invalid_argument("rows of weights must increase and be below their number");
        nb::gil_scoped_release nogil;
        auto every = [&](auto&& visit) {
            for (int64_t i = 0; i < n; ++i) visit(used[i]);
        };
        double sum = 0;
        if (stride == 1) {  // added in the order of DenseRow::norm2
            Vec part[2] = {};
            int64_t i = 0;
            for (; i < n && used[i] < paired; ++i) {
                Vec w{};
                w[used[i] % 4] = weights[used[i]];
                Vec& to = part[used[i] / 4 % 2];
                to = multiply_add(w, w, to);
            }
            sum = total(part[0] + part[1]);
            for (; i < n; ++i) sum += weights[used[i]] * weights[used[i]];
        }
        return measure_norm(sum, every);
    }

  private:
    template <class Every>
    double measure_norm(double shared, Every&& every) {
        norm2.assign(size_t(stride), 0.0);
        if (stride == 1) norm2[0] = shared;
        for (int64_t c = 0; c + 4 <= stride; c += 4) {
            Vec sum{};
            every([&](int64_t j) {
                Vec w = load4(weights + j * stride + c);
                sum = multiply_add(w, w, sum);
            });
            store4(&norm2[size_t(c)], sum);
        }
        double all = 0;
        given_bias = 0;
        for (int64_t c = 0; c < stride; ++c) {
            if (!bias2) given_bias = std::max(given_bias, std::fabs(bias[c]));
            double share = bias[c] * bias[c] / (bias2 ? bias2 : 1);
            // the square may have underflowed where the quotient does not
            if (bias2 && !(bias[c] * bias[c] > 0x1p-900)) {
                const double coordinate = bias[c] / std::sqrt(bias2);
                share = coordinate * coordinate;
            }
            norm2[c] += share;
            all += norm2[c];
            norm2[c] *= 1 + double(features + 16) * 4 * kUnit;
        }
        current_norm = weight_norm();
        if (all < 0x1p1000 && all > 0x1p-900) return std::sqrt(all);
        Fallbacks ignored;
        return exact_norm(
            [&](auto& f) {
                every([&](int64_t j) {
                    for (int64_t k = j * stride; k < (j + 1) * stride; ++k) f(weights[k], weights[k]);
                });
                for (int64_t c = 0; c < stride; ++c) {
                    double b = bias2 ? bias[c] / std::sqrt(bias2) : bias[c];
                    f(b, b);
                }
            },
            ignored);
    }
};

// What the loops write to, and who uses it.
struct PyDigest : Digest {
    InUse in_use{"the digest"};
};
struct PyStreak : Streak {
    InUse in_use{"the streak"};
};

// One array a field, handed over: afterwards the learner holds none of them.
auto recorded(PyLearner& l) {
    const auto made = [&] {
        const Writing change(l.in_use);
        return std::exchange(l.updates_made, {});
    }();
    auto column = [&](auto field) {
        using T = std::decay_t<decltype(field(made[0]))>;
        T* out = new T[made.size()];
        nb::capsule owner(out, [](void* p) noexcept { delete[] static_cast<T*>(p); });
        std::transform(made.begin(), made.end(), out, field);
        return nb::ndarray<nb::numpy, T, nb::ndim<1>>(out, {made.size()}, owner);
    };
    using U = Learner::Update;
    return std::make_tuple(column([](const U& u) { return u.row; }),
                           column([](const U& u) { return u.label; }),
                           column([](const U& u) { return u.rival; }),
                           column([](const U& u) { return u.step; }),
                           column([](const U& u) { return u.visit; }));
}

void check_order(const Rows& rows, const std::optional<Order>& order, int64_t begin, int64_t end) {
    const int64_t n = rows.n();
    if (begin < 0 || end < begin || end > (order ? int64_t(order->shape(0)) : n))
        throw std::invalid_argument("visits out of range");
    for (int64_t t = begin; order && t < end; ++t)
        if (order->data()[t] < 0 || order->data()[t] >= n)
            throw std::invalid_argument("order names a row out of range");
}

void check_visits(const Rows& rows, const Learner& m, const Labels& y, const std::optional<Floats>& c,
                  const std::optional<Order>& order, int64_t begin, int64_t end) {
    if (rows.d() > m.features) throw std::invalid_argument("rows have more features than there are weights");
    if (int64_t(y.shape(0)) != rows.n() || (c && int64_t(c->shape(0)) != rows.n()))
        throw std::invalid_argument("labels or weights do not match the rows");
    check_order(rows, order, begin, end);
    for (int64_t t = begin; t < end; ++t) {
        int32_t label = y.data()[order ? order->data()[t] : t];
        if (label < 0 || label >= m.classes) throw std::invalid_argument("label out of range");
    }
}

Visits visits(const Labels& y, const std::optional<Floats>& c, const std::optional<Order>& order,
              int64_t begin, int64_t end) {
    return {y.data(), c ? c->data() : nullptr, order ? order->data() : nullptr, begin, end};
}

// Dense rows need the keys of all columns; sparse ones make the few that they need.
void prepare(Digest& digest, const Rows& rows) {
    rows.visit([&](auto& r) {
        if (std::decay_t<decltype(r)>::kDense) digest.prepare(r.d);
    });
}

void bind_voted(nb::module_& m);  // voted.cpp

void bind_conjunctions(nb::module_&);  // conjunctions.cpp
void bind_margins(nb::module_&);  // margins.cpp
void bind_online(nb::module_&);   // online.cpp
void bind_trees(nb::module_&);    // trees.cpp
void bind_turns(nb::module_&);    // turns.cpp
void bind_winnow(nb::module_&);   // winnow.cpp

void bind_libsvm(nb::module_&);  // libsvm.cpp
void bind_named(nb::module_&);   // named.cpp
void bind_templates(nb::module_&);  // templates.cpp
void bind_cells(nb::module_&);   // cells.cpp
void bind_gram(nb::module_&);    // gram.cpp
void bind_budget(nb::module_&);  // budget.cpp
void bind_format(nb::module_&);  // format.cpp
void bind_tagger(nb::module_&);  // tagger.cpp

NB_MODULE(NOVIKOFF_MODULE, m) {
    m.doc() = "The native loops of novikoff: see native/ for the mathematics above each of them.";

    nb::set_leak_warnings(false);  // objects that outlive the interpreter's last moments are no news to users

    m.def(
        "runs_v3",
        [] {
#if defined(__x86_64__)
            return bool(__builtin_cpu_supports("x86-64-v3"));
#else
            return false;
#endif
        },
        "Whether this processor has AVX2 and FMA.");

    nb::class_<Rows>(m, "Rows", "A matrix read in place: dense float32, float64 or uint8, or CSR.")
        .def(nb::init<nb::ndarray<nb::ro, nb::device::cpu, nb::ndim<2>>>(), nb::arg("x"))
        .def(nb::init<nb::ndarray<nb::ro, nb::device::cpu, nb::ndim<1>>,
                      nb::ndarray<nb::ro, nb::device::cpu, nb::ndim<1>>,
                      nb::ndarray<nb::ro, nb::device::cpu, nb::ndim<1>>, int64_t, bool>(),
             nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("n_features"),
             nb::arg("distinct") = false)
        .def_prop_ro("n", &Rows::n)
        .def_prop_ro("d", &Rows::d);

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
        .def(nb::init<int64_t, Matrix, Vector<double>, std::optional<Matrix>, std::optional<Vector<double>>,
                      const std::string&, bool, double, double, double, bool>(),
             nb::arg("classes"), nb::arg("weights"), nb::arg("bias"), nb::arg("weight_sums").none(),
             nb::arg("bias_sums").none(), nb::arg("rule"), nb::arg("tie_is_mistake"), nb::arg("margin"),
             nb::arg("C"), nb::arg("bias_square"), nb::arg("zero") = false)
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
            nb::arg("rows"), "The same, where only these rows, in their order, are not zero.")
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
            "From now on, write down every update.")
        .def("recorded", &recorded,
             "Hand over the updates recorded so far: (row, label, rival, step, visits before) as arrays.");

    nb::class_<PyDigest> digest(m, "Digest",
                                "A digest of examples by their values, in any storage, order and cutting.");
    guarded(digest, "value", &PyDigest::value);
    guarded(digest, "count", &PyDigest::count);
    digest.def(nb::init<>())
        .def(
            "add",
            [](PyDigest& digest, const Rows& rows, const Labels& y, const std::optional<Floats>& c,
               const std::optional<Order>& order, int64_t begin, int64_t end) {
                check_order(rows, order, begin, end);
                if (int64_t(y.shape(0)) != rows.n() || (c && int64_t(c->shape(0)) != rows.n()))
                    throw std::invalid_argument("labels or weights do not match the rows");
                const Visits v = visits(y, c, order, begin, end);
                const Writing change(digest.in_use);
                nb::gil_scoped_release nogil;
                prepare(digest, rows);
                rows.visit([&](auto& r) {
                    for (int64_t t = v.begin; t < v.end; ++t) {
                        const int64_t i = v.row(t);
                        digest.add(digest.hash(r[i]), v.labels[i], v.weight(i));
                    }
                });
            },
            nb::arg("rows"), nb::arg("labels"), nb::arg("weights").none(), nb::arg("order").none(),
            nb::arg("begin"), nb::arg("end"),
            "Add the rows of a range, without a look at whether they are sound.");

    m.def(
        "epoch",
        [](PyLearner& l, const Rows& rows, const Labels& y, const std::optional<Floats>& c,
           const std::optional<Order>& order, int64_t begin, int64_t end, bool first, PyDigest* digest) {
            const Writing change(l.in_use);
            std::optional<Writing> change_digest;
            if (digest) change_digest.emplace(digest->in_use);
            check_visits(rows, l, y, c, order, begin, end);
            const Visits v = visits(y, c, order, begin, end);
            nb::gil_scoped_release nogil;
            if (digest && first) prepare(*digest, rows);
            return report(rows.visit([&](auto& r) {
                if (l.binary())
                    return first ? epoch<true, true>(l, r, v, {}, digest) : epoch<false, true>(l, r, v);
                return first ? epoch<true, false>(l, r, v, {}, digest) : epoch<false, false>(l, r, v);
            }));
        },
        nb::arg("learner"), nb::arg("rows"), nb::arg("labels"), nb::arg("weights").none(),
        nb::arg("order").none(), nb::arg("begin"), nb::arg("end"), nb::arg("first"),
        nb::arg("digest").none() = nb::none(),
        "Learn from a range of visits; `first` checks each row as it comes, and adds it to the digest. Returns "
        "(problem, row).");

    nb::class_<PyStreak> streak(m, "Streak",
                                "Runs of right examples: of the present weights and of those in the pocket.");
    streak.def(nb::init<>());
    guarded(streak, "run", &PyStreak::run);
    guarded(streak, "longest", &PyStreak::longest);
    guarded(streak, "looked", &PyStreak::looked);
    guarded(streak, "held", &PyStreak::held);

    m.def(
        "pocket_epoch",
        [](PyLearner& l, PyStreak& streak, const Rows& rows, const Labels& y, const std::optional<Floats>& c,
           const std::optional<Order>& order, int64_t begin, int64_t end, bool first) {
            const Writing change(l.in_use), change_streak(streak.in_use);
            Streak& run = streak;
            check_visits(rows, l, y, c, order, begin, end);
            const Visits v = visits(y, c, order, begin, end);
            nb::gil_scoped_release nogil;
            return report(rows.visit([&](auto& r) {
                if (l.binary())
                    return first ? epoch<true, true>(l, r, v, run) : epoch<false, true>(l, r, v, run);
                return first ? epoch<true, false>(l, r, v, run) : epoch<false, false>(l, r, v, run);
            }));
        },
        nb::arg("learner"), nb::arg("streak"), nb::arg("rows"), nb::arg("labels"), nb::arg("weights").none(),
        nb::arg("order").none(), nb::arg("begin"), nb::arg("end"), nb::arg("first"),
        "As `epoch`, but ends where weights not looked at yet have the longest run: the learner's visits tell.");

    m.def(
        "add_errors",
        [](PyLearner& l, const Rows& rows, const Labels& y, const std::optional<Floats>& c,
           const std::optional<Order>& order, int64_t begin, int64_t end, double limit, double total) {
            const Writing change(l.in_use);
            check_visits(rows, l, y, c, order, begin, end);
            const Visits v = visits(y, c, order, begin, end);
            nb::gil_scoped_release nogil;
            const Outcome o = rows.visit([&](auto& r) { return add_errors(l, r, v, limit, total); });
            return std::make_tuple(std::string(name(o.problem)), o.row, total);
        },
        nb::arg("learner"), nb::arg("rows"), nb::arg("labels"), nb::arg("weights").none(),
        nb::arg("order").none(), nb::arg("begin"), nb::arg("end"), nb::arg("limit"), nb::arg("total"),
        "`total` plus the weight of the wrong rows of a range, up to `limit`: (problem, row, total).");

    m.def(
        "scan",
        [](PyLearner& l, const Rows& rows, const std::optional<Floats>& c, const std::optional<Order>& order,
           int64_t begin, int64_t end, const std::optional<Labels>& y, PyDigest* digest) {
            const Writing change(l.in_use);
            std::optional<Writing> change_digest;
            if (digest) change_digest.emplace(digest->in_use);
            check_order(rows, order, begin, end);
            if (rows.d() > l.features || (c && int64_t(c->shape(0)) != rows.n()))
                throw std::invalid_argument("rows do not fit the weights of the learner or of the samples");
            if (digest && (!y || int64_t(y->shape(0)) != rows.n()))
                throw std::invalid_argument("a digest needs the labels of the rows");
            const Visits v{y ? y->data() : nullptr, c ? c->data() : nullptr, order ? order->data() : nullptr,
                           begin, end};
            Learner seen;
            seen.features = rows.d();
            seen.bias2 = l.bias2;
            seen.square_low = l.square_low;  // what is smaller need not be measured
            seen.measures = l.measures;
            nb::gil_scoped_release nogil;
            if (digest) prepare(*digest, rows);
            Scan s = rows.visit([&](auto& r) { return scan(seen, r, v, digest); });
            const bool fine = s.outcome.problem == Problem::none;
            if (fine) l.take(seen);
            return std::make_tuple(std::string(name(s.outcome.problem)), s.outcome.row,
                                   fine && l.may_overflow(end - begin, s.smallest_norm, s.heaviest));
        },
        nb::arg("learner"), nb::arg("rows"), nb::arg("weights").none(), nb::arg("order").none(),
        nb::arg("begin"), nb::arg("end"), nb::arg("labels").none() = nb::none(),
        nb::arg("digest").none() = nb::none(),
        "Check rows without learning, add them to the digest, and take over their norms: (problem, row, may learning them overflow).");

    m.def(
        "row_norms",
        [](const Rows& rows, double bias_square) {
            const int64_t n = rows.n();
            double* out = new double[size_t(n)];
            nb::capsule owner(out, [](void* p) noexcept { delete[] static_cast<double*>(p); });
            Learner l;
            l.bias2 = bias_square;
            rows.visit([&](auto& r) {
                for (int64_t i = 0; i < n; ++i) out[i] = l.row_norm(r[i], r[i].norm2());
            });
            return nb::ndarray<nb::numpy, double, nb::ndim<1>>(out, {size_t(n)}, owner);
        },
        nb::arg("rows"), nb::arg("bias_square"), "The norm of every row with its bias coordinate.");

    m.def(
        "add_columns",
        [](const Rows& rows, Array<double, nb::shape<-1, 5>, nb::c_contig> sums) {
            if (rows.d() > int64_t(sums.shape(0)))
                throw std::invalid_argument("the sums have too few columns");
            double* out = sums.data();
            nb::gil_scoped_release released;
            return rows.visit([&](auto& r) -> int64_t {
                for (int64_t i = 0; i < r.n; ++i)
                    if (!r[i].valid(r.d)) return i;
                    else r[i].for_each([&](int64_t j, double x) { add_to_column(out + 5 * j, x); });
                return -1;
            });
        },
        nb::arg("rows"), nb::arg("sums"),
        "Add to every column its sum and sum of squares, two doubles each, and its largest size; the first bad row or -1.");

    m.def(
        "smallest",
        [](PyLearner& l, const Rows& rows, const Labels& y, const std::optional<Floats>& c,
           const std::optional<Order>& order, int64_t begin, int64_t end, bool guarded, bool stop) {
            const Writing change(l.in_use);
            check_visits(rows, l, y, c, order, begin, end);
            const Visits v = visits(y, c, order, begin, end);
            nb::gil_scoped_release nogil;
            Smallest s = rows.visit([&](auto& r) { return smallest(l, r, v, guarded, stop); });
            return std::make_tuple(std::string(name(s.outcome.problem)), s.outcome.row, s.value, s.row,
                                   s.hurts, s.wrong, s.least);
        },
        nb::arg("learner"), nb::arg("rows"), nb::arg("labels"), nb::arg("weights").none(),
        nb::arg("order").none(), nb::arg("begin"), nb::arg("end"), nb::arg("guarded"), nb::arg("stop"),
        "The smallest difference: (problem, row, value, its row, whether a tie there hurts, whether a row is wrong, the "
        "value rounded down).");

    m.def(
        "predict",
        [](PyLearner& l, const Rows& rows, int64_t begin, int64_t end, Vector<int32_t> out) {
            const Writing change(l.in_use);  // it counts
            if (rows.d() != l.features || int64_t(out.shape(0)) != rows.n() || begin < 0 || end > rows.n())
                throw std::invalid_argument("rows, weights and output do not fit");
            nb::gil_scoped_release nogil;
            return report(rows.visit([&](auto& r) { return predict(l, r, begin, end, out.data()); }));
        },
        nb::arg("learner"), nb::arg("rows"), nb::arg("begin"), nb::arg("end"), nb::arg("out"),
        "Write the exact class of a range of rows into `out`.");

    m.def(
        "scores",
        [](PyLearner& l, const Rows& rows, int64_t begin, int64_t end, Array<double, nb::c_contig> out) {
            const Writing change(l.in_use);
            const int64_t columns = l.binary() ? 1 : l.classes;
            if (rows.d() != l.features || int64_t(out.size()) != rows.n() * columns || begin < 0 ||
                end > rows.n())
                throw std::invalid_argument("rows, weights and output do not fit");
            nb::gil_scoped_release nogil;
            return report(rows.visit([&](auto& r) { return scores(l, r, begin, end, out.data()); }));
        },
        nb::arg("learner"), nb::arg("rows"), nb::arg("begin"), nb::arg("end"), nb::arg("out"),
        "Write scores whose sign or argmax is exact into `out`.");

    m.def(
        "exact_dot",
        [](const Floats& a, const Floats& b, bool compensated) {
            if (a.shape(0) != b.shape(0)) throw std::invalid_argument("vectors differ in length");
            auto terms = [&](auto& f) {
                for (size_t j = 0; j < a.shape(0); ++j) f(a.data()[j], b.data()[j]);
            };
            if (compensated) {
                Fallbacks ignored;
                return std::make_tuple(exact_sign(terms, ignored), exact_value(terms, ignored));
            }
            LongAccumulator once, twice;
            terms(once);
            terms(twice);
            return std::make_tuple(once.sign(), twice.rounded());
        },
        nb::arg("a"), nb::arg("b"), nb::arg("compensated") = true,
        "Sign and correctly rounded value of a.b; without the compensated sum, by the accumulator alone.");

    bind_margins(m);
    bind_voted(m);

    m.def(
        "advise_huge_pages",
        [](const Array<double>& a, bool huge) {
#if defined(__linux__)
            const uintptr_t page = uintptr_t(1) << 21, p = uintptr_t(a.data());
            const uintptr_t first = (p + page - 1) / page * page, last = (p + a.size() * 8) / page * page;
            if (last > first)
                madvise(reinterpret_cast<void*>(first), last - first, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#else
            (void)a, (void)huge;
#endif
        },
        nb::arg("array"), nb::arg("huge") = true,
        "Ask for huge pages, or for none, under a large, still untouched array.");

    bind_online(m);
    bind_trees(m);
    bind_turns(m);
    bind_winnow(m);
    bind_conjunctions(m);

    bind_libsvm(m);

    bind_named(m);
    bind_templates(m);
    bind_cells(m);
    bind_gram(m);
    bind_budget(m);
    bind_tagger(m);
    bind_format(m);
}
