"""The driver of kernel perceptrons with a budget: epochs, order, stopping, history and the verdict."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.exact.outward import LARGEST, UNIT, margin_down
from novikoff.kernel.budget import BudgetLearner
from novikoff.kernel.kernels import PrecomputedKernel, Rows
from novikoff.training.linear import Plan, Record, Run, record_line
from novikoff.training.weights import Ints


def fit(learner: BudgetLearner, X: Any, labels: Ints, plan: Plan) -> Run:
    """Learn from all rows until an epoch passes without an update, or the plan ends it."""
    if plan.order == "worst":
        raise ValueError("order='worst' is not possible with a budget: rows are met one by one.")
    X, n = learner.checked(X), len(labels)
    run = Run(n_rows=n)

    def one_pass(epoch: int) -> Record:
        order = plan.rng.permutation(n) if plan.order == "shuffle" else np.arange(n, dtype=np.int64)
        learner.n_rows = 0  # the same rows again
        return _pass(learner, X, labels, order, epoch)

    try:
        epochs(one_pass, plan, run)
        judge(learner, [(X, labels)], run, plan.n_jobs)
    except KeyboardInterrupt:
        run.interrupted = True
    return run


def epochs(one_pass: Callable[[int], Record], plan: Plan, run: Run) -> None:
    """Pass over the rows until no update is made, or the plan ends it."""
    for epoch in range(plan.max_epochs):
        made = one_pass(epoch)
        run.history.append(made)
        run.converged = made["updates"] == 0
        if plan.verbose:
            print(record_line(made), file=sys.stderr)
        if run.converged or (plan.callback is not None and plan.callback(made) is True):
            break


def learn(learner: BudgetLearner, X: Any, labels: Ints) -> Run:
    """One pass over the rows, in their order."""
    X, run = learner.checked(X), Run(n_rows=len(labels), as_given=True)
    try:
        run.history.append(_pass(learner, X, labels, None, 0))
        run.converged = run.history[0]["updates"] == 0
    except KeyboardInterrupt:
        run.interrupted = True
    return run


def _pass(learner: BudgetLearner, X: Any, labels: Ints, order: Rows | None, epoch: int) -> Record:
    started, mistakes, updates = time.perf_counter(), learner.n_mistakes, learner.n_updates
    learner.visit_rows(X, labels, order)
    return record(learner, epoch, mistakes, updates, started)


def record(learner: BudgetLearner, epoch: int, mistakes: int, updates: int, started: float) -> Record:
    """What an epoch did, which began with so many mistakes and updates."""
    counts = {"mistakes": learner.n_mistakes - mistakes, "updates": learner.n_updates - updates}
    return {"epoch": epoch + 1} | counts | {"norm": learner.norm(), "seconds": time.perf_counter() - started}


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
