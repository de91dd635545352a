"""Classes that come as they come: what is learned before the second is known, and which of the two is −.

With one class known every learner goes on as if it were the first (−) of two; when the second comes, numbers
and booleans take their order. So two numeric classes give the run with these classes declared, bit for bit,
and the mistakes are bounded from the first visit on: the perceptron of the lectures.
"""

import io
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff import (
    KernelPerceptron,
    OnlineKernelPerceptron,
    OnlinePerceptron,
    Perceptron,
    VotedPerceptron,
    Winnow,
    open_source,
)
from novikoff.data.labels import StreamClasses, precedes
from novikoff.kernel import budget_streaming
from novikoff.kernel.settings import KernelSettings
from novikoff.parameters.common import TIES
from novikoff.parameters.kernel import KERNEL_PARAMETERS
from novikoff.parameters.linear import RULES, STEP_RULES
from novikoff.reference.budget import POLICIES
from novikoff.training import streaming
from novikoff.training.loop import train
from novikoff.training.plan import Plan
from novikoff.training.weights import Settings
from support.rows import as_dict, chunks, libsvm
from support.same_models import same_supports

SIX = [((-1, 2), -1), ((1, 0), 1), ((1, 1), 1), ((-1, 0), -1), ((-1, -2), -1), ((1, -1), 1)]  # CMU 10-601
pytestmark = pytest.mark.filterwarnings("ignore")


