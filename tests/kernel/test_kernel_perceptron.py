"""KernelPerceptron: update for update the definition's, whatever the blocks, the cache and the threads."""

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score

from novikoff import KernelPerceptron, Perceptron
from novikoff.kernel import dual
from novikoff.kernel import dual_model as dualmodel
from novikoff.kernel.dual import least_bytes
from novikoff.kernel.kernels import BY_NAME
from novikoff.reference.dual import DualTwin, tensor_power
from support.marks import may_not_separate
from support.strategies import datasets, integers

pytestmark = may_not_separate

ORDERS = st.sampled_from(["shuffle", "cyclic", "worst"])
TIES = st.sampled_from(["positive", "mistake"])
MULTICLASS = st.sampled_from(["ovr", "joint"])


def sequence(model):
    """The updates, each as a row, the visits before it, and what it added to α."""
    rows = model.support_[model.update_order_].tolist()
    moves = model.update_moves_.reshape(len(rows), -1).tolist()
    return [(r, v, tuple(m)) for r, v, m in zip(rows, model.update_visits_.tolist(), moves, strict=True)]


def twin_of(model, gram, y, epochs):
    """The twin after the same epochs."""
    classes = len(model.classes_)
    joint = model.multiclass == "joint" and classes > 2
    twin = DualTwin(gram, y, classes, joint, model.ties)
    rng = np.random.default_rng(model.random_state)
    for _ in range(epochs):
        if model.order == "worst":
            if twin.worst_epoch():
                break
        else:
            before = len(twin.updates)
            twin.epoch(rng.permutation(len(y)) if model.order == "shuffle" else range(len(y)))
            if len(twin.updates) == before:
                break
    return twin


def gram_of(model, X, Z):
    """The kernel's own values of rows with rows, one by one."""
    kernel, out = model._dual.kernel, np.empty((X.shape[0], Z.shape[0]))
    for j in range(Z.shape[0]):
        line = np.empty((X.shape[0], 1))
        kernel.panels(Z)(np.array([j])).values(kernel.rows(X), 0, X.shape[0], line)
        out[:, j] = line[:, 0]
    return out


# ---- the explicit expansion --------------------------------------------------------------------------
@given(
    datasets(3, st.just(integers)),
    st.sampled_from([1, 2, 3]),
    ORDERS,
    TIES,
    MULTICLASS,
    st.booleans(),
    st.data(),
)
def test_poly_is_the_perceptron_on_the_tensor_power(data, degree, order, ties, multiclass, bias, draw):
    """(1 + x·z)^d is the inner product of d-fold tensor powers of (1, x): the same updates in any order."""
    X, y = data
    n_classes = draw.draw(st.sampled_from([2, 3]))
    y = np.minimum(y, n_classes - 1)
    form = draw.draw(st.sampled_from([np.float64, np.float32, np.uint8, sp.csr_array]))
    X = np.abs(X) if form is np.uint8 else X
    stored = sp.csr_array(X) if form is sp.csr_array else X.astype(form)
    same = {"order": order, "ties": ties, "multiclass": multiclass, "fit_intercept": bias, "random_state": 3}
    model = KernelPerceptron("poly", degree=degree, gamma=1, max_epochs=4, **same).fit(stored, y)
    primal = Perceptron(max_epochs=4, average=False, **same).fit(tensor_power(X, degree), y)
    w = np.atleast_2d(model.dual_coef_ @ tensor_power(X[model.support_], degree))
    assert np.array_equal(w, primal.coef_)
    assert (model.n_updates_, model.n_mistakes_) == (primal.n_updates_, primal.n_mistakes_)
    assert [r["mistakes"] for r in model.history_] == [r["mistakes"] for r in primal.history_]
    assert (model.verdict_, model.converged_) == (primal.verdict_, primal.converged_)
    assert model.radius_ == pytest.approx(primal.radius_, rel=1e-12)
    assert model.margin_upper_ == pytest.approx(primal.margin_upper_, rel=1e-12)
    if model.verdict_ == "separated":
        assert model.margin_ == pytest.approx(primal.margin_, rel=1e-9)
    assert model.report().compensated == 0


