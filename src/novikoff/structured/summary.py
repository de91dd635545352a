"""Makes the report of a structured perceptron from its weights and its run."""

from __future__ import annotations

import math
from fractions import Fraction

from novikoff.outward import UNIT, at_least, at_most
from novikoff.structured.weights import StructuredWeights
from novikoff.training.report import Figures, Report, report_of
from novikoff.training.run import Run

INVALID = "some updates used outputs that scored less than the right one, which the theorem does not allow"
PARTS = "where γ is also the margin over parts of outputs"


def summarize(
    weights: StructuredWeights,
    run: Run,
    name: str,
    order: str,
    *,
    cost_augmented: bool,
    in_parts: bool = False,
) -> Report:
    """The report of a run; `in_parts`: it was trained on parts of outputs too.

    Then every Δ is a difference of such parts, so the theorem is about a u that separates these parts.
    If some updates were cost-augmented, the theorem for such updates applies, whatever the last ones were.
    """
    cost_augmented = cost_augmented or weights.largest_loss > 0
    top = Fraction(weights.radius) ** 2 + 2 * Fraction(weights.largest_loss)
    upper = weights.margin_upper
    margin = run.margin if run.verdict == "separated" else 0.0
    low = at_least(top * (1 - 4 * UNIT), upper)  # R is rounded up
    figures = Figures(
        rule="cost-augmented" if cost_augmented else "structured",
        n_features=weights.n_features,
        n_classes=None,
        mistakes=weights.mistakes,
        updates=weights.updates,
        radius=weights.radius,
        margin_upper=upper,
        bound="(R² + 2·max loss)/γ²" if cost_augmented else "R²/γ²",
        bound_lower=0.0 if weights.invalid else low,
        bound_upper=at_most(top, margin) if not weights.invalid else math.inf,
        what="examples",
        assumed=PARTS if in_parts else "",
        missing=INVALID if weights.invalid else "",
    )
    return report_of(run, figures, name, order)
