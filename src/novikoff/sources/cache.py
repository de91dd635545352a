"""A compact binary copy of a source beside its file, so that later passes need not parse the text again.

The copy holds the rows as blocks of arrays, and at its end a directory of the blocks with the names of the
columns. Values are kept in a form that is smaller and gives them back exactly: not at all where all are 1, as
whole numbers that stand for decimals (0.1234 is 1234 over 10^4, and that quotient, rounded once, is what the
text was read as), as float32, or as they are. It belongs to the bytes and the options it was made from: with
others it is made anew.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from novikoff.models import modelstate
from novikoff.outfile import replacing
from novikoff.rounding import Rounding
from novikoff.sources.block import Block, Csr, Floats, Labels
from novikoff.sources.source import Skipped, Source

MAGIC = b"novikoff cache 2"  # 1: integers that no double holds may have been rounded
FOOTER = 16 + 32 + len(MAGIC)  # where the directory begins, how long it is, its digest, the magic again


def cached(source: Source) -> Source:
    """The same source by way of a cache beside its first file, ``<file>.cache``."""
    if not source.can_reread or not source.files or source.options.get("of_model"):
        raise ValueError(f"{source.name}: only files that are learned from can be cached.")
    return CachedSource(source, Path(f"{source.files[0]}.cache"))


class CachedSource(Source):
    """A source whose first whole pass writes the cache, unless there is one, and whose others read it."""

    def __init__(self, source: Source, path: Path) -> None:
        self.source, self.path = source, path
        self.name, self.format, self.size = source.name, source.format, source.size
        self.files, self.options, self.can_reread = source.files, source.options, True
        self.skipped, self.rounded = Skipped(), Rounding()
        self._key = {"digest": source.digest(), "size": source.size, "options": source.options}
        self._directory: dict[str, Any] | None = None
        self._checked = False  # whether this process has read every block and found it sound
        self.features = source.features
        self._open()

    def digest(self) -> str:
        return str(self._key["digest"])

    # -- reading
    def _open(self) -> None:
        """Use the cache that is there if it is whole and of this source."""
        try:
            with self.path.open("rb") as file:
                directory, arrays = _read_directory(file)
            if directory["key"] != json.loads(json.dumps(self._key)):
                return
            features = modelstate.features_from_state(directory["features"], arrays, None)
        except (OSError, ValueError, KeyError, TypeError):
            return  # it is written anew
        self.features = features
        self._directory = directory

    def blocks(self, *, reuse: bool = False) -> Iterator[Block]:
        if self._directory is None:
            yield from self._written(reuse)
            return
        self.skipped = Skipped(**self._directory["skipped"])
        self.rounded = Rounding()
        self.rounded.add(*self._directory["rounded"])
        buffer, ones = bytearray(), np.ones(0, dtype=np.float32)
        rows = 0
        with self.path.open("rb") as file:
            for entry in self._directory["blocks"]:
                if not reuse or len(buffer) < entry["size"]:
                    buffer = bytearray(entry["size"])
                view = memoryview(buffer)[: entry["size"]]
                file.seek(entry["at"])
                if file.readinto(view) < entry["size"] or not (
                    self._checked or zlib.crc32(view) == entry["crc"]
                ):
                    raise ValueError(f"{self.path}: the cache is damaged; delete it, and it is made anew.")
                if len(ones) < entry["ones"]:
                    ones = np.ones(entry["ones"], dtype=np.float32)
                yield _block(view, entry, self._directory["labels"], ones, f"{self.name} (cached)", rows)
                rows += entry["rows"]
        self._checked = True
        self._warn_rounded()

    # -- writing
    def _written(self, reuse: bool) -> Iterator[Block]:
        """The source's own blocks, each written on its way; the cache is there once all have passed."""
        entries: list[dict[str, Any]] = []
        known: dict[Any, int] = {}  # labels, and the numbers that stand for them
        with replacing(self.path) as file:
            file.write(MAGIC)
            for block in self.source.blocks(reuse=reuse):
                entries.append(_write_block(file, block, known))
                yield block
            self.skipped, self.rounded = self.source.skipped, self.source.rounded
            self._has_warned = True  # by the source
            said, arrays = modelstate.features_state(self.source.features)
            directory = {
                "key": self._key,
                "features": said,
                "labels": list(known),
                "blocks": entries,
                "skipped": vars(self.skipped),
                "rounded": [self.rounded.count, self.rounded.first],
            }
            _write_directory(file, directory, arrays)
        self._directory = json.loads(json.dumps(directory))


