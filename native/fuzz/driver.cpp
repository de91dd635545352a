// Fuzzing without libFuzzer: mutates seeds for a bounded time.   driver SECONDS [SEED [PARSER]]
//
// A text that brings the process down is left in a file, from which it can be replayed: driver replay PARSER
// FILE
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "fuzz/parsers.h"

// Of the sanitizers' runtime, whose headers are not everywhere that the code is checked.
extern "C" void __sanitizer_set_death_callback(void (*callback)());

namespace {

using Random = std::mt19937_64;

size_t below(Random& random, size_t n) { return n ? size_t(random() % n) : 0; }

// Changes, cuts or doubles a few bytes, or inserts some of another text or of what parsers stumble over.
std::string mutated(std::string text, const std::vector<std::string>& others, Random& random) {
    static const std::string odd[] = {":",
                                      " ",
                                      "\n",
                                      "\r\n",
                                      "\t",
                                      "#",
                                      "|",
                                      ",",
                                      "{",
                                      "}",
                                      "\"",
                                      "\\",
                                      "'",
                                      ".",
                                      "-",
                                      "+",
                                      "e",
                                      "E",
                                      "nan",
                                      "inf",
                                      "qid:",
                                      "0",
                                      "9",
                                      "99999999",
                                      "999999999999999999999",
                                      "1e400",
                                      "1e-400",
                                      "0.1234567890123456789",
                                      std::string(1, '\0'),
                                      "\xef\xbb\xbf",
                                      "\xff",
                                      "\xc3",
                                      "\xf0\x9f\x8e\x89",
                                      "\\u0000",
                                      "\\ud800",
                                      "[",
                                      "]",
                                      "null",
                                      "true"};
    for (size_t k = 1 + below(random, 6); k--;) {
        const size_t at = below(random, text.size() + 1),
                     n = below(random, std::min(text.size() - at, size_t(20)) + 1);
        switch (random() % 6) {
            case 0: text.insert(at, odd[below(random, std::size(odd))]); break;
            case 1: text.erase(at, n); break;
            case 2: text.insert(at, text.substr(at, n)); break;
            case 3:
                if (at < text.size()) text[at] = char(random());
                break;
            case 4:
                if (at < text.size()) text[at] = char(text[at] ^ (1 << random() % 8));
                break;
            case 5: {
                const std::string& other = others[below(random, others.size())];
                const size_t from = below(random, other.size() + 1);
                text.insert(at, other.substr(from, below(random, 60)));
            }
        }
    }
    return text.substr(0, random() % 64 ? 2000 : 20000);  // many short texts, and a few with long lines
}

std::string path, text;  // at hand

void leave_text() {
    std::ofstream(path, std::ios::binary) << text;
    std::fprintf(stderr, "the text is in %s\n", path.c_str());
}

void run(const novikoff::fuzz::Target& target, double seconds, uint64_t seed) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    Random random(seed);
    std::vector<std::string> pool = target.seeds;
    path = "fuzz-" + target.name + ".txt";
    __sanitizer_set_death_callback(leave_text);
    std::signal(SIGABRT, [](int) { leave_text(); });
    size_t runs = 0;
    while (std::chrono::duration<double>(Clock::now() - start).count() < seconds) {
        // now and then seeds again and again, so that lines also stand in the middle of long texts
        text = pool[below(random, pool.size())];
        for (size_t k = below(random, 4); k--;) text += pool[below(random, pool.size())];
        text = mutated(std::move(text), pool, random);
        target.run(text.data(), text.size());
        if (++runs % 16 == 0) {
            if (pool.size() < 500) pool.push_back(text);
            else pool[target.seeds.size() + below(random, pool.size() - target.seeds.size())] = text;
        }
    }
    std::printf("%s: %zu texts, nothing found\n", target.name.c_str(), runs);
    std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
    if (count == 4 && arguments[1] == std::string("replay")) {
        std::ifstream file(arguments[3], std::ios::binary);
        const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        for (const auto& target : novikoff::fuzz::targets)
            if (target.name == arguments[2]) target.run(text.data(), text.size());
        return 0;
    }
    if (count < 2)
        return std::fprintf(stderr, "usage: driver SECONDS [SEED [PARSER]] | driver replay PARSER FILE\n"), 2;
    const uint64_t seed = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1;
    for (const auto& target : novikoff::fuzz::targets)
        if (count < 4 || target.name == arguments[3]) run(target, std::atof(arguments[1]), seed);
}
