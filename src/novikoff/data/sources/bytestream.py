"""The bytes of one or several files, decompressed, as blocks of whole lines."""

from __future__ import annotations

import bz2
import errno
import glob
import hashlib
import io
import lzma
import os
import stat
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import IO, Any, cast

import numpy as np

from novikoff.data.sources.gunzip import Entries, Gunzip
from novikoff.parameters.files import SOURCE_PARAMETERS

Path = str | os.PathLike[str]
Paths = Path | IO[bytes] | Iterable[Path | IO[bytes]]

MAX_LINE: int = SOURCE_PARAMETERS["max_line"].default
MAX_COLUMNS: int = SOURCE_PARAMETERS["max_columns"].default
MAX_EXPANSION: int = SOURCE_PARAMETERS["max_expansion"].default
NEVER_REFUSED = 1 << 26  # bytes that a compressed file may always expand to

GZIP = "gzip"
# the first bytes of compressed files; names do not matter
FORMS = {b"\x1f\x8b": GZIP, b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "Zstandard"}


@dataclass(slots=True)
class Lines:
    """Whole lines of one file. The text is valid until it is handed back by `ByteStream.release`."""

    text: memoryview
    file: int  # counted from 0
    consumed: int  # bytes on disk of all files, up to the end of these lines
    buffer: bytearray
    problem: str = ""  # with the line after these, which ends the stream
    at: int = 0  # where they begin in the decompressed file
    size: int = field(init=False)  # in bytes, also when the text is no longer valid

    def __post_init__(self) -> None:
        self.size = len(self.text)


