"""While one class is known: refused examples change nothing; copies and files keep all that there is."""

import copy
import math
import pickle

import numpy as np
import pytest

from novikoff import (
    OnlineKernelPerceptron,
    OnlinePerceptron,
    Perceptron,
    load_model,
    open_source,
)
from novikoff.data.labels import StreamClasses
from novikoff.modelfile.container import read_file, write_file
from novikoff.parameters.common import TIES
from novikoff.parameters.linear import RULES
from novikoff.reference.budget import POLICIES
from novikoff.training import streaming
from novikoff.training.checkpoint import Checkpoint
from novikoff.training.plan import Plan
from novikoff.training.weights import Settings
from support.rows import as_dict, libsvm
from support.same_models import same_supports

SIX = [((-1, 2), -1), ((1, 0), 1), ((1, 1), 1), ((-1, 0), -1), ((-1, -2), -1), ((1, -1), 1)]  # CMU 10-601
pytestmark = pytest.mark.filterwarnings("ignore")


# ---- refused examples, copies, files ---------------------------------------------------------------------
def core(model):
    """Everything that a model holds, comparable; the names of features taken back are not part of it."""
    state = model._get_state()
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in state.items() if k != "aliases"}


REFUSED = [  # examples of the first class, and one of the second, lower one that would overflow
    ({"ties": "mistake"}, [{"a": 1.5e308, "b": -1.5e308}], {"a": 1.7e308, "b": 1.5e308}),
    ({"average": True}, [{"a": 1.0}, {"a": 2.0}, {"c": 1.0}], {"a": 1.7e308}),
]


@pytest.mark.parametrize("how, first, second", REFUSED)
def test_a_refused_example_leaves_the_first_class_as_it_was(how, first, second):
    model = OnlinePerceptron(fit_intercept=False, **how)
    model.learn_many((x, 1) for x in first)
    before, twin = core(model), copy.deepcopy(model)
    with pytest.raises(OverflowError, match="multiply all values by"):
        model.learn_one(second | {"new": 1.0}, 0)
    assert core(model) == before and model.classes_ == [1]
    for one in (model, twin):
        one.learn_many([({"a": 1.0}, 0), ({"a": 3.0, "b": 1.0}, 1), ({"a": -1.0}, 0)])
    assert core(model) == core(twin) and model.classes_ == [0, 1]


def test_a_kernel_that_fails_leaves_the_first_class_as_it_was():
    broken = False

    def dot(X, Z):
        if broken and len(Z) > 0:
            raise RuntimeError("no value")
        return X @ Z.T

    model = OnlineKernelPerceptron(dot, ties="mistake")
    model.learn_many([([1.0, 2.0], 1), ([-1.0, -3.0], 1)])
    before = model.dual_coef_.tolist(), model.support_.tolist(), model.n_mistakes_, model.classes_
    broken = True
    with pytest.raises(RuntimeError):
        model.learn_one([1.0, 1.0], 0)
    broken = False
    assert (model.dual_coef_.tolist(), model.support_.tolist(), model.n_mistakes_, model.classes_) == before
    model.learn_one([1.0, 1.0], 0)
    assert model.classes_ == [0, 1] and model.n_visits_ == 3


def test_labels_whose_order_cannot_be_told_change_nothing():
    class Number(float):
        __hash__ = float.__hash__

        def __lt__(self, other):
            raise ArithmeticError("no order")

    model = OnlinePerceptron()
    model.learn_one({"a": 1}, 1.0)
    before = core(model)
    with pytest.raises(ArithmeticError):
        model.learn_one({"a": 1, "b": 2}, Number(2.0))
    assert core(model) == before


def copies(model, folder):
    path = folder / "model"
    model.save(path)
    yield type(model).load(path)
    yield pickle.loads(pickle.dumps(model))
    yield copy.deepcopy(model)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("sign", [1, -1])
def test_copies_and_files_while_one_class_is_known(tmp_path, rule, ties, average, sign):
    rng = np.random.default_rng(3)
    X = rng.choice([0.0, 1.0, -1.0, 0.1], (20, 3))
    y = sign * np.array([1] * 8 + [-1, 1] * 6)
    model = OnlinePerceptron(rule, average=average, ties=ties)
    declared = OnlinePerceptron(rule, average=average, ties=ties, classes=[-1, 1])
    declared.learn_many(map(as_dict, X), y.tolist())
    model.learn_many(map(as_dict, X[:8]), y[:8].tolist())
    for one in [*copies(model, tmp_path), model]:
        one.learn_many(map(as_dict, X[8:]), y[8:].tolist())
        a, b = core(one), core(declared)
        for name in ("ties", "learner_ties", "wide", "norm2"):  # of no use with two classes; bounds
            a.pop(name), b.pop(name)
        assert a == b


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("ties", TIES)
def test_copies_and_files_of_kernels_while_one_class_is_known(tmp_path, policy, ties):
    rng = np.random.default_rng(3)
    X, y = rng.choice([0.0, 1.0, -1.0, 0.1], (20, 3)), np.array([1] * 8 + [-1, 1] * 6)
    how = {"budget": 4, "budget_policy": policy, "ties": ties, "random_state": 1}
    model, declared = OnlineKernelPerceptron(**how), OnlineKernelPerceptron(**how, classes=[-1, 1])
    declared.learn_many(map(as_dict, X), y.tolist())
    model.learn_many(map(as_dict, X[:8]), y[:8].tolist())
    for one in [*copies(model, tmp_path), model]:
        one.learn_many(map(as_dict, X[8:]), y[8:].tolist())
        same_supports(one, declared)


