"""Budgets: the native policies against their plain twin, and what each policy promises."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from novikoff import _core
from novikoff.kernel.budget import budget_model
from novikoff.kernel.dual import DualTrainer
from novikoff.kernel.dual_model import DualModel
from novikoff.kernel.kernels import FunctionKernel, NamedKernel, PrecomputedKernel
from novikoff.reference.budget import POLICIES, BudgetTwin
from novikoff.training.plan import Plan
from support.strategies import datasets, integers, plain

KERNELS = [
    NamedKernel("linear"),
    NamedKernel("poly", gamma=1.0, coef0=1.0, degree=2),
    NamedKernel("rbf", gamma=0.3),
    NamedKernel("laplacian", gamma=0.2, offset=1.0),
    NamedKernel("cosine"),
    NamedKernel("chi2", gamma=0.5),
]
kernels = st.sampled_from(KERNELS)
seeds = st.integers(0, 2**32 - 1)


def gram_of(kernel, X):
    """The matrix of kernel values, from panels, which have tests of their own."""
    out = np.empty((len(X), len(X)))
    if len(X):
        kernel.panels(X)(np.arange(len(X))).values(kernel.rows(X), 0, len(X), out)
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
    kernel = draw(kernels)
    X = np.where(np.abs(X) < 1e-6, 0.0, np.abs(X) if kernel.name == "chi2" else X)
    return X, labels, order, n_classes, joint, kernel


@given(
    problems(),
    st.sampled_from(POLICIES),
    st.integers(1, 8),
    st.sampled_from(["positive", "mistake"]),
    seeds,
)
def test_native_is_the_twin(problem, policy, budget, ties, seed):
    """Supports, coefficients and counts bit for bit, whatever the rows' storage and the calls' sizes."""
    X, labels, order, n_classes, joint, kernel = problem
    twin = twin_of(kernel, X, labels, order, policy, budget, n_classes, joint=joint, ties=ties, seed=seed)
    wide = np.hstack([X, np.zeros((len(X), 20 * X.shape[1]))])  # so that supports are kept sparse
    for stored in (X, X.astype(np.float32), sp.csr_array(X), sp.csr_array(wide)):
        if (stored.astype(np.float64) != (wide if stored.shape == wide.shape else X)).max():
            continue  # not numbers that float32 has
        learner = budget_model(
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


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_native_is_the_twin_with_many_supports(policy, n_classes):
    """More supports than a sum has lanes, and many times over the budget."""
    rng = np.random.default_rng(n_classes)
    X = rng.standard_normal((250, 4))
    labels = rng.integers(0, n_classes, len(X)).astype(np.int32)
    order = rng.integers(0, len(X), 600)
    kernel = NamedKernel("rbf", gamma=0.7)
    twin = twin_of(kernel, X, labels, order, policy, 37, n_classes, seed=1)
    learner = budget_model(kernel, n_classes, X, budget=37, policy=policy, rng=np.random.default_rng(1))
    learner.learn(X, labels, order)
    assert learner.support.tolist() == twin.supports and learner.native.mistakes == twin.mistakes > 100
    np.testing.assert_array_equal(learner.native.coefficients(False), twin.alpha)


@given(problems(), st.sampled_from(POLICIES), st.integers(1, 5), seeds)
def test_never_over_budget(problem, policy, budget, seed):
    X, labels, order, n_classes, joint, kernel = problem
    rng = np.random.default_rng(seed)
    learner = budget_model(kernel, n_classes, X, budget=budget, policy=policy, joint=joint, rng=rng)
    for row in order:
        learner.learn(X, labels, np.array([row]))
        learner.n_rows = 0
        assert learner.native.size <= budget
        assert len(learner.vectors) == len(learner.support) == learner.native.size
        np.testing.assert_array_equal(learner.vectors, X[learner.support])


@given(problems(), st.sampled_from(POLICIES))
def test_enough_budget_is_no_budget(problem, policy):
    """With a place for every distinct row: the updates, supports and coefficients as without a budget."""
    X, labels, order, n_classes, joint, kernel = problem
    X = X[np.sort(np.unique(X, axis=0, return_index=True)[1])]  # equal rows are one support here, two there
    assume(len(X) >= 2)
    labels, order = labels[: len(X)], order % len(X)
    free = DualTrainer(DualModel.empty(kernel, n_classes, joint=joint, like=X), X, labels, Plan())
    free.epoch(order)
    learner = budget_model(kernel, n_classes, X, budget=len(X), policy=policy, joint=joint)
    growing = budget_model(kernel, n_classes, X, joint=joint)
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
    learner = budget_model(kernel, 2, X, budget=12, policy=policy)
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
    learner = budget_model(NamedKernel("rbf", gamma=0.5), 2, X, budget=20, policy="projectron++")
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
    free = budget_model(kernel, 2, X)
    tight = budget_model(kernel, 2, X, budget=5)
    free.learn(X, labels)
    tight.learn(X, labels)
    assert tight.native.size == 5 and tight.native.basis_size == 2
    weights = [m.coefficients(averaged=False)[:, 0] @ m.vectors for m in (free, tight)]
    np.testing.assert_allclose(weights[0], weights[1], atol=1e-9)


def test_nearly_dependent_supports():
    """Rows that differ by next to nothing add nothing to the span, and coefficients stay bounded."""
    rng = np.random.default_rng(3)
    base = rng.standard_normal((10, 2))
    X = np.vstack([base + 1e-9 * rng.standard_normal(base.shape) for _ in range(40)])
    labels = rng.integers(0, 2, len(X)).astype(np.int32)
    learner = budget_model(NamedKernel("rbf", gamma=0.5), 2, X, budget=30)
    learner.learn(X, labels)
    assert learner.native.basis_size <= 10
    assert np.abs(learner.coefficients(averaged=False)).max() < len(X)


def test_forgetron_keeps_its_promise():
    """Q ≤ (15/32)·M after every update (Dekel et al. 2008), and the oldest supports count for least."""
    rng = np.random.default_rng(4)
    X, labels = stream(rng, 2000, noise=0.3)
    budget = 100
    kernel = NamedKernel("rbf", gamma=1.0)
    learner = budget_model(kernel, 2, X, budget=budget, policy="forgetron")
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
    learner = budget_model(NamedKernel("rbf"), 2, X, budget=7, policy="oldest")
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
    learner = budget_model(
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


# ---- values from Python ------------------------------------------------------------------------------
def dot(a, b):
    return np.asarray((a @ b.T).todense() if sp.issparse(a) else a @ b.T, dtype=np.float64)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_functions_and_matrices_are_learned_alike(policy, n_classes):
    """Integers, so that x·z is the same number from a function, from a matrix and from native code."""
    rng = np.random.default_rng(7)
    X = rng.integers(-2, 3, size=(60, 4)).astype(float)
    X = np.unique(X, axis=0)
    rng.shuffle(X)
    labels = rng.integers(0, n_classes, len(X)).astype(np.int32)
    order = rng.integers(0, len(X), 200)
    found = []
    for kernel, rows in [
        (NamedKernel("linear", offset=1.0), X),
        (FunctionKernel(dot, {}, 1.0), X),
        (FunctionKernel(dot, {}, 1.0), sp.csr_array(X)),
        (PrecomputedKernel(len(X), 1.0), X @ X.T),
    ]:
        rng = np.random.default_rng(3)
        learner = budget_model(kernel, n_classes, rows, budget=6, policy=policy, rng=rng)
        learner.learn(rows, labels, order)
        learner = pickle.loads(pickle.dumps(learner))
        found.append((learner.support.tolist(), learner.coefficients(averaged=False).tolist()))
        scores = learner.scores(rows, averaged=False)
        np.testing.assert_allclose(
            scores, (X @ X[learner.support].T + 1) @ learner.coefficients(averaged=False), atol=1e-9
        )
    assert found.count(found[0]) == 4 and len(found[0][0]) == 6


def test_a_function_that_fails():
    X, labels = np.eye(3), np.array([0, 1, 0], dtype=np.int32)
    for function, message in [
        (lambda a, b: np.ones((len(a), len(b) + 1)), "must return an array of the shape"),
        (lambda a, b: np.full((len(a), len(b)), np.nan), "NaN"),
        (lambda a, b: -(a @ b.T), "never negative"),
        (lambda a, b: a @ np.triu(np.ones((3, 3))) @ b.T, "not symmetric"),
    ]:
        learner = budget_model(FunctionKernel(function, {}), 2, X, budget=2)
        with pytest.raises(ValueError, match=message):
            learner.learn(X, labels)
        assert learner.native.visits == 0


# ---- constant memory and time ------------------------------------------------------------------------
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("sparse", [False, True])
def test_memory_stays(policy, sparse):
    """Once the budget is full, thousands of rows more take not a byte."""
    rng = np.random.default_rng(8)
    X, labels = stream(rng, 4000, noise=0.3)
    if sparse:
        X = np.hstack([X, np.zeros((len(X), 100))])
    rows = sp.csr_array(X) if sparse else X
    learner = budget_model(NamedKernel("rbf", gamma=1.0), 2, rows, budget=30, policy=policy)
    learner.learn(rows[:1000], labels[:1000])
    assert learner.native.size == 30
    before, size = learner.memory, len(pickle.dumps(learner))
    learner.learn(rows[1000:], labels[1000:])
    assert learner.native.size == 30 and learner.native.mistakes > 500
    assert learner.memory == before and abs(len(pickle.dumps(learner)) - size) < 100


# ---- bad input ---------------------------------------------------------------------------------------
def test_bad_rows_change_nothing():
    X, labels = stream(np.random.default_rng(9), 50)
    for kernel, row, error, message in [
        (NamedKernel("rbf"), [np.nan, 0, 0], ValueError, "NaN at row 7, column 0"),
        (NamedKernel("linear"), [1e200, 0, 0], OverflowError, "row 7"),
        (NamedKernel("poly", degree=9), [1e60, 0, 0], OverflowError, "row 7"),
        (NamedKernel("chi2"), [-1.0, 0, 0], ValueError, "≥ 0"),
    ]:
        rows = np.abs(X)
        learner = budget_model(kernel, 2, rows, budget=5)
        learner.learn(rows, labels)
        before = pickle.dumps(learner)
        rows[7] = row
        for stored in (rows, sp.csr_array(rows)):
            with pytest.raises(error, match=message):
                learner.learn(stored, labels)
            assert pickle.dumps(learner) == before
    with pytest.raises(ValueError, match="X has 2 features, but the learner has seen rows of 3"):
        learner.learn(X[:, :2], labels)
    with pytest.raises(ValueError, match="X has 4 features"):
        learner.scores(np.zeros((1, 4)), averaged=False)


def test_unknown_policies_and_budgets():
    for policy, budget in (("projectrons", 3), ("oldest", 0)):
        with pytest.raises((ValueError, TypeError)):
            _core.Budgeted(_core.BudgetRule(policy, budget, 1))


def test_unsorted_rows_are_sorted():
    X, labels = stream(np.random.default_rng(10), 80)
    rows = sp.csr_array(np.hstack([X, np.zeros((80, 90))]))
    turned = rows.copy()
    for i in range(80):
        part = slice(turned.indptr[i], turned.indptr[i + 1])
        turned.indices[part], turned.data[part] = turned.indices[part][::-1], turned.data[part][::-1]
    turned.has_sorted_indices = False
    learners = [budget_model(NamedKernel("rbf"), 2, rows, budget=9) for _ in range(2)]
    learners[0].learn(rows, labels)
    learners[1].learn(turned, labels)
    np.testing.assert_array_equal(*(m.coefficients(averaged=False) for m in learners))


def test_forgetron_shrinks_no_more_than_it_must():
    """φ is the largest in (0, 1] with Ψ(φ) + Q ≤ (15/32)·M, by trying: none that is larger will do."""
    X, labels = stream(np.random.default_rng(11), 600, noise=0.3)
    kernel = NamedKernel("rbf", gamma=1.0)
    gram, budget = gram_of(kernel, X), 15
    learner = budget_model(kernel, 2, X, budget=budget, policy="forgetron")
    shrunk = removals = 0
    for row in range(len(X)):
        state, was = learner.native.state(), learner.support
        alpha = learner.coefficients(averaged=False)[:, 0]
        learner.learn(X[row : row + 1], labels[row : row + 1])
        if len(was) < budget or learner.native.updates == state["counts"][3]:
            continue
        oldest = int(np.argmin(state["touched"]))
        step = 1.0 if labels[row] else -1.0
        phi = learner.coefficients(averaged=False)[oldest, 0] / step
        f = float(alpha @ gram[was[oldest], was]) + step * gram[row, was[oldest]]
        room = 15 / 32 * learner.native.mistakes - state["measures"][0]
        tried = np.linspace(1e-4, 1, 4001)
        size, mu = abs(alpha[oldest]) * tried, np.sign(alpha[oldest]) * f * tried
        fits = tried[size**2 + 2 * size - 2 * size * mu <= room]
        assert phi == pytest.approx(fits.max(), abs=3e-4)
        kept = np.arange(budget) != oldest
        np.testing.assert_allclose(learner.coefficients(averaged=False)[kept, 0], phi * alpha[kept])
        removals, shrunk = removals + 1, shrunk + (phi < 1)
    assert removals > 100 and shrunk > 10
