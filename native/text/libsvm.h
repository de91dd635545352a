// LIBSVM (SVMlight) text as rows:   label [qid:N] index:value index:value ... [# comment]
//
// One pass, one branch for each thing that can be wrong, straight into arrays that grow. A block of whole
// lines is parsed at a time; what is wrong is kept as a message with the line, counted from the block's
// first.
#pragma once

#include <limits>
#include <stdexcept>

#include "text/lines.h"
#include "text/separators.h"

namespace novikoff {

struct LibsvmFormat {
    bool single = false;  // values are float32, not float64
    bool zero_based = false;
    int64_t features = -1;  // -1: as many as the largest index asks for,
    int64_t most = -1;      // but at most so many; -1: any number
};

class LibsvmRows : public Lines {
  public:
    static constexpr int64_t longest_label = 255;  // bytes, of labels that are text

    const LibsvmFormat format;
    Growing<int64_t> ends;        // of each row in indices and values
    Growing<int64_t> qids;        // -1 for a row without one; empty while no row has one
    Growing<int32_t> narrow;
    Growing<int64_t> wide;  // instead of narrow from the first index that needs it
    Growing<float> singles;
    Growing<double> doubles;
    const bool is_single;
    bool is_wide = false;
    int64_t largest = -1;  // index, from zero

    LibsvmRows(const LibsvmFormat& f, const LineOptions& o) : Lines(o), format(f), is_single(f.single) {}

    size_t n() const { return ends.size(); }
    size_t stored() const { return is_wide ? wide.size() : narrow.size(); }

    // Forgets the rows, but not which lines they were.
    void clear_rows() {
        clear_labels();
        ends.clear(), qids.clear();
        narrow.clear(), wide.clear(), singles.clear(), doubles.clear();
        is_wide = false;
        largest = -1;
    }

    void clear() {
        clear_rows();
        clear_lines();
    }

    void widen() {
        if (is_wide) return;
        wide.append(narrow);
        narrow.clear();
        is_wide = true;
    }

    void append(const LibsvmRows& other) {
        if (other.is_single != is_single) throw std::invalid_argument("rows differ in their type of values");
        append_lines(other, int64_t(n()), int64_t(other.n()));
        if (other.is_wide) widen();
        const int64_t before = int64_t(stored());
        if (other.qids.size()) fill_qids(n());
        for (size_t i = 0; i < other.ends.size(); ++i) ends.push(before + other.ends.data()[i]);
        qids.append(other.qids);
        if (qids.size()) fill_qids(n());
        if (other.is_wide) wide.append(other.wide);
        else if (is_wide) wide.append(other.narrow);
        else narrow.append(other.narrow);
        singles.append(other.singles);
        doubles.append(other.doubles);
        largest = std::max(largest, other.largest);
    }

    // Parses whole lines (the last may lack its end) and returns whether all of them were sound or skipped.
    bool parse(const char* p, const char* end) {
        begin = p;
        while (p < end) {
            bool sound;
            if (is_single)
                sound = is_wide ? lines_of(wide, singles, p, end) : lines_of(narrow, singles, p, end);
            else sound = is_wide ? lines_of(wide, doubles, p, end) : lines_of(narrow, doubles, p, end);
            if (sound) {
                if (p < end) widen();
                continue;
            }
            if (!options.skip_bad) return false;
            if (n() == 0) kind = options.kind;  // a bad line does not decide it
            skip(p, end);
        }
        return true;
    }

  private:
    const char* begin = nullptr;  // of the text
#if defined(__AVX2__)
    Separators<> window;              // at hand
    Growing<double> numbers, powers;  // the values of a row are their quotients
#endif

    void skip(const char*& p, const char* end) {
        skip_line();
        forget();
        p = next_line(p, end);
        ++lines;
    }

    // Undoes what the current line has added.
    [[gnu::noinline]] void forget() {
        drop_rounded();
        const size_t stored = n() ? size_t(ends.data()[n() - 1]) : 0;
        keep_labels(n());
        qids.shrink(std::min(qids.size(), n()));
        narrow.shrink(std::min(narrow.size(), stored)), wide.shrink(std::min(wide.size(), stored));
        singles.shrink(std::min(singles.size(), stored)), doubles.shrink(std::min(doubles.size(), stored));
    }

    static bool ends_line(const char* p, const char* end) {
        const char c = at(p, end);
        return c == '\n' || c == '#' || (c == '\r' && at(p + 1, end) == '\n');
    }
    static bool ends_token(const char* p, const char* end) {
        return is_blank(at(p, end)) || ends_line(p, end);
    }

