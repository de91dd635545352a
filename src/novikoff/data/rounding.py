"""Numbers as doubles: exact, refused, or rounded on request.

A double holds every integer up to 2⁵³, and beyond it those with at most 53 significant bits. Verdicts, bounds
and certificates are about the doubles, so an integer, a timestamp, a long double or a fraction that no double
holds is refused: otherwise two rows could silently become equal. Decimals (`decimal.Decimal`, and text
with a point or an exponent) mean the double nearest to them; digits only are an integer.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Marks = npt.NDArray[np.bool_]

INTEGER = re.compile(r"[+-]?\d+", re.ASCII)  # text that is an integer, not a decimal
EXACT_UP_TO = 2**53
ADVICE = "subtract an offset or scale first, or ask for rounding='nearest'"


class RoundingWarning(UserWarning):
    """Numbers that no double holds were rounded to the nearest one, as `rounding="nearest"` asks."""


class Rounding:
    """How numbers that no double holds are treated: refused ("never"), or rounded and counted ("nearest").

    >>> rounding = Rounding("nearest")
    >>> rounding.meet(1, 2**53 + 1, float(2**53 + 1), "X[0, 2]")
    >>> rounding.count, rounding.first
    (1, '9007199254740993 at X[0, 2]')
    >>> Rounding().meet(1, 2**53 + 1, float(2**53 + 1), "X[0, 2]")
    Traceback (most recent call last):
        ...
    ValueError: X[0, 2] is 9007199254740993, which no double holds (the nearest is \
9007199254740992): subtract an offset or scale first, or ask for rounding='nearest'.
    """

    def __init__(self, how: str = "never") -> None:
        self.refuses = how != "nearest"
        self.count, self.first = 0, ""

    def meet(self, count: int, value: Any, nearest: float, place: str) -> None:
        """Refuse the value, the first of `count`, or count them."""
        if self.refuses:
            raise ValueError(f"{place} is {shown(value)}, which {no_double(nearest)}: {ADVICE}.")
        self.add(count, f"{shown(value)} at {place}")

    def add(self, count: int, first: str) -> None:
        """Count `count` more, of which the first is described."""
        self.count, self.first = self.count + count, self.first or first

    def warn(self, stacklevel: int = 2) -> None:
        """Warn how many were rounded, if any."""
        if self.count:
            what = "1 value" if self.count == 1 else f"{self.count:,} values"
            warnings.warn(
                f"{what} rounded to the nearest double; the first is {self.first}.",
                RoundingWarning,
                stacklevel=stacklevel + 1,
            )


def shown(value: Any) -> str:
    """A number as a message shows it.

    >>> shown(10**500), shown(2**53 + 1)
    ('1000000000000000000000000000000000000000...', '9007199254740993')
    """
    try:
        text = str(value)  # not format(), which converts a long double to a double
    except ValueError:  # an integer of thousands of digits
        return f"an integer of {int(value).bit_length():,} bits"
    return text if len(text) <= 60 else text[:40] + "..."


def no_double(nearest: float) -> str:
    """The part of a message about a number that no double holds."""
    if not math.isfinite(nearest):
        return "is beyond every double"
    near = str(int(nearest)) if nearest == int(nearest) else repr(nearest)
    return f"no double holds (the nearest is {shown(near)})"


def is_plain(dtype: Any) -> bool:
    """Whether a double holds every number of a type.

    >>> [is_plain(np.dtype(name)) for name in ("?", "i4", "f8", ">f8", "i8", "u8", "g", "M8[s]", "O")]
    [True, True, True, True, False, False, False, False, False]
    """
    if not isinstance(dtype, np.dtype):
        return False
    return dtype.kind == "b" or dtype.itemsize <= {"f": 8, "i": 4, "u": 4}.get(dtype.kind, 0)


def as_doubles(values: npt.NDArray[Any], rounding: Rounding, place: Callable[[int], str]) -> Floats:
    """The values as float64 of the same shape; `place` names one by its number in the flattened array.

    >>> as_doubles(np.array([2**60, 2**53 + 1]), Rounding(), "value {}".format)
    Traceback (most recent call last):
        ...
    ValueError: value 1 is 9007199254740993, which no double holds (the nearest is 9007199254740992): \
