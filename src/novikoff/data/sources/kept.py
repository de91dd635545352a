"""A source whose rows are kept in memory while it is read for the first time, if they are few enough.

Many compressed files can be read only in their order, which is a poor order to learn in where files are
sorted by class, and the others only slowly by places. Small ones, as most are, need not be read again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from novikoff.data.sources.block import Block, Csr
from novikoff.data.sources.source import Source

MOST_BYTES = 1 << 28  # of rows that are kept


class KeptSource(Source):
    """A source that can be read by the places of its blocks, unless it proves too large to keep.

    >>> import io, novikoff
    >>> source = KeptSource(novikoff.open_source(io.BytesIO(b"1 1:1\\n0 2:1\\n")))
    >>> (place,) = (block.place for block in source.blocks())
    >>> source.only_in_order, source.again(place).n_rows
    ('', 2)
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.name, self.format, self.size = source.name, source.format, source.size
        self.files, self.options, self.can_reread = source.files, source.options, source.can_reread
        self.features, self.skipped, self.rounded = source.features, source.skipped, source.rounded
        self.jobs = source.jobs
        self._blocks: dict[Any, Block] | None = None  # by place, once all are read
        self._too_large = False

    def digest(self) -> str:
        return self.source.digest()

    @property
    def only_in_order(self) -> str:
        return self.source.only_in_order if self._too_large else ""

    @property
    def enters_slowly(self) -> bool:
        return self._too_large and self.source.enters_slowly

    def again(self, place: Any) -> Block:
        return self.source.again(place) if self._blocks is None else self._blocks[place]

    def divide(self, size: int) -> None:
        self.source.divide(size)

    def blocks(self, *, reuse: bool = False) -> Iterator[Block]:
        if self._blocks is not None:
            yield from self._blocks.values()
            return
        kept: dict[Any, Block] = {}
        size = 0
        for block in self.source.blocks(reuse=reuse and self._too_large):
            if not self._too_large:
                size += bytes_of(block)
                self._too_large = size > MOST_BYTES
                if self.source.only_in_order:
                    block = replace(block, place=len(kept))
                kept[block.place] = block
            if self._too_large:
                kept.clear()
            yield block
        self.skipped, self.rounded = self.source.skipped, self.source.rounded
        self._has_warned = True  # the source did
        if not self._too_large:
            columns = self.features.n_columns
            self._blocks = {place: block.widened(columns) for place, block in kept.items()}


def bytes_of(block: Block) -> int:
    """The size of the rows in memory, counted so that it does not depend on their division into blocks."""
    X = block.X
    return 12 * X.nnz + 8 * block.n_rows if isinstance(X, Csr) else 8 * X.size
