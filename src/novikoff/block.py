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
