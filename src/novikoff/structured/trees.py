"""Projective dependency trees, scored arc by arc."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from novikoff import _core
from novikoff.structured.eisner import crossing, eisner
from novikoff.structured.features import Floats, Sparse

Codes = npt.NDArray[np.uint64]

# The features of an arc from its head h and its dependent m: w the word, p its tag, - and + the adjacent tags
# (McDonald, Crammer and Pereira 2005, table 1). Each is used alone, and with direction and distance.
TEMPLATES = (
    *("hw hp", "hw", "hp", "mw mp", "mw", "mp"),
    *("hw hp mw mp", "hp mw mp", "hw mw mp", "hw hp mp", "hw hp mw", "hw mw", "hp mp"),
    *("hp h+ m- mp", "h- hp m- mp", "hp h+ mp m+", "h- hp mp m+"),
)
ROOT, FIRST, LAST = ("\x02root", "\x02first", "\x02last")


def _factors() -> tuple[Codes, Codes]:
    """For each template, odd factors for its parts (0 for unused ones) and a constant; and `EXTRA`.

    Drawn from a generator whose stream NumPy guarantees never to change, because model files depend on it.
    """
    drawn = np.random.Generator(np.random.PCG64(1962)).integers(
        0, 2**63, 9 * len(TEMPLATES) + 5, dtype=np.uint64
    )
    drawn = drawn * np.uint64(2) + np.uint64(1)
    table = drawn[:-5].reshape(-1, 9)
    for row, template in zip(table, TEMPLATES, strict=True):
        for k, part in enumerate(("hw", "hp", "h-", "h+", "mw", "mp", "m-", "m+")):
            row[k] *= part in template.split()
    return table.reshape(-1), drawn[-5:]


@lru_cache(maxsize=1 << 18)
def _hashed(text: str) -> int:
    """64 bits of a text, the same in every process."""
    data = text.encode("utf-8", "surrogatepass")
    return crc32(data) << 32 | crc32(data, 0x9E3779B9)


TABLE, EXTRA = _factors()


@dataclass(frozen=True)
class DependencyTrees:
    """A head for each word: projective trees with one root, scored arc by arc.

    x is a list of (word, tag) pairs; y[i] is the head of word i + 1, counted from 1, 0 for the root, as in
    CoNLL-U. An arc's features, with hashed names, are the words and tags of head and dependent, the tags next
    to and between them, direction and distance (McDonald, Crammer and Pereira 2005). Eisner's algorithm finds
    the best tree. The loss is the number of wrong heads, and `score` is the share of right ones (the
    unlabelled attachment score).

    Parameters
    ----------
    hash_bits : int, default 22
        There are 2**hash_bits weights; features with equal hashes share one.

    Examples
    --------
    >>> from novikoff import StructuredPerceptron
    >>> X = [[("the", "DT"), ("dog", "NN"), ("barks", "VB")], [("dogs", "NN"), ("see", "VB"), ("cats", "NN")]]
    >>> problem, Y = DependencyTrees(hash_bits=16), [[2, 3, 0], [2, 0, 2]]
    >>> model = StructuredPerceptron(problem, order="cyclic").fit(X, Y)
    >>> model.predict([[("the", "DT"), ("cat", "NN"), ("sees", "VB"), ("dogs", "NN")]])
    [[2, 3, 0, 3]]
    """

    hash_bits: int = 22

    def __post_init__(self) -> None:
        if not isinstance(self.hash_bits, int) or not 1 <= self.hash_bits <= 30:
            raise ValueError(
                f"hash_bits={self.hash_bits!r} is not possible: expected a whole number from 1 to 30."
            )

    @property
    def n_weights(self) -> int:
        """One weight per hash."""
        return 1 << self.hash_bits

    def check(self, x: Any, y: Any) -> None:
        """Reject a y that is not a projective tree over the words."""
        if any(len(token) != 2 or not all(isinstance(part, str) for part in token) for token in x):
            raise ValueError("x is not a list of (word, tag) pairs of texts.")
        if not isinstance(y, list) or len(y) != len(x):
            raise ValueError(
                f"there are {len(x)} words, but y is {str(y)[:60]}: expected a list of their heads."
            )
        n = len(y)
        if not all(isinstance(h, int | np.integer) and 0 <= h <= n for h in y):
            raise ValueError(f"the heads {str(y)[:60]} are not whole numbers from 0 to {n}.")
        if n and list(y).count(0) != 1:
            raise ValueError(f"{list(y).count(0)} words have the head 0: expected one root.")
        for m in range(1, n + 1):
            steps, a = 0, m
            while a and steps <= n:
                a, steps = y[a - 1], steps + 1
            if a:
                raise ValueError(f"the heads form a cycle at word {m}.")
        bad = crossing(y)
        if bad:
            raise ValueError(
                f"the arc of word {min(bad)} crosses another: Eisner's trees are projective. Leave it out, "
                "or lift such arcs with novikoff.structured.eisner.projective(heads)."
            )

    # -- features
    def _codes(self, x: Any) -> tuple[Codes, Codes]:
        """Hashes of the words, preceded by the root, and of the tags, with markers beyond both ends."""
        words = [_hashed(ROOT), *(_hashed(word) for word, _ in x)]
        tags = [_hashed(FIRST), _hashed(ROOT), *(_hashed(tag) for _, tag in x), _hashed(LAST)]
        return np.array(words, dtype=np.uint64), np.array(tags, dtype=np.uint64)

    def _arcs(self, x: Any) -> _core.Arcs:
        return _core.Arcs(*self._codes(x), TABLE, EXTRA, self.hash_bits)

    def features(self, x: Any, y: Any) -> Sparse:
        """The count of each feature over the arcs of the tree."""
        heads = np.asarray(y, dtype=np.int64)
        places = self._arcs(x).places(heads)
        return Sparse(places, np.ones(len(places)), self.n_weights)

    # -- decoding
    def _scores(self, x: Any, w: Floats) -> Floats:
        scores = np.empty((len(x) + 1) ** 2)
        self._arcs(x).scores(w, scores)
        return scores.reshape(len(x) + 1, -1)

    def decode(self, x: Any, w: Floats, y: Any = None) -> list[int]:
        """The heads of the best tree; with y, wrong heads score 1 more."""
        if not len(x):
            return []
        scores = self._scores(x, w)
        if y is not None:
            scores += 1.0
            scores[y, np.arange(1, len(y) + 1)] -= 1.0
        return eisner(scores)

    def runner_up(self, x: Any, w: Floats, y: Any) -> list[int] | None:
        """The best tree other than y, found by forbidding each arc of y in turn."""
        if len(y) < 2:
            return None
        scores, m = self._scores(x, w), np.arange(1, len(y) + 1)
        best: list[int] | None = None
        for t in m.tolist():
            without = scores.copy()
            without[y[t - 1], t] = -(2.0**40) * (1.0 + np.abs(scores).max())
            z = eisner(without)
            if z[t - 1] != y[t - 1] and (best is None or scores[z, m].sum() > scores[best, m].sum()):
                best = z
        return best

    def loss(self, y: Any, z: Any) -> float:
        """The number of wrong heads."""
        return float(sum(a != b for a, b in zip(y, z, strict=True)))

    def agreement(self, y: Any, z: Any) -> tuple[int, int]:
        """The number of right heads, and of all."""
        return sum(a == b for a, b in zip(y, z, strict=True)), len(y)

    def state(self) -> dict[str, Any]:
        """The data for a model file."""
        return {"hash_bits": self.hash_bits}

    @classmethod
    def from_state(cls, facts: dict[str, Any]) -> DependencyTrees:
        """The problem that `state` was taken from."""
        return cls(facts["hash_bits"])
