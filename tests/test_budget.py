"""Budgets: the native policies against their plain twin, and what each policy promises."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from novikoff.budget import budget_learner, fit
from novikoff.budget_reference import POLICIES, BudgetTwin
from novikoff.dual import DualLearner
from novikoff.dualmodel import DualModel
from novikoff.kernels import FunctionKernel, NamedKernel, PrecomputedKernel
from novikoff.training import Plan
from strategies import datasets, integers, plain

KERNELS = [
    NamedKernel("linear"),
    NamedKernel("poly", gamma=1.0, coef0=1.0, degree=2),
    NamedKernel("rbf", gamma=0.3),
    NamedKernel("laplacian", gamma=0.2, offset=1.0),
    NamedKernel("cosine"),
]
kernels = st.sampled_from(KERNELS)
seeds = st.integers(0, 2**32 - 1)


def gram_of(kernel, X):
    """The matrix of kernel values, from panels, which have tests of their own."""
    out = np.empty((len(X), len(X)))
    if len(X):
        kernel.panels(X)(np.arange(len(X))).values(kernel.rows(X), None, 0, len(X), out)
    return out


def columns_of(n_classes):
    return 1 if n_classes == 2 else n_classes


def twin_of(kernel, X, labels, order, policy, budget, n_classes, *, joint=False, ties="positive", seed=0):
    """A twin that has visited the rows in order, with the draws of a generator."""
    twin = BudgetTwin(gram_of(kernel, X), policy, budget, columns_of(n_classes), joint=joint, ties=ties)
    rng = np.random.default_rng(seed)
    for row in order:
        same = next((s for s in twin.supports if np.array_equal(X[s], X[row])), None)
        draw = float(rng.random()) if policy == "random" and budget is not None else 0.0
        twin.visit(row, int(labels[row]), same=same, draw=draw)
    return twin


@st.composite
def problems(draw):
    n_classes = draw(st.sampled_from([2, 2, 3]))
    X, labels = draw(datasets(n_classes, st.sampled_from([integers, plain]), max_rows=14))
    order = np.array(draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=60)), dtype=np.int64)
    joint = n_classes > 2 and draw(st.booleans())
    return X, labels, order, n_classes, joint


@given(
    problems(),
    kernels,
    st.sampled_from(POLICIES),
    st.integers(1, 8),
    st.sampled_from(["positive", "mistake"]),
    seeds,
)
def test_native_is_the_twin(problem, kernel, policy, budget, ties, seed):
    """Supports, coefficients and counts bit for bit, whatever the rows' storage and the calls' sizes."""
    X, labels, order, n_classes, joint = problem
    twin = twin_of(kernel, X, labels, order, policy, budget, n_classes, joint=joint, ties=ties, seed=seed)
    for stored in (X, sp.csr_array(X)):
        learner = budget_learner(
            kernel,
            n_classes,
            stored,
            budget=budget,
            policy=policy,
            joint=joint,
            tie_is_mistake=ties == "mistake",
            rng=np.random.default_rng(seed),
        )
        half = len(order) // 2
        learner.learn(stored, labels, order[:half])
        learner.n_rows = 0
        learner = pickle.loads(pickle.dumps(learner))
        learner.learn(stored, labels, order[half:])
        assert learner.support.tolist() == twin.supports
        np.testing.assert_array_equal(learner.native.coefficients(False), twin.alpha)
        counts = learner.native.visits, learner.native.mistakes, learner.native.updates
        assert counts == (twin.visits, twin.mistakes, twin.updates)
        if policy.startswith("projectron"):
            means = twin.visits * twin.alpha - twin.sums
            np.testing.assert_array_equal(learner.native.coefficients(True), means)


@given(problems(), kernels, st.sampled_from(POLICIES), st.integers(1, 5), seeds)
def test_never_over_budget(problem, kernel, policy, budget, seed):
    X, labels, order, n_classes, joint = problem
    rng = np.random.default_rng(seed)
    learner = budget_learner(kernel, n_classes, X, budget=budget, policy=policy, joint=joint, rng=rng)
    for row in order:
        learner.learn(X, labels, np.array([row]))
        learner.n_rows = 0
        assert learner.native.size <= budget
        assert len(learner.vectors) == len(learner.support) == learner.native.size
        np.testing.assert_array_equal(learner.vectors, X[learner.support])


@given(problems(), kernels, st.sampled_from(POLICIES))
def test_enough_budget_is_no_budget(problem, kernel, policy):
    """With a place for every distinct row: the updates, supports and coefficients of the learner without one."""
    X, labels, order, n_classes, joint = problem
    X = X[np.sort(np.unique(X, axis=0, return_index=True)[1])]  # equal rows are one support here, two there
    assume(len(X) >= 2)
    labels, order = labels[: len(X)], order % len(X)
    free = DualLearner(DualModel.empty(kernel, n_classes, joint=joint, like=X), X, labels)
    free.epoch(order)
    learner = budget_learner(kernel, n_classes, X, budget=len(X), policy=policy, joint=joint)
    growing = budget_learner(kernel, n_classes, X, joint=joint)
    for held in (learner, growing):
        held.learn(X, labels, order)
        assert held.support.tolist() == free.model().support.tolist() or policy == "projectron++"
        if policy != "projectron++" or held is growing or held.native.size < len(X):
            np.testing.assert_array_equal(
                held.coefficients(averaged=False), free.model().coefficients(averaged=False)
            )
            if held.can_average:
                np.testing.assert_array_equal(
                    held.coefficients(averaged=True), free.model().coefficients(averaged=True)
                )


# ---- what the papers say -----------------------------------------------------------------------------
def stream(rng, n, d=3, noise=0.1):
    """Rows around a circle's edge, with some labels turned over."""
    X = rng.standard_normal((n, d))
    y = (np.linalg.norm(X, axis=1) > np.sqrt(d)) ^ (rng.random(n) < noise)
    return X, y.astype(np.int32)


