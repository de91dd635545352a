"""The driver of sequence taggers: epochs, order, averaging, stopping, history, the verdict and the bound."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from novikoff.data.threads import threads
from novikoff.exact.outward import UNIT, at_least, at_most, margin_down, root_up
from novikoff.tagging.chain import ChainWeights, Counts, Pairs, Scorer
from novikoff.tagging.sequences import Floats, Ids, Offsets, Sequences
from novikoff.training import loop
from novikoff.training.held_out import hold_out
from novikoff.training.plan import Plan
from novikoff.training.report import Figures, Report, report_of
from novikoff.training.run import Record, Run
from novikoff.training.weights import Enclosure

COUNTED = ("mistakes", "updates", "wrong_tokens")
ELEMENTS = 1 << 20  # more than an update of one sentence changes
LEAST = 2.0**-500  # a value of a feature; what is smaller leaves ‖w‖ and R at 0
CALL_WORK = 2e8  # multiplications of one native call: a part of a second, then Python may interrupt


# ---- one epoch ---------------------------------------------------------------------------------------
def epoch(weights: ChainWeights, x: Sequences, labels: Ids, order: Offsets | None = None) -> None:
    """Visit every sentence once, or those of `order` in its order, going on from `weights` in place.

    The arrays and counts of `weights` are all there is to a run: copied, sent elsewhere or added up, they
    can be gone on from by whoever has the sentences.
    """
    native = weights.learner()
    if x.values is not None and not _is_whole(x):
        weights.counts.fractional |= True
        least = float(np.abs(x.values[x.values != 0]).min())
        if least < LEAST:
            raise ValueError(
                f"a feature has the value {least:g}, of which no double holds the square: scale the values "
                "of the features up."
            )
    try:
        for begin, end in x.ranges(CALL_WORK, weights.n_labels, order):
            native.epoch(x.native, labels, begin, end, order)
            if not math.isfinite(native.norm2):
                most = 1.0 if x.values is None else float(np.abs(x.values).max(initial=0))
                raise ValueError(
                    "the weights grow beyond what a float can hold: scale the values of the features down, "
                    f"of which the largest is {most:g}."
                )
    finally:
        weights.take_counts(native)


def tag(scorer: Scorer, x: Sequences, n_jobs: int | None = None) -> Ids:
    """The label of each token, by the best sequence for each sentence; the same for any `n_jobs`."""
    out = np.zeros(x.n_tokens, dtype=np.int32)
    _on_threads(lambda begin, end: scorer.native.tag(x.native, begin, end, out), scorer, x, n_jobs)
    return out


def through(scorer: Scorer, x: Sequences, n_jobs: int | None = None) -> Floats:
    """For every token and label the score of the best sequence that has it there: (tokens, labels)."""
    out = np.zeros((x.n_tokens, scorer.n_labels))
    _on_threads(lambda begin, end: scorer.native.through(x.native, begin, end, out), scorer, x, n_jobs)
    return out / scorer.scale


def _on_threads(call: Any, scorer: Scorer, x: Sequences, n_jobs: int | None) -> None:
    jobs = threads(n_jobs)
    if jobs == 1 or len(x) < 2:
        for begin, end in x.ranges(CALL_WORK, scorer.n_labels):
            call(begin, end)
        return
    x.native  # noqa: B018  (made once, before threads ask for it)
    size = max(float(len(x.ids) * scorer.n_labels + x.n_tokens * scorer.n_labels**2) / (4 * jobs), 1.0)
    pool = ThreadPoolExecutor(jobs)
    try:
        for _ in pool.map(lambda part: call(*part), x.ranges(min(size, CALL_WORK), scorer.n_labels)):
            pass
    finally:
        pool.shutdown(cancel_futures=True)


# ---- fitting -----------------------------------------------------------------------------------------
def fit(weights: ChainWeights, x: Sequences, labels: Ids, plan: Plan) -> tuple[Run, Offsets | None]:
    """Learn in place until an epoch passes without an update, or the plan ends it.

    Returns the run, and the sentences that were learned from, where others were held out.

    With early stopping some sentences are held out, and the weights of the epoch that labelled most of their
    tokens right are kept. An interrupt ends the run where it is, with weights that can be used.
    """
    fitting = Fitting(weights, x, labels, plan)
    return loop.train(fitting, plan, judged=False), fitting.kept


def learn(weights: ChainWeights, x: Sequences, labels: Ids) -> Run:
    """One pass over the sentences as they come, going on from `weights` in place."""
    plan = Plan(1, "cyclic")
    return loop.train(Fitting(weights, x, labels, plan), plan, Run(as_given=True), judged=False)


class Fitting(loop.Learner):
    """A chain's weights under training, and the sentences."""

    def __init__(self, weights: ChainWeights, x: Sequences, labels: Ids, plan: Plan) -> None:
        self.weights, self.x, self.labels, self.plan = weights, x, labels, plan
        self.kept: Offsets | None = None  # the sentences that are learned from; None: all
        if plan.early_stopping:
            every = np.arange(len(x))
            self.kept, held = hold_out([every], plan.validation_fraction, plan.rng, "of the sentences")
            self.held_out, self.holds_out = subset(x, labels, held), True

    def epoch(self) -> loop.Epoch:
        order, rng, n, before = self.kept, self.plan.rng, self.n_rows, replace(self.weights.counts)
        if self.plan.order == "shuffle":
            order = rng.permutation(n) if self.kept is None else self.kept[rng.permutation(n)]
        epoch(self.weights, self.x, self.labels, order)
        now = self.weights.counts
        counts: Record = {name: getattr(now, name) - getattr(before, name) for name in COUNTED}
        return loop.Epoch(counts["updates"] == 0, counts | {"norm": math.sqrt(now.norm2)})

    @property
    def n_rows(self) -> int:
        return len(self.x) if self.kept is None else len(self.kept)

    def held_out_score(self) -> float:
        return _accuracy(scorer(self.weights), *self.held_out, self.plan.n_jobs)

    def snapshot(self) -> ChainWeights:
        return self.weights.copy()

    def restore(self, snapshot: ChainWeights) -> None:
        weights, best = self.weights, snapshot
        counts, dropped = weights.counts, weights.counts.updates - best.counts.updates
        vars(weights).update(vars(best))
        weights.counts = replace(
            counts, visits=best.counts.visits, norm2=best.counts.norm2, dropped=counts.dropped + dropped
        )

    def finish(self, run: Run) -> None:
        run.n_rows = self.n_rows

    def judge(self, run: Run) -> None:
        judge(scorer(self.weights, last=True), self.x, self.labels, run)


