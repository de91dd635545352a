"""Radius, margins, distances; the reductions of a threshold and of norms; the 0–1 risk.

Everything here is about the vectors z of `novikoff.proof.problem`. The margin of z under u is u·z/‖u‖
(geometric) or u·z (functional). With an intercept everything is measured in the lifted space x̃ = (x, c),
where the vector is (coef, intercept/c): the bounds are about this margin, which is never more than that with
a free intercept, since (coef, intercept/c) is no shorter than coef.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.data.arrays import is_sparse
from novikoff.proof import folding
from novikoff.proof.problem import MODERATE, Problem, read_problem, row_lengths
from novikoff.shown import Shown, table_text
from novikoff.training.weights import Floats, Scorer


# ---- vectors -----------------------------------------------------------------------------------------
def length(u: Any) -> float:
    """‖u‖, computed so that squares neither overflow nor underflow.

    >>> length(np.array([3e300, 4e300]))
    5e+300
    """
    flat = np.asarray(u, dtype=np.float64).ravel()
    size = float(np.abs(flat).max(initial=0.0))
    if size == 0 or 1e-140 < size < 1e140:
        return float(np.sqrt(flat @ flat))
    scale = math.frexp(size)[1]
    return float(folding.times(np.linalg.norm(folding.times(flat, -scale)), scale))


def as_vector(problem: Problem, u: Any) -> Floats:
    """`u` in the shape `problem.shape`: an array of that shape, a pair (coef, intercept), or a model.

    A model is anything with `coef_` and `intercept_` (or without the underscore); where it has `classes_`
    they must be those of the labels, in any order.
    """
    for coef, intercept in (("coef_", "intercept_"), ("coef", "intercept")):
        if hasattr(u, coef):
            pair = getattr(u, coef), getattr(u, intercept, 0.0)
            return _of_classes(problem, _lifted(problem, *pair), getattr(u, "classes_", None))
    if isinstance(u, tuple) and len(u) == 2:
        return _lifted(problem, *u)
    vector = np.asarray(u, dtype=np.float64)
    if vector.shape != problem.shape:
        raise ValueError(
            f"u has the shape {vector.shape}, but vectors of these rows have {problem.shape}"
            + (", the bias coordinate last: pass (coef, intercept), or" if problem.bias else ":")
            + (" fit_intercept=False." if problem.bias else " one number per feature and class.")
        )
    return _finite(vector)


def _lifted(problem: Problem, coef: Any, intercept: Any) -> Floats:
    coef = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    lines = problem.n_classes if problem.is_joint else 1
    if coef.shape != (lines, problem.n_features):
        raise ValueError(
            f"coef has the shape {coef.shape}, but these rows need {(lines, problem.n_features)}: "
            f"{problem.n_features} features, {problem.n_classes} classes."
        )
    return _finite(problem.vector(coef, np.asarray(intercept, dtype=np.float64)))


def _of_classes(problem: Problem, u: Floats, classes: Any) -> Floats:
    if classes is None or np.array_equal(classes, problem.classes):
        return u
    if sorted(np.asarray(classes).tolist()) != sorted(problem.classes.tolist()):
        raise ValueError(
            f"the model has the classes {np.asarray(classes).tolist()}, but the rows have "
            f"{problem.classes.tolist()}: pass rows of exactly the model's classes."
        )
    places = [np.asarray(classes).tolist().index(c) for c in problem.classes.tolist()]
    return u[places] if problem.is_joint else -u


def _finite(u: Floats) -> Floats:
    if not np.isfinite(u).all():
        raise ValueError("u holds NaN or infinity: a direction needs finite numbers.")
    return u


def direction(problem: Problem, u: Any) -> tuple[Floats, float]:
    """`as_vector` and its length, which must not be 0."""
    vector = as_vector(problem, u)
    norm = length(vector)
    if not norm:
        raise ValueError("u is zero and has no direction: a margin needs u ≠ 0.")
    return vector, norm


# ---- radius and margins ------------------------------------------------------------------------------
def radius(
    X: Any,
    *,
    fit_intercept: bool = True,
    intercept_scaling: float = 1.0,
    sample_weight: Any = None,
    rounding: str = "never",
) -> float:
    """R: the largest norm of a row, with its bias coordinate, times its weight; rounded up.

    With three classes or more the bounds use √2·R, since an update moves two vectors.

    >>> radius([[3.0, 4.0], [1.0, 0.0]], fit_intercept=False)
    5.0
    """
    n = (*X.shape, 0)[0] if hasattr(X, "shape") else len(X)
    problem = read_problem(
        X,
        np.ones(n, dtype=np.int64),
        fit_intercept=fit_intercept,
        intercept_scaling=intercept_scaling,
        sample_weight=sample_weight,
        rounding=rounding,
    )
    return problem.radius()


def by_row(problem: Problem, scores: Floats) -> Floats:
    """The smallest score of each row: that of its class against the best rival."""
    smallest: Floats = scores.min(axis=1) if problem.is_joint else scores
    return smallest


def margins(X: Any, y: Any, u: Any, *, kind: str = "geometric", **lift: Any) -> Floats:
    """The margin of every row under u: y·(u·x̃), divided by ‖u‖ when geometric.

    Parameters
    ----------
    X, y : rows and labels
        Dense or sparse. With three classes or more the margin of a row is against its best rival.
    u : array of the lifted space, (coef, intercept), or a fitted model
    kind : {'geometric', 'functional'}
    **lift : fit_intercept=True, intercept_scaling=1.0, sample_weight=None, rounding="never"
        Weights multiply the margins; rows of weight 0 are left out. Numbers that no double holds are refused,
        or rounded with a warning ("nearest").

    Returns
    -------
    array with one number per row, whose sign is exact.

    >>> margins([[2.0, 1.0], [-1.0, 0.0]], [1, -1], np.array([2.0, 0.0]), fit_intercept=False)
    array([2., 1.])
    """
    _check_kind(kind)
    problem = read_problem(X, y, **lift)
    if kind == "functional":
        return by_row(problem, problem.scores(as_vector(problem, u)))
    vector, norm = direction(problem, u)
    return by_row(problem, problem.scores(vector)) / norm


def margin(X: Any, y: Any, u: Any, *, kind: str = "geometric", **lift: Any) -> float:
    """The smallest margin of all rows: γ_u. Positive exactly where u separates the data.

    The smallest u·z is found exactly. A geometric margin is rounded down, so as a real number it is no more
    than γ; a functional one is rounded to nearest. Parameters as in `margins`.

    >>> margin([[2.0, 1.0], [-1.0, 0.0]], [1, -1], ([[1.0, 0.0]], [0.5]))  # (1, 0, ½) is √1.25 long
    0.4472135954999579
    """
    _check_kind(kind)
    problem = read_problem(X, y, **lift)
    if kind == "functional":
        return problem.smallest(as_vector(problem, u)).value
    return margin_of(problem, u)


def margin_of(problem: Problem, u: Any) -> float:
    """γ_u of a problem that has already been read, rounded down."""
    return problem.margin(direction(problem, u)[0])


def stepped(problem: Problem, rule: str) -> Problem:
    """The problem whose z are the steps of the rule: for 'normalized' every row is scaled to norm 1."""
    if rule != "normalized":
        return problem
    norms, weights = row_lengths(problem.X, problem.bias), problem.weights
    sizes = norms[norms > 0] if weights is None else np.concatenate([norms[norms > 0], weights])
    if not (MODERATE[0] < float(sizes.min(initial=1.0)) and float(sizes.max(initial=1.0)) < MODERATE[1]):
        X = folding.lifted(problem.X, problem.bias)  # each row multiplied by its own power of two
        X = folding.folded(X, None, -folding.exponents(X, None))
        problem, norms = replace(problem, X=X, bias=0.0), row_lengths(X, 0.0)
    factors = 1 / np.where(norms > 0, norms, 1.0)
    return replace(problem, weights=factors if weights is None else factors * weights)


def unit_bracket(problem: Problem, lower: float, upper: float) -> tuple[float, float]:
    """The bracket on γₙ of a problem, from that of `stepped`, whose rows have norm 1 up to rounding.

    Each row's factor, and so u·z, has a relative error of at most `slack`; a combination of the z is off by
    at most `slack` times the longest z. A coordinate or weight that underflows adds an error of `lost`.
    """
    slack = (problem.width + 16) * 2.0**-51
    heaviest = 1.0 if problem.weights is None else float(problem.weights.max())
    lost = 0.0 if problem.is_moderate else problem.width * (heaviest * 2.0**-1073 + 2.0**-1073)
    return lower - abs(lower) * slack - lost, upper + 2 * slack * heaviest + lost


def _check_kind(kind: str) -> None:
    if kind not in ("geometric", "functional"):
        raise ValueError(f"kind={kind!r} is not possible: expected 'geometric' or 'functional'.")


# ---- points and hyperplanes --------------------------------------------------------------------------
def _plane(x: Any, u: Any) -> tuple[Floats, Floats, float, float]:
    """x, the normal of the plane, its intercept, and the normal's squared length."""
    normal, intercept = u if isinstance(u, tuple) else (u, 0.0)
    normal = np.asarray(normal, dtype=np.float64).ravel()
    points = np.asarray(x, dtype=np.float64)
    if points.shape[-1:] != normal.shape:
        raise ValueError(f"x has {points.shape[-1:]} coordinates, but u has {normal.shape}.")
    square = float(normal @ normal)
    if not (square and math.isfinite(square)):
        raise ValueError("u must be a finite vector other than zero: it is the plane's normal.")
    return points, normal, float(np.asarray(intercept).item()), square


