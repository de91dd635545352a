"""Learning on a Dask cluster: `DistributedPerceptron` and `DistributedTagger`, by iterative parameter mixing.

Needs the extra ``dask`` (``pip install 'novikoff[dask]'``). Names are resolved when they are first used, so
that workers, which only run the code of shards, do not load scikit-learn.
"""

from importlib import import_module

from novikoff.lazy import attach

attach(__name__)


def check_installed() -> None:
    """Raise an ImportError that says what to install if Dask is missing."""
    try:
        import_module("distributed")
    except ImportError:
        raise ImportError("novikoff.dask needs dask and distributed: pip install 'novikoff[dask]'.") from None
