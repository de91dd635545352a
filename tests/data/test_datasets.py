"""Generated data have the properties that their descriptions state."""

import math
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff
from novikoff import Perceptron, datasets
from novikoff.theory import max_margin
from support.marks import may_not_separate

seeds = st.integers(0, 10_000)


@given(
    n=st.integers(2, 60),
    d=st.integers(1, 8),
    part=st.floats(0.01, 1.0),
    radius=st.sampled_from([0.5, 1.0, 30.0]),
    seed=seeds,
)
def test_separable_attains_margin_and_radius(n, d, part, radius, seed):
    """y·(u·x) ≥ γ and ‖x‖ ≤ R, both attained; half the sum of some two signed rows has norm γ."""
    margin = part * radius
    data = datasets.separable(n, d, margin, radius, seed)
    z = data.y[:, None] * data.X
    assert np.linalg.norm(data.u) == pytest.approx(1)
    assert np.min(z @ data.u) == pytest.approx(margin, rel=1e-9)
    assert np.linalg.norm(data.X, axis=1).max() == pytest.approx(radius, rel=1e-9)
    middles = (z[:, None] + z[None]) / 2  # of all pairs of signed rows; a row with itself is the row
    shortest = np.linalg.norm(middles, axis=2).min()
    assert shortest == pytest.approx(margin, rel=1e-6)


def test_separable_margin_is_the_largest():
    """Against the solver: the bracket on γ holds the margin asked for."""
    data = datasets.separable(300, 6, 0.2, 2.0, 3)
    found = max_margin(data.X, data.y, fit_intercept=False)
    assert found.lower <= 0.2 * (1 + 1e-9) and found.upper >= 0.2 * (1 - 1e-9)
    assert found.upper == pytest.approx(0.2, rel=1e-5)


@given(n=st.integers(2, 6), extra=st.integers(0, 4), seed=seeds)
def test_independent_points_have_one_margin(n, extra, seed):
    """u gives all rows 1/√(yᵀG⁻¹y); it is the largest margin exactly when all y∘G⁻¹y ≥ 0."""
    data = datasets.independent(n, n + extra, random_state=seed)
    data.y[:2] = 1, -1
    data = datasets.independent(n, n + extra, data.y, seed)
    np.testing.assert_allclose(data.y * (data.X @ data.u), data.margin, rtol=1e-5)
    assert np.linalg.norm(data.u) == pytest.approx(1, rel=1e-5)
    weights = data.y * np.linalg.solve(data.X @ data.X.T, data.y.astype(float))
    found = max_margin(data.X, data.y, fit_intercept=False)
    assert found.upper >= data.margin * (1 - 1e-6)
    if (weights >= 0).all():
        assert found.upper == pytest.approx(data.margin, rel=1e-4)
    elif weights.min() < -1e-3 * np.abs(weights).max():
        assert found.upper > data.margin


def test_majority_is_by_the_first_signs():
    data = datasets.majority(500, 12, 5, 0)
    assert set(np.unique(data.X)) == {-1.0, 1.0}
    assert np.array_equal(data.y, np.sign(data.X[:, :5].sum(axis=1)))
    assert np.min(data.y * (data.X @ data.u)) == pytest.approx(1 / math.sqrt(5)) == data.margin
    with pytest.raises(ValueError, match="odd number"):
        datasets.majority(10, 12, 4)


def test_stream_goes_on_with_one_margin():
    u, blocks = None, list(islice(datasets.stream(4, 0.3, 500, 7), 3))
    X, y = np.concatenate([b[0] for b in blocks]), np.concatenate([b[1] for b in blocks])
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1)
    u = datasets._unit(np.random.default_rng(7), 4)
    assert 0.3 - 1e-12 <= np.min(y * (X @ u)) < 0.31
    assert not np.array_equal(blocks[0][0], blocks[1][0])


def test_gaussians_risk_is_met_by_the_optimal_threshold():
    """Φ(−1) = 0.1587 within four standard errors, and the two means are Δ apart."""
    data = datasets.gaussians(100_000, 4, 2.0, 0.6, 1)
    risk = np.mean((data.X @ data.coef + data.intercept >= 0) != (data.y > 0))
    assert data.risk == pytest.approx(0.15865525393145707)
    assert abs(risk - data.risk) < 4 * math.sqrt(data.risk * (1 - data.risk) / 100_000)
    apart = data.means[1] - data.means[0]
    assert apart @ np.linalg.solve(data.covariance, apart) == pytest.approx(4.0)


def test_norm_mixture():
    data = datasets.norm_mixture(100, 5, 0.1, 50.0, 0)
    norms = np.linalg.norm(data.X, axis=1)
    assert set(norms.round(9)) == {1.0, 50.0} and data.radius == 50.0
    assert np.min(data.y * (data.X @ data.u)) == data.margin >= 0.1 * (1 - 1e-9)


@pytest.mark.parametrize("n", [1, 5, 30])
def test_adversarial_bound(n):
    data = datasets.adversarial(n)
    assert np.min(data.y * (data.X @ data.u)) == pytest.approx(data.margin)
    assert (data.radius / data.margin) ** 2 == pytest.approx(n)


def test_six_points_of_the_lecture():
    """R² = 5 and γ = 1."""
    data = datasets.six_points()
    assert (data.X**2).sum(axis=1).max() == 5
    found = max_margin(data.X, data.y, fit_intercept=False)
    assert found.lower <= 1 <= found.upper and found.upper == pytest.approx(1, rel=1e-6)


@may_not_separate
def test_small_sets():
    flat, plane = datasets.needs_bias(), datasets.xor()
    assert Perceptron().fit(flat.X, flat.y).verdict_ == "separated"
    assert not Perceptron(fit_intercept=False, max_epochs=50).fit(flat.X, flat.y).converged_
    assert not Perceptron(max_epochs=50).fit(plane.X, plane.y).converged_


def test_minimax_probabilities():
    """Rare points have probability 1/n each, and there are no more than n − 1 of them."""
    for n, d in [(4, 3), (3, 9), (1, 1), (2, 2)]:
        points, probabilities, labels = datasets.minimax(n, d, 0)
        assert np.array_equal(points @ points.T, np.eye(min(n, d))) and points.shape[1] == d
        assert probabilities.sum() == pytest.approx(1) and np.all(probabilities[1:] == 1 / n)
        assert labels[0] == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.separable(10, 3, 2.0, 1.0), "margin=2.0"),
        (lambda: datasets.independent(4, 3), "n=4"),
        (lambda: datasets.independent(2, 3, [1, 0]), "each −1 or \\+1"),
        (lambda: datasets.disjunction(5, 4, 5), "r=5"),
        (lambda: next(datasets.stream(3, 1.5)), "margin between 0 and 1"),
        (lambda: datasets.gaussians(5, 2, 0.0), "distance > 0"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_seeds_repeat_and_names_resolve():
    once, twice = (datasets.separable(20, 3, 0.1, random_state=5) for _ in range(2))
    assert np.array_equal(once.X, twice.X)
    assert novikoff.datasets is datasets and "datasets" in dir(novikoff)
