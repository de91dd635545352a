"""Templates: the language, the native expansion beside its plain twin, and features as data."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.data import state as data_state
from novikoff.data.sources.features import NamedFeatures
from novikoff.reference import templates as twin
from novikoff.tagging import features as expansion
from novikoff.tagging.features import TemplateFeatures
from novikoff.tagging.packing import pack_ints, pack_texts, unpack_ints, unpack_texts
from novikoff.tagging.sequences import Sequences
from novikoff.tagging.templates import Templates

COLUMNS = ["w", "pos"]
# few letters, so that values meet again; bars and equals signs, which names have too; letters beyond ASCII
words = st.text("aAbB1|=-é", min_size=1, max_size=4) | st.sampled_from(
    ["_B-1", "ﬁ", "ǅ", "Straße", "日本", "x y"]
)
sentences = st.lists(
    st.lists(st.tuples(words, st.sampled_from(["N", "V", "a|b", "b"])), max_size=6), max_size=5
)

cells = st.builds(lambda c, o: f"{c}[{o}]", st.sampled_from([*COLUMNS, "0", "1"]), st.integers(-3, 3))
calls = ["lower({})", "prefix({},2)", "suffix({},1)", "suffix({},3)", "length({})", "shape({})", "brief({})"]
calls += [
    "case({})",
    "digits({})",
    'has({},"[0-9]")',
    'find({},"a(.)")',
    'find({},"A+")',
    'sub({},"[ab]","\\,")',
]
parts = cells | st.builds(lambda f, c: f.format(c), st.sampled_from(calls), cells)
parts |= st.builds(
    lambda f, g, c: f.format(g.format(c)), st.sampled_from(calls), st.sampled_from(calls), cells
)
parts |= parts.map("pad({})".format)
lines = st.lists(parts, min_size=1, max_size=6) | st.sampled_from([["__BOS__"], ["__EOS__"], ["bias"]])
languages = st.lists(lines, min_size=1, max_size=5, unique_by="|".join)


def templates_of(lines):
    written = ["|".join(line) if line != ["bias"] else '"bias"' for line in lines]
    return Templates(written, columns=COLUMNS)


def listed(sequences, names=None):
    """Feature numbers, or names, of every token of every sentence."""
    ids = sequences.ids.tolist() if names is None else [names[i] for i in sequences.ids.tolist()]
    tokens = [ids[a:b] for a, b in zip(sequences.indptr[:-1], sequences.indptr[1:], strict=True)]
    return [tokens[a:b] for a, b in zip(sequences.starts[:-1], sequences.starts[1:], strict=True)]


def names_of(features):
    return features.names(range(features.n_columns))


@given(languages, sentences)
def test_expansion_is_that_of_the_twin(lines, X):
    """Numbers in order of first appearance, and names, for any templates; also one sentence at a time."""
    attributes = [twin.attributes(lines, sentence, COLUMNS) for sentence in X]
    numbers, names = twin.numbered(attributes)
    features = TemplateFeatures(templates_of(lines))
    assert listed(features.expand(X)) == numbers
    assert names_of(features) == names
    assert listed(features.expand(X)) == numbers and features.n_columns == len(names)
    by_one = TemplateFeatures(templates_of(lines))
    assert [listed(by_one.expand([sentence]))[0] for sentence in X] == numbers
    assert names_of(by_one) == names


@given(languages, sentences)
def test_features_from_templates_and_from_lists_are_the_same(lines, X):
    """The arrays that a tagger learns from are equal, exact and hashed: so models coincide bit for bit."""
    attributes = [twin.attributes(lines, sentence, COLUMNS) for sentence in X]
    for hash_bits, seed in ((None, 0), (5, 0), (5, 7)):
        features = TemplateFeatures(templates_of(lines), hash_bits=hash_bits, seed=seed)
        named = NamedFeatures(hash_bits=hash_bits, seed=seed)
        a = features.expand(X)
        b, names = Sequences.from_lists(attributes)
        b = b.renumbered(named.place(names))
        for one, other in ((a.starts, b.starts), (a.indptr, b.indptr), (a.ids, b.ids)):
            assert one.dtype == other.dtype and one.tolist() == other.tolist()
        assert features.n_columns == named.n_columns and b.values is None


@given(languages, sentences, sentences, st.randoms(use_true_random=False))
def test_what_is_kept_is_found_again(lines, X, Z, random):
    """Fixed features leave out what they do not know; so do some of them, and what a file gives back."""
    features = TemplateFeatures(templates_of(lines))
    features.expand(X)
    names = names_of(features)
    used = np.array([random.random() < 0.7 for _ in names], dtype=bool)
    some = features.some(used)
    kept = [name for name, u in zip(names, used, strict=True) if u]
    assert names_of(some) == kept
    facts, arrays = data_state.features_state(some)
    loaded = data_state.features_from_state(facts, arrays, len(kept))
    attributes = [twin.attributes(lines, sentence, COLUMNS) for sentence in Z]
    expected = [[[a for a in token if a in set(kept)] for token in sentence] for sentence in attributes]
    for frozen in (some, loaded, pickle.loads(pickle.dumps(some))):
        assert frozen.fixed
        assert listed(frozen.expand(Z), kept) == expected
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("novikoff.tagging.features.FORGET", 0)  # as after very many sentences
            assert [listed(frozen.expand(Z), kept) for _ in range(2)] == [expected] * 2
        assert names_of(frozen) == kept
    loaded.fixed = False  # to go on with
    numbers = listed(loaded.expand(Z))
    index = {name: i for i, name in enumerate(kept)}
    assert numbers == [[[index.setdefault(a, len(index)) for a in t] for t in s] for s in attributes]
    assert names_of(loaded) == list(index)


def tutorial(sentence):
    """Chunking attributes as a Python function in the style of CRFsuite's tutorial."""
    w, pos = [token[0] for token in sentence], [token[1] for token in sentence]
    single = range(-2, 3)
    wanted = [[("w", o)] for o in single] + [[("w", -1), ("w", 0)], [("w", 0), ("w", 1)]]
    wanted += [[("pos", o)] for o in single]
    wanted += [[("pos", o), ("pos", o + 1)] for o in range(-2, 2)]
    wanted += [[("pos", o), ("pos", o + 1), ("pos", o + 2)] for o in range(-2, 1)]
    out = []
    for t in range(len(sentence)):
        out.append([])
        for template in wanted:
            if all(0 <= t + o < len(sentence) for _, o in template):
                name = "|".join(f"{column}[{o}]" for column, o in template)
                values = "|".join({"w": w, "pos": pos}[column][t + o] for column, o in template)
                out[t].append(f"{name}={values}")
        if t == 0:
            out[t].append("__BOS__")
        if t == len(sentence) - 1:
            out[t].append("__EOS__")
    return out


