"""`novikoff fit --continue-from`: what `partial_fit` and `warm_start` do in memory, for files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from novikoff import KernelPerceptron, OnlinePerceptron, Perceptron, load_model, open_source
from support.commands import error_of, run, usage_error
from support.marks import may_not_separate

pytest.importorskip("pyarrow")
pytestmark = [may_not_separate, pytest.mark.usefixtures("files")]
ONCE = "--epochs", "1", "--order", "cyclic"


def table(n: int, seed: int, labels=("no", "yes", "perhaps")) -> str:
    rng = np.random.default_rng(seed)
    rows = ["age,job,height,label"]
    for age, job, height in zip(
        rng.integers(18, 80, n), rng.integers(0, 4, n), rng.normal(0, 9, n), strict=True
    ):
        value = age / 10 + 2 * (job < 2) + height / 5 + rng.normal()
        label = labels[int(value > 5) + int(value > 8) * (len(labels) > 2)]
        rows.append(f"{age},{('cook', 'clerk', 'nurse', 'driver')[job]},{height:.1f},{label}")
    return "\n".join(rows) + "\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, seed in (("a", 0), ("b", 1)):
        Path(f"{name}.csv").write_text(table(120, seed))
        Path(f"{name}2.csv").write_text(table(120, seed, ("no", "yes")))


def rows_of(path: str, model):
    """The rows of a file over the model's columns, scaled, and their labels."""
    (block,) = open_source(path, features=model.features).blocks()
    X = block.X if model.scaling is None else model.scaling.transform(block.X)
    return sp.csr_array((X.data, X.indices, X.indptr), shape=X.shape), np.asarray(block.labels)


def state_of(model):
    """Weights, sums, variances and counts of each learner, and the ledger.

    Without the bound on rounding errors, which is a little smaller where R grows row by row, as in `fit`,
    than where all rows are measured first, as by `partial_fit`; nor the number of recomputed decisions.
    """
    tables = [name for pair in model.settings.tables() for name in pair]
    parts = [
        [getattr(part, name).tolist() for name in tables]
        + [{name: n for name, n in part.counts().items() if name not in ("drift", "fallbacks")}]
        for part in model.learners
    ]
    return parts, model.ledger


def estimator_of(linear, kind=Perceptron):
    """An estimator around a model, for rows without names."""
    estimator = linear if isinstance(linear, kind) else kind.from_linear(linear)
    vars(estimator).pop("feature_names_in_", None)
    return estimator


def partly(path: str, data: str, times: int = 1):
    """The model in a file after `partial_fit` of the rows."""
    linear = load_model(path)
    X, y = rows_of(data, linear)
    linear.scaling = None
    estimator = estimator_of(linear)
    for _ in range(times):
        estimator.partial_fit(X, y)
    return estimator._model


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--average",),
        ("--hash-bits", "9", "--no-intercept"),
        ("--scale", "standard", "--rule", "pa1", "--C", "0.1"),
        ("--multiclass", "ovr", "--scale", "unit"),
        ("--rule", "arow"),
    ],
)
def test_an_epoch_in_order_is_a_partial_fit(options):
    """The definition: weights, sums, counts and ledger, to the last bit."""
    run("fit", "a.csv", "--epochs", "3", *options, "--model", "a.novikoff")
    for epochs in (1, 2):
        run(
            "fit",
            "b.csv",
            "--continue-from",
            "a.novikoff",
            *ONCE,
            "--epochs",
            epochs,
            "--model",
            "ab.novikoff",
        )
        (parts, ledger), (expected, known) = (
            state_of(load_model("ab.novikoff").model),
            state_of(partly("a.novikoff", "b.csv", epochs)),
        )
        assert parts == expected
        assert ledger.learned == known.learned and ledger.orders == known.orders


def test_riffled_epochs_are_a_warm_start():
    run("fit", "a.csv", "--average", "--epochs", "2", "--model", "a.novikoff")
    run("fit", "b.csv", "--continue-from", "a.novikoff", "--epochs", "3", "--model", "ab.novikoff")
    linear = load_model("a.novikoff")
    X, y = rows_of("b.csv", linear)
    warm = estimator_of(linear).set_params(warm_start=True, max_epochs=3, random_state=0, order="riffle")
    assert state_of(warm.fit(X, y)._model) == state_of(load_model("ab.novikoff").model)


