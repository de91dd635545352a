"""Certificates of separability in a kernel's space.

The claim: w = Σ α_j·φ(x_j) has w·z ≥ γ·‖w‖ > 0 for every z, where φ(x)·φ(x') = K(x, x') + c². The tests
compute both sides again from the definition, in fractions; whatever is changed must be refused, unless it is
still true.
"""

import copy
import json
import math
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from novikoff import KernelPerceptron, checker, load_model
from novikoff.theory import certify
from support.children import run_python
from support.commands import run
from support.marks import may_not_separate

pytestmark = may_not_separate
XOR, LABELS = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]]), np.array([1, -1, -1, 1])


def value(kernel, x, z, bias):
    """K(x, z) + c², by the definition."""
    product = sum((Fraction(a) * Fraction(b) for a, b in zip(x, z, strict=True)), Fraction(0))
    if kernel["name"] == "monotone_conjunction":
        return Fraction(2) ** int(product) + Fraction(bias) ** 2
    base = Fraction(kernel["gamma"]) * product + Fraction(kernel["coef0"])
    return base ** kernel["degree"] + Fraction(bias) ** 2


def holds(content, X, y):
    """Whether the claim is true of the rows, by the definition."""
    claim, classes = content["claims"][0], content["classes"]
    supports = [X[row].tolist() for row in claim["rows"]]
    alpha = [[Fraction(a) for a in vector] for vector in claim["alpha"]]

    def K(x, z):
        return value(claim["kernel"], x, z, content["bias"])

    square = sum(
        a * b * K(s, t)
        for vector in alpha
        for a, s in zip(vector, supports, strict=True)
        for b, t in zip(vector, supports, strict=True)
    )
    for x, label in zip(X.tolist(), y, strict=True):
        scores = [sum(a * K(s, x) for a, s in zip(vector, supports, strict=True)) for vector in alpha]
        scores = scores if len(scores) > 1 else [Fraction(0), *scores]
        own = scores.pop(classes.index(checker.as_text(label)))
        gap = own - max(scores)
        if gap <= 0 or gap**2 < Fraction(claim["gamma"]) ** 2 * square:
            return False
    return claim["gamma"] >= 0


def separated(X, y, **params):
    model = KernelPerceptron(
        **({"kernel": "poly", "gamma": 1, "max_epochs": 200, "order": "cyclic"} | params)
    )
    return model.fit(X, y)


small_rows = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=3, max_size=9, unique=True
).map(lambda rows: np.array(rows, dtype=float) / 4)


@given(
    small_rows,
    st.integers(2, 3),
    st.sampled_from([1, 2, 3]),
    st.sampled_from([0.5, 1.0]),
    st.booleans(),
    st.data(),
)
def test_what_is_certified_is_true_and_tight(X, n_classes, degree, gamma, bias, draw):
    """The largest float γ for which it is true is at most a part in 10⁹ above the claimed one."""
    y = np.array([draw.draw(st.integers(0, n_classes - 1)) for _ in X])
    assume(len(set(y.tolist())) == n_classes)
    model = separated(X, y, degree=degree, gamma=gamma, fit_intercept=bias)
    try:
        certificate = certify(X, y, model)
    except ValueError as error:
        assert "do not separate" in str(error)
        assert model.verdict_ != "separated" or bias  # a tie lifted through the bias
        return
    content = certificate.content
    assert content["bias"] == float(bias) and holds(content, X, y.tolist())
    more = copy.deepcopy(content)
    more["claims"][0]["gamma"] *= 1 + 1e-9
    assert not holds(more, X, y.tolist())
    with pytest.raises(checker.Refused, match="margin below gamma"):
        checker.verify(more, (X, y))


def xor():
    return certify(XOR, LABELS, separated(XOR, LABELS, degree=2)).content


