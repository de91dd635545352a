// Throws any bytes at the parsers of text. What must hold: no crash, no hang, no byte read outside the text
// (it lies in memory of just its size, so the address sanitizer sees it), and the same rows and messages
// whether the text is parsed as a whole, in two pieces, or a line at a time.
//
// With clang this is a libFuzzer target for the parser named by -DNOVIKOFF_FUZZ='"libsvm"'; driver.cpp goes
// without.
#include "fuzz/parsers.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tagging/sentences.h"
#include "text/cells.h"
#include "text/jsonl.h"
#include "text/libsvm.h"
#include "text/vw.h"
#include "text/words.h"

namespace novikoff::fuzz {

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

// A copy in memory of exactly its size.
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

// In pieces of whole lines, which `ends_piece(line's number)` cuts.
template <class Parser, class Cut>
bool parse_pieces(Parser& parser, const char* p, size_t n, Cut&& ends_piece) {
    const char *const end = p + n, *next = p;
    for (int64_t line = 0; next < end; ++line) {
        const void* const found = std::memchr(next, '\n', size_t(end - next));
        next = found ? static_cast<const char*>(found) + 1 : end;
        if (next < end && !ends_piece(line)) continue;
        if (!parse(parser, p, size_t(next - p))) return false;
        p = next;
    }
    return true;
}

template <class T>
bool same(const Growing<T>& a, const Growing<T>& b) {
    return a.size() == b.size() && (a.size() == 0 || !std::memcmp(a.data(), b.data(), a.size() * sizeof(T)));
}

template <class Parser>
void same_lines(const Parser& a, const Parser& b) {
    require(a.problem == b.problem, "the same message");
    require(a.lines == b.lines && a.n_skipped == b.n_skipped, "the same lines");
    require(a.n() == b.n(), "the same number of rows");
    for (size_t i = 0; i < a.n(); ++i)
        require(a.row_line(int64_t(i)) == b.row_line(int64_t(i)), "rows on the same lines");
    require(a.skipped == b.skipped, "the same lines skipped");
    require(a.kind == b.kind && same(a.labels, b.labels) && same(a.label_codes, b.label_codes) &&
                same(a.label_values.list.bytes, b.label_values.list.bytes) &&
                same(a.label_values.list.ends, b.label_values.list.ends),
            "the same labels");
}

// The text as a whole, a line at a time, and cut in two; `same_rows` compares what was read.
template <class Parser, class Same>
void however_cut(Parser& whole, Parser& by_lines, Parser& in_two, const char* p, size_t n, Same&& same_rows) {
    const bool sound = parse(whole, p, n);
    require(sound == parse_pieces(by_lines, p, n, [](int64_t) { return true; }), "the same verdict by lines");
    const int64_t cut = whole.lines ? int64_t(n * 7 % size_t(whole.lines)) : 0;
    require(sound == parse_pieces(in_two, p, n, [cut](int64_t line) { return line == cut; }),
            "the same verdict in two");
    require(sound || !whole.options.skip_bad, "bad lines are skipped");
    require(sound == whole.problem.empty(), "a message just for bad lines");
    same_lines(whole, by_lines);
    same_lines(whole, in_two);
    if (!sound) return;
    same_rows(whole, by_lines);
    same_rows(whole, in_two);
}

// Options for a text: its own, so that it can be replayed, and any, so that a text is tried with one set
// only.
unsigned choice(const char* p, size_t n) {
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < n; ++i) hash = (hash ^ static_cast<unsigned char>(p[i])) * 16777619u;
    return hash >> 8;
}

void libsvm(const char* p, size_t n) {
    const unsigned options = choice(p, n);
    const LibsvmFormat format{bool(options & 8), bool(options & 1), options & 8 ? 1000 : -1};
    const LineOptions lines{bool(options & 4), LabelKind::unknown, bool(options & 2)};
    LibsvmRows whole(format, lines), by_lines(format, lines), in_two(format, lines), both(format, lines);
    however_cut(whole, by_lines, in_two, p, n, [](const LibsvmRows& a, const LibsvmRows& b) {
        require(a.largest == b.largest, "the same width");
        require(same(a.ends, b.ends) && same(a.qids, b.qids), "the same ends and qids");
        require(same(a.narrow, b.narrow) && same(a.wide, b.wide), "the same indices");
        require(same(a.singles, b.singles) && same(a.doubles, b.doubles), "the same values");
    });
    if (!whole.problem.empty()) return;
    both.append(whole);
    both.append(by_lines);
    require(both.n() == 2 * whole.n() && both.stored() == 2 * whole.stored(), "appended");
}

