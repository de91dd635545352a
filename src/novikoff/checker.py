"""Checks a certificate against data, and trusts nothing: this file needs only Python and NumPy.

A row x of class y stands for vectors z. Two classes: z = y·x̃, with y = −1 for the first class, +1 for the
second, and x̃ = (x, c), c being the certificate's bias coordinate (0: none). K ≥ 3 classes: one z for every
rival r ≠ y, with x̃ in block y and −x̃ in block r of K blocks. The margin γ of the data is the largest value,
over all u of length 1, of the smallest u·z. Floats are fractions, so that every sum has one true value: it is
computed in float64 with a bound on its error, and in whole numbers where that leaves a doubt.

    python -m novikoff.checker CERTIFICATE DATA [--label COLUMN] [--no-header] [--zero-based]
"""

import argparse
import array
import bz2
import csv
import gzip
import hashlib
import json
import lzma
import math
import re
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

MAX_BYTES = 1 << 28  # of a certificate
MAX_BITS = 1 << 20  # of a whole number in it
MAX_VISITS = 10**9  # of a run
MAX_CLAIMS = 100
ENTRIES = 1 << 20  # that are looked at together
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
LINE = re.compile(r"([^\s:]+)((?:[ \t]+\d+:[-+.\deE]+)*)[ \t]*(#.*)?", re.ASCII)


class Refused(ValueError):
    """What is wrong with a certificate, or with the data, in one line."""


def need(holds: Any, reason: str) -> None:
    if not holds:
        raise Refused(reason)


