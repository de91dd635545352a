"""Freund and Schapire's bound in the lecture's words: deviations from a margin, and rows lifted to have it.

Theorem (Freund and Schapire 1999). For any unit vector u and any γ > 0, one pass of the perceptron over
(x₁, y₁), …, (x_m, y_m) with ‖x_i‖ ≤ R makes at most ((R + D)/γ)² mistakes, where

    d_i = max(0, γ − y_i·(u·x_i))    and    D = √(Σ d_i²).

The proof lifts the rows, each into a dimension of its own, x_i' = (x_i, Δ·e_i), and u to u' = (u, y·d/Δ)/Z,
Z² = 1 + D²/Δ². Then u' has norm 1 and separates the lifted rows by γ/Z, whatever the labels are:

    y_i·(u'·x_i') = (y_i·(u·x_i) + d_i)/Z ≥ γ/Z,        ‖x_i'‖² ≤ R² + Δ².

In one pass, the perceptron predicts the same on both, since nothing was added to the dimension of a row
before its visit. The theorem of Block and Novikoff gives (R² + Δ²)(1 + D²/Δ²)/γ², which is least at Δ² = R·D.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novikoff.proof.geometry import direction
from novikoff.proof.problem import Problem, read_problem
from novikoff.shown import Shown, table_text
from novikoff.theory.hindsight import losses_at
from novikoff.theory.hindsight_search import UNIT
from novikoff.training.weights import Floats

MOST_ROWS = 20_000  # whose lifted form is made dense


@dataclass(frozen=True, eq=False, repr=False)
class Deviations(Shown):
    """How far rows are from having the margin γ under u, and what follows for one pass over them."""

    d: Floats  # d_i of every row
    u: Floats  # of norm 1, in the lifted space of the bias, if there is one
    gamma: float
    radius: float  # R, rounded up
    D: float  # √(Σ d_i²), rounded up
    bound: float  # ((R + D)/γ)², rounded up
    problem: Problem = field(repr=False)

    @property
    def delta(self) -> float:
        """Δ = √(R·D), at which the bound of the lifted rows is least; 0 if no row deviates."""
        return math.sqrt(self.radius * self.D)

    def bound_at(self, delta: float) -> float:
        """(R² + Δ²)(1 + D²/Δ²)/γ², the bound that lifting by this Δ gives.

        >>> found = deviations([[1.0], [-1.0], [1.0]], [1, -1, -1], [1.0], 1.0, fit_intercept=False)
        >>> found.bound_at(1.0), found.bound_at(found.delta), found.bound_at(4.0)
        (10.0, 9.0, 21.25)
        """
        if not delta > 0:
            raise ValueError(f"delta={delta!r} is not possible: expected a number > 0.")
        R, D, gamma = self.radius, self.D, self.gamma
        return (R * R + delta * delta) * (1 + (D / delta) ** 2) / gamma**2

    def lifted(self, delta: float | None = None, *, sparse: bool = False) -> tuple[Any, Floats, float]:
        """The lifted rows, a unit vector that separates them, and its margin γ/Z. By default Δ² = R·D.

        If no row deviates (D = 0), the rows themselves are returned: that is Block and Novikoff's theorem.
        The bias is one of the columns. `sparse` makes CSR rows.

        >>> found = deviations([[1.0], [-1.0], [1.0]], [1, -1, -1], [1.0], 1.0, fit_intercept=False)
        >>> X, u, margin = found.lifted(delta=2.0)
        >>> X.tolist(), bool(np.all(np.array([1, -1, -1]) * (X @ u) >= margin - 1e-15)), round(margin, 6)
        ([[1.0, 2.0, 0.0, 0.0], [-1.0, 0.0, 2.0, 0.0], [1.0, 0.0, 0.0, 2.0]], True, 0.707107)
        """
        import scipy.sparse as sp

        p = self.problem
        rows = np.arange(p.n_rows)
        X = sp.csr_array(p.signed_rows(rows)) * 1.0
        X = sp.csr_array(sp.diags_array(p.signs) @ X)  # signed_rows multiplied by y
        if delta is None and not self.D:
            return (X if sparse else X.toarray()), self.u, self.gamma
        delta = self.delta if delta is None else delta
        if not delta > 0:
            raise ValueError(f"delta={delta!r} is not possible: expected a number > 0.")
        if not sparse and p.n_rows > MOST_ROWS:
            raise ValueError(f"{p.n_rows:,} rows get as many more columns: pass sparse=True for CSR rows.")
        Z = math.sqrt(1 + (self.D / delta) ** 2)
        lifted = sp.hstack([X, delta * sp.eye_array(p.n_rows)], format="csr")
        u = np.concatenate([self.u, p.signs * self.d / delta]) / Z
        return (lifted if sparse else lifted.toarray()), u, self.gamma / Z

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values."""
        own = {"gamma": self.gamma, "radius": self.radius, "D": self.D, "bound": self.bound}
        return own | {"d": self.d.tolist(), "u": self.u.tolist()}

    def __str__(self) -> str:
        off = int(np.count_nonzero(self.d))
        rows = [
            ("γ", f"{self.gamma:.6g}"),
            ("R", f"{self.radius:.6g}"),
            ("D", f"{self.D:.6g}: {off:,} of {len(self.d):,} rows deviate, by at most {self.d.max():.6g}"),
            ("bound", f"mistakes of one pass ≤ ⌊((R + D)/γ)²⌋ = {math.floor(self.bound):,}"),
        ]
        return table_text("deviations from the margin γ under u (Freund and Schapire)", rows)


