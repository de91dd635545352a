"""The driver of kernel perceptrons: epochs, order, stopping, history and the verdict."""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import numpy as np

from novikoff.conjunctions import ConjunctionLearner, MonotoneConjunction
from novikoff.dual import DualLearner
from novikoff.dualmodel import DualModel
from novikoff.model import Floats, Ints
from novikoff.training import Plan, Record, Run, record_line

Learner = DualLearner | ConjunctionLearner


def fit(
    earlier: DualModel,
    X: Any,
    labels: Ints,
    plan: Plan,
    *,
    tie_is_mistake: bool = False,
    cache_bytes: int = 0,
) -> tuple[DualModel, Run]:
    """Learn from all rows until an epoch passes without an update, or the plan ends it."""
    learner: Learner
    if isinstance(earlier.kernel, MonotoneConjunction):
        learner = ConjunctionLearner(earlier, X, labels, tie_is_mistake=tie_is_mistake, n_jobs=plan.n_jobs)
    else:
        learner = DualLearner(
            earlier,
            X,
            labels,
            tie_is_mistake=tie_is_mistake,
            cache_bytes=cache_bytes,
            n_jobs=plan.n_jobs,
        )
    run = Run(n_rows=len(labels))
    try:
        for epoch in range(plan.max_epochs):
            started, before = time.perf_counter(), len(learner.updates)
            if plan.order == "worst":
                run.converged = _worst_epoch(learner)
            else:
                n = len(labels)
                order = plan.rng.permutation(n) if plan.order == "shuffle" else np.arange(n, dtype=np.int64)
                run.converged = learner.epoch(order) == 0
            moves = learner.updates.move if isinstance(learner, DualLearner) else [u.move for u in learner.updates]
            made = np.array(moves[before:]).reshape(-1, earlier.n_columns)
            count = len(made) if learner.joint else int(np.count_nonzero(made))
            record: Record = {"epoch": epoch + 1, "mistakes": count, "updates": count}
            record |= {"norm": norm(learner), "seconds": time.perf_counter() - started}
            run.history.append(record)
            if plan.verbose:
                print(record_line(record), file=sys.stderr)
            if run.converged or (plan.callback is not None and plan.callback(record) is True):
                break
        _judge(learner, run)
    except KeyboardInterrupt:
        run.interrupted = True
    return learner.model(), run


def _worst_epoch(learner: Learner) -> bool:
    """Up to one update a row, each of the row that is most violated; whether none is any more."""
    if isinstance(learner, ConjunctionLearner):
        return any(not learner.visit_worst() for _ in range(len(learner.labels)))
    for _ in range(len(learner.labels)):
        margins = worst(learner)
        hurts = learner.labels != 0 if learner.joint else learner.labels == 0
        tied = (margins == 0) & (hurts | learner.tie_is_mistake)  # these come before ties that are no mistake
        row = int(np.lexsort((~tied, margins))[0])
        if not learner.epoch(np.array([row], dtype=np.int64)):
            learner.visits -= 1  # nothing violated, so nothing was visited
            return True
    return False


def worst(learner: DualLearner) -> Floats:
    """The smallest y·s of each row: of its columns, or of the differences to its rivals."""
    scores, labels = learner.scores, learner.labels
    if learner.joint:
        own = np.arange(len(labels)), labels
        rivals = scores.copy()
        rivals[own] = -math.inf
        return np.asarray(scores[own] - rivals.max(axis=1))
    if scores.shape[1] == 1:
        return np.where(labels == 1, scores[:, 0], -scores[:, 0])
    signed = -scores
    signed[np.arange(len(labels)), labels] *= -1
    return np.asarray(signed.min(axis=1))


def norms(learner: Learner) -> Floats:
    """‖w‖ of each column: ‖w‖² = Σ α·s over the supports, whose scores are known."""
    if isinstance(learner, ConjunctionLearner):
        return np.sqrt(learner.squares())
    if not len(learner.updates):
        return np.zeros(learner.earlier.n_columns)
    moves = np.array(learner.updates.move)
    squares = np.sum(moves * learner.scores[np.array(learner.updates.row)], axis=0)
    return np.sqrt(np.maximum(squares, 0.0))


def norm(learner: Learner) -> float:
    """‖w‖ over all columns."""
    return float(np.linalg.norm(norms(learner)))


def _judge(learner: Learner, run: Run) -> None:
    """Is every row strictly on its own side? Exactly, by the last scores."""
    if isinstance(learner, ConjunctionLearner):
        learner.judge(run)
        return
    margins = worst(learner)
    slack = learner.rounding.slack().max() * learner.rounding.sizes * 2
    doubtful = np.flatnonzero(np.abs(margins) <= slack)
    run.consistent = not (margins < -slack).any()
    strict = run.consistent
    for row in doubtful.tolist():
        if not run.consistent:
            break
        run.consistent &= learner.is_right(row)
        strict &= learner.is_right(row, strictly=True)
    run.verdict = "separated" if strict else "undecided"
    run.training_errors = 0 if run.consistent else None
    lengths = norms(learner)
    if learner.joint or len(lengths) == 1:
        total = float(np.linalg.norm(lengths))
        run.margin = float(margins.min()) / total if total else 0.0
    elif lengths.all():
        signed = -learner.scores
        signed[np.arange(len(margins)), learner.labels] *= -1
        run.margin = float((signed.min(axis=0) / lengths).min())
    else:
        run.margin = 0.0
