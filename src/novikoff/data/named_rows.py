"""Rows whose columns have names, as rows over a model's columns: data frames, dicts, and lists of dicts.

Columns are matched by name, in whatever order. A frame must have every column that the model knows, and so
must a dict for a model of a table; a dict for a model of named features need not, because features that it
lacks are 0. Further columns and keys are ignored, as are values of a category that the model has not seen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from novikoff import _core
from novikoff.data.sources.block import Block, Csr, Matrix, gather
from novikoff.data.sources.columns import FEATURES, Column, TableFeatures, columns_of, recipe
from novikoff.data.sources.encoding import BlockRounding, Unsound, kind_of, local_rows, placed
from novikoff.data.sources.features import Features, NamedFeatures, NumberedFeatures
from novikoff.data.sources.records import check_has_names, record_columns
from novikoff.data.sources.text import line_options

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 1 << 16  # rows that are encoded at once


class NamedRows(NamedTuple):
    """The rows of a frame whose columns are not only numbers, and the features that these became."""

    X: Matrix
    features: TableFeatures


def is_frame(X: Any) -> bool:
    """Whether this is a data frame of pandas or polars, or a table of pyarrow."""
    if hasattr(X, "iloc"):
        return getattr(X, "ndim", 0) == 2
    return (hasattr(X, "get_columns") and hasattr(X, "schema")) or (
        hasattr(X, "column_names") and hasattr(X, "schema")
    )


def is_records(X: Any) -> bool:
    """Whether this is a dict, or a list of dicts."""
    if hasattr(X, "tocsr"):  # one of SciPy's sparse formats is a dict
        return False
    return isinstance(X, Mapping) or (isinstance(X, list | tuple) and bool(X) and isinstance(X[0], Mapping))


def encoded_frame(X: Any, rounding: str = "never") -> Any:
    """A frame to learn from: with columns of text, categories or times as `NamedRows`, otherwise unchanged.

    Its columns become what they would be in a CSV file: numbers, a feature "column=value" per category and
    per missing value, days and their parts; see `columns`.
    """
    if not is_frame(X):
        return X
    names = column_names(X)
    if all(_is_number_column(X, k) for k in range(len(names))):
        return X
    if not all(isinstance(name, str) for name in names):
        raise ValueError(
            f"the columns of X must be named by text, but one has the name {_first_unnamed(names)!r}."
        )
    arrays = [_arrow(X, k) for k in range(len(names))]
    kinds = [(kind_of(array.type), str(array.type)) for array in arrays]
    columns = recipe([*names, ""], [*kinds, ("", "")], True, label=len(names) + 1)[:-1]
    features = TableFeatures(columns, has_names=True, ngrams=1, vocabulary=NamedFeatures())
    rows = _encoded(list(zip(columns, arrays, strict=True)), X.shape[0], features, rounding)
    features.fixed = True
    return NamedRows(rows, features)


def rows_by_name(X: Any, features: Features, rounding: str = "never") -> Any:
    """Rows over the columns of `features`, if `X` names its columns; any other `X` unchanged.

    Raises
    ------
    ValueError
        When a column is missing, or a value cannot be one of its column.
    """
    if is_records(X):
        records = [X] if isinstance(X, Mapping) else list(X)
        for i, record in enumerate(records):
            if not isinstance(record, Mapping):
                raise ValueError(f"X[{i}] is of type {type(record).__name__}, but X[0] is a dict.")
        return _from_records(records, features, rounding)
    if not is_frame(X) or isinstance(features, NumberedFeatures):
        return X
    names = [str(name) for name in column_names(X)]
    if isinstance(features, TableFeatures):
        try:
            places = features.match(names, features.has_names, label_optional=True)
        except ValueError as error:
            raise ValueError(f"X: {error}.") from None
        wanted = [
            (features.columns[k], at) for k, at in places.items() if features.columns[k].kind in FEATURES
        ]
    else:
        assert isinstance(features, NamedFeatures)
        plain = _selected(X, names, features)
        if plain is not None:
            return plain
        kinds = [(kind_of(_arrow(X, k).type), "") for k in range(len(names))]
        try:
            columns = columns_of(features, names, kinds)
        except ValueError as error:
            raise ValueError(f"X: {error}.") from None
        wanted = [(column, at) for at, column in enumerate(columns) if column.kind in FEATURES]
        features = TableFeatures(columns, has_names=True, ngrams=1, vocabulary=features, of_lines=True)
    arrays = [(column, _arrow(X, at)) for column, at in wanted]
    return _encoded(arrays, X.shape[0], features, rounding)


# ---- frames --------------------------------------------------------------------------------------------
def column_names(X: Any) -> list[Any]:
    """The names of a frame's columns."""
    return list(X.column_names if hasattr(X, "column_names") else X.columns)


def _first_unnamed(names: list[Any]) -> Any:
    return next(name for name in names if not isinstance(name, str))


