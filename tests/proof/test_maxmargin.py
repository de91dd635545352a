"""The bracket on the largest margin, against its definition, other solvers and theorems."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.svm import LinearSVC

from novikoff import Perceptron, _core
from novikoff.data.arrays import rows_of
from novikoff.proof.maxmargin import Search, solve
from novikoff.proof.minnorm import nearest
from novikoff.proof.problem import read_problem
from novikoff.theory import max_margin
from novikoff.training.weights import width
from support.lecture import SIX, SIX_Y
from support.strategies import datasets, extreme, separable


def vectors(problem):
    """Every z, as rows, and its pair."""
    scores = problem.scores(np.zeros(problem.shape)).ravel()
    pairs = np.flatnonzero(np.isfinite(scores))
    Z = problem.signed_rows(pairs)
    return (Z.toarray() if sp.issparse(Z) else Z), pairs


def by_enumeration(Z):
    """The distance of the hull from the origin: its nearest point is that of a plane through some points."""
    best = math.inf
    for k in range(1, min(len(Z), Z.shape[1] + 1) + 1):
        for chosen in itertools.combinations(range(len(Z)), k):
            part = Z[list(chosen)]
            system = np.block([[part @ part.T, np.ones((k, 1))], [np.ones((1, k)), np.zeros((1, 1))]])
            solved = np.linalg.lstsq(system, np.append(np.zeros(k), 1.0), rcond=None)[0][:k]
            if (solved >= -1e-9).all() and abs(solved.sum() - 1) < 1e-9:
                best = min(best, float(np.linalg.norm(np.maximum(solved, 0) @ part)))
    return best


def bounds_hold(problem, found):
    """Both bounds in rationals: (min u·z)² ≥ lower²·u·u, where that is positive, and ‖Σ α z‖ ≤ upper·Σα."""
    Z, pairs = vectors(problem)
    rows = [[Fraction(float(v)) for v in z] for z in Z]
    u = [Fraction(float(v)) for v in found.u.ravel()]
    smallest = min(sum(a * b for a, b in zip(z, u, strict=True)) for z in rows)
    lower, square = Fraction(found.lower), sum(v * v for v in u)
    if lower > 0:
        assert smallest > 0 and smallest**2 >= lower**2 * square
    elif smallest < 0:
        assert smallest**2 <= lower**2 * square
    if not math.isfinite(found.upper):
        return
    alpha = [Fraction(float(a)) for a in found.alpha.ravel()[pairs]]
    assert min(alpha) >= 0 and abs(float(sum(alpha)) - 1) < 1e-12
    total = [sum(a * z[j] for a, z in zip(alpha, rows, strict=True)) for j in range(Z.shape[1])]
    assert sum(t * t for t in total) <= Fraction(found.upper) ** 2 * sum(alpha) ** 2


# ---- the definition ----------------------------------------------------------------------------------
@given(datasets(max_rows=7, max_features=3), st.booleans(), st.booleans())
def test_the_bracket_contains_the_distance_of_the_hull(data, fit_intercept, sparse):
    X, y = data
    problem = read_problem(sp.csr_array(X) if sparse else X, y, fit_intercept=fit_intercept)
    found = solve(problem, gap=1e-9)
    bounds_hold(problem, found)
    Z, _ = vectors(problem)
    if np.abs(Z).max() < 1e6:
        distance, size = by_enumeration(Z), problem.radius()
        assert found.upper == pytest.approx(distance, rel=1e-6, abs=1e-7 * size)
        if distance > 1e-3 * size:
            assert found.lower == pytest.approx(distance, rel=1e-6)
    assert len(found.support) <= problem.dimension + 1
    assert found.u.shape == problem.shape


@given(datasets(n_classes=3, max_rows=6, max_features=2), st.booleans())
def test_three_classes_are_separated_jointly(data, fit_intercept):
    X, y = data
    problem = read_problem(X, y, fit_intercept=fit_intercept)
    found = solve(problem, gap=1e-9)
    bounds_hold(problem, found)
    assert found.alpha.shape == (len(X), 3) and not found.alpha[np.arange(len(X)), problem.labels].any()
    Z, _ = vectors(problem)
    if np.abs(Z).max() < 1e6:
        flat = np.zeros(len(Z))
        flat[int(np.argmin(np.square(Z).sum(axis=1)))] = 1.0
        scale = max(float(np.abs(Z).max()), 1e-300)
        reference = nearest(Z / scale, (Z / scale) @ (Z / scale).T, flat)
        distance = float(np.linalg.norm(reference @ Z))
        assert found.upper == pytest.approx(distance, rel=1e-6, abs=1e-7 * scale)


@given(datasets(kinds=st.just(extreme), max_rows=6, max_features=3), st.booleans())
def test_any_finite_numbers(data, fit_intercept):
    """Bounds hold from 5e-324 to 1e300, in one data set."""
    problem = read_problem(*data, fit_intercept=fit_intercept)
    bounds_hold(problem, solve(problem, gap=1e-6, max_passes=20))


@given(st.integers(0, 2**32 - 1), st.integers(-660, 660))
def test_powers_of_two_scale_the_margin(seed, exponent):
    rng = np.random.default_rng(seed)
    X, y, _ = separable(rng, 40, 3)
    plain = max_margin(X, y, fit_intercept=False)
    scaled = max_margin(np.ldexp(X, exponent), y, fit_intercept=False)
    assert math.ldexp(plain.upper, exponent) == pytest.approx(scaled.upper, rel=1e-6)
    assert scaled.gap <= 1e-6 and plain.gap <= 1e-6


# ---- other solvers -----------------------------------------------------------------------------------
@pytest.mark.parametrize("bias", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_linear_svc_and_a_quadratic_program_agree(seed, bias):
    """Hard-margin LinearSVC regularises its bias, so its margin is that of the lifted space."""
    X, y, _ = separable(np.random.default_rng(seed), 200, 5, margin=0.2)
    how = {"fit_intercept": bias > 0, "intercept_scaling": bias or 1.0}
    found = max_margin(X, y, **how)
    assert found.gap <= 1e-6
    svc = LinearSVC(loss="hinge", C=1e6, tol=1e-10, max_iter=2_000_000, **how).fit(X, y)
    rows = np.hstack([X, np.full((len(X), 1), bias)]) if bias else X
    w = np.append(svc.coef_[0], svc.intercept_ / bias) if bias else svc.coef_[0]
    assert (y * (rows @ w)).min() / np.linalg.norm(w) == pytest.approx(found.upper, rel=1e-4)
    z = rows * y[:, None]
    start = found.u / (z @ found.u).min() + 0.01
    program = minimize(
        lambda w: w @ w,
        start,
        jac=lambda w: 2 * w,
        constraints={"type": "ineq", "fun": lambda w: z @ w - 1, "jac": lambda w: z},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert 1 / math.sqrt(program.fun) == pytest.approx(found.upper, rel=1e-6)


def test_a_lifted_bias_is_not_a_free_one():
    """x = 10 and x = 12: half their distance is 1; in the lifted space (10, 1), −(12, 1) give 2/√488."""
    found = max_margin([[10.0], [12.0]], [1, -1])
    assert found.lower == pytest.approx(2 / math.sqrt(488), rel=1e-12)
    assert found.upper == pytest.approx(0.0905, abs=1e-4)


# ---- examples whose margin is known ------------------------------------------------------------------
def test_the_six_points():
    """R² = 5 and γ = 1; scaled to norm 1, γ = 1/√5 (two of them are (1, −2)/√5 and (1, 2)/√5)."""
    X, y = SIX, SIX_Y
    found = max_margin(X, y, fit_intercept=False)
    assert found.lower == pytest.approx(1, rel=1e-12) and found.upper == pytest.approx(1, rel=1e-12)
    assert found.is_separating and "margin between" in str(found)
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    assert max_margin(unit, y, fit_intercept=False).upper == pytest.approx(1 / math.sqrt(5), rel=1e-12)


def test_independent_points():
    """n ≤ d independent points: γ = 1/√(yᵀG⁻¹y) where y∘G⁻¹y ≥ 0."""
    X = np.eye(4, 6) + 0.1
    y = np.array([1, -1, 1, 1])
    weights = np.linalg.solve(X @ X.T, y)
    assert (y * weights >= 0).all()
    found = max_margin(X, y, fit_intercept=False)
    assert found.upper == pytest.approx(1 / math.sqrt(y @ weights), rel=1e-12)
    assert found.gap <= 1e-6


@pytest.mark.parametrize(
    ("X", "y", "gamma"),
    [
        ([[0.0, 0.0]], [1], 0.0),  # a zero row
        ([[0.0, 0.0], [1.0, 0.0]], [1, -1], 0.0),
        ([[3.0, 4.0]], [-1], 5.0),  # one row, one class
        ([[3.0, 4.0]] * 5, [1] * 5, 5.0),
        ([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], [1, 1, -1], 0.0),  # consistent, and inseparable
        ([[1.0, 1.0], [1.0, 1.0]], [1, -1], 0.0),  # the same row with both labels
    ],
)
def test_degenerate_sets(X, y, gamma):
    found = max_margin(X, y, fit_intercept=False)
    assert found.upper == pytest.approx(gamma, abs=1e-12)
    assert found.lower <= found.upper and found.is_separating == (gamma > 0)
    assert found.alpha.sum() == pytest.approx(1, rel=1e-12)
    if gamma:
        assert found.lower == pytest.approx(gamma, rel=1e-12)


def test_weights_multiply_z():
    X, y, _ = separable(np.random.default_rng(3), 60, 4)
    weights = np.random.default_rng(4).uniform(0.1, 3, len(y))
    weights[5] = 0
    found = max_margin(X, y, fit_intercept=False, sample_weight=weights)
    kept = weights > 0
    other = max_margin(X[kept] * weights[kept, None], y[kept], fit_intercept=False)
    assert found.upper == pytest.approx(other.upper, rel=1e-6) and found.gap <= 1e-6


@pytest.mark.parametrize("layout", ["float32", "uint8", "csr", "csr64"])
def test_storage_makes_no_difference(layout):
    rng = np.random.default_rng(5)
    X = rng.integers(0, 255, (300, 12)).astype(np.uint8)
    y = np.where(X @ (np.arange(12) - 5) > 20, 1, -1)
    expected = max_margin(X.astype(float), y)
    stored = {
        "float32": lambda: X.astype(np.float32),
        "uint8": lambda: X,
        "csr": lambda: sp.csr_array(X.astype(np.float32)),
        "csr64": lambda: sp.csr_matrix(X.astype(float)),
    }[layout]()
    found = max_margin(stored, y)
    assert found.gap <= 1e-6 and expected.gap <= 1e-6
    assert found.upper == pytest.approx(expected.upper, rel=2e-6)


def test_more_columns_than_a_dense_working_set_has():
    """Sparse rows in many dimensions: independent points, whose margin has a closed form."""
    n = 300
    X = sp.csr_array(sp.hstack([sp.eye(n, 6000), np.ones((n, 1))]))
    found = max_margin(X, np.ones(n, dtype=int), 1e-9, fit_intercept=False)
    assert found.upper == pytest.approx(math.sqrt(1 + 1 / n), rel=1e-9) and found.gap <= 1e-9


def test_large_enough_to_be_sampled_first():
    X, y, _ = separable(np.random.default_rng(6), 30_000, 6, margin=0.1)
    found = max_margin(X, y, 1e-9)
    small = max_margin(X, y, 1e-9, start=found)
    assert found.gap <= 1e-9 and small.passes <= 3
    assert small.upper == pytest.approx(found.upper, rel=1e-9)


# ---- native loops and their specification ------------------------------------------------------------
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(1, 40), st.booleans())
def test_the_lowest_products_are_those_of_a_sort(seed, n_classes, k, sparse):
    """On integers the float products are exact, so pairs and values must agree, ties included."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, (50, 3)) * 1.0, np.arange(50) % n_classes
    weights = rng.integers(1, 3, 50) * 1.0
    problem = read_problem(sp.csr_array(X) if sparse else X, y, sample_weight=weights)
    u = rng.integers(-2, 3, problem.shape) * 1.0
    coef, intercept = problem.coefficients(u)
    w, b = np.zeros((3, width(n_classes))), np.zeros(width(n_classes))
    w[:, : len(coef)], b[: len(coef)] = coef.T, intercept
    native = _core.Learner(n_classes, w, b, _core.Rule("perceptron"))
    examples = _core.Examples(rows_of(problem.X), problem.labels, weights)
    pairs, found = _core.lowest(native, examples, 10, 45, k)
    scores = problem.scores(u)
    scores[:10], scores[45:] = math.inf, math.inf
    scores = scores.ravel()
    expected = np.lexsort((np.arange(scores.size), scores))[: min(k, np.isfinite(scores).sum())]
    np.testing.assert_array_equal(pairs, expected)
    np.testing.assert_array_equal(found, scores[expected])


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.floats(0.0, 3.0))
def test_wolfe_and_mdm_agree_with_the_specification(seed, d, shift):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((30, d))
    Z[:, 0] += shift
    gram = Z @ Z.T
    start = np.zeros(30)
    start[0] = 1.0
    spec, native, steps = nearest(Z, gram, start), start.copy(), start.copy()
    assert _core.wolfe(gram, native, 1000, 1e-15)
    lengths = [float(np.linalg.norm(a @ Z)) for a in (spec, native)]
    assert lengths[0] == pytest.approx(lengths[1], rel=1e-6, abs=1e-6)
    assert np.count_nonzero(spec) <= d + 1 and np.count_nonzero(native) <= d + 1
    w = spec @ Z
    if lengths[0] > 1e-6:
        assert (Z @ w).min() >= w @ w - 1e-12
    before = 1e300
    for _ in range(5):  # every step of MDM shortens w
        _core.mdm(gram, steps, 10, 0.0)
        length = float(np.linalg.norm(steps @ Z))
        assert lengths[0] * (1 - 1e-9) - 1e-12 <= length <= before * (1 + 1e-12) + 1e-12
        assert steps.min() >= 0 and steps.sum() == pytest.approx(1, rel=1e-12)
        before = length


