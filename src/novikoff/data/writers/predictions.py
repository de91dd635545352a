"""Predictions as a file: one row per row of the input, with its id, its label and its scores."""

from __future__ import annotations

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.data.labels import as_text
from novikoff.data.sources.formats import format_of_name

LABEL, SCORE = "label", "score"


def prediction_format(name: str) -> str:
    """The format of a file of predictions with this name: 'text', a label per line, where it says nothing."""
    found = format_of_name(name)
    return found if found in ("jsonl", "csv", "tsv", "parquet") else "text"


class PredictionTable(ABC):
    """Abstract: predictions as a table, written block by block.

    Its columns are the id, if there is one, the label, and the scores, if they are asked for: that of the
    second of two classes as `score`, otherwise `score.CLASS` for each.
    """

    def __init__(self, file: Any, classes: npt.NDArray[Any], *, id: str | None, scores: bool) -> None:
        self.file, self.id = file, id
        self.labels: list[Any] = classes.tolist()
        names = [as_text(label) for label in self.labels]
        self.score_names = []
        if scores:
            self.score_names = [SCORE] if len(names) == 2 else [f"{SCORE}.{name}" for name in names]
        self.columns = [*([] if id is None else [id]), LABEL, *self.score_names]
        if id in self.columns[1:]:
            raise ValueError(
                f"the column of ids is named {id!r}, as one of the predictions is: rename it in the input."
            )

    @abstractmethod
    def write(self, places: npt.NDArray[Any], scores: npt.NDArray[Any] | None, ids: Any) -> None:
        """Write the predictions of a block: the index of each row's class."""

    @abstractmethod
    def end(self) -> None:
        """Write what belongs to the end."""


class TextTable(PredictionTable):
    """CSV or TSV, with the names of the columns in the first line."""

    def __init__(self, file: Any, classes: Any, *, delimiter: str, id: str | None, scores: bool) -> None:
        super().__init__(file, classes, id=id, scores=scores)
        self._delimiter = delimiter
        self._texts = np.array([as_text(label) for label in self.labels], dtype=object)
        self._send([self.columns])

    def write(self, places: npt.NDArray[Any], scores: npt.NDArray[Any] | None, ids: Any) -> None:
        columns: list[Sequence[Any]] = [] if self.id is None else [[id_text(each) for each in _listed(ids)]]
        columns.append(self._texts[places].tolist())
        if self.score_names:
            assert scores is not None
            columns += scores.reshape(len(places), -1).T.tolist()
        self._send(list(zip(*columns, strict=True)))

    def _send(self, rows: Sequence[Sequence[Any]]) -> None:
        out = io.StringIO()
        if self._delimiter == "\t":
            for row in rows:
                for cell in row:
                    if isinstance(cell, str) and ("\t" in cell or "\n" in cell or "\r" in cell):
                        raise ValueError(
                            f"{cell!r} has a tab or a line break, which a cell of TSV cannot hold: "
                            "write csv, jsonl or parquet."
                        )
                out.write("\t".join(map(str, row)) + "\n")
        else:
            csv.writer(out, lineterminator="\n").writerows(rows)
        self.file.write(out.getvalue().encode())

    def end(self) -> None:
        """Nothing follows the last row."""


class ParquetTable(PredictionTable):
    """Parquet: labels as text or numbers, scores as doubles, ids of their own type."""

    _writer: Any = None

    def write(self, places: npt.NDArray[Any], scores: npt.NDArray[Any] | None, ids: Any) -> None:
        import pyarrow as pa

        arrays = []
        if self.id is not None:
            arrays.append(ids if isinstance(ids, pa.Array) else _as_arrow(_listed(ids), self._id_type()))
        arrays.append(pa.array(self.labels).take(pa.array(places)))
        if self.score_names:
            assert scores is not None
            by_class = np.ascontiguousarray(scores.reshape(len(places), -1).T)
            arrays += [pa.array(column) for column in by_class]
        batch = pa.RecordBatch.from_arrays(arrays, names=self.columns)
        self._open(batch.schema).write_batch(batch)

    def _id_type(self) -> Any:
        return None if self._writer is None else self._writer.schema.field(0).type

    def _open(self, schema: Any) -> Any:
        import pyarrow.parquet

        if self._writer is None:
            self._writer = pyarrow.parquet.ParquetWriter(self.file, schema)
        return self._writer

    def end(self) -> None:
        """Write the end of the file, which is empty if no block came."""
        import pyarrow as pa

        kinds = [] if self.id is None else [pa.string()]
        kinds += [pa.array(self.labels).type, *[pa.float64()] * len(self.score_names)]
        self._open(pa.schema(list(zip(self.columns, kinds, strict=True)))).close()


def prediction_table(
    format: str, file: Any, classes: npt.NDArray[Any], *, id: str | None, scores: bool
) -> PredictionTable:
    """The table to write predictions to, in CSV, TSV or Parquet."""
    if format == "parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise ImportError("writing parquet needs pyarrow: pip install 'novikoff[files]'.") from None
        return ParquetTable(file, classes, id=id, scores=scores)
    delimiter = "," if format == "csv" else "\t"
    return TextTable(file, classes, delimiter=delimiter, id=id, scores=scores)


def _listed(ids: Any) -> list[Any]:
    return ids.to_pylist() if hasattr(ids, "to_pylist") else list(ids)


def id_text(value: Any) -> str:
    """An id as text.

    >>> id_text(7.0), id_text("007"), id_text(True), id_text(None)
    ('7', '007', 'true', '')
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _as_arrow(ids: list[Any], type_: Any) -> Any:
    """Ids of JSON lines as a column: text if they are of several types."""
    import pyarrow as pa

    try:
        return pa.array(ids, type_)
    except (pa.ArrowException, TypeError, OverflowError):
        if type_ is not None and not pa.types.is_string(type_):
            raise ValueError(
                f"an id after the first rows is no {type_}, as those are, and a column of Parquet has one "
                "type: write jsonl or csv."
            ) from None
        return pa.array([id_text(each) for each in ids], pa.string())
