"""Perceptrons on a cluster, by iterative parameter mixing. The public name is `novikoff.dask`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from novikoff.lazy import resolve


def check_installed() -> None:
    """Say what to install where Dask is missing."""
    try:
        import_module("distributed")
    except ImportError:
        raise ImportError("novikoff.dask needs dask and distributed: pip install 'novikoff[dask]'.") from None


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        check_installed()
    return resolve(__name__, name, {})
