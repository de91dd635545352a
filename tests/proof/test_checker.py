"""The checker under attack: whatever number is changed, it refuses or the claim is still true.

Truth is decided by plain loops over fractions that share nothing with the checker (`oracles`).
"""

import copy
import json
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from novikoff import checker
from novikoff.checker import Refused
from novikoff.theory import certify, trace
from support.children import run_python
from support.oracles import dot, is_true, map_fractions

# ---- certificates of all kinds -----------------------------------------------------------------------
VALUES = st.one_of(
    st.integers(-3, 3).map(float),
    st.sampled_from([0.1, -0.3, 0.18257, 1e-9, 1e9, 2.0**-100, -(2.0**100)]),
)


@st.composite
def labelled(draw):
    """Few rows of few columns, in two or three classes, every class present."""
    k, n, d = draw(st.integers(2, 3)), draw(st.integers(3, 6)), draw(st.integers(1, 3))
    values = VALUES if draw(st.booleans()) else st.integers(-3, 3).map(float)
    X = np.array(draw(st.lists(st.lists(values, min_size=d, max_size=d), min_size=n, max_size=n)))
    y = np.array([*range(k), *draw(st.lists(st.integers(0, k - 1), min_size=n - k, max_size=n - k))])
    if draw(st.booleans()):  # separable, when no score is 0 or ties with another
        W = np.array(
            draw(st.lists(st.lists(st.integers(-3, 3), min_size=d, max_size=d), min_size=k, max_size=k))
        )
        y = np.argmax(X @ W.T + np.arange(k), axis=1)
        assume(len(set(y)) == k)
    return X, y


class Linear:
    def __init__(self, coef, intercept, classes):
        self.coef_, self.intercept_, self.classes_ = coef, intercept, classes


@st.composite
def certificates(draw):
    """A certificate with the rows it is about."""
    X, y = draw(labelled())
    k = int(y.max()) + 1
    settings = {"fit_intercept": draw(st.booleans()), "ties": draw(st.sampled_from(["positive", "mistake"]))}
    kind = draw(st.sampled_from(["verdict", "model", "run"]))
    if kind == "model":
        rows = 1 if k == 2 else k
        numbers = st.lists(VALUES, min_size=X.shape[1] + 1, max_size=X.shape[1] + 1)
        w = np.array(draw(st.lists(numbers, min_size=rows, max_size=rows)))
        return certify(X, y, Linear(w[:, :-1], w[:, -1], np.arange(k)), **settings).content, X, y
    made = certify(X, y, **settings)
    if kind == "run" and made.claims[0]["claim"] == "separable":
        claim, witness = made.claims[0], None
        if not isinstance(claim["intercept"][0], str):  # no whole numbers
            witness = Linear(np.array(claim["coef"]), np.array(claim["intercept"]), np.arange(k))
        run = trace(X, y, witness, max_epochs=5, **settings)
        assume(not run.visit.size or math.isfinite(run.norm.max()))
        return certify(X, y, trace=run).content, X, y
    return made.content, X, y