# ---- ways to begin and to end ------------------------------------------------------------------------
def test_start_from_a_model_or_a_bracket():
    X, y, _ = separable(np.random.default_rng(7), 300, 5)
    model = Perceptron(random_state=0).fit(X, y)
    first = max_margin(X, y, start=model)
    assert first.gap <= 1e-6
    assert max_margin(X, y, start=(model.coef_, model.intercept_)).upper == pytest.approx(
        first.upper, rel=1e-6
    )
    with pytest.raises(ValueError, match="do not fit X and y"):
        max_margin(X[:, :3], y, start=model)
    with pytest.raises(ValueError, match="other data"):
        max_margin(X[:9], y[:9], start=first)
    with pytest.raises(ValueError, match="must be a fitted linear model"):
        max_margin(X, y, start="model")


def test_limits_give_the_bracket_so_far():
    X, y, _ = separable(np.random.default_rng(8), 2000, 30, margin=0.01)
    best = max_margin(X, y)
    for limits in ({"max_passes": 1}, {"max_passes": 3}, {"time_limit": 0.0}):
        found = max_margin(X, y, **limits)
        assert found.passes <= limits.get("max_passes", 2)
        assert found.lower <= best.upper and found.upper >= best.lower
    seen = []
    early = solve(
        read_problem(X, y), gap=1e-9, stop_when="separating", watch=lambda text, _: seen.append(text)
    )
    assert early.lower > 0 and early.passes <= best.passes and seen


