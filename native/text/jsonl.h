// JSON lines as rows: one object per line (RFC 8259, strictly), with the label under one of its keys.
//
//   {"label": "spam", "weight": 2, "features": {"age": 3, "job": "cook"}}
//   {"label": "spam", "age": 3, "job": "cook"}
//
// When the line has an object under the features key, its members are the features and the line's other keys
// are ignored; otherwise all members but label, weight and the ignored ones are. A number under k is
// feature k; true is 1 and false is 0; a string v is feature k=v of value 1; null is no feature; a member i
// of an object under k is feature k.i; the i-th element of an array, from 0, is as if under k.i, but a string
// v in one is k=v. Values of features that come to the same name are added. A key that an object has twice is
// an error.
#pragma once

#include <unordered_set>

#include "text/named.h"

namespace novikoff {

struct JsonKeys {
    std::string label;
    std::optional<std::string> weight;
    std::string features;
    std::unordered_set<std::string> ignored;
};

class JsonRows final : public NamedLines {
  public:
    JsonRows(JsonKeys names_of_keys, const LineOptions& o) : NamedLines(o), keys(std::move(names_of_keys)) {}

    // Parses whole lines (the last may lack its end) and returns whether all of them were sound.
    bool parse(const char* from, const char* stop) {
        return parse_lines(from, stop, [this](const char* begin, const char* limit) {
            start = p = begin;
            end = limit;
            seen.truncate(0);
            return line() ? p : nullptr;
        });
    }

  private:
    static constexpr int deepest = 64;
    const JsonKeys keys;
    const char *start = nullptr, *p = nullptr, *end = nullptr;
    Vocabulary seen;  // keys of the line, each after the number of its object
    uint32_t objects = 0;  // met so far in the line
    std::string path;  // of the current value: its feature's name
    std::string unescaped;  // the latest string that had escapes
    std::string buffer;
    bool counts = true;  // whether the current value makes features
    bool has_label = false, is_nested = false;
    std::string unheld;  // what is wrong with a feature that no double holds, if it is one after all

    bool bad(const char* where, const std::string& message) {
        return wrong("column " + std::to_string(where - start + 1) + ": " + message);
    }
    bool in_column(const char* where) { return bad(where, std::string(problem)); }
    bool unexpected(const char* expected) {
        return bad(p, std::string("expected ") + expected + ", found " + found());
    }
    std::string found() const {
        if (at(p, end) == '\n') return "the end of the line";
        const char* q = p;
        while (q < end && *q != '\n' && q - p < 41) ++q;
        return quoted({p, size_t(q - p)});
    }
    bool too_deep() {
        return bad(p - 1, "more than " + std::to_string(deepest) + " objects and arrays in one another");
    }
    char next() const { return at(p, end); }
    void blanks() {
        while (next() == ' ' || next() == '\t' || (next() == '\r' && p < end)) ++p;
    }
    bool take(char c) {
        if (next() != c) return false;
        ++p;
        return true;
    }
    bool literal(std::string_view s) {
        if (size_t(end - p) < s.size() || std::string_view(p, s.size()) != s) return false;
        p += s.size();
        return true;
    }

    bool line() {
        blanks();
        if (next() == '\n') return true;
        if (!take('{')) return unexpected("an object");
        objects = 0;
        has_label = is_nested = false;
        unheld.clear();
        counts = true;
        path.clear();
        if (!members(1, [this](std::string_view key) { return top_member(key); })) return false;
        blanks();
        if (next() != '\n') return unexpected("the end of the line after the object");
        if (!unheld.empty()) return wrong(unheld);
        if (!has_label && !no_label("expected a label under the key " + quoted(keys.label) + ", found none"))
            return false;
        is_row = true;
        return true;
    }

    // The members of an object whose { is read: `member` reads the value of a key.
    template <class Member>
    bool members(int depth, Member&& member) {
        if (depth > deepest) return too_deep();
        const uint32_t object = objects++;
        blanks();
        if (take('}')) return true;
        for (;;) {
            blanks();
            const char* const where = p;
            std::string_view key;
            if (next() != '"') return unexpected("a key in double quotes");
            if (!string(key)) return false;
            buffer.assign(reinterpret_cast<const char*>(&object), sizeof object).append(key);
            const int64_t known = seen.size();
            if (seen.number(buffer) < known) return bad(where, "the key " + quoted(key) + " comes twice");
            blanks();
            if (!take(':')) return unexpected("a colon after the key");
            blanks();
            if (!member(key)) return false;
            blanks();
            if (take('}')) return true;
            if (!take(',')) return unexpected("a comma or } after a value");
        }
    }

