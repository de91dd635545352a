"""Drivers: epochs, order, stopping, history and the verdict. No scikit-learn.

`fit` trains a fresh model and gives it up on error, so that nothing half-trained is ever seen;
`learn` continues a model in place after checking everything it is about to read.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff import _core
from novikoff.arrays import in_order, is_memory_mapped, row_bytes, rows_of
from novikoff.model import Floats, Ints, Learner, Model, Settings, UnsortedIndices, raise_problem, threads

Order = npt.NDArray[np.int64]
Record = dict[str, float]

CALL_BYTES = 1 << 26  # memory one native call goes over: a small part of a second, then Python may interrupt
BLOCK_BYTES = 1 << 24  # memory-mapped rows are shuffled within blocks of this size


@dataclass
class Plan:
    """How to go over the rows, and when to stop."""

    max_epochs: int = 1000
    order: str = "shuffle"
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_epochs_no_change: int = 5
    n_jobs: int | None = None
    verbose: int = 0
    callback: Callable[[Record], Any] | None = None
    record_updates: bool = False


@dataclass
class Run:
    """What a fit did."""

    history: list[Record] = field(default_factory=list)
    converged: bool = False
    interrupted: bool = False
    verdict: str = "undecided"
    consistent: bool | None = None  # no training error under the tie rule; None: not looked at
    margin: float = math.nan
    unit_margin: float = math.nan  # the same with every row scaled to norm 1
    witness: tuple[Floats, Floats] | None = None
    training_errors: int | None = None
    n_rows: int = 0
    as_given: bool = False  # one pass over rows in the order they came (partial_fit)
    heaviest: float = 1.0  # the largest weight of a row
    shuffled_in_blocks: int = 0  # rows a block, where a memory-mapped array was shuffled that way


# ---- order -------------------------------------------------------------------------------------------
def visits(
    n: int, kept: Order | None, plan: Plan, per_call: int, block: int
) -> Iterator[tuple[Order | None, int, int]]:
    """An epoch as (order, begin, end) for one native call after the other."""

    def calls(order: Order | None, count: int) -> Iterator[tuple[Order | None, int, int]]:
        for begin in range(0, count, per_call):
            yield order, begin, min(begin + per_call, count)

    count = n if kept is None else len(kept)
    if plan.order == "cyclic":
        yield from calls(kept, count)
    elif block and block < count:
        for start in plan.rng.permutation(np.arange(0, count, block)):
            inside = start + plan.rng.permutation(min(block, count - start))
            yield from calls(inside if kept is None else kept[inside], len(inside))
    else:
        order = plan.rng.permutation(n) if kept is None else plan.rng.permutation(kept)
        yield from calls(order, count)


# ---- fitting -----------------------------------------------------------------------------------------
def fit(
    X: Any,
    labels: Ints,
    n_classes: int,
    settings: Settings,
    plan: Plan,
    *,
    weights: Floats | None = None,
    start: Model | None = None,
    init: tuple[Floats, Floats] | None = None,
) -> tuple[Model, Run]:
    """Train on all rows until an epoch passes without an update, or the plan ends it.

    `start` continues a copy of a model and of its counts; `init` starts from given weights.
    """
    if weights is not None and not weights.all():
        kept: Order | None = np.flatnonzero(weights).astype(np.int64)
    else:
        kept = None
    state = plan.rng.bit_generator.state
    for attempt in range(2):
        model = start.copy() if start is not None else Model(n_classes, X.shape[1], settings)
        if init is not None:
            model.from_zero = not (init[0].any() or init[1].any())
            for k, learner in enumerate(model.learners):
                part = slice(k, k + 1) if model.apart else slice(None)
                learner.set_weights(init[0][part], init[1][part])
        if start is not None and n_classes > model.n_classes:
            model.grow(n_classes)
        try:
            return model, _Fitting(model, X, labels, weights, kept, plan).run()
        except UnsortedIndices:
            if attempt:
                raise
            X = in_order(X)
            plan.rng.bit_generator.state = state
    raise AssertionError("unreachable")


class _Fitting:
    """One fit under way."""

    def __init__(
        self, model: Model, X: Any, labels: Ints, weights: Floats | None, kept: Order | None, plan: Plan
    ) -> None:
        self.model, self.plan = model, plan
        self.X, self.labels, self.weights, self.kept = X, labels, weights, kept
        self.held_out: tuple[Any, Ints] | None = None
        if plan.early_stopping:
            self._hold_out()
        self.rows = rows_of(X)
        self.count = X.shape[0] if self.kept is None else len(self.kept)
        size = row_bytes(X)
        self.per_call = max(CALL_BYTES // (size * max(model.n_classes // 4, 1)), 1)
        self.block = max(BLOCK_BYTES // size, 1) if is_memory_mapped(X) else 0
        self.settled_at = [-1] * len(model.learners)  # updates made when an epoch passed without one
        if plan.record_updates:
            for learner in model.learners:
                learner.native.record_updates()

    def _hold_out(self) -> None:
        """Set aside a share of every class; the rest is learned from."""
        rows = np.arange(len(self.labels)) if self.kept is None else self.kept
        chosen = []
        for c in np.unique(self.labels[rows]):
            own = rows[self.labels[rows] == c]
            size = math.ceil(self.plan.validation_fraction * len(own))
            if size >= len(own):
                raise ValueError(
                    f"early_stopping holds out {self.plan.validation_fraction:g} of every class, but a class "
                    f"has only {len(own)} row(s): give more rows or a smaller validation_fraction."
                )
            chosen.append(self.plan.rng.permutation(own)[:size])
        held = np.sort(np.concatenate(chosen))
        self.kept = np.setdiff1d(rows, held).astype(np.int64)
        self.held_out = self.X[held], self.labels[held]

    def run(self) -> Run:
        plan, model = self.plan, self.model
        run = Run(n_rows=self.count, heaviest=1.0 if self.weights is None else float(self.weights.max()))
        run.shuffled_in_blocks = self.block if plan.order == "shuffle" and 0 < self.block < self.count else 0
        best, best_model, since_best = -1.0, None, 0
        try:
            if plan.order == "worst":
                _scan(model, self.X, self.rows, self.weights, self.kept, self.per_call)
            for epoch in range(plan.max_epochs):
                started = time.perf_counter()
                before = model.total("mistakes"), model.total("updates")
                if plan.order == "worst":
                    run.converged = self._worst_epoch()
                else:
                    run.converged = self._epoch(first=epoch == 0)
                updates = model.total("updates") - before[1]
                record: Record = {
                    "epoch": epoch + 1,
                    "mistakes": model.total("mistakes") - before[0],
                    "updates": updates,
                    "norm": model.norm() if updates or not epoch else run.history[-1]["norm"],
                    "seconds": time.perf_counter() - started,
                }
                run.history.append(record)
                if self.held_out is not None:
                    record["validation_score"] = score = self._held_out_score()
                    since_best = 0 if score > best else since_best + 1
                    if score > best:
                        best, best_model = score, model.copy()
                if plan.verbose:
                    print(_line(record), file=sys.stderr)
                stop = plan.callback is not None and plan.callback(record) is True
                stale = self.held_out is not None and since_best >= plan.n_epochs_no_change
                if run.converged or stop or stale:
                    break
            if best_model is not None and since_best:
                self._restore(best_model)
            self._judge(run)
        except KeyboardInterrupt:
            run.interrupted = True
        return run

    # -- one epoch
    def _epoch(self, *, first: bool) -> bool:
        """Visit every row once; whether nothing was updated."""
        learners = self.model.learners
        labels = [self.model.labels(self.labels, k) for k in range(len(learners))]
        busy = [learner.native.updates != at for learner, at in zip(learners, self.settled_at, strict=True)]
        started = [learner.native.updates for learner in learners]
        jobs = min(threads(self.plan.n_jobs), len(learners))
        pool = ThreadPoolExecutor(jobs) if jobs > 1 else None
        n = self.X.shape[0]
        try:
            for order, begin, end in visits(n, self.kept, self.plan, self.per_call, self.block):

                def call(
                    k: int, visit: tuple[Order | None, int, int] = (order, begin, end)
                ) -> tuple[str, int]:
                    order, begin, end = visit
                    if not busy[k]:  # it made no update in its last epoch, so it can make none in this one
                        learners[k].native.visits += end - begin
                        return "", -1
                    return _core.epoch(
                        learners[k].native, self.rows, labels[k], self.weights, order, begin, end, first
                    )

                outcomes = pool.map(call, range(len(learners))) if pool else map(call, range(len(learners)))
                for learner, (problem, row) in zip(learners, list(outcomes), strict=True):
                    raise_problem(problem, row, self.X, learner.native.largest_row)
        finally:
            if pool:
                pool.shutdown()
        for k, updates in enumerate(started):
            if learners[k].native.updates == updates:
                self.settled_at[k] = updates
        return started == [learner.native.updates for learner in learners]

    def _worst_epoch(self) -> bool:
        """Up to `count` updates, each of the row that is most violated; whether none is any more."""
        calm = 0
        for k, learner in enumerate(self.model.learners):
            labels = self.model.labels(self.labels, k)
            for _ in range(self.count):
                row = self._smallest(learner, labels, weights=None, stop=False)[1]
                before = learner.native.updates
                order = np.array([row], dtype=np.int64)
                visits_before = learner.native.visits
                problem, at = _core.epoch(learner.native, self.rows, labels, self.weights, order, 0, 1, False)
                raise_problem(problem, at, self.X, learner.native.largest_row)
                if learner.native.updates == before:
                    learner.native.visits = visits_before  # nothing violated, so nothing was visited
                    calm += 1
                    break
        return calm == len(self.model.learners)

    # -- what came of it
    def _smallest(
        self, learner: Learner, labels: Ints, *, weights: Floats | None, stop: bool, guarded: bool = False
    ) -> tuple[float, int, bool]:
        """The smallest weight·d of all rows, its row, and whether some row is wrong."""
        native, best = learner.native.view(), (math.inf, True, -1)
        wrong = False
        for begin in range(0, self.count, self.per_call):
            end = min(begin + self.per_call, self.count)
            problem, at, value, row, hurts, erred = _core.smallest(
                native, self.rows, labels, weights, self.kept, begin, end, guarded, stop
            )
            raise_problem(problem, at, self.X)
            wrong |= erred
            best = min(best, (value, value == 0 and not hurts, row)) if row >= 0 else best
            if wrong and stop:
                break
        return best[0], best[2], wrong

    def _held_out_score(self) -> float:
        assert self.held_out is not None
        X, labels = self.held_out
        predicted = self.model.scorer(averaged=self.model.settings.average).predict(X, self.plan.n_jobs)
        return float(np.mean(predicted == labels))

    def _restore(self, best: Model) -> None:
        """Back to the best epoch's weights. The counts stay: they are of the whole run."""
        for learner, source in zip(self.model.learners, best.learners, strict=True):
            for name in ("weights", "bias", "weight_sums", "bias_sums"):
                mine, theirs = getattr(learner, name), getattr(source, name)
                if mine is not None:
                    mine[...] = theirs
            learner.native.visits, learner.native.step_sum = source.native.visits, source.native.step_sum
            learner.reset_norm()

    def _judge(self, run: Run) -> None:
        """Check the last weights strictly and exactly against every row, up to the first that is wrong."""
        witnesses, margins, unit = [], [], []
        consistent = True
        for k, learner in enumerate(self.model.learners):
            labels = self.model.labels(self.labels, k)
            value, _, wrong = self._smallest(learner, labels, weights=self.weights, stop=True)
            if not wrong and value == 0 and learner.settings.bias_square:
                learner = self._lifted(learner, labels)
                value, _, wrong = self._smallest(learner, labels, weights=self.weights, stop=True)
            norm = learner.norm()
            margins.append(value / norm if norm else 0.0)
            witnesses.append((learner.coef(), learner.intercept()))
            consistent &= not wrong
            if wrong or value <= 0:
                break
            if learner.settings.rule == "normalized":
                norms = _core.row_norms(self.rows, learner.settings.bias_square)
                with np.errstate(over="ignore"):
                    scale = (1.0 if self.weights is None else self.weights) / np.where(norms > 0, norms, 1.0)
                unit.append(self._smallest(learner, labels, weights=scale, stop=True)[0] / norm)
        run.margin, run.unit_margin = min(margins), min(unit, default=math.nan)
        if run.margin > 0 and len(margins) == len(self.model.learners):
            run.verdict = "separated"
        run.consistent = consistent and len(margins) == len(self.model.learners)
        if len(witnesses) == len(self.model.learners):
            coefs, intercepts = zip(*witnesses, strict=True)
            one = len(witnesses) == 1
            run.witness = witnesses[0] if one else (np.concatenate(coefs), np.concatenate(intercepts))
        if self.model.settings.average:
            predicted = self.model.scorer(averaged=True).predict(self.X, self.plan.n_jobs)
            wrong_rows = predicted != self.labels
            run.training_errors = int(
                np.count_nonzero(wrong_rows if self.kept is None else wrong_rows[self.kept])
            )
        elif run.consistent and not self.model.apart:
            run.training_errors = 0

    def _lifted(self, learner: Learner, labels: Ints) -> Learner:
        """A copy that raises every tied score through the bias, by half of what the others can spare."""
        spare = self._smallest(learner, labels, weights=None, stop=False, guarded=True)[0]
        lifted = learner.copy()
        k = learner.n_classes
        lift = np.array([1.0]) if k == 2 else np.arange(k, 0, -1) / (k - 1)
        if math.isfinite(spare):
            lifted.set_weights(learner.coef(), learner.intercept() + lift * (spare / 2))
        return lifted


