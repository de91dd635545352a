"""Parameters of reading files of rows, with `novikoff.open_source` or on the command line."""

from __future__ import annotations

from typing import Any

from novikoff.parameters.common import AUTO
from novikoff.parameters.parameter import BOOLEAN, Parameter, Values, is_name, none_or, one_of, table, whole

FORMATS = ("libsvm", "vw", "jsonl", "csv", "tsv", "parquet", "arrow")
SCALES = ("auto", "standard", "maxabs", "unit")
OTHER = "other"  # replaces all labels except the positive one


def _is_character(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 1 and value.isascii()


def _are_names(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(map(is_name, value))


CHARACTER = none_or("one ASCII character", _is_character)
COLUMN = none_or("a column", is_name)
COLUMNS: Values = "columns", _are_names, ()

SOURCE_PARAMETERS = table(
    Parameter(
        "format",
        None,
        "The format of the files. By default their names decide, or else their first lines.",
        *none_or(*one_of(*FORMATS)),
    ),
    Parameter(
        "label",
        None,
        "The column of the labels, by name or by number from 1. Default in tables: the one called label, "
        "class, target or y, or the last one if columns have no names; in JSON lines: 'label'.",
        *COLUMN,
    ),
    Parameter("weight", None, "The column of the weights of the rows, which multiply their steps.", *COLUMN),
    Parameter("ignore", (), "Columns to leave out, separated by commas.", *COLUMNS),
    Parameter("text", (), "Columns of a table to read as bags of words, separated by commas.", *COLUMNS),
    Parameter(
        "ngrams",
        1,
        "The largest number of consecutive words that make one feature of a text column.",
        *whole(1, 5),
    ),
    Parameter(
        "categorical",
        (),
        "Columns of a table to read as categories although they hold numbers, separated by commas.",
        *COLUMNS,
    ),
    Parameter(
        "header",
        None,
        "Whether the first line of a CSV or TSV file names the columns. Default: yes if it has the given "
        "name of the label column, or if it has no number but a usual name of labels or a number below it; "
        "no if it has a number; otherwise yes for CSV and no for TSV. A line with numbers and a usual name "
        "of labels is refused, unless the line below has a number there or it begins with label, as in "
        "tables written by novikoff.",
        *none_or(*BOOLEAN),
    ),
    Parameter("skip_lines", 0, "The number of lines before the table in each CSV or TSV file.", *whole(0)),
    Parameter("delimiter", None, "The delimiter between the cells of a CSV or TSV file.", *CHARACTER),
    Parameter("quote", None, "The quotation mark around cells that contain the delimiter.", *CHARACTER),
    Parameter("zero_based", False, "LIBSVM text counts features from 0 instead of 1.", *BOOLEAN),
    Parameter(
        "newlines_in_values",
        False,
        "Quoted cells of a CSV file may hold line breaks, also where none in the first MiB does.",
        *BOOLEAN,
    ),
    Parameter(
        "n_features",
        None,
        "The number of columns of LIBSVM text. Default: as many as the largest index requires.",
        *none_or(*whole(1)),
    ),
    Parameter(
        "scale",
        AUTO,
        "How to scale the columns, as measured on the training rows in a pass before the first epoch. "
        "'auto': where they differ in size by more than a factor of 16 or so, each times the power of two "
        "that brings its largest |x| into the range from 1/16 to 2; nothing is rounded, and hashed columns "
        "and rows that can be read only once are left as they are. 'standard': number columns of a table to "
        "mean 0, all columns to deviation 1. 'maxabs': to a largest |x| of 1. 'unit': each row to norm 1, "
        "which measures nothing. 'none': no scaling.",
        *none_or(*one_of(*SCALES)),
    ),
    Parameter("skip_bad_lines", False, "Skip malformed lines; count and show them.", *BOOLEAN),
    Parameter(
        "max_line",
        1 << 26,
        "The longest line, in bytes: a file with a longer one is refused as another kind of file.",
        *whole(1),
    ),
    Parameter(
        "max_columns",
        1 << 26,
        "The largest number of columns that rows may require if no number is declared: otherwise one large "
        "index would take the memory of all columns before it.",
        *whole(1),
    ),
    Parameter(
        "max_expansion",
        1000,
        "The largest ratio of the size of a compressed file's content to its own; up to 64 MiB are never "
        "refused.",
        *whole(1),
    ),
)
