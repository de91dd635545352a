"""Every parameter's name, default, help and legal values, written once."""

from __future__ import annotations

from typing import Any

from novikoff.lazy import resolve


def __getattr__(name: str) -> Any:
    return resolve(__name__, name, {})
