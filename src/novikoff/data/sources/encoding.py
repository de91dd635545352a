"""From Arrow columns to rows of features, as defined in `columns`.

A block is encoded in two steps. `local_rows` uses only the block, so that several threads can run at
once: it numbers features within the block. `placed` assigns the model's columns, block after block.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from novikoff import _core
from novikoff.data.rounding import INTEGER, Rounding, as_doubles, nearest_double
from novikoff.data.sources.block import Csr, Floats, Labels, Matrix
from novikoff.data.sources.columns import FEATURES, NUMERIC, Column, TableFeatures
from novikoff.data.text_labels import TextLabels

if TYPE_CHECKING:
    import pyarrow as pa

Integers = npt.NDArray[np.int64]
PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
HOURS, WEEKDAYS, MONTHS = range(24), range(1, 8), range(1, 13)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class Unsound(ValueError):
    """An error in a row (counted in the block), or in a whole column (None)."""

    def __init__(self, row: int | None, message: str) -> None:
        super().__init__(message)
        self.row = row


class BlockRounding(Rounding):
    """How a block's numbers that no double holds are treated; `row` is the row of the first."""

    row = -1

    def doubles(self, column: Column, values: npt.NDArray[Any]) -> Floats:
        """The values of a column as doubles; `Unsound` for one that must not be rounded."""
        rows: list[int] = []

        def place(row: int) -> str:
            rows.append(row)
            return f"the column {column.name!r}"

        try:
            doubles = as_doubles(values, self, place)
        except (ValueError, TypeError) as error:
            raise Unsound(rows[-1] if rows else None, str(error).removesuffix(".")) from None
        if rows and self.row < 0:
            self.row = rows[0]
        return doubles

    def refuse(
        self, column: Column, wrong: npt.NDArray[np.bool_], show: Callable[[int], tuple[Any, float]]
    ) -> None:
        """Refuse the first of the wrong rows, or count them; `show` gives (value, nearest)."""
        if not wrong.any():
            return
        row = int(np.argmax(wrong))
        try:
            self.meet(int(np.count_nonzero(wrong)), *show(row), f"the column {column.name!r}")
        except ValueError as error:
            raise Unsound(row, str(error).removesuffix(".")) from None
        if self.row < 0:
            self.row = row


def kind_of(type_: pa.DataType) -> str:
    """The kind of a column of an Arrow type; "" if it cannot be a feature."""
    import pyarrow.types as types

    if types.is_dictionary(type_):
        return "category" if kind_of(type_.value_type) else ""
    tests: list[tuple[str, Callable[[Any], bool]]] = [
        ("number", types.is_boolean),
        ("number", types.is_integer),
        ("number", types.is_floating),
        ("number", types.is_decimal),
        ("category", types.is_string),
        ("category", types.is_large_string),
        ("category", types.is_string_view),
        ("category", types.is_null),
        ("date", types.is_date),
        ("timestamp", types.is_timestamp),
        ("time", types.is_time),
        ("duration", types.is_duration),
    ]
    return next((kind for kind, test in tests if test(type_)), "")


class MixedLabels(Unsound):
    """Numbers and text as labels of one source."""

    def __init__(self, row: int, label: Any, text_first: bool) -> None:
        found, before = ("a number", "text") if text_first else ("no number", "numbers")
        super().__init__(
            row,
            f"the label {str(label).removesuffix('.0')!r} is {found}, but the labels before it are {before}",
        )


@dataclass(slots=True)
class LocalRows:
    """Rows whose features are numbered within the block: first those of `numeric`, then `names`."""

    dense: Floats | None  # nothing but numbers
    data: Floats
    ids: npt.NDArray[np.int32]
    indptr: npt.NDArray[np.int64]
    names: list[str]
    order: Integers  # of the names: by first appearance
    row_ids: Any = None  # as an Arrow array, if the table is read with an id column


