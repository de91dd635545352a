"""Sentences as shards: lists from the client, split into shards; or files that the workers read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from distributed import Future
from novikoff.data.labels import Labels
from novikoff.data.sources.features import State
from novikoff.data.state import features_from_state, features_state
from novikoff.data.text_labels import text_array
from novikoff.distributed import tasks
from novikoff.distributed.cluster import Session
from novikoff.distributed.files import file_names
from novikoff.distributed.tagging_shard import SentenceShard, together
from novikoff.tagging import constraints, reading
from novikoff.tagging import training as tagging
from novikoff.tagging.chain import Allowed
from novikoff.tagging.conll import joined as joined_sequences
from novikoff.tagging.conll import read_sentences
from novikoff.tagging.features import SequenceFeatures
from novikoff.tagging.merging import joined
from novikoff.tagging.sequences import Offsets, Sequences


@dataclass
class Sentences:
    """Shards of sentences on a cluster, and their combined content."""

    futures: list[Future]
    classes: Labels
    features: SequenceFeatures
    allowed: Allowed


# ---- lists ---------------------------------------------------------------------------------------------
def load_lists(
    session: Session,
    X: Any,
    y: Any,
    features: SequenceFeatures,
    n_shards: int | None,
    min_count: int,
    transitions: str,
) -> Sentences:
    """Sentences in memory, split into shards of equal numbers of consecutive sentences."""
    if n_shards is None:
        raise ValueError(
            "n_shards=None is not possible for a list of sentences: give the number of shards. The "
            "result depends on that number, but not on the cluster."
        )
    x = reading.sequences(X, features)
    reading.check_lengths(x, y)
    classes = reading.found_labels(y)
    labels = reading.numbered(y, classes, x.n_tokens)
    allowed = constraints.allowed(transitions, classes.labels.tolist(), x, labels)
    x, features = reading.frequent(x, features, min_count)
    features.fixed = True
    cuts = [len(x) * k // n_shards for k in range(n_shards + 1)]
    futures = []
    for a, b in pairwise(cuts):
        shard = SentenceShard(f"sentences {a} to {b - 1}", *tagging.subset(x, labels, np.arange(a, b)))
        futures.append(session.submit(tasks.given, shard))
    return Sentences(futures, classes.labels, features, allowed)


# ---- files ---------------------------------------------------------------------------------------------
Piece = tuple[str, int, int]  # a file, and which of its sentences: from, to


def load_files(
    session: Session,
    paths: Any,
    features: SequenceFeatures,
    n_shards: int | None,
    min_count: int,
    transitions: str,
    options: dict[str, Any],
) -> Sentences:
    """Sentences of files, read by the workers: one shard per file, or all sentences split into `n_shards`.

    One pass over the files before training collects what the client must know: labels, features and the
    numbers of their occurrences.
    """
    names = file_names(paths)
    recipe = features_state(features)
    found: list[Found] = session.gather([session.submit(survey, name, recipe, options) for name in names])
    classes = text_array(sorted({label for one in found for label in one.classes.tolist()}))
    features, counts = _together(features, found)
    kept = None
    if min_count > 1:
        kept = counts >= min_count
        if features.hash_bits is None:
            features, kept = features.some(kept), None
    features.fixed = True
    shared = session.submit(tasks.given, (features_state(features), kept, classes, options))
    futures = [
        session.submit(read_shard, own, shared)
        for own in _pieces(names, [one.n_sentences for one in found], n_shards)
    ]
    listed = classes.tolist()
    each = session.gather([session.submit(shard_allowed, transitions, one, listed) for one in futures])
    return Sentences(futures, classes, features, together(each))


def _together(features: SequenceFeatures, found: Sequence[Found]) -> tuple[SequenceFeatures, Offsets]:
    """The features of all files, numbered in the files' order, and how often each occurs."""
    if features.hash_bits is not None:
        return features, np.sum([one.counts for one in found], axis=0)
    features, numbers = joined([_features(one.features) for one in found])
    counts = np.zeros(features.n_columns, dtype=np.int64)
    for one, own in zip(found, numbers, strict=True):
        counts[own] += one.counts
    return features, counts


def _features(state: State) -> SequenceFeatures:
    features = features_from_state(*state, None, trust_patterns=True)  # made by the client
    assert isinstance(features, SequenceFeatures)
    return features


def _pieces(names: Sequence[str], sizes: Sequence[int], n_shards: int | None) -> list[list[Piece]]:
    """Which sentences of which files make each shard.

    >>> _pieces(["a", "b"], [3, 5], 2)
    [[('a', 0, 3), ('b', 0, 1)], [('b', 1, 5)]]
    >>> _pieces(["a", "b"], [3, 5], None)
    [[('a', 0, 3)], [('b', 0, 5)]]
    """
    if n_shards is None:
        return [[(name, 0, size)] for name, size in zip(names, sizes, strict=True)]
    starts = [0, *accumulate(sizes)]
    total = starts[-1]
    shards = []
    for k in range(n_shards):
        a, b = total * k // n_shards, total * (k + 1) // n_shards
        shards.append(
            [
                (name, max(a - begin, 0), min(b - begin, size))
                for name, begin, size in zip(names, starts, sizes, strict=False)
                if max(a, begin) < min(b, begin + size)
            ]
        )
    return shards


# ---- on the workers ------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Found:
    """What the client must know about a file."""

    n_sentences: int
    classes: Labels
    counts: Offsets  # how often each feature occurs
    features: State


def survey(path: str, recipe: State, options: dict[str, Any]) -> Found:
    """One pass over a file."""
    with tasks.named(path):
        features = _features(recipe)
        features.fixed = False
        x, labels, classes = read_sentences(path, features, **options)
        if labels is None:
            raise ValueError("there are no labels to learn from.")
        counts = np.bincount(x.ids, minlength=features.n_columns)
        return Found(len(x), classes, counts, features_state(features))


def read_shard(pieces: Sequence[Piece], shared: tuple[State, Any, Labels, dict[str, Any]]) -> SentenceShard:
    """The sentences of a shard, read from its files."""
    state, kept, classes, options = shared
    features = _features(state)
    xs, ys = [], []
    for path, begin, end in pieces:
        with tasks.named(path):
            x, labels, found = read_sentences(path, features, **options)
        assert labels is not None
        x, labels = tagging.subset(x, labels, np.arange(begin, end))
        xs.append(x if kept is None else x.renumbered(np.where(kept, np.arange(len(kept)), -1)))
        ys.append(np.searchsorted(classes, found).astype(np.int32)[labels])
    name = ", ".join(f"sentences {a} to {b - 1} of {path}" for path, a, b in pieces) or "an empty shard"
    if not xs:
        return SentenceShard(name, *_nothing())
    return SentenceShard(name, joined_sequences(xs), np.concatenate(ys))


def _nothing() -> tuple[Any, Any]:
    zero = np.zeros(1, dtype=np.int64)
    none = np.zeros(0, dtype=np.int32)
    return Sequences(zero, zero, none), none


def shard_allowed(transitions: str, shard: SentenceShard, classes: list[Any]) -> Allowed:
    """The transitions allowed by this shard alone."""
    with tasks.named(shard.name):
        return constraints.allowed(transitions, classes, shard.x, shard.labels)
