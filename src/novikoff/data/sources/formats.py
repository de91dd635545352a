"""Files of any format as a source: the format is recognized, and its reader opened."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

from novikoff.data.sources.bytestream import MAX_EXPANSION, MAX_LINE, ByteStream, Paths
from novikoff.data.sources.features import Features
from novikoff.data.sources.foreign import refuse_foreign
from novikoff.data.sources.source import Source
from novikoff.outfile import COMPRESSED as COMPRESSED

# ---- The formats and their openers; a new format is one line here. ------------------------------------
# A format of lines is opened by a function of a ByteStream; a table, which pyarrow reads, by a function of
# the paths and the format's name. Both take `features` and their own options, all by name.
TEXT, TABLE = True, False
FORMATS: dict[str, tuple[bool, str, str]] = {
    "libsvm": (TEXT, "novikoff.data.sources.libsvm", "open_text"),
    "vw": (TEXT, "novikoff.data.sources.vw", "open_text"),
    "jsonl": (TEXT, "novikoff.data.sources.jsonl", "open_text"),
    "csv": (TABLE, "novikoff.data.sources.tables", "TableSource"),
    "tsv": (TABLE, "novikoff.data.sources.tables", "TableSource"),
    "parquet": (TABLE, "novikoff.data.sources.tables", "TableSource"),
    "arrow": (TABLE, "novikoff.data.sources.tables", "TableSource"),
}
# --------------------------------------------------------------------------------------------------------

SUFFIXES = {
    ".svm": "libsvm",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".vw": "vw",
    ".json": "jsonl",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
}  # other suffixes, such as .txt, do not determine a format
HEAD = 1 << 16  # bytes that are examined


class UnknownOption(ValueError):
    """An option that the format does not have."""

    def __init__(self, name: str, format: str, known: list[str]) -> None:
        super().__init__(f"{name} is not an option of the format {format!r}, which has {', '.join(known)}.")
        self.name, self.format, self.known = name, format, known


def open_source(
    paths: Paths,
    *,
    format: str | None = None,
    features: Features | None = None,
    max_line: int = MAX_LINE,
    max_expansion: int = MAX_EXPANSION,
    **options: Any,
) -> Source:
    """Open files to learn from, or to predict, block by block.

    Parameters
    ----------
    paths : str, path, open binary file, or a list of these
        The files, read one after the other. A pattern such as ``"day*.svm"`` stands for the files that match
        it, in the order of their names, and ``"-"`` for standard input. They may be compressed by gzip,
        bzip2, xz or Zstandard.
    format : default None
        'libsvm', 'vw', 'jsonl', 'csv', 'tsv', 'parquet' or 'arrow' (Feather too); None recognizes it from
        the names or, if they do not determine it, from the first lines.
    features : default None
        The features of an existing model; unknown features get no column. None for new features, which
        grow as the files are read.
    max_line : default 64 MiB
        The longest line in bytes; a longer line is an error.
    max_expansion : default 1000
        The largest factor by which a compressed file may expand; up to 64 MiB are always accepted.
    **options
        The options of the format. All formats of lines: `n_jobs`, the number of parsing threads (default −1,
        all cores); `block_size`, bytes of text per block; `labelled=False` if rows may lack labels;
        `skip_bad_lines=True` to skip malformed lines, which `source.skipped` then counts and shows. All
        formats: `rounding="nearest"` to round integers and times that no double holds, with a warning,
        instead of refusing them; `max_columns` (default 2²⁶), the most columns that rows may require unless
        their number is declared, by `n_features`, `hash_bits` or `features`.
        LIBSVM: `zero_based` (default False), whether features are counted from 0; `n_features`, the number
        of columns, if not determined by the largest index.
        All others: `hash_bits`, 2**hash_bits columns instead of an exact vocabulary; `seed` of the hash.
        JSON lines and tables: `label` and `weight`, the key or column of the labels and of the rows' weights;
        `ignore`, keys or columns to leave out.
        Tables: `text` and `categorical`, columns that are bags of words or categories; `ngrams`, the most
        consecutive words in one feature, at most 5; columns are given by name or by number from 1; `schema`,
        the kinds of columns by name.
        `id`, the column, or the key of JSON lines, whose values are the `ids` of blocks.
        CSV and TSV: `header`, `skip_lines`, `delimiter`, `quote`, `newlines_in_values`.

    Returns
    -------
    Source
        `blocks()` gives the rows in order; `features` names the columns.

    Raises
    ------
    ValueError
        When the format cannot be recognized, or does not have an option. Malformed text is reported while it
        is read, with the file, the line, what was found and what was expected.
    OSError
        When a file cannot be opened or read, or no file matches a pattern.

    Examples
    --------
    >>> import io, novikoff
    >>> source = novikoff.open_source(io.BytesIO(b"spam 1:0.5 3:2\\nham 2:1\\n"))
    >>> for block in source.blocks():
    ...     print(block.X.shape, block.labels, block.where(1))
    (2, 3) ['spam' 'ham'] <BytesIO>, line 2
    >>> source.format, source.features.names([0, 2])
    ('libsvm', ['1', '3'])
    """
    stream = ByteStream(paths, max_line=max_line, max_expansion=max_expansion)
    try:
        if format is None:
            format = _recognised(stream, options.get("skip_lines", 0))
        elif format not in FORMATS:
            raise ValueError(f"format={format!r} is not known: expected one of {', '.join(FORMATS)}.")
        refuse_foreign(stream, format)
        is_text, module, name = FORMATS[format]
        opener = getattr(import_module(module), name)
        if is_text:
            return _opened(format, opener, stream, {"features": features}, options)
        given: Any = paths
        if not stream.can_reread:
            given = stream.reader()  # its beginning has been read
        fixed = {"format": format, "features": features}
        for limit, value, default in (
            ("max_line", max_line, MAX_LINE),
            ("max_expansion", max_expansion, MAX_EXPANSION),
        ):
            if value != default:
                options[limit] = value
        return _opened(format, opener, given, fixed, options)
    except BaseException:
        stream.close()
        raise


def format_by_name(paths: Paths) -> str | None:
    """The format that the file names determine, if any."""
    return next(filter(None, map(format_of_name, ByteStream(paths).names)), None)


def _opened(
    format: str, opener: Callable[..., Source], first: Any, fixed: dict[str, Any], options: dict[str, Any]
) -> Source:
    """Call the opener of a format; an option that it does not have is an error."""
    known = [
        name
        for name, parameter in inspect.signature(opener).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name not in fixed
    ]
    unknown = [name for name in options if name not in known]
    if unknown:
        raise UnknownOption(unknown[0], format, sorted(known))
    source = opener(first, **fixed, **options)
    # options that change only speed or limits are left out
    aside = ("n_jobs", "block_size", "max_line", "max_columns", "max_expansion", "labelled", "id")
    source.options = {"format": format} | {k: v for k, v in sorted(options.items()) if k not in aside}
    if fixed["features"] is not None:
        source.options["of_model"] = True
    return source


def _recognised(stream: ByteStream, skip_lines: int) -> str:
    """The format, from the file names or else from the beginning of the first file."""
    found = [format_of_name(name) for name in stream.names]
    if found[0] is None:
        found[0] = _by_content(*stream.beginning(HEAD, skip_lines, 0), skip_lines)
    if found[0] is None:
        refuse_foreign(stream, "")
        raise ValueError(
            f"{stream.names[0]}: neither the name nor the first lines determine the format; name it by "
            f"`format`: {', '.join(FORMATS)}."
        )
    for name, other in zip(stream.names, found, strict=True):
        if other not in (None, found[0]):
            raise ValueError(
                f"{stream.names[0]} is {found[0]} and {name} is {other}, but all files must have one format."
            )
    return found[0]


def format_of_name(name: str) -> str | None:
    """The format that a file name determines, compressed or not."""
    stem, suffix = os.path.splitext(name.lower())  # noqa: PTH122
    if suffix in COMPRESSED:
        suffix = os.path.splitext(stem)[1]  # noqa: PTH122
    return SUFFIXES.get(suffix)


# label, qid and index:value, of which there is at least one; a comment may follow
_LIBSVM = re.compile(
    rb"([^\s:|,]+\s+)?(qid:\d+\s+)?\d+:[-+.\d][-+.\deE]*(\s+\d+:[-+.\d][-+.\deE]*)*\s*(#.*)?"
)
# at most label, importance, base and tag before the bar, of which only the tag may be any word
_VW = re.compile(rb"\s*([-+.\deE]+\s+){0,3}[^\s|,{]*\|.*")


def _by_content(head: bytes, is_whole: bool, skip_lines: int = 0) -> str | None:
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")):
        return "arrow"
    lines = head.split(b"\n")
    if not is_whole:  # the last line is cut off, perhaps in a word or a cell
        cut = max(lines[-1].rfind(mark) for mark in (b" ", b"\t", b",")) + 1
        lines[-1] = lines[-1][: max(cut, 1)]
    for line in lines[skip_lines:]:
        line = line.strip()
        if not line or line.startswith(b"#"):
            continue
        if line.startswith(b"{"):
            return "jsonl"
        if _LIBSVM.fullmatch(line):
            return "libsvm"
        if _VW.fullmatch(line) and all(b"|" in other for other in lines[:-1] if other.strip()):
            return "vw"
        if b"\t" in line:
            return "tsv"
        if b"," in line:
            return "csv"
    return None
