"""A compact binary copy of a source next to its file, so that later passes need not parse the text again.

The copy holds the rows as blocks of arrays, and at its end a directory of the blocks with the names of the
columns. Values are stored in a smaller form that restores them exactly: not at all if all are 1, as whole
numbers that represent decimals (0.1234 is 1234 over 10^4, and that quotient, rounded once, is the double that
the text gives), as float32, or unchanged. A cache belongs to the bytes and options it was made from: other
options use another cache, and if the bytes change, the cache is rewritten.

A cache is trusted only if no other user could have written it: it must be a regular file that belongs to the
user and that no other user may write to. A fit keeps one descriptor from its first access to its last pass,
so it does not read a cache that another process puts in its place, and checks every block on every pass.
"""

from __future__ import annotations

import errno
import json
import math
import os
import stat
import weakref
import zlib
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from novikoff.data import state as data_state
from novikoff.data.rounding import Rounding
from novikoff.data.sources.block import Block, Csr, Floats, Labels
from novikoff.data.sources.source import Skipped, Source
from novikoff.data.text_labels import TextLabels
from novikoff.modelfile import checks
from novikoff.outfile import replacing

MAGIC = b"novikoff cache 2"  # 1: integers that no double holds may have been rounded
FOOTER = 16 + 32 + len(MAGIC)  # start and length of the directory, its digest, the magic again


def cached(source: Source, path: Path | None = None) -> Source:
    """The same source, read through a cache: at `path`, or at ``<file>.<digest of the options>.cache``."""
    if not source.can_reread or not source.files or source.options.get("of_model"):
        raise ValueError(f"{source.name}: only training files can be cached.")
    return CachedSource(source, cache_path(source) if path is None else path)


def cache_path(source: Source) -> Path:
    """The path of the cache of a source: fits with other files or options never share one."""
    key = json.dumps([list(map(str, source.files)), source.options], sort_keys=True)
    digest = blake2b(key.encode(), digest_size=8).hexdigest()
    return Path(f"{source.files[0]}.{digest}.cache")


class CachedSource(Source):
    """A source whose first complete pass writes the cache, unless it exists; later passes read it."""

    def __init__(self, source: Source, path: Path) -> None:
        self.source, self.path = source, path
        self.name, self.format, self.size = source.name, source.format, source.size
        self.files, self.options, self.can_reread = source.files, source.options, True
        self.jobs = source.jobs
        self.skipped, self.rounded = Skipped(), Rounding()
        self._key = {"digest": source.digest(), "size": source.size, "options": source.options}
        self._directory: dict[str, Any] | None = None
        self._descriptor = -1  # of the cache, once it was found or written
        self.features = source.features
        self._open()

    def doubts(self) -> list[str]:
        return self.source.doubts()

    def digest(self) -> str:
        return str(self._key["digest"])

    # -- reading
    def _open(self) -> None:
        """Use the existing cache if it is complete and belongs to this source."""
        descriptor = _trusted(self.path)
        if descriptor is None:
            return
        self._keep(descriptor)
        try:
            with open(descriptor, "rb", closefd=False) as file:
                directory, arrays = _read_directory(file)
            if directory["key"] != json.loads(json.dumps(self._key)):
                return
            features = data_state.features_from_state(directory["features"], arrays, None)
            Skipped(**directory["skipped"])
            Rounding().add(*directory["rounded"])
            if not (isinstance(directory["blocks"], list) and isinstance(directory["labels"], list)):
                return
        except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            return  # it is rewritten
        self.features = features
        self._directory = directory

    def _keep(self, descriptor: int) -> None:
        self._descriptor = descriptor
        weakref.finalize(self, os.close, descriptor)

    def blocks(self, *, reuse: bool = False) -> Iterator[Block]:
        if self._directory is None:
            yield from self._written(reuse)
            return
        self.skipped, self.rounded = Skipped(**self._directory["skipped"]), Rounding()
        self.rounded.add(*self._directory["rounded"])
        buffer, rows = bytearray(), 0
        for number, entry in enumerate(self._directory["blocks"]):
            block, buffer = self._block(entry, buffer if reuse else bytearray(), number, rows)
            rows += block.n_rows
            yield block
        self._warn_rounded()

    def _block(
        self, entry: dict[str, Any], buffer: bytearray, number: int, before: int
    ) -> tuple[Block, bytearray]:
        """A block after `before` rows, and the buffer that holds it."""
        assert self._directory is not None
        name = f"{self.name} (cached)"
        try:
            view = self._read(entry, buffer)
            block = _block(view, entry, self._directory["labels"], name, before)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError):
            raise ValueError(
                f"{self.path}: the cache is damaged; delete it, and the next run writes a new one."
            ) from None
        block.place = number, before
        block = block.widened(self.features.n_columns)
        return block, view.obj  # type: ignore[return-value]

    def _read(self, entry: dict[str, Any], buffer: bytearray) -> memoryview:
        """The bytes of a block, in `buffer` if they fit."""
        at, size = int(entry["at"]), int(entry["size"])
        if at < 0 or size < 0 or at + size > os.fstat(self._descriptor).st_size:
            raise ValueError("it ends too early")
        if len(buffer) < size:
            buffer = bytearray(size)
        view, done = memoryview(buffer)[:size], 0
        while done < size and (read := os.preadv(self._descriptor, [view[done:]], at + done)):
            done += read
        if done < size or zlib.crc32(view) != entry["crc"]:
            raise ValueError("its checksum differs")
        return view

    @property
    def only_in_order(self) -> str:
        return ""

    def again(self, place: tuple[int, int]) -> Block:
        assert self._directory is not None
        number, before = place
        return self._block(self._directory["blocks"][number], bytearray(), number, before)[0]

    def divide(self, size: int) -> None:
        self.source.divide(size)

    # -- writing
    def _written(self, reuse: bool) -> Iterator[Block]:
        """The source's own blocks, each also written; the cache appears when all are written."""
        entries: list[dict[str, Any]] = []
        known: dict[Any, int] = {}  # labels and their numbers
        rows = 0
        with replacing(self.path) as file:
            file.write(MAGIC)
            for block in self.source.blocks(reuse=reuse):
                block.place, rows = (len(entries), rows), rows + block.n_rows
                entries.append(_write_block(file, block, known))
                yield block
            self.skipped, self.rounded = self.source.skipped, self.source.rounded
            self._has_warned = True  # the source did
            facts, arrays = data_state.features_state(self.source.features)
            directory = {
                "key": self._key,
                "features": facts,
                "labels": list(known),
                "blocks": entries,
                "skipped": vars(self.skipped),
                "rounded": [self.rounded.count, self.rounded.first],
            }
            _write_directory(file, directory, arrays)
            file.flush()
            os.fchmod(file.fileno(), os.fstat(file.fileno()).st_mode & 0o755)  # else it is not trusted
            self._keep(os.open(file.name, os.O_RDONLY | os.O_CLOEXEC))
        self._directory = json.loads(json.dumps(directory))


