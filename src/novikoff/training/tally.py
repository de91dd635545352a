"""How often a model is right on some rows, and how often always answering one class would be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[Any]


class Score(NamedTuple):
    """The errors of a model on n rows, of which the most frequent class has `largest` (None: not counted).

    `f1` is that of chunks, where rows are tokens whose labels form chunks.

    >>> Score(5, 200, 150).accuracy
    0.975
    """

    errors: int
    n: int
    largest: int | None = None
    f1: float | None = None

    @property
    def accuracy(self) -> float:
        return 1 - self.errors / self.n

    @property
    def baseline(self) -> float | None:
        """The accuracy of always answering the most frequent class."""
        return None if self.largest is None else self.largest / self.n

    def to_dict(self) -> dict[str, Any]:
        """All figures by name."""
        figures = {**self._asdict(), "accuracy": self.accuracy, "baseline": self.baseline}
        return figures if self.f1 is not None else {k: v for k, v in figures.items() if k != "f1"}


@dataclass
class Tally:
    """Counts of rows by class and of errors, over parts of the rows in their order.

    >>> tally = Tally()
    >>> tally.add(np.array([0, 0, 1]), np.array([0, 1, 1]))
    >>> tally.add(np.array([1, 1]), np.array([1, 1]))
    >>> tally.score, tally.changes
    (Score(errors=1, n=5, largest=3, f1=None), 1)
    """

    errors: int = 0
    by_class: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    changes: int = 0  # how often the class changes from one row to the next
    last: int = -1  # the class of the last row
    f1: float | None = None  # of chunks; unknown of a sum

    def add(self, labels: Ints, predicted: Ints | None = None) -> None:
        """Count consecutive rows; without predictions all count as right."""
        if not len(labels):
            return
        self.by_class = _sum(np.bincount(labels), self.by_class)
        self.changes += int(np.count_nonzero(labels[1:] != labels[:-1])) + (self.last not in (-1, labels[0]))
        self.last = int(labels[-1])
        if predicted is not None:
            self.errors += int(np.count_nonzero(predicted != labels))

    def __add__(self, other: Tally) -> Tally:
        """Both, of separate rows."""
        total = _sum(self.by_class, other.by_class)
        return Tally(self.errors + other.errors, total, self.changes + other.changes, other.last)

    @property
    def n(self) -> int:
        return int(self.by_class.sum())

    @property
    def score(self) -> Score | None:
        return Score(self.errors, self.n, int(self.by_class.max()), self.f1) if self.n else None

    @property
    def in_runs(self) -> bool:
        """Whether the class changes less than half as often as in randomly ordered rows.

        >>> tally = Tally()
        >>> tally.add(np.repeat([0, 1, 2], 100))
        >>> tally.in_runs
        True
        """
        n = self.n
        return n >= 100 and self.changes / n < 0.5 * (1 - float(np.sum((self.by_class / n) ** 2)))


def percent(part: int, of: int) -> str:
    """A share in percent, rounded to nearest, but 100 only for all, and 0 only for none."""
    hundredths = min(max(round(10_000 * part / of), part > 0), 10_000 - (part < of)) if of else 0
    return f"{hundredths // 100}.{hundredths % 100:02} %"


def hundredths(share: float) -> str:
    """A share times 100, rounded to nearest, but 100 only for all.

    >>> hundredths(0.9391), hundredths(0.999999)
    ('93.91', '99.99')
    """
    return f"{100 * share if share >= 1 else min(100 * share, 99.99):.2f}"


AFFORDABLE = 1 << 24  # (row, support) pairs


def affordable(n: int, cost: int) -> slice:
    """All of n rows if predicting each takes few steps, otherwise evenly spaced ones.

    >>> affordable(60_000, 100), affordable(60_000, 5_000)
    (slice(0, 60000, 1), slice(0, 60000, 18))
    """
    return slice(0, n, max(-(-n * cost // AFFORDABLE), 1))


def _sum(counts: Ints, more: Ints) -> Ints:
    total = np.zeros(max(len(counts), len(more)), dtype=np.int64)
    total[: len(counts)] += counts
    total[: len(more)] += more
    return total
