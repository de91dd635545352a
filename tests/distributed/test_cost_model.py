"""The model of cost: its closed form against the simulation, its fit against what it was made from."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

scaling = pytest.importorskip("benchmarks.scaling")
Cluster, Measured, Work = scaling.Cluster, scaling.Measured, scaling.Work

HERE = Cluster(row=1e-7, task=1e-3, byte=1e-9, still=0.02)


@given(
    workers=st.integers(1, 300),
    rows=st.integers(0, 10**9),
    table=st.integers(8, 1 << 30),
    task=st.floats(0, 1e-2),
    byte=st.floats(0, 1e-8),
)
def test_without_stragglers_a_simulated_epoch_is_the_closed_form(workers, rows, table, task, byte):
    """T = c·n/W + t₀ + a·tasks + b·bytes: the last shard's task is sent last, and all take as long."""
    cluster = Cluster(1e-7, task, byte, 0.01)
    work = Work(rows, table, workers)
    simulated = scaling.simulate(cluster, work, np.random.default_rng(0))
    assert simulated == pytest.approx(cluster.epoch(work), rel=1e-9)


def test_stragglers_cost_what_the_largest_of_lognormal_times_does():
    """With nothing but compute, an epoch is the largest of W times of mean 1: drawn here on its own."""
    W, sigma = 100, 0.3
    cluster = Cluster(1.0, 0.0, 0.0, sigma=sigma)
    rng = np.random.default_rng(1)
    largest = np.exp(sigma * rng.standard_normal((4000, W)) - sigma**2 / 2).max(axis=1).mean()
    assert scaling.mean_epoch(cluster, Work(W, 8, W), draws=2000) == pytest.approx(largest, rel=0.02)
    assert largest > 1.8  # a hundred workers wait nearly as long again as they work


def test_tasks_are_counted_as_the_tree_has_them():
    """20 shards, one slice: 20 to learn, 20 counts; 3 sums of up to 8, one of these; mixture, hand-out."""
    assert Work(1, 8, 20).tasks() == 20 + 20 + 3 + 1 + 2
    two = Work(1, 2 * scaling.SLICE, 20)  # two slices: as many trees, and each change is cut in two
    assert two.slices == 2 and two.tasks() == 20 + 20 + 40 + 2 * (3 + 1 + 2)


def test_one_worker_moves_nothing_to_others():
    big = Work(1000, 8 << 26, 1)
    assert big.sums() == big.spread() == 0


def test_the_fit_finds_the_constants_again():
    works = [
        Work(rows, table, workers, shards)
        for rows in (100, 10**6, 10**7)
        for table in (800, 1 << 20, 1 << 25)
        for workers, shards in ((1, 2), (2, 8), (2, 64))
    ]
    found, errors = scaling.fit([Measured(work, HERE.epoch(work)) for work in works])
    assert np.abs(errors).max() < 1e-9
    for name in ("row", "task", "byte", "still"):
        assert getattr(found, name) == pytest.approx(getattr(HERE, name), rel=1e-6)


def test_where_adding_workers_stops_paying():
    """With c·n/W + 2a·W + … and a small table, the best W is near √(c·n/2a): no neighbour is faster."""
    work = Work(10**8, 800, 1)
    best = scaling.best(HERE, work)
    assert best == pytest.approx(math.sqrt(HERE.row * work.rows / (2 * HERE.task)), rel=0.15)
    near = [HERE.epoch(replace(work, workers=w)) for w in (best - 1, best, best + 1)]
    assert near[1] == min(near)
    # where S shards need S/S₀ epochs, more workers than S₀ only add to the mixing
    assert scaling.best(HERE, work, enough=12) == 12
