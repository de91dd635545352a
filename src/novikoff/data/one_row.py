"""One row of a model's columns: a dict, or one number per column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from novikoff import _core
from novikoff.data.sources.block import Csr
from novikoff.data.sources.columns import FEATURES, TableFeatures
from novikoff.data.sources.features import Features, NamedFeatures, NumberedFeatures


def row_reader(features: Features) -> _core.RowReader:
    """What reads dicts as rows of these columns, as they are now; native/rows/row_reader.h has the rules.

    >>> features = NamedFeatures()
    >>> _ = features.place(["age", "job=cook"])
    >>> values, columns = row_reader(features).read({"job": "cook", "age": 3, "height": 1.8})
    >>> values.tolist(), columns.tolist()
    ([3.0, 1.0], [0, 1])
    """
    n = features.n_columns
    if isinstance(features, NumberedFeatures):
        return _core.RowReader(n, first=0 if features.zero_based else 1)
    if isinstance(features, TableFeatures):
        names, hashing = _known(features.vocabulary)
        table = []
        for k, (name, kind, _) in enumerate(features.columns):
            if kind in FEATURES:
                table.append((name, kind, features.ngrams if kind == "text" else features.numeric.get(k, -1)))
        return _core.RowReader(n, names=names, hashing=hashing, table=table)
    if isinstance(features, NamedFeatures):
        names, hashing = _known(features)
        return _core.RowReader(n, names=names, hashing=hashing)
    raise TypeError(f"columns of the kind {features.kind!r} are not those of rows.")


def _known(features: NamedFeatures) -> tuple[Any, tuple[int, int] | None]:
    """The names, or how they are hashed."""
    if features.hash_bits is not None:
        return None, (features.hash_bits, features.seed)
    names, offsets, _ = features._vocabulary.state()
    return (names, offsets), None


def plain_row(x: Any) -> Any:
    """A mapping or a named row, such as a pandas Series, as a dict; anything else as it is."""
    if isinstance(x, Mapping):
        return dict(x)
    if hasattr(x, "index") and hasattr(x, "to_dict"):
        return x.to_dict()
    return x


def row_of(x: Any, reader: _core.RowReader, n_columns: int) -> Any:
    """The matrix of one row that `x` gives; None where a dict holds dates or times."""
    if isinstance(x, dict):
        read = reader.read(x)
        if read is None:
            return None
        values, columns = read
        return Csr(values, columns, np.array([0, len(values)], dtype=columns.dtype), (1, n_columns))
    row = np.asarray(x)
    if row.ndim != 1 or isinstance(x, str | bytes | set):
        kind = f"an array of shape {row.shape}" if row.ndim > 1 else type(x).__name__
        raise TypeError(f"x is one row: a dict from feature to value, or one number per feature; got {kind}.")
    return row.reshape(1, -1)
