"""`novikoff predict`: a label for every row."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any

from novikoff.cli import output
from novikoff.cli.inputs import check_places, open_for_model
from novikoff.cli.options import (
    MODEL,
    READING,
    READING_FOR_MODEL,
    Argument,
    Options,
    UsageError,
    file_option,
    flag,
    row_options,
    value_option,
)
from novikoff.cli.parser import command

if TYPE_CHECKING:
    from novikoff.data.sources.source import Source
    from novikoff.data.writers.predictions import PredictionTable

FORMATS = ("text", "jsonl", "csv", "tsv", "parquet")
EXCEL = (".xlsx", ".xls", ".ods")
SLICE = 1 << 20  # approximate number of characters written at once


@command(
    MODEL,
    Argument("data", "DATA...", "Files, with or without labels, or - for standard input."),
    groups={
        "Reading files": READING_FOR_MODEL,
        "Reporting": (
            value_option(
                "id",
                "A column of a table, or a key of JSON lines, to write beside the predictions.",
                metavar="COLUMN",
            ),
            flag(
                "scores",
                "Write the scores too: that of the second class if there are two classes, otherwise one per "
                "class, in the order that 'inspect' shows.",
            ),
            flag("json", "The same as --to jsonl: one JSON object per line, with the scores by class."),
        ),
        "Writing": (
            file_option(
                "output",
                "The file to write; .csv, .tsv, .parquet and .jsonl mean the format. Default: stdout.",
                "FILE",
            ),
            value_option(
                "to",
                "The format to write; 'text' is a label per line. Default: as the file's name says, or text.",
                choices=FORMATS,
            ),
        ),
    },
    examples=(
        "novikoff predict iris.novikoff examples/data/iris.csv",
        "novikoff predict spam.novikoff examples/data/messages.tsv --scores -o spam.csv",
    ),
)
def predict(options: Options) -> None:
    """Write a label for every row: line i of the output is for row i.

    Labels with line breaks, tabs or other control characters need another format than text.

    Predictions are written as the files are read. With --output the file appears when it is complete. Files
    without rows give no predictions.
    """
    from novikoff.data.labels import as_text
    from novikoff.data.sources.block import by_name
    from novikoff.data.sources.text import NoRows
    from novikoff.data.writers.predictions import prediction_format, prediction_table
    from novikoff.loading import load_classifier
    from novikoff.outfile import written

    if options.json and options.to not in (None, "jsonl"):
        raise UsageError("means --to jsonl; leave out one of them.", "--json")
    format = "jsonl" if options.json else options.to
    if format is None and options.output is not None and options.output.suffix.lower() in EXCEL:
        raise UsageError("cannot be an Excel file: Excel opens .csv files.", "--output")
    format = format or ("text" if options.output is None else prediction_format(str(options.output)))
    check_places(options.model, options.data)
    model = load_classifier(options.model)
    names = [as_text(label) for label in model.classes.tolist()]
    if format == "text":
        output.check_labels(names, "--to jsonl writes such labels, and so does --to csv.")
    given = row_options(options, READING) | ({} if options.id is None else {"id": options.id})
    source: Source | None = None
    with suppress(NoRows):
        source = open_for_model(model, options.data, given, labelled=False)
    with nullcontext(sys.stdout.buffer) if options.output is None else written(options.output) as file:
        out: _Lines | PredictionTable
        if format in ("text", "jsonl"):
            out = _Lines(file, model.classes.tolist(), names, options.id, as_json=format == "jsonl")
        else:
            out = prediction_table(format, file, model.classes, id=options.id, scores=options.scores)
        with suppress(NoRows):
            for block in () if source is None else source.blocks(reuse=True):
                scores = None
                with by_name(block.where, model.features):
                    if options.scores:
                        places, scores = model.places_and_scores(block.X, options.n_jobs)
                    else:
                        places = model.places(block.X, options.n_jobs)
                out.write(places, scores, block.ids)
        out.end()
    if source is not None:
        output.say(output.skipped_lines(source.skipped), err=True)


class _Lines:
    """Predictions as lines of text, or of JSON."""

    def __init__(
        self, file: Any, labels: list[Any], names: list[str], id: str | None, *, as_json: bool
    ) -> None:
        self._file, self._labels, self._names, self._id, self._as_json = file, labels, names, id, as_json
        if as_json and id in ("label", "scores"):
            raise ValueError(
                f"the key of ids is {id!r}, as a key of the predictions is: rename it in the input."
            )

    def write(self, places: Any, scores: Any, ids: Any) -> None:
        """Write the predictions of a block."""
        rows: list[Any] = [None] * len(places)
        if scores is not None:
            rows = (scores[:, None] if scores.ndim == 1 else scores).tolist()
        listed = None if ids is None else ids.to_pylist() if hasattr(ids, "to_pylist") else ids
        for lines in self._slices(places.tolist(), rows, listed):
            self._file.write(("\n".join(lines) + "\n").encode())

    def end(self) -> None:
        """Nothing follows the last line."""

    def _slices(self, places: list[int], scores: list[Any], ids: list[Any] | None) -> Iterator[list[str]]:
        """The lines of a block, in slices, because labels may be long."""
        names = self._names
        lengths = [len(name) for name in names]
        step = SLICE // (1 + max(lengths) + (sum(lengths) if scores[:1] != [None] else 0)) + 1
        for begin in range(0, len(places), step):
            part = slice(begin, begin + step)
            known = [None] * len(places[part]) if ids is None else ids[part]
            rows = zip(known, places[part], scores[part], strict=True)
            if self._as_json:
                yield [self._json(id, self._labels[k], row) for id, k, row in rows]
            else:
                yield ["\t".join([*self._lead(id), names[k], *map(repr, row or ())]) for id, k, row in rows]

    def _lead(self, id: Any) -> list[str]:
        from novikoff.data.writers.predictions import id_text

        if self._id is None:
            return []
        text = id_text(id)
        output.check_labels([text], "--to jsonl writes such ids.", "id")
        return [text]

    def _json(self, id: Any, label: Any, scores: list[float] | None) -> str:
        row: dict[str, Any] = {} if self._id is None else {self._id: _as_json(id)}
        row["label"] = label
        if scores is not None:
            names = self._names
            row["scores"] = dict(zip(names[1:] if len(scores) == 1 else names, scores, strict=True))
        return output.json_line(row)


def _as_json(value: Any) -> Any:
    """An id as it is, or as text; whole numbers of a column of numbers without a point."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if value is None or isinstance(value, str | int | float) else str(value)
