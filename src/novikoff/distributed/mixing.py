"""Iterative parameter mixing: every shard learns one epoch from shared weights, then the results are mixed.

McDonald, Hall and Mann, "Distributed training strategies for the structured perceptron" (2010). In epoch n
every shard i starts with the shared weights w and ends with wᵢ after kᵢ updates; then

    w ← Σᵢ μᵢ·wᵢ,   μᵢ ≥ 0,  Σᵢ μᵢ = 1.

By the convexity of ‖·‖² and the linearity of u·w, Novikoff's two inequalities hold for the mixture with each
update counted μᵢ times. Hence Σₙ Σᵢ μᵢ,ₙ·kᵢ,ₙ ≤ R²/γ² for separable rows, however they are sharded.

**Computation.** μᵢ = nᵢ/N with whole nᵢ in lowest terms, and for every coordinate j, where Cⱼ are the shards
that changed it,

    wⱼ ← (Σ_{i ∈ Cⱼ} nᵢ·wᵢⱼ  +  (N − Σ_{i ∈ Cⱼ} nᵢ)·wⱼ) / N,     and wⱼ keeps its bits if Cⱼ is empty.

**The average over all visits** is computed as for one learner: w̄ = (T·w − u)/T after T visits. A shard
continues from the shared u and T as if it were alone, and ends with uᵢ after mᵢ visits. The new T·w − u must
be the sum of the weights after every visit of every shard, which holds for

    u ← (Σ_{i ∈ Dⱼ} uᵢ − (|Dⱼ| − 1)·u)  +  (T′·(w′ − w) − Σ_{i ∈ Dⱼ} (T + mᵢ)·(wᵢ − w)),   T′ = T + Σᵢ mᵢ,

where Dⱼ are the shards that changed wⱼ or uⱼ. With one shard both formulas return the shard's values, bit for
bit; and averaging does not change the last weights.

**Sums over shards** are taken in the shards' order, `FAN_IN` at a time, then the same for these sums, and so
on: the tree depends only on the number of shards. Coordinates are independent, so they may be summed in
slices, on any worker, from all values or only from the changed ones, without changing a bit of the result.

`Method` defines the work of a shard: take the shared state, learn one epoch, return changes and counts.
This module does not depend on the kind of model or on the location of shards.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Table = Floats  # (layers, coordinates, width): weights and, with averaging, their running sums
Places = npt.NDArray[np.int64]
Counts = dict[str, Any]  # of a learner, by name

FAN_IN = 8  # number of sums added at a time
ADDED = ("visits", "mistakes", "updates", "ties", "wrong_tokens")  # counts that add up over shards
MIXED = (*ADDED, "fallbacks", "step_sum")  # fallbacks add up too, Στ is mixed; others: the maximum


# ---- the shared state, and the results of a shard -----------------------------------------------------
@dataclass(frozen=True)
class Standing:
    """The shared state without its table: small enough to be sent anywhere."""

    epoch: int  # how many epochs have been mixed
    parts: tuple[Counts, ...]  # counts of each learner, over all shards and epochs
    settled: frozenset[int] = frozenset()  # learners that no shard updated in the last epoch

    @property
    def visits(self) -> int:
        """T: visits so far, over all shards."""
        return int(self.parts[0]["visits"])


class Change(NamedTuple):
    """The coordinates that a shard changed, and their new values."""

    rows: Places | None  # their numbers, in increasing order; None: all coordinates
    table: Table


@dataclass(frozen=True)
class Outcome:
    """The outcome of an epoch on a shard without its changes: small enough to be sent anywhere."""

    parts: tuple[Counts, ...]  # counts of each learner, added to those before the epoch
    order: Any  # state of the generator of the shard's orders
    rows: int  # of the shard
    seconds: float = 0.0
    heaviest: float = 1.0  # the largest weight of a row
    shuffled_in_blocks: int = 0
    epochs: int = 1  # made by the shard: one, unless mixing is single-shot
    converged: bool = False  # whether the last of them made no update
    weighted: bool = False  # whether some weight is not 1
    copies: int = 1  # upper bound on the visits of any row
    seen: tuple[int, int] | None = None  # digest and number of the rows, from the first epoch
    held_bytes: int = 0  # size of the changes
    worker: str = ""  # address of the worker

    def since(self, standing: Standing, count: str) -> int:
        """The increase of a count in this epoch."""
        return sum(p[count] - q[count] for p, q in zip(self.parts, standing.parts, strict=True))

    def visits(self, standing: Standing) -> int:
        """mᵢ: visits made by each learner."""
        return int(self.parts[0]["visits"] - standing.visits)


def seen_by_all(outcomes: Sequence[Outcome]) -> tuple[int, int] | None:
    """Digest and number of the rows of all shards; None if one of them does not know."""
    known = [outcome.seen for outcome in outcomes if outcome.seen is not None]
    if len(known) < len(outcomes):
        return None
    return sum(digest for digest, _ in known) % (1 << 64), sum(count for _, count in known)


Ask = Callable[..., list[Any]]  # (method name, more arguments) → the results of all shards, in order


class Method(ABC):
    """How one kind of model learns from one kind of shard. Small, because it is sent to the workers."""

    counts_updates = False  # whether the bound is on updates instead of mistakes

    @abstractmethod
    def table(self) -> Table:
        """A new table of zeros."""

    @abstractmethod
    def begin(self) -> tuple[Table, Standing]:
        """The shared state before the first epoch."""

    @abstractmethod
    def learn(self, shard: Any, table: Table, standing: Standing, order: Any, epochs: int) -> Outcome:
        """Learn from a shard in place: `table` is the shard's own copy of the shared one.

        `order` is the state of the generator of the shard's orders. With `epochs` above 1, training stops
        at the first epoch without an update.
        """

    @abstractmethod
    def norm(self, table: Table, standing: Standing) -> float:
        """‖w‖ of the shared weights."""

    @abstractmethod
    def square(self, part: Table, begin: int) -> float:
        """‖w‖² of a part of the table, whose first row is the table's row `begin`."""

    @abstractmethod
    def judge(self, table: Table, standing: Standing, run: Any, ask: Ask) -> None:
        """The verdict on the shared weights, written into `run`.

        ``ask("name", …)`` calls that method of this object for every shard; the shard, the table and the
        standing precede the other arguments.
        """


