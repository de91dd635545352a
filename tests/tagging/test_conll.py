"""Files of sentences: every format gives the same numbers, and what is wrong is named with file and line."""

import bz2
import gzip
import io
import lzma
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import SequenceTagger, _core
from novikoff.data.sources.bytestream import ByteStream
from novikoff.data.sources.features import NamedFeatures
from novikoff.reference import templates as twin
from novikoff.tagging import columns
from novikoff.tagging.conll import look, open_sentences, read_sentences
from novikoff.tagging.features import TemplateFeatures
from novikoff.tagging.sequences import MOST_LABELS
from novikoff.tagging.templates import Templates
from support.places import at_hand

TEMPLATES = Templates(
    ["columns: w pos", "w[-1..1]", "w[-1]|w[0]", "pos[0]|pos[1]", "suffix(w[0],2)", "__BOS__"]
)
LINES = [
    ["w[-1]"],
    ["w[0]"],
    ["w[1]"],
    ["w[-1]", "w[0]"],
    ["pos[0]", "pos[1]"],
    ["suffix(w[0],2)"],
    ["__BOS__"],
]

cell = st.text("ab:\\|=#é_-1", min_size=1, max_size=3)
tagged_sentences = st.lists(
    st.lists(st.tuples(cell, cell, st.sampled_from(["B-NP", "I-NP", "O", "a:b\\"])), min_size=1, max_size=5),
    min_size=1,
    max_size=6,
)


def as_columns(X, between=" "):
    return "".join(
        "".join(between.join(token) + "\n" for token in sentence) + "\n" for sentence in X
    ).encode()


def as_crfsuite(X):
    def escaped(text):
        return text.replace("\\", "\\\\").replace(":", "\\:")

    out = []
    for sentence in X:
        attributes = twin.attributes(LINES, [token[:2] for token in sentence], ["w", "pos"])
        for token, names in zip(sentence, attributes, strict=True):
            out.append("\t".join([escaped(token[2]), *map(escaped, names)]) + "\n")
        out.append("\n")
    return "".join(out).encode()


def arrays(read):
    sequences, labels, classes = read
    return [a.tolist() for a in (sequences.starts, sequences.indptr, sequences.ids, labels, classes)]


def expected(X):
    numbers, names = twin.numbered([twin.attributes(LINES, [t[:2] for t in s], ["w", "pos"]) for s in X])
    tokens = [token for sentence in numbers for token in sentence]
    classes = sorted({token[2] for sentence in X for token in sentence})
    return [
        np.cumsum([0, *map(len, X)]).tolist(),
        np.cumsum([0, *map(len, tokens)]).tolist(),
        [i for token in tokens for i in token],
        [classes.index(token[2]) for sentence in X for token in sentence],
        classes,
    ], names


@given(tagged_sentences, st.integers(1, 40))
def test_all_formats_give_the_same(X, block_size):
    """Sequences, labels and names are those of the twin, from any format and any size of blocks."""
    right, names = expected(X)
    made = [
        as_columns(X),
        as_columns(X, "\t"),
        as_columns(X, "\t ").replace(b"\t ", b" \t "),
        as_columns(X)[:-2],
    ]
    made += [as_columns(X).replace(b"\n", b"\r\n"), b"\n \n" + as_columns(X).replace(b"\n\n", b"\n\t\n\n \n")]
    made[2] = as_columns(X, "   ")
    for text in made:
        features = TemplateFeatures(TEMPLATES)
        options = {"format": "conll", "block_size": block_size}
        assert arrays(read_sentences(io.BytesIO(text), features, **options)) == right
        assert features.names(range(features.n_columns)) == names
    named = NamedFeatures()
    read = read_sentences(io.BytesIO(as_crfsuite(X)), named, format="crfsuite", block_size=block_size)
    assert arrays(read) == right and named.names(range(named.n_columns)) == names


