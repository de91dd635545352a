"""Lines of text to blocks of rows: blocks are parsed in parallel, and returned in the files' order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Condition
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

from novikoff import _core
from novikoff.data.rounding import Rounding
from novikoff.data.sources.block import Block, Floats, Labels, Matrix
from novikoff.data.sources.bytestream import MAX_COLUMNS, ByteStream, Lines, check_whole
from novikoff.data.sources.features import Features
from novikoff.data.sources.source import Skipped, Source, ending
from novikoff.data.text_labels import TextLabels
from novikoff.data.threads import threads
from novikoff.parameters.common import PARAMETERS

BLOCK_SIZE = 1 << 21  # large enough to make handing blocks over cheap


def line_options(
    kind: str, rounding: str, labelled: bool = True, skip_bad_lines: bool = False
) -> _core.LineOptions:
    """The options of a parser of lines whose labels are of this kind."""
    label = "required" if labelled else "optional"
    return _core.LineOptions(label, kind, bool(skip_bad_lines), rounding == "nearest")


class Parser(Protocol):
    """A parser of one block of lines at a time. `parse` lets other threads run."""

    @property
    def n(self) -> int:
        """Rows."""

    @property
    def lines(self) -> int:
        """Lines read."""

    @property
    def problem(self) -> str:
        """The error in the line after these."""

    @property
    def kind(self) -> str:
        """The kind of the labels: 'number', 'text' or 'none'; '' before the first row."""

    @property
    def n_skipped(self) -> int:
        """Malformed lines that were skipped."""

    @property
    def skipped(self) -> list[tuple[int, str]]:
        """The first few of them: line from zero, error."""

    @property
    def n_rounded(self) -> int:
        """Integers that no double holds."""

    @property
    def rounded(self) -> tuple[int, str]:
        """The first of them: line from zero, its text."""

    def parse(self, text: Any, /) -> bool:
        """Read whole lines; False leaves the reason in `problem`."""

    def row_line(self, row: int, /) -> int:
        """The line of a row, from zero, until `clear`."""

    def clear(self) -> None:
        """Reset to the initial state."""


@runtime_checkable
class WithIds(Protocol):
    """A parser that keeps the ids of its rows."""

    @property
    def ids(self) -> list[Any]:
        """One per row."""


P = TypeVar("P", bound=Parser)


class TextPlace(NamedTuple):
    """Where a block of lines is."""

    file: int
    at: int
    size: int
    first_line: int  # counted from 1


@dataclass(slots=True)
class Parsed(Generic[P]):
    """A block whose lines were all parsed or skipped."""

    parser: P
    file: str
    first_line: int  # counted from 1
    consumed: int
    place: TextPlace


class ParsedInOrder(Generic[P]):
    """Parse a stream block by block, on several threads, in order.

    All rows must have labels of the same kind as the first row. Until it is known, one block is parsed at a
    time; then it is passed to `make_parser`.
    """

    def __init__(
        self, stream: ByteStream, make_parser: Callable[[str], P], n_jobs: int | None, block_size: int
    ) -> None:
        self._stream, self.make_parser, self.block_size = stream, make_parser, block_size
        self._count = threads(n_jobs)
        self.kind = ""
        self.skipped, self.rounded = Skipped(), Rounding()

    def __call__(self, *, reuse: bool) -> Generator[Parsed[P], None, None]:
        """One pass. With `reuse` a parser is valid until the next one is requested."""
        self.kind, self.skipped, self.rounded = "", Skipped(), Rounding()
        return self._pass(reuse)

    def _pass(self, reuse: bool) -> Generator[Parsed[P], None, None]:
        blocks = self._stream.blocks(self.block_size)
        place = _Place(self._stream, self.skipped, self.rounded)
        idle: list[P] = []

        def parser() -> P:
            return idle.pop() if idle else self.make_parser(self.kind)

        def recycle(used: P) -> None:
            if reuse:
                used.clear()
                idle.append(used)

        try:
            while self._count == 1 or not self.kind:
                lines = next(blocks, None)
                if lines is None:
                    return
                part = parser()
                parsed = place.of(part, lines, self.parse(part, lines))
                if not self.kind and part.kind:
                    self.kind = part.kind
                    idle.clear()  # they accept any kind
                    yield parsed
                else:
                    yield parsed
                    recycle(part)
            yield from self._at_once(blocks, place, parser, recycle)
        finally:
            blocks.close()

    def parse(self, parser: P, lines: Lines) -> bool:
        """Parse a block, and hand its memory back."""
        try:
            return parser.parse(lines.text)
        finally:
            self._stream.release(lines)

    def _at_once(
        self,
        blocks: Iterator[Lines],
        place: _Place,
        parser: Callable[[], P],
        recycle: Callable[[P], None],
    ) -> Iterator[Parsed[P]]:
        turn, reads = Condition(), 0

        def work(number: int, part: P) -> tuple[P, Lines, bool] | None:
            """Read a block, in turn, and parse it."""
            nonlocal reads
            with turn:
                turn.wait_for(lambda: reads == number)
                try:
                    lines = next(blocks, None)
                finally:
                    reads += 1
                    turn.notify_all()
            return None if lines is None else (part, lines, self.parse(part, lines))

        running: deque[Future[tuple[P, Lines, bool] | None]] = deque()
        started = 0
        at_once = self._count + 1  # one of them is reading, or waiting for its turn to read
        with ThreadPoolExecutor(at_once, "novikoff-parse") as pool:
            try:
                while True:
                    while len(running) <= at_once:
                        running.append(pool.submit(work, started, parser()))
                        started += 1
                    done = running.popleft().result()
                    if done is None:
                        return
                    yield place.of(*done)
                    recycle(done[0])
            finally:
                # None is cancelled: later ones would wait for its turn. They find nothing to read.
                with turn:
                    blocks = iter(())


class _Place:
    """The position in the files of each block."""

    def __init__(self, stream: ByteStream, skipped: Skipped, rounded: Rounding) -> None:
        self._names, self._skipped, self._rounded = stream.names, skipped, rounded
        self._file, self._lines = 0, 0  # lines of this file so far

    def of(self, parser: P, lines: Lines, sound: bool) -> Parsed[P]:
        """The next block, or its error, raised."""
        if lines.file != self._file:
            self._file, self._lines = lines.file, 0
        name, before = self._names[lines.file], self._lines
        if parser.n_skipped:
            for line, problem in parser.skipped:
                self._skipped.add(f"{name}, line {before + line + 1}: {problem}.")
            self._skipped.count += parser.n_skipped - len(parser.skipped)
        if parser.n_rounded:
            line, text = parser.rounded
            self._rounded.add(parser.n_rounded, f"{text} at {name}, line {before + line + 1}")
        self._lines += parser.lines
        problem = lines.problem if sound else parser.problem
        if problem:
            raise ValueError(f"{name}, line {self._lines + 1}: {problem}.")
        at = TextPlace(lines.file, lines.at, lines.size, before + 1)
        return Parsed(parser, name, before + 1, lines.consumed, at)


class TextSource(Source, Generic[P]):
    """Rows from text files, one row per line.

    Parameters
    ----------
    stream : ByteStream
        The files.
    format : str
        The name of the format.
    features : Features
        The columns.
    make_parser : function of the kind of labels
        Makes a parser, in which labels of another kind are an error; the kind is '' while it is unknown.
    rows : function of a parser, the features and `reuse`
        The rows that a parser has read as (matrix, labels or None, weights or None). Called for one block
        after another, so it may assign columns to names. With `reuse` the arrays may be the parser's own.
    n_jobs : default -1
        Threads that parse while the caller works on a block; −1 for all cores. Never changes a result.
    block_size : default 2 MiB
        Bytes of text per block. Never changes a result.
    max_columns : default 2²⁶
        The most columns that rows may require.
    """

    def __init__(
        self,
        stream: ByteStream,
        *,
        format: str,
        features: Features,
        make_parser: Callable[[str], P],
        rows: Callable[[P, Any, bool], tuple[Matrix, Labels | None, Floats | None]],
        n_jobs: int | None = -1,
        block_size: int = BLOCK_SIZE,
        max_columns: int = MAX_COLUMNS,
    ) -> None:
        PARAMETERS["n_jobs"].check(n_jobs)
        check_whole("max_columns", max_columns, 1)
        check_whole("block_size", block_size, 1)
        self.name, self.format, self.features = stream.name, format, features
        self.size, self.can_reread = stream.size, stream.can_reread
        self.files = tuple(stream.names) if stream.can_reread else ()
        self.skipped, self.rounded = Skipped(), Rounding()
        self._stream, self._rows, self._max_columns = stream, rows, int(max_columns)
        self.jobs = threads(n_jobs)
        self._parsed = ParsedInOrder(stream, make_parser, n_jobs, int(block_size))

    def blocks(self, *, reuse: bool = False) -> Iterator[Block]:
        parsed_in_order = self._parsed(reuse=reuse)
        self.skipped, self.rounded = self._parsed.skipped, self._parsed.rounded
        yield from ending(parsed_in_order, self._checked(parsed_in_order, reuse))

    def _checked(self, parsed_in_order: Iterator[Parsed[P]], reuse: bool) -> Iterator[Block]:
        """Blocks with their rows; all labels must be of one kind."""
        n_rows = 0
        for parsed in parsed_in_order:
            parser = parsed.parser
            if parser.n == 0:
                continue
            n_rows += parser.n
            where = partial(_where, parser, parsed.file, parsed.first_line)
            if parser.kind != self._parsed.kind:
                raise ValueError(
                    f"{where(0)}: the label is a {parser.kind}, but labels before it are of kind "
                    f"{self._parsed.kind}; all labels must be numbers, or all text."
                )
            X, labels, weights = self._rows(parser, self.features, reuse)
            check_columns(self.features, self._max_columns, partial(where, parser.n - 1))
            ids = parser.ids if isinstance(parser, WithIds) else None
            yield Block(X, labels, weights, parsed.consumed, where, parsed.place, ids)
        if n_rows == 0:
            raise no_rows(self.name, self.skipped)
        self._warn_rounded()

    @property
    def only_in_order(self) -> str:
        return self._stream.only_in_order

    @property
    def enters_slowly(self) -> bool:
        return self.only_in_order == "" and self._stream.enters_slowly

    def again(self, place: TextPlace) -> Block:
        parser = self._parsed.make_parser(self._parsed.kind)
        name = self._stream.names[place.file]
        if not self._parsed.parse(parser, self._stream.again(*place[:3])) or not parser.n:
            raise ValueError(f"{name}: the file has changed since it was first read; start again.")
        X, labels, weights = self._rows(parser, self.features, False)
        where = partial(_where, parser, name, place.first_line)
        return Block(X, labels, weights, 0, where, place)

    def divide(self, size: int) -> None:
        self._parsed.block_size = min(self._parsed.block_size, size)

    def digest(self) -> str:
        return self._stream.digest()


def check_columns(features: Features, most: int, where: Callable[[], str]) -> None:
    """Refuse rows that require more than `most` columns."""
    if features.grows and features.n_columns > most:
        raise ValueError(
            f"{where()}: there are now {features.n_columns:,} features, more than max_columns={most}; "
            "raise max_columns if that is intended."
        )


def labels_of(given: Any) -> Labels | None:
    """Labels from a parser's output: numbers, or codes and their texts."""
    return TextLabels(*given) if isinstance(given, tuple) else given


class NoRows(ValueError):
    """Files without rows."""


def no_rows(name: str, skipped: Skipped) -> NoRows:
    """The error for files without rows."""
    what = f"only lines that were skipped ({skipped.first[0]})" if skipped.count else "none"
    return NoRows(f"{name}: expected at least one row, but there is {what}.")


def _where(parser: Parser, file: str, first_line: int, row: int) -> str:
    return f"{file}, line {first_line + parser.row_line(row)}"
