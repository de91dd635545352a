"""The common part of file models that predict the class of a row."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

import numpy.typing as npt

from novikoff.data import state as data_state
from novikoff.data.sources.block import Block
from novikoff.data.sources.features import Features
from novikoff.data.text_labels import taken
from novikoff.modelfile import checks
from novikoff.modelfile.container import Arrays, Facts, is_of_kernels, read_model, write_file
from novikoff.training import state as training_state
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

    _of_kernels: ClassVar[bool]  # the kind of model that its file must state
    _otherwise: ClassVar[str]  # the error message for a file of the other kind

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
            parts["run"] = training_state.run_state(self.run)
        facts, arrays = checks.together(parts)
        facts |= {"parameters": self.parameters, "name": self.name, "order": self.order}
        write_file(path, facts | self._more_facts(), arrays, "model")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a model of this kind from a file."""
        return cls.read(path, read_model(path))

    @classmethod
    def read(cls, path: str | os.PathLike[str], model: tuple[Facts, Arrays]) -> Self:
        """The model in a file that has already been read."""
        try:
            if is_of_kernels(model[0]) != cls._of_kernels:
                raise ValueError(cls._otherwise)
            return cls.from_state(*model)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None

    @classmethod
    @abstractmethod
    def from_state(cls, facts: Facts, arrays: Arrays) -> Self:
        """The model given by a file's facts and arrays; a ValueError if they do not fit together."""
