"""Accuracy of mixed weights against one learner, by shards and epochs: `python -m benchmarks.mixed [set …]`.

Prints tables of docs/scale.md. All shards are learned in this process, by the functions that run on the
workers: for the same shards the weights are those of any cluster, bit for bit.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.hindsight import DATA, FILES, read, read_file
from novikoff.data.labels import number
from novikoff.distributed import mixing
from novikoff.distributed.linear_shard import LinearMethod, RowShard, order_states
from novikoff.training.weights import Model, Settings

SHARDS = (2, 8, 32)
MANY = (128, 512)  # where there are enough rows
EPOCHS = 10
MOST = 60  # epochs at most, while the accuracy is not yet near
NEAR = 0.005  # of the accuracy that one learner reaches

Set = tuple[Any, Any, Any, Any]  # training rows and labels, in random order, and test rows and labels


def census() -> Set:
    """a9a: 123 columns of zeros and ones."""
    (X, y), (test, labels) = read("a9a"), read_file(DATA / "libsvm" / "a9a.t.xz")
    test.resize(test.shape[0], X.shape[1])
    return X, y, test, labels


def forest() -> Set:
    """Class 2 of covtype against the rest; columns divided by their maximum, every fifth row held out."""
    X, y = read("covtype")
    X = X / X.max(axis=0)
    held = np.arange(len(y)) % 5 == 4
    return X[~held], y[~held], X[held], y[held]


def news() -> Set:
    """20 Newsgroups, by date: tf-idf of words that occur in at least two documents, 20 classes."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    def lines(part: str) -> tuple[list[str], list[str]]:
        path = DATA / "newsgroups" / f"20newsgroups-{part}.tab.gz"
        with gzip.open(path, "rt", encoding="utf-8") as file:
            pairs = [line.rstrip("\n").partition("\t") for line in file][3:]  # below the header
        labels, _, texts = zip(*pairs, strict=True)
        return list(labels), list(texts)

    (y, texts), (labels, later) = lines("train"), lines("test")
    words = TfidfVectorizer(min_df=2, sublinear_tf=True)
    X, test = words.fit_transform(texts), words.transform(later)
    X.sort_indices()
    test.sort_indices()
    return X, np.array(y), test, np.array(labels)


SETS: dict[str, tuple[Callable[[], Set], str]] = {
    "a9a": (census, "libsvm/a9a.xz"),
    "covtype": (forest, "covtype/covtype.csv.gz"),
    "newsgroups": (news, "newsgroups/20newsgroups-train.tab.gz"),
}


def at_hand() -> dict[str, Callable[[], Set]]:
    return {name: make for name, (make, path) in SETS.items() if (DATA / path).exists()}


def shuffled(rows: Set, seed: int = 0) -> Set:
    """The training rows in random order, so that every shard is a sample of all."""
    X, y, test, labels = rows
    order = np.random.default_rng(seed).permutation(len(y))
    return X[order], y[order], test, labels


# ---- learning from shards in one process ------------------------------------------------------------
def cut(X: Any, y: Any, n_shards: int) -> list[RowShard]:
    """Neighbouring rows as shards."""
    places = mixing.cuts(len(y), n_shards)
    return [RowShard(f"rows {a} to {b}", X[a:b], y[a:b]) for a, b in pairwise(places)]


def rounds(
    method: LinearMethod, shards: Sequence[RowShard], how: str
) -> Iterator[tuple[Model, list[mixing.Change]]]:
    """The mixed model after each epoch and the changes of every shard, without end."""
    table, standing = method.begin()
    orders = order_states(np.random.default_rng(0), len(shards))
    while True:
        changes, outcomes = [], []
        for shard, order in zip(shards, orders, strict=True):
            own = table.copy()
            outcomes.append(method.learn(shard, own, standing, order, 1))
            changes.append(mixing.changes([table], own))
        mixed = mixing.tally(standing, outcomes, how)
        if mixed.changed:
            table = mixing.mix(table, changes, mixed.shares, mixed.visits, mixed.standing.visits)
        standing, orders = mixed.standing, [outcome.order for outcome in outcomes]
        yield method.model(table.copy(), standing.parts), changes


