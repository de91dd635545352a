"""What the project's own files promise: what is built anew, and which versions there are."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = [path for folder in ("native", "src") for path in (ROOT / folder).rglob("*") if path.is_file()]


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_whatever_source_changes_is_built_anew(tmp_path):
    """Asked about one file of each kind and folder; one folder, `cli/tag`, used to be forgotten."""
    for name in (".build", ".built", ".test"):
        (tmp_path / name).touch()

    def planned(*changed):
        command = ["make", "-n", "test", f"VENV={tmp_path}", *changed]
        alone = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        done = subprocess.run(command, cwd=ROOT, env=alone, capture_output=True, text=True, check=True)
        return done.stdout

    assert "pip" not in planned()
    files = {(path.parent, path.suffix): path.relative_to(ROOT) for path in SOURCES if path.suffix != ".pyc"}
    forgotten = [path for path in files.values() if " -e " not in planned("-W", str(path))]
    assert len(files) > 10 and not forgotten


@pytest.mark.skipif(not (ROOT / ".ci").is_dir(), reason="not in a source distribution")
def test_every_promise_has_a_lowest_version():
    command = [sys.executable, ROOT / ".ci" / "lowest.py"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    lowest = dict(line.split("==") for line in said)
    pinned = (ROOT / "constraints.txt").read_text().split()
    assert {"numpy", "nanobind", "typer", "distributed", "pytest"} <= lowest.keys()
    names = {line.split("==")[0].replace("_", "-").lower() for line in pinned}
    assert lowest.keys() <= names  # `make test` says exactly what it runs
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert f"numpy>={lowest['numpy']}" in project["project"]["dependencies"]
