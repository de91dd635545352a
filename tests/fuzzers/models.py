"""Model files of every kind: bytes changed, and facts and arrays changed under a digest that fits.

What is loaded is used: it predicts, says its report, and learns on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fuzzers.mutation import Rng, altered, damaged, one_of, other_array
from novikoff.modelfile import container as modelfile
from support import model_files

FILES = model_files.FOLDER / "0.1.0"
OTHERS = ("checkpoint",)  # and certificates: they have their own fuzzers


class Fuzzer:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "model"
        self.names = [n for n in model_files.KINDS if not n.startswith("certificate") and n not in OTHERS]
        self.contents: dict[str, bytes] = {}
        self.parts: dict[str, tuple[str, Any, Any]] = {}
        for name in self.names:
            path = FILES / name
            if not path.exists():  # a kind that is newer than that version
                path = folder / name
                model_files.KINDS[name][0](path)
            self.contents[name] = path.read_bytes()
            if (kind := modelfile.kind_of_file(path)) is not None:
                self.parts[name] = (kind, *modelfile.read_file(path, kind))

    def __call__(self, rng: Rng) -> str:
        name = one_of(rng, self.names)
        other = one_of(rng, self.names)
        if name in self.parts and rng.integers(8):
            content = self._resealed(name, other, rng)
        else:
            content = damaged(self.contents[name], rng, self.contents[other])
        if content == self.contents[name]:
            return "same"
        self.path.write_bytes(content)
        try:
            model_files.KINDS[name][1](self.path)
        except (ValueError, OSError):
            return "refused"
        except (TypeError, OverflowError) as error:  # while it learns on: labels or weights that do not do
            if not is_ours(error):
                raise
            return "refused"
        return "accepted"

    def _resealed(self, name: str, other: str, rng: Rng) -> bytes:
        kind, facts, arrays = self.parts[name]
        arrays = dict(arrays)
        if not arrays or rng.integers(2):
            facts = altered(facts, rng)
        if arrays and rng.integers(2):
            for _ in range(int(rng.integers(1, 3))):
                key = one_of(rng, sorted(arrays))
                arrays[key] = other_array(arrays[key], rng)
        if rng.integers(6) == 0 and other in self.parts:  # a part of another model
            _, more, theirs = self.parts[other]
            facts = facts | dict([one_of(rng, list(more.items()))]) if isinstance(facts, dict) else facts
            if theirs:
                key = one_of(rng, sorted(theirs))
                arrays[key] = theirs[key]
        return resealed(facts, arrays, kind)


def resealed(facts: Any, arrays: dict[str, np.ndarray[Any, Any]], kind: str) -> bytes:
    """The bytes of a model file, with a digest that fits."""
    try:
        return b"".join(map(bytes, modelfile._serialized(facts, arrays, kind)))
    except (ValueError, RecursionError):
        return b"{}"  # cannot be said in JSON


def is_ours(error: BaseException) -> bool:
    """Whether the error was raised by a statement of the library, not by something that it ran into."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None:
        return False
    path, line = Path(place.tb_frame.f_code.co_filename), place.tb_lineno
    if path.parts[-1] == "model_files.py" or "novikoff" not in path.parts:
        return False
    return any("raise " in text for text in path.read_text().splitlines()[max(line - 4, 0) : line + 1])