def deviations(
    X: Any,
    y: Any,
    u: Any,
    gamma: float,
    *,
    fit_intercept: bool = True,
    intercept_scaling: float = 1.0,
    rounding: str = "never",
) -> Deviations:
    """The deviations d_i of rows from the margin γ under u, and Freund and Schapire's bound on one pass.

    Parameters
    ----------
    X, y : rows and labels of two classes, dense or sparse
    u : array of the lifted space, (coef, intercept), or a model
        It is scaled to norm 1.
    gamma : float
        γ > 0, any number: `best_in_hindsight` finds the u and γ with the smallest bound.
    fit_intercept, intercept_scaling, rounding
        As in the estimators.

    Examples
    --------
    The points −1 and +1, and a +1 with the wrong label; d = (0, 0, 2), so the bound is ((1 + 2)/1)².

    >>> print(deviations([[1.0], [-1.0], [1.0]], [1, -1, -1], [1.0], 1.0, fit_intercept=False))
    deviations from the margin γ under u (Freund and Schapire)
      γ          1
      R          1
      D          2: 1 of 3 rows deviate, by at most 2
      bound      mistakes of one pass ≤ ⌊((R + D)/γ)²⌋ = 9
    """
    if not (gamma > 0 and math.isfinite(gamma)):
        raise ValueError(f"gamma={gamma!r} is not possible: expected a finite number > 0.")
    problem = read_problem(
        X, y, fit_intercept=fit_intercept, intercept_scaling=intercept_scaling, rounding=rounding
    )
    if problem.is_joint:
        raise ValueError(f"deviations are of two classes, but there are {problem.n_classes}.")
    vector, norm = direction(problem, u)
    unit = vector / norm
    R, d = problem.radius(), np.maximum(gamma - problem.scores(unit), 0.0)
    size, slack = losses_at(problem, unit / gamma)  # ‖u‖/γ and D/γ, rounded up
    root = R * size + slack
    D = float(np.linalg.norm(d))
    bound = root * root * (1 + 16 * UNIT) if D else (R * size) ** 2 * (1 + 16 * UNIT)
    return Deviations(d, unit, float(gamma), R, D, float(bound), problem)