subtract an offset or scale first, or ask for rounding='nearest'.
    """
    kind = values.dtype.kind
    if kind in "USO":
        return _from_objects(values.astype(object, copy=False), rounding, place)
    if kind in "Mm":
        missing = np.isnat(values)
        if missing.any():
            at = place(int(np.flatnonzero(missing.ravel())[0]))
            raise ValueError(f"{at} is NaT. Remove or impute such rows first.")
        ticks = values.astype(values.dtype.newbyteorder("="), copy=False).view(np.int64)
        bad, doubles = _inexact_integers(ticks), ticks.astype(np.float64)
    elif kind in "iu":
        bad, doubles = _inexact_integers(values), values.astype(np.float64)
    elif kind == "f" and values.dtype.itemsize > 8:
        with np.errstate(over="ignore", under="ignore"):
            doubles = values.astype(np.float64)
        same: Any = (doubles == values) | np.isnan(values)
        bad = None if same.all() else ~same
    elif kind in "bf":
        return values.astype(np.float64)
    elif kind == "c":
        raise ValueError("Complex data not supported: expected real numbers.")
    else:
        raise ValueError(f"{place(0)} is of type {values.dtype}, where a number is expected.")
    if bad is not None and bad.any():
        k = int(np.flatnonzero(bad.ravel())[0])
        nearest: float = doubles.ravel()[k].item()
        first = values.ravel()[k]
        text = f"{first} ({first.view(np.int64)} as a number)" if kind in "Mm" else str(first)
        rounding.meet(int(np.count_nonzero(bad)), text, nearest, place(k))
    return doubles


def as_array(values: Any) -> npt.NDArray[Any]:
    """A list or array-like as an array, with its numbers unchanged: as objects if NumPy would round them."""
    array = np.asarray(values)
    is_float = array.dtype.kind == "f" and isinstance(values, list | tuple)
    if is_float and not (np.abs(array) < EXACT_UP_TO).all():  # an integer beside a float may be rounded
        array = np.array(values, dtype=object)
    return array


def exact_doubles(values: Any, place: Callable[[int], str]) -> Floats:
    """The numbers of a list or an array as float64; one that no double holds is refused.

    >>> exact_doubles([1, 0.5], "value {}".format)
    array([1. , 0.5])
    """
    array = as_array(values)
    if is_plain(array.dtype):
        return array.astype(np.float64, copy=False)
    return as_doubles(array, Rounding(), place)


def _inexact_integers(values: npt.NDArray[Any]) -> Marks | None:
    """Which integers have more than 53 significant bits; None where all are small."""
    if not values.size or (int(values.min()) >= -EXACT_UP_TO and int(values.max()) <= EXACT_UP_TO):
        return None
    sizes = values.astype(np.uint64) if values.dtype.kind == "u" else np.abs(values).astype(np.uint64)
    lowest = sizes & (~sizes + np.uint64(1))  # the lowest set bit; sizes/lowest is odd
    marks: Marks = (sizes >> np.uint64(53) >= lowest) & (sizes != 0)
    return marks


def _from_objects(values: npt.NDArray[Any], rounding: Rounding, place: Callable[[int], str]) -> Floats:
    doubles = np.empty(values.size)
    first, count = -1, 0
    for k, value in enumerate(values.ravel().tolist()):
        try:
            doubles[k], exact = nearest_double(value)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{place(k)} is {value!r}, where a number is expected: {error}") from None
        if not exact:
            first, count = (k if first < 0 else first), count + 1
    if count:
        rounding.meet(count, values.ravel()[first], float(doubles[first]), place(first))
    return doubles.reshape(values.shape)


def nearest_double(value: Any) -> tuple[float, bool]:
    """The double nearest to a number of any kind, and whether that is what the number means.

    >>> from fractions import Fraction
    >>> nearest_double(Decimal("0.1")), nearest_double(Fraction(1, 3))[1], nearest_double(str(2**53 + 1))[1]
    ((0.1, True), False, False)
    """
    if isinstance(value, str | bytes):
        text = (value.decode() if isinstance(value, bytes) else value).strip()
        if not INTEGER.fullmatch(text):
            return float(text), True
        sign, digits = text[: len(text) - len(text.lstrip("+-"))], text.lstrip("+-0") or "0"
        value = int(sign + digits[:400])  # more digits are beyond every double too, and int() refuses them
    elif isinstance(value, Decimal) and value.is_finite() and value.as_tuple().exponent == 0:
        value = int(value)  # digits only
    elif isinstance(value, np.datetime64 | np.timedelta64):
        raise TypeError("float() argument must be a string or a real number, not a time")
    elif isinstance(value, Integral):
        value = int(value)
    if isinstance(value, Rational):
        try:
            nearest = float(value)
        except OverflowError:
            return (math.inf if Fraction(value) > 0 else -math.inf), False
        return nearest, nearest == value  # Python compares them exactly
    if isinstance(value, np.longdouble):
        with np.errstate(over="ignore", under="ignore"):
            nearest = float(value)
        return nearest, bool(nearest == value) or math.isnan(nearest)
    return float(value), True
