"""The rows of a source as tuning reads them: those learned from and those held out, scaled for each part."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff.data.arrays import rows_of, some_rows
from novikoff.data.labels import Ints, StreamClasses, as_text, counts_of
from novikoff.data.scaling import ColumnSums, Scaling
from novikoff.data.sources.block import Block, Floats, Matrix
from novikoff.data.sources.progress import Progress, Watch
from novikoff.data.sources.source import Source
from novikoff.parameters.common import AUTO
from novikoff.training.examples import Batch
from novikoff.training.piles import BLOCK, Piles
from novikoff.training.riffle import Order, Riffle
from novikoff.tuning.parts import Folds, Parts

MEASURED = (AUTO, "standard", "maxabs")


class Visits(NamedTuple):
    """Some visits of an epoch: rows, their order (None: as they stand), and the folds of each row."""

    X: Matrix
    labels: Ints
    weights: Floats | None
    order: Order | None
    folds: Folds
    where: Callable[[int], str]


class Rows:
    """The rows of a source with the parts in which they are held out."""

    def __init__(
        self, source: Source, classes: StreamClasses, parts: Parts, watch: Watch | None, order: str
    ) -> None:
        self.source, self.classes, self.parts, self._watch = source, classes, parts, watch
        self._piles = Piles(source, self._all_of) if order == "riffle" else None
        self.n_rows = 0
        self.held_counts: list[list[int]] = []  # of held-out rows, by part and class
        self._class_weights: list[dict[str, float] | None] = []
        self._sums: list[ColumnSums] = []

    def blocks(self, doing: str) -> Iterator[tuple[Block, Folds]]:
        """One pass, with the folds of each row."""
        rows, started = 0, time.perf_counter()
        for block in self.source.blocks(reuse=True):
            yield block, self.parts.folds(np.arange(rows, rows + block.n_rows))
            rows += block.n_rows
            if self._watch is not None:
                seconds = time.perf_counter() - started
                self._watch(Progress(doing, rows, block.consumed, self.source.size, 0, seconds))
        self.n_rows = rows

    def _all_of(self, block: Block) -> tuple[Ints, Floats | None, None]:
        return self.labels(block), block.weights, None

    def visits(self, doing: str, epoch: int) -> Iterator[Visits]:
        """One pass in the order of learning."""
        if self._piles is None:
            for block, folds in self.blocks(doing):
                yield Visits(block.X, self.labels(block), block.weights, None, folds, block.where)
            return
        done, started = 0, time.perf_counter()
        rng = np.random.default_rng([self.parts.seed, epoch])  # the same for all that learn in turns
        for hand in self._piles.hands(Riffle(self.n_rows, rng)):
            folds = self.parts.folds(hand.numbers)
            yield Visits(hand.X, hand.labels, hand.weights, hand.order, folds, hand.where)
            done += len(hand.labels)
            if self._watch is not None:
                size, seconds = self.source.size, time.perf_counter() - started
                self._watch(Progress(doing, done, (size or 0) * done // self.n_rows, size, 0, seconds))

    # -- the passes before learning
    def look(
        self, scales: Sequence[str | None], class_weight: dict[str, float] | str | None, scoring: str
    ) -> None:
        """Find classes and columns; measure what scaling and class weights need, per part.

        Raises one clear error if these rows are too few, or have not the classes that `scoring` needs.
        """
        measured = any(scale in MEASURED for scale in scales)
        if self._piles is not None:
            self.source.divide(BLOCK)
        once = self.parts
        learned = self._measured(measured, first=True)
        if self.source.only_in_order:  # too large to keep
            self._piles = None
        self.parts = once.for_rows(self.n_rows)
        if self.parts.repeats > 1:
            learned = self._measured(measured)
            if self._problem(learned, scoring):  # which a single division may not have
                self.parts = once
                learned = self._measured(measured)
        if problem := self._problem(learned, scoring):
            raise ValueError(problem)
        if class_weight == "balanced":
            self._class_weights = [{name: c.total() / (len(c) * n) for name, n in c.items()} for c in learned]
        else:
            assert not isinstance(class_weight, str)
            self._class_weights = [class_weight] * self.parts.count

    def _measured(self, measured: bool, *, first: bool = False) -> list[Counter[str]]:
        """One pass: the rows by class that are left to learn from when each part is held out."""
        count = self.parts.count
        self._sums = [ColumnSums() for _ in range(count)]
        held: list[Counter[str]] = [Counter() for _ in range(count)]
        learned: list[Counter[str]] = [Counter() for _ in range(count)]
        for block, folds in self.blocks("first look"):
            if block.labels is None:
                raise ValueError(f"{block.where(0)}: there is no label to learn from.")
            if first and self.classes.declared is None:
                self.classes.add(block.labels, block.where)
            else:
                self.classes.find(block.labels, block.where)
            labels = self.classes.rename(block.labels)
            weighs = np.ones(block.n_rows, dtype=bool) if block.weights is None else block.weights > 0
            for part in range(count):
                out = self.parts.held_out(folds, part)
                for counts, rows in ((held[part], out & weighs), (learned[part], ~out & weighs)):
                    counts.update({as_text(label): n for label, n in counts_of(labels[rows]).items()})
                if measured:
                    rest = np.flatnonzero(~out)
                    self._sums[part].add(some_rows(block.X, rest), partial(_where, block, rest))
            if first and self._piles is not None:
                self._piles.note(block)
        names = [as_text(c) for c in self.classes.labels.tolist()]
        self.held_counts = [[counts[name] for name in names] for counts in held]
        return learned

    def _problem(self, learned: list[Counter[str]], scoring: str) -> str:
        """Why these rows cannot be tuned on; empty if they can."""
        names = [as_text(c) for c in self.classes.labels.tolist()]
        totals = [n + learned[0][name] for name, n in zip(names, self.held_counts[0], strict=True)]
        names = [name for name, n in zip(names, totals, strict=True) if n]
        if len(names) < 2:
            every = f"but every row has the label {names[0]!r}" if names else "but no row has a weight"
            return f"{self.source.name}: there must be at least two classes, {every}."
        for part, counts in enumerate(learned):
            what = self.parts.in_words(part)
            if not sum(self.held_counts[part]):
                return (
                    f"{self.source.name}: there are too few rows ({self.n_rows:,}) to tune: {what} holds "
                    "none out; give more rows, or another random_state, or fewer folds."
                )
            absent = [name for name in names if not counts[name]]
            if len(names) - len(absent) < 2:  # otherwise the rows of an absent class count as wrong
                return (
                    f"{self.source.name}: no row of the class {absent[0]!r} is left for training when "
                    f"{what} is held out; give more rows, or another random_state."
                )
        if scoring == "auc" and self.classes.n_classes != 2:
            return (
                f"scoring='auc' needs two classes, but there are {self.classes.n_classes}: choose "
                "'accuracy', 'balanced_accuracy' or 'f1', or learn one class against the others."
            )
        if scoring == "auc" and (lacking := [p for p, c in enumerate(self.held_counts) if min(c) == 0]):
            return (
                f"scoring='auc' needs held-out rows of both classes, but part {lacking[0] + 1} of "
                f"{self.parts.count} has only one: give more rows, fewer folds, or another random_state."
            )
        return ""

    # -- training rows and held-out rows
    def scaling(self, scale: str | None, part: int) -> Scaling | None:
        """What a fit on the rows that are not held out would measure."""
        if scale is None or (scale == AUTO and self.source.features.hashed):
            return None
        if scale in MEASURED:
            return self._sums[part].scaling(scale, self.source.features)
        return Scaling(scale)

    def labels(self, block: Block) -> Ints:
        assert block.labels is not None
        return self.classes.find(block.labels, block.where)

    def visit(self, visits: Visits, part: int, scaling: Scaling | None) -> Batch:
        """The visits to rows that are not held out."""
        X = visits.X if scaling is None else scaling.transform(visits.X)
        labels, weights = visits.labels, visits.weights
        kept = ~self.parts.held_out(visits.folds, part)
        by_class = self._class_weights[part]
        if by_class is not None:
            own: Floats = np.array([by_class.get(as_text(c), 1.0) for c in self.classes.labels.tolist()])[
                labels
            ]
            weights = own if weights is None else own * weights
        if weights is not None:
            kept &= weights > 0
        order = np.flatnonzero(kept) if visits.order is None else visits.order[kept[visits.order]]
        return Batch(X, rows_of(X), labels, weights, order, 0, len(order), visits.where)

    def held(
        self, block: Block, folds: Folds, labels: Ints, part: int, scaling: Scaling | None
    ) -> tuple[Matrix, Ints]:
        """The rows of a block that are held out."""
        here = self.parts.held_out(folds, part)
        if block.weights is not None:
            here &= block.weights > 0
        rows = np.flatnonzero(here)
        X = some_rows(block.X, rows)
        return X if scaling is None else scaling.transform(X), labels[rows]


def _where(block: Block, rows: npt.NDArray[np.int64], row: int) -> str:
    return block.where(int(rows[row]))
