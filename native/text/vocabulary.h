// Names of features and their numbers, in order of first appearance.
//
// A parser keeps the names of its block in one, a model those of the whole stream in another. Names of up to
// eight bytes, which most are, lie in the table itself, so that finding one touches a single cache line.
#pragma once

#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "memory/growing.h"
#include "memory/zeroed.h"
#include "text/keyed.h"

namespace novikoff {

// Names one after another, with the keys by which a Vocabulary finds them.
struct NameList {
    Growing<char> bytes;
    Growing<int64_t> ends;
    Growing<uint64_t> keys;

    int64_t size() const { return int64_t(ends.size()); }
    int64_t begin(int64_t i) const { return i ? ends[size_t(i) - 1] : 0; }
    std::string_view operator[](int64_t i) const {
        const int64_t from = begin(i);
        return {bytes.data() + from, size_t(ends[size_t(i)] - from)};
    }
    void push(const char* p, size_t n, uint64_t key) {
        bytes.append(p, n);
        ends.push(int64_t(bytes.size()));
        keys.push(key);
    }
    // A name of up to eight bytes, given as short_key.
    void push_short(uint64_t key, size_t n) {
        keys.push(key);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        key = __builtin_bswap64(key);
#endif
        std::memcpy(bytes.extend(8), &key, 8);  // no call for a few bytes
        bytes.shrink(bytes.size() - 8 + n);
        ends.push(int64_t(bytes.size()));
    }
    void truncate(int64_t n) {
        bytes.shrink(size_t(begin(n)));
        ends.shrink(size_t(n));
        keys.shrink(size_t(n));
    }
};

// The n ≤ 8 bytes at p as a word, the first lowest, with zeros above. (For so few a call of memcpy costs
// more.)
inline uint64_t short_key(const char* p, size_t n) {
    auto byte = [p](size_t i) { return uint64_t(static_cast<unsigned char>(p[i])) << 8 * i; };
    if (n >= 4) {
        uint32_t low, high;  // which share bytes when there are fewer than eight
        std::memcpy(&low, p, 4);
        std::memcpy(&high, p + n - 4, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        low = __builtin_bswap32(low), high = __builtin_bswap32(high);
#endif
        return low | uint64_t(high) << 8 * (n - 4);
    }
    return n ? byte(0) | byte(n / 2) | byte(n - 1) : 0;
}

// Memory for tables with random access: on huge pages when it is large, which saves the processor
// most of the work of finding where a page lies.
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
        uint64_t key;
        uint32_t length;  // plus one; 0 when the slot is free
        uint32_t id;
    };
    using Table = std::vector<Slot, HugePages<Slot>>;
    static constexpr size_t smallest = 1024;
    Table slots = Table(smallest);
    uint64_t mask = smallest - 1;

    size_t home(uint64_t key) const { return size_t(table_key.word(key) & mask); }

    // Where the name is, or the free slot that it would get.
    size_t slot_of(uint64_t key, const char* p, size_t n) const {
        for (size_t at = home(key);; at = (at + 1) & mask) {
            const Slot& s = slots[at];
            if (s.key == key && s.length == n + 1 && (n <= 8 || same_bytes(list[s.id].data(), p, n)))
                return at;
            if (!s.length) return at;
        }
    }
    int64_t add(size_t at, uint64_t key, const char* p, size_t n) {
        if (size() == std::numeric_limits<int32_t>::max())
            throw std::length_error("more than 2^31 - 1 names");
        if (n >= std::numeric_limits<uint32_t>::max())
            throw std::length_error("a name of 2^32 - 1 bytes or more");
        if (3 * (size_t(size()) + 1) > 2 * slots.size()) {
            enlarge();
            at = slot_of(key, p, n);
        }
        slots[at] = {key, uint32_t(n + 1), uint32_t(size())};
        if (n > 8) list.push(p, n, key);
        else list.push_short(key, n);
        return size() - 1;
    }
    void empty() { std::memset(static_cast<void*>(slots.data()), 0, slots.size() * sizeof(Slot)); }
    uint64_t key_of(int64_t i) const { return list.keys[size_t(i)]; }

