"""The native loops against their NumPy twin, bit for bit."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, example, given
from hypothesis import strategies as st

from novikoff import Perceptron, _core
from novikoff.data.arrays import rows_of
from novikoff.parameters.linear import RULES, VARIANCE_RULES
from novikoff.reference.linear import Twin
from novikoff.training import linear as training
from novikoff.training.weights import Model, Settings
from support.marks import may_not_separate
from support.strategies import across_edges, datasets, extreme, integers, near_edges, values

rules = st.sampled_from(RULES)


def settings(twin: Twin, average=True) -> Settings:
    return Settings(twin.rule, twin.ties, twin.margin, twin.C, twin.bias_square, average, phi=twin.phi)


def native(X, y, twin: Twin, order, weights=None, epochs=1):
    """The native model after the same visits, through the driver that `fit` uses for given orders."""
    model = Model(twin.classes, X.shape[1], settings(twin))
    for _ in range(epochs):
        for i in order:
            part = None if weights is None else weights[[i]]
            training.learn(model, X[[i]], y[[i]], twin.classes, part)
    return model


def overflows(twin: Twin, visit) -> bool:
    """Whether the twin leaves the range of float64 on these visits (a tiny row under a rule that divides)."""
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            visit()
        except (ValueError, OverflowError):
            return True
        learned = (twin.weights, twin.bias, twin.weight_sums, twin.bias_sums)
        return not all(np.isfinite(a).all() for a in (*learned, twin.confidences, twin.bias_confidences))


def assert_same(model: Model, twin: Twin):
    learner = model.learners[0]
    k = 1 if twin.classes == 2 else twin.classes
    assert (learner.native.mistakes, learner.native.updates) == (twin.mistakes, twin.updates)
    assert learner.native.visits == twin.visits
    assert learner.native.step_sum == twin.step_sum
    np.testing.assert_array_equal(learner.weights[:, :k].T, twin.weights)
    np.testing.assert_array_equal(learner.bias[:k], twin.bias)
    if twin.rule in VARIANCE_RULES:
        np.testing.assert_array_equal(learner.confidences[:, :k].T, twin.confidences)
        np.testing.assert_array_equal(learner.bias_confidences[:k], twin.bias_confidences)
    mean, bias = learner.averaged()
    expected = twin.average()
    np.testing.assert_array_equal(mean[:, :k].T, expected[0])
    np.testing.assert_array_equal(bias[:k], expected[1])


twins = st.fixed_dictionaries(
    {
        "rule": rules,
        "ties": st.sampled_from(["positive", "mistake"]),
        "margin": st.sampled_from([0.0, 0.5, 2.0, 1 / 3]),
        "C": st.sampled_from([1.0, 0.1, 7.0]),
        "phi": st.sampled_from([1.0, 0.5244005127080409, 1.2815515655446004]),
        "bias_square": st.sampled_from([0.0, 1.0, 0.25, 0.1 * 0.1]),
    }
)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@given(data=st.data(), options=twins, epochs=st.integers(1, 3))
def test_epochs_equal_the_twin(n_classes, data, options, epochs):
    X, y = data.draw(datasets(n_classes))
    weights = data.draw(
        st.none() | st.lists(st.sampled_from([1.0, 2.0, 0.3]), min_size=len(X), max_size=len(X)).map(np.array)
    )
    twin = Twin(n_classes, X.shape[1], **options)
    plan = training.Plan(max_epochs=epochs, order="cyclic")

    def visit():
        for _ in range(epochs):
            before = twin.updates
            twin.epoch(X, y, weights=weights)
            if twin.updates == before:
                break

    assume(not overflows(twin, visit))
    for layout in (X, sp.csr_array(X)):
        model, run = training.fit(layout, y, n_classes, settings(twin), plan, weights=weights)
        assert_same(model, twin)
        assert sum(r["mistakes"] for r in run.history) == twin.mistakes


@given(data=datasets(2, st.just(extreme)), rule=rules)
@example(
    data=(np.array([[1e308, 1e308], [1e308, 1e308]]), np.array([0, 1], dtype=np.int32)), rule="perceptron"
)
def test_extreme_values_equal_the_twin(data, rule):
    """Values to 1e±300 and subnormals; where the twin overflows, the core says so and stops."""
    X, y = data
    twin = Twin(2, X.shape[1], rule=rule, bias_square=0.0)
    too_large = overflows(twin, lambda: twin.epoch(X, y))
    plan = training.Plan(max_epochs=1, order="cyclic")
    for layout in (X, sp.csr_array(X)):
        if too_large:
            with pytest.raises(OverflowError, match="scale X by"):
                training.fit(layout, y, 2, settings(twin), plan)
        else:
            assert_same(training.fit(layout, y, 2, settings(twin), plan)[0], twin)


@pytest.mark.parametrize("bias_square", [0.0, 1.0, 1e-200, 1e200])
@pytest.mark.parametrize("n_classes", [2, 3])
@given(data=st.data(), rule=rules)
def test_values_at_every_threshold_equal_the_twin(n_classes, bias_square, data, rule):
    """Sizes at which products underflow, overflow or meet a limit of the filters."""
    X, y = data.draw(datasets(n_classes, near_edges | across_edges, max_rows=6, max_features=3))
    twin = Twin(n_classes, X.shape[1], rule=rule, bias_square=bias_square)
    too_large = overflows(twin, lambda: [twin.epoch(X, y) for _ in range(2)])
    plan = training.Plan(max_epochs=2, order="cyclic")
    for layout in (X, sp.csr_array(X)):
        if too_large:
            with pytest.raises(OverflowError, match="scale X by"):
                training.fit(layout, y, n_classes, settings(twin), plan)
        else:
            model, run = training.fit(layout, y, n_classes, settings(twin), plan)
            if len(run.history) == 2:
                assert_same(model, twin)


@pytest.mark.parametrize("n_classes", [2, 3])
@given(data=st.data(), options=twins)
def test_row_by_row_equals_the_twin(n_classes, data, options):
    """partial_fit's path, one row a call, in any order."""
    X, y = data.draw(datasets(n_classes))
    order = data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=12))
    twin = Twin(n_classes, X.shape[1], **options)
    assume(not overflows(twin, lambda: twin.epoch(X, y, order)))
    assert_same(native(X, y, twin, order), twin)


