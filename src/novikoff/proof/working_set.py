"""Linear programs over a few of the z at a time.

The program over a set W of z, in a form with few equations:

    minimise Σ_j |s_j|  over α ≥ 0 and s,  subject to  Σ_W α·z + s = 0,  Σ_W α = 1.

Its dual is: maximise t over −1 ≤ u ≤ 1 with u·z ≥ t for the z of W. So a positive optimum gives a u that
separates W, and an optimum of 0 gives weights under which at most dimension + 1 of the z cancel out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from novikoff.data.arrays import is_sparse
from novikoff.proof.problem import Pairs, Problem
from novikoff.training.weights import Floats

Round = tuple[float, Pairs, Floats, Floats | None]  # optimum, support, its weights, u where it separates W


class WorkingSet:
    """The z in the programs; those that a solution gets wrong are added."""

    WIDEST = 2_000  # coordinates of z that a program may have
    ZERO = 1e-9  # an optimum below this counts as 0, and is then decided exactly
    FIRST = 300  # the least number of initial z

    def __init__(
        self, problem: Problem, hard: Pairs, tick: Callable[[], None], left: Callable[[], float]
    ) -> None:
        self.problem, self.tick, self.left = problem, tick, left
        self.step = max(self.FIRST, 3 * problem.dimension)
        self.pairs = np.sort(hard[: self.step])
        self.tight = self.pairs
        self.lengths = problem.lengths()

    def rounds(self) -> Iterator[Round]:
        """Solve, yield, add violated z; ends when nothing can be added or the solver fails."""
        if self.problem.dimension > self.WIDEST:
            return
        if not len(self.pairs):
            self.pairs = self.violated(np.zeros(self.problem.shape))
        while True:
            self.tick()
            solved = self.solve()
            if solved is None:
                return
            objective, alpha, u = solved
            support = np.flatnonzero(alpha > 0)
            yield objective, self.pairs[support], alpha[support], u if objective > 0 else None
            more = np.setdiff1d(self.violated(u), self.pairs)
            if not len(more):
                return
            self.pairs = np.union1d(self.pairs, more)

    def violated(self, u: Floats) -> Pairs:
        """At most `step` of the z with u·z ≤ 0, those farthest on the wrong side first."""
        scores = self.problem.scores(u)
        lengths = np.where(self.lengths > 0, self.lengths, 1.0)
        scores /= lengths[:, None] if self.problem.is_joint else lengths
        wrong = np.flatnonzero(scores <= 0)
        if len(wrong) > self.step:
            wrong = wrong[np.argpartition(scores.flat[wrong], self.step)[: self.step]]
        return wrong.astype(np.int64)

    def solve(self) -> tuple[float, Floats, Floats] | None:
        """The optimum, α and u; rows and columns are scaled first, which changes no answer."""
        import scipy.sparse as sp
        from scipy.optimize import linprog

        z = self.problem.signed_rows(self.pairs)
        sizes = abs(z).max(axis=1)
        sizes = np.asarray(sizes.toarray() if is_sparse(z) else sizes).ravel()
        sizes[sizes == 0] = 1.0
        z = sp.diags_array(1 / sizes) @ z if is_sparse(z) else z / sizes[:, None]
        columns = abs(z).max(axis=0)
        columns = np.asarray(columns.toarray() if is_sparse(z) else columns).ravel()
        used = np.flatnonzero(columns)
        m, d = len(sizes), len(used)
        body: Any = sp.csc_array(z[:, used] / columns[used]) if not is_sparse(z) else (
            sp.csc_array(z)[:, used] @ sp.diags_array(1 / columns[used])
        )  # fmt: skip
        eye = sp.eye_array(d, format="csc")
        ones = sp.csc_array(np.concatenate([np.ones(m), np.zeros(2 * d)])[None])
        matrix = sp.vstack([sp.hstack([body.T, eye, -eye]), ones], format="csc")
        costs = np.concatenate([np.zeros(m), np.ones(2 * d)])
        right = np.concatenate([np.zeros(d), [1.0]])
        options: dict[str, Any] = {
            "presolve": False,
            "primal_feasibility_tolerance": 1e-10,
            "dual_feasibility_tolerance": 1e-10,
        }
        if np.isfinite(self.left()):
            options["time_limit"] = max(self.left(), 0.01)
        result = linprog(costs, A_eq=matrix, b_eq=right, method="highs-ds", options=options)
        if result.status != 0:
            return None
        u = np.zeros(self.problem.dimension)
        u[used] = -result.eqlin.marginals[:d] / columns[used]
        slack = body @ -result.eqlin.marginals[:d] - result.fun
        self.tight = self.pairs[np.flatnonzero(slack < 1e-7)]
        return float(result.fun), result.x[:m] / sizes, u.reshape(self.problem.shape)
