"""Parameters of `StructuredPerceptron`."""

from __future__ import annotations

from dataclasses import replace

from novikoff.parameters.common import PARAMETERS
from novikoff.parameters.parameter import BOOLEAN, Parameter, table

STRUCTURED_PARAMETERS = PARAMETERS | table(
    Parameter(
        "problem",
        None,
        "What is predicted: an object with the methods `features(x, y)` and `decode(x, w)`; "
        "`structured.Problem` lists the optional ones.",
        "an object with the methods features(x, y) and decode(x, w)",
        lambda v: (
            not isinstance(v, type)
            and all(callable(getattr(v, name, None)) for name in ("features", "decode"))
        ),
    ),
    Parameter(
        "cost_augmented",
        False,
        "Learn from the output with the highest score plus loss(y, z): then each right output is trained to "
        "score more than any other by the loss of that other. The problem needs `loss(y, z)` and "
        "`decode(x, w, y)`.",
        *BOOLEAN,
    ),
    replace(PARAMETERS["max_epochs"], default=100),
    replace(
        PARAMETERS["order"],
        help="The order in which an epoch visits the examples. 'shuffle': a new permutation in each epoch. "
        "'riffle': 32 runs of neighbours, interleaved at random. 'cyclic': as stored. 'worst': each visit "
        "goes to the most violated example; every update decodes all examples.",
    ),
    replace(
        PARAMETERS["early_stopping"],
        help="Hold out examples and stop when their score no longer improves; keep the weights of the best "
        "epoch.",
    ),
    replace(PARAMETERS["validation_fraction"], help="The share of examples that early stopping holds out."),
)
