"""Evaluating a model on labelled rows: how often it is right, and which classes it confuses."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from novikoff.data.labels import Classes, Given, Renaming, as_text, counts_of
from novikoff.data.sources.block import by_name
from novikoff.data.sources.progress import Progress, Watch
from novikoff.data.sources.source import Source
from novikoff.data.text_labels import is_text
from novikoff.shown import Shown
from novikoff.training.report import score_text
from novikoff.training.tally import Score

if TYPE_CHECKING:
    from novikoff.training.row_model import RowModel


@dataclass(repr=False)
class Evaluation(Shown):
    """Counts of rows by class and prediction.

    Examples
    --------
    >>> evaluation = Evaluation(["ham", "spam"], np.array([[8, 2], [0, 5]]))
    >>> evaluation.n_rows, evaluation.errors, round(evaluation.accuracy, 3)
    (15, 2, 0.867)
    >>> evaluation.by_class()[1]
    {'class': 'spam', 'rows': 5, 'precision': 0.7142857142857143, 'recall': 1.0, 'f1': 0.8333333333333334}
    """

    classes: list[str]
    confusion: npt.NDArray[np.int64]  # line: the class of a row; column: the predicted class
    unknown: Counter[str] = field(default_factory=Counter)  # labels that are not among the model's classes

    @property
    def n_rows(self) -> int:
        return int(self.confusion.sum()) + self.unknown.total()

    @property
    def errors(self) -> int:
        """The number of rows that the model gets wrong, including those with an unknown label."""
        return self.n_rows - int(np.trace(self.confusion))

    @property
    def accuracy(self) -> float:
        return 1 - self.errors / self.n_rows

    @property
    def score(self) -> Score:
        """The errors beside the size of the most frequent class."""
        largest = max(int(self.confusion.sum(axis=1).max()), *self.unknown.values(), 0)
        return Score(self.errors, self.n_rows, largest)

    def __str__(self) -> str:
        return score_text(self.score)

    def by_class(self) -> list[dict[str, Any]]:
        """Precision, recall and F1 of each class; None instead of a division by 0."""
        out = []
        for k, name in enumerate(self.classes):
            right = int(self.confusion[k, k])
            own, called = int(self.confusion[k].sum()), int(self.confusion[:, k].sum())
            out.append(
                {
                    "class": name,
                    "rows": own,
                    "precision": right / called if called else None,
                    "recall": right / own if own else None,
                    "f1": 2 * right / (own + called) if own + called else None,
                }
            )
        return out

    def confused(self, most: int) -> list[tuple[str, str, int]]:
        """The most frequent mistakes: (class, predicted class, count)."""
        wrong = self.confusion.copy()
        np.fill_diagonal(wrong, 0)
        places = np.argsort(-wrong, axis=None, kind="stable")[:most]
        lines, columns = np.unravel_index(places, wrong.shape)
        return [
            (self.classes[i], self.classes[j], int(wrong[i, j]))
            for i, j in zip(lines.tolist(), columns.tolist(), strict=True)
            if wrong[i, j]
        ]

    def to_dict(self) -> dict[str, Any]:
        """All figures by name; for many classes, the most frequent mistakes instead of the matrix."""
        few = len(self.classes) <= 100
        return {
            "rows": self.n_rows,
            "errors": self.errors,
            "accuracy": self.accuracy,
            "classes": self.by_class(),
            "unknown_labels": dict(self.unknown),
            "confusion": self.confusion.tolist() if few else None,
            "confused": None if few else self.confused(1000),
        }


def evaluate(
    model: RowModel,
    source: Source,
    rename: Renaming | None = None,
    *,
    n_jobs: int | None = None,
    watch: Watch | None = None,
) -> Evaluation:
    """Predict all rows of a source and count; `rename` is first applied to the labels."""
    names = [as_text(c) for c in model.classes.tolist()]
    k = len(names)
    numbers = not is_text(model.classes)
    classes = Classes(model.classes.astype(np.float64) if numbers else model.classes)
    confusion = np.zeros((k, k), dtype=np.int64)
    out = Evaluation(names, confusion)
    rows, started = 0, time.perf_counter()
    for block in source.blocks(reuse=True):
        if block.labels is None:
            raise ValueError(f"{block.where(0)}: there is no label to compare with.")
        labels: Given = block.labels if rename is None else rename(block.labels)
        if is_text(labels) == numbers:
            raise ValueError(
                f"{block.where(0)}: the label {as_text(labels[0])!r} is "
                f"{'text' if numbers else 'a number'}, but the model's classes are "
                f"{'numbers' if numbers else 'text'}, such as {names[0]!r}."
            )
        with by_name(block.where, source.features):
            true, predicted = classes.find(labels), model.places(block.X, n_jobs)
        known = true >= 0
        if not known.all():
            out.unknown.update({as_text(label): n for label, n in counts_of(labels[~known]).items()})
            true, predicted = true[known], predicted[known]
        confusion += np.bincount(true.astype(np.int64) * k + predicted, minlength=k * k).reshape(k, k)
        rows += block.n_rows
        if watch is not None:
            wrong = int(rows - np.trace(confusion))
            seconds = time.perf_counter() - started
            watch(Progress("evaluating", rows, block.consumed, source.size, wrong, seconds))
    return out
