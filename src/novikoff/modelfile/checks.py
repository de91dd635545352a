"""Checks of the content of model files: a ValueError states what was found and expected."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.modelfile.container import Arrays, Facts

State = tuple[Facts, Arrays]
MOST = 1 << 62  # the largest count: resumed learning then cannot overflow an int64
LARGEST = 1 << 34  # the most weights of a model (128 GiB): a larger claim is refused


# ---- reading facts -----------------------------------------------------------------------------------
def fact(facts: Facts, name: str, kind: type | tuple[type, ...]) -> Any:
    """A fact of this type; True is not a number here."""
    value = facts.get(name)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        expected = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
        raise ValueError(f"{name} is {short(value)}, expected {expected}")
    return value


def count(facts: Facts, name: str, least: int = 0, most: int = MOST) -> int:
    """A whole number in this range."""
    value: int = fact(facts, name, int)
    if not least <= value <= most:
        raise ValueError(f"{name} is {short(value)}, expected a whole number from {least} to {most}")
    return value


def counts(facts: Facts, name: str, n: int) -> list[int]:
    """A list of n whole numbers."""
    values = fact(facts, name, list)
    if len(values) != n:
        raise ValueError(f"{name} is {short(values)}, expected {n} whole numbers")
    return [count({name: value}, name) for value in values]


def digest_of_rows(facts: Facts, name: str) -> tuple[int, int]:
    """The digest of some rows, and their number."""
    match facts.get(name):
        case [str(digest), n] if len(digest) == 16 and set(digest) <= set("0123456789abcdef"):
            return int(digest, 16), count({name: n}, name)
    raise ValueError(f"{name} is {short(facts.get(name))}, expected 16 hexadecimal digits and a number")


def number(facts: Facts, name: str, least: float = -math.inf) -> float:
    """A number, not NaN and not below `least`."""
    given = fact(facts, name, (float, int))
    try:
        value = float(given)
    except OverflowError:
        raise ValueError(f"{name} is {short(given)}, expected a number that float64 holds") from None
    if not value >= least:
        raise ValueError(f"{name} is {value}, expected a number ≥ {least:g}")
    return value


def choice(facts: Facts, name: str, names: tuple[str, ...]) -> str:
    """One of these names."""
    value: str = fact(facts, name, str)
    if value not in names:
        raise ValueError(f"{name} is {short(value)}, expected one of {', '.join(names)}")
    return value


def array(
    arrays: Arrays, name: str, dtype: type, shape: tuple[int | None, ...], *, finite: bool = True
) -> npt.NDArray[Any]:
    """An array of this type and shape (None: any length); floats must be finite unless `finite=False`."""
    found = arrays.get(name)
    if found is None:
        raise ValueError(f"the array {name!r} is missing")
    fits = len(found.shape) == len(shape) and all(
        n in (m, None) for m, n in zip(found.shape, shape, strict=True)
    )
    if found.dtype != dtype or not fits:
        wanted = tuple("any" if n is None else n for n in shape)
        raise ValueError(
            f"the array {name!r} has type {found.dtype} and shape {found.shape}, "
            f"expected {np.dtype(dtype)} and ({', '.join(map(str, wanted))})"
        )
    if finite and found.dtype.kind == "f" and not np.isfinite(found).all():
        raise ValueError(f"the array {name!r} holds NaN or infinity, expected finite numbers")
    return found


def refuse_unknown(facts: Facts, known: Iterable[str], what: str) -> None:
    """Raise a ValueError for settings in a file that this version does not know."""
    unknown = sorted(facts.keys() - set(known))
    if unknown:
        raise ValueError(
            f"it has {what} that this version does not know ({short(', '.join(unknown))}): it is damaged, "
            "or was written by a newer novikoff; update novikoff"
        )


def short(value: Any) -> str:
    try:
        text = "missing" if value is None else repr(value)
    except ValueError:  # an int of thousands of digits
        text = f"an integer of {value.bit_length():,} bits"
    return text if len(text) <= 60 else text[:57] + "..."


def part(facts: Facts, arrays: Arrays, name: str) -> State:
    """The facts and arrays of one part of `together`."""
    return fact(facts, name, dict), sub(name, arrays)


def sub(name: str, arrays: Arrays) -> Arrays:
    """The arrays under a prefix, without it."""
    return {key[len(name) + 1 :]: value for key, value in arrays.items() if key.startswith(f"{name}.")}


def under(name: str, arrays: Arrays) -> Arrays:
    """The arrays with a prefix."""
    return {f"{name}.{key}": value for key, value in arrays.items()}


def together(parts: dict[str, State]) -> State:
    """Named parts combined: one fact per part, and their arrays with their names as prefixes."""
    arrays: Arrays = {}
    for name, (_, held) in parts.items():
        arrays |= under(name, held)
    return {name: facts for name, (facts, _) in parts.items()}, arrays


def finite(facts: Facts, name: str, *, zero: bool = True) -> float:
    """A number in [0, ∞), or in (0, ∞) without `zero`."""
    value = number(facts, name, 0.0)
    if math.isinf(value) or not (value or zero):
        raise ValueError(f"{name} is {value}, expected a finite number {'≥' if zero else '>'} 0")
    return value
