"""Kernel perceptrons with a budget: at most B supports, constant memory and time per row.

native/kernel/budget.h has the policies with the equations of their papers. All columns of scores (one for two
classes, else one per class) share the supports, and the budget limits the number of distinct supports. Below
the budget every policy makes the updates of the perceptron without one.

It predicts as `dual_model.DualModel` does, by the last scores, or by the averaged ones if no support is ever
removed (with the projectrons, or without a budget). It cannot vote: votes require everything that was ever
removed or projected.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff import _core
from novikoff.data.arrays import UnsortedIndices, in_order, is_sparse, raise_problem, rows_of
from novikoff.data.threads import results, threads
from novikoff.kernel.kernels import UNIT, Indices, Kernel, NamedKernel, Panel, PrecomputedKernel
from novikoff.outward import root_up
from novikoff.training.averaging import per_visit
from novikoff.training.weights import Floats, Ints

UNLIMITED = 2**63 - 1
CALL_SECONDS = 0.1  # approximate time of a native call, so that Ctrl-C works
PART = 256  # rows that a thread predicts at a time


class BudgetModel(ABC):
    """Abstract: coefficients of a few supports, learned row by row. `budget_model` makes one."""

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
        self.radius = 0.0  # the largest √K(x, x) of all rows given

    def _rule(self) -> _core.BudgetRule:
        """The rule of the native learners."""
        columns = 1 if self.n_classes == 2 else self.n_classes
        return _core.BudgetRule(
            self.policy, self.budget or UNLIMITED, columns, self.joint, self.tie_is_mistake
        )

    # -- learning
    def learn(self, X: Any, labels: Ints, order: Indices | None = None) -> int:
        """Visit the rows in this order; return the number of updates. All rows are checked first."""
        before = self.native.updates
        self.visit_rows(self.checked(X), labels, order)
        return self.native.updates - before

    @abstractmethod
    def checked(self, X: Any) -> Any:
        """Check the rows, and return them ready for learning."""

    @abstractmethod
    def visit_rows(self, X: Any, labels: Ints, order: Indices | None = None) -> None:
        """Learn from checked rows; `n_rows` counts them even after an interrupt."""

    @property
    def draws(self) -> bool:
        """Whether the supports to remove are drawn at random."""
        return self.policy == "random" and self.budget is not None

    def _draws(self, n: int) -> Floats | None:
        """One number in [0, 1) per visit: which support to remove, for the policy that draws it."""
        return self.rng.random(n) if self.draws else None

    def add_class(self) -> None:
        """Add a class. From two to three classes, the score s of the second becomes −s, s and 0."""
        self.native.add_class()
        self.n_classes += 1

    def turn(self) -> None:
        """Make the only class so far, learned as the first of two, the second, as if it always had been.

        If a tie is right for the second class, every score has then stayed 0, and there are no supports.
        """
        if self.tie_is_mistake:
            state = self.native.state()
            self.native.set_state(state | {name: 0.0 - state[name] for name in ("alpha", "sums")})
            return
        visits = self.native.visits
        self._clear()
        self.native.visits = visits

    @abstractmethod
    def _clear(self) -> None:
        """Forget the supports and all counts."""

    # -- contents
    @property
    @abstractmethod
    def vectors(self) -> Any:
        """The supports' rows."""

    @property
    @abstractmethod
    def support(self) -> Indices:
        """The supports' numbers, counted over all rows ever given."""

    @abstractmethod
    def put(self, vectors: Any, numbers: Indices) -> None:
        """Use these rows as the supports of the native state."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """The number of columns of the rows; 0 if they have none."""

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
    def n_updates(self) -> int:
        """The number of updates: counted per class, or once for joint classes."""
        return self.native.updates

    @property
    def n_mistakes(self) -> int:
        """Updates that were mistakes: all except the margin errors of 'projectron++'."""
        return self.native.mistakes

    @property
    def close(self) -> int:
        """Decisions too close for plain floating point."""
        return self.native.close

    @property
    def reach(self) -> float:
        """R: max √K(x, x), times √2 if an update moves two classes; rounded up."""
        if self.radius == math.inf or not (self.joint and self.n_columns > 1):
            return self.radius
        return root_up(2 * Fraction(self.radius) ** 2)

    @property
    def log2_reach(self) -> float:
        return math.log2(self.reach) if self.reach > 0 else -math.inf

    @property
    def margin_upper(self) -> float:
        """No bound: projection, shrinking and removal leave no convex combination of the y·φ(x)."""
        return math.inf

    def __getattr__(self, name: str) -> Any:
        if name in ("used", "visit", "moves"):
            raise AttributeError(
                "a model with a budget keeps no sequence of updates: it would grow without limit."
            )
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    @property
    def can_average(self) -> bool:
        return self.budget is None or self.policy.startswith("projectron")

    def coefficients(self, *, averaged: bool) -> Floats:
        """α of each support and column; the averaged ones are multiplied by the number of visits."""
        if averaged:
            self._check_average()
        return np.ascontiguousarray(self.native.coefficients(averaged).T)

    def _check_average(self) -> None:
        if not self.can_average:
            raise ValueError(
                f"there is no average with budget_policy={self.policy!r}: the supports it has removed would "
                "be needed. Predict with 'last', or learn with 'projectron'."
            )

    # -- predicting
    def scores(self, X: Any, *, averaged: bool, n_jobs: int | None = None) -> Floats:
        """(n, columns) scores by the last or the averaged coefficients; signs and winners are exact."""
        if averaged:
            self._check_average()
        scores = self._scores(X, averaged=averaged, jobs=threads(n_jobs))
        return per_visit(scores, self.n_visits if averaged and self.n_visits else 1)

    @abstractmethod
    def _scores(self, X: Any, *, averaged: bool, jobs: int) -> Floats:
        """Scores with exact signs and winners; the averaged ones are multiplied by the number of visits."""

    def winners(self, scores: Floats) -> Ints:
        """The class of each row by its scores."""
        if self.n_columns == 1:
            return (scores[:, 0] >= 0).astype(np.int32)
        return np.asarray(scores.argmax(axis=1), dtype=np.int32)

    def norm(self) -> float:
        """‖w‖ in feature space, over all columns: ‖w‖² = Σ α·s over the supports."""
        if not self.native.size:
            return 0.0
        if isinstance(self.kernel, PrecomputedKernel):
            return math.nan  # kernel values among the supports are not kept
        scores = self.scores(self.vectors, averaged=False)
        return math.sqrt(max(float(np.sum(self.coefficients(averaged=False) * scores)), 0.0))

    # -- pickling: the native state as arrays
    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k != "native"} | {"state": self.native.state()}


class _RowBudget(BudgetModel):
    """A kernel of native/kernel/gram.h; dense supports, or sparse ones whose columns may grow."""

    native: _core.RowBudget
    kernel: NamedKernel

    def __init__(self, *arguments: Any, n_features: int, sparse: bool, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.sparse = sparse
        self._make(n_features)

    def _make(self, n_features: int) -> None:
        self.native = _core.RowBudget(self._rule(), self.kernel.native(), self.sparse, n_features)

    def _clear(self) -> None:
        self._make(self.native.features)

    def checked(self, X: Any) -> Any:
        self._check_columns(X)
        if self.sparse and X.shape[1] > self.native.features:
            self.native.set_columns(X.shape[1])
        problem, row, largest = self.native.check(rows_of(X), 0, X.shape[0])
        if problem in ("negative", "out of range"):
            self.kernel.measure(X)  # raises the error
        try:
            raise_problem(problem, row, X)
        except UnsortedIndices:
            return self.checked(in_order(X))
        square = Fraction(largest) * (1 + 2 * self.kernel.value_slack(X)) if largest < math.inf else None
        self.radius = max(self.radius, math.inf if square is None else root_up(square))
        return X

    def _check_columns(self, X: Any) -> None:
        known = self.native.features
        if X.shape[1] < known or (X.shape[1] > known and not self.sparse):
            raise ValueError(f"X has {X.shape[1]} features, but the learner has seen rows of {known}.")

    def visit_rows(self, X: Any, labels: Ints, order: Indices | None = None) -> None:
        examples = _core.Examples(rows_of(X), labels, order=order)
        n = X.shape[0] if order is None else len(order)
        at, size = 0, 16
        try:
            while at < n:
                end, started = min(at + size, n), time.perf_counter()
                self.native.learn(examples, at, end, self.n_rows, self._draws(end - at))
                size = 2 * size if time.perf_counter() - started < CALL_SECONDS else max(size // 2, 1)
                at = end
        finally:  # supports learned before an interrupt have the numbers of these rows
            self.n_rows += X.shape[0]

    @property
    def n_features(self) -> int:
        return self.native.features

    @property
    def vectors(self) -> Any:
        data, indices, indptr, _ = self.native.supports()
        found = sp.csr_array((data, indices, indptr), shape=(self.native.size, self.native.features))
        return found if self.sparse else found.toarray()

    @property
    def support(self) -> Indices:
        return self.native.supports()[3]

    def put(self, vectors: Any, numbers: Indices) -> None:
        self.native.set_supports(rows_of(vectors), numbers)

    @property
    def memory(self) -> int:
        return self.native.bytes

    def _scores(self, X: Any, *, averaged: bool, jobs: int) -> Floats:
        self._check_columns(X)
        rows, n = rows_of(X), X.shape[0]
        out = np.zeros((n, self.n_columns))
        score = self.native.scores
        calls = (partial(score, rows, k, min(k + PART, n), averaged, out) for k in range(0, n, PART))
        for _ in results(calls, jobs):
            pass
        return out

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {
            "supports": self.native.supports(),
            "n_features": self.native.features,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        apart = ("state", "supports", "n_features")
        vars(self).update({k: v for k, v in state.items() if k not in apart})
        self._make(state["n_features"])
        self.native.set_state(state["state"])
        data, indices, indptr, number = state["supports"]
        self.native.set_supports(_core.Rows(data, indices, indptr, state["n_features"]), number)


class _CalledBudget(BudgetModel):
    """Kernel values come from panels, row by row: from a function, or from a precomputed matrix."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._clear()

    def _clear(self) -> None:
        self.native = _core.Budgeted(self._rule())
        self.taken: list[Any] = []  # what the kernel keeps of each support
        self.numbers: list[int] = []
        self._panel: Panel | None = None

    def checked(self, X: Any) -> Any:
        self.radius = max(self.radius, self.kernel.measure(X).radius)
        return X

    def visit_rows(self, X: Any, labels: Ints, order: Indices | None = None) -> None:
        """Kernel values are computed ahead, in ever larger blocks of rows, as long as no support changes."""
        order = np.arange(X.shape[0]) if order is None else order
        at, size = 0, 1
        try:
            while at < len(order):
                block = order[at : at + size]
                size = min(2 * size, PART)
                for row, values in zip(block.tolist(), self._values(X, block), strict=True):
                    at += 1
                    draws, label = self._draws(1), int(labels[row])
                    wrong = self.native.decide(values, label)
                    changed = wrong and self._update(X, row, label, values, draws)
                    self.native.visits += 1
                    if changed:
                        size = 1
                        break
        finally:
            self.n_rows += X.shape[0]

    def _update(self, X: Any, row: int, label: int, values: Floats, draws: Floats | None) -> bool:
        """Learn from a row with these kernel values; return whether it became a support."""
        here = np.array([row], dtype=np.int64)
        taken, own = self.kernel.take(X, here), np.empty((1, 1))
        self.kernel.panels(X)(here).values(self.kernel.rows(X), 0, 1, own, here)
        near = np.abs(values - own[0, 0]) <= 1e-9 * abs(own[0, 0])
        same = next((p for p in np.flatnonzero(near).tolist() if _equal(self.taken[p], taken)), -1)
        of_oldest = self._of_oldest(X) if self.native.needs_oldest and same < 0 else None
        draw = 0.0 if draws is None else float(draws[0])
        place = self.native.update(values, label, float(own[0, 0]), same, draw, of_oldest)
        if place >= 0:
            self._panel = None
            self.taken[place : place + 1], self.numbers[place : place + 1] = [taken], [row + self.n_rows]
        return place >= 0

    def _values(self, X: Any, rows: Indices) -> Floats:
        """The kernel values of some rows with the supports."""
        values = np.zeros((len(rows), len(self.taken)))
        if self.taken:
            self._supports().values(self.kernel.rows(X), 0, len(rows), values, rows)
        return values

    def _of_oldest(self, X: Any) -> Floats:
        place, first = self.native.oldest, np.zeros(1, dtype=np.int64)
        if isinstance(self.kernel, PrecomputedKernel):
            values = self._values(X, first + self.numbers[place])
        else:
            values = self._values(self.taken[place], first)
        return np.asarray(values[0])

    def _supports(self) -> Panel:
        if self._panel is None:
            self._panel = self.kernel.panels(self.vectors)(np.arange(len(self.taken)))
        return self._panel

    @property
    def n_features(self) -> int:
        return int(self.taken[0].shape[1]) if self.taken and self.taken[0].ndim == 2 else 0

    @property
    def vectors(self) -> Any:
        if self.taken and sp.issparse(self.taken[0]):
            return sp.vstack(self.taken, format="csr")
        if not self.taken:
            return (
                np.zeros(0, dtype=np.int64)
                if isinstance(self.kernel, PrecomputedKernel)
                else np.zeros((0, 0))
            )
        return np.concatenate(self.taken)

    @property
    def support(self) -> Indices:
        return np.array(self.numbers, dtype=np.int64)

    def put(self, vectors: Any, numbers: Indices) -> None:
        self.taken = [vectors[i : i + 1] for i in range(len(numbers))]
        self.numbers, self._panel = numbers.tolist(), None

    @property
    def memory(self) -> int:
        held = [part.data if sp.issparse(part) else part for part in self.taken]
        return self.native.bytes + 2 * sum(int(part.nbytes) for part in held) + 8 * len(self.numbers)

    def _scores(self, X: Any, *, averaged: bool, jobs: int) -> Floats:
        alpha, n = np.ascontiguousarray(self.native.coefficients(averaged)), X.shape[0]
        out = np.zeros((n, self.n_columns))
        if not self.taken:
            return out
        rows, panel = self.kernel.rows(X), self._supports()
        for begin in range(0, n, PART):
            end = min(begin + PART, n)
            values = np.empty((end - begin, len(self.taken)))
            panel.values(rows, begin, end, values)
            part, sizes = values @ alpha.T, np.abs(values) @ np.abs(alpha.T)
            for i, c in np.argwhere(np.abs(part) <= (len(self.taken) + 8) * 1.01 * UNIT * sizes).tolist():
                sign, value = _core.exact_dot(alpha[c], values[i])
                part[i, c] = value or 5e-324 * sign
            out[begin:end] = part
            if self.n_columns > 1:
                room = (len(self.taken) + 8) * 1.01 * UNIT * sizes.max(axis=1) + 1e-300
                top = part.max(axis=1)
                near = part >= (top - 2.01 * room)[:, None]
                for i in np.flatnonzero(near.sum(axis=1) > 1).tolist():
                    _settle_winner(out[begin + i], np.flatnonzero(near[i]).tolist(), alpha, values[i])
        return out

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {
            "taken": list(self.taken),
            "numbers": list(self.numbers),
            "_panel": None,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({k: v for k, v in state.items() if k != "state"})
        self.native = _core.Budgeted(self._rule())
        self.native.set_state(state["state"])


def _settle_winner(scores: Floats, among: list[int], alpha: Floats, values: Floats) -> None:
    """Make the first of the highest scores the exact one; `among` has the possible columns."""
    best, both = among[0], np.concatenate([values, values])
    for c in among[1:]:
        if _core.exact_dot(np.concatenate([alpha[c], -alpha[best]]), both)[0] > 0:
            best = c
    if scores.argmax() != best:
        scores[best] = np.nextafter(scores.max(), np.inf)


def budget_model(
    kernel: Kernel,
    n_classes: int,
    like: Any,
    *,
    sparse: bool | None = None,
    budget: int | None = None,
    policy: str = "projectron",
    joint: bool = False,
    tie_is_mistake: bool = False,
    rng: np.random.Generator | None = None,
) -> BudgetModel:
    """A learner that keeps at most `budget` supports, for rows in the storage format of `like`.

    >>> from novikoff.kernel.kernels import NamedKernel
    >>> X, labels = np.array([[0.0, 1], [1, 0], [1, 1], [0, 0]]), np.array([1, 1, 0, 0], dtype=np.int32)
    >>> learner = budget_model(NamedKernel("rbf", gamma=1.0), 2, X, budget=2)
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
    if not isinstance(kernel, NamedKernel):
        return _CalledBudget(kernel, n_classes, **options)
    if sparse is None:  # values do not depend on how supports are stored: sparse if that is faster
        sparse = is_sparse(like) and 16 * like.nnz < like.shape[0] * like.shape[1]
    return row_budget(kernel, n_classes, like.shape[1], sparse=sparse, **options)


def own_generator(rng: np.random.Generator) -> np.random.Generator:
    """A generator for the policy 'random', so that the order of rows is the same under every policy."""
    seeds = rng.bit_generator.seed_seq
    if isinstance(seeds, np.random.SeedSequence):
        return np.random.default_rng(seeds.spawn(1)[0])
    return np.random.default_rng(int(rng.integers(2**63)))  # a legacy RandomState cannot spawn


def row_budget(
    kernel: Kernel, n_classes: int, n_features: int, *, sparse: bool, **options: Any
) -> BudgetModel:
    """The same for a kernel of native/kernel/gram.h; columns may be added later if supports are sparse."""
    return _RowBudget(kernel, n_classes, n_features=n_features, sparse=sparse, **options)


def restored(
    kernel: Kernel,
    n_classes: int,
    vectors: Any,
    numbers: Indices,
    state: dict[str, Any],
    *,
    n_features: int,
    **options: Any,
) -> BudgetModel:
    """A learner restored from its supports, their numbers and the native state."""
    if isinstance(kernel, NamedKernel):
        learner = row_budget(kernel, n_classes, n_features, sparse=is_sparse(vectors), **options)
    else:
        learner = _CalledBudget(kernel, n_classes, **options)
    learner.native.set_state(state)
    learner.put(vectors, numbers)
    return learner


def _equal(a: Any, b: Any) -> bool:
    """Whether two blocks of one row are the same."""
    if sp.issparse(a):
        return bool((a != b).nnz == 0)
    return bool(np.array_equal(a, b))
