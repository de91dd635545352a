"""The base of the taggers with scikit-learn's conventions: using a trained model, saving and loading it."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from novikoff.data.labels import Classes
from novikoff.estimator import BaseEstimator
from novikoff.outward import root_up
from novikoff.parameters.parameter import (
    check_parameters,
    parameters_for_file,
    parameters_from_file,
    parameters_of,
)
from novikoff.tagging import reading, summary
from novikoff.tagging import training as tagging
from novikoff.tagging.explanation import TagExplanation
from novikoff.tagging.sequences import Floats
from novikoff.tagging.tagger import Tagger
from novikoff.tagging.templates import Templates
from novikoff.training.report import Report
from novikoff.training.run import Run


class TaggerEstimator(BaseEstimator):
    """Abstract: an estimator whose model is a `Tagger`."""

    def _templates(self) -> Templates | None:
        return Templates.named(self.features) if isinstance(self.features, str) else self.features

    def _about(self) -> dict[str, Any]:
        """How the model was trained, to be stored with it."""
        params = parameters_for_file(self, features=None)  # the model has its features
        return {"parameters": params, "name": type(self).__name__, "order": self.order}

    def _set_tagger(self, tagger: Tagger) -> None:
        """Set every fitted attribute."""
        run, counts = tagger.run or Run(), tagger.counts
        self._tagger = tagger
        self.classes_ = tagger.labels
        self.n_features_in_ = tagger.n_seen
        self.history_ = run.history
        self.n_epochs_ = len(run.history)
        self.n_mistakes_, self.n_updates_ = counts.mistakes, counts.updates
        self.converged_, self.verdict_ = run.converged, run.verdict
        self.radius_ = root_up(summary.radius_square(counts)[1])
        self.margin_, self.margin_upper_ = run.margin, summary.margin_upper(counts, run)
        self.training_errors_ = run.training_errors

    def _finish(self, tagger: Tagger) -> Self:
        """Take over the model; after an interrupted run, raise the interrupt again."""
        self._set_tagger(tagger)
        if tagger.run is not None and tagger.run.interrupted:
            raise KeyboardInterrupt
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "_tagger" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = tags.input_tags.dict = True
        tags.target_tags.required = True
        return tags

    # -- using ---------------------------------------------------------------------------------------
    def predict(self, X: Any) -> list[list[Any]]:
        """The labels of each sentence."""
        check_is_fitted(self)
        return self._tagger.predict(X, self.n_jobs)

    def predict_one(self, sentence: Any) -> list[Any]:
        """The labels of one sentence."""
        check_is_fitted(self)
        return self._tagger.predict_one(sentence)

    def predict_k(self, X: Any, k: int) -> list[list[tuple[list[Any], float]]]:
        """For each sentence the k best labellings with their scores, best first, as `Tagger.predict_k`.

        The list is exact; it is shorter than k if fewer labellings are allowed.
        """
        check_is_fitted(self)
        return self._tagger.predict_k(X, k, self.n_jobs)

    def explain(self, sentence: Any) -> TagExplanation:
        """For each token of a sentence its label, and the terms of its score; as `Tagger.explain`."""
        check_is_fitted(self)
        return self._tagger.explain(sentence)

    def predict_marginal_scores(self, X: Any) -> list[Floats]:
        """One array per sentence: by how much each token's label beats the runner-up.

        The runner-up at a position is the best labelling of the whole sentence with another label there.
        The values are unbounded differences of scores, ≥ 0, not probabilities; 0 is a tie, and infinity
        means that no other label is allowed.
        """
        check_is_fitted(self)
        return self._tagger.margins(X, self.n_jobs)

    def score(self, X: Any, y: Any) -> float:
        """The share of tokens with the right label."""
        check_is_fitted(self)
        x = self._tagger.sequences(X)
        reading.check_lengths(x, y)
        labels = reading.numbered(y, Classes(self.classes_), x.n_tokens)
        if not len(labels):
            raise ValueError("there are no tokens to score: every sentence is empty.")
        write = self._tagger.writing()[1]
        return float(np.mean(write(x.starts, tagging.tag(self._tagger.scorer, x, self.n_jobs)) == labels))

    def top_features(
        self, label: Any = None, n: int = 20, *, against: bool = False
    ) -> list[tuple[str, Any, float]]:
        """The n largest (feature, label, weight), of one `label` or all; `against`: the most negative."""
        check_is_fitted(self)
        return self._tagger.top_features(label, n, against=against)

    def top_transitions(self, n: int = 20, *, against: bool = False) -> list[tuple[Any, Any, float]]:
        """The n largest (label before, label after, weight); with `against`, the most negative."""
        check_is_fitted(self)
        return self._tagger.top_transitions(n, against=against)

    def report(self) -> Report:
        """The outcome of training as an object that prints itself, in text and in HTML."""
        check_is_fitted(self)
        report = self._tagger.report
        assert report is not None
        return report

    # -- files ---------------------------------------------------------------------------------------
    def to_model(self) -> Tagger:
        """The fitted model as a `Tagger`, which shares its memory and needs no scikit-learn."""
        check_is_fitted(self)
        return self._tagger

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a file that contains only data. The write is atomic."""
        self.to_model().save(path)

    @classmethod
    def load(cls, path: str | PathLike[str], *, trust_patterns: bool = False) -> Self:
        """Load an estimator that `save` or the command line wrote. Runs no code from the file.

        `trust_patterns` is as in `novikoff.load_model`.
        """
        tagger = Tagger.load(path, trust_patterns=trust_patterns)
        try:
            return cls.from_model(tagger)
        except (ValueError, TypeError, OverflowError) as error:  # from impossible parameter values
            raise ValueError(f"{fspath(path)}: {error}") from None

    @classmethod
    def from_model(cls, tagger: Tagger) -> Self:
        """The estimator around a `Tagger`, which shares its memory."""
        params = parameters_from_file(tagger.parameters, parameters_of(cls))
        params |= {  # the trained model takes precedence
            "features": getattr(tagger.features, "templates", None),
            "hash_bits": tagger.features.hash_bits,
            "average": tagger.transition_sums is not None,
        }
        self = cls(**params)
        check_parameters(self)
        self._set_tagger(tagger)
        return self
