"""Tables that are mostly zero, whose zeros take no memory.

The system allocates a page when it is first written to; until then it reads as zeros. A table of 2**28 hashed
features of which ten have a weight therefore takes ten pages, as long as no code writes zeros over zeros.
Loops over whole tables visit only their used rows, those that hold anything but zeros: the functions here
find and copy them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff import _core

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

HUGE_PAGE = 1 << 21  # bytes; tables of that size or more are large
CHUNK = 1 << 16  # rows examined together
SPARE = 32  # bytes that huge pages may take for each byte that is stored


def zeros(
    shape: tuple[int, int], dtype: npt.DTypeLike = np.float64, *, used: Indices | None = None
) -> npt.NDArray[Any]:
    """An array of zeros; on huge pages if it is large, because weights are read in random order.

    If only the rows `used` will be written to, and they are so far apart that huge pages would be mostly
    empty, small pages are requested.
    """
    size = shape[0] * shape[1] * np.dtype(dtype).itemsize
    if size < HUGE_PAGE:
        return np.zeros(shape, dtype)
    raw = np.zeros(size + HUGE_PAGE, dtype=np.uint8)  # no memory yet: pages are allocated when written to
    start = -raw.ctypes.data % HUGE_PAGE
    huge = used is None or _worth_huge_pages(used, size // shape[0])
    _core.advise_huge_pages(raw[start : start + size // 8 * 8].view(np.float64), huge)
    return raw[start : start + size].view(dtype).reshape(shape)


def _worth_huge_pages(used: Indices, row_bytes: int) -> bool:
    pages = np.count_nonzero(np.diff(used * row_bytes // HUGE_PAGE)) + 1
    return bool(pages * HUGE_PAGE <= SPARE * len(used) * row_bytes)


def is_large(table: npt.NDArray[Any]) -> bool:
    """Whether it is worth finding which of its rows are used."""
    return table.size * table.itemsize >= HUGE_PAGE


def used_rows(*tables: Floats) -> Indices:
    """The rows in which any of the tables, of equal length, holds anything but zeros; −0.0 is nonzero.

    >>> used_rows(np.array([[0.0], [2.0], [0.0]]), np.array([[0.0, 0], [0, 0], [0, -0.0]]))
    array([1, 2])
    """
    found = []
    for begin in range(0, len(tables[0]), CHUNK):
        parts = [table[begin : begin + CHUNK].view(np.int64) for table in tables]
        if any(np.bitwise_or.reduce(part, axis=None) for part in parts):
            held = np.logical_or.reduce([part.any(axis=1) for part in parts])
            found.append(begin + np.flatnonzero(held))
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


def spread(shape: tuple[int, int], rows: Indices, values: npt.NDArray[Any]) -> Floats:
    """The table with these rows, and zero elsewhere."""
    table: Floats = zeros(shape, used=rows)
    table[rows, : values.shape[1]] = values
    return table


def copied(table: Floats) -> Floats:
    """A copy that takes no more memory than the table."""
    if table.ndim != 2 or not is_large(table):
        return table.copy()
    used = used_rows(table)
    return table.copy() if 2 * len(used) > len(table) else spread(table.shape, used, table[used])


def side_by_side(vectors: Sequence[Floats], used: Indices | None) -> Floats:
    """(n,) vectors as the rows of one matrix; outside the columns `used`, where given, they are zero."""
    if used is None:
        return np.stack(vectors)
    out: Floats = zeros((len(vectors), len(vectors[0])), used=np.zeros(0, dtype=np.int64))
    for row, vector in zip(out, vectors, strict=True):
        row[used] = vector[used]
    return out
