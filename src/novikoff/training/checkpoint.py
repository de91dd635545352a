"""Checkpoints: a fit under way, kept so that it can be taken up again and end with the very same bits.

A checkpoint holds everything that later decisions depend on: the model with its counts, the classes met so
far, the scaling, how many rows of which epoch are done, and what the epochs before did. Names need not be
kept: they get their columns in the order of the rows, and the rows are read again. It is replaced as a whole,
so that a process killed at any moment leaves the last one or the one before.

`CheckpointFile` is the file, whatever is kept in it; `Checkpoint` a fit that reads a source.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from novikoff.data import state as data_state
from novikoff.data.labels import Classes, StreamClasses
from novikoff.data.scaling import Scaling
from novikoff.data.sources.source import Source
from novikoff.data.text_labels import is_text
from novikoff.modelfile import checks
from novikoff.modelfile.container import canonical, parse, read_file, write_file
from novikoff.parameters.commands import FILE_PARAMETERS
from novikoff.parameters.distributed import DISTRIBUTED_PARAMETERS, DISTRIBUTED_TAGGER_PARAMETERS
from novikoff.training import state as training_state
from novikoff.training.linear import LinearTrainer


class StreamedExamples(Protocol):
    """What a checkpoint has to know of the examples of a stream."""

    source: Source
    classes: StreamClasses
    scaling: Scaling | None
    class_weight: dict[str, float] | None
    surveyed: bool
    heaviest: float
    weighted: bool
    epochs: int
    skip: int
    visited: int


@dataclass
class CheckpointFile:
    """Where a fit under way is kept, and of which fit it is.

    Parameters
    ----------
    folder : Path
        Made when it is not there.
    parameters : dict
        How the fit was asked for, as far as it matters to the outcome: a fit asked for in another way does
        not go on from this checkpoint.
    """

    folder: Path
    parameters: dict[str, Any] = field(default_factory=dict)

    kind = "checkpoint"  # what the file says it holds

    @property
    def path(self) -> Path:
        return self.folder / "checkpoint.novikoff"

    def exists(self) -> bool:
        return self.path.exists()

    def remove(self) -> None:
        """The fit has come to its end."""
        self.path.unlink(missing_ok=True)

    def write(self, source: dict[str, Any], facts: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Replace the checkpoint by these facts and arrays of a fit on `source`: what tells the data."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_file(self.path, facts | {"parameters": self.parameters, "source": source}, arrays, self.kind)

    def read(self, source: dict[str, Any], name: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """What was written last; a ValueError where it is of another fit, or of other data than `source`."""
        facts, arrays = read_file(self.path, self.kind)
        kept, now = facts.get("parameters"), parse(canonical(self.parameters).encode())
        if not isinstance(kept, dict):
            raise ValueError(
                f"{self.path}: the checkpoint does not identify its fit; remove it to start again."
            )
        kept = {key: _default_of(key) for key in now} | kept  # what an older version did not know was so
        changed = [key for key in sorted({*kept, *now}) if kept.get(key) != now.get(key)]
        if changed:
            listed = ", ".join(f"{key} was {kept.get(key)!r} and is {now.get(key)!r}" for key in changed)
            raise ValueError(f"{self.path}: the checkpoint belongs to another fit: {listed}.")
        if facts.get("source") != source:
            raise ValueError(f"{self.path}: the checkpoint belongs to other data than {name} holds now.")
        return facts, arrays

    @contextmanager
    def reading(self) -> Iterator[None]:
        """What cannot be made of facts and arrays, whatever they are, is a ValueError in one line."""
        try:
            yield
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
            said = " ".join(str(error).split())[:200]
            raise ValueError(
                f"{self.path}: the checkpoint cannot be read ({said}); remove it to start again."
            ) from None


@dataclass
class Checkpoint(CheckpointFile):
    """A fit that reads a source, kept after every so many rows.

    Parameters
    ----------
    every : int
        Rows between two checkpoints.
    """

    every: int = 1_000_000
    _last: tuple[int, int] = (0, 0)  # epoch and row of the last one
    _digest: str = ""

    def after_block(self, trainer: LinearTrainer, examples: StreamedExamples, rows: int) -> None:
        """Keep the fit when it is time to; `rows` of the epoch are done."""
        epoch, row = self._last
        if examples.epochs != epoch:
            row = 0
        if rows - row >= self.every:
            self.save(trainer, examples, rows)
            self._last = examples.epochs, rows

    def save(self, trainer: LinearTrainer, examples: StreamedExamples, rows: int) -> None:
        """Keep the fit now."""
        self._digest = self._digest or examples.source.digest()
        source = {"digest": self._digest, "size": examples.source.size}
        classes = np.asarray(examples.classes.labels)
        parts = {
            "model": training_state.model_state(trainer.model, under_way=True),
            "classes": data_state.classes_state(classes),
        }
        if examples.scaling is not None:
            parts["scaling"] = examples.scaling.state()
        facts: dict[str, Any] = {name: said for name, (said, _) in parts.items()}
        facts |= {
            "class_weight": examples.class_weight,
            "surveyed": examples.surveyed,
            "heaviest": examples.heaviest,
            "visited": examples.visited,
            "rows": rows,
            "n_labels": len(classes),
            "history": trainer.history,
            "before": list(trainer.before),
            "began": list(trainer.began.items()),
            "settled_at": list(trainer.settled_at.items()),
            "weighted": examples.weighted,
        }
        if trainer.digest is not None:
            facts["digest"] = [f"{trainer.digest.value:016x}", trainer.digest.count]
        arrays: dict[str, Any] = {}
        for name, (_, held) in parts.items():
            arrays |= checks.under(name, held)
        self.write(source, facts, arrays)

    def restore(self, trainer: LinearTrainer, examples: StreamedExamples) -> None:
        """Put the fit where it was when the checkpoint was written.

        Raises a ValueError where the checkpoint belongs to another fit, or is not one; the fit is of no use then.
        """
        self._digest = examples.source.digest()
        source = {"digest": self._digest, "size": examples.source.size}
        facts, arrays = self.read(source, examples.source.name)
        with self.reading():
            self._restore_from(facts, arrays, trainer, examples)

    def _restore_from(
        self,
        facts: dict[str, Any],
        arrays: dict[str, Any],
        trainer: LinearTrainer,
        examples: StreamedExamples,
    ) -> None:
        """All of it, checked before the fit is touched."""
        part = partial(checks.part, facts, arrays)
        model = training_state.model_from_state(*part("model"))
        labels = data_state.classes_from_state(*part("classes"), checks.count(facts, "n_labels"))
        scaling = data_state.scaling_from_state(*part("scaling")) if "scaling" in facts else None
        weight = facts.get("class_weight")
        if weight is not None:
            said = checks.fact(facts, "class_weight", dict)
            weight = {label: checks.number(said, label, 0.0) for label in said}
        surveyed, heaviest = (
            checks.fact(facts, "surveyed", bool),
            checks.number(facts, "heaviest", 0.0),
        )
        visited, rows = checks.count(facts, "visited"), checks.count(facts, "rows")
        history, before = training_state.records(facts), checks.counts(facts, "before", 2)
        for record in history:
            checks.number(record, "norm", 0.0), checks.number(record, "seconds", 0.0)
        began, settled = _pairs(facts, "began"), _pairs(facts, "settled_at")
        weighted = "weighted" in facts and checks.fact(facts, "weighted", bool)
        seen = checks.digest_of_rows(facts, "digest") if "digest" in facts else None
        examples.classes.classes = Classes(labels if is_text(labels) else labels.astype(np.float64))
        examples.classes.seen = None
        examples.scaling, examples.class_weight, examples.surveyed = scaling, weight, surveyed
        examples.heaviest, examples.visited, examples.skip = heaviest, visited, rows
        trainer.model, trainer.history, examples.epochs = model, history, len(history)
        trainer.checked = examples.epochs > 0
        trainer.before = before[0], before[1]
        trainer.began, trainer.settled_at, examples.weighted = began, settled, weighted
        if seen is None:  # a checkpoint of an earlier version
            trainer.digest = None
        elif trainer.digest is not None:
            trainer.digest.value, trainer.digest.count = seen


def _pairs(facts: dict[str, Any], name: str) -> dict[int, int]:
    """Whole numbers by whole numbers."""
    pairs = [checks.counts({name: pair}, name, 2) for pair in checks.fact(facts, name, list)]
    return {pair[0]: pair[1] for pair in pairs}


def _default_of(name: str) -> Any:
    """The default of a parameter, as JSON says it."""
    for table in (FILE_PARAMETERS, DISTRIBUTED_PARAMETERS, DISTRIBUTED_TAGGER_PARAMETERS):
        if name in table:
            return parse(canonical(table[name].default).encode())
    return None
