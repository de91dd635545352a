"""Learning on a Dask cluster: `DistributedPerceptron` and `DistributedTagger`, by iterative parameter mixing.

Needs the extra ``dask`` (``pip install 'novikoff[dask]'``). Names are resolved when they are first used, so
that workers, which only need what shards do, load no scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from novikoff.distributed import check_installed as check_installed
from novikoff.lazy import resolve

if TYPE_CHECKING:
    from novikoff.distributed.perceptron import DistributedPerceptron as DistributedPerceptron
    from novikoff.distributed.tagger import DistributedTagger as DistributedTagger

_HOMES = {
    "DistributedPerceptron": "novikoff.distributed.perceptron",
    "DistributedTagger": "novikoff.distributed.tagger",
}
__all__ = ["DistributedPerceptron", "DistributedTagger"]


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        check_installed()
    return resolve(__name__, name, _HOMES)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
