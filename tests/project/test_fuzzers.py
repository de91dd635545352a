"""A few cases of every fuzzer, in child processes; `make fuzz` has many, under the sanitizers."""

import pytest

from fuzzers.kinds import KINDS
from support.children import run_python


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_found(kind, tmp_path):
    done = run_python("-m", "fuzzers", kind, "--runs", 15, "--seed", 0, "--found", tmp_path, code=None)
    found = "\n".join(path.read_text() for path in tmp_path.glob("*.txt"))
    assert (done.returncode, done.stderr) == (0, ""), found or done.stderr
    assert f"{kind}: 15 cases" in done.stdout and "nothing found" in done.stdout
