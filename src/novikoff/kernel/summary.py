"""From a kernel model and its run to the report."""

from __future__ import annotations

import math

from novikoff.kernel.budget import BudgetModel
from novikoff.kernel.dual_model import DualModel
from novikoff.outward import at_least, at_most
from novikoff.training.report import WAYS, Figures, Report, report_of
from novikoff.training.run import Run
from novikoff.training.summary import theorem
from novikoff.training.weights import Settings

INDEFINITE = "the kernel is not positive semidefinite, as this run shows"
GIVEN_DEFINITE = "given a positive semidefinite kernel"


def margin_upper(model: DualModel | BudgetModel, run: Run) -> float:
    """‖w‖/Στ ≥ γ, rounded up; infinite if what is known about K does not prove it."""
    upper = model.margin_upper
    unproved = upper == 0 and not model.kernel.is_known and run.verdict != "inseparable"
    return math.inf if unproved or _is_indefinite(model, run) else upper


def _is_indefinite(model: DualModel | BudgetModel, run: Run) -> bool:
    """Whether the run shows that K is not an inner product: ‖w‖² < 0, or a margin above its upper bound."""
    if isinstance(model, BudgetModel) or model.kernel.is_known:
        return False
    crossed = run.verdict == "separated" and run.margin > model.margin_upper
    return crossed or any(high < 0 for _, high in model.enclosed_squares())


def summarize(
    model: DualModel | BudgetModel, run: Run, name: str, order: str, n_features: int, way: str
) -> Report:
    """The report on `run`, which made `model` that predicts in this way; `name` and `order` are shown."""
    upper, margin = margin_upper(model, run), run.margin if run.verdict == "separated" else 0.0
    indefinite = _is_indefinite(model, run)
    bound, _ = theorem(Settings(), 1.0)
    parts = 1 if model.joint or model.n_columns == 1 else model.n_columns
    upper_of_all = upper
    if parts > 1:
        bound, upper_of_all = f"the sum of {parts} classes' {bound}", math.inf
    low, high = 0.0, math.inf
    if isinstance(model, BudgetModel):
        bound = ""  # the proof does not cover projection and removal
    elif model.radius < math.inf and not indefinite:
        least, most = model.reach_square()
        low, high = at_least(least, upper_of_all), at_most(parts * most, margin)
    figures = Figures(
        rule="perceptron",
        n_features=n_features,
        n_classes=model.n_classes,
        mistakes=model.n_mistakes,
        updates=model.n_updates,
        radius=model.reach,
        margin=math.nan if indefinite else run.margin,
        margin_upper=upper,
        bound=bound,
        bound_lower=low,
        bound_upper=high,
        settled=(model.close, model.close) if run.history else None,
        log2_radius=model.log2_reach if math.isinf(model.reach) else None,
        values_rounded=not run.whole_values,
        missing=INDEFINITE if indefinite else "",
        assumed="" if model.kernel.is_known or indefinite else GIVEN_DEFINITE,
        predicts=WAYS[way],
        way=way,
        apart=parts > 1,
    )
    return report_of(run, figures, name, order)
