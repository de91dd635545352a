"""Perceptrons on a cluster. The public name is `novikoff.dask`."""

from __future__ import annotations

from typing import Any

from novikoff.lazy import resolve


def __getattr__(name: str) -> Any:
    return resolve(__name__, name, {})
