"""OnlinePerceptron: the same weights as in bulk, growing classes, names, hashing."""

import copy
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff import _core
from novikoff.linear.online import OnlinePerceptron
from novikoff.parameters.linear import PHI, RULES, VARIANCE_RULES


def in_bulk(X, y, classes, rule, *, average=False, ties="positive", margin=0.0, C=1.0, fit_intercept=True):
    """One epoch of the bulk learner over the same rows: what predicts, and the learner. None: overflow."""
    X = np.ascontiguousarray(X, dtype=float)
    columns = 1 if classes == 2 else (classes + 3) // 4 * 4
    w, b = np.zeros((X.shape[1], columns)), np.zeros(columns)
    u, v = sums = (np.zeros_like(w), np.zeros_like(b))
    how = _core.Rule(rule, ties == "mistake", margin, C, float(fit_intercept), PHI)
    learner = _core.Learner(classes, w, b, how, sums if average else None)
    if rule in VARIANCE_RULES:
        learner.set_confidences((np.zeros_like(w), np.zeros_like(b)))
    examples = _core.Examples(_core.Rows(X), np.asarray(y, np.int32))
    problem, _ = _core.epoch(learner, examples, 0, len(X), True)
    if problem:
        return None
    used = 1 if classes == 2 else classes
    if average:
        n = float(len(X))
        return (n * w - u)[:, :used].T / n, ((n * b - v) / n)[:used], learner
    return w[:, :used].T, b[:used], learner


def as_dict(row):
    return {f"f{j}": value for j, value in enumerate(row)}


numbers = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-1e3, 1e3),
    st.sampled_from([0.1, 0.2, 0.3, -0.1, 1e-170, 1e150, -1e150, 5e-324, 0.0, -0.0]),
)


@st.composite
def problems(draw):
    classes = draw(st.integers(2, 6))
    d = draw(st.integers(1, 20))
    row = st.tuples(st.lists(numbers, min_size=d, max_size=d), st.integers(0, classes - 1))
    rows = draw(st.lists(row, min_size=1, max_size=25))
    return classes, [x for x, _ in rows], [y for _, y in rows]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("average", [False, True])
@settings(max_examples=60, deadline=None)
@given(
    problem=problems(),
    ties=st.sampled_from(["positive", "mistake"]),
    fit_intercept=st.booleans(),
    order=st.randoms(),
)
def test_same_weights_as_in_bulk(rule, average, problem, ties, fit_intercept, order):
    classes, X, y = problem
    options = {"average": average, "ties": ties, "margin": 0.5, "C": 0.7, "fit_intercept": fit_intercept}
    model = OnlinePerceptron(rule, classes=range(classes), **options)
    expected = in_bulk(X, y, classes, rule, **options)
    if expected is None:
        with pytest.raises(OverflowError):
            model.learn_many(zip(map(as_dict, X), y, strict=True))
        return
    coef, intercept, bulk = expected
    for x, label in zip(X, y, strict=True):
        items = list(as_dict(x).items())
        order.shuffle(items)
        model.learn_one(dict(items), label)
    columns = np.argsort([int(name[1:]) for name in model.feature_names_in_])
    assert np.array_equal(model.coef_[:, columns], coef)
    assert np.array_equal(model.intercept_, intercept)
    assert (model.n_visits_, model.n_updates_) == (len(X), bulk.updates)
    assert model.radius_ == pytest.approx(bulk.radius)
    if not average:
        assert model.n_mistakes_ == bulk.mistakes


@settings(max_examples=100, deadline=None)
@given(problem=problems(), average=st.booleans(), declare=st.booleans(), bits=st.sampled_from([None, 2, 10]))
def test_mistakes_are_what_predict_one_would_have_said(problem, average, declare, bits):
    classes, X, y = problem
    model = OnlinePerceptron(average=average, classes=range(classes) if declare else None, hash_bits=bits)
    for x, label in zip(X, y, strict=True):
        known, mistakes = model.classes_, model.n_mistakes_
        try:
            wrong = model.predict_one(as_dict(x)) != label
            model.learn_one(as_dict(x), label)
        except ValueError:  # values that collide may add up to infinity
            return
        if len(known) > 1 and label in known:
            assert model.n_mistakes_ == mistakes + wrong


