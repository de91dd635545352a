"""The order of `order="riffle"`: rows are cut into a few runs, which are interleaved as cards are riffled.

To a learner it is nearly a shuffle, because any few visits come from all over the data. To memory and disk
it is nearly the order of storage, because `RUNS` places are read at a time, each forward. It falls short of a
shuffle where neighbours resemble each other, since they stay within some hundred visits, and where the rows
have a period that divides the length of a run. `reference/riffle.py` defines it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from novikoff import _core

Order = npt.NDArray[np.int64]

RUNS = 32  # a power of two, at most 256
CHUNK = 1 << 16  # visits that are drawn at a time; part of the definition, as draws come in whole words


def in_words(order: str) -> str:
    """An order as reports state it.

    >>> in_words("riffle"), in_words("cyclic")
    ('riffle of 32 runs', 'cyclic')
    """
    return f"riffle of {RUNS} runs" if order == "riffle" else order


class Riffle:
    """The order of one epoch over rows 0 to n − 1, drawn from `rng`.

    A byte of randomness per row names its run; these are drawn twice, to count them first, so that any number
    of rows needs no more memory than one chunk.

    Examples
    --------
    >>> riffle = Riffle(100, np.random.default_rng(0))
    >>> riffle.order()[:6].tolist()
    [79, 94, 95, 59, 32, 19]
    >>> sorted(riffle.order().tolist()) == list(range(100))
    True
    """

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self.n = n
        self._kind, self._only = type(rng.bit_generator), None
        self._state = rng.bit_generator.state if n > CHUNK else None
        sizes = np.zeros(RUNS, dtype=np.int64)
        for draws in _draws(rng, n):
            _core.count_draws(draws, sizes)
            self._only = draws if n <= CHUNK else None
        first = int(rng.integers(max(n, 1)))
        ends = first + np.cumsum(sizes)
        self.starts: Order = (ends - sizes) % max(n, 1)  # the first row of each run
        self.sizes = sizes

    def draws(self) -> Iterator[npt.NDArray[np.uint8]]:
        """For every visit a byte, whose remainder by `RUNS` is the run; in chunks."""
        if self._only is not None:
            yield self._only
            return
        again = self._kind()
        again.state = self._state  # type: ignore[assignment]  # there is one if there are several chunks
        yield from _draws(np.random.Generator(again), self.n)

    def chunks(self) -> Iterator[Order]:
        """The rows of all visits, in chunks."""
        at = self.starts.copy()
        for draws in self.draws():
            yield _core.deal(draws, at, self.n)

    def order(self) -> Order:
        """The rows of all visits."""
        return np.concatenate([np.zeros(0, dtype=np.int64), *self.chunks()])


def _draws(rng: np.random.Generator, n: int) -> Iterator[npt.NDArray[np.uint8]]:
    for begin in range(0, n, CHUNK):
        yield np.frombuffer(rng.bytes(min(CHUNK, n - begin)), dtype=np.uint8)
