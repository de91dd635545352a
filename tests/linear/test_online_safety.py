"""OnlinePerceptron: refusals that leave no trace; copies, threads and processes."""

import copy
import enum
import gc
import math
import os
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest

from novikoff.linear.online import OnlinePerceptron
from support.children import Child, run_python


def frozen_state(model):
    return pickle.dumps(model.__getstate__())


@pytest.mark.parametrize("bits", [None, 4])
@pytest.mark.parametrize(
    ("x", "y", "error", "words"),
    [
        ({"new": 1.0, "bad": None}, 0, TypeError, "'bad'.*NoneType"),
        ({"new": 1.0, "bad": [1]}, 0, TypeError, "'bad'.*list"),
        ({"new": 1.0, "bad": b"x"}, 0, TypeError, "'bad'.*bytes"),
        ({"new": 1.0, "bad": 1j}, 0, TypeError, "'bad'.*complex"),
        ({"new": 1.0, "bad": math.nan}, 0, ValueError, "'bad' is NaN"),
        ({"new": "word", "bad": -math.inf}, 0, ValueError, "'bad' is -infinity"),
        ({"new": 1.0, "bad": np.float32("inf")}, 0, ValueError, "'bad' is infinity"),
        ({"new": 1.0, "bad": 10**400}, 0, ValueError, "'bad' is an integer too large"),
        ({"new": 1e308, 3: 1e308, "3": 1e308}, 0, ValueError, "add up"),
        ([("new", 1.0)], 0, TypeError, "dict.*list"),
        ({"new": 1.0}, [0], TypeError, "hashable, got list"),
        ({"new": 1.0}, math.nan, ValueError, "equal itself"),
        ({"new": 1.0}, None, TypeError, "None is not a label"),
    ],
)
def test_refused_examples_leave_no_trace(bits, x, y, error, words):
    model = OnlinePerceptron(hash_bits=bits)
    model.learn_many([({"a": 1.0, "b": "c", 5: 2}, 0), ({"d": 1.0}, 1), ({"a": 3.0}, 0)])
    before = frozen_state(model)
    with pytest.raises(error, match=words):
        model.learn_one(x, y)
    assert frozen_state(model) == before
    if y == 0 and "add up" not in words:  # without the new names there is nothing to add up
        for method in (model.predict_one, model.score_one):
            with pytest.raises(error, match=words):
                method(x)
    model.learn_one({"new": 1.0}, 0)
    assert frozen_state(model) != before


def test_undeclared_label():
    model = OnlinePerceptron(classes=["x", "y"])
    before = frozen_state(model)
    with pytest.raises(ValueError, match=r"label 'z' is not among the declared classes \['x', 'y'\]"):
        model.learn_one({"a": 1}, "z")
    assert frozen_state(model) == before


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_overflow_leaves_no_trace(average, classes):
    model = OnlinePerceptron(average=average, classes=range(classes), fit_intercept=False)
    model.learn_one({"a": 1.0, "b": 3.0}, 0)
    model.learn_one({"a": 1.0}, 1)
    with pytest.raises(OverflowError, match=r"multiply all values by 2\*\*-102\d"):
        for k in range(100):  # each undoes the other's decision and leaves more of "grows"
            state = frozen_state(model)
            model.learn_one({"a": 1.7e308, "grows": 1.5e308, f"new{k}": 2.0}, 1)
            state = frozen_state(model)
            model.learn_one({"a": 1.7e308, "grows": -1.5e308, f"new{k}": 2.0}, 0)
    assert frozen_state(model) == state
    assert np.isfinite(model._get_state()["weights"]).all()


def test_overflowing_step_with_a_new_class_and_new_features():
    model = OnlinePerceptron("pa", fit_intercept=False)
    model.learn_many([({"a": 1.0}, 0), ({"a": -1.0}, 1), ({"b": -1.0}, 0)])
    before = frozen_state(model)
    with pytest.raises(OverflowError, match=r"2\*\*532"):
        model.learn_one({"tiny": 1e-160}, "third")
    assert frozen_state(model) == before
    assert model.classes_ == [0, 1]
    model.learn_one({"tiny": 1.0}, "third")
    assert model.feature_names_in_.tolist() == ["a", "b", "tiny"]


