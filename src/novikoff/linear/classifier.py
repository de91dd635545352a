"""Common code of the linear classifiers: training as a `Run` of a `Model`, and the fitted attributes."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any, Self

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from novikoff.classifier import RowClassifier
from novikoff.data.labels import Classes
from novikoff.parameters.common import AUTO
from novikoff.parameters.parameter import (
    check_parameters,
    parameter_values,
    parameters_from_file,
    parameters_of,
)
from novikoff.training.not_separated import ASK, MORE_EPOCHS, has_chosen, not_separated
from novikoff.training.report import OFF_CENTRE, Report
from novikoff.training.run import Run
from novikoff.training.summary import margin_upper, summarize
from novikoff.training.turns import turns_of
from novikoff.training.weights import Floats, Ints, Model, Scorer, Settings


class PredictionCache:
    """Caches the weights that predict, assigned by hand or made from the model, and the checked parameters.

    A pickle holds only the weights assigned by hand; the rest is recomputed.
    """

    def __init__(self) -> None:
        self.assigned: tuple[Any, Any] | None = None  # set by the user, or by sparsify
        self.averaged: tuple[Floats, Floats] | None = None
        self.scorer: Scorer | None = None
        self.checked: list[Any] | None = None  # parameters found legal, and their settings
        self.settings: Settings | None = None

    def renew(self, assigned: tuple[Any, Any] | None = None) -> None:
        """Forget everything made from weights that have changed."""
        self.assigned, self.averaged, self.scorer = assigned, None, None

    def __getstate__(self) -> dict[str, Any]:
        return {"assigned": self.assigned}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]
        self.assigned = state["assigned"]


class PerceptronClassifier(RowClassifier):
    """Abstract: a classifier whose training is a `Run` of a `Model`."""

    _model: Model
    _run: Run
    _cache: PredictionCache

    @classmethod
    def _from_model(
        cls, params: dict[str, Any], model: Model, classes: Any, feature_names: Any, run: Run | None = None
    ) -> Self:
        """A fitted estimator around a model that was learned elsewhere."""
        self = cls(**params)
        check_parameters(self)
        self.n_features_in_ = model.n_features
        if feature_names is not None:
            self.feature_names_in_ = feature_names
        self._set_classes(Classes(classes))
        self._set_run(model, run or Run())
        return self

    @classmethod
    def _parameters_of(cls, recorded: dict[str, Any], settings: Settings) -> dict[str, Any]:
        """The parameters in a file; the model's settings override them."""
        known = parameters_of(cls)
        params = parameters_from_file(recorded, known)
        if "scale" in known:
            params.setdefault("scale", None)  # files of earlier versions do not have it
        if isinstance(params.get("class_weight"), list):
            params["class_weight"] = dict(params["class_weight"])
        held = ("rule", "ties", "margin", "C", "average", "multiclass")
        params |= {name: getattr(settings, name) for name in held if name in known}
        params["fit_intercept"] = settings.bias_square > 0
        scale = params.get("intercept_scaling", known["intercept_scaling"].default)
        if params["fit_intercept"] and scale**2 != settings.bias_square:
            params["intercept_scaling"] = math.sqrt(settings.bias_square)
        return params

    # -- training ------------------------------------------------------------------------------------
    def _check_parameters(self) -> None:
        """Check every parameter, unless none has changed since the last check."""
        values, cache = list(parameter_values(self).values()), vars(self).get("_cache")
        if cache is not None and values == cache.checked:
            return
        super()._check_parameters()
        if cache is not None:
            cache.checked, cache.settings = values, Settings.of(self)

    def _read_chunk(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, *, grow: bool
    ) -> tuple[Any, Classes, Ints, Floats | None, Model]:
        """(X, classes, labels, weights, model) for `partial_fit`, checked except for X's values.

        While only one class is known, the model treats it as the first of two.
        """
        self._check_parameters()
        begun = "_model" in vars(self)
        if begun and self._cache.settings != self._model.settings:
            raise ValueError("partial_fit cannot change the rule, bias or averaging of a model: fit a clone.")
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all rows at once. Compute the weights with "
                "sklearn.utils.compute_class_weight and pass them as a dict."
            )
        X = self._read(X, reset=not begun)
        y = self._read_labels(X, y)
        weights = self._read_weights(sample_weight, X)
        known, labels = self._meet(y, classes, begun=begun, grow=grow)
        if not grow and len(known.labels) > 1:
            self._check_class_weight(known.labels)
        weights = self._weights(known.labels, labels, weights)
        model = self._model if begun else Model(max(len(known.labels), 2), X.shape[1], Settings.of(self))
        return X, known, labels, weights, model

    def _finish_chunk(self, raw: Any, X: Any, classes: Classes, model: Model, run: Run) -> None:
        if "_model" not in vars(self):
            self._set_features(raw, X)
        self._set_classes(classes)
        self._set_run(model, run)

    def _finish(self, raw: Any, X: Any, classes: Any, model: Model, run: Run) -> None:
        """Set every fitted attribute."""
        self._set_features(raw, X)
        self._set_classes(Classes(classes))
        self._set_run(model, run)
        if run.interrupted:
            raise KeyboardInterrupt
        self._warn_unless_separated(4)

    def _set_run(self, model: Model, run: Run) -> None:
        self._model, self._run = model, run
        if "_cache" in vars(self):
            self._cache.renew()
        else:
            self._cache = PredictionCache()
        self.history_ = run.history
        self.n_epochs_ = len(run.history)
        self.n_updates_ = model.total("updates")
        self.n_mistakes_ = model.total("mistakes")
        self.converged_ = run.converged
        self.verdict_ = run.verdict
        self.radius_ = model.radius()
        self.margin_ = run.margin
        self.training_errors_ = run.training_errors

    @property
    def scale_(self) -> Floats | None:
        """The powers of two by which the columns were multiplied while they were learned; None: all are 1."""
        factors = self._fitted("scale_").factors
        if factors is None:
            return None
        factors = factors.view()
        factors.flags.writeable = False
        return factors

    @property
    def margin_upper_(self) -> float:
        """‖w‖/Στ, which is at least γ of the rows of `fit`, or of all rows after `partial_fit`.

        Infinite before the first update, if the fit started from given weights, and if it continued a fit on
        other rows.
        """
        return margin_upper(self._fitted("margin_upper_"), self._run)

    @property
    def witness_(self) -> tuple[Floats, Floats] | None:
        """What `verdict_` is about where it is 'separated': not always the weights that predict."""
        self._fitted("witness_")
        return self._run.witness

    def _fitted(self, name: str) -> Model:
        model = vars(self).get("_model")
        if model is None:
            raise AttributeError(f"This {type(self).__name__} has no {name}: it has not been fitted yet.")
        return model  # type: ignore[no-any-return]

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    def _warn_unless_separated(self, level: int = 3) -> None:
        """Warn once that what predicts errs on rows that may be separable.

        The caller of `fit_source` is at level 3, that of `fit`, which calls `_finish`, at 4.
        """
        run = self._run
        done = run.consistent or (run.verdict == "separated" and run.witness_is != "found")
        proved = run.verdict == "inseparable" and self.max_epochs == AUTO
        if done or proved or has_chosen(self) or self._early():
            return
        advice = []
        if run.off_centre >= OFF_CENTRE:
            advice.append(
                "centring the columns (rows lie far from 0, compared with their distance from their mean)"
            )
        if self.max_epochs != AUTO:
            advice.append(MORE_EPOCHS)
        if not self.average:
            advice.append("average=True for a steadier model")
        advice.append(ASK)
        warnings.warn(not_separated(run, advice), ConvergenceWarning, stacklevel=level)

    def _early(self) -> bool:
        return bool(getattr(self, "early_stopping", False)) or self.callback is not None

    # -- using ---------------------------------------------------------------------------------------
    def report(self) -> Report:
        """The outcome of training as an object that prints itself, in text and in HTML."""
        with turns_of(self).reading:
            check_is_fitted(self)
            way = str(getattr(self, "predict_with", ""))
            report = summarize(self._model, self._run, type(self).__name__, self.order, way)
            # the model has two classes even while only one is known
            return replace(report, n_classes=len(self.classes_))
