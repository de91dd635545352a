"""The plain NumPy twin of native/kernel/budget.h: kernel perceptrons with at most B supports.

It knows rows only by number, through the matrix of their kernel values. Decisions use exact rational numbers,
all else is float64 operations in the order of the native code, with which no code is shared.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

POLICIES = ("projectron", "projectron++", "forgetron", "oldest", "random")
DEPENDENT = 1e-8  # relative squared distance to the others' span below which a support is redundant


def lanes16(a: Floats, b: Floats) -> float:
    """a·b: entry j is added to lane j mod 16, then the lanes are summed.

    >>> lanes16(np.arange(40.0), np.ones(40))
    780.0
    """
    products = np.zeros(-(-max(len(a), 1) // 16) * 16)
    products[: len(a)] = a * b
    lanes = np.cumsum(products.reshape(-1, 16), axis=0)[-1]
    four = (lanes[:4] + lanes[4:8]) + (lanes[8:12] + lanes[12:])
    return float((four[0] + four[1]) + (four[2] + four[3]))


class BudgetTwin:
    """Supports, coefficients and policy; see native/kernel/budget.h for the equations."""

    def __init__(
        self,
        gram: Floats,
        policy: str,
        budget: int | None,
        columns: int,
        *,
        joint: bool = False,
        ties: str = "positive",
    ) -> None:
        self.gram, self.policy, self.budget, self.columns = gram, policy, budget, columns
        self.joint, self.ties = joint, ties
        self.supports: list[int] = []  # rows
        self.touched: list[int] = []  # visits before their last update
        self.alpha = np.zeros((columns, 0))
        self.sums = np.zeros((columns, 0))
        self.factor = np.zeros((0, 0))
        self.basis: list[int] = []  # indices of supports
        self.damage = self.largest = 0.0
        self.visits = self.mistakes = self.updates = 0

    @property
    def full(self) -> bool:
        return self.budget is not None and len(self.supports) >= self.budget

    @property
    def projects(self) -> bool:
        return self.budget is not None and self.policy.startswith("projectron")

    def visit(self, row: int, label: int, *, same: int | None = None, draw: float = 0.0) -> bool:
        """Learn from a row; `same` is the row of an equal support. Return whether there was an update."""
        k = self.gram[row, self.supports]
        scores = np.array([lanes16(a, k) for a in self.alpha])
        exact = [
            sum((Fraction(float(p)) * Fraction(float(q)) for p, q in zip(a, k, strict=True)), Fraction(0))
            for a in self.alpha
        ]
        move, margin = self._decide(label, scores, exact)
        acts = bool(move.any() or margin.any())
        if acts:
            self.mistakes += self._moved(move)
            self.largest = max(self.largest, float(self.gram[row, row]))
            self._update(row, k, move, margin, scores, label, same, draw)
            self.updates += self._moved(move)
        self.visits += 1
        return acts

    def _moved(self, move: Floats) -> int:
        return int(move.any()) if self.joint else int(np.count_nonzero(move))

    def _signs(self, label: int) -> Floats:
        if self.columns == 1:
            return np.array([1.0 if label == 1 else -1.0])
        return np.where(np.arange(self.columns) == label, 1.0, -1.0)

    def _decide(
        self, label: int, scores: Floats, exact: list[Fraction]
    ) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """The perceptron's steps, and the columns that are right with too small a score."""
        move, margin = np.zeros(self.columns), np.zeros(self.columns, dtype=bool)
        margins = self.policy == "projectron++" and self.full
        strict = self.ties == "mistake"
        if self.joint:
            others = [c for c in range(self.columns) if not (strict and c == label)]
            best = max(others, key=lambda c: (exact[c], -c))
            if best != label and (not strict or exact[label] <= exact[best]):
                move[label], move[best] = 1.0, -1.0
            elif margins:
                rivals = [c for c in range(self.columns) if c != label]
                rival = max(rivals, key=lambda c: (scores[c], -c))
                margin[rival] = scores[label] - scores[rival] < 1
            return move, margin
        for c, y in enumerate(self._signs(label)):
            if y * exact[c] < 0 or (exact[c] == 0 and (y < 0 or strict)):
                move[c] = y
            else:
                margin[c] = margins and y * scores[c] < 1
        return move, margin

    def _set_margin_steps(
        self, move: Floats, margin: npt.NDArray[np.bool_], scores: Floats, label: int, projected: float
    ) -> None:
        """τ = min(ℓ/‖P K(x,·)‖², 1) for columns that are right with too small a score."""
        for c in np.flatnonzero(margin if projected > 0 else []):
            if self.joint:
                tau = min((1 - (scores[label] - scores[c])) / (2 * projected), 1.0)
                move[label], move[c] = tau, -tau
            else:
                y = self._signs(label)[c]
                move[c] = y * min((1 - y * scores[c]) / projected, 1.0)

    def _update(
        self,
        row: int,
        k: Floats,
        move: Floats,
        margin: npt.NDArray[np.bool_],
        scores: Floats,
        label: int,
        same: int | None,
        draw: float,
    ) -> None:
        if same is not None:
            place = self.supports.index(same)
            self._set_margin_steps(move, margin, scores, label, float(self.gram[row, row]))
            self.alpha[:, place] += move
            self.sums[:, place] += self.visits * move
            self.touched[place] = self.visits
        elif not self.full:
            self.supports.append(row)
            self.touched.append(self.visits)
            self.alpha = np.column_stack([self.alpha, move])
            self.sums = np.column_stack([self.sums, self.visits * move])
            if self.projects:
                self._extend(k, float(self.gram[row, row]))
        elif self.projects:
            v = self._forward(k)
            self._set_margin_steps(move, margin, scores, label, lanes16(v, v))
            step = np.outer(move, self._backward(v))
            self.alpha[:, self.basis] += step
            self.sums[:, self.basis] += self.visits * step
        else:
            oldest = int(np.argmin(self.touched))
            place = int(draw * (self.budget or 0)) if self.policy == "random" else oldest
            if self.policy == "forgetron":
                phi = self._shrinking(k, place, move)
                self.alpha *= phi
                move *= phi
            self.supports[place], self.touched[place] = row, self.visits
            self.alpha[:, place], self.sums[:, place] = move, self.visits * move

    # -- projecting: G = L·Lᵀ on the basis
    def _forward(self, k: Floats) -> Floats:
        v = k[self.basis].copy()
        for i in range(len(v)):
            v[i] /= self.factor[i, i]
            v[i + 1 :] -= v[i] * self.factor[i + 1 :, i]
        return v

    def _backward(self, v: Floats) -> Floats:
        d = np.zeros(len(v))
        for i in reversed(range(len(v))):
            d[i] = (v[i] - lanes16(self.factor[i + 1 :, i], d[i + 1 :])) / self.factor[i, i]
        return d

    def _extend(self, k: Floats, own: float) -> None:
        v = self._forward(k)
        rest = own - lanes16(v, v)
        if rest > DEPENDENT * own:
            wider = np.zeros((len(v) + 1, len(v) + 1))
            wider[:-1, :-1], wider[-1, :-1], wider[-1, -1] = self.factor, v, math.sqrt(rest)
            self.factor = wider
            self.basis.append(len(self.supports) - 1)

    # -- forgetting
    def _shrinking(self, k: Floats, place: int, move: Floats) -> float:
        """The largest φ ≤ 1 with a·φ² + b·φ + c ≤ 0."""
        with_oldest = self.gram[self.supports[place], self.supports]
        a = b = 0.0
        for coefficients, step in zip(self.alpha, move, strict=True):
            size = abs(float(coefficients[place]))
            if size:
                f = lanes16(coefficients, with_oldest) + step * k[place]
                mu = (-f if coefficients[place] < 0 else f) / (self.largest or 1.0)
                a += size * size - 2 * size * mu
                b += 2 * size
        c = self.damage - 15 / 32 * self.mistakes
        phi = 1.0
        if a + b + c > 0:
            phi = min(-2 * c / (b + math.sqrt(max(b * b - 4 * a * c, 0.0))), 1.0)
        self.damage += a * phi * phi + b * phi
        return float(phi)
