"""Tables whose zeros take no memory hold, and give, what dense ones do, bit for bit."""

import numpy as np
import pytest

from novikoff import Perceptron
from novikoff.data import zero_tables as zerotables
from novikoff.data.zero_tables import copied, side_by_side, spread, used_rows, zeros
from novikoff.training import state as training_state
from novikoff.training.weights import Model, Scorer, Settings, Weights, width
from support.marks import may_not_separate

pytestmark = may_not_separate

ODD = [0.1, -0.0, 1e-310, 5e-324, -1e200, 3.0, 1e154, -0.7]


def drawn(rng, n, k):
    """Rows of which few are not zero."""
    table = np.zeros((n, k))
    rows = np.sort(rng.choice(n, size=min(n, 9), replace=False))
    table[rows] = rng.choice(ODD, (len(rows), k))
    return table


@pytest.mark.parametrize("n", [1, 7, 8, 9, 100, 70_001])
@pytest.mark.parametrize("k", [1, 4])
def test_used_rows(n, k):
    """By their bits: a negative zero is none; however the columns lie."""
    table = drawn(np.random.default_rng([n, k]), n, k)
    expected = np.flatnonzero(table.view(np.int64).any(axis=1))
    assert used_rows(table).tolist() == expected.tolist()
    assert used_rows(*(column[:, None] for column in table.T)).tolist() == expected.tolist()
    assert used_rows(np.zeros((n, 1)), np.asfortranarray(table)).tolist() == expected.tolist()
    assert spread(table.shape, expected, table[expected]).tobytes() == table.tobytes()
    assert copied(table).tobytes() == table.tobytes()
    assert side_by_side(list(table.T), expected).tobytes() == table.T.tobytes()


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_norms_of_the_used_rows_are_those_of_all(classes):
    """The same sum in the same order, of which zeros are no part."""
    for seed in range(60):
        rng = np.random.default_rng([classes, seed])
        n = int(rng.integers(1, 60))
        table = np.zeros((n, width(classes)))
        table[:, : 1 if classes == 2 else classes] = drawn(rng, n, 1 if classes == 2 else classes)
        learners = [Weights(classes, n, Settings()) for _ in range(2)]
        for learner in learners:
            learner.weights[...], learner.bias[0] = table, rng.choice([0.0, 0.3])
            learner.bias[...] = learners[0].bias
        dense, sparse = (learner.native for learner in learners)
        assert dense.measure_norm() == sparse.measure_norm_of(used_rows(table))
        assert dense.filter == sparse.filter
    for wrong in ([1, 0], [0, 0], [-1], [n]):
        with pytest.raises(ValueError, match="must increase and be below"):
            sparse.measure_norm_of(np.array(wrong))


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_large_models_are_small_ones(monkeypatch, multiclass, average, n_classes):
    """With the size from which tables count as large lowered: weights, scores, copies, growth and files."""
    rng = np.random.default_rng(5)
    X = np.zeros((30, 400))
    X[:, rng.choice(400, 12, replace=False)] = rng.choice([0.1, -0.7, 3.0, 0.0], (30, 12))
    y = np.arange(30) % n_classes
    made = {}
    for size in (1 << 21, 64):
        monkeypatch.setattr(zerotables, "HUGE_PAGE", size)
        model = Perceptron(max_epochs=3, order="cyclic", average=average, multiclass=multiclass).fit(X, y)
        twin = model._model.copy()
        held = [model.coef_, model.decision_function(X), *twin.coef(averaged=average)]
        facts, arrays = training_state.model_state(twin)
        again = training_state.model_from_state(facts, arrays)
        held += [again.coef(averaged=average)[0], again.scorer(averaged=average).scores(X), again.norm()]
        held += [np.array(again.margin_upper()), *arrays.values()]
        again.grow(n_classes + 2)
        held += [again.coef(averaged=average)[0]]
        again.resize(500)
        held += [again.coef(averaged=average)[0], again.norm()]
        made[size] = [np.asarray(a) for a in held]
        assert (again.used() is None) == (size > 64)
    for one, other in zip(*made.values(), strict=True):
        assert one.shape == other.shape and one.tobytes() == other.tobytes()


def test_what_was_told_is_forgotten_with_the_next_update():
    model = Model(2, 5, Settings())
    (learner,) = model.learners
    learner.weights[3] = 2.0
    learner.tell_used(np.array([3]))
    assert learner.used().tolist() == [3] and learner.norm() == 2.0
    learner.weights[1] = 1.0
    learner.native.updates += 1
    assert learner.used() is None and learner.norm() == 5**0.5
    learner.tell_used(np.array([1, 3]))
    learner.reset_norm()
    assert learner.used() is None


def test_scorer_of_some_columns():
    coef = np.array([[0.0, 1.5, 0.0, -2.0]])
    X = np.array([[1.0, 1, 1, 1], [0, 2, 0, 1]])
    scorers = [Scorer.from_weights(coef, np.array([0.25]), used) for used in (None, np.array([1, 3]))]
    assert [s.scores(X).tolist() for s in scorers] == [[-0.25, 1.25]] * 2


def test_zeros_of_every_size():
    for shape in [(0, 3), (1, 1), (1 << 18, 1), (1 << 15, 12), ((1 << 18) + 3, 2)]:
        for used in (None, np.array([0]), np.zeros(0, dtype=np.int64)):
            table = zeros(shape, used=used)
            assert table.shape == shape and not table.any() and table.flags.c_contiguous
            assert table.dtype == np.float64 and zeros(shape, np.int32, used=used).dtype == np.int32
