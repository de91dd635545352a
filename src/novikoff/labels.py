"""Class labels: numbering them, meeting new ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Labels = npt.NDArray[Any]

FEW = 32  # rows for which a dict is faster than NumPy


def number(y: Labels) -> tuple[Labels, Ints]:
    """The classes found in `y`, sorted, and each row's index among them."""
    if y.dtype.kind in "iub" and len(y) and int(y.max()) - int(y.min()) < 1000:
        low = int(y.min())  # a short range of integers: counted instead of sorted
        places = y.astype(np.int64) - low
        present = np.bincount(places) > 0
        return (np.flatnonzero(present) + low).astype(y.dtype), (np.cumsum(present) - 1).astype(np.int32)[
            places
        ]
    try:
        classes = np.unique(y[:1000])  # sorting all of a long y is slower than an epoch
        labels = Classes(classes).find(y)
        if labels.min(initial=0) < 0:
            classes, places = np.unique(y, return_inverse=True)
            labels = places.astype(np.int32)
    except TypeError:
        raise _mixed(y) from None
    return classes, labels


class Classes:
    """The classes of a model, in its own order, and the way from labels to their indices."""

    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        self._order = np.argsort(labels)
        self._sorted = labels[self._order]
        self._index = {label: i for i, label in enumerate(labels.tolist())}

    def find(self, y: Labels) -> Ints:
        """The index of each label, −1 for those that are not among the classes."""
        places = np.minimum(np.searchsorted(self._sorted, y), len(self._sorted) - 1)
        return np.where(self._sorted[places] == y, self._order[places], -1).astype(np.int32)

    def meet(self, y: Labels, *, grow: bool) -> tuple[Classes, Ints]:
        """The classes with those of `y` added at the end, where that is allowed, and y's indices."""
        if len(y) <= FEW:
            few = [self._index.get(label, -1) for label in y.tolist()]
            if -1 not in few:
                return self, np.array(few, dtype=np.int32)
        try:
            labels = self.find(y)
            if labels.min() >= 0:
                return self, labels
            new = np.unique(y[labels < 0])
        except TypeError:
            raise _mixed(np.concatenate([self.labels, y])) from None
        if not grow:
            shown = ", ".join(map(repr, new[:5].tolist()))
            known = ", ".join(map(repr, self.labels[:20].tolist()))
            raise ValueError(f"y has classes that were not declared: {shown}; known are {known}.")
        if (new.dtype.kind in "iufb") != (self.labels.dtype.kind in "iufb"):
            raise _mixed(np.concatenate([self.labels.astype(object), new.astype(object)]))
        grown = Classes(np.concatenate([self.labels, new]))  # at the end: no class changes its index
        return grown, grown.find(y)

    def check_same(self, classes: Any) -> None:
        """Refuse another declaration than the first."""
        if set(np.asarray(classes).tolist()) != set(self._index):
            raise ValueError(
                f"`classes={list(classes)}` is not the same as on last call to partial_fit, "
                f"was: {self.labels.tolist()}."
            )


def _mixed(labels: Labels) -> TypeError:
    kinds = sorted({type(label).__name__ for label in labels.tolist()})
    return TypeError(f"Labels must all be of one kind, but y mixes {' and '.join(kinds)}.")
