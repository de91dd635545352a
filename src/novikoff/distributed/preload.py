"""What workers of a cluster of our own do first. Ctrl-C is for the client, which then closes them."""

from __future__ import annotations

import signal
from typing import Any


def dask_setup(worker: Any) -> None:
    """Be deaf to the terminal's interrupt."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
