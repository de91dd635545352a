"""Files that are written at once or not at all, and compressed as their names say."""

from __future__ import annotations

import bz2
import contextlib
import fcntl
import gzip
import lzma
import os
import re
import secrets
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

Name = str | os.PathLike[str]
Target = Name | IO[bytes]

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


@contextlib.contextmanager
def written(target: Target) -> Iterator[Any]:
    """What to write a file's content to.

    A path is replaced when the block ends without an error, and compressed as its name says; an open file, a
    pipe or a device is written to as it is.
    """
    if isinstance(target, str | os.PathLike):
        path = Path(target)
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as device:
                yield device
        else:
            with replacing(path) as file, _packed(file, path.suffix.lower()) as out:
                yield out
    else:
        yield target


@contextlib.contextmanager
def replacing(path: Name) -> Iterator[IO[bytes]]:
    """A new file to write to, which takes the place of `path` when the block ends without an error.

    It is on disk by then, with the permissions of what was there before. Until then it has a temporary name
    beside `path`, and after an error there is neither it nor any change to what was there before. A process
    that is killed leaves its temporary file, which the next one to write to `path` removes.
    """
    target = Path(os.path.realpath(path))  # a link goes on pointing to its file
    passing = target
    try:
        _remove_orphans(target)
        file, passing = _temporary(target)
        with file:
            yield file
            file.flush()
            with contextlib.suppress(FileNotFoundError):
                os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
            os.fsync(file.fileno())
            passing.replace(target)
    except OSError as error:
        if error.filename not in (None, str(passing)):  # of another file that the block is at
            raise
        said = f"{error.strerror}; nothing was saved, and what was there before is untouched"
        raise OSError(error.errno, said, str(path)) from None
    finally:
        if passing is not target:
            passing.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # the new name too should survive a power cut, where that is possible
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _temporary(target: Path) -> tuple[IO[bytes], Path]:
    """A new file beside `target`, locked for as long as it is open: by that others know it is in use."""
    while True:
        path = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
        try:
            # Nobody reads it who could not read what it replaces: that has its permissions put on in the end.
            mode = 0o600 if target.exists() else 0o666
            file = open(path, "xb", opener=partial(os.open, mode=mode))  # noqa: SIM115
        except OSError as error:
            error.filename = None  # nobody asked for a file of that name
            raise
        fcntl.flock(file, fcntl.LOCK_EX)
        if path.exists():  # else it was taken for an orphan before it was locked
            return file, path
        file.close()


def _remove_orphans(target: Path) -> None:
    """Remove temporary files for `target` that no live process holds."""
    name = re.compile(re.escape(f".{target.name}.") + r"[0-9a-f]{8}\.tmp")
    with contextlib.suppress(OSError):  # what cannot be looked at is left alone
        for path in target.parent.iterdir():
            if name.fullmatch(path.name) and path.is_file() and not path.is_symlink():
                with contextlib.suppress(OSError), path.open("rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    path.unlink()


@contextlib.contextmanager
def _packed(file: IO[bytes], suffix: str) -> Iterator[Any]:
    """What writes to `file` compressed as the suffix says; `file` stays open."""
    if suffix not in COMPRESSED:
        yield file
        return
    if suffix == ".zst":
        try:
            import pyarrow as pa
        except ImportError:
            raise ImportError("writing Zstandard needs pyarrow: pip install 'novikoff[files]'.") from None
        with pa.CompressedOutputStream(pa.PythonFile(_KeptOpen(file), "w"), "zstd") as out:
            yield out
        return
    with _packer(suffix, file) as out:
        yield out


def _packer(suffix: str, file: IO[bytes]) -> Any:
    if suffix == ".gz":
        return gzip.GzipFile("", "wb", 6, file, mtime=0)  # no time: equal rows give equal files
    return bz2.BZ2File(file, "wb") if suffix == ".bz2" else lzma.LZMAFile(file, "wb", preset=1)


class _KeptOpen:
    """A file that whoever writes to it cannot close."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.write, self.flush, self.tell = file.write, file.flush, file.tell

    def close(self) -> None:
        self._file.flush()
