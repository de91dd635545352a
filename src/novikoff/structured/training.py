"""The driver of structured perceptrons: epochs, order, stopping, history, the verdict. No scikit-learn.

The update (Collins 2002). ŷ = decode(x, w); where ŷ ≠ y,

    w ← w + Φ(x, y) − Φ(x, ŷ).

Write Δ for such a difference. At every update w·Δ ≤ 0, for the decoder preferred ŷ; and if some unit vector u
has u·(Φ(x, y) − Φ(x, z)) ≥ γ > 0 for every example and every z ≠ y, then after k updates kγ ≤ u·w ≤ ‖w‖ ≤
√k·R, where R is the largest ‖Δ‖ *of the updates made*: updates ≤ R²/γ², however many outputs there are. With
cost-augmented decoding w·Δ ≤ loss(y, ŷ), so that updates ≤ (R² + 2·max loss)/γ², the losses being those of
the updates made.

What the proof needs is w·Δ ≤ loss at every update, not that the decoder be exact (Huang et al. 2012). This is
checked at every update: those where it fails are counted as invalid, and the bound is then not claimed.

The verdict. "separated": w·(Φ(x, y) − Φ(x, z)) > 0 for every z ≠ y. A decoder that returns y shows only ≥ 0,
so

- a problem with `runner_up` is asked for the best z ≠ y of every example, and the smallest gap, computed
  exactly, gives the margin;
- otherwise every example is decoded twice more, under M·w + v and M·w − v, for a random v. Any z that ties
  with y under w would have to have v·Φ(x, z) = v·Φ(x, y) for y to win both times: for whole-number v of 24
  bits that has a chance of less than 2⁻²⁴ unless Φ(x, z) = Φ(x, y), and two draws are made. Where all
  features that were seen are whole numbers, the gap is then at least 1, and the margin at least 1/‖w‖.

Where another output scores as much as y, the run is carried on, on a copy, with ties as mistakes: w·Δ ≤ 0 at
each of these updates too, so that strict weights are reached within R²/γ² updates in all if there are any.
They are the witness; the model stays what it was when an epoch had passed without an update.

With an inexact decoder an epoch without updates is "consistent", and no more is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.outward import UNIT, at_least, at_most, margin_down
from novikoff.structured.problem import Structure, Violation
from novikoff.structured.weights import Learner, learner_for
from novikoff.training import loop
from novikoff.training.examples import Order
from novikoff.training.held_out import hold_out
from novikoff.training.plan import Plan
from novikoff.training.report import Figures, Report, report_of
from novikoff.training.run import Run

SHAKES = (2.0**20, 2.0**27)  # M: how much of w beside v, from a rough look to a close one
INVALID = "some updates were by outputs that scored less than the right one, and the theorem needs none"
PARTS = "γ being that of the parts of outputs as well"
ROUNDING = 2.0**-40  # w·Δ above this share of Σ|w·Δ| is no matter of rounding


class Fitting(loop.Learner):
    """Weights of a structure under training, and the examples."""

    def __init__(
        self, learner: Learner, structure: Structure, X: Any, Y: Any, n: int, plan: Plan, *, average: bool
    ) -> None:
        self.learner, self.structure, self.plan, self.average = learner, structure, plan, average
        self.X, self.Y, self.n = X, Y, n
        self.rows: Order = np.arange(n, dtype=np.int64)
        self.held_out: Order | None = None
        self.shaken: dict[tuple[float, int], Any] = {}  # weights that were shaken
        self.witness: Learner | None = None  # strict weights, where some were found
        if plan.early_stopping:
            self.rows, self.held_out = hold_out(
                [self.rows], plan.validation_fraction, plan.rng, "of the examples"
            )
            self.holds_out = True

    # -- epochs
    def epoch(self) -> loop.Epoch:
        before = self.learner.mistakes, self.learner.updates
        for i in self._visits():
            self.visit(i)
        return self._counted(self.learner.updates == before[1], before)

    def _counted(self, converged: bool, before: tuple[int, int]) -> loop.Epoch:
        learner = self.learner
        counts = {"mistakes": learner.mistakes - before[0], "updates": learner.updates - before[1]}
        return loop.Epoch(converged, counts | {"norm": learner.norm()})

    def snapshot(self) -> Learner:
        return self.learner.copy()

    def restore(self, snapshot: Learner) -> None:
        self.learner.restore(snapshot)

    def finish(self, run: Run) -> None:
        run.n_rows = len(self.rows)

    def _visits(self) -> Iterator[int]:
        rows, rng = self.rows, self.plan.rng
        if self.plan.order == "shuffle":
            every = len(rows) == self.n
            rows = rng.permutation(len(rows)) if every else rng.permutation(rows)
        return iter(rows.tolist())

    def worst(self) -> loop.Epoch:
        """The most violated has the least w·Δ less the loss, correctly rounded; of equals, the first."""
        learner, structure = self.learner, self.structure
        before = learner.mistakes, learner.updates
        for _ in range(len(self.rows)):
            worst: tuple[float, int, Violation] | None = None
            for i in self.rows.tolist():
                found = structure.violation(self.X[i], learner.weights, self.Y[i], i)
                if found is not None:
                    depth = learner.score(self._delta(i, found)) - found.loss
                    if worst is None or depth < worst[0]:
                        worst = depth, i, found
            if worst is None:
                return self._counted(True, before)
            self._learn(worst[1], worst[2])
            learner.visits += 1
        return self._counted(False, before)

    # -- one visit
    def visit(self, i: int) -> None:
        """Decode example i, and learn from it where it is wrong."""
        found = self.structure.violation(self.X[i], self.learner.weights, self.Y[i], i)
        if found is not None:
            self._learn(i, found)
        self.learner.visits += 1

    def _delta(self, i: int, found: Violation) -> tuple[Any, Any]:
        x, where = self.X[i], f"x[{i}], y[{i}]"
        good = self.structure.features(x, found.good, where)
        bad = self.structure.features(x, found.bad, f"x[{i}], z")
        return self.learner.difference(good, bad, where)  # type: ignore[no-any-return]

    def _learn(self, i: int, found: Violation) -> None:
        learner, delta = self.learner, self._delta(i, found)
        held = learner.values_at(delta[0])
        with np.errstate(over="ignore", invalid="ignore"):
            above = float(np.dot(held, delta[1])) - found.loss
            invalid = above > ROUNDING * float(np.dot(np.abs(held), np.abs(delta[1])))
        learner.update(delta, found.loss, f"x[{i}], z")
        learner.invalid += invalid
        learner.mistakes += found.mistake

    # -- what came of it
    def predictor(self) -> Any:
        """The weights that predict."""
        return self.learner.averaged() if self.average else self.learner.weights

    def held_out_score(self) -> float:
        assert self.held_out is not None
        return score(self.structure, self.predictor(), self.X, self.Y, self.held_out)

    def judge(self, run: Run) -> None:
        """Look at every example under the last weights, up to the first that is wrong."""
        structure, learner, w = self.structure, self.learner, self.learner.weights
        rows = self.rows.tolist()
        run.consistent = all(structure.same(self.Y[i], structure.decode(self.X[i], w), i) for i in rows)
        if self.average:
            w = learner.averaged()
            wrong = (not structure.same(self.Y[i], structure.decode(self.X[i], w), i) for i in rows)
            run.training_errors = sum(wrong)
        elif run.consistent:
            run.training_errors = 0
        if not run.consistent:
            return
        if not structure.exact or learner.invalid:
            run.verdict = "consistent"
            return
        gap, strict = self._carried_on()
        if gap > 0:
            run.verdict, self.witness = "separated", strict
            low, high = strict.square()
            if structure.runner_up is None:
                gap = 1.0 if strict.whole else math.nan
            elif not strict.whole:
                gap = math.nextafter(gap, 0.0)  # it was rounded to nearest
            if not high:
                run.margin = math.inf  # w = 0: there are no other outputs
            else:
                run.margin = math.nan if math.isnan(gap) else margin_down(gap, low, high)[0]

    def _carried_on(self) -> tuple[float, Learner]:
        """The smallest gap, and its weights: the last, carried on with ties as mistakes until it is > 0."""
        learner = self.learner
        for _ in range(self.plan.max_epochs):
            before, gap = learner.updates, math.inf
            for i in self.rows.tolist():
                rival = self._rival(learner, i)
                if rival is None:
                    continue
                delta = self._delta(i, Violation(self.Y[i], rival, 0.0, False))
                depth = learner.score(delta)
                gap = min(gap, depth)
                if depth <= 0 and len(delta[1]):
                    learner = learner.copy() if learner is self.learner else learner
                    learner.update(delta, 0.0, f"x[{i}], z")
                    self.shaken.clear()
            if learner.updates == before:
                return gap, learner
        return 0.0, learner

    def _rival(self, learner: Learner, i: int) -> Any:
        """The best output other than y where the problem can tell, else one that is not strictly worse.

        None where there is no such output.
        """
        structure, x, y = self.structure, self.X[i], self.Y[i]
        if structure.runner_up is not None:
            return structure.runner_up(x, learner.weights, y)
        rival = structure.decode(x, learner.weights)
        if not structure.same(y, rival, i):
            return rival
        for factor in SHAKES:
            found = (structure.decode(x, self._shaken(learner, factor, seed)) for seed in (1, -1, 2, -2))
            rival = next((z for z in found if not structure.same(y, z, i)), None)
            if rival is None:
                return None
        return rival  # worse, perhaps, but by less than what was shaken

    def _shaken(self, learner: Learner, factor: float, seed: int) -> Any:
        if (factor, seed) not in self.shaken:
            self.shaken[factor, seed] = learner.shaken(factor, seed)
        return self.shaken[factor, seed]


def begin(structure: Structure, X: Any, Y: Any, n: int) -> Learner:
    """Check all outputs, and make a learner for features such as the first example has."""
    for i in range(n):
        structure.check(X[i], Y[i], i)
    return learner_for(structure.features(X[0], Y[0], "x[0], y[0]"))


def fit(
    structure: Structure, X: Any, Y: Any, n: int, plan: Plan, *, average: bool = False
) -> tuple[Learner, Run, Learner | None]:
    """Learn from n examples until an epoch passes without an update, or the plan ends it.

    Returns the learner, the run, and a learner with strict weights where some were found.
    """
    learner = begin(structure, X, Y, n)
    fitting = Fitting(learner, structure, X, Y, n, plan, average=average)
    return learner, loop.train(fitting, plan), fitting.witness


def learn(
    earlier: Learner | None, structure: Structure, X: Any, Y: Any, n: int, *, average: bool = False
) -> tuple[Learner, Run]:
    """One pass over the examples, in their order, going on from a copy of `earlier`."""
    fresh = begin(structure, X, Y, n)
    learner = fresh if earlier is None else earlier.copy()
    if type(fresh) is not type(learner):
        raise TypeError("features(x, y) are not of the form that was learned from: fit a clone.")
    plan = Plan(1, "cyclic")
    fitting = Fitting(learner, structure, X, Y, n, plan, average=average)
    return learner, loop.train(fitting, plan, Run(as_given=True), judged=False)


def score(structure: Structure, w: Any, X: Any, Y: Any, rows: Any) -> float:
    """The share of right parts of the outputs."""
    right = of = 0.0
    for i in np.asarray(rows).tolist():
        r, n = structure.agreement(Y[i], structure.decode(X[i], w), i)
        right, of = right + r, of + n
    return right / of if of else 1.0


def summarize(
    learner: Learner, run: Run, name: str, order: str, *, cost_augmented: bool, in_parts: bool = False
) -> Report:
    """What there is to say about a run; `in_parts`: it was learned from parts of outputs too.

    Then every Δ is a difference of such parts, and so the theorem is one about a u that separates these.
    Where some updates were cost-augmented the theorem is that of such updates, whatever the last ones were.
    """
    cost_augmented = cost_augmented or learner.largest_loss > 0
    top = Fraction(learner.radius) ** 2 + 2 * Fraction(learner.largest_loss)
    upper = learner.margin_upper
    margin = run.margin if run.verdict == "separated" else 0.0
    low = at_least(top * (1 - 4 * UNIT), upper)  # R is rounded up
    figures = Figures(
        rule="cost-augmented" if cost_augmented else "structured",
        n_features=learner.n_features,
        n_classes=None,
        mistakes=learner.mistakes,
        updates=learner.updates,
        radius=learner.radius,
        margin_upper=upper,
        bound="(R² + 2·max loss)/γ²" if cost_augmented else "R²/γ²",
        bound_lower=0.0 if learner.invalid else low,
        bound_upper=at_most(top, margin) if not learner.invalid else math.inf,
        what="examples",
        assumed=PARTS if in_parts else "",
        missing=INVALID if learner.invalid else "",
    )
    return report_of(run, figures, name, order)
