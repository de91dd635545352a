"""Radius, margins, distances, reductions and risk, against their definitions."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Perceptron
from novikoff.reference.linear import Twin
from novikoff.theory import (
    distance,
    empirical_risk,
    foot,
    margin,
    margins,
    max_margin,
    project,
    radius,
    reduce_norm,
    reduce_threshold,
)
from support.lecture import SIX, SIX_Y
from support.strategies import datasets, integers, separable


def test_six_points():
    """The lecture's example: R² = 5, and u = (1, 0) has the margin 1, 1/√5 with rows of norm 1."""
    assert radius(SIX, fit_intercept=False) ** 2 == pytest.approx(5, rel=1e-15)
    assert margin(SIX, SIX_Y, [1.0, 0.0], fit_intercept=False) == 1
    unit, told = reduce_norm(SIX, SIX_Y, [1.0, 0.0], fit_intercept=False)
    assert told.margin == pytest.approx(1 / math.sqrt(5), rel=1e-15)
    assert told.bound_before == pytest.approx(5) and told.bound == pytest.approx(5)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, rtol=1e-15)


@given(st.integers(2, 4), st.data(), st.booleans(), st.sampled_from([0.0, 1.0, 2.0]))
def test_margins_by_definition(n_classes, data, sparse, bias):
    """min over rivals of (u_y − u_c)·x̃, in rational arithmetic; on small integers floats are exact."""
    X, y = data.draw(datasets(n_classes, st.just(integers)))
    lift = {"fit_intercept": bias > 0, "intercept_scaling": bias or 1.0}
    lines, width = (n_classes, X.shape[1] + (bias > 0)) if n_classes > 2 else (1, X.shape[1] + (bias > 0))
    numbers = st.lists(st.integers(-4, 4), min_size=lines * width, max_size=lines * width)
    U = np.array(data.draw(numbers), dtype=float).reshape(lines, width)
    lifted = np.hstack([X, np.full((len(X), 1), bias)]) if bias else X
    scores = lifted @ U.T
    if n_classes == 2:
        expected = np.where(y == 1, 1, -1) * scores[:, 0]
    else:
        rivals = np.where(np.arange(n_classes) == y[:, None], -np.inf, scores)
        expected = scores[np.arange(len(y)), y] - rivals.max(axis=1)
    u = U if n_classes > 2 else U[0]
    rows = sp.csr_array(X) if sparse else X
    np.testing.assert_array_equal(margins(rows, y, u, kind="functional", **lift), expected)
    assert margin(rows, y, u, kind="functional", **lift) == expected.min()
    if U.any():
        norm = np.linalg.norm(U)
        np.testing.assert_allclose(margins(rows, y, u, **lift), expected / norm, rtol=1e-14)
        assert np.sign(margin(rows, y, u, **lift)) == np.sign(expected.min())
        pair = (U[:, :-1], bias * U[:, -1]) if bias else (U, 0.0)
        np.testing.assert_array_equal(margins(rows, y, pair, **lift), margins(rows, y, u, **lift))
    assert radius(rows, **lift) == pytest.approx(np.linalg.norm(lifted, axis=1).max(), rel=1e-15)


def test_sign_of_the_margin_is_exact():
    """Scores that cancel: 1e16 + 1 − 1e16 is 1, though a float sum says 0 or 2."""
    X = np.array([[1e16, 1.0, -1e16], [-1.0, -1.0, -1.0]])
    assert margin(X, [1, -1], np.ones(3), kind="functional", fit_intercept=False) == 1.0


def test_a_model_is_taken_as_it_is():
    X, y, _ = separable(np.random.default_rng(0))
    model = Perceptron(random_state=0).fit(X, y)
    assert margin(X, y, model) == pytest.approx(model.margin_, rel=1e-12)
    assert margin(X, y, (model.coef_, model.intercept_)) == margin(X, y, model)
    names = np.where(y > 0, "a", "b")  # the second class is +1, so the model of other names has −w
    other = Perceptron(random_state=0).fit(X, names)
    assert margin(X, names, other) > 0
    with pytest.raises(ValueError, match="has the classes"):
        margin(X, y, other)


