"""Files that are written completely or not at all, and compressed according to their suffix."""

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
    """The file object to write a file's content to.

    A path is replaced when the block ends without an error, and compressed according to its suffix; an open
    file, a pipe or a device is written to directly.
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

    It is then on disk, with the permissions of the file that it replaces. Until then it has a temporary name
    in the same folder; after an error it is removed, and the old file is unchanged. A process that is killed
    leaves its temporary file, which is removed by the next process that writes to `path`.
    """
    target = Path(os.path.realpath(path))  # a link keeps pointing to its file
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
        if error.filename not in (None, str(passing)):  # the error is about another file that the block uses
            raise
        message = f"{error.strerror}; nothing was saved, and what was there before is untouched"
        raise OSError(error.errno, message, str(path)) from None
    finally:
        if passing is not target:
            passing.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # where possible, the new name also survives a power cut
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _temporary(target: Path) -> tuple[IO[bytes], Path]:
    """A new file in the folder of `target`, locked while open: other processes see that it is in use."""
    while True:
        path = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
        try:
            # Private when it replaces a file, whose permissions it gets at the end.
            mode = 0o600 if target.exists() else 0o666
            file = open(path, "xb", opener=partial(os.open, mode=mode))  # noqa: SIM115
        except OSError as error:
            error.filename = None  # the caller never named this file
            raise
        fcntl.flock(file, fcntl.LOCK_EX)
        if path.exists():  # otherwise it was removed as an orphan before it was locked
            return file, path
        file.close()


def _remove_orphans(target: Path) -> None:
    """Remove temporary files for `target` that no live process holds."""
    name = re.compile(re.escape(f".{target.name}.") + r"[0-9a-f]{8}\.tmp")
    with contextlib.suppress(OSError):  # files that cannot be examined are left alone
        for path in target.parent.iterdir():
            if name.fullmatch(path.name) and path.is_file() and not path.is_symlink():
                with contextlib.suppress(OSError), path.open("rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    path.unlink()


@contextlib.contextmanager
def _packed(file: IO[bytes], suffix: str) -> Iterator[Any]:
    """A writer that compresses into `file` according to the suffix; `file` stays open."""
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
        return gzip.GzipFile("", "wb", 6, file, mtime=0)  # no timestamp: equal rows give equal files
    return bz2.BZ2File(file, "wb") if suffix == ".bz2" else lzma.LZMAFile(file, "wb", preset=1)


class _KeptOpen:
    """A file that its writer cannot close."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.write, self.flush, self.tell = file.write, file.flush, file.tell

    def close(self) -> None:
        self._file.flush()
