"""The monotone-conjunction kernel, exactly: K(a, b) = 2^|a ∧ b| for rows of 0 and 1.

It is the inner product over the 2ⁿ monotone conjunctions of n variables; `expansions.MonotoneConjunctions`
computes them explicitly for small n. Scores are sums of ±2ᵏ, k ≤ n, kept as whole numbers
(native/kernel/conjunctions.h), so signs, winners and votes are exact for every n.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from novikoff import _core
from novikoff.data.arrays import in_order, is_sparse, rows_of
from novikoff.data.sources.block import BadValue
from novikoff.data.threads import results, threads
from novikoff.kernel.dual_model import DualModel
from novikoff.kernel.kernels import PART, Indices, Kernel, OwnWay, Panel, _PythonPanel
from novikoff.kernel.trainer import KernelTrainer, Update
from novikoff.outward import UNIT, margin_down, root_up
from novikoff.training.loop import Epoch
from novikoff.training.plan import Plan
from novikoff.training.run import Run
from novikoff.training.weights import Floats, Ints

PENDING = 128  # updates that unvisited rows may lack: few enough for the L1 cache
SLICE = 1 << 14  # visits per native call
FAR = math.ldexp(1.0, 1023)  # margins from here on are reported as infinite
LARGEST = 960  # the largest exponent of values as floats: sums of 2⁶³ of them are finite


def pack(X: Any) -> _core.Bits:
    """Rows of 0 and 1 as bits; a ValueError names the first other value."""
    if is_sparse(X) and not getattr(X, "has_canonical_format", True):
        X = in_order(X)  # repeated indices are one value: their sum
    try:
        return _core.Bits(rows_of(X))
    except ValueError:
        values = X.data if is_sparse(X) else X
        why = "the monotone-conjunction kernel takes rows of 0 and 1."
        raise BadValue(X, (values != 0) & (values != 1), why) from None


@dataclass(frozen=True)
class MonotoneConjunction(Kernel):
    """2^|a ∧ b|, and 1 more for a bias."""

    offset: float = 0.0

    @property
    def title(self) -> str:
        return "monotone_conjunction"

    def rows(self, X: Any) -> Any:
        return X

    def panels(self, X: Any) -> Callable[[Indices], Panel]:
        """Values as floats: for rows that have at most 960 ones in common."""
        return lambda which: _PythonPanel(self._values(pack(X[which])), len(which))

    def _values(self, supports: _core.Bits) -> Callable[[Any], Floats]:
        def values(rows: Any) -> Floats:
            exponents = pack(rows).common(supports)
            if exponents.max(initial=0) > LARGEST:
                raise OverflowError(
                    f"two rows have {exponents.max():,} ones in common, and sums of 2^{exponents.max()} are "
                    f"too large for float64: use rows with at most {LARGEST} ones, or learn without a budget."
                )
            return np.ldexp(1.0, exponents) + self.offset

        return values

    def diagonal(self, X: Any) -> Floats:
        """K(x, x), infinite from 2^1024 on."""
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(1.0, pack(X).ones()) + self.offset)

    def own_scores(self, X: Any, supports: Any, alpha: Floats, divisor: float) -> OwnWay:
        """Signs and winners are exact; a row's scores beyond 2^1000 are scaled down together."""
        rows, packed, bias = pack(X), pack(supports), bool(self.offset)
        whole, out = alpha.astype(np.int64), np.zeros((rows.n, alpha.shape[1]))
        native = _core.ConjunctionScores(packed, whole, bias, divisor)
        return OwnWay(out, (partial(native.scores, rows, *part, out) for part in _ranges(rows.n, packed.n)))

    def own_votes(
        self, X: Any, supports: Any, used: Indices, moves: Floats, survived: Floats, joint: bool
    ) -> OwnWay:
        """By exact prefix sums."""
        rows, packed, small = pack(X), pack(supports), moves.astype(np.int8)
        out = np.zeros((rows.n, moves.shape[1]))
        native = _core.ConjunctionVotes(packed, used, small, survived, joint, bool(self.offset))
        return OwnWay(out, (partial(native.vote, rows, *part, out) for part in _ranges(rows.n, len(used))))


