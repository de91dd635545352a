// Python's str as UTF-8, and UTF-8 as str.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

namespace nb = nanobind;

// The bytes of a str, which live as long as it does; a TypeError with this message for anything else.
inline std::string_view utf8(nb::handle text, const char* otherwise) {
    Py_ssize_t n;
    const char* const p = PyUnicode_Check(text.ptr()) ? PyUnicode_AsUTF8AndSize(text.ptr(), &n) : nullptr;
    if (!p && !PyErr_Occurred()) throw nb::type_error(otherwise);
    if (!p) throw nb::python_error();
    return {p, size_t(n)};
}

using Strings = nb::typed<nb::list, nb::str>;

// Text of unknown origin may hold any bytes: what is not UTF-8 is shown by its codes.
template <class NameList>
Strings shown(const NameList& names) {
    Strings out;
    for (int64_t i = 0; i < names.size(); ++i) {
        const std::string_view name = names[i];
        out.append(nb::steal(PyUnicode_DecodeUTF8(name.data(), Py_ssize_t(name.size()), "backslashreplace")));
    }
    return out;
}

// Text that is known to be UTF-8.
template <class NameList>
std::vector<std::string> texts_of(const NameList& names) {
    std::vector<std::string> out;
    for (int64_t i = 0; i < names.size(); ++i) out.emplace_back(names[i]);
    return out;
}
