"""JSON lines as a source: one object per line, flat or with its features in a nested object.

``{"label": "spam", "age": 3, "job": "cook"}``; native/text/jsonl.h states how each kind of value is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from novikoff import _core
from novikoff.data.sources.bytestream import MAX_COLUMNS, ByteStream
from novikoff.data.sources.columns import TableFeatures
from novikoff.data.sources.features import Features
from novikoff.data.sources.named_text import BLOCK_SIZE, named_source
from novikoff.data.sources.records import IdRows, check_has_names, open_records
from novikoff.data.sources.text import TextSource, line_options
from novikoff.parameters.common import PARAMETERS


def open_text(
    stream: ByteStream,
    *,
    features: Features | None = None,
    hash_bits: int | None = None,
    seed: int | None = None,
    label: str | None = None,
    weight: str | None = None,
    ignore: Iterable[str] = (),
    labelled: bool = True,
    skip_bad_lines: bool = False,
    rounding: str = "never",
    n_jobs: int | None = -1,
    block_size: int = BLOCK_SIZE,
    max_columns: int = MAX_COLUMNS,
    id: str | None = None,
) -> TextSource[Any]:
    """A stream of JSON lines as a source; for the parameters see `novikoff.open_source`.

    `label` (by default "label") and `weight` are the keys of a row's label and weight; `ignore` lists keys
    that are not features; the values of the key `id` are the ids of blocks.
    For a model of a table's columns, `records` states how the lines are read.
    """
    ignored = [ignore] if isinstance(ignore, str) else list(ignore)
    PARAMETERS["rounding"].check(rounding)
    if isinstance(features, TableFeatures):
        check_has_names(stream.name, features)
        return open_records(
            stream,
            features=features,
            label=label,
            labelled=labelled,
            skip_bad_lines=skip_bad_lines,
            rounding=rounding,
            n_jobs=n_jobs,
            block_size=block_size,
            max_columns=max_columns,
            id=id,
        )

    def make_parser(kind: str) -> Any:
        options = line_options(kind, rounding, labelled, skip_bad_lines)
        parser = _core.JsonRows(options, "label" if label is None else label, weight, ignore=ignored)
        return parser if id is None else IdRows(parser, id)

    return named_source(
        stream,
        make_parser,
        format="jsonl",
        features=features,
        hash_bits=hash_bits,
        seed=seed,
        n_jobs=n_jobs,
        block_size=block_size,
        max_columns=max_columns,
    )
