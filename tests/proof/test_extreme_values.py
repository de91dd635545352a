"""Every finite input is legal: bounds, hindsight, traces and diagnoses of rows whose squares are no floats.

The truth is in fractions (`fraction_minnorm`), or in the same rows times a power of two, which changes
neither mistakes nor the bounds that have no unit.
"""

import json
import math
import random
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from novikoff import Perceptron, theory
from novikoff.proof.problem import read_problem
from novikoff.theory.hindsight import bound_at
from support.fraction_minnorm import dot, nearest_square, root, vectors

POOLS = {
    "1e150": [1e150, -1e150, 3e149, 0.0],
    "1e-150": [1e-150, -1e-150, 0.0],
    "1e170": [1e170, -1e170, 3e170],
    "1e-170": [1e-170, -1e-170, 3e-170],
    "1e308": [1e308, -1e308, 1.7e308, 0.0],
    "subnormal": [5e-324, -5e-324, 1e-322, 0.0],
    "both ends": [1e308, 5e-324, 1.0, -1e-308],
    "mixed": [1e-8, 1e7, 1e-160, 1e160, -1.0],
}
BIASES = [0.0, 1.0, 0.3, 1e-170, 1e308, 5e-324]
X6 = np.array([[-1.0, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1], [-0.3, 0.7]])
Y6 = np.array([0, 1, 1, 0, 0, 1, 1])  # the last row is in the way: nothing separates them without a bias


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def draws(name, count, *, seed=0):
    """Small data sets of a pool: (X, y, classes, options)."""
    rng = random.Random(f"{name} {seed}")
    made = 0
    while made < count:
        n, d, k = rng.randint(2, 5), rng.randint(1, 2), rng.choice([2, 2, 2, 3])
        X = [[rng.choice(POOLS[name]) for _ in range(d)] for _ in range(n)]
        y = [rng.randrange(k) for _ in range(n)]
        if k == 2 and rng.random() < 0.5:
            y = [int(x[0] > 0) for x in X]
        c = rng.choice(BIASES)
        weights = [rng.choice([1.0, 1e-200, 1e200, 0.1]) for _ in X] if rng.random() < 0.3 else None
        if len(set(y)) == k:
            made += 1
            options = {"fit_intercept": bool(c), "intercept_scaling": c or 1.0, "sample_weight": weights}
            yield np.array(X), y, k, options


def truth(X, y, k, options, *, unit=False):
    """(top, γ²) of Novikoff's bound, or of the normalized rule's, as fractions."""
    weights, bias = options["sample_weight"], options["intercept_scaling"] * options["fit_intercept"]
    Z = vectors(X, y, bias=bias, weights=weights, classes=k, unit=unit)
    heaviest = Fraction(max(weights or [1.0]))
    top = heaviest**2 * (1 if k == 2 else 2) if unit else max(dot(z, z) for z in Z)
    return top, nearest_square(Z)


@pytest.mark.parametrize("name", POOLS)
def test_bounds_hold_for_real_numbers(name):
    for X, y, k, options in draws(name, 15):
        v = np.ones(
            (X.shape[1] + options["fit_intercept"],) if k == 2 else (k, X.shape[1] + options["fit_intercept"])
        )
        found = theory.bounds(X, y, v=v, epochs=3, time_limit=None, **options)
        for unit, name_ in ((False, "novikoff"), (True, "normalized")):
            bound = found[name_]
            top, square = truth(X, y, k, options, unit=unit)
            near = Fraction(1, 10**40) if unit else 0  # the oracle's own rounding
            if not square:
                assert bound.upper == math.inf
                continue
            assert bound.lower < math.inf and Fraction(bound.lower) <= top / square * (1 + near)
            assert bound.upper == math.inf or Fraction(bound.upper) >= top / square * (1 - near)
        for bound in found:
            assert bound.holds is not False, (str(bound), X, y, options)
            if "hindsight" in bound.name:  # no v is better than 1, and v = 0 allows every visit
                assert 0.999 < bound.lower <= bound.upper <= 3 * len(y) * (1 + 1e-9)
            assert str(bound) and bound.to_dict()


