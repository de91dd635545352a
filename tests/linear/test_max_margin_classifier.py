"""The hard-margin support vector machine: its definition, its bracket, and its peers."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import novikoff
from novikoff import MaxMarginClassifier, datasets
from novikoff.theory import certify, max_margin
from support.lecture import SIX, SIX_Y


@pytest.fixture
def rows():
    """Rows whose largest margin without a bias is known: 0.1."""
    return datasets.separable(200, 4, 0.1, random_state=1)


def test_the_six_points():
    """γ = 1 at u = (1, 0), which is also u/γ; every point but (−1, ±2) and (1, −1) may support it."""
    model = MaxMarginClassifier(1e-9, fit_intercept=False).fit(SIX, SIX_Y)
    np.testing.assert_allclose(model.coef_, [[1, 0]], atol=1e-8)
    assert model.margin_ <= 1 <= model.margin_upper_ and model.margin_upper_ - model.margin_ < 1e-8
    assert model.intercept_.tolist() == [0.0]
    scores = SIX_Y * model.decision_function(SIX)
    assert scores.min() == pytest.approx(1)


def test_margin_and_bracket(rows):
    """The known γ is between the bounds; every row is at distance γ or more, and the supports near it."""
    model = MaxMarginClassifier(1e-6, fit_intercept=False).fit(rows.X, rows.y)
    assert model.margin_ * (1 - 1e-9) <= 0.1 <= model.margin_upper_ * (1 + 1e-9)
    own = rows.y * model.decision_function(rows.X)
    assert own.min() >= 1 - 1e-9
    np.testing.assert_allclose(own[model.support_], 1, atol=1e-2)
    assert np.linalg.norm(model.coef_) == pytest.approx(1 / model.margin_, rel=1e-9)
    near = model.dual_coef_ @ rows.X[model.support_] / model.margin_**2
    np.testing.assert_allclose(near, model.coef_, rtol=1e-3, atol=1e-3 / model.margin_)
    assert np.abs(model.dual_coef_).sum() == pytest.approx(1)
    assert (np.sign(model.dual_coef_[0]) == rows.y[model.support_]).all()


def test_it_is_max_margin_and_a_linear_svm(rows):
    """The same numbers as `theory.max_margin`, and the direction of LinearSVC with a large C."""
    model = MaxMarginClassifier(1e-5).fit(rows.X, rows.y)
    found = max_margin(rows.X, rows.y, gap=1e-5)
    assert (model.margin_, model.margin_upper_) == (found.lower, found.upper)
    peer = LinearSVC(C=1e4, loss="hinge", max_iter=200_000, random_state=0).fit(rows.X, rows.y)
    ours, theirs = (np.append(m.coef_[0], m.intercept_[0]) for m in (model, peer))
    assert ours @ theirs / np.linalg.norm(ours) / np.linalg.norm(theirs) > 0.999


def test_a_gap_ends_the_search_early():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30))
    y = X @ rng.normal(size=30) > 0
    coarse, fine = (MaxMarginClassifier(gap).fit(X, y) for gap in (0.3, 1e-4))
    assert coarse.margin_ <= fine.margin_ <= fine.margin_upper_ <= coarse.margin_upper_
    assert coarse.n_passes_ <= fine.n_passes_
    assert fine.margin_upper_ - fine.margin_ <= 1e-4 * fine.margin_upper_


def test_three_classes():
    """w_y·x ≥ w_c·x + 1 for every other class: γ is that of joint weights, ‖W‖ = 1/γ."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    y = (X @ rng.normal(size=(3, 3))).argmax(axis=1)
    labels = np.array(["x", "y", "z"])[y]
    model = MaxMarginClassifier(1e-4, fit_intercept=False).fit(X, labels)
    scores = model.decision_function(X)
    own = scores[np.arange(60), y]
    scores[np.arange(60), y] = -np.inf
    assert (own - scores.max(axis=1)).min() == pytest.approx(1, rel=1e-6)
    assert np.linalg.norm(model.coef_) == pytest.approx(1 / model.margin_, rel=1e-6)
    near = model.dual_coef_ @ X[model.support_] / model.margin_**2
    assert np.sum(near * model.coef_) / np.linalg.norm(near) / np.linalg.norm(model.coef_) > 0.999
    assert (model.predict(X) == labels).all()


def test_inseparable_rows_are_refused_and_nothing_changes(rows):
    model = MaxMarginClassifier().fit(rows.X, rows.y)
    before = model.coef_.copy()
    y = rows.y.copy()
    y[:20] *= -1
    with pytest.raises(ValueError, match="no hard margin"):
        model.fit(rows.X, y)
    np.testing.assert_array_equal(model.coef_, before)
    with pytest.raises(ValueError, match="no hard margin"):
        MaxMarginClassifier().fit([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])


@pytest.mark.parametrize(
    "kind", [sp.csr_array, lambda X: X.astype(np.float32).astype(float), np.asfortranarray]
)
def test_storage_does_not_matter(rows, kind):
    X = np.round(rows.X * 64) / 64  # float32 holds it
    y = np.where(X @ rows.u > 0, 1, -1)
    dense, other = MaxMarginClassifier().fit(X, y), MaxMarginClassifier().fit(kind(X), y)
    np.testing.assert_allclose(dense.coef_, other.coef_, rtol=1e-2, atol=1e-2 * np.abs(dense.coef_).max())
    np.testing.assert_array_equal(dense.predict(X), other.predict(kind(X)))


def test_scikit_learn_can_use_it(rows):
    model = make_pipeline(StandardScaler(), MaxMarginClassifier(1e-2))
    search = GridSearchCV(model, {"maxmarginclassifier__intercept_scaling": [1.0, 10.0]}, cv=3)
    assert search.fit(rows.X, rows.y).best_score_ > 0.9
    assert clone(MaxMarginClassifier(0.5, fit_intercept=False)).get_params()["gap"] == 0.5
    with pytest.raises(ValueError, match="gap=-1"):
        MaxMarginClassifier(-1).fit(rows.X, rows.y)


def test_saved_as_a_linear_model(rows, tmp_path):
    names = np.where(rows.y > 0, "spam", "ham")
    model = MaxMarginClassifier().fit(rows.X, names)
    model.save(tmp_path / "svm.novikoff")
    loaded = novikoff.load_model(tmp_path / "svm.novikoff")
    assert loaded.predict(rows.X).tolist() == model.predict(rows.X).tolist()
    np.testing.assert_array_equal(loaded.scores(rows.X), model.decision_function(rows.X))
    again = MaxMarginClassifier.load(tmp_path / "svm.novikoff")
    assert (again.margin_, again.margin_upper_) == (model.margin_, model.margin_upper_)
    novikoff.Perceptron().fit(rows.X, names).save(tmp_path / "other.novikoff")
    with pytest.raises(ValueError, match="holds a Perceptron"):
        MaxMarginClassifier.load(tmp_path / "other.novikoff")


def test_it_can_be_certified(rows):
    model = MaxMarginClassifier().fit(rows.X, rows.y)
    assert any("separable" in claim or "separates" in claim for claim in certify(rows.X, rows.y, model).said)


def test_columns_of_a_frame(rows):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(rows.X, columns=list("abcd"))
    model = MaxMarginClassifier().fit(frame, rows.y)
    assert model.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_array_equal(model.predict(frame[list("dcba")]), model.predict(frame))