def test_xor_has_the_margin_that_is_known():
    """Of degree 2 with coef0 0, φ(x) = (x₁², x₂², √2·x₁x₂): u = (0, 0, 1) has the margin √2."""
    claim = {
        "claim": "kernel separable",
        "kernel": {"name": "poly", "gamma": 1.0, "coef0": 0.0, "degree": 2},
        "rows": [0, 1, 2, 3],
        "alpha": [[1.0, -1.0, -1.0, 1.0]],
        "gamma": math.nextafter(math.sqrt(2), 0),
    }
    content = xor() | {"claims": [claim], "bias": 0.0}
    (said,) = checker.verify(content, (XOR, LABELS))
    assert "separable in the space of the kernel (1.0·x·z + 0.0)^2" in said
    claim["gamma"] = math.nextafter(math.sqrt(2), 2)
    with pytest.raises(checker.Refused, match="margin below gamma"):
        checker.verify(content, (XOR, LABELS))


@given(st.data())
def test_any_changed_number_is_refused_or_still_true(data):
    content = xor()
    claim = content["claims"][0]
    at = data.draw(st.sampled_from(["gamma", "alpha", "rows", "kernel", "bias"]))
    number = data.draw(st.integers(-3, 5) | st.floats(-4, 4))
    if at in ("alpha", "rows"):
        place = claim["rows"] if at == "rows" else claim["alpha"][0]
        place[data.draw(st.integers(0, len(place) - 1))] = number
    elif at == "kernel":
        claim["kernel"][data.draw(st.sampled_from(["gamma", "coef0", "degree"]))] = number
    else:
        (content if at == "bias" else claim)[at] = number
    try:
        checker.verify(content, (XOR, LABELS))
    except checker.Refused:
        return
    assert holds(content, XOR, LABELS.tolist())


def put(*path):
    *way, last, new = path

    def change(claim):
        for name in way:
            claim = claim[name]
        claim[last] = new

    return change


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (put("kernel", "poly"), "a kernel has the fields"),
        (put("kernel", "name", "rbf"), "must be poly or monotone_conjunction"),
        (put("kernel", "name", ["poly"]), "must be poly or monotone_conjunction"),
        (put("kernel", "name", "monotone_conjunction"), "needs rows of 0 and 1"),
        (put("kernel", "degree", 0), "must be poly"),
        (put("kernel", "degree", 2.0), "degree must be whole numbers"),
        (put("kernel", "degree", True), "degree must be whole numbers"),
        (put("kernel", "degree", 10**9), "degree must be whole numbers from 0 to 1000"),
        (put("kernel", "gamma", -1.0), "gamma must be ≥ 0"),
        (put("kernel", "coef0", math.inf), "coef0 must be finite"),
        (put("kernel", "coef0", -1.0), "coef0 must be ≥ 0"),
        (put("kernel", "more", 1), "a kernel has the fields"),
        (put("rows", []), "without repetitions"),
        (put("rows", [0, 0, 1, 2]), "without repetitions"),
        (put("rows", [0, 1, 2, 4]), "rows must be whole numbers from 0 to 3"),
        (put("rows", [0, 1, 2, -1]), "rows must be whole numbers from 0 to 3"),
        (put("alpha", [[1.0]]), "a number for each row"),
        (put("alpha", []), "alpha must be 1 list"),
        (put("alpha", [[0.0] * 4]), "margin below gamma|a number for each row"),
        (put("alpha", 0, 0, math.nan), "alpha must be finite"),
        (put("alpha", 0, 0, "1"), "alpha must be finite"),
        (put("gamma", -0.5), "gamma must be ≥ 0"),
        (put("gamma", 100.0), "margin below gamma=100.0"),
        (put("extra", 1), "the fields must be"),
    ],
)
def test_a_bad_claim_is_refused(change, match):
    content = xor()
    change(content["claims"][0])
    with pytest.raises(checker.Refused, match=match):
        checker.verify(content, (XOR, LABELS))


def test_too_much_is_refused_before_it_is_computed(monkeypatch):
    content = xor()
    monkeypatch.setattr(checker, "MAX_CELLS", 8)
    with pytest.raises(checker.Refused, match="too many rows"):
        checker.verify(content, (XOR, LABELS))
    monkeypatch.undo()
    content["claims"][0]["kernel"] |= {"gamma": 5e-324, "degree": 1000}
    with pytest.raises(checker.Refused, match="too long"):
        checker.verify(content, (XOR, LABELS))