def _line(record: Record) -> str:
    text = (
        f"epoch {record['epoch']:4.0f}: {record['mistakes']:9,.0f} mistakes {record['updates']:9,.0f} updates"
        f"  norm {record['norm']:.6g}  {record['seconds']:.3f} s"
    )
    return text + (f"  held out {record['validation_score']:.4f}" if "validation_score" in record else "")


# ---- going on ----------------------------------------------------------------------------------------
def _seen(learner: Learner) -> tuple[float, float, int]:
    """What a learner knows of the rows it has seen."""
    native = learner.native
    return native.radius, native.largest_row, native.most_stored


def _see(learner: Learner, figures: tuple[float, float, int]) -> None:
    learner.native.radius, learner.native.largest_row, learner.native.most_stored = figures


def _scan(
    model: Model, X: Any, rows: _core.Rows, weights: Floats | None, kept: Order | None, per_call: int
) -> bool:
    """Check rows without learning from them, and take over their norms; whether updates could overflow."""
    first = model.learners[0].native
    before = _seen(model.learners[0])
    risky = False
    count = rows.n if kept is None else len(kept)
    for begin in range(0, count, per_call):
        problem, row, risk = _core.scan(first, rows, weights, kept, begin, min(begin + per_call, count))
        if problem:
            _see(model.learners[0], before)
            raise_problem(problem, row, X)
        risky |= risk
    for learner in model.learners[1:]:  # the same rows; only the weights differ
        learner.native.take(first)
        risky |= learner.native.weight_norm > 2.0**900
    return risky


