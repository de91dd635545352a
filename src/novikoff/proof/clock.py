"""What is left of a time limit."""

from __future__ import annotations

import math
import time


class TimeUp(Exception):
    """The time given is over."""


class Clock:
    """Seconds that are left of a limit; None: as long as it takes."""

    def __init__(self, limit: float | None) -> None:
        self.end = math.inf if limit is None else time.monotonic() + limit

    @property
    def left(self) -> float:
        return max(self.end - time.monotonic(), 0.0)

    def tick(self) -> None:
        """Raise `TimeUp` when it is."""
        if self.left <= 0:
            raise TimeUp

    def part(self, share: float, least: float = 0.0) -> float | None:
        """This share of what is left, but at least so many seconds, as a limit for something else."""
        return None if self.end == math.inf else max(share * self.left, least)
