"""Choose rule, averaging, epochs and scaling on held-out rows, then learn from all rows.

A fixed hash of the row number decides which rows are held out, so nothing has to be shuffled in memory. All
candidates with the same scaling learn side by side in the same passes, and the scaling of columns is measured
only on the rows learned from. A candidate with n epochs is the longest run as it was after n epochs.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff.data.arrays import rows_of, some_rows
from novikoff.data.labels import Ints, StreamClasses, as_text, counts_of
from novikoff.data.scaling import ColumnSums, Scaling
from novikoff.data.sources.block import Block, Floats, Matrix
from novikoff.data.sources.bytestream import check_whole
from novikoff.data.sources.kept import KeptSource
from novikoff.data.sources.progress import Progress, Watch
from novikoff.data.sources.source import Source
from novikoff.data.threads import threads
from novikoff.parameters.linear import VARIANCE_RULES
from novikoff.parameters.tuning import TUNING_PARAMETERS
from novikoff.scoring import Tally
from novikoff.shown import Shown, table_text
from novikoff.training.examples import Batch
from novikoff.training.linear import check_outcome, native_calls, settled
from novikoff.training.piles import BLOCK, Piles
from novikoff.training.plan import Plan
from novikoff.training.riffle import Order, Riffle
from novikoff.training.streaming import Learned, fit
from novikoff.training.weights import Model, Scorer, Settings, width

USES_C = ("pa1", "pa2", *VARIANCE_RULES)
MEASURED = ("standard", "maxabs")
MAX_MEMORY = 1 << 30
SHOWN = 10  # outcomes of a result

Folds = npt.NDArray[np.int64]  # by row: the part in which it is held out, −1 for none


@dataclass(frozen=True)
class Candidate:
    """One way to learn."""

    scale: str | None
    rule: str
    C: float  # for rules that use it; otherwise as in the settings
    average: bool
    epochs: int

    @property
    def rule_text(self) -> str:
        """The rule, with C if it uses it."""
        return self.rule + (f" C={self.C:g}" if self.rule in USES_C else "")

    def __str__(self) -> str:
        mean = ", averaged" if self.average else ""
        return f"{self.rule_text}{mean}, {self.epochs} epoch(s), scale {self.scale or 'none'}"


@dataclass(frozen=True)
class Grid:
    """The values to try, in every combination. On a tie the first with the fewest epochs wins."""

    rules: Sequence[str] = TUNING_PARAMETERS["rules"].default
    averages: Sequence[bool] = TUNING_PARAMETERS["averages"].default
    epochs: Sequence[int] = TUNING_PARAMETERS["epochs"].default
    scales: Sequence[str | None] = TUNING_PARAMETERS["scales"].default
    Cs: Sequence[float] = TUNING_PARAMETERS["Cs"].default

    def check(self) -> None:
        """Raise one clear error unless there is something to try and every value is legal."""
        for name, values in vars(self).items():
            TUNING_PARAMETERS[name].check(values)

    def learners(self, settings: Settings) -> list[Settings]:
        """The settings to run: one learner for both the last and the averaged weights."""
        return [
            replace(settings, rule=rule, C=C, average=any(self.averages))
            for rule in dict.fromkeys(self.rules)
            for C in (dict.fromkeys(map(float, self.Cs)) if rule in USES_C else [settings.C])
        ]


@dataclass(frozen=True, repr=False)
class Outcome(Shown):
    """How well a candidate did on held-out rows."""

    candidate: Candidate
    tallies: tuple[Tally, ...]  # per held-out part
    scoring: str = "accuracy"

    def __str__(self) -> str:
        return f"{self.candidate}: {self.scoring} {self.score:.4f}"

    @property
    def correct(self) -> tuple[int, ...]:
        """Right predictions per part."""
        return tuple(tally.n_right for tally in self.tallies)

    @property
    def held_out(self) -> tuple[int, ...]:
        return tuple(tally.n_rows for tally in self.tallies)

    @property
    def accuracy(self) -> float:
        """The share of right predictions on all held-out rows."""
        return sum(self.correct) / sum(self.held_out)

    @cached_property
    def score(self) -> float:
        """What decides: the figure of all held-out rows together; for the area, the mean over the parts."""
        if self.scoring == "auc":
            return sum(self.by_fold) / len(self.by_fold)
        return sum(self.tallies[1:], self.tallies[0]).value(self.scoring)

    @cached_property
    def by_fold(self) -> list[float]:
        """The figure of each part."""
        return [tally.value(self.scoring) for tally in self.tallies]


@dataclass(repr=False)
class TuneResult(Shown):
    """The outcomes, best first, and what the best candidate learned from all rows."""

    table: list[Outcome]
    n_rows: int
    learned: Learned | None = None
    classes: list[Any] = field(default_factory=list)

    @property
    def best(self) -> Candidate:
        return self.table[0].candidate

    def __str__(self) -> str:
        title = f"Tuned on {self.n_rows:,} rows, best of {len(self.table):,}: {self.table[0]}"
        return table_text(title, [(f"{each.score:.4f}", str(each.candidate)) for each in self.table[:SHOWN]])


def tune(
    source: Source,
    classes: StreamClasses | None = None,
    settings: Settings = Settings(),
    grid: Grid = Grid(),
    *,
    folds: int = TUNING_PARAMETERS["folds"].default,
    split: float | None = None,
    scoring: str = TUNING_PARAMETERS["scoring"].default,
    order: str = TUNING_PARAMETERS["order"].default,
    random_state: int = 0,
    class_weight: dict[str, float] | str | None = None,
    n_jobs: int | None = None,
    max_memory: int = MAX_MEMORY,
    watch: Watch | None = None,
    refit: bool = True,
) -> TuneResult:
    """Try every combination of `grid` on held-out rows of a source, then learn from all rows with the best.

    The last step equals `streaming.fit` with these parameters, bit for bit.

    Parameters
    ----------
    source : Source
        It is read several times, so standard input is not possible.
    classes : StreamClasses, default None
        Declared, or found in a first pass (None). They cannot grow.
    settings : Settings
        The settings that all candidates share.
    grid : Grid
        The values to try.
    folds : default 5
        The number of parts, each of which is held out once.
    split : default None
        The share of the rows to hold out once, instead of folds.
    scoring : default 'accuracy'
        The figure of the held-out rows that decides: see `novikoff.scoring`.
    order : default 'riffle'
        The order of the rows in an epoch: 'riffle' or 'cyclic'. Candidates visit the rows that they learn
        from in the order of all rows, without those held out.
    random_state : default 0
        Selects which rows are held out in which part, and seeds the riffles.
    class_weight : default None
        As in `fit`; 'balanced' is measured on the rows learned from.
    n_jobs : default None
        The number of candidates that learn at the same time. It never changes a result.
    max_memory : default 1 GiB
        The approximate limit of weights in memory, in bytes: candidates that need more together take turns,
        in separate passes. It never changes a result.
    watch : function of a Progress
    refit : default True
        Whether to learn from all rows at the end.

    Examples
    --------
    >>> import io, novikoff
    >>> text = b"".join(b"%d 1:%d 2:1\\n" % (i % 5 > 2, i % 5) for i in range(200))
    >>> source = novikoff.open_source(io.BytesIO(text))
    >>> result = tune(source, grid=Grid(rules=["perceptron", "pa1"], scales=[None]))
    >>> print(result.best)
    perceptron, 1 epoch(s), scale none
    >>> result.table[0].accuracy
    1.0
    """
    classes = classes or StreamClasses()
    grid.check()
    for name, value in (("folds", folds), ("split", split), ("scoring", scoring), ("order", order)):
        TUNING_PARAMETERS[name].check(value)
    check_whole("random_state", random_state, 0)
    if not source.can_reread:
        raise ValueError(
            f"{source.name} can be read only once, which is not enough for tuning: save it to a file."
        )
    if classes.grows:
        raise ValueError("tuning finds the classes first: they cannot grow.")
    if order == "riffle" and source.only_in_order:
        source = KeptSource(source)
    rows = _Rows(source, classes, folds if split is None else 1, split, random_state, watch, order)
    rows.look(grid, class_weight)
    rows.check_scoring(scoring)
    outcomes: list[Outcome] = []
    with ThreadPoolExecutor(threads(n_jobs)) as pool:
        for scale in dict.fromkeys(grid.scales):
            runs = [
                _Run(part, own, rows, scoring)
                for own in grid.learners(settings)
                for part in range(rows.parts)
            ]
            for some in _in_turns(runs, max_memory):
                _learn(some, rows, scale, sorted(set(grid.epochs)), pool)
            outcomes += _outcomes(runs, grid, scale)
    # the sort is stable: among equals fewer epochs win, and among these the first
    outcomes.sort(key=lambda outcome: (-outcome.score, outcome.candidate.epochs))
    result = TuneResult(outcomes, rows.n_rows, classes=classes.labels.tolist())
    if refit:
        best = result.best
        chosen = replace(settings, rule=best.rule, C=best.C, average=best.average)
        rng = np.random.default_rng(random_state)
        plan = Plan(max_epochs=best.epochs, order=order, rng=rng, n_jobs=n_jobs)
        result.learned = fit(
            source, classes, chosen, plan, scale=best.scale, class_weight=class_weight, watch=watch
        )
    return result


# ---- which rows are held out ---------------------------------------------------------------------------
def splitmix64(z: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Output number z of the generator SplitMix64 (Steele, Lea and Flood 2014) that starts at 0."""
    z = (z + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def fold_of(first: int, n: int, seed: int, folds: int, split: float | None) -> Folds:
    """The part in which each row is held out; −1 for rows that never are (with a split)."""
    return _folds(np.arange(first, first + n), seed, folds, split)


def _folds(rows: Order, seed: int, folds: int, split: float | None) -> Folds:
    """`fold_of` for rows with these numbers."""
    start = splitmix64(np.array([seed % 2**64], dtype=np.uint64))
    bits = splitmix64(rows.astype(np.uint64) + start)
    if split is not None:
        return np.where((bits >> np.uint64(11)) < np.uint64(int(split * 2**53)), 0, -1)
    return (((bits >> np.uint64(32)) * np.uint64(folds)) >> np.uint64(32)).astype(np.int64)


class Visits(NamedTuple):
    """Some visits of an epoch: rows, their order (None: as they stand), and the part of each row."""

    X: Matrix
    labels: Ints
    weights: Floats | None
    order: Order | None
    fold: Folds
    where: Callable[[int], str]


class _Rows:
    """The rows of a source with the parts in which they are held out."""

    def __init__(
        self,
        source: Source,
        classes: StreamClasses,
        parts: int,
        split: float | None,
        seed: int,
        watch: Watch | None,
        order: str,
    ) -> None:
        self.source, self.classes, self.parts = source, classes, parts
        self._split, self._seed, self._watch = split, seed, watch
        self._piles = Piles(source, self._all_of) if order == "riffle" else None
        self.n_rows = 0
        self.held_out: list[int] = []  # number of rows per part
        self.held_counts: list[list[int]] = []  # the same by class
        self._class_weights: list[dict[str, float] | None] = []
        self._sums: list[ColumnSums] = []

    def blocks(self, doing: str) -> Iterator[tuple[Block, Folds]]:
        """One pass, with the part of each row."""
        rows, started = 0, time.perf_counter()
        for block in self.source.blocks(reuse=True):
            yield block, fold_of(rows, block.n_rows, self._seed, self.parts, self._split)
            rows += block.n_rows
            if self._watch is not None:
                seconds = time.perf_counter() - started
                self._watch(Progress(doing, rows, block.consumed, self.source.size, 0, seconds))
        self.n_rows = rows

    def _all_of(self, block: Block) -> tuple[Ints, Floats | None, None]:
        return self.labels(block), block.weights, None

    def visits(self, doing: str, epoch: int) -> Iterator[Visits]:
        """One pass in the order of learning."""
        if self._piles is None:
            for block, fold in self.blocks(doing):
                yield Visits(block.X, self.labels(block), block.weights, None, fold, block.where)
            return
        done, started = 0, time.perf_counter()
        rng = np.random.default_rng([self._seed, epoch])  # the same for all that learn in turns
        for hand in self._piles.hands(Riffle(self.n_rows, rng)):
            fold = _folds(hand.numbers, self._seed, self.parts, self._split)
            yield Visits(hand.X, hand.labels, hand.weights, hand.order, fold, hand.where)
            done += len(hand.labels)
            if self._watch is not None:
                size, seconds = self.source.size, time.perf_counter() - started
                self._watch(Progress(doing, done, (size or 0) * done // self.n_rows, size, 0, seconds))

    # -- the first pass
    def look(self, grid: Grid, class_weight: dict[str, float] | str | None) -> None:
        """Find classes and columns; measure what scaling and class weights need, per part."""
        measured = any(scale in MEASURED for scale in grid.scales)
        self._sums = [ColumnSums() for _ in range(self.parts)]
        counts: list[Counter[str]] = [Counter() for _ in range(self.parts + 1)]  # the last is for −1
        if self._piles is not None:
            self.source.divide(BLOCK)
        for block, fold in self.blocks("first look"):
            if block.labels is None:
                raise ValueError(f"{block.where(0)}: there is no label to learn from.")
            if self.classes.declared is None:
                self.classes.add(block.labels, block.where)
            else:
                self.classes.find(block.labels, block.where)
            labels = self.classes.rename(block.labels)
            for part in range(-1, self.parts):
                here = fold == part
                if block.weights is not None:
                    here &= block.weights > 0
                counts[part].update({as_text(label): n for label, n in counts_of(labels[here]).items()})
            for part in range(self.parts if measured else 0):
                rest = np.flatnonzero(fold != part)
                self._sums[part].add(some_rows(block.X, rest), partial(_where, block, rest))
            if self._piles is not None:
                self._piles.note(block)
        if self.source.only_in_order:  # too large to keep
            self._piles = None
        self.held_out = [counts[part].total() for part in range(self.parts)]
        names = [as_text(c) for c in self.classes.labels.tolist()]
        self.held_counts = [[counts[part][name] for name in names] for part in range(self.parts)]
        learned = [
            sum((c for k, c in enumerate(counts) if k != part), Counter()) for part in range(self.parts)
        ]
        self._check(learned, sum(counts, Counter()))
        if class_weight == "balanced":
            self._class_weights = [{name: c.total() / (len(c) * n) for name, n in c.items()} for c in learned]
        else:
            assert not isinstance(class_weight, str)
            self._class_weights = [class_weight] * self.parts

    def _check(self, learned: list[Counter[str]], everywhere: Counter[str]) -> None:
        names = [as_text(c) for c in self.classes.labels.tolist() if everywhere[as_text(c)]]
        if len(names) < 2:
            every = f"but every row has the label {names[0]!r}" if names else "but no row has a weight"
            raise ValueError(f"{self.source.name}: there must be at least two classes, {every}.")
        advice = "give more rows, or another random_state"
        for part, counts in enumerate(learned):
            what = "the split" if self._split is not None else f"part {part + 1} of {self.parts}"
            if not self.held_out[part]:
                raise ValueError(
                    f"{self.source.name}: there are too few rows ({self.n_rows:,}) to tune: {what} holds "
                    f"none out; {advice}, or fewer folds."
                )
            absent = [name for name in names if not counts[name]]
            if absent:
                raise ValueError(
                    f"{self.source.name}: no row of the class {absent[0]!r} is left for training when "
                    f"{what} is held out; {advice}, or remove that rare class."
                )

    def check_scoring(self, scoring: str) -> None:
        """Refuse a scoring that these classes do not have, before anything is learned."""
        if scoring == "auc" and self.classes.n_classes != 2:
            raise ValueError(
                f"scoring='auc' needs two classes, but there are {self.classes.n_classes}: choose "
                "'accuracy', 'balanced_accuracy' or 'f1', or learn one class against the others."
            )
        if scoring == "auc" and (lacking := [p for p, c in enumerate(self.held_counts) if min(c) == 0]):
            raise ValueError(
                f"scoring='auc' needs held-out rows of both classes, but part {lacking[0] + 1} of "
                f"{self.parts} has only one: give more rows, fewer folds, or another random_state."
            )

    # -- training rows and held-out rows
    def scaling(self, scale: str | None, part: int) -> Scaling | None:
        if scale in MEASURED:
            return self._sums[part].scaling(scale, self.source.features)
        return None if scale is None else Scaling(scale)

    def labels(self, block: Block) -> Ints:
        assert block.labels is not None
        return self.classes.find(block.labels, block.where)

    def visit(self, visits: Visits, part: int, scaling: Scaling | None) -> Batch:
        """The visits to rows that are not held out."""
        X = visits.X if scaling is None else scaling.transform(visits.X)
        labels, weights, kept = visits.labels, visits.weights, visits.fold != part
        by_class = self._class_weights[part]
        if by_class is not None:
            own: Floats = np.array([by_class.get(as_text(c), 1.0) for c in self.classes.labels.tolist()])[
                labels
            ]
            weights = own if weights is None else own * weights
        if weights is not None:
            kept &= weights > 0
        order = np.flatnonzero(kept) if visits.order is None else visits.order[kept[visits.order]]
        return Batch(X, rows_of(X), labels, weights, order, 0, len(order), visits.where)

    def held(
        self, block: Block, fold: Folds, labels: Ints, part: int, scaling: Scaling | None
    ) -> tuple[Matrix, Ints]:
        """The rows of a block that are held out."""
        here = fold == part
        if block.weights is not None:
            here &= block.weights > 0
        rows = np.flatnonzero(here)
        X = some_rows(block.X, rows)
        return X if scaling is None else scaling.transform(X), labels[rows]


def _where(block: Block, rows: npt.NDArray[np.int64], row: int) -> str:
    return block.where(int(rows[row]))


# ---- learning --------------------------------------------------------------------------------------------
class _Run:
    """A learner that never sees one part of the rows."""

    def __init__(self, part: int, settings: Settings, rows: _Rows, scoring: str) -> None:
        self.part, self.settings, self.scoring = part, settings, scoring
        self._n_classes, self._n_columns = rows.classes.n_classes, rows.source.features.n_columns
        self.tallies: dict[tuple[int, bool], Tally] = {}  # by epochs, and whether the weights were averaged
        self.converged = False
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
        """The approximate size of weights, sums and scorers, in bytes."""
        one = 8 * self._n_columns * width(self._n_classes)
        return one * (4 if self.settings.average else 1)

    def begin_epoch(self) -> None:
        self._began = {k: learner.native.updates for k, learner in enumerate(self.model.learners)}

    def visit(self, visit: Batch, first: bool) -> None:
        for learner, call in native_calls(self.model, visit, self._settled_at, first=first):
            check_outcome(learner, visit, call())

    def end_epoch(self) -> None:
        self._settled_at = settled(self.model, self._began)
        self.converged = len(self._settled_at) == len(self.model.learners)

    def begin_scoring(self, averages: Sequence[bool]) -> None:
        self._scorers = [(mean, self.model.scorer(averaged=mean)) for mean in averages]

    def score(self, epochs: int, X: Matrix, labels: Ints) -> None:
        for mean, scorer in self._scorers:
            tally = self.tallies.setdefault((epochs, mean), Tally.of(self._n_classes))
            if len(labels):
                scores = scorer.scores(X) if self.scoring == "auc" else None
                tally.add(labels, scorer.predict(X), scores)

    def stay(self, epoch: int, later: list[int]) -> None:
        """Use the counts of a converged run for all later epochs."""
        for (at, mean), tally in list(self.tallies.items()):
            if at == epoch:
                self.tallies |= {(epochs, mean): tally for epochs in later}

    def free(self) -> None:
        self._model, self._scorers = None, []


def _in_turns(runs: list[_Run], max_memory: int) -> Iterator[list[_Run]]:
    some: list[_Run] = []
    for run in runs:
        if some and sum(each.memory for each in some) + run.memory > max_memory:
            yield some
            some = []
        some.append(run)
    yield some


def _learn(
    runs: list[_Run], rows: _Rows, scale: str | None, epochs: list[int], pool: ThreadPoolExecutor
) -> None:
    """Let all runs learn side by side, and score each after the requested epochs."""
    scalings = {part: rows.scaling(scale, part) for part in sorted({run.part for run in runs})}
    name = f"scale {scale or 'none'}"
    for epoch in range(1, epochs[-1] + 1):
        active = [run for run in runs if not run.converged]
        if not active:
            break
        learning = sorted({run.part for run in active})
        for run in active:
            run.begin_epoch()
        for visits in rows.visits(f"{name}, epoch {epoch}", epoch):
            batches = {part: rows.visit(visits, part, scalings[part]) for part in learning}
            _all(pool, lambda run, by=batches, first=epoch == 1: run.visit(by[run.part], first), active)
        for run in active:
            run.end_epoch()
        judged = [run for run in active if run.converged or epoch in epochs]
        if judged:
            _score(judged, rows, scalings, f"{name}, held-out rows", epoch, pool)
        for run in judged:
            if run.converged:
                run.stay(epoch, [later for later in epochs if later > epoch])
    for run in runs:
        run.free()


def _score(
    runs: list[_Run],
    rows: _Rows,
    scalings: dict[int, Scaling | None],
    doing: str,
    epoch: int,
    pool: ThreadPoolExecutor,
) -> None:
    for run in runs:
        run.begin_scoring((False, True) if run.settings.average else (False,))
    for block, fold in rows.blocks(doing):
        labels = rows.labels(block)
        held = {run.part: rows.held(block, fold, labels, run.part, scalings[run.part]) for run in runs}
        _all(pool, lambda run, by=held: run.score(epoch, *by[run.part]), runs)


def _all(pool: ThreadPoolExecutor, work: Any, runs: list[_Run]) -> None:
    for _ in pool.map(work, runs):  # raises the exceptions of the calls
        pass


def _outcomes(runs: list[_Run], grid: Grid, scale: str | None) -> list[Outcome]:
    by_settings: dict[Settings, list[_Run]] = {}
    for run in runs:
        by_settings.setdefault(run.settings, []).append(run)
    found = []
    for (settings, own), average, epochs in product(
        by_settings.items(), dict.fromkeys(grid.averages), sorted(set(grid.epochs))
    ):
        candidate = Candidate(scale, settings.rule, settings.C, average, epochs)
        tallies = tuple(run.tallies[epochs, average] for run in sorted(own, key=lambda run: run.part))
        found.append(Outcome(candidate, tallies, own[0].scoring))
    return found
