"""`order="riffle"`: the order that its twin defines, for every learner, and what it does for sorted rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from novikoff import (
    KernelPerceptron,
    Perceptron,
    Pocket,
    SequenceTagger,
    StructuredPerceptron,
    VotedPerceptron,
    Winnow,
    _core,
)
from novikoff.reference.riffle import riffled
from novikoff.structured import Multiclass
from novikoff.theory import trace
from novikoff.training.riffle import CHUNK, RUNS, Riffle

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def expected(n, rng):
    """The order of the next epoch, by the plain twin."""
    draws = np.concatenate(
        [np.frombuffer(rng.bytes(min(CHUNK, n - k)), np.uint8) for k in range(0, n, CHUNK)]
    )
    return riffled(draws, RUNS, int(rng.integers(n)))


def rows(n=400, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X @ rng.standard_normal(d) + rng.standard_normal(n) > 0).astype(int)


# ---- the order -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [1, 2, 31, 1000, CHUNK, CHUNK + 1, 3 * CHUNK + 5])
def test_the_order_is_that_of_the_twin(n):
    ours, twins = np.random.default_rng(n), np.random.default_rng(n)
    for _ in range(2):
        order = Riffle(n, ours).order()
        np.testing.assert_array_equal(order, expected(n, twins))
        np.testing.assert_array_equal(np.sort(order), np.arange(n))
    assert ours.bit_generator.state == twins.bit_generator.state


def test_a_riffle_can_be_dealt_again():
    riffle = Riffle(2 * CHUNK + 3, np.random.default_rng(0))
    np.testing.assert_array_equal(riffle.order(), riffle.order())


def test_runs_keep_their_order_and_are_about_equal():
    n = 64_000
    riffle = Riffle(n, np.random.default_rng(0))
    order, runs = riffle.order(), np.concatenate(list(riffle.draws())) % RUNS
    assert np.ptp(riffle.sizes) < 0.2 * n / RUNS  # n / RUNS ± a few times its square root
    for k in range(RUNS):
        steps = (order[runs == k] - riffle.starts[k]) % n
        np.testing.assert_array_equal(steps, np.arange(riffle.sizes[k]))


def test_every_order_of_few_rows_has_its_chance():
    """Three rows and 32 runs: nearly every cut puts them into piles of their own."""
    rng = np.random.default_rng(0)
    seen = [tuple(Riffle(3, rng).order().tolist()) for _ in range(6000)]
    counts = np.array([seen.count(order) for order in sorted(set(seen))])
    assert len(counts) == 6
    assert np.abs(counts - 1000).max() < 150


def test_an_old_generator_will_do():
    old = np.random.RandomState(3)
    model = Perceptron(order="riffle", max_epochs=3, random_state=old).fit(*rows())
    again = Perceptron(order="riffle", max_epochs=3, random_state=np.random.RandomState(3)).fit(*rows())
    np.testing.assert_array_equal(model.coef_, again.coef_)


@pytest.mark.parametrize("piles", [0, 3, 512])
def test_piles_are_a_power_of_two(piles):
    with pytest.raises(ValueError, match="power of two, at most 256"):
        _core.count_draws(np.zeros(4, dtype=np.uint8), np.zeros(piles, dtype=np.int64))
    with pytest.raises(ValueError, match="power of two, at most 256"):
        _core.deal(np.zeros(4, dtype=np.uint8), np.zeros(piles, dtype=np.int64), 4)


# ---- learners ------------------------------------------------------------------------------------------
LEARNERS = {
    "linear": lambda order, seed: Perceptron(order=order, max_epochs=1, random_state=seed),
    "three classes": lambda order, seed: Perceptron(order=order, max_epochs=1, random_state=seed),
    "voted": lambda order, seed: VotedPerceptron(order=order, max_epochs=1, random_state=seed),
    "pocket": lambda order, seed: Pocket(order=order, max_epochs=1, random_state=seed),
    "winnow": lambda order, seed: Winnow(balanced=True, order=order, max_epochs=1, random_state=seed),
    "kernel": lambda order, seed: KernelPerceptron("rbf", order=order, max_epochs=1, random_state=seed),
    "budget": lambda order, seed: KernelPerceptron(
        "rbf", budget=9, gamma=1, order=order, max_epochs=1, random_state=seed
    ),
    "structured": lambda order, seed: StructuredPerceptron(
        Multiclass(), order=order, max_epochs=1, random_state=seed
    ),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_visit_the_rows_in_this_order(name):
    X, y = rows()
    y = np.argmax(X[:, :3], axis=1) if name == "three classes" else y
    order = expected(len(y), np.random.default_rng(5))
    one, other = LEARNERS[name]("riffle", 5).fit(X, y), LEARNERS[name]("cyclic", 5).fit(X[order], y[order])
    assert one.n_mistakes_ == other.n_mistakes_ > 0
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    if hasattr(other, "coef_"):
        np.testing.assert_array_equal(one.coef_, other.coef_)


def test_taggers_visit_the_sentences_in_this_order():
    rng = np.random.default_rng(1)
    X = [[[f"w{k}"] for k in rng.integers(0, 9, 4)] for _ in range(50)]
    Y = [[str(int(k)) for k in rng.integers(0, 3, 4)] for _ in range(50)]
    order = expected(50, np.random.default_rng(5))
    one = SequenceTagger(order="riffle", max_epochs=1, random_state=5).fit(X, Y)
    other = SequenceTagger(order="cyclic", max_epochs=1).fit([X[i] for i in order], [Y[i] for i in order])
    assert one.n_mistakes_ == other.n_mistakes_ > 0
    assert one.predict(X) == other.predict(X)


@pytest.mark.parametrize("sparse", [False, True])
def test_several_epochs_are_drawn_anew(sparse, monkeypatch):
    from novikoff.training import examples

    monkeypatch.setattr(examples, "CALL_BYTES", 1000)  # several native calls per epoch
    X, y = rows()
    rng = np.random.default_rng(7)
    twice = np.concatenate([expected(len(y), rng), expected(len(y), rng)])
    given = sp.csr_array(X) if sparse else X
    model = Perceptron(order="riffle", max_epochs=2, random_state=7, average=True).fit(given, y)
    other = Perceptron(order="cyclic", max_epochs=1, average=True).fit(X[twice], y[twice])
    assert model.n_mistakes_ == other.n_mistakes_
    np.testing.assert_array_equal(model.coef_, other.coef_)


def test_rows_without_weight_do_not_count():
    X, y = rows()
    weights = np.random.default_rng(2).integers(0, 2, len(y)).astype(float)
    kept = weights > 0
    one = Perceptron(order="riffle", max_epochs=3, random_state=1).fit(X, y, sample_weight=weights)
    other = Perceptron(order="riffle", max_epochs=3, random_state=1).fit(X[kept], y[kept])
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.n_mistakes_ == other.n_mistakes_


def test_held_out_rows_are_not_visited():
    from novikoff.training.examples import ArrayExamples
    from novikoff.training.plan import Plan

    X, y = rows()
    examples = ArrayExamples(X, y.astype(np.int32), None, Plan(order="riffle", early_stopping=True))
    visited = np.concatenate([batch.order[batch.begin : batch.end] for batch in examples.epoch()])
    np.testing.assert_array_equal(np.sort(np.concatenate([visited, examples.held])), np.arange(len(y)))


def test_a_memory_mapped_array_gives_the_same_bits(tmp_path):
    X, y = rows(5000)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    one, other = (Perceptron(order="riffle", max_epochs=3, random_state=1).fit(x, y) for x in (X, mapped))
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert "riffle of 32 runs" in str(other.report())


def test_theorems_apply_to_a_riffle():
    """Its order does not depend on the rows, and every row is visited once."""
    X, y = rows()
    model = Perceptron(order="riffle", max_epochs=1, random_state=0).fit(X, y)
    ledger = model._model.ledger
    assert ledger.first == ledger.last is not None
    assert ledger.first_mistakes == model.n_mistakes_
    assert "riffle of 32 runs" in str(model.report())


def test_a_trace_can_be_riffled():
    X, y = rows()
    found = trace(X, y, order="riffle", random_state=4, max_epochs=1)
    np.testing.assert_array_equal(found.order, expected(len(y), np.random.default_rng(4)))


# ---- what it is for ------------------------------------------------------------------------------------
def test_rows_sorted_by_class_are_learned_as_if_shuffled():
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((10, 20))
    y = np.repeat(np.arange(10), 300)
    X = centres[y] + 1.5 * rng.standard_normal((len(y), 20))
    new = rng.integers(0, 10, 4000)
    test = centres[new] + 1.5 * rng.standard_normal((len(new), 20))

    def accuracy(order):
        made = [Perceptron(order=order, average=True, max_epochs=3, random_state=k) for k in range(5)]
        return np.mean([model.fit(X, y).score(test, new) for model in made])

    shuffled, riffled_, stored = (accuracy(order) for order in ("shuffle", "riffle", "cyclic"))
    assert riffled_ > shuffled - 0.01
    assert stored < shuffled - 0.05


def test_a_pattern_as_long_as_a_run_survives():
    """Where a riffle falls short of a shuffle: all runs begin alike, so their first rows come together."""
    n = RUNS * 500
    kinds = np.arange(n) % (n // RUNS) < 50  # the first rows of each run, if runs began at row 0
    early = [kinds[Riffle(n, np.random.default_rng(k)).order()[: n // 10]].mean() for k in range(20)]
    shuffled = [kinds[np.random.default_rng(k).permutation(n)[: n // 10]].mean() for k in range(20)]
    assert np.ptp(early) > 0.5
    assert np.ptp(shuffled) < 0.1
