"""The scheme in which chunk labels are learned: conversion, and the choice by held-out sentences."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novikoff.data.text_labels import is_text, text_array
from novikoff.tagging import fitting, reading
from novikoff.tagging import training as tagging
from novikoff.tagging.chunks import score_numbers
from novikoff.tagging.features import SequenceFeatures
from novikoff.tagging.repairs import is_chunk_label
from novikoff.tagging.schemes import Rewriting, scheme_of
from novikoff.tagging.sequences import Ids, Sequences
from novikoff.tagging.tagger import Labels
from novikoff.training.held_out import hold_out
from novikoff.training.loop import train
from novikoff.training.plan import Plan


@dataclass(frozen=True, eq=False)
class Encoding:
    """Labels as they are learned."""

    classes: Labels
    labels: Ids
    written: str | None = None  # the scheme of predictions; None: as they are learned
    decided: str = ""  # how learn_as="auto" was decided


def encoded(
    learn_as: str | None,
    features: SequenceFeatures,
    x: Sequences,
    labels: Ids,
    classes: Labels,
    plan: Plan,
    **settings: Any,
) -> Encoding:
    """The labels in the scheme `learn_as`; `settings` are those of `fitting.trainer_of`."""
    given = Encoding(classes, labels)
    if learn_as is None:
        return given
    problem, scheme = _scheme(classes, x, labels)
    if scheme is None:
        if learn_as != "auto":
            raise ValueError(
                f"learn_as={learn_as!r} needs chunk labels such as B-NP, I-NP and O, but {problem}."
            )
        return replace(given, decided=f"as they are, because {problem}")
    wanted = "iobes" if learn_as == "auto" else learn_as
    if wanted == scheme:
        return replace(given, decided=f"as they are: {scheme.upper()}") if learn_as == "auto" else given
    other = _converted(given, wanted, scheme, x)
    if learn_as != "auto":
        return other
    every = np.arange(len(x))
    rng = deepcopy(plan.rng)  # the fit itself draws the same numbers as without this comparison
    kept, held = hold_out([every], plan.validation_fraction, rng, "of the sentences")
    x, features = reading.frequent(x, features, int(settings.pop("min_count", 1)))
    scores = []
    for each in (given, other):
        trial = replace(plan, rng=deepcopy(rng), early_stopping=False, verbose=0, callback=None)
        part = tagging.subset(x, each.labels, kept)
        trainer, _ = fitting.trainer_of(features, *part, each.classes, trial, **settings)
        if train(trainer, trial, judged=False).interrupted:
            raise KeyboardInterrupt
        new, _ = tagging.subset(x, labels, held)
        found = tagging.tag(tagging.scorer(trainer.weights), new, plan.n_jobs)
        scores.append(_f1(given, each, scheme, x, held, found))
    best = other if scores[1] > scores[0] else given
    how = f"as {wanted.upper()}" if best is other else "as they are"
    how += f": on {len(held):,} held-out sentences F1 is "
    how += f"{100 * scores[1]:.2f} as {wanted.upper()} and {100 * scores[0]:.2f} as {scheme.upper()}"
    return replace(best, decided=how)


def _scheme(classes: Labels, x: Sequences, labels: Ids) -> tuple[str, str | None]:
    """The scheme of the labels, or None and the reason."""
    texts = classes.tolist()
    if not is_text(classes):
        return f"got {texts[0]!r}", None
    if wrong := [label for label in texts if not is_chunk_label(label)]:
        return f"got {wrong[0]!r}", None
    if texts == ["O"]:
        return "every label is O", None
    found = scheme_of(texts, x.starts, labels)
    if found is None:
        return "the labels follow no scheme of IOB1, IOB2, IOBES and BILOU", None
    return "", found[0]


def _converted(given: Encoding, wanted: str, scheme: str, x: Sequences) -> Encoding:
    rewriting = Rewriting(given.classes.tolist(), wanted)
    numbers = rewriting(x.starts, given.labels)
    used, places = np.unique(numbers, return_inverse=True)
    classes = text_array([rewriting.names[k] for k in used.tolist()])
    return Encoding(classes, places.astype(np.int32), written=scheme)


def _f1(given: Encoding, learned: Encoding, scheme: str, x: Sequences, held: Any, found: Ids) -> float:
    """The F1 of predicted chunks, both sides read in the scheme of the given labels."""
    new, true = tagging.subset(x, given.labels, held)
    truth, guess = (Rewriting(each.classes.tolist(), scheme) for each in (given, learned))
    names = sorted({*truth.names, *guess.names})
    at = {name: k for k, name in enumerate(names)}
    a, b = (
        np.array([at[name] for name in rewriting.names], dtype=np.int32)[rewriting(new.starts, numbers)]
        for rewriting, numbers in ((truth, true), (guess, found))
    )
    return score_numbers(names, new.starts, a, b).all.f1
