"""The layout of a CSV or TSV file from its first lines: separators, names and types of the columns."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.data.sources.columns import USUAL_LABELS, TableFeatures
from novikoff.data.sources.encoding import NUMBER, kind_of
from novikoff.data.sources.text import NoRows

if TYPE_CHECKING:
    import pyarrow as pa

BOM = b"\xef\xbb\xbf"
HEAD = 1 << 20  # bytes from which the columns' types are inferred
MOST_LINES = 1000  # that a cell may have, to be recognized
AT_ONCE = 1 << 14  # columns that are read together
NULLS = ["", "NA", "N/A", "NULL", "null", "?"]  # in columns other than strings
NULLS += [" " + null for null in NULLS]
NO_NAMES = {"nan", "inf", "-inf", "+inf", "infinity", *(null.lower() for null in NULLS)}  # nor numbers


@dataclass(frozen=True)
class Dialect:
    """The delimiter and quote of a file."""

    delimiter: str
    quote: str | None
    newlines_in_values: bool

    def cells(self, line: str) -> list[str]:
        """The cells of one line, without blanks around them."""
        quoting: dict[str, Any] = (
            {"quoting": csv.QUOTE_NONE} if self.quote is None else {"quotechar": self.quote}
        )
        rows = csv.reader([line], delimiter=self.delimiter, strict=False, **quoting)
        try:
            cells = next(rows, [])
        except csv.Error:  # a cell too long for this module is text, probably without delimiters
            cells = line.split(self.delimiter)
        return [cell.strip() for cell in cells]

    def marks(self, raw: Any) -> Any:
        """Where quoted cells open and close in text that begins with a row; other quotes are text."""
        assert self.quote is not None
        at = np.flatnonzero(raw == ord(self.quote))
        before = np.where(at > 0, raw[np.maximum(at, 1) - 1], ord("\n"))
        begins = (before == ord("\n")) | (before == ord(self.delimiter))
        if begins[::2].all():
            return at
        found: list[int] = []
        for place, begins_cell in zip(at.tolist(), begins.tolist(), strict=True):
            is_open = len(found) % 2 == 1
            if (
                is_open or begins_cell or (found and found[-1] == place - 1)
            ):  # two in a row are one in the cell
                found.append(place)
        return np.array(found, dtype=np.int64)

    def has_open_quote(self, line: bytes) -> bool:
        """Whether a quoted cell does not end on its line; a quote within an unquoted cell is text."""
        if self.quote is None or line.count(self.quote.encode()) % 2 == 0:
            return False
        is_open, may_open = False, True
        for mark in line.decode(errors="replace"):
            if mark == self.quote and (is_open or may_open):
                is_open, may_open = not is_open, True  # two in a row close and open again
            else:
                may_open = mark == self.delimiter
        return is_open

    def shows_line_breaks(self, text: bytes, n_cells: int) -> bool:
        """Whether a quoted cell has line breaks in these lines: with them its row has `n_cells`."""
        if self.quote is None or self.quote.encode() not in text:
            return False
        lines = text.split(b"\n")
        for k, line in enumerate(lines):
            if self.has_open_quote(line):
                for end in range(k + 2, min(k + MOST_LINES, len(lines)) + 1):
                    if not self.has_open_quote(row := b"\n".join(lines[k:end])):
                        rows = csv.reader(io.StringIO(row.decode(errors="replace")), delimiter=self.delimiter)
                        return [len(cells) for cells in rows] == [n_cells]
                return False
        return False

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
        """The start of each row that is not blank, and last the text's end; and the rows' lines, from 0."""
        raw = np.frombuffer(text, np.uint8)
        ends = np.flatnonzero(raw == ord("\n"))
        if not len(ends) or ends[-1] != len(raw) - 1:
            ends = np.append(ends, len(raw))
        begins = np.concatenate(([0], ends[:-1] + 1))
        lengths = ends - begins
        blank = (lengths == 0) | ((lengths == 1) & (raw[np.minimum(begins, len(raw) - 1)] == ord("\r")))
        inside = np.zeros(len(begins), dtype=bool)
        if self.newlines_in_values and self.quote:
            inside = np.searchsorted(self.marks(raw), begins) % 2 == 1
        rows = np.flatnonzero(~blank & ~inside)
        return np.append(begins[rows], len(raw)), rows


def sniff_delimiter(line: str, quote: str | None) -> str:
    """The one of comma, semicolon and tab that gives the most cells."""
    return max(",;\t", key=lambda mark: len(Dialect(mark, quote, False).cells(line)))


def is_header(first: list[str], second: list[str] | None, otherwise: bool, label: Any = None) -> bool:
    """Whether the first line names the columns; `label` is the name of the label column, if given.

    It does if it has that name, or if it has no number but a usual label name, or the second line has a
    number. A line with numbers is a row; but one with numbers and a usual label name names the columns if the
    second line has a number under that name, because all labels are of one kind, or if it begins with label,
    like the tables that novikoff writes, and `label` does not name another column.

    Raises
    ------
    ValueError
        When it could be either: y may itself be a label in a row.

    >>> is_header(["a", "y"], ["1", "n"], True), is_header(["0.5", "n"], ["1", "y"], True)
    (True, False)
    """
    if isinstance(label, str) and label in first and not label.isdecimal():
        return True
    usual = [cell for name in USUAL_LABELS for cell in first if cell.lower() == name]
    others = [cell for k, cell in enumerate(first, 1) if cell not in usual and str(k) != str(label)]
    nameless = bool(others) and all(cell.lower() in NO_NAMES for cell in others)  # as in a row without values
    if any(NUMBER.fullmatch(cell) for cell in first):
        if not usual:
            return False
        below = second[first.index(usual[0])] if second and len(second) == len(first) else ""
        written_here = label is None and first[0] == "label" != below  # novikoff writes labels first
        if not (NUMBER.fullmatch(below) or written_here):
            raise _unclear(first)
        return True
    if nameless and (usual or str(label).isdecimal()):
        raise _unclear(first)
    if usual:
        return True
    return otherwise or (second is not None and any(NUMBER.fullmatch(cell) for cell in second))


def has_known_names(first: list[str], known: TableFeatures) -> bool:
    """Whether the first line has known column names, other than the label's and numbers."""
    names = {column.name for column in known.columns if column.kind != "label"}
    found = names & set(header_names(first))
    if found and (found == names or not all(NUMBER.fullmatch(name) for name in found)):
        return True
    labels = {column.name for column in known.columns if column.kind == "label"} & set(first)
    if not found and not labels:
        return False
    if labels and not any(NUMBER.fullmatch(cell) for cell in first):
        return True
    raise _unclear(first)


