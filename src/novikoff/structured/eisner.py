"""Eisner's algorithm: the best projective tree over n tokens, in O(n³), one NumPy step a length.

A span from i to j has its head at one end. An *open* span has an arc between its ends, a *closed* one is
complete but for its head's own head. With S[h, m] the score of the arc from h to m:

    open(i → j)   = max_r closed(i → r) + closed(r + 1 ← j) + S[i, j]     (and with S[j, i] for i ← j)
    closed(i → j) = max_r open(i → r) + closed(r → j)
    closed(i ← j) = max_r closed(i ← r) + open(r ← j)

The tree has one root: its head is 0, and it is the r with the highest closed(1 ← r) + closed(r → n) + S[0,
r].

Every table is kept twice, by (first token, length) and by (last token, length), so that the two parts of all
spans of one length are slices.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def eisner(scores: Floats) -> list[int]:
    """The heads of the best projective tree with one root: 0 for the root, else from 1 to n.

    Parameters
    ----------
    scores : array of shape (n + 1, n + 1)
        scores[h, m]: the arc from h to m, 0 being above the root; column 0 is not looked at.

    Examples
    --------
    >>> eisner(np.array([[0, 5, 1, 1], [0, 0, 4, 1], [0, 3, 0, 7], [0, 1, 1, 0.0]]))
    [0, 1, 2]
    """
    n = len(scores) - 1
    if not n:
        return []
    arc = scores[1:, 1:]
    # right: head at the first token; left: head at the last one. _f by first token, _l by last.
    right_f, right_l, left_f, left_l = np.zeros((4, n, n))
    open_right_f, open_left_l = np.zeros((2, n, n))
    joint, split_right, split_left = np.zeros((3, n, n), dtype=np.int64)
    for k in range(1, n):
        each, rows = np.arange(n - k), slice(0, n - k)
        ends = slice(k, n)
        both = right_f[rows, :k] + left_l[ends, k - 1 :: -1][:, :k]
        q = both.argmax(axis=1)
        joint[rows, k] = q
        best = both[each, q]
        open_right_f[rows, k] = best + arc.diagonal(k)
        open_left_l[ends, k] = best + arc.diagonal(-k)
        ways = left_f[rows, :k] + open_left_l[ends, k:0:-1]
        q = ways.argmax(axis=1)
        split_left[rows, k] = q
        left_f[rows, k] = left_l[ends, k] = ways[each, q]
        ways = open_right_f[rows, 1 : k + 1] + right_l[ends, k - 1 :: -1][:, :k]
        q = ways.argmax(axis=1)
        split_right[rows, k] = q + 1
        right_f[rows, k] = right_l[ends, k] = ways[each, q]
    m = np.arange(n)
    root = int(np.argmax(left_f[0, m] + right_f[m, n - 1 - m] + scores[0, 1:]))
    heads = [0] * n
    spans = [(0, root, "left"), (root, n - 1, "right")]
    while spans:
        i, j, kind = spans.pop()
        if i == j:
            continue
        if kind == "left":
            r = i + int(split_left[i, j - i])
            spans += [(i, r, "left"), (r, j, "open left")]
        elif kind == "right":
            r = i + int(split_right[i, j - i])
            spans += [(i, r, "open right"), (r, j, "right")]
        else:
            heads[j if kind == "open right" else i] = (i if kind == "open right" else j) + 1
            r = i + int(joint[i, j - i])
            spans += [(i, r, "right"), (r + 1, j, "left")]
    return heads


def crossing(heads: list[int]) -> list[int]:
    """The tokens whose arc spans another that does not descend from its head; none in a projective tree.

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
    """The tree with arcs lifted that span others: the shortest to its head's head, until there is none.

    This is how Nivre and Nilsson (2005) make trees projective.

    >>> projective([3, 0, 2, 1])
    [2, 0, 2, 2]
    """
    heads = list(heads)
    while bad := crossing(heads):
        m = min(bad, key=lambda m: (abs(heads[m - 1] - m), m))
        heads[m - 1] = heads[heads[m - 1] - 1]
    return heads