    bool top_member(std::string_view key) {
        if (key == keys.label) return label_value();
        if (keys.weight && key == *keys.weight) return weight_value();
        if (key == keys.features && next() == '{') {
            ++p;
            drop_row();  // what was taken for features before
            drop_rounded();
            unheld.clear();
            is_nested = true;
            counts = true;
            const bool sound = members(2, [this](std::string_view inner) { return feature_member(inner); });
            counts = false;
            return sound;
        }
        return feature_member(key);
    }
    bool feature_member(std::string_view key) {
        const bool outside = counts;
        if (!keys.ignored.empty() && keys.ignored.count(std::string(key))) counts = false;
        path.assign(key);
        const bool sound = value(is_nested ? 3 : 2);
        counts = outside;
        return sound;
    }

    bool label_value() {
        const char* const where = p;
        has_label = true;
        std::string_view token;
        double y = 0;
        if (next() == '"') return string(token) && (label(token) || in_column(where));
        if (literal("true")) return number_label(1, "true") || in_column(where);
        if (literal("false")) return number_label(0, "false") || in_column(where);
        if (literal("null")) {
            has_label = false;
            return true;
        }
        if (next() == '{' || next() == '[') return unexpected("a number or a string as label");
        if (!number(y)) return false;
        if (is_inexact) return inexact_label({where, size_t(p - where)}) || in_column(where);
        return (number_label(y, {where, size_t(p - where)}) || in_column(where));
    }
    bool weight_value() {
        const char* const where = p;
        double w = 0;
        if (literal("null")) return true;
        if (next() == '"') return unexpected("a number as weight");
        if (!number(w)) return false;
        const std::string_view shown(where, size_t(p - where));
        return (!is_inexact || round(shown, "weight")) && weight(w, shown) ? true : in_column(where);
    }

    void feature(double x) {
        if (counts) add(path.data(), path.size(), x);
    }
    // The value at p, under the name that `path` holds.
    bool value(int depth) {
        const size_t length = path.size();
        double x = 0;
        switch (next()) {
            case '{':
                ++p;
                return members(depth, [this, length, depth](std::string_view key) {
                    path.append(1, '.').append(key);
                    const bool sound = value(depth + 1);
                    path.resize(length);
                    return sound;
                });
            case '[': ++p; return elements(depth);
            case '"': return string_value(length);
            case 't':
                if (!literal("true")) return unexpected("a value");
                feature(1);
                return true;
            case 'f':
                if (!literal("false")) return unexpected("a value");
                feature(0);
                return true;
            case 'n': return literal("null") || unexpected("a value");
            default: {
                const char* const where = p;
                if (!number(x)) return false;
                if (is_inexact && counts) keep_inexact(where);
                feature(x);
                return true;
            }
        }
    }
    bool string_value(size_t length) {
        std::string_view s;
        if (!string(s)) return false;
        path.append(1, '=').append(s);
        feature(1);
        path.resize(length);
        return true;
    }
    bool elements(int depth) {
        if (depth > deepest) return too_deep();
        const size_t length = path.size();
        blanks();
        if (take(']')) return true;
        for (int64_t i = 0;; ++i) {
            blanks();
            bool sound;
            if (next() == '"') sound = string_value(length);
            else {
                path.append(1, '.').append(std::to_string(i));
                sound = value(depth + 1);
                path.resize(length);
            }
            if (!sound) return false;
            blanks();
            if (take(']')) return true;
            if (!take(',')) return unexpected("a comma or ] after an element");
        }
    }

    // When the features' own object comes later, what was read before it is no feature.
    void keep_inexact(const char* where) {
        const std::string_view shown(where, size_t(p - where));
        if (options.round) round(shown, "value");
        else if (unheld.empty())
            unheld = "column " + std::to_string(where - start + 1) + ": " + inexact(shown, "value");
    }

