"""Text whose features have names: Vowpal Wabbit text and JSON lines as sources.

The parsers number the names of a block among themselves; here the names get the columns of the features, an
exact vocabulary or hashed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from novikoff import _core
from novikoff.block import Csr, Floats, Labels
from novikoff.bytestream import ByteStream
from novikoff.features import Features, NamedFeatures
from novikoff.parameters import PARAMETERS
from novikoff.text import BLOCK_SIZE, TextSource

P = TypeVar("P", _core.VwRows, _core.JsonRows)


def open_vw(
    stream: ByteStream,
    *,
    features: NamedFeatures | None = None,
    hash_bits: int | None = None,
    seed: int | None = None,
    labelled: bool = True,
    skip_bad_lines: bool = False,
    n_jobs: int | None = -1,
    block_size: int = BLOCK_SIZE,
) -> TextSource[_core.VwRows]:
    """A stream of Vowpal Wabbit text as a source; the parameters are those of `novikoff.open_source`."""
    label = "required" if labelled else "optional"
    return _open(
        "vw",
        stream,
        lambda: _core.VwRows(label=label, skip_bad=bool(skip_bad_lines)),
        named_features(stream.name, features, hash_bits, seed),
        n_jobs,
        block_size,
    )


def open_jsonl(
    stream: ByteStream,
    *,
    features: NamedFeatures | None = None,
    label: str = "label",
    weight: str | None = None,
    ignore: Iterable[str] = (),
    hash_bits: int | None = None,
    seed: int | None = None,
    labelled: bool = True,
    skip_bad_lines: bool = False,
    n_jobs: int | None = -1,
    block_size: int = BLOCK_SIZE,
) -> TextSource[_core.JsonRows]:
    """A stream of JSON lines as a source; the parameters are those of `novikoff.open_source`."""
    ignored = [ignore] if isinstance(ignore, str) else list(ignore)
    needed = "required" if labelled else "optional"
    return _open(
        "jsonl",
        stream,
        lambda: _core.JsonRows(
            label, weight, "features", ignored, label=needed, skip_bad=bool(skip_bad_lines)
        ),
        named_features(stream.name, features, hash_bits, seed),
        n_jobs,
        block_size,
    )


def named_features(
    name: str, features: Features | None, hash_bits: int | None, seed: int | None
) -> NamedFeatures:
    """The features of a model, which cannot be changed any more, or new ones."""
    if features is None:
        PARAMETERS["hash_bits"].check(hash_bits)
        PARAMETERS["seed"].check(seed or 0)
        return NamedFeatures(hash_bits=hash_bits, seed=seed or 0)
    if not isinstance(features, NamedFeatures):
        raise ValueError(
            f"{name}: the file names its features, but those of the model are {features.kind}: it was made "
            "from another format."
        )
    for given, has, what in (
        (hash_bits, features.hash_bits, "hash_bits"),
        (seed, features.seed, "seed"),
    ):
        if given is not None and given != has:
            raise ValueError(f"{what}={given}, but the model has {what}={has}.")
    return features


def _open(
    format: str,
    stream: ByteStream,
    make_parser: Callable[[], P],
    features: NamedFeatures,
    n_jobs: int | None,
    block_size: int,
) -> TextSource[P]:
    def rows(parser: P, features: NamedFeatures, reuse: bool) -> tuple[Csr, Labels | None, Floats | None]:
        labels, weights, *local = parser.view() if reuse else parser.take()
        return columned(features, local[:3], local[3]), labels, weights

    return TextSource(
        stream,
        format=format,
        features=features,
        make_parser=lambda kind: make_parser(),
        rows=rows,
        n_jobs=n_jobs,
        block_size=block_size,
    )


def columned(features: NamedFeatures, rows: Sequence[Any], names: Any) -> Csr:
    """Rows of a block's own numbers for names as rows of columns; what has no column is left out."""
    values, numbers, ends = rows
    data, indices, indptr = _core.recolumn(values, numbers, ends, features.place(names))
    return Csr(data, indices, indptr, (len(indptr) - 1, features.n_columns), is_sorted=False)
