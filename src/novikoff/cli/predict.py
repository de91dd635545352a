"""`novikoff predict`: a label for every row."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from novikoff.cli import output
from novikoff.cli.options import MODEL, READING, Argument, Options, file_option, flag, row_options
from novikoff.cli.parser import command

SLICE = 1 << 20  # approximate number of characters written at once


@command(
    MODEL,
    Argument("data", "DATA...", "Files, with or without labels, or - for standard input."),
    groups={
        "Options": (
            file_option("output", "The file to write. Default: standard output.", "FILE"),
            flag(
                "scores",
                "Write the scores too, separated by tabs: that of the second class if there are two classes, "
                "otherwise one per class, in the order that 'inspect' shows.",
            ),
            flag("json", "Write one JSON object per line, with the scores by class."),
        ),
        "Reading files": READING,
    },
)
def predict(options: Options) -> None:
    """Predict the label of every row: line i of the output is for row i.

    Labels with line breaks, tabs or other control characters need --json, which escapes them.

    For example: novikoff predict spam.novikoff new.svm --output labels.txt

    Predictions are written as the files are read. With --output the file appears when it is complete.
    """
    from novikoff.cli.inputs import open_for_model
    from novikoff.data.labels import as_text
    from novikoff.data.sources.block import by_name
    from novikoff.loading import load_classifier
    from novikoff.outfile import written

    model, n_jobs = load_classifier(options.model), options.n_jobs
    labels: list[Any] = model.classes.tolist()
    names = [as_text(label) for label in labels]
    if not options.json:
        output.check_labels(names, "--json writes such labels.")
    source = open_for_model(model, options.data, row_options(options, READING), labelled=False)
    with nullcontext(sys.stdout.buffer) if options.output is None else written(options.output) as file:
        for block in source.blocks(reuse=True):
            scores: list[Any] = [None] * block.n_rows
            with by_name(block.where, source.features):
                if options.scores:
                    places, found = model.places_and_scores(block.X, n_jobs)
                    scores = (found[:, None] if found.ndim == 1 else found).tolist()
                else:
                    places = model.places(block.X, n_jobs)
            for lines in _lines(places.tolist(), scores, labels, names, as_json=options.json):
                file.write(("\n".join(lines) + "\n").encode())
    output.say(output.skipped_lines(source.skipped), err=True)


def _lines(
    places: list[int], scores: list[Any], labels: list[Any], names: list[str], *, as_json: bool
) -> Iterator[list[str]]:
    """The lines of a block, in slices, because labels may be long."""
    lengths = [len(name) for name in names]
    step = SLICE // (1 + max(lengths) + (sum(lengths) if scores[:1] != [None] else 0)) + 1
    for begin in range(0, len(places), step):
        rows = zip(places[begin : begin + step], scores[begin : begin + step], strict=True)
        if as_json:
            yield [_json(labels[k], row, names) for k, row in rows]
        else:
            yield ["\t".join([names[k], *map(repr, row or ())]) for k, row in rows]


def _json(label: Any, scores: list[float] | None, names: list[str]) -> str:
    row: dict[str, Any] = {"label": label}
    if scores is not None:
        row["scores"] = dict(zip(names[1:] if len(scores) == 1 else names, scores, strict=True))
    return output.json_line(row)
