"""CSV and TSV: what a file's first lines tell, and blocks of its lines as Arrow columns.

pyarrow splits and converts the cells; lines are cut into blocks here, so that every row keeps its line,
blocks are read on several threads, and one row that is wrong can be named or passed over without losing
the rest.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.block import Floats, Labels
from novikoff.bytestream import Lines
from novikoff.columns import USUAL_LABELS, TableFeatures
from novikoff.encoding import NUMBER, LocalRows, MixedLabels, Unsound, encoded, kind_of

if TYPE_CHECKING:
    import pyarrow as pa

BOM = b"\xef\xbb\xbf"
HEAD = 1 << 20  # bytes that tell the columns' types
NULLS = ["", "NA", "N/A", "NULL", "null", "?"]  # in columns that are no strings
NULLS += [" " + null for null in NULLS]

_CELL = re.compile(
    r"In CSV column #(\d+): .*conversion error to ([^:]*): (?:invalid value '(.*)')?", re.DOTALL
)
_RAGGED = re.compile(r"Expected (\d+) columns, got (\d+)")


@dataclass(frozen=True)
class Dialect:
    """How cells are separated."""

    delimiter: str
    quote: str | None
    newlines_in_values: bool

    def cells(self, line: str) -> list[str]:
        """The cells of one line, without blanks around them."""
        quoting: dict[str, Any] = (
            {"quoting": csv.QUOTE_NONE} if self.quote is None else {"quotechar": self.quote}
        )
        rows = csv.reader([line], delimiter=self.delimiter, strict=False, **quoting)
        return [cell.strip() for cell in next(rows, [])]

    def parse_options(self) -> Any:
        import pyarrow.csv

        quote: Any = self.quote or False
        return pyarrow.csv.ParseOptions(
            delimiter=self.delimiter,
            quote_char=quote,
            double_quote=bool(quote),
            newlines_in_values=self.newlines_in_values,
        )

    def starts(self, text: bytes | memoryview) -> tuple[Any, Any]:
        """Where each row that is not blank begins, the text's end after them; and their lines, from 0."""
        raw = np.frombuffer(text, np.uint8)
        ends = np.flatnonzero(raw == ord("\n"))
        if not len(ends) or ends[-1] != len(raw) - 1:
            ends = np.append(ends, len(raw))
        begins = np.concatenate(([0], ends[:-1] + 1))
        lengths = ends - begins
        blank = (lengths == 0) | ((lengths == 1) & (raw[np.minimum(begins, len(raw) - 1)] == ord("\r")))
        inside = np.zeros(len(begins), dtype=bool)
        if self.newlines_in_values and self.quote:
            quotes = np.concatenate(([0], np.cumsum(raw == ord(self.quote))))
            inside = quotes[begins] % 2 == 1
        rows = np.flatnonzero(~blank & ~inside)
        return np.append(begins[rows], len(raw)), rows


def sniff_delimiter(line: str, quote: str | None) -> str:
    """The one of comma, semicolon and tab that gives the most cells."""
    return max(",;\t", key=lambda mark: len(Dialect(mark, quote, False).cells(line)))


def is_header(first: list[str], second: list[str] | None, otherwise: bool) -> bool:
    """Whether the first line names the columns.

    It does when it has a usual name of labels, and otherwise it has no number, while the second line has one.
    """
    if not {cell.lower() for cell in first}.isdisjoint(USUAL_LABELS):
        return True
    if any(NUMBER.fullmatch(cell) for cell in first):
        return False
    return otherwise or (second is not None and any(NUMBER.fullmatch(cell) for cell in second))


def header_names(cells: list[str]) -> list[str]:
    """Names of columns; one that is empty goes by its number."""
    return [cell or str(k + 1) for k, cell in enumerate(cells)]


def line_after(text: bytes | memoryview, at: int) -> int:
    """Where the next line begins."""
    end = bytes(text[at:]).find(b"\n")
    return len(text) if end < 0 else at + end + 1


@dataclass
class Look:
    """What the first lines of a file tell."""

    dialect: Dialect
    has_header: bool
    names: list[str]
    kinds: list[tuple[str, str]]  # what each column holds, and its type


