"""Killed at any moment and resumed, a fit ends with the very same file.

Moments are counted in calls, not in seconds, so that they are the same on every machine. `NOVIKOFF_KILLS`
says how many there are: 3 in the suite, 20 in `make kill-test`, where `NOVIKOFF_SEED` draws them.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from novikoff.models.loading import load_model
from test_cli import error_of, run, svm_text

KILLS = int(os.environ.get("NOVIKOFF_KILLS", "3"))
SEED = int(os.environ.get("NOVIKOFF_SEED", "0"))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


KEPT = Path("kept/checkpoint.novikoff")
FIT = ["fit", "train.svm", "--average", "--epochs", "12", "--scale", "maxabs", "--quiet"]
PIECES = [*FIT, "--model", "pieces.novikoff", "--checkpoint", "kept", "--every", "500", "--resume"]

# The command line, dead at the call of that number among those made in novikoff's own code, which are calls
# of each other, of the native loops and of whatever writes files. If it lives, it says how many there were
# when there was a checkpoint, and in all.
MORTAL = """
import os, signal, sys

last, calls, learning = int(sys.argv.pop(1)), 0, 0

def count(frame, event, called):
    global calls, learning
    name = frame.f_globals.get("__name__", "")
    if event in ("call", "c_call") and name.startswith("novikoff.") and frame.f_code.co_name != "<module>":
        calls += 1
        if calls == last:
            os.kill(os.getpid(), signal.SIGKILL)
        if not learning and os.path.exists("kept/checkpoint.novikoff"):
            learning = calls

from novikoff.cli import main
sys.setprofile(count)
try:
    main()
finally:
    sys.setprofile(None)
    print(learning, calls)
"""


def mortal(last: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", MORTAL, str(last), *PIECES]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_killed_runs_end_with_the_same_bytes():
    """With everything that has to survive: averages, three classes, scaling, many passes."""
    Path("train.svm").write_text(svm_text(2000, labels=("a", "b", "c")))
    run(*FIT, "--model", "whole.novikoff")
    whole = Path("whole.novikoff").read_bytes()
    Path("kept").mkdir()
    learning, calls = map(int, mortal(0).stdout.split()[-2:])
    assert Path("pieces.novikoff").read_bytes() == whole
    moments, while_learning = random.Random(SEED), 0
    for kill in range(KILLS):
        Path("pieces.novikoff").unlink()
        last = moments.randint(learning if kill % 3 else 1, calls)  # while it learns, or at any time
        assert mortal(last).returncode == -signal.SIGKILL
        while_learning += KEPT.exists()
        if kill % 2:
            mortal(last)  # and again, unless less is left to be done
        run(*PIECES)
        assert Path("pieces.novikoff").read_bytes() == whole, f"killed at call {last} of {calls}, seed {SEED}"
        assert not KEPT.exists()
    assert while_learning


@pytest.fixture
def unfinished() -> list[str]:
    """A fit that was killed right after its first checkpoint."""
    Path("train.svm").write_text(svm_text(3000))
    fit = ["fit", "train.svm", "--average", "--checkpoint", "kept", "--every", "1000"]
    code = (
        "import os, signal, sys\n"
        "from novikoff.checkpoint import Checkpoint\n"
        "save = Checkpoint.save\n"
        "def once(*given):\n"
        "    save(*given)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "Checkpoint.save = once\n"
        "from novikoff.cli import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *fit], check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not Path("train.novikoff").exists()
    return fit


def test_an_unfinished_fit_is_not_overwritten(unfinished):
    assert "--resume" in error_of(*unfinished)
    assert "--epochs was 10 and is 4" in error_of(*unfinished, "--resume", "--epochs", 4)
    text = Path("train.svm").read_text()
    Path("train.svm").write_text(text + "1 1:1\n")
    assert "other data" in error_of(*unfinished, "--resume")


def test_a_resumed_fit_is_the_undisturbed_one(unfinished):
    said = run(*unfinished, "--resume", "--n-jobs", 1).stdout
    assert "saved" in said
    run("fit", "train.svm", "--average", "--model", "whole.novikoff")
    assert Path("train.novikoff").read_bytes() == Path("whole.novikoff").read_bytes()
    assert not list(Path("kept").iterdir())


def test_resuming_what_was_not_begun_begins_it():
    Path("train.svm").write_text(svm_text(300))
    said = run("fit", "train.svm", "--checkpoint", "kept", "--resume")
    assert "starting from the beginning" in said.stderr
    assert load_model("train.novikoff").classes.tolist() == [-1, 1]
