// LIBSVM (SVMlight) text as rows:   label [qid:N] index:value index:value ... [# comment]
//
// One pass, one branch for each thing that can be wrong, straight into arrays that grow. A block of whole
// lines is parsed at a time; what is wrong is kept as a message with the line, counted from the block's first.
#pragma once

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "decimal.h"
#include "growing.h"

namespace novikoff {

struct LibsvmFormat {
    bool zero_based;
    int64_t features;  // -1: as many as the largest index asks for
    int64_t max_line;  // bytes
};

class LibsvmRows {
  public:
    Growing<double> labels;
    Growing<int64_t> ends;  // of each row in indices and values
    Growing<int64_t> qids;  // -1 for a row without; empty as long as no row has one
    Growing<int32_t> narrow;
    Growing<int64_t> wide;  // instead of narrow from the first index that needs it
    Growing<float> singles;
    Growing<double> doubles;
    bool is_single, is_wide = false;
    int64_t largest = -1;  // index, from zero
    int64_t lines = 0;     // read so far
    std::string problem;   // in the line after those, when not empty

    explicit LibsvmRows(bool single) : is_single(single) {}

    size_t stored() const { return is_wide ? wide.size() : narrow.size(); }

    void clear() {
        labels.clear(), ends.clear(), qids.clear(), narrow.clear(), wide.clear(), singles.clear(), doubles.clear();
        is_wide = false;
        largest = -1;
        lines = 0;
        problem.clear();
    }

    void widen() {
        if (is_wide) return;
        wide.append(narrow);
        narrow.clear();
        is_wide = true;
    }

    void append(const LibsvmRows& other) {
        if (other.is_single != is_single) throw std::invalid_argument("rows differ in their type of values");
        if (other.is_wide) widen();
        const int64_t before = int64_t(stored());
        if (other.qids.size()) fill_qids(labels.size());
        labels.append(other.labels);
        for (size_t i = 0; i < other.ends.size(); ++i) ends.push(before + other.ends.data()[i]);
        qids.append(other.qids);
        if (qids.size()) fill_qids(labels.size());
        if (other.is_wide) wide.append(other.wide);
        else if (is_wide) wide.append(other.narrow);
        else narrow.append(other.narrow);
        singles.append(other.singles);
        doubles.append(other.doubles);
        largest = std::max(largest, other.largest);
        lines += other.lines;
    }

    // Parses whole lines (the last may lack its end) and returns whether all of them were sound.
    bool parse(const char* p, const char* end, const LibsvmFormat& format) {
        while (p < end) {
            bool sound;
            if (is_single) sound = is_wide ? lines_of(wide, singles, p, end, format) : lines_of(narrow, singles, p, end, format);
            else sound = is_wide ? lines_of(wide, doubles, p, end, format) : lines_of(narrow, doubles, p, end, format);
            if (!sound) return false;
            if (p < end) widen();
        }
        return true;
    }

  private:
    static bool blank(char c) { return c == ' ' || c == '\t'; }
    static bool ends_line(const char* p, const char* end) {
        const char c = at(p, end);
        return c == '\n' || c == '#' || (c == '\r' && at(p + 1, end) == '\n');
    }
    static bool ends_token(const char* p, const char* end) { return blank(at(p, end)) || ends_line(p, end); }

    void fill_qids(size_t n) {
        while (qids.size() < n) qids.push(-1);
    }

    // The token at p as a message shows it: at most 40 bytes, printable.
    static std::string shown(const char* p, const char* end) {
        if (at(p, end) == '\n' || (at(p, end) == '\r' && at(p + 1, end) == '\n')) return "the end of the line";
        std::string s = "'";
        const char* const first = p;
        for (; !ends_token(p, end) || p == first; ++p) {
            if (p - first == 40) return s + "...'";
            const unsigned char c = static_cast<unsigned char>(*p);
            static const char* const hex = "0123456789abcdef";
            if (c >= 0x20 && c < 0x7F) s += char(c);
            else s.append("\\x") += hex[c >> 4], s += hex[c & 15];
        }
        return s + "'";
    }

    static bool says_not_finite(const char* p, const char* end) {
        if (at(p, end) == '-' || at(p, end) == '+') ++p;
        auto is = [&](const char* name) {
            for (int k = 0; k < 3; ++k)
                if (p + k >= end || (p[k] | 32) != name[k]) return false;
            return true;
        };
        return is("nan") || is("inf");
    }

    bool wrong(std::string message) {
        problem = std::move(message);
        return false;
    }

    // A number with the end of its token behind it. `what` says in messages what it is.
    bool number(const char*& p, const char* end, bool single, const char* what, double& out) {
        const char* const start = p;
        const Decimal d = decimal(p, end, out);
        if (d == Decimal::good && ends_token(p, end)) {
            // half a unit above the largest float everything rounds to infinity
            if (!single || std::fabs(out) < 0x1.ffffffp127) return true;
            return wrong(std::string(what) + " " + shown(start, end) + " is too large for float32");
        }
        if (d == Decimal::too_large && ends_token(p, end))
            return wrong(std::string(what) + " " + shown(start, end) + " is too large for float64");
        if (says_not_finite(start, end))
            return wrong(std::string("expected a finite ") + what + ", found " + shown(start, end));
        return wrong(std::string("expected a number as ") + what + ", found " + shown(start, end));
    }

