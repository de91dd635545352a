"""Caches with bytes changed, spliced with others, or with a forged directory, before and between passes.

A damaged cache is refused or made anew: a fit never learns other rows than the file's. Only one whose
checksums were made to fit may say something else, and does no harm.
"""

from __future__ import annotations

import json
import zlib
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load, save

import novikoff
from fuzzers.mutation import Rng, altered, damaged, one_of, other_array
from novikoff.data.sources.cache import FOOTER, MAGIC, cache_path, cached
from support import model_files


class Fuzzer:
    def __init__(self, folder: Path) -> None:
        self.paths: dict[str, Path] = {}
        self.whole: dict[str, bytes] = {}
        self.models: dict[str, Any] = {}
        for name, text in model_files.ROWS.items():
            self.paths[name] = folder / f"rows.{name}"
            self.paths[name].write_text("\n".join([*text.splitlines(), *text.splitlines()[1:]] * 3) + "\n")
            if name == "csv":
                self.paths[name].write_text(text)
            self.models[name] = self._fit(name)
            self.whole[name] = self._cache(name).read_bytes()

    def _source(self, name: str) -> Any:
        options = {} if name == "csv" else {"block_size": 100}
        return novikoff.open_source(self.paths[name], n_jobs=1, **options)

    def _cache(self, name: str) -> Path:
        return cache_path(self._source(name))

    def _fit(self, name: str, during: Any = None) -> Any:
        source = cached(self._source(name))
        if during is not None:
            for _ in source.blocks():
                pass
            during()
        model = novikoff.Perceptron(max_epochs=3, order="cyclic").fit_source(source)
        return model.coef_.tobytes(), model.intercept_.tobytes(), model.classes_.tolist(), model.n_mistakes_

    def __call__(self, rng: Rng) -> str:
        name, other = one_of(rng, sorted(self.paths)), one_of(rng, sorted(self.paths))
        whole, path = self.whole[name], self._cache(name)
        forged = rng.integers(2) == 0
        content = self._forged(whole, rng) if forged else damaged(whole, rng, self.whole[other])
        during = None
        if rng.integers(3) == 0:

            def during() -> None:
                with path.open("r+b") as file:  # the very file that is being read
                    file.write(content)
                    file.truncate()

            path.write_bytes(whole)
        else:
            path.write_bytes(content)
        path.chmod(0o600)
        try:
            found = self._fit(name, during)
        except (ValueError, OSError):
            path.unlink(missing_ok=True)
            return "refused"
        if found == self.models[name]:
            return "same"
        assert forged, "a damaged cache was believed"
        return "accepted"

    def _forged(self, whole: bytes, rng: Rng) -> bytes:
        """Another directory, or other blocks, under checksums that fit."""
        at = int.from_bytes(whole[-FOOTER:][:8], "little")
        blocks, arrays = bytearray(whole[:at]), load(whole[at:-FOOTER])
        directory = json.loads(arrays.pop("directory").tobytes())
        if rng.integers(3) == 0 and directory["blocks"]:
            entry = one_of(rng, directory["blocks"])
            place = slice(entry["at"], entry["at"] + entry["size"])
            for _ in range(int(rng.integers(1, 4))):
                k = int(rng.integers(entry["size"])) // 4 * 4
                blocks[place.start + k : place.start + k + 4] = int(
                    one_of(rng, (0, 1, 7, 2**31 - 1, 2**32 - 1, 0x7FF00000))
                ).to_bytes(4, "little")
            entry["crc"] = zlib.crc32(blocks[place])
        if rng.integers(4):
            key = directory.pop("key")
            directory = altered(directory, rng)
            if isinstance(directory, dict):
                directory["key"] = key
        if arrays and rng.integers(2):
            key = one_of(rng, sorted(arrays))
            arrays[key] = other_array(arrays[key], rng)
        try:
            said = np.frombuffer(json.dumps(directory).encode(), dtype=np.uint8)
        except RecursionError:
            return whole
        content = save({"directory": said} | {k: np.ascontiguousarray(a) for k, a in arrays.items()})
        footer = at.to_bytes(8, "little") + len(content).to_bytes(8, "little")
        return bytes(blocks) + content + footer + blake2b(content, digest_size=32).digest() + MAGIC
