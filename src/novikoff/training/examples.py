"""The examples of a run: the rows of a matrix, in any order. Those of a source are in `streaming`."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from novikoff import _core
from novikoff.data.arrays import check_mapped, is_memory_mapped, is_sparse, row_bytes, rows_of, some_rows
from novikoff.data.mapped import picked
from novikoff.data.scaling import power_factors
from novikoff.outward import LARGEST
from novikoff.training.held_out import hold_out
from novikoff.training.ledger import Seen
from novikoff.training.plan import Plan
from novikoff.training.riffle import Order, Riffle
from novikoff.training.tally import Tally
from novikoff.training.weights import Floats, Ints, Model, Scorer

CALL_BYTES = 1 << 26  # bytes of rows per native call: a fraction of a second, then Python may interrupt
SAMPLE = 200  # rows that a report looks at before it gives advice
BLOCK_BYTES = 1 << 24  # memory-mapped rows are shuffled within blocks of this size


class Batch(NamedTuple):
    """The rows of one native call: `order[begin:end]`, or rows `begin` to `end` of X without an order."""

    X: Any
    rows: _core.Rows
    labels: Ints
    weights: Floats | None
    order: Order | None
    begin: int
    end: int
    where: Callable[[int], str] | None = None  # the name of a row in messages; None: its number


def weighted(weights: Floats | None) -> Order | None:
    """The rows whose weight is not 0; None for all rows."""
    return None if weights is None or weights.all() else np.flatnonzero(weights).astype(np.int64)


def not_all_one(weights: Floats | None) -> bool:
    """Whether some row has a weight other than 0 and 1."""
    return weights is not None and bool(((weights != 1) & (weights != 0)).any())


def with_sizes(sizes: Floats, rows: _core.Rows, order: Order | None, begin: int, end: int) -> Floats:
    """The largest |x| of every column so far, raised to those of `order[begin:end]`."""
    if rows.d > len(sizes):
        sizes = np.concatenate([sizes, np.zeros(rows.d - len(sizes))])
    _core.column_sizes(_core.Examples(rows, None, None, order), begin, end, sizes)
    return sizes


def unevenness(X: Any, factors: Floats | None) -> tuple[float, float]:
    """`uneven` and `off_centre` of some rows times the factors, as a `Run` has them.

    >>> unevenness(np.array([[1000.0, 1.0], [1000.0, 2.0]]), None)
    (500.0, 2000.003999996)
    """
    sizes = with_sizes(np.zeros(0), rows_of(X), None, 0, X.shape[0])
    sizes = sizes if factors is None else sizes * factors
    sizes = sizes[(sizes > 0) & (sizes < np.inf)]
    uneven = min(float(sizes.max()) / float(sizes.min()), LARGEST) if len(sizes) else 1.0
    if is_sparse(X):  # centring would destroy the zeros
        return uneven, 1.0
    Z = np.asarray(X, dtype=np.float64) * (1.0 if factors is None else factors)
    with np.errstate(over="ignore", invalid="ignore"):
        far, spread = (math.sqrt((A * A).sum(axis=1).max(initial=0)) for A in (Z, Z - Z.mean(axis=0)))
    known = 0 < spread < math.inf and far < math.inf
    return uneven, far / spread if known else 1.0


class Examples(ABC):
    """What a fit visits in every epoch: the rows of arrays, or the blocks of a source."""

    heaviest: float  # the largest weight of a row
    weighted = False  # whether some weight is not 1
    turned = False  # whether rows were recorded as of the first class that turned out to be of the second
    digest: _core.Digest | None = None  # of the rows, during the first epoch
    shuffled_in_blocks = 0  # rows per block, if blocks and the rows within each are shuffled; else 0
    held_out: tuple[Any, Ints] | None = None  # for early stopping
    can_repeat = True  # whether a second pass is possible

    @abstractmethod
    def epoch(self, model: Model) -> Iterator[Batch]:
        """Every row once, in the order of learning. The model may grow between batches."""

    @abstractmethod
    def as_stored(self) -> Iterator[Batch]:
        """Every row once, in storage order."""

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of rows visited per epoch; known after the first epoch."""

    @abstractmethod
    def tally(self, scorer: Scorer | None) -> Tally:
        """The training rows by class, and the errors of `scorer`, in one pass; without one, no errors."""

    def held_out_tally(self, scorer: Scorer) -> Tally | None:
        """The same for the held-out rows, if there are any."""
        if self.held_out is None:
            return None
        tally = Tally()
        tally.add(self.held_out[1], scorer.predict(self.held_out[0]))
        return tally

    @abstractmethod
    def all_rows(self) -> tuple[Any, Ints, Order | None]:
        """All rows that are visited, their labels, and their numbers if there are others."""

    def sample(self) -> Any:
        """Up to `SAMPLE` of the rows, evenly spaced; None where they cannot be read again."""
        return None

    def power_factors(self) -> Floats | None:
        """The factors of ``scale="auto"`` for the columns of these rows; None: all are 1."""
        sizes = np.zeros(0)
        for batch in self.as_stored():
            sizes = with_sizes(sizes, batch.rows, batch.order, batch.begin, batch.end)
        return power_factors(sizes)

    def copies(self, epochs: int) -> int:
        """The largest number of visits to one row in this many epochs."""
        return epochs

    def aside(self) -> Seen:
        """The held-out rows, as a ledger records them."""
        return Seen()


