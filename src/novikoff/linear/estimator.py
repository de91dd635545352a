"""Common code of the linear classifiers: weights, starting points of a fit, and files."""

from __future__ import annotations

import math
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from novikoff.classifier import names_of
from novikoff.data.arrays import raise_problem, row_not_finite
from novikoff.data.named_rows import NamedRows
from novikoff.data.scaling import Scaling, scaled
from novikoff.linear.classifier import PerceptronClassifier
from novikoff.linear.model import LinearModel
from novikoff.parameters.common import AUTO
from novikoff.parameters.parameter import parameters_for_file, parameters_of
from novikoff.training.turns import turns_of
from novikoff.training.weights import Floats, Model, Scorer, Settings

if TYPE_CHECKING:
    from novikoff.data.sources.source import Source
    from novikoff.proof.certificates import Certificate


class LinearClassifier(PerceptronClassifier):
    """Abstract: a classifier with one weight per feature and class."""

    # -- files ---------------------------------------------------------------------------------------
    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model atomically to a file that holds only data.

        The file has everything that prediction, `report` and `partial_fit` need. `callback`, and a
        `random_state` that is not a number, are not data; they are None in the loaded model. Columns without
        names are numbered from 1, as in LIBSVM files.

        Raises
        ------
        ValueError
            When `coef_` or `intercept_` was assigned by hand: the file holds what was learned.
        OSError
            When the file cannot be written; an existing file is left unchanged.
        """
        check_is_fitted(self)
        self.to_linear().save(path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Load an estimator from a file of `save` or of the command line. No code from the file is run.

        Its predictions, weights and report equal those of the saved estimator, and `partial_fit` continues
        from there, bit for bit.
        """
        linear = LinearModel.load(path)
        try:
            return cls.from_linear(linear)
        except (ValueError, TypeError, OverflowError) as error:  # illegal parameters
            raise ValueError(f"{fspath(path)}: {error}") from None

    def to_linear(self) -> LinearModel:
        """The fitted model as a `LinearModel`, which shares its memory."""
        with turns_of(self).reading:
            check_is_fitted(self)
            self._check_two()
            model = self._model
            if self._cache.assigned is not None and not self._assigned_is_own():
                raise ValueError(
                    "coef_ or intercept_ was assigned by hand, so it is not the learned model and cannot "
                    "be saved with its counts. Start a fit from it instead: fit(X, y, coef_init=..., "
                    "intercept_init=...)."
                )
            features = self._features(model.n_features)
            return LinearModel(
                model,
                self.classes_,
                features,
                self._scaling,
                self._parameters_for_file(),
                self._run,
                type(self).__name__,
                self.order,
            )

    @classmethod
    def from_linear(cls, linear: LinearModel) -> Self:
        """The estimator around a `LinearModel`, which shares its memory."""
        if linear.scaling is not None and "scale" not in parameters_of(cls):
            raise ValueError(
                f"the model scales its input, which {cls.__name__} does not: use novikoff.load_model(path)."
            )
        if linear.name == "Pocket":
            raise ValueError("it is a pocket's: Pocket.load, or novikoff.load_model, reads it.")
        params = cls._parameters_of(linear.parameters, linear.model.settings)
        names = names_of(linear.features)
        self = cls._from_model(params, linear.model, linear.classes, names, linear.run)
        self.features_ = linear.features
        self._scaling = linear.scaling
        return self

    def _parameters_for_file(self) -> dict[str, Any]:
        return parameters_for_file(self)

    def _assigned_is_own(self) -> bool:
        """Whether the assigned weights equal the learned ones, as after `sparsify`."""
        assert self._cache.assigned is not None
        coef, intercept = self._cache.assigned
        own = self._model.coef(averaged=self._model.averages)
        coef = coef.toarray() if sp.issparse(coef) else coef
        return np.array_equal(coef, own[0]) and np.array_equal(intercept, own[1])

    # -- where a fit starts --------------------------------------------------------------------------
    def _continued_source(self, source: Source, classes: list[Any] | None) -> Model:
        """The model of the last fit, to go on with a source."""
        if not hasattr(self, "features_") or source.features is not self.features_:
            raise ValueError(
                "warm_start continues with the columns of the last fit: open the source with "
                "open_source(..., features=model.features_), or fit a clone."
            )
        if classes is not None and classes != self.classes_.tolist():
            raise ValueError(
                f"warm_start continues a fit of the classes {self.classes_.tolist()}, not {classes}: "
                "fit a clone."
            )
        self._check_same_settings()
        return self._model

    def _continued(self, X: Any, classes: Any) -> Model:
        if X.shape[1] != self.n_features_in_ or not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"warm_start continues a fit of {self.n_features_in_} features and classes "
                f"{list(self.classes_)}, but now there are {X.shape[1]} and {list(classes)}: fit a clone."
            )
        self._check_same_settings()
        return self._model

    def _check_same_settings(self) -> None:
        if Settings.of(self) != self._model.settings:
            raise ValueError(
                "warm_start cannot change the rule, bias or averaging of the previous fit: fit a clone."
            )

    def _init(self, coef: Any, intercept: Any, n_classes: int, d: int) -> tuple[Floats, Floats] | None:
        if coef is None and intercept is None:
            return None
        k = 1 if n_classes == 2 else n_classes
        coef = np.zeros((k, d)) if coef is None else np.atleast_2d(np.asarray(coef, dtype=np.float64))
        intercept = (
            np.zeros(k) if intercept is None else np.atleast_1d(np.asarray(intercept, dtype=np.float64))
        )
        if coef.shape != (k, d) or intercept.shape != (k,):
            raise ValueError(
                f"coef_init and intercept_init must have shapes ({k}, {d}) and ({k},), "
                f"not {coef.shape} and {intercept.shape}."
            )
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise ValueError("coef_init and intercept_init must be finite.")
        if intercept.any() and not self.fit_intercept:
            raise ValueError("intercept_init needs fit_intercept=True.")
        return coef, intercept

    # -- scaled rows ---------------------------------------------------------------------------------
    _scaling: Scaling | None = (
        None  # of the rows that are learned and predicted; not "auto", which needs none
    )

    def _measured(
        self, raw: Any, X: Any, weights: Floats | None, *, begun: bool = False
    ) -> tuple[Any, Scaling | None]:
        """The rows to learn from, scaled as the parameters say; a model that has begun keeps its scaling.

        The scaling becomes the estimator's when the rows have been learned: a refused call changes nothing.
        """
        if begun or (self.warm_start and self.__sklearn_is_fitted__()):
            return self._scaled(X), self._scaling
        kind = vars(self).get("scale")
        if kind in (None, AUTO):
            return X, None
        rows = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights)
        kept = X if len(rows) == X.shape[0] else X[rows]
        if (bad := row_not_finite(kept)) >= 0:
            raise_problem("not finite", int(rows[bad]), X)
        scaling = Scaling.of_rows(kind, kept, raw.features if isinstance(raw, NamedRows) else None)
        return scaling.of(X), scaling

    def _scaled(self, X: Any) -> Any:
        """The rows that the weights are for."""
        return scaled(X, self._scaling)

    # -- weights -------------------------------------------------------------------------------------
    @property
    def coef_(self) -> Any:
        return self._pair("coef_")[0]

    @coef_.setter
    def coef_(self, value: Any) -> None:
        self._assign(value, self._pair("coef_")[1])

    @property
    def intercept_(self) -> Any:
        return self._pair("intercept_")[1]

    @intercept_.setter
    def intercept_(self, value: Any) -> None:
        self._assign(self._pair("intercept_")[0], value)

    @property
    def predicts_with_(self) -> str:
        return "averaged" if self._fitted("predicts_with_").averages else "last"

    def certificate(self, X: Any, y: Any) -> Certificate:
        """What the last fit proved about its rows, as a certificate that `novikoff.checker` verifies.

        Nothing is searched for: the claim is that of `verdict_`, by the witness that the fit found.

        Parameters
        ----------
        X, y
            The rows and labels of the fit, which the certificate identifies by their digest.

        Raises
        ------
        ValueError
            When the fit has proved nothing that a certificate can state: use `novikoff.theory.certify`.

        Examples
        --------
        >>> from novikoff import Perceptron
        >>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]
        >>> model = Perceptron(max_epochs="auto", average="auto").fit(X, y)
        >>> print(model.certificate(X, y))
        inseparable: 4 vectors sum up to exactly 0 with positive weights
        """
        from novikoff.proof.certificates import certificate_of

        with turns_of(self).reading:
            model = self._fitted("certificate")
            if self._scaling is not None:
                raise ValueError(
                    f"what the fit proved is about its rows after scale={self._scaling.kind!r}: learn from "
                    "scaling_.of(X) with scale=None to certify it."
                )
            if model.apart:
                raise ValueError(
                    "the fit learned each class against the rest: a certificate states one claim about all "
                    "classes, which novikoff.theory.certify proves."
                )
            scale = math.sqrt(model.settings.bias_square)
            return certificate_of(self._run, X, y, self.classes_, bias=scale, ties=model.settings.ties)

    def _assign(self, coef: Any, intercept: Any) -> None:
        self._cache.renew((coef, intercept))

    def _pair(self, name: str) -> tuple[Any, Any]:
        """The weights in force: those assigned by hand, or the model's last or averaged ones."""
        model, cache = self._fitted(name), self._cache
        if cache.assigned is not None:
            return cache.assigned
        if model.averages and cache.averaged is None:
            cache.averaged = model.coef(averaged=True)  # takes O(features), so it is made once
        coef, intercept = (a.view() for a in cache.averaged or model.coef(averaged=False))
        coef.flags.writeable = intercept.flags.writeable = False
        return coef, intercept

    def sparsify(self) -> Self:
        """Turn `coef_` into a sparse matrix, to save memory if most weights are 0."""
        check_is_fitted(self)
        self.coef_ = sp.csr_array(self.coef_)
        return self

    def densify(self) -> Self:
        """Turn `coef_` back into a dense array."""
        check_is_fitted(self)
        if sp.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    def _scorer(self) -> Scorer:
        cache = self._cache
        if cache.scorer is None:
            if cache.assigned is None:
                cache.scorer = self._model.scorer(averaged=self._model.averages)
            else:
                coef, intercept = self._pair("coef_")
                coef = coef.toarray() if sp.issparse(coef) else np.asarray(coef, dtype=np.float64)
                cache.scorer = Scorer.from_weights(coef, np.asarray(intercept, dtype=np.float64))
        return cache.scorer
