// Memory for tables that are mostly zero: zeros take none until they are written to.
#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace novikoff {

// Pages come from the system as zeros when they are first written to. In a large table they are asked to be
// small ones: a number here and there would take 2 MiB otherwise.
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
            const uintptr_t from = (uintptr_t(p) + page - 1) / page * page,
                            to = (uintptr_t(p) + n * sizeof(T)) / page * page;
            madvise(reinterpret_cast<void*>(from), to - from, MADV_NOHUGEPAGE);
        }
#endif
        return static_cast<T*>(p);
    }
    void deallocate(T* p, size_t) { std::free(p); }
    template <class U>
    void construct(U*) noexcept {}  // it is zero already
    template <class U, class... A>
    void construct(U* p, A&&... a) {
        ::new (static_cast<void*>(p)) U(std::forward<A>(a)...);
    }
    friend bool operator==(const Zeroed&, const Zeroed&) { return true; }
    friend bool operator!=(const Zeroed&, const Zeroed&) { return false; }
};

// f(j, row) for the rows of a table that are not zero; a negative zero is not zero. Zeros are skipped a page
// at a time.
template <class F>
void for_each_used(const double* table, size_t rows, size_t stride, F&& f) {
    auto zero = [](const double* v, size_t n) {
        uint64_t any = 0;
        for (size_t i = 0; i < n; ++i) {
            uint64_t bits;
            std::memcpy(&bits, v + i, sizeof bits);
            any |= bits;
        }
        return any == 0;
    };
    const size_t together = std::max<size_t>(512 / stride, 1);
    for (size_t begin = 0; begin < rows; begin += together) {
        const size_t end = std::min(begin + together, rows);
        if (zero(table + begin * stride, (end - begin) * stride)) continue;
        for (size_t j = begin; j < end; ++j)
            if (!zero(table + j * stride, stride)) f(j, table + j * stride);
    }
}

// It must only grow: what was cut off would not be zero when it is used again.
template <class T>
using ZeroTable = std::vector<T, Zeroed<T>>;

}  // namespace novikoff
