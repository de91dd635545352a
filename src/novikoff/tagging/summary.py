"""Makes the report of a tagger from its counts and its run."""

from __future__ import annotations

import math
from fractions import Fraction

from novikoff.outward import UNIT, Enclosure, at_least, at_most, root_up
from novikoff.tagging.chain import Counts
from novikoff.training.report import Figures, Report, report_of
from novikoff.training.run import Run

ELEMENTS = 1 << 20  # more than one sentence's update changes


def summarize(
    counts: Counts, run: Run, n_features: int, n_labels: int, name: str, order: str, *, averaged: bool
) -> Report:
    """The report of a run.

    The bound is Collins's: mistakes ≤ (R/γ)², where R is the largest ‖Φ(x, y) − Φ(x, ŷ)‖ of an update (the
    proof needs no others) and γ is the margin, between the margin of the last weights and ‖w‖/updates.
    """
    margin = run.margin if run.verdict == "separated" else 0.0
    upper, (least, most) = margin_upper(counts, run), radius_square(counts)
    figures = Figures(
        rule="perceptron",
        n_features=n_features,
        n_classes=n_labels,
        mistakes=counts.mistakes,
        updates=counts.updates,
        radius=root_up(most),
        margin_upper=upper,
        bound="(R/γ)²",
        bound_lower=at_least(least, upper),
        bound_upper=at_most(most, margin),
        what="sentences",
        unit="tokens",
        predicts="the averaged ones" if averaged else "",
    )
    return report_of(run, figures, name, order)


def radius_square(counts: Counts) -> Enclosure:
    """Lower and upper bound of R²."""
    square = Fraction(counts.radius2)
    slack = ELEMENTS * 4 * UNIT if counts.fractional or counts.radius2 >= 2**53 else 0
    return square * (1 - slack), square * (1 + slack)


def margin_upper(counts: Counts, run: Run) -> float:
    """‖w‖/updates, which is at least γ, rounded up; infinite before the first update.

    With shards, Σ μ·updates takes the place of updates. Whole numbers are not rounded. Otherwise ‖w‖ ≤ n·R
    after n updates of at most R each; the error of their sum is at most n·(n + 3)·u·R, and that of the
    accumulated ‖w‖² at most 4n²·(n + d)·u·R², for d elements per update.
    """
    n = counts.updates - counts.dropped
    if not n:
        return math.inf
    square, made, drift = Fraction(counts.norm2), Fraction(n), Fraction(0)
    R = Fraction(root_up(radius_square(counts)[1]))
    if run.n_shards > 1:
        mixings = max(len(run.history), 1) * (run.n_shards + 6)
        made = Fraction(run.mixed) * (1 - 4 * mixings * UNIT)
        square *= 1 + Fraction(1, 2**26)  # rounding of a sum of up to 2²⁷ squares
        drift = (n * (n + 3) + 4 * mixings * made) * UNIT * R
    elif counts.fractional or counts.norm2 >= 2**53:
        square += 4 * n * n * (n + ELEMENTS) * UNIT * R**2
        drift = n * (n + 3) * UNIT * R
    if made <= 0:
        return math.inf
    return root_up(((Fraction(root_up(square)) + drift) / made) ** 2) if drift else root_up(square / made**2)
