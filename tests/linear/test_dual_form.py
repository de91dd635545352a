"""w = Σ α_i·y_i·x̃_i: the weights of every fit, from the rows alone."""

import numpy as np
import pytest
import scipy.sparse as sp

from novikoff import Perceptron
from novikoff.theory import trace
from support.lecture import SIX, SIX_Y
from support.marks import may_not_separate

pytestmark = may_not_separate


def data(k=2, n=60):
    rng = np.random.default_rng(k)
    X = rng.normal(size=(n, 4)).round(2)
    y = (X @ rng.normal(size=(4, k))).argmax(axis=1)
    y[:5] = rng.integers(0, k, 5)
    return X, np.array(["a", "b", "c"])[y]


def check(model, X, y, found, c=1.0):
    """The weights by the sum, within rounding."""
    lifted = np.hstack([X, np.full((len(X), 1), c)]) if model.fit_intercept else X
    coef, intercept = model._model.coef(averaged=found.averaged)
    if found.alpha.ndim == 1:
        signed = (found.alpha * np.where(y == model.classes_[1], 1, -1))[:, None]
    else:
        signed = found.alpha
    w = signed.T @ lifted
    if found.factors is not None:
        w[:, : X.shape[1]] *= found.factors**2
    np.testing.assert_allclose(w[:, : X.shape[1]], coef, rtol=1e-9, atol=1e-9)
    if model.fit_intercept:
        np.testing.assert_allclose(c * w[:, -1], intercept, rtol=1e-9, atol=1e-9)
    assert found.support.tolist() == np.flatnonzero(np.abs(found.alpha).reshape(len(X), -1).sum(1)).tolist()


@pytest.mark.parametrize("rule", ["perceptron", "normalized", "margin", "pa", "pa1", "pa2"])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("order", ["cyclic", "shuffle", "riffle", "worst"])
def test_the_sum_is_the_weights(rule, k, order):
    X, y = data(k)
    model = Perceptron(rule, order=order, random_state=3, max_epochs=5, average=order != "worst", margin=0.5)
    model.fit(X, y)
    for averaged in (False, True) if order != "worst" else (False,):
        found = model.dual(X, y, averaged=averaged)
        check(model, X, y, found)
        if k == 2:
            assert (found.alpha >= 0).all()
    assert sum(found.updates_by_class.values()) == model.n_updates_


@pytest.mark.parametrize(
    "options", [{}, {"max_epochs": "auto"}, {"multiclass": "ovr"}, {"class_weight": "balanced"}]
)
def test_other_fits(options):
    """The defaults of Perceptron, one-vs-rest, weights of classes."""
    X, y = data(3)
    model = Perceptron(random_state=0, **{"max_epochs": 10} | options).fit(X, y)
    found = model.dual(X, y)
    assert found.averaged == (model.predicts_with_ == "averaged")
    check(model, X, y, found)


def test_sample_weights_and_sparse_rows():
    """α has an entry for every row given, also for those of weight 0."""
    X, y = data()
    weights = np.where(np.arange(60) % 7 == 0, 0.0, 1 + np.arange(60) % 3)
    model = Perceptron(random_state=0, max_epochs=4, intercept_scaling=2.0, average=False)
    model.fit(sp.csr_array(X), y, sample_weight=weights)
    found = model.dual(sp.csr_array(X), y, weights)
    assert not found.alpha[::7].any()
    check(model, X, y, found, c=2.0)


def test_scaled_columns():
    """Columns learned times powers of two f: w_j = f_j²·Σ α·y·x_j; with 'standard' the scaled rows."""
    X, y = data()
    X = X * [1.0, 1000.0, 1e-3, 1.0]
    model = Perceptron(random_state=0).fit(X, y)
    found = model.dual(X, y)
    assert found.factors is not None and len(np.unique(found.factors)) > 1
    check(model, X, y, found)
    assert Perceptron(random_state=0, scale=None).fit(X, y).dual(X, y).factors is None
    model = Perceptron(random_state=0, scale="standard").fit(X, y)
    check(model, np.asarray(model.scaling_.of(X)), y, model.dual(X, y))


def test_the_six_points_as_in_the_trace():
    """Mistakes on a positive: 1; on negatives: 2."""
    model = Perceptron(fit_intercept=False, order="cyclic").fit(SIX, SIX_Y)
    found, run = model.dual(SIX, SIX_Y), trace(SIX, SIX_Y, [1.0, 0.0], fit_intercept=False)
    np.testing.assert_array_equal(found.alpha, run.alpha)
    assert found.mistakes_by_class == run.mistakes_by_class == {-1: 2, 1: 1}
    assert str(found).startswith("last weights from 3 of 6 rows") and "2 on -1, 1 on 1" in str(found)


def test_what_cannot_be_repeated_is_refused():
    X, y = data()
    with pytest.raises(ValueError, match="drawn at random"):
        Perceptron().fit(X, y).dual(X, y)
    with pytest.raises(ValueError, match="other weights"):
        Perceptron(random_state=0).fit(X, y).dual(X[::-1], y[::-1])
    with pytest.raises(ValueError, match="no sum"):
        Perceptron("arow", random_state=0).fit(X, y).dual(X, y)
    with pytest.raises(ValueError, match="early_stopping"):
        Perceptron(random_state=0, early_stopping=True).fit(X, y).dual(X, y)
    with pytest.raises(ValueError, match="no averaged weights"):
        Perceptron(random_state=0, average=False).fit(X, y).dual(X, y, averaged=True)
    with pytest.raises(ValueError, match="updates_by_class"):
        Perceptron("pa", random_state=0).fit(X, y).dual(X, y).mistakes_by_class  # noqa: B018