@pytest.mark.parametrize("norm", ["l2", "l1"])
@pytest.mark.parametrize("name", POOLS)
def test_hindsight_is_no_less_than_the_bound_at_its_v(name, norm):
    """A(v)² of the rows as they are, in fractions, at the v that was found; and α proves what it proves."""
    for X, y, k, options in draws(name, 12, seed=4):
        best = theory.best_in_hindsight(X, y, norm=norm, epochs=2, **options)
        bias = options["intercept_scaling"] * options["fit_intercept"]
        Z = vectors(X, y, bias=bias, weights=options["sample_weight"], classes=k)
        v = [Fraction(x) * Fraction(2) ** best.power for x in best.v.ravel().tolist()]
        each = [max(Fraction(0), 1 - dot(v, z)) for z in Z]
        hinges = [max(each[i : i + k - 1]) for i in range(0, len(each), k - 1)]
        square = max(dot(z, z) for z in Z) * dot(v, v)
        a = root(square) if square else Fraction(0)
        if norm == "l2":
            loss = 2 * dot(hinges, hinges)
            bound = (a + (root(loss) if loss else 0)) ** 2
        else:
            inside = square + 8 * sum(hinges)
            bound = ((a + (root(inside) if inside else 0)) / 2) ** 2
        assert Fraction(best.value) >= bound * (1 - Fraction(1, 10**50))
        assert Fraction(best.dual_value) <= bound


@pytest.mark.parametrize("rule", ["perceptron", "normalized", "margin", "pa", "pa1", "pa2"])
@pytest.mark.parametrize("name", POOLS)
def test_bounds_hold_beside_a_model(name, rule):
    for X, y, _, options in draws(name, 6, seed=1):
        weights = options.pop("sample_weight")
        options["intercept_scaling"] = min(max(options["intercept_scaling"], 1e-100), 1e100)
        model = Perceptron(rule=rule, max_epochs=5, order="cyclic", **options)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X, y, sample_weight=weights)
        except OverflowError:
            continue
        for bound in theory.bounds(X, y, model, sample_weight=weights, time_limit=None):
            assert bound.holds is not False, (str(bound), X, y, options)


