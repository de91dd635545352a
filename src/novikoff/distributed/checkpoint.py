"""Checkpoints of iterative parameter mixing: the shared state after an epoch, for any kind of model.

Between two epochs the state of a fit is the shared table, the counts, and the state of every shard's
generator of orders. A fit resumed from it on any cluster ends with the same bits if the shards are the same;
each shard is identified by a digest of its content, computed on its worker.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from novikoff.data.state import pack_rows, unpack_rows
from novikoff.distributed.mixing import Method, Standing, Table
from novikoff.modelfile.checks import MOST, count, digest_of_rows, fact, number
from novikoff.training.checkpoint import CheckpointFile
from novikoff.training.run import Record, Run
from novikoff.training.state import records

CHANGE_NOTHING = ("client", "checkpoint", "n_jobs", "verbose", "callback", "n_shards")  # of the outcome


@dataclass
class MixingState:
    """The state of a fit between two epochs."""

    table: Table
    standing: Standing
    orders: list[Any]  # states of the generators of the shards' orders
    history: list[Record] = field(default_factory=list)
    run: Run = field(default_factory=Run)  # the record so far
    seen: tuple[int, int] | None = None  # digest and number of the rows, once known
    copies: int = 0  # upper bound on the visits of any row so far
    weighted: bool = False  # whether some row had a weight other than 1


@dataclass
class MixingCheckpoint(CheckpointFile):
    """The checkpoint file of a fit by mixing, written after every epoch.

    Parameters
    ----------
    shards : list of str
        A digest of each shard.
    """

    shards: list[str] = field(default_factory=list)

    kind = "checkpoint of shards"

    def save(self, state: MixingState) -> None:
        """Save the state, in place of the previous one."""
        standing, run = state.standing, state.run
        facts: dict[str, Any] = {
            "shape": list(state.table.shape),
            "epoch": standing.epoch,
            "parts": list(standing.parts),
            "settled": sorted(standing.settled),
            "orders": state.orders,
            "history": state.history,
            "converged": run.converged,
            "mixed": run.mixed,
            "heaviest": run.heaviest,
            "n_shards": run.n_shards,
            "n_rows": run.n_rows,
            "shuffled_in_blocks": run.shuffled_in_blocks,
            "seen": None if state.seen is None else [f"{state.seen[0]:016x}", state.seen[1]],
            "copies": state.copies,
            "weighted": state.weighted,
        }
        rows = np.moveaxis(state.table, 0, 1).reshape(state.table.shape[1], -1)
        self.write({"shards": self.shards}, facts, pack_rows("table", rows))

    def restore(self, method: Method) -> MixingState:
        """The saved state; a ValueError if it belongs to a different fit."""
        facts, arrays = self.read({"shards": self.shards}, f"the {len(self.shards)} shard(s)")
        with self.reading():
            return self._restored(method, facts, arrays)

    def _restored(self, method: Method, facts: dict[str, Any], arrays: dict[str, Any]) -> MixingState:
        table = method.table()
        if fact(facts, "shape", list) != list(table.shape):
            raise ValueError(f"it has weights of shape {facts['shape']}, expected {list(table.shape)}")
        layers, n, width = table.shape
        columns = [table[layer, :, c] for layer in range(layers) for c in range(width)]
        unpack_rows("table", arrays, n, layers * width, columns)
        parts = tuple(map(_counts, fact(facts, "parts", list)))
        run = Run(
            converged=fact(facts, "converged", bool),
            mixed=number(facts, "mixed", 0.0),
            heaviest=number(facts, "heaviest", 0.0),
            n_shards=count(facts, "n_shards"),
            n_rows=count(facts, "n_rows"),
            shuffled_in_blocks=count(facts, "shuffled_in_blocks"),
        )
        standing = Standing(count(facts, "epoch"), parts, frozenset(fact(facts, "settled", list)))
        orders = [_generator_state(order) for order in fact(facts, "orders", list)]
        known = (
            None if facts.get("seen") is None else digest_of_rows(facts, "seen")
        )  # not in checkpoints of earlier versions
        copies = count(facts, "copies") if "copies" in facts else 0
        weighted = "weighted" in facts and fact(facts, "weighted", bool)
        history = records(facts, lists=True)
        return MixingState(table, standing, orders, history, run, known, copies, weighted)


def kept_in(folder: Any, parameters: dict[str, Any]) -> MixingCheckpoint | None:
    """The checkpoint of a fit with these parameters, or None."""
    if folder is None:
        return None
    kept = {name: value for name, value in parameters.items() if name not in CHANGE_NOTHING}
    return MixingCheckpoint(Path(folder), kept)


def _counts(part: Any) -> dict[str, Any]:
    """The counts of a learner: numbers, and pairs of them."""

    def sound(value: Any) -> bool:
        return (type(value) is int and abs(value) <= MOST) or type(value) is float

    if not isinstance(part, dict) or not all(
        sound(v) or (isinstance(v, list) and len(v) == 2 and all(map(sound, v))) for v in part.values()
    ):
        raise ValueError("parts has an entry that is not a set of counts")
    return {name: tuple(value) if isinstance(value, list) else value for name, value in part.items()}


def _generator_state(kept: Any) -> Any:
    """The state of a bit generator; its arrays are lists in a file."""
    if isinstance(kept, dict):
        return {name: _generator_state(value) for name, value in kept.items()}
    return np.array(kept, dtype=np.uint64) if isinstance(kept, list) else kept
