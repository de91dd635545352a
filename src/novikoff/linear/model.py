"""A linear model with everything that belongs to it: classes, features, scaling, and how it was made."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff import _core
from novikoff.data import state as data_state
from novikoff.data.scaling import scaled
from novikoff.data.sources.features import Features
from novikoff.data.zero_tables import Indices
from novikoff.modelfile import checks
from novikoff.modelfile.container import Arrays, Facts
from novikoff.training import state as training_state
from novikoff.training.report import Report
from novikoff.training.row_model import Labels, RowModel
from novikoff.training.run import Run
from novikoff.training.summary import summarize
from novikoff.training.weights import Floats, Model, Scorer


@dataclass(eq=False, repr=False)
class LinearModel(RowModel):
    """The content of a model file.

    Parameters
    ----------
    model : novikoff.training.weights.Model
        Weights, running sums and counts, for prediction and further learning.
    classes : array of labels, in the model's order
    features : novikoff.data.sources.features.Features
        The names of the columns, and how an example is mapped to them.
    scaling : object with `transform`, `state` and `from_state`, optional
        The transformation of every row before the weights are applied.
    parameters : dict
        The parameters of training, as far as JSON can represent them.
    run : novikoff.training.run.Run, optional
        The record of training, from which the report is made.
    found : dict
        Further numbers about the run that only its estimator has, by name: those of a pocket.
    name, order : str
        The names of the model and of the order of the rows in the report.

    Examples
    --------
    >>> import tempfile, novikoff
    >>> model = novikoff.Perceptron(order="cyclic").fit([[0.0, 1.0], [1.0, 0.0]], ["ham", "spam"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/spam.novikoff")
    ...     loaded = novikoff.load_model(f"{folder}/spam.novikoff")
    >>> loaded.predict([[0.0, 2.0], [3.0, 0.0]]).tolist()
    ['ham', 'spam']
    >>> loaded.top_features(label="spam")
    'spam'
               1  1
    """

    _made = ("_reader", "_scorer", "_predictor")
    _otherwise = "holds a kernel model, which has no weights; expected a linear one."

    model: Model
    classes: Labels
    features: Features
    scaling: Any = None
    parameters: dict[str, Any] = field(default_factory=dict)
    run: Run | None = None
    name: str = "Perceptron"
    order: str = "cyclic"
    found: dict[str, float] = field(default_factory=dict)
    _scorer: tuple[tuple[int, int, int], Scorer] | None = field(default=None, init=False)
    _predictor: tuple[tuple[int, int, int], _core.RowPredictor] | None = field(default=None, init=False)

    # -- report and weights
    @property
    def report(self) -> Report | None:
        """The report of the run that made it."""
        return None if self.run is None else summarize(self.model, self.run, self.name, self.order)

    def weights(self) -> tuple[Floats, Floats]:
        """(coef, intercept) that predict: the last ones or their mean; one row for two classes."""
        return self.model.coef(averaged=self.model.averages)

    def used_weights(self) -> tuple[Indices, Floats]:
        """The columns with a nonzero weight, and the (classes, those columns) weights that predict."""
        used, (coef, _) = self.model.used(), self.weights()
        columns = np.arange(coef.shape[1]) if used is None else used
        weights = coef if used is None else coef[:, used]
        held = (weights != 0).any(axis=0)
        return columns[held], weights[:, held]

    def _weights_at(self, columns: Indices) -> tuple[Floats, Floats]:
        scorer, k = self._ready(), 1 if self.model.n_classes == 2 else self.model.n_classes
        return np.ascontiguousarray(scorer.weights[columns, :k].T), scorer.bias[:k]

    # -- predicting
    def places(self, X: Any, n_jobs: int | None = None) -> npt.NDArray[np.int32]:
        """The index of each row's class, by the exact sign or argmax of its scores."""
        return self._ready().predict(self._rows(X), n_jobs)

    def scores(self, X: Any, n_jobs: int | None = None) -> Floats:
        """Scores: (n,) for two classes, (n, classes) for more; sign and argmax are exact."""
        return self._ready().scores(self._rows(X), n_jobs)

    def places_and_scores(self, X: Any, n_jobs: int | None = None) -> tuple[npt.NDArray[np.int32], Floats]:
        scores = self.scores(X, n_jobs)
        return (scores.argmax(axis=1) if scores.ndim == 2 else scores >= 0).astype(np.int32), scores

    def predict_one(self, x: Any) -> Any:
        now = self._now()
        if self._predictor is None or self._predictor[0] != now:
            self._predictor = now, self._make_predictor()
        label = self._predictor[1].predict(x)
        return super().predict_one(x) if label is NotImplemented else label

    predict_one.__doc__ = RowModel.predict_one.__doc__

    def _make_predictor(self) -> _core.RowPredictor:
        """All that one prediction needs, for one native call."""
        scaling = None
        if self.scaling is not None:
            facts, arrays = self.scaling.state()
            scaling = facts["kind"], arrays["centre"], arrays["scale"]
        native = self._ready().native
        return _core.RowPredictor(self._row_reader(), native, self.classes.tolist(), scaling)

    def _now(self) -> tuple[int, int, int]:
        """What changes with the weights."""
        model = self.model
        return model.total("visits"), model.total("updates"), model.n_classes

    def _ready(self) -> Scorer:
        """The scorer of the current weights; remade after further learning."""
        now = self._now()
        if self._scorer is None or self._scorer[0] != now:
            self._scorer = now, self.model.scorer(averaged=self.model.averages)
        return self._scorer[1]

    def _shown(self) -> dict[str, str]:
        settings = self.model.settings
        return super()._shown() | {"rule": repr(settings.rule), "average": str(settings.average)}

    def _rows(self, X: Any) -> Any:
        X = self._matrix(X)
        return scaled(X, self.scaling)

    # -- files
    def _learned_state(self) -> dict[str, checks.State]:
        return {"model": training_state.model_state(self.model)}

    def _more_facts(self) -> Facts:
        return {"found": self.found} if self.found else {}

    @classmethod
    def from_state(cls, facts: Facts, arrays: Arrays) -> LinearModel:
        part = partial(checks.part, facts, arrays)
        model = training_state.model_from_state(*part("model"))
        return cls(
            model,
            data_state.classes_from_state(*part("classes"), model.n_classes),
            data_state.features_from_state(*part("features"), model.n_features),
            scaling=data_state.scaling_from_state(*part("scaling"), model.n_features)
            if "scaling" in facts
            else None,
            parameters=checks.fact(facts, "parameters", dict),
            run=training_state.run_from_state(*part("run"), model) if "run" in facts else None,
            name=checks.fact(facts, "name", str),
            order=checks.fact(facts, "order", str),
            found=_numbers(checks.fact(facts, "found", dict)) if "found" in facts else {},
        )


def _numbers(found: Facts) -> dict[str, float]:
    """Numbers by name."""
    for name in found:
        checks.number(found, name)
    return found
