"""Data that hurts: exact zeros, cancellation, extreme exponents, subnormals, repeated rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

integers = st.integers(-3, 3).map(float)
decimals = st.sampled_from([0.0, 0.1, -0.1, 0.2, -0.2, 0.3, -0.3, 0.18257, -0.18257])
cancelling = st.sampled_from([0.0, 1.0, -1.0, 1e16, -1e16, 1e16 + 2, 1e-16, -1e-16, 3.0, 1 / 3])
extreme = st.sampled_from([0.0, 1e300, -1e300, 1e-300, -1e-300, 5e-324, -5e-324, 1.0, -2.5, 1e150, -1e-160])
plain = st.floats(-10, 10, allow_subnormal=True)
values = st.sampled_from([integers, decimals, cancelling, plain])


@st.composite
def datasets(draw, n_classes=2, kinds=values, max_rows=10, max_features=6):
    """(X, labels) with every class present when there is room."""
    kind = draw(kinds)
    n, d = draw(st.integers(n_classes, max_rows)), draw(st.integers(1, max_features))
    X = np.array(draw(st.lists(st.lists(kind, min_size=d, max_size=d), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n)), dtype=np.int32)
    y[:n_classes] = np.arange(n_classes)
    return X.reshape(n, d), y


def sparse(rng, n, d, density):
    """Rows of a CSR array with about that part of their values stored, uniform in [0, 1)."""
    return sp.csr_array(np.where(rng.random((n, d)) < density, rng.random((n, d)), 0.0))


def separable(rng, n=200, d=5, margin=0.05):
    """(X, y, u): rows that the unit vector u separates with that margin."""
    u = rng.standard_normal(d)
    u /= np.linalg.norm(u)
    X = rng.standard_normal((n, d))
    X = X[np.abs(X @ u) > margin]
    return X, np.where(X @ u > 0, 1, -1), u
