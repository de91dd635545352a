"""Errors as one-line messages and exit codes."""

from __future__ import annotations

import os
import re
import sys
import warnings
from typing import Any

from novikoff.cli import output
from novikoff.cli.options import TABLE, TAG_TABLE, Options, flag_of
from novikoff.cli.parser import Command

DONE, BAD_INPUT, BAD_USAGE, INTERRUPTED = 0, 1, 2, 130


def run(command: Command, options: Options, *, traceback: bool) -> int:
    """Run a command, and return its exit code. An error that the user can correct becomes one line."""
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def show(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
            if category.__name__ in ("RoundingWarning", "PatternWarning"):  # by name: modules load NumPy
                output.note(f"warning: {as_options(str(message))}")
            else:
                shown(message, category, *where, **more)

        warnings.showwarning = show
        try:
            code = command.run(options) or DONE
            sys.stdout.flush()
        except KeyboardInterrupt:
            output.note("interrupted")
            return INTERRUPTED
        except (ValueError, OSError, OverflowError, ImportError, MemoryError) as error:
            if traceback:
                from traceback import print_exc

                print_exc()
            output.note(f"error: {in_one_line(error)}")
            return BAD_INPUT
        return code


def in_one_line(error: BaseException) -> str:
    """The message of an error, with parameters named as on the command line."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"not enough memory ({error})" if str(error) else "not enough memory"
    return as_options(" ".join(str(error).split())) or type(error).__name__


def as_options(text: str) -> str:
    """A message of the library, with parameters named as on the command line.

    >>> as_options("more than max_line=10 bytes; name it by `format`")
    'more than --max-line=10 bytes; name it by --format'
    >>> as_options("or say format='conll'")
    'or say --format conll'
    >>> as_options("pass zero_based=True if they start at 0")
    'pass --zero-based if they start at 0'
    >>> as_options("say which by `header`")
    'say which by --header or --no-header'
    """
    names = TABLE.keys() | TAG_TABLE.keys() | {"id"}

    def replaced(pattern: str, text: str, value: str = "") -> str:
        def one(found: re.Match[str]) -> str:
            return flag_of(found[1]) + found.expand(value) if found[1] in names else found[0]

        return re.sub(pattern, one, text)

    start = r"(?<![\w'\"./-])"
    text = text.replace("by `header`", "by --header or --no-header")
    text = replaced(r"`(\w+)`", text)
    text = replaced(rf"{start}(\w+)='([\w-]+)'", text, r" \2")
    text = replaced(rf"{start}(\w+)=True(?!\w)", text)
    return replaced(rf"{start}(\w*_\w*)(?![\w'\"./-])", text)
