// OnlinePerceptron's core: dicts in, labels out. The learning itself is `epoch` over one row and the
// predictions are `predict` and `scores` over one row; here are the growing storage, the reading of
// dicts, and the promise that a refused example leaves no trace.
//
// Everything runs under the GIL. Foreign Python code (a value's __float__, a label's __eq__, a key's
// __repr__ in a message) is only called before the current row is gathered, or after all is done or
// undone; in between nothing can interrupt, so that calls from several threads, and from inside that
// code, follow one another. `in_use` would tell if it were otherwise.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "memory/in_use.h"
#include "memory/zeroed.h"
#include "rows/dict_row.h"

namespace novikoff {

class OnlineLearner {
    using Matrix = nb::ndarray<nb::numpy, double, nb::ndim<2>>;
    using Floats = nb::ndarray<const double, nb::device::cpu, nb::c_contig>;
    using Places = nb::ndarray<const int64_t, nb::device::cpu, nb::c_contig>;

    Learner learner;  // learns: w
    Learner reader;   // predicts: w, or the averages of the features of the current row
    using Table = ZeroTable<double>;
    Table weights, sums;  // 2^28 hashed features take no room but where they were learned
    Table confidences;    // of the rules that adapt
    std::vector<double> bias, bias_sums, bias_confidences;
    struct Label {
        nb::object object;
        Py_hash_t hash;
    };
    std::vector<Label> labels;
    nb::object precedes;   // (label, other): whether the label is the lower class though it comes later
    bool declared = false, average;
    int64_t mistakes = 0;  // progressive
    int64_t ties = 0;      // those at a score of 0, while one class was known
    bool wide = false;     // rows have been seen with which an update could overflow
    bool untouched = true; // the tables are all zero
    DictRow x;             // the current row
    InUse in_use{"the model"};
    // the averaged weights of its features, and the places 0, 1, 2, ... where they are
    std::vector<double> mean, mean_bias;
    std::vector<int64_t> places;

    // ---- storage -----------------------------------------------------------------------------
    void point() {
        learner.weights = weights.data();
        learner.bias = bias.data();
        learner.weight_sums = average ? sums.data() : nullptr;
        learner.bias_sums = average ? bias_sums.data() : nullptr;
        learner.confidences = learner.adapts() ? confidences.data() : nullptr;
        learner.bias_confidences = learner.adapts() ? bias_confidences.data() : nullptr;
    }

    void set_features(int64_t d) {
        if (size_t(d * learner.stride) > weights.size()) {
            if (average) sums.resize(size_t(d * learner.stride));
            if (learner.adapts()) confidences.resize(size_t(d * learner.stride));
            weights.resize(size_t(d * learner.stride));
            point();
        }
        learner.features = d;
    }

    // From two classes to three, w becomes (-w, +w, 0): what the joint rule would hold after the
    // same updates. One more class after that is one more column of zeros. Also the way back.
    void set_classes(int64_t known) {
        const int64_t was = learner.classes, now = std::max<int64_t>(known, 2);
        const int64_t old = learner.stride, stride = now == 2 ? 1 : (now + 3) / 4 * 4;
        auto wider = [&](const auto& v, double first = -1.0) {
            std::decay_t<decltype(v)> out(v.size() / size_t(old) * size_t(stride));
            if (untouched) return out;
            for_each_used(v.data(), v.size() / size_t(old), size_t(old), [&](size_t j, const double* from) {
                double* to = out.data() + j * size_t(stride);
                if (was == 2) to[0] = first * from[0] + 0.0, to[1] = from[0];
                else if (now == 2) to[0] = from[1];
                else std::copy(from, from + std::min(was, now), to);
            });
            return out;
        };
        if (stride != old) {
            Table w = wider(weights), ws = wider(sums);
            std::vector<double> b = wider(bias), bs = wider(bias_sums);
            Table q = wider(confidences, 1.0);  // a confidence is the same for w and -w
            std::vector<double> bq = wider(bias_confidences, 1.0);
            std::vector<double> norm2(size_t(stride), 0.0);
            for (int64_t c = 0; c < std::min(old, stride); ++c) norm2[c] = learner.norm2[c];
            if (was == 2) norm2[1] = norm2[0];
            weights.swap(w), bias.swap(b), sums.swap(ws), bias_sums.swap(bs), learner.norm2.swap(norm2);
            confidences.swap(q), bias_confidences.swap(bq);
        }
        learner.classes = now;
        learner.stride = stride;
        point();
    }

