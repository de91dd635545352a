"""Kernel perceptrons with a budget: at most B supports, constant memory and time for every row.

native/budget.h has the policies with their papers' equations. All columns of scores (one for two classes, else one
a class) share the supports, and the budget counts distinct supports in all. Below the budget every policy makes the
updates of the perceptron without one.

A learner answers as `dualmodel.DualModel` does: the last scores; the averaged ones where no support is ever removed,
which is so for the projectrons and without a budget; but no votes, since old hypotheses need removed supports.
"""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff import _core
from novikoff.arrays import in_order, is_sparse, rows_of
from novikoff.kernels import FunctionKernel, Kernel, NamedKernel, PrecomputedKernel, Rows, in_parallel
from novikoff.model import Floats, Ints, UnsortedIndices, raise_problem, threads
from novikoff.training import Plan, Record, Run, record_line

UNLIMITED = 2**63 - 1
CALL_SECONDS = 0.2  # about what a native call takes, so that Ctrl-C is heard
PART = 256  # rows that a thread predicts at a time


class BudgetLearner(ABC):
    """Abstract: coefficients of a few supports, learned row by row. `budget_learner` makes one."""

    native: _core.Budgeted
    kernel: Kernel

    def __init__(
        self,
        kernel: Kernel,
        n_classes: int,
        *,
        budget: int | None,
        policy: str,
        joint: bool,
        tie_is_mistake: bool,
        rng: np.random.Generator,
    ) -> None:
        self.kernel, self.n_classes, self.budget, self.policy = kernel, n_classes, budget, policy
        self.joint, self.tie_is_mistake, self.rng = joint, tie_is_mistake, rng
        self.n_rows = 0  # given so far

    def _policy(self) -> tuple[str, int, int, bool, bool]:
        """What the native learners begin with."""
        columns = 1 if self.n_classes == 2 else self.n_classes
        return self.policy, self.budget or UNLIMITED, columns, self.joint, self.tie_is_mistake

    # -- learning
    def learn(self, X: Any, labels: Ints, order: Rows | None = None) -> int:
        """Visit the rows, in this order; the number of updates. Everything is checked before the first visit."""
        return self.visit(self.checked(X), labels, order)

    @abstractmethod
    def checked(self, X: Any) -> Any:
        """The rows, found fit for learning."""

    def visit(self, X: Any, labels: Ints, order: Rows | None = None) -> int:
        """`learn` for rows that have been checked."""
        before = self.native.updates
        self._visit(X, labels, order)
        self.n_rows += X.shape[0]
        return self.native.updates - before

    @abstractmethod
    def _visit(self, X: Any, labels: Ints, order: Rows | None) -> None:
        """Visit rows; `n_rows` were given before."""

    def _draws(self, n: int) -> Floats | None:
        """One number in [0, 1) a visit: which support goes, for the policy that asks for it."""
        return self.rng.random(n) if self.policy == "random" and self.budget is not None else None

    def add_class(self) -> None:
        """One more class. From two to three, the score s of the second becomes −s, s and 0."""
        self.native.add_class()
        self.n_classes += 1

    # -- what it holds
    @property
    @abstractmethod
    def vectors(self) -> Any:
        """The supports' rows."""

    @property
    @abstractmethod
    def support(self) -> Rows:
        """The supports' numbers, counted over all rows ever given."""

    @property
    @abstractmethod
    def memory(self) -> int:
        """Bytes that the supports and coefficients take."""

    @property
    def n_columns(self) -> int:
        return self.native.columns

    @property
    def n_visits(self) -> int:
        return self.native.visits

    @property
    def can_average(self) -> bool:
        return self.budget is None or self.policy.startswith("projectron")

    def coefficients(self, *, averaged: bool) -> Floats:
        """α of each support and column; `averaged`: times the number of visits."""
        if averaged:
            self._check_average()
        return np.ascontiguousarray(self.native.coefficients(averaged).T)

    def _check_average(self) -> None:
        if not self.can_average:
            raise ValueError(
                f"there is no average with budget_policy={self.policy!r}: the supports it has removed would be "
                "needed. Predict with 'last', or learn with 'projectron'."
            )

    # -- predicting
    def scores(self, X: Any, *, averaged: bool, n_jobs: int | None = None) -> Floats:
        """(n, columns) scores by the last or the averaged coefficients; signs are exact."""
        if averaged:
            self._check_average()
        scores = self._scores(X, averaged=averaged, jobs=threads(n_jobs))
        return scores / self.n_visits if averaged and self.n_visits else scores

    @abstractmethod
    def _scores(self, X: Any, *, averaged: bool, jobs: int) -> Floats:
        """Scores; the averaged ones times the number of visits."""

    def votes(self, X: Any, n_jobs: int | None = None) -> Floats:
        """What stands in for votes: the averaged scores, or the last ones where there is no average."""
        return self.scores(X, averaged=self.can_average, n_jobs=n_jobs)

    def winners(self, scores: Floats) -> Ints:
        """The class of each row by its scores."""
        if self.n_columns == 1:
            return (scores[:, 0] >= 0).astype(np.int32)
        return np.asarray(scores.argmax(axis=1), dtype=np.int32)

    def norm(self) -> float:
        """‖w‖ in feature space, over all columns: ‖w‖² = Σ α·s over the supports."""
        if not self.native.size:
            return 0.0
        scores = self._support_scores()
        return float(np.sqrt(max(np.sum(self.coefficients(averaged=False) * scores), 0.0)))

    def _support_scores(self) -> Floats:
        return self.scores(self.vectors, averaged=False)

    # -- pickling: the native state as arrays
    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k != "native"} | {"state": self.native.state()}


