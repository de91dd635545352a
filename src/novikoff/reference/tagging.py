"""The plain twin of the sequence tagger: the readable specification for the tests.

A sentence is a list of tokens, a token a list of (feature number, value). A labelling y of T tokens has the
score Σ_t e_t(y_t) + Σ_{t>0} a(y_{t−1}, y_t) with e_t(c) = Σ_f v_f·w(f, c); sums are taken in that order.
Slow on purpose.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Token = Sequence[tuple[int, float]]
Sentence = Sequence[Token]


@dataclass(frozen=True, eq=False)
class Rules:
    """The allowed transitions, first labels and last labels."""

    step: npt.NDArray[Any]
    start: npt.NDArray[Any]
    end: npt.NDArray[Any]

    def allow(self, y: Sequence[int]) -> bool:
        if not y:
            return True
        inside = all(self.step[p, c] for p, c in pairwise(y))
        return bool(inside and self.start[y[0]] and self.end[y[-1]])


def anything(n_labels: int) -> Rules:
    return Rules(np.ones((n_labels, n_labels)), np.ones(n_labels), np.ones(n_labels))


def emissions(sentence: Sentence, w: Floats) -> Floats:
    """e_t(c); the features of a token are added in their order."""
    e = np.zeros((len(sentence), w.shape[1]))
    for t, token in enumerate(sentence):
        for f, value in token:
            e[t] += w[f] * value
    return e


def score(e: Floats, a: Floats, y: Sequence[int]) -> float:
    """The score of a labelling, summed from the first token to the last."""
    total = 0.0
    for t, c in enumerate(y):
        total = e[t, c] + (total + a[y[t - 1], c]) if t else e[t, c]
    return float(total)


def brute_force(e: Floats, a: Floats, rules: Rules) -> list[int]:
    """The decoder's definition: of all allowed labellings (of all, if none is allowed), one with the highest
    score; of several, the smallest when compared from the end.
    """
    every = [list(y) for y in product(range(a.shape[0]), repeat=len(e))]
    allowed = [y for y in every if rules.allow(y)] or every
    return min(allowed, key=lambda y: (-score(e, a, y), y[::-1]))


def viterbi(e: Floats, a: Floats, rules: Rules) -> list[int]:
    """The same by D_t(c) = e_t(c) + max_p (D_{t−1}(p) + a(p, c)), traced back by the lowest p."""
    if not len(e):
        return []
    d = [np.where(rules.start, e[0], -np.inf)]
    step = np.where(rules.step, a, -np.inf)
    for t in range(1, len(e)):
        d.append(e[t] + (d[-1][:, None] + step).max(axis=0))
    last = np.where(rules.end, d[-1], -np.inf)
    if last.max() == -np.inf:
        return viterbi(e, a, anything(len(a)))
    y = [int(last.argmax())]  # the lowest label of maximal score
    for t in range(len(e) - 2, -1, -1):
        y.append(int((d[t] + step[:, y[-1]]).argmax()))
    return y[::-1]


def brute_force_k(e: Floats, a: Floats, rules: Rules, k: int) -> list[tuple[float, list[int]]]:
    """The definition of the k best: the allowed labellings (all, if none is allowed) by score from the
    highest; of equal ones the smallest first, when compared from the end.
    """
    every = [list(y) for y in product(range(a.shape[0]), repeat=len(e))]
    allowed = [y for y in every if rules.allow(y)] or every
    best = sorted((-score(e, a, y), y[::-1]) for y in allowed)[:k]
    return [(-negative, y[::-1]) for negative, y in best]


def k_best(e: Floats, a: Floats, rules: Rules, k: int) -> list[tuple[float, list[int]]]:
    """The same by the k best prefixes P_t(c) that end in c at token t; best first.

    P_t(c) = e_t(c) + the k best of P_{t−1}(p)[i] + a(p, c), sorted by score, then by the lowest p and i.
    """
    if not len(e):
        return [(0.0, [])]
    step, n = np.where(rules.step, a, -np.inf), range(a.shape[0])
    prefixes = [[(float(e[0, c]), [c])] if rules.start[c] else [] for c in n]

    def merged(added: Floats) -> list[tuple[float, list[int]]]:
        """The k best of all prefixes, each with `added` for its last label."""
        found = [(s + added[p], p, i, y) for p in n for i, (s, y) in enumerate(prefixes[p])]
        best = sorted((entry for entry in found if entry[0] > -np.inf), key=lambda f: (-f[0], f[1], f[2]))
        return [(float(s), y) for s, _, _, y in best[:k]]

    for t in range(1, len(e)):
        prefixes = [[(float(e[t, c] + s), [*y, c]) for s, y in merged(step[:, c])] for c in n]
    return merged(np.where(rules.end, 0.0, -np.inf)) or k_best(e, a, anything(len(a)), k)


@dataclass(eq=False)
class Twin:
    """A structured perceptron for sequences.

    `w` and `a` are the last weights, `u` and `ua` the sums for the mean after each of N visits, (N·w − u)/N.
    `trail` optionally keeps the weights after each visit, for the plain mean.
    """

    n_features: int
    n_labels: int
    rules: Rules
    keep_trail: bool = False
    visits: int = 0
    mistakes: int = 0
    updates: int = 0
    wrong_tokens: int = 0
    radius2: float = 0.0
    trail: list[tuple[Floats, Floats]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.w, self.u = (np.zeros((self.n_features, self.n_labels)) for _ in range(2))
        self.a, self.ua = (np.zeros((self.n_labels, self.n_labels)) for _ in range(2))

    def decode(self, sentence: Sentence) -> list[int]:
        return viterbi(emissions(sentence, self.w), self.a, self.rules)

    def visit(self, sentence: Sentence, y: Sequence[int]) -> None:
        """Decode; on a mistake w += Φ(x, y) − Φ(x, ŷ)."""
        z = self.decode(sentence)
        if z != list(y):
            self.mistakes += 1
            self.wrong_tokens += sum(g != c for g, c in zip(y, z, strict=True))
            before_w, before_a = self.w.copy(), self.a.copy()
            for t, token in enumerate(sentence):
                if y[t] != z[t]:
                    for f, value in token:
                        self._add(self.w, self.u, (f, y[t]), value)
                        self._add(self.w, self.u, (f, z[t]), -value)
                if t and (y[t - 1], y[t]) != (z[t - 1], z[t]):
                    self._add(self.a, self.ua, (y[t - 1], y[t]), 1.0)
                    self._add(self.a, self.ua, (z[t - 1], z[t]), -1.0)
            moved2 = float(((self.w - before_w) ** 2).sum() + ((self.a - before_a) ** 2).sum())
            self.radius2 = max(self.radius2, moved2)
            self.updates += moved2 > 0
        self.visits += 1
        if self.keep_trail:
            self.trail.append((self.w.copy(), self.a.copy()))

    def _add(self, weights: Floats, sums: Floats, at: tuple[int, int], by: float) -> None:
        weights[at] += by
        sums[at] += self.visits * by

    def epoch(
        self, sentences: Sequence[Sentence], labels: Sequence[Sequence[int]], order: Iterable[int]
    ) -> None:
        for s in order:
            self.visit(sentences[s], labels[s])

    def mean(self) -> tuple[Floats, Floats]:
        """N times the mean of the weights after each visit."""
        return self.visits * self.w - self.u, self.visits * self.a - self.ua


def gap(e: Floats, a: Floats, rules: Rules, y: Sequence[int]) -> float:
    """The score of a labelling minus that of the best other allowed one."""
    others = [list(z) for z in product(range(len(a)), repeat=len(e)) if list(z) != list(y)]
    return score(e, a, y) - max((score(e, a, z) for z in others if rules.allow(z)), default=-np.inf)


def through(e: Floats, a: Floats, rules: Rules) -> Floats:
    """For every position and label, the best score of a labelling with this label there."""
    best = np.full(e.shape, -np.inf)
    every = [list(y) for y in product(range(len(a)), repeat=len(e))]
    for y in [y for y in every if rules.allow(y)] or every:
        for t, c in enumerate(y):
            best[t, c] = max(best[t, c], score(e, a, y))
    return best