@pytest.mark.parametrize("n_classes", [2, 3])
@given(data=st.data(), ties=st.sampled_from(["positive", "mistake"]))
def test_worst_order_equals_the_twin(n_classes, data, ties):
    X, y = data.draw(datasets(n_classes))
    twin = Twin(n_classes, X.shape[1], ties=ties)
    for _ in range(len(X)):
        row, before, visits = twin.most_violated(X, y), twin.updates, twin.visits
        twin.epoch(X, y, [row])
        if twin.updates == before:
            twin.visits = visits
            break
    plan = training.Plan(max_epochs=1, order="worst")
    for layout in (X, sp.csr_array(X)):
        assert_same(training.fit(layout, y, n_classes, settings(twin), plan)[0], twin)


@pytest.mark.parametrize("n_classes", [2, 4])
@given(data=st.data())
def test_predictions_are_exact(n_classes, data):
    X, y = data.draw(datasets(n_classes))
    twin = Twin(n_classes, X.shape[1])
    twin.epoch(X, y)
    model, _ = training.fit(X, y, n_classes, settings(twin), training.Plan(max_epochs=1, order="cyclic"))
    expected = [twin.predict(x) for x in X]
    for layout in (X, sp.csr_array(X)):
        scorer = model.scorer(averaged=False)
        assert scorer.predict(layout).tolist() == expected
        scores = scorer.scores(layout)
        chosen = scores >= 0 if n_classes == 2 else scores.argmax(axis=1)
        assert chosen.astype(int).tolist() == expected
        if n_classes == 2:
            zero = [twin.score(x, 0) == 0 for x in X]
            assert (scores == 0).tolist() == zero


