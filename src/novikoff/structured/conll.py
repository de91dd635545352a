"""Files of sentences: columns as in the CoNLL tasks, CoNLL-U, and CRFsuite's text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff import _core
from novikoff.sources.bytestream import ByteStream, Lines, Paths
from novikoff.structured.expansion import TemplateFeatures
from novikoff.structured.sequences import Sequences
from novikoff.structured.templates import Templates

BLOCK_SIZE = 1 << 20

CONLLU_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
CONLLU_ALIASES = {"w": "form", "word": "form", "pos": "upos"}


@dataclass(frozen=True, eq=False)
class SentenceBlock:
    """Some whole sentences of a file."""

    sequences: Sequences
    labels: npt.NDArray[np.int32] | None  # numbers of the source's `label_values`
    consumed: int  # bytes of all files, as they lie on disk, up to the end of the block
    file: str
    first_line: int  # counted from 1
    lines: npt.NDArray[np.int32]  # of the tokens, from 0
    text: bytes
    spots: npt.NDArray[np.int64]  # where in the text each token's tag begins and ends
    joint: str  # what comes before a tag that the line does not have yet

    def where(self, token: int) -> str:
        """File and line of a token."""
        return f"{self.file}, line {self.first_line + int(self.lines[token])}"


class SentenceFile:
    """A file of sentences, a token a line, as blocks of whole sentences.

    Parameters
    ----------
    stream : ByteStream
    templates : Templates
        Which columns are wanted.
    label : str, int or None
        The label's column: "last", its name or its number; None for a file without labels.
    conllu : bool
    """

    def __init__(
        self,
        stream: ByteStream,
        templates: Templates,
        *,
        label: str | int | None = "last",
        conllu: bool = False,
        block_size: int = BLOCK_SIZE,
    ) -> None:
        self._stream, self._block_size = stream, block_size
        self.name, self.size, self.can_reread = stream.name, stream.size, stream.can_reread
        line = self._first_row()
        self._kind = "conllu" if conllu else "tabs" if "\t" in line else "blanks"
        cells = line.split("\t") if "\t" in line else line.split()
        self.width = 10 if conllu else len(cells)
        self.columns = CONLLU_COLUMNS if conllu else templates.columns
        self.label = None if label is None else self._column(label)
        places = [self._place(column, templates) for column in templates.used_columns()]
        self._parser = _core.ColumnLines(
            self._kind, self.width, places, -1 if self.label is None else self.label
        )

    @property
    def label_values(self) -> list[str]:
        """The labels met so far, in order of appearance."""
        return self._parser.label_values

    def blocks(self, features: TemplateFeatures) -> Iterator[SentenceBlock]:
        """All sentences, from the first."""
        file, lines = 0, 0
        for piece, text in self._pieces():
            if piece.file != file:
                file, lines = piece.file, 0
            name = self._stream.names[file]
            sequences = features.parse(self._parser, np.frombuffer(text, np.uint8))
            problem = self._parser.problem or piece.problem
            if sequences is None or piece.problem:
                raise ValueError(f"{name}, line {lines + self._parser.lines + 1}: {problem}.")
            yield SentenceBlock(
                sequences,
                None if self.label is None else self._parser.labels(),
                piece.consumed,
                name,
                lines + 1,
                self._parser.lines_of(),
                text,
                self._parser.spots(),
                "\t" if self._kind == "tabs" else " ",
            )
            lines += self._parser.lines

    def _pieces(self) -> Iterator[tuple[Lines, bytes]]:
        """The text cut between sentences; a file's last piece may end without an empty line."""
        rest, last = b"", None
        for lines in self._stream.blocks(self._block_size):
            if last is not None and lines.file != last.file and rest:
                yield last, rest
                rest = b""
            text = rest + bytes(lines.text)
            self._stream.release(lines)
            cut = len(text) if lines.problem else _core.whole_sentences(np.frombuffer(text, np.uint8))
            rest, last = text[cut:], lines
            if cut:
                yield lines, text[:cut]
        if rest and last is not None:
            yield last, rest

    def _first_row(self) -> str:
        for line in self._stream.head(1 << 16).decode("utf-8", "replace").splitlines():
            if line.strip() and not (line.startswith("#") and "\t" not in line and " " in line[:2]):
                return line
        return ""

    def _column(self, column: str | int) -> int:
        if column == "last":
            return self.width - 1
        if isinstance(column, int) or column.isdigit():
            return int(column)
        alias = CONLLU_ALIASES.get(column, column) if self._kind == "conllu" else column
        return self.columns.index(alias)

    def _place(self, column: str, templates: Templates) -> int:
        """The place of a column that a template looks at."""
        return self._column(column)


def read_sentences(
    path: Paths, features: TemplateFeatures, *, label: str | int | None = "last", conllu: bool = False
) -> tuple[Sequences, npt.NDArray[np.int32] | None, npt.NDArray[Any]]:
    """All of a file: sentences, label numbers, and the labels, sorted."""
    source = SentenceFile(ByteStream(path), features.templates, label=label, conllu=conllu)
    blocks = [(block.sequences, block.labels) for block in source.blocks(features)]
    sequences = joined([block[0] for block in blocks])
    if source.label is None:
        return sequences, None, np.zeros(0, dtype=np.str_)
    found = np.array(source.label_values, dtype=np.str_)
    classes, places = np.unique(found, return_inverse=True)
    numbers = np.concatenate([block[1] for block in blocks if block[1] is not None])
    return sequences, places.astype(np.int32)[numbers], classes


def joined(parts: list[Sequences]) -> Sequences:
    """Sentences one after the other."""
    if len(parts) == 1:
        return parts[0]
    starts, indptr = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)]
    tokens = stored = 0
    for part in parts:
        starts.append(part.starts[1:] + tokens)
        indptr.append(part.indptr[1:] + stored)
        tokens, stored = tokens + len(part.indptr) - 1, stored + len(part.ids)
    return Sequences(np.concatenate(starts), np.concatenate(indptr), np.concatenate([p.ids for p in parts]))
