"""`novikoff evaluate`: a model compared with labelled files."""

from __future__ import annotations

from novikoff.cli import output, progress, strict
from novikoff.cli.inputs import check_places, open_labelled
from novikoff.cli.options import LABELLED, MODEL, OUTPUT, READING, READING_FOR_MODEL, Options, row_options
from novikoff.cli.parser import command


@command(
    MODEL,
    LABELLED,
    groups={"Reading files": READING_FOR_MODEL, "Labels": ("relabel",), "Reporting": OUTPUT},
    examples=("novikoff evaluate iris.novikoff examples/data/iris.csv",),
)
def evaluate(options: Options) -> None:
    """Compare a model's predictions with the labels of files.

    Labels are renamed by --relabel, and then by the --relabel and --positive that the model was trained with.
    Files are read with the options that the model was trained with, unless others are given here.
    """
    from novikoff import evaluation

    check_places(options.model, options.data)
    with progress.bar(not (options.quiet or options.json)) as watch:
        given = row_options(options, READING)
        model, source, renaming = open_labelled(options.model, options.data, given, options.relabel)
        found = evaluation.evaluate(model, source, renaming, n_jobs=options.n_jobs, watch=watch)
    strict.check_renamed(options.relabel, renaming)
    skipped = source.skipped
    if options.json:
        figures = found.to_dict() | {"skipped": {"count": skipped.count, "first": skipped.first}}
        output.write_json({"model": str(options.model)} | figures)
    else:
        output.say([*output.evaluation_lines(found), *output.skipped_lines(skipped)])
