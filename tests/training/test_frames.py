"""How far it is from a call to the native loop, counted in Python frames.

A *frame* is a Python frame of novikoff's own code: its file lies in the package's folder. Counted are those
on the stack of the thread that makes the first native loop call, from the public method, or the function of a
command, to that call: each function once for every time that it is on the stack. A generator function is on
the stack where the native call happens while it runs; one that is suspended is not. Comprehensions and
generator expressions are part of the function that they stand in, and not counted; nor are libraries, `_core`
itself, and code of users: their kernels, callbacks, problems.

The *native loops* are the functions of `_core` that go over rows, sentences or supports to learn from them or
to predict them (`LOOPS`); taking turns, building native objects and checking rows are none.

Each process has a count of its own. On a cluster the client's ends where it hands the tasks that learn to
Dask, and a worker's begins with the task. A structured perceptron's loop calls the user's problem: its count
ends at the call of `decode`.
"""

from __future__ import annotations

import functools
import io
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import novikoff
from novikoff import (
    KernelPerceptron,
    OnlineKernelPerceptron,
    OnlinePerceptron,
    Perceptron,
    Pocket,
    SequenceTagger,
    StructuredPerceptron,
    VotedPerceptron,
    Winnow,
    _core,
    open_source,
)
from support.commands import run, svm_text

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

MOST, MOST_OF_A_COMMAND = 4, 5
HOME = str(Path(novikoff.__file__).parent)
INSIDE = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")

LEARNING = (
    "epoch",
    "pocket_epoch",
    "Winnow.epoch",
    "Block.visit",
    "ConjunctionLearner.visit",
    "RowBudget.learn",
    "Budgeted.decide",
    "TaggerLearner.epoch",
    "WholeTaggerLearner.epoch",
    "OnlineLearner.learn_one",
    "OnlineLearner._learn_many",
)
PREDICTING = (
    "predict",
    "scores",
    "Hypotheses.vote",
    "Winnow.scores",
    "Panel.values",
    "Panel.add_scores",
    "add_products",
    "kernel_votes",
    "joint_kernel_votes",
    "ConjunctionScores.scores",
    "ConjunctionVotes.vote",
    "RowBudget.scores",
    "TaggerScorer.tag",
    "TaggerScorer.through",
    "OnlineLearner.predict_one",
    "OnlineLearner.score_one",
)
LOOPS = (*LEARNING, *PREDICTING)

Stack = list[str]


def own_frames(frame: types.FrameType | None) -> Stack:
    """The functions of novikoff on the stack from here up, the outermost first."""
    found = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(HOME) and code.co_name not in INSIDE:
            found.append(f"{Path(code.co_filename).relative_to(HOME)}:{code.co_name}")
        frame = frame.f_back
    return found[::-1]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Stack]]:
    """Every call of a native loop from now on: its name, and novikoff's frames on the stack."""
    made: list[tuple[str, Stack]] = []

    def watched(name: str, loop: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(loop)
        def call(*arguments: Any, **options: Any) -> Any:
            made.append((name, own_frames(sys._getframe(1))))
            return loop(*arguments, **options)

        return call

    for name in LOOPS:
        owner, _, method = name.rpartition(".")
        home = getattr(_core, owner) if owner else _core
        monkeypatch.setattr(home, method, watched(name, getattr(home, method)))
    return made


def first(calls: list[tuple[str, Stack]], loops: tuple[str, ...], do: Callable[[], Any]) -> Stack:
    """The frames at the first call of one of these loops."""
    calls.clear()
    do()
    return next(frames for name, frames in calls if name in loops)


def rows(n: int = 60) -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(n, 4))
    return X, (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)


def inner(A: Any, B: Any) -> Any:
    """A kernel of the user's own."""
    return A @ B.T


ROWS = {
    "perceptron": lambda: Perceptron(max_epochs=3),
    "averaged, early stopping": lambda: Perceptron(average=True, early_stopping=True, max_epochs=3),
    "one-vs-rest, worst first": lambda: Perceptron(multiclass="ovr", order="worst", max_epochs=3),
    "voted": lambda: VotedPerceptron(max_epochs=3),
    "pocket": lambda: Pocket(max_epochs=3),
    "winnow": lambda: Winnow(balanced=True, max_epochs=3),
    "kernel": lambda: KernelPerceptron(max_epochs=3),
    "kernel, averaged": lambda: KernelPerceptron("poly", predict_with="averaged", max_epochs=3),
    "kernel that is a function": lambda: KernelPerceptron(inner, max_epochs=3),
    "conjunctions": lambda: KernelPerceptron("monotone_conjunction", max_epochs=3),
    "conjunctions, last": lambda: KernelPerceptron("monotone_conjunction", predict_with="last"),
    "budget": lambda: KernelPerceptron(budget=5, max_epochs=3),
    "budget, a function": lambda: KernelPerceptron(inner, budget=5, predict_with="last", max_epochs=3),
}