// Each name is found under its number, and has one value in a row, which is finite.
void sound_rows(const NamedRows& rows) {
    const size_t n = rows.pointers.size() - 1;
    require(rows.pointers[0] == 0 && size_t(rows.pointers[n]) == rows.values.size() &&
                rows.indices.size() == rows.values.size(),
            "as many indices as values");
    for (int64_t i = 0; i < rows.names.size(); ++i) {
        const std::string_view name = rows.names.list[i];
        require(rows.names.list.keys[size_t(i)] == Vocabulary::key(name), "the key of a name");
        require(rows.names.find(Vocabulary::key(name), name.data(), name.size()) == i,
                "a name under its number");
    }
    std::vector<size_t> row_of(size_t(rows.names.size()), n);
    for (size_t i = 0; i < n; ++i)
        for (int64_t k = rows.pointers[i]; k < rows.pointers[i + 1]; ++k) {
            require(rows.indices[size_t(k)] >= 0 && rows.indices[size_t(k)] < rows.names.size(),
                    "the number of a name");
            require(std::exchange(row_of[size_t(rows.indices[size_t(k)])], i) != i, "a name once in a row");
            require(std::isfinite(rows.values[size_t(k)]), "finite values");
        }
}

void same_named_rows(const NamedRows& a, const NamedRows& b) {
    require(same(a.pointers, b.pointers) && same(a.indices, b.indices) && same(a.values, b.values),
            "the same rows");
    require(same(a.names.list.bytes, b.names.list.bytes) && same(a.names.list.ends, b.names.list.ends),
            "the same names");
}

template <class Parser, class... Keys>
void named_lines(const char* p, size_t n, const Keys&... keys) {
    const unsigned choices = choice(p, n);
    const LineOptions options{bool(choices & 1), LabelKind::unknown, bool(choices & 2)};
    Parser whole(keys..., options), by_lines(keys..., options), in_two(keys..., options);
    however_cut(whole, by_lines, in_two, p, n, [](const Parser& a, const Parser& b) {
        require(same(a.weights, b.weights), "the same weights");
        same_named_rows(a, b);
    });
    sound_rows(whole);
    require(whole.pointers.size() == whole.n() + 1, "a row for each");
    require(whole.weights.size() == 0 || whole.weights.size() == whole.n(), "a weight for each");
    whole.clear();  // what is left in the tables must not matter
    if (parse(whole, p, n)) same_named_rows(whole, by_lines);
}

void vw(const char* p, size_t n) { named_lines<VwRows>(p, n); }

void jsonl(const char* p, size_t n) {
    named_lines<JsonRows>(p, n, JsonKeys{"label", "weight", "features", {"id"}});
}

// Each line a text of its own.
void words(const char* p, size_t n) {
    const unsigned options = choice(p, n);
    const Exact text(p, n);
    WordRows rows("w=", 1 + int(options % 5), options & 8);
    const char *from = text.bytes.get(), *const end = from + n;
    size_t texts = 0;
    for (; from < end; ++texts) {
        const char* const stop = std::find(from, end, '\n');
        rows.add_row({from, size_t(stop - from)});
        from = stop < end ? stop + 1 : end;
    }
    require(rows.pointers.size() == texts + 1, "a row for each text");
    sound_rows(rows);
}

