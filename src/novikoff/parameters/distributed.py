"""Parameters of `DistributedPerceptron` and `DistributedTagger`."""

from __future__ import annotations

from dataclasses import replace

from novikoff.parameters.common import PARAMETERS
from novikoff.parameters.linear import STEP_PARAMETERS
from novikoff.parameters.parameter import Parameter, is_name, none_or, one_of, table, whole
from novikoff.parameters.tagging import TAGGER_PARAMETERS

MIXINGS = ("uniform", "updates", "single-shot")

CLUSTER_PARAMETERS = table(
    Parameter(
        "mixing",
        "uniform",
        "What the shared weights become after an epoch. 'uniform': the mean of the weights of the shards. "
        "'updates': their mean weighted by the number of updates of each shard. 'single-shot': each shard "
        "learns alone to the end, and the mean is taken once; it may separate nothing even if the "
        "rows are separable.",
        *one_of(*MIXINGS),
    ),
    Parameter(
        "client",
        None,
        "The cluster: a distributed.Client, or the address of a scheduler. None: the default client if there "
        "is one, else a local cluster with one process per core, which is closed after the fit.",
        "None, a distributed.Client, or an address such as 'tcp://10.0.0.1:8786'",
        lambda v: v is None or is_name(v) or type(v).__name__ == "Client",
    ),
    Parameter(
        "checkpoint",
        None,
        "Folder for a checkpoint after every epoch. After the loss of the scheduler the same fit resumes "
        "from there, on any cluster, and ends with the same bits; a finished fit removes the file.",
        *none_or("a folder", lambda v: is_name(v) or hasattr(v, "__fspath__")),
    ),
)

DISTRIBUTED_PARAMETERS = (
    STEP_PARAMETERS
    | CLUSTER_PARAMETERS
    | table(
        replace(
            PARAMETERS["order"],
            help="The order in which an epoch visits the rows of a shard. 'shuffle': a new permutation in "
            "each epoch. 'riffle': 32 runs of neighbours, interleaved at random. 'cyclic': as stored; files "
            "are always read in this order. 'worst': each visit goes to the most violated row of the shard.",
        ),
        replace(
            PARAMETERS["n_jobs"],
            help="The number of threads for predicting rows in memory; −1 uses all cores. It never changes a "
            "result.",
        ),
        Parameter(
            "n_shards",
            None,
            "The number of shards into which neighbouring blocks, partitions or files are joined. None: each "
            "is a shard.",
            *none_or(*whole(1)),
        ),
    )
)

DISTRIBUTED_TAGGER_PARAMETERS = (
    TAGGER_PARAMETERS
    | CLUSTER_PARAMETERS
    | table(
        replace(
            DISTRIBUTED_PARAMETERS["n_shards"],
            help="The number of shards into which the sentences are cut. None, for files only: each file is "
            "a shard.",
        )
    )
)
