"""What can be learned, and what it costs: margins, bounds, separability, certificates.

Names are resolved when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MODULES: dict[str, tuple[str, ...]] = {  # each module, and the names that come from it
    "separability": ("Inseparable", "Separable", "Undecided", "Verdict", "decide", "separability"),
    "geometry": (
        "Reduction",
        "distance",
        "empirical_risk",
        "foot",
        "margin",
        "margins",
        "project",
        "radius",
        "reduce_norm",
        "reduce_threshold",
    ),
    "hindsight": ("Hindsight", "best_in_hindsight"),
    "trace": ("Trace", "trace"),
    "maxmargin": ("MaxMargin", "max_margin"),
}
_HOMES = {name: f"novikoff.theory.{module}" for module, names in _MODULES.items() for name in names}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'novikoff.theory' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
