"""One clear error for each kind of bad input, before anything changes."""

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from novikoff import KernelPerceptron, Perceptron, Winnow
from support.marks import may_not_separate

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [0.5, 3.0]])
y = np.array([0, 1, 1, 0])


def with_value(row, column, value):
    bad = X.copy()
    bad[row, column] = value
    return bad


def sparse_with_index(index):
    bad = sp.csr_array(X)
    bad.indices = bad.indices.copy()
    bad.indices[-1] = index
    return bad


BAD_DATA = {
    "NaN": ((with_value(2, 1, np.nan), y), ValueError, "NaN at row 2, column 1"),
    "infinity": ((with_value(0, 0, -np.inf), y), ValueError, "infinity at row 0, column 0"),
    "sparse NaN": ((sp.csr_array(with_value(2, 1, np.nan)), y), ValueError, "NaN at row 2, column 1"),
    "1-D X": ((X[:, 0], y), ValueError, "Expected 2D array, got 1D"),
    "ragged": (([[1, 2], [3]], [0, 1]), ValueError, "row 0 has 2 values, but row 1 has 1"),
    "empty": ((X[:0], y[:0]), ValueError, "0 sample"),
    "no features": ((X[:, :0], y), ValueError, "0 feature"),
    "lengths": ((X, y[:3]), ValueError, "X has 4 rows, but y has 3"),
    "one class": ((X, np.ones(4)), ValueError, "only one class: "),
    "continuous y": ((X, y + 0.5), ValueError, "Unknown label type: continuous"),
    "NaN in y": ((X, np.where(y, np.nan, 0.0)), ValueError, "y contains NaN"),
    "no y": ((X, None), ValueError, "y is None"),
    "mixed labels": ((X, np.array([0, "a", 1, "b"], dtype=object)), TypeError, "mixes"),
    "words": ((np.array([["a", "b"]] * 4), y), ValueError, "could not convert"),
    "index too large": ((sparse_with_index(7), y), ValueError, "has index 7, but X has 2 columns"),
    "negative index": ((sparse_with_index(-1), y), ValueError, "has index -1"),
}


@pytest.mark.parametrize("name", BAD_DATA)
def test_bad_data(name):
    args, error, message = BAD_DATA[name]
    model = Perceptron(random_state=0)
    with pytest.raises(error, match=message):
        model.fit(*args)
    assert not hasattr(model, "coef_")
    # a fitted model stays as it was, through fit and partial_fit alike
    model.fit(X, y)
    before = pickle.dumps(model)
    with pytest.raises(error, match=message):
        model.fit(*args)
    assert pickle.dumps(model) == before
    if name != "one class" and "feature" not in name:
        with pytest.raises((error, ValueError)):
            model.partial_fit(*args)
        assert pickle.dumps(model) == before


BAD_PARAMETERS = [
    ({"rule": "hebb"}, "'perceptron', 'normalized', 'margin', 'pa', 'pa1', 'pa2'"),
    ({"order": "random"}, "'shuffle', 'riffle', 'cyclic', 'worst'"),
    ({"ties": "negative"}, "'positive', 'mistake'"),
    ({"multiclass": "ovo"}, "'joint', 'ovr'"),
    ({"margin": -1}, "a number ≥ 0"),
    ({"margin": float("nan")}, "a number ≥ 0"),
    ({"C": 0}, "a number > 0"),
    ({"max_epochs": 0}, "a whole number ≥ 1"),
    ({"max_epochs": 2.5}, "a whole number ≥ 1"),
    ({"average": "yes"}, "True or False"),
    ({"intercept_scaling": 0}, "between"),
    ({"validation_fraction": 1.0}, "between 0 and 1"),
    ({"n_jobs": 0}, "not 0"),
    ({"callback": 3}, "callable"),
    ({"class_weight": {0: -1.0}}, "≥ 0"),
    ({"random_state": -1}, "whole number"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")) as caught:
        Perceptron(**parameters).fit(X, y)
    assert next(iter(parameters)) in str(caught.value)


@may_not_separate
def test_wrong_feature_count():
    model = Perceptron(max_epochs=2).fit(X, y)
    for call in (model.predict, model.decision_function, lambda x: model.partial_fit(x, y)):
        with pytest.raises(ValueError, match="X has 3 features, but Perceptron is expecting 2"):
            call(np.ones((4, 3)))


def test_unknown_class_after_declaring():
    with pytest.raises(ValueError, match="not declared: 7; known are 0, 1"):
        Perceptron().partial_fit(X, [0, 1, 7, 0], classes=[0, 1])


def test_bad_weights():
    for weights, message in [(-np.ones(4), "egative"), (np.zeros(4), "non-zero"), (np.ones(3), "shape")]:
        with pytest.raises(ValueError, match=message):
            Perceptron().fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="class_weight names classes"):
        Perceptron(class_weight={5: 1.0}).fit(X, y)


@pytest.mark.parametrize("average", [False, True])
def test_overflow_names_the_row_and_a_scale(average):
    """fit and partial_fit stop at the update that would overflow, and partial_fit puts all updates back."""
    big = np.array([[1e308, -1e308], [1e308, 1e308], [-1.0, -1.0]])  # the second row ties after the first
    labels = np.array([1, 1, 0])
    for method in ("fit", "partial_fit"):
        model = Perceptron(average=average, ties="mistake", order="cyclic", fit_intercept=False)
        model.partial_fit(np.array([[1.0, 1.0]]), [1], classes=[0, 1])
        before = pickle.dumps(model)
        with pytest.raises(OverflowError, match=r"row 1 .* scale X by 2\*\*-1024"):
            getattr(model, method)(big, labels)
        assert pickle.dumps(model) == before


def test_init_shapes():
    with pytest.raises(ValueError, match=r"shapes \(1, 2\) and \(1,\)"):
        Perceptron().fit(X, y, coef_init=np.zeros(3))
    with pytest.raises(ValueError, match="fit_intercept"):
        Perceptron(fit_intercept=False).fit(X, y, intercept_init=[1.0])


def test_settings_cannot_change_between_chunks():
    model = Perceptron().partial_fit(X, y)
    model.rule = "pa"
    with pytest.raises(ValueError, match="cannot change the rule"):
        model.partial_fit(X, y)


def test_unknown_name_says_what_exists():
    import novikoff

    with pytest.raises(AttributeError, match=r"it has .*Perceptron"):
        novikoff.Perceptorn  # noqa: B018


@pytest.mark.parametrize("estimator", [Perceptron, KernelPerceptron, Winnow])
def test_nan_in_rows_whose_indices_are_not_in_order(estimator):
    """Such rows are put in order first; what is in them is looked at all the same."""
    X = sp.csr_array(([1.0, math.nan, 2.0, 3.0], [1, 0, 0, 1], [0, 2, 4]), shape=(2, 2))
    with pytest.raises(ValueError, match="NaN at row 0, column 0"):
        estimator().fit(X, [0, 1])