def project(x: Any, u: Any) -> Floats:
    """The projection of x (one point, or one per row) onto the line along u: (u·x/u·u)·u.

    >>> project([3.0, 4.0], [2.0, 0.0])
    array([3., 0.])
    """
    points, normal, _, square = _plane(x, u if not isinstance(u, tuple) else u[0])
    return np.multiply.outer(points @ normal / square, normal)


def distance(x: Any, u: Any) -> Any:
    """The distance of x from the plane u·x = 0, or coef·x + intercept = 0 for u = (coef, intercept).

    >>> distance([3.0, 4.0], [2.0, 0.0]), distance([3.0, 4.0], ([2.0, 0.0], -2.0))
    (3.0, 2.0)
    """
    points, normal, intercept, square = _plane(x, u)
    found = np.abs(points @ normal + intercept) / math.sqrt(square)
    return float(found) if found.ndim == 0 else found


def foot(x: Any, u: Any) -> Floats:
    """The point of the plane that is nearest to x: the foot of its perpendicular.

    >>> foot([3.0, 4.0], ([2.0, 0.0], -2.0))
    array([1., 4.])
    """
    points, normal, intercept, square = _plane(x, u)
    return points - np.multiply.outer((points @ normal + intercept) / square, normal)


# ---- reductions --------------------------------------------------------------------------------------
@dataclass(frozen=True, repr=False)
class Reduction(Shown):
    """The effect of a reduction on R, the margin of u and the bound (R/γ)²; and its inverse for vectors.

    Margins and bounds are None if no u was given.
    """

    name: str
    radius_before: float
    radius: float
    margin_before: float | None
    margin: float | None
    bound_before: float | None
    bound: float | None
    bias: float = field(default=0.0)  # the coordinate that was added; 0: none

    def back(self, u: Any) -> tuple[Floats, float]:
        """(coef, intercept) for the original data, from a vector for the reduced data."""
        u = np.asarray(u, dtype=np.float64).ravel()
        return (u[:-1], float(u[-1] * self.bias)) if self.bias else (u, 0.0)

    def to_dict(self) -> dict[str, Any]:
        """All figures by name."""
        return asdict(self)

    def __str__(self) -> str:
        rows = [("R", f"{self.radius_before:.6g} → {self.radius:.6g}")]
        if self.margin is not None and self.bound is not None:
            rows.append(("γ of u", f"{self.margin_before:.6g} → {self.margin:.6g}"))
            rows.append(("(R/γ)²", f"{self.bound_before:.6g} → {self.bound:.6g}"))
        return table_text(self.name, rows)


