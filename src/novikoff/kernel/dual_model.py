"""A dual model as plain data: the supports, and the sequence of updates that made it.

The last, the averaged and the voted predictions all come from the same sequence: update k added move_k (−1, 0
or +1 per column) times K(x, z_k), after t_k of T visits. With α_j the sum of the moves of support j,

    last       s(x) = Σ_j α_j·K(x, z_j)
    averaged   the mean of s after each visit: an update counts for the T − t_k visits from its own on
    voted      Σ_k c_k·sign(s_k(x)) for each column, whose k-th hypothesis survived c_k visits
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff import _core
from novikoff.data.arrays import is_sparse, with_one_index_width
from novikoff.data.threads import results, threads
from novikoff.kernel.kernels import PART, UNIT, Indices, Kernel, Panel
from novikoff.outward import LARGEST, Enclosure, root_up
from novikoff.outward import UNIT as EPSILON
from novikoff.training.averaging import per_visit
from novikoff.training.weights import Floats, Ints

PANEL = 128  # supports per panel: enough to be worth reading a row, few enough for the cache
VALUES = 1 << 18  # kernel values that a thread holds at a time: 2 MiB, which its cache may keep


@dataclass(frozen=True, eq=False)
class DualModel:
    """Supports, and updates in order; see the module."""

    kernel: Kernel
    n_classes: int
    joint: bool
    vectors: Any  # the supports' rows
    support: Indices  # their numbers, counted over all rows ever given
    used: Indices  # the support of each update
    visit: Indices  # visits made before each update
    moves: Floats  # (updates, columns)
    n_visits: int
    n_rows: int  # given so far
    squares: Floats  # ‖w‖² of each column
    radius: float = 0.0  # the largest √K(x, x) of all rows given, rounded up
    whole: bool = False  # all values are whole numbers, and the only rounding was to 53 bits
    log2_radius: float = -math.inf  # its logarithm, in case it overflows
    close: int = 0  # decisions too close for plain floating point

    @classmethod
    def empty(cls, kernel: Kernel, n_classes: int, *, joint: bool, like: Any) -> DualModel:
        """An empty model, for rows in the storage format of `like`."""
        columns, none = 1 if n_classes == 2 else n_classes, np.zeros(0, dtype=np.int64)
        vectors, moves = kernel.take(like, none), np.zeros((0, columns))
        return cls(kernel, n_classes, joint, vectors, none, none, none, moves, 0, 0, np.zeros(columns))

    def extended(
        self, X: Any, rows: Indices, visit: Indices, moves: Floats, n_visits: int, **figures: Any
    ) -> DualModel:
        """The model with more updates, on rows of X; `visit` counts from the first visit to X."""
        found, first, places = np.unique(rows, return_index=True, return_inverse=True)
        rank = np.empty(len(found), dtype=np.int64)
        rank[np.argsort(first)] = np.arange(len(found))
        new = found[np.argsort(first)]
        return replace(
            self,
            vectors=_below(self.vectors, self.kernel.take(X, new)),
            support=np.concatenate([self.support, new + self.n_rows]),
            used=np.concatenate([self.used, rank[places] + len(self.support)]),
            visit=np.concatenate([self.visit, visit + self.n_visits]),
            moves=np.concatenate([self.moves, moves]),
            n_visits=self.n_visits + n_visits,
            n_rows=self.n_rows + X.shape[0],
            **figures,
        )

    def turned(self, *, tie_is_mistake: bool) -> DualModel:
        """The model as if the only class so far, the first of two, had been the second.

        If a tie is right for the second class, the model is empty: every score stays 0.
        """
        if tie_is_mistake:
            return replace(self, moves=-self.moves)
        none = {name: getattr(self, name)[:0] for name in ("vectors", "support", "used", "visit", "moves")}
        return replace(self, **none, squares=np.zeros_like(self.squares))

    def until(self, n_visits: int) -> DualModel:
        """The model after `n_visits` visits, for predictions only."""
        kept = int(np.searchsorted(self.visit, n_visits))
        return replace(
            self,
            used=self.used[:kept],
            visit=self.visit[:kept],
            moves=self.moves[:kept],
            n_visits=min(n_visits, self.n_visits),
        )

    @property
    def n_columns(self) -> int:
        return int(self.moves.shape[1])

    def coefficients(self, *, averaged: bool) -> Floats:
        """α of each support and column, as whole numbers; averaged ones are multiplied by the visits."""
        counts = (self.n_visits - self.visit).astype(np.float64) if averaged else np.ones(len(self.visit))
        alpha = np.zeros((len(self.support), self.n_columns))
        np.add.at(alpha, self.used, self.moves * counts[:, None])
        return alpha

    # -- what was learned
    @property
    def updates_by_column(self) -> Indices:
        """How many updates moved each column."""
        return np.asarray(np.count_nonzero(self.moves, axis=0), dtype=np.int64)

    @property
    def n_updates(self) -> int:
        """The number of updates: counted per class, or once for joint classes."""
        return len(self.used) if self.joint else int(np.count_nonzero(self.moves))

    @property
    def n_mistakes(self) -> int:
        """The same: every update is a mistake."""
        return self.n_updates

    @property
    def norm(self) -> float:
        """‖w‖ over all columns."""
        return math.sqrt(float(self.squares.sum()))

    @property
    def reach(self) -> float:
        """R: max √K(x, x), times √2 if an update moves two classes; rounded up, infinite on overflow."""
        return root_up(self.reach_square()[1]) if self.radius < math.inf else math.inf

    def reach_square(self) -> Enclosure:
        """An enclosure of R², if the radius is finite."""
        copies, square = 2 if self.joint else 1, Fraction(self.radius) ** 2
        if self.whole and square < 2**52:
            return copies * Fraction(round(square)), copies * Fraction(round(square))
        return copies * square * (1 - 8 * self._value_slack() - 8 * EPSILON), copies * square

    def _value_slack(self) -> Fraction:
        return Fraction(0) if self.whole else self.kernel.value_slack(self.vectors)

    def enclosed_squares(self) -> list[Enclosure]:
        """Enclosures of ‖w‖² of each column, for the values of K as computed.

        For 'linear' and 'poly' they also hold for the exact values of K. A score is a sum of n values of at
        most R², so it is off by at most n²·u·R²; each of n updates adds two scores to ‖w‖², which is off by
        at most 4·n³·u·R².
        """
        found = []
        for square, n in zip(self.squares.tolist(), self.updates_by_column.tolist(), strict=True):
            if not max(square, self.radius) < math.inf:
                found.append((Fraction(0), Fraction(LARGEST) ** 4))
                continue
            value = Fraction(square)
            if self.whole:
                error = 8 * EPSILON * value if square >= 2**53 else Fraction(0)
            else:
                R = Fraction(self.radius) ** 2
                error = (4 * (n + 4) ** 3 * EPSILON + 2 * n**2 * self._value_slack()) * R
            found.append((max(value - error, Fraction(0)), value + error))
        return found

    @property
    def log2_reach(self) -> float:
        """log₂ R, which never overflows."""
        return self.log2_radius + (0.5 if self.joint else 0.0)

    @property
    def margin_upper(self) -> float:
        """‖w‖/Στ ≥ γ, rounded up: w/Στ is a convex combination of the y·φ(x), so its norm is at least γ.

        Infinite if ‖w‖² < 0: then K is not an inner product, and there is no γ.
        """
        squares, counts = self.enclosed_squares(), self.updates_by_column.tolist()
        if any(high < 0 for _, high in squares):
            return math.inf
        if self.joint:
            squares, counts = (
                [(Fraction(0), sum((high for _, high in squares), Fraction(0)))],
                [len(self.used)],
            )
        pairs = zip(squares, counts, strict=True)
        return min(root_up(high / count**2) if count else math.inf for (_, high), count in pairs)

    # -- predicting
    def _panels(self, X: Any) -> list[tuple[int, Panel]]:
        """The supports in panels, each with the index of its first support."""
        make = self.kernel.panels(_stored_like(self.vectors, X))
        cuts = range(0, len(self.support), PANEL)
        return [(a, make(np.arange(a, min(a + PANEL, len(self.support))))) for a in cuts]

    def scores(self, X: Any, *, averaged: bool, n_jobs: int | None = None) -> Floats:
        """(n, columns) scores by the last or the averaged coefficients; signs and winners are exact."""
        alpha, n = self.coefficients(averaged=averaged), X.shape[0]
        divisor = float(max(self.n_visits, 1)) if averaged else 1.0
        own = self.kernel.own_scores(X, self.vectors, alpha, divisor)
        if own is not None:
            for _ in results(own.calls, threads(n_jobs)):
                pass
            return own.out
        scores, bound = np.zeros((n, self.n_columns)), np.zeros((n, self.n_columns))
        rows, panels = self.kernel.rows(X), self._panels(X)
        measured = self.kernel.measure(X) if self.kernel.is_known else None
        if measured is not None and measured.sizes is not None:
            supports = self.kernel.measure(self.vectors)
            assert supports.sizes is not None
            bound = measured.sizes[:, None] * (np.abs(alpha).T @ supports.sizes)
            if measured.whole and supports.whole and bound.max(initial=0.0) < 2.0**52:
                bound[...] = 0.0  # sums of integers, not rounded

        def add(begin: int) -> None:
            end = min(begin + PART, n)
            for first, panel in panels:
                part = alpha[first : first + PANEL]
                if measured is not None:
                    panel.add_scores(rows, begin, end, part, scores)
                else:
                    values = np.empty((end - begin, panel.size))
                    panel.values(rows, begin, end, values)
                    _core.add_products(values, part, scores[begin:end])
                    bound[begin:end] += np.abs(values) @ np.abs(part)

        for _ in results((partial(add, begin) for begin in range(0, n, PART)), threads(n_jobs)):
            pass
        bound *= (len(self.support) + 4) * UNIT * 1.01
        self._settle(X, scores, bound, alpha)
        return per_visit(scores, divisor)

    def _settle(self, X: Any, scores: Floats, bound: Floats, alpha: Floats) -> None:
        """Make signs, and the index of the first of the highest scores, agree with the exact sums.

        A bound that underflows to 0 belongs to sums below 2⁻¹⁰²¹: α is whole there, so they are multiples of
        2⁻¹⁰⁷⁴, which float64 holds.
        """
        close = (np.abs(scores) <= bound) & (bound > 0)
        if self.n_columns > 1:
            place = np.arange(len(scores)), scores.argmax(axis=1)
            top, room = scores[place][:, None], bound[place][:, None]
            rivals = (top - scores <= 1.01 * (bound + room)) & (bound + room > 0)
            rivals[place] = True
            rivals[rivals.sum(axis=1) < 2] = False
        else:
            rivals = np.zeros_like(close)
        open_rows = np.flatnonzero((close | rivals).any(axis=1))
        size = max(VALUES // max(len(self.support), 1), 1)
        for begin in range(0, len(open_rows), size):
            some = open_rows[begin : begin + size]
            values = self.values(X[some])
            for row, line in zip(some.tolist(), values, strict=True):
                self._settle_row(scores[row], close[row] | rivals[row], rivals[row], alpha, line)

    @staticmethod
    def _settle_row(scores: Floats, doubtful: Any, rivals: Any, alpha: Floats, values: Floats) -> None:
        def exact(factors: Floats) -> tuple[int, float]:
            return _core.exact_dot(np.ascontiguousarray(factors), values)

        for c in np.flatnonzero(doubtful).tolist():
            sign, value = exact(alpha[:, c])
            scores[c] = value or sign * 5e-324
        among = np.flatnonzero(rivals).tolist()
        if among:
            best = among[0]
            for c in among[1:]:
                best = c if exact(alpha[:, c] - alpha[:, best])[0] > 0 else best
            if scores.argmax() != best:
                scores[best] = np.nextafter(scores.max(), np.inf)

    def values(self, X: Any) -> Floats:
        """The kernel values of some rows with all supports."""
        rows, n = self.kernel.rows(X), X.shape[0]
        out = np.empty((n, len(self.support)))
        for first, panel in self._panels(X):
            part = np.empty((n, panel.size))
            panel.values(rows, 0, n, part)
            out[:, first : first + panel.size] = part
        return out

    def votes(self, X: Any, n_jobs: int | None = None) -> Floats:
        """(n, columns): the votes for each column, minus those against it unless classes are joint."""
        n, m = X.shape[0], len(self.support)
        survived = self._survived(self.visit)
        own = self.kernel.own_votes(X, self.vectors, self.used, self.moves, survived, self.joint)
        if own is not None:
            for _ in results(own.calls, threads(n_jobs)):
                pass
            return own.out
        if self.kernel.is_known:
            self.kernel.measure(X)  # values of accepted rows cannot overflow
        out = np.zeros((n, self.n_columns))
        runs = self._runs()
        vote: Callable[..., None] = _core.joint_kernel_votes if self.joint else _core.kernel_votes
        rows, panels = self.kernel.rows(X), self._panels(X)
        size = min(max(VALUES // max(m, 1), 4), PART)

        def add(begin: int) -> None:
            end = min(begin + size, n)
            values = np.empty((end - begin, m))
            for first, panel in panels:
                part = np.empty((end - begin, panel.size))
                panel.values(rows, begin, end, part)
                values[:, first : first + panel.size] = part
            for run in runs:
                vote(values, *run, out[begin:end])

        for _ in results((partial(add, begin) for begin in range(0, n, size)), threads(n_jobs)):
            pass
        return out

    def _runs(self) -> list[tuple[Any, ...]]:
        """The updates in the form that native votes take: per column, or once for joint classes."""
        if self.joint:
            label, rival = (self.moves == s for s in (1.0, -1.0))
            places = label.argmax(axis=1).astype(np.int32), rival.argmax(axis=1).astype(np.int32)
            return [(self.used, *places, self._survived(self.visit))]
        runs = []
        for c in range(self.n_columns):
            own = np.flatnonzero(self.moves[:, c])
            moves = np.ascontiguousarray(self.moves[own, c])
            runs.append((self.used[own], moves, self._survived(self.visit[own]), c))
        return runs

    def _survived(self, visit: Indices) -> Floats:
        """The visits that each hypothesis survived, counting the one that created it."""
        return np.diff(visit, prepend=0, append=self.n_visits).astype(np.float64)

    def winners(self, scores: Floats) -> Ints:
        """The class of each row by its scores or votes."""
        if self.n_columns == 1:
            return (scores[:, 0] >= 0).astype(np.int32)
        return np.asarray(scores.argmax(axis=1), dtype=np.int32)


def _below(first: Any, second: Any) -> Any:
    """Rows stacked, in the storage format of the first."""
    if not first.shape[0]:
        return second
    if not second.shape[0]:
        return first
    if not isinstance(first, np.ndarray):
        second = second if is_sparse(second) else sp.csr_array(second)
        return with_one_index_width(type(first)(sp.vstack([first, second], format="csr")))
    return np.concatenate([first, second.toarray() if is_sparse(second) else second])


def _stored_like(vectors: Any, X: Any) -> Any:
    """The supports in a type that works with the rows of X: uint8 works only with uint8."""
    if X.ndim == 1 or vectors.ndim == 1 or X.dtype == vectors.dtype or np.uint8 != vectors.dtype:
        return vectors
    return vectors.astype(np.float64)
