"""`novikoff tag predict`: a label for every token."""

from __future__ import annotations

import sys
from contextlib import closing, nullcontext

from novikoff.cli import options as opt
from novikoff.cli import output
from novikoff.cli.options import Argument, Options, UsageError
from novikoff.cli.parser import command
from novikoff.cli.tag.inputs import load, open_for_tagger


@command(
    opt.MODEL,
    Argument("data", "FILE...", "Files to tag, with or without labels, or - for standard input."),
    table=opt.TAG_TABLE,
    groups={
        "Options": (
            opt.file_option("output", "The file to write. Default: standard output.", "FILE"),
            opt.flag(
                "beside",
                "Keep the labels of the files, and write predictions in an additional column, as conlleval "
                "expects.",
            ),
            "trust_patterns",
        ),
        "Reading files": opt.TAG_READING,
    },
)
def predict(options: Options) -> None:
    """Tag files, and write them with the predictions; the rest of each file is unchanged.

    For example: novikoff tag predict pos.novikoff new.conllu --output tagged.conllu

    Predictions replace the labels, or are added as a column if there are none. Files are written while they
    are read, so they may be far larger than memory. With --output the file appears when it is complete.
    """
    from novikoff.data.labels import as_text
    from novikoff.outfile import written
    from novikoff.tagging import training as tagging

    tagger = load(options.model, options.trust_patterns)
    names = [as_text(label) for label in tagger.classes.tolist()]
    output.check_labels(names, "tag in Python, with SequenceTagger.load(...).predict.")
    with (
        closing(open_for_tagger(tagger, options.data, options, labelled=None)) as source,
        nullcontext(sys.stdout.buffer) if options.output is None else written(options.output) as file,
    ):
        if options.beside and source.format != "conll":
            raise UsageError(
                f"is not possible for the format '{source.format}', which has no column for it.",
                "--beside",
            )
        for block in source.blocks(tagger.features):
            tags = tagging.tag(tagger.scorer, block.sequences, options.n_jobs)
            file.write(block.tagged(tags, names, behind=options.beside))
