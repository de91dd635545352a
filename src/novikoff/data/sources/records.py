"""Dicts, and JSON lines, as rows of a table whose columns a model knows.

A value is what the cell of a table would be: a number (true is 1, false is 0) in a column of numbers; text,
or a number, in one of categories or words; a date or time, or its text in ISO 8601, in one of dates or times;
None is a missing value. A row must have every column that makes features; further ones are ignored.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.data.sources.block import Floats, Labels, Matrix
from novikoff.data.sources.bytestream import MAX_COLUMNS, ByteStream
from novikoff.data.sources.columns import FEATURES, Column, TableFeatures, listed
from novikoff.data.sources.encoding import BlockRounding, LocalRows, Unsound, encoded, placed
from novikoff.data.sources.text import TextSource
from novikoff.data.text_labels import TextLabels
from novikoff.parameters.common import PARAMETERS

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_SIZE = 1 << 20
MISSING: Any = object()
Records = Sequence[Mapping[str, Any]]


def record_columns(
    records: Records, features: TableFeatures, rounding: BlockRounding, also: Iterable[str] = ()
) -> tuple[dict[int, int], list[pa.Array]]:
    """The columns that make features, and those of the kinds `also`, as `encoded` takes them.

    Raises
    ------
    Unsound
        For a row without such a column, and for a value that it cannot have.
    """
    places: dict[int, int] = {}
    arrays: list[pa.Array] = []
    for k, column in enumerate(features.columns):
        if column.kind not in FEATURES and column.kind not in also:
            continue
        values = [record.get(column.name, MISSING) for record in records]
        for row, value in enumerate(values):
            if value is MISSING:
                if column.kind != "label":
                    there = listed([str(name) for name in records[row]])
                    raise Unsound(row, f"the column {column.name!r} is missing; there are {there}")
                values[row] = None
        places[k] = len(arrays)
        arrays.append(_array(column, values, rounding))
    return places, arrays


def _array(column: Column, values: list[Any], rounding: BlockRounding) -> pa.Array:
    """Values of a column in a type that its kind can have."""
    import pyarrow as pa

    if column.kind in ("number", "weight"):
        nulls = np.array([value is None for value in values], dtype=bool)
        numbers = np.array([_number(column, row, value) for row, value in enumerate(values)], dtype=object)
        return pa.array(rounding.doubles(column, numbers), mask=nulls)
    if column.kind in ("category", "text", "label"):
        return pa.array([_text(column, row, value) for row, value in enumerate(values)], pa.string())
    type_ = _type_of(column)
    try:
        return pa.array([_time(value, type_) for value in values], type_)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        for row, value in enumerate(values):
            try:
                pa.array([_time(value, type_)], type_)
            except (pa.ArrowException, TypeError, ValueError, OverflowError):
                raise Unsound(
                    row, f"the column {column.name!r} is {value!r}: expected a {column.kind} in ISO 8601"
                ) from None
        raise


def _number(column: Column, row: int, value: Any) -> Any:
    if value is None:
        return 0
    if not isinstance(value, Real | Decimal | np.bool_):
        raise Unsound(row, f"the column {column.name!r} is {value!r}: expected a number")
    return value


def _text(column: Column, row: int, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real) and math.isfinite(value):
        import pyarrow as pa

        return str(pa.scalar(float(value)).cast(pa.string()).as_py())
    if isinstance(value, date | time):
        return str(value)
    raise Unsound(row, f"the column {column.name!r} is {value!r}: expected text or a number")


def _type_of(column: Column) -> pa.DataType:
    """The Arrow type of times of this kind."""
    import pyarrow as pa

    unit = "ns" if "[ns" in column.type else "us"
    if column.kind == "timestamp":
        return pa.timestamp(unit, tz="UTC" if "tz=" in column.type else None)
    return {"date": pa.date32(), "time": pa.time64("us"), "duration": pa.duration(unit)}[column.kind]


def _time(value: Any, type_: pa.DataType) -> Any:
    """A time as Arrow takes it; text is read."""
    import pyarrow as pa

    if isinstance(value, str):
        return pa.scalar(value.strip()).cast(type_).as_py()
    if isinstance(value, Real):
        raise TypeError("a number is no time")
    return value


def check_has_names(what: str, features: TableFeatures) -> None:
    """Refuse dicts for a table whose columns have no names."""
    if not features.has_names:
        raise ValueError(
            f"{what}: the model was learned from a table whose columns have no names, with which the keys of "
            "dicts and JSON lines could be matched."
        )


# ---- JSON lines ----------------------------------------------------------------------------------------
class RecordRows:
    """A parser of JSON lines over the columns of a table; see `novikoff.data.sources.text.Parser`."""

    def __init__(self, features: TableFeatures, rounding: str, labelled: bool, skip_bad_lines: bool) -> None:
        self._features, self._rounding = features, rounding
        self._labelled, self._skip_bad = labelled, skip_bad_lines
        self.clear()

    def clear(self) -> None:
        """Reset to the initial state."""
        self.lines, self.problem, self.kind = 0, "", ""
        self.skipped: list[tuple[int, str]] = []
        self.n_skipped = self.n_rounded = 0
        self.rounded = 0, ""
        self._rows: list[int] = []
        self.local: LocalRows | None = None
        self.labels: Labels | None = None
        self.weights: Floats | None = None

    @property
    def n(self) -> int:
        return len(self._rows)

    def row_line(self, row: int) -> int:
        return self._rows[row]

    def parse(self, text: Any) -> bool:
        """Read whole lines; False leaves the reason in `problem`."""
        records: list[Any] = []
        for number, line in enumerate(bytes(text).decode(errors="surrogateescape").split("\n")):
            if line.strip():
                try:
                    record = _object(line)
                    if self._skip_bad:  # each row alone, to find the bad ones
                        self._encode([record])
                except ValueError as error:
                    if not self._skip_bad:
                        self.lines, self.problem = number, str(error)
                        return False
                    self.n_skipped += 1
                    self.skipped += [(number, str(error))] if len(self.skipped) < 10 else []
                    continue
                records.append(record)
                self._rows.append(number)
        self.lines = bytes(text).count(b"\n") + (not bytes(text).endswith(b"\n"))
        if not records:
            return True
        try:
            rounding, (self.local, self.labels, self.weights) = self._encode(records)
        except Unsound as error:
            self.lines, self.problem = self._rows[error.row or 0], str(error)
            self._rows = []
            return False
        self.kind = (
            "none" if self.labels is None else "text" if isinstance(self.labels, TextLabels) else "number"
        )
        if rounding.count:
            self.n_rounded, self.rounded = rounding.count, (self._rows[rounding.row], rounding.first)
        return True

    def _encode(
        self, records: Records
    ) -> tuple[BlockRounding, tuple[LocalRows, Labels | None, Floats | None]]:
        rounding = BlockRounding(self._rounding)
        also = ("label", "weight") if self._labelled else ()
        places, arrays = record_columns(records, self._features, rounding, also)
        return rounding, encoded(self._features, places, arrays, len(records), not self._labelled, rounding)


def _object(line: str) -> dict[str, Any]:
    """The object of a line; with a member "features" that is an object, its members instead of the others."""
    try:
        found = json.loads(line, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"column {error.pos + 1}: {error.msg[:1].lower()}{error.msg[1:]}") from None
    except RecursionError:
        raise ValueError("objects and arrays are too deep in one another") from None
    if not isinstance(found, dict):
        raise ValueError("expected an object")
    inner = found.get("features")
    return found | inner if isinstance(inner, dict) else found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} is there twice")
    return made


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number that JSON has")


class IdRows:
    """A parser of JSON lines that keeps the values of one key as well, read by Python's parser."""

    def __init__(self, parser: Any, key: str) -> None:
        self._parser, self._key = parser, key
        self.ids: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parser, name)

    def clear(self) -> None:
        """Reset to the initial state."""
        self._parser.clear()
        self.ids = []

    def parse(self, text: Any) -> bool:
        """Read whole lines; False leaves the reason in `problem`."""
        self.problem, self.lines = "", 0
        if not self._parser.parse(text):
            self.problem, self.lines = self._parser.problem, self._parser.lines
            return False
        self.lines = self._parser.lines
        lines = bytes(text).split(b"\n")
        for row in range(self._parser.n):
            at = self._parser.row_line(row)
            record = json.loads(lines[at])
            if self._key not in record or isinstance(record[self._key], dict | list):
                self.lines = at
                self.problem = f"there is no id under the key {self._key!r}; there are {listed(list(record))}"
                return False
            self.ids.append(record[self._key])
        return True


