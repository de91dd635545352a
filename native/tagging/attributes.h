// Sentences given as Python lists: tokens are lists of feature names, or dicts.
//
// A dict's entry becomes a feature as python-crfsuite reads it: {"w": "the"} is "w:the" with value 1, {"len":
// 3} is "len" with value 3, {"upper": True} is "upper" with value 1, and what is in a list, set or dict comes
// under its key: {"next": {"w": "the"}} is "next:w:the". A feature of value 0 counts as absent and is left
// out.
#pragma once

#include <nanobind/nanobind.h>

#include <cmath>
#include <string>
#include <vector>

#include "exact/python_number.h"
#include "text/vocabulary.h"

namespace novikoff {

namespace nb = nanobind;

class Attributes {
    struct Pending {
        const char* p;  // null: in `joined`, from `from` on
        size_t from, n;
        double value;
        uint64_t key;
    };
    std::vector<Pending> pending;
    std::string joined, prefix;
    int64_t sentence = 0, token = 0;

    std::string place() const {
        return "sentence " + std::to_string(sentence) + ", token " + std::to_string(token);
    }
    [[noreturn]] void refuse(PyObject* type, const std::string& what) const {
        PyErr_Clear();
        PyErr_SetString(type, (place() + ": " + what).c_str());
        throw nb::python_error();
    }
    static std::string shown(PyObject* object) {
        nb::object text = nb::steal(PyObject_Repr(object));
        const char* const p = text.is_valid() ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
        if (!p) PyErr_Clear();
        return p ? p : "?";
    }
    std::string_view text(PyObject* string) const {
        Py_ssize_t n;
        const char* const p = PyUnicode_AsUTF8AndSize(string, &n);
        if (!p) refuse(PyExc_ValueError, "the feature " + shown(string) + " is not valid text");
        return {p, size_t(n)};
    }

