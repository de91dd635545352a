"""The specification of distributed training: a plain NumPy twin of iterative parameter mixing.

One process, one `Twin` per shard, whole arrays, no slices and no lists of changes; no code is shared with
what it checks. The tests compare the two bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.reference.linear import Twin

Floats = npt.NDArray[np.float64]
FAN_IN = 8


def tree_sum(parts: Sequence[Floats]) -> Floats:
    """The sum in order, of eight neighbours at a time, then likewise of these sums.

    >>> float(tree_sum([np.array(v) for v in [1.0, 2.0**-53, 2.0**-53]]))
    1.0
    """
    while True:
        sums = []
        for begin in range(0, len(parts), FAN_IN):
            total = np.zeros_like(parts[0])
            for part in parts[begin : begin + FAN_IN]:
                total = total + part
            sums.append(total)
        parts = sums
        if len(parts) == 1:
            return parts[0]


@dataclass
class MixingTwin:
    """The shared state: a twin with all counts, and a record of each epoch."""

    shared: Twin
    mixing: str = "uniform"
    mistakes: list[list[int]] = field(default_factory=list)  # per epoch and shard
    updates: list[list[int]] = field(default_factory=list)
    weights: list[list[float]] = field(default_factory=list)  # μ

    def epoch(self, shards: Sequence[tuple[Any, Any]], orders: Sequence[Any], weights: Any = None) -> bool:
        """Every shard learns for one epoch from the shared weights, which then become the mixture.

        Returns whether no shard made an update.
        """
        old = self.shared
        ends = []
        for i, ((X, y), order) in enumerate(zip(shards, orders, strict=True)):
            twin = _copy(old)
            twin.epoch(X, y, order, None if weights is None else weights[i])
            ends.append(twin)
        return self.mix(ends)

    def mix(self, ends: Sequence[Twin]) -> bool:
        """Mix twins that have all continued from the shared one."""
        old = self.shared
        k = [twin.updates - old.updates for twin in ends]
        made = [twin.visits - old.visits for twin in ends]
        n = [int(m > 0) for m in made] if self.mixing != "updates" else [u // (math.gcd(*k) or 1) for u in k]
        whole = sum(n) if any(k) else 0
        self.mistakes.append([twin.mistakes - old.mistakes for twin in ends])
        self.updates.append(k)
        self.weights.append([share / whole if whole else 0.0 for share in n])
        new = _copy(old)
        new.visits = old.visits + sum(made)
        new.mistakes = old.mistakes + sum(self.mistakes[-1])
        new.updates = old.updates + sum(k)
        if whole:
            for w, u in (("weights", "weight_sums"), ("bias", "bias_sums")):
                mixed = self._coordinates(old, ends, n, new.visits, w, u)
                setattr(new, w, mixed[0])
                setattr(new, u, mixed[1])
            steps = [np.array(twin.step_sum) for twin in ends]
            new.step_sum = float(_mixture(np.array(old.step_sum), steps, n))
        self.shared = new
        return not any(k)

    def _coordinates(
        self, old: Twin, ends: Sequence[Twin], n: list[int], visits: int, w: str, u: str
    ) -> tuple[Floats, Floats]:
        before, sums = getattr(old, w), getattr(old, u)
        values, lasts = [getattr(twin, w) for twin in ends], [getattr(twin, u) for twin in ends]
        new = _mixture(before, values, n)
        changed = [(value != before) | (last != sums) for value, last in zip(values, lasts, strict=True)]
        number = tree_sum([c.astype(np.float64) for c in changed])
        ours = tree_sum([np.where(c, last, 0.0) for c, last in zip(changed, lasts, strict=True)])
        lags = tree_sum(
            [
                np.where(c, float(twin.visits) * (value - before), 0.0)
                for c, twin, value in zip(changed, ends, values, strict=True)
            ]
        )
        running = (ours - (number - 1) * sums) + (float(visits) * (new - before) - lags)
        return new, np.where(number > 0, running, sums)


def _mixture(before: Floats, values: Sequence[Floats], n: Sequence[int]) -> Floats:
    """(Σ nᵢ·wᵢ + (N − Σ nᵢ)·w) / N for each coordinate, with sums over the shards that changed it."""
    changed = [value != before for value in values]
    total = tree_sum([np.where(c, i * value, 0.0) for c, i, value in zip(changed, n, values, strict=True)])
    share = tree_sum([np.where(c, float(i), 0.0) for c, i in zip(changed, n, strict=True)])
    whole = sum(n)
    return np.where(share > 0, (total + (whole - share) * before) / whole, before)


def _copy(twin: Twin) -> Twin:
    return deepcopy(twin)