@given(data=datasets(2, st.just(integers)), epochs=st.integers(1, 3))
def test_average_is_the_plain_mean_on_integers(data, epochs):
    """w̄ is the mean of w taken after each visit: exactly so where sums are exact."""
    X, y = data
    twin = Twin(2, X.shape[1])
    after = []
    for _ in range(epochs):
        for i in range(len(X)):
            twin.epoch(X, y, [i])
            after.append(np.append(twin.weights[0], twin.bias))
    mean, bias = twin.average()
    np.testing.assert_array_equal(np.append(mean[0], bias), np.sum(after, axis=0) / len(after))


# ---- one model, whatever way the rows come ----------------------------------------------------------
def variants(X):
    yield "float64", X
    yield "fortran", np.asfortranarray(X)
    yield "rows apart", np.repeat(X, 2, axis=0)[::2]
    yield "columns apart", np.hstack([X, X])[:, : X.shape[1]]
    csr = sp.csr_array(X)
    yield "csr", csr
    yield "csr int64", sp.csr_array((csr.data, csr.indices.astype("i8"), csr.indptr.astype("i8")), csr.shape)
    yield "csc", sp.csc_array(X)
    yield "csr matrix", sp.csr_matrix(X)
    stored = sp.csr_array(
        (X.ravel(), np.tile(np.arange(X.shape[1]), len(X)), np.arange(len(X) + 1) * X.shape[1])
    )
    yield "explicit zeros", stored
    backwards = stored.copy()
    for row in range(len(X)):
        part = slice(backwards.indptr[row], backwards.indptr[row + 1])
        backwards.indices[part] = backwards.indices[part][::-1]
        backwards.data[part] = backwards.data[part][::-1]
    backwards.has_sorted_indices = True  # a lie that a user's matrix may tell
    yield "unsorted csr", backwards
    if (X.astype(np.float32) == X).all():
        yield "float32", X.astype(np.float32)
        yield "csr float32", sp.csr_array(X.astype(np.float32))
    if ((X >= 0) & (X <= 255) & (np.trunc(X) == X)).all():
        yield "uint8", X.astype(np.uint8)


@pytest.mark.parametrize("n_classes", [2, 3])
@given(data=st.data(), rule=rules, average=st.booleans(), seed=st.integers(0, 9))
def test_storage_changes_nothing(n_classes, data, rule, average, seed):
    X, y = data.draw(datasets(n_classes, st.one_of(values, st.just(integers.map(abs)))))
    results = {}
    for name, layout in variants(X):
        model = Perceptron(rule, average=average, random_state=seed, max_epochs=4)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(layout, y)
        results[name] = (
            model.coef_.tolist(),
            model.intercept_.tolist(),
            model.n_mistakes_,
            model.n_updates_,
            model.verdict_,
            model.predict(layout).tolist(),
        )
    assert all(r == results["float64"] for r in results.values()), results


