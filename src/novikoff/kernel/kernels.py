"""Kernels: K(x, z) for rows of matrices, by name or by a function.

A kernel provides `rows` (a matrix in the form that its panels read) and `panels` (a function that makes
panels of some rows); a panel gives kernel values of its rows, the supports, with ranges of other rows. Values
depend only on the two rows, not on how the work is divided (for a user's function, as far as this holds for
the function).

`measure` checks rows before they are used: values of accepted rows cannot overflow.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from novikoff import _core
from novikoff.data.arrays import is_sparse, rows_of
from novikoff.data.sources.block import BadValue
from novikoff.data.threads import results
from novikoff.outward import UNIT as EPSILON
from novikoff.outward import root_up
from novikoff.training.weights import Floats

Indices = npt.NDArray[np.int64]

UNIT = 2.0**-53
ROOM = 1.001  # factor on bounds of kernel values: more than their rounding
LARGEST = 480  # log₂ of √K(x, x): sums of 2⁶⁰ values of twice that are finite
LENGTHS = 2.0**-480, 2.0**480  # of rows whose squared lengths are needed
SUMMED = 256  # rows whose values are summed exactly, together
PART = 2048  # rows per call of a thread, or per block for a function of two blocks
TILE = 512  # rows and columns of a given matrix that are looked at together
DIAGONAL = 32  # rows per block when a function computes K(x, x)
ASYMMETRY = 1e-5  # relative to the largest value: float32 sums can differ so much

BY_NAME = ("linear", "poly", "rbf", "laplacian", "chi2", "cosine")
WITH_GAMMA = ("poly", "rbf", "laplacian", "chi2")


class Panel(Protocol):
    """Some rows, prepared for kernel values with many others."""

    @property
    def size(self) -> int:
        """The number of supports."""

    def values(
        self, rows: Any, begin: int, end: int, out: Floats, order: Indices | None = None, jobs: int = 1
    ) -> None:
        """Write the values of rows order[begin:end] (lines) with the supports (columns) into `out`."""

    def add_scores(self, rows: Any, begin: int, end: int, coef: Floats, scores: Floats) -> None:
        """scores[t] += Σ coef[support]·K(row t, support) for t from `begin` to `end`, support by support."""


class Measured(NamedTuple):
    """What is known about the kernel values among some rows."""

    sizes: Floats | None  # √K(x, x) or more, so that |K(x, z)| ≤ size·size; None: not known
    whole: bool  # every value is known to be an integer that float64 holds
    radius: float  # the largest √K(x, x), rounded up; infinite where it overflows

    @property
    def log2_radius(self) -> float:
        return math.log2(self.radius) if self.radius > 0 else -math.inf


class OwnWay(NamedTuple):
    """A kernel's own way to scores or votes, without panels: each call writes some lines of `out`."""

    out: Floats
    calls: Iterable[Callable[[], None]]


class Kernel(ABC):
    """A kernel with its parameters; `offset` is added to every value (the square of a bias coordinate)."""

    offset: float

    @property
    @abstractmethod
    def title(self) -> str:
        """The name of the kernel."""

    def __str__(self) -> str:
        return self.title

    @property
    def is_known(self) -> bool:
        """Whether values can be bounded before they are computed."""
        return True

    @abstractmethod
    def rows(self, X: Any) -> Any:
        """A matrix in the form that panels read."""

    @abstractmethod
    def panels(self, X: Any) -> Callable[[Indices], Panel]:
        """A function that makes a panel of some rows, by number, of a matrix or of the result of `take`."""

    @abstractmethod
    def diagonal(self, X: Any) -> Floats | None:
        """K(x, x), up to rounding; None if |K(x, z)|² ≤ K(x, x)·K(z, z) is not known to hold."""

    def is_exact(self, X: Any) -> bool:
        """Whether every value is known to be an integer that float64 holds."""
        return False

    def take(self, X: Any, which: Indices) -> Any:
        """What to keep of some rows, to make panels from later."""
        return X[which]

    def measure(self, X: Any) -> Measured:
        """Check rows, and bound their values."""
        diagonal = self.diagonal(X)
        assert diagonal is not None
        sizes = np.sqrt(diagonal)
        return Measured(sizes * ROOM, self.is_exact(X), float(sizes.max(initial=0.0)))

    def own_scores(self, X: Any, supports: Any, alpha: Floats, divisor: float) -> OwnWay | None:
        """Σ α·K/divisor by the kernel's own way, with exact signs and winners; None: by panels."""
        return None

    def own_votes(
        self, X: Any, supports: Any, used: Indices, moves: Floats, survived: Floats, joint: bool
    ) -> OwnWay | None:
        """The votes by the kernel's own way; None: by panels."""
        return None

    def value_slack(self, X: Any) -> Fraction:
        """How far a value as computed may be from K's formula; 0 if the values are K by definition."""
        return Fraction(0)