    void fill_qids(size_t n) {
        while (qids.size() < n) qids.push(-1);
    }

    static std::string_view token(const char* p, const char* end) {
        const char* q = p;
        while (!ends_token(q, end)) ++q;
        return {p, size_t(q - p)};
    }
    static std::string shown(const char* p, const char* end) {
        if (at(p, end) == '\n' || (at(p, end) == '\r' && at(p + 1, end) == '\n'))
            return "the end of the line";
        return quoted({p, 1 + token(p + 1, end).size()});  // at least one character, whatever it is
    }

    // A number followed by the end of its token. `what` names it in messages.
    [[gnu::noinline]] bool number(const char*& p, const char* end, bool single, const char* what,
                                  double& out) {
        const char* const start = p;
        Decimal d = decimal(p, end, out);
        if (d == Decimal::inexact && ends_token(p, end)) {
            if (!round({start, size_t(p - start)}, what)) return false;
            d = Decimal::good;
        }
        if (d == Decimal::good && ends_token(p, end)) {
            // half a unit above the largest float everything rounds to infinity
            if (!single || std::fabs(out) < 0x1.ffffffp127) return true;
            return wrong(std::string(what) + " " + shown(start, end) + " is too large for float32");
        }
        if (d == Decimal::too_large && ends_token(p, end))
            return wrong(std::string(what) + " " + shown(start, end) + " is too large for float64");
        if (says_not_finite(token(start, end)))
            return wrong(std::string("expected a finite ") + what + ", found " + shown(start, end));
        return wrong(std::string("expected a number as ") + what + ", found " + shown(start, end));
    }

    [[gnu::noinline]] bool label(const char*& p, const char* end) {
        const std::string_view found = token(p, end);
        double y;
        const Decimal d = whole_decimal(found, y);
        if (d == Decimal::good) return p += found.size(), number_label(y, found);
        if (d == Decimal::inexact) return inexact_label(found);
        if (options.optional_labels && found.find(':') != found.npos)
            return is_kind(LabelKind::none) ||
                   wrong("expected a label, as in the rows before, found " + quoted(found));
        if (d == Decimal::too_large) return wrong("label " + quoted(found) + " is too large for float64");
        if (says_not_finite(found)) return wrong("expected a finite label, found " + quoted(found));
        if (found.find(',') != found.npos)
            return wrong("expected one label, found several: " + quoted(found));
        if (kind == LabelKind::none) return other_kind(found);
        if (kind == LabelKind::number || !can_be_label(found))
            return wrong("expected a number as label, found " + quoted(found));
        if (int64_t(found.size()) > longest_label)
            return wrong("expected a label of at most 255 bytes, found " + quoted(found));
        p += found.size();
        return text_label(found);
    }

    // No byte order mark, control character or colon, and UTF-8.
    static bool can_be_label(std::string_view s) {
        if (s.substr(0, 3) == "\xEF\xBB\xBF") return false;
        for (const char c : s)
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == ':') return false;
        return utf8_length(s.data(), s.data() + s.size()) > 0;
    }

    // qid:N
    [[gnu::noinline]] bool query(const char*& p, const char* end) {
        const char* const start = p;
        uint64_t q = 0;
        p = digits(p + 4, end, q);
        const int64_t length = p - (start + 4);
        if (length < 1 || length > 18 || !ends_token(p, end))
            return wrong("expected qid: and a whole number of at most 18 digits, found " + shown(start, end));
        fill_qids(n());
        qids.push(int64_t(q));
        return true;
    }
    static bool is_query(const char* p, const char* end) {
        return end - p >= 4 && !std::memcmp(p, "qid:", 4);
    }

    [[gnu::noinline]] bool index_at(const char*& p, const char* end, uint64_t& index) {
        const char* const start = p;
        if (is_query(p, end))
            return wrong("expected qid only once, directly after the label, found " + shown(start, end));
        index = 0;
        p = digits(p, end, index);
        if (p == start || at(p, end) != ':') return wrong("expected index:value, found " + shown(start, end));
        if (p - start > 19 || index > uint64_t(std::numeric_limits<int64_t>::max()) - 1)
            return wrong("index in " + shown(start, end) + " is too large");
        return true;
    }

