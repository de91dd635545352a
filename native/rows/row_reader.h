// One row of a model's columns from a dict, by the rules of the files that the model was learned from.
//
// - Columns with names (JSON lines, VW text, frames): a number under k is feature k, a string v is feature k=v of
//   value 1, None is no feature. Unknown features are left out. Lists and dicts are left to the caller.
// - Columns of a table: every column that makes features must be there, None stands for a missing value, and other
//   keys are left out. Numbers, categories and words are read here; dates and times are left to the caller.
// - Numbered columns: the key is the number, as an int or in digits.
//
// Names are a copy of the model's: the row has the model's columns at the time when this was made.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory/in_use.h"
#include "rows/dict_row.h"
#include "text/python_text.h"
#include "text/words.h"

namespace novikoff {

class RowReader : public GatheredRow {
  public:
    enum class Kind { number, category, text, time };
    struct Column {
        nb::object name;  // an interned str
        Kind kind;
        int64_t place;  // of the feature that has the column's name
        std::string prefix;  // "name="
        int64_t null;  // the column of "name=null"
        std::unique_ptr<WordRows> words;
    };

  private:
    Vocabulary names;
    const int64_t n_columns, first;  // first: the number of the first column, where columns are numbered
    const bool numbered, hashed;
    const uint64_t mask, seed;
    std::vector<Column> table;
    bool is_table = false, is_plain = false;
    std::string text;  // a name's bytes

    int64_t column_of(std::string_view name) const {
        if (hashed) return int64_t(hash_bytes(name.data(), name.size(), seed) & mask);
        return names.find(Vocabulary::key(name), name.data(), name.size());
    }
    static std::string_view bytes_of(PyObject* string) {
        Py_ssize_t n;
        const char* const p = PyUnicode_AsUTF8AndSize(string, &n);
        if (!p) throw nb::python_error();
        return {p, size_t(n)};
    }
    // Of a str or an int: its bytes, or its digits.
    std::string_view name_of(PyObject* key) {
        if (PyUnicode_CheckExact(key)) return bytes_of(key);
        const nb::object digits = nb::steal(PyObject_Str(key));
        if (!digits.is_valid()) throw nb::python_error();
        text = bytes_of(digits.ptr());
        return text;
    }

    static double checked(PyObject* key, PyObject* value, double v) {
        auto refuse = [&](const char* format) {
            throw Refusal{PyExc_ValueError, format, nb::borrow(key), nb::borrow(value)};
        };
        if (std::isnan(v)) refuse("feature %R is NaN: values must be finite");
        if (std::isinf(v))
            refuse(v > 0 ? "feature %R is infinity: values must be finite"
                         : "feature %R is -infinity: values must be finite");
        return v;
    }
    // The value of a float or an int.
    static double number_of(PyObject* key, PyObject* value) {
        if (PyFloat_Check(value)) return checked(key, value, PyFloat_AS_DOUBLE(value));
        double v;
        if (!int_as_double(value, v))
            throw Refusal{PyExc_ValueError,
                          std::isinf(v) ? "feature %R is an integer too large for a float"
                                        : DictRow::no_double,
                          nb::borrow(key), nb::borrow(value)};
        return v;
    }
    static bool is_number(PyObject* value) { return PyFloat_Check(value) || PyLong_Check(value); }

    void put(int64_t column, double v) {
        if (size_t(stored) == values.size())
            values.resize(2 * values.size() + 8), indices.resize(values.size());
        if (column >= 0) push(column, v);
    }

    // ---- named and numbered columns ----------------------------------------------------------
    int64_t numbered_column(PyObject* key) {
        const std::string_view digits = name_of(key);
        int64_t number = 0;
        const bool sound = !digits.empty() && digits.size() <= 18 &&
                           digits.find_first_not_of("0123456789") == std::string_view::npos;
        if (!sound)
            throw Refusal{PyExc_ValueError,
                          "the model's features are numbered, and %R is not such a number",
                          nb::borrow(key),
                          {}};
        for (char c : digits) number = 10 * number + (c - '0');
        if (number < first)
            throw Refusal{
                PyExc_ValueError, "the model's features are numbered from %lld", {}, {}, (long long)first};
        return number - first < n_columns ? number - first : -1;
    }

