// A row gathered from a dict: feature -> number, or feature -> str for a feature "feature=str".
//
// Gathering runs no foreign Python code, so nothing can come between a gathered row and its use:
// dicts with keys or values other than exact str, int and float objects are converted first.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "exact/python_number.h"
#include "linear/loops.h"
#include "rows/feature_table.h"
#include "rows/gathered_row.h"

namespace novikoff {

namespace nb = nanobind;

class DictRow : public GatheredRow {
    const bool hashed;
    const uint64_t mask, seed;
    std::string text;  // a name's bytes, to be hashed

    // The dict that the row at hand came from, while all its features are known: predicting and then
    // learning the same example reads it once. Its version changes whenever the dict does, and no
    // two dicts ever share one (PEP 509).
    const PyObject* last = nullptr;
    uint64_t last_version = 0;
    bool all_known = true;

    static uint64_t version_of(PyObject* x) {
#if PY_VERSION_HEX < 0x030C0000
        return reinterpret_cast<PyDictObject*>(x)->ma_version_tag;
#else
        return 0;  // not available: read every time
#endif
    }

    static nb::object joined(PyObject* key, PyObject* value) {
        return nb::steal(PyUnicode_FromFormat("%S=%S", key, value));
    }

    int64_t hashed_index(PyObject* key, PyObject* value) {
        auto append = [&](PyObject* string) {
            Py_ssize_t n;
            const char* p = PyUnicode_AsUTF8AndSize(string, &n);
            if (!p) throw nb::python_error();
            text.append(p, size_t(n));
        };
        text.clear();
        if (PyUnicode_CheckExact(key)) {
            if (!value) {  // the bytes lie in the object
                Py_ssize_t n;
                if (const char* p = PyUnicode_AsUTF8AndSize(key, &n))
                    return int64_t(hash_bytes(p, size_t(n), seed) & mask);
                throw nb::python_error();
            }
            append(key);
        } else {
            nb::object digits = nb::steal(PyObject_Str(key));
            if (!digits.is_valid()) throw nb::python_error();
            append(digits.ptr());
        }
        if (value) {
            text.push_back('=');
            append(value);
        }
        return int64_t(hash_bytes(text.data(), text.size(), seed) & mask);
    }

    // The index of a feature; -1 when it is unknown and not to be added.
    NOVIKOFF_INLINE int64_t index(PyObject* key, PyObject* value, bool add) {
        if (hashed) return hashed_index(key, value);
        const uint64_t h = FeatureTable::hash(key, value);
        int64_t j = table.find(h, key, value);
        return j < 0 ? index_of_new(h, key, value, add) : j;
    }

    __attribute__((noinline)) int64_t index_of_new(uint64_t h, PyObject* key, PyObject* value, bool add) {
        nb::object name = value ? joined(key, value) : nb::steal(PyObject_Str(key));
        if (!name.is_valid()) throw nb::python_error();
        const bool alias = value || !PyUnicode_CheckExact(key);
        uint64_t name_hash = alias ? FeatureTable::hash(name.ptr(), nullptr) : h;
        int64_t j = alias ? table.find(name_hash, name.ptr(), nullptr) : -1;
        if (!add) return j;
        if (j < 0) {
            j = int64_t(table.names.size());
            table.add(name_hash, alias ? name.ptr() : key, nullptr, j);
        }
        if (alias) table.add(h, key, value, j);
        return j;
    }

    // Fills the current row; false when a key or value must be converted first. `next` gives one
    // key and value after the other; keys are str or int, values float, int or str.
    template <class Next>
    bool gather_from(Next&& next, size_t size, bool add, bool repeats) {
        begin_row(size);
        all_known = true;
        PyObject *key, *value;
        auto refuse = [&](const char* format) {
            throw Refusal{PyExc_ValueError, format, nb::borrow(key), nb::borrow(value)};
        };
        while (next(key, value)) {
            if (!PyUnicode_CheckExact(key) && !PyLong_CheckExact(key)) return false;
            double v;
            PyObject* word = nullptr;
            if (PyFloat_Check(value)) v = PyFloat_AS_DOUBLE(value);
            else if (PyLong_Check(value)) {
                if (!int_as_double(value, v))
                    refuse(std::isinf(v) ? "feature %R is an integer too large for a float" : no_double);
            } else if (PyUnicode_CheckExact(value)) {
                word = value;
                v = 1;
            } else return false;
            if (!std::isfinite(v))
                refuse(std::isnan(v) ? "feature %R is NaN: values must be finite"
                       : v > 0       ? "feature %R is infinity: values must be finite"
                                     : "feature %R is -infinity: values must be finite");
            repeats |= word || !PyUnicode_CheckExact(key);
            const int64_t j = index(key, word, add);
            if (j < 0) {
                all_known = false;
                continue;
            }
            push(j, v);
        }
        if (repeats || hashed) merge();
        return true;
    }

