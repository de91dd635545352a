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
    from novikoff.expansions import MonotoneConjunctions as MonotoneConjunctions
    from novikoff.expansions import PolynomialExpansion as PolynomialExpansion
    from novikoff.kernel_perceptron import KernelPerceptron as KernelPerceptron
    from novikoff.models.kernel import KernelModel as KernelModel
    from novikoff.models.linear import LinearModel as LinearModel
    from novikoff.models.loading import load_model as load_model
    from novikoff.online import OnlinePerceptron as OnlinePerceptron
    from novikoff.online_kernel import OnlineKernelPerceptron as OnlineKernelPerceptron
    from novikoff.perceptron import Perceptron as Perceptron
    from novikoff.pocket import Pocket as Pocket
    from novikoff.rounding import RoundingWarning as RoundingWarning
    from novikoff.sequence_tagger import SequenceTagger as SequenceTagger
    from novikoff.sources.formats import open_source as open_source
    from novikoff.sources.libsvm import load as load
    from novikoff.structured.tagger import Tagger as Tagger
    from novikoff.structured.templates import Templates as Templates
    from novikoff.structured_perceptron import StructuredPerceptron as StructuredPerceptron
    from novikoff.voted import VotedPerceptron as VotedPerceptron
    from novikoff.winnow import Winnow as Winnow

_HOMES = {
    "KernelModel": "novikoff.models.kernel",
    "KernelPerceptron": "novikoff.kernel_perceptron",
    "LinearModel": "novikoff.models.linear",
    "MonotoneConjunctions": "novikoff.expansions",
    "OnlineKernelPerceptron": "novikoff.online_kernel",
    "OnlinePerceptron": "novikoff.online",
    "Perceptron": "novikoff.perceptron",
    "Pocket": "novikoff.pocket",
    "PolynomialExpansion": "novikoff.expansions",
    "RoundingWarning": "novikoff.rounding",
    "SequenceTagger": "novikoff.sequence_tagger",
    "StructuredPerceptron": "novikoff.structured_perceptron",
    "Tagger": "novikoff.structured.tagger",
    "Templates": "novikoff.structured.templates",
    "VotedPerceptron": "novikoff.voted",
    "Winnow": "novikoff.winnow",
    "load": "novikoff.sources.libsvm",
    "load_model": "novikoff.models.loading",
    "open_source": "novikoff.sources.formats",
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
