"""Verdicts, margins and runs beside rational ones at the limits of floats; and statements that were false."""

import json
import math
import os
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from novikoff import checker
from novikoff.checker import Refused
from novikoff.theory import certify, max_margin, separability, trace
from support.certified import POOLS, drawn
from support.oracles import is_separable, is_true, margin_square, perceptron, vectors

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEEDS = range(1000 if LONG else 25)


# ---- against the oracles -------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", SEEDS)
def test_verdicts_are_those_of_a_rational_simplex(seed):
    X, y, settings = drawn(np.random.default_rng([3, seed]))
    bias = settings["intercept_scaling"] if settings["fit_intercept"] else 0.0
    Z = vectors(X, y, bias)
    for rows in (X, sp.csr_array(X)):
        verdict = separability(rows, y, **settings)
        assert verdict.verdict == ("separable" if is_separable(Z) else "inseparable"), (X, y, settings)
    if verdict.verdict == "separable":
        coef = [[Fraction(v) for v in row] for row in verdict.coef.tolist()]
        intercept = [Fraction(v) for v in verdict.intercept.tolist()]
        u = [
            v
            for w, b in zip(coef, intercept, strict=True)
            for v in (*w, *([b / Fraction(bias)] if bias else []))
        ]
        least = min(sum(a * b for a, b in zip(u, z, strict=True)) for z in Z)
        assert least > 0
        assert least**2 >= Fraction(verdict.margin) ** 2 * sum(v * v for v in u)
        assert math.isinf(verdict.upper) or Fraction(verdict.upper) >= Fraction(verdict.margin)
        json.dumps(verdict.to_dict())


@pytest.mark.parametrize("seed", SEEDS)
def test_margins_lie_in_their_brackets(seed):
    rng = np.random.default_rng([4, seed])
    X, y, settings = drawn(rng)
    X, y = X[:4], y[:4]
    if len(set(y.tolist())) < y.max() + 1:
        y = np.arange(len(y)) % 2
    del settings["ties"]
    weights = rng.choice([1.0, 0.5, 3.0, 1e-300, 1e300, 1e7], len(y)) if rng.integers(2) else None
    found = max_margin(X, y, sample_weight=weights, **settings)
    bias = settings["intercept_scaling"] if settings["fit_intercept"] else 0.0
    square = margin_square(vectors(X, y, bias, weights))
    assert math.isinf(found.upper) or square <= Fraction(found.upper) ** 2
    assert found.lower <= 0 or square >= Fraction(found.lower) ** 2


@pytest.mark.parametrize("power", [-1074, -1060, -700, 700, 1015])
def test_margins_of_rows_of_one_size_are_found_whatever_the_size(power):
    """X·2^p has the margin γ·2^p."""
    X, y = np.array([[2.0, 1], [1, 2], [1, 1], [-1, -2], [-2, -1], [-1, -1]]), [1, 1, 1, -1, -1, -1]
    scaled = np.ldexp(X, power)
    found = max_margin(scaled, y, fit_intercept=False)
    assert found.lower > 0
    assert Fraction(found.lower) ** 2 <= 2 * Fraction(2) ** (2 * power) <= Fraction(found.upper) ** 2
    assert separability(scaled, y, fit_intercept=False).verdict == "separable"
    made = certify(scaled, y, fit_intercept=False)
    assert [claim["claim"] for claim in made.claims] == ["separable", "margin at most"]


@pytest.mark.parametrize("seed", SEEDS)
def test_runs_are_those_of_a_rational_perceptron(seed):
    rng = np.random.default_rng([5, seed])
    n, d = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    pool = str(rng.choice(["integers", "decimals", "cancelling"]))
    X, y = rng.choice(POOLS[pool], (n, d)), np.concatenate([[0, 1], rng.integers(0, 2, n - 2)])
    ties = str(rng.choice(["positive", "mistake"]))
    bias = float(rng.choice([0.0, 1.0, 0.5]))
    run = trace(
        X,
        y,
        np.ones(d + (bias > 0)),
        ties=ties,
        max_epochs=4,
        margins=0,
        fit_intercept=bias > 0,
        intercept_scaling=bias or 1.0,
    )
    epochs = run.n_visits // n
    exact = perceptron(X, y.tolist(), bias, epochs, ties)
    if pool == "integers":
        assert run.visit.tolist() == exact
    elif (
        first := next((k for k, (a, b) in enumerate(zip(run.visit, exact, strict=False)) if a != b), None)
    ) is not None:
        assert first > 0  # from w = 0 the first update is the same


