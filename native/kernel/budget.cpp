// Binds kernel perceptrons with a budget: over rows, over kernel values from Python, and the reading of
// dicts.
#include "kernel/budget.h"

#include <memory>

#include "binding.h"
#include "hand_over.h"
#include "kernel/support_rows.h"
#include "linear/examples.h"
#include "memory/still_valid.h"
#include "rows/dict_row.h"
#include "text/python_text.h"

namespace {

// A learner that keeps its supports itself: one of gram.h's kernels, rows in any form.
class RowBudget : public Budgeted {
    TakenRow x, old;
    std::vector<double> k, k_old;
    struct NoGil {};  // there is none to be released
    mutable InUse taking{"the learner"};
    mutable std::vector<std::unique_ptr<TakenRow>> idle;

  public:
    // A scratch row for a thread that only reads. It is kept from call to call, since it has room for all
    // columns.
    class Borrowed {
        const RowBudget& owner;
        std::unique_ptr<TakenRow> row;

      public:
        explicit Borrowed(const RowBudget& from) : owner(from) {
            const WritingTurn<NoGil> mine(owner.taking);
            if (owner.idle.empty()) owner.idle.push_back(std::make_unique<TakenRow>());
            row = std::move(owner.idle.back());
            owner.idle.pop_back();
        }
        ~Borrowed() {
            const WritingTurn<NoGil> mine(owner.taking);
            owner.idle.push_back(std::move(row));
        }
        TakenRow& operator*() const { return *row; }
    };

    SupportRows rows;
    std::vector<int64_t> number;  // of each support, counted over all rows ever passed

    RowBudget(const BudgetRule& rule, const Kernel& kernel, bool sparse, int64_t features)
        : Budgeted(rule), rows(kernel, sparse, features) {}
    RowBudget(const RowBudget&) = delete;

    template <class Row>
    void visit(const Row& row, int32_t label, int64_t row_number, double draw) {
        rows.take(row, x);
        if (int64_t(k.size()) < room) k.reserve(size_t(room)), k.resize(size_t(room));
        rows.kernel_values(x, m, k.data());
        if (decide(k.data(), label)) {
            Fit how;
            how.self = rows.self(x);
            how.draw = draw;
            for (int64_t j = 0; j < m && how.same < 0; ++j)
                if (k[j] == how.self && rows.equal(x, j)) how.same = j;
            if (forgets() && full() && how.same < 0) {
                rows.take_support(oldest(), old);
                k_old.resize(size_t(m));
                rows.kernel_values(old, m, k_old.data());
                how.of_oldest = k_old.data();
            }
            const int64_t slot = update(k.data(), label, how);
            if (slot >= 0) {
                rows.put(x, slot, room);
                if (int64_t(number.size()) < room) number.reserve(size_t(room)), number.resize(size_t(room));
                number[slot] = row_number;
            }
        }
        ++visits;
    }

