"""The point of a polytope that is nearest to the origin: Wolfe's active-set method.

Given points z_1 … z_m as rows, find α ≥ 0, Σα = 1, such that w = Σ α z is as short as possible, which holds
if and only if w·z ≥ w·w for every point. A *corral* F is a set of affinely independent points whose nearest
point lies inside their hull; the weights of the nearest point of the plane through them solve, with any
s > 0,

    (G_FF + s·11ᵀ) β = 1,    α = β / Σβ,

where G = Z Zᵀ, even if that plane contains the origin. Each round adds the point with the smallest w·z to F;
while α would leave the simplex, it moves only to the boundary, and points whose weight became 0 leave F
(P. Wolfe, Finding the nearest point in a polytope, 1976). ‖w‖ falls in every round, so no corral repeats.

The native loops `_core.wolfe` and `_core.mdm` use only G, which is fast; `nearest` is their specification,
and continues if ‖w‖² is too small relative to ‖z‖² for the accuracy of G.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from novikoff.training.weights import Floats

ROUNDS = 1000
ZERO = 1e-28  # ‖w‖² relative to the largest ‖z‖² that is 0 up to rounding
STALE = 20  # rounds without a shorter w after which the search ends


def refined(Z: Any, F: Any, alpha: Floats, factor: Any) -> Floats:
    """Weights of the nearest point of the plane through the points F, from a guess with Σα = 1.

    A Newton step, with w·z from the points themselves: products of the Gram matrix lose digits if ‖w‖² is
    much smaller than ‖z‖².
    """
    import scipy.linalg as sl

    part = Z[F]
    p = sl.cho_solve(factor, part @ (part.T @ alpha))
    q = sl.cho_solve(factor, np.ones(len(alpha)))
    moved: Floats = alpha - p + q * (p.sum() / q.sum())
    moved /= moved.sum()
    return moved


def factored(gram: Floats, size: float, F: list[int], floor: float = 0.0) -> Floats:
    """L with LLᵀ = G_FF + size; the square of its last diagonal entry is known to be at least `floor`."""
    import scipy.linalg as sl

    last = F[-1]
    system = gram[np.ix_(F, F)] + size
    L = np.zeros_like(system)
    L[:-1, :-1] = sl.cholesky(system[:-1, :-1], lower=True)
    L[-1, :-1] = sl.solve_triangular(L[:-1, :-1], system[-1, :-1], lower=True)
    rest = max(gram[last, last] + size - float(L[-1] @ L[-1]), floor)
    if not rest > 0:
        raise np.linalg.LinAlgError("the points are affinely dependent")
    L[-1, -1] = math.sqrt(rest)
    return L


def settle(Z: Any, gram: Floats, F: list[int], alpha: Floats, floor: float = 0.0) -> list[int]:
    """Move α, in place, to the nearest point of the hull of the points F; return the remaining corral.

    α moves to the nearest point of the plane or, while that is outside the hull, to the hull's boundary.
    """
    import scipy.linalg as sl

    size, last = float(gram.diagonal().max()), F[-1]
    while True:
        factor = factored(gram, size, F, floor if F[-1] == last else 0.0), True
        beta = sl.cho_solve(factor, np.ones(len(F)))
        beta = refined(Z, F, beta / beta.sum(), factor)
        current = alpha[F]
        if (beta > 0).all():
            alpha[F] = beta
            return F
        falling = beta <= 0
        ratio = np.where(falling, current / np.where(falling, current - beta, 1.0), math.inf)
        theta = float(ratio.min())
        current = np.where(ratio <= theta, 0.0, np.maximum(current + theta * (beta - current), 0.0))
        alpha[F] = current
        F = [i for i, a in zip(F, current, strict=True) if a > 0]
        if not F:  # rounding removed the last one too
            raise np.linalg.LinAlgError("no point is left")


def nearest(Z: Any, gram: Floats, alpha: Floats, *, rounds: int = ROUNDS, tolerance: float = 1e-15) -> Floats:
    """The α of the nearest point, from an α whose support is affinely independent.

    Ends when w·z ≥ w·w − tolerance·‖w‖·max‖z‖ for all points, when w is 0 up to rounding, after `rounds`
    rounds, or when w has not become shorter for `STALE` rounds. The α of the shortest w is returned.

    >>> Z = np.array([[1.0, 2.0], [1.0, -1.0], [5.0, 0.0]])
    >>> nearest(Z, Z @ Z.T, np.array([0.0, 0.0, 1.0]))
    array([0.33333333, 0.66666667, 0.        ])
    """
    size = float(gram.diagonal().max())
    alpha = alpha.copy()
    try:
        F = settle(Z, gram, [int(i) for i in np.flatnonzero(alpha)], alpha)
    except np.linalg.LinAlgError:  # dependent after all
        F = [int(np.argmin(gram.diagonal()))]
        alpha[:] = 0.0
        alpha[F] = 1.0
    best, shortest, since = alpha, math.inf, 0
    for _ in range(rounds):
        alpha /= alpha.sum()
        w = Z.T @ alpha
        square = float(w @ w)
        since = 0 if square < shortest else since + 1
        if square < shortest:
            best, shortest = alpha.copy(), square
        g = Z @ w
        g[F] = math.inf
        j = int(np.argmin(g))
        if not g[j] < square - tolerance * math.sqrt(square * size) or square <= ZERO * size or since > STALE:
            break
        # w is orthogonal to the plane through F, which gives the distance of z from it in more digits than L.
        floor = size * (square - g[j]) ** 2 / (square * (square + size))
        try:
            F = settle(Z, gram, [*F, j], alpha, floor)
        except np.linalg.LinAlgError:
            break
    return best
