"""Freund and Schapire's theorem in its own terms, against their proof, step by step."""

import json
import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Perceptron
from novikoff.theory import bounds, deviations
from support.lecture import SIX, SIX_Y
from support.marks import may_not_separate
from support.strategies import datasets, integers

pytestmark = may_not_separate


@given(datasets(2, st.just(integers)), st.data(), st.floats(0.125, 4.0), st.booleans())
def test_every_step_of_the_proof(data, drawn, gamma, bias):
    """d ≥ 0, the lifted rows have margin γ/Z under a unit vector, and one pass over both is the same."""
    X, y = data
    width = X.shape[1] + bias
    u = np.array(
        drawn.draw(st.lists(st.integers(-3, 3), min_size=width, max_size=width).filter(any)), dtype=float
    )
    found = deviations(X, y, u, gamma, fit_intercept=bias)
    own = np.hstack([X, np.ones((len(X), 1))]) if bias else X
    signs = np.where(np.unique(y, return_inverse=True)[1] == 1, 1, -1)
    d = np.maximum(gamma - signs * (own @ u) / np.linalg.norm(u), 0)
    R, D = np.linalg.norm(own, axis=1).max(), np.linalg.norm(d)
    np.testing.assert_allclose(found.d, d, atol=1e-12)
    assert found.bound >= ((R + D) / gamma) ** 2 * (1 - 1e-13)
    assert found.bound == pytest.approx(((R + D) / gamma) ** 2, rel=1e-6)
    lifted, v, margin = found.lifted()
    assert np.linalg.norm(v) == pytest.approx(1)
    assert (signs * (lifted @ v) >= margin - 1e-12).all()
    assert np.linalg.norm(lifted, axis=1).max() ** 2 <= R**2 + found.delta**2 + 1e-9
    runs = [
        Perceptron(fit_intercept=False, average=False).partial_fit(rows, signs, classes=[-1, 1])
        for rows in (own, lifted)
    ]
    assert runs[0].n_mistakes_ == runs[1].n_mistakes_ <= found.bound


def test_the_best_delta():
    """Δ² = R·D makes (R² + Δ²)(1 + D²/Δ²) equal to (R + D)², and nothing makes it smaller."""
    y = SIX_Y.copy()
    y[1] *= -1
    found = deviations(SIX, y, [1.0, 0.0], 1.0, fit_intercept=False)
    assert found.d.tolist() == [0, 2, 0, 0, 0, 0] and found.D == 2
    assert found.bound == pytest.approx((math.sqrt(5) + 2) ** 2)
    assert found.bound_at(found.delta) == pytest.approx(found.bound)
    assert all(found.bound_at(found.delta * t) > found.bound for t in (0.5, 0.9, 1.1, 3.0))
    same = bounds(SIX, y, v=[1.0, 0.0], fit_intercept=False)["freund-schapire at given"]
    assert same.value == pytest.approx(found.bound, rel=1e-9)


def test_without_deviations_it_is_novikoffs_theorem():
    """D = 0: no lift, and the bound is (R/γ)² = 5."""
    found = deviations(SIX, SIX_Y, [2.0, 0.0], 1.0, fit_intercept=False)
    X, u, margin = found.lifted()
    assert found.D == 0 == found.delta and found.bound == pytest.approx(5) and margin == 1
    np.testing.assert_array_equal(X, SIX)
    assert u.tolist() == [1, 0]
    assert "0 of 6 rows deviate" in str(found) and "= 5" in str(found)
    assert found.lifted(1.0)[0].shape == (6, 8)


def test_any_labels_are_separated_by_the_lift():
    rng = np.random.default_rng(0)
    X, y = np.ones((12, 1)), rng.permutation(np.repeat([-1, 1], 6))
    lifted, u, margin = deviations(X, y, [1.0], 0.5, fit_intercept=False).lifted()
    assert (y * (lifted @ u) >= margin * (1 - 1e-12)).all() and margin > 0
    assert Perceptron(fit_intercept=False).fit(lifted, y).verdict_ == "separated"


def test_sparse_rows_are_as_dense_ones():
    dense = deviations(SIX, SIX_Y, [1.0, 1.0, 0.0], 2.0)
    sparse = deviations(sp.csr_array(SIX), SIX_Y, ([1.0, 1.0], 0.0), 2.0)
    np.testing.assert_array_equal(dense.d, sparse.d)
    lifted = sparse.lifted(sparse=True)[0]
    assert sp.issparse(lifted)
    np.testing.assert_allclose(lifted.toarray(), dense.lifted()[0])
    assert json.loads(json.dumps(dense.to_dict()))["D"] == dense.D
    assert "deviations" in dense._repr_html_()


@pytest.mark.parametrize(
    ("gamma", "message"),
    [(0.0, "number > 0"), (-1.0, "number > 0"), (math.inf, "finite"), (math.nan, "finite")],
)
def test_bad_input(gamma, message):
    with pytest.raises(ValueError, match=message):
        deviations(SIX, SIX_Y, [1.0, 0, 0], gamma)
    with pytest.raises(ValueError, match="two classes"):
        deviations(SIX, [0, 1, 2, 0, 1, 2], np.ones((3, 3)), 1.0)
    found = deviations(SIX, SIX_Y, [1.0, 0, 0], 1.0)
    for call in (found.bound_at, found.lifted):
        with pytest.raises(ValueError, match="delta="):
            call(-1.0)
