"""Training a chain's weights on sentences, decoding with them, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np

from novikoff.data.threads import results, threads
from novikoff.outward import margin_down
from novikoff.tagging.chain import ChainWeights, Pairs, Scorer
from novikoff.tagging.made_once import made_once
from novikoff.tagging.sequences import Floats, Ids, Offsets, Sequences
from novikoff.tagging.spelling import Spelling
from novikoff.training.held_out import hold_out
from novikoff.training.loop import EarlyStoppingTrainer, Epoch
from novikoff.training.plan import Plan
from novikoff.training.run import Record, Run
from novikoff.training.tally import Tally

COUNTED = ("mistakes", "updates", "wrong_tokens")
LEAST = 2.0**-500  # smallest value of a feature: smaller ones would leave ‖w‖ and R at 0
CALL_WORK = 2e8  # multiplications per native call: a fraction of a second, so that Ctrl-C is noticed


def epoch(weights: ChainWeights, x: Sequences, labels: Ids, order: Offsets | None = None) -> None:
    """Visit every sentence once, or those of `order` in its order, and update `weights` in place.

    The arrays and counts of `weights` are the complete state of a run: given the sentences, training can
    resume from a copy, or from a sum of several.
    """
    TaggerTrainer(weights, x, labels, Plan(1, "cyclic")).epoch(order)


# ---- decoding ----------------------------------------------------------------------------------------
def tag(scorer: Scorer, x: Sequences, n_jobs: int | None = None) -> Ids:
    """The label of each token in the best labelling of its sentence; the same for any `n_jobs`."""
    out, jobs = np.zeros(x.n_tokens, dtype=np.int32), threads(n_jobs)
    native, ranges = x.native, _ranges(scorer, x, jobs)
    for _ in results((partial(scorer.native.tag, native, *part, out) for part in ranges), jobs):
        pass
    return out


def max_marginals(scorer: Scorer, x: Sequences, n_jobs: int | None = None) -> Floats:
    """For every token and label, the score of the best labelling with that label there: (tokens, labels)."""
    out, jobs = np.zeros((x.n_tokens, scorer.n_labels)), threads(n_jobs)
    native, ranges = x.native, _ranges(scorer, x, jobs)
    for _ in results((partial(scorer.native.through, native, *part, out) for part in ranges), jobs):
        pass
    return out / scorer.scale


def k_best(scorer: Scorer, x: Sequences, k: int, n_jobs: int | None = None) -> list[list[tuple[float, Ids]]]:
    """For every sentence its k best labellings with their scores, best first; the same for any `n_jobs`.

    There are fewer where fewer are allowed. Of equal scores the labelling that is smallest when read from the
    end comes first, so the first is what `tag` finds.
    """
    jobs, native = threads(n_jobs), x.native
    ranges, lengths = _ranges(scorer, x, jobs, k), iter(x.lengths.tolist())
    out = []
    for counts, scores, labels in results(
        (partial(scorer.native.k_best, native, *r, k) for r in ranges), jobs
    ):
        values, read, at = (scores / scorer.scale).tolist(), 0, 0
        for count, length in zip(counts.tolist(), lengths, strict=False):
            found = labels[at : at + count * length].reshape(count, length)
            out.append(list(zip(values[read : read + count], found, strict=True)))
            read, at = read + count, at + count * length
    return out


def _ranges(scorer: Scorer, x: Sequences, jobs: int, k: int = 1) -> list[tuple[int, int]]:
    """Ranges of sentences, one per native call; several per thread."""
    n, work = scorer.n_labels, max(CALL_WORK / k, 1.0)
    if jobs > 1:
        work = min(max((len(x.ids) * n + x.n_tokens * n**2) / (4 * jobs), 1.0), work)
    return x.ranges(work, n)


# ---- training ----------------------------------------------------------------------------------------
class TaggerTrainer(EarlyStoppingTrainer):
    """Trains a chain's weights in place on sentences and the numbers of their labels."""

    def __init__(
        self,
        weights: ChainWeights,
        x: Sequences,
        labels: Ids,
        plan: Plan,
        spelling: Spelling | None = None,
    ) -> None:
        self.weights, self.x, self.labels, self.plan = weights, x, labels, plan
        self.spelling = spelling  # of the labels, to count the errors of `predict`; None: as they are learned
        self.kept: Offsets | None = None  # the training sentences; None: all
        self.holds_out = plan.early_stopping
        if self.holds_out:
            every = np.arange(len(x))
            self.kept, held = hold_out([every], plan.validation_fraction, plan.rng, "of the sentences")
            self.held_out = subset(x, labels, held)

    def epoch(self, order: Offsets | None = None) -> Epoch:
        """Visit all training sentences, or those of `order` in its order."""
        weights, x, before = self.weights, self.x, replace(self.weights.counts)
        native, order = weights.learner(), self._order() if order is None else order
        self._check_values()
        try:
            for begin, end in x.ranges(CALL_WORK, weights.n_labels, order):
                native.epoch(x.native, self.labels, begin, end, order)
                if not math.isfinite(native.norm2):
                    most = 1.0 if x.values is None else float(np.abs(x.values).max(initial=0))
                    raise ValueError(
                        "the weights grow beyond what a float can hold: scale the values of the features "
                        f"down, of which the largest is {most:g}."
                    )
        finally:
            weights.take_counts(native)
        now = weights.counts
        counts: Record = {name: getattr(now, name) - getattr(before, name) for name in COUNTED}
        return Epoch(counts["updates"] == 0, counts | {"norm": math.sqrt(now.norm2)})

    def _order(self) -> Offsets | None:
        drawn = self.plan.drawn_order(self.n_rows)
        return drawn if self.kept is None else self.kept if drawn is None else self.kept[drawn]

    def _check_values(self) -> None:
        """Note whether values are fractional, and reject values whose squares underflow."""
        values = self.x.values
        if values is not None and not _is_whole(self.x):
            self.weights.counts.fractional |= True
            least = float(np.abs(values[values != 0]).min())
            if least < LEAST:
                raise ValueError(
                    f"a feature has the value {least:g}, whose square no double holds: scale the "
                    "values of the features up."
                )

    @property
    def n_rows(self) -> int:
        return len(self.x) if self.kept is None else len(self.kept)

    @made_once
    def pairs(self) -> Pairs:
        """The nonzero weights at the end of the run."""
        return self.weights.pairs()

    def held_out_score(self) -> float:
        x, labels = self.held_out
        found = tag(scorer(self.weights), x, self.plan.n_jobs)
        return float(np.mean(found == labels)) if len(labels) else 1.0

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
        x, labels = self.x, self.labels
        calm = self.kept is None and bool(run.history) and run.history[-1]["mistakes"] == 0
        if self.kept is not None:  # without the held-out sentences
            x, labels = subset(x, labels, self.kept)
        judge(scorer(self.weights, self.pairs, last=True), x, labels, run, calm=calm)
        predicting, more = scorer(self.weights, self.pairs), (self.plan.n_jobs, self.spelling)
        sentences, tally = errors(predicting, x, labels, *more)
        run.note(tally, sentences)
        if self.kept is not None:
            run.held_out = errors(predicting, *self.held_out, *more)[1].score


