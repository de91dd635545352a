"""How a linear model learns from one shard: an epoch from shared weights, and the input of the verdict.

All learners of a model are in one table, each with its bias as an additional row after its features. Shards
share this table, and `mixing` mixes it. A shard is a matrix in memory, or files that are read in every epoch.
"""

from __future__ import annotations

import hashlib
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.data.arrays import aligned, digest_of
from novikoff.data.labels import Labels, Renaming, StreamClasses
from novikoff.data.scaling import Scaling
from novikoff.data.sources.source import Source
from novikoff.data.zero_tables import zeros
from novikoff.distributed.mixing import Ask, Method, Outcome, Standing, Table
from novikoff.training.examples import ArrayExamples, Examples
from novikoff.training.ledger import Ledger
from novikoff.training.linear import Found, LinearTrainer, judge, smallest
from novikoff.training.loop import train
from novikoff.training.plan import Plan
from novikoff.training.run import Run
from novikoff.training.streaming import SourceExamples
from novikoff.training.tally import Tally
from novikoff.training.weights import Floats, Ints, Model, Scorer, Settings, Weights, width


# ---- shards --------------------------------------------------------------------------------------------
class Shard(ABC):
    """The rows of one shard, on the worker that holds or reads them."""

    name: str  # for messages: "block 3", "day3.svm"
    n_rows: int

    @abstractmethod
    def examples(self, plan: Plan, model: Model) -> Examples:
        """The rows as examples for a fit."""

    @abstractmethod
    def digest(self) -> str:
        """A digest that identifies these rows."""


@dataclass(frozen=True)
class RowShard(Shard):
    """A shard in memory; rows of weight 0 are left out."""

    name: str
    X: Any
    labels: Ints
    weights: Floats | None = None

    def __post_init__(self) -> None:
        for name in ("X", "labels", "weights"):
            object.__setattr__(self, name, aligned(getattr(self, name)))

    def __reduce__(self) -> tuple[Any, ...]:
        return RowShard, (self.name, self.X, self.labels, self.weights)

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        return int(self.X.shape[0] if self.weights is None else np.count_nonzero(self.weights))

    def examples(self, plan: Plan, model: Model) -> ArrayExamples:
        return ArrayExamples(self.X, self.labels, self.weights, plan, model)

    def digest(self) -> str:
        return digest_of(self.X, self.labels, self.weights)


def file_examples(
    source: Source,
    classes: Labels,
    class_weight: dict[str, float] | None = None,
    rename: Renaming | None = None,
    scaling: Scaling | None = None,
) -> SourceExamples:
    """The rows of files as examples for a fit: in their order, with a few blocks in memory at a time."""
    known = StreamClasses(classes.tolist(), rename=rename)
    return SourceExamples(source, known, scaling=scaling, class_weight=class_weight)


# ---- orders --------------------------------------------------------------------------------------------
def order_states(rng: np.random.Generator, n: int) -> list[Any]:
    """The states of n generators, one per shard: the first is `rng` itself, the others derive from its state.

    So a single shard visits its rows in the order of a single learner, and every shard's order depends only
    on `random_state` and on its own position.

    >>> states = order_states(np.random.default_rng(0), 2)
    >>> generator_at(states[0]).permutation(4).tolist() == np.random.default_rng(0).permutation(4).tolist()
    True
    """
    first = rng.bit_generator.state
    digest = hashlib.blake2b(_bytes(first), digest_size=16).digest()
    entropy = int.from_bytes(digest, "little")
    seeds = [np.random.SeedSequence(entropy, spawn_key=(i,)) for i in range(1, n)]
    return [first, *(np.random.PCG64(seed).state for seed in seeds)][:n]


def _bytes(state: Any) -> bytes:
    if isinstance(state, dict):
        return b"".join(key.encode() + _bytes(state[key]) for key in sorted(state))
    return state.tobytes() if isinstance(state, np.ndarray) else repr(state).encode()


def generator_at(state: Any) -> np.random.Generator:
    """The generator in this state."""
    name = state.get("bit_generator") if isinstance(state, dict) else None
    if name not in ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"):  # a checkpoint may contain anything
        raise ValueError(f"{name!r} is not a random number generator for orders")
    bits = getattr(np.random, name)()
    bits.state = state
    return np.random.Generator(bits)


