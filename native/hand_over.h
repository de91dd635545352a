// Arrays made here as NumPy arrays, without a copy.
#pragma once

#include <cstdlib>

#include "binding.h"
#include "memory/growing.h"

template <size_t N, class T>
using MadeOf = nb::ndarray<nb::numpy, T, nb::ndim<N>>;
template <class T>
using Made = MadeOf<1, T>;

// Memory from malloc, to be freed with the array.
template <class T>
Made<T> array_of(T* data, size_t n) {
    nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
    return {data, {n}, owner};
}

template <size_t N, class T>
MadeOf<N, T> array_of(std::vector<T> values, const size_t (&shape)[N]) {
    auto* kept = new std::vector<T>(std::move(values));
    if (kept->empty()) kept->reserve(1);  // so that there is an address
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return {kept->data(), N, shape, owner};
}
template <class T>
Made<T> array_of(std::vector<T> values) {
    const size_t n = values.size();
    return array_of<1>(std::move(values), {n});
}

template <class T>
Made<T> hand_over(Growing<T>& g) {
    const size_t n = g.size();
    return array_of(g.release(), n);
}

// What g holds now, in memory shared with the array: g may overwrite it, but neither frees
// nor moves it while the array exists.
template <class T>
Made<T> alias(Growing<T>& g) {
    static T nothing{};
    auto* const held = new std::shared_ptr<void>(g.share());
    nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::shared_ptr<void>*>(p); });
    return {g.size() ? g.data() : &nothing, {g.size()}, owner};
}
