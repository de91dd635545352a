"""Weights and labels of rows: which are one clear error, and that labels stay what they are."""

import numpy as np
import pytest

import novikoff
from novikoff import theory

ODD = 2**53 + 1  # the first integer that no double holds
LONG = np.finfo(np.longdouble).nmant > 52  # whether a long double holds more than a double
PAIR = np.array([[2**53], [ODD]])


# ---- weights -------------------------------------------------------------------------------------------
BAD_WEIGHTS = {
    "NaN": (np.nan, "sample_weight is nan: weights are finite"),
    "NaNs": ([1.0, np.nan, 1.0], r"sample_weight\[1\] is nan"),
    "infinity": ([1.0, 1.0, np.inf], r"sample_weight\[2\] is inf"),
    "negative": ([1.0, -1.0, 1.0], r"sample_weight\[1\] is -1: .*not negative"),
    "a negative": (-2, "sample_weight is -2"),
    "shape": ([1.0, 2.0], r"shape \(2,\), but there are 3 rows"),
    "columns": (np.ones((3, 1)), r"shape \(3, 1\)"),
    "zeros": ([0, 0, 0], "every sample_weight is zero"),
    "zero": (0.0, "every sample_weight is zero"),
    "text": (["1", "1", "1"], r"sample_weight\[0\] is .*'1'"),
    "word": ("heavy", "sample_weight is .*'heavy'"),
    "None": ([1.0, None, 1.0], r"sample_weight\[1\] is None"),
    "complex": ([1j, 1, 1], "[Cc]omplex"),
    "masked": (np.ma.MaskedArray([1.0, 2, 3], mask=[0, 1, 0]), r"sample_weight\[1\] is missing"),
    "odd": ([1, 2, ODD], r"sample_weight\[2\] is 9007199254740993"),
}


@pytest.mark.parametrize("kind", BAD_WEIGHTS)
def test_bad_weights_are_one_clear_error(kind):
    weights, message = BAD_WEIGHTS[kind]
    X, y = np.array([[1.0, 0], [0, 1], [1, 1]]), [0, 1, 1]
    calls = [
        novikoff.Perceptron().fit,
        novikoff.Perceptron().partial_fit,
        novikoff.VotedPerceptron().fit,
        novikoff.VotedPerceptron().partial_fit,
        novikoff.Pocket().fit,
        theory.max_margin,
        theory.bounds,
        theory.best_in_hindsight,
        theory.trace,
        theory.diagnose,
        lambda X, y, **k: theory.margins(X, y, [1.0, 0, 0], **k),
        lambda X, y, **k: theory.empirical_risk(X, y, [1.0, 0, 0], **k),
        lambda X, y, **k: theory.radius(X, **k),
    ]
    for call in calls:
        with pytest.raises((ValueError, TypeError), match=message):
            call(X, y, sample_weight=weights)


def test_one_weight_is_everyones():
    X, y = np.array([[1.0, 0], [0, 1], [1, 1]]), [0, 1, 1]
    one = novikoff.Perceptron(order="cyclic").fit(X, y, sample_weight=2)
    each = novikoff.Perceptron(order="cyclic").fit(X, y, sample_weight=[2, 2, 2])
    np.testing.assert_array_equal(one.coef_, each.coef_)


# ---- labels --------------------------------------------------------------------------------------------
X3 = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])


def label_columns():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    integers, words = [ODD, 3, ODD + 1], ["b", "a", "c"]
    return {
        "Int64": (pd.Series(integers, dtype="Int64"), integers),
        "UInt64": (pd.Series(integers, dtype="UInt64"), integers),
        "int64[pyarrow]": (pd.Series(integers, dtype="int64[pyarrow]"), integers),
        "array": (pd.array(integers, dtype="Int64"), integers),
        "index": (pd.Index(integers), integers),
        "frame": (pd.DataFrame({"y": pd.array(integers, dtype="Int64")}), integers),
        "boolean": (pd.Series([True, False, True], dtype="boolean"), [True, False, True]),
        "string": (pd.Series(words, dtype="string"), words),
        "str": (pd.Series(words), words),
        "category": (pd.Series(words, dtype="category"), words),
        "category of integers": (pd.Series([5, 7, 5], dtype="category"), [5, 7, 5]),
        "polars": (pl.Series(integers), integers),
        "polars words": (pl.Series(words), words),
        "polars categories": (pl.Series(words, dtype=pl.Categorical), words),
        "pyarrow": (pa.array(integers), integers),
        "pyarrow chunks": (pa.chunked_array([integers[:1], integers[1:]]), integers),
        "pyarrow words": (pa.array(words), words),
        "pyarrow booleans": (pa.array([True, False, True]), [True, False, True]),
    }


