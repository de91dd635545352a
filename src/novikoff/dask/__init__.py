"""Learning on a Dask cluster: `DistributedPerceptron`, by iterative parameter mixing.

Needs the extra ``dask`` (``pip install 'novikoff[dask]'``). Names are resolved when they are first used, so
that workers, which only need what shards do, load no scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from novikoff.dask.perceptron import DistributedPerceptron as DistributedPerceptron

__all__ = ["DistributedPerceptron"]


def __getattr__(name: str) -> Any:
    if name != "DistributedPerceptron":
        raise AttributeError(f"module 'novikoff.dask' has no attribute {name!r}; it has {', '.join(__all__)}")
    try:
        import_module("distributed")
    except ImportError:
        raise ImportError("novikoff.dask needs dask and distributed: pip install 'novikoff[dask]'.") from None
    return import_module("novikoff.dask.perceptron").DistributedPerceptron


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
