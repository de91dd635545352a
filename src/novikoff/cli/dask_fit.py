"""The parts of `novikoff fit` that differ on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from novikoff.cli.learning import settings_of
from novikoff.cli.options import Options, UsageError, defaults, flag_of, row_options
from novikoff.parameters.common import AUTO

if TYPE_CHECKING:
    from novikoff.data.labels import StreamClasses
    from novikoff.data.sources.source import Skipped
    from novikoff.distributed.checkpoint import MixingCheckpoint
    from novikoff.linear.model import LinearModel
    from novikoff.training.plan import Plan

ONE_MACHINE = (
    *(
        "kernel",
        "early_stopping",
        "validation_fraction",
        "n_epochs_no_change",
        "cache",
        "cache_path",
        "every",
    ),
    *("order", "random_state"),
)
OTHER_DEFAULTS = {"max_epochs": 10, "average": False, "order": "cyclic"}


def settle(options: Options) -> None:
    """Refuse incompatible options, and a cluster where Dask is not installed."""
    given = options.given
    if options.dask is None:
        for name in ("mixing", "n_shards"):
            if name in given:
                raise UsageError("is only possible with --dask.", flag_of(name))
        return
    usual = defaults(ONE_MACHINE) | OTHER_DEFAULTS
    for name in ONE_MACHINE:
        if name in given and vars(options)[name] != usual[name]:
            raise UsageError("is not possible with --dask.", flag_of(name))
    for name, value in OTHER_DEFAULTS.items():
        if name not in given:
            setattr(options, name, value)
    if options.max_epochs == AUTO:
        raise UsageError("auto is not possible with --dask.", "--epochs")
    if options.classes == "grow":
        raise UsageError("grow is not possible with --dask.", "--classes")
    if "-" in options.data:
        raise UsageError("workers cannot read standard input.", "DATA")
    import novikoff.dask

    novikoff.dask.check_installed()


def learn(
    options: Options,
    classes: StreamClasses,
    plan: Plan,
    checkpoint: MixingCheckpoint | None,
    made: dict[str, Any],
) -> tuple[LinearModel, Skipped]:
    """Learn on the cluster, and leave the cluster as it was, whatever happens."""
    from novikoff.data.labels import as_text
    from novikoff.distributed import cluster as clusters
    from novikoff.distributed.files import load_files
    from novikoff.distributed.linear_shard import LinearMethod
    from novikoff.distributed.rounds import trainer_of
    from novikoff.linear.model import LinearModel
    from novikoff.training.loop import train

    where = None if options.dask == "local" else options.dask
    try:
        with _without_log(), clusters.session(where, checkpoint) as session:
            shards = load_files(
                session,
                options.data,
                options.n_shards,
                classes.declared,
                options.class_weight,
                row_options(options),
                None,
                rename=classes.rename,
                scale=options.scale,
            )
            if len(shards.seen) < 2:
                only = as_text(shards.seen[0])
                raise ValueError(
                    f"there must be at least two classes, but all shards have only one class: {only!r}."
                )
            labels = shards.classes.labels
            method = LinearMethod(len(labels), shards.n_features, settings_of(options), "cyclic")
            made["format"] = shards.format
            begin = method.begin()
            trainer = trainer_of(session, shards.futures, method, begin, plan, options.mixing, checkpoint)
            run = train(trainer, trainer.plan, trainer.run)
            model = method.model(trainer.bring(), trainer.standing.parts)
    except clusters.ClusterError as error:
        raise OSError(str(error)) from None
    except ConnectionError as error:
        if checkpoint is None or not checkpoint.exists():
            raise
        raise ConnectionError(f"{error} --resume continues from there.") from None
    scaling = shards.scaling
    if scaling is not None and scaling.kind == AUTO:  # the shards learned from rows times powers of two
        model.fold(1 / scaling.scale)
        if run.witness is not None:
            run.witness = run.witness[0] / scaling.scale, run.witness[1]
        scaling = None
    assert shards.features is not None and run.call is not None
    model.ledger = model.ledger.after(run.call)
    learned = LinearModel(
        model,
        labels,
        shards.features,
        scaling=scaling,
        parameters=made,
        run=run,
        name="DistributedPerceptron",
    )
    return learned, shards.skipped


@contextmanager
def _without_log() -> Iterator[None]:
    """Suppress Dask's log of lost connections: an error is reported once, in one line."""
    import logging

    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
