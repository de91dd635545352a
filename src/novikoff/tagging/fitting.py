"""From sentences and labels to a trainer, and from there to the `Tagger`. No scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from novikoff.tagging import constraints, reading
from novikoff.tagging.chain import ChainWeights
from novikoff.tagging.features import SequenceFeatures
from novikoff.tagging.sequences import Ids, Sequences
from novikoff.tagging.spelling import Spelling
from novikoff.tagging.tagger import Labels, Tagger
from novikoff.tagging.training import TaggerTrainer
from novikoff.training.plan import Plan
from novikoff.training.run import Run


def trainer_of(
    features: SequenceFeatures,
    x: Sequences,
    labels: Ids,
    classes: Labels,
    plan: Plan,
    *,
    average: bool = True,
    transitions: str = "first-order",
    min_count: int = 1,
    written: str | None = None,
    where: Callable[[int], str] | None = None,
) -> tuple[TaggerTrainer, SequenceFeatures]:
    """A trainer for sentences that `features` has numbered, with labels numbered by `classes`.

    Also returns the features that occur at least `min_count` times. `written` is the scheme of predictions,
    if it is not that of `classes`. `where` gives the place of a token, for errors.
    """
    allowed = constraints.allowed(transitions, classes.tolist(), x, labels, where=where)
    x, features = reading.frequent(x, features, min_count)
    weights = ChainWeights.zeros(features.n_columns, allowed, average=average, whole=x.values is None)
    return TaggerTrainer(weights, x, labels, plan, Spelling(classes, written)), features


def continuing(
    tagger: Tagger,
    features: SequenceFeatures,
    x: Sequences,
    labels: Ids,
    classes: Labels,
    plan: Plan,
    *,
    transitions: str = "first-order",
) -> TaggerTrainer:
    """A trainer that continues from a copy of the weights of `tagger`.

    `features` are the tagger's features and the new ones of the sentences.
    """
    weights = tagger.weights()
    allowed = constraints.allowed(transitions, classes.tolist(), x, labels, weights.allowed)
    weights = weights.prepared(features.n_columns, allowed, whole=x.values is None)
    return TaggerTrainer(weights, x, labels, plan)


def fitted(
    trainer: TaggerTrainer, features: SequenceFeatures, classes: Labels, run: Run, **about: Any
) -> Tagger:
    """The tagger at the end of a run, complete or interrupted.

    `about` is further information to store: name, order, parameters.
    """
    features.fixed = True
    return Tagger.of(classes, features, trainer.weights, trainer.pairs, run=run, **about)