@pytest.mark.parametrize("name", ROWS)
def test_from_an_estimator_of_rows(calls, name):
    X, y = rows()
    X = (X > 0).astype(float) if name.startswith("conjunctions") else X
    model = ROWS[name]()
    for method, learn in (("fit", model.fit), ("partial_fit", getattr(model, "partial_fit", None))):
        if learn is not None:
            frames = first(calls, LEARNING, lambda learn=learn: learn(X, y))
            assert 0 < len(frames) <= MOST, (method, frames)
            assert frames[0].endswith(f":{method}")
    if name == "budget, a function":
        return  # predicting asks the user's kernel, and adds up its values with NumPy
    for method in ("predict", "decision_function"):
        frames = first(calls, PREDICTING, lambda method=method: getattr(model, method)(X))
        assert 0 < len(frames) <= MOST, (method, frames)
        assert frames[0].endswith(f":{method}")


@pytest.mark.parametrize("model", [Perceptron(), KernelPerceptron(budget=3)], ids=["linear", "kernel"])
def test_from_fit_source(calls, model):
    source = open_source(io.BytesIO(b"label,a,b\na,1,2\nb,-1,2\na,3,1\nb,-2,2\n"), format="csv")
    frames = first(calls, LEARNING, lambda: model.fit_source(source))
    assert 0 < len(frames) <= MOST, frames


SENTENCES = [[["w=the"], ["w=dog"]], [["w=cats"]]], [["DET", "NOUN"], ["NOUN"]]


def test_from_a_tagger(calls):
    X, y = SENTENCES
    model = SequenceTagger()
    for method in ("fit", "partial_fit"):
        frames = first(calls, LEARNING, lambda method=method: getattr(model, method)(X, y))
        assert 0 < len(frames) <= MOST, (method, frames)
    for method in ("predict", "predict_marginal_scores"):
        frames = first(calls, PREDICTING, lambda method=method: getattr(model, method)(X))
        assert 0 < len(frames) <= MOST, (method, frames)


class Cuts:
    """Where a word is cut, by what it begins with; notes who asks."""

    def __init__(self) -> None:
        self.asked: list[Stack] = []

    def features(self, word: str, cut: int) -> dict[str, int]:
        return {word[:cut]: 1}

    def decode(self, word: str, w: Any) -> int:
        self.asked.append(own_frames(sys._getframe(1)))
        return max(range(1, len(word)), key=lambda cut: w.dot(self.features(word, cut)))


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_from_a_structured_perceptron_to_the_problem(method):
    problem = Cuts()
    model = StructuredPerceptron(problem)
    getattr(model, method)(["walked", "eats"], [4, 3])
    assert 0 < len(problem.asked[0]) <= MOST, problem.asked[0]
    problem.asked.clear()
    model.predict(["talked"])
    assert 0 < len(problem.asked[0]) <= MOST, problem.asked[0]


def test_learn_one_is_one_native_call(calls):
    """`OnlinePerceptron` has no Python of its own there; with a kernel there is some."""
    model = OnlinePerceptron()
    for do in (lambda: model.learn_one({"a": 1}, 0), lambda: model.predict_one({"a": 1})):
        assert first(calls, LOOPS, do) == []
        assert len(calls) == 1
    for kernel in (OnlineKernelPerceptron(gamma=1.0), OnlineKernelPerceptron(inner)):
        x = np.array([1.0, 2.0])
        assert len(first(calls, LEARNING, lambda kernel=kernel, x=x: kernel.learn_one(x, 0))) <= MOST
        kernel.learn_one(-x, 1)
        if kernel.kernel is not inner:
            assert len(first(calls, PREDICTING, lambda kernel=kernel, x=x: kernel.predict_one(x))) <= MOST