def test_many_refused_examples_keep_the_table_sound():
    """New names taken back again and again, between examples that stay."""
    rng = np.random.default_rng(3)
    model, twin = OnlinePerceptron(classes=[0, 1]), OnlinePerceptron(classes=[0, 1])
    for step in range(400):
        x = {f"w{k}": 1.0 for k in rng.integers(0, 3000, size=8)} | {"s": f"v{step % 90}"}
        y = int(rng.integers(2))
        with pytest.raises(ValueError, match="NaN"):
            more = {f"w{k}": 1.0 for k in rng.integers(0, 6000, size=30)}
            model.learn_one({**more, "t": str(step), "x": math.nan}, y)
        model.learn_one(x, y)
        twin.learn_one(x, y)
    assert model.feature_names_in_.tolist() == twin.feature_names_in_.tolist()
    assert np.array_equal(model.coef_, twin.coef_)
    assert [model.score_one({n: 1.0}) for n in twin.feature_names_in_] == (
        [twin.score_one({n: 1.0}) for n in twin.feature_names_in_]
    )


def test_refusal_after_the_table_grew():
    model = OnlinePerceptron()
    model.learn_many([({j: 1.0, "w": f"v{j}"}, j % 2) for j in range(20)])
    before = frozen_state(model)
    with pytest.raises(ValueError, match="NaN"):
        model.learn_one({**{f"f{j}": "x" for j in range(5000)}, "nan": math.nan}, 0)
    assert frozen_state(model) == before


def test_names_that_have_no_utf8():
    OnlinePerceptron(classes=[0, 1]).learn_one({"\ud800": 1.0}, 0)
    with pytest.raises(ValueError, match="surrogates"):
        OnlinePerceptron(classes=[0, 1], hash_bits=4).learn_one({"\ud800": 1.0}, 0)


def test_references_are_given_back():
    names = [f"name number {j}" for j in range(200)]
    values = [f"value number {j}" for j in range(200)]
    counts = [sys.getrefcount(o) for o in names + values]
    model = OnlinePerceptron()
    for _ in range(3):
        model.learn_one(dict.fromkeys(names, 1.0) | {"v": 1.0}, 0)
        model.learn_one(dict(zip(names, values, strict=True)), 1)
        with pytest.raises(ValueError, match="NaN"):
            model.learn_one({**dict(zip(values, names, strict=True)), "nan": math.nan}, 0)
        model.score_one(dict(zip(values, names, strict=True)))
    copy.deepcopy(model)
    del model
    assert [sys.getrefcount(o) for o in names + values] == counts


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"rule": "sgd"}, "'perceptron', 'normalized', 'margin', 'pa', 'pa1', 'pa2'"),
        ({"ties": "both"}, "'positive', 'mistake'"),
        ({"margin": math.nan}, "margin"),
        ({"C": 0}, "C=0"),
        ({"hash_bits": 0}, "hash_bits"),
        ({"hash_bits": 2.0}, "hash_bits"),
        ({"seed": -1}, "seed"),
        ({"classes": ["a"]}, "at least two"),
        ({"classes": "ab"}, "list"),
        ({"classes": ["a", "b", "a"]}, "'a' is given twice"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ValueError, match=words):
        OnlinePerceptron(**parameters)


def test_learn_many_says_where_it_stopped():
    model = OnlinePerceptron(classes=[0, 1])
    with pytest.raises(ValueError, match="example 2: feature 'a' is NaN") as caught:
        model.learn_many(iter([({"a": 1}, 0), ({"a": 2}, 1), ({"a": math.nan}, 1), ({"a": 3}, 0)]))
    assert caught.value.__cause__ is not None
    assert model.n_visits_ == 2
    with pytest.raises(ValueError, match="example 0: expected a pair"):
        model.learn_many([({"a": 1}, 0, 1)])
    with pytest.raises(TypeError, match="example 0: expected a pair"):
        model.learn_many([3])
    with pytest.raises(ZeroDivisionError):
        model.learn_many(({"a": 1}, 1 // (2 - k)) for k in range(5))
    assert model.n_visits_ == 4


def test_learn_many_from_a_frame():
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "colour": ["red", "green", "red"]})
    model, twin = OnlinePerceptron(), OnlinePerceptron()
    model.learn_many(frame, pd.Series(["x", "y", "x"]))
    twin.learn_many(zip(frame.to_dict("records"), ["x", "y", "x"], strict=True))
    assert frozen_state(model) == frozen_state(twin)
    with pytest.raises(ValueError, match="shorter"):
        model.learn_many(frame, ["x"])


