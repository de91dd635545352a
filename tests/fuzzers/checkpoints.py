"""Checkpoints with bytes, facts and arrays changed, from which a fit goes on.

One that is damaged is refused. One whose digest was made to fit may say something else, and does no harm.
"""

from __future__ import annotations

from pathlib import Path

from fuzzers.models import is_ours, resealed
from fuzzers.mutation import Rng, altered, damaged, one_of, other_array
from novikoff.modelfile import container as modelfile
from support import model_files

FILE = model_files.FOLDER / "0.1.0" / "checkpoint"


class Fuzzer:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "changed"
        self.now = folder / "now"
        model_files.checkpoint(self.now)  # as this version writes it
        self.expected = repr(model_files.plain(model_files.see_checkpoint(self.now)))

    def __call__(self, rng: Rng) -> str:
        whole = self.now if rng.integers(3) else FILE
        sealed = bool(rng.integers(4))
        if sealed:
            facts, arrays = modelfile.read_file(whole, "checkpoint")
            if rng.integers(3):
                facts = altered(facts, rng)
            if rng.integers(2) and arrays:
                key = one_of(rng, sorted(arrays))
                arrays[key] = other_array(arrays[key], rng)
            content = resealed(facts, arrays, "checkpoint")
        else:
            content = damaged(whole.read_bytes(), rng, FILE.read_bytes())
        self.path.write_bytes(content)
        try:
            seen = model_files.see_checkpoint(self.path)
        except (ValueError, OSError):
            return "refused"
        except (TypeError, OverflowError) as error:
            if not is_ours(error):
                raise
            return "refused"
        if repr(model_files.plain(seen)) == self.expected:
            return "same"
        assert sealed, "a damaged checkpoint was believed"
        return "accepted"
