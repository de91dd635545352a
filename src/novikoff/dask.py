"""Learning on a Dask cluster: `DistributedPerceptron` and `DistributedTagger`, by iterative parameter mixing.

Needs the extra ``dask`` (``pip install 'novikoff[dask]'``). Names are resolved when they are first used, so
that workers, which only need what shards do, load no scikit-learn.
"""

from novikoff.lazy import attach

attach(__name__)
