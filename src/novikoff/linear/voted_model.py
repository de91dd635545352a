"""A voted perceptron with everything that belongs to it: what its file holds, without scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from novikoff.data import state as data_state
from novikoff.data.arrays import read_matrix
from novikoff.data.sources.features import Features
from novikoff.data.zero_tables import Indices
from novikoff.linear.updates import UpdateSequence
from novikoff.modelfile import checks
from novikoff.modelfile.container import Arrays, Facts
from novikoff.parameters.common import PREDICT_WITH
from novikoff.training import state as training_state
from novikoff.training.report import Report
from novikoff.training.row_model import Labels, RowModel
from novikoff.training.run import Run
from novikoff.training.summary import summarize
from novikoff.training.weights import Floats, Ints, Model


@dataclass(eq=False, repr=False)
class VotedModel(RowModel):
    """The content of a model file of a voted perceptron.

    Parameters
    ----------
    model : novikoff.training.weights.Model
        The last weights, their running sums and the counts.
    sequence : novikoff.linear.updates.UpdateSequence
        The updates of the run, which vote.
    classes : array of labels, in the model's order
    features : novikoff.data.sources.features.Features
        The names of the columns.
    predict_with : "voted", "averaged" or "last"
    parameters, run, name, order
        As in `LinearModel`.

    Examples
    --------
    >>> import tempfile, novikoff
    >>> model = novikoff.VotedPerceptron(order="cyclic").fit([[0.0, 1.0], [1.0, 0.0]], ["ham", "spam"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/spam.novikoff")
    ...     loaded = novikoff.load_model(f"{folder}/spam.novikoff")
    >>> loaded.predict_with, loaded.predict_one([3.0, 0.0])
    ('voted', 'spam')
    """

    _kind = "voted perceptron"
    scaling = None  # the estimator has none

    model: Model
    sequence: UpdateSequence
    classes: Labels
    features: Features
    predict_with: str = "voted"
    parameters: dict[str, Any] = field(default_factory=dict)
    run: Run | None = None
    name: str = "VotedPerceptron"
    order: str = "shuffle"

    @property
    def report(self) -> Report | None:
        """The report of the run that made it."""
        shown = self.name, self.order, self.predict_with
        return None if self.run is None else summarize(self.model, self.run, *shown)

    def _shown(self) -> dict[str, str]:
        n_updates = len(self.sequence.whole.used)
        return super()._shown() | {"predict_with": repr(self.predict_with), "n_updates": str(n_updates)}

    # -- predicting
    def places(self, X: Any, n_jobs: int | None = None) -> Ints:
        return self.places_and_scores(X, n_jobs)[0]

    def scores(self, X: Any, n_jobs: int | None = None) -> Floats:
        """Scores: (n,) for two classes, (n, classes) for more, as in `VotedPerceptron.decision_function`."""
        return self.places_and_scores(X, n_jobs)[1]

    def places_and_scores(self, X: Any, n_jobs: int | None = None) -> tuple[Ints, Floats]:
        X = self._rows(X)
        if self.predict_with == "voted":
            return self.sequence.decide(X, n_jobs)
        scorer = self.model.scorer(averaged=self.predict_with == "averaged")
        return scorer.predict(X, n_jobs), scorer.scores(X, n_jobs)

    def _rows(self, X: Any) -> Any:
        return read_matrix(self._matrix(X))

    # -- weights
    def used_weights(self) -> tuple[Indices, Floats]:
        coef, _ = self._weights()
        columns = np.flatnonzero((coef != 0).any(axis=0))
        return columns, coef[:, columns]

    def _weights_at(self, columns: Indices) -> tuple[Floats, Floats]:
        coef, intercept = self._weights()
        return coef[:, columns], intercept

    def _weights(self) -> tuple[Floats, Floats]:
        if self.predict_with == "voted":
            raise ValueError(
                f"each of {len(self.sequence.whole.used) + 1:,} weight vectors has a vote, so there is no "
                "weight per feature: set predict_with = 'averaged' on the model to see the mean of them."
            )
        return self.model.coef(averaged=self.predict_with == "averaged")

    # -- files
    def _learned_state(self) -> dict[str, checks.State]:
        return {"linear": training_state.model_state(self.model), "sequence": self.sequence.state()}

    def _more_facts(self) -> Facts:
        return {"predict_with": self.predict_with}

    @classmethod
    def from_state(cls, facts: Facts, arrays: Arrays) -> VotedModel:
        part = partial(checks.part, facts, arrays)
        model = training_state.model_from_state(*part("linear"))
        if model.apart:
            raise ValueError("multiclass is 'ovr', expected 'joint'")
        sequence = UpdateSequence.from_state(*part("sequence"), model.n_classes, model.settings.bias_square)
        n_columns = sequence.whole.vectors.shape[1]
        if n_columns != model.n_features:
            raise ValueError(f"it has {model.n_features:,} features, but its supports have {n_columns:,}")
        return cls(
            model,
            sequence,
            data_state.classes_from_state(*part("classes"), model.n_classes),
            data_state.features_from_state(*part("features"), model.n_features),
            predict_with=checks.choice(facts, "predict_with", PREDICT_WITH),
            parameters=checks.fact(facts, "parameters", dict),
            run=training_state.run_from_state(*part("run"), model) if "run" in facts else None,
            name=checks.fact(facts, "name", str),
            order=checks.fact(facts, "order", str),
        )