@given(datasets(3, st.just(integers)), ORDERS, MULTICLASS)
def test_dual_linear_is_primal(data, order, multiclass):
    """Scores by the last and the averaged weights too."""
    X, y = data
    same = {
        "order": order,
        "multiclass": multiclass,
        "max_epochs": 3,
        "random_state": 0,
        "fit_intercept": True,
    }
    model = KernelPerceptron("linear", **same).fit(X, y)
    primal = Perceptron(**same, average=True).fit(X, y)
    if order != "worst" or multiclass == "joint":  # worst, apart: classes that are calm go on counting visits
        model.set_params(predict_with="averaged")
        np.testing.assert_allclose(model.decision_function(X), primal.decision_function(X), atol=1e-12)
    last = primal.set_params(average=False).fit(X, y)
    assert np.array_equal(
        model.set_params(predict_with="last").decision_function(X), last.decision_function(X)
    )
    assert np.array_equal(model.predict(X), last.predict(X))


# ---- the twin ----------------------------------------------------------------------------------------
@given(
    datasets(3, max_rows=9, max_features=3), st.sampled_from(BY_NAME), ORDERS, TIES, MULTICLASS, st.booleans()
)
def test_every_kernel_makes_the_updates_of_its_gram_matrix(data, name, order, ties, multiclass, bias):
    X, y = data
    X = np.where(np.abs(X) < 1e-100, 0.0, X)  # which the cosine refuses, its squares being too small
    X = np.abs(X) if name == "chi2" else X
    model = KernelPerceptron(
        name, order=order, ties=ties, multiclass=multiclass, fit_intercept=bias, max_epochs=3, random_state=1
    ).fit(X, y)
    gram = gram_of(model, X, X)
    twin = twin_of(model, gram, y, 3)
    assert sequence(model) == twin.updates and model.n_visits_ == twin.visits
    last = twin.scores(gram, averaged=False)
    mean = twin.scores(gram, averaged=True)
    for scores, how in ((last, "last"), (mean, "averaged")):
        model.set_params(predict_with=how)
        found, exact = model.decision_function(X), np.array([[float(v) for v in s] for s in scores])
        exact = exact if how == "last" else exact / max(twin.visits, 1)
        np.testing.assert_allclose(found, exact, rtol=1e-9, atol=1e-12 * np.abs(gram).max(initial=1))
        best = [max(range(3), key=lambda c, s=s: (s[c], -c)) for s in scores]  # of the exact sums
        assert model.predict(X).tolist() == best
        assert np.array_equal(np.sign(found), [[(v > 0) - (v < 0) for v in s] for s in scores])
    right = all(twin.move(i) is None for i in range(len(y)))
    assert model._run.consistent == right


@given(datasets(3, st.just(integers), max_rows=8), st.sampled_from([2, 3]), MULTICLASS)
def test_votes_are_those_of_all_hypotheses(data, n_classes, multiclass):
    X, y = data
    y = np.minimum(y, n_classes - 1)
    model = KernelPerceptron("poly", degree=2, gamma=1, multiclass=multiclass, random_state=5).fit(X, y)
    tests = np.vstack([X, X[::-1] + 1])
    twin = twin_of(model, gram_of(model, X, X), y, 10)
    votes = np.array(twin.votes(gram_of(model, tests, X)))
    found = model.decision_function(tests)
    np.testing.assert_allclose(found, (votes[:, 0] if n_classes == 2 else votes) / twin.visits, rtol=1e-12)
    best = (votes[:, 0] >= 0).astype(int) if n_classes == 2 else votes.argmax(axis=1)
    assert np.array_equal(model.predict(tests), best)


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "laplacian"])
@given(datasets(3, max_rows=8, max_features=2), st.sampled_from([2, 3]), MULTICLASS)
def test_votes_are_those_of_the_exact_sums(name, data, n_classes, multiclass):
    """Decimals, cancellation: a score within rounding of 0 votes as the sum of the kernel values does."""
    X, y = data
    y = np.minimum(y, n_classes - 1)
    model = KernelPerceptron(
        name, multiclass=multiclass, order="cyclic", max_epochs=4, fit_intercept=False, gamma=0.1
    ).fit(X, y)
    tests = np.vstack([X, X[::-1] * 3, -X])
    twin = twin_of(model, gram_of(model, X, X), y, 4)
    votes = np.array(twin.votes(gram_of(model, tests, X)))
    found = model.decision_function(tests) * max(twin.visits, 1)
    np.testing.assert_allclose(found, votes[:, 0] if n_classes == 2 else votes, rtol=1e-12, atol=1e-9)


