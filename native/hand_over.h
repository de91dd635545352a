// Arrays made here as NumPy arrays, without a copy.
#pragma once

#include <cstdlib>

#include "binding.h"
#include "memory/growing.h"

// Memory from malloc, to be freed with the array.
template <class T>
nb::object array_of(T* data, size_t n) {
    nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {n}, owner));
}

template <class T>
nb::object array_of(std::vector<T> values, std::initializer_list<size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    if (kept->empty()) kept->reserve(1);  // so that there is an address
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), shape, owner));
}

template <class T>
nb::object hand_over(Growing<T>& g) {
    const size_t n = g.size();
    return array_of(g.release(), n);
}

// What g holds now, in memory that is also the array's: g may write something else to it, but neither frees
// nor moves it before the array has gone.
template <class T>
nb::object alias(Growing<T>& g) {
    static T nothing{};
    auto* const held = new std::shared_ptr<void>(g.share());
    nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::shared_ptr<void>*>(p); });
    return nb::cast(
        nb::ndarray<nb::numpy, T, nb::ndim<1>>(g.size() ? g.data() : &nothing, {g.size()}, owner));
}
