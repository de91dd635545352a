"""Numbers that no double holds are refused, the first named, unless rounding is asked for."""

import datetime
import warnings
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import novikoff
from novikoff import theory
from novikoff.data.rounding import Rounding, RoundingWarning, as_doubles, nearest_double
from support.marks import may_not_separate

ODD = 2**53 + 1  # the first integer that no double holds
LONG = np.finfo(np.longdouble).nmant > 52  # whether a long double holds more than a double
PAIR = np.array([[2**53], [ODD]])


def estimators():
    return [
        novikoff.Perceptron(max_epochs=2),
        novikoff.VotedPerceptron(max_epochs=2),
        novikoff.Pocket(max_epochs=2),
        novikoff.Winnow(max_epochs=2),
        novikoff.KernelPerceptron("poly", gamma=1e-20, max_epochs=2),
    ]


def named(estimator):
    return type(estimator).__name__


# ---- which integers a double holds ---------------------------------------------------------------------
@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(2**53 - 3, 2**53 + 9), min_size=1))
def test_an_integer_is_refused_exactly_where_its_double_is_another_number(values):
    array = np.array(values, dtype=np.int64)
    told = Rounding("nearest")
    doubles = as_doubles(array, told, str)
    wrong = [k for k, v in enumerate(values) if int(float(v)) != v]
    assert doubles.tolist() == [float(v) for v in values]
    assert told.count == len(wrong)
    assert not wrong or told.first == f"{values[wrong[0]]} at {wrong[0]}"


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1))
def test_unsigned_integers_too(values):
    told = Rounding("nearest")
    assert as_doubles(np.array(values, dtype=np.uint64), told, str).tolist() == [float(v) for v in values]
    assert told.count == sum(int(float(v)) != v for v in values)


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (ODD, False),
        (str(ODD), False),
        (f"  -{ODD} ", False),
        (f"{ODD}.0", True),  # a decimal means the nearest double
        ("9007199254740993e0", True),
        (Decimal(ODD), False),  # digits alone
        (Decimal("9007199254740993.5"), True),
        (Decimal("0.1"), True),
        (Fraction(1, 3), False),
        (Fraction(1, 4), True),
        (10**400, False),
        ("9" * 5000, False),
        (-(10**400), False),
        (2**1000, True),
        (True, True),
        (np.int64(ODD), False),
        (np.float32(0.1), True),
    ],
)
def test_what_a_number_of_any_kind_means(value, exact):
    assert nearest_double(value)[1] is exact


# ---- arrays --------------------------------------------------------------------------------------------
def bad_arrays():
    now = np.datetime64("2026-11-16T12:00:00.000000001", "ns")
    out = {
        "int64": PAIR,
        "uint64": PAIR.astype(np.uint64),
        "big-endian": PAIR.astype(">i8"),
        "fortran": np.asfortranarray(np.hstack([PAIR, PAIR])),
        "objects": PAIR.astype(object),
        "list": PAIR.tolist(),
        "beside a float": [[2.0**53, 0.5], [ODD, 0.5]],
        "beside a negative": [[2**63], [-1], [2**63 + 1]],
        "beyond int64": [[1], [2**64 + 1]],
        "text": [[str(2**53)], [str(ODD)]],
        "csr": sp.csr_array(PAIR),
        "csc": sp.csc_array(PAIR),
        "coo": sp.coo_array(PAIR),
        "fraction": [[Fraction(1, 2)], [Fraction(1, 3)]],
        "decimal": [[Decimal(2**53)], [Decimal(ODD)]],
        "timestamp": np.array([[now], [now + 1]]),
        "duration": np.array([[2**53], [ODD]]).astype("m8[ns]"),
        "matrix": PAIR.view(np.matrix),
        "masked": np.ma.MaskedArray(PAIR),
    }
    if LONG:
        out["long double"] = np.array([[2**53], [ODD]], dtype=np.longdouble)
        out["tiny"] = np.array([[1], [np.longdouble(2) ** -1080]], dtype=np.longdouble)
    return out


@pytest.mark.parametrize("kind", bad_arrays())
def test_separability_refuses_what_it_would_have_to_round(kind):
    X = bad_arrays()[kind]
    y = [0, 1] if np.shape(X)[0] == 2 else [0, 1, 1]
    with pytest.raises(ValueError, match=r"X\[[012], 0\] is .*no double.*rounding='nearest'|beyond"):
        theory.separability(X, y)
    with pytest.warns(RoundingWarning, match="rounded to the nearest double; the first is"):
        theory.separability(X, y, rounding="nearest", fit_intercept=False)


