"""`novikoff tag evaluate`: a tagger compared with labelled files."""

from __future__ import annotations

from novikoff.cli import output, progress
from novikoff.cli.options import MODEL, OUTPUT, TAG_READING, TAG_TABLE, Argument, Options
from novikoff.cli.parser import command
from novikoff.cli.tag.inputs import load, open_labelled
from novikoff.cli.tag.scores import score_lines


@command(
    MODEL,
    Argument("data", "FILE...", "Files with labels, or - for standard input."),
    table=TAG_TABLE,
    groups={"Reading files": (*TAG_READING, "trust_patterns"), "Reporting": OUTPUT},
    examples=("novikoff tag evaluate chunks.novikoff examples/data/chunks.conll",),
)
def evaluate(options: Options) -> None:
    """Compare a tagger's labels with those of files.

    Labels such as B-NP, I-NP and O are counted by chunks, as conlleval does: precision is the share of the
    chunks found that are right, recall the share of the true chunks that were found. With other labels each
    token is a chunk.
    """
    from novikoff.tagging.scoring import score_file

    with progress.bar(not (options.quiet or options.json)) as watch:
        tagger = load(options.model, options.trust_patterns)
        source = open_labelled(tagger, options.data, options)
        scores = score_file(tagger, source, n_jobs=options.n_jobs, watch=watch)
    if options.json:
        output.write_json({"model": str(options.model)} | scores.to_dict())
    else:
        output.say(score_lines(scores))