    // The rows of a table that are not zero, and what they hold, without padding.
    struct Rows {
        std::vector<int64_t> places;
        std::vector<double> values;
    };
    int64_t columns() const { return learner.binary() ? 1 : learner.classes; }
    Rows used_rows(const Table& from) const {
        Rows out;
        const auto stride = size_t(learner.stride);
        for_each_used(from.data(), from.size() / stride, stride, [&](size_t j, const double* row) {
            out.places.push_back(int64_t(j));
            out.values.insert(out.values.end(), row, row + columns());
        });
        return out;
    }
    void put_rows(const Rows& from, Table& to) const {
        for (size_t i = 0; i < from.places.size(); ++i)
            std::copy_n(from.values.begin() + int64_t(i) * columns(), columns(),
                        to.begin() + from.places[i] * learner.stride);
    }

    // ---- predicting --------------------------------------------------------------------------
    // Points `reader` at the weights that predict and returns the row that fits them. Averages are
    // taken for the row's features only: (T w - u) / T, rounded at each operation.
    OneRow reading(const OneRow& one) {
        reader.tie_is_mistake = learner.tie_is_mistake;
        reader.bias2 = learner.bias2;
        reader.classes = learner.classes;
        reader.stride = learner.stride;
        reader.features = learner.features;
        reader.weights = learner.weights;
        reader.bias = learner.bias;
        reader.current_norm = learner.current_norm;
        if (!average) return one;

        const int64_t stride = learner.stride;
        const double visits = double(learner.visits);
        const auto size = size_t(x.stored * stride);
        if (mean.size() < size) mean.resize(size);
        mean_bias.resize(size_t(stride));
        for (int64_t k = int64_t(places.size()); k < x.stored; ++k) places.push_back(k);
        double norm2 = 0;
        auto take = [&](const double* w, const double* u, double* out) {
            for (int64_t c = 0; c < stride; ++c) {
                out[c] = visits ? mean_weight(w[c], u[c], visits) : 0.0;
                norm2 += out[c] * out[c];
            }
        };
        for (int64_t k = 0; k < x.stored; ++k)
            take(&weights[size_t(x.indices[k] * stride)], &sums[size_t(x.indices[k] * stride)],
                 &mean[size_t(k * stride)]);
        take(bias.data(), bias_sums.data(), mean_bias.data());
        if (!std::isfinite(norm2)) {
            bool finite = true;
            for (size_t k = 0; k < size; ++k) finite &= std::isfinite(mean[k]);
            for (double b : mean_bias) finite &= std::isfinite(b);
            if (!finite) overflow(kAverageOverflows, learner.radius);
            norm2 = INFINITY;
        }
        reader.features = x.stored;
        reader.weights = mean.data();
        reader.bias = mean_bias.data();
        reader.current_norm = std::sqrt(norm2 * (1 + double(size + 16) * 4 * kUnit) + 0x1p-1022);
        return {{{x.values.data(), places.data(), x.stored}}};
    }

    bool mistaken(const OneRow& one, int32_t label) {
        OneRow read = reading(one);
        if (reader.tie_is_mistake)
            return smallest(reader, read, {&label, nullptr, nullptr, 0, 1}, false, true).wrong;
        int32_t said;
        novikoff::predict(reader, read, 0, 1, &said);
        return said != label;
    }

    static constexpr const char* kWeightOverflows =
        "a weight would exceed the range of a float: multiply all values by 2**%lld, from the first example on";
    static constexpr const char* kAverageOverflows =
        "an averaged weight would exceed the range of a float: multiply all values by 2**%lld, from the first example on";
    [[noreturn]] void overflow(const char* what, double radius) const {
        // An ordinary row, but weights that larger rows have left behind.
        const bool ordinary = x.largest == 0 || (x.largest > 0x1p-290 && x.largest < 0x1p290);
        const int power = -std::ilogb(ordinary ? radius : x.largest);
        throw Refusal{PyExc_OverflowError, what, {}, {}, power};
    }

