"""The monotone-conjunction kernel against Python's integers, and against the expansion it stands for.

K(a, b) = 2^|a ∧ b| for rows of 0 and 1, which is the inner product of the 2ⁿ monotone conjunctions.
"""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from novikoff import KernelPerceptron, VotedPerceptron
from novikoff.kernel.conjunctions import MonotoneConjunction
from novikoff.kernel.expansions import MonotoneConjunctions
from novikoff.reference.dual import DualTwin

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# ---- the definition, in Python's integers ------------------------------------------------------------
def as_integers(X):
    return [int("".join(map(str, row)) or "0", 2) for row in np.asarray(X, dtype=int).tolist()]


def kernel(a, b, bias):
    return (1 << (a & b).bit_count()) + bias


def moved(scores, label, joint, ties):
    """How the scores of a row must move; None where it is right."""
    wrong = (lambda y, s: y * s <= 0) if ties == "mistake" else (lambda y, s: (1 if s >= 0 else -1) != y)
    if not joint:
        sides = [1 if (label == 1 if len(scores) == 1 else label == c) else -1 for c in range(len(scores))]
        move = [y if wrong(y, s) else 0 for y, s in zip(sides, scores, strict=True)]
        return move if any(move) else None
    others = [c for c in range(len(scores)) if ties == "positive" or c != label]
    best = max(others, key=lambda c: (scores[c], -c))
    if best == label or (ties == "mistake" and scores[label] > scores[best]):
        return None
    return [(c == label) - (c == best) for c in range(len(scores))]


class Twin:
    """The dual perceptron, by the definition."""

    def __init__(self, columns, joint=False, ties="positive", bias=0):
        self.columns, self.joint, self.ties, self.bias = columns, joint, ties, bias
        self.updates, self.visits = [], 0  # (row, bits, visit, move)

    def scores(self, x, updates=None):
        scores = [0] * self.columns
        for _, z, _, move in self.updates if updates is None else updates:
            k = kernel(x, z, self.bias)
            scores = [s + m * k for s, m in zip(scores, move, strict=True)]
        return scores

    def learn(self, rows, labels, order):
        for i in order:
            move = moved(self.scores(rows[i]), labels[i], self.joint, self.ties)
            if move:
                self.updates.append((i, rows[i], self.visits, move))
            self.visits += 1

    def averaged(self, x):
        weighted = [(i, z, v, [m * (self.visits - v) for m in move]) for i, z, v, move in self.updates]
        return [Fraction(s, self.visits) for s in self.scores(x, weighted)]

    def votes(self, x):
        times = [0, *(v for _, _, v, _ in self.updates), self.visits]
        scores, votes = [0] * self.columns, [0] * self.columns
        for k in range(len(self.updates) + 1):
            if k:
                _, z, _, move = self.updates[k - 1]
                scores = [s + m * kernel(x, z, self.bias) for s, m in zip(scores, move, strict=True)]
            count = times[k + 1] - times[k]
            if self.joint:
                votes[max(range(self.columns), key=lambda c: (scores[c], -c))] += count
            else:
                votes = [v + (count if s >= 0 else -count) for v, s in zip(votes, scores, strict=True)]
        return votes


def same_updates(model, twin):
    rows = model.support_[model.update_order_].tolist()
    moves = model.update_moves_.reshape(len(rows), twin.columns).tolist()
    made = list(zip(rows, model.update_visits_.tolist(), moves, strict=True))
    return made == [(i, v, move) for i, _, v, move in twin.updates] and model.n_visits_ == twin.visits


def nested(rng, n_rows, n):
    """Rows whose scores nearly cancel: few bits apart, with many ones."""
    base = rng.random(n) < 0.9
    return (base ^ (rng.random((n_rows, n)) < 2 / n)).astype(np.uint8)


def random_rows(rng, n_rows, n):
    return (rng.random((n_rows, n)) < rng.choice([0.1, 0.5, 0.95])).astype(np.uint8)


