"""Files as shards: every worker reads its own in every epoch; rows never pass through the client.

Before training, the workers make one pass to collect what the client must know: labels, numbers of rows, and
columns. Columns are numbered as if one reader had read the files in sequence, so the findings of the workers
are merged in the files' order.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any
from uuid import uuid4

import numpy as np

from distributed import Future
from novikoff.data.labels import Classes, Labels, Renaming, as_text, counts_of, declared_number, whole
from novikoff.data.scaling import ColumnSums, Scaling
from novikoff.data.sources.bytestream import each_path
from novikoff.data.sources.columns import TableFeatures
from novikoff.data.sources.features import Features, NamedFeatures, NumberedFeatures, State
from novikoff.data.sources.formats import open_source
from novikoff.data.sources.source import Skipped, Source
from novikoff.data.sources.text import NoRows
from novikoff.data.state import features_from_state, features_state
from novikoff.data.text_labels import taken, text_array
from novikoff.distributed import tasks
from novikoff.distributed.cluster import Session
from novikoff.distributed.linear_shard import Shard, file_examples
from novikoff.distributed.loading import Found, Predictor
from novikoff.distributed.shards import Shards, grouped, met, seen, weights_by_class
from novikoff.training.plan import Plan
from novikoff.training.streaming import SourceExamples
from novikoff.training.weights import Model, Scorer


# ---- at the client -------------------------------------------------------------------------------------
def are_paths(X: Any) -> bool:
    """Whether X names files."""
    if isinstance(X, str | os.PathLike):
        return True
    return isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(p, str | os.PathLike) for p in X)


def file_names(paths: Any) -> list[str]:
    """The absolute name of every file, so that workers in another folder find it; expands patterns."""
    return [os.path.abspath(os.fsdecode(path)) for path in each_path(paths)]  # noqa: PTH100


def load_files(
    session: Session,
    paths: Any,
    n_shards: int | None,
    classes: Any,
    class_weight: Any,
    options: dict[str, Any],
    known: Classes | None,
    *,
    rename: Renaming | None = None,
    scale: str | None = None,
) -> Shards:
    """Shards that are read by the workers. Option `features`: of a model that is trained further.

    `rename` is applied to labels before anything else; `scale` is measured over all shards.
    """
    names = file_names(paths)
    groups = [tuple(names[k] for k in group) for group in grouped(len(names), n_shards, "file")]
    options = {"n_jobs": 1} | options  # other workers share the machine
    given: Features | None = options.pop("features", None)
    state = None if given is None else features_state(given)
    if state is None:
        state = _recipe(session, groups, options)
    fixed = given is not None
    rename = rename or Renaming()
    found = session.gather([session.submit(survey, own, options, state, fixed, rename) for own in groups])
    features = given or _together(found, state)
    labels = [one.found for one in found]
    if known is None:
        known = met(labels, None if classes is None else _as_read(classes, labels))
        known = Classes(whole(known.labels) if known.labels.dtype.kind == "f" else known.labels)
    else:
        known = met(labels, None, known)
    by_class = None
    if class_weight is not None:
        by_text = class_weight
        if isinstance(class_weight, dict):
            by_text = {as_text(label): float(value) for label, value in class_weight.items()}
            by_text = {c: by_text.get(as_text(c), 1.0) for c in known.labels.tolist()}
        weights = weights_by_class(by_text, known.labels, labels)
        assert weights is not None
        by_class = {as_text(c): float(w) for c, w in zip(known.labels.tolist(), weights, strict=True)}
    columns = session.submit(tasks.given, (uuid4().hex, features_state(features)))
    scaling = None
    if scale == "unit":
        scaling = Scaling(scale)
    elif scale is not None:
        sums = session.gather([session.submit(column_sums, own, options, columns) for own in groups])
        for more in sums[1:]:  # merged in the files' order
            sums[0].join(more)
        scaling = sums[0].scaling(scale, features)
    shared = session.submit(tasks.given, (known.labels, by_class, rename, scaling))
    shards: list[Future] = [
        session.submit(file_shard, one.found.name, own, one.found.n_rows, options, columns, shared)
        for own, one in zip(groups, found, strict=True)
    ]
    features.fixed = True
    together = Skipped()
    for one in found:
        together.count += one.skipped.count
        together.first += one.skipped.first[: 10 - len(together.first)]
    return Shards(
        shards,
        known,
        features.n_columns,
        [one.found.n_rows for one in found],
        features=features,
        are_files=True,
        seen=seen(labels),
        format=next((one.format for one in found if one.format), ""),
        skipped=together,
        scaling=scaling,
    )


def _as_read(classes: Any, found: Sequence[Found]) -> Any:
    """Declared classes in the form found in the files: numbers or text."""
    if any(one.labels.dtype.kind == "f" and len(one.labels) for one in found):
        try:
            return [declared_number(label) for label in classes]
        except ValueError:
            raise ValueError(
                f"the declared classes are {list(classes)}, but the labels are numbers that doubles hold."
            ) from None
    return [as_text(label) for label in classes]


def _recipe(session: Session, groups: Sequence[tuple[str, ...]], options: dict[str, Any]) -> State | None:
    """The columns of tables, from the first file that has rows; None for other formats."""
    for own in groups:
        state: tuple[bool, State | None] = session.submit(look, own, options).result()
        if state[0]:
            return state[1]
    return None


def _together(found: Sequence[InFile], recipe: State | None) -> Features:
    """The columns of all files, numbered in the files' order."""
    states = [one.features for one in found if one.features is not None]
    if not states:
        raise ValueError("there are no rows to learn from: every file is empty.")
    parts = [features_from_state(*state, None) for state in states]
    first = parts[0] if recipe is None else features_from_state(*recipe, None)
    first.fixed = False
    for part in parts:
        if isinstance(first, NumberedFeatures) and isinstance(part, NumberedFeatures):
            first.widen(part.n_columns)
        elif type(first) is type(part):
            ours = first.vocabulary if isinstance(first, TableFeatures) else first
            theirs = part.vocabulary if isinstance(part, TableFeatures) else part
            assert isinstance(ours, NamedFeatures) and isinstance(theirs, NamedFeatures)
            ours.fixed = False
            ours.place(theirs.kept_names())
        else:
            raise ValueError(
                f"files have {first.kind} and {part.kind} features, but all must be of one format."
            )
    return first