@pytest.mark.parametrize("order", ["shuffle", "cyclic"])
def test_a_kernel_model_with_a_budget(order):
    run("fit", "a2.csv", "--kernel", "rbf", "--budget", "15", "--epochs", "2", "--model", "a.novikoff")
    run(
        "fit",
        "b2.csv",
        "--continue-from",
        "a.novikoff",
        "--epochs",
        "1",
        "--order",
        order,
        "--model",
        "ab.novikoff",
    )
    got = load_model("ab.novikoff").dual
    assert (got.budget, got.n_rows) == (15, 240)
    if order == "cyclic":
        estimator = estimator_of(KernelPerceptron.load("a.novikoff"), KernelPerceptron)
        estimator.partial_fit(*rows_of("b2.csv", load_model("a.novikoff")))
        alpha = [model.coefficients(averaged=False).tolist() for model in (got, estimator._dual)]
        assert alpha[0] == alpha[1]


def test_the_supports_of_a_kernel_model_are_kept():
    run("fit", "a2.csv", "--kernel", "rbf", "--scale", "standard", "--model", "a.novikoff")
    result = run("fit", "b2.csv", "--continue-from", "a.novikoff", "--model", "ab.novikoff")
    before, after = (load_model(f"{name}.novikoff").dual for name in ("a", "ab"))
    assert after.n_updates > before.n_updates and after.n_visits == before.n_visits + 10 * 120
    assert f"continued  from a.novikoff, which had made {before.n_visits:,} visits" in result.stdout


def test_the_report_names_the_model():
    run("fit", "a.csv", "--model", "a.novikoff", "--epochs", "2")
    before = load_model("a.novikoff").model
    facts = {name: before.total(name) for name in ("visits", "mistakes", "updates")}
    result = run("fit", "b.csv", "--continue-from", "a.novikoff", "--model", "ab.novikoff", "--json")
    assert json.loads(result.stdout)["continued_from"] == {"model": "a.novikoff"} | facts
    recorded = load_model("ab.novikoff").parameters
    assert recorded["continued_from"].startswith("a.novikoff (") and recorded["format"] == "csv"


def test_a_model_replaces_itself_and_other_formats_follow():
    """JSON lines and standard input, with the columns of a model from CSV."""
    run("fit", "a.csv", "--model", "a.novikoff", "--scale", "standard")
    header, *lines = Path("b.csv").read_text().splitlines()
    names = header.split(",")
    records = [dict(zip(names, line.split(","), strict=True)) for line in lines]
    records = [r | {"age": int(r["age"]), "height": float(r["height"])} for r in records]
    Path("b.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    run("fit", "b.csv", "--continue-from", "a.novikoff", *ONCE, "--model", "csv.novikoff")
    run("fit", "-", "--continue-from", "a.novikoff", "--format", "csv", "--model", "in.novikoff",
        input=Path("b.csv").read_text())  # fmt: skip
    run("fit", "b.jsonl", "--continue-from", "a.novikoff", *ONCE, "--model", "a.novikoff")
    first, second, third = (state_of(load_model(f"{name}.novikoff").model)[0] for name in ("csv", "in", "a"))
    assert first == second == third


def test_classes_grow_only_where_they_may():
    run("fit", "a2.csv", "--model", "a.novikoff")
    content = Path("a.novikoff").read_bytes()
    more = "fit", "b.csv", "--continue-from", "a.novikoff", "--model", "a.novikoff"
    assert "the label 'perhaps' is not one of the classes no, yes" in error_of(*more)
    assert Path("a.novikoff").read_bytes() == content
    run(*more, "--classes", "grow")
    assert load_model("a.novikoff").classes.tolist() == ["no", "yes", "perhaps"]
    run("fit", "a2.csv", "--classes", "grow", "--model", "b.novikoff")
    run("fit", "b.csv", "--continue-from", "b.novikoff", "--model", "b.novikoff")
    assert sorted(load_model("b.novikoff").classes.tolist()) == ["no", "perhaps", "yes"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            ("--rule", "pa"),
            "Error: --rule is pa, but --continue-from keeps the model's: perceptron.",
        ),
        (("--no-intercept",), "is no, but --continue-from keeps the model's: yes."),
        (("--scale", "unit"), "is unit, but --continue-from keeps the model's: standard."),
        (("--classes", "yes,no"), "is yes,no, but --continue-from keeps the model's: no,yes."),
        (("--positive", "yes"), "is yes, but --continue-from keeps the model's: none."),
        (("--hash-bits", "10"), "is 10, but --continue-from keeps the model's columns: none."),
        (("--cache",), "--cache is not possible with --continue-from."),
        (("--kernel", "rbf"), "only possible"),
    ],
)
def test_options_that_contradict_the_model(options, says):
    run("fit", "a2.csv", "--scale", "standard", "--model", "a.novikoff")
    if options[0] == "--kernel":
        options = ("--gamma", "1")
    assert says in usage_error("fit", "b2.csv", "--continue-from", "a.novikoff", *options)


