"""The command line: what each command says and writes, every error in one line, and exit codes."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import novikoff
from novikoff.cli import progress
from novikoff.cli.app import COMMANDS
from novikoff.loading import load_model
from novikoff.parameters.commands import FILE_PARAMETERS
from novikoff.parameters.linear import PERCEPTRON_PARAMETERS
from support.children import with_small_files
from support.commands import error_of, run, svm_text, usage_error

pytestmark = pytest.mark.filterwarnings("ignore:The training rows (were not|cannot be) separated")


HEAVY = ("numpy", "scipy", "sklearn", "pyarrow", "rich", "typer", "pydantic")
PYTHON = sys.executable


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    """Every test works in a folder of its own, with a file to learn from and one to test on."""
    monkeypatch.chdir(tmp_path)
    Path("train.svm").write_text(svm_text())
    Path("test.svm").write_text(svm_text(100, seed=1))
    return tmp_path


@pytest.fixture
def model(folder) -> Path:
    run("fit", "train.svm", "--quiet")
    return Path("train.novikoff")


# ---- loading ------------------------------------------------------------------------------------------
def loaded_by(*arguments: str) -> set[str]:
    """The heavy modules that a process with these arguments has loaded at its end."""
    code = (
        "import sys, atexit\n"
        f"atexit.register(lambda: print('loaded', *[m for m in {HEAVY} if m in sys.modules]))\n"
        "sys.argv[0] = 'novikoff'\n"
        "from novikoff.cli import main\n"
        "main()"
    )
    done = subprocess.run([PYTHON, "-c", code, *arguments], capture_output=True, text=True, check=True)
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("loaded")]
    return set(line.split()[1:])


@pytest.mark.parametrize("arguments", [("--help",), ("fit", "--help"), ("fit", "--help-all"), ("--version",)])
def test_help_loads_nothing_heavy(arguments):
    assert loaded_by(*arguments) == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "train.svm", "--test", "test.svm"),
        ("fit", "train.svm", "--order", "shuffle", "--early-stopping", "--scale", "standard"),
        ("evaluate", "train.novikoff", "test.svm"),
        ("predict", "train.novikoff", "test.svm", "--scores"),
        ("inspect", "train.novikoff"),
        ("convert", "train.svm", "train.vw"),
        ("convert", "train.novikoff", "train.txt"),
        ("tune", "train.svm", "--folds", "2", "--epochs", "1", "--model", "tuned.novikoff"),
    ],
)
def test_no_command_loads_scikit_learn(arguments, model):
    assert loaded_by(*arguments) == {"numpy"}


def test_the_command_line_needs_no_extra(folder):
    """No extra is needed to read LIBSVM text; what needs one names it."""
    Path("words.csv").write_text(TABLE)
    code = (
        "import sys\n"
        "for name in ('rich', 'pyarrow', 'typer', 'click', 'pydantic'): sys.modules[name] = None\n"
        "from novikoff.cli import main; main()"
    )
    for arguments in (["fit", "train.svm"], ["predict", "train.novikoff", "test.svm"], ["fit", "--help"]):
        done = subprocess.run([PYTHON, "-c", code, *arguments], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), arguments
    done = subprocess.run(
        [PYTHON, "-c", code, "fit", "words.csv"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and "novikoff[files]" in done.stderr


def test_python_dash_m_is_the_command_line():
    done = subprocess.run([PYTHON, "-m", "novikoff", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"novikoff {novikoff.__version__}\n"


# ---- help comes from the table ------------------------------------------------------------------------
def test_help_says_what_the_table_of_parameters_says():
    said = " ".join(run("fit", "--help-all").stdout.split())
    for name in ("rule", "margin", "class_weight", "every", "max_line", "scale", "relabel"):
        assert " ".join(FILE_PARAMETERS[name].help.split()[:6]) in said
    for name in ("max_epochs", "average", "order"):  # those of the estimator
        assert FILE_PARAMETERS[name].default == PERCEPTRON_PARAMETERS[name].default
        assert f"[default: {FILE_PARAMETERS[name].default}]" in said


@pytest.mark.parametrize("way", [("--kernel", "rbf"), ("--dask", "local")])
def test_only_a_perceptron_can_leave_the_epochs_open(way):
    if "--dask" in way:
        pytest.importorskip("distributed")
    said = usage_error("fit", "train.svm", *way, "--epochs", "auto")
    assert f"auto is not possible with {way[0]}." in said


@pytest.mark.parametrize("command", ["fit", "tune", "certify", "verify"])
def test_options_have_their_names_whatever_stands_for_their_values(command):
    assert "\n  --model " in run(command, "--help").stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command):
    assert run(command, "--help").stdout.startswith(f"Usage: novikoff {command}")


# ---- fit ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ((), {"random_state": 0}),
        (("--order", "cyclic"), {"order": "cyclic"}),
        (
            ("--order", "cyclic", "--average", "--epochs", 4),
            {"order": "cyclic", "average": True, "max_epochs": 4},
        ),
        (
            ("--order", "shuffle", "--random-state", 3, "--no-average", "--epochs", 4),
            {"order": "shuffle", "random_state": 3, "average": False, "max_epochs": 4},
        ),
        (("--order", "riffle", "--random-state", 3), {"order": "riffle", "random_state": 3}),
    ],
)
def test_a_fit_is_that_of_the_estimator(options, parameters):
    run("fit", "train.svm", *options)
    X, y = novikoff.load("train.svm")
    expected = novikoff.Perceptron(**parameters).fit(X, y)
    learned = load_model("train.novikoff")
    coef, intercept = learned.weights()
    assert coef.tobytes() == expected.coef_.tobytes()
    assert intercept.tobytes() == np.asarray(expected.intercept_).tobytes()
    assert len(learned.history) == expected.n_epochs_ and learned.run.verdict == expected.verdict_


def test_the_model_file_depends_on_the_rows_alone(folder):
    text = Path("train.svm").read_bytes()
    half = text.index(b"\n", len(text) // 2) + 1
    Path("plain.gz").write_bytes(gzip.compress(text))
    Path("other.xz").write_bytes(lzma.compress(text))
    Path("part1.svm").write_bytes(text[:half])
    Path("part2.svm").write_bytes(text[half:])
    ways = [
        ["train.svm"],
        ["train.svm", "--n-jobs", 1],
        ["plain.gz"],
        ["other.xz", "--max-line", 5000],
        ["part1.svm", "part2.svm"],
        ["part*.svm", "--json"],
    ]
    found = set()
    for n, way in enumerate(ways):
        run("fit", *way, "--average", "--model", f"{n}.novikoff")
        found.add(Path(f"{n}.novikoff").read_bytes())
    assert len(found) == 1


def test_standard_input_is_read_once(folder):
    said = run("fit", "-", "--average", "--scale", "none", input=Path("train.svm").read_bytes())
    assert "one epoch" in said.stderr
    assert "order of appearance" in said.stderr
    model = load_model("stdin.novikoff")
    assert model.classes.tolist() == [-1, 1]  # two numbers, in their order
    assert len(model.history) == 1
    in_order = ("--epochs", 1, "--classes", "grow", "--order", "cyclic", "--scale", "none")
    run("fit", "train.svm", "--average", *in_order)
    again = load_model("train.novikoff")
    assert again.weights()[0].tobytes() == model.weights()[0].tobytes()
    assert again.classes.tolist() == model.classes.tolist()


def test_standard_input_cannot_be_read_twice():
    text = Path("train.svm").read_bytes()
    once = ("--scale", "none")
    assert "can be read only once" in error_of("fit", "-", "--epochs", 2, "-q", *once, input=text)
    assert "--checkpoint" in usage_error("fit", "-", "--checkpoint", "kept", input=text)


def test_standard_input_is_kept_and_gives_the_model_of_the_file(folder):
    """It is scaled, riffled and learned from as often as a file."""
    said = run("fit", "-", "--model", "piped.novikoff", input=Path("train.svm").read_bytes())
    assert "standard input is kept" in said.stderr
    run("fit", "train.svm")
    piped, model = load_model("piped.novikoff"), load_model("train.novikoff")
    assert piped.weights()[0].tobytes() == model.weights()[0].tobytes()
    assert len(piped.history) == len(model.history)


def test_the_report_ends_with_the_test_and_the_file(model):
    said = run("fit", "train.svm", "--test", "test.svm").stdout
    assert "verdict" in said
    assert "errors on 100 rows" in said
    assert "train.novikoff" in said.splitlines()[-1]


def test_json_is_one_object_and_all_there_is():
    result = run("fit", "train.svm", "--test", "test.svm", "--json")
    assert result.stderr == ""
    said = json.loads(result.stdout)
    assert said["model"] == "train.novikoff"
    assert said["report"]["n_rows"] == 400
    assert said["test"]["rows"] == 100
    assert said["classes"] == [-1, 1]
    assert said["skipped"] == {"count": 0, "first": []}


def test_a_bad_test_file_is_told_before_the_fit_or_after_the_report():
    assert "missing.svm" in error_of("fit", "train.svm", "--test", "missing.svm")
    assert not Path("train.novikoff").exists()
    Path("broken.svm").write_text("1 2:x\n")
    assert "broken.svm, line 1" in error_of("fit", "train.svm", "--test", "broken.svm", "-q")
    assert not Path("train.novikoff").exists()
    Path("broken.csv").write_text("label,a\n1,2\n")
    assert "broken.csv: the format is csv" in error_of("fit", "train.svm", "--test", "broken.csv", "-q")
    assert not Path("train.novikoff").exists()
    run("convert", "train.svm", "train.jsonl")  # a table for it is read with the model's features, when known
    result = run("fit", "train.jsonl", "--test", "broken.csv", code=1)
    assert "verdict" in result.stdout
    assert "broken.csv" in result.stderr
    assert Path("train.novikoff").exists()


def test_classes_are_declared_in_the_order_that_decides_ties():
    run("fit", "train.svm", "--classes", "1,-1")
    assert load_model("train.novikoff").classes.tolist() == [1, -1]
    assert "not one of the classes 1, 2" in error_of("fit", "train.svm", "--classes", "1,2")


def test_one_label_against_the_rest():
    Path("three.svm").write_text(svm_text(labels=("a", "b", "c")))
    run("fit", "three.svm", "--positive", "b")
    assert load_model("three.novikoff").classes.tolist() == ["other", "b"]
    said = json.loads(run("evaluate", "three.novikoff", "three.svm", "--json").stdout)
    assert [c["class"] for c in said["classes"]] == ["other", "b"]
    assert said["unknown_labels"] == {}
    assert "--positive d is not one of the labels: 'a', 'b', 'c'" in error_of(
        "fit", "three.svm", "--positive", "d"
    )


def test_labels_are_renamed_in_evaluation_too():
    Path("three.svm").write_text(svm_text(labels=("a", "b", "c")))
    run("fit", "three.svm", "--relabel", "c=b", "--relabel", "a=A")
    assert load_model("three.novikoff").classes.tolist() == ["A", "b"]
    said = json.loads(run("evaluate", "three.novikoff", "three.svm", "--json").stdout)
    assert said["rows"] == 400
    assert said["unknown_labels"] == {}


def test_class_weights_are_those_of_the_estimator():
    X, y = novikoff.load("train.svm")
    for given, weight in (("balanced", "balanced"), ("1=3,-1=0.5", {1: 3.0, -1: 0.5})):
        run("fit", "train.svm", "--class-weight", given, "--epochs", 3)
        expected = novikoff.Perceptron(max_epochs=3, class_weight=weight, random_state=0).fit(X, y)
        assert load_model("train.novikoff").weights()[0].tobytes() == expected.coef_.tobytes()


def test_skipped_lines_are_counted_and_shown():
    text = Path("train.svm").read_text().splitlines()
    text[5], text[9] = "1 nonsense", "1 3:x"
    Path("bad.svm").write_text("\n".join(text))
    assert error_of("fit", "bad.svm").startswith("bad.svm, line 6: ")
    said = run("fit", "bad.svm", "--skip-bad-lines").stdout
    assert "2 malformed line(s)" in said
    assert "bad.svm, line 10" in said
    assert json.loads(run("fit", "bad.svm", "--skip-bad-lines", "--json").stdout)["skipped"]["count"] == 2


# ---- other formats, and what the model remembers of them ----------------------------------------------
def test_json_lines_are_read_for_the_model_as_they_were():
    rows = [{"y": "ab"[k % 2], "w": 1.0, "x": float(k % 2), "word": "cd"[k % 2]} for k in range(10)]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("fit", "rows.jsonl", "--label", "y", "--weight", "w")
    assert {name for c in "ab" for name, _ in load_model("rows.novikoff").top_features()[c]} <= {
        "x",
        "word=c",
        "word=d",
    }
    assert json.loads(run("evaluate", "rows.novikoff", "rows.jsonl", "--json").stdout)["errors"] == 0
    piped = run("predict", "rows.novikoff", "-", input=Path("rows.jsonl").read_bytes())
    assert piped.stdout.split() == ["a", "b"] * 5


TABLE = "age,job,class\n41,cook,yes\n19,nurse,no\n35,cook,yes\n22,nurse,no\n"


def test_a_table_without_the_labels_can_be_predicted():
    Path("people.csv").write_text(TABLE)
    run("fit", "people.csv", "--scale", "standard", "--categorical", "age")
    Path("new.csv").write_text("job,age\nnurse,19\ncook,41\n")
    assert run("predict", "people.novikoff", "new.csv").stdout.split() == ["no", "yes"]


def test_a_table_says_which_columns_there_are():
    import pyarrow as pa
    import pyarrow.parquet as pq

    Path("people.csv").write_text(TABLE)
    pq.write_table(pa.table({"age": [1.0, 2.0], "job": ["cook", "nurse"]}), "people.parquet")
    for said in (
        error_of("fit", "people.csv", "--label", "income"),
        error_of("fit", "people.parquet"),
        error_of("fit", "people.parquet", "--label", "income"),
    ):
        assert "'age', 'job'" in said
    run("fit", "people.csv")
    Path("other.csv").write_text("height,class\n3,yes\n")
    assert "age" in error_of("evaluate", "people.novikoff", "other.csv")


def test_every_format_gives_the_same_weights_by_name():
    """LIBSVM feature 1, JSON key "1" and a column called 1 are the same feature."""
    X, y = novikoff.load("train.svm")
    names = [str(j + 1) for j in range(X.shape[1])]
    svm, lines, table = [], [], [",".join([*names, "label"])]
    for row, sign in zip(X.toarray().tolist(), y.tolist(), strict=True):
        label, stored = "pos" if sign > 0 else "neg", {n: v for n, v in zip(names, row, strict=True) if v}
        svm.append(" ".join([label, *(f"{n}:{v!r}" for n, v in stored.items())]))
        lines.append(json.dumps({"label": label} | stored))
        table.append(",".join([*map(repr, row), label]))
    weights = []
    for suffix, text, *more in (("svm", svm), ("jsonl", lines), ("csv", table, "--header")):
        Path(f"same.{suffix}").write_text("\n".join(text) + "\n")
        run("fit", f"same.{suffix}", "--average", "--epochs", 10, "--model", f"{suffix}.novikoff", *more)
        linear = load_model(f"{suffix}.novikoff")
        found = linear.features.names(range(linear.model.n_features))
        weights.append(dict(zip(found, linear.weights()[0][0].tolist(), strict=True)))
    assert weights[0] == weights[1]
    assert weights[0] == weights[2]


def test_a_cache_changes_nothing():
    run("fit", "train.svm", "--average", "--model", "plain.novikoff")
    for _ in range(2):
        run("fit", "train.svm", "--average", "--cache", "--model", "cached.novikoff")
        assert Path("cached.novikoff").read_bytes() == Path("plain.novikoff").read_bytes()
        assert list(Path().glob("train.svm.*.cache"))


def test_rows_that_lie_in_runs_are_noted():
    lines = sorted(Path("train.svm").read_text().splitlines())
    Path("sorted.svm").write_text("\n".join(lines) + "\n")
    in_order = ("--order", "cyclic")
    assert re.search(r"\n  advice .* --order riffle\n", run("fit", "sorted.svm", *in_order).stdout)
    for order in ("riffle", "shuffle"):
        assert "stand together" not in run("fit", "sorted.svm", "--order", order).stdout
    assert "stand together" not in run("fit", "train.svm", *in_order).stdout
    for arguments, noted in ((in_order, True), ((), False)):
        said = json.loads(run("fit", "sorted.svm", *arguments, "--json").stdout)
        assert said["labels_in_runs"] is noted
    piped = {"input": Path("sorted.svm").read_bytes()}  # in its order, whatever is asked for
    once = ("fit", "-", "--scale", "none")
    assert re.search(r"\n  advice .* shuffle them first\n", run(*once, **piped).stdout)
    assert json.loads(run(*once, "--json", **piped).stdout)["labels_in_runs"] is True


# ---- where the model goes -----------------------------------------------------------------------------
def test_an_existing_model_is_replaced_and_anything_else_is_not(model):
    before = model.read_bytes()
    run("fit", "train.svm", "--rule", "pa1")
    assert model.read_bytes() != before
    Path("precious.txt").write_text("years of work")
    assert "is not overwritten" in error_of("fit", "train.svm", "--model", "precious.txt")
    assert "is not overwritten" in error_of("fit", "train.svm", "--model", "train.svm")
    assert Path("precious.txt").read_text() == "years of work"


def test_the_model_must_have_a_folder_to_go_to(folder):
    assert "no folder" in usage_error("fit", "train.svm", "--model", "nowhere/x.novikoff")
    assert "is a folder" in usage_error("fit", "train.svm", "--model", folder)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write and read everywhere")
def test_no_permission():
    Path("closed").mkdir(mode=0o500)
    assert "No permission" in error_of("fit", "train.svm", "--model", "closed/x.novikoff")
    Path("train.svm").chmod(0)
    assert "No permission" in error_of("fit", "train.svm")


def test_a_full_disk_leaves_the_old_model(model):
    before = model.read_bytes()
    command = with_small_files([PYTHON, "-m", "novikoff", "fit", "train.svm", "--rule", "pa1"])
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "nothing was saved" in done.stderr
    assert model.read_bytes() == before
    assert sorted(p.name for p in Path().iterdir()) == ["test.svm", "train.novikoff", "train.svm"]


# ---- bad input ----------------------------------------------------------------------------------------
def test_bad_files(folder):
    Path("empty.svm").write_text("")
    Path("one.svm").write_text("1 1:2\n1 2:1\n")
    Path("cut.svm.gz").write_bytes(gzip.compress(Path("train.svm").read_bytes())[:-200])
    assert error_of("fit", "missing.svm") == "missing.svm: No such file or directory"
    assert "No file matches" in error_of("fit", "missing*.svm")
    assert "Is a directory" in error_of("fit", folder)
    assert "at least one row" in error_of("fit", "empty.svm", "--format", "libsvm")
    assert "every row has the label '1'" in error_of("fit", "one.svm")
    assert "cut short" in error_of("fit", "cut.svm.gz")


def test_bad_models(model):
    Path("text.novikoff").write_text("not a model at all")
    damaged = bytearray(model.read_bytes())
    damaged[-9] ^= 1
    Path("damaged.novikoff").write_bytes(damaged)
    for command in (["evaluate"], ["predict"]):
        assert "No such file" in error_of(*command, "missing.novikoff", "test.svm")
        assert "not a novikoff model" in error_of(*command, "text.novikoff", "test.svm")
        assert "digest" in error_of(*command, "damaged.novikoff", "test.svm")
    assert "not a novikoff model" in error_of("inspect", "text.novikoff")


def test_a_model_for_other_features(model):
    Path("wide.svm").write_text("1 99:1\n")
    Path("words.vw").write_text("1 | some words\n")
    bias = load_model(model).weights()[1].item()
    assert float(run("predict", model, "wide.svm", "--scores").stdout.split()[1]) == bias  # it knows no 99
    assert "another format" in error_of("evaluate", model, "words.vw")


def test_labels_that_the_model_does_not_know(model):
    Path("other.svm").write_text("1 1:1\n7 1:1\n")
    assert "'7' (1)" in run("evaluate", model, "other.svm").stdout
    Path("text.svm").write_text("ham 1:1\n")
    assert "the model's classes are numbers" in error_of("evaluate", model, "text.svm")


def test_traceback_on_request():
    result = run("--traceback", "fit", "missing.svm", code=1)
    assert "Traceback" in result.stderr
    assert "Traceback" not in run("fit", "missing.svm", code=1).stderr


# ---- bad usage ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--rule", "newton"], "expected one of 'perceptron'"),
        (["--epochs", "0"], "expected 'auto' or a whole number ≥ 1"),
        (["--epochs", "many"], "--epochs: 'many' is not possible: expected 'auto' or a whole number ≥ 1"),
        (["--C", "-1"], "expected a number > 0"),
        (["--hash-bits", "31"], "from 1 to 30"),
        (["--class-weight", "a"], "LABEL=WEIGHT"),
        (["--class-weight", "a=-1"], "LABEL=WEIGHT"),
        (["--classes", "a"], "at least two labels"),
        (["--relabel", "a"], "OLD=NEW"),
        (["--delimiter", "ab"], "one ASCII character"),
        (["--scale", "huge"], "'standard'"),
        (["--n-jobs", "0"], "not 0"),
        (["--label", "class"], "is not an option of the format 'libsvm'"),
        (["--resume"], "needs --checkpoint"),
        (["--checkpoint", "kept", "--order", "shuffle"], "--order cyclic"),
        (["--checkpoint", "kept", "--early-stopping"], "--order cyclic"),
        (["--nonsense"], "No such option"),
    ],
)
def test_bad_usage(arguments, said):
    assert said in " ".join(usage_error("fit", "train.svm", *arguments).split())
    assert not Path("train.novikoff").exists()


def test_what_is_missing_is_named():
    assert "DATA" in usage_error("fit")
    assert "No such command" in usage_error("nonsense")


# ---- predict ------------------------------------------------------------------------------------------
def test_predictions_are_the_models_line_by_line(model):
    X, _ = novikoff.load("test.svm", n_features=12)
    linear = load_model(model)
    expected = [str(label) for label in linear.predict(X).tolist()]
    assert run("predict", model, "test.svm").stdout.splitlines() == expected
    scored = [line.split("\t") for line in run("predict", model, "test.svm", "--scores").stdout.splitlines()]
    assert [label for label, _ in scored] == expected
    assert [float(score) for _, score in scored] == linear.scores(X).tolist()
    said = run("predict", model, "test.svm", "--scores", "--json").stdout.splitlines()
    assert json.loads(said[0]) == {"label": int(expected[0]), "scores": {"1": float(scored[0][1])}}


def test_rows_to_predict_need_no_labels(model):
    bare = "\n".join(line.partition(" ")[2] for line in Path("test.svm").read_text().splitlines())
    Path("bare.svm").write_text(bare + "\n")
    assert run("predict", model, "bare.svm").stdout == run("predict", model, "test.svm").stdout
    assert run("predict", model, "-", input=bare.encode()).stdout == run("predict", model, "test.svm").stdout
    assert "label" in error_of("evaluate", model, "bare.svm")


def test_scores_of_three_classes_come_in_the_classes_order():
    Path("three.svm").write_text(svm_text(labels=("a", "b", "c")))
    run("fit", "three.svm")
    for line in run("predict", "three.novikoff", "three.svm", "--scores").stdout.splitlines()[:20]:
        label, *scores = line.split("\t")
        assert label == "abc"[int(np.argmax([float(s) for s in scores]))]


def test_an_output_file_appears_when_it_is_complete(model):
    run("predict", model, "test.svm", "--output", "labels.txt")
    assert Path("labels.txt").read_text() == run("predict", model, "test.svm").stdout
    Path("labels.txt").write_text("before")
    Path("broken.svm").write_text(Path("test.svm").read_text() + "1 2:x\n")
    error_of("predict", model, "broken.svm", "--output", "labels.txt")
    assert Path("labels.txt").read_text() == "before"
    assert "No such file" in error_of("predict", model, "test.svm", "--output", "nowhere/labels.txt")


def test_a_closed_pipe_ends_quietly(model):
    Path("long.svm").write_text(Path("test.svm").read_text() * 2000)
    command = f"{PYTHON} -m novikoff predict {model} long.svm | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False
    )
    assert done.stdout in ("1\n", "-1\n")
    assert done.stderr == ""
    assert done.returncode == 141


# ---- evaluate -----------------------------------------------------------------------------------------
def test_evaluation_counts(model):
    X, y = novikoff.load("test.svm", n_features=12)
    predicted = load_model(model).predict(X)
    said = json.loads(run("evaluate", model, "test.svm", "--json").stdout)
    matrix = [[int(np.sum((y == a) & (predicted == b))) for b in (-1, 1)] for a in (-1, 1)]
    assert said["confusion"] == matrix
    assert said["errors"] == int(np.sum(y != predicted))
    assert said["classes"][1]["recall"] == matrix[1][1] / sum(matrix[1])
    shown = run("evaluate", model, "test.svm").stdout
    assert f"{100 * said['accuracy']:.2f} % correct" in shown


def test_many_classes_are_shown_by_their_frequent_mistakes():
    names = tuple(f"class{k:02}" for k in range(14))
    Path("many.svm").write_text(svm_text(2000, labels=names))
    run("fit", "many.svm")
    assert "taken for" in run("evaluate", "many.novikoff", "many.svm").stdout


# ---- inspect ------------------------------------------------------------------------------------------
def test_inspect_says_what_it_is_and_how_it_was_made(model):
    run("fit", "train.svm", "--rule", "pa1", "--C", 0.5, "--average")
    said = run("inspect", model, "--top", 3).stdout
    for what in ("rule='pa1'", "C=0.5", "400 rows", "12 (numbered)", "for -1:", "for 1:"):
        assert what in said
    facts = json.loads(run("inspect", model, "--top", 3, "--json").stdout)
    assert facts["classes"] == [-1, 1]
    assert facts["parameters"]["C"] == 0.5
    top = facts["top_features"][1]["features"]
    assert [name for name, _ in top] == [name for name, _ in load_model(model).top_features(3)[1]]


# ---- interrupted --------------------------------------------------------------------------------------
def interrupted_after(monkeypatch, calls: int) -> None:
    """Let Ctrl-C come after so many blocks."""
    left = [calls]

    class Interrupting:
        def __init__(self, wanted: bool, epochs: int = 0) -> None: ...

        def __enter__(self):
            return self.watch

        def __exit__(self, *error: object) -> None: ...

        def watch(self, _: object) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt

    monkeypatch.setattr(progress, "bar", Interrupting)


def test_ctrl_c_saves_what_there_is(monkeypatch):
    interrupted_after(monkeypatch, 3)
    result = run("fit", "train.svm", "--order", "cyclic", "--scale", "none", code=130)
    assert "what had been learned so far is saved in train.novikoff" in result.stderr
    assert len(load_model("train.novikoff").history) == 3
    assert len(run("predict", "train.novikoff", "test.svm").stdout.splitlines()) == 100


def test_ctrl_c_before_anything_is_learned(monkeypatch):
    interrupted_after(monkeypatch, 0)
    result = run("fit", "train.svm", "--scale", "standard", code=130)
    assert "interrupted" in result.stderr
    assert not Path("train.novikoff").exists()


# ---- progress -----------------------------------------------------------------------------------------
class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_is_shown_to_terminals_only(monkeypatch):
    from novikoff.data.sources.progress import Progress

    for terminal, wanted in ((Terminal(), True), (Terminal(), False), (io.StringIO(), True)):
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setenv("TERM", "xterm")
        with progress.bar(wanted, 5) as watch:
            assert (watch is not None) == (wanted and terminal.isatty())
            if watch is not None:
                watch(Progress("epoch 2", 1000, 500, 1000, 7, 0.5))
        assert ("epoch 2/5" in terminal.getvalue()) == (wanted and terminal.isatty())