def _trusted(path: Path) -> int | None:
    """A descriptor of the cache at `path`; None if there is no file.

    Raises a ValueError for a file that cannot be trusted and must not be overwritten.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise _foreign(path, "is a link") from None
    status, problem = os.fstat(descriptor), ""
    if not stat.S_ISREG(status.st_mode):
        problem = "is not a regular file"
    elif status.st_uid != os.geteuid():
        problem = "belongs to another user"
    elif status.st_mode & 0o022:
        problem = "may be written to by other users"
    elif os.pread(descriptor, len(MAGIC), 0) != MAGIC:
        problem = "is not a cache"
    if problem:
        os.close(descriptor)
        raise _foreign(path, problem)
    return descriptor


def _foreign(path: Path, problem: str) -> ValueError:
    return ValueError(
        f"{path} {problem}, so it is neither read nor replaced: move it, or run without a cache."
    )


def _write_block(file: IO[bytes], block: Block, known: dict[Any, int]) -> dict[str, Any]:
    """Append a block's arrays; returns its entry in the directory."""
    X, arrays, decimals = block.X, {}, -1
    if isinstance(X, Csr):
        if not len(X.data) or (X.data != 1).any():  # ones are not stored
            arrays["data"], decimals = _small(X.data)
        arrays["indices"], arrays["indptr"] = X.indices, X.indptr
    else:
        arrays["dense"], decimals = _small(X)
    if block.labels is not None:
        places: npt.NDArray[Any]
        if isinstance(block.labels, TextLabels):
            found, places = block.labels.texts, block.labels.codes
        else:
            values, places = np.unique(block.labels, return_inverse=True)
            found = values.tolist()
        numbers = [known.setdefault(label, len(known)) for label in found]
        arrays["labels"] = np.array(numbers, dtype=np.int32)[places]
    if block.weights is not None:
        arrays["weights"] = block.weights
    entry: dict[str, Any] = {"at": file.tell(), "decimals": decimals, "arrays": {}, "crc": 0}
    for name, array in arrays.items():
        content = array.tobytes() + bytes(-array.nbytes % 8)  # keeps the arrays aligned
        entry["arrays"][name] = [array.dtype.str, *array.shape]
        entry["crc"] = zlib.crc32(content, entry["crc"])
        file.write(content)
    entry["size"] = file.tell() - entry["at"]
    entry |= {"rows": X.shape[0], "columns": X.shape[1], "consumed": block.consumed}
    return entry | {"sorted": X.is_sorted if isinstance(X, Csr) else True}