@given(tagged_sentences, st.integers(1, 40))
def test_tags_go_where_labels_are(X, block_size):
    """Replacing each label by itself gives the file back; otherwise nothing but the labels changes."""
    for format, text in (
        ("conll", as_columns(X)),
        ("conll", as_columns(X, "\t")),
        ("crfsuite", as_crfsuite(X)),
    ):
        templates = TEMPLATES if format == "conll" else None
        features = TemplateFeatures(TEMPLATES) if format == "conll" else NamedFeatures()
        source = open_sentences(io.BytesIO(text), templates, format=format, block_size=block_size)
        blocks = [(block, source.label_values) for block in source.blocks(features)]
        assert b"".join(block.tagged(block.labels, names) for block, names in blocks) == text
        other = b"".join(block.tagged(np.zeros_like(block.labels), ["X:"]) for block, _ in blocks)
        new = [[(*token[:2], "X:") for token in sentence] for sentence in X]
        if format == "conll":
            between = "\t" if b"\t" in text else " "
            assert other == as_columns(new, between)
            behind = b"".join(block.tagged(block.labels, names, behind=True) for block, names in blocks)
            assert behind == as_columns([[(*t, t[2]) for t in s] for s in X], between)
        else:
            assert [line.split(b"\t")[0] for line in other.splitlines() if line] == [b"X\\:"] * sum(
                map(len, X)
            )


SMALL = [[("In", "IN", "B-PP"), ("vain", "JJ", "B-NP")], [("Yes", "UH", "O")]]


def test_compressed_files_and_standard_input(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    text, right = as_columns(SMALL), expected(SMALL)[0]
    packed = {
        "a.txt": text,
        "a.txt.gz": gzip.compress(text),
        "a.txt.bz2": bz2.compress(text),
        "a.txt.xz": lzma.compress(text),
        "a.txt.zst": pa.Codec("zstd").compress(text, asbytes=True),
    }
    for name, content in packed.items():
        (tmp_path / name).write_bytes(content)
        source = open_sentences(tmp_path / name, TEMPLATES)
        assert arrays(source.read(TemplateFeatures(TEMPLATES))) == right
        assert arrays(source.read(TemplateFeatures(TEMPLATES))) == right  # again
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed["a.txt.gz"])))
    assert arrays(read_sentences("-", TemplateFeatures(TEMPLATES))) == right
    (tmp_path / "b.txt").write_bytes(
        text.rstrip()
    )  # no empty line, and still the next file's sentence is another
    (tmp_path / "c.txt").write_bytes(b"\xef\xbb\xbf" + text)  # some editors begin a file so
    assert arrays(read_sentences(tmp_path / "c.txt", TemplateFeatures(TEMPLATES))) == right
    both = read_sentences([tmp_path / "b.txt", tmp_path / "a.txt"], TemplateFeatures(TEMPLATES))
    assert arrays(both) == expected(SMALL + SMALL)[0]


CONLLU = """\
# sent_id = 1
# text = don't # go
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tdo\tdo\tAUX\tVB\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\tPolarity=Neg|X=Y\t3\tadvmod\t_\t_
2.1\tx\tx\tX\tX\t_\t_\t_\t_\t_
3\t_\t_\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No

# sent_id = 2
1\tNew York\tNew York\tPROPN\tNNP\t_\t0\troot\t_\t_

"""


def test_conllu():
    """Comments, ranges and empty nodes are no tokens; an underscore can be a form, but else is nothing."""
    templates = Templates(["w[0]", "word[0]|xpos[0]", "feats[0]", "lemma[0]", "form[-1]"])
    features = TemplateFeatures(templates)
    source = open_sentences(io.BytesIO(CONLLU.encode()), templates)
    assert source.format == "conllu" and source.layout == {"format": "conllu", "width": 10, "label": "upos"}
    sequences, labels, classes = source.read(features)
    names = features.names(sequences.ids.tolist())
    tokens = [names[a:b] for a, b in zip(sequences.indptr[:-1], sequences.indptr[1:], strict=True)]
    assert sequences.starts.tolist() == [0, 3, 4] and classes[labels].tolist() == [
        "AUX",
        "PART",
        "VERB",
        "PROPN",
    ]
    assert tokens[1:] == [
        ["w[0]=n't", "word[0]|xpos[0]=n't|RB", "feats[0]=Polarity=Neg|X=Y", "lemma[0]=not", "form[-1]=do"],
        ["w[0]=_", "word[0]|xpos[0]=_|VB", "lemma[0]=_", "form[-1]=n't"],
        ["w[0]=New York", "word[0]|xpos[0]=New York|NNP", "lemma[0]=New York"],
    ]
    (block,) = source.blocks(features)
    assert block.tagged(block.labels, source.label_values) == CONLLU.encode()
    changed = block.tagged(np.zeros(4, np.int32), ["Z"]).decode()
    assert changed == CONLLU.replace("AUX", "Z").replace("PART\t", "Z\t").replace("VERB", "Z").replace(
        "PROPN", "Z"
    )
    assert block.where(3) == f"{block.file}, line 10"