def test_ctrl_c_gives_the_bracket_so_far():
    X, y, _ = separable(np.random.default_rng(9), 500, 20)

    def interrupt(text, fraction):
        raise KeyboardInterrupt

    found = max_margin(X, y, 0.0, watch=interrupt)
    assert found.interrupted and found.lower <= found.upper < math.inf
    assert "interrupted" in str(found) and found.to_dict()["interrupted"]


def test_ctrl_c_before_anything_was_found(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Search, "look", interrupt)
    found = max_margin([[3.0, 4.0], [1.0, 1.0]], [1, -1], fit_intercept=False)
    assert found.interrupted and found.passes == 0 and found.alpha.sum() == 1
    assert found.lower <= 0 < found.upper < math.inf


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"gap": -1.0}, "gap=-1.0 is not possible"),
        ({"gap": math.nan}, "gap=nan is not possible"),
        ({"max_passes": 0}, "max_passes=0 is not possible"),
        ({"intercept_scaling": 0.0}, "intercept_scaling"),
        ({"sample_weight": [1.0]}, "one number per row"),
        ({"start": ([[1.0]], [3.0]), "fit_intercept": False}, "fit_intercept=True"),
    ],
)
def test_bad_parameters(how, message):
    with pytest.raises(ValueError, match=message):
        max_margin([[1.0], [-1.0]], [1, -1], **how)


def test_the_working_set_may_be_cut():
    """Points that are forgotten can come back; the bracket does not depend on it."""
    X, y, _ = separable(np.random.default_rng(10), 400, 3)
    search = Search(read_problem(X, y))
    search.at_once = 4
    search.begin(None, None)
    search.run(1e-9, 1000, None, None)
    search.close()
    assert search.result().upper == pytest.approx(max_margin(X, y, 1e-9).upper, rel=1e-8)
