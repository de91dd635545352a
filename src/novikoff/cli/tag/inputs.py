"""Files of sentences, for a new tagger or an existing one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from novikoff.cli.options import Options, UsageError

if TYPE_CHECKING:
    from novikoff.data.sources.bytestream import ByteStream
    from novikoff.tagging.conll import SentenceFile
    from novikoff.tagging.plain_text import PlainText
    from novikoff.tagging.tagger import Tagger
    from novikoff.tagging.templates import Templates


def open_new(options: Options) -> tuple[SentenceFile, str | None]:
    """Files to learn from, and the name of the default templates if none were given."""
    from novikoff.data.sources.bytestream import ByteStream
    from novikoff.tagging.columns import head_rows
    from novikoff.tagging.conll import look, open_sentences
    from novikoff.tagging.readymade import usual
    from novikoff.tagging.templates import Templates

    stream, templates = ByteStream(options.data), options.templates
    given = None if templates is None else Templates.read(templates)
    chosen = None
    if given is None:
        format, width = look(stream, options.format or "auto")
        if format == "conllu":
            chosen = "pos"
        elif format == "conll" and options.label is None:
            chosen = usual(width, [row[-1] for _, row in head_rows(stream) if len(row) == width])
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
    layout = tagger.parameters.get("layout")
    like = layout if isinstance(layout, dict) else None
    try:
        format, width = look(stream, options.format or "auto")
        attributes = format == "crfsuite"
        if width and attributes != (templates is None):
            has, needs = (
                ("attributes", "columns") if attributes else ("columns", "attributes (CRFsuite's text)")
            )
            raise ValueError(
                f"{stream.name}: the file has {has}, but the tagger was trained on files with {needs}; use "
                "--format if the format was not recognized."
            )
        if labelled is None and format == "conll" and options.format is None and templates is not None:
            instead = "" if _lacking(tagger) else "; --tokenize reads plain text"
            _refuse_text(stream, _widths(templates, like, options.label), instead)
    except BaseException:
        stream.close()
        raise
    return open_sentences(
        stream,
        templates,
        format=options.format or "auto",
        label=options.label,
        labelled=labelled,
        like=like,
    )


def open_text(tagger: Tagger, data: list[str], *, split: bool) -> PlainText:
    """Plain text for a tagger whose features need only words."""
    from novikoff.data.sources.bytestream import ByteStream
    from novikoff.tagging.plain_text import PlainText

    if lacking := _lacking(tagger):
        raise UsageError(
            f"is not possible: plain text has words only, and the tagger needs {lacking}.", "--tokenize"
        )
    return PlainText(ByteStream(data), split=split)


def _lacking(tagger: Tagger) -> str:
    """What a tagger needs that plain text does not have; empty if words are enough."""
    templates, layout = templates_of(tagger), tagger.parameters.get("layout")
    if templates is None:
        return "attributes"
    words = {templates.columns[0] if templates.columns else "0", "form", "word", "w"}
    if isinstance(layout, dict) and layout.get("format") == "conllu":
        words = {"form", "word", "w", "1"}
    used = templates.used_columns()
    more = [column for column in used if column not in words]
    return f"the column {more[0]!r}" if more else "" if len(used) == 1 else "several columns"


def _widths(templates: Templates, like: dict[str, object] | None, label: str | None) -> tuple[int, ...]:
    """The possible numbers of columns of a file to tag; none: any."""
    if like is not None and like["format"] == "conll":
        width = like["width"]
        assert isinstance(width, int)
        return (width, width - 1) if like["label"] in ("last", width - 1) else (width,)
    if label is not None or not templates.columns:
        return ()
    return len(templates.columns), len(templates.columns) + 1


def _refuse_text(stream: ByteStream, widths: tuple[int, ...], instead: str) -> None:
    """Refuse lines without the columns that the tagger needs, or of several widths: possibly plain text."""
    from novikoff.tagging.columns import head_rows

    rows = head_rows(stream)
    for number, row in rows:
        if len(row) == len(rows[0][1]) and (not widths or len(row) in widths):
            continue
        same = f"as in line {rows[0][0]}, " if len(row) != len(rows[0][1]) else ""
        expected = len(rows[0][1]) if same else " or ".join(map(str, sorted(widths)))
        raise ValueError(
            f"{stream.names[0]}, line {number}: expected {expected} column{'s' * (str(expected) != '1')}, "
            f"{same}found {len(row)}: there is one token per line{instead}."
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
