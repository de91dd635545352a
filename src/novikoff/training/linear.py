"""Drivers: epochs, order, stopping, history and the verdict. No scikit-learn.

`fit` trains a fresh model and gives it up on error, so that nothing half-trained is ever seen;
`learn` continues a model in place after checking everything it is about to read.
"""

from __future__ import annotations

import math
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from novikoff import _core
from novikoff.data.arrays import check_mapped, in_order, is_memory_mapped, row_bytes, rows_of, some_rows
from novikoff.exact.outward import UNIT, down, margin_down
from novikoff.training.ledger import Call, Seen
from novikoff.training.weights import (
    Floats,
    Ints,
    Learner,
    Model,
    Settings,
    UnsortedIndices,
    raise_problem,
    threads,
)

Order = npt.NDArray[np.int64]
Record = dict[str, Any]

TINY = 2.0**-960  # products that are that small may have been rounded to 0 on the way
CALL_BYTES = 1 << 26  # memory one native call goes over: a small part of a second, then Python may interrupt
COUNTED = ("mistakes", "updates")
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
    margin: float = math.nan  # of the witness, rounded down
    v_square: float = math.nan  # ‖v‖² of the witness scaled to a smallest product of 1: 1/margin², rounded up
    unit_margin: float = math.nan  # the margin with every row scaled to norm 1
    witness: tuple[Floats, Floats] | None = None
    training_errors: int | None = None
    n_rows: int = 0
    as_given: bool = False  # rows in the order they came, whatever the model says (partial_fit, sources)
    heaviest: float = 1.0  # the largest weight of a row
    shuffled_in_blocks: int = 0  # rows a block, where a memory-mapped array was shuffled that way
    n_shards: int = 0  # on how many shards weights were mixed
    mixed: float = 0.0  # and then Σ μ·k: what the rule's bound speaks of, each shard's by its mixing weight
    whole_values: bool = False  # of a kernel: they are whole numbers, so that none of them was rounded
    call: Call | None = None  # what a run on shards adds to the ledger of its model

    @property
    def judged(self) -> bool:
        """Whether the last weights were put beside the rows of this run."""
        return self.consistent is not None or not math.isnan(self.margin)


# ---- what is visited ---------------------------------------------------------------------------------
class Visit(NamedTuple):
    """Rows for one native call: those of `order` from `begin` to `end`, or of X itself without one."""

    X: Any
    rows: _core.Rows
    labels: Ints
    weights: Floats | None
    order: Order | None
    begin: int
    end: int
    where: Callable[[int], str] | None = None  # what messages call a row; None: by its number


def weighted(weights: Floats | None) -> Order | None:
    """The rows that have a weight; None for all of them."""
    return None if weights is None or weights.all() else np.flatnonzero(weights).astype(np.int64)


def not_all_one(weights: Floats | None) -> bool:
    """Whether a row that is learned from has another weight than 1."""
    return weights is not None and bool(((weights != 1) & (weights != 0)).any())


class Examples(ABC):
    """What a fit goes over, again and again: arrays, or the blocks of a source."""

    heaviest: float  # the largest weight of a row
    weighted = False  # whether a weight is not 1
    turned = False  # whether rows were noted as those of the first class that turned out to be the second's
    digest: _core.Digest | None = None  # of the rows, while the first epoch goes over them
    shuffled_in_blocks = 0  # rows a block, where only blocks and what is in them are shuffled
    held_out: tuple[Any, Ints] | None = None  # rows that judge when to stop
    can_repeat = True  # whether there can be a second pass

    @abstractmethod
    def epoch(self, model: Model) -> Iterator[Visit]:
        """Every row once, in the order of learning. The model may grow between two visits."""

    @abstractmethod
    def each(self) -> Iterator[Visit]:
        """Every row once, as they lie."""

    @property
    @abstractmethod
    def count(self) -> int:
        """Rows that an epoch visits, once one has been completed."""

    @abstractmethod
    def errors(self, model: Model) -> int | None:
        """Rows that the averaged weights get wrong; None where counting them is not worth a pass."""

    def copies(self, epochs: int) -> int:
        """How often one row was visited, at most, in so many epochs."""
        return epochs

    def aside(self) -> Seen:
        """The rows held out, as a ledger knows them."""
        return Seen()


