"""Learning from a source: block by block, in the source's order or riffled, with a few blocks in memory.

Every pass reads the source again. The result is that of `order="cyclic"` or `order="riffle"` on the same rows
in memory, bit for bit, however the source is divided into blocks.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from novikoff.data.arrays import UnsortedIndices, row_bytes, rows_of, some_rows
from novikoff.data.labels import Given, Ints, StreamClasses, UnseenClass, as_text, counts_of
from novikoff.data.mapped import MappedRows
from novikoff.data.scaling import Scaling, power_factors
from novikoff.data.sources.block import Block, Csr, Floats, Matrix, gather, joined
from novikoff.data.sources.kept import KeptSource
from novikoff.data.sources.progress import Progress, Watch
from novikoff.data.sources.source import Source
from novikoff.parameters.common import AUTO
from novikoff.training.checkpoint import Checkpoint
from novikoff.training.examples import (
    SAMPLE,
    ArrayExamples,
    Batch,
    Examples,
    not_all_one,
    weighted,
    with_sizes,
)
from novikoff.training.linear import LinearTrainer
from novikoff.training.loop import train
from novikoff.training.piles import BLOCK, Piles
from novikoff.training.plan import Plan
from novikoff.training.riffle import Order, Riffle
from novikoff.training.run import Run
from novikoff.training.tally import Tally
from novikoff.training.weights import Model, Scorer, Settings

MOST_ROW_BYTES = 1 << 28  # rows up to this size are kept in memory while they are asked about


class Grows(Protocol):
    """A learner from a source: it may gain classes and columns between batches."""

    n_classes: int

    def total(self, count: str, /) -> int:
        """The number of mistakes or updates so far."""

    def widen(self, n_features: int, /) -> None:
        """Make room for `n_features` columns."""

    def resize(self, n_features: int, /) -> None:
        """Change the number of columns to exactly `n_features`."""

    def grow(self, n_classes: int, /) -> None:
        """Add classes."""

    def turn(self) -> None:
        """Make the only class so far, learned as the first of two, the second."""


class Start(NamedTuple):
    """What a fit goes on from: a linear model, and the scaling of its rows."""

    model: Model
    scaling: Scaling | None


class SourceExamples(Examples):
    """The rows of a source as the examples of a fit."""

    start: Start | None = None

    def __init__(
        self,
        source: Source,
        classes: StreamClasses,
        *,
        scaling: Scaling | None = None,
        class_weight: dict[str, float] | None = None,
        watch: Watch | None = None,
    ) -> None:
        self.source, self.classes, self.scaling = source, classes, scaling
        self.class_weight, self.watch = class_weight, watch
        self.can_repeat = source.can_reread
        self.epochs = 0  # started
        self.heaviest = 0.0
        self.turned = False
        self.skip = 0  # rows of the next epoch that were learned before the checkpoint
        self.after_block: Callable[[int], None] | None = None  # called with the epoch's number of rows so far
        self.surveyed = False  # whether a pass before learning has found all labels
        self.visited = 0  # rows of this epoch
        self.piles: Piles | None = None  # for order="riffle"
        self.rng: np.random.Generator | None = None  # of its riffles
        self.riffles = 0  # drawn so far, one per epoch
        self.sizes: Floats | None = None  # the largest |x| of every column, if a pass has measured them
        self.tallied: Tally | None = None  # by the last whole pass of `as_stored`
        self.where: Callable[[int], str] = str  # the location of a row, once all are read

    @property
    def count(self) -> int:
        return self.visited

    def tally(self, scorer: Scorer | None) -> Tally:
        if scorer is not None or self.tallied is None:
            for _ in self._as_stored("counting errors", scorer):
                pass
        assert self.tallied is not None
        return self.tallied

    def sample(self) -> Any:
        if not self.can_repeat:
            return None
        for batch in self._as_stored("looking at rows"):
            here = np.arange(batch.begin, batch.end) if batch.order is None else batch.order
            return some_rows(batch.X, here[:: max(len(here) // SAMPLE, 1)])
        return None

    def all_rows(self) -> tuple[Any, Ints, Order | None]:
        """The rows, in memory while they take at most `MOST_ROW_BYTES`, and otherwise in a temporary file."""
        columns = self.source.features.n_columns
        parts: list[Matrix] = []
        places, labels, before, size = [], [], 0, 0
        held: MappedRows | None = None
        for batch in self.as_stored():
            here = np.arange(batch.begin, batch.end) if batch.order is None else batch.order
            parts.append(some_rows(batch.X, here))  # a copy, because blocks reuse their memory
            size += row_bytes(parts[-1]) * len(here)
            if held is None and size > MOST_ROW_BYTES:
                held = MappedRows(columns)
            while held is not None and parts:
                held.add(parts.pop(0))
            places.append(here + before)
            labels.append(batch.labels[here])
            before += len(batch.labels)
        numbers = np.concatenate(places)
        X = joined(parts, columns) if held is None else held.rows()
        return X, np.concatenate(labels), None if len(numbers) == before else numbers

    def _weights(self, block: Block, labels: Ints) -> Floats | None:
        """The factor of each row's step: its weight times that of its class."""
        if self.class_weight is None:
            return block.weights
        by_class = np.array([self.class_weight.get(as_text(c), 1.0) for c in self.classes.labels.tolist()])
        weights: Floats = by_class[labels]
        return weights if block.weights is None else weights * block.weights

    def _batch(self, block: Block, labels: Ints, begin: int = 0, end: int | None = None) -> Batch:
        X = block.X if self.scaling is None else self.scaling.transform(block.X)
        weights = self._weights(block, labels)
        order = weighted(weights)
        end = block.n_rows if end is None else end
        if order is not None:  # `begin` and `end` become positions in it
            begin, end = (int(k) for k in np.searchsorted(order, [begin, end]))
        return Batch(X, rows_of(X), labels, weights, order, begin, end, block.where)

    def _given(self, block: Block) -> Given:
        if block.labels is None:
            raise ValueError(f"{block.where(0)}: there is no label to learn from.")
        return block.labels

    def _labels(self, block: Block) -> Ints:
        return self.classes.find(self._given(block), block.where)

    def epoch(self, model: Grows) -> Iterator[Batch]:
        rows = 0
        started, mistakes, skip = time.perf_counter(), model.total("mistakes"), self.skip
        self.epochs, self.skip, self.visited = self.epochs + 1, 0, self.visited if skip else 0
        if self.piles is not None:
            yield from self._riffled(model, self.piles, skip, started, mistakes)
            return
        for block in self.source.blocks(reuse=True):
            begin, rows = max(skip - rows, 0), rows + block.n_rows
            if begin < block.n_rows:
                model.widen(self.source.features.n_columns)
                for batch in self._parts(model, block, begin):
                    yield batch
                    self.visited += batch.end - batch.begin
                    if batch.weights is not None:
                        self.heaviest = max(self.heaviest, float(batch.weights.max()))
                        self.weighted = self.weighted or not_all_one(batch.weights)
                if self.after_block is not None:
                    self.after_block(rows)
            if self.watch is not None:
                seconds, made = time.perf_counter() - started, model.total("mistakes") - mistakes
                doing = f"epoch {self.epochs}"
                self.watch(Progress(doing, rows, block.consumed, self.source.size, made, seconds))
        # Exactly as many columns as for an array, so that ‖w‖ is summed in the same way.
        model.resize(self.source.features.n_columns)
        self.heaviest = self.heaviest or 1.0
        if not rows:
            raise ValueError(f"{self.source.name}: there are no rows to learn from.")

    def _riffled(self, model: Grows, piles: Piles, skip: int, started: float, before: int) -> Iterator[Batch]:
        """The rows of the next epoch after the first `skip` visits, in an order drawn anew."""
        n, size = piles.n_rows, self.source.size
        if self.classes.n_classes < 2:
            raise UnseenClass  # there is nothing to learn
        model.widen(self.source.features.n_columns)
        if self.classes.n_classes > model.n_classes:
            model.grow(self.classes.n_classes)
        assert self.rng is not None
        while self.riffles < self.epochs:  # also those of the epochs before a checkpoint
            riffle, self.riffles = Riffle(n, self.rng), self.riffles + 1
        for hand in piles.hands(riffle, skip):
            X = hand.X if self.scaling is None else self.scaling.transform(hand.X)
            count = len(hand.labels)
            yield Batch(X, rows_of(X), hand.labels, hand.weights, hand.order, 0, count, hand.where)
            self.visited += count
            if hand.weights is not None:
                self.heaviest = max(self.heaviest, float(hand.weights.max()))
                self.weighted = self.weighted or not_all_one(hand.weights)
            if self.after_block is not None:
                self.after_block(self.visited)
            if self.watch is not None:
                seconds, made = time.perf_counter() - started, model.total("mistakes") - before
                consumed = (size or 0) * self.visited // n
                self.watch(Progress(f"epoch {self.epochs}", self.visited, consumed, size, made, seconds))
        model.resize(self.source.features.n_columns)
        self.heaviest = self.heaviest or 1.0

    def _labelled(self, block: Block) -> tuple[Ints, Floats | None, Order | None]:
        """For a riffle: the class and weight of each row of a block, and which rows are visited."""
        labels = self._labels(block)
        weights = self._weights(block, labels)
        return labels, weights, weighted(weights)

    def _noted(self, piles: Piles) -> Iterator[Block]:
        """All blocks, whose places are noted after the caller has seen their labels."""
        for block in self.watched("first look"):
            yield block
            piles.note(block)

    def _parts(self, model: Grows, block: Block, begin: int) -> Iterator[Batch]:
        """The block from row `begin`, split at the first row of each new class if classes may grow.

        While one class is known, it is learned as the first of two.
        """
        before, labels = self.classes.classes, self._labels(block)
        assert self.classes.classes is not None
        now = self.classes.n_classes
        if not self.classes.grows:
            if now < 2:
                raise UnseenClass  # there is nothing to learn yet
            if now > model.n_classes:
                model.grow(now)
            yield self._batch(block, labels, begin)
            return
        known = {int(labels[0])} if before is None else set(self.classes.classes.find(before.labels).tolist())
        firsts = sorted(int(np.argmax(labels == c)) for c in range(now) if c not in known)
        parts = zip([begin, *firsts], [*firsts, block.n_rows], strict=True)
        for n, (start, end) in enumerate(parts, len(known)):
            if n == 2 and known == {1}:
                model.turn()
                self.turned = True
            if n > model.n_classes:
                model.grow(n)
            if start < end:
                batch = self._batch(block, labels, start, end)
                yield batch if n > 1 else batch._replace(labels=np.zeros_like(labels))

    def as_stored(self) -> Iterator[Batch]:
        return self._as_stored("verdict")

    def _as_stored(self, doing: str, scorer: Scorer | None = None) -> Iterator[Batch]:
        """The rows, in a pass that may end early; a whole one counts them, and the errors of `scorer`."""
        skipped = self.source.skipped  # by a whole pass
        tally = Tally()
        try:
            for block in self.watched(doing):
                batch = self._batch(block, self._labels(block))
                predicted = None if scorer is None else scorer.predict(self._whole(batch.X))
                kept = slice(None) if batch.order is None else batch.order
                tally.add(batch.labels[kept], None if predicted is None else predicted[kept])
                yield batch
            self.tallied = tally
        finally:
            self.source.skipped = skipped

    def _whole(self, X: Any) -> Any:
        """Rows over all columns: a cache keeps those that its blocks had when it was written."""
        n = self.source.features.n_columns
        return X._replace(shape=(X.shape[0], n)) if isinstance(X, Csr) and X.shape[1] < n else X

    # -- before learning
    def watched(self, doing: str, *, reuse: bool = True) -> Iterator[Block]:
        """All blocks, with progress reported after each."""
        rows, started = 0, time.perf_counter()
        for block in self.source.blocks(reuse=reuse):
            yield block
            rows += block.n_rows
            if self.watch is not None:
                seconds = time.perf_counter() - started
                self.watch(Progress(doing, rows, block.consumed, self.source.size, 0, seconds))

    def survey(
        self,
        scale: str | None,
        *,
        balanced: bool,
        sizes: bool = False,
        blocks: Iterable[Block] | None = None,
    ) -> None:
        """One pass that finds the classes and, if requested, their frequencies and the scaling.

        With `sizes` it measures the columns, for the factors of a linear model.
        """
        counts: Counter[str] = Counter()
        self.surveyed = True

        def noted() -> Iterator[Block]:
            for block in self.watched("first look") if blocks is None else blocks:
                labels = self._given(block)
                if self.classes.declared is None and not self.classes.grows:
                    self.classes.add(labels, block.where)
                if balanced:
                    kept = slice(None) if block.weights is None else block.weights > 0
                    found = counts_of(self.classes.rename(labels[kept]))
                    counts.update({as_text(label): n for label, n in found.items()})
                yield block

        if scale is not None:
            self.scaling = Scaling.measure(scale, noted(), self.source.features)
        if scale in (None, "unit"):
            self.sizes = np.zeros(0) if sizes else None
            for block in noted():
                if sizes:
                    self._note_sizes(block)
        if balanced:
            self.class_weight = {c: counts.total() / (len(counts) * n) for c, n in counts.items()}

    def _note_sizes(self, block: Block) -> None:
        weights = block.weights
        if self.class_weight and not all(self.class_weight.values()):  # rows without a weight do not count
            weights = self._weights(block, self._labels(block))
        order = weighted(weights)
        assert self.sizes is not None
        n = block.n_rows if order is None else len(order)
        self.sizes = with_sizes(self.sizes, rows_of(block.X), order, 0, n)

    def read_all(self, scale: str | None, *, balanced: bool) -> tuple[Matrix, Ints, Floats | None]:
        """All rows at once, scaled, with class indices and weights."""
        block = gather(self.watched("reading", reuse=False))
        self.where = block.where
        self.survey(scale, balanced=balanced, blocks=[block])
        labels = self._labels(block)
        weights = self._weights(block, labels)
        return block.X if self.scaling is None else self.scaling.transform(block.X), labels, weights

    def in_memory(
        self, scale: str | None, plan: Plan, settings: Settings, *, balanced: bool
    ) -> LinearTrainer:
        """A fit with all rows in memory, scaled, which may visit them in any order."""
        by_factors = scale == AUTO and not self.source.features.hashed and self.start is None
        X, labels, weights = self.read_all(None if scale == AUTO else scale, balanced=balanced)
        if self.start is None:
            model = Model(max(self.classes.n_classes, 2), self.source.features.n_columns, settings)
        else:
            model = self._first_model(settings)
            if self.classes.n_classes > model.n_classes:
                model.grow(self.classes.n_classes)
        examples = ArrayExamples(X, labels, weights, plan, model)
        if by_factors:
            model.set_factors(examples.power_factors())
        return LinearTrainer(model, examples, plan)

    def in_passes(
        self,
        scale: str | None,
        plan: Plan,
        settings: Settings,
        *,
        balanced: bool,
        checkpoint: Checkpoint | None,
    ) -> LinearTrainer:
        """A fit that reads all rows once per epoch, in their order or riffled, or resumes from a checkpoint.

        For a riffle, a pass before learning finds all columns and classes, in the order of the rows.
        """
        sizes = scale == AUTO and self.can_repeat and not self.source.features.hashed
        scale = None if scale == AUTO else scale
        measured = scale in ("standard", "maxabs")
        if not self.can_repeat:
            check_one_pass(self, plan, measured, {"balanced class weights": balanced})
        if scale == "unit":
            self.scaling = Scaling("unit")
        if plan.order == "riffle":
            self.source.divide(BLOCK)
            self.piles, self.rng = Piles(self.source, self._labelled), plan.rng
            self.survey(scale, balanced=balanced, sizes=sizes, blocks=self._noted(self.piles))
            if self.source.only_in_order:  # too large to keep
                self.piles, plan = None, replace(plan, order="cyclic")
        resumes = checkpoint is not None and checkpoint.exists()
        if (measured or balanced or sizes) and self.piles is None and not resumes:
            self.survey(scale, balanced=balanced, sizes=sizes)
        trainer = self._fitting(plan, settings, checkpoint)
        if checkpoint is not None and resumes:
            checkpoint.restore(trainer, self)
        return trainer

    def start_over(self, plan: Plan, settings: Settings, checkpoint: Checkpoint | None) -> LinearTrainer:
        """A new fit, after a pass that finds all labels."""
        self.survey(None, balanced=False)
        self.epochs = 0
        return self._fitting(plan, settings, checkpoint)

    def _fitting(self, plan: Plan, settings: Settings, checkpoint: Checkpoint | None) -> LinearTrainer:
        trainer = LinearTrainer(self._first_model(settings), self, plan)
        if checkpoint is not None:
            self.after_block = partial(checkpoint.after_block, trainer, self)
        return trainer

    def _first_model(self, settings: Settings) -> Model:
        """A model without columns, or with those that have factors; or a copy of the one to go on from."""
        if self.start is None:
            model = Model(2, 0, settings)
            factors = None if self.sizes is None else power_factors(self.sizes)
            if factors is not None:
                model.resize(len(factors))
                model.set_factors(factors)
            return model
        model = self.start.model.copy()
        model.last_are_right = False
        return model