# ---- what changed --------------------------------------------------------------------------------------
COMPARED = 1 << 17  # coordinates compared at a time, so that this takes little memory


def differing(before: Table, after: Table) -> Iterator[Places]:
    """The rows in which two tables differ, in batches."""
    for begin in range(0, after.shape[1], COMPARED):
        part = slice(begin, begin + COMPARED)
        yield begin + np.flatnonzero((before[:, part] != after[:, part]).any(axis=(0, 2)))


def changes(slices: Sequence[Table], after: Table) -> Change:
    """The difference of `after` from the shared table, which is given in slices.

    The change contains all of `after` if that takes less memory than the changed rows with their numbers.
    """
    found, begin = [], 0
    for before in slices:
        end = begin + before.shape[1]
        found += [begin + rows for rows in differing(before, after[:, begin:end])]
        begin = end
    rows = np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
    layers, n, width = after.shape
    if len(rows) * (layers * width + 1) >= n * layers * width:
        return Change(None, after)
    return Change(rows, after[:, rows])


def taken(change: Change, begin: int, end: int) -> Change:
    """The part of a change within rows `begin` to `end`, renumbered from 0."""
    if change.rows is None:
        return Change(None, change.table[:, begin:end])
    low, high = np.searchsorted(change.rows, [begin, end])
    return Change(change.rows[low:high] - begin, change.table[:, low:high])


