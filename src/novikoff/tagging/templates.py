r"""A small language for the features of a token.

There is one template per line, such as ``w[-1]|w[0]``: the previous and the current word. For each token it
makes an attribute named by the template, an equals sign, and the values: ``w[-1]|w[0]=in|the``. There is no
attribute if a value lies outside of the sentence. The grammar::

    line      columns: NAME NAME ...             the names of the file's columns, from the first
              [NAME =] template                  with a name instead of the template's text
              # a comment, or nothing
    template  part | part | ...                  all of them at once
              __BOS__    __EOS__    "text"       at a sentence's first token, at its last, at every token
    part      COLUMN[OFFSET]                     a cell: column by name or number (from 0), distance in tokens
              FUNCTION(part)  FUNCTION(part, ARGUMENT, ...)
              pad(part)                          outside of the sentence _B-1, _B-2, ... and _B+1, _B+2, ...
    FUNCTION  lower  case  shape  brief  digits  length  prefix  suffix  has  find  sub
    OFFSET, and a number as ARGUMENT             3, or 1..4 for one template each

docs/templates.md explains it with examples.
"""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from novikoff.tagging.functions import FUNCTIONS, PATTERNED, Step
from novikoff.tagging.patterns import refusal
from novikoff.tagging.readymade import READYMADE

FURTHEST = 100  # largest distance of a token; also the largest number as an argument
MOST_TEMPLATES = 1000  # ranges written out: the number of features that a token can have
MOST_PARTS = 16  # of a template
MOST_STEPS = 16  # nested functions
LAST_COLUMN = 9999  # of columns given by number
MOST_PATTERNS = 100  # from an untrusted file: each must be checked


@dataclass(frozen=True)
class Part:
    """One cell, or a function of it."""

    column: str
    offset: int
    steps: tuple[Step, ...] = ()  # innermost first
    padded: bool = False

    @property
    def text(self) -> str:
        """The text of the part, without blanks."""
        cell = f"{self.column}[{self.offset}]"
        for name, arguments in self.steps:
            shown = [str(a) if isinstance(a, int) else f'"{a}"' for a in arguments]
            cell = f"{name}({','.join([cell, *shown])})"
        return f"pad({cell})" if self.padded else cell


@dataclass(frozen=True)
class Template:
    """One template: its parts, or a fixed attribute of the first, the last or every token."""

    name: str
    parts: tuple[Part, ...]
    where: str = ""  # "first", "last", or "" for everywhere


