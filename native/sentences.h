// Sentences from text: a token a line, an empty line behind each sentence.
//
// Three kinds of lines: cells between blanks or tabs (as in the CoNLL tasks), CoNLL-U (ten cells between tabs, with
// comments, ranges of words and empty nodes, which are no tokens), and CRFsuite's (a label, then attributes, between
// tabs; an attribute is name or name:value, where \: and \\ stand for a colon and a backslash in the name).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lines.h"
#include "templates.h"

namespace novikoff {

// What a piece of text is cut at: behind its last empty line, so that all sentences before it are whole.
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
    int32_t width = 0;             // cells a line
    std::vector<int32_t> columns;  // which cells are wanted, in order of place; one for each column
    int32_t label = -1;            // which cell is the label; -1: there is none
};

// What the parsers of sentences share: where each token is, and what is wrong.
class SentenceLines {
  public:
    Growing<int32_t> lines_of;  // line of each token, from 0
    Growing<int64_t> spots;     // two for each token: where in the text its tag begins and ends
    Growing<int32_t> labels;    // numbers of label_values
    Vocabulary label_values;
    int64_t lines = 0;    // read so far
    std::string problem;  // in the line after those, when not empty

  protected:
    bool wrong(std::string message) {
        problem = std::move(message);
        return false;
    }
    // The number of a value, or -1 when it is no UTF-8, in which case it is not kept.
    static int64_t number(Vocabulary& values, std::string_view text) {
        const int64_t before = values.size();
        const int64_t v = values.number(Vocabulary::key(text), text.data(), text.size());
        if (v < before || utf8_length(text.data(), text.data() + text.size()) >= 0) return v;
        values.truncate(before);
        return -1;
    }
    bool no_utf8(std::string_view text) {
        return wrong("the text " + quoted(text) + " is not UTF-8; convert the file, as by iconv -f latin1 -t utf-8");
    }
    void clear_lines() {
        lines_of.clear(), spots.clear(), labels.clear();
        lines = 0;
        problem.clear();
    }
};

class ColumnLines : public SentenceLines {
    using Kind = SentenceFormat::Kind;

    std::vector<std::string_view> cells;  // of the line at hand

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

    bool token(const char* text, Tokens& out, std::vector<Domain>& domains, int64_t in_sentence) {
        const int32_t found = int32_t(cells.size());
        if (found != format.width)
            return wrong("expected " + std::to_string(format.width) + " columns" +
                         (format.kind == Kind::conllu ? "" : ", as in the line before it or the first,") + " found " +
                         std::to_string(found));
        if (format.kind == Kind::conllu) {
            const int kind = kind_of_id(cells[0], in_sentence + 1);
            if (kind == 0) return true;
            if (kind < 0)
                return wrong("expected the word's number " + std::to_string(in_sentence + 1) + " as id, found " +
                             quoted(cells[0]));
        }
        for (int32_t j = 0; j < found; ++j)
            if (cells[size_t(j)].empty()) return wrong("column " + std::to_string(j + 1) + " is empty");
        for (size_t k = 0; k < format.columns.size(); ++k) {
            const std::string_view cell = cells[size_t(format.columns[k])];
            int64_t v = -1;
            // a form or a lemma may be an underscore; elsewhere in CoNLL-U it says that there is nothing
            if (!(format.kind == Kind::conllu && format.columns[k] > 2 && cell == "_")) {
                v = number(domains[k].values, cell);
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
            const std::string_view last = cells.back();
            spots.push(last.data() + last.size() - text);
            spots.push(last.data() + last.size() - text);
        }
        for (size_t k = 0; k < numbers.size(); ++k) out.cells[k].push(numbers[k]);
        lines_of.push(int32_t(lines));
        return true;
    }

    std::vector<int32_t> numbers;

  public:
    const SentenceFormat format;

    explicit ColumnLines(SentenceFormat f) : numbers(f.columns.size()), format(std::move(f)) {}

    // Whole sentences; the last may lack its empty line. False leaves the reason in `problem`.
    bool parse(const char* text, const char* end, Tokens& out, std::vector<Domain>& domains) {
        clear_lines();
        auto close = [&] {
            const int64_t n = int64_t(lines_of.size());
            if (n > out.size()) out.starts.push(n);
        };
        for (const char* p = text; p < end; ++lines) {
            const char* const next = next_line(p, end);
            const char* stop = next;
            if (stop > p && stop[-1] == '\n') --stop;
            if (stop > p && stop[-1] == '\r') --stop;
            const char* q = p;
            while (q < stop && is_blank(*q)) ++q;
            if (q == stop) {
                close();
            } else if (!(format.kind == Kind::conllu && *p == '#')) {
                split(p, stop);
                if (!token(text, out, domains, int64_t(lines_of.size()) - out.size())) return false;
            }
            p = next;
        }
        close();
        return true;
    }
};

}  // namespace novikoff
