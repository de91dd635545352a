"""Columns of pandas, polars and pyarrow data frames as arrays, without importing these libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.data.rounding import is_plain

Array = npt.NDArray[Any]
Marks = npt.NDArray[np.bool_]


def frame_columns(X: Any) -> list[tuple[str, Any]] | None:
    """The columns of a data frame with their names; None if X is not one, or holds only plain numbers."""
    if hasattr(X, "iloc") and getattr(X, "ndim", 0) == 2:  # pandas
        types = [getattr(dtype, "subtype", dtype) for dtype in X.dtypes]  # of sparse columns
        if all(map(is_plain, types)):
            return None
        return [(str(name), X.iloc[:, j]) for j, name in enumerate(X.columns)]
    if hasattr(X, "get_columns"):  # polars
        return [(column.name, column) for column in X.get_columns()]
    if hasattr(X, "column_names") and hasattr(X, "schema"):  # pyarrow
        return list(zip(X.column_names, X.columns, strict=True))
    return None


def is_column(values: Any) -> bool:
    """Whether this is a column of a data frame."""
    return (hasattr(values, "isna") and hasattr(values, "dtype")) or hasattr(values, "null_count")


def column_array(column: Any) -> tuple[Array, Marks | None]:
    """A column's values in their own type, and which are missing (their values are arbitrary), if any."""
    if hasattr(column, "to_pylist"):  # pyarrow
        if not column.null_count:
            return np.asarray(column), None
        return _objects(column.to_pylist())
    if hasattr(column, "null_count"):  # polars
        if not column.null_count() and str(column.dtype) not in ("Int128", "UInt128"):  # not in NumPy
            whole = np.asarray(column.to_numpy())
            return (whole, None) if whole.dtype.kind != "O" else _objects(column.to_list())
        return _objects(column.to_list())
    dtype = column.dtype  # pandas
    if isinstance(dtype, np.dtype):
        return column.to_numpy(), None
    nulls = np.asarray(column.isna())
    if hasattr(dtype, "tz"):
        return np.asarray(column.to_numpy(f"datetime64[{dtype.unit}]")), _some(nulls)
    if hasattr(dtype, "categories") or hasattr(dtype, "subtype"):
        return np.asarray(column), _some(nulls)
    if not nulls.any():
        own = getattr(dtype, "numpy_dtype", None)
        return column.to_numpy(own if isinstance(own, np.dtype) else None), None
    return _objects([None if null else v for v, null in zip(column.tolist(), nulls, strict=True)])


def _objects(values: list[Any]) -> tuple[Array, Marks | None]:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out, _some(np.array([value is None for value in values], dtype=bool))


def _some(marks: Marks) -> Marks | None:
    return marks if marks.any() else None
