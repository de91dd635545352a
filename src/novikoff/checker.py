"""Checks a certificate against data, and trusts nothing: this file needs only Python and NumPy.

A row x with class y is seen as vectors z. Two classes: z = y·x̃ with y = −1 for the first class, +1 for the
second, and x̃ = (x, c), c being the certificate's bias coordinate (0: none). K ≥ 3 classes: a vector for every
rival r ≠ y, with x̃ in block y and −x̃ in block r of K blocks. The margin γ of the data is the largest value, over
all vectors u of length 1, of the smallest u·z. Every float is a fraction, so every sum has one true value. It is
computed in float64 together with a bound on its error, and in whole numbers where the bound leaves a doubt.

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
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

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


def need(holds, reason):
    if not holds:
        raise Refused(reason)


# ---- the data: rows in order, each with a label in words and its nonzero (column, value), columns from 0 ----
class Data:
    """Rows as a dense array, or as CSR: an object with `data`, `indices` and `indptr`; and a label for each."""

    def __init__(self, X, y):
        sparse = hasattr(X, "indptr")
        self.dense = None if sparse else np.asarray(X)
        values = np.asarray(X.data) if sparse else self.dense
        need(values.dtype.kind in "fiub" and values.dtype.itemsize <= 8, "the data must be real numbers of ≤ 64 bits")
        self.n, self.width = map(int, X.shape if sparse else (*values.shape, 0)[:2])
        need(sparse or values.ndim == 2, "the data must have rows and columns")
        need(len(y) == self.n > 0, f"there are {self.n} rows and {len(y)} labels: expected as many, and some")
        for part in np.array_split(values, max(values.size // ENTRIES, 1)):
            need(np.isfinite(part).all(), "the data hold NaN or infinity")
            need(values.dtype.kind in "fb" or not (np.abs(part.astype(float)) > 2**53).any(), "integers beyond 2^53")
        if sparse:
            self._canonical(values, np.asarray(X.indices), np.asarray(X.indptr))
        used = [int(self.take(rows)[1].max(initial=-1)) + 1 for rows in self.parts()]
        self.width = max(used)  # columns of zeros at the end are none
        self.dense = None if sparse else self.dense[:, : self.width]
        texts = [as_text(label) for label in np.asarray(y).tolist()]
        self.names = sorted(set(texts))
        place = {name: k for k, name in enumerate(self.names)}
        self.codes = np.array([place[text] for text in texts])

    def _canonical(self, values, columns, ends):
        need(len(ends) == self.n + 1 and ends[0] == 0 and ends[-1] == len(values) == len(columns)
             and (np.diff(ends) >= 0).all(), "the sparse rows do not fit together")  # fmt: skip
        need(not len(columns) or 0 <= columns.min() <= columns.max() < self.width, "a column is out of range")
        row = np.repeat(np.arange(self.n), np.diff(ends))
        within = row[1:] == row[:-1]
        if (within & (columns[1:] <= columns[:-1])).any():
            order = np.lexsort((columns, row))
            values, columns = values[order], columns[order]
            twice = np.flatnonzero(within & (columns[1:] == columns[:-1]))
            need(not len(twice), f"row {row[twice[0]] if len(twice) else ''} has a column twice")
        kept = values != 0
        self.values, self.columns = (values, columns) if kept.all() else (values[kept], columns[kept])
        self.ends = np.concatenate([[0], np.cumsum(np.bincount(row[kept], minlength=self.n))])

    def take(self, rows, last=0.0):
        """The nonzeros of these rows: place in `rows`, column, value; with `last`, one more at the end of each."""
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
            at, column = np.append(at, np.arange(len(rows))), np.append(column, np.full(len(rows), self.width))
            value = np.append(value, np.full(len(rows), last))
        return at, column, value

    def parts(self, rows=None):
        """All rows, or these, in parts that fit into memory."""
        stored = self.width if self.dense is not None else len(self.values) // self.n
        step = max(ENTRIES // (stored + 1), 1)
        n = self.n if rows is None else len(rows)
        for k in range(0, n, step):
            yield np.arange(k, min(k + step, n)) if rows is None else rows[k : k + step]

    def grid(self):
        """The largest g for which all values are multiples of 2^g."""
        return min(grid(self.take(rows)[2]) for rows in self.parts())

    def digest(self):
        """SHA-256 of the content: how the rows are stored does not matter, nor do columns of zeros at the end."""
        names = [json.dumps(name) for name in self.names]
        sums = [hashlib.sha256() for _ in range(4)]
        for rows in self.parts():
            at, column, value = self.take(rows)
            sums[0].update("".join(names[k] + "\n" for k in self.codes[rows]).encode())
            sums[1].update(np.bincount(at, minlength=len(rows)).astype("<i8").tobytes())
            sums[2].update(column.astype("<i8").tobytes())
            sums[3].update(value.astype("<f8").tobytes())
        return hashlib.sha256(b"".join(each.digest() for each in sums)).hexdigest()


def as_text(label):
    """A label in words: 1 for 1.0."""
    if isinstance(label, str):
        return label
    need(isinstance(label, int | float) and math.isfinite(label), f"{label!r} is no label")
    return str(int(label)) if label == int(label) else repr(label)


def read_data(path, kind=None, label=None, header=None, zero_based=False):
    """(X, y) of a file of plain LIBSVM text or CSV of numbers (by its name), perhaps packed by gzip, bzip2 or xz."""
    kinds = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    with kinds.get(Path(path).suffix, open)(path, "rt", encoding="utf-8-sig", newline="") as file:
        try:
            table = kind == "csv" or kind is None and ".csv" in Path(path).suffixes
            return read_csv(file, label, header) if table else read_libsvm(file, zero_based)
        except (Refused, csv.Error, UnicodeDecodeError, EOFError, lzma.LZMAError) as error:
            raise Refused(f"{path}: {error}") from None


class Csr:
    def __init__(self, values, columns, ends):
        self.data, self.indices, self.indptr = (np.array(a) for a in (values, columns, ends))
        self.shape = len(ends) - 1, int(self.indices.max(initial=-1)) + 1


def read_libsvm(file, zero_based):
    labels, values, columns, ends = [], array.array("d"), array.array("q"), array.array("q", [0])
    for number, line in enumerate(file, 1):
        line = line.strip()
        if line and line[0] != "#":
            found = LINE.fullmatch(line)
            need(found, f"line {number} is not 'label index:value index:value ...'")
            words = found[2].replace(":", " ").split()
            try:
                columns.extend([int(word) - (not zero_based) for word in words[::2]])
                values.extend([float(word) for word in words[1::2]])
            except (ValueError, OverflowError):
                raise Refused(f"line {number} has a malformed number") from None
            labels.append(found[1])
            ends.append(len(values))
    return Csr(values, columns, ends), as_numbers(labels)


def read_csv(file, label, header):
    rows = [[cell.strip() for cell in row] for row in csv.reader(file, strict=True) if row]
    need(rows, "there are no rows")
    first = [cell.lower() for cell in rows[0]]
    usual = [k for k, cell in enumerate(first) if cell in ("label", "class", "target", "y")]
    if header is None:
        header = bool(usual) or not any(NUMBER.fullmatch(cell) for cell in first)
    names = rows.pop(0) if header else [str(k + 1) for k in range(len(first))]
    at = usual[:1] if label is None and header else [len(names) - 1] if label is None else []
    at = at or [k for k, name in enumerate(names) if label in (name, str(k + 1))]
    need(at, f"which column has the labels? There are {', '.join(names[:20])}")
    labels, cells = [], array.array("d")
    for k, row in enumerate(rows):
        need(len(row) == len(names), f"row {k} has {len(row)} cells, not {len(names)}")
        labels.append(row.pop(at[0]))
        need(all(map(NUMBER.fullmatch, row)), f"row {k} has a cell that is no number")
        cells.extend(map(float, row))
    return np.array(cells).reshape(len(rows), -1), as_numbers(labels)


def as_numbers(labels):
    return [float(label) for label in labels] if all(map(NUMBER.fullmatch, labels)) else labels


# ---- exact numbers ------------------------------------------------------------------------------------------
def whole(values):
    """Floats as whole numbers times one power of two: (numbers, exponent)."""
    part, power = np.frexp(values)
    low = int(power.min(initial=2000, where=part != 0)) - 53
    return [m << max(p - 53 - low, 0) for m, p in zip((part * 2**53).astype(np.int64).tolist(), power.tolist())], low


def grid(values):
    """The largest g for which all these floats are multiples of 2^g."""
    part, power = np.frexp(values[values != 0])
    m = (part * 2**53).astype(np.int64)
    return int((np.frexp((m & -m).astype(float))[1] + power).min(initial=2000)) - 54


def on_grid(values, g):
    """Floats that are multiples of 2^g as whole numbers times 2^g."""
    numbers, low = whole(values)
    return [m << low - g for m in numbers] if low >= g else [m >> g - low for m in numbers]


def square_of(values):
    numbers, low = whole(values)
    return sum(m * m for m in numbers) * power(2 * low)


def power(g):
    return Fraction(2) ** g


def root(q):
    """√q as a float, within a relative error of 2^-50; infinite where it is too large."""
    k = 64 - (q.numerator.bit_length() - q.denominator.bit_length()) // 2
    try:
        return max(float(math.isqrt(int(q * power(2 * k))) * power(-k)), 5e-324) if q else 0.0
    except OverflowError:
        return math.inf


class Weights:
    """Vectors (one, or one for each class) in float64, and exactly when asked; `last` multiplies their ends."""

    error = 0.0  # of each number, at most

    def __init__(self, approx, last):
        self.approx, self.last, self.grid, self.exact = approx, last, grid(approx.ravel()), None

    def exactly(self):
        """Lists of whole numbers, and the exponent of the power of two that they are to be multiplied by."""
        if self.exact is None:
            numbers, g = whole(self.approx.ravel())
            wide = self.approx.shape[1]
            self.exact = [numbers[k : k + wide] for k in range(0, len(numbers), wide)], g
        return self.exact


class Replay(Weights):
    """W = Σ ±x̃ from 0. In float64 it is exact as long as all sums are multiples of 2^g below 2^(53 + g)."""

    def __init__(self, shape, last, g):
        super().__init__(np.zeros(shape), last)
        self.grid, self.reach, self.count, self.steps = g, 0.0, 0, []
        self.sums = [[0] * shape[1] for _ in range(shape[0])]

    def add(self, moves, column, value):
        self.count, self.reach = self.count + 1, (self.reach + np.abs(value).max(initial=0)) * (1 + 2**-50)
        for k, sign in moves:
            self.approx[k, column] += sign * value
            self.steps.append((k, sign, column, value))
        if not (abs(self.grid) < 400 and self.reach < 2.0 ** (53 + self.grid)):
            self.error = (self.count + 8) * self.reach * 2**-52

    def exactly(self):
        for k, sign, column, value in self.steps:
            for j, m in zip(column.tolist(), on_grid(value, self.grid), strict=True):
                self.sums[k][j] += sign * m
        self.steps.clear()
        return self.sums, self.grid


class Checker:
    """A certificate beside the data, and what its claims are made of."""

    def __init__(self, certificate, data):
        self.data, self.bias = data, number(certificate["bias"], "bias")
        need(self.bias >= 0, "bias must be ≥ 0")
        self.ties = certificate["ties"]
        need(self.ties in ("positive", "mistake"), "ties must be 'positive' or 'mistake'")
        classes = certificate["classes"]
        need(type(classes) is list and all(type(c) is str for c in classes), "classes must be a list of texts")
        need(len(set(classes)) == len(classes) >= 2, "there must be two classes or more, each once")
        for name in data.names:
            need(name in classes, f"rows have the label {name!r}, which is none of the classes")
        self.K, self.y = len(classes), np.array([classes.index(name) for name in data.names])[data.codes]
        self.joint = self.K > 2
        self.grid = min([data.grid(), *([grid(np.array([self.bias]))] if self.bias else [])])

    # -- scores
    def gaps(self, rows, w):
        """u·z of these rows, a column for each rival (two classes: one column), and a bound on its error."""
        at, column, value = self.data.take(rows, w.last)
        n, y = len(rows), self.y[rows]
        size, s, error = np.bincount(at, minlength=n) + 8, [], []
        g = min(self.grid, 0) + w.grid
        for vector in w.approx:
            product = value * vector[column]
            s.append(np.bincount(at, product, n))
            reach = np.bincount(at, np.abs(product), n)
            bound = size * (reach * 2**-52 + 2**-1070)
            if w.error:
                bound += 1.001 * w.error * np.bincount(at, np.abs(value), n)
            elif -1000 < g < 900:
                bound[reach < 2.0 ** (52 + g)] = 0  # every product and every sum of them is a float
            error.append(bound)
        s, error = np.stack(s, 1), np.stack(error, 1)
        if not self.joint:
            return s * (2 * y - 1)[:, None], error
        own = np.arange(n), y
        gap, error = s[own][:, None] - s, error[own][:, None] + error
        error = np.where(error == 0, 0, (error + np.abs(gap) * 2**-52) * 1.001)
        gap[own], error[own] = math.inf, 0
        return gap, error

    def exact_gap(self, row, rival, w):
        _, column, value = self.data.take(np.array([row]), w.last)
        (numbers, low), (vectors, g), y = whole(value), w.exactly(), self.y[row]
        plus, minus = (vectors[y], vectors[rival]) if self.joint else (vectors[0], None)
        terms = zip(column.tolist(), numbers, strict=True)
        total = sum(m * (plus[j] - minus[j]) if minus else m * plus[j] for j, m in terms)
        return (total if self.joint or y == 1 else -total) * power(low + g)

    def signs(self, rows, w, level=0.0, decide=None):
        """Whether each u·z is above (1), at (0) or below (−1) its row's level, or what `decide` says of it."""
        level = np.broadcast_to(np.reshape(level, (-1, 1)), (len(rows), 1))
        gap, error = self.gaps(rows, w)
        far = gap - level
        slack = (error + np.where(level == 0, 0, np.abs(level) * 2**-48 + 2**-1060)) * 1.001
        out = np.sign(far)
        for i, rival in np.argwhere(~(np.abs(far) > slack) & (slack != 0)).tolist():
            if not self.joint or rival != self.y[rows[i]]:
                value, t = self.exact_gap(rows[i], rival, w), Fraction(float(level[i, 0])) if not decide else None
                out[i, rival] = decide(value) if decide else (value > t) - (value < t)
        if self.joint:
            out[np.arange(len(rows)), self.y[rows]] = 1
        return out

    def mistaken(self, rows, signs):
        """Which rows are mistakes under the tie rule, given the signs of their u·z."""
        y = self.y[rows][:, None]
        hurts = True if self.ties == "mistake" else np.arange(self.K) < y if self.joint else y == 0
        return ((signs < 0) | ((signs == 0) & hurts)).any(axis=1)

    # -- witnesses
    def model(self, claim):
        """The vectors of a claim, and the exact square of their length in the lifted space."""
        coef, intercept = claim["coef"], claim["intercept"]
        k = self.K if self.joint else 1
        need(type(coef) is list and len(coef) == k, f"coef must be a list of {k} list(s) of numbers")
        coef = [numbers(vector, "coef") for vector in coef]
        intercept = numbers(intercept, "intercept")
        need(len(intercept) == k, f"intercept must be a list of {k} number(s)")
        need(len({len(vector) for vector in coef}) == 1, "the vectors of coef must be of one length")
        need(len(coef[0]) >= self.data.width, f"coef has {len(coef[0])} columns, the data have {self.data.width}")
        coef = np.stack(coef)
        square = square_of(coef.ravel())
        if self.bias:
            square += square_of(intercept) / Fraction(self.bias) ** 2
        weights = Weights(np.concatenate([coef[:, : self.data.width], intercept[:, None]], 1), 1.0)
        return weights, square, bool(self.bias) or not intercept.any()

    def separable(self, claim):
        gamma = positive(claim["gamma"], "gamma")
        w, square, lifted = self.model(claim)
        need(lifted, "an intercept needs a bias coordinate, but bias is 0")
        least = Fraction(gamma) ** 2 * square
        for rows in self.data.parts():
            s = self.signs(rows, w, root(least), lambda v: 1 if v > 0 and v * v >= least else -1)
            wrong = np.flatnonzero((s <= 0).any(axis=1))
            need(not len(wrong), f"row {rows[wrong[0]] if len(wrong) else 0} has a margin below gamma={gamma!r}")
        return f"separable, with margin at least {gamma!r}"

    def support(self, claim, read):
        """The rows, rivals and weights of a claim as three lists."""
        rows, rivals = indices(claim["rows"], self.data.n, "rows"), indices(claim["rivals"], self.K, "rivals")
        weights = read(claim["weights"], "weights")
        need(len(rows) == len(weights) > 0, "there must be as many weights as rows, and some")
        need(len(rivals) == (len(rows) if self.joint else 0), "there must be a rival for each row of three classes "
             "or more, and none for two")  # fmt: skip
        rivals = rivals if self.joint else [0] * len(rows)
        need(len(set(zip(rows, rivals, strict=True))) == len(rows), "a row (with its rival) comes twice")
        for row, rival in zip(rows, rivals, strict=True):
            need(not self.joint or rival != self.y[row], f"row {row} cannot have its own class as rival")
        return rows, rivals, weights

    def combination(self, rows, rivals, weights):
        """Σ α·z for whole α: its coordinates, to be multiplied by 2^grid."""
        total = {}
        for row, rival, weight in zip(rows, rivals, weights, strict=True):
            _, column, value = self.data.take(np.array([row]), self.bias)
            y = int(self.y[row])
            for j, m in zip(column.tolist(), on_grid(value, self.grid), strict=True):
                if self.joint:
                    total[rival, j] = total.get((rival, j), 0) - weight * m
                total[y * self.joint, j] = total.get((y * self.joint, j), 0) + weight * (m if self.joint or y else -m)
        return total

    def inseparable(self, claim):
        for (_, j), value in self.combination(*self.support(claim, wholes)).items():
            need(value == 0, f"the weighted sum of the rows is not 0 in column {j}")
        return f"inseparable: {len(claim['rows'])} vectors sum up to exactly 0 with positive weights"

    def margin_at_most(self, claim):
        rows, rivals, weights = self.support(claim, numbers)
        epsilon = number(claim["epsilon"], "epsilon")
        need(epsilon >= 0, "epsilon must be ≥ 0")
        need((weights >= 0).all() and weights.any(), "weights must be ≥ 0, and not all 0")
        weights, g = whole(weights)
        square = sum(v * v for v in self.combination(rows, rivals, weights).values()) * power(2 * (g + self.grid))
        need(square <= (Fraction(epsilon) * sum(weights) * power(g)) ** 2, f"the weights prove no {epsilon!r}")
        return f"margin at most {epsilon!r}"

    def errors(self, claim):
        w, _, _ = self.model(claim)
        said, made = whole_number(claim["errors"], self.data.n, "errors"), 0
        for rows in self.data.parts():
            made += int(self.mistaken(rows, self.signs(rows, w)).sum())
        need(made == said, f"the model makes {made} errors, not {said}")
        return f"the model makes exactly {made} errors"

    def run(self, claim):
        """Visits 0, 1, ... of which `updates` are those that changed W = Σ z; see the comment at each check."""
        order, n, epsilon = claim["order"], self.data.n, number(claim["epsilon"], "epsilon")
        need(epsilon >= 0, "epsilon must be ≥ 0")
        visits = whole_number(claim["visits"], MAX_VISITS, "visits")
        need(order == "cyclic" or type(order) is list and len(order) == visits, "order must be 'cyclic' or a row a visit")
        listed = None if order == "cyclic" else np.array(indices(order, n, "order"), dtype=np.int64)
        updates, rivals = indices(claim["updates"], visits, "updates"), indices(claim["rivals"], self.K, "rivals")
        need(all(a < b for a, b in pairwise(updates)), "updates must increase")
        need(len(rivals) == (len(updates) if self.joint else 0), "there must be a rival for each update, for three "
             "classes or more only")  # fmt: skip
        w = Replay((self.K if self.joint else 1, self.data.width + 1), self.bias, self.grid)
        for k, (before, now) in enumerate(pairwise([-1, *updates, visits])):
            updated = now < visits  # a whole round with the same W says the same as many
            at = np.arange(before + 1, min(now, before + 1 + n) if listed is None else now)
            for part in self.data.parts(np.append(at, now) if updated else at):
                rows = part % n if listed is None else listed[part]
                last = updated and part[-1] == now
                if epsilon:  # rounding in training: u·z is at most ε at an update, at least −ε at other visits
                    level = np.where(part == now, epsilon, -epsilon) if updated else -epsilon
                    s = self.signs(rows, w, level)
                    wrong = (s < 0).any(axis=1)
                    if last:
                        wrong[-1] = s[-1, rivals[k] if self.joint else 0] > 0
                else:  # every visit is an update when, and only when, it is a mistake
                    wrong = self.mistaken(rows, self.signs(rows, w))
                    if last:
                        wrong[-1] = not (wrong[-1] and (not self.joint or self.is_rival(rows[-1], rivals[k], w)))
                k_wrong = int(wrong.argmax())
                what = "no such update" if part[k_wrong] == now else "a mistake that is left out"
                need(not wrong[k_wrong], f"visit {part[k_wrong]}, of row {rows[k_wrong]}, is {what}")
            if updated:
                row = now % n if listed is None else int(listed[now])
                y, (_, column, value) = int(self.y[row]), self.data.take(np.array([row]), self.bias)
                need(not self.joint or rivals[k] != y, f"visit {now} has its own class as rival")
                w.add([(y, 1), (rivals[k], -1)] if self.joint else [(0, 2 * y - 1)], column, value)
        said = self.separable({name: claim[name] for name in ("coef", "intercept", "gamma")})
        bound = len(updates) * Fraction(claim["gamma"]) ** 2
        need(self.longest(bound - 2 * Fraction(epsilon)), "k·gamma² is more than R² + 2·epsilon")
        rows = "cyclic" if listed is None else "listed"
        return (f"{said}; a run of {visits} visits in {rows} order made exactly {len(updates)} updates, and "
                f"{len(updates)}·gamma² ≤ R² + 2·{epsilon!r}")  # fmt: skip

    def is_rival(self, row, rival, w):
        """Whether the rival has the highest score of all classes but the row's own, and is the first of these."""
        values = [self.exact_gap(row, c, w) if c != self.y[row] else math.inf for c in range(self.K)]
        return rival == values.index(min(values))

    def longest(self, least):
        """Whether R², the largest ‖z‖², is at least this."""
        squares = []
        for rows in self.data.parts():
            at, _, value = self.data.take(rows, self.bias)
            squares.append(np.bincount(at, value * value, len(rows)))
        for row in np.argsort(-np.concatenate(squares), kind="stable"):  # the first one, as a rule
            if (1 + self.joint) * square_of(self.data.take(np.array([row]), self.bias)[2]) >= least:
                return True
        return False


