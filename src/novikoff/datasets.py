"""Datasets that show the theorems at work, each with its known properties.

Most functions return a `Dataset`: rows, labels −1 and +1 and, if known, a unit vector u that separates them,
its margin and R, all without a bias. `random_state` is a seed or a NumPy Generator. Only NumPy is needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Signs = npt.NDArray[np.int64]


class Dataset(NamedTuple):
    """Rows, labels and their known properties; None if unknown."""

    X: Floats
    y: Signs
    u: Floats | None = None  # of norm 1, y·(u·x) > 0 for every row
    margin: float | None = None  # the smallest y·(u·x), or the largest margin of any u: see each function
    radius: float | None = None  # R, the largest ‖x‖


def _generator(random_state: Any) -> np.random.Generator:
    return np.random.default_rng(random_state)


def _need(fine: bool, what: str) -> None:
    if not fine:
        raise ValueError(what)


def _unit(rng: np.random.Generator, d: int) -> Floats:
    u = rng.standard_normal(d)
    return u / np.linalg.norm(u)


def _radius(X: Floats) -> float:
    return float(np.linalg.norm(X, axis=1).max(initial=0.0))


# ---- small and exact ---------------------------------------------------------------------------------
def six_points() -> Dataset:
    """The six points of the lecture notes: R² = 5, γ = 1.

    >>> six_points().X[0], six_points().radius ** 2
    (array([-1.,  2.]), 5.000000000000001)
    """
    X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], dtype=np.float64)
    return Dataset(X, np.array([-1, 1, 1, -1, -1, 1]), np.array([1.0, 0.0]), 1.0, math.sqrt(5))


def xor() -> Dataset:
    """Four points that no line separates, with or without a bias.

    >>> xor().y.tolist()
    [-1, 1, 1, -1]
    """
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.float64)
    return Dataset(X, np.array([-1, 1, 1, -1]), radius=math.sqrt(2))


def needs_bias() -> Dataset:
    """Points on one ray, + beyond 2 and − before it: separable only with a bias.

    Without one, x and 2x must have the same sign.

    >>> needs_bias().X.ravel().tolist()
    [1.0, 3.0, 1.5, 2.5]
    """
    return Dataset(np.array([[1.0], [3.0], [1.5], [2.5]]), np.array([-1, 1, -1, 1]), radius=3.0)


def adversarial(n: int) -> Dataset:
    """A sequence on which the perceptron makes (R/γ)² = n mistakes, in this order and without a bias.

    The rows are e₁, …, e_n labelled −, each a mistake because sign(0) = +1, and then −e₁ labelled +. R = 1,
    and u = −(1, …, 1)/√n has the largest margin, γ = 1/√n.

    >>> adversarial(4).margin
    0.5
    """
    _need(n >= 1, f"n={n} is not possible: expected at least one coordinate.")
    X: Floats = np.concatenate([np.eye(n, dtype=np.float64), -np.eye(1, n, dtype=np.float64)])
    return Dataset(X, np.array([-1] * n + [1]), np.full(n, -1 / math.sqrt(n)), 1 / math.sqrt(n), 1.0)


def normalizing_loses() -> Dataset:
    """Four points on which the perceptron makes 10 mistakes and the normalized rule 69.

    They are visited cyclically without a bias, with ties as mistakes. The normalized rule never has the
    larger bound, but it may make more mistakes.

    >>> normalizing_loses().radius
    5.0
    """
    X = np.array([[-2, 3], [3, -4], [3, 1], [-3, 3]], dtype=np.float64)
    return Dataset(X, np.array([1, -1, 1, -1]), radius=5.0)


# ---- linear targets ----------------------------------------------------------------------------------
def majority(n_rows: int, n: int, r: int, random_state: Any = None) -> Dataset:
    """Rows of n random signs, labelled by the majority of the first r of them, r odd.

    u is 1/√r on the relevant signs. Its margin is at least 1/√r and R = √n, so the perceptron makes at most
    n·r mistakes.

    >>> X, y, u, margin, radius = majority(100, 9, 3, random_state=0)
    >>> bool(np.all(y == np.sign(X[:, :3].sum(axis=1)))), radius, round(margin * math.sqrt(3), 12)
    (True, 3.0, 1.0)
    """
    _need(r % 2 == 1 and 1 <= r <= n, f"r={r} is not possible: expected an odd number from 1 to n={n}.")
    X: Floats = 2.0 * _generator(random_state).integers(0, 2, (n_rows, n)).astype(np.float64) - 1
    y = np.sign(X[:, :r].sum(axis=1)).astype(np.int64)
    u = np.where(np.arange(n) < r, 1 / math.sqrt(r), 0.0)
    return Dataset(X, y, u, 1 / math.sqrt(r), math.sqrt(n))


def disjunction(n_rows: int, n: int, r: int, random_state: Any = None, share: float | None = None) -> Dataset:
    """Rows of n features 0 or 1, labelled + if at least one of the first r is 1.

    Each feature is 1 with probability `share`; by default each label is + with probability ½. A bias is
    needed, so there is no u.

    >>> X, y, *_ = disjunction(200, 50, 3, random_state=0)
    >>> bool(np.all((y > 0) == X[:, :3].any(axis=1)))
    True
    """
    _need(1 <= r <= n, f"r={r} is not possible: expected a number from 1 to n={n}.")
    share = 1 - 0.5 ** (1 / r) if share is None else share
    _need(0 < share < 1, f"share={share} is not possible: expected a number between 0 and 1.")
    X = (_generator(random_state).random((n_rows, n)) < share).astype(np.float64)
    return Dataset(X, np.where(X[:, :r].any(axis=1), 1, -1), radius=_radius(X))


def separable(n_rows: int, d: int, margin: float, radius: float = 1.0, random_state: Any = None) -> Dataset:
    """Rows whose largest margin and R are the given numbers, up to rounding.

    Two signed rows y·x, at random positions, are margin·u ± v with v ⊥ u and have norm `radius`: half their
    sum is margin·u, so no vector has a larger margin than u. The others are drawn from the ball of that
    radius, outside the strip |u·x| < margin. If d = 1, the two are margin·u and radius·u.

    >>> X, y, u, margin, radius = separable(1000, 5, margin=0.1, random_state=0)
    >>> round(float(np.min(y * (X @ u))), 12), round(float(np.linalg.norm(X, axis=1).max()), 12)
    (0.1, 1.0)
    """
    _need(n_rows >= 2 and d >= 1, "expected at least two rows and one feature.")
    _need(0 < margin <= radius, f"margin={margin} is not possible: expected a number in (0, {radius}].")
    rng = _generator(random_state)
    u = _unit(rng, d)
    y = 2 * rng.integers(0, 2, n_rows) - 1
    # Along u: about as far from the strip as points of a ball in d dimensions. Across u: anywhere inside.
    along = margin + (radius - margin) * np.minimum(np.abs(rng.standard_normal(n_rows)) / math.sqrt(d), 1.0)
    across = rng.standard_normal((n_rows, d))
    across -= (across @ u)[:, None] * u
    lengths = np.linalg.norm(across, axis=1)
    across /= np.where(lengths > 0, lengths, 1.0)[:, None]
    room = np.sqrt(np.maximum(radius**2 - along**2, 0.0)) * rng.random(n_rows) ** (1 / max(d - 1, 1))
    two = rng.permutation(n_rows)[:2]
    if d > 1:
        along[two] = margin
        across[two[1]] = -across[two[0]]
        room[two] = math.sqrt(max(radius**2 - margin**2, 0.0))
    else:
        across[:] = 0.0
        along[two] = margin, radius
    X = y[:, None] * (along[:, None] * u + room[:, None] * across)
    return Dataset(X, y, u, float(margin), float(radius))


def stream(
    d: int, margin: float, block: int = 1000, random_state: Any = None
) -> Iterator[tuple[Floats, Signs]]:
    """An endless stream of blocks of rows of norm 1, which a fixed u separates with at least this margin.

    >>> blocks = stream(3, 0.2, block=4, random_state=0)
    >>> X, y = next(blocks)
    >>> X.shape, np.linalg.norm(X, axis=1).round(12).tolist()
    ((4, 3), [1.0, 1.0, 1.0, 1.0])
    """
    _need(0 < margin < 1 and d >= 2, "expected a margin between 0 and 1, and at least two features.")
    rng = _generator(random_state)
    u = _unit(rng, d)
    while True:
        y = 2 * rng.integers(0, 2, block) - 1
        along = rng.uniform(margin, 1.0, block)
        across = rng.standard_normal((block, d))
        across -= (across @ u)[:, None] * u
        across *= (np.sqrt(1 - along**2) / np.linalg.norm(across, axis=1))[:, None]
        yield y[:, None] * (along[:, None] * u + across), y


def independent(n: int, d: int, labels: Sequence[int] | None = None, random_state: Any = None) -> Dataset:
    """n ≤ d linearly independent rows of Gaussian numbers, with arbitrary labels.

    With the Gram matrix G, the vector u ∝ Σ (G⁻¹y)_i x_i gives every row the same margin 1/√(yᵀG⁻¹y), which
    is `margin`. It is the largest margin if all y∘G⁻¹y ≥ 0, because then u lies in the cone of the y·x;
    otherwise a larger one exists.

    >>> X, y, u, margin, radius = independent(3, 8, random_state=0)
    >>> np.allclose(y * (X @ u), margin)
    True
    """
    _need(1 <= n <= d, f"n={n} is not possible: expected a number from 1 to d={d}.")
    rng = _generator(random_state)
    X = rng.standard_normal((n, d))
    y = 2 * rng.integers(0, 2, n) - 1 if labels is None else np.asarray(labels, dtype=np.int64)
    _need(y.shape == (n,) and bool(np.all(np.abs(y) == 1)), "expected n labels, each −1 or +1.")
    solved = np.linalg.solve(X @ X.T, y.astype(np.float64))
    margin = 1 / math.sqrt(float(y @ solved))
    return Dataset(X, y, X.T @ solved * margin, margin, _radius(X))


def norm_mixture(
    n_rows: int, d: int, margin: float = 0.1, ratio: float = 100.0, random_state: Any = None
) -> Dataset:
    """Half the rows have norm 1 and half have norm `ratio`: data on which the normalized rule wins.

    u has at least the given margin on the normalized rows; the returned `margin` is the one on the rows.
    Across u the signed large rows lie on one side and the signed small ones on the other, so it takes many
    mistakes on small rows to undo one on a large row. The large rows determine R and the small ones γ, so
    (R/γ)² is up to ratio² times the bound 1/γₙ² of the normalized rule.

    >>> X, y, u, margin, radius = norm_mixture(100, 4, random_state=0)
    >>> radius, bool(np.all(y * (X @ u) >= 0.0999999))
    (100.0, True)
    """
    _need(ratio >= 1, f"ratio={ratio} is not possible: expected a number ≥ 1.")
    rng = _generator(random_state)
    X, y, u, _, _ = separable(n_rows, d, margin, 1.0, rng)
    assert u is not None
    z = y[:, None] * X / np.linalg.norm(X, axis=1)[:, None]  # this makes no margin smaller
    along, side = (z @ u)[:, None] * u, _unit(rng, d)
    across = z - along
    sign = np.where(across @ side >= 0, 1.0, -1.0)
    sign[::2] *= -1
    X = y[:, None] * (along + sign[:, None] * across)
    X[1::2] *= ratio
    return Dataset(X, y, u, float(np.min(y * (X @ u))), float(ratio))


# ---- distributions -----------------------------------------------------------------------------------
class Gaussians(NamedTuple):
    """Rows of two Gaussians, and the threshold with the least risk."""

    X: Floats
    y: Signs
    coef: Floats  # predict + when coef·x + intercept ≥ 0
    intercept: float
    risk: float  # of that threshold: no rule has less
    means: Floats  # one row for − and one for +
    covariance: Floats  # the same for both


def gaussians(
    n_rows: int, d: int, distance: float = 2.0, correlation: float = 0.5, random_state: Any = None
) -> Gaussians:
    """Two equally likely Gaussians with the same covariance Σ: a linear threshold is optimal.

    Σ has 1 on its diagonal and `correlation` elsewhere; `distance` is the Mahalanobis distance Δ of the means
    μ₊ and μ₋, Δ² = (μ₊ − μ₋)ᵀΣ⁻¹(μ₊ − μ₋). The optimal rule is the sign of (μ₊ − μ₋)ᵀΣ⁻¹(x − (μ₊ + μ₋)/2),
    and its risk is Φ(−Δ/2).

    >>> gaussians(10, 2, distance=2.0, random_state=0).risk.__round__(6)
    0.158655
    """
    _need(distance > 0 and 0 <= correlation < 1, "expected distance > 0 and 0 ≤ correlation < 1.")
    rng = _generator(random_state)
    covariance = np.full((d, d), correlation) + (1 - correlation) * np.eye(d)
    root = np.linalg.cholesky(covariance)
    apart = root @ _unit(rng, d) * distance
    centre = rng.standard_normal(d)
    y = 2 * rng.integers(0, 2, n_rows) - 1
    X = centre + y[:, None] * apart / 2 + rng.standard_normal((n_rows, d)) @ root.T
    coef: Floats = np.linalg.solve(covariance, apart).astype(np.float64)
    risk = 0.5 * math.erfc(distance / 2 / math.sqrt(2))
    means = np.array([centre - apart / 2, centre + apart / 2])
    return Gaussians(X, y, coef, -float(coef @ centre), risk, means, covariance)


class Minimax(NamedTuple):
    """The distribution behind the minimax lower bound: point i has a probability and a label."""

    points: Floats  # orthonormal
    probabilities: Floats
    labels: Signs


def minimax(n: int, d: int, random_state: Any = None) -> Minimax:
    """m = min(n, d) orthonormal points: the first is labelled +, the others −1 or +1 by fair coins.

    Points 2, …, m have probability 1/n each, and the first has the rest. A sample of n examples misses a
    given rare point with probability (1 − 1/n)ⁿ, and any rule is then wrong on it with probability ½: the
    expected risk of any rule is at least (m − 1)/(2n)·(1 − 1/n)ⁿ.

    >>> minimax(4, 3, random_state=0).probabilities
    array([0.5 , 0.25, 0.25])
    """
    _need(n >= 1 and d >= 1, "expected n ≥ 1 examples in d ≥ 1 dimensions.")
    m = min(n, d)
    labels = 2 * _generator(random_state).integers(0, 2, m) - 1
    labels[0] = 1
    return Minimax(np.eye(m, d), np.array([1 - (m - 1) / n, *[1 / n] * (m - 1)]), labels)
