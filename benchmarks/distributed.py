"""`DistributedPerceptron` on a cluster of processes on this machine: time, bytes, memory, accuracy."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import scipy.sparse as sp

from benchmarks import cluster, mixed
from benchmarks.sparse import rows, zipf_columns
from benchmarks.table import Row, skipped, span
from distributed import Client, futures_of
from novikoff import Perceptron
from novikoff.dask import DistributedPerceptron
from novikoff.distributed.linear_shard import LinearMethod, RowShard
from novikoff.distributed.mixing import cuts
from novikoff.training.weights import Settings

CACHE = 32 << 20  # the processor's last level
SHARDS = 8
MB = 1 << 20


# ---- rows, made on the workers -------------------------------------------------------------------------
def dense_shard(seed: int, n: int, d: int) -> tuple[Any, Any]:
    """float32 rows; a tenth of the labels are wrong, so that every epoch has updates."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d), dtype=np.float32)
    y = (X @ np.random.default_rng(99).standard_normal(d, dtype=np.float32) > 0) ^ (rng.random(n) < 0.1)
    return X, y.astype(np.int64)


def text_shard(seed: int, n: int, bits: int) -> tuple[Any, Any]:
    """CSR rows of words, float64, about 41 per row."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rows(zipf_columns(rng, y, 41, bits), 1 << bits, rng), y


def even_shard(seed: int, n: int, bits: int) -> tuple[Any, Any]:
    """CSR rows of uniform columns, 40 per row."""
    rng = np.random.default_rng(seed)
    return rows(rng.integers(0, 1 << bits, (n, 40)), 1 << bits, rng), rng.integers(0, 2, n)


def few_shard(seed: int, n: int, bits: int) -> tuple[Any, Any]:
    """CSR rows of 40 columns each, all of them among 2^15."""
    rng = np.random.default_rng(seed)
    places = rng.integers(0, 1 << 15, (n, 40)) << (bits - 15)
    return rows(places, 1 << bits, rng), rng.integers(0, 2, n)


def spread(client: Client, shard: Any, n: int, size: int, shards: int = SHARDS) -> tuple[Any, Any]:
    """Shards in the workers' memory, as dask arrays of `size` columns (or 2^size of them)."""
    parts = [dask.delayed(shard, nout=2)(seed, n, size) for seed in range(shards)]
    d = size if shard is dense_shard else 1 << size
    meta = np.zeros((0, 0), dtype=np.float32) if shard is dense_shard else sp.csr_array((0, 0))
    X = da.concatenate([da.from_delayed(part[0], (n, d), meta=meta) for part in parts])
    y = da.concatenate([da.from_delayed(part[1], (n,), dtype=np.int64) for part in parts])
    X, y = client.persist([X, y])
    client.gather(client.compute(y.sum()))
    return X, y


def fitted(client: Client | None, X: Any, y: Any, **options: Any) -> Any:
    """A model fitted in the order of the rows."""
    options = {"order": "cyclic", "average": False} | options
    if client is None:
        return Perceptron(**options).fit(X, y)
    return DistributedPerceptron(client=client, **options).fit(X, y)


