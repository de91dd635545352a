"""A live bar on standard error, while a command goes over files."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from novikoff.streaming import Progress, Watch

EVERY = 0.1  # seconds between two changes of the bar


@contextmanager
def shown(wanted: bool, epochs: int = 0) -> Iterator[Watch | None]:
    """What to call after every block; None when nobody looks: not a terminal, or not wanted."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar
    except ImportError:  # the bar is a comfort, not a need
        yield None
        return

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[figures]}"))
    with Bar(*columns, console=Console(stderr=True), transient=True, refresh_per_second=8) as bar:
        task = bar.add_task("starting", total=None, figures="")
        last = 0.0

        def watch(progress: Progress) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= EVERY:
                last = now
                doing = progress.doing
                if epochs and re.fullmatch(r"epoch \d+", doing):
                    doing = f"{doing}/{epochs}"
                bar.update(
                    task,
                    description=doing,
                    completed=progress.consumed,
                    total=progress.size,
                    figures=figures(progress),
                )

        yield watch


def figures(progress: Progress) -> str:
    """Speed, mistakes and time left of a pass, in one line.

    >>> from novikoff.streaming import Progress
    >>> figures(Progress("epoch 1", 30_000, 1_000_000, 4_000_000, 600, 2.0))
    '15,000 rows/s  0.5 MB/s  mistakes 2.00 %  0:06 left'
    """
    seconds = max(progress.seconds, 1e-9)
    parts = [f"{progress.rows / seconds:,.0f} rows/s", f"{progress.consumed / seconds / 1e6:.1f} MB/s"]
    if progress.doing.startswith(("epoch", "evaluating")):
        parts.append(f"mistakes {100 * progress.mistakes / max(progress.rows, 1):.2f} %")
    if progress.size and progress.consumed:
        left = seconds * max(progress.size - progress.consumed, 0) / progress.consumed
        parts.append(f"{_clock(left)} left")
    return "  ".join(parts)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
