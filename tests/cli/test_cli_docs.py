"""The commands in README.md, docs/cli.md, docs/files.md and docs/tag-commands.md do what the pages show."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.places import ROOT


@pytest.mark.parametrize("page", ["README.md", "docs/cli.md", "docs/files.md", "docs/tag-commands.md"])
def test_the_pages_commands_give_what_it_shows(page, tmp_path):
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.S)
    assert blocks
    (tmp_path / "examples").symlink_to(ROOT / "examples")  # the pages run from the root of the repository
    folder = Path(sys.executable).parent
    if not (folder / "novikoff").exists():
        pytest.skip("the command is not installed beside this Python")
    environment = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for block in blocks:
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.M):
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=tmp_path,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            assert done.returncode == 0, (command, done.stdout)
            assert doctest.OutputChecker().check_output(shown, done.stdout, flags), (command, done.stdout)
