"""Learners side by side: each never sees one part of the rows, and those that do worse drop out early.

All learn in the same passes. After every number of epochs that is tried, the held-out rows are predicted, and
the better half of the ways to learn goes on (successive halving, Jamieson and Talwalkar 2016). Unless rows
are few, the first part alone decides who goes on; those left at the end are judged by all parts. Counts
decide, never a clock. Where the weights of all learners do not fit into memory, they learn in turns, from the
beginning each time: nobody's result depends on who learns beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

from novikoff.data.labels import Ints
from novikoff.data.scaling import Scaling
from novikoff.data.sources.block import Matrix
from novikoff.scoring import Tally
from novikoff.training.examples import Batch
from novikoff.training.linear import check_outcome, native_calls, settled
from novikoff.training.weights import Model, Scorer, Settings, width
from novikoff.tuning.candidates import Candidate, Grid, Outcome
from novikoff.tuning.parts import FEW_ROWS
from novikoff.tuning.rows import Rows

FEWEST = 4  # ways to learn that are never dropped


class Learner:
    """A model that never sees one part of the rows."""

    def __init__(self, part: int, scale: str | None, settings: Settings, rows: Rows, scoring: str) -> None:
        self.part, self.scale, self.settings, self.scoring = part, scale, settings, scoring
        self._n_classes, self._n_columns = rows.classes.n_classes, rows.source.features.n_columns
        self.tallies: dict[tuple[int, bool], Tally] = {}  # by epochs, and whether the weights were averaged
        self.converged = False
        self.epochs = 0  # learned so far
        self._model: Model | None = None
        self._settled_at: dict[int, int] = {}
        self._scorers: list[tuple[bool, Scorer]] = []

    @property
    def model(self) -> Model:
        if self._model is None:
            self._model = Model(self._n_classes, self._n_columns, self.settings)
        return self._model

    @property
    def memory(self) -> int:
        """The approximate size of weights, sums, variances and scorers, in bytes."""
        one = 8 * self._n_columns * width(self._n_classes)
        return one * ((4 if self.settings.average else 1) + self.settings.has_variances)

    def begin_epoch(self) -> None:
        self._began = {k: learner.native.updates for k, learner in enumerate(self.model.learners)}

    def visit(self, visit: Batch) -> None:
        for learner, call in native_calls(self.model, visit, self._settled_at, first=self.epochs == 0):
            check_outcome(learner, visit, call())

    def end_epoch(self) -> None:
        self.epochs += 1
        self._settled_at = settled(self.model, self._began)
        self.converged = len(self._settled_at) == len(self.model.learners)

    def is_to_be_scored(self, epochs: Sequence[int]) -> bool:
        """Whether this is a number of epochs that is tried, or the last one; and it was not scored before."""
        return (self.converged or self.epochs in epochs) and (self.epochs, False) not in self.tallies

    def begin_scoring(self) -> None:
        averages = (False, True) if self.settings.average else (False,)
        self._scorers = [(mean, self.model.scorer(averaged=mean)) for mean in averages]
        for mean in averages:
            self.tallies[self.epochs, mean] = Tally.of(self._n_classes)

    def score(self, X: Matrix, labels: Ints) -> None:
        for mean, scorer in self._scorers:
            if len(labels):
                scores = scorer.scores(X) if self.scoring == "auc" else None
                self.tallies[self.epochs, mean].add(labels, scorer.predict(X), scores)

    def end_scoring(self, epochs: Sequence[int]) -> None:
        """A converged learner is the same after any more epochs."""
        self._scorers = []
        for mean in (False, True) if self.converged else ():
            if (tally := self.tallies.get((self.epochs, mean))) is not None:
                self.tallies |= {(later, mean): tally for later in epochs if later > self.epochs}

    def forget(self) -> None:
        """Give the memory back; to learn more, it has to begin again."""
        self._model, self._settled_at, self.epochs = None, {}, 0


Way = list[Learner]  # one scaling, rule and C: a learner per part


def race(
    rows: Rows,
    settings: Settings,
    grid: Grid,
    scoring: str,
    max_memory: int,
    pool: ThreadPoolExecutor,
    *,
    thorough: bool,
) -> list[Outcome]:
    """The outcome of everything that was tried, in the order of the grid."""
    ways = [
        [Learner(part, scale, own, rows, scoring) for part in range(rows.parts.count)]
        for scale, own in product(dict.fromkeys(grid.scales), grid.learners(settings))
    ]
    epochs = sorted(set(grid.epochs))
    first = rows.parts.count if thorough or rows.n_rows < FEW_ROWS else 1
    going, outcomes = ways, dict[Candidate, Outcome]()
    for last in epochs:
        parts = rows.parts.count if last == epochs[-1] else first
        learners = [learner for way in going for learner in way[:parts] if not learner.converged]
        turns = list(_in_turns(learners, max_memory))
        for some in turns:
            _learn(some, rows, last, epochs, pool)
            for learner in some if len(turns) > 1 else ():
                learner.forget()
        for way, average, past in product(going, grid.averages, [e for e in epochs if e <= last]):
            outcome = _outcome(way[:parts], average, past)
            outcomes[outcome.candidate] = outcome
        if not thorough and last < epochs[-1]:
            kept = _better_half(going, parts, grid, last)
            for way in going:
                for learner in way if way not in kept else ():
                    learner.forget()
            going = kept
    tried = (_candidate(way, *how) for way in ways for how in product(grid.averages, epochs))
    return [outcomes[candidate] for candidate in dict.fromkeys(tried) if candidate in outcomes]


def _better_half(ways: list[Way], parts: int, grid: Grid, epochs: int) -> list[Way]:
    """Those with the highest figures after so many epochs, averaged or not; of equals the first."""

    def figure(way: Way) -> float:
        return max(_outcome(way[:parts], average, epochs).score for average in grid.averages)

    best = sorted(range(len(ways)), key=lambda k: -figure(ways[k]))
    kept = best[: max(-(-len(ways) // 2), FEWEST)]
    return [ways[k] for k in sorted(kept)]


def _candidate(way: Way, average: bool, epochs: int) -> Candidate:
    first = way[0]
    return Candidate(first.scale, first.settings.rule, first.settings.C, average, epochs)


def _outcome(way: Way, average: bool, epochs: int) -> Outcome:
    tallies = tuple(learner.tallies[epochs, average] for learner in way)
    return Outcome(_candidate(way, average, epochs), tallies, way[0].scoring)


def _in_turns(learners: list[Learner], max_memory: int) -> Iterator[list[Learner]]:
    some: list[Learner] = []
    for learner in learners:
        if some and sum(each.memory for each in some) + learner.memory > max_memory:
            yield some
            some = []
        some.append(learner)
    if some:
        yield some


Scalings = dict[tuple[str | None, int], Scaling | None]  # by scale and part


def _learn(
    learners: list[Learner], rows: Rows, last: int, epochs: list[int], pool: ThreadPoolExecutor
) -> None:
    """Let all learn side by side up to epoch `last`, and score each after every one of `epochs`."""
    places = dict.fromkeys((learner.scale, learner.part) for learner in learners)
    scalings = {(scale, part): rows.scaling(scale, part) for scale, part in places}
    for epoch in range(1, last + 1):
        going = [learner for learner in learners if learner.epochs < epoch and not learner.converged]
        if not going:
            continue
        for learner in going:
            learner.begin_epoch()
        for visits in rows.visits(f"epoch {epoch}, {len(going)} learners", epoch):
            for scale, own in _by_scale(going):
                parts = dict.fromkeys(learner.part for learner in own)
                batches = {part: rows.visit(visits, part, scalings[scale, part]) for part in parts}
                _all(pool, lambda learner, by=batches: learner.visit(by[learner.part]), own)
        for learner in going:
            learner.end_epoch()
        judged = [learner for learner in going if learner.is_to_be_scored(epochs)]
        if judged:
            _score(judged, rows, scalings, epochs, pool)


def _score(
    learners: list[Learner], rows: Rows, scalings: Scalings, epochs: list[int], pool: ThreadPoolExecutor
) -> None:
    for learner in learners:
        learner.begin_scoring()
    for block, folds in rows.blocks(f"held-out rows, {len(learners)} learners"):
        labels = rows.labels(block)
        for scale, own in _by_scale(learners):
            parts = dict.fromkeys(learner.part for learner in own)
            held = {part: rows.held(block, folds, labels, part, scalings[scale, part]) for part in parts}
            _all(pool, lambda learner, by=held: learner.score(*by[learner.part]), own)
    for learner in learners:
        learner.end_scoring(epochs)


def _by_scale(learners: list[Learner]) -> list[tuple[str | None, list[Learner]]]:
    scales = dict.fromkeys(learner.scale for learner in learners)
    return [(scale, [learner for learner in learners if learner.scale == scale]) for scale in scales]


def _all(pool: ThreadPoolExecutor, work: Any, learners: list[Learner]) -> None:
    for _ in pool.map(work, learners):  # raises the exceptions of the calls
        pass
