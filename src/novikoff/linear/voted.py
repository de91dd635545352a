"""`VotedPerceptron`: every weight vector of the run votes, once per visit that it survived."""

from __future__ import annotations

from dataclasses import KW_ONLY
from os import PathLike, fspath
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from novikoff.classifier import names_of
from novikoff.linear.classifier import PerceptronClassifier
from novikoff.linear.updates import Counts, UpdateSequence, times
from novikoff.linear.voted_model import VotedModel
from novikoff.parameters.linear import VOTED_PARAMETERS
from novikoff.parameters.parameter import DEFAULT, parameters_for_file, with_parameters
from novikoff.proof.asked import ask
from novikoff.training import linear as training
from novikoff.training.plan import Plan
from novikoff.training.run import Run
from novikoff.training.tally import Tally, affordable
from novikoff.training.turns import turns_of
from novikoff.training.weights import Floats, Ints, Model, Scorer, Settings


@with_parameters(VOTED_PARAMETERS)
class VotedPerceptron(PerceptronClassifier):
    """The voted perceptron of Freund and Schapire (1999), with averaged and last weights from the same fit.

    A run holds the weights w₀ = 0, w₁, w₂, … one after the other, and w_k survives c_k visits, counting the
    one that created it. The prediction is the sign of Σ c_k·sign(w_k·x), with sign(0) = +1, the second class.
    With three or more classes each w_k votes for its argmax with weight c_k and the most votes win; ties go
    to the lowest class.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    support_ : array of shape (n_supports,)
        The distinct rows that caused updates, in the order of their first update. Rows are numbered
        over all calls of `partial_fit`.
    support_vectors_ : array or CSR of shape (n_supports, n_features)
        Those rows, with the values that they had in the data.
    update_support_ : array of shape (n_updates,)
        Which support each update used.
    update_step_ : array of shape (n_updates,)
        τ of each update; negative for the first of two classes.
    update_label_, update_rival_ : arrays of shape (n_updates,)
        The index of the class that gained τ·x, and of the one that lost it.
    survived_ : array of shape (n_updates + 1,)
        c₀, c₁, …: they sum to the visits made.
    coef_, intercept_ : arrays of shape (1 or n_classes, n_features) and (1 or n_classes,)
        The last weights. Read-only views.
    averaged_coef_, averaged_intercept_ : arrays of the same shapes
        The mean of the weights after each visit.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn. The second of two classes is +1.
    n_epochs_, n_updates_, n_mistakes_, converged_, verdict_, radius_, margin_, margin_upper_, history_
        Of the run and its last weights, as in `Perceptron`; votes and means may still err.
    witness_, scale_ : (coef, intercept) or None, and array or None
        As in `Perceptron`.
    training_errors_ : int or None
        The number of wrong training rows under the `predict_with` of the fit; None if 'voted' would take
        long: then the report has the errors on a sample of these rows.

    Notes
    -----
    The run is stored as its sequence of updates, never as a list of weight vectors: it takes the memory of
    the nonzeros of the supports and a few numbers per update. A prediction takes one dot product per support
    and one addition per update: prefix sums in float64, each with a bound on its distance from the score of
    the w_k that the run held, rounded as in training. If that leaves a doubt, w_k is recomputed, and the sign
    or argmax is exact. So votes do not depend on storage, threads or machine; for integers and other numbers
    whose sums are exact there is never a doubt.

    `partial_fit` takes its classes from the first call (`classes=` declares those that appear later); if the
    rows of that call have only one class, the second may come in a later call.

    Examples
    --------
    The lecture notes' six points, visited once, without a bias: (0, 0), (1, −2), (2, −1) and (3, 1).

    >>> import numpy as np
    >>> from novikoff import VotedPerceptron
    >>> X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], dtype=float)
    >>> y = np.array([-1, 1, 1, -1, -1, 1])
    >>> model = VotedPerceptron(order="cyclic", fit_intercept=False, max_epochs=1).fit(X, y)
    >>> model.support_, model.survived_
    (array([0, 2, 4]), array([0, 2, 2, 2]))
    >>> model.decision_function([[0.0, 1.0]])  # (0, 1): two vectors against one
    array([-0.33333333])
    >>> model.set_params(predict_with="last").decision_function([[0.0, 1.0]])
    array([1.])
    """

    average = True  # training keeps the sums that 'averaged' needs
    rule: str = DEFAULT
    _: KW_ONLY
    predict_with: str = DEFAULT
    fit_intercept: bool = DEFAULT
    intercept_scaling: float = DEFAULT
    max_epochs: int | str = DEFAULT
    order: str = DEFAULT
    random_state: Any = DEFAULT
    ties: str = DEFAULT
    margin: float = DEFAULT
    C: float = DEFAULT
    class_weight: Any = DEFAULT
    n_jobs: int | None = DEFAULT
    verbose: int = DEFAULT
    callback: Any = DEFAULT
    rounding: str = DEFAULT
    scale: str | None = DEFAULT

    # -- learning ------------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from scratch.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            Columns of text, categories, dates and times in a frame become features as those of a CSV file do.
        y : array of n labels
        sample_weight : array of n numbers ≥ 0, optional
            Factors on each row's step; rows of weight 0 are left out.
        """
        with turns_of(self).learning:
            raw = X = self._to_learn(X)
            X, classes, labels, weights = self._read_all(X, y, sample_weight)
            plan = Plan.of(self, record_updates=True, ask=ask)
            model, run = training.fit(
                *(X, labels, len(classes), Settings.of(self), plan), weights=weights, scale=self.scale
            )
            self._sequence: UpdateSequence = UpdateSequence(len(classes), model.settings.bias_square)
            self._extend(model, X)
            if weights is not None and not weights.all():
                X, labels = X[weights > 0], labels[weights > 0]
            self._count_errors(model, X, labels, run)
            self._finish(raw, X, classes, model, run)
            return self

    def _count_errors(self, model: Model, X: Any, labels: Ints, run: Run) -> None:
        """Count the training errors of `predict_with`; those of votes on a sample, if they take long."""
        run.way = self.predict_with
        if run.interrupted or self.predict_with == "averaged":  # training has counted these
            return
        tally = Tally()
        if self.predict_with == "last":
            tally.add(labels, model.scorer(averaged=False).predict(X, self.n_jobs))
        else:
            rows = affordable(len(labels), model.total("updates"))
            tally.add(labels[rows], self._sequence.decide(X[rows], self.n_jobs)[0])
        run.note(tally, way=self.predict_with)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Continue learning from these rows, once and in their order.

        `classes` declares all classes in the first call; without it they are those of its rows, and if these
        have only one, the second may come later, as in `Perceptron`. No others can be added. A refused chunk
        leaves the model unchanged.
        """
        with turns_of(self).learning:
            raw = X = self._to_learn(X, begun="_model" in vars(self))
            X, known, labels, weights, model = self._read_chunk(X, y, classes, sample_weight, grow=False)
            model.learners[0].native.record_updates()
            turned = self._turned(known)
            run = training.learn(
                *(model, X, labels, len(known.labels), weights), turned=turned, scale=self.scale
            )
            if "_model" not in vars(self):
                self._sequence = UpdateSequence(model.n_classes, model.settings.bias_square)
            elif turned:
                self._sequence.turn(discard=model.total("updates") == run.history[0]["updates"])
            self._extend(model, X)
            self._finish_chunk(raw, X, known, model, run)
            return self

    def _extend(self, model: Model, X: Any) -> None:
        native = model.learners[0].native
        self._sequence.append(native.recorded(), X, native.visits, model.factors)

    # -- what was learned ----------------------------------------------------------------------------
    def _updates(self, name: str) -> UpdateSequence:
        self._fitted(name)
        return self._sequence

    @property
    def support_(self) -> Counts:
        return self._updates("support_").whole.support

    @property
    def support_vectors_(self) -> Any:
        vectors, factors = self._updates("support_vectors_").whole.vectors, self._model.factors
        return vectors if factors is None else times(vectors, 1 / (factors * factors))

    @property
    def update_support_(self) -> Counts:
        return self._updates("update_support_").whole.used

    @property
    def update_step_(self) -> Floats:
        return self._updates("update_step_").whole.step

    @property
    def update_label_(self) -> Ints:
        return self._updates("update_label_").whole.label

    @property
    def update_rival_(self) -> Ints:
        return self._updates("update_rival_").whole.rival

    @property
    def survived_(self) -> Counts:
        return self._updates("survived_").survived

    @property
    def coef_(self) -> Floats:
        return _read_only(self._fitted("coef_").coef(averaged=False)[0])

    @property
    def intercept_(self) -> Floats:
        return _read_only(self._fitted("intercept_").coef(averaged=False)[1])

    @property
    def averaged_coef_(self) -> Floats:
        return self._fitted("averaged_coef_").coef(averaged=True)[0]

    @property
    def averaged_intercept_(self) -> Floats:
        return self._fitted("averaged_intercept_").coef(averaged=True)[1]

    # -- files ---------------------------------------------------------------------------------------
    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model atomically to a file that holds only data, as `Perceptron.save` does."""
        self.to_model().save(path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Load the estimator that `save` wrote. No code from the file is run.

        Its predictions, updates and report equal those of the saved estimator, and `partial_fit` continues
        from there, bit for bit.
        """
        voted = VotedModel.load(path)
        try:
            params = cls._parameters_of(voted.parameters, voted.model.settings)
            params["predict_with"] = voted.predict_with
            names = names_of(voted.features)
            self = cls._from_model(params, voted.model, voted.classes, names, voted.run)
        except (TypeError, ValueError, OverflowError) as error:  # illegal parameters
            raise ValueError(f"{fspath(path)}: {error}") from None
        self._sequence = voted.sequence
        return self

    def to_model(self) -> VotedModel:
        """The fitted model as a `VotedModel`, which shares its memory."""
        with turns_of(self).reading:
            check_is_fitted(self)
            self._check_two()
            VOTED_PARAMETERS["predict_with"].check(self.predict_with)
            return VotedModel(
                self._model,
                self._sequence,
                self.classes_,
                self._features(self._model.n_features),
                self.predict_with,
                parameters_for_file(self),
                self._run,
                order=self.order,
            )

    # -- predicting ----------------------------------------------------------------------------------
    def _linear(self) -> Scorer:
        """The last or the averaged weights, ready to predict."""
        if self.predict_with == "last":
            return self._model.scorer(averaged=False)
        cache = self._cache
        if cache.scorer is None:
            cache.scorer = self._model.scorer(averaged=True)  # takes O(features), so it is made once
        return cache.scorer

    def predict(self, X: Any) -> Any:
        """The class of each row, as `predict_with` says."""
        with turns_of(self).reading:
            X = self._checked(X)
            VOTED_PARAMETERS["predict_with"].check(self.predict_with)
            if self.predict_with != "voted":
                return self._label(self._linear().predict(X, self.n_jobs))
            return self._label(self._sequence.decide(X, self.n_jobs)[0])

    def decision_function(self, X: Any) -> Any:
        """Scores: (n,) for two classes, (n, n_classes) for more.

        'voted': Σ c_k·sign(w_k·x) / Σ c_k, from −1 to 1, where 0 predicts the second class; for more classes
        the share of votes of each. 'averaged' and 'last': as in `Perceptron`.
        """
        with turns_of(self).reading:
            X = self._checked(X)
            VOTED_PARAMETERS["predict_with"].check(self.predict_with)
            if self.predict_with != "voted":
                return self._score(self._linear().scores(X, self.n_jobs))
            return self._score(self._sequence.decide(X, self.n_jobs)[1])


def _read_only(a: Floats) -> Floats:
    a = a.view()
    a.flags.writeable = False
    return a
