"""The search of `quick`: the point of the hull of a few z that is nearest to the origin, in counted steps.

Passes over all rows give the z that lie lowest along w = Σ α z; those join the working set, whose nearest
point Wolfe's method finds on the matrix of their products. Every sum has a defined order: of passes and of
w in native/proof/passes.h, of products in native/kernel/gram.h, of Wolfe's method in
native/linear/margins.h. What w and α suggest is for a `Judge` to prove.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from novikoff import _core
from novikoff.data.arrays import is_sparse, row_bytes, rows_of, some_rows
from novikoff.data.sources.block import sorted_rows
from novikoff.proof.problem import Pairs, Problem
from novikoff.proof.verdicts import Inseparable, Separable
from novikoff.training.examples import CALL_BYTES
from novikoff.training.weights import Floats, width

FIRST = 64  # z that a working set begins with, and takes in after a pass, at least
MOST = 128  # and at most
SPREAD = 8  # powers of two that columns may differ by before each gets one of its own: no bytes do
TOLERANCE = 0.0  # Wolfe's method goes on until rounding ends it: the last z to come in are what cancels out
LARGEST = 500  # the power of two that weights of a pass stay below
ORIGIN = 1e-11  # ‖w‖² relative to the longest z, squared, from which down the z may cancel out


class Spent(Exception):
    """The effort granted is used up."""


@dataclass
class Effort:
    """Multiply-adds granted and made."""

    granted: int = 0
    made: int = 0

    def charge(self, steps: float) -> None:
        self.made += int(steps)

    def afford(self, steps: float) -> None:
        """Charge what is about to be made, or refuse it."""
        if self.made + steps > self.granted:
            raise Spent
        self.charge(steps)

    @property
    def left(self) -> int:
        return self.granted - self.made


class Judge(Protocol):
    """Who proves what floats suggest."""

    effort: Effort

    @property
    def size(self) -> int: ...
    def separated(self, coef: Floats, intercept: Floats, upper: float) -> Separable | None: ...
    def cancels(self, pairs: Pairs) -> Inseparable | None: ...


class Hull:
    """The nearest point w = Σ α z of the hull of a few z."""

    def __init__(self, judge: Judge, problem: Problem, power: int) -> None:
        """`problem` is of moderate size; `power` is of two: x was multiplied by it, and c became 1."""
        self.judge, self.problem, self.effort, self.power = judge, problem, judge.effort, power
        self.passes = 0  # over all rows
        self.rows = rows_of(problem.X)
        self.columns = width(problem.n_classes)
        self.pairs: Pairs = np.zeros(0, dtype=np.int64)
        self.alpha: Floats = np.zeros(0)
        self.gram: Floats = np.zeros((0, 0))
        self.parts: list[tuple[Any, int]] = []  # rows of the working set, and how many
        self.own: Pairs = np.zeros(0, dtype=np.int64)  # what the products of two z are multiplied by
        self.rival: Pairs = np.zeros(0, dtype=np.int64)
        self.signs: Floats = np.zeros(0)
        self.tried = b""  # the support that was solved for last
        self.powers: npt.NDArray[np.int64] | None = None  # of two, by which columns are multiplied here
        self.bias = problem.bias  # the bias coordinate as it is here
        self.bias_power = 0

    # -- the working set
    def take(self, pairs: Pairs) -> None:
        """Take z into the working set, and their products with all."""
        problem, k = self.problem, len(pairs)
        numbers, rivals = np.divmod(pairs, problem.n_classes) if problem.is_joint else (pairs, None)
        part = sorted_rows(some_rows(problem.X, numbers))
        if not len(self.pairs):
            self._measure(part)
        part = self._scaled(part)
        rows, m = rows_of(part), len(self.pairs)
        own = problem.labels[numbers].astype(np.int64)
        self.effort.charge((m + k) * self._stored(part))
        panel = _core.Panel(_core.Kernel("linear", offset=self.bias**2), rows, np.arange(k))
        self.parts.append((rows, k))
        products = np.empty((m + k, k))
        begin = 0
        for some, count in self.parts:
            panel.values(some, 0, count, products[begin : begin + count])
            begin += count
        if rivals is None:
            self.own = np.zeros(m + k, dtype=np.int64)
            self.rival = np.full(m + k, -1)
            self.signs = np.concatenate([self.signs, np.where(own == 1, 1.0, -1.0)])
            products *= self.signs[:, None] * self.signs[m:]
        else:
            self.own, self.rival = np.concatenate([self.own, own]), np.concatenate([self.rival, rivals])
            self.signs = np.ones(m + k)
            a, r = self.own[:, None], self.rival[:, None]
            products *= (a == own) * 1.0 - (a == rivals) - (r == own) + (r == rivals)
        gram = np.empty((m + k, m + k))
        gram[:m, :m], gram[:, m:], gram[m:, :m] = self.gram, products, products[:m].T
        self.gram = gram
        self.pairs = np.concatenate([self.pairs, pairs])
        self.alpha = np.concatenate([self.alpha, np.zeros(k)])

    def _measure(self, part: Any) -> None:
        """Powers of two that bring the columns of the first z to a size, where they differ by much."""
        if is_sparse(part):
            largest = np.zeros(part.shape[1])
            np.maximum.at(largest, part.indices, np.abs(part.data.astype(np.float64)))
        else:
            largest = np.abs(part.astype(np.float64)).max(axis=0, initial=0.0)
        used = largest > 0
        powers = np.frexp(largest)[1].astype(np.int64)
        every = [*powers[used].tolist(), *([math.frexp(self.bias)[1]] if self.bias else [])]
        if not every or max(every) - min(every) <= SPREAD:
            return
        self.powers = np.where(used, -powers, -max(every))
        self.bias_power = -math.frexp(self.bias)[1] if self.bias else 0
        self.bias = math.ldexp(self.bias, self.bias_power)

    def _scaled(self, part: Any) -> Any:
        if self.powers is None:
            return part
        if not is_sparse(part):
            return np.ldexp(part.astype(np.float64), self.powers)
        return part._replace(data=np.ldexp(part.data.astype(np.float64), self.powers[part.indices]))

    @staticmethod
    def _stored(part: Any) -> int:
        """Values that are not 0."""
        return int(np.count_nonzero(part.data if is_sparse(part) else part)) + int(part.shape[0])

    def vector(self) -> tuple[Floats, Floats]:
        """w: weights column by column, and the bias coordinate."""
        weights, bias = np.zeros((self.problem.n_features, self.columns)), np.zeros(self.columns)
        shares = self.alpha * self.signs
        begin = 0
        for rows, k in self.parts:
            part = slice(begin, begin + k)
            _core.add_rows(rows, self.own[part], self.rival[part], shares[part], weights)
            begin += k
        if self.problem.bias:
            sums = np.bincount(self.own, shares, self.columns)
            if self.problem.is_joint:
                sums = sums - np.bincount(self.rival, shares, self.columns)
            bias[:] = sums * self.bias
        return weights, bias

    def unscaled(self, weights: Floats, bias: Floats) -> tuple[Floats, Floats, int]:
        """The same vector for the columns as they are, times 2^−shift, to be finite; and the shift."""
        if self.powers is None:
            return weights, bias, 0
        powers = self.powers[:, None]
        sizes = np.where(weights == 0, 0, np.frexp(weights)[1] + powers)
        shift = max(int(sizes.max(initial=0)) - LARGEST, 0)
        return np.ldexp(weights, powers - shift), np.ldexp(bias, self.bias_power - shift), shift

    # -- passes
    def look(self, weights: Floats, bias: Floats) -> tuple[Pairs, Floats]:
        """The lowest z along w, lowest first; `bias` is u's last coordinate."""
        problem = self.problem
        self.effort.afford(self.judge.size)
        self.passes += 1
        found = _core.Pass(weights, problem.bias * bias, problem.n_classes, self.at_once)
        step = max(CALL_BYTES // (row_bytes(problem.X) * max(problem.n_classes // 4, 1)), 1)
        for begin in range(0, problem.n_rows, step):
            found.run(self.rows, problem.labels, begin, min(begin + step, problem.n_rows))
        lowest: tuple[Pairs, Floats] = found.found()
        return lowest

    @property
    def at_once(self) -> int:
        return int(min(max(self.problem.dimension + 1, FIRST), MOST))

    def begin(self, start: tuple[Floats, Floats] | None, hard: Pairs | None) -> Separable | None:
        """Take the first z: those that were hard and the lowest along the perceptron's w, or any."""
        problem = self.problem
        first = (
            np.zeros(0, dtype=np.int64) if hard is None else np.asarray(hard, dtype=np.int64)[: self.at_once]
        )
        weights, bias = np.zeros((problem.n_features, self.columns)), np.zeros(self.columns)
        if start is not None:
            coef, intercept = np.atleast_2d(start[0]), np.atleast_1d(start[1])
            top = max(float(np.abs(coef).max(initial=0.0)), float(np.abs(intercept).max(initial=0.0)))
            if 0 < top < math.inf:
                power = -math.frexp(top)[1]
                shift = self.power
                weights[:, : len(coef)] = np.ldexp(coef, power).T
                if problem.bias:
                    bias[: len(coef)] = np.ldexp(intercept, power + shift) / problem.bias
        if weights.any() or bias.any():
            lowest, values = self.look(weights, bias)
            if len(values) and values[0] > 0:
                found = self._separated(weights, bias, math.inf)
                if found is not None:
                    return found
            first = union(first, lowest)
        if not len(first):
            first = union(self._some(), first)
        self.take(first)
        self.alpha[int(np.argmin(self.gram.diagonal()))] = 1.0
        return None

    def _some(self) -> Pairs:
        """A z of rows from the first to the last."""
        problem = self.problem
        rows: Pairs = np.arange(self.at_once) * (problem.n_rows - 1) // (self.at_once - 1)
        if not problem.is_joint:
            return rows
        pairs: Pairs = rows * problem.n_classes + (problem.labels[rows] == 0)
        return pairs

    # -- the search
    def run(self) -> Separable | Inseparable | None:
        """Search until a verdict is proved, or floats can do no more; `Spent` when effort is used up."""
        while True:
            self.improve()
            weights, bias = self.vector()
            square = self._square(weights, bias)
            weights, bias, shift = self.unscaled(weights, bias)
            size = float(self.gram.diagonal().max())
            if not square > ORIGIN * size:
                found: Separable | Inseparable | None = self._cancelling()
                if found is not None:
                    return found
            lowest, values = self.look(weights, bias)
            if len(values) and values[0] > 0:
                found = self._separated(weights, bias, self._upper(square, size))
                if found is not None:
                    return found
            new = lowest[(values < math.ldexp(square, -shift)) & ~np.isin(lowest, self.pairs)]
            if not len(new):
                return self._cancelling()
            self.take(new)

    def improve(self) -> None:
        """Bring α to the nearest point of the working set's hull, or nearer to it."""
        m = len(self.alpha)
        alpha = np.ascontiguousarray(self.alpha)
        rounds = 8
        while True:
            k = int(np.count_nonzero(alpha))
            k = min(k + rounds, m, self.problem.dimension + 1)
            cost = k**3 / 3 + rounds * (m * k + 2 * k * k)
            self.effort.afford(cost)
            ended = _core.wolfe(self.gram, alpha, rounds, TOLERANCE)
            self.alpha = alpha
            if ended:
                return
            rounds = min(2 * rounds, 256)

    def _square(self, weights: Floats, bias: Floats) -> float:
        return float(_core.exact_dot(weights.ravel(), weights.ravel())[1] + _core.exact_dot(bias, bias)[1])

    def _upper(self, square: float, size: float) -> float:
        """‖w‖/Σα, rounded up: no margin is above it. Infinite where rows or columns were scaled."""
        if self.powers is not None or self.power or not self.problem.is_moderate:
            return math.inf
        m, total = len(self.alpha), math.fsum(self.alpha)
        slack = (m + self.problem.dimension + 16) * 2.0**-52
        return (math.sqrt(square) * (1 + slack) + slack * math.sqrt(size)) / total * (1 + 2.0**-50)

    def _separated(self, weights: Floats, bias: Floats, upper: float) -> Separable | None:
        k = self.problem.n_classes if self.problem.is_joint else 1
        coef = np.ascontiguousarray(weights.T[:k])
        return self.judge.separated(coef, (self.problem.bias * bias)[:k], upper)

    def _cancelling(self) -> Inseparable | None:
        shares = np.flatnonzero(self.alpha)
        most = self.problem.dimension + 1  # z that can depend on each other in one way only
        if len(shares) > most:  # rounding has kept some that are not needed
            shares = shares[np.argsort(-self.alpha[shares], kind="stable")[:most]]
        support = np.sort(self.pairs[shares])
        key = support.tobytes()
        if key == self.tried:
            return None
        found = self.judge.cancels(support)
        self.tried = key
        return found


def union(first: Pairs, second: Pairs) -> Pairs:
    """Both, without repeats, in the order they come."""
    both = np.concatenate([first, second])
    _, at = np.unique(both, return_index=True)
    result: Pairs = both[np.sort(at)]
    return result
