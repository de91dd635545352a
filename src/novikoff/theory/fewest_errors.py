"""Exact 0–1 risk minimization for a few rows: the line or plane with the fewest training errors.

Minimizing the number of errors of a linear threshold is NP-hard in general, but not in a fixed dimension. Let
the rows x̃ = (x, 1) be in general position in m dimensions: any m of them are independent. The vectors w with
the same signs y·(w·x̃) form a cone, and every such cone has an edge, which is orthogonal to m − 1 rows. On
these rows a small turn of w gives any signs, since they are independent. So it suffices to try the two
vectors that are orthogonal to each choice of m − 1 rows, and to count the errors on the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from novikoff.proof.problem import read_problem
from novikoff.training.weights import Floats

MOST = 2_000_000  # vectors that are tried
NEAR = 1e-9  # relative to the lengths: rows this near to a plane are not in general position


@dataclass(frozen=True)
class FewestErrors:
    """The fewest errors of any linear threshold on some rows, and one that attains them."""

    errors: int
    coef: Floats
    intercept: float
    wrong: tuple[int, ...]  # the rows on which it errs
    n_rows: int

    @property
    def risk(self) -> float:
        """The empirical risk with 0-1 loss: the share of errors."""
        return self.errors / self.n_rows


def fewest_errors(X: Any, y: Any, *, fit_intercept: bool = True) -> FewestErrors:
    """The linear threshold with the fewest training errors, by enumeration.

    Parameters
    ----------
    X, y : rows and labels of two classes
        In general position: no three rows on a line in the plane, for example. In d dimensions with a bias
        about n^d/d! vectors are tried, so n must be small: 1000 in the plane, 80 in 4 dimensions.
    fit_intercept : bool
        Whether the threshold has a bias.

    Examples
    --------
    XOR: no line has fewer than one error.

    >>> found = fewest_errors([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1])
    >>> found.errors, found.risk
    (1, 0.25)
    """
    problem = read_problem(X, y, fit_intercept=fit_intercept)
    if problem.is_joint:
        raise ValueError(f"there must be two classes, but there are {problem.n_classes}.")
    Z = problem.signed_rows(np.arange(problem.n_rows))
    Z = np.asarray(Z.toarray() if hasattr(Z, "toarray") else Z)
    lengths = np.linalg.norm(Z, axis=1)
    if not lengths.all():
        raise ValueError(f"row {int(np.argmin(lengths))} is zero, so the rows are not in general position.")
    unit = Z / lengths[:, None]
    n, m = Z.shape
    if n < m or math.comb(n, m - 1) > MOST:
        reason = "fewer rows than dimensions are always separable" if n < m else "too many to enumerate"
        raise ValueError(f"{n} rows in {m} dimensions (with the bias): {reason}.")
    best: tuple[int, Floats, tuple[int, ...]] | None = None
    for chosen in combinations(range(n), m - 1):
        w = _orthogonal(unit[list(chosen)])
        own = unit @ w
        own[list(chosen)] = math.inf
        if (np.abs(own) <= NEAR).any():
            raise ValueError(
                f"the rows {[*chosen, int(np.argmin(np.abs(own)))]} are not in general position: move one of "
                "them a little."
            )
        for sign in (1, -1):
            errors = int(np.count_nonzero(sign * own < 0)) if sign > 0 else _negative(own)
            if best is None or errors < best[0]:
                best = errors, sign * w, chosen
    assert best is not None
    w = _turned(unit, best[1], best[2])
    wrong = np.flatnonzero(unit @ w <= 0)
    assert len(wrong) == best[0]
    coef, intercept = problem.coefficients(w)
    return FewestErrors(best[0], coef[0], float(intercept[0]), tuple(wrong.tolist()), n)


def _negative(own: Floats) -> int:
    """The errors of the opposite vector; rows on the plane are none."""
    return int(np.count_nonzero((own > 0) & np.isfinite(own)))


def _orthogonal(rows: Floats) -> Floats:
    """A unit vector orthogonal to m − 1 independent rows, by a full singular value decomposition."""
    if not len(rows):
        return np.ones(1)
    values, lines = np.linalg.svd(rows)[1:]
    if values[-1] <= NEAR:
        raise ValueError(
            "some rows are multiples or combinations of others: they are not in general position."
        )
    found: Floats = lines[-1]
    return found


def _turned(unit: Floats, w: Floats, chosen: tuple[int, ...]) -> Floats:
    """w turned a little, so that the chosen rows are on their own side and no other changes its side."""
    if not chosen:
        return w
    v = np.linalg.lstsq(unit[list(chosen)], np.ones(len(chosen)), rcond=None)[0]
    others = np.delete(np.arange(len(unit)), list(chosen))
    reach = np.abs(unit[others] @ v).max(initial=1e-300)
    step = float(np.abs(unit[others] @ w).min(initial=1.0)) / (2 * reach)
    turned: Floats = w + min(step, 1.0) * v
    return turned
