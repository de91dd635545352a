"""Kernel values: against scikit-learn, against math.exp, and the same however work is cut up and stored."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import pairwise

from novikoff import _core
from novikoff.kernel.kernels import BY_NAME, FunctionKernel, NamedKernel

OURS = {
    "linear": lambda A, B: pairwise.linear_kernel(A, B),
    "poly": lambda A, B: pairwise.polynomial_kernel(A, B, degree=5, gamma=0.3, coef0=2),
    "rbf": lambda A, B: pairwise.rbf_kernel(A, B, gamma=0.3),
    "laplacian": lambda A, B: pairwise.laplacian_kernel(A, B, gamma=0.3),
    "chi2": lambda A, B: pairwise.chi2_kernel(A, B, gamma=0.3),
    "cosine": lambda A, B: pairwise.cosine_similarity(A, B),
}


def kernel(name, **kw):
    return NamedKernel(name, 0.3, 2.0, 5 if name == "poly" else 1, **kw)


def values(k, A, B):
    """K of every row of A with every row of B."""
    out = np.empty((A.shape[0], B.shape[0]))
    k.panels(B)(np.arange(B.shape[0])).values(k.rows(A), 0, A.shape[0], out)
    return out


def some_rows(seed=0, n=37, d=21):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (n, d)) * (rng.random((n, d)) < 0.5)
    X[3] = 0
    return X


@pytest.mark.parametrize("name", BY_NAME)
def test_values_are_those_of_scikit_learn(name):
    A, B = some_rows(0) / 7, some_rows(1, 11) / 7
    np.testing.assert_allclose(values(kernel(name), A, B), OURS[name](A, B), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(values(kernel(name, offset=1.0), A, B), OURS[name](A, B) + 1, rtol=1e-12)


@pytest.mark.parametrize("name", BY_NAME)
def test_values_do_not_depend_on_storage(name):
    """uint8, float32, float64, CSR with either index, sparse or not: the same bits."""
    A, B = (some_rows(s).astype(np.uint8) for s in (0, 1))
    expected = values(kernel(name), A.astype(np.float64), B.astype(np.float64))

    def forms(X):
        wide = sp.csr_array(X.astype(np.float64))
        wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
        yield from (X.astype(np.float32), X.astype(np.float64), sp.csr_array(X.astype(np.float32)), wide)

    assert np.array_equal(values(kernel(name), A, B), expected)
    for a in forms(A):
        for b in forms(B):
            assert np.array_equal(values(kernel(name), a, b), expected)


def product(x, z):
    """x·z by definition: column j goes to sum j mod 4, in order, rounded once; then (0 + 1) + (2 + 3)."""
    lanes = [0.0] * 4
    for j, (a, b) in enumerate(zip(x.tolist(), z.tolist(), strict=True)):
        lanes[j % 4] = float(Fraction(a) * Fraction(b) + Fraction(lanes[j % 4]))
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])


@pytest.mark.parametrize("d", [1, 7, 22, 128, 131, 161])
@pytest.mark.parametrize("density", [0.05, 0.4, 0.8, 1.0])
@pytest.mark.parametrize("m", [1, 4, 9, 33, 47])
def test_products_are_summed_as_defined(d, density, m):
    """Every form of a panel: all columns, lists of them, pairs of bytes, tiles; groups of any width."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(50, d)) * (rng.random((50, d)) < density)
    rows, supports = (7, 20, 49), rng.choice(m, 3)
    expected = np.array([[product(X[i], X[j]) for j in supports] for i in rows])
    for matrix in (X, sp.csr_array(X)):
        found = values(NamedKernel("linear"), matrix, matrix[:m])
        assert np.array_equal(found[np.ix_(rows, supports)], expected)
    B = rng.integers(1, 256, (50, d)) * (rng.random((50, d)) < density)
    B[10:20] = 255  # as large as sums get
    assert np.array_equal(
        values(NamedKernel("linear"), B.astype(np.uint8), B[:m].astype(np.uint8)), B @ B[:m].T
    )


