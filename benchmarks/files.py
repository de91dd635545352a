"""Reading files: LIBSVM text beside scikit-learn's loader."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

import novikoff
from benchmarks.table import Row, faster
from benchmarks.timing import interleave


def reading(repeat: int) -> Iterator[Row]:
    """Text of rows with 38 features or so, of which four in ten are 1 and the others have four decimals."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.txt"
        write(path, 50_000)
        megabytes = path.stat().st_size / 1e6
        times = interleave(
            {
                "novikoff": lambda: novikoff.load(path),
                "scikit-learn": lambda: load_svmlight_file(str(path), zero_based=False),
            },
            repeat,
        )
        best = times["novikoff"].best
        work = f"load {megabytes:.0f} MB of LIBSVM text ({megabytes / best:.0f} MB/s)"
        yield faster(work, best, "scikit-learn", times["scikit-learn"].best)


def write(path: Path, rows: int) -> None:
    """Indices are spread over five orders of magnitude, as those of words are."""
    rng = np.random.default_rng(0)
    with path.open("w", encoding="ascii") as file:
        for i in range(rows):
            indices = np.unique((10 ** (5 * rng.random(rng.poisson(43)))).astype(np.int64)).tolist()
            values = rng.integers(-6666, 10_000, len(indices)).tolist()
            pairs = (
                f"{j}:{v / 10_000:.4f}" if v > 0 else f"{j}:1" for j, v in zip(indices, values, strict=True)
            )
            file.write(f"{2 * (i % 2) - 1:+d} {' '.join(pairs)}\n")
