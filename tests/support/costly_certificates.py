"""Certificates that are short to write and would take much work or memory to check."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from novikoff import checker

SIXTY = np.arange(1.0, 61)[:, None], np.arange(60) % 2


def certificate(rows, claim, classes=("0", "1")):
    return {
        "novikoff-certificate": 1,
        "digest": checker.Data(*rows).digest,
        "classes": list(classes),
        "bias": 1.0,
        "ties": "mistake",
        "claims": [claim],
    }


def steep(degree=975, gamma=5e-324):
    """Values of a kernel, of sixty rows with each other, that have a million bits each: in 600 bytes."""
    kernel = {"name": "poly", "gamma": gamma, "coef0": 1.0, "degree": degree}
    return certificate(
        SIXTY,
        {
            "claim": "kernel separable",
            "kernel": kernel,
            "rows": [*range(60)],
            "alpha": [[1] * 60],
            "gamma": 0,
        },
    )


def wide(n=200, column=10**6):
    """Rows with one number each, far to the right."""
    columns = np.full(n, column - 1)
    X = {"data": np.arange(1.0, n + 1), "indices": columns, "indptr": np.arange(n + 1), "shape": (n, column)}
    return SimpleNamespace(format="csr", **X), np.arange(n) % 2


def many_classes(rows, claim):
    """A certificate that knows of 150 classes, of which the rows have two."""
    return certificate(rows, claim, ("0", "1", *(f"{k}x" for k in range(148))))


RUN = {"claim": "run", "order": "cyclic", "visits": 1, "updates": [0], "rivals": [1], "epsilon": 0.0}
RUN |= {"coef": [[0.0]] * 150, "intercept": [0.0] * 150, "gamma": 0.0}
AT_MOST = {"claim": "margin at most", "epsilon": 1e9, "rows": [0, 3], "rivals": [2, 7], "weights": [0.5, 0.5]}


def long_numbers():
    """A number of a million bits beside a small one: floats tell nothing, so every row is decided exactly."""
    X = np.ones((20_000, 2))
    rows = X, np.arange(len(X)) % 2
    claim = {"claim": "errors", "coef": [["f" * (1 << 18), "1"]], "intercept": ["0"], "errors": 10_000}
    return certificate(rows, claim), rows
