"""Tables as a source of examples: CSV, TSV, Parquet, Feather and Arrow files, through pyarrow.

`columns` states how columns become features. Memory is bounded: a few blocks of rows are held at a time, and
one row group's pages of a Parquet file or one record batch of a compressed Arrow file. An uncompressed Arrow
file is memory-mapped: its pages count as the process's while memory is free.

Text is UTF-8. The first MiB of the first file determines which columns hold numbers, true/false, dates or
times; all other columns, and those without any value there, hold categories. Outside of categories, an
empty cell, NA, N/A, NULL, null and ? are missing values.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.data.rounding import Rounding
from novikoff.data.sources.block import Block, Floats, Labels
from novikoff.data.sources.bytestream import (
    MAX_COLUMNS,
    MAX_EXPANSION,
    MAX_LINE,
    ByteStream,
    Lines,
    Paths,
    check_whole,
)
from novikoff.data.sources.columnar import ColumnarFile
from novikoff.data.sources.columns import Column, TableFeatures, columns_of, find_columns, recipe
from novikoff.data.sources.delimited import Buffers, LineReader, ParsedLines, whole_rows
from novikoff.data.sources.dialect import BOM, HEAD, Look, header_names, line_after, look
from novikoff.data.sources.encoding import (
    BlockRounding,
    LocalRows,
    MixedLabels,
    Unsound,
    encoded,
    kind_of,
    placed,
)
from novikoff.data.sources.facts import MOST, check_points, doubts_of
from novikoff.data.sources.features import Features, NamedFeatures
from novikoff.data.sources.source import Skipped, Source, ending
from novikoff.data.sources.text import NoRows, TextPlace, check_columns, no_rows
from novikoff.data.text_labels import TextLabels
from novikoff.data.threads import threads
from novikoff.parameters.common import PARAMETERS

if TYPE_CHECKING:
    import pyarrow as pa

Columns = str | int | Sequence[str | int]
FORMATS = ("csv", "tsv", "parquet", "feather", "arrow")
BLOCK_SIZE = 1 << 20


class TableSource(Source):
    """Examples from the rows of tables.

    Parameters
    ----------
    paths : str, path, open binary file, or a list of these
        Several files, or a pattern for them, are read one after the other; ``-`` is standard input. CSV and
        TSV may be compressed by gzip, bzip2, xz or Zstandard. Columns of a later file are found by their
        names where there are names.
    format : {'csv', 'tsv', 'parquet', 'feather', 'arrow'}, default None
        None: determined by the first file's content and name.
    label : str or int, default None
        The label column by name, or by number from 1. None for the column named label, class, target or y
        (the first of these that exists, in upper or lower case), or the last one in files without column
        names.
    weight : str or int, default None
        A column of sample weights.
    ignore, categorical, text : str, int, or a list of these
        Columns to leave out, to treat as categories although they hold numbers, and to treat as bags of
        words.
    ngrams : default 1
        The most consecutive words in one feature of a text column.
    schema : mapping, default None
        The kinds of columns by their names: 'number', 'category', 'text', 'date', 'timestamp', 'time',
        'duration', 'label', 'weight' or 'ignored'. Other columns are read as they are without it.
    header : bool, default None
        Whether the first line of CSV and TSV names the columns. None: yes if it has the given name of the
        label column, or if it has no number but a usual label name, or the second line has a number; no if it
        has a number; otherwise yes for CSV and no for TSV. A line with numbers and a usual label name is
        refused, unless the line below has a number under that name or the line begins with label: y may
        itself be a label. Columns without names are named by their numbers from 1.
    skip_lines : default 0
        Lines before the table in every CSV or TSV file.
    delimiter : str, default None
        The cell separator. None: a tab in TSV, and in CSV the one of comma, semicolon and tab that gives the
        most cells in the first line.
    quote : str or None, default '"' for CSV and None for TSV
        Encloses cells that hold delimiters; doubled, it stands for itself.
    newlines_in_values : bool, default None
        Whether a quoted cell may hold line breaks. None: if one in the first MiB does.
    features : TableFeatures, default None
        A model's columns, by which the table is read. Columns are matched by name if both tables have names,
        otherwise by position; options for the contents of columns are then not needed.
    hash_bits, seed :
        As in `OnlinePerceptron`: None for an exact vocabulary.
    labelled : default True
        False if rows may have no label, as in prediction.
    skip_bad_lines : default False
        Whether malformed lines of CSV and TSV are skipped and counted in `skipped`.
    rounding : default 'never'
        'nearest' rounds integers and times that no double holds, and warns.
    block_size : default 1 MiB
        Approximate bytes of text, or of numbers, per block. Never changes a result.
    n_jobs : default −1
        The number of reading threads; −1 for all cores. Never changes a result.
    max_columns : default 2²⁶
        The most columns that rows may require.
    max_line, max_expansion :
        As in `ByteStream`.
    id : str or int, default None
        A column whose values are kept as the `ids` of blocks.

    Examples
    --------
    >>> import io
    >>> from novikoff.data.sources.tables import TableSource
    >>> source = TableSource(io.BytesIO(b"age,job,class\\n41,cook,yes\\n,nurse,no\\n"))
    >>> (block,) = source.blocks()
    >>> source.features.names(range(source.features.n_columns))
    ['age', 'job=cook', 'age=null', 'job=nurse']
    >>> block.labels.tolist()
    ['yes', 'no']
    >>> block.where(1)
    '<BytesIO>, line 3'
    """

    def __init__(
        self,
        paths: Paths,
        *,
        format: str | None = None,
        label: str | int | None = None,
        weight: str | int | None = None,
        ignore: Columns = (),
        categorical: Columns = (),
        text: Columns = (),
        ngrams: int = 1,
        schema: Mapping[str, str] | None = None,
        header: bool | None = None,
        skip_lines: int = 0,
        delimiter: str | None = None,
        quote: str | None = "",
        newlines_in_values: bool | None = None,
        features: Features | None = None,
        hash_bits: int | None = PARAMETERS["hash_bits"].default,
        seed: int = PARAMETERS["seed"].default,
        labelled: bool = True,
        skip_bad_lines: bool = False,
        rounding: str = "never",
        block_size: int = BLOCK_SIZE,
        n_jobs: int | None = -1,
        max_line: int = MAX_LINE,
        max_columns: int = MAX_COLUMNS,
        max_expansion: int = MAX_EXPANSION,
        id: str | int | None = None,
    ) -> None:
        _need_pyarrow()
        for name, value, low in (
            ("skip_lines", skip_lines, 0),
            ("block_size", block_size, 1),
            ("max_columns", max_columns, 1),
        ):
            check_whole(name, value, low)
        if not isinstance(ngrams, int | np.integer) or not 1 <= ngrams <= 5:
            raise ValueError(f"ngrams must be a whole number from 1 to 5, not {ngrams!r}.")
        for name, mark in (("delimiter", delimiter), ("quote", quote or None)):
            if mark is not None and (not isinstance(mark, str) or len(mark) != 1 or not mark.isascii()):
                raise ValueError(f"{name} must be one ASCII character, not {mark!r}.")
        for name, given in (("n_jobs", n_jobs), ("hash_bits", hash_bits), ("seed", seed)):
            PARAMETERS[name].check(given)
        PARAMETERS["rounding"].check(rounding)
        if format is not None and format not in FORMATS:
            raise ValueError(f"format must be one of {', '.join(FORMATS)}, not {format!r}.")
        self._stream = ByteStream(paths, max_line=max_line, max_expansion=max_expansion)
        if features is not None and not isinstance(features, TableFeatures | NamedFeatures):
            raise ValueError(
                f"{self._stream.name}: the model's columns are numbered, as in LIBSVM text, and have no "
                "names that a table's could match: it was trained on another format."
            )
        self.name, self.size, self.can_reread = self._stream.name, self._stream.size, self._stream.can_reread
        self.files = tuple(self._stream.names) if self.can_reread else ()
        self.skipped, self.rounded = Skipped(), Rounding()
        self._rounding = rounding
        self._label_optional, self._skip_bad = not labelled, bool(skip_bad_lines)
        self._block_size, self._n_jobs, self.jobs = int(block_size), n_jobs, threads(n_jobs)
        self._skip_lines, self._max_columns = int(skip_lines), int(max_columns)
        head, is_whole = self._stream.beginning(HEAD, self._skip_lines, 2)
        self.format = _recognised(format, self._stream.names[0], head)
        self._readers: dict[int, LineReader] = {}  # of each file, for `again`
        self._look: Look | None = None
        self._first: ColumnarFile | None = None  # of a pipe
        try:
            if self.format in ("csv", "tsv"):
                self._look = look(
                    head,
                    whole=is_whole,
                    tsv=self.format == "tsv",
                    skip_lines=self._skip_lines,
                    header=header,
                    delimiter=delimiter,
                    quote=('"' if self.format == "csv" else None) if quote == "" else quote,
                    newlines_in_values=newlines_in_values,
                    known=features if isinstance(features, TableFeatures) else None,
                    label=label,
                )
                names, has_names, kinds = self._look.names, self._look.has_header, self._look.kinds
            else:
                stored = self._first_schema()
                names, has_names = stored.names, True
                kinds = [(kind_of(type_), str(type_)) for type_ in stored.types]
            asked: set[int] = set()
            if features is None:
                columns = recipe(
                    names,
                    kinds,
                    has_names,
                    label=label,
                    weight=weight,
                    ignore=ignore,
                    categorical=categorical,
                    text=text,
                    schema=schema,
                    label_optional=self._label_optional,
                )
                asked = {k for given in (categorical, text) for k in find_columns(names, given, "column")}
                asked |= {names.index(name) for name in schema or ()}
                if self._look is not None and self._look.dialect.delimiter != ",":
                    self._check_points(self._look, columns, asked)
                features = TableFeatures(
                    columns,
                    has_names=has_names,
                    ngrams=int(ngrams),
                    vocabulary=NamedFeatures(hash_bits=hash_bits, seed=seed),
                )
            elif isinstance(features, NamedFeatures):
                features = _of_names(
                    features,
                    names,
                    kinds,
                    has_names,
                    label,
                    weight,
                    ignore,
                    label_optional=self._label_optional,
                )
            if id is not None:
                features = features.with_id(names, id)
            features.match(names, has_names, label_optional=self._label_optional)
        except ValueError as error:
            self._stream.close()
            name, message = f"{self._stream.names[0]}: ", str(error).removesuffix(".")
            found = NoRows if isinstance(error, NoRows) else ValueError
            raise found(f"{name}{message.removeprefix(name)}.") from None
        self.features: TableFeatures = features
        self._asked = asked
        if self.can_reread:
            self._stream.close()

    def _check_points(self, look: Look, columns: list[Column], asked: set[int]) -> None:
        among = [k for k, c in enumerate(columns) if c.kind == "category" and k not in asked][:MOST]
        if among:
            cells = look.cells(among).columns
            check_points([columns[k] for k in among], cells, lambda k, text: look.line_of(among[k], text))

    def digest(self) -> str:
        return self._stream.digest()

    def doubts(self) -> list[str]:
        look, columns = self._look, self.features.columns
        kinds = ("category", "label")
        wanted = [k for k, c in enumerate(columns) if c.kind in kinds and k not in self._asked][:MOST]
        if not wanted or not (self.can_reread if look is None else look.body):
            return []

        def where(k: int, text: str) -> str:
            line = "" if look is None else f", line {look.line_of(wanted[k], text)}"
            return f"{self._stream.names[0]}{line}"

        cells = self._first_cells([columns[k].name for k in wanted]) if look is None else look.cells(wanted)
        return doubts_of([columns[k] for k in wanted], cells.columns, where)

    @property
    def only_in_order(self) -> str:
        if self._look is None:
            return f"{self.name} is {self.format}"
        if self._look.dialect.newlines_in_values and self._look.dialect.quote:
            return f"a row of {self.name} may have several lines"
        return self._stream.only_in_order

    @property
    def enters_slowly(self) -> bool:
        return self.only_in_order == "" and self._stream.enters_slowly

    def again(self, place: TextPlace) -> Block:
        name = self._stream.names[place.file]
        lines = self._stream.again(*place[:3])
        parsed = self._parse(self._readers[place.file], lines, lines.text, 0)
        if parsed.local is None or parsed.problem is not None:
            raise ValueError(f"{name}: the file has changed since it was first read; start again.")
        X = placed(parsed.local, self.features)
        where = partial(_line, name, place.first_line, parsed.lines)
        return Block(X, parsed.labels, parsed.weights, 0, where, place)

    def divide(self, size: int) -> None:
        self._block_size = min(self._block_size, size)

    def blocks(self, *, reuse: bool = False) -> Iterator[Block]:
        self.skipped, self.rounded = Skipped(), Rounding()
        buffers = Buffers()
        read = self._columnar_blocks() if self._look is None else self._text_blocks(buffers)
        return ending(read, self._checked(read, buffers if reuse else None))

    def _checked(self, read: Iterator[_Read], buffers: Buffers | None) -> Iterator[Block]:
        """Blocks with the model's columns; all labels must be of one kind."""
        is_text: bool | None = None
        part = None
        for part in read:
            if part.labels is not None and len(part.labels):
                this = isinstance(part.labels, TextLabels)
                if is_text is None:
                    is_text = this
                elif this != is_text:
                    raise ValueError(f"{part.where(0)}: {MixedLabels(0, part.labels[0], is_text)}.")
            if part.rounded.count:
                where = part.where(part.rounded.row)
                self.rounded.add(part.rounded.count, f"{part.rounded.first}, {where}")
            X = placed(part.local, self.features)
            check_columns(self.features, self._max_columns, partial(part.where, X.shape[0] - 1))
            block = Block(X, part.labels, part.weights, part.consumed, part.where, part.place)
            block.ids = part.local.row_ids
            yield block
            if buffers is not None and part.local.dense is not None:
                buffers.give_back(part.local.dense)
        if part is None:
            raise no_rows(self.name, self.skipped)
        self._warn_rounded()

    # CSV and TSV

    def _text_blocks(self, buffers: Buffers) -> Generator[_Read, None, None]:
        running: deque[tuple[Lines, Future[ParsedLines]]] = deque()
        count = threads(self._n_jobs)
        place = _Place(self._stream.names, self.skipped)

        def collect() -> Iterator[_Read]:
            lines, future = running.popleft()
            return place.of(lines, future.result())

        with ThreadPoolExecutor(count, "novikoff-table") as pool:
            try:
                for lines, reader, text, before in self._bodies(buffers):
                    running.append((lines, pool.submit(self._parse, reader, lines, text, before)))
                    if len(running) > count + 1:
                        yield from collect()
                while running:
                    yield from collect()
            finally:
                for _, future in running:
                    future.cancel()

    def _bodies(self, buffers: Buffers) -> Iterator[tuple[Lines, LineReader | None, bytes | memoryview, int]]:
        """Blocks of lines without the lines before a file's first row, and how many lines those were."""
        assert self._look is not None
        file, to_skip, names, reader = -1, 0, None, None
        for lines, text in whole_rows(
            self._stream.blocks(self._block_size), self._look.dialect, self._stream.max_line
        ):
            at = before = 0
            if lines.file != file:
                file, to_skip, reader = lines.file, self._skip_lines, None
                names = None if self._look.has_header else self._look.names
                at = len(BOM) if bytes(text[: len(BOM)]) == BOM else 0
            while at < len(text) and (to_skip or names is None):
                end = line_after(text, at)
                line = bytes(text[at:end]).rstrip(b"\r\n")
                if to_skip:
                    to_skip -= 1
                elif line:
                    names = header_names(self._look.dialect.cells(line.decode(errors="replace")))
                at, before = end, before + 1
            if reader is None and names is not None:
                reader = self._reader(file, names, buffers)
                self._readers[file] = self._reader(file, names, Buffers())  # whose rows are kept
            yield lines, reader, text[at:], before

    def _reader(self, file: int, names: list[str], buffers: Buffers) -> LineReader:
        assert self._look is not None
        dialect, has_names = self._look.dialect, self._look.has_header
        try:
            places = self.features.match(names, has_names, label_optional=self._label_optional)
        except ValueError as error:
            raise ValueError(f"{self._stream.names[file]}: {error}.") from None
        return LineReader(
            self.features,
            places,
            len(names),
            dialect,
            label_optional=self._label_optional,
            skip_bad=self._skip_bad,
            rounding=self._rounding,
            buffers=buffers,
        )

    def _parse(
        self, reader: LineReader | None, lines: Lines, text: bytes | memoryview, before: int
    ) -> ParsedLines:
        parsed = ParsedLines() if reader is None or not len(text) else reader(text)
        parsed.before, parsed.size = before, len(text)
        if isinstance(text, memoryview):
            text.release()
            self._stream.release(lines)
        return parsed

    # Parquet, Feather and Arrow

    def _first_schema(self) -> pa.Schema:
        if self.can_reread:
            self._stream.close()
        file = ColumnarFile(self._stream, 0, self.format)
        if self.can_reread:
            file.close()
        else:
            self._first = file
        return file.schema

    def _first_cells(self, names: list[str]) -> pa.Table:
        """The first rows of some columns, as text."""
        import pyarrow as pa

        file = ColumnarFile(self._stream, 0, self.format)
        try:
            batch = next((batch for batch, _ in file.batches(names, 10_000, use_threads=False)), None)
            rows = [pa.array([], pa.string())] * len(names) if batch is None else batch.columns
            return pa.table({name: array.cast(pa.string()) for name, array in zip(names, rows, strict=True)})
        finally:
            file.close()

    def _columnar_blocks(self) -> Generator[_Read, None, None]:
        """Blocks, each read while the caller works on the previous one."""
        read = self._columnar_read()
        with ThreadPoolExecutor(1, "novikoff-table") as pool:
            ahead = pool.submit(next, read, None)
            try:
                while (part := ahead.result()) is not None:
                    ahead = pool.submit(next, read, None)
                    yield part
            finally:
                ahead.cancel()

    def _columnar_read(self) -> Iterator[_Read]:
        size = self.size or 0
        categories = [c.name for c in self.features.columns if c.kind in ("category", "label")]
        for number, name in enumerate(self._stream.names):
            file, self._first = (
                self._first or ColumnarFile(self._stream, number, self.format, categories),
                None,
            )
            try:
                yield from self._rows_of(file, name, size * number // len(self._stream.names))
            finally:
                file.close()

    def _rows_of(self, file: ColumnarFile, name: str, before: int) -> Iterator[_Read]:
        names = file.schema.names
        try:
            places = self.features.match(names, True, label_optional=self._label_optional)
        except ValueError as error:
            raise ValueError(f"{name}: {error}.") from None
        columns = [names[place] for place in places.values()]
        n_rows = max(4 * self._block_size // (8 * len(columns)), 1)
        row = 0
        for batch, part in file.batches(columns, n_rows, use_threads=threads(self._n_jobs) > 1):
            where, rounded = partial(_row, name, row), BlockRounding(self._rounding)
            try:
                local, labels, weights = encoded(
                    self.features, places, batch.columns, batch.num_rows, self._label_optional, rounded
                )
            except Unsound as error:
                raise ValueError(f"{name if error.row is None else where(error.row)}: {error}.") from None
            row += batch.num_rows
            consumed = before + int(part * (self.size or 0) / len(self._stream.names))
            if batch.num_rows:
                yield _Read(local, labels, weights, consumed, where, rounded)


@dataclass(slots=True)
class _Read:
    """A block whose features do not have the model's columns yet."""

    local: LocalRows
    labels: Labels | None
    weights: Floats | None
    consumed: int
    where: Callable[[int], str]
    rounded: BlockRounding
    place: TextPlace | None = None


class _Place:
    """The position in the files of each block of lines."""

    def __init__(self, names: list[str], skipped: Skipped) -> None:
        self._names, self._skipped = names, skipped
        self._file, self._lines = 0, 0  # lines of this file so far

    def of(self, lines: Lines, parsed: ParsedLines) -> Iterator[_Read]:
        """The next block, or its error, raised."""
        if lines.file != self._file:
            self._file, self._lines = lines.file, 0
        name = self._names[lines.file]
        first = self._lines + parsed.before + 1
        self._lines += parsed.before + parsed.n_lines
        for line, message in parsed.skipped:
            self._skipped.add(f"{name}, line {first + line}: {message}.")
        if parsed.problem is not None:
            at, message = parsed.problem
            raise ValueError(f"{name}{'' if at is None else f', line {first + at}'}: {message}.")
        if lines.problem:
            raise ValueError(f"{name}, line {self._lines + 1}: {lines.problem}.")
        if parsed.local is not None and parsed.n_rows:
            where = partial(_line, name, first, parsed.lines)
            place = TextPlace(lines.file, lines.at + lines.size - parsed.size, parsed.size, first)
            yield _Read(
                *(parsed.local, parsed.labels, parsed.weights, lines.consumed, where, parsed.rounded, place)
            )


def _line(name: str, first: int, lines: Any, row: int) -> str:
    return f"{name}, line {first + (row if lines is None else int(lines[row]))}"


def _row(name: str, before: int, row: int) -> str:
    return f"{name}, row {before + row + 1}"


def _recognised(format: str | None, name: str, head: bytes) -> str:
    """The format: as given, or recognized from the first bytes and the name."""
    if format is not None:
        return "arrow" if format == "feather" else format
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")):
        return "arrow"
    if ending := re.search(r"\.(csv|tsv|tab)\b", name.lower()):
        return "csv" if ending[1] == "csv" else "tsv"
    return "tsv" if b"\t" in head.partition(b"\n")[0] else "csv"


def _of_names(
    features: NamedFeatures,
    names: list[str],
    kinds: list[tuple[str, str]],
    has_names: bool,
    label: Any,
    weight: Any,
    ignore: Any,
    *,
    label_optional: bool,
) -> TableFeatures:
    """A table's columns for a model that was learned from lines with names, such as JSON lines."""
    if not has_names:
        raise ValueError("the model's features have names, but the columns of the table have none")
    if label_optional and label not in names:
        label = None
    made = recipe(
        names, kinds, True, label=label, weight=weight, ignore=ignore, label_optional=label_optional
    )
    fixed = {c.name for c in made if c.kind in ("label", "weight", "ignored")}
    free = [(name, kind) for name, kind in zip(names, kinds, strict=True) if name not in fixed]
    found = {c.name: c for c in columns_of(features, [name for name, _ in free], [kind for _, kind in free])}
    columns = [found.get(column.name, column) for column in made]
    return TableFeatures(columns, has_names=True, ngrams=1, vocabulary=features, of_lines=True)


def _need_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ImportError("reading tables needs pyarrow: pip install 'novikoff[files]'.") from None
