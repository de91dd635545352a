// What every binding shares: array types, and a matrix of rows in whatever form it is stored.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "linear/learner.h"
#include "memory/in_use.h"

namespace nb = nanobind;
using namespace novikoff;

template <class T, class... Flags>
using Array = nb::ndarray<T, nb::device::cpu, Flags...>;
template <class T>
using Vector = Array<T, nb::ndim<1>, nb::c_contig>;
using Floats = Vector<const double>;
using Labels = Vector<const int32_t>;
using Order = Vector<const int64_t>;
using Bytes = Vector<const uint8_t>;
template <class T>
using Table = Array<T, nb::ndim<2>, nb::c_contig>;
using Matrix = Table<double>;

// A matrix of rows in any of the storage forms that are read in place. It keeps its arrays alive.
class Rows {
    std::variant<DenseRows<float>, DenseRows<double>, DenseRows<uint8_t>, SparseRows<float, int32_t>,
                 SparseRows<float, int64_t>, SparseRows<double, int32_t>, SparseRows<double, int64_t>>
        view;
    std::vector<nb::object> owners;
    // our own copy: what was checked is what is used, whoever writes to the array later
    std::vector<int64_t> pointers;

    template <class T>
    static void check_aligned(const void* p) {
        if (reinterpret_cast<uintptr_t>(p) % alignof(T))
            throw std::invalid_argument("arrays must be aligned");
    }
    template <class T>
    bool try_dense(const nb::ndarray<nb::ro, nb::device::cpu, nb::ndim<2>>& x) {
        if (x.dtype() != nb::dtype<T>()) return false;
        check_aligned<T>(x.data());
        view = DenseRows<T>{static_cast<const T*>(x.data()), int64_t(x.shape(0)), int64_t(x.shape(1)),
                            x.stride(0)};
        return true;
    }
    template <class T, class I>
    bool try_sparse(const nb::ndarray<nb::ro, nb::device::cpu, nb::ndim<1>>& data,
                    const nb::ndarray<nb::ro, nb::device::cpu, nb::ndim<1>>& indices,
                    const nb::ndarray<nb::ro, nb::device::cpu, nb::ndim<1>>& indptr, int64_t d,
                    bool distinct) {
        if (data.dtype() != nb::dtype<T>() || indices.dtype() != nb::dtype<I>() ||
            indptr.dtype() != nb::dtype<I>())
            return false;
        for (auto* a : {&data, &indices, &indptr})
            if (a->shape(0) > 1 && a->stride(0) != 1)
                throw std::invalid_argument("CSR arrays must be contiguous");
        check_aligned<T>(data.data()), check_aligned<I>(indices.data()), check_aligned<I>(indptr.data());
        const int64_t n = int64_t(indptr.shape(0)) - 1;
        pointers.resize((indptr.shape(0) * sizeof(I) + 7) / 8);
        const I* p = reinterpret_cast<I*>(pointers.data());
        if (n >= 0) std::memcpy(pointers.data(), indptr.data(), indptr.shape(0) * sizeof(I));
        const int64_t stored = int64_t(std::min(data.shape(0), indices.shape(0)));
        bool sound = n >= 0 && p[0] >= 0 && int64_t(p[n]) <= stored;
        for (int64_t i = 0; sound && i < n; ++i) sound = p[i] <= p[i + 1];
        if (!sound)
            throw std::invalid_argument("CSR matrix: indptr does not increase from 0 to the stored values");
        view = SparseRows<T, I>{
            static_cast<const T*>(data.data()), static_cast<const I*>(indices.data()), p, n, d, distinct};
        return true;
    }

  public:
    explicit Rows(nb::ndarray<nb::ro, nb::device::cpu, nb::ndim<2>> x) {
        if (x.shape(0) > 0 && x.shape(1) > 1 && x.stride(1) != 1)
            throw std::invalid_argument("rows must be contiguous");
        if (!(try_dense<float>(x) || try_dense<double>(x) || try_dense<uint8_t>(x)))
            throw std::invalid_argument("dense rows are float32, float64 or uint8");
        owners.push_back(nb::cast(x));
    }
    Rows(nb::ndarray<nb::ro, nb::device::cpu, nb::ndim<1>> data,
         nb::ndarray<nb::ro, nb::device::cpu, nb::ndim<1>> indices,
         nb::ndarray<nb::ro, nb::device::cpu, nb::ndim<1>> indptr, int64_t features, bool distinct) {
        if (!(try_sparse<float, int32_t>(data, indices, indptr, features, distinct) ||
              try_sparse<float, int64_t>(data, indices, indptr, features, distinct) ||
              try_sparse<double, int32_t>(data, indices, indptr, features, distinct) ||
              try_sparse<double, int64_t>(data, indices, indptr, features, distinct)))
            throw std::invalid_argument(
                "CSR values are float32 or float64, both index arrays int32 or int64");
        for (auto* a : {&data, &indices, &indptr}) owners.push_back(nb::cast(*a));
    }

    template <class F>
    auto visit(F&& f) const {
        return std::visit(std::forward<F>(f), view);
    }
    int64_t n() const {
        return visit([](auto& r) { return r.n; });
    }
    int64_t d() const {
        return visit([](auto& r) { return r.d; });
    }
};

inline const char* name(Problem p) {
    switch (p) {
        case Problem::none: return "";
        case Problem::not_finite: return "not finite";
        case Problem::bad_index: return "bad index";
        case Problem::overflow: return "overflow";
    }
    return "";
}

using Report = std::tuple<std::string, int64_t>;
inline Report report(const Outcome& o) { return {name(o.problem), o.row}; }

// f(object), for an object that keeps track of who uses it.
template <class C, class F>
auto reads(F f) {
    return [f](const C& object) {
        const Reading read(object.in_use);
        return f(object);
    };
}

// A number of such an object, as an attribute that can be read and set.
template <class C, class Base, class T>
void guarded(nb::class_<C>& c, const char* name, T Base::* member) {
    c.def_prop_rw(name, reads<C>([member](const C& object) { return object.*member; }),
                  [member](C& object, T value) {
                      const Writing change(object.in_use);
                      object.*member = value;
                  });
}