@st.composite
def two_classes(draw, values=(0.0, 1.0, -1.0, 2.0, 0.1, -0.3)):
    """Rows and labels −1 and 1, often with many of one class before the first of the other."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, d = draw(st.integers(2, 14)), draw(st.integers(1, 4))
    X = rng.choice(values, (n, d))
    X[0] += (X[0] == 0).all()  # so that no class begins with nothing
    y = rng.choice([-1, 1], n)
    alone = draw(st.integers(1, n - 1))
    y[:alone] = y[0]
    y[alone] = -y[0]
    return X, y


# ---- the lectures ----------------------------------------------------------------------------------------
LABELLED = [
    (-1, 1),
    ("no", "yes"),
    (False, True),
    (Fraction(-1, 2), 2),
    (Decimal("0.5"), 1),
    (np.int8(-3), np.float32(2)),
]
ONLINE = [OnlinePerceptron, lambda **how: OnlineKernelPerceptron("linear", **how)]


@pytest.mark.parametrize("make", ONLINE)
@pytest.mark.parametrize("labels", LABELLED)
def test_the_six_points_of_the_lecture(make, labels):
    """w = (3, 1) after three updates; the first point is negative."""
    model = make(fit_intercept=False)
    for x, y in SIX:
        model.learn_one(as_dict(x), labels[y > 0])
    assert model.classes_ == list(labels)
    assert (model.n_updates_, model.n_mistakes_, model.n_visits_) == (3, 3, 6)
    assert [model.score_one(as_dict(x)) for x in ((1, 0), (0, 1))] == [3.0, 1.0]


@pytest.mark.parametrize("make", ONLINE)
@pytest.mark.parametrize("start", [0, 1])
def test_one_feature_is_learned_by_one_mistake(make, start):
    """x = 1 is 1 and x = −1 is −1: (R/γ)² = 1, whichever comes first and how often."""
    model = make(fit_intercept=False)
    for x in [(1, -1)[start]] * 3 + [1, -1] * 5:
        model.learn_one({"x": x}, x)
        assert model.n_mistakes_ <= 1
    assert (model.n_updates_, model.classes_, model.score_one({"x": 2})) == (1, [-1, 1], 2.0)


@pytest.mark.parametrize("make", ONLINE)
def test_labels_without_an_order_are_in_that_of_their_appearance(make):
    for first, second in [
        ("b", "a"),
        ((2,), (1,)),
        ("1", "0"),
        ("x", 0),
        (1, "x"),
        (1j, 0),
        (frozenset([1]), frozenset()),
    ]:
        model = make()
        model.learn_many([({"f": 1}, first), ({"f": -1}, second)])
        assert model.classes_ == [first, second]


@pytest.mark.parametrize("make", ONLINE)
def test_labels_that_are_equal_are_one_class(make):
    model = make()
    model.learn_many([({"f": 1}, y) for y in (1, 1.0, True, np.int64(1), np.bool_(True))])
    assert len(model.classes_) == 1
    model.learn_many([({"f": -1}, y) for y in (np.bool_(False), 0, 0.0)])
    assert model.classes_ == [0, 1]
    model.learn_one({"f": 3}, -5)  # a third is added at the end, whatever it is
    assert model.classes_ == [0, 1, -5]


def test_what_precedes_what():
    assert precedes(-1, 1) and precedes(np.bool_(False), True) and precedes(Decimal("1.5"), Fraction(2))
    assert not precedes(1, -1) and not precedes("a", "b") and not precedes(0, "b") and not precedes(1, 1j)


# ---- all ways agree --------------------------------------------------------------------------------------
def agree(model, coef, intercept, counts):
    np.testing.assert_array_equal(model.coef_, coef)
    np.testing.assert_array_equal(model.intercept_, intercept)
    assert (model.n_updates_, model.n_mistakes_) == counts
    assert list(model.classes_) == [-1, 1]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("ties", TIES)
@given(two_classes(), st.booleans(), st.booleans(), st.integers(0, 10**6), st.integers(1, 200))
def test_all_ways_agree(rule, ties, data, average, bias, seed, block_size):
    X, y = data
    how = {"rule": rule, "ties": ties, "average": average, "fit_intercept": bias, "margin": 0.5}
    fitted = Perceptron(order="cyclic", max_epochs=1, scale=None, **how).fit(X, y)
    expected = fitted.coef_, fitted.intercept_, (fitted.n_updates_, fitted.n_mistakes_)

    for declared in (None, [-1, 1]):
        rng = np.random.default_rng(seed)
        dense, sparse = (Perceptron(**how, scale=None) for _ in range(2))
        for part in chunks(rng, len(y)):
            dense.partial_fit(X[part], y[part], classes=declared)
            sparse.partial_fit(sp.csr_array(X[part]), y[part], classes=declared)
        agree(dense, *expected)
        agree(sparse, *expected)

        one, many = (OnlinePerceptron(**how, classes=declared) for _ in range(2))
        for x, label in zip(X, y.tolist(), strict=True):
            one.learn_one(as_dict(x), label)
        many.learn_many(map(as_dict, X), y.tolist())
        for online in (one, many):
            agree(online, *expected[:2], (expected[2][0], online.n_mistakes_))
            assert online._get_state()["learner_mistakes"] == expected[2][1]
            assert online.freeze().n_mistakes_ == expected[2][1]
            if not average:
                assert online.n_mistakes_ == expected[2][1]
            assert online.n_visits_ == len(y)
    declared = OnlinePerceptron(**how, classes=[-1, 1])
    declared.learn_many(map(as_dict, X), y.tolist())
    assert declared.n_mistakes_ == one.n_mistakes_  # of the mean, too

    settings = Settings(rule, ties, 0.5, 1.0, float(bias), average)
    source = open_source(io.BytesIO(libsvm(X, y)), block_size=block_size, n_jobs=1)
    learned = streaming.fit(source, StreamClasses(grow=True), settings, Plan(1, "cyclic"))
    coef, intercept = learned.model.coef(averaged=average)
    d = coef.shape[1]  # columns without a value are not known to a stream
    np.testing.assert_array_equal(coef, expected[0][:, :d])
    assert not expected[0][:, d:].any()
    np.testing.assert_array_equal(intercept, expected[1])
    assert (learned.model.total("updates"), learned.model.total("mistakes")) == expected[2]
    assert learned.classes.tolist() == [-1, 1]


@given(
    two_classes(), st.sampled_from(STEP_RULES), st.sampled_from(TIES), st.booleans(), st.integers(0, 10**6)
)
def test_votes_agree(data, rule, ties, bias, seed):
    X, y = data
    how = {"rule": rule, "ties": ties, "fit_intercept": bias}
    fitted = VotedPerceptron(order="cyclic", max_epochs=1, **how).fit(X, y)
    model = VotedPerceptron(**how)
    for part in chunks(np.random.default_rng(seed), len(y)):
        model.partial_fit(X[part], y[part])
    for name in (
        "support_",
        "support_vectors_",
        "update_support_",
        "update_step_",
        "update_label_",
        "update_rival_",
        "survived_",
        "coef_",
        "averaged_coef_",
    ):
        np.testing.assert_array_equal(getattr(model, name), getattr(fitted, name), err_msg=name)
    np.testing.assert_array_equal(model.decision_function(X), fitted.decision_function(X))


def gram(X, Z):
    return (1.0 + X @ Z.T) ** 2


@pytest.mark.parametrize("kernel", ["poly", gram])
@pytest.mark.parametrize("budget, policy", [(None, "projectron"), *((3, policy) for policy in POLICIES)])
@given(two_classes((0.0, 1.0, -1.0, 2.0)), st.sampled_from(TIES), st.integers(0, 10**6))
def test_kernels_agree(kernel, budget, policy, data, ties, seed):
    X, y = data
    how = {"kernel": kernel, "ties": ties, "budget": budget, "budget_policy": policy, "random_state": 1}
    how |= {"gamma": 1.0, "degree": 2, "predict_with": "last"}
    fitted = KernelPerceptron(order="cyclic", max_epochs=1, **how).fit(X, y)
    model = KernelPerceptron(**how)
    for part in chunks(np.random.default_rng(seed), len(y)):
        model.partial_fit(X[part], y[part])
    same_supports(model, fitted)
    for classes in (None, [-1, 1]):
        online = OnlineKernelPerceptron(**how, classes=classes)
        online.learn_many(X, y.tolist())
        if policy != "random" or budget is None:  # which draws from a generator of its own
            scores = [online.score_one(x) for x in X]
            np.testing.assert_allclose(scores, fitted.decision_function(X), rtol=1e-12, atol=1e-12)
            assert (online.n_updates_, online.n_mistakes_) == (fitted.n_updates_, fitted.n_mistakes_)
        if classes is None:
            undeclared = online
    same_supports(undeclared, online)
    if online._learner.can_average:
        pair = (one._learner.coefficients(averaged=True) for one in (undeclared, online))
        np.testing.assert_array_equal(*pair)
    if budget is None or callable(kernel):
        return
    asked = {name: KERNEL_PARAMETERS[name].default for name in KernelSettings.__dataclass_fields__}
    asked |= {name: value for name, value in how.items() if name in asked}
    source = open_source(io.BytesIO(libsvm(X, y)), block_size=1 + seed % 60, n_jobs=1)
    plan = Plan(1, "cyclic", np.random.default_rng(1))
    trainer = budget_streaming.trainer_of(source, StreamClasses(grow=True), KernelSettings(**asked), plan)
    learner = trainer.fitted(train(trainer, plan))
    np.testing.assert_array_equal(learner.support, fitted.support_)
    np.testing.assert_array_equal(learner.coefficients(averaged=False).T, fitted.dual_coef_)
    assert (learner.n_updates, learner.n_mistakes, learner.n_visits) == (
        fitted.n_updates_,
        fitted.n_mistakes_,
        len(y),
    )


# ---- the bound, for any number of classes ----------------------------------------------------------------
class Twin:
    """The perceptron with growing classes in whole numbers: one label is −, then sign(0) = +, then joint."""

    def __init__(self, d, *, tie_is_mistake):
        self.d, self.tie_is_mistake = d, tie_is_mistake
        self.labels, self.w, self.mistakes = [], [[0] * d], 0

    def meet(self, label):
        if label in self.labels:
            return
        self.labels.append(label)
        if len(self.labels) == 2 and self.labels[1] < self.labels[0]:
            self.labels.reverse()
            if self.tie_is_mistake:
                self.w = [[-v for v in self.w[0]]]
            else:
                self.w, self.mistakes = [[0] * self.d], 0
        elif len(self.labels) == 3:
            self.w = [[-v for v in self.w[0]], self.w[0], [0] * self.d]
        elif len(self.labels) > 3:
            self.w.append([0] * self.d)

    def learn(self, x, label):
        self.meet(label)
        y, scores = self.labels.index(label), [sum(a * b for a, b in zip(w, x, strict=True)) for w in self.w]
        if len(scores) == 1:
            d = scores[0] if y else -scores[0]
            if d < 0 or (d == 0 and (y == 0 or self.tie_is_mistake)):
                self.mistakes += 1
                self.w[0] = [a + (1 if y else -1) * b for a, b in zip(self.w[0], x, strict=True)]
            return
        others = [c for c in range(len(scores)) if c != y]
        rival = max(others, key=lambda c: (scores[c], -c))
        d = scores[y] - scores[rival]
        if d < 0 or (d == 0 and (rival < y or self.tie_is_mistake)):
            self.mistakes += 1
            self.w[y] = [a + b for a, b in zip(self.w[y], x, strict=True)]
            self.w[rival] = [a - b for a, b in zip(self.w[rival], x, strict=True)]


@pytest.mark.parametrize("ties", TIES)
@given(st.integers(0, 10**6), st.integers(2, 5))
def test_the_bound_holds_from_the_first_visit(ties, seed, n_classes):
    """k ≤ (R/γ)² for every separator: k·m² ≤ R²·‖W‖², in whole numbers, after each visit."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    W = rng.integers(-3, 4, (n_classes, d))
    if n_classes == 2:
        W[0] = -W[1]
    X = rng.integers(-4, 5, (60, d))
    scores = np.sort(X @ W.T, axis=1)
    X = X[scores[:, -1] > scores[:, -2]]  # the planted W separates strictly
    y = rng.permutation(n_classes)[(X @ W.T).argmax(axis=1)].tolist()
    model, twin = OnlinePerceptron(fit_intercept=False, ties=ties), Twin(d, tie_is_mistake=ties == "mistake")
    kernel = OnlineKernelPerceptron("linear", fit_intercept=False, ties=ties, multiclass="joint")
    least = None
    radius = 0
    for x, label in zip(X.tolist(), y, strict=True):
        model.learn_one(as_dict(x), label)
        kernel.learn_one(as_dict(x), label)
        twin.learn(x, label)
        own = sorted((W @ x).tolist())
        least = own[-1] - own[-2] if least is None else min(least, own[-1] - own[-2])
        radius = max(radius, 2 * sum(v * v for v in x))
        for one in (model, kernel):
            assert one.n_mistakes_ == one.n_updates_ == twin.mistakes
            assert one.classes_ == twin.labels
        assert model.coef_.tolist() == twin.w
        assert twin.mistakes * least**2 <= radius * int((W * W).sum())
    if len(model.classes_) > 2:
        got = kernel.score_one(as_dict(range(1, d + 1)))
        assert got == model.score_one(as_dict(range(1, d + 1)))


