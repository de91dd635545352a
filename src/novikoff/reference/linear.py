"""The specification: a plain NumPy twin of every native loop.

Slow on purpose. Decisions use exact rational numbers, updates are elementwise float64 operations, and no
code is shared with the native core; the tests compare the two bit for bit.

Notation: d = y·(w·x + b) for two classes; d = s_y − s_r for more, where the rival r is the lowest class other
than y with the highest score among these. The bias is one more coordinate of squared size `bias_square`, and
b is its contribution to the score.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.reference.second_order import SECOND_ORDER, arow, scw, spread, variances

Floats = npt.NDArray[np.float64]


def exact_dot(a: Floats, b: Floats) -> Fraction:
    """a·b as a rational number.

    >>> exact_dot(np.array([0.1, 1e300]), np.array([1.0, 1e300])) > 10**600
    True
    """
    return sum((Fraction(float(p)) * Fraction(float(q)) for p, q in zip(a, b, strict=True)), Fraction(0))


def rounded(value: Fraction) -> float:
    """The nearest float64, ties to even; infinite on overflow.

    >>> rounded(Fraction(1, 3)) == 1 / 3
    True
    """
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def norm(square: Fraction) -> float:
    """sqrt(RN(square)), where RN rounds to 53 bits with an unlimited exponent."""
    if square == 0:
        return 0.0
    shift = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    return math.ldexp(math.sqrt(rounded(square / Fraction(4) ** shift)), shift)


@dataclass
class Twin:
    """State of a linear learner: `weights[c]` and `bias[c]`, one row for two classes."""

    classes: int
    features: int
    rule: str = "perceptron"
    ties: str = "positive"
    margin: float = 0.0
    C: float = 1.0
    bias_square: float = 1.0
    phi: float = 1.0
    factors: Floats | None = None  # powers of two: rows are learned as z = factors·x, with weights v of x
    visits: int = 0
    mistakes: int = 0
    updates: int = 0
    step_sum: float = 0.0
    record: list[tuple[int, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        rows = 1 if self.classes == 2 else self.classes
        self.s: Floats = np.ones(self.features) if self.factors is None else self.factors
        self.weights: Floats = np.zeros((rows, self.features))
        self.bias: Floats = np.zeros(rows)
        self.weight_sums: Floats = np.zeros((rows, self.features))
        self.bias_sums: Floats = np.zeros(rows)
        self.confidences: Floats = np.zeros((rows, self.features))  # of the rules with variances
        self.bias_confidences: Floats = np.zeros(rows)

    def score(self, x: Floats, c: int) -> Fraction:
        return exact_dot(self.weights[c], x) + Fraction(float(self.bias[c]))

    def difference(self, x: Floats, y: int) -> tuple[Fraction, int]:
        """d and the rival."""
        if self.classes == 2:
            s = self.score(x, 0)
            return (s if y == 1 else -s), 1 - y
        scores = [self.score(x, c) for c in range(self.classes)]
        others = [c for c in range(self.classes) if c != y]
        rival = max(others, key=lambda c: (scores[c], -c))
        return scores[y] - scores[rival], rival

    def step(self, x: Floats, d: Fraction) -> float:
        """τ without the sample weight, for a row z."""
        square = exact_dot(x, x) + Fraction(self.bias_square)
        loss = rounded(1 - d)
        square_z = (1 if self.classes == 2 else 2) * rounded(square)

        def over(denominator: float) -> float:
            """loss / denominator; 0 for a zero row, infinite if |x|² > 0 rounds to 0."""
            return 0.0 if square == 0 and not denominator else loss / denominator if denominator else math.inf

        match self.rule:
            case "perceptron" | "margin":
                return 1.0
            case "normalized":
                return 1 / norm(square) if square else 0.0
            case "pa":
                return over(square_z)
            case "pa1":
                return min(self.C, over(square_z))
            case "pa2":
                return over(square_z + 1 / (2 * self.C))
        raise ValueError(self.rule)

    def visit(self, i: int, x: Floats, y: int, weight: float = 1.0) -> None:
        """One example: decide, and update if the rule requires it."""
        d, rival = self.difference(x, y)
        mistake = d < 0 or (d == 0 and self.tie_hurts(y, rival))
        if self.rule in SECOND_ORDER:
            self._adapt(i, x, y, rival, d, mistake, weight)
            self.mistakes += mistake
            self.visits += 1
            return
        update = {"margin": d <= Fraction(self.margin), "pa": d < 1, "pa1": d < 1, "pa2": d < 1}.get(
            self.rule, mistake
        )
        self.mistakes += mistake
        if update:
            z = self.s * x
            base = self.step(z, d)
            tau = weight * base
            moves = [(0, tau if y else -tau)] if self.classes == 2 else [(y, tau), (rival, -tau)]
            for c, step in moves:
                sum_step = self.visits * step  # the average: w̄ = (T·w − sums)/T after T visits
                self.weights[c] = self.weights[c] + step * (self.s * z)
                self.weight_sums[c] = self.weight_sums[c] + sum_step * (self.s * z)
                self.bias[c] += step * self.bias_square
                self.bias_sums[c] += sum_step * self.bias_square
            self.updates += 1
            self.step_sum += base
            self.record.append((i, tau))
        self.visits += 1

    def _adapt(
        self, i: int, x: Floats, y: int, rival: int, d: Fraction, mistake: bool, weight: float
    ) -> None:
        """An update by a rule with variances, if it requires one: of the weights v/s of z = s·x."""
        s, x = self.s, self.s * x
        k, squares = self.C * weight, x * x
        moves = [(0, 1.0 if y else -1.0)] if self.classes == 2 else [(y, 1.0), (rival, -1.0)]
        bias_square = np.array([self.bias_square])

        def v() -> float:
            spreads = (
                spread(variances(self.confidences[c]), squares)
                + spread(variances(self.bias_confidences[c : c + 1]), bias_square)
                for c, _ in moves
            )
            return rounded(sum(spreads, Fraction(0)))

        match self.rule:
            case "arow":
                update = d < 1
                alpha, gain = arow(rounded(1 - d), v(), k) if update else (0.0, 0.0)
            case "scw":
                reach = self.phi * math.sqrt(v())
                update = reach == math.inf or d < Fraction(reach)
                alpha, gain = scw(rounded(d), v(), k, self.phi) if update else (0.0, 0.0)
            case _:
                update, alpha, gain = mistake, weight, k
        if not update:
            return
        for c, sign in moves:
            w, b, sigma = self.weights[c] / s, self.bias[c], variances(self.confidences[c])
            sigma_bias = variances(self.bias_confidences[c])
            self.confidences[c] += gain * squares
            self.bias_confidences[c] += gain * self.bias_square
            step = bias_step = sign * alpha
            if self.rule == "second-order":
                sigma, sigma_bias = variances(self.confidences[c]), variances(self.bias_confidences[c])
                step, bias_step = step - k * (w * x), bias_step - k * b
            move, bias_move = step * (sigma * x), bias_step * (sigma_bias * self.bias_square)
            self.weights[c] = s * (w + move)
            self.bias[c] = b + bias_move
            self.weight_sums[c] += s * (self.visits * move)
            self.bias_sums[c] += self.visits * bias_move
        self.updates += 1
        self.step_sum += 1.0 if self.rule == "second-order" else alpha
        self.record.append((i, alpha))

    def epoch(self, X: npt.NDArray[Any], y: npt.NDArray[Any], order: Any = None, weights: Any = None) -> None:
        """One visit to every row of `order`."""
        for i in range(len(X)) if order is None else order:
            weight = 1.0 if weights is None else float(weights[i])
            self.visit(int(i), np.asarray(X[i], dtype=np.float64), int(y[i]), weight)

    def tie_hurts(self, y: int, rival: int) -> bool:
        """Whether d = 0 is a mistake."""
        return self.ties == "mistake" or (y == 0 if self.classes == 2 else rival < y)

    def most_violated(self, X: npt.NDArray[Any], y: npt.NDArray[Any]) -> int:
        """The row of the smallest d, compared as float64; of several, mistakes first, then lower rows."""

        def key(i: int) -> tuple[float, bool, int]:
            d, rival = self.difference(np.asarray(X[i], dtype=np.float64), int(y[i]))
            tiny = 5e-324 * ((d > 0) - (d < 0))  # rounding must not create a tie
            return rounded(d) or tiny, d == 0 and not self.tie_hurts(int(y[i]), rival), i

        return min(range(len(X)), key=key)

    def average(self) -> tuple[Floats, Floats]:
        """The mean of the weights after each visit, and of the bias."""
        t = float(self.visits)
        if not t:
            return self.weights, self.bias
        return _mean(self.weights, self.weight_sums, t), _mean(self.bias, self.bias_sums, t)

    def predict(self, x: Floats) -> int:
        """The class of one row under the last weights."""
        if self.classes == 2:
            return int(self.score(x, 0) >= 0)
        return max(range(self.classes), key=lambda c: (self.score(x, c), -c))


def _mean(w: Floats, u: Floats, t: float) -> Floats:
    """(t·w − u)/t; on overflow, w − u/t."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = (t * w - u) / t
    return np.where(np.isfinite(mean), mean, w - u / t)


