"""novikoff: perceptrons that carry their proof.

Names are resolved when they are first used, so that `import novikoff` costs almost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from novikoff.libsvm import load as load
    from novikoff.online import OnlinePerceptron as OnlinePerceptron
    from novikoff.perceptron import Perceptron as Perceptron
    from novikoff.sources import open_source as open_source
    from novikoff.voted import VotedPerceptron as VotedPerceptron

_HOMES = {
    "OnlinePerceptron": "novikoff.online",
    "Perceptron": "novikoff.perceptron",
    "VotedPerceptron": "novikoff.voted",
    "load": "novikoff.libsvm",
    "open_source": "novikoff.sources",
}

__all__ = ["OnlinePerceptron", "Perceptron", "VotedPerceptron", "__version__", "load", "open_source"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'novikoff' has no attribute {name!r}; it has {', '.join(sorted(_HOMES))}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
