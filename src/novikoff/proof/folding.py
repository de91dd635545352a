"""Rows of extreme sizes as rows that floats can measure: x̃ times its weight, times a power of two.

Squares of numbers beyond about 1e±150 overflow or underflow. Here every number is split into a mantissa and
an exponent, so a product neither overflows nor underflows before it is multiplied by the power of two that
brings the largest to about 1. A folded number has a relative error of at most 2⁻⁵³, from the rounding of
weight·x (none without weights), or an absolute error of at most 2⁻¹⁰⁷⁴ if it then underflows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from novikoff.data.arrays import is_sparse, with_arrays, with_values
from novikoff.training.weights import Floats, Ints

NONE = -5000  # the exponent of a zero: less than any other


def times(values: Any, power: Any) -> Floats:
    """Numbers multiplied by 2^power, which may exceed any float; infinite on overflow.

    >>> times([1.0, -3.0], 1030).tolist(), times(5e-324, 2000).item() == 2.0**926
    ([inf, -inf], True)
    """
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    return _joined(mantissa, exponent + power)


def _joined(mantissa: Floats, exponent: Any) -> Floats:
    with np.errstate(over="ignore", under="ignore"):
        joined: Floats = np.ldexp(mantissa, np.clip(exponent, -4000, 4000))
    return joined


def unit(u: Any) -> Floats:
    """u/‖u‖, for u of any size; 0 if u is 0.

    >>> unit([0.0, 1e308]).tolist(), unit([-5e-324, 0.0]).tolist(), unit([0.0]).tolist()
    ([0.0, 1.0], [-1.0, 0.0], [0.0])
    """
    u = np.asarray(u, dtype=np.float64)
    largest = float(np.abs(u).max(initial=0.0))
    if not largest:
        return np.zeros(u.shape)
    near = times(u, -math.frexp(largest)[1])
    along: Floats = near / float(np.sqrt(near.ravel() @ near.ravel()))
    return along


def lifted(X: Any, bias: float) -> Any:
    """(x, c) as floats, without c if it is 0."""
    n, d = X.shape
    if not is_sparse(X):
        X = X.astype(np.float64)
        return np.hstack([X, np.full((n, 1), bias)]) if bias else X
    values, indices, indptr = X.data.astype(np.float64), X.indices, X.indptr
    if bias:
        values, indices = np.insert(values, indptr[1:], bias), np.insert(indices, indptr[1:], d)
        indptr, d = indptr + np.arange(n + 1, dtype=indptr.dtype), d + 1
    return with_arrays(X, values, indices, indptr, (n, d))


def exponents(X: Any, weights: Floats | None) -> Ints:
    """For every row, the least e with |weight·x| < 2^e for all its numbers; `NONE` for a row of zeros."""
    values = X.data if is_sparse(X) else X
    each = np.where(values == 0, NONE, np.frexp(values)[1])
    if is_sparse(X):
        found = np.full(X.shape[0], NONE)
        np.maximum.at(found, _lines(X), each)
    else:
        found = each.max(axis=1, initial=NONE)
    if weights is not None:
        found = np.where(found == NONE, NONE, found + np.frexp(weights)[1])
    return found


def folded(X: Any, weights: Floats | None, power: Any) -> Any:
    """weight·x·2^power, with one power for all rows or one per row."""
    factor, more = np.frexp(np.ones(X.shape[0]) if weights is None else weights)
    more = more + power
    if not is_sparse(X):
        mantissa, exponent = np.frexp(X)
        return _joined(mantissa * factor[:, None], exponent + more[:, None])
    lines = _lines(X)
    mantissa, exponent = np.frexp(X.data)
    return with_values(X, _joined(mantissa * factor[lines], exponent + more[lines]))


def _lines(X: Any) -> Any:
    """The row of every stored number."""
    return np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
