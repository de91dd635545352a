"""Pocket: against the plain twin, against brute force, and what the ratchet promises."""

import math
import warnings
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Perceptron, Pocket, theory
from novikoff.reference.linear import Twin, pocket
from novikoff.reference.riffle import riffled
from novikoff.training.riffle import RUNS
from support.places import load
from support.strategies import datasets, separable


def visits(order, n, epochs, seed):
    """The visits of a fit, drawn here as the estimator says that it draws them."""
    rng = np.random.default_rng(seed)
    draw = {
        "cyclic": lambda: np.arange(n),
        "shuffle": lambda: rng.permutation(n),
        "draw": lambda: rng.integers(0, n, n),
        "riffle": lambda: riffled(np.frombuffer(rng.bytes(n), np.uint8), RUNS, int(rng.integers(n))),
    }[order]
    return np.concatenate([draw() for _ in range(epochs)])


@given(
    data=st.integers(2, 3).flatmap(datasets),
    order=st.sampled_from(["cyclic", "shuffle", "riffle", "draw"]),
    ratchet=st.booleans(),
    ties=st.sampled_from(["positive", "mistake"]),
    weighted=st.booleans(),
    sparse=st.booleans(),
)
def test_agrees_with_the_twin(data, order, ratchet, ties, weighted, sparse):
    """Weights, run, looks and errors, bit for bit, over three epochs."""
    X, y = data
    c = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else None
    model = Pocket(ratchet, order=order, ties=ties, max_epochs=3, random_state=5, scale=None)
    model.fit(sp.csr_array(X) if sparse else X, y, sample_weight=c)
    twin = Twin(len(model.classes_), X.shape[1], ties=ties)
    made = visits(order, len(y), len(model.history_), 5)
    held = pocket(X, y, made, twin, ratchet=ratchet, weights=c)
    np.testing.assert_array_equal(model.coef_, held.weights)
    np.testing.assert_array_equal(model.intercept_, held.bias)
    assert (model.longest_run_, model.n_looks_) == (held.run, held.looks)
    assert (model.n_mistakes_, model.n_updates_) == (twin.mistakes, twin.updates)
    assert model.n_errors_ == np.count_nonzero(model.predict(X) != y)
    if ratchet:
        assert model.history_[-1]["errors"] == held.errors
        total = len(y) if c is None else c.sum()
        assert model.risk_ == pytest.approx(held.errors / total)


@given(data=datasets(2, max_rows=12), seed=st.integers(0, 5))
def test_ratchet_never_lets_errors_grow(data, seed):
    """Errors in the pocket fall strictly at every replacement, and start at those of w = 0."""
    X, y = data
    model = Pocket(max_epochs=30, random_state=seed).fit(X, y)
    errors = [np.count_nonzero(y == 0)] + [record["errors"] for record in model.history_]
    assert all(a >= b for a, b in pairwise(errors))
    assert model.n_errors_ == errors[-1] and model.n_replaced_ <= errors[0] - errors[-1]


def fewest_errors(X, y):
    """By brute force in the plane, with a bias: some best line passes within a hair of two of the points."""
    best = min(np.count_nonzero(y == 0), np.count_nonzero(y == 1))
    for i in range(len(X)):
        for j in range(i):
            normal = np.array([X[i, 1] - X[j, 1], X[j, 0] - X[i, 0]])
            side = (X - X[i]) @ normal
            along = (X - X[i]) @ (X[j] - X[i])
            for turn in (1, -1):  # a turn about a point on the line puts those on it left and right of a cut
                for cut in np.unique(along):
                    for tie in (along <= cut, along < cut, along > cut, along >= cut):
                        guess = np.where(side == 0, tie, turn * side > 0)
                        best = min(best, np.count_nonzero(guess != y))
    return best


