"""Pictures of what was learned and why, in scikit-learn's Display convention.

Every class holds the numbers it shows, has `plot(ax=None)`, and afterwards `ax_` and `figure_`. Nothing here
imports scikit-learn, and matplotlib only when something is drawn. Names are resolved when they are first
used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from novikoff.lazy import resolve

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
    "BoundaryDisplay": "novikoff.plots.boundary",
    "DiagnosisDisplay": "novikoff.plots.panels",
    "MarginHistogramDisplay": "novikoff.plots.margins",
    "MistakesDisplay": "novikoff.plots.mistakes",
    "OrderDisplay": "novikoff.plots.orders",
    "SandwichDisplay": "novikoff.plots.sandwich",
    "VotesDisplay": "novikoff.plots.votes",
    "WaysDisplay": "novikoff.plots.ways",
    "WitnessDisplay": "novikoff.plots.witness",
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
    return resolve(__name__, name, _HOMES)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
