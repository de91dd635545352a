// Numbers of Python as doubles: src/novikoff/rounding.py says which of them a double holds.
#pragma once

#include <nanobind/nanobind.h>

#include <cmath>
#include <string_view>

namespace novikoff {

namespace nb = nanobind;

// The double nearest to an int; false when it is not the same number. Runs no foreign code.
inline bool int_as_double(PyObject* x, double& v) {
    v = PyLong_AsDouble(x);
    if (v == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        v = HUGE_VAL;
        return false;
    }
    if (std::fabs(v) < 0x1p53) return true;
    const nb::object back = nb::steal(PyLong_FromDouble(v));
    if (!back.is_valid()) throw nb::python_error();
    const nb::object same = nb::steal(PyLong_Type.tp_richcompare(back.ptr(), x, Py_EQ));
    return same.ptr() == Py_True;
}

// Whether a number that is neither float nor int means the double v that it was converted to: a decimal
// does, unless it has digits alone; a fraction or a long double does where it is that double.
inline bool means(PyObject* x, double v) {
    const std::string_view type = Py_TYPE(x)->tp_name;
    if (type == "decimal.Decimal") {
        const nb::object text = nb::steal(PyObject_Str(x));
        const char* p = text.is_valid() ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
        if (!p) throw nb::python_error();
        p += *p == '-';
        if (std::string_view(p).find_first_not_of("0123456789") != std::string_view::npos) return true;
    } else if (type != "Fraction" && type != "numpy.longdouble" && type != "numpy.float128") {
        return true;
    }
    if (std::isnan(v)) return true;
    const nb::object nearest = nb::steal(PyFloat_FromDouble(v));
    if (!nearest.is_valid()) throw nb::python_error();
    const int same = PyObject_RichCompareBool(x, nearest.ptr(), Py_EQ);
    if (same < 0) throw nb::python_error();
    return same == 1;
}

inline bool is_time(PyObject* x) {
    const std::string_view type = Py_TYPE(x)->tp_name;
    return type == "numpy.datetime64" || type == "numpy.timedelta64";
}

}  // namespace novikoff