class Templates:
    """A list of templates, which determine the features of a token.

    Parameters
    ----------
    lines : str or list of str
        Templates, one per line. See `novikoff.tagging.templates` for the grammar, and
        `Templates.named` for ready-made ones.
    columns : list of str, default None
        The names of the columns of a file or of a token, from the first. None: the names in the line
        ``columns:``; without that line, columns have numbers, and the names that CoNLL-U gives them.
    trust_patterns : bool, default True
        Whether any regular expression is accepted. If False, as for model files, only those that
        `novikoff.tagging.patterns` shows to be matched in linear time.

    Attributes
    ----------
    templates : tuple of Template
        The templates, with ranges written out.
    columns : tuple of str
    text : str
        Lines that give equal templates; stored in model files.

    Examples
    --------
    >>> templates = Templates(["columns: w pos", "w[-1..1]", "pos[-1]|pos[0]", "suffix(lower(w[0]), 3)"])
    >>> for template in templates:
    ...     print(template.name)
    w[-1]
    w[0]
    w[1]
    pos[-1]|pos[0]
    suffix(lower(w[0]),3)
    """

    def __init__(
        self,
        lines: str | Iterable[str],
        *,
        columns: Iterable[str] | None = None,
        trust_patterns: bool = True,
    ) -> None:
        given = lines.splitlines() if isinstance(lines, str) else [str(line) for line in lines]
        self.columns: tuple[str, ...] = () if columns is None else _column_names(columns)
        found: list[Template] = []
        untrusted: set[str] | None = None if trust_patterns else set()
        for number, line in enumerate(given, 1):
            try:
                stated = _COLUMNS.fullmatch(line)
                if stated is None:
                    found += _Line(line, untrusted).templates()
                    if len(found) > MOST_TEMPLATES:
                        raise ValueError(_MANY)
                elif columns is None:
                    if self.columns:
                        raise ValueError("the columns are named twice")
                    self.columns = _column_names(re.split(r"[\s,]+", stated[1].strip()))
            except ValueError as error:
                raise ValueError(f"template line {number}, {_shown(line.strip())}: {error}.") from None
        names: dict[str, Template] = {}
        for template in found:
            if template.name in names:
                raise ValueError(
                    f"two templates are called {template.name!r}, so their features could not be told apart; "
                    "leave one out, or give one another name, as in: other=w[0]."
                )
            names[template.name] = template
        if not found:
            raise ValueError("there is no template: expected at least one line such as w[0].")
        self.templates = tuple(found)

    @classmethod
    def named(cls, name: str) -> Templates:
        """Ready-made templates.

        >>> len(Templates.named("crfsuite-chunking"))
        21
        """
        if name not in READYMADE:
            raise ValueError(
                f"there are no templates called {name!r}; there are {', '.join(READYMADE)}, "
                "or use any file with one template per line."
            )
        return cls(READYMADE[name])

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Templates:
        """Templates from a file, or ready-made ones if there is no such file."""
        if not Path(path).exists() and str(path) in READYMADE:
            return cls.named(str(path))
        try:
            text = Path(path).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{path}: no such file, and no ready-made templates of this name: {', '.join(READYMADE)}."
            ) from None
        except UnicodeDecodeError:
            raise ValueError(f"{path}: the templates are not UTF-8 text.") from None
        try:
            return cls(text)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    @property
    def text(self) -> str:
        lines = [f"columns: {' '.join(self.columns)}"] if self.columns else []
        for template in self.templates:
            plain = "|".join(part.text for part in template.parts)
            if not template.parts:
                lines.append(template.name if template.where else f'"{template.name}"')
            else:
                lines.append(plain if template.name == plain else f"{template.name}={plain}")
        return "\n".join(lines) + "\n"

    def patterns(self) -> list[str]:
        """The distinct regular expressions among the arguments of functions."""
        steps = (step for t in self.templates for part in t.parts for step in part.steps)
        return list(dict.fromkeys(str(given[0]) for name, given in steps if name in PATTERNED))

    def slow_patterns(self) -> list[str]:
        """Those patterns that are rejected in an untrusted file."""
        patterns = self.patterns()
        if len(patterns) > MOST_PATTERNS:
            return patterns
        return [pattern for pattern in patterns if refusal(pattern)]

    def used_columns(self) -> list[str]:
        """The columns that templates refer to, in order of appearance."""
        return list(dict.fromkeys(part.column for t in self.templates for part in t.parts))

    def only_column(self) -> tuple[str, ...]:
        """The only column in use, if it has a name and `columns` is empty: it is the first column."""
        used = self.used_columns()
        return tuple(used) if len(used) == 1 and not self.columns and not used[0].isdigit() else ()

    def first_use(self, column: str) -> str:
        """The first template that refers to a column."""
        return next(t.name for t in self.templates if any(part.column == column for part in t.parts))

    def __len__(self) -> int:
        return len(self.templates)

    def __iter__(self) -> Iterator[Template]:
        return iter(self.templates)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Templates) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Templates({self.text.splitlines()!r})"


_COLUMNS = re.compile(r"\s*columns\s*:(.*)")
_NAME = re.compile(r"\s*([^\W\d][\w.+-]*)\s*=")
_TOKEN = re.compile(
    r"""\s*(?:
      (?P<fixed>__BOS__|__EOS__)
    | "(?P<quoted>(?:[^"\\]|\\.)*)"
    | (?P<range>[+-]?\d+\s*\.\.\s*[+-]?\d+)
    | (?P<number>[+-]?\d+)
    | (?P<word>[^\W\d]\w*)
    | (?P<mark>[][()|,])
    | (?P<end>$)
    )""",
    re.VERBOSE,
)


def _column_names(names: Iterable[str]) -> tuple[str, ...]:
    out = tuple(names)
    for name in out:
        if not re.fullmatch(r"[^\W\d]\w*", name):
            raise ValueError(f"{name!r} cannot be a column's name: letters, digits and _, first a letter")
    if len(set(out)) < len(out):
        raise ValueError("two columns have the same name")
    return out


def _shown(line: str) -> str:
    return repr(line if len(line) <= 200 else f"{line[:200]}...")


_MANY = f"more than {MOST_TEMPLATES:,} templates, ranges written out; leave some out, or make ranges narrower"