def cuts(rows: int, pieces: int) -> list[int]:
    """The boundaries of the slices of a table."""
    return [rows * k // pieces for k in range(pieces + 1)]


def joined(slices: Sequence[Table], out: Table) -> Table:
    """Concatenate the slices into `out`."""
    begin = 0
    for part in slices:
        out[:, begin : begin + part.shape[1]] = part
        begin += part.shape[1]
    return out


# ---- mixing --------------------------------------------------------------------------------------------
def shares(mixing: str, rows: Sequence[int], updates: Sequence[int]) -> list[int]:
    """nᵢ in lowest terms: μᵢ = nᵢ/Σn. A shard without rows has share 0; all are 0 if nothing was updated.

    >>> shares("uniform", [10, 0, 3], [2, 0, 0])
    [1, 0, 1]
    >>> shares("updates", [10, 0, 3], [4, 0, 6])
    [2, 0, 3]
    """
    if not any(updates):
        return [0] * len(updates)
    if mixing != "updates":
        return [int(n > 0) for n in rows]
    divisor = math.gcd(*updates)
    return [k // divisor for k in updates]


class Sums(NamedTuple):
    """Sums over consecutive shards, for the coordinates that some of them changed.

    Layers: Σ nᵢ·wᵢ and Σ nᵢ; with averaging also Σ uᵢ, their number, and Σ (T + mᵢ)·(wᵢ − w).
    """

    rows: Places | None
    layers: Floats


def contribution(before: Table, change: Change, share: int, visits: int) -> Sums:
    """The contribution of one shard to the sums, with `visits` = T + mᵢ. `before` is the shared table."""
    old = before if change.rows is None else before[:, change.rows]
    new = change.table
    changed = new[0] != old[0]
    layers = np.zeros((2 if len(new) == 1 else 5, *new.shape[1:]))
    np.multiply(new[0], float(share), out=layers[0], where=changed)
    layers[1][changed] = share
    if len(new) == 2:
        changed |= new[1] != old[1]  # a weight may have returned to its old value
        layers[2][changed] = new[1][changed]
        layers[3] = changed
        np.subtract(new[0], old[0], out=layers[4], where=changed)
        layers[4] *= float(visits)
    return Sums(change.rows, layers)


def union(rows: Sequence[Places | None], n: int) -> Places | None:
    """The union of the lists; None, for all rows, if it has more than half of them."""
    present = np.zeros(n, dtype=bool)  # marked, not sorted: ten times faster
    for some in rows:
        if some is None:
            return None
        present[some] = True
    found = np.flatnonzero(present)
    return None if 2 * len(found) > n else found


def added(parts: Iterable[Sums], rows: Places | None, n: int) -> Sums:
    """The sum of the parts, in their order. `rows` contains all of their rows."""
    total: Floats | None = None
    for part in parts:
        if total is None:
            shape = part.layers.shape
            total = np.zeros((shape[0], n if rows is None else len(rows), shape[2]))
        if part.rows is None:
            total += part.layers
        elif len(part.rows):
            places = part.rows if rows is None else np.searchsorted(rows, part.rows)
            total[:, places] += part.layers
    assert total is not None
    return Sums(rows, total)


def groups(n: int) -> list[range]:
    """The groups of n sums for the next level of the tree: `FAN_IN` neighbours each."""
    return [range(begin, min(begin + FAN_IN, n)) for begin in range(0, n, FAN_IN)]


def leaf_sum(before: Table, pieces: Sequence[Change], ns: Sequence[int], visits: Sequence[int]) -> Sums:
    """The sums over some shards, with only one shard's contribution in memory at a time."""
    n = before.shape[1]
    each = (contribution(before, *of) for of in zip(pieces, ns, visits, strict=True))
    return added(each, union([piece.rows for piece in pieces], n), n)


def branch_sum(parts: Sequence[Sums], n: int) -> Sums:
    """The sum of sums."""
    return added(parts, union([part.rows for part in parts], n), n)


def mixture(before: Table, sums: Sums, whole: int, visits: int) -> Table:
    """The shared table after an epoch, from the sums over all shards; `whole` = N and `visits` = T′."""
    after = before.copy()
    old = before if sums.rows is None else before[:, sums.rows]
    total, share = sums.layers[:2]
    with np.errstate(over="ignore", invalid="ignore"):
        new = np.where(share > 0, (total + (whole - share) * old[0]) / whole, old[0])
        mixed = [new]
        if len(before) == 2:
            lasts, number, lags = sums.layers[2:]
            running = (lasts - (number - 1) * old[1]) + (float(visits) * (new - old[0]) - lags)
            mixed.append(np.where(number > 0, running, old[1]))
    if not all(np.isfinite(layer).all() for layer in mixed):
        raise OverflowError(
            "The mixture of the shards' weights would overflow: scale X by a power of two, so that its "
            "rows have norms near 1."
        )
    for layer, values in zip(after, mixed, strict=True):
        layer[slice(None) if sums.rows is None else sums.rows] = values
    return after


def mix(before: Table, pieces: Sequence[Change], ns: Sequence[int], visits: Sequence[int], end: int) -> Table:
    """The shared table, or a slice of it, after an epoch: the whole tree in one place.

    `ns` are the shares, `visits` = T + mᵢ of each shard and `end` = T′.
    """
    n = before.shape[1]
    level = []
    for group in groups(len(pieces)):
        own = slice(group.start, group.stop)
        level.append(leaf_sum(before, pieces[own], ns[own], visits[own]))
    while len(level) > 1:
        level = [branch_sum([level[i] for i in group], n) for group in groups(len(level))]
    return mixture(before, level[0], sum(ns), end)


@dataclass(frozen=True)
class Mixed:
    """An epoch over all shards: their shares, and the new counts."""

    standing: Standing
    shares: list[int]
    visits: list[int]  # T + mᵢ
    mistakes: list[int]  # by shard, in this epoch
    updates: list[int]
    changed: list[int] = field(default_factory=list)  # the shards that made updates

    @property
    def weights(self) -> list[float]:
        """μᵢ; all 0 if nothing was mixed."""
        whole = sum(self.shares) or 1
        return [n / whole for n in self.shares]

    @property
    def weighted_updates(self) -> float:
        """Σᵢ μᵢ·kᵢ, with only the rounding of one division."""
        whole = sum(self.shares)
        return sum(n * k for n, k in zip(self.shares, self.updates, strict=True)) / whole if whole else 0.0

    @property
    def weighted_mistakes(self) -> float:
        """Σᵢ μᵢ·(mistakes of shard i)."""
        whole = sum(self.shares)
        return sum(n * k for n, k in zip(self.shares, self.mistakes, strict=True)) / whole if whole else 0.0


def tally(standing: Standing, outcomes: Sequence[Outcome], mixing: str) -> Mixed:
    """Combine the counts of the shards; the sum of steps Στ is mixed like the weights."""
    updates = [outcome.since(standing, "updates") for outcome in outcomes]
    mistakes = [outcome.since(standing, "mistakes") for outcome in outcomes]
    visits = [standing.visits + outcome.visits(standing) for outcome in outcomes]
    ns = shares(mixing, [outcome.rows for outcome in outcomes], updates)
    steps = np.array([[[part["step_sum"]] for part in standing.parts]])
    if any(ns):
        after = [Change(None, np.array([[[p["step_sum"]] for p in o.parts]])) for o in outcomes]
        steps = mix(steps, after, ns, visits, 0)
    parts, settled = [], set()
    for k, before in enumerate(standing.parts):
        own = [outcome.parts[k] for outcome in outcomes]
        part = {name: max([before[name], *(p[name] for p in own)]) for name in before if name not in MIXED}
        for name in (name for name in ADDED if name in before):
            part[name] = before[name] + sum(p[name] - before[name] for p in own)
        if "fallbacks" in before:
            part["fallbacks"] = tuple(
                b + sum(p["fallbacks"][c] - b for p in own) for c, b in enumerate(before["fallbacks"])
            )
        part["step_sum"] = float(steps[0, k, 0])
        if "drift" in part and len(own) > 1:
            # n sums, a product and a quotient for w, and the same for Στ; no shard's w is longer than R·Στ.
            longest = max(p["step_sum"] for p in (before, *own)) * part["radius"]
            part["drift"] += 2.1 * (len(own) + 6) * 2.0**-53 * longest
        parts.append(part)
        if part["updates"] == before["updates"]:
            settled.add(k)
    after_all = Standing(standing.epoch + 1, tuple(parts), frozenset(settled))
    changed = [i for i, k in enumerate(updates) if k]
    return Mixed(after_all, ns, visits, mistakes, updates, changed)
