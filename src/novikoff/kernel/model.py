"""A kernel model with everything that belongs to it: classes, features, scaling, and how it was made."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from novikoff.data import state as data_state
from novikoff.data.arrays import read_matrix
from novikoff.data.scaling import scaled
from novikoff.data.sources.features import Features
from novikoff.kernel import budget_state as budgetstate
from novikoff.kernel import dual_state as dualstate
from novikoff.kernel import settings as kernel_settings
from novikoff.kernel.dual_model import DualModel
from novikoff.kernel.function import kernel_values
from novikoff.kernel.kernels import PrecomputedKernel
from novikoff.kernel.settings import Fitted
from novikoff.modelfile import checks
from novikoff.modelfile.container import Arrays, Facts
from novikoff.parameters.common import PREDICT_WITH
from novikoff.training import state as training_state
from novikoff.training.linear import sound
from novikoff.training.report import Report
from novikoff.training.row_model import Labels, RowModel
from novikoff.training.run import Run
from novikoff.training.weights import Floats, Ints


@dataclass(eq=False, repr=False)
class KernelModel(RowModel):
    """The content of a model file of a kernel perceptron.

    Parameters
    ----------
    dual : novikoff.kernel.dual_model.DualModel or novikoff.kernel.budget.BudgetModel
        The supports, and the updates in their order or, with a budget, the coefficients, for prediction and
        further learning.
    classes : array of labels, in the model's order
    features : novikoff.data.sources.features.Features
        The names of the columns, and how an example is mapped to them.
    predict_with : "voted", "averaged" or "last"
        None at construction: the default of `KernelPerceptron`.
    scaling : object with `transform`, `state` and `from_state`, optional
        The transformation of every row before the kernel is applied.
    parameters : dict
        The parameters of training, as far as JSON can represent them.
    run : novikoff.training.run.Run, optional
        The record of training, from which the report is made.
    name, order : str
        The names of the model and of the order of the rows in the report.

    Examples
    --------
    >>> import tempfile, novikoff
    >>> X, y = [[1.0, 1], [1, -1], [-1, 1], [-1, -1]], ["same", "other", "other", "same"]
    >>> model = novikoff.KernelPerceptron("poly", degree=2, gamma=1, order="cyclic").fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/xor.novikoff")
    ...     loaded = novikoff.load_model(f"{folder}/xor.novikoff")
    >>> loaded.predict([[2.0, 3.0], [2.0, -3.0]]).tolist()
    ['same', 'other']
    """

    _of_kernels = True
    _otherwise = "holds a linear model: load it as a Perceptron."

    dual: Fitted
    classes: Labels
    features: Features
    predict_with: str | None = None
    scaling: Any = None
    parameters: dict[str, Any] = field(default_factory=dict)
    run: Run | None = None
    name: str = "KernelPerceptron"
    order: str = "shuffle"

    def __post_init__(self) -> None:
        if self.predict_with is None:
            self.predict_with = kernel_settings.way_of(self.dual, None)

    # -- features and report
    @property
    def n_features(self) -> int:
        return self.features.n_columns

    @property
    def report(self) -> Report | None:
        """The report of the run that made it."""
        if self.run is None:
            return None
        shown = self.name, self.order, self.n_features, self.predict_with
        return kernel_settings.report(self.dual, self.run, *shown)

    def _shown(self) -> dict[str, str]:
        own = {"kernel": repr(self.dual.kernel.title), "n_supports": str(len(self.dual.support))}
        return super()._shown() | own | {"predict_with": repr(self.predict_with)}

    # -- predicting
    def scores(self, X: Any, n_jobs: int | None = None) -> Floats:
        """Scores: (n,) for two classes, (n, classes) for more, as in `KernelPerceptron.decision_function`."""
        return self.places_and_scores(X, n_jobs)[1]

    def places(self, X: Any, n_jobs: int | None = None) -> Ints:
        return self.places_and_scores(X, n_jobs)[0]

    def places_and_scores(self, X: Any, n_jobs: int | None = None) -> tuple[Ints, Floats]:
        scores = kernel_settings.scores(self.dual, self._rows(X), self.predict_with, n_jobs)
        return self.dual.winners(scores), scores[:, 0] if scores.shape[1] == 1 else scores

    def K(self, a: Any, b: Any) -> Any:
        """The kernel: a number for two rows, a matrix for two blocks of rows; scaled as in training.

        With a bias it includes the 1 of the bias.
        """
        return kernel_values(self.dual.kernel, a, b, None if self.scaling is None else self._rows)

    def _rows(self, X: Any) -> Any:
        X = read_matrix(self._matrix(X))
        X = scaled(X, self.scaling)
        return sound(read_matrix(X))  # scaled rows come as a block

    def _no_weights(self) -> str:
        return (
            f"a kernel model has no weight per feature: a score is a sum over its {len(self.dual.support):,} "
            "supports, so there are no top features, and no row is a sum over its features."
        )

    # -- files
    def _learned_state(self) -> dict[str, checks.State]:
        if isinstance(self.dual, DualModel):
            return {"dual": dualstate.dual_state(self.dual)}
        return {"budgeted": budgetstate.budget_state(self.dual)}

    def _more_facts(self) -> Facts:
        return {"predict_with": self.predict_with}

    @classmethod
    def from_state(cls, facts: Facts, arrays: Arrays) -> KernelModel:
        part = partial(checks.part, facts, arrays)
        dual: Fitted
        way: str | None = checks.choice(facts, "predict_with", PREDICT_WITH)
        if "budgeted" in facts:
            dual = budgetstate.budget_from_state(*part("budgeted"))
            if dual.budget is None:
                raise ValueError("budget is missing, expected a whole number")
            way = None if way == "voted" else way  # the name of the default in 0.1
        else:
            dual = dualstate.dual_from_state(*part("dual"))
        model = cls(
            dual,
            data_state.classes_from_state(*part("classes"), dual.n_classes),
            data_state.features_from_state(*part("features"), None),
            predict_with=way,
            parameters=checks.fact(facts, "parameters", dict),
            run=training_state.run_from_state(*part("run")) if "run" in facts else None,
            name=checks.fact(facts, "name", str),
            order=checks.fact(facts, "order", str),
        )
        held = _columns(dual)
        if held not in (None, model.n_features):
            raise ValueError(f"it has {model.n_features:,} features by name, but its supports have {held:,}")
        if "scaling" in facts:
            model.scaling = data_state.scaling_from_state(*part("scaling"), model.n_features)
        return model


def _columns(dual: Fitted) -> int | None:
    """The number of columns of the rows that it can predict, if known."""
    if isinstance(dual.kernel, PrecomputedKernel):
        return dual.kernel.n_columns
    return int(dual.vectors.shape[1]) if isinstance(dual, DualModel) else dual.n_features or None
