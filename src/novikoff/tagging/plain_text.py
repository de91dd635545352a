"""Plain text as sentences of tokens: a small tokenizer, and files read with it.

Tokens are found from left to right, each as long as possible:

- an address: ``https://…``, ``www.…`` or ``name@place.org``;
- an abbreviation of single letters with dots: ``U.S.``, ``e.g.``;
- a number with its separators: ``1,000.50``, ``10:30``;
- a word: letters, digits, marks and underscores, with single apostrophes or hyphens inside: ``don't``,
  ``rock-n-roll``;
- a run of one punctuation mark or symbol: ``...``, ``!!``, ``€``.

The result depends on the text alone. There are no lists of words, so ``don't`` is one token; use a tokenizer
of your own where the training data split it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from novikoff.data.sources.bytestream import ByteStream
from novikoff.tagging.features import SequenceFeatures, TemplateFeatures
from novikoff.tagging.sequences import Ids, Sequences

BLOCK_SIZE = 1 << 20

_WORD = r"[^\W_](?:[\w\u0300-\u036f]|['’\-](?=[^\W_]))*"
_TOKEN = re.compile(
    r"(?:https?://|www\.)[^\s<>\"]*[^\s<>\".,;:!?)\]}'’]"  # an address
    r"|[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+"
    r"|(?:[^\W\d_]\.){2,}"  # U.S.
    r"|\d+(?:[.,:/]\d+)+(?!\w)"  # 1,000.50
    rf"|{_WORD}"
    r"|(\S)\1*"  # a run of one mark
)
_ENDS = re.compile(r"[.!?…。！？]+")
_CLOSES = frozenset("\"'’”»)]}")


def tokens_of(line: str) -> list[str]:
    """The tokens of a text.

    >>> tokens_of("O'Neil (of the U.S.) paid $1,000.50 -- didn't he?!")
    ["O'Neil", '(', 'of', 'the', 'U.S.', ')', 'paid', '$', '1,000.50', '--', "didn't", 'he', '?', '!']
    """
    return [found[0] for found in _TOKEN.finditer(line)]


def sentences_of(tokens: list[str]) -> list[list[str]]:
    """Cut a line's tokens into sentences.

    A sentence ends behind ``.``, ``!``, ``?`` or ``…``, and the closing quotes and brackets behind it, if the
    next token does not begin with a lower-case letter. A dot behind a single letter or a title ends none.

    >>> sentences_of(tokens_of('He said "No." Then J. Doe left.'))
    [['He', 'said', '"', 'No', '.', '"'], ['Then', 'J', '.', 'Doe', 'left', '.']]
    """
    out: list[list[str]] = [[]]
    open_end = False
    for k, token in enumerate(tokens):
        if open_end and token not in _CLOSES:
            if not token[0].islower() and not _ENDS.fullmatch(token):
                out.append([])
            open_end = _ENDS.fullmatch(token) is not None
        out[-1].append(token)
        if _ENDS.fullmatch(token):
            before = tokens[k - 1] if k else ""
            open_end = token != "." or not ((len(before) == 1 and before.isalpha()) or before in TITLES)
    return [sentence for sentence in out if sentence]


TITLES = frozenset(("Mr", "Mrs", "Ms", "Dr", "Prof", "St", "Jr", "Sr"))


@dataclass(frozen=True, eq=False)
class TextBlock:
    """Some lines of plain text."""

    sequences: Sequences
    sentences: list[list[str]]
    joint = "\t"
    labels = None

    def words(self) -> list[str]:
        return [word for sentence in self.sentences for word in sentence]

    def tagged(self, tags: Ids, names: list[str]) -> bytes:
        """One token per line with its tag, and an empty line behind each sentence."""
        lines, at = [], 0
        for sentence in self.sentences:
            labels = tags[at : at + len(sentence)].tolist()
            lines += [f"{word}\t{names[k]}\n" for word, k in zip(sentence, labels, strict=True)]
            lines.append("\n")
            at += len(sentence)
        return "".join(lines).encode()


class PlainText:
    """Files of plain text as sentences; each line is one, or several if they are `split`."""

    format = "text"

    def __init__(self, stream: ByteStream, *, split: bool = False) -> None:
        self._stream, self._split = stream, split

    def blocks(self, features: SequenceFeatures) -> Iterator[TextBlock]:
        """All sentences. Lines without tokens are left out."""
        assert isinstance(features, TemplateFeatures)
        file, before = -1, 0
        for piece in self._stream.blocks(BLOCK_SIZE):
            if piece.file != file:
                file, before = piece.file, 0
            raw, name = bytes(piece.text), self._stream.names[piece.file]
            self._stream.release(piece)
            lines = raw.split(b"\n")
            sentences: list[list[str]] = []
            for number, line in enumerate(lines, before + 1):
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError:
                    raise ValueError(
                        f"{name}, line {number}: the text is not UTF-8; convert the file, as by iconv -f "
                        "latin1 -t utf-8."
                    ) from None
                tokens = tokens_of(text)
                sentences += sentences_of(tokens) if self._split else [tokens] if tokens else []
            before += len(lines) - 1
            if piece.problem:
                raise ValueError(f"{name}, line {before + 1}: {piece.problem}.")
            yield TextBlock(features.expand(sentences), sentences)

    def close(self) -> None:
        """Close a file that was opened but not read."""
        self._stream.close()
