"""The driver of kernel perceptrons with a budget: epochs, order, stopping, history and the verdict."""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import numpy as np

from novikoff.budget import BudgetLearner
from novikoff.kernels import PrecomputedKernel, Rows
from novikoff.model import Ints
from novikoff.training import Plan, Record, Run, record_line


def fit(learner: BudgetLearner, X: Any, labels: Ints, plan: Plan) -> Run:
    """Learn from all rows until an epoch passes without an update, or the plan ends it."""
    if plan.order == "worst":
        raise ValueError("order='worst' is not possible with a budget: rows are met one by one.")
    X, n = learner.checked(X), len(labels)
    run = Run(n_rows=n)
    try:
        for epoch in range(plan.max_epochs):
            order = plan.rng.permutation(n) if plan.order == "shuffle" else np.arange(n, dtype=np.int64)
            learner.n_rows = 0  # the same rows again
            record = _pass(learner, X, labels, order, epoch)
            run.history.append(record)
            run.converged = record["updates"] == 0
            if plan.verbose:
                print(record_line(record), file=sys.stderr)
            if run.converged or (plan.callback is not None and plan.callback(record) is True):
                break
        _judge(learner, X, labels, run, plan.n_jobs)
    except KeyboardInterrupt:
        run.interrupted = True
    return run


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
    started, mistakes = time.perf_counter(), learner.n_mistakes
    updates = learner.visit_rows(X, labels, order)
    record: Record = {"epoch": epoch + 1, "mistakes": learner.n_mistakes - mistakes, "updates": updates}
    return record | {"norm": learner.norm(), "seconds": time.perf_counter() - started}


def _judge(learner: BudgetLearner, X: Any, labels: Ints, run: Run, n_jobs: int | None) -> None:
    """Is every row strictly on its own side? The signs of scores are exact; differences of them are not."""
    scores = learner.scores(X, averaged=False, n_jobs=n_jobs)
    run.consistent = run.converged or bool((learner.winners(scores) == labels).all())
    if learner.joint:
        return
    positive = labels[:, None] == (1 if learner.n_columns == 1 else np.arange(learner.n_columns))
    margins = np.where(positive, scores, -scores)
    if margins.min(initial=math.inf) > 0:
        run.verdict, run.consistent = "separated", True
    if learner.native.size and not isinstance(learner.kernel, PrecomputedKernel):
        alpha = learner.coefficients(averaged=False)
        squares = np.sum(alpha * learner.scores(learner.vectors, averaged=False), axis=0)
        run.margin = float((margins.min(axis=0) / np.sqrt(np.maximum(squares, 5e-324))).min())