  public:
    FeatureTable table;

    // Without bits every feature has its own index; with them all share 2^bits.
    DictRow(std::optional<int> bits, uint64_t seed)
        : hashed(bits.has_value()), mask(bits ? (uint64_t(1) << *bits) - 1 : 0), seed(seed) {}

    int64_t features() const { return hashed ? int64_t(mask + 1) : int64_t(table.names.size()); }

    static nb::object plain_key(PyObject* key) {
        if (PyUnicode_CheckExact(key) || PyLong_CheckExact(key)) return nb::borrow(key);
        if (PyUnicode_Check(key)) return nb::steal(PyUnicode_FromObject(key));
        if (Py_TYPE(key)->tp_str == PyBaseObject_Type.tp_str &&
            Py_TYPE(key)->tp_repr == PyBaseObject_Type.tp_repr)
            fail(PyExc_TypeError,
                 "a feature's name is a str, or something that str() names; got an object of %s",
                 Py_TYPE(key)->tp_name);
        nb::object name = nb::steal(PyObject_Str(key));
        return name.is_valid() ? nb::steal(PyUnicode_FromObject(name.ptr())) : name;
    }

    static constexpr const char* no_double =
        "feature %R is %S, which no double holds: subtract an offset or scale it first, or give float(...) of it, "
        "which is the nearest";

    static nb::object plain_value(PyObject* key, PyObject* value) {
        if (PyFloat_Check(value) || PyLong_Check(value) || PyUnicode_CheckExact(value))
            return nb::borrow(value);
        if (PyUnicode_Check(value)) return nb::steal(PyUnicode_FromObject(value));
        const PyNumberMethods* number = Py_TYPE(value)->tp_as_number;
        if (number && number->nb_index && !is_time(value)) {  // an integer, for instance of NumPy
            nb::object whole = nb::steal(PyNumber_Index(value));
            if (whole.is_valid()) return whole;
            if (!PyErr_ExceptionMatches(PyExc_Exception)) throw nb::python_error();
            PyErr_Clear();
        }
        if (number && (number->nb_float || number->nb_index) && !is_time(value)) {
            double v = PyFloat_AsDouble(value);
            if (v != -1 || !PyErr_Occurred()) {
                if (!means(value, v)) fail(PyExc_ValueError, no_double, key, value);
                return nb::steal(PyFloat_FromDouble(v));
            }
            if (!PyErr_ExceptionMatches(PyExc_Exception)) throw nb::python_error();
            PyErr_Clear();
        }
        fail(PyExc_TypeError, "feature %R: a value is a number or a str, got %s", key,
             Py_TYPE(value)->tp_name);
    }

    static void check_dict(PyObject* x) {
        if (!PyDict_Check(x))
            fail(PyExc_TypeError, "x is a dict from feature to number or str, got %s", Py_TYPE(x)->tp_name);
    }

    // Keys and values in turn, as exact str, int and float objects. Runs foreign code.
    static std::vector<nb::object> plain(PyObject* x) {
        nb::object items = nb::steal(PyDict_Items(x));
        if (!items.is_valid()) throw nb::python_error();
        std::vector<nb::object> out;
        for (nb::handle item : items) {
            PyObject *key = PyTuple_GET_ITEM(item.ptr(), 0), *value = PyTuple_GET_ITEM(item.ptr(), 1);
            out.push_back(plain_key(key));
            if (!out.back().is_valid()) throw nb::python_error();
            out.push_back(plain_value(key, value));
            if (!out.back().is_valid()) throw nb::python_error();
        }
        return out;
    }

    // The row of a dict; false, and no row, when the dict must be converted first. Runs no foreign code.
    bool gather(PyObject* x, const std::vector<nb::object>& plain, bool add) {
        if (plain.empty()) {
            const uint64_t version = version_of(x);
            if (version && x == last && version == last_version) return true;
            last = nullptr;
            Py_ssize_t at = 0;
            if (!gather_from([&](PyObject*& k, PyObject*& v) { return PyDict_Next(x, &at, &k, &v); },
                             size_t(PyDict_GET_SIZE(x)), add, false))
                return false;
            if (all_known) last = x, last_version = version;
            return true;
        }
        last = nullptr;
        size_t at = 0;
        return gather_from(
            [&](PyObject*& k, PyObject*& v) {
                if (at == plain.size()) return false;
                k = plain[at].ptr();
                v = plain[at + 1].ptr();
                at += 2;
                return true;
            },
            plain.size() / 2, add, true);
    }

    // Must be called when features have been removed from the table.
    void forget() { last = nullptr; }
};

}  // namespace novikoff
