"""`novikoff tag`: plain text, schemes, several labellings, scores, JSON; labels that break their scheme."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import novikoff
from novikoff.tagging.chunks import chunk_scores
from novikoff.tagging.plain_text import sentences_of, tokens_of
from support.commands import error_of, run
from support.sentence_files import conll, conllu, crfsuite, sentences

DATA, TEST = sentences(), sentences(25, seed=1)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("train.txt").write_text(conll(DATA))
    Path("test.txt").write_text(conll(TEST))
    return tmp_path


@pytest.fixture
def pos(folder) -> Path:
    """A tagger of words and parts of speech."""
    Path("pos.txt").write_text("".join("".join(f"{w} {p}\n" for w, p, _ in s) + "\n" for s in DATA))
    run("tag", "fit", "pos.txt", "--epochs", 3, "--quiet")
    return Path("pos.novikoff")


@pytest.fixture
def chunks(folder) -> Path:
    run("tag", "fit", "train.txt", "--epochs", 3, "--quiet")
    return Path("train.novikoff")


# ---- plain text ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("text", ["I love New York\n", "Hello world\n", "the dog\nbarks at night\n"])
def test_plain_text_is_refused_with_the_remedy(pos, text):
    assert error_of("tag", "predict", pos, "-", input=text).endswith(
        "there: --tokenize reads plain text, --beside keeps the column, and --label names the one to replace."
    ) or error_of("tag", "predict", pos, "-", input=text).endswith(
        "there is one token per line; --tokenize reads plain text."
    )


def test_a_tagger_from_conllu_refuses_plain_text_and_other_columns():
    Path("u.conllu").write_text(conllu(DATA))
    run("tag", "fit", "u.conllu", "--epochs", 2, "--quiet")
    said = error_of("tag", "predict", "u.novikoff", "-", input="I love New York\n")
    assert said.startswith("standard input, line 1: expected 1 or 2 columns, found 4: ")
    assert "expected 1 or 2 columns, found 3" in error_of("tag", "predict", "u.novikoff", "test.txt")
    assert run("tag", "predict", "u.novikoff", "-", input="the\ndog\n").stdout == "the DT\ndog NN\n".replace(
        "DT", novikoff.load_model("u.novikoff").predict_one(["the", "dog"])[0]
    ).replace("NN", novikoff.load_model("u.novikoff").predict_one(["the", "dog"])[1])


def test_tokenized_text_has_the_labels_of_its_tokens(pos):
    text = "the old dog barks, and cats sleep.\n\nthe plan\n"
    lines = [tokens_of(line) for line in text.splitlines() if line]
    labels = novikoff.load_model(pos).predict(lines)
    expected = "".join(
        "".join(f"{w}\t{label}\n" for w, label in zip(words, own, strict=True)) + "\n"
        for words, own in zip(lines, labels, strict=True)
    )
    assert run("tag", "predict", pos, "-", "--tokenize", input=text).stdout == expected
    said = run("tag", "predict", pos, "-", "--tokenize", "--json", input=text).stdout.splitlines()
    assert [json.loads(line) for line in said] == [
        {"tokens": words, "labels": own} for words, own in zip(lines, labels, strict=True)
    ]
    split = run("tag", "predict", pos, "-", "--tokenize", "--split-sentences", input="the dog. The cat.\n")
    assert [len(s.splitlines()) for s in split.stdout.strip().split("\n\n")] == [3, 3]


def test_tokens_and_sentences():
    """The rules in the order of the module's docstring."""
    for text, tokens in {
        "at https://a.org/b?c=1, or me@example.org.": "at https://a.org/b?c=1 , or me@example.org .",
        "the U.S. has 1,000.50 at 10:30 (3/4)": "the U.S. has 1,000.50 at 10:30 ( 3/4 )",
        "don't re-do 'it' x2 the café’s naïve": "don't re-do ' it ' x2 the café’s naïve",
        "wait... what?! $5 — €6%": "wait ... what ? ! $ 5 — € 6 %",
        "日本語 текст": "日本語 текст",
        " \t": "",
    }.items():
        assert tokens_of(text) == tokens.split()
    assert [len(s) for s in sentences_of(tokens_of("No. Yes! no? (Well.) 3 left."))] == [2, 4, 4, 3]
    assert [len(s) for s in sentences_of(tokens_of("J. Doe met Dr. No. e.g. here"))] == [10]