def _unclear(first: list[str]) -> ValueError:
    shown = ",".join(first[:20])
    return ValueError(f"the first line, {shown}, may be a row or the column names: set `header`")


def header_names(cells: list[str]) -> list[str]:
    """Names of columns; an empty name is replaced by the column's number."""
    return [cell or str(k + 1) for k, cell in enumerate(cells)]


def line_after(text: bytes | memoryview, at: int) -> int:
    """Where the next line begins."""
    step = 1 << 12
    while at < len(text):  # in pieces, because the rest may be long
        end = bytes(text[at : at + step]).find(b"\n")
        if end >= 0:
            return at + end + 1
        at, step = at + step, 4 * step
    return len(text)


@dataclass
class Look:
    """The layout that the first lines of a file show."""

    dialect: Dialect
    has_header: bool
    names: list[str]
    kinds: list[tuple[str, str]]  # the kind and type of each column
    body: bytes = b""  # the first rows, if they determined the kinds
    before: int = 0  # the number of lines before them

    def cells(self, columns: list[int]) -> pa.Table:
        """The cells of some columns in the first rows, as text."""
        import pyarrow as pa
        import pyarrow.csv

        some, options = [str(column) for column in columns], self.dialect.parse_options()
        options.invalid_row_handler = lambda row: "skip"
        convert = pyarrow.csv.ConvertOptions(
            null_values=NULLS,
            strings_can_be_null=True,
            include_columns=some,
            column_types=dict.fromkeys(some, pa.string()),
        )
        return read_cells(self.body, numbered(len(self.names)), options, convert)

    def line_of(self, column: int, text: str) -> int:
        """The line of the first row with this cell in a column, from 1."""
        starts, rows = self.dialect.starts(self.body)
        for k, row in enumerate(rows.tolist()):
            line = self.body[starts[k] : starts[k + 1]].decode(errors="replace")
            cells = self.dialect.cells(line.rstrip("\r\n"))
            if len(cells) == len(self.names) and cells[column] == text:
                return int(self.before + row + 1)
        return self.before + 1


