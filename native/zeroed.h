// Memory for tables that are mostly zero: zeros take none until they are written to.
#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

namespace novikoff {

// Pages come from the system as zeros when they are first written to. In a large table they are asked to be small
// ones: a number here and there would take 2 MiB otherwise.
template <class T>
struct Zeroed {
    using value_type = T;
    static constexpr size_t large = size_t(1) << 26, page = size_t(1) << 12;

    Zeroed() = default;
    template <class U>
    Zeroed(const Zeroed<U>&) {}

    T* allocate(size_t n) {
        void* const p = std::calloc(n ? n : 1, sizeof(T));
        if (!p) throw std::bad_alloc();
#if defined(__linux__)
        if (n * sizeof(T) >= large) {
            const uintptr_t from = (uintptr_t(p) + page - 1) / page * page, to = (uintptr_t(p) + n * sizeof(T)) / page * page;
            madvise(reinterpret_cast<void*>(from), to - from, MADV_NOHUGEPAGE);
        }
#endif
        return static_cast<T*>(p);
    }
    void deallocate(T* p, size_t) { std::free(p); }
    template <class U>
    void construct(U*) noexcept {}  // it is zero already
    template <class U, class... A>
    void construct(U* p, A&&... a) { ::new (static_cast<void*>(p)) U(std::forward<A>(a)...); }
    friend bool operator==(const Zeroed&, const Zeroed&) { return true; }
    friend bool operator!=(const Zeroed&, const Zeroed&) { return false; }
};

// It must only grow: what was cut off would not be zero when it came back.
template <class T>
using ZeroTable = std::vector<T, Zeroed<T>>;

}  // namespace novikoff
