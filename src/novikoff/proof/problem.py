"""Labelled rows as one set of vectors z, which is all that the theory needs.

With two classes z_i = y_i·x̃_i, where x̃ = (x, c) includes the bias coordinate c, and y is ±1. With K ≥ 3
classes there is one z for every pair of a row i and a class c ≠ y_i (Kesler's construction): a matrix of K
blocks with x̃_i in block y_i and −x̃_i in block c, so that u·z = (u_y − u_c)·x̃. Weights multiply z.
A vector u separates the data if u·z > 0 for every z; γ_u is the smallest u·z/‖u‖.

Arrays over the z have one entry per row (two classes), or one line per row and one column per class (three
or more). There the entry of the row's own class is unused: ∞ among scores, 0 among weights α. `pair` is an
index into the flattened array: i, or i·K + c. A vector u has the shape `shape`: (width,), or (K, width).
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff import _core
from novikoff.data.arrays import (
    UnsortedIndices,
    in_order,
    is_sparse,
    raise_problem,
    read_matrix,
    rows_of,
    some_rows,
    with_values,
)
from novikoff.data.labels import Labels, number
from novikoff.data.mapped import multiplied, picked
from novikoff.data.targets import read_labels, read_weights
from novikoff.outward import UNIT, Enclosure, enclosed_square, margin_down, root_up
from novikoff.parameters.common import PARAMETERS
from novikoff.proof import folding
from novikoff.training.weights import Floats, Ints, Scorer, Settings, Weights

Pairs = npt.NDArray[np.int64]

MODERATE = 2.0**-200, 2.0**200  # sizes whose squares, and ratios of squares, are floats
SQUARES = 2.0**-500, 2.0**500  # sizes whose squares are floats
MEASURED = 100  # the most rows measured exactly to find the longest
CHUNK = 1 << 25  # bytes of float64 made at a time from rows of other types


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context in which NumPy's linear algebra uses one thread.

    For searches with many small steps of linear algebra between passes over the rows (with other threads): on
    a busy machine, BLAS threads that wait for one another can make such steps tens of times slower.
    """
    from threadpoolctl import threadpool_limits  # a dependency of scikit-learn, which it does not import

    limits: AbstractContextManager[Any] = threadpool_limits(1, user_api="blas")
    return limits


