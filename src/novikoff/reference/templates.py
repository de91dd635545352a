"""The plain twin of templates: the attributes of a sentence's tokens, and their numbers.

It shares no code with `structured.templates`, `structured.functions` or the native expansion: a template is
parsed by regular expressions for every token, and every name is written out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

Token = Sequence[str | None]

LONGEST = 1000  # most characters in the input or output of a regular expression

_CELL = re.compile(r"(\w+)\[([+-]?\d+)\]")


def _kind(c: str) -> str:
    return "X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c


def _case(text: str) -> str:
    if text.islower() or text.isupper():
        return "lower" if text.islower() else "upper"
    if text[0].isupper() and text[1:].islower():
        return "title"
    return "none" if text.lower() == text.upper() else "mixed"


def _find(text: str, pattern: str) -> str | None:
    found = re.search(pattern, text) if len(text) <= LONGEST else None
    return None if found is None else found.groups()[0] if found.groups() else found.group()


def _sub(text: str, pattern: str, new: str) -> str | None:
    made = re.sub(pattern, lambda _: new, text) if len(text) <= LONGEST else None
    return made if made is not None and len(made) <= LONGEST else None


FUNCTIONS: dict[str, Callable[..., str | None]] = {
    "lower": lambda text: text.lower(),
    "prefix": lambda text, n: text[:n] if len(text[:n]) == n else None,
    "suffix": lambda text, n: text[len(text) - n :] if n <= len(text) else None,
    "length": lambda text: str(len(text)),
    "shape": lambda text: "".join(_kind(c) for c in text),
    "brief": lambda text: re.sub(r"(.)\1+", r"\1", "".join(_kind(c) for c in text), flags=re.DOTALL),
    "case": _case,
    "digits": lambda text: "".join("0" if c.isdigit() else c for c in text),
    "has": lambda text, pattern: "1" if len(text) <= LONGEST and re.search(pattern, text) else None,
    "find": _find,
    "sub": _sub,
}


def value(part: str, sentence: Sequence[Token], t: int, columns: Sequence[str]) -> str | None:
    """The value of a part such as ``suffix(w[-1],3)`` at token t; None if it has none.

    >>> value("suffix(w[-1],3)", [("walking",), ("on",)], 1, ["w"])
    'ing'
    """
    if part.startswith("pad(") and part.endswith(")"):
        inner = part[len("pad(") : -1]
        found = _CELL.search(inner)
        assert found is not None
        at = t + int(found[2])
        if at < 0:
            return f"_B-{-at}"
        return f"_B+{at - len(sentence) + 1}" if at >= len(sentence) else value(inner, sentence, t, columns)
    if found := _CELL.fullmatch(part):
        at = t + int(found[2])
        column = int(found[1]) if found[1].isdigit() else list(columns).index(found[1])
        return sentence[at][column] if 0 <= at < len(sentence) else None
    name, inside = part[:-1].split("(", 1)
    inner, given = _split(inside)
    text = value(inner, sentence, t, columns)
    return None if not text else FUNCTIONS[name](text, *given) or None


def _split(inside: str) -> tuple[str, list[int | str]]:
    """Split ``suffix(w[0],2),"a,b",3`` at the first comma outside the part: the part and its arguments."""
    depth, quoted, cuts = 0, False, []
    for i, c in enumerate(inside):
        if c == '"' and not (quoted and _escaped(inside, i)):
            quoted = not quoted
        if quoted:
            continue
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            cuts.append(i)
    pieces = [inside[a:b] for a, b in zip([0, *(c + 1 for c in cuts)], [*cuts, len(inside)], strict=True)]
    return pieces[0], [p[1:-1] if p.startswith('"') else int(p) for p in pieces[1:]]


def _escaped(text: str, i: int) -> bool:
    """Whether an odd number of backslashes precedes position i."""
    return (i - len(text[:i].rstrip("\\"))) % 2 == 1


def attributes(
    templates: Sequence[Sequence[str]], sentence: Sequence[Token], columns: Sequence[str]
) -> list[list[str]]:
    """The attributes of every token, by name.

    A template is a list of parts. A single part without a cell is a fixed attribute: ``__BOS__`` of the first
    token, ``__EOS__`` of the last.

    >>> attributes([["w[-1]", "w[0]"], ["__BOS__"]], [("to",), ("be",)], ["w"])
    [['__BOS__'], ['w[-1]|w[0]=to|be']]
    """
    out: list[list[str]] = []
    for t in range(len(sentence)):
        out.append([])
        for parts in templates:
            if len(parts) == 1 and not _CELL.search(parts[0]):
                place = {"__BOS__": 0, "__EOS__": len(sentence) - 1}.get(parts[0], t)
                if t == place:
                    out[t].append(parts[0])
                continue
            found = [value(part, sentence, t, columns) for part in parts]
            values = [v for v in found if v is not None]
            if len(values) == len(parts):
                out[t].append(f"{'|'.join(parts)}={'|'.join(values)}")
    return out


def numbered(sentences: Sequence[Sequence[Sequence[str]]]) -> tuple[list[list[list[int]]], list[str]]:
    """Attributes as numbers in order of first appearance, and their names."""
    index: dict[str, int] = {}
    numbers = [[[index.setdefault(a, len(index)) for a in token] for token in s] for s in sentences]
    return numbers, list(index)
