"""From sentences and labels to a `Tagger`, and on from there. No scikit-learn."""

from __future__ import annotations

from typing import Any

from novikoff.tagging import constraints, reading
from novikoff.tagging import training as tagging
from novikoff.tagging.chain import ChainWeights
from novikoff.tagging.features import SequenceFeatures
from novikoff.tagging.sequences import Ids, Sequences
from novikoff.tagging.tagger import Labels, Tagger
from novikoff.training.plan import Plan


def train(
    features: SequenceFeatures,
    x: Sequences,
    labels: Ids,
    classes: Labels,
    plan: Plan,
    *,
    average: bool = True,
    transitions: str = "first-order",
    min_count: int = 1,
    **about: Any,
) -> Tagger:
    """A tagger trained on sentences that `features` has numbered, with labels numbered by `classes`.

    `about` is what the tagger keeps besides: name, order, parameters. After an interrupt its run is marked
    as such, and it is usable as it is.
    """
    allowed = constraints.allowed(transitions, classes.tolist(), x, labels)
    x, features = reading.frequent(x, features, min_count)
    weights = ChainWeights.zeros(features.n_columns, allowed, average=average, whole=x.values is None)
    run, kept = tagging.fit(weights, x, labels, plan)
    features.fixed = True
    pairs = weights.pairs()
    tagger = Tagger.of(classes, features, weights, pairs, run=run, **about)
    try:
        if not run.interrupted:
            if kept is not None:  # those that were held out are no training sentences
                x, labels = tagging.subset(x, labels, kept)
            calm = kept is None and bool(run.history) and run.history[-1]["mistakes"] == 0
            tagging.judge(tagging.scorer(weights, pairs, last=True), x, labels, run, calm=calm)
            run.training_errors = tagging.errors(tagger.scorer, x, labels, plan.n_jobs)
    except KeyboardInterrupt:
        run.interrupted = True
    return tagger


def go_on(
    tagger: Tagger | None,
    features: SequenceFeatures,
    x: Sequences,
    labels: Ids,
    classes: Labels,
    *,
    average: bool = True,
    transitions: str = "first-order",
    **about: Any,
) -> Tagger:
    """One pass over the sentences, from where `tagger` stands, which stays as it is; None: from the start.

    `features` are the tagger's, grown by those of the sentences.
    """
    weights = None if tagger is None else tagger.weights()
    allowed = constraints.allowed(
        transitions, classes.tolist(), x, labels, None if weights is None else weights.allowed
    )
    n, whole = features.n_columns, x.values is None
    if weights is None:
        weights = ChainWeights.zeros(n, allowed, average=average, whole=whole)
    else:
        weights = weights.prepared(n, allowed, whole=whole)
    run = tagging.learn(weights, x, labels)
    features.fixed = True
    return Tagger.of(classes, features, weights, weights.pairs(), run=run, **about)
