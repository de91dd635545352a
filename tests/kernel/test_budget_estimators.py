"""Budgets as they are used: KernelPerceptron(budget=B), and OnlineKernelPerceptron."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from novikoff import KernelPerceptron, OnlineKernelPerceptron
from novikoff.reference.budget import POLICIES
from support.marks import may_not_separate
from support.places import load
from support.strategies import datasets, integers

pytestmark = may_not_separate


def rings(n=300, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, np.where((np.linalg.norm(X, axis=1) > 1.2) ^ (rng.random(n) < noise), "out", "in")


# ---- KernelPerceptron --------------------------------------------------------------------------------
@parametrize_with_checks([KernelPerceptron(budget=25, random_state=0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("policy", POLICIES)
def test_fit_within_the_budget(policy):
    X, y = rings()
    model = KernelPerceptron(budget=20, budget_policy=policy, random_state=0, max_epochs=3).fit(X, y)
    again = KernelPerceptron(budget=20, budget_policy=policy, random_state=0, max_epochs=3).fit(X, y)
    assert model.support_vectors_.shape == (20, 2) and model.dual_coef_.shape == (1, 20)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    np.testing.assert_array_equal(model.dual_coef_, again.dual_coef_)
    assert model.n_updates_ >= model.n_mistakes_ > 20 and len(model.history_) == 3
    assert sum(r["mistakes"] for r in model.history_) == model.n_mistakes_
    assert not policy.startswith("projectron") or model.score(X, y) > 0.8
    assert "KernelPerceptron" in model.report().in_full()
    assert model.radius_ == 1.0 and model.verdict_ == "undecided"
    assert not hasattr(model, "update_order_") and not hasattr(model, "update_visits_")


@pytest.mark.parametrize("policy", POLICIES)
def test_what_predicts(policy):
    """By default the average where there is one, else the last; what is not there is an error."""
    X, y = rings()
    model = KernelPerceptron(budget=20, budget_policy=policy, random_state=0).fit(X, y)
    assert model.predict_with is None
    default = model.predict(X)
    last = model.set_params(predict_with="last").predict(X)
    model.set_params(predict_with="averaged")
    if policy.startswith("projectron"):
        np.testing.assert_array_equal(default, model.predict(X))
        assert (default != last).any()
    else:
        np.testing.assert_array_equal(default, last)
        for use in (lambda: model.predict(X), lambda: model.fit(X, y), lambda: model.partial_fit(X, y)):
            with pytest.raises(ValueError, match=f"'averaged' is not possible with budget_policy='{policy}'"):
                use()
    model.set_params(predict_with="voted")
    for use in (lambda: model.predict(X), lambda: model.fit(X, y), lambda: model.partial_fit(X, y)):
        with pytest.raises(ValueError, match="'voted' is not possible with a budget"):
            use()


def test_average_is_the_mean_of_the_scores_after_each_visit():
    X, y = rings(120)
    model = KernelPerceptron(gamma=1.0, budget=10, predict_with="last", random_state=0)
    total = np.zeros(len(X))
    for i in range(len(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=["in", "out"])
        total += model.decision_function(X)
    model.set_params(predict_with="averaged")
    np.testing.assert_allclose(model.decision_function(X), total / len(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("policy", POLICIES)
def test_chunks_do_not_matter(policy):
    X, y = rings(200)
    whole, parts = (
        KernelPerceptron(gamma=1.0, budget=15, budget_policy=policy, random_state=3) for _ in range(2)
    )
    whole.partial_fit(X, y)
    for a, b in ((0, 1), (1, 50), (50, 51), (51, 200)):
        parts.partial_fit(X[a:b], y[a:b], classes=["in", "out"])
        parts = pickle.loads(pickle.dumps(parts))
    np.testing.assert_array_equal(whole.dual_coef_, parts.dual_coef_)
    np.testing.assert_array_equal(whole.support_, parts.support_)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian", "chi2", "cosine"])
def test_every_kernel_dense_and_sparse(kernel):
    rng = np.random.default_rng(1)
    X = rng.random((150, 40)) * (rng.random((150, 40)) < 0.1)
    y = rng.integers(0, 3, 150)
    for multiclass in ("ovr", "joint"):
        models = [
            KernelPerceptron(kernel, gamma=0.5, budget=12, multiclass=multiclass, order="cyclic").fit(rows, y)
            for rows in (X, sp.csr_array(X), sp.csr_array(np.hstack([X, np.zeros((150, 200))])))
        ]
        for model in models:
            np.testing.assert_array_equal(models[0].dual_coef_, model.dual_coef_)
        assert models[0].dual_coef_.shape == (3, 12)


def test_a_large_budget_is_none():
    X, y = rings()
    free = KernelPerceptron(random_state=0, predict_with="last").fit(X, y)
    for policy in POLICIES:
        model = KernelPerceptron(budget=301, budget_policy=policy, random_state=0, predict_with="last").fit(
            X, y
        )
        assert [r["updates"] for r in model.history_] == [r["updates"] for r in free.history_]
        order = np.argsort(model.support_), np.argsort(free.support_)
        np.testing.assert_array_equal(model.dual_coef_[:, order[0]], free.dual_coef_[:, order[1]])
        np.testing.assert_allclose(model.decision_function(X), free.decision_function(X))


def test_separable_is_said():
    X, y = rings(60, noise=0.0)
    model = KernelPerceptron(gamma=2.0, budget=60, random_state=0, max_epochs=200).fit(X, y)
    assert model.verdict_ == "separated" and model.converged_ and model.margin_ > 0


def test_matrices_and_functions_and_strings():
    X, y = rings(80)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    model = KernelPerceptron("precomputed", budget=10, order="cyclic").fit(K, y)
    named = KernelPerceptron("rbf", gamma=1.0, budget=10, order="cyclic").fit(X, y)
    np.testing.assert_array_equal(model.support_, named.support_)
    np.testing.assert_allclose(model.dual_coef_, named.dual_coef_, rtol=1e-6)

    def shared(a, b):
        return np.array([[float(len(set(p) & set(q))) for q in b] for p in a])

    words, kinds = ["dog", "god", "cat", "act", "fig"] * 3, ["d", "d", "c", "c", "f"] * 3
    model = KernelPerceptron(shared, budget=3, max_epochs=5, order="cyclic").fit(words, kinds)
    assert model.predict(["dogs", "cats"]).tolist() == ["d", "c"]


def test_interrupt_leaves_a_model():
    def stop(record):
        raise KeyboardInterrupt

    X, y = rings()
    model = KernelPerceptron(budget=20, random_state=0, callback=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.n_visits_ == 300 and model.n_mistakes_ > 20 and model.score(X, y) > 0.8


def test_wrong_parameters():
    X, y = rings(50)
    for parameters, message in [
        ({"budget": 0}, "budget=0 is not possible: expected None or a whole number ≥ 1"),
        ({"budget": 2.5}, "budget=2.5 is not possible"),
        ({"budget": 5, "budget_policy": "newest"}, "budget_policy='newest' is not possible: expected one of"),
        ({"budget": 5, "order": "worst"}, "order='worst' is not possible with a budget"),
    ]:
        with pytest.raises(ValueError, match=message):
            KernelPerceptron(**parameters).fit(X, y)
    model = KernelPerceptron(budget=5).partial_fit(X, y)
    for parameters in ({"budget": 6}, {"budget": None}, {"budget_policy": "oldest"}):
        with pytest.raises(ValueError, match="budget of a model"):
            copy.deepcopy(model).set_params(**parameters).partial_fit(X, y)
    with pytest.raises(ValueError, match="budget of a model"):
        KernelPerceptron().partial_fit(X, y).set_params(budget=5).partial_fit(X, y)


# ---- OnlineKernelPerceptron --------------------------------------------------------------------------
@given(datasets(3, st.just(integers), max_rows=12), st.sampled_from(POLICIES), st.sampled_from([None, 1, 4]))
def test_one_by_one_is_in_bulk(data, policy, budget):
    """Dicts, arrays and rows of a matrix give the same supports and coefficients."""
    X, labels = data
    options = {"budget": budget, "budget_policy": policy, "random_state": 0, "gamma": 0.3}
    bulk = KernelPerceptron("rbf", **options, predict_with="last")
    if budget is not None:
        bulk.partial_fit(X, labels)
    arrays = OnlineKernelPerceptron("rbf", **options, classes=[0, 1, 2])
    dicts = OnlineKernelPerceptron("rbf", **options, classes=[0, 1, 2])
    for x, y in zip(X, labels.tolist(), strict=True):
        arrays.learn_one(x, y)
        dicts.learn_one({f"f{j}": v for j, v in enumerate(x.tolist())}, y)
        arrays, dicts = (pickle.loads(pickle.dumps(m)) for m in (arrays, dicts))
    np.testing.assert_array_equal(arrays.support_, dicts.support_)
    np.testing.assert_array_equal(arrays.dual_coef_, dicts.dual_coef_)
    assert arrays.n_mistakes_ == dicts.n_mistakes_
    if budget is not None:
        np.testing.assert_array_equal(bulk.dual_coef_, arrays.dual_coef_)
        np.testing.assert_array_equal(bulk.support_, arrays.support_)
        said = [arrays.predict_one(x) for x in X]
        np.testing.assert_array_equal(bulk.predict(X), said)
        scores = [list(dicts.score_one({f"f{j}": v for j, v in enumerate(x)}).values()) for x in X]
        np.testing.assert_array_equal(bulk.decision_function(X), scores)


def test_names_numbers_words_and_bools():
    """Features as OnlinePerceptron has them: 7 and "7" are one, a str is a feature of its own, True is 1."""
    model = OnlineKernelPerceptron("linear", fit_intercept=True, classes=["a", "b"])
    model.learn_one({7: 2, "word": "x", "on": True}, "a")
    model.learn_one({"7": 0.5, "word": "y"}, "b")
    assert model.feature_names_in_.tolist() == ["7", "word=x", "on", "word=y"]
    # K = 1 + x·z; both were mistakes: the first support has α = −1, the second +1
    first = -(1 + 2 * 3 + 1 + 1)
    second = 1 + 0.5 * 3
    assert model.score_one({7: 3, "word": "x", "on": 1, "unknown": 5}) == first + second
    assert model.n_features_in_ == 4 and model.n_supports_ == 2


def test_classes_grow():
    model = OnlineKernelPerceptron("linear", budget=5)
    assert model.predict_one({"a": 1}) is None and model.score_one({"a": 1}) == 0.0
    model.learn_one({"a": 1}, "x")
    assert model.predict_one({"q": 1}) == "x" and model.n_mistakes_ == 1
    model.learn_one({"b": 1}, "y")
    model.learn_one({"a": 1}, "x")
    assert model.score_one({"a": 1}) == -1.0 and model.predict_one({"a": 1}) == "x"
    model.learn_one({"c": 1}, "z")
    assert model.dual_coef_.shape == (3, 2) and model.classes_ == ["x", "y", "z"]
    assert list(model.score_one({"a": 1}).items()) == [("x", 1.0), ("y", -1.0), ("z", 0.0)]
    assert model.n_visits_ == 4


def test_hashed_names_are_bounded():
    model = OnlineKernelPerceptron("rbf", budget=8, hash_bits=6, budget_policy="oldest")
    sizes = []
    for i in range(600):
        model.learn_one({f"name{i}": 1.0, f"other{i}": "word"}, i % 2)
        sizes.append(model.memory_)
    assert model.n_features_in_ == 64 and model.n_supports_ == 8 and len(set(sizes[300:])) == 1


def test_strings_through_a_function():
    def common(a, b):
        return np.array([[float(len(set(p) & set(q))) for q in b] for p in a])

    model = OnlineKernelPerceptron(common, budget=4, predict_with="averaged")
    model.learn_many([("dog", 1), ("cat", 2), ("god", 1), ("act", 2)] * 3)
    assert [model.predict_one(w) for w in ("good", "tact")] == [1, 2]
    assert pickle.loads(pickle.dumps(model.get_params()["budget"])) == 4


def test_refused_examples_leave_no_trace():
    def snapshot(model):
        return (
            model.n_visits_, model.n_mistakes_, model.classes_, model.n_features_in_,
            model.feature_names_in_.tolist(), model.dual_coef_.tolist(), model.support_.tolist(),
        )  # fmt: skip

    model = OnlineKernelPerceptron("poly", budget=3, gamma=1.0)
    model.learn_many([({"a": 1.0, "b": 2.0}, 0), ({"a": 2.0, "b": 1.0}, 1), ({"b": 3.0}, 0)])
    before = snapshot(model)
    for x, y, error, message in [
        ({"new": float("nan")}, 0, ValueError, "NaN"),
        ({"new": None}, 0, TypeError, "a value is a number or a str"),
        ({"new": 1e200}, 2, OverflowError, "length is 1e\\+200"),
        ({"new": 1.0}, None, TypeError, "None is not a label"),
        ({"new": 1.0}, [1], TypeError, "hashable"),
        ({"new": 1.0}, float("nan"), ValueError, "must equal itself"),
        ([1.0, 2.0], 0, TypeError, "so far were dicts"),
        ("text", 0, TypeError, "so far were dicts"),
    ]:
        with pytest.raises(error, match=message):
            model.learn_one(x, y)
        assert snapshot(model) == before
    model.learn_one({"a": 1.0, "new": 1.0}, 0)
    with pytest.raises(TypeError, match="example 1: feature 'a'"):
        model.learn_many([{"a": 1.0}, {"a": None}], [0, 1])
    assert model.n_visits_ == before[0] + 2
    model = OnlineKernelPerceptron(classes=[0, 1])
    model.learn_one([1.0, 2.0], 0)
    for x, y, error, message in [
        ([1.0], 0, ValueError, "x has 1 values, but the examples so far had 2"),
        ([1.0, np.inf], 0, ValueError, "infinity"),
        ({"a": 1.0}, 0, TypeError, "were arrays"),
        ("text", 0, TypeError, "got str"),
        ([1.0, 2.0], 7, ValueError, "not among the declared classes"),
    ]:
        with pytest.raises(error, match=message):
            model.learn_one(x, y)
        assert model.n_visits_ == 1


def test_a_function_that_fails_leaves_no_trace():
    def fragile(a, b):
        values = np.array([[float(p == q) for q in b] for p in a])
        return values * np.nan if "bad" in a else values

    model = OnlineKernelPerceptron(fragile, budget=3)
    model.learn_many([("p", 0), ("q", 1), ("p", 0)])
    before = model.classes_, model.dual_coef_.tolist(), model.n_visits_, model.n_mistakes_
    with pytest.raises(ValueError, match="NaN"):
        model.learn_one("bad", 2)
    assert (model.classes_, model.dual_coef_.tolist(), model.n_visits_, model.n_mistakes_) == before


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"budget": 0}, "budget=0"),
        ({"budget": True}, "budget=True"),
        ({"budget_policy": "none"}, "budget_policy='none'"),
        ({"gamma": "scale"}, "gamma='scale' needs all rows at once"),
        ({"predict_with": "voted"}, "'voted' is not possible online"),
        ({"predict_with": None}, "None is not possible online"),
        ({"predict_with": "averaged", "budget": 3, "budget_policy": "oldest"}, "removes supports"),
        ({"kernel": "precomputed"}, "'precomputed' is not possible online"),
        ({"classes": [1, 1]}, "1 is given twice"),
        ({"ties": "negative"}, "ties='negative'"),
    ],
)
def test_wrong_parameters_online(parameters, message):
    with pytest.raises(ValueError, match=message):
        OnlineKernelPerceptron(**parameters)


def test_it_says_what_it_is():
    model = OnlineKernelPerceptron("poly", budget=10, gamma=0.5)
    assert repr(model) == "OnlineKernelPerceptron(kernel='poly', gamma=0.5, budget=10)"


# ---- real data ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "gamma", "near"), [("ijcnn1.trn.bz2", 2.0, 0.02), ("a9a.xz", 0.05, 0.02)])
def test_within_sight_of_no_budget(name, gamma, near):
    """One pass over 6,000 rows: the projectrons lose at most 2 points to no budget, the others at most 6."""
    X, y = load(name)
    rows = np.random.default_rng(0).permutation(X.shape[0])[:6000]
    X, y = X[rows], y[rows]
    free = KernelPerceptron(gamma=gamma, order="cyclic").partial_fit(X, y).n_mistakes_ / 6000
    for policy in POLICIES:
        model = KernelPerceptron(gamma=gamma, budget=200, budget_policy=policy, random_state=0)
        rate = model.partial_fit(X, y).n_mistakes_ / 6000
        assert len(model.support_) == 200
        assert rate < free + (near if policy.startswith("projectron") else 3 * near)
