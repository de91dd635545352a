"""Rows as tables with one column per feature: CSV, TSV, Parquet and Arrow files.

Columns must be known before the first row is written, so the source is read twice. Columns without any value
are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import copy
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff import _core
from novikoff.data.sources.block import Block, Csr, Floats, Labels
from novikoff.data.sources.dialect import sniff_delimiter
from novikoff.data.sources.source import Source
from novikoff.data.text_labels import TextLabels
from novikoff.data.writers.row_text import Columns, joined, label_texts, shortest
from novikoff.outfile import Target, written

if TYPE_CHECKING:
    import pyarrow as pa

MOST_COLUMNS = 10_000
DENSE_VALUES = 1 << 21  # numbers in memory at a time: 16 MiB


def write_table(
    source: Source, blocks: Iterator[Block], target: Target, format: str, columns: Columns
) -> None:
    """Write `blocks`, those of `source`, after a pass that finds the columns."""
    layout = Layout(source, columns)
    if format in ("csv", "tsv"):
        _write_text(layout, blocks, target, format)
    else:
        _write_arrow(layout, blocks, target, format)


class Layout:
    """The columns of the table: label and weight, if the source has them, then features."""

    def __init__(self, source: Source, columns: Columns) -> None:
        if not source.can_reread:
            raise ValueError(
                f"{source.name} can be read only once, which is not enough for a table: its columns must be "
                "found first. Save it to a file, or write jsonl, vw or libsvm."
            )
        used = np.zeros(0, dtype=bool)
        has_label = has_weight = is_text = False
        for block in source.blocks(reuse=True):
            X = block.X
            if X.shape[1] > len(used):
                used = np.concatenate(
                    [used, np.zeros(max(X.shape[1], 2 * len(used)) - len(used), dtype=bool)]
                )
            used[X.indices if isinstance(X, Csr) else slice(X.shape[1])] = True
            has_label, has_weight = block.labels is not None, has_weight or block.weights is not None
            is_text = isinstance(block.labels, TextLabels)
        self.columns = np.flatnonzero(used)  # of the source
        n = len(self.columns)
        if n == 0:
            raise ValueError(f"{source.name}: no row has a feature, and a table needs a column: write jsonl.")
        if n > MOST_COLUMNS:
            raise ValueError(
                f"{source.name} has {n:,} features, and a table with more than {MOST_COLUMNS:,} columns, "
                "most of them zero in every row, is not useful: write libsvm, vw or jsonl."
            )
        self.names = source.features.names(self.columns.tolist())
        self.label = columns.label if has_label else None
        self.weight = columns.weight if has_weight else None
        self.labels_are_text = is_text
        for taken in (self.label, self.weight):
            if taken in self.names or (taken is not None and self.label == self.weight):
                raise ValueError(
                    f"two columns would be named {taken!r}: choose other names for the columns of labels "
                    "and weights (columns=Columns(label=..., weight=...))."
                )
        self._places = np.full(len(used), -1, dtype=np.int64)
        self._places[self.columns] = np.arange(n)

    @property
    def leading(self) -> list[str]:
        """Names of the columns before the features."""
        return [name for name in (self.label, self.weight) if name is not None]

    def dense(self, block: Block) -> Iterator[tuple[slice, Floats]]:
        """Slices of rows, with their features."""
        step = max(DENSE_VALUES // max(len(self.columns), 1), 1)
        X = block.X
        for begin in range(0, block.n_rows, step):
            end = min(begin + step, block.n_rows)
            out: Floats
            if isinstance(X, Csr):
                part = slice(int(X.indptr[begin]), int(X.indptr[end]))
                row = np.repeat(np.arange(end - begin), np.diff(X.indptr[begin : end + 1]))
                out = np.zeros((end - begin, len(self.columns)))
                out[row, self._places[X.indices[part]]] = X.data[part]
            else:
                out = X[begin:end].astype(np.float64, order="C", copy=False)
            yield slice(begin, end), out

    def weights(self, block: Block) -> Floats:
        return np.ones(block.n_rows) if block.weights is None else block.weights


# ---- CSV and TSV ---------------------------------------------------------------------------------------
class _Cells:
    """Names and labels as cells."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter, self._quotes = delimiter, delimiter == ","
        self._unsayable = re.compile(r"[\r\n]|^\s|\s$|^$" if self._quotes else r"[\r\n\t]|^\s|\s$|^$")

    def __call__(self, text: str, what: str) -> str:
        if self._unsayable.search(text):
            but = "no line breaks" if self._quotes else "no line breaks or tabs"
            raise ValueError(
                f"the {what} {text!r} cannot be written here: cells have {but}, no blanks around them, and "
                "are not empty. Write jsonl or parquet instead."
            )
        if self._quotes and re.search('[",;\t]', text):
            return '"' + text.replace('"', '""') + '"'
        return text


