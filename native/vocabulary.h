// Names of features and their numbers, in order of first appearance.
//
// A parser keeps the names of its block in one, a model those of the whole stream in another. Names of up to
// eight bytes, which most are, lie in the table itself, so that finding one touches a single cache line.
#pragma once

#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "growing.h"
#include "hash.h"

namespace novikoff {

// Names one after the other, with their hash_bytes of seed 0.
struct NameList {
    Growing<char> bytes;
    Growing<int64_t> ends;
    Growing<uint64_t> hashes;

    int64_t size() const { return int64_t(ends.size()); }
    int64_t begin(int64_t i) const { return i ? ends[size_t(i) - 1] : 0; }
    std::string_view operator[](int64_t i) const {
        const int64_t from = begin(i);
        return {bytes.data() + from, size_t(ends[size_t(i)] - from)};
    }
    void push(const char* p, size_t n, uint64_t hash) {
        bytes.append(p, n);
        ends.push(int64_t(bytes.size()));
        hashes.push(hash);
    }
    // A name of up to eight bytes, given as short_key.
    void push_short(uint64_t key, size_t n, uint64_t hash) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        key = __builtin_bswap64(key);
#endif
        std::memcpy(bytes.extend(8), &key, 8);  // no call for a few bytes
        bytes.shrink(bytes.size() - 8 + n);
        ends.push(int64_t(bytes.size()));
        hashes.push(hash);
    }
    void truncate(int64_t n) {
        bytes.shrink(size_t(begin(n)));
        ends.shrink(size_t(n));
        hashes.shrink(size_t(n));
    }
};

// The first n ≤ 8 bytes at p as a word, the first lowest, with zeros above.
inline uint64_t short_key(const char* p, size_t n) {
    uint64_t w = 0;
    if (n) std::memcpy(&w, p, n);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    w = __builtin_bswap64(w);
#endif
    return w;
}

// Memory for tables that are read here and there: on huge pages when it is large, which spares the processor most
// of the work of finding where a page lies.
template <class T>
struct HugePages {
    using value_type = T;
    static constexpr size_t page = size_t(1) << 21;

    HugePages() = default;
    template <class U>
    HugePages(const HugePages<U>&) {}

    T* allocate(size_t n) {
        if (n > (SIZE_MAX - page) / sizeof(T)) throw std::bad_alloc();
        size_t size = n * sizeof(T);
        const bool large = size >= page / 2;
        if (large) size = (size + page - 1) / page * page;
        void* const p = large ? std::aligned_alloc(page, size) : std::malloc(size);
        if (!p) throw std::bad_alloc();
#if defined(__linux__)
        if (large) madvise(p, size, MADV_HUGEPAGE);
#endif
        return static_cast<T*>(p);
    }
    void deallocate(T* p, size_t) { std::free(p); }
    friend bool operator==(const HugePages&, const HugePages&) { return true; }
    friend bool operator!=(const HugePages&, const HugePages&) { return false; }
};

class Vocabulary {
    struct Slot {
        uint64_t key;     // a short name itself, or a long one's hash
        uint32_t length;  // plus one; 0 when the slot is free
        uint32_t id;
    };
    using Table = std::vector<Slot, HugePages<Slot>>;
    static constexpr size_t smallest = 1024;
    Table slots = Table(smallest);
    uint64_t mask = smallest - 1;

    void place(uint64_t key, uint32_t length, uint32_t id, uint64_t hash) {
        uint64_t at = hash & mask;
        while (slots[at].length) at = (at + 1) & mask;
        slots[at] = {key, length, id};
    }
    // By number, not by place: whoever came later never stands before an older name in a chain, which is what
    // truncate() relies on.
    void make_room() {
        if (size() == std::numeric_limits<int32_t>::max()) throw std::length_error("more than 2^31 - 1 names");
        if (2 * (size_t(size()) + 1) > slots.size()) enlarge();
    }
    __attribute__((noinline)) void enlarge() {
        Table(2 * slots.size()).swap(slots);
        mask = slots.size() - 1;
        for (int64_t i = 0; i < list.size(); ++i) {
            const std::string_view name = list[i];
            const uint64_t hash = list.hashes[size_t(i)];
            place(name.size() <= 8 ? short_key(name.data(), name.size()) : hash, uint32_t(name.size() + 1),
                  uint32_t(i), hash);
        }
    }

