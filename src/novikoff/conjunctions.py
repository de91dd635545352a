"""The monotone-conjunction kernel, exactly: K(a, b) = 2^|a ∧ b| for rows of 0 and 1.

It is the inner product of the 2ⁿ monotone conjunctions of n variables: `expansions.MonotoneConjunctions` writes
them out where n is small. Scores are sums of ±2ᵏ, k up to n, kept as whole numbers (native/conjunctions.h), so
that signs, winners and votes are exact at any n, and nothing is in doubt.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff import _core
from novikoff.arrays import in_order, is_sparse, rows_of
from novikoff.dual import PART, Rounding, Updates
from novikoff.dualmodel import DualModel
from novikoff.kernels import Kernel, Panel, Rows, _PythonPanel, in_parallel
from novikoff.model import Floats, Ints, threads

PENDING = 128  # updates that rows which are not visited may lack: few enough for the first cache
SLICE = 1 << 14  # visits of one native call
LARGEST = 1023  # the largest power of two that a float holds


def pack(X: Any) -> _core.Bits:
    """Rows of 0 and 1 as bits; ValueError names the first other value."""
    if is_sparse(X) and not getattr(X, "has_canonical_format", True):
        X = in_order(X)  # repeated indices are one value: their sum
    return _core.Bits(rows_of(X))


@dataclass(frozen=True)
class MonotoneConjunction(Kernel):
    """2^|a ∧ b|, and 1 more for a bias."""

    offset: float = 0.0

    def rows(self, X: Any) -> Any:
        return X

    def panels(self, X: Any) -> Callable[[Rows], Panel]:
        """Values as floats: for rows that have at most 1,023 ones in common."""
        return lambda which: _PythonPanel(self._values(pack(X[which])), len(which))

    def _values(self, supports: _core.Bits) -> Callable[[Any], Floats]:
        def values(rows: Any) -> Floats:
            exponents = pack(rows).common(supports)
            if exponents.max(initial=0) > LARGEST:
                raise OverflowError(
                    f"two rows have {exponents.max():,} ones in common, and float64 ends at 2^1024: "
                    "use at most 1,023 of them here."
                )
            return np.ldexp(1.0, exponents) + self.offset

        return values

    def diagonal(self, X: Any) -> Floats:
        """K(x, x), infinite from 2^1024 on."""
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(1.0, pack(X).ones()) + self.offset)

    def log2_diagonal(self, X: Any) -> Floats:
        """log₂ K(x, x), at any size."""
        return np.asarray(np.logaddexp2(pack(X).ones(), 0.0 if self.offset else -np.inf))

    def own_scores(
        self, X: Any, supports: Any, alpha: Floats, divisor: float, n_jobs: int | None
    ) -> Floats:
        """Exact in sign and winner; a row's scores beyond 2^1000 are scaled down together."""
        rows, packed = pack(X), pack(supports)
        whole, out = alpha.astype(np.int64), np.zeros((rows.n, alpha.shape[1]))

        def add(begin: int) -> None:
            end = min(begin + size, rows.n)
            _core.conjunction_scores(rows, packed, whole, bool(self.offset), divisor, begin, end, out)

        size = _rows_at_once(packed.n)
        in_parallel(add, range(0, rows.n, size), threads(n_jobs))
        return out

    def own_votes(
        self, X: Any, supports: Any, used: Rows, moves: Floats, survived: Floats, joint: bool, n_jobs: int | None
    ) -> Floats:
        """Of exact prefix sums."""
        rows, packed, small = pack(X), pack(supports), moves.astype(np.int8)
        out = np.zeros((rows.n, moves.shape[1]))

        def add(begin: int) -> None:
            end = min(begin + size, rows.n)
            bias = bool(self.offset)
            _core.conjunction_votes(rows, packed, used, small, survived, joint, bias, begin, end, out)

        size = _rows_at_once(len(used))
        in_parallel(add, range(0, rows.n, size), threads(n_jobs))
        return out


