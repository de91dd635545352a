"""Arrays as rows: what can be read in place is, what must be converted is converted once.

Read in place: C-ordered float32, float64 and uint8 arrays (also slices of rows or of leading
columns, and memory-mapped files), and CSR with float32 or float64 values and int32 or int64 indices.
Copied once: Fortran order, CSC and other sparse formats, other number types, CSR rows whose indices
are not in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from numbers import Number
from typing import Any

import numpy as np

from novikoff import _core

IN_PLACE = (np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.uint8))
SPARSE_IN_PLACE = IN_PLACE[:2]


def is_readable(X: Any) -> bool:
    """Whether the core can read `X` where it lies."""
    if isinstance(X, np.ndarray):
        return X.ndim == 2 and X.dtype in IN_PLACE and _rows_contiguous(X)
    if getattr(X, "format", "") == "csr":
        return X.dtype in SPARSE_IN_PLACE and X.indices.dtype == X.indptr.dtype
    return False


def is_sparse(X: Any) -> bool:
    """Whether a matrix that the core can read is CSR."""
    return not isinstance(X, np.ndarray)


def _rows_contiguous(X: np.ndarray[Any, Any]) -> bool:
    return (
        (X.strides[1] == X.itemsize or X.shape[1] <= 1) and X.strides[0] % X.itemsize == 0 and X.flags.aligned
    )


def with_one_index_width(X: Any) -> Any:
    """A CSR matrix whose two index arrays have one type, the wider of theirs; itself where they have."""
    if X.indices.dtype == X.indptr.dtype:
        return X
    import scipy.sparse as sp  # here: whoever reads from files does without it

    wide = np.promote_types(X.indices.dtype, X.indptr.dtype)
    return sp.csr_array((X.data, X.indices.astype(wide), X.indptr.astype(wide)), shape=X.shape)


def read_matrix(X: Any) -> Any:
    """`X` as `rows_of` takes it: itself where that can be, else one copy. Its values are not looked at.

    For callers without scikit-learn, whose `check_array` the estimators use.
    """
    if is_readable(X):
        return X
    if hasattr(X, "indptr") or hasattr(X, "tocsr"):
        import scipy.sparse as sp

        whole = (X.data, X.indices, X.indptr) if not hasattr(X, "tocsr") else X
        X = sp.csr_array(whole, shape=X.shape)
        if X.dtype not in SPARSE_IN_PLACE:
            X = X.astype(np.float64)
        return with_one_index_width(X)
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have rows and columns, but its shape is {X.shape}.")
    if X.dtype not in IN_PLACE:
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"X holds {X.dtype} values where numbers are expected.") from None
    return np.ascontiguousarray(X)


def rows_of(X: Any) -> _core.Rows:
    """The native view of a matrix that `is_readable`, or of a `block.Csr`."""
    if is_sparse(X):
        distinct = not getattr(X, "is_sorted", True)  # of a `block.Csr`
        return _core.Rows(X.data, X.indices, X.indptr, X.shape[1], distinct)
    return _core.Rows(X)


def some_rows(X: Any, rows: Any) -> Any:
    """The rows with these numbers."""
    return X.some_rows(rows) if hasattr(X, "some_rows") else X[rows]


def in_order(X: Any) -> Any:
    """A CSR copy with the indices of each row sorted and repeated ones added up."""
    X = X.copy()
    X.has_canonical_format = False
    X.has_sorted_indices = False
    X.sum_duplicates()
    return X


def row_bytes(X: Any) -> int:
    """About how many bytes one row takes."""
    if is_sparse(X):
        return 1 + int((X.data.itemsize + X.indices.itemsize) * X.nnz) // max(int(X.shape[0]), 1)
    return 1 + int(X.itemsize) * int(X.shape[1])


def is_memory_mapped(X: Any) -> bool:
    """Whether a dense array lies in a memory-mapped file, directly or as a view."""
    while X is not None:
        if isinstance(X, np.memmap):
            return True
        X = getattr(X, "base", None)
    return False


def first_not_finite(X: Any, row: int) -> tuple[int, float]:
    """Column and value of the first NaN or infinity in a row known to have one."""
    if is_sparse(X):
        part = slice(X.indptr[row], X.indptr[row + 1])
        k = int(np.flatnonzero(~np.isfinite(X.data[part]))[0])
        return int(X.indices[part][k]), float(X.data[part][k])
    k = int(np.flatnonzero(~np.isfinite(X[row]))[0])
    return k, float(X[row, k])


def digest_of(*arrays: Any) -> str:
    """A BLAKE2 digest of arrays: their types, shapes and values; None and CSR matrices may be among them.

    >>> digest_of(np.zeros(3)) == digest_of(np.zeros(3)) != digest_of(np.zeros((1, 3)))
    True
    """
    digest = blake2b(digest_size=32)
    for one in arrays:
        for a in (one.indptr, one.indices, one.data) if hasattr(one, "indptr") else (one,):
            if a is None:
                digest.update(b"none\n")
                continue
            digest.update(f"{a.dtype.str} {a.shape}\n".encode())
            digest.update(np.ascontiguousarray(a).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


# ---- rows that are no numbers --------------------------------------------------------------------------
def as_objects(X: Any) -> Any:
    """X as an array of objects of shape (n,); None where it is a matrix of numbers."""
    if hasattr(X, "indptr") or hasattr(X, "tocsr"):
        return None
    if isinstance(X, list | tuple):
        if not X or _is_numbers(X[0]):
            return None
        objects = np.empty(len(X), dtype=object)
        for i, x in enumerate(X):  # one by one: an array would be made of lists of one length
            objects[i] = x
        return objects
    array = np.asarray(X)
    if array.dtype.kind in "OUST" and (array.ndim == 1 or array.shape[1:] == (1,)):
        return array.reshape(-1).astype(object)
    return None


def _is_numbers(row: Any) -> bool:
    if isinstance(row, np.ndarray | Number):
        return True
    if not isinstance(row, Sequence) or isinstance(row, str | bytes):
        return False
    return all(isinstance(value, Number) for value in row)
