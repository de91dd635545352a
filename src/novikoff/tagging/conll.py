"""Files with one token per line and empty lines between sentences: CoNLL columns, CoNLL-U, CRFsuite text."""

from __future__ import annotations

import re
from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff import _core
from novikoff.data.sources.bytestream import ByteStream, Lines, Paths
from novikoff.data.sources.features import NamedFeatures
from novikoff.data.text_labels import text_array
from novikoff.tagging.columns import (
    ALIASES,
    CONLLU_COLUMNS,
    FileColumns,
    Layout,
    cells,
    column_number,
    columns_of,
    first_row,
    format_of,
)
from novikoff.tagging.features import SequenceFeatures, TemplateFeatures
from novikoff.tagging.sequences import Ids, Sequences, check_labels
from novikoff.tagging.templates import Templates

BLOCK_SIZE = 1 << 20
NEEDED = ("upos", "xpos", "deprel")  # labels that every word has: an underscore means unlabelled

FORMATS = ("conll", "conllu", "crfsuite")


@dataclass(frozen=True, eq=False)
class SentenceBlock:
    """Some complete sentences of a file."""

    sequences: Sequences
    labels: Ids | None  # as indices into the source's `label_values`
    consumed: int  # bytes of all files as stored on disk, up to the end of the block
    file: str
    first_line: int  # counted from 1
    text: bytes
    joint: str  # the separator before a tag that is appended to a line
    escape: bool  # whether tags are written with CRFsuite's escapes
    _lines: npt.NDArray[np.int32]
    _spots: npt.NDArray[np.int64]

    def where(self, token: int) -> str:
        """File and line of a token."""
        return f"{self.file}, line {self.first_line + int(self._lines[token])}"

    def words(self, column: int) -> list[str]:
        """The cell of each token in a column, from 0."""
        lines = self.text.decode().split("\n")
        return [cells(lines[k].rstrip("\r"))[column] for k in self._lines.tolist()]

    def tagged(self, tags: Ids, names: Sequence[str], *, behind: bool = False) -> bytes:
        """The block's text with tags, given by number, in place of the labels; all else is unchanged.

        Lines without a label get the tag as an additional cell. With `behind` all lines do; labels stay.
        """
        texts = [re.sub(r"([\\:])", r"\\\1", name) if self.escape else name for name in names]
        return _core.tagged(self.text, self._spots, tags, texts, self.joint, behind)


