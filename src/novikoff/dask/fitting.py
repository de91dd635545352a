"""A fit on a cluster, from shards to a shared state: for every kind of model, and without scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence

from distributed import Client, Future

from novikoff.arrays import digest_of
from novikoff.dask import tasks
from novikoff.dask.rounds import Rounds
from novikoff.mixing import Method, Standing, Table
from novikoff.mixingcheckpoint import MixingCheckpoint, MixingState
from novikoff.shardtraining import order_states
from novikoff.training import Plan, Run


def learn(
    client: Client,
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
        checkpoint.shards = client.gather([client.submit(tasks.digest, one, pure=False) for one in shards])
        if begin[1].visits or begin[0].any():
            checkpoint.parameters = checkpoint.parameters | {"begins_from": digest_of(begin[0])}
        if checkpoint.exists():
            state = checkpoint.restore(method)
    with Rounds(client, method, shards, state, plan, mixing, checkpoint) as rounds:
        run = rounds.run(judged=judged)
        table = rounds.bring()
    plan.rng.bit_generator.state = rounds.orders[0]  # as if it had been drawn from here
    return table, rounds.standing, run
