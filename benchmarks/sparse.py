"""CSR rows: zipf columns as in text, and uniform columns as after hashing feature crosses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.dense import against_sklearn
from benchmarks.table import Row

ROWS = 200_000


def zipf_columns(rng: np.random.Generator, y: Any, stored: int, bits: int) -> Any:
    """Words of frequency 1/rank, two thirds of them from the vocabulary of the row's own class.

    An odd multiplier scatters them over the columns, as hashing would.
    """
    size = len(y), stored
    ranks = np.exp(rng.random(size) * ((bits - 1) * np.log(2))).astype(np.int64)
    words = 2 * ranks + (y[:, None] ^ (rng.random(size) < 1 / 3))
    return words * 0x9E3779B1 % (1 << bits)


def rows(columns: Any, n_columns: int, rng: np.random.Generator) -> sp.csr_array:
    """Rows of norm 1 with these columns (repeated ones counted once), float64 values, int32 indices."""
    columns = np.sort(columns, axis=1)
    kept = np.ones(columns.shape, dtype=bool)
    kept[:, 1:] = columns[:, 1:] != columns[:, :-1]
    values = rng.uniform(0.5, 2.0, columns.shape) * kept
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32)
    parts = values[kept], columns[kept].astype(np.int32), indptr
    return sp.csr_array(parts, shape=(len(columns), n_columns))


def contradictory(columns: Any, y: Any, n_columns: int, rng: np.random.Generator) -> tuple[sp.csr_array, Any]:
    """The rows; the last one repeats the first with the other label (see dense.pixels)."""
    columns[-1], y[-1] = columns[0], 1 - y[0]
    X = rows(columns, n_columns, rng)
    X.data[X.indptr[-2] :] = X.data[: X.indptr[1]]
    return X, y


def text_rows() -> tuple[sp.csr_array, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, ROWS)
    return contradictory(zipf_columns(rng, y, 41, 20), y, 1 << 20, rng)


def hashed_rows(positive: float) -> tuple[sp.csr_array, Any]:
    """Columns that are independent of the label: only its frequency can be learned, the rest memorized."""
    rng = np.random.default_rng(0)
    y = (rng.random(ROWS) < positive).astype(np.int64)
    return contradictory(rng.integers(0, 1 << 24, (ROWS, 75)), y, 1 << 24, rng)


def text(repeat: int) -> Iterator[Row]:
    """float64 is the output of vectorizers; with float32 scikit-learn halves its weights as well."""
    X, y = text_rows()
    for dtype in ("float64", "float32"):
        name = f"CSR {dtype} 200,000 × 2^20 zipf, {X.nnz / ROWS:.0f} per row"
        yield from against_sklearn(name, X.astype(dtype), y, repeat, (1, 5), at_least=2.5, aim=4)


def hashed(repeat: int) -> Iterator[Row]:
    for positive in (0.05, 0.5):
        X, y = hashed_rows(positive)
        name = f"CSR float64 200,000 × 2^24 uniform, {X.nnz / ROWS:.0f} per row, {positive:.0%} positive"
        yield from against_sklearn(name, X, y, repeat, (1, 5), at_least=2.5, aim=4)