    bool label(const char*& p, const char* end) {
        const char* const start = p;
        double y;
        if (number(p, end, false, "label", y)) {
            labels.push(y);
            return true;
        }
        for (const char* q = start; !ends_token(q, end); ++q)
            if (*q == ',') return wrong("expected one label, found several: " + shown(start, end));
        return false;
    }

    // qid:N
    bool query(const char*& p, const char* end) {
        const char* const start = p;
        uint64_t q = 0;
        p = digits(p + 4, end, q);
        const int64_t n = p - (start + 4);
        if (n < 1 || n > 18 || !ends_token(p, end))
            return wrong("expected qid: and a whole number of at most 18 digits, found " + shown(start, end));
        fill_qids(labels.size() - 1);
        qids.push(int64_t(q));
        return true;
    }
    static bool is_query(const char* p, const char* end) { return end - p >= 4 && !std::memcmp(p, "qid:", 4); }

    // The index at p when it is not 1 to 7 digits and a colon.
    bool long_index(const char*& p, const char* end, uint64_t& index) {
        const char* const start = p;
        if (is_query(p, end)) return wrong("expected qid only once, directly after the label, found " + shown(start, end));
        index = 0;
        p = digits(p, end, index);
        if (p == start || at(p, end) != ':') return wrong("expected index:value, found " + shown(start, end));
        if (p - start > 19 || index > uint64_t(std::numeric_limits<int64_t>::max()) - 1)
            return wrong("index in " + shown(start, end) + " is too large");
        return true;
    }

    bool bad_index(uint64_t index, uint64_t next, bool first) {
        if (first) return wrong("index 0 found, but indices start at 1; pass zero_based=True if they start at 0");
        if (index + 1 == next) return wrong("index " + std::to_string(index) + " twice: indices must increase in a line");
        return wrong("index " + std::to_string(index) + " after " + std::to_string(next - 1) +
                     ": indices must increase in a line");
    }

    // Parses from `from` until the end, a problem, or a row with an index that I cannot hold; `from` is then
    // its line. The cursor p is a copy that nothing points to, so that it stays in a register.
    template <class I, class V>
    bool lines_of(Growing<I>& indices, Growing<V>& values, const char*& from, const char* end,
                  const LibsvmFormat& format) {
        const uint64_t base = format.zero_based ? 0 : 1;
        while (from < end) {
            const char* p = from;
            const size_t begin = values.size();
            while (blank(at(p, end))) ++p;
            if (!ends_line(p, end)) {
                const char* head = p;
                if (!label(head, end)) return false;
                while (blank(at(head, end))) ++head;
                if (is_query(head, end) && !query(head, end)) return false;
                p = head;
                uint64_t next = base;  // the smallest index that may come
                const char* value = p;  // the latest
                for (;;) {
                    if (at(p, end) == ' ') ++p;  // the common case: one blank, an index of up to 7 digits
                    const uint64_t w = word(p, end), stops = non_digits(w);
                    const unsigned n = stops ? first_byte(stops) : 0;
                    uint64_t index;
                    if (n && ((w >> 8 * n) & 0xFF) == ':') {
                        index = leading(w, n);
                        p += n;
                    } else {
                        while (blank(at(p, end))) ++p;
                        if (ends_line(p, end)) break;
                        double y;
                        // a value that ends in some other control character is no number after all
                        if (!blank(p[-1])) return number(value, end, false, "value", y);
                        const char* q = p;
                        if (!long_index(q, end, index)) return false;
                        p = q;
                    }
                    ++p;  // the colon
                    if (index < next) return bad_index(index, next, next == base);
                    if (index - base > uint64_t(std::numeric_limits<I>::max()) - 1) {
                        forget(indices, values, begin);
                        return true;
                    }
                    next = index + 1;
                    value = p;
                    double x = 0;
                    const unsigned length = short_decimal(p, end, x);
                    if (length) {
                        p += length;
                        values.push(V(x));
                    } else {
                        const char* q = p;
                        double y;
                        if (!number(q, end, std::is_same_v<V, float>, "value", y)) return false;
                        p = q;
                        values.push(V(y));
                    }
                    indices.push(I(index - base));
                }
                const int64_t last = int64_t(next) - int64_t(base) - 1;
                if (format.features >= 0 && last >= format.features)
                    return wrong("index " + std::to_string(next - 1) + " is too large for n_features=" +
                                 std::to_string(format.features));
                largest = std::max(largest, last);
                ends.push(int64_t(values.size()));
                if (qids.size()) fill_qids(labels.size());
            }
            const void* const found = std::memchr(p, '\n', size_t(end - p));
            p = found ? static_cast<const char*>(found) : end;
            if (p - from > format.max_line)
                return wrong("the line has more than max_line=" + std::to_string(format.max_line) + " bytes");
            from = p < end ? p + 1 : end;
            ++lines;
        }
        return true;
    }

    template <class I, class V>
    void forget(Growing<I>& indices, Growing<V>& values, size_t begin) {
        indices.shrink(begin);
        values.shrink(begin);
        labels.shrink(labels.size() - 1);
        if (qids.size() > labels.size()) qids.shrink(labels.size());
    }
};

}  // namespace novikoff
