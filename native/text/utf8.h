// UTF-8 to code points, strictly: no overlong form, no surrogate, nothing above U+10FFFF.
#pragma once

#include <cstdint>

namespace novikoff {

// Reads one character and moves p past it; -1, with p anywhere before end, when there is none.
inline int32_t utf8_character(const char*& p, const char* end) {
    const unsigned char c = static_cast<unsigned char>(*p++);
    if (c < 0x80) return c;
    const int more = c >= 0xC2 && c < 0xE0 ? 1 : (c & 0xF0) == 0xE0 ? 2 : c >= 0xF0 && c < 0xF5 ? 3 : 0;
    if (!more || end - p < more) return -1;
    int32_t code = c & (0x3F >> more);
    for (int k = 0; k < more; ++k, ++p) {
        if ((static_cast<unsigned char>(*p) & 0xC0) != 0x80) return -1;
        code = code << 6 | (*p & 0x3F);
    }
    const bool overlong = (more == 2 && code < 0x800) || (more == 3 && code < 0x10000);
    return overlong || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF ? -1 : code;
}

// The number of characters of the text, -1 when it is not UTF-8.
inline int64_t utf8_length(const char* p, const char* end) {
    int64_t n = 0;
    for (; p < end; ++n)
        if (utf8_character(p, end) < 0) return -1;
    return n;
}

}  // namespace novikoff
