"""Brackets hold for real numbers: margins, radii and bounds beside their values in fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

from novikoff import KernelPerceptron, Perceptron, VotedPerceptron
from novikoff.outward import at_least, at_most, ceil_text, down, floor_text, root_down, root_up, up
from novikoff.theory import bounds, margin, max_margin, radius
from support.fraction_minnorm import dot, nearest_square, vectors
from support.strategies import datasets

pytestmark = pytest.mark.filterwarnings("ignore")

RULES = ("perceptron", "normalized", "margin", "pa", "pa1", "pa2")
E3 = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0]])


def top_of(model, square, heaviest, copies):
    """What stands above γ² in the rule's theorem, in fractions."""
    beta, C = Fraction(model.margin), Fraction(model.C)
    return {
        "normalized": copies * heaviest**2,
        "margin": square + 2 * beta * heaviest,
        "pa1": max(square, 1 / C),
        "pa2": square + 1 / (2 * C),
    }.get(model.rule, square)


def check(model, X, y, weights=None):
    """margin_ ≤ γ ≤ margin_upper_, radius_ ≥ R, and the bound's bracket, all as real numbers."""
    K = len(model.classes_)
    bias = model.intercept_scaling if model.fit_intercept else 0.0
    labels = np.searchsorted(model.classes_, y)
    how = {"bias": bias, "weights": weights}
    apart = K > 2 and model.multiclass == "ovr"
    if apart:
        each = [vectors(X, labels == k, **how) for k in range(K)]
    else:
        each = [vectors(X, labels, classes=K, **how)]
    squares = [nearest_square(Z) for Z in each]
    gamma2 = min(squares)
    R2 = max(dot(z, z) for Z in each for z in Z)
    assert Fraction(model.radius_) ** 2 >= R2
    assert model.radius_ <= root_up(R2) * (1 + 1e-12)
    if model.margin_ > 0:
        assert Fraction(model.margin_) ** 2 <= gamma2
    if model.margin_upper_ < math.inf:
        assert Fraction(model.margin_upper_) ** 2 >= gamma2
    report = model.report()
    heaviest = Fraction(1 if weights is None else float(max(weights)))
    if model.rule == "normalized":
        if apart:
            gamma2 = min(nearest_square(vectors(X, labels == k, unit=True, **how)) for k in range(K))
        else:
            gamma2 = nearest_square(vectors(X, labels, unit=True, classes=K, **how))
    if not gamma2 or (model.rule.startswith("pa") and heaviest != 1):
        assert not gamma2 or report.bound_upper == math.inf
        return
    bound = top_of(model, R2, heaviest, 2 if K > 2 and not apart else 1) / gamma2 * (K if apart else 1)
    near = Fraction(1, 10**40) if model.rule == "normalized" else 0  # the oracle's own rounding
    if report.bound_upper < math.inf:
        assert Fraction(report.bound_upper) >= bound * (1 - near)
    assert Fraction(report.bound_lower) <= bound * (1 + near)


@given(
    data=st.one_of(datasets(), datasets(n_classes=3, max_rows=6, max_features=3)),
    rule=st.sampled_from(RULES),
    bias=st.sampled_from([0.0, 1.0, 0.1, 3.0]),
    weighted=st.booleans(),
    multiclass=st.sampled_from(["joint", "ovr"]),
    epochs=st.sampled_from([1, 3, 200]),
)
@example((E3, np.array([0, 0, 0, 1])), "perceptron", 0.0, False, "joint", 200)
@example((np.array([[1e-170, 0], [-1e-170, 0]]), np.array([0, 1])), "perceptron", 0.0, False, "joint", 200)
@example((np.array([[1e200, 1e180], [-1e200, 3e180]]), np.array([0, 1])), "margin", 0.0, True, "joint", 50)
def test_brackets_of_fits_hold_for_real_numbers(data, rule, bias, weighted, multiclass, epochs):
    X, y = data
    weights = 0.1 + np.arange(len(y)) % 3 * 0.3 if weighted else None
    options = {"fit_intercept": bool(bias), "intercept_scaling": bias or 1.0, "multiclass": multiclass}
    model = Perceptron(rule=rule, margin=0.3, C=0.7, max_epochs=epochs, order="cyclic", scale=None, **options)
    try:
        model.fit(X, y, sample_weight=weights)
    except OverflowError:
        return
    check(model, X, y, weights)


