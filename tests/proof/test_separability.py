"""Verdicts of separability against exact linear programs in fractions, and against known cases."""

import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff.proof import search
from novikoff.proof.clock import Clock
from novikoff.proof.problem import read_problem
from novikoff.proof.search import SeparabilitySearch
from novikoff.proof.separability import (
    Inseparable,
    Separable,
    Undecided,
    decide,
    separability,
)
from support.fraction_lp import is_consistent, is_separable

KINDS = ("plain", "collinear", "duplicated", "touching", "zeros", "parallel")


def draw(rng):
    """A small problem in integers (or halves), degenerate on purpose more often than not."""
    kind = KINDS[rng.integers(len(KINDS))]
    d, k = int(rng.integers(1, 7)), int(rng.choice([2, 2, 2, 3, 4]))
    n = int(rng.integers(k, 10 if k == 2 else 7))
    X = rng.integers(-2, 3, (n, d)) * rng.choice([0.5, 1.0, 3.0])
    y = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    if kind == "collinear":
        X = rng.integers(-3, 4, (n, 1)) * rng.integers(-2, 3, d) + rng.integers(-1, 2, d) * 1.0
    elif kind == "duplicated":
        X = X[rng.integers(0, max(n // 2, 1), n)]
    elif kind == "touching" and n > k + 1:
        a, b = rng.integers(0, n - 1, 2)
        X[-1] = (X[a] + X[b]) / 2
    elif kind == "zeros":
        X[rng.integers(n)] = 0
        X[:, rng.integers(d)] = 0
    elif kind == "parallel" and n > 2:
        X[-1] = -2 * X[0]
    return X, y


def check(problem, ties, verdict):
    """The verdict is the one of the definition, and carries what proves it. The words it used."""
    search = SeparabilitySearch(problem, ties, None, None)
    pairs = search.all_pairs()
    z = problem.signed_rows(pairs)
    z = z.toarray() if sp.issparse(z) else z
    Z, strict = z.tolist(), search.strict(pairs)
    assert not isinstance(verdict, Undecided), verdict
    assert (verdict.verdict == "separable") == is_separable(Z)
    assert verdict.consistent == is_consistent(Z, strict)
    if isinstance(verdict, Separable):
        assert min(z @ verdict.u.ravel()) > 0
        assert 0 < verdict.margin <= verdict.upper * (1 + 1e-12)
        assert verdict.margin <= min(z @ verdict.u.ravel()) / np.linalg.norm(verdict.u)
    else:
        assert len(verdict.pairs) <= problem.dimension + 1 and min(verdict.weights) > 0
        chosen = problem.signed_rows(verdict.pairs)
        chosen = chosen.toarray() if sp.issparse(chosen) else chosen
        exact = [[int(4 * v) for v in row] for row in chosen]
        for column in zip(*exact, strict=True):
            assert sum(w * v for w, v in zip(verdict.weights, column, strict=True)) == 0
        assert verdict.alpha.sum() == pytest.approx(1)
    if problem.is_joint:
        for (a, b), word in verdict.by_pair.items():
            rows = np.flatnonzero(np.isin(problem.classes[problem.labels], [a, b]))
            signs = np.where(problem.classes[problem.labels[rows]] == a, 1, -1)
            X = np.hstack([problem.X[rows], np.full((len(rows), int(problem.bias > 0)), problem.bias)])
            assert word == ("separable" if is_separable((X * signs[:, None]).tolist()) else "inseparable")
    return verdict.verdict, verdict.consistent, verdict.how


@given(st.integers(0, 2**32 - 1))
def test_small_cases_agree_with_fractions(seed):
    """Four cases a seed: 240 in the suite, 4,000 in the long run."""
    rng = np.random.default_rng(seed)
    for _ in range(4):
        X, y = draw(rng)
        ties = str(rng.choice(["positive", "mistake"]))
        bias = float(rng.choice([0.0, 0.0, 1.0, 2.0]))
        problem = read_problem(X, y, fit_intercept=bias > 0, intercept_scaling=bias or 1.0)
        check(problem, ties, decide(problem, ties=ties))


@pytest.mark.parametrize("step", ["cancelling", "perceptron", "small", "two_classes", "programs"])
def test_each_step_alone_is_right(step):
    """Whatever a step decides by itself is so; the exact method and the linear programs decide everything."""
    rng = np.random.default_rng(5)
    words = Counter()
    for _ in range(80):
        X, y = draw(rng)
        problem = read_problem(X, y, fit_intercept=bool(rng.integers(2)))
        search = SeparabilitySearch(problem, "positive", Clock(None), None)
        found = getattr(search, step)()
        if found is None:
            words["none"] += 1
            continue
        words[found.verdict] += 1
        assert (found.verdict == "separable") == is_separable(
            problem.signed_rows(search.all_pairs()).tolist()
        )
        assert found.verdict == "separable" or found.consistent is not None
    least = {"cancelling": (0, 30), "perceptron": (20, 20), "small": (20, 40), "two_classes": (0, 5)}
    separable, inseparable = least.get(step, (20, 40))
    assert words["separable"] >= separable and words["inseparable"] >= inseparable
    assert step not in ("small", "programs") or not words["none"]


# ---- cases with known answers ------------------------------------------------------------------------
def test_ties_of_the_degenerate_examples():
    """Without a bias: inseparable by (½, ½, 0), and yet zero errors are possible. With one as well: not."""
    for third in ([0.0, 1.0], [0.5, 1.0]):
        X, y = [[1.0, 0.0], [-1.0, 0.0], third], [1, 1, -1]
        verdict = separability(X, y, fit_intercept=False)
        assert verdict.verdict == "inseparable" and verdict.alpha.tolist() == [0.5, 0.5, 0.0]
        assert verdict.consistent is True
        assert separability(X, y, fit_intercept=False, ties="mistake").consistent is False
        assert separability(X, y).verdict == "separable", "a bias makes them separable"


def test_separable_only_with_a_bias():
    X, y = [[1.0], [2.0], [3.0]], [0, 1, 1]
    assert separability(X, y).verdict == "separable"
    without = separability(X, y, fit_intercept=False)
    assert without.verdict == "inseparable" and without.consistent is False


def test_pairwise_separable_is_not_jointly_separable():
    X = [[0, 0], [2, 1], [1, 1], [0, 4], [4, 0], [1, 2]]
    verdict = separability(X, list("AABBCC"))
    assert isinstance(verdict, Inseparable) and verdict.consistent is False
    assert verdict.by_pair == {("A", "B"): "separable", ("A", "C"): "separable", ("B", "C"): "separable"}
    total = np.zeros(9, dtype=int)
    for row, rival, weight in zip(verdict.rows, verdict.rivals, verdict.weights, strict=True):
        x = np.array([*X[row], 1])
        own = row // 2
        total[3 * own : 3 * own + 3] += weight * x
        total[3 * rival : 3 * rival + 3] -= weight * x
    assert not total.any()


def test_a_margin_near_the_resolution_of_floats():
    """Points 2⁻⁴⁰ apart, in the plane: separable all the same; moved onto one another: not."""
    X = np.array([[1.0, 1.0], [1.0 + 2.0**-40, 1.0], [0.0, 1.0], [2.0, 1.0], [1.0, 5.0], [1.0, 7.0]])
    assert separability(X, [0, 1, 0, 1, 0, 1]).verdict == "separable"  # by a line that is hardly inclined
    assert separability(X, [0, 1, 0, 1, 1, 0]).verdict == "inseparable"
    assert separability(X[:4], [0, 1, 0, 1]).verdict == "separable"
    X[1] = X[0]
    assert separability(X[:4], [0, 1, 0, 1]).how == "opposite rows"


@pytest.mark.parametrize("scale", [2.0**-600, 1e-5, 1.0, 2.0**600])
def test_floats_of_any_size(scale):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 3)) * scale
    y = (X @ [1.0, 2.0, -1.0] > 0).astype(int)
    assert separability(X, y, fit_intercept=False).verdict == "separable"
    y[:8] = 1 - y[:8]
    verdict = separability(X, y, fit_intercept=False)
    assert verdict.verdict == "inseparable" and len(verdict.pairs) <= 4
    exact = [[Fraction(v) for v in X[r]] for r in verdict.rows]
    signs = [1 if y[r] else -1 for r in verdict.rows]
    for j in range(3):
        terms = zip(verdict.weights, signs, exact, strict=True)
        assert sum(w * s * x[j] for w, s, x in terms) == 0


@pytest.fixture
def without_question(monkeypatch):
    """The steps after the search with counted effort, which decides most problems before them."""
    steps = [step for step in search.STEPS if step is not search.SeparabilitySearch.question]
    monkeypatch.setattr(search, "STEPS", tuple(steps))


@pytest.mark.parametrize("how", ["nearest point of the hull", "linear program"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("noise", [0, 40])
def test_larger_sets(sparse, noise, how, request):
    """4,000 × 12 with a thin margin: the perceptron alone does not finish; some labels changed: none can."""
    if how == "linear program":
        request.getfixturevalue("without_question")
    rng = np.random.default_rng(1)
    X = rng.standard_normal((4000, 12)) * (rng.random((4000, 12)) < 0.6)
    scores = X @ np.arange(1.0, 13.0) + 2
    X, scores = X[abs(scores) > 0.02], scores[abs(scores) > 0.02]
    y = np.where(scores > 0, "yes", "no")
    y[:noise] = "no"
    seen = []
    watch = lambda text, fraction: seen.append(text)  # noqa: E731
    verdict = separability(sp.csr_array(X) if sparse else X, y, watch=watch)
    assert verdict.verdict == ("inseparable" if noise else "separable")
    assert verdict.how == how and any(how in text for text in seen)
    if noise:
        assert len(verdict.pairs) <= 14
    else:
        assert ((X @ verdict.coef[0] + verdict.intercept[0] > 0) == (y == "yes")).all()
        assert 0 < verdict.margin <= verdict.upper


def test_dense_and_sparse_agree():
    rng = np.random.default_rng(2)
    for _ in range(40):
        X, y = draw(rng)
        bias = bool(rng.integers(2))
        a, b = (separability(M, y, fit_intercept=bias) for M in (X, sp.csr_array(X)))
        assert a.to_dict() == b.to_dict()


def test_under_a_kernel_only_equal_points_matter():
    X = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    assert separability(X, [0, 0, 1, 1], kernel="rbf").verdict == "separable"
    verdict = separability([*X, [1.0, 1.0]], [0, 0, 1, 1, 1], kernel="laplacian")
    assert verdict.verdict == "inseparable" and verdict.rows.tolist() == [1, 4] and verdict.weights == (1, 1)
    assert (
        separability([[1.0], [-1.0], [2.0]], [1, 1, 0], fit_intercept=False, kernel="rbf").verdict
        == "separable"
    )
    with pytest.raises(ValueError, match="strictly positive definite"):
        separability(X, [0, 0, 1, 1], kernel="linear")


def test_limits_leave_a_bracket():
    """No time is enough for anything; what was found of γ is true all the same, and γ ≤ 0 here."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 300)), rng.integers(0, 2, 3000)
    verdict = separability(X, y, time_limit=1e-9)
    assert isinstance(verdict, Undecided) and "time" in verdict.reason
    assert verdict.lower <= 0 <= verdict.upper and not verdict.interrupted
    if verdict.alpha.any():
        z = X * np.where(y == 1, 1, -1)[:, None]
        reached = np.linalg.norm(np.append(verdict.alpha @ z, verdict.alpha @ np.where(y == 1, 1, -1)))
        assert reached <= verdict.upper * verdict.alpha.sum() * (1 + 1e-12)


@pytest.mark.parametrize("when", ["epoch 2", "hull"])
def test_ctrl_c_leaves_a_bracket(when, request):
    if when != "hull":
        request.getfixturevalue("without_question")

    def watch(text, fraction):
        if when in text:
            raise KeyboardInterrupt

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 30)), rng.integers(0, 2, 3000)
    verdict = separability(X, y, watch=watch)
    assert isinstance(verdict, Undecided) and verdict.interrupted and math.isfinite(verdict.upper)


def test_a_given_vector_is_tried_first():
    problem = read_problem([[1.0, 2.0], [-1.0, 1.0]], [1, 0])
    verdict = decide(problem, start=np.array([1.0, 0.0, 0.0]))
    assert isinstance(verdict, Separable) and verdict.how == "given"
    assert verdict.margin == pytest.approx(1.0) and verdict.margin <= 1.0 <= verdict.upper


def test_words_and_json():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0]
    for verdict in (separability(X, y), separability(X[:3], y[:3]), separability(X, [0, 1, 2, 1])):
        again = json.loads(json.dumps(verdict.to_dict()))
        assert again["verdict"] == verdict.verdict and str(verdict).startswith(verdict.verdict)
    assert "pairs of classes" in str(verdict)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ties": "negative"}, "ties='negative'"),
        ({"time_limit": 0}, "time_limit=0"),
        ({"intercept_scaling": -1.0}, "intercept_scaling"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        separability([[0.0], [1.0]], [0, 1], **arguments)


def test_the_function_is_not_hidden_by_its_module():
    import novikoff.theory

    assert novikoff.theory.separability is separability
