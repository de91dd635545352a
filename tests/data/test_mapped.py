"""Rows in a temporary file: the numbers are those that were added, and nothing of the file is left."""

import errno
import io
import tempfile

import numpy as np
import pytest

from novikoff.data import mapped
from novikoff.data.arrays import is_memory_mapped
from novikoff.data.mapped import MappedRows, picked
from novikoff.data.sources.block import Csr, as_sparse


def dense(X):
    if not isinstance(X, Csr):
        return np.asarray(X)
    out = np.zeros(X.shape)
    for i in range(X.shape[0]):
        part = slice(X.indptr[i], X.indptr[i + 1])
        out[i, X.indices[part]] = X.data[part]
    return out


def parts(rng):
    whole = rng.integers(-2, 3, (60, 7)).astype(np.float64)
    whole[40:50] = 0
    return whole, [whole[:20], whole[20:20], whole[20:45], whole[45:]]


@pytest.mark.parametrize("first", ["dense", "sparse", "narrow"])
def test_rows_are_those_that_were_added(first):
    whole, some = parts(np.random.default_rng(0))
    if first == "sparse":
        some[0], some[2] = as_sparse(some[0]), as_sparse(some[2])
    if first == "narrow":  # columns that were not known yet
        whole[:20, 5:] = 0
        some[0] = np.ascontiguousarray(whole[:20, :5])
    if first == "dense":
        some[2] = as_sparse(some[2])
    held = MappedRows(7)
    for part in some:
        held.add(part)
    rows = held.rows()
    assert isinstance(rows, Csr) == (first != "dense")
    assert is_memory_mapped(rows.data if isinstance(rows, Csr) else rows)
    np.testing.assert_array_equal(dense(rows), whole)
    chosen = picked(rows, np.array([44, 3, 59]))
    assert is_memory_mapped(chosen.data if isinstance(chosen, Csr) else chosen)
    np.testing.assert_array_equal(dense(chosen), whole[[44, 3, 59]])


def test_indices_in_any_order_are_sorted():
    X = Csr(np.array([1.0, 2, 3]), np.array([1, 0, 1]), np.array([0, 2, 3]), (2, 2), is_sorted=False)
    held = MappedRows(2)
    held.add(X)
    rows = held.rows()
    assert rows.is_sorted and rows.indices.tolist() == [0, 1, 1]
    np.testing.assert_array_equal(dense(rows), dense(X))


@pytest.mark.parametrize("shape", [(0, 3), (4, 0), (3, 2)])
def test_nothing_but_zeros(shape):
    for part in (np.zeros(shape), as_sparse(np.zeros(shape))):
        held = MappedRows(shape[1])
        held.add(part)
        np.testing.assert_array_equal(dense(held.rows()), np.zeros(shape))


def test_no_file_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    held = MappedRows(2)
    held.add(np.ones((1000, 2)))
    rows = held.rows()
    del held
    assert rows.sum() == 2000
    del rows
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_one_clear_error(monkeypatch):
    class Full(io.BytesIO):
        def write(self, _):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(mapped, "_file", Full)
    with pytest.raises(OSError, match=r"No space left.*TMPDIR.*max_epochs"):
        MappedRows(2).add(np.ones((1, 2)))
