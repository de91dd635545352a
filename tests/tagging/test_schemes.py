"""Schemes of chunk labels: conversion against the definition, repairs, learning in another scheme."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff
from novikoff.tagging import encoding
from novikoff.tagging.chunks import SentenceCounts, chunk_scores
from novikoff.tagging.repairs import repaired
from novikoff.tagging.schemes import LETTERS, Rewriting, scheme_of
from novikoff.tagging.tagger import Tagger
from support.sentence_files import sentences

SCHEMES = tuple(LETTERS)


def spelled(length, chunks, scheme):
    """The definition: the labels of a sentence with these (first, last, type) chunks."""
    labels = ["O"] * length
    for first, last, kind in chunks:
        size = last - first + 1
        for t in range(first, last + 1):
            if scheme in ("iob1", "iob2"):
                place = "B" if t == first and scheme == "iob2" else "I"
                if (
                    scheme == "iob1"
                    and t == first
                    and any(b == first - 1 and k == kind for _, b, k in chunks)
                ):
                    place = "B"
            else:
                place = "S" if size == 1 else "B" if t == first else "E" if t == last else "I"
            if scheme == "bilou":
                place = {"S": "U", "E": "L"}.get(place, place)
            labels[t] = f"{place}-{kind}"
    return labels


@st.composite
def chunked(draw):
    """Sentences as (length, chunks)."""
    out = []
    for _ in range(draw(st.integers(1, 4))):
        at, chunks = 0, []
        for _ in range(draw(st.integers(0, 4))):
            at += draw(st.integers(0, 2))
            size = draw(st.integers(1, 3))
            chunks.append((at, at + size - 1, draw(st.sampled_from("XY"))))
            at += size
        out.append((at + draw(st.integers(0, 2)), chunks))
    return out


def numbered(lists):
    texts = sorted({label for labels in lists for label in labels})
    numbers = np.array([texts.index(la) for labels in lists for la in labels], dtype=np.int32)
    return texts, np.cumsum([0, *map(len, lists)]), numbers


@given(chunked(), st.sampled_from(SCHEMES), st.sampled_from(SCHEMES))
def test_every_scheme_is_written_from_every_other(data, old, new):
    """Chunks that touch are told apart by B, E or S; in all four schemes they are the same chunks."""
    texts, starts, numbers = numbered([spelled(*sentence, old) for sentence in data])
    rewriting = Rewriting(texts, new)
    assert rewriting.names == sorted(rewriting.names)
    got = [rewriting.names[k] for k in rewriting(starts, numbers)]
    assert got == [label for sentence in data for label in spelled(*sentence, new)]


@given(chunked(), st.sampled_from(SCHEMES))
def test_a_scheme_is_recognized_if_nothing_breaks_it(data, scheme):
    texts, starts, numbers = numbered([spelled(*sentence, scheme) for sentence in data])
    found = scheme_of(texts, starts, numbers)
    assert found is not None
    name, broken = found
    assert not broken.any()
    again = Rewriting(texts, name)
    assert [again.names[k] for k in again(starts, numbers)] == [texts[k] for k in numbers]


def test_examples_of_each_scheme():
    for scheme, labels in {
        "iob1": ["I-X", "O", "I-X", "B-X", "I-X"],
        "iob2": ["B-X", "O", "B-X", "B-X", "I-X"],
        "iobes": ["S-X", "O", "S-X", "B-X", "E-X"],
        "bilou": ["U-X", "O", "U-X", "B-X", "L-X"],
    }.items():
        found = scheme_of(*numbered([labels]))
        assert found is not None
        assert found[0] == scheme
    texts = [["B-X", "O", "I-X", "O"] * 50]  # every second chunk breaks IOB2, and the others IOB1
    assert scheme_of(*numbered(texts)) is None


# ---- repairs -------------------------------------------------------------------------------------------
CLEAN = ["B-NP", "I-NP", "O", "B-VP"] * 60


@pytest.mark.parametrize(
    ("at", "bad", "meant"),
    [
        (1, "B_NP", "B-NP"),
        (1, "i-np", "I-NP"),
        (1, "NP", "I-NP"),
        (2, "I-VP", "B-VP"),
        (2, "0", "O"),
        (2, "B-", "O"),
        (3, "I-VP", "B-VP"),
    ],
)
def test_one_bad_label_is_repaired_and_named(at, bad, meant):
    labels = [*CLEAN]
    labels[at] = bad
    texts, starts, numbers = numbered([labels])
    classes, new, repairs = repaired(np.array(texts), starts, numbers, "line {}".format)
    expected = [*CLEAN]
    expected[at] = meant
    assert classes[new].tolist() == expected
    assert (repairs.scheme, repairs.count) == ("iob2", 1)
    assert repairs.shown == (f"line {at}: {bad!r} is read as {meant!r}",)
    with pytest.raises(ValueError, match=rf"line {at}: the label '{bad}' breaks IOB2.*expected '{meant}'"):
        repaired(np.array(texts), starts, numbers, "line {}".format, strict=True)


def test_labels_of_another_meaning_are_left_alone():
    for labels in (["NN", "VB", "B-NP"], ["B-X", "O", "I-X", "O"] * 50, ["O", "O"], CLEAN):
        texts, starts, numbers = numbered([labels])
        classes, new, repairs = repaired(np.array(texts), starts, numbers, str, strict=True)
        assert classes[new].tolist() == labels
        assert repairs.count == 0


# ---- learning --------------------------------------------------------------------------------------------
DATA = sentences(80)
X, Y = [[t[:2] for t in s] for s in DATA], [[t[2] for t in s] for s in DATA]


@pytest.mark.parametrize("learn_as", ["iobes", "iob1", "bilou", "auto", "iob2"])
def test_predictions_are_in_the_scheme_of_the_training_labels(learn_as, tmp_path):
    tagger = novikoff.SequenceTagger(features="chunking", learn_as=learn_as, random_state=0).fit(X, Y)
    found = tagger.predict(X)
    assert {label for labels in found for label in labels} <= set(tagger.classes_)
    assert set(tagger.classes_) == {label for labels in Y for label in labels}
    assert chunk_scores(Y, found).all.f1 > 0.9
    assert tagger.score(X, Y) == chunk_scores(Y, found).accuracy
    learned = {"iobes": "E-NP", "bilou": "L-NP", "iob1": "I-NP"}.get(learn_as, "I-NP")
    assert learned in tagger.to_model().classes
    for sentence, best in zip(found, tagger.predict_k(X, 5), strict=True):
        assert best[0][0] == sentence
        assert len({tuple(labels) for labels, _ in best}) == len(best)
    tagger.save(tmp_path / "m.novikoff")
    loaded = novikoff.load_model(tmp_path / "m.novikoff")
    assert loaded.predict(X) == found
    assert loaded.predict_k(X[:3], 5) == tagger.predict_k(X[:3], 5)
    again = novikoff.SequenceTagger.load(tmp_path / "m.novikoff")
    assert again.predict(X) == found
    assert again.get_params()["learn_as"] == learn_as


def test_auto_gives_the_tagger_of_its_choice():
    """The comparison draws from a copy of the generator: the fit has the bits of the chosen scheme."""
    fits = {
        how: novikoff.SequenceTagger(features="chunking", learn_as=how, random_state=3).fit(X, Y)
        for how in ("given", "iobes", "auto")
    }
    auto = fits["auto"].to_model()
    chosen = fits["iobes" if auto.written else "given"].to_model()
    assert np.array_equal(auto.pairs.w, chosen.pairs.w)
    assert np.array_equal(auto.transitions, chosen.transitions)
    assert novikoff.SequenceTagger(learn_as="auto").fit([[["a"]]], [["NOUN"]]).predict([[["a"]]]) == [
        ["NOUN"]
    ]


def test_labels_that_are_no_chunks_cannot_be_learned_in_a_scheme():
    with pytest.raises(ValueError, match=r"learn_as='iobes' needs chunk labels such as B-NP.*got 'NOUN'"):
        novikoff.SequenceTagger(learn_as="iobes").fit([[["a"]]], [["NOUN"]])
    with pytest.raises(ValueError, match=r"learn_as='iobes' needs chunk labels.*got 1"):
        novikoff.SequenceTagger(learn_as="iobes").fit([[["a"], ["b"]]], [[1, 2]])
    with pytest.raises(ValueError, match="learn_as='iobes' needs all sentences at once"):
        novikoff.SequenceTagger(learn_as="iobes").partial_fit(X, Y)
    tagger = novikoff.SequenceTagger(random_state=0).fit([[["a"]]], [["NOUN"]]).to_model()
    with pytest.raises(ValueError, match="scheme='iob1' is for chunk labels"):
        tagger.writing("iob1")


def test_a_file_with_another_scheme_name_is_refused():
    tagger = novikoff.SequenceTagger(features="chunking", learn_as="iobes", random_state=0).fit(X, Y)
    facts, arrays = tagger.to_model().state()
    with pytest.raises(ValueError, match="the scheme 'iob9', which does not exist"):
        Tagger.from_state(facts | {"written": "iob9"}, arrays)


# ---- "auto" ------------------------------------------------------------------------------------------------
def test_auto_leaves_what_it_cannot_compare():
    few = novikoff.SequenceTagger(features="chunking", random_state=0).fit(X[:20], Y[:20])
    assert few.to_model().written is None
    labels = [["B-X"] + ["I-X"] * (len(s) - 1) for s in X]
    tagger = novikoff.SequenceTagger(features="chunking", transitions="bio", random_state=0).fit(X, labels)
    assert tagger.to_model().classes.tolist() == ["B-X", "I-X"]  # whose rules were chosen
    tagger = novikoff.SequenceTagger(features="chunking").partial_fit(X, Y)  # one pass cannot hold out
    assert tagger.to_model().written is None


def test_auto_learns_iobes_where_ends_of_chunks_have_features_of_their_own():
    """The last token of each chunk has a feature, but only a label for ends can use it.

    In IOB2 the weights of I-NP say nothing of whether the next token begins another chunk.
    """
    rng = np.random.default_rng(0)
    X, Y = [], []
    for _ in range(400):
        tokens, labels = [], []
        for _ in range(4):
            n = int(rng.integers(1, 5))
            tokens += [["w"]] * (n - 1) + [["w", "last"]]
            labels += ["B-NP"] + ["I-NP"] * (n - 1)
        X.append(tokens)
        Y.append(labels)
    scores = {}
    for how in ("given", "iobes", "auto"):
        tagger = novikoff.SequenceTagger(learn_as=how, random_state=0).fit(X[:200], Y[:200])
        scores[how] = chunk_scores(Y[200:], tagger.predict(X[200:])).all.f1
    assert scores["iobes"] > scores["given"] + 0.01
    assert scores["auto"] == scores["iobes"]
    assert tagger.to_model().written == "iob2"


def test_the_gain_is_a_difference_of_f1_with_its_standard_error():
    """Against the jackknife: e_s is what F1 changes by if sentence s counts infinitesimally more."""
    rng = np.random.default_rng(1)

    def counts():
        true, found = rng.integers(1, 5, 300), rng.integers(1, 5, 300)
        return SentenceCounts(true, found, np.minimum(true, found) - rng.integers(0, 2, 300))

    def f1(c, without):
        kept = np.arange(300) != without
        return 2 * c.right[kept].sum() / (c.true[kept].sum() + c.found[kept].sum())

    old, new = counts(), counts()
    gain, error = encoding._gain(old, new)
    assert gain == pytest.approx(f1(new, -1) - f1(old, -1), abs=1e-12)
    left_out = np.array([f1(new, s) - f1(old, s) for s in range(300)])
    jackknife = np.sqrt(299 / 300 * np.sum((left_out - left_out.mean()) ** 2))
    assert error == pytest.approx(jackknife, rel=0.02)
