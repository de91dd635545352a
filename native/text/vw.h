// Vowpal Wabbit text as rows:
//
//   [label [importance [base]]] ['tag | tag]|[namespace][:scale] feature[:value] ... |[namespace] ...
//
// Blanks and tabs separate; what touches the first | is a tag. A feature is called feature, or
// namespace^feature, and has value 1 unless it says another; a value that is not a number, as in city:paris,
// makes the feature city=paris of value 1. A value without a name, as in :0.5, is called after how many of
// its kind came before it in its namespace: 0, 1, ... A namespace's scale multiplies the values in it. A base
// must be 0: the learners here start from no other value. Empty lines are ignored, and there are no comments.
#pragma once

#include "text/named.h"
#include "text/separators.h"

namespace novikoff {

class VwRows final : public NamedLines {
  public:
    using NamedLines::NamedLines;

    // Parses whole lines (the last may lack its end) and returns whether all of them were sound.
    bool parse(const char* p, const char* end) {
#if defined(__AVX2__)
        begin = p;
        window.clear();
#endif
        return parse_lines(p, end, [this](const char* from, const char* stop) { return line(from, stop); });
    }

  private:
#if defined(__AVX2__)
    const char* begin = nullptr;  // of the text
    Separators<'|'> window;
#endif
    std::string name;  // one that does not lie in the text as it is: "namespace^" and more
    size_t prefix = 0;

    static bool ends_line(const char* p, const char* end) {
        const char c = at(p, end);
        return c == '\n' || (c == '\r' && at(p + 1, end) == '\n');
    }
    static bool ends_token(const char* p, const char* end) {
        return is_blank(at(p, end)) || at(p, end) == '|' || ends_line(p, end);
    }
    static std::string_view token(const char* p, const char* end) {
        const char* q = p;
        while (!ends_token(q, end)) ++q;
        return {p, size_t(q - p)};
    }
    static std::string shown(const char* p, const char* end) {
        if (ends_line(p, end)) return "the end of the line";
        return quoted(at(p, end) == '|' ? std::string_view(p, 1) : token(p, end));
    }

    // The high bit of bytes up to ' ', of ':' and of '|', of which the first is right.
    static uint64_t name_ends(uint64_t w) {
        const uint64_t ones = 0x0101010101010101ull, colon = w ^ ':' * ones, bar = w ^ '|' * ones;
        return (blanks(w) | ((colon - ones) & ~colon) | ((bar - ones) & ~bar)) & 0x80 * ones;
    }
    static const char* end_of_name(const char* p, const char* end) {
        for (;; p += 8)
            if (const uint64_t marks = name_ends(word(p, end))) return p + first_byte(marks);
    }

    const char* line(const char* p, const char* end) {
        while (is_blank(at(p, end))) ++p;
        if (ends_line(p, end)) return p;
#if defined(__AVX2__)
        window.pass_to(p);
        if (window.empty()) window.read(p, end);
        if (const char* const bar = common_head(p)) p = bar;
        else p = head(p, end);
        while (p && at(p, end) == '|') {
            const char* const stop = common_features(++p);
            p = stop ? stop : features(p, end);
        }
#else
        p = head(p, end);
        while (p && at(p, end) == '|') p = features(p + 1, end);
#endif
        is_row = true;
        return p;
    }

#if defined(__AVX2__)
    // Whether the tokens from p on, to the end of the line, can be read by their ends.
    bool sees(const char* p) const { return !window.empty() && p - begin >= 16; }

    // A plain number before the first |, which is the most common label; returns where that is, null without
    // one.
    const char* common_head(const char* p) {
        if (kind != LabelKind::number || !sees(p)) return nullptr;
        const char* const stop = window.text + *window.next;
        double y, divisor;
        if (stop == p || !is_blank(*stop) || stop[1] != '|' || !token_decimal(p, stop, y, divisor))
            return nullptr;
        labels.push(y / divisor);
        return stop + 1;
    }