@pytest.mark.parametrize("rule", RULES)
def test_brackets_of_separable_decimals(rule):
    """Decimals, whose sums and norms are all rounded: where brackets were on the wrong side by an ulp."""
    rng = np.random.default_rng(RULES.index(rule))
    for _ in range(12):
        X = np.round(rng.standard_normal((8, 3)), 2)
        y = (X @ rng.standard_normal(3) > 0).astype(int)
        if len(set(y)) == 2:
            model = Perceptron(rule=rule, margin=0.1, fit_intercept=False, max_epochs=300, random_state=0)
            check(model.fit(X, y), X, y)


def test_unit_vectors_make_no_more_mistakes_than_are_allowed():
    """[e1, e2, e3, −e1] labelled 0, 0, 0, 1: three mistakes were shown beside 2.999999999999999."""
    model = Perceptron(fit_intercept=False, order="cyclic").fit(E3, [0, 0, 0, 1])
    report = model.report()
    assert report.mistakes == 3 and report.bound_lower <= 3 == report.bound_upper
    assert "between 3 and 3" in report.in_full()


def test_tiny_rows_have_a_bound():
    """R² and γ² of rows near 1e-170 underflow; their quotient is 1."""
    X = [[1e-170, 0], [-1e-170, 0]]
    report = Perceptron(fit_intercept=False, order="cyclic").fit(X, [0, 1]).report()
    assert report.bound_lower <= 1 <= report.bound_upper < 1 + 1e-12
    assert "between 0 and 0" not in report.in_full()