class _Slots:
    """Entries of rows, gathered from left to right."""

    def __init__(self, n_rows: int, n_numeric: int) -> None:
        self.n_rows, self._n_numeric = n_rows, n_numeric
        self._single: list[tuple[int, Any, Any]] = []  # at most one entry per row: slot, values, ids
        self._bags: list[tuple[int, Any, Any, Any]] = []  # any number per row: slot, values, ids, indptr
        self._n_slots = 0
        self._names: list[str] = []
        self._first: list[Integers] = []  # the row of each name

    def add_number(self, values: Floats, number: int) -> None:
        self._single.append((self._next(), values, number))

    def add_mark(self, rows: npt.NDArray[np.bool_], name: str) -> None:
        """A feature of value 1 in some rows."""
        self._single.append((self._next(), rows, self._n_numeric + len(self._names)))
        self._names.append(name)
        self._first.append(np.array([np.argmax(rows)]))

    def add_codes(self, codes: Integers, n: int, names: Callable[[Integers], list[str]]) -> None:
        """One of n features, of value 1, in each row. A row without one has the code n."""
        first = np.full(n + 1, -1)
        first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # of repeated assignments the last one holds
        used = np.flatnonzero(first[:n] >= 0)
        ids = np.zeros(n + 1, dtype=np.int32)
        ids[used] = self._n_numeric + len(self._names) + np.arange(len(used))
        self._single.append((self._next(), codes < n if first[n] >= 0 else 1.0, ids[codes]))
        self._names += names(used)
        self._first.append(first[used])

    def add_bags(
        self, values: Floats, ids: npt.NDArray[np.int32], indptr: Integers, names: _core.Names
    ) -> None:
        """Any number of features per row, numbered as they first appear."""
        first = np.empty(len(names), dtype=np.int64)
        first[ids[::-1]] = np.repeat(np.arange(self.n_rows), np.diff(indptr))[::-1]
        self._bags.append((self._next(), values, ids + (self._n_numeric + len(self._names)), indptr))
        self._names += names.strings()
        self._first.append(first)

    def _next(self) -> int:
        self._n_slots += 1
        return self._n_slots - 1

    def rows(self) -> LocalRows:
        shape = self.n_rows, self._n_slots
        values, ids = np.zeros(shape), np.empty(shape, dtype=np.int32)
        for slot, slot_values, slot_ids in self._single:
            values[:, slot] = slot_values
            ids[:, slot] = slot_ids
        stored = values != 0
        counts = stored.astype(np.int64)
        for slot, _, _, indptr in self._bags:
            counts[:, slot] = np.diff(indptr)
        ends = np.cumsum(counts.sum(axis=1))
        out_indptr = np.concatenate(([0], ends))
        if self._bags:
            data, indices = self._with_bags(values, ids, stored, counts)
        else:
            data, indices = values[stored], ids[stored]
        first = np.concatenate([np.empty(0, dtype=np.int64), *self._first])
        # Slots go from left to right, so that a stable sort by rows leaves them in this order.
        order = np.argsort(first, kind="stable")
        return LocalRows(None, data, indices, out_indptr, self._names, order)

    def _with_bags(self, values: Any, ids: Any, stored: Any, counts: Any) -> tuple[Any, Any]:
        begins = (np.cumsum(counts) - counts.ravel()).reshape(counts.shape)
        data = np.empty(int(counts.sum()))
        indices = np.empty(len(data), dtype=np.int32)
        at = begins[stored]
        data[at], indices[at] = values[stored], ids[stored]
        for slot, bag_values, bag_ids, indptr in self._bags:
            at = np.repeat(begins[:, slot] - indptr[:-1], counts[:, slot]) + np.arange(len(bag_ids))
            data[at], indices[at] = bag_values, bag_ids
        return data, indices


def encoded(
    features: TableFeatures,
    places: dict[int, int],
    arrays: Sequence[pa.Array],
    n_rows: int,
    label_optional: bool,
    rounding: BlockRounding,
) -> tuple[LocalRows, Labels | None, Floats | None]:
    """A block's rows, labels and weights from its columns, given in the order of `places`."""
    columns = [features.columns[k] for k in places]
    labels = weights = ids = None
    for column, array in zip(columns, arrays, strict=True):
        if column.kind == "label":
            labels = read_labels(array, column.name, optional=label_optional)
        elif column.kind == "weight":
            weights = read_weights(column, array, rounding)
        elif column.kind == "id":
            ids = array
    wanted = [each for each in zip(columns, arrays, strict=True) if each[0].kind in FEATURES]
    local = local_rows(wanted, n_rows, features, rounding)
    local.row_ids = ids
    return local, labels, weights


