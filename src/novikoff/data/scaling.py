"""Scaling of columns or rows: measured on the training data, kept with the model.

- ``auto``: where the largest absolute values of columns differ by more than `ALIKE` powers of two, every
  column is multiplied by the smallest power of two that brings its own into the range from 1/16 to 2. This
  changes no digit of a value, no zero and no sign of any w·x, so a model still has weights for the rows as
  they are: see `power_factors`.
- ``standard``: number columns of a table are centred and divided by their standard deviation; every other
  column (categories, words, LIBSVM text and the like) is divided by it and not centred, because centring
  would turn every absent feature into a stored one.
- ``maxabs``: every column is divided by its largest absolute value.
- ``unit``: every row is divided by its norm. Nothing is measured.

Columns that are constant or never used are unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff import _core
from novikoff.data.arrays import in_order, is_sparse, rows_of
from novikoff.data.sources.block import Block, Csr, Floats, Matrix
from novikoff.data.sources.features import Features, NumberedFeatures, State
from novikoff.parameters.common import AUTO
from novikoff.parameters.files import SCALES

ALIKE = 4  # columns whose exponents differ by no more are left as they are
LEAST = -4  # the exponent of small columns: a full 0 would give rare words of tf-idf too much weight
FARTHEST = 300  # the largest exponent of a factor


def power_factors(sizes: Floats) -> Floats | None:
    """The factors of ``scale="auto"`` for columns with these largest |x|; None: all are 1.

    Columns of equal size have equal factors, whatever the others are. Columns without a value are left as
    they are, and so are those with an infinite one, which a fit refuses.

    >>> power_factors(np.array([0.001, 1000.0, 0.0, 0.5])).tolist()
    [64.0, 0.001953125, 1.0, 1.0]
    >>> power_factors(np.array([0.25, 3.0, 0.0])) is None
    True
    """
    found = np.flatnonzero((sizes > 0) & (sizes < np.inf))
    exponents = np.frexp(sizes[found])[1] - 1
    if not len(found) or exponents.max() - exponents.min() <= ALIKE:
        return None
    factors = np.ones(len(sizes))
    wanted = np.clip(exponents, LEAST, 0) - exponents
    factors[found] = np.ldexp(1.0, np.clip(wanted, -FARTHEST, FARTHEST))
    return factors


def _spread(figures: Floats, n: int) -> float:
    """Σx² − (Σx)²/n of a column; a remainder of rounding counts as 0."""
    high, low, square, square_low = map(Fraction, figures[:4].tolist())
    squares = square + square_low
    spread = squares - (high + low) ** 2 / n
    return float(spread) if spread > squares * Fraction(1, 10**24) else 0.0


def as_csr(X: Any) -> Any:
    """SciPy's CSR rows, sorted, as the CSR rows of a block; arrays unchanged."""
    if not is_sparse(X) or isinstance(X, Csr):
        return X
    if not getattr(X, "has_canonical_format", True):
        X = in_order(X)
    return Csr(X.data, X.indices, X.indptr, X.shape)


def scaled(X: Any, scaling: Any) -> Any:
    """Rows in the form that X has, by the `transform` of a scaling; without one, X itself."""
    if scaling is None:
        return X
    if not is_sparse(X) or isinstance(X, Csr):
        return scaling.transform(X)
    import scipy.sparse as sp  # here: reading files does not need SciPy

    made = scaling.transform(as_csr(X))
    return sp.csr_array((made.data, made.indices, made.indptr), shape=made.shape)


def _row(row: int) -> str:
    return f"row {row}"