def test_sums_of_bytes_do_not_overflow():
    """2¹⁶ columns are the most that sums of 32 bits hold; beyond that they are of doubles."""
    for d in (2**16, 2**16 + 1):
        X = np.full((3, d), 255, dtype=np.uint8)
        X[1, ::2] = 0
        exact = X.astype(np.int64) @ X.T.astype(np.int64)
        assert np.array_equal(values(NamedKernel("linear"), X, X), exact)


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("density", [0.02, 1.0])
def test_values_do_not_depend_on_panels_or_ranges(name, density):
    """Sparse rows of many columns have panels of another kind."""
    rng = np.random.default_rng(5)
    X = rng.random((40, 150)) * (rng.random((40, 150)) < density)
    k = kernel(name)
    whole = values(k, X, X)
    assert np.array_equal(whole, whole.T)
    order = rng.permutation(40)
    for matrix in (X, sp.csr_array(X)):
        for size in (1, 3, 4, 17):
            rows = k.rows(matrix)
            for first in range(0, 40, size):
                which = np.arange(first, min(first + size, 40))
                panel = k.panels(matrix)(which)
                out = np.empty((5, len(which)))
                panel.values(rows, 7, 12, out, order)
                assert np.array_equal(out, whole[np.ix_(order[7:12], which)])


@pytest.mark.parametrize("name", BY_NAME)
def test_scores_are_summed_support_by_support(name):
    X = some_rows() / 3
    k, rng = kernel(name), np.random.default_rng(1)
    coef = rng.integers(-2, 3, (37, 3)).astype(float)
    gram = values(k, X, X)
    expected = rng.random((37, 3))
    scores, products = expected.copy(), expected.copy()
    for j in range(37):
        expected += gram[:, j : j + 1] * coef[j]
    for first in range(0, 37, 10):
        which = np.arange(first, min(first + 10, 37))
        panel = k.panels(X)(which)
        for begin in range(0, 37, 8):
            panel.add_scores(k.rows(X), begin, min(begin + 8, 37), coef[which], scores)
    _core.add_products(gram, coef, products)
    assert np.array_equal(scores, expected) and np.array_equal(products, expected)


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("kept", [[], [0, 4], [1, 2, 3], [0, 1, 2, 3, 4]])
def test_kept_columns_change_no_sum(kept, columns):
    """Values kept from before, and values to be kept, by several threads: the same scores to the bit."""
    rng = np.random.default_rng(2)
    X, n = rng.random((5001, 6)), 5001
    k, supports, coef = (
        kernel("rbf"),
        np.array([9, 700, 11, 5000, 42]),
        rng.integers(-1, 2, (5, columns)) * 1.0,
    )
    gram = values(k, X, X[supports])
    scores, expected = np.zeros((n, columns)), np.zeros((n, columns))
    for j in range(5):
        expected += gram[:, j : j + 1] * coef[j]
    new = [j for j in range(5) if j not in kept]
    keep = {j: np.empty(n) for j in new[1:]}
    panel = k.panels(X)(supports[new])
    panel.push(k.rows(X), coef, scores, {j: gram[:, j].copy() for j in kept}, keep, 3)
    assert np.array_equal(scores, expected)
    assert all(np.array_equal(column, gram[:, j]) for j, column in keep.items())
    for wrong in ({5: gram[:, 0].copy()}, {0: np.zeros(n - 1)}):
        with pytest.raises(ValueError, match=r"does not fit|other shapes"):
            panel.push(k.rows(X), coef, scores, wrong, {})


