"""The list of commands, and how a command is found and run."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from inspect import cleandoc

import novikoff
from novikoff.cli import output
from novikoff.cli.errors import BAD_USAGE, DONE
from novikoff.cli.errors import run as run_command
from novikoff.cli.options import UsageError, flag, value_option
from novikoff.cli.parser import HELP, Command, Help, close_to, paragraphs, section, split

GROUPS = {  # the commands of each group, by its name; each has a module of the same name
    "": (
        *(
            "fit",
            "predict",
            "evaluate",
            "inspect",
            "convert",
            "tune",
            "diagnose",
            "trace",
            "certify",
            "verify",
        ),
        "tag",
    ),
    "tag": ("fit", "predict", "evaluate"),
}
COMMANDS = GROUPS[""]
GLOBAL = (
    flag("version", "Show the version and exit."),
    flag("traceback", "Show where in the program an error arose. [variable: NOVIKOFF_TRACEBACK]"),
    value_option(
        "completion",
        "Write a script that completes commands and options in this shell.",
        choices=("bash", "zsh", "fish"),
    ),
)
ABOUT = """Perceptrons that carry their proof: from a file to a model in one command."""
START = (
    ("novikoff fit examples/data/iris.csv", "learn a model"),
    ("novikoff predict iris.novikoff examples/data/iris.csv", "use it"),
    ("novikoff fit --help", "options, with examples"),
)
CODES = "Exit codes: 0 done, 1 bad input, 2 bad usage, 130 interrupted, 141 standard output was closed."


def run(words: list[str]) -> int:
    """Run the command line, and return its exit code."""
    if words[:1] == ["--complete"]:  # from the scripts of --completion
        from novikoff.cli.completion import candidates

        output.say(candidates(words[1:]))
        return DONE
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    names: list[str] = []
    try:
        given, words = split(words, GLOBAL, interspersed=False)
        if "version" in given and not given.keys() & {"help", "help_all"}:
            output.say([f"novikoff {novikoff.__version__}"])
            return DONE
        if "completion" in given:
            from novikoff.cli.completion import SCRIPTS

            output.say(SCRIPTS[GLOBAL[2].read(given["completion"])].splitlines())
            return DONE
        traceback = "traceback" in given or _is_set("NOVIKOFF_TRACEBACK")
        while known := GROUPS.get(" ".join(names)):
            helped = "help" in given or "help_all" in given
            if helped or not words:
                _show_help(names, err=not helped)
                return DONE if helped else BAD_USAGE
            if words[0] not in known:
                close = [f"{name!r}" for name in close_to(words[0], known)]
                meant = f" Did you mean {' or '.join(close)}?" if close else ""
                if not close and os.path.isfile(words[0]):  # noqa: PTH113
                    meant = f" To learn from this file: {_title(names)} fit {words[0]}"
                raise UsageError(f"No such command {words[0]!r}.{meant}")
            names.append(words.pop(0))
            if " ".join(names) in GROUPS:
                given, words = split(words, (), interspersed=False)
        command = load(*names)
        options = command.parse(words)
        if isinstance(options, Help):
            _show_help(names, all=options.all)
            return DONE
        return run_command(command, options, traceback=traceback)
    except UsageError as error:
        title = _title(names)
        output.say([_usage(names), f"Try '{title} -h' for help.", "", f"Error: {error}"], err=True)
        return BAD_USAGE


def load(*names: str) -> Command:
    """The command with this name: 'fit', or 'tag' and 'fit'."""
    command = getattr(import_module(".".join(["novikoff.cli", *names])), names[-1])
    assert isinstance(command, Command)
    return command


def about(*names: str) -> str:
    """The description of a command or group of commands."""
    if not names:
        return ABOUT
    group = " ".join(names) in GROUPS
    text = import_module(".".join(["novikoff.cli", *names])).__doc__ if group else load(*names).run.__doc__
    return cleandoc(text or "")


def _title(names: list[str]) -> str:
    return " ".join(["novikoff", *names])


def _usage(names: list[str]) -> str:
    if " ".join(names) in GROUPS:
        return f"Usage: {_title(names)} [OPTIONS] COMMAND [ARGS]..."
    return load(*names).usage(_title(names))


def _show_help(names: list[str], *, all: bool = False, err: bool = False) -> None:
    width = terminal_width()
    parts = [_usage(names), paragraphs(about(*names), width)]
    if known := GROUPS.get(" ".join(names)):
        if not names:
            parts.append(section("To start", START, width, 58 if width >= 80 else 8))
        firsts = [(name, about(*names, name).partition("\n\n")[0]) for name in known]
        parts.append(section("Commands", firsts, width, 12))
        options = [] if names else [(each.shown, each.help) for each in GLOBAL]
        parts.append(section("Options", [*options, HELP], width))
        if not names:
            parts.append(paragraphs(CODES, width))
    else:
        parts += load(*names).sections(width, all=all)
    output.say("\n\n".join(filter(None, parts)).splitlines(), err=err)


def terminal_width() -> int:
    """The width for help, at most 110 columns; as `shutil` finds it, which loads every compressor."""
    try:
        columns = int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        columns = 0
    if columns <= 0:
        try:
            columns = os.get_terminal_size(sys.stdout.fileno()).columns
        except (AttributeError, ValueError, OSError):  # not a terminal
            columns = 80
    return min(columns or 80, 110)


def _is_set(variable: str) -> bool:
    """Whether an environment variable is set to a true value."""
    value = os.environ.get(variable, "").lower()
    if value not in ("", "0", "no", "off", "false", "1", "yes", "on", "true"):
        raise UsageError(f"{value!r} is not possible: expected 0 or 1.", variable)
    return value in ("1", "yes", "on", "true")