def look(
    head: bytes,
    *,
    whole: bool,
    tsv: bool,
    skip_lines: int,
    header: bool | None,
    delimiter: str | None,
    quote: str | None,
    newlines_in_values: bool | None,
    known: TableFeatures | None,
    label: Any = None,
) -> Look:
    """Infer the layout of a file from its first bytes; `whole`: they are the entire file.

    Raises
    ------
    ValueError
        The message does not name the file.
    """
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError("the text is UTF-16; convert it to UTF-8 with iconv -f UTF-16 -t UTF-8")
    at = len(BOM) if head.startswith(BOM) else 0
    if not head[at:].strip():
        if whole:
            raise NoRows("the file is empty; expected a table")
        raise ValueError("the file begins with blanks only")
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
                    raise ValueError(
                        f"line {1 + head.count(10, 0, at)} is not UTF-8 text: from Latin-1, convert it with "
                        "iconv -f latin1 -t UTF-8"
                    ) from None
                lines.append(raw[: error.start].decode())
            ends.append(end)
        at = end
    if not lines:
        raise NoRows(f"there is no line after skip_lines={skip_lines}")
    mark = delimiter or ("\t" if tsv else sniff_delimiter(lines[0], quote))
    dialect = Dialect(mark, quote, bool(newlines_in_values))
    first, *more = [dialect.cells(line) for line in lines]
    if len(first) == 1 and more and len(more[0]) > 2:
        raise ValueError(
            f"the first line, {first[0][:40]!r}, has one cell, but the next has {len(more[0])}: `skip_lines` "
            "skips lines before the table"
        )
    if header is None and known is not None and known.has_names:
        header = has_known_names(first, known)
    elif header is None:
        header = is_header(first, more[0] if more else None, not tsv and known is None, label)
    if header and not more:
        raise NoRows("there is a header, but no row after it")
    if newlines_in_values is None and dialect.shows_line_breaks(head, len(first)):
        dialect = Dialect(mark, quote, True)
    names = header_names(first) if header else [str(k + 1) for k in range(len(first))]
    if known is not None:
        return Look(dialect, header, names, [])
    begin = ends[0] if header else ends[0] - len(_line(head, ends[0]))
    body = head[begin:]
    if not whole:
        body = body[: body.rfind(b"\n") + 1] or body
    before = head.count(b"\n", 0, begin)
    return Look(dialect, header, names, _kinds(body, dialect, len(names)), body, before)


def _line(head: bytes, end: int) -> bytes:
    return head[head.rfind(b"\n", 0, end - 1) + 1 : end]


def _kinds(body: bytes, dialect: Dialect, n: int) -> list[tuple[str, str]]:
    """The types that pyarrow infers for the columns."""
    import pyarrow as pa
    import pyarrow.csv

    options = dialect.parse_options()
    options.invalid_row_handler = lambda row: "skip"  # reported, with its line, when the block is read
    names, types = numbered(n), []
    for some in in_parts(names):
        convert = pyarrow.csv.ConvertOptions(
            null_values=NULLS, strings_can_be_null=True, include_columns=some
        )
        try:
            types += read_cells(body, names, options, convert).schema.types
        except pa.ArrowInvalid as error:
            raise ValueError(str(error)) from None
    return [(kind_of(type_) or "category", csv_type_name(type_)) for type_ in types]


def in_parts(names: list[str]) -> list[list[str]]:
    """Groups of columns to read together: pyarrow takes 9 kB per column, whatever it holds."""
    return [names[k : k + AT_ONCE] for k in range(0, len(names), AT_ONCE)]


def read_cells(text: bytes | memoryview, names: list[str], options: Any, convert: Any) -> pa.Table:
    """Lines as a table of the columns that `convert` includes; `names` has all."""
    import pyarrow as pa
    import pyarrow.csv

    how = pyarrow.csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names)
    return pyarrow.csv.read_csv(pa.BufferReader(pa.py_buffer(text)), how, options, convert)


def numbered(n: int) -> list[str]:
    return [str(k) for k in range(n)]


def csv_type_name(type_: pa.DataType) -> str:
    """The type as which a column is read if its first cells look like `type_`."""
    kind = kind_of(type_)
    if kind == "number":
        return "bool" if str(type_) == "bool" else "double"
    if kind == "timestamp":  # finer than the first cells may need, but reaching the year 9999
        unit = "ns" if type_.unit == "ns" else "us"
        return f"timestamp[{unit}, tz=UTC]" if type_.tz else f"timestamp[{unit}]"
    return {"date": "date32[day]", "time": "time64[us]"}.get(kind, "string")
