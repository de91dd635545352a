"""The defaults against scikit-learn's, on ten data sets: `python -m benchmarks.first_hour [name ...]`.

Everyone gets the same rows as they are: no scaling, no options. The sets, the splits and the number of rows
were fixed before anything was measured. `--markdown docs/first-hour.md` writes the table.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import Perceptron as PeerPerceptron
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split

from benchmarks.table import span
from benchmarks.verdicts import SETS, is_at_hand, load
from novikoff import Perceptron
from novikoff.cli.app import run as command

MARK = "<!-- the table: written by `python -m benchmarks.first_hour --markdown` -->"
SPLITS = 10
ROWS = 20_000  # at most so many rows are drawn to learn from, and as many to test

COME_WITH_SKLEARN = {"wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}
AT_HAND = {
    "ijcnn1": "ijcnn1.trn",
    "adult": "adult",
    "covtype": "covtype, 7 classes",
    "kdd99": "kdd99, normal or not",
    "newsgroups": "newsgroups, 20 classes",
    "sms_spam": "sms_spam",
    "mnist": "mnist, 10 classes",
}
OURS = ("Perceptron()", "novikoff fit")
PEERS = ("sklearn Perceptron()", "SGDClassifier()")


@dataclass
class Results:
    """The accuracies and seconds of one contender on one set."""

    accuracies: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def add(self, result: tuple[float, float]) -> None:
        self.accuracies.append(result[0])
        self.seconds.append(result[1])


def rows_of(name: str) -> tuple[Any, Any]:
    """All rows and labels of a set, as they are."""
    if name in COME_WITH_SKLEARN:
        return COME_WITH_SKLEARN[name](return_X_y=True)
    X, y = load(SETS[AT_HAND[name]])
    return X, np.unique(np.asarray(y), return_inverse=True)[1]


def estimator(make: Callable[[int], Any]) -> Callable[..., tuple[float, float]]:
    """Accuracy on the test rows, and seconds of the fit."""

    def run(X: Any, y: Any, X_test: Any, y_test: Any, seed: int) -> tuple[float, float]:
        model = make(seed)
        started = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - started
        return float(model.score(X_test, y_test)), seconds

    return run


def fit_command(X: Any, y: Any, X_test: Any, y_test: Any, seed: int) -> tuple[float, float]:
    """`novikoff fit FILE --test FILE`, with the seconds that reading and testing take."""
    with TemporaryDirectory() as folder:
        train, test = f"{folder}/train.svm", f"{folder}/test.svm"
        for path, rows, labels in ((train, X, y), (test, X_test, y_test)):
            if sp.issparse(rows):  # scikit-learn's writer takes doubles, and one width of indices
                arrays = rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
                rows = sp.csr_matrix(arrays, shape=rows.shape)
            else:
                rows = np.asarray(rows, dtype=np.float64)
            dump_svmlight_file(rows, labels, path, zero_based=False)
        said = StringIO()
        model = f"{folder}/model.novikoff"
        started = time.perf_counter()
        with redirect_stdout(said):
            code = command(
                ["fit", train, "--test", test, "--model", model, "--json", "--random-state", str(seed)]
            )
        assert not code, code
        return json.loads(said.getvalue())["test"]["accuracy"], time.perf_counter() - started


CONTENDERS: dict[str, Callable[..., tuple[float, float]]] = {
    "Perceptron()": estimator(lambda seed: Perceptron(random_state=seed)),
    "novikoff fit": fit_command,
    "sklearn Perceptron()": estimator(lambda seed: PeerPerceptron(random_state=seed)),
    "SGDClassifier()": estimator(lambda seed: SGDClassifier(random_state=seed)),
}


def race(X: Any, y: Any) -> dict[str, Results]:
    """Every contender on the same splits, in turn."""
    results = {name: Results() for name in CONTENDERS}
    for seed in range(SPLITS):
        size = min(ROWS, X.shape[0] // 2)
        train, test = train_test_split(
            np.arange(X.shape[0]),
            train_size=min(ROWS, 3 * X.shape[0] // 4),
            test_size=min(size, X.shape[0] // 4),
            random_state=seed,
            stratify=y if np.bincount(y).min() > 1 else None,
        )
        for name, run in CONTENDERS.items():
            results[name].add(run(X[train], y[train], X[test], y[test], seed))
    return results


def difference(ours: Results, theirs: Results) -> tuple[float, float]:
    """The mean difference of the accuracies in points, and its standard error."""
    pairs = zip(ours.accuracies, theirs.accuracies, strict=True)
    points = [100 * (a - b) for a, b in pairs]
    return fmean(points), stdev(points) / math.sqrt(len(points))


def verdict(ours: Results, theirs: Results) -> str:
    """Above or below by more than one standard error, or level."""
    mean, error = difference(ours, theirs)
    word = "above" if mean > error else "below" if mean < -error else "level"
    return f"{word} ({mean:+.2f} ± {error:.2f})"


def line(name: str, X: Any, results: dict[str, Results]) -> list[str]:
    cells = [name, f"{X.shape[0]:,} × {X.shape[1]:,}"]
    cells += [f"{100 * fmean(r.accuracies):.2f} %, {span(fmean(r.seconds))}" for r in results.values()]
    for peer in PEERS:
        faster = fmean(results[peer].seconds) / fmean(results["Perceptron()"].seconds)
        cells.append(f"{verdict(results['Perceptron()'], results[peer])}, {faster:.1f}×")
    return cells


def names_at_hand() -> list[str]:
    return [*COME_WITH_SKLEARN, *(name for name, of in AT_HAND.items() if is_at_hand(SETS[of]))]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_hour", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help="all at hand by default")
    parser.add_argument("--markdown", type=Path, metavar="PATH", help="also write the table to this file")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    head = [
        "set",
        "rows × columns",
        *CONTENDERS,
        *(f"`Perceptron()` beside {peer}, and its speed" for peer in PEERS),
    ]
    lines = [head, ["---"] * len(head)]
    for name in arguments.names or names_at_hand():
        X, y = rows_of(name)
        lines.append(line(name, X, race(X, y)))
        print(" | ".join(lines[-1]), flush=True)
    if arguments.markdown:
        above = arguments.markdown.read_text(encoding="utf-8").partition(MARK)[0]
        table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
        arguments.markdown.write_text(f"{above}{MARK}\n\n{table}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
