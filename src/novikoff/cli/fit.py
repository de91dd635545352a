"""`novikoff fit`: from files to a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from novikoff.cli import dask_fit, kernel_fit, output, paths, progress
from novikoff.cli.dask_fit import Cluster
from novikoff.cli.errors import INTERRUPTED
from novikoff.cli.evaluate import evaluated
from novikoff.cli.inputs import open_data
from novikoff.cli.kernel_fit import Kernels
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
    shaping,
)

if TYPE_CHECKING:
    from novikoff.data.labels import StreamClasses
    from novikoff.data.sources.bytestream import ByteStream
    from novikoff.data.sources.progress import Watch
    from novikoff.data.sources.source import Skipped, Source
    from novikoff.evaluation import Evaluation
    from novikoff.kernel.model import KernelModel
    from novikoff.linear.model import LinearModel
    from novikoff.training.checkpoint import Checkpoint
    from novikoff.training.plan import Plan


@dataclass
class Passes:
    """How often, and in which order, the rows are visited."""

    max_epochs: Annotated[int | None, option("max_epochs", shown_default=str(default("max_epochs")))] = None
    order: Annotated[str, option("order")] = default("order")
    random_state: Annotated[int, option("random_state")] = default("random_state")
    early_stopping: Annotated[bool, option("early_stopping")] = default("early_stopping")
    validation_fraction: Annotated[float, option("validation_fraction")] = default("validation_fraction")
    n_epochs_no_change: Annotated[int, option("n_epochs_no_change")] = default("n_epochs_no_change")

    @property
    def in_memory(self) -> bool:
        return self.order != "cyclic" or self.early_stopping

    def plan(self, n_jobs: int, verbose: bool) -> Plan:
        import numpy as np

        from novikoff.training.plan import Plan

        assert self.max_epochs is not None
        return Plan(
            max_epochs=self.max_epochs,
            order=self.order,
            rng=np.random.default_rng(self.random_state),
            early_stopping=self.early_stopping,
            validation_fraction=self.validation_fraction,
            n_epochs_no_change=self.n_epochs_no_change,
            n_jobs=n_jobs,
            verbose=int(verbose),
        )


@dataclass
class Keeping:
    """What is kept between passes, and for another run."""

    cache: Annotated[bool, option("cache")] = default("cache")
    checkpoint: Annotated[str | None, option("checkpoint", metavar="FOLDER")] = default("checkpoint")
    every: Annotated[int, option("every")] = default("every")
    resume: Annotated[bool, option("resume")] = default("resume")


def fit(
    ctx: typer.Context,
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA",
            help="Files to learn from, one after the other; a pattern in quotes, or - for standard input.",
            show_default=False,
        ),
    ],
    *,
    test: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Files to evaluate the model on; can be given several times."),
    ] = None,
    model: SavedAs = None,
    learning: Learning,
    kernels: Kernels,
    passes: Passes,
    labelling: Labelling,
    reading: Reading,
    columns: Columns,
    keeping: Keeping,
    cluster: Cluster,
    out: Output,
    verbose: Annotated[bool, option("verbose", "--verbose", "-v")] = default("verbose"),
) -> None:
    """Learn a model from files, and report what happened.

    For example: novikoff fit train.svm --test test.svm --epochs 5 --average --model spam.novikoff

    The files are read block by block in their own order, so they may be far larger than memory. Ctrl-C saves
    what has been learned so far. With --kernel they are read into memory, unless --budget and --order cyclic
    are given; with --dask they are read by the workers of a cluster, which learn from them side by side.
    """
    from novikoff.data.sources.bytestream import ByteStream

    kernels.settle(ctx, learning, passes)
    cluster.settle(ctx, data)
    in_memory = passes.in_memory or (kernels.kernel is not None and not kernels.streams(passes))
    files = ByteStream(data)  # whether they are there
    if test:
        ByteStream(test)
    quiet = out.quiet or out.json
    _settle(files, passes, labelling, keeping, in_memory, quiet)
    path = model or paths.default_path("-" if data[0] == "-" else files.names[0])
    paths.check_writable(path)
    made = shaping(learning, passes, labelling, reading, columns)
    source = _open(data, reading, columns, keeping) if cluster.dask is None else None
    made |= cluster.made() if source is None else {"format": source.format}
    checkpoint = _checkpoint(keeping, made, quiet, shards=source is None)
    classes = classes_of(labelling)
    with progress.shown(not quiet, passes.max_epochs or 0) as watch:
        plan = passes.plan(reading.n_jobs, verbose)
        if in_memory or source is None:
            watch, plan.callback = progress.in_memory(watch)
        learned: LinearModel | KernelModel
        if source is None:
            options = reading.given() | columns.given()
            learned, skipped = dask_fit.learn(
                data, options, classes, cluster, learning, plan, checkpoint, made
            )
        elif kernels.kernel is None:
            learned = _learn(source, classes, learning, plan, watch, checkpoint, made)
        else:
            made |= shaping(kernels)
            learned = kernel_fit.learn(
                source, classes, kernels, learning, plan, watch, made, in_memory=in_memory
            )
        if source is not None:
            skipped = source.skipped  # of the last pass
    runs = not in_memory and classes.seen is not None and classes.seen.are_long
    learned.save(path)
    assert learned.run is not None
    interrupted = learned.run.interrupted
    if checkpoint is not None and not interrupted:
        checkpoint.remove()
    tested: Evaluation | None = None
    try:
        if test and not interrupted:
            with progress.shown(not quiet) as watch:
                tested, _ = evaluated(path, test, reading, watch)
    finally:  # the model is there, whatever is wrong with the test
        _show(learned, skipped, path, tested, runs, out)
    if not quiet and (runs or (source is not None and not in_memory and _misled(learned, tested))):
        why = "rows of one class lie together" if runs else "the test is far worse than the last epoch"
        output.note(f"{why}: the order of the rows may mislead; --order shuffle reads them into memory.")
    if interrupted:
        how = " --resume goes on from the last checkpoint." if checkpoint and checkpoint.exists() else ""
        output.note(f"interrupted; what had been learned so far is saved in {path}.{how}")
        raise typer.Exit(INTERRUPTED)


def _settle(
    files: ByteStream, passes: Passes, labelling: Labelling, keeping: Keeping, in_memory: bool, quiet: bool
) -> None:
    """Fill in what depends on other options, and refuse what cannot be had together."""
    once = not files.can_reread and not in_memory
    if passes.max_epochs is None:
        passes.max_epochs = 1 if once else default("max_epochs")
        if once and not quiet:
            output.note(f"{files.name} can be read only once: one epoch.")
    if once and labelling.classes is None and labelling.positive is None:
        labelling.classes = "grow"
        if not quiet:
            output.note(
                "classes come in order of appearance, the first two by size where they are numbers; "
                "--classes a,b declares them."
            )
    if keeping.resume and keeping.checkpoint is None:
        raise typer.BadParameter(
            "needs --checkpoint FOLDER, to know where to go on from.", param_hint="--resume"
        )
    if keeping.checkpoint is not None and passes.in_memory:
        what = "--early-stopping" if passes.early_stopping else f"--order {passes.order}"
        raise typer.BadParameter(
            f"is only possible with --order cyclic, not with {what}.", param_hint="--checkpoint"
        )
    if not files.can_reread:
        for given, flag in ((keeping.checkpoint, "--checkpoint"), (keeping.cache, "--cache")):
            if given:
                raise typer.BadParameter("is not possible for what can be read only once.", param_hint=flag)


def _open(data: list[str], reading: Reading, columns: Columns, keeping: Keeping) -> Source:
    source = open_data(data, **reading.given(), **columns.given())
    if keeping.cache:
        from novikoff.data.sources.cache import cached

        source = cached(source)
    return source


def classes_of(labelling: Labelling) -> StreamClasses:
    """What the options say of the classes."""
    from novikoff.data.labels import StreamClasses
    from novikoff.parameters.table import OTHER

    declared: list[Any] | None = labelling.declared
    if declared is None and labelling.positive is not None:
        declared = [OTHER, labelling.positive]
    return StreamClasses(declared, grow=labelling.grows, rename=labelling.renaming())


def _checkpoint(keeping: Keeping, made: dict[str, Any], quiet: bool, *, shards: bool) -> Any:
    """Where a fit is kept: one that reads a source, or one on `shards`; None for nowhere."""
    if keeping.checkpoint is None:
        return None
    from novikoff.distributed.checkpoint import MixingCheckpoint
    from novikoff.training.checkpoint import Checkpoint

    folder = Path(keeping.checkpoint)
    checkpoint = MixingCheckpoint(folder, made) if shards else Checkpoint(folder, made, keeping.every)
    if checkpoint.exists() and not keeping.resume:
        raise ValueError(
            f"{checkpoint.path} holds an unfinished fit: go on with it by --resume, or remove it "
            "to start again."
        )
    if keeping.resume and not checkpoint.exists() and not quiet:
        output.note(f"there is no checkpoint in {keeping.checkpoint} yet: starting from the beginning.")
    checkpoint.folder.mkdir(parents=True, exist_ok=True)  # now, rather than after a million rows
    return checkpoint


def _learn(
    source: Source,
    classes: StreamClasses,
    learning: Learning,
    plan: Plan,
    watch: Watch | None,
    checkpoint: Checkpoint | None,
    made: dict[str, Any],
) -> LinearModel:
    from novikoff.linear.model import LinearModel
    from novikoff.training import streaming

    learned = streaming.fit(
        source,
        classes,
        learning.settings(),
        plan,
        scale=learning.scale,
        class_weight=class_weights(learning.class_weight),
        watch=watch,
        checkpoint=checkpoint,
    )
    return LinearModel(
        learned.model,
        learned.classes,
        source.features,
        scaling=learned.scaling,
        parameters=made,
        run=learned.run,
        order=plan.order,
    )


def _misled(learned: LinearModel | KernelModel, tested: Evaluation | None) -> bool:
    """Whether the model did far better while it followed the rows than it does on others."""
    if tested is None or learned.run is None or not learned.history:
        return False
    mistaken: float = learned.history[-1]["mistakes"] / max(learned.run.n_rows, 1)
    return 1 - tested.accuracy > 2 * mistaken + 0.1


def _show(
    learned: LinearModel | KernelModel,
    skipped: Skipped,
    path: Path,
    tested: Evaluation | None,
    runs: bool,
    out: Output,
) -> None:
    from novikoff.linear.model import LinearModel

    report = learned.report
    assert report is not None
    if out.json:
        output.write_json(
            {
                "model": str(path),
                "classes": learned.classes.tolist(),
                "interrupted": learned.run is not None and learned.run.interrupted,
                "report": report.to_dict(),
                "history": learned.history,
                "test": None if tested is None else tested.to_dict(),
                "labels_in_runs": runs,
                "skipped": {"count": skipped.count, "first": skipped.first},
                "parameters": learned.parameters,
            }
        )
        return
    lines = str(report).split("\n")
    if not isinstance(learned, LinearModel):
        lines += [f"  {name:<10} {text}" for name, text in output.kernel_facts(learned)]
    if tested is not None:
        lines.append(f"  {'test':<10} {output.headline(tested)}")
    lines += output.skipped_lines(skipped)
    lines.append(f"  {'saved':<10} {path} ({output.size_of(path)})")
    output.say(lines)
