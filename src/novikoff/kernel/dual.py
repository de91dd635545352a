"""The perceptron in its dual form: only kernel values, row numbers and counts.

A score is s = Σ_j α_j·K(x_j, x) over the mistaken rows, the supports. Rows are visited in blocks. The scores
of *all* rows under the updates of earlier blocks are kept. Inside a block an update adds its kernel values
with the rest of the block; at the end of the block its new supports are added to all rows together. So a
kernel value is computed once per update, by fast code, and an epoch costs only its updates. The values of a
support that is used again are kept, as far as the cache allows.

Decisions are exact for the kernel values as computed: a float score is trusted if its magnitude exceeds its
rounding error, (k + 4)·2⁻⁵³·Σ|α_j|·|K(x_j, x)| after k updates; otherwise the values are recomputed and
summed by the long accumulator. A float score is the sum over the updates in their order, so not even its last
bit depends on blocks, cache or threads.

Memory: the scores, a few numbers per row, the working arrays of a block and the kept kernel values all fit
into `cache_bytes`; only the supports themselves are added to that.
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
from novikoff.kernel.kernels import PART, Indices, Kernel
from novikoff.kernel.trainer import KernelTrainer, Update
from novikoff.kernel.verdict import judge
from novikoff.training.loop import Epoch
from novikoff.training.plan import Plan
from novikoff.training.run import Run
from novikoff.training.weights import Floats, Ints

NEW_SUPPORTS = 64  # target per block: enough for efficient products
BLOCK = (256, 8192)  # the fewest and the most rows of a block
AHEAD = 8  # rows of a block whose kernel values with the rest of it are computed together


class Rounding(_core.Rounding):
    """Bounds on the rounding error of float sums of kernel values, from what is known about the rows."""

    def __init__(self, kernel: Kernel, X: Any, n_columns: int) -> None:
        self.measured = kernel.measure(X)
        sizes = self.measured.sizes
        known = sizes is not None  # else Cauchy-Schwarz is not guaranteed: values are inspected
        self.sizes: Floats = np.ones(X.shape[0]) if sizes is None else sizes
        super().__init__(n_columns, float(self.sizes.max(initial=0.0)), self.measured.whole, known)

    def see(self, values: Floats) -> Floats:
        """The size of each column of values, if it is not known without them."""
        if self.whole and not (values == np.rint(values)).all():
            self.whole = False
        return np.asarray(np.abs(values).max(axis=0, initial=0.0))


class DualTrainer(KernelTrainer):
    """Learns from the kernel values of rows with supports; see the module."""

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
        self.rate = 1.0  # recent updates per visit

    def _begin(self) -> None:
        """Compute the scores under the earlier updates."""
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
    def epoch(self, order: Indices | None = None) -> Epoch:
        """Visit the rows, in blocks; a block ends early if it has too many mistakes."""
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

    def _visits(self, block: Indices, scores: Floats) -> _core.Block:
        sizes, how = self.rounding.sizes[block], (self.joint, self.tie_is_mistake)
        return _core.Block(scores, self.labels[block], sizes, *how, self.rounding)

    def _note(self, visits: _core.Block, block: Indices, first: int) -> None:
        """Record the updates of a block since the last call; its first update has the number `first`."""
        places, moves, gains = visits.made(len(self.updates) - first)
        self.updates += map(Update, block[places].tolist(), (self.visits + places).tolist(), moves, gains)

    def _look_ahead(self, visits: _core.Block, block: Indices) -> None:
        """Give a block the kernel values of the current row, and of some later rows that look wrong too."""
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
            if sizes is not None:  # now all values have been seen, not only the block's
                before = before + np.abs(np.array([u.move for u in part])).T @ sizes
        if made and not self.rounding.known:
            self.rounding.weight = before

    def _add(self, supports: list[int], moves: Floats) -> Floats | None:
        """Add updates to the scores of all rows, in order; return the sizes of their values, if unknown."""
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
        found: dict[int, Floats] = {}  # one-vs-rest: classes may share a row
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
        self.visits += made > 0  # without a violated row there is no visit
        self._push(first, before)
        return made

    def _most_violated(self, c: int) -> tuple[int, Floats | None]:
        """The mistaken row with the smallest d, for one column or all, the lowest on ties; and its move.

        d is compared as a float; whether it is a mistake is decided exactly.
        """
        apart = not self.joint and self.scores.shape[1] > 1
        d, hurts = self.smallest(c if apart else None)
        slack = self.rounding.slack
        doubtful = np.flatnonzero(d <= 2.03 * (slack[c] if apart else slack.max()) * self.rounding.sizes)
        while len(doubtful):
            smallest = doubtful[d[doubtful] == d[doubtful].min()]
            if not slack.any():  # d is exact: harmless ties need no decision
                smallest = smallest[(d[smallest] < 0) | hurts[smallest]]
            for row in smallest.tolist():
                move = self._decide(row, self.scores[row], c if apart else None)
                if move is not None:
                    return row, move
            doubtful = doubtful[d[doubtful] > d[doubtful].min()]
        return -1, None

    def smallest(self, c: int | None = None) -> tuple[Floats, Any]:
        """The smallest d of each row, for one column or all, and whether d = 0 is a mistake there."""
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
        """The moves of the classes' scores, or of `only` one of them; None if the row is right."""
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
        """Σ α·K(support, row) for the values as computed: its sign, and the nearest float.

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

    # -- outcome
    def judge(self, run: Run) -> None:
        run.whole_values = self.rounding.whole
        judge(self, run)

    def is_zero(self, model: DualModel) -> bool:
        """Whether w, or the w of a single class, scores every row exactly 0 after updates.

        If K is an inner product, ‖w‖ = 0 implies it. If K is only known to be symmetric, then no f = Σ β·K(x,
        ·) separates the rows: the sum of y·f(x) over the updates is Σ β·(w's scores) = 0.
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
        total: Floats = np.add.accumulate(gains)[-1]  # one after another, unlike np.sum
        return np.maximum(total, 0.0)

    @property
    def is_whole(self) -> bool:
        """Whether no sum and no value of K was rounded; R may come from a row without an update."""
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
    """Kernel values with all rows, for up to `capacity` rows that were needed twice."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.at_once = capacity, False  # at once: at the first need
        self.kept: dict[int, Floats] = {}
        self.seen: set[int] = set()

    def get(self, row: int) -> Floats | None:
        return self.kept.get(row)

    def wants(self, row: int) -> bool:
        """Whether a row that is not kept should be, now that it is needed once more."""
        again = self.at_once or row in self.seen
        self.seen.add(row)
        return again and len(self.kept) < self.capacity

    def add(self, rows: Iterable[int], n: int) -> dict[int, Floats]:
        """Make room for the values of rows, as far as there is any."""
        columns = {row: np.empty(n) for row in islice(rows, self.capacity - len(self.kept))}
        self.kept |= columns
        return columns


def least_bytes(n: int, n_columns: int, jobs: int) -> int:
    """The bytes for learning from n rows, besides rows and supports, if no values are kept."""
    of_rows = 8 * n * (n_columns + 2)
    of_block = 8 * min(BLOCK[1], n) * (2 * n_columns + 3 * AHEAD + 4)
    return of_rows + of_block + 16 * min(PART, n) * PANEL * min(jobs, -(-n // PART))


def signs_of(label: int, n_columns: int) -> Floats:
    """y = ±1 for every column of scores: one column for two classes, else one per class."""
    if n_columns == 1:
        return np.array([1.0 if label == 1 else -1.0])
    y = np.full(n_columns, -1.0)
    y[label] = 1.0
    return y
