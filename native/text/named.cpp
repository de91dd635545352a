// Binds names of features, and the parsers of text that has them.
#include "text/named.h"

#include <algorithm>
#include <memory>

#include "tagging/attributes.h"
#include "tagging/bind_sentences.h"
#include "text/bind_lines.h"
#include "text/jsonl.h"
#include "text/python_text.h"
#include "text/vw.h"
#include "text/words.h"

namespace {

// Names of one block, in order: its own, or those of a parser until it changes them.
class Names {
    std::shared_ptr<const NameList> own;
    const NameList* list;
    const Lines* parser = nullptr;
    uint64_t changes = 0;  // of the parser when they were taken
    nb::object owner;      // of the parser

  public:
    explicit Names(NameList names) : own(std::make_shared<NameList>(std::move(names))), list(own.get()) {}
    Names(const NameList& names, const Lines& of, nb::object owner)
        : list(&names), parser(&of), changes(of.changes), owner(std::move(owner)) {}

    // The names, which do not change while this exists.
    class Held {
        std::optional<Reading> reading;

      public:
        const NameList& list;
        explicit Held(const Names& names) : list(*names.list) {
            if (!names.parser) return;
            reading.emplace(names.parser->in_use);
            if (names.parser->changes != names.changes)
                throw std::runtime_error(
                    "these are the names of a block that was valid until the next was asked for");
        }
    };

    explicit Names(nb::typed<nb::iterable, nb::str> strings) {
        auto made = std::make_shared<NameList>();
        for (nb::handle s : strings) {
            const std::string_view name = utf8(s, "a name is a str");
            made->push(name.data(), name.size(), Vocabulary::key(name));
        }
        own = made;
        list = own.get();
    }
};

// Where names lead: to a column each, or to one of 2^bits that they share.
//
// A call made while names are placed waits until they are: that takes no longer than one block.
class Columns {
    using Read = ReadingTurn<nb::gil_scoped_release>;
    using Change = WritingTurn<nb::gil_scoped_release>;
    std::variant<Vocabulary, HashedNames> places;
    InUse in_use{"the vocabulary"};

    const NameList& kept() const {
        return std::visit([](auto& p) -> const NameList& { return p.list; }, places);
    }
    Vocabulary* exact() { return std::get_if<Vocabulary>(&places); }
    HashedNames* hashed() { return std::get_if<HashedNames>(&places); }
    int64_t width() const {
        return std::visit([](auto& p) { return p.size(); }, places);
    }

    void copy_names(const Order& columns, NameList& out) {
        std::vector<std::pair<int64_t, int64_t>> by_column;  // and the name's number
        if (HashedNames* h = hashed()) {
            for (int64_t i = 0; i < h->list.size(); ++i) by_column.emplace_back(h->columns[size_t(i)], i);
            std::sort(by_column.begin(), by_column.end());
        }
        for (size_t k = 0; k < columns.shape(0); ++k) {
            const int64_t j = columns.data()[k];
            if (j < 0 || j >= width())
                throw nb::index_error(("there is no column " + std::to_string(j)).c_str());
            int64_t i = j;
            if (hashed()) {
                const auto found =
                    std::lower_bound(by_column.begin(), by_column.end(), std::make_pair(j, int64_t(0)));
                i = found == by_column.end() || found->first != j ? -1 : found->second;
            }
            const std::string made = i < 0 ? "hash_" + std::to_string(j) : std::string();
            const std::string_view name = i < 0 ? std::string_view(made) : kept()[i];
            out.push(name.data(), name.size(), 0);
        }
    }

    static constexpr size_t ahead = 12;

    static void find(HashedNames& p, const NameList& list, int64_t* out, bool grow) {
        const size_t n = size_t(list.size());
        for (size_t i = 0; i < n; ++i) out[i] = p.column(list[int64_t(i)]);
        for (size_t i = 0; grow && i < n; ++i) {
            if (i + ahead < n) p.prefetch(out[i + ahead]);
            p.put(list[int64_t(i)], out[i], list.keys[i]);
        }
    }
    static void find(Vocabulary& p, const NameList& list, int64_t* out, bool grow) {
        const size_t n = size_t(list.size());
        for (size_t i = 0; i < n; ++i) {
            if (i + ahead < n) p.prefetch(list.keys[i + ahead]);
            const std::string_view name = list[int64_t(i)];
            const uint64_t key = list.keys[i];
            out[i] = grow ? p.number(key, name.data(), name.size()) : p.find(key, name.data(), name.size());
        }
    }

