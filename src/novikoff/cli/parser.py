"""Commands: the values of their options, parsed from words, and their help.

The words are parsed by `optparse`, which has getopt's grammar: an option takes the next word as its value,
whatever it begins with (``--classes -1,+1``), and options may stand between arguments. `argparse` always
treats a word that begins with - as an option.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from optparse import OptionParser, Values
from typing import Any, NoReturn

from novikoff.cli.options import COMMON, PARTS, TABLE, Argument, Group, Option, Options, UsageError, option
from novikoff.parameters.parameter import Parameter

HELP_COLUMN = 26


@dataclass(frozen=True)
class Command:
    """A function of options, with the options and arguments that it takes."""

    run: Callable[[Options], int | None]  # an exit code; None: done
    arguments: tuple[Argument, ...]
    groups: dict[str, tuple[Option, ...]]  # by their headings
    examples: tuple[str, ...] = ()  # they run where the sample files are, after those of `fit`

    @property
    def options(self) -> list[Option]:
        return [each for group in self.groups.values() for each in group]

    def parse(self, words: list[str]) -> Options | Help:
        """The values of all options and arguments, or the help that is requested."""
        given, rest = split(words, self.options)
        if "help" in given or "help_all" in given:
            return Help(all="help_all" in given)
        options = Options(
            **{each.name: each.default for each in self.options}, given=frozenset(given), typed=given
        )
        for each in self.options:
            if each.name in given:
                value = given[each.name]
                setattr(options, each.name, value if each.is_flag else each.read(value))
        for argument in self.arguments:
            if not rest:
                raise UsageError(f"Missing argument '{argument.metavar.removesuffix('...')}'.")
            if "..." in argument.metavar:
                taken, rest = [argument.kind(word) for word in rest], []
                setattr(options, argument.name, taken)
            else:
                setattr(options, argument.name, argument.kind(rest.pop(0)))
        if rest:
            raise UsageError(f"Got unexpected extra argument(s) ({' '.join(rest)})")
        for each in self.options:
            if each.required and each.name not in given:
                raise UsageError(f"Missing option {' / '.join(map(repr, reversed(each.flags)))}.")
        return options

    def usage(self, name: str) -> str:
        return " ".join(["Usage:", name, "[OPTIONS]", *(each.metavar for each in self.arguments)])

    @property
    def common(self) -> dict[str, list[Option]]:
        """The options that most people need, by the parts of the help, the most used first."""
        parts: dict[str, list[Option]] = {}
        for heading, group in self.groups.items():
            parts.setdefault(PARTS.get(heading, heading), []).extend(o for o in group if o.name in COMMON)
        order = list(COMMON)
        return {part: sorted(o, key=lambda each: order.index(each.name)) for part, o in parts.items() if o}

    def sections(self, width: int, *, all: bool) -> list[str]:
        """The parts of the help: arguments, options under their headings, and examples."""
        out = [section("Arguments", [(each.metavar, each.help) for each in self.arguments], width)]
        if all:
            shown = {heading: [(o.shown, o.help) for o in group] for heading, group in self.groups.items()}
        else:
            shown = {part: [(o.shown, o.short) for o in group] for part, group in self.common.items()}
        out += [section(heading, rows, width) for heading, rows in shown.items()]
        more = ("--help-all", f"Show all {len(self.options)} options, and all about them.")
        out.append(section("Help", [HELP, more], width))
        return [
            *out,
            "\n".join(
                ["Examples:" if self.examples else "", *(_as_typed(each, width) for each in self.examples)]
            ),
        ]


@dataclass(frozen=True)
class Help:
    """What was requested in place of a run: the common options, or all."""

    all: bool


HELP = ("-h, --help", "Show this help.")


def command(
    *arguments: Argument,
    groups: dict[str, Group],
    examples: tuple[str, ...] = (),
    table: Mapping[str, Parameter] = TABLE,
) -> Callable[[Callable[[Options], int | None]], Command]:
    """Make a command of a function; `groups` maps headings to options."""
    made = {
        heading: tuple(option(each, table) if isinstance(each, str) else each for each in group)
        for heading, group in groups.items()
    }
    return lambda run: Command(run, arguments, made, examples)


# ---- words ---------------------------------------------------------------------------------------------
class _Parser(OptionParser):
    """optparse without abbreviations, raising `UsageError`."""

    def _match_long_opt(self, opt: str) -> str:
        if opt in self._long_opt:
            return opt
        close = ", ".join(close_to(opt, self._long_opt))
        raise UsageError(f"No such option: {opt}{close and f' (Possible options: {close})'}")

    def error(self, msg: str) -> NoReturn:
        raise UsageError(msg[:1].upper() + msg[1:])


def split(
    words: list[str], options: Iterable[Option], *, interspersed: bool = True
) -> tuple[dict[str, Any], list[str]]:
    """The options among some words, by name: True, False or the list of texts given; and the other words."""
    parser = _Parser(add_help_option=False)
    if not interspersed:
        parser.disable_interspersed_args()
    parser.add_option("-h", "--help", action="store_true")
    parser.add_option("--help-all", action="store_true")
    for each in options:
        parser.add_option(*each.flags, dest=each.name, action="store_true" if each.is_flag else "append")
        if each.opposite:
            parser.add_option(each.opposite, dest=each.name, action="store_false")
    given = Values()
    _, rest = parser.parse_args(words, given)
    return vars(given), rest


def close_to(word: str, known: Iterable[str]) -> list[str]:
    """The names that the user may have meant.

    >>> close_to("--epoch", ["--epochs", "--order"]), close_to("--N_JOBS", ["--n-jobs"])
    (['--epochs'], ['--n-jobs'])
    """
    from difflib import get_close_matches

    plain = word.lower().replace("_", "-")
    return sorted({*get_close_matches(word, known), *get_close_matches(plain, known)})


# ---- help ----------------------------------------------------------------------------------------------
def paragraphs(text: str, width: int) -> str:
    from textwrap import fill

    parts = [" ".join(part.split()) for part in text.split("\n\n")]
    wrap = partial(fill, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    return "\n\n".join(wrap(part, width) for part in parts if part)


def section(heading: str, rows: Iterable[tuple[str, str]], width: int, column: int = HELP_COLUMN) -> str:
    """A heading with two columns below it, the second from `column` on."""
    from textwrap import wrap

    lines = []
    for name, help in rows:
        first, *more = wrap(help, max(width - column, 20), break_on_hyphens=False) or [""]
        if len(name) + 4 > column:
            lines += _choices(name, width)
            name = ""
        lines += [f"  {name}".ljust(column) + first, *(" " * column + line for line in more)]
    lines = [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
    return "\n".join([f"{heading}:", *lines]) if lines else ""


def _as_typed(line: str, width: int) -> str:
    """A command in lines of this width that a shell joins."""
    from textwrap import wrap

    lines = wrap(line, width - 2, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False)
    return " \\\n".join(lines)


def _choices(name: str, width: int) -> list[str]:
    """The name of an option in lines of this width, broken between its choices."""
    lines = [""]
    for part in re.split(r"(?<=[| ])", name):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) + (6 if lines[1:] else 2) > width:
            lines.append("")
        lines[-1] += part
    return [" " * (6 if k else 2) + line.rstrip() for k, line in enumerate(lines)]
