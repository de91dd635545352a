"""A run as data: against the twin, and against the inequalities of the proof at every update, exactly."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Perceptron
from novikoff.proof.problem import read_problem
from novikoff.reference.linear import Twin
from novikoff.theory import Trace, trace
from support.lecture import SIX, SIX_Y
from support.strategies import datasets, integers, separable, sparse, values


def twin_of(run, X, y, n_classes):
    """The specification over the visits of a run, and its weights in the lifted space."""
    settings = {"rule": run.rule, "ties": run.ties, "margin": run.beta, "bias_square": run.bias**2}
    twin = Twin(n_classes, X.shape[1], **settings)
    order = run.order if run.order is not None else np.arange(run.n_visits) % len(X)
    twin.epoch(X, y, order)
    bias = twin.bias[:, None] / run.bias if run.bias else np.zeros((len(twin.bias), 0))
    return twin, np.hstack([twin.weights, bias]).reshape(run.w.shape)


orders = st.sampled_from(["cyclic", "shuffle", "worst", "first", "any"])


@given(
    st.integers(2, 3),
    st.data(),
    st.sampled_from(["perceptron", "normalized", "margin"]),
    st.sampled_from(["positive", "mistake"]),
    orders,
    st.booleans(),
)
def test_the_run_is_that_of_the_twin(n_classes, data, rule, ties, order, sparse):
    """Its visits, given to the specification, make the same updates at the same visits, and the weights."""
    X, y = data.draw(datasets(n_classes, values))
    bias = data.draw(st.sampled_from([0.0, 1.0, 2.0]))
    rows = sp.csr_array(X) if sparse else X
    lift = {"fit_intercept": bias > 0, "intercept_scaling": bias or 1.0}
    u = np.ones(read_problem(rows, y, **lift).shape)
    run = trace(
        rows,
        y,
        u,
        rule=rule,
        ties=ties,
        order=order,
        random_state=1,
        margin=0.5,
        max_epochs=4,
        margins=0,
        **lift,
    )
    twin, w = twin_of(run, X, y, n_classes)
    assert (run.updates, run.mistakes, run.n_visits) == (twin.updates, twin.mistakes, twin.visits)
    assert run.example.tolist() == [i for i, _ in twin.record]
    np.testing.assert_array_equal(run.w, w)
    visited = np.arange(run.n_visits) % len(X) if run.order is None else run.order
    np.testing.assert_array_equal(visited[run.visit], run.example)
    if run.updates:
        assert run.norm[-1] == pytest.approx(np.linalg.norm(w), rel=1e-9, abs=1e-9 * run.radius)


@given(st.integers(2, 3), st.data(), st.sampled_from(["perceptron", "margin"]), orders)
def test_the_proof_holds_at_every_update(n_classes, data, rule, order):
    """Exactly, in integers: W = Σz, W·u = Σ u·z ≥ k·min u·z, ‖W‖² ≤ k·(R² + 2β). The floats say the same."""
    X, y = data.draw(datasets(n_classes, st.just(integers)))
    bias = data.draw(st.sampled_from([0.0, 1.0]))
    lift = {"fit_intercept": bias > 0}
    problem = read_problem(X, y, **lift)
    size = problem.dimension
    numbers = data.draw(st.lists(st.integers(-3, 3), min_size=size, max_size=size).filter(any))
    u = np.array(numbers, dtype=float).reshape(problem.shape)
    run = trace(X, y, u, rule=rule, margin=1.0, order=order, random_state=0, max_epochs=5, **lift)
    pairs = run.example if run.rival is None else run.example * n_classes + run.rival
    Z = problem.signed_rows(pairs).astype(int) if run.updates else np.zeros((0, size), int)
    W = np.cumsum(Z, axis=0)
    smallest = int(problem.scores(u).min())
    square = round(problem.radius() ** 2) + (2 if rule == "margin" else 0)
    flat, length2 = u.ravel().astype(int), int((u**2).sum())
    for k in range(1, run.updates + 1):
        w = W[k - 1]
        assert w @ flat >= k * smallest
        assert w @ w <= k * square
        assert run.norm[k - 1] == math.sqrt(w @ w)
        assert run.wu[k - 1] == pytest.approx(int(w @ flat) / math.sqrt(length2), abs=1e-12)
        if w.any():
            expected = problem.scores(w.reshape(problem.shape) * 1.0).min() / math.sqrt(w @ w)
            assert run.margin[k - 1] == pytest.approx(expected, rel=1e-14)
    slack = 1e-9 * (1 + run.updates) * (1 + run.radius)
    assert (run.lower <= run.wu + slack).all()
    assert (run.norm <= run.upper + slack).all()
    assert (run.cosine_floor <= run.cosine + 1e-9).all()
    if smallest > 0:
        assert run.updates * smallest**2 <= square * length2  # Novikoff's theorem
        assert run.form == "novikoff" and run.gamma == pytest.approx(smallest / math.sqrt(length2))
        np.testing.assert_allclose(run.lower, run.gamma * np.arange(1, run.updates + 1))
    else:
        assert run.updates <= run.bound * (1 + 1e-9)


def test_six_points():
    """Three updates, w = (3, 1): its margin is 1/√10 and ‖w‖/3 = √10/3, between which γ = 1 lies; bound 5."""
    run = trace(SIX, SIX_Y, fit_intercept=False)
    assert run.example.tolist() == [0, 2, 4] and run.visit.tolist() == [0, 2, 4]
    assert run.epoch.tolist() == [1, 1, 1] and run.converged and run.separated
    np.testing.assert_array_equal(run.w, [3, 1])
    assert run.margin[-1] == pytest.approx(1 / math.sqrt(10), rel=1e-15)
    assert run.norm[-1] / run.updates == pytest.approx(math.sqrt(10) / 3, rel=1e-15)
    assert run.gamma == pytest.approx(1, rel=1e-4) and run.bound == pytest.approx(5, rel=1e-3)
    np.testing.assert_allclose(np.abs(run.u), [1, 0], atol=0.02)
    assert "3 updates" in str(run)


@pytest.mark.parametrize("rule", ["perceptron", "normalized"])
def test_default_direction(rule):
    """The largest margin where the rows are separable; else the best in hindsight, whose bound holds."""
    rng = np.random.default_rng(0)
    X, y, u = separable(rng, n=150)
    run = trace(X, y, rule=rule)
    scaled = (
        X
        if rule == "perceptron"
        else X / np.linalg.norm(np.hstack([X, np.ones((len(X), 1))]), axis=1)[:, None]
    )
    assert run.gamma >= np.min(y * (scaled @ u)) * (1 - 1e-3)
    assert run.converged and run.updates <= run.bound
    y[:3] *= -1
    run = trace(X, y, rule=rule, max_epochs=20)
    assert run.gamma <= 0 and run.form == "freund-schapire"
    assert run.updates <= run.bound and (run.lower <= run.wu).all() and (run.norm <= run.upper).all()
    assert run.lower.max() > -math.inf and run.slack > 0


def test_weights_multiply_the_steps():
    rng = np.random.default_rng(1)
    X, y, u = separable(rng, n=60)
    c = rng.uniform(0.2, 5, len(X))
    run = trace(X, y, u, sample_weight=c, fit_intercept=False)
    model = Perceptron(fit_intercept=False, order="cyclic").fit(X, y, sample_weight=c)
    np.testing.assert_array_equal(run.w, model.coef_[0])
    assert run.gamma == pytest.approx(np.min(c * y * (X @ u))) and (run.wu >= run.lower * (1 - 1e-12)).all()
    assert run.norm[-1] == pytest.approx(np.linalg.norm(model.coef_))


def test_stops_at_the_updates_asked_for():
    X, y = np.array([[1.0], [0.5], [0.5]]), np.array([1, -1, 1])
    for order in ("cyclic", "shuffle", "worst", [0, 1, 2] * 20):
        run = trace(X, y, [1.0, 0.0], order=order, max_updates=7, random_state=0)
        assert run.updates == len(run.wu) == 7 and not run.converged
        assert run.visit[-1] == run.n_visits - 1
    assert trace(X, y, [1.0, 0.0], max_epochs=0).updates == 0


def test_wide_sparse_rows_are_replayed_alike():
    """One by one, as wide rows are, or by prefix sums: the same norms and margins."""
    rng = np.random.default_rng(0)
    X = sparse(rng, 60, 6000, 0.01)
    y = np.where(np.arange(60) % 3 > 0, 1, -1)
    u = rng.standard_normal(6001)
    wide = trace(X, y, u, margins=10)
    dense = trace(X.toarray(), y, u, margins=10)
    np.testing.assert_array_equal(wide.example, dense.example)
    np.testing.assert_allclose(wide.norm, dense.norm, rtol=1e-12)
    np.testing.assert_allclose(wide.margin, dense.margin, rtol=1e-9)
    assert np.count_nonzero(np.isfinite(wide.margin)) == min(10, wide.updates)


def test_to_json_and_back():
    run = trace(SIX, SIX_Y, order="shuffle", random_state=0, margins=1)
    again = Trace.from_dict(json.loads(run.to_json()))
    for name, value in vars(run).items():
        if name != "run":  # the rows
            np.testing.assert_equal(getattr(again, name), value)
    np.testing.assert_array_equal(again.alpha, run.alpha)
    for what in ("steps", "weights", "mistakes_by_class"):
        with pytest.raises(ValueError, match=f"has no rows, which `{what}` needs"):
            getattr(again, what) if what != "steps" else again.steps()
    with pytest.raises(ValueError, match="lacks"):
        Trace.from_dict({})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "pa"}, "normalized"),
        ({"ties": "odd"}, "mistake"),
        ({"order": "odd"}, "worst"),
        ({"order": [7]}, "row numbers"),
        ({"margin": -1.0}, "≥ 0"),
        ({"u": [1.0]}, "shape"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        trace(SIX, SIX_Y, **options)


# ---- the perceptron as gradient descent ----------------------------------------------------------------
@given(datasets(2, st.just(integers)), st.sampled_from(["positive", "mistake"]))
def test_the_perceptron_is_gradient_descent(data, ties):
    """Stochastic subgradient descent on L(w) = max(0, −y·w·x) with step 1, in rational arithmetic.

    −y·x is a subgradient wherever y·w·x ≤ 0: L(w') ≥ −y·w'·x = L(w) + (−y·x)·(w' − w). At y·w·x = 0 every
    point between 0 and −y·x is one, and the tie rule is the choice among the two ends. The averaged
    perceptron is the mean of the iterates: Polyak's averaging.
    """
    X, labels = data
    w = [Fraction(0)] * X.shape[1]
    total = list(w)
    for x, label in zip(X.astype(int).tolist(), labels.tolist(), strict=True):
        y = 1 if label else -1
        score = sum(a * b for a, b in zip(w, x, strict=True))
        at_corner = ties == "mistake" or y == -1
        inside = y * score < 0 or (score == 0 and at_corner)
        gradient = [-y * b if inside else 0 for b in x]
        for other in ([1] * len(x), [-2] * len(x), x):  # it is a subgradient
            loss = max(0, -y * score)
            moved = max(0, -y * sum(a * b for a, b in zip(other, x, strict=True)))
            assert moved >= loss + sum(g * (o - a) for g, o, a in zip(gradient, other, w, strict=True))
        w = [a - g for a, g in zip(w, gradient, strict=True)]
        total = [s + a for s, a in zip(total, w, strict=True)]
    model = Perceptron(fit_intercept=False, order="cyclic", ties=ties, max_epochs=1, average=True)
    model.partial_fit(X, labels)
    run = trace(X, labels, np.ones(X.shape[1]), ties=ties, max_epochs=1, fit_intercept=False)
    assert run.w.tolist() == [float(a) for a in w]
    np.testing.assert_allclose(model.coef_[0], [float(a / len(X)) for a in total], rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("n", [3, 5, 6, 7])
def test_freund_and_schapires_line_is_rounded_outward(n):
    """One row under both labels: the best v is 0, and the bound is n·e exactly; by floats less."""
    X, y = np.ones((n, 1)), np.arange(n) % 2
    for epochs in (1, 2, 3):
        run = trace(
            X, y, rule="margin", margin=2.0, fit_intercept=False, ties="mistake", max_epochs=epochs, u=[1.0]
        )
        assert run.form == "freund-schapire" and run.updates == n * epochs <= run.bound
