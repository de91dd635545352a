"""Rules with a variance for each weight: AROW, SCW-I and the second-order perceptron.

`test_twin` compares the loops with the twin bit for bit; here the twin's formulas stand beside the papers'.
With one column a diagonal matrix is the full one, so the papers' identities hold up to rounding.
"""

import math
import warnings
from statistics import NormalDist

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from novikoff import OnlinePerceptron, Perceptron, VotedPerceptron, load_model, theory
from novikoff.dask import DistributedPerceptron
from novikoff.parameters.linear import PHI, VARIANCE_RULES, phi_of
from novikoff.reference.linear import Twin
from novikoff.reference.second_order import variances

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),
]


def one_column(rule, C=0.7, n=40, **more):
    """Each visit of one column without a bias: (w, σ before, w, σ after, y, x)."""
    rng = np.random.default_rng(4)
    twin = Twin(2, 1, rule=rule, C=C, bias_square=0.0, **more)
    for i in range(n):
        x, y = rng.normal(0, 3), int(rng.random() < 0.6)
        before = twin.weights[0, 0], variances(twin.confidences)[0, 0]
        twin.visit(i, np.array([x]), y)
        yield (*before, twin.weights[0, 0], variances(twin.confidences)[0, 0], 2 * y - 1, x)


def test_arow_minimises_its_objective():
    """Crammer, Kulesza and Dredze 2009: KL + (loss² + x²σ)/(2r), the loss being the squared hinge loss."""
    C, updates = 0.7, 0

    def objective(w, sigma, w0, sigma0, y, x):
        divergence = (math.log(sigma0 / sigma) + sigma / sigma0 + (w - w0) ** 2 / sigma0 - 1) / 2
        return divergence + C / 2 * (max(0.0, 1 - y * w * x) ** 2 + x * x * sigma)

    for w0, sigma0, w, sigma, y, x in one_column("arow", C):
        if y * w0 * x >= 1:
            assert (w, sigma) == (w0, sigma0)
            continue
        updates += 1
        best = objective(w, sigma, w0, sigma0, y, x)
        for shift in (-1e-3, 1e-3):
            assert best < objective(w + shift * (1 + abs(w)), sigma, w0, sigma0, y, x)
            assert best < objective(w, sigma * (1 + shift), w0, sigma0, y, x)
    assert updates > 10


def test_scw_meets_its_constraint_or_the_limit():
    """Wang, Zhao and Hoi 2012: after an update y·w·x = φ√v with the new σ, unless the step is C."""
    free = limited = 0
    for C in (0.05, 1e6):
        for w0, sigma0, w, sigma, y, x in one_column("scw", C, phi=PHI):
            reach = PHI * math.sqrt(sigma0) * abs(x)
            if y * w0 * x == pytest.approx(reach, rel=1e-9):  # with one column every row of a side is there
                continue
            if y * w0 * x >= reach:
                assert (w, sigma) == (w0, sigma0)
                continue
            alpha = (w - w0) / (y * sigma0 * x)
            if alpha < C * (1 - 1e-9):
                assert y * w * x == pytest.approx(PHI * math.sqrt(sigma) * abs(x), rel=1e-9)
                free += 1
            else:
                assert alpha == pytest.approx(C) and y * w * x < PHI * math.sqrt(sigma) * abs(x)
                limited += 1
    assert free > 10 and limited > 5


