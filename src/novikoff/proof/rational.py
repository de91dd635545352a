"""Exact linear algebra over the rational numbers, to decide what floats suggest.

Every finite float is an integer times a power of two, so rows of floats become rows of integers if each
column is multiplied by its own power of two; that changes no relation Σ c_i·row_i = 0 and no sign of u·row
for a vector u whose coordinates are divided accordingly. This module computes the following, with Python
integers if they grow large:

- `to_integers`, and `for_rows` for u: this scaling;
- `relation`: the only linear relation among given rows, by Dixon's p-adic lifting;
- `alternative`: which side of Motzkin's theorem of the alternative holds, by an exact simplex method.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Residues = npt.NDArray[np.float64]  # integers from 0 to PRIME − 1
Integers = npt.NDArray[Any]  # int64, or Python integers as objects

PRIME = 2_097_143  # the largest below 2²¹: a product of two, 2,000 times, is exact in float64
LIMB = 20  # bits; a limb times a residue, 2,000 times, is exact in float64
PANEL = 32  # columns eliminated at a time


class Relation(NamedTuple):
    """Σ weights[k]·row[rows[k]] = 0, with positive integers that have no common factor."""

    rows: list[int]
    weights: list[int]


class Direction(NamedTuple):
    """u·row ≥ 0 for every row, and > 0 for the strict ones, as integers without a common factor."""

    u: list[int]


def to_integers(values: npt.NDArray[np.float64]) -> Integers:
    """The matrix with each column multiplied by a power of two, the smallest that makes it all integers.

    >>> to_integers(np.array([[0.5, 4.0], [0.75, -8.0]])).tolist()
    [[2, 1], [3, -2]]
    """
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    lowest = np.where(whole == 0, 1, whole & -whole)
    trailing = np.frexp(lowest.astype(np.float64))[1] - 1
    whole >>= trailing  # odd now, or zero
    exponent = exponent - 53 + trailing
    least = np.where(whole == 0, np.iinfo(exponent.dtype).max, exponent).min(axis=0, initial=1 << 20)
    shift = np.where(whole == 0, 0, exponent - least).astype(np.int64)
    bits = np.frexp(np.abs(whole).astype(np.float64))[1] + shift
    if bits.max(initial=0) <= 62:
        result: Integers = whole << shift
        return result
    long: Integers = whole.astype(object) << shift.astype(object)
    return long


def for_rows(u: list[int], z: npt.NDArray[np.float64]) -> list[int]:
    """Integers u for z itself, from u for `to_integers(z)`, up to one power of two.

    >>> for_rows([1, -1], np.array([[0.5, 4.0], [0.75, -8.0]]))
    [16, -1]
    """
    whole = to_integers(z)
    powers: dict[int, int] = {}  # exponents of two by which the columns were multiplied
    for j, value in enumerate(u):
        rows = np.flatnonzero(z[:, j])
        if len(rows) and value:
            r = int(rows[0])
            powers[j] = int(whole[r, j]).bit_length() - math.frexp(z[r, j])[1]
    least = min(powers.values(), default=0)
    return [value << powers[j] - least if j in powers else 0 for j, value in enumerate(u)]


def is_relation(rows: Integers, weights: list[int]) -> bool:
    """Whether Σ weights_i·rows_i = 0, in integers.

    >>> is_relation(np.array([[2, 1], [-4, -2]]), [2, 1])
    True
    """
    total: Any = np.array(weights, dtype=object) @ rows.astype(object)
    return not any(total.tolist())


# ---- p-adic lifting ----------------------------------------------------------------------------------
def relation(rows: Integers, tick: Callable[[], None] | None = None) -> list[int] | None:
    """Integers c with Σ c_i·row_i = 0, if there is exactly one such relation (up to a factor).

    Elimination modulo a prime finds rank − 1 rows and columns of full rank; the remaining row is a
    combination x of those rows, and x comes digit by digit in base p (Dixon 1982: with C = B⁻¹ mod p and
    r₀ = b, the digits are y_k = C·r_k mod p and r_{k+1} = (r_k − B·y_k)/p) until the rational numbers with
    these digits, found by Euclid's algorithm, satisfy the equations. None if the rows are independent, if
    there is more than one relation, or if the prime is unsuitable for these rows. `tick` is called between
    steps and may raise.

    >>> relation(np.array([[1, 2], [3, 4], [5, 7]]))
    [1, 3, -2]
    """
    m = len(rows)
    if m == 0 or m > 2000:
        return None
    residues = (rows % PRIME).astype(np.float64)
    picked, columns = _eliminate(residues, residues.shape[1], tick)
    if len(picked) != m - 1:
        return None
    (left,) = set(range(m)) - set(picked)
    if not picked:
        return [1] if not rows.any() else None
    B = rows[np.ix_(picked, columns)].T
    b = -rows[left, columns].astype(object)
    lifting = _Lifting(B, b, tick)
    limit = _hadamard_digits(B, b)
    target = 8
    while True:
        lifting.extend(min(target, limit))
        solution = lifting.reconstruct()
        if solution is not None:
            numerators, denominator = solution
            weights = [0] * m
            for i, value in zip(picked, numerators, strict=True):
                weights[i] = value
            weights[left] = denominator
            if is_relation(rows, weights):
                common = math.gcd(*weights)
                first = next(w for w in weights if w)
                return [w // (common if first > 0 else -common) for w in weights]
        if target >= limit:
            return None
        target = target * 3 // 2


def _reduced(A: Residues) -> Residues:
    """A modulo the prime, in place, for integers below 2⁵³; the first quotient may be off by one."""
    quotient = np.floor(A * (1 / PRIME))
    quotient *= PRIME
    A -= quotient
    A[A < 0] += PRIME
    A[A >= PRIME] -= PRIME
    return A


def _eliminate(A: Residues, width: int, tick: Callable[[], None] | None) -> tuple[list[int], list[int]]:
    """Gauss–Jordan elimination modulo the prime, in place, of the first `width` columns.

    Returns rows and columns of the pivots: afterwards column columns[k] is 1 in row rows[k], else 0. Columns
    are processed in panels P of `PANEL` columns: for rows R of full rank in P, A[R] becomes P[R]⁻¹·A[R], and
    P·A[R] is subtracted from the other rows in one product.
    """
    rows: list[int] = []
    columns: list[int] = []
    free = np.ones(len(A), dtype=bool)
    for begin in range(0, width, PANEL):
        if tick is not None:
            tick()
        panel = A[:, begin : min(begin + PANEL, width)].copy()
        own, where = _choose(panel.copy(), free)
        if not own:
            continue
        head = _reduced(_small_inverse(panel[np.ix_(own, where)]) @ A[own])
        tail = panel[:, where]
        tail[own] = 0.0
        A -= tail @ head
        A[own] = head
        _reduced(A)
        free[own] = False
        rows += own
        columns += [begin + j for j in where]
        if not free.any():
            break
    return rows, columns


def _choose(panel: Residues, free: npt.NDArray[np.bool_]) -> tuple[list[int], list[int]]:
    """Free rows and columns of a panel that form a square of full rank; the panel is overwritten."""
    rows: list[int] = []
    columns: list[int] = []
    free = free.copy()
    for j in range(panel.shape[1]):
        candidates = np.flatnonzero(free & (panel[:, j] != 0))
        if not len(candidates):
            continue
        r, others = int(candidates[0]), candidates[1:]
        free[r] = False
        rows.append(r)
        columns.append(j)
        factors = panel[others, j] * pow(int(panel[r, j]), -1, PRIME) % PRIME
        panel[others, j:] = _reduced(panel[others, j:] - np.outer(factors, panel[r, j:]))
    return rows, columns


def _small_inverse(B: Residues) -> Residues:
    """B⁻¹ modulo the prime, row by row."""
    n = len(B)
    A = np.hstack([B, np.eye(n)])
    for j in range(n):
        r = j + int(np.flatnonzero(A[j:, j])[0])
        A[[j, r]] = A[[r, j]]
        A[j] = A[j] * pow(int(A[j, j]), -1, PRIME) % PRIME
        factors = A[:, j].copy()
        factors[j] = 0.0
        A = _reduced(A - np.outer(factors, A[j]))
    return A[:, n:]


def _inverse(B: Residues, tick: Callable[[], None] | None) -> Residues:
    """B⁻¹ modulo the prime, for an invertible B."""
    n = len(B)
    A = np.hstack([B, np.eye(n)])
    rows, columns = _eliminate(A, n, tick)
    inverse = np.empty((n, n))
    inverse[columns] = A[rows, n:]
    return inverse


def _hadamard_digits(B: Integers, b: Integers) -> int:
    """A sufficient number k of digits: |numerators|, |denominator| ≤ H, Hadamard's bound, and p^k > 2·H²."""
    log = 0.0
    for row, right in zip(B.tolist(), b.tolist(), strict=True):
        square = sum(v * v for v in row) + right * right
        log += 0.5 * (square.bit_length() + 1)
    return math.ceil((2 * log + 2) / math.log2(PRIME)) + 2


