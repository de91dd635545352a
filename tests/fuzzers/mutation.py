"""Ways to change bytes, JSON values and arrays."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

Rng = np.random.Generator

NUMBERS = (0, 1, -1, 2, 255, 2**31 - 1, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), 2**64, 10**400)
FLOATS = (0.0, -0.0, 0.5, -1.5, 5e-324, 1e308, -1e308, math.inf, -math.inf, math.nan)
TEXTS = ("", "a", "\0", "\n", "é", "\ud800", "perceptron", "float", "w[0]", "0", "nan", "x" * 300)
WORDS = (0, 1, 2, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1)


def one_of(rng: Rng, values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


def damaged(content: bytes, rng: Rng, other: bytes = b"") -> bytes:
    """Bytes with one to four of: bits flipped, bytes drawn, a part cut, doubled, or of another file."""
    out = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(len(out) + 1))
        size = int(min(rng.integers(1, 1 + one_of(rng, (1, 8, 64, 4096))), len(out) - at))
        match int(rng.integers(8)):
            case 0 | 1 if at < len(out):
                out[at] ^= 1 << int(rng.integers(8))
            case 2:
                out[at : at + size] = rng.bytes(size)
            case 3:
                del out[at:]
            case 4:
                del out[at : at + size]
            case 5:
                out[at:at] = out[at : at + size]
            case 6 if other:
                begin = int(rng.integers(len(other)))
                out[at : at + size] = other[begin : begin + size]
            case 7 if at + 8 <= len(out):
                out[at : at + 8] = int(one_of(rng, WORDS)).to_bytes(8, "little")
            case _:
                out[at:] = bytes(len(out) - at)
    return bytes(out)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value, lists and objects included."""
    found = [at] if at else []
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            found += places(item, (*at, key))
    return found


def altered(value: Any, rng: Rng) -> Any:
    """What JSON can say, changed in one to three places."""
    value = copy.deepcopy(value)
    for _ in range(int(rng.integers(1, 4))):
        try:
            ways = places(value)
        except RecursionError:  # it has become deep
            return value
        if not ways:
            return one_of(rng, ([], {}, 0, None, "a"))
        way = one_of(rng, ways)
        inner = value
        for key in way[:-1]:
            inner = inner[key]
        if rng.integers(6) == 0 and isinstance(inner, dict | list):
            inner.pop(way[-1])
        else:
            inner[way[-1]] = other_value(inner[way[-1]], rng)
    return value


def other_value(value: Any, rng: Rng) -> Any:
    """Another value, near this one or of another kind."""
    choice = int(rng.integers(8))
    if choice == 0:
        return one_of(rng, (*NUMBERS, *FLOATS, *TEXTS, None, True, [], {}, [[]], {"a": 1}))
    if choice == 1:
        deep: Any = []
        for _ in range(int(one_of(rng, (3, 200, 5000)))):
            deep = [deep]
        return deep
    if isinstance(value, bool) or value is None:
        return one_of(rng, (True, False, None, 0, 1))
    if isinstance(value, int):
        return one_of(rng, (value + 1, value - 1, -value, value * 2, float(value % 10**9), *NUMBERS))
    if isinstance(value, float):
        return one_of(rng, (value * 2, -value, math.nextafter(value, math.inf), *FLOATS, *NUMBERS))
    if isinstance(value, str):
        k = int(rng.integers(len(value) + 1))
        return one_of(rng, (value[:k], value + value, value[:k] + one_of(rng, TEXTS) + value[k:], *TEXTS))
    if isinstance(value, list):
        k = int(rng.integers(len(value) + 1))
        return one_of(rng, (value[:k], value[::-1], value + value, [], [*value, None], value[k:] + value[:k]))
    return one_of(rng, ({}, [], value | {"more": 0}, list(value)))


def other_array(array: np.ndarray[Any, Any], rng: Rng) -> np.ndarray[Any, Any]:
    """An array of other values, another type or another shape."""
    a = array.copy()
    match int(rng.integers(9)):
        case 0 | 1 | 2 if a.size:
            for _ in range(int(rng.integers(1, 4))):
                a.flat[int(rng.integers(a.size))] = extreme(a.dtype, rng)
        case 3 if a.ndim and len(a):
            return a[: int(rng.integers(len(a)))]
        case 4 if a.ndim:
            return np.concatenate([a, a])
        case 5 if a.ndim:
            return a[::-1]
        case 6:
            kind = one_of(
                rng, ("int8", "int32", "int64", "uint8", "uint16", "uint64", "float32", "float64", "bool")
            )
            return a.astype(kind)
        case 7:
            return a.reshape(one_of(rng, ((-1,), (1, -1), (-1, 1), (1, 1, -1))))
        case 8:
            return a.reshape(-1)[:0]
        case _:
            return np.zeros((int(rng.integers(4)),) * int(rng.integers(4)), a.dtype)
    return a


def extreme(dtype: np.dtype[Any], rng: Rng) -> Any:
    if dtype.kind == "f":
        return one_of(rng, FLOATS)
    if dtype.kind == "b":
        return bool(rng.integers(2))
    limits = np.iinfo(dtype)
    return one_of(rng, (limits.min, limits.max, limits.max - 1, 0, 1, 2, 7, limits.max // 2))
