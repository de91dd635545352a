"""Shards on a cluster, and their combined content: classes, and weights of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from distributed import Future
from novikoff.data.labels import Classes, Labels, number
from novikoff.data.scaling import Scaling
from novikoff.data.sources.features import Features
from novikoff.data.sources.source import Skipped
from novikoff.distributed import loading
from novikoff.training.weights import Floats


def grouped(n: int, n_shards: int | None, kind: str) -> list[range]:
    """The ranges of the n parts that form one shard each: every part alone, or `n_shards` in all."""
    if n_shards is None:
        return [range(k, k + 1) for k in range(n)]
    if n_shards > n:
        raise ValueError(
            f"n_shards={n_shards}, but there are only {n} {kind}(s): make more of them, or fewer shards."
        )
    return [range(n * k // n_shards, n * (k + 1) // n_shards) for k in range(n_shards)]


@dataclass
class Shards:
    """Shards on a cluster, and their combined content."""

    futures: list[Future]
    classes: Classes
    n_features: int
    n_rows: list[int]
    names: Any = None  # of the columns of a frame
    features: Features | None = None  # of files
    are_files: bool = False
    seen: list[Any] = field(default_factory=list)  # classes that occur in some row; others were only declared
    format: str = ""  # of files
    skipped: Skipped = field(default_factory=Skipped)
    scaling: Scaling | None = None


def met(survey: Sequence[loading.Found], declared: Any, before: Classes | None = None) -> Classes:
    """The classes: those declared, in their order, or all classes found, sorted.

    The classes known `before` keep their positions.
    """
    each = [found.labels for found in survey if len(found.labels)]
    if before is not None:
        return before.meet(_together(each), grow=True)[0] if each else before
    if declared is not None:
        known = Classes(np.asarray(declared))
        for found in survey:
            if not len(found.labels):
                continue
            unknown = found.labels[_places(known, found.labels) < 0]
            if len(unknown):
                shown = ", ".join(map(repr, unknown[:5].tolist()))
                listed = ", ".join(map(repr, known.labels[:20].tolist()))
                raise ValueError(
                    f"{found.name} has labels that were not declared: {shown}; known are {listed}."
                )
    elif not each:
        raise ValueError("there are no rows to learn from: every shard is empty.")
    else:
        known = Classes(number(_together(each))[0])
    if len(known.labels) < 2:
        raise ValueError(
            f"there must be at least two classes, but all shards have only one class: "
            f"{known.labels.tolist()[0]!r}."
        )
    return known


def seen(survey: Sequence[loading.Found]) -> list[Any]:
    """The classes that occur in some row."""
    return sorted({label for found in survey for label in found.labels.tolist()})


def _together(each: Sequence[Labels]) -> Labels:
    kinds = {"number" if labels.dtype.kind in "iufb" else "other" for labels in each}
    return np.concatenate([labels.astype(object) for labels in each] if len(kinds) > 1 else each)


def _places(known: Classes, labels: Labels) -> Any:
    if (known.labels.dtype.kind in "iufb") != (labels.dtype.kind in "iufb"):
        return np.full(len(labels), -1)
    return known.find(labels)


def weights_by_class(class_weight: Any, classes: Labels, survey: Sequence[loading.Found]) -> Floats | None:
    """The factor of the steps of each class."""
    if class_weight is None:
        return None
    if isinstance(class_weight, dict):
        return np.array([float(class_weight.get(c, 1.0)) for c in classes.tolist()])
    counts = np.zeros(len(classes))
    for found in survey:
        if len(found.labels):
            counts[Classes(classes).find(found.labels)] += found.counts
    with np.errstate(divide="ignore"):
        return counts.sum() / (np.count_nonzero(counts) * counts)  # type: ignore[no-any-return]
