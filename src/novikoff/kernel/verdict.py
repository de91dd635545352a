"""The driver of kernel perceptrons: epochs, order, stopping, history, the verdict and the report."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from novikoff.data.arrays import in_order, rows_of
from novikoff.kernel.budget import BudgetLearner
from novikoff.kernel.conjunctions import ConjunctionLearner, MonotoneConjunction
from novikoff.kernel.dual import PART, DualLearner
from novikoff.kernel.dual_model import DualModel
from novikoff.outward import at_least, at_most, margin_down
from novikoff.training import loop
from novikoff.training.linear import scan
from novikoff.training.plan import Plan
from novikoff.training.report import Figures, Report, report_of
from novikoff.training.run import Run
from novikoff.training.summary import theorem
from novikoff.training.weights import Floats, Ints, Model, Settings, UnsortedIndices


def sound(X: Any) -> Any:
    """X with all values finite and, where sparse, in order."""
    try:
        scan(Model(2, X.shape[1], Settings()), X, rows_of(X), None, None, X.shape[0])
    except UnsortedIndices:
        return in_order(X)
    return X


Learner = DualLearner | ConjunctionLearner


def learner_of(
    earlier: DualModel, X: Any, labels: Ints, ties: bool, cache_bytes: int | None, n_jobs: int | None
) -> Learner:
    """The learner that suits the kernel."""
    if isinstance(earlier.kernel, MonotoneConjunction):
        return ConjunctionLearner(earlier, X, labels, tie_is_mistake=ties, n_jobs=n_jobs)
    return DualLearner(earlier, X, labels, tie_is_mistake=ties, cache_bytes=cache_bytes, n_jobs=n_jobs)


def fit(
    earlier: DualModel,
    X: Any,
    labels: Ints,
    plan: Plan,
    *,
    tie_is_mistake: bool = False,
    cache_bytes: int | None = None,
) -> tuple[DualModel, Run]:
    """Learn from all rows until an epoch passes without an update, or the plan ends it."""
    learner = learner_of(earlier, X, labels, tie_is_mistake, cache_bytes, plan.n_jobs)
    run = loop.train(Fitting(learner, plan), plan)
    model = learner.model()
    cancelled = run.verdict == "undecided" and model.margin_upper == 0  # a sum of the y·φ(x) is 0
    if cancelled and (model.kernel.is_known or _vanishes(learner)):
        run.verdict = "inseparable"
    return model, run


def learn(
    earlier: DualModel,
    X: Any,
    labels: Ints,
    *,
    tie_is_mistake: bool = False,
    cache_bytes: int | None = None,
    n_jobs: int | None = None,
) -> tuple[DualModel, Run]:
    """One pass over the rows, in their order, going on from `earlier`."""
    learner = learner_of(earlier, X, labels, tie_is_mistake, cache_bytes, n_jobs)
    plan = Plan(1, "cyclic")
    run = loop.train(Fitting(learner, plan), plan, Run(as_given=True), judged=False)
    return learner.model(), run


class Fitting(loop.Learner):
    """A dual learner under training."""

    def __init__(self, learner: Learner, plan: Plan) -> None:
        self.learner, self.plan = learner, plan

    def epoch(self) -> loop.Epoch:
        learner, rng = self.learner, self.plan.rng
        n, before = len(learner.labels), len(learner.updates)
        order = rng.permutation(n) if self.plan.order == "shuffle" else np.arange(n, dtype=np.int64)
        return self._counted(learner.epoch(order) == 0, before)

    def worst(self) -> loop.Epoch:
        learner, before = self.learner, len(self.learner.updates)
        converged = any(not learner.visit_worst() for _ in range(len(learner.labels)))
        return self._counted(converged, before)

    def _counted(self, converged: bool, before: int) -> loop.Epoch:
        learner = self.learner
        made = np.array([u.move for u in learner.updates[before:]]).reshape(-1, learner.earlier.n_columns)
        count = len(made) if learner.joint else int(np.count_nonzero(made))
        norm = math.sqrt(float(learner.squares().sum()))
        return loop.Epoch(converged, {"mistakes": count, "updates": count, "norm": norm})

    def finish(self, run: Run) -> None:
        run.n_rows = len(self.learner.labels)

    def judge(self, run: Run) -> None:
        judge(self.learner, run)


# ---- the verdict -------------------------------------------------------------------------------------
class Smallest(NamedTuple):
    """The smallest d of all rows, by column; of all of them together where classes are joint."""

    d: Floats
    wrong: bool  # some row is not right under the tie rule
    strict: bool  # every d is > 0, exactly
    least: Floats  # d, rounded down
    spare: Floats  # how far a tie may be lifted: the smallest d of those whom that would hurt


def judge(learner: Learner, run: Run) -> None:
    """Is every row strictly on its own side? Decided exactly, by the last scores.

    Where only ties at 0 stand against it and there is a bias, they are lifted through it, by half of what
    the others can spare.
    """
    if isinstance(learner, ConjunctionLearner):
        run.whole_values = True  # powers of two, however large
        learner.judge(run)
        return
    run.whole_values = learner.rounding.whole
    found, squares = _smallest(learner), learner.model().enclosed_squares()
    run.consistent = not found.wrong
    if run.consistent and not found.strict and learner.earlier.kernel.offset > 0:
        lift = _lift(learner, found)
        lifted = _smallest(learner, lift)
        if lifted.strict:
            found = lifted
            moves = sum((u.move for u in learner.updates), learner.earlier.moves.sum(axis=0))
            offset = Fraction(learner.earlier.kernel.offset)
            for c, (up, count) in enumerate(zip(map(Fraction, lift.tolist()), moves.tolist(), strict=True)):
                more = 2 * up * Fraction(count) + up * up / offset  # w's last coordinate grows by up/√offset
                squares[c] = max(squares[c][0] + more, Fraction(0)), squares[c][1] + more
    run.verdict = "separated" if found.strict and run.consistent else "undecided"
    if learner.joint:
        squares = [
            (sum((low for low, _ in squares), Fraction(0)), sum((high for _, high in squares), Fraction(0)))
        ]
    slack = _value_error(learner)
    pairs = zip(found.least.tolist(), squares, strict=True)
    margins = [margin_down(d if math.isinf(d) else Fraction(d) - slack, *square)[0] for d, square in pairs]
    run.margin = min(margins)


def _value_error(learner: DualLearner) -> Fraction:
    """How far d may be from that of K's own values, where its formula is known; else of those computed."""
    if learner.is_whole or learner.rounding.measured.radius == math.inf:
        return Fraction(0)
    n = len(learner.earlier.used) + len(learner.updates)
    return 2 * n * learner.earlier.kernel.value_slack(learner.X) * Fraction(learner.model().radius) ** 2


