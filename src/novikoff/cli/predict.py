"""`novikoff predict`: a label for every row."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from novikoff.cli import output
from novikoff.cli.options import ModelFile, Reading

if TYPE_CHECKING:
    from novikoff.kernel.model import KernelModel
    from novikoff.linear.model import LinearModel


SLICE = 1 << 20  # characters of predictions that are written at once, about


def predict(
    model: ModelFile,
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA",
            help="Files, with or without labels, or - for standard input.",
            show_default=False,
        ),
    ],
    *,
    output_file: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write; standard output without it."),
    ] = None,
    scores: Annotated[
        bool,
        typer.Option(
            "--scores",
            help="Write the scores too, with tabs between: one for the second class where there are two, "
            "otherwise one for each class, in the order that 'inspect' shows.",
        ),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Write a JSON object a line; scores come by class.")
    ] = False,
    reading: Reading,
) -> None:
    """Predict the label of every row: line i of the output is for row i.

    Labels with line breaks, tabs or other control characters need --json, which escapes them.

    For example: novikoff predict spam.novikoff new.svm --output labels.txt

    Predictions are written as the files are read. With --output the file appears when it is complete.
    """
    from novikoff.cli.inputs import source_for
    from novikoff.data.labels import as_text
    from novikoff.loading import load_classifier
    from novikoff.outfile import written

    fitted = load_classifier(model)
    if not json:
        output.check_labels(map(as_text, fitted.classes.tolist()), "--json writes such labels.")
    source = source_for(fitted, data, reading, labelled=False)
    with nullcontext(sys.stdout.buffer) if output_file is None else written(output_file) as file:
        for lines in _predictions(fitted, source, reading.n_jobs, scores=scores, as_json=json):
            file.write(("\n".join(lines) + "\n").encode())
    for line in output.skipped_lines(source.skipped):
        output.say([line], err=True)


def _predictions(
    fitted: LinearModel | KernelModel, source: Any, n_jobs: int, *, scores: bool, as_json: bool
) -> Iterator[list[str]]:
    """The lines of each block, some at a time: labels may be long."""
    from novikoff.data.labels import as_text
    from novikoff.data.sources.block import by_name

    labels = fitted.classes.tolist()
    names = [as_text(c) for c in labels]
    lengths = [len(name) for name in names]
    step = SLICE // (1 + max(lengths) + (sum(lengths) if scores else 0)) + 1
    for block in source.blocks(reuse=True):
        rows: list[Any] = [None] * block.n_rows
        with by_name(block.where, source.features):
            if scores:
                places, found = fitted.places_and_scores(block.X, n_jobs)
                rows = (found[:, None] if found.ndim == 1 else found).tolist()
            else:
                places = fitted.places(block.X, n_jobs)
        for begin in range(0, block.n_rows, step):
            each = list(zip(places[begin : begin + step].tolist(), rows[begin : begin + step], strict=True))
            if as_json:
                yield [_json(labels[k], row, names) for k, row in each]
            elif scores:
                yield ["\t".join([names[k], *map(repr, row)]) for k, row in each]
            else:
                yield [names[k] for k, _ in each]


def _json(label: Any, scores: list[float] | None, names: list[str]) -> str:
    said: dict[str, Any] = {"label": label}
    if scores is not None:
        said["scores"] = dict(zip(names[1:] if len(scores) == 1 else names, scores, strict=True))
    return output.json_line(said)