# ---- what was said and is not true ---------------------------------------------------------------------
def test_a_matrix_by_columns_is_not_read_as_its_transpose():
    X, y = np.array([[1.0, 2], [1, 2]]), [0, 1]
    made = certify(X.T, y)
    with pytest.raises(Refused, match="other data"):
        made.verify(sp.csc_array(X), y)
    assert made.verify(sp.csc_array(X.T), y) == list(made.said)


@pytest.mark.parametrize("form", ["coo", "bsr", "lil", "dia", "dok"])
def test_other_sparse_forms_are_refused(form):
    X, y = np.array([[1.0, 2], [1, 3]]), [0, 1]
    with pytest.raises(Refused, match="CSR or CSC form"):
        checker.Data(sp.csr_array(X).asformat(form), y)


@pytest.mark.parametrize(
    "X",
    [
        np.ma.masked_array([[1.0], [2.0]], [[True], [False]]),
        np.array([[2**53 + 1], [0]], dtype=object),
        np.array([[1], [2]], dtype=np.longdouble),
        np.array([[1], [2]], dtype="datetime64[ns]"),
        np.array([[1j], [2]]),
        np.array([(1.0,), (2.0,)], dtype=[("a", float)]),
        [[2**53 + 1], [0.5]],
        [[np.int64(2**53 + 1)], [0.5]],
        [np.array([2**53 + 1]), np.array([0.5])],
        np.array([[2**63 + 1], [0]], dtype=np.uint64),
        [[1.0], [2.0, 3.0]],
    ],
    ids=lambda X: type(X).__name__ + str(getattr(X, "dtype", "")),
)
def test_values_that_are_not_exactly_doubles_are_refused(X):
    with pytest.raises(Refused):
        checker.Data(X, [0, 1])


def test_an_object_that_does_not_say_how_it_is_stored_is_refused():
    class Compressed:
        data, indices, indptr, shape = np.ones(2), np.array([0, 1]), np.array([0, 1, 2]), (2, 2)

    with pytest.raises(Refused, match="CSR or CSC"):
        checker.Data(Compressed(), [0, 1])


@pytest.mark.parametrize(
    "y",
    [[1, "1"], ["1", 1.0], np.array([1, 2], dtype="datetime64[ns]"), [b"a", b"b"], [None, 1], [(1,), (2,)]],
)
def test_labels_that_are_alike_or_none_are_refused(y):
    with pytest.raises(Refused):
        checker.Data([[0.0], [1.0]], y)


def test_long_labels_stay_apart(tmp_path):
    X, y = [[0.0], [0.0], [1.0]], [2**53, 2**53 + 1, 2**53 + 1]
    made = certify(X, y)
    assert made.claims[0]["claim"] == "inseparable"
    assert made.verify(X, y) == list(made.said)
    with pytest.raises(Refused):
        made.verify(X, [2**53, 2**53, 2**53 + 1])
    path = tmp_path / "a.csv"
    path.write_text("\n".join(f"{x[0]},{k}" for x, k in zip(X, y, strict=True)))
    assert checker.verify(made.content, checker.read_data(path)) == list(made.said)
    path.write_text("0,9007199254740992\n0,9007199254740993.0\n")
    with pytest.raises(Refused, match="same nearest double"):
        checker.read_data(path)


HEADERS = [  # a file, the label's column, and the number of rows; None: it could be read in two ways
    ("0,y\n0,n\n1,y\n", "", None),
    ("0,class\n0,n\n1,y\n", "", None),
    ("0,y\n0,n\n1,y\n", "2", None),
    ("0,y\n0,n\n1,y\n", "y", 2),
    ("0,1,label\n5,6,a\n7,8,b\n", "", None),
    ("0,1,label\n5,6,1\n7,8,0\n", "", 2),
    ("label,1,2\n1,5,6\n0,7,8\n", "", 2),
    ("x,y\n0,n\n1,y\n", "", 2),
    ("0,n\n0,y\n1,y\n", "", 3),
    ("?,y\n0,n\n1,y\n", "", None),
    ("nan,y\n0,n\n1,y\n", "", None),
    ("0,0\n1,1\n", "", 2),
]


@pytest.mark.parametrize(("text", "label", "rows"), HEADERS)
def test_no_row_is_dropped_as_a_header(tmp_path, text, label, rows):
    """The checker and the library agree."""
    from novikoff.data.sources.tables import TableSource

    path = tmp_path / "a.csv"
    path.write_text(text)

    def read(header=None):
        (block,) = TableSource(path, header=header, **({"label": label} if label else {})).blocks()
        return block.n_rows

    if rows is None:
        with pytest.raises(Refused, match="--header or --no-header"):
            checker.read_data(path, label)
        with pytest.raises(ValueError, match="set `header`"):
            read()
        n = text.count("\n") - 1
        assert len(checker.read_data(path, label, True)[1]) == n
        assert read(True) == n
        if text[0] == "0":
            assert len(checker.read_data(path, label, False)[1]) == n + 1
            assert read(False) == n + 1
    else:
        assert len(checker.read_data(path, label)[1]) == rows
        assert read() == rows


