"""Commands killed at any moment and run again.

``PYTHONPATH=tests python -m support.kills --kills 1000 --seed 1`` kills a thousand.

What must hold: after the second run every file is there with the very bytes of an undisturbed run, and
nothing else is. Moments are counted in calls, not in seconds, so that they do not depend on the machine.
Three of four kills come while a cache, a checkpoint or else the result is being written, as far as the
undisturbed run shows when that is.

All runs are forks of one process that has imported everything, so that a kill costs what the command
does and no more. No process kills another, nor the one that runs the suite: each child ends itself.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from types import FrameType
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # what forks must have no threads

from novikoff.cli import main
from novikoff.cli.app import load
from support.commands import svm_text
from support.sentence_files import conll, sentences

FIT = ["fit", "train.svm", "--average", "--epochs", "4", "--quiet"]
KEPT = ["--checkpoint", "kept", "--every", "100", "--resume"]
JOBS: dict[str, list[str]] = {
    "checkpoint": [*FIT, "--scale", "maxabs", *KEPT],
    "cache": [*FIT, "--cache"],
    "cache and checkpoint": [*FIT, "--cache", "--rule", "pa1", "--order", "riffle", *KEPT],
    "cache of a table": ["fit", "train.csv", "--text", "note", "--epochs", "3", "--cache", "--quiet"],
    "budget": [
        "fit",
        "train.svm",
        "--kernel",
        "rbf",
        "--budget",
        "8",
        "--order",
        "cyclic",
        "--epochs",
        "2",
        "--quiet",
    ],
    "kernel": ["fit", "few.svm", "--kernel", "poly", "--epochs", "2", "--quiet"],
    "tagger": ["tag", "fit", "train.conll", "--epochs", "2", "--quiet"],
    "convert": ["convert", "train.svm", "rows.svm.gz", "--force", "--quiet"],
    "convert to a table": ["convert", "train.csv", "rows.parquet", "--force", "--quiet"],
}


def inputs() -> dict[str, str]:
    table = ["label,x,colour,note"]
    table += [
        f"{'ab'[i % 3 == 0]},{i % 7 - 3.5},{('red', 'blue')[i % 2]},u{i % 5} v{i % 3}" for i in range(200)
    ]
    return {
        "train.svm": svm_text(300, labels=("a", "b", "c")),
        "few.svm": svm_text(40),
        "train.csv": "\n".join(table) + "\n",
        "train.conll": conll(sentences(40)),
    }


# ---- a run in a child --------------------------------------------------------------------------------------
class Counting:
    """Counts calls that novikoff's own code makes: of itself, of native loops, of what writes files."""

    def __init__(self, last: int, seen: list[str] | None) -> None:
        self.calls, self.last, self.seen = 0, last, seen

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_globals.get("__name__", "")
        if (
            event in ("call", "c_call")
            and name.startswith("novikoff.")
            and frame.f_code.co_name != "<module>"
        ):
            self.calls += 1
            if self.calls == self.last:
                os.kill(os.getpid(), signal.SIGKILL)
            if self.seen is not None:
                self.seen.append(being_written())


def being_written() -> str:
    """The file whose temporary one is there, or nothing."""
    for folder in (".", "kept"):
        with contextlib.suppress(FileNotFoundError):
            for name in os.listdir(folder):  # noqa: PTH208, it runs at every call
                if name.startswith(".") and name.endswith(".tmp"):
                    return "cache" if ".cache." in name else "checkpoint" if folder == "kept" else "result"
    return ""


def run(arguments: list[str], folder: Path, last: int = 0, record: Path | None = None) -> int:
    """The command in a child in `folder`, dead at the call of that number; how it ended."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 99
    try:
        os.chdir(folder)
        sink = os.open(folder.parent / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        sys.argv = ["novikoff", *arguments]
        counting = Counting(last, [] if record else None)
        if last or record:
            sys.setprofile(counting)
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        finally:
            sys.setprofile(None)
        if record is not None and counting.seen is not None:
            record.write_text("\n".join([" ".join(sys.modules), *counting.seen]))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def contents(folder: Path) -> dict[str, str]:
    """Every file and folder with a digest of its bytes."""
    return {
        str(path.relative_to(folder)): blake2b(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in sorted(folder.rglob("*"))
    }


# ---- kills ------------------------------------------------------------------------------------------
@dataclass
class Job:
    """A command, what it leaves, and at which of its calls which file is being written."""

    arguments: list[str]
    root: Path
    whole: dict[str, str] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        load(*self.arguments[: 1 + (self.arguments[0] == "tag")])  # its options are no calls of a run
        modules = self.recorded()[0]
        for name in modules.split():  # now, and not in every child
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        self.seen = self.recorded()[1:]  # again: the calls of a child, which imports nothing
        self.whole = contents(self.root / "folder")
        self.writing = {
            name: [k + 1 for k, at in enumerate(self.seen) if at == name] for name in {*self.seen} - {""}
        }

    def recorded(self) -> list[str]:
        """The modules of an undisturbed run, and at each of its calls which file was being written."""
        record = self.root / "record"
        assert run(self.arguments, self.fresh(), record=record) == 0, (self.root / "said").read_text()
        return record.read_text().split("\n")

    def fresh(self) -> Path:
        """A folder with nothing but the inputs."""
        folder = self.root / "folder"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, text in inputs().items():
            if name in self.arguments:
                (folder / name).write_text(text)
        return folder

    def kill(self, rng: random.Random, number: int) -> str:
        """Kill the command, once or twice, and run it again; which file was being written, or ''."""
        folder = self.fresh()
        last = rng.randint(1, len(self.seen))
        kept = sorted({"cache", "checkpoint"} & self.writing.keys()) or sorted(self.writing)
        if number % 4 and kept:
            last = rng.choice(self.writing[rng.choice(kept)])
        died = run(self.arguments, folder, last)
        assert died in (-signal.SIGKILL, 0), (self.root / "said").read_text()  # 0: it needed fewer calls now
        with contextlib.chdir(folder):
            found = being_written() if died else "over"
        if number % 3 == 0:
            run(self.arguments, folder, last)  # and again, unless less is left to be done
        again = run(self.arguments, folder)
        assert again == 0, (self.root / "said").read_text()
        left = contents(folder)
        wrong = sorted({*left.items()} ^ {*self.whole.items()})
        assert not wrong, f"killed at call {last} of {len(self.seen)} of {self.arguments}: {wrong}"
        return found


def main_loop(kills: int, seed: int, chosen: list[str]) -> int:
    rng, counts, failures, began = random.Random(seed), Counter[str](), 0, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="novikoff-kills-") as folder:
        jobs = {}
        for number, name in enumerate(chosen):
            root = Path(folder, str(number))
            root.mkdir()
            jobs[name] = Job(JOBS[name], root)
        for number in range(kills):
            name = chosen[number % len(chosen)]
            try:
                counts[jobs[name].kill(rng, number // len(chosen))] += 1
            except AssertionError as error:
                failures += 1
                print(f"{name}, kill {number}, seed {seed}: {error}", flush=True)
    seconds = time.monotonic() - began
    words = ", ".join(f"{counts[key]} while a {key} was written" for key in ("cache", "checkpoint", "result"))
    print(f"{kills} kills of {len(chosen)} commands in {seconds:.0f} s: {words}, {failures} failures")
    return int(failures > 0 or bool(counts["over"] > kills // 10))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=JOBS, action="append")
    given = parser.parse_args()
    sys.exit(main_loop(given.kills, given.seed, given.only or list(JOBS)))