def test_cuts_into_parts_change_nothing(monkeypatch):
    content = xor()
    monkeypatch.setattr(checker, "ENTRIES", 1)
    assert checker.verify(content, (XOR, LABELS))


def test_other_data_are_refused():
    with pytest.raises(checker.Refused, match="other data"):
        checker.verify(xor(), (XOR + 1, LABELS))


def test_monotone_conjunctions():
    """2^|x ∧ z| counts the conjunctions true of both, so that x₁ ⊕ x₂ is linear in them."""
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float), np.array([0, 1, 1, 0])
    kernel = {"name": "monotone_conjunction", "gamma": 1.0, "coef0": 0.0, "degree": 1}
    gram = np.array([[float(value(kernel, a, b, 0)) for b in X.tolist()] for a in X.tolist()])
    alpha = np.linalg.solve(gram, np.where(y == 1, 1.0, -1.0)).round()
    claim = {"claim": "kernel separable", "kernel": kernel, "rows": [0, 1, 2, 3], "alpha": [alpha.tolist()]}
    content = xor() | {"classes": ["0", "1"], "bias": 0.0, "digest": checker.Data(X, y).digest}
    for gamma in (0.01, 5.0):
        content["claims"] = [claim | {"gamma": gamma}]
        true = holds(content, X, y.tolist())
        assert true == (gamma < 1)
        if true:
            assert "monotone_conjunction" in checker.verify(content, (X, y))[0]
        else:
            with pytest.raises(checker.Refused, match="margin below"):
                checker.verify(content, (X, y))


def test_sparse_rows_and_linear_kernels():
    X, y = np.array([[2.0, 0, 0], [0, -1, 0.5], [1, 0, 1]]), np.array(["a", "b", "a"])
    for rows in (X, sp.csr_array(X)):
        certificate = certify(rows, y, separated(rows, y, kernel="linear", gamma="scale", ties="mistake"))
        assert holds(certificate.content, X, y.tolist())
        assert certificate.verify(X, y) == list(certificate.said)


def test_what_cannot_be_certified():
    with pytest.raises(
        ValueError, match="only kernels whose values are exact can be certified: linear, poly, mono"
    ):
        certify(XOR, LABELS, separated(XOR, LABELS, kernel="rbf"))
    with pytest.raises(ValueError, match="are not the rows with these numbers"):
        certify(XOR[::-1] * 2, LABELS, separated(XOR, LABELS, degree=2))
    with pytest.raises(ValueError, match="do not separate the rows"):
        certify(XOR, LABELS, separated(XOR, LABELS, kernel="linear"))


def test_models_of_scikit_learn_with_a_parameter_called_dual():
    from sklearn.svm import LinearSVC

    X, y = np.array([[2.0, 0], [-1, 1], [1, 0.5]]), np.array([1, 0, 1])
    assert certify(X, y, LinearSVC(dual=True).fit(X, y)).claims[0]["claim"] == "errors"