# ---- the data: rows in order, each with its label in words and its nonzeros ------------------------------
class Data:
    """Rows as a dense array, or as CSR (`data`, `indices`, `indptr`, `shape`), and a label for each."""

    def __init__(self, X: Any, y: Any) -> None:
        sparse = hasattr(X, "indptr")
        self.dense = None if sparse else np.asarray(X)
        values: Any = np.asarray(X.data) if sparse else self.dense
        kind, bits = values.dtype.kind, 8 * values.dtype.itemsize
        need(kind in "fiub" and bits <= 64, "the data must be real numbers of at most 64 bits")
        need(sparse or values.ndim == 2, "the data must have rows and columns")
        self.n, self.width = map(int, X.shape if sparse else values.shape)
        need(len(y) == self.n > 0, f"there are {self.n} rows and {len(y)} labels: expected as many, and some")
        for part in np.array_split(values, max(values.size // ENTRIES, 1)):
            need(np.isfinite(part).all(), "the data hold NaN or infinity")
            need(kind in "fb" or not (abs(part.astype(float)) > 2**53).any(), "integers beyond 2^53")
        if sparse:
            self._canonical(values, np.asarray(X.indices), np.asarray(X.indptr))
        self.width = max(int(self.take(rows)[1].max(initial=-1)) + 1 for rows in self.parts())
        if self.dense is not None:
            self.dense = self.dense[:, : self.width]  # columns of zeros at the end are none
        texts = [as_text(label) for label in np.asarray(y).tolist()]
        self.names = sorted(set(texts))
        place = {name: k for k, name in enumerate(self.names)}
        self.codes = np.array([place[text] for text in texts])

    def _canonical(self, values: Any, columns: Any, ends: Any) -> None:
        fits = len(ends) == self.n + 1 and ends[0] == 0 and ends[-1] == len(values) == len(columns)
        need(fits and (np.diff(ends) >= 0).all(), "the sparse rows do not fit together")
        inside = not len(columns) or 0 <= columns.min() <= columns.max() < self.width
        need(inside, "a column is out of range")
        row = np.repeat(np.arange(self.n), np.diff(ends))
        within = row[1:] == row[:-1]
        if (within & (columns[1:] <= columns[:-1])).any():
            order = np.lexsort((columns, row))
            values, columns = values[order], columns[order]
            need(not (within & (columns[1:] == columns[:-1])).any(), "a row has a column twice")
        kept = values != 0
        self.values, self.columns = (values, columns) if kept.all() else (values[kept], columns[kept])
        self.ends = np.concatenate([[0], np.cumsum(np.bincount(row[kept], minlength=self.n))])

    def take(self, rows: Any, last: float = 0.0) -> tuple[Any, Any, Any]:
        """The nonzeros of these rows: place in `rows`, column, value; `last` is one more in each row."""
        if self.dense is not None:
            part = self.dense[rows].astype(float)
            at, column = np.nonzero(part)
            value = part[at, column]
        else:
            size = self.ends[rows + 1] - self.ends[rows]
            at = np.repeat(np.arange(len(rows)), size)
            place = np.arange(len(at)) + np.repeat(self.ends[rows] - (np.cumsum(size) - size), size)
            column, value = self.columns[place], self.values[place].astype(float)
        if last:
            n = len(rows)
            at, column = np.append(at, np.arange(n)), np.append(column, np.full(n, self.width))
            value = np.append(value, np.full(n, last))
        return at, column, value

    def parts(self, rows: Any = None) -> Iterator[Any]:
        """All rows, or these, in parts that fit into memory."""
        n = self.n if rows is None else len(rows)
        step = max(ENTRIES // (1 + (self.width if self.dense is not None else len(self.values) // self.n)), 1)
        for k in range(0, n, step):
            yield np.arange(k, min(k + step, n)) if rows is None else rows[k : k + step]

    def digest(self) -> str:
        """SHA-256 of the content, however the rows are stored; columns count from 0."""
        names = [json.dumps(name) for name in self.names]
        sums = [hashlib.sha256() for _ in range(4)]
        for rows in self.parts():
            at, column, value = self.take(rows)
            sums[0].update("".join(names[k] + "\n" for k in self.codes[rows]).encode())
            sums[1].update(np.bincount(at, minlength=len(rows)).astype("<i8").tobytes())
            sums[2].update(column.astype("<i8").tobytes())
            sums[3].update(value.astype("<f8").tobytes())
        return hashlib.sha256(b"".join(each.digest() for each in sums)).hexdigest()


def as_text(label: Any) -> str:
    """A label in words: 1 for 1.0."""
    if isinstance(label, str):
        return label
    need(isinstance(label, int | float) and math.isfinite(label), f"{label!r} is no label")
    return str(int(label)) if label == int(label) else repr(label)


class Csr:
    def __init__(self, values: Any, columns: Any, ends: Any) -> None:
        self.data, self.indices, self.indptr = (np.array(a) for a in (values, columns, ends))
        self.shape = len(ends) - 1, int(self.indices.max(initial=-1)) + 1


def read_data(
    path: Any, kind: Any = None, label: Any = None, header: Any = None, zero_based: Any = False
) -> tuple[Any, list[Any]]:
    """Rows and labels of plain LIBSVM text or a CSV file of numbers, perhaps packed by gzip, bzip2 or xz."""
    table = kind == "csv" or (kind is None and ".csv" in Path(path).suffixes)
    packed: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    with packed.get(Path(path).suffix, open)(path, "rt", encoding="utf-8-sig", newline="") as file:
        try:
            X, labels = read_csv(file, label, header) if table else read_libsvm(file, zero_based)
        except (Refused, csv.Error, UnicodeDecodeError, EOFError, lzma.LZMAError) as error:
            raise Refused(f"{path}: {error}") from None
    return X, [float(each) for each in labels] if all(map(NUMBER.fullmatch, labels)) else labels


def read_libsvm(file: Any, zero_based: bool) -> tuple[Any, list[str]]:
    labels, values, columns, ends = [], array.array("d"), array.array("q"), array.array("q", [0])
    for number, line in enumerate(map(str.strip, file), 1):
        if line and line[0] != "#":
            found: Any = LINE.fullmatch(line)
            need(found, f"line {number} is not 'label index:value index:value ...'")
            words = found[2].replace(":", " ").split()
            try:
                columns.extend([int(word) - (not zero_based) for word in words[::2]])
                values.extend([float(word) for word in words[1::2]])
            except (ValueError, OverflowError):
                raise Refused(f"line {number} has a malformed number") from None
            labels.append(found[1])
            ends.append(len(values))
    return Csr(values, columns, ends), labels


def read_csv(file: Any, label: str | None, header: bool | None) -> tuple[Any, list[str]]:
    rows = [[cell.strip() for cell in row] for row in csv.reader(file, strict=True) if row]
    need(rows, "there are no rows")
    usual = [k for k, cell in enumerate(rows[0]) if cell.lower() in ("label", "class", "target", "y")]
    if header is None:
        header = bool(usual) or not any(map(NUMBER.fullmatch, rows[0]))
    names = rows.pop(0) if header else [str(k + 1) for k in range(len(rows[0]))]
    at = (usual[:1] if header else [len(names) - 1]) if label is None else []
    at = at or [k for k, name in enumerate(names) if label in (name, str(k + 1))]
    need(at, f"which column has the labels? There are {', '.join(names[:20])}")
    labels, cells = [], array.array("d")
    for k, row in enumerate(rows):
        need(len(row) == len(names), f"row {k} has {len(row)} cells, not {len(names)}")
        labels.append(row.pop(at[0]))
        need(all(map(NUMBER.fullmatch, row)), f"row {k} has a cell that is no number")
        cells.extend(map(float, row))
    return np.array(cells).reshape(len(rows), -1), labels


# ---- exact numbers ---------------------------------------------------------------------------------------
def whole(values: Any) -> tuple[list[int], int]:
    """Floats as whole numbers times one power of two: (numbers, exponent)."""
    part, exponent = np.frexp(values)
    low = int(exponent.min(initial=2000, where=part != 0)) - 53
    numbers = zip((part * 2**53).astype(np.int64).tolist(), exponent.tolist(), strict=True)
    return [m << max(e - 53 - low, 0) for m, e in numbers], low


def grid_of(values: Any) -> int:
    """The largest g for which all these floats are multiples of 2^g."""
    part, exponent = np.frexp(values[values != 0])
    m = (part * 2**53).astype(np.int64)
    return int((np.frexp((m & -m).astype(float))[1] + exponent).min(initial=2000)) - 54


def on_grid(values: Any, g: int) -> list[int]:
    """Floats that are multiples of 2^g as whole numbers times 2^g."""
    numbers, low = whole(values)
    return [m << low - g for m in numbers] if low >= g else [m >> g - low for m in numbers]


def square_of(values: Any) -> Fraction:
    numbers, low = whole(values)
    return sum(m * m for m in numbers) * power(2 * low)


def power(g: int) -> Fraction:
    return Fraction(2) ** g


def root(q: Fraction) -> float:
    """√q as a float, within a relative error of 2^-50 or an absolute one of 2^-1074; or infinity."""
    k = 64 - (q.numerator.bit_length() - q.denominator.bit_length()) // 2
    try:
        return max(float(math.isqrt(int(q * power(2 * k))) * power(-k)), 5e-324) if q else 0.0
    except OverflowError:
        return math.inf


class Weights:
    """Vectors, one or one a class, in float64 and exactly; rows get `last` as one more value before."""

    error = 0.0  # of each number in `approx`, at most

    def __init__(self, approx: Any, last: float) -> None:
        self.approx, self.last, self.grid = approx, last, grid_of(approx.ravel())

    def exactly(self) -> tuple[list[list[int]], int]:
        """Whole numbers, and the exponent of the power of two that they are multiplied by."""
        if not hasattr(self, "exact"):
            self.exact = [on_grid(vector, self.grid) for vector in self.approx], self.grid
        return self.exact


class Replay(Weights):
    """W = Σ ±x̃ from 0. In float64 it is exact while all sums are multiples of 2^g below 2^(53 + g)."""

    def __init__(self, vectors: int, width: int, last: float, g: int) -> None:
        self.approx, self.last, self.grid = np.zeros((vectors, width)), last, g
        self.sums, self.steps = [[0] * width for _ in range(vectors)], []  # type: ignore[var-annotated]
        self.reach, self.count = 0.0, 0  # bounds of all numbers in W, and of their additions

    def add(self, moves: list[tuple[int, int]], column: Any, value: Any) -> None:
        self.count, self.reach = self.count + 1, (self.reach + np.abs(value).max(initial=0)) * (1 + 2**-50)
        for k, sign in moves:
            self.approx[k, column] += sign * value
            self.steps.append((k, sign, column, value))
        if not (abs(self.grid) < 400 and self.reach < 2.0 ** (53 + self.grid)):
            self.error = (self.count + 8) * self.reach * 2**-52

    def exactly(self) -> tuple[list[list[int]], int]:
        for k, sign, column, value in self.steps:
            for j, m in zip(column.tolist(), on_grid(value, self.grid), strict=True):
                self.sums[k][j] += sign * m
        self.steps.clear()
        return self.sums, self.grid


# ---- the claims ------------------------------------------------------------------------------------------
class Checker:
    """A certificate beside the data."""

    def __init__(self, certificate: dict[str, Any], data: Data) -> None:
        self.data, self.bias, self.ties = data, size(certificate["bias"], "bias"), certificate["ties"]
        need(self.ties in ("positive", "mistake"), "ties must be 'positive' or 'mistake'")
        classes = certificate["classes"]
        need(
            type(classes) is list and all(type(c) is str for c in classes), "classes must be a list of texts"
        )
        need(len(set(classes)) == len(classes) >= 2, "there must be two classes or more, each once")
        for name in data.names:
            need(name in classes, f"rows have the label {name!r}, which is none of the classes")
        self.K, self.y = len(classes), np.array([classes.index(name) for name in data.names])[data.codes]
        self.joint, self.vectors = self.K > 2, self.K if self.K > 2 else 1
        self.grid = min(grid_of(np.append(data.take(rows)[2], self.bias)) for rows in data.parts())

    def gaps(self, rows: Any, w: Weights) -> tuple[Any, Any]:
        """u·z of these rows, a column a rival (two classes: one column), and bounds on their errors."""
        at, column, value = self.data.take(rows, w.last)
        n, y, g = len(rows), self.y[rows], min(self.grid, 0) + w.grid
        terms = np.bincount(at, minlength=n) + 8
        s, error = np.empty((n, self.vectors)), np.empty((n, self.vectors))
        for k, vector in enumerate(w.approx):
            product = value * vector[column]
            s[:, k], reach = np.bincount(at, product, n), np.bincount(at, np.abs(product), n)
            error[:, k] = terms * (reach * 2**-52 + 2**-1070)  # in whatever order the sum was taken
            if w.error:
                error[:, k] += 1.001 * w.error * np.bincount(at, np.abs(value), n)
            elif -1000 < g < 900:
                error[reach < 2.0 ** (52 + g), k] = 0  # all products, and sums of them, are floats
        if not self.joint:
            return s * (2 * y - 1)[:, None], error
        own = np.arange(n), y
        gap, error = s[own][:, None] - s, error[own][:, None] + error
        error = np.where(error == 0, 0, (error + np.abs(gap) * 2**-52) * 1.001)
        gap[own], error[own] = math.inf, 0
        return gap, error

    def exact_gap(self, row: int, rival: int, w: Weights) -> Fraction:
        _, column, value = self.data.take(np.array([row]), w.last)
        (numbers, low), (vectors, g), y = whole(value), w.exactly(), int(self.y[row])
        terms = zip(column.tolist(), numbers, strict=True)
        if self.joint:
            return Fraction(sum(m * (vectors[y][j] - vectors[rival][j]) for j, m in terms)) * power(low + g)
        return Fraction((2 * y - 1) * sum(m * vectors[0][j] for j, m in terms)) * power(low + g)

    def signs(
        self, rows: Any, w: Weights, level: Any = 0.0, decide: Callable[[Fraction], int] | None = None
    ) -> Any:
        """Whether each u·z is above (1), at (0) or below (−1) its row's level, or what `decide` says."""
        level = np.broadcast_to(np.reshape(level, (-1, 1)), (len(rows), 1))
        gap, error = self.gaps(rows, w)
        far = gap - level
        slack = (error + np.where(level == 0, 0, np.abs(level) * 2**-48 + 2**-1060)) * 1.001
        out = np.sign(far)
        for i, rival in np.argwhere(~(np.abs(far) > slack) & (slack != 0)).tolist():
            if not self.joint or rival != self.y[rows[i]]:
                value = self.exact_gap(rows[i], rival, w)
                over = 0 if decide else value - Fraction(float(level[i, 0]))
                out[i, rival] = decide(value) if decide else (over > 0) - (over < 0)
        if self.joint:
            out[np.arange(len(rows)), self.y[rows]] = 1
        return out

    def mistaken(self, rows: Any, signs: Any) -> Any:
        """Which rows are mistakes under the tie rule, by the signs of their u·z."""
        y = self.y[rows][:, None]
        hurts: Any = self.ties == "mistake" or (np.arange(self.K) < y if self.joint else y == 0)
        return ((signs < 0) | ((signs == 0) & hurts)).any(axis=1)

    def model(self, claim: Any) -> tuple[Weights, Fraction]:
        """The vectors of a claim, and the exact square of their length in the lifted space."""
        k, wide, coef = self.vectors, self.data.width, claim["coef"]
        need(type(coef) is list and len(coef) == k, f"coef must be a list of {k} list(s) of numbers")
        coef, intercept = (
            [numbers(vector, "coef") for vector in coef],
            numbers(claim["intercept"], "intercept"),
        )
        need(len(intercept) == k, f"intercept must be a list of {k} number(s)")
        need(len({len(vector) for vector in coef}) == 1, "the vectors of coef must be of one length")
        need(len(coef[0]) >= wide, f"coef has {len(coef[0])} columns, the data have {wide}")
        need(
            self.bias or claim["claim"] == "errors" or not intercept.any(), "bias is 0, but not the intercept"
        )
        square = square_of(np.concatenate(coef))
        square += square_of(intercept) / Fraction(self.bias) ** 2 if self.bias else 0
        return Weights(np.column_stack([np.stack(coef)[:, :wide], intercept]), 1.0), square

    def separable(self, claim: Any) -> str:
        """u·z > 0 and (u·z)² ≥ γ²·(u·u) for every z."""
        gamma = size(claim["gamma"], "gamma")
        need(gamma > 0, "gamma must be positive")
        w, square = self.model(claim)
        least = Fraction(gamma) ** 2 * square
        for rows in self.data.parts():
            s = self.signs(rows, w, root(least), lambda v: 1 if v > 0 and v * v >= least else -1)
            for row in rows[(s <= 0).any(axis=1)]:
                raise Refused(f"row {row} has a margin below gamma={gamma!r}")
        return f"separable, with margin at least {gamma!r}"

    def errors(self, claim: Any) -> str:
        said, (w, _), made = whole_number(claim["errors"], self.data.n, "errors"), self.model(claim), 0
        for rows in self.data.parts():
            made += int(self.mistaken(rows, self.signs(rows, w)).sum())
        need(made == said, f"the model makes {made} errors, not {said}")
        return f"the model makes exactly {made} errors"

    def support(self, claim: Any, weights: Any) -> tuple[list[int], list[int], Any]:
        """The rows, rivals and weights of a claim."""
        rows, rivals = indices(claim["rows"], self.data.n, "rows"), indices(claim["rivals"], self.K, "rivals")
        need(len(rows) == len(weights) > 0, "there must be as many weights as rows, and some")
        need(
            len(rivals) == len(rows) * self.joint, "every row needs a rival, with three classes or more only"
        )
        rivals = rivals if self.joint else [0] * len(rows)
        need(len(set(zip(rows, rivals, strict=True))) == len(rows), "a row (with its rival) comes twice")
        for row, rival in zip(rows, rivals, strict=True):
            need(not self.joint or rival != self.y[row], f"row {row} cannot have its own class as rival")
        return rows, rivals, weights

    def combination(self, rows: list[int], rivals: list[int], weights: list[int]) -> dict[Any, int]:
        """Σ α·z for whole α: its coordinates, to be multiplied by 2^grid."""
        total: dict[Any, int] = {}
        for row, rival, weight in zip(rows, rivals, weights, strict=True):
            _, column, value = self.data.take(np.array([row]), self.bias)
            y = int(self.y[row])
            blocks = [(y, weight), (rival, -weight)] if self.joint else [(0, weight if y else -weight)]
            for j, m in zip(column.tolist(), on_grid(value, self.grid), strict=True):
                for block, a in blocks:
                    total[block, j] = total.get((block, j), 0) + a * m
        return total

    def inseparable(self, claim: Any) -> str:
        """Σ α·z = 0 with positive whole numbers α: no u can have u·z > 0 for every z."""
        for (_, j), value in self.combination(*self.support(claim, wholes(claim["weights"]))).items():
            need(value == 0, f"the weighted sum of the rows is not 0 in column {j}")
        return f"inseparable: {len(claim['rows'])} vectors sum up to exactly 0 with positive weights"

    def margin_at_most(self, claim: Any) -> str:
        """‖Σ α·z‖ ≤ ε·Σα with α ≥ 0: the smallest u·z is at most Σ α·(u·z)/Σα ≤ ε when u has length 1."""
        rows, rivals, floats = self.support(claim, numbers(claim["weights"], "weights"))
        epsilon = size(claim["epsilon"], "epsilon")
        need((floats >= 0).all() and floats.any(), "weights must be ≥ 0, and not all 0")
        weights, _ = whole(floats)  # the power of two is on both sides
        square = sum(v * v for v in self.combination(rows, rivals, weights).values()) * power(2 * self.grid)
        need(square <= (Fraction(epsilon) * sum(weights)) ** 2, f"the weights prove no {epsilon!r}")
        return f"margin at most {epsilon!r}"

    def run(self, claim: Any) -> str:
        """W = Σ z from 0, visit by visit, where `updates` add a z and other visits none; k·γ² ≤ R² + 2ε.

        ε = 0: a visit is an update when, and only when, it is a mistake. ε > 0 allows for rounding during the
        run: W·z ≤ ε at each update, and W·z ≥ −ε at every other visit.
        """
        order, n, epsilon = claim["order"], self.data.n, size(claim["epsilon"], "epsilon")
        visits, cyclic = whole_number(claim["visits"], MAX_VISITS, "visits"), order == "cyclic"
        need(
            cyclic or (type(order) is list and len(order) == visits),
            "order must be 'cyclic' or a row a visit",
        )
        listed = np.array([] if cyclic else indices(order, n, "order"), dtype=np.int64)
        updates, rivals = (
            indices(claim["updates"], visits, "updates"),
            indices(claim["rivals"], self.K, "rivals"),
        )
        need(all(a < b for a, b in pairwise(updates)), "updates must increase")
        need(
            len(rivals) == len(updates) * self.joint, "every update needs a rival, with three classes or more"
        )
        w = Replay(self.vectors, self.data.width + 1, self.bias, self.grid)
        for k, (before, now) in enumerate(pairwise([-1, *updates, visits])):
            updated, rival = now < visits, rivals[k] if self.joint and k < len(rivals) else 0
            end = min(now, before + 1 + n) if cyclic else now  # one round with the same W says it of all
            for part in self.data.parts(np.append(np.arange(before + 1, end), np.full(int(updated), now))):
                rows = part % n if cyclic else listed[part]
                s = self.signs(rows, w, np.where(part == now, epsilon, -epsilon))
                wrong = (s < 0).any(axis=1) if epsilon else self.mistaken(rows, s)
                if part[-1] == now:
                    of_rival = (
                        s[-1, rival] <= 0 if epsilon else wrong[-1] and self.is_rival(rows[-1], rival, w)
                    )
                    wrong[-1] = not of_rival or (self.joint and rival == self.y[rows[-1]])
                for at in np.flatnonzero(wrong):
                    what = "no such update" if part[at] == now else "a mistake that is left out"
                    raise Refused(f"visit {part[at]}, of row {rows[at]}, is {what}")
            if updated:
                row = np.array([now % n]) if cyclic else listed[[now]]
                y, (_, column, value) = int(self.y[row[0]]), self.data.take(row, self.bias)
                w.add([(y, 1), (rival, -1)] if self.joint else [(0, 2 * y - 1)], column, value)
        said = self.separable(claim)
        bound = len(updates) * Fraction(claim["gamma"]) ** 2
        need(self.reaches(bound - 2 * Fraction(epsilon)), "k·gamma² is more than R² + 2·epsilon")
        run = f"a run of {visits} visits in {'cyclic' if cyclic else 'the listed'} order"
        return (
            f"{said}; {run} made exactly {len(updates)} updates; {len(updates)}·gamma² ≤ R² + 2·{epsilon!r}"
        )

    def is_rival(self, row: int, rival: int, w: Weights) -> bool:
        """Whether the rival has the highest score of all classes but the row's own, as the first of them."""
        if not self.joint:
            return True
        others = [c for c in range(self.K) if c != self.y[row]]
        return rival == min(others, key=lambda c: (self.exact_gap(row, c, w), c))

    def reaches(self, least: Fraction) -> bool:
        """Whether R², the largest ‖z‖², is at least this."""
        squares = []
        for rows in self.data.parts():
            at, _, value = self.data.take(rows, self.bias)
            squares.append(np.bincount(at, value * value, len(rows)))
        for row in np.argsort(-np.concatenate(squares), kind="stable"):  # the first one will do, as a rule
            if (1 + self.joint) * square_of(self.data.take(np.array([row]), self.bias)[2]) >= least:
                return True
        return False


CLAIMS = {  # who checks each, and what it has to hold
    "separable": (Checker.separable, "coef intercept gamma"),
    "inseparable": (Checker.inseparable, "rows rivals weights"),
    "margin at most": (Checker.margin_at_most, "epsilon rows rivals weights"),
    "errors": (Checker.errors, "coef intercept errors"),
    "run": (Checker.run, "order visits updates rivals epsilon coef intercept gamma"),
}


# ---- numbers in a certificate ----------------------------------------------------------------------------
def number(value: Any, name: str) -> float:
    fits = math.isfinite(value) if type(value) is float else type(value) is int and abs(value) <= 2**53
    need(fits, f"{name} must be a finite number")
    return float(value)


def size(value: Any, name: str) -> float:
    need(number(value, name) >= 0, f"{name} must be ≥ 0")
    return float(value)


def numbers(values: Any, name: str) -> Any:
    need(type(values) is list, f"{name} must be a list of numbers")
    return np.array([number(value, name) for value in values], dtype=float)


def whole_number(value: Any, most: int, name: str) -> int:
    need(type(value) is int and 0 <= value <= most, f"{name} must be a whole number from 0 to {most}")
    return int(value)


def indices(values: Any, end: int, name: str) -> list[int]:
    need(type(values) is list, f"{name} must be a list of whole numbers")
    return [whole_number(value, end - 1, name) for value in values]


def wholes(values: Any) -> list[int]:
    need(type(values) is list, "weights must be a list of hexadecimal texts")
    for value in values:
        fits = type(value) is str and len(value) <= MAX_BITS // 4 and re.fullmatch("[0-9a-f]+", value)
        need(fits, f"weights must be hexadecimal texts of at most {MAX_BITS} bits")
        need(value.strip("0"), "weights must be positive")
    return [int(value, 16) for value in values]


def read_certificate(path: Any) -> Any:
    """What a file holds, not yet looked at."""
    need(Path(path).stat().st_size <= MAX_BYTES, f"{path} is longer than {MAX_BYTES} bytes")
    return parse(Path(path).read_bytes())


def parse(text: str | bytes) -> Any:
    def short(digits: str) -> int:
        need(len(digits) <= 20, "a whole number has more than 20 digits")
        return int(digits)

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len(dict(pairs)) == len(pairs), "a name comes twice in an object")
        return dict(pairs)

    need(len(text) <= MAX_BYTES, f"the certificate is longer than {MAX_BYTES} bytes")
    try:
        return json.loads(text, parse_int=short, object_pairs_hook=once)
    except Refused:
        raise
    except (ValueError, RecursionError) as error:
        raise Refused(f"the certificate is no JSON: {error}") from None


def has(value: dict[str, Any], names: list[str], what: str) -> None:
    for name in sorted({*names} ^ {*value}):
        raise Refused(f"{what} has {'no' if name in names else 'an unknown'} field {name!r}")


def verify(certificate: Any, data: tuple[Any, Any]) -> list[str]:
    """The claims in words, all true of the data (X, y); `Refused` says the first thing that is wrong."""
    version = certificate.get("novikoff-certificate") if type(certificate) is dict else None
    need(type(version) is int, "this is no certificate of novikoff")
    need(version == 1, f"the certificate has the version {version}, but this checker knows version 1")
    fields = ["novikoff-certificate", "digest", "classes", "bias", "ties", "claims"]
    has(certificate, fields, "the certificate")
    rows = Data(*data)
    need(certificate["digest"] == rows.digest(), "the certificate is for other data: the digests differ")
    checker, claims, said = Checker(certificate, rows), certificate["claims"], []
    need(type(claims) is list and 0 < len(claims) <= MAX_CLAIMS, f"there must be 1 to {MAX_CLAIMS} claims")
    with np.errstate(all="ignore"):  # what overflows is decided exactly
        for k, claim in enumerate(claims, 1):
            kind: Any = claim.get("claim") if type(claim) is dict else None
            need(type(kind) is str and kind in CLAIMS, f"claim {k} is none of {', '.join(CLAIMS)}")
            check, names = CLAIMS[kind]
            has(claim, ["claim", *names.split()], f"claim {k}")
            try:
                said.append(check(checker, claim))
            except Refused as error:
                raise Refused(f"claim {k} ({kind}): {error}") from None
    return said


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m novikoff.checker", description="Check a certificate.")
    parser.add_argument("certificate")
    parser.add_argument("data")
    parser.add_argument("--label")
    parser.add_argument("--header", action=argparse.BooleanOptionalAction)
    parser.add_argument("--zero-based", action="store_true")
    given = parser.parse_args()
    try:
        certificate = read_certificate(given.certificate)
        said = verify(certificate, read_data(given.data, None, given.label, given.header, given.zero_based))
    except (Refused, OSError) as error:
        sys.exit(f"refused: {error}")
    print("verified:", *said, sep="\n  ")


if __name__ == "__main__":
    main()