def look(
    head: bytes,
    *,
    whole: bool,
    tsv: bool,
    skip_lines: int,
    header: bool | None,
    delimiter: str | None,
    quote: str | None,
    newlines_in_values: bool,
    known: TableFeatures | None,
) -> Look:
    """Find out how a file is written from its first bytes; `whole` says that there are no more.

    Raises
    ------
    ValueError
        Without the name of the file.
    """
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError("the text is UTF-16; expected UTF-8")
    at = len(BOM) if head.startswith(BOM) else 0
    if not head[at:].strip():
        raise ValueError(
            "the file is empty; expected a table" if whole else "the file begins with blanks only"
        )
    for _ in range(skip_lines):
        at = line_after(head, at)
    lines: list[str] = []
    ends = []
    while len(lines) < 2 and at < len(head):
        end = line_after(head, at)
        raw = head[at:end].rstrip(b"\r\n")
        if raw:
            try:
                lines.append(raw.decode())
            except UnicodeDecodeError as error:
                if whole or end < len(head) or error.start < len(raw) - 4:
                    raise ValueError(f"line {1 + head.count(10, 0, at)} is not UTF-8 text") from None
                lines.append(raw[: error.start].decode())
            ends.append(end)
        at = end
    if not lines:
        raise ValueError(f"there is no line after skip_lines={skip_lines}")
    mark = delimiter or ("\t" if tsv else sniff_delimiter(lines[0], quote))
    dialect = Dialect(mark, quote, newlines_in_values)
    first, *more = [dialect.cells(line) for line in lines]
    if header is None and known is not None and known.has_names:
        header = not {column.name for column in known.columns}.isdisjoint(header_names(first))
    elif header is None:
        header = is_header(first, more[0] if more else None, not tsv and known is None)
    if header and not more:
        raise ValueError("there is a header, but no row after it")
    names = header_names(first) if header else [str(k + 1) for k in range(len(first))]
    if known is not None:
        return Look(dialect, header, names, [])
    body = head[ends[0] if header else ends[0] - len(_line(head, ends[0])) :]
    if not whole:
        body = body[: body.rfind(b"\n") + 1] or body
    return Look(dialect, header, names, _kinds(body, dialect, len(names)))


def _line(head: bytes, end: int) -> bytes:
    return head[head.rfind(b"\n", 0, end - 1) + 1 : end]


def _kinds(body: bytes, dialect: Dialect, n: int) -> list[tuple[str, str]]:
    """What pyarrow takes the columns for."""
    import pyarrow as pa
    import pyarrow.csv

    options = dialect.parse_options()
    options.invalid_row_handler = lambda row: "skip"  # found again, with its line, when it is read
    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(body),
            pyarrow.csv.ReadOptions(use_threads=False, block_size=len(body) + 1, column_names=_numbered(n)),
            options,
            pyarrow.csv.ConvertOptions(null_values=NULLS, strings_can_be_null=True),
        )
    except pa.ArrowInvalid as error:
        raise ValueError(str(error)) from None
    return [(kind_of(type_) or "category", csv_type_name(type_)) for type_ in table.schema.types]


def _numbered(n: int) -> list[str]:
    return [str(k) for k in range(n)]


def csv_type_name(type_: pa.DataType) -> str:
    """The type that a column is read as when its first cells look like `type_`."""
    kind = kind_of(type_)
    if kind == "number":
        return "bool" if str(type_) == "bool" else "double"
    if kind == "timestamp":  # finer than the first cells may need, but with room for the year 9999
        unit = "ns" if type_.unit == "ns" else "us"
        return f"timestamp[{unit}, tz=UTC]" if type_.tz else f"timestamp[{unit}]"
    return {"date": "date32[day]", "time": "time64[us]"}.get(kind, "string")


def _csv_type(kind: str, type_: str) -> pa.DataType:
    """What to read a column of the recipe as."""
    import pyarrow as pa

    if kind in ("category", "label"):
        return pa.dictionary(pa.int32(), pa.string())
    if kind == "text":
        return pa.string()
    if kind == "timestamp":
        return pa.timestamp("ns" if "[ns" in type_ else "us", "UTC" if "tz=" in type_ else None)
    if kind in ("number", "weight") and type_ == "bool":
        return pa.bool_()
    return {"date": pa.date32(), "time": pa.time64("us")}.get(kind, pa.float64())


