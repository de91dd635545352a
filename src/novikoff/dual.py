"""The perceptron in its dual form: nothing but kernel values, rows by number, and counts.

A score is s = Σ_j α_j·K(x_j, x) over the rows that were mistaken, the supports. Rows are visited in blocks.
The scores of *all* rows by the updates of the blocks before are kept; inside a block an update adds its kernel
values with the rest of the block, and when the block is done its new supports are added to all rows by one
tiled product. So a kernel value is computed once for an update, by fast code, and an epoch costs what its
updates cost. The values of a support that comes a second time are kept, as far as the cache goes.

Decisions are exact for the kernel values as computed: a float score is trusted where it lies outside its own
rounding error, (k + 2)·2⁻⁵³·Σ|α_j|·|K(x_j, x)| after k updates; otherwise the values are computed again and
summed by the long accumulator.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np

from novikoff import _core
from novikoff.dualmodel import DualModel
from novikoff.kernels import UNIT, Rows, in_parallel
from novikoff.model import Floats, Ints, threads

NEW_SUPPORTS = 64  # wanted in a block: enough for the tiled product to be efficient
BLOCK = (256, 8192)  # rows of a block, at least and at most
PART = 2048  # rows that one thread adds scores to at a time


class Updates:
    """The updates of a run, in order: which row, when, and how each class's score moved."""

    def __init__(self) -> None:
        self.row: list[int] = []
        self.visit: list[int] = []  # visits made before it
        self.move: list[Floats] = []  # −1, 0 or +1 for each column of scores

    def __len__(self) -> int:
        return len(self.row)


class Rounding:
    """How far a float sum of kernel values may be from the exact one."""

    def __init__(self, n_columns: int, diagonal: Floats | None, n_rows: int, *, exact: bool) -> None:
        self.weight = np.zeros(n_columns)  # Σ|α|·size, which times a row's size is at least Σ|α·K|
        self.terms = 0
        self.exact = exact  # the values are integers: nothing is rounded below 2⁵³
        self.sizes: Floats = np.ones(n_rows) if diagonal is None else np.sqrt(diagonal) * (1 + 1e-12)
        self.largest = float(self.sizes.max(initial=0.0))
        self.by_panel = diagonal is None  # Cauchy and Schwarz cannot be relied on: sizes are seen, not known

    def begin(self, earlier: DualModel, largest: float) -> None:
        """Take over the updates that were made before."""
        self.exact = self.exact and earlier.kernel.is_exact(earlier.vectors)
        self.terms = len(earlier.used)
        diagonal = earlier.kernel.diagonal(earlier.vectors)
        if diagonal is None:
            self.weight = np.abs(earlier.moves).sum(axis=0) * largest
        else:
            self.weight = np.abs(earlier.moves).T @ np.sqrt(diagonal)[earlier.used] * (1 + 1e-12)

    def add(self, move: Floats, size: float) -> None:
        self.weight = self.weight + np.abs(move) * size
        self.terms += 1

    def slack(self) -> Floats:
        """For a row of size 1."""
        if self.exact and self.weight.max(initial=0.0) * self.largest < 2.0**52:
            return np.zeros(len(self.weight))
        return (self.terms + 4) * UNIT * 1.01 * self.weight


