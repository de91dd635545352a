"""What `scale="auto"` does for accuracy, beside the rows as they are: `python -m benchmarks.scales [name
...]`.

Averaged, ten epochs, four folds; at most 12,000 rows of a set, drawn at random. `threshold` tries the rule
with other differences of exponents from which columns are scaled.
"""

from __future__ import annotations

import argparse
import warnings
from statistics import fmean
from typing import Any
from unittest import mock

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks.first_hour import AT_HAND, COME_WITH_SKLEARN, rows_of
from benchmarks.verdicts import SETS, is_at_hand, load
from novikoff import Perceptron

ROWS = 12_000
MORE = ("a9a", "w8a", "phishing", "splice", "mushrooms")


def of_a_file(name: str) -> tuple[Any, Any]:
    X, y = load(SETS[name])
    return X, np.unique(np.asarray(y), return_inverse=True)[1]


def sets() -> dict[str, Any]:
    """How to get each set that is at hand."""
    found: dict[str, Any] = {"iris": lambda: load_iris(return_X_y=True)}
    found |= {name: lambda name=name: rows_of(name) for name in COME_WITH_SKLEARN}
    for name in (k for k in SETS if k.split(".")[0] in MORE and is_at_hand(SETS[k])):
        found[name] = lambda name=name: of_a_file(name)
    found |= {n: lambda n=n: rows_of(n) for n, key in AT_HAND.items() if is_at_hand(SETS[key])}
    return found


def accuracy(X: Any, y: Any, scale: str | None, alike: int) -> float:
    """The mean accuracy on held-out folds, in per cent; small sets are folded twice."""
    found = []
    with mock.patch("novikoff.data.scaling.ALIKE", alike):
        for seed in range(2 if X.shape[0] < 2000 else 1):
            folds = StratifiedKFold(4, shuffle=True, random_state=seed).split(np.zeros(len(y)), y)
            for train, test in folds:
                model = Perceptron(max_epochs=10, average=True, scale=scale, random_state=seed)
                found.append(100 * model.fit(X[train], y[train]).score(X[test], y[test]))
    return fmean(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--thresholds", type=int, nargs="*", default=[4])
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    ways = [("as they are", None, 4), *((f"auto, > {k}", "auto", k) for k in wanted.thresholds)]
    print(f"{'':14}", *(f"{name:>12}" for name, _, _ in ways))
    means = []
    for name, read in sets().items():
        if wanted.names and name not in wanted.names:
            continue
        X, y = read()
        X = sp.csr_array(X).astype(float) if sp.issparse(X) else np.asarray(X, dtype=float)
        if len(y) > ROWS:
            some, _ = train_test_split(np.arange(len(y)), train_size=ROWS, random_state=0)
            X, y = X[some], y[some]
        means.append([accuracy(X, y, scale, alike) for _, scale, alike in ways])
        print(f"{name:14}", *(f"{value:12.2f}" for value in means[-1]), flush=True)
    print(f"{'mean':14}", *(f"{fmean(column):12.2f}" for column in zip(*means, strict=True)))


if __name__ == "__main__":
    main()