class Scaling:
    """x ← (x − centre)/scale by column, or x ← x/‖x‖ by row."""

    def __init__(self, kind: str, centre: Floats | None = None, scale: Floats | None = None) -> None:
        if kind not in SCALES:
            raise ValueError(f"scale={kind!r} is not possible: expected one of {', '.join(SCALES)}.")
        self.kind = kind
        self.centre = np.zeros(0) if centre is None else centre  # of the leading columns
        self.scale = np.zeros(0) if scale is None else scale  # of all columns

    @classmethod
    def measure(cls, kind: str, blocks: Iterable[Block], features: Features) -> Scaling:
        """Measure all rows of `blocks`, whose columns are these features.

        >>> import numpy as np
        >>> from novikoff.data.sources.block import Block
        >>> from novikoff.data.sources.features import NumberedFeatures
        >>> rows = np.array([[1.0, 0.0], [3.0, 4.0]])
        >>> scaling = Scaling.measure("maxabs", [Block(rows, None, None, 0, str)], NumberedFeatures(2))
        >>> scaling.transform(rows)
        array([[0.33333333, 0.        ],
               [1.        , 1.        ]])
        """
        if kind == "unit":
            return cls(kind)
        sums = ColumnSums()
        for block in blocks:
            sums.add(block.X, block.where)
        return sums.scaling(kind, features)

    @classmethod
    def of_rows(cls, kind: str, X: Any, features: Features | None = None) -> Scaling:
        """Measure an array, or CSR rows, in memory; all columns of an array are columns of numbers.

        >>> Scaling.of_rows("standard", np.array([[1.0], [3.0]])).of(np.array([[5.0]]))
        array([[3.]])
        """
        if features is None:
            features = NumberedFeatures(X.shape[1], fixed=True)
            features.n_numbers = 0 if is_sparse(X) else X.shape[1]
        return cls.measure(kind, [Block(as_csr(X), None, None, 0, _row)], features)

    def of(self, X: Any) -> Any:
        """Scaled rows of an array or of SciPy's CSR, in the same form."""
        return scaled(X, self)

    def transform(self, X: Matrix) -> Matrix:
        """The scaled rows, as float64."""
        if self.kind != "unit" and X.shape[1] > len(self.scale):
            raise ValueError(
                f"the rows have {X.shape[1]} columns, but the scaling was measured for {len(self.scale)}."
            )
        if self.kind == "unit":
            norms = _core.row_norms(rows_of(X), 0.0)
            norms[norms == 0] = 1.0
            if isinstance(X, Csr):
                return X._replace(data=X.data / np.repeat(norms, np.diff(X.indptr)))
            return X / norms[:, None]
        if isinstance(X, Csr):
            return self._transform_sparse(X)
        out = X.astype(np.float64)
        out[:, : len(self.centre)] -= self.centre[: X.shape[1]]
        out /= self.scale[: X.shape[1]]
        return out

    def _transform_sparse(self, X: Csr) -> Csr:
        m = len(self.centre)
        if not m:
            return X._replace(data=X.data / self.scale[X.indices])
        # the centred columns are stored for every row, before the others
        n = X.shape[0]
        row = np.repeat(np.arange(n), np.diff(X.indptr))
        leads = X.indices < m
        numbers = np.zeros((n, m))
        numbers[row[leads], X.indices[leads]] = X.data[leads]
        numbers -= self.centre
        numbers /= self.scale[:m]
        others, row = ~leads, row[~leads]
        ends = np.concatenate([[0], np.cumsum(m + np.bincount(row, minlength=n))])
        data, indices = np.empty(ends[-1]), np.empty(ends[-1], dtype=X.indices.dtype)
        at = ends[:-1, None] + np.arange(m)
        data[at], indices[at] = numbers, np.arange(m)
        before = ends[:-1] - m * np.arange(n)  # values of other columns in the rows before
        at = ends[row] + m + np.arange(len(row)) - before[row]
        data[at], indices[at] = X.data[others] / self.scale[X.indices[others]], X.indices[others]
        return Csr(data, indices, ends.astype(X.indptr.dtype), X.shape, X.is_sorted)

    def state(self) -> State:
        """The content of a model file."""
        return {"kind": self.kind}, {"centre": self.centre, "scale": self.scale}

    @classmethod
    def from_state(cls, facts: dict[str, Any], arrays: dict[str, Any]) -> Scaling:
        """The scaling with this `state`."""
        return cls(facts["kind"], arrays["centre"], arrays["scale"])


class ColumnSums:
    """Σx, Σx² and max|x| of every column, over the rows so far."""

    def __init__(self) -> None:
        self._n, self._sums = 0, np.zeros((0, 5))  # sums and their rounding errors

    def add(self, X: Matrix, where: Callable[[int], str]) -> None:
        """Add rows."""
        columns = X.shape[1]
        if columns > len(self._sums):
            grown = np.zeros((max(columns, 2 * len(self._sums)), 5))
            grown[: len(self._sums)] = self._sums
            self._sums = grown
        bad = _core.add_columns(rows_of(X), self._sums)
        if bad >= 0:
            raise ValueError(f"{where(bad)}: indices out of range or not in order.")
        self._n += X.shape[0]

    def join(self, other: ColumnSums) -> None:
        """Add the rows of `other`, which come after these."""
        n = max(len(self._sums), len(other._sums))
        one, two = (np.concatenate([s, np.zeros((n - len(s), 5))]) for s in (self._sums, other._sums))
        total = one + two
        back = total - one
        lost = (one - (total - back)) + (two - back)  # what rounding took from each sum, exactly
        total[:, 1] += lost[:, 0]
        total[:, 3] += lost[:, 2]
        total[:, 4] = np.maximum(one[:, 4], two[:, 4])
        self._n, self._sums = self._n + other._n, total

    def scaling(self, kind: str, features: Features) -> Scaling:
        """The scaling of this kind for these rows."""
        short = max(features.n_columns - len(self._sums), 0)
        sums, n = np.concatenate([self._sums[: features.n_columns], np.zeros((short, 5))]), max(self._n, 1)
        largest = sums[:, 4]
        if kind == AUTO:
            factors = power_factors(largest)
            return Scaling(kind, None, np.ones(len(largest)) if factors is None else 1 / factors)
        if not np.isfinite(sums).all():
            (name,) = features.names(np.flatnonzero(~np.isfinite(sums).all(axis=1))[:1].tolist())
            raise ValueError(f"feature {name}: its values are too large: their squares overflow.")
        if kind == "maxabs":
            return Scaling(kind, None, np.where(largest > 0, largest, 1.0))
        total, squares = sums[:, 0] + sums[:, 1], sums[:, 2] + sums[:, 3]
        mean = total / n
        spread = squares - total * mean  # n times the variance
        for j in np.flatnonzero(spread < 1e-6 * squares):  # too much cancels: use all digits of the sums
            spread[j] = _spread(sums[j], n)
        scale = np.sqrt(np.maximum(spread, 0.0) / n)
        return Scaling(kind, mean[: features.n_numbers].copy(), np.where(scale > 0, scale, 1.0))
