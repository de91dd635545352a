"""Chunks and their scores, as conlleval and seqeval count them."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import classification_report, f1_score, precision_score, recall_score
from seqeval.metrics.sequence_labeling import get_entities

from novikoff.tagging.chunks import chunk_scores, spell_chunks

LABELS = ["O", *(f"{place}-{name}" for place in "BIES" for name in ("NP", "VP", "A-B"))]


@st.composite
def labelled(draw):
    sentences = draw(st.lists(st.lists(st.tuples(*[st.sampled_from(LABELS)] * 2), max_size=8), max_size=5))
    return [[a for a, _ in s] for s in sentences], [[b for _, b in s] for s in sentences]


@given(labelled())
def test_scores_are_those_of_seqeval(sentences):
    """Any labels, also such as break every scheme: counts, precision, recall and F1, for all and by type."""
    true, found = sentences
    scores = chunk_scores(true, found)
    assert scores.all.true == len(get_entities(true)) and scores.all.found == len(get_entities(found))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # seqeval warns where it divides by zero
        if any(true):
            assert scores.all.precision == pytest.approx(precision_score(true, found, zero_division=0))
            assert scores.all.recall == pytest.approx(recall_score(true, found, zero_division=0))
            assert scores.all.f1 == pytest.approx(f1_score(true, found, zero_division=0))
        if scores.types:
            report = classification_report(true, found, output_dict=True, zero_division=0)
            averages = {"micro avg", "macro avg", "weighted avg"}
            assert set(report) - averages == set(scores.types)
            for name, score in scores.types.items():
                assert score.precision == pytest.approx(report[name]["precision"])
                assert score.recall == pytest.approx(report[name]["recall"])
                assert score.f1 == pytest.approx(report[name]["f1-score"])
                assert score.true == report[name]["support"]
    pairs = [(a, b) for s, t in zip(true, found, strict=True) for a, b in zip(s, t, strict=True)]
    assert (scores.tokens, scores.right_tokens) == (len(pairs), sum(a == b for a, b in pairs))


def test_an_example_of_conlleval():
    """Where chunks begin and end, by hand: IOB1 (no B), a changed type, the end of a sentence."""
    true = [["I-NP", "I-NP", "I-VP", "O"], ["I-NP"]]
    found = [["B-NP", "I-NP", "B-VP", "O"], ["B-NP"]]
    assert chunk_scores(true, found).all.f1 == 1.0
    scores = chunk_scores([["B-NP", "I-NP", "B-NP"]], [["B-NP", "I-NP", "I-NP"]])
    assert (scores.all.true, scores.all.found, scores.all.right) == (2, 1, 0)
    assert scores.all.precision == scores.all.recall == scores.all.f1 == 0.0
    assert str(scores).splitlines()[0] == "processed 3 tokens with 2 chunks; found: 1 chunks; correct: 0."
    assert scores.as_dict()["types"]["NP"]["true"] == 2


def test_bilou_is_iobes():
    bilou = [["B-X", "I-X", "L-X", "U-X", "U-X", "O"]]
    iobes = [["B-X", "I-X", "E-X", "S-X", "S-X", "O"]]
    assert chunk_scores(bilou, iobes).all.f1 == 1.0 and chunk_scores(bilou, iobes).all.true == 3


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="2 sentences with true labels, but 1"):
        chunk_scores([["O"], ["O"]], [["O"]])
    with pytest.raises(ValueError, match="sentence 1: there are 1 true labels, but 2"):
        chunk_scores([["O"], ["O"]], [["O"], ["O", "O"]])


def test_what_spells_chunks():
    assert spell_chunks(["O", "B-NP", "U-X"])
    assert not spell_chunks(["O"]) and not spell_chunks(["NOUN", "B-NP"]) and not spell_chunks(["X-NP"])
