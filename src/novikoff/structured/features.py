"""Feature vectors in their three forms: a dict of name → number, an array, or a sparse vector."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.data.rounding import exact_doubles, nearest_double

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sparse:
    """A vector of `size` numbers, given by its entries; entries at the same index are added.

    Examples
    --------
    >>> Sparse([5, 2, 5], [1.0, 3.0, 1.0], 8).dot(np.arange(8.0))
    16.0
    """

    indices: Any
    values: Any
    size: int

    def dot(self, w: Any) -> float:
        """The inner product with an array."""
        return float(np.dot(np.asarray(self.values, dtype=np.float64), w[np.asarray(self.indices, np.intp)]))


def checked(features: Any, where: str) -> Any:
    """Features in normal form: a dict, a float64 array or a `Sparse` of arrays; all finite."""
    if isinstance(features, Mapping):
        for name, value in features.items():
            if not isinstance(value, int | float | np.number | np.bool_):
                raise TypeError(
                    f"features({where}) has {value!r} for {name!r}: expected a number for each name."
                )
            if not math.isfinite(value):
                raise ValueError(f"features({where}) has {value} for {name!r}: expected finite numbers.")
            if not nearest_double(value)[1]:
                raise ValueError(
                    f"features({where}) has {value} for {name!r}, which no double holds: subtract an offset "
                    "or scale it first, or pass float(value), the nearest double."
                )
        return features
    if not isinstance(features, Sparse):
        features = _from_scipy(features) if hasattr(features, "tocoo") else _dense(features, where)
    if isinstance(features, Sparse):
        indices, values = np.asarray(features.indices), _exact(features.values, where)
        if not len(indices):
            indices = indices.astype(np.int64)
        if indices.dtype.kind not in "iu" or indices.shape != values.shape or indices.ndim != 1:
            raise ValueError(
                f"features({where}) has indices of type {indices.dtype} and shape {indices.shape} for values "
                f"of shape {values.shape}: expected whole numbers, one per value."
            )
        if len(indices) and (indices.min() < 0 or indices.max() >= features.size):
            bad = indices[(indices < 0) | (indices >= features.size)][0]
            raise ValueError(f"features({where}) has the index {bad}: expected 0 to {features.size - 1}.")
        features = Sparse(indices.astype(np.int64, copy=False), values, int(features.size))
    values = features.values if isinstance(features, Sparse) else features
    if not np.isfinite(values).all():
        at = int(np.flatnonzero(~np.isfinite(values))[0])
        place = features.indices[at] if isinstance(features, Sparse) else at
        raise ValueError(f"features({where}) has {values[at]} at {place}: expected finite numbers.")
    return features


def _from_scipy(features: Any) -> Sparse:
    found = features.tocoo()
    shape = found.shape
    if len(shape) == 2 and 1 not in shape:
        raise ValueError(f"a sparse feature vector has one row, not the shape {shape}.")
    where = found.coords[-1] if len(shape) == 1 else (found.col if shape[0] == 1 else found.row)
    return Sparse(where, found.data, int(np.prod(shape)))


def _dense(features: Any, where: str) -> Floats:
    try:
        found = np.asarray(features, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty((0, 0))
    dense = _exact(features, where) if found.ndim == 1 else found
    if dense.ndim != 1 or isinstance(features, str):
        raise TypeError(
            f"features({where}) is a {type(features).__name__}: expected a dict of name → number, an array "
            "of one dimension, or a sparse vector."
        )
    return dense


def _exact(values: Any, where: str) -> Floats:
    return exact_doubles(values, lambda k: f"features({where}) at {k}")


def dot(w: Any, features: Any) -> float:
    """w·Φ for features in normal form."""
    return float(features.dot(w) if isinstance(features, Sparse) else w.dot(features))