def _accuracy(of: Scorer, x: Sequences, labels: Ids, n_jobs: int | None) -> float:
    return float(np.mean(tag(of, x, n_jobs) == labels)) if len(labels) else 1.0


def subset(x: Sequences, labels: Ids, sentences: Offsets) -> tuple[Sequences, Ids]:
    """Some of the sentences, and their labels."""
    tokens = _spans(x.starts, sentences)
    stored = _spans(x.indptr, tokens)
    starts = np.concatenate([[0], np.cumsum(x.lengths[sentences])])
    indptr = np.concatenate([[0], np.cumsum(np.diff(x.indptr)[tokens])])
    values = None if x.values is None else x.values[stored]
    return Sequences(starts, indptr, x.ids[stored], values), labels[tokens]


def _spans(at: Offsets, chosen: Offsets) -> Offsets:
    """The numbers from at[i] to at[i + 1] for each i chosen, one after the other."""
    lengths = at[chosen + 1] - at[chosen]
    ends = np.cumsum(lengths)
    if not len(ends):
        return np.zeros(0, dtype=np.int64)
    return np.asarray(np.arange(ends[-1]) + np.repeat(at[chosen] - (ends - lengths), lengths), dtype=np.int64)


def scorer(weights: ChainWeights, pairs: Pairs | None = None, *, last: bool = False) -> Scorer:
    """What tags: the mean of the weights where it was kept, or the last ones on request."""
    pairs = weights.pairs() if pairs is None else pairs
    a, sums = weights.bigrams()
    if last:
        pairs, sums = replace(pairs, u=None), None
    return Scorer(pairs, a, sums, weights.allowed, weights.counts.visits)


# ---- the verdict -------------------------------------------------------------------------------------
def judge(last: Scorer, x: Sequences, labels: Ids, run: Run, *, calm: bool = False) -> None:
    """Is every sentence's own labelling strictly above all others, by the last weights?

    `calm`: it is known that they get every sentence right, for an epoch has just passed without an update.

    The margin is the least of w·(Φ(x, y) − Φ(x, z))/‖w‖ over all sentences and all allowed z ≠ y, found
    from the best sequence through every other label at every position. Sums of whole numbers are exact;
    with other values a margin counts only beyond what rounding may have done. Looks no further than the
    first sentences that are wrong.
    """
    gaps, (low, high) = np.full(len(x), math.inf), last.square()
    least, strict, wrong = math.inf, high > 0, False
    for begin, end in _doubling(len(x)):
        last.native.gaps(x.native, labels, begin, end, gaps)
        doubt = _rounding(last, x, begin, end)
        part = gaps[begin:end] - doubt
        least = min(least, float(part.min(initial=math.inf)))
        strict = strict and bool((part > 0).all())
        wrong = wrong or bool((gaps[begin:end] + doubt < 0).any())
        if wrong or not strict:
            break
    run.consistent = calm or strict or not (wrong or errors(last, x, labels))
    run.verdict = "separated" if strict else "undecided"
    run.margin = margin_down(least, low, high)[0]