def _column(X: Any, k: int) -> Any:
    return (
        X.iloc[:, k] if hasattr(X, "iloc") else X.columns[k] if hasattr(X, "column_names") else X.to_series(k)
    )


def _is_number_column(X: Any, k: int) -> bool:
    column = _column(X, k)
    if hasattr(X, "column_names"):
        return kind_of(column.type) == "number"
    dtype = column.dtype
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    if getattr(dtype, "kind", "O") in "biufc" and not hasattr(dtype, "categories"):
        return True
    numbers = Number | Decimal | np.generic
    return str(dtype) == "object" and all(isinstance(v, numbers) or v is None for v in column)


def _arrow(X: Any, k: int) -> pa.Array:
    """A column as Arrow's array; NaN in a pandas column is a missing value."""
    try:
        import pyarrow as pa
    except ImportError:
        raise ImportError(
            "columns of text, categories and times need pyarrow: pip install 'novikoff[files]'."
        ) from None
    column, name = _column(X, k), column_names(X)[k]
    if hasattr(X, "column_names"):
        array = column
    elif hasattr(column, "to_arrow"):
        array = column.to_arrow()
    else:
        try:
            array = pa.array(column, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            reason = str(error).strip().split("\n")[0].rstrip(".")
            raise ValueError(f"the column {name!r} of X holds values of several types ({reason}).") from None
    if not isinstance(array, pa.ChunkedArray):
        return array
    if pa.types.is_dictionary(array.type):
        array = array.unify_dictionaries()
    return array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)


def _selected(X: Any, names: list[str], features: NamedFeatures) -> Any:
    """The columns of a frame of numbers in the model's order; None if it is not one, or lacks any."""
    if features.hashed:
        return None
    wanted = features.names(range(features.n_columns))
    at = {name: k for k, name in enumerate(names)}
    if len(at) < len(names) or not all(name in at and _is_number_column(X, at[name]) for name in wanted):
        return None
    if wanted == names:
        return X
    return X.iloc[:, [at[name] for name in wanted]] if hasattr(X, "iloc") else X.select(wanted)


def _encoded(arrays: list[tuple[Column, pa.Array]], n_rows: int, features: TableFeatures, how: str) -> Matrix:
    """The rows of some columns, part by part."""
    blocks, rounded = [], BlockRounding(how)
    for begin in range(0, max(n_rows, 1), BLOCK):
        rounding = BlockRounding(how)
        part = [(column, array.slice(begin, BLOCK)) for column, array in arrays]
        n = min(BLOCK, n_rows - begin)
        try:
            rows = placed(local_rows(part, n, features, rounding), features)
        except Unsound as error:
            where = "X" if error.row is None else f"X, row {begin + error.row}"
            raise ValueError(f"{where}: {error}.") from None
        if rounding.count:
            rounded.add(rounding.count, f"{rounding.first}, row {begin + rounding.row}")
        blocks.append(Block(rows, None, None, 0, str))
    rounded.warn(4)
    return _whole(gather(blocks).X, features)


def _whole(X: Matrix, features: Features) -> Matrix:
    return X._replace(shape=(X.shape[0], features.n_columns)) if isinstance(X, Csr) else X


# ---- dicts ---------------------------------------------------------------------------------------------
def _from_records(records: list[Mapping[str, Any]], features: Features, how: str) -> Matrix:
    if isinstance(features, TableFeatures):
        check_has_names("X", features)
        rounding = BlockRounding(how)
        try:
            held, arrays = record_columns(records, features, rounding)
            columns = [features.columns[k] for k in held]
            local = local_rows(list(zip(columns, arrays, strict=True)), len(records), features, rounding)
        except Unsound as error:
            raise ValueError(f"{'X' if error.row is None else f'X[{error.row}]'}: {error}.") from None
        rounding.warn(4)
        return _whole(placed(local, features), features)
    lines = []
    for i, record in enumerate(records):
        try:
            lines.append(json.dumps({"features": dict(record)}, default=_plain))
        except (TypeError, ValueError) as error:
            raise ValueError(f"X[{i}] cannot be read: {error}.") from None
    parser = _core.JsonRows(line_options("", how, labelled=False))
    if not parser.parse(np.frombuffer("\n".join(lines).encode(), np.uint8)):
        raise ValueError(f"X[{parser.lines}]: {parser.problem}.")
    _, _, data, indices, indptr, names = parser.take()
    values, places, ends = _core.recolumn(data, indices, indptr, _places(names, features))
    return Csr(values, places, ends, (len(ends) - 1, features.n_columns), is_sorted=False)


def _plain(value: Any) -> Any:
    """A number or a list of NumPy as Python's."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} is no number, text, list or dict")


def _places(names: _core.Names, features: Features) -> Any:
    """The column of each name; −1 for none."""
    if isinstance(features, NamedFeatures):
        return features.place(names)
    assert isinstance(features, NumberedFeatures)
    known = {name: k for k, name in enumerate(features.names(range(features.n_columns)))}
    return np.array([known.get(name, -1) for name in names.strings()], dtype=np.int64)