    // ---- learning ----------------------------------------------------------------------------
    // The class of a label, or the number of classes when it is new. Runs foreign code.
    int64_t find_label(PyObject* y, Py_hash_t& hash) {
        for (size_t c = 0; c < std::min<size_t>(labels.size(), 4); ++c)
            if (labels[c].object.is(y)) return int64_t(c);
        if (y == Py_None)
            fail(PyExc_TypeError, "None is not a label: predict_one returns it when it knows no class");
        hash = PyObject_Hash(y);
        if (hash == -1) {
            if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
            PyErr_Clear();
            fail(PyExc_TypeError, "a label must be hashable, got %s", Py_TYPE(y)->tp_name);
        }
        auto equal = [](PyObject* a, PyObject* b) {
            nb::object same = nb::steal(PyObject_RichCompare(a, b, Py_EQ));
            int truth = same.is_valid() ? PyObject_IsTrue(same.ptr()) : -1;
            if (truth < 0) throw nb::python_error();
            return truth == 1;
        };
        for (bool checked = false;; checked = true) {
            for (size_t c = 0; c < labels.size(); ++c) {
                if (labels[c].hash != hash) continue;
                nb::object held = labels[c].object;
                if (held.is(y) || equal(held.ptr(), y)) return int64_t(c);
            }
            if (declared) {
                nb::object all = classes();
                fail(PyExc_ValueError, "label %R is not among the declared classes %R", y, all.ptr());
            }
            if (checked) return int64_t(labels.size());
            if (!equal(y, y)) fail(PyExc_ValueError, "a label must equal itself, got %R", y);
        }
    }

    // Whether a second label is the first class. Runs Python code: no value when another call came in
    // between.
    __attribute__((noinline)) std::optional<bool> is_lower(PyObject* label) {
        const nb::object first = labels[0].object;
        const bool lower = nb::cast<bool>(precedes(nb::handle(label), first));
        if (labels.size() != 1 || !labels[0].object.is(first)) return std::nullopt;
        return lower;
    }

    void take_back() {  // the features that the current example has added
        x.table.undo();
        x.forget();
    }

    // What an update can change, kept while it might fail.
    struct Backup {
        Learner learner;
        std::vector<double> weights, sums, confidences, bias, bias_sums, bias_confidences;
    };
    template <class Copy>
    void touched(Backup& b, Copy&& copy) {
        const auto stride = size_t(learner.stride);
        auto each = [&](auto& table, std::vector<double>& kept) {
            kept.resize(size_t(x.stored) * stride);
            for (int64_t k = 0; k < x.stored; ++k)
                copy(&table[size_t(x.indices[k]) * stride], &kept[size_t(k) * stride], stride);
        };
        each(weights, b.weights);
        if (average) each(sums, b.sums);
        if (learner.adapts()) each(confidences, b.confidences);
    }

    // The only class so far turns out to be the second of two.
    void turn() {
        if (learner.stays_at_zero()) mistakes = 0;
        else if (!learner.tie_is_mistake) mistakes -= ties;
        learner.turn();
    }

    bool tied(const OneRow& one) {
        double score;
        novikoff::scores(reader, reading(one), 0, 1, &score);
        return score == 0;
    }

