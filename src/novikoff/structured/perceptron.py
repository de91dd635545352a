"""`StructuredPerceptron`: learns any output that can be decoded."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY
from os import PathLike, fspath
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from novikoff.estimator import BaseEstimator
from novikoff.parameters.parameter import (
    DEFAULT,
    check_parameters,
    parameters_for_file,
    parameters_from_file,
    parameters_of,
    with_parameters,
)
from novikoff.parameters.structured import STRUCTURED_PARAMETERS
from novikoff.structured import training as learning
from novikoff.structured.model import StructuredModel
from novikoff.structured.problem import Structure, as_examples, number_of
from novikoff.structured.training import StructuredTrainer
from novikoff.structured.weights import StructuredWeights
from novikoff.training.loop import train
from novikoff.training.not_separated import MORE_EPOCHS, has_chosen, not_separated
from novikoff.training.plan import Plan
from novikoff.training.report import Report
from novikoff.training.run import Run
from novikoff.training.turns import turns_of


@with_parameters(STRUCTURED_PARAMETERS)
class StructuredPerceptron(BaseEstimator):
    """A perceptron whose outputs are sequences, trees, matchings, rankings, or anything you can decode.

    Predicts ŷ = argmax w·Φ(x, y) with the problem's `decode`, and learns from mistakes:
    w ← w + Φ(x, y) − Φ(x, ŷ) (Collins 2002).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    weights_ : mapping of name → weight, or array
        The weights that predict: the last ones, or their mean with `average=True`.
    problem_ : object
        The problem as prepared for the training examples.
    n_epochs_, history_ : int, list of dict
        Of the last call: the epochs, and for each one mistakes, updates, ‖w‖ and seconds.
    n_updates_, n_mistakes_ : int
        Over all calls. They differ only with `cost_augmented=True`.
    n_invalid_ : int
        Updates at which the decoded output scored less than the right one, which shows that the decoder is
        inexact. The bound requires that there are none.
    converged_ : bool
        Whether an epoch passed without an update.
    verdict_ : {'separated', 'consistent', 'undecided'}
        'separated': every right output scores strictly more than any other under the witness.
        'consistent': every output was right, but the decoder is not exact. See Notes.
    witness_ : as `weights_`, or None
        The weights that the verdict is about: the last ones or, if another output ties with a right one under
        them, the result of continuing with ties as mistakes. None if nothing was separated, and after `load`.
    radius_ : float
        R: the largest ‖Φ(x, y) − Φ(x, z)‖ of the updates made.
    margin_ : float
        With the verdict 'separated', a lower bound of the witness's margin, or NaN if none is known.
    margin_upper_ : float
        ‖w‖/updates, which is at least γ; rounded up. If the problem has its own `violation`, γ is the margin
        over parts of outputs as well.
    training_errors_ : int or None
        Number of training outputs that `predict` gets wrong.

    Notes
    -----
    *Verdict and margin.* If the problem has `runner_up`, the smallest gap between a right output and the next
    best one is computed exactly, and `margin_` is this gap divided by ‖w‖. For other problems 'separated' is
    based on decoding each example under weights perturbed by random vectors; a tie survives with a
    probability below 2⁻²⁴ for each of two draws. Then `margin_` is 1/‖w‖ if all features seen were whole
    numbers, and NaN otherwise. This test does not notice outputs with exactly the features of the right one.

    *Errors* leave the model unchanged.

    Examples
    --------
    A problem needs two methods. This one decides from a word's beginning and end where to cut it:

    >>> class Cuts:
    ...     def features(self, word, cut):
    ...         return {"begins " + word[:cut]: 1, "ends " + word[cut:]: 1}
    ...     def decode(self, word, w):
    ...         return max(range(1, len(word)), key=lambda cut: w.dot(self.features(word, cut)))
    >>> words, cuts = ["walking", "eating", "talked", "looked"], [4, 3, 4, 4]
    >>> model = StructuredPerceptron(Cuts(), order="cyclic").fit(words, cuts)
    >>> model.predict(["talking", "jumped", "seeing"]), model.verdict_
    ([4, 4, 3], 'separated')
    """

    problem: Any = DEFAULT
    _: KW_ONLY
    average: bool = DEFAULT
    cost_augmented: bool = DEFAULT
    max_epochs: int = DEFAULT
    order: str = DEFAULT
    random_state: Any = DEFAULT
    early_stopping: bool = DEFAULT
    validation_fraction: float = DEFAULT
    n_epochs_no_change: int = DEFAULT
    verbose: int = DEFAULT
    callback: Any = DEFAULT

    _learner: StructuredWeights
    _run: Run

    # -- learning ------------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from scratch.

        Parameters
        ----------
        X : sequence of n inputs, in any form that the problem accepts
        y : sequence of n outputs
        """
        with turns_of(self).learning:
            X, y, n = self._read(X, y)
            problem = self._prepared(X, y)
            structure = Structure(problem, cost_augmented=self.cost_augmented)
            plan = Plan.of(self)
            weights = learning.begin(structure, X, y, n)
            trainer = StructuredTrainer(weights, structure, X, y, n, plan, average=self.average)
            run = train(trainer, plan)
            self._set(problem, weights, run, trainer.witness)
            chosen = has_chosen(self) or self.early_stopping or self.callback is not None
            if not run.consistent and not chosen:
                advice = [MORE_EPOCHS, "more features", "average=True"][: 2 if self.average else 3]
                warnings.warn(not_separated(run, advice), ConvergenceWarning, stacklevel=2)
            return self

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Make one pass over more examples, in their order, and continue from the current weights."""
        with turns_of(self).learning:
            X, y, n = self._read(X, y)
            begun = vars(self).get("_learner")
            problem = self._prepared(X, y) if begun is None else self.problem_
            structure = Structure(problem, cost_augmented=self.cost_augmented)
            new = structure, X, y, n
            weights = learning.begin(*new) if begun is None else learning.resume(begun, *new)
            plan = Plan(1, "cyclic")
            trainer = StructuredTrainer(weights, *new, plan, average=self.average)
            self._set(problem, weights, train(trainer, plan, Run(as_given=True), judged=False))
            return self

    def _read(self, X: Any, y: Any) -> tuple[Any, Any, int]:
        check_parameters(self)
        X, y = as_examples(X, "X"), as_examples(y, "y")
        n, outputs = number_of(X, "X"), number_of(y, "y")
        if n != outputs:
            raise ValueError(
                f"X has {n} examples, but y has {outputs} outputs: they must have the same length."
            )
        if not n:
            raise ValueError("X has no examples: the training set is empty.")
        return X, y, n

    def _prepared(self, X: Any, y: Any) -> Any:
        prepare = getattr(self.problem, "prepared", None)
        return self.problem if prepare is None else prepare(X, y)

    def _set(
        self, problem: Any, learner: StructuredWeights, run: Run, witness: StructuredWeights | None = None
    ) -> None:
        """Set every fitted attribute; after an interrupted run, raise the interrupt again."""
        self.problem_: Any = problem
        self._learner = learner
        self._run = run
        self.weights_ = learner.averaged() if self.average else learner.weights
        self.witness_ = None if witness is None else witness.weights
        self.history_ = run.history
        self.n_epochs_ = len(run.history)
        self.n_updates_, self.n_mistakes_, self.n_invalid_ = (
            learner.updates,
            learner.mistakes,
            learner.invalid,
        )
        self.converged_, self.verdict_ = run.converged, run.verdict
        self.radius_, self.margin_, self.margin_upper_ = learner.radius, run.margin, learner.margin_upper
        self.training_errors_ = run.training_errors
        if run.interrupted:
            raise KeyboardInterrupt

    # -- what was learned ----------------------------------------------------------------------------
    def predict(self, X: Any) -> list[Any]:
        """The best output for each input, found by the problem's decoder."""
        with turns_of(self).reading:
            check_is_fitted(self)
            return self.to_model().predict(X)

    def decision_function(self, X: Any) -> Any:
        """The score w·Φ(x, ŷ) of each input's best output."""
        with turns_of(self).reading:
            check_is_fitted(self)
            return self.to_model().scores(X)

    def score(self, X: Any, y: Any) -> float:
        """The share of right parts (`problem.agreement`), or of outputs that are entirely right."""
        with turns_of(self).reading:
            check_is_fitted(self)
            X, y, n = self._read(X, y)
            return learning.score(Structure(self.problem_), self.weights_, X, y, np.arange(n))

    def report(self) -> Report:
        """The outcome of training as an object that prints itself, in text and in HTML."""
        check_is_fitted(self)
        return self.to_model().report

    # -- files ---------------------------------------------------------------------------------------
    def to_model(self) -> StructuredModel:
        """The fitted model as a `StructuredModel`, which shares its memory."""
        with turns_of(self).reading:
            check_is_fitted(self)
            params = parameters_for_file(self)
            del params["problem"], params["callback"]
            return StructuredModel(self.problem_, self._learner, self.weights_, params, self._run)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a file that contains only data. The write is atomic.

        A built-in problem is included. Of any other problem only the name is written, so `load` needs the
        problem itself; its feature names must be texts, numbers, or tuples of these. `callback`, and a
        `random_state` that is not a number, are not data and become None in the loaded model.
        """
        self.to_model().save(path)

    @classmethod
    def load(cls, path: str | PathLike[str], problem: Any = None) -> Self:
        """Load an estimator that `save` wrote. Runs no code from the file.

        Parameters
        ----------
        path : path of the file
        problem : object, for a user-defined problem
        """
        model = StructuredModel.load(path, problem)
        self = cls(
            model.problem, **parameters_from_file(model.parameters, set(parameters_of(cls)) - {"problem"})
        )
        try:
            check_parameters(self)
        except (ValueError, TypeError, OverflowError) as error:
            raise ValueError(f"{fspath(path)}: {error}") from None
        self._set(model.problem, model.learner, model.run)
        return self
