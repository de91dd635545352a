"""Killed at any moment and resumed, a fit ends with the very same file, and leaves no other (kills.py)."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from novikoff.loading import load_model
from support.children import run_python
from support.commands import error_of, run, svm_text


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_killed_commands_leave_the_same_bytes_and_nothing_else(folder):
    """Two kills of each command; `make kill-test` has a thousand."""
    done = run_python("-m", "support.kills", "--kills", 18)
    assert not done.stderr
    assert "18 kills of 9 commands" in done.stdout and "0 failures" in done.stdout


@pytest.fixture
def unfinished() -> list[str]:
    """A fit that was killed right after its first checkpoint."""
    Path("train.svm").write_text(svm_text(3000))
    fit = ["fit", "train.svm", "--average", "--checkpoint", "kept", "--every", "1000"]
    code = (
        "import os, signal, sys\n"
        "from novikoff.training.checkpoint import Checkpoint\n"
        "save = Checkpoint.save\n"
        "def once(*given):\n"
        "    save(*given)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "Checkpoint.save = once\n"
        "from novikoff.cli import main\n"
        "main()\n"
    )
    run_python("-c", code, *fit, code=-signal.SIGKILL)
    assert not Path("train.novikoff").exists()
    return fit


def test_an_unfinished_fit_is_not_overwritten(unfinished):
    assert "--resume" in error_of(*unfinished)
    assert "--epochs was 'auto' and is 4" in error_of(*unfinished, "--resume", "--epochs", 4)
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