def _ranges(rows: int, terms: int) -> list[tuple[int, int]]:
    """Ranges of rows, one per native call."""
    size = max((1 << 22) // max(terms, 1), 1)
    return [(begin, min(begin + size, rows)) for begin in range(0, rows, size)]


@dataclass(frozen=True, eq=False)
class Scaled:
    """Numbers x·2^e of any size: whole numbers, rounded to the 53 bits of x."""

    x: Floats
    e: Indices

    def __getitem__(self, where: Any) -> Scaled:
        return Scaled(self.x[where], self.e[where])

    def first_smallest(self) -> int:
        """The index of the first smallest number."""
        mantissa, size = np.frexp(self.x)
        sign = np.sign(self.x)
        return int(np.lexsort((mantissa, sign * (size + self.e), sign))[0])

    def floats(self) -> Floats:
        """The numbers as floats; infinite from 2^1024 on."""
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(self.x, self.e))


class ConjunctionTrainer(KernelTrainer):
    """The counterpart of `dual.DualTrainer` in whole numbers: see native/kernel/conjunctions.h.

    A row's scores are brought up to date when it is visited; the scores of all rows, by several threads,
    after every `PENDING` updates.
    """

    def __init__(
        self, earlier: DualModel, X: Any, labels: Ints, plan: Plan, *, tie_is_mistake: bool = False
    ) -> None:
        super().__init__(earlier, X, labels, plan, tie_is_mistake=tie_is_mistake)
        self.bias = bool(earlier.kernel.offset)
        self.jobs, packed = threads(plan.n_jobs), pack(X)
        self.native = _core.ConjunctionLearner(
            packed, earlier.n_columns, self.joint, tie_is_mistake, self.bias
        )
        self.ones = int(packed.ones().max(initial=0))
        ones = float(self.ones)
        self.log2_radius = float(np.logaddexp2(ones, 0.0 if self.bias else -math.inf)) / 2
        if len(earlier.used):
            alpha = earlier.coefficients(averaged=False).astype(np.int64)
            self.native.begin_with(pack(earlier.vectors), alpha)
            self._push()

    # -- learning
    def epoch(self, order: Indices | None = None) -> Epoch:
        order, before, at = self.order() if order is None else order, len(self.updates), 0
        while at < len(order):
            end = min(at + SLICE, len(order))
            reached = self.native.visit(self.labels, order, at, end, self.visits, PENDING)
            self.visits += reached - at
            at = reached
            self._note()
        return self.counted(len(self.updates) == before, before)

    def visit_worst(self) -> int:
        before, found = len(self.updates), dict[int, Indices]()
        for c in range(1 if self.joint else self.earlier.n_columns):
            row = self._most_violated(c)
            if row is not None:
                found.setdefault(row, np.zeros(self.earlier.n_columns, dtype=np.int64))
                found[row][c] = self._sides(c)[row]
        for row, moves in found.items():
            if self.joint:
                self.native.visit(self.labels, np.array([row], dtype=np.int64), 0, 1, self.visits, 1)
            else:
                self.native.move(row, self.visits, moves)
        self.visits += len(found) > 0  # without a violated row there is no visit
        self._note()
        return len(self.updates) - before

    def _most_violated(self, c: int) -> int | None:
        """The row with the smallest d that is a mistake, for one column or for joint classes."""
        d = self._distances(c)
        if (d.x < 0).any():
            return d.first_smallest()
        ties = np.flatnonzero(d.x == 0).tolist()
        if self.joint:
            return next((row for row in ties if not self.is_right(row)), None)
        sides = self._sides(c)
        return next((row for row in ties if self.tie_is_mistake or sides[row] < 0), None)

    def _sides(self, c: int) -> Indices:
        """y = ±1 of all rows, for a column."""
        return np.where(self.labels == (1 if self.earlier.n_columns == 1 else c), 1, -1)

    def _distances(self, c: int) -> Scaled:
        """y·s of all rows for a column, or the smallest s_y − s_rival."""
        if self.joint:
            return Scaled(*self.native.margins(self.labels))[:, 0]
        scores = Scaled(*self.native.scores())[:, c]
        return Scaled(scores.x * self._sides(c), scores.e)

    def _note(self) -> None:
        """Record the new updates, and add them to the scores of all rows."""
        row, visit, moves = self.native.made(len(self.updates))
        self.updates += map(Update, row.tolist(), visit.tolist(), moves)
        if len(row):
            self._push()

    def _push(self) -> None:
        n = len(self.labels)
        calls = (partial(self.native.push, i, min(i + PART, n)) for i in range(0, n, PART))
        for _ in results(calls, self.jobs):
            pass

    # -- outcome
    def squares(self) -> Floats:
        """‖w‖² of each column, a whole number rounded; infinite from 2^1024 on."""
        return np.asarray(self.earlier.squares + self._gain().floats())

    def _gain(self) -> Scaled:
        return Scaled(*self.native.norms_squared())[0]

    def is_right(self, row: int, *, strictly: bool = False) -> bool:
        """Whether the last weights get a row right; `strictly`: with no score at 0."""
        return self.native.is_right(row, int(self.labels[row]), strictly)

    def is_zero(self, model: DualModel) -> bool:
        return True  # an inner product, in whole numbers

    def judge(self, run: Run) -> None:
        """Is every row strictly on its own side? Decided exactly.

        If only ties at 0 are in the way and there is a bias, they can be lifted through it by half the slack
        of the other rows, which is at least 1.
        """
        run.whole_values = True  # powers of two, however large
        n = len(self.labels)
        run.consistent = all(self.is_right(row) for row in range(n))
        strict = run.consistent and all(self.is_right(row, strictly=True) for row in range(n))
        run.verdict = "separated" if strict or (run.consistent and self.bias) else "undecided"
        lift = run.consistent and not strict and self.bias
        run.margin, run.witness_is = self._margin(lift=lift), "lifted" if lift else "last"

    def _margin(self, *, lift: bool) -> float:
        """The smallest d/‖w‖ of all rows and columns; infinite if float64 cannot hold it."""
        columns, found = self.earlier.n_columns, []
        moves = np.array([u.move for u in self.updates]).reshape(-1, columns)
        bias = self.earlier.moves.sum(axis=0) + moves.sum(axis=0)
        gain = self._gain()
        for c in range(1 if self.joint else columns):
            d, of = self._distances(c), slice(None) if self.joint else slice(c, c + 1)
            at = d.first_smallest()
            smallest, exponent = float(d.x[at]), int(d.e[at])
            power = int(gain.e[of].max())  # even
            square = float(
                (np.ldexp(self.earlier.squares[of], -power) + np.ldexp(gain.x[of], gain.e[of] - power)).sum()
            )
            if lift and smallest == 0:
                up = self._lift(c)
                smallest = float(-np.diff(up).max()) if self.joint else up[0]
                square += math.ldexp(float((2 * up * bias[of] + up**2).sum()), -power)
            # d and ‖w‖² are whole numbers, rounded beyond 2^53
            least = Fraction(smallest) * Fraction(2) ** exponent
            whole = Fraction(square) * Fraction(2) ** power
            low, high = whole * (1 - 8 * (columns + 1) * UNIT), whole * (1 + 8 * (columns + 1) * UNIT)
            if whole < 2**52 and abs(least) < 2**52 and not (lift and smallest):
                low = high = whole
            else:
                least -= 2 * UNIT * abs(least)
            margin = margin_down(least, low, high)[0]
            found.append(margin if margin < FAR else math.inf)
        return min(found)

    def _lift(self, c: int) -> Floats:
        """How much to raise the score of a column or, for joint classes, all scores, lower classes more."""
        if self.joint:  # differences are whole numbers: nonzero ones can spare 1/2
            k = self.earlier.n_columns
            return np.asarray(np.arange(k, 0, -1) / (2 * (k - 1)))
        d, negative = self._distances(c), self._sides(c) < 0
        if not negative.any():
            return np.ones(1)
        others = d[negative]
        return np.array([min(float(others[others.first_smallest()].floats()) / 2, 2.0**400)])

    def model(self) -> DualModel:
        row, visit, moves = self.native.made(0)
        log2_radius = max(self.earlier.log2_radius, self.log2_radius)
        return self.earlier.extended(
            self.X,
            row,
            visit,
            moves,
            max(self.visits, int(visit.max(initial=-1)) + 1),
            squares=self.squares(),
            whole=self.earlier.whole or not len(self.earlier.used),
            radius=max(self.earlier.radius, root_up(Fraction(2) ** self.ones + self.bias)),
            log2_radius=log2_radius,
        )
