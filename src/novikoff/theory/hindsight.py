"""The best comparison vector in hindsight, with the least such bound on the mistakes in any order.

For every v, the mistakes k that a perceptron makes from w = 0 over e copies of the rows, in any order, obey

    √k ≤ A₂(v) = R‖v‖ + √e·‖h(v)‖₂                  h_i = max(0, 1 − v·z_i)   (Freund and Schapire 1999)
    k  ≤ R‖v‖·√k + e·‖h(v)‖₁, so √k ≤ A₁(v) = (R‖v‖ + √(R²‖v‖² + 4e‖h(v)‖₁))/2            (its L1 companion)

since Σ v·z over the updates is at most ‖v‖·‖w‖ ≤ ‖v‖·√k·R and at least k − Σ h. This module finds the best v
for the data, with a lower bound that proves how good it is.

**L2.** A₂ is convex. For every α ≥ 0 with ‖α‖₂ ≤ √e and ‖Σ α z‖ ≤ R

    A₂(v) ≥ R‖v‖ + Σ α_i·(1 − v·z_i) ≥ Σ α_i + ‖v‖·(R − ‖Σ α z‖) ≥ Σ α_i,

so any α ≥ 0, scaled down until both hold, gives a lower bound on min A₂.

**L1.** A₁ is quasiconvex: A₁(v) ≤ x exactly where x·R‖v‖ + e‖h‖₁ ≤ x², and the left side is convex in v.
For 0 ≤ α ≤ e it is at least s·Σα, s = min(1, xR/‖Σ α z‖), by the same steps; hence A₁ never attains an x with
x² < s·Σα, and min A₁ ≥ min(√(Σα), R·Σα/‖Σ α z‖).

**Solver.** Newton's method on a smoothed function (norms √(‖·‖² + δ²), hinges as parabolas of width μ), with
δ and μ falling until the gap is small enough. For L1, x is A₁ at the current v. The Newton equation is solved
directly for few coordinates, and by conjugate gradients for many. Rows of extreme sizes are replaced, also
for the bounds, by those of `Problem.measurable`: A is the same for 2^p·z and v·2^−p.

With three classes or more h_i is the hinge against the best rival, a maximum that is smoothed too, and the
norms of α are those of its sums over the rivals of each row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.outward import ceil_text, floor_text, up
from novikoff.proof.folding import times
from novikoff.proof.geometry import as_vector, length
from novikoff.proof.problem import Problem, one_blas_thread, read_problem
from novikoff.shown import Shown
from novikoff.theory.hindsight_search import HindsightSearch, value_at
from novikoff.training.weights import Floats

Watch = Callable[[str, float | None], None]


@dataclass(frozen=True, eq=False, repr=False)
class Hindsight(Shown):
    """The smallest bound found, and a lower bound on the bound at any v.

    `value` = A(v)² bounds the mistakes of `epochs` passes in any order; `dual_value` ≤ min A². Both are
    rounded outward, so they hold as real numbers.
    """

    value: float
    dual_value: float
    v: Floats  # a vector of the lifted space
    alpha: Floats  # the weights, one per row, that prove dual_value up to rounding
    norm: str
    epochs: int
    radius: float
    v_norm: float  # ‖v‖ rounded up; so is the radius
    loss: float  # ‖h(v)‖₂ or ‖h(v)‖₁, over one copy of the rows
    iterations: int
    interrupted: bool = False
    power: int = 0  # the vector is v·2^power: 0 unless its coordinates are beyond the range of floats

    @property
    def gap(self) -> float:
        """(value − dual_value)/value."""
        return (self.value - self.dual_value) / self.value if self.value else 0.0

    def to_dict(self) -> dict[str, Any]:
        """All figures by name, without vectors."""
        vectors = ("v", "alpha")
        plain = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in vectors}
        return plain | {"gap": self.gap}

    def __str__(self) -> str:
        return (
            f"mistakes in {self.epochs} epoch(s) ≤ {ceil_text(self.value)} at the best v ({self.norm}); "
            f"no v gives less than {floor_text(self.dual_value)} (gap {100 * self.gap:.2g} %)"
        )


def best_in_hindsight(
    X: Any,
    y: Any,
    *,
    norm: str = "l2",
    epochs: int = 1,
    gap: float = 0.01,
    fit_intercept: bool = True,
    intercept_scaling: float = 1.0,
    sample_weight: Any = None,
    max_iterations: int = 200,
    watch: Watch | None = None,
    rounding: str = "never",
) -> Hindsight:
    """The least value of the Freund–Schapire bound, or its L1 companion, for these rows.

    Parameters
    ----------
    X, y : rows and labels, dense or sparse
    norm : {'l2', 'l1'}
    epochs : int
        The number of visits to each row: e copies of the rows are one sequence.
    gap : float
        Stop when (value − dual_value)/value is at most this.
    fit_intercept, intercept_scaling, sample_weight
        As in the estimators.
    max_iterations : int
        The maximum number of Newton steps; the result has the gap that was reached.
    watch : callable, optional
        Called as watch(text, None) to report progress.
    rounding : {'never', 'nearest'}
        Whether numbers that no double holds are refused, or rounded with a warning.

    Examples
    --------
    Three points that no threshold separates: x = −1 (+), 0 (−), 1 (+). Every bound must allow the mistakes of
    one pass.

    >>> best = best_in_hindsight([[-1.0], [0.0], [1.0]], [1, -1, 1])
    >>> best.gap <= 0.01 and best.value >= 2
    True
    """
    problem = read_problem(
        X,
        y,
        fit_intercept=fit_intercept,
        intercept_scaling=intercept_scaling,
        sample_weight=sample_weight,
        rounding=rounding,
    )
    return solve(problem, norm=norm, epochs=epochs, gap=gap, max_iterations=max_iterations, watch=watch)


def bound_at(problem: Problem, v: Any, *, norm: str = "l2", epochs: int = 1) -> float:
    """A(v)², rounded up: the bound at this v on the mistakes of `epochs` epochs.

    >>> problem = read_problem([[1e-320], [-1e-320]], [1, 0], fit_intercept=False)
    >>> round(bound_at(problem, [0.0]), 9), round(bound_at(problem, [1e308]), 9)  # v·z is 1e-12
    (2.0, 2.0)
    """
    _check(norm, epochs)
    v = as_vector(problem, v)
    rows, power = problem.measurable
    return value_at(rows, times(v, -power), norm, epochs).square


def losses_at(problem: Problem, v: Floats) -> tuple[float, float]:
    """(‖v‖, ‖h(v)‖₂), both rounded up."""
    found = value_at(problem, v, "l2", 1)
    return found.v_norm, found.loss


def best_length(margins: Floats, R: float, epochs: int = 1) -> tuple[float, float]:
    """(‖v‖, ‖h(v)‖₂) of the best multiple v of a unit vector u under which the rows have these margins.

    >>> best_length(np.array([1.0, 1.0]), 2.0)  # hinges are cheaper than a long v
    (0.0, 1.4142135623730951)
    >>> best_length(np.array([4.0, 4.0]), 2.0)
    (0.25, 0.0)
    """
    scale = math.sqrt(epochs)

    def slope(s: float) -> float:
        """The derivative of R·s + √e·‖(1 − s·m)₊‖, from the right."""
        h = np.maximum(1 - s * margins, 0.0)
        size = math.sqrt(float(h @ h))
        if size:
            return R - scale * float(h @ margins) / size
        grows = np.minimum(margins, 0.0)[1 - s * margins >= 0]
        return R + scale * length(grows)

    low, high = 0.0, 1.0 / max(R, 1e-300)
    if slope(0.0) >= 0:
        return 0.0, math.sqrt(len(margins))
    while slope(high) < 0:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        if slope(middle) < 0:
            low = middle
        else:
            high = middle
    h = np.maximum(1 - high * margins, 0.0)
    return high, length(h)


def _check(norm: str, epochs: int) -> None:
    if norm not in ("l2", "l1"):
        raise ValueError(f"norm={norm!r} is not possible: expected 'l2' or 'l1'.")
    if epochs < 1:
        raise ValueError(f"epochs={epochs!r} is not possible: expected 1 or more.")


def solve(
    problem: Problem,
    *,
    norm: str = "l2",
    epochs: int = 1,
    gap: float = 0.01,
    max_iterations: int = 200,
    watch: Watch | None = None,
) -> Hindsight:
    """`best_in_hindsight` for a problem that has already been read."""
    _check(norm, epochs)
    if not 0 < gap < 1:
        raise ValueError(f"gap={gap!r} is not possible: expected a number between 0 and 1.")
    rows, power = problem.measurable
    search = HindsightSearch(rows, norm, epochs, gap)
    interrupted = False
    try:
        with one_blas_thread():
            search.run(max_iterations, watch)
    except KeyboardInterrupt:
        interrupted = True
    at, v = search.best_at, search.best_v.reshape(problem.shape)
    own = times(v, power)
    is_held = bool((times(own, -power) == v).all())
    return Hindsight(
        value=at.square,
        dual_value=min(search.dual, at.square),
        v=own if is_held else v,
        alpha=search.alpha,
        norm=norm,
        epochs=epochs,
        radius=problem.radius(),
        v_norm=_up(at.v_norm, power),
        loss=at.loss,
        iterations=search.iterations,
        interrupted=interrupted,
        power=0 if is_held else power,
    )


def _up(size: float, power: int) -> float:
    """size·2^power, rounded up."""
    return up(Fraction(size) * Fraction(2) ** power)