def test_a_kernel_score_that_a_division_loses():
    """The average of 5e-324 over three visits rounds to 0, and is none."""
    X, y = np.array([[1.0], [2.0]]), np.array([0, 1])
    model = KernelPerceptron("linear", fit_intercept=False, order="cyclic", max_epochs=3).fit(X, y)
    model.set_params(predict_with="averaged")
    sign = np.sign(model.decision_function([[1.0]]))
    tiny = np.array([[5e-324], [-5e-324]])
    assert np.sign(model.decision_function(tiny)).tolist() == [*sign, *-sign]


@pytest.mark.parametrize("values", [[1.0, 2.0], [0.1, 0.2]])
@pytest.mark.parametrize("name", ["linear", "poly", "rbf"])
def test_the_report_says_what_was_checked(name, values, tmp_path):
    whole = name != "rbf" and values == [1.0, 2.0]
    told = "" if whole else " for the kernel values as rounded"
    model = KernelPerceptron(name, gamma=1, ties="mistake", fit_intercept=False).fit(np.diag(values), [0, 1])
    line = f"separated by the last weights: every row lies strictly on its own side, checked exactly{told}; "
    assert line in model.report().in_full()
    model.save(tmp_path / "model")
    assert line in str(KernelPerceptron.load(tmp_path / "model").report())


# ---- independence ------------------------------------------------------------------------------------
def rows_and_labels(n=120, d=6, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, d)) * (rng.random((n, d)) < 0.6)
    return X, rng.integers(0, classes, n)


def outcome(model, X):
    """Everything that must not depend on how the work was cut up."""
    figures = [[r[k] for k in ("mistakes", "updates", "norm")] for r in model.history_]
    scores = [
        model.set_params(predict_with=how).decision_function(X).tolist()
        for how in ("last", "averaged", "voted")
    ]
    return (
        sequence(model),
        figures,
        model.margin_,
        model.radius_,
        model.verdict_,
        scores,
        model.report().compensated,
    )


@pytest.mark.parametrize("multiclass", ["ovr", "joint"])
@pytest.mark.parametrize(("name", "order"), [*((name, "shuffle") for name in BY_NAME), ("rbf", "worst")])
def test_blocks_cache_threads_and_storage_change_nothing(name, order, multiclass, monkeypatch):
    X, y = rows_and_labels(n=60 if order == "shuffle" else 30)
    X = X.astype(np.float32).astype(np.float64)
    how = {"kernel": name, "random_state": 0, "max_epochs": 4, "order": order}
    how |= {"multiclass": multiclass}
    expected = outcome(KernelPerceptron(**how).fit(X, y), X)
    for matrix in (X.astype(np.float32), sp.csr_array(X), np.asfortranarray(X)):
        assert outcome(KernelPerceptron(**how).fit(matrix, y), matrix) == expected
    assert outcome(KernelPerceptron(**how, n_jobs=3).fit(X, y), X) == expected
    for block, supports, part, panel in (((1, 1), 1, 7, 2), ((5, 9), 3, 64, 5), ((60, 60), 1000, 13, 1000)):
        monkeypatch.setattr(dual, "BLOCK", block)
        monkeypatch.setattr(dual, "NEW_SUPPORTS", supports)
        for module in (dual, dualmodel):
            monkeypatch.setattr(module, "PART", part)
            monkeypatch.setattr(module, "PANEL", panel)
        for kept in (0, 3):
            cache = (least_bytes(len(y), 3, 2) + 8 * len(y) * kept) / 2**20
            model = KernelPerceptron(**how, n_jobs=2, cache_mb=cache).fit(X, y)
            assert outcome(model, X) == expected