def local_rows(
    arrays: Sequence[tuple[Column, pa.Array]],
    n_rows: int,
    features: TableFeatures,
    rounding: BlockRounding,
) -> LocalRows:
    """Encode a block's feature columns, given in the order of the recipe."""
    numbers: dict[int, tuple[Floats, npt.NDArray[np.bool_] | None]] = {}
    for k, (column, array) in enumerate(arrays):
        _check_kind(column, array)
        if column.kind == "number":
            numbers[k] = _numbers(column, array, rounding)
    if features.is_plain and all(nulls is None for _, nulls in numbers.values()):
        dense = np.empty((n_rows, len(numbers)))
        for j, (values, _) in enumerate(numbers.values()):
            dense[:, j] = values
        return dense_rows(dense)
    slots = _Slots(n_rows, len(features.numeric))
    number = 0
    for k, (column, array) in enumerate(arrays):
        if column.kind == "number":
            values, nulls = numbers[k]
            slots.add_number(values, number)
            if nulls is not None:
                slots.add_mark(nulls, f"{column.name}=null")
        elif column.kind == "category":
            _add_category(slots, column.name, array)
        elif column.kind == "text":
            _add_words(slots, column.name, array, features.ngrams)
        else:
            _add_time(slots, column, array, number, rounding)
        number += column.kind in NUMERIC
    return slots.rows()


def placed(local: LocalRows, features: TableFeatures) -> Matrix:
    """The rows with the model's columns; new names are added."""
    if local.dense is not None:
        if features.n_columns == local.dense.shape[1]:
            return local.dense
        local = _sparse(local.dense)
    columns = np.empty(len(features.numeric) + len(local.names), dtype=np.int64)
    columns[: len(features.numeric)] = list(features.numeric.values())
    names = local.names
    columns[len(features.numeric) + local.order] = features.place([names[k] for k in local.order])
    data, indices, indptr = _core.recolumn(local.data, local.ids, local.indptr, columns)
    return Csr(data, indices, indptr, (len(indptr) - 1, features.n_columns), is_sorted=False)


def dense_rows(dense: Floats) -> LocalRows:
    """Rows that hold only numbers."""
    nothing = np.empty(0, dtype=np.int64)
    return LocalRows(dense, np.empty(0), nothing.astype(np.int32), nothing, [], nothing)


def _sparse(dense: Floats) -> LocalRows:
    stored = dense != 0
    ids = np.broadcast_to(np.arange(dense.shape[1], dtype=np.int32), dense.shape)[stored]
    indptr = np.concatenate(([0], np.cumsum(stored.sum(axis=1))))
    return LocalRows(None, dense[stored], ids, indptr, [], np.empty(0, dtype=np.int64))


def _check_kind(column: Column, array: pa.Array) -> None:
    kind = kind_of(array.type)
    alike = {
        "text": ("category",),
        "category": (*NUMERIC, "category"),
        "date": ("date", "timestamp"),
        "timestamp": ("date", "timestamp"),
    }
    if kind not in alike.get(column.kind, (column.kind,)):
        raise Unsound(
            None,
            f"the column {column.name!r} is of type {array.type}, but was read as "
            f"{'text' if column.kind == 'text' else f'a {column.kind}'} ({column.type})",
        )


def _stored(array: pa.Array) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
    """The numbers of an array, 0 for null, and which are null.

    They are read from the array's memory: `to_numpy` would import pandas if installed.
    """
    import pyarrow.types as types

    part, (valid, data) = slice(array.offset, array.offset + len(array)), array.buffers()
    nulls = None
    if array.null_count:
        nulls = np.unpackbits(np.frombuffer(valid, np.uint8), bitorder="little")[part] == 0
    if types.is_boolean(array.type):
        values = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[part]
    else:
        form = "f" if types.is_floating(array.type) else "u" if types.is_unsigned_integer(array.type) else "i"
        values = np.frombuffer(data, f"{form}{array.type.bit_width // 8}")[part]
    return values if nulls is None else np.where(nulls, values.dtype.type(0), values), nulls