    // One namespace of the common form, from after its | to the next one or to the end of the line: no
    // scale, and features that are a name, or a name and a number. Null when it is of another form, or bad;
    // then nothing is changed.
    [[gnu::noinline]] const char* common_features(const char* p) {
        window.pass_to(p);
        if (!sees(p)) return nullptr;
        const char* const text = window.text;
        const uint32_t* s = window.next;
        const char* stop = text + *s;
        name.clear();
        if (stop > p) name.assign(p, stop).push_back('^');
        prefix = name.size();
        const Mark before = mark();
        const size_t most = window.left();  // features
        const auto prefetch = names.prefetcher();
        Staged* name_out = staged.reserve(most);
        double *number_out = numbers.reserve(most), *divisor_out = divisors.reserve(most);
        while (is_blank(*stop)) {
            p = stop + 1;
            const char* const q = stop = text + *++s;
            double x = 1, divisor = 1;
            if (*q == ':') {
                stop = text + *++s;
                if (!token_decimal(q + 1, stop, x, divisor)) {
                    double y;  // x stays in a register
                    if (!long_value(q + 1, stop, y)) return back_to(before);
                    x = y;
                    divisor = 1;
                }
            }
            uint64_t key;
            size_t n = size_t(q - p);
            if (n - 1 < 8 && !prefix) {
                key = word_before(q) >> (64 - 8 * n);
            } else if (n) {
                name.resize(prefix);
                name.append(p, q);
                n = name.size();
                key = staged_key(name.data(), n);
            } else {
                if (stop > q) return back_to(before);  // a value without a name
                continue;
            }
            *name_out++ = {key, n, prefetch(key)};
            *number_out++ = x;
            *divisor_out++ = divisor;
        }
        if (*stop != '|' && *stop != '\n' && !(*stop == '\r' && stop[1] == '\n')) return back_to(before);
        window.next = s;
        grow_row(size_t(name_out - staged.data()) - before.staged);
        return stop;
    }
    const char* back_to(const Mark& before) {
        shorten_row(before);
        return nullptr;
    }
    [[gnu::noinline]] static bool long_value(const char* p, const char* end, double& out) {
        return whole_decimal({p, size_t(end - p)}, out) == Decimal::good;
    }
#endif

    // What stands before the first |; returns where that is.
    const char* head(const char* p, const char* end) {
        std::string_view fields[3], tag;
        size_t n = 0;
        for (;; p += fields[n++].size()) {
            while (is_blank(at(p, end))) ++p;
            if (at(p, end) == '|') break;
            if (ends_line(p, end))
                return wrong_here("expected | before the features, found the end of the line");
            const std::string_view t = token(p, end);
            const char* q = p + t.size();
            if (*p == '\'' || at(q, end) == '|') {
                tag = t;
                while (is_blank(at(q, end))) ++q;
                if (at(q, end) != '|')
                    return wrong_here("expected | after the tag " + quoted(t) + ", found " + shown(q, end));
                p = q;
                break;
            }
            if (n == 3)
                return wrong_here("expected at most label, importance and base before |, found " + quoted(t) +
                                  " too");
            fields[n] = t;
        }
        if (n == 0) {
            if (no_label(tag.empty() ? "expected a label before |"
                                     : "expected a label, found only the tag " + quoted(tag) +
                                           " (a label needs a blank before |)"))
                return p;
            return nullptr;
        }
        if (!simple_label(fields[0])) return nullptr;
        double x = 0;
        if (n > 1 && !(number(fields[1], "importance", x) && weight(x, fields[1]))) return nullptr;
        if (n > 2) {
            if (!number(fields[2], "base", x)) return nullptr;
            if (x != 0) return wrong_here("a base other than 0 is not supported, found " + quoted(fields[2]));
        }
        return p;
    }

