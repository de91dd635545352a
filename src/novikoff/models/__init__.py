"""Models as things to keep: one plain object with all that belongs to it, and its files."""

from __future__ import annotations

from typing import Any

from novikoff.lazy import resolve


def __getattr__(name: str) -> Any:
    return resolve(__name__, name, {})
