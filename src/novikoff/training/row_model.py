"""The common part of file models that predict the class of a row."""

from __future__ import annotations

import os
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from novikoff import _core
from novikoff.data import state as data_state
from novikoff.data.arrays import read_matrix
from novikoff.data.named_rows import rows_by_name
from novikoff.data.one_row import plain_row, row_of, row_reader
from novikoff.data.sources.block import Block, Csr
from novikoff.data.sources.features import Features
from novikoff.data.text_labels import taken
from novikoff.data.zero_tables import Indices
from novikoff.modelfile import checks
from novikoff.modelfile.container import Arrays, Facts, is_of_kernels, read_model, write_file
from novikoff.training import state as training_state
from novikoff.training.explanation import Explanation, TopFeatures, check_number, exact_sum
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
        place = self._best(x)
        return self.classes[place : place + 1].tolist()[0]

    def _best(self, x: Any) -> int:
        """The index of the class of one row."""
        return int(self.places(self._one_row(x))[0])

    def top_features(self, k: int = 20, label: Any = None) -> TopFeatures:
        """The k features with the largest positive weights, for every class or for this one.

        The weights are those that predict. Of two classes the first has the second's weights, negated.
        """
        k, (columns, weights) = check_number(k), self.used_weights()
        chosen = range(len(self.classes)) if label is None else [self._place(label)]
        labels = self.classes.tolist()
        return TopFeatures({labels[c]: self._top(k, columns, self._own(weights, c)) for c in chosen})

    def explain(self, x: Any, label: Any = None) -> Explanation:
        """The score of one row, as for `predict_one`, as a sum over its features.

        Parameters
        ----------
        x : dict, or one number per column
        label : optional
            The class whose score is explained; by default the predicted one. Of two classes the first has
            the score of the second, negated.
        """
        columns, values = self._scaled_row(x)
        weights, bias = self._weights_at(columns)
        labels = self.classes.tolist()
        scores = []
        for c in range(len(labels)):
            own = zip(values.tolist(), self._own(weights, c).tolist(), strict=True)
            scores.append(exact_sum(own, float(self._own(bias, c))))
        predicted = self._best(x)
        place = predicted if label is None else self._place(label)
        own = self._own(weights, place).tolist()
        return Explanation.of_terms(
            labels[predicted],
            labels[place],
            float(self._own(bias, place)),
            zip(self.features.names(columns.tolist()), values.tolist(), own, strict=True),
            scores=dict(zip(labels, scores, strict=True)),
        )

    def used_weights(self) -> tuple[Indices, Floats]:
        """The columns with a nonzero weight, and the (1 or classes, those columns) weights that predict."""
        raise ValueError(self._no_weights())

    def _weights_at(self, columns: Indices) -> tuple[Floats, Floats]:
        """The weights that predict at these columns, and the bias: one row for two classes."""
        raise ValueError(self._no_weights())

    def _no_weights(self) -> str:
        """Why there is no weight per feature."""
        return f"{self.name} has no weight per feature."

    def _place(self, label: Any) -> int:
        places = np.flatnonzero(self.classes == label)
        if not len(places):
            raise ValueError(f"the model has no class {label!r}; it has {self.classes.tolist()}")
        return int(places[0])

    def _own(self, rows: Floats, place: int) -> Floats:
        """A class's row; two classes have one, which is that of the second."""
        own: Floats = rows[place] if len(rows) > 1 else rows[0] if place else 0.0 - rows[0]
        return own

    def _top(self, k: int, columns: Indices, own: Floats) -> list[tuple[str, float]]:
        positive = np.flatnonzero(own > 0)
        if len(positive) > k:  # keep all ties with the k-th: the column decides
            least = np.partition(own[positive], len(positive) - k)[len(positive) - k] if k else np.inf
            positive = positive[own[positive] >= least]
        first = positive[np.argsort(-own[positive], kind="stable")][:k]
        return list(zip(self.features.names(columns[first].tolist()), own[first].tolist(), strict=True))

    def _scaled_row(self, x: Any) -> tuple[Indices, Floats]:
        """The columns and values of one row to which the weights apply."""
        X = self._rows(self._one_row(x))
        if hasattr(X, "indptr"):
            return X.indices, X.data.astype(np.float64)
        columns = np.flatnonzero(X[0])
        return columns, X[0, columns].astype(np.float64)

    def _one_row(self, x: Any) -> Any:
        """The row that `x` gives, as `_rows` takes it."""
        x = plain_row(x)
        row = row_of(x, self._row_reader(), self.features.n_columns)
        return [x] if row is None else row  # dates and times are read with the rules of frames

    @abstractmethod
    def _rows(self, X: Any) -> Any:
        """`X` as a matrix over the model's columns, scaled."""

    def _matrix(self, X: Any) -> Any:
        """`X` as a matrix over the model's columns."""
        if not isinstance(X, Csr):
            X = rows_by_name(X, self.features)
            X = X if isinstance(X, Csr) else read_matrix(X)
        n_features = self.features.n_columns
        if len(X.shape) != 2 or X.shape[1] != n_features:
            expected = f"rows of {n_features} features"
            raise ValueError(f"X has shape {tuple(X.shape)}, but the model expects {expected}.")
        return X

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
