"""`Winnow`: a linear threshold with multiplicative updates, for few relevant features among many."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY
from os import PathLike, fspath
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from novikoff import _core
from novikoff.classifier import RowClassifier, names_of
from novikoff.data.labels import Classes
from novikoff.linear.winnow_model import COUNTS, Exponents, WinnowModel, check_signs
from novikoff.parameters.linear import WINNOW_PARAMETERS
from novikoff.parameters.parameter import (
    DEFAULT,
    check_parameters,
    parameters_for_file,
    parameters_from_file,
    parameters_of,
    with_parameters,
)
from novikoff.training.examples import ArrayExamples, Batch
from novikoff.training.linear import sound
from novikoff.training.loop import Epoch, Trainer, train
from novikoff.training.plan import Plan
from novikoff.training.run import Run
from novikoff.training.turns import turns_of
from novikoff.training.weights import Floats, Ints


@with_parameters(WINNOW_PARAMETERS)
class Winnow(RowClassifier):
    """Winnow (Littlestone 1988), plain or balanced.

    Every feature has a weight w_j, initially 1. The second class is predicted when w·x ≥ θ. At a mistake on
    the second class the weights of the active features (x_j > 0) are multiplied by α, a promotion; at one on
    the first class they are divided by α, a demotion (Winnow2), or set to 0 permanently (Winnow1,
    ``eliminate=True``). If features are 0 or 1 and the labels are a disjunction of r of the n features,
    Winnow2 with the defaults α = 2 and θ = n makes at most 2 + 3r(1 + log₂ n) mistakes on a sequence of any
    order and length: irrelevant features cost only a logarithm.

    Plain weights are positive: a feature can count only for the second class. ``balanced=True`` keeps w⁺ and
    w⁻ = 1/w⁺ for each and predicts by (w⁺ − w⁻)·x ≥ θ; a promotion multiplies w⁺ by α^sign(x_j) and divides
    w⁻ by it.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    exponents_ : array of shape (1 or n_classes, n_features), int32
        w = alpha**exponents_. Eliminated features have the lowest value, −`reach_` − 1.
    reach_ : int
        Exponents stay between −`reach_` and `reach_`, so weights lie between 2⁻⁵⁰⁰ and 2⁵⁰⁰; a promotion or
        demotion beyond that is skipped.
    coef_, intercept_ : arrays of shape (1 or n_classes, n_features) and (1 or n_classes,)
        The weights (w, or w⁺ − w⁻ rounded), and −θ.
    threshold_ : float
        θ.
    n_mistakes_, n_promotions_, n_demotions_ : int
        Over all calls; every mistake is a promotion or a demotion. With three or more classes, summed over
        the learners.
    n_epochs_, history_ : int and list of dict
        Of the last call: mistakes, promotions, demotions and seconds per epoch.
    converged_ : bool
        An epoch passed without a mistake (with order='draw' this does not prove that all rows are right).
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn. With three or more classes there is one learner per class, against the rest.

    Notes
    -----
    *Input.* The theory is about features 0 and 1. Plain Winnow accepts any numbers ≥ 0: their values count in
    w·x, and all that are not 0 are active. Balanced Winnow accepts any finite numbers. There are no sample
    weights.

    *Exactness.* Weights are kept as integer exponents, so a promotion and a demotion cancel exactly, and no
    number of them overflows. Decisions are exact: w·x − θ has the sign of the real number, where w is
    alpha**e as a float64, which is exact for α = 2. With more classes the correctly rounded scores are
    compared, and ties go to the lowest class.

    Examples
    --------
    The disjunction of x₀ and x₃ among 64 features:

    >>> import numpy as np
    >>> from novikoff import Winnow
    >>> rng = np.random.default_rng(0)
    >>> X = (rng.random((500, 64)) < 0.1).astype(float)
    >>> y = (X[:, 0] + X[:, 3] > 0).astype(int)
    >>> model = Winnow(order="cyclic").fit(X, y)
    >>> model.converged_, model.n_mistakes_ <= 2 + 3 * 2 * (1 + 6)
    (True, True)
    >>> np.argsort(model.coef_[0])[-2:].tolist()
    [0, 3]
    """

    alpha: float = DEFAULT
    _: KW_ONLY
    threshold: float | None = DEFAULT
    balanced: bool = DEFAULT
    eliminate: bool = DEFAULT
    max_epochs: int = DEFAULT
    order: str = DEFAULT
    random_state: Any = DEFAULT
    verbose: int = DEFAULT
    callback: Any = DEFAULT
    rounding: str = DEFAULT

    # -- learning ------------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from scratch, until an epoch passes without a mistake or `max_epochs` is reached.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            Columns of text, categories, dates and times in a frame become features as those of a CSV file do.
        y : array of n labels
        """
        with turns_of(self).learning:
            raw = X = self._to_learn(X)
            X, classes, labels, _ = self._read_all(X, y, None)
            self._check_pair()
            X = sound(X, ordered=False)
            check_signs(X, balanced=self.balanced)
            self._begin(raw, X, Classes(classes))
            plan = Plan.of(self)
            examples = ArrayExamples(X, labels, None, plan)
            self._set_run(train(WinnowTrainer(self, examples), plan))
            return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Continue learning from these rows, once and in their order.

        `classes` declares all classes in the first call; without it they are those of its rows. A refused
        chunk leaves the model unchanged.
        """
        with turns_of(self).learning:
            begun = "exponents_" in vars(self)
            raw = X = self._to_learn(X, begun=begun)
            self._check_parameters()
            self._check_pair()
            if begun and (self.alpha, self.balanced, self._theta()) != self._fixed:
                raise ValueError(
                    "partial_fit cannot change alpha, balanced or threshold of a model: fit a clone."
                )
            X = self._read(X, reset=not begun)
            y = self._read_labels(X, y)
            known, labels = self._meet(y, classes, begun=begun, alone=False)
            X = sound(X, ordered=False)
            check_signs(X, balanced=self.balanced)
            if not begun:
                self._begin(raw, X, known)
            elif not self.exponents_.flags.writeable:  # loaded from a read-only memory map
                self.exponents_: Ints = self.exponents_.copy()
                self._learned.values = self.exponents_
            plan = Plan(1, "cyclic", verbose=int(self.verbose))
            self._set_run(train(WinnowTrainer(self, ArrayExamples(X, labels, None, plan)), plan))
            return self

    def _theta(self) -> float:
        return float(self.n_features_in_ if self.threshold is None else self.threshold)

    def _check_pair(self) -> None:
        if self.balanced and self.eliminate:
            raise ValueError("eliminate=True is for plain weights: set balanced=False.")

    def _begin(self, raw: Any, X: Any, classes: Classes) -> None:
        """Set every weight to 1 and every count to 0."""
        self._set_features(raw, X)
        self._set_classes(classes)
        k = len(classes.labels)
        self.exponents_ = np.zeros((1 if k == 2 else k, X.shape[1]), dtype=np.int32)
        self.threshold_ = self._theta()
        # What `partial_fit` cannot change.
        self._fixed: tuple[float, bool, float] = (self.alpha, self.balanced, self.threshold_)
        own = self.exponents_, float(self.alpha), self.threshold_, bool(self.balanced)
        self._set_weights(Exponents(*own))
        self.n_mistakes_ = self.n_promotions_ = self.n_demotions_ = 0

    def _set_weights(self, weights: Exponents) -> None:
        self._learned, self.exponents_, self.reach_ = weights, weights.values, weights.reach

    def _set_run(self, run: Run) -> None:
        self.history_, self.n_epochs_, self.converged_ = run.history, len(run.history), run.converged
        if run.interrupted:
            raise KeyboardInterrupt

    def _pass(self, batches: Iterator[Batch]) -> Epoch:
        """Visit every row once, and return the counts."""
        native = _core.Winnow(
            self._learned.powers, self.threshold_, bool(self.balanced), bool(self.eliminate)
        )
        total = np.zeros(2, dtype=np.int64)
        for batch in batches:
            for c, exponents in enumerate(self.exponents_):
                labels = batch.labels if len(self.exponents_) == 1 else (batch.labels == c).astype(np.int32)
                examples = _core.Examples(batch.rows, labels, order=batch.order)
                total += native.epoch(exponents, examples, batch.begin, batch.end)
        promotions, demotions = (int(count) for count in total)
        mistakes = promotions + demotions
        self.n_mistakes_ += mistakes
        self.n_promotions_ += promotions
        self.n_demotions_ += demotions
        counts = {"mistakes": mistakes, "promotions": promotions, "demotions": demotions}
        return Epoch(not mistakes, counts)

    # -- what was learned ----------------------------------------------------------------------------
    def _fitted(self, name: str) -> Ints:
        exponents = vars(self).get("exponents_")
        if exponents is None:
            raise AttributeError(f"This Winnow has no {name}: it has not been fitted yet.")
        return exponents  # type: ignore[no-any-return]

    @property
    def coef_(self) -> Floats:
        self._fitted("coef_")
        return self._learned.coef()

    @property
    def intercept_(self) -> Floats:
        return np.full(len(self._fitted("intercept_")), -self.threshold_)

    def __sklearn_is_fitted__(self) -> bool:
        return "exponents_" in vars(self)

    # -- files ---------------------------------------------------------------------------------------
    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model atomically to a file that holds only data, as `Perceptron.save` does."""
        self.to_model().save(path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Load the estimator that `save` wrote. No code from the file is run.

        Its predictions equal those of the saved estimator, and `partial_fit` continues from there.
        """
        winnow = WinnowModel.load(path)
        weights = winnow.weights
        params = parameters_from_file(winnow.parameters, parameters_of(cls))
        params |= {"alpha": weights.alpha, "balanced": weights.balanced, "eliminate": winnow.eliminate}
        params["threshold"] = None if params.get("threshold") is None else weights.threshold
        try:
            self = cls(**params)
            check_parameters(self)
        except (TypeError, ValueError, OverflowError) as error:  # illegal parameters
            raise ValueError(f"{fspath(path)}: {error}") from None
        self.n_features_in_ = weights.values.shape[1]
        names = names_of(winnow.features)
        if names is not None:
            self.feature_names_in_ = names
        self._set_classes(Classes(winnow.classes))
        self.threshold_ = weights.threshold
        self._fixed = (weights.alpha, weights.balanced, weights.threshold)
        self._set_weights(weights)
        self.n_mistakes_, self.n_promotions_, self.n_demotions_ = (winnow.counts[name] for name in COUNTS)
        self._set_run(winnow.run or Run())
        return self

    def to_model(self) -> WinnowModel:
        """The fitted model as a `WinnowModel`, which shares its memory."""
        with turns_of(self).reading:
            check_is_fitted(self)
            counts = self.n_mistakes_, self.n_promotions_, self.n_demotions_
            return WinnowModel(
                self._learned,
                self.classes_,
                self._features(self.n_features_in_),
                eliminate=bool(self.eliminate),
                counts=dict(zip(COUNTS, counts, strict=True)),
                parameters=parameters_for_file(self),
                run=Run(history=self.history_, converged=self.converged_),
                order=self.order,
            )

    # -- predicting ----------------------------------------------------------------------------------
    def decision_function(self, X: Any) -> Any:
        """w·x − θ, correctly rounded, with the exact sign: (n,) for two classes, (n, n_classes) for more."""
        with turns_of(self).reading:
            rows = self._checked(X)
            return self._learned.scores(rows)

    def predict(self, X: Any) -> Any:
        """The class of each row: by the exact sign, or by the largest score."""
        with turns_of(self).reading:
            scores = self.decision_function(X)
            return self._label(scores.argmax(axis=1) if scores.ndim == 2 else (scores >= 0).astype(np.int64))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = not self.balanced
        tags.classifier_tags.poor_score = True  # it is made for few relevant features and θ far from 0
        return tags


class WinnowTrainer(Trainer):
    """A Winnow under training."""

    def __init__(self, winnow: Winnow, examples: ArrayExamples) -> None:
        self.winnow, self.examples = winnow, examples

    def epoch(self) -> Epoch:
        return self.winnow._pass(self.examples.epoch())

    def judge(self, run: Run) -> None:
        """Nothing to do: Winnow's bound is on its mistakes, and it has no margin."""


def disjunction_bound(n: int, r: int) -> float:
    """2 + 3r(1 + log₂ n): mistakes of Winnow2 with α = 2, θ = n on a disjunction of r of n features.

    Each of the P promotions doubles a relevant weight that was below n, and relevant weights are never
    halved: P ≤ r(1 + log₂ n). A promotion adds less than n to the sum of the weights, a demotion takes at
    least n/2 from it, and the sum stays positive: n + P·n − D·n/2 > 0, so there are D < 2 + 2P demotions.

    >>> disjunction_bound(1024, 2)
    68.0
    """
    return 2 + 3 * r * (1 + math.log2(n))
