"""The perceptron in its dual form: nothing but kernel values, rows by number, and counts.

A score is s = Σ_j α_j·K(x_j, x) over the rows that were mistaken, the supports. Rows are visited in blocks.
The scores of *all* rows by the updates of the blocks before are kept; inside a block an update adds its
kernel values with the rest of the block, and when the block is done its new supports are added to all rows
together. So a kernel value is computed once for an update, by fast code, and an epoch costs what its
updates cost. The values of a support that comes a second time are kept, as far as the cache goes.

Decisions are exact for the kernel values as computed: a float score is trusted where it lies outside its own
rounding error, (k + 4)·2⁻⁵³·Σ|α_j|·|K(x_j, x)| after k updates; otherwise the values are computed again and
summed by the long accumulator. A float score is the sum over the updates in their order, so not even its last
bit depends on blocks, cache or threads.

Memory: the scores and a few numbers a row, the working arrays of a block, and the kept kernel values, all of
which fit into `cache_bytes`; besides these only the supports themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any

import numpy as np

from novikoff import _core
from novikoff.data.threads import results, threads
from novikoff.kernel.dual_model import PANEL, DualModel
from novikoff.kernel.kernels import PART, Kernel, Rows
from novikoff.kernel.trainer import KernelTrainer, Update
from novikoff.kernel.verdict import judge
from novikoff.training.loop import Epoch
from novikoff.training.plan import Plan
from novikoff.training.run import Run
from novikoff.training.weights import Floats, Ints

NEW_SUPPORTS = 64  # wanted in a block: enough for their products to be efficient
BLOCK = (256, 8192)  # rows of a block, at least and at most
AHEAD = 8  # rows of a block whose kernel values with the rest of it are computed together


class Rounding(_core.Rounding):
    """How far a float sum of kernel values may be from the exact one, by what is known of the rows."""

    def __init__(self, kernel: Kernel, X: Any, n_columns: int) -> None:
        self.measured = kernel.measure(X)
        sizes = self.measured.sizes
        known = sizes is not None  # else Cauchy and Schwarz cannot be relied on: values are looked at
        self.sizes: Floats = np.ones(X.shape[0]) if sizes is None else sizes
        super().__init__(n_columns, float(self.sizes.max(initial=0.0)), self.measured.whole, known)

    def see(self, values: Floats) -> Floats:
        """The size of each column of values, where only looking at them tells."""
        if self.whole and not (values == np.rint(values)).all():
            self.whole = False
        return np.asarray(np.abs(values).max(axis=0, initial=0.0))


class DualTrainer(KernelTrainer):
    """Learns by the kernel values of rows with supports; see the module."""

    def __init__(
        self,
        earlier: DualModel,
        X: Any,
        labels: Ints,
        plan: Plan,
        *,
        tie_is_mistake: bool = False,
        cache_bytes: int | None = None,
    ) -> None:
        super().__init__(earlier, X, labels, plan, tie_is_mistake=tie_is_mistake)
        kernel, n = earlier.kernel, len(labels)
        self.jobs = threads(plan.n_jobs)
        least = least_bytes(n, earlier.n_columns, self.jobs)
        room = 0 if cache_bytes is None else cache_bytes - least
        if room < 0:
            raise ValueError(
                f"cache_mb={((cache_bytes or 0) + 1) / 2**20:.3g} is too small for {n:,} rows and "
                f"{earlier.n_classes} classes: their scores and one block of kernel values take "
                f"{math.ceil(1000 * least / 2**20) / 1000}, the least that works."
            )
        self.cache = _Columns(room // (8 * max(n, 1)))
        self.panel, self.rows = kernel.panels(X), kernel.rows(X)
        self.rounding = Rounding(kernel, X, earlier.n_columns)
        self.cache.at_once = not self.rounding.known
        self.scores = np.zeros((n, earlier.n_columns))
        if len(earlier.used):
            self._begin()
        self.close = 0
        self.rate = 1.0  # updates a visit, of late

    def _begin(self) -> None:
        """Take over the scores by the updates that were made before."""
        earlier, rounding = self.earlier, self.rounding
        self.scores = earlier.scores(self.X, averaged=False, n_jobs=self.jobs)
        if rounding.known:
            before = earlier.kernel.measure(earlier.vectors)
            assert before.sizes is not None
            sizes, rounding.whole = before.sizes, rounding.whole and before.whole
        else:
            sizes = np.zeros(len(earlier.support))
            for begin in range(0, len(self.labels), PART):
                sizes = np.maximum(sizes, rounding.see(earlier.values(self.X[begin : begin + PART])))
        for move, size in zip(earlier.moves, sizes[earlier.used].tolist(), strict=True):
            rounding.add(move, size)

    # -- learning
    def epoch(self, order: Rows | None = None) -> Epoch:
        """Visit the rows, in blocks; a block ends early where it has too many mistakes."""
        order = self.order() if order is None else order
        before, done = len(self.updates), 0
        while done < len(order):
            size = int(np.clip(NEW_SUPPORTS / max(self.rate, 1e-9), *BLOCK))
            block = order[done : done + size]
            scores, first, weight = self.scores[block], len(self.updates), self.rounding.weight
            visits = self._visits(block, scores)
            while (need := visits.visit(2 * NEW_SUPPORTS)) != "done":
                if need == "values":
                    self._look_ahead(visits, block)
                else:
                    self._note(visits, block, first)
                    visits.decide(self._decide(int(block[visits.at]), scores[visits.at]))
            self._note(visits, block, first)
            self.visits += visits.at
            self._push(first, weight)
            self.rate = 0.5 * self.rate + 0.5 * (len(self.updates) - first) / visits.at
            done += visits.at
        return self.counted(len(self.updates) == before, before)

    def _visits(self, block: Rows, scores: Floats) -> _core.Block:
        sizes, how = self.rounding.sizes[block], (self.joint, self.tie_is_mistake)
        return _core.Block(scores, self.labels[block], sizes, *how, self.rounding)

    def _note(self, visits: _core.Block, block: Rows, first: int) -> None:
        """Note the updates that a block has made since the last time; its first has the number `first`."""
        places, moves, gains = visits.made(len(self.updates) - first)
        self.updates += map(Update, block[places].tolist(), (self.visits + places).tolist(), moves, gains)

    def _look_ahead(self, visits: _core.Block, block: Rows) -> None:
        """Give a block the kernel values of the row at hand, and of some to come that look wrong too."""
        at, end, places = visits.at, len(block), visits.ahead(AHEAD)
        kept = [self.cache.get(row) for row in block[places].tolist()]
        new = [k for k, column in enumerate(kept) if column is None]
        values = np.empty((end - at, len(places)))
        fresh = values if len(new) == len(places) else np.empty((end - at, len(new)))
        if new:
            self.panel(block[places[new]]).values(self.rows, at, end, fresh, block, self.jobs)
        if fresh is not values:
            values[:, new] = fresh
        for k, column in enumerate(kept):
            if column is not None:
                values[:, k] = column[block[at:]]
        visits.give(places, values)

    def _push(self, first: int, before: Floats) -> None:
        """Add the updates from number `first` on to the scores of all rows."""
        made = self.updates[first:]
        for begin in range(0, len(made), PANEL):
            part = made[begin : begin + PANEL]
            sizes = self._add([u.row for u in part], np.array([u.move for u in part]))
            if sizes is not None:  # all values have been seen now, not only those of the block
                before = before + np.abs(np.array([u.move for u in part])).T @ sizes
        if made and not self.rounding.known:
            self.rounding.weight = before

    def _add(self, supports: list[int], moves: Floats) -> Floats | None:
        """Add updates to the scores of all rows, in their order; the sizes of their values, if unknown."""
        n, cache = len(self.labels), self.cache
        kept = {k: column for k, row in enumerate(supports) if (column := cache.get(row)) is not None}
        new = [k for k in range(len(supports)) if k not in kept]
        wanted = {supports[k]: k for k in new if cache.wants(supports[k])}
        keep = {wanted[row]: column for row, column in cache.add(wanted, n).items()}
        panel = self.panel(np.array([supports[k] for k in new], dtype=np.int64))
        if isinstance(panel, _core.Panel):
            panel.push(self.rows, moves, self.scores, kept, keep, self.jobs)
            return None
        seen: list[Floats] = []

        def add(begin: int) -> None:
            end = min(begin + PART, n)
            values, fresh = np.empty((end - begin, len(supports))), np.empty((end - begin, len(new)))
            if new:
                panel.values(self.rows, begin, end, fresh)
            values[:, new] = fresh
            for k, column in kept.items():
                values[:, k] = column[begin:end]
            for k, column in keep.items():
                column[begin:end] = values[:, k]
            seen.append(self.rounding.see(values))
            _core.add_products(values, moves, self.scores[begin:end])

        for _ in results((partial(add, begin) for begin in range(0, n, PART)), self.jobs):
            pass
        return np.asarray(np.max(seen, axis=0))

    # -- the most violated row
    def visit_worst(self) -> int:
        first, before = len(self.updates), self.rounding.weight
        found: dict[int, Floats] = {}  # one-vs-rest, some classes may have the same row
        for c in range(1 if self.joint else self.scores.shape[1]):
            row, move = self._most_violated(c)
            if move is not None:
                found[row] = found[row] + move if row in found else move
        for row, move in found.items():
            here = np.array([row], dtype=np.int64)
            visits = self._visits(here, self.scores[here])
            visits.decide(move)
            while visits.visit(1) != "done":
                self._look_ahead(visits, here)
            self._note(visits, here, len(self.updates))
        made = len(self.updates) - first
        self.visits += made > 0  # nothing violated, so nothing was visited
        self._push(first, before)
        return made

    def _most_violated(self, c: int) -> tuple[int, Floats | None]:
        """The mistaken row of the smallest d, of one column or of all, the lowest of those; and its move.

        d is compared as a float; whether it is a mistake is decided exactly.
        """
        apart = not self.joint and self.scores.shape[1] > 1
        d, hurts = self.smallest(c if apart else None)
        slack = self.rounding.slack
        doubtful = np.flatnonzero(d <= 2.03 * (slack[c] if apart else slack.max()) * self.rounding.sizes)
        while len(doubtful):
            smallest = doubtful[d[doubtful] == d[doubtful].min()]
            if not slack.any():  # d is known: a tie that hurts nobody need not be looked at
                smallest = smallest[(d[smallest] < 0) | hurts[smallest]]
            for row in smallest.tolist():
                move = self._decide(row, self.scores[row], c if apart else None)
                if move is not None:
                    return row, move
            doubtful = doubtful[d[doubtful] > d[doubtful].min()]
        return -1, None

    def smallest(self, c: int | None = None) -> tuple[Floats, Any]:
        """The smallest d of each row, of one column or of all, and whether d = 0 is a mistake there."""
        scores, labels = self.scores, self.labels
        if self.joint:
            own = np.arange(len(labels)), labels
            rivals = scores.copy()
            rivals[own] = -np.inf
            rival = rivals.argmax(axis=1)
            d: Floats = scores[own] - rivals[np.arange(len(labels)), rival]
            return d, (rival < labels) | self.tie_is_mistake
        positive = labels == 1 if scores.shape[1] == 1 else labels == c
        column = scores[:, c or 0]
        return np.where(positive, column, -column), ~positive | self.tie_is_mistake

    # -- deciding
    def _decide(self, row: int, scores: Floats, only: int | None = None) -> Floats | None:
        """How the classes' scores must move, or `only` one of them: None where the row is right."""
        label = int(self.labels[row])
        slack = self.rounding.slack * self.rounding.sizes[row]
        if self.joint:
            return self._decide_jointly(row, label, scores, slack)
        y = signs_of(label, len(scores))
        signs = np.sign(scores)
        if slack.any():
            for c in np.flatnonzero((np.abs(scores) <= slack) & (slack > 0)).tolist():
                if only is None or c == only:
                    signs[c] = self.exact(row, itemgetter((slice(None), c)))[0]
        wrong = (y * signs < 0) | ((signs == 0) & ((y < 0) | self.tie_is_mistake))
        if only is not None:
            wrong &= np.arange(len(scores)) == only
        return np.where(wrong, y, 0.0) if wrong.any() else None

    def _decide_jointly(self, row: int, label: int, scores: Floats, slack: Floats) -> Floats | None:
        def compare(a: int, b: int) -> int:
            """The sign of score a − score b."""
            difference = float(scores[a] - scores[b])
            if abs(difference) > 1.01 * (slack[a] + slack[b]) or not (slack[a] or slack[b]):
                return int(np.sign(difference))
            return self.exact(row, lambda moves: moves[:, a] - moves[:, b])[0]

        best = -1
        for c in range(len(scores)):
            if not (self.tie_is_mistake and c == label) and (best < 0 or compare(c, best) > 0):
                best = c
        if best == label or (self.tie_is_mistake and compare(label, best) > 0):
            return None
        move = np.zeros(len(scores))
        move[label], move[best] = 1.0, -1.0
        return move

    def exact(self, row: int, of: Callable[[Floats], Floats]) -> tuple[int, float]:
        """Σ α·K(support, row) of the values as computed: its sign, and the number nearest to it.

        `of` picks the column of moves, or a difference of two.
        """
        self.close += 1
        factors: list[Floats] = [of(self.earlier.coefficients(averaged=False))]
        found = [self.earlier.values(self.X[row : row + 1])[0] if len(factors[0]) else np.zeros(0)]
        if self.updates:
            moves = of(np.array([u.move for u in self.updates]))
            used = np.array([u.row for u in self.updates], dtype=np.int64)
            supports, places = np.unique(used, return_inverse=True)
            factors.append(np.bincount(places, moves, len(supports)).astype(np.float64))
            here = np.array([row], dtype=np.int64)
            for begin in range(0, len(supports), PANEL):
                part = supports[begin : begin + PANEL]
                values = np.empty((1, len(part)))
                self.panel(part).values(self.rows, 0, 1, values, here)
                found.append(values[0])
        return _core.exact_dot(np.concatenate(factors), np.concatenate(found))

    # -- what came of it
    def judge(self, run: Run) -> None:
        run.whole_values = self.rounding.whole
        judge(self, run)

    def is_zero(self, model: DualModel) -> bool:
        """Whether w, or that of one class by itself, scores every row 0, exactly, after updates.

        ‖w‖ = 0 says so where K is an inner product. Where it is only known to be symmetric this is what
        proves that no f = Σ β·K(x, ·) separates the rows: the sum of y·f(x) over the updates is
        Σ β·(w's scores) = 0.
        """
        if model.kernel.is_known:
            return True
        moved, rows = model.updates_by_column.tolist(), range(len(self.labels))
        columns: list[Callable[[Floats], Floats]] = [itemgetter((slice(None), c)) for c in range(len(moved))]
        zero = [all(self.exact(row, of)[0] == 0 for row in rows) for of in columns]
        if self.joint:
            return all(zero)
        return any(is_zero and count for is_zero, count in zip(zero, moved, strict=True))

    def squares(self) -> Floats:
        gains = np.array([self.earlier.squares, *(u.gain for u in self.updates)])
        total: Floats = np.add.accumulate(gains)[-1]  # one after another, unlike a sum
        return np.maximum(total, 0.0)

    @property
    def is_whole(self) -> bool:
        """Whether no sum was rounded, and no value of K: R may be that of a row that caused no update."""
        whole = self.rounding.whole and not np.any(self.rounding.slack)
        return bool(
            whole and (self.earlier.whole or not self.earlier.n_rows) and self.squares().max() < 2.0**53
        )

    def model(self) -> DualModel:
        made = self.updates
        n_visits = max(self.visits, made[-1].visit + 1 if made else 0)
        return self.earlier.extended(
            self.X,
            np.array([u.row for u in made], dtype=np.int64),
            np.array([u.visit for u in made], dtype=np.int64),
            np.array([u.move for u in made]).reshape(len(made), self.earlier.n_columns),
            n_visits,
            squares=self.squares(),
            whole=self.is_whole,
            radius=max(self.earlier.radius, self.rounding.measured.radius),
            log2_radius=max(self.earlier.log2_radius, self.rounding.measured.log2_radius),
            close=self.earlier.close + self.close,
        )


