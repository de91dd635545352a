r"""Decides which regular expressions are matched in linear time on every text.

Python's `re` tries one way of matching after the other, and ((.?)+)+# has so many of them on twenty letters
that the search would never end in practice. A pattern from a model file is accepted only if this module can
show that there are few ways at every place of every text.

*The criterion.* Repeats are written out: x{2,4} is xx(x(x)?)?, x{2,} is xxx*. Then every character class in
the pattern is a *position*, and a *run* over a text's first i characters is a way to read them by a sequence
of positions. Different ways through groups, alternatives and repeats that read nothing in between count as
different runs. After a run the matcher tests the next character against every position that can follow, or
finds the end of the pattern. The criterion allows at most `TESTS` of these *tests* after all runs of length i
together, for every i and every text. Assertions (``^ $ \b \B \A \Z``) count as if they held.

Repeats of one class at the very end, as in ``-(.*)``, cannot fail beyond their minimum count; what they read
beyond it is left out.

*The bound.* A backtracking matcher never follows a run twice. From one starting place in a text of n
characters it therefore makes at most TESTS·(n + 1) tests, and at most n + r more for r repeats at the very
end: it is linear. A search starts at each of n + 1 places, and functions of templates match texts of at most
`LONGEST` characters (`novikoff.tagging.functions`).

*The decision* is exact: the numbers of runs that end at each position follow from those one character before.
They are the states of an automaton that starts with the pattern's first positions and branches by the classes
that contain the next character. All its states are visited; a pattern for which that takes more than `WORK`
steps, or that has more than `POSITIONS` positions, is rejected. Also rejected are unbounded repeats of
something that can match nothing, such as (a?)*, look-around, back-references, conditions, possessive repeats,
atomic groups and (?i).

>>> refusal(r"^[A-Z][a-z]+(-[A-Z][a-z]+)*$") is None
True
>>> refusal("((.?)+)+#")
'an unbounded repeat of something that can match nothing'
>>> refusal("[a-z]+[a-z]+#")
'more than 64 ways of matching at one place of some text'
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import accumulate
from operator import xor
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import numpy as np

LENGTH = 1000  # characters of a pattern
DEPTH = 40  # of nested groups, repeats and alternatives
POSITIONS = 200  # character classes of a pattern with repeats written out
TESTS = 64  # per character
WORK = 50_000  # steps of the decision

# Code points where membership changes: characters are in the class from the first, out from the second, …
Class = tuple[int, ...]
Ways = Counter[int]  # the number of ways in which each position is next, or last


@lru_cache(maxsize=256)
def refusal(pattern: str) -> str | None:
    """Why a pattern cannot be shown to be matched in linear time; None if it can.

    Returns None for an invalid regular expression, too: the message of `re.compile` is better.
    """
    if len(pattern) > LENGTH:
        return f"more than {LENGTH} characters"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = _parser.parse(pattern)
        _Writer.check_size(tree)
        writer = _Writer()
        whole = writer.sequence(_uncertain(tree), tree.state.flags)
        _check_runs(writer, whole)
    except _Refused as reason:
        return str(reason)
    except RecursionError:
        return _TOO_DEEP
    except (re.error, OverflowError):
        return None
    return None


class _Refused(Exception):
    pass


# ---- character classes -------------------------------------------------------------------------------
def _class(intervals: Iterable[tuple[int, int]]) -> Class:
    """The class of these half-open intervals."""
    out: list[int] = []
    for low, high in sorted(intervals):
        if out and low <= out[-1]:
            out[-1] = max(out[-1], high)
        else:
            out += [low, high]
    return tuple(out)


def _others(chars: Class) -> Class:
    return chars[1:] if chars[:1] == (0,) else (0, *chars)


@cache
def _category(source: str, ascii_only: bool) -> Class:
    r"""The characters of ``\d``, ``\s`` or ``\w``."""
    every = np.arange(sys.maxunicode + 1, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    return _class(m.span() for m in re.compile(f"{source}+", re.ASCII * ascii_only).finditer(every))


_CATEGORIES = {
    sre.CATEGORY_DIGIT: (r"\d", False),
    sre.CATEGORY_SPACE: (r"\s", False),
    sre.CATEGORY_WORD: (r"\w", False),
    sre.CATEGORY_NOT_DIGIT: (r"\d", True),
    sre.CATEGORY_NOT_SPACE: (r"\s", True),
    sre.CATEGORY_NOT_WORD: (r"\w", True),
}


def _of_category(name: Any, flags: int) -> Class:
    source, negated = _CATEGORIES[name]
    chars = _category(source, bool(flags & re.ASCII))
    return _others(chars) if negated else chars


def _of_set(items: list[tuple[Any, Any]], flags: int) -> Class:
    negated = bool(items) and items[0][0] is sre.NEGATE
    intervals: list[tuple[int, int]] = []
    for op, value in items[negated:]:
        if op is sre.LITERAL:
            intervals.append((value, value + 1))
        elif op is sre.RANGE:
            intervals.append((value[0], value[1] + 1))
        elif op is sre.CATEGORY:
            chars = _of_category(value, flags)
            padded = chars if len(chars) % 2 == 0 else (*chars, sys.maxunicode + 1)
            intervals += list(zip(padded[::2], padded[1::2], strict=True))
        else:
            raise _Refused(f"{op} in a character class")
    return _others(_class(intervals)) if negated else _class(intervals)


# ---- what can fail -----------------------------------------------------------------------------------
_ONE = (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN)


def _uncertain(tree: Any) -> list[tuple[Any, Any]]:
    """The pattern without the optional part of repeats of one class at the very end."""
    items = list(tree)
    while items:
        op, value = items.pop()
        if op is sre.SUBPATTERN:
            *group, body = value
            rest = _uncertain(body)
            if rest:
                return [*items, (op, (*group, rest))]
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT) and len(value[2]) == 1 and value[2][0][0] in _ONE:
            least, _, body = value
            if least:
                return [*items, (op, (least, least, body))]
        else:
            return [*items, (op, value)]
    return items


# ---- positions and what follows them -----------------------------------------------------------------
@dataclass
class _Piece:
    """A part of a pattern: the numbers of ways to begin or end with each position, or to read nothing."""

    first: Ways = field(default_factory=Counter)
    last: Ways = field(default_factory=Counter)
    nothing: int = 0


def _times(ways: Ways, factor: int) -> Ways:
    return Counter({p: n * factor for p, n in ways.items() if factor})


class _Writer:
    """Writes out repeats, numbers the positions, and counts the ways in which one can follow another."""

    def __init__(self) -> None:
        self.classes: list[Class] = []
        self.follow: list[Ways] = []

    @staticmethod
    def check_size(tree: Any, depth: int = 0) -> int:
        """The size of the pattern with repeats written out."""
        if depth > DEPTH:
            raise _Refused(_TOO_DEEP)
        size = 1
        for op, value in tree:
            if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
                least, most, body = value
                copies = max(least, 1) if most is sre.MAXREPEAT else most
                size += _Writer.check_size(body, depth + 1) * max(int(copies), 1)
            elif op is sre.SUBPATTERN:
                size += _Writer.check_size(value[3], depth + 1)
            elif op is sre.BRANCH:
                size += sum(_Writer.check_size(branch, depth + 1) for branch in value[1])
            else:
                size += 1
            if size > 4 * POSITIONS:
                raise _Refused(f"more than {POSITIONS} characters, repeats written out")
        return size

    def sequence(self, tree: Any, flags: int) -> _Piece:
        out = _Piece(nothing=1)
        for op, value in tree:
            out = self._then(out, self._item(op, value, flags))
            if out.nothing > TESTS:
                raise _Refused(_TOO_MANY)
        return out

    def _item(self, op: Any, value: Any, flags: int) -> _Piece:
        if flags & re.IGNORECASE:
            raise _Refused("(?i); lower(...) around the part does the same")
        if op is sre.LITERAL:
            return self._position((value, value + 1))
        if op is sre.NOT_LITERAL:
            return self._position(_others((value, value + 1)))
        if op is sre.ANY:
            return self._position((0,) if flags & re.DOTALL else _others((10, 11)))
        if op is sre.IN:
            return self._position(_of_set(value, flags))
        if op is sre.AT:
            return _Piece(nothing=1)
        if op is sre.SUBPATTERN:
            _, added, removed, body = value
            return self.sequence(body, (flags | added) & ~removed)
        if op is sre.BRANCH:
            return self._either([self.sequence(branch, flags) for branch in value[1]])
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            least, most, body = value
            return self._repeat(least, most, body, flags)
        raise _Refused(_NAMES.get(str(op), str(op).lower().replace("_", " ")))

    def _position(self, chars: Class) -> _Piece:
        if len(self.classes) == POSITIONS:
            raise _Refused(f"more than {POSITIONS} characters, repeats written out")
        here = len(self.classes)
        self.classes.append(chars)
        self.follow.append(Counter())
        return _Piece(Counter([here]), Counter([here]))

    def _join(self, last: Ways, first: Ways) -> None:
        for p, ends in last.items():
            for q, begins in first.items():
                self.follow[p][q] += ends * begins

    def _then(self, a: _Piece, b: _Piece) -> _Piece:
        self._join(a.last, b.first)
        return _Piece(
            a.first + _times(b.first, a.nothing),
            b.last + _times(a.last, b.nothing),
            a.nothing * b.nothing,
        )

    @staticmethod
    def _either(pieces: list[_Piece]) -> _Piece:
        out = _Piece()
        for piece in pieces:
            out = _Piece(out.first + piece.first, out.last + piece.last, out.nothing + piece.nothing)
        return out

    def _repeat(self, least: int, most: Any, body: Any, flags: int) -> _Piece:
        out = _Piece(nothing=1)
        for _ in range(least):
            out = self._then(out, self.sequence(body, flags))
        if most is not sre.MAXREPEAT:
            tail = _Piece(nothing=1)
            for _ in range(most - least):  # from the innermost: (x(x)?)?
                tail = self._either([_Piece(nothing=1), self._then(self.sequence(body, flags), tail)])
            return self._then(out, tail)
        loop = self.sequence(body, flags)
        if loop.nothing:
            raise _Refused("an unbounded repeat of something that can match nothing")
        self._join(loop.last, loop.first)
        return self._then(out, _Piece(loop.first, loop.last, nothing=1))


_NAMES = {
    "ASSERT": "look-around",
    "ASSERT_NOT": "look-around",
    "GROUPREF": "a back-reference",
    "GROUPREF_EXISTS": "a condition",
    "ATOMIC_GROUP": "an atomic group",
    "POSSESSIVE_REPEAT": "a possessive repeat",
}
_TOO_DEEP = "groups nested too deeply"
_TOO_MANY = f"more than {TESTS} ways of matching at one place of some text"


# ---- counting runs -----------------------------------------------------------------------------------
def _check_runs(writer: _Writer, whole: _Piece) -> None:
    """Raise `_Refused` if some text needs more than `TESTS`."""
    letters = _letters(writer.classes)
    begin = _counted(whole.first, whole.nothing)
    known, ahead, work = {begin}, [begin], 0
    while ahead:
        tests = ahead.pop()
        for letter in letters:
            following: Ways = Counter()
            ends = 0
            for p, n in tests:
                work += 1
                if letter >> p & 1:
                    ends += n * whole.last[p]
                    for q, m in writer.follow[p].items():
                        following[q] += n * m
                    work += len(writer.follow[p])
            if work > WORK:
                raise _Refused("too many combinations of ways to match")
            state = _counted(following, ends)
            if state not in known:
                known.add(state)
                ahead.append(state)


def _counted(tests: Ways, ends: int) -> tuple[tuple[int, int], ...]:
    """The tests of the next character by position, as a state."""
    if tests.total() + ends > TESTS:
        raise _Refused(_TOO_MANY)
    return tuple(sorted(tests.items()))


def _letters(classes: list[Class]) -> set[int]:
    """For each kind of character, the positions that can read it, as bits."""
    switches: dict[int, int] = {0: 0}
    for position, chars in enumerate(classes):
        for code in chars:
            switches[code] = switches.get(code, 0) ^ 1 << position
    return set(accumulate((switches[code] for code in sorted(switches)), xor))
