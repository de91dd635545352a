"""Schemes of chunk labels: which one labels follow, and how to write them in another.

| scheme | a chunk of one token | of three tokens | right behind another chunk of its type |
|---|---|---|---|
| iob1 | I-NP | I-NP I-NP I-NP | its first label is B-NP |
| iob2 | B-NP | B-NP I-NP I-NP | the same |
| iobes | S-NP | B-NP I-NP E-NP | the same |
| bilou | U-NP | B-NP I-NP L-NP | the same |

Tokens outside of chunks are O. Labels of every scheme are read by one rule, that of
`novikoff.tagging.chunks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from novikoff.parameters.tagging import SCHEMES
from novikoff.tagging.chunks import B, E, I, O, S, chunks_of, parted
from novikoff.tagging.sequences import Ids, Offsets

LETTERS = {  # of a token that begins a chunk, is inside one, ends one, and is a chunk by itself
    "iob1": {B: "B", I: "I", E: "I", S: "B"},
    "iob2": {B: "B", I: "I", E: "I", S: "B"},
    "iobes": {B: "B", I: "I", E: "E", S: "S"},
    "bilou": {B: "B", I: "I", E: "L", S: "U"},
}


class Rewriting:
    """Writes labels in another scheme.

    Parameters
    ----------
    labels : the labels that occur, of any scheme
    scheme : "iob1", "iob2", "iobes" or "bilou"

    Attributes
    ----------
    names : list of str
        All labels of the scheme for the types of chunks in `labels`, sorted.

    Examples
    --------
    >>> labels = ["B-NP", "I-NP", "O"]
    >>> rewriting = Rewriting(labels, "iobes")
    >>> numbers = rewriting(np.array([0, 4]), np.array([0, 1, 2, 0]))
    >>> [rewriting.names[k] for k in numbers]
    ['B-NP', 'E-NP', 'O', 'S-NP']
    """

    def __init__(self, labels: Sequence[str], scheme: str) -> None:
        parts = [parted(label) for label in labels]
        types = sorted({name for place, name in parts if place != O})
        number = {name: k for k, name in enumerate(types)}
        letters = LETTERS[scheme]
        used = sorted(set(letters.values()))
        self.names = sorted(["O", *(f"{letter}-{name}" for letter in used for name in types)])
        at = {name: k for k, name in enumerate(self.names)}
        self._scheme = scheme
        self._places = np.array([place for place, _ in parts], dtype=np.int8)
        self._types = np.array([number.get(name, 0) for _, name in parts], dtype=np.int32)
        self._outside = at["O"]
        self._inside = np.array([[at[f"{letters[p]}-{name}"] for name in types] for p in (B, I, E, S)])

    def __call__(self, starts: Offsets, numbers: Ids) -> Ids:
        """The numbers in `names` of ``labels[numbers]``. Sentence s begins at token ``starts[s]``."""
        out = np.full(len(numbers), self._outside, dtype=np.int32)
        first = np.zeros(len(numbers) + 1, dtype=bool)
        first[starts] = True
        begins, ends, types = chunks_of(self._places[numbers], self._types[numbers], first[:-1])
        if not len(begins):
            return out
        lengths = ends - begins + 1
        chunk = np.repeat(np.arange(len(begins)), lengths)
        token = np.arange(len(chunk)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + begins[chunk]
        place = np.where(token == ends[chunk], E, I)
        place[token == begins[chunk]] = B
        place[(token == begins[chunk]) & (lengths == 1)[chunk]] = S
        if self._scheme == "iob1":
            touches = np.zeros(len(begins), dtype=bool)  # a chunk of the same type in the same sentence
            touches[1:] = (ends[:-1] + 1 == begins[1:]) & (types[:-1] == types[1:]) & ~first[begins[1:]]
            place[(place == B) & ~touches[chunk]] = I
            place[(place == S) & ~touches[chunk]] = E
        out[token] = self._inside[place - B, types[chunk]]
        return out


def scheme_of(labels: Sequence[str], starts: Offsets, numbers: Ids) -> tuple[str, Any] | None:
    """The scheme that chunk labels follow, and which tokens break it; None if they follow none.

    It is the one that the fewest labels break, the first of several. If that is more than one label in a
    hundred, and more than one in all, there is no scheme: such labels mean something else.

    >>> found = scheme_of(["I-PER", "O", "B-PER"], np.array([0, 4]), np.array([0, 2, 1, 0]))
    >>> found[0], found[1].tolist()
    ('iob1', [False, False, False, False])
    """
    best: tuple[int, str, Any] | None = None
    for scheme in SCHEMES:
        rewriting = Rewriting(labels, scheme)
        place = {name: k for k, name in enumerate(rewriting.names)}
        same = np.array([place.get(label, -1) for label in labels], dtype=np.int32)
        broken = rewriting(starts, numbers) != same[numbers]
        count = int(np.count_nonzero(broken))
        if best is None or count < best[0]:
            best = count, scheme, broken
        if not count:
            break
    assert best is not None
    return best[1:] if is_few(best[0], len(numbers)) else None


def is_few(count: int, tokens: int) -> bool:
    """Whether so many labels that break a scheme are slips, and not another meaning of the labels."""
    return count <= max(1, tokens // 100)
