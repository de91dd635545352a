"""Sentences as feature numbers: the input of every tagger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff import _core
from novikoff.tagging.made_once import made_once

Offsets = npt.NDArray[np.int64]
Ids = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

MOST_LABELS = 1 << 13  # a tagger has a weight for each pair of labels


def check_labels(labels: Sequence[Any], where: str = "") -> None:
    """Reject too many labels; a column of words would have that many."""
    if len(labels) > MOST_LABELS:
        raise ValueError(
            f"{where}there are {len(labels):,} different labels, but a tagger can have at most "
            f"{MOST_LABELS:,}: it has a weight for each pair of them. Is this the column with the labels?"
        )


@dataclass(frozen=True, eq=False)
class Sequences:
    """Sentences of tokens, each token a list of feature numbers.

    Parameters
    ----------
    starts : int64 array of n + 1
        Sentence s is the tokens ``starts[s]`` to ``starts[s + 1]``, the last one excluded.
    indptr : int64 array of tokens + 1
        Token t has the features ``ids[indptr[t]:indptr[t + 1]]``.
    ids : int32 array
        Feature numbers. A feature that was not seen in training is left out.
    values : float64 array or None
        One value per feature; None if all are 1.

    Examples
    --------
    >>> x, names = Sequences.from_lists([[["a", "b"], ["b"]], [], [["c", "a"]]])
    >>> x.starts.tolist(), x.indptr.tolist(), x.ids.tolist(), names.strings()
    ([0, 2, 2, 3], [0, 2, 3, 5], [0, 1, 1, 2, 0], ['a', 'b', 'c'])
    >>> len(x), x.n_tokens
    (3, 3)
    """

    starts: Offsets
    indptr: Offsets
    ids: Ids
    values: Floats | None = None

    @classmethod
    def from_lists(cls, X: Any) -> tuple[Sequences, _core.Names]:
        """Number lists of feature names, or dicts, by first appearance; also returns the names.

        Dicts are read as in python-crfsuite: ``{"w": "the"}`` is the feature ``w:the``, a number or bool is
        the value of the feature named by its key, and lists, sets and dicts have their key as prefix.
        """
        starts, indptr, ids, values, names = _core.intern(X)
        return cls(starts, indptr, ids, values), names

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def n_tokens(self) -> int:
        return len(self.indptr) - 1

    @property
    def lengths(self) -> Offsets:
        """The number of tokens of each sentence."""
        return np.diff(self.starts)

    @made_once
    def native(self) -> _core.Sentences:
        """The native object, checked: offsets never decrease, numbers are not negative."""
        return _core.Sentences(self.starts, self.indptr, self.ids, self.values)

    def renumbered(self, columns: npt.NDArray[Any]) -> Sequences:
        """A copy with feature j renumbered to ``columns[j]``, or dropped where that is −1."""
        if len(columns) == 0 or np.array_equal(columns, np.arange(len(columns))):
            return self
        ids = columns.astype(np.int32)[self.ids]
        kept = ids >= 0
        if kept.all():
            return Sequences(self.starts, self.indptr, ids, self.values)
        before = np.zeros(len(ids) + 1, dtype=np.int64)
        np.cumsum(kept, out=before[1:])
        values = None if self.values is None else self.values[kept]
        return Sequences(self.starts, before[self.indptr], ids[kept], values)

    def parts(self, flat: Sequence[Any] | npt.NDArray[Any]) -> list[Any]:
        """Split per-token values into one part per sentence."""
        return [flat[a:b] for a, b in pairwise(self.starts.tolist())]

    def ranges(self, work: float, n_labels: int, order: Offsets | None = None) -> list[tuple[int, int]]:
        """Ranges of sentences (of places in `order`), each about `work` multiplications or one sentence."""
        cost = np.diff(self.indptr[self.starts]) * n_labels + self.lengths * n_labels**2
        cost = cost if order is None else cost[order]
        total = np.cumsum(cost)
        if not len(total):
            return []
        steps = np.arange(work, total[-1] + work, work)
        cuts = np.unique(np.concatenate([[0], np.searchsorted(total, steps, side="right"), [len(total)]]))
        return list(pairwise(cuts.tolist()))