class ArrayExamples(Examples):
    """Rows of a matrix, without those of weight 0."""

    def __init__(
        self, X: Any, labels: Ints, weights: Floats | None, plan: Plan, model: Model | None = None
    ) -> None:
        self.X, self.labels, self.weights, self.plan = X, labels, weights, plan
        self.kept = weighted(weights)
        if plan.early_stopping:
            self._hold_out()
        self.rows = rows_of(X)
        self.heaviest = 1.0 if weights is None else float(weights.max())
        self.weighted = not_all_one(weights)
        self.times: Order | None = None  # visits per row, if a row can have several per epoch
        size = row_bytes(X)
        n_classes = 1 if model is None else model.n_classes
        self.per_call = max(CALL_BYTES // (size * max(n_classes // 4, 1)), 1)
        block = max(BLOCK_BYTES // size, 1) if is_memory_mapped(X) else 0
        if plan.order == "shuffle" and block < self.count:
            self.shuffled_in_blocks = block

    def _hold_out(self) -> None:
        """Hold out a share of every class."""
        rows = np.arange(len(self.labels)) if self.kept is None else self.kept
        classes = [rows[self.labels[rows] == c] for c in np.unique(self.labels[rows])]
        kept, held = hold_out(classes, self.plan.validation_fraction, self.plan.rng, "of every class")
        self.kept, self.held = kept.astype(np.int64), held.astype(np.int64)
        self.held_out = some_rows(self.X, held), self.labels[held]

    @property
    def count(self) -> int:
        return self.X.shape[0] if self.kept is None else len(self.kept)

    def _batches(self, order: Order | None, count: int) -> Iterator[Batch]:
        for begin in range(0, count, self.per_call):
            end = min(begin + self.per_call, count)
            check_mapped(self.X)
            yield Batch(self.X, self.rows, self.labels, self.weights, order, begin, end)

    def as_stored(self) -> Iterator[Batch]:
        return self._batches(self.kept, self.count)

    def epoch(self, model: Model | None = None) -> Iterator[Batch]:
        rng, kept, count, block = self.plan.rng, self.kept, self.count, self.shuffled_in_blocks
        if self.plan.order == "cyclic":
            yield from self.as_stored()
        elif self.plan.order == "riffle":
            for chunk in Riffle(count, rng).chunks():
                yield from self._batches(chunk if kept is None else kept[chunk], len(chunk))
        elif self.plan.order == "draw":
            drawn = rng.integers(0, count, count)
            order = drawn if kept is None else kept[drawn]
            self.visit_again(order)
            yield from self._batches(order, count)
        elif block:
            for start in rng.permutation(np.arange(0, count, block)):
                inside = start + rng.permutation(min(block, count - start))
                yield from self._batches(inside if kept is None else kept[inside], len(inside))
        else:
            order = rng.permutation(self.X.shape[0]) if kept is None else rng.permutation(kept)
            yield from self._batches(order, count)

    def sample(self) -> Any:
        rows = np.arange(0, self.count, max(self.count // SAMPLE, 1))
        check_mapped(self.X)
        return some_rows(self.X, rows if self.kept is None else self.kept[rows])

    def all_rows(self) -> tuple[Any, Ints, Order | None]:
        if self.kept is None:
            return self.X, self.labels, None
        return picked(self.X, self.kept), self.labels[self.kept], self.kept

    def visit_again(self, rows: Order) -> None:
        """Count visits to these rows, if an epoch may visit a row more than once."""
        if self.times is None:
            self.times = np.zeros(self.X.shape[0], dtype=np.int64)
        np.add.at(self.times, rows, 1)

    def copies(self, epochs: int) -> int:
        return epochs if self.times is None else int(self.times.max())

    def add_to(self, digest: _core.Digest) -> None:
        """Add all training rows to a digest, without learning."""
        for batch in self.as_stored():
            examples = _core.Examples(batch.rows, batch.labels, batch.weights, batch.order)
            digest.add(examples, batch.begin, batch.end)

    def aside(self) -> Seen:
        if self.held_out is None:
            return Seen()
        digest = _core.Digest()
        digest.add(_core.Examples(self.rows, self.labels, self.weights, self.held), 0, len(self.held))
        return Seen.of(digest)

    def tally(self, scorer: Scorer | None) -> Tally:
        predicted = None if scorer is None else scorer.predict(self.X, self.plan.n_jobs)
        labels, tally = self.labels, Tally()
        if self.kept is not None:
            labels, predicted = labels[self.kept], None if predicted is None else predicted[self.kept]
        tally.add(labels, predicted)
        return tally
