"""Perceptrons on a cluster, by iterative parameter mixing. The public name is `novikoff.dask`."""

from novikoff.lazy import attach

try:
    import distributed  # noqa: F401
except ImportError:
    raise ImportError("novikoff.dask needs dask and distributed: pip install 'novikoff[dask]'.") from None

attach(__name__)