def test_the_error_says_which_value_where_and_what_to_do():
    with pytest.raises(ValueError) as error:
        theory.separability(PAIR, [0, 1])
    assert str(error.value) == (
        "X[1, 0] is 9007199254740993, which no double holds (the nearest is 9007199254740992): "
        "subtract an offset or scale first, or ask for rounding='nearest'."
    )


def test_what_doubles_hold_is_as_good_as_ever():
    for exact in (2**60, 2**53 + 2, -(2**63), 1 - 2**53):
        assert theory.separability(np.array([[exact], [0]]), [0, 1]).verdict == "separable"
    assert theory.separability(PAIR - 2**53, [0, 1]).verdict == "separable"
    assert theory.separability([[2**60, 0.5], [2**61, 0.5]], [0, 1]).verdict == "separable"


def test_decimals_mean_the_nearest_double():
    verdict = theory.separability(
        [[Decimal("0.1")], [Decimal("0.1000000000000000055511151231257827")]], [0, 1]
    )
    assert verdict.verdict == "inseparable"
    assert theory.separability([[Decimal("0.1")], [Decimal("0.2")]], [0, 1]).verdict == "separable"


@may_not_separate
@pytest.mark.parametrize("estimator", estimators(), ids=named)
def test_estimators_refuse_or_round(estimator):
    X, y = np.array([[1, 2**53], [0, ODD]]), [0, 1]
    with pytest.raises(ValueError, match=r"X\[1, 1\] is 9007199254740993.*rounding="):
        estimator.fit(X, y)
    estimator.set_params(rounding="nearest")
    with pytest.warns(RoundingWarning, match=r"1 value rounded.*9007199254740993 at X\[1, 1\]"):
        estimator.fit(X, y)
    doubles = X.astype(float)
    with pytest.warns(RoundingWarning):
        predicted = estimator.predict(X)
    assert predicted.tolist() == estimator.predict(doubles).tolist()
    estimator.set_params(rounding="never")
    with pytest.raises(ValueError, match=r"X\[1, 1\]"):
        estimator.predict(X)
    if hasattr(estimator, "decision_function"):
        with pytest.raises(ValueError, match=r"X\[1, 1\]"):
            estimator.decision_function(X)
    if hasattr(estimator, "partial_fit"):
        with pytest.raises(ValueError, match=r"X\[1, 1\]"):
            estimator.partial_fit(X, y)
    with pytest.raises(ValueError, match="rounding='up' is not possible: expected one of 'never', 'nearest'"):
        estimator.set_params(rounding="up").fit(doubles, y)