def _vanishes(learner: Learner) -> bool:
    """Whether w, or that of one class by itself, scores every row 0, exactly, after updates.

    ‖w‖ = 0 says so where K is an inner product. Where it is only known to be symmetric this is what proves
    that no f = Σ β·K(x, ·) separates the rows: the sum of y·f(x) over the updates is Σ β·(w's scores) = 0.
    """
    assert isinstance(learner, DualLearner)  # conjunctions are inner products
    moved, rows = learner.model().updates_by_column.tolist(), range(len(learner.labels))
    columns: list[Callable[[Floats], Floats]] = [itemgetter((slice(None), c)) for c in range(len(moved))]
    zero = [all(learner.exact(row, of)[0] == 0 for row in rows) for of in columns]
    if learner.joint:
        return all(zero)
    return any(is_zero and count for is_zero, count in zip(zero, moved, strict=True))


def _lift(learner: DualLearner, found: Smallest) -> Floats:
    """What is added to the scores of columns with ties: to lower classes more, where they are joint."""
    half = np.where(np.isfinite(found.spare), np.maximum(found.spare, 0.0) / 2, 1.0)
    k = learner.earlier.n_columns
    return np.asarray(half * np.arange(k, 0, -1) / (k - 1) if learner.joint else half * (found.d == 0))


def _smallest(learner: DualLearner, lift: Floats | None = None) -> Smallest:
    """Look at all rows; with `lift`, only what is beyond rounding counts as strict."""
    k, joint = learner.earlier.n_columns, learner.joint
    slack, sizes = learner.rounding.slack, learner.rounding.sizes
    d, least, spare = np.full(k, math.inf), np.full(k, math.inf), np.full(k, math.inf)
    wrong, strict = False, True
    for begin in range(0, len(learner.labels), PART):
        labels = learner.labels[begin : begin + PART]
        scores, here = learner.scores[begin : begin + PART], np.arange(len(labels))
        if lift is not None:
            scores = scores + lift
        error = sizes[begin : begin + PART, None] * slack
        positive = labels[:, None] == (1 if k == 1 else np.arange(k))
        if joint:
            signed = scores[here, labels][:, None] - scores
            error = 1.01 * (error + error[here, labels][:, None])
            signed[positive], error[positive] = math.inf, 0.0
            tie_hurts, guarded = np.arange(k) < labels[:, None], np.arange(k) < labels[:, None]
        else:
            signed = np.where(positive, scores, -scores)
            tie_hurts, guarded = ~positive, ~positive
        tie_hurts = tie_hurts | learner.tie_is_mistake
        doubt = np.where(np.isinf(signed), 0.0, error)
        if lift is None:
            for row, c in np.argwhere((np.abs(signed) <= error) & (error > 0)).tolist():
                signed[row, c] = _exactly(learner, begin + row, c)
                doubt[row, c] = 0.0
                least[c] = min(least[c], _below(signed[row, c]))
            wrong = wrong or bool(((signed < 0) | ((signed == 0) & tie_hurts)).any())
            error = np.zeros_like(signed)
        else:
            error = error + np.where(np.isinf(signed), 0.0, np.abs(signed)) * 2.0**-50
        _lower(learner, begin, signed, doubt, lift, least)
        strict = strict and bool((signed > error).all())
        d = np.minimum(d, signed.min(axis=0, initial=math.inf))
        spare = np.minimum(spare, np.where(guarded, signed - error, math.inf).min(axis=0, initial=math.inf))
    if joint:
        d, least, spare = d.min(keepdims=True), least.min(keepdims=True), np.full(k, spare.min())
    return Smallest(d, wrong, strict, least, spare)