def _rows_at_once(terms: int) -> int:
    return max((1 << 22) // max(terms, 1), 1)


class ConjunctionLearner:
    """What `dual.DualLearner` is for floats, with whole numbers: see native/conjunctions.h.

    A row's scores are brought up to date when it is visited, and those of all rows, by several threads, after
    every `PENDING` updates.
    """

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
        self.earlier, self.X, self.labels = earlier, X, np.ascontiguousarray(labels)
        self.joint, self.tie_is_mistake = earlier.joint, tie_is_mistake
        self.jobs = threads(n_jobs)
        n, columns = len(labels), earlier.n_columns
        self.native = _core.ConjunctionLearner(
            pack(X), columns, self.joint, tie_is_mistake, bool(earlier.kernel.offset)
        )
        if len(earlier.used):
            alpha = earlier.coefficients(averaged=False).astype(np.int64)
            self.native.begin_with(pack(earlier.vectors), alpha)
        self.rounding = Rounding(columns, np.ones(n), n, exact=True)  # there is none
        self.updates = Updates()
        self.visits = self.close = 0

    # -- learning
    def epoch(self, order: Rows) -> int:
        """Visit the rows in this order; the number of updates."""
        before, at = len(self.updates), 0
        order = np.ascontiguousarray(order, dtype=np.int64)
        while at < len(order):
            since = self.native.n_made
            end = min(at + SLICE, len(order))
            reached = self.native.visit(self.labels, order, at, end, self.visits, PENDING)
            self.visits += reached - at
            at = reached
            row, visit, moves = self.native.made(since)
            self.updates.row += row.tolist()
            self.updates.visit += visit.tolist()
            self.updates.move += list(moves)
            if len(row):
                self._push()
        return len(self.updates) - before

    def _push(self) -> None:
        n = len(self.labels)
        in_parallel(lambda i: self.native.push(i, min(i + PART, n)), range(0, n, PART), self.jobs)

    # -- what it comes to
    def margins(self) -> Floats:
        """The smallest y·s of each row; if negative ones pass 2^1000, all are scaled, and no sign is lost."""
        values, exponents = self._margins()
        sizes = np.frexp(values)[1] + exponents
        down = max(0, int(sizes[values < 0].max(initial=0)) - 1000)
        with np.errstate(over="ignore", under="ignore"):
            margins = np.ldexp(values, exponents - down)
        top, least = np.finfo(np.float64).max, np.finfo(np.float64).smallest_subnormal
        lost = (margins == 0) & (values != 0)
        return np.where(lost, np.copysign(least, values), np.clip(margins, -top, top))

    def _margins(self) -> tuple[Floats, Rows]:
        self._push()
        values, exponents = self.native.margins(self.labels)
        return values[:, 0], exponents[:, 0]

    @property
    def scores(self) -> Floats:
        """Of all rows; infinite from 2^1024 on."""
        self._push()
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(*self.native.scores()))

    def log2_norms(self) -> Floats:
        """log₂‖w‖ of each column, −∞ for w = 0; ‖w‖² is a whole number, kept exactly."""
        values, exponents = (a[0] for a in self.native.norms_squared())
        with np.errstate(divide="ignore"):
            return np.asarray((np.log2(values) + exponents) / 2)

    def norms(self) -> Floats:
        """‖w‖ of each column; infinite from 2^1024 on."""
        values, exponents = (a[0] for a in self.native.norms_squared())
        with np.errstate(over="ignore"):  # exponents are even
            return np.asarray(np.ldexp(np.sqrt(values), exponents // 2))

    def margin(self) -> float:
        """The smallest y·s/‖w‖, infinite where float64 cannot hold it: of all rows and columns."""
        squares, doubled = (a[0] for a in self.native.norms_squared())
        if not squares.all():
            return 0.0
        if self.joint or len(squares) == 1:
            values, exponents = (a[:, None] for a in self._margins())
            powers = int(doubled.max())
            squares = np.array([float(np.ldexp(squares, doubled - powers).sum())])
            doubled = np.array([powers])
        else:
            self._push()
            values, exponents = self.native.scores()
            values = -values
            values[np.arange(len(values)), self.labels] *= -1
        quotients = values / np.sqrt(squares)
        with np.errstate(over="ignore", under="ignore"):
            return float(np.ldexp(quotients, exponents - doubled // 2).min())

    def is_right(self, row: int, *, strictly: bool = False) -> bool:
        """Whether the last weights get a row right; `strictly`: with no score at 0."""
        return self.native.is_right(row, int(self.labels[row]), strictly)

    def model(self) -> DualModel:
        """What has been learned, with what was before."""
        row, visit, moves = self.native.made(0)
        return self.earlier.extended(self.X, row, visit, moves, self.visits)


def log2_radius(kernel: Kernel, X: Any) -> float:
    """log₂ R, R = max √K(x, x), also where R overflows."""
    if isinstance(kernel, MonotoneConjunction):
        return float(kernel.log2_diagonal(X).max()) / 2
    diagonal = kernel.diagonal(X)
    return math.nan if diagonal is None else float(np.log2(diagonal.max())) / 2
