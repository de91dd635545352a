"""Arrow, Feather and Parquet files of all types and compressions, with bits flipped, cut and spliced."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np

import novikoff
from fuzzers.mutation import Rng, damaged, one_of


def written(folder: Path) -> dict[str, bytes]:
    """Files of one table, in every way that they can be written."""
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    n = 60
    colours = ["red", "green", None, "blue"] * (n // 4)
    columns = {
        "label": ["a", "b", "c"] * (n // 3),
        "x": np.arange(float(n)),
        "small": pa.array(np.arange(n) % 7, pa.int8()),
        "whole": pa.array(range(n), pa.int64()),
        "half": pa.array(np.arange(n, dtype=np.float32)),
        "flag": pa.array([True, False, None] * (n // 3)),
        "colour": pa.array(colours).dictionary_encode(),
        "text": [f"u{i % 7} v{i % 3}" for i in range(n)],
        "large": pa.array([f"w{i % 5}" for i in range(n)], pa.large_string()),
        "decimal": pa.array([None if i % 9 == 0 else i for i in range(n)], pa.decimal128(10, 2)),
        "day": pa.array([datetime.date(2020, 1, 1 + i % 28) for i in range(n)]),
        "time": pa.array([datetime.datetime(2020, 1, 1, i % 24) for i in range(n)]),
    }
    if hasattr(pa, "string_view"):
        columns["view"] = pa.array([f"a longer text of {i % 5}" for i in range(n)], pa.string_view())
    table, out = pa.table(columns), {}
    plain = table.drop_columns(["view"]) if "view" in columns else table
    path = folder / "made"
    for packing in ("uncompressed", "lz4", "zstd"):
        pyarrow.feather.write_feather(table, str(path), compression=packing, chunksize=25)
        out[f"feather {packing}"] = path.read_bytes()
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=20)
    out["stream"] = path.read_bytes()
    for packing in ("none", "snappy", "zstd"):
        for version in ("1.0", "2.0"):
            pyarrow.parquet.write_table(
                plain,
                path,
                compression=packing,
                data_page_version=version,
                row_group_size=25,
                use_dictionary=["text"],
            )
            out[f"parquet {packing} {version}"] = path.read_bytes()
    path.unlink()
    return out


class Fuzzer:
    def __init__(self, folder: Path) -> None:
        self.files, self.path = written(folder), folder / "rows"

    def __call__(self, rng: Rng) -> str:
        name, other = one_of(rng, sorted(self.files)), one_of(rng, sorted(self.files))
        content = bytearray(self.files[name])
        if rng.integers(2):  # one bit, which gets furthest
            content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
        else:
            content = bytearray(damaged(bytes(content), rng, self.files[other]))
        self.path.write_bytes(content)
        options: dict[str, Any] = {
            "format": "parquet" if name.startswith("parquet") else "arrow",
            "label": "label",
        }
        options |= one_of(
            rng, ({}, {"text": ["text"]}, {"categorical": ["small", "colour"]}, {"hash_bits": 5})
        )
        try:
            source = novikoff.open_source(self.path, **options)
            novikoff.Perceptron(max_epochs=2).fit_source(source)
        except (ValueError, OSError):
            return "refused"
        return "accepted"