def test_six_points_have_whole_bounds():
    """On whole numbers nothing is rounded: R² = 5, ‖w‖² = 10, the smallest y·s is 1, three updates."""
    X = [[-1.0, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    report = Perceptron(fit_intercept=False, order="cyclic").fit(X, [-1, 1, 1, -1, -1, 1]).report()
    assert (report.bound_lower, report.bound_upper) == (4.5, 50.0)
    assert "between 4.5 and 50" in report.in_full()


@given(
    datasets(),
    st.sampled_from(["perceptron", "margin", "normalized", "pa"]),
    st.sampled_from([0.0, 1.0, 0.1]),
)
def test_drift_is_at_least_what_rounding_has_done_to_w(data, rule, bias):
    """‖w − Σ τ·y·x̃‖ ≤ drift for the steps that were made, and 0 where no operation rounded."""
    from novikoff.training import linear as training
    from novikoff.training.weights import Settings

    X, y = data
    settings = Settings(rule=rule, margin=0.3, bias_square=bias**2)
    plan = training.Plan(max_epochs=5, order="cyclic", record_updates=True)
    try:
        model, _ = training.fit(X, y, 2, settings, plan)
    except OverflowError:
        return
    native = model.learners[0].native
    total = [Fraction(0)] * (X.shape[1] + 1)
    rows, labels, _, steps, _ = native.recorded()
    for i, label, step in zip(rows.tolist(), labels.tolist(), steps.tolist(), strict=True):
        x = [*(Fraction(float(v)) for v in X[i]), Fraction(bias)]
        total = [t + Fraction(step) * (1 if label else -1) * v for t, v in zip(total, x, strict=True)]
    w = [Fraction(float(v)) for v in model.learners[0].weights[:, 0]]
    b = Fraction(float(model.learners[0].bias[0])) / Fraction(bias) if bias else Fraction(0)
    off = [a - t for a, t in zip([*w, b], total, strict=True)]
    assert native.drift == math.inf or dot(off, off) <= Fraction(native.drift) ** 2
    if (
        rule in ("perceptron", "margin")
        and bias in (0.0, 1.0)
        and (np.rint(X) == X).all()
        and np.abs(X).max() < 99
    ):
        assert native.drift == 0


@pytest.mark.parametrize("n", [3, 99, 101, 400])
@pytest.mark.parametrize("kind", ["decimals", "unit", "weighted"])
def test_radius_of_many_rows_of_equal_norms(n, kind):
    """Up to a hundred rows that may be the largest are measured exactly, and more of them with room."""
    rng = np.random.default_rng(n)
    X = rng.permuted(np.tile([0.1, 0.2, 0.3, 0.7], (n, 1)), axis=1)
    if kind == "unit":
        X = rng.standard_normal((n, 4))
        X /= np.linalg.norm(X, axis=1)[:, None]
    weights = rng.random(n) + 0.1 if kind == "weighted" else None
    y = np.arange(n) % 2
    found = []
    for rows in (X, sparse.csr_array(X), X.astype(np.float32).astype(np.float64)):
        dense = rows.toarray() if sparse.issparse(rows) else rows
        R2 = max(dot(z, z) for z in vectors(dense, y, bias=0.1, weights=weights))
        model = Perceptron(intercept_scaling=0.1, max_epochs=2).fit(rows, y, sample_weight=weights)
        once = radius(rows, intercept_scaling=0.1, sample_weight=weights)
        for r in (model.radius_, once):
            assert R2 <= Fraction(r) ** 2 <= R2 * (1 + Fraction(1, 10**12))
        found.append(model.radius_)
    assert n > 100 or found[0] == found[1]  # dense or sparse


def test_averaged_voted_and_partial_fits():
    rng = np.random.default_rng(5)
    for _ in range(10):
        X = np.round(rng.standard_normal((8, 3)), 2)
        y = (X @ rng.standard_normal(3) > 0).astype(int)
        if len(set(y)) < 2:
            continue
        gamma2 = nearest_square(vectors(X, y, bias=1.0))
        R2 = max(dot(z, z) for z in vectors(X, y, bias=1.0))
        parts = Perceptron(random_state=0)
        for _ in range(5):
            parts.partial_fit(X, y)
        for model in (
            Perceptron(average=True, random_state=0).fit(X, y),
            VotedPerceptron(random_state=0).fit(X, y),
            parts,
        ):
            assert not model.margin_ > 0 or Fraction(model.margin_) ** 2 <= gamma2
            assert gamma2 <= Fraction(model.margin_upper_) ** 2 and Fraction(model.radius_) ** 2 >= R2


# ---- theory --------------------------------------------------------------------------------------------
@given(st.one_of(datasets(), datasets(n_classes=3, max_rows=5, max_features=3)), st.booleans(), st.booleans())
def test_brackets_of_the_theory(data, bias, weighted):
    X, y = data
    K = len(set(y.tolist()))
    weights = 0.1 + np.arange(len(y)) % 3 * 0.3 if weighted else None
    how = {"fit_intercept": bias, "sample_weight": weights}
    Z = vectors(X, y, bias=float(bias), weights=weights, classes=K)
    gamma2, R2 = nearest_square(Z), max(dot(z, z) for z in Z)
    found = max_margin(X, y, **how)
    assert found.lower <= 0 or Fraction(found.lower) ** 2 <= gamma2
    assert Fraction(found.upper) ** 2 >= gamma2
    if found.u.any():
        at = margin(X, y, found.u, **how)
        assert at <= 0 or Fraction(at) ** 2 <= gamma2
    assert (2 if K > 2 else 1) * Fraction(radius(X, **how)) ** 2 >= R2
    if not 2.0**-200 < np.abs(X).max() < 2.0**200:
        return
    told = bounds(X, y, gap=1e-9, margin=0.3, C=0.7, hindsight_gap=0.5, **how)
    heaviest = Fraction(1 if weights is None else float(max(weights)))
    tops = {"novikoff": R2, "margin": R2 + 2 * Fraction(0.3) * heaviest}
    if weights is None:
        tops |= {"pa": R2, "pa1": max(R2, 1 / Fraction(0.7)), "pa2": R2 + 1 / (2 * Fraction(0.7))}
    for name, top in tops.items():
        b = told[name]
        if gamma2:
            assert b.upper == math.inf or Fraction(b.upper) >= top / gamma2
            assert Fraction(b.lower) <= top / gamma2
        else:
            assert b.upper == math.inf
    if gamma2:
        unit2 = nearest_square(vectors(X, y, bias=float(bias), weights=weights, classes=K, unit=True))
        top = (2 if K > 2 else 1) * heaviest**2 / unit2
        b, near = told["normalized"], Fraction(1, 10**40)
        assert b.upper == math.inf or Fraction(b.upper) >= top * (1 - near)
        assert Fraction(b.lower) <= top * (1 + near)


def test_what_is_proved_inseparable_has_no_bound():
    """It was "none (at least 8.77e+32 if the rows are separable)" beside a proof that nothing does."""
    X, y = np.array([[0.1, 0.3], [0.7, 0.2], [-0.3, 0.1], [0.2, -0.5]]), [0, 1, 1, 0]
    X = np.concatenate([X, X])
    told = bounds(X, [*y, *(1 - v for v in y)], fit_intercept=False)
    for name in ("novikoff", "normalized", "margin", "pa"):
        assert "none: nothing separates these rows (proved)" in str(told[name]), str(told[name])
        assert "if the rows are separable" not in str(told[name])


def test_a_sum_of_steps_that_is_zero_proves_inseparability():
    """It was "undecided" beside "(R/γ)² ≥ inf"."""
    model = Perceptron(fit_intercept=False, order="cyclic", max_epochs=1).fit([[1.0], [1.0]], [0, 1])
    text = model.report().in_full()
    assert model.margin_upper_ == 0 and model.verdict_ == "inseparable"
    assert "inf" not in text.replace("inseparable", "") and "undecided" not in text
    assert "nothing separates these rows" in text


# ---- kernels -------------------------------------------------------------------------------------------
@given(datasets(max_rows=7, max_features=3), st.sampled_from([0.0, 1.0]), st.sampled_from([1, 3, 100]))
def test_brackets_of_the_linear_kernel(data, offset, epochs):
    X, y = data
    model = KernelPerceptron(kernel="linear", fit_intercept=bool(offset), max_epochs=epochs, order="cyclic")
    try:
        model.fit(X, y)
    except (OverflowError, ValueError):
        return
    Z = vectors(X, y, bias=offset)
    gamma2, R2 = nearest_square(Z), max(dot(z, z) for z in Z)
    assert Fraction(model.radius_) ** 2 >= R2
    assert not model.margin_ > 0 or Fraction(model.margin_) ** 2 <= gamma2
    assert model.margin_upper_ == math.inf or Fraction(model.margin_upper_) ** 2 >= gamma2
    report = model.report()
    if gamma2:
        assert report.bound_upper == math.inf or Fraction(report.bound_upper) >= R2 / gamma2
        assert Fraction(report.bound_lower) <= R2 / gamma2


# ---- rounding itself -----------------------------------------------------------------------------------
fractions = st.fractions().filter(bool) | st.builds(
    lambda m, e: Fraction(m) * Fraction(2) ** e, st.integers(1, 2**60), st.integers(-2300, 2100)
)


@given(fractions)
@example(Fraction(2) ** 1024)
@example(-(Fraction(2) ** 1024))
@example(Fraction(1, 2**1080))
def test_directed_rounding(q):
    low, high = down(q), up(q)
    assert low == -math.inf or Fraction(low) <= q
    assert high == math.inf or Fraction(high) >= q
    assert low == high or math.nextafter(low, math.inf) == high
    q = abs(q)
    low, high = root_down(q), root_up(q)
    assert Fraction(low) ** 2 <= q and (high == math.inf or Fraction(high) ** 2 >= q)
    assert low == high or math.nextafter(low, math.inf) == high


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 9))
def test_decimals_are_rounded_outward(value, digits):
    low, high = floor_text(value, digits), ceil_text(value, digits)
    assert Fraction(low) <= Fraction(value) <= Fraction(high)
    if 1e-300 < abs(value) < 1e300:
        assert float(high) - float(low) <= abs(value) * 10.0 ** (1 - digits) * 1.01


@given(st.floats(1e-320, 1e308), st.floats(1e-320, 1e308))
def test_quotients_keep_to_their_side(top, gamma):
    exact = Fraction(top) / Fraction(gamma) ** 2
    assert Fraction(at_least(top, gamma)) <= exact
    assert at_most(top, gamma) == math.inf or exact <= Fraction(at_most(top, gamma))