def _lower(
    learner: DualLearner, begin: int, signed: Floats, doubt: Floats, lift: Floats | None, least: Floats
) -> None:
    """Bring `least` down to the smallest d of these rows, rounded down; d is known up to `doubt`."""
    close = learner.close  # a measure, and no decision
    for c in range(signed.shape[1]):
        column, off = signed[:, c], doubt[:, c]
        if not len(column):
            continue
        highest = float((column + off).min())
        highest = min(least[c], highest + abs(highest) * 2.0**-50)
        for row in np.flatnonzero((column - off <= highest) & (off > 0)).tolist():
            d, label = _exactly(learner, begin + row, c), int(learner.labels[begin + row])
            if lift is not None:
                mine = label == (1 if len(lift) == 1 else c)
                d = _below(d + (lift[label] - lift[c] if learner.joint else lift[c] if mine else -lift[c]))
            least[c] = min(least[c], _below(d))
        least[c] = min(least[c], column[off == 0].min(initial=math.inf))
    learner.close = close


def _below(d: float) -> float:
    """A number that was rounded to d is no less than this; d = 0 is exact."""
    return math.nextafter(d, -math.inf) if d else 0.0


def _exactly(learner: DualLearner, row: int, c: int) -> float:
    """d of a row and a column, correctly rounded, its sign never lost."""
    label = int(learner.labels[row])
    of: Callable[[Floats], Floats] = itemgetter((slice(None), c))
    flip = 1.0
    if learner.joint:
        of = lambda moves: moves[:, label] - moves[:, c]  # noqa: E731
    elif label != (1 if learner.earlier.n_columns == 1 else c):
        flip = -1.0
    sign, value = learner.exact(row, of)
    return flip * (value or sign * 5e-324)


# ---- the report --------------------------------------------------------------------------------------
INDEFINITE = "the kernel is not positive semidefinite, as this run shows"
GIVEN_DEFINITE = "given a positive semidefinite kernel"


def margin_upper(model: DualModel | BudgetLearner, run: Run) -> float:
    """‖w‖/Στ ≥ γ, rounded up, for all that is known of K; infinite where that is nothing."""
    upper = model.margin_upper
    unproved = upper == 0 and not model.kernel.is_known and run.verdict != "inseparable"
    return math.inf if unproved or _is_indefinite(model, run) else upper


def _is_indefinite(model: DualModel | BudgetLearner, run: Run) -> bool:
    """Whether the run shows that K is no inner product: ‖w‖² < 0, or a margin above what bounds it."""
    if isinstance(model, BudgetLearner) or model.kernel.is_known:
        return False
    crossed = run.verdict == "separated" and run.margin > model.margin_upper
    return crossed or any(high < 0 for _, high in model.enclosed_squares())


def summarize(model: DualModel | BudgetLearner, run: Run, name: str, order: str, n_features: int) -> Report:
    """What there is to say about `run`, which made `model`; `name` and `order` are shown as they are."""
    upper, margin = margin_upper(model, run), run.margin if run.verdict == "separated" else 0.0
    indefinite = _is_indefinite(model, run)
    bound, _ = theorem(Settings(), 1.0)
    parts = 1 if model.joint or model.n_columns == 1 else model.n_columns
    upper_of_all = upper
    if parts > 1:
        bound, upper_of_all = f"the sum of {parts} classes' {bound}", math.inf
    low, high = 0.0, math.inf
    if isinstance(model, BudgetLearner):
        bound = ""  # what was projected or removed is lost to the proof
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
    )
    return report_of(run, figures, name, order)