@settings(max_examples=60, deadline=None)
@given(problem=problems(), average=st.booleans())
def test_predictions_are_exact(problem, average):
    from fractions import Fraction

    classes, X, y = problem
    model = OnlinePerceptron(average=average, classes=range(classes))
    model.learn_many(zip(map(as_dict, X), y, strict=True))
    names = model.feature_names_in_
    for x in X[:5]:
        row = as_dict(x)
        scores = [
            sum((Fraction(w) * Fraction(row[n]) for w, n in zip(line, names, strict=True)), Fraction(b))
            for line, b in zip(model.coef_, model.intercept_, strict=True)
        ]
        given_scores = model.score_one(row)
        if classes == 2:
            assert model.predict_one(row) == int(scores[0] >= 0)
            assert (given_scores > 0) - (given_scores < 0) == (scores[0] > 0) - (scores[0] < 0)
        else:
            assert model.predict_one(row) == scores.index(max(scores))
            assert list(given_scores) == list(range(classes))
            assert max(given_scores, key=given_scores.get) == model.predict_one(row)


def test_classes_come_as_they_appear():
    model = OnlinePerceptron()
    assert model.predict_one({"a": 1}) is None
    assert model.score_one({"a": 1}) == 0.0
    model.learn_one({"a": 1.0}, "x")
    assert model.predict_one({"b": 1}) == "x"
    assert (model.n_mistakes_, model.n_updates_, model.n_visits_) == (1, 1, 1)  # w = 0 predicts the second
    model.learn_one({"a": 1.0}, "x")
    assert model.n_mistakes_ == 1
    model.learn_one({"b": 1.0}, "y")
    assert (model.n_mistakes_, model.n_updates_, model.classes_) == (2, 2, ["x", "y"])
    model.learn_one({"a": 1.0}, "x")
    assert (model.coef_.tolist(), model.intercept_.tolist()) == ([[-1.0, 1.0]], [0.0])


@pytest.mark.parametrize("average", [False, True])
def test_third_class_turns_one_vector_into_three(average):
    model = OnlinePerceptron(classes=None, average=average)
    rng = np.random.default_rng(0)
    for x in rng.normal(size=(40, 5)):
        model.learn_one(as_dict(x), "pos" if x[0] > 0.3 else "neg")
    assert model.classes_ == ["neg", "pos"] or model.classes_ == ["pos", "neg"]
    before = model.__getstate__()["core"]
    score = model.score_one({"f1": 2.0, "f2": 1.0})
    model.learn_one({}, "other")
    after = model.__getstate__()["core"]
    assert after["weights"].shape == (5, 3)
    for name in ["weights"] + ["weight_sums"] * average:
        expected = np.hstack([0.0 - before[name], before[name], np.zeros((5, 1))])
        assert np.array_equal(after[name], expected)
    if not average:
        scores = model.score_one({"f1": 2.0, "f2": 1.0})
        shift = after["bias"][0, 1] - before["bias"][0, 0]
        assert scores[model.classes_[1]] == pytest.approx(score + shift)
    for k in range(3, 12):  # the rows are laid out anew at 5 and 9 classes
        weights = model._get_state()["weights"]
        model.learn_one({"f0": 0.0}, k)
        assert np.array_equal(model._get_state()["weights"][:, :k], weights)
        assert not model.coef_[k, :].any()
    assert model.predict_one({"f0": 0.0}) in model.classes_


@settings(max_examples=50, deadline=None)
@given(problem=problems(), rule=st.sampled_from(RULES))
def test_growing_classes_equal_declared_ones_once_all_are_known(problem, rule):
    classes, X, y = problem
    grown, twin = OnlinePerceptron(rule), OnlinePerceptron(rule, classes=range(classes))
    for c in range(classes):
        grown.learn_one({}, c)  # moves the intercepts alone
    twin._set_state(grown._get_state())
    for x, label in zip(X, y, strict=True):
        for model in (grown, twin):
            model.learn_one(as_dict(x), label)
    assert np.array_equal(grown.coef_, twin.coef_)


