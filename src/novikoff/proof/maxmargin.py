"""The largest margin of a data set, bracketed: γ = max over unit u of min u·z, with a witness for each bound.

By duality γ is also the distance of the hull of the z from the origin: for every unit u and every α ≥ 0 with
Σα = 1

    min u·z  ≤  γ  ≤  ‖Σ α z‖,

with equality on both sides for the nearest point w = Σ α z of the hull and u = w/‖w‖. A perceptron's w and
its update counts are already such a pair. Starting from it, each iteration finds the nearest point of the
hull of a few z, the working set (MDM and Wolfe's method, see `minnorm`), makes one pass over all rows for the
smallest u·z, which is a lower bound, and adds the z with the smallest products to the working set. ‖w‖ falls
with every pass. If the hull contains the origin, the hull of the working set finally does too, and the upper
bound is 0 up to rounding.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from novikoff import _core
from novikoff.data.arrays import is_sparse, row_bytes, rows_of
from novikoff.data.threads import threads
from novikoff.outward import ceil_text, floor_text
from novikoff.proof.folding import times
from novikoff.proof.minnorm import nearest
from novikoff.proof.problem import Pairs, Problem, one_blas_thread, read_problem
from novikoff.proof.verdicts import Separable
from novikoff.proof.wholes import distance, margin
from novikoff.shown import Shown
from novikoff.training.examples import CALL_BYTES
from novikoff.training.linear import fit
from novikoff.training.plan import Plan
from novikoff.training.weights import AS_GIVEN, Floats, Settings, width

Watch = Callable[[str, float | None], object]

EPOCHS = 3  # of the perceptron that finds the first working set
ORIGIN = 1e-12  # relative to R: a hull this close to the origin contains it up to rounding
UNIT = 2.0**-53
TINY = 2.0**-900  # smaller margins are computed in integers
TOLERANCE = 1e-15  # accuracy of products of the Gram matrix, relative to R²
MDM_FROM, MDM_SLICES = 1000, 10  # support size from which MDM precedes Wolfe's method; 2 steps per point each
SAMPLE_FROM, SAMPLE_SHARE = 20_000, 8  # from this many rows, a random eighth is searched first
SAMPLE_GAP, SAMPLE_PASSES = 0.01, 20
SLICE = 1 << 29  # products per native call, after which Python may interrupt
SMALL = 1 << 20  # bytes of rows below which more threads do not help


@dataclass(frozen=True, eq=False, repr=False)
class MaxMargin(Shown):
    """lower ≤ γ ≤ upper, as real numbers, with the witness of each bound."""

    lower: float  # the margin of u
    upper: float  # ‖Σ α z‖
    u: Floats  # of length 1 up to rounding; coordinates as in `Problem.shape`
    alpha: Floats  # ≥ 0, one for each row, or for each row and class; their sum is 1 up to rounding
    passes: int  # over all rows
    interrupted: bool = False
    bias: float = 0.0  # the added coordinate; 0: none

    @property
    def coef(self) -> Floats:
        """u without its bias coordinate, in the estimators' shape."""
        u = np.atleast_2d(self.u)
        return u[:, :-1] if self.bias else u

    @property
    def intercept(self) -> Floats:
        u = np.atleast_2d(self.u)
        return self.bias * u[:, -1] if self.bias else np.zeros(len(u))

    @property
    def gap(self) -> float:
        """(upper − lower)/upper; 0 if both are 0."""
        return (self.upper - self.lower) / self.upper if self.upper > 0 else 0.0

    @property
    def is_separating(self) -> bool:
        return self.lower > 0

    @property
    def support(self) -> Pairs:
        """The pairs with positive α: row numbers, or row·K + class."""
        return np.flatnonzero(self.alpha.ravel())

    def to_dict(self) -> dict[str, Any]:
        support = self.support
        return {
            "lower": self.lower,
            "upper": self.upper,
            "gap": self.gap,
            "u": self.u.tolist(),
            "support": support.tolist(),
            "alpha": self.alpha.ravel()[support].tolist(),
            "passes": self.passes,
            "interrupted": self.interrupted,
        }

    def __str__(self) -> str:
        end = ", interrupted" if self.interrupted else ""
        what = "margin" if self.is_separating else "not separated: margin"
        return (
            f"{what} between {floor_text(self.lower, 9)} and {ceil_text(self.upper, 9)} (gap {self.gap:.2g}, "
            f"{len(self.support)} of {np.size(self.alpha)} in the support, {self.passes} passes{end})"
        )


