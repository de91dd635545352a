"""The largest margin of 100,000 × 100 separable rows, compared with LinearSVC run to the same margin."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from benchmarks.table import Row, faster, span
from benchmarks.timing import interleave
from novikoff.theory import max_margin

ROWS, COLUMNS, MARGIN, GAP = 100_000, 100, 0.2, 1e-3
MOST_ITERATIONS = 128_000
LARGE = 100.0  # C; the weights of the hard-margin solution sum to 1/γ² = 25, so none of them reaches C


def rows(n: int, dtype: Any, seed: int = 0) -> tuple[Any, Any]:
    """Gaussian rows, pushed apart by a margin along a hidden unit vector."""
    rng = np.random.default_rng(seed)
    u = rng.standard_normal(COLUMNS)
    u /= np.linalg.norm(u)
    X = rng.standard_normal((n, COLUMNS), dtype=dtype)
    y = np.where(X @ u > 0, 1, -1)
    X += (y[:, None] * (MARGIN * u)).astype(dtype)
    return X, y


def attained(X: Any, y: Any, w: Any) -> float:
    return float((y * (X @ w)).min() / np.linalg.norm(w))


def peer(X: Any, y: Any, iterations: int) -> Any:
    # tol never stops it, so the iterations decide how far it runs; shrinking makes the late ones cheap
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        svc = LinearSVC(
            loss="hinge", C=LARGE, fit_intercept=False, tol=1e-12, max_iter=iterations, random_state=0
        )
        return svc.fit(X, y).coef_[0]


def enough(X: Any, y: Any, wanted: float) -> tuple[int, float]:
    """Iterations after which LinearSVC attains the margin, or the most allowed, and the attained margin."""
    iterations = 2_000
    while True:
        margin = attained(X, y, peer(X, y, iterations))
        if margin >= wanted or iterations >= MOST_ITERATIONS:
            return iterations, margin
        iterations *= 4


def largest(repeat: int) -> Iterator[Row]:
    X, y = rows(ROWS, np.float64)
    gamma = max_margin(X, y, 1e-9, fit_intercept=False).lower
    iterations, margin = enough(X, y, (1 - GAP) * gamma)
    contenders = {
        "novikoff": lambda: max_margin(X, y, GAP, fit_intercept=False),
        "LinearSVC": lambda: peer(X, y, iterations),
    }
    times = interleave(contenders, min(repeat, 3))
    short = "" if margin >= (1 - GAP) * gamma else f", {1 - margin / gamma:.2g} short"
    yield faster(
        f"largest margin of {ROWS:,} × {COLUMNS} float64 to a gap of {GAP:g}",
        times["novikoff"].best,
        f"LinearSVC, C = {LARGE:g}, {iterations:,} iterations{short}",
        times["LinearSVC"].best,
        at_least=5,
    )
    X, y = rows(1_000_000, np.float32)
    found = []
    times = interleave({"novikoff": lambda: found.append(max_margin(X, y, 1e-6, fit_intercept=False))}, 3)
    work = (
        f"1,000,000 × {COLUMNS} float32 to a gap of 1e-6 ({found[-1].passes} passes over {X.nbytes >> 20} MB)"
    )
    yield Row(work, span(times["novikoff"].best))
