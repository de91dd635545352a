"""Several threads, code that runs inside of calls, forked children, arrays that change: nothing breaks.

What could bring the process down runs in a child.
"""

import copy
import gc
import os
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from novikoff import OnlineKernelPerceptron, OnlinePerceptron, Perceptron, VotedPerceptron
from novikoff.training.turns import Turns
from support import threads_stress
from support.children import Child
from support.marks import may_not_separate
from support.places import TESTS

pytestmark = may_not_separate
STRESS = str(TESTS / "support" / "threads_stress.py")


@pytest.mark.parametrize("name", threads_stress.CASES)
def test_under_several_threads(name):
    with Child(sys.executable, STRESS, name) as child:
        assert child.end() == 0, child.output
    assert child.output.endswith(f"{name} held\n")


def run(code, *arguments):
    """The lines that a child prints."""
    with Child.python(code, *arguments) as child:
        assert child.end() == 0, child.output
    return child.output.splitlines()


# ---- code of others inside a call ----------------------------------------------------------------------
class Learns:
    """An object whose methods learn one example more, the first time that one of them runs."""

    def __init__(self, model, example):
        self.model, self.example = model, example

    def learn(self):
        example, self.example = self.example, None
        if example is not None:
            self.model.learn_one(*example)


class Key(Learns):
    def __str__(self):
        return "key"

    def __repr__(self):
        self.learn()
        return "Key()"


class Whole(int):
    def __str__(self):
        self.thing.learn()
        return "whole"

    __repr__ = __str__


class Number(Learns):
    def __float__(self):
        self.learn()
        return 2.0


class Label(Learns):
    def __hash__(self):
        self.learn()
        return 7

    def __eq__(self, other):
        self.learn()
        return self is other


INNER = {"inner": 1.0, "more": "words", 5: 1.0}


@pytest.mark.parametrize("bits", [None, 6])
@pytest.mark.parametrize("of", ["key", "value"])
def test_a_refused_example_whose_objects_learn_as_they_are_shown(bits, of):
    """The undo of the outer example takes back its own names, and none of the inner one's."""

    def model():
        made = OnlinePerceptron(hash_bits=bits, classes=[0, 1])
        made.learn_many([({"a": 1.0}, 0), ({"b": 1.0}, 1)])
        return made

    outer, expected = model(), model()
    thing = Key(outer, (INNER, 1))
    value = Whole(2**53 + 1)
    value.thing = thing
    x = {"new": 1.0, thing: None} if of == "key" else {"new": 1.0, "other": value}
    with pytest.raises((TypeError, ValueError), match=r"Key\(\): a value is|no double holds"):
        outer.learn_one(x, 0)
    with pytest.raises(ValueError, match="'key' is NaN"):  # by its name, without a repr
        outer.learn_one({"newer": 1.0, Key(outer, (INNER, 1)): float("nan")}, 0)
    expected.learn_one(INNER, 1)
    outer.learn_one({"after": 1.0}, 0)
    expected.learn_one({"after": 1.0}, 0)
    assert str(outer.__getstate__()["core"]) == str(expected.__getstate__()["core"])
    assert outer.predict_one({"after": 1.0, "inner": 1.0, "b": 1.0}) == expected.predict_one(
        {"after": 1.0, "inner": 1.0, "b": 1.0}
    )


def test_a_value_or_label_that_learns():
    """The inner example comes first, then the outer one."""
    for made in (lambda m: ({"x": Number(m, (INNER, 1))}, 0), lambda m: ({"x": 2.0}, Label(m, (INNER, 1)))):
        model, expected = OnlinePerceptron(), OnlinePerceptron()
        x, y = made(model)
        model.learn_one(x, y)
        expected.learn_one(INNER, 1)
        expected.learn_one({"x": 2.0}, y)
        assert model.n_visits_ == expected.n_visits_ == 2
        assert np.array_equal(model.coef_, expected.coef_)
        assert model.feature_names_in_.tolist() == expected.feature_names_in_.tolist()


