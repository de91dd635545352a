"""Winnow: against the plain twin, its mistake bound, and numbers that would overflow."""

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Winnow, datasets, theory
from novikoff.linear.winnow import disjunction_bound
from novikoff.reference.linear import WinnowTwin
from support.strategies import cancelling, extreme, integers, plain
from support.strategies import datasets as rows


@given(
    data=rows(2, kinds=st.sampled_from([integers, cancelling, extreme, plain])),
    alpha=st.sampled_from([2.0, 4.0, 1.5, 1.01]),
    theta=st.sampled_from([None, 0.0, 1.0, 0.3]),
    kind=st.sampled_from(["plain", "balanced", "eliminate"]),
    sparse=st.booleans(),
)
def test_agrees_with_the_twin(data, alpha, theta, kind, sparse):
    """Exponents, counts and predictions, decided on rational numbers by the twin."""
    X, y = data
    X = X if kind == "balanced" else np.abs(X)
    model = Winnow(alpha, threshold=theta, max_epochs=4, order="cyclic")
    model.set_params(**({kind: True} if kind != "plain" else {}))
    model.fit(sp.csr_array(X) if sparse else X, y)
    twin = WinnowTwin(X.shape[1], alpha, model.threshold_, kind == "balanced", kind == "eliminate")
    for _ in range(model.n_epochs_):
        for x, label in zip(X, y, strict=True):
            twin.visit(x, label)
    expected = [
        -model.reach_ - 1 if out else e for e, out in zip(twin.exponents, twin.eliminated, strict=True)
    ]
    assert model.exponents_[0].tolist() == expected
    assert (model.n_promotions_, model.n_demotions_) == (twin.promotions, twin.demotions)
    exact = [twin.score(x) for x in X]
    assert model.predict(X).tolist() == [int(s >= 0) for s in exact]
    assert np.sign(model.decision_function(X)).tolist() == [(s > 0) - (s < 0) for s in exact]
    assert model.coef_[0].tolist() == [float(twin.weight(j)) for j in range(X.shape[1])]


@given(
    n=st.integers(2, 40),
    r=st.integers(1, 4),
    share=st.sampled_from([None, 0.05, 0.5, 0.9]),
    seed=st.integers(0, 1000),
)
def test_disjunction_bound(n, r, share, seed):
    """Winnow2, α = 2, θ = n: at most 2 + 3r(1 + log₂ n) mistakes on any sequence (after Littlestone 1988)."""
    r = min(r, n)
    X, y, *_ = datasets.disjunction(300, n, r, seed, share)
    model = Winnow(order="cyclic")
    for _ in range(3):
        model.partial_fit(X, y, classes=[-1, 1])
    assert model.n_mistakes_ <= disjunction_bound(n, r)
    assert model.n_promotions_ <= r * (1 + math.log2(n))
    assert model.n_demotions_ < 2 + 2 * model.n_promotions_


def test_threshold_is_met_exactly():
    """w·x = θ is the second class: three of 2⁰ reach 3, and 0.1 + 0.2 is not 0.3."""
    X, y = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]]), [1, 0]
    assert Winnow(order="cyclic").fit(X, y).n_mistakes_ == 0
    tenths = np.array([[0.1, 0.2], [0.0, 0.0]])
    assert (
        Winnow(threshold=0.3).partial_fit(tenths, [1, 0]).n_mistakes_ == 0
    )  # 0.1 + 0.2 > 0.3 as float64 are
    assert Winnow(threshold=0.3000000000000001).partial_fit(tenths, [1, 0]).n_mistakes_ == 1


@pytest.mark.parametrize("alpha", [2.0, 1.3, 1000.0])
def test_any_number_of_promotions(alpha):
    """Labels that contradict each other: exponents run to their end and stay, and nothing overflows."""
    low = Winnow(alpha, threshold=0.0, order="cyclic").fit(np.ones((2, 2)), [0, 1])  # demoted for ever
    high = Winnow(alpha, threshold=1e300, max_epochs=3000).fit(np.full((2, 2), 1e-300), [0, 1])
    assert high.exponents_.max() == high.reach_ and np.isfinite(high.coef_).all()
    for _ in range(2000):
        low.partial_fit(np.ones((2, 2)), [0, 0])
    assert low.exponents_.min() == -low.reach_
    assert low.coef_.min() > 0 and low.decision_function([[1.0, 0.0]])[0] > 0
    assert low.coef_.min() >= 2.0**-500 and high.coef_.max() <= 2.0**500 * (1 + 1e-9)


