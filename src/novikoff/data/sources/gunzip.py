"""gzip data, read from its beginning or from the middle.

Deflate refers back to the last 32 KiB, so it can be entered only where that much is known. The first pass
keeps copies of the decompressor, evenly spaced and no more than `MOST`. Reading from a place goes on from the
reader that stopped there, or from the last copy before it.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from threading import Lock
from typing import Any

CHUNK = 1 << 16  # compressed bytes that are fetched at a time
SPACING = 1 << 20  # decompressed bytes between two copies at first
MOST = 128  # copies, of some 40 KiB each; if there are more, every other one is dropped
LIVE = 64  # readers that are kept, for those who read on

Fetch = Callable[[int, int], bytes]  # the bytes of the file from a place on, at most so many


class Gunzip(io.RawIOBase):
    """Decompressed bytes, of several members too.

    >>> import gzip
    >>> data = gzip.compress(b"one ") + gzip.compress(b"two") + bytes(9)
    >>> Gunzip(lambda at, size: data[at : at + size]).read()
    b'one two'
    """

    def __init__(self, fetch: Fetch, entries: Entries | None = None) -> None:
        self._fetch, self._entries = fetch, entries
        self._member = zlib.decompressobj(31)
        self._rest = b""  # fetched but not yet decompressed
        self._fetched = 0
        self.at = 0  # decompressed bytes so far

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = len(buffer)
        while size:
            if self._member.eof and not self._begins_member():
                return 0
            made = self._member.decompress(self._rest, size)
            self._rest = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
            if made:
                buffer[: len(made)] = made
                self.at += len(made)
                if self._entries is not None and not self._member.eof:
                    self._entries.note(self)
                return len(made)
            if not self._member.eof and not self._more():
                raise EOFError
        return 0

    def _more(self) -> bool:
        more = self._fetch(self._fetched, CHUNK)
        self._fetched += len(more)
        self._rest += more
        return bool(more)

    def _begins_member(self) -> bool:
        """Begin the next member, after zeros that may lie between two; False at the end."""
        while not (rest := self._rest.lstrip(b"\0")):
            self._rest = b""
            if not self._more():
                return False
        self._rest, self._member = rest, zlib.decompressobj(31)
        return True

    def copy(self, fetch: Fetch) -> Gunzip:
        """A reader that goes on from here."""
        other = Gunzip(fetch)
        other._member, other._rest = self._member.copy(), b""
        other._fetched, other.at = self._fetched - len(self._rest), self.at
        return other


class Entries:
    """Where a file can be entered. Several threads may read by places.

    Parameters
    ----------
    fetch : function of a place and a size
        The bytes of the file, as often as wanted.
    """

    def __init__(self, fetch: Fetch) -> None:
        self._fetch, self._spacing = fetch, SPACING
        self._copies = [Gunzip(fetch)]
        self._live: list[Gunzip] = []
        self._lock = Lock()

    def note(self, reader: Gunzip) -> None:
        """Called as the file is read from its beginning."""
        with self._lock:
            if reader.at - self._copies[-1].at >= self._spacing:
                self._copies.append(reader.copy(self._fetch))
                if len(self._copies) > MOST:
                    self._copies, self._spacing = self._copies[::2], 2 * self._spacing

    def read_into(self, view: memoryview, at: int) -> None:
        """Fill the view with the decompressed bytes from `at` on; EOFError if there are not so many."""
        reader = self._reader(at)
        scratch = bytearray(CHUNK)
        while reader.at < at:
            if not reader.readinto(memoryview(scratch)[: at - reader.at]):
                raise EOFError
        done = 0
        while done < len(view):
            read = reader.readinto(view[done:])
            if not read:
                raise EOFError
            done += read
        with self._lock:
            self._live = [*self._live[-LIVE + 1 :], reader]

    def _reader(self, at: int) -> Gunzip:
        """The one that comes nearest to this place from before."""
        with self._lock:
            before = [k for k, reader in enumerate(self._live) if reader.at <= at]
            copy = max((entry for entry in self._copies if entry.at <= at), key=lambda entry: entry.at)
            nearest = max(before, key=lambda k: self._live[k].at, default=None)
            if nearest is not None and self._live[nearest].at >= copy.at:
                return self._live.pop(nearest)
            return copy.copy(self._fetch)
