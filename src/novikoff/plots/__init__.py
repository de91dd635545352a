"""Pictures of what was learned and why, in scikit-learn's Display convention.

Every class holds the numbers it shows, has `plot(ax=None)`, and afterwards `ax_` and `figure_`. Nothing here
imports scikit-learn, and matplotlib only when something is drawn. Names are resolved when they are first
used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from novikoff.plots.boundary import BoundaryDisplay as BoundaryDisplay
    from novikoff.plots.margins import MarginHistogramDisplay as MarginHistogramDisplay
    from novikoff.plots.mistakes import MistakesDisplay as MistakesDisplay
    from novikoff.plots.orders import OrderDisplay as OrderDisplay
    from novikoff.plots.panels import DiagnosisDisplay as DiagnosisDisplay
    from novikoff.plots.sandwich import SandwichDisplay as SandwichDisplay
    from novikoff.plots.votes import VotesDisplay as VotesDisplay
    from novikoff.plots.ways import WaysDisplay as WaysDisplay
    from novikoff.plots.witness import WitnessDisplay as WitnessDisplay

_HOMES = {
    "BoundaryDisplay": "boundary",
    "DiagnosisDisplay": "panels",
    "MarginHistogramDisplay": "margins",
    "MistakesDisplay": "mistakes",
    "OrderDisplay": "orders",
    "SandwichDisplay": "sandwich",
    "VotesDisplay": "votes",
    "WaysDisplay": "ways",
    "WitnessDisplay": "witness",
}

__all__ = [
    "BoundaryDisplay",
    "DiagnosisDisplay",
    "MarginHistogramDisplay",
    "MistakesDisplay",
    "OrderDisplay",
    "SandwichDisplay",
    "VotesDisplay",
    "WaysDisplay",
    "WitnessDisplay",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"novikoff.plots.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'novikoff.plots' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