@pytest.mark.parametrize("order", ["shuffle", "worst"])
def test_a_function_and_a_matrix_do_as_the_kernel_does(order, monkeypatch):
    """Values that Python gives: the same updates, with what is known of them only what was seen."""
    X, y = rows_and_labels(n=40 if order == "shuffle" else 24)
    named = KernelPerceptron("rbf", gamma=2.0, random_state=0, max_epochs=4, order=order).fit(X, y)
    gram = gram_of(named, X, X)
    assert np.array_equal(gram, gram.T)
    numbers = np.arange(float(len(y)))[:, None]

    def function(A, B, scale):
        return scale * gram[np.ix_(A[:, 0].astype(int), B[:, 0].astype(int))]

    expected = outcome(named, X)[:-1]
    for cut in (False, True):
        if cut:
            monkeypatch.setattr(dual, "BLOCK", (4, 9))
            monkeypatch.setattr(dual, "PART", 7)
        for jobs in (1, 3):
            for cache in (1024, least_bytes(len(y), 3, 3) / 2**20):
                how = {"random_state": 0, "max_epochs": 4, "order": order, "n_jobs": jobs, "cache_mb": cache}
                called = KernelPerceptron(function, kernel_params={"scale": 1.0}, **how).fit(numbers, y)
                assert outcome(called, numbers)[:-1] == expected
                for matrix in (gram, sp.csr_array(gram)):
                    given_values = KernelPerceptron("precomputed", **how).fit(matrix, y)
                    assert outcome(given_values, matrix)[:-1] == expected
    assert np.array_equal(given_values.support_vectors_, given_values.support_)


def test_ties_of_integers_from_a_function_need_no_accumulator():
    """Values that are seen to be integers are known to be summed without rounding."""
    X, y = rows_and_labels()
    counts = np.rint(4 * X)
    model = KernelPerceptron(lambda A, B: A @ B.T, random_state=0).fit(counts, y)
    named = KernelPerceptron("linear", random_state=0).fit(counts, y)
    assert sequence(model) == sequence(named) and model.report().compensated == 0


def test_close_decisions_are_counted():
    """0.1·0.1 + … cancels only in exact numbers: rows that are each other's opposite tie at 0."""
    X = np.array([[0.1, 0.3], [-0.1, -0.3], [0.3, -0.1], [-0.3, 0.1]])
    y = np.array([0, 0, 1, 1])
    model = KernelPerceptron("linear", order="cyclic", max_epochs=5).fit(X, y)
    assert sequence(model) == twin_of(model, gram_of(model, X, X), y, 5).updates
    assert model.report().compensated > 0
    assert "too close for plain floating point" in model.report().in_full()


# ---- learning in parts -------------------------------------------------------------------------------
@given(datasets(3, max_rows=10), st.sampled_from(["linear", "poly", "rbf"]), MULTICLASS, st.integers(1, 9))
def test_partial_fit_goes_on(data, name, multiclass, cut):
    """Chunks in turn make the updates of one pass over all rows."""
    X, y = data
    how = {"gamma": 0.5, "multiclass": multiclass, "fit_intercept": True}
    whole = KernelPerceptron(name, order="cyclic", max_epochs=1, **how).fit(X, y)
    parts = KernelPerceptron(name, **how)
    for a, b in ((0, cut), (cut, len(X))):
        if a < min(b, len(X)):
            parts.partial_fit(X[a:b], y[a:b], classes=[0, 1, 2] if a == 0 else None)
    assert sequence(parts) == sequence(whole)
    assert parts.n_updates_ == whole.n_updates_ and parts.radius_ == whole.radius_
    assert parts.margin_upper_ == pytest.approx(whole.margin_upper_, rel=1e-6, abs=1e-6 * whole.radius_)
    for how in ("voted", "averaged", "last"):
        assert np.array_equal(
            parts.set_params(predict_with=how).predict(X), whole.set_params(predict_with=how).predict(X)
        )


def test_partial_fit_mixes_storage():
    X, y = rows_and_labels(classes=2)
    X = np.rint(X * 5)
    whole = KernelPerceptron("poly", gamma=1, order="cyclic", max_epochs=1).fit(X, y)
    for first, second in ((np.uint8, sp.csr_array), (sp.csr_array, np.float32), (np.uint8, np.float64)):
        parts = KernelPerceptron("poly", gamma=1)
        for form, part in ((first, slice(0, 50)), (second, slice(50, None))):
            chunk = form(X[part]) if form is sp.csr_array else X[part].astype(form)
            parts.partial_fit(chunk, y[part])
        assert sequence(parts) == sequence(whole)
        assert np.array_equal(parts.predict(X), whole.predict(X))


