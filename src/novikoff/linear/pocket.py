"""`Pocket`: the best linear threshold that a perceptron has found, for data that none separates."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from os import PathLike, fspath
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from novikoff import _core
from novikoff.classifier import names_of
from novikoff.data.arrays import UnsortedIndices, in_any_order, raise_problem
from novikoff.data.labels import Classes
from novikoff.linear.classifier import PerceptronClassifier
from novikoff.linear.model import LinearModel
from novikoff.parameters.common import AUTO
from novikoff.parameters.linear import POCKET_PARAMETERS
from novikoff.parameters.parameter import DEFAULT, parameters_for_file, with_parameters
from novikoff.training import linear as training
from novikoff.training.examples import ArrayExamples, Batch
from novikoff.training.ledger import Call, Seen
from novikoff.training.linear import LinearTrainer
from novikoff.training.loop import Epoch, Trainer, train
from novikoff.training.plan import Plan
from novikoff.training.run import Record, Run
from novikoff.training.turns import turns_of
from novikoff.training.weights import Floats, Ints, Model, Scorer, Settings, Weights

FOUND = ("n_errors_", "risk_", "longest_run_", "n_looks_", "n_replaced_")  # what a file has of the pocket


@with_parameters(POCKET_PARAMETERS)
class Pocket(PerceptronClassifier):
    """The pocket algorithm with ratchet (Gallant 1990).

    A perceptron visits the rows as usual. A pocket holds weights that are not changed, only replaced: when
    the perceptron's weights have been right on more consecutive visits than those in the pocket ever were
    and, with the ratchet, are also right on strictly more of the training rows. The weights in the pocket
    predict. The fit ends early when they make no error.

    Finding the linear threshold with the fewest errors is NP-hard if none is perfect (Johnson and Preparata
    1978): this is a heuristic, and claims only the errors that it has counted. With order='draw' the pocket
    holds a best threshold with a probability that goes to 1 as the number of visits goes to infinity
    (Gallant's theorem, for finitely many rows of rational numbers), but the rate is not known.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1 or n_classes, n_features) and (1 or n_classes,)
        The weights in the pocket. Read-only views.
    n_errors_ : int
        The number of training rows that they get wrong, decided exactly (without rows of weight 0).
    risk_ : float
        The weight of those rows as a share of the total weight.
    longest_run_ : int
        The number of consecutive visits on which they were right.
    n_looks_, n_replaced_ : int
        How often weights with the longest run were tested, and how often they went into the pocket.
    n_epochs_, n_updates_, n_mistakes_, radius_, history_
        Of the perceptron's run. A record of `history_` also has the pocket's errors (by weight, with the
        ratchet) and its run.
    converged_ : bool
        The pocket makes no error or, without the ratchet, an epoch passed without an update.
    verdict_, witness_, margin_, margin_upper_ : str, pair of arrays or None, and floats
        Of the weights in the pocket, as in `Perceptron`.
    scale_ : array of shape (n_features,), or None
        As in `Perceptron`.
    training_errors_ : int
        The same as `n_errors_`.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn. The second of two classes is +1; three or more classes are learned jointly.

    Notes
    -----
    `sample_weight` multiplies a row's step, as in `Perceptron`, and its error: the ratchet and `risk_` count
    each wrong row with its weight (sums of float64 in the order of the rows). Runs count visits.

    The ratchet takes a pass over the rows each time that weights have the longest run; the pass ends as soon
    as they have as many errors as the pocket, and each weight vector is tested once.

    Examples
    --------
    The last point lies on the wrong side, so no threshold is perfect:

    >>> import numpy as np
    >>> from novikoff import Pocket
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [9.0]])
    >>> y = np.array([0, 0, 0, 0, 1, 1, 1, 0])
    >>> model = Pocket(random_state=0).fit(X, y)
    >>> model.n_errors_, model.predict(X).tolist()
    (1, [0, 0, 0, 0, 1, 1, 1, 1])
    """

    average = False

    ratchet: bool = DEFAULT
    _: KW_ONLY
    fit_intercept: bool = DEFAULT
    intercept_scaling: float = DEFAULT
    max_epochs: int = DEFAULT
    order: str = DEFAULT
    random_state: Any = DEFAULT
    ties: str = DEFAULT
    class_weight: Any = DEFAULT
    n_jobs: int | None = DEFAULT
    verbose: int = DEFAULT
    callback: Any = DEFAULT
    rounding: str = DEFAULT
    scale: str | None = DEFAULT

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from scratch.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            Columns of text, categories, dates and times in a frame become features as those of a CSV file do.
        y : array of n labels
        sample_weight : array of n numbers ≥ 0, optional
            Factors on each row's step and on its error; rows of weight 0 are left out.
        """
        with turns_of(self).learning:
            raw = X = self._to_learn(X)
            X, classes, labels, weights = self._read_all(X, y, sample_weight)
            plan, settings = Plan.of(self), Settings.of(self)
            state = plan.rng.bit_generator.state
            how: Any = {"ratchet": bool(self.ratchet), "scale": self.scale}
            try:
                trainer = PocketTrainer(X, labels, len(classes), settings, plan, weights, **how)
            except UnsortedIndices:
                X = in_any_order(X)
                plan.rng.bit_generator.state = state
                trainer = PocketTrainer(X, labels, len(classes), settings, plan, weights, **how)
            run = train(trainer, plan)
            self._set_features(raw, X)
            self._set_classes(Classes(classes))
            self._set_run(trainer.model, run)
            self.n_errors_, self.risk_ = run.training_errors, trainer.risk
            self.longest_run_ = trainer.streak.longest
            self.n_looks_, self.n_replaced_ = trainer.looks, trainer.replaced
            if run.interrupted:
                raise KeyboardInterrupt
            return self

    @property
    def coef_(self) -> Floats:
        return self._read_only("coef_", 0)

    @property
    def intercept_(self) -> Floats:
        return self._read_only("intercept_", 1)

    def _read_only(self, name: str, which: int) -> Floats:
        view = self._fitted(name).coef(averaged=False)[which].view()
        view.flags.writeable = False
        return view

    # -- files ---------------------------------------------------------------------------------------
    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model atomically to a file that holds only data, as `Perceptron.save` does."""
        self.to_linear().save(path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Load the estimator that `save` wrote. No code from the file is run."""
        linear = LinearModel.load(path)
        try:
            if linear.name != "Pocket" or linear.found.keys() != {*FOUND}:
                raise ValueError(f"holds a {linear.name}, expected a Pocket: novikoff.load_model reads it.")
            params = cls._parameters_of(linear.parameters, linear.model.settings)
            names = names_of(linear.features)
            self = cls._from_model(params, linear.model, linear.classes, names, linear.run)
        except (TypeError, ValueError, OverflowError) as error:  # illegal parameters
            raise ValueError(f"{fspath(path)}: {error}") from None
        for name in FOUND:
            setattr(self, name, linear.found[name])
        return self

    def to_linear(self) -> LinearModel:
        """The weights in the pocket as a `LinearModel`, which shares their memory."""
        with turns_of(self).reading:
            check_is_fitted(self)
            model = self._model
            return LinearModel(
                model,
                self.classes_,
                self._features(model.n_features),
                parameters=parameters_for_file(self),
                run=self._run,
                name="Pocket",
                order=self.order,
                found={name: getattr(self, name) for name in FOUND},
            )

    # -- predicting ----------------------------------------------------------------------------------
    def _scorer(self) -> Scorer:
        return self._model.scorer(averaged=False)

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


