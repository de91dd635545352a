"""What training asks of its rows, in plain Python: the twin of native/proof and of Wolfe's method in
margins.h.

A row is a mapping from column to number; zeros are not in it. Every sum has one order, so that the native
loops give the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Row = Mapping[int, float]
Floats = npt.NDArray[np.float64]
Two = tuple[int, int]
NONE = (-1, -1)


# ---- rows that cancel out ----------------------------------------------------------------------------
def cancelling(
    rows: Sequence[Row], labels: Sequence[int], n_classes: int, *, lifted: bool, tie_is_mistake: bool
) -> tuple[Two, Two]:
    """The first rows i, j with z_i + z_j = 0 for some z of theirs, or i = j with z_i = 0, as they are met.

    The first tuple is of rows where a tie at such a z is a mistake, at which the search ends; the second of
    those where it is none. `lifted` says that there is a bias coordinate.

    >>> cancelling([{0: 1.0}, {0: -1.0}, {0: 1.0}], [1, 1, 0], 2, lifted=False, tie_is_mistake=False)
    ((0, 2), (0, 1))
    """
    first: dict[tuple[Any, ...], dict[tuple[int, int], int]] = {}  # by values: the first row of every kind
    lax = NONE
    for i, (row, label) in enumerate(zip(rows, labels, strict=True)):
        values = tuple(sorted((j, x + 0.0) for j, x in row.items() if x))
        if not values and not lifted:
            found = [(i, label)]
        else:
            sign = 0 if lifted else (1 if values[0][1] > 0 else -1)
            kinds = first.setdefault(tuple((j, -x if sign < 0 else x) for j, x in values), {})
            found = [(j, a) for (a, s), j in kinds.items() if (s == sign) != (a == label)]
            kinds.setdefault((label, sign), i)
        ways = []
        for j, a in found:
            strict = tie_is_mistake or a != label or (a == 0 if n_classes == 2 else a != 0)
            ways.append((not strict, j))
        if ways:
            is_lax, j = min(ways)
            if not is_lax:
                return (j, i), lax
            lax = (j, i) if lax == NONE else lax
    return NONE, lax


# ---- passes ------------------------------------------------------------------------------------------
def dot(row: Row, w: Sequence[float] | Floats) -> float:
    """Σ x_j·w_j: products go to accumulator j mod 4, in increasing order of j; the four are added in pairs.

    >>> dot({0: 1.0, 4: 1e-16, 5: 1.0}, np.ones(6))
    2.0
    """
    lane = [0.0] * 4
    for j in sorted(row):
        lane[j % 4] += float(row[j]) * float(w[j])
    return (lane[0] + lane[1]) + (lane[2] + lane[3])


def lowest(
    rows: Sequence[Row], labels: Sequence[int], coef: Floats, bias: Sequence[float], count: int
) -> list[tuple[float, int]]:
    """The pairs with the smallest u·z as (product, pair), smallest first.

    A line of `coef` a class, or one.
    """
    found = []
    for i, (row, y) in enumerate(zip(rows, labels, strict=True)):
        s = [dot(row, w) + float(b) for w, b in zip(coef, bias, strict=True)]
        if len(s) == 1:
            found.append((s[0] if y else -s[0], i))
        else:
            found += [(s[y] - s[c], i * len(s) + c) for c in range(len(s)) if c != y]
    return sorted(found)[:count]


def add_rows(
    rows: Sequence[Row], own: Sequence[int], rival: Sequence[int], shares: Sequence[float], weights: Floats
) -> None:
    """weights[j, own] += share·x_j and weights[j, rival] −= share·x_j, row by row; rival −1: none."""
    for row, a, r, share in zip(rows, own, rival, shares, strict=True):
        for j, x in row.items():
            weights[j, a] += float(share) * float(x)
            if r >= 0:
                weights[j, r] -= float(share) * float(x)


# ---- the nearest point of a hull ---------------------------------------------------------------------
DEPENDENT, STALE = 1e-14, 20


def lanes(a: Any, b: Any) -> float:
    """Σ a_i·b_i in the order of `dot`."""
    return dot(dict(enumerate(np.asarray(a, dtype=np.float64).tolist())), np.asarray(b, dtype=np.float64))


class Corral:
    """Wolfe's method (1976) on the Gram matrix; F is the corral, L Lᵀ = G_FF + size row by row."""

    def __init__(self, gram: Floats, alpha: Floats) -> None:
        self.gram, self.alpha = gram, alpha
        self.size = float(gram.diagonal().max())
        self.F: list[int] = []
        self.L: list[list[float]] = []
        support = np.flatnonzero(alpha > 0)
        for i in support[np.argsort(-alpha[support], kind="stable")].tolist():
            if not self.append(i, 0.0):
                alpha[i] = 0.0
        self.normalize()

    def append(self, j: int, floor: float) -> bool:
        """Add a point, unless it depends on the others; L's last entry, squared, is `floor` at least."""
        row: list[float] = []
        rest = self.gram[j, j] + self.size
        for k, i in enumerate(self.F):
            v = self.gram[j, i] + self.size - lanes(row, self.L[k][:k])
            row.append(float(v / self.L[k][k]))
            rest -= row[k] * row[k]
        rest = max(rest, floor)
        if not rest > (0.0 if floor > 0 else DEPENDENT * self.size):
            return False
        self.F.append(j)
        self.L.append([*row, math.sqrt(rest)])
        return True

    def remove(self, r: int) -> None:
        """Take a point out; rotations bring the rows below back to a triangle."""
        del self.F[r], self.L[r]
        c, s = [0.0] * len(self.F), [0.0] * len(self.F)
        for k in range(r, len(self.F)):
            row = self.L[k]
            for i in range(r, k):
                row[i], row[i + 1] = c[i] * row[i] + s[i] * row[i + 1], c[i] * row[i + 1] - s[i] * row[i]
            length = math.sqrt(row[k] * row[k] + row[k + 1] * row[k + 1])
            c[k], s[k] = row[k] / length, row[k + 1] / length
            row[k] = length
            row.pop()

    def plane(self) -> list[float]:
        """The weights of the nearest point of the plane through F, up to their sum."""
        x = [1.0] * len(self.F)
        for k in range(len(x)):
            x[k] = (x[k] - lanes(self.L[k][:k], x[:k])) / self.L[k][k]
        for k in reversed(range(len(x))):
            x[k] /= self.L[k][k]
            for i in range(k):
                x[i] -= self.L[k][i] * x[k]
        return x

    def settle(self) -> None:
        """To the nearest point of the plane, or, while that is outside, as far as the hull goes."""
        alpha = self.alpha
        while self.F:
            beta, total, theta = self.plane(), 0.0, 1.0
            for b in beta:
                total += b
            beta = [b / total for b in beta]
            for i, b in zip(self.F, beta, strict=True):
                if not b > 0:
                    theta = min(theta, float(alpha[i] / (alpha[i] - b)))
            if theta == 1 and all(b > 0 for b in beta):
                alpha[self.F] = beta
                return
            for k in reversed(range(len(self.F))):
                i, b = self.F[k], beta[k]
                a = float(alpha[i])
                gone = not b > 0 and a / (a - b) <= theta
                alpha[i] = 0.0 if gone else a + theta * (b - a)
                if gone or not alpha[i] > 0:
                    alpha[i] = 0.0
                    self.remove(k)

    def normalize(self) -> None:
        """Σα = 1."""
        total = 0.0
        for a in self.alpha.tolist():
            total += a
        self.alpha /= total

    def run(self, rounds: int, tolerance: float) -> bool:
        """Rounds until no point lies below w by more than tolerance·size, or w stays as long as it is."""
        self.settle()
        best, shortest, since, ended = self.alpha.copy(), math.inf, 0, False
        for t in range(rounds + 1):
            self.normalize()
            g = np.zeros(len(self.alpha))
            for i in np.flatnonzero(self.alpha > 0):
                g += self.alpha[i] * self.gram[i]
            square = lanes(self.alpha, g)
            since = 0 if square < shortest else since + 1
            if square < shortest:
                shortest, best = square, self.alpha.copy()
            others = [i for i in range(len(g)) if i not in self.F]
            low = min(others, key=lambda i: (g[i], i), default=-1)
            ended = (
                low < 0
                or not g[low] < square - tolerance * self.size
                or square <= 10 * tolerance * self.size
                or since > STALE
            )
            if ended or t == rounds:
                break
            below = square - g[low]
            if not self.append(low, float(self.size * below * below / (square * (square + self.size)))):
                ended = True
                break
            self.settle()
        self.alpha[:] = best
        return ended
