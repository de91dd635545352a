"""Parameters of `SequenceTagger`."""

from __future__ import annotations

from dataclasses import replace

from novikoff.parameters.common import AUTO, PARAMETERS
from novikoff.parameters.parameter import Parameter, is_name, one_of, table, whole

TRANSITIONS = ("first-order", "any", "bio", "iobes")
SCHEMES = ("iob2", "iob1", "iobes", "bilou")  # of chunk labels
GIVEN = "given"  # chunk labels are learned as they are

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
        AUTO,
        "The scheme in which chunk labels such as B-NP and I-NP are learned; predictions are written in the "
        "scheme of the training labels all the same. 'given': as they are. 'iob1', 'iob2', 'iobes' and "
        "'bilou' convert them. 'auto': 'iobes' if this gains half a point of F1, and more than the standard "
        "error, on up to 2,000 held-out sentences, by taggers that learn from 1,000 others; then all "
        "sentences are learned. Labels that are no chunks are learned as they are.",
        *one_of(AUTO, GIVEN, *SCHEMES),
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
        help="The share of sentences that early stopping holds out.",
    ),
    replace(
        PARAMETERS["n_jobs"],
        help="The number of threads for tagging; −1 uses all cores. It never changes a result.",
    ),
)
