"""Options that the commands of taggers share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from novikoff.cli import options
from novikoff.parameters.table import TAG_FILE_PARAMETERS


def default(name: str) -> Any:
    """What a parameter is when it is not given on the command line."""
    return TAG_FILE_PARAMETERS[name].default


def option(name: str, *flags: str, **more: Any) -> Any:
    """The option for a parameter of taggers."""
    return options.option(name, *flags, table=TAG_FILE_PARAMETERS, **more)


TrustPatterns = Annotated[bool, option("trust_patterns", "--trust-patterns")]


@dataclass
class Reading:
    """How files of sentences are to be read."""

    format: Annotated[str | None, option("format")] = default("format")
    label: Annotated[str | None, option("label", metavar="COLUMN")] = default("label")
    n_jobs: Annotated[int, option("n_jobs")] = default("n_jobs")


@dataclass
class Learning:
    """How to learn from sentences."""

    max_epochs: Annotated[int, option("max_epochs")] = default("max_epochs")
    average: Annotated[bool, option("average", "--average/--no-average")] = default("average")
    order: Annotated[str, option("order")] = default("order")
    random_state: Annotated[int, option("random_state")] = default("random_state")
    min_count: Annotated[int, option("min_count")] = default("min_count")
    transitions: Annotated[str, option("transitions")] = default("transitions")
    hash_bits: Annotated[int | None, option("hash_bits")] = default("hash_bits")
    early_stopping: Annotated[bool, option("early_stopping")] = default("early_stopping")
    validation_fraction: Annotated[float, option("validation_fraction")] = default("validation_fraction")
    n_epochs_no_change: Annotated[int, option("n_epochs_no_change")] = default("n_epochs_no_change")