def test_a_finalizer_that_learns_while_the_state_is_read():
    """The collector runs code of others wherever a container is made."""
    model = OnlinePerceptron(classes=[0, 1])
    model.learn_many([({f"f{k}": "word", k: 1.0}, k % 2) for k in range(400)])
    made = []

    class Cycle:
        def __init__(self):
            self.me = self

        def __del__(self):
            made.append(1)
            model.learn_one({f"late{len(made)}": f"v{len(made)}", -len(made): 1.0}, len(made) % 2)

    old = gc.get_threshold()
    gc.set_threshold(5, 2, 2)
    try:
        for _ in range(50):
            Cycle()
            state = model.__getstate__()["core"]
            assert len(state["names"]) == len(state["weights"]) == len(set(state["names"]))
            twin = copy.deepcopy(model)
            assert twin.n_features_in_ == len(twin.feature_names_in_) == twin.coef_.shape[1]
    finally:
        gc.set_threshold(*old)
    gc.collect()
    assert model.n_visits_ == 400 + len(made) == 450


def test_a_kernel_that_learns_is_refused_and_one_that_predicts_is_not():
    todo = []

    def kernel(a, b):
        if todo:
            todo.pop()()
        return a @ b.T

    model, said = OnlineKernelPerceptron(kernel, classes=[0, 1]), []
    for k in range(6):
        todo.append(lambda: said.append(model.predict_one([3.0])))
        model.learn_one([float(k + 1)], k % 2)
    assert len(said) == model.n_visits_ == 6
    for call in (lambda x: model.learn_one(x, 0), model.predict_one):
        todo.append(lambda: model.learn_one([9.0], 0))
        with pytest.raises(RuntimeError, match="learn inside another call"):
            call([1.0])
    assert model.n_visits_ == 6
    model.learn_one([1.0], 0)
    assert model.n_visits_ == 7


def test_objects_that_learn_with_a_kernel_are_refused_and_leave_no_trace():
    model = OnlineKernelPerceptron("rbf")
    model.learn_one({"a": 1.0}, 0)
    for x, y in (({"new": 1.0, "x": Number(model, (INNER, 1))}, 0), ({"x": 1.0}, Label(model, (INNER, 1)))):
        with pytest.raises(
            (RuntimeError, TypeError), match=r"learn inside another call|is a number or a str"
        ):
            model.learn_one(x, y)
    assert (model.n_visits_, model.feature_names_in_.tolist()) == (1, ["a"])


def test_a_callback_may_predict_but_not_learn():
    X, y = threads_stress.block(0)
    model, said = Perceptron(max_epochs=4, random_state=0).fit(X, y), []
    model.set_params(callback=lambda record: said.append(model.predict(X[:1])))
    model.fit(X, y)
    assert len(said) == 4
    model.set_params(callback=lambda record: model.partial_fit(X, y))
    with pytest.raises(RuntimeError, match="learn inside another call"):
        model.fit(X, y)
    model.set_params(callback=None).partial_fit(X, y)  # its turn has ended


# ---- turns ---------------------------------------------------------------------------------------------
def test_copies_have_turns_of_their_own():
    X, y = threads_stress.block(0)
    model = VotedPerceptron(max_epochs=2, random_state=0).fit(X, y)
    with model._turns.learning:
        twin = copy.deepcopy(model)
        twin.partial_fit(X, y)
    assert isinstance(twin._turns, Turns)
    assert twin._turns is not model._turns


FORKS = """
import os, sys, threading
import numpy as np
from novikoff import OnlineKernelPerceptron, Perceptron, _core

X, y = np.array([[1.0, 2.0], [3.0, -4.0], [-1.0, 1.0]]), np.array([0, 1, 0])
inside, leave = threading.Event(), threading.Event()

def wait(*_):
    inside.set()
    leave.wait()
    return True

if sys.argv[1] == "learning":
    model = Perceptron().fit(X, y).set_params(callback=wait)
    work = lambda: model.fit(X, y)
    use = lambda: model.predict(X)
else:
    todo = []
    model = OnlineKernelPerceptron(lambda a, b: todo and todo.pop()() and None or a @ b.T, classes=[0, 1])
    model.learn_one([1.0], 0)
    todo.append(wait)
    work = lambda: model.predict_one([2.0])
    use = lambda: model.learn_one([3.0], 1)

thread = threading.Thread(target=work)
thread.start()
inside.wait()
child = os.fork()
if not child:
    try:
        use()
        print("used", flush=True)
    except RuntimeError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
leave.set()
thread.join()
use()
print("parent used", flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize(
    ("what", "said"), [("learning", "forked while another thread was learning"), ("reading", "used")]
)
def test_a_child_forked_while_another_thread_has_its_turn(what, said):
    first, second = run(FORKS, what)
    assert said in first
    assert second == "parent used"


# ---- arrays that change --------------------------------------------------------------------------------
CHANGES = """
import sys, warnings
import numpy as np
import scipy.sparse as sp
from novikoff import KernelPerceptron, Perceptron, VotedPerceptron, Winnow

