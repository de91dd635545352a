"""What commands print of names that others chose, and what they do when nobody can read it.

Streams are those of child processes: a terminal's file, a pipe that is closed, a full device, or none at all.
"""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from novikoff import Perceptron, SequenceTagger
from novikoff.cli.app import COMMANDS
from novikoff.cli.visible import breaks_lines, in_line, visible
from support.commands import error_of, run, svm_text

COMMAND = [sys.executable, "-m", "novikoff"]
EVIL = "x\x1b]0;owned\x07\x9b31m\x7f\u202eevil\u2066"
OBEYED = [chr(k) for k in (*range(9), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F))]
OBEYED += [chr(k) for k in (*range(0x2066, 0x206A), 0x2028, 0x2029, 0xD800, 0xDC80, 0xDFFF)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def safe(text: str) -> bool:
    """Whether a terminal would only show it: no control but the ends of lines, no turned direction."""
    return not any(c in OBEYED or unicodedata.category(c) == "Cc" for c in text.replace("\n", ""))


def child(*arguments: str, **more) -> subprocess.CompletedProcess:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, check=False, **more)


def shell(script: str) -> subprocess.CompletedProcess:
    """A script of bash, in which $N is the command line."""
    script = script.replace("$N", " ".join(COMMAND))
    command = ["bash", "-o", "pipefail", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=False)


# ---- the function --------------------------------------------------------------------------------------
def test_what_terminals_obey_is_shown():
    for c in OBEYED:
        assert safe(visible(f"a{c}b")) and c not in visible(f"a{c}b"), hex(ord(c))
        assert json.loads(f'"{visible(c)}"') == c  # so that it can be done to JSON
        assert breaks_lines(c)
    ordinary = "R ≥ γ² — naïve 日本語 עברית \U0001f600 \\u001b"
    assert visible(ordinary) == in_line(ordinary) == ordinary and not breaks_lines(ordinary)
    assert visible("a\tb\nc") == "a\tb\nc" and in_line("a\tb\nc") == "a\\tb\\nc"


# ---- names and labels from files -----------------------------------------------------------------------
@pytest.fixture
def evil() -> str:
    """A model whose classes and features are called so that a terminal would obey."""
    names = [f"{EVIL}\n{k}" for k in range(3)]
    rows = [{"label": names[k % 3], "features": {names[k % 3]: 1, "line\nbreak": k}} for k in range(6)]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("fit", "rows.jsonl", "--order", "cyclic", "--model", "evil.novikoff")
    return "evil.novikoff"


@pytest.mark.parametrize(
    "arguments",
    [
        ("inspect", "evil.novikoff"),
        ("inspect", "evil.novikoff", "--json"),
        ("evaluate", "evil.novikoff", "rows.jsonl"),
        ("evaluate", "evil.novikoff", "rows.jsonl", "--json"),
        ("predict", "evil.novikoff", "rows.jsonl", "--json", "--scores"),
        ("predict", "evil.novikoff", "rows.jsonl"),
        ("fit", "rows.jsonl", "--model", f"{EVIL}.novikoff"),
        ("fit", "rows.jsonl", "--model", "m.novikoff", "--classes", EVIL),
        ("fit", EVIL),
        ("fit", "rows.jsonl", f"--{EVIL}"),
        ("diagnose", "rows.jsonl"),
        ("certify", "rows.jsonl", "--output", "c.json"),
        ("convert", "rows.jsonl", "rows.svm"),
        ("convert", "rows.jsonl", f"{EVIL}.csv"),
        ("tag", "fit", EVIL),
        (EVIL,),
    ],
)
def test_nothing_that_is_printed_is_obeyed(evil, arguments):
    done = child(*arguments)
    assert safe((done.stdout + done.stderr).decode()), (done.stdout, done.stderr)
    assert b"Traceback" not in done.stderr
    assert done.stdout or done.stderr


def test_bad_lines_are_quoted_safely():
    Path("bad.svm").write_bytes(b"1 1:1\n1 \x1b]0;owned\x07\x9b:\xe2\x80\xae\n")
    Path("bad.vw").write_bytes(b"1 | a\n\x1b[31m:x | b:\x1b[0m\n")
    Path("bad.csv").write_text(f"label,a\n1,2\n0,{EVIL}\n1,2,3\n")
    Path("bad.jsonl").write_text('{"label": 1, "features": {"' + EVIL + '": "x"}}\n')
    for name in ("bad.svm", "bad.vw", "bad.csv", "bad.jsonl"):
        done = child("fit", name, "--model", "m.novikoff")
        assert safe(done.stderr.decode()) and b"error" in done.stderr
        more = child("fit", name, "--model", "m.novikoff", "--skip-bad-lines")
        assert safe((more.stdout + more.stderr).decode())


def test_a_line_of_a_table_stays_one_line(evil):
    """A name cannot say things in the command's own name."""
    shown = run("inspect", evil).stdout
    assert "line\\nbreak" in shown and "line\nbreak" not in shown
    for line in run("evaluate", evil, "rows.jsonl").stdout.splitlines():
        assert not line.startswith(("0", "1", "2")) or "%" in line


