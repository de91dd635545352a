"""Linear perceptrons: the estimators, then what they stand on."""

from __future__ import annotations

from typing import Any

from novikoff.lazy import resolve


def __getattr__(name: str) -> Any:
    return resolve(__name__, name, {})