  public:
    Columns(std::optional<int> bits, uint64_t seed) {
        if (!bits) return;
        if (*bits < 1 || *bits > 30) throw std::invalid_argument("hash_bits must be from 1 to 30");
        places.emplace<HashedNames>(*bits, seed);
    }

    int64_t size() const {
        const Read read(in_use);
        return width();
    }

    size_t longest_probe() { return exact() ? exact()->longest_probe() : 0; }

    Made<int64_t> place(const Names& names, bool grow) {
        const Names::Held held(names);
        const NameList& list = held.list;
        Growing<int64_t> columns;
        {
            const Change change(in_use);
            nb::gil_scoped_release nogil;
            int64_t* const out = columns.extend(size_t(list.size()));
            std::visit([&](auto& p) { find(p, list, out, grow); }, places);
        }
        return hand_over(columns);
    }

    Strings names(const Order& columns) {
        NameList asked;  // a copy: making Python objects may run foreign code
        {
            const Read read(in_use);
            copy_names(columns, asked);
        }
        return shown(asked);
    }

    auto state() {
        Growing<uint8_t> bytes;
        Growing<int64_t> offsets, columns;
        {
            const Read read(in_use);
            const NameList& list = kept();
            bytes.append(list.bytes.data(), list.bytes.size());
            offsets.push(0);
            offsets.append(list.ends);
            if (HashedNames* h = hashed()) columns.append(h->columns);
        }
        return std::make_tuple(hand_over(bytes), hand_over(offsets),
                               hashed() ? std::optional(hand_over(columns)) : std::nullopt);
    }

    void load(const Bytes& bytes, const Order& offsets, const std::optional<Order>& columns) {
        const size_t n = offsets.shape(0) - 1;
        const int64_t* const at = offsets.data();
        bool sound = offsets.shape(0) > 0 && at[0] == 0 && at[n] == int64_t(bytes.shape(0));
        for (size_t i = 0; sound && i < n; ++i) sound = at[i] <= at[i + 1];
        if (!sound)
            throw std::invalid_argument("the offsets of names must increase from 0 to the number of bytes");
        const Change change(in_use);
        if (width() && exact()) throw std::invalid_argument("there are names already");
        if (bool(columns) != bool(hashed()) || (columns && columns->shape(0) != n))
            throw std::invalid_argument("hashed names, and only they, have a column each");
        const char* const text = reinterpret_cast<const char*>(bytes.data());
        for (size_t i = 0; i < n; ++i) {
            const std::string_view name(text + at[i], size_t(at[i + 1] - at[i]));
            const int64_t before = kept().size();
            int64_t j;
            if (HashedNames* h = hashed()) h->put(name, j = h->column(name), Vocabulary::key(name));
            else j = exact()->number(name);
            if (kept().size() == before)
                throw std::invalid_argument("two names share column " + std::to_string(j));
            if (columns && columns->data()[i] != j)
                throw std::invalid_argument(
                    "a name does not hash to its column: another seed or number of bits");
        }
    }
};

Names names_of(NamedLines& rows, const HandOver&) { return Names(rows.names.take()); }
Names names_of(NamedLines& rows, const Show& show) {
    return Names(rows.names.list, rows, nb::borrow(show.owner));
}

template <class Parser>
void bind_named_lines(nb::class_<Parser>& c) {
    bind_lines(c, [](Parser& rows, const auto& give) {
        auto weights = rows.weights.size() ? std::optional(give(rows.weights)) : std::nullopt;
        return std::make_tuple(label_array(rows, give), std::move(weights), give(rows.values),
                               give(rows.indices), give(rows.pointers), names_of(rows, give));
    });
}

// Checked once, so that no index can lead outside.
void check_rows(size_t stored, const Vector<const int32_t>& indices, const Order& indptr, size_t names) {
    const int64_t* const at = indptr.data();
    const size_t rows = indptr.shape(0);
    bool sound = rows > 0 && at[0] == 0 && at[rows - 1] == int64_t(stored) && indices.shape(0) == stored;
    for (size_t i = 0; sound && i + 1 < rows; ++i) sound = at[i] <= at[i + 1];
    if (!sound) throw std::invalid_argument("indptr must increase from 0 to the stored values");
    uint32_t largest = 0;  // a negative one becomes larger than any
    for (size_t k = 0; k < stored; ++k) largest = std::max(largest, uint32_t(indices.data()[k]));
    if (stored && largest >= names) throw std::invalid_argument("an index is not that of a name");
}

using Values = nb::typed<nb::object, Made<double>>;  // those given, where they stay as they are
template <class J>
using Csr = std::tuple<Values, Made<J>, Made<J>>;
using AnyCsr = std::variant<Csr<int32_t>, Csr<int64_t>>;

template <class J>
Csr<J> recolumned(const Values& data, const Floats& values, const Vector<const int32_t>& indices,
                  const Order& indptr, const Recolumn& by, const Order& columns) {
    Growing<double> x;
    Growing<J> j, p;
    {
        nb::gil_scoped_release nogil;
        const size_t stored = values.shape(0), rows = indptr.shape(0) - 1;
        if (by.plain) {
            J* const out = j.extend(stored);
            for (size_t k = 0; k < stored; ++k) out[k] = J(columns.data()[indices.data()[k]]);
            p.append(indptr.data(), rows + 1);
        } else {
            const int64_t n = by.apply(values.data(), indices.data(), indptr.data(), int64_t(rows),
                                       x.extend(stored), j.extend(stored), p.extend(rows + 1));
            if (n < 0)
                throw std::invalid_argument(
                    "row " + std::to_string(-1 - n) +
                    ": values that share a column add up to more than float64 can hold");
            x.shrink(size_t(n));
            j.shrink(size_t(n));
        }
    }
    return {by.plain ? data : nb::borrow<Values>(nb::cast(hand_over(x))), hand_over(j), hand_over(p)};
}

// Texts as Arrow has them: offsets into the bytes, a bit for each that is not null.
template <class I>
auto count_words(WordRows& rows, const I* offsets, size_t n_offsets, const Bytes& data, size_t begin,
                 size_t n, const std::optional<Bytes>& valid) {
    if (n_offsets == 0 || begin >= n_offsets || n > n_offsets - 1 - begin ||
        (valid && valid->shape(0) * 8 < begin + n))
        throw std::invalid_argument("the column has fewer texts than it should");
    const I* const at = offsets + begin;
    bool sound = at[0] >= 0 && uint64_t(at[n]) <= data.shape(0);
    for (size_t i = 0; sound && i < n; ++i) sound = at[i] <= at[i + 1];
    if (!sound) throw std::invalid_argument("the offsets of texts must increase and stay within the bytes");
    {
        nb::gil_scoped_release nogil;
        const char* const text = reinterpret_cast<const char*>(data.data());
        for (size_t i = 0; i < n; ++i) {
            const size_t bit = begin + i;
            const bool is_null = valid && !(valid->data()[bit / 8] >> bit % 8 & 1);
            rows.add_row(is_null ? std::string_view()
                                 : std::string_view(text + at[i], size_t(at[i + 1] - at[i])));
        }
    }
    return std::make_tuple(hand_over(rows.values), hand_over(rows.indices), hand_over(rows.pointers),
                           Names(rows.names.take()));
}

// What counts as a word, and how its feature is called.
struct Words {
    std::string prefix;
    int ngrams;
    bool lowercase;