    // While one class is known, it is treated as the first of two.
    void learn_row(int64_t label) {
        const OneRow one = x.row();
        const auto y = int32_t(label);
        const bool alone = labels.size() == 1;
        bool wrong = average && mistaken(one, y);
        const bool tie = alone && wrong && tied(one);
        // Up to 2^300 per row and 2^900 per weight vector no rule can reach 2^1024 in one step, and, up to
        // 2^150 and 2^300, none that squares values or multiplies weights with them.
        const bool tiny = !learner.bias2 && x.largest > 0 && x.largest < 0x1p-290;
        const bool ordinary = !learner.adapts() || (x.largest < 0x1p150 && learner.current_norm < 0x1p300 &&
                                                    learner.C > 0x1p-100 && learner.C < 0x1p100);
        const bool risk =
            wide || tiny || !ordinary || !(x.largest < 0x1p290) || !(learner.current_norm < 0x1p900);
        std::optional<Backup> before;
        if (risk) {
            before = Backup{learner, {}, {}, {}, bias, bias_sums, bias_confidences};
            touched(*before, [](double* here, double* kept, size_t n) { std::copy(here, here + n, kept); });
        }
        const int64_t mistakes_before = learner.mistakes, ties_before = learner.ties;
        untouched = false;
        const Visits visit{&y, nullptr, nullptr, 0, 1};
        const Outcome outcome = learner.binary() ? epoch<true, true>(learner, one, visit)
                                                 : epoch<true, false>(learner, one, visit);
        if (outcome.problem == Problem::overflow) {
            touched(*before, [](double* here, double* kept, size_t n) { std::copy(kept, kept + n, here); });
            bias = before->bias;
            bias_sums = before->bias_sums;
            bias_confidences = before->bias_confidences;
            const double radius = learner.radius;
            std::swap(learner, before->learner);
            point();
            overflow(kWeightOverflows, radius);
        }
        wide = risk;
        if (!average) wrong = learner.mistakes > mistakes_before;
        mistakes += wrong;
        if (alone) ties += average ? tie : learner.ties > ties_before;
    }

    // The current row, gathered, is of a class that precedes the only one so far.
    __attribute__((noinline)) void learn_second(PyObject* label, Py_hash_t hash) {
        const auto unturned = std::make_tuple(learner, bias, bias_sums, bias_confidences, mistakes);
        const auto w = used_rows(weights), u = used_rows(sums), q = used_rows(confidences);
        const size_t room = weights.size();
        labels.push_back({nb::borrow(label), hash});
        std::swap(labels[0], labels[1]);
        try {
            turn();
            set_features(x.features());
            learn_row(0);
        } catch (...) {
            labels.erase(labels.begin());
            std::tie(learner, bias, bias_sums, bias_confidences, mistakes) = unturned;
            weights = Table(room), sums = Table(average ? room : 0);
            confidences = Table(learner.adapts() ? room : 0);
            put_rows(w, weights), put_rows(u, sums), put_rows(q, confidences);
            point();
            throw;
        }
    }

  public:
    using Precedes = nb::typed<nb::callable, bool(nb::any, nb::any)>;
    using Objects = nb::typed<nb::list, nb::any>;
    using Names = nb::typed<nb::list, nb::str>;

    OnlineLearner(const UpdateRule& rule, Precedes precedes, bool average, std::optional<int> hash_bits,
                  uint64_t seed, std::optional<Objects> classes)
        : learner(rule), precedes(precedes), average(average), x(hash_bits, seed) {
        learner.norm2.assign(1, 0.0);
        bias.assign(1, 0.0);
        if (average) bias_sums.assign(1, 0.0);
        if (learner.adapts()) bias_confidences.assign(1, 0.0);
        if (classes) {
            for (nb::handle y : *classes) {
                Py_hash_t hash = 0;
                if (find_label(y.ptr(), hash) < int64_t(labels.size()))
                    fail(PyExc_ValueError, "classes: %R is given twice", y.ptr());
                labels.push_back({nb::borrow(y), hash});
            }
            declared = true;
        }
        set_classes(int64_t(labels.size()));
        set_features(x.features());
    }

    // f(row) with what is known of a dict's features.
    template <class F>
    void with_known(PyObject* dict, F&& f) {
        DictRow::check_dict(dict);
        std::vector<nb::object> plain;
        try {
            for (;; plain = DictRow::plain(dict)) {
                const Writing change(in_use);
                if (x.gather(dict, plain, false)) return f(x.row());
            }
        } catch (const Refusal& refusal) {
            refusal.raise();
        }
    }

    nb::object predict(PyObject* dict) {
        nb::object said = nb::none();
        with_known(dict, [&](const OneRow& one) {
            int32_t out = 0;
            if (labels.size() > 1) novikoff::predict(reader, reading(one), 0, 1, &out);
            if (labels.size()) said = labels[size_t(out)].object;
        });
        return said;
    }

