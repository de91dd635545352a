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
    options = ["-O3", "-std=gnu++17", "-Wno-psabi", f"-I{HERE.parent / 'native'}", *flags]
    subprocess.run([compiler(), *options, str(HERE / source), "-o", str(target)], check=True)
    return target
