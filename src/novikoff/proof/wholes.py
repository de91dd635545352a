"""Margins computed in integers, for rows and vectors that floats cannot measure.

Every finite float is an integer times a power of two, so u·z, ‖u‖² and ‖Σ α·z‖² have one true value each.
Here they are computed with Python integers and rounded once, outward, for any sizes. Floats are many times
as fast; they are used if squares neither overflow nor underflow (`Problem.is_moderate`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.data.arrays import is_sparse
from novikoff.outward import margin_down, root_up
from novikoff.proof.problem import Pairs, Problem

Integers = npt.NDArray[Any]  # of Python integers


def wholes(values: Any) -> tuple[Integers, int]:
    """Integers and one exponent: values = integers·2^exponent.

    >>> wholes(np.array([0.75, -2.0]))
    (array([3, -8], dtype=object), -2)
    """
    values = np.asarray(values)
    if values.dtype == object:  # integers already
        return values, 0
    mantissa, exponent = np.frexp(values.astype(np.float64))
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    lowest = np.frexp(np.where(whole == 0, 1, whole & -whole).astype(np.float64))[1] - 1
    whole, exponent = whole >> lowest, exponent - 53 + lowest
    least = int(np.where(whole == 0, 1 << 20, exponent).min(initial=1 << 20))
    if least == 1 << 20:
        return np.zeros(values.shape, dtype=np.int64).astype(object), 0
    shift = np.where(whole == 0, 0, exponent - least)
    return whole.astype(object) << shift.astype(object), least


def least(problem: Problem, coef: Any, intercept: Any, *, above: bool = False) -> Fraction:
    """The smallest u·z, exactly; with `above`, the search ends at the first u·z ≤ 0."""
    (w, w_exponent), (b, b_exponent) = wholes(coef), wholes(intercept)
    found: Fraction | None = None
    for i in range(problem.n_rows):
        columns, values = row(problem.X, i)
        x, exponent = wholes(values)
        scores = w[:, columns] @ x if len(columns) else w[:, :0].sum(axis=1)
        exact = [
            Fraction(s) * Fraction(2) ** (exponent + w_exponent) + Fraction(c) * Fraction(2) ** b_exponent
            for s, c in zip(scores.tolist(), b.tolist(), strict=True)
        ]
        own = int(problem.labels[i])
        if problem.is_joint:
            gap = exact[own] - max(s for c, s in enumerate(exact) if c != own)
        else:
            gap = exact[0] if own else -exact[0]
        if problem.weights is not None:
            gap *= Fraction(float(problem.weights[i]))
        if found is None or gap < found:
            found = gap
        if above and found <= 0:
            break
    assert found is not None
    return found


def coefficients(problem: Problem, u: Any) -> tuple[Integers, Integers]:
    """(coef, intercept) of u in integers, up to a common factor: the intercept is c·u_last exactly.

    >>> from novikoff.proof.problem import read_problem
    >>> coefficients(read_problem([[1.0]], [1], intercept_scaling=0.75), [0.5, 3.0])
    (array([[4]], dtype=object), array([18], dtype=object))
    """
    u, _ = wholes(np.atleast_2d(u))
    if not problem.bias:
        return u, np.zeros(len(u), dtype=np.int64).astype(object)
    (c,), power = wholes(np.array([problem.bias]))
    return u[:, :-1] << max(-power, 0), (c << max(power, 0)) * u[:, -1]


def row(X: Any, i: int) -> tuple[Any, Any]:
    """Columns and values of the nonzeros of a row."""
    if is_sparse(X):
        part = slice(X.indptr[i], X.indptr[i + 1])
        return X.indices[part], X.data[part]
    columns = np.flatnonzero(X[i])
    return columns, X[i, columns]


def square(problem: Problem, coef: Any, intercept: Any) -> Fraction:
    """‖u‖², where u is (coef, intercept/c)."""
    (w, w_exponent), (b, b_exponent) = wholes(coef), wholes(intercept)
    total = Fraction(int((w * w).sum())) * Fraction(2) ** (2 * w_exponent)
    if (b != 0).any():
        total += Fraction(int((b * b).sum())) * Fraction(2) ** (2 * b_exponent) / Fraction(problem.bias) ** 2
    return total


def margin(problem: Problem, coef: Any, intercept: Any, smallest: Fraction | None = None) -> float:
    """The margin of u, rounded down; `smallest` is the result of `least`, if known.

    >>> from novikoff.proof.problem import read_problem
    >>> t = 2.0**-1074
    >>> problem = read_problem([[15 * t, 0.0], [0.0, 20 * t]], [1, 1], fit_intercept=False)
    >>> margin(problem, np.array([[4, 3]], dtype=object), np.array([0], dtype=object)) / t
    12.0
    """
    smallest = least(problem, coef, intercept) if smallest is None else smallest
    return margin_down(smallest, *2 * (square(problem, coef, intercept),))[0]


def distance(problem: Problem, pairs: Pairs, alpha: Any) -> float:
    """‖Σ α·z‖/Σα for these pairs, rounded up: an upper bound on every margin."""
    rows, rivals = np.divmod(pairs, problem.n_classes) if problem.is_joint else (pairs, pairs)
    sums: dict[tuple[int, int], Fraction] = {}
    total, blocks = Fraction(0), [Fraction(0)] * problem.n_classes
    for i, rival, share in zip(rows.tolist(), rivals.tolist(), np.asarray(alpha).tolist(), strict=True):
        total += Fraction(share)
        weight = Fraction(share) * (1 if problem.weights is None else Fraction(float(problem.weights[i])))
        columns, values = row(problem.X, i)
        own = int(problem.labels[i])
        signed = [(own, weight), (rival, -weight)] if problem.is_joint else [(0, weight if own else -weight)]
        for block, factor in signed:
            blocks[block] += factor
            for j, value in zip(columns.tolist(), values.tolist(), strict=True):
                sums[block, j] = sums.get((block, j), Fraction(0)) + factor * Fraction(value)
    whole = sum((v * v for v in sums.values()), Fraction(0))
    whole += sum((v * v for v in blocks), Fraction(0)) * Fraction(problem.bias) ** 2
    return root_up(whole / total**2)
