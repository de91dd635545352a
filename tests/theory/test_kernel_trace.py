"""The hand trace of the kernel perceptron: against its model, and against the explicit features."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff import KernelFunction, KernelPerceptron, MonotoneConjunctions, PolynomialExpansion
from novikoff.theory import kernel_trace, trace
from support.lecture import SIX, SIX_Y
from support.marks import may_not_separate
from support.strategies import datasets, integers

pytestmark = may_not_separate


def test_linear_kernel_on_the_six_points():
    """α = (1, 0, 1, 0, 1, 0), as of the linear run; the scores are those of the lecture's table."""
    run = kernel_trace(SIX, SIX_Y, "linear")
    steps = run.steps(6)
    assert [s.score for s in steps] == [0, 1, -1, -2, 0, 2]
    assert [s.mistake for s in steps] == [True, False, True, False, True, False]
    assert run.alpha.tolist() == [1, 0, 1, 0, 1, 0] and steps[-1].alpha == {0: 1, 2: 1, 4: 1}
    assert run.mistakes_by_class == {-1: 2, 1: 1} and run.converged


@given(
    datasets(2, st.just(integers)),
    st.sampled_from(["cyclic", "shuffle", "riffle"]),
    st.sampled_from(["positive", "mistake"]),
)
def test_kernel_and_explicit_features_side_by_side(data, order, ties):
    """COMS 4252, section 2.3: the dual simulates the perceptron on Φ(x) exactly: same mistakes, same α."""
    X, y = data
    phi = PolynomialExpansion(2).fit_transform(X)
    own = {"order": order, "random_state": 3, "ties": ties, "max_epochs": 5}
    dual = kernel_trace(X, y, "poly", degree=2, gamma=1, coef0=1, **own)
    primal = trace(phi, y, np.ones(phi.shape[1]), fit_intercept=False, margins=0, **own)
    np.testing.assert_array_equal(dual.alpha, primal.alpha)
    np.testing.assert_array_equal(dual.visit, primal.visit)
    assert dual.mistakes_by_class == primal.mistakes_by_class
    for ours, theirs in zip(dual.steps(), primal.steps(), strict=True):
        assert (ours.visit, ours.epoch, ours.example) == (theirs.visit, theirs.epoch, theirs.example)
        assert (ours.y, ours.score, ours.mistake) == (theirs.y, theirs.score, theirs.mistake)


@pytest.mark.parametrize("kernel", ["rbf", "monotone_conjunction", "laplacian"])
@pytest.mark.parametrize("sparse", [False, True])
def test_alpha_is_that_of_the_model(kernel, sparse):
    rng = np.random.default_rng(0)
    X = (rng.random((40, 5)) < 0.5).astype(float)
    y = np.where(rng.random(40) < 0.5, "b", "a")
    rows = sp.csr_array(X) if sparse else X
    run = kernel_trace(rows, y, kernel, max_epochs=5)
    model = KernelPerceptron(kernel, order="cyclic", max_epochs=5).fit(rows, y)
    signed = np.zeros(40, dtype=int)
    signed[model.support_] = model.dual_coef_[0]
    np.testing.assert_array_equal(run.alpha * np.where(y == "b", 1, -1), signed)
    assert (run.mistakes, run.n_visits) == (model.n_mistakes_, model.n_visits_)
    steps = run.steps()
    assert steps.mistakes == run.mistakes
    last = np.zeros(40)
    for at, a in steps[-1].alpha.items():
        last[at] = a
    np.testing.assert_array_equal(last, run.alpha)
    for step in steps[::17]:  # the score is Σ α·y·K
        before = steps[step.visit - 2].alpha if step.visit > 1 else {}
        total = sum(a * (1 if y[i] == "b" else -1) * model.K(X[i], step.x) for i, a in before.items())
        assert step.score == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_three_classes(multiclass):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 3
    run = kernel_trace(X, y, "poly", multiclass=multiclass, max_epochs=3)
    model = KernelPerceptron("poly", multiclass=multiclass, order="cyclic", max_epochs=3).fit(X, y)
    signed = np.zeros((30, 3), dtype=int)
    signed[model.support_] = model.dual_coef_.T
    np.testing.assert_array_equal(run.alpha, signed)
    steps = run.steps()
    if multiclass == "joint":
        assert [s.visit - 1 for s in steps if s.mistake] == run.visit.tolist()
    assert all(s.mistake == (s.predicted != s.y) for s in steps)
    assert steps.to_csv().count("\n") == len(steps) + 1
    with pytest.raises(ValueError, match="joint"):
        kernel_trace(X, y, order="worst")