@pytest.mark.parametrize("power", [-1000, -600, 600, 1000])
@pytest.mark.parametrize("bias", [0.0, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_a_power_of_two_changes_nothing_without_a_unit(power, bias, weighted, storage):
    """Bounds, hindsight and runs of 2^p·x̃ are those of x̃."""
    weights = 0.1 + np.arange(len(Y6)) % 3 * 0.3 if weighted else None
    scale = 2.0**power

    def ask(function, factor, **more):
        c = {"fit_intercept": bool(bias), "intercept_scaling": (bias or 1.0) * factor}
        return function(storage(X6 * factor), Y6, sample_weight=weights, **c, **more)

    for norm in ("l2", "l1"):
        plain, scaled = (ask(theory.best_in_hindsight, s, norm=norm, epochs=2) for s in (1.0, scale))
        assert scaled.value == pytest.approx(plain.value, rel=0.01)
        assert scaled.dual_value <= plain.value * (1 + 1e-9) and plain.dual_value <= scaled.value * (1 + 1e-9)
        problem = read_problem(
            X6 * scale,
            Y6,
            fit_intercept=bool(bias),
            intercept_scaling=(bias or 1.0) * scale,
            sample_weight=weights,
        )
        if not scaled.power:
            assert bound_at(problem, scaled.v, norm=norm, epochs=2) == pytest.approx(scaled.value, rel=1e-9)
    plain, scaled = (ask(theory.bounds, s, epochs=2) for s in (1.0, scale))
    for name in ("novikoff", "normalized"):
        assert scaled[name].upper == pytest.approx(plain[name].upper, rel=1e-2)
        assert scaled[name].made == plain[name].made
    u = np.arange(1.0, 3.0 + bool(bias))
    for rule in ("perceptron", "normalized"):
        plain, scaled = (ask(theory.trace, s, u=u, rule=rule, max_epochs=5) for s in (1.0, scale))
        assert scaled.example.tolist() == plain.example.tolist()
        assert np.allclose(scaled.cosine, plain.cosine) and np.allclose(
            scaled.cosine_floor, plain.cosine_floor
        )
        assert scaled.bound == pytest.approx(plain.bound, rel=1e-6)
        unit = 1.0 if rule == "normalized" else scale
        for figures in ("wu", "norm", "lower", "upper", "margin"):
            assert np.allclose(getattr(scaled, figures) / unit, getattr(plain, figures), rtol=1e-9)
        assert scaled.gamma / unit == pytest.approx(plain.gamma) and scaled.radius / unit == pytest.approx(
            plain.radius
        )


@pytest.mark.parametrize("rule", ["perceptron", "normalized", "margin"])
@pytest.mark.parametrize("name", POOLS)
def test_traces_of_any_size(name, rule):
    traced = 0
    for X, y, _, options in draws(name, 20, seed=2):
        try:
            run = theory.trace(X, y, rule=rule, margin=0.5, max_epochs=10, max_updates=100, **options)
        except OverflowError as error:
            assert "2**" in str(error) and "changes no bound" not in str(error)
            continue
        again = theory.Trace.from_dict(json.loads(run.to_json()))
        assert again.bound == run.bound and np.array_equal(again.upper, run.upper) and str(run)
        if options["sample_weight"] is None:  # else weight·x may have been lost among the smallest floats
            traced += 1
            least = 2.0**-1070
            assert (run.lower <= run.wu + 1e-9 * run.upper + least).all()
            assert (run.norm <= run.upper * (1 + 1e-9) + least).all()
            assert (run.cosine_floor <= run.cosine + 1e-6).all()
            assert run.updates <= run.bound * (1 + 1e-9)
    assert traced


@pytest.mark.parametrize("name", POOLS)
def test_diagnoses_of_any_size(name):
    for X, y, k, options in draws(name, 4, seed=3):
        found = theory.diagnose(X, y, n_orders=3, time_limit=None, **options)
        top, square = truth(X, y, k, options)
        assert found.verdict == ("separable" if square else "inseparable")
        assert (found.run is None) == bool(found.overflow)
        for bound in found.bounds:
            if bound.name == "Novikoff":
                assert bound.lower <= top / square
                assert bound.upper == math.inf or bound.upper >= top / square
            if options["sample_weight"] is None:
                assert bound.holds is not False
        assert str(found) and json.dumps(found.to_dict(), allow_nan=False) and found.to_html(pictures=False)


def test_a_run_that_overflows_is_named():
    """w = −(0, 2.7e308) is no float: the bounds are stated, with the reason for no count beside them."""
    X, y = [[1.7e308, 1e308], [1.7e308, -1.7e308]], [0, 1]
    found = theory.bounds(X, y, fit_intercept=False, epochs=3)
    assert "2**-1024" in found["novikoff"].missing and found["novikoff"].made is None
    assert "2**-1024" in theory.diagnose(X, y, fit_intercept=False, n_orders=2).overflow
    with pytest.raises(OverflowError, match=r"2\*\*-1024"):
        theory.trace(X, y, fit_intercept=False)


@pytest.mark.parametrize("size", [5e-324, 1e-308, 1e-170, 1e170, 8e307])
@pytest.mark.parametrize("y", [Y6, [0, 1, 1, 0, 0, 1, 0]])
def test_pictures_of_any_size(size, y):
    pytest.importorskip("matplotlib")
    found = theory.diagnose(X6 * size, y, n_orders=3, intercept_scaling=size)
    assert "<img" in found.to_html(pictures=True)
    plain = [trial for trial in found.trials if str(trial.way) == "perceptron"]
    assert plain or not any("plain perceptron will do" in text for text in found.advice)


def test_a_norm_that_no_float_holds_is_named():
    with pytest.raises(OverflowError, match=r"X and intercept_scaling by 2\*\*-1024, margin by 2\*\*-2048"):
        theory.trace([[1.7e308, 1.7e308]], [1], rule="margin", margin=1.0, max_epochs=1, fit_intercept=False)


def test_steps_that_vanish_are_no_run_of_the_theorem():
    """Weight times row is 1e-400: no step moves w, whatever the bound of 1 says about real numbers."""
    X, weights = [[1e-200], [-1e-200]], [1e-200, 1e-200]
    found = theory.bounds(X, [1, 0], epochs=7, fit_intercept=False, sample_weight=weights)
    assert found["novikoff"].made is None and "sample_weight" in found["novikoff"].missing


def test_the_radius_is_that_of_weighted_subnormal_rows():
    """Norms of 2.4 and 2.6 smallest floats round to 2 and 3, and weights turn them round."""
    t = 5e-324
    X = np.array([[2 * t, t], [2 * t, 2 * t]])  # √5 and √8
    assert read_problem(X, [0, 1], fit_intercept=False, sample_weight=[1300.0, 1000.0]).radius() / t == 2907
    rows = [[t, t], [t, 0.0]]  # √2, which rounds to 1, and 1
    square = read_problem(rows, [0, 1], fit_intercept=False, sample_weight=[1000.0, 1200.0]).radius_square()
    assert square[0] <= 2 * 1000**2 * Fraction(t) ** 2 <= square[1]


def test_the_best_v_is_given_where_floats_do_not_hold_it():
    """z = ±1e-320 wants v = ±1e320."""
    best = theory.best_in_hindsight([[1e-320], [2e-320]] * 4, [1] * 8, fit_intercept=False)
    assert best.value < 8 and best.power and best.v_norm == math.inf
    assert best.value >= 1


def test_zero_rows_in_several_epochs():
    best = theory.best_in_hindsight([[0.0], [0.0]], [0, 1], norm="l1", epochs=3, fit_intercept=False)
    assert best.dual_value <= 6 <= best.value < 6 + 1e-9
