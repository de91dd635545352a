"""ONNX graphs under onnxruntime: every label must be the exact one, ties and near-ties included."""

import gzip
import itertools
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff
from novikoff import Perceptron
from novikoff.data.sources.features import NumberedFeatures
from novikoff.linear.model import LinearModel
from novikoff.linear.onnx import plan_digits, to_onnx, weight_digits
from novikoff.training.weights import Model, Settings
from support.marks import may_not_separate
from support.places import at_hand
from support.strategies import cancelling, datasets, decimals, integers, plain

ort = pytest.importorskip("onnxruntime")

pytestmark = may_not_separate


def session(linear, level="ORT_ENABLE_ALL"):
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    options.intra_op_num_threads = 1
    return ort.InferenceSession(to_onnx(linear).SerializeToString(), options)


def linear_of(coef, intercept, classes=None):
    """A model with these weights."""
    coef = np.atleast_2d(np.asarray(coef, dtype=float))
    n = 2 if len(coef) == 1 else len(coef)
    model = Model(n, coef.shape[1], Settings())
    model.learners[0].set_weights(coef, np.asarray(intercept, dtype=float))
    return LinearModel(
        model, np.arange(n) if classes is None else np.array(classes), NumberedFeatures(coef.shape[1])
    )


def exact(X, coef, intercept):
    """The definition, in fractions: sign(0) is the second class, ties go to the lowest of several."""
    coef = np.atleast_2d(coef)
    out = []
    for x in X.tolist():
        scores = [
            sum((Fraction(a) * Fraction(v) for a, v in zip(x, w, strict=True)), Fraction(b))
            for w, b in zip(coef.tolist(), np.asarray(intercept, dtype=float).tolist(), strict=True)
        ]
        out.append(int(scores[0] >= 0) if len(scores) == 1 else scores.index(max(scores)))
    return np.array(out)


LEVELS = ["ORT_DISABLE_ALL", "ORT_ENABLE_ALL"]


@pytest.mark.parametrize("level", LEVELS)
def test_sums_that_round_to_the_wrong_side(level):
    """0.1 + 0.2 − 0.3 and its like: some of 2,401 rows are near-ties that rounded sums get wrong."""
    X = np.array(list(itertools.product(range(-3, 4), repeat=4)), dtype=float)
    coef, intercept = np.array([[0.1, 0.2, -0.3, 0.7]]), [0.1]
    labels, scores = session(linear_of(coef, intercept), level).run(None, {"X": X})
    truth = exact(X, coef, intercept)
    assert (labels == truth).all() and ((scores >= 0) == truth).all()
    naive = (((X[:, :1] * 0.1 + X[:, 1:2] * 0.2 - X[:, 2:3] * 0.3) + X[:, 3:] * 0.7)[:, 0] + 0.1) >= 0
    assert (naive != truth).any()


@pytest.mark.parametrize("level", LEVELS)
def test_many_classes_near_ties(level):
    """Classes whose scores differ in the last bits or not at all; the lowest of those tied."""
    X = np.array(list(itertools.product(range(-2, 3), repeat=3)), dtype=float)
    coef = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.2, 0.2], [0.1, 0.2, 0.3], [0.6, 0, 0]])
    intercept = np.array([0.0, 0.0, 1e-17, 0.0, 0.0])
    labels, _ = session(linear_of(coef, intercept), level).run(None, {"X": X})
    truth = exact(X, coef, intercept)
    assert (labels == truth).all()
    assert (np.argmax(X @ coef.T + intercept, axis=1) != truth).any()


@given(datasets(kinds=st.sampled_from([integers, decimals, plain, cancelling])), st.data())
def test_any_weights(rows, draw):
    """Against fractions, with weights and rows that cancel."""
    X, _ = rows
    k = draw.draw(st.sampled_from([1, 3, 4]))
    kind = draw.draw(st.sampled_from([integers, decimals, plain]))
    weights = draw.draw(st.lists(kind, min_size=k * (X.shape[1] + 1), max_size=k * (X.shape[1] + 1)))
    whole = np.array(weights).reshape(k, -1)
    linear = linear_of(whole[:, :-1], whole[:, -1])
    labels, scores = session(linear).run(None, {"X": X})
    assert labels.tolist() == exact(X, whole[:, :-1], whole[:, -1]).tolist()
    np.testing.assert_allclose(scores, linear.scores(X), rtol=1e-10, atol=1e-10 * np.abs(X).max() * 10)


@given(st.integers(1, 1 << 30))
def test_digits_cannot_overflow(n_terms):
    """n·count·(2^β)² ≤ 2^52, with carries far below 2^53; and the row's 96 bits are covered."""
    beta, count = plan_digits(n_terms)
    assert n_terms * count * 4**beta <= 2**52 and beta * count >= 96 and beta <= 24


