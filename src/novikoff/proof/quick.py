"""Whether rows can be separated at all, asked with as much effort as the caller has: counted, never timed.

`Question.ask` is for callers whose own course depends on the answer, such as training that stops when no
epoch will ever be clean. So the answer, and the steps on the way to it, are the same on every machine, for
every storage of the same rows, with any number of threads: the work is counted in multiply-adds, every
float sum has a defined order (native/proof/passes.h, native/kernel/gram.h, native/linear/margins.h), and
what floats suggest is checked exactly. Nothing of SciPy is loaded.

The cheapest proof is looked for first:

1. a row that is zero, or two rows that cancel out;
2. the point nearest to the origin of the hull of a few z, the working set (Wolfe 1976). A pass over all
   rows gives the z that lie lowest along it. When none lies below 0, it separates; when it is the origin,
   the z that it is made of cancel out, with weights that are solved for in integers. Otherwise the lowest z
   join the working set;
3. three classes or more: the two that are told apart least, on their own;
4. small problems: the simplex method in integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from novikoff import _core
from novikoff.data.arrays import is_sparse, row_bytes, rows_of
from novikoff.data.mapped import picked
from novikoff.data.sources.block import Csr
from novikoff.proof.clock import Clock
from novikoff.proof.hull import Effort, Hull, Spent
from novikoff.proof.opposites import nonzero_rows
from novikoff.proof.problem import Pairs, Problem
from novikoff.proof.rational import Relation, alternative, for_rows, relation, to_integers
from novikoff.proof.search import EXACT, SMALL, SeparabilitySearch, opposite_pairs
from novikoff.proof.verdicts import Inseparable, Separable
from novikoff.training.examples import CALL_BYTES
from novikoff.training.weights import Floats

Answer = Separable | Inseparable

LEAST = 1 << 24  # multiply-adds that any question may take: some hundredths of a second
LONG = 1 << 27  # and that the simplex method may take for a small problem, whose integers may be long
WIDEST = 600  # z whose cancelling is solved for
WHOLE = 200  # multiply-adds that one operation on Python's integers counts as, while they are short
HOW = "nearest point of the hull"


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
    ties : ``"positive"`` or ``"mistake"``. An answer `Inseparable` with ``consistent=False`` proves that
        every weight vector makes a mistake under this rule, and so that no epoch will be clean.
    """

    problem: Problem
    ties: str = "positive"
    effort: Effort = field(default_factory=Effort)
    answer: Answer | None = None
    is_over: bool = False  # nothing more will come of it, whatever the effort

    def __post_init__(self) -> None:
        X = self.problem.X
        if is_sparse(X):  # as its arrays, without SciPy's methods
            X = Csr(X.data, X.indices, X.indptr, X.shape, getattr(X, "is_sorted", True))
        self.problem = replace(self.problem, X=X, weights=None)
        self.search = SeparabilitySearch(self.problem, self.ties, Clock(None), None)
        self.cancelling = _core.Cancelling(
            self.problem.n_classes, self.problem.bias > 0, self.ties == "mistake"
        )
        self.rows = rows_of(self.problem.X)
        self.looked = 0  # rows that were looked at for those that cancel out
        self.hull: Hull | None = None
        self.rest: Question | None = None  # without the rows of zeros, whose ties are no mistakes
        self.two: dict[tuple[int, int], Question] = {}  # of two classes on their own
        self.kept: Pairs = np.zeros(0, dtype=np.int64)

    @property
    def size(self) -> int:
        """Multiply-adds of an epoch: the values that are not 0, with the bias; known after `ask`."""
        values = int(self.cancelling.nonzeros) + (self.problem.n_rows if self.problem.bias else 0)
        return max(values, 1) * (self.problem.n_classes if self.problem.is_joint else 1)

    @property
    def passes(self) -> int:
        """Over all rows, by the search."""
        return self.hull.passes if self.hull is not None else 0

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
        start : (coef, intercept) of a perceptron that was trained on these rows, to begin with; later calls
            begin with what was found before
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
        return self._proved(opposite_pairs(problem, i, j), [1, 1], "opposite rows")

    def _proved(self, pairs: Pairs, weights: list[int], how: str) -> Inseparable | None:
        """The verdict, when Σ weights·z = 0 in integers; `consistent` is None where it is not plain."""
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
            self.hull = Hull(self, self.search.scaled, self.search.power)
        if not len(self.hull.pairs):
            answer: Answer | None = self.hull.begin(start, hard)
            if answer is not None:
                return answer
        try:
            answer = self.hull.run()
            if answer is None:
                answer = self._exactly()
                self.is_over = True
        except Spent:
            answer = self._two_classes(epochs)
            if answer is None:
                raise
        return answer

    def _two_classes(self, epochs: float) -> Inseparable | None:
        """The two classes that are told apart least, on their own: where they cannot be, nor can all."""
        if not self.problem.is_joint or self.hull is None:
            return None
        k, problem = self.problem.n_classes, self.problem
        mass = np.zeros((k, k))
        np.add.at(mass, (self.hull.own, self.hull.rival), self.hull.alpha)
        mass = np.triu(mass + mass.T)
        for pair, done in self.two.items():
            mass[pair] *= done.answer is None and not done.is_over
        a, b = divmod(int(mass.argmax()), k)
        if not mass[a, b] > 0:
            return None
        rows = np.flatnonzero((problem.labels == a) | (problem.labels == b))
        if (a, b) not in self.two:
            labels = (problem.labels[rows] == b).astype(np.int32)
            part = Problem(picked(problem.X, rows), labels, problem.classes[[a, b]], problem.bias, None)
            self.two[a, b] = Question(part, "mistake")
        question = self.two[a, b]
        before = question.effort.made
        found = question.ask(epochs)
        self.effort.charge(question.effort.made - before)
        if not isinstance(found, Inseparable):
            return None
        own = rows[found.pairs]
        pairs = own * k + np.where(problem.labels[own] == a, b, a)
        return self._proved(pairs, list(found.weights), f"two classes: {found.how}")

    def _without_zeros(self, epochs: float, start: Any) -> Answer | None:
        """The verdict where ties of rows of zeros are no mistakes: zero errors are up to the others."""
        zero = self._pair_of(self.cancelling.lax)
        if self.rest is None:
            self.kept = nonzero_rows(self.problem.X)
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
            z = to_integers(problem.dense_rows(pairs))
            return not isinstance(alternative(z, strict, afford=self._pivot(z)), Relation)
        except Spent:
            return None

    def _exactly(self) -> Answer | None:
        """All of it by the simplex method in integers, where it is small enough."""
        if self.problem.n_pairs * self.problem.dimension > EXACT:
            return None
        if self.problem.n_pairs * self.problem.dimension <= SMALL:
            self.effort.granted = max(self.effort.granted, self.effort.made + LONG)
        pairs = self.search.all_pairs()
        z = self.problem.dense_rows(pairs)
        whole = to_integers(z)
        found = alternative(whole, afford=self._pivot(whole))
        if isinstance(found, Relation):
            return self._proved(pairs[found.rows], found.weights, "exact simplex method")
        u = np.array(for_rows(found.u, z), dtype=object).reshape(-1, self.problem.width)
        answer = self.search.separated_by(*self.search.whole_coefficients(u), "exact simplex method")
        return answer if answer is None else replace(answer, upper=math.inf)

    def _pivot(self, rows: Any) -> Callable[[int], None]:
        """What is called before every pivot of a tableau for these rows, with the bits of its denominator."""
        (n, d), own = rows.shape, bits_of(rows)

        def afford(bits: int) -> None:
            self.effort.afford(_whole(own + bits) * (d + 2) * (n + d + 2))

        return afford

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
        bits = bits_of(z)
        digits = m * (2 * bits + m.bit_length()) // 20 + 8  # Hadamard's bound, in digits of 21 bits, twice
        self.effort.afford(m * m * (z.shape[1] + m) + 6 * digits * m * (m + WHOLE))
        weights = relation(z)
        return None if weights is None else self._proved(pairs, weights, HOW)


def bits_of(rows: Any) -> int:
    """The bits of the longest of some integers."""
    return max(int(abs(value)).bit_length() for value in (rows.min(initial=0), rows.max(initial=1)))


def _whole(bits: int) -> int:
    """Multiply-adds that an operation on integers of so many bits counts as: a product and a quotient."""
    return WHOLE + 2 * (bits // 30) ** 2
