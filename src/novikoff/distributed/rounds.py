"""Epochs on a cluster: shards learn on their workers, and their changes are mixed slice by slice.

The shared table stays on the workers, in slices. In an epoch every shard's task takes all slices and returns
its changes. The client receives the counts and computes each shard's share from them. Then separate tasks
make each slice of the next table with the tree of `mixing`. Every task depends only on its arguments, so a
task that was lost with its worker is run again on another one, with the same bits.

The scheduler can recompute a slice only from its inputs, and keeps all of them. So the client fetches the
table and distributes it again: in each epoch if the table is small, else every `ANCHOR` epochs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import compress, pairwise
from typing import Any

import numpy as np

from distributed import Future
from novikoff.data.arrays import digest_of
from novikoff.distributed import mixing, tasks
from novikoff.distributed.checkpoint import MixingCheckpoint, MixingState
from novikoff.distributed.cluster import Session
from novikoff.distributed.linear_shard import order_states
from novikoff.distributed.mixing import Method, Mixed, Outcome, Standing, Table
from novikoff.training.ledger import Call, Seen
from novikoff.training.loop import Epoch, WorstFirstTrainer
from novikoff.training.plan import Plan
from novikoff.training.run import Record, Run

SLICE_BYTES = 1 << 23
MAX_SLICES = 64
ANCHOR = 16  # epochs

Place = tuple[int, int]  # slice, and shard or group


def trainer_of(
    session: Session,
    shards: Sequence[Future],
    method: Method,
    begin: tuple[Table, Standing],
    plan: Plan,
    mixing: str,
    checkpoint: MixingCheckpoint | None = None,
) -> MixingTrainer:
    """A trainer on the cluster that starts from a shared state.

    With a checkpoint the state is saved after every epoch; if the checkpoint exists, the fit resumes from it.
    The caller removes it after storing the outcome.
    """
    state = MixingState(*begin, order_states(plan.rng, len(shards)))
    if checkpoint is not None:
        checkpoint.shards = session.gather([session.submit(tasks.digest, one) for one in shards])
        if begin[1].visits or begin[0].any():
            checkpoint.parameters = checkpoint.parameters | {"begins_from": digest_of(begin[0])}
        if checkpoint.exists():
            state = checkpoint.restore(method)
    return MixingTrainer(session, method, shards, state, plan, mixing, checkpoint)


class MixingTrainer(WorstFirstTrainer):
    """Trains a shared state on a cluster by iterative parameter mixing."""

    def __init__(
        self,
        session: Session,
        method: Method,
        shards: Sequence[Future],
        state: MixingState,
        plan: Plan,
        how: str = "uniform",
        checkpoint: MixingCheckpoint | None = None,
    ) -> None:
        self.session, self.method, self.shards, self.how = session, method, shards, how
        self.rng, self.checkpoint = plan.rng, checkpoint
        self.shard_epochs = plan.max_epochs if how == "single-shot" else 1  # before the shards are mixed
        self.plan = replace(plan, max_epochs=1) if how == "single-shot" else plan  # of the mixing
        self.orders, self.run = list(state.orders), state.run
        self.run.history, self.run.n_shards = state.history, len(shards)
        self.table: Table | None = state.table  # None if only the workers have it
        self.standing = state.standing
        self.seen, self.copies, self.weighted = state.seen, state.copies, state.weighted
        rows = state.table.shape[1]
        pieces = min(max(state.table.nbytes // SLICE_BYTES, 1), MAX_SLICES, max(rows, 1))
        self.cuts = mixing.cuts(rows, pieces)
        self._per_row = state.table.shape[0] * state.table.shape[2]
        self.slices = self._hand_out(state.table)
        self.outcomes: list[Outcome] = []
        self._workers: frozenset[str] = frozenset()  # of the last epoch

    def _hand_out(self, table: Table) -> list[Future]:
        """Send the table's slices to the cluster; slices of zeros are made there."""
        slices = [table[:, begin:end] for begin, end in pairwise(self.cuts)]
        filled = [part.any() for part in slices]
        sent = iter(self.session.each(tasks.given, [(part,) for part in compress(slices, filled)]))
        shapes = [(part.shape,) for part, full in zip(slices, filled, strict=True) if not full]
        made = iter(self.session.each(tasks.blank, shapes))
        return [next(sent if full else made) for full in filled]

    def bring(self) -> Table:
        """Fetch the shared table."""
        if self.table is None:
            self.table = mixing.joined(self.session.gather(self.slices), self.method.table())
        return self.table

    @property
    def small(self) -> bool:
        return len(self.slices) == 1

    # -- epochs
    def epoch(self) -> Epoch:
        run, own = self.run, zip(self.shards, self.orders, strict=True)
        how = self.slices, self.standing
        each = [(self.method, shard, *how, order, self.shard_epochs) for shard, order in own]
        mixed = self._mix(self.session.each(tasks.learn, each, self._homes()))
        run.mixed += mixed.weighted_updates if self.method.counts_updates else mixed.weighted_mistakes
        run.n_rows = sum(outcome.rows for outcome in self.outcomes)
        run.heaviest = max(outcome.heaviest for outcome in self.outcomes)
        run.shuffled_in_blocks = max(outcome.shuffled_in_blocks for outcome in self.outcomes)
        alone = len(self.shards) == 1 and self.outcomes[0].converged
        return Epoch(not mixed.changed or alone, self._counts(mixed))

    worst = epoch  # the shards choose their most violated rows themselves

    def keep(self, run: Run) -> None:
        if self.checkpoint is not None:
            state = self.bring(), self.standing, self.orders, run.history, run
            self.checkpoint.save(MixingState(*state, self.seen, self.copies, self.weighted))

    def finish(self, run: Run) -> None:
        run.call = self._call(run)
        self.rng.bit_generator.state = self.orders[0]  # as if the orders had been drawn from it

    def judge(self, run: Run) -> None:
        self.method.judge(self.bring(), self.standing, run, self._ask)

    def _call(self, run: Run) -> Call:
        """The ledger's entry for this fit. Each update counts in the weights by the share of its shard."""
        return Call(
            None if self.seen is None else Seen(*self.seen),
            self.copies,
            getattr(self.method, "order", "cyclic") if run.n_shards == 1 else "mixed",
            heaviest=float(run.heaviest),
            weighted=self.weighted,
            dropped=sum(r["updates"] - r["weighted_updates"] for r in run.history),
        )

    def _ask(self, name: str, *rest: Any) -> list[Any]:
        """The results of all shards, in order: see `mixing.Method.judge`."""
        arguments = self.slices, self.standing, name, *rest
        each = [(self.method, shard, *arguments) for shard in self.shards]
        return self.session.gather(self.session.each(tasks.asked, each))

    def _mix(self, learned: list[Future]) -> Mixed:
        """Mix the results of all shards."""
        outcomes = self.session.gather(self.session.each(tasks.outcome, [(one,) for one in learned]))
        mixed = mixing.tally(self.standing, outcomes, self.how)
        if not self.standing.epoch:
            self.seen = mixing.seen_by_all(outcomes)
        self.copies += max(outcome.copies for outcome in outcomes)
        self.weighted = self.weighted or any(outcome.weighted for outcome in outcomes)
        if mixed.changed:
            slices = self._mixed(learned, mixed)
            if self.small or not (self.standing.epoch + 1) % ANCHOR:
                self.table = mixing.joined(self.session.gather(slices), self.method.table())
                slices = self._hand_out(self.table)
            else:
                self.session.finish(slices)  # what is lost later can be recomputed from what is held
                self.table = None
            self.slices = slices
        self.standing, self.outcomes = mixed.standing, outcomes
        self.orders = [outcome.order for outcome in outcomes]
        return mixed

    def _homes(self) -> list[str | None]:
        """The worker on which each shard was trained in the last epoch.

        Without this, Dask moves shards while it does not know how long they take. If workers joined or left,
        or if a worker would have more than its share, Dask decides.
        """
        workers, before = self.session.workers(), self._workers
        self._workers = workers
        if workers != before or not self.outcomes:
            return [None] * len(self.shards)
        room = dict.fromkeys(workers, -(-len(self.shards) // len(workers)))
        homes: list[str | None] = []
        for outcome in self.outcomes:
            has_room = room.get(outcome.worker, 0) > 0
            homes.append(outcome.worker if has_room else None)
            room[outcome.worker] = room.get(outcome.worker, 0) - 1
        return homes

    def _mixed(self, learned: list[Future], mixed: Mixed) -> list[Future]:
        """The trees of all slices, level by level. Shards without changes are left out."""
        groups = [[i for i in group if mixed.updates[i]] for group in mixing.groups(len(learned))]
        bounds = list(pairwise(self.cuts))
        pieces: dict[Place, Future] = {(0, i): learned[i] for i in mixed.changed}
        if not self.small:
            wanted = [(k, i) for k in range(len(bounds)) for i in mixed.changed]
            parts = self.session.each(tasks.piece, [(learned[i], *bounds[k]) for k, i in wanted])
            pieces = dict(zip(wanted, parts, strict=True))
        level: dict[Place, tuple[Any, ...]] = {}
        for (k, g), own in self._members(groups):
            ns, visits = [mixed.shares[i] for i in own], [mixed.visits[i] for i in own]
            level[k, g] = self.slices[k], [pieces[k, i] for i in own], ns, visits
        sums = self._each(tasks.leaf_sum, level)
        while len(groups) > 1:
            groups = [[i for i in group if (0, i) in sums] for group in mixing.groups(len(groups))]
            members = self._members(groups)
            rows = [end - begin for begin, end in bounds]
            level = {(k, g): ([sums[k, i] for i in own], rows[k]) for (k, g), own in members}
            sums = self._each(tasks.branch_sum, level)
        whole, end = sum(mixed.shares), mixed.standing.visits
        tops = [(self.slices[k], sums[k, 0], whole, end) for k in range(len(bounds))]
        return self.session.each(tasks.mixture, tops)

    def _members(self, groups: Sequence[list[int]]) -> list[tuple[Place, list[int]]]:
        """The sums of one level, by slice and group; empty groups are left out."""
        slices = range(len(self.slices))
        return [((k, g), own) for k in slices for g, own in enumerate(groups) if own]

    def _each(self, task: Callable[..., Any], arguments: dict[Place, tuple[Any, ...]]) -> dict[Place, Future]:
        return dict(zip(arguments, self.session.each(task, list(arguments.values())), strict=True))

    def _counts(self, mixed: Mixed) -> Record:
        busy: dict[str, float] = defaultdict(float)
        for outcome in self.outcomes:
            busy[outcome.worker] += outcome.seconds
        state = 8 * self.cuts[-1] * self._per_row
        counts: Record = {
            "mistakes": sum(mixed.mistakes),
            "updates": sum(mixed.updates),
            "norm": self._norm(),
            "weighted_updates": mixed.weighted_updates,
            "shard_mistakes": mixed.mistakes,
            "shard_updates": mixed.updates,
            "mixing_weights": mixed.weights,
            "bytes_moved": sum(outcome.held_bytes for outcome in self.outcomes) + state * len(busy),
            "shard_seconds": [outcome.seconds for outcome in self.outcomes],
            "seconds_lost": max(busy.values()) - sum(busy.values()) / len(busy),
        }
        if self.how == "single-shot":
            counts["shard_epochs"] = [outcome.epochs for outcome in self.outcomes]
        return counts

    def _norm(self) -> float:
        if self.table is not None:
            return self.method.norm(self.table, self.standing)
        each = [(self.method, part, begin) for part, begin in zip(self.slices, self.cuts[:-1], strict=True)]
        return float(np.sqrt(sum(self.session.gather(self.session.each(tasks.square, each)))))