def _write_text(layout: Layout, blocks: Iterator[Block], target: Target, format: str) -> None:
    delimiter = "," if format == "csv" else "\t"
    cells = _Cells(delimiter)
    header = delimiter.join(
        [cells(name, "column") for name in layout.leading] + [cells(name, "feature") for name in layout.names]
    )
    if format == "csv" and sniff_delimiter(header, '"') != ",":
        raise ValueError("feature names contain so many ';' or tabs that the CSV file would be misread.")
    line = _core.RowFormat(delimiter.encode(), b"\n")
    with written(target) as out:
        out.write(f"{header}\n".encode())
        for block in blocks:
            heads = label_texts(block, lambda label, is_text: cells(label, "label"))
            parts = [heads] if layout.label is not None else []
            if layout.weight is not None:
                parts.append([shortest(w) for w in layout.weights(block).tolist()])
            heads = [delimiter.join(row) for row in zip(*parts, strict=True)] if parts else heads
            if parts and layout.names:
                heads = [f"{head}{delimiter}" for head in heads]
            for rows, X in layout.dense(block):
                out.write(line.dense(X, *joined(heads[rows])))


# ---- Parquet and Arrow ---------------------------------------------------------------------------------
def _write_arrow(layout: Layout, blocks: Iterator[Block], target: Target, format: str) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        raise ImportError(f"writing {format} needs pyarrow: pip install 'novikoff[files]'.") from None
    kinds = [pa.string() if layout.labels_are_text else pa.float64()] if layout.label is not None else []
    kinds += [pa.float64()] if layout.weight is not None else []
    names = [*layout.leading, *layout.names]
    schema = pa.schema(list(zip(names, kinds + [pa.float64()] * len(layout.names), strict=True)))
    with written(target) as file:
        writer: Any = (
            pa.parquet.ParquetWriter(file, schema)
            if format == "parquet"
            else pa.ipc.new_file(pa.PythonFile(file, "w"), schema)
        )
        with writer:
            for batch in _batches(layout, blocks, schema):
                writer.write_batch(batch)


def _batches(layout: Layout, blocks: Iterator[Block], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Record batches of as many rows as DENSE_VALUES allows; each becomes a row group in Parquet."""
    import pyarrow as pa

    parts: list[tuple[Labels | None, Floats, Floats]] = []
    count = 0

    def batch() -> pa.RecordBatch:
        labels, weights, rows = zip(*parts, strict=True)
        arrays = []
        if layout.label is not None:
            has_text = layout.labels_are_text
            arrays.append(pa.array(list(chain.from_iterable(labels)) if has_text else np.concatenate(labels)))
        arrays += [pa.array(np.concatenate(weights))] if layout.weight is not None else []
        by_column = np.ascontiguousarray(np.concatenate(rows).T)
        arrays += [pa.array(column) for column in by_column]
        parts.clear()
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    for block in blocks:
        for rows, X in layout.dense(block):
            labels = None if block.labels is None else copy(block.labels[rows])
            parts.append((labels, layout.weights(block)[rows].copy(), X.copy()))
            count += X.size + len(X)
            if count >= DENSE_VALUES:
                yield batch()
                count = 0
    if parts:
        yield batch()
