"""How well predictions fit labels, as one number between 0 and 1: what tuning can choose by.

- ``accuracy``: the share of rows that are right.
- ``balanced_accuracy``: the share of a class's rows that are right, as the mean over the classes that occur.
- ``f1``: F1 = 2·right/(own + predicted) of the second of two classes; for three or more classes, the mean
  over those that occur or were predicted. It is 0 if none was.
- ``auc``: the area under the ROC curve, for two classes only: the probability that a row of the second class,
  drawn at random, scores higher than one of the first; a tie counts one half.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.parameters.tuning import SCORINGS

Ints = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


@dataclass(eq=False)
class Tally:
    """Counts by class: rows that are right, of the class, and predicted as it; for the area also scores.

    >>> tally = Tally.of(2)
    >>> tally.add(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), np.array([-2.0, 1.0, 1.0, 3.0]))
    >>> [round(tally.value(name), 4) for name in SCORINGS]
    [0.75, 0.75, 0.8, 0.875]
    """

    right: Ints
    own: Ints
    predicted: Ints
    scores: list[Floats] = field(default_factory=list)  # of two classes; with the labels in `labels`
    labels: list[Ints] = field(default_factory=list)

    @classmethod
    def of(cls, n_classes: int) -> Tally:
        """Nothing counted yet."""
        right, own, predicted = np.zeros((3, n_classes), dtype=np.int64)
        return cls(right, own, predicted)

    @property
    def n_right(self) -> int:
        return int(self.right.sum())

    @property
    def n_rows(self) -> int:
        return int(self.own.sum())

    def add(self, labels: Ints, predicted: Ints, scores: Floats | None = None) -> None:
        """Count rows; `scores` are kept if they are given."""
        k = len(self.own)
        self.right += np.bincount(labels[labels == predicted], minlength=k)
        self.own += np.bincount(labels, minlength=k)
        self.predicted += np.bincount(predicted, minlength=k)
        if scores is not None:
            self.scores.append(np.array(scores))
            self.labels.append(np.array(labels))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        counts = (
            np.array_equal(vars(self)[name], vars(other)[name]) for name in ("right", "own", "predicted")
        )
        return all(counts) and np.array_equal(_joined(self.scores), _joined(other.scores))

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Tally) -> Tally:
        """Both together. Scores are left out, because those of different models cannot be compared."""
        return Tally(self.right + other.right, self.own + other.own, self.predicted + other.predicted)

    def value(self, scoring: str) -> float:
        """The number by this name; NaN without rows, and for the area without rows of both classes."""
        match scoring:
            case "accuracy":
                return self.n_right / self.n_rows if self.n_rows else float("nan")
            case "balanced_accuracy":
                occur = self.own > 0
                return float(np.mean(self.right[occur] / self.own[occur])) if occur.any() else float("nan")
            case "f1":
                either = self.own + self.predicted
                kept = either > 0 if len(either) > 2 else np.array([False, either[1] > 0])
                return float(np.mean(2 * self.right[kept] / either[kept])) if kept.any() else 0.0
            case "auc":
                return area(_joined(self.scores), _joined(self.labels))
        raise ValueError(f"scoring={scoring!r} is not possible: expected one of {', '.join(SCORINGS)}.")


def _joined(parts: list[Any]) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0)


def area(scores: Floats, labels: Ints) -> float:
    """The area under the ROC curve, rounded once; NaN without rows of both classes.

    >>> area(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1]))
    0.75
    """
    negative, positive = np.sort(scores[labels == 0]), scores[labels == 1]
    if not len(negative) or not len(positive):
        return float("nan")
    below, up_to = (int(np.searchsorted(negative, positive, side).sum()) for side in ("left", "right"))
    return float(Fraction(below + up_to, 2 * len(negative) * len(positive)))
