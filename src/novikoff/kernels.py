"""Kernels: what K(x, z) is, for rows of matrices, by name or by a function.

A kernel gives `rows` (a matrix as its panels read it) and `panels` (a maker of panels of some of its rows);
a panel gives kernel values of its rows, the supports, with ranges of others. Values depend on the two rows
alone, not on how the work is cut up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from novikoff import _core
from novikoff.arrays import is_sparse, rows_of
from novikoff.model import Floats

Rows = npt.NDArray[np.int64]

UNIT = 2.0**-53
BY_NAME = ("linear", "poly", "rbf", "laplacian", "chi2", "cosine")
BOUNDED = ("rbf", "laplacian", "chi2", "cosine")  # no value is above 1


class Panel(Protocol):
    """Some rows, ready for their kernel values with many others."""

    @property
    def size(self) -> int:
        """How many supports it has."""


    def values(self, rows: Any, order: Rows | None, begin: int, end: int, out: Floats, /) -> None:
        """Write the values of rows order[begin:end] (lines) with the supports (columns) into `out`."""

    def add_scores(
        self, rows: Any, order: Rows | None, begin: int, end: int, coef: Floats, scores: Floats, /
    ) -> None:
        """scores[t] += Σ coef[support]·K(row t, support) for t from `begin` to `end`."""


class Kernel(ABC):
    """A kernel with its parameters; `offset` is added to every value (the square of a bias coordinate)."""

    offset: float

    @abstractmethod
    def rows(self, X: Any) -> Any:
        """A matrix as panels read it."""

    @abstractmethod
    def panels(self, X: Any) -> Callable[[Rows], Panel]:
        """What makes a panel of some rows of the matrix, given by number."""

    @abstractmethod
    def diagonal(self, X: Any) -> Floats | None:
        """K(x, x), up to rounding; None where |K(x, z)|² ≤ K(x, x)·K(z, z) is not known to hold."""

    def is_exact(self, X: Any) -> bool:
        """Whether every value is known to be an integer that float64 holds."""
        return False

    def own_scores(
        self, X: Any, supports: Any, alpha: Floats, divisor: float, n_jobs: int | None
    ) -> Floats | None:
        """Σ α·K/divisor by a way of the kernel's own, its signs and winners exact; None: by panels."""
        return None

    def own_votes(
        self, X: Any, supports: Any, used: Rows, moves: Floats, survived: Floats, joint: bool, n_jobs: int | None
    ) -> Floats | None:
        """The votes by a way of the kernel's own; None: by panels."""
        return None


@dataclass(frozen=True)
class NamedKernel(Kernel):
    """linear, poly, rbf, laplacian, chi2 or cosine: native/gram.h has their formulas."""

    name: str
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 1
    offset: float = 0.0

    def rows(self, X: Any) -> _core.Rows:
        return rows_of(X)

    def panels(self, X: Any) -> Callable[[Rows], Panel]:
        rows = rows_of(X)
        return lambda which: _core.Panel(
            self.name, self.gamma, self.coef0, self.degree, self.offset, rows, which
        )

    def diagonal(self, X: Any) -> Floats:
        norm2 = _core.row_norms(rows_of(X), 0.0) ** 2
        with np.errstate(over="ignore"):
            match self.name:
                case "linear":
                    values = norm2
                case "poly":
                    values = (self.gamma * norm2 + self.coef0) ** self.degree
                case "cosine":
                    values = np.where(norm2 > 0, 1.0, 0.0)
                case _:
                    values = np.ones(len(norm2))
        return values + self.offset

    def is_exact(self, X: Any) -> bool:
        whole = all(float(p).is_integer() for p in (self.gamma, self.coef0, self.offset))
        if self.name not in ("linear", "poly") or not whole:
            return False
        values = X.data if is_sparse(X) else X
        integers = values.dtype == np.uint8 or bool(np.all(values == np.trunc(values)))
        # |γ·x·z + c₀| ≤ |γ|·‖x‖·‖z‖ + |c₀|, and no power of it may be rounded either
        base = abs(self.gamma) * float(self._norm2(X).max(initial=0.0)) + abs(self.coef0) + 1
        top = base if self.name == "linear" else base**self.degree
        return integers and top + self.offset < 2.0**53

    @staticmethod
    def _norm2(X: Any) -> Floats:
        return _core.row_norms(rows_of(X), 0.0) ** 2


class _PythonPanel:
    """A panel whose values come from Python."""

    def __init__(self, values: Callable[[Any], Floats], n_supports: int) -> None:
        self._values, self.size = values, n_supports
        self.largest = 0.0

    def _block(self, rows: Any, order: Rows | None, begin: int, end: int) -> Floats:
        part = rows[begin:end] if order is None else rows[order[begin:end]]
        block = self._values(part)
        self.largest = max(self.largest, float(np.abs(block).max(initial=0.0)))
        return block

    def values(self, rows: Any, order: Rows | None, begin: int, end: int, out: Floats, /) -> None:
        out[...] = self._block(rows, order, begin, end)

    def add_scores(
        self, rows: Any, order: Rows | None, begin: int, end: int, coef: Floats, scores: Floats, /
    ) -> None:
        scores[begin:end] += self._block(rows, order, begin, end) @ coef


@dataclass(frozen=True)
class FunctionKernel(Kernel):
    """Any function of two blocks of rows that gives a matrix of their kernel values."""

    function: Callable[..., Any]
    parameters: dict[str, Any]
    offset: float = 0.0

    def rows(self, X: Any) -> Any:
        return X

    def panels(self, X: Any) -> Callable[[Rows], Panel]:
        return lambda which: self._panel(X[which])

    def _panel(self, supports: Any) -> Panel:
        return _PythonPanel(lambda rows: self(rows, supports), supports.shape[0])

    def __call__(self, rows: Any, supports: Any) -> Floats:
        """The checked values of a block: lines are `rows`, columns `supports`."""
        values = np.asarray(self.function(rows, supports, **self.parameters), dtype=np.float64)
        shape = rows.shape[0], supports.shape[0]
        if values.shape != shape:
            raise ValueError(
                f"the kernel function was given blocks of {shape[0]} and {shape[1]} rows and must return an "
                f"array of the shape {shape}, but returned one of the shape {values.shape}."
            )
        if not np.isfinite(values).all():
            i, j = (int(k) for k in np.argwhere(~np.isfinite(values))[0])
            raise ValueError(
                f"the kernel function returned {values[i, j]} for rows {i} and {j} of its blocks."
            )
        return values + self.offset

    def diagonal(self, X: Any) -> None:
        return None


@dataclass(frozen=True)
class PrecomputedKernel(Kernel):
    """The matrix itself holds the values: a line a row, a column a training row."""

    offset: float = 0.0

    def rows(self, X: Any) -> Any:
        return X

    def panels(self, X: Any) -> Callable[[Rows], Panel]:
        return lambda which: _PythonPanel(lambda rows: rows[:, which] + self.offset, len(which))

    def diagonal(self, X: Any) -> None:
        return None


def in_parallel(work: Callable[[int], None], parts: Sequence[int], jobs: int) -> None:
    """Do the work for every part, by several threads."""
    if jobs == 1 or len(parts) == 1:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(work, parts))