// Three cells a line: a label, one to pass over, a weight or two columns.
void cells(const char* p, size_t n) {
    const unsigned options = choice(p, n);
    const int32_t targets[] = {label_cell, ignored_cell, options & 1 ? weight_cell : int32_t(0), 1};
    const NumberCells reader{targets, options & 2 ? 3 : 4, options & 4 ? ',' : '\t', options & 8 ? '"' : ','};
    const Exact text(p, n);
    const char *const begin = text.bytes.get(), *const end = begin + n;
    const int64_t lines = std::count(begin, end, '\n') + (n && end[-1] != '\n');
    for (const int64_t rows : {lines, lines / 2, lines + 1}) {
        std::vector<double> out(size_t(2 * rows)), labels(size_t(rows), NAN), weights(size_t(rows), 0);
        if (!reader.read(begin, end, rows, 2, out.data(), labels.data(), weights.data())) continue;
        require(rows == lines, "all lines or none");
        for (int64_t i = 0; i < rows; ++i)
            require(std::isfinite(labels[size_t(i)]) && weights[size_t(i)] >= 0,
                    "labels and weights that are numbers");
    }
}

// Two columns, a function of the first, and templates of every kind over them.
TemplateIndex small_index() {
    TemplateIndex index;
    index.domains.emplace_back(0, false);
    index.domains.emplace_back(1, false);
    index.domains.emplace_back(0, true);
    index.domains[0].used = true;
    auto add = [&](const char* name, std::vector<Part> parts, Where where = Where::everywhere) {
        index.templates.emplace_back();
        Template& m = index.templates.back();
        m.name = name, m.parts = std::move(parts), m.where = where;
        for (size_t used = 3; used < m.parts.size(); used += 2) m.inner.emplace_back();
    };
    add("a", {{0, 0, {}}});
    add("b", {{0, -1, {-1}}, {1, 0, {}}});
    add("c", {{0, -2, {-1, -1}}, {0, 0, {}}, {2, 1, {}}});
    add("d", {{0, -1, {}}, {1, 0, {}}, {0, 0, {}}, {2, 0, {}}, {1, 2, {-1, -1}}, {1, 1, {-1}}});
    add("e", {}, Where::first);
    add("f", {}, Where::last);
    return index;
}
// The function: a value's first byte, unless it is x.
void derive(TemplateIndex& index, Tokens& tokens) {
    const std::vector<std::string> texts = index.waiting(0, tokens);
    const TemplateIndex::Texts views(texts.begin(), texts.end());
    TemplateIndex::Texts firsts;
    for (const std::string_view text : views) firsts.push_back(text[0] == 'x' ? "" : text.substr(0, 1));
    index.derive(0, views, {{2, firsts}});
}

struct Sentences {
    std::vector<std::string> names;  // of the features of all tokens, sentences apart
    Growing<int32_t> ids;
    std::string problem;
    int64_t lines = 0;
};

void expand(TemplateIndex& index, Tokens& tokens, Sentences& out) {
    Expanded none, e, again;
    const bool waits = !index.waiting(0, tokens).empty();
    require(index.expand(tokens, true, none) == !waits, "functions first");
    derive(index, tokens);
    require(index.expand(tokens, true, e), "functions are worked out");
    const int64_t features = index.size();
    index.expand(tokens, false, again);
    require(same(e.ids, again.ids) && same(e.indptr, again.indptr) && index.size() == features,
            "known the second time");
    require(e.indptr.size() == size_t(tokens.size()) + 1, "features for every token");
    out.ids.append(e.ids);
    for (int64_t s = 0; s < tokens.sentences(); ++s)
        for (int64_t t = tokens.starts[size_t(s)]; t < tokens.starts[size_t(s) + 1]; ++t)
            for (int64_t i = e.indptr[size_t(t)]; i < e.indptr[size_t(t) + 1]; ++i)
                out.names.push_back(std::to_string(t == tokens.starts[size_t(s)]) +
                                    index.name(e.ids[size_t(i)]));
}

