"""`novikoff evaluate`: a model beside labelled files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from novikoff.cli import output, progress
from novikoff.cli.options import LABELLED, MODEL, OUTPUT, READING, Options, row_options
from novikoff.cli.parser import command

if TYPE_CHECKING:
    from novikoff.data.sources.progress import Watch
    from novikoff.data.sources.source import Skipped
    from novikoff.evaluation import Evaluation


@command(
    MODEL,
    LABELLED,
    groups={"Options": ("relabel",), "Reading files": READING, "Output": OUTPUT},
)
def evaluate(options: Options) -> None:
    """Compare a model's predictions with the labels of files.

    For example: novikoff evaluate spam.novikoff test.svm

    Labels are renamed by --relabel, and then as they were when the model was made (--relabel, --positive).
    Files are read with the options that the model was made with, unless they are given here.
    """
    with progress.bar(not (options.quiet or options.json)) as watch:
        evaluation, skipped = evaluate_file(
            options.model,
            options.data,
            row_options(options, READING),
            options.relabel,
            n_jobs=options.n_jobs,
            watch=watch,
        )
    if options.json:
        figures = evaluation.to_dict() | {"skipped": {"count": skipped.count, "first": skipped.first}}
        output.write_json({"model": str(options.model)} | figures)
    else:
        output.say([*output.evaluation_lines(evaluation), *output.skipped_lines(skipped)])


def evaluate_file(
    path: Path,
    data: list[str],
    reading: dict[str, Any],
    relabel: dict[str, str] | None = None,
    *,
    n_jobs: int,
    watch: Watch | None,
) -> tuple[Evaluation, Skipped]:
    """A saved model's predictions on files, counted; and the lines that were skipped."""
    from novikoff.cli.inputs import open_for_model, renaming_for_model
    from novikoff.evaluation import evaluate
    from novikoff.loading import load_classifier

    model = load_classifier(path)
    source = open_for_model(model, data, reading)
    renaming = renaming_for_model(model, relabel or {})
    return evaluate(model, source, renaming, n_jobs=n_jobs, watch=watch), source.skipped