class SentenceFile:
    """Sentences from files, as `open_sentences` opens them.

    Attributes
    ----------
    name : str
    format : "conll", "conllu" or "crfsuite"
    layout : dict
        The format and columns of the files, in a form for JSON; the `like` of `open_sentences`.
    labelled : bool
    label_column : int or None
        The column of the labels, from 0.
    templates : Templates or None
    label_values : list of str
        The labels read so far, in order of appearance; `SentenceBlock.labels` are indices into it.
    may_be_empty : bool
        Whether files without a sentence are no error.
    size, can_reread : as in `ByteStream`
    """

    def __init__(self, stream: ByteStream, parser: _Columns | _Attributes, block_size: int) -> None:
        self._stream, self._reading, self._block_size = stream, parser, block_size
        self._lines: _core.ColumnLines | _core.AttributeLines = parser.lines()
        self.name, self.size, self.can_reread = stream.name, stream.size, stream.can_reread
        self.format, self.layout, self.labelled = parser.format, parser.layout, parser.labelled
        self.templates, self.label_column = parser.templates, parser.label_column
        self.may_be_empty = False
        self._tokens = [0]  # before each block that `read` has read, and the places of its tokens
        self._places: list[tuple[str, int, npt.NDArray[np.int32]]] = []

    @property
    def label_values(self) -> list[str]:
        return self._lines.label_values

    def blocks(self, features: SequenceFeatures) -> Iterator[SentenceBlock]:
        """All sentences, from the first; features that are not fixed get their numbers."""
        self._reading.check(features)
        self._lines = lines = self._reading.lines()
        file, before, tokens = 0, 0, 0
        for piece, text in self._pieces():
            if piece.file != file:
                file, before = piece.file, 0
            name = self._stream.names[file]
            sequences = self._reading.parsed(lines, text, features)
            problem = lines.problem or piece.problem
            if problem or sequences is None:
                raise ValueError(f"{name}, line {before + lines.lines + 1}: {problem}.")
            block = SentenceBlock(
                sequences,
                lines.labels() if self.labelled else None,
                piece.consumed,
                name,
                before + 1,
                text,
                self._reading.joint,
                self.format == "crfsuite",
                lines.lines_of(),
                lines.spots(),
            )
            self._check_labels(block)
            before += lines.lines
            tokens += sequences.n_tokens
            yield block  # even without tokens: its text may have comments
        if not (tokens or self.may_be_empty):
            raise ValueError(f"{self.name}: expected at least one sentence, but there is none.")

    def read(
        self, features: SequenceFeatures, tell: Callable[[int, int], None] | None = None
    ) -> tuple[Sequences, Ids | None, npt.NDArray[Any]]:
        """All sentences at once, their label numbers (None without labels), and the labels, sorted.

        `tell` is called after every block with the numbers of sentences and bytes so far.
        """
        parts, sentences = [], 0
        self._tokens, self._places = [0], []
        for block in self.blocks(features):
            parts.append((block.sequences, block.labels))
            self._tokens.append(self._tokens[-1] + block.sequences.n_tokens)
            self._places.append((block.file, block.first_line, block._lines))
            sentences += len(block.sequences)
            if tell is not None:
                tell(sentences, block.consumed)
        sequences = joined([part for part, _ in parts])
        if not self.labelled:
            return sequences, None, np.zeros(0, dtype=np.str_)
        check_labels(self.label_values, f"{self.name}: ")
        classes = text_array(sorted(self.label_values))
        places = {label: k for k, label in enumerate(classes.tolist())}
        numbers = np.concatenate([labels for _, labels in parts if labels is not None])
        return sequences, np.array([places[v] for v in self.label_values], dtype=np.int32)[numbers], classes

    def where(self, token: int) -> str:
        """File and line of a token that `read` has read."""
        k = bisect_right(self._tokens, token) - 1
        file, first_line, lines = self._places[k]
        return f"{file}, line {first_line + int(lines[token - self._tokens[k]])}"

    def digest(self) -> str:
        """As in `ByteStream`."""
        return self._stream.digest()

    def close(self) -> None:
        """Close a file that was opened but not read."""
        self._stream.close()

    def _check_labels(self, block: SentenceBlock) -> None:
        column = self._reading.needed
        if block.labels is None or column is None or "_" not in (labels := self.label_values):
            return
        missing = np.flatnonzero(block.labels == labels.index("_"))
        if len(missing):
            raise ValueError(
                f"{block.where(int(missing[0]))}: the label, column {column}, is '_', so the word has none; "
                "leave such sentences out, or choose another column."
            )

    def _pieces(self) -> Iterator[tuple[Lines, bytes]]:
        """The text, split between sentences; a file's last piece may end without an empty line."""
        rest: list[bytes] = []  # the beginning of an incomplete sentence
        last: Lines | None = None
        for lines in self._stream.blocks(self._block_size):
            if last is not None and lines.file != last.file and rest:
                yield last, b"".join(rest)
                rest = []
            text = bytes(lines.text)
            if last is None or lines.file != last.file:
                text = text.removeprefix(BOM_UTF8)
            self._stream.release(lines)
            cut = len(text) if lines.problem else _core.whole_sentences(np.frombuffer(text, np.uint8))
            if cut or lines.problem:
                yield lines, b"".join([*rest, text[:cut]])
                rest = []
            if cut < len(text):
                rest.append(text[cut:])
            last = lines
        if rest and last is not None:
            yield last, b"".join(rest)


def look(stream: ByteStream, format: str = "auto") -> tuple[str, int]:
    """The format of files, recognized if "auto", and the number of columns of the first line; 0: no line."""
    row = first_row(stream)[1]
    kind = format_of(stream.names[0], row) if format == "auto" else format
    return kind, 0 if row is None else len(cells(row))


