"""Writing the rows of a source to a file, in any of the formats that can be read.

The file reads back as the same rows: numbers are the shortest decimals of the same double, and features keep
their names, except in LIBSVM text, which has only numbers. Anything that a format cannot express is refused
with a reason. Tables are written as their features: a category as a column "job=cook" of ones and zeros.
"""

from __future__ import annotations

import json
import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff import _core
from novikoff.data.sources.block import Block, Csr
from novikoff.data.sources.features import Features, NumberedFeatures
from novikoff.data.sources.formats import FORMATS, format_of_name
from novikoff.data.sources.progress import Progress, Watch
from novikoff.data.sources.source import Source
from novikoff.data.writers.row_text import Columns, Integers, Names, joined, label_texts, shortest, sparse
from novikoff.data.writers.tables import write_table
from novikoff.outfile import COMPRESSED, Name, Target, replacing, written

NUMBER_BY = ("auto", "name", "column")


@dataclass
class Written:
    """A summary of the file written."""

    format: str
    rows: int
    features: int  # columns that the source has


def write_source(
    source: Source,
    target: Target,
    *,
    format: str | None = None,
    columns: Columns = Columns(),
    number_by: str = "auto",
    names: Name | None = None,
    watch: Watch | None = None,
) -> Written:
    """Write all rows of a source to a file, which appears when it is complete.

    A few blocks are in memory at a time. Tables (CSV, TSV, Parquet, Arrow) are written with one column per
    feature, and therefore need one more pass over the source, which finds the features.

    Parameters
    ----------
    source : Source
    target : path, or an open binary file
        A path is compressed when it ends in .gz, .bz2, .xz or .zst.
    format : default None
        'libsvm', 'vw', 'jsonl', 'csv', 'tsv', 'parquet' or 'arrow' (Feather too); None recognizes it from
        the name.
    columns : Columns
        The names of labels and weights; readers must be given the name of weights, and that of labels if it
        is not one of the usual names.
    number_by : {'auto', 'name', 'column'}
        How features with names are numbered in LIBSVM text: by their names, which must then be whole numbers
        from 1, or by their columns in order of appearance, from 1. 'auto': by name when all names in the
        first row that has a feature are such numbers.
    names : path, default None
        Where to write the numbers and names of features, for LIBSVM text: one line per feature, separated by
        a tab.
    watch : function of a Progress

    Raises
    ------
    ValueError
        When the format cannot express the data; no file is written.

    Examples
    --------
    >>> import io, pathlib, tempfile, novikoff
    >>> source = novikoff.open_source(io.BytesIO(b"spam | money:2 free\\nham | lunch:0.5\\n"), format="vw")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write_source(source, f"{folder}/mail.jsonl")
    ...     print(pathlib.Path(folder, "mail.jsonl").read_text(), end="")
    {"label": "spam", "features": {"money": 2, "free": 1}}
    {"label": "ham", "features": {"lunch": 0.5}}
    >>> written.rows
    2
    """
    format = _format_of(target, format)
    if number_by not in NUMBER_BY:
        raise ValueError(f"number_by={number_by!r} is not possible: expected one of {', '.join(NUMBER_BY)}.")
    if names is not None and format != "libsvm":
        raise ValueError(
            f"a names file is possible for LIBSVM text only: {format} contains the names itself."
        )
    n_rows = 0

    def watched() -> Iterator[Block]:
        nonlocal n_rows
        started = time.perf_counter()
        for block in source.blocks(reuse=True):
            yield block
            n_rows += block.n_rows
            if watch is not None:
                seconds = time.perf_counter() - started
                watch(Progress("writing", n_rows, block.consumed, source.size, 0, seconds))

    if format in ("csv", "tsv", "parquet", "arrow"):
        write_table(source, watched(), target, format, columns)
    else:
        lines = _lines(format, source.features, columns, number_by)
        with written(target) as out:
            for block in watched():
                out.write(lines(block))
        if isinstance(lines, _LibsvmLines) and names is not None:
            with replacing(names) as file:
                file.writelines(lines.named())
    return Written(format, n_rows, source.features.n_columns)


def _format_of(target: Target, format: str | None) -> str:
    name = os.fspath(target) if isinstance(target, str | os.PathLike) else "the open file"
    chosen = format_of_name(name) if format is None else format
    if chosen is None:
        raise ValueError(
            f"{name}: the format to write cannot be recognized from the name: choose one of "
            f"{', '.join(FORMATS)}."
        )
    if chosen not in FORMATS:
        raise ValueError(f"format={chosen!r} is not known: expected one of {', '.join(FORMATS)}.")
    if chosen in ("parquet", "arrow") and name.lower().endswith(COMPRESSED):
        raise ValueError(f"{name}: a {chosen} file is not compressed as a whole: omit the last suffix.")
    return chosen


class Lines(ABC):
    """Formats a block of rows as lines of text."""

    @abstractmethod
    def __call__(self, block: Block) -> bytes:
        """The lines of all rows."""


def _arrays(X: Csr) -> tuple[Any, Any]:
    return X.data.astype(np.float64, copy=False), X.indptr.astype(np.int64, copy=False)


def _lines(format: str, features: Features, columns: Columns, number_by: str) -> Lines:
    if format == "libsvm":
        return _LibsvmLines(features, number_by)
    return _VwLines(features) if format == "vw" else _JsonLines(features, columns)


