// A column of texts as rows of word counts.
//
// A word is a run of ASCII letters and digits, underscores, and characters beyond ASCII; everything else
// separates. ASCII letters are made lowercase on request (others stay as they are). An n-gram is n
// consecutive words, joined by one blank; all lengths from 1 to `ngrams` are counted.
#pragma once

#include "text/named.h"

namespace novikoff {

class WordRows : public NamedRows {
    const std::string prefix;
    const int ngrams;
    const bool lowercase;
    std::string words, name;
    std::vector<size_t> ends;  // of the words of a text in `words`, which has a blank after each

    static bool in_word(unsigned char c) {
        return c >= 0x80 || c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
    }

  public:
    WordRows(std::string prefix, int ngrams, bool lowercase)
        : prefix(std::move(prefix)), ngrams(ngrams), lowercase(lowercase) {
        if (ngrams < 1 || ngrams > 5) throw std::invalid_argument("ngrams must be from 1 to 5");
    }

    // In order of appearance: at each word the n-grams that end with it, the shortest first.
    void add_row(std::string_view text) {
        words.clear();
        ends.clear();
        for (size_t i = 0; i < text.size();) {
            const size_t begin = words.size();
            for (; i < text.size() && in_word(static_cast<unsigned char>(text[i])); ++i) {
                const char c = text[i];
                words += lowercase && c >= 'A' && c <= 'Z' ? char(c | 32) : c;
            }
            if (words.size() == begin) {
                ++i;
                continue;
            }
            ends.push_back(words.size());
            words += ' ';
            for (size_t n = 1; n <= size_t(ngrams) && n <= ends.size(); ++n) {
                const size_t from = n == ends.size() ? 0 : ends[ends.size() - 1 - n] + 1;
                name.assign(prefix).append(words, from, ends.back() - from);
                add(name.data(), name.size(), 1);
            }
        }
        finish_row();  // counts of a text that fits into memory do not overflow
    }
};

}  // namespace novikoff