CLAIMS = {  # what each has to hold
    "separable": (Checker.separable, "coef intercept gamma"),
    "inseparable": (Checker.inseparable, "rows rivals weights"),
    "margin at most": (Checker.margin_at_most, "epsilon rows rivals weights"),
    "errors": (Checker.errors, "coef intercept errors"),
    "run": (Checker.run, "order visits updates rivals epsilon coef intercept gamma"),
}


# ---- numbers in a certificate -------------------------------------------------------------------------------
def number(value, name):
    numeric = type(value) is float and math.isfinite(value) or type(value) is int and abs(value) <= 2**53
    need(numeric, f"{name} must be a finite number")
    return float(value)


def positive(value, name):
    need(number(value, name) > 0, f"{name} must be positive")
    return float(value)


def numbers(values, name):
    need(type(values) is list, f"{name} must be a list of numbers")
    return np.array([number(value, name) for value in values], dtype=float)


def whole_number(value, most, name):
    need(type(value) is int and 0 <= value <= most, f"{name} must be a whole number from 0 to {most}")
    return value


def indices(values, end, name):
    need(type(values) is list, f"{name} must be a list of whole numbers")
    return [whole_number(value, end - 1, name) for value in values]


def wholes(values, name):
    """Positive whole numbers in hexadecimal."""
    need(type(values) is list and all(type(v) is str and len(v) <= MAX_BITS // 4 and re.fullmatch("[0-9a-f]+", v)
         for v in values), f"{name} must be a list of hexadecimal texts of at most {MAX_BITS} bits")  # fmt: skip
    out = [int(v, 16) for v in values]
    need(all(v > 0 for v in out), f"{name} must be positive")
    return out


