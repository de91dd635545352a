"""Whether some u separates the data, decided exactly: u itself, or the weights that make it impossible.

By Gordan's theorem exactly one of two things exists: u with u·z > 0 for every z, or α ≥ 0, α ≠ 0, with
Σ α·z = 0. Floats only suggest either; u is then checked exactly against every z, and α is solved for in
integers. The cheapest proof is looked for first:

1. a row that is zero, or two rows that cancel out (`opposites`);
2. the perceptron: it converges, or a w that it had before comes back, and then the updates in between add up
   to zero (Block and Levin's cycling);
3. small problems: the simplex method in integers (`rational.alternative`), which always decides: its
   witness is a vector of integers, and stays one where floats are too coarse for it;
4. three classes or more: two classes that are inseparable by themselves make the whole so;
5. linear programs over a few of the z, to which those that its u gets wrong are added until none is left
   (separable) or the few cancel out (inseparable): HiGHS never sees the rows that do not matter;
6. where there are too many coordinates for that, the search for the largest margin (`maxmargin`);
7. problems of medium size that floats could not decide: once more the simplex method in integers.

Steps in floats look at rows of about the size 1: those of extreme sizes are multiplied by a power of two,
which changes no verdict. What they find is checked on the rows as they are.

Zero errors under the tie rule are the same question with u·z ≥ 0 for the z whose ties are no mistakes; by
Motzkin's theorem the alternative is then α with weight on some z whose tie is one.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from novikoff.proof.clock import Clock
from novikoff.proof.opposites import opposite_rows
from novikoff.proof.problem import Problem, read_problem
from novikoff.proof.search import SeparabilitySearch, Watch, opposite_pairs
from novikoff.proof.verdicts import Inseparable, Separable, Undecided, Verdict
from novikoff.training.weights import Floats

__all__ = ["Inseparable", "Separable", "Undecided", "Verdict", "decide", "separability"]


KERNELS = ("rbf", "laplacian")  # strictly positive definite: independent features for different points


def separability(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    intercept_scaling: float = 1.0,
    ties: str = "positive",
    kernel: str | None = None,
    time_limit: float | None = None,
    watch: Watch | None = None,
    rounding: str = "never",
) -> Verdict:
    """Can a linear threshold tell the classes apart? With a proof either way.

    The verdict is about the doubles that the rows hold: an integer, timestamp or long double that no double
    holds is refused, and a decimal (`decimal.Decimal`, or text) means the double nearest to it.

    Parameters
    ----------
    X, y : rows and their labels; dense or sparse, two classes or more
    fit_intercept, intercept_scaling : the bias coordinate, as in the estimators
    ties : ``"positive"`` or ``"mistake"``; which errors `consistent` counts
    kernel : ``"rbf"`` or ``"laplacian"``: the question in that kernel's space, where only equal points with
        different labels stand in the way
    time_limit : seconds after which the answer may be `Undecided`; None: as long as it takes
    watch : called as ``watch(text, fraction)`` now and then
    rounding : ``"nearest"`` rounds numbers that no double holds, with a warning, and the verdict is about the
        rounded rows; ``"never"`` refuses them

    Returns
    -------
    Separable, Inseparable or Undecided. With three classes or more the verdict is about all classes
    jointly, and `by_pair` has each two of them on their own.

    Examples
    --------
    >>> separability([[0.0], [1.0], [2.0]], [0, 0, 1]).verdict
    'separable'
    >>> xor = separability([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    >>> xor.verdict, xor.rows.tolist(), xor.weights
    ('inseparable', [0, 1, 2, 3], (1, 1, 1, 1))

    Separable, two classes at a time, is less than separable:

    >>> X = [[0, 0], [2, 1], [1, 1], [0, 4], [4, 0], [1, 2]]
    >>> verdict = separability(X, ["A", "A", "B", "B", "C", "C"])
    >>> verdict.verdict, set(verdict.by_pair.values())
    ('inseparable', {'separable'})
    """
    problem = read_problem(
        X, y, fit_intercept=fit_intercept, intercept_scaling=intercept_scaling, rounding=rounding
    )
    if kernel is not None:
        return _under_kernel(problem, ties, kernel)
    return decide(problem, ties=ties, time_limit=time_limit, watch=watch)


def decide(
    problem: Problem,
    *,
    ties: str = "positive",
    time_limit: float | None = None,
    watch: Watch | None = None,
    start: Floats | None = None,
) -> Verdict:
    """The verdict on a problem, whose weights do not matter; `start` is a u to try first.

    >>> problem = read_problem([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], [1, 1, -1], fit_intercept=False)
    >>> verdict = decide(problem)
    >>> verdict.verdict, verdict.alpha.tolist(), verdict.consistent
    ('inseparable', [0.5, 0.5, 0.0], True)
    """
    if ties not in ("positive", "mistake"):
        raise ValueError(f"ties={ties!r} is not possible: expected 'positive' or 'mistake'.")
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit={time_limit!r} is not possible: expected a positive number of seconds.")
    search = SeparabilitySearch(replace(problem, weights=None), ties, Clock(time_limit), watch)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # floats suggest, and do not decide
        return search.run(start)


def _under_kernel(problem: Problem, ties: str, kernel: str) -> Verdict:
    """In the space of a strictly positive-definite kernel different points are independent vectors.

    So any labels of different points can be had, and only equal points with different labels cannot: there
    the two z cancel out.
    """
    if kernel not in KERNELS:
        raise ValueError(
            f"kernel={kernel!r} is not possible: expected one of {', '.join(KERNELS)}, which are strictly "
            "positive definite. For a linear or polynomial kernel pass its features."
        )
    rows = opposite_rows(problem, lifted=True)
    if rows is None:
        empty = np.zeros(0)
        return Separable(
            empty, empty, empty, math.nan, math.inf, "different points, independent in the kernel"
        )
    pairs = opposite_pairs(problem, *rows)
    shape = (problem.n_rows, problem.n_classes) if problem.is_joint else (problem.n_rows,)
    return Inseparable(pairs, (1, 1), shape, False, "equal points with different labels")
