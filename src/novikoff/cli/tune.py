"""`novikoff tune`: the best way to learn from files, by rows held out; then a model from all of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from novikoff.cli import output, paths, progress
from novikoff.cli.evaluate import evaluated
from novikoff.cli.fit import Passes, classes_of
from novikoff.cli.inputs import open_data
from novikoff.cli.options import (
    Columns,
    Labelling,
    Learning,
    Output,
    Reading,
    SavedAs,
    class_weights,
    default,
    option,
    read,
    shaping,
)

if TYPE_CHECKING:
    from novikoff.evaluation import Evaluation
    from novikoff.linear.model import LinearModel
    from novikoff.tuning import Grid, Outcome, TuneResult

SHOWN = 10  # candidates


@dataclass
class Trying:
    """What is tried, and how it is judged."""

    folds: Annotated[int, option("folds")] = default("folds")
    split: Annotated[float | None, option("split")] = default("split")
    rules: Annotated[str, option("rules")] = ",".join(default("rules"))
    average: Annotated[str, option("averages", "--average", metavar="both|yes|no")] = "both"
    epochs: Annotated[str, option("epochs")] = ",".join(map(str, default("epochs")))
    scales: Annotated[str, option("scales")] = ",".join(each or "none" for each in default("scales"))
    Cs: Annotated[str, option("Cs", "--C")] = ",".join(f"{c:g}" for c in default("Cs"))
    random_state: Annotated[int, option("random_state")] = default("random_state")

    def grid(self) -> Grid:
        from novikoff.tuning import Grid

        return Grid(
            rules=read("rules", self.rules),
            averages=read("averages", self.average),
            epochs=read("epochs", self.epochs),
            scales=read("scales", self.scales),
            Cs=read("Cs", self.Cs),
        )


@dataclass
class Same:
    """What is the same for all that is tried."""

    fit_intercept: Annotated[bool, option("fit_intercept", "--intercept/--no-intercept")] = default(
        "fit_intercept"
    )
    intercept_scaling: Annotated[float, option("intercept_scaling")] = default("intercept_scaling")
    ties: Annotated[str, option("ties")] = default("ties")
    margin: Annotated[float, option("margin")] = default("margin")
    multiclass: Annotated[str, option("multiclass")] = default("multiclass")
    class_weight: Annotated[str | None, option("class_weight", metavar="balanced|LABEL=WEIGHT,...")] = (
        default("class_weight")
    )

    def learning(self, **chosen: Any) -> Learning:
        return Learning(**vars(self), **chosen)


def tune(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA",
            help="Files to learn from, one after the other; a pattern in quotes.",
            show_default=False,
        ),
    ],
    *,
    test: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Files to evaluate the final model on, once; they choose nothing. Can be given several "
            "times.",
        ),
    ] = None,
    model: SavedAs = None,
    trying: Trying,
    same: Same,
    labelling: Labelling,
    reading: Reading,
    columns: Columns,
    cache: Annotated[bool, option("cache")] = default("cache"),
    out: Output,
) -> None:
    """Choose rule, averaging, epochs and scaling by held-out rows, then learn from all rows.

    For example: novikoff tune train.svm --test test.svm --rules perceptron,pa1 --C 0.1,1 --model
    spam.novikoff

    The files are read several times, in their own order and block by block. Which rows are held out depends
    on their number and --random-state alone. The model is that of 'novikoff fit' with the chosen options.
    """
    from novikoff.data.sources.bytestream import ByteStream
    from novikoff.linear.model import LinearModel
    from novikoff.tuning import tune

    files = ByteStream(data)  # whether they are there
    if test:
        ByteStream(test)
    if not files.can_reread:
        raise ValueError(
            f"{files.name} can be read only once, which is not enough for tuning: save it to a file."
        )
    if labelling.grows:
        raise typer.BadParameter("tuning finds the classes first: they cannot grow.", param_hint="--classes")
    path = model or paths.default_path(files.names[0])
    paths.check_writable(path)
    source = open_data(data, **reading.given(), **columns.given())
    if cache:
        from novikoff.data.sources.cache import cached

        source = cached(source)
    classes = classes_of(labelling)
    quiet = out.quiet or out.json
    with progress.shown(not quiet) as watch:
        result = tune(
            source,
            classes,
            same.learning().settings(),
            trying.grid(),
            folds=trying.folds,
            split=trying.split,
            random_state=trying.random_state,
            class_weight=class_weights(same.class_weight),
            n_jobs=reading.n_jobs,
            watch=watch,
        )
    best, learned = result.best, result.learned
    assert learned is not None
    learning = same.learning(rule=best.rule, average=best.average, C=best.C, scale=best.scale)
    made = shaping(learning, Passes(max_epochs=best.epochs), labelling, reading, columns)
    linear = LinearModel(
        learned.model,
        learned.classes,
        source.features,
        scaling=learned.scaling,
        parameters=made | {"format": source.format},
        run=learned.run,
    )
    linear.save(path)
    tested: Evaluation | None = None
    try:
        if test:
            with progress.shown(not quiet) as watch:
                tested, _ = evaluated(path, test, reading, watch)
    finally:  # the model is there, whatever is wrong with the test
        _show(result, linear, path, tested, trying, out)
    if not quiet and classes.seen is not None and classes.seen.are_long:
        output.note(
            "rows of one class lie together in the files, and to learn them in that order misleads: mix the "
            "lines before."
        )


def _show(
    result: TuneResult,
    linear: LinearModel,
    path: Path,
    tested: Evaluation | None,
    trying: Trying,
    out: Output,
) -> None:
    report = linear.report
    assert report is not None
    if out.json:
        output.write_json(
            {
                "model": str(path),
                "rows": result.n_rows,
                "folds": None if trying.split is not None else trying.folds,
                "split": trying.split,
                "best": vars(result.best),
                "tried": [_figures(outcome) for outcome in result.table],
                "report": report.to_dict(),
                "test": None if tested is None else tested.to_dict(),
                "parameters": linear.parameters,
            }
        )
        return
    lines = [_head(result, trying), *_lines(result.table), "", *str(report).split("\n")]
    if tested is not None:
        lines.append(f"  {'test':<10} {output.headline(tested)}")
    lines.append(f"  {'saved':<10} {path} ({output.size_of(path)})")
    output.say(lines)


def _head(result: TuneResult, trying: Trying) -> str:
    how = f"{trying.folds} folds" if trying.split is None else f"a split of {trying.split:g}"
    count = sum(result.table[0].held_out)
    return f"tried {len(result.table)} ways to learn on {how} of {result.n_rows:,} rows ({count:,} held out):"


def _lines(table: list[Outcome]) -> list[str]:
    several = len(table[0].held_out) > 1
    spread = f"  {'lowest':>7}  {'highest':>7}" if several else ""
    lines = [f"  {'held out':>9}{spread}  {'epochs':>6}  {'average':<7}  {'scale':<8}  rule"]
    for outcome in table[:SHOWN]:
        way, by_fold = outcome.candidate, outcome.by_fold
        spread = f"  {100 * min(by_fold):>7.2f}  {100 * max(by_fold):>7.2f}" if several else ""
        mean = "yes" if way.average else "no"
        lines.append(
            f"  {100 * outcome.accuracy:>7.2f} %{spread}  {way.epochs:>6}  {mean:<7}  "
            f"{way.scale or 'none':<8}  {way.rule_text}"
        )
    if len(table) > SHOWN:
        lines.append(f"  and {len(table) - SHOWN} more; --json shows all")
    return lines


def _figures(outcome: Outcome) -> dict[str, Any]:
    said = {"accuracy": outcome.accuracy, "by_fold": outcome.by_fold}
    return vars(outcome.candidate) | said | {"correct": sum(outcome.correct), "rows": sum(outcome.held_out)}