// A token for each label and line, spots in order, and the text itself when each label is put where it was.
void sound_lines(const SentenceLines& lines, const char* p, size_t n, size_t tokens, bool labelled,
                 bool escapes) {
    require(lines.lines_of.size() == tokens && lines.spots.size() == 3 * tokens, "a line for each token");
    require(lines.labels.size() == (labelled ? tokens : 0), "a label for each token");
    int64_t at = 0;
    for (size_t i = 0; i < tokens; ++i) {
        const int64_t* const s = lines.spots.data() + 3 * i;
        require(at <= s[0] && s[0] <= s[1] && s[1] <= s[2] && s[2] <= int64_t(n), "spots in order");
        at = s[2];
    }
    if (!labelled || escapes) return;
    std::vector<std::string> names;
    for (int64_t i = 0; i < lines.label_values.size(); ++i) names.emplace_back(lines.label_values.list[i]);
    const std::string_view text(p, n);
    require(tagged(text, lines.spots.data(), lines.labels.data(), tokens, names, " ", false) == text,
            "the text again");
}

void columns(const char* p, size_t n) {
    using Kind = SentenceFormat::Kind;
    const unsigned options = choice(p, n);
    const Kind kind = Kind(options % 3);
    const SentenceFormat format{kind,
                                kind == Kind::conllu ? 10 : 3,
                                {kind == Kind::conllu, 2},
                                kind == Kind::conllu ? 3
                                : options & 8        ? 1
                                                     : -1,
                                "as ever"};
    auto read = [&](TemplateIndex& index, ColumnLines& lines, const char* q, size_t m, Sentences& out) {
        const Exact text(q, m);
        Tokens tokens(2);
        const bool sound = lines.parse(text.bytes.get(), text.bytes.get() + m, tokens);
        require(sound == lines.problem.empty(), "a message just for bad lines");
        out.problem = lines.problem;
        out.lines += lines.lines;
        if (!sound) return false;
        sound_lines(lines, text.bytes.get(), m, size_t(tokens.size()), format.label >= 0, false);
        expand(index, tokens, out);
        return true;
    };
    Sentences whole, in_two;
    TemplateIndex one = small_index(), other = small_index();
    ColumnLines lines(format), first(format);
    const bool sound = read(one, lines, p, n, whole);
    const size_t cut = whole_sentences(p, n * 2 / 3);
    const bool both = read(other, first, p, cut, in_two) && read(other, first, p + cut, n - cut, in_two);
    require(sound == both && whole.problem == in_two.problem && whole.lines == in_two.lines,
            "the same verdict in two");
    if (sound)
        require(whole.names == in_two.names && same(whole.ids, in_two.ids), "the same features in two");
}

void attributes(const char* p, size_t n) {
    auto read = [](AttributeLines& lines, const char* q, size_t m) {
        const Exact text(q, m);
        const bool sound = lines.parse(text.bytes.get(), text.bytes.get() + m);
        require(sound == lines.problem.empty(), "a message just for bad lines");
        if (!sound) return false;
        const size_t tokens = lines.indptr.size() - 1;
        sound_lines(lines, text.bytes.get(), m, tokens, true, true);
        require(size_t(lines.starts[lines.starts.size() - 1]) == tokens, "sentences of all tokens");
        require(lines.values.size() == 0 || lines.values.size() == lines.ids.size(), "a value each, or none");
        for (size_t i = 0; i < lines.ids.size(); ++i)
            require(lines.ids[i] >= 0 && lines.ids[i] < lines.names.size(), "the number of a name");
        for (size_t i = 0; i < lines.values.size(); ++i)
            require(std::isfinite(lines.values[i]) && lines.values[i] != 0, "finite values, not 0");
        return true;
    };
    AttributeLines whole, part;
    const bool sound = read(whole, p, n);
    const size_t cut = whole_sentences(p, n / 2);
    bool both = read(part, p, cut);
    size_t tokens = part.lines_of.size(), stored = part.ids.size();
    both = both && read(part, p + cut, n - cut);
    require(sound == both && whole.problem == part.problem, "the same verdict in two");
    if (sound)
        require(tokens + part.lines_of.size() == whole.lines_of.size() &&
                    stored + part.ids.size() == whole.ids.size(),
                "the same tokens in two");
}