warnings.simplefilter("ignore")
which, value = sys.argv[1], int(sys.argv[2])
y = np.random.default_rng(1).integers(0, 2, 200)

def change(record):
    getattr(X, which)[len(getattr(X, which)) // 2] = value

how = {"max_epochs": 4, "random_state": 0, "callback": change}
if which == "indptr":
    models = [Perceptron(**how), VotedPerceptron(**how), Winnow(balanced=True, **how)]
else:
    models = [Winnow(balanced=True, **how), KernelPerceptron(budget=20, **how)]
for model in models:
    X = sp.csr_array(sp.random_array((200, 30), density=0.2, rng=np.random.default_rng(0), format="csr"))
    try:
        model.fit(X, y)
        print("fitted")
    except (RuntimeError, ValueError) as error:
        print(error)
"""


@pytest.mark.parametrize("value", [2_000_000_000, -2_000_000_000, -1])
def test_indices_that_a_slow_loop_finds_changed_are_an_error(value):
    for line in run(CHANGES, "indices", str(value)):
        assert "out of order or range: it was changed" in line or f"has index {value}" in line


@pytest.mark.parametrize("value", [2_000_000_000, -2_000_000_000])
def test_pointers_changed_during_a_fit_lead_nowhere(value):
    for line in run(CHANGES, "indptr", str(value)):
        assert line == "fitted" or "indptr does not increase" in line


def test_pointers_are_read_once():
    X = sp.csr_array(np.eye(4))
    y = np.array([0, 1, 0, 1])
    expected = Perceptron(random_state=0).fit(X, y).coef_
    Z = X.copy()

    def change(record):
        Z.indptr[:] = 0

    found = Perceptron(random_state=0, callback=change).fit(Z, y).coef_
    assert np.array_equal(found, expected)


# ---- files that are cut short --------------------------------------------------------------------------
CUT = """
import os, sys, warnings
import numpy as np
import scipy.sparse as sp
from novikoff import KernelPerceptron, Perceptron, VotedPerceptron

warnings.simplefilter("ignore")
path, when = sys.argv[1], sys.argv[2]
n, d = 400, 64

def rows():
    rng = np.random.default_rng(0)
    made = np.memmap(path, dtype=np.float64, mode="w+", shape=(n, d))
    made[:] = rng.normal(size=(n, d))
    made.flush()
    return np.memmap(path, dtype=np.float64, mode="r", shape=(n, d)), rng.integers(0, 2, n)

def cut(record=None):
    os.truncate(path, n * d * 4)

for make in (Perceptron, VotedPerceptron):
    X, y = rows()
    if when == "before":
        cut()
    try:
        make(max_epochs=3, random_state=0, callback=cut if when == "while" else None).fit(X, y)
        print("fitted")
    except OSError as error:
        print(error)
X, y = rows()
model = Perceptron(max_epochs=2).fit(X, y)
kernel = KernelPerceptron(max_epochs=1).fit(X[:50], y[:50])
cut()
for use in (
    lambda: model.predict(X[1:]),
    lambda: model.decision_function(X),
    lambda: kernel.predict(X[1:]),
    lambda: model.partial_fit(X, y),
    lambda: model.predict(np.asarray(X)),
):
    try:
        use()
        print("used")
    except OSError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a mapped file cannot be cut there")
@pytest.mark.parametrize("when", ["before", "while"])
def test_a_memory_map_of_a_file_that_was_cut_short(tmp_path, when):
    said = run(CUT, str(tmp_path / "rows"), when)
    assert len(said) == 7
    for line in said:
        assert "rows" in line
        assert "102,400 bytes" in line
        assert "204,800" in line


INTERRUPTED = """
import numpy as np, novikoff, sys, warnings
warnings.simplefilter("ignore")
X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
model = novikoff.Perceptron().fit(X, y)
heard = 0
while heard < 40:
    try:
        print("learning", flush=True)
        while True:
            model.partial_fit(X, y)
            model.predict(X)
    except KeyboardInterrupt:
        heard += 1
model.partial_fit(X, y)
print("usable", model.predict(X).shape, flush=True)
"""


def test_an_interrupt_leaves_no_turn_behind():
    """Wherever it comes: also between a call and its turn."""
    with Child.python(INTERRUPTED) as child:
        for _ in range(40):
            child.wait_for("learning")
            child.interrupt()
        assert child.end() == 0 and "usable (20,)" in child.output
