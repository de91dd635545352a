"""Functions of a cell's text that templates can use. Each is worked out once for each different text.

A function gives a text, or None (and the same for an empty text) where there is no such thing, in which case
a template that asks for it makes no feature.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

Function = Callable[[str], str | None]


@dataclass(frozen=True)
class Argument:
    """What a function is given besides the text: a whole number from 1, a pattern, or a text."""

    kind: str

    def check(self, function: str, value: int | str) -> None:
        """Raise a ValueError that says what was expected."""
        if self.kind == "number":
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"{function} takes a whole number from 1, not {value!r}")
            return
        if not isinstance(value, str):
            raise ValueError(f'{function} takes a {self.kind} in quotes, such as "-", not {value!r}')
        if self.kind == "pattern":
            try:
                re.compile(value)
            except re.error as error:
                raise ValueError(f"{value!r} is no regular expression: {error}") from None


def _lower() -> Function:
    return str.lower


def _prefix(n: int) -> Function:
    return lambda text: text[:n] if len(text) >= n else None


def _suffix(n: int) -> Function:
    return lambda text: text[-n:] if len(text) >= n else None


def _length() -> Function:
    return lambda text: str(len(text))


def _kind(c: str) -> str:
    if c.isupper():
        return "X"
    if c.islower():
        return "x"
    return "d" if c.isdigit() else c


def _shape() -> Function:
    return lambda text: "".join(map(_kind, text))


def _brief() -> Function:
    def brief(text: str) -> str:
        shape = [_kind(c) for c in text]
        return "".join(c for i, c in enumerate(shape) if i == 0 or shape[i - 1] != c)

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
    return lambda text: "".join("0" if c.isdigit() else c for c in text)


def _has(pattern: str) -> Function:
    search = re.compile(pattern).search
    return lambda text: "1" if search(text) else None


def _find(pattern: str) -> Function:
    search = re.compile(pattern).search

    def find(text: str) -> str | None:
        found = search(text)
        if found is None:
            return None
        group: str | None = found[1] if found.re.groups else found[0]
        return group

    return find


def _sub(pattern: str, text: str) -> Function:
    compiled = re.compile(pattern)
    return lambda given: compiled.sub(text.replace("\\", r"\\"), given)


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


def composed(steps: tuple[tuple[str, tuple[int | str, ...]], ...]) -> Function:
    """The functions one after the other, the first innermost."""
    functions = [FUNCTIONS[name][0](*arguments) for name, arguments in steps]

    def apply(text: str) -> str | None:
        for function in functions:
            value = function(text)
            if not value:
                return None
            text = value
        return text

    return apply
