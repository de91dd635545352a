"""Trials of the perceptron: in many orders, and on held-out rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.data.arrays import is_sparse
from novikoff.data.scaling import Scaling
from novikoff.data.sources.block import Block, Csr
from novikoff.data.sources.features import Features, NumberedFeatures
from novikoff.proof.clock import Clock
from novikoff.proof.problem import Problem
from novikoff.training.linear import fit
from novikoff.training.plan import Plan
from novikoff.training.run import Run
from novikoff.training.weights import Model, Settings

Counts = npt.NDArray[np.int64]

LEAST_ORDERS = 3  # orders that are tried regardless of the time limit
MOST_ROWS = 100_000  # the most rows used in the trials with held-out rows
EPOCHS = 5  # for every way in those trials
HELD_OUT = 0.25


@dataclass(frozen=True, eq=False)
class Orders:
    """Mistakes in each of several random orders of the rows."""

    rule: str
    mistakes: Counts
    epochs: Counts
    converged: npt.NDArray[np.bool_]
    one_pass: bool  # one epoch each, because training would not converge

    @property
    def quartiles(self) -> tuple[float, float, float]:
        low, middle, high = np.percentile(self.mistakes, [25, 50, 75]).tolist()
        return low, middle, high

    def to_dict(self) -> dict[str, Any]:
        low, middle, high = self.quartiles
        return {
            "rule": self.rule,
            "orders": len(self.mistakes),
            "passes": "one" if self.one_pass else "until no mistake is made",
            "converged": int(self.converged.sum()),
            "least": int(self.mistakes.min()),
            "quartiles": [low, middle, high],
            "most": int(self.mistakes.max()),
            "mistakes": self.mistakes.tolist(),
            "epochs": self.epochs.tolist(),
        }


def run(
    problem: Problem, rule: str, ties: str, *, max_epochs: int, order: str, seed: int, clock: Clock
) -> tuple[Model, Run]:
    """One fit, which ends early at the time limit; its weights are for `problem.lifted()`."""
    problem = problem.lifted()
    settings = Settings(rule=rule, ties=ties, bias_square=problem.bias**2)
    plan = Plan(
        max_epochs=max_epochs,
        order=order,
        rng=np.random.default_rng(seed),
        callback=lambda _: clock.left <= 0,
    )
    model, made = fit(problem.X, problem.labels, problem.n_classes, settings, plan, weights=problem.weights)
    if made.interrupted:
        raise KeyboardInterrupt
    return model, made


def in_orders(
    problem: Problem,
    rules: tuple[str, ...],
    ties: str,
    *,
    n_orders: int,
    max_epochs: int,
    seed: int,
    clock: Clock,
) -> Iterator[list[Orders]]:
    """Try the rules on the same random orders, until `n_orders` or the time limit is reached.

    Yields the results after every order. A rule is dropped when its weights would overflow.
    """
    made: dict[str, list[tuple[int, int, bool]]] = {rule: [] for rule in rules}
    for k in range(n_orders):
        if k >= LEAST_ORDERS and clock.left <= 0:
            return
        for rule in rules:
            try:
                model, ran = run(
                    problem, rule, ties, max_epochs=max_epochs, order="shuffle", seed=seed + k, clock=clock
                )
            except OverflowError:
                rules = tuple(r for r in rules if r != rule)
                continue
            made[rule].append((model.total("mistakes"), len(ran.history), ran.converged))
        yield [
            Orders(
                rule,
                np.array([m for m, _, _ in tried], dtype=np.int64),
                np.array([e for _, e, _ in tried], dtype=np.int64),
                np.array([c for _, _, c in tried]),
                max_epochs == 1,
            )
            for rule, tried in made.items()
            if tried
        ]


# ---- rows held out -----------------------------------------------------------------------------------
@dataclass(frozen=True)
class Way:
    """A way to learn, as parameters of an estimator."""

    rule: str = "perceptron"
    average: bool = False
    scale: str | None = None

    def __str__(self) -> str:
        parts = [self.rule] + ["averaged"] * self.average + ([f"scale {self.scale}"] if self.scale else [])
        return ", ".join(parts)


@dataclass(frozen=True)
class Trial:
    """Errors of a way on held-out rows."""

    way: Way
    errors: int
    rows: int

    @property
    def rate(self) -> float:
        return self.errors / self.rows

    @property
    def doubt(self) -> float:
        """The standard error of the rate."""
        p = (self.errors + 1) / (self.rows + 2)
        return float(np.sqrt(p * (1 - p) / self.rows))

    def to_dict(self) -> dict[str, Any]:
        return vars(self.way) | {"errors": self.errors, "rows": self.rows, "rate": self.rate}


WAYS = (
    Way(),
    Way(average=True),
    Way("normalized", average=True),
    Way("pa1", average=True),
    Way(average=True, scale="maxabs"),
    Way(average=True, scale="standard"),
)


def held_out(
    problem: Problem, ties: str, *, seed: int, clock: Clock, features: Features | None = None
) -> Iterator[Trial]:
    """Try each way on three quarters of the rows, and count its errors on the others.

    If there are more than `MOST_ROWS` rows, a random sample of that size is used. A way is left out if its
    weights, or the squares in its scaling, would overflow.
    """
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(problem.n_rows)[:MOST_ROWS]
    cut = int(len(chosen) * HELD_OUT)
    rest, held = np.sort(chosen[cut:]), np.sort(chosen[:cut])
    if not cut or len(np.unique(problem.labels[rest])) < problem.n_classes:
        return
    learned, judged = problem.some(rest), problem.some(held)
    for way in WAYS:
        if clock.left <= 0:
            return
        try:
            a, b = _scaled(way.scale, learned.X, judged.X, features)
        except ValueError:  # sums of squares overflow
            continue
        a, b = replace(learned, X=a).lifted(), replace(judged, X=b).lifted()
        settings = Settings(rule=way.rule, ties=ties, bias_square=a.bias**2, average=way.average)
        plan = Plan(max_epochs=EPOCHS, rng=np.random.default_rng(seed), callback=lambda _: clock.left <= 0)
        try:
            model, made = fit(a.X, a.labels, a.n_classes, settings, plan, weights=a.weights)
        except OverflowError:
            continue
        if made.interrupted:
            raise KeyboardInterrupt
        predicted = model.scorer(averaged=way.average).predict(b.X, -1)
        yield Trial(way, int(np.count_nonzero(predicted != judged.labels)), len(held))


def _scaled(kind: str | None, learned: Any, judged: Any, features: Features | None) -> tuple[Any, Any]:
    if kind is None:
        return learned, judged
    features = features or NumberedFeatures(learned.shape[1], fixed=True)
    a, b = _as_block(learned), _as_block(judged)
    scaling = Scaling.measure(kind, [Block(a, None, None, 0, str)], features)
    return scaling.transform(a), scaling.transform(b)


def _as_block(X: Any) -> Any:
    return Csr(X.data, X.indices, X.indptr, X.shape) if is_sparse(X) else X
