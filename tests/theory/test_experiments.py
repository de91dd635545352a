"""Each experiment, on the theorem that it shows."""

import json
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Perceptron, Winnow, datasets
from novikoff.theory import experiments, max_margin, minimax_risk
from novikoff.theory.experiments.risk import gaussian_risk


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize(("n", "r"), [(3, 3), (15, 1), (40, 7), (101, 3)])
def test_majority(n, r, fit_intercept):
    """Mistakes ≤ n·r, or (n + 1)·r with a bias, also of the normalized rule."""
    result = experiments.majority(n, r, 600, fit_intercept=fit_intercept)
    assert result.holds and result.figures["bound"] == (n + fit_intercept) * r
    assert 0 < result.figures["mistakes"] <= result.figures["bound"]
    data = datasets.majority(600, n, r, 0)  # sign(0) = +1: only negatives at score 0 are mistakes
    w, b, mistakes = np.zeros(n), 0.0, 0
    for _ in range(result.figures["epochs"]):
        for x, y in zip(data.X, data.y, strict=True):
            if (1 if w @ x + b >= 0 else -1) != y:
                w, b, mistakes = w + y * x, b + y * fit_intercept, mistakes + 1
    assert result.figures["mistakes"] == mistakes


@pytest.mark.parametrize(("d", "margin"), [(2, 0.01), (30, 0.1)])
def test_stream_never_passes_the_bound(d, margin):
    """Novikoff: mistakes ≤ 1/γ² at every time, and they flatten."""
    result = experiments.stream(d, margin, n_rows=100_000)
    made = result.curves["mistakes"]
    assert result.holds and np.all(np.diff(made) >= 0) and made[-1] <= 1 / margin**2
    assert result.figures["mistakes in the second half"] < result.figures["mistakes in the first half"]


@pytest.mark.parametrize("n", [1, 2, 33])
def test_adversarial_attains_the_bound(n):
    assert experiments.adversarial(n).figures == {"bound": n, "mistakes": n}


def test_independent_points_fit_any_labels():
    """All 2^n − 2 labellings of both classes of five points in five dimensions are separated."""
    data = datasets.independent(5, 5, random_state=2)
    for labels in product([-1, 1], repeat=5):
        if abs(sum(labels)) < 5:
            model = Perceptron(fit_intercept=False, max_epochs=100_000).fit(data.X, labels)
            assert model.verdict_ == "separated"
    result = experiments.independent(8, 12, 20)
    assert result.holds and result.figures["separated"] == 20


def test_normalizing_wins_and_loses():
    """1/γₙ² ≤ (R/γ)² always; 10 mistakes against 69 on the four points all the same."""
    wins, loses = experiments.normalizing_wins(), experiments.normalizing_loses()
    assert wins.holds and wins.figures["normalized"] * 5 < wins.figures["plain"]
    assert loses.holds and loses.figures == {"plain": 10, "normalized": 69}
    data = datasets.normalizing_loses()
    unit = data.X / np.linalg.norm(data.X, axis=1)[:, None]
    plain, scaled = (max_margin(X, data.y, fit_intercept=False) for X in (data.X, unit))
    assert 1 / scaled.lower**2 * (1 + 1e-5) >= 69 and 1 / scaled.upper**2 <= (5 / plain.lower) ** 2


def test_gaussians_risk():
    """The risk of a threshold is that of w·x + b on two Gaussians; the optimal one attains Φ(−Δ/2)."""
    both = datasets.gaussians(200_000, 3, 1.5, random_state=0)
    assert gaussian_risk(both, both.coef, both.intercept) == pytest.approx(both.risk)
    coef, intercept = both.coef + np.array([0.5, -0.2, 0.1]), both.intercept + 0.3
    measured = np.mean((both.X @ coef + intercept >= 0) != (both.y > 0))
    assert gaussian_risk(both, coef, intercept) == pytest.approx(measured, abs=0.004)
    result = experiments.gaussians(1000, 5, n_test=5000)
    assert result.holds and result.figures["averaged"] < result.figures["last"]