def test_conllu_labels():
    blank = "1\tdo\tdo\t_\tVB\t_\t0\troot\t_\t_\n"
    templates = Templates.named("pos")
    with pytest.raises(ValueError, match="line 1: the label, column upos, is '_', so the word has none"):
        read_sentences(io.BytesIO(blank.encode()), TemplateFeatures(templates))
    for labelled in (None, False):
        source = open_sentences(io.BytesIO(blank.encode()), templates, labelled=labelled)
        (block,) = source.blocks(TemplateFeatures(templates))
        assert not source.labelled and block.labels is None
        assert block.tagged(np.zeros(1, np.int32), ["VERB"]) == blank.replace("do\t_", "do\tVERB").encode()
    for label in ("feats", 6):
        found = read_sentences(io.BytesIO(blank.encode()), TemplateFeatures(templates), label=label)
        assert found[2].tolist() == ["_"]


def test_files_without_labels():
    """`labelled=None` finds out, by the columns that the templates name or by a model's file."""
    text = as_columns([[token[:2] for token in sentence] for sentence in SMALL])
    like = open_sentences(io.BytesIO(as_columns(SMALL)), TEMPLATES).layout
    assert like == {"format": "conll", "width": 3, "label": "last"}
    for hint in (None, like):
        source = open_sentences(io.BytesIO(text), TEMPLATES, labelled=None, like=hint)
        (block,) = source.blocks(TemplateFeatures(TEMPLATES))
        assert not source.labelled and block.sequences.ids.tolist() == expected(SMALL)[0][2]
        assert block.tagged(np.array([2, 0, 1], np.int32), ["B-NP", "O", "B-PP"]) == as_columns(SMALL)
        assert source.read(TemplateFeatures(TEMPLATES))[1] is None
        assert open_sentences(io.BytesIO(as_columns(SMALL)), TEMPLATES, labelled=None, like=hint).labelled
    with pytest.raises(ValueError, match=r"files with 3 columns, .*or 2 without the label, found 4"):
        wide = as_columns([[(*t, "x") for t in s] for s in SMALL])
        open_sentences(io.BytesIO(wide), TEMPLATES, labelled=None, like=like)


def test_where_the_label_is():
    first = as_columns([[(t[2], t[0], t[1]) for t in s] for s in SMALL])
    templates = Templates(["columns: y w pos", *TEMPLATES.text.splitlines()[1:]])
    for label in ("y", 1):
        source = open_sentences(io.BytesIO(first), templates, label=label)
        assert arrays(source.read(TemplateFeatures(templates))) == expected(SMALL)[0]
    again = open_sentences(io.BytesIO(first), templates, like=source.layout)
    assert arrays(again.read(TemplateFeatures(templates))) == expected(SMALL)[0]


def test_attributes_of_crfsuite():
    """name, name:value, escapes; a value of 0 is none; all values 1 are not stored."""
    text = b"O\ta\\:b:2\tc\\\\\td:0\te:-1.5e1\tf:\n\nX\ta\\:b\tc\\\\\n"
    features = NamedFeatures()
    sequences, labels, classes = read_sentences(io.BytesIO(text), features, format="crfsuite")
    names = features.names(sequences.ids.tolist())
    assert list(zip(names, sequences.values.tolist(), strict=True)) == [
        ("a:b", 2.0), ("c\\", 1.0), ("e", -15.0), ("f", 1.0), ("a:b", 1.0), ("c\\", 1.0),
    ]  # fmt: skip
    assert classes[labels].tolist() == ["O", "X"] and sequences.starts.tolist() == [0, 1, 2]
    fixed = NamedFeatures.from_state(*features.state())
    unknown = read_sentences(io.BytesIO(b"O\tnew\tc\\\\\n"), fixed, format="crfsuite")[0]
    assert fixed.names(unknown.ids.tolist()) == ["c\\"] and unknown.values is None