class ByteStream:
    """Files as one stream, which can be reread if the files can.

    Parameters
    ----------
    paths : str, path, open binary file, or a list of these
        A str with ``*``, ``?`` or ``[`` that is not a file's name is a pattern, and stands for the files that
        match it, in the order of their names; ``-`` is standard input. Data compressed by gzip, bzip2, xz or
        Zstandard is recognized from its first bytes. An open file is read from its current position, and
        stays open.
    max_line : default 64 MiB
        The longest line in bytes; a longer line is an error.
    max_expansion : default 1000
        The largest factor by which a compressed file may expand; up to 64 MiB are always accepted.
    """

    def __init__(self, paths: Paths, *, max_line: int = MAX_LINE, max_expansion: int = MAX_EXPANSION) -> None:
        check_whole("max_line", max_line, 1)
        check_whole("max_expansion", max_expansion, 1)
        self.max_line, self.max_expansion = int(max_line), int(max_expansion)
        self._files = [_file(path) for path in each_path(paths)]
        self.names = [file.name for file in self._files]
        self.name = self.names[0] if len(self.names) == 1 else f"{len(self.names)} files"
        sizes = [file.size for file in self._files]
        self.size = None if None in sizes else sum(cast("list[int]", sizes))
        self.can_reread = all(file.can_reread for file in self._files)
        self._pool: list[bytearray] = []
        self._begun: tuple[_Unpacked, bytes] | None = None  # the first file, of which `head` has read this,
        self._is_whole = False  # which is all
        self._spent = False
        self._in_order: str | None = None  # see `only_in_order`
        self._enters_slowly = False

    def head(self, size: int) -> bytes:
        """At least the first `size` bytes, decompressed; later reads still return them."""
        if self._begun is None:
            if self._spent:
                raise self._only_once()
            self._begun, self._is_whole = (_Unpacked(self._files[0], self.max_expansion), b""), False
        unpacked, read = self._begun
        if len(read) < size and not self._is_whole:
            buffer = bytearray(size - len(read))
            try:
                filled = unpacked.fill(memoryview(buffer))
            except BaseException:
                self._begun = None
                unpacked.close()
                raise
            self._is_whole = filled < len(buffer)
            self._begun = unpacked, read + bytes(buffer[:filled])
        return self._begun[1]

    def beginning(self, size: int, skip: int, lines: int) -> tuple[bytes, bool]:
        """As `head`, with `lines` whole nonblank lines after the first `skip`; and whether that is all.

        No line, and no run of blank lines, is read beyond `max_line`.
        """
        most = size + (lines + 2) * self.max_line
        head = self.head(size)
        while not (self._is_whole or _has_lines(head, skip, lines)) and len(head) < most:
            head = self.head(min(4 * len(head), most))
        return head, self._is_whole

    def close(self) -> None:
        """Close a file of which only the `head` was read."""
        if self._begun is not None:
            unpacked, self._begun = self._begun[0], None
            unpacked.close()
            if isinstance(self._files[0], _OpenFile):
                self._files[0].rewind()
            self._spent = not self.can_reread

    def blocks(self, size: int) -> Generator[Lines, None, None]:
        """All lines from the first, in blocks of about `size` bytes. A block has lines of one file only."""
        if self._spent:
            raise self._only_once()
        before = 0
        for k, file in enumerate(self._files):
            head = b""
            if k == 0 and self._begun is not None:
                (unpacked, head), self._begun = self._begun, None
            else:
                unpacked = _Unpacked(file, self.max_expansion)
            self._spent = not self.can_reread
            try:
                for lines in self._lines(unpacked, head, size):
                    lines.file = k
                    lines.consumed += before
                    yield lines
            finally:
                unpacked.close()
            file.check_unchanged()
            before += unpacked.taken

    @property
    def only_in_order(self) -> str:
        """Why the files cannot be read from the middle; empty if they can."""
        if not self.can_reread:
            return f"{self.name} can be read only once"
        if self._in_order is None:
            forms = {file.name: file.form() for file in self._files}
            self._enters_slowly = GZIP in forms.values()
            closed = (
                f"{name} is compressed by {form}" for name, form in forms.items() if form not in ("", GZIP)
            )
            self._in_order = next(closed, "")
        return self._in_order

    @property
    def enters_slowly(self) -> bool:
        """Whether reading from the middle decompresses what lies before."""
        return self.only_in_order == "" and self._enters_slowly

    def again(self, number: int, at: int, size: int) -> Lines:
        """The lines at this place of a file, unless it is `only_in_order`. Several threads may call it."""
        try:
            buffer = self._pool.pop()
        except IndexError:
            buffer = bytearray(size)
        if len(buffer) < size:
            buffer = bytearray(size)
        text = memoryview(buffer)[:size]
        file = self._files[number]
        if file.entries is None:
            file.read_into(text, at)
        else:
            try:
                file.entries.read_into(text, at)
            except (EOFError, zlib.error):
                raise file.cut_short() from None
        return Lines(text, number, 0, buffer, at=at)

    def release(self, lines: Lines) -> None:
        """Return the memory of a block for reuse."""
        lines.text.release()
        self._pool.append(lines.buffer)

    def reader(self) -> io.BufferedReader:
        """The decompressed bytes of all files, concatenated, as one open file."""
        return io.BufferedReader(_Joined(self))

    def check_unchanged(self, number: int) -> None:
        """Raise a ValueError if a file has changed since the stream was opened."""
        self._files[number].check_unchanged()

    def whole_file(self, number: int) -> str | IO[bytes]:
        """A file for other readers: its name, or the open file at its original position."""
        file = self._files[number]
        if isinstance(file, _OpenFile):
            file.rewind()
            return cast("IO[bytes]", file._file)
        return file.name

    def digest(self) -> str:
        """A BLAKE2b digest of 256 bits of the bytes on disk; with several files, of the files' digests."""
        if self.can_reread:
            self.close()
        digests = [file.digest() for file in self._files]
        if len(digests) == 1:
            return digests[0]
        return hashlib.blake2b("".join(digests).encode(), digest_size=32).hexdigest()

    def _lines(self, unpacked: _Unpacked, head: bytes, size: int) -> Iterator[Lines]:
        rest, at = head, 0  # the beginning of an incomplete line; the place of the next block
        while True:
            # Buffers are reused, because new memory costs as much as parsing. A long line gets a larger one.
            room = size if 2 * len(rest) <= size else size + 2 * len(rest)
            buffer = self._pool.pop() if self._pool else bytearray(room)
            if len(buffer) < room:
                buffer = bytearray(room)
            view, filled = memoryview(buffer)[:room], len(rest)
            view[:filled] = rest
            read = unpacked.fill(view[filled:])
            filled += read
            ended = filled < room
            cut = filled if ended else buffer.rfind(b"\n", 0, filled) + 1
            sound = self._sound(buffer, cut)
            rest = bytes(view[cut:filled])
            if sound < cut or len(rest) > self.max_line:
                problem = f"the line has more than max_line={self.max_line} bytes"
                yield Lines(view[:sound], 0, unpacked.taken, buffer, problem, at)
                return
            if cut:
                consumed = unpacked.taken - (0 if unpacked.form else len(rest))
                yield Lines(view[:cut], 0, consumed, buffer, at=at)
                at += cut
            else:
                self._pool.append(buffer)
            if ended:
                return

    def _sound(self, buffer: bytearray, n: int) -> int:
        """The start of the first overlong line in the first n bytes, or n."""
        if n <= self.max_line:
            return n
        ends = np.flatnonzero(np.frombuffer(buffer, np.uint8, n) == ord("\n"))
        begins = np.concatenate(([0], ends + 1))
        too_long = np.flatnonzero(np.append(ends, n) - begins > self.max_line)
        return int(begins[too_long[0]]) if len(too_long) else n

    def _only_once(self) -> ValueError:
        name = next(file.name for file in self._files if not file.can_reread)
        return ValueError(f"{name} can be read only once; save it to a file to read it again.")


