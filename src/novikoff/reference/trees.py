"""The plain twin of native/structured/trees.h: features and scores of arcs, and Eisner's algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.uint64]


def eisner(scores: Floats) -> list[int]:
    """The heads of the best projective tree with one root, with one NumPy step for all spans of one length.

    Every table is stored twice, by (first word, length) and by (last word, length), so that the two parts of
    all spans of one length are slices.

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


def arcs(words: Codes, tags: Codes, table: Codes, extra: Codes, bits: int) -> tuple[Codes, Any]:
    """Indices of the features of every arc, (features, heads, dependents), and a mask of those it has."""
    n, factors = len(words) - 1, table.reshape(-1, 9)
    fields = np.stack([words, tags[1:-1], tags[:-2], tags[2:]])
    place = np.arange(n + 1)
    distance = np.abs(place[:, None] - place[None, :])
    bucket = np.where(distance < 5, distance, np.where(distance < 10, 5, 6))
    way = (bucket + 8 * (place[:, None] < place[None, :]) + 1).astype(np.uint64)
    heads = (factors[:, :4, None] * fields).sum(axis=1) + factors[:, 8:]
    dependents = (factors[:, 4:8, None] * fields).sum(axis=1)
    alone = heads[:, :, None] + dependents[:, None, :]
    # Each tag between, once: its count up to the later word exceeds that up to the earlier one.
    kinds, which = np.unique(tags[1:-1], return_inverse=True)
    seen = np.zeros((n + 2, len(kinds)), dtype=np.int64)
    seen[np.arange(1, n + 2), which] = 1
    seen = seen.cumsum(axis=0)
    low, high = np.minimum.outer(place, place), np.maximum.outer(place, place)
    inside = (seen[high] > seen[np.minimum(low + 1, n + 1)]).transpose(2, 0, 1)
    across = (tags[1:-1] * extra[1])[:, None] + (tags[1:-1] * extra[2])[None, :]
    across = across + (way >> np.uint64(3)) * extra[3]
    between = across[None] + (kinds * extra[4])[:, None, None]
    codes = np.concatenate([alone, alone + way * extra[0], between])
    codes ^= codes >> np.uint64(32)
    codes *= np.uint64(0x9E3779B97F4A7C15)
    codes >>= np.uint64(64 - bits)
    return codes, np.concatenate([np.ones((2 * len(alone), n + 1, n + 1), dtype=bool), inside])


def arc_scores(codes: Codes, has: Any, w: Floats, n_templates: int) -> Floats:
    """The score of every arc: the features summed in order, plus the sum of those of the tags between."""
    k = 2 * n_templates
    scores: Floats = w[codes[:k]].sum(axis=0) + np.where(has[k:], w[codes[k:]], 0.0).sum(axis=0)
    return scores
