"""Signs and roundings of the core against rational arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from novikoff import Perceptron, _core
from novikoff.reference import linear as reference
from novikoff.training.weights import Scorer
from support.strategies import EDGES, ULP, around

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


# ---- at the edges ------------------------------------------------------------------------------------
def as_rational(terms):
    a, b = (np.array([t[k] for t in terms], dtype=float) for k in (0, 1))
    exact = reference.exact_dot(a, b)
    return a, b, (int(exact > 0) - int(exact < 0), reference.rounded(exact))


@st.composite
def sums_at_edges(draw):
    """Products of one size, which cancel but for their last bits, with at most one of another size."""
    first = draw(st.sampled_from(EDGES))
    second = draw(st.sampled_from([0, first, *(e - first for e in (-1074, -1022, -969, -968, -960, -900))]))
    assume(-1074 <= second <= 1023)
    sizes = st.tuples(around(first), around(second))
    terms = draw(st.lists(sizes, min_size=1, max_size=8))
    if draw(st.booleans()):
        terms.append(draw(st.tuples(around(draw(st.sampled_from(EDGES))), around(0))))
    return terms


@given(sums_at_edges())
def test_sums_at_every_threshold_are_the_rational_ones(terms):
    a, b, expected = as_rational(terms)
    for compensated in (True, False):
        assert _core.exact_dot(a, b, compensated=compensated) == expected


@pytest.mark.parametrize("exponent", range(-545, -470))
def test_a_radius_that_underflows_is_no_tie(exponent):
    """(1 + e)² − (1 + 2e) = e², far below both: at 2⁻⁴⁸⁰ the bound on the error is 0, and the sum is not."""
    t = math.ldexp(1.0, exponent)
    terms = [(t * (1 + ULP), t * (1 + ULP)), (t, -t * (1 + 2 * ULP))]
    a, b, expected = as_rational(terms)
    assert expected[0] == 1
    assert _core.exact_dot(a, b) == expected
    assert _core.exact_dot(-a, b) == (-1, -expected[1])


def test_a_tiny_score_is_a_mistake():
    t, e = 2.0**-480, 2.0**-52
    X, y = t * np.array([[1 + e, -(1 + 2 * e)], [1 + e, 1.0]]), np.array([0, 1])
    model = Perceptron(fit_intercept=False, order="cyclic", max_epochs=1).fit(X, y)
    twin = reference.Twin(2, 2, bias_square=0.0)
    twin.epoch(X, y)
    assert (model.n_mistakes_, model.n_updates_) == (twin.mistakes, twin.updates) == (2, 2)
    np.testing.assert_array_equal(model.coef_, twin.weights)


# ---- given weights -----------------------------------------------------------------------------------
def winner(W, b, x):
    """The class of one row, in rational numbers."""
    scores = [reference.exact_dot(w, x) + Fraction(float(v)) for w, v in zip(W, b, strict=True)]
    if len(scores) == 1:
        return int(scores[0] >= 0)
    return max(range(len(scores)), key=lambda c: (scores[c], -c))


def assert_exact(W, b, X):
    scorer = Scorer.from_weights(W, b)
    expected = [winner(W, b, x) for x in X]
    for layout in (X, sp.csr_array(X)):
        assert scorer.predict(layout).tolist() == expected
        scores = scorer.scores(layout)
        found = (scores >= 0).astype(int) if len(W) == 1 else scores.argmax(axis=1)
        assert found.tolist() == expected


def test_scores_beyond_every_double_keep_their_order():
    """Both are rounded to infinity; the larger one must still be the only largest."""
    W = np.zeros((4, 3))
    W[1, 0], W[3, 0] = 5e300, np.nextafter(5e300, np.inf)
    assert_exact(W, np.zeros(4), np.array([[6e29, 0.0, 0.0], [-6e29, 0.0, 0.0]]))


def test_an_intercept_is_rounded_too():
    S = 2.0**30
    x = np.full((1, 3), 1 / S)
    tiny = [[2.0**-53, 1.5 * 2.0**-107, 1.5 * 2.0**-107], [2.0**-53, 1.25 * 2.0**-106, 0.0], [0.0, 0.0, 0.0]]
    W, b = S * np.array(tiny), np.array([1.0, 1.0, 0.0])
    assert winner(W, b, x[0]) == 0
    assert_exact(W, b, x)


@pytest.mark.parametrize("n_classes", [1, 3, 5])
@given(data=st.data())
def test_given_weights_predict_as_rational_numbers_do(n_classes, data):
    """Tiny rows beside a large intercept, and all other sizes: averaged, assigned and loaded weights."""
    d = data.draw(st.integers(1, 4))

    def matrix(rows, columns, kind):
        lists = st.lists(st.lists(kind, min_size=columns, max_size=columns), min_size=rows, max_size=rows)
        return np.array(data.draw(lists)).reshape(rows, columns)

    of_x, of_w = data.draw(st.sampled_from(EDGES)), data.draw(st.sampled_from(EDGES))
    of_b = data.draw(st.sampled_from([0, of_x + of_w, of_x + of_w + 52, of_x + of_w + 53, of_x + of_w + 54]))
    assume(-1074 <= of_b <= 1023)
    W, X = matrix(n_classes, d, around(of_w)), matrix(3, d, around(of_x))
    assert_exact(W, matrix(1, n_classes, around(of_b))[0], X)
