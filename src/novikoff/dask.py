"""Learning on a Dask cluster: `DistributedPerceptron` and `DistributedTagger`, by iterative parameter mixing.

Needs the extra ``dask`` (``pip install 'novikoff[dask]'``). Names are resolved when they are first used, so
that workers, which only need what shards do, load no scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from novikoff.lazy import resolve

if TYPE_CHECKING:
    from novikoff.distributed.perceptron import DistributedPerceptron as DistributedPerceptron
    from novikoff.distributed.tagger import DistributedTagger as DistributedTagger

_HOMES = {
    "DistributedPerceptron": "novikoff.distributed.perceptron",
    "DistributedTagger": "novikoff.distributed.tagger",
}
__all__ = ["DistributedPerceptron", "DistributedTagger"]


def check_installed() -> None:
    """Say what to install where Dask is missing."""
    try:
        import_module("distributed")
    except ImportError:
        raise ImportError("novikoff.dask needs dask and distributed: pip install 'novikoff[dask]'.") from None


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        check_installed()
    return resolve(__name__, name, _HOMES)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