class _Lifting:
    """The p-adic digits of the solution of B·x = b."""

    def __init__(self, B: Integers, b: Integers, tick: Callable[[], None] | None) -> None:
        self.tick = tick
        self.inverse = _inverse((B % PRIME).astype(np.float64), tick)
        self.limbs = _limbs(B)
        self.rest = b.astype(object)
        self.digits: list[list[int]] = []

    def extend(self, count: int) -> None:
        while len(self.digits) < count:
            if self.tick is not None:
                self.tick()
            residue = (self.rest % PRIME).astype(np.float64)
            y = _reduced(self.inverse @ residue)
            product = sum(((limb @ y).astype(np.int64).astype(object) << shift) for shift, limb in self.limbs)
            self.rest = (self.rest - product) // PRIME
            self.digits.append([int(v) for v in y])

    def reconstruct(self) -> tuple[list[int], int] | None:
        """The rational numbers with a small common denominator that have these digits."""
        modulus = PRIME ** len(self.digits)
        bound = math.isqrt(modulus // 2)
        denominator = 1
        numerators: list[int] = []
        for i in range(len(self.rest)):
            if self.tick is not None:
                self.tick()
            value = _number([line[i] for line in self.digits], PRIME)
            scaled = value * denominator % modulus
            if scaled > modulus // 2:
                scaled -= modulus
            if abs(scaled) > bound:
                found = _fraction(scaled % modulus, modulus, bound)
                if found is None:
                    return None
                scaled, more = found
                denominator *= more
                if denominator > bound:
                    return None
                numerators = [v * more for v in numerators]
            numerators.append(scaled)
        return numerators, denominator


def _limbs(B: Integers) -> list[tuple[int, npt.NDArray[np.float64]]]:
    """B = Σ 2^shift·limb, with limbs of `LIMB` bits; the last limb has the sign."""
    parts = []
    shift, rest = 0, B
    while True:
        top = max((abs(int(v)) for v in (rest.min(initial=0), rest.max(initial=0))), default=0)
        if top < 1 << LIMB:
            parts.append((shift, rest.astype(np.float64)))
            return parts
        parts.append((shift, (rest & ((1 << LIMB) - 1)).astype(np.float64)))
        shift, rest = shift + LIMB, rest >> LIMB


def _number(digits: list[int], base: int) -> int:
    """Σ digits[k]·base^k by halves, so that products have factors of equal length."""
    while len(digits) > 1:
        if len(digits) % 2:
            digits = [*digits, 0]
        digits = [low + high * base for low, high in zip(digits[::2], digits[1::2], strict=True)]
        base *= base
    return digits[0]


def _fraction(value: int, modulus: int, bound: int) -> tuple[int, int] | None:
    """n/d = value modulo `modulus` with |n|, d ≤ bound: Euclid's algorithm, stopped halfway (Wang 1981)."""
    r0, r1, t0, t1 = modulus, value, 0, 1
    while r1 > bound:
        q = r0 // r1
        r0, r1 = r1, r0 - q * r1
        t0, t1 = t1, t0 - q * t1
    if not t1 or abs(t1) > bound:
        return None
    return (r1, t1) if t1 > 0 else (-r1, -t1)


# ---- the exact simplex method ------------------------------------------------------------------------
def alternative(
    rows: Integers,
    strict: npt.NDArray[np.bool_] | None = None,
    tick: Callable[[], None] | None = None,
    afford: Callable[[int], None] | None = None,
) -> Relation | Direction:
    """Decide Motzkin's alternative exactly (Gordan's, if every row is strict).

    Either some u has u·row ≥ 0 for every row and > 0 for the strict ones, or some weights c ≥ 0, not all 0 on
    the strict rows, have Σ c_i·row_i = 0; never both. The method looks for c: it minimises the sum of
    artificial variables a ≥ 0 over rowsᵀ·c + a = 0, Σ_strict c + a₀ = 1. A minimum of 0 gives at most
    columns + 1 weights; a positive minimum gives u, the dual solution. Bland's rule (1977) always terminates;
    it tries rows in the given order. The tableau has integers over one denominator, by Edmonds' pivoting:
    every division is exact. Before each pivot `tick` is called, and `afford` with the bits of the
    denominator, which say how long the integers are; both may raise.

    >>> alternative(np.array([[1, 0], [-1, 0], [0, 1]]))
    Relation(rows=[0, 1], weights=[1, 1])
    >>> alternative(np.array([[1, 0], [-1, 0], [0, 1]]), np.array([False, False, True]))
    Direction(u=[0, 1])
    """
    n, d = rows.shape
    if strict is None:
        strict = np.ones(n, dtype=bool)
    if not strict.any():
        return Direction([0] * d)
    m = d + 1
    # lines: the d coordinates, the normalisation, the cost; columns: artificial, rows, right-hand side
    table = np.zeros((m + 1, m + n + 1), dtype=object)
    table[:d, m : m + n] = rows.T.astype(object)
    table[d, m : m + n] = strict.astype(int).astype(object)
    table[range(m), range(m)] = 1
    table[d, -1] = 1
    table[m] = -table[:m].sum(axis=0)
    table[m, :m] = 0
    basis = list(range(m))
    denominator = 1
    while True:
        if tick is not None:
            tick()
        if afford is not None:
            afford(denominator.bit_length())
        costs = table[m, m : m + n]
        entering = next((j for j, cost in enumerate(costs.tolist(), m) if cost < 0), None)
        if entering is None or table[m, -1] == 0:
            break
        column, right = table[:m, entering].tolist(), table[:m, -1].tolist()
        leaving = -1
        for i in range(m):
            if column[i] <= 0:
                continue
            if leaving >= 0:
                ours, theirs = right[i] * column[leaving], right[leaving] * column[i]
                if (ours, basis[i]) >= (theirs, basis[leaving]):
                    continue
            leaving = i
        # the sum of the artificial variables is bounded below by 0, so some entry is positive
        pivot = column[leaving]
        line = table[leaving].copy()
        table = (table * pivot - np.multiply.outer(table[:, entering], line)) // denominator
        table[leaving] = line
        basis[leaving] = entering
        denominator = pivot
    if table[m, -1] == 0:
        found = [(basis[i] - m, table[i, -1]) for i in range(m) if basis[i] >= m and table[i, -1]]
        common = math.gcd(*(value for _, value in found))
        found.sort()
        return Relation([i for i, _ in found], [value // common for _, value in found])
    # reduced costs of the artificial variables are 1 − y, and u·row ≥ 0 for u = −y
    u = [table[m, i] - denominator for i in range(d)]
    common = math.gcd(*u) or 1
    return Direction([v // common for v in u])
