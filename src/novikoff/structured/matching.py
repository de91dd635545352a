"""Bipartite matching."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff.data.rounding import exact_doubles
from novikoff.structured.features import Floats

FORBIDDEN = 2.0**40  # times the largest score: a penalty that no matching can offset


@dataclass(frozen=True)
class Matching:
    """A different partner on the right for each item on the left: y[i] is the partner of i.

    x has the shape (left, right, features), left ≤ right: the features of every pair. Φ(x, y) = Σ x[i, y[i]];
    scipy's `linear_sum_assignment` finds the best matching; the loss is the number of wrong partners.

    Examples
    --------
    >>> from novikoff import StructuredPerceptron
    >>> age, height = np.array([3.0, 8, 5]), np.array([1.1, 0.9, 1.3])
    >>> x = -np.abs(age[:, None] - 10 * (height - 0.5))[:, :, None]  # one feature: how badly they fit
    >>> model = StructuredPerceptron(Matching()).fit([x], [[1, 2, 0]])
    >>> model.predict([x]), model.verdict_
    ([[1, 2, 0]], 'separated')
    """

    def check(self, x: Any, y: Any) -> None:
        """Reject a y that is not a matching of x."""
        n, m = self._pairs(x).shape[:2]
        whole = isinstance(y, list) and all(isinstance(j, int | np.integer) for j in y)
        if not whole or len(y) != n or len(set(y)) != n or (n and not 0 <= min(y) <= max(y) < m):
            raise ValueError(
                f"y is {str(y)[:60]}: expected {n} different numbers from 0 to {m - 1}, the partner of each "
                "item on the left."
            )

    def _pairs(self, x: Any) -> Floats:
        pairs = exact_doubles(x, "x.flat[{}]".format)
        if pairs.ndim != 3 or pairs.shape[0] > pairs.shape[1]:
            raise ValueError(
                f"x has the shape {pairs.shape}: expected (left, right, features) with left ≤ right."
            )
        return pairs

    def features(self, x: Any, y: Any) -> Floats:
        """Σ x[i, y[i]]."""
        total: Floats = self._pairs(x)[np.arange(len(y)), np.asarray(y, dtype=np.intp)].sum(axis=0)
        return total

    def decode(self, x: Any, w: Floats, y: Any = None) -> list[int]:
        """The matching with the highest score; with y, wrong partners score 1 more."""
        scores = self._pairs(x) @ w
        if y is not None:
            scores = scores + 1.0
            scores[np.arange(len(y)), y] -= 1.0
        return self._best(scores)

    def _best(self, scores: Floats) -> list[int]:
        from scipy.optimize import linear_sum_assignment

        return linear_sum_assignment(scores, maximize=True)[1].tolist()  # type: ignore[no-any-return]

    def runner_up(self, x: Any, w: Floats, y: Any) -> list[int] | None:
        """The best matching other than y, found by forbidding each pair of y in turn."""
        scores = self._pairs(x) @ w
        rows = np.arange(len(y))
        best: list[int] | None = None
        for i in rows.tolist():
            without = scores.copy()
            without[i, y[i]] = -FORBIDDEN * (1.0 + np.abs(scores).max())
            z = self._best(without)
            if z[i] != y[i] and (best is None or scores[rows, z].sum() > scores[rows, best].sum()):
                best = z
        return best

    def loss(self, y: Any, z: Any) -> float:
        """The number of wrong partners."""
        return float(np.count_nonzero(np.asarray(y) != np.asarray(z)))

    def agreement(self, y: Any, z: Any) -> tuple[int, int]:
        """The number of right partners, and of all."""
        return int(np.count_nonzero(np.asarray(y) == np.asarray(z))), len(y)

    def state(self) -> dict[str, Any]:
        """The data for a model file."""
        return {}

    @classmethod
    def from_state(cls, facts: dict[str, Any]) -> Matching:
        """The problem that `state` was taken from."""
        return cls()