# ---- on the workers ------------------------------------------------------------------------------------
@dataclass(frozen=True)
class InFile:
    """The findings about the files of a shard."""

    found: Found
    features: State | None  # None: there are no rows
    format: str = ""
    skipped: Skipped = field(default_factory=Skipped)


def _name(paths: Sequence[str]) -> str:
    return paths[0] if len(paths) == 1 else f"{paths[0]} to {paths[-1]}"


def _open(paths: Sequence[str], options: dict[str, Any], features: Features | None = None) -> Source | None:
    """The files as a source; None if they are empty."""
    filled = [path for path in paths if os.stat(path).st_size]  # noqa: PTH116
    return open_source(filled, features=features, **options) if filled else None


def look(paths: Sequence[str], options: dict[str, Any]) -> tuple[bool, State | None]:
    """Whether the files are not empty, and their columns if they are tables."""
    with tasks.named(_name(paths)):
        source = _open(paths, options)
        is_table = source is not None and isinstance(source.features, TableFeatures)
        return source is not None, features_state(
            source.features
        ) if source is not None and is_table else None


def survey(
    paths: Sequence[str], options: dict[str, Any], state: State | None, fixed: bool, rename: Renaming
) -> InFile:
    """One pass over the files for what the client must know."""
    with tasks.named(_name(paths)):
        features = None if state is None else features_from_state(*state, None)
        if features is not None:
            features.fixed = fixed
            if isinstance(features, TableFeatures):
                features.vocabulary.fixed = fixed
        counts: Counter[Any] = Counter()
        source = _open(paths, options, features)
        try:
            for block in source.blocks(reuse=True) if source is not None else ():
                if block.labels is None:
                    raise ValueError(f"{block.where(0)}: there is no label to learn from.")
                labels = block.labels if block.weights is None else block.labels[block.weights > 0]
                counts.update(counts_of(rename(labels)))
        except NoRows:
            source = None
        different = sorted(counts)
        has_text = bool(different) and isinstance(different[0], str)
        distinct: Labels = text_array(different) if has_text else np.array(different)
        own = Found(
            _name(paths),
            counts.total(),
            0 if source is None else source.features.n_columns,
            distinct,
            tuple(counts[label] for label in distinct.tolist()),
        )
        if source is None:
            return InFile(own, None)
        state = None if fixed else features_state(source.features)
        return InFile(own, state, source.format, source.skipped)


_own = threading.local()


def _features(name: str, state: State) -> Features:
    """The features from a state: made once per thread, not once per epoch."""
    held: tuple[str, Features] | None = getattr(_own, "features", None)
    if held is None or held[0] != name:
        held = _own.features = name, features_from_state(*state, None)
    return held[1]


@dataclass(frozen=True)
class FileShard(Shard):
    """Files that are read again in every epoch, in their order, with a few blocks in memory at a time."""

    name: str
    paths: tuple[str, ...]
    n_rows: int
    options: dict[str, Any]
    columns: tuple[str, State]  # a name for the features, and their data
    shared: tuple[Labels, dict[str, float] | None, Renaming, Scaling | None]

    def examples(self, plan: Plan, model: Model) -> SourceExamples:
        source = _open(self.paths, self.options, _features(*self.columns))
        assert source is not None
        classes, class_weight, rename, scaling = self.shared
        return file_examples(source, classes, class_weight, rename, scaling)

    def digest(self) -> str:
        source = _open(self.paths, self.options, _features(*self.columns))
        classes, class_weight, rename, scaling = self.shared
        how = sorted(self.options.items()), classes.tolist(), class_weight, rename, scaling and scaling.kind
        return blake2b(f"{source and source.digest()} {how}".encode(), digest_size=32).hexdigest()


def file_shard(name: str, paths: tuple[str, ...], n_rows: int, *rest: Any) -> FileShard:
    """A shard of files, which are not opened yet."""
    return FileShard(name, paths, n_rows, *rest)


def column_sums(paths: Sequence[str], options: dict[str, Any], columns: tuple[str, State]) -> ColumnSums:
    """One pass over the files to measure their scale."""
    with tasks.named(_name(paths)), suppress(NoRows):
        sums, source = ColumnSums(), _open(paths, options, _features(*columns))
        for block in source.blocks(reuse=True) if source is not None else ():
            sums.add(block.X, block.where)
        return sums
    return ColumnSums()


def predict_file(predictor: Predictor, state: State, path: str, options: dict[str, Any], what: str) -> Any:
    """The labels or scores of a file's rows."""
    with tasks.named(path):
        features = features_from_state(*state, None)
        source = _open([path], {"labelled": False} | options, features)
        scorer = Scorer.from_weights(predictor.coef, predictor.intercept)
        each = []
        for block in source.blocks(reuse=True) if source is not None else ():
            each.append(getattr(scorer, what)(block.X))
        if not each:
            wide = () if what == "predict" or len(predictor.classes) == 2 else (len(predictor.classes),)
            each = [np.zeros((0, *wide), dtype=np.int32 if what == "predict" else np.float64)]
        joined = np.concatenate(each)
        return taken(predictor.classes, joined) if what == "predict" else joined