def norm2(gram, alpha):
    return float(alpha @ gram @ alpha)


@pytest.mark.parametrize("policy", ["projectron", "projectron++"])
def test_projection_is_the_nearest(policy):
    """P K(x,·) is the point of the supports' span nearest to K(x,·): by least squares in feature space."""
    rng = np.random.default_rng(0)
    X, labels = stream(rng, 60)
    kernel = NamedKernel("rbf", gamma=0.5)
    gram = gram_of(kernel, X)
    learner = budget_learner(kernel, 2, X, budget=12, policy=policy)
    projected = 0
    for row in range(len(X)):
        before, was = learner.coefficients(averaged=False)[:, 0], learner.support
        learner.learn(X[row : row + 1], labels[row : row + 1])
        after = learner.coefficients(averaged=False)[:, 0]
        if len(was) < 12 or np.array_equal(before, after):
            continue
        s, y = float(before @ gram[row, was]), 1.0 if labels[row] else -1.0
        d = np.linalg.solve(gram[np.ix_(was, was)], gram[row, was])
        length2 = float(d @ gram[row, was])
        mistake = y * s < 0 or (s == 0 and y < 0)
        step = y if mistake else y * min((1 - y * s) / length2, 1.0)
        np.testing.assert_allclose(after - before, step * d, rtol=1e-7, atol=1e-9)
        assert mistake or policy == "projectron++"
        projected += 1
    assert projected > 5


def test_margin_errors_wait_for_a_full_budget():
    X, labels = stream(np.random.default_rng(1), 300)
    learner = budget_learner(NamedKernel("rbf", gamma=0.5), 2, X, budget=20, policy="projectron++")
    for row in range(len(X)):
        full = learner.native.size == 20
        made = learner.native.updates - learner.native.mistakes
        learner.learn(X[row : row + 1], labels[row : row + 1])
        assert full or learner.native.updates - learner.native.mistakes == made == 0
    assert learner.native.updates > learner.native.mistakes > 0


