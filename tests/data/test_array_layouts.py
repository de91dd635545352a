"""Rows in memory: however they lie there, they are the same rows, and what is no number is refused."""

import io

import numpy as np
import pytest
import scipy.sparse as sp

import novikoff
from novikoff import checker, theory
from novikoff.checker import Refused
from novikoff.data.labels import Renaming
from novikoff.parameters.linear import STEP_RULES, VARIANCE_RULES

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

INFINITE = (np.inf, -np.inf, np.nan)
TABLE = np.array([[1.0, 100], [2, 200], [-1, 300], [-2, 400]])


def estimators():
    return [
        novikoff.Perceptron(order="cyclic", max_epochs=3),
        novikoff.Perceptron("pa", average=True, order="cyclic", max_epochs=3),
        novikoff.VotedPerceptron(order="cyclic", max_epochs=3),
        novikoff.Pocket(max_epochs=3, random_state=0),
        novikoff.Winnow(balanced=True, order="cyclic", max_epochs=3),
        novikoff.KernelPerceptron("poly", gamma=1.0, order="cyclic", max_epochs=3),
        novikoff.KernelPerceptron("rbf", gamma=1.0, order="cyclic", max_epochs=3, budget=2),
    ]


def named(estimator):
    return f"{type(estimator).__name__}-{getattr(estimator, 'rule', getattr(estimator, 'kernel', ''))}"


# ---- arrays of a sparse matrix that are not contiguous -------------------------------------------------
def every_second(values):
    """The same values, with others in between."""
    wide = np.full((len(values), 2), 77, dtype=values.dtype)
    wide[:, 0] = values
    return wide[:, 0]


def backwards(values):
    """The same values, stored from the last to the first."""
    return values[::-1].copy()[::-1]


def scattered(make=sp.csr_array, kind=np.float64, index=np.int32):
    """A dense array, and sparse ones of the same numbers whose arrays have strides."""
    dense = np.array([[1, 0, 3], [0, 2, 0], [-1, 0, 1], [0, -2, -1]], dtype=kind)
    good = make(dense)
    parts = {"data": good.data, "indices": good.indices.astype(index), "indptr": good.indptr.astype(index)}
    for strided in (every_second, backwards):
        for names in (("data",), ("indices",), ("indptr",), ("data", "indices", "indptr")):
            given = make(dense)
            for name, array in parts.items():
                setattr(given, name, strided(array) if name in names else array)
            assert not all(getattr(given, name).flags.c_contiguous for name in names)
            yield dense.astype(np.float64), given


def state(model, X):
    return model.decision_function(X).tolist(), model.predict(X).tolist(), getattr(model, "n_mistakes_", None)


@pytest.mark.parametrize("estimator", estimators(), ids=named)
def test_strided_sparse_data_are_their_dense_copy(estimator):
    X = sp.csr_array((TABLE[:, 0], np.zeros(4, np.int32), np.arange(5, dtype=np.int32)), shape=(4, 1))
    dense, y = np.array([[1.0], [2], [-1], [-2]]), [1, 1, 0, 0]
    estimator.fit(dense, y)
    expected = state(estimator, dense)
    assert state(estimator, X) == expected
    assert state(estimator.fit(X, y), X) == expected


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int8, np.int64])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.csr_matrix])
def test_strides_of_every_array(make, kind, index):
    y = [1, 1, 0, 0]
    for dense, X in scattered(make, kind, index):
        model = novikoff.Perceptron(order="cyclic", max_epochs=5)
        expected = state(model.fit(dense, y), dense)
        assert state(model.fit(X, y), X) == expected
        assert state(model.partial_fit(X, y), X) == state(model.fit(dense, y).partial_fit(dense, y), dense)
        assert theory.radius(X) == theory.radius(dense)
        certificate = theory.certify(X, y)
        assert certificate.verify(X, y) == certificate.verify(dense, y)
        assert checker.Data(X, y).digest == checker.Data(dense, y).digest


@pytest.mark.parametrize("estimator", estimators(), ids=named)
def test_sparse_vectors_are_no_rows(estimator):
    for X in (sp.csr_array(np.ones(2)), sp.coo_array(np.ones(2)), sp.csr_array(np.ones(2, dtype=np.int64))):
        with pytest.raises(ValueError, match=r"2D|rows and columns"):
            estimator.fit(X, [0, 1])
        with pytest.raises(ValueError, match="rows and columns"):
            theory.separability(X, [0, 1])
    with pytest.raises(ValueError, match="rows and columns"):
        theory.radius(np.float64(1))


