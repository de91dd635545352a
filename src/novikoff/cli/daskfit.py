"""The options of `novikoff fit` for clusters, and how a model is learned on one from files."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from novikoff.cli.options import Learning, class_weights, default, flag_of, given_on, option

if TYPE_CHECKING:
    from novikoff.data.labels import StreamClasses
    from novikoff.data.sources.source import Skipped
    from novikoff.distributed.checkpoint import MixingCheckpoint
    from novikoff.linear.model import LinearModel
    from novikoff.training.plan import Plan

ONE_MACHINE = (
    *("kernel", "early_stopping", "validation_fraction", "n_epochs_no_change", "cache", "every"),
    *("order", "random_state"),
)


@dataclass
class Cluster:
    """A cluster, and how what its workers learn becomes one model."""

    dask: Annotated[str | None, option("dask", metavar="ADDRESS|local")] = default("dask")
    mixing: Annotated[str, option("mixing")] = default("mixing")
    n_shards: Annotated[int | None, option("n_shards")] = default("n_shards")

    def made(self) -> dict[str, Any]:
        """What a model keeps of it."""
        return {"mixing": self.mixing, "n_shards": self.n_shards}

    def settle(self, ctx: typer.Context, data: list[str]) -> None:
        """Refuse what cannot be had together, and a cluster without the library for it."""
        given = given_on(ctx)
        if self.dask is None:
            for name in ("mixing", "n_shards"):
                if name in given:
                    raise typer.BadParameter("is only possible with --dask.", param_hint=flag_of(name))
            return
        for name in ONE_MACHINE:
            if name in given and ctx.params[name] != default(name):
                raise typer.BadParameter("is not possible with --dask.", param_hint=flag_of(name))
        if ctx.params["classes"] == "grow":
            raise typer.BadParameter("grow is not possible with --dask.", param_hint="--classes")
        if "-" in data:
            raise typer.BadParameter("workers cannot read standard input.", param_hint="DATA")
        import novikoff.dask

        novikoff.dask.check_installed()


def learn(
    data: list[str],
    options: dict[str, Any],
    classes: StreamClasses,
    cluster: Cluster,
    learning: Learning,
    plan: Plan,
    checkpoint: MixingCheckpoint | None,
    made: dict[str, Any],
) -> tuple[LinearModel, Skipped]:
    """Learn on the cluster; the cluster is left as it was, whatever happens."""
    from novikoff.data.labels import as_text
    from novikoff.distributed import cluster as clusters
    from novikoff.distributed.files import load_files
    from novikoff.distributed.fitting import learn as learn_shards
    from novikoff.distributed.linear_shard import LinearMethod
    from novikoff.linear.model import LinearModel

    where = None if cluster.dask == "local" else cluster.dask
    try:
        with _hushed(), clusters.session(where, checkpoint) as session:
            shards = load_files(
                session,
                data,
                cluster.n_shards,
                classes.declared,
                class_weights(learning.class_weight),
                options,
                None,
                rename=classes.rename,
                scale=learning.scale,
            )
            if len(shards.seen) < 2:
                only = as_text(shards.seen[0])
                raise ValueError(
                    f"there must be at least two classes, but all shards have only one class: {only!r}."
                )
            labels = shards.classes.labels
            method = LinearMethod(len(labels), shards.n_features, learning.settings(), "cyclic")
            made["format"] = shards.format
            table, standing, run = learn_shards(
                session,
                shards.futures,
                method,
                method.begin(),
                plan,
                cluster.mixing,
                checkpoint=checkpoint,
            )
    except clusters.ClusterError as error:
        raise OSError(str(error)) from None
    except ConnectionError as error:
        if checkpoint is None or not checkpoint.exists():
            raise
        raise ConnectionError(f"{error} --resume goes on from there.") from None
    assert shards.features is not None and run.call is not None
    model = method.model(table, standing.parts)
    model.ledger = model.ledger.after(run.call)
    learned = LinearModel(
        model,
        labels,
        shards.features,
        scaling=shards.scaling,
        parameters=made,
        run=run,
        name="DistributedPerceptron",
    )
    return learned, shards.skipped


@contextmanager
def _hushed() -> Iterator[None]:
    """Without what the library itself says of lost connections: an error is told once, in one line."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
