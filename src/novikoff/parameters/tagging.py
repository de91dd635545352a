"""Parameters of `SequenceTagger`."""

from __future__ import annotations

from dataclasses import replace

from novikoff.parameters.common import PARAMETERS
from novikoff.parameters.parameter import Parameter, is_name, none_or, one_of, table, whole

TRANSITIONS = ("first-order", "any", "bio", "iobes")
SCHEMES = ("iob2", "iob1", "iobes", "bilou")  # of chunk labels

TAGGER_PARAMETERS = PARAMETERS | table(
    Parameter(
        "features",
        None,
        "Templates that make features of the columns of a token, or the name of ready-made ones: "
        "'chunking', 'pos', 'ner'. None: X has the features, as lists of names or as dicts.",
        "None, Templates or the name of ready-made ones",
        lambda v: v is None or is_name(v) or type(v).__name__ == "Templates",
    ),
    replace(PARAMETERS["average"], default=True),
    replace(PARAMETERS["max_epochs"], default=10),
    Parameter(
        "order",
        "shuffle",
        "The order in which an epoch visits the sentences. 'shuffle': a new permutation in each epoch. "
        "'riffle': 32 runs of neighbours, interleaved at random. 'cyclic': as stored.",
        *one_of("shuffle", "riffle", "cyclic"),
    ),
    Parameter(
        "min_count", 1, "Leave out features that occur fewer times than this in the training data.", *whole(1)
    ),
    Parameter(
        "transitions",
        "first-order",
        "Which label may follow which. 'first-order': the bigrams seen in training. 'any': all. 'bio', "
        "'iobes': those that these schemes allow. Every bigram of labels has a weight.",
        *one_of(*TRANSITIONS),
    ),
    Parameter(
        "learn_as",
        None,
        "The scheme in which chunk labels such as B-NP and I-NP are learned; predictions are written in the "
        "scheme of the training labels all the same. 'iob1', 'iob2', 'iobes' or 'bilou' converts the labels, "
        "None learns them as they are. 'auto' holds out sentences, compares 'iobes' with the labels as they "
        "are by the F1 of chunks, and then learns from all sentences.",
        *none_or(*one_of("auto", *SCHEMES)),
    ),
    replace(
        PARAMETERS["hash_bits"],
        help="Fix the memory at 2**hash_bits weights per label: the column of a feature is a hash of its "
        "name, the same in every process and on every machine. Values that share a column are added.",
    ),
    replace(
        PARAMETERS["early_stopping"],
        help="Hold out sentences and stop when the accuracy on their tokens no longer improves; keep the "
        "weights of the best epoch.",
    ),
    replace(
        PARAMETERS["validation_fraction"],
        help="The share of sentences that early stopping and learn_as='auto' hold out.",
    ),
    replace(
        PARAMETERS["n_jobs"],
        help="The number of threads for tagging; −1 uses all cores. It never changes a result.",
    ),
)
