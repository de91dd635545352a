"""Signs and roundings of the core against rational arithmetic."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import _core, reference

finite = st.floats(allow_nan=False, allow_infinity=False)
pairs = st.lists(st.tuples(finite, finite), max_size=12)


@given(pairs)
def test_exact_dot_is_the_rational_one(terms):
    a = np.array([p for p, _ in terms])
    b = np.array([q for _, q in terms])
    exact = reference.exact_dot(a, b)
    expected = (int(exact > 0) - int(exact < 0), reference.rounded(exact))
    assert _core.exact_dot(a, b) == expected
    assert _core.exact_dot(a, b, compensated=False) == expected


@given(st.lists(finite, min_size=1, max_size=6), st.integers(0, 2**32))
def test_perfect_cancellation_is_zero(values, seed):
    a = np.array(values + [-v for v in values])
    b = np.ones_like(a) * 3.0
    shuffle = np.random.default_rng(seed).permutation(len(a))
    for compensated in (True, False):
        assert _core.exact_dot(a[shuffle], b, compensated=compensated) == (0, 0.0)


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [
        ([5e-324], [0.5], 0.0),  # half the smallest subnormal: rounds to even
        ([5e-324, 5e-324], [0.5, 0.25], 5e-324),
        ([1e308, 1e308], [10.0, 1.0], math.inf),
        ([1e308, -1e308], [10.0, 10.0], 0.0),
        ([1e200, 1.0, -1e200], [1e200, 1.0, 1e200], 1.0),
    ],
)
def test_edges_of_the_range(a, b, value):
    for compensated in (True, False):
        assert _core.exact_dot(np.array(a), np.array(b), compensated=compensated)[1] == value


def test_many_terms_carry():
    """Deferred carries: 2**17 products that differ by 2**2000 in size and cancel but for one."""
    big, small = np.full(1 << 16, 1e300), np.full(1 << 16, -1e300)
    a = np.concatenate([big, [1e-300], small])
    assert _core.exact_dot(a, np.ones_like(a), compensated=False) == (1, 1e-300)