@given(sentences)
def test_the_nineteen_templates_of_chunking(X):
    """`crfsuite-chunking` makes the attributes of CRFsuite's tutorial, in its order."""
    features = TemplateFeatures(Templates.named("crfsuite-chunking"))
    assert listed(features.expand(X), names_of(features)) == [tutorial(sentence) for sentence in X]
    assert sum(bool(t.parts) for t in features.templates) == 19


@pytest.mark.parametrize("name", ["chunking", "crfsuite-chunking", "pos", "ner"])
def test_ready_made_templates(name):
    templates = Templates.named(name)
    assert Templates.read(name) == templates == Templates(templates.text)
    sentence = [
        ("Mr.", "NNP"),
        ("Smith-Jones", "NNP"),
        ("left", "VBD"),
        ("in", "IN"),
        ("1984", "CD"),
        (".", "."),
    ]
    lines = [[p.text for p in t.parts] or [t.name] for t in templates]
    features = TemplateFeatures(templates)
    assert features.attributes(sentence) == twin.attributes(lines, sentence, templates.columns)


# ---- the language ------------------------------------------------------------------------------------
def test_ranges_and_names():
    templates = Templates("columns: w\n# a comment\n\n w[ -1 .. 1 ] | w[0] \nsuffix(w[0], 2..3)\n")
    names = ["w[-1]|w[0]", "w[0]|w[0]", "w[1]|w[0]", "suffix(w[0],2)", "suffix(w[0],3)"]
    assert [t.name for t in templates] == names
    named = Templates(["columns: w", "end=suffix(w[0],2)", 'start="BEGIN"'])
    assert TemplateFeatures(named).attributes(["word"]) == [["end=rd", "start"]]
    assert Templates(named.text) == named and hash(Templates(named.text)) == hash(named)
    assert repr(Templates(["w[0]"])) == "Templates(['w[0]'])"


