"""A source whose rows are kept in memory while it is read for the first time, if they are few enough.

Compressed files and the like can be read only in their order, which is a poor order to learn in where files
are sorted by class. Small ones, as most are, need not be read again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from novikoff.data.sources.block import Block, Csr
from novikoff.data.sources.source import Source

MOST_BYTES = 1 << 28  # of rows that are kept


class KeptSource(Source):
    """A source that can be read by the places of its blocks, unless it proves too large to keep.

    >>> import io, novikoff
    >>> source = KeptSource(novikoff.open_source(io.BytesIO(b"1 1:1\\n0 2:1\\n")))
    >>> [block.place for block in source.blocks()], source.only_in_order
    ([0], '')
    >>> source.again(0).n_rows
    2
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.name, self.format, self.size = source.name, source.format, source.size
        self.files, self.options, self.can_reread = source.files, source.options, source.can_reread
        self.features, self.skipped, self.rounded = source.features, source.skipped, source.rounded
        self._blocks: list[Block] | None = None  # once all are read
        self._too_large = False

    def digest(self) -> str:
        return self.source.digest()

    @property
    def only_in_order(self) -> str:
        return self.source.only_in_order if self._too_large else ""

    def again(self, place: int) -> Block:
        assert self._blocks is not None
        return self._blocks[place]

    def blocks(self, *, reuse: bool = False) -> Iterator[Block]:
        if self._blocks is not None:
            yield from self._blocks
            return
        kept: list[Block] = []
        size = 0
        for block in self.source.blocks(reuse=reuse and self._too_large):
            if not self._too_large:
                size += bytes_of(block)
                self._too_large = size > MOST_BYTES
                block = replace(block, place=len(kept))
                kept.append(block)
            if self._too_large:
                kept.clear()
            yield block
        self.skipped, self.rounded = self.source.skipped, self.source.rounded
        self._has_warned = True  # the source did
        if not self._too_large:
            self._blocks = [block.widened(self.features.n_columns) for block in kept]


def bytes_of(block: Block) -> int:
    """The size of the rows in memory, counted so that it does not depend on their division into blocks."""
    X = block.X
    return 12 * X.nnz + 8 * block.n_rows if isinstance(X, Csr) else 8 * X.size
