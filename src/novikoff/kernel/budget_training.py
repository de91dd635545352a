"""Training and judging a kernel perceptron with a budget on the rows of a matrix."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.kernel.budget import BudgetModel
from novikoff.kernel.kernels import PrecomputedKernel
from novikoff.outward import LARGEST, UNIT, margin_down
from novikoff.training.loop import Epoch, Trainer
from novikoff.training.plan import Plan
from novikoff.training.run import Run
from novikoff.training.weights import Ints


class BudgetTrainer(Trainer):
    """Trains a model with a budget; every epoch numbers its rows from 0, or, unless `again`, on."""

    def __init__(self, model: BudgetModel, X: Any, labels: Ints, plan: Plan, *, again: bool = True) -> None:
        if plan.order == "worst":
            raise ValueError("order='worst' is not possible with a budget: rows are visited one by one.")
        self._model, self.X, self.labels, self.plan = model, model.checked(X), labels, plan
        self.first = 0 if again else model.n_rows  # the number of the first row

    def epoch(self) -> Epoch:
        model, n = self._model, len(self.labels)
        order = self.plan.drawn_order(n)
        mistakes, updates = model.n_mistakes, model.n_updates
        model.n_rows = self.first
        model.visit_rows(self.X, self.labels, order)
        return epoch_of(model, mistakes, updates)

    def finish(self, run: Run) -> None:
        run.n_rows = len(self.labels)

    def judge(self, run: Run) -> None:
        judge(self._model, [(self.X, self.labels)], run, self.plan.n_jobs)

    def model(self) -> BudgetModel:
        """The model so far."""
        return self._model

    def fitted(self, run: Run) -> BudgetModel:
        """The model at the end of a fit."""
        return self._model


def epoch_of(model: BudgetModel, mistakes: int, updates: int) -> Epoch:
    """The outcome of an epoch that began with these numbers of mistakes and updates."""
    made = model.n_updates - updates
    counts = {"mistakes": model.n_mistakes - mistakes, "updates": made, "norm": model.norm()}
    return Epoch(made == 0, counts)


def judge(model: BudgetModel, rows: Iterable[tuple[Any, Ints]], run: Run, n_jobs: int | None) -> None:
    """Is every row strictly on its own side? The signs of scores are exact, their differences are not."""
    columns = np.arange(model.n_columns) if model.n_columns > 1 else 1
    consistent, lowest = True, np.full(model.n_columns, math.inf)
    for X, labels in rows:
        scores = model.scores(X, averaged=False, n_jobs=n_jobs)
        consistent = consistent and bool((model.winners(scores) == labels).all())
        margins = np.where(labels[:, None] == columns, scores, -scores)
        lowest = np.minimum(lowest, margins.min(axis=0, initial=math.inf))
    run.consistent = run.converged or consistent
    if model.joint:
        return
    if lowest.min() > 0:
        run.verdict, run.consistent = "separated", True
    if model.native.size and not isinstance(model.kernel, PrecomputedKernel):
        alpha = model.coefficients(averaged=False)
        squares = np.sum(alpha * model.scores(model.vectors, averaged=False), axis=0)
        # A score of n supports is off by at most (n + 4)·u·Σ|α|·R², plus the error of its values.
        n, R = (
            len(alpha),
            Fraction(model.radius) ** 2 if model.radius < math.inf else Fraction(LARGEST) ** 2,
        )
        slack = (n + 8) * 2 * UNIT + 2 * model.kernel.value_slack(model.vectors)
        found = []
        for least, square, weights in zip(lowest.tolist(), squares.tolist(), np.abs(alpha).T, strict=True):
            total = Fraction(float(weights.sum())) * R * slack
            error = total * Fraction(float(weights.sum()))
            ends = max(Fraction(square) - error, Fraction(0)), Fraction(square) + error
            found.append(margin_down(Fraction(least) - total if math.isfinite(least) else least, *ends)[0])
        run.margin = min(found)