def vote(
    X: npt.NDArray[Any], y: npt.NDArray[Any], order: Any, tests: npt.NDArray[Any], twin: Twin
) -> list[int]:
    """Train `twin` over `order`; every weight vector votes as often as it survived visits."""
    votes = [[0] * twin.classes for _ in tests]

    def cast(count: int) -> None:
        for v, x in zip(votes, tests, strict=True):
            v[twin.predict(np.asarray(x, dtype=np.float64))] += count

    survived = 0
    for i in order:
        before = twin.updates
        snapshot = (twin.weights.copy(), twin.bias.copy())
        twin.visit(int(i), np.asarray(X[i], dtype=np.float64), int(y[i]))
        if twin.updates > before:
            after = (twin.weights, twin.bias)
            twin.weights, twin.bias = snapshot
            cast(survived)
            twin.weights, twin.bias = after
            survived = 0
        survived += 1
    cast(survived)
    if twin.classes == 2:  # sign of 0 is +1
        return [int(v[1] >= v[0]) for v in votes]
    return [int(np.argmax(v)) for v in votes]


@dataclass
class InPocket:
    """The pocket: weights, their run, and their weighted errors."""

    weights: Floats
    bias: Floats
    run: int
    errors: float
    looks: int = 0


def pocket(
    X: npt.NDArray[Any],
    y: npt.NDArray[Any],
    order: Any,
    twin: Twin,
    *,
    ratchet: bool = True,
    weights: Any = None,
) -> InPocket:
    """Gallant's algorithm over one sequence of visits; it ends when the pocket makes no error."""

    def errors() -> float:
        wrong = [i for i in range(len(X)) if twin.predict(np.asarray(X[i], dtype=np.float64)) != y[i]]
        return sum(1.0 if weights is None else float(weights[i]) for i in wrong)

    held = InPocket(twin.weights.copy(), twin.bias.copy(), 0, errors() if ratchet else math.inf)
    run, seen, own = 0, False, False  # `seen`: these weights were tested; `own`: and put into the pocket
    for i in order:
        before = twin.mistakes
        weight = 1.0 if weights is None else float(weights[i])
        twin.visit(int(i), np.asarray(X[i], dtype=np.float64), int(y[i]), weight)
        if twin.mistakes > before:
            run, seen, own = 0, False, False
            continue
        run += 1
        if run > held.run and not seen:
            seen, held.looks = True, held.looks + 1
            found = errors() if ratchet else math.inf
            if not ratchet or found < held.errors:
                own = True
                held = InPocket(twin.weights.copy(), twin.bias.copy(), run, found, held.looks)
        if own:
            held.run = run
        if held.errors == 0:
            break
    return held