@given(st.lists(plain | decimals, min_size=1, max_size=8), st.integers(5, 24))
def test_weight_digits_are_exact(weights, beta):
    digits, exponent = weight_digits(np.array(weights), beta)
    total = [Fraction(0)] * len(weights)
    for j, plane in enumerate(digits):
        assert (np.abs(plane) <= 2**beta).all() and (plane == np.rint(plane)).all()
        scale = Fraction(2) ** (exponent - beta * (j + 1))
        total = [a + Fraction(v) * scale for a, v in zip(total, plane.tolist(), strict=True)]
    assert total == [Fraction(w) for w in weights]


def test_scores_and_shapes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 6))
    for k in (2, 3):
        model = Perceptron(max_epochs=3, random_state=0).fit(X, np.arange(50) % k)
        labels, scores = session(model.to_linear()).run(None, {"X": X})
        assert labels.tolist() == model.predict(X).tolist() and labels.dtype == np.int64
        assert scores.shape == ((50,) if k == 2 else (50, 3))
        np.testing.assert_allclose(scores, model.decision_function(X), rtol=1e-12, atol=1e-12)
        empty = session(model.to_linear()).run(None, {"X": X[:0]})
        assert empty[0].shape == (0,)


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        (["ham", "späm"], ["späm", "ham"]),
        ([-1.0, 1.0], [1, -1]),
        ([0.5, 1.5], [1.5, 0.5]),
        (np.array([2, 7], dtype=np.uint8), [7, 2]),
        (np.array(["a", "b"], dtype=object), ["b", "a"]),
    ],
)
def test_labels_of_every_kind(classes, expected):
    linear = linear_of([[1.0, 0.0]], [0.0], classes)
    labels, _ = session(linear).run(None, {"X": np.array([[0.0, 5.0], [-1.0, 0.0]])})
    assert labels.tolist() == expected


class Scaling:
    """Any scaling that says what it is."""

    def __init__(self, kind, centre=(), scale=()):
        self.kind, self.arrays = kind, {"centre": np.array(centre), "scale": np.array(scale)}

    def state(self):
        return {"kind": self.kind}, self.arrays

    def transform(self, X):
        if self.kind == "unit":
            norms = np.sqrt((X * X).sum(axis=1, keepdims=True))
            return X / np.where(norms == 0, 1, norms)
        out = X.copy()
        out[:, : len(self.arrays["centre"])] -= self.arrays["centre"]
        return out / self.arrays["scale"]


@pytest.mark.parametrize("kind", ["standard", "maxabs", "unit"])
def test_scaling_is_in_the_graph(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5)).round(1) * [1, 10, 100, 0.1, 1]
    X[3] = 0
    linear = linear_of(rng.standard_normal((3, 5)), rng.standard_normal(3))
    centre = X.mean(axis=0)[:3] if kind == "standard" else ()
    linear.scaling = Scaling(kind, centre, np.abs(X).max(axis=0))
    labels, _ = session(linear).run(None, {"X": X})
    assert labels.tolist() == linear.predict(X).tolist()


def test_an_unknown_scaling_is_refused():
    linear = linear_of([[1.0]], [0.0])
    linear.scaling = Scaling("rank")
    with pytest.raises(ValueError, match="'rank' has no ONNX form"):
        to_onnx(linear)


def test_without_onnx(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'novikoff\[onnx\]'"):
        to_onnx(linear_of([[1.0]], [0.0]))


def test_the_same_model_is_the_same_graph():
    first, second = (to_onnx(linear_of([[0.1, 2.0]], [1.0])).SerializeToString() for _ in range(2))
    assert first == second


# ---- real files ----------------------------------------------------------------------------------------
def agrees(model, X):
    """Whether every row has the label of the estimator."""
    run = session(model.to_linear())
    expected = model.predict(X)
    for i in range(0, X.shape[0], 4000):
        rows = X[i : i + 4000]
        rows = rows.toarray() if hasattr(rows, "toarray") else rows
        labels, _ = run.run(None, {"X": np.asarray(rows, dtype=float)})
        assert (labels == expected[i : i + 4000]).all()


VARIANTS = [{}, {"average": True}, {"rule": "pa1"}]


@pytest.mark.parametrize(
    ("train", "test"),
    [
        ("a9a.xz", "a9a.t.xz"),
        ("w8a.xz", None),
        ("ijcnn1.trn.bz2", "ijcnn1.tst.bz2"),
        ("mushrooms.txt.xz", None),
        ("phishing.txt.xz", None),
        ("splice.txt.xz", None),
    ],
)
def test_every_row_of_the_real_files(train, test):
    """On phishing, where every value is 0.18257, a plain MatMul gets three rows wrong."""
    X, y = novikoff.load(at_hand(f"libsvm/{train}"))
    for params in VARIANTS:
        model = Perceptron(order="cyclic", max_epochs=3, **params).fit(X, y)
        agrees(model, X)
        if test:
            agrees(model, novikoff.load(at_hand(f"libsvm/{test}"), n_features=X.shape[1])[0])


def test_every_row_of_covtype():
    with gzip.open(at_hand("covtype/covtype.csv.gz"), "rt") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1)
    X, y = np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(int)
    assert X.shape == (581_012, 54)
    agrees(Perceptron(order="cyclic", max_epochs=2, average=True).fit(X, y), X)