    // False when a key or value must be converted first.
    template <class Next>
    bool gather_named(Next&& next, size_t size, bool repeats) {
        begin_row(size);
        PyObject *key, *value;
        while (next(key, value)) {
            if (!PyUnicode_CheckExact(key) && !PyLong_CheckExact(key)) return false;
            if (value == Py_None) continue;
            if (is_number(value)) {
                const double v = number_of(key, value);
                repeats |= !PyUnicode_CheckExact(key);
                put(numbered ? numbered_column(key) : column_of(name_of(key)), v);
            } else if (PyUnicode_CheckExact(value)) {
                if (numbered)
                    throw Refusal{PyExc_TypeError,
                                  "feature %R: the model's features are numbers, got the str %R",
                                  nb::borrow(key), nb::borrow(value)};
                if (PyUnicode_CheckExact(key)) text = bytes_of(key);
                else name_of(key);
                text.push_back('=');
                text.append(bytes_of(value));
                repeats = true;
                put(column_of(text), 1.0);
            } else {
                return false;
            }
        }
        if (repeats || hashed) merge();
        return true;
    }

    // Keys and values in turn, as exact str, int and float objects or None. Runs foreign code.
    static std::vector<nb::object> plain(PyObject* x) {
        const nb::object items = nb::steal(PyDict_Items(x));
        if (!items.is_valid()) throw nb::python_error();
        std::vector<nb::object> out;
        for (nb::handle item : items) {
            PyObject *key = PyTuple_GET_ITEM(item.ptr(), 0), *value = PyTuple_GET_ITEM(item.ptr(), 1);
            out.push_back(DictRow::plain_key(key));
            if (!out.back().is_valid()) throw nb::python_error();
            out.push_back(value == Py_None ? nb::none() : DictRow::plain_value(key, value));
            if (!out.back().is_valid()) throw nb::python_error();
        }
        return out;
    }

    // Whether a value is itself a container, as JSON may have it.
    static bool is_nested(PyObject* x) {
        Py_ssize_t at = 0;
        PyObject *key, *value;
        while (PyDict_Next(x, &at, &key, &value))
            if (PyDict_Check(value) || PyList_Check(value) || PyTuple_Check(value)) return true;
        return false;
    }

    bool gather_any(PyObject* x) {
        Py_ssize_t at = 0;
        if (gather_named([&](PyObject*& k, PyObject*& v) { return PyDict_Next(x, &at, &k, &v); },
                         size_t(PyDict_GET_SIZE(x)), false))
            return true;
        if (is_nested(x)) return false;
        const std::vector<nb::object> items = plain(x);
        size_t i = 0;
        return gather_named(
            [&](PyObject*& k, PyObject*& v) {
                if (i == items.size()) return false;
                k = items[i].ptr(), v = items[i + 1].ptr();
                i += 2;
                return true;
            },
            items.size() / 2, true);
    }

    // ---- columns of a table ------------------------------------------------------------------
    static bool is_blank_at_an_end(std::string_view s) {  // or may be: beyond ASCII there are more blanks
        auto plain = [](char c) { return c > ' ' && static_cast<unsigned char>(c) < 0x80; };
        return !s.empty() && !(plain(s.front()) && plain(s.back()));
    }
    bool add_category(const Column& c, PyObject* value) {
        nb::object kept;
        if (PyBool_Check(value)) value = (kept = nb::str(value == Py_True ? "true" : "false")).ptr();
        else if (PyLong_Check(value)) value = (kept = nb::steal(PyObject_Str(value))).ptr();
        if (!value) throw nb::python_error();
        if (!PyUnicode_Check(value)) return false;
        std::string_view word = bytes_of(value);
        if (is_blank_at_an_end(word)) {
            kept = nb::steal(PyObject_CallMethod(value, "strip", nullptr));
            if (!kept.is_valid()) throw nb::python_error();
            word = bytes_of(kept.ptr());
        }
        if (word.empty()) return put(c.null, 1.0), true;
        text.assign(c.prefix).append(word);
        put(column_of(text), 1.0);
        return true;
    }
    void add_words(Column& c, PyObject* value) {
        WordRows& rows = *c.words;
        rows.clear();
        rows.add_row(bytes_of(value));
        for (size_t k = 0; k < rows.values.size(); ++k)
            put(column_of(rows.names.list[rows.indices[k]]), rows.values[k]);
    }

