"""How a sequence tagger learns from one shard of sentences: an epoch from shared weights, and the verdict.

The weights of all features and of all label bigrams are in one table, with one column per label: row 0 stays
zero, then one row per feature, then one row per label (the label before). Shards share this table, and
`mixing` mixes it. Mixtures need not be whole numbers, so weights are float64; for whole weights, float64 is
as exact as the integers of a single tagger.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novikoff.data.arrays import aligned, digest_of
from novikoff.data.zero_tables import zeros
from novikoff.distributed.linear_shard import generator_at
from novikoff.distributed.mixing import Ask, Method, Outcome, Standing, Table
from novikoff.tagging import training as tagging
from novikoff.tagging.chain import Allowed, ChainWeights, Counts, stride
from novikoff.tagging.sequences import Ids, Sequences
from novikoff.training.loop import train
from novikoff.training.plan import Plan
from novikoff.training.run import Run
from novikoff.training.tally import Tally


@dataclass(frozen=True, eq=False)
class SentenceShard:
    """Sentences as feature numbers, and the numbers of their tokens' labels."""

    name: str  # for messages: "sentences 0 to 99", "train.txt"
    x: Sequences
    labels: Ids

    def __post_init__(self) -> None:
        parts = self.x.starts, self.x.indptr, self.x.ids, self.x.values
        if not all(part is None or part.flags.aligned for part in (*parts, self.labels)):
            object.__setattr__(self, "x", Sequences(*map(aligned, parts)))
            object.__setattr__(self, "labels", aligned(self.labels))

    def __reduce__(self) -> tuple[Any, ...]:
        """Only the arrays are sent to another worker, not the native objects."""
        return SentenceShard, (self.name, replace(self.x), self.labels)

    @property
    def n_rows(self) -> int:
        return len(self.x)

    def digest(self) -> str:
        return digest_of(self.x.starts, self.x.indptr, self.x.ids, self.x.values, self.labels)


BEGIN: dict[str, Any] = {"visits": 0, "mistakes": 0, "updates": 0, "wrong_tokens": 0}
BEGIN |= {"radius2": 0.0, "largest": 0.0, "step_sum": 0.0, "fractional": 0}


@dataclass(frozen=True, eq=False)
class ChainMethod(Method):
    """The structured perceptron for sequences."""

    n_features: int
    allowed: Allowed
    average: bool = True
    order: str = "shuffle"

    counts_updates = True  # the mistakes that changed the weights; on separable sentences every mistake did

    @property
    def n_labels(self) -> int:
        return len(self.allowed.start)

    def table(self) -> Table:
        rows, columns = 1 + self.n_features + self.n_labels, stride(self.n_labels)
        layers = 1 + self.average
        return zeros((layers * rows, columns)).reshape(layers, rows, columns)

    def begin(self) -> tuple[Table, Standing]:
        return self.table(), Standing(0, (dict(BEGIN),))

    def weights(self, table: Table, standing: Standing) -> ChainWeights:
        """The weights in the table."""
        (counts,) = standing.parts
        known = {name: value for name, value in counts.items() if name != "step_sum"}
        sums = table[1] if self.average else None
        end = 1 + self.n_features
        return ChainWeights(
            self.n_labels,
            np.arange(1, end, dtype=np.int32),
            self.n_features,
            table[0, :end],
            table[0, end:],
            None if sums is None else sums[:end],
            None if sums is None else sums[end:],
            self.allowed,
            Counts(**known, norm2=self.square(table, 0)),
        )

    def learn(
        self, shard: SentenceShard, table: Table, standing: Standing, order: Any, epochs: int
    ) -> Outcome:
        if not shard.n_rows:
            return Outcome(standing.parts, order, rows=0, converged=True)
        started = time.perf_counter()
        weights, rng = self.weights(table, standing), generator_at(order)
        plan = Plan(epochs, self.order, rng)
        run = train(tagging.TaggerTrainer(weights, shard.x, shard.labels, plan), plan, judged=False)
        if run.interrupted:
            raise KeyboardInterrupt
        (begun,), now = standing.parts, vars(weights.counts)
        counts = {name: now[name] for name in begun if name != "step_sum"}
        counts["step_sum"] = begun["step_sum"] + float(counts["updates"] - begun["updates"])  # τ = 1
        return Outcome(
            (counts,),
            rng.bit_generator.state,
            rows=shard.n_rows,
            seconds=time.perf_counter() - started,
            epochs=len(run.history),
            converged=run.converged,
        )

    # -- verdict
    def norm(self, table: Table, standing: Standing) -> float:
        return math.sqrt(self.square(table, 0))

    def square(self, part: Table, begin: int) -> float:
        return float(np.vdot(part[0], part[0]))

    def judge(self, table: Table, standing: Standing, run: Run, ask: Ask) -> None:
        found: Sequence[Run] = ask("verdict")
        calm = bool(run.history) and run.history[-1]["mistakes"] == 0
        strict = all(one.verdict == "separated" for one in found)
        run.verdict = "separated" if strict else "undecided"
        run.consistent = calm or all(one.consistent for one in found)
        upto = next((k for k, one in enumerate(found, 1) if one.verdict != "separated"), len(found))
        run.margin = min(one.margin for one in found[:upto])  # as if the shards were visited in sequence
        sentences, tallies = zip(*ask("errors"), strict=True)
        run.note(sum(tallies, start=Tally()), sum(sentences))

    def verdict(self, shard: SentenceShard, table: Table, standing: Standing) -> Run:
        """Whether the last weights separate a shard's sentences, and by how much."""
        run = Run()
        last = tagging.scorer(self.weights(table, standing), last=True)
        tagging.judge(last, shard.x, shard.labels, run)
        return run

    def errors(self, shard: SentenceShard, table: Table, standing: Standing) -> tuple[int, Tally]:
        """The number of a shard's sentences that the weights used by `predict` get wrong, and its tokens."""
        return tagging.errors(tagging.scorer(self.weights(table, standing)), shard.x, shard.labels)


def together(each: Sequence[Allowed]) -> Allowed:
    """The transitions allowed by any of these."""
    step = np.maximum.reduce([one.step for one in each])
    return Allowed(step, each[0].start, each[0].end)