@pytest.mark.parametrize("kernel", [*BY_NAME, lambda A, B: A @ B.T])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_model_without_supports_predicts(kernel, form):
    """w = 0 gives the positive class, or the first of more, and no mistake was made."""
    X = form(rows_and_labels(n=5)[0])
    for classes, label in (([0, 1], 1), ([0, 1, 2], 0)):
        model = KernelPerceptron(kernel, multiclass="joint").partial_fit(X, [label] * 5, classes=classes)
        assert len(model.support_) == 0 and model.n_updates_ == 0
        for how in ("last", "averaged", "voted"):
            assert model.set_params(predict_with=how).predict(X).tolist() == [label] * 5
        assert "γ is unknown so far" in model.report().in_full()
        assert model.partial_fit(X, [1 - label] * 5).n_updates_ > 0


def test_partial_fit_refuses_and_keeps():
    X, y = rows_and_labels(classes=2)
    model = KernelPerceptron("rbf", gamma=1.0)
    with pytest.raises(ValueError, match="only one class"):
        model.partial_fit(X[:3], [1, 1, 1], classes=[1])
    model.partial_fit(X[:20], y[:20])
    before = sequence(model)
    for change, bad in (({"gamma": 2.0}, X), ({"kernel": "linear"}, X), ({"fit_intercept": True}, X)):
        with pytest.raises(ValueError, match="fit a clone"):
            clone(model).partial_fit(X[:20], y[:20]).set_params(**change).partial_fit(bad, y)
    with pytest.raises(ValueError, match="NaN at row 1"):
        model.partial_fit([[1.0] * 6, [np.nan] * 6], [0, 1])
    with pytest.raises(ValueError, match="7"):
        model.partial_fit(X[:2], [0, 7])
    with pytest.raises(ValueError, match="needs the rows themselves"):
        KernelPerceptron("precomputed").partial_fit(X[:6], y[:6])
    assert sequence(model) == before


# ---- using it ----------------------------------------------------------------------------------------
def common(A, B):
    """How many letters two words, or items two sets, have in common: an inner product of 0s and 1s."""
    return [[len(set(a) & set(b)) for b in B] for a in A]


@pytest.mark.parametrize(
    "things",
    [
        ["cat", "act", "dog", "god", "tack", "good"],
        [{1, 2, 3}, {1, 2}, {7, 8}, {7, 8, 9}, {1, 2, 3, 4}, {8}],
        [("a", "b"), ("a",), ("x", "y"), ("x",), ("a", "b", "c"), ("y", "x")],
    ],
)
def test_objects_through_a_function(things):
    y = ["cat", "cat", "dog", "dog", "cat", "dog"]
    column = np.empty((6, 1), dtype=object)
    column[:, 0] = things
    model = KernelPerceptron(common, random_state=0, fit_intercept=True).fit(things, y)
    assert model.verdict_ == "separated" and model.n_features_in_ == 1
    for X in (things, column, column[:, 0]):
        assert model.predict(X).tolist() == y
        assert clone(model).fit(X, y).predict(things).tolist() == y
    assert model.predict(things[:1]).tolist() == ["cat"]
    with pytest.raises(ValueError, match="objects, such as strings"):
        model.predict([[1.0, 2.0]])
    parts = KernelPerceptron(common).partial_fit(things[:3], y[:3]).partial_fit(column[3:], y[3:])
    assert sequence(parts) == sequence(KernelPerceptron(common, order="cyclic", max_epochs=1).fit(things, y))