# ---- seconds -------------------------------------------------------------------------------------------
def dense(repeat: int) -> Iterator[Row]:
    yield one_and_two("float32, 100 columns", dense_shard, 10 * CACHE // (400 * SHARDS), 100, repeat)


def text(repeat: int) -> Iterator[Row]:
    yield one_and_two("CSR, 2^20 columns", text_shard, 10 * CACHE // (41 * 12 * SHARDS), 20, repeat)


def one_and_two(name: str, shard: Any, n: int, size: int, repeat: int) -> Row:
    """Epochs on ten times the cache, with one worker process and with two, in turn."""
    with cluster.workers(1) as one, cluster.workers(2) as two:
        held = {k: (c, *spread(c, shard, n, size)) for k, c in (("one", one), ("two", two))}
        best = dict.fromkeys(held, np.inf)
        for _ in range(max(repeat // 3, 1)):
            for k, (client, X, y) in held.items():
                model = fitted(client, X, y, max_epochs=4)
                best[k] = min(best[k], *(record["seconds"] for record in model.history_[1:]))
    ratio = best["one"] / best["two"]
    return Row(
        f"epoch of {SHARDS} × {n:,} rows, {name}", span(best["two"]) + ", 2 workers", "1 worker",
        span(best["one"]), f"{ratio:.2f}×",
    )  # fmt: skip


# ---- bytes ---------------------------------------------------------------------------------------------
def least(shards: list[RowShard], owners: list[str], d: int, epochs: int) -> list[int]:
    """Bytes that the workers must receive after each epoch, so that each has the mixture.

    Where shards on other workers changed a coordinate, a worker needs a number of 8 bytes from there; indices
    are not counted. Where all of d coordinates change, W workers must receive 2(W − 1)·d numbers (Patarasuk
    and Yuan 2009), which is the same for two.
    """
    method = LinearMethod(2, d, Settings())
    found = []
    for _, changes in islice(mixed.rounds(method, shards, "uniform"), epochs):
        here = {owner: np.zeros(d + 1, dtype=bool) for owner in owners}
        for owner, change in zip(owners, changes, strict=True):
            here[owner][slice(None) if change.rows is None else change.rows] = True
        others = [np.any([w for v, w in here.items() if v != owner], axis=0) for owner in here]
        found.append(8 * sum(int(np.count_nonzero(other)) for other in others))
    return found


def traffic(_: int) -> Iterator[Row]:
    """Bytes that two workers receive per epoch, counted at their sockets, compared with the minimum."""
    work: tuple[tuple[str, Any, int, int], ...] = (
        ("2^17 weights, all changed", dense_shard, 32, 1 << 17),
        ("2^22 weights, 1 in 128 changed", few_shard, 20_000, 22),
    )
    with cluster.workers(2) as client:
        for name, shard, n, size in work:
            X, y = spread(client, shard, n, size)
            blocks = futures_of(X)
            owners = [client.who_has([block])[block.key][0] for block in blocks]
            counts = [cluster.moved(client)]
            fitted(client, X, y, max_epochs=5, callback=lambda _, c=counts: c.append(cluster.moved(client)))
            came, told = ([b[k] - a[k] for a, b in pairwise(counts)][1:] for k in (0, 1))
            shards = [RowShard("", *shard(seed, n, size)) for seed in range(SHARDS)]
            needed = least(shards, owners, X.shape[1], 2)
            moved, ratio = min(came), min(came) / max(needed)
            yield Row(
                f"bytes to workers per epoch: {name}", size_of(moved), "the least", size_of(max(needed)),
                f"{ratio:.2f}",
            )  # fmt: skip
            yield Row("— in the epoch with the most (Dask may move shards)", size_of(max(came)))
            yield Row("— to the client and the scheduler", size_of(np.median(told)))


def size_of(n: float) -> str:
    """Bytes in a readable unit."""
    return f"{n / MB:.4g} MB" if n >= MB else f"{n / 1024:.4g} kB"


# ---- memory --------------------------------------------------------------------------------------------
LIMIT = 400 * MB


def write_files(folder: str, n_files: int, each: int) -> list[str]:
    """Files of LIBSVM text of at least `each` bytes: 4,000 rows, repeated."""
    names = []
    for k in range(n_files):
        X, y = text_shard(k, 4_000, 20)
        lines = []
        for i in range(len(y)):
            own = slice(X.indptr[i], X.indptr[i + 1])
            cells = zip((X.indices[own] + 1).tolist(), X.data[own].tolist(), strict=True)
            lines.append(f"{y[i]} " + " ".join(f"{j}:{v:.6f}" for j, v in cells) + "\n")
        text = "".join(lines).encode()
        path = Path(folder) / f"part{k}.svm"
        with path.open("wb") as file:
            for _ in range(each // len(text) + 1):
                file.write(text)
        names.append(str(path))
    return names


def files(_: int) -> Iterator[Row]:
    """Training on files that are larger than the memory limit of a worker."""
    with tempfile.TemporaryDirectory() as folder, cluster.workers(2, LIMIT) as client:
        names = write_files(folder, SHARDS, 80 * MB)
        size = sum(Path(name).stat().st_size for name in names)
        before, idle = cluster.pids(client), max(cluster.peaks(client))
        model = fitted(client, names, None, max_epochs=2, average=True)
        most = max(cluster.peaks(client))
        held = most <= LIMIT and cluster.pids(client) == before and len(model.history_) == 2
        yield Row(
            f"peak memory of a worker, {size_of(size)} of files on two", size_of(most), "limit",
            size_of(LIMIT), f"{most / LIMIT:.2f}", "≤ 1, none died", held,
        )  # fmt: skip
        yield Row("— before the fit", size_of(idle))
        seconds = min(record["seconds"] for record in model.history_)
        yield Row("— one epoch over the files", span(seconds), "", "", f"{size / seconds / 1e6:.0f} MB/s")


def wide(_: int) -> Iterator[Row]:
    """2^26 weights: 512 MB."""
    bits, n = 26, 5_000
    table = 8 << bits
    with cluster.workers(2) as client:
        X, y = spread(client, even_shard, n, bits, shards=4)
        model = fitted(client, X, y, max_epochs=1)
        most, here = max(cluster.peaks(client)), cluster.peak()
        yield Row("peak memory of a worker, 2^26 weights", size_of(most), "the weights", size_of(table),
                  f"{most / table:.2f}")  # fmt: skip
        yield Row("— of the client and scheduler", size_of(here), "the weights", size_of(table),
                  f"{here / table:.2f}")  # fmt: skip
        yield Row(f"— one epoch of 4 × {n:,} rows", span(model.history_[0]["seconds"]))


# ---- accuracy ------------------------------------------------------------------------------------------
def accuracy(_: int) -> Iterator[Row]:
    """Averaged weights compared with those of one learner, ten epochs, on held-out rows."""
    if not mixed.at_hand():
        yield skipped("accuracy on real data", "not at hand")
        return
    with cluster.workers(2) as client:
        for name, make in mixed.at_hand().items():
            X, y, test, labels = mixed.shuffled(make())
            how = {"average": True, "max_epochs": mixed.EPOCHS, "random_state": 0, "order": "shuffle"}
            alone = float(np.mean(fitted(None, X, y, **how).predict(test) == labels))
            sizes = tuple(np.diff(cuts(X.shape[0], SHARDS)).tolist())
            parts = da.from_array(X, chunks=(sizes, -1), asarray=False)
            for mixing in ("uniform", "updates"):
                model = fitted(client, parts, y, mixing=mixing, **how)
                there = float(np.mean(model.predict(test) == labels))
                more = 100 * (there - alone)
                yield Row(
                    f"accuracy on {name}, {model.n_shards_} shards, {mixing}", f"{there:.2%}", "Perceptron",
                    f"{alone:.2%}", f"{more:+.2f}", "≥ −0.5", more >= -0.5,
                )  # fmt: skip