def _numbers(
    column: Column, array: pa.Array, rounding: BlockRounding
) -> tuple[Floats, npt.NDArray[np.bool_] | None]:
    """A column of numbers, 0 for null, and which are null."""
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_decimal(array.type):  # through text, so that the result is the nearest double
        texts = array.cast(pa.string())
        if array.type.scale <= 0 and array.type.precision > 15:  # integers
            given = np.array([text or "0" for text in texts.to_pylist()], dtype=object)
            missing = np.array(texts.is_null().to_pylist(), dtype=bool)
            return rounding.doubles(column, given), missing if missing.any() else None
        array = texts.cast(pa.float64())
    values, nulls = _stored(array)
    with np.errstate(over="ignore", invalid="ignore"):
        sound = values.dtype.kind != "f" or math.isfinite(values.sum())
    if not sound:  # or a sum of finite numbers that overflows
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            row = int(wrong[0])
            shown = "NaN" if np.isnan(values[row]) else "infinity"
            raise Unsound(row, f"the column {column.name!r} holds {shown}; a number must be finite")
    if values.dtype.kind != "f":
        return rounding.doubles(column, values), nulls
    return values.astype(np.float64, copy=False), nulls


def _dictionary(array: pa.Array) -> pa.DictionaryArray:
    """A column as its distinct values and, for each row, the index of one."""
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_dictionary(array.type):
        return array
    if types.is_string_view(array.type) or types.is_null(array.type):
        array = array.cast(pa.string())
    return array.dictionary_encode()


def _add_category(slots: _Slots, name: str, array: pa.Array) -> None:
    array = _dictionary(array)
    values = array.dictionary

    def names(used: Integers) -> list[str]:
        if len(values) > 2 * slots.n_rows:  # a whole file's dictionary
            known = used[used < len(values)]
            texts = dict(zip(known.tolist(), _texts(values.take(known)), strict=False))
        else:
            texts = dict(enumerate(_texts(values)))
        return [f"{name}={texts.get(k) or 'null'}" for k in used.tolist()]

    slots.add_codes(_codes(array).astype(np.int64), len(values) + 1, names)


def _codes(array: pa.DictionaryArray) -> npt.NDArray[Any]:
    """The index of each row's value; for null, the index after the last."""
    codes, nulls = _stored(array.indices)
    return codes if nulls is None else np.where(nulls, len(array.dictionary), codes.astype(np.int64))


def _texts(values: pa.Array) -> list[str]:
    """Values as text, stripped of blanks; empty for null, and one more at the end, also empty."""
    import pyarrow as pa
    import pyarrow.types as types

    if not types.is_string(values.type):
        values = values.cast(pa.string())
    return [(text or "").strip() for text in values.to_pylist()] + [""]


def _add_words(slots: _Slots, name: str, array: pa.Array, ngrams: int) -> None:
    import pyarrow as pa
    import pyarrow.types as types

    if not (types.is_string(array.type) or types.is_large_string(array.type)):
        array = array.cast(pa.large_string())
    valid, offsets, data = array.buffers()
    width = np.int32 if types.is_string(array.type) else np.int64
    slots.add_bags(
        *_core.Words(f"{name}=", ngrams).rows(
            # in a damaged file it may be anywhere
            np.require(np.frombuffer(offsets, width), requirements="A") if offsets else np.zeros(1, width),
            np.frombuffer(data or b"", np.uint8),
            array.offset,
            len(array),
            np.frombuffer(valid, np.uint8) if valid else None,
        )
    )