def _small(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], int]:
    """The values in a smaller form, and their number of decimals if that form is whole numbers, or −1."""
    with np.errstate(over="ignore", invalid="ignore"):
        if values.ndim == 2:  # what the loops read in place comes first: there is much of it
            for dtype in (np.uint8, np.float32):
                small = values.astype(dtype)
                if (small == values).all():
                    return small, -1
        for decimals in range(7):
            power = 10.0**decimals
            few = values[:64]  # which nearly always decide
            if (np.rint(few * power) / power != few).any():
                continue
            whole = np.rint(values * power)
            largest = np.abs(whole).max(initial=0)
            if (whole / power == values).all() and largest < 2**31:
                # a negative zero is restored as zero, which does not affect weights
                return whole.astype(np.min_scalar_type(-int(largest) - 1)), decimals
        single = values.astype(np.float32)
    return (single if (single == values).all() else values), -1


# The possible arrays of a block; those of values may be whole numbers (see `decimals`).
VALUES = ("|u1", "<f4", "<f8", "|i1", "<i2", "<i4", "<u2", "<u4")
TYPES = {"indices": ("<i4", "<i8"), "indptr": ("<i4", "<i8"), "labels": ("<i4",), "weights": ("<f8",)}


def _block(view: memoryview, entry: dict[str, Any], known: list[Any], name: str, before: int) -> Block:
    """A block from its bytes. Whatever they are, the block is valid, or an error is raised."""
    found: dict[str, npt.NDArray[Any]] = {}
    at, n_rows, n_columns = 0, int(entry["rows"]), int(entry["columns"])
    for key, (dtype, *shape) in entry["arrays"].items():
        if dtype not in TYPES.get(key, VALUES) or any(size < 0 for size in shape):
            raise ValueError(key)
        found[key] = np.frombuffer(view, dtype, math.prod(shape), at).reshape(shape)
        at += -(-found[key].nbytes // 8) * 8
    key = "dense" if "dense" in found else "data"
    if 0 <= entry["decimals"] < 7:
        found[key] = found[key] / 10.0 ** entry["decimals"]
    elif key in found and found[key].dtype.str not in VALUES[:3]:
        raise ValueError(key)
    X: Any = found.get("dense")
    if X is None:
        indices, indptr = found["indices"], found["indptr"]
        data = found["data"] if "data" in found else np.ones(len(indices), dtype=np.float32)
        if not (len(data) == len(indices) == indptr[-1] and len(indptr) == n_rows + 1):
            raise ValueError("indptr")
        if len(indices) and not 0 <= indices.min() <= indices.max() < n_columns:  # the loops look but once
            raise ValueError("indices")
        X = Csr(data, indices, indptr, (n_rows, n_columns), bool(entry["sorted"]))
    elif X.shape != (n_rows, n_columns):
        raise ValueError("dense")
    labels: Labels | None = None
    if "labels" in found:
        if found["labels"].min(initial=0) < 0 or len(found["labels"]) != n_rows:
            raise ValueError("labels")
        numbers = known and not isinstance(known[0], str)
        codes = found["labels"]
        labels = np.array(known, dtype=np.float64)[codes] if numbers else TextLabels.coded(codes, known)
    weights: Floats | None = found.get("weights")
    if weights is not None and not (
        len(weights) == n_rows and (weights >= 0).all() and np.isfinite(weights).all()
    ):
        raise ValueError("weights")
    return Block(X, labels, weights, entry["consumed"], lambda row: f"{name}, row {before + row + 1}")


def _write_directory(file: IO[bytes], directory: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> None:
    from safetensors.numpy import save

    text = np.frombuffer(json.dumps(directory).encode(), dtype=np.uint8)
    content = save({"directory": text} | checks.under("features", arrays))
    at = file.tell()
    file.write(content)
    file.write(at.to_bytes(8, "little") + len(content).to_bytes(8, "little"))
    file.write(blake2b(content, digest_size=32).digest() + MAGIC)


def _read_directory(file: IO[bytes]) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    from safetensors.numpy import load

    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - FOOTER, 0))
    footer = file.read()
    at, length = int.from_bytes(footer[:8], "little"), int.from_bytes(footer[8:16], "little")
    if len(footer) < FOOTER or footer[48:] != MAGIC or at + length + FOOTER != size:
        raise ValueError("is not a cache, or is truncated")
    file.seek(at)
    content = file.read(length)
    if blake2b(content, digest_size=32).digest() != footer[16:48]:
        raise ValueError("is damaged")
    arrays = load(content)
    return json.loads(arrays.pop("directory").tobytes()), checks.sub("features", arrays)