class Smallest(NamedTuple):
    """The smallest u·z, correctly rounded, decided exactly; and the pair's row."""

    value: float
    row: int
    wrong: bool  # whether some row is misclassified under the tie rule
    least: float  # the value rounded down


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with labels, checked; the module defines z, pairs and u."""

    X: Any  # in the core's form: dense, or CSR with sorted indices
    labels: Ints  # indices into `classes`
    classes: Labels
    bias: float  # c, the added coordinate; 0: none
    weights: Floats | None  # positive; None: all 1

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def is_joint(self) -> bool:
        """Whether there are three classes or more, with one vector per class."""
        return self.n_classes > 2

    @property
    def width(self) -> int:
        """Coordinates of x̃."""
        return self.n_features + (self.bias > 0)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of u."""
        return (self.n_classes, self.width) if self.is_joint else (self.width,)

    @property
    def dimension(self) -> int:
        """Coordinates of z."""
        return math.prod(self.shape)

    @property
    def n_pairs(self) -> int:
        """The number of z."""
        return self.n_rows * max(self.n_classes - 1, 1)

    @property
    def signs(self) -> Floats:
        """y = ±1 of two classes; the second class is +1."""
        return np.where(self.labels == 1, 1.0, -1.0)

    # -- sizes
    @cached_property
    def largest(self) -> float:
        """The largest |x|."""
        values = self.X.data if is_sparse(self.X) else self.X
        return max(float(values.max(initial=0)), -float(values.min(initial=0)))

    @cached_property
    def is_moderate(self) -> bool:
        """Whether the largest |x|, c and all weights have squares within the range of floats."""
        sizes = [self.largest, self.bias]
        sizes += [] if self.weights is None else [float(self.weights.min()), float(self.weights.max())]
        return all(not size or MODERATE[0] < size < MODERATE[1] for size in sizes)

    def scaled(self, factors: Floats) -> Problem:
        """The problem whose columns are multiplied by these powers of two."""
        return replace(self, X=multiplied(self.X, factors))

    def lifted(self) -> Problem:
        """The problem with c as one more column, if c² is out of range for a run; else itself."""
        if not self.bias or SQUARES[0] < self.bias < SQUARES[1]:
            return self
        return replace(self, X=folding.lifted(self.X, self.bias), bias=0.0)

    @cached_property
    def measurable(self) -> tuple[Problem, int]:
        """(rows, p) whose z are 2^p times these z, up to the rounding of `folding`, with the largest about 1.

        Dimensionless figures, such as a bound at v, are the same for both with v·2^−p in place of v. Weights
        and c are included in the rows. Returns the problem itself and 0 if that is sufficient.

        >>> rows, p = read_problem([[3e-320], [1e-320]], [1, 1], sample_weight=[1, 1e300]).measurable
        >>> rows.bias, rows.weights, rows.shape, math.ldexp(rows.X[1, 1], -p)  # 1e300·c
        (0.0, None, (2,), 1e+300)
        """
        if self.is_moderate:
            return self, 0
        X = folding.lifted(self.X, self.bias)
        power = -max(int(folding.exponents(X, self.weights).max()), -4000)
        return replace(self, X=folding.folded(X, self.weights, power), bias=0.0, weights=None), power

    def equilibrated(self) -> tuple[Problem, int]:
        """(problem, p) with x multiplied by 2^p, so that the largest is about 1, and c = 1.

        (coef, intercept) separates it if and only if (coef, intercept·2^−p) separates this one, except for
        numbers that underflow.
        """
        if self.is_moderate:
            return self, 0
        power = -math.frexp(self.largest)[1]
        return replace(self._times(power), bias=1.0 if self.bias else 0.0, weights=None), power

    def _times(self, power: int) -> Problem:
        """The rows multiplied by 2^power."""
        if not is_sparse(self.X):
            return replace(self, X=folding.times(self.X, power))
        return replace(self, X=with_values(self.X, folding.times(self.X.data, power)))

    @property
    def _bias_square(self) -> float:
        """c², or 1 if that is no float: it affects no sign, only which signs are decided exactly."""
        return self.bias**2 if not self.bias or MODERATE[0] < self.bias < MODERATE[1] else 1.0

    def lengths(self) -> Floats:
        """‖z‖ of every row: √2·‖x̃‖ with three classes or more."""
        norms = row_lengths(self.X, self.bias)
        with np.errstate(over="ignore", under="ignore"):
            norms = norms * math.sqrt(2) if self.is_joint else norms
            return norms if self.weights is None else norms * self.weights

    def radius(self) -> float:
        """R, the largest ‖z‖, rounded up."""
        return root_up(self.radius_square()[1])

    def radius_square(self) -> Enclosure:
        """R², enclosed; exact if few rows can be the longest."""
        (rows, power), copies = self.measurable, 2 if self.is_joint else 1
        lengths = rows.lengths()
        slack = (self.width + 8) * 4 * UNIT
        longest = float(lengths.max(initial=0.0))
        near = np.flatnonzero(lengths >= longest * (1 - 3 * float(slack)))
        bias = Fraction(self.bias) ** 2
        if len(near) > MEASURED:
            square = Fraction(longest) ** 2 / Fraction(4) ** power
            return square * (1 - slack), square * (1 + slack)
        part = some_rows(self.X, near)
        low, high = Fraction(0), Fraction(0)
        for k, row in enumerate(near.tolist()):
            x = part.data[part.indptr[k] : part.indptr[k + 1]] if is_sparse(part) else part[k]
            ends = enclosed_square(np.ascontiguousarray(x, dtype=np.float64))
            weight = copies * (1 if self.weights is None else Fraction(float(self.weights[row])) ** 2)
            low, high = max(low, weight * (ends[0] + bias)), max(high, weight * (ends[1] + bias))
        return low, high

    # -- products
    def scores(self, u: Floats, n_jobs: int | None = -1) -> Floats:
        """u·z of every pair; the sign is exact for u's `coefficients`."""
        scores = Scorer.from_weights(*self.coefficients(u)).scores(self.X, n_jobs)
        if self.is_joint:
            own = np.arange(self.n_rows), self.labels
            scores = scores[own][:, None] - scores
            scores[own] = math.inf
        else:
            scores *= self.signs
        if self.weights is not None:
            scores *= self.weights[:, None] if self.is_joint else self.weights
        return scores

    def combine(self, alpha: Floats) -> Floats:
        """Σ α·z, in the shape of u."""
        factors = self._factors(alpha)
        used = np.flatnonzero(factors.any(axis=1))
        if len(used) > self.n_rows // 4:
            total = self._sum(self.X, factors)
        else:
            factors = factors[used]
            total = self._sum(self.X[used], factors)
        if self.bias:
            total = np.concatenate([total, self.bias * factors.sum(axis=0)[:, None]], axis=1)
        return total.reshape(self.shape)

    def _factors(self, alpha: Floats) -> Floats:
        """The factor of each row in each block of u."""
        if not self.is_joint:
            factors = (alpha * self.signs)[:, None]
        else:
            factors = -alpha
            own = np.arange(self.n_rows), self.labels
            factors[own] = 0.0
            factors[own] = -factors.sum(axis=1)
        return factors if self.weights is None else factors * self.weights[:, None]

    @staticmethod
    def _sum(X: Any, factors: Floats) -> Floats:
        if is_sparse(X):
            return np.asarray((X.T @ factors).T)
        total = np.zeros((factors.shape[1], X.shape[1]))
        step = max(CHUNK // (8 * max(X.shape[1], 1)), 1)
        for begin in range(0, X.shape[0], step):
            part = slice(begin, begin + step)
            total += factors[part].T @ X[part].astype(np.float64, copy=False)
        return total

    def signed_rows(self, pairs: Pairs) -> Any:
        """The z of these pairs, as rows: a dense array, or CSR if X is sparse."""
        if is_sparse(self.X):
            import scipy.sparse as sp  # here: questions of training do without it

            line, column, value = self._terms(pairs)
            return sp.csr_array((value, (line, column)), shape=(len(pairs), self.dimension))
        rows, rivals = np.divmod(pairs, self.n_classes) if self.is_joint else (pairs, None)
        X = self.X[rows].astype(np.float64)
        if self.bias:
            X = np.hstack([X, np.full((len(rows), 1), self.bias)])
        factors = np.ones(len(rows)) if self.weights is None else self.weights[rows]
        if rivals is None:
            return X * (factors * self.signs[rows])[:, None]
        X = X * factors[:, None]
        z = np.zeros((len(rows), self.n_classes, self.width))
        z[np.arange(len(rows)), self.labels[rows]] = X
        z[np.arange(len(rows)), rivals] = -X
        return z.reshape(len(rows), -1)

    def dense_rows(self, pairs: Pairs) -> Floats:
        """The same as a dense array."""
        if not is_sparse(self.X):
            dense: Floats = self.signed_rows(pairs)
            return dense
        line, column, value = self._terms(pairs)
        z = np.zeros((len(pairs), self.dimension))
        z[line, column] = value
        return z

    def compact_rows(self, pairs: Pairs) -> Floats:
        """The same without columns of zeros."""
        if is_sparse(self.X):
            line, column, value = self._terms(pairs)
            used, where = np.unique(column, return_inverse=True)
            z = np.zeros((len(pairs), len(used)))
            z[line, where] = value
        else:
            z = self.signed_rows(pairs)
        return z[:, z.any(axis=0)]

    def _terms(self, pairs: Pairs) -> tuple[Pairs, Pairs, Floats]:
        """The stored numbers of these z, if X is sparse, with the line and the column of each."""
        rows, rivals = np.divmod(pairs, self.n_classes) if self.is_joint else (pairs, None)
        X, m = some_rows(self.X, rows), len(rows)
        line = np.repeat(np.arange(m), np.diff(X.indptr))
        column, value = X.indices.astype(np.int64), X.data.astype(np.float64)
        if self.bias:
            line = np.concatenate([line, np.arange(m)])
            column = np.concatenate([column, np.full(m, self.n_features)])
            value = np.concatenate([value, np.full(m, self.bias)])
        factors = np.ones(m) if self.weights is None else self.weights[rows]
        if rivals is None:
            return line, column, value * (factors * self.signs[rows])[line]
        value = value * factors[line]
        own, other = (column + self.width * classes[line] for classes in (self.labels[rows], rivals))
        return np.tile(line, 2), np.concatenate([own, other]), np.concatenate([value, -value])

    # -- witnesses
    def coefficients(self, u: Floats) -> tuple[Floats, Floats]:
        """u as (coef, intercept), as in estimators: the intercept is c times the last coordinate."""
        u = np.atleast_2d(np.asarray(u, dtype=np.float64))
        if not self.bias:
            return u, np.zeros(len(u))
        return u[:, :-1], self.bias * u[:, -1]

    def vector(self, coef: Floats, intercept: Floats) -> Floats:
        """The inverse of `coefficients`; an intercept needs a bias coordinate."""
        coef = np.atleast_2d(np.asarray(coef, dtype=np.float64))
        intercept = np.broadcast_to(np.asarray(intercept, dtype=np.float64), len(coef))
        if not self.bias:
            if intercept.any():
                raise ValueError("a model with an intercept needs the lifted space: pass fit_intercept=True.")
            return coef.reshape(self.shape)
        return np.concatenate([coef, intercept[:, None] / self.bias], axis=1).reshape(self.shape)

    def smallest(self, u: Floats, *, ties: str = "positive", stop: bool = False) -> Smallest:
        """The smallest u·z of all pairs for u's `coefficients`, decided exactly.

        `stop` ends at the first row that is wrong under the tie rule.
        """
        return self.smallest_of(*self.coefficients(u), ties=ties, stop=stop)

    def smallest_of(
        self, coef: Floats, intercept: Floats, *, ties: str = "positive", stop: bool = False
    ) -> Smallest:
        """The same for weights as in estimators."""
        settings = Settings(ties=ties, bias_square=self._bias_square)
        learner = Weights(self.n_classes, self.n_features, settings)
        learner.set_weights(coef, intercept)
        examples = _core.Examples(rows_of(self.X), self.labels, self.weights)
        problem, at, value, row, _, wrong, least = _core.smallest(
            learner.native, examples, 0, self.n_rows, False, stop
        )
        raise_problem(problem, at, self.X)
        return Smallest(value, row, wrong, least)

    def margin(self, u: Floats) -> float:
        """The smallest u·z/‖u‖, rounded down, for u's `coefficients`."""
        coef, intercept = self.coefficients(u)
        low, high = enclosed_square(np.ravel(coef))
        if self.bias:
            more = sum((Fraction(b) ** 2 for b in intercept.tolist()), Fraction(0)) / Fraction(self.bias) ** 2
            low, high = low + more, high + more
        return margin_down(self.smallest(u).least, low, high)[0]

    def some(self, rows: Pairs) -> Problem:
        """The same problem for these rows only."""
        weights = None if self.weights is None else self.weights[rows]
        return Problem(picked(self.X, rows), self.labels[rows], self.classes, self.bias, weights)


def row_lengths(X: Any, bias: float) -> Floats:
    """‖x̃‖ of every row, even if the square of the bias coordinate is beyond the range of floats."""
    if not bias or MODERATE[0] < bias < MODERATE[1]:
        return _core.row_norms(rows_of(X), bias * bias)
    with np.errstate(over="ignore", under="ignore"):
        return np.hypot(_core.row_norms(rows_of(X), 0.0), bias)


def read_problem(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    intercept_scaling: float = 1.0,
    sample_weight: Any = None,
    rounding: str = "never",
) -> Problem:
    """Check rows and labels, and convert them to the form that the core reads.

    Rows of weight 0 are removed. A single class is accepted if its label is −1 or +1, whose meaning is clear.
    `rounding` determines whether numbers that no double holds are refused ("never") or rounded ("nearest").

    >>> problem = read_problem([[2.0, 0.0], [0.0, 1.0]], [1, -1], fit_intercept=False)
    >>> problem.scores(np.array([1.0, -1.0])).tolist(), problem.radius()
    ([2.0, 1.0], 2.0)
    """
    if not (math.isfinite(intercept_scaling) and intercept_scaling > 0):
        raise ValueError(
            f"intercept_scaling={intercept_scaling!r} is not possible: expected a positive number."
        )
    PARAMETERS["rounding"].check(rounding)
    X = read_matrix(X, rounding)
    y = read_labels(y, X.shape[0])
    weights = None
    if sample_weight is not None:
        weights = read_weights(sample_weight, X.shape[0])
        if not weights.all():
            kept = np.flatnonzero(weights)
            X, y, weights = X[kept], y[kept], weights[kept]
    if not len(y):
        raise ValueError("there are no rows.")
    classes, labels = number(y)
    if len(classes) == 1:
        if y.dtype.kind not in "if" or abs(int(classes[0])) != 1:
            raise ValueError(
                f"there must be two classes, but every row has the label {classes.tolist()[0]!r}."
            )
        labels = np.full(len(y), int(classes[0] == 1), dtype=np.int32)
        classes = np.array([-1, 1], dtype=y.dtype)
    bias = float(intercept_scaling) if fit_intercept else 0.0
    try:
        _check_values(X)
    except UnsortedIndices:
        X = in_order(X)
        _check_values(X)
    return Problem(X, labels, classes, bias, weights)


def _check_values(X: Any) -> None:
    learner = Weights(2, X.shape[1], Settings())
    problem, row, _ = _core.scan(learner.native, _core.Examples(rows_of(X)), 0, X.shape[0])
    raise_problem(problem, row, X)
