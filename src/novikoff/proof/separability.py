"""Whether some u separates the data, decided exactly: the witness is u, or weights that prove it impossible.

By Gordan's theorem exactly one of two things exists: u with u·z > 0 for every z, or α ≥ 0, α ≠ 0, with
Σ α·z = 0. Floats only suggest either; u is then checked exactly against every z, and α is computed in
integers. The cheapest proofs are tried first:

1. a row of zeros, or two rows that cancel out (`opposites`);
2. the nearest point of the hull of the z, by a search with counted effort (`quick`): a vector that separates,
   or the support of an α that cancels out;
3. the perceptron: it converges, or it repeats an earlier w, and then the updates in between sum to zero
   (Block and Levin's cycling);
4. small problems, which skip step 2: the simplex method in integers (`rational.alternative`), which always
   decides; its witness is a vector of integers, and remains so if floats are too coarse for it;
5. three classes or more: if one pair of classes is inseparable, so is the whole problem;
6. linear programs over a few of the z; those that u gets wrong are added until there are none (separable) or
   the few cancel out (inseparable), so HiGHS never sees irrelevant rows;
7. with too many coordinates for that, the search for the largest margin (`maxmargin`);
8. problems of medium size that floats could not decide: again the simplex method in integers.

Steps in floats use rows of size about 1: rows of extreme sizes are multiplied by a power of two, which
changes no verdict. The results are checked on the given rows.

Zero errors under the tie rule are the same question with u·z ≥ 0 for the z whose ties are no mistakes; by
Motzkin's theorem the alternative is then an α with weight on some z whose tie is a mistake.
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
    """Whether a linear threshold can separate the classes, with a proof either way.

    The verdict is about the doubles that the rows hold: an integer, timestamp or long double that no double
    holds is refused, and a decimal (`decimal.Decimal`, or text) means the double nearest to it.

    Parameters
    ----------
    X, y : rows and their labels; dense or sparse, two classes or more
    fit_intercept, intercept_scaling : the bias coordinate, as in the estimators
    ties : ``"positive"`` or ``"mistake"``; which errors `consistent` counts
    kernel : ``"rbf"`` or ``"laplacian"``: separability in that kernel's space, where only equal points with
        different labels prevent it
    time_limit : seconds after which the answer may be `Undecided`; None: no limit
    watch : called as ``watch(text, fraction)`` to report progress
    rounding : ``"nearest"`` rounds numbers that no double holds, with a warning, and the verdict is about the
        rounded rows; ``"never"`` refuses them

    Returns
    -------
    Separable, Inseparable or Undecided. With three classes or more the verdict is about all classes
    jointly, and `by_pair` has the verdict for each pair of classes.

    Examples
    --------
    >>> separability([[0.0], [1.0], [2.0]], [0, 0, 1]).verdict
    'separable'
    >>> xor = separability([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    >>> xor.verdict, xor.rows.tolist(), xor.weights
    ('inseparable', [0, 1, 2, 3], (1, 1, 1, 1))

    Data can be inseparable although each pair of classes is separable:

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
    """The verdict on a problem, which does not depend on its weights; `start` is a u to try first.

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
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # floats only suggest
        return search.run(start)


def _under_kernel(problem: Problem, ties: str, kernel: str) -> Verdict:
    """In the space of a strictly positive-definite kernel, different points are independent vectors.

    So different points are separable under any labels. Only equal points with different labels are not: their
    two z cancel out.
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