@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 4), (4, 9), (6, 3), (10, 2)])
def test_minimax_risk_is_met_by_enumeration(n, d):
    """E risk = min(n − 1, d − 1)/(2n)·(1 − 1/n)ⁿ for the perceptron: equal as rational numbers."""
    formula = Fraction(min(n - 1, d - 1), 2 * n) * Fraction(n - 1, n) ** n
    assert experiments.minimax_exact(n, d) == formula
    assert minimax_risk(n, d) == pytest.approx(float(formula))


def test_minimax_enumeration_is_of_the_perceptron():
    """The same expectation by the estimator itself, sample by sample."""
    n, d, total = 3, 3, Fraction(0)
    points = np.eye(d)
    for signs in product([-1, 1], repeat=d - 1):
        labels = np.array([1, *signs])
        for drawn in map(list, product(range(d), repeat=n)):
            model = Perceptron(fit_intercept=False).partial_fit(points[drawn], labels[drawn], classes=[-1, 1])
            chance = Fraction(n - d + 1, n) ** drawn.count(0) * Fraction(1, n) ** (n - drawn.count(0))
            wrong = np.flatnonzero(model.predict(points) != labels)
            total += chance * sum(Fraction(1 if i else n - d + 1, n) for i in wrong) / 2 ** (d - 1)
    assert total == experiments.minimax_exact(n, d)


def test_minimax_simulated():
    result = experiments.minimax(12, 6, 1500)
    assert result.holds and result.figures["mean risk"] == pytest.approx(minimax_risk(12, 6), rel=0.1)
    with pytest.raises(ValueError, match="too many to enumerate"):
        experiments.minimax_exact(40, 10)


def test_xor_and_bias():
    assert experiments.xor().holds and experiments.bias_needed().holds


@given(n=st.integers(2, 40), r=st.integers(1, 6))
def test_forced_sequence(n, r):
    """A legal sequence: labels are the disjunction's, and every row is a mistake of the perceptron."""
    r = min(r, n - 1)
    X, y = experiments.forced_disjunction(n, r)
    assert set(np.unique(X)) <= {0.0, 1.0} and np.array_equal(y > 0, X[:, :r].any(axis=1))
    model = Perceptron().partial_fit(X, y, classes=[-1, 1])
    assert model.n_mistakes_ == len(y) == 2 * r * (n - r + 1) + 1
    winnow = Winnow().partial_fit(X, y, classes=[-1, 1])
    assert winnow.n_mistakes_ <= 2 + 3 * r * (1 + math.log2(n))


def test_disjunctions():
    """Winnow's mistakes are within the bound; sixteen times the features cost the perceptron far more."""
    result = experiments.disjunctions((32, 512), 3, 1000)
    assert result.holds
    assert result.figures["perceptron"][1] > 2 * result.figures["Winnow"][1]
    assert experiments.worst_disjunctions((16, 64), 3).holds


def test_conjunction_kernel():
    """Winnow learns one bit within its bound; the kernel is still wrong in the second half at n = 96."""
    result = experiments.conjunction_kernel((8, 32, 96), n_rows=2000)
    assert result.holds
    assert result.figures["kernel"][2] > 10 * result.figures["Winnow"][2]
    assert result.figures["kernel in second half"][2] > 100
    few = experiments.conjunction_kernel((64, 8), n_rows=500)
    assert not few.holds  # mistakes must grow with n


@pytest.mark.parametrize("result", [experiments.adversarial(3), experiments.stream(3, 0.2, 4000)])
def test_results_are_data(result):
    """JSON in, JSON out; the text names the claim and says whether it holds."""
    said = json.loads(json.dumps(result.to_dict()))
    assert said["name"] == result.name and said["holds"] is True
    assert all(len(curve) == len(result.curves[name]) for name, curve in said["curves"].items())
    assert result.claim in str(result) and str(result).endswith("holds")
    failed = experiments.Experiment("x", "y", False, {})
    assert str(failed).endswith("FAILS")
