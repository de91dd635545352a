// Throws any bytes at the parsers of text. What must hold: no crash, no hang, no byte read outside the text (it lies
// in memory of just its size, so the address sanitizer sees it), and the same rows and messages whether the text
// is parsed as a whole or a line at a time.
//
// With clang this is a libFuzzer target for the parser named by -DNOVIKOFF_FUZZ='"libsvm"'; driver.cpp goes without.
#include "parsers.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "../libsvm.h"

namespace novikoff::fuzz {

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

// A copy with nothing around it.
struct Exact {
    size_t size;
    std::unique_ptr<char[]> bytes;
    Exact(const char* p, size_t n) : size(n), bytes(new char[n]) { std::copy(p, p + n, bytes.get()); }
};

template <class Parser>
bool parse(Parser& parser, const char* p, size_t n) {
    const Exact text(p, n);
    return n == 0 || parser.parse(text.bytes.get(), text.bytes.get() + n);
}

template <class Parser>
bool parse_lines(Parser& parser, const char* p, size_t n) {
    for (const char* const end = p + n; p < end;) {
        const void* const found = std::memchr(p, '\n', size_t(end - p));
        const char* const next = found ? static_cast<const char*>(found) + 1 : end;
        if (!parse(parser, p, size_t(next - p))) return false;
        p = next;
    }
    return true;
}

template <class Parser>
void whole_and_by_lines(Parser& whole, Parser& by_lines, const char* p, size_t n, bool skip_bad) {
    const bool sound = parse(whole, p, n);
    require(sound == parse_lines(by_lines, p, n), "the same verdict");
    require(sound || !skip_bad, "bad lines are skipped");
    require(sound == whole.problem.empty(), "a message just for bad lines");
    require(whole.problem == by_lines.problem, "the same message");
    require(whole.lines == by_lines.lines && whole.n_skipped == by_lines.n_skipped, "the same lines");
    require(whole.n() == by_lines.n(), "the same number of rows");
    for (size_t i = 0; i < whole.n(); ++i)
        require(whole.row_line(int64_t(i)) == by_lines.row_line(int64_t(i)), "rows on the same lines");
    require(whole.skipped == by_lines.skipped, "the same lines skipped");
}

template <class T>
bool same(const Growing<T>& a, const Growing<T>& b) {
    return a.size() == b.size() && (a.size() == 0 || !std::memcmp(a.data(), b.data(), a.size() * sizeof(T)));
}

// Options for a text: its own, so that it can be replayed, and any, so that a text is tried with one set only.
unsigned choice(const char* p, size_t n) {
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < n; ++i) hash = (hash ^ static_cast<unsigned char>(p[i])) * 16777619u;
    return hash >> 8;
}

void libsvm(const char* p, size_t n) {
    const unsigned options = choice(p, n);
    LibsvmFormat format;
    format.zero_based = options & 1;
    format.skip_bad = options & 2;
    format.optional_labels = options & 4;
    format.features = options & 8 ? 1000 : -1;
    const bool single = options & 8;
    LibsvmRows whole(single, format), by_lines(single, format), both(single, format);
    whole_and_by_lines(whole, by_lines, p, n, format.skip_bad);
    if (!whole.problem.empty()) return;
    require(whole.kind == by_lines.kind && whole.largest == by_lines.largest, "the same kind of labels and width");
    require(same(whole.labels, by_lines.labels) && same(whole.label_text, by_lines.label_text) &&
                same(whole.label_ends, by_lines.label_ends),
            "the same labels");
    require(same(whole.ends, by_lines.ends) && same(whole.qids, by_lines.qids), "the same ends and qids");
    require(same(whole.narrow, by_lines.narrow) && same(whole.wide, by_lines.wide), "the same indices");
    require(same(whole.singles, by_lines.singles) && same(whole.doubles, by_lines.doubles), "the same values");
    const std::unique_ptr<uint32_t[]> codes(new uint32_t[whole.label_ends.size() * whole.label_width]);
    whole.write_labels(codes.get());
    both.append(whole);
    both.append(by_lines);
    require(both.n() == 2 * whole.n() && both.stored() == 2 * whole.stored(), "appended");
}

// ---- The parsers: a new one is one line here. ----
const std::vector<Target> targets = {
    {"libsvm", libsvm,
     {"+1 1:0.5 3:2 12:-1e-3\r\n# comment 1:1\n\n-1 qid:4 2:1 30:0.0312 # x\n  3\n2.5\t7:12345678.25 \n",
      "1 1:1 2:1 3:1 4:1 1234567:0.123456789012345678\n1 2147483647:2\n2 qid:5 3:1 2147483649:2.5\n",
      "spam 1:1 2:0.25\nham 3:-0.731854 5:.5 7:5. 9:+1\nna\xc3\xafve 1:nan\n1:1 2:2\nqid:3 1:1\n"}},
};

}  // namespace novikoff::fuzz

#if defined(NOVIKOFF_FUZZ)
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    for (const auto& target : novikoff::fuzz::targets)
        if (target.name == std::string(NOVIKOFF_FUZZ)) target.run(reinterpret_cast<const char*>(data), size);
    return 0;
}
#endif
