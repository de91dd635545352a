"""From a model and its run to the report."""

from __future__ import annotations

import math

from novikoff.model import Model, Settings
from novikoff.report import Report
from novikoff.training import Run


def summarize(model: Model, run: Run, name: str, order: str) -> Report:
    """What there is to say about `run`, which made `model`; `name` and `order` are shown as they are."""
    radius, upper, missing = model.radius(), margin_upper(model, run), missing_for(model, run)
    bound, low, high = _bound(model, radius, upper, run)
    if run.as_given:
        order = "rows as they came"
    if run.shuffled_in_blocks:
        order = f"shuffled in blocks of {run.shuffled_in_blocks:,} rows (memory-mapped)"
    timed = all("seconds" in record for record in run.history)  # else it comes from a file
    close = [sum(learner.native.fallbacks[k] for learner in model.learners) for k in (0, 1)]
    return Report(
        model=f"{name}(rule={model.settings.rule!r})",
        rule=model.settings.rule,
        n_rows=run.n_rows,
        n_features=model.n_features,
        n_classes=model.n_classes,
        n_epochs=len(run.history),
        converged=run.converged,
        mistakes=model.total("mistakes"),
        updates=model.total("updates"),
        last_epoch_mistakes=int(run.history[-1]["mistakes"]) if run.history else 0,
        verdict=run.verdict,
        consistent=run.consistent,
        radius=radius,
        margin=run.margin,
        margin_upper=upper,
        bound=bound,
        bound_lower=low,
        bound_upper=high,
        training_errors=run.training_errors,
        compensated=close[0] if timed else None,
        accumulator=close[1] if timed else None,
        order=order,
        seconds=sum(record["seconds"] for record in run.history) if timed else None,
        n_shards=run.n_shards,
        mixed=run.mixed if run.n_shards > 1 else None,
        missing=missing,
    )


def missing_for(model: Model, run: Run) -> str:
    """Which hypothesis of the rule's theorem the counts do not meet, in words; empty where none is missing.

    Where a run was judged the theorem is put beside a margin of that run's rows, so it has to be about them;
    otherwise it is about all rows that the model learned from.
    """
    rule = model.settings.rule
    return model.ledger.missing_for_last(rule) if run.judged else model.ledger.missing(rule)


def margin_upper(model: Model, run: Run) -> float:
    """‖w‖/Στ, which is at least γ of the rows of a judged run, else of all rows; infinite where it is not."""
    if run.judged and model.ledger.copies_of(model.ledger.last) is None:
        return math.inf
    return model.margin_upper()


def theorem(settings: Settings, radius: float, heaviest: float = 1.0, copies: int = 1) -> tuple[str, float]:
    """The bound of a rule as a formula, and what stands above γ² in it (γₙ² for the normalized rule).

    `radius` is that of the z with their weights, of which `heaviest` is the largest; `copies` is 2 where an
    update moves two vectors. Passive-aggressive: Crammer et al. 2006, theorems 2, 4 and 5, which know no
    sample weights.
    """
    match settings.rule:
        case "normalized":  # the perceptron's theorem for the rows scaled to norm 1
            return "1/γₙ²" if copies == 1 else "2/γₙ²", copies * heaviest * heaviest
        case "margin":
            return "(R² + 2β)/γ²", radius * radius + 2 * settings.margin * heaviest
        case "pa1":
            return "max(R², 1/C)/γ²", max(radius * radius, 1 / settings.C)
        case "pa2":
            return "(R² + 1/2C)/γ²", radius * radius + 1 / (2 * settings.C)
    return "(R/γ)²", radius * radius


def _bound(model: Model, radius: float, upper: float, run: Run) -> tuple[str, float, float]:
    """The rule's own theorem: its name, and the bracket that the margins give its bound."""
    settings = model.settings
    parts = model.n_classes if model.apart else 1
    margin = run.margin if run.verdict == "separated" else 0.0
    copies = 2 if model.n_classes > 2 and not model.apart else 1
    name, top = theorem(settings, radius, model.ledger.heaviest, copies)
    if settings.rule == "normalized":
        margin, dropped = run.unit_margin if margin else 0.0, model.ledger.dropped
        held = 0.0 if dropped is None else model.total("updates") - dropped  # updates that w is made of
        upper = model.norm() / held if held > 0 else math.inf
    if missing_for(model, run):
        return name, 0.0, math.inf
    if parts > 1:
        name, upper = f"the sum of {parts} classes' {name}", math.inf
    return name, over_square(top, upper, otherwise=0.0), parts * over_square(top, margin)


def over_square(top: float, gamma: float, otherwise: float = math.inf) -> float:
    """top/γ², infinite for γ ≤ 0; `otherwise` where it is beyond what floats can tell.

    >>> over_square(5.0, 1.0), over_square(5.0, 0.0), over_square(math.inf, 1e200)
    (5.0, inf, inf)
    """
    if not gamma > 0:
        return math.inf
    value = top / (gamma * gamma) if gamma * gamma > 0 else math.nan
    return otherwise if math.isnan(value) else value
