"""Cases, one after the other, in a child process that may die of them.

The parent watches: a child that ends by a signal or a sanitizer's report, or that stays with one case for too
long, is a finding, and another child goes on with the next case. An exception that is none of the promised
errors is one too. Each finding is a file that says how to run the case again.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import mmap
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

OUTCOMES = ("same", "refused", "accepted")
SANITIZED = any(name in os.environ.get("LD_PRELOAD", "") for name in ("asan", "tsan"))
MEMORY = 4 << 30  # bytes that a case may take beyond what the process has
PATIENCE = 300.0 if SANITIZED else 60.0  # seconds for a case that takes milliseconds
BROKEN = 3  # the exit code of a child in which the fuzzer itself has failed
SHOWN = 3  # findings of one sort that are kept


@dataclass
class Result:
    """What became of the cases of one kind."""

    kind: str
    seed: int
    cases: int = 0
    seconds: float = 0.0
    outcomes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OUTCOMES, 0))
    findings: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        said = ", ".join(f"{n:,} {word}" for word, n in self.outcomes.items() if n)
        found = f"{len(self.findings)} findings" if self.findings else "nothing found"
        return f"{self.kind}: {self.cases:,} cases in {self.seconds:.0f} s ({said}), {found}"


class Board:
    """Numbers in a file that the child writes and the parent reads: they outlive the child."""

    def __init__(self, path: Path) -> None:
        size = 8 * (1 + len(OUTCOMES))
        with path.open("a+b") as file:
            file.truncate(size)
            self._memory = mmap.mmap(file.fileno(), size)

    def __getitem__(self, k: int) -> int:
        return int(struct.unpack_from("<q", self._memory, 8 * k)[0])

    def __setitem__(self, k: int, value: int) -> None:
        struct.pack_into("<q", self._memory, 8 * k, value)


# ---- the parent ------------------------------------------------------------------------------------------
def campaign(
    kind: str,
    seed: int,
    *,
    first: int = 0,
    runs: int | None = None,
    seconds: float | None = None,
    found: Path,
) -> Result:
    """Run so many cases, or as many as fit into the time, and leave findings in the folder `found`."""
    found.mkdir(parents=True, exist_ok=True)
    for old in found.glob(f"{kind}-{seed}*"):
        old.unlink()
    paths = {name: found / f"{kind}-{seed}.{name}" for name in ("board", "log")}
    result, board, began = Result(kind, seed), Board(paths["board"]), time.monotonic()
    end, at = first + runs if runs is not None else 1 << 62, first
    while at < end and (left := (seconds or 1e9) - (time.monotonic() - began)) > 0:
        board[0] = at
        arguments = (kind, seed, at, end, left, paths["board"], found)
        with paths["log"].open("wb") as log:
            child = subprocess.Popen(
                [sys.executable, "-m", "fuzzers.running", *map(str, arguments)], stdout=log, stderr=log
            )
        ended, said = _watched(child, board), paths["log"].read_text(errors="replace")
        if ended == f"ended with {BROKEN}":
            raise RuntimeError(f"the fuzzer of {kind} fails: {said}")
        at = board[0]
        if ended:
            (found / f"{kind}-{seed}-{at}.txt").write_text(
                f"{_again(kind, seed, at)}\n{ended}\n{said[-20000:]}"
            )
            at += 1
    result.cases, result.seconds = at - first, time.monotonic() - began
    result.outcomes = {word: board[1 + k] for k, word in enumerate(OUTCOMES)}
    result.findings = sorted(map(str, found.glob(f"{kind}-{seed}-*.txt")))
    for path in paths.values():
        path.unlink()
    return result


def _again(kind: str, seed: int, at: int) -> str:
    return f"again: PYTHONPATH=tests python -m fuzzers {kind} --seed {seed} --first {at} --runs 1"


def _watched(child: subprocess.Popen[bytes], board: Board) -> str:
    """Wait for the child; how it died, or nothing."""
    case, since = board[0], time.monotonic()
    while True:
        try:
            code = child.wait(0.02)
        except subprocess.TimeoutExpired:
            if board[0] != case:
                case, since = board[0], time.monotonic()
            if time.monotonic() - since > PATIENCE:
                child.send_signal(signal.SIGABRT)  # faulthandler says where it was
                child.wait()
                return f"took more than {PATIENCE:.0f} seconds"
        else:
            if code < 0:
                return f"ended by {signal.Signals(-code).name}"
            return f"ended with {code}" if code else ""


# ---- the child -------------------------------------------------------------------------------------------
def work(kind: str, seed: int, at: int, end: int, seconds: float, board: Board, found: Path) -> None:
    """Cases from `at` to `end`, as many as fit into the time."""
    _confine()
    stop, sorts = time.monotonic() + seconds, Counter[str]()
    with tempfile.TemporaryDirectory(prefix="novikoff-fuzz-") as folder, contextlib.chdir(folder):
        case = importlib.import_module(f"fuzzers.{kind}").Fuzzer(Path(folder))
        while at < end and time.monotonic() < stop:
            board[0] = at
            try:
                board[1 + OUTCOMES.index(case(np.random.default_rng([seed, at])))] += 1
            except (Exception, SystemExit) as error:
                sort = _sort(error)
                sorts[sort] += 1
                if sorts[sort] <= SHOWN:
                    said = "".join(traceback.format_exception(error))
                    (found / f"{kind}-{seed}-{at}.txt").write_text(
                        f"{_again(kind, seed, at)}\n{sort}\n{said}", errors="backslashreplace"
                    )
            at += 1
            board[0] = at


def _confine() -> None:
    """Memory is bounded where the sanitizers do not need all of it."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not SANITIZED:  # which map terabytes; hard_rss_limit_mb is theirs
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))


def _sort(error: BaseException) -> str:
    """The type and the place of an error, by which findings are told apart."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "novikoff" in frame.filename] or frames
    return f"{type(error).__name__} at {Path(ours[-1].filename).name}:{ours[-1].lineno}"


if __name__ == "__main__":
    try:
        kind, seed, at, end, seconds, board, found = sys.argv[1:]
        work(kind, int(seed), int(at), int(end), float(seconds), Board(Path(board)), Path(found))
    except BaseException:
        traceback.print_exc()
        sys.exit(BROKEN)
    os._exit(0)  # threads that a case has left behind may go on
