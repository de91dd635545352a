"""Compile the small C++ files of this folder on demand."""

from __future__ import annotations

import subprocess
from pathlib import Path
from shutil import which

HERE = Path(__file__).parent


def compiler() -> str | None:
    return which("g++") or which("c++")


def compile_here(source: str, target: Path, *flags: str) -> Path:
    """Compile a file of this folder to `target`."""
    command = [compiler(), "-O3", "-std=gnu++17", "-Wno-psabi", *flags, str(HERE / source), "-o", str(target)]
    subprocess.run(command, check=True)
    return target
