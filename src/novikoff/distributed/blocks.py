"""Blocks of dask arrays and partitions of dask dataframes as shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dask
import numpy as np

from novikoff.data.labels import Classes, check_labels
from novikoff.data.targets import label_array
from novikoff.distributed import loading
from novikoff.distributed.cluster import Session
from novikoff.distributed.shards import Shards, grouped, met, weights_by_class


@dataclass
class Blocks:
    """Blocks of rows before reading: parts of collections that are not yet computed."""

    Xs: list[Any]
    ys: list[Any]
    weights: list[Any] | None
    kind: str  # "block" or "partition"
    n_features: int | None  # as declared; None: not known
    names: Any = None  # of the columns


def is_frame(X: Any) -> bool:
    return hasattr(X, "divisions") and hasattr(X, "to_delayed")


def is_array(X: Any) -> bool:
    return hasattr(X, "to_delayed") and hasattr(X, "numblocks")


def read_collection(X: Any, y: Any, sample_weight: Any) -> Blocks:
    """The blocks of dask arrays or frames, with the same rows in X, y and the weights."""
    if is_frame(X):
        kind, Xs = "partition", list(X.to_delayed())
        columns = list(X.columns)
        names = np.array(columns, dtype=object) if all(isinstance(c, str) for c in columns) else None
        n_features: int | None = len(columns)
    elif is_array(X):
        if X.ndim != 2:
            raise ValueError(f"X must have rows and columns, but it has {X.ndim} dimension(s).")
        if X.numblocks[1] != 1:
            raise ValueError(
                f"X is split into {X.numblocks[1]} blocks of columns, but a shard has whole rows: "
                "X.rechunk({1: -1}) joins them."
            )
        kind, Xs, names = "block", X.to_delayed().ravel().tolist(), None
        n_features = None if np.isnan(X.shape[1]) else int(X.shape[1])
    else:
        raise TypeError(
            f"X is a {type(X).__name__}, but a cluster learns from dask arrays, dask dataframes or names of "
            "files: dask.array.from_array(X, chunks=(rows, -1)) makes blocks of an array."
        )
    ys = _parts(X, y, "y", kind)
    weights = None if sample_weight is None else _parts(X, sample_weight, "sample_weight", kind)
    return Blocks(Xs, ys, weights, kind, n_features, names)


def _parts(X: Any, y: Any, name: str, kind: str) -> list[Any]:
    """The blocks of y that match those of X."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None.")
    if is_frame(y):
        if is_frame(X) and X.known_divisions and y.known_divisions and X.divisions != y.divisions:
            raise ValueError(
                f"X and {name} have different divisions: {name}.repartition(divisions=X.divisions) makes "
                "them the same."
            )
        parts = list(y.to_delayed())
        unknown = not y.known_divisions
    else:
        y = _rechunked(X, y, name)
        parts, unknown = y.to_delayed().ravel().tolist(), True
    n = X.npartitions if is_frame(X) else X.numblocks[0]
    if len(parts) != n:
        why = ", and the matching of their rows is unknown (unknown divisions)" if unknown else ""
        raise ValueError(
            f"X has {n} {kind}s and {name} has {len(parts)}{why}: take both from one frame, set an index "
            "with known divisions, or call compute_chunk_sizes() on arrays."
        )
    return parts


def _rechunked(X: Any, y: Any, name: str) -> Any:
    """An array of labels or weights, in blocks with the same numbers of rows as those of X."""
    import dask.array as da

    known = is_array(X) and not any(np.isnan(n) for n in X.chunks[0])
    if not is_array(y):
        y = label_array(y) if name == "y" else np.asarray(y)
        if not known:
            raise ValueError(
                f"{name} is an array in memory, but the number of rows per block of X is unknown: give "
                f"{name} as a dask collection too, or call X.compute_chunk_sizes()."
            )
        if y.ndim != 1:
            raise ValueError(f"{name} must have one dimension, but its shape is {y.shape}.")
        y = da.from_array(check_labels(y) if name == "y" else y, chunks=-1)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"{name} must have one dimension, but it has {y.ndim}.")
    if known and not any(np.isnan(n) for n in y.chunks[0]):
        if y.shape[0] != X.shape[0]:
            raise ValueError(
                f"X has {X.shape[0]} rows, but {name} has {y.shape[0]}: they must have the same length."
            )
        if y.chunks[0] != X.chunks[0]:
            y = y.rechunk((X.chunks[0],))
    return y


def load_blocks(
    session: Session,
    X: Any,
    y: Any,
    sample_weight: Any,
    n_shards: int | None,
    classes: Any,
    class_weight: Any,
    known: Classes | None = None,
    rounding: str = "never",
) -> Shards:
    """Shards in the workers' memory. `known`: the classes of a model that is trained further."""
    blocks = read_collection(X, y, sample_weight)
    read = dask.delayed(loading.read_rows, pure=False)
    shards = []
    for group in grouped(len(blocks.Xs), n_shards, blocks.kind):
        own = slice(group.start, group.stop)
        weights = None if blocks.weights is None else blocks.weights[own]
        shards.append(read(_named(blocks.kind, group), blocks.Xs[own], blocks.ys[own], weights, rounding))
    raw = session.compute(shards)
    survey = session.gather(session.each(loading.found, [(one,) for one in raw]))
    n_features = _same_width(survey, blocks.n_features)
    known = met(survey, classes, known)
    by_class = weights_by_class(class_weight, known.labels, survey)
    numbered = session.each(loading.numbered, [(one, known, by_class) for one in raw])
    rows = [one.n_rows for one in survey]
    return Shards(numbered, known, n_features, rows, names=blocks.names)


def _named(kind: str, group: range) -> str:
    return f"{kind} {group[0]}" if len(group) == 1 else f"{kind}s {group[0]} to {group[-1]}"


def _same_width(survey: Sequence[loading.Found], declared: int | None) -> int:
    expected = survey[0].n_columns if declared is None else declared
    for found in survey:
        if found.n_columns != expected:
            first = "X declares" if declared is not None else f"{survey[0].name} has"
            raise ValueError(f"{found.name} has {found.n_columns} features, but {first} {expected}.")
    return int(expected)
