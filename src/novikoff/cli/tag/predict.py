"""`novikoff tag predict`: a label for every token."""

from __future__ import annotations

import sys
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from novikoff.cli import output
from novikoff.cli.options import ModelFile
from novikoff.cli.tag.inputs import load, open_for
from novikoff.cli.tag.options import Reading, TrustPatterns, default


def predict(
    model: ModelFile,
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Files to tag, with or without labels, or - for standard input.",
            show_default=False,
        ),
    ],
    *,
    output_file: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write; standard output without it."),
    ] = None,
    beside: Annotated[
        bool,
        typer.Option(
            "--beside",
            help="Leave the labels of the files, and write predictions in a further column, as conlleval "
            "reads them.",
        ),
    ] = False,
    trust_patterns: TrustPatterns = default("trust_patterns"),
    reading: Reading,
) -> None:
    """Tag files, and write them back with the predictions; all else stays as it is.

    For example: novikoff tag predict pos.novikoff new.conllu --output tagged.conllu

    Predictions take the place of labels, or become a further column where there are none. Files are written
    as they are read, so they may be far larger than memory. With --output the file appears when it is
    complete.
    """
    from novikoff.data.labels import as_text
    from novikoff.outfile import written
    from novikoff.tagging import training as tagging

    tagger = load(model, trust_patterns)
    names = [as_text(label) for label in tagger.classes.tolist()]
    output.check_labels(names, "tag in Python, with SequenceTagger.load(...).predict.")
    with (
        closing(open_for(tagger, data, reading, labelled=None)) as source,
        nullcontext(sys.stdout.buffer) if output_file is None else written(output_file) as file,
    ):
        if beside and source.format != "conll":
            raise typer.BadParameter(
                f"is not for files of the format '{source.format}', whose lines have no room for it.",
                param_hint="--beside",
            )
        for block in source.blocks(tagger.features):
            tags = tagging.tag(tagger.scorer, block.sequences, reading.n_jobs)
            file.write(block.tagged(tags, names, behind=beside))