    int64_t bytes() const {
        size_t numbers = k.capacity() + k_old.capacity() + number.capacity();
        auto add = [&](const TakenRow& row) {
            numbers += row.dense.capacity() + 2 * row.stored.index.capacity() + row.order.capacity();
        };
        add(x), add(old);
        const WritingTurn<NoGil> mine(taking);
        for (const auto& row : idle) add(*row);
        return Budgeted::bytes() + rows.bytes() + int64_t(8 * numbers);
    }
};

// One line of coefficients per column, without padding; those of the mean times the number of visits.
std::vector<double> lines(const Budgeted& b, bool averaged) {
    std::vector<double> out(size_t(b.columns * b.m));
    for (int64_t c = 0; c < b.columns; ++c)
        for (int64_t j = 0; j < b.m; ++j) {
            const double a = b.alpha[c * b.room + j];
            out[c * b.m + j] = averaged ? double(b.visits) * a - b.sums[c * b.room + j] : a;
        }
    return out;
}

using State = nb::typed<nb::dict, nb::str, nb::any>;

State state_of(const Budgeted& b) {
    const Reading read(b.in_use);
    State s;
    const size_t m = size_t(b.m), q = b.basis.size();
    std::vector<double> sums(size_t(b.columns) * m), factor(q * q);
    for (int64_t c = 0; c < b.columns; ++c) std::copy_n(b.sums.data() + c * b.room, m, sums.data() + c * b.m);
    for (size_t i = 0; i < q; ++i)
        std::copy_n(b.factor.data() + i * size_t(b.room) + i, q - i, factor.data() + i * q + i);
    s["alpha"] = array_of(lines(b, false), {size_t(b.columns), m});
    s["sums"] = array_of(sums, {size_t(b.columns), m});
    s["touched"] = array_of(std::vector<int64_t>(b.touched.begin(), b.touched.begin() + b.m));
    s["factor"] = array_of(factor, {q, q});
    s["basis"] = array_of(b.basis);
    s["measures"] = nb::make_tuple(b.damage, b.largest);
    s["counts"] = nb::make_tuple(b.visits, b.wrong, b.mistakes, b.updates, b.close);
    return s;
}

// For a learner that has just been made.
void set_state(Budgeted& b, const State& s) {
    const auto alpha = nb::cast<Table<const double>>(s["alpha"]),
               sums = nb::cast<Table<const double>>(s["sums"]),
               factor = nb::cast<Table<const double>>(s["factor"]);
    const auto touched = nb::cast<Order>(s["touched"]), basis = nb::cast<Order>(s["basis"]);
    const Writing change(b.in_use);
    const int64_t m = int64_t(alpha.shape(1)), q = int64_t(basis.shape(0));
    bool sound = m <= b.budget && q <= m && int64_t(sums.shape(1)) == m && sums.shape(0) == alpha.shape(0) &&
                 int64_t(touched.shape(0)) == m && int64_t(factor.shape(0)) == q &&
                 int64_t(factor.shape(1)) == q && int64_t(alpha.shape(0)) == b.columns &&
                 (b.projects() || q == 0);
    for (int64_t i = 0; sound && i < q; ++i) sound = basis.data()[i] >= 0 && basis.data()[i] < m;
    if (!sound) throw std::invalid_argument("the parts of the state do not fit");
    for (b.m = 0; b.m < m; ++b.m) b.reserve();
    for (int64_t c = 0; c < b.columns; ++c) {
        std::copy_n(alpha.data() + c * m, m, b.alpha.data() + c * b.room);
        std::copy_n(sums.data() + c * m, m, b.sums.data() + c * b.room);
    }
    std::copy_n(touched.data(), m, b.touched.data());
    b.basis.assign(basis.data(), basis.data() + q);
    for (int64_t i = 0; i < q; ++i)
        std::copy_n(factor.data() + i * q + i, q - i, b.factor.data() + i * b.room + i);
    std::tie(b.damage, b.largest) = nb::cast<std::tuple<double, double>>(s["measures"]);
    std::tie(b.visits, b.wrong, b.mistakes, b.updates, b.close) =
        nb::cast<std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>>(s["counts"]);
}

// Dicts to rows: columns by name, in increasing order.
class DictReader : public DictRow {
    InUse in_use{"the reader of dicts"};

    void take_back() {
        table.undo();
        forget();
    }

  public:
    using DictRow::DictRow;

