"""Projective dependency trees, by their arcs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from novikoff.structured.eisner import crossing, eisner
from novikoff.structured.weights import Floats, Sparse

Words = npt.NDArray[np.uint64]

# What an arc looks at, of its head h and its dependent m: w the word, p its tag, - and + the tags beside it
# (McDonald, Crammer and Pereira 2005, table 1). Each comes alone, and with direction and distance.
TEMPLATES = (
    *("hw hp", "hw", "hp", "mw mp", "mw", "mp"),
    *("hw hp mw mp", "hp mw mp", "hw mw mp", "hw hp mp", "hw hp mw", "hw mw", "hp mp"),
    *("hp h+ m- mp", "h- hp m- mp", "hp h+ mp m+", "h- hp mp m+"),
)
FIELDS = ("w", "p", "-", "+")
ROOT, FIRST, LAST = ("\x02root", "\x02first", "\x02last")
MIX = np.uint64(0x9E3779B97F4A7C15)
BETWEEN = len(TEMPLATES) * 8  # the places in FACTORS of what the tags between use
FACTORS = np.random.Generator(np.random.PCG64(1962)).integers(
    1, 2**63, BETWEEN + 8, dtype=np.uint64
) * np.uint64(2) + np.uint64(1)


@lru_cache(maxsize=1 << 18)
def _hashed(text: str) -> int:
    """64 bits of a text, the same in every process."""
    data = text.encode("utf-8", "surrogatepass")
    return crc32(data) << 32 | crc32(data, 0x9E3779B9)


@dataclass(frozen=True)
class DependencyTrees:
    """A head for each word: projective trees with one root, scored arc by arc.

    x is a list of (word, tag) pairs; y[i] is the head of word i + 1, counted from 1, 0 for the root, as in
    CoNLL-U. An arc's features are words and tags of head and dependent, the tags beside and between them,
    direction and distance (McDonald, Crammer and Pereira 2005), by hashed names; the best tree is found by
    Eisner's algorithm. The loss is the number of wrong heads, and `score` the share of right ones (the
    unlabelled attachment score).

    Parameters
    ----------
    hash_bits : int, default 22
        There are 2**hash_bits weights, in which features share places.

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
    _last: list[Any] = field(default_factory=lambda: [None, None], repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.hash_bits, int) or not 1 <= self.hash_bits <= 30:
            raise ValueError(
                f"hash_bits={self.hash_bits!r} is not possible: expected a whole number from 1 to 30."
            )

    @property
    def n_weights(self) -> int:
        """One for each place."""
        return 1 << self.hash_bits

    def check(self, x: Any, y: Any) -> None:
        """Refuse what is not a projective tree over the words."""
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
                raise ValueError(f"the heads go round in a circle at word {m}.")
        bad = crossing(y)
        if bad:
            raise ValueError(
                f"the arc of word {min(bad)} crosses another: Eisner's trees are projective. Leave the example out, "
                "or lift such arcs by novikoff.structured.eisner.projective(heads)."
            )

    # -- features
    def _arcs(self, x: Any) -> tuple[Words, npt.NDArray[np.bool_]]:
        """Places of the features of every arc, (features, heads, dependents), and which of them it has."""
        tokens = list(x)
        if self._last[0] == tokens:
            return self._last[1]  # type: ignore[no-any-return]
        found = self._made(tokens)
        self._last[:] = tokens, found
        return found

    def _made(self, tokens: list[Any]) -> tuple[Words, npt.NDArray[np.bool_]]:
        n = len(tokens)
        w = np.array([_hashed(ROOT), *(_hashed(word) for word, _ in tokens)], dtype=np.uint64)
        tags = [ROOT, *(tag for _, tag in tokens)]
        p = np.array([_hashed(FIRST), *map(_hashed, tags), _hashed(LAST)], dtype=np.uint64)
        fields = {"w": w, "p": p[1:-1], "-": p[:-2], "+": p[2:]}
        codes = np.empty((2 * len(TEMPLATES), n + 1, n + 1), dtype=np.uint64)
        place = np.arange(n + 1)
        distance = np.abs(place[:, None] - place[None, :])
        bucket = np.where(distance < 5, distance, np.where(distance < 10, 5, 6))
        way = (bucket + 8 * (place[:, None] < place[None, :]) + 1).astype(np.uint64)
        away = way * FACTORS[BETWEEN]
        for t, template in enumerate(TEMPLATES):
            sides = {
                side: np.full(n + 1, FACTORS[8 * t + 7] if side == "h" else 0, np.uint64) for side in "hm"
            }
            for part in template.split():
                side, name = part[0], part[1]
                sides[side] += fields[name] * FACTORS[8 * t + FIELDS.index(name) + (4 if side == "m" else 0)]
            np.add(sides["h"][:, None], sides["m"][None, :], out=codes[t])
        codes[len(TEMPLATES) :] = codes[: len(TEMPLATES)] + away
        # The tags between, each once: those that occur up to here, less those up to there.
        kinds, which = np.unique(p[1:-1], return_inverse=True)
        seen = np.zeros((n + 2, len(kinds)), dtype=np.int64)
        seen[np.arange(1, n + 2), which] = 1
        seen = seen.cumsum(axis=0)
        low, high = np.minimum.outer(place, place), np.maximum.outer(place, place)
        inside = (seen[high] > seen[np.minimum(low + 1, n + 1)]).transpose(2, 0, 1)
        tag = fields["p"]
        across = (tag * FACTORS[BETWEEN + 1])[:, None] + (tag * FACTORS[BETWEEN + 2])[None, :]
        across = across + (way >> np.uint64(3)) * FACTORS[BETWEEN + 3]
        between = across[None] + (kinds * FACTORS[BETWEEN + 4])[:, None, None]
        codes = np.concatenate([codes, between])
        codes ^= codes >> np.uint64(32)
        codes *= MIX
        codes >>= np.uint64(64 - self.hash_bits)
        has = np.concatenate([np.ones((2 * len(TEMPLATES), n + 1, n + 1), dtype=bool), inside])
        return codes, has

    def features(self, x: Any, y: Any) -> Sparse:
        """How often the tree's arcs have each feature."""
        codes, has = self._arcs(x)
        m = np.arange(1, len(y) + 1)
        h = np.asarray(y, dtype=np.intp)
        places = codes[:, h, m][has[:, h, m]].astype(np.int64)
        return Sparse(places, np.ones(len(places)), self.n_weights)

    # -- decoding
    def _scores(self, x: Any, w: Floats) -> Floats:
        codes, has = self._arcs(x)
        k = 2 * len(TEMPLATES)
        scores: Floats = w[codes[:k]].sum(axis=0) + np.where(has[k:], w[codes[k:]], 0.0).sum(axis=0)
        return scores

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
        """The best tree other than y: each of its arcs is left out in turn."""
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
        """How many heads are wrong."""
        return float(sum(a != b for a, b in zip(y, z, strict=True)))

    def agreement(self, y: Any, z: Any) -> tuple[int, int]:
        """How many heads are right, and of how many."""
        return sum(a == b for a, b in zip(y, z, strict=True)), len(y)

    def state(self) -> dict[str, Any]:
        """What a model file says of it."""
        return {"hash_bits": self.hash_bits}

    @classmethod
    def from_state(cls, facts: dict[str, Any]) -> DependencyTrees:
        """The problem that `state` was taken from."""
        return cls(facts["hash_bits"])
