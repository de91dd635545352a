"""The native loops behind `proof.quick` give the bits of their plain twins, whatever the storage."""

from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse as sp

from novikoff import _core
from novikoff.data.arrays import rows_of
from novikoff.data.sources.block import Csr
from novikoff.reference import asking


def stored(X):
    """The same rows in every form.

    Dense, a slice of wider rows, CSR, CSR whose indices are in no order, float32.
    """
    n, d = X.shape
    wide = np.full((n, d + 3), 7.0)
    wide[:, :d] = X
    csr = sp.csr_array(X)
    back = [np.arange(a, b)[::-1] for a, b in zip(csr.indptr[:-1], csr.indptr[1:], strict=True)]
    order = np.concatenate([*back, np.zeros(0, dtype=int)]).astype(int)
    yield "dense", np.ascontiguousarray(X)
    yield "padded", wide[:, :d]
    yield "csr", csr
    yield (
        "csr64",
        sp.csr_array((csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)), X.shape),
    )
    yield "unsorted", Csr(csr.data[order], csr.indices[order], csr.indptr, X.shape, False)
    if (X.astype(np.float32) == X).all():
        yield "float32", X.astype(np.float32)
    if (X.astype(np.uint8) == X).all():
        yield "bytes", X.astype(np.uint8)


def as_rows(X):
    return [{j: float(x) for j, x in enumerate(row) if x} for row in X.tolist()]


def some_rows(rng, n, d, kind):
    if kind == "whole":
        return rng.integers(0, 3, (n, d)).astype(np.float64)
    if kind == "signed":
        return rng.integers(-1, 2, (n, d)).astype(np.float64)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-9, 9, (n, d))
    X[rng.random((n, d)) < 0.4] = 0.0
    X[rng.random((n, d)) < 0.1] = -0.0
    return X


@pytest.mark.parametrize("kind", ["whole", "signed", "real"])
@pytest.mark.parametrize("classes", [2, 3, 6])
def test_a_pass_has_the_bits_of_its_twin(kind, classes):
    rng = np.random.default_rng(classes)
    for n, d in ((1, 1), (9, 3), (30, 17), (41, 40)):
        X, y = some_rows(rng, n, d, kind), rng.integers(0, classes, n).astype(np.int32)
        k = 1 if classes == 2 else classes
        coef, bias = rng.standard_normal((k, d)) * 10.0 ** rng.integers(-5, 5, (k, d)), rng.standard_normal(k)
        stride = 1 if classes == 2 else -(-classes // 4) * 4
        weights, biases = np.zeros((d, stride)), np.zeros(stride)
        weights[:, :k], biases[:k] = coef.T, bias
        expected = asking.lowest(as_rows(X), y.tolist(), coef, bias, 12)
        for name, form in stored(X):
            found = _core.Pass(weights, biases, classes, 12)
            cuts = [0, n // 3, n // 3, n]
            for begin, end in pairwise(cuts):
                found.run(rows_of(form), y, begin, end)
            pairs, values = found.found()
            assert list(zip(values.tolist(), pairs.tolist(), strict=True)) == expected, name


def test_sums_of_rows_have_the_bits_of_their_twin():
    rng = np.random.default_rng(1)
    X = some_rows(rng, 20, 9, "real")
    own, rival, shares = rng.integers(0, 4, 20), rng.integers(-1, 4, 20), rng.standard_normal(20)
    expected = rng.standard_normal((9, 4))
    begin = expected.copy()
    asking.add_rows(as_rows(X), own.tolist(), rival.tolist(), shares.tolist(), expected)
    for name, form in stored(X):
        weights = begin.copy()
        _core.add_rows(rows_of(form), own, rival, shares, weights)
        assert weights.tobytes() == expected.tobytes(), name


@pytest.mark.parametrize("kind", ["whole", "signed", "real"])
@pytest.mark.parametrize("classes", [2, 3])
def test_rows_that_cancel_out_are_those_of_the_twin(kind, classes):
    seen = set()
    for seed, (lifted, tie) in product(range(40), product((False, True), repeat=2)):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(1, 40)), int(rng.integers(1, 4))
        X, y = some_rows(rng, n, d, kind), rng.integers(0, classes, n).astype(np.int32)
        if seed % 2 and n > 4:
            X[n - 1] = X[1] * rng.choice([1.0, -1.0])
        expected = asking.cancelling(as_rows(X), y.tolist(), classes, lifted=lifted, tie_is_mistake=tie)
        seen.add((expected[0][0] >= 0, expected[1][0] >= 0))
        for name, form in stored(X):
            found, rows = _core.Cancelling(classes, lifted, tie), rows_of(form)
            found.look(rows, y, 0, n // 2)
            found.look(rows, y, n // 2, n)
            assert (found.strict, found.lax) == expected, name
    assert len(seen) >= 3


def test_rows_that_cancel_out_among_many():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((5000, 3)), rng.integers(0, 2, 5000).astype(np.int32)
    found, rows = _core.Cancelling(2, True, False), rows_of(X)
    assert found.look(rows, y, 0, 5000) == 5000 and found.strict == (-1, -1) and found.nonzeros == 15000
    X[4000], y[4000] = X[17], 1 - y[17]
    found = _core.Cancelling(2, True, False)
    assert found.look(rows, y, 0, 5000) == 4001 and found.strict == (17, 4000)
    assert found.look(rows, y, 4001, 5000) == 4001  # nothing is looked for any more


@pytest.mark.parametrize("seed", range(30))
def test_wolfes_method_has_the_bits_of_its_twin(seed):
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(1, 30)), int(rng.integers(1, 12))
    Z = rng.standard_normal((m, d)) + rng.choice([0.0, 0.3, 2.0])
    if seed % 3 == 0:
        Z = np.round(Z)
    gram = np.array([[asking.lanes(a, b) for b in Z] for a in Z])
    alpha = np.zeros(m)
    alpha[rng.integers(0, m, 3)] = 1.0
    for rounds in (0, 1, 3, 100):
        ours, theirs = alpha.copy(), alpha.copy()
        with np.errstate(all="ignore"):
            expected = asking.Corral(gram, theirs).run(rounds, 1e-15)
        assert _core.wolfe(gram, ours, rounds, 1e-15) == expected
        assert ours.tobytes() == theirs.tobytes()


def test_what_does_not_fit_is_refused():
    X, y = np.ones((3, 2)), np.array([0, 1, 0], dtype=np.int32)
    rows, other = rows_of(X), rows_of(X)
    search = _core.Cancelling(2, True, False)
    with pytest.raises(ValueError, match="do not fit"):
        search.look(rows, y, 0, 4)
    with pytest.raises(ValueError, match="out of range"):
        search.look(rows, y + 1, 0, 3)
    search.look(rows, y, 0, 1)
    with pytest.raises(ValueError, match="the same in every call"):
        search.look(other, y, 1, 2)
    for weights, bias, classes in ((np.zeros((2, 4)), np.zeros(4), 2), (np.zeros((2, 1)), np.zeros(2), 2)):
        with pytest.raises(ValueError, match="do not fit"):
            _core.Pass(weights, bias, classes, 5)
    with pytest.raises(ValueError, match="do not fit"):
        _core.Pass(np.zeros((3, 1)), np.zeros(1), 2, 5).run(rows, y, 0, 3)
    with pytest.raises(ValueError, match="no such class"):
        _core.add_rows(rows, np.array([0, 1, 0]), np.full(3, -1), np.ones(3), np.zeros((2, 1)))
