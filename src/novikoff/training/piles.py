"""A riffle of the rows of a source: blocks are read at as many places as there are runs.

A first pass notes the place of every block and how many rows it has. For each epoch a `Riffle` then says from
which run every visit takes its row, and the blocks of the next few thousand visits are read again by their
places, while the caller learns from the visits before. The order of the rows is that of the same rows in
memory, however the source is divided into blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from novikoff import _core
from novikoff.data.arrays import some_rows
from novikoff.data.labels import Ints
from novikoff.data.sources.block import Block, Csr, Floats, Matrix, Room, between, joined
from novikoff.data.sources.source import Source
from novikoff.training.riffle import CHUNK, RUNS, Order, Riffle

BLOCK = 1 << 18  # bytes: small, because a block is held for every run
BATCH_BYTES = 1 << 23  # of rows per native call
KEPT_BYTES = 1 << 26  # a source of this size is read once, and kept

Labelled = Callable[[Block], tuple[Ints, Floats | None, Order | None]]  # labels, weights, the rows to visit


@dataclass(slots=True)
class Part:
    """The rows of a block that are visited."""

    X: Matrix
    labels: Ints
    weights: Floats | None
    rows: Order | None  # their numbers in the block; None: all
    where: Callable[[int], str]

    @classmethod
    def of(cls, block: Block, labels: Ints, weights: Floats | None, rows: Order | None) -> Part:
        X: Any = block.X
        if rows is not None:
            X, labels = some_rows(X, rows), labels[rows]
            weights = None if weights is None else weights[rows]
        return cls(X, labels, weights, rows, block.where)

    def place(self, row: int) -> str:
        """The location of a visited row, for messages."""
        return self.where(row if self.rows is None else int(self.rows[row]))


class Span(NamedTuple):
    """Neighbouring rows of one part: `begin` to `end` of block `number`."""

    number: int
    begin: int
    end: int


@dataclass(slots=True)
class Hand:
    """The rows of some visits, and the order in which they are visited."""

    X: Matrix
    labels: Ints
    weights: Floats | None
    order: Order
    where: Callable[[int], str]
    numbers: Order  # of the rows, among those that are visited, in the order of the source


class Piles:
    """The blocks of a source, as the runs of a riffle.

    Parameters
    ----------
    source : Source
    labelled : function of a block
        The class of each row, its weight, and which rows are visited (None: all).
    """

    def __init__(self, source: Source, labelled: Labelled) -> None:
        self.source, self._labelled = source, labelled
        self._places: list[Any] = []
        self._ends = [0]  # visited rows up to each block
        self._bytes = 0
        self._parts: dict[int, Part] = {}
        self._room = Room()

    @property
    def n_rows(self) -> int:
        """The rows that are visited in an epoch."""
        return self._ends[-1]

    def note(self, block: Block) -> None:
        """Add a block of the first pass, which is complete when all blocks are added."""
        kept = self._labelled(block)[2]
        X = block.X
        self._places.append(block.place)
        self._ends.append(self.n_rows + (block.n_rows if kept is None else len(kept)))
        parts = (X.data, X.indices, X.indptr) if isinstance(X, Csr) else (X,)
        self._bytes += sum(part.nbytes for part in parts)

    def hands(self, riffle: Riffle, skip: int = 0) -> Iterator[Hand]:
        """The rows of an epoch after the first `skip` visits, in the riffle's order."""
        if self._bytes > KEPT_BYTES:
            self._parts.clear()
        visits = int(BATCH_BYTES * self.n_rows / max(self._bytes, 1))
        with ThreadPoolExecutor(self.source.jobs, "novikoff-riffle") as pool:
            reading: dict[int, Future[Block]] = {}
            dealt = self._dealt(riffle, skip, min(max(visits, RUNS), CHUNK))
            for (spans, order), (next_spans, _) in pairwise(_with_end(dealt)):
                for span in (*spans, *next_spans):
                    if span.number not in self._parts and span.number not in reading:
                        reading[span.number] = pool.submit(self.source.again, self._places[span.number])
                yield self._hand(spans, order, reading)
                if self._bytes > KEPT_BYTES:
                    needed = {span.number for span in next_spans}
                    self._parts = {k: part for k, part in self._parts.items() if k in needed}

    def _dealt(self, riffle: Riffle, skip: int, visits: int) -> Iterator[tuple[list[Span], Order]]:
        """For every few visits: where their rows are, and their order among these rows."""
        at, ends = riffle.starts.copy(), np.array(self._ends)
        for draws in riffle.draws():
            for begin in range(0, len(draws), visits):
                some = draws[begin : begin + visits]
                before, skip = some[:skip], max(skip - len(some), 0)
                for piece, visited in ((before, False), (some[len(before) :], True)):
                    sizes = np.zeros(RUNS, dtype=np.int64)
                    _core.count_draws(piece, sizes)
                    if visited and len(piece):
                        runs = zip(at.tolist(), sizes.tolist(), strict=True)
                        spans = [span for first, count in runs for span in _spans(ends, first, count)]
                        yield spans, _core.deal(piece, np.cumsum(sizes) - sizes, len(piece))
                    at = (at + sizes) % riffle.n

    def _hand(self, spans: list[Span], order: Order, reading: dict[int, Future[Block]]) -> Hand:
        parts = [self._part(span.number, reading) for span in spans]
        columns = self.source.features.n_columns
        pieces = [between(part.X, begin, end) for part, (_, begin, end) in zip(parts, spans, strict=True)]
        labels = [part.labels[begin:end] for part, (_, begin, end) in zip(parts, spans, strict=True)]
        weights = None
        if any(part.weights is not None for part in parts):
            weights = np.concatenate(
                [
                    np.ones(end - begin) if part.weights is None else part.weights[begin:end]
                    for part, (_, begin, end) in zip(parts, spans, strict=True)
                ]
            )
        firsts = np.cumsum([0, *(end - begin for _, begin, end in spans)])

        def where(row: int) -> str:
            k = int(np.searchsorted(firsts, row, "right")) - 1
            return parts[k].place(spans[k].begin + row - int(firsts[k]))

        starts = np.array([self._ends[number] + begin for number, begin, _ in spans])
        numbers = np.repeat(starts - firsts[:-1], np.diff(firsts)) + np.arange(firsts[-1])
        X = joined(pieces, columns, self._room)
        return Hand(X, np.concatenate(labels), weights, order, where, numbers)

    def _part(self, number: int, reading: dict[int, Future[Block]]) -> Part:
        part = self._parts.get(number)
        if part is None:
            block = reading.pop(number).result()
            part = self._parts[number] = Part.of(block, *self._labelled(block))
            if len(part.labels) != self._ends[number + 1] - self._ends[number]:
                raise ValueError(f"{self.source.name}: its rows have changed since the first pass.")
        return part


def _spans(ends: Any, at: int, count: int) -> Iterator[Span]:
    """The blocks with the `count` rows from `at` on, in a circle; block k begins with row `ends[k]`."""
    while count:
        number = int(np.searchsorted(ends, at, "right")) - 1
        first = int(ends[number])
        end = min(at + count, int(ends[number + 1]))
        yield Span(number, at - first, end - first)
        count -= end - at
        at = 0 if end == ends[-1] else end


def _with_end(dealt: Iterator[tuple[list[Span], Order]]) -> Iterator[tuple[list[Span], Order]]:
    yield from dealt
    yield [], np.zeros(0, dtype=np.int64)
