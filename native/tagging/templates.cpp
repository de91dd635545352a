// Binds templates and the parsers of sentences.
#include "tagging/templates.h"

#include "memory/fork_safe.h"
#include "tagging/bind_sentences.h"
#include "text/python_text.h"

namespace {

int32_t numbered(Vocabulary& values, std::string_view text) { return int32_t(values.number(text)); }

// (name, parts, where); a part is (domain, offset, padded).
using PartArgs = std::tuple<int32_t, int32_t, bool>;
using TemplateArgs = std::tuple<std::string, std::vector<PartArgs>, std::string>;

// An index that any number of threads may use at once. What reads or changes it goes through `alone`, where
// no Python runs: what Python passes is read before, and what it receives is made after. `columns` never
// changes.
struct Index : TemplateIndex {
    int32_t columns;
    mutable ForkSafe lock;

    template <class Call>
    auto alone(Call&& call) const {
        const nb::gil_scoped_release nogil;
        const std::lock_guard<ForkSafe> held(lock);
        return call();
    }
    void check(const Tokens& tokens) const {
        if (tokens.values.size() != size_t(columns))
            throw std::invalid_argument("the tokens have other columns");
    }
    // `column` and `derived` never change
    const Domain& domain(int32_t d) const { return domains.at(size_t(d)); }