@dataclass
class Learned:
    """The outcome of a fit."""

    model: Model
    classes: npt.NDArray[Any]
    scaling: Scaling | None
    run: Run
    order: str  # in which the rows were visited


def fit(
    source: Source,
    classes: StreamClasses,
    settings: Settings,
    plan: Plan,
    *,
    scale: str | None = None,
    class_weight: dict[str, float] | str | None = None,
    watch: Watch | None = None,
    checkpoint: Checkpoint | None = None,
    start: Start | None = None,
) -> Learned:
    """Learn from a source until an epoch makes no update, or the plan ends training.

    Unless classes are declared or may grow, they are sorted, as for an array. In the order of the source, the
    fit starts with the classes of the first block; a new label in a later block restarts it, after a pass
    that finds all labels. A source that can be read only in its order is riffled if its rows can be kept in
    memory (`data.sources.kept`); otherwise it is read in its order. With `scale` "auto", a pass before the
    first epoch measures the columns, unless the source can be read only once or hashes them.

    With `start` its model goes on, with its columns, scaling, settings and counts: the source has its
    features, and `classes` are its own, to which others may be added (`StreamClasses.of_model`).
    """
    in_passes = plan.order in ("cyclic", "riffle") and not plan.early_stopping
    if plan.is_open_ended and in_passes and not source.can_reread:
        plan = replace(plan, max_epochs=1)
    balanced = class_weight == "balanced"
    by_class = class_weight if isinstance(class_weight, dict) else None
    if plan.order == "riffle" and (source.only_in_order or source.enters_slowly):
        if source.can_reread:
            source = KeptSource(source)
        elif not plan.early_stopping:
            plan = replace(plan, order="cyclic")
    examples = SourceExamples(source, classes, class_weight=by_class, watch=watch)
    if start is not None:
        examples.start, examples.scaling, scale = start, start.scaling, None
        settings = start.model.settings
    if plan.order not in ("cyclic", "riffle") or plan.early_stopping:
        if checkpoint is not None:
            raise ValueError(
                "checkpoints are for fits that read the rows in their own order, one after another."
            )
        trainer = examples.in_memory(scale, plan, settings, balanced=balanced)
        classes.check_two(source.name)
    else:
        trainer = examples.in_passes(scale, plan, settings, balanced=balanced, checkpoint=checkpoint)
        plan = trainer.plan  # perhaps in another order
    run: Run | None = None
    while run is None:
        try:
            run = train(trainer, plan, Run(history=trainer.history, proofs=trainer.proofs))
        except UnsortedIndices:
            raise ValueError(
                f"{examples.source.name}: a row has a column twice, or columns out of order. If the source "
                "is a file, its cache may be damaged: delete the cache, and it will be rebuilt."
            ) from None
        except UnseenClass:
            if examples.surveyed:
                run = Run()  # there is only one class
            else:
                trainer = examples.start_over(plan, settings, checkpoint)
    if not run.interrupted:
        classes.check_two(source.name)
    elif classes.n_classes < 2:
        raise KeyboardInterrupt  # nothing has been learned yet
    trainer.model.resize(source.features.n_columns)
    if scale == AUTO or start is not None:  # all rows have decided, or the model, and not a sample
        run.uneven = 1.0
    if not examples.can_repeat and classes.seen is not None:
        run.in_runs = classes.seen.are_long
    return Learned(trainer.model, classes.labels, examples.scaling, run, plan.order)


def check_one_pass(examples: SourceExamples, plan: Plan, measured: bool, more: dict[str, bool]) -> None:
    """Refuse what needs a second pass over something that can be read only once."""
    source, classes = examples.source, examples.classes
    wanted = {
        f"max_epochs={plan.max_epochs}": plan.max_epochs != 1,
        "scaling by column": measured,
        "finding the classes first (declare them, or let them grow)": not classes.grows
        and classes.declared is None,
    } | more
    for what, needed in wanted.items():
        if needed:
            raise ValueError(f"{source.name} can be read only once, which is not enough for {what}.")
