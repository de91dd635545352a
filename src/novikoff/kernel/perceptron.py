"""`KernelPerceptron`: the perceptron in feature spaces too large to write down."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, replace
from os import PathLike, fspath
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from novikoff.classifier import RowClassifier
from novikoff.data.arrays import as_objects
from novikoff.data.labels import Classes, StreamClasses
from novikoff.data.sources.source import Source
from novikoff.kernel import budget_streaming
from novikoff.kernel import settings as kernel_settings
from novikoff.kernel.dual_model import DualModel
from novikoff.kernel.function import kernel_values
from novikoff.kernel.kernels import BY_NAME, Indices, PrecomputedKernel
from novikoff.kernel.model import KernelModel
from novikoff.kernel.settings import Fitted, KernelSettings, parameters_learned_with
from novikoff.kernel.state import kernel_state
from novikoff.kernel.summary import margin_upper
from novikoff.parameters.kernel import KERNEL_PARAMETERS, what_predicts
from novikoff.parameters.parameter import (
    DEFAULT,
    check_parameters,
    from_parameters,
    parameters_for_file,
    parameters_from_file,
    parameters_of,
    with_parameters,
)
from novikoff.training.linear import sound
from novikoff.training.loop import train
from novikoff.training.not_separated import MORE_EPOCHS, has_chosen, not_separated
from novikoff.training.plan import Plan, generator
from novikoff.training.report import Report
from novikoff.training.run import Run
from novikoff.training.turns import turns_of


@with_parameters(KERNEL_PARAMETERS)
class KernelPerceptron(RowClassifier):
    """A perceptron that sees its rows only through a kernel K(x, z) = φ(x)·φ(z).

    Weights are never computed: w = Σ α_j·φ(x_j) over the mistaken rows, and s = Σ α_j·K(x_j, x). One fit
    gives the last, the averaged and the voted prediction (Freund and Schapire 1999).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    support_, support_vectors_ : ndarray of shape (n_supports,), and their rows
        The rows with at least one mistake, in the order of their first mistake; numbers count over all calls.
        For a precomputed kernel the vectors are the numbers.
    dual_coef_ : ndarray of shape (1, n_supports), or (n_classes, n_supports) for three classes or more
        α: how often each support was added, minus how often it was subtracted; with a budget as the policy
        has changed it.
    update_order_ : ndarray of shape (n_updates,)
        Which support each update used, as an index into `support_`. This and the next two exist only without
        a budget.
    update_moves_ : ndarray of shape (n_updates,), or (n_updates, n_classes)
        What each update added to α: −1, 0 or +1.
    update_visits_ : ndarray of shape (n_updates,)
        The number of visits before each update.
    n_visits_ : int
        The number of visits over all calls.
    classes_, n_features_in_, feature_names_in_
        As for every classifier; objects (strings, sets) count as one feature.
    features_ : novikoff.data.sources.features.Features
        After `fit_source` and `load`: the columns, with which other files can be opened.
    n_epochs_, history_ : int, list of dict
        Of the last call: the number of epochs, and the mistakes, updates, ‖w‖ and seconds of each.
    n_updates_, n_mistakes_ : int
        Over all calls, counted per class unless classes are joint.
    converged_, verdict_ : bool, str
        Whether the last epoch made no update, or with order='worst' ended because no row needed one;
        "separated" if every row lies strictly on its own side. Both are about the last weights; votes and
        means may still err.
    radius_, log2_radius_ : float
        R = max √K(x, x) over all rows given, times √2 if classes are joint, and its logarithm.
    margin_, margin_upper_ : float
        min y·s/‖w‖ of the last weights, and ‖w‖/Στ: the margin γ in feature space lies between them if the
        rows were separated and K is an inner product there, which is not guaranteed for a function or a
        matrix.
    training_errors_ : int or None
        The number of training rows that `predict` gets wrong under the `predict_with` of the fit; None if
        that takes long: then the report has the errors on a sample of these rows.

    Notes
    -----
    *Exactness.* If all kernel values are integers that float64 holds, the updates equal those of `Perceptron`
    on the explicit features. For other kernels every decision is that of the exact sum Σ α_j·K(x_j, x) of the
    values as computed, which depend only on the two rows; `report()` counts the sums that were too close to
    decide without the long accumulator. Each w_k votes by its exact sum.

    *One-vs-rest* keeps one α per class, and a visit may update several of them. With ``order="worst"`` a
    visit goes to the most violated row of each class.

    *With a budget* (docs/budgets.md) the number of supports is limited, and the policy changes their
    coefficients. There is no sequence of updates, so there are no votes: the averaged coefficients predict
    or, if the policy removes supports ('forgetron', 'oldest', 'random') and there is no average, the last
    ones.

    *Memory* consists of X, `cache_mb` and the supports. The cache holds the scores of all rows and as many
    columns of kernel values as there is room for.

    Examples
    --------
    XOR, which no line separates, but a polynomial of degree 2 does:

    >>> import numpy as np
    >>> from novikoff import KernelPerceptron
    >>> X, y = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]]), np.array([1, -1, -1, 1])
    >>> model = KernelPerceptron("poly", degree=2, gamma=1, order="cyclic").fit(X, y)
    >>> model.predict(X), model.verdict_
    (array([ 1, -1, -1,  1]), 'separated')
    """

    kernel: Any = DEFAULT
    _: KW_ONLY
    gamma: Any = DEFAULT
    degree: int = DEFAULT
    coef0: float = DEFAULT
    kernel_params: dict[str, Any] | None = DEFAULT
    predict_with: str | None = DEFAULT
    fit_intercept: bool = DEFAULT
    max_epochs: int = DEFAULT
    order: str = DEFAULT
    random_state: Any = DEFAULT
    ties: str = DEFAULT
    multiclass: str = DEFAULT
    budget: int | None = DEFAULT
    budget_policy: str = DEFAULT
    cache_mb: float = DEFAULT
    n_jobs: int | None = DEFAULT
    verbose: int = DEFAULT
    callback: Any = DEFAULT
    rounding: str = DEFAULT

    def _check_parameters(self) -> None:
        super()._check_parameters()
        what_predicts(self.predict_with, self.budget, self.budget_policy)

    # -- learning ------------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from scratch.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            Columns of text, categories, dates and times in a frame become features as those of a CSV file do.
            For a precomputed kernel the (n, n) values; for a function also a list, or an array of shape (n,)
            or (n, 1), of any objects.
        y : array of n labels
        """
        with turns_of(self).learning:
            raw = X = self._to_learn(X)
            X, classes, labels, _ = self._read_all(X, y, None)
            X, settings, plan = sound(X), self._settings(), Plan.of(self)
            trainer = settings.trainer(X, labels, len(classes), plan)
            run = train(trainer, plan)
            model = settings.fitted(trainer, run)
            self._set_features(raw, X)
            self._set_classes(Classes(classes))
            self._set_run(model, run)
            self._warn_unless_separated()
            return self

    def fit_source(self, source: Source, classes: Any = None) -> Self:
        """Learn from files of any size, block by block; this requires a budget and a kernel with a name.

        Rows are visited in the order of the source, regardless of `order`, and every epoch reads it again;
        the coefficients equal those of ``order="cyclic"`` on the same rows in memory. gamma="scale" takes one
        more pass.

        Parameters
        ----------
        source : Source
            The result of `novikoff.open_source`. Its features are kept as `features_`: open other files for
            this model with ``open_source(path, features=model.features_)``.
        classes : list of labels, optional
            All classes, in the order that decides ties. By default they are found and sorted.

        Examples
        --------
        >>> import io, novikoff
        >>> rows = io.BytesIO(b"label,a,b\\nsame,1,1\\nother,1,-1\\nother,-1,1\\nsame,-1,-1\\n")
        >>> source = novikoff.open_source(rows, format="csv")
        >>> model = novikoff.KernelPerceptron("poly", degree=2, gamma=1, budget=4).fit_source(source)
        >>> model.verdict_, model.predict([[2.0, 3.0], [2.0, -3.0]]).tolist()
        ('separated', ['same', 'other'])
        """
        with turns_of(self).learning:
            self._check_parameters()
            if self.budget is None:
                raise ValueError(
                    "a source is read block by block, which requires a budget: give one, or read all "
                    "rows into an array and call fit."
                )
            if self.kernel not in BY_NAME:
                named = ", ".join(BY_NAME)
                raise ValueError(
                    f"kernel={self.kernel!r} is not possible for a source: expected one of {named}."
                )
            declared = None if classes is None else list(classes)
            plan, known = Plan.of(self, order="cyclic"), StreamClasses(declared)
            trainer = budget_streaming.trainer_of(source, known, self._settings(), plan)
            run = train(trainer, plan, Run(as_given=True))
            self._set_source(source.features, source.features.n_columns, known.labels)
            self._set_run(trainer.fitted(run), run)
            self._warn_unless_separated()
            return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Continue learning from these rows, once and in their order.

        `classes` declares all classes in the first call; without it they are those of its rows, and if these
        have only one, the second may come later, as in `Perceptron`. No others can be added. The rows of the
        first call determine gamma="scale". A refused chunk leaves the model unchanged.
        """
        with turns_of(self).learning:
            self._check_parameters()
            begun = "_dual" in vars(self)
            raw = X = self._to_learn(X, begun=begun)
            if isinstance(self.kernel, str) and self.kernel == "precomputed":
                raise ValueError(
                    "partial_fit needs the rows themselves: a precomputed kernel can only be fitted."
                )
            X = self._read(X, reset=not begun)
            y = self._read_labels(X, y)
            known, labels = self._meet(y, classes, begun=begun)
            X, settings = sound(X), self._settings()
            if begun:
                settings.check_unchanged(self._dual)
                earlier = self._dual
            else:
                earlier = settings.begin(X, max(len(known.labels), 2), generator(self.random_state))
            plan = Plan(1, "cyclic", n_jobs=self.n_jobs)
            trainer = settings.continuing(earlier, X, labels, plan, turned=self._turned(known))
            run = train(trainer, plan, Run(as_given=True), judged=False)
            if not begun:
                self._set_features(raw, X)
            self._set_classes(known)
            self._set_run(trainer.model(), run)
            return self

    def _settings(self) -> KernelSettings:
        return from_parameters(KernelSettings, self)

    def _set_run(self, model: Fitted, run: Run) -> None:
        """Set every fitted attribute; raise an interrupt again after that, so that the model is usable."""
        self._dual: Fitted = model
        self._run: Run = run
        self.history_ = run.history
        self.n_epochs_ = len(run.history)
        self.n_updates_, self.n_mistakes_ = model.n_updates, model.n_mistakes
        self.converged_ = run.converged
        self.verdict_ = run.verdict
        self.radius_, self.log2_radius_ = model.reach, model.log2_reach
        self.margin_, self.margin_upper_ = run.margin, margin_upper(model, run)
        self.training_errors_ = run.training_errors
        if run.interrupted:
            raise KeyboardInterrupt

    def _warn_unless_separated(self) -> None:
        run = self._run
        done = run.verdict == "separated" or run.consistent
        if done or has_chosen(self) or self.callback is not None:
            return
        other = "another kernel or other kernel parameters (a higher degree, a larger gamma)"
        text = not_separated(run, [MORE_EPOCHS, other])
        warnings.warn(text, ConvergenceWarning, stacklevel=3)

    # -- reading -------------------------------------------------------------------------------------
    def _read(self, X: Any, *, reset: bool) -> Any:
        objects = as_objects(X) if callable(self.kernel) else None
        if not reset and (objects is None) != (self._dual.vectors.ndim == 2) and callable(self.kernel):
            known = "rows of numbers" if self._dual.vectors.ndim == 2 else "objects, such as strings"
            raise ValueError(f"X must be of the same kind as the training rows: {known}.")
        if objects is not None:
            if not len(objects):
                raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
            return objects
        if not reset and isinstance(self._dual.kernel, PrecomputedKernel):
            shape = np.shape(X) if not sp.issparse(X) else X.shape
            if len(shape) == 2 and shape[1] != self._dual.kernel.n_columns:
                raise ValueError(
                    f"a precomputed kernel needs a column for each of the {self._dual.kernel.n_columns} "
                    f"training rows, but X has the shape {shape}."
                )
        return super()._read(X, reset=reset)

    def _set_features(self, raw: Any, X: Any) -> None:
        super()._set_features(raw, X if X.ndim == 2 else X[:, None])

    # -- what was learned ----------------------------------------------------------------------------
    def _fitted(self, name: str) -> Fitted:
        model: Fitted | None = vars(self).get("_dual")
        if model is None:
            raise AttributeError(f"This {type(self).__name__} has no {name}: it has not been fitted yet.")
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return "_dual" in vars(self)

    @property
    def support_(self) -> Indices:
        return self._fitted("support_").support

    @property
    def support_vectors_(self) -> Any:
        return self._fitted("support_vectors_").vectors

    @property
    def dual_coef_(self) -> npt.NDArray[Any]:
        alpha = self._fitted("dual_coef_").coefficients(averaged=False)
        alpha = alpha.astype(np.int64) if isinstance(self._dual, DualModel) else alpha
        return np.ascontiguousarray(alpha.T)

    @property
    def update_order_(self) -> Indices:
        return self._fitted("update_order_").used

    @property
    def update_moves_(self) -> npt.NDArray[np.int64]:
        moves = self._fitted("update_moves_").moves.astype(np.int64)
        return moves[:, 0] if moves.shape[1] == 1 else moves

    @property
    def update_visits_(self) -> Indices:
        return self._fitted("update_visits_").visit

    @property
    def n_visits_(self) -> int:
        return self._fitted("n_visits_").n_visits

    def report(self) -> Report:
        """The outcome of training as an object that prints itself, in text and in HTML."""
        with turns_of(self).reading:
            check_is_fitted(self)
            name = type(self).__name__
            shown = name, self.order, self.n_features_in_, self.predict_with
            report = kernel_settings.report(self._dual, self._run, *shown)
            # the model has two classes even while only one is known
            return replace(report, n_classes=len(self.classes_))

    # -- files ---------------------------------------------------------------------------------------
    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model atomically to a file that holds only data.

        The file has everything that prediction, `report` and `partial_fit` need. `callback`, and a
        `random_state` that is not a number, are not data; they are None in the loaded model.

        Raises
        ------
        ValueError
            When the kernel is a function, which is not data.
        OSError
            When the file cannot be written; an existing file is left unchanged.
        """
        check_is_fitted(self)
        self.to_model().save(path)

    def to_model(self) -> KernelModel:
        """The fitted model as a `KernelModel`, which shares its memory."""
        with turns_of(self).reading:
            check_is_fitted(self)
            self._check_two()
            model = self._dual
            kernel_state(model.kernel)  # raises an error if it is not data
            return KernelModel(
                model,
                self.classes_,
                self._features(self.n_features_in_),
                predict_with=kernel_settings.way_of(model, self.predict_with),
                parameters=parameters_for_file(self),
                run=self._run,
                name=type(self).__name__,
                order=self.order,
            )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Load an estimator from a file of `save` or of the command line. No code from the file is run.

        Its predictions and report equal those of the saved estimator, and `partial_fit` continues from there.
        """
        model = KernelModel.load(path)
        try:
            return cls.from_model(model)
        except (ValueError, TypeError, OverflowError) as error:  # illegal parameters
            raise ValueError(f"{fspath(path)}: {error}") from None

    @classmethod
    def from_model(cls, model: KernelModel) -> Self:
        """The estimator around a `KernelModel`, which shares its memory."""
        if model.scaling is not None:
            raise ValueError(
                "the model scales its input, which an estimator does not: use novikoff.load_model(path)."
            )
        params = parameters_from_file(model.parameters, parameters_of(cls))
        learned = parameters_learned_with(model.dual)  # these override the recorded parameters
        if isinstance(params.get("gamma"), str):
            learned.pop("gamma", None)
        if params.get("predict_with") is not None or model.predict_with != kernel_settings.way_of(
            model.dual, None
        ):
            learned["predict_with"] = model.predict_with
        self = cls(**params | learned)
        check_parameters(self)
        self.n_features_in_ = model.n_features
        if model.features.kind != "numbered" and not model.features.hashed:
            names = model.features.names(range(model.n_features))
            self.feature_names_in_ = np.array(names, dtype=object)
        self.features_ = model.features
        self._set_classes(Classes(model.classes))
        self._set_run(model.dual, model.run or Run())
        return self

    # -- predicting ----------------------------------------------------------------------------------
    def predict(self, X: Any) -> Any:
        """The class of each row, as `predict_with` says."""
        with turns_of(self).reading:
            X = sound(self._checked(X))
            KERNEL_PARAMETERS["predict_with"].check(self.predict_with)
            scores = kernel_settings.scores(self._dual, X, self.predict_with, self.n_jobs)
            return self._label(self._dual.winners(scores))

    def decision_function(self, X: Any) -> Any:
        """Scores: (n,) for two classes, (n, n_classes) for more.

        'voted': Σ c_k·sign(s_k) / Σ c_k, from −1 to 1, per class; if classes are joint, the share of votes of
        each. 'averaged' and 'last': s with the mean and the last α.
        """
        with turns_of(self).reading:
            X = sound(self._checked(X))
            KERNEL_PARAMETERS["predict_with"].check(self.predict_with)
            scores = self._score(kernel_settings.scores(self._dual, X, self.predict_with, self.n_jobs))
            return scores[:, 0] if scores.shape[1] == 1 else scores

    def K(self, a: Any, b: Any) -> Any:
        """The kernel of the fitted model: a number for two rows, a matrix for two blocks of rows.

        With `fit_intercept` it includes the 1 of the bias. `novikoff.KernelFunction` needs no model.

        >>> model = KernelPerceptron("poly", degree=2, gamma=1).fit([[1.0], [-1.0], [0.0]], [0, 0, 1])
        >>> model.K([2.0], [3.0]), model.K([[2.0], [0.0]], [[3.0]]).tolist()
        (49.0, [[49.0], [1.0]])
        """
        return kernel_values(self._fitted("K").kernel, a, b)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.positive_only = isinstance(self.kernel, str) and self.kernel == "chi2"
        tags.input_tags.string = callable(self.kernel)
        return tags