    Index(int32_t n_columns, const std::vector<int32_t>& derived, const std::vector<TemplateArgs>& all)
        : columns(n_columns) {
        for (int32_t j = 0; j < n_columns; ++j) domains.emplace_back(j, false);
        for (int32_t base : derived) {
            if (base < 0 || base >= n_columns) throw std::invalid_argument("there is no such column");
            domains.emplace_back(base, true);
            domains[size_t(base)].used = true;
        }
        if (all.size() > 65535) throw std::invalid_argument("more than 65535 templates");
        for (const auto& [name, parts, where] : all) {
            Template m;
            m.name = name;
            m.where = where == "first" ? Where::first : where == "last" ? Where::last : Where::everywhere;
            for (const auto& [domain, offset, padded] : parts) {
                if (domain < 0 || size_t(domain) >= domains.size())
                    throw std::invalid_argument("there is no such domain");
                Part part{domain, offset, {}};
                part.pads.resize(padded ? size_t(std::abs(offset)) : 0, -1);
                m.parts.push_back(std::move(part));
            }
            for (size_t used = 3; used < m.parts.size(); used += 2) m.inner.emplace_back();
            templates.push_back(std::move(m));
        }
    }
};

SentenceFormat format_of(const std::string& kind, int32_t width, std::vector<int32_t> columns, int32_t label,
                         std::string expected) {
    SentenceFormat f;
    f.kind = kind == "tabs"     ? SentenceFormat::Kind::tabs
             : kind == "conllu" ? SentenceFormat::Kind::conllu
                                : SentenceFormat::Kind::blanks;
    f.width = width;
    f.columns = std::move(columns);
    f.label = label;
    f.expected = std::move(expected);
    for (int32_t j : f.columns)
        if (j < 0 || j >= width) throw std::invalid_argument("a column lies outside of the line");
    if (label >= width) throw std::invalid_argument("the label lies outside of the line");
    return f;
}

// Python's sentences: a token is a str (the only column), a sequence of str, or a dict of them.
Tokens tokens_from(nb::handle sentences, const Index& index, const std::vector<int32_t>& places,
                   const Strings& names) {
    const size_t k = size_t(index.columns);
    if (places.size() != k || names.size() != k)
        throw std::invalid_argument("a place and a name for each column");
    Tokens out(k);
    constexpr int32_t nowhere = std::numeric_limits<int32_t>::max();
    int64_t s = 0, tokens = 0;
    for (nb::handle sentence : nb::borrow<nb::iterable>(sentences)) {
        int64_t t = 0;
        if (PyUnicode_Check(sentence.ptr()) || PyDict_Check(sentence.ptr()))
            throw nb::type_error(("sentence " + std::to_string(s) + " is a " +
                                  Py_TYPE(sentence.ptr())->tp_name + ", expected a list of tokens")
                                     .c_str());
        for (nb::handle token : nb::borrow<nb::iterable>(sentence)) {
            auto where = [&] {
                return "sentence " + std::to_string(s) + ", token " + std::to_string(t) + ": ";
            };
            for (size_t j = 0; j < k; ++j) {
                nb::object cell;
                if (PyUnicode_Check(token.ptr())) {
                    if (places[j] == 0) cell = nb::borrow(token);
                } else if (PyDict_Check(token.ptr())) {
                    cell = nb::borrow(PyDict_GetItemWithError(token.ptr(), names[j].ptr()));
                } else if (PySequence_Check(token.ptr()) && PySequence_Size(token.ptr()) > places[j]) {
                    cell = nb::steal(PySequence_GetItem(token.ptr(), places[j]));
                }
                if (PyErr_Occurred()) throw nb::python_error();
                if (!cell.is_valid()) {
                    const std::string name = nb::str(nb::repr(names[j])).c_str();
                    throw nb::value_error(
                        (where() + (places[j] == nowhere ? "the templates do not say which column " + name +
                                                               " is; add a line such as 'columns: w pos'"
                                                         : "the token has no column " + name + " (number " +
                                                               std::to_string(places[j]) + ", from 0)"))
                            .c_str());
                }
                if (cell.is_none()) {
                    out.cells[j].push(-1);
                    continue;
                }
                if (!PyUnicode_Check(cell.ptr()))
                    throw nb::type_error((where() + "column " + nb::str(nb::repr(names[j])).c_str() +
                                          " holds " + nb::str(nb::repr(cell.type())).c_str() +
                                          ", expected str")
                                             .c_str());
                out.cells[j].push(numbered(out.values[j], utf8(cell, "a cell is a str")));
            }
            ++t, ++tokens;
            if (tokens % (1 << 16) == 0 && PyErr_CheckSignals()) throw nb::python_error();
        }
        out.starts.push(tokens);
        ++s;
    }
    return out;
}

// Takes in the values and features of a saved table, which is not trusted.
void load(Index& index, const std::vector<std::vector<std::string>>& values,
          const Vector<const uint16_t>& order, const std::vector<Vector<const int32_t>>& rows) {
    if (index.size() || values.size() != index.domains.size() || rows.size() != index.templates.size())
        throw std::invalid_argument("the features do not fit the templates");
    for (size_t d = 0; d < values.size(); ++d) {
        Domain& domain = index.domains[d];
        for (const std::string& text : values[d]) {
            const int64_t before = domain.values.size();
            if (numbered(domain.values, text) != before) throw std::invalid_argument("a value comes twice");
        }
        domain.kept = domain.values.size();
    }
    std::vector<size_t> at(rows.size(), 0);
    const int32_t nothing = 0;
    for (size_t i = 0; i < order.shape(0); ++i) {
        const size_t k = order.data()[i];
        if (k >= rows.size()) throw std::invalid_argument("a feature has no template");
        const size_t n = index.templates[k].parts.size();
        if (at[k] + std::max(n, size_t(1)) > std::max(rows[k].shape(0), size_t(n ? 0 : 1)))
            throw std::invalid_argument("a template has too few features");
        const int32_t* const row = n ? rows[k].data() + at[k] : &nothing;
        at[k] += std::max(n, size_t(1));
        for (size_t j = 0; j < n; ++j)
            if (row[j] < 0 ||
                row[j] >= index.domains[size_t(index.templates[k].parts[j].domain)].values.size())
                throw std::invalid_argument("a feature has a value that does not exist");
        if (index.find(k, row) >= 0) throw std::invalid_argument("a feature comes twice");
        index.add(k, row);
    }
    for (size_t k = 0; k < rows.size(); ++k)
        if (index.templates[k].parts.size() && at[k] != rows[k].shape(0))
            throw std::invalid_argument("a template has too many features");
}

// What the functions of a column give, by domain: a str or None for each text.
using Results = nb::typed<nb::dict, int, nb::typed<nb::list, std::optional<nb::str>>>;
using Handed = std::tuple<Made<int64_t>, Made<int64_t>, Made<int32_t>>;

Handed handed(Tokens& tokens, Expanded& out) {
    Growing<int64_t> starts;
    starts.append(tokens.starts);
    return std::make_tuple(hand_over(starts), hand_over(out.indptr), hand_over(out.ids));
}

}  // namespace

