"""How many threads `n_jobs` asks for."""

from __future__ import annotations

import os


def threads(n_jobs: int | None) -> int:
    """How many threads `n_jobs` asks for, read as scikit-learn reads it."""
    if n_jobs is None:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return n_jobs if n_jobs > 0 else max(cores + 1 + n_jobs, 1)