class _Columns:
    """Kernel values of some rows with all rows, up to a number of them: those that came twice."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.at_once = capacity, False  # at once: values are expensive
        self.kept: dict[int, Floats] = {}
        self.seen: set[int] = set()

    def get(self, row: int) -> Floats | None:
        return self.kept.get(row)

    def wants(self, row: int) -> bool:
        """Whether a row that is not kept should be, now that it has come once more."""
        again = self.at_once or row in self.seen
        self.seen.add(row)
        return again and len(self.kept) < self.capacity

    def add(self, rows: Iterable[int], n: int) -> dict[int, Floats]:
        """Room for the values of rows, as far as there is any, to be written to."""
        columns = {row: np.empty(n) for row in islice(rows, self.capacity - len(self.kept))}
        self.kept |= columns
        return columns


def least_bytes(n: int, n_columns: int, jobs: int) -> int:
    """What learning from n rows needs besides the rows and the supports, nothing being kept."""
    of_rows = 8 * n * (n_columns + 2)
    of_block = 8 * min(BLOCK[1], n) * (2 * n_columns + 3 * AHEAD + 4)
    return of_rows + of_block + 16 * min(PART, n) * PANEL * min(jobs, -(-n // PART))


def signs_of(label: int, n_columns: int) -> Floats:
    """y = ±1 for every column of scores: one column for two classes, else one a class."""
    if n_columns == 1:
        return np.array([1.0 if label == 1 else -1.0])
    y = np.full(n_columns, -1.0)
    y[label] = 1.0
    return y
