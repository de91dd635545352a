// Rows as text, with numbers as the shortest decimals that read back as the same double.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "memory/growing.h"

namespace novikoff {

constexpr size_t longest_number = 32;  // bytes; -2.2250738585072014e-308 has 24

// Writes x to `out`, which has room for the longest, and returns where it ends. Whole numbers have no point.
inline char* shortest(char* out, double x) {
    char* const end = out + longest_number;
    if (std::fabs(x) < 9007199254740992.0 && x == std::trunc(x)) {
        if (std::signbit(x) && x == 0) *out++ = '-';
        return std::to_chars(out, end, int64_t(x)).ptr;
    }
    return std::to_chars(out, end, x).ptr;
}

// Texts one after another, and where each begins: one more number than texts.
struct Texts {
    const char* bytes;
    const int64_t* begins;
    std::string_view operator[](int64_t i) const {
        return {bytes + begins[i], size_t(begins[i + 1] - begins[i])};
    }
};

struct RowFormat {
    std::string_view between;  // two features
    std::string_view tail;     // of a row
};

class RowWriter {
    Growing<char>& out;
    const RowFormat format;
    std::vector<std::pair<int64_t, double>> sorted;

    static char* copy(char* to, std::string_view s) {
        if (!s.empty()) std::memcpy(to, s.data(), s.size());
        return to + s.size();
    }

    template <class Label>  // Label(to, k): the text before value k
    void row(std::string_view head, const double* values, int64_t n, size_t longest_label, Label&& label) {
        const size_t most = head.size() +
                            size_t(n) * (longest_label + longest_number + format.between.size()) +
                            format.tail.size();
        const size_t before = out.size();
        char* to = copy(out.extend(most), head);
        for (int64_t k = 0; k < n; ++k) {
            if (k) to = copy(to, format.between);
            to = shortest(label(to, k), values[k]);
        }
        to = copy(to, format.tail);
        out.shrink(before + size_t(to - (out.data() + before)));
    }

  public:
    RowWriter(Growing<char>& out, const RowFormat& format) : out(out), format(format) {}

    void plain(std::string_view head, const double* values, int64_t n) {
        row(head, values, n, 0, [](char* to, int64_t) { return to; });
    }

    void named(std::string_view head, const double* values, const int64_t* names, int64_t n,
               const Texts& texts) {
        size_t longest = 0;
        for (int64_t k = 0; k < n; ++k) longest = std::max(longest, texts[names[k]].size());
        row(head, values, n, longest, [&](char* to, int64_t k) { return copy(to, texts[names[k]]); });
    }

    // " number:value" for each, by increasing numbers
    void numbered(std::string_view head, const double* values, const int64_t* numbers, int64_t n) {
        sorted.clear();
        for (int64_t k = 0; k < n; ++k) sorted.emplace_back(numbers[k], values[k]);
        auto less = [](auto& a, auto& b) { return a.first < b.first; };
        if (!std::is_sorted(sorted.begin(), sorted.end(), less))
            std::sort(sorted.begin(), sorted.end(), less);
        const size_t before = out.size();
        char* to = copy(out.extend(head.size() + size_t(n) * 2 * longest_number + format.tail.size()), head);
        for (auto& [number, value] : sorted) {
            *to++ = ' ';
            to = std::to_chars(to, to + longest_number, number).ptr;
            *to++ = ':';
            to = shortest(to, value);
        }
        to = copy(to, format.tail);
        out.shrink(before + size_t(to - (out.data() + before)));
    }
};

}  // namespace novikoff