def test_string_values_are_features():
    one, other = OnlinePerceptron(classes=["x", "y"]), OnlinePerceptron(classes=["x", "y"])
    for label in "xyxxy":
        one.learn_one({"a": "b", "c": 2}, label)
        other.learn_one({"a=b": 1, "c": 2.0}, label)
    assert one.feature_names_in_.tolist() == other.feature_names_in_.tolist() == ["a=b", "c"]
    assert np.array_equal(one.coef_, other.coef_)
    assert one.score_one({"a": "b"}) == one.score_one({"a=b": 1}) == other.score_one({"a": np.str_("b")})
    assert one.score_one({"a": "unseen"}) == one.score_one({})
    # one feature by two ways in one example: the values add up
    one.learn_one({"a": "b", "a=b": 2}, "x")
    other.learn_one({"a=b": 3}, "x")
    assert np.array_equal(one.coef_, other.coef_)


def test_keys_go_by_their_str():
    model = OnlinePerceptron(classes=[0, 1])
    model.learn_one({7: 1, ("a", 1): 2, 1.5: 3, np.int64(8): 1, True: 1, None: 1, np.str_("s"): 1}, 0)
    assert model.feature_names_in_.tolist() == ["7", "('a', 1)", "1.5", "8", "True", "None", "s"]
    model.learn_one({7: 1, "7": 1, "8": 1}, 0)
    assert model.n_features_in_ == 7
    assert model.score_one({7: 1}) == model.score_one({"7": 1})
    with pytest.raises(TypeError, match="something that str"):
        model.learn_one({object(): 1}, 0)


def test_numbers_of_many_kinds():
    from decimal import Decimal
    from fractions import Fraction

    for value in (2, 2.0, np.float64(2), np.float32(2), np.int8(2), Fraction(2), Decimal(2), np.array(2.0)):
        model = OnlinePerceptron(classes=[0, 1], fit_intercept=False)
        model.learn_one({"a": value, "b": True, "c": np.bool_(True)}, 0)
        assert model.coef_.tolist() == [[-2.0, -1.0, -1.0]]


@settings(max_examples=60, deadline=None)
@given(problem=problems(), bits=st.integers(1, 6), average=st.booleans())
def test_hashing_equals_bulk_on_merged_columns(problem, bits, average):
    classes, X, y = problem
    X = np.round(np.clip(X, -50, 50))  # sums of collisions are exact in any order
    probe = OnlinePerceptron(classes=[0, 1], hash_bits=bits, seed=5, fit_intercept=False)
    columns = []
    for j in range(X.shape[1]):  # where does each feature go? one update shows it
        single = copy.deepcopy(probe)
        single.learn_one({f"f{j}": 1.0}, 0)
        columns.append(int(np.flatnonzero(single.coef_[0])[0]))
    merged = np.zeros((len(X), 2**bits))
    for j, column in enumerate(columns):
        merged[:, column] += X[:, j]
    coef, intercept, _ = in_bulk(merged, y, classes, "pa1", average=average)
    model = OnlinePerceptron("pa1", average=average, classes=range(classes), hash_bits=bits, seed=5)
    model.learn_many(zip(map(as_dict, X), y, strict=True))
    assert model.coef_.shape[1] == model.n_features_in_ == 2**bits
    assert np.array_equal(model.coef_, coef)
    assert np.array_equal(model.intercept_, intercept)
    assert model.feature_names_in_[0] == "hash_0"