@pytest.mark.parametrize("n", [64, 1000, 5000])
@pytest.mark.parametrize("make", [nested, random_rows])
@pytest.mark.parametrize(
    ("joint", "ties", "bias"), [(False, "positive", 0), (False, "mistake", 1), (True, "positive", 1)]
)
def test_updates_by_the_definition(n, make, joint, ties, bias):
    """Every update of two epochs, and all three predictions, are those of Python's integers."""
    rng = np.random.default_rng(n + bias)
    X, test = make(rng, 60, n), make(rng, 20, n)
    test[:10] = X[:10]
    classes = 3 if joint or bias else 2
    y = rng.integers(0, classes, 60)
    model = KernelPerceptron(
        "monotone_conjunction",
        order="cyclic",
        max_epochs=2,
        fit_intercept=bool(bias),
        multiclass="joint" if joint else "ovr",
        ties=ties,
    ).fit(X, y)
    twin, rows = Twin(1 if classes == 2 else classes, joint, ties, bias), as_integers(X)
    twin.learn(rows, y.tolist(), [*range(60)] * 2)
    assert same_updates(model, twin)
    for way, exact in (("last", twin.scores), ("averaged", twin.averaged), ("voted", twin.votes)):
        model.predict_with = way
        found = model.decision_function(test).reshape(len(test), -1)
        predicted = model.predict(test).tolist()
        for x, scores, label in zip(as_integers(test), found.tolist(), predicted, strict=True):
            right = exact(x)
            if classes == 2:
                assert label == (right[0] >= 0)
            else:
                assert label == max(range(classes), key=lambda c: (right[c], -c))
            if not (joint and way == "voted"):
                assert [np.sign(s) for s in scores] == [(s > 0) - (s < 0) for s in right]
            if max(map(abs, right)) < 2**900 and way != "voted":
                assert scores == pytest.approx([float(s) for s in right], rel=1e-15)