def test_rounding_gives_the_model_of_the_doubles():
    rng = np.random.default_rng(0)
    X = rng.integers(2**60, 2**61, size=(40, 3))
    y = rng.integers(0, 2, 40)
    kwargs = {"order": "cyclic", "max_epochs": 3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = novikoff.Perceptron(rounding="nearest", **kwargs).fit(X, y)
        other = novikoff.Perceptron(**kwargs).fit(X.astype(float), y)
    np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize(
    "call",
    [
        lambda X, y, **k: theory.radius(X, **k),
        lambda X, y, **k: theory.max_margin(X, y, **k),
        lambda X, y, **k: theory.bounds(X, y, time_limit=1, **k),
        lambda X, y, **k: theory.best_in_hindsight(X, y, max_iterations=2, **k),
        lambda X, y, **k: theory.trace(X, y, max_epochs=1, **k),
        lambda X, y, **k: theory.certify(X, y, time_limit=1, **k),
        lambda X, y, **k: theory.diagnose(X, y, n_orders=1, time_limit=1, **k),
        lambda X, y, **k: theory.margin(X, y, [1.0, 0.0], **k),
        lambda X, y, **k: theory.empirical_risk(X, y, [1.0, 0.0], **k),
    ],
)
def test_every_function_of_the_theory(call):
    X, y = np.array([[2**53 - 2], [ODD], [5]]), [0, 1, 0]
    with pytest.raises(ValueError, match=r"X\[1, 0\] is 9007199254740993"):
        call(X, y)
    with pytest.warns(RoundingWarning, match="1 value"):
        call(X, y, rounding="nearest")
    with pytest.raises(ValueError, match="rounding='down'"):
        call(X, y, rounding="down")


# ---- what is no matrix of numbers ----------------------------------------------------------------------
NO_NUMBERS = {
    "complex": (np.array([[1j], [2]]), "[Cc]omplex"),
    "NaT": (np.array([["2020-01-01"], ["NaT"]], dtype="M8[s]"), r"X\[1, 0\] is NaT"),
    "None": ([[1.0], [None]], r"X\[1, 0\] is None"),
    "word": ([[1.0], ["two"]], r"X\[1, 0\] is 'two'"),
    "datetime": ([[1.0], [datetime.datetime(2020, 1, 1)]], r"X\[1, 0\] is datetime"),
    "structured": (np.zeros((2, 1), dtype=[("a", float)]), "where a number is expected"),
    "masked": (np.ma.MaskedArray([[1.0], [2.0]], mask=[[False], [True]]), r"X\[1, 0\] is masked"),
    "ragged": ([[1.0, 2.0], [1.0]], "row 0 has 2 values, but row 1 has 1"),
    "0-d": (np.float64(3), "shape|Expected 2D"),
    "1-d": (np.array([1.0, 2.0]), "shape|Expected 2D"),
    "3-d": (np.zeros((2, 1, 1)), "shape|dim 3"),
}


@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_what_is_no_matrix_of_numbers_is_one_clear_error(kind):
    X, message = NO_NUMBERS[kind]
    with pytest.raises((ValueError, TypeError), match=message):
        theory.separability(X, [0, 1])
    for estimator in estimators():
        with pytest.raises((ValueError, TypeError), match=message):
            estimator.fit(X, [0, 1])


@pytest.mark.parametrize(
    "make",
    [
        lambda X: X.astype(bool),
        lambda X: X.astype(np.float16),
        lambda X: X.astype(">f8"),
        lambda X: X.astype(">i2"),
        lambda X: X.astype(object),
        lambda X: X.view(np.matrix),
        lambda X: np.ma.MaskedArray(X),
        lambda X: X.astype(np.longdouble),
        lambda X: X.astype("U"),
        lambda X: X.astype(int).astype("m8[s]"),
        lambda X: X.tolist(),
        lambda X: [tuple(map(Fraction, row)) for row in X.astype(int).tolist()],
        lambda X: sp.csr_array(X.astype(bool)),
        lambda X: sp.csc_array(X.astype(np.int64)),
        lambda X: sp.coo_array(X.astype(np.uint64)),
        lambda X: sp.lil_array(X),
    ],
)
def test_every_type_of_exact_numbers_is_the_same_matrix(make):
    X, y = np.eye(6)[[0, 1, 2, 3, 4, 5, 0]], [0, 1, 1, 0, 1, 0, 0]
    given = make(X)
    model = novikoff.Perceptron(order="cyclic").fit(given, y)
    expected = novikoff.Perceptron(order="cyclic").fit(X, y)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert model.predict(given).tolist() == expected.predict(X).tolist()
    found = theory.separability(given, y)
    assert found.verdict == "separable"


# ---- sparse matrices -----------------------------------------------------------------------------------
@pytest.mark.parametrize("indices", [">i4", ">i8", "i2", "u4", "u8", "i8", "u1"])
@pytest.mark.parametrize("indptr", [">i4", "i8", "u2"])
@pytest.mark.parametrize("data", ["f8", ">f8", "f4", ">f4", "i8", ">i4", "?"])
def test_indices_of_any_integer_type(indices, indptr, data):
    X = sp.csr_array(np.array([[1.0, 0, 1], [0, 1, 0], [0, 1, 1]]))
    given = X.copy()
    given.data = X.data.astype(data)
    given.indices, given.indptr = X.indices.astype(indices), X.indptr.astype(indptr)
    y = [0, 1, 1]
    model = novikoff.Perceptron(order="cyclic").fit(given, y)
    np.testing.assert_array_equal(model.coef_, novikoff.Perceptron(order="cyclic").fit(X, y).coef_)
    assert model.predict(given).tolist() == y
    assert theory.separability(given, y).verdict == "separable"


def test_indices_that_are_no_integers():
    X = sp.csr_array(np.eye(2))
    X.indices = X.indices.astype(float)
    for call in (novikoff.Perceptron().fit, theory.separability):
        with pytest.raises(ValueError, match="indices of the sparse X are of type float64"):
            call(X, [0, 1])


def test_the_place_in_a_sparse_matrix():
    X = sp.csr_array(([1, 2, ODD], ([0, 0, 2], [0, 3, 1])), shape=(3, 4))
    with pytest.raises(ValueError, match=r"X\[2, 1\] is 9007199254740993"):
        theory.separability(X, [0, 1, 0])


# ---- data frames ---------------------------------------------------------------------------------------
def bad_frames():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    floats, integers = [0.5, 1.5], [2**53, ODD]
    times = np.array(["2026-11-16T12:00:00.000000001", "2026-11-16T12:00:00.000000002"], dtype="M8[ns]")
    frame = pd.DataFrame({"a": floats, "b": integers})
    return {
        "pandas": frame,
        "Int64": frame.astype({"b": "Int64"}),
        "Int64 with a null": pd.DataFrame({"a": floats, "b": pd.array([None, ODD], dtype="Int64")}),
        "pyarrow in pandas": frame.astype({"b": "int64[pyarrow]"}),
        "times": pd.DataFrame({"a": floats, "b": times}),
        "times with a zone": pd.DataFrame({"a": floats, "b": pd.Series(times).dt.tz_localize("UTC")}),
        "objects": frame.astype(object),
        "decimals": pd.DataFrame({"a": floats, "b": [Decimal(2**53), Decimal(ODD)]}),
        "polars": pl.DataFrame({"a": floats, "b": integers}),
        "polars with a null": pl.DataFrame({"a": floats, "b": [None, ODD]}),
        "pyarrow": pa.table({"a": floats, "b": integers}),
        "pyarrow decimals": pa.table({"a": floats, "b": [Decimal(2**53), Decimal(ODD)]}),
        "pyarrow with a null": pa.table({"a": floats, "b": pa.array([None, ODD])}),
        "batch": pa.record_batch({"a": floats, "b": integers}),
    }


def test_integers_beside_floats_in_frames():
    for kind, X in bad_frames().items():
        for call in (novikoff.Perceptron().fit, theory.separability):
            with pytest.raises(
                ValueError, match=r"(X\[[01], 'b'\]|X, row [01]: the column 'b') is .*no double holds"
            ):
                call(X, [0, 1])
                pytest.fail(kind)


@may_not_separate
def test_frames_of_numbers_that_doubles_hold():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    columns = {"a": [1.5, 2.0, -1.0], "b": [2**60, -3, 2**53 + 2]}
    expected = novikoff.Perceptron(order="cyclic").fit(np.array(list(columns.values()), float).T, [0, 1, 0])
    pandas = pd.DataFrame(columns)
    for X in (
        pandas,
        pandas.astype({"b": "Int64"}),
        pandas.astype({"b": "UInt64"}) if min(columns["b"]) >= 0 else pandas,
        pandas.astype({"b": "int64[pyarrow]"}),
        pandas.astype(object),
        pl.DataFrame(columns),
        pa.table(columns),
    ):
        model = novikoff.Perceptron(order="cyclic").fit(X, [0, 1, 0])
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        assert (
            model.predict(X).tolist() == expected.predict(np.array(list(columns.values()), float).T).tolist()
        )
        assert theory.separability(X, [0, 1, 0]).verdict == "separable"


def test_nulls_in_frames_are_named():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    for X in (
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
        pl.DataFrame({"a": [1, None]}),
        pd.DataFrame({"a": pd.array([True, None], dtype="boolean")}),
    ):
        for call in (novikoff.Perceptron().fit, theory.separability):
            with pytest.raises(ValueError, match="NaN at row 1, column 0"):
                call(X, [0, 1])


# ---- one example at a time -----------------------------------------------------------------------------
def single_values():
    out = [ODD, -ODD, np.int64(ODD), np.uint64(ODD), Fraction(1, 3), Decimal(ODD)]
    return out + ([np.longdouble(ODD)] if LONG else [])


@pytest.mark.parametrize("value", single_values(), ids=lambda v: f"{type(v).__name__} {v}")
def test_dicts_refuse_what_no_double_holds(value):
    for model in (
        novikoff.OnlinePerceptron(),
        novikoff.OnlinePerceptron(hash_bits=8),
        novikoff.OnlineKernelPerceptron("linear", budget=3),
    ):
        model.learn_one({"a": 1}, 0)
        model.learn_one({"a": -1}, 1)
        for call in (model.predict_one, lambda x, model=model: model.learn_one(x, 1)):
            with pytest.raises(ValueError, match=r"feature 'a' is .*no double holds.*float\(\.\.\.\)"):
                call({"a": value})
        model.learn_one({"a": float(value)}, 1)
        model.learn_one({"a": Decimal("0.1")}, 1)


@pytest.mark.parametrize(
    "value",
    [
        2**60,
        np.int64(2**60),
        np.uint8(7),
        np.float32(0.1),
        Fraction(1, 4),
        Decimal("0.1"),
        True,
        np.bool_(True),
    ],
)
def test_dicts_take_what_doubles_hold(value):
    one, other = novikoff.OnlinePerceptron(classes=[0, 1]), novikoff.OnlinePerceptron(classes=[0, 1])
    for _ in range(3):
        one.learn_one({"a": value}, 0)
        other.learn_one({"a": float(value)}, 0)
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_times_are_no_numbers_in_dicts():
    for value in (np.datetime64("2020-01-01", "ns"), np.timedelta64(3, "ns")):
        with pytest.raises(TypeError, match="feature 'a': a value is a number or a str"):
            novikoff.OnlinePerceptron().learn_one({"a": value}, 0)


def test_vectors_one_at_a_time():
    model = novikoff.OnlineKernelPerceptron("linear", budget=3)
    model.learn_one([1.0, 2.0], 0)
    for x in ([ODD, 0.5], np.array([1, ODD])):
        with pytest.raises(ValueError, match=r"x\[[01]\] is 9007199254740993"):
            model.learn_one(x, 1)


@pytest.mark.filterwarnings("ignore:The training")
@pytest.mark.parametrize("value", single_values(), ids=lambda v: f"{type(v).__name__} {v}")
def test_taggers(value):
    X, y = [[{"a": 1.0}, {"b": value}]], [["x", "y"]]
    with pytest.raises(ValueError, match=r"sentence 0, token 1: the feature 'b' is .*no double holds"):
        novikoff.SequenceTagger().fit(X, y)
    novikoff.SequenceTagger(max_epochs=2).fit([[{"a": 1.0}, {"b": float(value) / 2**53}]], y)


def test_structured_features():
    model = novikoff.StructuredPerceptron(novikoff.structured.Multiclass(), max_epochs=1)
    with pytest.raises(ValueError, match=r"x\[1\] is 9007199254740993"):
        model.fit([np.array([1, 2]), np.array([1, ODD])], ["a", "b"])


def test_expansions():
    X = np.array([[1, 0], [1, ODD]])
    with pytest.raises(ValueError, match=r"X\[1, 1\] is 9007199254740993"):
        novikoff.PolynomialExpansion(2).fit(X)
    with pytest.raises(ValueError, match=r"X\[1, 1\] is 9007199254740993"):
        novikoff.PolynomialExpansion(2).fit(np.eye(2)).transform(X)
    with pytest.raises(ValueError, match=r"X\[1, 1\] is 9007199254740993"):
        novikoff.MonotoneConjunctions().fit(X)


@may_not_separate
def test_loaded_models(tmp_path):
    X, y = np.array([[1.0, 0], [0, 1]]), [0, 1]
    bad = np.array([[1, 0], [0, ODD]])
    for estimator in (novikoff.Perceptron(), novikoff.KernelPerceptron("linear")):
        estimator.fit(X, y).save(tmp_path / "m")
        model = novikoff.load_model(tmp_path / "m")
        with pytest.raises(ValueError, match=r"X\[1, 1\] is 9007199254740993"):
            model.predict(bad)
        assert model.predict(np.array([[1, 0], [0, 1]])).tolist() == y


def test_blocks_on_a_cluster(monkeypatch):
    pytest.importorskip("distributed")
    from novikoff.distributed import tasks
    from novikoff.distributed.loading import Predictor, predict, read_rows

    monkeypatch.setattr(tasks, "get_worker", lambda: SimpleNamespace(address="here"))
    X = np.array([[1, 0], [0, ODD]])
    with pytest.raises(ValueError, match=r"block 0, on worker here: X\[1, 1\] is 9007199254740993"):
        read_rows("block 0", [X], [[0, 1]], None)
    with pytest.warns(RoundingWarning):
        rows = read_rows("block 0", [X], [[0, ODD]], None, "nearest")
    assert rows.X.tolist() == X.astype(float).tolist() and rows.y.tolist() == [0, ODD]
    model = Predictor(np.array([[-1.0, 1.0]]), np.array([0.0]), np.array([0, 1]))
    with pytest.raises(ValueError, match=r"X\[1, 1\]"):
        predict(model, X)
