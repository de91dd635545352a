"""Rows in a temporary file that is mapped into memory: for questions about rows that may not fit into it."""

from __future__ import annotations

import math
import tempfile
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from novikoff.data.arrays import is_memory_mapped, is_sparse, row_bytes, some_rows, with_values
from novikoff.data.sources.block import Csr, Matrix, as_sparse, sorted_rows

PART_BYTES = 1 << 24  # of rows that are copied from one file to another at a time


class MappedRows:
    """Rows that are added one after another, and then read by mapping the file that holds them.

    The file has no name, or is deleted when it is closed: nothing is left of it, however the process ends.
    It lies in the folder for temporary files (`TMPDIR`), and takes 8 bytes per number, and as many per index.

    >>> held = MappedRows(2)
    >>> held.add(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> held.add(np.array([[5.0, 6.0]], dtype=np.float32))
    >>> held.rows().sum(axis=1).tolist()
    [3.0, 7.0, 11.0]
    """

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self._values = _file()
        self._indices: IO[bytes] | None = None  # of sparse rows
        self._lengths: list[npt.NDArray[np.int64]] = []  # of sparse rows
        self._sparse: bool | None = None  # as the first rows are
        self._n_rows = 0

    def add(self, X: Matrix) -> None:
        """Append rows, which may have fewer columns: the others are 0."""
        if self._sparse is None:
            self._sparse = isinstance(X, Csr) or X.shape[1] != self.columns
        self._n_rows += X.shape[0]
        if not self._sparse:
            _write(self._values, _as_dense(X, self.columns))
            return
        part = sorted_rows(X if isinstance(X, Csr) else as_sparse(X))
        assert isinstance(part, Csr)
        inside = slice(int(part.indptr[0]), int(part.indptr[-1]))
        if self._indices is None:
            self._indices = _file()
        _write(self._values, part.data[inside].astype(np.float64, copy=False))
        _write(self._indices, part.indices[inside].astype(np.int64, copy=False))
        self._lengths.append(np.diff(part.indptr).astype(np.int64))

    def rows(self) -> Matrix:
        """All of them; no more can be added."""
        shape = self._n_rows, self.columns
        if not self._sparse:
            dense: Matrix = _mapped(self._values, np.float64, shape)
            return dense
        indptr = np.concatenate([[0], *self._lengths]).cumsum()
        assert self._indices is not None
        stored = (int(indptr[-1]),)
        values = _mapped(self._values, np.float64, stored)
        return Csr(values, _mapped(self._indices, np.int64, stored), indptr, shape)

    def __del__(self) -> None:  # also when what was to be added could not be read
        for file in (self._values, self._indices):
            if file is not None:
                file.close()


def picked(X: Any, rows: npt.NDArray[np.int64]) -> Any:
    """The rows with these numbers; in a temporary file if X is in one.

    >>> picked(np.array([[1.0], [2.0], [3.0]]), np.array([2, 0])).tolist()
    [[3.0], [1.0]]
    """
    if not is_memory_mapped(X.data if is_sparse(X) else X):
        return some_rows(X, rows)
    held, step = MappedRows(X.shape[1]), max(PART_BYTES // row_bytes(X), 1)
    for begin in range(0, len(rows), step):
        held.add(some_rows(X, rows[begin : begin + step]))
    return held.rows()


def multiplied(X: Any, factors: npt.NDArray[np.float64]) -> Any:
    """The rows with each column multiplied by its factor; in a temporary file if X is in one.

    >>> multiplied(np.array([[1.0, 2.0]]), np.array([4.0, 0.5])).tolist()
    [[4.0, 1.0]]
    """
    if not is_memory_mapped(X.data if is_sparse(X) else X):
        return with_values(X, X.data * factors[X.indices]) if is_sparse(X) else X * factors
    held, step = MappedRows(X.shape[1]), max(PART_BYTES // row_bytes(X), 1)
    for begin in range(0, X.shape[0], step):
        held.add(multiplied(some_rows(X, np.arange(begin, min(begin + step, X.shape[0]))), factors))
    return held.rows()


def _file() -> IO[bytes]:
    return tempfile.TemporaryFile(prefix="novikoff-")


def _write(file: IO[bytes], values: npt.NDArray[Any]) -> None:
    try:
        file.write(np.ascontiguousarray(values).reshape(-1).view(np.uint8).data)
    except OSError as error:
        raise OSError(
            error.errno,
            f"{error.strerror}: a copy of the rows is kept in {tempfile.gettempdir()}. Choose another folder "
            "(TMPDIR); with a number of epochs (max_epochs) and scale=None no copy is made",
        ) from None


def _mapped(file: IO[bytes], dtype: Any, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """The file's numbers, read-only; the mapping outlives the open file."""
    file.flush()
    if not math.prod(shape):
        return np.zeros(shape, dtype)
    return np.asarray(np.memmap(file, dtype, "r", shape=shape))


def _as_dense(X: Matrix, columns: int) -> npt.NDArray[np.float64]:
    if isinstance(X, Csr):
        dense = np.zeros((X.shape[0], columns))
        dense[np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices] = X.data
        return dense
    if X.shape[1] < columns:
        X = np.pad(X, ((0, 0), (0, columns - X.shape[1])))
    return X.astype(np.float64, copy=False)
