"""LIBSVM (SVMlight) text as a sparse matrix and labels.

A line is ``label [qid:N] index:value index:value ... [# comment]``, separated by blanks or tabs. Text is
read in blocks of whole lines, several of which can be parsed at once; the rows do not depend on the blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from novikoff import _core
from novikoff.data.sources.block import Csr, Labels
from novikoff.data.sources.bytestream import (
    MAX_COLUMNS,
    MAX_EXPANSION,
    MAX_LINE,
    ByteStream,
    Paths,
    check_whole,
)
from novikoff.data.sources.features import NumberedFeatures
from novikoff.data.sources.text import BLOCK_SIZE, ParsedInOrder, TextSource, labels_of, line_options
from novikoff.data.text_labels import TextLabels
from novikoff.parameters.common import PARAMETERS

if TYPE_CHECKING:
    import scipy.sparse as sp


@overload
def load(
    path: Paths,
    *,
    zero_based: bool = ...,
    n_features: int | None = ...,
    dtype: npt.DTypeLike = ...,
    query_id: Literal[False] = ...,
    n_jobs: int | None = ...,
    max_line: int = ...,
    max_columns: int = ...,
    max_expansion: int = ...,
    block_size: int = ...,
    rounding: str = ...,
) -> tuple[sp.csr_array, npt.NDArray[Any]]: ...
@overload
def load(
    path: Paths,
    *,
    zero_based: bool = ...,
    n_features: int | None = ...,
    dtype: npt.DTypeLike = ...,
    query_id: Literal[True],
    n_jobs: int | None = ...,
    max_line: int = ...,
    max_columns: int = ...,
    max_expansion: int = ...,
    block_size: int = ...,
    rounding: str = ...,
) -> tuple[sp.csr_array, npt.NDArray[Any], npt.NDArray[np.int64]]: ...
def load(
    path: Paths,
    *,
    zero_based: bool = False,
    n_features: int | None = None,
    dtype: npt.DTypeLike = np.float64,
    query_id: bool = False,
    n_jobs: int | None = None,
    max_line: int = MAX_LINE,
    max_columns: int = MAX_COLUMNS,
    max_expansion: int = MAX_EXPANSION,
    block_size: int = BLOCK_SIZE,
    rounding: str = "never",
) -> tuple[sp.csr_array, npt.NDArray[Any]] | tuple[sp.csr_array, npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Read a file in LIBSVM (SVMlight) format.

    Every decimal becomes the double nearest to the text, as with `float`. An integer (digits only) is exact,
    and refused if no double holds it, unless `rounding` allows it. Stored zeros stay stored.

    Parameters
    ----------
    path : str, path, open binary file, or a list of these
        Plain text, or text compressed by gzip, bzip2, xz or Zstandard (recognized from the first bytes). A
        pattern such as ``"day*.svm"`` stands for the files that match it, in the order of their names, and
        ``"-"`` for standard input. An open file is read from its current position, and stays open.
    zero_based : default False
        Whether the file counts features from 0 instead of 1.
    n_features : default None
        The number of columns; None: the largest index determines it.
    dtype : default float64
        The type of the values: float64, or float32 (rounded from the double).
    query_id : default False
        Whether to return the numbers after ``qid:`` too, −1 for rows without one. They are always checked.
    n_jobs : default None
        The number of parsing threads; −1 for all cores. Never changes a result.
    max_line : default 64 MiB
        The longest line in bytes; a longer line is an error.
    max_columns : default 2²⁶
        The largest index, counted from 1, unless `n_features` is given: without this limit, one number in the
        file could make a model take any amount of memory.
    max_expansion : default 1000
        The largest factor by which a compressed file may expand; up to 64 MiB are always accepted.
    block_size : default 2 MiB
        Bytes read at once. Never changes a result.
    rounding : default 'never'
        'nearest' rounds integers that no double holds to the nearest double, and warns.

    Returns
    -------
    X : csr_array of shape (n_rows, n_features)
        With sorted indices and no duplicates.
    y : array of shape (n_rows,)
        int64 when every label is a whole number (up to 2^53), otherwise float64; for text str, or
        objects if an array of str would take more than 16 MiB because of a long label.
    qid : int64 array of shape (n_rows,)
        Only with `query_id`.

    Raises
    ------
    ValueError
        For text that is not in this format, with the file, the line, what was found and what was expected;
        for a compressed file that is cut short or damaged; for a file without rows.
    OSError
        When the file cannot be opened or read.

    Examples
    --------
    >>> import io, novikoff
    >>> X, y = novikoff.load(io.BytesIO(b"+1 1:0.5 3:2 # a comment\\n-1 2:25e-2\\n"))
    >>> X.toarray()
    array([[0.5 , 0.  , 2.  ],
           [0.  , 0.25, 0.  ]])
    >>> y
    array([ 1, -1])
    """
    PARAMETERS["rounding"].check(rounding)
    single = _check(zero_based, n_features, dtype, n_jobs, block_size)
    stream = ByteStream(path, max_line=max_line, max_expansion=max_expansion)
    check_whole("max_columns", max_columns, 1)
    limit = -1 if n_features is None else int(n_features)

    def make_parser(kind: str) -> _core.LibsvmRows:
        return _core.LibsvmRows(
            line_options(kind, rounding),
            single=single,
            zero_based=bool(zero_based),
            n_features=limit,
            max_columns=int(max_columns),
        )

    rows = make_parser("")
    parsed_in_order = ParsedInOrder(stream, make_parser, n_jobs, int(block_size))
    for parsed in parsed_in_order(reuse=True):
        rows.append(parsed.parser)
    parsed_in_order.rounded.warn()
    if rows.n == 0:
        what = "only blank lines and comments" if rows.lines else "nothing"
        plural = "file holds" if len(stream.names) == 1 else "files hold"
        raise ValueError(f"{stream.name}: expected at least one row, but the {plural} {what}.")
    columns = rows.largest + 1 if n_features is None else int(n_features)
    given, values, indices, indptr, qid = rows.take()
    import scipy.sparse as sp  # here: reading by blocks does not need SciPy

    X = sp.csr_array((values, indices, indptr), shape=(len(indptr) - 1, columns))
    X.has_sorted_indices = True
    X.has_canonical_format = True
    labels = labels_of(given)
    assert labels is not None  # they are required
    y = np.asarray(labels) if isinstance(labels, TextLabels) else _whole(labels)
    if query_id:
        return X, y, np.full(len(y), -1) if qid is None else qid
    return X, y