def test_text_for_a_tagger_that_needs_more_than_words(chunks):
    said = run("tag", "predict", chunks, "-", "--tokenize", input="the dog\n", code=2).stderr
    assert "plain text has words only, and the tagger needs the column 'pos'" in said
    assert "tokenize" not in error_of("tag", "predict", chunks, "-", input="a b c d\n")
    Path("a.crfsuite").write_text(crfsuite(DATA))
    run("tag", "fit", "a.crfsuite", "--epochs", 1, "--quiet")
    said = run("tag", "predict", "a.novikoff", "-", "--tokenize", input="the dog\n", code=2).stderr
    assert "the tagger needs attributes" in said
    for option in ("--beside", "--label=1", "--format=conll"):
        assert "with --tokenize" in run("tag", "predict", chunks, "-", "--tokenize", option, code=2).stderr
    assert "with --tokenize" in run("tag", "predict", chunks, "-", "--split-sentences", code=2).stderr
    Path("latin.txt").write_bytes(b"the dog\ncaf\xe9\n")
    run("tag", "fit", "-", "--model", "w.novikoff", "--quiet", input="the DT\ndog NN\n\n")
    assert error_of("tag", "predict", "w.novikoff", "latin.txt", "--tokenize").startswith(
        "latin.txt, line 2: "
    )


# ---- several labellings, scores, JSON ------------------------------------------------------------------
def test_the_k_best_and_scores_are_those_of_python(chunks):
    X = [[token[:2] for token in s] for s in TEST]
    tagger = novikoff.load_model(chunks)
    best, margins = tagger.predict_k(X, 3), tagger.margins(X)
    lines = run("tag", "predict", chunks, "test.txt", "--k-best", 3, "--scores").stdout.split("\n\n")
    for text, own, gaps, sentence in zip(lines, best, margins, X, strict=False):
        rows = [line.split() for line in text.splitlines()]
        assert [tuple(row[:2]) for row in rows] == sentence
        for k in range(3):
            expected = own[k][0] if k < len(own) else ["_"] * len(sentence)
            assert [row[2 + k] for row in rows] == expected
        assert [float(row[5]) for row in rows] == gaps.tolist()
    said = run("tag", "predict", chunks, "test.txt", "--k-best", 3, "--scores", "--json").stdout
    for line, own, gaps, sentence in zip(said.splitlines(), best, margins, X, strict=True):
        assert json.loads(line) == {
            "tokens": [word for word, _ in sentence],
            "labels": own[0][0],
            "score": own[0][1],
            "margins": [None if gap == float("inf") else gap for gap in gaps.tolist()],
            "best": [{"labels": labels, "score": score} for labels, score in own],
        }
    beside = run("tag", "predict", chunks, "test.txt", "--beside", "--scores").stdout.splitlines()[0].split()
    assert beside[:3] == list(TEST[0][0])
    assert beside[3:] == [best[0][0][0][0], repr(margins[0][0].item())]


def test_conllu_stays_whole_and_has_no_column_for_scores():
    Path("u.conllu").write_text(conllu(DATA))
    run("tag", "fit", "u.conllu", "--epochs", 2, "--quiet")
    for option in (["--scores"], ["--k-best", 2]):
        said = run("tag", "predict", "u.novikoff", "u.conllu", *option, code=2).stderr
        assert "has no column for it: add --json" in said
    said = run("tag", "predict", "u.novikoff", "u.conllu", "--scores", "--k-best", 2, "--json").stdout
    assert [json.loads(line)["tokens"] for line in said.splitlines()] == [[w for w, _, _ in s] for s in DATA]
    assert "is not possible" in run("tag", "predict", "u.novikoff", "u.conllu", "--k-best", 0, code=2).stderr


# ---- schemes -------------------------------------------------------------------------------------------
def test_predictions_in_another_scheme_are_the_same_chunks(chunks):
    def labels(*options: object) -> list[list[str]]:
        out = run("tag", "predict", chunks, "test.txt", *options).stdout
        return [[line.split()[-1] for line in s.splitlines()] for s in out.split("\n\n") if s.strip()]

    usual = labels()
    for scheme in ("iob1", "iob2", "iobes", "bilou"):
        other = labels("--scheme", scheme)
        assert chunk_scores(usual, other).all.f1 == 1
        assert other != usual  # in IOB2: a sentence that began with I-NP begins with B-NP


