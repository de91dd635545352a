"""Run all benchmarks or the named ones, print the results, and write them to a file on request."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

from benchmarks import (
    conjunctions,
    dense,
    distributed,
    exactness,
    files,
    kernels,
    machine,
    margins,
    online,
    separability,
    sparse,
    startup,
    tagging,
    verifying,
)
from benchmarks.table import Row, aligned

BENCHMARKS: dict[str, Callable[[int], Iterator[Row]]] = {
    "dense": dense.float32,
    "riffle": dense.riffle,
    "pixels": dense.uint8,
    "text": sparse.text,
    "hashed": sparse.hashed,
    "online": online.predict_and_learn,
    "partial_fit": online.partial_fit,
    "commands": files.commands,
    "files": files.reading,
    "tables": files.tables,
    "help": startup.helps,
    "import": startup.imports,
    "memory": startup.memory,
    "margins": margins.largest,
    "verifying": verifying.verifying,
    "exactness": exactness.instructions,
    "fallbacks": exactness.fallbacks,
    "verdicts": separability.verdicts,
    "conjunctions": conjunctions.epoch,
    "mnist": kernels.mnist,
    "ijcnn1": kernels.ijcnn1,
    "kernel-memory": kernels.memory,
    "chunking": tagging.chunking,
    "parts-of-speech": tagging.parts_of_speech,
    "workers": distributed.dense,
    "workers-text": distributed.text,
    "traffic": distributed.traffic,
    "files-on-workers": distributed.files,
    "wide": distributed.wide,
    "mixed-accuracy": distributed.accuracy,
}
MARK = "<!-- the table: written by `python -m benchmarks --markdown` -->"
METHOD = """\
novikoff and its peers run on the same data in turn, round after round; each time is the best of
{repeat} or more rounds. A ratio with × is the peer's time divided by novikoff's."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"{', '.join(BENCHMARKS)}; all by default")
    parser.add_argument("--repeat", type=int, default=7, help="rounds; the best one counts (default 7)")
    parser.add_argument("--markdown", type=Path, metavar="PATH", help="also write the table to this file")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(BENCHMARKS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    if arguments.repeat < 1:
        parser.error("--repeat must be at least 1")
    # the data sets are inseparable on purpose, so that all contenders run all epochs
    warnings.simplefilter("ignore", ConvergenceWarning)
    facts = machine.facts()
    print("\n".join(facts), flush=True)
    all_rows = []
    for name in arguments.names or BENCHMARKS:
        started = time.perf_counter()
        rows = list(BENCHMARKS[name](arguments.repeat))
        all_rows += rows
        print(f"\n{name} ({time.perf_counter() - started:.0f} s)\n{aligned(rows)}", flush=True)
    if arguments.markdown:
        write(arguments.markdown, arguments.repeat, facts, all_rows)


def write(path: Path, repeat: int, facts: list[str], rows: list[Row]) -> None:
    """Replace the table below the mark in a Markdown file."""
    text = path.read_text(encoding="utf-8") if path.exists() else f"# Benchmarks\n\n{MARK}\n"
    above = text.partition(MARK)[0]
    listed = "\n".join(f"- {fact}" for fact in facts)
    parts = [above + MARK, METHOD.format(repeat=repeat), listed, aligned(rows)]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
