"""The driver of kernel perceptrons with a budget: epochs, order, stopping, history and the verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.kernel.budget import BudgetLearner
from novikoff.kernel.kernels import PrecomputedKernel
from novikoff.outward import LARGEST, UNIT, margin_down
from novikoff.training import loop
from novikoff.training.plan import Plan
from novikoff.training.run import Run
from novikoff.training.weights import Ints


def fit(learner: BudgetLearner, X: Any, labels: Ints, plan: Plan) -> Run:
    """Learn from all rows until an epoch passes without an update, or the plan ends it."""
    if plan.order == "worst":
        raise ValueError("order='worst' is not possible with a budget: rows are met one by one.")
    return loop.train(Fitting(learner, learner.checked(X), labels, plan), plan)


def learn(learner: BudgetLearner, X: Any, labels: Ints) -> Run:
    """One pass over the rows, in their order."""
    plan = Plan(1, "as given")
    fitting = Fitting(learner, learner.checked(X), labels, plan)
    return loop.train(fitting, plan, Run(as_given=True), judged=False)


class Fitting(loop.Learner):
    """A learner with a budget under training, on the rows of a matrix."""

    def __init__(self, learner: BudgetLearner, X: Any, labels: Ints, plan: Plan) -> None:
        self.learner, self.X, self.labels, self.plan = learner, X, labels, plan

    def epoch(self) -> loop.Epoch:
        learner, n, order = self.learner, len(self.labels), None
        if self.plan.order != "as given":
            shuffled = self.plan.order == "shuffle"
            order = self.plan.rng.permutation(n) if shuffled else np.arange(n, dtype=np.int64)
            learner.n_rows = 0  # the same rows again
        mistakes, updates = learner.n_mistakes, learner.n_updates
        learner.visit_rows(self.X, self.labels, order)
        return epoch_of(learner, mistakes, updates)

    def finish(self, run: Run) -> None:
        run.n_rows = len(self.labels)

    def judge(self, run: Run) -> None:
        judge(self.learner, [(self.X, self.labels)], run, self.plan.n_jobs)


def epoch_of(learner: BudgetLearner, mistakes: int, updates: int) -> loop.Epoch:
    """What an epoch came to, which began with so many mistakes and updates."""
    made = learner.n_updates - updates
    counts = {"mistakes": learner.n_mistakes - mistakes, "updates": made, "norm": learner.norm()}
    return loop.Epoch(made == 0, counts)


def judge(learner: BudgetLearner, rows: Iterable[tuple[Any, Ints]], run: Run, n_jobs: int | None) -> None:
    """Is every row strictly on its own side? The signs of scores are exact; differences of them are not."""
    columns = np.arange(learner.n_columns) if learner.n_columns > 1 else 1
    consistent, lowest = True, np.full(learner.n_columns, math.inf)
    for X, labels in rows:
        scores = learner.scores(X, averaged=False, n_jobs=n_jobs)
        consistent = consistent and bool((learner.winners(scores) == labels).all())
        margins = np.where(labels[:, None] == columns, scores, -scores)
        lowest = np.minimum(lowest, margins.min(axis=0, initial=math.inf))
    run.consistent = run.converged or consistent
    if learner.joint:
        return
    if lowest.min() > 0:
        run.verdict, run.consistent = "separated", True
    if learner.native.size and not isinstance(learner.kernel, PrecomputedKernel):
        alpha = learner.coefficients(averaged=False)
        squares = np.sum(alpha * learner.scores(learner.vectors, averaged=False), axis=0)
        # A score of n supports is off by at most (n + 4)·u·Σ|α|·R², and by what its values are off of.
        n, R = (
            len(alpha),
            Fraction(learner.radius) ** 2 if learner.radius < math.inf else Fraction(LARGEST) ** 2,
        )
        slack = (n + 8) * 2 * UNIT + 2 * learner.kernel.value_slack(learner.vectors)
        found = []
        for least, square, weights in zip(lowest.tolist(), squares.tolist(), np.abs(alpha).T, strict=True):
            total = Fraction(float(weights.sum())) * R * slack
            error = total * Fraction(float(weights.sum()))
            ends = max(Fraction(square) - error, Fraction(0)), Fraction(square) + error
            found.append(margin_down(Fraction(least) - total if math.isfinite(least) else least, *ends)[0])
        run.margin = min(found)
