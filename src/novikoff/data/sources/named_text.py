"""Text with named features as a source: the common part of Vowpal Wabbit text and JSON lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from novikoff import _core
from novikoff.data.sources.block import Csr, Floats, Labels
from novikoff.data.sources.bytestream import ByteStream
from novikoff.data.sources.features import Features, NamedFeatures
from novikoff.data.sources.text import TextSource, labels_of
from novikoff.parameters.common import PARAMETERS

BLOCK_SIZE = 1 << 22  # a larger block looks up the column of a name less often

NamedParser = _core.VwRows | _core.JsonRows


def named_source(
    stream: ByteStream,
    make_parser: Callable[[str], NamedParser],
    *,
    format: str,
    features: Features | None,
    hash_bits: int | None,
    seed: int | None,
    n_jobs: int | None,
    block_size: int,
    max_columns: int,
) -> TextSource[NamedParser]:
    """A stream of lines as a source whose columns are named features, exact or hashed."""
    return TextSource(
        stream,
        format=format,
        features=_checked(stream.name, features, hash_bits, seed),
        make_parser=make_parser,
        rows=_rows,
        n_jobs=n_jobs,
        block_size=block_size,
        max_columns=max_columns,
    )


def _checked(name: str, features: Features | None, hash_bits: int | None, seed: int | None) -> NamedFeatures:
    """The model's features, if they match the options; otherwise new ones."""
    if features is None:
        PARAMETERS["hash_bits"].check(hash_bits)
        PARAMETERS["seed"].check(seed or 0)
        return NamedFeatures(hash_bits=hash_bits, seed=seed or 0)
    if not isinstance(features, NamedFeatures):
        raise ValueError(
            f"{name}: the file has named features, but the model's are {features.kind}: it was trained on "
            "another format."
        )
    for key, given in (("hash_bits", hash_bits), ("seed", seed)):
        if given is not None and given != getattr(features, key):
            raise ValueError(f"{key}={given}, but the model has {key}={getattr(features, key)}.")
    return features


def _rows(parser: NamedParser, features: Any, reuse: bool) -> tuple[Csr, Labels | None, Floats | None]:
    """The rows that a parser has read, over the columns of its names."""
    given, weights, data, indices, indptr, names = parser.view() if reuse else parser.take()
    values, columns, ends = _core.recolumn(data, indices, indptr, features.place(names))
    X = Csr(values, columns, ends, (len(ends) - 1, features.n_columns), is_sorted=False)
    return X, labels_of(given), weights
