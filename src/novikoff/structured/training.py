"""Training of a structured perceptron on examples, and its verdict. No scikit-learn.

The update (Collins 2002). ŷ = decode(x, w); where ŷ ≠ y,

    w ← w + Φ(x, y) − Φ(x, ŷ).

Write Δ for such a difference. At every update w·Δ ≤ 0, because the decoder preferred ŷ. If some unit vector u
has u·(Φ(x, y) − Φ(x, z)) ≥ γ > 0 for every example and every z ≠ y, then after k updates kγ ≤ u·w ≤ ‖w‖ ≤
√k·R, where R is the largest ‖Δ‖ *of the updates made*: updates ≤ R²/γ², however many outputs there are. With
cost-augmented decoding w·Δ ≤ loss(y, ŷ), so updates ≤ (R² + 2·max loss)/γ², with the losses of the updates
made.

The proof needs w·Δ ≤ loss at every update, not an exact decoder (Huang et al. 2012). This is checked at every
update: those where it fails are counted as invalid, and the bound is then not claimed.

The verdict. "separated": w·(Φ(x, y) − Φ(x, z)) > 0 for every z ≠ y. A decoder that returns y shows only ≥ 0,
so there is a further test:

- A problem with `runner_up` gives the best z ≠ y of every example, and the smallest gap, computed exactly,
  gives the margin.
- Otherwise every example is decoded twice more, under M·w + v and M·w − v, for a random v. If some z ties
  with y under w, y wins both times only if v·Φ(x, z) = v·Φ(x, y): for whole-number v of 24 bits this has a
  probability below 2⁻²⁴ unless Φ(x, z) = Φ(x, y), and two draws are made. If all features that were seen are
  whole numbers, the gap is then at least 1, and the margin at least 1/‖w‖.

If another output ties with y, training continues on a copy with ties as mistakes. w·Δ ≤ 0 at these updates,
too, so strict weights, if there are any, are reached within R²/γ² updates in all. They are the witness; the
model keeps the weights with which an epoch passed without an update.

With an inexact decoder the verdict after an epoch without updates is "consistent", and no more is claimed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from novikoff.outward import margin_down
from novikoff.structured.problem import Structure, Violation
from novikoff.structured.weights import StructuredWeights, weights_for
from novikoff.training.held_out import hold_out
from novikoff.training.loop import EarlyStoppingTrainer, Epoch, Trainer, WorstFirstTrainer, train
from novikoff.training.plan import Plan
from novikoff.training.riffle import Order
from novikoff.training.run import Run
from novikoff.training.tally import Score

FACTORS = (2.0**20, 2.0**27)  # M: the scale of w relative to v, from a coarse test to a fine one
ROUNDING = 2.0**-40  # w·Δ above this share of Σ|w·Δ| cannot come from rounding


class StructuredTrainer(WorstFirstTrainer, EarlyStoppingTrainer):
    """Trains the weights of a structured perceptron on its examples."""

    def __init__(
        self,
        state: StructuredWeights,
        structure: Structure,
        X: Any,
        Y: Any,
        n: int,
        plan: Plan,
        *,
        average: bool,
    ) -> None:
        self.state, self.structure, self.plan, self.average = state, structure, plan, average
        self.X, self.Y = X, Y
        self.rows: Order = np.arange(n, dtype=np.int64)
        self.held_out: Order | None = None
        self.witness: StructuredWeights | None = None  # strict weights, if they were found
        self.holds_out = plan.early_stopping
        if self.holds_out:
            self.rows, self.held_out = hold_out(
                [self.rows], plan.validation_fraction, plan.rng, "of the examples"
            )

    # -- epochs
    def epoch(self) -> Epoch:
        state, structure = self.state, self.structure
        before = state.mistakes, state.updates
        for i in self._order():
            found = structure.violation(self.X[i], state.weights, self.Y[i], i)
            if found is not None:
                self._learn(i, found)
            state.visits += 1
        return self._counted(state.updates == before[1], before)

    def _counted(self, converged: bool, before: tuple[int, int]) -> Epoch:
        state = self.state
        counts = {"mistakes": state.mistakes - before[0], "updates": state.updates - before[1]}
        return Epoch(converged, counts | {"norm": state.norm()})

    def snapshot(self) -> StructuredWeights:
        return self.state.copy()

    def restore(self, snapshot: StructuredWeights) -> None:
        self.state.restore(snapshot)

    def finish(self, run: Run) -> None:
        run.n_rows = len(self.rows)

    def _order(self) -> list[int]:
        drawn = self.plan.drawn_order(len(self.rows))
        order: list[int] = (self.rows if drawn is None else self.rows[drawn]).tolist()
        return order

    def worst(self) -> Epoch:
        """Learn from the most violated example: least w·Δ − loss, correctly rounded; the first in a tie."""
        state, structure = self.state, self.structure
        before = state.mistakes, state.updates
        for _ in range(len(self.rows)):
            worst: tuple[float, int, Violation] | None = None
            for i in self.rows.tolist():
                found = structure.violation(self.X[i], state.weights, self.Y[i], i)
                if found is not None:
                    depth = state.score(self.difference(i, found.good, found.bad)) - found.loss
                    if worst is None or depth < worst[0]:
                        worst = depth, i, found
            if worst is None:
                return self._counted(True, before)
            self._learn(worst[1], worst[2])
            state.visits += 1
        return self._counted(False, before)

    def difference(self, i: int, good: Any, bad: Any) -> tuple[Any, Any]:
        """Δ = Φ(x, good) − Φ(x, bad) of example i."""
        x, where = self.X[i], f"x[{i}], y[{i}]"
        features = self.structure.features(x, good, where), self.structure.features(x, bad, f"x[{i}], z")
        return self.state.difference(*features, where)  # type: ignore[no-any-return]

    def _learn(self, i: int, found: Violation) -> None:
        state, delta = self.state, self.difference(i, found.good, found.bad)
        held = state.values_at(delta[0])
        with np.errstate(over="ignore", invalid="ignore"):
            above = float(np.dot(held, delta[1])) - found.loss
            invalid = above > ROUNDING * float(np.dot(np.abs(held), np.abs(delta[1])))
        state.update(delta, found.loss, f"x[{i}], z")
        state.invalid += invalid
        state.mistakes += found.mistake

    # -- verdict
    def held_out_score(self) -> float:
        assert self.held_out is not None
        w = self.state.averaged() if self.average else self.state.weights
        return score(self.structure, w, self.X, self.Y, self.held_out)

    def _is_wrong(self, i: int, w: Any) -> bool:
        """Whether the best output of example i under these weights is not its own."""
        return not self.structure.same(self.Y[i], self.structure.decode(self.X[i], w), i)

    def judge(self, run: Run) -> None:
        """Test every example under the last weights, and under those that predict."""
        structure, state, w = self.structure, self.state, self.state.weights
        rows = self.rows.tolist()
        wrong = sum(self._is_wrong(i, w) for i in rows)
        run.consistent = wrong == 0
        if self.average:
            w = state.averaged()
            wrong = sum(self._is_wrong(i, w) for i in rows)
        run.training_errors, run.score = wrong, Score(wrong, len(rows)) if rows else None
        if self.held_out is not None:
            w = state.averaged() if self.average else state.weights
            held = self.held_out.tolist()
            run.held_out = Score(sum(self._is_wrong(i, w) for i in held), len(held))
        if not run.consistent:
            return
        if not structure.exact or state.invalid:
            run.verdict = "consistent"
            return
        strict = StrictTrainer(self)
        search = train(strict, Plan(self.plan.max_epochs, "cyclic"), judged=False)
        if search.interrupted:
            raise KeyboardInterrupt
        if search.converged and strict.gap > 0:
            self._separated(run, strict.state, strict.gap)

    def _separated(self, run: Run, strict: StructuredWeights, gap: float) -> None:
        """Record strict weights, and their margin from the smallest gap between outputs."""
        run.verdict, self.witness = "separated", strict
        low, high = strict.square()
        if self.structure.runner_up is None:
            gap = 1.0 if strict.whole else math.nan
        elif not strict.whole:
            gap = math.nextafter(gap, 0.0)  # the gap was rounded to nearest
        if not high:
            run.margin = math.inf  # w = 0: there are no other outputs
        else:
            run.margin = math.nan if math.isnan(gap) else margin_down(gap, low, high)[0]


class StrictTrainer(Trainer):
    """Continues a run with ties as mistakes, until every right output scores above all others.

    It trains a copy, so the weights of the run do not change.
    """

    def __init__(self, run: StructuredTrainer) -> None:
        self.run, self.state = run, run.state
        self.gap = math.inf  # the smallest gap between a right output and another, in the last epoch
        self.perturbed: dict[tuple[float, int], Any] = {}  # perturbed versions of the current weights

    def epoch(self) -> Epoch:
        before, self.gap = self.state.updates, math.inf
        for i in self.run.rows.tolist():
            rival = self._rival(i)
            if rival is None:
                continue
            delta = self.run.difference(i, self.run.Y[i], rival)
            depth = self.state.score(delta)
            self.gap = min(self.gap, depth)
            if depth <= 0 and len(delta[1]):
                if self.state is self.run.state:
                    self.state = self.state.copy()
                self.state.update(delta, 0.0, f"x[{i}], z")
                self.perturbed.clear()
        made = self.state.updates - before
        return Epoch(not made, {"mistakes": made, "updates": made})

    def judge(self, run: Run) -> None:
        """Nothing to do: the gap of the last epoch suffices."""

    def _rival(self, i: int) -> Any:
        """The best output other than y if the problem can find it, else one that is not strictly worse.

        None if there is no such output.
        """
        structure, x, y = self.run.structure, self.run.X[i], self.run.Y[i]
        if structure.runner_up is not None:
            return structure.runner_up(x, self.state.weights, y)
        rival = structure.decode(x, self.state.weights)
        if not structure.same(y, rival, i):
            return rival
        for factor in FACTORS:
            found = (structure.decode(x, self._perturbed(factor, seed)) for seed in (1, -1, 2, -2))
            rival = next((z for z in found if not structure.same(y, z, i)), None)
            if rival is None:
                return None
        return rival  # possibly worse, but by less than the perturbation

    def _perturbed(self, factor: float, seed: int) -> Any:
        if (factor, seed) not in self.perturbed:
            self.perturbed[factor, seed] = self.state.perturbed(factor, seed)
        return self.perturbed[factor, seed]


def begin(structure: Structure, X: Any, Y: Any, n: int) -> StructuredWeights:
    """Check all outputs, and make weights for features in the form of the first example."""
    for i in range(n):
        structure.check(X[i], Y[i], i)
    return weights_for(structure.features(X[0], Y[0], "x[0], y[0]"))


def resume(earlier: StructuredWeights, structure: Structure, X: Any, Y: Any, n: int) -> StructuredWeights:
    """Check all outputs, and copy the weights for further training on these examples."""
    if type(begin(structure, X, Y, n)) is not type(earlier):
        raise TypeError("features(x, y) do not have the form of the training features: fit a clone.")
    return earlier.copy()


def score(structure: Structure, w: Any, X: Any, Y: Any, rows: Any) -> float:
    """The share of right parts in all outputs."""
    right = of = 0.0
    for i in np.asarray(rows).tolist():
        r, n = structure.agreement(Y[i], structure.decode(X[i], w), i)
        right, of = right + r, of + n
    return right / of if of else 1.0
