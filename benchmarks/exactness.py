"""The cost of exact decisions: instructions against a naive twin, and how often float sums are not enough."""

from __future__ import annotations

import bz2
import lzma
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any

from sklearn.datasets import load_svmlight_file

from benchmarks.compiled import compile_here, compiler
from benchmarks.table import Row, skipped
from novikoff import Perceptron

SETS = {
    "tfidf:40": "tf-idf text, 40 per row",
    "tfidf:75": "tf-idf text, 75 per row",
    "bag:40": "binary bags of words, 40 per row",
    "bag:75": "binary bags of words, 75 per row",
    "dense:40": "dense, 40 per row",
    "dense:75": "dense, 75 per row",
    "dense:784": "dense, 784 per row",
}
AT_MOST = 0.02  # more instructions than the naive twin
EPOCHS = 10  # for the counts of fallbacks
DATA = Path(os.environ.get("NOVIKOFF_DATA", Path(__file__).parents[2] / "shared" / "data"))
REAL = ("a9a.xz", "w8a.xz", "phishing.txt.xz", "mushrooms.txt.xz", "ijcnn1.trn.bz2")


def instructions(repeat: int) -> Iterator[Row]:
    """Counts do not vary, so one run of each is enough."""
    work = "instructions per row, {}, {} epoch"
    if which("valgrind") is None or compiler() is None:
        yield skipped(work.format("any set", "any"), "needs valgrind and a C++ compiler")
        return
    with TemporaryDirectory() as folder:
        program = driver(folder)
        for name, text in SETS.items():
            for epoch in ("first", "later"):
                (exact, rows), (naive, _) = (count(program, name, loop, epoch) for loop in ("exact", "naive"))
                more = exact / naive - 1
                yield Row(
                    work.format(text, epoch),
                    f"{exact / rows:,.1f}",
                    "naive twin",
                    f"{naive / rows:,.1f}",
                    f"{more:+.2%}",
                    f"≤ +{AT_MOST:.0%}",
                    more <= AT_MOST,
                )


def fallbacks(repeat: int) -> Iterator[Row]:
    """The share of decisions for which the float sum was not enough, over some epochs."""
    if compiler() is None:
        yield skipped("fallbacks, made-up sets", "no C++ compiler")
    else:
        with TemporaryDirectory() as folder:
            program = driver(folder)
            for name, text in SETS.items():
                command = [program, name, "fallbacks", str(EPOCHS)]
                done = subprocess.run(command, capture_output=True, check=True)
                yield rates(text, *map(int, done.stdout.split()))
    for file in REAL:
        path = DATA / "libsvm" / file
        if not path.exists():
            yield skipped(f"fallbacks, {file}", f"{path} does not exist (NOVIKOFF_DATA names the folder)")
            continue
        X, y = read(path)
        for storage, rows in (("CSR", X), ("dense", X.toarray())):
            how = {"order": "shuffle", "average": False, "max_epochs": EPOCHS}
            report = Perceptron(random_state=0, **how).fit(rows, y).report()
            visits = report.n_rows * report.n_epochs
            name = f"{file.split('.')[0]} ({storage}, {X.nnz / X.shape[0]:.0f} per row)"
            yield rates(name, visits, report.updates, report.compensated, report.accumulator)


def rates(name: str, visits: int, updates: int, compensated: int, accumulator: int) -> Row:
    return Row(
        f"fallbacks, {name}, {visits:,} decisions",
        f"{compensated / visits:.3%} compensated",
        "of these",
        f"{accumulator / visits:.3%} accumulator",
        f"{updates / visits:.2%} updates",
    )


def driver(folder: str) -> Path:
    return compile_here(
        "exactness.cpp",
        Path(folder) / "exactness",
        "-ffp-contract=off",
        "-fno-math-errno",
        "-march=x86-64-v3",
    )


def count(program: Path, name: str, loop: str, epoch: str) -> tuple[int, int]:
    """(instructions inside `counted`, rows visited by one epoch)"""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=counted"]
    done = subprocess.run([*command, program, name, loop, epoch], check=True, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found is not None, done.stderr
    return int(found[1]), int(done.stdout.split()[0]) // 2


def read(path: Path) -> tuple[Any, Any]:
    with (bz2 if path.suffix == ".bz2" else lzma).open(path) as file:
        X, y = load_svmlight_file(file)
    return X, y