def test_dependent_supports_are_kept_and_do_no_harm():
    """Linear kernel in the plane: any two independent supports span it, so projecting loses nothing."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((400, 2))
    labels = (X @ [1.0, 2.0] + rng.standard_normal(400) > 0).astype(np.int32)
    kernel = NamedKernel("linear")
    free = budget_learner(kernel, 2, X)
    tight = budget_learner(kernel, 2, X, budget=5)
    free.learn(X, labels)
    tight.learn(X, labels)
    assert tight.native.size == 5 and tight.native.basis_size == 2
    weights = [m.coefficients(averaged=False)[:, 0] @ m.vectors for m in (free, tight)]
    np.testing.assert_allclose(weights[0], weights[1], atol=1e-9)


def test_nearly_dependent_supports():
    """Rows that differ by rounding only: coefficients stay bounded, and scores near those without a budget."""
    rng = np.random.default_rng(3)
    base = rng.standard_normal((10, 2))
    X = np.vstack([base + 1e-9 * rng.standard_normal(base.shape) for _ in range(40)])
    labels = rng.integers(0, 2, len(X)).astype(np.int32)
    learner = budget_learner(NamedKernel("rbf", gamma=0.5), 2, X, budget=30)
    learner.learn(X, labels)
    assert learner.native.basis_size <= 10
    assert np.abs(learner.coefficients(averaged=False)).max() < len(X)


def test_forgetron_keeps_its_promise():
    """Q ≤ (15/32)·M after every update (Dekel et al. 2008), and the oldest supports count for least."""
    rng = np.random.default_rng(4)
    X, labels = stream(rng, 2000, noise=0.3)
    budget = 100
    kernel = NamedKernel("rbf", gamma=1.0)
    learner = budget_learner(kernel, 2, X, budget=budget, policy="forgetron")
    for row in range(len(X)):
        learner.learn(X[row : row + 1], labels[row : row + 1])
        damage, _ = learner.native.state()["measures"]
        assert damage <= 15 / 32 * learner.native.mistakes * (1 + 1e-12)
    assert learner.native.mistakes > 3 * budget
    ages = learner.native.state()["touched"]
    by_age = np.abs(learner.coefficients(averaged=False)[:, 0])[np.argsort(ages)]
    assert by_age[:10].mean() < by_age[-10:].mean()  # older supports count for less


def test_oldest_removes_the_oldest():
    """A first-in, first-out queue of the distinct mistakes; one made again goes to its end."""
    X, labels = stream(np.random.default_rng(5), 300)
    X = np.vstack([X, X[::2]])
    labels = np.concatenate([labels, labels[::2]])
    learner = budget_learner(NamedKernel("rbf"), 2, X, budget=7, policy="oldest")
    queue = []
    for row in range(len(X)):
        before = learner.native.mistakes
        learner.learn(X[row : row + 1], labels[row : row + 1])
        if learner.native.mistakes > before:
            queue = [q for q in queue if q != X[row].tobytes()] + [X[row].tobytes()]
            queue = queue[-7:]
        assert sorted(v.tobytes() for v in learner.vectors) == sorted(queue)


def test_random_removes_all_places_alike():
    """Each of the five places goes about as often: χ² with 4 degrees is below 18.5 but once in a thousand."""
    X, labels = stream(np.random.default_rng(6), 3000, noise=0.5)
    learner = budget_learner(
        NamedKernel("rbf", gamma=10.0), 2, X, budget=5, policy="random", rng=np.random.default_rng(0)
    )
    gone = np.zeros(5)
    for row in range(len(X)):
        before = learner.support
        learner.learn(X[row : row + 1], labels[row : row + 1])
        if len(before) == 5:
            gone += before != learner.support
    expected = gone.sum() / 5
    assert gone.sum() > 500 and ((gone - expected) ** 2 / expected).sum() < 18.5
