// Who uses an object: any number of calls that read it, or one that changes it.
//
// A call that releases the GIL, or that could run foreign code, announces itself first. A call that comes in
// between, from another thread or from inside the call itself, gets an error (Reading, Writing) or its turn
// (Turn); the memory stays sound in any case. Nothing is allocated. Nobody waits while holding the GIL, which
// the other may need to finish.
//
// In a forked child the calls of other threads have vanished: those that only read are forgotten,
// one that was changing the object leaves it unusable, and calls say so.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace novikoff {

class InUse {
    static constexpr uint32_t kChanging = 0xffffffff;

    static std::atomic<uint32_t>& forks() {  // of the process, before this one was created
        static std::atomic<uint32_t> count{0};
        return count;
    }
#if !defined(_WIN32)
    static inline const int counted = pthread_atfork(nullptr, nullptr, [] { ++forks(); });
#endif
    static uint64_t era() { return uint64_t(forks().load(std::memory_order_relaxed)) << 32; }

    const char* const what;
    mutable std::atomic<uint64_t> state{0};  // the era, and below it how many read, or kChanging

  public:
    explicit InUse(const char* name) : what(name) {}
    InUse(const InUse& other) : what(other.what) {}  // nobody uses a copy yet
    InUse& operator=(const InUse&) { return *this; }

    bool try_read() const {
        const uint64_t now = era();
        uint64_t s = state.load(std::memory_order_relaxed);
        do {
            if (uint32_t(s) == kChanging) return false;
        } while (!state.compare_exchange_weak(s,
                                              now | ((s & ~uint64_t(kChanging)) == now ? uint32_t(s) + 1 : 1),
                                              std::memory_order_acquire, std::memory_order_relaxed));
        return true;
    }
    bool try_change() {
        const uint64_t now = era();
        uint64_t s = state.load(std::memory_order_relaxed);
        do {
            if (uint32_t(s) == kChanging || (uint32_t(s) && (s & ~uint64_t(kChanging)) == now)) return false;
        } while (!state.compare_exchange_weak(s, now | kChanging, std::memory_order_acquire,
                                              std::memory_order_relaxed));
        return true;
    }
    void end_read() const { state.fetch_sub(1, std::memory_order_release); }
    void end_change() { state.store(era(), std::memory_order_release); }

    // Whether the call that changes it will never finish.
    bool is_broken() const {
        const uint64_t s = state.load(std::memory_order_relaxed);
        return uint32_t(s) == kChanging && (s & ~uint64_t(kChanging)) != era();
    }
    [[noreturn]] void refuse() const {
        if (is_broken())
            throw std::runtime_error(std::string(what) +
                                     " was being changed by another thread when this process was "
                                     "forked: make it again, or load it, here");
        throw std::runtime_error(std::string(what) +
                                 " is in use by another call, of another thread or of code that this "
                                 "one runs: give each thread its own, or let calls follow one another");
    }
};

class Reading {
    const InUse& use;

  public:
    explicit Reading(const InUse& u) : use(u) {
        if (!use.try_read()) use.refuse();
    }
    Reading(const Reading&) = delete;
    ~Reading() { use.end_read(); }
};

class Writing {
    InUse& use;

  public:
    explicit Writing(InUse& u) : use(u) {
        if (!use.try_change()) use.refuse();
    }
    Writing(const Writing&) = delete;
    ~Writing() { use.end_change(); }
};

// Tries until it succeeds: for changes that are short and run no foreign code. `Release` releases the GIL,
// where the caller holds it, while it lives.
template <class Release, class Try>
void wait_for(const InUse& use, Try&& attempt) {
    if (attempt()) return;
    [[maybe_unused]] const Release others_turn;
    for (int tries = 0; !attempt(); ++tries) {
        if (use.is_broken()) use.refuse();
        if (tries < 64) std::this_thread::yield();
        else std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

template <class Release>
class ReadingTurn {
    const InUse& use;

  public:
    explicit ReadingTurn(const InUse& u) : use(u) {
        wait_for<Release>(use, [&] { return use.try_read(); });
    }
    ReadingTurn(const ReadingTurn&) = delete;
    ~ReadingTurn() { use.end_read(); }
};

template <class Release>
class WritingTurn {
    InUse& use;

  public:
    explicit WritingTurn(InUse& u) : use(u) {
        wait_for<Release>(use, [&] { return use.try_change(); });
    }
    WritingTurn(const WritingTurn&) = delete;
    ~WritingTurn() { use.end_change(); }
};

}  // namespace novikoff
