"""Rows as files, as dicts and in parts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np


def libsvm(X: Any, y: Any, weights: Any = None) -> bytes:
    """Rows as LIBSVM text, or as VW text when they have weights; numbers read back exactly."""
    lines = []
    for i, row in enumerate(np.asarray(X).tolist()):
        pairs = " ".join(f"{j}:{v!r}" for j, v in enumerate(row, 1) if v)
        head = f"{y[i]}" if weights is None else f"{y[i]} {float(weights[i])!r} |"
        lines.append(f"{head} {pairs}\n")
    return "".join(lines).encode()


def as_dict(row: Any) -> dict[str, float]:
    """A row as the streaming models take it."""
    return {f"f{j}": float(v) for j, v in enumerate(row)}


def chunks(rng: np.random.Generator, n: int) -> list[slice]:
    """Parts of n rows, some of them empty."""
    cuts = np.unique([0, *rng.integers(0, n + 1, 4), n])
    return [slice(a, b) for a, b in pairwise(cuts)]