    // False when a value needs more than this can do.
    bool gather_table(PyObject* x) {
        begin_row(2 * table.size());
        for (Column& c : table) {
            PyObject* value = PyDict_GetItemWithError(x, c.name.ptr());
            if (!value) {
                if (PyErr_Occurred()) throw nb::python_error();
                throw Refusal{
                    PyExc_ValueError,
                    "the column %R is missing: the model needs it. None stands for a missing value.",
                    c.name,
                    {}};
            }
            if (c.kind == Kind::time) return false;
            const nb::object held = nb::borrow(value);
            if (value == Py_None) {
                if (c.kind != Kind::text) put(c.null, 1.0);
            } else if (c.kind == Kind::number) {
                nb::object made;
                if (PyUnicode_Check(value))
                    throw Refusal{PyExc_TypeError, "the column %R is one of numbers, got the str %R", c.name,
                                  held};
                if (!is_number(value)) value = (made = DictRow::plain_value(c.name.ptr(), value)).ptr();
                const double v = number_of(c.name.ptr(), value);
                if (v != 0 || is_plain) put(c.place, v);
            } else if (c.kind == Kind::category) {
                if (!add_category(c, value)) return false;
            } else {
                if (!PyUnicode_Check(value)) return false;
                add_words(c, value);
            }
        }
        if (!is_plain) merge();
        return true;
    }

  public:
    InUse in_use{"the reader of rows"};

    using Packed = std::tuple<nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>,
                              nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>>;
    using Hashing = std::pair<int, uint64_t>;  // bits and seed
    using Recipe = std::vector<std::tuple<nb::str, std::string, int64_t>>;

    RowReader(int64_t n_columns, std::optional<int64_t> first, std::optional<Packed> known,
              std::optional<Hashing> hashing, std::optional<Recipe> recipe)
        : n_columns(n_columns), first(first.value_or(0)), numbered(first.has_value()),
          hashed(hashing.has_value()), mask(hashing ? (uint64_t(1) << hashing->first) - 1 : 0),
          seed(hashing ? hashing->second : 0) {
        if (known && !hashed) {
            const auto& [bytes, offsets] = *known;
            const char* const text = reinterpret_cast<const char*>(bytes.data());
            const int64_t* const at = offsets.data();
            for (size_t i = 0; i + 1 < offsets.shape(0); ++i) {
                if (at[i] < 0 || at[i] > at[i + 1] || at[i + 1] > int64_t(bytes.shape(0)))
                    throw std::invalid_argument("the offsets of names must increase within the bytes");
                names.number({text + at[i], size_t(at[i + 1] - at[i])});
            }
        }
        if (recipe) describe(*recipe);
    }

    int64_t columns() const { return n_columns; }

    // The row of a dict; false, and no row, when Python must read it. The caller has announced the change.
    bool gather(PyObject* x) { return is_table ? gather_table(x) : gather_any(x); }

  private:
    void describe(const Recipe& recipe) {
        is_table = is_plain = true;
        for (const auto& [name, kind, number] : recipe) {
            Column c;
            PyObject* interned = name.inc_ref().ptr();
            PyUnicode_InternInPlace(&interned);
            c.name = nb::steal(interned);
            c.prefix = std::string(bytes_of(interned)) + "=";
            c.kind = kind == "number"     ? Kind::number
                     : kind == "category" ? Kind::category
                     : kind == "text"     ? Kind::text
                                          : Kind::time;
            c.place = c.kind == Kind::number ? number : -1;
            c.null = column_of(c.prefix + "null");
            if (c.kind == Kind::text) c.words = std::make_unique<WordRows>(c.prefix, int(number), true);
            is_plain &= c.kind == Kind::number && c.place == int64_t(table.size()) && !hashed;
            table.push_back(std::move(c));
        }
    }
};

}  // namespace novikoff