def _has_lines(text: bytes, skip: int, lines: int) -> bool:
    """Whether `lines` nonblank lines end in the text, after the first `skip`."""
    at = 0
    while (skip or lines) and (end := text.find(b"\n", at)) >= 0:
        if skip:
            skip -= 1
        elif text[at:end].strip():
            lines -= 1
        at = end + 1
    return not (skip or lines)


def check_whole(name: str, value: object, low: int) -> None:
    """Raise one clear error unless `value` is a whole number from `low`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value < 2**63:
        raise ValueError(f"{name} must be a whole number ≥ {low}, not {value!r}.")


def each_path(paths: Any) -> list[Any]:
    """Every file that `paths` names, with patterns replaced by the files that match."""
    several = not isinstance(paths, str | os.PathLike) and not hasattr(paths, "read")
    if several and not isinstance(paths, Iterable):
        raise TypeError(f"path must be a str, a path or an open binary file, not {type(paths).__name__}")
    out: list[Any] = []
    for path in paths if several else [paths]:
        if isinstance(path, str | os.PathLike):
            pattern = os.fsdecode(path)
            if glob.has_magic(pattern) and not os.path.lexists(pattern):
                matching = sorted(p for p in glob.glob(pattern, recursive=True) if not os.path.isdir(p))  # noqa: PTH207, PTH112
                if not matching:
                    raise FileNotFoundError(errno.ENOENT, "No file matches this pattern", pattern)
                out += matching
                continue
        out.append(path)
    if not out:
        raise ValueError("paths is empty: expected at least one file.")
    if sum(path == "-" for path in out if isinstance(path, str)) > 1:
        raise ValueError("paths names standard input ('-') twice, but it can be read only once.")
    return out


def _file(path: Any) -> _File:
    if isinstance(path, str) and path == "-":
        return _OpenFile(sys.stdin.buffer, "standard input", may_seek=False)
    if isinstance(path, str | os.PathLike):
        return _NamedFile(os.fsdecode(path))
    if hasattr(path, "read"):
        name = getattr(path, "name", None)
        shown = os.fsdecode(name) if isinstance(name, str | bytes) else f"<{type(path).__name__}>"
        return _OpenFile(path, shown, may_seek=True)
    raise TypeError(f"path must be a str, a path or an open binary file, not {type(path).__name__}")


class _File(ABC):
    """A file that can be opened, in most cases repeatedly."""

    name: str
    size: int | None
    can_reread: bool
    entries: Entries | None = None  # of gzip data, once it is read

    @abstractmethod
    def open(self) -> io.RawIOBase:
        """The file's bytes from its beginning."""

    @abstractmethod
    def check_unchanged(self) -> None:
        """Raise a ValueError if the file has visibly changed."""

    @abstractmethod
    def read_at(self, at: int, view: memoryview) -> int:
        """Fill the view with the bytes from `at` on, as far as there are any; return their number."""

    def read_into(self, view: memoryview, at: int) -> None:
        """Fill the view with the bytes from `at` on."""
        if self.read_at(at, view) < len(view):
            raise self.cut_short()

    def fetch(self, at: int, size: int) -> bytes:
        """At most `size` bytes from `at` on."""
        buffer = bytearray(size)
        return bytes(memoryview(buffer)[: self.read_at(at, memoryview(buffer))])

    def form(self) -> str:
        """How the file is compressed; empty if it is not."""
        return _form(self.fetch(0, 6))

    def cut_short(self) -> ValueError:
        return ValueError(f"{self.name}: the file has changed since it was first read; start again.")

    def digest(self) -> str:
        if not self.can_reread:
            raise ValueError(
                f"{self.name} can be read only once, so its digest cannot be computed in advance."
            )
        digest, buffer = hashlib.blake2b(digest_size=32), bytearray(1 << 20)
        with self.open() as file, memoryview(buffer) as view:
            while read := file.readinto(buffer):
                digest.update(view[:read])
        return digest.hexdigest()


