"""Vowpal Wabbit text as a source.

A line is ``[label [importance [base]]] ['tag]|[namespace][:scale] feature[:value] ... |...``, separated by
blanks or tabs; native/text/vw.h has the details.
"""

from __future__ import annotations

from novikoff import _core
from novikoff.data.sources.bytestream import MAX_COLUMNS, ByteStream
from novikoff.data.sources.features import Features
from novikoff.data.sources.named_text import BLOCK_SIZE, NamedParser, named_source
from novikoff.data.sources.text import TextSource, line_options
from novikoff.parameters.common import PARAMETERS


def open_text(
    stream: ByteStream,
    *,
    features: Features | None = None,
    hash_bits: int | None = None,
    seed: int | None = None,
    labelled: bool = True,
    skip_bad_lines: bool = False,
    rounding: str = "never",
    n_jobs: int | None = -1,
    block_size: int = BLOCK_SIZE,
    max_columns: int = MAX_COLUMNS,
) -> TextSource[NamedParser]:
    """A stream of Vowpal Wabbit text as a source; for the parameters see `novikoff.open_source`."""
    PARAMETERS["rounding"].check(rounding)

    def make_parser(kind: str) -> NamedParser:
        return _core.VwRows(line_options(kind, rounding, labelled, skip_bad_lines))

    return named_source(
        stream,
        make_parser,
        format="vw",
        features=features,
        hash_bits=hash_bits,
        seed=seed,
        n_jobs=n_jobs,
        block_size=block_size,
        max_columns=max_columns,
    )