def learn(model: Model, X: Any, labels: Ints, n_classes: int, weights: Floats | None = None) -> Run:
    """One pass over the rows, in their order, continuing `model` in place.

    Every row is checked before the first is learned from; should an update overflow, the model is
    put back as it was.
    """
    kept = None if weights is None or weights.all() else np.flatnonzero(weights).astype(np.int64)
    rows = rows_of(X)
    n = rows.n if kept is None else len(kept)
    per_call = max(CALL_BYTES // row_bytes(X), 1)
    mistakes, updates = -model.total("mistakes"), -model.total("updates")
    seen = [_seen(learner) for learner in model.learners]
    started = time.perf_counter()
    try:
        risky = _scan(model, X, rows, weights, kept, per_call)
    except UnsortedIndices:
        return learn(model, in_order(X), labels, n_classes, weights)
    backup = model.copy() if risky else None
    if n_classes > model.n_classes:
        model.grow(n_classes)
    for k, learner in enumerate(model.learners):
        own = model.labels(labels, k)
        for begin in range(0, n, per_call):
            problem, row = _core.epoch(
                learner.native, rows, own, weights, kept, begin, min(begin + per_call, n), False
            )
            if problem:
                if backup is not None:
                    vars(model).update(vars(backup))
                    for part, figures in zip(model.learners, seen, strict=True):
                        _see(part, figures)
                raise_problem(problem, row, X, learner.native.largest_row)
    mistakes, updates = mistakes + model.total("mistakes"), updates + model.total("updates")
    seconds = time.perf_counter() - started
    record: Record = {"epoch": 1, "mistakes": mistakes, "updates": updates, "seconds": seconds}
    return Run(history=[record], n_rows=n, converged=updates == 0, as_given=True)
