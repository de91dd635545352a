"""`Perceptron`: the linear perceptron as a scikit-learn classifier."""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Integral
from os import PathLike, fspath
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from novikoff import streaming, training
from novikoff.classifier import PerceptronClassifier
from novikoff.labels import Classes, StreamClasses, as_text
from novikoff.model import Floats, Model, Scorer
from novikoff.models.linear import LinearModel
from novikoff.models.loading import load_linear
from novikoff.parameters import check_parameters, default, parameter_help
from novikoff.sources.source import Source
from novikoff.training import Run


class Perceptron(PerceptronClassifier):
    """A perceptron that stops when the data are separated, and says whether they were.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1 or n_classes, n_features) and (1 or n_classes,)
        The weights that predict: the last ones, or their mean with `average=True`. Read-only views;
        assign a new array to change them.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn. The second of two classes is +1.
    n_epochs_, n_updates_, n_mistakes_ : int
        Epochs of this fit; updates and mistakes over all calls.
    converged_ : bool
        An epoch passed without an update.
    verdict_ : {{'separated', 'undecided'}}
        'separated': the stored witness has y·s > 0 on every training row, checked exactly.
    witness_ : (coef, intercept) or None
        The last weights, lifted off a tie through the bias where that was needed.
    radius_ : float
        R: the largest norm of a row with its bias (√2 times it for joint multiclass).
    margin_ : float
        The witness's smallest margin. When a row is wrong the scan ends there, and this is that
        row's margin: not positive, and no less than the smallest one. NaN after `partial_fit`.
    margin_upper_ : float
        ‖w‖/Στ, which is at least γ.
    training_errors_ : int or None
        Wrong training rows, where they are known: 0 after a clean run, counted for averaged weights.
    history_ : list of dict
        Per epoch: mistakes, updates, norm of the weights, seconds (and the held-out accuracy).

    Notes
    -----
    `partial_fit` may meet classes it has not seen: each gets a zero row. Growing from two classes to
    three turns `coef_` from shape (1, d) into (3, d) with rows −w, +w and 0 (what joint updates would
    have left), and a tie, which predicted the second class before, now predicts the lowest class.

    Examples
    --------
    The lecture notes' six points, visited in order, without a bias:

    >>> import numpy as np
    >>> from novikoff import Perceptron
    >>> X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], dtype=float)
    >>> y = np.array([-1, 1, 1, -1, -1, 1])
    >>> model = Perceptron(order="cyclic", fit_intercept=False).fit(X, y)
    >>> model.coef_
    array([[3., 1.]])
    >>> model.n_mistakes_, model.n_epochs_, model.verdict_
    (3, 2, 'separated')
    """

    _names = (
        "rule",
        "average",
        "fit_intercept",
        "intercept_scaling",
        "max_epochs",
        "order",
        "random_state",
        "ties",
        "margin",
        "C",
        "multiclass",
        "class_weight",
        "early_stopping",
        "validation_fraction",
        "n_epochs_no_change",
        "warm_start",
        "n_jobs",
        "verbose",
        "callback",
    )

    def __init__(
        self,
        rule: str = default("rule"),
        *,
        average: bool = default("average"),
        fit_intercept: bool = default("fit_intercept"),
        intercept_scaling: float = default("intercept_scaling"),
        max_epochs: int = default("max_epochs"),
        order: str = default("order"),
        random_state: Any = default("random_state"),
        ties: str = default("ties"),
        margin: float = default("margin"),
        C: float = default("C"),
        multiclass: str = default("multiclass"),
        class_weight: Any = default("class_weight"),
        early_stopping: bool = default("early_stopping"),
        validation_fraction: float = default("validation_fraction"),
        n_epochs_no_change: int = default("n_epochs_no_change"),
        warm_start: bool = default("warm_start"),
        n_jobs: int | None = default("n_jobs"),
        verbose: int = default("verbose"),
        callback: Any = default("callback"),
    ) -> None:
        self.rule = rule
        self.average = average
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_epochs = max_epochs
        self.order = order
        self.random_state = random_state
        self.ties = ties
        self.margin = margin
        self.C = C
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_epochs_no_change = n_epochs_no_change
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    @classmethod
    def _from_model(
        cls, params: dict[str, Any], model: Model, classes: Any, feature_names: Any, run: Run | None = None
    ) -> Self:
        """A fitted estimator around a model that was learned elsewhere."""
        self = cls(**params)
        check_parameters(self, cls._names)
        self.n_features_in_ = model.n_features
        if feature_names is not None:
            self.feature_names_in_ = feature_names
        self._set_classes(Classes(classes))
        self._set_run(model, run or Run())
        return self

    # -- files ---------------------------------------------------------------------------------------
    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a file of data only, at once or not at all.

        Everything is kept that prediction, `report` and `partial_fit` need; `callback` and a
        `random_state` that is not a number are not data, and are None in the loaded model. Columns
        without names are numbered from 1, as in LIBSVM files.

        Raises
        ------
        ValueError
            When `coef_` or `intercept_` was assigned by hand: the file holds what was learned.
        OSError
            When the file cannot be written; what was there before is untouched.
        """
        check_is_fitted(self)
        self.to_linear().save(path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """The estimator in a file, from `save` or from the command line. Runs no code from the file.

        Its predictions, weights and report are those of the saved one, and `partial_fit` goes on from
        there, bit by bit.
        """
        linear = load_linear(path)
        try:
            return cls.from_linear(linear)
        except ValueError as error:
            raise ValueError(f"{fspath(path)}: {error}") from None

    def to_linear(self) -> LinearModel:
        """The fitted model as a `LinearModel`, which shares its memory."""
        model = self._fitted("model")
        if self._in_force.assigned is not None and not self._assigned_is_own():
            raise ValueError(
                "coef_ or intercept_ was assigned by hand, so it is not what was learned and cannot be saved "
                "with its counts. Begin a fit there instead: fit(X, y, coef_init=..., intercept_init=...)."
            )
        features = self._features(model.n_features)
        return LinearModel(
            model, self.classes_, features, None, self._sayable(), self._run, type(self).__name__, self.order
        )

    @classmethod
    def from_linear(cls, linear: LinearModel) -> Self:
        """The estimator around a `LinearModel`, which shares its memory."""
        if linear.scaling is not None:
            raise ValueError(
                "the model scales its input, which an estimator does not: use novikoff.load_model(path)."
            )
        params = {name: value for name, value in linear.parameters.items() if name in cls._names}
        if isinstance(params.get("class_weight"), list):
            params["class_weight"] = dict(params["class_weight"])
        settings = linear.model.settings  # what was learned with has the last word
        params |= {
            name: getattr(settings, name) for name in ("rule", "ties", "margin", "C", "average", "multiclass")
        }
        params["fit_intercept"] = settings.bias_square > 0
        if params["fit_intercept"] and params.get("intercept_scaling", 1.0) ** 2 != settings.bias_square:
            params["intercept_scaling"] = math.sqrt(settings.bias_square)
        names = None
        if linear.features.kind != "numbered":
            names = np.array(linear.features.names(range(linear.model.n_features)), dtype=object)
        return cls._from_model(params, linear.model, linear.classes, names, linear.run)

    def _sayable(self) -> dict[str, Any]:
        """The parameters as JSON can say them."""
        params: dict[str, Any] = self.get_params()
        if not isinstance(params["random_state"], Integral):
            params["random_state"] = None
        if isinstance(params["class_weight"], dict):  # a label need not be text, a key in JSON must
            params["class_weight"] = [[label, weight] for label, weight in params["class_weight"].items()]
        return params | {"callback": None}

    def _assigned_is_own(self) -> bool:
        """Whether what was assigned is what was learned, as after `sparsify`."""
        assert self._in_force.assigned is not None
        coef, intercept = self._in_force.assigned
        own = self._model.coef(averaged=self._model.settings.average)
        coef = coef.toarray() if sp.issparse(coef) else coef
        return np.array_equal(coef, own[0]) and np.array_equal(intercept, own[1])

    # -- learning ------------------------------------------------------------------------------------
    def fit(
        self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from scratch, or from given weights, or from where the last fit ended (`warm_start`).

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
        y : array of n labels
        coef_init, intercept_init : arrays shaped as `coef_` and `intercept_`, optional
            Weights to start from. The mistake bounds then no longer apply and are not reported.
        sample_weight : array of n numbers ≥ 0, optional
            Factors on each row's step; rows of weight 0 are left out.
        """
        raw = X
        X, classes, labels, weights = self._read_all(X, y, sample_weight)
        start = None
        if self.warm_start and self.__sklearn_is_fitted__() and coef_init is None and intercept_init is None:
            start = self._continued(X, classes)
        init = self._init(coef_init, intercept_init, len(classes), X.shape[1])
        model, run = training.fit(
            X, labels, len(classes), self._settings(), self._plan(), weights=weights, start=start, init=init
        )
        self._finish(raw, X, classes, model, run)
        return self

    def _continued(self, X: Any, classes: Any) -> Model:
        if X.shape[1] != self.n_features_in_ or not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"warm_start goes on from {self.n_features_in_} features and classes {list(self.classes_)}, "
                f"but now there are {X.shape[1]} and {list(classes)}: fit a clone instead."
            )
        if self._settings() != self._model.settings:
            raise ValueError(
                "warm_start cannot change the rule, bias or averaging of the fit before: fit a clone."
            )
        return self._model

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

    def fit_source(self, source: Source, classes: Any = None) -> Self:
        """Learn from files, block by block, however large they are.

        Rows are visited as they lie in the source, whatever `order` says, and every epoch reads it again; the
        weights are those of `order="cyclic"` on the same rows in memory. `early_stopping` is not for sources.
        Weights of rows come from the source.

        Parameters
        ----------
        source : Source
            What `novikoff.open_source` opened. Its features are kept as `features_`: open other files for
            this model by ``open_source(path, features=model.features_)``.
        classes : list of labels, optional
            All classes, in the order that decides ties. Without it they are found, and sorted.

        Examples
        --------
        >>> import io, novikoff
        >>> rows = io.BytesIO(b"spam | free:2 now\\nham | lunch now\\n")
        >>> source = novikoff.open_source(rows, format="vw")
        >>> model = novikoff.Perceptron().fit_source(source)
        >>> model.verdict_, model.features_.names([0, 1, 2])
        ('separated', ['free', 'now', 'lunch'])
        >>> more = novikoff.open_source(io.BytesIO(b"| lunch\\n"), features=model.features_, labelled=False)
        >>> [model.predict(block.X).tolist() for block in more.blocks()]
        [['ham']]
        """
        self._check_parameters()
        if self.early_stopping:
            raise ValueError("early_stopping needs all rows in memory: load the file and call fit.")
        weight = self.class_weight
        if isinstance(weight, dict):
            weight = {as_text(label): float(value) for label, value in weight.items()}
        declared = None if classes is None else list(classes)
        plan = replace(self._plan(), order="cyclic")
        learned = streaming.fit(source, StreamClasses(declared), self._settings(), plan, class_weight=weight)
        self.features_ = source.features
        self.features_.fixed = True
        self.n_features_in_ = learned.model.n_features
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._set_classes(Classes(learned.classes))
        self._set_run(learned.model, learned.run)
        if learned.run.interrupted:
            raise KeyboardInterrupt
        self._warn_unless_separated()
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from these rows once, in their order, going on from what there is.

        `classes` declares all classes at the first call; without it they are those of the rows so far,
        and unseen ones are added as they come. A chunk that is refused leaves the model as it was.
        """
        raw = X
        X, known, labels, weights, model = self._read_chunk(X, y, classes, sample_weight, grow=True)
        run = training.learn(model, X, labels, len(known.labels), weights)
        self._finish_chunk(raw, X, known, model, run)
        return self

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
    def witness_(self) -> tuple[Floats, Floats] | None:
        self._fitted("witness_")
        return self._run.witness

    def _assign(self, coef: Any, intercept: Any) -> None:
        self._in_force.renew((coef, intercept))

    def _pair(self, name: str) -> tuple[Any, Any]:
        """The weights in force: those assigned by hand, or the model's last or averaged ones."""
        model, force = self._fitted(name), self._in_force
        if force.assigned is not None:
            return force.assigned
        if model.settings.average and force.averaged is None:
            force.averaged = model.coef(averaged=True)  # O(features) to make, so made once
        coef, intercept = (a.view() for a in force.averaged or model.coef(averaged=False))
        coef.flags.writeable = intercept.flags.writeable = False
        return coef, intercept

    def sparsify(self) -> Self:
        """Turn `coef_` into a sparse matrix, to save memory where most weights are 0."""
        check_is_fitted(self)
        self.coef_ = sp.csr_array(self.coef_)
        return self

    def densify(self) -> Self:
        """Turn `coef_` back into a dense array."""
        check_is_fitted(self)
        if sp.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    # -- predicting ----------------------------------------------------------------------------------
    def _scorer(self) -> Scorer:
        force = self._in_force
        if force.scorer is None:
            if force.assigned is None and not self._model.settings.average:
                force.scorer = self._model.scorer(averaged=False)
            else:
                coef, intercept = self._pair("coef_")
                coef = coef.toarray() if sp.issparse(coef) else np.asarray(coef, dtype=np.float64)
                force.scorer = Scorer.from_weights(coef, np.asarray(intercept, dtype=np.float64))
        return force.scorer

    def predict(self, X: Any) -> Any:
        """The class of each row, by the exact sign or argmax of its scores."""
        X = self._checked(X)
        return self.classes_[self._scorer().predict(X, self.n_jobs)]

    def decision_function(self, X: Any) -> Any:
        """Scores: (n,) for two classes, (n, n_classes) for more; sign and argmax are the exact ones."""
        X = self._checked(X)
        return self._scorer().scores(X, self.n_jobs)


assert Perceptron.__doc__ is not None
Perceptron.__doc__ = Perceptron.__doc__.format(
    parameters=parameter_help(Perceptron._names).replace("\n", "\n    ")
)