    auto rows(const nb::ndarray<nb::ro, nb::device::cpu, nb::ndim<1>, nb::c_contig>& offsets,
              const Bytes& data, size_t start, size_t n, const std::optional<Bytes>& valid) const {
        WordRows out(prefix, ngrams, lowercase);
        const size_t m = offsets.shape(0);
        if (offsets.dtype() == nb::dtype<int32_t>())
            return count_words(out, static_cast<const int32_t*>(offsets.data()), m, data, start, n, valid);
        if (offsets.dtype() == nb::dtype<int64_t>())
            return count_words(out, static_cast<const int64_t*>(offsets.data()), m, data, start, n, valid);
        throw std::invalid_argument("offsets are int32 or int64");
    }
};

}  // namespace

void bind_named(nb::module_& m) {
    nb::class_<Names>(m, "Names", "Names of features, packed, with their hashes.")
        .def(nb::init<nb::typed<nb::iterable, nb::str>>(), nb::arg("strings"))
        .def("__len__", [](const Names& names) { return Names::Held(names).list.size(); })
        .def("strings", [](const Names& names) {
            const Names::Held held(names);
            return shown(held.list);
        });

    nb::class_<Columns>(m, "Vocabulary",
                        "The columns of names: one each, in order of appearance, or by hash.")
        .def(nb::init<std::optional<int>, uint64_t>(), nb::arg("hash_bits").none() = nb::none(),
             nb::arg("seed") = 0)
        .def_prop_ro("size", &Columns::size, "Columns so far.")
        .def_prop_ro(
            "longest_probe", &Columns::longest_probe,
            "The most places of the table that are looked at for one of the names; 0 when they are hashed.")
        .def("place", &Columns::place, nb::arg("names"), nb::arg("grow"),
             "The column of each name; without `grow` -1 for an unknown one.")
        .def("names", &Columns::names, nb::arg("columns"), "What columns are called.")
        .def("state", &Columns::state, "(bytes, offsets, columns or None) of the names kept.")
        .def("load", &Columns::load, nb::arg("bytes"), nb::arg("offsets"), nb::arg("columns").none(),
             "Take in what `state` of another gave.");

    m.def(
        "siphash13",
        [](nb::bytes text, uint64_t k0, uint64_t k1) { return siphash13(text.c_str(), text.size(), k0, k1); },
        nb::arg("text"), nb::arg("k0"), nb::arg("k1"), "The hash under which tables keep long names.");

    m.def(
        "intern",
        [](nb::handle x) {
            Attributes a(x.ptr());
            auto values = a.units ? std::nullopt : std::optional(hand_over(a.values));
            return std::make_tuple(hand_over(a.starts), hand_over(a.indptr), hand_over(a.ids),
                                   std::move(values), Names(a.names.take()));
        },
        nb::arg("x"),
        "Sentences of feature lists or dicts as numbers of names: (starts, indptr, ids, values or None, names).");

    m.def(
        "recolumn",
        [](const Values& data, const Vector<const int32_t>& indices, const Order& indptr,
           const Order& columns) -> AnyCsr {
            const Floats values = nb::cast<Floats>(data);
            check_rows(values.shape(0), indices, indptr, columns.shape(0));
            const Recolumn by(columns.data(), int64_t(columns.shape(0)));
            constexpr int64_t most = std::numeric_limits<int32_t>::max();
            const bool narrow = by.largest <= most && int64_t(values.shape(0)) <= most;
            if (narrow) return recolumned<int32_t>(data, values, indices, indptr, by, columns);
            return recolumned<int64_t>(data, values, indices, indptr, by, columns);
        },
        nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("columns"),
        "CSR rows over a block's names as rows over columns: (data, indices, indptr). -1 drops a name, and values "
        "that meet in a column of a row are added in order.");

    auto vw = nb::class_<VwRows>(m, "VwRows",
                                 "Rows read from Vowpal Wabbit text: (labels or None, weights or None, data, "
                                 "indices, indptr, names).");
    vw.def(nb::init<const LineOptions&>(), nb::arg("options") = LineOptions());
    bind_named_lines(vw);

    auto json = nb::class_<JsonRows>(m, "JsonRows", "Rows read from JSON lines, as those of VwRows.");
    json.def(
        "__init__",
        [](JsonRows* self, const LineOptions& options, std::string label_key,
           std::optional<std::string> weight_key, std::string features_key,
           nb::typed<nb::iterable, nb::str> ignore) {
            JsonKeys keys{std::move(label_key), std::move(weight_key), std::move(features_key), {}};
            for (nb::handle key : ignore) keys.ignored.emplace(utf8(key, "a key is a str"));
            new (self) JsonRows(std::move(keys), options);
        },
        nb::arg("options") = LineOptions(), nb::arg("label_key") = "label",
        nb::arg("weight_key").none() = nb::none(), nb::arg("features_key") = "features",
        nb::arg("ignore") = nb::make_tuple());
    bind_named_lines(json);

    nb::class_<Words>(m, "Words", "Counts of the words in texts, and of runs of them.")
        .def(
            "__init__",
            [](Words* self, std::string prefix, int ngrams, bool lowercase) {
                new (self) Words{std::move(prefix), ngrams, lowercase};
            },
            nb::arg("prefix"), nb::arg("ngrams") = 1, nb::arg("lowercase") = true)
        .def("rows", &Words::rows, nb::arg("offsets"), nb::arg("data"), nb::arg("start"), nb::arg("n"),
             nb::arg("valid").none() = nb::none(),
             "Of texts `start` to `start + n` of an Arrow column: (data, indices, indptr, names).");

    auto attributes =
        nb::class_<AttributeLines>(m, "AttributeLines", "A parser of sentences in CRFsuite's text.");
    attributes.def(nb::init<>())
        .def(
            "parse",
            [](AttributeLines& self, const Bytes& text) {
                const char* const p = reinterpret_cast<const char*>(text.data());
                bool sound;
                const Writing change(self.in_use);
                {
                    nb::gil_scoped_release nogil;
                    sound = self.parse(p, p + text.shape(0));
                }
                auto read = [&] {
                    auto values = self.values.size() ? std::optional(hand_over(self.values)) : std::nullopt;
                    return std::make_tuple(hand_over(self.starts), hand_over(self.indptr),
                                           hand_over(self.ids), std::move(values), Names(self.names.take()));
                };
                return sound ? std::optional(read()) : std::nullopt;
            },
            nb::arg("text"),
            "(starts, indptr, ids, values or None, names); None leaves the reason in `problem`.");
    bind_sentence_lines(attributes);
}
