"""A fit on a cluster, from shards to a shared state: for every kind of model, and without scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from distributed import Future
from novikoff.data.arrays import digest_of
from novikoff.distributed import tasks
from novikoff.distributed.checkpoint import MixingCheckpoint, MixingState
from novikoff.distributed.cluster import Session
from novikoff.distributed.linear_shard import order_states
from novikoff.distributed.mixing import Method, Standing, Table
from novikoff.distributed.rounds import Rounds
from novikoff.training.loop import train
from novikoff.training.plan import Plan
from novikoff.training.run import Run

CHANGE_NOTHING = ("client", "checkpoint", "n_jobs", "verbose", "callback", "n_shards")  # of the outcome


def kept_in(folder: Any, parameters: dict[str, Any]) -> MixingCheckpoint | None:
    """Where a fit that these parameters ask for is kept; None for nowhere."""
    if folder is None:
        return None
    told = {name: value for name, value in parameters.items() if name not in CHANGE_NOTHING}
    return MixingCheckpoint(Path(folder), told)


def learn(
    session: Session,
    shards: Sequence[Future],
    method: Method,
    begin: tuple[Table, Standing],
    plan: Plan,
    mixing: str,
    *,
    judged: bool = True,
    checkpoint: MixingCheckpoint | None = None,
) -> tuple[Table, Standing, Run]:
    """The shared state after the last epoch, and what the fit did.

    With a checkpoint the state is kept after every epoch; where there is one already, the fit goes on from
    it. Whoever has put the outcome in a safe place removes it.
    """
    state = MixingState(*begin, order_states(plan.rng, len(shards)))
    if checkpoint is not None:
        checkpoint.shards = session.gather([session.submit(tasks.digest, one) for one in shards])
        if begin[1].visits or begin[0].any():
            checkpoint.parameters = checkpoint.parameters | {"begins_from": digest_of(begin[0])}
        if checkpoint.exists():
            state = checkpoint.restore(method)
    rounds = Rounds(session, method, shards, state, plan, mixing, checkpoint)
    rounds_planned = replace(plan, max_epochs=1) if mixing == "single-shot" else plan
    run = train(rounds, rounds_planned, rounds.run, judged=judged)
    table = rounds.bring()
    plan.rng.bit_generator.state = rounds.orders[0]  # as if it had been drawn from here
    return table, rounds.standing, run
