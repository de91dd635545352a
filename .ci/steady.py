"""Run the suite under five conditions that must make no difference to it; `make steady` runs this.

The conditions are: quiet, with every core busy, on one core only, quiet once more, and with the real data
sets if they are available, in ../shared/data or in the folder NOVIKOFF_DATA. Arguments are passed to pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
CORES = sorted(os.sched_getaffinity(0))
DATA = Path(os.environ.get("NOVIKOFF_DATA", ROOT.parent / "shared" / "data"))


def passes(data: Path | str = "", cores: list[int] = CORES) -> bool:
    """Whether all tests pass on these cores with the real data in this folder, or without any."""
    command = [sys.executable, "-m", "pytest", "-n", str(len(CORES)), *sys.argv[1:]]
    environment = os.environ | {"NOVIKOFF_DATA": str(data or ROOT / "build" / "no data")}
    os.sched_setaffinity(0, cores)  # the suite inherits this
    try:
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 0
    finally:
        os.sched_setaffinity(0, CORES)


@contextmanager
def busy() -> Iterator[None]:
    """While other processes take every core."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in CORES]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def main() -> None:
    found = {"quiet": passes()}
    with busy():
        found["busy"] = passes()
    found["one core"] = passes(cores=CORES[:1])
    found["again"] = passes()
    if DATA.is_dir():
        found["with data"] = passes(DATA)
    print("\n".join(f"{way:<12} {'passed' if right else 'FAILED'}" for way, right in found.items()))
    sys.exit(not all(found.values()))


if __name__ == "__main__":
    main()
