"""`novikoff evaluate`: a model beside labelled files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from novikoff.cli import output, progress
from novikoff.cli.options import ModelFile, Output, Reading, option, pairs

if TYPE_CHECKING:
    from novikoff.data.sources.progress import Watch
    from novikoff.data.sources.source import Skipped
    from novikoff.evaluation import Evaluation


def evaluate(
    model: ModelFile,
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA", help="Files with labels, or - for standard input.", show_default=False
        ),
    ],
    relabel: Annotated[list[str] | None, option("relabel", metavar="OLD=NEW")] = None,
    *,
    reading: Reading,
    out: Output,
) -> None:
    """Compare a model's predictions with the labels of files.

    For example: novikoff evaluate spam.novikoff test.svm

    Labels are renamed by --relabel, and then as they were when the model was made (--relabel, --positive).
    How to read the files is remembered from there too, unless given anew.
    """
    with progress.shown(not (out.quiet or out.json)) as watch:
        evaluation, skipped = evaluated(model, data, reading, watch, pairs(relabel))
    if out.json:
        figures = evaluation.to_dict() | {"skipped": {"count": skipped.count, "first": skipped.first}}
        output.write_json({"model": str(model)} | figures)
    else:
        output.say([*output.evaluation_lines(evaluation), *output.skipped_lines(skipped)])


def evaluated(
    path: Path,
    data: list[str],
    reading: Reading,
    watch: Watch | None,
    relabel: dict[str, str] | None = None,
) -> tuple[Evaluation, Skipped]:
    """A saved model's predictions on files, counted; and the lines that were passed over."""
    from novikoff.cli.inputs import renaming, source_for
    from novikoff.evaluation import evaluate
    from novikoff.loading import load_classifier

    linear = load_classifier(path)
    source = source_for(linear, data, reading)
    evaluation = evaluate(linear, source, renaming(linear, relabel or {}), n_jobs=reading.n_jobs, watch=watch)
    return evaluation, source.skipped
