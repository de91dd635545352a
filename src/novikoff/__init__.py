"""novikoff: perceptrons that carry their proof.

Names are resolved when they are first used, so that `import novikoff` costs almost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from novikoff.lazy import resolve

__version__ = "0.1.0"

if TYPE_CHECKING:
    from novikoff import checker as checker
    from novikoff import dask as dask
    from novikoff import datasets as datasets
    from novikoff import plots as plots
    from novikoff import structured as structured
    from novikoff import theory as theory
    from novikoff.data.rounding import RoundingWarning as RoundingWarning
    from novikoff.data.sources.formats import open_source as open_source
    from novikoff.data.sources.libsvm import load as load
    from novikoff.kernel.expansions import MonotoneConjunctions as MonotoneConjunctions
    from novikoff.kernel.expansions import PolynomialExpansion as PolynomialExpansion
    from novikoff.kernel.model import KernelModel as KernelModel
    from novikoff.kernel.online import OnlineKernelPerceptron as OnlineKernelPerceptron
    from novikoff.kernel.perceptron import KernelPerceptron as KernelPerceptron
    from novikoff.linear.model import LinearModel as LinearModel
    from novikoff.linear.online import OnlinePerceptron as OnlinePerceptron
    from novikoff.linear.perceptron import Perceptron as Perceptron
    from novikoff.linear.pocket import Pocket as Pocket
    from novikoff.linear.voted import VotedPerceptron as VotedPerceptron
    from novikoff.linear.winnow import Winnow as Winnow
    from novikoff.loading import load_model as load_model
    from novikoff.structured.perceptron import StructuredPerceptron as StructuredPerceptron
    from novikoff.tagging.sequence_tagger import SequenceTagger as SequenceTagger
    from novikoff.tagging.tagger import Tagger as Tagger
    from novikoff.tagging.templates import Templates as Templates

_HOMES = {
    "KernelModel": "novikoff.kernel.model",
    "KernelPerceptron": "novikoff.kernel.perceptron",
    "LinearModel": "novikoff.linear.model",
    "MonotoneConjunctions": "novikoff.kernel.expansions",
    "OnlineKernelPerceptron": "novikoff.kernel.online",
    "OnlinePerceptron": "novikoff.linear.online",
    "Perceptron": "novikoff.linear.perceptron",
    "Pocket": "novikoff.linear.pocket",
    "PolynomialExpansion": "novikoff.kernel.expansions",
    "RoundingWarning": "novikoff.data.rounding",
    "SequenceTagger": "novikoff.tagging.sequence_tagger",
    "StructuredPerceptron": "novikoff.structured.perceptron",
    "Tagger": "novikoff.tagging.tagger",
    "Templates": "novikoff.tagging.templates",
    "VotedPerceptron": "novikoff.linear.voted",
    "Winnow": "novikoff.linear.winnow",
    "load": "novikoff.data.sources.libsvm",
    "load_model": "novikoff.loading",
    "open_source": "novikoff.data.sources.formats",
}
_MODULES = (
    "checker",
    "dask",
    "datasets",
    "plots",
    "structured",
    "theory",
)  # listed; the others are found too

__all__ = [
    "KernelModel",
    "KernelPerceptron",
    "LinearModel",
    "MonotoneConjunctions",
    "OnlineKernelPerceptron",
    "OnlinePerceptron",
    "Perceptron",
    "Pocket",
    "PolynomialExpansion",
    "RoundingWarning",
    "SequenceTagger",
    "StructuredPerceptron",
    "Tagger",
    "Templates",
    "VotedPerceptron",
    "Winnow",
    "__version__",
    "checker",
    "dask",
    "datasets",
    "load",
    "load_model",
    "open_source",
    "plots",
    "structured",
    "theory",
]


def __getattr__(name: str) -> Any:
    return resolve(__name__, name, _HOMES)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES, *_MODULES])
