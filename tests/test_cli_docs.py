"""The commands in docs/cli.md do what the page shows."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"
BLOCKS = re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.S)


def test_the_pages_commands_give_what_it_shows(tmp_path):
    folder = Path(sys.executable).parent
    if not (folder / "novikoff").exists():
        pytest.skip("the command is not installed beside this Python")
    environment = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for block in BLOCKS:
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
