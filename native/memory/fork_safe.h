// A mutex that a child of fork() never finds locked, and with it the data that it guards never half changed.
//
// Before a fork, the forking thread takes every such mutex; afterwards parent and child both release them.
// This terminates since those who hold one wait for nothing: no Python runs under it, the GIL is not taken,
// and no other one is taken. So it is taken without the GIL:
//
//     nb::gil_scoped_release nogil;
//     const std::lock_guard<ForkSafe> held(lock);
#pragma once

#include <mutex>
#include <set>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace novikoff {

class ForkSafe {
    struct All {
        std::mutex listing;
        std::set<ForkSafe*> each;
    };
    static All& all() {
        static All& list = *new All;  // for the lifetime of the process, whatever is destroyed last
        return list;
    }
#if !defined(_WIN32)
    static void before() {
        all().listing.lock();
        for (ForkSafe* one : all().each) one->mutex.lock();
    }
    static void after() {
        for (ForkSafe* one : all().each) one->mutex.unlock();
        all().listing.unlock();
    }
    static inline const int heard = pthread_atfork(before, after, after);
#endif
    std::mutex mutex;

  public:
    ForkSafe() {
        const std::lock_guard<std::mutex> held(all().listing);
        all().each.insert(this);
    }
    ForkSafe(const ForkSafe&) = delete;
    ~ForkSafe() {
        const std::lock_guard<std::mutex> held(all().listing);
        all().each.erase(this);
    }
    void lock() { mutex.lock(); }
    void unlock() { mutex.unlock(); }
};

}  // namespace novikoff
