"""The best bound in hindsight compared with a perceptron's mistakes: `python -m benchmarks.hindsight`.

Prints the table of docs/bounds.md: real files, one pass over the rows in random orders, with a bias.
"""

from __future__ import annotations

import bz2
import io
import lzma
import os
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from novikoff import Perceptron
from novikoff.proof.problem import read_problem
from novikoff.theory.hindsight import Hindsight, solve

DATA = Path(os.environ.get("NOVIKOFF_DATA", Path(__file__).parents[2] / "shared" / "data"))
FILES = {
    "a9a": "libsvm/a9a.xz",
    "w8a": "libsvm/w8a.xz",
    "ijcnn1": "libsvm/ijcnn1.trn.bz2",
    "phishing": "libsvm/phishing.txt.xz",
    "mushrooms": "libsvm/mushrooms.txt.xz",
    "splice": "libsvm/splice.txt.xz",
    "covtype": "covtype/covtype.csv.gz",  # class 2 against the rest, not scaled
}


def at_hand(name: str) -> bool:
    return (DATA / FILES[name]).exists()


def read(name: str) -> tuple[Any, Any]:
    """Rows and labels of one of the files."""
    return read_file(DATA / FILES[name])


def read_file(path: Path) -> tuple[Any, Any]:
    if path.suffix == ".gz":
        import pandas as pd

        values = pd.read_csv(path).to_numpy(np.float64)
        return np.ascontiguousarray(values[:, :-1]), np.where(values[:, -1] == 2, 1, -1)
    from sklearn.datasets import load_svmlight_file

    expand = bz2.decompress if path.suffix == ".bz2" else lzma.decompress
    return load_svmlight_file(io.BytesIO(expand(path.read_bytes())))


@dataclass
class Measured:
    """One file."""

    mistakes: list[int]  # of one pass per order
    w: Any  # weights after the last of them, in the lifted space
    best: dict[str, Hindsight]
    seconds: dict[str, float]


def measure(X: Any, y: Any, orders: int = 5) -> Measured:
    """Passes in random orders, and both bounds."""
    problem = read_problem(X, y)
    mistakes = []
    for seed in range(orders):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one pass does not separate the rows
            model = Perceptron(order="shuffle", random_state=seed, max_epochs=1).fit(X, y)
        mistakes.append(model.n_mistakes_)
    best, seconds = {}, {}
    for norm in ("l2", "l1"):
        started = time.perf_counter()
        best[norm] = solve(problem, norm=norm)
        seconds[norm] = time.perf_counter() - started
    return Measured(mistakes, problem.vector(model.coef_, model.intercept_), best, seconds)


def main() -> None:
    print("| file | rows × columns | mistakes of one pass | L2 | gap | ratio | s | L1 | gap | ratio | s |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name in filter(at_hand, FILES):
        X, y = read(name)
        found = measure(X, y)
        mean = float(np.mean(found.mistakes))
        cells = [name, f"{X.shape[0]:,} × {X.shape[1]:,}", f"{mean:,.0f}"]
        for norm, best in found.best.items():
            cells += [f"{best.value:,.0f}", f"{100 * best.gap:.2f} %", f"{best.value / mean:.2f}"]
            cells.append(f"{found.seconds[norm]:.1f}")
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