def _add_time(slots: _Slots, column: Column, array: pa.Array, number: int, rounding: BlockRounding) -> None:
    name, kind = column.name, kind_of(array.type)
    stored, nulls = _stored(array)
    ticks = stored.astype(np.int64)
    unit = "ms" if kind == "date" else array.type.unit
    if kind == "date" and array.type.bit_width == 32:
        ticks, unit = ticks * PER_DAY["s"], "s"
    if kind == "duration":
        second = PER_DAY[unit] // PER_DAY["s"]
        values = ticks / second
        whole, rest, per = *np.divmod(ticks, second), second
    else:
        days, rest = np.divmod(ticks, PER_DAY[unit])
        values = days + rest / PER_DAY[unit]  # whole days and the rest separately: equal for every unit
        whole, per = days, PER_DAY[unit]

    def show(row: int) -> tuple[Any, float]:
        try:
            moment = str(array[row])
        except (OverflowError, ValueError):  # a time that Python's datetime cannot represent
            moment = str(stored[row])
        return f"{moment} ({unit})", float(values[row])

    rounding.refuse(column, _not_told(values, whole, rest, per), show)
    slots.add_number(values, number)
    if nulls is not None:
        slots.add_mark(nulls, f"{name}=null")

    def add_part(part: str, codes: Integers, numbers: range) -> None:
        if nulls is not None:
            codes = np.where(nulls, len(numbers), codes)
        slots.add_codes(codes, len(numbers), lambda used: [f"{name}.{part}={numbers[k]}" for k in used])

    if column.kind in ("date", "timestamp"):
        add_part("month", days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12, MONTHS)
        add_part("weekday", (days + 3) % 7, WEEKDAYS)  # 1970-01-01 was a Thursday
    if column.kind in ("timestamp", "time"):
        add_part("hour", rest // (PER_DAY[unit] // 24), HOURS)


def _not_told(values: Floats, whole: Integers, rest: Integers, per: int) -> npt.NDArray[np.bool_]:
    """Which times their doubles do not identify: another tick is nearest to values = whole + rest/per.

    Most times in days are not doubles, like most decimals; but while each double leads back to its own tick,
    no two times become equal. A time that is whole in a coarser unit (by factors of 1000) need only be
    identified in that unit. Days identify microseconds from 1790 to 2149, and never nanoseconds.
    """
    wrong = np.ones(len(values), dtype=bool)
    step = 1
    while wrong.any() and (step == 1 or per % step == 0) and step <= per:
        back = np.rint((values - whole) * (per // step))
        wrong &= (rest % step != 0) | (back != rest // step)
        step *= 1000
    return wrong


def read_labels(array: pa.Array, name: str, *, optional: bool) -> Labels | None:
    """Labels as numbers if they parse as finite numbers, otherwise as text; None if some are null.

    Raises
    ------
    Unsound
        For a row without a label unless labels are optional, and for numbers and text in one block.
    """
    import pyarrow.types as types

    if not kind_of(array.type):
        raise Unsound(None, f"the label column {name!r} is of type {array.type}: expected numbers or text")
    array = _dictionary(array)
    values, codes = _texts(array.dictionary), _codes(array)
    if types.is_floating(array.type.value_type):
        values = ["" if value == "nan" else value for value in values]
    used = np.zeros(len(values), dtype=bool)
    used[codes] = True
    for k in np.flatnonzero(used).tolist():
        if "\0" in values[k]:  # NumPy drops it at the end of text
            row = int(np.argmax(codes == k))
            raise Unsound(row, f"the label {values[k]!r} in the column {name!r} has a NUL character")
        if len(values[k]) > 15 and INTEGER.fullmatch(values[k]) and not nearest_double(values[k])[1]:
            raise Unsound(
                int(np.argmax(codes == k)),
                f"the label {values[k]} in the column {name!r} is an integer that no double holds: make "
                "labels text, as by a letter in front",
            )
    numbers = np.array([_number(text) for text in values])
    empty = np.array([not text for text in values])
    if np.any(used & empty):
        if optional:
            return None
        raise Unsound(int(np.flatnonzero(empty[codes])[0]), f"there is no label in the column {name!r}")
    is_text = np.isnan(numbers)
    if not np.any(used & is_text):
        return np.asarray(numbers[codes])
    if np.any(used & ~is_text):
        kinds = is_text[codes]
        row = int(np.flatnonzero(kinds != kinds[0])[0])
        raise MixedLabels(row, values[codes[row]], bool(kinds[0]))
    return TextLabels.coded(codes, values)


def _number(text: str) -> float:
    """The finite number that a label represents, or NaN."""
    if NUMBER.fullmatch(text):
        value = float(text)
        if math.isfinite(value):
            return value
    return math.nan


def read_weights(column: Column, array: pa.Array, rounding: BlockRounding) -> Floats:
    """Sample weights: finite, and not below 0."""
    if kind_of(array.type) != "number":
        raise Unsound(None, f"the weight column {column.name!r} is of type {array.type}: expected numbers")
    weights, nulls = _numbers(column, array, rounding)
    wrong = weights < 0 if nulls is None else (weights < 0) | nulls
    if np.any(wrong):
        row = int(np.argmax(wrong))
        shown = "null" if nulls is not None and nulls[row] else f"{weights[row]:g}"
        raise Unsound(row, f"the weight in the column {column.name!r} is {shown}; expected a number ≥ 0")
    return weights
