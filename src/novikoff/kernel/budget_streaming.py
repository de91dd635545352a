"""Kernel perceptrons with a budget, learned from a source: block by block, however long it is.

The result is that of `order="cyclic"` on the same rows in memory, bit for bit, however the source is cut into
blocks. Classes and columns may grow while it learns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novikoff.data.arrays import is_sparse, read_matrix
from novikoff.data.labels import Ints, StreamClasses, UnseenClass
from novikoff.data.scaling import Scaling
from novikoff.data.sources.block import Block, by_name
from novikoff.data.sources.progress import Watch
from novikoff.data.sources.source import Source
from novikoff.kernel import budget_training as budgettraining
from novikoff.kernel.budget import BudgetLearner
from novikoff.kernel.kernels import Spread
from novikoff.kernel.settings import KernelSettings
from novikoff.training import loop
from novikoff.training.examples import Visit
from novikoff.training.plan import Plan
from novikoff.training.run import Run
from novikoff.training.streaming import SourceExamples, check_one_pass


@dataclass
class Learned:
    """What came of a fit."""

    learner: BudgetLearner
    scaling: Scaling | None
    run: Run


def fit(
    source: Source,
    classes: StreamClasses,
    settings: KernelSettings,
    plan: Plan,
    *,
    scale: str | None = None,
    watch: Watch | None = None,
) -> Learned:
    """Learn from a source until an epoch passes without an update, or the plan ends it."""
    examples = SourceExamples(source, classes, watch=watch)
    settings = _after_a_look(examples, settings, plan, scale)
    growing = _Growing(examples, settings, plan)
    try:
        run = loop.train(growing, plan)
    except UnseenClass:
        classes.check_two(source.name)  # there is but one
        raise
    if growing.n_classes == 2:
        growing.learner.joint = False  # as for two classes that were known before
    return Learned(growing.learner, examples.scaling, run)


def _after_a_look(
    examples: SourceExamples, settings: KernelSettings, plan: Plan, scale: str | None
) -> KernelSettings:
    """Find the classes, what scales the columns, and gamma, as far as only a pass over all rows tells."""
    measured = scale in ("standard", "maxabs")
    by_rows = settings.gamma_by_rows
    if not examples.can_repeat:
        check_one_pass(examples, plan, measured, {f"gamma={settings.gamma!r} (give a number)": by_rows})
    examples.scaling = Scaling("unit") if scale == "unit" else None
    spread = Spread()

    def noted(blocks: Iterable[Block]) -> Iterator[Block]:
        for block in blocks:
            with by_name(block.where, examples.source.features):
                spread.add(block.X if examples.scaling is None else examples.scaling.transform(block.X))
            yield block

    found = examples.classes.declared is not None or examples.classes.grows
    if measured:
        examples.survey(scale, balanced=False)
        if by_rows:
            for _ in noted(examples.watched("first look")):
                pass
    elif by_rows or not found:
        blocks = examples.watched("first look")
        examples.survey(None, balanced=False, blocks=noted(blocks) if by_rows else blocks)
    if not by_rows:
        return settings
    return replace(settings, gamma=spread.gamma(str(settings.gamma), examples.source.features.n_columns))


class _Growing(loop.Learner):
    """A learner under training on a source: begun with the first rows, and then it may grow."""

    def __init__(self, examples: SourceExamples, settings: KernelSettings, plan: Plan) -> None:
        self.examples, self.settings, self.plan = examples, settings, plan
        self.begun: BudgetLearner | None = None
        self.n_classes = max(examples.classes.n_classes, 2)

    def epoch(self) -> loop.Epoch:
        mistakes, updates = self.total("mistakes"), self.total("updates")
        for visit in self.examples.epoch(self):
            self.learn(visit)
        return budgettraining.epoch_of(self.learner, mistakes, updates)

    def finish(self, run: Run) -> None:
        classes = self.examples.classes
        if not run.interrupted:
            classes.check_two(self.examples.source.name)
        elif self.begun is None or classes.n_classes < 2:
            raise KeyboardInterrupt  # nothing has been learned yet
        run.n_rows = self.examples.count

    def judge(self, run: Run) -> None:
        if self.examples.can_repeat:
            rows = (self.taken(visit) for visit in self.examples.each())
            budgettraining.judge(self.learner, rows, run, self.plan.n_jobs)

    @property
    def learner(self) -> BudgetLearner:
        assert self.begun is not None
        return self.begun

    def total(self, count: str) -> int:
        return 0 if self.begun is None else int(getattr(self.begun, f"n_{count}"))

    def widen(self, n_features: int) -> None:
        """Columns are added where rows are checked."""

    resize = widen

    def grow(self, n_classes: int) -> None:
        if self.begun is not None:
            for _ in range(n_classes - self.n_classes):
                self.begun.add_class()
        self.n_classes = n_classes

    def turn(self) -> None:
        self.learner.turn()

    def taken(self, visit: Visit) -> tuple[Any, Ints]:
        """Rows as wide as the learner, and their labels; all that the learner cannot take is refused here."""
        source = self.examples.source
        if visit.weights is not None:
            raise ValueError(f"{source.name}: the rows have weights, which kernel models cannot learn with.")
        X = read_matrix(visit.X)
        if is_sparse(X):
            X = type(X)((X.data, X.indices, X.indptr), shape=(X.shape[0], source.features.n_columns))
        if self.begun is None:
            wide = not self.examples.surveyed and is_sparse(X)  # columns may come that are not known yet
            self.begun = self.settings.begin_budget(
                X, self.n_classes, self.plan.rng, sparse=wide or None, grows=self.examples.classes.grows
            )
        with by_name(visit.where or str, source.features):
            X = self.begun.checked(X)
        rows = slice(visit.begin, visit.end)
        return X[rows], np.ascontiguousarray(visit.labels[rows])

    def learn(self, visit: Visit) -> None:
        X, labels = self.taken(visit)
        self.learner.n_rows = self.examples.visited  # in this epoch: what a support's number counts
        self.learner.visit_rows(X, labels)