# ---- commands ------------------------------------------------------------------------------------------
def from_command(frames: Stack) -> Stack:
    """The frames from the command's own function on; of another thread, all of them."""
    begins = [k for k, frame in enumerate(frames) if frame.startswith("cli/")]
    while begins and frames[begins[0]] in ("cli/app.py:run", "cli/errors.py:run"):
        del begins[0]
    return frames[begins[0] :] if begins else frames


@pytest.fixture
def files(tmp_path):
    (tmp_path / "rows.svm").write_text(svm_text(60))
    sentences = "the DET\ndog NOUN\n\ncats NOUN\n\n" * 5
    (tmp_path / "sentences.txt").write_text(sentences)
    return tmp_path


ONE = ("--n-jobs", "1")  # what other threads do begins there
FITS = {
    "file": [],
    "in memory": ["--order", "shuffle"],
    "kernel": ["--kernel", "rbf"],
    "budget": ["--kernel", "rbf", "--budget", "5", "--order", "cyclic"],
}


@pytest.mark.parametrize("how", FITS)
def test_from_the_commands_for_rows(calls, files, how):
    rows, model = files / "rows.svm", files / "model.novikoff"
    frames = first(calls, LEARNING, lambda: run("fit", rows, "--quiet", "--model", model, *FITS[how]))
    assert 0 < len(from_command(frames)) <= MOST_OF_A_COMMAND, frames
    if "--kernel" not in FITS[how]:
        frames = first(calls, PREDICTING, lambda: run("predict", model, rows, *ONE))
        assert 0 < len(from_command(frames)) <= MOST_OF_A_COMMAND, frames


def test_from_the_commands_for_sentences(calls, files):
    path, model = files / "sentences.txt", files / "tagger.novikoff"
    frames = first(calls, LEARNING, lambda: run("tag", "fit", path, "--quiet", "--model", model))
    assert 0 < len(from_command(frames)) <= MOST_OF_A_COMMAND, frames
    for command in ("predict", "evaluate"):
        frames = first(calls, PREDICTING, lambda command=command: run("tag", command, model, path, *ONE))
        assert 0 < len(from_command(frames)) <= MOST_OF_A_COMMAND, frames


def test_from_tune(calls, files):
    frames = first(calls, LEARNING, lambda: run("tune", files / "rows.svm", "--model", files / "best", *ONE))
    assert 0 < len(from_command(frames)) <= MOST_OF_A_COMMAND, frames


# ---- clusters ------------------------------------------------------------------------------------------
@pytest.fixture
def client():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=False,  # so that the workers' calls are seen
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def handed_over(monkeypatch):
    """Each call that hands tasks that learn to Dask: novikoff's frames on the stack."""
    from distributed import Client

    made, hand_over = [], Client.map

    def watched(self, task, *arguments, **options):
        if task.__name__ == "learn":
            made.append(own_frames(sys._getframe(1)))
        return hand_over(self, task, *arguments, **options)

    monkeypatch.setattr(Client, "map", watched)
    return made


def test_on_a_cluster(calls, handed_over, client):
    import dask.array as da

    from novikoff.dask import DistributedPerceptron, DistributedTagger

    X, y = (da.from_array(a, chunks=(20, *a.shape[1:])) for a in rows())
    model = DistributedPerceptron(max_epochs=3, client=client)
    tagger = DistributedTagger(n_shards=2, max_epochs=3, client=client)
    for method, do in {
        "fit": lambda: model.fit(X, y),
        "partial_fit": lambda: model.partial_fit(X, y),
        "fit of a tagger": lambda: tagger.fit(*SENTENCES),
    }.items():
        handed_over.clear()
        frames = first(calls, LEARNING, do)
        assert 0 < len(frames) <= MOST and "distributed/tasks.py:learn" in frames, (method, frames)
        assert 0 < len(handed_over[0]) <= MOST, (method, handed_over[0])
    for method in ("predict", "decision_function"):
        frames = first(calls, PREDICTING, lambda method=method: getattr(model, method)(rows()[0]))
        assert 0 < len(frames) <= MOST, (method, frames)
    lazy = model.predict(X)
    frames = first(calls, PREDICTING, lambda: client.compute(lazy).result())
    assert 0 < len(frames) <= MOST, frames
    frames = first(calls, PREDICTING, lambda: tagger.predict(SENTENCES[0]))
    assert 0 < len(frames) <= MOST, frames
