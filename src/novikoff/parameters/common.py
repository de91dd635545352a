"""Parameters that several families share."""

from __future__ import annotations

import numbers

from novikoff.parameters.parameter import (
    BOOLEAN,
    FRACTION,
    Parameter,
    is_bool,
    is_whole,
    none_or,
    one_of,
    table,
    whole,
)

AUTO = "auto"
ORDERS = ("shuffle", "riffle", "cyclic", "worst")
TIES = ("positive", "mistake")
MULTICLASS = ("joint", "ovr")
ROUNDINGS = ("never", "nearest")
PREDICT_WITH = ("voted", "averaged", "last")

PARAMETERS = table(
    Parameter(
        "average",
        False,
        "Predict with the mean of the weights after each visit instead of the last weights.",
        *BOOLEAN,
    ),
    Parameter(
        "fit_intercept",
        True,
        "Learn a bias, as the weight of one more coordinate that is `intercept_scaling` for every row.",
        *BOOLEAN,
    ),
    Parameter("max_epochs", 1000, "The largest number of epochs per fit.", *whole(1)),
    Parameter(
        "order",
        "shuffle",
        "The order in which an epoch visits the rows. 'shuffle': a new permutation in each epoch "
        "(memory-mapped arrays: blocks of rows in random order, shuffled within). 'riffle': nearly as "
        "random, and read nearly as fast as 'cyclic': 32 runs of neighbours, interleaved at random, anew in "
        "each epoch. 'cyclic': as stored. 'worst': each visit goes to the most violated row; every update "
        "takes a pass over the data.",
        *one_of(*ORDERS),
    ),
    Parameter(
        "random_state",
        None,
        "Seed, Generator or RandomState from which permutations and held-out rows are drawn.",
        "None, a whole number ≥ 0, a numpy Generator or a RandomState",
        lambda v: v is None or is_whole(0)(v) or type(v).__name__ in ("Generator", "RandomState"),
    ),
    Parameter(
        "ties",
        "positive",
        "The meaning of a score of exactly 0. 'positive': it predicts the second class (with three or more "
        "classes, the lowest of those tied). 'mistake': it counts as a mistake for every label.",
        *one_of(*TIES),
    ),
    Parameter(
        "multiclass",
        "joint",
        "How to learn three or more classes. 'joint': one weight vector per class, learned together. 'ovr': "
        "one independent perceptron per class, against the rest.",
        *one_of(*MULTICLASS),
    ),
    Parameter(
        "early_stopping",
        False,
        "Hold out rows and stop when their accuracy no longer improves; keep the weights of the best epoch.",
        *BOOLEAN,
    ),
    Parameter(
        "validation_fraction",
        0.1,
        "The share of the rows of each class that early stopping holds out.",
        *FRACTION,
    ),
    Parameter(
        "n_epochs_no_change",
        5,
        "The number of epochs without a better held-out accuracy after which early stopping stops.",
        *whole(1),
    ),
    Parameter(
        "n_jobs",
        None,
        "The number of threads for prediction and for one-vs-rest classes; −1 uses all cores. It never "
        "changes a result.",
        "None or a whole number that is not 0",
        lambda v: v is None or (isinstance(v, numbers.Integral) and not is_bool(v) and v != 0),
    ),
    Parameter("verbose", 0, "1 prints one line per epoch.", *whole(0)),
    Parameter(
        "callback",
        None,
        "A function that is called after each epoch with the record of that epoch; if it returns True, the "
        "fit stops.",
        *none_or("a callable", callable),
    ),
    Parameter(
        "rounding",
        "never",
        "What to do with integers, timestamps, long doubles and fractions that no double holds. 'never': "
        "refuse them, naming the first. 'nearest': round them to the nearest double, with a warning. "
        "Decimals always mean the nearest double.",
        *one_of(*ROUNDINGS),
    ),
    Parameter(
        "classes",
        None,
        "All labels, in the order that decides ties; any other label is then refused. By default classes are "
        "added in order of appearance, except that the first two are sorted if they are numbers.",
        *none_or(
            "a list of at least two labels",
            lambda v: not isinstance(v, str) and hasattr(v, "__len__") and len(v) >= 2,
        ),
    ),
    Parameter(
        "hash_bits",
        None,
        "Fix the memory at 2**hash_bits weights per class: the column of a feature is a hash of its name, "
        "the same in every process and on every machine. Values that share a column are added.",
        *none_or(*whole(1, 30)),
    ),
    Parameter(
        "seed",
        0,
        "Selects the hash function; unused without `hash_bits`.",
        "a whole number from 0 to 2**64 - 1",
        lambda v: is_whole(0)(v) and v < 2**64,
    ),
)