def test_formats_are_recognized(tmp_path):
    plain = Templates(["0[0]"])
    assert open_sentences(io.BytesIO(as_columns(SMALL)), plain).format == "conll"
    assert open_sentences(io.BytesIO(b"O\tw=a\t__BOS__\n")).format == "crfsuite"
    assert open_sentences(io.BytesIO(b"# # B-NP\n$ $ I-NP\n"), plain).format == "conll"  # no comment: a token
    sequences = read_sentences(io.BytesIO(b"# # B-NP\n$ $ I-NP\n"), TemplateFeatures(plain))[0]
    assert sequences.n_tokens == 2
    (tmp_path / "a.crfsuite.gz").write_bytes(gzip.compress(b"O\ta\n"))
    assert open_sentences(tmp_path / "a.crfsuite.gz").format == "crfsuite"
    (tmp_path / "a.conllu").write_text("1\tonly\tthree\n")
    with pytest.raises(ValueError, match=r"a\.conllu, line 1: expected 10 columns, as in CoNLL-U, found 3"):
        read_sentences(tmp_path / "a.conllu", TemplateFeatures(Templates.named("pos")))


ROW = "\tdo\tdo\tVERB\tVB\t_\t0\troot\t_\t_\n"


@pytest.mark.parametrize(
    ("text", "templates", "options", "said"),
    [
        ("a N O\n\n\nb N\n", TEMPLATES, {}, "bad.txt, line 4: expected 3 columns, as in line 1, found 2"),
        ("\na N O\nb N O O\n", TEMPLATES, {}, "bad.txt, line 3: expected 3 columns, as in line 2, found 4"),
        ("a\tN\tO\nb\t\tO\n", TEMPLATES, {}, "line 2: column 2 is empty"),
        ("a N O\nb\udcff N O\n", TEMPLATES, {}, r"line 2: the text 'b\\xff' is not UTF-8"),
        ("a N O\nb N \udcff\n", TEMPLATES, {}, r"line 2: the text '\\xff' is not UTF-8"),
        ("", TEMPLATES, {}, "bad.txt: expected at least one sentence"),
        ("\n \n", TEMPLATES, {}, "bad.txt: expected at least one sentence"),
        ("a O\n", TEMPLATES, {}, r"'pos\[0\]\|pos\[1\]' points at column 'pos', which is the label"),
        ("a\n", TEMPLATES, {}, "expected a label after the other columns, but the file has only one"),
        ("a\n", TEMPLATES, {"labelled": False}, r"'pos' \(number 1, from 0\), but the file has 1 column\."),
        ("a N O\n", Templates(["3[0]"]), {}, r"points at column '3', but the file has 3 columns, of which"),
        ("a N O\n", Templates(["w[0]", "x[0]"]), {}, r"points at column 'w', but the templates do not say"),
        ("a N O\n", TEMPLATES, {"label": "y"}, "there is no label column 'y'; the file has 3 columns"),
        ("a N O\n", TEMPLATES, {"format": "csv"}, "format is auto, conll, conllu or crfsuite, not"),
        ("a N O\n", None, {}, "the file has columns, but no features are defined"),
        ("O\tw=a\n", TEMPLATES, {}, "the file has attributes"),
        ("1" + ROW + "3" + ROW, Templates.named("pos"), {}, "line 2: expected the word's number 2 as id"),
        ("1" + ROW + "1-x" + ROW, Templates.named("pos"), {}, "line 2: expected the word's number 2 as id"),
        ("1" + ROW, Templates(["chunk[0]"]), {}, "points at column 'chunk', but CoNLL-U has the"),
        ("1" + ROW, Templates(["pos[0]"]), {}, "points at column 'pos', which is the label"),
        ("1" + ROW, Templates.named("pos"), {"label": "chunk"}, "no label column 'chunk'; CoNLL-U has id"),
        ("O\ta:x\n", None, {"format": "crfsuite"}, "line 1: expected a finite number behind the colon"),
        ("O\ta:1:2\n", None, {"format": "crfsuite"}, "number behind the colon of 'a:1:2'; in a name"),
        ("O\ta:nan\n", None, {"format": "crfsuite"}, "finite number"),
        ("O\ta\n\nO\tb:1e999\n", None, {"format": "crfsuite"}, "line 3: expected a finite number"),
        ("O\ta\\n\n", None, {"format": "crfsuite"}, r"a backslash in '\\n' stands before neither"),
        ("\ta\n", None, {"format": "crfsuite"}, "line 1: the label is empty"),
        ("O\t\udcff\n", None, {"format": "crfsuite"}, "is not UTF-8"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(text, templates, options, said, tmp_path):
    """File, line, what was found and what was expected."""
    path = tmp_path / "bad.txt"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    features = NamedFeatures() if templates is None else TemplateFeatures(templates)
    with pytest.raises(ValueError, match=said):
        open_sentences(path, templates, **options).read(features)


def test_features_of_another_kind(tmp_path):
    with pytest.raises(ValueError, match="from the templates they were opened with"):
        open_sentences(io.BytesIO(as_columns(SMALL)), TEMPLATES).read(TemplateFeatures(Templates(["w[0]"])))
    with pytest.raises(ValueError, match="but the features are made by templates"):
        open_sentences(io.BytesIO(b"O\tw=a\n")).read(TemplateFeatures(TEMPLATES))


@given(st.text("a \t\r\n", max_size=30))
def test_where_text_is_cut(text):
    """Behind its last empty line: what was cut off has none, and what is left ends with one."""
    cut = _core.whole_sentences(np.frombuffer(text.encode(), np.uint8))
    assert not any(not line.strip(" \t\r") for line in text[cut:].split("\n")[:-1])
    assert cut == 0 or not text[:cut].split("\n")[-2].strip(" \t\r")


def test_counts_of_real_files():
    """CoNLL-2000 has 8,936 sentences of 211,727 tokens and 22 labels; EWT 12,544 sentences and 17 labels."""
    chunks = at_hand("conll2000/train.txt.gz")
    words = at_hand("ud_english_ewt/en_ewt-ud-train.conllu.xz")
    features = TemplateFeatures(Templates.named("crfsuite-chunking"))
    sequences, labels, classes = read_sentences(chunks, features)
    assert (len(sequences), sequences.n_tokens, len(classes), len(labels)) == (8_936, 211_727, 22, 211_727)
    with gzip.open(chunks, "rt") as file:
        sentences = [
            [line.split(" ")[:2] for line in s.split("\n")] for s in file.read().strip().split("\n\n")
        ]
    lines = [[part.text for part in t.parts] or [t.name] for t in features.templates]
    numbers, names = twin.numbered([twin.attributes(lines, s, ["w", "pos"]) for s in sentences[:100]])
    n = sum(len(token) for sentence in numbers for token in sentence)
    assert sequences.ids[:n].tolist() == [i for sentence in numbers for token in sentence for i in token]
    assert features.names(range(len(names))) == names
    sequences, _, classes = read_sentences(words, TemplateFeatures(Templates(["w[0]"])))
    assert (len(sequences), len(classes)) == (12_544, 17)


# ---- small files that cost much ----------------------------------------------------------------------
def test_the_format_is_looked_for_once(monkeypatch):
    """Each of 32,000 lines that begin with # was a search through the whole beginning of the file."""

    class Counted:
        searches = 0

        def search(self, text):
            self.searches += 1
            return pattern.search(text)

        def fullmatch(self, text):
            return pattern.fullmatch(text)

    pattern = columns._CONLLU_ROW
    for text in (b"# comment\n" * 3000 + b"#\tX\n", b"#\n" * 30_000 + b"\n1" + b"\t_" * 9 + b"\n"):
        counted = Counted()
        monkeypatch.setattr(columns, "_CONLLU_ROW", counted)
        look(ByteStream(io.BytesIO(text)))
        assert counted.searches <= 1


def test_more_labels_than_a_tagger_can_have_are_refused():
    """A tagger of 30,000 labels would have 900 million weights of pairs."""
    templates = Templates(["columns: w", "w[0]"])
    words, labels = ["a"] * (MOST_LABELS + 1), [f"L{k}" for k in range(MOST_LABELS + 1)]
    text = "".join(f"{word} {label}\n" for word, label in zip(words, labels, strict=True)).encode()
    with pytest.raises(ValueError, match=r"<BytesIO>: there are 8,193 different labels, .* column"):
        open_sentences(io.BytesIO(text), templates).read(TemplateFeatures(templates))
    with pytest.raises(ValueError, match=r"there are 8,193 different labels"):
        SequenceTagger(features=templates).fit([words], [labels])


def test_wide_lines():
    """Ten thousand columns, of which the templates look at one."""
    wide = b" ".join(b"c%d" % k for k in range(10_000))
    templates = Templates(["9999[0]"])
    source = open_sentences(io.BytesIO(wide + b" X\n"), templates)
    features = TemplateFeatures(templates)
    _, labels, classes = source.read(features)
    assert (features.names([0]), classes[labels].tolist()) == (["9999[0]=c9999"], ["X"])
