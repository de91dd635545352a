"""One or two rows that alone prove inseparability: z = 0, or z + z' = 0.

With a bias coordinate z + z' = 0 means that x = x' with different labels. Without one, it can also mean that
x = −x' with the same label, and z = 0 if x = 0. Rows are first compared by a 64-bit hash of their values;
rows with equal hashes are then compared exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.data.arrays import is_sparse, row_bytes
from novikoff.proof.problem import CHUNK, Problem
from novikoff.training.weights import Ints

Words = npt.NDArray[np.uint64]

ODD = np.uint64(0x9E3779B97F4A7C15)


def _mixed(values: Any) -> Words:
    """A hash of every float; the hash of 0 and −0 is 0."""
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)
    bits = bits * ODD
    return (bits ^ (bits >> np.uint64(29))) * ODD


def _keys(n_columns: int) -> Words:
    keys = np.arange(1, n_columns + 1, dtype=np.uint64) * ODD
    return (keys ^ (keys >> np.uint64(31))) | np.uint64(1)


def signs_of(X: Any) -> npt.NDArray[np.int8]:
    """The sign of the first nonzero value of each row; 0 for rows of zeros."""
    n = X.shape[0]
    signs = np.zeros(n, dtype=np.int8)
    if is_sparse(X):
        stored = np.flatnonzero(X.data)
        rows = np.searchsorted(X.indptr, stored, side="right") - 1
        which, first = np.unique(rows, return_index=True)
        signs[which] = np.sign(X.data[stored[first]])
        return signs
    step = max(CHUNK // (8 * max(X.shape[1], 1)), 1)
    for begin in range(0, n, step):
        part = X[begin : begin + step]
        if part.shape[1]:
            first = (part != 0).argmax(axis=1)
            signs[begin : begin + step] = np.sign(part[np.arange(len(part)), first].astype(np.float64))
    return signs


def nonzero_rows(X: Any) -> npt.NDArray[np.int64]:
    """The rows that are not all zeros."""
    n, step = X.shape[0], max(CHUNK // (8 * row_bytes(X)), 1)
    found = np.zeros(n, dtype=bool)
    for begin in range(0, n, step):
        end = min(begin + step, n)
        if is_sparse(X):
            ends = X.indptr[begin : end + 1] - X.indptr[begin]
            stored = X.data[X.indptr[begin] : X.indptr[end]] != 0
            before = np.concatenate([[0], np.cumsum(stored)])
            found[begin:end] = before[ends[1:]] > before[ends[:-1]]
        else:
            found[begin:end] = (X[begin:end] != 0).any(axis=1)
    return np.flatnonzero(found)


def hashes(X: Any, signs: npt.NDArray[np.int8] | None = None) -> Words:
    """One number per row, the same for equal rows; `signs` multiply the rows."""
    n, d = X.shape
    keys = _keys(d)
    if is_sparse(X):
        data = X.data if signs is None else X.data * np.repeat(signs, np.diff(X.indptr))
        terms = _mixed(data) * keys[X.indices]
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(terms, dtype=np.uint64)])
        result: Words = sums[X.indptr[1:]] - sums[X.indptr[:-1]]
        return result
    out = np.zeros(n, dtype=np.uint64)
    step = max(CHUNK // (8 * max(d, 1)), 1)
    for begin in range(0, n, step):
        part = X[begin : begin + step].astype(np.float64)
        if signs is not None:
            part *= signs[begin : begin + step, None]
        out[begin : begin + step] = (_mixed(part) * keys).sum(axis=1, dtype=np.uint64)
    return out


def _same(X: Any, i: int, j: int, opposite: bool) -> bool:
    """Whether two rows are equal, or add up to zero."""
    if is_sparse(X):
        a, b = X[[i]].astype(np.float64), X[[j]].astype(np.float64)
        rest = a + b if opposite else a - b
        return not rest.data.any()
    return bool(np.array_equal(X[i], -X[j].astype(np.float64) if opposite else X[j]))


def zero_row(problem: Problem) -> int | None:
    """A row with x̃ = 0, if possible one for which a tie is a mistake."""
    if problem.bias:
        return None
    rows = np.flatnonzero(signs_of(problem.X) == 0)
    if not len(rows):
        return None
    strict = problem.labels[rows] != 0 if problem.is_joint else problem.labels[rows] == 0
    return int(rows[int(strict.argmax())])


def opposite_rows(problem: Problem, *, lifted: bool = False) -> tuple[int, int] | None:
    """Two rows i, j with z_i + z_j = 0 for some of their z; if possible with different labels.

    `lifted` considers only equal rows, as if there were a bias.
    """
    X, labels = problem.X, problem.labels
    signs = None if problem.bias or lifted else signs_of(X)
    found = hashes(X, signs)
    groups = np.argsort(found, kind="stable")
    equal = found[groups[1:]] == found[groups[:-1]]
    # neighbours in the order of (hash, sign, label): with equal hash and sign, where the label changes;
    # with equal hash and label, where the sign changes
    shared = np.zeros(len(groups), dtype=bool)
    shared[1:] |= equal
    shared[:-1] |= equal
    rows = groups[shared]
    if not len(rows):
        return None
    sign = np.ones(len(rows), dtype=np.int8) if signs is None else signs[rows]
    by_label = np.lexsort((labels[rows], sign, found[rows]))
    pair = _neighbours(X, rows[by_label], found, sign[by_label], labels[rows[by_label]], False)
    if pair is None and signs is not None:
        by_sign = np.lexsort((sign, labels[rows], found[rows]))
        pair = _neighbours(X, rows[by_sign], found, labels[rows[by_sign]], sign[by_sign], True)
    return pair


def _neighbours(
    X: Any, rows: Any, found: Words, same: Any, other: Ints | npt.NDArray[np.int8], opposite: bool
) -> tuple[int, int] | None:
    match = (found[rows[1:]] == found[rows[:-1]]) & (same[1:] == same[:-1]) & (other[1:] != other[:-1])
    for k in np.flatnonzero(match):
        i, j = int(rows[k]), int(rows[k + 1])
        if _same(X, i, j, opposite):
            return min(i, j), max(i, j)
    return None