def test_learn_many_stops_at_ctrl_c():
    """In examples without an end that run no Python code: the native loop itself has to look."""
    code = """
import itertools
from novikoff.linear.online import OnlinePerceptron

pairs = [({"a": 1.0}, 1), ({"a": 1.0}, 0)]

def begun():
    yield from pairs
    print("learning", flush=True)

model = OnlinePerceptron(classes=[0, 1])
try:
    model.learn_many(itertools.chain(begun(), itertools.cycle(pairs)))
except KeyboardInterrupt:
    print("stopped", model.n_visits_ >= 2)
"""
    with Child.python(code) as child:
        child.wait_for("learning")
        child.interrupt()
        assert child.end() == 0
    assert child.output == "learning\nstopped True\n"


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("bits", [None, 6])
def test_copies_go_on_as_the_original(average, bits):
    def example(k):
        return {"a": k % 7 - 3.0, "w": f"v{k % 5}", k % 3: 1, "tail": 0.1 * k}, (k * k) % 4

    model = OnlinePerceptron("pa2", average=average, hash_bits=bits, seed=9)
    model.learn_many(map(example, range(60)))
    model.note = "kept"
    copies = [copy.deepcopy(model), copy.copy(model), pickle.loads(pickle.dumps(model))]
    for other in copies:
        assert frozen_state(other) == frozen_state(model)
        assert other.note == "kept"
    model.learn_many(map(example, range(60, 120)))
    for other in copies:
        assert other.n_visits_ == 60
        other.learn_many(map(example, range(60, 120)))
        assert np.array_equal(other.coef_, model.coef_)
        assert other.score_one({"w": "v2", 1: 1}) == model.score_one({"w": "v2", 1: 1})


def test_pickles_do_not_depend_on_string_hashing():
    script = """
import pickle, sys
from novikoff.linear.online import OnlinePerceptron
if sys.argv[1] == "write":
    model = OnlinePerceptron()
    model.learn_many(({f"f{k % 50}": 1.0, "s": f"v{k % 11}"}, k % 3) for k in range(300))
    sys.stdout.buffer.write(pickle.dumps(model))
else:
    model = pickle.loads(sys.stdin.buffer.read())
    model.learn_many(({f"f{k % 50}": 1.0, "s": f"v{k % 11}"}, k % 3) for k in range(300))
    print(model.n_features_in_, model.n_visits_, model.coef_.sum(axis=0).tolist() == [0.0] * 61)
"""

    def run(argument, seed, data=b""):
        environment = {"PYTHONHASHSEED": seed}
        return run_python("-c", script, argument, input=data, text=False, environment=environment).stdout

    assert run("read", "2", run("write", "1")) == b"61 600 True\n"


class Colour(enum.Enum):  # its __hash__ is Python code: threads may change hands inside it
    RED = 1
    GREEN = 2
    BLUE = 3


class Slow:
    """A number whose conversion runs Python code."""

    def __init__(self, value):
        self.value = value

    def __float__(self):
        return float(sum([self.value, *([0] * 50)]))


