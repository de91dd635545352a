"""Killed at any moment and resumed, a fit ends with the very same file.

`NOVIKOFF_KILLS` says how many kills there are: 3 in the suite, 20 in `make kill-test`.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from novikoff.models.loading import load_model
from test_cli import error_of, run, svm_text

KILLS = int(os.environ.get("NOVIKOFF_KILLS", "3"))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


KEPT = Path("kept/checkpoint.novikoff")


def fit(*more: str) -> list[str]:
    """A fit with everything that has to survive: averages, three classes, scaling, many passes."""
    arguments = [sys.executable, "-m", "novikoff", "fit", "train.svm", "--average", "--epochs", "12"]
    return [*arguments, "--scale", "maxabs", "--quiet", *more]


def test_killed_runs_end_with_the_same_bytes():
    Path("train.svm").write_text(svm_text(20_000, labels=("a", "b", "c")) * 4)
    started = time.perf_counter()
    subprocess.run(fit("--model", "whole.novikoff"), check=True, capture_output=True)
    duration = time.perf_counter() - started
    whole = Path("whole.novikoff").read_bytes()
    kept = ["--model", "pieces.novikoff", "--checkpoint", "kept", "--every", "5000", "--resume"]
    seed = random.randrange(2**32)
    moments, kills, while_learning = random.Random(seed), 0, 0
    while kills < KILLS:
        Path("pieces.novikoff").unlink(missing_ok=True)
        process = subprocess.Popen(fit(*kept), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if kills % 3:  # at some time while it learns; otherwise at any time
            while process.poll() is None and not KEPT.exists():
                time.sleep(0.001)
        time.sleep(moments.uniform(0, duration))
        process.kill()
        if process.wait() == -signal.SIGKILL:
            kills += 1
            while_learning += KEPT.exists()
            subprocess.run(fit(*kept), check=True, capture_output=True)
        assert Path("pieces.novikoff").read_bytes() == whole, f"seed {seed}"
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