def open_records(
    stream: ByteStream,
    *,
    features: TableFeatures,
    label: str | None = None,
    labelled: bool = True,
    skip_bad_lines: bool = False,
    rounding: str = "never",
    n_jobs: int | None = -1,
    block_size: int = BLOCK_SIZE,
    max_columns: int = MAX_COLUMNS,
    id: str | None = None,
) -> TextSource[Any]:
    """JSON lines as a source of rows for a model that was learned from a table.

    `label` is the key of the label; by default the name of the table's label column. The values of the key
    `id` are the ids of blocks.
    """
    PARAMETERS["rounding"].check(rounding)
    if label is not None:
        columns = [c._replace(name=label) if c.kind == "label" else c for c in features.columns]
        features = TableFeatures(
            columns, has_names=features.has_names, ngrams=features.ngrams, vocabulary=features.vocabulary
        )

    def make_parser(kind: str) -> Any:
        parser = RecordRows(features, rounding, labelled, skip_bad_lines)
        return parser if id is None else IdRows(parser, id)

    def rows(parser: Any, known: Any, reuse: bool) -> tuple[Matrix, Labels | None, Floats | None]:
        assert parser.local is not None
        return placed(parser.local, known), parser.labels, parser.weights

    return TextSource(
        stream,
        format="jsonl",
        features=features,
        make_parser=make_parser,
        rows=rows,
        n_jobs=n_jobs,
        block_size=block_size,
        max_columns=max_columns,
    )
