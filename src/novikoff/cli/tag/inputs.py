"""Files of sentences, for a new tagger or an existing one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from novikoff.cli.options import Options

if TYPE_CHECKING:
    from novikoff.tagging.conll import SentenceFile
    from novikoff.tagging.tagger import Tagger
    from novikoff.tagging.templates import Templates

USUAL = {2: "pos", 3: "chunking"}  # default templates by number of columns


def open_new(options: Options) -> tuple[SentenceFile, str | None]:
    """Files to learn from, and the name of the default templates if none were given."""
    from novikoff.data.sources.bytestream import ByteStream
    from novikoff.tagging.conll import look, open_sentences
    from novikoff.tagging.templates import Templates

    stream, templates = ByteStream(options.data), options.templates
    given = None if templates is None else Templates.read(templates)
    chosen = None
    if given is None:
        format, width = look(stream, options.format or "auto")
        if format == "conllu":
            chosen = "pos"
        elif format == "conll" and options.label is None:
            chosen = USUAL.get(width)
        if format == "conll" and chosen is None and width:
            stream.close()
            raise ValueError(
                f"{stream.name}: there are no default templates for {_columns(width)}: pass --templates with "
                "a file of one template per line, or the name of predefined ones."
            )
        given = None if chosen is None else Templates.named(chosen)
    return open_sentences(stream, given, format=options.format or "auto", label=options.label), chosen


def _columns(n: int) -> str:
    return "one column" if n == 1 else f"{n} columns"


def open_for_tagger(
    tagger: Tagger, data: list[str], options: Options, *, labelled: bool | None
) -> SentenceFile:
    """Files for a tagger to read, with the layout of its training files."""
    from novikoff.data.sources.bytestream import ByteStream
    from novikoff.tagging.conll import look, open_sentences

    stream, templates = ByteStream(data), templates_of(tagger)
    format, width = look(stream, options.format or "auto")
    attributes = format == "crfsuite"
    if width and attributes != (templates is None):
        stream.close()
        has, needs = ("attributes", "columns") if attributes else ("columns", "attributes (CRFsuite's text)")
        raise ValueError(
            f"{stream.name}: the file has {has}, but the tagger was trained on files with {needs}; use "
            "--format if the format was not recognized."
        )
    layout = tagger.parameters.get("layout")
    like = layout if isinstance(layout, dict) else None
    return open_sentences(
        stream,
        templates,
        format=options.format or "auto",
        label=options.label,
        labelled=labelled,
        like=like,
    )


def templates_of(tagger: Tagger) -> Templates | None:
    """The templates that generate a tagger's features; None if files contain the features."""
    return getattr(tagger.features, "templates", None)


def load(path: Path, trust_patterns: bool) -> Tagger:
    """The tagger in a model file."""
    from novikoff.modelfile.container import kind_of_file
    from novikoff.tagging.tagger import Tagger

    if kind_of_file(path) == "model":
        raise ValueError(f"{path}: holds a model for rows, not a tagger: use 'novikoff predict'.")
    return Tagger.load(path, trust_patterns=trust_patterns)