def test_integers_that_are_repeated_are_added_up_before_they_are_doubles():
    X = sp.csr_array((np.array([2**53, 1, 1]), np.array([0, 0, 0]), np.array([0, 2, 3])), shape=(2, 1))
    assert X.toarray().tolist() == [[2**53 + 1], [1]]
    with pytest.raises(ValueError, match=r"X\[0, 0\] is 9007199254740993, which no double holds"):
        theory.separability(X, [0, 1])
    with pytest.raises(ValueError, match=r"X\[0, 0\] is 9007199254740993, which no double holds"):
        novikoff.Perceptron().fit(X, [0, 1])


def test_masked_rows_in_a_list():
    rows = [np.ma.array([1.0, 2.0], mask=[1, 0]), [3.0, 4.0]]
    with pytest.raises(ValueError, match=r"X\[0\] holds masked values"):
        novikoff.Perceptron().fit(rows, [0, 1])
    with pytest.raises(Refused, match="masked"):
        checker.Data(rows, [0, 1])


# ---- infinity ------------------------------------------------------------------------------------------
PLACES = {
    "after a row whose square overflows": [[1e300], [None], [-1e300]],
    "in two columns": [[1e300, 0.0], [1.0, None], [-1e300, -1e300]],
    "at the end": [[1.0], [-1.0], [None]],
    "among zeros": [[0.0], [None], [0.0]],
    "beside the largest": [[1.7e308, 1.7e308], [None, 0.0], [-1e308, 0.0]],
}


def with_infinity(place, value, power=0):
    """The finite numbers are multiplied by 2^power."""
    return np.array([[value if x is None else x * 2.0**power for x in row] for row in PLACES[place]])


def perceptrons(rules):
    return (
        novikoff.Perceptron(rule, average=average, fit_intercept=bias, order="cyclic", max_epochs=1)
        for rule in rules
        for average, bias in ((False, False), (True, True))
    )


def learners():
    yield from perceptrons(STEP_RULES)
    yield novikoff.VotedPerceptron(fit_intercept=False, order="cyclic", max_epochs=1)
    yield novikoff.Pocket(fit_intercept=False, max_epochs=1, random_state=0)
    for kernel in ("linear", "poly", "rbf", "cosine"):
        yield novikoff.KernelPerceptron(kernel, gamma=1e-300, order="cyclic", max_epochs=1)
        for policy in ("projectron", "forgetron", "oldest"):
            yield novikoff.KernelPerceptron(
                kernel, gamma=1e-300, max_epochs=1, budget=2, budget_policy=policy
            )


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", INFINITE)
def test_infinity_is_no_number(place, value):
    X = with_infinity(place, value)
    with np.errstate(over="ignore"):
        single = X.astype(np.float32)
    for learner in learners():
        for rows in (X, single, sp.csr_array(X), sp.csc_array(X)):
            for y in ([1, 1, 0], [0, 1, 2]):
                with pytest.raises(ValueError, match=r"contains (infinity|NaN)"):
                    learner.fit(rows, y)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", INFINITE)
def test_infinity_is_no_number_of_rules_with_variances(place, value):
    """They need x² and refuse the first row whose square is no number, so the others are smaller here."""
    small = with_infinity(place, value, -800)
    for learner in perceptrons(VARIANCE_RULES):
        for rows in (small, sp.csr_array(small)):
            for y in ([1, 1, 0], [0, 1, 2]):
                with pytest.raises(ValueError, match=r"contains (infinity|NaN)"):
                    learner.fit(rows, y)
                with pytest.raises((ValueError, OverflowError), match=r"contains (infinity|NaN)|scale X by"):
                    learner.fit(with_infinity(place, value), y)


