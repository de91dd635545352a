"""A perceptron over rows in memory, with every visit and update recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff import _core
from novikoff.data.arrays import raise_problem, row_bytes, rows_of
from novikoff.parameters.common import ORDERS
from novikoff.proof.problem import Problem
from novikoff.training.examples import CALL_BYTES
from novikoff.training.plan import Plan
from novikoff.training.weights import Floats, Scorer, Settings, Weights

Counts = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

PICKS = ("worst", "first", "any")  # orders of which every visit is an update
TRACE_ORDERS = (*ORDERS, "first", "any")


@dataclass(frozen=True, eq=False)
class Visits:
    """The rows that a run visited, with all that is needed to make it again."""

    problem: Problem
    settings: Settings
    order: Counts | None  # the row of every visit; None: cyclic, row t mod n at visit t
    count: int
    in_epochs: bool  # whether every row is visited once before any is visited twice

    def rows(self) -> Counts:
        """The row of each visit."""
        return np.arange(self.count) % self.problem.n_rows if self.order is None else self.order

    def epochs(self) -> Counts:
        """The epoch of each visit, from 1: the number of copies of the rows begun.

        Where an order repeats rows, it is the most visits to any row so far.
        """
        n = self.problem.n_rows
        if self.order is None or self.in_epochs:
            return np.arange(self.count) // n + 1
        times = np.zeros(n, dtype=np.int64)
        begun = np.empty(self.count, dtype=np.int64)
        most = 0
        for t, row in enumerate(self.order.tolist()):
            times[row] += 1
            most = max(most, int(times[row]))
            begun[t] = most
        return begun

    def again(self, rows: Counts) -> Replay:
        """A new learner of the same kind that visits these rows, one by one."""
        return Replay(self.problem, self.settings, rows)


class Runner:
    """A native learner over the rows, with its updates and visits recorded."""

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self.problem, self.settings = problem, settings
        self.learner = Weights(problem.n_classes, problem.n_features, settings)
        self.native = self.learner.native
        self.native.record_updates()
        self.rows = rows_of(problem.X)
        self.converged = False
        self.in_epochs = False  # whether every row is visited once before any is visited twice
        self.visited: list[Counts] | None = []

    def go(self, order: Any, seed: int | None, max_epochs: int, max_updates: int) -> None:
        n = self.problem.n_rows
        if not isinstance(order, str):
            rows = np.asarray(order)
            if rows.ndim != 1 or rows.dtype.kind not in "iu" or ((rows < 0) | (rows >= n)).any():
                raise ValueError(f"order must hold row numbers from 0 to {n - 1}.")
            self.converged = self._epoch(np.ascontiguousarray(rows, dtype=np.int64), max_updates, first=True)
            self.converged &= len(np.unique(rows)) == n  # unvisited rows may be wrong
            return
        if order not in TRACE_ORDERS:
            raise ValueError(
                f"order={order!r} is not possible: expected {', '.join(map(repr, TRACE_ORDERS))} or an array."
            )
        if order in PICKS:
            self._picked(order, np.random.default_rng(seed), min(max_epochs * n, max_updates))
            return
        plan, self.in_epochs = Plan(order=order, rng=np.random.default_rng(seed)), True
        if order == "cyclic":
            self.visited = None
        for epoch in range(max_epochs):
            self.converged = self._epoch(plan.drawn_order(n), max_updates, first=epoch == 0)
            if self.converged or self.native.updates >= max_updates:
                break

    def _epoch(self, order: Counts | None, max_updates: int, *, first: bool) -> bool:
        """Visit all rows, or until `max_updates`; whether all were visited without an update."""
        before, begin = self.native.updates, 0
        count = self.problem.n_rows if order is None else len(order)
        per_call = max(CALL_BYTES // (row_bytes(self.problem.X) * self.problem.n_classes), 1)
        while begin < count and self.native.updates < max_updates:
            # at most as many visits as updates are left, so that the limit is never exceeded
            end = min(begin + per_call, count, begin + max_updates - self.native.updates)
            self._visit(order, begin, end, first)
            if self.visited is not None and order is not None:
                self.visited.append(order[begin:end])
            begin = end
        return begin == count and self.native.updates == before

    def _visit(self, order: Counts | None, begin: int, end: int, first: bool) -> None:
        examples = _core.Examples(self.rows, self.problem.labels, self.problem.weights, order)
        outcome = _core.epoch(self.native, examples, begin, end, first)
        raise_problem(*outcome, self.problem.X, self.native.largest_row)

    def _picked(self, order: str, rng: np.random.Generator, most: int) -> None:
        """Visit a row that needs an update, again and again, until none does or `most` visits were made."""
        p, self.visited = self.problem, []
        problem, at, _ = _core.scan(self.native, _core.Examples(self.rows, weights=p.weights), 0, p.n_rows)
        raise_problem(problem, at, p.X)
        for _ in range(most):
            row = self._pick(order, rng)
            if row is None and not self._updated_by(self._worst()):
                self.converged = True
                return
            if row is not None and not self._updated_by(row):
                raise AssertionError("a row that needs an update was visited without one")

    def _pick(self, order: str, rng: np.random.Generator) -> int | None:
        """A row that needs an update; None: the worst one, if it does."""
        if order == "worst":
            return None
        wrong = np.flatnonzero(self._wrong())
        if not len(wrong):
            return None
        return int(wrong[0] if order == "first" else rng.choice(wrong))

    def _wrong(self) -> Mask:
        """The rows on which the rule makes an update, decided exactly, except for scores near β."""
        p, settings = self.problem, self.settings
        scorer = Scorer.from_learner(self.learner)
        if settings.rule != "margin" and settings.ties == "positive":
            return np.asarray(scorer.predict(p.X) != p.labels)
        scores = scorer.scores(p.X)
        if p.is_joint:
            own = scores[np.arange(p.n_rows), p.labels].copy()
            scores[np.arange(p.n_rows), p.labels] = -np.inf
            own -= scores.max(axis=1)
        else:
            own = p.signs * scores.ravel()
        if settings.rule == "margin":
            return np.asarray(own < settings.margin * (1 - 2.0**-40))
        return np.asarray(own <= 0)

    def _worst(self) -> int:
        unweighted = _core.Examples(self.rows, self.problem.labels)
        return int(_core.smallest(self.native.view(), unweighted, 0, self.problem.n_rows, False, False)[3])

    def _updated_by(self, at: int) -> bool:
        """Visit this row; where nothing was violated, it was no visit."""
        row, before = np.array([at], dtype=np.int64), self.native.updates
        self._visit(row, 0, 1, False)
        if self.native.updates == before:
            self.native.visits -= 1
            return False
        assert self.visited is not None
        self.visited.append(row)
        return True

    def visits(self) -> Visits:
        """The visits made."""
        none = np.zeros(0, dtype=np.int64)
        order = None if self.visited is None else np.concatenate([none, *self.visited])
        return Visits(self.problem, self.settings, order, self.native.visits, self.in_epochs)


class Replay:
    """The same updates again, bit for bit, with the weights in between."""

    def __init__(self, problem: Problem, settings: Settings, rows: Counts) -> None:
        self.problem, self.count, self.at = problem, len(rows), 0
        self.learner = Weights(problem.n_classes, problem.n_features, settings)
        self.native, self.seen = self.learner.native, rows_of(problem.X)
        self.examples = _core.Examples(
            self.seen, problem.labels, problem.weights, np.ascontiguousarray(rows, dtype=np.int64)
        )

    def visit(self) -> tuple[bool, bool]:
        """Make the next visit; whether it was a mistake, and whether it made an update."""
        mistakes, updates = self.native.mistakes, self.native.updates
        outcome = _core.epoch(self.native, self.examples, self.at, self.at + 1, False)
        raise_problem(*outcome, self.problem.X, self.native.largest_row)
        self.at += 1
        return self.native.mistakes > mistakes, self.native.updates > updates

    @property
    def w(self) -> Floats:
        """A copy of the weights, in the lifted space."""
        return self.problem.vector(self.learner.coef(), self.learner.intercept()).copy()

    def look(self, row: int) -> tuple[Floats, int]:
        """The scores of a row, whose signs and order are exact, and its predicted class."""
        scorer, x = Scorer.from_learner(self.learner), self.problem.X[row : row + 1]
        return scorer.scores(x).ravel(), int(scorer.predict(x)[0])


def alpha_of(problem: Problem, rows: Counts, rivals: Any, steps: Floats) -> Floats:
    """The sum of the steps on each row; with three classes or more signed, with a column per class."""
    if not problem.is_joint:
        return np.bincount(rows, steps, problem.n_rows).astype(np.float64)
    found = np.zeros((problem.n_rows, problem.n_classes))
    np.add.at(found, (rows, problem.labels[rows]), steps)
    np.add.at(found, (rows, rivals), -steps)
    return found
