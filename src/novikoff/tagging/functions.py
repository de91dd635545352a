"""Functions of a cell's text that templates can use. Each is computed once per distinct text.

A function returns a text, or None if it has no result; an empty result also counts as None. A template makes
no feature from None. ``has``, ``find`` and ``sub`` return None for texts of more than `LONGEST` characters,
and ``sub`` also when its result would be longer, so that nested functions cannot grow a text without limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

from novikoff.tagging.patterns import refusal

LONGEST = 1000  # characters of a text that patterns are matched with, and of the result of `sub`

Function = Callable[[str], str | None]
Step = tuple[str, tuple[int | str, ...]]  # a function's name and its arguments
Results = dict[tuple[Step, ...], list[str | None]]


@dataclass(frozen=True)
class Argument:
    """An argument of a function besides the text: a whole number from 1, a pattern, or a text."""

    kind: str

    def check(self, function: str, value: int | str, *, trust_patterns: bool = True) -> None:
        """Raise a ValueError that says what was expected."""
        if self.kind == "number":
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"{function} takes a whole number from 1, not {value!r}")
            return
        if not isinstance(value, str):
            raise ValueError(f'{function} takes a {self.kind} in quotes, such as "-", not {value!r}')
        if self.kind == "text" and len(value) > LONGEST:
            raise ValueError(f"{function} takes a text of up to {LONGEST} characters, not {len(value)}")
        if self.kind == "pattern":
            shown = value if len(value) <= 60 else f"{value[:60]}..."
            if not trust_patterns and (why := refusal(value)):
                raise ValueError(
                    f"the pattern {shown!r} could take very long to match ({why}), so it is rejected; if you "
                    "trust the file, pass trust_patterns=True"
                )
            try:
                re.compile(value)
            except (re.error, OverflowError, RecursionError) as error:
                raise ValueError(f"{shown!r} is not a regular expression: {error}") from None


def _lower() -> Function:
    return str.lower


def _prefix(n: int) -> Function:
    return lambda text: text[:n] if len(text) >= n else None


def _suffix(n: int) -> Function:
    return lambda text: text[-n:] if len(text) >= n else None


def _length() -> Function:
    return lambda text: str(len(text))


class _Kinds(dict[int, str]):
    """The symbol of each character in a shape, for `str.translate`; each is computed once."""

    def __missing__(self, code: int) -> str:
        c = chr(code)
        self[code] = "X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c
        return self[code]


class _Zeros(dict[int, str]):
    """Digits become 0, other characters stay."""

    def __missing__(self, code: int) -> str:
        c = chr(code)
        self[code] = "0" if c.isdigit() else c
        return self[code]


_KINDS, _ZEROS = _Kinds(), _Zeros()


def _shape() -> Function:
    return lambda text: text.translate(_KINDS)


def _brief() -> Function:
    known: dict[str, str] = {}  # many words have the same shape

    def brief(text: str) -> str:
        shape = text.translate(_KINDS)
        if shape not in known:
            known[shape] = "".join(c for c, _ in groupby(shape))
        return known[shape]

    return brief


def _case() -> Function:
    def case(text: str) -> str:
        if text.islower():
            return "lower"
        if text.isupper():
            return "upper"
        if text[:1].isupper() and text[1:].islower():
            return "title"
        return "mixed" if text.lower() != text.upper() else "none"

    return case


def _digits() -> Function:
    return lambda text: text.translate(_ZEROS)


def _has(pattern: str) -> Function:
    search = re.compile(pattern).search
    return lambda text: "1" if len(text) <= LONGEST and search(text) else None


def _find(pattern: str) -> Function:
    search = re.compile(pattern).search

    def find(text: str) -> str | None:
        found = search(text) if len(text) <= LONGEST else None
        if found is None:
            return None
        group: str | None = found[1] if found.re.groups else found[0]
        return group

    return find


def _sub(pattern: str, text: str) -> Function:
    compiled, new = re.compile(pattern), text.replace("\\", r"\\")

    def substitute(given: str) -> str | None:
        made = compiled.sub(new, given) if len(given) <= LONGEST else ""
        return made if len(made) <= LONGEST else None

    return substitute


_NUMBER, _PATTERN, _TEXT = Argument("number"), Argument("pattern"), Argument("text")

FUNCTIONS: dict[str, tuple[Callable[..., Function], tuple[Argument, ...]]] = {
    "lower": (_lower, ()),
    "prefix": (_prefix, (_NUMBER,)),
    "suffix": (_suffix, (_NUMBER,)),
    "length": (_length, ()),
    "shape": (_shape, ()),
    "brief": (_brief, ()),
    "case": (_case, ()),
    "digits": (_digits, ()),
    "has": (_has, (_PATTERN,)),
    "find": (_find, (_PATTERN,)),
    "sub": (_sub, (_PATTERN, _TEXT)),
}

PATTERNED = tuple(name for name, (_, given) in FUNCTIONS.items() if given[:1] == (_PATTERN,))


def results(steps: tuple[Step, ...], known: Results) -> list[str | None]:
    """The results of nested functions, the first innermost, for the texts ``known[()]``.

    All intermediate results are kept in `known`, so that ``lower`` is not computed again for every suffix.

    >>> results((("lower", ()), ("suffix", (3,))), {(): ["Going", "IN"]})
    ['ing', None]
    """
    if steps not in known:
        name, arguments = steps[-1]
        function = FUNCTIONS[name][0](*arguments)
        known[steps] = [function(text) if text else None for text in results(steps[:-1], known)]
    return known[steps]
