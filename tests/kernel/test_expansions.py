"""Feature spaces written out: their inner products are the kernels, exactly."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from novikoff import KernelPerceptron, Perceptron
from novikoff.kernel.expansions import MonotoneConjunctions, PolynomialExpansion

small = st.integers(0, 2**32).map(np.random.default_rng)


@parametrize_with_checks([PolynomialExpansion(1), PolynomialExpansion(2)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@given(rng=small, n=st.integers(1, 5), degree=st.integers(1, 4))
def test_polynomials(rng, n, degree):
    """φ(x)·φ(z) = (1 + x·z)^d: whole numbers, dense and sparse, and each column what its name says."""
    X = rng.integers(-3, 4, (6, n)).astype(float)
    phi = PolynomialExpansion(degree).fit(X)
    dense, sparse = phi.transform(X), phi.transform(sp.csr_array(X))
    assert dense.shape == (6, (1 + n) ** degree) and phi.n_output_features_ == (1 + n) ** degree
    assert np.array_equal(dense @ dense.T, (1 + X @ X.T) ** degree)
    assert sparse.format == "csr" and np.array_equal(sparse.toarray(), dense)
    for k, name in enumerate(phi.get_feature_names_out().tolist()):
        factors = [] if name == "1" else [X[:, int(part[1:])] for part in name.split(" ")]
        assert np.array_equal(dense[:, k], np.prod([np.ones(6), *factors], axis=0))


@given(rng=small, n=st.integers(1, 9), density=st.sampled_from([0.2, 0.6]))
def test_conjunctions(rng, n, density):
    """φ(a)·φ(b) = 2^|a ∧ b|; every column is the conjunction that its name says."""
    X = (rng.random((7, n)) < density).astype(np.uint8)
    phi = MonotoneConjunctions().fit(X)
    dense = phi.transform(X)
    assert dense.shape == (7, 2**n) and dense.dtype == np.uint8
    wide = dense.astype(np.int64)
    assert np.array_equal(wide @ wide.T, 2 ** (X.astype(np.int64) @ X.T.astype(np.int64)))
    for store in (sp.csr_array(X.astype(float)), X):
        sparse = MonotoneConjunctions(sparse_output=True).fit(store).transform(store)
        assert sp.issparse(sparse) and np.array_equal(sparse.toarray(), dense)
        assert sparse.nnz == (2 ** X.sum(axis=1, dtype=np.int64)).sum()  # a row with r ones has 2^r
    for k, name in enumerate(phi.get_feature_names_out([f"v{j}" for j in range(n)]).tolist()):
        parts = [] if name == "1" else [X[:, int(part[1:])] for part in name.split(" ")]
        assert np.array_equal(dense[:, k], np.prod([np.ones(7), *parts], axis=0))


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_the_kernel_is_the_expansion(degree):
    """Perceptron on the features, and KernelPerceptron on the rows: as many updates, the same scores."""
    rng = np.random.default_rng(degree)
    X, y = rng.integers(-2, 3, (40, 4)).astype(float), rng.integers(0, 2, 40)
    y[np.arange(40) < 2] = 0, 1
    how = {"order": "cyclic", "max_epochs": 3}
    plain = make_pipeline(
        PolynomialExpansion(degree), Perceptron(fit_intercept=False, average=False, **how)
    ).fit(X, y)
    dual = KernelPerceptron("poly", degree=degree, gamma=1, coef0=1, predict_with="last", **how).fit(X, y)
    assert dual.n_updates_ == plain[-1].n_updates_
    assert np.array_equal(plain.decision_function(X), dual.decision_function(X))


def test_limits():
    """What is too large says how large, and what to do instead."""
    with pytest.raises(ValueError, match=r"1\.?.*10\^30.*KernelPerceptron"):
        MonotoneConjunctions().fit(np.ones((2, 100)))
    with pytest.raises(ValueError, match=r"1,030,301 columns|1,061,208,000|KernelPerceptron\('poly'"):
        PolynomialExpansion(5).fit(np.ones((2, 100)))
    with pytest.raises(ValueError, match="degree=0"):
        PolynomialExpansion(0).fit(np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"X\[1, 0\] is 3"):
        MonotoneConjunctions().fit([[0, 1], [3, 1]])
    phi = MonotoneConjunctions().fit([[0, 1], [1, 1]])
    with pytest.raises(ValueError, match=r"X\[0, 1\] is 0\.5"):
        phi.transform([[1, 0.5]])
    with pytest.raises(ValueError, match="input_features"):
        phi.get_feature_names_out(["a"])
