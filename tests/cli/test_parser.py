"""The grammar of the command line, and completion in shells."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from novikoff import checker
from novikoff.cli import app
from novikoff.cli.completion import SCRIPTS, candidates
from novikoff.cli.options import (
    CLUSTER,
    COLUMNS,
    KEEPING,
    KERNELS,
    LABELS,
    LEARNING,
    OUTPUT,
    PASSES,
    READING,
    TABLE,
    TAG_LEARNING,
    TAG_READING,
    TAG_TABLE,
    UsageError,
    option,
)
from novikoff.parameters.linear import RULES
from support.commands import run, usage_error


def parsed(*words: str, command: str = "fit"):
    options = app.load(*command.split()).parse([*words])
    assert options is not None
    return options


# ---- words ---------------------------------------------------------------------------------------------
def test_options_may_stand_anywhere_and_the_last_counts():
    options = parsed("a", "--epochs", "3", "b", "-q", "--rule=pa1", "c", "--epochs", "4")
    assert (options.data, options.max_epochs, options.rule, options.quiet) == (
        ["a", "b", "c"],
        4,
        "pa1",
        True,
    )
    assert options.given == {"max_epochs", "rule", "quiet"}
    assert parsed("a").given == frozenset()


@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        (["--classes", "-1,1"], "classes", ["-1", "1"]),
        (["--classes", "-1,+1"], "classes", ["-1", "+1"]),
        (["--classes=-1,+1"], "classes", ["-1", "+1"]),
        (["--positive", "-1"], "positive", "-1"),
        (["--positive", "--rule"], "positive", "--rule"),
        (["--positive", "--"], "positive", "--"),
        (["--label", "-label"], "label", "-label"),
        (["--delimiter", "-"], "delimiter", "-"),
        (["--relabel", "-1=no", "--relabel", "-2=-3"], "relabel", {"-1": "no", "-2": "-3"}),
        (["--class-weight", "-1=2,+1=0.5"], "class_weight", {"-1": 2.0, "+1": 0.5}),
        (["--n-jobs", "-1"], "n_jobs", -1),
        (["--ignore", "a,b", "--ignore", "c"], "ignore", ["a", "b", "c"]),
        (["--test", "a", "--test", "-"], "test", ["a", "-"]),
        (["--gamma", "auto"], "gamma", "auto"),
        (["--gamma", "2"], "gamma", 2.0),
        (["--header", "--no-header"], "header", False),
        (["--no-intercept"], "fit_intercept", False),
        (["--model", "-o"], "model", Path("-o")),
        (["--label", "caf\udce9"], "label", "caf\udce9"),
    ],
)
def test_the_word_after_an_option_is_its_value_whatever_it_begins_with(words, name, value):
    for line in (["x", *words], [*words, "x"], [*words, "--", "x"]):
        found = vars(parsed(*line))[name]
        assert (found, type(found)) == (value, type(value))


def test_what_is_no_option_is_a_file():
    assert parsed("-").data == ["-"]
    assert parsed("--", "-q", "--epochs", "--").data == ["-q", "--epochs", "--"]
    assert parsed("a", "--", "-").data == ["a", "-"]
    assert parsed("caf\udce9.svm", "").data == ["caf\udce9.svm", ""]
    predicted = parsed("m", "a", "-omine", "b", command="predict")
    assert (predicted.model, predicted.data, predicted.output) == (Path("m"), ["a", "b"], Path("mine"))
    assert parsed("a", "-qv").verbose and parsed("a", "-vq").quiet


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["x", "--epoch", "3"], "No such option: --epoch (Possible options: --epochs)"),
        (["x", "--quie"], "No such option: --quie"),
        (["x", "--n_jobs", "3"], "No such option: --n_jobs (Possible options: --n-jobs)"),
        (["x", "--Epochs", "3"], "No such option: --Epochs (Possible options: --epochs)"),
        (["x", "--max-epochs", "3"], "No such option: --max-epochs"),
        (["x", "-x"], "No such option: -x"),
        (["x", "-qx"], "No such option: -x"),
        (["x", "--quiet=3"], "--quiet option does not take a value"),
        (["x", "--epochs"], "--epochs option requires 1 argument"),
        (["x", "--epochs", "2.5"], "--epochs: '2.5' is not possible: expected 'auto' or a whole number ≥ 1."),
        (["x", "--margin", "nan"], "--margin: nan is not possible: expected a number ≥ 0."),
        (["x", "--label", ""], "--label: '' is not possible: expected a column."),
        (
            ["x", "--relabel", "a=b", "--relabel", "c"],
            "--relabel: 'a=b', 'c' is not possible: expected OLD=NEW",
        ),
        (["x", "--classes", "a,a"], "--classes: 'a,a' is not possible: expected 'grow', or at least two"),
        (["x", "--classes", "a\nb"], r"--classes: 'a\nb' is not possible: expected"),
        (["x", "--no-quiet"], "No such option: --no-quiet"),
        ([], "Missing argument 'DATA'."),
        (["--"], "Missing argument 'DATA'."),
    ],
)
def test_what_is_wrong_is_named(words, said):
    message = usage_error("fit", *words)
    usage, try_this, blank, error = message.splitlines()
    assert error.startswith("Error: ") and said in error
    assert usage == "Usage: novikoff fit [OPTIONS] DATA..."
    assert (try_this, blank) == ("Try 'novikoff fit -h' for help.", "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nonsense"], "No such command 'nonsense'."),
        (["fti", "x"], "No such command 'fti'. Did you mean 'fit'?"),
        (["tag", "Fit"], "No such command 'Fit'. Did you mean 'fit'?"),
        (["tag", "--quiet"], "No such option: --quiet"),
        (["--traceback=1", "fit"], "--traceback option does not take a value"),
        (["--completion", "csh"], "--completion: 'csh' is not possible: expected one of bash, zsh, fish."),
        (["inspect", "a", "b"], "Got unexpected extra argument(s) (b)"),
        (["inspect", "a", "--top", "-1"], "--top: -1 is not possible: expected a whole number ≥ 0."),
        (["certify", "a"], "Missing option '--output' / '-o'."),
        (
            ["tune", "a", "--average", "maybe"],
            "--average: 'maybe' is not possible: expected 'both', 'yes' or",
        ),
        (["tune", "a", "--Cs", "1"], "No such option: --Cs (Possible options: --C"),
        (["tag", "fit", "a", "--format", "csv"], "--format: 'csv' is not possible: expected one of 'conll'"),
    ],
)
def test_other_commands_name_it_too(words, said):
    assert said in usage_error(*words)


def test_tracebacks_are_shown_where_the_environment_says_so(monkeypatch):
    for value, wanted in (("1", True), ("true", True), ("0", False), ("", False), ("no", False)):
        monkeypatch.setenv("NOVIKOFF_TRACEBACK", value)
        assert ("Traceback" in run("fit", "nowhere", code=1).stderr) == wanted
    monkeypatch.setenv("NOVIKOFF_TRACEBACK", "perhaps")
    assert "NOVIKOFF_TRACEBACK: 'perhaps' is not possible" in usage_error("fit", "nowhere")


def test_file_names_need_not_be_text(tmp_path):
    """A name that is no UTF-8 comes as surrogates, and is shown as escapes."""
    name = os.fsencode(tmp_path) + b"/caf\xe9.svm"
    Path(os.fsdecode(name)).write_text("1 1:1\n-1 2:1\n")
    command = [sys.executable, "-m", "novikoff", "fit", name, "--model", os.fsencode(tmp_path) + b"/\xff"]
    done = subprocess.run(command, capture_output=True, check=True)
    assert b"\\udcff" in done.stdout and Path(os.fsdecode(tmp_path / "\udcff")).exists()
    done = subprocess.run([*command[:4], b"\xff.svm"], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        b"novikoff: error: \\udcff.svm: No such file or directory\n",
    )


# ---- the table -----------------------------------------------------------------------------------------
def test_every_option_reads_its_own_default():
    """The text of a default gives the default back; so no option is read as the wrong kind."""
    groups = ((LEARNING, PASSES, KERNELS, LABELS, READING, COLUMNS, KEEPING, CLUSTER, OUTPUT), TABLE)
    tags = ((TAG_LEARNING, TAG_READING), TAG_TABLE)
    seen = 0
    for names, table in (groups, tags):
        for each in (option(name, table) for group in names for name in group):
            if not each.is_flag and each.default not in (None, [], {}):
                value = each.read([str(each.default)])
                assert (value, type(value)) == (each.default, type(each.default)), each.name
                seen += 1
    assert seen > 25
    tried = app.load("tune").options
    for each in tried:
        if isinstance(each.default, tuple) and each.name != "averages":
            text = each.help.rpartition("[default:\N{NO-BREAK SPACE}")[2].rstrip("]")
            assert tuple(each.read([text])) == each.default, each.name
    assert app.load("verify").parse(["c", "x"]).max_work == checker.MAX_WORK


def test_a_value_that_the_table_refuses_is_refused():
    for name, text in (("n_jobs", "0"), ("hash_bits", "31"), ("scale", "huge"), ("seed", "-1"), ("C", "inf")):
        with pytest.raises(UsageError, match="is not possible: expected"):
            option(name).read([text])


# ---- completion ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([""], list(app.COMMANDS)),
        (["d"], ["diagnose"]),
        (["tag", ""], ["fit", "predict", "evaluate"]),
        (["--traceback", "ev"], ["evaluate"]),
        (["--completion", ""], ["bash", "zsh", "fish"]),
        (["--comp"], ["--completion"]),
        (["fit", "x.svm", "--rule", ""], list(RULES)),
        (["fit", "--rule", "=", "pa"], ["pa", "pa1", "pa2"]),
        (["fit", "--ties", "="], ["positive", "mistake"]),
        (["fit", "--no-"], ["--no-header", "--no-average", "--no-intercept"]),
        (["fit", "--epochs", ""], []),
        (["fit", "x"], []),
        (["tag", "fit", "--transitions", "b"], ["bio"]),
        (["nonsense", ""], []),
    ],
)
def test_words_that_may_follow(words, found):
    assert candidates(words) == found
    assert run("--complete", *words).stdout.split() == found


def test_bash_completes(tmp_path):
    """As bash itself would call the function: it has the words in COMP_WORDS."""
    Path(tmp_path / "novikoff").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m novikoff "$@"\n')
    Path(tmp_path / "novikoff").chmod(0o755)
    script = (
        'eval "$(novikoff --completion bash)"; COMP_WORDS=(novikoff fit x.svm --multiclass ""); '
        "COMP_CWORD=4; _novikoff; echo ${COMPREPLY[@]}; complete -p novikoff"
    )
    env = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "joint ovr" and "_novikoff novikoff" in done.stdout
    for shell, text in SCRIPTS.items():
        assert run("--completion", shell).stdout == text + "\n"
