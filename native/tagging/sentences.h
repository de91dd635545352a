// Sentences from text: one token per line, an empty line after each sentence.
//
// Three kinds of lines: cells between blanks or tabs (as in the CoNLL tasks), CoNLL-U (ten cells between
// tabs, with comments, ranges of words and empty nodes, which are no tokens), and CRFsuite's (a label, then
// attributes, between tabs; an attribute is name or name:value, where \: and \\ stand for a colon and a
// backslash in the name).
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "tagging/templates.h"
#include "text/lines.h"

namespace novikoff {

// Where a piece of text is cut: after its last empty line, so that all sentences before it are complete.
inline size_t whole_sentences(const char* text, size_t n) {
    // A line is empty when there is nothing but blanks and a carriage return in it.
    for (size_t end = n; end > 0;) {
        size_t at = end - 1;  // at a line feed, or the last byte of an unfinished line
        if (text[at] == '\n') {
            size_t p = at;
            while (p > 0 && (is_blank(text[p - 1]) || text[p - 1] == '\r')) --p;
            if (p == 0 || text[p - 1] == '\n') return end;
        }
        while (at > 0 && text[at - 1] != '\n') --at;
        end = at;
    }
    return 0;
}

// What the lines of one file have in common.
struct SentenceFormat {
    enum class Kind : uint8_t { blanks, tabs, conllu } kind = Kind::blanks;
    int32_t width = 0;             // cells per line
    std::vector<int32_t> columns;  // which cells are wanted, in order of place; one for each column
    int32_t label = -1;            // which cell is the label; -1: there is none
    std::string expected;          // why so many cells, for messages: "as in line 1"
};

// What the parsers of sentences share: where each token is, and what is wrong.
class SentenceLines {
  public:
    InUse in_use{"the parser"};
    Growing<int32_t> lines_of;  // line of each token, from 0
    // three for each token: where in the text its label begins and ends, and its line
    Growing<int64_t> spots;
    Growing<int32_t> labels;    // numbers of label_values
    Vocabulary label_values;
    int64_t lines = 0;    // read so far
    std::string problem;  // in the line after those, when not empty

  protected:
    bool wrong(std::string message) {
        problem = std::move(message);
        return false;
    }
    // The number of a value, or -1 when it is not UTF-8, in which case it is not kept.
    static int64_t number(Vocabulary& values, std::string_view text) {
        const int64_t before = values.size();
        const int64_t v = values.number(text);
        if (v < before || utf8_length(text.data(), text.data() + text.size()) >= 0) return v;
        values.truncate(before);
        return -1;
    }
    bool no_utf8(std::string_view text) {
        return wrong("the text " + quoted(text) +
                     " is not UTF-8; convert the file, as by iconv -f latin1 -t utf-8");
    }
    // Calls `token(begin, end)` for every line that is not empty; an empty one ends a sentence that has
    // tokens.
    template <class Token>
    bool each_line(const char* p, const char* end, Growing<int64_t>& starts, Token&& token) {
        lines_of.clear(), spots.clear(), labels.clear();
        lines = 0;
        problem.clear();
        auto close = [&] {
            const int64_t n = int64_t(lines_of.size());
            if (n > starts[starts.size() - 1]) starts.push(n);
        };
        for (; p < end; ++lines) {
            const char* const next = next_line(p, end);
            const char* stop = next;
            if (stop > p && stop[-1] == '\n') --stop;
            if (stop > p && stop[-1] == '\r') --stop;
            if (std::all_of(p, stop, is_blank)) close();
            else if (!token(p, stop)) return false;
            p = next;
        }
        close();
        return true;
    }
};

class ColumnLines : public SentenceLines {
    using Kind = SentenceFormat::Kind;

    std::vector<std::string_view> cells;  // of the current line

    void split(const char* p, const char* end) {
        cells.clear();
        if (format.kind == Kind::blanks) {
            while (true) {
                while (p < end && is_blank(*p)) ++p;
                if (p == end) return;
                const char* const from = p;
                while (p < end && !is_blank(*p)) ++p;
                cells.emplace_back(from, size_t(p - from));
            }
        }
        while (true) {
            const char* const from = p;
            while (p < end && *p != '\t') ++p;
            cells.emplace_back(from, size_t(p - from));
            if (p == end) return;
            ++p;
        }
    }

    // 1 a word, 0 a range of words or an empty node, -1 something else.
    int kind_of_id(std::string_view id, int64_t expected) {
        size_t digits = 0;
        int64_t number = 0;
        while (digits < id.size() && id[digits] >= '0' && id[digits] <= '9' && digits < 18)
            number = 10 * number + (id[digits++] - '0');
        if (digits == 0) return -1;
        if (digits == id.size()) return number == expected ? 1 : -1;
        const char mark = id[digits];
        size_t more = digits + 1;
        while (more < id.size() && id[more] >= '0' && id[more] <= '9') ++more;
        return (mark == '-' || mark == '.') && more > digits + 1 && more == id.size() ? 0 : -1;
    }

