"""Parameters of `MaxMarginClassifier`."""

from __future__ import annotations

from novikoff.parameters.linear import LINEAR_PARAMETERS
from novikoff.parameters.parameter import Parameter, none_or, number, table

MAX_MARGIN_PARAMETERS = LINEAR_PARAMETERS | table(
    Parameter(
        "gap",
        1e-3,
        "The search ends when γ is known up to this share: (upper − lower) ≤ gap·upper.",
        *number(0),
    ),
    Parameter(
        "time_limit",
        None,
        "Seconds after which the search ends with the bracket found so far.",
        *none_or(*number(0, strict=True)),
    ),
)