def open_sentences(
    path: Paths | ByteStream,
    templates: Templates | None = None,
    *,
    format: str = "auto",
    label: str | int | None = None,
    labelled: bool | None = True,
    like: Layout | None = None,
    block_size: int = BLOCK_SIZE,
) -> SentenceFile:
    """Open files of sentences, plain or compressed; ``-`` is standard input.

    Parameters
    ----------
    path : str, path, open binary file, or a list of these; or a ByteStream of them
    templates : Templates
        They determine the columns to read; None for CRFsuite's text, which has attributes already.
    format : "auto", "conll", "conllu" or "crfsuite"
        "conll": cells separated by blanks, or by tabs if the first line has one; the same number in every
        line. "conllu": the ten columns of Universal Dependencies; comments, ranges of words (1-2) and empty
        nodes (1.1) are not tokens, and an underscore means no value, except as a form or lemma. "crfsuite": a
        label, then attributes, separated by tabs; an attribute is ``name`` or ``name:value``, and a name
        may have the escapes ``\\:`` and ``\\\\``.
    label : str or int, optional
        The label's column, by name or by number from 1. None: the last, or ``upos`` in CoNLL-U.
    labelled : bool or None, default True
        Whether there are labels. None finds out: from `like`, or else a file has labels if it has more
        columns than the templates name.
    like : dict, optional
        The `layout` of the file that a model was trained on; the label is taken from the same column.

    Examples
    --------
    >>> import io
    >>> from novikoff.tagging.features import TemplateFeatures
    >>> templates = Templates(["columns: w pos", "w[0]", "pos[-1]|pos[0]"])
    >>> text = io.BytesIO(b"In IN B-PP\\nvain JJ B-NP\\n\\nYes UH O\\n")
    >>> source = open_sentences(text, templates)
    >>> sequences, labels, classes = source.read(TemplateFeatures(templates))
    >>> sequences.starts.tolist(), classes[labels].tolist()
    ([0, 2, 3], ['B-PP', 'B-NP', 'O'])
    """
    if format not in ("auto", *FORMATS):
        raise ValueError(f"format is auto, {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, not {format!r}.")
    stream = path if isinstance(path, ByteStream) else ByteStream(path)
    try:
        parser = _parser(stream, templates, format, label, labelled, like)
    except BaseException:
        stream.close()
        raise
    return SentenceFile(stream, parser, block_size)


def _parser(
    stream: ByteStream,
    templates: Templates | None,
    format: str,
    label: str | int | None,
    labelled: bool | None,
    like: Layout | None,
) -> _Columns | _Attributes:
    """The parser for the files."""
    line, row = first_row(stream)
    kind, width = look(stream, format)
    if kind == "crfsuite":
        if templates is not None:
            raise ValueError(
                f"{stream.name}: the file has attributes (CRFsuite's text), so templates have no columns to "
                "refer to; leave the templates out, or pass format='conll' if these are columns."
            )
        return _Attributes()
    if row is None and kind == "conll":
        raise ValueError(f"{stream.names[0]}: expected at least one sentence, but there is none.")
    if templates is None:
        raise ValueError(
            f"{stream.name}: the file has columns, but no features are defined: give templates, "
            "such as Templates.named('chunking'), or pass format='crfsuite' if they are attributes."
        )
    where = f"as in line {line}" + (f" of {stream.names[0]}" if len(stream.names) > 1 else "")
    if row is not None and row.startswith("#"):
        where += ", where # begins no comment as in CoNLL-U"
    elif row is not None and "\t" in row:
        where += ", which has tabs between them"
    shape = columns_of(stream.name, kind, row or "", width, label, labelled, like, templates)
    return _Columns(stream.name, shape, where, templates)


def read_sentences(
    path: Paths, features: SequenceFeatures, **options: Any
) -> tuple[Sequences, Ids | None, npt.NDArray[Any]]:
    """All sentences of a file, their label numbers (None without labels), and the labels, sorted."""
    templates = features.templates if isinstance(features, TemplateFeatures) else None
    return open_sentences(path, templates, **options).read(features)