def learned(X: Any, y: Any, n_shards: int, how: str, *, average: bool) -> Iterator[Model]:
    """The mixed model after each epoch, without end."""
    classes, numbers = number(y)
    method = LinearMethod(len(classes), X.shape[1], Settings(average=average))
    return (model for model, _ in rounds(method, cut(X, numbers, n_shards), how))


def accuracy(model: Model, X: Any, y: Any) -> float:
    """The accuracy, of the averaged weights where they exist."""
    found = model.scorer(averaged=model.settings.average).predict(X)
    return float(np.mean(np.unique(y)[found] == y))


def accuracies(rows: Set, n_shards: int, how: str, near: float = 0.0) -> list[float]:
    """Accuracies of averaged weights on held-out rows per epoch: ten, then until `near` or `MOST`."""
    X, y, test, labels = rows
    found: list[float] = []
    for model in learned(X, y, n_shards, how, average=True):
        found.append(accuracy(model, test, labels))
        if len(found) >= EPOCHS and (max(found) >= near or len(found) == MOST):
            break
    return found


def epochs_to(curve: Sequence[float], target: float) -> int | None:
    """The first epoch after which the accuracy is reached.

    >>> epochs_to([0.7, 0.8, 0.81], 0.8), epochs_to([0.7], 0.8)
    (2, None)
    """
    return next((k for k, value in enumerate(curve, 1) if value >= target), None)


def against_one(name: str, rows: Set, many: Sequence[int]) -> Iterator[str]:
    """Lines of the table for one set."""
    alone = accuracies(rows, 1, "uniform")
    yield f"| {name} | 1 | | {alone[0]:.2%} | {alone[9]:.2%} | | {epochs_to(alone, alone[9] - NEAR)} |"
    for n_shards in (*SHARDS, *many):
        for how in ("uniform", "updates"):
            curve = accuracies(rows, n_shards, how, alone[9] - NEAR)
            near = epochs_to(curve, alone[9] - NEAR) or f"> {MOST}"
            more = 100 * (curve[9] - alone[9])
            yield f"| | {n_shards} | {how} | {curve[0]:.2%} | {curve[9]:.2%} | {more:+.2f} | {near} |"


def to_separation(X: Any, y: Any, n_shards: int, how: str) -> tuple[int, int]:
    """Epochs and updates until an epoch passes without one."""
    epochs = before = 0
    for model in learned(X, y, n_shards, how, average=False):
        epochs += 1
        if model.total("updates") == before:
            break
        before = model.total("updates")
    return epochs, before


def main() -> None:
    print(f"| set | shards | mixing | 1 epoch | {EPOCHS} epochs | against one learner | epochs to within "
          f"{100 * NEAR:g} % |\n|---|---|---|---|---|---|---|")  # fmt: skip
    sets = at_hand()
    for name in sys.argv[1:] or sets:
        rows = sets[name]()
        for line in against_one(name, shuffled(rows), MANY if name != "newsgroups" else ()):
            print(line, flush=True)
        if name == "covtype":
            for line in against_one("covtype, shards as the file has its rows", rows, ()):
                print(line, flush=True)
    if (DATA / FILES["mushrooms"]).exists():
        print("\n| mushrooms, shards | mixing | epochs | updates |\n|---|---|---|---|")
        X, y, *_ = shuffled((*read("mushrooms"), None, None))
        for n_shards in (1, *SHARDS, *MANY):
            for how in ("uniform", "updates"):
                epochs, updates = to_separation(X, y, n_shards, how)
                print(f"| {n_shards} | {how} | {epochs} | {updates:,} |", flush=True)


if __name__ == "__main__":
    main()