def _write_block(file: IO[bytes], block: Block, known: dict[Any, int]) -> dict[str, Any]:
    """Append a block's arrays; returns its entry in the directory."""
    X, arrays, ones, decimals = block.X, {}, 0, -1
    if isinstance(X, Csr):
        if len(X.data) and (X.data == 1).all():
            ones = len(X.data)
        else:
            arrays["data"], decimals = _small(X.data)
        arrays["indices"], arrays["indptr"] = X.indices, X.indptr
    else:
        arrays["dense"], decimals = _small(X)
    if block.labels is not None:
        found, places = np.unique(block.labels, return_inverse=True)
        numbers = [known.setdefault(label, len(known)) for label in found.tolist()]
        arrays["labels"] = np.array(numbers, dtype=np.int32)[places]
    if block.weights is not None:
        arrays["weights"] = block.weights
    entry: dict[str, Any] = {"at": file.tell(), "ones": ones, "decimals": decimals, "arrays": {}, "crc": 0}
    for name, array in arrays.items():
        content = array.tobytes() + bytes(-array.nbytes % 8)  # keeps all aligned
        entry["arrays"][name] = [array.dtype.str, *array.shape]
        entry["crc"] = zlib.crc32(content, entry["crc"])
        file.write(content)
    entry["size"] = file.tell() - entry["at"]
    entry |= {"rows": X.shape[0], "columns": X.shape[1], "consumed": block.consumed}
    return entry | {"sorted": X.is_sorted if isinstance(X, Csr) else True}


def _small(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], int]:
    """The values in a smaller form, and the decimals of which they are whole numbers, or −1."""
    with np.errstate(over="ignore", invalid="ignore"):
        if values.ndim == 2:  # what the loops read in place comes first: there is much of it
            for dtype in (np.uint8, np.float32):
                small = values.astype(dtype)
                if (small == values).all():
                    return small, -1
        for decimals in range(7):
            power = 10.0**decimals
            few = values[:64]  # which tell nearly always
            if (np.rint(few * power) / power != few).any():
                continue
            whole = np.rint(values * power)
            largest = np.abs(whole).max(initial=0)
            if (whole / power == values).all() and largest < 2**31:
                # a negative zero comes back as zero, which no weight can tell
                return whole.astype(np.min_scalar_type(-int(largest) - 1)), decimals
        single = values.astype(np.float32)
    return (single if (single == values).all() else values), -1


def _block(
    view: memoryview, entry: dict[str, Any], known: list[Any], ones: npt.NDArray[Any], name: str, before: int
) -> Block:
    found: dict[str, npt.NDArray[Any]] = {}
    at = 0
    for key, (dtype, *shape) in entry["arrays"].items():
        count = int(np.prod(shape))
        found[key] = np.frombuffer(view, dtype, count, at).reshape(shape)
        at += -(-found[key].nbytes // 8) * 8
    if entry["decimals"] >= 0:
        key = "dense" if "dense" in found else "data"
        found[key] = found[key] / 10.0 ** entry["decimals"]
    shape = entry["rows"], entry["columns"]
    X: Any = found.get("dense")
    if X is None:
        data = found["data"] if "data" in found else ones[: entry["ones"]]
        X = Csr(data, found["indices"], found["indptr"], shape, entry["sorted"])
    labels: Labels | None = None
    if "labels" in found:
        numbers = known and not isinstance(known[0], str)
        labels = np.array(known, dtype=np.float64 if numbers else np.str_)[found["labels"]]
    weights: Floats | None = found.get("weights")
    return Block(X, labels, weights, entry["consumed"], lambda row: f"{name}, row {before + row + 1}")


def _write_directory(file: IO[bytes], directory: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> None:
    from safetensors.numpy import save

    said = np.frombuffer(json.dumps(directory).encode(), dtype=np.uint8)
    content = save({"directory": said} | modelstate.under("features", arrays))
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
        raise ValueError("is no cache, or was cut short")
    file.seek(at)
    content = file.read(length)
    if blake2b(content, digest_size=32).digest() != footer[16:48]:
        raise ValueError("is damaged")
    arrays = load(content)
    return json.loads(arrays.pop("directory").tobytes()), modelstate.sub("features", arrays)