def open_text(
    stream: ByteStream,
    *,
    features: NumberedFeatures | None = None,
    zero_based: bool | None = None,
    n_features: int | None = None,
    labelled: bool = True,
    skip_bad_lines: bool = False,
    rounding: str = "never",
    n_jobs: int | None = -1,
    block_size: int = BLOCK_SIZE,
    max_columns: int = MAX_COLUMNS,
) -> TextSource[_core.LibsvmRows]:
    """A stream of LIBSVM text as a source; for the parameters see `novikoff.open_source`."""
    PARAMETERS["rounding"].check(rounding)
    if features is None:
        if not isinstance(zero_based, bool | np.bool_ | None):
            raise ValueError(f"zero_based must be True or False, not {zero_based!r}.")
        check_whole("n_features", 0 if n_features is None else n_features, 0)
        declared = n_features is not None
        features = NumberedFeatures(
            n_features or 0, zero_based=bool(zero_based), fixed=declared, strict=declared
        )
    elif not isinstance(features, NumberedFeatures):
        raise ValueError(
            f"{stream.name}: the file has numbered features, but the model's are {features.kind}: it was "
            "trained on another format."
        )
    elif zero_based is not None and bool(zero_based) != features.zero_based:
        raise ValueError(
            f"zero_based={zero_based}, but the model counts features from {0 if features.zero_based else 1}."
        )
    elif n_features is not None and n_features != features.n_columns:
        raise ValueError(f"n_features={n_features}, but the model has {features.n_columns}.")

    def make_parser(kind: str) -> _core.LibsvmRows:
        return _core.LibsvmRows(
            line_options(kind, rounding, labelled, skip_bad_lines),
            zero_based=features.zero_based,
            n_features=features.n_columns if features.strict else -1,
            max_columns=int(max_columns) if features.grows else -1,
        )

    return TextSource(
        stream,
        format="libsvm",
        features=features,
        make_parser=make_parser,
        rows=_rows,
        n_jobs=n_jobs,
        block_size=block_size,
        max_columns=max_columns,
    )


def _rows(
    parser: _core.LibsvmRows, features: NumberedFeatures, reuse: bool
) -> tuple[Csr, Labels | None, None]:
    """The rows that a parser has read, for a block."""
    largest = parser.largest
    indptr: npt.NDArray[Any]
    given, values, indices, indptr, _ = parser.view() if reuse else parser.take()
    if not features.fixed:
        features.widen(largest + 1)
    elif largest >= features.n_columns:  # features unknown to the model have no weight
        known = indices < features.n_columns
        indptr = np.concatenate([[0], np.cumsum(known)]).astype(indptr.dtype)[indptr]
        values, indices = values[known], indices[known]
    X = Csr(values, indices, indptr, (len(indptr) - 1, features.n_columns))
    return X, labels_of(given), None


def _check(
    zero_based: object,
    n_features: object,
    dtype: npt.DTypeLike,
    n_jobs: object,
    block_size: object,
) -> bool:
    """Check everything but the file; return whether values are float32."""
    if not isinstance(zero_based, bool | np.bool_):
        raise ValueError(f"zero_based must be True or False, not {zero_based!r}.")
    check_whole("n_features", 0 if n_features is None else n_features, 0)
    check_whole("block_size", block_size, 1)
    PARAMETERS["n_jobs"].check(n_jobs)
    try:
        wanted = "" if dtype is None else np.dtype(dtype).name
    except TypeError:
        wanted = ""
    if wanted not in ("float32", "float64"):
        raise ValueError(f"dtype must be float32 or float64, not {dtype!r}.")
    return wanted == "float32"


def _whole(labels: npt.NDArray[Any]) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
    """Labels as int64 when that is lossless."""
    if np.all(np.abs(labels) <= 2.0**53) and np.all(labels == np.trunc(labels)):
        return labels.astype(np.int64)
    return labels
