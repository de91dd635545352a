"""What a training run did: its records, how it ended, and the verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from novikoff.training.ledger import Call
from novikoff.training.weights import Floats

Record = dict[str, Any]  # what one epoch did


@dataclass
class Run:
    """What a fit did."""

    history: list[Record] = field(default_factory=list)
    converged: bool = False
    interrupted: bool = False
    verdict: str = "undecided"
    consistent: bool | None = None  # no training error under the tie rule; None: not looked at
    margin: float = math.nan  # of the witness, rounded down
    v_square: float = math.nan  # ‖v‖² of the witness scaled to a smallest product of 1: 1/margin², rounded up
    unit_margin: float = math.nan  # the margin with every row scaled to norm 1
    witness: tuple[Floats, Floats] | None = None
    training_errors: int | None = None
    n_rows: int = 0
    as_given: bool = False  # rows in the order they came, whatever the model says (partial_fit, sources)
    heaviest: float = 1.0  # the largest weight of a row
    shuffled_in_blocks: int = 0  # rows a block, where a memory-mapped array was shuffled that way
    n_shards: int = 0  # on how many shards weights were mixed
    mixed: float = 0.0  # and then Σ μ·k: what the rule's bound speaks of, each shard's by its mixing weight
    whole_values: bool = False  # of a kernel: they are whole numbers, so that none of them was rounded
    call: Call | None = None  # what a run on shards adds to the ledger of its model

    @property
    def judged(self) -> bool:
        """Whether the last weights were put beside the rows of this run."""
        return self.consistent is not None or not math.isnan(self.margin)
