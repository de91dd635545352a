"""Equal rows with different labels, which no rule can classify without errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.data.arrays import is_sparse
from novikoff.proof.opposites import hashes
from novikoff.proof.problem import CHUNK, Problem

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Contradictions:
    """Groups of equal rows in which more than one label occurs."""

    groups: int
    rows: int  # in those groups
    errors: int  # the minimum for any function of the row: all but the most frequent label of each group
    first: tuple[int, int] | None  # the first two equal rows with different labels


def contradictions(problem: Problem) -> Contradictions:
    """Find them by a hash of each row; rows with equal hashes are then compared.

    >>> from novikoff.proof.problem import read_problem
    >>> contradictions(read_problem([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0], [1.0, 2.0]], [1, 1, 2, 1]))
    Contradictions(groups=1, rows=3, errors=1, first=(0, 2))
    """
    found, labels = hashes(problem.X), problem.labels
    order = np.argsort(found, kind="stable")
    starts = np.flatnonzero(np.concatenate([[True], found[order[1:]] != found[order[:-1]]]))
    group = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))  # of order[k]
    leader = order[starts]  # the first row of each group, since the sort is stable
    differs = labels[order] != labels[leader][group]
    mixed = np.zeros(len(starts), dtype=bool)
    mixed[group[differs]] = True
    suspects = np.flatnonzero(mixed[group])
    rows, group = order[suspects], group[suspects]
    equal = _equal(problem.X, rows, leader[group])  # false only if two hashes agree by chance
    rows, group = rows[equal], group[equal]
    places, size = np.unique(group, return_inverse=True)
    counts = np.zeros((len(places), problem.n_classes), dtype=np.int64)
    np.add.at(counts, (size, labels[rows]), 1)
    real = np.count_nonzero(counts, axis=1) > 1
    counts = counts[real]
    first = None
    second = rows[real[size] & (labels[rows] != labels[leader[group]])]
    if len(second):
        firsts = leader[group[real[size] & (labels[rows] != labels[leader[group]])]]
        k = int(np.lexsort((second, np.maximum(firsts, second)))[0])
        first = int(firsts[k]), int(second[k])
    errors = int(counts.sum() - counts.max(axis=1).sum()) if len(counts) else 0
    return Contradictions(len(counts), int(counts.sum()), errors, first)


def _equal(X: Any, rows: Indices, others: Indices) -> npt.NDArray[np.bool_]:
    """Whether each row equals its other row, computed in parts."""
    out = np.ones(len(rows), dtype=bool)
    step = max(CHUNK // (8 * max(X.shape[1], 1)), 1) if not is_sparse(X) else 1 << 16
    for begin in range(0, len(rows), step):
        part = slice(begin, begin + step)
        if is_sparse(X):
            rest = X[rows[part]].astype(np.float64) - X[others[part]].astype(np.float64)
            rest.eliminate_zeros()
            out[part] = np.diff(rest.indptr) == 0
        else:
            out[part] = (X[rows[part]] == X[others[part]]).all(axis=1)
    return out
