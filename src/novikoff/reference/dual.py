"""The specification of kernel perceptrons: a plain twin that takes the Gram matrix.

Slow on purpose. Decisions use exact rational sums of the matrix's entries, and no code is shared with what it
checks. A move is −1, 0 or +1 for each column: one column for two classes, else one column per class.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def tensor_power(X: npt.NDArray[Any], degree: int, *, gamma: int = 1, coef0: int = 1) -> Floats:
    """Features whose inner product is (γ·x·z + c₀)^degree, where γ and c₀ are squares of integers.

    >>> A = tensor_power(np.array([[1, 2], [3, -1]]), 2)
    >>> A @ A.T
    array([[ 36.,   4.],
           [  4., 121.]])
    """
    n = len(X)
    base = np.hstack([np.full((n, 1), round(coef0**0.5)), round(gamma**0.5) * X.astype(np.float64)])
    out = np.ones((n, 1))
    for _ in range(degree):
        out = np.einsum("ia,ib->iab", out, base).reshape(n, -1)
    return out


@dataclass
class DualTwin:
    """A kernel perceptron over the rows of `gram`, with labels 0, 1, …"""

    gram: Floats
    labels: npt.NDArray[Any]
    classes: int
    joint: bool = False
    ties: str = "positive"
    visits: int = 0
    updates: list[tuple[int, int, tuple[int, ...]]] = field(default_factory=list)  # row, visits before, move

    def __post_init__(self) -> None:
        self.columns = 1 if self.classes == 2 else self.classes
        n = len(self.gram)
        self.exact = [[Fraction(0)] * self.columns for _ in range(n)]  # the scores of all rows
        self.rounded = np.zeros((n, self.columns))  # summed in the order of the updates

    def side(self, i: int, c: int) -> int:
        """y of row i for column c."""
        return 1 if self.labels[i] == (1 if self.columns == 1 else c) else -1

    def rival(self, scores: Any, label: int) -> int:
        """The lowest class other than the label with the highest score."""
        return max((c for c in range(self.classes) if c != label), key=lambda c: (scores[c], -c))

    def move(self, i: int, only: int | None = None) -> tuple[int, ...] | None:
        """The change of each column's α by a visit to row i; None if there is none."""
        scores, label = self.exact[i], int(self.labels[i])
        strict = self.ties == "mistake"
        move = [0] * self.columns
        if self.joint:
            r = self.rival(scores, label)
            d = scores[label] - scores[r]
            if d < 0 or (d == 0 and (strict or r < label)):
                move[label], move[r] = 1, -1
        else:
            for c in range(self.columns):
                y = self.side(i, c)
                d = y * scores[c]
                if (only is None or c == only) and (d < 0 or (d == 0 and (strict or y < 0))):
                    move[c] = y
        return tuple(move) if any(move) else None

    def update(self, i: int, move: tuple[int, ...]) -> None:
        """w_c ← w_c + move_c·φ(x_i)."""
        self.updates.append((i, self.visits, move))
        for j, value in enumerate(self.gram[:, i].tolist()):
            for c, m in enumerate(move):
                if m:
                    self.exact[j][c] += m * Fraction(value)
                    self.rounded[j, c] += m * value

    def epoch(self, order: Any) -> None:
        """One visit to every row of `order`."""
        for i in order:
            move = self.move(int(i))
            if move is not None:
                self.update(int(i), move)
            self.visits += 1

    def worst_epoch(self) -> bool:
        """As many visits as rows, each to the most violated row; return whether none is violated any more."""
        for _ in range(len(self.gram)):
            moves: dict[int, list[int]] = {}
            for c in [0] if self.joint else range(self.columns):
                found = self._most_violated(c)
                if found is not None:
                    i, move = found
                    moves[i] = [a + b for a, b in zip(moves.get(i, [0] * self.columns), move, strict=True)]
            if not moves:
                return True
            for i, total in moves.items():
                self.update(i, tuple(total))
            self.visits += 1
        return False

    def _most_violated(self, c: int) -> tuple[int, tuple[int, ...]] | None:
        """The mistake with the smallest float d; of several, the lowest row."""
        best = None
        for i in range(len(self.gram)):
            move = self.move(i, None if self.joint else c)
            if move is None:
                continue
            label, scores = int(self.labels[i]), self.rounded[i]
            d = (
                scores[label] - scores[self.rival(scores, label)]
                if self.joint
                else self.side(i, c) * scores[c]
            )
            if best is None or d < best[0]:
                best = d, i, move
        return None if best is None else best[1:]

    # -- predicting
    def scores(self, cross: Floats, *, averaged: bool) -> list[list[Fraction]]:
        """Scores of rows, given their kernel values with all training rows; averaged: sums over visits."""
        out = []
        for line in cross.tolist():
            total = [Fraction(0)] * self.columns
            for i, visit, move in self.updates:
                for c, m in enumerate(move):
                    total[c] += m * (self.visits - visit if averaged else 1) * Fraction(line[i])
            out.append(total)
        return out

    def votes(self, cross: Floats) -> list[list[int]]:
        """Per column, the votes for minus those against; for joint classes, the votes for each class."""
        out = []
        for line in cross.tolist():
            votes, scores = [0] * self.columns, [Fraction(0)] * self.columns
            moments = [(visit, i, move) for i, visit, move in self.updates] + [(self.visits, -1, ())]
            since = 0
            for visit, i, move in moments:
                if self.joint:
                    votes[max(range(self.columns), key=lambda c: (scores[c], -c))] += visit - since
                else:
                    for c in range(self.columns):
                        votes[c] += (visit - since) * (1 if scores[c] >= 0 else -1)
                since = visit
                for c, m in enumerate(move):
                    scores[c] += m * Fraction(line[i])
            out.append(votes)
        return out