def test_the_checker_alone_is_as_careful():
    Path("c.json").write_text("{}")
    Path("rows.csv").write_text(f"label,1,{EVIL}\n1,2,3\n")
    command = [sys.executable, "-m", "novikoff.checker", "c.json", "rows.csv"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.startswith("refused: ") and safe(done.stderr)


# ---- labels that break lines ---------------------------------------------------------------------------
BREAKS = ("a\nb", "a\rb", "a\u2028b", "a\x85b", "a\tb", "a\x0bb", "a\x1eb")


@pytest.mark.parametrize("label", BREAKS)
def test_line_i_is_for_row_i(label):
    X = np.array([[1.0], [-1.0], [2.0]])
    Perceptron().fit(X, np.array([label, "plain", label])).save("m.novikoff")
    Path("rows.svm").write_text("0 1:1\n0 1:-1\n0 1:2\n")
    Path("labels.txt").write_text("before")
    for more in ((), ("--scores",), ("--output", "labels.txt")):
        said = error_of("predict", "m.novikoff", "rows.svm", *more)
        assert repr(label) in said and "--to jsonl" in said
    assert Path("labels.txt").read_text() == "before"
    lines = run("predict", "m.novikoff", "rows.svm", "--json").stdout.splitlines()
    assert [json.loads(line)["label"] for line in lines] == [label, "plain", label]


@pytest.mark.parametrize("label", BREAKS)
def test_labels_of_tokens_that_break_lines_are_refused(label):
    tagger = SequenceTagger().fit([[{"w": "a"}, {"w": "b"}]] * 2, [[label, "O"]] * 2)
    tagger.save("t.novikoff")
    said = error_of("tag", "predict", "t.novikoff", "x.conll")
    assert repr(label) in said and "--json" in said


@pytest.mark.parametrize("label", BREAKS)
def test_converted_rows_are_as_many_lines_or_refused(label):
    """And what is written is read back as it was."""
    rows = [{"label": each, "features": {"f": k + 1}} for k, each in enumerate((label, "plain"))]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for to in ("svm", "vw", "csv", "tsv", "jsonl", "parquet"):
        done = child("convert", "rows.jsonl", f"out.{to}", "--force")
        if done.returncode:
            assert done.returncode == 1 and b"cannot be written" in done.stderr, done.stderr
            assert not Path(f"out.{to}").exists()
            continue
        assert run("convert", f"out.{to}", "back.jsonl", "--force")
        back = [json.loads(line) for line in Path("back.jsonl").read_text().split("\n")[:-1]]
        assert [row["label"] for row in back] == [label, "plain"]


# ---- standard output that cannot be written to ---------------------------------------------------------
@pytest.fixture
def ready() -> dict[str, str]:
    """A way to run every command, each with something to say."""
    Path("train.svm").write_text(svm_text(200))
    Path("long.svm").write_text(svm_text(200) * 200)
    Path("train.conll").write_text("the D\ndog N\n\na D\ncat N\n\n" * 5)
    run("fit", "train.svm", "--model", "m.novikoff")
    run("tag", "fit", "train.conll", "--model", "t.novikoff")
    run("certify", "train.svm", "--output", "c.json")
    return {
        "fit": "fit train.svm --model n.novikoff",
        "predict": "predict m.novikoff long.svm",
        "evaluate": "evaluate m.novikoff train.svm",
        "inspect": "inspect m.novikoff",
        "convert": "convert train.svm - --to jsonl",
        "tune": "tune train.svm --model u.novikoff --folds 2 --epochs 2",
        "diagnose": "diagnose train.svm",
        "certify": "certify train.svm --output d.json",
        "trace": "trace train.svm --epochs 1",
        "verify": "verify c.json train.svm",
        "tag": "tag predict t.novikoff train.conll",
        "tag fit": "tag fit train.conll --model v.novikoff",
        "tag evaluate": "tag evaluate t.novikoff train.conll",
        "parquet": "convert train.svm - --to parquet",
        "json": "inspect m.novikoff --json",
        "help": "--help",
        "help of one": "fit --help",
        "version": "--version",
    }


def test_nobody_reads_it(ready):
    """A pipe whose reader is gone ends every command as SIGPIPE would end it: without a word."""
    assert {*COMMANDS} <= {*ready}
    for name, arguments in ready.items():
        done = shell(
            f"mkfifo pipe; (exec 3<pipe; exec 3<&-) & exec 4>pipe; wait; $N {arguments} >&4; echo $?; rm pipe"
        )
        assert (done.stdout, done.stderr) == ("141\n", ""), name


def test_a_full_device_is_one_clear_error(ready):
    for name, arguments in ready.items():
        done = shell(f"$N {arguments} > /dev/full")
        assert done.stderr == "novikoff: error: standard output: No space left on device\n", name
        assert done.returncode == 1, name


@pytest.mark.parametrize("how", ["", "PYTHONUNBUFFERED=1 "])
def test_output_that_does_not_fit_is_an_error_also_without_a_buffer(ready, how):
    """`python -u` writes to the file itself, which may take but a part: that was the end of the output."""
    done = shell(
        f"(ulimit -f 1; for k in $(seq 20); do {how}$N predict m.novikoff train.svm; done > out; echo $?)"
    )
    assert "novikoff: error: standard output: File too large" in done.stderr and done.stdout == "1\n"


def test_no_standard_output_is_one_clear_error(ready):
    for name, arguments in ready.items():
        done = shell(f"$N {arguments} >&-")
        assert done.stderr == "novikoff: error: standard output: Bad file descriptor\n", name
        assert done.returncode == 1, name
    assert shell("$N fit nowhere.svm 2>&-").returncode == 1
    done = shell("$N predict m.novikoff train.svm --output labels.txt <&- >&- 2>&-")
    assert done.returncode == 0 and len(Path("labels.txt").read_text().splitlines()) == 200


def test_what_was_saved_before_stays(ready):
    shell("$N fit train.svm --model w.novikoff > /dev/full")
    assert Path("w.novikoff").read_bytes()
