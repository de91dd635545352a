"""The perceptron in its dual form: nothing but kernel values, rows by number, and counts.

A score is s = Σ_j α_j·K(x_j, x) over the rows that were mistaken, the supports. Rows are visited in blocks. The
scores of *all* rows by the updates of the blocks before are kept (`scores`); inside a block an update adds its
kernel values with the rest of the block, and when the block is done its new supports are added to all rows by one
tiled product. So each kernel value is computed once for each update, by fast code, and an epoch costs what its
updates cost.

Decisions are exact for the kernel values as computed: a float score is trusted where it lies outside its own
rounding error, (k + 2)·2⁻⁵³·Σ|α_j|·|K(x_j, x)| with k updates; otherwise the values are computed again and
summed by the long accumulator.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novikoff import _core
from novikoff.kernels import Kernel, Panel, Rows
from novikoff.model import Floats, Ints, threads

UNIT = 2.0**-53
NEW_SUPPORTS = 64  # wanted in a block: enough for the tiled product to be efficient
BLOCK = (256, 8192)  # rows of a block, at least and at most
PART = 2048  # rows that one thread adds scores to at a time


@dataclass
class Updates:
    """The updates of a run, in order: which row, when, and how its class scores moved."""

    row: list[int] = field(default_factory=list)
    visit: list[int] = field(default_factory=list)  # visits made before
    coef: list[Floats] = field(default_factory=list)  # −1, 0 or +1 for each class (column)


class DualLearner:
    """Learns from rows by their kernel values with the supports; see the module."""

    def __init__(
        self,
        panel: Callable[[Rows], SupportPanel],
        rows: Any,
        labels: Ints,
        sizes: Floats,
        n_columns: int,
        *,
        joint: bool = False,
        tie_is_mistake: bool = False,
        exact: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        """`panel` makes a panel of rows given by number; `sizes` has √K(x, x), or what bounds |K| in its place.

        `exact`: the values are integers, so that sums below 2⁵³ are not rounded at all.
        """
        self.panel, self.rows, self.labels, self.sizes = panel, rows, labels, sizes
        self.joint, self.tie_is_mistake, self.exact = joint, tie_is_mistake, exact
        self.jobs = threads(n_jobs)
        self.scores: Floats = np.zeros((len(labels), n_columns))
        self.updates = Updates()
        self.visits = self.mistakes = self.close = 0
        self.weight = np.zeros(n_columns)  # Σ|α|·√K of each class: with a row's size it bounds Σ|α·K|
        self.rate = 1.0  # mistakes a visit, in the last blocks
        self.largest_size = float(sizes.max(initial=0.0))

    # -- one epoch
    def epoch(self, order: Rows) -> int:
        """Visit the rows in this order; the number of updates."""
        before, done = len(self.updates.row), 0
        while done < len(order):
            size = int(np.clip(NEW_SUPPORTS / max(self.rate, 1e-9), *BLOCK))
            block = order[done : done + size]
            made = self._block(block)
            self.rate = 0.5 * self.rate + 0.5 * made / len(block)
            done += len(block)
        return len(self.updates.row) - before

    def _block(self, block: Rows) -> int:
        scores = np.ascontiguousarray(self.scores[block])
        labels, sizes = self.labels[block], self.sizes[block]
        first, at = len(self.updates.row), 0
        column = np.empty((len(block), 1))
        while True:
            at = _core.first_in_doubt(
                scores, labels, sizes, self._slack(), self.joint, self.tie_is_mistake, at
            )
            if at == len(block):
                break
            move = self._decide(int(block[at]), scores[at])
            if move is not None:
                self._record(int(block[at]), self.visits + at, move)
                panel, rest = self.panel(block[at : at + 1]), len(block) - at - 1
                if rest:
                    panel.values(self.rows, block, at + 1, len(block), column[:rest])
                    scores[at + 1 :] += column[:rest] * move
            at += 1
        self.visits += len(block)
        self._push(first)
        return len(self.updates.row) - first

    def _record(self, row: int, visit: int, move: Floats) -> None:
        self.updates.row.append(row)
        self.updates.visit.append(visit)
        self.updates.coef.append(move)
        self.weight += np.abs(move) * self.sizes[row]
        self.mistakes += 1

    def _slack(self) -> Floats:
        """How far a float score may be off, for a row of size 1."""
        if self.exact and self.weight.max() * self.largest_size < 2.0**52:
            return np.zeros(len(self.weight))
        return (len(self.updates.row) + 4) * UNIT * 1.01 * self.weight

    def _decide(self, row: int, scores: Floats) -> Floats | None:
        """How the classes' scores must move: None where the row is right."""
        label = int(self.labels[row])
        slack = self._slack() * self.sizes[row]
        if self.joint:
            return self._decide_jointly(row, label, scores, slack)
        y = np.full(len(scores), -1.0)
        y[0 if len(scores) == 1 else label] = 1.0 if len(scores) > 1 or label == 1 else -1.0
        signs = np.sign(scores)
        for c in np.flatnonzero(np.abs(scores) <= slack):
            signs[c] = self._exact_sign(row, lambda coef, c=c: coef[:, c]) if slack[c] else signs[c]
        wrong = (y * signs < 0) | ((signs == 0) & ((y < 0) | self.tie_is_mistake))
        return np.where(wrong, y, 0.0) if wrong.any() else None

    def _decide_jointly(self, row: int, label: int, scores: Floats, slack: Floats) -> Floats | None:
        def above(a: int, b: int) -> int:
            """The sign of score a − score b."""
            difference = scores[a] - scores[b]
            if abs(difference) > 1.01 * (slack[a] + slack[b]) or not (slack[a] or slack[b]):
                return int(np.sign(difference))
            return self._exact_sign(row, lambda coef: coef[:, a] - coef[:, b])

        best = -1
        for c in range(len(scores)):
            if self.tie_is_mistake and c == label:
                continue
            if best < 0 or above(c, best) > 0:
                best = c
        if best == label or (self.tie_is_mistake and above(label, best) > 0):
            return None
        move = np.zeros(len(scores))
        move[label], move[best] = 1.0, -1.0
        return move

    def _exact_sign(self, row: int, combine: Callable[[Floats], Floats]) -> int:
        """The sign of Σ α·K(support, row), of the values as computed, without rounding."""
        self.close += 1
        if not self.updates.row:
            return 0
        coef = combine(np.array(self.updates.coef))
        used = np.flatnonzero(coef)
        supports, places = np.unique(np.array(self.updates.row)[used], return_inverse=True)
        alpha = np.bincount(places, weights=coef[used], minlength=len(supports))
        values = np.empty((1, len(supports)))
        self.panel(supports).values(self.rows, np.array([row]), 0, 1, values)
        return _core.exact_dot(alpha, values[0])[0]

    def _push(self, first: int) -> None:
        """Add the updates from number `first` on to the scores of all rows."""
        if first == len(self.updates.row):
            return
        panel = self.panel(np.array(self.updates.row[first:], dtype=np.int64))
        coef = np.array(self.updates.coef[first:])

        def add(begin: int) -> None:
            end = min(begin + PART, len(self.labels))
            panel.add_scores(self.rows, None, begin, end, coef, self.scores)

        parts = range(0, len(self.labels), PART)
        if self.jobs == 1:
            for begin in parts:
                add(begin)
        else:
            with ThreadPoolExecutor(self.jobs) as pool:
                list(pool.map(add, parts))
