"""`Perceptron`: the linear perceptron as a scikit-learn classifier."""

from __future__ import annotations

import numbers
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from novikoff.data.labels import StreamClasses, as_text
from novikoff.data.scaling import Scaling
from novikoff.data.sources.source import Source
from novikoff.linear.dual import Dual, dual_of
from novikoff.linear.estimator import LinearClassifier
from novikoff.parameters.linear import PERCEPTRON_PARAMETERS
from novikoff.parameters.parameter import DEFAULT, with_parameters
from novikoff.proof.asked import ask
from novikoff.training import linear as training
from novikoff.training import streaming
from novikoff.training.plan import Plan
from novikoff.training.turns import turns_of
from novikoff.training.weights import Settings


@with_parameters(PERCEPTRON_PARAMETERS)
class Perceptron(LinearClassifier):
    """A perceptron that trains until its rows are separated or proved inseparable, and reports which.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1 or n_classes, n_features) and (1 or n_classes,)
        The weights that predict: `predicts_with_` says which. Read-only views; assign a new array to change
        them.
    predicts_with_ : {'last', 'averaged'}
        The last weights, or their mean after each visit; with `average='auto'` the rows of the fit decide.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn. The second of two classes is +1.
    features_ : novikoff.data.sources.features.Features
        After `fit_source` and `load`: the columns, with which other files can be opened.
    n_epochs_, n_updates_, n_mistakes_ : int
        Epochs of the last call; updates and mistakes over all calls.
    converged_ : bool
        The last epoch was clean: it made no update (with order='worst', no row needed one; for the
        passive-aggressive rules and `max_epochs='auto'`, no row was a mistake), and its weights were kept. So
        the last weights make no training error.
    verdict_ : {'separated', 'inseparable', 'undecided'}
        About the training rows. 'separated': `witness_` has y·s > 0 on every row, checked exactly.
        'inseparable': no weights have, which was proved; `certificate` gives the proof.
    witness_ : (coef, intercept) or None
        The last weights, raised through the bias if that was needed to lift ties at 0; or, if these do not
        separate the rows, weights that were found when training asked whether any do. They need not be the
        weights that predict.
    scaling_ : novikoff.data.scaling.Scaling or None
        With `scale` 'standard', 'maxabs' or 'unit': `scaling_.of(X)` are the scaled rows, of which `coef_`,
        verdicts and all figures speak. `predict` scales the rows it gets.
    scale_ : array of shape (n_features,), or None
        The powers of two by which the columns were multiplied while they were learned (`scale`); None: all
        are 1. `coef_`, `witness_`, verdicts and certificates are about the rows as they are; `radius_`,
        `margin_`, `margin_upper_` and the bounds of `report` about the rows times these factors.
    radius_ : float
        R: the largest norm of a row with its bias (√2 times it for joint multiclass), rounded up.
    margin_ : float
        The smallest margin of the witness, rounded down. If a row is wrong, the scan ends there and this is
        the margin of that row: not positive, and no less than the smallest one. NaN after `partial_fit`.
    margin_upper_ : float
        ‖w‖/Στ, which is at least γ of the rows of `fit`, or of all rows after `partial_fit`; rounded up.
        Infinite before the first update, if the fit started from given weights, and after a warm start on
        other rows.
    training_errors_ : int or None
        The number of training rows that `predict` gets wrong; None after `partial_fit` and for sources that
        can be read only once.
    history_ : list of dict
        Per epoch of the last call: mistakes, updates, norm of the weights, seconds (and the held-out
        accuracy).

    Notes
    -----
    `partial_fit` may begin with rows of one class, which is then the only prediction, with a score of 0: see
    "Undeclared classes" in docs/guide.md. Later chunks may have new classes: each gets a zero row. From two
    classes to three, `coef_` changes from shape (1, d) to (3, d) with rows −w, +w and 0 (as joint updates
    would have left it), and a tie, which predicted the second class before, now predicts the lowest class.

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

    rule: str = DEFAULT
    _: KW_ONLY
    average: bool | str = DEFAULT
    fit_intercept: bool = DEFAULT
    intercept_scaling: float = DEFAULT
    max_epochs: int | str = DEFAULT
    order: str = DEFAULT
    random_state: Any = DEFAULT
    ties: str = DEFAULT
    margin: float = DEFAULT
    C: float = DEFAULT
    eta: float = DEFAULT
    multiclass: str = DEFAULT
    class_weight: Any = DEFAULT
    early_stopping: bool = DEFAULT
    validation_fraction: float = DEFAULT
    n_epochs_no_change: int = DEFAULT
    warm_start: bool = DEFAULT
    n_jobs: int | None = DEFAULT
    verbose: int = DEFAULT
    callback: Any = DEFAULT
    rounding: str = DEFAULT
    scale: str | None = DEFAULT

    # -- learning ------------------------------------------------------------------------------------
    def fit(
        self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from scratch, from given weights, or from the end of the last fit (`warm_start`).

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            Columns of text, categories, dates and times in a frame become features as those of a CSV file do.
        y : array of n labels
        coef_init, intercept_init : arrays shaped as `coef_` and `intercept_`, optional
            Weights to start from. The mistake bounds then no longer apply and are not reported.
        sample_weight : array of n numbers ≥ 0, optional
            Factors on each row's step; rows of weight 0 are left out.
        """
        with turns_of(self).learning:
            raw = X = self._to_learn(X)
            X, classes, labels, weights = self._read_all(X, y, sample_weight)
            X, scaling = self._measured(raw, X, weights)
            start = None
            if (
                self.warm_start
                and self.__sklearn_is_fitted__()
                and coef_init is None
                and intercept_init is None
            ):
                start = self._continued(X, classes)
            init = self._init(coef_init, intercept_init, len(classes), X.shape[1])
            model, run = training.fit(
                X,
                labels,
                len(classes),
                Settings.of(self),
                Plan.of(self, ask=ask),
                weights=weights,
                start=start,
                init=init,
                scale=self.scale,
            )
            self._scaling = scaling
            self._finish(raw, X, classes, model, run)
            return self

    def fit_source(self, source: Source, classes: Any = None) -> Self:
        """Learn from files of any size, block by block; with `warm_start`, on from the end of the last fit.

        Every epoch reads the source again: with `order="riffle"` at many places at once, after a pass that
        finds all columns and classes, and otherwise in its own order. The weights equal those of "riffle" or
        "cyclic" on the same rows in memory. What can be read only in its order, such as a compressed file
        without a cache, is not riffled; the report says which order it was. `early_stopping` is not
        possible. Sample weights come from the source.

        Parameters
        ----------
        source : Source
            The result of `novikoff.open_source`. Its features are kept as `features_`: open other files for
            this model with ``open_source(path, features=model.features_)``, also to go on with `warm_start`.
        classes : list of labels, optional
            All classes, in the order that decides ties. By default they are found and sorted.

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
        with turns_of(self).learning:
            self._check_parameters()
            if self.early_stopping:
                raise ValueError("early_stopping needs all rows in memory: load the file and call fit.")
            weight = self.class_weight
            if isinstance(weight, dict):
                weight = {as_text(label): float(value) for label, value in weight.items()}
            start, declared = None, None if classes is None else list(classes)
            if self.warm_start and self.__sklearn_is_fitted__():
                start = streaming.Start(self._continued_source(source, declared), self._scaling)
            known = StreamClasses(declared) if start is None else StreamClasses.of_model(self.classes_)
            order = "riffle" if self.order == "riffle" else "cyclic"
            plan, settings = Plan.of(self, order=order, ask=ask), Settings.of(self)
            learned = streaming.fit(
                *(source, known, settings, plan), class_weight=weight, scale=self.scale, start=start
            )
            self._set_source(source.features, learned.model.n_features, learned.classes)
            self._scaling = learned.scaling
            learned.run.as_given = learned.order == "cyclic"
            self._set_run(learned.model, learned.run)
            if learned.run.interrupted:
                raise KeyboardInterrupt
            self._warn_unless_separated()
            return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Continue learning from these rows, once and in their order.

        `classes` declares all classes in the first call; without it new classes are added when they appear. A
        single class is learned as the first of two; if the next one is a smaller number, the model becomes as
        if the single class had been the second from the start. A refused chunk leaves the model unchanged.
        """
        with turns_of(self).learning:
            raw = X = self._to_learn(X, begun="_model" in vars(self))
            X, known, labels, weights, model = self._read_chunk(X, y, classes, sample_weight, grow=True)
            X, scaling = self._measured(raw, X, weights, begun="_model" in vars(self))
            turned = self._turned(known)
            run = training.learn(
                *(model, X, labels, len(known.labels), weights), turned=turned, scale=self.scale
            )
            self._scaling = scaling
            self._finish_chunk(raw, X, known, model, run)
            return self

    @property
    def scaling_(self) -> Scaling | None:
        self._fitted("scaling_")
        return self._scaling

    # -- the dual form -------------------------------------------------------------------------------
    def dual(self, X: Any, y: Any, sample_weight: Any = None, *, averaged: bool | None = None) -> Dual:
        """α of the last fit: the weights as a sum over the rows, w = Σ α_i·y_i·x_i.

        Where columns were learned with factors s (`scale_`), w are the weights of the rows s·x, and `coef_`
        is s²·Σ α_i·y_i·x_i.

        The fit is run again with its updates recorded, so its rows, labels and weights must be given, and
        `random_state` must be a number (or the order "cyclic" or "worst"). x is the row that was learned:
        scaled, if the fit scaled rows; with `scale='auto'` see `Dual.factors`.

        Parameters
        ----------
        X, y, sample_weight : as given to `fit`
        averaged : bool, optional
            Whether the averaged weights are asked for, or the last ones; by default those that predict.

        Raises
        ------
        ValueError
            When the fit cannot be repeated, or gives other weights; and for rules with variances, whose
            weights are not such a sum.

        Examples
        --------
        >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
        >>> y = [-1, 1, 1, -1, -1, 1]
        >>> model = Perceptron(fit_intercept=False, order="cyclic").fit(X, y)
        >>> found = model.dual(X, y)
        >>> found.alpha.tolist(), found.mistakes_by_class
        ([1.0, 0.0, 1.0, 0.0, 1.0, 0.0], {-1: 2, 1: 1})
        """
        with turns_of(self).reading:
            own = self._fitted("dual")
            if own.settings.has_variances:
                raise ValueError(f"the weights of the rule {self.rule!r} are no sum of multiples of rows.")
            if self.warm_start or self.early_stopping:
                raise ValueError("a fit with warm_start or early_stopping cannot be repeated from its rows.")
            repeats = isinstance(self.random_state, numbers.Integral) or self.order in ("cyclic", "worst")
            if not repeats:
                raise ValueError(
                    f"the order {self.order!r} was drawn at random: fit with a number as random_state."
                )
            other = clone(self).set_params(callback=None, verbose=0)
            raw = other._to_learn(X)
            X, classes, labels, weights = other._read_all(raw, y, sample_weight)
            X, _ = other._measured(raw, X, weights)
            plan = Plan.of(other, record_updates=True, ask=ask)
            model, _ = training.fit(
                *(X, labels, len(classes), own.settings, plan), weights=weights, scale=self.scale
            )
            pairs = zip(model.coef(averaged=False), own.coef(averaged=False), strict=True)
            if not all(np.array_equal(a, b) for a, b in pairs):
                raise ValueError("the fit gives other weights: X and y must be those that it was given.")
            averaged = own.averages if averaged is None else averaged
            if averaged and not own.settings.average:
                raise ValueError("the model has no averaged weights: fit with average=True.")
            return dual_of(model, labels, classes.tolist(), averaged=averaged)

    # -- predicting ----------------------------------------------------------------------------------
    def predict(self, X: Any) -> Any:
        """The class of each row, by the exact sign or argmax of its scores."""
        with turns_of(self).reading:
            X = self._scaled(self._checked(X))
            return self._label(self._scorer().predict(X, self.n_jobs))

    def decision_function(self, X: Any) -> Any:
        """Scores: (n,) for two classes, (n, n_classes) for more; sign and argmax are exact."""
        with turns_of(self).reading:
            X = self._scaled(self._checked(X))
            return self._score(self._scorer().scores(X, self.n_jobs))