const std::string long_names = [] {
    std::string line = "1 | ", number(400, '7');
    for (int i = 0; i < 900; ++i)
        line += "feature_" + std::to_string(i * i) + ":" + std::to_string(i) + ".25 ";
    return line + "\n-1 | a:" + number + " b:0." + number + " c:1e-" + number + "\n";
}();
const std::string nested = "{\"label\":1,\"a\":" + std::string(70, '[') + "1" + std::string(70, ']') + "}\n";

// ---- The parsers: a new one is one line here. ----
const std::vector<Target> targets = {
    {"libsvm",
     libsvm,
     {"+1 1:0.5 3:2 12:-1e-3\r\n# comment 1:1\n\n-1 qid:4 2:1 30:0.0312 # x\n  3\n2.5\t7:12345678.25 \n",
      "1 1:1 2:1 3:1 4:1 1234567:0.123456789012345678\n1 2147483647:2\n2 qid:5 3:1 2147483649:2.5\n",
      "spam 1:1 2:0.25\nham 3:-0.731854 5:.5 7:5. 9:+1\nna\xc3\xafve 1:nan\n1:1 2:2\nqid:3 1:1\n"}},
    {"vw",
     vw,
     {"1 | a b:2 cdefghijklmnop:3\n\n-1 0.5 'tag |ns:2 x:1 y z:0.25 :4 :5 |ns x:1 city:paris\n3 2 0 t|u\n",
      long_names,
      "spam 1.0 zebra|MetricFeatures:3.28 height:1.5e-3 length:2.0 |Says black with white stripes\r\nham | q\r\n",
      "-1 | 1:1 4:1 7:1 13:0.7210 31:0.0014 12345678:1 123456789:1e308 123456789:1e308\n1 | 1:1 1:2 4:0.5 7:-1 13\n"}},
    {"jsonl",
     jsonl,
     {"{\"label\": \"spam\", \"weight\": 2, \"features\": {\"age\": 3, \"job\": \"co\\u00f6k\\ud83d\\ude00\"}, \"z\": 1}\n",
      "{\"label\": 1, \"age\": 3.5e-10, \"a\": {\"b\": [1, \"x\", true, {\"q\": null}], \"f\":false}}\r\n{\"label\":2}\n",
      "{\"label\":1,\"id\":[{}],\"\\n\":\"\xc3\xa9\",\"a.b\":1e308,\"a\":{\"b\":1e308},\"x\":{\"\":{\"\":0}}}\n",
      nested}},
    {"columns",
     columns,
     {"In IN B-PP\nthe DT B-NP\npound NN I-NP\n\n# # O\r\n x|y = |\n \t\n\nin IN O\n\n\nna\xc3\xafve a|b O\n",
      "In\tIN\tB-PP\nNew York\tNN\tI\n\na\tb\tc\nx\ty\tz\n",
      "# text = a b\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tde\tADP\tE\t_\t3\tcase\t_\t_\n2\tle\t_\tDET\t_\t_\t3\tdet\t_\t_\n"
      "2.1\tx\tx\tX\tX\t_\t_\t_\t_\t_\n\n1\t_\t_\tX\t_\t_\t0\troot\t_\t_\n"}},
    {"attributes",
     attributes,
     {"B-NP\tw[0]=In\tpos\\:x:2.5\t__BOS__\n\nO\ta:-1e3\tb:0\tc\\\\:1\td:\n", "a\\:b\tx\ty\tz\t\tx\n \nO\n"}},
    {"words",
     words,
     {"The quick brown_fox, the\tQUICK 123!\nna\xc3\xafve caf\xc3\xa9\n\n a a a b\n", long_names}},
    {"cells",
     cells,
     {"1,x,2,3\n-1.5, y ,0.25,1e5\r\n0,\"q\",7,8\n", "1\t\t2\n3\tab\t4.5\n",
      "1,a,1\n 2 ,b, 3 \n0.1234567890123456789,,1e-400\n"}},
};

}  // namespace novikoff::fuzz

#if defined(NOVIKOFF_FUZZ)
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    for (const auto& target : novikoff::fuzz::targets)
        if (target.name == std::string(NOVIKOFF_FUZZ)) target.run(reinterpret_cast<const char*>(data), size);
    return 0;
}
#endif
