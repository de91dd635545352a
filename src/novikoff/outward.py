"""Numbers rounded in a known direction, so that statements with them hold for real numbers.

A bracket such as margin ≤ γ ≤ ‖w‖/Στ is a statement about real numbers: its lower end is rounded down and its
upper end up, also when printed in decimal. A report needs only a few such numbers, so fractions are
affordable; they neither overflow nor vanish.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from novikoff import _core

Floats = npt.NDArray[np.float64]
Enclosure = tuple[Fraction, Fraction]  # a lower and an upper bound on a number

EXACT = 1 << 20  # up to this many numbers, squares are summed exactly
LARGEST = math.ldexp(2.0 - 2.0**-52, 1023)
UNIT = Fraction(1, 2**53)  # the relative error of one operation
ROOT_BITS = 80  # of a root before it is rounded to a double


# ---- fractions to doubles ----------------------------------------------------------------------------
def down(q: Fraction) -> float:
    """The largest double that is no more than q.

    >>> down(Fraction(1, 10)), up(Fraction(1, 10)), down(Fraction(1, 2))
    (0.09999999999999999, 0.1, 0.5)
    """
    try:
        near = q.numerator / q.denominator  # correctly rounded
    except OverflowError:
        return LARGEST if q > 0 else -math.inf
    return math.nextafter(near, -math.inf) if math.isinf(near) or Fraction(near) > q else near


def up(q: Fraction) -> float:
    """The smallest double that is no less than q."""
    return 0.0 - down(-q)


def _root(q: Fraction) -> tuple[Fraction, bool]:
    """√q truncated to `ROOT_BITS` bits, and whether that is exact."""
    shift = ROOT_BITS - (q.numerator.bit_length() - q.denominator.bit_length()) // 2
    scaled = q * Fraction(4) ** shift
    whole = math.isqrt(int(scaled))
    return Fraction(whole) / Fraction(2) ** shift, whole * whole == scaled


def root_down(q: Fraction) -> float:
    """A double that is no more than √q, and at most one step below it.

    >>> root_down(Fraction(25)), root_down(Fraction(5)) ** 2 < 5 < root_up(Fraction(5)) ** 2
    (5.0, True)
    """
    return down(_root(q)[0]) if q > 0 else 0.0


def root_up(q: Fraction) -> float:
    """A double that is no less than √q, and at most one step above it."""
    if q <= 0:
        return 0.0
    root, exact = _root(q)
    return up(root if exact else root * (1 + Fraction(4, 2**ROOT_BITS)))


def margin_down(least: Fraction | float, low: Fraction, high: Fraction) -> tuple[float, float]:
    """least/‖w‖ rounded down, for ‖w‖² between `low` and `high`; and its inverse squared, rounded up.

    The latter is ‖v‖² of v = w/least, whose smallest product is 1; it is infinite if least ≤ 0.

    >>> margin_down(3.0, Fraction(25), Fraction(25)), margin_down(-3.0, Fraction(25), Fraction(25))
    ((0.6, 2.777777777777778), (-0.6000000000000001, inf))
    """
    if not low > 0 or least in (math.inf, -math.inf):
        return -math.inf if least < 0 < high else 0.0, math.inf
    if least <= 0:
        return -root_up(Fraction(least) ** 2 / low) if least else 0.0, math.inf
    return root_down(Fraction(least) ** 2 / high), up(high / Fraction(least) ** 2)


# ---- sums of squares ---------------------------------------------------------------------------------
def enclosed_square(w: Floats) -> Enclosure:
    """Σ w², enclosed."""
    largest = float(np.abs(w).max(initial=0.0))
    if not largest:
        return Fraction(0), Fraction(0)
    shift = 0 if 2.0**-200 < largest < 2.0**200 else math.frexp(largest)[1]
    if shift or w.size > EXACT:
        w = np.ldexp(w, -shift) if shift else w
        near, slack = Fraction(float(np.vdot(w, w))), (w.size + 8) * 2 * UNIT
        low, high = near * (1 - slack), near * (1 + slack)
        return low * Fraction(4) ** shift, high * Fraction(4) ** shift
    value = _core.exact_dot(w, w)[1]
    rest = _core.exact_dot(np.append(w, value), np.append(w, -1.0))[0]  # the sign of the rounding error
    ends = (
        math.nextafter(value, 0.0) if rest < 0 else value,
        math.nextafter(value, math.inf) if rest > 0 else value,
    )
    return Fraction(ends[0]), Fraction(ends[1])


# ---- bounds ------------------------------------------------------------------------------------------
def at_most(top: Fraction | float, gamma: float) -> float:
    """top/γ² rounded up, for a γ that is rounded down; infinite if γ is not positive.

    >>> at_most(5.0, 1.0), at_most(5.0, 0.0), at_most(2.0**-1060, 2.0**-530)
    (5.0, inf, 1.0)
    """
    if not gamma > 0 or top == math.inf:
        return math.inf
    return up(Fraction(top) / Fraction(gamma) ** 2) if gamma < math.inf else 0.0


def at_least(top: Fraction | float, gamma: float) -> float:
    """top/γ² rounded down, for a γ that is rounded up; 0 if γ is infinite, and infinite if γ is 0.

    >>> at_least(5.0, 1.0), at_least(5.0, 0.0), at_least(5.0, math.inf), at_least(1.0, 3.0) * 9 <= 1
    (5.0, inf, 0.0, True)
    """
    if math.isinf(gamma) or math.isnan(gamma):
        return 0.0
    if gamma <= 0:
        return math.inf
    return down(Fraction(top) / Fraction(gamma) ** 2) if top < math.inf else LARGEST


# ---- doubles to decimals -----------------------------------------------------------------------------
def floor_text(value: float, digits: int = 6) -> str:
    """A number in `digits` significant digits: as with `:.6g`, but rounded down.

    >>> floor_text(0.29999999), ceil_text(0.30000001), floor_text(5.0), ceil_text(1e-20 / 3)
    ('0.299999', '0.300001', '5', '3.33334e-21')
    """
    return _text(value, digits, ROUND_FLOOR)


def ceil_text(value: float, digits: int = 6) -> str:
    """The same, rounded up."""
    return _text(value, digits, ROUND_CEILING)


def floor_count(value: float, *, whole: float = 100, most: float = 1e7, digits: int = 4) -> str:
    """A bound on a count, rounded down for display; a whole number from `whole` to `most`.

    >>> floor_count(1234.9), ceil_count(1234.1), floor_count(4.99999), ceil_count(5.0), ceil_count(3e9 + 1)
    ('1,234', '1,235', '4.999', '5', '3.001e+09')
    """
    return f"{math.floor(value):,}" if whole <= value < most else floor_text(value, digits)


def ceil_count(value: float, *, whole: float = 100, most: float = 1e7, digits: int = 4) -> str:
    """The same, rounded up."""
    return f"{math.ceil(value):,}" if whole <= value < most else ceil_text(value, digits)


def count_text(value: float) -> str:
    """A count, or a mean of counts, rounded to nearest for display.

    >>> count_text(5.0), count_text(1234567.0), count_text(0.00012345), count_text(math.nan)
    ('5', '1,234,567', '0.0001234', '?')
    """
    if not math.isfinite(value):
        return "?"
    whole = 100 <= abs(value) < 1e9 or (value == round(value) and abs(value) < 1e9)
    return f"{value:,.0f}" if whole else f"{value:.4g}"


def _text(value: float, digits: int, rounding: str) -> str:
    if not math.isfinite(value) or not value:
        return f"{value:g}"
    rounded = Context(prec=digits, rounding=rounding, Emin=-2000, Emax=2000).create_decimal(Decimal(value))
    power = rounded.adjusted()
    if -5 < power < digits:
        text = f"{rounded:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    text = f"{rounded.scaleb(-power):f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}e{power:+03d}"