# ---- the formats ---------------------------------------------------------------------------------------
class _LibsvmLines(Lines):
    """label number:value ..."""

    _UNSAYABLE = re.compile(r"[\x00-\x20:#]|^$")
    _NUMBER = re.compile(r"[1-9][0-9]{0,17}")
    _ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})

    def __init__(self, features: Features, number_by: str) -> None:
        self._features = features
        self._by_name: bool | None = None if number_by == "auto" else number_by == "name"
        self._numbers: Integers = np.full(0, -1, dtype=np.int64)  # of columns whose names are numbers

    def __call__(self, block: Block) -> bytes:
        if block.weights is not None and (block.weights != 1).any():
            row = int(np.argmax(block.weights != 1))
            raise ValueError(
                f"{block.where(row)}: the row has a weight, which LIBSVM text cannot hold: write vw, "
                "jsonl or a table instead."
            )
        X = sparse(block.X)
        data, indptr = _arrays(X)
        heads = joined(label_texts(block, self._label))
        return _core.RowFormat(b"", b"\n").sparse(data, self._number(X, block), indptr, *heads)

    def _label(self, label: str, is_text: bool) -> str:
        if self._UNSAYABLE.search(label):
            raise ValueError(
                f"the label {label!r} cannot be written as LIBSVM text, where blanks, ':' and '#' have a "
                "meaning."
            )
        return label

    def _number(self, X: Csr, block: Block) -> Integers:
        columns = X.indices.astype(np.int64, copy=False)
        if isinstance(self._features, NumberedFeatures):
            return columns if self._features.zero_based else columns + 1
        if self._by_name is None and len(columns):
            row = int(np.argmax(np.diff(X.indptr) > 0))
            first = self._features.names(columns[X.indptr[row] : X.indptr[row + 1]].tolist())
            self._by_name = all(map(self._NUMBER.fullmatch, first))
        if not self._by_name:
            return columns + 1
        if X.shape[1] > len(self._numbers):
            room = np.full(max(X.shape[1], 2 * len(self._numbers)) - len(self._numbers), -1)
            self._numbers = np.concatenate([self._numbers, room])
        new = np.unique(columns[self._numbers[columns] < 0])
        if len(new):
            names = self._features.names(new.tolist())
            for column, name in zip(new.tolist(), names, strict=True):
                if not self._NUMBER.fullmatch(name):
                    at = int(np.argmax(columns == column))
                    row = int(np.searchsorted(X.indptr, at, side="right")) - 1
                    raise ValueError(
                        f"{block.where(row)}: the feature {name!r} is not a number from 1, as those "
                        "before it are: number features by column (number_by='column')."
                    )
                self._numbers[column] = int(name)
        return self._numbers[columns]

    def named(self) -> Iterator[bytes]:
        """One line per feature, in the order of columns: its number, a tab, its name."""
        n, step = self._features.n_columns, 1 << 16
        named_by_number = isinstance(self._features, NumberedFeatures) or bool(self._by_name)
        for begin in range(0, n, step):
            columns = range(begin, min(begin + step, n))
            for column, name in zip(columns, self._features.names(columns), strict=True):
                number = name if named_by_number else str(column + 1)
                yield f"{number}\t{name.translate(self._ESCAPES)}\n".encode()


class _VwLines(Lines):
    """label importance | name:value ..., all in the namespace without a name."""

    _UNSAYABLE = re.compile(r"[\x00-\x20:|]|^$")
    _UNSAYABLE_LABEL = re.compile(r"[\x00-\x20:|,]|^'|^$")

    def __init__(self, features: Features) -> None:
        self._names = Names(features, self._name)

    def __call__(self, block: Block) -> bytes:
        if block.weights is not None and block.labels is None:
            raise ValueError(
                f"{block.where(0)}: rows have weights but no labels, which VW text cannot hold: write jsonl "
                "or a table instead."
            )
        X = sparse(block.X)
        data, indptr = _arrays(X)
        labels = label_texts(block, self._label)
        if block.weights is None:
            heads = [f"{label} |" if label else "|" for label in labels]
        else:
            heads = [
                f"{label} {shortest(w)} |" for label, w in zip(labels, block.weights.tolist(), strict=True)
            ]
        numbers = self._names.find(X)
        line = _core.RowFormat(b"", b"\n", self._names.texts())
        return line.sparse(data, numbers, indptr, *joined(heads))

    def _name(self, name: str) -> str:
        if self._UNSAYABLE.search(name):
            raise ValueError(
                f"the feature {name!r} cannot be written as VW text, where blanks, ':' and '|' end a name "
                "and nothing escapes them: rename it, or write jsonl or a table instead."
            )
        return f" {name}:"

    def _label(self, label: str, is_text: bool) -> str:
        if self._UNSAYABLE_LABEL.search(label):
            raise ValueError(
                f"the label {label!r} cannot be written as VW text: blanks, ':', '|', ',' and a ' before it "
                "have a meaning there."
            )
        return label


class _JsonLines(Lines):
    """{"label": ..., "weight": ..., "features": {"name": value, ...}}"""

    def __init__(self, features: Features, columns: Columns) -> None:
        if len({columns.label, columns.weight, "features"}) < 3:
            raise ValueError('label, weight and "features" must be three different keys.')
        self._label_key, self._weight_key = _json(columns.label), _json(columns.weight)
        self._names = Names(features, lambda name: f"{_json(name)}: ")

    def __call__(self, block: Block) -> bytes:
        X = sparse(block.X)
        data, indptr = _arrays(X)
        heads = label_texts(block, lambda label, is_text: _json(label) if is_text else label)
        if block.labels is not None:
            heads = [f"{self._label_key}: {label}, " for label in heads]
        if block.weights is not None:
            weights = map(shortest, block.weights.tolist())
            heads = [
                f"{head}{self._weight_key}: {weight}, " for head, weight in zip(heads, weights, strict=True)
            ]
        heads = [f'{{{head}"features": {{' for head in heads]
        numbers = self._names.find(X)
        line = _core.RowFormat(b", ", b"}}\n", self._names.texts())
        return line.sparse(data, numbers, indptr, *joined(heads))


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
