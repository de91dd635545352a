// Work over a range, divided into parts that several threads take one after another.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace novikoff {

// f(begin, end) for parts of a range, by `jobs` threads including this one. The first exception is thrown
// again here when all have stopped; parts not begun by then are skipped.
template <class F>
void in_parallel(int64_t begin, int64_t end, int64_t part, int64_t jobs, const F& f) {
    std::atomic<int64_t> next{begin};
    std::exception_ptr failure;
    std::mutex failing;
    auto work = [&] {
        try {
            for (int64_t at; (at = next.fetch_add(part)) < end;) f(at, std::min(at + part, end));
        } catch (...) {
            next = end;
            const std::lock_guard<std::mutex> one_at_a_time(failing);
            if (!failure) failure = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    try {
        for (int64_t k = 1; k < std::min(jobs, (end - begin + part - 1) / part); ++k)
            others.emplace_back(work);
    } catch (const std::system_error&) {  // no more threads are available: those there are do all the work
    }
    work();
    for (std::thread& other : others) other.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace novikoff