def test_pickle_clone_and_search():
    X, y = rows_and_labels()
    model = KernelPerceptron(common_inner, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert outcome(again, X) == outcome(model, X)
    assert not hasattr(clone(model), "support_")
    gram = X @ X.T
    assert cross_val_score(KernelPerceptron("precomputed", random_state=0), gram, y, cv=3).shape == (3,)
    again.partial_fit(X, y)
    assert again.n_updates_ > model.n_updates_


def common_inner(A, B):
    return A @ B.T


def test_interrupts_leave_a_usable_model(monkeypatch):
    X, y = rows_and_labels(n=200, classes=2)
    whole = KernelPerceptron("rbf", order="cyclic", max_epochs=1).fit(X, y)
    calls, push = [], dual.DualTrainer._push

    def interrupted(self, *args):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        push(self, *args)

    monkeypatch.setattr(dual, "BLOCK", (30, 30))
    monkeypatch.setattr(dual.DualTrainer, "_push", interrupted)
    model = KernelPerceptron("rbf", order="cyclic", max_epochs=1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    made = sequence(model)
    assert made == sequence(whole)[: len(made)] and 0 < len(made) < len(sequence(whole))
    assert model.n_visits_ == 60 and model.predict(X).shape == (200,)
    assert "undecided" in model.report().in_full()


def test_callback_and_verbose(capsys):
    X, y = rows_and_labels()
    seen = []
    model = KernelPerceptron("rbf", callback=lambda r: seen.append(r) or len(seen) == 2, verbose=1).fit(X, y)
    assert seen == model.history_ and model.n_epochs_ == 2
    assert capsys.readouterr().err.count("epoch") == 2


@pytest.mark.filterwarnings("default")
def test_it_warns_unless_separated():
    X, y = rows_and_labels()
    with pytest.warns(ConvergenceWarning, match="not separated.*another kernel"):
        KernelPerceptron("linear").fit(X, y)


def test_fitted_attributes():
    for classes in (2, 3):
        X, y = rows_and_labels(n=40, classes=classes)
        model = KernelPerceptron("rbf", gamma=5.0, random_state=0, max_epochs=100).fit(X, y)
        m, k = len(model.support_), len(model.update_order_)
        shape = (1 if classes == 2 else classes, m)
        assert model.dual_coef_.shape == shape and np.array_equal(model.support_vectors_, X[model.support_])
        assert model.update_moves_.shape == ((k,) if classes == 2 else (k, classes))
        assert model.n_mistakes_ == model.n_updates_ == np.count_nonzero(model.update_moves_)
        assert model.verdict_ == "separated" and model.converged_ and model.radius_ == 1.0
        assert model.log2_radius_ == 0.0
        assert model.margin_ > 0 and (classes == 3 or model.margin_ <= model.margin_upper_)
        report = model.report()
        assert report.bound_lower <= report.bound_upper and report.mistakes <= report.bound_upper
        assert model.n_epochs_ == len(model.history_) and model.n_features_in_ == 6
    with pytest.raises(AttributeError, match="not been fitted"):
        _ = KernelPerceptron().support_


@pytest.mark.parametrize("multiclass", ["ovr", "joint"])
def test_margin_and_norm_are_those_of_the_weights(multiclass):
    """In the finite feature space of the linear kernel they can be looked at."""
    rng = np.random.default_rng(2)
    centres = np.array([[4.0, 0], [0, 4], [-4, -4]])
    y = rng.integers(0, 3, 60)
    X = centres[y] + rng.random((60, 2))
    model = KernelPerceptron("linear", fit_intercept=True, multiclass=multiclass, random_state=0).fit(X, y)
    lifted = np.hstack([X, np.ones((60, 1))])
    w = model.dual_coef_ @ lifted[model.support_]
    s = lifted @ w.T
    assert model.history_[-1]["norm"] == pytest.approx(np.linalg.norm(w))
    if multiclass == "joint":
        d = s[np.arange(60), y][:, None] - s
        d[np.arange(60), y] = np.inf
        margin = d.min() / np.linalg.norm(w)
    else:
        margin = (np.where(y[:, None] == np.arange(3), s, -s).min(axis=0) / np.linalg.norm(w, axis=1)).min()
    assert model.verdict_ == "separated" and model.margin_ == pytest.approx(margin)


# ---- memory ------------------------------------------------------------------------------------------
def test_memory_is_what_is_stated():
    """Data, cache and supports; NumPy reports its arrays to tracemalloc."""
    rng = np.random.default_rng(0)
    X, y = rng.random((2500, 20)), rng.integers(0, 3, 2500)
    least = least_bytes(2500, 3, 2)
    for extra in (0, 3 << 20):
        cache = (least + extra) / 2**20
        tracemalloc.start()
        model = KernelPerceptron(
            "rbf", gamma=9.0, max_epochs=2, n_jobs=2, cache_mb=cache, random_state=0
        ).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        supports = model.support_vectors_.nbytes + 400 * len(model.update_order_)
        assert peak <= cache * 2**20 + supports + (1 << 20)


def test_a_cache_that_is_too_small_names_the_least():
    X, y = rows_and_labels()
    with pytest.raises(ValueError, match=r"the least that works") as refused:
        KernelPerceptron("rbf", cache_mb=0.01).fit(X, y)
    least = float(str(refused.value).split("take ")[1].split(",")[0])
    KernelPerceptron("rbf", cache_mb=least * 1.01).fit(X, y)


# ---- bad input ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda A, B: A @ B.T[:, :1], "must return an array of the shape"),
        (lambda A, B: np.where(A @ B.T > 2, np.nan, 1.0), "NaN"),
        (lambda A, B: A[:, :1] @ (B[:, 1:2].T), "not symmetric"),
    ],
)
def test_bad_functions(kernel, message):
    X, y = rows_and_labels()
    with pytest.raises(ValueError, match=message):
        KernelPerceptron(kernel).fit(X, y)


