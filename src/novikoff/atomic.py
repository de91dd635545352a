"""Files that are replaced at once or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A new file to write to, which takes the place of `path` when the block ends without an error.

    It is on disk by then. Until then it has a temporary name beside `path`, and after an error there is
    neither it nor any change to what was there before.
    """
    target = Path(os.path.realpath(path))  # a link goes on pointing to its file
    passing = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with passing.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        passing.replace(target)
    except OSError as error:
        if error.filename not in (None, str(passing)):  # of another file that the block is at
            raise
        said = f"{error.strerror}; nothing was saved, and what was there before is untouched"
        raise OSError(error.errno, said, str(path)) from None
    finally:
        passing.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # the new name too should survive a power cut, where that is possible
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