@given(languages)
def test_templates_are_their_text(lines):
    templates = templates_of(lines)
    again = Templates(templates.text)
    assert again == templates and again.templates == templates.templates and again.columns == tuple(COLUMNS)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("w", r"expected '\[' and an offset after the column 'w', found the end"),
        ("w[0", r"expected '\]', found the end"),
        ("w[x]", "expected an offset, such as -1 or -2..2, found 'x'"),
        ("w[0]|", "expected a column, such as w.0., or a function, found the end"),
        ("w[0] w[1]", "expected '|' or the end, found 'w'"),
        ("w[101]", "101 is more than 100"),
        ("w[2..1]", "the range 2..1 is not increasing"),
        ("stem(w[0])", "there is no function 'stem'; there are lower, prefix"),
        ("prefix(w[0])", "prefix takes 1 argument"),
        ("prefix(w[0],0)", "prefix takes a whole number from 1, not 0"),
        ('prefix(w[0],"a")', "prefix takes a whole number from 1, not 'a'"),
        ("has(w[0],3)", 'has takes a pattern in quotes, such as "-", not 3'),
        ('has(w[0],"(")', "is not a regular expression"),
        ("lower(pad(w[0]))", "pad must be the outermost function"),
        ("pad(w[0],1)", "pad takes only a part"),
        ("-1[0]", "a column's number is 0 or more, not -1"),
        ("w[0]$", r"cannot read it from '\$' on"),
        ('""', "the fixed attribute has no text"),
        ("columns: w w", "two columns have the same name"),
        ("columns: 1", "'1' cannot be a column's name"),
    ],
)
def test_lines_that_are_no_templates(line, said):
    with pytest.raises(ValueError, match=f"template line 2, .*{said}"):
        Templates(["w[0]", line])


def test_templates_that_do_not_go_together(tmp_path):
    with pytest.raises(ValueError, match=r"two templates are called 'w\[0\]'"):
        Templates(["w[-1..0]", "w[0]"])
    with pytest.raises(ValueError, match="there is no template"):
        Templates(["# nothing"])
    with pytest.raises(ValueError, match="no templates called 'chunks'; there are chunking, "):
        Templates.named("chunks")
    with pytest.raises(FileNotFoundError, match=r"no ready-made templates of this name: chunking"):
        Templates.read(tmp_path / "none.txt")
    file = tmp_path / "own.txt"
    file.write_text("w[0]\nw[0\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"own\.txt: template line 2, 'w\[0'"):
        Templates.read(file)
    file.write_text("columns: w\nw[0]\n", encoding="utf-8")
    assert Templates.read(file).columns == ("w",)


# ---- tokens ------------------------------------------------------------------------------------------
def test_kinds_of_tokens():
    """A str where there is one column, sequences, dicts; None is a cell without a value."""
    one = Templates(["w[0]"])  # a single name needs no line of columns
    assert TemplateFeatures(one).attributes(["a", "b"]) == [["w[0]=a"], ["w[0]=b"]]
    assert TemplateFeatures(one).attributes([("a", "x")]) == [["w[0]=a"]]
    two = Templates(["columns: w pos", "w[0]|pos[0]", "1[0]"])
    for token in (("a", "N"), ["a", "N"], {"w": "a", "pos": "N", "1": "N"}):
        assert TemplateFeatures(two).attributes([token]) == [["w[0]|pos[0]=a|N", "1[0]=N"]]
    assert TemplateFeatures(two).attributes([("a", None)]) == [[]]
    assert TemplateFeatures(Templates(["a[0]", "b[0]"])).attributes([{"a": "x", "b": "y"}]) == [
        ["a[0]=x", "b[0]=y"]
    ]
    empty = TemplateFeatures(two).expand([[], [("a", "N")], []])
    assert empty.starts.tolist() == [0, 0, 1, 1] and empty.indptr.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("lines", "X", "error", "said"),
    [
        (["columns: w pos", "pos[0]"], [["a"]], ValueError, r"the token has no column 'pos' \(number 1"),
        (["columns: w b", "b[0]"], [[], [("a", "N"), ("b",)]], ValueError, "sentence 1, token 1: the token"),
        (["a[0]", "b[0]"], [[("x", "y")]], ValueError, "do not say which column 'a' is; add a line"),
        (["a[0]"], [[{"b": "x"}]], ValueError, "sentence 0, token 0: the token has no column 'a'"),
        (["a[0]"], [[("x",), (3,)]], TypeError, "token 1: column 'a' holds <class 'int'>, expected str"),
        (["a[0]"], [[("x",), ("\ud800",)]], UnicodeEncodeError, "surrogates not allowed"),
        (["a[0]"], [3], TypeError, "not iterable"),
        (["a[0]"], [["x"], "to be"], TypeError, "sentence 1 is a str, expected a list of tokens"),
    ],
)  # fmt: skip
def test_tokens_that_are_none(lines, X, error, said):
    features = TemplateFeatures(Templates(lines))
    with pytest.raises(error, match=said):
        features.expand(X)
    assert features.n_columns == 0