class DualLearner:
    """Learns from the rows of a matrix by their kernel values, going on from `earlier`; see the module."""

    def __init__(
        self,
        earlier: DualModel,
        X: Any,
        labels: Ints,
        *,
        tie_is_mistake: bool = False,
        cache_bytes: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        kernel = earlier.kernel
        self.earlier, self.X, self.labels = earlier, X, labels
        self.panel, self.rows = kernel.panels(X), kernel.rows(X)
        self.joint, self.tie_is_mistake = earlier.joint, tie_is_mistake
        self.jobs = threads(n_jobs)
        n = len(labels)
        self.rounding = Rounding(earlier.n_columns, kernel.diagonal(X), n, exact=kernel.is_exact(X))
        if len(earlier.used):
            self.scores = earlier.scores(X, averaged=False, n_jobs=n_jobs)
            self.rounding.begin(earlier, float(np.abs(self.scores).max(initial=0.0)))
        else:
            self.scores = np.zeros((n, earlier.n_columns))
        self.updates = Updates()
        self.visits = self.close = 0
        self.rate = 1.0  # updates a visit, of late
        self.cache = _Columns(cache_bytes // (8 * max(n, 1)), at_once=self.rounding.by_panel)

    # -- learning
    def epoch(self, order: Rows) -> int:
        """Visit the rows in this order; the number of updates."""
        before, done = len(self.updates), 0
        while done < len(order):
            size = int(np.clip(NEW_SUPPORTS / max(self.rate, 1e-9), *BLOCK))
            block = order[done : done + size]
            made = self._block(block)
            self.rate = 0.5 * self.rate + 0.5 * made / len(block)
            done += len(block)
        return len(self.updates) - before

    def _block(self, block: Rows) -> int:
        scores = np.ascontiguousarray(self.scores[block])
        labels, sizes = self.labels[block], self.rounding.sizes[block]
        first, at = len(self.updates), 0
        while True:
            at = _core.first_in_doubt(
                scores, labels, sizes, self.rounding.slack(), self.joint, self.tie_is_mistake, at
            )
            if at == len(block):
                break
            row = int(block[at])
            move = self._decide(row, scores[at])
            if move is not None:
                self.updates.row.append(row)
                self.updates.visit.append(self.visits + at)
                self.updates.move.append(move)
                scores[at + 1 :] += self._column(row, move, block, at + 1) * move
            at += 1
        self.visits += len(block)
        self._push(first)
        return len(self.updates) - first

    def _column(self, row: int, move: Floats, block: Rows, begin: int) -> Floats:
        """The kernel values of a row with those of the block from `begin`, as a column."""
        kept = self.cache.get(row)
        if kept is not None:
            values: Floats = kept[block[begin:], None]
            largest = float(np.abs(kept).max())
        else:
            values = np.empty((len(block) - begin, 1))
            panel = self.panel(np.array([row], dtype=np.int64))
            panel.values(self.rows, block, begin, len(block), values)
            largest = float(np.abs(values).max(initial=0.0)) if self.rounding.by_panel else 0.0
        self.rounding.add(move, largest if self.rounding.by_panel else float(self.rounding.sizes[row]))
        return values

    def _push(self, first: int) -> None:
        """Add the updates from number `first` on to the scores of all rows."""
        rows = np.array(self.updates.row[first:], dtype=np.int64)
        if not len(rows):
            return
        moves = np.array(self.updates.move[first:])
        kept = np.array([self.cache.get(int(row)) is not None for row in rows])
        for row, move in zip(rows[kept].tolist(), moves[kept], strict=True):
            column = self.cache.get(row)
            assert column is not None
            self.scores += column[:, None] * move
        wanted = ~kept & np.array([self.cache.wants(int(row)) for row in rows])
        for chosen, keep in ((~kept & ~wanted, False), (wanted, True)):
            if chosen.any():
                self._add(rows[chosen], moves[chosen], keep=keep)

    def _add(self, rows: Rows, moves: Floats, *, keep: bool) -> None:
        panel, n = self.panel(rows), len(self.labels)
        columns = np.empty((n, len(rows))) if keep else None

        def add(begin: int) -> None:
            end = min(begin + PART, n)
            if columns is None:
                panel.add_scores(self.rows, None, begin, end, moves, self.scores)
            else:
                panel.values(self.rows, None, begin, end, columns[begin:end])
                self.scores[begin:end] += columns[begin:end] @ moves

        in_parallel(add, range(0, n, PART), self.jobs)
        if columns is not None:
            for k, row in enumerate(rows.tolist()):
                self.cache.put(row, np.ascontiguousarray(columns[:, k]))
        if self.rounding.by_panel:  # now that all values have been seen
            self.rounding.weight = self.rounding.weight + np.abs(moves).sum(axis=0) * panel.largest

    # -- deciding
    def is_right(self, row: int, *, strictly: bool = False) -> bool:
        """Whether the last weights get a row right; `strictly`: with no score at 0."""
        rule, self.tie_is_mistake = self.tie_is_mistake, strictly or self.tie_is_mistake
        try:
            return self._decide(row, self.scores[row]) is None
        finally:
            self.tie_is_mistake = rule

    def _decide(self, row: int, scores: Floats) -> Floats | None:
        """How the classes' scores must move: None where the row is right."""
        label = int(self.labels[row])
        slack = self.rounding.slack() * self.rounding.sizes[row]
        if self.joint:
            return self._decide_jointly(row, label, scores, slack)
        y = signs_of(label, len(scores))
        signs = np.sign(scores)
        for c in np.flatnonzero((np.abs(scores) <= slack) & (slack > 0)).tolist():
            signs[c] = self._exact_sign(row, itemgetter((slice(None), c)))
        wrong = (y * signs < 0) | ((signs == 0) & ((y < 0) | self.tie_is_mistake))
        return np.where(wrong, y, 0.0) if wrong.any() else None

    def _decide_jointly(self, row: int, label: int, scores: Floats, slack: Floats) -> Floats | None:
        def compare(a: int, b: int) -> int:
            """The sign of score a − score b."""
            difference = float(scores[a] - scores[b])
            if abs(difference) > 1.01 * (slack[a] + slack[b]) or not (slack[a] or slack[b]):
                return int(np.sign(difference))
            return self._exact_sign(row, lambda moves: moves[:, a] - moves[:, b])

        best = -1
        for c in range(len(scores)):
            if not (self.tie_is_mistake and c == label) and (best < 0 or compare(c, best) > 0):
                best = c
        if best == label or (self.tie_is_mistake and compare(label, best) > 0):
            return None
        move = np.zeros(len(scores))
        move[label], move[best] = 1.0, -1.0
        return move

    def _exact_sign(self, row: int, of: Callable[[Floats], Floats]) -> int:
        """The sign of Σ α·K(support, row), of the values as computed, without rounding."""
        self.close += 1
        used, moves = np.zeros(0, dtype=np.int64), np.zeros(0)
        if len(self.updates):
            moves = of(np.array(self.updates.move))
            used = np.array(self.updates.row, dtype=np.int64)
        supports, places = np.unique(used, return_inverse=True)
        alpha = np.bincount(places, weights=moves, minlength=len(supports))
        values = np.empty((1, len(supports)))
        if len(supports):
            self.panel(supports).values(self.rows, np.array([row], dtype=np.int64), 0, 1, values)
        before = self.earlier.values(self.X[row : row + 1])[0]
        alpha_before = of(self.earlier.coefficients(averaged=False))
        return _core.exact_dot(np.concatenate([alpha, alpha_before]), np.concatenate([values[0], before]))[0]

    def model(self) -> DualModel:
        """What has been learned, with what was before."""
        made = self.updates
        rows, visit = (np.array(a, dtype=np.int64) for a in (made.row, made.visit))
        moves = np.array(made.move).reshape(len(made), self.earlier.n_columns)
        return self.earlier.extended(self.X, rows, visit, moves, self.visits)


class _Columns:
    """Kernel values of some rows with all rows, up to a number of them: those that came twice."""

    def __init__(self, capacity: int, *, at_once: bool) -> None:
        self.capacity, self.at_once = capacity, at_once  # at once: values are expensive
        self.kept: dict[int, Floats] = {}
        self.seen: set[int] = set()

    def get(self, row: int) -> Floats | None:
        return self.kept.get(row)

    def wants(self, row: int) -> bool:
        """Whether a row that is not kept should be, now that it has come once more."""
        again = self.at_once or row in self.seen
        self.seen.add(row)
        return again and len(self.kept) < self.capacity

    def put(self, row: int, column: Floats) -> None:
        if len(self.kept) < self.capacity:
            self.kept[row] = column


def signs_of(label: int, n_columns: int) -> Floats:
    """y = ±1 for every column of scores: one column for two classes, else one a class."""
    if n_columns == 1:
        return np.array([1.0 if label == 1 else -1.0])
    y = np.full(n_columns, -1.0)
    y[label] = 1.0
    return y