@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_labels_of_columns_stay_what_they_are():
    for kind, (column, labels) in label_columns().items():
        model = novikoff.Perceptron(order="cyclic").fit(X3, column)
        assert model.predict(X3).tolist() == labels, kind
        assert model.classes_.tolist() == sorted(set(labels)), kind
        assert type(model.classes_.tolist()[0]) is type(labels[0]), kind
        if kind != "frame":
            assert theory.separability(X3, column).verdict == "separable", kind
            online = novikoff.Perceptron(order="cyclic").partial_fit(X3, column, classes=sorted(set(labels)))
            assert online.classes_.tolist() == sorted(set(labels)), kind


def missing_labels():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    return {
        "Int64": pd.Series([1, None, 2], dtype="Int64"),
        "boolean": pd.Series([True, None, False], dtype="boolean"),
        "string": pd.Series(["a", None, "b"], dtype="string"),
        "category": pd.Series(["a", None, "b"], dtype="category"),
        "objects": pd.Series(["a", None, "b"], dtype=object),
        "NA": np.array(["a", pd.NA, "b"], dtype=object),
        "time": pd.Series(["2020-01-01", None, "2021-01-01"], dtype="datetime64[ns]"),
        "polars": pl.Series([1, None, 2]),
        "polars words": pl.Series(["a", None, "b"]),
        "pyarrow": pa.array([1, None, 2]),
        "pyarrow chunks": pa.chunked_array([["a"], [None, "b"]]),
        "list": [1, None, 2],
        "words": ["a", None, "b"],
        "object NaN": np.array(["a", np.nan, "b"], dtype=object),
        "masked": np.ma.MaskedArray([1, 2, 3], mask=[0, 1, 0]),
    }


def test_a_missing_label_is_named():
    for kind, y in missing_labels().items():
        for call in (novikoff.Perceptron().fit, novikoff.Perceptron().partial_fit, theory.separability):
            with pytest.raises(ValueError, match=r"y\[1\] is .*: every row needs a label"):
                call(X3, y)
                pytest.fail(kind)


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        ([1, "1", 1], TypeError, "mixes int and str"),
        (["a", 1, 2], TypeError, "mixes int and str"),
        ([b"a", "a", "b"], TypeError, "mixes bytes and str"),
        ([ODD, 2.0**53, 1], ValueError, r"y\[0\] is 9007199254740993, which no double holds"),
        ([2**63 + 1, -1, 2**63], ValueError, "no double holds"),
        ([1j, 2, 3], ValueError, "complex"),
        (np.zeros(3, dtype=[("a", int)]), ValueError, "class labels"),
        ([1.5, 2, 3], ValueError, "continuous"),
        ([1.0, np.nan, 2], ValueError, "NaN"),
        ([1.0, np.inf, 2], ValueError, "infinity"),
    ],
)
def test_labels_of_no_one_kind(y, error, message):
    for call in (novikoff.Perceptron().fit, novikoff.VotedPerceptron().fit, theory.separability):
        with pytest.raises(error, match=message):
            call(X3, y)


def test_text_that_looks_like_numbers_stays_text():
    model = novikoff.Perceptron(order="cyclic").fit(X3, ["1", "1.0", "01"])
    assert model.classes_.tolist() == ["01", "1", "1.0"]


def test_integer_labels_beyond_doubles_do_not_merge():
    labels = [2**53, ODD, 2**53 + 2]
    for dtype in (np.int64, np.uint64, object):
        y = np.array(labels, dtype=dtype)
        model = novikoff.Perceptron(order="cyclic").fit(X3, y)
        assert model.predict(X3).tolist() == labels
    declared = novikoff.Perceptron(order="cyclic").partial_fit(X3, np.array(labels), classes=labels)
    for dtype in (np.uint64, np.int64):
        many = np.array(labels * 20, dtype=dtype)  # more than a few
        declared.partial_fit(np.tile(X3, (20, 1)), many)
    assert declared.classes_.tolist() == labels
    for stranger in (float(ODD), 2.0**53 + 4):
        with pytest.raises(ValueError, match=r"were not declared|no double holds"):
            novikoff.VotedPerceptron().partial_fit(X3, np.array(labels[1:] + labels[1:2])).partial_fit(
                np.tile(X3, (20, 1)), np.full(60, stranger)
            )
    two = novikoff.Perceptron().partial_fit(X3[:2], np.array([1, ODD]))
    with pytest.raises(ValueError, match="9007199254740993 is an integer that no double holds"):
        two.partial_fit(X3[:1], np.array([2.0**54]))
