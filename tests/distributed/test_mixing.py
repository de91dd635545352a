"""The mixture of shards against its definition: McDonald, Hall and Mann (2010), in numbers that are fixed."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from novikoff.distributed import mixing
from novikoff.distributed.linear_shard import LinearMethod, RowShard, generator_at, order_states
from novikoff.distributed.mixing import Change
from novikoff.reference.linear import Twin
from novikoff.reference.mixing import MixingTwin
from novikoff.training.weights import Settings


def random_shards(rng, n_shards, d, n_classes=2):
    """Shards of very different size, some of one class only, some empty."""
    out = []
    for _ in range(n_shards):
        n = int(rng.choice([0, 1, 3, 9]))
        labels = rng.integers(0, n_classes, n) if rng.random() < 0.7 else np.full(n, rng.integers(n_classes))
        X = np.where(rng.random((n, d)) < 0.6, rng.normal(size=(n, d)).round(2), 0.0)
        out.append((X, labels.astype(np.int32)))
    return out


def one_epoch(method, table, standing, shards, orders, how, slices=1):
    """What a cluster does, in this process: every shard from a copy, changes, the tree, slice by slice."""
    cuts = mixing.cuts(table.shape[1], slices)
    parts = [table[:, a:b] for a, b in pairwise(cuts)]
    outcomes, changed = [], []
    for (X, y), order in zip(shards, orders, strict=True):
        own = mixing.joined(parts, method.table())
        outcomes.append(method.learn(RowShard("shard", X, y), own, standing, order, 1))
        changed.append(mixing.changes(parts, own))
    mixed = mixing.tally(standing, outcomes, how)
    if mixed.changed:
        new = [
            mixing.mix(
                part,
                [mixing.taken(change, a, b) for change in changed],
                mixed.shares,
                mixed.visits,
                mixed.standing.visits,
            )
            for part, (a, b) in zip(parts, pairwise(cuts), strict=True)
        ]
        table = mixing.joined(new, method.table())
    return table, mixed, [outcome.order for outcome in outcomes]


@given(st.integers(0, 10_000), st.sampled_from(["uniform", "updates"]), st.sampled_from([1, 2, 5, 9, 11]))
def test_every_epoch_is_that_of_the_twin_shard_by_shard(seed, how, n_shards):
    rng = np.random.default_rng(seed)
    n_classes, d = int(rng.choice([2, 3])), 5
    shards = random_shards(rng, n_shards, d, n_classes)
    rule, average = str(rng.choice(["perceptron", "pa1"])), bool(rng.integers(2))
    method = LinearMethod(n_classes, d, Settings(rule=rule, average=average))
    table, standing = method.begin()
    twin = MixingTwin(Twin(n_classes, d, rule=rule), how)
    orders = order_states(np.random.default_rng(seed), n_shards)
    own = [generator_at(order) for order in orders]
    for _ in range(3):
        table, mixed, orders = one_epoch(method, table, standing, shards, orders, how, slices=1 + seed % 3)
        standing = mixed.standing
        twin.epoch(
            shards, [g.permutation(len(y)) if len(y) else [] for g, (_, y) in zip(own, shards, strict=True)]
        )
        assert mixed.mistakes == twin.mistakes[-1] and mixed.updates == twin.updates[-1]
        assert mixed.weights == twin.weights[-1]
        model = method.model(table, standing.parts)
        w, b = model.coef(averaged=False)
        assert np.array_equal(w, twin.shared.weights) and np.array_equal(b, twin.shared.bias)
        assert standing.parts[0]["step_sum"] == twin.shared.step_sum
        if average:
            w, b = model.coef(averaged=True)
            mean, bias = twin.shared.average()
            assert np.array_equal(w, mean) and np.array_equal(b, bias)


def test_the_average_is_the_mean_of_the_weights_after_every_visit_of_every_shard():
    """By definition: a list of all of them, added up as fractions. Integer rows, so only mixing rounds."""
    rng = np.random.default_rng(5)
    shards = [(rng.integers(-3, 4, (n, 3)).astype(float), rng.integers(0, 2, n)) for n in (4, 1, 6)]
    twin = MixingTwin(Twin(2, 3))
    total, visits = [Fraction(0)] * 3, 0
    for _ in range(4):
        for X, y in shards:
            alone = Twin(2, 3)
            alone.weights, alone.bias = twin.shared.weights.copy(), twin.shared.bias.copy()
            for i in range(len(X)):
                alone.visit(i, X[i], int(y[i]))
                total = [t + Fraction(float(w)) for t, w in zip(total, alone.weights[0], strict=True)]
                visits += 1
        twin.epoch(shards, [range(len(y)) for _, y in shards])
    expected = np.array([float(t / visits) for t in total])
    assert visits == twin.shared.visits
    assert np.allclose(twin.shared.average()[0][0], expected, rtol=1e-13, atol=1e-13)


@given(st.integers(0, 10_000))
def test_all_values_or_only_the_changed_ones_give_the_same_bits(seed):
    rng = np.random.default_rng(seed)
    n_shards, layers, rows, width = (
        int(rng.integers(1, 20)),
        int(rng.integers(1, 3)),
        12,
        int(rng.integers(1, 3)),
    )
    before = rng.normal(size=(layers, rows, width))
    ends = [before + rng.normal(size=before.shape) * (rng.random((rows, 1)) < 0.3) for _ in range(n_shards)]
    ns, visits = rng.integers(1, 5, n_shards).tolist(), rng.integers(1, 50, n_shards).tolist()
    sparse = []
    for end in ends:
        found = np.flatnonzero((end != before).any(axis=(0, 2)))
        sparse.append(Change(found, end[:, found]))
    dense = [Change(None, end) for end in ends]
    mixed_kinds = [d if rng.random() < 0.5 else s for d, s in zip(dense, sparse, strict=True)]
    results = [mixing.mix(before, pieces, ns, visits, 1000) for pieces in (dense, sparse, mixed_kinds)]
    assert all(np.array_equal(results[0], other) for other in results[1:])
    untouched = np.all([end == before for end in ends], axis=0)
    assert np.array_equal(results[0][untouched], before[untouched])
    exact = sum(n * end[0] for n, end in zip(ns, ends, strict=True)) / sum(ns)
    assert np.allclose(results[0][0], exact, rtol=1e-12, atol=1e-12)


def test_one_shard_gives_back_what_it_has():
    rng = np.random.default_rng(0)
    before, end = rng.normal(size=(2, 2, 50, 1)) * 10.0 ** rng.integers(-9, 9, (2, 2, 50, 1))
    assert np.array_equal(mixing.mix(before, [Change(None, end)], [1], [37], 37), end)


def test_few_changes_travel_as_few():
    method = LinearMethod(2, 100_000, Settings())
    table, _ = method.begin()
    after = table.copy()
    after[0, [5, 70_000], 0] = 1.0
    change = mixing.changes([table[:, :50_000], table[:, 50_000:]], after)
    assert change.rows.tolist() == [5, 70_000] and change.table.shape == (1, 2, 1)
    assert mixing.changes([table], table + 1.0).rows is None
    assert mixing.taken(change, 60_000, 80_000).rows.tolist() == [10_000]


def test_orders_depend_on_the_seed_and_the_place_only():
    few, many = (order_states(np.random.default_rng(3), n) for n in (2, 40))
    assert few == many[:2]
    assert len({repr(state) for state in many}) == 40
    legacy = np.random.Generator(np.random.RandomState(3)._bit_generator)
    first, second = order_states(legacy, 2)
    assert generator_at(first).permutation(5).tolist() == legacy.permutation(5).tolist()
    assert second["bit_generator"] == "PCG64"
