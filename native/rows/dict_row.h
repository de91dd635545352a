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

namespace novikoff {

namespace nb = nanobind;

template <class... A>
[[noreturn]] void fail(PyObject* type, const char* format, A... arguments) {
    PyErr_Format(type, format, arguments...);
    throw nb::python_error();
}

// Why an example is refused. It is thrown where no foreign code may run, and becomes an error when whatever
// the example added has been undone: the message asks its objects for their repr.
struct Refusal {
    PyObject* type;
    const char* format;  // of key and value, or of the number
    nb::object key, value;
    long long number = 0;

    [[noreturn]] void raise() const {
        if (key.is_valid()) fail(type, format, key.ptr(), value.is_valid() ? value.ptr() : Py_None);
        fail(type, format, number);
    }
};

// One row as the loops see a matrix. Its indices are distinct but in no order: decisions are exact
// and updates go element by element, so the order cannot matter.
struct OneRow {
    struct Row : SparseRow<double, int64_t> {
        bool valid(int64_t) const { return true; }
    };
    Row row;

    int64_t lookahead() const { return 1; }
    const Row& operator[](int64_t) const { return row; }
    template <bool Binary, class Ahead>
    const Row& approach(int64_t, const Ahead&) const {
        return row;
    }
};

class DictRow {
    const bool hashed;
    const uint64_t mask, seed;
    std::string text;  // a name's bytes, to be hashed
    struct Mark {
        uint64_t row;
        int64_t index, place;
    };
    std::vector<Mark> marks;
    uint64_t rows_merged = 0;

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

    // Several names may lead to one index: their values are added, in the order of the dict.
    void merge() {
        size_t size = 16;
        while (size < 2 * size_t(stored)) size *= 2;
        if (marks.size() < size) marks.assign(size, {0, 0, 0}), rows_merged = 0;
        ++rows_merged;
        int64_t n = 0;
        for (int64_t k = 0; k < stored; ++k) {
            size_t at = size_t(table_key.word(uint64_t(indices[k])));
            while (at &= marks.size() - 1, marks[at].row == rows_merged && marks[at].index != indices[k])
                ++at;
            if (marks[at].row == rows_merged) {
                double& v = values[size_t(marks[at].place)];
                v += values[k];
                if (!std::isfinite(v))
                    throw Refusal{PyExc_ValueError,
                                  "features that share index %lld add up to more than a float can hold",
                                  {},
                                  {},
                                  (long long)indices[k]};
                largest = std::max(largest, std::fabs(v));
                continue;
            }
            marks[at] = {rows_merged, indices[k], n};
            indices[n] = indices[k];
            values[n++] = values[k];
        }
        stored = n;
    }

    // Fills the current row; false when a key or value must be converted first. `next` gives one
    // key and value after the other; keys are str or int, values float, int or str.
    template <class Next>
    bool gather_from(Next&& next, size_t size, bool add, bool repeats) {
        if (values.size() < size) values.resize(size), indices.resize(size);
        stored = 0;
        largest = 0;
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
            largest = std::max(largest, std::fabs(v));
            indices[stored] = j;
            values[stored++] = v;
        }
        if (repeats || hashed) merge();
        return true;
    }

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

  public:
    // the row at hand
    std::vector<double> values;
    std::vector<int64_t> indices;
    int64_t stored = 0;
    double largest = 0;  // |value|
    FeatureTable table;

    // Without bits every feature has its own index; with them all share 2^bits.
    DictRow(std::optional<int> bits, uint64_t seed)
        : hashed(bits.has_value()), mask(bits ? (uint64_t(1) << *bits) - 1 : 0), seed(seed) {}

    int64_t features() const { return hashed ? int64_t(mask + 1) : int64_t(table.names.size()); }
    OneRow row() const { return {{{values.data(), indices.data(), stored}}}; }

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
