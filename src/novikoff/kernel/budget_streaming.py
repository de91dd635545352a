"""Kernel perceptrons with a budget that learn from a source of any length, block by block.

The result equals that of `order="cyclic"` on the same rows in memory, bit for bit, for every division of the
source into blocks. Classes and columns may be added during learning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from novikoff.data.arrays import is_sparse, read_matrix
from novikoff.data.labels import Ints, StreamClasses, UnseenClass
from novikoff.data.scaling import Scaling
from novikoff.data.sources.block import Block, by_name
from novikoff.data.sources.progress import Watch
from novikoff.data.sources.source import Source
from novikoff.kernel.budget import BudgetModel
from novikoff.kernel.budget_training import epoch_of, judge
from novikoff.kernel.kernels import Spread
from novikoff.kernel.settings import KernelSettings
from novikoff.training.examples import Batch
from novikoff.training.loop import Epoch, Trainer
from novikoff.training.plan import Plan
from novikoff.training.run import Run
from novikoff.training.streaming import SourceExamples, check_one_pass


def trainer_of(
    source: Source,
    classes: StreamClasses,
    settings: KernelSettings,
    plan: Plan,
    *,
    scale: str | None = None,
    watch: Watch | None = None,
    start: tuple[BudgetModel, Scaling | None] | None = None,
) -> BudgetStreamTrainer:
    """The trainer for a source and a `plan`, after a first pass if one is needed.

    `start`: a model with these settings, and its scaling, to go on from; its classes are all there are.
    """
    examples = SourceExamples(source, classes, watch=watch)
    if start is not None:
        model, examples.scaling = start
        trainer = BudgetStreamTrainer(examples, settings, plan)
        trainer.begun, trainer.first = model, model.n_rows
        return trainer
    return BudgetStreamTrainer(examples, _after_a_look(examples, settings, plan, scale), plan)


def _after_a_look(
    examples: SourceExamples, settings: KernelSettings, plan: Plan, scale: str | None
) -> KernelSettings:
    """Find the classes, the scaling and gamma, as far as they require a pass over all rows."""
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


class BudgetStreamTrainer(Trainer):
    """Trains a model with a budget on a source: created at the first rows, and then it may grow."""

    def __init__(self, examples: SourceExamples, settings: KernelSettings, plan: Plan) -> None:
        self.examples, self.settings, self.plan = examples, settings, plan
        self.begun: BudgetModel | None = None
        self.first = 0  # the number of the first row
        self.n_classes = max(examples.classes.n_classes, 2)

    def epoch(self) -> Epoch:
        mistakes, updates = self.total("mistakes"), self.total("updates")
        try:
            for batch in self.examples.epoch(self):
                X, labels = self._rows(batch)
                # in this epoch: they number the supports
                self.model().n_rows = self.first + self.examples.visited
                self.model().visit_rows(X, labels)
        except UnseenClass:
            self.examples.classes.check_two(self.examples.source.name)  # raises: there is only one
            raise
        return epoch_of(self.model(), mistakes, updates)

    def finish(self, run: Run) -> None:
        classes = self.examples.classes
        if not run.interrupted:
            classes.check_two(self.examples.source.name)
        elif self.begun is None or classes.n_classes < 2:
            raise KeyboardInterrupt  # nothing has been learned yet
        run.n_rows = self.examples.count

    def judge(self, run: Run) -> None:
        if self.examples.can_repeat:
            rows = (self._rows(batch) for batch in self.examples.as_stored())
            judge(self.model(), rows, run, self.plan.n_jobs)

    def model(self) -> BudgetModel:
        """The model so far."""
        assert self.begun is not None
        return self.begun

    def fitted(self, run: Run) -> BudgetModel:
        """The model at the end of a fit."""
        model = self.model()
        if self.n_classes == 2:
            model.joint = False  # as if two classes had been known from the start
        return model

    # -- called by the examples when classes or columns are added
    def total(self, count: str) -> int:
        return 0 if self.begun is None else int(getattr(self.begun, f"n_{count}"))

    def widen(self, n_features: int) -> None:
        """Nothing to do: columns are added when rows are checked."""

    resize = widen

    def grow(self, n_classes: int) -> None:
        if self.begun is not None:
            for _ in range(n_classes - self.n_classes):
                self.begun.add_class()
        self.n_classes = n_classes

    def turn(self) -> None:
        self.model().turn()

    def _rows(self, batch: Batch) -> tuple[Any, Ints]:
        """Rows as wide as the model, and their labels; unsuitable rows are refused here."""
        source = self.examples.source
        if batch.weights is not None:
            raise ValueError(f"{source.name}: the rows have weights, which kernel models do not support.")
        X = read_matrix(batch.X)
        if is_sparse(X):
            X = type(X)((X.data, X.indices, X.indptr), shape=(X.shape[0], source.features.n_columns))
        if self.begun is None:
            wide = not self.examples.surveyed and is_sparse(X)  # new columns may still appear
            self.begun = self.settings.begin_budget(
                X, self.n_classes, self.plan.rng, sparse=wide or None, grows=self.examples.classes.grows
            )
        with by_name(batch.where or str, source.features):
            X = self.begun.checked(X)
        rows = slice(batch.begin, batch.end)
        return X[rows], np.ascontiguousarray(batch.labels[rows])
