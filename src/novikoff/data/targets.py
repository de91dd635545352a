"""Labels and weights of rows from arrays, lists or columns of data frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.data.frames import column_array, frame_columns, is_column
from novikoff.data.labels import Labels, check_labels
from novikoff.data.rounding import EXACT_UP_TO, Floats, Rounding, as_array, as_doubles


def label_array(y: Any) -> Labels:
    """Labels as an array of their own type: integers stay integers, and none is missing.

    >>> label_array([3, 2**53 + 1]).tolist()
    [3, 9007199254740993]
    >>> label_array([1, None])
    Traceback (most recent call last):
        ...
    ValueError: y[1] is None: every row needs a label.
    """
    if type(y) is np.ndarray and y.dtype.kind in "biufUS" and y.dtype.itemsize != 16:
        return y
    missing = None
    if hasattr(y, "tocsr"):
        raise ValueError("y is sparse: expected an array or a list of class labels (y.toarray().ravel()).")
    columns = frame_columns(y)
    if columns is not None and len(columns) == 1:
        y = columns[0][1]
    if is_column(y):
        y, missing = column_array(y)
    elif isinstance(y, np.ma.MaskedArray):
        y, missing = y.data, np.ma.getmaskarray(y)
    array = _from_list(y) if isinstance(y, list | tuple) else np.asarray(y)
    if array.dtype.kind in "Mm":
        missing = np.isnat(array)
    elif array.dtype.kind == "O":
        missing = _missing(array.ravel())
    elif array.dtype.kind in "cV":
        raise ValueError(f"y holds {array.dtype} values: expected class labels, such as integers or text.")
    elif array.dtype.kind == "f" and array.dtype.itemsize > 8:
        array = as_doubles(array, Rounding(), "y[{}]".format)
    if missing is not None and missing.any():
        row = int(np.flatnonzero(missing)[0])
        shown = array.ravel()[row]
        raise ValueError(
            f"y[{row}] is {shown if array.dtype.kind in 'OMm' else 'missing'}: every row needs a label."
        )
    return array


def _from_list(y: Any) -> Labels:
    """A list as an array, unless that would change the type of labels or merge two of them."""
    array = np.asarray(y)
    if array.ndim != 1:
        return array
    if array.dtype.kind in "US" and len({type(label) for label in y} - {np.str_, np.bytes_}) > 1:
        objects = np.empty(len(y), dtype=object)
        objects[:] = y
        return objects  # numbers mixed with text would become text; sorting such labels is an error
    if array.dtype.kind in "US" and array.tolist() != list(y):  # NumPy drops zero bytes at the end of text
        objects = np.empty(len(y), dtype=object)
        objects[:] = y
        return objects
    if array.dtype.kind == "f" and not (np.abs(array) < EXACT_UP_TO).all():
        for row, (label, held) in enumerate(zip(y, array.tolist(), strict=True)):
            if label != held and label == label:
                raise ValueError(
                    f"y[{row}] is {label}, which no double holds, next to labels that are not integers or "
                    "are too large for one type with it: use text as labels."
                )
    return array


def _missing(labels: Labels) -> npt.NDArray[np.bool_]:
    """Which labels are None, not equal to themselves, or not comparable with themselves (pandas.NA)."""
    try:
        return np.asarray((labels == None) | (labels != labels), dtype=bool)  # noqa: E711
    except (TypeError, ValueError):
        return np.array([_is_missing(label) for label in labels.tolist()], dtype=bool)


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError):
        return True


def read_labels(y: Any, n_rows: int) -> Labels:
    """One label for each of n rows."""
    labels = check_labels(label_array(y))
    if labels.ndim != 1 or len(labels) != n_rows:
        raise ValueError(
            f"X has {n_rows} rows, but y has the shape {labels.shape}: there must be one label per row."
        )
    return labels


def read_weights(sample_weight: Any, n_rows: int) -> Floats:
    """One finite number ≥ 0 for each of n rows; a single number applies to all rows.

    >>> read_weights([1, 2.5], 2)
    array([1. , 2.5])
    >>> read_weights(float("nan"), 2)
    Traceback (most recent call last):
        ...
    ValueError: sample_weight is nan: weights are finite and not negative.
    """
    missing = None
    if is_column(sample_weight):
        sample_weight, missing = column_array(sample_weight)
    elif isinstance(sample_weight, np.ma.MaskedArray):
        sample_weight, missing = sample_weight.data, np.ma.getmaskarray(sample_weight)
    if missing is not None and missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise ValueError(f"sample_weight[{row}] is missing: weights are finite and not negative.")
    given = as_array(sample_weight)
    if given.ndim > 1 or (given.ndim == 1 and len(given) != n_rows):
        raise ValueError(
            f"sample_weight has the shape {given.shape}, but there are {n_rows} rows: one number per row."
        )

    def place(k: int) -> str:
        return f"sample_weight[{k}]" if given.ndim else "sample_weight"

    if given.dtype.kind in "USMmV":
        raise ValueError(
            f"{place(0)} is {given.ravel()[0]!r}: weights are finite and not negative."
            if given.size
            else "sample_weight is empty."
        )
    weights = np.asarray(as_doubles(given, Rounding(), place), order="C")
    wrong = ~((weights >= 0) & (weights < np.inf))
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        raise ValueError(f"{place(k)} is {weights.ravel()[k]:g}: weights are finite and not negative.")
    if weights.size and not weights.any():
        raise ValueError("every sample_weight is zero: there must be at least one non-zero weight.")
    return weights if weights.ndim else np.full(n_rows, float(weights))
