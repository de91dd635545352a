"""Checks a certificate against data without trusting it: this file needs only Python and NumPy.

A row x of class y stands for vectors z, one for each other class r, its rival: z has a block for every class,
(c, x) in block y, −(c, x) in block r and 0 elsewhere; c is the bias coordinate of the certificate (0: none).
With two classes only the second has a block: z = (c, x) for its rows, −(c, x) for the others. The margin γ of
the data is the largest value, over all u of length 1, of the smallest u·z. Below, the first number of a block
is multiplied by c, so it is an intercept: the amount added to a score. Floats are integers over powers of
two, so every sum has one true value: it is computed in float64 with an error bound, and in integers if that
does not decide. Decimal text in a data file means the nearest double.
The cost of a check is counted in steps in advance; beyond a limit the check is refused.
Usage: python -m novikoff.checker CERTIFICATE DATA [LABEL_COLUMN] [--header | --no-header] [--max-work=STEPS]
"""

import csv
import hashlib
import json
import math
import re
import sys
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

MAX_BYTES, MAX_CLAIMS, MAX_VISITS = 1 << 27, 100, 10**9  # of a certificate, of a run
MAX_BITS, MAX_LABEL = 1 << 20, 10_000  # bits of an integer, of an integer label
MAX_SLACK = Fraction(1, 1 << 20)  # of a run: ε/R², far above any accumulated rounding
MAX_DEGREE, MAX_CELLS = 1000, 1 << 24  # of a kernel, of dense rows for a kernel
MAX_WORK = 200_000_000  # steps: a product of 64-bit integers, or sixteen products of floats
ENTRIES = 1 << 20  # processed at a time
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
INTEGER, INDEX = re.compile(r"[-+]?\d+", re.ASCII), re.compile(r"\d{1,18}", re.ASCII)
HEXADECIMAL, SIGNED = re.compile("0*[1-9a-f][0-9a-f]*"), re.compile("-?[0-9a-f]+")
USUAL = ("label", "class", "target", "y")  # names of the column with the labels
NO_NAMES = {"", "na", "n/a", "null", "?", "nan", "inf", "-inf", "+inf", "infinity"}  # no names


class Refused(ValueError):
    """An error in a certificate or in the data, described in one line."""


class TooMuchWork(Refused):
    """No error was found, but the check would take more work than is allowed."""


def need(holds: Any, reason: str) -> None:
    if not holds:
        raise Refused(reason)


