"""The order of the examples, and the stopping criteria."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novikoff.parameters.common import AUTO, PARAMETERS
from novikoff.parameters.parameter import from_parameters
from novikoff.training.riffle import Order, Riffle
from novikoff.training.run import Proof, Record

Ask = Callable[..., Proof | None]  # `proof.asked.ask`, which lies above this package


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy Generator from any `random_state` that scikit-learn accepts."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.Generator(random_state._bit_generator)
    return np.random.default_rng(random_state)


@dataclass
class Plan:
    """The order of the rows, and the stopping criteria."""

    max_epochs: int | str = PARAMETERS["max_epochs"].default  # a number, or "auto"
    order: str = PARAMETERS["order"].default
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    early_stopping: bool = PARAMETERS["early_stopping"].default
    validation_fraction: float = PARAMETERS["validation_fraction"].default
    n_epochs_no_change: int = PARAMETERS["n_epochs_no_change"].default
    n_jobs: int | None = PARAMETERS["n_jobs"].default
    verbose: int = PARAMETERS["verbose"].default
    callback: Callable[[Record], Any] | None = PARAMETERS["callback"].default
    record_updates: bool = False
    ask: Ask | None = None  # whether rows can be separated; needed by max_epochs="auto"

    @property
    def is_open_ended(self) -> bool:
        """Whether the rows decide when training ends."""
        return self.max_epochs == AUTO

    @classmethod
    def of(cls, owner: Any, **given: Any) -> Plan:
        """The plan given by the parameters of an estimator or a command; `given` overrides them."""
        return from_parameters(cls, owner, **{"rng": generator(owner.random_state)} | given)

    def drawn_order(self, n: int) -> Order | None:
        """The order of the next epoch over n examples, if it is random; otherwise None."""
        if self.order == "riffle":
            return Riffle(n, self.rng).order()
        return self.rng.permutation(n) if self.order == "shuffle" else None