def places(value, at=()):
    """The way to every number and text."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from places(item, (*at, key))
    else:
        yield at


def changed(value, draw):
    """Another value of the same kind, near or far."""
    if isinstance(value, str):
        if value and all(digit in "0123456789abcdef" for digit in value):
            return draw(
                st.sampled_from([f"{int(value, 16) + 1:x}", f"{2 * int(value, 16):x}", "0", value[:-1]])
            )
        return draw(
            st.sampled_from(["mistake", "positive", "0", "1", "cyclic", "separable", "inseparable", ""])
        )
    if isinstance(value, int):
        return draw(st.sampled_from([value + 1, value - 1, 0, -1, 10**6, 2 * value]))
    near = [math.nextafter(value, math.inf), math.nextafter(value, -math.inf), value * 1.01, value * 0.99]
    return draw(st.sampled_from([*near, -value, 0.0, value + 1, 2 * value, value / 2, 1e300]))


@given(certificates())
def test_what_is_certified_is_true(made):
    content, X, y = made
    assert checker.verify(json.loads(json.dumps(content)), (X, y))
    for claim in content["claims"]:
        assert is_true(content, claim, X, y)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(certificates(), st.data())
def test_any_changed_number_is_refused_or_still_true(made, data):
    content, X, y = made
    for _ in range(4):
        attacked = copy.deepcopy(content)
        way = data.draw(st.sampled_from(sorted(places(attacked), key=str)))
        inner = attacked
        for key in way[:-1]:
            inner = inner[key]
        new = changed(inner[way[-1]], data.draw)
        inner[way[-1]] = new
        refused_or_true(attacked, X, y)


@given(certificates(), st.data())
def test_changed_data_is_refused_or_the_claim_is_still_true(made, data):
    """The digest is made anew, so that the claims are what is tested; and without that it refuses."""
    content, X, y = made
    X, y = X.copy(), y.copy()
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, X.size - 1))
        X.flat[at] = changed(float(X.flat[at]), data.draw)
    else:
        y[data.draw(st.integers(0, len(y) - 1))] = data.draw(st.integers(0, int(y.max())))
    digest = checker.Data(X, y).digest
    if digest != content["digest"]:
        with pytest.raises(Refused, match="other data"):
            checker.verify(content, (X, y))
    refused_or_true(content | {"digest": digest}, X, y)


def refused_or_true(content, X, y):
    try:
        checker.verify(json.loads(json.dumps(content)), (X, y))
    except Refused:
        return
    for claim in content["claims"]:
        assert is_true(content, claim, X, y), claim


# ---- signs ---------------------------------------------------------------------------------------------
FLOATS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, 1.0, -1.0, 0.1, 0.2, -0.3, 5e-324, -(2.0**-1022), 1e-170, 1e170, 1.7e308]),
    st.integers(-(2**53) + 1, 2**53 - 1).map(float),
)


@given(st.data(), st.integers(2, 3), st.integers(1, 3), st.integers(1, 3))
def test_signs_are_those_of_fractions(data, k, n, d):
    """Whatever the sizes: where float64 rounds, cancels, underflows or overflows, and where it does not."""

    def array(*shape):
        size = math.prod(shape)
        return np.reshape(data.draw(st.lists(FLOATS, min_size=size, max_size=size)), shape)

    X, w, y = array(n, d), array(k, 1 + d), np.arange(n) % k
    level = data.draw(st.sampled_from([0.0, 1e-9, -1e300, float(X.flat[0]), float(w.flat[0])]))
    content = {
        "classes": [str(c) for c in range(k)],
        "bias": data.draw(st.sampled_from([0.0, 1.0, 0.1, 1e-200])),
    }
    beside = checker.Checker(content | {"ties": "positive"}, checker.Data(X, y))
    weights = checker.Weights(checker.wholes(w, checker.bits_of(w)), checker.bits_of(w))
    assert (weights.approx == w).all()
    with np.errstate(all="ignore"):
        signs = beside.signs(weights, np.arange(n), y, level)
    for x, own, row in zip(X, y, signs, strict=True):
        scores = [dot(map_fractions(v), [Fraction(1), *map_fractions(x)]) for v in w.tolist()]
        for rival in set(range(k)) - {own}:
            over = scores[own] - scores[rival] - Fraction(level)
            assert row[rival] == (over > 0) - (over < 0)


@given(st.fractions(min_value=0, max_value=1000), st.integers(-2000, 1900))
def test_a_root_is_rounded_up_by_little(q, exponent):
    q *= Fraction(2) ** exponent
    above = Fraction(checker.root(q))
    assert above**2 > q
    assert above**2 <= q * (1 + Fraction(1, 2**49)) or above < Fraction(2) ** -60


# ---- what a certificate is about ---------------------------------------------------------------------
def test_the_digest_is_of_the_content_not_the_layout():
    X = np.array([[0.0, 1.5, 0.0], [2.0, -0.0, 0.0]])
    digest = checker.Data(X, [1, -1]).digest
    stored_zero = sp.csr_array(
        (np.array([1.5, 0.0, 2.0]), np.array([1, 0, 0]), np.array([0, 2, 3])), shape=(2, 3)
    )
    unsorted = sp.csr_array(
        (np.array([0.0, 1.5, 2.0]), np.array([2, 1, 0]), np.array([0, 2, 3])), shape=(2, 9)
    )
    same = [
        (sp.csr_array(X), [1, -1]),
        (stored_zero, [1, -1]),
        (unsorted, [1, -1]),
        (np.asfortranarray(X, dtype=np.float32), [1.0, -1.0]),
        (X[:, :2], ["1", "-1"]),
        (np.hstack([X, np.zeros((2, 7))]), np.array([1, -1], dtype=np.int8)),
    ]
    assert {checker.Data(*rows).digest for rows in same} == {digest}
    for other in ([[0, 1.5], [2, 1]], [[1.5, 0], [2, 0]], [[2, 0], [0, 1.5]], [[0, 1.5]]):
        assert checker.Data(np.array(other), [1, -1][: len(other)]).digest != digest
    assert checker.Data(X, [-1, 1]).digest != digest
    assert checker.Data(X, ["1", "-1 "]).digest != digest


def test_cuts_into_parts_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(-4, 5, size=(40, 3)) / 4
    y = np.where(X @ [1.0, 2.0, -1.0] > 0.1, 1, -1)
    made = certify(X, y)
    monkeypatch.setattr(checker, "ENTRIES", 7)
    assert made.verify(X, y) == list(made.said) == made.verify(sp.csr_array(X), y)


# ---- bad certificates --------------------------------------------------------------------------------
ROWS = np.array([[2.0, 0.0], [0.0, 1.0], [1.0, -1.0]]), np.array([1, -1, 1])


def good():
    claim = {"claim": "separable", "coef": [[1.0, -1.0]], "intercept": [0.0], "gamma": 0.5}
    return {
        "novikoff-certificate": 1,
        "digest": checker.Data(*ROWS).digest,
        "classes": ["-1", "1"],
        "bias": 1.0,
        "ties": "positive",
        "claims": [claim],
    }


RUN = {
    "claim": "run",
    "order": "cyclic",
    "visits": 6,
    "updates": [1],
    "rivals": [],
    "epsilon": 0.0,
    "coef": [[2.0, -2.0]],
    "intercept": [-1.0],
    "gamma": 0.3,
}
INSEPARABLE = {"claim": "inseparable", "rows": [0, 1], "rivals": [], "weights": ["1", "1"]}
AT_MOST = {"claim": "margin at most", "epsilon": 3.0, "rows": [0, 1], "rivals": [], "weights": [0.5, 0.5]}


def test_the_example_is_good():
    assert checker.verify(good(), ROWS) == ["separable, with margin at least 0.5"]
    assert checker.verify(good() | {"claims": [AT_MOST]}, ROWS) == ["margin at most 3.0"]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"novikoff-certificate": 2}, "version 2"),
        ({"novikoff-certificate": True}, "unknown version True"),
        ({"digest": "00"}, "other data"),
        ({"digest": None}, "other data"),
        ({"classes": ["-1"]}, "at least two distinct texts"),
        ({"classes": ["-1", "1", "1"]}, "at least two distinct texts"),
        ({"classes": [-1, 1]}, "at least two distinct texts"),
        ({"classes": ["-1", "2"]}, "label '1'"),
        ({"bias": -1.0}, "bias"),
        ({"bias": math.nan}, "finite"),
        ({"bias": True}, "finite number"),
        ({"ties": "negative"}, "ties"),
        ({"ties": []}, "ties"),
        ({"claims": []}, "1 to 100 claims"),
        ({"claims": {}}, "1 to 100 claims"),
        ({"claims": [{}] * 101}, "1 to 100 claims"),
        ({"claims": [[]]}, "claim 1 is not one of"),
        ({"claims": [{"claim": ["separable"]}]}, "claim 1 is not one of"),
        ({"extra": 1}, "fields of a certificate are"),
    ],
)
def test_a_bad_field_is_refused(change, match):
    with pytest.raises(Refused, match=match):
        checker.verify(good() | change, ROWS)


@pytest.mark.parametrize(
    ("claim", "change", "match"),
    [
        (good()["claims"][0], {"gamma": -0.5}, "gamma must be ≥ 0"),
        (good()["claims"][0], {"gamma": math.inf}, "finite"),
        (good()["claims"][0], {"gamma": "0.5"}, "finite number"),
        (good()["claims"][0], {"gamma": 0.8}, "row 1 has a margin below"),
        (good()["claims"][0], {"coef": [[1.0]]}, "coef must have 2 columns"),
        (good()["claims"][0], {"coef": [1.0]}, "list of numbers"),
        (good()["claims"][0], {"coef": [[1.0, -1.0]] * 2}, "1 list"),
        (good()["claims"][0], {"coef": [[1.0, False]]}, "finite number"),
        (good()["claims"][0], {"coef": [[1.0, 10**17]]}, "finite number"),
        (good()["claims"][0], {"intercept": []}, "1 number"),
        (good()["claims"][0], {"intercept": [math.nan]}, "finite"),
        (good()["claims"][0], {"more": 0}, "fields must be claim coef intercept gamma"),
        (INSEPARABLE, {}, "sum of the vectors is more than 0.0"),
        (INSEPARABLE, {"rows": [0, 0]}, "is given twice"),
        (INSEPARABLE, {"rows": [0, 3]}, "rows must be whole numbers from 0 to 2"),
        (INSEPARABLE, {"rows": [0, -1]}, "rows must be whole numbers"),
        (INSEPARABLE, {"rows": [0, True]}, "rows must be whole numbers"),
        (INSEPARABLE, {"rows": [0]}, "must have the same length"),
        (INSEPARABLE, {"rows": [], "weights": []}, "at least 1"),
        (INSEPARABLE, {"rivals": [0, 1]}, "rival"),
        (INSEPARABLE, {"weights": ["1", "0"]}, "positive"),
        (INSEPARABLE, {"weights": ["1", "-1"]}, "hexadecimal"),
        (INSEPARABLE, {"weights": [1, 1]}, "hexadecimal"),
        (INSEPARABLE, {"weights": ["1", "f" * (1 << 19)]}, "at most 1048576 bits"),
        (AT_MOST, {"weights": [0.5, -0.5]}, "weights must be ≥ 0"),
        (AT_MOST, {"weights": [0, 0.0]}, "not all 0"),
        (AT_MOST, {"epsilon": 0.1}, "more than 0.1 times"),
        (AT_MOST, {"epsilon": -3.0}, "epsilon must be ≥ 0"),
        (RUN, {"visits": 10**12}, "visits must be whole numbers from 0 to 1000000000"),
        (RUN, {"updates": [1, 1]}, "increase"),
        (RUN, {"updates": [6]}, "updates must be whole numbers"),
        (RUN, {"updates": []}, "visit 1, of row 1, is a mistake, but not among the updates"),
        (RUN, {"updates": [0]}, "visit 0, of row 0, is listed as an update, but is not one"),
        (RUN, {"order": [0, 1]}, "order must be"),
        (RUN, {"order": "random"}, "order must be"),
        (RUN, {"order": [0, 1, 2, 3, 0, 1]}, "order must be whole numbers"),
        (RUN, {"epsilon": None}, "finite number"),
    ],
)
def test_a_bad_claim_is_refused(claim, change, match):
    with pytest.raises(Refused, match=match):
        checker.verify(good() | {"claims": [claim | change]}, ROWS)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "not readable JSON"),
        ("certificate", "not readable JSON"),
        ("[" * 100_000, "not readable JSON"),
        ('{"a":' * 100_000, "not readable JSON"),
        ("9" * 5000, "not readable JSON"),
        (b"\xff\xfe\x00", "not readable JSON"),
        ('{"ties": 1, "ties": 2}', "twice"),
    ],
)
def test_what_is_no_json_is_refused(text, match):
    with pytest.raises(Refused, match=match):
        checker.parse(text)


@pytest.mark.parametrize("text", ["[]", "1", "null", '"x"', "{}", "NaN"])
def test_what_is_no_certificate_is_refused(text):
    with pytest.raises(Refused, match="certificate"):
        checker.verify(checker.parse(text), ROWS)


def test_a_file_that_is_too_long_is_not_read(tmp_path):
    path = tmp_path / "long.json"
    with path.open("wb") as file:
        file.truncate(checker.MAX_BYTES + 1)
    with pytest.raises(Refused, match="longer than"):
        checker.read_certificate(path)


def csr(values, columns, ends):
    shape = len(ends) - 1, 1
    return SimpleNamespace(data=values, indices=columns, indptr=ends, shape=shape, format="csr")


@pytest.mark.parametrize(
    ("X", "y", "match"),
    [
        ([[math.nan]], [1], "NaN"),
        ([["a"]], [1], "real numbers"),
        ([[2**60 + 1]], [1], "no double equals"),
        ([[2**53 + 1, 0.5]], [1], "no double equals"),
        (np.array([[2**53 + 1]], dtype=np.uint64), [1], "9007199254740993, which no double equals"),
        ([[1.0]], [1, 2], "labels"),
        ([[1.0]], [[1]], "is not a label"),
        (np.zeros((0, 2)), [], "rows"),
        ([[1.0]], [math.nan], "is not a label"),
        ([1.0], [1], "rows and columns"),
        (sp.csr_array((np.ones(2), np.array([0, 0]), np.array([0, 2])), shape=(1, 2)), [1], "twice"),
        (csr([1.0], [-1], [0, 1]), [1], "out of range"),
        (csr([1.0], [0], [0, 2]), [1], "do not match"),
    ],
)
def test_bad_data_are_refused(X, y, match):
    with pytest.raises(Refused, match=match):
        checker.Data(X, y)


# ---- files, as a sceptic runs it ---------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.svm", "+1 1:2\n-1 2:1 # a comment\n\n1 1:1 2:-1\n"),
        ("a.csv", "x,label,z\n2,1,0\n0,-1,1\n1,1.0,-1\n"),
        ("a.csv", "2,0,1\n0,1,-1\n1,-1,1\n"),
    ],
)
def test_the_checker_reads_files_by_itself(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    (tmp_path / "c.json").write_text(json.dumps(good()))
    command = ("-P", "-m", "novikoff.checker", "c.json", name)
    done = run_python(*command, cwd=tmp_path)
    assert done.stdout.split("\n")[1:2] == ["  separable, with margin at least 0.5"]
    (tmp_path / name).write_text(text.replace("2", "3", 1))
    done = run_python(*command, cwd=tmp_path, code=1)
    assert done.stderr.startswith("refused: the certificate is for other data")


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        ("a.svm", "1 1:x\n", "'x'"),
        ("a.svm", "1 1:1e\n", "'1e'"),
        ("a.svm", "1 1:nan\n", "'nan' is not a number"),
        ("a.svm", "1 1:1e999\n", "beyond the largest double"),
        ("a.svm", "1 1:9007199254740993\n", "an integer that no double equals"),
        ("a.svm", "1:1 2:1\n", "row 0 has no label"),
        ("a.svm", "1 2 3:4:5\n", "'' is not a number"),
        ("a.svm", "1 1:1 99999999999999999999:1\n", "not a column number"),
        ("a.svm", "1 1:1\na 1:2\n", "all numbers or all texts"),
        ("a.svm", "1 0:1\n", "out of range"),
        ("a.csv", "1,2\n1\n", "row 1 has 1 cells, not 2"),
        ("a.csv", "1,2\nx,1\n", "'x'"),
        ("a.csv", "a,b\n1,2\n", "which column has the labels"),
        ("a.csv", "", "no rows"),
    ],
)
def test_a_bad_file_is_refused(tmp_path, name, text, match):
    (tmp_path / name).write_text(text)
    with pytest.raises(Refused, match=match):
        checker.Data(*checker.read_data(tmp_path / name))


def test_it_imports_nothing_of_the_project():
    code = "import sys, novikoff.checker; print([m for m in sys.modules if m[:5] in ('novik', 'scipy')])"
    done = run_python("-c", code)
    assert set(eval(done.stdout)) == {
        "novikoff",  # the package itself, and how it finds its names
        "novikoff.lazy",
        "novikoff.checker",
    }
