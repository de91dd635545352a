"""The start of a local cluster's workers. Ctrl-C is for the client, which then closes them."""

from __future__ import annotations

import signal
from typing import Any


def dask_setup(worker: Any) -> None:
    """Ignore the terminal's interrupt."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
