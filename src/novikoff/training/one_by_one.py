"""Models for streams used on many rows: their predictions for one row after the other, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


def examples_of(X: Any) -> Iterator[Any]:
    """The rows of a data frame, a matrix, or any iterable of examples."""
    if isinstance(X, dict | str | bytes):
        raise TypeError(f"X has many rows, got one {type(X).__name__}: predict_one takes one example.")
    if hasattr(X, "to_dict") and hasattr(X, "columns"):
        X = X.to_dict("records") if hasattr(X, "iloc") else X.to_dicts()
    return iter(X)


def labels_array(labels: list[Any]) -> NDArray[Any]:
    """Labels as an array: of their common type if NumPy has it, else of objects."""
    if len({type(c) for c in labels}) == 1 and isinstance(labels[0], str | int | float | np.generic):
        return np.array(labels)
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def predict(model: Any, X: Iterable[Any]) -> NDArray[Any]:
    """The label that `predict_one` gives for each example."""
    return labels_array([model.predict_one(x) for x in examples_of(X)])


def scores(model: Any, X: Iterable[Any]) -> NDArray[np.float64]:
    """What `score_one` gives for each example: (n,) for two classes, (n, classes) for more."""
    found = [model.score_one(x) for x in examples_of(X)]
    rows = [list(score.values()) if isinstance(score, dict) else score for score in found]
    return np.array(rows, dtype=np.float64)