@pytest.mark.parametrize("n", [64, 1000, 5000])
def test_cancellation_to_one(n):
    """2^n − 2^(n−1) − … − 2 − 1 = 1: floats cannot see it from n = 64 on, whole numbers can.

    Rows with the first n, n − 1, … ones are learned as the definition says, n + 1 rows of n exponents.
    """
    rows = np.tri(n + 1, n, -1, dtype=np.uint8)[:: max(n // 50, 1)][::-1].copy()
    y = np.arange(len(rows)) % 2
    model = KernelPerceptron("monotone_conjunction", order="cyclic", max_epochs=3).fit(rows, y)
    twin = Twin(1)
    twin.learn(as_integers(rows), y.tolist(), [*range(len(rows))] * len(model.history_))
    assert same_updates(model, twin)


@given(
    lengths=st.lists(st.integers(29, 67), min_size=2, max_size=30),
    seed=st.integers(0, 2**32),
    classes=st.integers(2, 3),
    joint=st.booleans(),
    ties=st.sampled_from(["positive", "mistake"]),
    bias=st.integers(0, 1),
)
def test_borders_of_digits(lengths, seed, classes, joint, ties, bias):
    """Rows with the first k ones, k about 32 and 64: high digits that cancel against lower ones."""
    X = (np.arange(70) < np.array(lengths)[:, None]).astype(np.uint8)
    y = np.random.default_rng(seed).integers(0, classes, len(X))
    y[:2] = 0, 1
    classes, joint = len(np.unique(y)), joint and y.max() > 1
    how = {"fit_intercept": bool(bias), "ties": ties, "multiclass": "joint" if joint else "ovr"}
    model = KernelPerceptron("monotone_conjunction", order="cyclic", max_epochs=6, **how).fit(X, y)
    twin, rows = Twin(1 if classes == 2 else classes, joint, ties, bias), as_integers(X)
    twin.learn(rows, y.tolist(), [*range(len(X))] * model.n_epochs_)
    assert same_updates(model, twin)
    votes = [twin.votes(x) for x in rows]
    winners = [v[0] >= 0 if len(v) == 1 else max(range(len(v)), key=lambda c, v=v: (v[c], -c)) for v in votes]
    assert model.predict(X).tolist() == winners


# ---- the expansion -----------------------------------------------------------------------------------
@st.composite
def problems(draw):
    n = draw(st.integers(1, 12))
    rows = draw(st.integers(2, 25))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = (rng.random((rows, n)) < draw(st.sampled_from([0.2, 0.5, 0.8]))).astype(np.uint8)
    y = rng.integers(0, draw(st.integers(2, 4)), rows)
    y[:2] = 0, 1
    return X, y


@given(
    data=problems(),
    order=st.sampled_from(["cyclic", "shuffle", "worst"]),
    ties=st.sampled_from(["positive", "mistake"]),
    bias=st.booleans(),
)
def test_the_updates_of_the_expansion(data, order, ties, bias):
    """`Perceptron`'s updates on all 2ⁿ conjunctions, in the same order; more classes are joint."""
    X, y = data
    how = {"order": order, "ties": ties, "fit_intercept": bias, "random_state": 5, "max_epochs": 4}
    model = KernelPerceptron("monotone_conjunction", multiclass="joint", **how).fit(X, y)
    plain = VotedPerceptron(**how).fit(MonotoneConjunctions().fit_transform(X), y)
    chunk = plain._sequence.whole
    assert np.array_equal(model.support_, chunk.support)
    assert np.array_equal(model.update_order_, chunk.used)
    assert np.array_equal(model.update_visits_, chunk.visit)
    if model.update_moves_.ndim == 1:
        assert np.array_equal(model.update_moves_, chunk.step)
    else:
        here = np.arange(len(chunk.used))
        assert (model.update_moves_[here, chunk.label] == 1).all()
        assert (model.update_moves_[here, chunk.rival] == -1).all()
    assert (model.verdict_, model.converged_) == (plain.verdict_, plain.converged_)
    assert model.radius_ == pytest.approx(plain.radius_, rel=1e-14)
    if plain.verdict_ == "separated" and (len(model.classes_) == 2 or not bias):  # else ties may be lifted
        assert model.margin_ == pytest.approx(plain.margin_, rel=1e-9)
    assert model.margin_upper_ == pytest.approx(plain.margin_upper_, rel=1e-9)


@given(data=problems(), order=st.sampled_from(["cyclic", "shuffle"]), bias=st.booleans())
def test_one_against_the_rest(data, order, bias):
    """Each class's updates are those of a perceptron of two classes: this one, and all others."""
    X, y = data
    how = {"order": order, "fit_intercept": bias, "random_state": 2, "max_epochs": 2}
    model = KernelPerceptron("monotone_conjunction", **how).fit(X, y)
    moves = model.update_moves_.reshape(len(model.update_order_), -1)
    for c in range(moves.shape[1]):
        own = y == (1 if moves.shape[1] == 1 else model.classes_[c])
        alone = KernelPerceptron("monotone_conjunction", **how).fit(X, own)
        used = np.flatnonzero(moves[:, c])
        rows = model.support_[model.update_order_[used]]
        # of two classes alone, training may end before that of all classes does
        count = len(alone.update_order_)
        assert np.array_equal(rows[:count], alone.support_[alone.update_order_])
        assert np.array_equal(moves[used, c], alone.update_moves_) or alone.converged_


@given(
    data=problems(), ties=st.sampled_from(["positive", "mistake"]), bias=st.booleans(), joint=st.booleans()
)
def test_the_most_violated_rows(data, ties, bias, joint):
    """order='worst', also one against the rest: the updates of the twin that is given the Gram matrix."""
    X, y = data
    _, y = np.unique(y, return_inverse=True)
    how = {"ties": ties, "fit_intercept": bias, "multiclass": "joint" if joint else "ovr", "max_epochs": 2}
    model = KernelPerceptron("monotone_conjunction", order="worst", **how).fit(X, y)
    gram = 2.0 ** (X.astype(int) @ X.astype(int).T) + bias
    twin = DualTwin(gram, y, len(model.classes_), joint and len(model.classes_) > 2, ties)
    for _ in range(model.n_epochs_):
        twin.worst_epoch()
    rows = model.support_[model.update_order_].tolist()
    moves = model.update_moves_.reshape(len(rows), -1).tolist()
    made = list(zip(rows, model.update_visits_.tolist(), map(tuple, moves), strict=True))
    assert made == twin.updates and model.n_visits_ == twin.visits


# ---- what is reported --------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [30, 1000, 5000])
@pytest.mark.parametrize("bias", [0, 1])
def test_figures(n, bias):
    """R, ‖w‖ and the margin in feature space, by rational numbers; log₂ R where R overflows."""
    rng = np.random.default_rng(1)
    X, y = random_rows(rng, 40, n), rng.integers(0, 2, 40)
    how = {"order": "cyclic", "max_epochs": 3, "fit_intercept": bool(bias), "predict_with": "last"}
    model = KernelPerceptron("monotone_conjunction", **how).fit(X, y)
    twin, rows = Twin(1, bias=bias), as_integers(X)
    twin.learn(rows, y.tolist(), [*range(40)] * model.n_epochs_)
    square = sum(move[0] * twin.scores(z)[0] for _, z, _, move in twin.updates)
    largest = max(kernel(x, x, bias) for x in rows)
    assert model.log2_radius_ == pytest.approx(math.log2(largest) / 2)
    assert model.radius_ == pytest.approx(2 ** (math.log2(largest) / 2) if largest < 2**2000 else math.inf)
    if square < 2**1000:
        assert model.history_[-1]["norm"] == pytest.approx(math.sqrt(square), rel=1e-12)
    else:
        assert model.history_[-1]["norm"] == math.inf
    smallest = min((1 if c else -1) * twin.scores(x)[0] for x, c in zip(rows, y.tolist(), strict=True))
    if smallest > 0 or not bias:  # else ties may have been lifted
        log2 = (math.log2(abs(smallest)) if smallest else -math.inf) - math.log2(square) / 2
        margin = 2**log2 if log2 < 1023 else math.inf
        assert model.margin_ == pytest.approx(margin if smallest >= 0 else -margin, rel=1e-9)
    assert (model.verdict_ == "separated") == (smallest > 0 or (bias == 1 and model.converged_))
    overflows = model.report().log2_radius
    assert overflows == (None if largest < 2**2000 else model.log2_radius_)


def test_any_storage_any_threads():
    """Bytes, floats, booleans, CSR, and any number of threads: one model."""
    rng = np.random.default_rng(3)
    X, y = random_rows(rng, 3000, 70), rng.integers(0, 3, 3000)
    first = KernelPerceptron("monotone_conjunction", max_epochs=1, order="cyclic", n_jobs=1).fit(X, y)
    for other in (X.astype(bool), X.astype(np.float32), X.astype(float), sp.csr_array(X.astype(float))):
        model = KernelPerceptron("monotone_conjunction", max_epochs=1, order="cyclic", n_jobs=2).fit(other, y)
        assert np.array_equal(model.update_order_, first.update_order_)
        assert np.array_equal(model.update_moves_, first.update_moves_)
        assert np.array_equal(model.decision_function(X[:50]), first.decision_function(other[:50]))


def test_partial_fit_goes_on():
    """Chunks in order are one cyclic epoch."""
    rng = np.random.default_rng(4)
    X, y = random_rows(rng, 90, 200), rng.integers(0, 3, 90)
    whole = KernelPerceptron("monotone_conjunction", max_epochs=1, order="cyclic").fit(X, y)
    parts = KernelPerceptron("monotone_conjunction")
    for begin in range(0, 90, 30):
        parts.partial_fit(X[begin : begin + 30], y[begin : begin + 30], classes=[0, 1, 2])
    assert np.array_equal(parts.support_, whole.support_)
    assert np.array_equal(parts.update_moves_, whole.update_moves_)
    assert np.array_equal(parts.predict(X), whole.predict(X))
    assert parts.margin_upper_ == pytest.approx(whole.margin_upper_, rel=1e-12)


# ---- bad input ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("value", [2.0, -1.0, 0.5, np.nan])
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_the_first_value_that_is_neither(value, store):
    X, y = np.eye(5), [0, 1, 0, 1, 0]
    X[2, 1] = X[3, 0] = value
    with pytest.raises(ValueError, match=r"X\[2, 1\] is|row 2") as found:
        KernelPerceptron("monotone_conjunction").fit(store(X), y)
    assert ("0 and 1" in str(found.value)) == (not np.isnan(value))
    model = KernelPerceptron("monotone_conjunction").fit(np.eye(5), y)
    with pytest.raises(ValueError, match=r"X\[2, 1\] is|row 2"):
        model.predict(store(X))


def test_values_as_floats():
    """Panels give 2^|a ∧ b| + 1 for those who ask, as far as float64 goes."""
    kernel = MonotoneConjunction(1.0)
    X = np.tri(4, 1030, -1, dtype=np.uint8)
    out = np.empty((2, 2))
    kernel.panels(X)(np.array([1, 3])).values(kernel.rows(X), 2, 4, out)
    assert out.tolist() == [[3.0, 5.0], [3.0, 9.0]]
    assert kernel.diagonal(X).tolist() == [2.0, 3.0, 5.0, 9.0]
    with pytest.raises(OverflowError, match="1,030 ones in common"):
        kernel.panels(np.ones((1, 1030)))(np.array([0])).values(np.ones((1, 1030)), 0, 1, out[:1, :1])


def test_no_warning_from_large_numbers():
    """Whatever overflows is infinite, or its logarithm is given: nothing is nan."""
    X = np.ones((4, 3000))
    X[1:, 0] = X[2:, 1] = X[3:, 2] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KernelPerceptron("monotone_conjunction", max_epochs=3).fit(X, [0, 1, 0, 1])
        text = model.report().in_full()
    assert "nan" not in text and "R = 2^1500" in text and model.log2_radius_ == 1500.0
    assert model.report().bound_lower == 0.0  # nothing is known
