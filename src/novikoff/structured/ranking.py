"""Rankings: the order of items by score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.data.rounding import exact_doubles
from novikoff.structured.features import Floats


@dataclass(frozen=True)
class Ranking:
    """The order of the rows of x, best first: y is a list of their numbers.

    Φ(x, y) = Σ (x_i − x_j) over all pairs with i before j, which is Σ (n − 1 − 2·place_i)·x_i: the best order
    is by the scores w·x_i; rows with equal scores keep their order. The loss is Spearman's footrule,
    Σ |place in y − place in z|; the order with the highest score plus loss is found as an assignment of rows
    to places.

    Examples
    --------
    >>> from novikoff import StructuredPerceptron
    >>> hotels = np.array([[4.0, 120], [5, 90], [3, 80]])  # stars, price
    >>> model = StructuredPerceptron(Ranking(), random_state=0).fit([hotels], [[1, 2, 0]])
    >>> model.predict([np.array([[2.0, 150], [4, 70]])])
    [[1, 0]]
    """

    def check(self, x: Any, y: Any) -> None:
        """Reject a y that is not an order of the rows."""
        n = len(self._items(x))
        if not isinstance(y, list) or sorted(y) != list(range(n)):
            raise ValueError(f"y is {str(y)[:60]}: expected a list of the numbers 0 to {n - 1}, each once.")

    def _items(self, x: Any) -> Floats:
        items = exact_doubles(x, "x.flat[{}]".format)
        if items.ndim != 2:
            raise ValueError(f"x has the shape {items.shape}: expected a row of numbers for each item.")
        return items

    def features(self, x: Any, y: Any) -> Floats:
        """Σ (x_i − x_j) over all pairs with i before j."""
        items, n = self._items(x), len(y)
        return (n - 1.0 - 2 * np.arange(n)) @ items[np.asarray(y, dtype=np.intp)]

    def decode(self, x: Any, w: Floats, y: Any = None) -> list[int]:
        """The rows by decreasing score; with y, the order with the highest score plus loss."""
        scores = self._items(x) @ w
        if y is None:
            return np.argsort(-scores, kind="stable").tolist()  # type: ignore[no-any-return]
        from scipy.optimize import linear_sum_assignment

        n = len(scores)
        places: npt.NDArray[Any] = np.arange(n)
        gains = np.outer(n - 1.0 - 2 * places, scores) + np.abs(places[:, None] - np.argsort(y)[None, :])
        return linear_sum_assignment(gains, maximize=True)[1].tolist()  # type: ignore[no-any-return]

    def runner_up(self, x: Any, w: Floats, y: Any) -> list[int] | None:
        """The best order other than y. If y is the best, two of its neighbours are exchanged."""
        best = self.decode(x, w)
        if best != y:
            return best
        if len(y) < 2:
            return None
        scores = (self._items(x) @ w)[y]
        at = int(np.argmin(scores[:-1] - scores[1:]))
        return [*y[:at], y[at + 1], y[at], *y[at + 2 :]]

    def loss(self, y: Any, z: Any) -> float:
        """Spearman's footrule: the sum of the distances of the items from their places."""
        return float(np.abs(np.argsort(y) - np.argsort(z)).sum())

    def agreement(self, y: Any, z: Any) -> tuple[int, int]:
        """The number of pairs in the right order, and of all pairs."""
        places = np.argsort(z)[y]
        return int(np.triu(places[:, None] < places[None, :], 1).sum()), len(y) * (len(y) - 1) // 2

    def state(self) -> dict[str, Any]:
        """The data for a model file."""
        return {}

    @classmethod
    def from_state(cls, facts: dict[str, Any]) -> Ranking:
        """The problem that `state` was taken from."""
        return cls()