# ---- as data -----------------------------------------------------------------------------------------
@given(st.lists(st.integers(0, 2**63 - 1)), st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_packing(numbers, texts):
    assert unpack_ints(pack_ints(np.array(numbers, dtype=np.int64))).tolist() == numbers
    assert unpack_texts(*pack_texts(texts)) == texts


def test_damaged_features_are_refused():
    """Whatever bytes of a file are wrong: a ValueError, or features as well-formed as any."""
    features = TemplateFeatures(
        Templates(["columns: w pos", "w[0]", "w[-1]|w[0]", "suffix(w[0],2)", "__BOS__"])
    )
    features.expand([[("in", "IN"), ("the", "DT"), ("end", "NN")]] * 2)
    facts, arrays = features.some(np.ones(features.n_columns, dtype=bool)).state()
    rng, refused = np.random.default_rng(0), 0
    for name, array in arrays.items():
        for _ in range(25):
            damaged = array.copy()
            if rng.random() < 0.3:
                damaged = damaged[: rng.integers(len(damaged))]
            elif len(damaged):
                damaged[rng.integers(len(damaged))] = rng.integers(256)
            try:
                found = TemplateFeatures.from_state(facts, {**arrays, name: damaged})
            except (ValueError, UnicodeDecodeError):
                refused += 1
            else:
                assert len(set(names_of(found))) == found.n_columns
    assert refused > 50
    for wrong in ({"n_values": [1]}, {"templates": "columns: w\nw[0]\n"}, {"templates": "w["}):
        with pytest.raises(ValueError):
            TemplateFeatures.from_state({**facts, **wrong}, arrays)


def test_hashed_features_have_no_names():
    features = TemplateFeatures(Templates(["w[0]"]), hash_bits=3)
    features.expand([["a", "b"]])
    assert features.n_columns == 8 and features.names([5]) == ["hash_5"]
    loaded = TemplateFeatures.from_state(*features.state())
    assert loaded.expand([["a", "c"]]).ids.tolist() == features.expand([["a", "c"]]).ids.tolist()
    with pytest.raises(ValueError, match="none can be left out"):
        features.some(np.ones(8, dtype=bool))


def test_unknown_values_are_let_go(monkeypatch):
    """A stream of new words takes no more and more memory."""
    monkeypatch.setattr(expansion, "FORGET", 5)
    grown = TemplateFeatures(Templates(["w[0]", "suffix(w[0],1)"]))
    grown.expand([["aa", "ba"]])
    some = grown.some(np.ones(grown.n_columns, dtype=bool))
    grown.fixed = True  # as after a fit
    names = ["w[0]=aa", "suffix(w[0],1)=a", "w[0]=ba"]
    for features in (grown, some):
        for i in range(50):
            found = listed(features.expand([[f"{i}a", "ba"]]), names)
            assert found == [[["suffix(w[0],1)=a"], ["w[0]=ba", "suffix(w[0],1)=a"]]]
            assert features._index.met(0) <= 2 + 6
        assert names_of(features) == names
        assert features.state()[0]["n_values"] == [2, 1]
