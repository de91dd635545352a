"""`MaxMarginClassifier`: the separator with the largest margin, a hard-margin support vector machine."""

from __future__ import annotations

from dataclasses import KW_ONLY
from os import PathLike, fspath
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from novikoff.classifier import RowClassifier, names_of
from novikoff.data.labels import Classes
from novikoff.linear.model import LinearModel
from novikoff.outward import ceil_text
from novikoff.parameters.max_margin import MAX_MARGIN_PARAMETERS
from novikoff.parameters.parameter import (
    DEFAULT,
    check_parameters,
    parameter_values,
    parameters_from_file,
    parameters_of,
    with_parameters,
)
from novikoff.proof.maxmargin import solve
from novikoff.proof.problem import read_problem
from novikoff.training.linear import sound
from novikoff.training.turns import turns_of
from novikoff.training.weights import Floats, Ints, Model, Scorer, Settings

FOUND = ("margin_", "margin_upper_", "n_passes_")  # kept in files


@with_parameters(MAX_MARGIN_PARAMETERS)
class MaxMarginClassifier(RowClassifier):
    """The linear separator that stays as far from all rows as possible: a hard-margin support vector machine.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1 or n_classes, n_features) and (1 or n_classes,)
        u/γ, the canonical form of a support vector machine: every row has y·s ≥ 1, up to rounding, and the
        support vectors are near 1. With three classes or more, w_y·x ≥ w_c·x + 1 for every other class c.
    margin_, margin_upper_ : float
        The bracket: margin_ ≤ γ ≤ margin_upper_, as real numbers. `margin_` is the margin of the weights,
        and `margin_upper_` is proved by `dual_coef_`; their difference is at most `gap` of it, unless the
        time limit ended the search.
    support_ : array of shape (n_supports,)
        The rows with positive α, the support vectors.
    dual_coef_ : array of shape (1, n_supports), or (n_classes, n_supports) for three classes or more
        α·y of each of them, with Σ α = 1: `coef_` is near Σ α·y·x/γ². With three classes or more, what a row
        adds to the weights of each class.
    n_passes_ : int
        Passes over all rows.
    classes_, n_features_in_, feature_names_in_, features_
        As for every classifier.

    Notes
    -----
    *Separable rows only.* Where no weights separate the rows, there is no hard margin, and `fit` raises a
    ValueError. `Perceptron` with `average=True`, or `LinearSVC` of scikit-learn with a soft margin, are for
    such rows.

    *The bias* is one more coordinate, `intercept_scaling`, and part of the norm, as in the whole package and
    in `LinearSVC`. `SVC` leaves it free; a large `intercept_scaling` comes near to that.

    *Files.* `save` writes the weights and the bracket, without `support_` and `dual_coef_`: a linear model,
    which `novikoff.load_model` reads too.

    Examples
    --------
    >>> from novikoff import MaxMarginClassifier
    >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    >>> model = MaxMarginClassifier(fit_intercept=False).fit(X, [-1, 1, 1, -1, -1, 1])
    >>> model.coef_.round(6).tolist(), f"{model.margin_:.6f} ≤ γ ≤ {model.margin_upper_:.6f}"
    ([[1.0, 0.0]], '1.000000 ≤ γ ≤ 1.000000')
    """

    gap: float = DEFAULT
    _: KW_ONLY
    fit_intercept: bool = DEFAULT
    intercept_scaling: float = DEFAULT
    time_limit: float | None = DEFAULT
    n_jobs: int | None = DEFAULT
    rounding: str = DEFAULT

    def fit(self, X: Any, y: Any) -> Self:
        """Find the separator with the largest margin, up to `gap`.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            Columns of text, categories, dates and times in a frame become features as those of a CSV file do.
        y : array of n labels

        Raises
        ------
        ValueError
            When no weights were found that separate the rows.
        """
        with turns_of(self).learning:
            raw = X = self._to_learn(X)
            X, classes, labels, _ = self._read_all(X, y, None)
            bias = float(self.intercept_scaling) if self.fit_intercept else 0.0
            problem = read_problem(sound(X), labels, fit_intercept=bias > 0, intercept_scaling=bias or 1.0)
            found = solve(problem, gap=float(self.gap), time_limit=self.time_limit)
            if not found.is_separating:
                known = (
                    "no weights separate them (proved)"
                    if not found.upper
                    else (f"no separating weights were found, and γ ≤ {ceil_text(found.upper)}")
                )
                raise ValueError(
                    f"the rows have no hard margin: {known}. Use Perceptron(average=True), or a soft margin "
                    "(LinearSVC)."
                )
            self._set_features(raw, X)
            self._set_classes(Classes(classes))
            self.margin_, self.margin_upper_ = found.lower, found.upper
            self.coef_: Floats = found.coef / found.lower
            self.intercept_: Floats = found.intercept / found.lower
            alpha = self._signed(found.alpha, labels)
            self.support_: npt.NDArray[np.int64] = np.flatnonzero(alpha.any(axis=1))
            self.dual_coef_: Floats = np.ascontiguousarray(alpha[self.support_].T)
            self.n_passes_ = found.passes
            if found.interrupted:
                raise KeyboardInterrupt
            return self

    @staticmethod
    def _signed(alpha: Floats, labels: Ints) -> Floats:
        """α·y of each row in a column; with three classes or more what the row adds to each class."""
        if alpha.ndim == 1:
            return (alpha * np.where(labels == 1, 1.0, -1.0))[:, None]
        own, signed = np.arange(len(labels)), -alpha
        signed[own, labels] = 0.0
        signed[own, labels] = -signed.sum(axis=1)
        return signed

    def __sklearn_is_fitted__(self) -> bool:
        return "coef_" in vars(self)

    def predict(self, X: Any) -> Any:
        """The class of each row, by the exact sign or argmax of its scores."""
        with turns_of(self).reading:
            X = self._checked(X)
            return self._label(self._scorer().predict(X, self.n_jobs))

    def decision_function(self, X: Any) -> Any:
        """Scores: (n,) for two classes, (n, n_classes) for more; sign and argmax are exact."""
        with turns_of(self).reading:
            X = self._checked(X)
            return self._scorer().scores(X, self.n_jobs)

    def _scorer(self) -> Scorer:
        return Scorer.from_weights(self.coef_, self.intercept_)

    # -- files ---------------------------------------------------------------------------------------
    def to_linear(self) -> LinearModel:
        """The weights as a `LinearModel`; the bracket is in its `found`."""
        with turns_of(self).reading:
            check_is_fitted(self)
            square = float(self.intercept_scaling) ** 2 if self.fit_intercept else 0.0
            n_features = self.n_features_in_
            model = Model(len(self.classes_), n_features, Settings(bias_square=square, average=False))
            model.start_from(self.coef_, self.intercept_)
            return LinearModel(
                model,
                self.classes_,
                self._features(n_features),
                parameters={
                    name: value for name, value in parameter_values(self).items() if name != "n_jobs"
                },
                name=type(self).__name__,
                found={name: float(getattr(self, name)) for name in FOUND},
            )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the weights and the bracket atomically to a file that holds only data."""
        self.to_linear().save(path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Load the estimator that `save` wrote; it predicts the same. No code from the file is run."""
        linear = LinearModel.load(path)
        if not linear.found.keys() >= {*FOUND}:
            raise ValueError(f"{fspath(path)} holds a {linear.name}, not a {cls.__name__}.")
        known = parameters_of(cls)
        try:
            self = cls(**parameters_from_file(linear.parameters, known))
            check_parameters(self)
        except (TypeError, ValueError, OverflowError) as error:  # illegal parameters
            raise ValueError(f"{fspath(path)}: {error}") from None
        self.n_features_in_ = linear.features.n_columns
        names = names_of(linear.features)
        if names is not None:
            self.feature_names_in_ = names
        self.features_ = linear.features
        self._set_classes(Classes(linear.classes))
        self.coef_, self.intercept_ = linear.weights()
        self.margin_, self.margin_upper_ = linear.found["margin_"], linear.found["margin_upper_"]
        self.n_passes_ = int(linear.found["n_passes_"])
        return self
