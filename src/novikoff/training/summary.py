"""From a model and its run to the report."""

from __future__ import annotations

import math
from fractions import Fraction

from novikoff.outward import UNIT, at_most, down, root_up, up
from novikoff.training.report import WAYS, Figures, Report, report_of
from novikoff.training.run import Run
from novikoff.training.weights import ORDINARY, Model, Settings


def summarize(model: Model, run: Run, name: str, order: str, way: str = "") -> Report:
    """The report on `run`, which made `model`; `name` and `order` are shown unchanged.

    `way` is how a model predicts that has several ways.
    """
    bound, low, high = _bound(model, run)
    if run.shuffled_in_blocks:
        order = f"shuffled in blocks of {run.shuffled_in_blocks:,} rows (memory-mapped)"
    figures = Figures(
        rule=model.settings.rule,
        n_features=model.n_features,
        n_classes=model.n_classes,
        mistakes=model.total("mistakes"),
        updates=model.total("updates"),
        radius=model.radius(),
        margin_upper=margin_upper(model, run),
        bound=bound,
        bound_lower=low,
        bound_upper=high,
        settled=(_settled_by(model, 0), _settled_by(model, 1)),
        missing=missing_for(model, run),
        predicts=WAYS[way or ("averaged" if model.averages else "last")],
        way=way,
        factors=model.factor_range(),
        apart=model.apart,
    )
    return report_of(run, figures, f"{name}(rule={model.settings.rule!r})", order)


def _settled_by(model: Model, way: int) -> int:
    """Decisions too close for plain floats, made by compensated sums (0) or by the accumulator (1)."""
    return sum(learner.native.fallbacks[way] for learner in model.learners)


def missing_for(model: Model, run: Run) -> str:
    """A hypothesis of the rule's theorem that the counts do not meet, in words; empty if all are met.

    For a judged run the theorem must be about that run's rows, as its margin is; otherwise it is about all
    rows that the model learned from.
    """
    rule = model.settings.rule
    return model.ledger.missing_for_last(rule) if run.judged else model.ledger.missing(rule)


def margin_upper(model: Model, run: Run) -> float:
    """‖w‖/Στ where it is ≥ γ, else infinity; γ is of the rows of a judged run, otherwise of all rows."""
    if run.judged and model.ledger.copies_of(model.ledger.last) is None:
        return math.inf
    return model.margin_upper()


def theorem(
    settings: Settings, square: Fraction | float, heaviest: float = 1.0, copies: int = 1
) -> tuple[str, Fraction]:
    """The bound of a rule as a formula, and its exact numerator over γ² (γₙ² for the normalized rule).

    `square` is R² of the z with their weights, `heaviest` is the largest weight, and `copies` is 2 if an
    update moves two vectors. In the formula, c is the largest weight.
    Passive-aggressive: Crammer et al. 2006, theorems 2, 4 and 5, which do not cover sample weights.

    >>> theorem(Settings(rule="margin", margin=0.5), 5.0)
    ('(R² + 2β)/γ²', Fraction(6, 1))
    """
    square, heaviest_ = Fraction(square), Fraction(heaviest)
    match settings.rule:
        case "normalized":  # the perceptron's theorem for the rows scaled to norm 1
            above = ("" if copies == 1 else "2") + ("" if heaviest == 1 else "c²")
            return f"{above or 1}/γₙ²", copies * heaviest_**2
        case "margin":
            formula = "(R² + 2β)/γ²" if heaviest == 1 else "(R² + 2cβ)/γ²"
            return formula, square + 2 * Fraction(settings.margin) * heaviest_
        case "pa1":
            return "max(R², 1/C)/γ²", max(square, 1 / Fraction(settings.C))
        case "pa2":
            return "(R² + 1/2C)/γ²", square + 1 / (2 * Fraction(settings.C))
    return "(R/γ)²", square


def _bound(model: Model, run: Run) -> tuple[str, float, float]:
    """The name of the rule's theorem, and the bracket of its bound from the margins, rounded outward."""
    settings = model.settings
    if settings.has_variances:
        return "", 0.0, math.inf
    parts = model.n_classes if model.apart else 1
    copies = 2 if model.moves_two else 1
    low, high = model.radius_square()
    heaviest = model.ledger.heaviest
    name, top = theorem(settings, high, heaviest, copies)
    least = theorem(settings, low, heaviest, copies)[1]
    if missing_for(model, run):
        return name, 0.0, math.inf
    upper, v_square = model.upper_square(), run.v_square
    if settings.rule == "normalized":
        upper, v_square = _unit_upper(model), at_most(1.0, run.unit_margin)
    bound = math.inf
    if run.verdict == "separated":
        margin = run.unit_margin if settings.rule == "normalized" else run.margin
        ordinary = ORDINARY[0] < v_square < ORDINARY[1]
        bound = up(parts * top * Fraction(v_square)) if ordinary else at_most(parts * top, margin)
    if parts > 1:
        name, upper = f"the sum of {parts} classes' {name}", None
    if upper is None:
        return name, 0.0, bound
    return name, down(least / upper) if upper else math.inf, bound


def _unit_upper(model: Model) -> Fraction | None:
    """‖w‖/updates ≥ γₙ squared, rounded up: every step adds a vector of norm 1, up to four roundings.

    The updates are those that sum to w: on shards, each counts with the share of its shard.
    """
    (learner, *more) = model.learners
    updates, dropped = model.total("updates"), model.ledger.dropped
    held = 0.0 if dropped is None else updates - dropped
    if more or not held > 0:
        return None
    copies = 2 if model.moves_two else 1
    length = root_up(learner.square()[1]) + learner.native.drift
    length += 6 * 2.0**-53 * copies * model.ledger.heaviest * updates
    if length == math.inf:
        return None
    slack = 0 if dropped == int(dropped or 0) else 8 * UNIT * updates  # for a sum of shares
    return (Fraction(length) * (1 + 4 * UNIT) / (Fraction(held) - slack)) ** 2