@pytest.mark.parametrize("n_classes", [2, 3])
@given(data=st.data(), rule=rules, average=st.booleans())
def test_chunks_change_nothing(n_classes, data, rule, average):
    X, y = data.draw(datasets(n_classes))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(X)), max_size=3)))
    whole = Perceptron(rule, average=average, scale=None).partial_fit(X, y, classes=range(n_classes))
    pieces = Perceptron(rule, average=average, scale=None)
    for begin, end in zip([0, *cuts], [*cuts, len(X)], strict=True):
        if end > begin:
            pieces.partial_fit(X[begin:end], y[begin:end], classes=range(n_classes))
    np.testing.assert_array_equal(whole.coef_, pieces.coef_)
    np.testing.assert_array_equal(whole.intercept_, pieces.intercept_)
    assert (whole.n_mistakes_, whole.n_updates_) == (pieces.n_mistakes_, pieces.n_updates_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = Perceptron(rule, average=average, order="cyclic", max_epochs=1, scale=None).fit(X, y)
    np.testing.assert_array_equal(whole.coef_, fitted.coef_)
    np.testing.assert_array_equal(whole.intercept_, fitted.intercept_)


@may_not_separate
@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_change_nothing(n_jobs):
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((4000, 8)), rng.integers(0, 4, 4000)
    alone = Perceptron(multiclass="ovr", random_state=1, max_epochs=5).fit(X, y)
    many = Perceptron(multiclass="ovr", random_state=1, max_epochs=5, n_jobs=n_jobs).fit(X, y)
    np.testing.assert_array_equal(alone.coef_, many.coef_)
    np.testing.assert_array_equal(alone.predict(X), many.predict(X))
    np.testing.assert_array_equal(alone.decision_function(X), many.decision_function(X))


@pytest.mark.parametrize("d", [7, 16, 33, 50])
@pytest.mark.parametrize("n_classes", [2, 3, 5, 17])
@pytest.mark.parametrize("kind", ["decimals", "float32", "bytes", "cancelling"])
def test_wide_rows_equal_the_twin(d, n_classes, kind):
    """Rows that fill whole vectors and leave remainders; scores that nearly cancel."""
    rng = np.random.default_rng([d, n_classes])
    X = {
        "decimals": lambda: rng.choice([0.0, 0.1, -0.1, 0.2, -0.3, 0.18257], (40, d)),
        "float32": lambda: rng.standard_normal((40, d)).astype(np.float32),
        "bytes": lambda: rng.integers(0, 256, (40, d)).astype(np.uint8),
        "cancelling": lambda: rng.choice([1e16, -1e16, 1.0, -1.0, 0.1], (40, d)),
    }[kind]()
    y = rng.integers(0, n_classes, 40).astype(np.int32)
    orders = [rng.permutation(40) for _ in range(2)]
    twin = Twin(n_classes, d)
    for order in orders:
        twin.epoch(X, y, order)
    for layout in (X, sp.csr_array(X) if kind != "bytes" else sp.csr_array(X.astype(float))):
        model = Model(n_classes, d, settings(twin))
        rows = rows_of(layout)
        for first, order in zip((True, False), orders, strict=True):
            examples = _core.Examples(rows, y, order=order)
            assert _core.epoch(model.learners[0].native, examples, 0, 40, first) == ("", -1)
        assert_same(model, twin)
        scorer = model.scorer(averaged=False)
        assert scorer.predict(layout).tolist() == [twin.predict(x) for x in np.asarray(X, dtype=np.float64)]


@pytest.mark.parametrize("n_classes", [2, 3])
@given(data=st.data(), rule=rules, seed=st.integers(0, 9))
def test_columns_in_another_order_or_between_zeros_change_nothing(n_classes, data, rule, seed):
    X, y = data.draw(datasets(n_classes))
    rng = np.random.default_rng(seed)
    permuted = rng.permutation(X.shape[1])
    places = np.sort(rng.choice(X.shape[1] + 20, X.shape[1], replace=False))
    padded = np.zeros((len(X), X.shape[1] + 20))
    padded[:, places] = X
    models = []
    for layout in (X, X[:, permuted], padded, sp.csr_array(padded)):
        model = Perceptron(rule, random_state=seed, max_epochs=4)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            models.append(model.fit(layout, y))
    plain, turned, wide, sparse = models
    np.testing.assert_array_equal(plain.coef_[:, permuted], turned.coef_)
    np.testing.assert_array_equal(plain.coef_, wide.coef_[:, places])
    np.testing.assert_array_equal(wide.coef_, sparse.coef_)
    assert len({(m.n_mistakes_, m.n_updates_, tuple(m.intercept_), m.verdict_) for m in models}) == 1