class _Line:
    """The parser for one line of templates."""

    def __init__(self, line: str, untrusted: set[str] | None) -> None:
        self._text, self._at = line.rstrip(), 0
        self._untrusted = untrusted  # patterns so far; None: all are trusted
        self._kind, self._value = "", ""

    def templates(self) -> list[Template]:
        """The line's templates; none for an empty line or a comment."""
        if not self._text.strip() or self._text.lstrip().startswith("#"):
            return []
        name = None
        if found := _NAME.match(self._text):
            name, self._at = found[1], found.end()
        self._next()
        if self._kind in ("fixed", "quoted"):
            text, kind = self._value, self._kind
            self._next()
            self._expect_end()
            if not text:
                raise ValueError("the fixed attribute has no text")
            where = {"__BOS__": "first", "__EOS__": "last"}.get(text, "") if kind == "fixed" else ""
            return [Template(text if name is None else name, (), where)]
        choices = [self._part()]
        while self._kind == "mark" and self._value == "|":
            self._next()
            choices.append(self._part())
            if len(choices) > MOST_PARTS:
                raise ValueError(f"more than {MOST_PARTS} parts in one template")
        self._expect_end()
        if math.prod(map(len, choices)) > MOST_TEMPLATES:
            raise ValueError(_MANY)
        out = []
        for parts in itertools.product(*choices):
            out.append(Template("|".join(p.text for p in parts) if name is None else name, parts))
        return out

    def _part(self, depth: int = 0) -> list[Part]:
        """One part, or several if it has a range."""
        if depth > MOST_STEPS:
            raise ValueError(f"more than {MOST_STEPS} nested functions")
        if self._kind not in ("word", "number"):
            raise self._unexpected("a column, such as w[0], or a function")
        word, kind = self._value, self._kind
        self._next()
        if kind == "word" and self._is("("):
            return self._function(word, depth)
        if not self._is("["):
            raise self._unexpected(f"'[' and an offset after the column {word!r}")
        if kind == "number" and not word.isdigit():
            raise ValueError(f"a column's number is 0 or more, not {word}")
        if kind == "number" and (len(word.lstrip("0")) > 4):
            raise ValueError(f"a column's number is at most {LAST_COLUMN:,}")
        self._next()
        offsets = self._numbers("an offset, such as -1 or -2..2")
        self._expect("]")
        column = str(int(word)) if kind == "number" else word
        return [Part(column, offset) for offset in offsets]

    def _function(self, name: str, depth: int) -> list[Part]:
        self._next()
        if name != "pad" and name not in FUNCTIONS:
            raise ValueError(f"there is no function {name!r}; there are {', '.join(FUNCTIONS)} and pad")
        inner = self._part(depth + 1)
        given: list[list[int | str]] = []
        while self._is(","):
            self._next()
            if self._kind == "quoted":
                given.append([self._value])
                self._next()
            else:
                given.append(list(self._numbers("a number, or a text in quotes")))
        self._expect(")")
        if any(part.padded for part in inner):
            raise ValueError("pad must be the outermost function")
        if name == "pad":
            if given:
                raise ValueError("pad takes only a part")
            return [Part(p.column, p.offset, p.steps, padded=True) for p in inner]
        expected = FUNCTIONS[name][1]
        if len(given) != len(expected):
            raise ValueError(f"{name} takes {len(expected)} argument(s) after the part, not {len(given)}")
        for argument, values in zip(expected, given, strict=True):
            for value in values:
                if self._untrusted is not None and argument.kind == "pattern":
                    self._count(str(value))
                argument.check(name, value, trust_patterns=self._untrusted is None)
        if len(inner) * math.prod(map(len, given)) > MOST_TEMPLATES:
            raise ValueError(_MANY)
        out = []
        for part in inner:
            for arguments in itertools.product(*given):
                out.append(Part(part.column, part.offset, (*part.steps, (name, arguments))))
        return out

    def _count(self, pattern: str) -> None:
        """Limit the number of patterns, because checking them takes time."""
        assert self._untrusted is not None
        self._untrusted.add(pattern)
        if len(self._untrusted) > MOST_PATTERNS:
            raise ValueError(
                f"a file may have at most {MOST_PATTERNS} different patterns; if you trust the file, "
                "pass trust_patterns=True"
            )

    def _numbers(self, what: str) -> list[int]:
        if self._kind == "number":
            out = [int(self._value)]
        elif self._kind == "range":
            first, last = (int(x) for x in self._value.split(".."))
            if last < first or last - first > 1000:
                raise ValueError(f"the range {self._value} is not increasing, or is too long")
            out = list(range(first, last + 1))
        else:
            raise self._unexpected(what)
        if max(map(abs, out)) > FURTHEST:
            raise ValueError(f"{self._value} is more than {FURTHEST}")
        self._next()
        return out

    def _next(self) -> None:
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            raise ValueError(f"cannot read it from {self._text[self._at :].strip()!r} on")
        self._at = found.end()
        self._kind = found.lastgroup or ""
        self._value = found[self._kind]

    def _is(self, mark: str) -> bool:
        return self._kind == "mark" and self._value == mark

    def _expect(self, mark: str) -> None:
        if not self._is(mark):
            raise self._unexpected(repr(mark))
        self._next()

    def _expect_end(self) -> None:
        if self._kind != "end":
            raise self._unexpected("'|' or the end")

    def _unexpected(self, expected: str) -> ValueError:
        found = "the end" if self._kind == "end" else repr(self._value)
        return ValueError(f"expected {expected}, found {found}")
