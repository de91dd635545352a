"""The progress of a pass over a source, for callbacks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Progress:
    """The progress of a pass over a source."""

    doing: str  # "first look", "reading", "epoch 2", "verdict"
    rows: int
    consumed: int  # bytes of the files, of `size`
    size: int | None
    mistakes: int  # in this epoch
    seconds: float
    what: str = "rows"


Watch = Callable[[Progress], None]
