"""A few cases of every fuzzer, in child processes; `make fuzz` has many, under the sanitizers."""

import os
import subprocess
import sys

import pytest

from fuzzers.kinds import KINDS
from support.places import TESTS


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_found(kind, tmp_path):
    command = [sys.executable, "-m", "fuzzers", kind, "--runs", "15", "--seed", "0", "--found", str(tmp_path)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(TESTS)},
    )
    found = "\n".join(path.read_text() for path in tmp_path.glob("*.txt"))
    assert (done.returncode, done.stderr) == (0, ""), found or done.stderr
    assert f"{kind}: 15 cases" in done.stdout and "nothing found" in done.stdout
