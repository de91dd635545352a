"""`SequenceTagger`: the structured perceptron for sequences, with scikit-learn's conventions."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

from novikoff.data.labels import Classes
from novikoff.parameters.common import AUTO
from novikoff.parameters.parameter import DEFAULT, check_parameters, with_parameters
from novikoff.parameters.tagging import GIVEN, TAGGER_PARAMETERS
from novikoff.tagging import encoding, fitting, reading
from novikoff.tagging.estimator import TaggerEstimator
from novikoff.training.loop import train
from novikoff.training.plan import Plan
from novikoff.training.run import Run
from novikoff.training.turns import turns_of


@with_parameters(TAGGER_PARAMETERS)
class SequenceTagger(TaggerEstimator):
    """Labels the tokens of sequences: the structured perceptron with exact first-order decoding.

    The score of a labelling is the sum of the weights of its (feature, label) pairs and of its label bigrams.
    The decoder finds the allowed labelling with the highest score; among ties, the one that is smallest when
    read from the end. If it differs from the right one, the update is the difference of their features
    (Collins 2002).

    X is a list of sentences. A sentence is a list of tokens; a token is a list of feature names, or a dict as
    in sklearn-crfsuite: ``{"w": "the", "upper": False, "len": 3}``.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : array of labels, sorted
        Those that `predict` writes.
    n_epochs_, history_ : int, list of dict
        Of the last call: the epochs, and for each one mistakes (sentences with a wrong label), updates,
        wrong tokens, ‖w‖ and seconds.
    n_mistakes_, n_updates_ : int
        Over all calls.
    converged_ : bool
        Whether the last epoch made no update.
    verdict_ : "separated" or "undecided"
        "separated": under the last weights each sentence's right labelling scores above all others.
    margin_, margin_upper_ : float
        Lower and upper bound of the margin γ of the data, once separated.
    radius_ : float
        R, the largest ‖Φ(x, y) − Φ(x, ŷ)‖ of an update. Mistakes are at most (R/γ)².
    training_errors_ : int or None
        Training sentences of `fit` with a wrong label in `predict`; None after `partial_fit`.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> import novikoff
    >>> X = [[["w=the"], ["w=dog"], ["w=barks"]], [["w=cats"], ["w=sleep"]], [["w=a"], ["w=cat"]]]
    >>> y = [["DET", "NOUN", "VERB"], ["NOUN", "VERB"], ["DET", "NOUN"]]
    >>> tagger = novikoff.SequenceTagger(random_state=0).fit(X, y)
    >>> tagger.predict([[["w=a"], ["w=dog"], ["w=sleep"]]])
    [['DET', 'NOUN', 'VERB']]
    >>> tagger.verdict_, tagger.score(X, y)
    ('separated', 1.0)
    """

    _: KW_ONLY
    features: Any = DEFAULT
    average: bool = DEFAULT
    max_epochs: int = DEFAULT
    order: str = DEFAULT
    random_state: Any = DEFAULT
    min_count: int = DEFAULT
    transitions: str = DEFAULT
    learn_as: str = DEFAULT
    hash_bits: int | None = DEFAULT
    early_stopping: bool = DEFAULT
    validation_fraction: float = DEFAULT
    n_epochs_no_change: int = DEFAULT
    n_jobs: int | None = DEFAULT
    verbose: int = DEFAULT
    callback: Any = DEFAULT

    # -- learning ----------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from sentences X and their labels y.

        Parameters
        ----------
        X : list of sentences
        y : list of label lists, one label per token

        Raises
        ------
        ValueError, TypeError
            If X or y is invalid; the message names the sentence and token. The model is unchanged.
        KeyboardInterrupt
            If interrupted. The weights so far are kept and can be used.
        """
        with turns_of(self).learning:
            check_parameters(self)
            features = reading.begin(self._templates(), self.hash_bits)
            x = reading.sequences(X, features)
            reading.check_lengths(x, y)
            classes = reading.found_labels(y)
            labels = reading.numbered(y, classes, x.n_tokens)
            plan = Plan.of(self)
            settings: dict[str, Any] = {
                "average": bool(self.average),
                "transitions": self.transitions,
                "min_count": int(self.min_count),
            }
            to = encoding.encoded(self.learn_as, features, x, labels, classes.labels, plan, **settings)
            trainer, features = fitting.trainer_of(
                features, x, to.labels, to.classes, plan, written=to.written, **settings
            )
            run, about = train(trainer, plan), self._about() | {"written": to.written}
            return self._finish(fitting.fitted(trainer, features, to.classes, run, **about))

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Make one pass over more sentences, in their order. Adds new features, but rejects new labels.

        Parameters
        ----------
        X, y : as for `fit`
        classes : list of labels, optional
            All labels of all calls. Required in the first call unless its y has them all.
        """
        with turns_of(self).learning:
            check_parameters(self)
            if self.min_count > 1:
                raise ValueError(
                    f"min_count={self.min_count} needs all sentences at once: use fit, or min_count=1."
                )
            if self.learn_as not in (AUTO, GIVEN):
                raise ValueError(
                    f"learn_as={self.learn_as!r} needs all sentences at once: use fit, or learn_as='given'."
                )
            begun = "_tagger" in vars(self)
            if begun:
                self._check_unchanged()
                features = reading.copied(self._tagger.features)  # the model's own must not change
            else:
                features = reading.begin(self._templates(), self.hash_bits)
            x = reading.sequences(X, features)
            reading.check_lengths(x, y)
            if begun:
                known = Classes(self.classes_)
                if classes is not None:
                    known.check_same(classes)
            else:
                known = reading.found_labels(y if classes is None else [classes])
            labels = reading.numbered(y, known, x.n_tokens)
            reading.check_known(x, labels, y, known)
            plan, transitions = Plan(1, "cyclic"), self.transitions
            new = features, x, labels, known.labels, plan
            if begun:
                trainer = fitting.continuing(self._tagger, *new, transitions=transitions)
            else:
                average = bool(self.average)
                trainer, features = fitting.trainer_of(*new, average=average, transitions=transitions)
            run = train(trainer, plan, Run(as_given=True), judged=False)
            return self._finish(fitting.fitted(trainer, features, known.labels, run, **self._about()))

    def _check_unchanged(self) -> None:
        tagger, templates = self._tagger, self._templates()
        average, known = tagger.transition_sums is not None, getattr(tagger.features, "templates", None)
        same = average == bool(self.average) and tagger.features.hash_bits == self.hash_bits
        if not same or (known and known.text) != (templates and templates.text):
            raise ValueError(
                "partial_fit cannot change features, average or hash_bits of a model: fit a clone."
            )
