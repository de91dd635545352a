"""Verdicts compared with HiGHS alone, which gets the whole linear program at once."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.table import Row, skipped, span
from benchmarks.timing import interleave
from benchmarks.verdicts import SETS, is_at_hand, load
from novikoff.theory import separability

UNDER = 5.0  # seconds, the target
PATIENCE = 120.0  # seconds, the time limit of HiGHS


def highs(z: Any, limit: float) -> tuple[bool, float]:
    """Maximise t over −1 ≤ u ≤ 1, z·u ≥ t: whether HiGHS finished, and the seconds it took."""
    from scipy.optimize import linprog

    n, d = z.shape
    matrix = sp.hstack([-sp.csc_array(z), sp.csc_array(np.ones((n, 1)))], format="csc")
    costs = np.append(np.zeros(d), -1.0)
    bounds = [(-1.0, 1.0)] * d + [(None, 1.0)]
    started = time.perf_counter()
    result = linprog(
        costs, A_ub=matrix, b_ub=np.zeros(n), bounds=bounds, method="highs", options={"time_limit": limit}
    )
    return result.status == 0, time.perf_counter() - started


def _apart(name: str, contender: str, limit: float, queue: Any) -> None:
    """Run in a process of its own: whether it finished, seconds, and the peak memory in MiB."""
    X, y = load(SETS[name])
    if contender == "HiGHS":
        z = np.hstack([X, np.ones((len(y), 1))]) * np.where(y, 1.0, -1.0)[:, None]
        finished, seconds = highs(z, limit)
    else:
        started = time.perf_counter()
        finished = separability(X, y).verdict != "undecided"
        seconds = time.perf_counter() - started
    queue.put((finished, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10))


def _measured(name: str, contender: str) -> tuple[bool, float, float] | None:
    spawn = multiprocessing.get_context("spawn")
    queue: Any = spawn.Queue()
    process = spawn.Process(target=_apart, args=(name, contender, PATIENCE, queue))
    process.start()
    process.join(3 * PATIENCE)
    if process.is_alive():
        process.kill()
    return None if queue.empty() else queue.get()


def covtype(repeat: int) -> Iterator[Row]:
    """581,012 × 54, class 2 against the rest, each in a process of its own, from the rows in memory."""
    name = "covtype, class 2 or not"
    if not is_at_hand(SETS[name]):
        yield skipped(name, "the data are not at hand")
        return
    ours = min((_measured(name, "novikoff") for _ in range(min(repeat, 3))), key=lambda m: m[1])
    theirs = _measured(name, "HiGHS")
    if theirs is None:
        yield Row(f"verdict, {name}", span(ours[1]), "HiGHS alone", "killed", "", "faster", True)
        return
    least = "" if theirs[0] else "≥ "
    ratio, faster = theirs[1] / ours[1], theirs[1] > ours[1]
    yield Row(
        f"verdict, {name}", span(ours[1]), "HiGHS alone", least + span(theirs[1]), f"{least}{ratio:.1f}×",
        "faster", faster and ours[0],
    )  # fmt: skip
    yield Row("  most memory, rows included", f"{ours[2]:.0f} MiB", "HiGHS alone", f"{theirs[2]:.0f} MiB")


def small(repeat: int) -> Iterator[Row]:
    """The verdict, with its proof, on sets that fit into a cache."""
    for name in ("mushrooms", "phishing"):
        if not is_at_hand(SETS[name]):
            yield skipped(name, "the data are not at hand")
            continue
        X, y = load(SETS[name])
        best = interleave({"novikoff": lambda X=X, y=y: separability(X, y)}, repeat)["novikoff"].best
        yield Row(f"verdict, {name}", span(best), target=f"under {UNDER:g} s", reached=best < UNDER)


def verdicts(repeat: int) -> Iterator[Row]:
    yield from small(repeat)
    yield from covtype(repeat)
