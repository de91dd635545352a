"""Whether rows can be separated at all, asked with as much effort as the caller has: counted, never timed.

`Question.ask` is for callers whose own course depends on the answer, such as training that stops when no epoch
will ever be clean. So the answer, and the steps on the way to it, are the same on every machine, for every
storage of the same rows, with any number of threads: the work is counted in multiply-adds, every float sum has a
defined order (native/proof/passes.h, native/kernel/gram.h, native/linear/margins.h), and what floats suggest is
checked exactly. Nothing of SciPy is loaded.

The cheapest proof is looked for first:

1. a row that is zero, or two rows that cancel out;
2. the point nearest to the origin of the hull of a few z, the working set (Wolfe 1976). A pass over all rows gives
   the z that lie lowest along it. When none lies below 0, it separates; when it is the origin, the z that it is
   made of cancel out, with weights that are solved for in integers. Otherwise the lowest z join the working set;
3. small problems: the simplex method in integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff import _core
from novikoff.data.arrays import is_sparse, row_bytes, rows_of
from novikoff.proof.opposites import signs_of
from novikoff.proof.problem import Pairs, Problem
from novikoff.proof.rational import Relation, alternative, for_rows, relation, to_integers
from novikoff.proof.separability import EXACT, SMALL, _Clock, _opposite_pairs, _Search, _TimeUp
from novikoff.proof.verdicts import Inseparable, Separable
from novikoff.training.examples import CALL_BYTES
from novikoff.training.weights import Floats, width

Answer = Separable | Inseparable

LEAST = 1 << 24  # multiply-adds that any question may take: some hundredths of a second
FIRST = 64  # z that a working set begins with, and takes in after a pass, at least
MOST = 128  # and at most
SPREAD = 8  # powers of two that columns may differ by before each gets one of its own: no bytes do
TOLERANCE = 1e-17  # of ‖w‖², relative to the longest z, squared: what products of the Gram matrix are good for
ORIGIN = 1e-11  # and where the z may cancel out
WIDEST = 600  # z whose cancelling is solved for
WHOLE = 200  # multiply-adds that one operation on Python's integers counts as
HOW = "nearest point of the hull"


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


@dataclass
class Question:
    """One question under way; it may be asked again, with more effort, and goes on from where it was.

    >>> from novikoff.proof.problem import read_problem
    >>> Question(read_problem([[0.0], [1.0], [3.0]], [0, 1, 1])).ask().verdict
    'separable'
    >>> xor = Question(read_problem([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])).ask()
    >>> xor.verdict, xor.rows.tolist(), xor.weights
    ('inseparable', [0, 1, 2, 3], (1, 1, 1, 1))

    Parameters
    ----------
    problem : rows with labels, checked; sample weights do not matter
    ties : ``"positive"`` or ``"mistake"``. An answer `Inseparable` with ``consistent=False`` proves that every
        weight vector makes a mistake under this rule, and so that no epoch will be clean.
    """

    problem: Problem
    ties: str = "positive"
    effort: Effort = field(default_factory=Effort)
    passes: int = 0  # over all rows
    answer: Answer | None = None
    is_over: bool = False  # nothing more will come of it, whatever the effort

    def __post_init__(self) -> None:
        self.problem = replace(self.problem, weights=None)
        self.search = _Search(self.problem, self.ties, _Clock(None), None)
        self.cancelling = _core.Cancelling(
            self.problem.n_classes, self.problem.bias > 0, self.ties == "mistake"
        )
        self.rows = rows_of(self.problem.X)
        self.looked = 0  # rows that were looked at for those that cancel out
        self.hull: Hull | None = None
        self.rest: Question | None = None  # without the rows of zeros, whose ties are no mistakes
        self.kept: Pairs = np.zeros(0, dtype=np.int64)

    @property
    def size(self) -> int:
        """Multiply-adds of an epoch: the values that are not 0, and the bias coordinate; known after `ask`."""
        values = int(self.cancelling.nonzeros) + (self.problem.n_rows if self.problem.bias else 0)
        return max(values, 1) * (self.problem.n_classes if self.problem.is_joint else 1)

    def ask(
        self,
        epochs: float = 10.0,
        *,
        start: tuple[Floats, Floats] | None = None,
        hard: Pairs | None = None,
    ) -> Answer | None:
        """Go on for as many multiply-adds as so many epochs make, and at least `LEAST`; None: still open.

        Parameters
        ----------
        epochs : the effort granted, beside what earlier calls were granted
        start : (coef, intercept) of a perceptron that was trained on these rows, to begin with
        hard : pairs that it was updated with, those most often first
        """
        if self.answer is not None or self.is_over:
            return self.answer
        try:
            with np.errstate(all="ignore"):  # floats suggest, and do not decide
                self.answer = self._cancelled()
                if self.answer is None and not self.is_over:
                    self.effort.granted += max(int(epochs * self.size), LEAST)
                    self.answer = self._asked(epochs, start, hard)
        except Spent:
            pass
        return self.answer

    # -- rows that cancel out by themselves
    def _cancelled(self) -> Inseparable | None:
        problem, n = self.problem, self.problem.n_rows
        step = max(CALL_BYTES // row_bytes(problem.X), 1)
        while self.looked < n and self.cancelling.strict[0] < 0:
            end = min(self.looked + step, n)
            before = self.looked
            self.looked = self.cancelling.look(self.rows, problem.labels, before, end)
        self.effort.granted = max(self.effort.granted, self.size)
        if not self.effort.made:
            self.effort.charge(self.size)
        found = self.cancelling.strict
        if found[0] < 0 and (problem.bias or problem.is_joint or self.cancelling.lax[0] < 0):
            return None
        return None if found[0] < 0 else self._pair_of(found)

    def _pair_of(self, rows: tuple[int, int]) -> Inseparable | None:
        """The verdict of two rows, or one of zeros, that cancel out."""
        i, j = rows
        k, problem = self.problem.n_classes, self.problem
        if i == j:
            row = i * k + (int(problem.labels[i]) == 0) if problem.is_joint else i
            return self._proved(np.array([row], dtype=np.int64), [1], "a row of zeros")
        return self._proved(_opposite_pairs(problem, i, j), [1, 1], "opposite rows")

    def _proved(self, pairs: Pairs, weights: list[int], how: str) -> Inseparable | None:
        """The verdict, when Σ weights·z = 0 in integers; whether zero errors are possible only where that is plain."""
        used = pairs[np.flatnonzero([w != 0 for w in weights])]
        if len(used) and not self.search.strict(used).any():
            self.search.consistent = True  # so that it is not asked there
            found = self.search.cancelled(pairs, weights, how)
            self.search.consistent = None
            return None if found is None else replace(found, consistent=None)
        return self.search.cancelled(pairs, weights, how)

    # -- all the rest
    def _asked(self, epochs: float, start: Any, hard: Pairs | None) -> Answer | None:
        lax = self.cancelling.lax
        if self.cancelling.zero_rows:
            return self._without_zeros(epochs, start)
        if lax[0] >= 0:  # no u separates; there may be one without errors
            found = self._pair_of((int(lax[0]), int(lax[1])))
            return None if found is None else replace(found, consistent=self._zero_errors())
        if self.hull is None:
            self.hull = Hull(self, self.search.scaled)
            answer = self.hull.begin(start, hard)
            if answer is not None:
                return answer
        answer = self.hull.run()
        if answer is None:
            answer = self._exactly()
            self.is_over = True
        return answer

    def _without_zeros(self, epochs: float, start: Any) -> Answer | None:
        """Rows of zeros are always at a tie, and here these are no mistakes: zero errors are up to the others."""
        zero = self._pair_of(self.cancelling.lax)
        if self.rest is None:
            self.kept = np.flatnonzero(signs_of(self.problem.X))
            if not len(self.kept):
                return None if zero is None else replace(zero, consistent=True)
            self.rest = Question(self.problem.some(self.kept), self.ties)
        found = self.rest.ask(epochs, start=start)
        self.is_over = self.rest.is_over
        if found is None:
            return None
        if isinstance(found, Separable):
            return None if zero is None else replace(zero, consistent=True)
        k = self.problem.n_classes if self.problem.is_joint else 1
        pairs = self.kept[found.pairs // k] * k + found.pairs % k
        return replace(found, pairs=pairs, shape=self.search.alpha_shape)

    def _zero_errors(self) -> bool | None:
        problem = self.problem
        if problem.n_pairs * problem.dimension > SMALL:
            return None
        pairs = self.search.all_pairs()
        strict = self.search.strict(pairs)
        try:
            z = self._whole(pairs)
            return not isinstance(alternative(z, strict, self._pivot(z.shape)), Relation)
        except Spent:
            return None

    def _exactly(self) -> Answer | None:
        """All of it by the simplex method in integers, where it is small enough."""
        if self.problem.n_pairs * self.problem.dimension > EXACT:
            return None
        pairs = self.search.all_pairs()
        z = self._floats(pairs)
        whole = to_integers(z)
        found = alternative(whole, tick=self._pivot(whole.shape))
        if isinstance(found, Relation):
            return self._proved(pairs[found.rows], found.weights, "exact simplex method")
        u = np.array(for_rows(found.u, z), dtype=object).reshape(-1, self.problem.width)
        answer = self.search.separated_by(*self.search.whole_coefficients(u), "exact simplex method")
        return answer if answer is None else replace(answer, upper=math.inf)

    def _pivot(self, shape: tuple[int, ...]) -> Any:
        """What is called before every pivot of a tableau for so many rows and columns."""
        n, d = shape
        return lambda: self.effort.afford(WHOLE * (d + 2) * (n + d + 2))

    def _floats(self, pairs: Pairs) -> Floats:
        z = self.problem.signed_rows(pairs)
        dense: Floats = z.toarray() if is_sparse(z) else z
        return dense

    def _whole(self, pairs: Pairs) -> Any:
        return to_integers(self._floats(pairs))

    # -- what the hull suggests
    def separated(self, coef: Floats, intercept: Floats, upper: float) -> Separable | None:
        """The verdict, when these weights for the scaled rows separate the rows as they are, exactly."""
        self.effort.charge(self.size)
        found = self.search.suggested(self.search.scaled.vector(coef, intercept), HOW)
        if found is None:
            return None
        return replace(found, upper=max(upper, found.margin))

    def cancels(self, pairs: Pairs) -> Inseparable | None:
        """The verdict, when there is one relation among these z, with weights of one sign."""
        m = len(pairs)
        if not 0 < m <= min(WIDEST, self.problem.dimension + 1):
            return None
        z = self.search.integers(pairs)
        bits = max(int(abs(value)).bit_length() for value in (z.min(initial=0), z.max(initial=1)))
        digits = m * (bits + math.log2(m + 1) / 2) / 10 + 8  # Hadamard's bound, in digits of 21 bits, twice
        self.effort.afford(m * m * (z.shape[1] + m) + 6 * digits * m * (m + WHOLE))
        weights = relation(z)
        return None if weights is None else self._proved(pairs, weights, HOW)


class Hull:
    """The nearest point w = Σ α z of the hull of a few z."""

    def __init__(self, question: Question, problem: Problem) -> None:
        self.question, self.problem, self.effort = question, problem, question.effort
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
        part = problem.X[numbers]
        if not len(self.pairs):
            self._measure(part)
        part = self._scaled(part)
        rows, m = rows_of(part), len(self.pairs)
        own = problem.labels[numbers].astype(np.int64)
        self.effort.charge((m + k) * self._stored(part))
        panel = _core.Panel("linear", 1.0, 0.0, 1, self.bias**2, rows, np.arange(k))
        self.parts.append((rows, k))
        products = np.empty((m + k, k))
        begin = 0
        for some, count in self.parts:
            panel.values(some, None, 0, count, products[begin : begin + count])
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
        part = part.astype(np.float64)
        part.data = np.ldexp(part.data, self.powers[part.indices])
        return part

    @staticmethod
    def _stored(part: Any) -> int:
        """Values that are not 0."""
        return int(np.count_nonzero(part.data if is_sparse(part) else part)) + part.shape[0]

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
            bias = np.bincount(self.own, shares, self.columns)
            if self.problem.is_joint:
                bias -= np.bincount(self.rival, shares, self.columns)
            bias *= self.bias
        return weights, bias

    def unscaled(self, weights: Floats, bias: Floats) -> tuple[Floats, Floats]:
        """The same vector for the columns as they are."""
        if self.powers is None:
            return weights, bias
        return np.ldexp(weights, self.powers[:, None]), np.ldexp(bias, self.bias_power)

    # -- passes
    def look(self, weights: Floats, bias: Floats) -> tuple[Pairs, Floats]:
        """The lowest z along w, lowest first; `bias` is u's last coordinate."""
        problem = self.problem
        self.effort.afford(self.question.size)
        self.question.passes += 1
        found = _core.Pass(weights, problem.bias * bias, problem.n_classes, self.at_once)
        step = max(CALL_BYTES // (row_bytes(problem.X) * max(problem.n_classes // 4, 1)), 1)
        for begin in range(0, problem.n_rows, step):
            found.run(self.rows, problem.labels, begin, min(begin + step, problem.n_rows))
        return found.found()

    @property
    def at_once(self) -> int:
        return int(min(max(self.problem.dimension + 1, FIRST), MOST))

    def begin(self, start: tuple[Floats, Floats] | None, hard: Pairs | None) -> Separable | None:
        """The first z: those that were hard, and the lowest along the perceptron's w, or along the mean of a few."""
        problem = self.problem
        first = np.zeros(0, dtype=np.int64) if hard is None else np.asarray(hard, dtype=np.int64)[: self.at_once]
        weights, bias = np.zeros((problem.n_features, self.columns)), np.zeros(self.columns)
        if start is not None:
            coef, intercept = np.atleast_2d(start[0]), np.atleast_1d(start[1])
            top = max(float(np.abs(coef).max(initial=0.0)), float(np.abs(intercept).max(initial=0.0)))
            if 0 < top < math.inf:
                power = -math.frexp(top)[1]
                shift = self.question.search.power
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
            every = self.question.search.all_pairs() if problem.n_pairs <= 1 << 16 else self._some()
            first = every[np.linspace(0, len(every) - 1, min(self.at_once, len(every))).astype(np.int64)]
            first = union(first, first)
        self.take(first)
        self.alpha[int(np.argmin(self.gram.diagonal()))] = 1.0
        return None

    def _some(self) -> Pairs:
        problem = self.problem
        rows = np.linspace(0, problem.n_rows - 1, self.at_once).astype(np.int64)
        if not problem.is_joint:
            return rows
        return rows * problem.n_classes + (problem.labels[rows] == 0)

    # -- the search
    def run(self) -> Answer | None:
        """Until a verdict is proved, or nothing more can be done in floats; `Spent` when effort is used up."""
        while True:
            self.improve()
            weights, bias = self.vector()
            square = self._square(weights, bias)
            weights, bias = self.unscaled(weights, bias)
            size = float(self.gram.diagonal().max())
            if not square > ORIGIN * size:
                found: Answer | None = self._cancelling()
                if found is not None:
                    return found
            lowest, values = self.look(weights, bias)
            if len(values) and values[0] > 0:
                found = self._separated(weights, bias, self._upper(square, size))
                if found is not None:
                    return found
            new = lowest[(values < square) & ~np.isin(lowest, self.pairs)]
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
        """‖w‖/Σα, rounded up: no margin of the scaled rows is above it; infinite for rows of extreme sizes."""
        if self.powers is not None or not self.problem.is_moderate:
            return math.inf
        m, total = len(self.alpha), math.fsum(self.alpha)
        slack = (m + self.problem.dimension + 16) * 2.0**-52
        return (math.sqrt(square) * (1 + slack) + slack * math.sqrt(size)) / total * (1 + 2.0**-50)

    def _separated(self, weights: Floats, bias: Floats, upper: float) -> Separable | None:
        k = self.problem.n_classes if self.problem.is_joint else 1
        coef = np.ascontiguousarray(weights.T[:k])
        return self.question.separated(coef, (self.problem.bias * bias)[:k], upper)

    def _cancelling(self) -> Inseparable | None:
        support = np.sort(self.pairs[np.flatnonzero(self.alpha)])
        key = support.tobytes()
        if key == self.tried:
            return None
        found = self.question.cancels(support)
        self.tried = key
        return found


def union(first: Pairs, second: Pairs) -> Pairs:
    """Both, without repeats, in the order they come."""
    both = np.concatenate([first, second])
    _, at = np.unique(both, return_index=True)
    result: npt.NDArray[np.int64] = both[np.sort(at)]
    return result
