"""Files of lines, whole or compressed: LIBSVM, VW, JSON lines, CSV and TSV through the readers and a fit.

The parsers alone, under heavier fire, are in native/fuzz. Here blocks, threads, tables of names and the
classes of labels take part: the rows must not depend on how the text is cut into blocks.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from pathlib import Path
from typing import Any

import numpy as np

import novikoff
from fuzzers.mutation import Rng, damaged, one_of
from support import model_files

TOKENS = (
    *(
        b"1",
        b"-1",
        b"0",
        b":",
        b" ",
        b"\n",
        b"\r\n",
        b"\t",
        b",",
        b'"',
        b"'",
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b"|",
    ),
    *(
        b"nan",
        b"inf",
        b"1e400",
        b"1e-400",
        b"-0.0",
        b"99999999",
        b"9" * 25,
        b"qid:1",
        b"#",
        b"\0",
        b"\xef\xbb\xbf",
    ),
    *(b"\xff", b"null", b"true", b'"label"', b"|a", b"a:1", b"0x1p3", b"1_0", b"\xe2\x80\xa8", b"\x85"),
)
PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def rewritten(text: bytes, rng: Rng) -> bytes:
    """Tokens put in and lines repeated."""
    out = text
    for _ in range(int(rng.integers(0, 4))):
        at = int(rng.integers(len(out) + 1))
        out = out[:at] + one_of(rng, TOKENS) + out[at + int(rng.integers(3)) :]
    if rng.integers(4) == 0:
        lines = out.splitlines(keepends=True) or [b""]
        out = b"".join(one_of(rng, lines) for _ in range(int(rng.integers(1, 40))))
    return out


class Fuzzer:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, rng: Rng) -> str:
        name = one_of(rng, sorted(model_files.ROWS))
        content = rewritten(model_files.ROWS[name].encode(), rng)
        if rng.integers(3) == 0:
            content = damaged(content, rng, model_files.ROWS["jsonl"].encode())
        suffix = one_of(rng, sorted(PACKERS))
        packed = PACKERS[suffix](content)
        broken = bool(suffix) and rng.integers(3) == 0
        if broken:
            packed = damaged(packed, rng)
        path = self.folder / f"rows.{name}{suffix}"
        path.write_bytes(packed)
        options: dict[str, Any] = {"format": one_of(rng, (None, "tsv" if name == "csv" else name, name))}
        options |= one_of(rng, ({}, {"labelled": False}, {"skip_bad_lines": True}, {"rounding": "nearest"}))
        if name == "csv" and rng.integers(2):
            options |= one_of(
                rng, ({"text": ["note"]}, {"header": False, "label": 1}, {"delimiter": ";"}, {"hash_bits": 4})
            )
        whole = self._rows(path, options | {"n_jobs": 1})
        size = (
            {}
            if name == "csv"
            else {"block_size": int(rng.integers(1, 90)), "n_jobs": int(rng.integers(1, 4))}
        )
        if not (broken and options["format"] is None):
            parts = self._rows(path, options | size)
            assert (whole is None) == (parts is None), (whole, parts)
            assert whole is None or same(whole, parts), (whole, parts)
        if whole is None:
            return "refused"
        try:
            source = novikoff.open_source(io.BytesIO(packed) if not suffix else path, **options)
            novikoff.Perceptron(max_epochs=2).fit_source(source)
        except ValueError:
            return "refused"
        return "accepted"

    def _rows(self, path: Path, options: dict[str, Any]) -> list[Any] | None:
        """Every row as columns, values, label and weight; None where the file is refused."""
        out: list[Any] = []
        try:
            source = novikoff.open_source(path, **options)
            for block in source.blocks():
                for i in range(block.n_rows):
                    out.append([row(block.X, i), part(block.labels, i), part(block.weights, i)])
            return [out, source.features.names(range(source.features.n_columns)), source.skipped.count]
        except (ValueError, OSError):
            return None


def row(X: Any, i: int) -> Any:
    if isinstance(X, np.ndarray):
        at = np.flatnonzero(X[i])
        return sorted(zip(at.tolist(), X[i][at].tolist(), strict=True))
    at = slice(X.indptr[i], X.indptr[i + 1])
    pairs = zip(X.indices[at].tolist(), X.data[at].tolist(), strict=True)
    return sorted(pair for pair in pairs if pair[1])


def part(values: Any, i: int) -> Any:
    return None if values is None else values.tolist()[i]


def same(a: Any, b: Any) -> bool:
    return bool(a == b)