def _quotient(radius: float, margin: float | None) -> float | None:
    if margin is None:
        return None
    return (radius / margin) ** 2 if margin > 0 else math.inf


def reduce_threshold(
    X: Any, y: Any, u: Any = None, *, threshold: float = 0.0, intercept_scaling: float | None = None
) -> tuple[Any, Reduction]:
    """From thresholds to the origin: y·(u·x − θ) > 0 becomes y·(ũ·x̃) > 0 with x̃ = (x, c), ũ = (u, −θ/c).

    R̃² = R² + c², and the margin of u falls by the factor √(1 + θ²/c²) for ‖u‖ = 1. With c = R and |θ| ≤ R
    (a plane that misses the ball says nothing about the rows) both squares at most double: the bound is at
    most 4·(R/γ)², where γ is the margin with the threshold. A small c reduces the margin, a large c
    increases R̃.

    Parameters
    ----------
    X, y : rows and labels of two classes
    u : array of one number per feature, optional
        A direction to follow through the reduction.
    threshold : float
        θ of that direction.
    intercept_scaling : float, optional
        c; R by default.

    Returns
    -------
    (rows with the coordinate c added, Reduction)

    >>> _, reduced = reduce_threshold([[10.0], [12.0]], [1, -1], [-1.0], threshold=-11.0)
    >>> round(reduced.margin_before, 6), round(reduced.margin, 6)
    (1.0, 0.737154)
    """
    plain = read_problem(X, y, fit_intercept=False)
    _two_classes(plain)
    R = plain.radius()
    c = R or 1.0 if intercept_scaling is None else intercept_scaling
    lifted = read_problem(X, y, fit_intercept=True, intercept_scaling=c)
    before = after = None
    if u is not None:
        normal, norm = direction(plain, np.asarray(u, dtype=np.float64).ravel())
        before = read_problem(X, y).smallest(np.append(normal, -threshold)).value / norm
        after = margin_of(lifted, np.append(normal, -threshold / c))
    reduced = Reduction(
        "threshold to one more coordinate",
        R,
        lifted.radius(),
        before,
        after,
        _quotient(R, before),
        _quotient(lifted.radius(), after),
        c,
    )
    return _unsigned(lifted), reduced


