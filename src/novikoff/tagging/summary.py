"""From the counts and the run of a tagger to the report."""

from __future__ import annotations

import math
from fractions import Fraction

from novikoff.outward import UNIT, Enclosure, at_least, at_most, root_up
from novikoff.tagging.chain import Counts
from novikoff.training.report import Figures, Report, report_of
from novikoff.training.run import Run

ELEMENTS = 1 << 20  # more than an update of one sentence changes


def summarize(counts: Counts, run: Run, n_features: int, n_labels: int, name: str, order: str) -> Report:
    """What there is to say about a run.

    The bound is Collins's: mistakes ≤ (R/γ)² with R the largest ‖Φ(x, y) − Φ(x, ŷ)‖ of an update (the
    proof needs no other), and γ the margin, which lies between that of the last weights and ‖w‖/updates.
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
    )
    return report_of(run, figures, name, order)


def radius_square(counts: Counts) -> Enclosure:
    """R², enclosed."""
    square = Fraction(counts.radius2)
    slack = ELEMENTS * 4 * UNIT if counts.fractional or counts.radius2 >= 2**53 else 0
    return square * (1 - slack), square * (1 + slack)


def margin_upper(counts: Counts, run: Run) -> float:
    """‖w‖/updates, which is at least γ, rounded up; infinite before the first update.

    On shards Σ μ·updates counts. Whole numbers are not rounded. Otherwise n updates of at most R each have
    made ‖w‖ ≤ n·R, their sum is off by at most n·(n + 3)·u·R, and ‖w‖² as it was added up by
    4n²·(n + d)·u·R², for d elements of an update.
    """
    n = counts.updates - counts.dropped
    if not n:
        return math.inf
    square, made, drift = Fraction(counts.norm2), Fraction(n), Fraction(0)
    R = Fraction(root_up(radius_square(counts)[1]))
    if run.n_shards > 1:
        mixings = max(len(run.history), 1) * (run.n_shards + 6)
        made = Fraction(run.mixed) * (1 - 4 * mixings * UNIT)
        square *= 1 + Fraction(1, 2**26)  # of a sum of up to 2²⁷ squares
        drift = (n * (n + 3) + 4 * mixings * made) * UNIT * R
    elif counts.fractional or counts.norm2 >= 2**53:
        square += 4 * n * n * (n + ELEMENTS) * UNIT * R**2
        drift = n * (n + 3) * UNIT * R
    if made <= 0:
        return math.inf
    return root_up(((Fraction(root_up(square)) + drift) / made) ** 2) if drift else root_up(square / made**2)
