"""`novikoff tag predict`: a label for every token."""

from __future__ import annotations

import sys
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING

from novikoff.cli import options as opt
from novikoff.cli.options import Argument, Options, UsageError
from novikoff.cli.parser import command
from novikoff.cli.tag.inputs import load, open_text, open_to_tag

if TYPE_CHECKING:
    from novikoff.tagging.conll import SentenceFile
    from novikoff.tagging.plain_text import PlainText


@command(
    opt.MODEL,
    Argument("data", "FILE...", "Files to tag, with or without labels, or - for standard input."),
    table=opt.TAG_TABLE,
    groups={
        "Reading files": (
            *opt.TAG_READING,
            opt.flag(
                "tokenize",
                "The files are plain text, one sentence per line. A token is a word, a number, or a run of "
                "one punctuation mark; the output has a token and its label per line.",
            ),
            opt.flag("split_sentences", "With --tokenize: a line may have several sentences."),
            "trust_patterns",
        ),
        "Reporting": (
            opt.flag(
                "scores",
                "Write behind each label by how much the best labelling beats the best one with another "
                "label there. It is a difference of scores, not a probability.",
            ),
            "k_best",
            "scheme",
            opt.flag(
                "json",
                "Write one JSON object per sentence: its tokens and labels; with --scores the scores, with "
                "--k-best all labellings.",
            ),
        ),
        "Writing": (
            opt.file_option("output", "The file to write. Default: standard output.", "FILE"),
            opt.flag(
                "beside",
                "Keep the labels of the files, and write predictions in an additional column, as conlleval "
                "expects.",
            ),
        ),
    },
    examples=(
        "novikoff tag predict pos.novikoff examples/data/pos.conllu",
        "echo 'A dog sees the cat.' | novikoff tag predict pos.novikoff - --tokenize",
    ),
)
def predict(options: Options) -> None:
    """Label every token of files, and leave the rest of them as it is.

    Predictions replace the labels, or are added as a column if there are none. Files are written while they
    are read, so they may be far larger than memory. With --output the file appears when it is complete.
    """
    from novikoff.cli.tag.predictions import Predictions
    from novikoff.outfile import written

    tagger = load(options.model, options.trust_patterns)
    if options.split_sentences and not options.tokenize:
        raise UsageError("is only possible with --tokenize.", "--split-sentences")
    if options.tokenize:
        for name in ("format", "label", "beside"):
            if name in options.given:
                raise UsageError("is not possible with --tokenize.", opt.flag_of(name))
    predictions = Predictions(tagger, options)
    source: PlainText | SentenceFile | None
    if options.tokenize:
        source = open_text(tagger, options.data, split=options.split_sentences)
    else:
        source = open_to_tag(tagger, options.data, options)
    with (
        nullcontext() if source is None else closing(source),
        nullcontext(sys.stdout.buffer) if options.output is None else written(options.output) as file,
    ):
        if source is None:
            return
        predictions.check(source)
        for block in source.blocks(tagger.features):
            file.write(predictions.of(block, source))
