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
    from novikoff.tagging.conll import look, open_sentences
    from novikoff.tagging.templates import Templates

    stream, templates = ByteStream(options.data), options.templates
    given = None if templates is None else Templates.read(templates)
    chosen, format = None, options.format or "auto"
    try:
        kind, width = look(stream, format)
        if given is None and kind == "conllu":
            chosen = "pos"
        elif given is None and kind == "conll" and width:
            chosen = _usual(stream, width, options.label)
    except BaseException:
        stream.close()
        raise
    given = given if chosen is None else Templates.named(chosen)
    return open_sentences(stream, given, format=format, label=options.label), chosen


def _usual(stream: ByteStream, width: int, label: str | None) -> str:
    """The name of the templates that files of columns get by default."""
    from novikoff.tagging.columns import head_rows, label_number
    from novikoff.tagging.readymade import usual

    column = width - 1 if label is None else label_number(stream.name, label, (), {})
    if column is None or not 0 <= column < width:
        has = f"which has {_columns(width)}"
        named = "; a name needs --templates that name the columns" if column is None else ""
        raise ValueError(f"{stream.name}: --label {label} is no column of the file, {has}{named}.")
    rows = head_rows(stream)
    if chosen := usual(width, column, [row[column] for _, row in rows if len(row) == width]):
        return chosen
    if width == 1:
        line, cells = rows[0][0], rows[0][1][0]
        commas = ", but commas" if "," in cells else ""
        raise ValueError(
            f"{stream.name}, line {line}: expected a token and its label, separated by blanks or tabs, found "
            f"one column{commas}."
        )
    raise ValueError(
        f"{stream.name}: there are no default templates for {_columns(width)} with the label in number "
        f"{column + 1}: pass --templates with a file of one template per line, or the name of predefined "
        "ones; or --label, if the label is not the last column."
    )


def check_test(options: Options, source: SentenceFile) -> None:
    """Read the test files, or the first block of large ones, so that errors are found before training."""
    from novikoff.data.sources.bytestream import ByteStream
    from novikoff.tagging import reading

    if "-" in options.test:
        return
    stream = ByteStream(options.test)
    whole = stream.size is not None and stream.size <= TEST_BYTES
    test = _open(stream, source.templates, source.layout, options, labelled=True)
    try:
        features = reading.begin(source.templates, CHECK_BITS)
        for _ in test.blocks(features):
            if not whole:
                break
    finally:
        test.close()


TEST_BYTES = 1 << 24  # a test file up to this size is read as a whole before training, of others a part
CHECK_BITS = 10  # features are hashed then, as their names do not matter


def _columns(n: int) -> str:
    return "one column" if n == 1 else f"{n} columns"


def open_labelled(tagger: Tagger, data: list[str], options: Options) -> SentenceFile:
    """Files with labels for a tagger to read, with the layout of its training files."""
    from novikoff.data.sources.bytestream import ByteStream

    return _open(ByteStream(data), templates_of(tagger), _layout(tagger), options, labelled=True)


def open_to_tag(tagger: Tagger, data: list[str], options: Options) -> SentenceFile | None:
    """Files to tag, with or without labels; None for a file without a sentence."""
    from novikoff.data.sources.bytestream import ByteStream
    from novikoff.tagging.conll import look

    stream, templates = ByteStream(data), templates_of(tagger)
    try:
        format, width = look(stream, options.format or "auto")
        if not width and len(stream.names) == 1:
            stream.close()
            return None
        if format == "conll" and options.format is None and templates is not None:
            instead = "" if _lacking(tagger) else "; --tokenize reads plain text"
            _refuse_text(stream, _widths(templates, _layout(tagger), options.label), instead)
    except BaseException:
        stream.close()
        raise
    source = _open(stream, templates, _layout(tagger), options, labelled=None)
    source.may_be_empty = True
    return source


def _layout(tagger: Tagger) -> dict[str, object] | None:
    layout = tagger.parameters.get("layout")
    return layout if isinstance(layout, dict) else None


def _open(
    stream: ByteStream,
    templates: Templates | None,
    like: dict[str, object] | None,
    options: Options,
    *,
    labelled: bool | None,
) -> SentenceFile:
    """Files with the layout `like` of the training files."""
    from novikoff.tagging.conll import look, open_sentences

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