def max_margin(
    X: Any,
    y: Any,
    gap: float = 1e-6,
    *,
    fit_intercept: bool = True,
    intercept_scaling: float = 1.0,
    sample_weight: Any = None,
    max_passes: int = 1000,
    time_limit: float | None = None,
    start: Any = None,
    watch: Watch | None = None,
    rounding: str = "never",
) -> MaxMargin:
    """Bracket the largest margin with which a hyperplane can separate the rows.

    Parameters
    ----------
    X, y : rows and their labels; dense or sparse, two classes or more (for three or more, the joint margin
        of one vector per class). Labels −1 and +1 may all be equal.
    gap : the search ends when (upper − lower) ≤ gap·upper.
    fit_intercept, intercept_scaling : the margin is measured in the lifted space (x, intercept_scaling).
    sample_weight : multiplies z.
    max_passes, time_limit : limits on passes over all rows and on seconds; the best bracket is returned.
    start : a fitted linear estimator or model, (coef, intercept), a `MaxMargin` or a verdict `Separable`;
        by default a few epochs of the perceptron.
    watch : called as watch(text, fraction) after every pass.
    rounding : "nearest" rounds numbers that no double holds, with a warning; "never" refuses them.

    Returns
    -------
    MaxMargin

    Examples
    --------
    >>> found = max_margin([[0.0, 3.0], [0.0, -1.0], [3.0, -1.0]], [1, -1, -1], fit_intercept=False)
    >>> f"{found.lower:.6f} {found.upper:.6f}", found.support.tolist(), found.coef.round(6).tolist()
    ('1.000000 1.000000', [1], [[0.0, 1.0]])
    """
    problem = read_problem(
        X,
        y,
        fit_intercept=fit_intercept,
        intercept_scaling=intercept_scaling,
        sample_weight=sample_weight,
        rounding=rounding,
    )
    if not (isinstance(gap, int | float) and 0 <= gap < math.inf):
        raise ValueError(f"gap={gap!r} is not possible: expected a number ≥ 0, such as 1e-6.")
    if isinstance(max_passes, bool) or not isinstance(max_passes, int) or max_passes < 1:
        raise ValueError(f"max_passes={max_passes!r} is not possible: expected an integer ≥ 1.")
    u, alpha = _given(problem, start)
    return solve(
        problem,
        gap=gap,
        max_passes=max_passes,
        time_limit=time_limit,
        start_u=u,
        start_alpha=alpha,
        watch=watch,
    )


def _given(problem: Problem, start: Any) -> tuple[Floats | None, Floats | None]:
    """The initial u and α, from the `start` of `max_margin`."""
    if start is None:
        return None, None
    if isinstance(start, MaxMargin):
        n_alpha = problem.n_rows * (problem.n_classes if problem.is_joint else 1)
        if start.u.shape != problem.shape or start.alpha.size != n_alpha:
            raise ValueError("start is the margin of other data: its shapes are not those of X and y.")
        return start.u, start.alpha
    if isinstance(start, Separable):
        if start.u.shape != problem.shape:
            raise ValueError("start is the verdict on other data: its shape is not that of X and y.")
        return start.u, None
    if isinstance(start, tuple):
        coef, intercept = start
    else:
        coef = getattr(start, "coef_", getattr(start, "coef", None))
        intercept = getattr(start, "intercept_", getattr(start, "intercept", None))
        if coef is None or intercept is None:
            raise ValueError(
                "start must be a fitted linear model, a pair (coef, intercept), a MaxMargin or a Separable, "
                f"not {type(start).__name__}."
            )
    coef = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    if coef.shape != (problem.n_classes if problem.is_joint else 1, problem.n_features):
        raise ValueError(f"start has coefficients of the shape {coef.shape}, which do not fit X and y.")
    return problem.vector(coef, intercept), None


