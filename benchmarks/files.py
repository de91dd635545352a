"""From a file to a model: whole commands against Vowpal Wabbit, readers against those of other libraries."""

from __future__ import annotations

import contextlib
import gzip
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Perceptron as PeerPerceptron

from benchmarks.exactness import DATA
from benchmarks.table import Row, faster, skipped, span
from benchmarks.timing import interleave
from novikoff import load, open_source
from novikoff.data.labels import StreamClasses
from novikoff.training import streaming
from novikoff.training.plan import Plan
from novikoff.training.weights import Settings

ROWS = 1_670_000  # about 600 MB
WABBIT = "import sys, vowpalwabbit; vowpalwabbit.Workspace(sys.argv[1], enable_logging=False)"
# its defaults, and its nearest setting to a perceptron: one weight per feature, a plain step on a hinge loss
SETTINGS = {"its defaults": "", "--sgd --loss_function hinge": "--sgd --loss_function hinge"}


def commands(repeat: int) -> Iterator[Row]:
    """Whole processes on 600 MB of text from the page cache; then the memory for 2 GB."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, ROWS)
        size = (folder / "rows.svm").stat().st_size / 1e6
        fit = [
            sys.executable,
            "-m",
            "novikoff",
            "fit",
            "--epochs",
            "1",
            "--quiet",
            "--model",
            f"{folder}/m.novikoff",
        ]

        def run(*command: str) -> Callable[[], object]:
            return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

        rabbit = {
            name: run(sys.executable, "-c", WABBIT, f"-d {folder}/rows.vw --quiet -b 18 {options}")
            for name, options in SETTINGS.items()
        }
        ours = {
            "libsvm": run(*fit, f"{folder}/rows.svm"),
            "vw": run(*fit, f"{folder}/rows.vw"),
            "vw hashed": run(*fit, "--hash-bits", "18", f"{folder}/rows.vw"),
        }
        times = interleave(ours | rabbit, max(repeat // 2, 3))
        for name, work, target in (
            ("libsvm", "LIBSVM text to model", 6),
            ("vw", "VW text to model, exact vocabulary", 5),
            ("vw hashed", "VW text to model, 2^18 hashed columns as there", 5),
        ):
            for peer in SETTINGS:
                ours_best, theirs = times[name].best, times[peer].best
                text = f"{work}, {size:.0f} MB ({size / ours_best:.0f} MB/s)"
                yield faster(text, ours_best, f"Vowpal Wabbit, {peer}", theirs, at_least=target)
        (folder / "rows.vw").unlink()
        yield memory(folder, fit)


def memory(folder: Path, fit: list[str]) -> Row:
    """The peak memory of a whole command over some 2 GB."""
    once = folder / "rows.svm"
    four = folder / "four.svm"
    with four.open("wb") as out:
        for _ in range(4):
            with once.open("rb") as rows:
                shutil.copyfileobj(rows, out, 1 << 24)
    process = subprocess.Popen([*fit, str(four)], stdout=subprocess.DEVNULL)
    status, peak = Path(f"/proc/{process.pid}/status"), 0
    while process.poll() is None:  # its own peak: the figure that `wait` reports includes the parent's memory
        with contextlib.suppress(OSError, StopIteration):
            lines = status.read_text().splitlines()
            peak = int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) // 1000
        time.sleep(0.01)
    assert process.returncode == 0
    work = f"memory while fitting {four.stat().st_size / 1e9:.1f} GB of LIBSVM text"
    return Row(work, f"{peak} MB", target="< 300 MB + model", reached=peak < 300)


def reading(repeat: int) -> Iterator[Row]:
    """In one process: file to model against scikit-learn, and the parsers alone, in processor time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, 220_000)
        path = folder / "rows.svm"
        size = path.stat().st_size / 1e6

        def theirs() -> object:
            X, y = load_svmlight_file(str(path), zero_based=False)
            X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # it needs these
            return PeerPerceptron(max_iter=1, tol=None).fit(X, y)

        contenders: dict[str, Callable[[], object]] = {
            "fit": lambda: fit_file(path),
            "scikit-learn": theirs,
            "load": lambda: load(path, n_jobs=-1),
            "scikit-learn's loader": lambda: load_svmlight_file(str(path), zero_based=False),
        }
        times = interleave(contenders, max(repeat // 2, 3))
        work = f"{size:.0f} MB of LIBSVM text to model, one pass, in process"
        both = times["fit"].best, times["scikit-learn"].best
        yield faster(work, both[0], "scikit-learn's load + fit", both[1], at_least=40)
        both = times["load"].best, times["scikit-learn's loader"].best
        yield faster(
            f"load {size:.0f} MB of LIBSVM text as arrays", both[0], "scikit-learn's loader", both[1]
        )
        for suffix, target in (("svm", 600), ("vw", 0)):
            yield parsing(folder / f"rows.{suffix}", repeat, target)


def parsing(path: Path, repeat: int, target: int) -> Row:
    """All blocks of a file on one thread, in bytes per second of that core."""
    source, size = open_source(path, n_jobs=1), path.stat().st_size / 1e6

    def read() -> None:
        for _ in source.blocks(reuse=True):
            pass

    best = min(cpu_seconds(read) for _ in range(max(repeat, 5)))
    work = f"read {size:.0f} MB of {source.format} text into blocks of rows, one core"
    reached = size / best >= target if target else None
    aim = f"≥ {target} MB/s" if target else ""
    return Row(work, span(best), ratio=f"{size / best:.0f} MB/s", target=aim, reached=reached)


def cpu_seconds(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def tables(repeat: int) -> Iterator[Row]:
    """The forest covers: 581,012 rows of 54 numbers and 7 classes as CSV."""
    packed = DATA / "covtype" / "covtype.csv.gz"
    work = "CSV with 54 number columns to model, one pass"
    if not packed.exists():
        yield skipped(work, "covtype is not available")
        return
    import pandas as pd

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "covtype.csv"
        with gzip.open(packed) as text, path.open("wb") as out:
            shutil.copyfileobj(text, out)
        label = path.open(encoding="ascii").readline().strip().split(",")[-1]

        def theirs() -> object:
            frame = pd.read_csv(path)
            return PeerPerceptron(max_iter=1, tol=None).fit(
                frame.drop(columns=label).to_numpy(), frame[label]
            )

        times = interleave(
            {"novikoff": lambda: fit_file(path, label=label), "peer": theirs}, max(repeat // 2, 3)
        )
        size = path.stat().st_size / 1e6
        work = f"{work} ({size / times['novikoff'].best:.0f} MB/s)"
        yield faster(work, times["novikoff"].best, "pandas + scikit-learn", times["peer"].best, at_least=5)


def fit_file(path: Path, **options: object) -> object:
    plan = Plan(max_epochs=1, order="cyclic", n_jobs=-1)
    return streaming.fit(open_source(path, **options), StreamClasses(), Settings(), plan)


def write(folder: Path, rows: int) -> None:
    """rows.svm and rows.vw: some 36 features per row, four in ten of value 1, the others with four decimals.

    Indices are spread over five orders of magnitude, as those of words are; labels are those of a hidden
    linear teacher, one in twenty flipped.
    """
    rng = np.random.default_rng(0)
    columns = [str(j) for j in range(100_001)]
    values = [":1", *(f":{v / 10_000:.4f}" for v in range(1, 10_001))]
    numbers = np.r_[1.0, np.arange(1, 10_001) / 10_000]
    teacher = rng.standard_normal(len(columns))
    with (
        (folder / "rows.svm").open("w", encoding="ascii") as svm,
        (folder / "rows.vw").open("w", encoding="ascii") as vw,
    ):
        for begin in range(0, rows, 20_000):
            n = min(20_000, rows - begin)
            row = np.repeat(np.arange(n), rng.poisson(43, n))
            column = (10 ** (5 * rng.random(len(row)))).astype(np.int64)
            row, column = np.divmod(np.unique(row * len(columns) + column), len(columns))
            value = np.maximum(rng.integers(-6666, 10_001, len(row)), 0)
            score = np.bincount(row, numbers[value] * teacher[column], n)
            positive = (score > 0) != (rng.random(n) < 0.05)
            tokens = [columns[j] + values[v] for j, v in zip(column.tolist(), value.tolist(), strict=True)]
            ends = np.searchsorted(row, np.arange(n + 1)).tolist()
            for i, is_positive in enumerate(positive.tolist()):
                text = " ".join(tokens[ends[i] : ends[i + 1]])
                svm.write(f"{'+1' if is_positive else '-1'} {text}\n")
                vw.write(f"{'1' if is_positive else '-1'} | {text}\n")
