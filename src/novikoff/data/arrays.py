"""Arrays as rows: read in place where possible, otherwise converted once.

Read in place: C-ordered float32, float64 and uint8 arrays (also slices of rows or of leading
columns, and memory-mapped files), and CSR with float32 or float64 values and int32 or int64 indices, in
whatever order. Copied once: Fortran order, CSC and other sparse formats, other number types, CSR rows that
hold a column twice; and, for kernels, votes and proofs, CSR rows whose indices are not in order. Numbers
that no double holds are refused, or rounded on request (`rounding`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from hashlib import blake2b
from mmap import ALLOCATIONGRANULARITY
from numbers import Number
from typing import Any

import numpy as np

from novikoff import _core
from novikoff.data.frames import column_array, frame_columns
from novikoff.data.rounding import Rounding, as_array, as_doubles, is_plain

IN_PLACE = (np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.uint8))
SPARSE_IN_PLACE = IN_PLACE[:2]
INDICES = (np.dtype(np.int32), np.dtype(np.int64))


def is_readable(X: Any) -> bool:
    """Whether the core can read `X` in place."""
    if isinstance(X, np.ndarray):
        if type(X) is not np.ndarray and isinstance(X, (np.matrix, np.ma.MaskedArray)):
            return False
        return X.ndim == 2 and X.dtype in IN_PLACE and _rows_contiguous(X)
    if getattr(X, "format", "") == "csr":
        of_types = X.dtype in SPARSE_IN_PLACE and X.indices.dtype == X.indptr.dtype
        fits = len(X.shape) == 2 and len(X.indptr) == X.shape[0] + 1
        return of_types and X.indices.dtype in INDICES and fits and _arrays_contiguous(X)
    return False


def _arrays_contiguous(X: Any) -> bool:
    return all(a.flags.c_contiguous and a.flags.aligned for a in (X.data, X.indices, X.indptr))


def is_sparse(X: Any) -> bool:
    """Whether a matrix that the core can read is CSR."""
    return not isinstance(X, np.ndarray)


def _rows_contiguous(X: np.ndarray[Any, Any]) -> bool:
    return (
        (X.strides[1] == X.itemsize or X.shape[1] <= 1) and X.strides[0] % X.itemsize == 0 and X.flags.aligned
    )


def check_sound(X: Any) -> None:
    """Refuse a sparse matrix whose arrays are inconsistent: SciPy's loops would read out of bounds."""
    if not hasattr(X, "indptr"):
        X = X.tocoo(copy=False)
        inner = zip(X.coords, X.shape, strict=True)
        if any(len(at) != len(X.data) or not _within(at, size) for at, size in inner):
            raise ValueError(f"the sparse X is invalid: it stores values outside its shape, {X.shape}.")
        return
    rows, columns = (n // size for n, size in zip(X.shape, getattr(X, "blocksize", (1, 1)), strict=True))
    if getattr(X, "format", "csr") == "csc":
        rows, columns = columns, rows
    check_indptr(X, rows)
    if not _within(X.indices, columns):
        raise ValueError(f"the sparse X is invalid: its indices are not all from 0 to {columns - 1}.")


def check_indptr(X: Any, rows: int) -> None:
    """Refuse compressed rows (or columns) that are not consecutive ranges of the stored values."""
    indptr, stored = X.indptr, min(len(X.data), len(X.indices))
    if len(indptr) != rows + 1 or not _within(indptr, stored + 1) or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(
            "the sparse X is invalid: its indptr does not increase from 0 to the number of stored values, "
            f"{stored}, in {rows} steps."
        )


def _within(indices: Any, size: int) -> bool:
    return not len(indices) or bool(indices.min() >= 0 and indices.max() < size)


def with_one_index_width(X: Any) -> Any:
    """A CSR or CSC matrix whose index arrays share the wider type, int32 or int64; itself if it already does.

    All its arrays are contiguous.
    """
    wide: np.dtype[Any] = np.dtype(np.int32)
    for indices in (X.indices, X.indptr):
        if indices.dtype.kind not in "iu":
            raise ValueError(f"the indices of the sparse X are of type {indices.dtype}: expected integers.")
        if np.promote_types(indices.dtype, np.int32) != np.int32:
            wide = np.dtype(np.int64)
    if X.indices.dtype == X.indptr.dtype == wide and _arrays_contiguous(X):
        return X
    import scipy.sparse as sp  # here: reading files does not need SciPy

    made = sp.csc_array if getattr(X, "format", "csr") == "csc" else sp.csr_array
    indices, indptr = (in_memory_order(a.astype(wide, copy=False)) for a in (X.indices, X.indptr))
    data = in_memory_order(X.data)
    return made((data, indices, indptr), shape=X.shape)


def read_matrix(X: Any, rounding: str = "never") -> Any:
    """`X` as `rows_of` takes it: itself if possible, otherwise one copy as doubles.

    For callers without scikit-learn, whose `check_array` the estimators use.
    """
    if is_readable(X):
        return X
    rules = Rounding(rounding)
    X = exact_rows(X, rules)
    rules.warn(3)
    if is_sparse(X):
        import scipy.sparse as sp

        X = sp.csr_array((X.data, X.indices, X.indptr) if not hasattr(X, "tocsr") else X, shape=X.shape)
        if X.dtype not in SPARSE_IN_PLACE:
            X = X.astype(np.float64)
        return with_one_index_width(X)
    if X.ndim != 2:
        raise ValueError(f"X must have rows and columns, but its shape is {X.shape}.")
    return in_memory_order(X if X.dtype in IN_PLACE else X.astype(np.float64))


def in_memory_order(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A contiguous, aligned array; itself if it already is one."""
    return np.require(a, requirements=["C", "A"])


def aligned(X: Any) -> Any:
    """An array or CSR matrix that the core can read; a copy if a network buffer is not aligned."""
    if X is None or not isinstance(X, np.ndarray):
        return X if X is None else with_one_index_width(X)
    return np.require(X, requirements=["A"])


def exact_rows(X: Any, rounding: Rounding) -> Any:
    """`X` as a sparse matrix or an array of real numbers, each of which a double holds.

    Input that holds only such numbers is not copied, whatever its shape, order and type. Anything else
    (frames, lists, objects) becomes an array of doubles.
    """
    if hasattr(X, "indptr") or hasattr(X, "tocsr"):
        return _exact_sparse(X, rounding)
    columns = frame_columns(X)
    if columns is not None:
        return _exact_frame(X, columns, rounding)
    if isinstance(X, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(X)
        if masked.any():
            at = np.argwhere(masked)[0].tolist()
            raise ValueError(f"X{at} is masked: fill masked values first (X.filled), or remove such rows.")
        X = X.data
    if isinstance(X, list | tuple):
        _check_rectangular(X)
        for i, row in enumerate(X):
            if isinstance(row, np.ma.MaskedArray) and np.ma.getmaskarray(row).any():
                raise ValueError(
                    f"X[{i}] holds masked values: fill masked values first, or remove such rows."
                )
    array = as_array(X)
    if is_plain(array.dtype):
        return array

    def place(k: int) -> str:
        return f"X[{', '.join(str(i) for i in np.unravel_index(k, array.shape))}]"

    return as_doubles(array, rounding, place)


def _exact_sparse(X: Any, rounding: Rounding) -> Any:
    if len(X.shape) != 2:
        raise ValueError(f"X must have rows and columns, but its shape is {X.shape}: expected 2D input.")
    check_sound(X)
    if getattr(X, "format", "csr") not in ("csr", "csc"):
        X = X.tocsr()
    if hasattr(X, "indptr"):
        X = with_one_index_width(X)
    if is_plain(X.data.dtype if hasattr(X, "indptr") else X.dtype):
        return X
    import scipy.sparse as sp

    rows = X.tocsr() if hasattr(X, "tocsr") else X
    if rows.data.dtype.kind in "iu" and not getattr(rows, "has_canonical_format", True):
        rows = in_order(rows)  # duplicate entries are summed as integers, before the conversion to doubles

    def place(k: int) -> str:
        row = int(np.searchsorted(rows.indptr, k, side="right")) - 1
        return f"X[{row}, {rows.indices[k]}]"

    data = as_doubles(rows.data, rounding, place)
    return sp.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


def _exact_frame(X: Any, columns: Sequence[tuple[str, Any]], rounding: Rounding) -> Any:
    out = np.empty((X.shape[0], len(columns)))
    for j, (name, column) in enumerate(columns):
        values, nulls = column_array(column)

        def place(k: int, name: str = name) -> str:
            return f"X[{k}, {name!r}]"

        if nulls is not None:
            values = values.copy()
            values[nulls] = np.nan if values.dtype.kind in "fO" else values.dtype.type(0)
        out[:, j] = as_doubles(values, rounding, place)
        if nulls is not None:
            out[nulls, j] = np.nan  # the check of the values refuses it
    return out


def _check_rectangular(X: Sequence[Any]) -> None:
    """Name the first row of a ragged list."""
    sizes = [len(row) if isinstance(row, Sized) else None for row in X]
    for i, size in enumerate(sizes):
        if size != sizes[0]:
            first, this = ("no" if n is None else n for n in (sizes[0], size))
            raise ValueError(
                f"X is ragged: row 0 has {first} values, but row {i} has {this} (inhomogeneous)."
            )


def rows_of(X: Any) -> _core.Rows:
    """The native view of a matrix that `is_readable`, or of a `block.Csr`.

    It copies CSR's `indptr`; the values and `indices` are read in place.
    """
    check_mapped(X)
    if is_sparse(X):
        distinct = not getattr(X, "is_sorted", True)  # of a `block.Csr`, or `in_any_order`
        return _core.Rows(X.data, X.indices, X.indptr, X.shape[1], distinct)
    return _core.Rows(X)


def some_rows(X: Any, rows: Any) -> Any:
    """The rows with these numbers."""
    if hasattr(X, "some_rows"):
        return X.some_rows(rows)
    return X[rows] if getattr(X, "is_sorted", True) else _marked(X[rows])


def with_values(X: Any, values: Any) -> Any:
    """CSR rows with other values at the same places."""
    return with_arrays(X, values, X.indices, X.indptr, X.shape)


def with_arrays(X: Any, values: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Any:
    """CSR rows of the type of X, and as sorted as X is, from other arrays."""
    if hasattr(X, "some_rows"):
        return X._replace(data=values, indices=indices, indptr=indptr, shape=shape)
    made = type(X)((values, indices, indptr), shape=shape)
    made.is_sorted = getattr(X, "is_sorted", True)
    return made


def in_any_order(X: Any) -> Any:
    """CSR rows that loops can read whatever the order of their indices.

    Without a copy, and marked as not sorted, if the indices of every row are distinct; otherwise sorted, with
    duplicates summed.
    """
    distinct = _core.Rows(X.data, X.indices, X.indptr, X.shape[1]).all_distinct()
    return _marked(X) if distinct else in_order(X)


def _marked(X: Any) -> Any:
    """A view of CSR rows with distinct indices, marked as not sorted, as a `block.Csr` is."""
    import scipy.sparse as sp  # here: reading files does not need SciPy

    view = sp.csr_array((X.data, X.indices, X.indptr), shape=X.shape)
    view.is_sorted = False
    return view


def in_order(X: Any) -> Any:
    """A CSR copy with the indices of each row sorted and duplicates summed."""
    check_indptr(X, X.shape[0])
    X = X.copy()
    X.has_canonical_format = False
    X.has_sorted_indices = False
    X.sum_duplicates()
    return X


def row_bytes(X: Any) -> int:
    """The approximate size of one row in bytes."""
    if is_sparse(X):
        return 1 + int((X.data.itemsize + X.indices.itemsize) * X.nnz) // max(int(X.shape[0]), 1)
    return 1 + int(X.itemsize) * int(X.shape[1])


def _memory_map(a: Any) -> Any:
    """The memory-mapped array that an array is or is a view of; None if there is none."""
    while type(a) is np.ndarray:  # nearly always, and quickly checked
        a = a.base
    while isinstance(a, np.ndarray):
        if isinstance(a, np.memmap) and a._mmap is not None:  # type: ignore[attr-defined]
            return a
        a = a.base
    return None


def is_memory_mapped(X: Any) -> bool:
    """Whether a dense array is memory-mapped, directly or as a view."""
    return _memory_map(X) is not None


def check_mapped(X: Any) -> None:
    """Refuse rows in a memory-mapped file that has been truncated: reading beyond its end kills the process.

    This is checked before every call that reads rows. A file that is truncated during such a call (some
    hundredths of a second) still kills the process (SIGBUS): check and read cannot be one step.
    """
    if type(X) is np.ndarray and X.base is None:
        return
    for a in (X.data, X.indices, X.indptr) if hasattr(X, "indptr") else (X,):
        found = _memory_map(a)
        if found is None:
            continue
        needed = found.offset - found.offset % ALLOCATIONGRANULARITY + len(found._mmap)
        try:
            size = found._mmap.size()
        except OSError:  # the map keeps no descriptor
            continue
        if size < needed:
            raise OSError(
                f"{found.filename}: the memory-mapped file has {size:,} bytes, but {needed:,} are mapped: "
                "it was truncated. Map it again."
            )


def first_not_finite(X: Any, row: int) -> tuple[int, float]:
    """Column and value of the first NaN or infinity in a row known to have one."""
    if is_sparse(X):
        part = slice(X.indptr[row], X.indptr[row + 1])
        k = int(np.flatnonzero(~np.isfinite(X.data[part]))[0])
        return int(X.indices[part][k]), float(X.data[part][k])
    k = int(np.flatnonzero(~np.isfinite(X[row]))[0])
    return k, float(X[row, k])


def row_not_finite(X: Any) -> int:
    """The first row that holds NaN or infinity; −1 if there is none.

    >>> row_not_finite(np.array([[1.0, 2.0], [np.nan, 0.0]])), row_not_finite(np.zeros((2, 2)))
    (1, -1)
    """
    finite = np.isfinite(X.data if is_sparse(X) else X)
    if finite.all():
        return -1
    if is_sparse(X):
        return int(np.searchsorted(X.indptr, np.argmin(finite), side="right")) - 1
    return int(np.argmin(finite.all(axis=1)))


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


# ---- rows that are not numbers -------------------------------------------------------------------------
def as_objects(X: Any) -> Any:
    """X as an array of objects of shape (n,); None if it is a matrix of numbers."""
    if hasattr(X, "indptr") or hasattr(X, "tocsr"):
        return None
    if isinstance(X, list | tuple):
        if not X or _is_numbers(X[0]):
            return None
        objects = np.empty(len(X), dtype=object)
        for i, x in enumerate(X):  # one by one: NumPy would make a matrix of lists of equal length
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


# ---- what a native loop found wrong -------------------------------------------------------------------
class UnsortedIndices(Exception):
    """A CSR matrix has rows whose indices are not strictly increasing."""


def raise_problem(
    problem: str, row: int, X: Any, largest: float = 0.0, where: Callable[[int], str] | None = None
) -> None:
    """Raise the problem that a loop reported, if any, as one clear error. `where` names the row."""
    if not problem:
        return
    if where is not None:
        try:
            raise_problem(problem, row, X, largest)
        except (ValueError, OverflowError) as error:
            raise type(error)(f"{where(row)}: {error}") from None
    if problem == "not finite":
        column, value = first_not_finite(X, row)
        shown = "NaN" if np.isnan(value) else "infinity"
        raise ValueError(
            f"Input X contains {shown} at row {row}, column {column}. Remove or impute such rows first."
        )
    if problem == "bad index":
        part = X.indices[X.indptr[row] : X.indptr[row + 1]]
        if part.min() < 0 or part.max() >= X.shape[1]:
            wrong = int(part.min() if part.min() < 0 else part.max())
            raise ValueError(f"Row {row} of the sparse X has index {wrong}, but X has {X.shape[1]} columns.")
        raise UnsortedIndices
    exponent = int(np.frexp(largest)[1]) if np.isfinite(largest) and largest > 0 else 1024
    raise OverflowError(
        f"The update at row {row} would make a weight infinite: scale X by 2**{-exponent} "
        f"(its rows then have norms near 1). The model is as it was before the call."
    )
