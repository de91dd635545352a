"""The theorems: mistakes and updates never exceed what each rule's bound allows, and one set attains it."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier

from novikoff import Perceptron
from novikoff.parameters.linear import RULES, VARIANCE_RULES
from support.marks import may_not_separate
from support.strategies import datasets, separable


@pytest.mark.parametrize("n", [1, 2, 7, 64])
def test_bound_is_reached(n):
    """e_1 … e_n labelled −, then −e_1 labelled +: n mistakes = (R/γ)², with R = 1 and γ = 1/√n."""
    X = np.vstack([np.eye(n), -np.eye(n)[:1]])
    y = np.array([-1] * n + [1])
    model = Perceptron(fit_intercept=False, order="cyclic").fit(X, y)
    assert model.n_mistakes_ == n
    assert model.verdict_ == "separated"


@pytest.mark.parametrize("order", ["cyclic", "shuffle", "riffle", "worst"])
@pytest.mark.parametrize("ties", ["positive", "mistake"])
@pytest.mark.parametrize("seed", range(5))
def test_novikoff_bound(order, ties, seed):
    """mistakes·γ² ≤ R² for the known separator, compared in rational arithmetic."""
    rng = np.random.default_rng(seed)
    X, y, u = separable(rng)
    model = Perceptron(fit_intercept=False, order=order, ties=ties, random_state=seed).fit(X, y)
    assert model.verdict_ == "separated"
    u_exact = [Fraction(v) for v in u]
    scores = [sum(a * Fraction(b) for a, b in zip(u_exact, x, strict=True)) for x in X.tolist()]
    smallest = min(s * int(c) for s, c in zip(scores, y, strict=True))
    radius2 = max(sum(Fraction(v) ** 2 for v in x) for x in X.tolist())
    assert model.n_mistakes_ * smallest**2 <= radius2 * sum(v * v for v in u_exact)
    report = model.report()
    assert report.margin <= report.margin_upper
    assert report.bound_lower <= report.bound_upper
    assert model.n_mistakes_ <= report.bound_upper


@pytest.mark.parametrize("seed", range(5))
def test_normalized_bound(seed):
    """mistakes ≤ 1/γₙ², where small rows do not hurt."""
    rng = np.random.default_rng(seed)
    X, y, u = separable(rng)
    X *= np.exp(3 * rng.standard_normal((len(X), 1)))
    unit = np.min(y * (X @ u) / np.linalg.norm(X, axis=1))
    model = Perceptron("normalized", fit_intercept=False, random_state=seed, max_epochs=10_000).fit(X, y)
    assert model.n_mistakes_ * unit**2 <= 1 + 1e-9
    assert model.n_mistakes_ <= model.report().bound_upper


@pytest.mark.parametrize("beta", [0.5, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_margin_rule_bound(beta, seed):
    """updates ≤ (R² + 2β)/γ²; at convergence every y·s exceeds β."""
    rng = np.random.default_rng(seed)
    X, y, u = separable(rng)
    model = Perceptron("margin", margin=beta, fit_intercept=False, random_state=seed, max_epochs=10_000).fit(
        X, y
    )
    gamma = np.min(y * (X @ u))
    assert model.n_updates_ * gamma**2 <= (model.radius_**2 + 2 * beta) * (1 + 1e-9)
    assert np.min(y * model.decision_function(X)) > beta
    assert model.n_updates_ <= model.report().bound_upper


@pytest.mark.parametrize("rule", ["pa", "pa1", "pa2"])
def test_passive_aggressive_mistakes_are_bounded(rule):
    rng = np.random.default_rng(3)
    X, y, u = separable(rng)
    gamma, radius = np.min(y * (X @ u)), np.max(np.linalg.norm(X, axis=1))
    model = Perceptron(rule, C=1e6, fit_intercept=False, random_state=0, max_epochs=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    assert model.n_updates_ > model.n_mistakes_
    assert model.n_mistakes_ * gamma**2 <= radius**2


@pytest.mark.parametrize("seed", range(3))
def test_weighted_bound(seed):
    """With weights c, R and γ are those of the c·x."""
    rng = np.random.default_rng(seed)
    X, y, u = separable(rng)
    c = rng.uniform(0.2, 5, len(X))
    model = Perceptron(fit_intercept=False, random_state=seed, max_epochs=10_000).fit(X, y, sample_weight=c)
    gamma, radius = np.min(c * y * (X @ u)), np.max(c * np.linalg.norm(X, axis=1))
    assert model.radius_ == pytest.approx(radius, rel=1e-14)
    assert model.n_mistakes_ * gamma**2 <= radius**2 * (1 + 1e-9)
    assert model.margin_ <= model.margin_upper_


@pytest.mark.parametrize("seed", range(3))
def test_multiclass_bound(seed):
    """Kesler: R = √2·max‖x‖, γ = min (w_y − w_c)·x over ‖W‖_F = 1."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((4, 6))
    W /= np.linalg.norm(W)
    X = rng.standard_normal((600, 6))
    s = np.sort(X @ W.T, axis=1)
    keep = s[:, -1] - s[:, -2] > 0.05
    X, y, gamma = X[keep], (X @ W.T).argmax(axis=1)[keep], np.min((s[:, -1] - s[:, -2])[keep])
    model = Perceptron(fit_intercept=False, random_state=seed).fit(X, y)
    assert model.verdict_ == "separated"
    assert model.radius_ == pytest.approx(math.sqrt(2) * np.linalg.norm(X, axis=1).max())
    assert model.n_mistakes_ * gamma**2 <= model.radius_**2
    assert model.margin_ <= model.margin_upper_


