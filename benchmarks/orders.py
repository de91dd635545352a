"""The riffle beside a full shuffle and storage order, by its number of runs: accuracy, speed, and its limits.

`python -m benchmarks.orders [accuracy] [speed] [period] [--markdown docs/orders.md]`, with `--picture
docs/orders.png` instead a picture of the three orders.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import Perceptron as Peer

from benchmarks.dense import pixels
from benchmarks.mixed import at_hand as text_at_hand
from benchmarks.timing import interleave
from benchmarks.verdicts import DATA, Set, load
from novikoff import Perceptron
from novikoff.training import riffle

MARK = "<!-- the tables: written by `python -m benchmarks.orders --markdown` -->"
RUNS = (8, 16, 32, 64, 128, 256)
SEEDS = 3
AS_THEY_ARE: dict[str, Any] = {"scale": None}  # columns are not scaled, so that only the order differs
Rows = tuple[Any, Any, Any, Any]  # to learn from, and to test


@contextmanager
def runs(count: int) -> Iterator[None]:
    """Within it, a riffle has so many runs."""
    usual, riffle.RUNS = riffle.RUNS, count
    try:
        yield
    finally:
        riffle.RUNS = usual


def in_each_order(measure: Callable[[str], Any]) -> list[Any]:
    """The figure of a shuffle, of riffles with `RUNS` runs, and of storage order."""
    found = [measure("shuffle")]
    for count in RUNS:
        with runs(count):
            found.append(measure("riffle"))
    return [*found, measure("cyclic")]


# ---- accuracy --------------------------------------------------------------------------------------------
def by_class(rows: Rows) -> Rows:
    X, y, *test = rows
    order = np.argsort(y, kind="stable")
    return X[order], y[order], *test


def libsvm(train: str, test: str) -> Rows:
    (X, y), (Z, labels) = load(Set(f"libsvm/{train}")), load(Set(f"libsvm/{test}"))
    columns = max(X.shape[1], Z.shape[1])
    for rows in (X, Z):
        rows.resize(rows.shape[0], columns)
    return X, y, Z, labels


def mnist() -> Rows:
    (X, y), (Z, labels) = load(Set("mnist/train")), load(Set("mnist/t10k"))
    return X, y, Z, labels


def newsgroups() -> Rows:
    return by_class(text_at_hand()["newsgroups"]())


SETS: dict[str, tuple[Callable[[], Rows], int, str]] = {
    "newsgroups, sorted by class": (newsgroups, 10, "newsgroups/20newsgroups-train.tab.gz"),
    "ijcnn1": (lambda: libsvm("ijcnn1.trn.bz2", "ijcnn1.tst.bz2"), 10, "libsvm/ijcnn1.trn.bz2"),
    "ijcnn1, sorted by class": (
        lambda: by_class(libsvm("ijcnn1.trn.bz2", "ijcnn1.tst.bz2")),
        10,
        "libsvm/ijcnn1.trn.bz2",
    ),
    "MNIST, sorted by class": (lambda: by_class(mnist()), 5, "mnist/train-images-idx3-ubyte.gz"),
    "a9a": (lambda: libsvm("a9a.xz", "a9a.t.xz"), 10, "libsvm/a9a.xz"),
}


def mean_accuracy(rows: Rows, epochs: int, order: str) -> str:
    """Of averaged weights on the test rows, in the mean of some seeds."""
    X, y, test, labels = rows
    seeds = range(1 if order == "cyclic" else SEEDS)
    how: dict[str, Any] = {"order": order, "average": True, "max_epochs": epochs} | AS_THEY_ARE
    fits = (Perceptron(**how, random_state=seed).fit(X, y) for seed in seeds)
    return f"{100 * fmean(float(model.score(test, labels)) for model in fits):.1f} %"


def epochs_to_converge(order: str) -> str:
    """On digits, in the mean of ten seeds."""
    X, y = load_digits(return_X_y=True)
    seeds = range(1 if order == "cyclic" else 10)
    how: dict[str, Any] = {"order": order, "max_epochs": 1000} | AS_THEY_ARE
    fits = (Perceptron(**how, random_state=seed).fit(X, y) for seed in seeds)
    return f"{fmean(model.n_epochs_ for model in fits):.1f}"


def accuracy() -> Iterator[list[str]]:
    for name, (make, epochs, path) in SETS.items():
        if (DATA / path).exists():
            rows = make()
            work = f"{name}, {epochs} epochs"
            yield [work, *in_each_order(partial(mean_accuracy, rows, epochs))]
    yield ["digits, epochs until one is clean", *in_each_order(epochs_to_converge)]


# ---- speed -----------------------------------------------------------------------------------------------
def wide() -> tuple[Any, Any]:
    X, y = pixels()
    return X.astype(np.float32) / 255, y


def long(n: int, columns: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.random((n, columns), dtype=np.float32) - np.float32(0.5)
    return X, ((X[:, 0] + X[:, 1] > 0) ^ (rng.random(n) < 0.02)).astype(int)


SIZES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "60,000 × 784 float32": wide,
    "1,000,000 × 100 float32": lambda: long(1_000_000, 100),
    "4,000,000 × 20 float32": lambda: long(4_000_000, 20),
}


class Later:
    """The shortest epoch after the first, by order or by the number of runs."""

    def __init__(self, X: Any, y: Any) -> None:
        self.X, self.y, self.least = X, y, dict[Any, float]()

    def fit(self, order: Any) -> None:
        count = order if isinstance(order, int) else riffle.RUNS
        with runs(count):
            name = order if isinstance(order, str) else "riffle"
            model = Perceptron(order=name, max_epochs=3, random_state=0).fit(self.X, self.y)
        own = min(record["seconds"] for record in model.history_[1:])
        self.least[order] = min(own, self.least.get(order, own))


def speed(repeat: int) -> Iterator[list[str]]:
    """A later epoch, relative to one in storage order; and scikit-learn's shuffled fit beside ours."""
    for name, make in SIZES.items():
        X, y = make()
        later = Later(X, y)
        orders = ("shuffle", *RUNS, "cyclic")
        contenders: dict[str, Callable[[], object]] = {
            **{str(order): partial(later.fit, order) for order in orders},
            "ours": partial(Perceptron(max_epochs=10, random_state=0).fit, X, y),
            "peer": partial(Peer(tol=None, max_iter=10, random_state=0).fit, X, y),
        }
        times = interleave(contenders, repeat)
        ratio = times["peer"].best / times["ours"].best
        yield [
            name,
            *(f"{later.least[order] / later.least['cyclic']:.2f}" for order in orders),
            f"{ratio:.1f}×",
        ]


