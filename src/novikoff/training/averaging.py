"""The mean of a run's weights, from the last weights and one running sum.

Let w be the weights after T visits, and u the sum of all updates, each times the number of visits before it.
Then the mean of the weights after each visit is w̄ = (T·w − u)/T.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def mean_weights(weights: Floats, sums: Floats, visits: float) -> Floats:
    """(T·w − u)/T; where T·w overflows, w − u/T, because the mean of finite weights is finite.

    >>> mean_weights(np.array([3.0, 1e308]), np.array([2.0, 1e308]), 4.0)
    array([2.5e+000, 7.5e+307])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        mean = visits * weights
        mean -= sums
        mean /= visits
        beyond = ~np.isfinite(mean)
        if beyond.any():
            largest = np.finfo(np.float64).max  # only rounding can exceed it
            mean[beyond] = np.clip(weights[beyond] - sums[beyond] / visits, -largest, largest)
    return mean


def per_visit(scores: Floats, visits: float) -> Floats:
    """(n, columns) scores divided by the visits; rounding changes no sign and no argmax.

    >>> per_visit(np.array([[-5e-324, 5e-324, 1e-323]]), 4.0)
    array([[-5.e-324,  5.e-324,  1.e-323]])
    """
    if visits == 1:
        return scores
    mean: Floats = scores / visits
    lost = (mean == 0) & (scores != 0)
    mean[lost] = np.copysign(5e-324, scores[lost])
    place = scores.argmax(axis=1)
    moved = np.flatnonzero(mean.argmax(axis=1) != place)
    mean[moved, place[moved]] = np.nextafter(mean[moved].max(axis=1, initial=-np.inf), np.inf)
    return mean
