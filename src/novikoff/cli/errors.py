"""From a command's function to one that typer can run: groups of options, errors and exit codes."""

from __future__ import annotations

import inspect
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints

import typer

from novikoff.cli import output
from novikoff.cli.options import flag_of
from novikoff.parameters.table import FILE_PARAMETERS, TAG_FILE_PARAMETERS

INTERRUPTED = 130
_show_traceback = False


def show_traceback(wanted: bool) -> None:
    """Whether an error is shown with the way to it."""
    global _show_traceback
    _show_traceback = wanted


def runnable(command: Callable[..., None]) -> Callable[..., None]:
    """The command with each parameter that is a dataclass replaced by the options it groups.

    An error that the user can mend becomes one line and exit code 1.
    """
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[type, list[str]]] = {}
    hints = get_type_hints(command, include_extras=True)
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if is_dataclass(kind) and isinstance(kind, type):
            types = get_type_hints(kind, include_extras=True)
            groups[parameter.name] = kind, [field.name for field in fields(kind)]
            for field in fields(kind):
                assert field.default is not MISSING
                parameters.append(
                    inspect.Parameter(
                        field.name,
                        inspect.Parameter.KEYWORD_ONLY,
                        default=field.default,
                        annotation=types[field.name],
                    )
                )
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=kind))

    def run(**given: Any) -> None:
        for name, (kind, members) in groups.items():
            given[name] = kind(**{member: given.pop(member) for member in members})
        _run(command, given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {}
    return run


def _run(command: Callable[..., None], given: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def show(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
            if category.__name__ in ("RoundingWarning", "PatternWarning"):  # by name: modules load numpy
                output.note(f"warning: {as_options(str(message))}")
            else:
                shown(message, category, *where, **more)

        warnings.showwarning = show
        _run_watched(command, given)


def _run_watched(command: Callable[..., None], given: dict[str, Any]) -> None:
    try:
        command(**given)
        sys.stdout.flush()
    except KeyboardInterrupt:
        output.note("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except (ValueError, OSError, OverflowError, ImportError, MemoryError) as error:
        if _show_traceback:
            traceback.print_exc()
        output.note(f"error: {_one_line(error)}")
        raise typer.Exit(1) from None


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"not enough memory ({error})" if str(error) else "not enough memory"
    return as_options(" ".join(str(error).split())) or type(error).__name__


def as_options(text: str) -> str:
    """A message of the library with parameters by their names on the command line.

    >>> as_options("more than max_line=10 bytes; name it by `format`")
    'more than --max-line=10 bytes; name it by --format'
    >>> as_options("or say format='conll'")
    'or say --format conll'
    >>> as_options("pass zero_based=True if they start at 0")
    'pass --zero-based if they start at 0'
    >>> as_options("say which by `header`")
    'say which by --header or --no-header'
    """
    names = FILE_PARAMETERS.keys() | TAG_FILE_PARAMETERS.keys()
    text = text.replace("by `header`", "by --header or --no-header")
    text = re.sub(r"`(\w+)`", lambda m: flag_of(m[1]) if m[1] in names else m[0], text)
    text = re.sub(
        r"(?<![\w'\"./-])(\w+)='([\w-]+)'",
        lambda m: f"{flag_of(m[1])} {m[2]}" if m[1] in names else m[0],
        text,
    )
    text = re.sub(
        r"(?<![\w'\"./-])(\w+)=True(?!\w)", lambda m: flag_of(m[1]) if m[1] in names else m[0], text
    )
    plain = "|".join(name for name in sorted(names) if "_" in name)
    return re.sub(rf"(?<![\w'\"./-])({plain})(?![\w'\"./-])", lambda m: flag_of(m[1]), text)