@pytest.mark.parametrize("seed", range(10))
def test_finds_the_best_line_of_few_points(seed):
    """Gallant's theorem: with enough visits the pocket holds a threshold with the fewest errors."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-5, 6, (9, 2)).astype(float), rng.integers(0, 2, 9)
    y[:2] = 0, 1
    model = Pocket(max_epochs=5000, random_state=0).fit(X, y)
    assert model.n_errors_ == fewest_errors(X, y)


def test_separable_rows_end_the_fit():
    X, y, _ = separable(np.random.default_rng(0))
    model = Pocket(random_state=0, max_epochs=1000).fit(X, y)
    assert model.converged_ and model.n_errors_ == 0 and model.risk_ == 0.0
    assert model.verdict_ == "separated" and 0 < model.margin_ <= model.margin_upper_
    assert "Pocket" in model.report().in_full()


def test_weights_decide_which_errors_count():
    """A wrong row of weight 10 costs more than three of weight 1."""
    X, y = np.array([[1.0], [1.0], [1.0], [1.0]]), np.array([0, 0, 0, 1])
    assert Pocket(random_state=0).fit(X, y).predict([[1.0]]) == [0]
    heavy = Pocket(random_state=0).fit(X, y, sample_weight=[1, 1, 1, 10])
    assert heavy.predict([[1.0]]) == [1] and heavy.n_errors_ == 3 and heavy.risk_ == pytest.approx(3 / 13)


def test_unsorted_indices_and_bad_rows():
    X = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([1, 0, 0]), np.array([0, 2, 3])), shape=(2, 2))
    model = Pocket(random_state=0).fit(X, [0, 1])
    again = Pocket(random_state=0).fit(X.toarray(), [0, 1])
    np.testing.assert_array_equal(model.coef_, again.coef_)
    with pytest.raises(ValueError, match="NaN at row 1, column 0"):
        Pocket().fit([[1.0], [np.nan]], [0, 1])
    with pytest.raises(ValueError, match="order='worst' is not possible"):
        Pocket(order="worst").fit([[1.0], [2.0]], [0, 1])


def test_interrupt_keeps_the_pocket():
    X, y = np.random.default_rng(0).standard_normal((200, 3)), np.arange(200) % 2

    def stop(record):
        if record["epoch"] == 3:
            raise KeyboardInterrupt

    model = Pocket(random_state=0, callback=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert len(model.history_) == 3
    assert np.count_nonzero(model.predict(X) != y) == model.history_[-1]["errors"]


def test_verbose_and_exports(capsys):
    Pocket(random_state=0, max_epochs=2, verbose=1).fit([[0.0], [1.0], [0.0]], [0, 1, 1])
    assert "errors in the pocket" in capsys.readouterr().err
    assert theory.Pocket is Pocket


@pytest.mark.parametrize("name", ["a9a.xz", "ijcnn1.trn.bz2", "phishing.txt.xz"])
def test_real_data_beat_the_last_weights(name):
    """On data that no plane separates the pocket makes fewer training errors than the last weights."""
    X, y = load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        last = Perceptron(average=False, random_state=0, max_epochs=10).fit(X, y)
    model = Pocket(random_state=0, max_epochs=10).fit(X, y)
    assert model.n_errors_ == np.count_nonzero(model.predict(X) != y)
    assert model.n_errors_ < np.count_nonzero(last.predict(X) != y)


def test_the_radius_is_that_of_the_rows_with_their_weights():
    """The pocket looks at rows without their weights; the report said "between 16.68 and 17.83" of 13.5."""
    third = 1 / 3
    X, y = [[third, third], [-0.7, -0.7], [third, -0.7], [-0.7, 0.3]], [0, 1, 0, 1]
    weights = [1.0, 0.5, 1.0, 0.5]
    for ratchet in (False, True):
        model = Pocket(ratchet=ratchet, order="cyclic").fit(X, y, sample_weight=weights)
        largest = max(w * math.hypot(*x, 1.0) for x, w in zip(X, weights, strict=True))
        assert largest <= model.radius_ <= largest * (1 + 1e-12)
