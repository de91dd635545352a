"""Labels that encode chunks, such as B-NP I-NP O: precision, recall and F1 as conlleval counts them.

A label is ``O``, or a place and a type: ``B-NP`` begins a chunk, ``I-NP`` continues it, and in the finer
scheme ``E-NP`` (or ``L-``) ends one and ``S-NP`` (or ``U-``) is a chunk of one token. A token in a chunk
begins a new one if its label is B or S, if no chunk is open before it (at the start of the sentence, or after
O, E or S), or if the type changes; so labels without B, and labels that break the scheme, have chunks too. A
predicted chunk is right when a true one has the same first and last token and the same type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.shown import Shown

Ints = npt.NDArray[np.int32]

O, B, I, E, S = range(5)  # noqa: E741
PLACES = {"B": B, "I": I, "E": E, "L": E, "S": S, "U": S}


@dataclass(frozen=True)
class Score:
    """The numbers of chunks that are true, found, and both; and the ratios derived from them."""

    true: int = 0
    found: int = 0
    right: int = 0

    @property
    def precision(self) -> float:
        """The share of found chunks that are right; 0 when none was found."""
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """The share of true chunks that were found; 0 when there are none."""
        return self.right / self.true if self.true else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.right / (self.true + self.found) if self.true + self.found else 0.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "true": self.true,
            "found": self.found,
            "right": self.right,
        }


@dataclass(frozen=True, repr=False)
class ChunkScores(Shown):
    """How labels compare with the true ones, chunk by chunk.

    `print` shows them in conlleval's format, in percent.
    """

    all: Score
    types: dict[str, Score] = field(default_factory=dict)
    tokens: int = 0
    right_tokens: int = 0

    @property
    def accuracy(self) -> float:
        """The share of tokens with the right label."""
        return self.right_tokens / self.tokens if self.tokens else 0.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        types = {name: score.as_dict() for name, score in self.types.items()}
        return {**self.all.as_dict(), "accuracy": self.accuracy, "tokens": self.tokens, "types": types}

    def __str__(self) -> str:
        width = max([5, *(len(name) for name in self.types)])
        lines = [
            f"processed {self.tokens:,} tokens with {self.all.true:,} chunks; found: {self.all.found:,} "
            f"chunks; correct: {self.all.right:,}.",
            f"accuracy: {100 * self.accuracy:6.2f}%",
        ]
        for name, score in [("all", self.all), *self.types.items()]:
            lines.append(
                f"{name:>{width}}: precision: {100 * score.precision:6.2f}%; recall: "
                f"{100 * score.recall:6.2f}%; FB1: {100 * score.f1:6.2f}  {score.found:,}"
            )
        return "\n".join(lines)


def spell_chunks(labels: Sequence[str]) -> bool:
    """Whether every label is O or a place and a type, and not all are O.

    >>> spell_chunks(["B-NP", "I-NP", "O"]), spell_chunks(["NOUN", "VERB"])
    (True, False)
    """
    return any(la != "O" for la in labels) and all(la == "O" or parted(la)[0] != O for la in labels)


def chunk_scores(y_true: Sequence[Sequence[str]], y_pred: Sequence[Sequence[str]]) -> ChunkScores:
    """Score the labels of sentences, given as lists of lists.

    >>> scores = chunk_scores([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "I-NP", "O", "B-NP"]])
    >>> scores.all.precision, scores.all.recall, scores.types["VP"].true, scores.accuracy
    (0.5, 0.5, 1, 0.75)
    """
    if len(y_true) != len(y_pred):
        raise ValueError(f"there are {len(y_true)} sentences with true labels, but {len(y_pred)} to score.")
    for s, (a, b) in enumerate(zip(y_true, y_pred, strict=True)):
        if len(a) != len(b):
            raise ValueError(f"sentence {s}: there are {len(a)} true labels, but {len(b)} to score.")
    index: dict[str, int] = {}
    true, found = (
        np.array([index.setdefault(la, len(index)) for sentence in y for la in sentence], dtype=np.int32)
        for y in (y_true, y_pred)
    )
    starts = np.concatenate([[0], np.cumsum([len(sentence) for sentence in y_true])]).astype(np.int64)
    return score_numbers(list(index), starts, true, found)


def score_numbers(
    labels: Sequence[str], starts: npt.NDArray[np.int64], true: Ints, found: Ints
) -> ChunkScores:
    """Like `chunk_scores`, with numbered labels: sentence s has the tokens ``starts[s]:starts[s + 1]``."""
    names, a, b = _both(labels, starts, true, found)
    right = a[2][_right(a, b)]
    counts = [np.bincount(types, minlength=len(names)).tolist() for types in (a[2], b[2], right)]
    scores = {name: Score(*own) for name, *own in zip(names, *counts, strict=True) if own[0] or own[1]}
    return ChunkScores(
        Score(len(a[0]), len(b[0]), len(right)), scores, len(true), int(np.count_nonzero(true == found))
    )


def f1_of(labels: Sequence[str], starts: npt.NDArray[np.int64], true: Ints, found: Ints) -> float:
    """The F1 of all chunks, from numbered labels."""
    _, a, b = _both(labels, starts, true, found)
    return Score(len(a[0]), len(b[0]), int(np.count_nonzero(_right(a, b)))).f1


@dataclass(frozen=True, eq=False)
class SentenceCounts:
    """For each sentence the numbers of chunks that are true, found, and both."""

    true: npt.NDArray[np.int64]
    found: npt.NDArray[np.int64]
    right: npt.NDArray[np.int64]


def count_by_sentence(
    labels: Sequence[str], starts: npt.NDArray[np.int64], true: Ints, found: Ints
) -> SentenceCounts:
    """The chunks of each sentence, from numbered labels.

    >>> labels, starts = ["B-NP", "I-NP", "O"], np.array([0, 3, 4])
    >>> counts = count_by_sentence(labels, starts, np.array([0, 1, 0, 2]), np.array([0, 1, 2, 0]))
    >>> counts.true.tolist(), counts.found.tolist(), counts.right.tolist()
    ([2, 0], [1, 1], [1, 0])
    """
    _, a, b = _both(labels, starts, true, found)
    begins = a[0], b[0], a[0][_right(a, b)]
    sentences = (np.searchsorted(starts, first, side="right") - 1 for first in begins)
    return SentenceCounts(*(np.bincount(each, minlength=len(starts) - 1) for each in sentences))


Chunks = tuple[Any, Any, Any]  # first tokens, last tokens, types


def _both(labels: Sequence[str], starts: Any, true: Ints, found: Ints) -> tuple[list[str], Chunks, Chunks]:
    """The types, and the true and the found chunks."""
    parts = [parted(label) for label in labels]
    names = sorted({name for _, name in parts})
    places = np.array([place for place, _ in parts], dtype=np.int8)
    types = np.array([names.index(name) for _, name in parts], dtype=np.int32)
    first = np.zeros(len(true) + 1, dtype=bool)
    first[starts] = True
    a, b = (chunks_of(places.take(numbers), types.take(numbers), first[:-1]) for numbers in (true, found))
    return names, a, b


def parted(label: str) -> tuple[int, str]:
    """The place and the type; any label that is not a chunk's counts as O."""
    place, mark, name = label.partition("-")
    return (PLACES[place], name) if mark and place in PLACES else (O, "")


def chunks_of(places: Any, types: Any, first: Any) -> Chunks:
    """The first tokens, last tokens and types of all chunks, in order."""
    before, same = np.empty_like(places), np.empty(len(places), dtype=bool)
    before[:1], before[1:] = O, places[:-1]
    before[first] = O
    same[:1], same[1:] = False, types[1:] == types[:-1]
    inside = places != O
    goes_on = ((places == I) | (places == E)) & ((before == B) | (before == I)) & same
    begins = np.flatnonzero(inside & ~goes_on)
    last = inside.copy()
    last[:-1] &= ~goes_on[1:]
    ends = np.flatnonzero(last)
    return begins, ends, types[begins]


def _right(a: Chunks, b: Chunks) -> Any:
    """Which chunks of `a` are also in `b`."""
    if not len(b[0]):
        return np.zeros(len(a[0]), dtype=bool)
    at = np.minimum(np.searchsorted(b[0], a[0]), len(b[0]) - 1)
    return (b[0][at] == a[0]) & (b[1][at] == a[1]) & (b[2][at] == a[2])
