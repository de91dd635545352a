"""How results show themselves: in a line as `repr`, in full as `str`, and as HTML in notebooks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from itertools import groupby

LEFT = "style='text-align:left;vertical-align:top'"
ROW = re.compile(r" {2}(\S+(?: \S+)*) {2,}(\S.*)")  # a name and, in a second column, what is said of it
LONGEST = 110  # characters of a repr
NAMES = 10  # the width of the first column


class Shown:
    """A result whose text is a title and lines; `repr` is its class with the first line, cut if it is long.

    >>> class Verdict(Shown):
    ...     def __str__(self) -> str:
    ...         return table_text("separable", [("margin", "0.5 ≤ γ")])
    >>> Verdict()
    <Verdict: separable>
    >>> print(Verdict())
    separable
      margin     0.5 ≤ γ
    """

    def __repr__(self) -> str:
        first = str(self).partition("\n")[0].strip().rstrip(":")
        name = type(self).__name__
        says_it = first.lower().startswith(name.lower())
        return in_short(name + first[len(name) :] if says_it else f"{name}: {first}")

    def _repr_html_(self) -> str:
        return as_html(str(self))


def in_short(text: str) -> str:
    """Text as a repr of moderate length.

    >>> in_short("Bounds: novikoff")
    '<Bounds: novikoff>'
    """
    return f"<{text if len(text) <= LONGEST else text[: LONGEST - 1] + '…'}>"


def table_text(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A title with two columns below it."""
    return "\n".join([title, *table_lines(rows)])


def table_lines(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Two columns, the first of names."""
    return [f"  {name:<{NAMES}} {text}" for name, text in rows]


def table_html(rows: Iterable[tuple[str, str]]) -> str:
    """Two columns as an HTML table, in the style of the notebook."""
    cells = ((escape(name), escape(text)) for name, text in rows)
    body = "".join(f"<tr><th {LEFT}>{name}</th><td {LEFT}>{text}</td></tr>" for name, text in cells)
    return f"<table><tbody>{body}</tbody></table>"


def as_html(text: str) -> str:
    """Text as HTML: lines with a name and a second column become tables, all others keep their columns.

    >>> as_html("bounds\\nhere")
    '<div><b>bounds</b><pre>here</pre></div>'
    """
    title, *lines = text.split("\n")
    parts = [f"<b>{escape(title)}</b>"]
    for is_row, group in groupby(lines, lambda line: ROW.fullmatch(line) is not None):
        if is_row:
            found = [ROW.fullmatch(line) for line in group]
            parts.append(table_html((match[1], match[2]) for match in found if match))
        elif any(kept := list(group)):
            shown = "\n".join(kept).strip("\n")
            parts.append(f"<pre>{escape(shown)}</pre>")
    return f"<div>{''.join(parts)}</div>"