    nb::object score(PyObject* dict) {
        std::vector<double> out{0.0};
        std::vector<Label> now;  // a label's __hash__ may run while the dict is filled
        with_known(dict, [&](const OneRow& one) {
            if (labels.size() < 2) return;
            now = labels;
            out.resize(labels.size());
            novikoff::scores(reader, reading(one), 0, 1, out.data());
        });
        if (now.size() <= 2) return nb::float_(out[0]);
        nb::dict result;
        for (size_t c = 0; c < now.size(); ++c) result[now[c].object] = out[c];
        return result;
    }

    void learn(PyObject* dict, PyObject* label) {
        try {
            learn_or_refuse(dict, label);
        } catch (const Refusal& refusal) {
            refusal.raise();
        }
    }
    void learn_or_refuse(PyObject* dict, PyObject* label) {
        DictRow::check_dict(dict);
        std::optional<Writing> change;
        std::vector<nb::object> plain;
        int64_t y;
        Py_hash_t hash = 0;
        bool turns;
        for (;;) {
            y = find_label(label, hash);
            turns = false;
            if (y == 1 && labels.size() == 1) {
                const std::optional<bool> lower = is_lower(label);
                if (!lower) continue;
                turns = *lower;
            }
            change.emplace(in_use);
            x.table.begin();
            try {
                if (x.gather(dict, plain, true)) break;
            } catch (...) {
                take_back();
                throw;
            }
            take_back();
            change.reset();
            plain = DictRow::plain(dict);
        }
        const auto known = int64_t(labels.size());
        try {
            if (turns) return learn_second(label, hash);
            if (y == known) {
                labels.push_back({nb::borrow(label), hash});
                set_classes(known + 1);
            }
            set_features(x.features());
            learn_row(y);
        } catch (...) {
            take_back();
            if (int64_t(labels.size()) > known) labels.pop_back();
            set_classes(known);
            learner.features = x.features();
            throw;
        }
    }

    // Learns pairs (x, y) from an iterable. The error names a refused one by its position; those before it
    // stay.
    void learn_many(nb::typed<nb::iterable, nb::any> pairs) {
        int64_t position = 0;
        for (nb::handle pair : pairs) {
            try {
                nb::object two = nb::steal(PySequence_Fast(pair.ptr(), "expected a pair (x, y)"));
                if (!two.is_valid()) throw nb::python_error();
                if (PySequence_Fast_GET_SIZE(two.ptr()) != 2)
                    fail(PyExc_ValueError, "expected a pair (x, y)");
                nb::object dict = nb::borrow(PySequence_Fast_GET_ITEM(two.ptr(), 0));
                nb::object label = nb::borrow(PySequence_Fast_GET_ITEM(two.ptr(), 1));
                learn(dict.ptr(), label.ptr());
            } catch (nb::python_error& e) {
                for (PyObject* type : {PyExc_TypeError, PyExc_OverflowError, PyExc_ValueError})
                    if (e.matches(type))
                        nb::raise_from(e, type, "example %lld: %s", (long long)position,
                                       nb::str(e.value()).c_str());
                throw;
            }
            if (++position & 1023) continue;
            if (PyErr_CheckSignals()) throw nb::python_error();
            nb::gil_scoped_release others_turn;
        }
    }

    // For the garbage collector: a label may lead back to its model.
    int traverse(visitproc visit, void* arg) const {
        for (const Label& y : labels) Py_VISIT(y.object.ptr());
        Py_VISIT(precedes.ptr());
        return 0;
    }
    void clear() { std::vector<Label>().swap(labels); }

    // ---- what it holds -----------------------------------------------------------------------
    Objects classes() const {
        // the garbage collector may run foreign code while a list is filled
        const std::vector<Label> now = labels;
        Objects out;
        for (const Label& y : now) out.append(y.object);
        return out;
    }
    Names names() const {
        const std::vector<nb::object> now = x.table.held();
        Names out;
        for (const nb::object& name : now) out.append(name);
        return out;
    }
    int64_t features() const { return x.features(); }
    int64_t progressive_mistakes() const { return mistakes; }
    const Learner& state() const { return learner; }
    // The most places of the table of names that are looked at for one of them.
    size_t longest_probe() const { return x.table.longest_probe(); }

