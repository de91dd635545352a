"""Bounds as the theorems they are: whatever was run, no count passes them; the best of them in hindsight."""

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks import hindsight as table
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from novikoff import Perceptron, VotedPerceptron
from novikoff.proof.problem import read_problem
from novikoff.reference.linear import Twin
from novikoff.theory import (
    best_in_hindsight,
    bounds,
    leave_one_out,
    majority_bound,
    minimax_risk,
    online_to_batch,
    trace,
)
from novikoff.theory.hindsight import best_length, bound_at
from support.lecture import SIX, SIX_Y
from support.places import LONG
from support.strategies import datasets, integers, separable, sparse


# ---- bounds by the margin -------------------------------------------------------------------------------
def test_six_points():
    """R² = 5, γ = 1, bound 5; γ_n = 1/√5, bound 5 as well; two epochs, three mistakes."""
    found = bounds(SIX, SIX_Y, fit_intercept=False, epochs=2, gap=1e-6, margin=0.5)
    novikoff, unit = found["novikoff"], found["normalized"]
    assert novikoff.ingredients["R"] ** 2 == pytest.approx(5)
    assert novikoff.ingredients["gamma_lower"] == pytest.approx(1, rel=1e-5)
    assert novikoff.lower <= 5 * (1 + 1e-12) and novikoff.upper * (1 + 1e-12) >= 5
    assert unit.ingredients["gamma_upper"] == pytest.approx(1 / math.sqrt(5), rel=1e-5)
    assert unit.value == pytest.approx(5, rel=1e-5)
    assert found["margin"].value == pytest.approx(6, rel=1e-5)
    assert novikoff.made == 3 and novikoff.holds and unit.holds is None
    assert found.to_dict()["novikoff"]["made"] == 3 and "3 made" in str(found)
    with pytest.raises(KeyError, match="novikoff"):
        found["other"]


@given(datasets(2, st.just(integers), max_rows=4, max_features=3), st.sampled_from(["positive", "mistake"]))
def test_novikoff_in_every_order(data, ties):
    """k·γ_u² ≤ R² in integers, for every order of the rows, each repeated until nothing is wrong."""
    X, y = data
    problem = read_problem(X, y, fit_intercept=False)
    grid = np.array(list(itertools.product(range(-2, 3), repeat=X.shape[1])), dtype=float)
    smallest = (problem.signed_rows(np.arange(len(X))) @ grid.T).min(axis=0)
    assume((smallest > 0).any())
    squares = (grid**2).sum(axis=1)
    radius2 = int((X**2).sum(axis=1).max())
    for order in itertools.permutations(range(len(X))):
        twin = trace(X[list(order)], y[list(order)], grid[smallest.argmax()], ties=ties, fit_intercept=False)
        assert twin.converged
        assert all(
            twin.updates * int(m) ** 2 <= radius2 * int(s)
            for m, s in zip(smallest, squares, strict=True)
            if m > 0
        )


