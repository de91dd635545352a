"""The point of a polytope that is nearest to the origin: Wolfe's active-set method.

Given points z_1 … z_m as rows, find α ≥ 0, Σα = 1, such that w = Σ α z is as short as can be. It is so if
and only if w·z ≥ w·w for every point. A *corral* F is a set of affinely independent points whose nearest
point lies inside their hull; the weights of the nearest point of the plane through them solve, with any
s > 0,

    (G_FF + s·11ᵀ) β = 1,    α = β / Σβ,

where G = Z Zᵀ, also where that plane goes through the origin. Each round takes the point with the smallest
w·z into F; while α would leave the simplex, it goes as far as it can and points whose weight became 0 leave F
(P. Wolfe, Finding the nearest point in a polytope, 1976). ‖w‖ falls in every round, so no corral comes twice.

The native loops `_core.wolfe` and `_core.mdm` work on G alone, which is fast; `nearest` is what they are held
against, and what goes on where ‖w‖² is too small beside ‖z‖² for the digits of G.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl

from novikoff.model import Floats

DEPENDENT = 1e-13  # relative: what is left of a point, squared, beside the plane through the others
ROUNDS = 1000


def refined(Z: Any, F: Any, alpha: Floats, factor: Any) -> Floats:
    """Weights of the nearest point of the plane through the points F, from a guess with Σα = 1.

    Newton's step for it, with w·z from the points themselves: products of the Gram matrix lose the digits in
    which ‖w‖² is smaller than ‖z‖².
    """
    part = Z[F]
    p = sl.cho_solve(factor, part @ (part.T @ alpha))
    q = sl.cho_solve(factor, np.ones(len(alpha)))
    moved: Floats = alpha - p + q * (p.sum() / q.sum())
    moved /= moved.sum()
    return moved


def nearest(Z: Any, gram: Floats, alpha: Floats, *, rounds: int = ROUNDS, tolerance: float = 1e-15) -> Floats:
    """The α of the nearest point, from an α whose support is affinely independent; spec of the native loop.

    Ends when w·z ≥ w·w − tolerance·‖w‖·max‖z‖ for all points, or after so many rounds.

    >>> Z = np.array([[1.0, 2.0], [1.0, -1.0], [5.0, 0.0]])
    >>> nearest(Z, Z @ Z.T, np.array([0.0, 0.0, 1.0]))
    array([0.33333333, 0.66666667, 0.        ])
    """
    size = float(gram.diagonal().max())
    alpha = alpha.copy()
    F = [int(i) for i in np.flatnonzero(alpha)]
    barred: set[int] = set()  # points that cannot be told from the plane through F
    for _ in range(rounds):
        w = Z.T @ alpha
        g = Z @ w
        square = float(w @ w)
        for j in np.argsort(g, kind="stable"):
            if int(j) not in barred and int(j) not in F:
                break
        else:
            break
        if g[j] >= square - tolerance * np.sqrt(square * size):
            break
        before = square
        F.append(int(j))
        while True:
            system = gram[np.ix_(F, F)] + size
            try:
                factor = sl.cho_factor(system, lower=True)
            except sl.LinAlgError:
                F.pop()
                barred.add(int(j))
                break
            if factor[0][-1, -1] ** 2 <= DEPENDENT * size and F[-1] == j:
                F.pop()
                barred.add(int(j))
                break
            beta = sl.cho_solve(factor, np.ones(len(F)))
            beta = refined(Z, F, beta / beta.sum(), factor)
            current = alpha[F]
            if (beta > 0).all():
                alpha[F] = beta
                break
            falling = beta <= 0
            ratio = current[falling] / (current[falling] - beta[falling])
            theta = float(ratio.min())
            current = current + theta * (beta - current)
            gone = falling & (current <= 0)
            gone[np.flatnonzero(falling)[ratio == theta]] = True
            alpha[F] = np.where(gone, 0.0, current)
            F = [i for i, out in zip(F, gone, strict=True) if not out]
            if not F or (len(F) == 1 and not alpha[F[0]] > 0):
                break
        alpha /= alpha.sum()
        w = Z.T @ alpha
        if not float(w @ w) < before and int(j) in F:
            break  # rounding: no round may lengthen w
    return alpha
