"""LIBSVM (SVMlight) text as a sparse matrix and labels.

A line is ``label [qid:N] index:value index:value ... [# comment]``, with blanks or tabs between. Text is read
in blocks of whole lines; several blocks can be parsed at once, and the rows are the same however it was cut.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO, Any, Literal, cast, overload

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from novikoff import _core
from novikoff.model import threads
from novikoff.parameters import PARAMETERS

Labels = npt.NDArray[np.int64] | npt.NDArray[np.float64]

# what a compressed file begins with; its name may say anything
GZIP, BZIP2, XZ, ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"


@overload
def load(
    path: str | os.PathLike[str] | IO[bytes],
    *,
    zero_based: bool = ...,
    n_features: int | None = ...,
    dtype: npt.DTypeLike = ...,
    query_id: Literal[False] = ...,
    n_jobs: int | None = ...,
    max_line: int = ...,
    block_size: int = ...,
) -> tuple[sp.csr_array, Labels]: ...
@overload
def load(
    path: str | os.PathLike[str] | IO[bytes],
    *,
    zero_based: bool = ...,
    n_features: int | None = ...,
    dtype: npt.DTypeLike = ...,
    query_id: Literal[True],
    n_jobs: int | None = ...,
    max_line: int = ...,
    block_size: int = ...,
) -> tuple[sp.csr_array, Labels, npt.NDArray[np.int64]]: ...
def load(
    path: str | os.PathLike[str] | IO[bytes],
    *,
    zero_based: bool = False,
    n_features: int | None = None,
    dtype: npt.DTypeLike = np.float64,
    query_id: bool = False,
    n_jobs: int | None = None,
    max_line: int = 1 << 26,
    block_size: int = 1 << 21,
) -> tuple[sp.csr_array, Labels] | tuple[sp.csr_array, Labels, npt.NDArray[np.int64]]:
    """Read a file in LIBSVM (SVMlight) format.

    Every number is the double nearest to the text, as `float` would give. Stored zeros stay stored.

    Parameters
    ----------
    path : str, path or open binary file
        Plain text, or text compressed by gzip, bzip2 or xz, which its first bytes tell. An open file is
        read from where it stands, and stays open.
    zero_based : default False
        Whether the file counts features from 0 instead of 1.
    n_features : default None
        Columns of the matrix; None for as many as the largest index asks for.
    dtype : default float64
        The type of the values: float64, or float32 (rounded from the double).
    query_id : default False
        Whether to return the numbers after ``qid:`` too, −1 for rows without. They are checked either way.
    n_jobs : default None
        Threads that parse; −1 for all cores. Never changes a result.
    max_line : default 64 MiB
        Longest line in bytes: a file with a longer one is taken for something else.
    block_size : default 2 MiB
        Bytes read at once. Never changes a result.

    Returns
    -------
    X : csr_array of shape (n_rows, n_features)
        With sorted indices and no repeated ones.
    y : array of shape (n_rows,)
        int64 when every label is a whole number (up to 2^53), otherwise float64.
    qid : int64 array of shape (n_rows,)
        With `query_id` only.

    Raises
    ------
    ValueError
        For text that is not in this format, with the file, the line, what was found and what was expected;
        for a compressed file that is cut short or damaged; for a file without rows.
    OSError
        When the file cannot be opened or read.

    Examples
    --------
    >>> import io, novikoff
    >>> X, y = novikoff.load(io.BytesIO(b"+1 1:0.5 3:2 # a comment\\n-1 2:25e-2\\n"))
    >>> X.toarray()
    array([[0.5 , 0.  , 2.  ],
           [0.  , 0.25, 0.  ]])
    >>> y
    array([ 1, -1])
    """
    single = _check(zero_based, n_features, dtype, n_jobs, max_line, block_size)
    name = _name(path)
    limits = (bool(zero_based), -1 if n_features is None else int(n_features), int(max_line))
    with _Source(path, name) as source:
        blocks = _blocks(source, int(block_size), int(max_line))
        count = threads(n_jobs)
        rows = _core.LibsvmRows(single)
        if count == 1:
            for block in blocks:
                if not rows.parse(block, *limits):
                    raise ValueError(f"{name}, line {rows.lines + 1}: {rows.problem}.")
        else:
            _parse_at_once(rows, blocks, count, single, limits, name)
        if source.too_long:
            raise ValueError(
                f"{name}, line {rows.lines + 1}: the line has more than max_line={max_line} bytes."
            )
    if rows.n == 0:
        what = "only blank lines and comments" if rows.lines else "nothing"
        raise ValueError(f"{name}: expected at least one row, but the file holds {what}.")
    columns = rows.largest + 1 if n_features is None else int(n_features)
    labels, values, indices, indptr, qid = rows.take()
    X = sp.csr_array((values, indices, indptr), shape=(len(labels), columns))
    X.has_sorted_indices = True
    X.has_canonical_format = True
    y = _whole(labels)
    if query_id:
        return X, y, np.full(len(y), -1) if qid is None else qid
    return X, y


def _check(
    zero_based: object,
    n_features: object,
    dtype: npt.DTypeLike,
    n_jobs: object,
    max_line: object,
    block_size: object,
) -> bool:
    """Check everything but the file; return whether values are float32."""
    if not isinstance(zero_based, bool | np.bool_):
        raise ValueError(f"zero_based must be True or False, not {zero_based!r}.")
    for name, value, low in (
        ("n_features", 0 if n_features is None else n_features, 0),
        ("max_line", max_line, 1),
        ("block_size", block_size, 1),
    ):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value < 2**63:
            raise ValueError(f"{name} must be a whole number ≥ {low}, not {value!r}.")
    PARAMETERS["n_jobs"].check(n_jobs)
    try:
        wanted = "" if dtype is None else np.dtype(dtype).name
    except TypeError:
        wanted = ""
    if wanted not in ("float32", "float64"):
        raise ValueError(f"dtype must be float32 or float64, not {dtype!r}.")
    return wanted == "float32"


def _name(path: Any) -> str:
    """What messages call the file."""
    if isinstance(path, str | os.PathLike):
        return os.fsdecode(path)
    name = getattr(path, "name", None)
    return os.fsdecode(name) if isinstance(name, str | bytes) else f"<{type(path).__name__}>"


class _Raw(io.RawIOBase):
    """Any object with a `read` of bytes as the lowest layer of Python's files; it is never closed."""

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


