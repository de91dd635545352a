"""The remaining part of a time limit."""

from __future__ import annotations

import math
import time


class TimeUp(Exception):
    """The time limit was reached."""


class Clock:
    """The seconds left of a time limit; None: no limit."""

    def __init__(self, limit: float | None) -> None:
        self.end = math.inf if limit is None else time.monotonic() + limit

    @property
    def left(self) -> float:
        return max(self.end - time.monotonic(), 0.0)

    def tick(self) -> None:
        """Raise `TimeUp` if no time is left."""
        if self.left <= 0:
            raise TimeUp

    def part(self, share: float, least: float = 0.0) -> float | None:
        """This share of the time left, but at least `least` seconds, as a limit for one step."""
        return None if self.end == math.inf else max(share * self.left, least)
