"""The outcome of a training run: its records, how it ended, and the verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.training.ledger import Call
from novikoff.training.tally import Score, Tally
from novikoff.training.weights import Floats

Record = dict[str, Any]  # of one epoch


@dataclass(frozen=True, eq=False)
class Proof:
    """A proof that the rows can, or cannot, be separated: the witness of one learner, checked exactly."""

    is_possible: bool
    coef: Floats | None = None  # if possible: weights with y·s > 0 on every row
    intercept: Floats | None = None
    pairs: npt.NDArray[np.int64] | None = None  # if impossible: vectors z that cancel out with these weights
    weights: tuple[int, ...] = ()
    consistent: bool | None = None  # whether some weights make no mistake under the tie rule; None: unknown

    def of_rows(self, numbers: npt.NDArray[np.int64] | None, n_classes: int) -> Proof:
        """The same for all rows of the fit; `numbers` are those of the rows that were asked about."""
        if numbers is None or self.pairs is None:
            return self
        k = n_classes if n_classes > 2 else 1
        rows, rivals = np.divmod(self.pairs, k)
        return replace(self, pairs=numbers[rows] * k + rivals)


@dataclass
class Run:
    """The outcome of a fit."""

    history: list[Record] = field(default_factory=list)
    converged: bool = False
    interrupted: bool = False
    verdict: str = "undecided"
    consistent: bool | None = None  # no training error under the tie rule; None: not checked
    margin: float = math.nan  # of the witness, rounded down
    v_square: float = math.nan  # ‖v‖² of the witness scaled to a smallest product of 1: 1/margin², rounded up
    unit_margin: float = math.nan  # the margin with every row scaled to norm 1
    witness: tuple[Floats, Floats] | None = None
    witness_is: str = "last"  # the last weights, "lifted" by their bias, or "found" by asking
    proofs: dict[int, Proof] = field(default_factory=dict)  # by learner, where the question was answered
    training_errors: int | None = None
    score: Score | None = None  # of the weights that predict, on the training rows (taggers: their tokens)
    way: str = ""  # of predicting, whose errors were counted, for models that have several
    held_out: Score | None = None  # the same on the rows held out for early stopping
    in_runs: bool = False  # rows of one class stand together
    # of a sample of the rows, for advice; not in files
    uneven: float = 1.0  # the largest |x| of a column as a multiple of another's; 1 if scale="auto" decided
    off_centre: float = 1.0  # how far rows lie from 0, as a multiple of their distance from their mean
    n_rows: int = 0
    as_given: bool = False  # rows in their given order, whatever the model's `order` (partial_fit, sources)
    heaviest: float = 1.0  # the largest weight of a row
    shuffled_in_blocks: int = 0  # rows per block, if a memory-mapped array was shuffled in blocks
    n_shards: int = 0  # number of shards whose weights were mixed
    mixed: float = 0.0  # on shards: Σ μ·k, the bounded count; each shard's count times its mixing weight
    whole_values: bool = False  # all kernel values are whole numbers, so none was rounded
    call: Call | None = None  # the ledger entry of a run on shards

    def note(self, tally: Tally, errors: int | None = None, *, way: str = "") -> None:
        """Record the errors of what predicts; `errors` are those of whole examples, if the tally has parts.

        A tally of fewer rows than were learned is of a sample of them.
        """
        self.score, self.in_runs, self.way = tally.score, tally.in_runs, way
        errors = tally.errors if errors is None else errors
        self.training_errors = errors if tally.n >= self.n_rows else None

    @property
    def judged(self) -> bool:
        """Whether the last weights were checked against the rows of this run."""
        return self.consistent is not None or not math.isnan(self.margin)
