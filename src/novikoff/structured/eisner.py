"""Eisner's algorithm for the best projective tree, and conversion to projective trees."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from novikoff import _core

Floats = npt.NDArray[np.float64]


def eisner(scores: Floats) -> list[int]:
    """The heads of the best projective tree with one root: 0 for the root, else from 1 to n.

    The algorithm is in native/structured/trees.h and takes O(n³) time.

    Parameters
    ----------
    scores : array of shape (n + 1, n + 1)
        scores[h, m] is the score of the arc from h to m, where 0 is above the root; column 0 is ignored.

    Examples
    --------
    >>> eisner(np.array([[0, 5, 1, 1], [0, 0, 4, 1], [0, 3, 0, 7], [0, 1, 1, 0.0]]))
    [0, 1, 2]
    """
    heads = np.zeros(len(scores) - 1, dtype=np.int64)
    if len(heads):
        _core.eisner(np.ascontiguousarray(scores, dtype=np.float64).reshape(-1), heads)
    return heads.tolist()


def crossing(heads: list[int]) -> list[int]:
    """The tokens whose arc spans a token that does not descend from its head; none in a projective tree.

    >>> crossing([2, 0, 2]), crossing([3, 0, 2, 1])
    ([], [1, 4])
    """

    def descends(k: int, h: int) -> bool:
        while k not in (0, h):
            k = heads[k - 1]
        return k == h

    return [
        m for m, h in enumerate(heads, 1) if not all(descends(k, h) for k in range(min(h, m) + 1, max(h, m)))
    ]


def projective(heads: list[int]) -> list[int]:
    """A projective tree: the shortest nonprojective arc is moved to its head's head until none is left.

    This is the method of Nivre and Nilsson (2005).

    >>> projective([3, 0, 2, 1])
    [2, 0, 2, 2]
    """
    heads = list(heads)
    while bad := crossing(heads):
        m = min(bad, key=lambda m: (abs(heads[m - 1] - m), m))
        heads[m - 1] = heads[heads[m - 1] - 1]
    return heads
