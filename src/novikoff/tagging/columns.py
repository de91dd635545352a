"""The format and the columns of a file of sentences, recognized by its name and its first line."""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from novikoff.data.sources.bytestream import ByteStream
from novikoff.tagging.templates import Templates

Layout = dict[str, Any]  # what a model file keeps about its training file

HEAD = 1 << 16  # bytes for recognizing the format

CONLLU_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
ALIASES = {"w": "form", "word": "form", "pos": "upos"}  # alternative names in templates


def cells(row: str) -> list[str]:
    return row.split("\t") if "\t" in row else row.split()


@dataclass(frozen=True)
class FileColumns:
    """The columns of a file."""

    format: str
    split: str  # "blanks", "tabs" or "conllu"
    width: int
    label: int | None  # the column of the label, where tags are written
    labelled: bool = True

    @property
    def has(self) -> str:
        """The columns, for messages."""
        if self.format == "conllu":
            return "CoNLL-U has the columns id, form (or w), lemma, upos (or pos), " + ", ".join(
                CONLLU_COLUMNS[4:]
            )
        label = "" if self.label is None else f", of which number {self.label + 1}, from 1, is the label"
        return f"the file has {self.width} column{'s' * (self.width != 1)}{label}"


def first_row(stream: ByteStream) -> tuple[int, str | None]:
    """The number, from 1, of the first line that has cells, and the line itself."""
    head = stream.head(HEAD)
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        stream.close()
        raise ValueError(
            f"{stream.names[0]}: the text is UTF-16; convert the file, as by iconv -f utf-16 -t utf-8."
        )
    while b"\n" not in head.strip() and len(head) <= stream.max_line:  # the first line is not complete yet
        if len(longer := stream.head(4 * len(head))) == len(head):
            break
        head = longer
    text = head.removeprefix(BOM_UTF8).decode("utf-8", "replace")
    rows = [line.rstrip("\r") for line in text.split("\n")]
    comments = any(row.startswith("#") for row in rows) and _CONLLU_ROW.search(text)  # only CoNLL-U has them
    for number, row in enumerate(rows, 1):
        if row.strip() and not (row.startswith("#") and comments):
            return number, row
    return 0, None


def head_rows(stream: ByteStream) -> list[tuple[int, list[str]]]:
    """The first complete lines that have cells: the number of each line, from 1, and its cells."""
    head = stream.head(HEAD)
    rows = head.removeprefix(BOM_UTF8).decode("utf-8", "replace").split("\n")
    rows = rows[:-1] if len(head) >= HEAD else rows
    return [(number, cells(row.rstrip("\r"))) for number, row in enumerate(rows, 1) if row.strip()]


_CONLLU_ROW = re.compile(r"^\d+([-.]\d+)?(\t[^\t\n]+){9}$", re.MULTILINE)


def format_of(name: str, row: str | None) -> str:
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes[-2:]]
    for suffix, kind in ((".conllu", "conllu"), (".crfsuite", "crfsuite")):
        if suffix in suffixes:
            return kind
    if row is not None and _CONLLU_ROW.fullmatch(row):
        return "conllu"
    cells = (row or "").split("\t")
    attributes = all("=" in cell or cell.startswith("__") for cell in cells[1:])
    return "crfsuite" if len(cells) > 1 and attributes else "conll"


def columns_of(
    name: str,
    kind: str,
    row: str,
    width: int,
    label: str | int | None,
    labelled: bool | None,
    like: Layout | None,
    templates: Templates,
) -> FileColumns:
    if kind == "conllu":
        same = like if like is not None and like["format"] == kind else {}
        chosen = same.get("label", "upos") if label is None else label
        place = label_number(name, chosen, CONLLU_COLUMNS, ALIASES)
        if place is None or not 0 < place < 10:
            raise ValueError(
                f"{name}: there is no label column {chosen!r}; CoNLL-U has {', '.join(CONLLU_COLUMNS)}."
            )
        if labelled is None:
            labelled = row.split("\t")[place : place + 1] != ["_"]
        return FileColumns(kind, "conllu", 10, place, labelled)
    split = "tabs" if "\t" in row else "blanks"
    if labelled is None:
        labelled = _has_labels(name, width, label, like, templates)
    if not labelled:
        return FileColumns(kind, split, width, None, labelled=False)
    learned = None  # the column of the label in the files of training, from 0
    if label is None and like is not None and like["format"] == kind:
        learned = like["label"]
        if width != like["width"]:
            raise ValueError(
                f"{name}: expected {like['width']} columns with the label, as in the files that the model "
                f"was trained on, found {width}."
            )
    if isinstance(learned, int):
        column: int | None = learned
    else:
        column = width - 1 if label is None else label_number(name, label, templates.columns, {})
    if column is None or not 0 <= column < width:
        raise ValueError(f"{name}: there is no label column {label!r}; the file has {width} columns.")
    if width < 2:
        raise ValueError(
            f"{name}: expected a label after the other columns, but the file has only one column."
        )
    return FileColumns(kind, split, width, column)


def _has_labels(
    name: str, width: int, label: str | int | None, like: Layout | None, templates: Templates
) -> bool:
    """Whether a file of columns has labels, if the caller does not say."""
    if like is None or like["format"] != "conll":
        return label is not None or width > max(len(templates.columns), _furthest(templates) + 1)
    if width == like["width"]:
        return True
    if width == like["width"] - 1 and like["label"] in ("last", like["width"] - 1):
        return False
    raise ValueError(
        f"{name}: the model was trained on files with {like['width']} columns, label included; expected "
        f"{like['width']}, or {like['width'] - 1} without the label, found {width}."
    )


def _furthest(templates: Templates) -> int:
    """The last column that templates refer to by number."""
    return max((int(c) for c in templates.used_columns() if c.isdigit()), default=0)


def label_number(name: str, label: str | int, names: tuple[str, ...], aliases: dict[str, str]) -> int | None:
    """The label's column, from 0; as a number it is given from 1."""
    if not (isinstance(label, int) or label.isdigit()):
        return column_number(label, names, aliases)
    if int(label) < 1:
        raise ValueError(
            f"{name}: label={label!r} is not possible: label columns are counted from 1, as in 'novikoff "
            "fit'; leave it out for the last column."
        )
    return int(label) - 1


def column_number(column: str | int, names: tuple[str, ...], aliases: dict[str, str]) -> int | None:
    if isinstance(column, int) or column.isdigit():
        return int(column)
    column = aliases.get(column, column)
    return names.index(column) if column in names else None