class _RowLearner(BudgetLearner):
    """One of the kernels that native/gram.h knows; dense supports, or sparse ones whose columns may grow."""

    native: _core.RowBudget
    kernel: NamedKernel

    def __init__(self, *arguments: Any, n_features: int, sparse: bool, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.sparse = sparse
        self._make(n_features)

    def _make(self, n_features: int) -> None:
        k = self.kernel
        self.native = _core.RowBudget(
            *self._policy(), k.name, k.gamma, k.coef0, k.degree, k.offset, self.sparse, n_features
        )

    def checked(self, X: Any) -> Any:
        self._check_columns(X)
        if self.sparse and X.shape[1] > self.native.features:
            self.native.set_columns(X.shape[1])
        problem, row = self.native.check(rows_of(X), 0, X.shape[0])
        if problem == "negative":
            raise ValueError(f"kernel='chi2' is for numbers ≥ 0, but row {row} of X has a negative one.")
        if problem == "overflow":
            raise OverflowError(
                f"the kernel value of row {row} with itself exceeds the range of a float: scale X down, or choose "
                "a smaller gamma or degree."
            )
        try:
            raise_problem(problem, row, X)
        except UnsortedIndices:
            return self.checked(in_order(X))
        return X

    def _check_columns(self, X: Any) -> None:
        known = self.native.features
        if X.shape[1] < known or (X.shape[1] > known and not self.sparse):
            raise ValueError(f"X has {X.shape[1]} features, but the learner has seen rows of {known}.")

    def _visit(self, X: Any, labels: Ints, order: Rows | None) -> None:
        rows, n = rows_of(X), X.shape[0] if order is None else len(order)
        at, size = 0, 16
        while at < n:
            end, started = min(at + size, n), time.perf_counter()
            self.native.learn(rows, labels, order, at, end, self.n_rows, self._draws(end - at))
            size = 2 * size if time.perf_counter() - started < CALL_SECONDS else max(size // 2, 1)
            at = end

    @property
    def vectors(self) -> Any:
        data, indices, indptr, _ = self.native.supports()
        found = sp.csr_array((data, indices, indptr), shape=(self.native.size, self.native.features))
        return found if self.sparse else found.toarray()

    @property
    def support(self) -> Rows:
        return self.native.supports()[3]

    @property
    def memory(self) -> int:
        return self.native.bytes

    def _scores(self, X: Any, *, averaged: bool, jobs: int) -> Floats:
        self._check_columns(X)
        rows, n = rows_of(X), X.shape[0]
        out = np.zeros((n, self.n_columns))

        def add(begin: int) -> None:
            self.native.scores(rows, begin, min(begin + PART, n), averaged, out)

        in_parallel(add, range(0, n, PART), jobs)
        return out

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {
            "supports": self.native.supports(),
            "n_features": self.native.features,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        data, indices, indptr, number = state.pop("supports")
        native, features = state.pop("state"), state.pop("n_features")
        vars(self).update(state)
        self._make(features)
        self.native.set_state(native)
        self.native.set_supports(_core.Rows(data, indices, indptr, features), number)


class _CalledLearner(BudgetLearner):
    """Kernel values come from Python: a function, or a matrix that holds them."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.native = _core.Budgeted(*self._policy())
        self.rows: list[Any] = []  # of the supports, one each; none for a matrix of values
        self.numbers: list[int] = []
        self._stacked: Any = None

    def checked(self, X: Any) -> Any:
        return X

    def _visit(self, X: Any, labels: Ints, order: Rows | None) -> None:
        for row in range(X.shape[0]) if order is None else order.tolist():
            self._visit_row(X, row, int(labels[row]))

    def _visit_row(self, X: Any, row: int, label: int) -> None:
        values = self._values(X, row)
        draws = self._draws(1)
        if self.native.decide(values, label):
            own = self._own(X, row)
            same = self._same(X, row, values, own)
            of_oldest = None
            if self.native.needs_oldest and same < 0:
                of_oldest = self._of_oldest(X, self.native.oldest)
            draw = 0.0 if draws is None else float(draws[0])
            place = self.native.update(values, label, own, same, draw, of_oldest)
            if place >= 0:
                self._put(X, row, place)
        self.native.visits += 1

    def _put(self, X: Any, row: int, place: int) -> None:
        self._stacked = None
        if place == len(self.numbers):
            self.numbers.append(-1)
            self.rows.append(None)
        self.numbers[place] = row + self.n_rows
        if isinstance(self.kernel, FunctionKernel):
            self.rows[place] = X[row : row + 1].copy()

    def _values(self, X: Any, row: int) -> Floats:
        if not self.numbers:
            return np.zeros(0)
        if isinstance(self.kernel, FunctionKernel):
            return np.ascontiguousarray(self.kernel(X[row : row + 1], self.vectors)[0])
        return np.ascontiguousarray(X[row, self.numbers] + self.kernel.offset, dtype=np.float64)

    def _own(self, X: Any, row: int) -> float:
        if isinstance(self.kernel, FunctionKernel):
            own = float(self.kernel(X[row : row + 1], X[row : row + 1])[0, 0])
        else:
            own = float(X[row, row]) + self.kernel.offset
        if own < 0:
            raise ValueError(
                f"the kernel value of row {row} with itself is {own}: it must not be negative, since it is ‖φ(x)‖²."
            )
        return own

    def _same(self, X: Any, row: int, values: Floats, own: float) -> int:
        """The place of a support that equals the row, -1 for none."""
        if not isinstance(self.kernel, FunctionKernel):
            return self.numbers.index(row) if row in self.numbers else -1
        for place in np.flatnonzero(np.abs(values - own) <= 1e-9 * abs(own)).tolist():
            if _equal(self.rows[place], X[row : row + 1]):
                return int(place)
        return -1

    def _of_oldest(self, X: Any, place: int) -> Floats:
        if isinstance(self.kernel, FunctionKernel):
            return np.ascontiguousarray(self.kernel(self.rows[place], self.vectors)[0])
        return np.ascontiguousarray(X[self.numbers[place], self.numbers] + self.kernel.offset, np.float64)

    @property
    def vectors(self) -> Any:
        if not isinstance(self.kernel, FunctionKernel):
            raise AttributeError("a matrix of kernel values has no rows to be supports: see the supports' numbers.")
        if self._stacked is None:
            sparse = bool(self.rows) and is_sparse(self.rows[0])
            self._stacked = sp.vstack(self.rows, format="csr") if sparse else np.concatenate(self.rows)
        return self._stacked

    @property
    def support(self) -> Rows:
        return np.array(self.numbers, dtype=np.int64)

    @property
    def memory(self) -> int:
        held = [r.data if is_sparse(r) else r for r in self.rows if r is not None]
        return self.native.bytes + 2 * sum(int(r.nbytes) for r in held) + 8 * len(self.numbers)

    def _scores(self, X: Any, *, averaged: bool, jobs: int) -> Floats:
        alpha, n = self.native.coefficients(averaged).T, X.shape[0]
        if not self.numbers:
            return np.zeros((n, self.n_columns))
        parts = []
        for begin in range(0, n, PART):
            part = X[begin : begin + PART]
            if isinstance(self.kernel, FunctionKernel):
                values = self.kernel(part, self.vectors)
            else:
                values = part[:, self.numbers] + self.kernel.offset
            parts.append(values @ alpha)
        return np.concatenate(parts)

    def _support_scores(self) -> Floats:
        if isinstance(self.kernel, FunctionKernel):
            return super()._support_scores()
        return np.zeros((len(self.numbers), self.n_columns))  # their rows of values are not kept

    def __setstate__(self, state: dict[str, Any]) -> None:
        native = state.pop("state")
        vars(self).update(state)
        self.native = _core.Budgeted(*self._policy())
        self.native.set_state(native)


def budget_learner(
    kernel: Kernel,
    n_classes: int,
    like: Any,
    *,
    budget: int | None = None,
    policy: str = "projectron",
    joint: bool = False,
    tie_is_mistake: bool = False,
    rng: np.random.Generator | None = None,
) -> BudgetLearner:
    """A learner that keeps at most `budget` supports, for rows stored as those of `like`.

    >>> from novikoff.kernels import NamedKernel
    >>> X, labels = np.array([[0.0, 1], [1, 0], [1, 1], [0, 0]]), np.array([1, 1, 0, 0], dtype=np.int32)
    >>> learner = budget_learner(NamedKernel("rbf", gamma=1.0), 2, X, budget=2)
    >>> learner.learn(X, labels), learner.support.tolist()
    (1, [2])
    """
    options: dict[str, Any] = {
        "budget": budget,
        "policy": policy,
        "joint": joint,
        "tie_is_mistake": tie_is_mistake,
        "rng": np.random.default_rng() if rng is None else rng,
    }
    if isinstance(kernel, FunctionKernel | PrecomputedKernel):
        return _CalledLearner(kernel, n_classes, **options)
    # values do not depend on how supports are kept: sparse where that is faster
    sparse = is_sparse(like) and 16 * like.nnz < like.shape[0] * like.shape[1]
    return row_learner(kernel, n_classes, like.shape[1], sparse=sparse, **options)


def row_learner(
    kernel: Kernel, n_classes: int, n_features: int, *, sparse: bool, **options: Any
) -> BudgetLearner:
    """The same for a kernel of native/gram.h; columns may be added later where supports are sparse."""
    return _RowLearner(kernel, n_classes, n_features=n_features, sparse=sparse, **options)


def fit(learner: BudgetLearner, X: Any, labels: Ints, plan: Plan) -> Run:
    """Learn from all rows until an epoch passes without an update, or the plan ends it."""
    if plan.order == "worst":
        raise ValueError("order='worst' is not possible with a budget: rows are met one by one.")
    run, n, native = Run(n_rows=len(labels)), len(labels), learner.native
    try:
        for epoch in range(plan.max_epochs):
            started, before = time.perf_counter(), (native.mistakes, native.updates)
            learner.n_rows = 0  # the same rows again
            run.converged = learner.learn(X, labels, plan.rng.permutation(n) if plan.order == "shuffle" else None) == 0
            record: Record = {"epoch": epoch + 1, "mistakes": native.mistakes - before[0]}
            record |= {"updates": native.updates - before[1], "norm": learner.norm()}
            record["seconds"] = time.perf_counter() - started
            run.history.append(record)
            if plan.verbose:
                print(record_line(record), file=sys.stderr)
            if run.converged or (plan.callback is not None and plan.callback(record) is True):
                break
        _judge(learner, X, labels, run, plan.n_jobs)
    except KeyboardInterrupt:
        run.interrupted = True
    return run


def _judge(learner: BudgetLearner, X: Any, labels: Ints, run: Run, n_jobs: int | None) -> None:
    """Is every row strictly on its own side? The signs of scores are exact."""
    scores = learner.scores(X, averaged=False, n_jobs=n_jobs)
    if learner.n_columns == 1:
        margins = np.where(labels == 1, scores[:, 0], -scores[:, 0])
    elif learner.joint:
        own = np.arange(len(labels)), labels
        rivals = scores.copy()
        rivals[own] = -np.inf
        margins = scores[own] - rivals.max(axis=1)
    else:
        signed = -scores
        signed[np.arange(len(labels)), labels] *= -1
        margins = signed.min(axis=1)
    separated = bool((margins > 0).all()) and not learner.joint  # differences of scores are rounded
    run.verdict = "separated" if separated else "undecided"
    run.consistent = True if run.converged or separated else None
    run.training_errors = int((learner.winners(scores) != labels).sum())


def _equal(a: Any, b: Any) -> bool:
    """Whether two blocks of one row are the same."""
    if is_sparse(a):
        return bool((a != b).nnz == 0)
    return bool(np.array_equal(a, b))
