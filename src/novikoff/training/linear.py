"""Learning linear weights from rows: one epoch, the most violated row, the verdict.

`fit` trains a fresh model and discards it on error, so no half-trained model is ever returned;
`learn` continues a model in place after checking all its input.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from novikoff import _core
from novikoff.data.arrays import (
    UnsortedIndices,
    check_mapped,
    in_any_order,
    in_order,
    raise_problem,
    row_bytes,
    rows_of,
)
from novikoff.data.scaling import power_factors
from novikoff.data.threads import results, threads
from novikoff.outward import UNIT, down, margin_down
from novikoff.parameters.common import AUTO
from novikoff.training.examples import (
    CALL_BYTES,
    ArrayExamples,
    Batch,
    Examples,
    not_all_one,
    unevenness,
    weighted,
    with_sizes,
)
from novikoff.training.ledger import Call, Seen
from novikoff.training.loop import AskingTrainer, EarlyStoppingTrainer, Epoch, WorstFirstTrainer, train
from novikoff.training.plan import Plan
from novikoff.training.riffle import Order
from novikoff.training.run import Proof, Record, Run
from novikoff.training.tally import Tally
from novikoff.training.weights import Floats, Ints, Model, Scorer, Settings, Weights

TINY = 2.0**-960  # smaller products may have been rounded to 0
COUNTED = ("mistakes", "updates")
ENOUGH_ROWS = 100  # for the factors of columns: fewer rows say little about the sizes of their values
MAY_GO_ON = ("pa", "pa1", "pa2", "arow", "scw")  # their updates may never end


Outcome = tuple[str, int]  # a problem ("": none) and its row


def native_calls(
    model: Model,
    batch: Batch,
    settled_at: dict[int, int],
    *,
    first: bool,
    digest: _core.Digest | None = None,
) -> list[tuple[Weights, Callable[[], Outcome]]]:
    """The calls that learn from a batch, each with its learner.

    With `first`, the rows are also checked and added to the digest. The learners in `settled_at` made no
    update in the last epoch; they will not make any in this one, and need no call.
    """
    _, rows, labels, weights, order, begin, end, _ = batch
    if digest is not None and model.apart:  # one-vs-rest: a learner sees only its own labels
        digest.add(_core.Examples(rows, labels, weights, order), begin, end)
        digest = None
    calls: list[tuple[Weights, Callable[[], Outcome]]] = []
    for k, learner in enumerate(model.learners):
        native = learner.native
        if settled_at.get(k) == native.updates:
            native.visits += end - begin
        else:
            own = _core.Examples(rows, model.labels(labels, k), weights, order)
            call = partial(_core.epoch, native, own, begin, end, first, digest)
            calls.append((learner, call))
    return calls


def check_outcome(learner: Weights, batch: Batch, outcome: Outcome) -> None:
    """Raise the problem that a native call reported."""
    raise_problem(*outcome, batch.X, learner.native.largest_row, batch.where)


def settled(model: Model, began: dict[int, int]) -> dict[int, int]:
    """The learners whose number of updates is still `began[k]`, and this number."""
    made = [learner.native.updates for learner in model.learners]
    return {k: n for k, n in enumerate(made) if began.get(k) == n}


class Found(NamedTuple):
    """The smallest weight·d of some rows."""

    value: float
    row: int
    wrong: bool  # whether some row is misclassified
    least: Fraction | float  # the value rounded down


def smallest(
    model: Model,
    examples: Examples,
    learner: Weights,
    part: int,
    *,
    weighted: bool = True,
    unit: bool = False,
    guarded: bool = False,
    stop: bool = True,
) -> Found:
    """The smallest weight·d over all rows, for `learner`.

    `weighted` multiplies each row by its weight; `unit` also scales it to norm 1.
    """
    native, best = learner.native.view(), (math.inf, True, -1)
    wrong = False
    least: Fraction | float = math.inf
    for batch in examples.as_stored():
        labels = model.labels(batch.labels, part)
        weights = batch.weights if weighted else None
        if unit:
            norms = _core.row_norms(batch.rows, learner.settings.bias_square, learner.factors)
            with np.errstate(over="ignore"):
                weights = (1.0 if weights is None else weights) / np.where(norms > 0, norms, 1.0)
        own = _core.Examples(batch.rows, labels, weights, batch.order)
        problem, at, value, row, hurts, erred, lower = _core.smallest(
            native, own, batch.begin, batch.end, guarded, stop
        )
        raise_problem(problem, at, batch.X, where=batch.where)
        wrong, least = wrong | erred, min(least, lower)
        best = min(best, (value, value == 0 and not hurts, row)) if row >= 0 else best
        if wrong and stop:
            break
    if 0 < best[0] < TINY:  # perhaps rounded to 0: repeat with w times a power of two
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
    scale: str | None = None,
) -> tuple[Model, Run]:
    """Train on all rows until an epoch makes no update, or the plan ends training.

    `start` is a model, of which a copy is continued with its counts and factors; `init` gives initial
    weights. With `scale` "auto", a new model learns the columns times the factors that suit them.
    """
    state = plan.rng.bit_generator.state
    for attempt in range(2):
        model = start.copy() if start is not None else Model(n_classes, X.shape[1], settings)
        model.last_are_right = False
        examples = ArrayExamples(X, labels, weights, plan, model)
        if start is None and scale == AUTO:
            model.set_factors(examples.power_factors())
        if init is not None:
            model.start_from(*init)
        if start is not None and n_classes > model.n_classes:
            model.grow(n_classes)
        try:
            run = train(LinearTrainer(model, examples, plan), plan)
            run.uneven = 1.0 if scale == AUTO else run.uneven  # all rows have decided, not a sample
            return model, run
        except UnsortedIndices:
            if attempt:
                raise
            X = in_any_order(X)
            plan.rng.bit_generator.state = state
    raise AssertionError("unreachable")


class LinearTrainer(WorstFirstTrainer, EarlyStoppingTrainer, AskingTrainer):
    """A linear model in training: the model, its examples, and the progress."""

    def __init__(self, model: Model, examples: Examples, plan: Plan) -> None:
        self.model, self.examples, self.plan = model, examples, plan
        self.holds_out = examples.held_out is not None
        self.before = model.total("mistakes"), model.total("updates")  # at the start of the epoch
        self.began: dict[int, int] = {}  # per learner: updates at the start of the epoch
        self.settled_at: dict[int, int] = {}  # per learner: updates, if its last epoch made none
        self.digest: _core.Digest | None = _core.Digest()  # of the rows; None: unknown
        self.checked = False  # whether an epoch over all rows has ended
        self.history: list[Record] = []  # of the earlier epochs, in a resumed fit
        self.proofs: dict[int, Proof] = {}  # that they gave
        self.dropped = 0  # updates after the weights that early stopping kept
        self.norm: float | None = None
        if plan.record_updates:
            for learner in model.learners:
                learner.native.record_updates()

    def finish(self, run: Run) -> None:
        examples = self.examples
        self.model.ledger = self.model.ledger.after(self.call(run))
        run.n_rows, run.heaviest = examples.count, examples.heaviest
        run.shuffled_in_blocks = examples.shuffled_in_blocks

    def call(self, run: Run) -> Call:
        """The ledger entry of this fit. The rows are known after an epoch over all of them."""
        examples, history = self.examples, run.history
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

    # -- one epoch
    def epoch(self) -> Epoch:
        model, first, digest = self.model, not self.checked, None if self.checked else self.digest
        if digest is not None and self.plan.order == "draw" and isinstance(self.examples, ArrayExamples):
            self.examples.add_to(digest)  # an epoch need not visit all of them
            digest = None
        self.examples.digest = digest
        jobs = min(threads(self.plan.n_jobs), len(model.learners))
        for batch in self.examples.epoch(model):
            for k, learner in enumerate(model.learners):  # there may be new ones
                self.began.setdefault(k, learner.native.updates)
            calls = native_calls(model, batch, self.settled_at, first=first, digest=digest)
            outcomes = list(results((call for _, call in calls), jobs))
            for (learner, _), outcome in zip(calls, outcomes, strict=True):
                check_outcome(learner, batch, outcome)
        self.settled_at = settled(model, self.began)
        self.began = {}
        epoch = self._counted(len(self.settled_at) == len(model.learners))
        if self.plan.is_open_ended and model.settings.rule in MAY_GO_ON and not epoch.counts["mistakes"]:
            return epoch._replace(converged=self._is_right())
        return epoch

    def _is_right(self) -> bool:
        """Whether the last weights make no mistake: some rules go on updating without one."""
        return not any(
            smallest(self.model, self.examples, learner, k).wrong
            for k, learner in enumerate(self.model.learners)
        )

    def _counted(self, converged: bool) -> Epoch:
        self.checked = True
        mistakes, updates = (self.model.total(n) - b for n, b in zip(COUNTED, self.before, strict=True))
        self.before = self.before[0] + mistakes, self.before[1] + updates
        if updates or self.norm is None:
            self.norm = self.model.norm()
        return Epoch(converged, {"mistakes": mistakes, "updates": updates, "norm": self.norm})

    def worst(self) -> Epoch:
        calm, examples = 0, self.examples
        assert isinstance(examples, ArrayExamples)
        if not self.checked:
            scan(self.model, examples.X, examples.rows, examples.weights, examples.kept, examples.per_call)
            if self.digest is not None:
                examples.add_to(self.digest)
        for k, learner in enumerate(self.model.learners):
            labels = self.model.labels(examples.labels, k)
            for _ in range(examples.count):
                row = smallest(self.model, examples, learner, k, weighted=False, stop=False)[1]
                before = learner.native.updates
                order = np.array([row], dtype=np.int64)
                visits_before = learner.native.visits
                own = _core.Examples(examples.rows, labels, examples.weights, order)
                problem, at = _core.epoch(learner.native, own, 0, 1)
                raise_problem(problem, at, examples.X, learner.native.largest_row)
                if learner.native.updates == before:
                    learner.native.visits = visits_before  # nothing was violated, so this was no visit
                    calm += 1
                    break
                examples.visit_again(order)
        return self._counted(calm == len(self.model.learners))

    # -- whether an epoch can be clean
    def ask(self, run: Run) -> bool | None:
        """Ask about each learner, except those whose last epoch was clean."""
        assert self.plan.ask is not None
        model, settings = self.model, self.model.settings
        X, labels, numbers = self.examples.all_rows()
        ties = "mistake" if settings.rule == "margin" else settings.ties
        found: dict[int, Proof | None] = {}
        for k, learner in enumerate(model.learners):
            if self.settled_at.get(k) == learner.native.updates:
                continue
            proof = self.plan.ask(
                *(X, model.labels(labels, k), learner.n_classes),
                bias_square=settings.bias_square,
                ties=ties,
                epochs=len(run.history),
                start=(learner.coef(), learner.intercept()),
                factors=learner.factors,
            )
            if proof is not None and proof.pairs is not None:
                proof = proof.of_rows(numbers, learner.n_classes)
            if proof is not None and proof.consistent is False:
                run.proofs = {k: proof}
                return False
            found[k] = proof
        is_possible = all(proof is not None and proof.is_possible for proof in found.values())
        run.proofs = {k: p for k, p in found.items() if p is not None and p.is_possible == is_possible}
        self.proofs = run.proofs
        return True if is_possible else None

    # -- the outcome
    def held_out_score(self) -> float:
        assert self.examples.held_out is not None
        X, labels = self.examples.held_out
        predicted = self.model.scorer(averaged=self.model.averages).predict(X, self.plan.n_jobs)
        return float(np.mean(predicted == labels))

    def snapshot(self) -> Model:
        return self.model.copy()

    def restore(self, snapshot: Model) -> None:
        self.dropped = self.model.total("updates") - snapshot.total("updates")
        for learner, source in zip(self.model.learners, snapshot.learners, strict=True):
            for name in (name for names in learner.settings.tables() for name in names):
                getattr(learner, name)[...] = getattr(source, name)
            learner.native.visits, learner.native.step_sum = source.native.visits, source.native.step_sum
            learner.reset_norm()

    def judge(self, run: Run) -> None:
        """Check the last weights strictly and exactly against the rows, up to the first error."""
        if self.examples.can_repeat:
            find = partial(smallest, self.model, self.examples)
            judge(self.model, run, find, self.examples.tally)
            if run.training_errors and (sample := self.examples.sample()) is not None:
                run.uneven, run.off_centre = unevenness(sample, self.model.factors)
            if held_out := self.examples.held_out_tally(self.model.predictor()):
                run.held_out = held_out.score


class Smallest(Protocol):
    """`smallest` for a given model and examples, wherever they are stored."""

    def __call__(self, learner: Weights, part: int, **how: bool) -> Found: ...


def judge(model: Model, run: Run, find: Smallest, tally: Callable[[Scorer | None], Tally]) -> None:
    """Record the verdict on the rows: the witness, its margin; and the errors of the weights that predict.

    The witness is the last weights, or, where they separate nothing, those that `run.proofs` found.
    `tally` counts the errors of weights on all rows; None as weights is for those known to make none.
    """
    witnesses, margins, unit = [], [], []
    consistent, strict = True, True
    for k, learner in enumerate(model.learners):
        value, _, wrong, least = find(learner, k)
        consistent &= not wrong
        if not wrong and value == 0 and learner.settings.bias_square:
            learner = _lifted(learner, k, find)
            value, _, wrong, least = find(learner, k)
            run.witness_is = "lifted"
        proof = run.proofs.get(k)
        if not value > 0 and proof is not None and proof.coef is not None and proof.intercept is not None:
            learner = learner.copy()
            learner.set_weights(proof.coef, proof.intercept)
            value, _, wrong, least = find(learner, k)
            run.witness_is = "found"
        low, high = learner.square()
        margins.append(margin_down(least, low, high))
        witnesses.append((learner.coef(), learner.intercept()))
        strict &= value > 0 and high > 0
        if wrong or value <= 0:
            break
        if learner.settings.rule == "normalized":
            slack = (learner.native.most_stored + 16) * 4 * UNIT  # for a row's norm and a division by it
            unit.append(margin_down(down(Fraction(find(learner, k, unit=True)[3]) * (1 - slack)), low, high))
    (run.margin, run.v_square), run.unit_margin = min(margins), min(unit, default=(math.nan,))[0]
    if strict and len(margins) == len(model.learners):
        run.verdict = "separated"
    elif any(not proof.is_possible for proof in run.proofs.values()):
        run.verdict = "inseparable"
    elif model.upper_square() == 0 and model.ledger.copies_of(model.ledger.last) is not None:
        # the steps τ·y·x on these rows sum to 0: inseparable by Gordan's theorem
        run.verdict = "inseparable"
    run.consistent = consistent and len(margins) == len(model.learners)
    if len(witnesses) == len(model.learners):
        coefs, intercepts = zip(*witnesses, strict=True)
        one = len(witnesses) == 1
        run.witness = witnesses[0] if one else (np.concatenate(coefs), np.concatenate(intercepts))
    ledger = model.ledger  # a model that goes on may have learned from other rows, which are not at hand
    model.last_are_right = run.consistent and (ledger.calls < 2 or ledger.copies_of(ledger.last) is not None)
    right = run.consistent and not model.averages
    run.note(tally(None if right else model.predictor()))


def _lifted(learner: Weights, part: int, find: Smallest) -> Weights:
    """A copy whose bias raises every tied score, by half of what the other scores can spare."""
    spare = find(learner, part, weighted=False, guarded=True, stop=False)[0]
    lifted = learner.copy()
    k = learner.n_classes
    lift = np.array([1.0]) if k == 2 else np.arange(k, 0, -1) / (k - 1)
    if math.isfinite(spare):
        lifted.set_weights(learner.coef(), learner.intercept() + lift * (spare / 2))
    return lifted


# ---- continuing --------------------------------------------------------------------------------------
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
    """Check rows and record their norms without learning; return whether updates could overflow.

    If `labels` are given, the rows are added to the digest.
    """
    first = model.learners[0].native
    before = first.seen
    risky = False
    examples = _core.Examples(rows, labels, weights, kept)
    count = rows.n if kept is None else len(kept)
    for begin in range(0, count, per_call):
        end = min(begin + per_call, count)
        check_mapped(X)
        problem, row, risk = _core.scan(first, examples, begin, end, digest)
        if problem:
            first.seen = before
            raise_problem(problem, row, X)
        risky |= risk
    for learner in model.learners[1:]:  # the same rows; only the weights differ
        learner.native.take(first)
        risky |= learner.native.weight_norm > 2.0**900
    return risky


def sound(X: Any, *, ordered: bool = True) -> Any:
    """X, checked to be finite, with distinct indices in each sparse row; objects are returned unchanged.

    `ordered`: the indices must also increase.
    """
    if X.ndim == 2:
        native = Weights(2, X.shape[1], Settings()).native
        try:
            problem, row, _ = _core.scan(native, _core.Examples(rows_of(X)), 0, X.shape[0])
            raise_problem(problem, row, X)
        except UnsortedIndices:
            return sound(in_order(X) if ordered else in_any_order(X))
    return X


def learn(
    model: Model,
    X: Any,
    labels: Ints,
    n_classes: int,
    weights: Floats | None = None,
    *,
    turned: bool = False,
    scale: str | None = None,
) -> Run:
    """One pass over the rows, in their order, continuing `model` in place; with 'auto' the mean predicts.

    `turned`: the only class so far, learned as the first of two, is now the second. With `scale` "auto", the
    first call of a model determines its factors, if it has `ENOUGH_ROWS`.
    All rows are checked before learning begins; if an update overflows, the model is restored.
    """
    kept = weighted(weights)
    rows = rows_of(X)
    n = rows.n if kept is None else len(kept)
    per_call = max(CALL_BYTES // row_bytes(X), 1)
    if scale == AUTO and n >= ENOUGH_ROWS and not model.total("visits"):
        model.set_factors(power_factors(with_sizes(np.zeros(0), rows, kept, 0, n)))
    seen = [learner.native.seen for learner in model.learners]
    started, digest = time.perf_counter(), _core.Digest()
    try:
        risky = scan(model, X, rows, weights, kept, per_call, labels, digest)
    except UnsortedIndices:
        return learn(model, in_any_order(X), labels, n_classes, weights, turned=turned, scale=scale)
    backup = model.copy() if risky else None
    if turned:
        model.turn()
    if n_classes > model.n_classes:
        model.grow(n_classes)
    mistakes, updates = -model.total("mistakes"), -model.total("updates")
    for k, learner in enumerate(model.learners):
        own = _core.Examples(rows, model.labels(labels, k), weights, kept)
        for begin in range(0, n, per_call):
            problem, row = _core.epoch(learner.native, own, begin, min(begin + per_call, n))
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
    model.last_are_right = False  # as far as is known
    model.ledger = model.ledger.after(call)
    return Run(history=[record], n_rows=n, converged=updates == 0, as_given=True, heaviest=heaviest)
