"""`novikoff trace`: the run of `theory.trace` over files."""

import csv
import json

import numpy as np
import pytest

from novikoff.theory import kernel_trace, trace
from support.commands import run
from support.lecture import SIX, SIX_Y


@pytest.fixture
def six(tmp_path, monkeypatch):
    """The lecture's points as CSV, and as LIBSVM text."""
    monkeypatch.chdir(tmp_path)
    rows = [",".join(f"{v:g}" for v in x) + f",{y}" for x, y in zip(SIX, SIX_Y, strict=True)]
    (tmp_path / "six.csv").write_text("\n".join(["a,b,y", *rows]) + "\n")
    lines = [
        f"{y} " + " ".join(f"{j + 1}:{v:g}" for j, v in enumerate(x) if v)
        for x, y in zip(SIX, SIX_Y, strict=True)
    ]
    (tmp_path / "six.svm").write_text("\n".join(lines) + "\n")
    return tmp_path


def traced(*words):
    return json.loads(run("trace", *words, "--json", "--quiet").stdout)


@pytest.mark.parametrize("file", [("six.csv", "--label", "y"), ("six.svm",)])
@pytest.mark.parametrize("order", ["cyclic", "shuffle", "worst", "first", "any"])
@pytest.mark.parametrize("bias", [True, False])
def test_it_is_the_run_of_the_library(six, file, order, bias):
    found = traced(*file, "--order", order, "--random-state", "2", *["--no-intercept"] * (not bias))
    own = trace(SIX, SIX_Y, np.ones(2 + bias), order=order, random_state=2, fit_intercept=bias)
    plain = [{k: v for k, v in row.items() if k not in ("y", "predicted")} for row in found["steps"]]
    assert plain == [{k: v for k, v in r.items() if k not in ("y", "predicted")} for r in own.steps().rows()]
    assert (found["visits"], found["mistakes"], found["converged"]) == (own.n_visits, own.mistakes, True)
    assert [*found["w"], *([found["b"]] if bias else [])] == own.w.tolist()
    assert found["alpha"] == {str(i): a for i, a in enumerate(own.alpha) if a}


def test_rule_ties_and_epochs(six):
    words = (
        "six.csv",
        "--label",
        "y",
        "--rule",
        "margin",
        "--margin",
        "2",
        "--ties",
        "mistake",
        "--epochs",
        "2",
    )
    own = trace(SIX, SIX_Y, np.ones(3), rule="margin", margin=2.0, ties="mistake", max_epochs=2)
    found = traced(*words)
    assert (found["mistakes"], found["updates"]) == (own.mistakes, own.updates)
    assert found["mistakes"] < found["updates"]
    assert [s["mistake"] for s in found["steps"]] == [s.mistake for s in own.steps()]


def test_kernel(six):
    found = traced("six.csv", "--label", "y", "--kernel", "poly", "--degree", "2", "--gamma", "1")
    own = kernel_trace(SIX, SIX_Y, "poly", degree=2, gamma=1)
    assert [s["score"] for s in found["steps"]] == [s.score for s in own.steps()]
    assert found["alpha"] == {str(i): a for i, a in enumerate(own.alpha.tolist()) if a}


def test_csv_file_and_limits(six):
    text = run("trace", "six.csv", "--label", "y", "--csv", "steps.csv", "--quiet").stdout
    lines = list(csv.DictReader((six / "steps.csv").read_text().splitlines()))
    assert len(lines) == 12 and lines[0]["x_a"] == "-1.0" and lines[0]["mistake"] == "True"
    assert "saved      steps.csv" in text and text.count("mistake ") >= 3
    text = run("trace", "six.csv", "--label", "y", "--limit", "2").stdout
    assert "the first 2 of 12 visits" in text and "10 more visits; --limit lists more" in text
    assert run("trace", "six.csv", "--label", "y", "--limit", "0").stdout.count("example") == 1
    assert len(traced("six.csv", "--label", "y", "--limit", "3")["steps"]) == 3


def test_long_runs_are_cut_at_forty_visits(six):
    (six / "xor.csv").write_text("a,b,y\n0,0,0\n1,1,0\n0,1,1\n1,0,1\n")
    text = run("trace", "xor.csv", "--label", "y", "--epochs", "30").stdout
    assert "the first 40 of 120 visits" in text and "and 80 more visits" in text and "not converged" in text


def test_three_classes_and_weights_of_rows(six):
    (six / "three.csv").write_text("a,b,c,y\n1,0,2,red\n0,1,1,green\n-1,-1,1,blue\n0,9,0,red\n")
    found = traced("three.csv", "--label", "y", "--weight", "c")
    own = trace(
        [[1.0, 0], [0, 1], [-1, -1]], ["red", "green", "blue"], np.ones((3, 3)), sample_weight=[2.0, 1, 1]
    )
    assert found["w"] == own.w[:, :2].tolist() and found["rows"] == 3
    text = run("trace", "three.csv", "--label", "y").stdout
    assert "b after" in text and "on red" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--rule", "pa"), "expected one of perceptron, normalized, margin"),
        (("--margin", "1"), "--rule margin"),
        (("--gamma", "1"), "only possible with --kernel"),
        (("--kernel", "rbf", "--order", "any"), "any is not possible with --kernel"),
        (("--kernel", "rbf", "--rule", "normalized"), "not possible with --kernel"),
        (("--classes", "grow"), "cannot grow"),
        (("--epochs", "0"), "a whole number ≥ 1"),
    ],
)
def test_bad_usage(six, words, message):
    done = run("trace", "six.csv", "--label", "y", *words, code=2)
    assert message in done.stderr