    // -? (0 | [1-9] digits) [. digits] [e [+-] digits]
    bool is_inexact = false;  // the number read last: an integer that no double holds
    bool number(double& out) {
        const char* q = p;
        auto digit = [&] { return at(q, end) >= '0' && at(q, end) <= '9'; };
        auto digits = [&] {
            if (!digit()) return false;
            while (digit()) ++q;
            return true;
        };
        if (at(q, end) == '-') ++q;
        if (at(q, end) == '0') {
            ++q;
            if (digit()) return unexpected("a number without a zero in front");
        } else if (!digits()) return unexpected("a value");
        if (at(q, end) == '.') {
            ++q;
            if (!digits()) return unexpected("a number with a digit after the point");
        }
        if ((at(q, end) | 32) == 'e') {
            ++q;
            if (at(q, end) == '-' || at(q, end) == '+') ++q;
            if (!digits()) return unexpected("a number with digits after e");
        }
        const Decimal d = whole_decimal({p, size_t(q - p)}, out);
        is_inexact = d == Decimal::inexact;
        if (d != Decimal::good && !is_inexact)
            return bad(p, "the number " + quoted({p, size_t(q - p)}) + " is too large for float64");
        p = q;
        return true;
    }

    // The string whose " is at p. The result is valid until the next string is read.
    bool string(std::string_view& out) {
        const char* const first = ++p;
        for (;;) {
            const uint64_t marks = not_plain(word(p, end));
            p += marks ? first_byte(marks) : 8;
            if (!marks) continue;
            if (next() == '"' || next() == '\\') break;
            if (!plain_character()) return false;
        }
        if (next() == '"') {
            out = {first, size_t(p++ - first)};
            return true;
        }
        unescaped.assign(first, p);
        for (;;) {
            const char c = next();
            if (c == '"') break;
            if (c == '\\') {
                if (!escape()) return false;
                continue;
            }
            const char* const from = p;
            if (!plain_character()) return false;
            unescaped.append(from, p);
        }
        ++p;
        out = unescaped;
        return true;
    }
    // The high bit of quotes, backslashes, control characters and all beyond ASCII, of which the first is
    // right.
    static uint64_t not_plain(uint64_t w) {
        const uint64_t ones = 0x0101010101010101ull, quote = w ^ '"' * ones, slash = w ^ '\\' * ones;
        return (w | ((w - 0x20 * ones) & ~w) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash)) &
               0x80 * ones;
    }
    bool plain_character() {
        const unsigned char c = static_cast<unsigned char>(next());
        if (p == end || c == '\n') return unexpected("a double quote at the end of the string");
        if (c < 0x20) return bad(p, "a control character in a string must be escaped, found " + found());
        const char* q = p;
        if (utf8_character(q, end) < 0) return bad(p, "the string is not UTF-8: " + found());
        p = q;
        return true;
    }
    bool escape() {
        static constexpr std::string_view codes = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
        const char* const from = p++;
        const char c = next();
        if (const size_t i = codes.find(c); i != codes.npos && p < end) {
            ++p;
            unescaped += meant[i];
            return true;
        }
        uint32_t u = 0, low = 0;
        if (c != 'u' || !hex(u)) return p = from, unexpected("an escape such as \\n or \\u00e9");
        if (u >= 0xDC00 && u < 0xE000) return p = from, unexpected("the first half of a surrogate pair");
        if (u >= 0xD800 && u < 0xDC00) {
            if (!take('\\') || next() != 'u' || !hex(low) || low < 0xDC00 || low >= 0xE000)
                return p = from, unexpected("both halves of a surrogate pair");
            u = 0x10000 + ((u - 0xD800) << 10) + (low - 0xDC00);
        }
        if (u < 0x80) unescaped += char(u);
        else if (u < 0x800) unescaped += char(0xC0 | u >> 6);
        else if (u < 0x10000) (unescaped += char(0xE0 | u >> 12)) += char(0x80 | (u >> 6 & 0x3F));
        else
            ((unescaped += char(0xF0 | u >> 18)) += char(0x80 | (u >> 12 & 0x3F))) +=
                char(0x80 | (u >> 6 & 0x3F));
        if (u >= 0x80) unescaped += char(0x80 | (u & 0x3F));
        return true;
    }
    // The four digits behind the u at p.
    bool hex(uint32_t& u) {
        ++p;
        for (int i = 0; i < 4; ++i, ++p) {
            const char c = next(), small = char(c | 32);
            if (c >= '0' && c <= '9') u = u * 16 + uint32_t(c - '0');
            else if (small >= 'a' && small <= 'f') u = u * 16 + uint32_t(small - 'a' + 10);
            else return false;
        }
        return true;
    }
};

}  // namespace novikoff
