"""Blocks of consecutive rows, with labels and weights, that a source yields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff.data.text_labels import TextLabels, concatenated

if TYPE_CHECKING:
    from novikoff.data.sources.features import Features

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.float64] | TextLabels  # numbers, or text


class Csr(NamedTuple):
    """A sparse matrix as its three arrays, with the attributes of SciPy's but without importing it.

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

    def some_rows(self, rows: npt.NDArray[Any]) -> Csr:
        """The rows with these numbers.

        >>> X = Csr(np.array([1.0, 2.0, 3.0]), np.array([0, 1, 0]), np.array([0, 1, 1, 3]), (3, 2))
        >>> X.some_rows(np.array([2, 0])).data.tolist()
        [2.0, 3.0, 1.0]
        """
        lengths = np.diff(self.indptr)[rows]
        indptr = np.zeros(len(rows) + 1, dtype=self.indptr.dtype)
        np.cumsum(lengths, out=indptr[1:])
        places = np.repeat(self.indptr[rows] - indptr[:-1], lengths) + np.arange(indptr[-1])
        return Csr(
            self.data[places], self.indices[places], indptr, (len(rows), self.shape[1]), self.is_sorted
        )


Matrix = Csr | npt.NDArray[Any]


@dataclass(slots=True)
class Block:
    """Consecutive rows of a source.

    Columns are those of the source's features, whose number may grow after every block.
    """

    X: Matrix
    labels: Labels | None  # None: no labels (rows to predict)
    weights: Floats | None  # None: all are 1
    consumed: int  # bytes of the source's files up to the end of this block, for progress
    where: Callable[[int], str]  # "spam.svm, line 17" for a row of the block, for messages
    place: Any = None  # for `Source.again`; None: its rows cannot be read again without those before
    ids: Any = None  # of the rows: an Arrow array or a list, if the source was opened with `id`

    def __post_init__(self) -> None:
        if isinstance(self.labels, np.ndarray) and self.labels.dtype.kind in "UO":
            self.labels = TextLabels.of(self.labels)

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    def widened(self, n_columns: int) -> Block:
        """The block with so many columns; sparse rows from before the last columns were found have fewer."""
        X = self.X
        if not isinstance(X, Csr) or X.shape[1] >= n_columns:
            return self
        return replace(self, X=X._replace(shape=(X.shape[0], n_columns)))


def sorted_rows(X: Matrix) -> Matrix:
    """The rows with increasing indices; themselves if they have them."""
    if not isinstance(X, Csr) or X.is_sorted:
        return X
    order = np.lexsort((X.indices, np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))))
    return X._replace(data=X.data[order], indices=X.indices[order], is_sorted=True)


def gather(blocks: Iterable[Block]) -> Block:
    """All blocks as one."""
    parts = list(blocks)
    if len(parts) == 1:
        return parts[0]
    columns = max(part.X.shape[1] for part in parts)
    starts = np.cumsum([0, *(part.n_rows for part in parts)])

    def where(row: int) -> str:
        k = int(np.searchsorted(starts, row, "right")) - 1
        return parts[k].where(row - int(starts[k]))

    weights = labels = None
    if any(part.weights is not None for part in parts):
        ones = [np.ones(part.n_rows) if part.weights is None else part.weights for part in parts]
        weights = np.concatenate(ones)
    if all(part.labels is not None for part in parts):
        labels = _labels([part.labels for part in parts])
    X = joined([part.X for part in parts], columns)
    for part in parts:
        part.X = np.zeros((0, 0))  # only `where` is still needed
    return Block(X, labels, weights, parts[-1].consumed, where)


def _labels(parts: list[Any]) -> Labels:
    return concatenated(parts) if isinstance(parts[0], TextLabels) else np.concatenate(parts)


def between(X: Matrix, begin: int, end: int) -> Matrix:
    """Rows `begin` to `end`.

    >>> X = Csr(np.array([1.0, 2.0, 3.0]), np.array([0, 1, 0]), np.array([0, 1, 1, 3]), (3, 2))
    >>> between(X, 1, 3)[:3]
    (array([2., 3.]), array([1, 0]), array([0, 0, 2]))
    """
    if not isinstance(X, Csr):
        return X[begin:end]
    first, last = X.indptr[begin], X.indptr[end]
    indptr = X.indptr[begin : end + 1] - first
    return Csr(X.data[first:last], X.indices[first:last], indptr, (end - begin, X.shape[1]), X.is_sorted)


class Room:
    """Memory for joined rows that is used again: new pages cost as much as copying rows into them."""

    def __init__(self) -> None:
        self._held: dict[str, npt.NDArray[Any]] = {}

    def join(self, what: str, parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """The rows of all parts, valid until `what` is joined again."""
        dtype, count = np.result_type(*parts), sum(map(len, parts))
        held = self._held.get(what)
        shape = parts[0].shape[1:]
        if held is None or len(held) < count or held.dtype != dtype or held.shape[1:] != shape:
            held = self._held[what] = np.empty((count + count // 8, *shape), dtype)
        return np.concatenate(parts, out=held[:count])


def joined(parts: list[Matrix], columns: int, room: Room | None = None) -> Matrix:
    """The rows of all parts, in order, over this many columns."""
    join = (lambda _, arrays: np.concatenate(arrays)) if room is None else room.join
    dense = [part for part in parts if not isinstance(part, Csr)]
    if len(dense) == len(parts) and all(part.shape[1] == columns for part in dense):
        return join("dense", dense)
    sparse = [part if isinstance(part, Csr) else as_sparse(part) for part in parts]
    before = np.cumsum([0, *(part.nnz for part in sparse)])
    width = np.int64 if before[-1] > 2**31 - 1 else np.result_type(*(part.indices.dtype for part in sparse))
    ends = [part.indptr[1:] + first for part, first in zip(sparse, before, strict=False)]
    return Csr(
        join("data", [part.data for part in sparse]),
        join("indices", [part.indices for part in sparse]).astype(width, copy=False),
        np.concatenate([[0], *ends]).astype(width),
        (sum(part.shape[0] for part in sparse), columns),
        all(part.is_sorted for part in sparse),
    )


def as_sparse(X: npt.NDArray[Any]) -> Csr:
    """The numbers of a dense matrix that are not 0."""
    rows, indices = np.nonzero(X)
    ends = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(X)))])
    return Csr(X[rows, indices].astype(np.float64), indices.astype(np.int32), ends.astype(np.int32), X.shape)


# ---- values that cannot be used ----------------------------------------------------------------------
class BadValue(ValueError):
    """A value of a matrix that cannot be used, and why."""

    def __init__(self, X: Any, bad: npt.NDArray[Any], why: str) -> None:
        """`bad` marks such values among the stored ones; the message names the first."""
        at = np.argwhere(bad)[0]
        if bad.ndim == 2:
            self.row, self.column = int(at[0]), int(at[1])
        else:
            self.row = int(np.searchsorted(X.indptr, at[0], side="right")) - 1
            self.column = int(X.indices[at[0]])
        self.value, self.why = (X if bad.ndim == 2 else X.data)[tuple(at)].item(), why
        super().__init__(f"X[{self.row}, {self.column}] is {self.value:g}: {why}")


@contextmanager
def by_name(where: Callable[[int], str], features: Features) -> Iterator[None]:
    """Name a bad value by its place in the files and its feature's name."""
    try:
        yield
    except BadValue as bad:
        (name,) = features.names([bad.column])
        raise ValueError(f"{where(bad.row)}: feature {name!r} is {bad.value:g}: {bad.why}") from None