def solve(
    problem: Problem,
    *,
    gap: float = 1e-6,
    max_passes: int = 1000,
    time_limit: float | None = None,
    start_u: Floats | None = None,
    start_alpha: Floats | None = None,
    stop_when: str | None = None,
    watch: Watch | None = None,
) -> MaxMargin:
    """`max_margin` for a problem that has already been read.

    The search uses `Problem.measurable` for rows of extreme sizes; the bounds are computed on the given rows.
    `stop_when="separating"` ends the search as soon as the lower bound is positive. It also ends when the
    upper bound is below 1e-12·R.
    """
    search = Search(problem.measurable[0], watch)
    try:
        with one_blas_thread(), np.errstate(all="ignore"):  # floats only search
            search.begin(start_u, start_alpha)
            search.run(gap, max_passes, time_limit, stop_when)
    except KeyboardInterrupt:
        search.interrupted = True
    finally:
        search.close()
    return search.result(problem)


@dataclass
class Search:
    """The state of one search: the working set, and the best witness of each bound so far."""

    problem: Problem
    watch: Watch | None = None
    passes: int = 0
    interrupted: bool = False
    careful: bool = False  # the Gram matrix is not accurate enough
    u: Floats = field(init=False)  # the best so far; `lower` is right up to rounding
    lower: float = -math.inf
    pairs: Pairs = field(init=False)  # the working set
    alpha: Floats = field(init=False)  # its weights
    upper: float = math.inf  # ‖Σ α z‖ up to rounding

    def __post_init__(self) -> None:
        self.radius = self.problem.radius()
        # A power of two that brings the longest z to about 1: squares neither overflow nor underflow.
        self.exponent = 0
        if self.radius > 0:
            self.exponent = int(np.frexp(min(self.radius, 2.0**1023))[1])
        self.dense = not is_sparse(self.problem.X) or self.problem.dimension <= 4096
        self.at_once = min(max(2 * self.problem.dimension + 2, 16), 1000)  # points added after a pass
        self.pairs, self.alpha = np.zeros(0, dtype=np.int64), np.zeros(0)
        self.Z: Any = None
        self.gram = np.zeros((0, 0))
        self.u = np.zeros(self.problem.shape)
        X = self.problem.X
        self.rows, self.columns = rows_of(X), width(self.problem.n_classes)
        n, jobs = self.problem.n_rows, threads(-1)
        per_call = max(CALL_BYTES // (row_bytes(X) * max(self.problem.n_classes // 4, 1)), 1)
        pieces = max(-(-n // per_call), jobs if n * row_bytes(X) > SMALL else 1)
        self.cuts = list(pairwise(np.linspace(0, n, pieces + 1).astype(int).tolist()))
        self.pool = ThreadPoolExecutor(jobs) if pieces > 1 and jobs > 1 else None

    def close(self) -> None:
        if self.pool:
            self.pool.shutdown(cancel_futures=True)

    # -- the working set
    def take(self, pairs: Pairs) -> None:
        """Add pairs to the working set."""
        if not len(pairs):
            return
        Z = self.problem.signed_rows(pairs)
        if self.dense and is_sparse(Z):
            Z = Z.toarray()
        if self.dense:
            Z = np.ldexp(Z, -self.exponent)
            self.Z = Z if self.Z is None else np.concatenate([self.Z, Z])
        else:
            import scipy.sparse as sp

            Z = sp.csr_array(Z)
            Z.data = np.ldexp(Z.data, -self.exponent)
            self.Z = Z if self.Z is None else sp.vstack([self.Z, Z], format="csr")
        new = self.Z @ Z.T
        new = np.asarray(new.toarray() if is_sparse(new) else new)
        m, k = len(self.pairs), len(pairs)
        gram = np.empty((m + k, m + k))
        gram[:m, :m], gram[:, m:], gram[m:, :m] = self.gram, new, new[:m].T
        self.gram = gram
        self.pairs = np.concatenate([self.pairs, pairs])
        self.alpha = np.concatenate([self.alpha, np.zeros(k)])

    def keep(self, chosen: Any) -> None:
        """Keep only these points."""
        self.pairs, self.alpha, self.Z = self.pairs[chosen], self.alpha[chosen], self.Z[chosen]
        self.gram = self.gram[np.ix_(chosen, chosen)]

    # -- the starting point
    def begin(self, u: Floats | None, alpha: Floats | None) -> None:
        if u is None and alpha is None:
            find = self._sample if self.problem.n_rows >= SAMPLE_FROM else self._perceptron
            u, pairs, weights = find()
        elif alpha is None:
            pairs, weights = np.zeros(0, dtype=np.int64), np.zeros(0)
        else:
            pairs = np.flatnonzero(alpha)
            weights = np.ravel(alpha)[pairs]
        heaviest = np.argsort(-weights, kind="stable")[: self.at_once]
        pairs, weights = pairs[heaviest], weights[heaviest]
        if u is None or not np.any(u):
            u = self.problem.combine(self._uniform())
        u = np.asarray(u, dtype=np.float64)
        lowest, _ = self.look(times(u, -math.frexp(float(np.abs(u).max()))[1]))  # its length is then a float
        self.take(_union(pairs, lowest))
        self.alpha[: len(weights)] = weights / max(float(weights.sum()), 1e-300)
        self._anywhere()

    def _anywhere(self) -> None:
        """A default α: the shortest point."""
        if not len(self.pairs):
            self.take(np.array([int(self.problem.is_joint and self.problem.labels[0] == 0)]))
        if not self.alpha.any():
            self.alpha[int(np.argmin(self.gram.diagonal()))] = 1.0

    def _uniform(self) -> Floats:
        shape = (
            (self.problem.n_rows, self.problem.n_classes) if self.problem.is_joint else self.problem.n_rows
        )
        alpha = np.full(shape, 1.0 / self.problem.n_pairs)
        if self.problem.is_joint:
            alpha[np.arange(self.problem.n_rows), self.problem.labels] = 0.0
        return alpha

    def _sample(self) -> tuple[Floats | None, Pairs, Floats]:
        """A start from the margin of a sample of the rows, whose passes are cheaper."""
        problem = self.problem
        rng = np.random.default_rng(0)
        rows = np.sort(rng.choice(problem.n_rows, problem.n_rows // SAMPLE_SHARE, replace=False))
        search = Search(problem.some(rows))
        try:
            search.begin(None, None)
            search.run(SAMPLE_GAP, SAMPLE_PASSES, None, None)
        finally:
            search.close()
        pairs = search.pairs
        k = problem.n_classes if problem.is_joint else 1
        w = search.Z.T @ search.alpha
        return w.reshape(problem.shape), rows[pairs // k] * k + pairs % k, search.alpha

    def _perceptron(self) -> tuple[Floats | None, Pairs, Floats]:
        """The w of a few epochs, its updated pairs, and their counts: w = Σ α z, up to scale."""
        problem = self.problem
        settings = Settings(bias_square=problem.bias**2)  # 0 if it underflows
        plan = Plan(max_epochs=EPOCHS, rng=np.random.default_rng(0), record_updates=True)
        try:
            model, run = fit(
                problem.X, problem.labels, problem.n_classes, settings, plan, weights=problem.weights
            )
        except OverflowError:
            return None, np.zeros(0, dtype=np.int64), np.zeros(0)
        if run.interrupted:
            raise KeyboardInterrupt
        rows, _, rivals, _, _ = model.learners[0].native.recorded()
        pairs = rows * problem.n_classes + rivals if problem.is_joint else rows
        pairs, counts = np.unique(pairs, return_counts=True)
        w = problem.vector(*model.coef(averaged=False))
        return w, pairs, counts.astype(np.float64)

    # -- passes
    def look(self, u: Floats) -> tuple[Pairs, Floats]:
        """One pass over all rows: the pairs with the smallest u·z, sorted by it; keeps u if it is best."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            norm = _norm(u)
        if not norm > 0:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        u = u / norm
        lowest, values = self._lowest(u)
        self.passes += 1
        if len(values) and values[0] > self.lower:
            self.lower, self.u = float(values[0]), u
        return lowest, values

    def _lowest(self, u: Floats) -> tuple[Pairs, Floats]:
        """The `at_once` smallest u·z of all pairs, in float arithmetic, smallest first."""
        problem, k = self.problem, self.at_once
        coef, intercept = problem.coefficients(u)
        weights, bias = np.zeros((problem.n_features, self.columns)), np.zeros(self.columns)
        weights[:, : len(coef)], bias[: len(coef)] = coef.T, intercept

        native = _core.Learner(problem.n_classes, weights, bias, AS_GIVEN, zero=True)
        examples = _core.Examples(self.rows, problem.labels, problem.weights)

        def part(cut: tuple[int, int]) -> tuple[Pairs, Floats]:
            return _core.lowest(native, examples, *cut, k)

        parts = list(self.pool.map(part, self.cuts) if self.pool else map(part, self.cuts))
        pairs, values = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((pairs, values))[:k]
        return pairs[order], values[order]

    def improve(self, gap: float) -> None:
        """Move α to the nearest point of the working set's hull."""
        m = len(self.alpha)
        alpha = np.ascontiguousarray(self.alpha)
        squares = self.gram.diagonal()
        if squares.min() <= ORIGIN**2 * squares.max():  # a point at the origin, up to rounding
            self.alpha = np.where(np.arange(m) == int(np.argmin(squares)), 1.0, 0.0)
            return
        if min(m, self.problem.dimension) > MDM_FROM:  # steps between two points are cheaper than corrals
            for _ in range(MDM_SLICES):
                if _core.mdm(self.gram, alpha, 2 * m, gap / 4) < 2 * m:
                    break
        rounds = max(SLICE // (m * m), 1)
        for _ in range(-(-4 * m // rounds)):
            if _core.wolfe(self.gram, alpha, rounds, TOLERANCE):
                break
        square = float(alpha @ (self.gram @ alpha))
        if self.careful or 10 * TOLERANCE * float(self.gram.diagonal().max()) > gap * square:
            alpha = nearest(self.Z, self.gram, alpha)  # beyond the accuracy of G
        self.alpha = alpha

    def run(self, gap: float, max_passes: int, time_limit: float | None, stop_when: str | None) -> None:
        began = time.monotonic()
        while True:
            self.improve(gap)
            w = self.Z.T @ self.alpha
            self.upper = math.ldexp(_norm(w), self.exponent)
            if self.passes >= max_passes:
                return
            lowest, values = self.look(w.reshape(self.problem.shape))
            if self.watch is not None:
                text = f"pass {self.passes}: margin about {self.lower:.6g} to {self.upper:.6g}"
                self.watch(text, None)
            if self.upper - self.lower <= gap * self.upper or self.upper <= ORIGIN * self.radius:
                return
            if stop_when == "separating" and self.lower > 0:
                return
            if time_limit is not None and time.monotonic() - began > time_limit:
                return
            new = lowest[(values < self.upper) & ~np.isin(lowest, self.pairs)]
            if not len(new):
                if self.careful:
                    return  # further changes are only rounding
                self.careful = True
                continue
            if len(self.pairs) > 3 * self.at_once:
                closeness = self.Z @ w
                order = np.lexsort((closeness, self.alpha <= 0))
                keep = max(int(np.count_nonzero(self.alpha)), self.at_once)
                self.keep(np.sort(order[:keep]))
            self.take(new)

    # -- the result
    def result(self, original: Problem | None = None) -> MaxMargin:
        """The bracket for the rows before scaling."""
        problem = self.problem
        original = problem if original is None else original
        shape = (problem.n_rows, problem.n_classes) if problem.is_joint else (problem.n_rows,)
        self._anywhere()
        alpha = np.zeros(math.prod(shape))
        alpha[self.pairs] = self.alpha
        if not self.u.any():
            self.u.flat[:1] = 1.0  # nothing better was found
        upper = lower = 0.0
        if original is problem:
            upper, lower = self._rigorous_upper(), self._rigorous_lower()
        if upper < TINY:  # also if it underflows
            used = np.flatnonzero(self.alpha)
            upper = distance(original, self.pairs[used], self.alpha[used])
            lower = margin(original, *original.coefficients(self.u))
        return MaxMargin(
            min(lower, upper),
            upper,
            self.u,
            alpha.reshape(shape),
            self.passes,
            self.interrupted,
            original.bias,
        )

    def _rigorous_lower(self) -> float:
        """The margin of u, rounded down."""
        problem, u = self.problem, self.u
        value = problem.smallest(u).value
        # `smallest` is of the intercept c·u_last as a float, which may be half a unit off.
        _, intercept = problem.coefficients(u)
        off = 0.0 if math.frexp(problem.bias)[0] in (0.0, 0.5) else 2 * UNIT * float(np.abs(intercept).max())
        if problem.weights is not None:
            off *= float(problem.weights.max())
        value = value * (1 - math.copysign(4 * UNIT, value)) - 1.01 * off - 2.0**-1073
        slack = (problem.dimension + 8) * UNIT  # for a norm, squared and summed in any order
        norm = _norm(u)
        return (
            value / (norm * (1 + slack if value >= 0 else 1 - slack)) * (1 - math.copysign(4 * UNIT, value))
        )

    def _rigorous_upper(self) -> float:
        """‖Σ α z‖/Σα, rounded up."""
        used = np.flatnonzero(self.alpha)
        alpha = self.alpha[used]
        Z = self.problem.signed_rows(self.pairs[used])
        columns: Any = Z.tocsc() if is_sparse(Z) else np.ascontiguousarray(Z.T)
        w = np.empty(self.problem.dimension)
        for j in range(len(w)):  # each correctly rounded, and not to 0
            if is_sparse(Z):
                part = slice(columns.indptr[j], columns.indptr[j + 1])
                sign, value = _core.exact_dot(columns.data[part], alpha[columns.indices[part]])
            else:
                sign, value = _core.exact_dot(columns[j], alpha)
            w[j] = value if value else sign * 2.0**-1074
        norm = _norm(w)
        if not norm:
            return 0.0
        norm *= 1 + (len(w) + 8) * UNIT
        if self.problem.weights is not None:  # weight·x was rounded once
            norm += 1.01 * UNIT * float(self.problem.lengths()[self._row(self.pairs[used])] @ alpha)
        return float(norm / math.fsum(alpha) * (1 + 8 * UNIT) + 2.0**-1073)

    def _row(self, pairs: Pairs) -> Pairs:
        return pairs // self.problem.n_classes if self.problem.is_joint else pairs


def _norm(v: Floats) -> float:
    """‖v‖, scaled."""
    v = np.ravel(v)
    largest = float(np.abs(v).max(initial=0.0))
    if not 0 < largest < math.inf:
        return largest
    exponent = math.frexp(largest)[1]
    return math.ldexp(math.sqrt(float(np.square(np.ldexp(v, -exponent)).sum())), exponent)


def _union(first: Pairs, second: Pairs) -> Pairs:
    """Both, without repetitions, in their order."""
    both = np.concatenate([first, second])
    _, at = np.unique(both, return_index=True)
    return both[np.sort(at)]