def test_the_commands(tmp_path, monkeypatch):
    """fit, certify and verify; and the checker alone, on the file."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{label},{a:g},{b:g}" for (a, b), label in zip(XOR.tolist(), LABELS.tolist(), strict=True)]
    Path("xor.csv").write_text("\n".join(["label,a,b", *lines]) + "\n")
    run("fit", "xor.csv", "--kernel", "poly", "--degree", "2", "--gamma", "1", "--epochs", "50", "--quiet")
    assert load_model("xor.novikoff").report.verdict == "separated"
    said = run("certify", "xor.csv", "--model", "xor.novikoff", "--output", "xor.json").stdout
    assert "separable in the space of the kernel (1.0·x·z + 1.0)^2" in said
    assert json.loads(Path("xor.json").read_text())["claims"][0]["claim"] == "kernel separable"
    run("verify", "xor.json", "xor.csv")
    assert run_python("-m", "novikoff.checker", "xor.json", "xor.csv").stdout.startswith("verified,")


# ---- conjunctions and budgets ------------------------------------------------------------------------
@given(st.data(), st.integers(1, 5), st.integers(2, 3), st.booleans())
def test_conjunctions_are_certified_truly_and_tightly(data, d, n_classes, bias):
    rows = st.lists(st.tuples(*[st.integers(0, 1)] * d), min_size=3, max_size=8, unique=True)
    X = np.array(data.draw(rows), dtype=float)
    y = np.array([data.draw(st.integers(0, n_classes - 1)) for _ in X])
    assume(len(set(y.tolist())) == n_classes)
    model = separated(X, y, kernel="monotone_conjunction", gamma="scale", fit_intercept=bias, ties="mistake")
    assume(model.verdict_ == "separated")
    content = certify(X, y, model).content
    assert holds(content, X, y.tolist())
    content["claims"][0]["gamma"] *= 1 + 1e-9
    assert not holds(content, X, y.tolist())
    with pytest.raises(checker.Refused, match="margin below gamma"):
        checker.verify(content, (X, y))


def test_changed_bits_are_refused_or_still_true():
    """The digest is made anew, so that the claim is what is tested."""
    X, y = np.random.default_rng(0).integers(0, 2, (9, 5)).astype(float), np.arange(9) % 2
    X = np.unique(X, axis=0)
    y = y[: len(X)]
    model = separated(X, y, kernel="monotone_conjunction", gamma="scale", ties="mistake")
    content = certify(X, y, model).content
    refused = 0
    for at in np.ndindex(*X.shape):
        changed = X.copy()
        changed[at] = 1 - changed[at]
        content["digest"] = checker.Data(changed, y).digest
        try:
            checker.verify(content, (changed, y))
        except checker.Refused:
            refused += 1
        else:
            assert holds(content, changed, y.tolist())
    assert refused
    changed[at] = 0.5
    content["digest"] = checker.Data(changed, y).digest
    with pytest.raises(checker.Refused, match="needs rows of 0 and 1"):
        checker.verify(content, (changed, y))


def test_margins_beyond_floats():
    """Of 3,000 ones K(x, x) is 2^3000, and γ near 2^1500: the largest float is what can be claimed."""
    X, y = np.ones((2, 3001)), np.array([0, 1])
    X[0, 1:] = 0.0
    model = separated(X, y, kernel="monotone_conjunction", gamma="scale", ties="mistake")
    (claim,) = certify(X, y, model).claims  # 2 for the first row, beside ‖w‖ = 2^1500
    assert claim["gamma"] == 0.0
    X[0, 1:3000] = 1.0
    model = separated(X, y, kernel="monotone_conjunction", gamma="scale", ties="mistake")
    (claim,) = certify(X, y, model).claims
    assert claim["gamma"] == sys.float_info.max


@pytest.mark.parametrize("kernel", ["poly", "monotone_conjunction"])
def test_models_with_a_budget(kernel):
    """Their coefficients are floats, which are fractions like others."""
    X = np.array([[a, b, c] for a in (0.0, 1) for b in (0.0, 1) for c in (0.0, 1)])
    y = (X.sum(axis=1) % 2).astype(int)
    model = KernelPerceptron(
        kernel, gamma=1, degree=3, budget=8, max_epochs=500, random_state=0, ties="mistake"
    ).fit(X, y)
    assert model.verdict_ == "separated"
    content = certify(X, y, model).content
    assert holds(content, X, y.tolist()) and len(content["claims"][0]["rows"]) == 8


def test_conjunctions_by_the_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.svm").write_text("0\n1 1:1\n1 2:1\n0 1:1 2:1\n")
    run("fit", "t.svm", "--kernel", "monotone_conjunction", "--epochs", "50", "--ties", "mistake", "--quiet")
    said = run("certify", "t.svm", "--model", "t.novikoff", "--output", "t.json").stdout
    assert said.startswith("separable in the space of the kernel monotone_conjunction, with margin at least")
    assert run("verify", "t.json", "t.svm").stdout.startswith("verified,")
    assert run_python("-m", "novikoff.checker", "t.json", "t.svm").stdout.startswith("verified,")