@pytest.mark.parametrize("seed", range(3))
def test_point_and_plane(seed):
    """x = foot + (x − foot), where the foot lies in the plane and x − foot along its normal."""
    rng = np.random.default_rng(seed)
    x, u, b = rng.standard_normal((4, 3)), rng.standard_normal(3), rng.standard_normal()
    feet = foot(x, (u, b))
    np.testing.assert_allclose(feet @ u + b, 0, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(x - feet, axis=1), distance(x, (u, b)), rtol=1e-13)
    np.testing.assert_allclose(np.cross(x - feet, u), 0, atol=1e-13)
    np.testing.assert_allclose(project(x, u) + foot(x, u), x, atol=1e-14)
    for plane in (u, (u, b)):
        assert distance(x[0], plane) == pytest.approx(distance(x, plane)[0])


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 10), st.booleans())
def test_threshold_becomes_a_coordinate(seed, scaling, sparse):
    """R̃² = R² + c², γ̃ = γ/√(1 + θ²/c²) for ‖u‖ = 1; with c = R ≥ |θ| the bound is at most 4·(R/γ)²."""
    rng = np.random.default_rng(seed)
    u = rng.standard_normal(3)
    u /= np.linalg.norm(u)
    X = rng.standard_normal((20, 3))
    theta = float(np.median(X @ u)) + 1e-3
    y = np.where(X @ u > theta, 1, -1)
    rows = sp.csr_array(X) if sparse else X
    new, told = reduce_threshold(rows, y, u, threshold=theta, intercept_scaling=scaling)
    assert told.radius**2 == pytest.approx(told.radius_before**2 + scaling**2)
    assert told.margin_before == pytest.approx(np.min(y * (X @ u - theta)), rel=1e-9, abs=1e-15)
    assert told.margin == pytest.approx(told.margin_before / math.sqrt(1 + (theta / scaling) ** 2))
    lifted = np.append(u, -theta / scaling)
    assert margin(new, y, lifted, fit_intercept=False) == pytest.approx(told.margin)
    coef, intercept = told.back(lifted)
    np.testing.assert_array_equal(coef, u)
    assert intercept == pytest.approx(-theta)
    _, best = reduce_threshold(rows, y, u, threshold=theta)
    assert best.bound <= 4 * best.bound_before * (1 + 1e-9)


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_unit_norms_never_worsen_the_bound(seed, bias, sparse):
    """γ_n ≥ γ/R; and a perceptron on the new rows makes the updates of the normalized rule on the old."""
    rng = np.random.default_rng(seed)
    X, y, u = separable(rng, n=40, d=3)
    X *= np.exp(2 * rng.standard_normal((len(X), 1)))
    rows = sp.csr_array(X) if sparse else X
    v = (u[None], 0.0) if bias else u
    new, told = reduce_norm(rows, y, v, fit_intercept=bias)
    assert told.bound <= told.bound_before * (1 + 1e-12)
    assert radius(new, fit_intercept=False) == pytest.approx(1)
    assert "→ 1" in str(told) and told.to_dict()["radius"] == 1


@pytest.mark.parametrize("scaling", [5e-324, 1e-170, 1e-100, 1.0, 1e160, 1e308])
def test_the_radius_of_any_bias_coordinate(scaling):
    assert radius([[0.0]], intercept_scaling=scaling) == scaling
    found = radius([[0.75 * scaling]], intercept_scaling=scaling)  # rounded up
    assert 1.25 * scaling <= found <= 1.25 * scaling * (1 + 1e-14) + 5e-324


@given(datasets(3, st.just(integers)), st.sampled_from(["positive", "mistake"]), st.booleans())
def test_risk_counts_the_mistakes_of_the_twin(data, ties, two):
    """The 0–1 loss of fixed weights is what the specification calls a mistake."""
    X, y = data
    classes = 2 if two else 3
    y = np.minimum(y, classes - 1)
    twin = Twin(classes, X.shape[1], ties=ties, bias_square=0.0)
    twin.weights[:] = np.resize([1.0, -1.0, 1.0, 0.0, 2.0], twin.weights.shape)
    wrong = 0
    for x, label in zip(X, y, strict=True):
        d, rival = twin.difference(x, int(label))
        wrong += d < 0 or (d == 0 and twin.tie_hurts(int(label), rival))
    u = twin.weights[0] if two else twin.weights
    assert empirical_risk(X, y, u, ties=ties, fit_intercept=False) == pytest.approx(wrong / len(y))
    weights = np.arange(1.0, len(y) + 1)
    weighted = empirical_risk(X, y, u, ties=ties, fit_intercept=False, sample_weight=weights)
    assert 0 <= weighted <= 1 and (weighted == 0) == (wrong == 0)


def test_margin_of_the_lift_is_less_than_the_free_one():
    """x = 10 (+), 12 (−): a free bias separates them by 1, but no plane of the lifted space by more than
    2/√488 = 0.0905, the distance of the segment from (10, 1) to (−12, −1) from the origin."""
    X, y = [[10.0], [12.0]], [1, -1]
    assert reduce_threshold(X, y, [-1.0], threshold=-11.0)[1].margin_before == 1
    for u in np.random.default_rng(0).standard_normal((1000, 2)):
        assert margin(X, y, u) <= 2 / math.sqrt(488)
    assert margin(X, y, max_margin(X, y)) == pytest.approx(2 / math.sqrt(488), rel=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: margin([[1.0], [2.0]], [0, 1], [1.0]), "bias coordinate last"),
        (lambda: margin([[1.0], [2.0]], [0, 1], [0.0], fit_intercept=False), "u is zero"),
        (lambda: margin([[1.0], [2.0]], [0, 1], [np.nan], fit_intercept=False), "NaN"),
        (lambda: margin([[1.0], [2.0]], [0, 1], [1.0], kind="other"), "functional"),
        (lambda: margin([[1.0], [2.0]], [0, 1], ([[1.0]], [1.0]), fit_intercept=False), "fit_intercept=True"),
        (lambda: margin([[1.0], [2.0]], [0, 1], ([[1.0, 2.0]], 0.0)), "1 features"),
        (lambda: empirical_risk([[1.0], [2.0]], [0, 1], [1.0], ties="odd"), "mistake"),
        (lambda: distance([1.0, 2.0], [0.0, 0.0]), "normal"),
        (lambda: distance([1.0], [1.0, 2.0]), "coordinates"),
        (lambda: reduce_norm([[0.0], [1.0]], [0, 1], fit_intercept=False), "row 0 is zero"),
        (lambda: reduce_norm([[1.0], [1.0], [2.0]], [0, 1, 2]), "two classes"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
