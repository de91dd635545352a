"""The number of threads for `n_jobs`, and work spread over them."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def threads(n_jobs: int | None) -> int:
    """The number of threads for `n_jobs`, as scikit-learn defines it."""
    if n_jobs is None:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return n_jobs if n_jobs > 0 else max(cores + 1 + n_jobs, 1)


def results(calls: Iterable[Callable[[], T]], jobs: int) -> Iterator[T]:
    """The results of the calls, in order; `jobs` threads make the calls.

    With one job, or a single call, calls run in the caller's thread when their results are requested. When a
    call fails, those that have not begun are not made.

    >>> list(results([lambda: 1, lambda: 2], jobs=2))
    [1, 2]
    """
    if jobs > 1 and len(calls := list(calls)) > 1:
        return _on_threads(calls, jobs)
    return map(operator.call, calls)


def _on_threads(calls: Iterable[Callable[[], T]], jobs: int) -> Iterator[T]:
    pool = ThreadPoolExecutor(jobs)
    try:
        yield from pool.map(operator.call, calls)
    finally:
        pool.shutdown(cancel_futures=True)
