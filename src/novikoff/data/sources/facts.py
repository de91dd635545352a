"""What the columns of a table became, and which of them may be read other than their author meant.

Doubts are raised by the first rows only: free text or identifiers read as categories, a column of numbers
that one cell made a column of categories, and labels that look like measurements.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from novikoff.data.sources.columns import Column, TableFeatures
from novikoff.data.sources.encoding import NUMBER

if TYPE_CHECKING:
    import pyarrow as pa

FEW = 10  # rows from which a column can raise a doubt
MOST = 200  # columns that are examined
_COMMA = re.compile(r"[-+]?\d+(\.\d{3})*,\d+")
SHOWN = 12  # columns of a kind whose names are shown
PLURALS = {
    "number": "numbers",
    "category": "categories",
    "text": "texts",
    "date": "dates",
    "timestamp": "times",
    "time": "times of day",
    "duration": "durations",
    "ignored": "ignored",
}


@dataclass(frozen=True)
class ColumnFacts:
    """A column: its kind, and the number of its values or words that became features, if that is known."""

    name: str
    kind: str
    n_values: int | None = None


def facts_of(features: TableFeatures) -> list[ColumnFacts]:
    """All columns; values are counted by the names of features, which hashing does not keep."""
    counts = None if features.hashed else _values(features)
    return [
        ColumnFacts(
            column.name,
            column.kind,
            counts.get(column.name, 0)
            if counts is not None and column.kind in ("category", "text")
            else None,
        )
        for column in features.columns
    ]


def _values(features: TableFeatures) -> Counter[str]:
    """The number of features "column=value" by column."""
    names = features.names(range(features.n_columns))
    if not any("=" in column.name for column in features.columns):
        return Counter(name.partition("=")[0] for name in names if "=" in name)
    known = sorted((column.name for column in features.columns), key=len, reverse=True)
    firsts = (next((one for one in known if name.startswith(f"{one}=")), "") for name in names)
    return Counter(firsts)


def lines_of(facts: Sequence[ColumnFacts]) -> list[str]:
    """One line per kind of column, with the columns' names and numbers of values.

    >>> lines_of([ColumnFacts("age", "number"), ColumnFacts("job", "category", 3), ColumnFacts("y", "label")])
    ['1 number: age', '1 category: job (3 values)', 'label: y']
    """
    lines = []
    for kind, plural in PLURALS.items():
        own = [fact for fact in facts if fact.kind == kind]
        if own:
            word = kind if len(own) == 1 else plural
            lines.append(f"{len(own):,} {word}: {_names(own)}")
    for kind in ("label", "weight"):
        lines += [f"{kind}: {fact.name}" for fact in facts if fact.kind == kind]
    return lines


def _names(facts: Sequence[ColumnFacts]) -> str:
    unit = {"category": "value", "text": "word"}
    shown = []
    for fact in facts[:SHOWN]:
        of = "" if fact.n_values is None else f" ({fact.n_values:,} {unit[fact.kind]}"
        shown.append(fact.name + of + ("" if not of else ")" if fact.n_values == 1 else "s)"))
    more = f" and {len(facts) - SHOWN:,} more" if len(facts) > SHOWN else ""
    return ", ".join(shown) + more


def doubts_of(
    columns: Sequence[Column], cells: Sequence[pa.ChunkedArray], where: Callable[[int, str], str]
) -> list[str]:
    """What may be wrong with columns, in sentences, by their first cells; `where` is the place of a cell."""
    found = []
    for k, (column, array) in enumerate(zip(columns, cells, strict=True)):
        counts = _counts(array)
        if column.kind == "category":
            found.append(_category(column, counts, partial(where, k)))
        elif column.kind == "label":
            found.append(_label(column, counts))
    return [doubt for doubt in found if doubt]


def check_points(
    columns: Sequence[Column], cells: Sequence[pa.ChunkedArray], line: Callable[[int, str], int]
) -> None:
    """Refuse a column of categories all of whose first cells are numbers, some with a decimal comma.

    They would become categories without a word. `line` is that of a cell of a column.
    """
    for k, (column, array) in enumerate(zip(columns, cells, strict=True)):
        some = [str(cell).strip() for cell in array.slice(0, 1000).drop_null().to_pylist()]
        with_comma = [cell for cell in some if _COMMA.fullmatch(cell)]
        if with_comma and all(_COMMA.fullmatch(cell) or NUMBER.fullmatch(cell) for cell in some):
            raise ValueError(
                f"the column {column.name!r} has numbers with a decimal comma, such as {with_comma[0]!r} in "
                f"line {line(k, with_comma[0]):,}: write them with a point, or name it in `categorical`"
            )


def _counts(array: pa.ChunkedArray) -> dict[str, int]:
    """The number of rows of each distinct text, without blanks around it, in the order of appearance."""
    counts: dict[str, int] = {}
    for each in array.drop_null().value_counts().to_pylist():
        text = str(each["values"]).strip()
        counts[text] = counts.get(text, 0) + each["counts"]
    return counts


def _category(column: Column, counts: dict[str, int], where: Callable[[str], str]) -> str:
    n, distinct, name = sum(counts.values()), len(counts), repr(column.name)
    if n < FEW:
        return ""
    wrong = [text for text in counts if not NUMBER.fullmatch(text)]
    spoilt = sum(counts[text] for text in wrong)
    if column.type == "string" and wrong and distinct - len(wrong) >= 5 and spoilt <= n // 10:
        return (
            f"the column {name} holds numbers, but is read as categories because of {wrong[0]!r} in "
            f"{where(wrong[0])}: correct or empty such cells"
        )
    words = sum(len(text.split()) for text in counts) / distinct
    if words >= 4 and distinct > n // 2:
        return f"the column {name} looks like free text, but each cell is a category: name it in `text`"
    if distinct == n >= 2 * FEW:
        return (
            f"the column {name} has a different value in each of the first {n:,} rows, as identifiers have: "
            "name it in `ignore`, or in `text` if it is text"
        )
    return ""


def _label(column: Column, counts: dict[str, int]) -> str:
    n, distinct = sum(counts.values()), len(counts)
    if n >= FEW and distinct > n // 2 and sum(len(text.split()) for text in counts) >= 4 * distinct:
        return (
            f"the labels in {column.name!r} look like free text ({distinct:,} different ones in the first "
            f"{n:,} rows), and each becomes a class: name the column of the labels with `label`"
        )
    if n < 2 * FEW or not all(map(NUMBER.fullmatch, counts)):
        return ""
    fractions = any(not float(text).is_integer() for text in counts)
    if distinct > max(FEW, n // 5) or (fractions and distinct > FEW):
        return (
            f"the labels in {column.name!r} look like measurements ({distinct:,} different numbers in the "
            f"first {n:,} rows), but every number becomes a class: novikoff learns classes, not numbers"
        )
    return ""