    bool simple_label(std::string_view t) {
        if (t.find(':') != t.npos)
            return wrong("expected a plain label, found " + quoted(t) +
                         " (labels with costs are not supported)");
        if (t.find(',') != t.npos) return wrong("expected one label, found several: " + quoted(t));
        return label(t);
    }

    bool number(std::string_view t, const char* what, double& out) {
        const Decimal d = whole_decimal(t, out);
        if (d == Decimal::good) return true;
        if (d == Decimal::inexact) return round(t, what);
        if (d == Decimal::too_large)
            return wrong(std::string(what) + " " + quoted(t) + " is too large for float64");
        if (says_not_finite(t))
            return wrong(std::string("expected a finite ") + what + ", found " + quoted(t));
        return wrong(std::string("expected a number as ") + what + ", found " +
                     (t.empty() ? "nothing" : quoted(t)));
    }

    // One namespace, from after its | to the next one or to the end of the line.
    const char* features(const char* p, const char* end) {
        name.clear();
        double scale = 1;
        if (!ends_token(p, end)) {
            const char* const q = end_of_name(p, end);
            if (q > p) name.assign(p, q).push_back('^');
            p = q;
            if (at(p, end) == ':') {
                const std::string_view t = token(p + 1, end);
                if (!number(t, "namespace scale", scale)) return nullptr;
                p += 1 + t.size();
            }
        }
        prefix = name.size();
        const bool plain = prefix == 0 && scale == 1;
        uint64_t unnamed = 0;
        for (;;) {
            if (at(p, end) == ' ') ++p;  // the common case: one blank, a name of up to 7 bytes
            const uint64_t w = word(p, end), marks = name_ends(w);
            const unsigned n = marks ? first_byte(marks) : 0;
            const char* q = p + n;
            if (n == 0) {
                if (!marks) q = end_of_name(p + 8, end);
                else if (is_blank(at(p, end))) {
                    ++p;
                    continue;
                } else if (at(p, end) == '|' || ends_line(p, end)) return p;
            }
            double x = 1;
            const char* stop = q;
            if (at(q, end) == ':') {
                const unsigned length = short_decimal(q + 1, end, x);
                stop = length && ends_token(q + 1 + length, end) ? q + 1 + length : nullptr;
            }
            if (plain && n && stop) {
                stage(w & (~uint64_t(0) >> (64 - 8 * n)), n, x);
            } else {
                stop = feature(p, q, stop, end, x, scale, unnamed);
                if (!stop) return nullptr;
            }
            p = stop;
        }
    }

    // The feature named [p, q) in all its forms; `stop` is where it ends, null when its value is still to be
    // read. Returns where it ends.
    const char* feature(const char* p, const char* q, const char* stop, const char* end, double x,
                        double scale, uint64_t& unnamed) {
        name.resize(prefix);
        if (q > p) name.append(p, q);
        else if (at(q, end) == ':') name += std::to_string(unnamed++);
        else return wrong_here("expected a feature, found " + shown(p, end));
        if (!stop) {
            const std::string_view t = token(q + 1, end);
            const bool numeric =
                t.empty() || (t[0] >= '0' && t[0] <= '9') || t[0] == '+' || t[0] == '-' || t[0] == '.';
            if (numeric || says_not_finite(t)) {
                if (!number(t, "value", x)) return nullptr;
            } else {
                if (t.find(':') != t.npos)
                    return wrong_here("expected feature[:value], found " + shown(p, end));
                name.append("=").append(t);
                x = 1;
            }
            stop = t.data() + t.size();
        }
        if (!ends_token(stop, end)) return wrong_here("expected feature[:value], found " + shown(p, end));
        x *= scale;
        if (!std::isfinite(x))
            return wrong_here("the scaled value of " + quoted(name) + " is too large for float64");
        add(name.data(), name.size(), x);
        return stop;
    }

    const char* wrong_here(std::string message) {
        wrong(std::move(message));
        return nullptr;
    }
};

}  // namespace novikoff
