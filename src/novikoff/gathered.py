"""All rows of a source in memory: to shuffle them, to hold some out, to learn from parts of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from novikoff.arrays import take_rows
from novikoff.block import Block, Csr, Floats, Labels, Matrix
from novikoff.labels import Ints, StreamClasses, as_text
from novikoff.model import Settings
from novikoff.scaling import Scaling
from novikoff.source import Source
from novikoff.streaming import Learned, Progress, Watch
from novikoff.training import Plan
from novikoff.training import fit as fit_arrays


@dataclass
class Gathered:
    """Rows in memory, as one block."""

    name: str
    X: Matrix
    labels: Labels
    weights: Floats | None
    n_numbers: int  # how many of the first columns are number columns of a table
    where: Callable[[int], str]

    @property
    def n_rows(self) -> int:
        return len(self.labels)

    def take(self, rows: Ints) -> Gathered:
        """Some of the rows, in this order."""
        weights = None if self.weights is None else self.weights[rows]
        chosen = np.asarray(rows)
        return Gathered(
            self.name,
            take_rows(self.X, rows),
            self.labels[rows],
            weights,
            self.n_numbers,
            lambda i: self.where(int(chosen[i])),
        )


def gather(source: Source, watch: Watch | None = None) -> Gathered:
    """Read all rows of a source."""
    blocks: list[Block] = []
    n_rows, started = 0, time.perf_counter()
    for block in source.blocks():
        if block.labels is None:
            raise ValueError(f"{block.where(0)}: there is no label to learn from.")
        blocks.append(block)
        n_rows += block.n_rows
        if watch is not None:
            seconds = time.perf_counter() - started
            watch(Progress("reading", n_rows, block.consumed, source.size, 0, seconds))
    if not n_rows:
        raise ValueError(f"{source.name}: there are no rows to learn from.")
    ends = np.cumsum([block.n_rows for block in blocks])
    places = [block.where for block in blocks]

    def where(row: int) -> str:
        k = int(np.searchsorted(ends, row, side="right"))
        return places[k](row - (int(ends[k - 1]) if k else 0))

    weights = None
    if any(block.weights is not None for block in blocks):
        weights = np.concatenate([np.ones(b.n_rows) if b.weights is None else b.weights for b in blocks])
    labels = np.concatenate([block.labels for block in blocks if block.labels is not None])
    X = _stacked([block.X for block in blocks], source.features.n_columns)
    return Gathered(source.name, X, labels, weights, source.features.n_numbers, where)


def _stacked(parts: list[Matrix], n_columns: int) -> Matrix:
    """Blocks one below the other; dense only where all are."""
    dense = [part for part in parts if isinstance(part, np.ndarray) and part.shape[1] == n_columns]
    if len(dense) == len(parts):
        return np.concatenate(dense)
    sparse = [part if isinstance(part, Csr) else _sparse(part) for part in parts]
    counts = np.concatenate([np.diff(part.indptr) for part in sparse])
    wide = counts.sum() >= 2**31 or any(part.indices.dtype == np.int64 for part in sparse)
    kind = np.int64 if wide else np.int32
    return Csr(
        np.concatenate([part.data for part in sparse]),
        np.concatenate([part.indices.astype(kind, copy=False) for part in sparse]),
        np.concatenate([[0], np.cumsum(counts)]).astype(kind),
        (len(counts), n_columns),
        all(part.is_sorted for part in sparse),
    )


def _sparse(dense: Floats) -> Csr:
    stored = dense != 0
    columns = np.broadcast_to(np.arange(dense.shape[1], dtype=np.int32), dense.shape)[stored]
    ends = np.concatenate([[0], np.cumsum(stored.sum(axis=1))]).astype(np.int32)
    return Csr(dense[stored].astype(np.float64), columns, ends, (dense.shape[0], dense.shape[1]))


def fit(
    rows: Gathered,
    classes: StreamClasses,
    settings: Settings,
    plan: Plan,
    *,
    scale: str | None = None,
    class_weight: dict[str, float] | str | None = None,
) -> Learned:
    """Learn from rows in memory, in any order; `novikoff.streaming.fit` for what does not fit there."""
    if classes.declared is None and not classes.grows:
        classes.add(rows.labels, rows.where)
    labels = classes.find(rows.labels, rows.where)
    classes.check_two(rows.name)
    scaling, X = None, rows.X
    if scale is not None:
        block = Block(X, rows.labels, rows.weights, 0, rows.where)
        scaling = Scaling.measure(scale, [block], rows.n_numbers)
        X = scaling.transform(X)
    weights = _weights(rows, labels, classes, class_weight)
    model, run = fit_arrays(X, labels, len(classes), settings, plan, weights=weights)
    return Learned(model, classes.labels, scaling, run)


def _weights(
    rows: Gathered, labels: Ints, classes: StreamClasses, class_weight: dict[str, float] | str | None
) -> Floats | None:
    """What multiplies each row's step: its own weight times its class's."""
    if class_weight is None:
        return rows.weights
    if isinstance(class_weight, str):
        kept = labels if rows.weights is None else labels[rows.weights > 0]
        counts = np.bincount(kept, minlength=len(classes))
        by_class = len(kept) / (np.count_nonzero(counts) * np.maximum(counts, 1))
    else:
        by_class = np.array([class_weight.get(as_text(c), 1.0) for c in classes.labels.tolist()])
    weights: Floats = by_class[labels]
    return weights if rows.weights is None else weights * rows.weights