@given(st.lists(st.floats(-745, 0), min_size=1, max_size=9))
def test_exp_is_that_of_math(exponents):
    """The laplacian of one-column rows is exp(−|x|) itself; below −708 it is 0."""
    X = -np.array(exponents)[:, None]
    found = values(NamedKernel("laplacian", 1.0), X, np.zeros((1, 1)))[:, 0]
    for x, value in zip(exponents, found, strict=True):
        assert value == (0 if x < -708 else pytest.approx(math.exp(x), rel=5e-16, abs=0))


def test_powers():
    X = np.array([[1.5], [-2.0], [0.75]])
    for degree in (1, 2, 3, 4, 5, 6, 7, 11):
        found = values(NamedKernel("poly", 1.0, 1.0, degree), X, np.ones((1, 1)))[:, 0]
        np.testing.assert_allclose(found, (X[:, 0] + 1) ** degree, rtol=1e-15)


def test_uint8_products_cannot_overflow():
    X = np.full((3, 70_000), 255, dtype=np.uint8)
    assert (values(NamedKernel("linear"), X, X) == 70_000 * 255**2).all()


def test_integers_are_recognised():
    X = np.array([[1.0, -2.0], [3.0, 4.0]])
    assert NamedKernel("poly", 1.0, 1.0, 3).is_exact(X)
    assert NamedKernel("linear", 0.5).is_exact(X)  # which has no γ
    assert not NamedKernel("poly", 0.5, 1.0, 3).is_exact(X)
    assert not NamedKernel("linear").is_exact(X + 0.5)
    assert not NamedKernel("linear").is_exact(X * 1e8)
    assert not NamedKernel("rbf").is_exact(X)
    assert not NamedKernel("poly", 1.0, 1.0, 10**6).is_exact(X)


@given(st.sampled_from(BY_NAME), st.integers(0, 10**6), st.sampled_from([0.0, 1.0]))
def test_sizes_bound_the_values(name, seed, offset):
    """|K(x, z)| ≤ size(x)·size(z), by Cauchy and Schwarz, also where K(x, x) is too small for float64."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (6, 3)) * 10.0 ** rng.integers(-60, 25, (6, 1))
    k = kernel(name, offset=offset)
    measured = k.measure(X)
    gram = values(k, X, X)
    assert (np.abs(gram) <= measured.sizes[:, None] * measured.sizes).all()
    assert measured.radius == pytest.approx(math.sqrt(gram.diagonal().max()), rel=1e-12, abs=1e-200)


@pytest.mark.parametrize("name", BY_NAME)
def test_what_overflows_is_refused(name):
    X = np.array([[1.0, 2.0], [1e200, 3.0]])
    with pytest.raises(OverflowError, match=r"row 1.*scale X by 2\*\*-66"):
        kernel(name).measure(X)


def test_chi2_is_for_numbers_that_are_not_negative():
    X = np.array([[1.0, 2.0], [0.0, -3.0]])
    for matrix in (X, sp.csr_array(X)):
        with pytest.raises(ValueError, match=r"X\[1, 1\] is -3: the kernel 'chi2' is for numbers ≥ 0"):
            kernel("chi2").measure(matrix)


def test_function_values_are_checked():
    X = np.arange(6.0).reshape(3, 2)
    for function, message in (
        (
            lambda A, B: np.zeros((len(A), len(B) + 1)),
            r"shape \(3, 3\), but returned one of the shape \(3, 4\)",
        ),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "returned NaN for rows 0 and 0"),
        (lambda A, B: "no", "returned str"),
        (
            lambda A, B: A @ np.array([[1.0, 1.0], [0.0, 1.0]]) @ B.T,
            r"not symmetric: K\(0, 1\) = 3.*K\(1, 0\) = 5",
        ),
        (lambda A, B: -A @ B.T, r"K\(x, x\) = -1 for row 0"),
    ):
        with pytest.raises(ValueError, match=message):
            FunctionKernel(function, {}).measure(X)
    with pytest.raises(OverflowError, match="Divide the kernel by a constant"):
        FunctionKernel(lambda A, B: np.full((len(A), len(B)), np.inf), {}).measure(X)
