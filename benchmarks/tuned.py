"""`novikoff tune` beside a careful hand and scikit-learn's defaults: `python -m benchmarks.tuned [name ...]`.

Everyone learns from the same rows and is judged once, on the same test rows. `tune` and `fit` are given the
file, its label and nothing else. The hand tries six ways of `fit` and is credited with the one that does best
on the test rows, which is more than it could know. scikit-learn's classifiers have their defaults, on columns
prepared as its guide advises: numbers standardised, categories one-hot, text by `TfidfVectorizer`.
`--markdown docs/tuning.md` writes the table.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.table import span
from benchmarks.verdicts import DATA
from novikoff.cli.app import run as command

MARK = "<!-- the table: written by `python -m benchmarks.tuned --markdown` -->"
ROWS = 50_000  # at most so many are drawn to learn from, and as many to test

BY_HAND = [
    ["--average", "--epochs", "10", "--rule", rule, "--scale", scale]
    for rule in ("perceptron", "arow", "scw")
    for scale in ("standard", "unit")
]
PEERS: dict[str, Callable[[], Any]] = {
    "LogisticRegression()": LogisticRegression,
    "SGDClassifier()": lambda: SGDClassifier(random_state=0),
}


@dataclass(frozen=True)
class Table:
    """Lines of cells to learn from and to test, and how the command reads them."""

    train: Sequence[str]
    test: Sequence[str]
    label: int  # the number of the column, from 1
    options: Sequence[str] = ("--no-header", "--format", "csv")
    separator: str = ","
    text: bool = False


def lines_of(path: str) -> list[str]:
    with gzip.open(DATA / path, "rt", encoding="utf-8") as file:
        return file.read().splitlines()


def drawn(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Two samples without a common line."""
    order = np.random.default_rng(0).permutation(len(lines))
    return [lines[i] for i in order[:ROWS]], [lines[i] for i in order[ROWS : 2 * ROWS]]


def adult() -> Table:
    train, test = (
        [
            line.replace(", ", ",").removesuffix(".")
            for line in lines_of(f"adult/adult.{part}.gz")
            if "," in line
        ]
        for part in ("data", "test")
    )
    return Table(train, test, label=15)


def newsgroups() -> Table:
    train, test = (
        [line for line in lines_of(f"newsgroups/20newsgroups-{part}.tab.gz")[3:] if line]
        for part in ("train", "test")
    )
    return Table(train, test, 1, ("--no-header", "--format", "tsv", "--text", "2"), "\t", text=True)


SETS: dict[str, tuple[Callable[[], Table], str]] = {
    "newsgroups": (newsgroups, "newsgroups/20newsgroups-train.tab.gz"),
    "covtype": (
        lambda: Table(*drawn(lines_of("covtype/covtype.csv.gz")[1:]), label=55),
        "covtype/covtype.csv.gz",
    ),
    "kdd99": (
        lambda: Table(*drawn(lines_of("kdd99/kddcup.data_10_percent.gz")), label=42),
        "kdd99/kddcup.data_10_percent.gz",
    ),
    "adult": (adult, "adult/adult.data.gz"),
}


# ---- the command -----------------------------------------------------------------------------------------
def said(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    with redirect_stdout(out), redirect_stderr(StringIO()):
        code = command([*arguments, "--json"])
    assert not code, code
    result: dict[str, Any] = json.loads(out.getvalue())
    return result


def ours(table: Table) -> dict[str, str]:
    """`fit` and `tune` with what they must know, and the best of the hand's fits."""
    with TemporaryDirectory() as folder:
        paths = {part: f"{folder}/{part}" for part in ("train", "test")}
        for part, path in paths.items():
            Path(path).write_text("\n".join(getattr(table, part)) + "\n", encoding="utf-8")
        known = [paths["train"], "--test", paths["test"], "--model", f"{folder}/m.novikoff"]
        known += ["--label", str(table.label), *table.options]
        fitted = said("fit", *known)["test"]["accuracy"]
        by_hand = [said("fit", *known, *options)["test"]["accuracy"] for options in BY_HAND]
        started = time.perf_counter()
        tuned = said("tune", *known)
        seconds = time.perf_counter() - started
    best, hand = tuned["best"], BY_HAND[int(np.argmax(by_hand))]
    mean = ", averaged" if best["average"] else ""
    C = "" if best["rule"] == "perceptron" else f" C={best['C']:g}"
    chosen = f"{best['rule']}{C}{mean}, {best['epochs']} epochs, scale {best['scale'] or 'none'}"
    error = (tuned["test"]["accuracy"] * (1 - tuned["test"]["accuracy"]) / len(table.test)) ** 0.5
    return {
        "standard error": f"{100 * error:.2f}",
        "`tune`": f"**{percent(tuned['test']['accuracy'])}**, {span(seconds)}",
        "it chose": f"{chosen} ({percent(tuned['tried'][0]['score'])} of the held-out rows)",
        "the best by hand": f"{percent(max(by_hand))}: `{' '.join(hand)}`",
        "`fit`": percent(fitted),
    }


# ---- scikit-learn ----------------------------------------------------------------------------------------
def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def prepared(table: Table) -> tuple[Any, Any, Any, Any]:
    """Columns as scikit-learn's guide advises."""
    cells, tests = ([line.split(table.separator) for line in part] for part in (table.train, table.test))
    y, labels = ([row[table.label - 1] for row in part] for part in (cells, tests))
    if table.text:
        words = TfidfVectorizer()
        return words.fit_transform(r[1] for r in cells), y, words.transform(r[1] for r in tests), labels
    places = [k for k in range(len(cells[0])) if k != table.label - 1]
    numbers = [k for k in places if all(is_number(row[k]) for row in cells)]
    categories = [k for k in places if k not in numbers]
    X, Z = (np.array(part, dtype=object) for part in (cells, tests))
    for rows in (X, Z):
        rows[:, numbers] = rows[:, numbers].astype(float)
    columns = make_column_transformer(
        (StandardScaler(), numbers), (OneHotEncoder(handle_unknown="ignore"), categories)
    )
    return columns.fit_transform(X), y, columns.transform(Z), labels


def theirs(table: Table) -> dict[str, str]:
    X, y, Z, labels = prepared(table)
    found = {}
    for name, make in PEERS.items():
        started = time.perf_counter()
        model = make().fit(X, y)
        found[name] = f"{percent(model.score(Z, labels))}, {span(time.perf_counter() - started)}"
    return found


def percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tuned", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"{', '.join(SETS)}; all by default")
    parser.add_argument("--markdown", type=Path, metavar="PATH", help="also write the table to this file")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    lines: list[list[str]] = []
    for name in arguments.names or SETS:
        make, path = SETS[name]
        if not (DATA / path).exists():
            continue
        table = make()
        figures = {"set": name, "rows": f"{len(table.train):,} / {len(table.test):,}"}
        figures |= ours(table) | theirs(table)
        lines = lines or [list(figures), ["---"] * len(figures)]
        lines.append(list(figures.values()))
        print(" | ".join(f"{key}: {value}" for key, value in figures.items()), flush=True)
    if arguments.markdown:
        above = arguments.markdown.read_text(encoding="utf-8").partition(MARK)[0]
        table_lines = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
        arguments.markdown.write_text(f"{above}{MARK}\n\n{table_lines}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