def hash_bytes(data, seed):
    """The plain twin of the core's hash: what every process and machine must compute."""
    a, b, words = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 2**64

    def fold(v):
        return (v * b) % words ^ (v * b) // words

    h = fold(seed ^ a) ^ len(data)
    while len(data) > 8:
        h, data = fold(h ^ int.from_bytes(data[:8], "little") ^ a), data[8:]
    n = len(data)
    if 4 <= n < 8:
        data = data[:4] + data[-4:]
    elif 1 <= n < 4:
        data = bytes([data[0], data[n // 2], data[-1]])
    return fold(fold(h ^ int.from_bytes(data, "little") ^ a) ^ a)


@settings(max_examples=100, deadline=None)
@given(
    key=st.one_of(st.text(st.characters(exclude_categories=["Cs"])), st.integers()),
    value=st.one_of(st.just(1.0), st.text(st.characters(exclude_categories=["Cs"]))),
    seed=st.integers(0, 2**64 - 1),
)
def test_hash_is_the_twins(key, value, seed):
    model = OnlinePerceptron(classes=[0, 1], hash_bits=16, seed=seed, fit_intercept=False)
    model.learn_one({key: value}, 0)
    name = f"{key}={value}" if isinstance(value, str) else f"{key}"
    assert np.flatnonzero(model.coef_[0]).tolist() == [hash_bytes(name.encode(), seed) % 2**16]


def test_hashing_spreads():
    model = OnlinePerceptron(classes=[0, 1], hash_bits=12, fit_intercept=False)
    model.learn_one({f"feature_{j}": 1.0 for j in range(4096)}, 0)
    filled = np.count_nonzero(model.coef_)
    assert abs(filled / 4096 - (1 - math.exp(-1))) < 0.03  # balls into bins


# ---- freeze: needs Perceptron ------------------------------------------------------------------
def test_freeze_predicts_the_same():
    pd = pytest.importorskip("pandas")
    model = OnlinePerceptron(average=True)
    model.learn_many(({"a": k % 5 - 2.0, "w": f"v{k % 3}"}, "abc"[k % 3]) for k in range(100))
    frozen = model.freeze()
    assert list(frozen.classes_) == ["a", "b", "c"]
    assert list(frozen.feature_names_in_) == model.feature_names_in_.tolist()
    assert np.array_equal(frozen.coef_, model.coef_)
    for k in range(15):
        row = pd.DataFrame(
            [[k % 5 - 2.0, k % 3 == 0, k % 3 == 1, k % 3 == 2]], columns=frozen.feature_names_in_
        )
        assert frozen.predict(row)[0] == model.predict_one({"a": k % 5 - 2.0, "w": f"v{k % 3}"})


def test_freeze_with_hashing():
    model = OnlinePerceptron(hash_bits=4, classes=[0, 1])
    model.learn_many(({f"f{k % 9}": 1.0}, k % 2) for k in range(50))
    assert list(model.freeze().feature_names_in_) == [f"hash_{j}" for j in range(16)]


@pytest.mark.parametrize("average", [False, True])
def test_freeze_can_go_on(average):
    """The frozen model holds weights, sums and counts: partial_fit continues as learn_one would have."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), rng.integers(0, 3, 60)
    examples = [({"a": r[0], "b": r[1], "c": r[2]}, int(c)) for r, c in zip(X, y, strict=True)]
    model = OnlinePerceptron(average=average, classes=[0, 1, 2])
    model.learn_many(examples[:30])
    frozen = model.freeze()
    frozen.partial_fit(pd.DataFrame(X[30:], columns=["a", "b", "c"]), y[30:])
    model.learn_many(examples[30:])
    assert np.array_equal(frozen.coef_, model.coef_)
    assert (frozen.n_updates_, frozen.radius_ / np.sqrt(2)) == (
        model.n_updates_,
        pytest.approx(model.radius_),
    )


def test_freeze_needs_two_classes():
    model = OnlinePerceptron()
    model.learn_one({"a": 1}, "only")
    with pytest.raises(ValueError, match="two classes"):
        model.freeze()


def test_a_dict_changed_between_calls_is_read_again():
    """Predicting and learning one dict reads it once, but only while it is the same and all known."""
    model = OnlinePerceptron(classes=[0, 1])
    model.learn_many([({"a": 1.0}, 1), ({"b": 1.0}, 0)] * 3)
    x = {"a": 1.0}
    assert model.predict_one(x) == 1
    x["a"] = -5.0
    assert model.predict_one(x) == 0
    del x["a"]
    x["b"] = 2.0
    assert model.predict_one(x) == 0
    before = model.score_one({"c": 1.0, "b": 1.0})  # c is unknown here
    model.learn_one({"c": 4.0}, 0)
    y = {"c": 1.0}
    first = model.score_one(y)
    model.learn_one({"c": 1.0, "a": 1.0}, 1)
    assert model.score_one(y) == model.score_one({"c": 1.0})
    assert isinstance(before, float) and isinstance(first, float)
    z = {"new": 1.0}
    assert model.score_one(z) == model.score_one({})
    model.learn_one({"new": 9.0}, 0)
    assert model.score_one(z) == model.score_one({"new": 1.0})
    with pytest.raises(ValueError, match="finite"):
        model.learn_one({"newer": 1.0, "a": float("nan")}, 1)
    assert model.n_features_in_ == 4
    for _ in range(50):  # a new dict may lie where an old one did
        assert model.score_one({"a": 1.0}) == model.score_one({"a": 1})
        assert model.score_one({"b": 1.0}) == model.score_one({"b": 1})
