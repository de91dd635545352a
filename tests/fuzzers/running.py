"""Cases, one after the other, in a child process that may die of them.

The parent watches: a child that ends by a signal or a sanitizer's report, or that stays with one case for too
long, is a finding, and another child goes on with the next case. An exception that is none of the promised
errors is one too. Each finding is a file that says how to run the case again.
"""

from __future__ import annotations

import importlib
import mmap
import os
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

OUTCOMES = ("same", "refused", "accepted")
SANITIZED = any(name in os.environ.get("LD_PRELOAD", "") for name in ("asan", "tsan"))
MEMORY = 4 << 30  # bytes that a case may take beyond what the process has
PATIENCE = 300.0 if SANITIZED else 60.0  # seconds for a case that takes milliseconds
SETUP = 3  # the exit code of a child in which the fuzzer itself has failed
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
    """Numbers that the child writes and the parent reads: they outlive the child."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 8 * (1 + len(OUTCOMES)))

    def __getitem__(self, k: int) -> int:
        return int(struct.unpack_from("<q", self._memory, 8 * k)[0])

    def __setitem__(self, k: int, value: int) -> None:
        struct.pack_into("<q", self._memory, 8 * k, value)


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
    result, board, began = Result(kind, seed), Board(), time.monotonic()
    make = importlib.import_module(f"fuzzers.{kind}").Fuzzer
    found.mkdir(parents=True, exist_ok=True)
    board[0] = at = first
    while (runs is None or at < first + runs) and (seconds is None or time.monotonic() - began < seconds):
        left = None if seconds is None else seconds - (time.monotonic() - began)
        log = found / f"{kind}-{seed}.log"
        child = os.fork()
        if child == 0:
            _work(make, kind, seed, at, None if runs is None else first + runs, left, board, found, log)
        ended = _watched(child, board)
        if ended == f"ended with {SETUP}":
            raise RuntimeError(f"{kind}: {log.read_text(errors='replace')}")
        if ended:
            at = board[0]
            path = found / f"{kind}-{seed}-{at}.txt"
            path.write_text(f"{_again(kind, seed, at)}\n{ended}\n{log.read_text(errors='replace')[-20000:]}")
        at = board[0] + 1 if ended else board[0]
        log.unlink(missing_ok=True)
    result.cases, result.seconds = at - first, time.monotonic() - began
    result.outcomes = {word: board[1 + k] for k, word in enumerate(OUTCOMES)}
    ours = (path for path in found.glob(f"{kind}-{seed}-*.txt"))
    result.findings = sorted(str(path) for path in ours if path.stat().st_mtime >= time.time() - 1 - result.seconds)
    return result


def _again(kind: str, seed: int, at: int) -> str:
    return f"again: PYTHONPATH=tests python -m fuzzers {kind} --seed {seed} --first {at} --runs 1"


def _watched(child: int, board: Board) -> str:
    """Wait for the child; how it died, or nothing."""
    case, since = board[0], time.monotonic()
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            if code < 0:
                return f"ended by {signal.Signals(-code).name}"
            return f"ended with {code}" if code else ""
        if board[0] != case:
            case, since = board[0], time.monotonic()
        if time.monotonic() - since > PATIENCE:
            os.kill(child, signal.SIGABRT)  # faulthandler says where it was
            os.waitpid(child, 0)
            return f"took more than {PATIENCE:.0f} seconds"
        time.sleep(0.005)


def _work(
    make: Callable[[Path], Callable[[np.random.Generator], str]],
    kind: str,
    seed: int,
    at: int,
    end: int | None,
    seconds: float | None,
    board: Board,
    found: Path,
    log: Path,
) -> None:
    """The child: never returns."""
    code = SETUP
    try:
        _confine(log)
        with tempfile.TemporaryDirectory(prefix="novikoff-fuzz-") as folder:
            os.chdir(folder)
            case, sorts, stop = make(Path(folder)), dict[str, int](), time.monotonic() + (seconds or 1e9)
            while (end is None or at < end) and time.monotonic() < stop:
                board[0] = at
                try:
                    board[1 + OUTCOMES.index(case(np.random.default_rng([seed, at])))] += 1
                except (Exception, SystemExit) as error:
                    sort = _sort(error)
                    sorts[sort] = sorts.get(sort, 0) + 1
                    if sorts[sort] <= SHOWN:
                        said = "".join(traceback.format_exception(error))
                        (found / f"{kind}-{seed}-{at}.txt").write_text(
                            f"{_again(kind, seed, at)}\n{sort}\n{said}", errors="backslashreplace"
                        )
                at += 1
            board[0] = at
            os.chdir("/")
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _confine(log: Path) -> None:
    """What a case says goes to `log`; memory is bounded where the sanitizers do not need all of it."""
    import faulthandler

    to = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(to, 1)
    os.dup2(to, 2)
    faulthandler.enable(file=2)
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