def test_tables_written_here_are_read_here(tmp_path):
    """Columns may have numbers for names; the checker, which knows no writer, has to be told."""
    from novikoff.data.sources.tables import TableSource

    path = tmp_path / "a.csv"
    path.write_text("label,1,2\na,5,6\nb,7,8\n")
    (block,) = TableSource(path).blocks()
    assert block.n_rows == 2
    with pytest.raises(Refused, match="--header or --no-header"):
        checker.read_data(path)
    path.write_text("label,1,2\nlabel,5,6\nb,7,8\n")
    with pytest.raises(ValueError, match="set `header`"):
        TableSource(path)


def run_claim(epsilon, updates=(), visits=4):
    X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), [1, 0]
    made = certify(X, y, fit_intercept=False)
    vector = {name: made.claims[0][name] for name in ("coef", "intercept", "gamma")}
    claim = {"claim": "run", "order": "cyclic", "visits": visits, "updates": list(updates), "rivals": []}
    return made.content | {"claims": [claim | vector | {"epsilon": epsilon}]}, (X, y)


@pytest.mark.parametrize("epsilon", [1e300, 1.0, 1e-3, 1e-9])
def test_a_run_is_no_run_without_its_updates(epsilon):
    content, rows = run_claim(epsilon)
    with pytest.raises(Refused, match=r"too large for rounding|not among the updates"):
        checker.verify(content, rows)


def test_a_run_with_slack_is_worded_as_one():
    (said,) = checker.verify(*run_claim(0.0, [1]))
    assert said.endswith("made exactly 1 updates; 1·gamma² ≤ R²")
    (said,) = checker.verify(*run_claim(1e-9, [1]))
    assert "exactly" not in said and "up to ε = 1e-09 for rounded weights" in said


def test_the_integer_witness_is_not_lost():
    X, y = [[1.4, 4.199999999999999], [0.2, 0.6]], [0, 1]
    verdict = separability(X, y, fit_intercept=False)
    assert verdict.verdict == "separable"
    assert all(isinstance(v, int) for v in verdict.coef.ravel())
    made = certify(X, y, fit_intercept=False)
    assert made.claims[0]["claim"] == "separable"
    assert is_true(made.content, made.claims[0], np.array(X), y)
    weaker = json.loads(made.to_json())
    weaker["claims"][0]["coef"] = [["-3", "1"]]
    with pytest.raises(Refused, match="margin below"):
        checker.verify(weaker, (X, y))
    mixed = json.loads(made.to_json())
    mixed["claims"][0]["coef"] = [[-3.0, "1"]]
    with pytest.raises(Refused, match="in hexadecimal"):
        checker.verify(mixed, (X, y))


@pytest.mark.parametrize(
    ("X", "y", "settings"),
    [
        ([[1e308, 1e308], [0, 1e308]], [1, 0], {}),
        ([[1.0], [2.0]], [0, 1], {"intercept_scaling": 1e160}),
        ([[1.0], [2.0]], [0, 1], {"intercept_scaling": 1e-170}),
        ([[0, 1e-160], [5e-324, 1e-160]], [0, 1], {"intercept_scaling": 0.1}),
        ([[1.7e308] * 4, [-1.7e308] * 4], [1, -1], {}),
        ([[1e308, 5e-324], [-1e308, 5e-324]], [1, 1], {"fit_intercept": False}),
    ],
)
def test_every_finite_input_is_legal(X, y, settings):
    assert separability(X, y, **settings).verdict == "separable"
    assert certify(X, y, **settings).claims[0]["claim"] == "separable"
    max_margin(X, y, **settings)


def test_rows_of_many_sizes_with_weights():
    """Wolfe's method ends even where rounding takes the last point of its corral, as at the 217th problem."""
    rng = np.random.default_rng(0)
    for _ in range(217):
        n, d = int(rng.integers(3, 14)), int(rng.integers(1, 5))
        X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-8, 7, (n, 1))
        weights = 10.0 ** rng.uniform(-4, 4, n)
        found = max_margin(X, np.arange(n) % 2, sample_weight=weights, gap=0.0, max_passes=50)
        assert found.lower <= found.upper
