"""The monotone-conjunction kernel: 20,000 rows of 1,000 bits, one epoch, compared with the same in NumPy.

It can also run by itself: `python -m benchmarks.conjunctions --rows 5000`.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.table import Row, aligned, faster
from novikoff import KernelPerceptron

BLOCK = 256


def bits(rows: int, columns: int = 1000) -> tuple[Any, Any]:
    """Random bits; the label is whether one of eight conjunctions of three columns is true."""
    rng = np.random.default_rng(0)
    X = (rng.random((rows, columns)) < 0.5).astype(np.uint8)
    terms = rng.permutation(columns)[:24].reshape(8, 3)
    return X, X[:, terms].all(axis=2).any(axis=1).astype(np.int64)


def with_numpy(X: Any, y: Any, dtype: Any) -> list[int]:
    """One cyclic epoch in NumPy; returns the rows that were mistakes.

    Exponents |a ∧ b| are products of matrices of this type, block by block. Scores are sums of ±2^(k − m),
    where m is the largest exponent of the row; within their rounding error, Python integers decide.
    """
    sides, own = 2 * y - 1, X.astype(dtype)
    supports: list[int] = []
    for begin in range(0, len(X), BLOCK):
        block = own[begin : begin + BLOCK]
        before = np.array(supports, dtype=np.int64)
        exponents = (block @ own[before].T).astype(np.int64)
        inside = (block @ block.T).astype(np.int64)
        signs = sides[before].astype(np.float64)
        largest = exponents.max(axis=1, initial=0)
        values = np.ldexp(1.0, exponents - largest[:, None])
        scores, sizes = values @ signs, values.sum(axis=1)
        new: list[int] = []
        for t in range(len(block)):
            top = max([int(largest[t]), *inside[t, new].tolist()])
            more = np.ldexp(1.0, inside[t, new] - top)
            score = (
                math.ldexp(scores[t], int(largest[t]) - top) + more @ sides[begin + np.array(new, dtype=int)]
            )
            size = math.ldexp(sizes[t], int(largest[t]) - top) + more.sum()
            if abs(score) <= (len(supports) + 8) * 2.0**-52 * size:
                ks = [*exponents[t].tolist(), *inside[t, new].tolist()]
                whole = sum(int(sides[s]) << k for s, k in zip(supports, ks, strict=True))
                score = (whole > 0) - (whole < 0)
            if (score >= 0) != (sides[begin + t] > 0):
                new.append(t)
                supports.append(begin + t)
    return supports


def epoch(repeat: int, rows: int = 20_000) -> Iterator[Row]:
    """One epoch; both must make mistakes on the same rows."""
    X, y = bits(rows)

    def ours() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one epoch does not separate the rows
            return KernelPerceptron("monotone_conjunction", order="cyclic", max_epochs=1, n_jobs=-1).fit(X, y)

    taken, made = [], None
    for _ in range(repeat):
        started = time.perf_counter()
        made = ours()
        taken.append(time.perf_counter() - started)
    work = f"monotone conjunctions, {rows:,} × {X.shape[1]:,} bits, one epoch"
    for name, dtype, target in (("int32", np.int32, 20.0), ("float32, by BLAS", np.float32, 0.0)):
        started = time.perf_counter()
        supports = with_numpy(X, y, dtype)
        takes = time.perf_counter() - started
        assert made is not None and made.support_.tolist() == supports
        yield faster(work, min(taken), f"NumPy, exponents in {name}", takes, at_least=target)
    test, _ = bits(1000)
    for way in ("last", "voted"):
        made.predict_with = way
        started = time.perf_counter()
        made.predict(test)
        seconds = time.perf_counter() - started
        yield Row(
            f"predicting 1,000 rows with its {len(made.support_):,} supports, {way}", f"{seconds:.3f} s"
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.conjunctions", description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    print(aligned(epoch(arguments.repeat, arguments.rows)))


if __name__ == "__main__":
    main()