@dataclass(frozen=True)
class NamedKernel(Kernel):
    """linear, poly, rbf, laplacian, chi2 or cosine: native/kernel/gram.h has their formulas."""

    name: str
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 1
    offset: float = 0.0

    @property
    def title(self) -> str:
        return self.name

    def __str__(self) -> str:
        """The name with its parameters."""
        parts = [self.name]
        if self.name in WITH_GAMMA:
            parts.append(f"gamma={self.gamma:.6g}")
        if self.name == "poly":
            parts += [f"degree={self.degree}", f"coef0={self.coef0:.6g}"]
        return ", ".join(parts)

    def rows(self, X: Any) -> _core.Rows:
        return rows_of(X)

    def panels(self, X: Any) -> Callable[[Indices], Panel]:
        rows, kernel = rows_of(X), self.native()
        return lambda which: _core.Panel(kernel, rows, which)

    def native(self) -> _core.Kernel:
        return _core.Kernel(self.name, self.gamma, self.coef0, self.degree, self.offset)

    def diagonal(self, X: Any) -> Floats:
        with np.errstate(over="ignore"):
            squares = self._sizes(_core.row_norms(rows_of(X), 0.0)) ** 2
            return np.asarray(squares + self.offset)

    def _sizes(self, norm: Floats) -> Floats:
        """√K(x, x) without the offset, from the lengths of the rows."""
        with np.errstate(over="ignore"):
            match self.name:
                case "linear":
                    return norm
                case "poly":
                    base = np.hypot(math.sqrt(self.gamma) * norm, math.sqrt(self.coef0))
                    return np.asarray(base**self.degree)
                case "cosine":
                    return np.where(norm > 0, 1.0, 0.0)
                case _:
                    return np.ones(len(norm))

    def measure(self, X: Any) -> Measured:
        norm = _core.row_norms(rows_of(X), 0.0)
        sizes = self._sizes(norm)
        self._check(X, norm, sizes)
        whole = self._is_exact(X, norm)
        # a size may underflow although its products with others do not
        bounds = np.hypot(np.where(norm > 0, np.maximum(sizes, 2.0**-960), sizes), math.sqrt(self.offset))
        return Measured(bounds * ROOM, whole, self._radius(float(sizes.max(initial=0.0)), X, whole))

    def _radius(self, size: float, X: Any, whole: bool) -> float:
        """√K(x, x), rounded up, from the largest float √K(x, x) without the offset."""
        if not math.isfinite(size):
            return size
        square = Fraction(size) ** 2
        if self.name in ("linear", "poly"):
            square = Fraction(round(square)) if whole else square * (1 + 2 * self.value_slack(X))
        return root_up(square + Fraction(self.offset))

    def value_slack(self, X: Any) -> Fraction:
        """How far a value may be from K(x, z) = (γ·x·z + c₀)^degree, relative to √(K(x, x)·K(z, z))."""
        return (
            (X.shape[1] + 8) * 2 * self.degree * EPSILON if self.name in ("linear", "poly") else Fraction(0)
        )

    def _check(self, X: Any, norm: Floats, sizes: Floats) -> None:
        if self.name in ("linear", "poly"):
            too_large = sizes > 2.0**LARGEST
        else:
            too_large = norm > LENGTHS[1]
            if self.name == "cosine":
                too_large |= (norm > 0) & (norm < LENGTHS[0])
        if too_large.any():
            row = int(np.flatnonzero(too_large)[0])
            exponent = -int(np.frexp(norm[row])[1]) if math.isfinite(norm[row]) else -1024
            remedy = f"scale X by 2**{exponent} (row {row} then has a length near 1)"
            if self.name == "poly":
                remedy += ", or use a smaller gamma or degree"
            raise OverflowError(
                f"Kernel values of row {row}, whose length is {norm[row]:.3g}, are beyond what float64 holds "
                f"with room for sums: {remedy}."
            )
        if self.name == "chi2":
            _check_not_negative(X)

    def is_exact(self, X: Any) -> bool:
        return self._is_exact(X, _core.row_norms(rows_of(X), 0.0))

    def _is_exact(self, X: Any, norm: Floats) -> bool:
        gamma, coef0 = (self.gamma, self.coef0) if self.name == "poly" else (1.0, 0.0)
        whole = all(float(p).is_integer() for p in (gamma, coef0, self.offset))
        if self.name not in ("linear", "poly") or not whole:
            return False
        # |γ·x·z + c₀| ≤ γ·‖x‖·‖z‖ + c₀, and no power of it may be rounded either
        base = gamma * (float(norm.max(initial=0.0)) * ROOM) ** 2 + coef0 + 1
        if self.degree * math.log2(base) > 53 or base**self.degree + self.offset >= 2.0**53:
            return False
        values = X.data if is_sparse(X) else X
        return values.dtype == np.uint8 or all(
            bool(np.all(part == np.trunc(part))) for part in np.array_split(values, len(values) // 4096 + 1)
        )


def _check_not_negative(X: Any) -> None:
    values = X.data if is_sparse(X) else X
    if values.size and values.min() < 0:
        why = "the kernel 'chi2' is for numbers ≥ 0 (Negative values in data): scale X, or change the kernel."
        raise BadValue(X, values < 0, why)


def kernel_by_name(
    name: str, X: Any, *, gamma: float | str, degree: int, coef0: float, offset: float
) -> NamedKernel:
    """A kernel with its parameters; the training rows determine gamma if it is 'scale' or 'auto'."""
    if isinstance(gamma, str):
        if name not in WITH_GAMMA:
            gamma = 1.0
        else:
            spread = Spread()
            if gamma == "scale":
                spread.add(X)
            gamma = spread.gamma(gamma, X.shape[1])
    return NamedKernel(name, float(gamma), float(coef0), int(degree) if name == "poly" else 1, offset)


class Spread:
    """The variance of all values of rows, including zeros; independent of storage and of blocks.

    >>> spread = Spread()
    >>> spread.add(np.array([[1.0, 3.0]]))
    >>> spread.add(np.array([[5.0, 7.0]]))
    >>> spread.gamma("scale", 2), spread.gamma("auto", 2)
    (0.1, 0.5)
    """

    def __init__(self) -> None:
        self._rows = 0
        self._part: list[Floats] = []  # values of the rows since the last multiple of SUMMED
        self._sums: list[float] = []
        self._squares: list[float] = []

    def add(self, X: Any) -> None:
        """Add rows."""
        begin = 0
        while begin < X.shape[0]:
            end = min(begin + SUMMED - self._rows % SUMMED, X.shape[0])
            values = X.data[X.indptr[begin] : X.indptr[end]] if is_sparse(X) else X[begin:end].ravel()
            self._part.append(np.array(values, dtype=np.float64))  # a copy: blocks may be overwritten
            self._rows += end - begin
            if self._rows % SUMMED == 0:
                self._sum_up()
            begin = end

    def _sum_up(self) -> None:
        values = np.concatenate(self._part) if self._part else np.zeros(0)
        self._sums.append(_core.exact_dot(values, np.ones(len(values)))[1])
        self._squares.append(_core.exact_dot(values, values)[1])
        self._part = []

    def variance(self, n_features: int) -> float:
        """The variance of all values; 0 if it overflows: the kernel will refuse such rows."""
        if self._part:
            self._sum_up()
        count = self._rows * n_features
        if not count or not np.isfinite(self._squares).all():
            return 0.0
        mean = Fraction(math.fsum(self._sums)) / count
        return max(float(Fraction(math.fsum(self._squares)) / count - mean * mean), 0.0)

    def gamma(self, rule: str, n_features: int) -> float:
        """gamma as scikit-learn defines 'scale' and 'auto'."""
        variance = self.variance(n_features) if rule == "scale" else 1.0
        return 1 / (n_features * variance) if n_features and variance > 0 else 1.0


# ---- values from Python ------------------------------------------------------------------------------
class _PythonPanel:
    """A panel whose values come from Python."""

    def __init__(self, values: Callable[[Any], Floats], n_supports: int) -> None:
        self._values, self.size = values, n_supports

    def _block(self, rows: Any, order: Indices | None, begin: int, end: int) -> Floats:
        part = rows[begin:end] if order is None else rows[order[begin:end]]
        return self._values(part)

    def values(
        self, rows: Any, begin: int, end: int, out: Floats, order: Indices | None = None, jobs: int = 1
    ) -> None:
        def fill(first: int) -> None:
            last = min(first + PART, end)
            out[first - begin : last - begin] = self._block(rows, order, first, last)

        for _ in results((partial(fill, first) for first in range(begin, end, PART)), jobs):
            pass

    def add_scores(self, rows: Any, begin: int, end: int, coef: Floats, scores: Floats) -> None:
        block = np.ascontiguousarray(self._block(rows, None, begin, end))
        _core.add_products(block, coef, scores[begin:end])


def _checked(values: Floats, what: str, place: Callable[[int, int], str]) -> Floats:
    """The values, checked to be numbers, and small enough for finite sums."""
    if not (np.abs(values) <= 2.0 ** (2 * LARGEST)).all():
        i, j = (int(k) for k in np.argwhere(~(np.abs(values) <= 2.0 ** (2 * LARGEST)))[0])
        value = float(values[i, j])
        if math.isnan(value):
            raise ValueError(
                f"{what} NaN for {place(i, j)}: a kernel must return a number for every pair of rows."
            )
        raise OverflowError(
            f"{what} {value:.3g} for {place(i, j)}: beyond what float64 holds with room for sums. Divide the "
            f"kernel by a constant."
        )
    return values


class _PythonKernel(Kernel):
    """Abstract: values from Python; nothing is known about them before they are seen."""

    @property
    def is_known(self) -> bool:
        return False

    def rows(self, X: Any) -> Any:
        return X

    def diagonal(self, X: Any) -> None:
        return None

    @abstractmethod
    def corner(self, X: Any, begin: int, end: int) -> Floats:
        """The values of some rows among themselves, without the offset."""

    def measure(self, X: Any) -> Measured:
        """Compute blocks along the diagonal: they must be symmetric, and K(x, x) ≥ 0."""
        largest = 0.0
        for begin in range(0, X.shape[0], DIAGONAL):
            block = self.corner(X, begin, min(begin + DIAGONAL, X.shape[0]))
            _check_symmetric(block, block, begin, begin)
            own = block.diagonal() + self.offset
            if (own < 0).any():
                i = int(np.flatnonzero(own < 0)[0])
                raise ValueError(
                    f"K(x, x) = {own[i]:.6g} for row {begin + i}: φ(x)·φ(x) is never negative, so this is no "
                    f"kernel."
                )
            largest = max(largest, float(own.max(initial=0.0)))
        return Measured(None, True, root_up(Fraction(largest)))


def _check_symmetric(block: Floats, mirrored: Floats, first: int, second: int) -> None:
    """Compare K(i, j), from row `first` and column `second` on, with K(j, i)."""
    apart = np.abs(block - mirrored.T) > ASYMMETRY * np.abs(block).max(initial=0.0)
    if apart.any():
        i, j = (int(k) for k in np.argwhere(apart)[0])
        raise ValueError(
            f"The kernel is not symmetric: K({first + i}, {second + j}) = {block[i, j]:.6g}, but "
            f"K({second + j}, {first + i}) = {mirrored[j, i]:.6g} (rows by number)."
        )


@dataclass(frozen=True)
class FunctionKernel(_PythonKernel):
    """Any function of two blocks of rows that returns the matrix of their kernel values."""

    function: Callable[..., Any]
    parameters: dict[str, Any]
    offset: float = 0.0

    @property
    def title(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def panels(self, X: Any) -> Callable[[Indices], Panel]:
        return lambda which: self._panel(X[which])

    def _panel(self, supports: Any) -> Panel:
        return _PythonPanel(lambda rows: self(rows, supports) + self.offset, supports.shape[0])

    def corner(self, X: Any, begin: int, end: int) -> Floats:
        rows = X[begin:end]
        return self._block(rows, rows, lambda i, j: f"rows {begin + i} and {begin + j}")

    def __call__(self, rows: Any, supports: Any) -> Floats:
        """The checked values of a block: lines are `rows`, columns `supports`."""
        return self._block(rows, supports, lambda i, j: f"rows {i} and {j} of its two blocks")

    def _block(self, rows: Any, supports: Any, place: Callable[[int, int], str]) -> Floats:
        found = self.function(rows, supports, **self.parameters)
        found = found.toarray() if hasattr(found, "toarray") else found
        try:
            given = np.asarray(found)
            if given.dtype.kind not in "biufO" or found is None:
                raise TypeError
            values: Floats = given.astype(np.float64)
        except (TypeError, ValueError):
            kind = type(found).__name__ if not isinstance(found, np.ndarray) else f"one of {found.dtype}"
            raise ValueError(
                f"the kernel function must return an array of real numbers, but returned {kind}."
            ) from None
        shape = rows.shape[0], supports.shape[0]
        if values.shape != shape:
            raise ValueError(
                f"the kernel function was given blocks of {shape[0]} and {shape[1]} rows and must return an "
                f"array of the shape {shape}, but returned one of the shape {values.shape}."
            )
        return _checked(values, "the kernel function returned", place)


@dataclass(frozen=True)
class PrecomputedKernel(_PythonKernel):
    """X holds the values: one line per row, one column per training row. Supports are columns."""

    n_columns: int
    offset: float = 0.0

    @property
    def title(self) -> str:
        return "precomputed"

    def take(self, X: Any, which: Indices) -> Indices:
        return which

    def panels(self, X: Any) -> Callable[[Indices], Panel]:
        """X: the matrix of the training rows, or the column numbers that `take` kept of it."""
        return lambda which: self._panel(X[which] if X.ndim == 1 else which)

    def _panel(self, columns: Indices) -> Panel:
        return _PythonPanel(lambda rows: self._values(rows, columns) + self.offset, len(columns))

    def corner(self, X: Any, begin: int, end: int) -> Floats:
        return self._values(X[begin:end], np.arange(begin, end))

    def measure(self, X: Any) -> Measured:
        """The whole matrix is available: all of it must be symmetric."""
        measured, n = super().measure(X), X.shape[0]
        for begin in range(0, n, TILE):
            for second in range(begin, n, TILE):
                here, there = (np.arange(k, min(k + TILE, n)) for k in (begin, second))
                block = self._values(X[begin : begin + TILE], there)
                _check_symmetric(block, self._values(X[second : second + TILE], here), begin, second)
        return measured

    @staticmethod
    def _values(rows: Any, columns: Indices) -> Floats:
        part = rows[:, columns]
        values = np.asarray(part.toarray() if is_sparse(part) else part, dtype=np.float64)
        return _checked(values, "X holds", lambda i, j: f"a row and training row {columns[j]}")
