"""Structured perceptrons: outputs that are sequences, trees, matchings, rankings, or whatever can be decoded.

Names are resolved when they are first used, as in `novikoff` itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from novikoff.lazy import resolve

if TYPE_CHECKING:
    from novikoff.structured.beam import BeamSearch as BeamSearch
    from novikoff.structured.chains import Chains as Chains
    from novikoff.structured.features import Sparse as Sparse
    from novikoff.structured.matching import Matching as Matching
    from novikoff.structured.model import StructuredModel as StructuredModel
    from novikoff.structured.multiclass import Multiclass as Multiclass
    from novikoff.structured.problem import Problem as Problem
    from novikoff.structured.ranking import Ranking as Ranking
    from novikoff.structured.trees import DependencyTrees as DependencyTrees

_HOMES = {
    "BeamSearch": "novikoff.structured.beam",
    "Chains": "novikoff.structured.chains",
    "DependencyTrees": "novikoff.structured.trees",
    "Matching": "novikoff.structured.matching",
    "Multiclass": "novikoff.structured.multiclass",
    "Problem": "novikoff.structured.problem",
    "Ranking": "novikoff.structured.ranking",
    "Sparse": "novikoff.structured.features",
    "StructuredModel": "novikoff.structured.model",
}

__all__ = [
    "BeamSearch",
    "Chains",
    "DependencyTrees",
    "Matching",
    "Multiclass",
    "Problem",
    "Ranking",
    "Sparse",
    "StructuredModel",
]


def __getattr__(name: str) -> Any:
    return resolve(__name__, name, _HOMES)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