@pytest.mark.parametrize("value", INFINITE)
@pytest.mark.parametrize("sparse", [False, True])
def test_infinity_in_a_later_call(value, sparse):
    form = sp.csr_array if sparse else np.array
    for rule in ("perceptron", "margin", "pa", "arow", "scw"):
        model = novikoff.Perceptron(rule, fit_intercept=False)
        large = 1e100 if rule in VARIANCE_RULES else 1e300
        model.partial_fit(form([[large]]), [1], classes=[0, 1])
        with pytest.raises(ValueError, match=r"contains (infinity|NaN)"):
            model.partial_fit(form([[value]]), [1])
        with pytest.raises(ValueError, match=r"contains (infinity|NaN)"):
            model.predict(form([[value]]))
        assert model.predict(form([[1.0]])).tolist() == [1]


@pytest.mark.parametrize("value", INFINITE)
def test_infinity_one_row_at_a_time(value):
    for hash_bits in (None, 8):
        online = novikoff.OnlinePerceptron(fit_intercept=False, hash_bits=hash_bits)
        for learner in (online, novikoff.OnlineKernelPerceptron("linear", hash_bits=hash_bits)):
            for x, y in ((1e100, 1), (-1e100, 0)):
                learner.learn_one({"a": x}, y)
                with pytest.raises(ValueError, match=r"finite|infinity|NaN|inf|nan"):
                    learner.learn_one({"a": value}, y)
            assert learner.predict_one({"a": 1.0}) == 1


@pytest.mark.parametrize("make", [np.array, sp.csr_array])
def test_the_radius_of_rows_whose_squares_overflow(make):
    X = make([[1e300, 0.0], [-1e300, -1e300]])
    model = novikoff.Perceptron(fit_intercept=False, order="cyclic", max_epochs=1).fit(X, [1, 0])
    exact = np.hypot(np.longdouble(1e300), np.longdouble(1e300))
    assert exact <= model.radius_ <= exact * (1 + 1e-14)
    assert exact <= theory.radius(X, fit_intercept=False) <= exact * (1 + 1e-14)


# ---- labels and weights --------------------------------------------------------------------------------
X3 = np.array([[0.0], [1.0], [2.0]])


def test_labels_that_numpy_would_merge_stay_different():
    top = 2**64 - 1
    y = np.array([top, top - 1, top], dtype=np.uint64)
    model = novikoff.Perceptron(max_epochs=2).fit(X3, y)
    assert model.classes_.tolist() == [top - 1, top]
    assert model.partial_fit(X3, y).classes_.tolist() == [top - 1, top]
    texts = ["a", "a\0", "b"]  # NumPy drops zeros at the end
    assert novikoff.Perceptron(max_epochs=2).fit(X3, texts).classes_.tolist() == texts
    certificate = theory.certify(X3, texts)
    assert certificate.verify(X3, texts)
    with pytest.raises(Refused):
        certificate.verify(X3, ["a", "a", "b"])


def test_labels_of_any_length_are_certified_and_checked():
    y = [10**400, 10**400 + 1, 10**400 + 1]
    certificate = theory.certify(X3, y)
    assert certificate.verify(X3, y) == theory.certify(X3, [0, 1, 1]).verify(X3, [0, 1, 1])
    with pytest.raises(Refused, match="digests"):
        certificate.verify(X3, [10**400, 10**400 + 2, 10**400 + 2])
    with pytest.raises(Refused, match="bits"):
        checker.Data(X3, [10**5000, 1, 2])


@pytest.mark.parametrize(
    ("y", "match"),
    [
        ([np.datetime64(5, "ns"), 5, 6], "not a label"),  # which would be 5 as well
        ([np.timedelta64(5, "ns"), 5, 6], "not a label"),
        ([np.longdouble(5), 5, 6], "not a label"),
    ],
)
def test_labels_that_the_checker_cannot_tell_apart(y, match):
    with pytest.raises(Refused, match=match):
        checker.Data(X3, y)


def test_labels_that_are_no_labels():
    dates = np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="M8[D]")
    with pytest.raises(TypeError, match="neither a number nor text"):
        theory.certify(X3, dates)
    with pytest.raises(ValueError, match="y is sparse"):
        novikoff.Perceptron().fit(X3, sp.csr_array([[0], [1], [0]]))
    with pytest.raises(ValueError, match=r"only one class: 1\.$"):
        novikoff.Perceptron().fit(X3, [1, 1, 1])


