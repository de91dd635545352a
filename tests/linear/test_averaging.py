"""The mean of finite weights is finite, wherever it is taken; or the fit stops with an error that says so."""

import numpy as np
import pytest

from novikoff import OnlinePerceptron, Perceptron, VotedPerceptron
from novikoff.reference.linear import Twin
from novikoff.training.averaging import mean_weights, per_visit

# Most of these data cannot be separated, and the fit rightly says so.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

HUGE, LABELS = np.array([[1e308], [-1e308]]), np.array([1, 0])


def test_averages_of_huge_weights():
    model = Perceptron(average=True, max_epochs=3, fit_intercept=False, order="cyclic").fit(HUGE, LABELS)
    twin = Twin(2, 1, bias_square=0.0)
    for _ in range(model.n_epochs_):
        twin.epoch(HUGE, LABELS)
    assert np.isfinite(model.coef_).all()
    np.testing.assert_array_equal(model.coef_, twin.average()[0])
    assert model.predict(HUGE).tolist() == LABELS.tolist()


@pytest.mark.parametrize("values", [[1e308, -1e308], [1e308, 1e308, -1.7e308], [1.7e308, 1.7e308]])
@pytest.mark.parametrize("epochs", [1, 2, 5])
def test_every_average_is_finite_or_refused(values, epochs):
    """Where the running sums themselves would overflow, an error names a power of two."""
    X, y = np.array(values)[:, None], np.arange(len(values)) % 2
    means = []
    for way in (
        lambda: Perceptron(average=True, max_epochs=epochs, fit_intercept=False, order="cyclic"),
        lambda: VotedPerceptron(
            predict_with="averaged", max_epochs=epochs, fit_intercept=False, order="cyclic"
        ),
    ):
        try:
            model = way().fit(X, y)
        except OverflowError as error:
            assert "2**-" in str(error)
            means.append(None)
            continue
        mean = model.coef_ if isinstance(model, Perceptron) else model.averaged_coef_
        assert np.isfinite(mean).all()
        assert np.isfinite(model.decision_function(X)).all() or np.abs(X).max() > 1
        means.append(mean.tolist())
    assert means[0] == means[1]


def test_online_averages_of_huge_weights():
    model = OnlinePerceptron(average=True, fit_intercept=False, classes=[0, 1])
    for _ in range(3):
        for x, label in zip(HUGE[:, 0].tolist(), LABELS.tolist(), strict=True):
            model.learn_one({"a": x}, label)
    assert np.isfinite(model.coef_).all()
    assert [model.predict_one({"a": x}) for x in HUGE[:, 0].tolist()] == LABELS.tolist()


def test_means_of_weights():
    w, u = np.array([4.0, 1e308, -1.7e308]), np.array([2.0, 1.5e308, 1.7e308])
    mean = mean_weights(w, u, 8.0)
    np.testing.assert_allclose(mean, [3.75, 1e308 - 1.5e308 / 8, -np.finfo(float).max], rtol=1e-15)


def test_scores_per_visit_keep_signs_and_winners():
    scores = np.array([[5e-324, -5e-324, 0.0], [1.0, 1.0 + 2**-52, 0.5]])
    mean = per_visit(scores, 3.0)
    np.testing.assert_array_equal(np.sign(mean), np.sign(scores))
    assert mean.argmax(axis=1).tolist() == [0, 1]
