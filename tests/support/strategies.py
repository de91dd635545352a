"""Data that hurts: exact zeros, cancellation, extreme exponents, subnormals, repeated rows."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

integers = st.integers(-3, 3).map(float)
decimals = st.sampled_from([0.0, 0.1, -0.1, 0.2, -0.2, 0.3, -0.3, 0.18257, -0.18257])
cancelling = st.sampled_from([0.0, 1.0, -1.0, 1e16, -1e16, 1e16 + 2, 1e-16, -1e-16, 3.0, 1 / 3])
extreme = st.sampled_from([0.0, 1e300, -1e300, 1e-300, -1e-300, 5e-324, -5e-324, 1.0, -2.5, 1e150, -1e-160])
plain = st.floats(-10, 10, allow_subnormal=True)
values = st.sampled_from([integers, decimals, cancelling, plain])

# Where something in the code changes hands or leaves the range of float64: exponents of values, and halves
# of such exponents, because values are multiplied with one another.
EDGES = (
    *(-1074, -1073, -1050, -1023, -1022, -1021),  # subnormal numbers
    *(-969, -968, -961, -960, -959, -901, -900, -899),  # of engine 1, and of its results
    *(-538, -537, -536, -512, -511, -510),  # squares are subnormal
    *(-485, -484, -481, -480, -479, -451, -450, -440),  # products are at the edges of engine 1
    *(-201, -200, -160, -100, -80, 99, 100, 101, 199, 200, 201),  # of the votes' bounds
    *(440, 499, 500, 501, 511, 512),  # products near 2^1000 and 2^1024
    *(999, 1000, 1001, 1022, 1023),
)
ULP = 2.0**-52
MANTISSAS = (1.0, 1 + ULP, 1 + 2 * ULP, 1 - ULP / 2, 1.5, 1 + 2.0**-26, 4 / 3)  # cancel but for last bits


def around(*exponents):
    """Numbers of about these sizes, which cancel but for their last bits; and 0."""
    numbers = {math.ldexp(m, e) for m in MANTISSAS for e in exponents if e < 1023 or m < 2}
    return st.sampled_from([0.0, *sorted(numbers), *sorted(-v for v in numbers)])


near_edges = st.sampled_from([around(e) for e in EDGES])  # a data set of one size
across_edges = st.sampled_from([around(e, 0) for e in EDGES])  # beside ordinary numbers
hostile = st.one_of(values, near_edges, across_edges)


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