def reduce_norm(
    X: Any, y: Any, u: Any = None, *, fit_intercept: bool = True, intercept_scaling: float = 1.0
) -> tuple[Any, Reduction]:
    """Every row, with its bias coordinate, divided by its norm. u is unchanged.

    A perceptron on the new rows is the normalized rule on the old. R becomes 1, and a row's margin m
    becomes m/‖x‖ ≥ m/R if m ≥ 0: so γ_n ≥ γ/R, and the bound 1/γ_n² is never more than (R/γ)². (The number of
    mistakes may still be larger: a bound is not a count.)

    Returns
    -------
    (rows of norm 1, which need no intercept any more, Reduction)

    >>> X, reduced = reduce_norm([[10.0, 1.0], [0.0, -1.0]], [1, -1], [0.0, 1.0], fit_intercept=False)
    >>> round(reduced.bound_before, 6), round(reduced.bound, 6)
    (101.0, 101.0)
    >>> print(reduce_norm([[10.0, 10.0], [0.0, -1.0]], [1, -1], [0.0, 1.0], fit_intercept=False)[1])
    rows to norm 1
      R          14.1421 → 1
      γ of u     1 → 0.707107
      (R/γ)²     200 → 2
    """
    problem = read_problem(X, y, fit_intercept=fit_intercept, intercept_scaling=intercept_scaling)
    _two_classes(problem)
    norms = problem.lengths()
    if not norms.all():
        row = int(np.flatnonzero(norms == 0)[0])
        raise ValueError(f"row {row} is zero, so it has no direction: leave it out (no u separates it).")
    before = after = None
    if u is not None:
        vector, norm = direction(problem, u)
        before = margin_of(problem, vector)
        after = stepped(problem, "normalized").smallest(vector).value / norm
    reduced = Reduction(
        "rows to norm 1",
        problem.radius(),
        1.0,
        before,
        after,
        _quotient(problem.radius(), before),
        _quotient(1.0, after),
        problem.bias,
    )
    rows = _unsigned(problem)
    factors = 1 / norms
    return (sp.diags_array(factors) @ rows).tocsr() if is_sparse(rows) else rows * factors[:, None], reduced


def _two_classes(problem: Problem) -> None:
    if problem.is_joint:
        raise ValueError(f"reductions need two classes, but y has {problem.n_classes}.")


def _unsigned(problem: Problem) -> Any:
    """The rows x̃ themselves."""
    plus = replace(problem, labels=np.ones_like(problem.labels), weights=None)
    return plus.signed_rows(np.arange(problem.n_rows))


# ---- risk --------------------------------------------------------------------------------------------
def empirical_risk(
    X: Any,
    y: Any,
    u: Any,
    *,
    ties: str = "positive",
    fit_intercept: bool = True,
    intercept_scaling: float = 1.0,
    sample_weight: Any = None,
    rounding: str = "never",
) -> float:
    """The share of rows that u gets wrong: the mean 0–1 loss, decided exactly, with the sample weights.

    A score of exactly 0 is wrong for the first class (`ties='positive'`) or for either (`'mistake'`). With
    three classes or more the prediction is the lowest class with the highest score; with `'mistake'`, the
    lowest such class other than y. For a voted perceptron this tests its last weights, its `coef_`; use its
    method `score` for the votes.

    >>> X, y = [[1.0], [0.0], [-1.0]], [1, 1, -1]
    >>> empirical_risk(X, y, [1.0], fit_intercept=False)
    0.0
    >>> round(empirical_risk(X, y, [1.0], fit_intercept=False, ties="mistake"), 4)
    0.3333
    """
    if ties not in ("positive", "mistake"):
        raise ValueError(f"ties={ties!r} is not possible: expected 'positive' or 'mistake'.")
    problem = read_problem(
        X,
        y,
        fit_intercept=fit_intercept,
        intercept_scaling=intercept_scaling,
        sample_weight=sample_weight,
        rounding=rounding,
    )
    wrong = wrong_rows(problem, as_vector(problem, u), ties)
    return float(np.average(wrong, weights=problem.weights))


def wrong_rows(problem: Problem, u: Floats, ties: str = "positive") -> Any:
    """Which rows u gets wrong under the tie rule: an array of booleans."""
    coef, intercept = problem.coefficients(u)
    wrong = Scorer.from_weights(coef, intercept).predict(problem.X, -1) != problem.labels
    if ties == "mistake":  # also those that are wrong with ties resolved the other way
        if problem.is_joint:
            last = problem.n_classes - 1
            other = last - Scorer.from_weights(coef[::-1], intercept[::-1]).predict(problem.X, -1)
        else:
            other = 1 - Scorer.from_weights(-coef, -intercept).predict(problem.X, -1)
        wrong |= other != problem.labels
    return wrong
