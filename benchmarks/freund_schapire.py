"""Freund and Schapire on MNIST: `python -m benchmarks.freund_schapire` prints the table of docs/mnist.md.

It fits one perceptron per digit against the rest, K(x, z) = (1 + x·z/s)^d, d = 1 to 6, after 0.1 to 10
epochs; predictions by the last, the averaged and the voted weights all come from one fit per degree. Pixels
lie in [0, 1]; `--scale` sets s, 1 by default (50: pixels divided by √50, so the constant term weighs more).
"""

from __future__ import annotations

import argparse
import gzip
import time
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.hindsight import DATA
from novikoff.kernel.dual import DualTrainer
from novikoff.kernel.dual_model import DualModel
from novikoff.kernel.kernels import NamedKernel
from novikoff.training.loop import train
from novikoff.training.plan import Plan

EPOCHS = (0.1, 1, 2, 3, 4, 10)
WAYS = ("last", "averaged", "voted")


def images(part: str) -> tuple[Any, Any]:
    """The images of "train" or "t10k", a row of 784 bytes each, and their digits."""

    def read(name: str, head: int) -> Any:
        with gzip.open(DATA / "mnist" / f"{part}-{name}-ubyte.gz") as file:
            return np.frombuffer(file.read()[head:], dtype=np.uint8)

    return read("images-idx3", 16).reshape(-1, 784), read("labels-idx1", 8)


def predicted(model: DualModel, way: str, X: Any) -> Any:
    scores = model.votes(X) if way == "voted" else model.scores(X, averaged=way == "averaged")
    return model.winners(scores)


def degree_rows(degree: int, scale: float, rows: int | None, seed: int) -> list[list[str]]:
    """The table's rows of one degree: test errors in percent by each way, then mistakes and supports."""
    X, y = images("train")
    X, y = X[:rows], y[:rows]
    test, digits = images("t10k")
    kernel = NamedKernel("poly", gamma=1 / (255**2 * scale), coef0=1.0, degree=degree)
    plan = Plan(max_epochs=max(int(t) for t in EPOCHS), rng=np.random.default_rng(seed), n_jobs=-1)
    started = time.perf_counter()
    earlier = DualModel.empty(kernel, 10, joint=False, like=X)
    trainer = DualTrainer(earlier, X, y.astype(np.int32), plan, cache_bytes=1 << 30)
    model = trainer.fitted(train(trainer, plan))
    print(
        f"degree {degree}: {len(model.support):,} supports, {time.perf_counter() - started:.0f} s", flush=True
    )
    # a fit ends with an epoch without mistakes; further ones would only add to the last one's votes
    model = replace(model, n_visits=max(EPOCHS) * len(y))
    stages = [model.until(round(t * len(y))) for t in EPOCHS]
    errors = [
        [f"{100 * np.mean(predicted(stage, way, test) != digits):.2f}" for stage in stages] for way in WAYS
    ]
    counts = [f"{stage.n_mistakes:,}" for stage in stages], [f"{len(np.unique(s.used)):,}" for s in stages]
    return [*errors, *counts]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.freund_schapire", description=__doc__)
    parser.add_argument("--degrees", type=int, nargs="+", default=[1, 2, 3, 4, 5, 6])
    parser.add_argument("--scale", type=float, default=1.0, help="divisor of x·z (default 1)")
    parser.add_argument("--rows", type=int, help="number of training images (default: all)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    table = [f"| d | | {' | '.join(f'T = {t:g}' for t in EPOCHS)} |", "|---|---|" + "---:|" * len(EPOCHS)]
    for degree in arguments.degrees:
        cells = degree_rows(degree, arguments.scale, arguments.rows, arguments.seed)
        for name, line in zip((*WAYS, "mistakes", "supports"), cells, strict=True):
            table.append(f"| {degree if name == 'last' else ''} | {name} | {' | '.join(line)} |")
    print("\n" + "\n".join(table))


if __name__ == "__main__":
    main()
