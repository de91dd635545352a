"""The search for the best v in hindsight: the bound, the dual, and Newton's method; see `hindsight`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff.data.arrays import is_sparse
from novikoff.proof.geometry import by_row, length
from novikoff.proof.problem import Problem
from novikoff.training.weights import Floats

NARROW = 1500  # up to this many coordinates, the Newton equation is solved directly
HESSIAN_ROWS = 1 << 13  # rows added to its matrix at a time
UNIT = 2.0**-53

Watch = Callable[[str, float | None], None]


# ---- values ------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Value:
    """A at one v."""

    square: float
    v_norm: float
    loss: float


def radius_of(problem: Problem) -> float:
    """R, rounded up."""
    return problem.radius() * (1 + (problem.width + 8) * 2 * UNIT)


def _of(norm: str, R: float, v_norm: float, loss: float, epochs: int) -> float:
    """A from ‖v‖ and the loss over one copy of the rows."""
    a = R * v_norm
    return a + math.sqrt(epochs) * loss if norm == "l2" else (a + math.sqrt(a * a + 4 * epochs * loss)) / 2


def value_at(problem: Problem, v: Floats, norm: str, epochs: int, scores: Floats | None = None) -> Value:
    """A(v) plus an error bound: each score is off by at most (d + 8)·2⁻⁵³·R‖v‖.

    The same amount again covers the rounding of `Problem.measurable`.
    """
    R = radius_of(problem)
    v_norm = length(v) * (1 + (problem.dimension + 8) * UNIT) if np.isfinite(v).all() else math.inf
    if R and v_norm >= 2.0**512 / R:  # then A² overflows, and scores may overflow too
        return Value(math.inf, v_norm, math.inf)
    m = by_row(problem, problem.scores(v) if scores is None else scores)
    h = np.maximum(1 - m + (problem.width + 8) * 2 * UNIT * R * v_norm, 0.0)
    h[m - (problem.width + 8) * 2 * UNIT * R * v_norm > 1] = 0.0
    loss = (length(h) if norm == "l2" else float(h.sum())) * (1 + (problem.n_rows + 8) * UNIT)
    found = _of(norm, R, v_norm, loss, epochs)
    return Value(found * found * (1 + 16 * UNIT), v_norm, loss)


def _below(problem: Problem, alpha: Floats, norm: str, epochs: int) -> tuple[float, Floats]:
    """The lower bound on min A² that α ≥ 0 proves, rounded down; and α per row, scaled to be feasible."""
    R = problem.radius() * (1 - (problem.width + 8) * 2 * UNIT)
    rows = alpha.sum(axis=1) if problem.is_joint else alpha
    error = (problem.n_rows + 8) * UNIT
    if norm == "l1":
        factor = 1 / max(float(rows.max(initial=0.0)) / epochs, 1.0)
        alpha, rows = alpha * factor, rows * factor
    total = float(rows.sum()) * (1 - error)
    if total <= 0:
        return 0.0, rows
    pull = length(problem.combine(alpha)) * (1 + error) + error * radius_of(problem) * total
    if norm == "l1":
        x = min(math.sqrt(total), R * total / pull if pull else math.inf)
        return x * x * (1 - 16 * UNIT), rows
    size = length(rows) * (1 + error)
    factor = min(math.sqrt(epochs) / size, R / pull if pull else math.inf)
    return (factor * total) ** 2 * (1 - 16 * UNIT), rows * factor


@dataclass
class _Model:
    """The smoothed function at v, to second order: Φ(v + p) ≈ value + g·p + ½ p·H·p.

    H = a·(I − b·vvᵀ) + Zᵀ diag(curve) Z − c·ggᵀ with `pull` = Zᵀα and g = a·v − pull.
    """

    value: float
    alpha: Floats
    curve: Any  # one number per z
    a: float
    b: float
    c: float


@dataclass
class _Rivals:
    """The second derivative by the hinges t of a row's pairs: of a smoothed max, times one factor per row.

    The derivative β changes for the rivals that share the maximum: by (t − mean t)/μ if Σβ = 1, and by t/μ
    if Σβ < 1; a square adds ββᵀ.
    """

    beta: Floats
    inner: Floats  # factor over μ
    outer: float | None  # of ββᵀ; None: no square

    def __mul__(self, q: Floats) -> Floats:
        active = self.beta > 0
        moved = np.where(active, q, 0.0)
        full = self.beta.sum(axis=1) > 1 - 1e-9
        mean = moved.sum(axis=1) / np.maximum(active.sum(axis=1), 1)
        moved -= active * np.where(full, mean, 0.0)[:, None]
        moved *= self.inner[:, None]
        if self.outer is not None:
            moved += self.outer * self.beta * (self.beta * q).sum(axis=1)[:, None]
        return moved


def _within_simplex(t: Floats) -> Floats:
    """The nearest point of β ≥ 0, Σβ ≤ 1 to each row."""
    beta = np.maximum(t, 0.0)
    over = np.flatnonzero(beta.sum(axis=1) > 1)
    if len(over):
        high = -np.sort(-t[over], axis=1)
        ranks = np.arange(1, t.shape[1] + 1)
        levels = (np.cumsum(high, axis=1) - 1) / ranks
        last = (high > levels).sum(axis=1) - 1
        beta[over] = np.maximum(t[over] - levels[np.arange(len(over)), last][:, None], 0.0)
    return beta


class HindsightSearch:
    """Newton steps on the smoothed function, with falling widths."""

    def __init__(self, problem: Problem, norm: str, epochs: int, gap: float) -> None:
        self.problem, self.norm, self.epochs, self.gap = problem, norm, epochs, gap
        self.R = problem.radius()
        self.own = (np.arange(problem.n_rows), problem.labels) if problem.is_joint else None
        self.best_v = np.zeros(problem.dimension)
        self.best_at = value_at(problem, self.best_v.reshape(problem.shape), norm, epochs)
        shape = (problem.n_rows, problem.n_classes) if problem.is_joint else problem.n_rows
        most = np.full(shape, float(epochs))  # optimal if all rows are 0
        if self.own is not None:
            most[self.own] = 0.0
        self.dual, self.alpha = _below(problem, most, norm, epochs)
        self.iterations = 0

    @property
    def done(self) -> bool:
        return self.best_at.square - self.dual <= self.gap * self.best_at.square

    def run(self, most: int, watch: Watch | None) -> None:
        if not self.R:
            return  # v has no effect
        p = self.problem
        v, m = self.best_v, self._scores(self.best_v)
        for width in (0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4, 1e-5):
            for _ in range(30):
                if self.done or self.iterations >= most:
                    return
                self.iterations += 1
                reach = math.sqrt(self.best_at.square)  # the best A so far: the scale of the smoothing
                model = self._model(v, m, width, reach)
                self._lower(model)
                g = model.a * v - p.combine(model.alpha).ravel()
                step = self._newton(v, g, model)
                dm = self._scores(step, zero_own=True)
                t = self._line(v, m, step, dm, width, reach, model.value, float(g @ step))
                v, m = v + t * step, m + t * dm
                self._upper(v, m)
                if watch is not None:
                    watch(f"between {self.dual:.6g} and {self.best_at.square:.6g}", None)
                if (
                    -float(g @ step) <= 1e-3 * self.gap * reach * (1 if self.norm == "l2" else reach)
                    or t == 0
                ):
                    break

    def _scores(self, v: Floats, *, zero_own: bool = False) -> Floats:
        scores = self.problem.scores(v.reshape(self.problem.shape))
        if zero_own and self.own is not None:
            scores[self.own] = 0.0
        return scores

    def _upper(self, v: Floats, m: Floats) -> None:
        at = value_at(self.problem, v, self.norm, self.epochs, m)
        if at.square < self.best_at.square:
            # again from v itself: scores that were updated step by step have drifted
            at = value_at(self.problem, v.reshape(self.problem.shape), self.norm, self.epochs)
            if at.square < self.best_at.square:
                self.best_at, self.best_v = at, v

    def _lower(self, model: _Model) -> None:
        value, alpha = _below(self.problem, model.alpha, self.norm, self.epochs)
        if value > self.dual:
            self.dual, self.alpha = value, alpha

    # -- the smoothed function
    def _soft(self, m: Floats, width: float) -> tuple[Floats, Any]:
        """Each row's smoothed hinge, and its derivative β by the hinges of its pairs.

        It is max over β ≥ 0, Σβ ≤ 1 of β·t − (μ/2)·‖β‖², which is within μ/2 of max(0, max t). With two
        classes the squared hinge is smooth already.
        """
        t = 1 - m
        if not self.problem.is_joint:
            beta = (t > 0) * 1.0 if self.norm == "l2" else np.clip(t / width, 0.0, 1.0)
            return beta * t - (0.0 if self.norm == "l2" else width / 2 * beta**2), beta
        t[self.own] = -1e9 * (1 + float(np.abs(t[np.isfinite(t)]).max()))  # never the largest
        beta = _within_simplex(t / width)
        return (beta * t).sum(axis=1) - width / 2 * (beta**2).sum(axis=1), beta

    def _value(self, v: Floats, m: Floats, width: float, reach: float) -> float:
        slack = width * reach / 4
        pull = self.R * math.sqrt(float(v @ v) + (slack / self.R) ** 2)
        h = self._soft(m, width)[0]
        if self.norm == "l2":
            return pull + math.sqrt(self.epochs * float(h @ h) + slack**2)
        return reach * pull + self.epochs * float(h.sum())

    def _model(self, v: Floats, m: Floats, width: float, reach: float) -> _Model:
        slack, e = width * reach / 4, self.epochs
        size = math.sqrt(float(v @ v) + (slack / self.R) ** 2)
        a, b = self.R / size, 1 / size**2
        h, beta = self._soft(m, width)
        each = np.ones_like(h) if self.norm == "l1" else h / math.sqrt(e * float(h @ h) + slack**2)
        loss = 0.0 if self.norm == "l1" else math.sqrt(e * float(h @ h) + slack**2)
        value = reach * self.R * size + e * float(h.sum()) if self.norm == "l1" else self.R * size + loss
        a, c = (reach * a, 0.0) if self.norm == "l1" else (a, 1 / loss)
        if self.problem.is_joint:
            inner = e * each / width
            outer = None if self.norm == "l1" else e / loss
            return _Model(value, e * each[:, None] * beta, _Rivals(beta, inner, outer), a, b, c)
        curve = (beta > 0) * (e / loss) if self.norm == "l2" else ((beta > 0) & (beta < 1)) * (e / width)
        return _Model(value, e * each * beta, curve, a, b, c)

    def _line(
        self,
        v: Floats,
        m: Floats,
        step: Floats,
        dm: Floats,
        width: float,
        reach: float,
        value: float,
        slope: float,
    ) -> float:
        """The largest of 1, ½, ¼ … that lowers the function enough."""
        t = 1.0
        while t > 1e-10:
            if self._value(v + t * step, m + t * dm, width, reach) <= value + 0.1 * t * slope:
                return t
            t /= 2
        return 0.0

    # -- the Newton equation
    def _newton(self, v: Floats, g: Floats, model: _Model) -> Floats:
        pull = model.a * v - g
        if self.problem.dimension <= NARROW and not self.problem.is_joint:
            H = self._squares(model.curve)
            H -= model.c * np.outer(pull, pull) + model.a * model.b * np.outer(v, v)
            np.einsum("ii->i", H)[:] += model.a
            return _descent(H, g)
        return self._conjugate(v, g, pull, model)

    def _squares(self, curve: Floats) -> Floats:
        """Zᵀ diag(curve) Z."""
        p, d = self.problem, self.problem.n_features
        factors = np.sqrt(curve if p.weights is None else curve * p.weights**2)
        few = np.flatnonzero(factors)
        X = p.X
        if len(few) < p.n_rows // 2:
            X, factors = X[few], factors[few]
        H = np.zeros((p.width, p.width))
        for begin in range(0, X.shape[0], HESSIAN_ROWS):
            part = slice(begin, begin + HESSIAN_ROWS)
            if is_sparse(X):
                S = X[part].multiply(factors[part, None]).tocsr()
                H[:d, :d] += (S.T @ S).toarray()
            else:
                S = X[part] * factors[part, None]
                H[:d, :d] += S.T @ S
            if p.bias:
                H[d, :d] += p.bias * (factors[part] @ S)
        if p.bias:
            H[:d, d] = H[d, :d]
            H[d, d] = p.bias**2 * float(factors @ factors)
        return H

    def _conjugate(self, v: Floats, g: Floats, pull: Floats, model: _Model) -> Floats:
        """An approximate step by conjugate gradients, accurate enough to descend."""

        def times(q: Floats) -> Floats:
            out = model.a * (q - model.b * v * float(v @ q)) - model.c * pull * float(pull @ q)
            product = self.problem.combine(model.curve * self._scores(q, zero_own=True))  # or `_Rivals`
            return out + product.ravel()

        step, r = np.zeros_like(g), -g
        q, rr = r.copy(), float(r @ r)
        enough = min(0.1, math.sqrt(length(g) / max(self.R, 1e-300))) ** 2 * rr
        for _ in range(100):
            Hq = times(q)
            curvature = float(q @ Hq)
            if curvature <= 0:
                return step if step.any() else -g / model.a
            step += rr / curvature * q
            r -= rr / curvature * Hq
            last, rr = rr, float(r @ r)
            if rr <= enough:
                break
            q = r + rr / last * q
        return step


def _descent(H: Floats, g: Floats) -> Floats:
    """−H⁻¹g for a positive definite H; if rounding has made it indefinite, its diagonal is raised."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    scale = 1 / np.sqrt(np.maximum(np.diagonal(H), 1e-300))
    unit = H * scale[:, None] * scale
    for lift in (1e-14, 1e-11, 1e-8, 1e-4, 1.0):
        try:
            factor = cho_factor(unit + lift * np.eye(len(g)), overwrite_a=True, check_finite=False)
        except LinAlgError:
            continue
        step: Floats = -scale * cho_solve(factor, scale * g)
        if float(step @ g) < 0:
            return step
    return -g * scale**2
