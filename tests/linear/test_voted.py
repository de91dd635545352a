"""The voted perceptron: votes against the plain twin, storage, threads, memory, conventions."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

from novikoff import Perceptron, VotedPerceptron
from novikoff.reference.linear import Twin, vote
from novikoff.training.weights import Scorer
from support.lecture import SIX, SIX_Y
from support.strategies import datasets, hostile

# Most of these data cannot be separated, and the fit rightly says so.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def blobs(n=200, d=12, k=2, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return (rng.normal(size=(k, d))[y] + rng.normal(size=(n, d))).astype(dtype), y


@st.composite
def problems(draw, classes):
    """Integer rows with zeros among them, labels, test rows."""
    n, d = draw(st.integers(classes, 9)), draw(st.sampled_from([1, 2, 3, 5, 17, 19]))
    elements = st.integers(-3, 3).map(float)
    y = np.array(draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n)))
    y[:classes] = np.arange(classes)
    X, tests = (draw(hnp.arrays(np.float64, (rows, d), elements=elements)) for rows in (n, 5))
    return X, y, tests


# ---- against the definition --------------------------------------------------------------------------
def test_the_six_points():
    model = VotedPerceptron(order="cyclic", fit_intercept=False, max_epochs=1).fit(SIX, SIX_Y)
    assert model.support_.tolist() == [0, 2, 4]
    assert model.survived_.tolist() == [0, 2, 2, 2]
    moves = model.update_step_[:, None] * model.support_vectors_[model.update_support_]
    hypotheses = np.cumsum(moves, axis=0)
    assert hypotheses.tolist() == [[1, -2], [2, -1], [3, 1]]
    assert model.coef_.tolist() == [[3, 1]]
    np.testing.assert_allclose(model.averaged_coef_, [[2, -2 / 3]])
    grid = np.array([(a, b) for a in range(-4, 5) for b in range(-4, 5)], dtype=float)
    signs = np.where(grid @ hypotheses.T >= 0, 1, -1)
    np.testing.assert_array_equal(model.decision_function(grid), signs.sum(axis=1) / 3)
    np.testing.assert_array_equal(model.predict(grid), np.where(signs.sum(axis=1) >= 0, 1, -1))


@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize("rule", ["perceptron", "margin"])
@pytest.mark.parametrize("bias", [0.0, 1.0, 4.0])
@given(data=st.data())
def test_votes_are_the_twins(classes, rule, bias, data):
    X, y, tests = data.draw(problems(classes))
    epochs = data.draw(st.integers(1, 4))
    ties = data.draw(st.sampled_from(["positive", "mistake"]))
    twin = Twin(classes, X.shape[1], rule=rule, margin=2.0, bias_square=bias, ties=ties)
    model = VotedPerceptron(
        rule,
        margin=2.0,
        ties=ties,
        order="cyclic",
        max_epochs=epochs,
        fit_intercept=bias > 0,
        intercept_scaling=np.sqrt(bias) if bias else 1.0,
    ).fit(X, y)
    expected = vote(X, y, np.tile(np.arange(len(X)), model.n_epochs_), tests, twin)
    assert model.predict(tests).tolist() == expected
    assert model.n_updates_ == twin.updates
    assert model.survived_.sum() == twin.visits
    scores = model.decision_function(tests)
    assert (scores >= 0 if classes == 2 else scores.argmax(axis=1)).astype(int).tolist() == expected


def test_a_rounded_hypothesis_votes_for_itself():
    """The weights that the run held are rounded; prefix sums, which are not, cancel to 0."""
    X, y = np.array([[-1 / 3], [-1.0]]), np.array([0, 1])
    model = VotedPerceptron(fit_intercept=False, order="cyclic", max_epochs=3).fit(X, y)
    assert model.predict([[1 / 3]]).tolist() == [0]
    assert model.decision_function([[1 / 3]]).tolist() == [-4 / 6]


@pytest.mark.parametrize("classes", [2, 3, 5])
@given(data=st.data())
def test_votes_are_those_of_the_weights_that_the_run_held(classes, data):
    """Decimals, cancellation, and sizes at every threshold: by each w_k as training rounded it, exactly."""
    X, y = data.draw(datasets(classes, hostile, max_rows=8, max_features=3))
    rule = data.draw(st.sampled_from(["perceptron", "normalized", "pa1"]))
    bias = data.draw(st.sampled_from([0.0, 1.0, 0.01, 1e-200, 1e200]))
    epochs = data.draw(st.integers(1, 3))
    tests = np.vstack([X, -X, X[::-1] * data.draw(st.sampled_from([0.7, 0.1, 1 / 3]))])
    size = {"fit_intercept": bias > 0, "intercept_scaling": np.sqrt(bias) if bias else 1.0}
    model = VotedPerceptron(rule, order="cyclic", max_epochs=epochs, scale=None, **size)
    try:
        model.fit(X, y)
    except OverflowError:
        return
    twin = Twin(classes, X.shape[1], rule=rule, bias_square=model._model.settings.bias_square)
    with np.errstate(over="ignore", invalid="ignore"):  # of running sums that nobody asks for
        expected = vote(X, y, np.tile(np.arange(len(X)), model.n_epochs_), tests, twin)
    assert model.predict(tests).tolist() == expected
    assert model.predict(sp.csr_array(tests)).tolist() == expected
    sparse = VotedPerceptron(rule, order="cyclic", max_epochs=epochs, scale=None, **size).fit(
        sp.csr_array(X), y
    )
    assert sparse.predict(tests).tolist() == expected


@pytest.mark.parametrize("classes", [2, 3])
def test_thousands_of_votes_on_decimals(classes):
    """Many a score is 0 because weights were rounded, or would be if they had not been."""
    rng = np.random.default_rng(classes)
    for _ in range(12):
        d = int(rng.integers(1, 4))
        X, y = rng.integers(-3, 4, (12, d)) / 10, rng.integers(0, classes, 12)
        y[:classes] = np.arange(classes)
        tests = rng.integers(-5, 6, (100, d)) / 10
        bias = bool(rng.integers(2))
        model = VotedPerceptron(fit_intercept=bias, order="cyclic", max_epochs=4).fit(X, y)
        twin = Twin(classes, d, bias_square=float(bias))
        expected = vote(X, y, np.tile(np.arange(12), model.n_epochs_), tests, twin)
        assert model.predict(tests).tolist() == expected


@pytest.mark.parametrize("classes", [2, 4])
def test_doubtful_votes_in_many_blocks(classes):
    """Rows of one value: sums are within rounding of 0 again and again; against weights written out."""
    rng = np.random.default_rng(3)
    X = 0.18257 * (rng.random((90, 40)) < 0.3)
    y, tests = rng.integers(0, classes, 90), 0.18257 * (rng.random((113, 40)) < 0.3)
    found = []
    for layout, rows in ((X, tests), (sp.csr_array(X), sp.csr_array(tests)), (X, sp.csr_array(tests))):
        model = VotedPerceptron(fit_intercept=False, order="cyclic", max_epochs=3, n_jobs=2).fit(layout, y)
        found.append(model.decision_function(rows))
    votes = np.zeros((113, classes), dtype=int)
    W, b = np.zeros((1 if classes == 2 else classes, 40)), np.zeros(1 if classes == 2 else classes)

    def cast(count):
        votes[np.arange(113), Scorer.from_weights(W, b).predict(tests)] += count

    cast(model.survived_[0])
    for k, (m, tau) in enumerate(zip(model.update_support_, model.update_step_, strict=True)):
        z = model.support_vectors_[m]
        for c, step in (
            ((0, tau),) if classes == 2 else ((model.update_label_[k], tau), (model.update_rival_[k], -tau))
        ):
            W[c] += step * z
        cast(model.survived_[k + 1])
    visits = model.survived_.sum()
    expected = (votes[:, 1] - votes[:, 0]) / visits if classes == 2 else votes / visits
    for scores in found:
        np.testing.assert_array_equal(scores, expected)


@pytest.mark.parametrize("classes", [2, 4])
def test_votes_of_many_columns_and_rows(classes):
    """More rows, supports and columns than one block of each; against weight vectors written out."""
    rng = np.random.default_rng(1)
    X, y = rng.integers(-2, 3, (150, 2100)).astype(np.float32), rng.integers(0, classes, 150)
    tests = rng.integers(-2, 3, (131, 2100)).astype(np.float32)
    model = VotedPerceptron(order="cyclic", max_epochs=2).fit(X, y)
    votes = np.zeros((131, classes), dtype=int)
    W, b = np.zeros((classes, 2100)), np.zeros(classes)

    def cast(count):
        s = tests @ W.T + b
        chosen = (s[:, 1] >= s[:, 0]).astype(int) if classes == 2 else s.argmax(axis=1)
        votes[np.arange(131), chosen] += count

    cast(model.survived_[0])
    for k, (m, tau) in enumerate(zip(model.update_support_, np.abs(model.update_step_), strict=True)):
        for c, step in ((model.update_label_[k], tau), (model.update_rival_[k], -tau)):
            W[c] += step * model.support_vectors_[m]
            b[c] += step
        cast(model.survived_[k + 1])
    visits = model.survived_.sum()
    expected = (votes[:, 1] - votes[:, 0]) / visits if classes == 2 else votes / visits
    np.testing.assert_array_equal(model.decision_function(tests), expected)


# ---- the same votes, however stored ------------------------------------------------------------------
@pytest.mark.parametrize("classes", [2, 3])
@given(data=st.data())
def test_storage_does_not_matter(classes, data):
    n, d = data.draw(st.integers(classes, 20)), data.draw(st.integers(1, 40))
    values = st.one_of(st.just(0.0), st.floats(-1e3, 1e3, width=32))
    X = data.draw(hnp.arrays(np.float32, (n, d), elements=values))
    tests = data.draw(hnp.arrays(np.float32, (30, d), elements=values))
    y = np.arange(n) % classes
    models = [
        VotedPerceptron("normalized", order="cyclic", max_epochs=3).fit(A, y)
        for A in (X, X.astype(np.float64), sp.csr_array(X), sp.csr_array(X.astype(np.float64)))
    ]
    expected = models[0].decision_function(tests)
    for model in models:
        for T in (tests, tests.astype(np.float64), sp.csr_array(tests), np.asfortranarray(tests)):
            np.testing.assert_array_equal(model.decision_function(T), expected)


@pytest.mark.parametrize("classes", [2, 5])
def test_storage_and_threads_on_wide_rows(classes):
    X, y = blobs(300, 2050, classes, seed=3)
    X[np.random.default_rng(0).random(X.shape) < 0.9] = 0
    model = VotedPerceptron(random_state=0, max_epochs=2).fit(X, y)
    expected = model.decision_function(X)
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    sparse = clone(model).fit(wide, y)
    assert sparse.support_vectors_.format == "csr"
    for one in (model, sparse):
        for jobs in (1, 2, 3):
            one.set_params(n_jobs=jobs)
            np.testing.assert_array_equal(one.decision_function(X), expected)
            np.testing.assert_array_equal(one.decision_function(wide), expected)


def test_one_row_or_many_at_a_time():
    X, y = blobs(100, 20, 3)
    model = VotedPerceptron(random_state=0, max_epochs=3).fit(X, y)
    rows = np.concatenate([model.decision_function(X[i : i + 1]) for i in range(100)])
    np.testing.assert_array_equal(rows, model.decision_function(X))


def test_unsorted_indices_are_put_in_order():
    X, y = blobs(60, 9)
    A = sp.csr_array(X)
    order = np.concatenate([np.arange(p + 8, p - 1, -1) for p in A.indptr[:-1]])
    B = sp.csr_array((A.data[order], A.indices[order], A.indptr), shape=A.shape)
    dense, other = (VotedPerceptron(order="cyclic", max_epochs=3).fit(Z, y) for Z in (X, B))
    np.testing.assert_array_equal(other.support_vectors_.toarray(), dense.support_vectors_)
    np.testing.assert_array_equal(other.decision_function(B), dense.decision_function(X))


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**500, 2.0**1000])
@pytest.mark.parametrize("sparse", [False, True])
def test_sizes_that_overflow_when_multiplied(scale, sparse):
    X, y = blobs(80, 6)
    kind = sp.csr_array if sparse else np.asarray
    for rule in ("perceptron", "normalized"):
        plain = VotedPerceptron(rule, order="cyclic", fit_intercept=False, max_epochs=3).fit(X, y)
        scaled = clone(plain).fit(kind(X * scale), y)
        np.testing.assert_array_equal(scaled.decision_function(kind(X * scale)), plain.decision_function(X))
        np.testing.assert_array_equal(scaled.decision_function(kind(X)), plain.decision_function(X))


# ---- last and averaged -------------------------------------------------------------------------------
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("rule", ["perceptron", "normalized", "margin", "pa1"])
def test_last_and_averaged_are_the_perceptrons(classes, rule):
    X, y = blobs(150, 10, classes)
    weights = np.random.default_rng(1).integers(0, 3, 150).astype(float)
    common = {"rule": rule, "margin": 0.5, "max_epochs": 4, "random_state": 7, "class_weight": "balanced"}
    voted = VotedPerceptron(**common).fit(X, y, sample_weight=weights)
    last = Perceptron(**common, average=False).fit(X, y, sample_weight=weights)
    mean = Perceptron(**common, average=True).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(voted.coef_, last.coef_)
    np.testing.assert_array_equal(voted.intercept_, last.intercept_)
    np.testing.assert_array_equal(voted.averaged_coef_, mean.coef_)
    np.testing.assert_array_equal(voted.averaged_intercept_, mean.intercept_)
    for way, other in (("last", last), ("averaged", mean), ("last", last)):
        voted.set_params(predict_with=way)
        np.testing.assert_array_equal(voted.decision_function(X), other.decision_function(X))
        np.testing.assert_array_equal(voted.predict(X), other.predict(X))
    assert voted.n_mistakes_ == last.n_mistakes_ and voted.verdict_ == last.verdict_
    assert (voted.radius_, voted.margin_) == (last.radius_, last.margin_)


def test_training_errors_are_of_the_way_of_predicting():
    X, y = SIX, SIX_Y
    ways = ("voted", "averaged", "last")
    fitted = {w: VotedPerceptron(predict_with=w, order="cyclic", max_epochs=9).fit(X, y) for w in ways}
    for model in fitted.values():
        assert model.training_errors_ == (model.predict(X) != y).sum()
    assert "separated" in str(fitted["voted"].report())


# ---- what is stored ----------------------------------------------------------------------------------
@pytest.mark.parametrize("order", ["shuffle", "cyclic", "worst"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_memory_is_the_supports_and_the_updates(order, classes, dtype):
    X, y = blobs(60, 8, classes)
    X = (X * 10 + 100).astype(dtype)
    model = VotedPerceptron(order=order, max_epochs=5, random_state=1).fit(X, y)
    assert len(np.unique(model.support_)) == len(model.support_) <= len(X)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    assert model.support_vectors_.dtype == dtype
    used, first = np.unique(model.update_support_, return_index=True)
    assert used.tolist() == list(range(len(model.support_)))  # each caused an update,
    assert (np.diff(first) > 0).all()  # and they lie in the order in which they first did
    for name in ("update_support_", "update_step_", "update_label_", "update_rival_"):
        assert getattr(model, name).shape == (model.n_updates_,)
    assert model.survived_.shape == (model.n_updates_ + 1,)
    assert (model.survived_[1:] >= 1).all() and model.survived_[0] >= 0
    visits = model.n_epochs_ * len(X)
    assert model.survived_.sum() == visits if order != "worst" else model.survived_.sum() == model.n_updates_
    np.testing.assert_array_equal(model.update_label_, y[model.support_[model.update_support_]])
    if classes == 2:
        np.testing.assert_array_equal(model.update_step_ > 0, model.update_label_ == 1)


def test_a_model_takes_no_more_than_it_says():
    X, y = blobs(3000, 50)
    model = VotedPerceptron(max_epochs=2, random_state=0).fit(X, y)
    size = len(pickle.dumps(model._sequence))
    assert size < model.support_vectors_.nbytes + 8 * len(model.support_) + 40 * model.n_updates_ + 5000


def test_rows_without_weight_leave_no_trace():
    X, y = blobs(90, 5)
    weights = (np.arange(90) % 3 > 0).astype(float)
    model = VotedPerceptron(order="cyclic", max_epochs=3).fit(X, y, sample_weight=weights)
    kept = VotedPerceptron(order="cyclic", max_epochs=3).fit(X[weights > 0], y[weights > 0])
    assert (weights[model.support_] > 0).all()
    np.testing.assert_array_equal(model.support_vectors_, kept.support_vectors_)
    np.testing.assert_array_equal(model.decision_function(X), kept.decision_function(X))
    assert model.survived_.sum() == 3 * 60


def test_no_update_at_all():
    X = np.array([[1.0], [2.0]])
    model = VotedPerceptron(max_epochs=3).partial_fit(X, [1, 1], classes=[0, 1])
    assert model.n_updates_ == 0 and model.survived_.tolist() == [2]
    assert model.support_vectors_.shape == (0, 1)
    assert model.decision_function(X).tolist() == [1.0, 1.0]


# ---- going on ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("classes", [2, 3])
def test_partial_fit_is_fit(kind, classes):
    X, y = blobs(120, 7, classes)
    whole = VotedPerceptron(order="cyclic", max_epochs=1).fit(kind(X), y)
    parts = VotedPerceptron()
    for cut in np.split(np.arange(120), [1, 2, 50, 80]):
        parts.partial_fit(kind(X[cut]), y[cut], classes=np.arange(classes))
        parts.predict(X[:3])
    updates = ("update_support_", "update_step_", "update_label_", "update_rival_")
    for name in ("support_", *updates, "survived_", "coef_", "averaged_coef_"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    assert type(parts.support_vectors_) is type(whole.support_vectors_)
    np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))


def test_partial_fit_after_fit_pickle_and_other_storage():
    X, y = blobs(100, 7)
    model = VotedPerceptron(order="cyclic", max_epochs=1).fit(X[:40].astype(np.float32).astype(float), y[:40])
    model = pickle.loads(pickle.dumps(model))
    model.partial_fit(sp.csr_array(X[40:70]), y[40:70]).partial_fit(X[70:].astype(np.float32), y[70:])
    assert model.support_vectors_.dtype == np.float64 and isinstance(model.support_vectors_, np.ndarray)
    assert model.support_.max() < 100 and model.survived_.sum() == 100
    same = X.copy()
    same[:40], same[70:] = X[:40].astype(np.float32), X[70:].astype(np.float32)
    whole = VotedPerceptron(order="cyclic", max_epochs=1).fit(same, y)
    np.testing.assert_array_equal(model.decision_function(X), whole.decision_function(X))


def test_partial_fit_refuses_new_classes_and_stays_as_it_was():
    X, y = blobs(40, 4)
    model = VotedPerceptron().partial_fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="not declared"):
        model.partial_fit(X, np.full(40, 2))
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="row 3, column 1"):
        bad = X.copy()
        bad[3, 1] = np.nan
        model.partial_fit(bad, y)
    with pytest.raises(ValueError, match="rule, bias or averaging"):
        clone(model).partial_fit(X, y).set_params(rule="margin").partial_fit(X, y)
    with pytest.raises(ValueError, match="only one class"):
        VotedPerceptron().partial_fit(X, np.zeros(40), classes=[0])
    with pytest.raises(ValueError, match="class_weight names classes"):
        VotedPerceptron(class_weight={5: 1.0}).partial_fit(X, y)
    with pytest.raises(ValueError, match="all rows at once"):
        VotedPerceptron(class_weight="balanced").partial_fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), before)


# ---- conventions -------------------------------------------------------------------------------------
def test_pickle_clone_and_model_selection():
    X, y = blobs(120, 6, 3)
    model = VotedPerceptron(random_state=0, max_epochs=3).fit(X, y)
    model.predict(X)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    with pytest.raises(AttributeError, match="not been fitted"):
        _ = clone(model).support_
    assert cross_val_score(model, X, y, cv=3).mean() > 0.6
    search = GridSearchCV(model, {"predict_with": ["voted", "averaged", "last"]}, cv=3).fit(X, y)
    assert set(search.cv_results_["param_predict_with"]) == {"voted", "averaged", "last"}


def test_classes_of_any_kind():
    X, y = blobs(60, 6, 3)
    names = np.array(["ant", "bee", "cat"])
    model = VotedPerceptron(random_state=0, max_epochs=3).fit(X, names[y])
    assert set(model.predict(X)) <= set(names)
    shares = model.decision_function(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(names[shares.argmax(axis=1)], model.predict(X))


def test_unseparated_data_are_said_to_be(monkeypatch):
    both = np.vstack([SIX, SIX]), np.concatenate([SIX_Y, -SIX_Y])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        VotedPerceptron(order="cyclic").fit(SIX, SIX_Y)
        assert VotedPerceptron().fit(*both).verdict_ == "inseparable"  # proved, so no warning is due
        monkeypatch.setattr("novikoff.linear.voted.ask", lambda *rows, **how: None)
        with pytest.raises(ConvergenceWarning, match="The training rows were not separated"):
            VotedPerceptron().fit(*both)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("jobs", [1, 2])
def test_bad_input(kind, jobs):
    X, y = blobs(120, 6)
    model = VotedPerceptron(max_epochs=2, n_jobs=jobs).fit(kind(X), y)
    for value, shown in ((np.nan, "NaN"), (np.inf, "infinity")):
        bad = X.copy()
        bad[100, 4] = value
        with pytest.raises(ValueError, match=f"{shown} at row 100, column 4"):
            model.predict(kind(bad))
    with pytest.raises(ValueError, match="X has 5 features"):
        model.predict(kind(X[:, :5]))
    model.predict_with = "best"
    for call in (model.predict, model.decision_function, lambda X: model.fit(X, y)):
        with pytest.raises(ValueError, match=r"predict_with='best' is not possible.*'voted'"):
            call(kind(X))


def test_supports_that_were_tampered_with_are_refused():
    X, y = blobs(50, 6)
    model = VotedPerceptron(max_epochs=2).fit(sp.csr_array(X), y)
    model.support_vectors_.indices[:] = 1000
    with pytest.raises(ValueError, match="out of order or range"):
        model.predict(X)


def test_an_interrupted_fit_leaves_a_usable_model():
    X, y = blobs(100, 5)

    def stop(record):
        if record["epoch"] == 2:
            raise KeyboardInterrupt

    model = VotedPerceptron(order="cyclic", callback=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    two = VotedPerceptron(order="cyclic", max_epochs=2).fit(X, y)
    assert model.survived_.sum() == 200
    np.testing.assert_array_equal(model.decision_function(X), two.decision_function(X))


def test_a_chunk_without_weight_leaves_nothing():
    X, y = blobs(20, 4, 3)
    model = VotedPerceptron(class_weight={0: 0, 1: 0, 2: 0}).partial_fit(X, y)
    assert model.survived_.tolist() == [0] and (model.predict(X) == 0).all()
    assert not model.decision_function(X).any()
