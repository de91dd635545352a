"""The formulas of the rules that keep a variance for each weight, as `reference.linear.Twin` uses them.

Each weight w_j of each class has a variance σ_j = 1/(1 + q_j). Its confidence q_j is 0 at first and grows by
g·x_j² at an update: the drop form of a diagonal covariance, in which the inverse of the matrix takes the
diagonal of g·x·xᵀ (Crammer, Dredze and Pereira 2009). With k = C·(weight of the row), d as in `Twin`, and
v = Σ σ_j·x_j² over all vectors that the update moves:

* AROW (Crammer, Kulesza and Dredze 2009, r = 1/k): where d < 1, α = (1 − d)/(v + 1/k) and g = k.
* SCW-I (Wang, Zhao and Hoi 2012): where d < φ√v, α and g = α·φ/√u as in `scw`.
  In both, w_j changes by α·y·σ_j·x_j, with σ_j from before the update.
* The second-order perceptron (Cesa-Bianchi, Conconi and Gentile 2005, a = 1/C): at a mistake. There
  w = (I + C·S)⁻¹·Σ y·x with S = Σ x·xᵀ over the mistakes, which is a times the paper's vector. Whether S
  includes the row to be predicted does not change the sign of w·x (Sherman and Morrison), so it is left out.
  With the diagonal of S, q = C·S and w_j changes by σ_j·x_j·(y − C·w_j·x_j), with σ_j from after the update.
  A row of weight c counts as c rows.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

SECOND_ORDER = ("arow", "scw", "second-order")


def variances(confidences: Floats) -> Floats:
    """σ of each weight.

    >>> variances(np.array([0.0, 1.0, 3.0])).tolist()
    [1.0, 0.5, 0.25]
    """
    return 1 / (1 + confidences)


def spread(sigma: Floats, squares: Floats) -> Fraction:
    """Σ fl(σ·square), exactly."""
    return sum((Fraction(term) for term in (sigma * squares).tolist()), Fraction(0))


def arow(loss: float, v: float, k: float) -> tuple[float, float]:
    """α and g of AROW.

    >>> arow(1.0, 3.0, 1.0)
    (0.25, 1.0)
    """
    return loss / (v + (1 / k if k else math.inf)), k


def scw(m: float, v: float, k: float, phi: float) -> tuple[float, float]:
    """α and g of SCW-I, proposition 1, for the signed score m = d.

    √u = (−αvφ + √(α²v²φ² + 4v))/2 is written without cancellation.

    >>> alpha, g = scw(0.0, 1.0, 10.0, 1.0)
    >>> alpha == math.sqrt(2.0) / 2, scw(-5.0, 1.0, 0.5, 1.0)[0]
    (True, 0.5)
    """
    if v == 0:
        return k, 0.0
    square = phi * phi
    psi, zeta = 1 + square / 2, 1 + square
    root = math.sqrt(m * m * (square * square) / 4 + v * square * zeta)
    alpha = min(k, max(0.0, (root - m * psi) / (v * zeta)))
    t = alpha * v * phi
    return alpha, alpha * phi * (math.sqrt(t * t + 4 * v) + t) / (2 * v)
