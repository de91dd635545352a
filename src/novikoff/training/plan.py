"""How to go over the examples, and when to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novikoff.training.run import Record


@dataclass
class Plan:
    """How to go over the rows, and when to stop."""

    max_epochs: int = 1000
    order: str = "shuffle"
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_epochs_no_change: int = 5
    n_jobs: int | None = None
    verbose: int = 0
    callback: Callable[[Record], Any] | None = None
    record_updates: bool = False
