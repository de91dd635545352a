"""A progress bar on standard error while a command reads files or works."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from novikoff.data.sources.progress import Progress, Watch

EVERY = 0.1  # seconds between updates of the bar


@contextmanager
def bar(wanted: bool, epochs: int = 0) -> Iterator[Watch | None]:
    """Show a bar, and yield a callback for every block; None if not wanted, or without a terminal."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar
    except ImportError:  # the bar is optional
        yield None
        return

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[figures]}"))
    terminal = getattr(sys.stderr, "stream", sys.stderr)  # the bar needs control characters
    with Bar(*columns, console=Console(file=terminal), transient=True, refresh_per_second=8) as shown:
        task = shown.add_task("starting", total=None, figures="")
        last = 0.0

        def watch(progress: Progress) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= EVERY:
                last = now
                epoch = _epoch(progress)
                shown.update(
                    task,
                    description=f"{progress.doing}/{epochs}" if epochs and epoch else progress.doing,
                    completed=progress.consumed,
                    total=progress.size,
                    figures=figures(progress, epochs - epoch if epochs and epoch else 0),
                )

        yield watch


@contextmanager
def by_fraction(wanted: bool) -> Iterator[Callable[[str, float | None], None] | None]:
    """A bar for work that reads no files: the callback takes a text and the fraction done."""
    started = time.monotonic()
    with bar(wanted) as watch:
        if watch is None:
            yield None
            return
        from novikoff.data.sources.progress import Progress

        def show(text: str, fraction: float | None) -> None:
            size, done = (None, 0) if fraction is None else (1000, round(1000 * fraction))
            watch(Progress(text, 0, done, size, 0, time.monotonic() - started))

        yield show


def by_epoch(watch: Watch | None) -> tuple[Watch | None, Callable[[Any], None] | None]:
    """Callbacks for a fit in memory: one for every block that is read, one for every epoch."""
    if watch is None:
        return None, None
    from novikoff.data.sources.progress import Progress

    rows, what = 0, "rows"

    def read(progress: Progress) -> None:
        nonlocal rows, what
        rows, what = progress.rows, progress.what
        watch(progress)

    def after_epoch(record: Any) -> None:
        doing, mistakes = f"epoch {record['epoch']:.0f}", int(record["mistakes"])
        watch(Progress(doing, rows, 0, None, mistakes, record["seconds"], what))

    return read, after_epoch


def _epoch(progress: Progress) -> int:
    """The number of the current epoch; 0 for any other pass."""
    found = re.fullmatch(r"epoch (\d+)", progress.doing)
    return int(found[1]) if found else 0


def figures(progress: Progress, passes_to_come: int = 0) -> str:
    """Speed, mistakes and time left, in one line; with more passes to come, an upper bound on the time left.

    >>> from novikoff.data.sources.progress import Progress
    >>> figures(Progress("epoch 1", 30_000, 1_000_000, 4_000_000, 600, 2.0))
    '15,000 rows/s  0.5 MB/s  mistakes 2.00 %  0:06 left'
    """
    seconds = max(progress.seconds, 1e-9)
    parts = [f"{progress.rows / seconds:,.0f} {progress.what}/s"] if progress.rows else []
    if progress.consumed and progress.rows:
        parts.append(f"{progress.consumed / seconds / 1e6:.1f} MB/s")
    if progress.doing.startswith(("epoch", "evaluating")):
        parts.append(f"mistakes {100 * progress.mistakes / max(progress.rows, 1):.2f} %")
    if progress.size and progress.consumed:
        whole = seconds * progress.size / progress.consumed
        left = _clock(max(whole - seconds, 0) + passes_to_come * whole)
        parts.append(f"at most {left} left" if passes_to_come else f"{left} left")
    return "  ".join(parts)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
