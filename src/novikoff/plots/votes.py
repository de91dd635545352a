"""Three predictions of one run, side by side: by vote, by the average, by the last weights."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from novikoff.plots.plane import axis_names, unnamed
from novikoff.plots.style import (
    INK,
    colour,
    grid,
    in_the_plane,
    label_indices,
    need_matplotlib,
    scatter_classes,
    to_one_scale,
    window,
)

WAYS = ("voted", "averaged", "last")


class VotesDisplay:
    """The regions that a `VotedPerceptron` assigns, by `predict_with`, with two features.

    For two classes the shades of the first picture are the share of the votes, which shows the fan of
    all weight vectors of the run.

    Parameters
    ----------
    estimator : a fitted VotedPerceptron of two features
    X, y : the rows to show

    Attributes
    ----------
    axes_ : array of three axes
    ax_, figure_ : the first of them, and their figure
    errors_ : dict of way to its number of errors
    """

    def __init__(self, estimator: Any, X: Any, y: Any) -> None:
        if not hasattr(estimator, "predict_with"):
            raise TypeError(
                f"{type(estimator).__name__} has no votes: fit a VotedPerceptron, which has all three ways."
            )
        self.names = axis_names(X, estimator)
        self.X, self.y = in_the_plane(X), np.asarray(y)
        self.classes = list(estimator.classes_)
        self.labels = label_indices(y, estimator.classes_)
        self.ways = {way: self._predicting(estimator, way) for way in WAYS}
        self.errors_ = {
            w: int(np.count_nonzero(unnamed(m.predict)(X) != self.y)) for w, m in self.ways.items()
        }

    @staticmethod
    def _predicting(estimator: Any, way: str) -> Any:
        other = copy.copy(estimator)  # shares everything learned; only `predict_with` differs
        other.predict_with = way
        return other

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, axes: Any = None, **options: Any) -> Self:
        """Draw the three ways for these rows."""
        return cls(estimator, X, y).plot(axes, **options)

    def plot(
        self,
        axes: Any = None,
        *,
        resolution: int = 240,
        xlim: Any = None,
        ylim: Any = None,
        legend: bool = True,
    ) -> Self:
        """Draw in three axes, or in a new figure."""
        if axes is None:
            need_matplotlib()
            import matplotlib.pyplot as plt

            _, axes = plt.subplots(1, 3, figsize=(10.5, 3.9), layout="constrained", sharex=True, sharey=True)
        around = window(self.X)
        xlim, ylim = xlim or around[0], ylim or around[1]
        *side, points = grid(xlim, ylim, resolution)
        for ax, (way, model) in zip(np.ravel(axes), self.ways.items(), strict=True):
            self._regions(ax, model, way, side, points)
            scatter_classes(ax, self.X, self.labels, self.classes, s=18)
            to_one_scale(ax, xlim, ylim)
            wrong = self.errors_[way]
            ax.set_title(f"{way}: {wrong:,} of {len(self.y):,} rows wrong", fontsize="medium")
            ax.set_xlabel(self.names[0])
        self.axes_ = np.ravel(axes)
        self.axes_[0].set_ylabel(self.names[1])
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        if legend:
            handles, names = self.ax_.get_legend_handles_labels()
            self.figure_.legend(
                handles, names, loc="outside lower center", ncols=len(names), frameon=False, fontsize="small"
            )
        return self

    def _regions(self, ax: Any, model: Any, way: str, side: Any, points: Any) -> None:
        from matplotlib.colors import LinearSegmentedColormap, ListedColormap

        shape = len(side[1]), len(side[0])
        options: dict[str, Any] = {"shading": "nearest", "rasterized": True, "zorder": 0, "linewidth": 0}
        if len(self.classes) == 2:
            scores = unnamed(model.decision_function)(points).reshape(shape)
            shades = LinearSegmentedColormap.from_list("votes", [colour(0), "white", colour(1)])
            shown = scores if way == "voted" else np.where(scores >= 0, 1.0, -1.0)
            ax.pcolormesh(*side, shown, cmap=shades, vmin=-1, vmax=1, alpha=0.35, **options)
            if scores.min() < 0 <= scores.max():
                ax.contour(
                    *side, np.where(scores >= 0, 1.0, -1.0), [0.0], colors=INK, linewidths=1.4, zorder=1
                )
            return
        best = label_indices(unnamed(model.predict)(points), self.classes).reshape(shape)
        regions = ListedColormap([colour(k) for k in range(len(self.classes))])
        ax.pcolormesh(
            *side, best, cmap=regions, vmin=-0.5, vmax=len(self.classes) - 0.5, alpha=0.18, **options
        )
        for k in range(len(self.classes)):
            own = (best == k).astype(float)
            if own.min() < own.max():
                ax.contour(*side, own, [0.5], colors=INK, linewidths=1.0, zorder=1)
