"""Winnow's weights with everything that belongs to them: what its file holds, without scikit-learn."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from novikoff import _core
from novikoff.data import state as data_state
from novikoff.data.arrays import is_sparse, read_matrix, rows_of
from novikoff.data.sources.features import Features
from novikoff.data.zero_tables import Indices
from novikoff.modelfile import checks
from novikoff.modelfile.container import Arrays, Facts
from novikoff.training import state as training_state
from novikoff.training.linear import sound
from novikoff.training.row_model import Labels, RowModel
from novikoff.training.run import Record, Run
from novikoff.training.weights import Floats, Ints

REACH = 500  # weights stay between 2**-REACH and 2**REACH
COUNTS = ("mistakes", "promotions", "demotions")


@dataclass(eq=False)
class Exponents:
    """Weights alpha**e as their exponents, and how they decide.

    >>> weights = Exponents(np.array([[1, 0, -1]], dtype=np.int32), 2.0, 2.0)
    >>> weights.coef(), weights.scores(np.ones((1, 3)))
    (array([[2. , 1. , 0.5]]), array([1.5]))
    """

    values: Ints  # (1 or classes, features)
    alpha: float
    threshold: float
    balanced: bool = False

    @cached_property
    def reach(self) -> int:
        """Exponents stay between −reach and reach."""
        return max(int(REACH / math.log2(self.alpha)), 1)

    @cached_property
    def powers(self) -> Floats:
        """The table from which the core reads weights: 0, α^−reach, …, α^reach."""
        powers = (math.pow(self.alpha, e) for e in range(-self.reach, self.reach + 1))
        return np.array([0.0, *powers])

    def coef(self) -> Floats:
        """The weights: w, or w⁺ − w⁻ rounded."""
        weights: Floats = self.powers[self.values + self.reach + 1]
        return weights - self.powers[self.reach + 1 - self.values] if self.balanced else weights

    def scores(self, X: Any) -> Floats:
        """w·x − θ, correctly rounded: (n,) for two classes, (n, classes) for more."""
        X = sound(X, ordered=False)
        check_signs(X, balanced=self.balanced)
        scores, rows = np.empty((len(self.values), X.shape[0])), rows_of(X)
        native = _core.Winnow(self.powers, self.threshold, self.balanced)
        for exponents, out in zip(self.values, scores, strict=True):
            native.scores(exponents, rows, 0, X.shape[0], out)
        return scores[0] if len(scores) == 1 else scores.T


def check_signs(X: Any, *, balanced: bool) -> None:
    """Refuse negative values with plain weights."""
    values = X.data if is_sparse(X) else X
    if not balanced and values.size and values.min() < 0:
        raise ValueError(
            "Negative values in data: plain Winnow takes features ≥ 0. Pass balanced=True, or replace "
            "features x of −1 and +1 by 1 + x and 1 − x."
        )


@dataclass(eq=False, repr=False)
class WinnowModel(RowModel):
    """The content of a model file of Winnow.

    Parameters
    ----------
    weights : Exponents
    classes : array of labels, in the model's order
    features : novikoff.data.sources.features.Features
        The names of the columns.
    eliminate : bool
        Whether a demotion sets weights to 0.
    counts : dict
        Mistakes, promotions and demotions over all calls.
    parameters, run, name, order
        As in `LinearModel`; of the run only the history and whether it converged.

    Examples
    --------
    >>> import tempfile, novikoff
    >>> model = novikoff.Winnow(order="cyclic").fit([[0.0, 1.0], [1.0, 0.0]], ["ham", "spam"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/spam.novikoff")
    ...     loaded = novikoff.load_model(f"{folder}/spam.novikoff")
    >>> loaded.predict_one([1.0, 0.0]), loaded
    ('spam', WinnowModel(name='Winnow', n_features=2, classes=['ham', 'spam'], alpha=2.0, threshold=2.0))
    """

    _kind = "Winnow"
    scaling = None  # the estimator has none

    weights: Exponents
    classes: Labels
    features: Features
    eliminate: bool = False
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    parameters: dict[str, Any] = field(default_factory=dict)
    run: Run | None = None
    name: str = "Winnow"
    order: str = "shuffle"

    def _shown(self) -> dict[str, str]:
        own = {"alpha": str(self.weights.alpha), "threshold": str(self.weights.threshold)}
        return super()._shown() | own | ({"balanced": "True"} if self.weights.balanced else {})

    # -- predicting
    def places(self, X: Any, n_jobs: int | None = None) -> Ints:
        return self.places_and_scores(X, n_jobs)[0]

    def scores(self, X: Any, n_jobs: int | None = None) -> Floats:
        """w·x − θ, correctly rounded: (n,) for two classes, (n, classes) for more."""
        return self.weights.scores(self._rows(X))

    def _rows(self, X: Any) -> Any:
        return read_matrix(self._matrix(X))

    # -- weights
    def used_weights(self) -> tuple[Indices, Floats]:
        coef = self.weights.coef()
        columns = np.flatnonzero((coef != 0).any(axis=0))
        return columns, coef[:, columns]

    def _weights_at(self, columns: Indices) -> tuple[Floats, Floats]:
        return self.weights.coef()[:, columns], np.full(len(self.weights.values), -self.weights.threshold)

    def places_and_scores(self, X: Any, n_jobs: int | None = None) -> tuple[Ints, Floats]:
        scores = self.scores(X, n_jobs)
        return (scores.argmax(axis=1) if scores.ndim == 2 else scores >= 0).astype(np.int32), scores

    # -- files
    def _learned_state(self) -> dict[str, checks.State]:
        w = self.weights
        facts = {"alpha": w.alpha, "threshold": w.threshold, "balanced": w.balanced}
        return {
            "winnow": (facts | {"eliminate": self.eliminate, "counts": self.counts}, {"exponents": w.values})
        }

    def _run_state(self, run: Run) -> checks.State:
        return {"history": training_state.lasting(run.history), "converged": run.converged}, {}

    @classmethod
    def from_state(cls, facts: Facts, arrays: Arrays) -> WinnowModel:
        part = partial(checks.part, facts, arrays)
        own, tables = part("winnow")
        alpha, threshold = checks.number(own, "alpha", 1.001), checks.number(own, "threshold")
        if alpha > 1e6 or not math.isfinite(threshold):
            raise ValueError(f"alpha is {alpha} and threshold {threshold}, expected at most 1e6 and a number")
        exponents = checks.array(tables, "exponents", np.int32, (None, None))
        weights = Exponents(exponents, alpha, threshold, checks.fact(own, "balanced", bool))
        low = -weights.reach - (0 if weights.balanced else 1)
        if exponents.size and not low <= exponents.min() <= exponents.max() <= weights.reach:
            raise ValueError(f"the exponents are not from {low} to {weights.reach}")
        k = len(exponents)
        past, _ = part("run")
        history: list[Record] = training_state.records(past, counted=COUNTS)
        counted = checks.fact(own, "counts", dict)
        return cls(
            weights,
            data_state.classes_from_state(*part("classes"), 2 if k == 1 else k),
            data_state.features_from_state(*part("features"), exponents.shape[1]),
            eliminate=checks.fact(own, "eliminate", bool),
            counts={name: checks.count(counted, name) for name in COUNTS},
            parameters=checks.fact(facts, "parameters", dict),
            run=Run(history=history, converged=checks.fact(past, "converged", bool)),
            name=checks.fact(facts, "name", str),
            order=checks.fact(facts, "order", str),
        )