# ---- while one class is known ----------------------------------------------------------------------------
@pytest.mark.parametrize("make", ONLINE)
def test_the_only_class_is_predicted(make):
    model = make()
    assert model.predict_one({"a": 1}) is None
    model.learn_many([({"a": 1}, 1), ({"a": -3}, 1)])
    assert [model.predict_one({"a": v}) for v in (1, -1, 0)] == [1, 1, 1]
    assert model.score_one({"a": 1}) == 0.0
    assert (model.n_visits_, model.n_updates_, model.n_mistakes_) == (2, 2, 2)  # as −, so far
    model.learn_one({"a": 1}, 2)
    assert model.classes_ == [1, 2]


@pytest.mark.parametrize(
    "make",
    [
        Perceptron,
        VotedPerceptron,
        lambda: KernelPerceptron("rbf"),
        lambda: KernelPerceptron("rbf", budget=2, predict_with="last"),
    ],
)
def test_an_estimator_that_has_met_one_class(make, tmp_path):
    X, y = np.array([[1.0], [2.0], [-3.0]]), np.array(["b", "b", "b"])
    model = make().partial_fit(X, y)
    assert model.predict([[5.0], [-5.0]]).tolist() == ["b", "b"]
    assert model.decision_function([[5.0], [-5.0]]).tolist() == [0.0, 0.0]
    assert list(model.classes_) == ["b"]
    assert ", 1 classes" in model.report().in_full()
    if hasattr(model, "save"):
        with pytest.raises(ValueError, match=r"needs two classes, but so far there is only .*'b'"):
            model.save(tmp_path / "model")
    before = pickle.dumps(model)
    for bad in (np.array([[np.nan]]), np.array([[1.0, 2.0]])):
        with pytest.raises(ValueError):
            model.partial_fit(bad, ["a"])
        assert list(model.classes_) == ["b"]
    twin = pickle.loads(before)
    for one in (model, twin):
        one.partial_fit(X, ["b", "a", "a"])
        assert list(one.classes_) == ["b", "a"]  # text: the first is −
        assert one.n_epochs_ == 1 and one.history_[0]["mistakes"] >= 0
    assert model.n_updates_ == twin.n_updates_
    with pytest.raises(ValueError, match="one class"):
        make().partial_fit(X, y, classes=["b"])
    with pytest.raises(ValueError, match="one class"):
        make().fit(X, y)


