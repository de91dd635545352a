"""The vectors z behind labelled rows, against their definition."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Perceptron, theory
from novikoff.proof.problem import read_problem


def brute_force(X, y, bias, weights):
    """Every z by its definition, and its pair."""
    classes, labels = np.unique(y, return_inverse=True)
    rows = np.hstack([X, np.full((len(X), 1), bias)]) if bias else X
    if len(classes) == 2:
        return np.arange(len(X)), rows * (weights * np.where(labels == 1, 1, -1))[:, None]
    k, pairs, out = len(classes), [], []
    for i, row in enumerate(rows):
        for c in range(k):
            if c != labels[i]:
                z = np.zeros((k, rows.shape[1]))
                z[labels[i]], z[c] = weights[i] * row, -weights[i] * row
                pairs.append(i * k + c)
                out.append(z.ravel())
    return np.array(pairs), np.array(out)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 4),
    st.booleans(),
    st.sampled_from([0.0, 1.0, 2.0]),
    st.booleans(),
)
def test_products_are_those_of_the_definition(seed, n_classes, sparse, bias, weighted):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (12, 3)) * 1.0
    y = np.arange(12) % n_classes
    weights = rng.integers(1, 4, 12) * 1.0 if weighted else np.ones(12)
    problem = read_problem(
        sp.csr_array(X) if sparse else X,
        y,
        fit_intercept=bias > 0,
        intercept_scaling=bias or 1.0,
        sample_weight=weights if weighted else None,
    )
    pairs, z = brute_force(X, y, bias, weights)
    assert problem.n_pairs == len(z) and problem.dimension == z.shape[1]
    u = rng.integers(-4, 5, problem.shape) * 0.5
    scores = problem.scores(u)
    np.testing.assert_array_equal(scores.ravel()[pairs], z @ u.ravel())
    alpha = np.zeros(scores.size)
    alpha[pairs] = rng.integers(0, 3, len(pairs))
    np.testing.assert_array_equal(problem.combine(alpha.reshape(scores.shape)).ravel(), alpha[pairs] @ z)
    signed = problem.signed_rows(pairs)
    np.testing.assert_array_equal(signed.toarray() if sparse else signed, z)
    np.testing.assert_allclose(problem.radius(), np.linalg.norm(z, axis=1).max(), rtol=1e-15)
    assert problem.smallest(u).value == (z @ u.ravel()).min()
    np.testing.assert_array_equal(problem.vector(*problem.coefficients(u)), u)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0], [np.nan]], [1, 2], "NaN at row 1, column 0"),
        ([[1.0], [2.0]], [1], "one label per row"),
        ([[1.0], [2.0]], [3, 3], "two classes"),
        ([[1.0], [2.0]], [0.5, 1], "continuous"),
        ([1.0, 2.0], [0, 1], "rows and columns"),
        ([["a"], ["b"]], [0, 1], "number is expected"),
        (np.zeros((0, 2)), [], "no rows"),
    ],
)
def test_bad_input(X, y, message):
    with pytest.raises(ValueError, match=message):
        read_problem(X, y)


def test_one_class_of_plus_and_minus_one_is_understood():
    assert read_problem([[1.0]], [-1]).scores(np.array([1.0, 0.0])).tolist() == [-1.0]


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_sizes_whose_squares_no_float_holds(size):
    X, y = np.array([[1.0, 2.0], [2.0, 1.0], [0.5, 1.0]]) * size, [0, 1, 0]
    assert theory.separability(X, y).verdict == "separable"
    best = theory.max_margin(X, y, fit_intercept=False)
    assert 0 < best.lower <= best.upper
    model = Perceptron(order="cyclic").fit(X, y)
    assert model.report().bound_lower <= model.report().bound_upper
