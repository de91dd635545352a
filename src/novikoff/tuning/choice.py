"""Choose rule, averaging, epochs and scaling on held-out rows, then learn from all rows.

The scaling of columns is measured only on the rows learned from. A candidate with n epochs is the longest run
as it was after n epochs.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from novikoff.data.labels import StreamClasses
from novikoff.data.sources.bytestream import check_whole
from novikoff.data.sources.kept import KeptSource
from novikoff.data.sources.progress import Watch
from novikoff.data.sources.source import Source
from novikoff.data.threads import threads
from novikoff.parameters.tuning import TUNING_PARAMETERS
from novikoff.shown import Shown, table_text
from novikoff.training.plan import Plan
from novikoff.training.streaming import Learned, fit
from novikoff.training.weights import Settings
from novikoff.tuning.candidates import Candidate, Grid, Outcome
from novikoff.tuning.parts import Parts
from novikoff.tuning.race import race
from novikoff.tuning.rows import Rows

MAX_MEMORY = 1 << 30
SHOWN = 10  # outcomes of a result


@dataclass(repr=False)
class TuneResult(Shown):
    """The outcomes, best first, and what the best candidate learned from all rows."""

    table: list[Outcome]
    n_rows: int
    parts: str  # how rows were held out, in words
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
    folds: int | str = TUNING_PARAMETERS["folds"].default,
    split: float | None = None,
    thorough: bool = TUNING_PARAMETERS["thorough"].default,
    scoring: str = TUNING_PARAMETERS["scoring"].default,
    order: str = TUNING_PARAMETERS["order"].default,
    random_state: int = 0,
    class_weight: dict[str, float] | str | None = None,
    n_jobs: int | None = None,
    max_memory: int = MAX_MEMORY,
    watch: Watch | None = None,
    refit: bool = True,
) -> TuneResult:
    """Try the combinations of `grid` on held-out rows of a source, then learn from all rows with the best.

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
    folds : default 'auto'
        The number of parts, each of which is held out once. 'auto': 5; fewer than 1,000 rows are divided in
        four ways, and of 100,000 rows or more only the first part is held out.
    split : default None
        The share of the rows to hold out once, instead of folds.
    thorough : default False
        Whether to run every combination to the end. Otherwise only the better half goes on after each number
        of epochs but the last; unless rows are few, the first part alone decides this.
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
    for name, value in (
        ("folds", folds),
        ("split", split),
        ("scoring", scoring),
        ("order", order),
        ("thorough", thorough),
    ):
        TUNING_PARAMETERS[name].check(value)
    check_whole("random_state", random_state, 0)
    if not source.can_reread:
        raise ValueError(
            f"{source.name} can be read only once, which is not enough for tuning: save it to a file."
        )
    if classes.grows:
        raise ValueError("tuning finds the classes first: they cannot grow.")
    if order == "riffle" and (source.only_in_order or source.enters_slowly):
        source = KeptSource(source)
    rows = Rows(source, classes, Parts.of(folds, split, random_state), watch, order)
    rows.look(grid.scales, class_weight, scoring)
    with ThreadPoolExecutor(threads(n_jobs)) as pool:
        outcomes = race(rows, settings, grid, scoring, max_memory, pool, thorough=thorough)
    # first those judged by all parts; the sort is stable: among equals fewer epochs win, then the first
    outcomes.sort(key=lambda o: (-len(o.tallies), -o.score, o.candidate.epochs))
    result = TuneResult(outcomes, rows.n_rows, str(rows.parts), classes=classes.labels.tolist())
    if refit:
        best = result.best
        chosen = replace(settings, rule=best.rule, C=best.C, average=best.average)
        rng = np.random.default_rng(random_state)
        plan = Plan(max_epochs=best.epochs, order=order, rng=rng, n_jobs=n_jobs)
        result.learned = fit(
            source, classes, chosen, plan, scale=best.scale, class_weight=class_weight, watch=watch
        )
    return result
