// An array for results whose size is not known beforehand.
#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace novikoff {

// An array that grows by realloc: large ones are moved by remapping pages, so no second copy exists while
// they grow, and what is reserved but not yet written takes no memory.
template <class T>
class Growing {
    static_assert(std::is_trivially_copyable_v<T>);
    T* items = nullptr;
    size_t used = 0, room = 0;
    // The owner of the memory once others share it. Then realloc does not free it; it is kept by whoever
    // is left.
    struct Shared {
        void* memory = nullptr;
        ~Shared() { std::free(memory); }
    };
    std::shared_ptr<Shared> shared;

    // Whether the memory is not shared.
    bool reclaim() {
        if (!shared) return true;
        if (shared.use_count() > 1) return false;
        std::atomic_thread_fence(std::memory_order_acquire);
        shared->memory = nullptr;
        shared.reset();
        return true;
    }

    [[gnu::noinline, gnu::cold]] void resize_to(size_t n) {
        const bool mine = reclaim();
        void* moved =
            n > SIZE_MAX / sizeof(T) ? nullptr : std::realloc(mine ? items : nullptr, n * sizeof(T));
        if (!moved) throw std::bad_alloc();
        if (!mine && used) std::memcpy(moved, items, std::min(used, n) * sizeof(T));
        shared.reset();
        items = static_cast<T*>(moved);
        room = n;
#if defined(__linux__)
        // New pages cost half as much as the parse, huge ones little. All of the array is advised, written or
        // not: a mapping advised in part becomes two, and those realloc would have to copy.
        const uintptr_t page = 4096, first = uintptr_t(items) / page * page;
        const uintptr_t last = (uintptr_t(items + room) + page - 1) / page * page;
        if (last - first >= uintptr_t(1) << 22)
            madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
    }

  public:
    Growing() = default;
    Growing(const Growing&) = delete;
    Growing& operator=(const Growing&) = delete;
    Growing(Growing&& other) noexcept { swap(other); }
    Growing& operator=(Growing&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Growing() {
        if (!shared) std::free(items);
    }

    void swap(Growing& other) noexcept {
        std::swap(items, other.items);
        std::swap(used, other.used);
        std::swap(room, other.room);
        shared.swap(other.shared);
    }
    // The memory, shared with others.
    std::shared_ptr<void> share() {
        if (!shared) {
            shared = std::make_shared<Shared>();
            shared->memory = items;
        }
        return shared;
    }
    const T* data() const { return items; }
    T* data() { return items; }
    T& operator[](size_t i) { return items[i]; }
    const T& operator[](size_t i) const { return items[i]; }
    size_t size() const { return used; }
    void clear() { used = 0; }
    void shrink(size_t n) { used = n; }
    void push(T x) {
        if (used == room) resize_to(room + room / 2 + 1024);
        items[used++] = x;
    }
    // Room for `count` more, not yet written; returns where it begins.
    T* extend(size_t count) {
        const size_t n = used + count;
        if (n > room) resize_to(std::max(n, room + room / 2));
        T* const out = items + used;
        used = n;
        return out;
    }
    // Room for n more, to be written to from the end and then counted by `grow`.
    T* reserve(size_t n) {
        if (room - used < n) resize_to(std::max(used + n, room + room / 2));
        return items + used;
    }
    void grow(size_t n) { used += n; }
    template <class U>
    void append(const U* first, size_t count) {
        if (count) std::copy(first, first + count, extend(count));
    }
    template <class U>
    void append(const Growing<U>& other) {
        append(other.data(), other.size());
    }
    // Hands the memory, cut to size, to a caller who frees it.
    T* release() {
        resize_to(std::max(used, size_t(1)));
        T* out = items;
        items = nullptr;
        used = room = 0;
        return out;
    }
};

}  // namespace novikoff