def test_options_that_agree_with_it():
    run("fit", "a2.csv", "--scale", "standard", "--rule", "pa", "--model", "a.novikoff")
    run(
        "fit", "b2.csv", "--continue-from", "a.novikoff", "--rule", "pa", "--scale", "standard", "--intercept"
    )


def test_models_that_cannot_go_on_here():
    online = OnlinePerceptron()
    online.learn_many([({"a": 1}, "x"), ({"b": 1}, "y")])
    online.save("online.novikoff")
    assert "holds a model of OnlinePerceptron" in usage_error(
        "fit", "a.csv", "--continue-from", "online.novikoff"
    )


def test_auto_averages_unless_all_rows_are_known():
    """With average='auto' the last weights predict if they are right on all rows, so all must be known."""
    Path("one.vw").write_text("spam | free now\nham | lunch now\n")
    Path("two.vw").write_text("ham | lunch\n")
    run("fit", "one.vw", "--model", "one.novikoff")
    assert load_model("one.novikoff").model.last_are_right
    run("fit", "two.vw", "--continue-from", "one.novikoff", "--model", "two.novikoff")
    assert not load_model("two.novikoff").model.last_are_right
    run("fit", "one.vw", "--continue-from", "one.novikoff", "--model", "same.novikoff")
    assert load_model("same.novikoff").model.last_are_right


def test_a_resumed_fit_ends_with_the_same_bytes(monkeypatch):
    from novikoff.training.checkpoint import Checkpoint

    run("fit", "a.csv", "--model", "a.novikoff")
    more = "fit", "b.csv", "--continue-from", "a.novikoff", "--epochs", "3", "--order", "cyclic"
    run(*more, "--model", "whole.novikoff")

    written, save = [], Checkpoint.save

    def killed(self, *args):
        save(self, *args)
        written.append(1)
        if len(written) == 2:
            raise RuntimeError("killed")

    monkeypatch.setattr(Checkpoint, "save", killed)
    with pytest.raises(RuntimeError, match="killed"):
        run(*more, "--checkpoint", "kept", "--every", "100", "--model", "part.novikoff")
    assert not Path("part.novikoff").exists()
    monkeypatch.setattr(Checkpoint, "save", save)
    run(*more, "--checkpoint", "kept", "--every", "100", "--resume", "--model", "part.novikoff")
    assert Path("part.novikoff").read_bytes() == Path("whole.novikoff").read_bytes()


def test_a_warm_start_of_fit_source():
    """`fit_source` goes on from the last fit too, with its own columns."""
    features = open_source("a.csv")
    cold = Perceptron(order="cyclic", max_epochs=2, average=True).fit_source(features)
    cold.save("a.novikoff")
    warm = Perceptron.load("a.novikoff").set_params(warm_start=True, max_epochs=1)
    with pytest.raises(ValueError, match=r"features=model\.features_"):
        warm.fit_source(open_source("b.csv"))
    with pytest.raises(ValueError, match="warm_start continues a fit of the classes"):
        warm.fit_source(open_source("b.csv", features=warm.features_), classes=["a", "b"])
    warm.fit_source(open_source("b.csv", features=warm.features_))
    assert state_of(warm._model)[0] == state_of(partly("a.novikoff", "b.csv"))[0]
