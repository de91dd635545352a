"""`novikoff tune`: choose how to learn by held-out rows, then learn a model from all rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from novikoff.cli import options as opt
from novikoff.cli import output, progress
from novikoff.cli.inputs import open_labelled, open_to_learn
from novikoff.cli.learning import classes_of, settings_of
from novikoff.cli.options import Argument, Options, UsageError
from novikoff.cli.parser import command
from novikoff.cli.paths import model_path
from novikoff.parameters.tuning import TUNING_PARAMETERS

if TYPE_CHECKING:
    from novikoff.evaluation import Evaluation
    from novikoff.linear.model import LinearModel
    from novikoff.tuning import Outcome, TuneResult

SHOWN = 10  # candidates that are listed
SAID = {"balanced_accuracy": "balanced accuracy", "f1": "F1", "auc": "the area under the ROC curve"}
SAME = (*opt.DECISIONS, "margin", "multiclass", "class_weight")


@command(
    Argument("data", "DATA...", "Files to learn from, one after the other; a pattern in quotes."),
    groups={
        "Reading files": opt.READING,
        "Columns and features": opt.COLUMNS,
        "Labels": opt.LABELS,
        "What to try": (
            *(
                "scoring",
                "folds",
                "split",
                "thorough",
                "rules",
                "averages",
                "epochs",
                "scales",
                "Cs",
                "order",
                "random_state",
            ),
        ),
        "The same for all that is tried": SAME,
        "Reporting": (opt.TEST, *opt.OUTPUT),
        "Writing": (opt.SAVED_AS, "cache", "cache_path"),
    },
    examples=("novikoff tune examples/data/wine-train.svm --test examples/data/wine-test.svm",),
)
def tune(options: Options) -> None:
    """Choose how to learn by held-out rows, then learn from all rows.

    What is tried is every combination of rules, averaging, epochs and scaling.

    The files are read several times, block by block. Which rows are held out depends only on the number of
    rows and --random-state. The model is what 'novikoff fit' gives with these options.
    """
    from novikoff.data.sources.bytestream import ByteStream
    from novikoff.evaluation import evaluate
    from novikoff.linear.model import LinearModel
    from novikoff.tuning import Grid, tune

    files = ByteStream(options.data)  # checks that they exist
    if options.test:
        ByteStream(options.test)
    if not files.can_reread:
        raise ValueError(
            f"{files.name} can be read only once, which is not enough for tuning: save it to a file."
        )
    if options.classes == "grow":
        raise UsageError("tuning finds the classes first, so they cannot grow.", "--classes")
    if options.order not in ("riffle", "cyclic"):
        raise UsageError(f"tuning reads the files in order riffle or cyclic, not {options.order}.", "--order")
    path = model_path(options.model, files.names[0])
    source = open_to_learn(options)
    classes = classes_of(options)
    quiet = options.quiet or options.json
    usual = opt.defaults((*opt.LEARNING, *opt.PASSES))
    kept = opt.saved(options, SAME, ("random_state",), opt.LABELS, opt.READING, opt.COLUMNS)
    with progress.bar(not quiet) as watch:
        result = tune(
            source,
            classes,
            settings_of(Options(**usual | kept)),
            Grid(**{name: vars(options)[name] for name in ("rules", "averages", "epochs", "scales", "Cs")}),
            folds=options.folds,
            split=options.split,
            thorough=options.thorough,
            scoring=options.scoring,
            order=options.order if "order" in options.given else TUNING_PARAMETERS["order"].default,
            random_state=options.random_state,
            class_weight=options.class_weight,
            n_jobs=options.n_jobs,
            watch=watch,
        )
    best, learned = result.best, result.learned
    assert learned is not None
    chosen = {name: getattr(best, name) for name in ("rule", "average", "C", "scale")}
    model = LinearModel(
        learned.model,
        learned.classes,
        source.features,
        scaling=learned.scaling,
        parameters=usual
        | kept
        | chosen
        | {"max_epochs": best.epochs, "order": learned.order, "format": source.format},
        run=learned.run,
        order=learned.order,
    )
    model.save(path)
    tested: Evaluation | None = None
    try:
        if options.test:
            with progress.bar(not quiet) as watch:
                tests = open_labelled(path, options.test, opt.row_options(options, opt.READING))
                tested = evaluate(*tests, n_jobs=options.n_jobs, watch=watch)
    finally:  # the model is reported even if the test fails
        _show(result, model, path, tested, options)
    if not quiet and learned.order == "cyclic" and classes.seen is not None and classes.seen.are_long:
        output.note(
            "rows of one class are grouped together in the files, and this order gives poor weights: "
            "shuffle the lines first, or use --order riffle (for compressed files with --cache)."
        )


def _show(
    result: TuneResult,
    model: LinearModel,
    path: Path,
    tested: Evaluation | None,
    options: Options,
) -> None:
    report = model.report
    assert report is not None
    if tested is not None:
        report = replace(report, test=tested.score)
    if options.json:
        output.write_json(
            {
                "model": str(path),
                "rows": result.n_rows,
                "folds": None if options.split is not None else options.folds,
                "split": options.split,
                "held_out": result.parts,
                "scoring": options.scoring,
                "best": vars(result.best),
                "tried": [_figures(outcome) for outcome in result.table],
                "report": report.to_dict(),
                "test": None if tested is None else tested.to_dict(),
                "parameters": model.parameters,
            }
        )
        return
    lines = [_head(result, options), *_lines(result.table), "", *output.report_lines(report)]
    lines.append(f"  {'saved':<10} {path} ({output.size_of(path)})")
    output.say(lines)


def _head(result: TuneResult, options: Options) -> str:
    count = sum(result.table[0].held_out)
    by = "" if options.scoring == "accuracy" else f", by {SAID[options.scoring]}"
    rows = f"{result.parts} of {result.n_rows:,} rows ({count:,} held out)"
    return f"tried {len(result.table)} ways to learn on {rows}{by}:"


def _lines(table: list[Outcome]) -> list[str]:
    several = len(table[0].held_out) > 1
    spread = f"  {'lowest':>7}  {'highest':>7}" if several else ""
    lines = [f"  {'held out':>9}{spread}  {'epochs':>6}  {'average':<7}  {'scale':<8}  rule"]
    for outcome in table[:SHOWN]:
        way, by_fold = outcome.candidate, outcome.by_fold
        spread = f"  {100 * min(by_fold):>7.2f}  {100 * max(by_fold):>7.2f}" if several else ""
        mean = "yes" if way.average else "no"
        lines.append(
            f"  {100 * outcome.score:>7.2f} %{spread}  {way.epochs:>6}  {mean:<7}  "
            f"{way.scale or 'none':<8}  {way.rule_text}"
        )
    if len(table) > SHOWN:
        lines.append(f"  and {len(table) - SHOWN} more; --json shows all")
    return lines


def _figures(outcome: Outcome) -> dict[str, Any]:
    return vars(outcome.candidate) | {
        "score": outcome.score,
        "accuracy": outcome.accuracy,
        "by_fold": outcome.by_fold,
        "correct": sum(outcome.correct),
        "rows": sum(outcome.held_out),
    }
