"""Explicit feature spaces of kernels, if they are small, to show what a kernel computes.

A kernel is an inner product of features. These transformers compute the features themselves, as whole numbers
if the data are whole numbers, and `Perceptron` on them makes exactly the updates that `KernelPerceptron`
makes with the kernel.
"""

from __future__ import annotations

from itertools import product
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from novikoff.data.arrays import exact_rows, read_matrix
from novikoff.data.rounding import Rounding
from novikoff.kernel.conjunctions import pack

MOST_COLUMNS = 1 << 22


class _Expansion(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Abstract: reads rows, and names their features."""

    _dtypes: tuple[Any, ...] = (np.float64, np.float32)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Store the number of columns; nothing is learned."""
        X = self._read(X, reset=True)
        columns = self._count(X.shape[1])
        if columns > MOST_COLUMNS:
            raise ValueError(
                f"{type(self).__name__} of {X.shape[1]:,} columns has {_power_of_ten(columns)} columns, but "
                f"the limit is {MOST_COLUMNS:,}: {self._instead}"
            )
        self._check(X)
        self.n_output_features_ = columns
        return self

    def transform(self, X: Any) -> Any:
        """The features of each row, in the storage format of the rows: dense or CSR."""
        check_is_fitted(self, "n_output_features_")
        X = self._read(X, reset=False)
        self._check(X)
        return self._sparse(X) if sp.issparse(X) else self._dense(X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The name of each column, in terms of the input columns."""
        check_is_fitted(self, "n_output_features_")
        own = getattr(self, "feature_names_in_", None)
        if input_features is None:
            names = [f"x{j}" for j in range(self.n_features_in_)] if own is None else list(own)
        else:
            names = [str(name) for name in input_features]
            if len(names) != self.n_features_in_ or (own is not None and names != list(own)):
                raise ValueError("input_features is not equal to the columns that fit was given.")
        return np.asarray(self._names(names), dtype=object)

    def _read(self, X: Any, *, reset: bool) -> Any:
        exact = exact_rows(X, Rounding())  # refuses values that no double holds
        X = exact if sp.issparse(X) else X  # a frame is kept: its names are read next
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=self._dtypes)

    def _check(self, X: Any) -> None:
        """Refuse rows that do not have such features."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class PolynomialExpansion(_Expansion):
    """The d-fold tensor power of (1, x): every product of d of its coordinates, in every order.

    There are (1 + n)^d columns, and φ(x)·φ(z) = (1 + x·z)^d: the kernel 'poly' with γ = coef0 = 1. The usual
    expansion without repetitions has fewer columns but needs factors such as √2; here whole numbers stay
    whole, so their sums are exact.

    Parameters
    ----------
    degree : int, default 2
        d, at least 1.

    Attributes
    ----------
    n_output_features_ : int
        (1 + n)^d, at most 4,194,304.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff import PolynomialExpansion
    >>> X = np.array([[2.0, 3.0], [1.0, -1.0]])
    >>> phi = PolynomialExpansion(2).fit(X)
    >>> phi.transform(X)[0]
    array([1., 2., 3., 2., 4., 6., 3., 6., 9.])
    >>> phi.transform(X) @ phi.transform(X).T, (1 + X @ X.T) ** 2
    (array([[196., 0.], [ 0., 9.]]), array([[196., 0.], [ 0., 9.]]))
    >>> phi.get_feature_names_out(["a", "b"]).tolist()
    ['1', 'a', 'b', 'a', 'a a', 'a b', 'b', 'b a', 'b b']
    """

    _instead = "use KernelPerceptron('poly', gamma=1, coef0=1), which does not need them."

    def __init__(self, degree: int = 2) -> None:
        self.degree = degree

    def _count(self, n: int) -> int:
        if isinstance(self.degree, bool) or not isinstance(self.degree, int | np.integer) or self.degree < 1:
            raise ValueError(f"degree={self.degree!r} is not possible: expected a whole number ≥ 1.")
        return int((1 + n) ** int(self.degree))

    def _dense(self, X: Any) -> Any:
        one = np.concatenate([np.ones((len(X), 1), dtype=X.dtype), X], axis=1)
        out = one
        for _ in range(int(self.degree) - 1):
            out = (out[:, :, None] * one[:, None, :]).reshape(len(X), -1)
        return out

    def _sparse(self, X: Any) -> Any:
        one = sp.hstack([sp.csr_array(np.ones((X.shape[0], 1), dtype=X.dtype)), X], format="csr")
        one.sum_duplicates()
        out = one
        for _ in range(int(self.degree) - 1):
            out = _row_products(out, one)
        return out

    def _names(self, names: list[str]) -> list[str]:
        parts = product(["", *names], repeat=int(self.degree))
        return [" ".join(filter(None, part)) or "1" for part in parts]


class MonotoneConjunctions(_Expansion):
    """All 2ⁿ monotone conjunctions of n columns of 0 and 1: for each set of columns, whether all are 1.

    φ(a)·φ(b) = 2^|a ∧ b|, the number of subsets of the common ones: the kernel 'monotone_conjunction'. Column
    k is the conjunction of the columns whose bits are set in k; column 0, the empty conjunction, is always 1.
    A row with r ones has 2^r true conjunctions.

    Parameters
    ----------
    sparse_output : bool, default False
        Return CSR for dense rows too: only true conjunctions are stored. Sparse rows always give CSR.

    Attributes
    ----------
    n_output_features_ : int
        2ⁿ, for n ≤ 22.

    Examples
    --------
    >>> from novikoff import MonotoneConjunctions
    >>> X = [[1, 1, 0], [0, 1, 1]]
    >>> phi = MonotoneConjunctions().fit(X)
    >>> phi.transform(X)
    array([[1., 1., 1., 1., 0., 0., 0., 0.], [1., 0., 1., 0., 1., 0., 1., 0.]])
    >>> phi.get_feature_names_out(["a", "b", "c"]).tolist()
    ['1', 'a', 'b', 'a b', 'c', 'a c', 'b c', 'a b c']
    """

    _dtypes = (np.float64, np.float32, np.uint8)
    _instead = "use KernelPerceptron('monotone_conjunction'), which does not need them."

    def __init__(self, *, sparse_output: bool = False) -> None:
        self.sparse_output = sparse_output

    def _count(self, n: int) -> int:
        return 1 << n

    def _check(self, X: Any) -> None:
        pack(read_matrix(X))

    def transform(self, X: Any) -> Any:
        out = super().transform(X)
        return sp.csr_array(out) if self.sparse_output and not sp.issparse(out) else out

    def _dense(self, X: Any) -> Any:
        if self.sparse_output:
            return self._sparse(sp.csr_array(X))
        out = np.ones((len(X), 1), dtype=X.dtype)
        for column in X.T:
            out = np.concatenate([out, out * column[:, None]], axis=1)
        return out

    def _sparse(self, X: Any) -> Any:
        X = sp.csr_array(X)
        X.sum_duplicates()
        X.eliminate_zeros()
        parts, ends = [], [0]
        for row in range(X.shape[0]):
            true = np.zeros(1, dtype=np.int64)
            for j in X.indices[X.indptr[row] : X.indptr[row + 1]].tolist():  # in increasing order
                true = np.concatenate([true, true + (1 << j)])
            parts.append(true)
            ends.append(ends[-1] + len(true))
        indices = np.concatenate(parts)
        shape = X.shape[0], self.n_output_features_
        return sp.csr_array((np.ones(len(indices), dtype=X.dtype), indices, np.array(ends)), shape=shape)

    def _names(self, names: list[str]) -> list[str]:
        subsets = ([j for j in range(len(names)) if k >> j & 1] for k in range(1 << len(names)))
        return [" ".join(names[j] for j in subset) or "1" for subset in subsets]


def _row_products(a: Any, b: Any) -> Any:
    """For each row of two CSR matrices: all products of a value of one and a value of the other."""
    counts_a, counts_b = np.diff(a.indptr).astype(np.int64), np.diff(b.indptr).astype(np.int64)
    rows = np.repeat(np.arange(a.shape[0]), counts_a)  # of each value of a, which meets counts_b[row] values
    times = counts_b[rows]
    first = np.repeat(np.arange(len(a.data)), times)
    begins = np.concatenate([[0], np.cumsum(times)[:-1]]) if len(times) else np.zeros(0, dtype=np.int64)
    second = b.indptr[rows].astype(np.int64)[first] + np.arange(len(first)) - begins[first]
    columns = a.indices[first].astype(np.int64) * b.shape[1] + b.indices[second]
    ends = np.concatenate([[0], np.cumsum(counts_a * counts_b)])
    shape = a.shape[0], a.shape[1] * b.shape[1]
    return sp.csr_array((a.data[first] * b.data[second], columns, ends), shape=shape)


def _power_of_ten(count: int) -> str:
    return f"{count:,}" if count < 10**15 else f"about 10^{len(str(count)) - 1}"
