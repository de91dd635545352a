"""α of a linear run: its weights as a combination of the rows that it learned from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.shown import Shown
from novikoff.training.weights import Floats, Ints, Model

Counts = npt.NDArray[np.int64]
MISTAKEN = ("perceptron", "normalized")  # rules of which every update is a mistake


@dataclass(frozen=True, eq=False, repr=False)
class Dual(Shown):
    """The weights of a run in dual form: w = Σ α_i·y_i·x̃_i for two classes, w_c = Σ α_ic·x̃_i for more.

    x̃ includes the bias coordinate c, so that the bias is c²·Σ α_i·y_i. Under the perceptron rule without
    sample weights α_i is the number of mistakes on row i; the other rules and weights add their steps.
    """

    alpha: Floats  # (n,), ≥ 0 for two classes; (n, n_classes) for more
    averaged: bool  # whether these are the coefficients of the averaged weights
    updates_by_class: dict[Any, int]  # on rows of each class; with one-vs-rest summed over the classes
    rule: str
    factors: Floats | None = None  # f of `scale='auto'`: then w_j = f_j²·Σ α_i·y_i·x_ij

    @property
    def support(self) -> Counts:
        """The rows with a coefficient: those of the updates."""
        return np.flatnonzero(self.alpha if self.alpha.ndim == 1 else self.alpha.any(axis=1))

    @property
    def mistakes_by_class(self) -> dict[Any, int]:
        """Mistakes on rows of each class: false positives are those on the first of two classes."""
        if self.rule not in MISTAKEN:
            raise ValueError(
                f"the rule {self.rule!r} also makes updates without a mistake: see updates_by_class, or "
                "novikoff.theory.trace."
            )
        return self.updates_by_class

    def __str__(self) -> str:
        each = ", ".join(f"{count:,} on {label}" for label, count in self.updates_by_class.items())
        what = "averaged weights" if self.averaged else "last weights"
        return (
            f"{what} from {len(self.support):,} of {len(self.alpha):,} rows\n  updates    "
            f"{sum(self.updates_by_class.values()):,}: {each}"
        )


def dual_of(model: Model, labels: Ints, classes: list[Any], *, averaged: bool) -> Dual:
    """The dual form of a model whose updates were recorded."""
    joint = model.n_classes > 2
    alpha = np.zeros((len(labels), model.n_classes if joint else 1))
    counts = np.zeros(len(classes), dtype=np.int64)
    for part, learner in enumerate(model.learners):
        rows, own, rival, step, visit = learner.native.recorded()
        visits = learner.native.visits
        # an update at visit t is part of the weights after it and after every later visit
        share = step * (visits - visit) / visits if averaged and visits else step
        counts += np.bincount(labels[rows], minlength=len(classes))
        if not joint:
            np.add.at(alpha[:, 0], rows, share)
        elif model.apart:
            np.add.at(alpha[:, part], rows, np.where(own == 1, share, -share))
        else:
            np.add.at(alpha, (rows, own), share)
            np.add.at(alpha, (rows, rival), -share)
    by_class = dict(zip(classes, counts.tolist(), strict=True))
    rule, factors = model.settings.rule, model.factors
    return Dual(alpha if joint else alpha[:, 0], averaged, by_class, rule, factors)
