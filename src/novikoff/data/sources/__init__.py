"""Where examples come from: files of every format as blocks of rows. `formats.open_source` opens them."""

from __future__ import annotations

from typing import Any

from novikoff.lazy import resolve


def __getattr__(name: str) -> Any:
    return resolve(__name__, name, {})
