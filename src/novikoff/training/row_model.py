"""The common part of file models that predict the class of a row."""

from __future__ import annotations

import os
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

import numpy.typing as npt

from novikoff import _core
from novikoff.data import state as data_state
from novikoff.data.one_row import plain_row, row_of, row_reader
from novikoff.data.sources.block import Block
from novikoff.data.sources.features import Features
from novikoff.data.text_labels import taken
from novikoff.modelfile import checks
from novikoff.modelfile.container import Arrays, Facts, is_of_kernels, read_model, write_file
from novikoff.training import state as training_state
from novikoff.training.report import Report
from novikoff.training.run import Record, Run
from novikoff.training.weights import Floats, Ints

Labels = npt.NDArray[Any]


class RowModel(ABC):
    """Abstract: a model with its classes, features, scaling and history."""

    classes: Labels
    features: Features
    scaling: Any
    parameters: dict[str, Any]
    run: Run | None
    name: str
    order: str

    _kind: ClassVar[str] = "model"  # of its file
    _of_kernels: ClassVar[bool] = False  # what a file of a "model" must hold
    _otherwise: ClassVar[str] = ""  # the error message for a "model" of the other sort
    _made: ClassVar[tuple[str, ...]] = ("_reader",)  # on demand, and not part of the model
    _reader: tuple[int, _core.RowReader] | None = None  # for so many columns

    @property
    def report(self) -> Report | None:
        """The report of the run that made it, if there is one."""
        return None

    @property
    def history(self) -> list[Record]:
        """One record per epoch."""
        return [] if self.run is None else self.run.history

    # -- using it
    @abstractmethod
    def places(self, X: Any, n_jobs: int | None = None) -> Ints:
        """The class of each row as its index in `classes`."""

    @abstractmethod
    def scores(self, X: Any, n_jobs: int | None = None) -> Floats:
        """Scores: (n,) for two classes, (n, classes) for more."""

    @abstractmethod
    def places_and_scores(self, X: Any, n_jobs: int | None = None) -> tuple[Ints, Floats]:
        """Both, in one pass over the rows."""

    def predict(self, X: Any, n_jobs: int | None = None) -> Labels:
        """The class of each row of an array or CSR matrix."""
        return taken(self.classes, self.places(X, n_jobs))

    def predict_one(self, x: Any) -> Any:
        """The class of one row: a dict from feature to value, or one number per column of the model.

        The decision is that of `predict` on the same row, exactly. A dict is read as the model's files are:

        - of features with names, a number under k is feature k, and a string v is feature k=v; features that
          the model does not know, and those whose value is None, are left out, and those that the dict lacks
          are 0;
        - of a table, the dict has a value for every column that makes features, where None is a missing
          value; a column that is missing is an error, and further ones are left out;
        - of numbered features, a key is such a number.

        NaN and infinity are refused.
        """
        x = plain_row(x)
        row = row_of(x, self._row_reader(), self.features.n_columns)
        if row is None:  # dates and times are read with the rules of frames
            row = [x]
        place = int(self.places(row)[0])
        return self.classes[place : place + 1].tolist()[0]

    def _row_reader(self) -> _core.RowReader:
        """What reads dicts; remade when the model has more columns."""
        n = self.features.n_columns
        if self._reader is None or self._reader[0] != n:
            self._reader = n, row_reader(self.features)
        return self._reader[1]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in self._made}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map('='.join, self._shown().items()))})"

    def _shown(self) -> dict[str, str]:
        """What the one line that shows the model says, by name."""
        shown = {"name": repr(self.name), "n_features": str(self.features.n_columns)}
        shown["classes"] = reprlib.repr(self.classes.tolist())
        return shown if self.scaling is None else shown | {"scaling": repr(self.scaling.kind)}

    def predict_and_score(self, X: Any, n_jobs: int | None = None) -> tuple[Labels, Floats]:
        """Classes and scores, in one pass over the rows."""
        places, scores = self.places_and_scores(X, n_jobs)
        return taken(self.classes, places), scores

    def predict_blocks(self, blocks: Iterable[Block], n_jobs: int | None = None) -> Iterator[Labels]:
        """The classes of the rows, one array per block."""
        return (self.predict(block.X, n_jobs) for block in blocks)

    def score_blocks(self, blocks: Iterable[Block], n_jobs: int | None = None) -> Iterator[Floats]:
        """The scores of the rows, one array per block."""
        return (self.scores(block.X, n_jobs) for block in blocks)

    # -- files
    @abstractmethod
    def _learned_state(self) -> dict[str, checks.State]:
        """The learned state, by the name of its part of the file."""

    def _run_state(self, run: Run) -> checks.State:
        """The state of the run."""
        return training_state.run_state(run)

    def _more_facts(self) -> Facts:
        """Further facts for the file."""
        return {}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file atomically; equal models give equal files.

        The file holds data only. `seconds` are omitted from the history, so it depends only on the model.
        """
        parts = self._learned_state() | {
            "classes": data_state.classes_state(self.classes),
            "features": data_state.features_state(self.features),
        }
        if self.scaling is not None:
            parts["scaling"] = self.scaling.state()
        if self.run is not None:
            parts["run"] = self._run_state(self.run)
        facts, arrays = checks.together(parts)
        facts |= {"parameters": self.parameters, "name": self.name, "order": self.order}
        write_file(path, facts | self._more_facts(), arrays, self._kind)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a model of this kind from a file."""
        return cls.read(path, read_model(path, cls._kind))

    @classmethod
    def read(cls, path: str | os.PathLike[str], model: tuple[Facts, Arrays]) -> Self:
        """The model in a file that has already been read."""
        try:
            if cls._kind == "model" and is_of_kernels(model[0]) != cls._of_kernels:
                raise ValueError(cls._otherwise)
            return cls.from_state(*model)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None

    @classmethod
    @abstractmethod
    def from_state(cls, facts: Facts, arrays: Arrays) -> Self:
        """The model given by a file's facts and arrays; a ValueError if they do not fit together."""
