// One row at a time: a dict or a vector in, its columns or its class out.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <numeric>

#include "hand_over.h"
#include "linear/loops.h"
#include "linear/py_learner.h"
#include "rows/row_reader.h"

namespace {

using Vector1 = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct DenseOne {
    DenseRow<double> row;
    const DenseRow<double>& operator[](int64_t) const { return row; }
};

// What is done to a row before the weights are applied: x <- (x - centre) / scale, or x <- x / |x|.
struct RowScaling {
    std::vector<double> centre, scale;  // of the leading columns; of all
    bool unit = false;

    RowScaling() = default;
    RowScaling(const std::string& kind, const Vector1& c, const Vector1& s)
        : centre(c.data(), c.data() + c.shape(0)), scale(s.data(), s.data() + s.shape(0)),
          unit(kind == "unit") {
        if (centre.size() > scale.size()) throw std::invalid_argument("more columns are centred than scaled");
    }
    bool changes() const { return unit || !scale.empty(); }
};

// A reader, the scaling, the weights and the labels: all that one prediction needs, in one call.
class RowPredictor {
    nb::object owner;
    RowReader& reader;
    PyLearner learner;
    std::vector<nb::object> labels;
    RowScaling scaling;
    std::vector<double> scaled, lead;
    std::vector<int64_t> places;
    InUse in_use{"the predictor of rows"};

    template <class Row>
    double norm_of(const Row& row) const {
        Learner l;
        l.bias2 = 0;
        const double norm = l.row_norm(row, row.norm2());
        return norm == 0 ? 1.0 : norm;
    }
    void scale_dense(const double* x, int64_t n) {
        scaled.resize(size_t(n));
        if (scaling.unit) {
            const double norm = norm_of(DenseRow<double>{x, n, x});
            for (int64_t j = 0; j < n; ++j) scaled[j] = x[j] / norm;
            return;
        }
        const auto m = int64_t(scaling.centre.size());
        for (int64_t j = 0; j < n; ++j)
            scaled[j] = (j < m ? x[j] - scaling.centre[j] : x[j]) / scaling.scale[j];
    }
    OneRow scale_sparse() {
        scaled.clear(), places.clear();
        const auto m = scaling.centre.size();
        const double norm = scaling.unit ? norm_of(reader.row().row) : 1.0;
        lead.assign(m, 0.0);
        for (int64_t k = 0; k < reader.stored; ++k)
            if (size_t(reader.indices[k]) < m) lead[reader.indices[k]] = reader.values[k];
        for (size_t j = 0; j < m; ++j)
            scaled.push_back((lead[j] - scaling.centre[j]) / scaling.scale[j]), places.push_back(int64_t(j));
        for (int64_t k = 0; k < reader.stored; ++k) {
            const int64_t j = reader.indices[k];
            if (size_t(j) < m) continue;
            scaled.push_back(reader.values[k] / (scaling.unit ? norm : scaling.scale[j]));
            places.push_back(j);
        }
        return {{{scaled.data(), places.data(), int64_t(scaled.size())}}};
    }
    template <class Rows>
    nb::object decide_row(const Rows& rows) {
        int32_t said = 0;
        const Outcome outcome = novikoff::predict(learner, rows, 0, 1, &said);
        if (outcome.problem != Problem::none)
            fail(PyExc_ValueError,
                 "the row holds NaN or infinity, or does so after scaling: values must be finite");
        return labels[size_t(said)];
    }

  public:
    using Scaled = std::tuple<std::string, Vector1, Vector1>;

    RowPredictor(nb::handle_t<RowReader> r, const PyLearner& weights, nb::typed<nb::list, nb::any> classes,
                 const std::optional<Scaled>& how)
        : owner(nb::borrow(r)), reader(*nb::inst_ptr<RowReader>(r)), learner(weights) {
        for (nb::handle label : classes) labels.push_back(nb::borrow(label));
        if (how) scaling = RowScaling(std::get<0>(*how), std::get<1>(*how), std::get<2>(*how));
        const bool fits = int64_t(labels.size()) == learner.classes && reader.columns() <= learner.features &&
                          (scaling.scale.empty() || int64_t(scaling.scale.size()) >= reader.columns());
        if (!fits) throw std::invalid_argument("labels, columns or scaling do not fit the weights");
        learner.record = nullptr;
    }

    // The label of a dict or of a vector of doubles; NotImplemented where Python must read it.
    nb::object predict(nb::handle x) {
        try {
            const Writing change(in_use), reads(reader.in_use);
            return predict_now(x);
        } catch (const Refusal& refusal) {
            refusal.raise();
        }
    }

  private:
    nb::object predict_now(nb::handle x) {
        if (!PyDict_Check(x.ptr())) {
            Vector1 given;
            if (!nb::try_cast(x, given, false)) return nb::borrow(Py_NotImplemented);
            const auto n = int64_t(given.shape(0));
            if (n != reader.columns())
                fail(PyExc_ValueError, "x has %lld values, but the model expects %lld features", (long long)n,
                     (long long)reader.columns());
            const double* p = given.data();
            if (scaling.changes()) scale_dense(p, n), p = scaled.data();
            return decide_row(DenseOne{{p, n, p}});
        }
        if (!reader.gather(x.ptr())) return nb::borrow(Py_NotImplemented);
        return decide_row(scaling.changes() ? scale_sparse() : reader.row());
    }
};

}  // namespace

void bind_one_row(nb::module_& m) {
    nb::class_<RowReader>(m, "RowReader", "Dicts as rows of a model's columns.")
        .def(nb::init<int64_t, std::optional<int64_t>, std::optional<RowReader::Packed>,
                      std::optional<RowReader::Hashing>, std::optional<RowReader::Recipe>>(),
             nb::arg("n_columns"), nb::arg("first").none() = nb::none(), nb::arg("names").none() = nb::none(),
             nb::arg("hashing").none() = nb::none(), nb::arg("table").none() = nb::none())
        .def(
            "read",
            [](RowReader& reader, nb::handle x) -> nb::typed<nb::object, nb::any> {
                DictRow::check_dict(x.ptr());
                std::vector<std::pair<int64_t, double>> pairs;
                try {
                    const Writing change(reader.in_use);
                    if (!reader.gather(x.ptr())) return nb::none();
                    for (int64_t k = 0; k < reader.stored; ++k)
                        pairs.emplace_back(reader.indices[k], reader.values[k]);
                } catch (const Refusal& refusal) {
                    refusal.raise();
                }
                std::sort(pairs.begin(), pairs.end());
                std::vector<double> values;
                std::vector<int64_t> columns;
                for (const auto& [j, v] : pairs) columns.push_back(j), values.push_back(v);
                return nb::make_tuple(array_of(std::move(values)), array_of(std::move(columns)));
            },
            nb::arg("x"),
            "(values, columns) of a dict, the columns increasing; None where Python must read it.");

    nb::class_<RowPredictor>(m, "RowPredictor", "The class of one row at a time.")
        .def(nb::init<nb::handle_t<RowReader>, const PyLearner&, nb::typed<nb::list, nb::any>,
                      const std::optional<RowPredictor::Scaled>&>(),
             nb::arg("reader"), nb::arg("learner"), nb::arg("labels"), nb::arg("scaling").none() = nb::none())
        .def("predict", &RowPredictor::predict, nb::arg("x"),
             "The label of a dict or of a vector of doubles; NotImplemented where Python must read it.");
}