class _Source:
    """The bytes of a file, unpacked when it is compressed."""

    def __init__(self, path: Any, name: str) -> None:
        self.name = name
        self.too_long = False
        if isinstance(path, str | os.PathLike):
            self._bottom: Any = open(path, "rb")  # noqa: PTH123, SIM115 (closed by __exit__)
        elif hasattr(path, "read"):
            self._bottom = io.BufferedReader(_Raw(path))
        else:
            raise TypeError(f"path must be a str, a path or an open binary file, not {type(path).__name__}")
        try:
            self._top, self._form = self._unpacked()
        except BaseException:
            self._bottom.close()
            raise

    def _unpacked(self) -> tuple[Any, str]:
        head = self._bottom.peek(6)
        if head.startswith(GZIP):
            return gzip.GzipFile(fileobj=self._bottom, mode="rb"), "gzip"
        if head.startswith(BZIP2):
            return bz2.BZ2File(self._bottom), "bzip2"
        if head.startswith(XZ):
            return lzma.LZMAFile(self._bottom), "xz"
        if head.startswith(ZSTD):
            raise ValueError(
                f"{self.name}: Zstandard is not supported yet; unpack the file, or use gzip, bzip2 or xz."
            )
        return self._bottom, ""

    def __enter__(self) -> _Source:
        return self

    def __exit__(self, *exception: object) -> None:
        self._top.close()
        self._bottom.close()

    def readinto(self, buffer: memoryview) -> int:
        if not self._form:
            return cast(int, self._bottom.readinto(buffer))
        try:
            return cast(int, self._top.readinto(buffer))
        except EOFError:
            raise ValueError(
                f"{self.name}: the {self._form} data ends too early: the file is cut short."
            ) from None
        except (OSError, zlib.error, lzma.LZMAError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # from the file below
            raise ValueError(f"{self.name}: the {self._form} data is damaged ({error}).") from None


def _blocks(source: _Source, size: int, max_line: int) -> Iterator[memoryview]:
    """The text in blocks of whole lines of about `size` bytes; a line that is too long ends them."""
    rest = memoryview(b"")  # the beginning of a line whose end has not been read yet
    while True:
        buffer = bytearray(len(rest) + size)
        filled = len(rest)
        buffer[:filled] = rest
        with memoryview(buffer) as view:
            read = source.readinto(view[filled:])
        if not read:
            break
        cut = buffer.rfind(b"\n", filled, filled + read) + 1
        if cut:
            yield memoryview(buffer)[:cut]
        rest = memoryview(buffer)[cut : filled + read]
        if len(rest) > max_line:
            source.too_long = True
            return
    if rest:
        yield rest


def _parse_at_once(
    rows: _core.LibsvmRows,
    blocks: Iterator[memoryview],
    count: int,
    single: bool,
    limits: tuple[bool, int, int],
    name: str,
) -> None:
    """Parse `count` blocks at a time, each into rows of its own, and append these in the file's order."""
    idle = [_core.LibsvmRows(single) for _ in range(count + 1)]
    running: deque[tuple[_core.LibsvmRows, Future[bool]]] = deque()

    def collect() -> None:
        part, parsed = running.popleft()
        if not parsed.result():
            raise ValueError(f"{name}, line {rows.lines + part.lines + 1}: {part.problem}.")
        rows.append(part)
        part.clear()
        idle.append(part)

    with ThreadPoolExecutor(count) as pool:
        try:
            for block in blocks:
                if not idle:
                    collect()
                part = idle.pop()
                running.append((part, pool.submit(part.parse, block, *limits)))
            while running:
                collect()
        except BaseException:
            for _, parsed in running:
                parsed.cancel()
            raise


def _whole(labels: npt.NDArray[np.float64]) -> Labels:
    """Labels as int64 when nothing is lost by it."""
    if np.all(np.abs(labels) <= 2.0**53) and np.all(labels == np.trunc(labels)):
        return labels.astype(np.int64)
    return labels
