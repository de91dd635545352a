"""Parameters of the command line for files of rows, where they differ from those of estimators or are new."""

from __future__ import annotations

from dataclasses import replace

from novikoff.parameters.distributed import DISTRIBUTED_PARAMETERS
from novikoff.parameters.files import OTHER, SOURCE_PARAMETERS
from novikoff.parameters.kernel import FILE_KERNELS, FORMULAS, KERNEL_PARAMETERS
from novikoff.parameters.linear import LINEAR_PARAMETERS, PERCEPTRON_PARAMETERS
from novikoff.parameters.parameter import BOOLEAN, Parameter, is_name, none_or, number, one_of, table, whole
from novikoff.parameters.tuning import TUNING_PARAMETERS

LEARNING_PARAMETERS = table(
    replace(
        LINEAR_PARAMETERS["rounding"],
        help="What to do with integers (digits alone, or of a column's type) and times that no double holds. "
        "'never': refuse them, naming the first. 'nearest': round them to the nearest double, with a "
        "warning. Decimals always mean the nearest double.",
    ),
    Parameter(
        "kernel",
        None,
        f"Learn a kernel perceptron, with all rows in memory, instead of weights. {FORMULAS} With it the "
        "defaults are --epochs 10, --order shuffle, --multiclass ovr and no bias.",
        *none_or(*one_of(*FILE_KERNELS)),
    ),
    *(KERNEL_PARAMETERS[name] for name in ("gamma", "degree", "coef0", "cache_mb", "budget_policy")),
    replace(
        KERNEL_PARAMETERS["budget"],
        help="The largest number of supports that a kernel model ever keeps; by default all are kept. With a "
        "budget the model learns from one row at a time, and keeps no hypotheses that could vote.",
    ),
    replace(
        KERNEL_PARAMETERS["predict_with"],
        help="What a kernel model predicts with: the votes of all its hypotheses, their mean, or the last. "
        "Default: the votes; with `budget` the mean, or the last if the policy removes supports.",
    ),
    PERCEPTRON_PARAMETERS["average"],
    PERCEPTRON_PARAMETERS["max_epochs"],
    replace(
        PERCEPTRON_PARAMETERS["order"],
        help="The order in which an epoch visits the rows. 'riffle': nearly as random as a shuffle, by "
        "reading the files at 32 places at once, a few blocks in memory at a time; compressed and Parquet "
        "files need --cache for that, unless they are small. 'cyclic': as they are in the files, also a few "
        "blocks at a time. 'shuffle': all rows are read into memory, and visited in a new order in each "
        "epoch. 'worst': in memory too, each visit goes to the most violated row.",
    ),
    replace(
        LINEAR_PARAMETERS["random_state"],
        default=0,
        help="Seed from which the order of the rows and the held-out rows are drawn (by default the "
        "estimator uses a new one each time).",
    ),
    replace(
        LINEAR_PARAMETERS["early_stopping"],
        help="Hold out rows and stop when their accuracy no longer improves; keep the weights of the best "
        "epoch. Reads all rows into memory.",
    ),
    replace(
        LINEAR_PARAMETERS["class_weight"],
        help="Factors on the step by class: 'balanced', or for example spam=2,ham=1.",
        expected="'balanced', or LABEL=WEIGHT separated by commas, with weights ≥ 0",
    ),
    replace(
        LINEAR_PARAMETERS["n_jobs"],
        default=-1,
        help="The number of threads that read and predict; -1 uses all cores. It never changes a result.",
    ),
    Parameter("verbose", False, "Print one line per epoch, and at the end what is proved.", *BOOLEAN),
    Parameter(
        "classes",
        None,
        "All labels, such as ham,spam, in the order that decides ties (of two, the second is positive); any "
        "other label is then an error. 'grow': add labels in order of appearance, except that the first two "
        "are sorted if they are numbers. By default they are found in the files, and sorted.",
        "None, 'grow', or at least two labels separated by commas",
        lambda v: (
            v is None
            or (isinstance(v, str) and v == "grow")
            or (isinstance(v, list) and len(v) >= 2 and len(set(v)) == len(v))
        ),
    ),
    Parameter(
        "positive",
        None,
        f"Learn this label against all others, which become '{OTHER}'.",
        *none_or("a label", is_name),
    ),
    Parameter(
        "relabel",
        (),
        "Replace the label OLD by NEW before anything else is done with it; can be given several times. "
        "Write \\= for an = in a label.",
        "OLD=NEW, with one = that has no \\ before it, and each OLD once",
        lambda v: isinstance(v, dict) or v is None or (isinstance(v, list | tuple) and not v),
    ),
)

RUNNING_PARAMETERS = table(
    Parameter(
        "cache",
        False,
        "Keep a compact binary copy next to the first file; later passes and runs read it instead.",
        *BOOLEAN,
    ),
    Parameter(
        "cache_path",
        None,
        "Keep that copy in this file; implies `cache`.",
        *none_or("a file", is_name),
    ),
    Parameter(
        "checkpoint",
        None,
        "Folder for checkpoints of the fit; --resume continues from there.",
        *none_or("a folder", is_name),
    ),
    Parameter(
        "every",
        1_000_000,
        "The number of rows between two checkpoints; on a cluster there is one after every epoch.",
        *whole(1),
    ),
    Parameter(
        "resume",
        False,
        "Resume from the checkpoint, or start from the beginning if there is none yet. The model will be the "
        "same, bit for bit, as without the interruption.",
        *BOOLEAN,
    ),
    Parameter(
        "dask",
        None,
        "Learn on a Dask cluster, by iterative parameter mixing: the address of its scheduler, such as "
        "tcp://10.0.0.1:8786, or 'local' for processes on this machine, one per core. Each file is a shard, "
        "and is read by the workers, under the name it has here.",
        *none_or("the address of a scheduler, or 'local'", is_name),
    ),
    *(DISTRIBUTED_PARAMETERS[name] for name in ("mixing", "n_shards")),
    Parameter(
        "n_orders",
        100,
        "Diagnosis: the largest number of random orders to learn in; fewer at the time limit.",
        *whole(1),
    ),
    Parameter(
        "time_limit",
        20.0,
        "Approximate time limit in seconds, not counting the reading of files; what is not decided by then "
        "stays undecided.",
        *number(0, strict=True),
    ),
    Parameter("quiet", False, "Show no progress and no notes, only the result.", *BOOLEAN),
    Parameter(
        "json", False, "Write the result as JSON to standard output, and nothing else there.", *BOOLEAN
    ),
)

FILE_PARAMETERS = (
    LINEAR_PARAMETERS | SOURCE_PARAMETERS | TUNING_PARAMETERS | LEARNING_PARAMETERS | RUNNING_PARAMETERS
)
