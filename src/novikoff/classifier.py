"""What the batch classifiers share: reading X and y, weights, predicting, reporting."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import (
    _check_feature_names,
    _get_feature_names,
    check_array,
    check_is_fitted,
    column_or_1d,
)

from novikoff.data.arrays import check_mapped, exact_rows, in_memory_order, is_readable, with_one_index_width
from novikoff.data.labels import Classes, check_labels, number
from novikoff.data.rounding import Rounding
from novikoff.data.sources.block import Csr
from novikoff.data.sources.features import Features, NamedFeatures, NumberedFeatures
from novikoff.data.targets import label_array, read_weights
from novikoff.data.text_labels import taken
from novikoff.estimator import BaseEstimator, ClassifierMixin
from novikoff.parameters.parameter import check_parameters, parameter_values
from novikoff.training.report import Report
from novikoff.training.run import Run
from novikoff.training.summary import margin_upper, summarize
from novikoff.training.turns import turns_of
from novikoff.training.weights import Floats, Ints, Model, Scorer, Settings


class PredictionCache:
    """The weights that predict, assigned by hand or made from the model, and the parameters last checked.

    A pickle has only what was assigned by hand; everything else is made again.
    """

    def __init__(self) -> None:
        self.assigned: tuple[Any, Any] | None = None  # set by the user, or by sparsify
        self.averaged: tuple[Floats, Floats] | None = None
        self.scorer: Scorer | None = None
        self.checked: list[Any] | None = None  # parameters found legal, and what they ask for
        self.settings: Settings | None = None

    def renew(self, assigned: tuple[Any, Any] | None = None) -> None:
        """Forget what was made from weights that have changed."""
        self.assigned, self.averaged, self.scorer = assigned, None, None

    def __getstate__(self) -> dict[str, Any]:
        return {"assigned": self.assigned}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]
        self.assigned = state["assigned"]


class RowClassifier(ClassifierMixin, BaseEstimator):
    """Abstract: a classifier whose parameters are in `parameters`; it reads X and y as the core can."""

    _classes: Classes

    def _check_parameters(self) -> None:
        check_parameters(self)

    # -- reading -------------------------------------------------------------------------------------
    def _read(self, X: Any, *, reset: bool) -> Any:
        """`X` ready for the core: itself where it can be read in place, else one copy."""
        check_mapped(X)
        if (
            not reset
            and not isinstance(X, Csr)
            and not (type(X) is np.ndarray and "feature_names_in_" not in vars(self))
        ):
            _check_feature_names(self, X, reset=False)
        if isinstance(X, Csr):
            X = sp.csr_array((X.data, X.indices, X.indptr), shape=X.shape)
        if not is_readable(X) or 0 in X.shape:
            rounding = Rounding(self.rounding)
            X = exact_rows(X, rounding)
            rounding.warn(4)
            X = check_array(
                X,
                accept_sparse="csr",
                accept_large_sparse=True,
                dtype=[np.float64, np.float32] if sp.issparse(X) else [np.float64, np.float32, np.uint8],
                order="C",
                ensure_all_finite=False,
                estimator=self,
                input_name="X",
            )
            X = with_one_index_width(X) if sp.issparse(X) else in_memory_order(X)
        if not reset and X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return X

    def _set_features(self, raw: Any, X: Any) -> None:
        if hasattr(self, "features_"):  # of a source that was learned from before
            del self.features_
        self.n_features_in_ = X.shape[1]
        names = _get_feature_names(raw)
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _set_source(self, features: Features, n_features: int, classes: Any) -> None:
        """Take over what a source has told in a fit."""
        self.features_ = features
        self.features_.fixed = True
        self.n_features_in_ = n_features
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._set_classes(Classes(classes))

    def _features(self, n_features: int) -> Features:
        """What a model file calls the columns."""
        names = vars(self).get("feature_names_in_")
        features: Features
        if "features_" in vars(self):
            features = self.features_
        elif names is None:
            features = NumberedFeatures(n_features, fixed=True)
        else:
            features = NamedFeatures()
            features.place([str(name) for name in names])
            if features.n_columns != n_features:
                raise ValueError(
                    "feature_names_in_ has names that are repeated: a model file needs one a column."
                )
            features.fixed = True
        return features

    def _read_labels(self, X: Any, y: Any) -> Any:
        labels = read_labels(y)
        if len(labels) != X.shape[0]:
            raise ValueError(
                f"X has {X.shape[0]} rows, but y has {len(labels)} labels: they must have the same length."
            )
        return labels

    def _meet(
        self, y: Any, classes: Any, *, begun: bool, grow: bool = False, alone: bool = True
    ) -> tuple[Classes, Ints]:
        """The classes known after these labels of `partial_fit`, and each label's index among them.

        With `alone` it may be but one, where none are declared: the second is yet to come.
        """
        if begun:
            if classes is not None:
                self._classes.check_same(classes)
            known, labels = self._classes.meet(y, grow=grow)
        elif classes is not None:
            known, labels = Classes(np.unique(np.asarray(classes))).meet(y, grow=False)
        else:
            found, labels = number(y)
            known = Classes(found)
        if len(known.labels) < 2 and (classes is not None or not alone):
            raise ValueError(
                f"partial_fit needs two classes to begin with, but there is only one class: "
                f"{known.labels.tolist()[0]!r}. Declare them with classes=[...]."
            )
        return known, labels

    def _read_weights(self, sample_weight: Any, X: Any) -> Floats | None:
        return None if sample_weight is None else read_weights(sample_weight, X.shape[0])

    def _weights(self, classes: Any, labels: Ints, sample_weight: Floats | None) -> Floats | None:
        """What multiplies each row's step: its own weight times its class's."""
        if getattr(self, "class_weight", None) is None:
            return sample_weight
        if isinstance(self.class_weight, dict):
            by_class = np.array([float(self.class_weight.get(c, 1.0)) for c in classes.tolist()])
        else:
            used = labels if sample_weight is None else labels[sample_weight > 0]
            by_class = compute_class_weight("balanced", classes=classes, y=classes[used])
        weights: Floats = by_class[labels]
        return weights if sample_weight is None else weights * sample_weight

    def _check_class_weight(self, classes: Any) -> None:
        weight = getattr(self, "class_weight", None)
        unknown = [c for c in weight if c not in classes.tolist()] if isinstance(weight, dict) else []
        if unknown:
            raise ValueError(
                f"class_weight names classes that y does not have: {unknown}; known are {list(classes)}."
            )

    def _turned(self, known: Classes) -> bool:
        """Whether the only class of earlier chunks is the second now that the other is known."""
        return "_classes" in vars(self) and known.turned(self._classes)

    def _set_classes(self, classes: Classes) -> None:
        self._classes, self.classes_ = classes, classes.labels

    def _read_all(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Ints, Floats | None]:
        """(X, classes, labels, weights) for a fresh fit, everything checked but the values of X."""
        self._check_parameters()
        X = self._read(X, reset=True)
        y = self._read_labels(X, y)
        weights = self._read_weights(sample_weight, X)
        kept = slice(None) if weights is None else weights > 0
        classes, found = number(y[kept])
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes in y, "
                f"but there is only one class: {classes.tolist()[0]!r}."
            )
        labels = found
        if weights is not None:  # labels of rows without weight are never looked at
            labels = np.zeros(len(y), dtype=np.int32)
            labels[kept] = found
        self._check_class_weight(classes)
        return X, classes, labels, self._weights(classes, labels, weights)

    # -- using ---------------------------------------------------------------------------------------
    @abstractmethod
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from X and y."""

    @abstractmethod
    def predict(self, X: Any) -> Any:
        """The class of each row."""

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._read(X, reset=False)

    def _label(self, places: Any) -> Any:
        """The labels at these places; while one class is known, it is the only answer."""
        return taken(self.classes_, places if len(self.classes_) > 1 else np.zeros_like(places))

    def _score(self, scores: Floats) -> Floats:
        """These scores; 0 while one class is known."""
        return scores if len(self.classes_) > 1 else np.zeros_like(scores)

    def _check_two(self) -> None:
        """Refuse to hand on what was learned of one class: the second to come may change all of it."""
        if len(self.classes_) == 1:
            raise ValueError(
                f"a model needs two classes, but so far there is only {self.classes_[0]!r}: learn from rows "
                "of another, or declare all at the first call of partial_fit."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class PerceptronClassifier(RowClassifier):
    """Abstract: a classifier whose training is a `Run` of a `Model`."""

    _model: Model
    _run: Run
    _cache: PredictionCache

    # -- training ------------------------------------------------------------------------------------
    def _check_parameters(self) -> None:
        """Check every parameter, unless they are those of the last check."""
        values, cache = list(parameter_values(self).values()), vars(self).get("_cache")
        if cache is not None and values == cache.checked:
            return
        super()._check_parameters()
        if cache is not None:
            cache.checked, cache.settings = values, Settings.of(self)

    def _read_chunk(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, *, grow: bool
    ) -> tuple[Any, Classes, Ints, Floats | None, Model]:
        """(X, classes, labels, weights, model) for `partial_fit`, everything checked but the values of X.

        While one class is known, the model takes it for the first of two.
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
        self._warn_unless_separated(X)

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
    def margin_upper_(self) -> float:
        """‖w‖/Στ, which is at least γ of the rows of `fit`, or of all rows after `partial_fit`.

        Infinite before the first update, from given weights, and where `fit` went on from other rows.
        """
        return margin_upper(self._fitted("margin_upper_"), self._run)

    def _fitted(self, name: str) -> Model:
        model = vars(self).get("_model")
        if model is None:
            raise AttributeError(f"This {type(self).__name__} has no {name}: it has not been fitted yet.")
        return model  # type: ignore[no-any-return]

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    def _warn_unless_separated(self, X: Any = None) -> None:
        """Say once that the data were not separated, and what may help; `X` is None for a stream."""
        run = self._run
        if run.verdict == "separated" or (self._early() and len(run.history) < self.max_epochs):
            return
        advice = []
        if X is not None and not run.consistent and _off_centre(X):
            advice.append("centring or scaling (R is far larger than the spread of the rows)")
        advice.append(MORE_EPOCHS)
        if not self.average:
            advice.append("average=True for a steadier model")
        advice.append(ASK)
        warnings.warn(not_separated(run, advice, bias=self.fit_intercept), ConvergenceWarning, stacklevel=4)

    def _early(self) -> bool:
        return bool(getattr(self, "early_stopping", False)) or self.callback is not None

    # -- using ---------------------------------------------------------------------------------------
    def report(self) -> Report:
        """The outcome of training as an object that prints itself, in text and in HTML."""
        with turns_of(self).reading:
            check_is_fitted(self)
            report = summarize(self._model, self._run, type(self).__name__, self.order)
            return replace(
                report, n_classes=len(self.classes_)
            )  # the model has room for two, if one is known


def read_labels(y: Any) -> Any:
    """`y` as a one-dimensional array of class labels."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None.")
    y = label_array(y)
    if y.ndim != 1:
        y = np.asarray(column_or_1d(y, warn=True))
    return check_labels(y)