def joined(parts: list[Sequences]) -> Sequences:
    """Concatenate sentences."""
    if len(parts) == 1:
        return parts[0]
    starts, indptr, values = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)], None
    tokens = stored = 0
    for part in parts:
        starts.append(part.starts[1:] + tokens)
        indptr.append(part.indptr[1:] + stored)
        tokens, stored = tokens + part.n_tokens, stored + len(part.ids)
    if any(part.values is not None for part in parts):
        values = np.concatenate([np.ones(len(p.ids)) if p.values is None else p.values for p in parts])
    ids = np.concatenate([part.ids for part in parts])
    return Sequences(np.concatenate(starts), np.concatenate(indptr), ids, values)


# ---- reading it --------------------------------------------------------------------------------------
class _Columns:
    """The parser for lines of cells."""

    def __init__(self, name: str, shape: FileColumns, where: str, templates: Templates) -> None:
        self.format, self.labelled, self.label_column = shape.format, shape.labelled, shape.label
        self.joint = " " if shape.split == "blanks" else "\t"
        conllu = shape.format == "conllu"
        where = "as in CoNLL-U" if conllu else where
        last = not conllu and shape.label == shape.width - 1
        label = CONLLU_COLUMNS[shape.label] if conllu and shape.label is not None else shape.label
        self.layout: Layout = {
            "format": shape.format,
            "width": shape.width,
            "label": "last" if last or (shape.label is None and not conllu) else label,
        }
        self.needed = label if isinstance(label, str) and label in NEEDED else None
        self.templates = templates
        places = [_place(name, column, shape, templates) for column in templates.used_columns()]
        self._arguments = shape.split, shape.width, places, -1 if shape.label is None else shape.label, where

    def lines(self) -> _core.ColumnLines:
        return _core.ColumnLines(*self._arguments)

    def check(self, features: SequenceFeatures) -> None:
        if not isinstance(features, TemplateFeatures) or features.templates != self.templates:
            raise ValueError(
                "the features of these columns must come from the templates they were opened with."
            )

    def parsed(self, lines: Any, text: bytes, features: Any) -> Sequences | None:
        parsed: Sequences | None = features.parse(lines, np.frombuffer(text, np.uint8))
        return parsed


def _place(name: str, column: str, shape: FileColumns, templates: Templates) -> int:
    """The column of the file that a template refers to."""
    use = templates.first_use(column)
    if shape.format == "conllu":
        place = column_number(column, CONLLU_COLUMNS, ALIASES)
    else:
        place = column_number(column, templates.columns or templates.only_column(), {})
        if place is None:
            named = ", ".join(templates.columns) or "none"
            raise ValueError(
                f"{name}: the template {use!r} points at column {column!r}, but the templates do not say "
                f"which column that is (they name: {named}); add it to a line such as 'columns: w pos'."
            )
    if place is None or place >= shape.width:
        number = "" if column.isdigit() or place is None else f" (number {place}, from 0)"
        raise ValueError(
            f"{name}: the template {use!r} points at column {column!r}{number}, but {shape.has}."
        )
    if place == shape.label:
        raise ValueError(
            f"{name}: the template {use!r} points at column {column!r}, which is the label: a tagger must "
            f"not look at its own target; {shape.has}."
        )
    return place


class _Attributes:
    """The parser for CRFsuite's text."""

    format, joint, labelled, needed, templates, label_column = "crfsuite", "\t", True, None, None, 0

    def __init__(self) -> None:
        self.layout: Layout = {"format": "crfsuite"}

    def lines(self) -> _core.AttributeLines:
        return _core.AttributeLines()

    def check(self, features: SequenceFeatures) -> None:
        if not isinstance(features, NamedFeatures):
            raise ValueError(
                "the file has attributes (CRFsuite's text), but the features are made by templates."
            )

    def parsed(self, lines: Any, text: bytes, features: Any) -> Sequences | None:
        found = lines.parse(np.frombuffer(text, np.uint8))
        if found is None:
            return None
        *arrays, names = found
        return Sequences(*arrays).renumbered(features.place(names))