  public:
    NameList list;

    Vocabulary() = default;
    Vocabulary(Vocabulary&&) = default;

    int64_t size() const { return list.size(); }
    size_t memory() const {
        return slots.size() * sizeof(Slot) + list.bytes.size() + list.ends.size() * sizeof(int64_t) +
               list.hashes.size() * sizeof(uint64_t);
    }
    void clear() {
        if (!size()) return;
        std::fill(slots.begin(), slots.end(), Slot{});
        list.truncate(0);
    }
    void prefetch(uint64_t hash) const { __builtin_prefetch(&slots[hash & mask]); }

    // The number of a name of up to eight bytes, given as short_key, or -1.
    int64_t find_short(uint64_t key, size_t n, uint64_t hash) const {
        for (uint64_t at = hash & mask;; at = (at + 1) & mask) {
            const Slot& s = slots[at];
            if (s.key == key && s.length == n + 1) return s.id;
            if (!s.length) return -1;
        }
    }
    int64_t find(const char* p, size_t n, uint64_t hash) const {
        return n <= 8 ? find_short(short_key(p, n), n, hash) : find_long(p, n, hash);
    }
    int64_t find_long(const char* p, size_t n, uint64_t hash) const {
        for (uint64_t at = hash & mask;; at = (at + 1) & mask) {
            const Slot& s = slots[at];
            if (s.key == hash && s.length == n + 1 && same_bytes(list[s.id].data(), p, n)) return s.id;
            if (!s.length) return -1;
        }
    }
    // These add a name that is not there.
    int64_t add(const char* p, size_t n, uint64_t hash) {
        if (n <= 8) return add_short(short_key(p, n), n, hash);
        if (n >= std::numeric_limits<uint32_t>::max()) throw std::length_error("a name of 2^32 - 1 bytes or more");
        make_room();
        place(hash, uint32_t(n + 1), uint32_t(size()), hash);
        list.push(p, n, hash);
        return size() - 1;
    }
    int64_t add_short(uint64_t key, size_t n, uint64_t hash) {
        make_room();
        place(key, uint32_t(n + 1), uint32_t(size()), hash);
        list.push_short(key, n, hash);
        return size() - 1;
    }
    // Takes back all names but the first n.
    void truncate(int64_t n) {
        for (int64_t i = size(); i-- > n;) {
            uint64_t at = list.hashes[size_t(i)] & mask;
            while (slots[at].length == 0 || slots[at].id != uint32_t(i)) at = (at + 1) & mask;
            slots[at] = {};
        }
        list.truncate(n);
    }
    // Hands over the names, and is as new.
    NameList take() {
        Table(smallest).swap(slots);
        mask = smallest - 1;
        return std::exchange(list, NameList());
    }
};

// Where the names of a stream lead when they share 2^bits columns. The first name that comes to a column is kept,
// so that the column can be called by it.
class HashedNames {
    uint64_t mask, seed;
    std::vector<uint64_t> seen;  // a bit a column

  public:
    NameList list;
    Growing<int64_t> columns;  // of the names kept

    HashedNames(int bits, uint64_t seed)
        : mask((uint64_t(1) << bits) - 1), seed(seed), seen(size_t(mask / 64 + 1)) {}

    int64_t size() const { return int64_t(mask) + 1; }
    void prefetch(uint64_t hash) const { __builtin_prefetch(&seen[(hash & mask) / 64]); }

    int64_t column(std::string_view name, uint64_t hash) const {  // the hash of seed 0
        return int64_t((seed ? hash_bytes(name.data(), name.size(), seed) : hash) & mask);
    }
    int64_t put(std::string_view name, uint64_t hash) {
        const int64_t j = column(name, hash);
        uint64_t& word = seen[size_t(j) / 64];
        const uint64_t bit = uint64_t(1) << (j % 64);
        if (!(word & bit)) {
            list.push(name.data(), name.size(), hash);
            columns.push(j);
            word |= bit;
        }
        return j;
    }
};

}  // namespace novikoff
