"""Chains: a label for each token, from its features and the label before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.structured.features import Floats, Sparse

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Chains:
    """A label for each token: Φ counts pairs of feature and label, and of neighbouring labels.

    x is a list of tokens, each a list of feature names, or a dict of name → number; y is the list of their
    labels. Viterbi's algorithm finds the best labels; among ties, those that are smallest when read from the
    end. The loss is the number of wrong labels. `SequenceTagger` learns the same in native code; this is its
    plain form, for other losses and other training methods.

    Parameters
    ----------
    labels : sequence of labels, optional
        In the order that decides ties. Default: the labels of the training examples, sorted.
    names : sequence of feature names, optional
        The features that have weights; others are ignored. Default: the features of the training examples,
        in order of appearance.

    Examples
    --------
    >>> from novikoff import StructuredPerceptron
    >>> X = [[["the"], ["dog"], ["barks"]], [["the"], ["barks"], ["of"], ["dogs"]]]
    >>> Y = [["det", "noun", "verb"], ["det", "noun", "prep", "noun"]]
    >>> model = StructuredPerceptron(Chains(), order="cyclic").fit(X, Y)
    >>> model.predict([[["the"], ["barks"]], [["dogs"], ["barks"]]]), model.verdict_
    ([['det', 'noun'], ['noun', 'verb']], 'separated')
    """

    labels: tuple[Any, ...] | None = None
    names: tuple[str, ...] | None = None

    _number: dict[str, int] = field(init=False, repr=False, compare=False)
    _place: dict[Any, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_number", {name: i for i, name in enumerate(self.names or ())})
        object.__setattr__(self, "_place", {label: i for i, label in enumerate(self.labels or ())})

    def prepared(self, X: Any, Y: Any) -> Chains:
        """The problem with the labels and feature names of the training examples, if none were given."""
        labels, names = self.labels, self.names
        if labels is None:
            try:
                labels = tuple(sorted(set(chain.from_iterable(Y))))
            except TypeError:
                raise TypeError(
                    "y must be lists of labels, all of one kind: expected a list for each sequence of tokens."
                ) from None
        if names is None:
            names = tuple(dict.fromkeys(name for x in X for token in x for name in token))
        return replace(self, labels=labels, names=names)

    @property
    def n_weights(self) -> int:
        """One weight per pair of feature and label, and one per pair of labels."""
        assert self.names is not None and self.labels is not None
        return (len(self.names) + len(self.labels)) * len(self.labels)

    def check(self, x: Any, y: Any) -> None:
        """Reject labels that do not fit the tokens."""
        if not isinstance(y, list):
            raise ValueError(f"y is a {type(y).__name__}: expected a list of labels.")
        if len(y) != len(x):
            raise ValueError(f"there are {len(x)} tokens, but {len(y)} labels.")
        for t, label in enumerate(y):
            if label not in self._place:
                listed = ", ".join(map(repr, (self.labels or ())[:20]))
                raise ValueError(f"the label {label!r} of token {t} is not one of {listed}.")

    def _rows(self, x: Any) -> tuple[Ints, Floats, Ints]:
        """The features of all tokens: their numbers, values and tokens."""
        number, numbers, values, tokens = self._number, [], [], []
        for t, token in enumerate(x):
            pairs = (
                token.items() if isinstance(token, Mapping) else zip(token, (1.0,) * len(token), strict=True)
            )
            for name, value in pairs:
                at = number.get(name)
                if at is not None:
                    numbers.append(at)
                    values.append(value)
                    tokens.append(t)
        return np.array(numbers, np.int64), np.array(values, np.float64), np.array(tokens, np.int64)

    def features(self, x: Any, y: Any) -> Sparse:
        """Pairs of feature and label, feature by feature, then pairs of labels."""
        k = len(self._place)
        labels = np.array([self._place[label] for label in y], dtype=np.int64)
        numbers, values, tokens = self._rows(x)
        pairs = len(self._number) * k + labels[:-1] * k + labels[1:]
        indices = np.concatenate([numbers * k + labels[tokens], pairs])
        return Sparse(indices, np.concatenate([values, np.ones(len(pairs))]), self.n_weights)

    def _scores(self, x: Any, w: Floats) -> tuple[Floats, Floats]:
        """The scores of each token's labels from its features, and the scores of pairs of labels."""
        k = len(self._place)
        table = w.reshape(-1, k)
        numbers, values, tokens = self._rows(x)
        scores = np.zeros((len(x), k))
        np.add.at(scores, tokens, values[:, None] * table[numbers])
        return scores, table[len(self._number) :]

    def decode(self, x: Any, w: Floats, y: Any = None) -> list[Any]:
        """The best labels; with y, wrong labels score 1 more."""
        scores, pairs = self._scores(x, w)
        if y is not None:
            scores += 1.0
            scores[np.arange(len(y)), [self._place[label] for label in y]] -= 1.0
        assert self.labels is not None
        return [self.labels[c] for c in viterbi(scores, pairs)]

    def runner_up(self, x: Any, w: Floats, y: Any) -> list[Any] | None:
        """The best labels other than y: the best path through a wrong label."""
        if not len(x) or len(self._place) < 2:
            return None
        scores, pairs = self._scores(x, w)
        forward, backward = through(scores, pairs)
        best = forward + backward
        best[np.arange(len(y)), [self._place[label] for label in y]] = -np.inf
        t, c = np.unravel_index(np.argmax(best), best.shape)
        only = np.arange(len(self._place)) == c
        scores[t] = np.where(only, scores[t], -np.inf)
        assert self.labels is not None
        return [self.labels[c] for c in viterbi(scores, pairs)]

    def loss(self, y: Any, z: Any) -> float:
        """The number of wrong labels."""
        return float(sum(a != b for a, b in zip(y, z, strict=True)))

    def agreement(self, y: Any, z: Any) -> tuple[int, int]:
        """The number of right labels, and of all."""
        return sum(a == b for a, b in zip(y, z, strict=True)), len(y)

    def state(self) -> dict[str, Any]:
        """The data for a model file."""
        assert self.names is not None and self.labels is not None
        return {"labels": list(self.labels), "names": list(self.names)}

    @classmethod
    def from_state(cls, facts: dict[str, Any]) -> Chains:
        """The problem that `state` was taken from."""
        return cls(tuple(facts["labels"]), tuple(facts["names"]))


def viterbi(scores: Floats, pairs: Floats) -> list[int]:
    """The best path: δ_t(c) = max_b (δ_{t−1}(b) + pairs[b, c]) + scores[t, c], the lowest b in a tie.

    So among equal paths it finds the one that is smallest when read from the end.
    """
    n = len(scores)
    if not n:
        return []
    came = np.zeros(scores.shape, dtype=np.int64)
    best = scores[0]
    for t in range(1, n):
        ways = best[:, None] + pairs
        came[t] = ways.argmax(axis=0)
        best = ways.max(axis=0) + scores[t]
    path = [int(best.argmax())]
    for t in range(n - 1, 0, -1):
        path.append(int(came[t, path[-1]]))
    return path[::-1]


def through(scores: Floats, pairs: Floats) -> tuple[Floats, Floats]:
    """For each token and label, the best score of the path up to it, and of the path after it."""
    forward, backward = scores.copy(), np.zeros_like(scores)
    for t in range(1, len(scores)):
        forward[t] += (forward[t - 1][:, None] + pairs).max(axis=0)
    for t in range(len(scores) - 2, -1, -1):
        backward[t] = (pairs + (scores[t + 1] + backward[t + 1])[None, :]).max(axis=1)
    return forward, backward
