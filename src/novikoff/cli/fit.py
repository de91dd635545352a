"""`novikoff fit`: from files to a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from novikoff.cli import columns, continuing, dask_fit, kernel_fit, output, progress, strict
from novikoff.cli import options as opt
from novikoff.cli.errors import DONE, INTERRUPTED
from novikoff.cli.inputs import open_labelled, open_to_learn, spooled
from novikoff.cli.learning import classes_of, plan_of, settings_of
from novikoff.cli.options import Options, UsageError
from novikoff.cli.parser import command
from novikoff.cli.paths import model_path
from novikoff.parameters.common import AUTO

if TYPE_CHECKING:
    from novikoff.data.sources.bytestream import ByteStream
    from novikoff.data.sources.source import Skipped, Source
    from novikoff.evaluation import Evaluation
    from novikoff.kernel.model import KernelModel
    from novikoff.linear.model import LinearModel
    from novikoff.training.row_model import Labels


SCHEMA = opt.file_option(
    "schema",
    "Kinds of a table's columns by their names, as one JSON object: number, category, text, date, timestamp, "
    "time, duration, label, weight or ignored. Other columns are read as they are without it.",
    "FILE",
)
WRITE_SCHEMA = opt.file_option("write_schema", "Write the kinds of all columns to this file.", "FILE")
CONTINUE_FROM = opt.file_option(
    "continue_from",
    "Go on learning from this linear or kernel model with new files: its columns, classes, scaling, rule and "
    "settings stay, and its counts and averages go on. --classes grow lets a linear model gain classes.",
    "MODEL",
)
DRY_RUN = opt.flag(
    "dry_run", "Read the first rows; show columns, classes and plan; learn nothing, and write no model."
)


@command(
    opt.TO_LEARN,
    groups={
        **opt.ROWS | {"Columns and features": (*opt.COLUMNS, SCHEMA)},
        "Learning": (CONTINUE_FROM, *opt.LEARNING),
        "Epochs and their order": opt.PASSES,
        "Kernels": opt.KERNELS,
        "Clusters": opt.CLUSTER,
        "Reporting": (opt.TEST, DRY_RUN, "verbose", *opt.OUTPUT),
        "Writing": (opt.SAVED_AS, WRITE_SCHEMA),
        "Caches and checkpoints": opt.KEEPING,
    },
    examples=(
        "novikoff fit examples/data/iris.csv",
        "novikoff fit examples/data/messages.tsv --text message --model spam.novikoff",
    ),
)
def fit(options: Options) -> int:
    """Learn a model from files, and report what happened.

    The files are read block by block, so they may be far larger than memory. Ctrl-C saves what has been
    learned so far. With --kernel they are read into memory, unless --budget and --order cyclic are given;
    with --dask the workers of a cluster read them, and learn from them in parallel.

    With --continue-from each epoch visits every new row once. One epoch in the order of the files gives the
    weights that partial_fit gives; the earlier rows are not visited again, and no verdict is about them.
    """
    from novikoff.data.sources.block import by_name
    from novikoff.data.sources.bytestream import ByteStream
    from novikoff.linear.model import LinearModel
    from novikoff.training import streaming
    from novikoff.training.loop import train

    begun = continuing.begin(options)
    kernel_fit.settle(options)
    dask_fit.settle(options)
    in_memory = options.order not in ("cyclic", "riffle") or options.early_stopping
    in_memory = in_memory or (options.kernel is not None and not kernel_fit.streams(options))
    piped = "-" in options.data
    if _needs_spool(options, in_memory):
        options.data = spooled(options.data)
    files = ByteStream(options.data)  # checks that they exist
    if options.test:
        ByteStream(options.test)
    quiet = options.quiet or options.json
    _settle(options, files, in_memory, quiet)
    path = model_path(options.model, "-" if files.names[0] == "standard input" and piped else files.names[0])
    made = opt.saved(options, opt.LEARNING, opt.PASSES, opt.LABELS, opt.READING, opt.COLUMNS)
    strict.check_effects(options)
    strict.check_declared(options)
    if options.dry_run:
        looked = (
            open_to_learn(options, labelled=False) if begun is None else continuing.open_more(options, begun)
        )
        columns.dry_run(options, looked, path)
        return DONE
    source = None
    if begun is not None:
        source = continuing.open_more(options, begun)
    elif options.dask is None:
        source = open_to_learn(options)
    if source is not None and begun is None and not quiet:
        columns.note_doubts(source)
    made |= opt.saved(options, ("mixing", "n_shards")) if source is None else {"format": source.format}
    if begun is not None:
        made = continuing.made_with(options, begun, made)
    before = None if begun is None else continuing.facts_before(begun)
    checkpoint = _checkpoint(options, made, quiet)
    classes = classes_of(options) if begun is None else continuing.classes_of(options, begun)
    whole_test = not options.test
    if options.test and source is not None:
        whole_test = strict.check_test(options, source, classes.rename, begun)
    learned: LinearModel | KernelModel
    with progress.bar(not quiet, options.max_epochs if isinstance(options.max_epochs, int) else 0) as watch:
        after_epoch = None
        if in_memory or source is None:
            watch, after_epoch = progress.by_epoch(watch)
        plan = plan_of(options, after_epoch)
        how: Any = {"scale": options.scale, "watch": watch}
        if source is None:
            learned, skipped = dask_fit.learn(options, classes, plan, checkpoint, made)
        elif options.kernel is None:
            done = streaming.fit(
                *(source, classes, settings_of(options), plan),
                class_weight=options.class_weight,
                checkpoint=checkpoint,
                start=_start_of(begun),
                **how,
            )
            learned = LinearModel(
                done.model,
                done.classes if begun is None else _same_type(done.classes, begun.classes),
                source.features,
                scaling=done.scaling,
                parameters=made | {"order": done.order},
                run=done.run,
                order=done.order,
            )
            if done.order != options.order:
                _say_in_order(source, options, quiet)
        elif in_memory:
            from novikoff.kernel.model import KernelModel

            kept = {} if begun is None else {"scale": None, "scaling": begun.scaling}
            rows = kernel_fit.read_rows(source, classes, **how | kept)
            with by_name(rows.where, source.features):
                settings = kernel_fit.settings_of(options)
                if begun is not None:
                    assert isinstance(begun, KernelModel)
                    trainer = settings.continuing(begun.dual, rows.X, rows.labels, plan)
                else:
                    trainer = settings.trainer(rows.X, rows.labels, classes.n_classes, plan)
                run = train(trainer, plan)
                dual = settings.fitted(trainer, run)
            learned = kernel_fit.model_of(options, dual, classes, source, rows.scaling, run, made)
        else:
            from novikoff.kernel import budget_streaming
            from novikoff.kernel.budget import BudgetModel

            settings = kernel_fit.settings_of(options)
            if begun is not None:
                earlier = getattr(begun, "dual", None)
                assert isinstance(earlier, BudgetModel)  # as --budget is the model's
                how["start"] = earlier, begun.scaling
            streaming_trainer = budget_streaming.trainer_of(source, classes, settings, plan, **how)
            run = train(streaming_trainer, plan)
            dual, scaling = streaming_trainer.fitted(run), streaming_trainer.examples.scaling
            learned = kernel_fit.model_of(options, dual, classes, source, scaling, run, made)
        if source is not None:
            skipped = source.skipped  # in the last pass
    if source is not None:
        strict.check_met(options, classes, whole_test=whole_test)
        if options.write_schema is not None:
            columns.write_schema(options.write_schema, source)
    learned.save(path)
    assert learned.run is not None
    interrupted = learned.run.interrupted
    if checkpoint is not None and not interrupted:
        checkpoint.remove()
    tested: Evaluation | None = None
    in_order = learned.report is not None and learned.report.in_given_order and not in_memory
    runs = in_order and classes.seen is not None and classes.seen.are_long
    try:
        if options.test and not interrupted:
            from novikoff.evaluation import evaluate

            with progress.bar(not quiet) as watch:
                tests = open_labelled(path, options.test, opt.row_options(options, opt.READING))
                tested = evaluate(*tests, n_jobs=options.n_jobs, watch=watch)
    finally:  # the model is reported even if the test fails
        _show(learned, skipped, path, tested, runs, before, options)
    if not interrupted:
        return DONE
    how_to = " --resume continues from the last checkpoint." if checkpoint and checkpoint.exists() else ""
    output.note(f"interrupted; what had been learned so far is saved in {path}.{how_to}")
    return INTERRUPTED


def _needs_spool(options: Options, in_memory: bool) -> bool:
    """Whether standard input is read more than once: scaling by column measures the rows first."""
    hashed = options.scale == AUTO and options.hash_bits is not None
    known = hashed or options.continue_from is not None  # the model's is
    by_column = options.scale not in (None, "unit") and not known and options.dask is None and not in_memory
    if "-" not in options.data or not by_column or options.cache or options.cache_path or options.checkpoint:
        return False
    if not (options.quiet or options.json):
        output.note(
            f"standard input is kept, beyond 64 MiB in a temporary file, because --scale {options.scale} "
            "measures the rows before it learns from them; --scale none learns from them as they come."
        )
    return True


def _settle(options: Options, files: ByteStream, in_memory: bool, quiet: bool) -> None:
    """Set the options that depend on others, and refuse incompatible ones."""
    once = not files.can_reread and not in_memory
    if once and "max_epochs" not in options.given:
        options.max_epochs = 1
        if not quiet:
            output.note(f"{files.name} can be read only once, so there is one epoch.")
    if once and options.classes is None and options.positive is None and options.continue_from is None:
        options.classes = "grow"
        if not quiet:
            output.note(
                "classes are in order of appearance, except that the first two are sorted if they are "
                "numbers; --classes a,b declares the order."
            )
    if options.resume and options.checkpoint is None:
        raise UsageError("needs --checkpoint FOLDER, the place to resume from.", "--resume")
    if options.checkpoint is not None and in_memory:
        what = "--early-stopping" if options.early_stopping else f"--order {options.order}"
        raise UsageError(f"is only possible with --order cyclic or riffle, not with {what}.", "--checkpoint")
    caches = (options.cache, "--cache"), (options.cache_path, "--cache-path")
    if not files.can_reread:
        for given, flag in ((options.checkpoint, "--checkpoint"), *caches):
            if given:
                raise UsageError("is not possible for input that can be read only once.", flag)


def _say_in_order(source: Source, options: Options, quiet: bool) -> None:
    """Say that rows were not riffled, unless the defaults were not meant for this input."""
    if quiet or not (source.can_reread or "order" in options.given):
        return
    can_keep = source.can_reread and options.continue_from is None
    remedy = "; --cache keeps a copy that can be riffled" if can_keep else ""
    output.note(f"{source.only_in_order}: rows were visited in their order, not riffled{remedy}.")


def _start_of(model: LinearModel | KernelModel | None) -> Any:
    """What a linear fit goes on from."""
    from novikoff.linear.model import LinearModel
    from novikoff.training.streaming import Start

    if model is None:
        return None
    assert isinstance(model, LinearModel)  # as --kernel is the model's
    return Start(model.model, model.scaling)


def _same_type(classes: Labels, before: Labels) -> Labels:
    """The classes, in the type that the model had unless there are new ones."""
    return before if len(classes) == len(before) else classes


def _checkpoint(options: Options, made: dict[str, Any], quiet: bool) -> Any:
    """The checkpoint of a fit, of a source or on a cluster; None if none is wanted."""
    if options.checkpoint is None:
        return None
    from novikoff.distributed.checkpoint import MixingCheckpoint
    from novikoff.training.checkpoint import Checkpoint

    folder, on_cluster = Path(options.checkpoint), options.dask is not None
    checkpoint = MixingCheckpoint(folder, made) if on_cluster else Checkpoint(folder, made, options.every)
    if checkpoint.exists() and not options.resume:
        raise ValueError(
            f"{checkpoint.path} holds an unfinished fit: continue it with --resume, or remove the file to "
            "start again."
        )
    if options.resume and not checkpoint.exists() and not quiet:
        output.note(f"there is no checkpoint in {folder} yet: starting from the beginning.")
    folder.mkdir(parents=True, exist_ok=True)  # fail now, rather than after a million rows
    return checkpoint


def _show(
    learned: LinearModel | KernelModel,
    skipped: Skipped,
    path: Path,
    tested: Evaluation | None,
    runs: bool,
    before: dict[str, int] | None,
    options: Options,
) -> None:
    from novikoff.linear.model import LinearModel

    report = learned.report
    assert report is not None
    if tested is not None:
        report = replace(report, test=tested.score)
    if options.json:
        output.write_json(
            {
                "model": str(path),
                "classes": learned.classes.tolist(),
                "interrupted": learned.run is not None and learned.run.interrupted,
                "report": report.to_dict(),
                "history": learned.history,
                "test": None if tested is None else tested.to_dict(),
                "labels_in_runs": runs,
                "continued_from": None if before is None else {"model": str(options.continue_from)} | before,
                "columns": columns.column_facts(learned.features),
                "skipped": {"count": skipped.count, "first": skipped.first},
                "parameters": learned.parameters,
            }
        )
        return
    lines = output.report_lines(report, verbose=options.verbose)
    if before is not None:
        was = ", ".join(f"{count:,} {name}" for name, count in before.items())
        lines.append(f"  {'continued':<10} from {options.continue_from}, which had made {was}")
    lines += columns.column_lines(learned.features)
    if not isinstance(learned, LinearModel):
        lines += [f"  {name:<10} {text}" for name, text in output.kernel_facts(learned)]
    lines += output.skipped_lines(skipped)
    lines.append(f"  {'saved':<10} {path} ({output.size_of(path)})")
    output.say(lines)
