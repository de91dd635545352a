"""Figures that real data must give, where they are at hand: ../shared/data, or NOVIKOFF_DATA."""

import numpy as np
import pytest

from novikoff import Perceptron
from support.marks import may_not_separate
from support.places import load


@may_not_separate
def test_phishing_updates_do_not_depend_on_storage():
    """Every value is 0.18257, so scores nearly cancel: 1018/897/871 updates, from CSR and from dense."""
    X, y = load("phishing.txt.xz")
    assert X.shape == (11_055, 68)
    permuted = np.random.default_rng(0).permutation(68)
    padded = np.hstack([X.toarray(), np.zeros((len(y), 5))])
    for layout in (X, X.toarray(), X.toarray()[:, permuted], X[:, permuted], padded):
        model = Perceptron(order="cyclic", max_epochs=3).fit(layout, y)
        assert [r["updates"] for r in model.history_] == [1018, 897, 871]


def test_mushrooms_are_separable():
    X, y = load("mushrooms.txt.xz")
    model = Perceptron(random_state=0).fit(X, y)
    assert model.verdict_ == "separated" and model.score(X, y) == 1.0
    assert model.n_mistakes_ <= model.report().bound_upper


@pytest.mark.parametrize(("rule", "rate", "updates"), [("perceptron", 0.106, 15_060), ("pa", 0.102, 33_848)])
def test_ijcnn1_agrees_with_libol(rule, rate, updates):
    """The LIBOL manual's table 3: one pass over both files joined, mean over random orders, no bias."""
    (A, a), (B, b) = load("ijcnn1.trn.bz2"), load("ijcnn1.tst.bz2")
    X, y = np.vstack([A.toarray(), B.toarray()]), np.concatenate([a, b])
    assert X.shape == (141_691, 22)
    runs = []
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(len(y))
        model = Perceptron(rule, fit_intercept=False).partial_fit(X[order], y[order])
        runs.append((model.n_mistakes_ / len(y), model.n_updates_))
    mean = np.mean(runs, axis=0)
    assert mean[0] == pytest.approx(rate, abs=0.001)
    assert mean[1] == pytest.approx(updates, rel=0.01)
