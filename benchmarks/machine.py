"""The machine and the package versions behind the figures."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("novikoff", "numpy", "scipy", "scikit-learn", "river", "vowpalwabbit")


def facts() -> list[str]:
    """One line each on the processor, its caches, its memory, and the packages."""
    lines = [f"{_processor()}, {len(os.sched_getaffinity(0))} cores to run on, {platform.machine()}"]
    if caches := _caches():
        lines.append(f"caches seen by one core: {caches}")
    lines.append(f"memory: {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB")
    lines.append(f"Python {platform.python_version()}, " + ", ".join(_versions()))
    return lines


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown processor"


def _caches() -> str:
    found = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        found.append(f"L{level}{'' if kind == 'Unified' else ' ' + kind.lower()} {size}")
    return ", ".join(found)


def _versions() -> list[str]:
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} not installed")
    return found