class _NamedFile(_File):
    def __init__(self, name: str) -> None:
        self.name = name
        status = os.stat(name)  # noqa: PTH116
        if stat.S_ISDIR(status.st_mode):
            pattern = os.path.join(name, "*")  # noqa: PTH118
            raise IsADirectoryError(
                errno.EISDIR, f"Is a directory; name its files, or a pattern such as {pattern!r}", name
            )
        self.can_reread = stat.S_ISREG(status.st_mode)
        self.size = status.st_size if self.can_reread else None
        self._stamp = status.st_size, status.st_mtime_ns
        if not os.access(name, os.R_OK):
            raise PermissionError(errno.EACCES, "No permission to read the file", name)

    def open(self) -> io.RawIOBase:
        file = io.FileIO(self.name)
        if self.can_reread:
            try:
                self._compare(os.fstat(file.fileno()))
            except ValueError:
                file.close()
                raise
        return file

    def check_unchanged(self) -> None:
        if self.can_reread:
            self._compare(os.stat(self.name))  # noqa: PTH116

    def read_at(self, at: int, view: memoryview) -> int:
        with self.open() as file:
            file.seek(at)
            done = 0
            while done < len(view) and (read := file.readinto(view[done:])):
                done += read
            return done

    def _compare(self, status: os.stat_result) -> None:
        if (status.st_size, status.st_mtime_ns) != self._stamp:
            raise ValueError(f"{self.name}: the file has changed since it was first read; start again.")


class _OpenFile(_File):
    """Any object with a `read` of bytes; it is never closed."""

    def __init__(self, file: Any, name: str, *, may_seek: bool) -> None:
        self.name, self._file, self._start = name, file, 0
        self.can_reread = may_seek and hasattr(file, "seekable") and file.seekable()
        self.size = None
        if self.can_reread:
            self._start = file.tell()
            self.size = file.seek(0, os.SEEK_END) - self._start
            file.seek(self._start)
        self._lock = Lock()  # its position is shared

    def open(self) -> io.RawIOBase:
        self.rewind()
        return _Raw(self._file)

    def check_unchanged(self) -> None:
        if self.can_reread and self._file.seek(0, os.SEEK_END) - self._start != self.size:
            raise ValueError(f"{self.name}: the file changed while it was read; start again.")

    def read_at(self, at: int, view: memoryview) -> int:
        with self._lock:
            before = self._file.tell()
            self._file.seek(self._start + at)
            data = self._file.read(len(view))
            self._file.seek(before)
        view[: len(data)] = data
        return len(data)

    def rewind(self) -> None:
        """Restore the file's original position."""
        if self.can_reread:
            self._file.seek(self._start)


