"""Sparse rows as the question of training needs them: taken by number, without SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.training.weights import Floats


class SparseRows:
    """A CSR matrix as its three arrays, read in place.

    The indices of a row are distinct; `is_sorted` says whether they also increase. Rows that are taken by
    number are sorted.
    """

    def __init__(
        self,
        data: npt.NDArray[Any],
        indices: npt.NDArray[Any],
        indptr: npt.NDArray[Any],
        shape: tuple[int, int],
        is_sorted: bool = True,
    ) -> None:
        self.data, self.indices, self.indptr, self.shape = data, indices, indptr, shape
        self.is_sorted = is_sorted

    @classmethod
    def of(cls, X: Any) -> SparseRows:
        """The rows of a SciPy matrix or of a `block.Csr`."""
        return cls(X.data, X.indices, X.indptr, X.shape, getattr(X, "is_sorted", True))

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.data.dtype

    @property
    def nnz(self) -> int:
        return len(self.data)

    @property
    def lines(self) -> npt.NDArray[np.int64]:
        """The row of every stored value."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    def __getitem__(self, rows: npt.NDArray[Any]) -> SparseRows:
        """The rows with these numbers, their indices sorted.

        >>> X = SparseRows(np.array([1.0, 2.0, 3.0]), np.array([0, 1, 0]), np.array([0, 1, 3]), (2, 2), False)
        >>> X[np.array([1, 0])].data.tolist(), X[np.array([1, 0])].indices.tolist()
        ([3.0, 2.0, 1.0], [0, 1, 0])
        """
        lengths = np.diff(self.indptr)[rows]
        indptr = np.zeros(len(rows) + 1, dtype=self.indptr.dtype)
        np.cumsum(lengths, out=indptr[1:])
        places = np.repeat(self.indptr[rows] - indptr[:-1], lengths) + np.arange(indptr[-1])
        taken = type(self)(self.data[places], self.indices[places], indptr, (len(rows), self.shape[1]))
        if not self.is_sorted:
            order = np.lexsort((taken.indices, taken.lines))
            taken.data, taken.indices = taken.data[order], taken.indices[order]
        return taken

    def astype(self, dtype: Any) -> SparseRows:
        return type(self)(self.data.astype(dtype), self.indices, self.indptr, self.shape, self.is_sorted)

    def toarray(self) -> Floats:
        dense = np.zeros(self.shape, dtype=self.dtype)
        dense[self.lines, self.indices] = self.data
        return dense

    def to_scipy(self) -> Any:
        import scipy.sparse as sp

        return sp.csr_array((self.data, self.indices, self.indptr), shape=self.shape)

    def with_column(self, value: float) -> SparseRows:
        """The rows with one more column, of this value.

        >>> X = SparseRows(np.array([3.0]), np.array([1]), np.array([0, 0, 1]), (2, 2))
        >>> X.with_column(0.5).toarray().tolist()
        [[0.0, 0.0, 0.5], [0.0, 3.0, 0.5]]
        """
        n, d = self.shape
        ends = self.indptr[1:]
        return SparseRows(
            np.insert(self.data, ends, value),
            np.insert(self.indices, ends, d),
            self.indptr + np.arange(n + 1, dtype=self.indptr.dtype),
            (n, d + 1),
            self.is_sorted,
        )

    def times(self, factors: Floats) -> SparseRows:
        """Each row times its factor."""
        data = self.data * np.repeat(factors, np.diff(self.indptr))
        return SparseRows(data, self.indices, self.indptr, self.shape, self.is_sorted)

    def in_blocks(self, own: Any, rival: Any, blocks: int) -> SparseRows:
        """Each row x as x in its own block of columns and −x in that of its rival.

        >>> X = SparseRows(np.array([3.0]), np.array([0]), np.array([0, 1]), (1, 2))
        >>> X.in_blocks([2], [0], 3).toarray().tolist()
        [[-3.0, 0.0, 0.0, 0.0, 3.0, 0.0]]
        """
        (n, d), lines = self.shape, self.lines
        columns = [self.indices + d * np.asarray(c, dtype=np.int64)[lines] for c in (own, rival)]
        indices, data = np.concatenate(columns), np.concatenate([self.data, -self.data])
        order = np.lexsort((indices, np.concatenate([lines, lines])))
        return SparseRows(data[order], indices[order], 2 * self.indptr.astype(np.int64), (n, blocks * d))
