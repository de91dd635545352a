"""Tables that lie compressed in ../shared/data or NOVIKOFF_DATA, where they are at hand, beside pandas."""

from __future__ import annotations

import csv
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

from novikoff.data.sources.columns import TableFeatures
from novikoff.data.sources.tables import TableSource
from support.places import at_hand


def totals(source: TableSource) -> tuple[int, Counter[Any], dict[str, float]]:
    """Rows, labels, and the sum of every feature."""
    n, labels, sums = 0, Counter[Any](), np.zeros(0)
    for block in source.blocks(reuse=True):
        n += block.n_rows
        labels.update(block.labels.tolist())
        sums = np.concatenate((sums, np.zeros(source.features.n_columns - len(sums))))
        if isinstance(block.X, np.ndarray):
            sums += block.X.sum(axis=0)
        else:
            sums += np.bincount(block.X.indices, block.X.data, len(sums))
    return n, labels, dict(zip(source.features.names(range(len(sums))), sums.tolist(), strict=True))


def expected(frame: pd.DataFrame, label: Any) -> dict[str, float]:
    out: dict[str, float] = {}
    for name, column in frame.items():
        if name == label:
            continue
        if pd.api.types.is_numeric_dtype(column):
            out[str(name)] = float(column.sum())
        else:
            out |= {f"{name}={value}": float(n) for value, n in column.str.strip().value_counts().items()}
    return out


def check(source: TableSource, frame: pd.DataFrame, label: Any) -> Counter[Any]:
    n, labels, sums = totals(source)
    assert n == len(frame)
    assert sums == pytest.approx(expected(frame, label), rel=1e-12)
    return labels


def test_covtype() -> None:
    path = at_hand("covtype/covtype.csv.gz")
    source = TableSource(path, label="Cover_Type")
    assert all(isinstance(block.X, np.ndarray) for block in source.blocks(reuse=True))
    labels = check(source, pd.read_csv(path), "Cover_Type")
    assert labels[2.0] == 283_301 and labels.total() == 581_012 and source.features.n_columns == 54


def test_kdd99() -> None:
    path = at_hand("kdd99/kddcup.data_10_percent.gz")
    frame = pd.read_csv(path, header=None, names=[str(k + 1) for k in range(42)], dtype={"42": str})
    labels = check(TableSource(path), frame, "42")
    assert labels["normal."] == 97_278 and labels.total() == 494_021


def test_adult() -> None:
    path, other = at_hand("adult/adult.data.gz"), at_hand("adult/adult.test.gz")
    names = [str(k + 1) for k in range(15)]
    source = TableSource(path)
    labels = check(source, pd.read_csv(path, header=None, names=names), "15")
    assert labels == {"<=50K": 24_720, ">50K": 7_841}
    features = TableFeatures.from_state(*source.features.state())
    n, labels, sums = totals(TableSource(other, skip_lines=1, features=features))
    assert n == 16_281 and labels[">50K."] == 3_846
    there = expected(pd.read_csv(other, header=None, names=names, skiprows=1), "15")
    assert sums == pytest.approx({name: there.get(name, 0.0) for name in sums}, rel=1e-12)


def test_sms_spam() -> None:
    path = at_hand("sms_spam/SMSSpamCollection.gz")
    n, labels, sums = totals(TableSource(path, format="tsv", label=1, text=2))
    assert n == 5_574 and labels == {"ham": 4_827, "spam": 747}
    texts = pd.read_csv(path, sep="\t", header=None, quoting=csv.QUOTE_NONE)[1]
    words = Counter(word for text in texts for word in text.lower().split() if word == "free")
    assert sums["2=free"] >= words["free"] > 100  # more, as of "free!" or "FREE-ring" it is a word too


@pytest.mark.parametrize(("part", "rows"), [("train", 11_293), ("test", 7_528)])
def test_newsgroups(part: str, rows: int) -> None:
    path = at_hand(f"newsgroups/20newsgroups-{part}.tab.gz")
    n, labels, sums = totals(TableSource(path, skip_lines=3, header=False, label=1, text=[2]))
    assert n == rows and len(labels) == 20
    texts = pd.read_csv(path, sep="\t", header=None, skiprows=3, quoting=csv.QUOTE_NONE)[1]
    assert sum(sums.values()) >= texts.str.split().str.len().sum() * 0.99
