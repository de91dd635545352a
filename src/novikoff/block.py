"""What a source yields: some consecutive rows, with labels and weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[Any]  # float64 for numbers, str ('U') for text


class Csr(NamedTuple):
    """A sparse matrix as its three arrays. Has the attributes of scipy's, and does without scipy.

    The indices of a row are distinct; `is_sorted` says whether they also increase.
    """

    data: npt.NDArray[Any]
    indices: npt.NDArray[Any]
    indptr: npt.NDArray[Any]
    shape: tuple[int, int]
    is_sorted: bool = True

    @property
    def nnz(self) -> int:
        return len(self.data)


Matrix = Csr | npt.NDArray[Any]


def rows_at(X: Matrix, rows: npt.NDArray[np.int64]) -> Matrix:
    """Some rows of a matrix, by number.

    >>> X = Csr(np.array([1.0, 2.0, 3.0]), np.array([0, 1, 0]), np.array([0, 1, 1, 3]), (3, 2))
    >>> rows_at(X, np.array([2, 0])).data.tolist()
    [2.0, 3.0, 1.0]
    """
    if not isinstance(X, Csr):
        return X[rows]
    begins, lengths = X.indptr[rows], np.diff(X.indptr)[rows]
    indptr = np.zeros(len(rows) + 1, dtype=X.indptr.dtype)
    np.cumsum(lengths, out=indptr[1:])
    at = np.repeat(begins - indptr[:-1], lengths) + np.arange(indptr[-1])
    return Csr(X.data[at], X.indices[at], indptr, (len(rows), X.shape[1]), X.is_sorted)


@dataclass(slots=True)
class Block:
    """Consecutive rows of a source.

    Columns are those of the source's features, of which there may be more after every block.
    """

    X: Matrix
    labels: Labels | None  # None: the source has none (rows to predict)
    weights: Floats | None  # None: all are 1
    consumed: int  # bytes of the source's files behind the end of this block, for showing progress
    where: Callable[[int], str]  # "spam.svm, line 17" for a row of the block, for messages

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])