    [[gnu::noinline]] bool bad_index(uint64_t index, uint64_t next, bool first) {
        if (first)
            return wrong("index 0 found, but indices start at 1; pass zero_based=True if they start at 0");
        if (index + 1 == next)
            return wrong("index " + std::to_string(index) + " twice: indices must increase in a line");
        return wrong("index " + std::to_string(index) + " after " + std::to_string(next - 1) +
                     ": indices must increase in a line");
    }

    enum class Outcome { sound, bad, too_wide };

    // The line at `from`, whatever it holds, one token after another; reports what is wrong with it. Moves
    // `from` to the next line unless it is bad or has an index that I cannot hold.
    template <class I, class V>
    Outcome any_line(Growing<I>& indices, Growing<V>& values, const char*& from, const char* end) {
        const uint64_t base = format.zero_based ? 0 : 1;
        const char* p = from;  // no pointer to it, so that it stays in a register
        while (is_blank(at(p, end))) ++p;
        if (!ends_line(p, end)) {
            const char* head = p;
            if (!label(head, end)) return Outcome::bad;
            while (is_blank(at(head, end))) ++head;
            if (is_query(head, end) && !query(head, end)) return Outcome::bad;
            p = head;
            uint64_t next = base;    // the smallest index that may come
            const char* value = p;   // the latest
            for (;;) {
                if (at(p, end) == ' ') ++p;  // the common case: one blank, an index of up to 7 digits
                const uint64_t w = word(p, end), stops = non_digits(w);
                const unsigned n = stops ? first_byte(stops) : 0;
                uint64_t index;
                if (n && ((w >> 8 * n) & 0xFF) == ':') {
                    index = leading(w, n);
                    p += n;
                } else {
                    while (is_blank(at(p, end))) ++p;
                    if (ends_line(p, end)) break;
                    double y;
                    // a value that ends in another control character is not a number after all
                    if (p > value && !is_blank(p[-1]))
                        return number(value, end, false, "value", y), Outcome::bad;
                    const char* q = p;
                    if (!index_at(q, end, index)) return Outcome::bad;
                    p = q;
                }
                ++p;  // the colon
                if (index < next) return bad_index(index, next, next == base), Outcome::bad;
                if (index - base > uint64_t(std::numeric_limits<I>::max()) - 1)
                    return forget(), Outcome::too_wide;
                next = index + 1;
                value = p;
                double x = 0;
                if (const unsigned length = short_decimal(p, end, x)) {
                    p += length;
                    values.push(V(x));
                } else {
                    const char* q = p;
                    double y;
                    if (!number(q, end, std::is_same_v<V, float>, "value", y)) return Outcome::bad;
                    p = q;
                    values.push(V(y));
                }
                indices.push(I(index - base));
            }
            if (!fits(int64_t(next))) {
                const std::string index = "index " + std::to_string(next - 1);
                if (format.features >= 0)
                    wrong(index + " is too large for n_features=" + std::to_string(format.features));
                else
                    wrong(index + " asks for more than max_columns=" + std::to_string(format.most) +
                          " columns; raise max_columns if that is right");
                return Outcome::bad;
            }
            finish_row(int64_t(next), values.size());
        }
        from = next_line(p, end);
        ++lines;
        return Outcome::sound;
    }

    // Whether the largest index of a row, the one before `next`, is one of the features.
    bool fits(int64_t next) const {
        const int64_t most = format.features >= 0 ? format.features : format.most;
        return most < 0 || next - (format.zero_based ? 0 : 1) <= most;
    }

    void finish_row(int64_t next, size_t stored) {
        largest = std::max(largest, next - (format.zero_based ? 1 : 2));
        has_row(int64_t(n()));
        ends.push(int64_t(stored));
        if (qids.size()) fill_qids(n());
    }

#if defined(__AVX2__)
    // The label, and qid, of a row of the common form: moves p to the first index and s behind the
    // separators.
    bool common_head(const char*& p, const char* const text, const char* end, const uint32_t*& s) {
        const char* stop = text + *s;
        if (stop == p || *p == '#') return false;
        const char* const digits_from = p + (*p == '+' && p[1] != '-');
        double y, power;
        if (kind == LabelKind::number && digits_from < stop && token_decimal(digits_from, stop, y, power)) {
            labels.push(y / power);
        } else {
            const char* q = p;
            if (kind == LabelKind::unknown || !label(q, end) || q != (kind == LabelKind::none ? p : stop))
                return false;
        }
        if (kind != LabelKind::none) {
            p = stop;
            if (!is_blank(*p)) return true;  // a row without features
            ++p, ++s;
        }
        if (*p == 'q') {
            if (!is_query(p, end) || !query(p, end)) return false;
            while (text + *s < p) ++s;
            if (is_blank(*p)) ++p, ++s;
        }
        return true;
    }