def test_chunks_that_bring_several_classes():
    """The first to come is the second class; where classes cannot be added, two are all."""
    model = Perceptron().partial_fit([[1.0]], [5]).partial_fit([[2.0], [3.0], [4.0]], [7, 1, 5])
    assert model.classes_.tolist() == [5, 7, 1]
    model = Perceptron().partial_fit([[1.0]], [5]).partial_fit([[2.0], [3.0], [4.0]], [1, 7, 0])
    assert model.classes_.tolist() == [1, 5, 0, 7]
    model = VotedPerceptron().partial_fit([[1.0]], [5])
    with pytest.raises(ValueError, match="classes that were not declared: 1, 7; known are 5"):
        model.partial_fit([[2.0], [3.0]], [1, 7])
    with pytest.raises(ValueError, match="only one class"):
        Winnow().partial_fit([[1.0]], [5])


def test_weights_of_classes_before_the_second_is_known():
    X, y = np.array([[1.0, 2.0], [2.0, -1.0], [1.0, 1.0], [-1.0, 3.0]]), np.array([3, 3, -2, 3])
    how = {"class_weight": {-2: 2.0, 3: 0.5}, "rule": "pa"}
    fitted = Perceptron(order="cyclic", max_epochs=1, average=False, **how).fit(X, y)
    model = Perceptron(average=False, **how).partial_fit(X[:2], y[:2]).partial_fit(X[2:], y[2:])
    np.testing.assert_array_equal(model.coef_, fitted.coef_)
    voted = VotedPerceptron(**how).partial_fit(X[:2], y[:2]).partial_fit(X[2:], y[2:])
    np.testing.assert_array_equal(voted.coef_, fitted.coef_)
    source = open_source(io.BytesIO(libsvm(X, y)), block_size=20, n_jobs=1)
    weights = {str(label): weight for label, weight in how["class_weight"].items()}
    learned = streaming.fit(
        source, StreamClasses(grow=True), Settings("pa"), Plan(1, "cyclic"), class_weight=weights
    )
    np.testing.assert_array_equal(learned.model.coef(averaged=False)[0], fitted.coef_)