@dataclass
class WinnowTwin:
    """Winnow's exponents: a weight is the float64 nearest to alpha**e, and 0 where `eliminated`."""

    features: int
    alpha: float = 2.0
    theta: float = 1.0
    balanced: bool = False
    eliminate: bool = False
    reach: int = 500
    promotions: int = 0
    demotions: int = 0

    def __post_init__(self) -> None:
        self.exponents = [0] * self.features
        self.eliminated = [False] * self.features

    def weight(self, j: int) -> Fraction:
        up = Fraction(math.pow(self.alpha, self.exponents[j]))
        if self.balanced:
            return up - Fraction(math.pow(self.alpha, -self.exponents[j]))
        return Fraction(0) if self.eliminated[j] else up

    def score(self, x: Floats) -> Fraction:
        parts = (self.weight(j) * Fraction(float(v)) for j, v in enumerate(x) if v)
        return sum(parts, Fraction(0)) - Fraction(self.theta)

    def visit(self, x: Floats, y: int) -> None:
        """One example, of class 0 or 1."""
        if (self.score(x) >= 0) == (y == 1):
            return
        if y == 1:
            self.promotions += 1
        else:
            self.demotions += 1
        for j, v in enumerate(x):
            if v and self.eliminate and y == 0:
                self.eliminated[j] = True
            elif v:
                step = 1 if (v > 0) == (y == 1) else -1
                self.exponents[j] = min(max(self.exponents[j] + step, -self.reach), self.reach)
