// The parsers that are fuzzed, each with texts to begin from.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace novikoff::fuzz {

struct Target {
    std::string name;
    void (*run)(const char* text, size_t size);  // aborts when something does not hold
    std::vector<std::string> seeds;
};

extern const std::vector<Target> targets;

}  // namespace novikoff::fuzz
