"""Budgets on sources: what is read block by block gives the bits of the same rows in memory."""

import io
import json
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from novikoff import KernelPerceptron, open_source
from novikoff.data.labels import StreamClasses
from novikoff.kernel import budget_streaming
from novikoff.kernel.budget import _RowBudget
from novikoff.kernel.kernels import Spread
from novikoff.kernel.settings import KernelSettings
from novikoff.parameters.kernel import KERNEL_PARAMETERS
from novikoff.reference.budget import POLICIES
from novikoff.training.loop import train
from novikoff.training.plan import Plan
from support.children import run_python
from support.commands import run, usage_error
from support.rows import libsvm


def some_rows(seed=0, n=150, d=9, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    X[0] = rng.normal(size=d)  # so that all columns are there
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    return X, y


def stream(content, *, block_size=97, epochs=2, classes=None, scale=None, **settings):
    how = {name: KERNEL_PARAMETERS[name].default for name in KernelSettings.__dataclass_fields__}
    how |= {"kernel": "rbf", "degree": 2, "predict_with": "last", "budget": 12}
    source = open_source(content, block_size=block_size)
    plan = Plan(max_epochs=epochs, order="cyclic", rng=np.random.default_rng(5))
    classes = classes or StreamClasses()
    trainer = budget_streaming.trainer_of(
        source, classes, KernelSettings(**how | settings), plan, scale=scale
    )
    run = train(trainer, plan)
    return SimpleNamespace(learner=trainer.fitted(run), scaling=trainer.examples.scaling, run=run)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@given(
    st.integers(0, 10**6),
    st.sampled_from(POLICIES),
    st.sampled_from(["linear", "poly", "rbf", "laplacian", "cosine"]),
    st.sampled_from(["scale", "auto", 0.3]),
    st.sampled_from([2, 3]),
    st.sampled_from(["joint", "ovr"]),
    st.integers(1, 3000),
)
def test_a_stream_gives_the_bits_of_the_same_rows_in_memory(
    seed, policy, kernel, gamma, classes, multiclass, block_size
):
    X, y = some_rows(seed, classes=classes)
    how = {"kernel": kernel, "gamma": gamma, "degree": 2, "budget_policy": policy, "multiclass": multiclass}
    learned = stream(io.BytesIO(libsvm(X, y)), block_size=block_size, **how)
    model = KernelPerceptron(**how, budget=12, max_epochs=2, order="cyclic", random_state=5)
    model.set_params(predict_with="last").fit(X, y)
    learner, run = learned.learner, learned.run
    assert learner.kernel == model._dual.kernel
    assert learner.support.tolist() == model._dual.support.tolist()
    assert np.array_equal(
        learner.vectors.toarray() if learner.sparse else learner.vectors, model._dual.vectors
    )
    for averaged in (False, True) if learner.can_average else (False,):
        expected = model._dual.coefficients(averaged=averaged)
        assert np.array_equal(learner.coefficients(averaged=averaged), expected)
    counts = "n_mistakes", "n_updates", "n_visits", "close"
    assert [getattr(learner, c) for c in counts] == [getattr(model._dual, c) for c in counts]
    assert (run.verdict, run.consistent, run.converged) == (
        model.verdict_,
        model._run.consistent,
        model.converged_,
    )
    assert run.n_rows == len(X) and run.margin == pytest.approx(model.margin_, nan_ok=True)


@pytest.mark.parametrize("scale", ["standard", "maxabs", "unit"])
def test_rows_are_scaled_as_they_come(scale):
    """gamma='scale' is that of the scaled rows, as for rows in memory."""
    X, y = some_rows(3)
    learned = stream(io.BytesIO(libsvm(X, y)), scale=scale)
    spread = Spread()
    spread.add(learned.scaling.transform(X))
    assert learned.learner.kernel.gamma == spread.gamma("scale", 9)
    model = KernelPerceptron(budget=12, max_epochs=2, order="cyclic").fit(learned.scaling.transform(X), y)
    assert learned.learner.support.tolist() == model.support_.tolist()


@pytest.mark.parametrize("cuts", [[], [1], [256], [255, 257, 600], [1, 2, 3, 511, 512, 513]])
def test_a_variance_does_not_depend_on_blocks(cuts):
    X = np.random.default_rng(0).normal(size=(700, 3)) * 10.0 ** np.arange(-150, 150, 100)
    spread = Spread()
    for block in np.split(X, cuts):
        spread.add(block)
    whole = Spread()
    whole.add(X)
    assert spread.variance(3) == whole.variance(3) == pytest.approx(X.var(), rel=1e-15)


class Once(io.RawIOBase):
    """What can be read only once, as standard input is."""

    def __init__(self, content):
        self.content = io.BytesIO(content)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self.content.readinto(buffer)


def test_what_can_be_read_once_is_learned_from_in_one_pass():
    """Classes and columns come as they come; rows before the second class are learned as the first class."""
    rng = np.random.default_rng(1)
    X = np.triu(rng.normal(size=(40, 40)))[:, ::-1].copy()  # more columns with every row
    y = np.array([0] * 5 + [1, 0] * 10 + [2, 1, 0] * 5)
    once = io.BufferedReader(Once(libsvm(X, y)))
    learned = stream(once, gamma=0.1, epochs=1, classes=StreamClasses(grow=True), block_size=300)
    assert learned.learner.n_classes == 3 and learned.learner.support.min() == 0
    assert learned.run.n_rows == 40 and learned.run.consistent is None
    assert learned.learner.n_visits == 40
    with pytest.raises(
        ValueError, match=r"only once, which is not enough for gamma='scale' \(give a number\)"
    ):
        stream(io.BufferedReader(Once(libsvm(X, y))), epochs=1, classes=StreamClasses(grow=True))
    with pytest.raises(ValueError, match="only once, which is not enough for max_epochs=2"):
        stream(io.BufferedReader(Once(libsvm(X, y))), gamma=0.1, classes=StreamClasses(grow=True))


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_classes_that_come_later_are_joint_if_asked(multiclass):
    """An update of joint classes takes from one score what it gives to another: a support's α add up to 0."""
    X, y = some_rows(8, classes=3)
    y[:20] = np.arange(20) % 2  # the third class comes later
    how = {"multiclass": multiclass, "budget_policy": "oldest", "gamma": 0.5}
    learner = stream(io.BytesIO(libsvm(X, y)), classes=StreamClasses(grow=True), **how).learner
    assert learner.n_columns == 3 and learner.joint == (multiclass == "joint")
    assert (learner.coefficients(averaged=False).sum(axis=1) == 0).all() == learner.joint
    two = stream(io.BytesIO(libsvm(X, y % 2)), classes=StreamClasses(grow=True), **how).learner
    assert two.n_columns == 1 and not two.joint


def test_bad_rows_are_named_by_their_place():
    good = libsvm(*some_rows(2))
    with pytest.raises(ValueError, match="line 151: expected a finite value, found 'nan'"):
        stream(io.BytesIO(good + b"1 3:nan\n"))
    with pytest.raises(ValueError, match="line 151: feature '2' is -1: the kernel 'chi2' is for numbers"):
        stream(io.BytesIO(libsvm(np.abs(some_rows(2)[0]), some_rows(2)[1]) + b"1 2:-1\n"), kernel="chi2")
    with pytest.raises(ValueError, match="at least two classes, but every row has the label '1'"):
        stream(io.BytesIO(b"1 1:1\n1 2:1\n"))
    with pytest.raises(ValueError, match="the rows have weights"):
        stream(io.BytesIO(b"1 2.0 | a:1\n-1 | b:1\n"))


def test_an_interrupt_keeps_what_was_learned(monkeypatch):
    X, y = some_rows(4, n=400)
    calls, visit_rows = [], _RowBudget.visit_rows

    def interrupted(self, X, labels):
        calls.append(X)
        if len(calls) > 3:
            raise KeyboardInterrupt
        visit_rows(self, X, labels)

    monkeypatch.setattr(_RowBudget, "visit_rows", interrupted)
    learned = stream(io.BytesIO(libsvm(X, y)), block_size=2000)
    assert learned.run.interrupted and 0 < learned.learner.n_visits < 400


# ---- the estimator -----------------------------------------------------------------------------------
def test_fit_source(tmp_path):
    """As `fit` on the same rows in their order, with the names of the features; saved and loaded."""
    X, y = some_rows(6, classes=3)
    rows = "".join(f"{label} | " + " ".join(f"f{j}:{v!r}" for j, v in enumerate(row)) + "\n"
                   for label, row in zip(y, X.tolist(), strict=True))  # fmt: skip
    source = open_source(io.BytesIO(rows.encode()), format="vw", block_size=500)
    model = KernelPerceptron(budget=15, max_epochs=3, random_state=0).fit_source(source)
    other = KernelPerceptron(budget=15, max_epochs=3, random_state=0, order="cyclic").fit(X, y)
    assert np.array_equal(model.decision_function(X), other.decision_function(X))
    assert model.classes_.tolist() == [0, 1, 2] and model.features_.names([0, 8]) == ["f0", "f8"]
    assert model.n_features_in_ == 9 and "rows in the order of arrival" in model.report().in_full()
    model.save(tmp_path / "m.novikoff")
    loaded = KernelPerceptron.load(tmp_path / "m.novikoff")
    assert loaded.feature_names_in_.tolist() == [f"f{j}" for j in range(9)]
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert np.array_equal(loaded.predict(X), model.predict(X))
    model.fit(X, y)  # columns are numbers again
    assert not hasattr(model, "features_")


def test_fit_source_says_what_it_needs():
    source = open_source(io.BytesIO(libsvm(*some_rows(0))))
    with pytest.raises(ValueError, match="requires a budget: give one, or read all rows"):
        KernelPerceptron().fit_source(source)
    with pytest.raises(ValueError, match="kernel='monotone_conjunction' is not possible for a source"):
        KernelPerceptron("monotone_conjunction", budget=3).fit_source(source)


# ---- the command -------------------------------------------------------------------------------------
def test_the_command_reads_block_by_block(tmp_path):
    """With --budget and --order cyclic: the file of the same rows in memory, but for the time it took."""
    X, y = some_rows(7, n=300)
    (tmp_path / "x.svm").write_bytes(libsvm(X, y))
    fit = ["fit", tmp_path / "x.svm", "--kernel", "rbf", "--budget", 20, "--order", "cyclic", "--epochs", 3]
    done = run(*fit, "--model", tmp_path / "m.novikoff", "--cache", "--json")
    model = KernelPerceptron(budget=20, order="cyclic", max_epochs=3).fit(X, y)
    loaded = KernelPerceptron.load(tmp_path / "m.novikoff")
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    assert json.loads(done.stdout)["report"]["mistakes"] == model.n_mistakes_
    once = run(
        *("fit", "-", "--kernel", "rbf", "--gamma", 1, "--budget", 20, "--order", "cyclic"),
        *("--model", tmp_path / "once.novikoff"),
        input=libsvm(X, y),
    )
    assert "can be read only once, so there is one epoch" in once.output
    refused = usage_error("fit", tmp_path / "x.svm", "--kernel", "rbf", "--cache")
    assert "only possible with --kernel where each epoch reads the rows again" in refused


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory as Linux counts it")
def test_memory_does_not_grow_with_the_file(tmp_path):
    """Eight times the rows take no more memory beyond that of a block."""
    rng = np.random.default_rng(0)
    lines = [" ".join(f"{j + 1}:{v:.6f}" for j, v in enumerate(row)) for row in rng.normal(size=(20_000, 20))]
    peaks = []
    for times in (1, 8):
        path = tmp_path / f"{times}.svm"
        with path.open("w") as file:
            for _ in range(times):
                file.writelines(f"{i % 2} {line}\n" for i, line in enumerate(lines))
        how = ["--kernel", "rbf", "--gamma", "0.1", "--budget", "10", "--epochs", "1", "--order", "cyclic"]
        how += ["--n-jobs", "1"]  # a block for each core is read ahead
        code = (
            "import resource, sys; from novikoff.cli.app import run; "
            "assert run(sys.argv[1:]) == 0; "
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        )
        done = run_python("-c", code, "fit", path, *how, "--model", tmp_path / "m.novikoff", "--quiet")
        peaks.append(int(done.stdout.split()[-1]))
    assert peaks[1] < peaks[0] + 20_000, peaks  # kB: all rows in memory would be 140,000 × 20 × 12 bytes