void bind_templates(nb::module_& m) {
    nb::class_<Tokens>(m, "Tokens", "Sentences as numbers of the values of their cells.")
        .def_prop_ro("n", &Tokens::size, "Tokens.")
        .def_prop_ro("n_sentences", &Tokens::sentences);

    nb::class_<Index>(m, "TemplateIndex",
                      "Values, functions of values, and the features that templates make of them.")
        .def(nb::init<int32_t, const std::vector<int32_t>&, const std::vector<TemplateArgs>&>(),
             nb::arg("columns"), nb::arg("derived"), nb::arg("templates"))
        .def_prop_ro(
            "size", [](const Index& index) { return index.alone([&] { return index.size(); }); },
            "Features so far.")
        .def(
            "tokens",
            [](const Index& index, nb::handle sentences, const std::vector<int32_t>& places,
               const Strings& names) { return tokens_from(sentences, index, places, names); },
            nb::arg("sentences"), nb::arg("places"), nb::arg("names"),
            "Sentences of Python objects as numbers.")
        .def(
            "waiting",
            [](Index& index, int32_t column, Tokens& tokens) {
                index.check(tokens);
                if (index.domain(column).derived) throw std::invalid_argument("there is no such column");
                return index.alone([&] { return index.waiting(size_t(column), tokens); });
            },
            nb::arg("column"), nb::arg("tokens"), "A column's texts whose functions are not worked out yet.")
        .def(
            "derive",
            [](Index& index, int32_t column, const Strings& texts, const Results& results) {
                // keeps alive what the views refer to, whatever happens to the lists
                std::vector<nb::tuple> kept;
                auto views = [&](nb::handle list) {
                    TemplateIndex::Texts out;
                    for (nb::handle text : kept.emplace_back(nb::borrow<nb::list>(list)))
                        out.push_back(text.is_none() ? std::string_view()
                                                     : utf8(text, "a function gives a str or None"));
                    return out;
                };
                const TemplateIndex::Texts given = views(texts);
                std::vector<std::pair<size_t, TemplateIndex::Texts>> found;
                for (const auto& [domain, list] : results) {
                    const Domain& d = index.domain(nb::cast<int32_t>(domain));
                    if (!d.derived || d.column != column)
                        throw std::invalid_argument("it is not a function of the column");
                    found.emplace_back(nb::cast<size_t>(domain), views(list));
                    if (found.back().second.size() != given.size())
                        throw std::invalid_argument("one result for each text");
                }
                index.alone([&] { index.derive(size_t(column), given, found); });
            },
            nb::arg("column"), nb::arg("texts"), nb::arg("results"),
            "What the functions of a column give for these texts, by domain: a str, or None.")
        .def(
            "expand",
            [](Index& index, Tokens& tokens, bool grow, int64_t memory) -> std::optional<Handed> {
                index.check(tokens);
                Expanded out;
                if (!index.alone(
                        [&] { return index.expand(tokens, grow, out) && (index.forget(memory), true); }))
                    return std::nullopt;
                return handed(tokens, out);
            },
            nb::arg("tokens"), nb::arg("grow"), nb::arg("memory"),
            "(starts, indptr, ids) of the features of all tokens; None while functions wait to be "
            "worked out. Values that no feature has are forgotten when they are more than `memory`.")
        .def(
            "expand_hashed",
            [](Index& index, Tokens& tokens, int bits, uint64_t seed,
               int64_t memory) -> std::optional<Handed> {
                if (bits < 1 || bits > 30) throw std::invalid_argument("hash_bits must be from 1 to 30");
                index.check(tokens);
                Expanded out;
                if (!index.alone([&] {
                        return index.expand_hashed(tokens, bits, seed, out) && (index.forget(memory), true);
                    }))
                    return std::nullopt;
                return handed(tokens, out);
            },
            nb::arg("tokens"), nb::arg("hash_bits"), nb::arg("seed"), nb::arg("memory"),
            "The same with names hashed.")
        .def(
            "names",
            [](const Index& index, const Order& features) {
                return index.alone([&] {
                    std::vector<std::string> out;
                    for (size_t i = 0; i < features.shape(0); ++i) {
                        const int64_t f = features.data()[i];
                        if (f < 0 || f >= index.size())
                            throw std::out_of_range("there is no feature " + std::to_string(f));
                        out.push_back(index.name(f));
                    }
                    return out;
                });
            },
            nb::arg("features"), "What features are called.")
        .def(
            "values",
            [](const Index& index, int32_t domain) {
                const Domain& d = index.domain(domain);
                return index.alone([&] {
                    std::vector<std::string> out;
                    for (int64_t i = 0; i < d.kept; ++i) out.emplace_back(d.values.list[i]);
                    return out;
                });
            },
            nb::arg("domain"), "The values that features may have, in order.")
        .def(
            "met",
            [](const Index& index, int32_t domain) {
                const Domain& d = index.domain(domain);
                return index.alone([&] { return d.values.size(); });
            },
            nb::arg("domain"), "How many values are known, those included that no feature has.")
        .def(
            "state",
            [](const Index& index) {
                Growing<uint16_t> order;
                std::vector<Growing<int32_t>> rows(index.templates.size());
                index.alone([&] {
                    order.append(index.order());
                    for (size_t k = 0; k < rows.size(); ++k) rows[k].append(index.templates[k].rows);
                });
                std::vector<Made<int32_t>> out;
                for (Growing<int32_t>& table : rows) out.push_back(hand_over(table));
                return std::make_tuple(hand_over(order), std::move(out));
            },
            "(the template of each feature, the values of each template's features).")
        .def(
            "load",
            [](Index& index, const std::vector<std::vector<std::string>>& values,
               const Vector<const uint16_t>& order, const std::vector<Vector<const int32_t>>& rows) {
                index.alone([&] { load(index, values, order, rows); });
            },
            nb::arg("values"), nb::arg("order"), nb::arg("rows"),
            "Take in the values and features of a saved table.");

    m.def(
        "whole_sentences",
        [](const Vector<const uint8_t>& text) {
            return whole_sentences(reinterpret_cast<const char*>(text.data()), text.shape(0));
        },
        nb::arg("text"), "Where the last whole sentence of the text ends.");

    auto lines = nb::class_<ColumnLines>(m, "ColumnLines", "A parser of sentences whose lines are cells.");
    lines
        .def(
            "__init__",
            [](ColumnLines* self, const std::string& kind, int32_t width, std::vector<int32_t> columns,
               int32_t label, std::string expected) {
                new (self)
                    ColumnLines(format_of(kind, width, std::move(columns), label, std::move(expected)));
            },
            nb::arg("kind"), nb::arg("width"), nb::arg("columns"), nb::arg("label"), nb::arg("expected"))
        .def(
            "parse",
            [](ColumnLines& self, const Vector<const uint8_t>& text) -> std::optional<Tokens> {
                const char* const p = reinterpret_cast<const char*>(text.data());
                Tokens out(self.format.columns.size());
                const Writing change(self.in_use);
                nb::gil_scoped_release nogil;
                if (!self.parse(p, p + text.shape(0), out)) return std::nullopt;
                return out;
            },
            nb::arg("text"), "The tokens of whole sentences; None leaves the reason in `problem`.");
    bind_sentence_lines(lines);

    m.def(
        "tagged",
        [](const nb::bytes& text, const Order& spots, const Labels& tags,
           const std::vector<std::string>& names, const std::string& joint, bool behind) {
            const size_t n = tags.shape(0), size = text.size();
            bool sound = spots.shape(0) == 3 * n;
            for (size_t i = 0, at = 0; sound && i < n; ++i) {
                const int64_t* const s = spots.data() + 3 * i;
                sound = s[0] >= int64_t(at) && s[0] <= s[1] && s[1] <= s[2] && s[2] <= int64_t(size) &&
                        tags.data()[i] >= 0 && size_t(tags.data()[i]) < names.size();
                at = sound ? size_t(s[2]) : 0;
            }
            if (!sound) throw std::invalid_argument("text, spots and tags do not fit each other");
            const std::string out =
                tagged({text.c_str(), size}, spots.data(), tags.data(), n, names, joint, behind);
            return nb::bytes(out.data(), out.size());
        },
        nb::arg("text"), nb::arg("spots"), nb::arg("tags"), nb::arg("names"), nb::arg("joint"),
        nb::arg("behind"),
        "The text with tags in place of labels; after a joint where there are none, or after each line.");
}