def test_second_order_weights_are_whitened_sums():
    """Cesa-Bianchi, Conconi and Gentile 2005: w = (I + C·S)⁻¹·Σ y·x over the mistakes, S of its diagonal."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(0, [1, 10, 0.1], (60, 3)), rng.integers(0, 2, 60)
    C, total, squares = 0.3, np.zeros(4), np.zeros(4)
    twin = Twin(2, 3, rule="second-order", C=C)
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        mistakes = twin.mistakes
        twin.visit(i, x, int(label))
        if twin.mistakes > mistakes:
            lifted = np.append(x, 1.0)
            total, squares = total + (2 * label - 1) * lifted, squares + lifted**2
        expected = total / (1 + C * squares)
        np.testing.assert_allclose(np.append(twin.weights[0], twin.bias), expected, rtol=1e-12, atol=1e-15)
    assert twin.updates == twin.mistakes > 10


@pytest.mark.parametrize("rule", VARIANCE_RULES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_weight_counts_copies_where_order_is_of_no_matter(rule, n_classes):
    """One update by a row of weight c: AROW has r/c, SCW c·C; the second-order one learns c rows at once."""
    x = np.array([[1.0, -2.0, 0.5]])
    weighted, plain = Twin(n_classes, 3, rule=rule, C=0.5), Twin(n_classes, 3, rule=rule, C=1.5)
    weighted.visit(0, x[0], 0, 3.0)
    plain.visit(0, x[0], 0)
    np.testing.assert_array_equal(weighted.confidences, plain.confidences)
    times = 3 if rule == "second-order" else 1
    np.testing.assert_allclose(weighted.weights, times * plain.weights, rtol=1e-15)


@pytest.mark.parametrize("rule", ["arow", "second-order"])
def test_one_raw_pass_learns_columns_of_any_size(rule):
    """Columns from 1e-3 to 1e3 in size, all of equal use: where one pass of the perceptron fails."""
    rng = np.random.default_rng(0)
    size = 10.0 ** np.linspace(-3, 3, 12)
    X = rng.standard_normal((6000, 12)) * size
    y = X @ (1 / size) > 0

    def accuracy(rule):
        return (
            Perceptron(rule, average=True, max_epochs=1, random_state=0, scale=None)
            .fit(X[:3000], y[:3000])
            .score(X[3000:], y[3000:])
        )

    assert accuracy(rule) > accuracy("perceptron") + 0.1


@pytest.mark.parametrize("rule", VARIANCE_RULES)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("average", [False, True])
def test_files_and_copies_continue_with_the_same_bits(tmp_path, rule, n_classes, average):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((90, 5)), rng.integers(0, n_classes, 90)
    how = {"average": average, "C": 0.3, "eta": 0.75}
    whole, model = (Perceptron(rule, **how) for _ in range(2))
    whole.partial_fit(X, y, classes=range(n_classes))
    model.partial_fit(X[:40], y[:40], classes=range(n_classes))
    model.save(tmp_path / "model")
    again = Perceptron.load(tmp_path / "model")
    assert again.get_params()["eta"] == 0.75 and again._model.settings == model._model.settings
    for part in (again, model):
        part.partial_fit(X[40:], y[40:])
        np.testing.assert_array_equal(part.coef_, whole.coef_)
        np.testing.assert_array_equal(
            part._model.learners[0].confidences, whole._model.learners[0].confidences
        )

    online = OnlinePerceptron(rule, **how, classes=list(range(n_classes)))
    rows = [{f"f{j}": v for j, v in enumerate(row)} for row in X.tolist()]
    online.learn_many(rows[:40], y[:40].tolist())
    online.save(tmp_path / "online")
    online = OnlinePerceptron.load(tmp_path / "online")
    online.learn_many(rows[40:], y[40:].tolist())
    np.testing.assert_array_equal(online.coef_, whole.coef_)
    frozen = online.freeze()
    np.testing.assert_array_equal(frozen.coef_, whole.coef_)
    for model in (frozen, whole):
        model.partial_fit(X[:20], y[:20])
    np.testing.assert_array_equal(frozen.coef_, whole.coef_)
    whole.save(tmp_path / "model")
    assert load_model(tmp_path / "model").predict(X).tolist() == whole.predict(X).tolist()


@pytest.mark.parametrize("rule", VARIANCE_RULES)
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_no_theorem_is_claimed(rule, multiclass):
    """w is not Σ τ·y·x: neither a bound nor ‖w‖/Στ ≥ γ, and w = 0 after an update proves nothing."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 4))
    y = (X @ rng.standard_normal((4, 3))).argmax(axis=1)
    model = Perceptron(rule, multiclass=multiclass, max_epochs=200, random_state=0).fit(X, y)
    report = model.report()
    assert (report.bound, report.bound_lower, report.bound_upper) == ("", 0.0, math.inf)
    assert model.margin_upper_ == math.inf
    assert "none: no theorem is known" in str(report.proof)
    if multiclass == "joint":
        found = theory.bounds(X, y, model, gap=0.01)
        assert all(bound.made is None for bound in found)
    opposite = Perceptron(rule, fit_intercept=False, max_epochs=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        opposite.fit([[1.0], [1.0]], [0, 1])
    assert opposite.verdict_ == "undecided"


def test_a_separating_run_is_proved_as_ever():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 6))
    X = X[np.abs(X @ np.arange(6)) > 1]
    y = X @ np.arange(6) > 0
    model = Perceptron("second-order", max_epochs=200, random_state=0).fit(X, y)
    assert (model.verdict_, model.training_errors_) == ("separated", 0)
    coef, intercept = model.witness_
    assert model.margin_ > 0 and ((X @ coef[0] + intercept > 0) == y).all()


def test_phi_is_stored(tmp_path):
    assert phi_of(0.9) == PHI == pytest.approx(NormalDist().inv_cdf(0.9), rel=1e-15)
    model = Perceptron("scw", eta=0.8, max_epochs=1).fit([[1.0], [-1.0]], [1, 0])
    model._model.settings = model._model.settings.__class__(rule="scw", phi=0.84, bias_square=1.0)
    model.save(tmp_path / "model")
    assert Perceptron.load(tmp_path / "model")._model.settings.phi == 0.84


def test_too_large_values_are_refused_and_change_nothing():
    for rule in VARIANCE_RULES:
        model = Perceptron(rule).partial_fit([[1.0, 2.0], [2.0, -1.0]], [0, 1])
        online = OnlinePerceptron(rule, classes=[0, 1])
        online.learn_many([({"a": 1.0, "b": 2.0}, 0), ({"a": 2.0, "b": -1.0}, 1)])
        before, state = model.coef_.copy(), online._get_state()["weights"].copy()
        with pytest.raises(OverflowError, match="scale X by"):
            model.partial_fit([[1.0, 1.0], [1e200, -1e200]], [1, 0])
        with pytest.raises(OverflowError, match="multiply all values by"):
            online.learn_one({"a": 1e200, "b": -1e200}, 0)
        np.testing.assert_array_equal(model.coef_, before)
        np.testing.assert_array_equal(online._get_state()["weights"], state)


@pytest.mark.parametrize("make", [VotedPerceptron, DistributedPerceptron])
def test_votes_and_mixtures_are_refused(make):
    with pytest.raises(ValueError, match="rule='arow' is not possible: expected one of 'perceptron'"):
        make("arow").fit([[1.0], [-1.0]], [1, 0])


@pytest.mark.parametrize("eta", [0.5, 1.0, 0.2, float("nan"), "high"])
def test_eta_is_checked(eta):
    with pytest.raises(ValueError, match=r"eta=.* is not possible: expected a number between 0.5 and 1"):
        Perceptron("scw", eta=eta).fit([[1.0], [-1.0]], [1, 0])
