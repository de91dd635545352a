"""The digest of examples in plain Python: the readable version of native/rows/digest.h.

It depends on values, not on their storage: a row is a mapping from column to number, and zeros add nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

LOW, ALL = (1 << 32) - 1, (1 << 64) - 1


def bits(x: float) -> int:
    """The 64 bits of a double; −0 has the bits of 0."""
    return int(struct.unpack("<Q", struct.pack("<d", float(x) + 0.0))[0])


def key(column: int) -> int:
    """The 64-bit key of a column, by two rounds of multiplication and shift; neither half is 0."""
    a = ((column & LOW) * 0x9E3779B1 + (column >> 32) + 0x9E3779B97F4A7C15) & ALL
    a ^= a >> 32
    b = ((a & LOW) * 0x85EBCA77 + a) & ALL
    return (b ^ (b >> 32)) | 0x100000001


def mix(h: int) -> int:
    """The finalizer of splitmix64."""
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9 & ALL
    h = (h ^ (h >> 27)) * 0x94D049BB133111EB & ALL
    return h ^ (h >> 31)


def row_hash(row: Mapping[int, float]) -> int:
    """Σ (lo(b) + lo(k))·(hi(b) + hi(k)) − lo(k)·hi(k) over the values; b their bits, k the column's key."""
    total = 0
    for column, x in row.items():
        b, k = bits(x), key(column)
        low, high = (b + k) & LOW, ((b >> 32) + (k >> 32)) & LOW
        total += low * high - (k & LOW) * (k >> 32)
    return total & ALL


def digest(rows: Iterable[Mapping[int, float]], labels: Iterable[int], weights: Iterable[float]) -> int:
    """The sum over the examples, which does not depend on their order.

    >>> one = digest([{0: 1.0, 3: 2.0}, {1: -0.5}], [0, 1], [1.0, 1.0])
    >>> one == digest([{1: -0.5, 7: -0.0}, {3: 2.0, 0: 1.0}], [1, 0], [1.0, 1.0])
    True
    >>> one == digest([{0: 1.0, 3: 2.0}, {1: -0.5}], [1, 0], [1.0, 1.0])
    False
    """
    each = zip(rows, labels, weights, strict=True)
    return sum(mix((mix((row_hash(row) + y) & ALL) + bits(c)) & ALL) for row, y, c in each) & ALL