    // What common rows have occasionally; not inlined, so that their loop keeps its registers.
    template <class I>
    [[gnu::noinline]] int64_t long_index(const char* p, const char* end) const {
        uint64_t index = 0;
        if (end == p || end - p > 18 || digits(p, end, index) != end) return -1;
        return index < uint64_t(std::numeric_limits<I>::max()) ? int64_t(index) : -1;
    }
    template <class V>
    [[gnu::noinline]] static bool long_value(const char* p, const char* end, double& out) {
        if (decimal(p, end, out) != Decimal::good || p != end) return false;
        return std::is_same_v<V, double> || std::fabs(out) < 0x1.ffffffp127;
    }

    // A row of the common form: single blanks between tokens, no comment. Its tokens end at the separators of
    // the window, of which the last is a line end; the window is moved behind the row's. False when it is of
    // another form, or bad, or has an index that I cannot hold: then nothing is changed but what `forget`
    // undoes.
    template <class I, class V>
    [[gnu::noinline]] bool common_row(Growing<I>& indices, Growing<V>& values, const char* p,
                                      const char* end) {
        const char* const text = window.text;
        const uint32_t* s = window.next;
        if (!common_head(p, text, end, s)) return false;
        const int64_t base = format.zero_based ? 0 : 1;
        int64_t next = base;  // the smallest index that may come
        I* const first_index = indices.data() + indices.size();
        I* index_out = first_index;
        double *number_out = numbers.data(), *power_out = powers.data();
        const uint32_t* t = s;
        while (text[*t] == ':') {
            const char* const colon = text + t[0];
            const char* const stop = text + t[1];
            int64_t index;
            double x, power;
            if (!token_pair(p, colon, stop, index, x, power)) {
                double y;  // x stays in a register
                index = long_index<I>(p, colon);
                if (!long_value<V>(colon + 1, stop, y)) return false;
                x = y;
                power = 1;
            }
            if (index < next) return false;
            next = index + 1;
            *index_out++ = I(index - base);
            *number_out = x;
            *power_out = power;
            ++number_out, ++power_out;
            p = stop;
            ++t;
            if (!is_blank(*stop)) break;
            ++p;
            ++t;
        }
        // p is at the line end, behind a blank or not
        if (text + *t != p) return false;
        if (*p == '\r') ++p, ++t;
        if (text + *t != p || *p != '\n' || !fits(next)) return false;
        window.next = t + 1;
        const size_t pairs = size_t(index_out - first_index);
        V* const value_out = values.data() + values.size();
        for (size_t k = 0; k < pairs; ++k) value_out[k] = V(numbers.data()[k] / powers.data()[k]);
        indices.grow(pairs);
        values.grow(pairs);
        finish_row(next, values.size());
        ++lines;
        return true;
    }

    // Parses from `from` until the end, a problem, or a row with an index that I cannot hold; `from` is then
    // its line. Two stages, a window at a time: where tokens end, then what they say.
    template <class I, class V>
    bool lines_of(Growing<I>& indices, Growing<V>& values, const char*& from, const char* end) {
        while (from < end) {
            const size_t bytes = window.read(from, end);
            indices.reserve(bytes / 4 + 1);  // a pair has four bytes at least
            values.reserve(bytes / 4 + 1);
            numbers.reserve(bytes / 4 + 1);
            powers.reserve(bytes / 4 + 1);
            do {
                if (!window.empty() && from - begin >= 16 && common_row(indices, values, from, end)) {
                    from = window.text + window.next[-1] + 1;
                    continue;
                }
                if (!window.empty()) forget(), problem.clear();
                const Outcome outcome = any_line(indices, values, from, end);
                if (outcome != Outcome::sound) return outcome == Outcome::too_wide;
                window.pass_to(from);
            } while (!window.empty());
        }
        return true;
    }
#else
    // The same in one stage: finding the ends of tokens first takes longer than it saves.
    template <class I, class V>
    bool lines_of(Growing<I>& indices, Growing<V>& values, const char*& from, const char* end) {
        while (from < end) {
            const Outcome outcome = any_line(indices, values, from, end);
            if (outcome != Outcome::sound) return outcome == Outcome::too_wide;
        }
        return true;
    }
#endif
};

}  // namespace novikoff
