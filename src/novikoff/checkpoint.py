"""Checkpoints: a fit under way, kept so that it can be taken up again and end with the very same bits.

A checkpoint holds everything that later decisions depend on: the model with its counts, the classes met so
far, the scaling, how many rows of which epoch are done, and what the epochs before did. Names need not be
kept: they get their columns in the order of the rows, and the rows are read again. It is replaced as a whole,
so that a process killed at any moment leaves the last one or the one before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from novikoff.labels import Classes, StreamClasses
from novikoff.models import modelstate
from novikoff.models.modelfile import read_file, write_file
from novikoff.scaling import Scaling
from novikoff.sources.source import Source
from novikoff.training import Fitting


class Passing(Protocol):
    """What a checkpoint has to know of the examples of a stream."""

    source: Source
    classes: StreamClasses
    scaling: Scaling | None
    class_weight: dict[str, float] | None
    surveyed: bool
    heaviest: float
    epochs: int
    skip: int
    visited: int


@dataclass
class Checkpoint:
    """Where a fit is kept, and how often.

    Parameters
    ----------
    folder : Path
        Made when it is not there.
    every : int
        Rows between two checkpoints.
    parameters : dict
        How the fit was asked for, as far as it matters to the outcome: a fit asked for in another way does
        not go on from this checkpoint.
    """

    folder: Path
    every: int = 1_000_000
    parameters: dict[str, Any] = field(default_factory=dict)
    _last: tuple[int, int] = (0, 0)  # epoch and row of the last one
    _digest: str = ""

    @property
    def path(self) -> Path:
        return self.folder / "checkpoint.novikoff"

    def exists(self) -> bool:
        return self.path.exists()

    def after_block(self, fitting: Fitting, passing: Passing, rows: int) -> None:
        """Keep the fit when it is time to; `rows` of the epoch are done."""
        epoch, row = self._last
        if passing.epochs != epoch:
            row = 0
        if rows - row >= self.every:
            self.save(fitting, passing, rows)
            self._last = passing.epochs, rows

    def save(self, fitting: Fitting, passing: Passing, rows: int) -> None:
        """Keep the fit now."""
        self._digest = self._digest or passing.source.digest()
        classes = np.asarray(passing.classes.labels)
        parts = {
            "model": modelstate.model_state(fitting.model, under_way=True),
            "classes": modelstate.classes_state(classes),
        }
        if passing.scaling is not None:
            parts["scaling"] = passing.scaling.state()
        facts: dict[str, Any] = {name: said for name, (said, _) in parts.items()}
        facts |= {
            "parameters": self.parameters,
            "source": {"digest": self._digest, "size": passing.source.size},
            "class_weight": passing.class_weight,
            "surveyed": passing.surveyed,
            "heaviest": passing.heaviest,
            "visited": passing.visited,
            "rows": rows,
            "n_labels": len(classes),
            "history": fitting.history,
            "before": list(fitting.before),
            "began": list(fitting.began.items()),
            "settled_at": list(fitting.settled_at.items()),
        }
        arrays: dict[str, Any] = {}
        for name, (_, held) in parts.items():
            arrays |= modelstate.under(name, held)
        self.folder.mkdir(parents=True, exist_ok=True)
        write_file(self.path, facts, arrays, "checkpoint")

    def restore(self, fitting: Fitting, passing: Passing) -> None:
        """Put the fit where it was when the checkpoint was written."""
        facts, arrays = read_file(self.path, "checkpoint")
        self._check_same(facts, passing.source)

        def part(name: str) -> tuple[dict[str, Any], Any]:
            return modelstate.fact(facts, name, dict), modelstate.sub(name, arrays)

        model = modelstate.model_from_state(*part("model"))
        labels = modelstate.classes_from_state(*part("classes"), modelstate.count(facts, "n_labels"))
        passing.classes.classes = Classes(labels if labels.dtype.kind == "U" else labels.astype(np.float64))
        passing.classes.seen = None
        passing.scaling = modelstate.scaling_from_state(*part("scaling")) if "scaling" in facts else None
        passing.class_weight, passing.surveyed = facts["class_weight"], facts["surveyed"]
        passing.heaviest, passing.visited = facts["heaviest"], facts["visited"]
        passing.skip = facts["rows"]
        fitting.model, fitting.history = model, facts["history"]
        passing.epochs = len(fitting.history)
        before = facts["before"]
        fitting.before = before[0], before[1]
        fitting.began = dict(facts["began"])
        fitting.settled_at = dict(facts["settled_at"])

    def _check_same(self, facts: dict[str, Any], source: Source) -> None:
        """Refuse another source, and other parameters."""
        kept, now = facts["parameters"], self.parameters
        changed = [name for name in sorted({*kept, *now}) if kept.get(name) != now.get(name)]
        if changed:
            listed = ", ".join(f"{name} was {kept.get(name)!r} and is {now.get(name)!r}" for name in changed)
            raise ValueError(f"{self.path}: the checkpoint is of another fit: {listed}.")
        self._digest = source.digest()
        if facts["source"] != {"digest": self._digest, "size": source.size}:
            raise ValueError(f"{self.path}: the checkpoint is of other data than {source.name} holds now.")

    def remove(self) -> None:
        """The fit has come to its end."""
        self.path.unlink(missing_ok=True)