class _Raw(io.RawIOBase):
    """An object with a `read` as the lowest layer of Python's files."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(
                f"path must be a file open in binary mode; its read() returned {type(data).__name__}"
            )
        buffer[: len(data)] = data
        return len(data)


class _Counted(io.RawIOBase):
    """A file that counts the bytes read from it, after `first`, which were already read."""

    def __init__(self, file: io.RawIOBase, first: bytes) -> None:
        self._file, self._first, self.taken = file, first, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._first:
            read = min(len(buffer), len(self._first))
            buffer[:read], self._first = self._first[:read], self._first[read:]
        else:
            read = self._file.readinto(buffer) or 0
        self.taken += read
        return read

    def close(self) -> None:
        self._file.close()
        super().close()


class _Joined(io.RawIOBase):
    """Blocks of lines as one file."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream, self._blocks = stream, stream.blocks(1 << 20)
        self.name = stream.name  # for messages
        self._block: Lines | None = None
        self._at = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while self._block is None or self._at == len(self._block.text):
            if self._block is not None:
                if self._block.problem:
                    raise ValueError(f"{self._stream.names[self._block.file]}: {self._block.problem}.")
                self._stream.release(self._block)
            self._at, self._block = 0, next(self._blocks, None)
            if self._block is None:
                return 0
        part = self._block.text[self._at : self._at + len(buffer)]
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)


def _form(first: bytes) -> str:
    """How a file with these first bytes is compressed; empty if it is not."""
    return next((form for mark, form in FORMS.items() if first.startswith(mark)), "")


class _Unpacked:
    """The bytes of a file, decompressed if necessary."""

    def __init__(self, file: _File, max_expansion: int) -> None:
        self._name, self._size, self._max_expansion = file.name, file.size, max_expansion
        self._given = 0
        raw = file.open()
        try:
            first = b""
            while len(first) < 6 and (more := raw.read(6 - len(first))):
                first += more
            self._bottom = _Counted(raw, first)
            self.form, self._top = self._unpacker(file, first)
        except BaseException:
            raw.close()
            raise

    def _unpacker(self, file: _File, first: bytes) -> tuple[str, Any]:
        form = _form(first)
        if form == GZIP:
            buffered = self._buffered()
            if file.can_reread and file.entries is None:
                file.entries = Entries(file.fetch)
            return form, Gunzip(lambda _, size: buffered.read1(size), file.entries)
        if form == "bzip2":
            return form, bz2.BZ2File(self._buffered())
        if form == "xz":
            return form, lzma.LZMAFile(self._buffered())
        if form == "Zstandard":
            try:
                import pyarrow
            except ImportError:
                raise ImportError(
                    f"{self._name}: reading Zstandard needs pyarrow: pip install 'novikoff[files]'."
                ) from None
            return form, pyarrow.CompressedInputStream(self._buffered(), "zstd")
        return "", self._bottom

    def _buffered(self) -> io.BufferedReader:
        return io.BufferedReader(self._bottom, 1 << 17)

    @property
    def taken(self) -> int:
        """Bytes of the file that were read so far."""
        return self._bottom.taken

    def close(self) -> None:
        if self.form:
            self._top.close()
        self._bottom.close()

    def fill(self, buffer: memoryview) -> int:
        """Read until the buffer is full or the file ends."""
        filled = 0
        while filled < len(buffer):
            read = self._readinto(buffer[filled:])
            if not read:
                break
            filled += read
        if self.form:
            self._given += filled
            allowed = max(NEVER_REFUSED, self._max_expansion * (self._size or self.taken))
            if self._given > allowed:
                raise ValueError(
                    f"{self._name}: the {self.form} data expands to more than "
                    f"max_expansion={self._max_expansion} times its size; raise max_expansion if the file is "
                    "trusted."
                )
        return filled

    def _readinto(self, buffer: memoryview) -> int:
        if not self.form:
            return self._bottom.readinto(buffer)
        try:
            return cast(int, self._top.readinto(buffer))
        except EOFError:
            raise self._cut_short() from None
        except (OSError, zlib.error, lzma.LZMAError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # from the file below
            if "Truncated" in str(error):
                raise self._cut_short() from None
            raise ValueError(f"{self._name}: the {self.form} data is damaged ({error}).") from None

    def _cut_short(self) -> ValueError:
        return ValueError(f"{self._name}: the {self.form} data ends too early: the file is cut short.")
