"""Dense rows: whole fits against scikit-learn, and epochs against a bare read of the array."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.linear_model import Perceptron as Peer

from benchmarks.compiled import compile_here, compiler
from benchmarks.table import Row, faster, share, skipped
from benchmarks.timing import interleave
from novikoff import Perceptron

ROWS, COLUMNS = 60_000, 784
READ_SHARE = {"cyclic": 0.65, "shuffle": 0.45}


def pixels(seed: int = 0) -> tuple[Any, Any]:
    """uint8 rows around two class means that overlap a little, as digits do.

    The last row repeats the first with the other label: no run can converge, so every
    contender runs all of its epochs.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, ROWS)
    y[-1] = 1 - y[0]
    means = rng.uniform(60, 120, COLUMNS) + np.outer([-1, 1], rng.normal(0, 4, COLUMNS))
    X = np.empty((ROWS, COLUMNS), dtype=np.uint8)
    for i in range(0, ROWS, 5000):
        part = slice(i, i + 5000)
        noise = rng.standard_normal((len(y[part]), COLUMNS), dtype=np.float32) * 50
        X[part] = np.clip(means[y[part]] + noise, 0, 255)
    X[-1] = X[0]
    return X, y


def fits(X: Any, y: Any, order: str, epochs: int, seconds: list[float]) -> dict[str, Callable[[], object]]:
    """The two whole fits; novikoff's epochs after the first append their own seconds to `seconds`."""

    def novikoff() -> None:
        model = Perceptron(order=order, average=False, max_epochs=epochs, random_state=0).fit(X, y)
        assert model.n_epochs_ == epochs
        seconds.extend(record["seconds"] for record in model.history_[1:])

    def peer() -> None:
        Peer(tol=None, max_iter=epochs, shuffle=order != "cyclic", random_state=0).fit(X, y)

    return {"novikoff": novikoff, "scikit-learn": peer}


def against_sklearn(
    name: str, X: Any, y: Any, repeat: int, all_epochs: tuple[int, ...], **targets: float
) -> Iterator[Row]:
    for order in ("cyclic", "shuffle"):
        for epochs in all_epochs:
            times = interleave(fits(X, y, order, epochs, []), repeat)
            ours, theirs = (times[who].best / epochs for who in ("novikoff", "scikit-learn"))
            work = f"{name}, {order}, per epoch of a fit of {epochs}"
            yield faster(work, ours, "scikit-learn", theirs, **targets)


def float32(repeat: int) -> Iterator[Row]:
    X, y = pixels()
    X = X.astype(np.float32) / 255
    yield from against_sklearn("60,000 × 784 float32", X, y, repeat, (1, 10), at_least=5)
    yield from against_read(X, y, repeat)


def riffle(repeat: int) -> Iterator[Row]:
    """Riffled epochs against the peer's shuffled ones, and against our own in other orders."""
    X, y = pixels()
    yield from riffled("60,000 × 784 float32", X.astype(np.float32) / 255, y, repeat)
    rng = np.random.default_rng(0)
    X = rng.random((1_000_000, 100), dtype=np.float32) - np.float32(0.5)
    y = (X[:, 0] + X[:, 1] > 0) ^ (rng.random(len(X)) < 0.02)
    yield from riffled("1,000,000 × 100 float32", X, y.astype(int), repeat)


def riffled(name: str, X: Any, y: Any, repeat: int) -> Iterator[Row]:
    seconds: dict[str, list[float]] = {order: [] for order in ("riffle", "cyclic", "shuffle")}
    contenders = {order: fits(X, y, order, 10, seconds[order])["novikoff"] for order in seconds}
    times = interleave(contenders | {"peer": fits(X, y, "shuffle", 10, [])["scikit-learn"]}, repeat)
    work, ours = f"{name}, riffle, per epoch of a fit of 10", times["riffle"].best / 10
    yield faster(work, ours, "scikit-learn, shuffled", times["peer"].best / 10, at_least=5)
    later = {order: min(each) for order, each in seconds.items()}
    for order in ("cyclic", "shuffle"):
        yield faster(f"{name}, riffle, a later epoch", later["riffle"], f"novikoff, {order}", later[order])


def uint8(repeat: int) -> Iterator[Row]:
    X, y = pixels()
    yield from against_sklearn("60,000 × 784 uint8", X, y, repeat, (1, 10), at_least=8)


def against_read(X: Any, y: Any, repeat: int) -> Iterator[Row]:
    work = "60,000 × 784 float32, {}, a later epoch"
    if compiler() is None:
        yield skipped(work.format("any order"), "no C++ compiler for the bare read")
        return
    with TemporaryDirectory() as folder:
        compiled = compile_here("read.cpp", Path(folder) / "read.so", "-march=native", "-shared", "-fPIC")
        library = ctypes.CDLL(str(compiled))
    reads = {"read, one stream": library.read_one_stream, "read, four streams": library.read_four_streams}
    for function in reads.values():
        function.argtypes, function.restype = (ctypes.c_void_p, ctypes.c_size_t), ctypes.c_uint64
    contenders = {name: lambda f=f: f(X.ctypes.data, X.nbytes) for name, f in reads.items()}
    for order, at_least in READ_SHARE.items():
        seconds: list[float] = []
        fit = fits(X, y, order, 10, seconds)["novikoff"]
        times = interleave({**contenders, "fit": fit}, repeat)
        for name in reads:
            yield share(work.format(order), min(seconds), name, times[name].best, at_least=at_least)