    auto read(nb::handle dict, bool add) {
        check_dict(dict.ptr());
        std::vector<std::pair<int64_t, double>> pairs;
        std::vector<nb::object> objects;
        try {
            for (;; objects = plain(dict.ptr())) {
                const Writing change(in_use);
                table.begin();
                try {
                    if (gather(dict.ptr(), objects, add)) {
                        for (int64_t j = 0; j < stored; ++j) pairs.emplace_back(indices[j], values[j]);
                        break;
                    }
                } catch (...) {
                    take_back();
                    throw;
                }
                take_back();
            }
        } catch (const Refusal& refusal) {
            refusal.raise();
        }
        std::sort(pairs.begin(), pairs.end());
        std::vector<int64_t> columns;
        std::vector<double> numbers;
        for (const auto& [j, v] : pairs) columns.push_back(j), numbers.push_back(v);
        return std::make_tuple(array_of(std::move(numbers)), array_of(std::move(columns)));
    }
    void undo() {  // the names that the last dict added
        const Writing change(in_use);
        take_back();
    }
    Strings names() const {
        const std::vector<nb::object> now = table.held();
        Strings out;
        for (const nb::object& name : now) out.append(name);
        return out;
    }
    void add_names(const Strings& names) {
        const Writing change(in_use);
        for (nb::handle name : names) {
            if (!PyUnicode_CheckExact(name.ptr()))
                throw std::invalid_argument("a feature's name is not a str");
            const uint64_t hash = FeatureTable::hash(name.ptr(), nullptr);
            if (table.find(hash, name.ptr(), nullptr) >= 0)
                throw std::invalid_argument("a name is given twice");
            table.add(hash, name.ptr(), nullptr, int64_t(table.names.size()));
        }
    }
};

}  // namespace