    // By number, not by place: a later name never stands before an older one in a chain, which is what
    // truncate() relies on.
    __attribute__((noinline)) void enlarge() {
        Table(2 * slots.size()).swap(slots);
        mask = slots.size() - 1;
        for (int64_t i = 0; i < size(); ++i) {
            const uint64_t key = key_of(i);
            size_t at = home(key);
            while (slots[at].length) at = (at + 1) & mask;
            slots[at] = {key, uint32_t(list[i].size() + 1), uint32_t(i)};
        }
    }

  public:
    NameList list;

    Vocabulary() = default;
    // room for a few names at first, a power of two
    explicit Vocabulary(size_t few) : slots(few), mask(few - 1) {}
    Vocabulary(Vocabulary&&) = default;

    // The key of a name in the table: a short name itself, the hash of a long one.
    static uint64_t key(std::string_view name) {
        return name.size() <= 8 ? short_key(name.data(), name.size())
                                : table_key.bytes(name.data(), name.size());
    }

    int64_t size() const { return list.size(); }
    // As a function whose state stays in registers, whatever its caller writes, and which gives the hash
    // of the key. Valid until a name is added.
    auto prefetcher() const {
        return [table = slots.data(), m = mask, by = table_key](uint64_t key) {
            const uint64_t hash = by.word(key);
            __builtin_prefetch(table + (hash & m));
            return hash;
        };
    }
    uint64_t prefetch(uint64_t key) const { return prefetcher()(key); }

    // Whether a short name is in the slot where it is looked for first; its number. (A long one never is.)
    bool at_home(uint64_t hash, uint64_t key, uint64_t n, int32_t& id) const {
        const Slot& s = slots[size_t(hash & mask)];
        id = int32_t(s.id);
        return (s.key == key) & (s.length == n + 1) & (n <= 8);
    }
    // The number of the name of n bytes at p (which is not read when it is short), or -1.
    int64_t find(uint64_t key, const char* p, size_t n) const {
        const Slot& s = slots[slot_of(key, p, n)];
        return s.length ? int64_t(s.id) : -1;
    }
    // The same; a name that has none gets the next one.
    int64_t number(uint64_t key, const char* p, size_t n) {
        const size_t at = slot_of(key, p, n);
        return slots[at].length ? int64_t(slots[at].id) : add(at, key, p, n);
    }
    int64_t number(std::string_view name) { return number(key(name), name.data(), name.size()); }
    // The most places that are looked at for one of the names.
    size_t longest_probe() const {
        size_t most = 0;
        for (size_t at = 0; at < slots.size(); ++at)
            if (slots[at].length) most = std::max(most, ((at - home(slots[at].key)) & mask) + 1);
        return most;
    }
    // Removes all names but the first n.
    void truncate(int64_t n) {
        if (n == 0 && 8 * size_t(size()) > slots.size()) {
            empty();
        } else {
            for (int64_t i = size(); i-- > n;) {
                size_t at = home(key_of(i));
                while (slots[at].length == 0 || slots[at].id != uint32_t(i)) at = (at + 1) & mask;
                slots[at] = {};
            }
        }
        list.truncate(n);
    }
    // Hands over the names, and has none; the table stays as large as it is.
    NameList take() {
        empty();
        return std::exchange(list, NameList());
    }
};

// Where the names of a stream lead when they share 2^bits columns. The first name that comes to a column is
// kept, so that the column can be called by it.
class HashedNames {
    uint64_t mask, seed;
    ZeroTable<uint64_t> seen;  // one bit per column

  public:
    NameList list;
    Growing<int64_t> columns;  // of the names kept

    HashedNames(int bits, uint64_t seed)
        : mask((uint64_t(1) << bits) - 1), seed(seed), seen(size_t(mask / 64 + 1)) {}

    int64_t size() const { return int64_t(mask) + 1; }
    void prefetch(int64_t column) const { __builtin_prefetch(&seen[size_t(column) / 64]); }

    int64_t column(std::string_view name) const {
        return int64_t(hash_bytes(name.data(), name.size(), seed) & mask);
    }
    // Keeps a name with its column and key.
    void put(std::string_view name, int64_t j, uint64_t key) {
        uint64_t& word = seen[size_t(j) / 64];
        const uint64_t bit = uint64_t(1) << (j % 64);
        if (!(word & bit)) {
            list.push(name.data(), name.size(), key);
            columns.push(j);
            word |= bit;
        }
    }
};

}  // namespace novikoff
