"""Classes as the smallest structure: one block of weights per class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novikoff.data.rounding import exact_doubles
from novikoff.structured.features import Floats, Sparse
from novikoff.structured.weights import exact_dot


@dataclass(frozen=True)
class Multiclass:
    """One of several classes: Φ(x, y) is x in the block of class y, so w·Φ(x, y) = w_y·x.

    With three classes or more this is `Perceptron(multiclass="joint")`, with the same updates and weights:
    scores that are close are compared exactly, and the lowest class wins a tie.

    Parameters
    ----------
    classes : sequence of labels, optional
        In the order that decides ties. Default: the classes of the training examples, sorted.
    fit_intercept : bool, default True
        Whether every x is extended by a coordinate 1.

    Examples
    --------
    >>> from novikoff import StructuredPerceptron
    >>> X = np.array([[1.0, 0], [0, 1], [-1, -1]])
    >>> model = StructuredPerceptron(Multiclass(fit_intercept=False), order="cyclic").fit(X, ["a", "b", "c"])
    >>> model.predict([[3.0, 1.0]]), model.verdict_
    (['a'], 'separated')
    >>> model.weights_.reshape(3, 2)
    array([[ 1.,  0.],
           [ 0.,  1.],
           [-1., -1.]])
    """

    classes: tuple[Any, ...] | None = None
    fit_intercept: bool = True

    def prepared(self, X: Any, Y: Any) -> Multiclass:
        """The problem with the classes of the training examples, if none were given."""
        if self.classes is not None:
            return self
        try:
            found = sorted(set(np.asarray(Y).tolist()))
        except TypeError:
            raise TypeError("Labels must all be of one kind, but these are not.") from None
        return replace(self, classes=tuple(found))

    def check(self, x: Any, y: Any) -> None:
        """Reject a label that is not one of the classes."""
        assert self.classes is not None
        if y not in self.classes:
            listed = ", ".join(map(repr, self.classes[:20]))
            raise ValueError(f"the label {y!r} is not one of the classes {listed}.")

    def _row(self, x: Any) -> Floats:
        row = exact_doubles(x.toarray() if hasattr(x, "toarray") else x, "x[{}]".format).reshape(-1)
        return np.append(row, 1.0) if self.fit_intercept else row

    def features(self, x: Any, y: Any) -> Sparse:
        """x in the block of class y."""
        assert self.classes is not None
        row = self._row(x)
        block = self.classes.index(y) * len(row)
        return Sparse(np.arange(block, block + len(row)), row, len(self.classes) * len(row))

    def decode(self, x: Any, w: Floats, y: Any = None) -> Any:
        """The class with the highest score, the lowest in a tie; with y, all other classes score 1 more."""
        assert self.classes is not None
        right = None if y is None else self.classes.index(y)
        return self.classes[self._best(self._row(x), w, right, without=None)]

    def runner_up(self, x: Any, w: Floats, y: Any) -> Any:
        """The best class other than y."""
        assert self.classes is not None
        if len(self.classes) < 2:
            return None
        return self.classes[self._best(self._row(x), w, None, without=self.classes.index(y))]

    def _best(self, row: Floats, w: Floats, right: int | None, without: int | None) -> int:
        """The class with the highest score plus cost, decided exactly."""
        assert self.classes is not None
        W = w.reshape(len(self.classes), len(row))
        costs = np.zeros(len(W)) if right is None else np.where(np.arange(len(W)) == right, 0.0, 1.0)
        with np.errstate(all="ignore"):
            scores = W @ row + costs
            doubt = (len(row) + 4) * 2.0**-52 * (np.abs(W) @ np.abs(row) + costs) + 1e-300
            if without is not None:
                scores[without], doubt[without] = -np.inf, 0.0
            sure = scores - doubt
            near = np.flatnonzero(~(scores + doubt < np.max(sure)))  # where sums overflow, all are near
        near = near[near != without] if without is not None else near
        best = int(near[0])
        both = np.concatenate([row, row, [1.0]])
        for c in near[1:].tolist():
            if exact_dot(np.concatenate([W[c], -W[best], [costs[c] - costs[best]]]), both) > 0:
                best = c
        return best

    def loss(self, y: Any, z: Any) -> float:
        """1 for a wrong class."""
        return float(y != z)

    def state(self) -> dict[str, Any]:
        """The data for a model file."""
        assert self.classes is not None
        return {"classes": list(self.classes), "fit_intercept": self.fit_intercept}

    @classmethod
    def from_state(cls, facts: dict[str, Any]) -> Multiclass:
        """The problem that `state` was taken from."""
        return cls(tuple(facts["classes"]), bool(facts["fit_intercept"]))