void bind_budget(nb::module_& m) {
    nb::class_<BudgetRule>(m, "BudgetRule",
                           "How many supports there may be, how they go, and what is a mistake.")
        .def(nb::init<const std::string&, int64_t, int64_t, bool, bool>(), nb::arg("policy"),
             nb::arg("budget"), nb::arg("columns"), nb::arg("joint") = false,
             nb::arg("tie_is_mistake") = false);
    nb::class_<Budgeted> budgeted(m, "Budgeted",
                                  "The coefficients of a kernel perceptron with a budget, and its policy.");
    budgeted.def(nb::init<const BudgetRule&>(), nb::arg("rule"))
        .def(
            "decide",
            [](Budgeted& b, const Floats& values, int32_t label) {
                const Writing change(b.in_use);
                if (int64_t(values.shape(0)) != b.m)
                    throw std::invalid_argument("values do not fit the supports");
                if (label < 0 || label >= std::max<int64_t>(b.columns, 2))
                    throw std::invalid_argument("no such class");
                return b.decide(values.data(), label);
            },
            nb::arg("values"), nb::arg("label"),
            "Whether a row with these kernel values must be learned from.")
        .def(
            "update",
            [](Budgeted& b, const Floats& values, int32_t label, double self, int64_t same, double draw,
               const std::optional<Floats>& of_oldest) {
                const Writing change(b.in_use);
                const bool needs = b.forgets() && b.full() && same < 0;
                if (!b.has_decided() || int64_t(values.shape(0)) != b.m || same >= b.m ||
                    (needs && !of_oldest) || (of_oldest && int64_t(of_oldest->shape(0)) != b.m))
                    throw std::invalid_argument("values do not fit the supports");
                return b.update(values.data(), label,
                                {self, same, draw, of_oldest ? of_oldest->data() : nullptr});
            },
            nb::arg("values"), nb::arg("label"), nb::arg("own"), nb::arg("same"), nb::arg("draw"),
            nb::arg("of_oldest").none() = nb::none(),
            "Learn from the row just decided on: the place where it must be kept as a support, -1 for none.")
        .def(
            "add_class",
            [](Budgeted& b) {
                const Writing change(b.in_use);
                b.add_class();
            },
            "One more class, with no coefficients yet.")
        .def(
            "coefficients",
            [](const Budgeted& b, bool averaged) {
                const Reading read(b.in_use);
                return array_of(lines(b, averaged), {size_t(b.columns), size_t(b.m)});
            },
            nb::arg("averaged"), "One line per column; those of the mean times the number of visits.")
        .def("state", &state_of)
        .def("set_state", &set_state, nb::arg("state"))
        .def_prop_ro("needs_oldest",
                     reads<Budgeted>([](const Budgeted& b) { return b.forgets() && b.full(); }))
        .def_prop_ro("oldest", reads<Budgeted>([](const Budgeted& b) { return b.oldest(); }))
        .def_prop_ro("size", reads<Budgeted>([](const Budgeted& b) { return b.m; }))
        .def_prop_ro("columns", reads<Budgeted>([](const Budgeted& b) { return b.columns; }))
        .def_prop_ro("basis_size", reads<Budgeted>([](const Budgeted& b) { return b.basis.size(); }))
        .def_prop_ro("bytes", reads<Budgeted>([](const Budgeted& b) { return b.bytes(); }))
        .def_prop_ro("wrong", reads<Budgeted>([](const Budgeted& b) { return b.wrong; }))
        .def_prop_ro("mistakes", reads<Budgeted>([](const Budgeted& b) { return b.mistakes; }))
        .def_prop_ro("updates", reads<Budgeted>([](const Budgeted& b) { return b.updates; }))
        .def_prop_ro("close", reads<Budgeted>([](const Budgeted& b) { return b.close; }));
    guarded(budgeted, "visits", &Budgeted::visits);

    nb::class_<RowBudget, Budgeted>(m, "RowBudget", "The same with its supports, for a kernel of rows.")
        .def(nb::init<const BudgetRule&, const Kernel&, bool, int64_t>(), nb::arg("rule"), nb::arg("kernel"),
             nb::arg("sparse"), nb::arg("features"))
        .def(
            "check",
            [](const RowBudget& b, const Rows& rows, int64_t begin, int64_t end) {
                const Reading read(b.in_use);
                if (begin < 0 || end > rows.n() || rows.d() > b.rows.d)
                    throw std::invalid_argument("rows out of range");
                nb::gil_scoped_release nogil;
                return rows.visit([&](auto& r) -> std::tuple<std::string, int64_t, double> {
                    const RowBudget::Borrowed borrowed(b);
                    TakenRow& x = *borrowed;
                    double largest = 0;
                    for (int64_t i = begin; i < end; ++i) {
                        const auto row = r[i];
                        if (!row.valid(r.d)) return {"bad index", i, largest};
                        bool finite = true, negative = false, zero = true;
                        row.for_each([&](int64_t, double v) {
                            finite &= std::isfinite(v), negative |= v < 0, zero = false;
                        });
                        if (!finite) return {"not finite", i, largest};
                        if (negative && b.rows.kernel.name == KernelName::chi2)
                            return {"negative", i, largest};
                        b.rows.take(row, x);
                        const double self = b.rows.self(x);
                        const bool tiny =
                            b.rows.kernel.name == KernelName::cosine && !zero && x.norm2 < 0x1p-960;
                        if (b.rows.kernel.by_product() &&
                            (!(x.norm2 <= 0x1p960) || !(self <= 0x1p960) || tiny))
                            return {"out of range", i, largest};
                        largest = std::max(largest, self);
                    }
                    return {"", -1, largest};
                });
            },
            nb::arg("rows"), nb::arg("begin"), nb::arg("end"),
            "What is wrong with the first row that cannot be learned from, its number, and the largest K(x, x).")
        .def(
            "learn",
            [](RowBudget& b, const Examples& x, int64_t begin, int64_t end, int64_t base,
               const std::optional<Floats>& draws) {
                const Writing change(b.in_use);
                const Visits v = x.labelled(begin, end, std::max<int64_t>(b.columns, 2));
                if (draws && int64_t(draws->shape(0)) < end - begin)
                    throw std::invalid_argument("there must be a draw for each visit");
                nb::gil_scoped_release nogil;
                b.rows.set_columns(x.rows.d());
                x.rows.visit([&](auto& r) {
                    for (int64_t t = begin; t < end; ++t) {
                        const int64_t i = v.row(t);
                        b.visit(still_valid(r, i), v.labels[i], base + i,
                                draws ? draws->data()[t - begin] : 0.0);
                    }
                });
            },
            nb::arg("examples"), nb::arg("begin"), nb::arg("end"), nb::arg("base"),
            nb::arg("draws").none() = nb::none(),
            "Learn from a range of visits to checked rows, of any weight.")
        .def(
            "scores",
            [](const RowBudget& b, const Rows& rows, int64_t begin, int64_t end, bool averaged, Matrix out) {
                const Reading read(b.in_use);
                if (begin < 0 || end > rows.n() || int64_t(out.shape(0)) != rows.n() ||
                    int64_t(out.shape(1)) != b.columns || rows.d() > b.rows.d)
                    throw std::invalid_argument("rows and output do not fit");
                double* to = out.data();
                nb::gil_scoped_release nogil;
                const std::vector<double> coefficients = lines(b, averaged);
                rows.visit([&](auto& r) {
                    const RowBudget::Borrowed borrowed(b);
                    TakenRow& x = *borrowed;
                    std::vector<double> k(size_t(b.m));
                    for (int64_t i = begin; i < end; ++i) {
                        b.rows.take(still_valid(r, i), x);
                        b.rows.kernel_values(x, b.m, k.data());
                        b.scores_of(k.data(), coefficients.data(), to + i * b.columns);
                    }
                });
            },
            nb::arg("rows"), nb::arg("begin"), nb::arg("end"), nb::arg("averaged"), nb::arg("out"),
            "Write the scores of a range of rows into `out`; those of the mean times the number of visits.")
        .def(
            "set_columns",
            [](RowBudget& b, int64_t d) {
                const Writing change(b.in_use);
                b.rows.set_columns(d);
            },
            nb::arg("columns"))
        .def(
            "supports",
            [](const RowBudget& b) {
                const Reading read(b.in_use);
                std::vector<double> data;
                std::vector<int64_t> indices, indptr{0};
                for (int64_t j = 0; j < b.m; ++j) {
                    b.rows.for_each(j, [&](int64_t i, double v) { indices.push_back(i), data.push_back(v); });
                    indptr.push_back(int64_t(data.size()));
                }
                return std::make_tuple(array_of(std::move(data)), array_of(std::move(indices)),
                                       array_of(std::move(indptr)),
                                       array_of(
                                           std::vector<int64_t>(b.number.begin(), b.number.begin() + b.m)));
            },
            "The supports as CSR: data, indices, indptr; and their numbers.")
        .def(
            "set_supports",
            [](RowBudget& b, const Rows& rows, const Order& number) {
                const Writing change(b.in_use);
                if (rows.n() != b.m || int64_t(number.shape(0)) != b.m)
                    throw std::invalid_argument("another number of supports");
                b.rows.set_columns(rows.d());
                b.number.assign(number.data(), number.data() + b.m);
                rows.visit([&](auto& r) {
                    TakenRow x;
                    for (int64_t j = 0; j < b.m; ++j) {
                        if (!r[j].valid(r.d))
                            throw std::invalid_argument("a support has columns out of range");
                        b.rows.take(r[j], x);
                        b.rows.put(x, j, b.room);
                    }
                });
            },
            nb::arg("rows"), nb::arg("number"), "After set_state: the supports that belong to it.")
        .def_prop_ro("features", reads<RowBudget>([](const RowBudget& b) { return b.rows.d; }))
        .def_prop_ro("bytes", reads<RowBudget>([](const RowBudget& b) { return b.bytes(); }));

    nb::class_<DictReader>(m, "DictReader", "Dicts of features as rows: columns by name or by hash.")
        .def(nb::init<std::optional<int>, uint64_t>(), nb::arg("hash_bits").none(), nb::arg("seed"))
        .def("read", &DictReader::read, nb::arg("x"), nb::arg("add"),
             "(values, columns); unknown names are added or left out.")
        .def("undo", &DictReader::undo, "Remove the names that the last dict added.")
        .def("names", &DictReader::names)
        .def("add_names", &DictReader::add_names, nb::arg("names"))
        .def_prop_ro("columns", [](const DictReader& r) { return r.features(); });
}