@dataclass
class ParsedLines:
    """A block of lines, read: its rows, or what is wrong."""

    local: LocalRows | None = None
    labels: Labels | None = None
    weights: Floats | None = None
    n_rows: int = 0
    n_lines: int = 0
    before: int = 0  # lines before the first that was read here
    lines: Any = None  # of the rows, from 0; None when they are simply consecutive
    skipped: list[tuple[int, str]] = field(default_factory=list)
    problem: tuple[int | None, str] | None = None  # line from 0, what is wrong


class LineReader:
    """Reads blocks of lines of one file by a recipe. Any number of threads may call it.

    Parameters
    ----------
    features : TableFeatures
    places : dict
        Where the columns of the recipe are in the file (`TableFeatures.match`).
    n_columns : int
        Columns of the file.
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
    ) -> None:
        import pyarrow.csv

        self._features, self._places, self._dialect = features, places, dialect
        self._label_optional, self._skip_bad = label_optional, skip_bad
        self._names = _numbered(n_columns)
        self._by_place = {place: features.columns[k] for k, place in places.items()}
        columns = {str(place): column for place, column in self._by_place.items()}
        self._convert = pyarrow.csv.ConvertOptions(
            column_types={place: _csv_type(c.kind, c.type) for place, c in columns.items()},
            include_columns=list(columns),
            null_values=NULLS,
            strings_can_be_null=False,
        )

    def __call__(self, text: bytes | memoryview) -> ParsedLines:
        out = ParsedLines()
        raw = np.frombuffer(text, np.uint8)
        out.n_lines = int(np.count_nonzero(raw == ord("\n"))) + (len(raw) > 0 and raw[-1] != ord("\n"))
        try:
            self._read(text, out)
            if out.n_rows == out.n_lines and not self._open_quote(bytes(text[_last_line(raw) :])):
                return out
        except Exception as error:
            if not _is_about_rows(error):
                raise
        del raw
        return self._carefully(bytes(text), out)

    def _carefully(self, text: bytes, out: ParsedLines) -> ParsedLines:
        """Read a block that has blank lines, quoted line breaks, or rows that are wrong."""
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
        """Rows that cannot be read, found by halving: all of them when they are skipped, else the first."""
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
        """Rows with a quote that does not end: the rows behind would disappear in it."""
        if self._dialect.quote is None or self._dialect.newlines_in_values:
            return []
        message = "a quote does not end on its line: allow newlines_in_values, or set quote=None"
        out = []
        for row in range(len(starts) - 1):
            if self._open_quote(text[starts[row] : starts[row + 1]]):
                out.append((row, message))
                if not self._skip_bad:
                    break
        return out

    def _open_quote(self, line: bytes) -> bool:
        quote = self._dialect.quote
        if quote is None or self._dialect.newlines_in_values or line.count(quote.encode()) % 2 == 0:
            return False
        is_open, may_open = False, True
        for mark in line.decode(errors="replace"):
            if mark == quote and (is_open or may_open):
                is_open, may_open = not is_open, True  # two in a row close and open again
            else:
                may_open = mark == self._dialect.delimiter
        return is_open

    def _table(self, text: bytes | memoryview) -> Any:
        import pyarrow as pa
        import pyarrow.csv

        return pyarrow.csv.read_csv(
            pa.BufferReader(pa.py_buffer(text)),
            pyarrow.csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=self._names),
            self._dialect.parse_options(),
            self._convert,
        )

    def _read(self, text: bytes | memoryview, out: ParsedLines) -> None:
        table = self._table(text)
        arrays = [c.chunk(0) if c.num_chunks == 1 else c.combine_chunks() for c in table.columns]
        out.n_rows = table.num_rows
        out.local, out.labels, out.weights = encoded(
            self._features, self._places, arrays, out.n_rows, self._label_optional
        )

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
            f"the column {column.name!r} holds {cell[3]!r}, but was taken for {what} by its first cells; "
            f"if it holds categories, name it as categorical"
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


def whole_rows(blocks: Iterator[Lines], dialect: Dialect) -> Iterator[tuple[Lines, bytes | memoryview]]:
    """Blocks of lines that end where a row ends, also when a quoted cell has line breaks."""
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
        quotes = np.cumsum(raw == ord(dialect.quote))
        ends = ends[quotes[ends] % 2 == 0]
        cut = int(ends[-1]) + 1 if len(ends) else 0
        rest = text[cut:]
        if cut:
            yield lines, text[:cut]
    if rest and last is not None:
        yield last, rest
