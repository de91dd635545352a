"""Checkpoints: the saved state of an unfinished fit. A resumed fit ends with the same bits.

A checkpoint holds everything that later decisions depend on: the model with its counts, the classes seen so
far, the scaling, the position in the current epoch, and the history of earlier epochs. Feature names are not
stored: columns are numbered in the order of the rows, which are read again. The file is replaced atomically,
so a process killed at any moment leaves either the latest checkpoint or the previous one.

`CheckpointFile` is the file, whatever its content; `Checkpoint` is for a fit that reads a source.
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
    """The attributes of streamed examples that a checkpoint needs."""

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
    """Where the state of an unfinished fit is stored, and to which fit it belongs.

    Parameters
    ----------
    folder : Path
        Created if it does not exist.
    parameters : dict
        The parameters of the fit that affect its outcome. A fit with other parameters is not resumed from
        this checkpoint.
    """

    folder: Path
    parameters: dict[str, Any] = field(default_factory=dict)

    kind = "checkpoint"  # as stored in the file

    @property
    def path(self) -> Path:
        return self.folder / "checkpoint.novikoff"

    def exists(self) -> bool:
        return self.path.exists()

    def remove(self) -> None:
        """Delete the file, when the fit has ended."""
        self.path.unlink(missing_ok=True)

    def write(self, source: dict[str, Any], facts: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Replace the checkpoint by these facts and arrays; `source` identifies the data."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_file(self.path, facts | {"parameters": self.parameters, "source": source}, arrays, self.kind)

    def read(self, source: dict[str, Any], name: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """The facts and arrays; a ValueError if they belong to another fit or to other data than `source`."""
        facts, arrays = read_file(self.path, self.kind)
        kept, now = facts.get("parameters"), parse(canonical(self.parameters).encode())
        if not isinstance(kept, dict):
            raise ValueError(
                f"{self.path}: the checkpoint does not identify its fit; remove it to start again."
            )
        kept = {key: _default_of(key) for key in now} | kept  # older versions lack some
        changed = [key for key in sorted({*kept, *now}) if kept.get(key) != now.get(key)]
        if changed:
            listed = ", ".join(f"{key} was {kept.get(key)!r} and is {now.get(key)!r}" for key in changed)
            raise ValueError(f"{self.path}: the checkpoint belongs to another fit: {listed}.")
        if facts.get("source") != source:
            raise ValueError(f"{self.path}: the checkpoint belongs to other data than those of {name}.")
        return facts, arrays

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turn any error in reading facts and arrays into a ValueError of one line."""
        try:
            yield
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
            reason = " ".join(str(error).split())[:200]
            raise ValueError(
                f"{self.path}: the checkpoint cannot be read ({reason}); remove it to start again."
            ) from None


@dataclass
class Checkpoint(CheckpointFile):
    """The checkpoint of a fit that reads a source, written every `every` rows.

    Parameters
    ----------
    every : int
        Rows between two checkpoints.
    """

    every: int = 1_000_000
    _last: tuple[int, int] = (0, 0)  # epoch and row of the last one
    _digest: str = ""

    def after_block(self, trainer: LinearTrainer, examples: StreamedExamples, rows: int) -> None:
        """Write a checkpoint if one is due; `rows` of the epoch are done."""
        epoch, row = self._last
        if examples.epochs != epoch:
            row = 0
        if rows - row >= self.every:
            self.save(trainer, examples, rows)
            self._last = examples.epochs, rows

    def save(self, trainer: LinearTrainer, examples: StreamedExamples, rows: int) -> None:
        """Write a checkpoint now."""
        self._digest = self._digest or examples.source.digest()
        source = {"digest": self._digest, "size": examples.source.size}
        classes = np.asarray(examples.classes.labels)
        parts = {
            "model": training_state.model_state(trainer.model, under_way=True),
            "classes": data_state.classes_state(classes),
        }
        if examples.scaling is not None:
            parts["scaling"] = examples.scaling.state()
        facts: dict[str, Any] = {name: stated for name, (stated, _) in parts.items()}
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
        if trainer.proofs:
            parts["proofs"] = training_state.proofs_state(trainer.proofs)
            facts["proofs"] = parts["proofs"][0]
        if trainer.digest is not None:
            facts["digest"] = [f"{trainer.digest.value:016x}", trainer.digest.count]
        arrays: dict[str, Any] = {}
        for name, (_, held) in parts.items():
            arrays |= checks.under(name, held)
        self.write(source, facts, arrays)

    def restore(self, trainer: LinearTrainer, examples: StreamedExamples) -> None:
        """Restore the state of the fit when the checkpoint was written.

        Raises a ValueError if the checkpoint belongs to another fit or is damaged; then discard the fit.
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
        """Check the whole state, then change the fit."""
        part = partial(checks.part, facts, arrays)
        model = training_state.model_from_state(*part("model"))
        labels = data_state.classes_from_state(*part("classes"), checks.count(facts, "n_labels"))
        scaling = data_state.scaling_from_state(*part("scaling")) if "scaling" in facts else None
        weight = facts.get("class_weight")
        if weight is not None:
            weights = checks.fact(facts, "class_weight", dict)
            weight = {label: checks.number(weights, label, 0.0) for label in weights}
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
        proofs = training_state.proofs_from_state(*part("proofs")) if "proofs" in facts else {}
        seen = checks.digest_of_rows(facts, "digest") if "digest" in facts else None
        examples.classes.classes = Classes(labels if is_text(labels) else labels.astype(np.float64))
        examples.classes.seen = None
        examples.scaling, examples.class_weight, examples.surveyed = scaling, weight, surveyed
        examples.heaviest, examples.visited, examples.skip = heaviest, visited, rows
        trainer.model, trainer.history, examples.epochs = model, history, len(history)
        trainer.proofs = proofs
        trainer.checked = examples.epochs > 0
        trainer.before = before[0], before[1]
        trainer.began, trainer.settled_at, examples.weighted = began, settled, weighted
        if seen is None:  # a checkpoint of an earlier version
            trainer.digest = None
        elif trainer.digest is not None:
            trainer.digest.value, trainer.digest.count = seen


def _pairs(facts: dict[str, Any], name: str) -> dict[int, int]:
    """A dictionary from integers to integers."""
    pairs = [checks.counts({name: pair}, name, 2) for pair in checks.fact(facts, name, list)]
    return {pair[0]: pair[1] for pair in pairs}


def _default_of(name: str) -> Any:
    """The default of a parameter, as read back from JSON."""
    for table in (FILE_PARAMETERS, DISTRIBUTED_PARAMETERS, DISTRIBUTED_TAGGER_PARAMETERS):
        if name in table:
            return parse(canonical(table[name].default).encode())
    return None
