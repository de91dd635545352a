"""The cost of an epoch of iterative parameter mixing on W workers: a model, its fit, and a simulation.

    python -m benchmarks.scaling            measure on two workers here, fit, and extrapolate to 1,000
    python -m benchmarks.scaling --picture PATH

An epoch consists of compute, mixing and straggling:

    T(W) = c·n/W  +  t₀ + a·(tasks) + b·(bytes on the longest way)  +  (slowest shard − mean shard)

with one shard per worker. c is the time per row; a is the cost of a task to the scheduler, which processes
one at a time; b is the time per byte on a worker's line; t₀ is the rest: messages that wait for one another.
Without stragglers this is a closed form (`Cluster.epoch`); with them `simulate` draws each shard's time from
a lognormal law and follows the tasks one by one.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.distributed.mixing import FAN_IN, groups

SLICE, SLICES = 1 << 23, 64  # as novikoff.dask slices the table
WORKERS = (1, 2, 4, 8, 16, 32, 64, 100, 128, 256, 512, 1000)


@dataclass(frozen=True)
class Work:
    """The size of a training task, and its workers, with one shard each unless `shards` is set."""

    rows: int
    table: int  # bytes of the shared weights (and sums)
    workers: int
    shards: int = 0
    changed: float = 1.0  # the fraction of the table that a shard returns

    @property
    def n_shards(self) -> int:
        return self.shards or self.workers

    @property
    def slices(self) -> int:
        return min(max(-(-self.table // SLICE), 1), SLICES)

    def levels(self) -> list[int]:
        """The number of sums on each level of the tree."""
        found = [len(groups(self.n_shards))]
        while found[-1] > 1:
            found.append(len(groups(found[-1])))
        return found

    def tasks(self) -> int:
        """Tasks of an epoch: training, counts by shard; pieces, sums, mixture, distribution by slice."""
        pieces = self.n_shards * self.slices if self.slices > 1 else 0
        return 2 * self.n_shards + pieces + self.slices * (sum(self.levels()) + 2)

    def spread(self) -> float:
        """Bytes on the longest way of the table to all workers.

        A worker that has a slice passes it on, so the holders double in every round, and slices travel in
        parallel. A table of one slice passes through the client, in and out.
        """
        by_client = 3 * self.table if self.slices == 1 else 0
        if self.workers == 1:
            return by_client
        return by_client + self.table * (1 + math.ceil(math.log2(self.workers)) / self.slices)

    def sums(self) -> float:
        """Bytes on the longest way up the tree: a sum receives `FAN_IN` changes; workers share them."""
        if self.workers == 1:
            return 0.0
        way, below = 0.0, self.n_shards
        for level in self.levels():
            fan_in = min(below, FAN_IN)
            turns = math.ceil(level * self.slices / self.workers)
            way += turns * fan_in * self.changed * self.table / self.slices
            below = level
        return way


@dataclass(frozen=True)
class Cluster:
    """The constants of the model, in seconds."""

    row: float
    task: float
    byte: float
    still: float = 0.0  # t₀
    sigma: float = 0.0  # of the logarithm of a shard's time

    def mixing(self, work: Work) -> float:
        return self.still + self.task * work.tasks() + self.byte * (work.spread() + work.sums())

    def compute(self, work: Work) -> float:
        return self.row * work.rows / work.workers

    def epoch(self, work: Work) -> float:
        """Seconds without stragglers."""
        return self.compute(work) + self.mixing(work)


def simulate(cluster: Cluster, work: Work, rng: np.random.Generator) -> float:
    """Seconds of one epoch, task by task.

    The scheduler sends out the training tasks, `task` seconds each; a worker begins when it has the table and
    its task, takes a lognormal time of mean rows·row/shards per shard, and reports. When all have reported,
    the trees follow.
    """
    n, s = work.n_shards, cluster.sigma
    each = cluster.row * work.rows / n * np.exp(s * rng.standard_normal(n) - s * s / 2)
    sent = cluster.byte * work.spread() + cluster.still + cluster.task * np.arange(1, n + 1)
    free = sent + each if n == work.workers else np.zeros(work.workers)
    for begin, takes in zip(sent, each, strict=True) if n != work.workers else ():
        k = int(np.argmin(free))  # the worker that is free first takes the next shard
        free[k] = max(free[k], begin) + takes
    rest = work.tasks() - n
    return float(free.max() + cluster.task * rest + cluster.byte * work.sums())


def mean_epoch(cluster: Cluster, work: Work, draws: int = 200, seed: int = 0) -> float:
    """The mean over simulated epochs."""
    rng = np.random.default_rng(seed)
    return float(np.mean([simulate(cluster, work, rng) for _ in range(draws)]))


def epochs_needed(shards: int, enough: float) -> float:
    """Epochs to the accuracy of one learner after one epoch: 1 while shards ≤ `enough`, then in proportion.

    A mixture moves by the mean of what the shards moved, so S shards of n/S rows bring it no further than n/S
    visits bring one learner. `enough` is the number of rows divided by the number that one learner needs.
    """
    return max(1.0, shards / enough)


def best(cluster: Cluster, work: Work, enough: float = math.inf, most: int = 4096) -> int:
    """The number of workers, one shard each, beyond which time to accuracy grows (without stragglers)."""

    def seconds(w: int) -> float:
        return epochs_needed(w, enough) * cluster.epoch(replace(work, workers=w, shards=0))

    return min(range(1, most + 1), key=seconds)


# ---- fitting -------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Measured:
    """A timed epoch."""

    work: Work
    seconds: float


def fit(measured: Sequence[Measured]) -> tuple[Cluster, npt.NDArray[np.float64]]:
    """Constants ≥ 0 that minimize the squares of relative errors, and these errors."""
    from scipy.optimize import nnls

    A = np.array(
        [[m.work.rows / m.work.workers, m.work.tasks(), m.work.spread() + m.work.sums(), 1] for m in measured]
    )
    seconds = np.array([m.seconds for m in measured])
    scale = (A / seconds[:, None]).max(axis=0)
    found = nnls(A / seconds[:, None] / scale, np.ones(len(measured)))[0] / scale
    row, task, byte, still = found.tolist()
    return Cluster(row, task, byte, still), A @ found / seconds - 1


# ---- measuring -----------------------------------------------------------------------------------------
def measure(epochs: int = 6) -> tuple[list[Measured], float]:
    """Epochs on one and two worker processes here; and the spread of the times of equal shards (σ)."""
    from benchmarks import cluster
    from benchmarks.distributed import dense_shard, fitted, spread

    found, sigmas = [], []
    for workers in (1, 2):
        with cluster.workers(workers) as client:
            for n, d, shards in (
                (64, 64, 2), (64, 64, 16), (64, 64, 64), (100_000, 100, 4), (100_000, 100, 8),
                (4, 1 << 17, 4), (4, 1 << 18, 4), (4, 1 << 19, 4), (4, 1 << 20, 4),
            ):  # fmt: skip
                X, y = spread(client, dense_shard, n, d, shards)
                history = fitted(client, X, y, max_epochs=epochs).history_[1:]
                seconds = min(record["seconds"] for record in history)
                rows = n * shards * d // 100  # rows of 100 numbers are the unit of work
                found.append(Measured(Work(rows, 8 * (d + 1), workers, shards), seconds))
                if n == 100_000:
                    sigmas += [np.std(np.log(record["shard_seconds"]), ddof=1) for record in history]
                print(f"{workers} worker(s), {shards} shards of {n:,} rows, {d:,} columns: {seconds:.4f} s")
    return found, float(np.median(sigmas))


def report(cluster: Cluster, work: Work, enough: Sequence[float]) -> str:
    """Seconds per epoch and speed-up by workers, with and without stragglers, and the best number of them."""
    one = cluster.epoch(replace(work, workers=1))
    lines = ["| workers | compute | mixing | straggling | epoch | speed-up |", "|---|---|---|---|---|---|"]
    for w in WORKERS:
        own = replace(work, workers=w)
        whole = mean_epoch(cluster, own)
        parts = cluster.compute(own), cluster.mixing(own), whole - cluster.epoch(own), whole
        lines.append(f"| {w:,} | " + " | ".join(f"{t:.3g} s" for t in parts) + f" | {one / whole:.1f} |")
    each = f"fastest epoch: {best(cluster, work):,} workers"
    to = [f"; to accuracy with S₀ = {s:g}: {best(cluster, work, s):,}" for s in enough]
    return "\n".join(lines) + f"\n{each}{''.join(to)}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description="See the module.")
    parser.add_argument("--fitted", type=float, nargs=5, metavar=("row", "task", "byte", "still", "sigma"))
    parser.add_argument("--picture", metavar="PATH")
    arguments = parser.parse_args()
    if arguments.fitted:
        here = Cluster(*arguments.fitted)
    else:
        measured, sigma = measure()
        here, errors = fit(measured)
        here = replace(here, sigma=sigma)
        print(f"{here}\nerrors of the fit: {', '.join(f'{e:+.0%}' for e in errors)}")
    for name, work in WORKS.items():
        print(f"\n{name}\n" + report(here, work, ENOUGH))
        line = replace(here, byte=1 / 1.25e9)
        print(f"\n{name}, a line of 10 Gbit/s to each worker\n" + report(line, work, ENOUGH))
    if arguments.picture:
        draw(here, arguments.picture)


WORKS = {
    "10⁸ rows of 100 numbers, 2^20 weights": Work(10**8, 8 * ((1 << 20) + 1), 1),
    "10⁹ rows of 100 numbers, 2^24 weights": Work(10**9, 8 * ((1 << 24) + 1), 1),
}
ENOUGH = (12, 100, 1000)


def draw(cluster: Cluster, path: str) -> Any:
    """Speed-up of an epoch, and of time to accuracy, by workers."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from novikoff.plots import style

    with mpl.rc_context({"font.size": 9}):
        figure = Figure(figsize=(8, 3.4), layout="constrained")
        axes = figure.subplots(1, 2, sharey=True)
        many = sorted({round(w) for w in np.geomspace(1, 1000, 40)})
        for k, (ax, (name, work)) in enumerate(zip(axes, WORKS.items(), strict=True)):
            one = cluster.epoch(work)
            times = np.array([mean_epoch(cluster, replace(work, workers=w), 50) for w in many])
            ax.plot(many, many, color=style.GREY, ls=":", label="as many as workers")
            ax.plot(many, one / times, color=style.BLUE, label="one epoch")
            for dash, enough in zip(("--", "-."), ENOUGH, strict=False):
                more = np.array([epochs_needed(w, enough) for w in many])
                ax.plot(many, one / (times * more), color=style.RED, ls=dash,
                        label=f"to accuracy, S₀ = {enough}")  # fmt: skip
            ax.set(xscale="log", yscale="log", xlabel="workers", title=name, ylim=(0.3, 1000))
            style.plain(ax)
            if not k:
                ax.set_ylabel("times faster than one worker")
                ax.legend(frameon=False, fontsize=8)
        figure.savefig(path, dpi=110)
    return figure


if __name__ == "__main__":
    main()