    bool token(const char* text, Tokens& out, int64_t in_sentence) {
        const int32_t found = int32_t(cells.size());
        if (found != format.width)
            return wrong("expected " + std::to_string(format.width) + " columns, " + format.expected +
                         ", found " + std::to_string(found));
        if (format.kind == Kind::conllu) {
            const int kind = kind_of_id(cells[0], in_sentence + 1);
            if (kind == 0) return true;
            if (kind < 0)
                return wrong("expected the word's number " + std::to_string(in_sentence + 1) +
                             " as id, found " + quoted(cells[0]));
        }
        for (int32_t j = 0; j < found; ++j)
            if (cells[size_t(j)].empty()) return wrong("column " + std::to_string(j + 1) + " is empty");
        for (size_t k = 0; k < format.columns.size(); ++k) {
            const std::string_view cell = cells[size_t(format.columns[k])];
            int64_t v = -1;
            // a form or a lemma may be an underscore; elsewhere in CoNLL-U it says that there is nothing
            if (!(format.kind == Kind::conllu && format.columns[k] > 2 && cell == "_")) {
                v = number(out.values[k], cell);
                if (v < 0) return no_utf8(cell);
            }
            numbers[k] = int32_t(v);
        }
        if (format.label >= 0) {
            const std::string_view label = cells[size_t(format.label)];
            const int64_t v = number(label_values, label);
            if (v < 0) return no_utf8(label);
            labels.push(int32_t(v));
            spots.push(label.data() - text);
            spots.push(label.data() + label.size() - text);
        } else {
            spots.push(cells.back().data() + cells.back().size() - text);
            spots.push(cells.back().data() + cells.back().size() - text);
        }
        spots.push(cells.back().data() + cells.back().size() - text);
        for (size_t k = 0; k < numbers.size(); ++k) out.cells[k].push(numbers[k]);
        lines_of.push(int32_t(lines));
        return true;
    }

    std::vector<int32_t> numbers;

  public:
    const SentenceFormat format;

    explicit ColumnLines(SentenceFormat f) : numbers(f.columns.size()), format(std::move(f)) {}

    // Whole sentences; the last may lack its empty line. False leaves the reason in `problem`.
    bool parse(const char* text, const char* end, Tokens& out) {
        return each_line(text, end, out.starts, [&](const char* p, const char* stop) {
            if (format.kind == Kind::conllu && *p == '#') return true;
            split(p, stop);
            return token(text, out, int64_t(lines_of.size()) - out.size());
        });
    }
};

// One label with attributes per line. The names of a block are numbered in order of appearance.
class AttributeLines : public SentenceLines {
    std::string plain;  // a name without its escapes

    // Up to `mark` or the end of the field, with escapes undone; moves p there.
    bool unescape(const char*& p, const char* end, char mark) {
        plain.clear();
        for (; p < end && *p != mark; ++p) {
            if (*p == '\\') {
                if (p + 1 == end || (p[1] != '\\' && p[1] != ':'))
                    return wrong("a backslash in " + quoted({p, size_t(end - p)}) +
                                 " stands before neither : nor another; write \\\\ for a backslash");
                ++p;
            }
            plain += *p;
        }
        return true;
    }
    bool attribute(const char* p, const char* end) {
        const std::string_view whole(p, size_t(end - p));
        if (!unescape(p, end, ':')) return false;
        double value = 1;
        if (p < end && p + 1 < end) {
            const std::string_view text(p + 1, size_t(end - p - 1));
            const Decimal d = whole_decimal(text, value);
            if (d == Decimal::inexact)
                return wrong("the value of " + quoted(whole) +
                             " is an integer that no double holds: scale it first, "
                             "or write it with a point for the nearest");
            if (d != Decimal::good || !std::isfinite(value))
                return wrong("expected a finite number behind the colon of " + quoted(whole) +
                             "; in a name a colon is written \\:");
        }
        const int64_t v = number(names, plain);
        if (v < 0) return no_utf8(plain);
        if (value == 0) return true;  // counts as absent
        ids.push(int32_t(v));
        if (value != 1 && !values.size())
            for (size_t i = 0; i + 1 < ids.size(); ++i) values.push(1);
        if (value != 1 || values.size()) values.push(value);
        return true;
    }
    bool token(const char* text, const char* p, const char* end) {
        const char* const label_end = std::find(p, end, '\t');
        const char* q = p;
        if (!unescape(q, label_end, '\t')) return false;
        if (plain.empty())
            return wrong("the label is empty: expected a label, then attributes, with tabs between");
        const int64_t label = number(label_values, plain);
        if (label < 0) return no_utf8(plain);
        labels.push(int32_t(label));
        spots.push(p - text);
        spots.push(label_end - text);
        spots.push(end - text);
        for (p = label_end; p < end;) {
            const char* const from = ++p;
            p = std::find(p, end, '\t');
            if (p > from && !attribute(from, p)) return false;
        }
        indptr.push(int64_t(ids.size()));
        lines_of.push(int32_t(lines));
        return true;
    }

  public:
    Vocabulary names;
    Growing<int64_t> starts, indptr;
    Growing<int32_t> ids;
    Growing<double> values;  // none: every value is 1

    bool parse(const char* text, const char* end) {
        names.truncate(0);
        starts.clear(), indptr.clear(), ids.clear(), values.clear();
        starts.push(0), indptr.push(0);
        return each_line(text, end, starts,
                         [&](const char* p, const char* stop) { return token(text, p, stop); });
    }
};

// The text with tags put in place of labels, or where there are none behind a `joint`. With `behind` they are
// put behind the line instead, and what it has is left.
inline std::string tagged(std::string_view text, const int64_t* spots, const int32_t* tags, size_t n,
                          const std::vector<std::string>& names, const std::string& joint, bool behind) {
    std::string out;
    out.reserve(text.size() + 8 * n);
    size_t at = 0;
    for (size_t i = 0; i < n; ++i) {
        const size_t begin = size_t(spots[3 * i + (behind ? 2 : 0)]),
                     end = size_t(spots[3 * i + (behind ? 2 : 1)]);
        out.append(text.substr(at, begin - at));
        if (begin == end) out += joint;
        out += names[size_t(tags[i])];
        at = end;
    }
    return out.append(text.substr(at));
}

}  // namespace novikoff