@pytest.mark.parametrize("value", [float, Slow])
def test_threads_take_turns(value):
    model = OnlinePerceptron()
    n, workers, old = 3000, 4, sys.getswitchinterval()
    failures = []

    def work(start):
        try:
            for k in range(start, start + n):
                x = {f"f{k % 40}": value(k % 5), "w": f"v{k % 9}", f"only{start}_{k % 100}": 1.0}
                assert model.predict_one(x) in (None, *Colour)
                model.learn_one(x, list(Colour)[k % 3])
                if k % 50 == 0:
                    with pytest.raises(ValueError, match="NaN"):
                        model.learn_one({f"never{k}": 1.0, "nan": math.nan}, Colour.RED)
        except BaseException as error:
            failures.append(error)

    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(10_000 * i,)) for i in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(old)
    assert failures == []
    assert model.n_visits_ == workers * n
    assert sorted(c.value for c in model.classes_) == [1, 2, 3]
    names = model.feature_names_in_.tolist()
    assert len(set(names)) == len(names) == 40 + 9 + workers * 100


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork exists on POSIX alone")
def test_a_forked_child_goes_on_alone():
    script = """
import os, pickle
from novikoff.linear.online import OnlinePerceptron
model = OnlinePerceptron()
rows = [({f"f{k % 20}": 1.0, "s": str(k % 6)}, k % 3) for k in range(500)]
model.learn_many(rows[:250])
before = pickle.dumps(model)
read, write = os.pipe()
if os.fork() == 0:
    model.learn_many(rows[250:])
    os.write(write, str((model.n_visits_, model.coef_.tolist())).encode())
    os._exit(0)
os.wait()
assert pickle.dumps(model) == before
model.learn_many(rows[250:])
assert os.read(read, 1 << 16).decode() == str((model.n_visits_, model.coef_.tolist()))
print("same")
"""
    assert run_python("-c", script).stdout == "same\n"


def test_a_label_that_learns_while_it_is_compared():
    model = OnlinePerceptron()

    class Meddler:
        def __hash__(self):
            model.learn_one({"inner": 1.0}, "inner")
            return hash("outer")

        def __eq__(self, other):
            model.learn_one({"inner": "again"}, "inner")
            return self is other

    model.learn_one({"outer": 1.0}, "outer")
    meddler = Meddler()
    model.learn_one({"outer": 2.0}, meddler)
    assert model.classes_[:2] == ["outer", "inner"]
    assert model.classes_[2] is meddler
    assert set(model.feature_names_in_) == {"outer", "inner", "inner=again"}

    class Watched(OnlinePerceptron):
        pass

    class Pointer:
        pass

    alive = Watched()
    label = Pointer()
    label.model = alive  # a circle through the core
    alive.learn_one({"a": 1}, label)
    watch = weakref.ref(alive)
    del alive, label
    gc.collect()
    assert watch() is None


def test_a_dict_that_changes_while_it_is_read():
    x = {"a": 1.0}

    class Grower:
        def __float__(self):
            for k in range(100):
                x[f"more{k}"] = 1.0
            return 1.0

    x["grow"] = Grower()
    model = OnlinePerceptron(classes=[0, 1])
    model.learn_one(x, 0)
    assert model.feature_names_in_.tolist() == ["a", "grow"]


def test_arguments_by_name_and_signatures():
    import inspect

    model = OnlinePerceptron(classes=[0, 1])
    model.learn_one(y=0, x={"a": 1})
    assert model.predict_one(x={"a": 1}) == 0
    assert list(inspect.signature(model.learn_one).parameters) == ["x", "y"]
    for call in (
        model.learn_one,
        lambda: model.predict_one({}, {}),
        lambda: model.learn_one({}, x={}, y=0),
        lambda: model.score_one(z={}),
    ):
        with pytest.raises(TypeError, match="takes x"):
            call()
    with pytest.raises((RuntimeError, TypeError)):
        OnlinePerceptron.__new__(OnlinePerceptron).predict_one({})


def test_features_nobody_learned_do_not_take_memory():
    model = OnlinePerceptron(classes=[0, 1])
    model.learn_one({"a": 1.0}, 0)
    before = frozen_state(model)
    for k in range(1000):
        model.predict_one({f"f{k}": 1.0, "s": str(k), k: 1})
    assert frozen_state(model) == before
    fixed = OnlinePerceptron(hash_bits=10, classes=[0, 1])
    size = fixed._memory()
    fixed.learn_many(({f"f{k}": 1.0}, k % 2) for k in range(10_000))
    assert fixed._memory() == size
    assert fixed.n_features_in_ == 1024