    // Memory of the weights and the table, without the names themselves.
    size_t bytes() const {
        size_t doubles = 0;
        for (const auto* v : {&bias, &bias_sums, &bias_confidences, &mean, &mean_bias})
            doubles += v->capacity();
        for (const auto* v : {&weights, &sums, &confidences}) doubles += v->capacity();
        return sizeof *this + 8 * doubles + x.table.bytes();
    }

    // One row per feature (the bias: one row), one column for two classes, else one for each: all of them, or
    // those that are not zero, with their numbers.
    template <class From>
    Rows all_rows(const From& from, int64_t n) const {
        Rows out;
        out.values.resize(size_t(n * columns()));
        for (int64_t j = 0; j < n; ++j)
            std::copy_n(from.begin() + j * learner.stride, columns(), out.values.begin() + j * columns());
        return out;
    }

    // A snapshot: everything is copied before the first container is made, which may run foreign code.
    using State = nb::typed<nb::dict, nb::str, nb::any>;
    State get_state(bool sparse) const {
        struct Part {
            const char* name;
            bool sparse;
            std::unique_ptr<Rows> rows;
        };
        struct Alias {
            nb::object key, value;
            int64_t index;
        };
        const Learner learner = this->learner;
        const int64_t mistakes = this->mistakes, ties = this->ties;
        const bool wide = this->wide;
        const auto width = size_t(columns());
        std::vector<Alias> known;
        x.table.for_each_alias([&](PyObject* key, PyObject* value, int64_t j) {
            known.push_back({nb::borrow(key), value ? nb::borrow(value) : nb::none(), j});
        });
        const std::vector<Label> labels_now = labels;
        const std::vector<nb::object> names_now = x.table.held();
        std::vector<Part> parts;
        auto copy = [&](const char* name, const char* bias_name, const Table& table,
                        const std::vector<double>& biases) {
            Rows rows = sparse ? used_rows(table) : all_rows(table, learner.features);
            parts.push_back({name, sparse, std::make_unique<Rows>(std::move(rows))});
            parts.push_back({bias_name, false, std::make_unique<Rows>(all_rows(biases, 1))});
        };
        copy("weights", "bias", weights, bias);
        if (average) copy("weight_sums", "bias_sums", sums, bias_sums);
        if (learner.adapts()) copy("confidences", "bias_confidences", confidences, bias_confidences);

        State s;
        nb::list all, names, aliases;
        for (const Label& y : labels_now) all.append(y.object);
        for (const nb::object& name : names_now) names.append(name);
        for (const Alias& a : known) aliases.append(nb::make_tuple(a.key, a.value, a.index));
        s["classes"] = all;
        s["names"] = names;
        s["aliases"] = aliases;
        for (Part& part : parts) {
            Rows* const rows = part.rows.release();
            nb::capsule owner(rows, [](void* p) noexcept { delete static_cast<Rows*>(p); });
            const Matrix values(rows->values.data(), {rows->values.size() / width, width}, owner);
            const size_t n = rows->places.size();
            if (!part.sparse) s[part.name] = values;
            else
                s[part.name] = nb::make_tuple(
                    nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>(rows->places.data(), {n}, owner), values);
        }
        s["visits"] = learner.visits;
        s["updates"] = learner.updates;
        s["mistakes"] = mistakes;
        s["ties"] = ties;
        s["learner_mistakes"] = learner.mistakes;
        s["learner_ties"] = learner.ties;
        s["step_sum"] = learner.step_sum;
        s["radius"] = learner.radius;
        s["square_low"] = learner.square_low;
        s["square_high"] = learner.square_high;
        s["drift"] = learner.drift;
        s["largest_row"] = learner.largest_row;
        s["most_stored"] = learner.most_stored;
        s["wide"] = wide;
        s["phi"] = learner.phi;
        nb::list norms;
        for (double v : learner.norm2) norms.append(v);
        s["norm2"] = norms;
        return s;
    }