def read_certificate(path):
    """The certificate in a file, as a dict whose fields are not yet looked at."""
    need(Path(path).stat().st_size <= MAX_BYTES, f"{path} is longer than {MAX_BYTES} bytes")
    return parse(Path(path).read_bytes())


def parse(text):
    def short(digits):
        need(len(digits) <= 20, "a whole number has more than 20 digits")
        return int(digits)

    def once(pairs):
        need(len(dict(pairs)) == len(pairs), "a name comes twice in an object")
        return dict(pairs)

    need(len(text) <= MAX_BYTES, f"the certificate is longer than {MAX_BYTES} bytes")
    try:
        return json.loads(text, parse_int=short, object_pairs_hook=once)
    except Refused:
        raise
    except (ValueError, RecursionError) as error:
        raise Refused(f"the certificate is no JSON: {error}") from None


def has(value, names, what):
    need(type(value) is dict, f"{what} must be an object")
    for name in sorted({*names} ^ {*value}):
        raise Refused(f"{what} has {'no' if name in names else 'an unknown'} field {name!r}")


def verify(certificate, data):
    """The claims in words, all of them true of the data (X, y); `Refused` says the first thing that is wrong."""
    need(type(certificate) is dict, "a certificate must be an object")
    version = certificate.get("novikoff-certificate")
    need(type(version) is int, "this is no certificate of novikoff")
    need(version == 1, f"the certificate has the version {version}, but this checker knows version 1")
    has(certificate, ["novikoff-certificate", "digest", "classes", "bias", "ties", "claims"], "the certificate")
    data = Data(*data)
    need(certificate["digest"] == data.digest(), "the certificate is for other data: the digests differ")
    checker = Checker(certificate, data)
    claims = certificate["claims"]
    need(type(claims) is list and 0 < len(claims) <= MAX_CLAIMS, f"there must be 1 to {MAX_CLAIMS} claims")
    said = []
    with np.errstate(all="ignore"):  # what overflows is decided exactly
        for k, claim in enumerate(claims, 1):
            kind = claim.get("claim") if type(claim) is dict else None
            need(type(kind) is str and kind in CLAIMS, f"claim {k} is none of {', '.join(CLAIMS)}")
            check, names = CLAIMS[kind]
            has(claim, ["claim", *names.split()], f"claim {k}")
            try:
                said.append(check(checker, claim))
            except Refused as error:
                raise Refused(f"claim {k} ({kind}): {error}") from None
    return said


def main():
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