def test_promotion_and_demotion_undo_one_another():
    """With α = 1.1 two thousand steps leave no rounding behind: exponents are whole numbers."""
    X = np.ones((2, 1))
    model = Winnow(1.1, threshold=1.05, order="cyclic", max_epochs=1000).fit(X, [1, 0])
    assert model.n_promotions_ == model.n_demotions_ == 1000 and model.exponents_[0, 0] == 0


def test_winnow1_eliminates():
    """A feature that was 1 in a negative row is never looked at again; the disjunction's own stay."""
    X, y, *_ = datasets.disjunction(500, 30, 2, 0)
    model = Winnow(eliminate=True, order="cyclic").fit(X, y)
    assert model.converged_ and np.all(model.coef_[0, :2] > 0)
    assert set(np.flatnonzero(model.coef_[0] == 0)) <= set(range(2, 30))
    assert model.n_mistakes_ <= disjunction_bound(30, 2)


def test_balanced_learns_what_plain_cannot():
    """Majorities of signs with weights of either sign."""
    X, y, *_ = datasets.majority(500, 15, 3, 0)
    X[:, 1] *= -1  # now a feature that speaks against
    model = Winnow(balanced=True, threshold=0.0, random_state=0).fit(X, y)
    assert model.converged_ and model.score(X, y) == 1.0
    assert model.coef_[0, 1] < 0 < model.coef_[0, 0]


def test_storage_and_pieces_do_not_matter():
    X, y, *_ = datasets.disjunction(400, 60, 3, 1)
    whole = Winnow(order="cyclic", max_epochs=1).fit(X, y)
    for layout in (X.astype(np.float32), X.astype(np.uint8), sp.csr_array(X), sp.csc_array(X)):
        assert np.array_equal(
            Winnow(order="cyclic", max_epochs=1).fit(layout, y).exponents_, whole.exponents_
        )
    pieces = Winnow()
    for part in np.array_split(np.arange(400), 7):
        pieces.partial_fit(X[part], y[part], classes=[-1, 1])
        pieces = pickle.loads(pickle.dumps(pieces))
    assert np.array_equal(pieces.exponents_, whole.exponents_)
    assert pieces.n_mistakes_ == whole.n_mistakes_


def test_many_classes_are_one_against_the_rest():
    """Three classes, each shown by a feature of its own."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = np.hstack([np.eye(3)[y], rng.integers(0, 2, (300, 20))])
    model = Winnow(random_state=0).fit(X, y)
    assert model.exponents_.shape == (3, 23) and model.score(X, y) == 1.0
    for c in range(3):
        alone = Winnow(random_state=0).fit(X, y == c)
        assert np.array_equal(alone.exponents_[0], model.exponents_[c])


@pytest.mark.parametrize(
    ("parameters", "X", "message"),
    [
        ({}, [[-1.0], [1.0]], "Negative values in data"),
        ({}, [[np.inf], [1.0]], "infinity at row 0, column 0"),
        ({"alpha": 1.0}, [[0.0], [1.0]], "alpha=1.0 is not possible"),
        ({"threshold": np.nan}, [[0.0], [1.0]], "threshold=nan is not possible"),
        ({"balanced": True, "eliminate": True}, [[0.0], [1.0]], "plain weights"),
        ({"order": "worst"}, [[0.0], [1.0]], "order='worst' is not possible"),
    ],
)
def test_bad_input(parameters, X, message):
    with pytest.raises(ValueError, match=message):
        Winnow(**parameters).fit(X, [0, 1])


def test_a_model_does_not_change_its_kind():
    model = Winnow().partial_fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="cannot change alpha"):
        model.set_params(alpha=3.0).partial_fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="two classes"):
        Winnow().partial_fit([[0.0]], [0])
    assert theory.Winnow is Winnow