def subset(x: Sequences, labels: Ids, sentences: Offsets) -> tuple[Sequences, Ids]:
    """The selected sentences and their labels."""
    tokens = _spans(x.starts, sentences)
    stored = _spans(x.indptr, tokens)
    starts = np.concatenate([[0], np.cumsum(x.lengths[sentences])])
    indptr = np.concatenate([[0], np.cumsum(np.diff(x.indptr)[tokens])])
    values = None if x.values is None else x.values[stored]
    return Sequences(starts, indptr, x.ids[stored], values), labels[tokens]


def _spans(at: Offsets, chosen: Offsets) -> Offsets:
    """The numbers from at[i] up to but not including at[i + 1] for each chosen i, concatenated."""
    lengths = at[chosen + 1] - at[chosen]
    ends = np.cumsum(lengths)
    if not len(ends):
        return np.zeros(0, dtype=np.int64)
    return np.asarray(np.arange(ends[-1]) + np.repeat(at[chosen] - (ends - lengths), lengths), dtype=np.int64)


def scorer(weights: ChainWeights, pairs: Pairs | None = None, *, last: bool = False) -> Scorer:
    """A decoder with the averaged weights if there are any, or with the last ones if `last`."""
    pairs = weights.pairs() if pairs is None else pairs
    a, sums = weights.bigrams()
    if last:
        pairs, sums = replace(pairs, u=None), None
    return Scorer(pairs, a, sums, weights.allowed, weights.counts.visits)


# ---- the verdict -------------------------------------------------------------------------------------
def judge(last: Scorer, x: Sequences, labels: Ids, run: Run, *, calm: bool = False) -> None:
    """Decide whether each sentence's right labelling scores strictly above all others under the last weights.

    `calm`: an epoch has just passed without a mistake, so every sentence is known to be right.

    The margin is the minimum of w·(Φ(x, y) − Φ(x, z))/‖w‖ over all sentences and all allowed z ≠ y, found
    from the best labelling with every other label at every position. Sums of whole numbers are exact; with
    other values the possible rounding error is subtracted. Stops at the first range of sentences that is
    wrong or not strictly separated.
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
    run.consistent = calm or strict or not (wrong or errors(last, x, labels)[0])
    run.verdict = "separated" if strict else "undecided"
    run.margin = margin_down(least, low, high)[0]


def _doubling(n: int) -> Iterator[tuple[int, int]]:
    """Ranges of 16, 32, … up to 4096 sentences."""
    cuts = [0]
    while cuts[-1] < n:
        cuts.append(min(n, cuts[-1] + min(16 << len(cuts), 4096)))
    return pairwise(cuts)


def _is_whole(x: Sequences) -> bool:
    """Whether all feature values are whole numbers."""
    return x.values is None or bool((x.values == np.trunc(x.values)).all())


def _rounding(last: Scorer, x: Sequences, begin: int, end: int) -> Floats | float:
    """A bound on the rounding error of a difference of two scores of a sentence; 0 if all is whole."""
    whole = _is_whole(x) and bool((last.w == np.trunc(last.w)).all())
    sizes = np.diff(x.indptr[x.starts[begin : end + 1]]) + 2 * x.lengths[begin:end]
    weight = float(max(np.abs(last.w).max(initial=0), np.abs(last.a).max(initial=0)))
    value = 1.0 if x.values is None else float(np.abs(x.values).max(initial=1.0))
    total = sizes * (weight * max(value, 1.0))
    if whole and float(total.max(initial=0)) < 2.0**52:
        return 0.0
    return np.asarray(4.0 * 2.0**-53 * (sizes + 2) * total, dtype=np.float64)


def errors(
    of: Scorer, x: Sequences, labels: Ids, n_jobs: int | None = None, spelling: Spelling | None = None
) -> tuple[int, Tally]:
    """The number of sentences with a wrong label, and the tokens with their errors, in this spelling."""
    found = tag(of, x, n_jobs)
    if spelling is not None:
        return spelling.count(x.starts, labels, found)
    tally, wrong = Tally(), np.concatenate([[0], np.cumsum(found != labels)])
    tally.add(labels, found)
    return int(np.count_nonzero(np.diff(wrong[x.starts]))), tally