def test_worst_row_first():
    run = kernel_trace(SIX, SIX_Y, "linear", order="worst")
    assert run.converged and run.n_visits == run.mistakes == len(run.steps())
    own = trace(SIX, SIX_Y, [1.0, 0.0], order="worst", fit_intercept=False)
    np.testing.assert_array_equal(run.example, own.example)


def test_objects_are_shown_as_they_are():
    words = ["ab", "abc", "x", "xy"]

    def common(a, b):
        return np.array([[len({*s} & {*t}) for t in b] for s in a], dtype=float)

    run = kernel_trace(words, [1, 1, 0, 0], common)
    assert run.converged and [s.x for s in run.steps(4)] == words
    assert "abc" in str(run.steps()) and "common" in str(run)
    assert run.to_dict()["alpha"] == run.alpha.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [({"order": "first"}, "order="), ({"ties": "odd"}, "ties="), ({"kernel": "odd"}, "kernel=")],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        kernel_trace(SIX, SIX_Y, **options)
    with pytest.raises(ValueError, match="two classes"):
        kernel_trace(SIX, np.ones(6))


# ---- K(a, b) -----------------------------------------------------------------------------------------
def formulas():
    """The formulas of the documentation."""
    g = 0.5
    return {
        "linear": (lambda a, b: a @ b, {}),
        "poly": (lambda a, b: (g * a @ b + 2) ** 3, {"gamma": g, "coef0": 2.0}),
        "rbf": (lambda a, b: np.exp(-g * np.sum((a - b) ** 2)), {"gamma": g}),
        "laplacian": (lambda a, b: np.exp(-g * np.abs(a - b).sum()), {"gamma": g}),
        "chi2": (lambda a, b: np.exp(-g * np.sum((a - b) ** 2 / (a + b))), {"gamma": g}),
        "cosine": (lambda a, b: a @ b / np.linalg.norm(a) / np.linalg.norm(b), {}),
    }


@pytest.mark.parametrize("name", formulas())
def test_kernel_functions_are_their_formulas(name):
    formula, options = formulas()[name]
    rng = np.random.default_rng(2)
    A, B = rng.random((3, 4)) + 0.1, rng.random((2, 4)) + 0.1
    K = KernelFunction(name, **options)
    expected = [[formula(a, b) for b in B] for a in A]
    np.testing.assert_allclose(K(A, B), expected, rtol=1e-13)
    np.testing.assert_array_equal(K(sp.csr_array(A), B), K(A, B))
    np.testing.assert_array_equal(K(A[0], B), K(A, B)[0])
    assert K(A[1], B[1]) == K(A, B)[1, 1] and isinstance(K(A[1], B[1]), float)


def test_conjunction_kernel_is_the_product_of_the_features():
    """COMS 4252, claim 2.1: K = 2^|common ones|, over the coordinates that the expansion names."""
    X = np.array([[k >> j & 1 for j in range(3)] for k in range(8)], dtype=float)
    phi = MonotoneConjunctions().fit(X)
    F = phi.transform(X)
    np.testing.assert_array_equal(KernelFunction("monotone_conjunction")(X, X), F @ F.T)
    names = phi.get_feature_names_out(["x1", "x2", "x3"]).tolist()
    assert sorted(names) == sorted(["1", "x1", "x2", "x3", "x1 x2", "x1 x3", "x2 x3", "x1 x2 x3"])


def test_a_models_kernel_has_its_bias_and_parameters():
    X, y = SIX, SIX_Y
    model = KernelPerceptron("rbf", fit_intercept=True, order="cyclic").fit(X, y)
    gamma = 1 / (2 * X.var())
    expected = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2)) + 1
    np.testing.assert_allclose(model.K(X, X), expected, rtol=1e-13)
    np.testing.assert_array_equal(model.to_model().K(X, X), model.K(X, X))
    same = KernelPerceptron(KernelFunction("rbf", gamma=gamma), order="cyclic").fit(X, y)
    other = KernelPerceptron("rbf", gamma=gamma, order="cyclic").fit(X, y)
    np.testing.assert_array_equal(same.dual_coef_, other.dual_coef_)


def test_what_has_no_formula_is_refused():
    with pytest.raises(ValueError, match="precomputed"):
        KernelFunction("precomputed")
    with pytest.raises(ValueError, match="give a number"):
        KernelFunction("rbf", gamma="scale")
    with pytest.raises(ValueError, match="equally long"):
        KernelFunction("linear")([1.0, 2], [1.0])
    model = KernelPerceptron("precomputed", order="cyclic").fit(SIX @ SIX.T, SIX_Y)
    with pytest.raises(ValueError, match="matrix of its values"):
        model.K(SIX[0], SIX[1])