class ArrayExamples(Examples):
    """Rows of a matrix; those of weight 0 are left out."""

    def __init__(
        self, X: Any, labels: Ints, weights: Floats | None, plan: Plan, model: Model | None = None
    ) -> None:
        self.X, self.labels, self.weights, self.plan = X, labels, weights, plan
        self.kept = weighted(weights)
        if plan.early_stopping:
            self._hold_out()
        self.rows = rows_of(X)
        self.heaviest = 1.0 if weights is None else float(weights.max())
        self.weighted = not_all_one(weights)
        self.times: Order | None = None  # visits by row, where some have more than one an epoch
        size = row_bytes(X)
        n_classes = 1 if model is None else model.n_classes
        self.per_call = max(CALL_BYTES // (size * max(n_classes // 4, 1)), 1)
        block = max(BLOCK_BYTES // size, 1) if is_memory_mapped(X) else 0
        if plan.order == "shuffle" and block < self.count:
            self.shuffled_in_blocks = block

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
        self.held_out = some_rows(self.X, held), self.labels[held]
        self.held = held.astype(np.int64)

    @property
    def count(self) -> int:
        return self.X.shape[0] if self.kept is None else len(self.kept)

    def _calls(self, order: Order | None, count: int) -> Iterator[Visit]:
        for begin in range(0, count, self.per_call):
            end = min(begin + self.per_call, count)
            check_mapped(self.X)
            yield Visit(self.X, self.rows, self.labels, self.weights, order, begin, end)

    def each(self) -> Iterator[Visit]:
        return self._calls(self.kept, self.count)

    def epoch(self, model: Model | None = None) -> Iterator[Visit]:
        rng, kept, count, block = self.plan.rng, self.kept, self.count, self.shuffled_in_blocks
        if self.plan.order == "cyclic":
            yield from self.each()
        elif self.plan.order == "draw":
            drawn = rng.integers(0, count, count)
            order = drawn if kept is None else kept[drawn]
            self.visit_again(order)
            yield from self._calls(order, count)
        elif block:
            for start in rng.permutation(np.arange(0, count, block)):
                inside = start + rng.permutation(min(block, count - start))
                yield from self._calls(inside if kept is None else kept[inside], len(inside))
        else:
            order = rng.permutation(self.X.shape[0]) if kept is None else rng.permutation(kept)
            yield from self._calls(order, count)

    def visit_again(self, rows: Order) -> None:
        """Count visits of these rows, where an epoch may visit a row more than once."""
        if self.times is None:
            self.times = np.zeros(self.X.shape[0], dtype=np.int64)
        np.add.at(self.times, rows, 1)

    def copies(self, epochs: int) -> int:
        return epochs if self.times is None else int(self.times.max())

    def add_to(self, digest: _core.Digest) -> None:
        """All rows that are learned from, without learning."""
        for visit in self.each():
            digest.add(visit.rows, visit.labels, visit.weights, visit.order, visit.begin, visit.end)

    def aside(self) -> Seen:
        if self.held_out is None:
            return Seen()
        digest = _core.Digest()
        digest.add(self.rows, self.labels, self.weights, self.held, 0, len(self.held))
        return Seen.of(digest)

    def errors(self, model: Model) -> int:
        wrong = model.scorer(averaged=True).predict(self.X, self.plan.n_jobs) != self.labels
        return int(np.count_nonzero(wrong if self.kept is None else wrong[self.kept]))


def learn_visit(
    model: Model,
    visit: Visit,
    settled_at: dict[int, int],
    *,
    first: bool,
    pool: ThreadPoolExecutor | None = None,
    digest: _core.Digest | None = None,
) -> None:
    """Learn from rows of an epoch; `first` checks them too, and adds them to the digest.

    `settled_at` has the learners whose last epoch made no update: nor will this.
    """
    _, rows, labels, weights, order, begin, end, _ = visit
    fused = None if model.apart else digest  # a learner apart knows only its own class
    if digest is not None and model.apart:
        digest.add(rows, labels, weights, order, begin, end)

    def call(k: int) -> tuple[str, int]:
        native = model.learners[k].native
        if settled_at.get(k) == native.updates:
            native.visits += end - begin
            return "", -1
        return _core.epoch(native, rows, model.labels(labels, k), weights, order, begin, end, first, fused)

    parts = range(len(model.learners))
    outcomes = list(pool.map(call, parts) if pool else map(call, parts))
    for learner, (problem, row) in zip(model.learners, outcomes, strict=True):
        raise_problem(problem, row, visit.X, learner.native.largest_row, visit.where)


def settled(model: Model, began: dict[int, int]) -> dict[int, int]:
    """The learners that made no update since they had `began[k]`, and how many they have."""
    made = [learner.native.updates for learner in model.learners]
    return {k: n for k, n in enumerate(made) if began.get(k) == n}


class Found(NamedTuple):
    """The smallest weight·d of some rows."""

    value: float
    row: int
    wrong: bool  # whether some row is
    least: Fraction | float  # the value rounded down


def smallest(
    model: Model,
    examples: Examples,
    learner: Learner,
    part: int,
    *,
    weighted: bool = True,
    unit: bool = False,
    guarded: bool = False,
    stop: bool = True,
) -> Found:
    """The smallest weight·d of all rows, as `learner` sees them.

    `weighted` counts each row with its weight, `unit` scales it to norm 1 as well.
    """
    native, best = learner.native.view(), (math.inf, True, -1)
    wrong = False
    least: Fraction | float = math.inf
    for visit in examples.each():
        labels = model.labels(visit.labels, part)
        weights = visit.weights if weighted else None
        if unit:
            norms = _core.row_norms(visit.rows, learner.settings.bias_square)
            with np.errstate(over="ignore"):
                weights = (1.0 if weights is None else weights) / np.where(norms > 0, norms, 1.0)
        problem, at, value, row, hurts, erred, lower = _core.smallest(
            native, visit.rows, labels, weights, visit.order, visit.begin, visit.end, guarded, stop
        )
        raise_problem(problem, at, visit.X, where=visit.where)
        wrong, least = wrong | erred, min(least, lower)
        best = min(best, (value, value == 0 and not hurts, row)) if row >= 0 else best
        if wrong and stop:
            break
    if 0 < best[0] < TINY:  # too small to be told from 0: the same of w times a power of two
        coef, intercept = learner.coef(), learner.intercept()
        largest = max(float(np.abs(coef).max(initial=0.0)), float(np.abs(intercept).max(initial=0.0)))
        power = 900 - math.frexp(largest)[1]
        if power > 0:
            twice = learner.copy()
            twice.set_weights(np.ldexp(coef, power), np.ldexp(intercept, power))
            found = smallest(
                model, examples, twice, part, weighted=weighted, unit=unit, guarded=guarded, stop=stop
            )
            least = Fraction(found.least) / Fraction(2) ** power
    return Found(best[0], best[2], wrong, least)


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
    state = plan.rng.bit_generator.state
    for attempt in range(2):
        model = start.copy() if start is not None else Model(n_classes, X.shape[1], settings)
        if init is not None:
            model.start_from(*init)
        if start is not None and n_classes > model.n_classes:
            model.grow(n_classes)
        try:
            return model, Fitting(model, ArrayExamples(X, labels, weights, plan, model), plan).run()
        except UnsortedIndices:
            if attempt:
                raise
            X = in_order(X)
            plan.rng.bit_generator.state = state
    raise AssertionError("unreachable")


class Fitting:
    """One fit under way: a model, what it learns from, and how far it has come."""

    def __init__(self, model: Model, examples: Examples, plan: Plan) -> None:
        self.model, self.examples, self.plan = model, examples, plan
        self.history: list[Record] = []
        self.before = model.total("mistakes"), model.total("updates")  # when the epoch began
        self.began: dict[int, int] = {}  # by learner: updates made when the epoch began
        self.settled_at: dict[int, int] = {}  # and when an epoch passed without one
        self.digest: _core.Digest | None = _core.Digest()  # of the rows; None: not known
        self.dropped = 0  # updates made after those that early stopping kept
        if plan.record_updates:
            for learner in model.learners:
                learner.native.record_updates()

    def run(self) -> Run:
        plan, model, examples = self.plan, self.model, self.examples
        run = Run(history=self.history)
        best, best_model, since_best = -1.0, None, 0
        try:
            for epoch in range(len(self.history), plan.max_epochs):
                started = time.perf_counter()
                run.converged = self.one_epoch(epoch)
                record = self._record(epoch, time.perf_counter() - started)
                self.history.append(record)
                if examples.held_out is not None:
                    record["validation_score"] = score = self._held_out_score(*examples.held_out)
                    since_best = 0 if score > best else since_best + 1
                    if score > best:
                        best, best_model = score, model.copy()
                if plan.verbose:
                    print(record_line(record), file=sys.stderr)
                stop = plan.callback is not None and plan.callback(record) is True
                stale = examples.held_out is not None and since_best >= plan.n_epochs_no_change
                if run.converged or stop or stale:
                    break
            if best_model is not None and since_best:
                self._restore(best_model)
        except KeyboardInterrupt:
            run.interrupted = True
        model.ledger = model.ledger.after(self.call(run))
        try:
            if examples.can_repeat and not run.interrupted:
                self.judge(run)
        except KeyboardInterrupt:
            run.interrupted = True
        run.n_rows, run.heaviest = examples.count, examples.heaviest
        run.shuffled_in_blocks = examples.shuffled_in_blocks
        return run

    def call(self, run: Run) -> Call:
        """What this fit adds to the ledger. The rows are known once an epoch has been over all of them."""
        examples, history = self.examples, self.history
        return Call(
            Seen.of(self.digest) if history and self.digest is not None and not examples.turned else None,
            examples.copies(len(history) + run.interrupted),
            self.plan.order,
            heaviest=examples.heaviest,
            weighted=examples.weighted,
            held_out=examples.aside(),
            first_mistakes=history[0]["mistakes"] if history and not self.model.apart else None,
            dropped=self.dropped,
        )

    def _record(self, epoch: int, seconds: float) -> Record:
        mistakes, updates = (self.model.total(n) - b for n, b in zip(COUNTED, self.before, strict=True))
        self.before = self.before[0] + mistakes, self.before[1] + updates
        norm = self.model.norm() if updates or not self.history else self.history[-1]["norm"]
        counts = {"epoch": epoch + 1, "mistakes": mistakes, "updates": updates}
        return counts | {"norm": norm, "seconds": seconds}

    # -- one epoch
    def one_epoch(self, epoch: int) -> bool:
        """Learn once from the examples; whether nothing was updated. The first epoch, 0, checks the rows."""
        examples = self.examples
        if self.plan.order != "worst":
            return self._epoch(epoch)
        assert isinstance(examples, ArrayExamples)
        if not epoch:
            scan(self.model, examples.X, examples.rows, examples.weights, examples.kept, examples.per_call)
            if self.digest is not None:
                examples.add_to(self.digest)
        return self._worst_epoch()

    def _epoch(self, epoch: int) -> bool:
        """Visit every row once."""
        model, digest = self.model, None if epoch else self.digest
        if digest is not None and self.plan.order == "draw" and isinstance(self.examples, ArrayExamples):
            self.examples.add_to(digest)  # an epoch need not visit all of them
            digest = None
        self.examples.digest = digest
        jobs = min(threads(self.plan.n_jobs), len(model.learners))
        with ThreadPoolExecutor(jobs) if jobs > 1 else nullcontext() as pool:
            for visit in self.examples.epoch(model):
                for k, learner in enumerate(model.learners):  # there may be more than at the visit before
                    self.began.setdefault(k, learner.native.updates)
                learn_visit(model, visit, self.settled_at, first=not epoch, pool=pool, digest=digest)
        self.settled_at = settled(model, self.began)
        self.began = {}
        return len(self.settled_at) == len(model.learners)

    def _worst_epoch(self) -> bool:
        """Up to `count` updates, each of the row that is most violated; whether none is any more."""
        calm, examples = 0, self.examples
        assert isinstance(examples, ArrayExamples)
        for k, learner in enumerate(self.model.learners):
            labels = self.model.labels(examples.labels, k)
            for _ in range(examples.count):
                row = smallest(self.model, examples, learner, k, weighted=False, stop=False)[1]
                before = learner.native.updates
                order = np.array([row], dtype=np.int64)
                visits_before = learner.native.visits
                problem, at = _core.epoch(
                    learner.native, examples.rows, labels, examples.weights, order, 0, 1, False
                )
                raise_problem(problem, at, examples.X, learner.native.largest_row)
                if learner.native.updates == before:
                    learner.native.visits = visits_before  # nothing violated, so nothing was visited
                    calm += 1
                    break
                examples.visit_again(order)
        return calm == len(self.model.learners)

    # -- what came of it
    def _held_out_score(self, X: Any, labels: Ints) -> float:
        predicted = self.model.scorer(averaged=self.model.settings.average).predict(X, self.plan.n_jobs)
        return float(np.mean(predicted == labels))

    def _restore(self, best: Model) -> None:
        """Back to the best epoch's weights. The counts stay: they are of the whole run."""
        self.dropped = self.model.total("updates") - best.total("updates")
        for learner, source in zip(self.model.learners, best.learners, strict=True):
            for name in ("weights", "bias", "weight_sums", "bias_sums"):
                mine, theirs = getattr(learner, name), getattr(source, name)
                if mine is not None:
                    mine[...] = theirs
            learner.native.visits, learner.native.step_sum = source.native.visits, source.native.step_sum
            learner.reset_norm()

    def judge(self, run: Run) -> None:
        """Check the last weights strictly and exactly against every row, up to the first that is wrong."""
        judge(self.model, run, partial(smallest, self.model, self.examples), self.examples.errors)


class Smallest(Protocol):
    """`smallest` of a model and examples, wherever these are."""

    def __call__(self, learner: Learner, part: int, **how: bool) -> Found: ...


def judge(model: Model, run: Run, find: Smallest, errors: Callable[[Model], int | None]) -> None:
    """The verdict on the last weights: a witness, its margin, and what is wrong still."""
    witnesses, margins, unit = [], [], []
    consistent, strict = True, True
    for k, learner in enumerate(model.learners):
        value, _, wrong, least = find(learner, k)
        if not wrong and value == 0 and learner.settings.bias_square:
            learner = _lifted(learner, k, find)
            value, _, wrong, least = find(learner, k)
        low, high = learner.square()
        margins.append(margin_down(least, low, high))
        witnesses.append((learner.coef(), learner.intercept()))
        consistent &= not wrong
        strict &= value > 0 and high > 0
        if wrong or value <= 0:
            break
        if learner.settings.rule == "normalized":
            slack = (learner.native.most_stored + 16) * 4 * UNIT  # of a row's norm, and of a division by it
            unit.append(margin_down(down(Fraction(find(learner, k, unit=True)[3]) * (1 - slack)), low, high))
    (run.margin, run.v_square), run.unit_margin = min(margins), min(unit, default=(math.nan,))[0]
    if strict and len(margins) == len(model.learners):
        run.verdict = "separated"
    elif model.upper_square() == 0 and model.ledger.copies_of(model.ledger.last) is not None:
        # a sum of the y·x is 0, by Gordan's theorem, and of these rows
        run.verdict = "inseparable"
    run.consistent = consistent and len(margins) == len(model.learners)
    if len(witnesses) == len(model.learners):
        coefs, intercepts = zip(*witnesses, strict=True)
        one = len(witnesses) == 1
        run.witness = witnesses[0] if one else (np.concatenate(coefs), np.concatenate(intercepts))
    if model.settings.average:
        run.training_errors = errors(model)
    elif run.consistent and not model.apart:
        run.training_errors = 0


def _lifted(learner: Learner, part: int, find: Smallest) -> Learner:
    """A copy that raises every tied score through the bias, by half of what the others can spare."""
    spare = find(learner, part, weighted=False, guarded=True, stop=False)[0]
    lifted = learner.copy()
    k = learner.n_classes
    lift = np.array([1.0]) if k == 2 else np.arange(k, 0, -1) / (k - 1)
    if math.isfinite(spare):
        lifted.set_weights(learner.coef(), learner.intercept() + lift * (spare / 2))
    return lifted


def record_line(record: Record) -> str:
    """An epoch in one line."""
    text = (
        f"epoch {record['epoch']:4.0f}: {record['mistakes']:9,.0f} mistakes {record['updates']:9,.0f} updates"
        f"  norm {record['norm']:.6g}  {record['seconds']:.3f} s"
    )
    return text + (f"  held out {record['validation_score']:.4f}" if "validation_score" in record else "")


# ---- going on ----------------------------------------------------------------------------------------
def scan(
    model: Model,
    X: Any,
    rows: _core.Rows,
    weights: Floats | None,
    kept: Order | None,
    per_call: int,
    labels: Ints | None = None,
    digest: _core.Digest | None = None,
) -> bool:
    """Check rows without learning from them, and take over their norms; whether updates could overflow.

    With their labels they are added to a digest.
    """
    first = model.learners[0].native
    before = first.seen
    risky = False
    count = rows.n if kept is None else len(kept)
    for begin in range(0, count, per_call):
        end = min(begin + per_call, count)
        check_mapped(X)
        problem, row, risk = _core.scan(first, rows, weights, kept, begin, end, labels, digest)
        if problem:
            first.seen = before
            raise_problem(problem, row, X)
        risky |= risk
    for learner in model.learners[1:]:  # the same rows; only the weights differ
        learner.native.take(first)
        risky |= learner.native.weight_norm > 2.0**900
    return risky


def learn(
    model: Model,
    X: Any,
    labels: Ints,
    n_classes: int,
    weights: Floats | None = None,
    *,
    turned: bool = False,
) -> Run:
    """One pass over the rows, in their order, continuing `model` in place.

    `turned`: the only class before these rows, learned as the first of two, is the second.
    Every row is checked before the first is learned from; should an update overflow, the model is
    put back as it was.
    """
    kept = weighted(weights)
    rows = rows_of(X)
    n = rows.n if kept is None else len(kept)
    per_call = max(CALL_BYTES // row_bytes(X), 1)
    seen = [learner.native.seen for learner in model.learners]
    started, digest = time.perf_counter(), _core.Digest()
    try:
        risky = scan(model, X, rows, weights, kept, per_call, labels, digest)
    except UnsortedIndices:
        return learn(model, in_order(X), labels, n_classes, weights, turned=turned)
    backup = model.copy() if risky else None
    if turned:
        model.turn()
    if n_classes > model.n_classes:
        model.grow(n_classes)
    mistakes, updates = -model.total("mistakes"), -model.total("updates")
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
                        part.native.seen = figures
                raise_problem(problem, row, X, learner.native.largest_row)
    mistakes, updates = mistakes + model.total("mistakes"), updates + model.total("updates")
    seconds = time.perf_counter() - started
    record: Record = {"epoch": 1, "mistakes": mistakes, "updates": updates, "seconds": seconds}
    heaviest = 1.0 if weights is None else float(weights.max(initial=0.0))
    first = None if model.apart else mistakes
    call = Call(Seen.of(digest), 1, "cyclic", heaviest, not_all_one(weights), first_mistakes=first)
    model.ledger = model.ledger.after(call)
    return Run(history=[record], n_rows=n, converged=updates == 0, as_given=True, heaviest=heaviest)
