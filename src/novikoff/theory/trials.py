"""Trials of the perceptron in many random orders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.outward import count_text
from novikoff.proof.clock import Clock
from novikoff.proof.problem import Problem
from novikoff.shown import Shown
from novikoff.training.linear import fit
from novikoff.training.plan import Plan
from novikoff.training.run import Run
from novikoff.training.weights import Model, Settings

Counts = npt.NDArray[np.int64]

LEAST_ORDERS = 3  # orders that are tried regardless of the time limit


@dataclass(frozen=True, eq=False, repr=False)
class Orders(Shown):
    """Mistakes in each of several random orders of the rows (each epoch is a riffle of its own)."""

    rule: str
    mistakes: Counts
    epochs: Counts
    converged: npt.NDArray[np.bool_]
    one_pass: bool  # one epoch each, because training would not converge

    @property
    def quartiles(self) -> tuple[float, float, float]:
        low, middle, high = np.percentile(self.mistakes, [25, 50, 75]).tolist()
        return low, middle, high

    def __str__(self) -> str:
        least, most = f"{self.mistakes.min():,}", f"{self.mistakes.max():,}"
        return (
            f"{self.rule}: {least} to {most} mistakes, median {count_text(self.quartiles[1])}, in "
            f"{len(self.mistakes):,} random order(s){', one pass each' if self.one_pass else ''}"
        )

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
                    problem, rule, ties, max_epochs=max_epochs, order="riffle", seed=seed + k, clock=clock
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
