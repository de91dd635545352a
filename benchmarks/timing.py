"""Interleaved timing: every contender runs once per round, and the best of all rounds counts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

NOISY = 1.25  # median / best above this means that something else was running
MOST = 2  # the maximum number of batches while the times are noisy


@dataclass
class Times:
    """All times of one contender, in seconds."""

    seconds: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def spread(self) -> float:
        return median(self.seconds) / self.best


def interleave(contenders: dict[str, Callable[[], object]], repeat: int) -> dict[str, Times]:
    """Time each contender `repeat` times, in turn, so that a slow moment of the machine affects all of them.

    If the times scatter, the same number of rounds is run again.
    """
    times = {name: Times() for name in contenders}
    for _ in range(MOST):
        for _ in range(repeat):
            for name, contender in contenders.items():
                started = time.perf_counter()
                contender()
                times[name].seconds.append(time.perf_counter() - started)
        if all(t.spread < NOISY for t in times.values()):
            break
    return times
