"""Processes that tests start, interrupt and kill, and waiting for what must come.

No test sends a signal to the process that runs it, and none lets time pass for an event: a child says by a
line how far it is, and is interrupted then, in work that would never end by itself. `PATIENCE` only keeps a
suite from hanging; no assertion stands on it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypeVar

PATIENCE = 900.0  # seconds, for the slowest machine under the heaviest load
T = TypeVar("T")


def after(first: str, command: Sequence[str]) -> list[str]:
    """The command, begun after this statement in a process that becomes it."""
    code = f"import os, sys; {first}; os.execv(sys.argv[1], sys.argv[1:])"
    return [sys.executable, "-c", code, *command]


def with_small_files(command: Sequence[str]) -> list[str]:
    """The command where no file can grow beyond 1,000 bytes: as on a full disk."""
    return after("import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))", command)


def run_python(
    *arguments: object, code: int | None = 0, environment: Mapping[str, str] | None = None, **more: Any
) -> subprocess.CompletedProcess[Any]:
    """Python with these arguments, run to its end, which must come with this exit code; None is any.

    ``run_python("-c", program, *arguments)``, ``run_python("-m", "novikoff", ...)``. The environment is that
    of the suite with these changes. What is printed is text, unless ``text=False``.
    """
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        **{"capture_output": True, "text": True, "timeout": PATIENCE} | more,
        env=os.environ | dict(environment or {}),
        check=False,
    )
    if code is not None:
        assert done.returncode == code, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


class Child:
    """A process whose output, both streams in one, is read line by line. It does not outlive its block.

    Control-C is heard by it even if the suite runs in the background, where shells turn it off.
    """

    def __init__(self, *command: str) -> None:
        self._process = subprocess.Popen(
            after("import signal; signal.signal(signal.SIGINT, signal.SIG_DFL)", command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._guard = threading.Timer(PATIENCE, self._process.kill)
        self._guard.daemon = True
        self.output = ""

    @classmethod
    def python(cls, code: str, *arguments: str) -> Self:
        """A child that runs this code."""
        return cls(sys.executable, "-c", code, *arguments)

    @classmethod
    def novikoff(cls, *arguments: str) -> Self:
        """A child that is the command line."""
        return cls(sys.executable, "-m", "novikoff", *arguments)

    def __enter__(self) -> Self:
        self._guard.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._guard.cancel()
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def wait_for(self, text: str) -> None:
        """Read until a line has this text."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.output += line
            if text in line:
                return
        raise AssertionError(f"the child ended, and did not say {text!r}:\n{self.output}")

    def interrupt(self) -> None:
        """As by Control-C."""
        self._process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """At once and without a word."""
        self._process.kill()

    def end(self) -> int:
        """Read all there is, and the code with which the child ends."""
        assert self._process.stdout is not None
        self.output += self._process.stdout.read()
        return self._process.wait()


def run_all(workers: Sequence[threading.Thread]) -> None:
    """Start all of these threads, and wait for their end."""
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def threads() -> set[threading.Thread]:
    """Those of novikoff's sources that run now. Others come and go, as those of earlier tests still may."""
    return {thread for thread in threading.enumerate() if thread.name.startswith("novikoff")}


def until(found: Callable[[], T], wanted: Callable[[T], bool] = bool) -> T:
    """What is found as soon as it is as wanted; whatever is found when patience ends."""
    end = time.monotonic() + PATIENCE
    while not wanted(now := found()) and time.monotonic() < end:
        time.sleep(0.01)
    return now
