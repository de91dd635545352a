"""CSR rows whose indices are in no order: read as they are, and the same rows to the last bit."""

import numpy as np
import pytest
import scipy.sparse as sp

import novikoff
from novikoff import _core
from novikoff.data.arrays import in_any_order, rows_of
from novikoff.training.weights import Model, Settings

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

LINEAR = {
    "perceptron": lambda: novikoff.Perceptron(max_epochs=5, random_state=0),
    "averaged": lambda: novikoff.Perceptron("pa", average=True, max_epochs=3, random_state=0),
    "worst": lambda: novikoff.Perceptron(order="worst", max_epochs=3),
    "early": lambda: novikoff.Perceptron(early_stopping=True, max_epochs=5, random_state=1),
    "pocket": lambda: novikoff.Pocket(max_epochs=3, random_state=0),
    "winnow": lambda: novikoff.Winnow(balanced=True, max_epochs=3, random_state=0),
}
OTHERS = {
    "voted": lambda: novikoff.VotedPerceptron(max_epochs=3, random_state=0),
    "kernel": lambda: novikoff.KernelPerceptron("poly", degree=2, max_epochs=2, random_state=0),
}


def scattered(n_classes=2, n=120, d=70, kind=np.float64, index=np.int32):
    """(sorted, unsorted, labels): rows of 0 to 30 values, and the same rows with their values shuffled."""
    rng = np.random.default_rng(3)
    X = sp.random_array((n, d), density=0.2, format="csr", rng=rng)
    X = sp.csr_array((X.data.astype(kind), X.indices.astype(index), X.indptr.astype(index)), shape=X.shape)
    X.sort_indices()
    mixed = X.copy()
    for begin, end in zip(X.indptr, X.indptr[1:], strict=False):
        order = rng.permutation(end - begin)
        mixed.indices[begin:end], mixed.data[begin:end] = (
            X.indices[begin:end][order],
            X.data[begin:end][order],
        )
    return X, mixed, rng.integers(0, n_classes, n)


def outcome(model, X):
    """What a model says that depends on its rows."""
    names = ("coef_", "intercept_", "radius_", "margin_", "n_mistakes_", "n_updates_", "verdict_")
    facts = [repr(np.asarray(getattr(model, name)).tolist()) for name in names if hasattr(model, name)]
    ledger = getattr(getattr(model, "_model", None), "ledger", None)
    report = str(model.report()).splitlines() if hasattr(model, "report") else []
    said = [line for line in report if line.split()[0] not in ("epochs", "exactness")]  # time, fallbacks
    return facts, ledger, said, model.predict(X).tolist()


@pytest.mark.parametrize("name", [*LINEAR, *OTHERS])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_order_of_indices_changes_nothing(name, n_classes):
    X, mixed, y = scattered(n_classes)
    make = (LINEAR | OTHERS)[name]
    said = [outcome(make().fit(each, y), each) for each in (X, mixed)]
    assert said[0] == said[1]
    if hasattr(make(), "partial_fit"):
        begun = [make().partial_fit(each, y, classes=np.unique(y)) for each in (X, mixed)]
        assert outcome(begun[0], X) == outcome(begun[1], mixed)
    scores = [model.fit(X, y).decision_function(each) for model in [make()] for each in (X, mixed)]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-9, atol=1e-9)  # only their signs are exact


@pytest.mark.parametrize("name", LINEAR)
def test_rows_in_no_order_are_not_copied(name, monkeypatch):
    X, mixed, y = scattered()
    expected = LINEAR[name]().fit(X, y)

    def copied(_):
        raise AssertionError("rows with distinct indices were copied")

    monkeypatch.setattr("novikoff.data.arrays.in_order", copied)
    model = LINEAR[name]().fit(mixed, y)
    before = mixed.indices.copy()
    np.testing.assert_array_equal(model.predict(mixed), expected.predict(X))
    np.testing.assert_array_equal(mixed.indices, before)
    marked = in_any_order(mixed)
    assert np.shares_memory(marked.indices, mixed.indices) and np.shares_memory(marked.data, mixed.data)


@pytest.mark.parametrize("make", [novikoff.Perceptron, novikoff.Pocket])
def test_a_column_twice_is_the_sum(make):
    twice = sp.csr_array(([1.0, 2.0, 4.0, -1.0], [1, 0, 1, 0], [0, 3, 4]), shape=(2, 2))
    model = make(random_state=0).fit(twice, [1, 0])
    once = make(random_state=0).fit([[2.0, 5.0], [-1.0, 0.0]], [1, 0])
    np.testing.assert_array_equal(model.coef_, once.coef_)
    assert model.predict(twice).tolist() == [1, 0]
    assert twice.nnz == 4  # the caller's matrix is as it was


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_what_is_distinct(kind, index):
    _, mixed, _ = scattered(kind=kind, index=index)
    assert rows_of(mixed).all_distinct()
    row = int(np.argmax(np.diff(mixed.indptr) >= 2))
    begin, end = mixed.indptr[row : row + 2]
    mixed.indices[end - 1] = mixed.indices[begin]
    assert not rows_of(mixed).all_distinct()
    for outside in (-1, mixed.shape[1]):
        mixed.indices[end - 1] = outside
        assert not rows_of(mixed).all_distinct()
        with pytest.raises(ValueError, match=f"Row {row} of the sparse X has index {outside}"):
            Model(2, mixed.shape[1], Settings()).scorer(averaged=False).predict(mixed)


def test_more_rows_than_the_table_can_number():
    """Numbers of rows have 16 bits there: a column may come again after 65,535 rows."""
    n = (1 << 16) + 5
    indices = np.tile([1, 0], n).astype(np.int32)
    rows = _core.Rows(np.ones(2 * n), indices, np.arange(0, 2 * n + 1, 2, dtype=np.int32), 2)
    assert rows.all_distinct()
    indices[-1] = 1
    assert not rows.all_distinct()