def test_a_file_of_another_scheme_is_learned_and_written_back_in_it():
    touching = [("a", "X", "I-NP"), ("b", "X", "B-NP"), ("c", "Y", "O")]
    Path("one.txt").write_text(conll([touching] * 60))
    done = run("tag", "fit", "one.txt", "--learn-as", "iobes", "--templates", "chunking")
    assert "  labels     IOB1, learned as IOBES" in done.stdout
    tagger = novikoff.load_model("one.novikoff")
    assert tagger.classes.tolist() == ["O", "S-NP"]
    assert run("tag", "predict", "one.novikoff", "one.txt").stdout == Path("one.txt").read_text()
    said = json.loads(run("tag", "evaluate", "one.novikoff", "one.txt", "--json").stdout)
    assert said["f1"] == said["accuracy"] == 1.0
    done = run("tag", "fit", "one.txt", "--templates", "chunking", "--json")
    said = "as they are: IOBES loses 0.00 ± 0.00 points of F1 on 24 held-out sentences"
    assert json.loads(done.stdout)["labels"]["learned"] == said
    done = run("tag", "fit", "one.txt", "--learn-as", "given", "--templates", "chunking", "--json")
    assert json.loads(done.stdout)["labels"]["learned"] is None


def test_a_bad_label_is_repaired_and_counted_or_refused():
    lines = Path("train.txt").read_text().splitlines()
    at = next(k for k, line in enumerate(lines) if line.endswith(" O") and lines[k + 1].endswith("B-NP"))
    lines[at + 1] = lines[at + 1].replace("B-NP", "I-NP")
    Path("bad.txt").write_text("\n".join(lines) + "\n\n")
    done = run("tag", "fit", "bad.txt", "--epochs", 2)
    assert f"  repaired   1 label: bad.txt, line {at + 2}: 'I-NP' is read as 'B-NP'" in done.stdout
    run("tag", "fit", "train.txt", "--epochs", 2)
    bad, good = (novikoff.load_model(f"{name}.novikoff") for name in ("bad", "train"))
    assert bad.pairs.w.tolist() == good.pairs.w.tolist()
    said = error_of("tag", "fit", "bad.txt", "--strict")
    assert said.startswith(f"bad.txt, line {at + 2}: the label 'I-NP' breaks IOB2")
    run("tag", "fit", "train.txt", "--strict", "--epochs", 1)
    chosen = ["--templates", "pos", "--label", 2, "--transitions", "bio"]
    assert "needs labels of the form" in error_of("tag", "fit", "train.txt", *chosen)


def test_names_get_their_templates():
    def chosen(text: str) -> str:
        Path("x.txt").write_text(text * 3)
        return json.loads(run("tag", "fit", "x.txt", "--epochs", 1, "--json").stdout)["parameters"][
            "templates"
        ]

    assert chosen("in IN O\nNew NNP B-LOC\nYork NNP I-LOC\n. . O\n\n") == "ner"
    assert chosen("in IN B-PP O\nNew NNP B-NP I-LOC\n. . O O\n\n") == "ner"
    assert chosen("in O\nNew B-LOC\n. O\n\n") == "ner"
    assert chosen("in IN B-PP\nNew NNP B-NP\nYork NNP I-NP\n. . O\n\n") == "chunking"
    assert chosen("in x IN\nNew x NNP\n\n") == "chunking"
    assert chosen("in IN\nNew NNP\n\n") == "pos"


def test_a_chosen_label_column_gets_the_templates_of_the_columns_before_it():
    Path("x.txt").write_text("in IN B-PP O\nNew NNP B-NP I-LOC\n. . O O\n\n" * 3)
    for label, templates in ((2, "pos"), (3, "chunking"), (4, "ner")):
        said = json.loads(run("tag", "fit", "x.txt", "--label", label, "--epochs", 1, "--json").stdout)
        assert said["parameters"]["templates"] == templates
    assert "no default templates" in error_of("tag", "fit", "x.txt", "--label", 1)


def test_labels_are_counted_from_1_as_in_fit():
    Path("first.txt").write_text("".join("".join(f"{k} {w} {p}\n" for w, p, k in s) + "\n" for s in DATA))
    Path("t.tpl").write_text("columns: chunk w pos\nw[-1..1]\npos[-1..1]\n")
    done = run("tag", "fit", "first.txt", "--label", 1, "--templates", "t.tpl", "--epochs", 2)
    assert "  label      column 1, counted from 1" in done.stdout
    assert novikoff.load_model("first.novikoff").classes.tolist() == sorted(
        {k for s in DATA for _, _, k in s}
    )
    said = error_of("tag", "fit", "first.txt", "--label", 0, "--templates", "t.tpl")
    assert said.startswith("first.txt: --label 0 is not possible: label columns are counted from 1")
    out = run("tag", "predict", "first.novikoff", "first.txt").stdout
    assert [line.split()[1:] for line in out.splitlines() if line] == [[w, p] for s in DATA for w, p, _ in s]
    said = run("tag", "predict", "first.novikoff", "first.txt", "--scores", code=2).stderr
    assert "add --beside or --json" in said
