"""The work of workers before training: read a shard, describe its content, and number its labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff.data.arrays import in_order, read_matrix
from novikoff.data.labels import Classes, Labels, check_labels
from novikoff.data.targets import label_array
from novikoff.data.text_labels import taken
from novikoff.distributed.linear_shard import RowShard
from novikoff.distributed.tasks import named
from novikoff.training.weights import Floats, Scorer


@dataclass(frozen=True)
class Found:
    """What the client must know about a shard."""

    name: str
    n_rows: int
    n_columns: int
    labels: Labels  # the distinct labels of rows with nonzero weight
    counts: tuple[int, ...]  # how often each label occurs


@dataclass(frozen=True)
class RawRows:
    """A shard in memory, with its original labels."""

    name: str
    X: Any
    y: Labels
    weights: Floats | None


def read_rows(
    name: str, Xs: Sequence[Any], ys: Sequence[Any], weights: Sequence[Any] | None, rounding: str = "never"
) -> RawRows:
    """A shard of one or more blocks of rows."""
    with named(name):
        for X, y in zip(Xs, ys, strict=True):
            _check_length(X, y, "y", "labels")
            _check_index(X, y)
        if weights is not None:
            for X, w in zip(Xs, weights, strict=True):
                _check_length(X, w, "sample_weight", "weights")
        X = _joined([_matrix(X, rounding) for X in Xs])
        y = check_labels(np.concatenate([_column(label_array(y)) for y in ys]))
        w = None if weights is None else _weights(np.concatenate([_column(w) for w in weights]))
        return RawRows(name, X, y, w)


def _matrix(X: Any, rounding: str = "never") -> Any:
    X = read_matrix(X, rounding)
    if hasattr(X, "has_canonical_format") and not X.has_canonical_format:
        X = in_order(X)
    return X


def _joined(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    widths = sorted({part.shape[1] for part in parts})
    if len(widths) > 1:
        raise ValueError(
            f"blocks have {widths[0]} and {widths[-1]} features, but all must have the same number."
        )
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    import scipy.sparse as sp

    return read_matrix(sp.vstack([sp.csr_array(part) for part in parts], format="csr"))


def _column(y: Any) -> Any:
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"expected one label per row, but the shape is {y.shape}.")
    return y


def _weights(weights: Any) -> Floats:
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("sample_weight must be finite and not negative.")
    return weights  # type: ignore[no-any-return]


def _check_length(X: Any, y: Any, name: str, what: str) -> None:
    if X.shape[0] != len(y):
        raise ValueError(
            f"X has {X.shape[0]} rows, but {name} has {len(y)} {what}: they must be the same rows."
        )


def _check_index(X: Any, y: Any) -> None:
    """Reject partitions of frames in different orders."""
    if hasattr(X, "index") and hasattr(y, "index") and not X.index.equals(y.index):
        raise ValueError("X and y have different indices: they must be the same rows, in the same order.")


def found(raw: RawRows) -> Found:
    """What the client must know about these rows."""
    y = raw.y if raw.weights is None else raw.y[raw.weights > 0]
    labels, counts = np.unique(y, return_counts=True)
    return Found(raw.name, len(y), int(raw.X.shape[1]), labels, tuple(counts.tolist()))


def numbered(raw: RawRows, classes: Classes, by_class: Floats | None) -> RowShard:
    """The shard ready for training; `by_class` multiplies the weights of rows."""
    labels = classes.find(raw.y) if len(raw.y) else np.zeros(0, dtype=np.int32)
    labels = np.maximum(labels, 0).astype(np.int32)  # labels of rows with weight 0 are never used
    weights = raw.weights
    if by_class is not None:
        weights = by_class[labels] if weights is None else by_class[labels] * weights
    return RowShard(raw.name, raw.X, labels, weights)


@dataclass(frozen=True)
class Predictor:
    """The weights for prediction."""

    coef: Floats
    intercept: Floats
    classes: Labels
    rounding: str = "never"

    def read(self, X: Any) -> Any:
        X = _matrix(X, self.rounding)
        if X.shape[1] != self.coef.shape[1]:
            raise ValueError(f"X has {X.shape[1]} features, but the model has {self.coef.shape[1]}.")
        return X


def predict(predictor: Predictor, X: Any) -> Labels:
    """The class of each row of a block."""
    scorer = Scorer.from_weights(predictor.coef, predictor.intercept)
    return taken(predictor.classes, scorer.predict(predictor.read(X)))


def scores(predictor: Predictor, X: Any) -> Floats:
    """The scores of each row of a block."""
    return Scorer.from_weights(predictor.coef, predictor.intercept).scores(predictor.read(X))
