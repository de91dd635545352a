"""The scheme in which chunk labels are learned: conversion, and the choice by held-out sentences."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novikoff.data.text_labels import is_text, text_array
from novikoff.parameters.common import AUTO
from novikoff.parameters.tagging import GIVEN
from novikoff.tagging import constraints, reading
from novikoff.tagging import training as tagging
from novikoff.tagging.chain import ChainWeights
from novikoff.tagging.chunks import SentenceCounts, count_by_sentence
from novikoff.tagging.features import SequenceFeatures
from novikoff.tagging.repairs import is_chunk_label
from novikoff.tagging.schemes import Rewriting, scheme_of
from novikoff.tagging.sequences import Ids, Sequences
from novikoff.tagging.tagger import Labels
from novikoff.training.loop import train
from novikoff.training.plan import Plan

# The comparison of "auto" is so small that its cost does not matter beside a fit of ten epochs.
LEARNED, COMPARED, EPOCHS = 1000, 2000, 3  # sentences at most, and epochs
FEWEST = 50  # sentences: fewer are not compared
GAIN = 0.005  # of F1, and one standard error: the least that IOBES must bring, as it takes more time


@dataclass(frozen=True, eq=False)
class Encoding:
    """Labels as they are learned."""

    classes: Labels
    labels: Ids
    written: str | None = None  # the scheme of predictions; None: as they are learned
    decided: str = ""  # how learn_as="auto" was decided; empty: there was nothing to decide


def encoded(
    learn_as: str,
    features: SequenceFeatures,
    x: Sequences,
    labels: Ids,
    classes: Labels,
    plan: Plan,
    **settings: Any,
) -> Encoding:
    """The labels in the scheme `learn_as`; `settings` are those of `fitting.trainer_of`."""
    given = Encoding(classes, labels)
    if learn_as == GIVEN:
        return given
    auto = learn_as == AUTO
    if auto and settings.get("transitions") in ("bio", "iobes"):
        return given  # these are rules for the labels as they are
    problem, scheme = _scheme(classes, x, labels)
    if scheme is None:
        if not auto:
            raise ValueError(
                f"learn_as={learn_as!r} needs chunk labels such as B-NP, I-NP and O, but {problem}."
            )
        return given
    wanted = "iobes" if auto else learn_as
    if wanted == scheme:
        return given
    other = _converted(given, wanted, scheme, x)
    if not auto:
        return other
    if len(x) < FEWEST:
        return given
    return _decided(given, other, scheme, features, x, plan, settings)


def _decided(
    given: Encoding,
    other: Encoding,
    scheme: str,
    features: SequenceFeatures,
    x: Sequences,
    plan: Plan,
    settings: dict[str, Any],
) -> Encoding:
    """The labels as they are, or as IOBES if this is better on held-out sentences."""
    rng = deepcopy(plan.rng)  # the fit itself draws the same numbers as without this comparison
    drawn = rng.permutation(len(x))
    size = min(COMPARED, 2 * len(x) // 5)
    held, kept = np.sort(drawn[:size]), np.sort(drawn[size : size + LEARNED])
    x, _ = reading.frequent(x, features, int(settings.get("min_count", 1)))
    (part, _), (new, truth) = (tagging.subset(x, given.labels, which) for which in (kept, held))
    part, new, n = _numbered_anew(part, new)
    learned = np.zeros(len(x), dtype=bool)
    learned[kept] = True
    tokens = np.repeat(learned, x.lengths)
    counts = []
    for each in (given, other):
        trial = replace(plan, rng=deepcopy(rng))
        found = _predicted(part, each.labels[tokens], each.classes, new, n, trial, settings)
        counts.append(_counts(given, each, scheme, new, truth, found))
    gain, error = _gain(*counts)
    better = gain >= GAIN and gain > error
    change = "gains" if gain > 0 else "loses"
    points = f"{100 * abs(gain):.2f} ± {100 * error:.2f} points of F1 on {size:,} held-out sentences"
    if better:
        return replace(other, decided=f"as IOBES, which {change} {points}")
    return replace(given, decided=f"as they are: IOBES {change} {points}")


def _numbered_anew(x: Sequences, new: Sequences) -> tuple[Sequences, Sequences, int]:
    """Both with the features of x only, and their number: all sentences have far more."""
    used = np.zeros(int(max(x.ids.max(initial=-1), new.ids.max(initial=-1))) + 1, dtype=bool)
    used[x.ids] = True
    column = np.where(used, np.cumsum(used) - 1, -1)
    return x.renumbered(column), new.renumbered(column), int(np.count_nonzero(used))


def _predicted(
    x: Sequences, labels: Ids, classes: Labels, new: Sequences, n: int, plan: Plan, settings: dict[str, Any]
) -> Ids:
    """The labels of `new` sentences by a tagger that learned a few epochs from x, with n features."""
    most = plan.max_epochs if isinstance(plan.max_epochs, int) else EPOCHS
    trial = replace(plan, max_epochs=min(EPOCHS, most), early_stopping=False, verbose=0, callback=None)
    allowed = constraints.allowed(settings["transitions"], classes.tolist(), x, labels)
    weights = ChainWeights.zeros(n, allowed, average=settings["average"], whole=x.values is None)
    if train(tagging.TaggerTrainer(weights, x, labels, trial), trial, judged=False).interrupted:
        raise KeyboardInterrupt
    return tagging.tag(tagging.scorer(weights), new, plan.n_jobs)


def _gain(old: SentenceCounts, new: SentenceCounts) -> tuple[float, float]:
    """The difference of two F1 = Σ 2r_s / Σ (t_s + f_s), and its standard error by the delta method.

    For sentences that are drawn independently it is the square root of Σ (e_s − e′_s)², where
    e_s = (2r_s − F1·(t_s + f_s)) / Σ (t_s + f_s).
    """
    values, parts = [], []
    for counts in (old, new):
        both = counts.true + counts.found
        total = max(int(both.sum()), 1)
        f1 = 2 * int(counts.right.sum()) / total
        values.append(f1)
        parts.append((2 * counts.right - f1 * both) / total)
    return values[1] - values[0], math.sqrt(float(np.sum((parts[1] - parts[0]) ** 2)))


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
    occurs = np.bincount(numbers, minlength=len(rewriting.names)) > 0
    classes = text_array([name for name, some in zip(rewriting.names, occurs.tolist(), strict=True) if some])
    return Encoding(classes, (np.cumsum(occurs) - 1).astype(np.int32).take(numbers), written=scheme)


def _counts(
    given: Encoding, learned: Encoding, scheme: str, x: Sequences, true: Ids, found: Ids
) -> SentenceCounts:
    """The chunks of each sentence, both sides read in the scheme of the given labels."""
    truth, guess = (Rewriting(each.classes.tolist(), scheme) for each in (given, learned))
    names = sorted({*truth.names, *guess.names})
    at = {name: k for k, name in enumerate(names)}
    a, b = (
        np.array([at[name] for name in rewriting.names], dtype=np.int32)[rewriting(x.starts, numbers)]
        for rewriting, numbers in ((truth, true), (guess, found))
    )
    return count_by_sentence(names, x.starts, a, b)