# ---- where it falls short --------------------------------------------------------------------------------
def sorted_files(rows: Rows, files: int) -> Rows:
    """The rows as if they came from so many files of one length, each sorted by class."""
    X, y, *test = rows
    order = np.random.default_rng(0).permutation(len(y) // files * files).reshape(files, -1)
    order = np.concatenate([part[np.argsort(y[part], kind="stable")] for part in order])
    return X[order], y[order], *test


def repeated(rows: Rows, times: int) -> Rows:
    """Every row so many times, one after the other."""
    X, y, *test = rows
    return np.repeat(X, times, axis=0), np.repeat(y, times), *test


def period() -> Iterator[list[str]]:
    if not (DATA / "mnist/train-images-idx3-ubyte.gz").exists():
        return
    rows = mnist()
    for work, made in {
        **{f"MNIST in {n} files of one length, each sorted": sorted_files(rows, n) for n in (16, 32, 33, 64)},
        "6,000 rows of MNIST, each ten times": repeated((rows[0][:6000], rows[1][:6000], *rows[2:]), 10),
    }.items():
        yield [work, *in_each_order(partial(mean_accuracy, made, 1))]


# ---- output ----------------------------------------------------------------------------------------------
HEAD = ["", "shuffle", *(f"M = {count}" for count in RUNS), "storage order"]
TITLES = {
    "accuracy": "### It learns like a shuffle",
    "speed": "### It reads like storage order",
    "period": "### Where it falls short",
}


def picture(path: Path) -> None:
    """The three orders for 300 rows of three classes, sorted by class."""
    from matplotlib.figure import Figure

    from novikoff.plots import VisitsDisplay

    figure = Figure(figsize=(7.6, 2.8), layout="constrained")
    labels = np.repeat([0, 1, 2], 200)
    VisitsDisplay.of_rows(600, labels=labels).plot(figure.add_subplot())
    figure.savefig(path, dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.orders", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"{', '.join(TITLES)}; all by default")
    parser.add_argument("--repeat", type=int, default=5, help="rounds of timing; the best counts (default 5)")
    parser.add_argument("--markdown", type=Path, metavar="PATH", help="also write the tables to this file")
    parser.add_argument(
        "--picture", type=Path, metavar="PATH", help="draw the three orders, and nothing else"
    )
    arguments = parser.parse_args()
    if arguments.picture:
        picture(arguments.picture)
        return
    warnings.simplefilter("ignore")
    tables: dict[str, Callable[[], Iterator[list[str]]]] = {
        "accuracy": accuracy,
        "speed": partial(speed, arguments.repeat),
        "period": period,
    }
    parts = [MARK]
    for name in arguments.names or tables:
        head = [*HEAD, "scikit-learn"] if name == "speed" else HEAD
        lines = [head, ["---"] * len(head)]
        print(TITLES[name], flush=True)
        for line in tables[name]():
            lines.append(line)
            print(" | ".join(line), flush=True)
        parts += [TITLES[name], "\n".join(f"| {' | '.join(cells)} |" for cells in lines)]
    if arguments.markdown:
        above = arguments.markdown.read_text(encoding="utf-8").partition(MARK)[0]
        arguments.markdown.write_text(above + "\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
