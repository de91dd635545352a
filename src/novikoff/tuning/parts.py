"""Which rows are held out: a fixed hash of a row's number decides, so nothing has to be shuffled in memory.

A part is a set of rows that are held out together. Folds divide all rows into parts of nearly equal size;
repeated folds divide them several times, each time anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from novikoff.parameters.common import AUTO
from novikoff.training.riffle import Order

FOLDS = 5  # of folds="auto"
FEW_ROWS, REPEATS = 1000, 4  # fewer rows are divided this many times
MANY_ROWS = 100_000  # with so many rows, one part says enough

Folds = npt.NDArray[np.int64]  # for each division and row: the fold; −1 for rows that are never held out


def splitmix64(z: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Output number z of the generator SplitMix64 (Steele, Lea and Flood 2014) that starts at 0."""
    z = (z + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@dataclass(frozen=True)
class Parts:
    """The division of rows into parts; `count` of them are held out, one at a time.

    >>> Parts.of(5, None, 0).folds(np.arange(8)).tolist()
    [[2, 3, 0, 4, 3, 3, 0, 4]]
    >>> some = Parts.of("auto", None, 0)
    >>> [some.for_rows(n).count for n in (999, 1000, 100_000)]
    [20, 5, 1]
    """

    seed: int
    n_folds: int = 1
    split: float | None = None
    repeats: int = 1
    count: int = 1
    is_auto: bool = False

    @classmethod
    def of(cls, folds: int | str, split: float | None, seed: int) -> Parts:
        """What `tune` was asked for; "auto" depends on the number of rows: see `for_rows`."""
        if split is not None:
            return cls(seed, split=split)
        if folds == AUTO:
            return cls(seed, FOLDS, count=FOLDS, is_auto=True)
        return cls(seed, int(folds), count=int(folds))

    def for_rows(self, n_rows: int) -> Parts:
        """The same for a known number of rows."""
        if not self.is_auto or FEW_ROWS <= n_rows < MANY_ROWS:
            return self
        repeats = 1 if n_rows >= MANY_ROWS else REPEATS
        count = 1 if n_rows >= MANY_ROWS else FOLDS * REPEATS
        return Parts(self.seed, FOLDS, None, repeats, count, is_auto=True)

    def folds(self, rows: Order) -> Folds:
        """The fold of these rows in every division."""
        start = np.array([self.seed % 2**64], dtype=np.uint64)
        found = []
        for _ in range(self.repeats):
            start = splitmix64(start)
            bits = splitmix64(rows.astype(np.uint64) + start)
            if self.split is not None:
                held = (bits >> np.uint64(11)) < np.uint64(int(self.split * 2**53))
                found.append(np.where(held, 0, -1))
            else:
                fold = ((bits >> np.uint64(32)) * np.uint64(self.n_folds)) >> np.uint64(32)
                found.append(fold.astype(np.int64))
        return np.array(found)

    def held_out(self, folds: Folds, part: int) -> npt.NDArray[np.bool_]:
        """Which of these rows are held out in a part."""
        return np.asarray(folds[part // self.n_folds] == part % self.n_folds)

    def in_words(self, part: int) -> str:
        """A part, for messages."""
        return "the split" if self.split is not None else f"part {part + 1} of {self.count}"

    def __str__(self) -> str:
        if self.split is not None:
            return f"a split of {self.split:g}"
        if self.repeats > 1:
            return f"{self.repeats} times {self.n_folds} folds"
        return f"{self.n_folds} folds" if self.count > 1 else f"1 of {self.n_folds} folds"