def test_files_written_before_keep_what_they_say(tmp_path):
    """They know nothing of the first class but its visits; two classes stay in the order they have."""
    path = tmp_path / "model"
    model = OnlinePerceptron(fit_intercept=False)
    model.learn_many([({"a": 1.0}, 1), ({"a": 2.0}, 1)])
    model.save(path)
    facts, arrays = read_file(path, "online")
    older = {k: v for k, v in facts["state"].items() if k not in ("ties", "learner_mistakes", "learner_ties")}
    older |= {
        "mistakes": 1,
        "updates": 0,
        "step_sum": 0.0,
        "norm2": [0.0],
    }  # w = 0, and one for the new label
    for name in arrays:
        if name.startswith("weights"):
            arrays[name] = np.zeros_like(arrays[name])
    write_file(path, facts | {"state": older}, arrays, "online")
    model = OnlinePerceptron.load(path)
    assert (model.classes_, model.n_visits_, model.n_updates_, model.coef_.tolist()) == ([1], 2, 0, [[0.0]])
    model.learn_many([({"a": -1.0}, -1), ({"a": 1.0}, 1)])
    assert (model.classes_, model.n_visits_, model.coef_.tolist()) == ([-1, 1], 4, [[1.0]])

    older |= {"classes": [1, -1], "mistakes": 3, "updates": 1}
    write_file(path, facts | {"state": older}, arrays, "online")
    model = OnlinePerceptron.load(path)
    assert (model.classes_, model.n_mistakes_) == ([1, -1], 3)
    assert model.freeze().n_mistakes_ == 1  # of w: as many as updates
    model.learn_one({"a": 1.0}, 1)
    assert (model.classes_, model.coef_.tolist()) == ([1, -1], [[-1.0]])


class Stop(Exception):
    pass


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("end", [0, 1, 3, 6])
def test_a_checkpoint_while_one_class_is_known(tmp_path, rule, ties, end):
    rng = np.random.default_rng(end)
    X = rng.choice([0.0, 1.0, -1.0, 0.1], (60, 4))
    y = np.array([1] * 30 + [-1, 1] * 15)
    (tmp_path / "rows.svm").write_bytes(libsvm(X, y))
    settings = Settings(rule, ties, 0.5, average=True)

    def fit(watch=None, keep=True, block_size=70):
        source = open_source(tmp_path / "rows.svm", block_size=block_size, n_jobs=1)
        checkpoint = Checkpoint(tmp_path / "kept", every=1) if keep else None
        plan = Plan(2, "cyclic")
        return streaming.fit(
            source, StreamClasses(grow=True), settings, plan, watch=watch, checkpoint=checkpoint
        )

    seen = 0

    def stop(progress):
        nonlocal seen
        seen += 1
        if seen > end:
            raise Stop

    undisturbed = fit(keep=False)
    with pytest.raises(Stop):
        fit(stop)
    resumed = fit(block_size=110)
    for averaged in (False, True):
        for a, b in zip(
            resumed.model.coef(averaged=averaged), undisturbed.model.coef(averaged=averaged), strict=True
        ):
            np.testing.assert_array_equal(a, b)
    for name in ("mistakes", "updates", "visits"):
        assert resumed.model.total(name) == undisturbed.model.total(name)
    fitted = Perceptron(rule, ties=ties, margin=0.5, average=True, order="cyclic", max_epochs=2).fit(X, y)
    np.testing.assert_array_equal(resumed.model.coef(averaged=True)[0], fitted.coef_)
    assert resumed.classes.tolist() == [-1, 1] and math.isfinite(resumed.model.norm())


def test_models_of_two_classes_are_saved_as_before(tmp_path):
    model = Perceptron().partial_fit([[1.0]], [1]).partial_fit([[-1.0]], [-1])
    model.save(tmp_path / "model")
    assert load_model(tmp_path / "model").classes.tolist() == [-1, 1]
