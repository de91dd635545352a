"""Converts user data to `Sequences` and label numbers; checks everything before anything changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from copy import copy
from itertools import chain
from typing import Any

import numpy as np

from novikoff.data.labels import Classes, number
from novikoff.data.sources.features import NamedFeatures
from novikoff.tagging.features import SequenceFeatures, TemplateFeatures
from novikoff.tagging.sequences import Ids, Sequences, check_labels
from novikoff.tagging.templates import Templates


def begin(templates: Templates | None, hash_bits: int | None) -> SequenceFeatures:
    """Features without any numbers yet: from templates, or with the names given in X."""
    if templates is None:
        return NamedFeatures(hash_bits=hash_bits)
    return TemplateFeatures(templates, hash_bits=hash_bits)


def copied(features: SequenceFeatures) -> SequenceFeatures:
    """A copy to which features can be added independently."""
    grown = copy(features)
    grown.fixed = False
    return grown


def sequences(X: Any, features: SequenceFeatures) -> Sequences:
    """Sentences as feature numbers. New features are added, or left out if `features` is fixed."""
    if isinstance(features, TemplateFeatures):
        return features.expand(X)
    x, names = Sequences.from_lists(X)
    return x.renumbered(features.place(names))


def frequent(x: Sequences, features: SequenceFeatures, min_count: int) -> tuple[Sequences, SequenceFeatures]:
    """Drop the features that occur fewer than `min_count` times; the others keep their order.

    Hashed features keep their numbers, and features with the same number count as one.
    """
    if min_count <= 1:
        return x, features
    kept = np.bincount(x.ids, minlength=features.n_columns) >= min_count
    if features.hash_bits is not None:
        return x.renumbered(np.where(kept, np.arange(len(kept)), -1)), features
    return x.renumbered(np.where(kept, np.cumsum(kept) - 1, -1)), features.some(kept)


# ---- labels ------------------------------------------------------------------------------------------
def check_lengths(x: Sequences, y: Any) -> None:
    """Check that each token of each sentence has a label."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None.")
    if not isinstance(y, Sequence | np.ndarray) or isinstance(y, str):
        raise TypeError(f"y is a list of label lists, one per sentence; got {type(y).__name__}.")
    if len(y) != len(x):
        raise ValueError(f"X has {len(x)} sentences, but y has {len(y)}: they must have the same length.")
    for s, labels in enumerate(y):
        if isinstance(labels, str) or not hasattr(labels, "__len__"):
            raise TypeError(f"sentence {s}: expected a list of labels, got {labels!r}.")
    lengths = np.fromiter(map(len, y), np.int64, len(y))
    wrong = np.flatnonzero(lengths != x.lengths)
    if len(wrong):
        s = int(wrong[0])
        raise ValueError(f"sentence {s}: X has {x.lengths[s]} tokens, but y has {lengths[s]} labels.")


def found_labels(y: Any) -> Classes:
    """The labels in `y`, sorted."""
    labels = list(dict.fromkeys(chain.from_iterable(y)))
    check_labels(labels)
    return Classes(number(_as_array(labels))[0])


def _as_array(labels: list[Any]) -> Any:
    if not labels:
        raise ValueError("there are no tokens to learn from: every sentence is empty.")
    if any(isinstance(label, str) for label in labels) and not all(isinstance(la, str) for la in labels):
        kinds = sorted({type(label).__name__ for label in labels})
        raise TypeError(f"Labels must all be of one kind, but y mixes {' and '.join(kinds)}.")
    array = np.asarray(labels)
    if array.ndim != 1 or array.dtype.kind not in "iubU":
        raise TypeError(f"labels are text or whole numbers; got {labels[0]!r}.")
    return array


def numbered(y: Any, classes: Classes, n_tokens: int) -> Ids:
    """The index of each label; −1 for those that are not among the classes."""
    index = defaultdict(lambda: -1, {label: i for i, label in enumerate(classes.labels.tolist())})
    return np.fromiter(map(index.__getitem__, chain.from_iterable(y)), np.int32, n_tokens)


def check_known(x: Sequences, labels: Ids, y: Any, classes: Classes) -> None:
    """Reject labels that are not among the classes, and name the sentence and token."""
    unknown = np.flatnonzero(labels < 0)
    if not len(unknown):
        return
    t = int(unknown[0])
    s = int(np.searchsorted(x.starts, t, side="right")) - 1
    at = t - int(x.starts[s])
    listed = ", ".join(map(repr, classes.labels[:20].tolist()))
    raise ValueError(
        f"sentence {s}, token {at}: the label {y[s][at]!r} was not declared; known are {listed}."
    )
