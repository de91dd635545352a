"""Perceptrons on a cluster, by iterative parameter mixing. The public name is `novikoff.dask`."""

from novikoff.dask import check_installed
from novikoff.lazy import attach

attach(__name__)
check_installed()