@pytest.mark.parametrize("rule", ["perceptron", "normalized", "margin", "pa", "pa1", "pa2"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_rule_keeps_its_bound(rule, n_classes):
    rng = np.random.default_rng(3)
    W = rng.standard_normal((n_classes, 4))
    X = rng.standard_normal((300, 4))
    s = np.sort(X @ W.T, axis=1)
    X = X[s[:, -1] - s[:, -2] > 0.3]
    y = (X @ W.T).argmax(axis=1)
    model = Perceptron(rule, margin=0.7, C=0.3, random_state=0, max_epochs=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    bound = bounds(X, y, model)["novikoff" if rule == "perceptron" else rule]
    assert bound.made == (model.n_updates_ if rule == "margin" else model.n_mistakes_) > 0
    assert bound.holds and math.isfinite(bound.upper)
    assert bound.lower <= bound.upper <= bound.lower * 1.01
    report = model.report()  # training's own bracket is of the same theorem, and wider
    assert report.bound == bound.formula and report.bound_lower <= bound.upper * (1 + 1e-9)
    assert report.bound_upper >= bound.lower * (1 - 1e-9)


def test_weighted_rows():
    """R and γ are those of c·x; the bounds know it, and passive-aggressive has none."""
    X, y, u = separable(np.random.default_rng(0), n=100)
    c = np.random.default_rng(1).uniform(0.2, 5, len(X))
    found = bounds(X, y, sample_weight=c, fit_intercept=False, epochs=50)
    assert found["novikoff"].ingredients["R"] == pytest.approx(np.max(c * np.linalg.norm(X, axis=1)))
    assert found["novikoff"].ingredients["gamma_upper"] >= np.min(c * y * (X @ u))
    assert found["novikoff"].holds and found["novikoff"].made > 0
    assert "pa" not in found.to_dict() and "online-to-batch" not in found.to_dict()


def test_majorities():
    """n·r, and no run passes it; the data must be signs."""
    rng = np.random.default_rng(0)
    n, r = 20, 3
    X = rng.choice([-1.0, 1.0], (400, n))
    y = np.where(X[:, :r].sum(axis=1) > 0, 1, -1)
    for bias in (False, True):
        bound = bounds(X, y, relevant=r, fit_intercept=bias, epochs=100)["majority"]
        assert bound.value == (n + bias) * r == majority_bound(n, r, bias) and 0 < bound.made <= bound.value
    with pytest.raises(ValueError, match="odd"):
        majority_bound(20, 4)
    with pytest.raises(ValueError, match="−1 and"):
        bounds(2 * X, y, relevant=3)


# ---- in hindsight ---------------------------------------------------------------------------------------
@given(st.data(), st.integers(2, 3), st.sampled_from(["l2", "l1"]), st.integers(1, 3), st.booleans())
def test_hindsight_is_between_the_mistakes_and_every_v(data, n_classes, norm, epochs, sparse):
    """dual ≤ A(v)² for every v tried, value ≤ A(v)² up to the gap, and no order's mistakes pass the value."""
    X, y = data.draw(datasets(n_classes, st.just(integers)))
    rows = sp.csr_array(X) if sparse else X
    assume(X.any())
    best = best_in_hindsight(rows, y, norm=norm, epochs=epochs)
    problem = read_problem(rows, y)
    assert best.dual_value <= best.value == bound_at(problem, best.v, norm=norm, epochs=epochs)
    assert best.gap <= 0.01
    rng = np.random.default_rng(0)
    for v in rng.standard_normal((20, *problem.shape)) * np.exp(rng.uniform(-3, 2, 20)).reshape(
        -1, *[1] * len(problem.shape)
    ):
        at = bound_at(problem, v, norm=norm, epochs=epochs)
        assert best.dual_value <= at
        scores = problem.scores(v)  # the definition
        hinge = np.maximum(1 - (scores.min(axis=1) if n_classes > 2 else scores), 0)
        a, e = problem.radius() * np.linalg.norm(v), epochs
        plain = a + math.sqrt(e) * np.linalg.norm(hinge)
        plain = plain if norm == "l2" else (a + math.sqrt(a * a + 4 * e * hinge.sum())) / 2
        assert plain**2 <= at <= plain**2 * (1 + 1e-9)
    for seed in range(5):
        run = trace(
            rows, y, np.ones(problem.shape), order="shuffle", random_state=seed, max_epochs=epochs, margins=0
        )
        assert run.mistakes <= best.value


@pytest.mark.parametrize("norm", ["l2", "l1"])
def test_epochs_are_copies(norm):
    rng = np.random.default_rng(0)
    X, y, _ = separable(rng, n=80)
    y[:6] *= -1
    three = best_in_hindsight(X, y, norm=norm, epochs=3, gap=1e-3)
    copies = best_in_hindsight(np.tile(X, (3, 1)), np.tile(y, 3), norm=norm, gap=1e-3)
    assert three.value == pytest.approx(copies.value, rel=2e-3)
    assert three.gap <= 1e-3 and "no v gives less" in str(three)


@pytest.mark.parametrize("norm", ["l2", "l1"])
def test_wide_rows_take_conjugate_gradients(norm):
    rng = np.random.default_rng(0)
    X = sparse(rng, 200, 3000, 0.01)
    y = np.where(rng.random(200) < 0.5, 1, -1)
    best = best_in_hindsight(X, y, norm=norm)
    assert best.gap <= 0.01 and best.value <= 200 * (1 + 1e-9)


def test_hindsight_of_separable_rows_is_never_worse_than_novikoff():
    X, y, _ = separable(np.random.default_rng(2), n=60, margin=0.2)
    found = bounds(X, y, fit_intercept=False, epochs=1000)
    best = found["freund-schapire in hindsight"]
    assert best.lower <= found["novikoff"].upper * (1 + 1e-9)
    assert best.value <= found["novikoff"].upper * 1.01  # v = u/γ has no hinge
    assert best.value == pytest.approx(
        found["novikoff"].upper, rel=0.02
    )  # a thousand copies: none is worth it


def test_best_length_is_the_minimum():
    rng = np.random.default_rng(0)
    for seed in range(20):
        m, R = rng.standard_normal(7) + seed % 4, rng.uniform(1, 4)
        s, loss = best_length(m, R, 2)
        value = R * s + math.sqrt(2) * loss
        grid = [
            R * t + math.sqrt(2) * np.linalg.norm(np.maximum(1 - t * m, 0)) for t in np.linspace(0, 5, 2001)
        ]
        assert value <= min(grid) * (1 + 1e-9)


def test_at_a_given_v_and_at_a_model():
    X, y, u = separable(np.random.default_rng(0), n=100)
    y[:4] *= -1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = Perceptron(order="cyclic", max_epochs=3).fit(X, y)
    found = bounds(X, y, model, v=np.append(3 * u, 0.0))
    for norm in ("", " l1"):
        best = found[f"freund-schapire{norm} in hindsight"]
        assert best.made == model.n_mistakes_ and best.holds
        for where in ("given", "model"):
            at = found[f"freund-schapire{norm} at {where}"]
            assert best.lower <= at.value and at.holds
    assert not math.isfinite(found["novikoff"].upper) and "none" in str(found["novikoff"])


# ---- risk -----------------------------------------------------------------------------------------------
POINTS = [((1.0, 0.0), 1), ((0.0, 1.0), 0), ((1.0, 2.0), 1), ((-1.0, 1.0), 1)]  # not all of them separable
CHANCES = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(1, 8)]


def passes(n):
    """Every sequence of n draws: its probability, mistakes, and the risk and predictions of w₀ … w_n."""
    for draw in itertools.product(range(len(POINTS)), repeat=n):
        twin = Twin(2, 2, bias_square=0.0)
        wrong = []
        for k in (*draw, None):
            wrong.append([twin.predict(np.array(x)) != y for x, y in POINTS])
            if k is not None:
                twin.visit(0, np.array(POINTS[k][0]), POINTS[k][1])
        chance = math.prod((CHANCES[k] for k in draw), start=Fraction(1))
        yield chance, twin.mistakes, np.array(wrong)


def risk(wrong):
    return sum((c for c, w in zip(CHANCES, wrong, strict=True) if w), Fraction(0))


def test_online_to_batch_by_enumeration():
    """E[mean risk of w₀ … w_{n−1}] = E[M]/n, exactly; the high bound fails with probability at most δ."""
    n, delta = 4, 0.2
    mistakes = mean = failed = vote = Fraction(0)
    for chance, made, wrong in passes(n):
        mistakes += chance * made
        average = sum(map(risk, wrong[:n])) / n
        mean += chance * average
        gibbs, votes = online_to_batch(made, n, delta=delta)
        failed += chance * (average > gibbs.value)
        vote += chance * (risk(2 * wrong[1:].sum(axis=0) >= n) > votes.value)
    assert mean == mistakes / n
    assert failed <= delta and vote <= delta


def test_leave_one_out_vote_by_enumeration():
    """The vote of w₀ … w_m errs with probability at most 2·E[M of m + 1]/(m + 1); without w₀, 2·E[M]/m."""
    m = 3
    expected = sum(
        chance * leave_one_out(made, m + 1)[0].ingredients["M"] for chance, made, _ in passes(m + 1)
    )
    whole = without = Fraction(0)
    for chance, _, wrong in passes(m):
        whole += chance * risk(2 * wrong.sum(axis=0) >= m + 1)
        without += chance * risk(2 * wrong[1:].sum(axis=0) >= m)
    assert whole <= 2 * Fraction(expected) / (m + 1)
    assert without <= 2 * Fraction(expected) / m


@pytest.mark.parametrize("seed", range(3))
def test_leave_one_out_of_a_converged_run(seed):
    """Leaving out, one after the other, every row of a cyclic run: no more errors than rows with updates."""
    X, y, _ = separable(np.random.default_rng(seed), n=40, d=3)
    model = VotedPerceptron(order="cyclic", predict_with="last", fit_intercept=False).fit(X, y)
    errors = 0
    for i in range(len(X)):
        rest = np.delete(np.arange(len(X)), i)
        other = VotedPerceptron(order="cyclic", predict_with="last", fit_intercept=False).fit(
            X[rest], y[rest]
        )
        errors += other.predict(X[i : i + 1])[0] != y[i]
    found = bounds(X, y, model)["leave-one-out"]
    assert errors / len(X) <= found.value == len(model.support_) / len(X)
    assert (
        found.value
        <= bounds(X, y, Perceptron(order="cyclic", fit_intercept=False).fit(X, y))["leave-one-out"].value
    )


@pytest.mark.parametrize(("n", "d"), [(1, 2), (3, 2), (3, 3), (4, 2), (2, 5)])
def test_minimax_by_enumeration(n, d):
    """Orthonormal points e_1 … e_k, k = min(n, d): e_2 … e_k of probability 1/n with labels by coin, e_1 the
    rest and +. The expected risk of a perceptron over all draws and labels is the formula."""
    k = min(n, d)
    chances = [1 - Fraction(k - 1, n)] + [Fraction(1, n)] * (k - 1)
    total = Fraction(0)
    for coins in itertools.product([0, 1], repeat=k - 1):
        labels = [1, *coins]
        for draw in itertools.product(range(k), repeat=n):
            twin = Twin(2, d, bias_square=0.0)
            for i in draw:
                twin.visit(i, np.eye(d)[i], labels[i])
            wrong = [twin.predict(np.eye(d)[i]) != labels[i] for i in range(k)]
            chance = math.prod((chances[i] for i in draw), start=Fraction(1))
            total += chance * sum((c for c, w in zip(chances, wrong, strict=True) if w), Fraction(0))
    assert float(total / 2 ** (k - 1)) == pytest.approx(minimax_risk(n, d), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: best_in_hindsight(SIX, SIX_Y, norm="l3"), "l2"),
        (lambda: best_in_hindsight(SIX, SIX_Y, epochs=0), "1 or more"),
        (lambda: best_in_hindsight(SIX, SIX_Y, gap=0), "between 0 and 1"),
        (lambda: online_to_batch(5, 4), "one pass"),
        (lambda: online_to_batch(1, 4, delta=2), "delta"),
        (lambda: leave_one_out(-1, 4), "one pass"),
        (lambda: minimax_risk(0, 3), "at least 1"),
        (lambda: bounds(SIX, SIX_Y, object()), "fitted"),
        (lambda: bounds(SIX, SIX_Y, Perceptron()), "fitted"),
        (
            lambda: bounds(SIX[:3], [0, 1, 2], Perceptron(multiclass="ovr").fit(SIX[:3], [0, 1, 2])),
            "one-vs-rest",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---- real files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(table.FILES) if LONG else ["phishing", "mushrooms"])
def test_real_files(name):
    """The gap is under 1 %; the mistakes of one pass, in any order tried, and any v tried agree."""
    if not table.at_hand(name):
        pytest.skip(f"{name} is not at hand")
    X, y = table.read(name)
    problem = read_problem(X, y)
    found = table.measure(X, y, orders=5)
    for norm in ("l2", "l1"):
        best = found.best[norm]
        assert best.gap < 0.01
        assert max(found.mistakes) <= best.value
        for v in (best.v, best.v / 2, best.v * 2, found.w / np.linalg.norm(found.w), 0 * best.v):
            assert best.dual_value <= bound_at(problem, v, norm=norm)
            assert best.value <= bound_at(problem, v, norm=norm) * (1 + best.gap / (1 - best.gap))