MORE_EPOCHS = "more epochs (max_epochs)"
ASK = "asking whether they can be separated at all (novikoff.theory.separability decides it)"


def not_separated(run: Run, advice: Sequence[str], *, bias: bool) -> str:
    """What a warning says; of the advice, `MORE_EPOCHS` only where mistakes may still be falling."""
    mistakes = [int(r["mistakes"]) for r in run.history]
    what = f"The training rows were not separated in {len(mistakes)} epoch(s): "
    if run.verdict == "inseparable":
        useful = [a for a in advice if a not in (MORE_EPOCHS, ASK)]
        what += "w was 0 after an update, which proves that nothing separates them."
        return what + (f" What may help: {'; '.join(useful)}." if useful else "")
    what += f"{mistakes[-1]:,} mistakes in the last"
    if run.consistent:
        text = f"{what}. Every row is predicted right, but a score is exactly 0: that separates nothing"
        return text + ("." if bias else "; a bias (fit_intercept=True) may.")
    falling = _falling(mistakes)
    useful = [a for a in advice if a != MORE_EPOCHS or falling is not False]
    trend = {True: ", still falling", False: ", no longer falling", None: ""}[falling]
    return f"{what}{trend}. What may help: {'; '.join(useful)}."


def _falling(mistakes: Sequence[int]) -> bool | None:
    """Whether the last quarter of the epochs made fewer mistakes than the quarter before; None: too few."""
    quarter = len(mistakes) // 4
    if not quarter:
        return None if len(mistakes) < 2 else mistakes[-1] < mistakes[0]
    return sum(mistakes[-quarter:]) < sum(mistakes[-2 * quarter : -quarter])


def _off_centre(X: Any) -> bool:
    """Whether R is more than ten times the spread, judged on some two hundred rows."""
    check_mapped(X)
    step = max(X.shape[0] // 200, 1)
    sample = X[::step]
    if sp.issparse(sample):
        return False  # centring would destroy the zeros
    sample = np.asarray(sample, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.linalg.norm(sample - sample.mean(axis=0), axis=1).max()
        return bool(np.linalg.norm(sample, axis=1).max() > 10 * spread)
