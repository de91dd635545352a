"""Verdicts on real data: which sets are separable, how and how fast this was decided, and their margins.

`python -m benchmarks.verdicts [name ...] [--markdown docs/separability.md]`
"""

from __future__ import annotations

import argparse
import gzip
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from novikoff.data.arrays import read_matrix
from novikoff.data.sources.block import gather
from novikoff.data.sources.formats import open_source
from novikoff.theory import certify, max_margin, separability

DATA = Path(os.environ.get("NOVIKOFF_DATA", Path(__file__).parents[2] / "shared" / "data"))
MARK = "<!-- the table: written by `python -m benchmarks.verdicts --markdown` -->"
HEAD = (
    "set",
    "rows × columns",
    "with a bias",
    "without",
    "how (with)",
    "rows in the proof",
    "γ (with)",
    "certificate (with)",
    "time",
)


@dataclass(frozen=True)
class Set:
    """A file, the options for reading it, and the mapping of its labels."""

    path: str
    options: dict[str, Any] = field(default_factory=dict)
    labels: Callable[[Any], Any] = lambda y: y
    classes: tuple[Any, ...] = ()  # the classes that are kept; empty: all
    limit: float = 120.0


SETS = {
    "mushrooms": Set("libsvm/mushrooms.txt.xz"),
    "phishing": Set("libsvm/phishing.txt.xz"),
    "a9a": Set("libsvm/a9a.xz"),
    "a9a.t": Set("libsvm/a9a.t.xz"),
    "w8a": Set("libsvm/w8a.xz"),
    "splice": Set("libsvm/splice.txt.xz"),
    "ijcnn1.trn": Set("libsvm/ijcnn1.trn.bz2"),
    "ijcnn1.tst": Set("libsvm/ijcnn1.tst.bz2"),
    "adult": Set("adult/adult.data.gz", {"format": "csv", "header": False, "label": 15}),
    "sms_spam": Set("sms_spam/SMSSpamCollection.gz", {"format": "tsv", "label": 1, "text": 2}),
    "kdd99, normal or not": Set(
        "kdd99/kddcup.data_10_percent.gz",
        {"format": "csv", "header": False, "label": 42},
        lambda y: np.char.startswith(y.astype(str), "normal"),
    ),
    "covtype, class 2 or not": Set("covtype/covtype.csv.gz", {"label": 55}, lambda y: y == 2),
    "covtype, 7 classes": Set("covtype/covtype.csv.gz", {"label": 55}, limit=180.0),
    "mnist 0, 1": Set("mnist/train", classes=(0, 1)),
    "mnist 3, 5": Set("mnist/train", classes=(3, 5)),
    "mnist 4, 9": Set("mnist/train", classes=(4, 9)),
    "mnist, 10 classes": Set("mnist/train", limit=600.0),
    "newsgroups, 20 classes": Set(
        "newsgroups/20newsgroups-train.tab.gz",
        {"skip_lines": 3, "header": False, "label": 1, "text": [2]},
        limit=400.0,
    ),
}


def is_at_hand(one: Set) -> bool:
    return (DATA / one.path).exists() or (DATA / f"{one.path}-images-idx3-ubyte.gz").exists()


def load(one: Set) -> tuple[Any, Any]:
    """Rows and labels."""
    if one.path.startswith("mnist"):
        images, labels = (
            np.frombuffer(gzip.decompress((DATA / f"{one.path}-{kind}-ubyte.gz").read_bytes()), np.uint8)
            for kind in ("images-idx3", "labels-idx1")
        )
        X, y = images[16:].reshape(-1, 784), labels[8:].astype(np.int64)
    else:
        block = gather(open_source(DATA / one.path, **one.options).blocks())
        X, y = read_matrix(block.X), one.labels(np.asarray(block.labels))
    if one.classes:
        kept = np.isin(y, one.classes)
        X, y = X[kept], y[kept]
    return X, y


def row(name: str, one: Set) -> list[str]:
    """The set as a row of the table."""
    X, y = load(one)
    took, verdicts = [], []
    for fit_intercept in (True, False):
        started = time.perf_counter()
        verdicts.append(separability(X, y, fit_intercept=fit_intercept, time_limit=one.limit))
        took.append(time.perf_counter() - started)
    verdict = verdicts[0]
    bracket, proof, how = "≤ 0", "", getattr(verdict, "how", "time limit")
    if verdict.verdict == "separable":
        found = max_margin(X, y, gap=1e-3, time_limit=60.0)
        lower, upper = max(found.lower, verdict.margin), min(found.upper, verdict.upper)
        bracket, proof = f"{lower:.6g} … {upper:.6g}", "all"
    elif verdict.verdict == "inseparable":
        proof = f"{len(verdict.pairs):,}"
        digits = math.ceil(max(w.bit_length() for w in verdict.weights) * math.log10(2))
        proof += f" ({digits} digits)" if digits > 1 else ""
    else:
        bracket = f"≤ {verdict.upper:.3g}"
    words = [v.verdict + (f"; {_pairs(v.by_pair)}" if v.by_pair else "") for v in verdicts]
    times = " / ".join(f"{t:.2f} s" for t in took)
    claims = certify(X, y, time_limit=one.limit).verify(X, y)  # raises unless all of them are true
    proved = "verified" if len(claims) == 1 else "verified, γ from both sides"
    return [name, f"{X.shape[0]:,} × {X.shape[1]:,}", *words, how, proof, bracket, proved, times]


def _pairs(by_pair: dict[Any, str]) -> str:
    words = list(by_pair.values())
    counts = [f"{words.count(w)} {w}" for w in ("separable", "inseparable", "undecided") if w in words]
    return f"{len(words)} pairs of classes: {', '.join(counts)}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verdicts", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"{', '.join(SETS)}; all by default")
    parser.add_argument("--markdown", type=Path, metavar="PATH", help="also write the table to this file")
    arguments = parser.parse_args()
    lines = [list(HEAD), ["---"] * len(HEAD)]
    for name in arguments.names or SETS:
        if is_at_hand(SETS[name]):
            lines.append(row(name, SETS[name]))
            print(" | ".join(lines[-1]), flush=True)
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    if arguments.markdown:
        above = arguments.markdown.read_text(encoding="utf-8").partition(MARK)[0]
        arguments.markdown.write_text(f"{above}{MARK}\n\n{table}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
