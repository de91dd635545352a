"""`novikoff tag evaluate`: a tagger beside labelled files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from novikoff.cli import output, progress
from novikoff.cli.options import ModelFile, Output
from novikoff.cli.tag import scores as words
from novikoff.cli.tag.inputs import load, open_for
from novikoff.cli.tag.options import Reading, TrustPatterns, default

if TYPE_CHECKING:
    from novikoff.data.sources.progress import Watch
    from novikoff.tagging.scoring import TagScores


def evaluate(
    model: ModelFile,
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help="Files with labels, or - for standard input.", show_default=False
        ),
    ],
    *,
    trust_patterns: TrustPatterns = default("trust_patterns"),
    reading: Reading,
    out: Output,
) -> None:
    """Compare a tagger's labels with those of files.

    For example: novikoff tag evaluate chunks.novikoff test.txt

    Labels such as B-NP, I-NP and O are counted by chunks, as conlleval does: precision is the share of the
    chunks found that are right, recall the share of the true chunks that were found. Of other labels each
    token is a chunk by itself.
    """
    with progress.shown(not (out.quiet or out.json)) as watch:
        scores = evaluated(model, data, reading, watch, trust_patterns)
    if out.json:
        output.write_json({"model": str(model)} | scores.to_dict())
    else:
        output.say(words.lines(scores))


def evaluated(
    path: Path, data: list[str], reading: Reading, watch: Watch | None, trust_patterns: bool
) -> TagScores:
    """A saved tagger's labels on files, counted."""
    from novikoff.tagging.scoring import score_file

    tagger = load(path, trust_patterns)
    source = open_for(tagger, data, reading, labelled=True)
    return score_file(tagger, source, n_jobs=reading.n_jobs, watch=watch)
