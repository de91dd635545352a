"""Where examples come from: files of any format behind one small interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from novikoff.data.rounding import Rounding
from novikoff.data.sources.block import Block
from novikoff.data.sources.features import Features


@dataclass
class Skipped:
    """Malformed lines that were skipped on request: their count, and the first few with their errors."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, message: str) -> None:
        self.count += 1
        if len(self.first) < 10:
            self.first.append(message)


def ending(reading: Generator[Any, None, None], blocks: Iterator[Block]) -> Iterator[Block]:
    """The blocks that are made from `reading`; closing them also ends the reading and its threads.

    Otherwise it would continue while the blocks are referenced in Python versions such as 3.12.3, where
    closing a generator does not release what it holds.
    """
    with closing(reading):
        yield from blocks


class Source(ABC):
    """Examples from one or more files, as blocks of rows.

    `features` names the columns. It grows while training data are read for the first time; a source
    opened for an existing model has that model's features, and unknown ones get no column.
    """

    name: str  # for messages: a file's name, or "3 files"
    format: str  # "libsvm", "vw", "csv", "tsv", "jsonl", "parquet", "arrow"
    features: Features
    size: int | None  # bytes of the files on disk; None for standard input
    can_reread: bool
    jobs: int = 1  # blocks that are read at once
    files: tuple[str, ...] = ()  # their names, where there are any
    options: dict[str, Any] = {}  # those that affect the rows  # noqa: RUF012
    skipped: Skipped
    rounded: Rounding  # numbers that the last pass rounded
    _has_warned = False

    def _warn_rounded(self) -> None:
        """Warn once, after a pass, of rounded numbers."""
        if self.rounded.count and not self._has_warned:
            self._has_warned = True
            self.rounded.warn(3)

    @abstractmethod
    def blocks(self, *, reuse: bool = False) -> Iterator[Block]:
        """All rows from the first, in the files' order.

        With `reuse` a block's arrays are valid only until the next block is requested.
        """

    def doubts(self) -> list[str]:
        """What may be read other than it was meant, by the first rows, in sentences."""
        return []

    @property
    def only_in_order(self) -> str:
        """Why blocks cannot be read by their place; empty if they can."""
        return f"{self.name} is {self.format}"

    @property
    def enters_slowly(self) -> bool:
        """Whether reading a block by its place may cost as much as reading many."""
        return False

    def again(self, place: Any) -> Block:
        """The block of an earlier pass that has this place. Several threads may call it."""
        raise NotImplementedError(self.only_in_order)

    def divide(self, size: int) -> None:  # noqa: B027  (not all can)
        """Read blocks of at most about `size` bytes from now on, where that is possible."""

    @abstractmethod
    def digest(self) -> str:
        """A BLAKE2 digest of the files' bytes on disk, in hexadecimal."""