    // For a learner just made with the same parameters.
    void set_state(State s) {
        std::vector<Label> given;
        for (nb::handle y : nb::cast<nb::list>(s["classes"])) {
            Py_hash_t hash = PyObject_Hash(y.ptr());
            if (hash == -1 && PyErr_Occurred()) throw nb::python_error();
            given.push_back({nb::borrow(y), hash});
        }
        const Writing change(in_use);
        labels = std::move(given);
        set_classes(int64_t(labels.size()));
        auto text = [](nb::handle h) {  // the table needs exact str objects
            if (PyUnicode_CheckExact(h.ptr()) || PyLong_CheckExact(h.ptr())) return h.ptr();
            throw std::invalid_argument("a feature's name is not a str");
        };
        for (nb::handle name : nb::cast<nb::list>(s["names"]))
            x.table.add(FeatureTable::hash(text(name), nullptr), text(name), nullptr,
                        int64_t(x.table.names.size()));
        for (nb::handle a : nb::cast<nb::list>(s["aliases"])) {
            nb::handle key = a[0], value = a[1];
            PyObject* second = value.is_none() ? nullptr : text(value);
            const auto j = nb::cast<int64_t>(a[2]);
            if (j < 0 || j >= features())
                throw std::invalid_argument("an alias names a feature out of range");
            x.table.add(FeatureTable::hash(text(key), second), text(key), second, j);
        }
        set_features(x.features());
        auto load = [&](const char* name, auto& to, int64_t rows) {
            nb::object given = s[name];
            std::optional<Places> places;
            if (nb::isinstance<nb::tuple>(given)) {  // of the rows that are not zero
                places = nb::cast<Places>(given[0]);
                given = given[1];
            }
            auto from = nb::cast<Floats>(given);
            const int64_t n = places ? int64_t(places->size()) : rows;
            bool fits = int64_t(from.size()) == n * columns();
            for (int64_t i = 0; fits && places && i < n; ++i)
                fits = places->data()[i] >= 0 && places->data()[i] < rows;
            if (!fits) throw std::invalid_argument(std::string(name) + " does not fit the names and classes");
            for (int64_t i = 0; i < n; ++i)
                std::copy_n(from.data() + i * columns(), columns(),
                            to.begin() + (places ? places->data()[i] : i) * learner.stride);
        };
        untouched = false;
        load("weights", weights, learner.features);
        load("bias", bias, 1);
        if (average) {
            load("weight_sums", sums, learner.features);
            load("bias_sums", bias_sums, 1);
        }
        if (learner.adapts()) {
            load("confidences", confidences, learner.features);
            load("bias_confidences", bias_confidences, 1);
        }
        learner.visits = nb::cast<int64_t>(s["visits"]);
        learner.updates = nb::cast<int64_t>(s["updates"]);
        mistakes = nb::cast<int64_t>(s["mistakes"]);
        auto count = [&](const char* name, int64_t otherwise) {  // files of earlier versions do not have it
            return s.contains(name) ? nb::cast<int64_t>(s[name]) : otherwise;
        };
        ties = count("ties", 0);
        // Every mistake is an update, and for two rules every update a mistake.
        const bool same = learner.needs_mistake();
        learner.mistakes =
            count("learner_mistakes", same ? learner.updates : std::min(mistakes, learner.updates));
        learner.ties = count("learner_ties", 0);
        learner.step_sum = nb::cast<double>(s["step_sum"]);
        learner.radius = nb::cast<double>(s["radius"]);
        learner.square_low = nb::cast<double>(s["square_low"]);
        learner.square_high = nb::cast<double>(s["square_high"]);
        learner.drift = nb::cast<double>(s["drift"]);
        learner.largest_row = nb::cast<double>(s["largest_row"]);
        learner.most_stored = nb::cast<int64_t>(s["most_stored"]);
        wide = nb::cast<bool>(s["wide"]);
        if (s.contains("phi")) learner.phi = nb::cast<double>(s["phi"]);
        size_t c = 0;
        for (nb::handle v : nb::cast<nb::list>(s["norm2"]))
            if (c < learner.norm2.size()) learner.norm2[c++] = nb::cast<double>(v);
        learner.current_norm = learner.weight_norm();
    }
};

}  // namespace novikoff
