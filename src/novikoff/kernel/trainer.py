"""Common code of the trainers of dual models: the order of an epoch, and its updates."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from novikoff.kernel.dual_model import DualModel
from novikoff.kernel.kernels import Indices
from novikoff.training.loop import Epoch, WorstFirstTrainer
from novikoff.training.plan import Plan
from novikoff.training.run import Run
from novikoff.training.weights import Floats, Ints


class Update(NamedTuple):
    """One mistaken row, and what it changed."""

    row: int
    visit: int  # visits made before it
    move: Floats  # −1, 0 or +1 for each column of scores
    gain: Any = None  # in ‖w‖² of each column, if it is kept per update


class KernelTrainer(WorstFirstTrainer):
    """Abstract: learns from the rows of a matrix by their kernel values, continuing from `earlier`."""

    def __init__(
        self, earlier: DualModel, X: Any, labels: Ints, plan: Plan, *, tie_is_mistake: bool = False
    ) -> None:
        self.earlier, self.X, self.labels, self.plan = earlier, X, np.ascontiguousarray(labels), plan
        self.joint, self.tie_is_mistake = earlier.joint, tie_is_mistake
        self.updates: list[Update] = []
        self.visits = 0

    @abstractmethod
    def visit_worst(self) -> int:
        """Visit the most violated row, or that of each class (one-vs-rest); return the number of updates."""

    @abstractmethod
    def squares(self) -> Floats:
        """‖w‖² of each column."""

    @abstractmethod
    def model(self) -> DualModel:
        """The model so far, with all earlier updates; also after an interrupted call."""

    @abstractmethod
    def is_zero(self, model: DualModel) -> bool:
        """Whether w, or the w of a single class, is 0, given that ‖w‖ as computed is 0."""

    def order(self) -> Indices:
        """The rows in the order of the next epoch."""
        n = len(self.labels)
        drawn = self.plan.drawn_order(n)
        return np.arange(n, dtype=np.int64) if drawn is None else drawn

    def worst(self) -> Epoch:
        before = len(self.updates)
        converged = any(not self.visit_worst() for _ in range(len(self.labels)))
        return self.counted(converged, before)

    def counted(self, converged: bool, before: int) -> Epoch:
        """The outcome of the updates from number `before` on."""
        made = np.array([u.move for u in self.updates[before:]]).reshape(-1, self.earlier.n_columns)
        count = len(made) if self.joint else int(np.count_nonzero(made))
        norm = math.sqrt(float(self.squares().sum()))
        return Epoch(converged, {"mistakes": count, "updates": count, "norm": norm})

    def finish(self, run: Run) -> None:
        run.n_rows = len(self.labels)

    def fitted(self, run: Run) -> DualModel:
        """The model at the end of a fit. A sum of the y·φ(x) that is 0 proves that nothing separates them."""
        model = self.model()
        if run.verdict == "undecided" and model.margin_upper == 0 and self.is_zero(model):
            run.verdict = "inseparable"
        return model
