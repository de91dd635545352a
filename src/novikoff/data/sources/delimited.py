"""CSV and TSV: blocks of lines as Arrow columns, or directly as rows if all cells are numbers.

pyarrow splits and converts the cells. Lines are split into blocks here, so that every row keeps its line
number, several threads read blocks, and a malformed row can be named or skipped without losing the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff import _core
from novikoff.data.rounding import EXACT_UP_TO, INTEGER, nearest_double
from novikoff.data.sources.block import Floats, Labels
from novikoff.data.sources.bytestream import Lines
from novikoff.data.sources.columns import Column, TableFeatures
from novikoff.data.sources.dialect import NULLS, Dialect, in_parts, numbered, read_cells
from novikoff.data.sources.encoding import BlockRounding, LocalRows, MixedLabels, Unsound, dense_rows, encoded

if TYPE_CHECKING:
    import pyarrow as pa

IGNORED, LABEL, WEIGHT = -1, -2, -3  # as in native/text/cells.h

_CELL = re.compile(
    r"In CSV column #(\d+): .*conversion error to ([^:]*): (?:invalid value '(.*)')?", re.DOTALL
)
_RAGGED = re.compile(r"Expected (\d+) columns, got (\d+)")


@dataclass
class ParsedLines:
    """A block of lines after parsing: its rows, or its error."""

    local: LocalRows | None = None
    labels: Labels | None = None
    weights: Floats | None = None
    n_rows: int = 0
    n_lines: int = 0
    before: int = 0  # lines before the first one that was parsed
    size: int = 0  # of the text, in bytes
    lines: Any = None  # of the rows, from 0; None if they are consecutive
    skipped: list[tuple[int, str]] = field(default_factory=list)
    rounded: BlockRounding = field(default_factory=BlockRounding)
    problem: tuple[int | None, str] | None = None  # line from 0, error


class Buffers:
    """Reused memory for dense rows: new pages cost as much as reading the numbers into them."""

    def __init__(self) -> None:
        self._idle: list[Floats] = []

    def take(self, n_rows: int, n_columns: int) -> Floats:
        size = n_rows * n_columns
        try:
            flat = self._idle.pop()
        except IndexError:
            flat = np.empty(0)
        if len(flat) < size:
            flat = np.empty(size + size // 8)  # the next block may have a few more rows
        return flat[:size].reshape(n_rows, n_columns)

    def give_back(self, rows: Floats) -> None:
        """Return the memory from `take` for reuse; it must no longer be read."""
        if rows.base is not None:
            self._idle.append(rows.base)


class LineReader:
    """Reads blocks of lines of one file by a recipe. Any number of threads may call it.

    Parameters
    ----------
    features : TableFeatures
    places : dict
        The position in the file of each column of the recipe (`TableFeatures.match`).
    n_columns : int
        The number of columns of the file.
    buffers : Buffers
        The source of memory for dense rows.
    """

    def __init__(
        self,
        features: TableFeatures,
        places: dict[int, int],
        n_columns: int,
        dialect: Dialect,
        *,
        label_optional: bool,
        skip_bad: bool,
        rounding: str,
        buffers: Buffers,
    ) -> None:
        import pyarrow.csv

        self._features, self._places, self._dialect = features, places, dialect
        self._label_optional, self._skip_bad, self._buffers = label_optional, skip_bad, buffers
        self._rounding = rounding
        self._names = numbered(n_columns)
        self._by_place: dict[int, Column] = {}
        for k, place in places.items():  # an id may be a feature too, which determines its type
            self._by_place.setdefault(place, features.columns[k])
        columns = {str(place): column for place, column in self._by_place.items()}
        self._converts = [
            pyarrow.csv.ConvertOptions(
                column_types={place: _csv_type(columns[place].kind, columns[place].type) for place in some},
                include_columns=some,
                null_values=NULLS,
                strings_can_be_null=False,
            )
            for some in in_parts(list(columns))
        ]

        # the destination of cells if all are plain numbers, which do not need Arrow
        self._targets = None
        types = {column.type for column in columns.values()}
        has_id = any(column.kind == "id" for column in features.columns)
        if features.is_plain and not has_id and "bool" not in types and dialect.delimiter != " ":
            kinds = {"label": LABEL, "weight": WEIGHT}
            targets = [features.numeric.get(k, kinds.get(features.columns[k].kind, IGNORED)) for k in places]
            self._targets = np.full(n_columns, IGNORED, dtype=np.int32)
            self._targets[list(places.values())] = targets

    def __call__(self, text: bytes | memoryview) -> ParsedLines:
        out = ParsedLines()
        raw = np.frombuffer(text, np.uint8)
        out.n_lines = int(np.count_nonzero(raw == ord("\n"))) + (len(raw) > 0 and raw[-1] != ord("\n"))
        if self._targets is not None and self._read_numbers(raw, out):
            return out
        try:
            self._read(text, out)
            if out.n_rows == out.n_lines and not self._has_open_quote(bytes(text[_last_line(raw) :])):
                return out
        except Exception as error:
            if not _is_about_rows(error):
                raise
        del raw
        return self._carefully(bytes(text), out)

    def _read_numbers(self, raw: Any, out: ParsedLines) -> bool:
        """Read a block if all cells in use are plain numbers; otherwise return False."""
        assert self._targets is not None
        if len(raw) < out.n_lines * len(self._targets):  # a line has at least one byte per cell
            return False
        dense = self._buffers.take(out.n_lines, len(self._features.numeric))
        labels = np.empty(out.n_lines if LABEL in self._targets else 0)
        weights = np.empty(out.n_lines if WEIGHT in self._targets else 0)
        cells = _core.NumberCells(self._dialect.delimiter, self._dialect.quote or "", self._targets)
        if not cells.read(raw, dense, labels, weights):
            self._buffers.give_back(dense)
            return False
        out.n_rows, out.local = out.n_lines, dense_rows(dense)
        out.labels = labels if LABEL in self._targets else None
        out.weights = weights if WEIGHT in self._targets else None
        return True

    def _carefully(self, text: bytes, out: ParsedLines) -> ParsedLines:
        """Read a block that has blank lines, quoted line breaks or malformed rows."""
        starts, lines = self._dialect.starts(text)
        bad = self._open_quotes(text, starts)
        if not bad or self._skip_bad:
            sound = np.setdiff1d(np.arange(len(lines)), [row for row, _ in bad])
            bad += self._bad_rows(text, starts, sound)
        if bad and not self._skip_bad:
            row, message = bad[0]
            out.problem = int(lines[row]), message
            return out
        sound = np.setdiff1d(np.arange(len(lines)), [row for row, _ in bad])
        out.skipped = [(int(lines[row]), message) for row, message in sorted(bad)]
        out.lines = lines[sound]
        out.n_rows = 0
        if len(sound):
            try:
                self._read(_joined(text, starts, sound), out)
            except Unsound as error:
                out.problem = None if error.row is None else int(out.lines[error.row]), str(error)
        return out

    def _bad_rows(self, text: bytes, starts: Any, rows: Any) -> list[tuple[int, str]]:
        """Malformed rows, found by bisection: all of them if they are skipped, otherwise the first."""
        if not len(rows):
            return []
        try:
            self._read(_joined(text, starts, rows), ParsedLines())
        except Exception as error:
            if not _is_about_rows(error):
                raise
            if isinstance(error, Unsound) and (error.row is None or isinstance(error, MixedLabels)):
                return []  # no single row is to blame
            if len(rows) == 1:
                return [(int(rows[0]), self._message(error))]
        else:
            return []
        middle = len(rows) // 2
        bad = self._bad_rows(text, starts, rows[:middle])
        if not bad or self._skip_bad:
            bad += self._bad_rows(text, starts, rows[middle:])
        return bad

    def _open_quotes(self, text: bytes, starts: Any) -> list[tuple[int, str]]:
        """Rows with an unclosed quote, which would swallow the rows after it."""
        if self._dialect.quote is None or self._dialect.newlines_in_values:
            return []
        message = "a quote does not end on its line: allow newlines_in_values, or set quote=None"
        out = []
        for row in range(len(starts) - 1):
            if self._has_open_quote(text[starts[row] : starts[row + 1]]):
                out.append((row, message))
                if not self._skip_bad:
                    break
        return out

    def _has_open_quote(self, line: bytes) -> bool:
        return not self._dialect.newlines_in_values and self._dialect.has_open_quote(line)

    def _columns(self, text: bytes | memoryview, converts: list[Any]) -> Iterator[tuple[str, pa.Array]]:
        """The names and values of the columns that are included."""
        options = self._dialect.parse_options()
        for convert in converts:
            table = read_cells(text, self._names, options, convert)
            for name, column in zip(table.column_names, table.columns, strict=True):
                yield name, column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()

    def _read(self, text: bytes | memoryview, out: ParsedLines) -> None:
        columns = dict(self._columns(text, self._converts))
        arrays = [columns[str(place)] for place in self._places.values()]
        out.n_rows, out.rounded = len(arrays[0]) if arrays else 0, BlockRounding(self._rounding)
        self._check_integers(text, columns, out.rounded)
        out.local, out.labels, out.weights = encoded(
            self._features, self._places, arrays, out.n_rows, self._label_optional, out.rounded
        )

    def _check_integers(
        self, text: bytes | memoryview, columns: dict[str, Any], rounding: BlockRounding
    ) -> None:
        """Check the text of large numbers, which are read as doubles: an integer may be another."""
        import pyarrow as pa
        import pyarrow.compute
        import pyarrow.csv

        large = []
        for name, array in columns.items():
            if pa.types.is_float64(array.type):
                ends = pyarrow.compute.min_max(array)
                if any(
                    (end.as_py() or 0) >= EXACT_UP_TO
                    for end in (ends["max"], pyarrow.compute.negate(ends["min"]))
                ):
                    large.append(name)
        if not large:
            return
        converts = [
            pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(some, pa.string()), include_columns=some, null_values=NULLS
            )
            for some in in_parts(large)
        ]
        for name, texts in self._columns(text, converts):
            cells = [(cell or "").strip() for cell in texts.to_pylist()]
            wrong = np.array(
                [len(c) > 15 and bool(INTEGER.fullmatch(c)) and not nearest_double(c)[1] for c in cells]
            )

            def show(row: int, cells: list[str] = cells) -> tuple[str, float]:
                return cells[row], nearest_double(cells[row])[0]

            rounding.refuse(self._by_place[int(name)], wrong, show)

    def _message(self, error: Exception) -> str:
        text = str(error)
        if ragged := _RAGGED.search(text):
            return f"expected {ragged[1]} cells, found {ragged[2]}"
        cell = _CELL.search(text)
        if cell is None:
            return text
        column = self._by_place[int(cell[1])]
        if cell[3] is None:
            return f"the cell of the column {column.name!r} is not UTF-8 text"
        what = (
            "true or false"
            if cell[2] == "bool"
            else "a number"
            if cell[2] == "double"
            else f"a {column.kind}"
        )
        return (
            f"the column {column.name!r} holds {cell[3]!r}, but was read as {what} by its first cells; "
            f"if it holds categories, declare it as categorical"
        )


def _is_about_rows(error: Exception) -> bool:
    import pyarrow as pa

    return isinstance(error, Unsound | pa.ArrowInvalid)


def _last_line(raw: Any) -> int:
    """Where the last line begins."""
    size = 4096
    while True:
        begin = max(len(raw) - size, 0)
        ends = np.flatnonzero(raw[begin : len(raw) - 1] == ord("\n"))
        if len(ends):
            return begin + int(ends[-1]) + 1
        if not begin:
            return 0
        size *= 4


def _joined(text: bytes, starts: Any, rows: Any) -> bytes:
    if len(rows) == len(starts) - 1:
        return text
    return b"".join(text[starts[row] : starts[row + 1]] for row in rows)


def whole_rows(
    blocks: Iterator[Lines], dialect: Dialect, max_line: int
) -> Iterator[tuple[Lines, bytes | memoryview]]:
    """Blocks of lines that end where a row ends, even if a quoted cell has line breaks."""
    if not (dialect.newlines_in_values and dialect.quote):
        for lines in blocks:
            yield lines, lines.text
        return
    rest, last = b"", None
    for lines in blocks:
        if last is not None and last.file != lines.file and rest:
            yield last, rest
            rest = b""
        text, last = rest + bytes(lines.text), lines
        raw = np.frombuffer(text, np.uint8)
        ends = np.flatnonzero(raw == ord("\n"))
        ends = ends[np.searchsorted(dialect.marks(raw), ends) % 2 == 0]
        cut = int(ends[-1]) + 1 if len(ends) else 0
        rest = text[cut:]
        if len(rest) > max_line:
            lines.problem = f"a quote does not end within max_line={max_line} bytes"
            yield lines, text[:cut]
            return
        if cut:
            yield lines, text[:cut]
    if rest and last is not None:
        yield last, rest


def _csv_type(kind: str, type_: str) -> pa.DataType:
    """The Arrow type for a column of the recipe."""
    import pyarrow as pa

    if kind in ("category", "label"):
        return pa.dictionary(pa.int32(), pa.string())
    if kind in ("text", "id"):
        return pa.string()
    if kind == "timestamp":
        return pa.timestamp("ns" if "[ns" in type_ else "us", "UTC" if "tz=" in type_ else None)
    if kind in ("number", "weight") and type_ == "bool":
        return pa.bool_()
    return {"date": pa.date32(), "time": pa.time64("us")}.get(kind, pa.float64())
