"""Compact storage of whole numbers and texts, for tables of features in model files."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

LEVEL = 1  # of zlib: higher ones take twice the time to save 2 % of the bytes

_WIDTHS = (1, 2, 4, 8)
_HEAD = 9  # the bytes per number, and the number of numbers


def pack_ints(numbers: npt.NDArray[np.integer]) -> Bytes:
    """Numbers ≥ 0 in their narrowest type, as byte planes from the lowest, deflated.

    >>> unpack_ints(pack_ints(np.array([3, 1, 400]))).tolist()
    [3, 1, 400]
    """
    top = int(numbers.max(initial=0))
    width = next(w for w in _WIDTHS if top < 1 << (8 * w - (w == 8)))
    narrow = numbers.astype(f"<u{width}")
    planes = np.ascontiguousarray(narrow.view(np.uint8).reshape(-1, width).T)
    head = width.to_bytes(1, "little") + len(numbers).to_bytes(8, "little")
    return np.frombuffer(head + zlib.compress(planes.tobytes(), LEVEL), dtype=np.uint8)


def unpack_ints(packed: Bytes) -> npt.NDArray[np.int64]:
    """The numbers that `pack_ints` packed; a ValueError if the data is invalid."""
    raw = packed.tobytes()
    width, n = raw[0] if raw else 0, int.from_bytes(raw[1:_HEAD], "little")
    if width not in _WIDTHS or len(raw) < _HEAD or n > 1 << 40:
        raise ValueError("packed numbers have no head")
    planes = np.frombuffer(_inflated(raw[_HEAD:], width * n), dtype=np.uint8).reshape(width, n)
    return np.ascontiguousarray(planes.T).reshape(-1).view(f"<u{width}").astype(np.int64)


def pack_texts(texts: Iterable[str]) -> tuple[Bytes, Bytes]:
    """Texts as deflated UTF-8, and their packed lengths in bytes.

    >>> unpack_texts(*pack_texts(["in", "", "the"]))
    ['in', '', 'the']
    """
    parts = [text.encode() for text in texts]
    lengths = np.array([len(part) for part in parts], dtype=np.int64)
    return np.frombuffer(zlib.compress(b"".join(parts), 6), dtype=np.uint8), pack_ints(lengths)


def unpack_texts(content: Bytes, lengths: Bytes) -> list[str]:
    """The texts that `pack_texts` packed."""
    sizes = unpack_ints(lengths)
    ends = np.cumsum(sizes).tolist()
    raw = _inflated(content.tobytes(), ends[-1] if ends else 0)
    return [raw[end - size : end].decode() for end, size in zip(ends, sizes.tolist(), strict=True)]


def _inflated(packed: bytes, size: int) -> bytes:
    """Exactly `size` bytes; never inflates more, whatever the file contains."""
    inflater = zlib.decompressobj()
    try:
        out = inflater.decompress(packed, size) if size else b""
    except zlib.error as error:
        raise ValueError(f"packed data is damaged ({error})") from None
    if len(out) != size:
        raise ValueError("packed data does not have its declared size")
    return out