# ---- learning ------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class LinearMethod(Method):
    """Linear perceptrons with any rule."""

    n_classes: int
    n_features: int
    settings: Settings
    order: str = "shuffle"

    @property
    def _apart(self) -> bool:
        return self.settings.multiclass == "ovr" and self.n_classes > 2

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of the table: weights and perhaps sums; the learners' features and biases; classes."""
        learners, classes = (self.n_classes, 2) if self._apart else (1, self.n_classes)
        return 1 + bool(self.settings.average), learners * (self.n_features + 1), width(classes)

    def table(self) -> Table:
        """A new table of zeros."""
        layers, rows, columns = self.shape
        return zeros((layers * rows, columns)).reshape(self.shape)

    def begin(self) -> tuple[Table, Standing]:
        return self.begin_from(Model(self.n_classes, self.n_features, self.settings))

    def begin_from(self, model: Model) -> tuple[Table, Standing]:
        """The shared state for further training of a model."""
        table = self.table()
        counts = tuple(learner.counts() for learner in model.learners)
        for own, learner in zip(self.model(table, counts).learners, model.learners, strict=True):
            own.weights[...], own.bias[...] = learner.weights, learner.bias
            if own.weight_sums is not None and own.bias_sums is not None:
                own.weight_sums[...], own.bias_sums[...] = learner.weight_sums, learner.bias_sums
        return table, Standing(0, counts)

    def model(self, table: Table, parts: Sequence[dict[str, Any]]) -> Model:
        """The model with the weights of the table."""
        model = object.__new__(Model)
        model.n_classes, model.n_features, model.settings = self.n_classes, self.n_features, self.settings
        model.apart, model.ledger = self._apart, Ledger()
        model.learners = []
        d = self.n_features
        for k, counts in enumerate(parts):
            own = table[:, k * (d + 1) : (k + 1) * (d + 1)]
            arrays: dict[str, Any] = {"n_classes": 2 if self._apart else self.n_classes}
            arrays |= {"weights": own[0, :d], "bias": own[0, d], "weight_sums": None, "bias_sums": None}
            if len(own) == 2:
                arrays |= {"weight_sums": own[1, :d], "bias_sums": own[1, d]}
            model.learners.append(Weights.from_arrays(arrays, self.settings, counts))
        return model

    def learn(self, shard: Shard, table: Table, standing: Standing, order: Any, epochs: int) -> Outcome:
        if not shard.n_rows:
            return Outcome(standing.parts, order, rows=0, converged=True, copies=0, seen=(0, 0))
        started = time.perf_counter()
        model = self.model(table, standing.parts)
        plan = Plan(epochs, self.order, generator_at(order))
        examples = shard.examples(plan, model)
        trainer = LinearTrainer(model, examples, plan)
        trainer.settled_at = {k: standing.parts[k]["updates"] for k in standing.settled}
        trainer.checked = standing.epoch > 0
        run = train(trainer, plan, judged=False)
        if run.interrupted:
            raise KeyboardInterrupt
        made, seen = len(run.history), trainer.digest
        return Outcome(
            tuple(learner.counts() for learner in model.learners),
            plan.rng.bit_generator.state,
            rows=examples.count,
            seconds=time.perf_counter() - started,
            heaviest=examples.heaviest,
            shuffled_in_blocks=examples.shuffled_in_blocks,
            epochs=made,
            converged=run.converged,
            weighted=examples.weighted,
            copies=examples.copies(made),
            seen=None if standing.epoch or seen is None else (seen.value, seen.count),
        )

    # -- verdict
    @property
    def counts_updates(self) -> bool:  # type: ignore[override]
        return self.settings.rule == "margin"

    def norm(self, table: Table, standing: Standing) -> float:
        return self.model(table, standing.parts).norm()

    def judge(self, table: Table, standing: Standing, run: Run, ask: Ask) -> None:
        def find(learner: Weights, part: int, **how: bool) -> Found:
            return smallest_of_all(ask("smallest", part, learner.bias, how), stop=how.get("stop", True))

        def tally(scorer: Scorer | None) -> Tally:
            return sum(ask("tally", scorer is not None), start=Tally())

        judge(self.model(table, standing.parts), run, find, tally)

    def smallest(
        self, shard: Shard, table: Table, standing: Standing, part: int, bias: Floats, how: dict[str, bool]
    ) -> Found:
        """The smallest weight·d of a shard's rows under learner `part` with another bias: see `training`."""
        if not shard.n_rows:
            return Found(np.inf, -1, False, np.inf)
        model = self.model(table, standing.parts)
        learner = model.learners[part]
        learner.bias[...] = bias
        learner.reset_norm()
        return smallest(model, shard.examples(Plan(), model), learner, part, **how)

    def tally(self, shard: Shard, table: Table, standing: Standing, count_errors: bool) -> Tally:
        """A shard's rows by class, and perhaps the errors of the weights that predict."""
        if not shard.n_rows:
            return Tally()
        model = self.model(table, standing.parts)
        return shard.examples(Plan(), model).tally(model.predictor() if count_errors else None)

    def square(self, part: Table, begin: int) -> float:
        """‖w‖² of the rows of the table from `begin` on; each bias is divided by its coordinate's size."""
        w = part[0]
        total = float(np.vdot(w, w))
        if self.settings.bias_square not in (0.0, 1.0):
            bias = w[np.arange(begin, begin + len(w)) % (self.n_features + 1) == self.n_features]
            total += float(np.vdot(bias, bias)) * (1 / self.settings.bias_square - 1)
        return total


def smallest_of_all(found: Sequence[Found], *, stop: bool) -> Found:
    """Combine what `smallest` found on each shard, as if it had visited the shards in sequence.

    With `stop`, up to the first shard that has a wrong row. The row's number is not kept.

    >>> each = [Found(2.0, 7, False, 2.0), Found(-1.0, 3, True, -1.0), Found(-5.0, 0, True, -5.0)]
    >>> smallest_of_all(each, stop=True)
    Found(value=-1.0, row=-1, wrong=True, least=-1.0)
    """
    least: Fraction | float = math.inf
    value, wrong = math.inf, False
    for one, _, erred, lower in found:
        value, wrong, least = min(value, one), wrong or erred, min(least, lower)
        if wrong and stop:
            break
    return Found(float(value), -1, wrong, least)