def test_labels_in_an_array_of_objects_are_saved(tmp_path):
    y = np.array([1, 2**53 + 1, 3], dtype=object)
    for estimator in (novikoff.Perceptron(max_epochs=2), novikoff.KernelPerceptron("linear", max_epochs=2)):
        estimator.fit(X3, y).save(tmp_path / "m.novikoff")
        again = novikoff.load_model(tmp_path / "m.novikoff")
        assert again.classes.tolist() == [1, 3, 2**53 + 1]
        assert again.predict(X3).tolist() == estimator.predict(X3).tolist()
    with pytest.raises(ValueError, match="integers of more than 64 bits"):
        novikoff.Perceptron(max_epochs=2).fit(X3, [10**30, 1, 2]).save(tmp_path / "m.novikoff")


@pytest.mark.parametrize("declared", [["1", str(2**53 + 1)], [1, 2**53 + 1], ["1", "nan"], ["1", "1e400"]])
def test_declared_classes_are_not_rounded(declared):
    source = novikoff.open_source(io.BytesIO(b"1 1:1\n9007199254740992 1:-1\n"), format="libsvm")
    with pytest.raises(ValueError, match=r"the declared classes are .*, but the labels are numbers"):
        novikoff.Perceptron(max_epochs=1).fit_source(source, classes=declared)


def test_new_names_of_labels_are_not_rounded():
    given = np.array([1.0, 2.0, 3.0])
    new = Renaming({"1": str(2**53), "2": str(2**53 + 1)})(given)
    assert new.tolist() == [str(2**53), str(2**53 + 1), "3"]
    assert Renaming({"1": "nan"})(given).tolist() == ["nan", "2", "3"]
    assert Renaming({"1": "-1"})(given).tolist() == [-1.0, 2.0, 3.0]


def test_weights_in_a_list_are_not_rounded():
    with pytest.raises(ValueError, match=r"sample_weight\[0\] is 9007199254740993, which no double holds"):
        novikoff.Perceptron().fit(X3, [0, 1, 1], sample_weight=[2**53 + 1, 0.5, 1])


@pytest.mark.parametrize("missing", ["?", "nan", "", "NA"])
def test_a_row_with_a_missing_number_is_no_header(missing, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"{missing},pos\n1,neg\n2,pos\n")
    for label in ("", "2"):  # the label of a row is no name of a column
        with pytest.raises(Refused):
            checker.read_data(path, label)
    for given in ("2", 2):
        with pytest.raises(ValueError, match="may be a row or the column names"):
            novikoff.open_source(path, label=given)
    path.write_text("x,kind\n1,neg\n2,pos\n")
    assert checker.read_data(path, "2")[1] == ["neg", "pos"]
    assert [block.labels.tolist() for block in novikoff.open_source(path, label="2").blocks()] == [
        ["neg", "pos"]
    ]


# ---- long numbers --------------------------------------------------------------------------------------
def test_zeros_in_front_change_no_integer():
    digits = np.array([["0" * 500 + "5"], ["-" + "0" * 500 + "7"]], dtype=object)
    given = novikoff.Perceptron(order="cyclic", max_epochs=1).fit(digits, [1, 0])
    same = novikoff.Perceptron(order="cyclic", max_epochs=1).fit([[5.0], [-7.0]], [1, 0])
    assert given.coef_.tolist() == same.coef_.tolist() and given.radius_ == same.radius_


@pytest.mark.parametrize("value", [10**400, -(10**5000), "9" * 3000], ids=["ints", "longer", "text"])
def test_a_long_number_is_one_short_line(value):
    with pytest.raises(ValueError, match=r"^X\[0, 0\] is .*, which is beyond every double: ") as error:
        theory.separability(np.array([[value], [1]], dtype=object), [0, 1])
    assert len(str(error.value)) < 250


def test_columns_of_128_bits():
    pl = pytest.importorskip("polars")
    if not hasattr(pl, "Int128"):
        pytest.skip("this version has no integers of 128 bits")
    frame = pl.DataFrame({"a": pl.Series([2**53, 2**53 + 1], dtype=pl.Int128)})
    with pytest.raises(ValueError, match=r"X\[1, 'a'\] is 9007199254740993, which no double holds"):
        theory.separability(frame, [0, 1])
    assert theory.separability(frame[:, :] // 2**52, frame["a"]).verdict is not None
    for rows, labels in ((frame, [0, 1]), ([[0.0], [1.0]], frame["a"])):
        with pytest.raises(Refused, match="not an array"):
            checker.Data(rows, labels)