def printable(text: Any) -> str:
    """Text without terminal control characters: names and labels come from untrusted files."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(text))


def product(bits: int, other: int) -> int:
    """Steps of Karatsuba multiplication of integers with these numbers of bits, in words of 64 bits."""
    short, long = sorted((1 + bits // 64, 1 + other // 64))
    return int(long * short**0.6)


def reduction(bits: int) -> int:
    """Steps to reduce a fraction of integers with this number of bits to lowest terms."""
    return 60 + (1 + bits // 64) ** 2 // 5


class Data:
    """Row i is `values` at `columns`, from `ends[i]` to `ends[i + 1]`: a 1 in column 0, then its nonzeros."""

    def __init__(self, X: Any, y: Any) -> None:
        """X is an array, a list of rows, or a matrix in CSR or CSC form (by its attribute `format`)."""
        form = getattr(X, "format", None) if hasattr(X, "indptr") else None
        sparse = form in ("csr", "csc")
        known = sparse or isinstance(X, np.ndarray | list | tuple) or one_type(X)
        need(known, "the data must be an array, or sparse in CSR or CSC form: convert them first")
        values = exact_array(X.data if sparse else X)
        real = values.dtype.kind in "fiub" and values.dtype.itemsize <= 8 and values.ndim == 2 - sparse
        need(real, "the data must be rows and columns of real numbers of 64 bits or less")
        need(len(X.shape if sparse else values.shape) == 2, "the data must have rows and columns")
        n, width = X.shape if sparse else values.shape
        given = labels_of(y)
        need(len(given) == n > 0, f"{n} rows need as many labels, not {len(given)}")
        if sparse:
            minor, ends = exact_array(X.indices), exact_array(X.indptr)
            need(minor.dtype.kind in "iu" and ends.dtype.kind in "iu", "indices must be integers")
            lines, across = (n, width) if form == "csr" else (width, n)
            fits = len(ends) == lines + 1 and ends[0] == 0 and ends[-1] == len(values) == len(minor)
            minor, ends = minor.astype(np.int64), ends.astype(np.int64)
            need(fits and (np.diff(ends) >= 0).all(), "the arrays of the sparse rows do not match")
            need(((minor >= 0) & (minor < across)).all(), "a column is out of range")
            major = np.repeat(np.arange(lines), np.diff(ends))
            rows, columns = (major, minor) if form == "csr" else (minor, major)
            order = np.lexsort((columns, rows))
            rows, columns, values = rows[order], columns[order], values[order]
            need(((np.diff(rows) > 0) | (np.diff(columns) > 0)).all(), "a row has the same column twice")
            rows, columns, values = rows[values != 0], columns[values != 0], values[values != 0]
        else:
            rows, columns = np.nonzero(values)
            values = values[rows, columns]
        need(np.isfinite(values).all(), "the data hold NaN or infinity")
        beyond = [] if values.dtype.kind in "fb" else values[np.abs(values.astype(float)) >= 2**53].tolist()
        for value in beyond:
            need(float(value) == value, f"the data hold {value}, which no double equals")
        counts, lines_of = (
            np.bincount(rows, minlength=n),
            {text: json.dumps(text) + "\n" for text in {*given}},
        )
        self.n, self.labels = n, given
        parts: Any = ["".join(lines_of[label] for label in given).encode()]
        parts += [np.ascontiguousarray(a, "<i8") for a in (counts, columns)]
        parts += [np.ascontiguousarray(values, "<f8")]
        self.digest = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
        starts, self.ends = np.cumsum(counts) - counts, np.append(0, np.cumsum(counts + 1))
        self.values, self.width = np.insert(values.astype(float), starts, 1), int(columns.max(initial=-1)) + 2
        self.columns, self.bits = np.insert(columns + 1, starts, 0), bits_of(self.values)
        self.size = self.bits + max(int(np.frexp(np.abs(self.values).max())[1]), 1)  # bits of an integer

    def take(self, rows: Any) -> tuple[Any, Any, Any]:
        """The columns and values of these rows, and the position where each row starts."""
        size = self.ends[rows + 1] - self.ends[rows]
        starts = np.cumsum(size) - size
        place = np.arange(size.sum()) + np.repeat(self.ends[rows] - starts, size)
        return self.columns[place], self.values[place], starts

    def written_out(self, row: int) -> Any:
        """All columns of a row but the first, as integers over 2^bits."""
        columns, values, _ = self.take(np.array([row]))
        x = np.zeros(self.width, dtype=object)
        x[columns] = wholes(values, self.bits)
        return x[1:]


def one_type(X: Any) -> bool:
    """Whether X is a frame whose columns share one type, so that an array holds the same values."""
    return hasattr(X, "dtypes") and hasattr(X, "columns") and len({*X.dtypes}) == 1


def exact_array(given: Any) -> Any:
    """An array of the same values; refuses lists that NumPy would round and masks that it would drop."""

    def exact(value: Any) -> bool:
        value = value.tolist() if hasattr(value, "tolist") else value
        if isinstance(value, list | tuple):
            return all(map(exact, value))
        return not isinstance(value, int) or (abs(value) < 2**1000 and float(value) == value)

    parts = [given, *given] if isinstance(given, list | tuple) else [given]
    masked = any(isinstance(part, np.ma.MaskedArray) for part in parts)
    need(not masked, "masked arrays are not accepted: fill or drop the masked values")
    need(
        not isinstance(given, list | tuple) or exact(given), "the data hold an integer that no double equals"
    )
    return array_of(given, "the data are not an array")


def array_of(given: Any, otherwise: str) -> Any:
    try:
        return np.asarray(given)
    except Exception as error:  # of any type: the object can be from any library
        raise Refused(f"{otherwise}: {error}") from None


def labels_of(y: Any) -> list[str]:
    """The labels as text; different labels stay different."""
    need(
        not isinstance(y, np.ma.MaskedArray), "masked labels are not accepted: fill or drop the masked labels"
    )
    if not isinstance(y, list | tuple):
        y = array_of(y, "the labels are not an array")
        plain = y.dtype.kind in "iubUOT" or (y.dtype.kind == "f" and y.dtype.itemsize <= 8)
        need(plain and y.ndim == 1, f"labels must be one list of numbers or texts, not {y.dtype}{y.shape}")
        y = y.tolist()
    given = [
        label.item() if isinstance(label, np.generic) and label.dtype.kind in "biufU" else label
        for label in y
    ]
    for label in given:
        if not isinstance(label, str | int | float):
            raise Refused(f"{label!r} is not a label")
    texts = {label: as_text(label) for label in {*given}}
    need(len({*texts.values()}) == len(texts), "two labels have the same text, such as 1 and '1'")
    return [texts[label] for label in given]


def as_text(label: Any) -> str:
    """A label as text: 1 for 1.0."""
    if isinstance(label, str):
        return label
    if isinstance(label, int):
        need(abs(label).bit_length() <= MAX_LABEL, f"a label is an integer of more than {MAX_LABEL} bits")
        return str(int(label))
    need(math.isfinite(label), f"{label!r} is not a label")
    return str(int(label)) if label == int(label) else repr(label)


def read_data(path: Any, label: str = "", header: bool | None = None) -> tuple[Any, list[Any]]:
    """Rows and labels of a numeric CSV file, if its name ends in .csv, else of LIBSVM text (columns from 1).

    Labels are numbers if all of them are. `header` states whether the first row of a CSV file has names.
    """
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        try:
            X, labels = read_csv(file, label, header) if Path(path).suffix == ".csv" else read_libsvm(file)
            numeric = [NUMBER.fullmatch(label) for label in labels]
            if not all(numeric):
                need(not any(numeric), "labels must be all numbers or all texts")
                return X, labels
            exact = {text: Decimal(text) for text in {*labels}}
            numbers = {text: number_of(text, label=True) for text in exact}
            whole = {text: int(value) if value == int(value) else value for text, value in numbers.items()}
            whole |= {text: int(text) for text in exact if INTEGER.fullmatch(text)}
            alike = len({*exact.values()}) == len({*whole.values()})
            need(alike, "two labels are different numbers, but have the same nearest double")
        except (ValueError, OverflowError, ArithmeticError, csv.Error) as error:
            raise Refused(f"{path}: {error}") from None
    return X, [whole[text] for text in labels]


def number_of(text: str, label: bool = False) -> float:
    """The double nearest to decimal text; integers, except labels, must be doubles exactly."""
    need(NUMBER.fullmatch(text), f"{text!r} is not a number")
    value = float(text)
    need(math.isfinite(value), f"{text} is beyond the largest double")
    need(
        label or not INTEGER.fullmatch(text) or int(text) == value,
        f"{text} is an integer that no double equals",
    )
    return value


def read_libsvm(file: Any) -> tuple[Any, list[str]]:
    rows = [words for line in file if (words := line.partition("#")[0].split())]
    pairs = [word.partition(":")[::2] for row in rows for word in row[1:]]
    for k, row in enumerate(rows):
        need(":" not in row[0], f"row {k} has no label, but begins with {row[0]!r}")
    for column, _ in pairs:
        need(INDEX.fullmatch(column), f"{column!r} is not a column number")
    columns = np.array([int(column) - 1 for column, _ in pairs], dtype=np.int64)
    ends, shape = np.cumsum([0, *(len(row) - 1 for row in rows)]), (len(rows), columns.max(initial=-1) + 1)
    X = {"data": np.array([number_of(value) for _, value in pairs]), "indices": columns, "indptr": ends}
    return SimpleNamespace(format="csr", shape=shape, **X), [row[0] for row in rows]


def read_csv(file: Any, label: str, header: bool | None) -> tuple[Any, list[str]]:
    """The labels are in the column of this name or number, else in one with a usual name, or in the last.

    A first row with the given name of the label column, or without any number, has names. A first row with
    numbers is data. If it also has a usual label name it is ambiguous, unless all labels below that name are
    numbers.
    """
    rows = [[cell.strip() for cell in row] for row in csv.reader(file, strict=True) if row]
    need(rows, "there are no rows")
    first, usual = rows[0], [cell for name in USUAL for cell in rows[0] if cell.lower() == name][:1]
    if header is None:
        called = label != "" and label in first and not label.isdecimal()
        numeric, own = any(map(NUMBER.fullmatch, first)), (label, *usual)
        others = [cell for k, cell in enumerate(first, 1) if cell not in own and str(k) != label]
        below = [row[first.index(usual[0])] for row in rows[1:] if len(row) == len(first)] if usual else []
        labelled = any(below) and all(map(NUMBER.fullmatch, below))
        header = called or not numeric or labelled
        named = any(cell.lower() not in NO_NAMES for cell in others)
        clear = called or (labelled or not usual if numeric else named)
        need(
            clear, f"does the first row, {','.join(first[:20])}, contain names? Pass --header or --no-header"
        )
    names = rows.pop(0) if header else [str(k + 1) for k in range(len(first))]
    label = label or ("".join(usual) if header else names[-1])
    at = [k for k, name in enumerate(names) if label in (name, str(k + 1))]
    need(at, f"which column has the labels? There are {', '.join(names[:20])}")
    need(len(at) == 1, f"columns {' and '.join(str(k + 1) for k in at)} both match {label!r}")
    for k, row in enumerate(rows):
        need(len(row) == len(names), f"row {k} has {len(row)} cells, not {len(names)}")
    labels = [row.pop(at[0]) for row in rows]
    return np.array([[number_of(cell) for cell in row] for row in rows]).reshape(len(rows), -1), labels


def bits_of(values: Any) -> int:
    """The least k ≥ 0 for which all these floats are integers over 2^k."""
    part, exponent = np.frexp(values[values != 0])
    m = (part * 2**53).astype(np.int64)  # value = m·2^(exponent − 53)
    zeros = np.frexp((m & -m).astype(float))[1] - 1  # trailing zeros of m in binary
    return int((53 - exponent - zeros).max(initial=0))


def wholes(values: Any, bits: int) -> Any:
    """Floats as integers over 2^bits, in an array of Python integers."""
    ratios = map(float.as_integer_ratio, values.ravel().tolist())
    return np.array([(m << bits) // d for m, d in ratios], dtype=object).reshape(values.shape)


def root(q: Fraction) -> float:
    """A float above √q, by less than a part in 2^50; infinity on overflow."""
    above = math.isqrt(q.numerator * q.denominator << 128) + 1
    try:
        return math.nextafter(above / (q.denominator << 64), math.inf)
    except OverflowError:
        return math.inf


class Weights:
    """A vector for each class: `exact` has integers over 2^bits, `approx` the floats nearest to them.

    No integer has more than `size` bits.
    """

    def __init__(self, exact: Any, bits: int, size: int = 0) -> None:
        self.exact, self.bits = exact, bits
        self.size = size or max(abs(number).bit_length() for number in exact.flat)

    @cached_property
    def coarse(self) -> bool:
        """Whether some floats may be too small to keep all digits."""
        return bool(((np.abs(self.approx) < 2.0**-960) & (self.exact != 0)).any())

    @cached_property
    def approx(self) -> Any:
        return (self.exact / (1 << self.bits)).astype(float)

    def square(self, c_squared: Fraction) -> Fraction:
        """The squared norm of all vectors together."""
        first, others = (self.exact[:, 0] ** 2).sum(), (self.exact[:, 1:] ** 2).sum()
        need(c_squared or not first, "bias is 0, but the intercept is not")
        return Fraction(others + (first / c_squared if first else 0), 1 << 2 * self.bits)


class Checker:
    """A certificate and the data. Work starts only after its steps are counted (`spend`)."""

    def __init__(self, certificate: dict[str, Any], data: Data, max_work: float = math.inf) -> None:
        self.max_work, self.work = max_work, 0
        self.data, self.ties, classes = data, certificate["ties"], certificate["classes"]
        need(self.ties in ("positive", "mistake"), "ties must be 'positive' or 'mistake'")
        texts = type(classes) is list and all(type(name) is str for name in classes)
        need(texts and len(set(classes)) == len(classes) >= 2, "classes must be at least two distinct texts")
        self.K, place = len(classes), {name: k for k, name in enumerate(classes)}
        for label in {*data.labels} - {*classes}:
            raise Refused(f"rows have the label {label!r}, which is none of the classes")
        self.y = np.array([place[label] for label in data.labels])
        self.c_squared = Fraction(size(certificate["bias"], "bias")) ** 2
        self.bits = max(data.bits, self.c_squared.denominator.bit_length())
        self.size = self.bits + max(data.size - data.bits, int(self.c_squared).bit_length())

    def spend(self, steps: int) -> None:
        """Count the next steps; refuse them if they exceed the limit."""
        self.work += int(steps)
        if self.work > self.max_work:
            many = f"too much work: {self.work} steps or more, and the limit is {self.max_work}"
            raise TooMuchWork(f"{many}; --max-work (max_work) raises it")

    def spend_on_scores(self, w: Weights, rows: Any) -> None:
        """Count the steps of the exact scores of these rows for all classes, and of one gap per row."""
        entries = int((self.data.ends[rows + 1] - self.data.ends[rows]).sum())
        steps = self.K * entries * product(w.size, self.data.size)
        self.spend(steps + len(rows) * reduction(w.size + self.data.size + w.bits + self.data.bits))

    def scores(self, w: Weights, row: int) -> tuple[Any, int]:
        """The exact scores of all classes: integers over a power of two, and its exponent."""
        columns, values, _ = self.data.take(np.array([row]))
        return w.exact[:, columns] @ wholes(values, self.data.bits), w.bits + self.data.bits

    def signs(self, w: Weights, rows: Any, own: Any, level: float = 0.0) -> Any:
        """Whether each gap, of a row's own class to every class, is above (1), at or below (−1) the level."""
        entries = np.cumsum(self.data.ends[rows + 1] - self.data.ends[rows])
        cuts = np.flatnonzero(np.diff(entries * self.K // ENTRIES)) + 1
        if len(cuts):  # in parts that fit into memory
            parts = zip(np.split(rows, cuts), np.split(own, cuts), strict=True)
            return np.concatenate([self.signs(w, *part, level) for part in parts])
        columns, values, starts = self.data.take(rows)
        self.spend(self.K * len(values) // 16)
        products, at = w.approx[:, columns] * values, (np.arange(len(rows)), own)
        score = np.add.reduceat(products, starts, axis=1).T
        reach = np.add.reduceat(np.abs(products), starts, axis=1).T
        over, reach = score[at][:, None] - score - level, reach[at][:, None] + reach + abs(level)
        # Rounding of weights, n products and sums, in any order: a factor (1 + 2^-53)^(n + 4), or underflow.
        error = (np.diff(starts, append=len(values))[:, None] + 8) * (reach * 2**-52 + 2**-1070)
        grid = w.bits + self.data.bits
        if level == 0 and grid < 1000:  # integers below 2^53, over 2^grid, are not rounded
            error[reach < 2.0 ** (52 - grid)] = -1
        if w.coarse:
            error[:] = math.inf
        over[at], error[at] = math.inf, -1
        out = np.sign(over).astype(np.int8)
        doubts = np.argwhere(~(np.abs(over) > error))
        self.spend_on_scores(w, rows[doubts[:, 0]])
        for i, rival in doubts.tolist():
            exact, bits = self.scores(w, rows[i])
            gap = Fraction(exact[own[i]] - exact[rival], 1 << bits) - Fraction(level)
            out[i, rival] = (gap > 0) - (gap < 0)
        return out

    def wrong(self, w: Weights, rows: Any, level: float = 0.0) -> Any:
        """The rivals with a gap below the level, or at the level if they win ties or ties are mistakes."""
        y, rivals, s = self.y[rows][:, None], np.arange(self.K), self.signs(w, rows, self.y[rows], level)
        winning = rivals < y if self.K > 2 else rivals > y  # the first of the highest; of two, the second
        return (s < 0) | ((s == 0) & (winning | (self.ties == "mistake")))

    def model(self, claim: Any) -> Weights:
        """The vectors of a claim, in floats or integers; with two classes, the first has the score 0."""
        whole = type(claim["intercept"]) is list and str in map(type, claim["intercept"])
        read = hexadecimals if whole else numbers
        coef, intercept = vectors(claim["coef"], self.K, "coef", read), read(claim["intercept"], "intercept")
        k, wide = self.K if self.K > 2 else 1, self.data.width - 1
        need(wide <= coef.shape[1], f"coef must have {wide} columns, like the data")
        need(len(intercept) == k, f"intercept must have {k} number(s)")
        w = np.column_stack([np.zeros(self.K, dtype=coef.dtype), coef])
        w[-k:, 0] = intercept
        if whole:  # the scale does not matter: make the floats at most 1
            return Weights(w, max(abs(number).bit_length() for number in w.flat))
        return Weights(wholes(w, bits_of(w)), bits_of(w))

    def dual(self, claim: Any) -> tuple[Any, Fraction]:
        """For w = Σ α·φ(row) per class, where φ(x)·φ(z) = K(x, z) + c²: the scores, as in `scores`, and w·w.

        K(x, z) is (gamma·x·z + coef0)^degree, or 2^(x·z) for rows of 0 and 1 (monotone_conjunction).
        """
        data, given, fields = self.data, claim["kernel"], "name gamma coef0 degree"
        need(type(given) is dict and {*given} == {*fields.split()}, f"a kernel has the fields {fields}")
        gamma, coef0 = (Fraction(size(given[name], name)) for name in ("gamma", "coef0"))
        (degree,) = indices([given["degree"]], MAX_DEGREE + 1, "degree")
        rows, alpha = indices(claim["rows"], data.n, "rows"), vectors(claim["alpha"], self.K, "alpha")
        need(len({*rows}) == len(rows) > 0, "rows must be a non-empty list without repetitions")
        need(
            len(rows) * max(len(rows), data.width) <= MAX_CELLS,
            "there are too many rows, or too many columns",
        )
        need(alpha.shape[1] == len(rows), "alpha must have a number for each row")
        poly = given["name"] == "poly" and degree > 0
        need(
            poly or given["name"] == "monotone_conjunction", "the kernel must be poly or monotone_conjunction"
        )
        need(poly or (data.values == 1).all(), "a monotone conjunction needs rows of 0 and 1")
        plain = gamma == 1 and coef0 == 0 and degree == 1
        need(poly or plain, "a monotone conjunction has gamma=1, coef0=0, degree=1")
        one = max(gamma.denominator << 2 * data.bits, coef0.denominator, self.c_squared.denominator)
        power, bits = (one.bit_length() - 1) * degree, bits_of(alpha)  # of K and of α
        need(power + data.width <= MAX_BITS, "the kernel's values are too long to be computed")
        factor, constant, more = (
            int(gamma * one) >> 2 * data.bits,
            int(coef0 * one),
            int(self.c_squared * 2**power),
        )
        # Sums of products of integers are exact in floats if they stay below 2^53, and faster.
        longest = math.log2(np.abs(data.values).max()) + data.bits + math.log2(data.width)
        kind, alpha = float if 2 * longest < 53 else object, wholes(alpha, bits)
        # For every row: its products with the supports, their values of K, and the sums of these times α.
        power_of = (one + int((gamma + coef0) * one)).bit_length() + 2 * data.size + data.width.bit_length()
        length = power_of * degree if poly else power + data.width  # of a value of K, in bits
        each = data.width * product(data.size, data.size) // (16 if kind is float else 1)
        each += product(length, length) + self.K * product(length, bits + 1024)
        self.spend((data.n + len(rows)) * (data.width + len(rows) * each + reduction(2 * length + bits)))
        supports = np.empty((len(rows), data.width - 1), dtype=kind)
        for k, row in enumerate(rows):
            supports[k] = data.written_out(row)

        def values(row: int) -> Any:  # of K with every support, over 2^power; products are over 2^(2·bits)
            products = [int(p) for p in supports @ data.written_out(row).astype(kind)]
            K = [(p * factor + constant) ** degree if poly else 1 << p + power for p in products]
            return np.array(K, dtype=object) + more

        square = sum((alpha[:, k] * (alpha @ values(row))).sum() for k, row in enumerate(rows))
        return lambda row: (alpha @ values(row), power + bits), Fraction(square, 1 << power + 2 * bits)

    def gap(self, scores: Any, row: int) -> Fraction:
        """The score of a row's class minus the best of the others, exactly."""
        exact, bits = scores(row)
        return Fraction(exact[self.y[row]] - max(np.delete(exact, self.y[row])), 1 << bits)

    def separable(self, claim: Any) -> str:
        """u·z > 0 and (u·z)² ≥ γ²·(u·u) for every z, in the space of the rows or of a kernel."""
        gamma, rows, where = size(claim["gamma"], "gamma"), np.arange(self.data.n), ""
        if "kernel" in claim:
            scores, square = self.dual(claim)
            formula = (
                "({gamma!r}·x·z + {coef0!r})^{degree}" if claim["kernel"]["name"] == "poly" else "{name}"
            )
            where = " in the space of the kernel " + formula.format(**claim["kernel"])
        else:
            u = self.model(claim)
            self.spend(u.exact.size * product(u.size, u.size) + reduction(2 * u.size))
            scores, square = partial(self.scores, u), u.square(self.c_squared)
            level = root(Fraction(gamma) ** 2 * square)  # floats decide most rows
            if level < math.inf:
                rows = rows[(self.signs(u, rows, self.y, level) < 0).any(axis=1)]
            self.spend_on_scores(u, rows)
            self.spend(len(rows) * reduction(2 * (u.size + self.data.size + u.bits + self.data.bits)))
        for row in rows.tolist():
            gap = self.gap(scores, row)
            enough = gap > 0 and gap * gap >= Fraction(gamma) ** 2 * square
            need(enough, f"row {row} has a margin below gamma={gamma!r}{where}")
        return f"separable{where}, with margin {f'at least {gamma!r}' if gamma else 'above 0'}"

    def errors(self, claim: Any) -> str:
        """Exactly this number of rows are mistakes under the tie rule."""
        made = int(self.wrong(self.model(claim), np.arange(self.data.n)).any(axis=1).sum())
        need([made] == indices([claim["errors"]], MAX_VISITS, "errors"), f"the model makes {made} errors")
        return f"the model makes exactly {made} errors"

    def pairs(self, rows: list[int], given: Any) -> list[tuple[int, int]]:
        """Rows with their rivals, which must be given for three classes or more."""
        rivals = indices(given, self.K, "rivals") if self.K > 2 else [1 - int(self.y[row]) for row in rows]
        need(len(rivals) == len(rows) and (self.K > 2 or given == []), "rivals must match the rows")
        for row, rival in zip(rows, rivals, strict=True):
            need(rival != self.y[row], f"row {row} cannot have its own class as rival")
        return list(zip(rows, rivals, strict=True))

    def add(self, total: Any, row: int, rival: int, weight: int, used: Any = None) -> Any:
        """Add weight·z, in integers over 2^bits; return the columns that change.

        `total` has all columns, or only those in `used`.
        """
        columns, values, _ = self.data.take(np.array([row]))
        columns = columns if used is None else np.searchsorted(used, columns)
        x = wholes(values, self.bits)
        x[0] = int(self.c_squared * (1 << self.bits))
        for k, signed in ((self.y[row], weight), (rival, -weight)):
            if k > 0 or self.K > 2:
                total[k, columns] += signed * x
        return columns

    def length(self, pairs: list[tuple[int, int]], weights: list[int]) -> Fraction:
        """‖Σ α·z‖² for integers α."""
        columns = self.data.take(np.array([row for row, _ in pairs]))[0]
        used, longest = np.unique(columns), max(weights).bit_length()
        of_sum = longest + self.size + len(pairs).bit_length()
        self.spend(2 * len(columns) * product(longest, self.size))
        self.spend(self.K * len(used) * product(of_sum, of_sum) + reduction(2 * (of_sum + self.bits)))
        total = np.zeros((self.K, len(used)), dtype=object)
        for (row, rival), weight in zip(pairs, weights, strict=True):
            self.add(total, row, rival, weight, used)
        return Weights(total, self.bits, of_sum).square(self.c_squared)

    def margin_at_most(self, claim: Any) -> str:
        """‖Σ α·z‖ ≤ ε·Σα with α ≥ 0: the smallest u·z is at most Σ α·(u·z)/Σα ≤ ε if u has length 1.

        Inseparable: ε = 0, with positive integers α, so no u can have u·z > 0 for every z.
        """
        inseparable, weights = claim["claim"] == "inseparable", claim["weights"]
        if inseparable:
            fit = type(weights) is list and all(type(w) is str and HEXADECIMAL.fullmatch(w) for w in weights)
            fit = fit and max(map(len, weights), default=0) <= MAX_BITS // 4
            need(fit, f"weights must be positive, in hexadecimal, of at most {MAX_BITS} bits")
            epsilon, weights = 0.0, [int(w, 16) for w in weights]
        else:
            epsilon, floats = size(claim["epsilon"], "epsilon"), numbers(weights, "weights")
            need((floats >= 0).all() and floats.any(), "weights must be ≥ 0, and not all 0")
            weights = wholes(floats, bits_of(floats)).tolist()  # the power of two cancels
        pairs = self.pairs(indices(claim["rows"], self.data.n, "rows"), claim["rivals"])
        need(len(pairs) == len(weights) > 0, "weights and rows must have the same length, at least 1")
        need(len(set(pairs)) == len(pairs), "a row (with its rival) is given twice")
        short = self.length(pairs, weights) <= (Fraction(epsilon) * sum(weights)) ** 2
        need(short, f"the weighted sum of the vectors is more than {epsilon!r} times the sum of the weights")
        many = f"{len(weights)} vectors sum up to exactly 0 with positive weights"
        return f"inseparable: {many}" if inseparable else f"margin at most {epsilon!r}"

    def run(self, claim: Any) -> str:
        """W = Σ z from 0, visit by visit: `updates` add a z, other visits do not; k·γ² ≤ R² + 2ε.

        ε = 0: a visit is an update if and only if it is a mistake, and the rival is the predicted class.
        ε > 0 allows for rounded weights: after the first update, W·z ≤ ε at each update, and W·z ≥ −ε at
        every other visit. ε is at most R²/2^20; the run of a perceptron without rounding may differ.
        """
        n, epsilon, cyclic = self.data.n, size(claim["epsilon"], "epsilon"), claim["order"] == "cyclic"
        (visits,) = indices([claim["visits"]], MAX_VISITS + 1, "visits")
        path = np.arange(n) if cyclic else np.array(indices(claim["order"], n, "order"), dtype=int)
        need(cyclic or len(path) == visits, "order must be 'cyclic' or have a row for each visit")
        updates, classes = indices(claim["updates"], visits, "updates"), np.arange(self.K)
        need(sorted(set(updates)) == updates, "updates must increase")
        pairs = self.pairs([int(path[visit % len(path)]) for visit in updates], claim["rivals"])
        radius = self.longest()
        need(
            Fraction(epsilon) <= MAX_SLACK * radius,
            "epsilon is more than R²/2^20, which is too large for rounding",
        )
        self.model(claim)  # check its size, which is that of the weights below
        exact = np.zeros((self.K, self.data.width), dtype=object)
        w = Weights(exact, self.bits, self.size + len(updates).bit_length())
        for k, now in enumerate([*updates, visits]):
            start, slack = (updates[k - 1] + 1, epsilon) if k else (0, 0.0)  # W = 0 was never rounded
            end = min(now, start + n) if cyclic else now  # one round with the same W decides all
            rows = path[np.arange(start, end) % len(path)]
            for at in np.flatnonzero(self.wrong(w, rows, -slack).any(axis=1)):
                raise Refused(
                    f"visit {start + at}, of row {rows[at]}, is a mistake, but not among the updates"
                )
            if now < visits:
                row, rival = pairs[k]
                s = self.signs(w, np.array([row]), np.array([rival]))[0]
                first = ((s > 0) | ((s == 0) & (classes > rival)) | (classes == self.y[row])).all()
                update = (first or slack) and self.wrong(w, np.array([row]), slack)[0, rival]
                need(update, f"visit {now}, of row {row}, is listed as an update, but is not one")
                columns = self.add(w.exact, row, rival, 1)
                w.approx[:, columns] = w.exact[:, columns] / (1 << w.bits)
        proved, k, gamma = self.separable(claim), len(updates), Fraction(claim["gamma"])
        need(k * gamma**2 <= radius + 2 * Fraction(epsilon), "k·gamma² is more than R² + 2·epsilon")
        run = f"{proved}; a run of {visits} visits in {'cyclic' if cyclic else 'the listed'} order made"
        if not epsilon:
            return f"{run} exactly {k} updates; {k}·gamma² ≤ R²"
        return (
            f"{run} {k} updates, up to ε = {epsilon!r} for rounded weights: the sum W of the updates before "
            f"has W·z ≤ ε at each of them and W·z ≥ −ε at every other visit; {k}·gamma² ≤ R² + 2ε"
        )

    def longest(self) -> Fraction:
        """‖z‖² of the row that is longest in float arithmetic."""
        values = self.data.values.copy()
        values[self.data.ends[:-1]] = 0.0
        scaled = np.ldexp(values, -int(np.frexp(np.abs(values).max())[1]))
        row = int(np.argmax(np.add.reduceat(scaled**2, self.data.ends[:-1])))
        return self.length([(row, int(self.y[row] == 0))], [1])


CLAIMS = {  # the method that checks each, and its fields
    "separable": (Checker.separable, "claim coef intercept gamma"),
    "kernel separable": (Checker.separable, "claim kernel rows alpha gamma"),
    "inseparable": (Checker.margin_at_most, "claim rows rivals weights"),
    "margin at most": (Checker.margin_at_most, "claim epsilon rows rivals weights"),
    "errors": (Checker.errors, "claim coef intercept errors"),
    "run": (Checker.run, "claim order visits updates rivals epsilon coef intercept gamma"),
}


def numbers(values: Any, name: str) -> Any:
    need(type(values) is list, f"{name} must be a list of numbers")
    for value in values:
        fits = math.isfinite(value) if type(value) is float else type(value) is int and abs(value) <= 2**53
        need(fits, f"{name} must be finite numbers")
    return np.array(values, dtype=float)


def hexadecimals(values: Any, name: str) -> Any:
    fit = type(values) is list and all(type(value) is str and SIGNED.fullmatch(value) for value in values)
    fit = fit and max(map(len, values), default=0) <= MAX_BITS // 4
    need(fit, f"{name} must be whole numbers in hexadecimal, of at most {MAX_BITS} bits, or all floats")
    return np.array([int(value, 16) for value in values], dtype=object)


def vectors(given: Any, K: int, name: str, read: Any = numbers) -> Any:
    """One list of numbers per class; with two classes only for the second, and zeros for the first."""
    k = K if K > 2 else 1
    need(type(given) is list and len(given) == k, f"{name} must be {k} list(s) of numbers")
    lists = [read(vector, name) for vector in given]
    need(len({*map(len, lists)}) == 1, f"the lists of {name} must have the same length")
    return np.stack([0 * lists[0]] * (K - k) + lists)


def size(value: Any, name: str) -> float:
    need(numbers([value], name)[0] >= 0, f"{name} must be ≥ 0")
    return float(value)


def indices(values: Any, end: int, name: str) -> list[int]:
    fits = type(values) is list and all(type(value) is int and 0 <= value < end for value in values)
    need(fits, f"{name} must be whole numbers from 0 to {end - 1}")
    return list(values)


def read_certificate(path: Any) -> Any:
    """The content of a file, not checked."""
    with Path(path).open("rb") as file:
        return parse(file.read(MAX_BYTES + 1))


def parse(text: str | bytes) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len(dict(pairs)) == len(pairs), "an object has the same name twice")
        return dict(pairs)

    need(len(text) <= MAX_BYTES, f"the certificate is longer than {MAX_BYTES} bytes")
    try:
        return json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise Refused(f"the certificate is not readable JSON: {error}") from None


def verify(certificate: Any, data: tuple[Any, Any], max_work: float = MAX_WORK) -> list[str]:
    """The claims in words, all true of the data (X, y); raises `Refused` for the first error.

    Raises `TooMuchWork` if the check would take more than `max_work` steps.
    """
    version = certificate.get("novikoff-certificate") if type(certificate) is dict else None
    need(version is not None, "this is not a novikoff certificate")
    need(
        type(version) is int and version == 1, f"unknown version {version}: this checker knows version 1 only"
    )
    fields = "novikoff-certificate digest classes bias ties claims"
    need({*certificate} == {*fields.split()}, f"the fields of a certificate are {fields}")
    rows = Data(*data)
    need(certificate["digest"] == rows.digest, "the certificate is for other data: the digests differ")
    checker, claims, proved = Checker(certificate, rows, max_work), certificate["claims"], []
    need(type(claims) is list and 0 < len(claims) <= MAX_CLAIMS, f"there must be 1 to {MAX_CLAIMS} claims")
    for k, claim in enumerate(claims, 1):
        kind: Any = claim.get("claim") if type(claim) is dict else None
        need(type(kind) is str and kind in CLAIMS, f"claim {k} is not one of {', '.join(CLAIMS)}")
        check, names = CLAIMS[kind]
        try:
            need({*claim} == {*names.split()}, f"the fields must be {names}")
            with np.errstate(all="ignore"):  # overflows are decided exactly
                proved.append(check(checker, claim))
        except (Refused, OverflowError) as error:
            kind_of = TooMuchWork if isinstance(error, TooMuchWork) else Refused
            raise kind_of(f"claim {k} ({kind}): {error}") from None
    return proved


if __name__ == "__main__":
    try:
        plain = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
        options = [argument for argument in sys.argv[1:] if argument.startswith("--")]
        given = [option == "--header" for option in options if option in ("--header", "--no-header")]
        allowed = [int(m[1]) for option in options if (m := re.fullmatch(r"--max-work=(\d{1,18})", option))]
        fits = len(plain) in (2, 3) and len(given) < 2 and len(allowed) < 2
        usage = "CERTIFICATE DATA [LABEL_COLUMN] [--header | --no-header] [--max-work=STEPS]"
        need(fits and len(options) == len(given) + len(allowed), f"expected the arguments {usage}")
        rows = read_data(plain[1], "".join(plain[2:]), given[0] if given else None)
        proved = verify(read_certificate(plain[0]), rows, *allowed)
        title = "verified, each number in the file read as the nearest double:"
        print(title, *map(printable, proved), sep="\n  ")
    except TooMuchWork as error:
        sys.exit(f"not decided: {printable(error)}")
    except (Refused, OSError) as error:
        sys.exit(f"refused: {printable(error)}")
