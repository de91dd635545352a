// The Python face of OnlineLearner.
#include "linear/online.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace novikoff;

namespace {

// ---- the three methods of the hot path -----------------------------------------------------------
// Plain methods of the type: they cost less than a bound function and have a signature that
// `inspect` can read, which river does.
template <int N>
bool arguments(const char* method, const char* const (&names)[N], PyObject* const* given, Py_ssize_t n,
               PyObject* keywords, PyObject* (&out)[N]) {
    for (int i = 0; i < N; ++i) out[i] = i < n ? given[i] : nullptr;
    const Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
    bool fits = n + named == N;
    for (Py_ssize_t k = 0; fits && k < named; ++k) {
        int i = 0;
        while (i < N && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, k), names[i])) ++i;
        fits = i < N && !out[i];
        if (fits) out[i] = given[n + k];
    }
    if (!fits) PyErr_Format(PyExc_TypeError, "%s takes %s", method, N == 1 ? "x" : "x and y");
    return fits;
}

template <class F>
PyObject* guarded(PyObject* self, F&& f) {
    if (!nb::inst_ready(self)) {
        PyErr_SetString(PyExc_RuntimeError, "the learner has not been initialised");
        return nullptr;
    }
    try {
        return f(*nb::inst_ptr<OnlineLearner>(self)).release().ptr();
    } catch (nb::python_error& e) {
        e.restore();
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& e) {
        PyErr_SetString(PyExc_RuntimeError, e.what());
    }
    return nullptr;
}

PyObject* predict_one(PyObject* self, PyObject* const* given, Py_ssize_t n, PyObject* keywords) {
    PyObject* a[1];
    if (!arguments("predict_one", {"x"}, given, n, keywords, a)) return nullptr;
    return guarded(self, [&](OnlineLearner& m) { return m.predict(a[0]); });
}

PyObject* score_one(PyObject* self, PyObject* const* given, Py_ssize_t n, PyObject* keywords) {
    PyObject* a[1];
    if (!arguments("score_one", {"x"}, given, n, keywords, a)) return nullptr;
    return guarded(self, [&](OnlineLearner& m) { return m.score(a[0]); });
}

PyObject* learn_one(PyObject* self, PyObject* const* given, Py_ssize_t n, PyObject* keywords) {
    PyObject* a[2];
    if (!arguments("learn_one", {"x", "y"}, given, n, keywords, a)) return nullptr;
    return guarded(self, [&](OnlineLearner& m) { return m.learn(a[0], a[1]), nb::none(); });
}

template <class F>
PyMethodDef method(const char* name, F* f, const char* doc) {
    return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f)),
            METH_FASTCALL | METH_KEYWORDS, doc};
}

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    return nb::inst_ready(self) ? nb::inst_ptr<OnlineLearner>(self)->traverse(visit, arg) : 0;
}

int clear(PyObject* self) {
    if (nb::inst_ready(self)) nb::inst_ptr<OnlineLearner>(self)->clear();
    return 0;
}

}  // namespace

void bind_online(nb::module_& m) {
    static PyMethodDef methods[] = {
        method("predict_one", predict_one,
               "predict_one($self, /, x)\n--\n\n"
               "The label predicted for a dict; None before any label was seen. Learns nothing."),
        method("score_one", score_one,
               "score_one($self, /, x)\n--\n\n"
               "The score of the second class (two classes), or a dict of class to score (more)."),
        method("learn_one", learn_one,
               "learn_one($self, /, x, y)\n--\n\n"
               "Learn from one dict and its label. An example that is refused changes nothing."),
        {nullptr, nullptr, 0, nullptr}};
    static PyType_Slot slots[] = {{Py_tp_methods, methods},
                                  {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                                  {Py_tp_clear, reinterpret_cast<void*>(clear)},
                                  {0, nullptr}};

    nb::class_<OnlineLearner>(m, "OnlineLearner", nb::type_slots(slots),
                              "A linear learner whose features and classes grow as they come.")
        .def(nb::init<const UpdateRule&, OnlineLearner::Precedes, bool, std::optional<int>, uint64_t,
                      std::optional<OnlineLearner::Objects>>(),
             nb::arg("rule"), nb::arg("precedes"), nb::arg("average") = false,
             nb::arg("hash_bits").none() = nb::none(), nb::arg("seed") = 0,
             nb::arg("classes").none() = nb::none())
        .def("_learn_many", &OnlineLearner::learn_many, nb::arg("pairs"))
        .def("_get_state", &OnlineLearner::get_state, nb::arg("sparse") = false)
        .def("_set_state", &OnlineLearner::set_state, nb::arg("state"))
        .def("_names", &OnlineLearner::names)
        .def("_memory", &OnlineLearner::bytes)
        .def_prop_ro("classes_", &OnlineLearner::classes)
        .def_prop_ro("n_features_in_", &OnlineLearner::features)
        .def_prop_ro("_longest_probe", &OnlineLearner::longest_probe)
        .def_prop_ro("n_mistakes_", &OnlineLearner::progressive_mistakes)
        .def_prop_ro("n_updates_", [](const OnlineLearner& l) { return l.state().updates; })
        .def_prop_ro("n_visits_", [](const OnlineLearner& l) { return l.state().visits; })
        .def_prop_ro("radius_", [](const OnlineLearner& l) { return l.state().radius; });
}