def _doubling(n: int) -> Iterator[tuple[int, int]]:
    """Ranges of 16, 32, … up to 4096 sentences."""
    cuts = [0]
    while cuts[-1] < n:
        cuts.append(min(n, cuts[-1] + min(16 << len(cuts), 4096)))
    return pairwise(cuts)


def _is_whole(x: Sequences) -> bool:
    """Whether all values of features are whole numbers."""
    return x.values is None or bool((x.values == np.trunc(x.values)).all())


def _rounding(last: Scorer, x: Sequences, begin: int, end: int) -> Floats | float:
    """How far a difference of two sums of a sentence may be off; 0 where all is whole."""
    whole = _is_whole(x) and bool((last.w == np.trunc(last.w)).all())
    sizes = np.diff(x.indptr[x.starts[begin : end + 1]]) + 2 * x.lengths[begin:end]
    weight = float(max(np.abs(last.w).max(initial=0), np.abs(last.a).max(initial=0)))
    value = 1.0 if x.values is None else float(np.abs(x.values).max(initial=1.0))
    total = sizes * (weight * max(value, 1.0))
    if whole and float(total.max(initial=0)) < 2.0**52:
        return 0.0
    return np.asarray(4.0 * 2.0**-53 * (sizes + 2) * total, dtype=np.float64)


def summarize(counts: Counts, run: Run, n_features: int, n_labels: int, name: str, order: str) -> Report:
    """What there is to say about a run.

    The bound is Collins's: mistakes ≤ (R/γ)² with R the largest ‖Φ(x, y) − Φ(x, ŷ)‖ of an update (the
    proof needs no other), and γ the margin, which lies between that of the last weights and ‖w‖/updates.
    """
    margin = run.margin if run.verdict == "separated" else 0.0
    upper, (least, most) = margin_upper(counts, run), radius_square(counts)
    figures = Figures(
        rule="perceptron",
        n_features=n_features,
        n_classes=n_labels,
        mistakes=counts.mistakes,
        updates=counts.updates,
        radius=root_up(most),
        margin_upper=upper,
        bound="(R/γ)²",
        bound_lower=at_least(least, upper),
        bound_upper=at_most(most, margin),
        what="sentences",
    )
    return report_of(run, figures, name, order)


def radius_square(counts: Counts) -> Enclosure:
    """R², enclosed."""
    square = Fraction(counts.radius2)
    slack = ELEMENTS * 4 * UNIT if counts.fractional or counts.radius2 >= 2**53 else 0
    return square * (1 - slack), square * (1 + slack)


def margin_upper(counts: Counts, run: Run) -> float:
    """‖w‖/updates, which is at least γ, rounded up; infinite before the first update.

    On shards Σ μ·updates counts. Whole numbers are not rounded. Otherwise n updates of at most R each have
    made ‖w‖ ≤ n·R, their sum is off by at most n·(n + 3)·u·R, and ‖w‖² as it was added up by
    4n²·(n + d)·u·R², for d elements of an update.
    """
    n = counts.updates - counts.dropped
    if not n:
        return math.inf
    square, made, drift = Fraction(counts.norm2), Fraction(n), Fraction(0)
    R = Fraction(root_up(radius_square(counts)[1]))
    if run.n_shards > 1:
        mixings = max(len(run.history), 1) * (run.n_shards + 6)
        made = Fraction(run.mixed) * (1 - 4 * mixings * UNIT)
        square *= 1 + Fraction(1, 2**26)  # of a sum of up to 2²⁷ squares
        drift = (n * (n + 3) + 4 * mixings * made) * UNIT * R
    elif counts.fractional or counts.norm2 >= 2**53:
        square += 4 * n * n * (n + ELEMENTS) * UNIT * R**2
        drift = n * (n + 3) * UNIT * R
    if made <= 0:
        return math.inf
    return root_up(((Fraction(root_up(square)) + drift) / made) ** 2) if drift else root_up(square / made**2)


def errors(of: Scorer, x: Sequences, labels: Ids, n_jobs: int | None = None) -> int:
    """Sentences with a wrong label."""
    wrong = np.concatenate([[0], np.cumsum(tag(of, x, n_jobs) != labels)])
    return int(np.count_nonzero(np.diff(wrong[x.starts])))