    void name(PyObject* string, double value) {
        if (!PyUnicode_Check(string))
            refuse(PyExc_TypeError,
                   std::string("a feature's name is a str, got ") + Py_TYPE(string)->tp_name);
        const std::string_view s = text(string);
        if (prefix.empty()) pending.push_back({s.data(), 0, s.size(), value, 0});
        else {
            pending.push_back({nullptr, joined.size(), prefix.size() + s.size(), value, 0});
            joined.append(prefix).append(s);
        }
    }
    static bool is_collection(PyObject* x) {
        return PyDict_Check(x) || PyList_Check(x) || PyTuple_Check(x) || PyAnySet_Check(x);
    }
    // A number, without running foreign code; false when that is not possible.
    static bool plain_number(PyObject* x, double& value) {
        if (PyFloat_Check(x)) value = PyFloat_AS_DOUBLE(x);
        else if (!PyLong_Check(x)) return false;
        else if (!int_as_double(x, value) && std::isfinite(value)) return false;  // refused when it is read
        return true;
    }
    void entry(PyObject* key, PyObject* value) {
        if (!PyUnicode_Check(key))
            refuse(PyExc_TypeError, std::string("a feature's name is a str, got ") + Py_TYPE(key)->tp_name);
        double v = 1;
        const bool nests = is_collection(value);
        if (!nests && !PyUnicode_Check(value)) {
            if (!plain_number(value, v)) {
                v = is_time(value) ? PyErr_SetNone(PyExc_TypeError), -1.0 : PyFloat_AsDouble(value);
                if (v == -1 && PyErr_Occurred())
                    refuse(PyExc_TypeError, "the feature " + shown(key) +
                                                " has a value that is not a number, str or collection: " +
                                                Py_TYPE(value)->tp_name);
                const nb::object whole = nb::steal(PyIndex_Check(value) ? PyNumber_Index(value) : nullptr);
                if (!whole.is_valid()) PyErr_Clear();
                if (whole.is_valid() ? !int_as_double(whole.ptr(), v) : !means(value, v))
                    refuse(PyExc_ValueError,
                           "the feature " + shown(key) + " is " + shown(value) +
                               ", which no double holds: subtract an offset or scale it first, or "
                               "give float(...) of it, which is the nearest");
            }
            if (!std::isfinite(v))
                refuse(PyExc_ValueError, "the feature " + shown(key) + " is " +
                                             (std::isnan(v) ? "NaN"
                                              : v > 0       ? "infinity"
                                                            : "-infinity") +
                                             ": values must be finite");
            if (v != 0) name(key, v);
            return;
        }
        const size_t before = prefix.size();
        const std::string_view s = text(key);
        prefix.append(s) += ':';
        if (nests) {
            struct Deeper {
                Deeper() {
                    if (Py_EnterRecursiveCall(" in the values of a feature")) throw nb::python_error();
                }
                ~Deeper() { Py_LeaveRecursiveCall(); }
            } deeper;
            collect(value);
        } else {
            name(value, 1);
        }
        prefix.resize(before);
    }
    void collect(PyObject* x) {
        if (PyList_CheckExact(x) || PyTuple_CheckExact(x)) {  // by index: nothing here runs foreign code
            for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(x); ++i)
                name(PySequence_Fast_GET_ITEM(x, i), 1);
            return;
        }
        if (PyDict_CheckExact(x)) {
            Py_ssize_t at = 0;
            PyObject *key, *value;
            bool plain = true;
            double v;
            while (plain && PyDict_Next(x, &at, &key, &value))
                plain = PyUnicode_Check(value) || plain_number(value, v);
            at = 0;
            if (plain) {
                while (PyDict_Next(x, &at, &key, &value)) entry(key, value);
                return;
            }
        }
        if (PyDict_Check(x)) {
            nb::object items = nb::steal(PyDict_Items(x));
            if (!items.is_valid()) throw nb::python_error();
            for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.ptr()); ++i) {
                PyObject* const pair = PyList_GET_ITEM(items.ptr(), i);
                entry(PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1));
            }
            return;
        }
        if (PyUnicode_Check(x) || PyBytes_Check(x))
            refuse(PyExc_TypeError, std::string("a token is a list of feature names or a dict, got the ") +
                                        Py_TYPE(x)->tp_name + " " + shown(x));
        nb::object items = nb::steal(PySequence_List(x));
        if (!items.is_valid())
            refuse(PyExc_TypeError,
                   std::string("a token is a list of feature names or a dict, got ") + Py_TYPE(x)->tp_name);
        // a set has an order of its own in every process
        if (PyAnySet_Check(x) && PyList_Sort(items.ptr()) < 0)
            refuse(PyExc_TypeError, "the features in a set are all str");
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.ptr()); ++i)
            name(PyList_GET_ITEM(items.ptr(), i), 1);
    }

    void add_token(PyObject* x) {
        pending.clear();
        joined.clear();
        prefix.clear();
        collect(x);
        // all of them first, so that their places in the table are being fetched
        for (Pending& f : pending) {
            if (!f.p) f.p = joined.data() + f.from;
            f.key = Vocabulary::key({f.p, f.n});
            names.prefetch(f.key);
        }
        for (const Pending& f : pending) {
            if (f.value != 1 && units) {
                units = false;
                std::fill_n(values.extend(ids.size()), ids.size(), 1.0);
            }
            ids.push(int32_t(names.number(f.key, f.p, f.n)));
            if (!units) values.push(f.value);
        }
        indptr.push(int64_t(ids.size()));
    }

    // Prefetches the strings of a later token: most lie scattered in memory.
    static void approach(PyObject* x) {
        if (!PyList_CheckExact(x)) return;
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(x); ++i) {
            __builtin_prefetch(PyList_GET_ITEM(x, i));
            __builtin_prefetch(reinterpret_cast<const char*>(PyList_GET_ITEM(x, i)) + 64);
        }
    }

    static nb::object sequence(PyObject* x) {
        if (PyUnicode_Check(x) || PyBytes_Check(x) || PyDict_Check(x)) return nb::object();
        nb::object items = nb::steal(PySequence_Fast(x, ""));
        if (!items.is_valid()) PyErr_Clear();
        return items;
    }

  public:
    Vocabulary names;
    Growing<int64_t> starts, indptr;
    Growing<int32_t> ids;
    Growing<double> values;
    bool units = true;  // every value so far is 1, and `values` is empty

    explicit Attributes(PyObject* x) {
        starts.push(0);
        indptr.push(0);
        nb::object sentences = sequence(x);
        if (!sentences.is_valid()) throw nb::type_error("X is a list of sentences, each a list of tokens");
        for (; sentence < PySequence_Fast_GET_SIZE(sentences.ptr()); ++sentence) {
            if (sentence % 1024 == 1023 && PyErr_CheckSignals()) throw nb::python_error();
            PyObject* const given = PySequence_Fast_GET_ITEM(sentences.ptr(), sentence);
            nb::object tokens = sequence(given);
            if (!tokens.is_valid()) {
                PyErr_SetString(PyExc_TypeError,
                                ("sentence " + std::to_string(sentence) +
                                 ": expected a list of tokens, got " + Py_TYPE(given)->tp_name)
                                    .c_str());
                throw nb::python_error();
            }
            for (token = 0; token < PySequence_Fast_GET_SIZE(tokens.ptr()); ++token) {
                if (token + 1 < PySequence_Fast_GET_SIZE(tokens.ptr()))
                    approach(PySequence_Fast_GET_ITEM(tokens.ptr(), token + 1));
                add_token(PySequence_Fast_GET_ITEM(tokens.ptr(), token));
            }
            starts.push(int64_t(indptr.size()) - 1);
        }
    }
};

}  // namespace novikoff