def test_bad_matrices():
    X, y = rows_and_labels(n=20)
    gram = X @ X.T
    with pytest.raises(ValueError, match=r"\(20, 19\), which is not square"):
        KernelPerceptron("precomputed").fit(gram[:, :19], y)
    lopsided = gram.copy()
    lopsided[2, 5] += 1
    with pytest.raises(ValueError, match=r"not symmetric: K\(2, 5\)"):
        KernelPerceptron("precomputed").fit(lopsided, y)
    with pytest.raises(ValueError, match="NaN at row 3"):
        KernelPerceptron("precomputed").fit(np.where(np.arange(20)[:, None] == 3, np.nan, gram), y)
    model = KernelPerceptron("precomputed").fit(gram, y)
    with pytest.raises(ValueError, match=r"each of the 20 training rows, but X has the shape \(4, 6\)"):
        model.predict(X[:4])
    assert model.predict(gram[:4]).shape == (4,)


@pytest.mark.parametrize("name", BY_NAME)
def test_bad_values(name):
    X, y = rows_and_labels()
    model = KernelPerceptron(name).fit(X, y)
    for bad in (np.nan, np.inf):
        spoiled = X.copy()
        spoiled[7, 2] = bad
        for matrix in (spoiled, sp.csr_array(spoiled)):
            with pytest.raises(ValueError, match="at row 7, column 2"):
                KernelPerceptron(name).fit(matrix, y)
            with pytest.raises(ValueError, match="at row 7, column 2"):
                model.predict(matrix)
    with pytest.raises(OverflowError, match=r"row 0.*scale X by"):
        model.predict(np.full((1, 6), 1e200))
    if name == "chi2":
        with pytest.raises(ValueError, match="numbers ≥ 0"):
            model.predict(-X)


def test_unsorted_indices_are_put_in_order():
    X, y = rows_and_labels()
    expected = outcome(KernelPerceptron("rbf", random_state=0).fit(X, y), X)
    tangled = sp.csr_array(X)
    for i in range(X.shape[0]):
        part = slice(tangled.indptr[i], tangled.indptr[i + 1])
        tangled.indices[part], tangled.data[part] = tangled.indices[part][::-1], tangled.data[part][::-1]
    tangled.has_sorted_indices = False
    assert outcome(KernelPerceptron("rbf", random_state=0).fit(tangled, y), tangled) == expected


@given(datasets(2), st.sampled_from([0.0, 100.0]))
def test_gamma_scale_is_that_of_scikit_learn(data, shift):
    X = data[0] + shift
    model = KernelPerceptron("rbf", max_epochs=1).fit(X, data[1])
    variance = X.var()
    if 1e-8 * (X * X).mean() < variance:
        assert model._dual.kernel.gamma == pytest.approx(1 / (X.shape[1] * variance), rel=1e-6)
    sparse = KernelPerceptron("rbf", max_epochs=1).fit(sp.csr_array(X), data[1])
    assert sparse._dual.kernel == model._dual.kernel
