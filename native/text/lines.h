// What all parsers of lines share: labels, which line each row has, lines that were passed over, and how
// messages show a piece of text.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exact/decimal.h"
#include "memory/growing.h"
#include "memory/in_use.h"
#include "text/utf8.h"
#include "text/vocabulary.h"

namespace novikoff {

// Bytes as a message shows them: at most 40, printable.
inline std::string quoted(std::string_view text) {
    static const char* const hex = "0123456789abcdef";
    std::string s = "'";
    for (size_t i = 0; i < text.size(); ++i) {
        if (i == 40) return s + "...'";
        const unsigned char c = static_cast<unsigned char>(text[i]);
        if (c >= 0x20 && c < 0x7F) s += char(c);
        else s.append("\\x") += hex[c >> 4], s += hex[c & 15];
    }
    return s + "'";
}

// nan, inf and infinity, with or without a sign, in any case
inline bool says_not_finite(std::string_view s) {
    if (!s.empty() && (s[0] == '-' || s[0] == '+')) s.remove_prefix(1);
    auto is = [&](std::string_view name) {
        if (s.size() != name.size()) return false;
        for (size_t i = 0; i < s.size(); ++i)
            if ((s[i] | 32) != name[i]) return false;
        return true;
    };
    return is("nan") || is("inf") || is("infinity");
}

// All of the text as a number.
inline Decimal whole_decimal(std::string_view s, double& out) {
    const char *p = s.data(), *const end = p + s.size();
    const Decimal d = decimal(p, end, out);
    return p == end ? d : Decimal::malformed;
}

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

// The beginning of the next line.
inline const char* next_line(const char* p, const char* end) {
    const void* const found = p < end ? std::memchr(p, '\n', size_t(end - p)) : nullptr;
    return found ? static_cast<const char*>(found) + 1 : end;
}

// All labels of a file are numbers, or all are text, or (where that is allowed) there are none.
enum class LabelKind : uint8_t { unknown, number, text, none };

struct LineOptions {
    bool optional_labels = false;
    LabelKind kind = LabelKind::unknown;  // as the first row has it
    bool skip_bad = false;                // skip bad lines, and count them
    bool round = false;  // take the nearest double for an integer that no double holds, and count them
};

class Lines {
  public:
    const LineOptions options;
    LabelKind kind;
    Growing<double> labels;  // when they are numbers
    Growing<int32_t> label_codes;  // when they are text: numbers of
    Vocabulary label_values;  // the different ones, in order of appearance
    int64_t lines = 0;  // read so far
    std::string problem;  // in the line after those, when not empty
    int64_t n_skipped = 0;
    std::vector<std::pair<int64_t, std::string>> skipped;  // the first few: line, from 0, and what is wrong
    int64_t n_rounded = 0;  // integers that no double holds
    std::pair<int64_t, std::string> rounded;  // the first: line, from 0, and its text
    InUse in_use{"the parser"};
    uint64_t changes = 0;  // changes after which arrays and names shown before belong to other rows

    explicit Lines(const LineOptions& o) : options(o), kind(o.kind) {}

    // The line of a row, from zero.
    int64_t row_line(int64_t row) const {
        const Jump* const j = std::upper_bound(jumps.data(), jumps.data() + jumps.size(), row,
                                               [](int64_t r, const Jump& jump) { return r < jump.row; });
        return j == jumps.data() ? row : row + j[-1].offset;
    }

  protected:
    void clear_labels() {
        labels.clear(), label_codes.clear();
        label_values.truncate(values_kept = 0);
    }
    void clear_lines() {
        clear_labels();
        kind = options.kind;
        lines = n_skipped = n_rounded = 0;
        problem.clear(), skipped.clear(), jumps.clear();
        drop_rounded();
    }
    void append_lines(const Lines& other, int64_t rows, int64_t other_rows) {
        if (kind == LabelKind::unknown) kind = other.kind;
        if (other_rows && other.kind != kind)
            throw std::invalid_argument("rows differ in their kind of labels");
        if (other_rows) jump(rows, lines - rows);
        for (size_t i = 0; i < other.jumps.size(); ++i)
            jump(rows + other.jumps[i].row, lines - rows + other.jumps[i].offset);
        labels.append(other.labels);
        std::vector<int32_t> codes(size_t(other.label_values.size()));
        for (size_t i = 0; i < codes.size(); ++i)
            codes[i] = int32_t(label_values.number(other.label_values.list[int64_t(i)]));
        for (size_t i = 0; i < other.label_codes.size(); ++i)
            label_codes.push(codes[size_t(other.label_codes[i])]);
        values_kept = label_values.size();
        lines += other.lines;
    }

    bool wrong(std::string message) {
        problem = std::move(message);
        return false;
    }
    // The current line is this row's.
    void has_row(int64_t row) {
        jump(row, lines - row);
        values_kept = label_values.size();
        if (!line_rounded) return;
        if (!n_rounded) rounded = {lines, first_rounded};
        n_rounded += line_rounded;
        drop_rounded();
    }
    // An integer of the current line that no double holds: false where it must not be rounded.
    bool round(std::string_view found, const char* what) {
        if (!options.round) return wrong(inexact(found, what));
        if (!line_rounded++) first_rounded = shortened(found);
        return true;
    }
    void drop_rounded() { line_rounded = 0; }
    static std::string inexact(std::string_view found, const char* what) {
        return std::string(what) + " " + shortened(found) +
               " is an integer that no double holds: subtract an offset or scale it first, or ask for "
               "rounding='nearest'";
    }
    // Labels are never rounded: two could become one.
    bool inexact_label(std::string_view found) {
        return wrong("label " + shortened(found) +
                     " is an integer that no double holds: make labels text, as by a letter in front");
    }
    static std::string shortened(std::string_view digits) {
        return std::string(digits.substr(0, 40)) + (digits.size() > 40 ? "..." : "");
    }
    void skip_line() {
        constexpr int64_t messages_kept = 10;
        if (n_skipped++ < messages_kept) skipped.emplace_back(lines, problem);
        problem.clear();
        drop_rounded();
    }

    bool is_kind(LabelKind k) {
        if (kind == LabelKind::unknown) kind = k;
        return kind == k;
    }
    bool other_kind(std::string_view found) {
        const char* const expected = kind == LabelKind::number ? "a number as label"
                                     : kind == LabelKind::text ? "text as label"
                                                               : "no label";
        return wrong(std::string("expected ") + expected + ", as in the rows before, found " + quoted(found));
    }
    bool number_label(double y, std::string_view found) {
        if (!is_kind(LabelKind::number)) return other_kind(found);
        labels.push(y);
        return true;
    }
    bool text_label(std::string_view label) {
        if (!is_kind(LabelKind::text)) return other_kind(label);
        label_codes.push(int32_t(label_values.number(label)));
        return true;
    }
    // Forgets the label of the current line, after those of the n rows.
    void keep_labels(size_t n) {
        labels.shrink(std::min(labels.size(), n));
        label_codes.shrink(std::min(label_codes.size(), n));
        if (label_values.size() > values_kept) label_values.truncate(values_kept);
    }

  private:
    // From this row on, a row's line is its number plus the offset: lines without a row are rare.
    struct Jump {
        int64_t row, offset;
    };
    Growing<Jump> jumps;
    int64_t values_kept = 0;  // of label_values, those that rows have
    int64_t line_rounded = 0;  // in the current line
    std::string first_rounded;

    void jump(int64_t row, int64_t offset) {
        if (offset != (jumps.size() ? jumps[jumps.size() - 1].offset : 0)) jumps.push({row, offset});
    }
};

}  // namespace novikoff