@given(
    data=datasets(2),
    power=st.sampled_from([-40, -3, 1, 17]),
    rule=st.sampled_from(["perceptron", "normalized"]),
)
def test_powers_of_two_change_no_mistake(data, power, rule):
    X, y = data
    X = np.where(np.abs(X) < 1e-100, 0, X)
    counts = []
    for scaled in (X, X * 2.0**power):
        model = Perceptron(rule, fit_intercept=False, order="cyclic", max_epochs=5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(scaled, y)
        counts.append([(r["mistakes"], r["updates"]) for r in model.history_])
    assert counts[0] == counts[1]


def test_default_separates_what_is_separable():
    """200 sets of about 960 rows in 20 dimensions with a margin of 0.05: every one is separated."""
    for seed in range(200):
        X, y, _ = separable(np.random.default_rng(seed), n=1000, d=20)
        model = Perceptron(random_state=seed).fit(X, y)
        assert model.verdict_ == "separated" and model.score(X, y) == 1.0


@given(data=datasets(2), epochs=st.integers(1, 3))
def test_perceptron_is_gradient_descent_on_max_0_minus_ys(data, epochs):
    """w ← w − ∂max(0, −y·s): with ties as mistakes the same path as plain SGD written out here."""
    X, y = data
    sign, w, b = 2 * y - 1, np.zeros(X.shape[1]), 0.0
    for _ in range(epochs):
        for x, t in zip(X, sign, strict=True):
            exact = sum(
                Fraction(p) * Fraction(q) for p, q in zip(w.tolist(), x.tolist(), strict=True)
            ) + Fraction(b)
            if t * exact <= 0:  # the subgradient −t·x is taken at the kink as well
                w, b = w + t * x, b + float(t)
    model = Perceptron(ties="mistake", order="cyclic", average=False, max_epochs=epochs, scale=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    np.testing.assert_array_equal(model.coef_[0], w)
    assert model.intercept_[0] == b


@may_not_separate
def test_agrees_with_scikit_learn_on_integers():
    """scikit-learn's SGD on the perceptron loss, unshuffled, on integers: the 'mistake' reading."""
    rng = np.random.default_rng(0)
    X = rng.integers(-5, 6, (300, 4)).astype(float)
    y = np.where(X @ [1, -2, 3, 1] + rng.normal(0, 3, 300) > 0, 1, -1)
    peer = SGDClassifier(loss="perceptron", learning_rate="constant", eta0=1, penalty=None, shuffle=False)
    peer.set_params(tol=None, max_iter=5).fit(X, y)
    ours = Perceptron(ties="mistake", order="cyclic", average=False, max_epochs=5, scale=None).fit(X, y)
    np.testing.assert_array_equal(ours.coef_, peer.coef_)
    np.testing.assert_array_equal(ours.intercept_, peer.intercept_)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_reported_bound_is_never_broken(rule, n_classes, weighted, seed):
    """Each rule's theorem with the ingredients that the report gives it, weights included."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((n_classes, 4))
    X = rng.standard_normal((150, 4)) * np.exp(rng.standard_normal((150, 1)))
    s = np.sort(X @ W.T, axis=1)
    X = X[s[:, -1] - s[:, -2] > 0.1]
    y = (X @ W.T).argmax(axis=1)
    c = rng.uniform(0.5, 3, len(X)) if weighted else None
    model = Perceptron(rule, margin=0.5, C=0.3, random_state=seed, max_epochs=3000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y, sample_weight=c)
    report = model.report()
    count = report.updates if rule == "margin" else report.mistakes
    if rule in VARIANCE_RULES or (rule.startswith("pa") and weighted):
        assert (report.bound_lower, report.bound_upper) == (0.0, math.inf)  # no theorem, no claim
    elif report.verdict == "separated":
        assert count <= report.bound_upper and report.bound_lower <= report.bound_upper * (1 + 1e-12)
    else:
        assert rule.startswith("pa")
