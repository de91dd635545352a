"""The fewest errors of a line: against every dichotomy, decided by linear programs."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from novikoff import Pocket, datasets
from novikoff.theory import fewest_errors
from support.marks import may_not_separate

pytestmark = may_not_separate


def fewest(X, y, bias):
    """The fewest rows to be wrong, over all labellings that a linear program finds separable."""
    own = np.hstack([X, np.ones((len(X), 1))]) if bias else X
    best = len(y)
    for labels in product([-1, 1], repeat=len(y)):
        errors = int(np.count_nonzero(labels != y))
        if errors < best:
            A = -np.array(labels)[:, None] * own
            free = [(None, None)] * own.shape[1]
            if linprog(np.zeros(own.shape[1]), A_ub=A, b_ub=-np.ones(len(y)), bounds=free).status == 0:
                best = errors
    return best


@pytest.mark.parametrize(
    ("n", "d", "bias"), [(6, 1, True), (7, 2, True), (8, 2, False), (8, 2, True), (8, 3, False), (8, 3, True)]
)
@pytest.mark.parametrize("seed", range(3))
def test_against_every_labelling(n, d, bias, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), 2 * rng.integers(0, 2, n) - 1
    y[:2] = -1, 1
    found = fewest_errors(X, y, fit_intercept=bias)
    assert found.errors == fewest(X, y, bias) == len(found.wrong)
    scores = X @ found.coef + found.intercept
    assert np.flatnonzero(y * scores <= 0).tolist() == list(found.wrong)
    assert found.risk == found.errors / n


def test_xor_and_the_pocket():
    data = datasets.xor()
    assert fewest_errors(data.X, data.y).errors == 1 == Pocket(random_state=0).fit(data.X, data.y).n_errors_
    for seed in range(3):
        both = datasets.gaussians(40, 2, 1.0, random_state=seed)
        pocket = Pocket(random_state=0, max_epochs=100).fit(both.X, both.y)
        assert fewest_errors(both.X, both.y).errors <= pocket.n_errors_


def test_separable_rows_have_none():
    X = np.random.default_rng(0).normal(size=(30, 2))
    found = fewest_errors(X, X @ [2.0, -1.0] > 0.3)
    assert found.errors == 0 and found.wrong == ()


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[0.0, 0], [1, 1], [2, 2], [3, 3.0]], [0, 1, 0, 1], "general position"),
        ([[0.0, 0], [0, 0], [2, 2], [3, 1.0]], [0, 1, 0, 1], "general position"),
        ([[0.0, 0], [1, 1.0]], [0, 1], "always separable"),
        (np.random.default_rng(0).normal(size=(100, 6)), np.arange(100) % 2, "too many"),
        (np.eye(6), np.arange(6) % 3, "two classes"),
    ],
)
def test_what_cannot_be_enumerated_is_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        fewest_errors(X, y)