class PocketTrainer(Trainer):
    """The perceptron that learns, and the pocket."""

    def __init__(
        self,
        X: Any,
        labels: Ints,
        n_classes: int,
        settings: Settings,
        plan: Plan,
        weights: Floats | None,
        *,
        ratchet: bool,
        scale: str | None = None,
    ) -> None:
        self.model, self.plan = Model(n_classes, X.shape[1], settings), plan
        self.examples = ArrayExamples(X, labels, weights, plan, self.model)
        if scale == AUTO:
            self.model.set_factors(self.examples.power_factors())
        rows, kept = self.examples.rows, self.examples.kept
        self.digest = _core.Digest()
        training.scan(self.model, X, rows, weights, kept, self.examples.per_call, labels, self.digest)
        self.learner: Weights = self.model.learners[0]
        self.streak = _core.Streak()
        self.pocket = self.learner.copy()
        self.ratchet, self.counted = ratchet, False
        self.errors = math.inf  # of the pocket, by weight
        self.risk = math.nan
        self.looks = self.replaced = 0

    def epoch(self) -> Epoch:
        native = self.learner.native
        mistakes, updates = native.mistakes, native.updates
        if self.ratchet and not self.counted:
            self.errors, self.counted = self.count_errors(self.learner), True
        for batch in self.examples.epoch():
            self.learn(batch)
            if not self.errors:
                break
        made = native.updates - updates
        counts: Record = {"mistakes": native.mistakes - mistakes, "updates": made}
        counts |= {"errors": self.errors} if self.ratchet else {}
        return Epoch(not self.errors if self.ratchet else not made, counts | {"run": self.streak.longest})

    def finish(self, run: Run) -> None:
        """Record the visits in the ledger. A pocket without an error ends an epoch early."""
        self.empty()
        examples = self.examples
        run.n_rows, run.heaviest = examples.count, examples.heaviest
        call = Call(
            Seen.of(self.digest),
            examples.copies(len(run.history) + run.interrupted),
            self.plan.order,
            heaviest=examples.heaviest,
            weighted=examples.weighted,
            dropped=self.learner.native.updates - self.pocket.native.updates,
        )
        self.model.ledger = self.model.ledger.after(call)

    def learn(self, batch: Batch) -> None:
        """Learn from these rows, and test the weights whenever they have the longest run."""
        native, streak, at = self.learner.native, self.streak, batch.begin
        examples = _core.Examples(batch.rows, batch.labels, batch.weights, batch.order)
        while at < batch.end:
            before = native.visits
            problem, row = _core.pocket_epoch(native, streak, examples, at, batch.end)
            raise_problem(problem, row, batch.X, native.largest_row)
            at += native.visits - before
            if streak.looked or streak.run <= streak.longest:
                continue
            streak.looked = True
            self.looks += 1
            errors = self.count_errors(self.learner, self.errors) if self.ratchet else math.inf
            if errors < self.errors or not self.ratchet:
                self.pocket, self.errors = self.learner.copy(), errors
                streak.held, streak.longest = True, streak.run
                self.replaced += 1
                if not errors:
                    return

    def count_errors(self, learner: Weights, limit: float = math.inf, *, by_weight: bool = True) -> float:
        """The total weight of the wrong rows; counting stops at `limit`.

        R is kept: it is measured with the weights of the rows, which this pass may leave out.
        """
        total, native = 0.0, learner.native
        known = native.seen, native.filter
        for batch in self.examples.as_stored():
            weights = batch.weights if by_weight else None
            examples = _core.Examples(batch.rows, batch.labels, weights, batch.order)
            problem, row, total = _core.add_errors(native, examples, batch.begin, batch.end, limit, total)
            raise_problem(problem, row, batch.X)
        if known[0] != native.seen:
            native.seen = known[0]
            native.filter = known[1]
        return total

    def empty(self) -> None:
        """Give the model the weights from the pocket. The counts stay: they are those of the whole run."""
        if self.streak.held:
            self.streak.longest = self.streak.run
        self.learner.set_weights(self.pocket.coef(), self.pocket.intercept())
        self.learner.native.step_sum = self.pocket.native.step_sum

    def judge(self, run: Run) -> None:
        """Judge the weights in the pocket on all rows."""
        weights, kept = self.examples.weights, self.examples.kept
        total = float(
            self.examples.count if weights is None else np.sum(weights if kept is None else weights[kept])
        )
        LinearTrainer(self.model, self.examples, self.plan).judge(run)
        self.risk = self.count_errors(self.learner) / total
        run.training_errors = int(self.count_errors(self.learner, by_weight=False))
