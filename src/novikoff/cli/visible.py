"""Untrusted text made safe to print, and standard streams that write only such text to a terminal.

Names, labels and file names come from files that others wrote. Characters that control a terminal are
shown as escapes, in JSON's notation.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable
from typing import Any, TextIO

# C0 and C1 controls, DEL, line ends, changes of text direction, and halves of surrogate pairs.
_UNSAFE = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_IN_TEXT, _IN_LINE = re.compile(f"[{_UNSAFE}]"), re.compile(f"[{_UNSAFE}\t\n]")
PIPE_CLOSED = 141  # a shell's exit code for a process that SIGPIPE ends: 128 + 13


def _escape(found: re.Match[str]) -> str:
    return {"\n": "\\n", "\t": "\\t"}.get(found[0], f"\\u{ord(found[0]):04x}")


def visible(text: str) -> str:
    """Lines of text without characters that control a terminal.

    >>> print(visible("a\\x1b[31mred\\u202e"))
    a\\u001b[31mred\\u202e
    """
    return _IN_TEXT.sub(_escape, text)


def in_line(text: str) -> str:
    """The same for a single line, in which line breaks are escaped too.

    >>> in_line("a\\nb") == "a\\\\nb"
    True
    """
    return _IN_LINE.sub(_escape, text)


def breaks_lines(text: str) -> bool:
    """Whether the text, unescaped, cannot be a line or a cell of a line."""
    return _IN_LINE.search(text) is not None


class OutputLost(Exception):
    """Standard output cannot be written to; unlike an error of a file, no command handles it."""

    def __init__(self, reason: OSError) -> None:
        super().__init__(reason.strerror)
        self.code = PIPE_CLOSED if isinstance(reason, BrokenPipeError) else 1


def _lost(reason: OSError) -> None:
    raise OutputLost(reason) from None


def _ignored(reason: OSError) -> None:
    """Ignore a lost standard error: there is no other place for a message."""


class _Bytes(io.BufferedWriter):
    """The unfiltered bytes behind a stream, for data that a command writes to standard output."""

    def __init__(self, raw: io.RawIOBase, failed: Callable[[OSError], None]) -> None:
        super().__init__(raw)
        self._failed = failed

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self._failed(error)
            return len(data)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self._failed(error)


class Visible(io.TextIOWrapper):
    """A text stream that escapes unsafe characters."""

    stream: TextIO  # the stream it wraps

    def write(self, text: str) -> int:
        super().write(visible(text))
        return len(text)


def _reserve() -> None:
    """Reopen standard streams that were closed at start, so that no other file gets their numbers.

    Writing to such a standard output fails, and is reported as an error.
    """
    for number, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # takes the lowest free number


def guard() -> None:
    """Put both streams behind `Visible`."""
    _reserve()
    for name, number, failed in (("stdout", 1, _lost), ("stderr", 2, _ignored)):
        stream = getattr(sys, name)
        if stream is None:
            stream = open(number, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        # python -u has no buffer, and may write only a part.
        raw = getattr(stream.buffer, "raw", stream.buffer)
        shown = Visible(
            _Bytes(raw, failed),
            encoding=stream.encoding,
            errors="replace",  # R ≥ γ in a terminal that has only ASCII
            line_buffering=stream.line_buffering or raw is stream.buffer,
        )
        shown.stream = stream
        setattr(sys, name, shown)


def give_up() -> None:
    """Discard what is still buffered for standard output, which Python would write when it exits."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
