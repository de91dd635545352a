// Where a feature's name leads.
//
// A name is found through a table keyed by the Python objects themselves: a str caches its hash and
// is mostly the very object that was seen before, so a lookup is one probe and one pointer
// comparison. With feature hashing there is no table: a hash of the name's UTF-8 bytes, the same on
// every machine and in every process, is the index.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "rows/rows.h"
#include "text/keyed.h"

namespace novikoff {

// Name -> index, by open addressing with linear probing.
//
// An entry's key is a str, or an alias that spares building the name: an int, which stands for its
// decimal digits, or a pair (key, value), which stands for "key=value". Only exact str and int
// objects come in here, so that no comparison can run Python code.
class FeatureTable {
    struct Slot {
        uint64_t hash;
        PyObject *key, *value;  // key null: free; value null: not a pair
        int64_t index;
    };
    std::vector<Slot> slots;
    uint64_t mask = 0;
    size_t used = 0;
    std::vector<Slot> added;          // since begin(), for undo() to remove
    size_t names_before = 0;

    static NOVIKOFF_INLINE bool same(PyObject* a, PyObject* b) {
        if (a == b) return true;
        if (!a || !b || Py_TYPE(a) != Py_TYPE(b)) return false;
        if (!PyUnicode_CheckExact(a)) return PyObject_RichCompareBool(a, b, Py_EQ) == 1;
        if (PyUnicode_GET_LENGTH(a) != PyUnicode_GET_LENGTH(b) || PyUnicode_KIND(a) != PyUnicode_KIND(b))
            return false;
        return same_bytes(static_cast<const char*>(PyUnicode_DATA(a)),
                          static_cast<const char*>(PyUnicode_DATA(b)),
                          size_t(PyUnicode_GET_LENGTH(a)) * size_t(PyUnicode_KIND(a)));
    }
    void place(const Slot& entry) {
        uint64_t at = entry.hash & mask;
        while (slots[at].key) at = (at + 1) & mask;
        slots[at] = entry;
    }
    void enlarge() {
        std::vector<Slot> old(slots.empty() ? 64 : 2 * slots.size());
        old.swap(slots);
        mask = slots.size() - 1;
        for (const Slot& s : old)
            if (s.key) place(s);
    }
    // Take an entry out and close the gap: what was displaced past it moves up.
    void remove(const Slot& entry) {
        uint64_t hole = entry.hash & mask;
        while (slots[hole].key != entry.key || slots[hole].value != entry.value) hole = (hole + 1) & mask;
        for (uint64_t at = (hole + 1) & mask; slots[at].key; at = (at + 1) & mask)
            if (((at - slots[at].hash) & mask) >= ((at - hole) & mask)) {
                slots[hole] = slots[at];
                hole = at;
            }
        slots[hole].key = nullptr;
        --used;
        Py_DECREF(entry.key);
        Py_XDECREF(entry.value);
    }

  public:
    std::vector<PyObject*> names;     // by index; references held by the table's own entries

    FeatureTable() = default;
    FeatureTable(const FeatureTable&) = delete;
    ~FeatureTable() {
        for (const Slot& s : slots)
            if (s.key) {
                Py_DECREF(s.key);
                Py_XDECREF(s.value);
            }
    }

    static NOVIKOFF_INLINE uint64_t hash(PyObject* key, PyObject* value) {
        // A str that came out of a dict has its hash with it.
        Py_hash_t kept = PyUnicode_CheckExact(key) ? reinterpret_cast<PyASCIIObject*>(key)->hash : -1;
        uint64_t h = kept != -1               ? uint64_t(kept)
                     : PyLong_CheckExact(key) ? hash_of_int(key)
                                              : uint64_t(PyObject_Hash(key));
        return value ? table_key.words(h, uint64_t(PyObject_Hash(value))) : h;
    }
    // Python's own hash of an int is not secret, and is equal for ints that differ by 2^61 - 1.
    static __attribute__((noinline)) uint64_t hash_of_int(PyObject* key) {
        int overflow = 0;
        const long long x = PyLong_AsLongLongAndOverflow(key, &overflow);
        if (!overflow) return table_key.word(uint64_t(x));
        PyObject* const digits = PyNumber_ToBase(key, 16);
        if (!digits) return PyErr_Clear(), uint64_t(PyObject_Hash(key));  // no memory: slower, not wrong
        const Py_hash_t h = PyObject_Hash(digits);
        Py_DECREF(digits);
        return uint64_t(h);
    }
    // The index of a key, or -1.
    NOVIKOFF_INLINE int64_t find(uint64_t h, PyObject* key, PyObject* value) const {
        if (slots.empty()) return -1;
        for (uint64_t at = h & mask; slots[at].key; at = (at + 1) & mask) {
            const Slot& s = slots[at];
            if (s.key == key && s.value == value) return s.index;
            if (s.hash == h && same(s.key, key) && same(s.value, value)) return s.index;
        }
        return -1;
    }
    void add(uint64_t h, PyObject* key, PyObject* value, int64_t index) {
        if (2 * (used + 1) > slots.size()) enlarge();
        if (index == int64_t(names.size())) names.push_back(key);
        added.push_back({h, key, value, index});
        place({h, key, value, index});
        ++used;
        Py_INCREF(key);
        Py_XINCREF(value);
    }
    void begin() {
        added.clear();
        names_before = names.size();
    }
    void undo() {
        names.resize(names_before);
        for (const Slot& s : added) remove(s);
        added.clear();
    }
    // The names, by index.
    std::vector<nanobind::object> held() const {
        std::vector<nanobind::object> out;
        for (PyObject* name : names) out.push_back(nanobind::borrow(name));
        return out;
    }
    // The most places that are looked at for one of the entries.
    size_t longest_probe() const {
        size_t most = 0;
        for (size_t at = 0; at < slots.size(); ++at)
            if (slots[at].key) most = std::max(most, size_t((at - slots[at].hash) & mask) + 1);
        return most;
    }
    size_t bytes() const {
        return slots.capacity() * sizeof(Slot) + names.capacity() * sizeof(PyObject*) +
               added.capacity() * sizeof(Slot);
    }
    // In an order that does not depend on where the entries happen to lie.
    template <class F>
    void for_each_alias(F&& f) const {
        std::vector<Slot> aliases;
        for (const Slot& s : slots)
            if (s.key && (s.value || PyLong_CheckExact(s.key))) aliases.push_back(s);
        std::sort(aliases.begin(), aliases.end(), [](const Slot& a, const Slot& b) {
            if (a.index != b.index) return a.index < b.index;
            const bool digits = PyLong_CheckExact(a.key), other = PyLong_CheckExact(b.key);
            if (digits || other) return digits && !other;  // an int has only one such name
            return PyUnicode_Compare(a.key, b.key) < 0;
        });
        for (const Slot& s : aliases) f(s.key, s.value, s.index);
    }
};

}  // namespace novikoff
