"""The tasks that run on the workers. Errors that a user can fix say where they happened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from distributed import get_worker
from novikoff.distributed import mixing
from novikoff.distributed.mixing import Change, Method, Outcome, Standing, Sums, Table

Learned = tuple[Change, Outcome]


@contextmanager
def named(what: str) -> Iterator[None]:
    """Add the name of the data and of the worker to an error."""
    try:
        yield
    except (ValueError, OverflowError, OSError, TypeError) as error:
        text = str(error).removeprefix(f"{what}: ")  # errors about a file begin with its name
        message = f"{what}, on worker {get_worker().address}: {text}"
        kinds = (OverflowError, FileNotFoundError, PermissionError, OSError, TypeError)
        kind = next((kind for kind in kinds if isinstance(error, kind)), ValueError)
        raise kind(message) from None


def given(part: Any) -> Any:
    """A value sent by the client."""
    return part


def blank(shape: tuple[int, ...]) -> Table:
    """A slice of zeros."""
    return np.zeros(shape)


def learn(
    method: Method, shard: Any, slices: Sequence[Table], standing: Standing, order: Any, epochs: int
) -> Learned:
    """One epoch on a shard, with a single copy of the shared table."""
    with named(shard.name):
        table = mixing.joined(slices, method.table())
        outcome = method.learn(shard, table, standing, order, epochs)
        change = mixing.changes(slices, table)
    size = change.table.nbytes + (0 if change.rows is None else change.rows.nbytes)
    return change, replace(outcome, worker=get_worker().address, held_bytes=size)


def digest(shard: Any) -> str:
    """A digest that identifies a shard's data."""
    with named(shard.name):
        found: str = shard.digest()
        return found


def outcome(learned: Learned) -> Outcome:
    """The small part of the result of a shard."""
    return learned[1]


def piece(learned: Learned, begin: int, end: int) -> Change:
    """The changes of a shard within rows `begin` to `end`."""
    return mixing.taken(learned[0], begin, end)


def leaf_sum(
    before: Table, pieces: Sequence[Change | Learned], ns: Sequence[int], visits: Sequence[int]
) -> Sums:
    """The sums over some neighbouring shards, for a slice or for all of the table."""
    return mixing.leaf_sum(before, [p if isinstance(p, Change) else p[0] for p in pieces], ns, visits)


def branch_sum(parts: Sequence[Sums], rows: int) -> Sums:
    """The sum of sums, for a slice of `rows` rows."""
    return mixing.branch_sum(parts, rows)


def mixture(before: Table, sums: Sums, whole: int, visits: int) -> Table:
    """A slice of the shared table after an epoch."""
    return mixing.mixture(before, sums, whole, visits)


def asked(
    method: Method, shard: Any, slices: Sequence[Table], standing: Standing, name: str, *rest: Any
) -> Any:
    """Call a function of the method on a shard, for the verdict."""
    with named(shard.name):
        return getattr(method, name)(shard, mixing.joined(slices, method.table()), standing, *rest)


def square(method: Method, part: Table, begin: int) -> float:
    """‖w‖² of a slice."""
    return method.square(part, begin)
