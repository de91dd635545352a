"""The decision boundary in the plane, with w, the margin strip, the errors and the support."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from novikoff.outward import count_text
from novikoff.plots.plane import axis_names, unnamed
from novikoff.plots.style import (
    INK,
    RED,
    Floats,
    colour,
    grid,
    in_the_plane,
    label_indices,
    legend_above,
    new_axes,
    scatter_classes,
    to_one_scale,
    window,
)

if TYPE_CHECKING:
    from novikoff.theory.trace import Trace

Counts = npt.NDArray[np.int64]

ARROW = 0.22  # length of the longest w, relative to the picture's smaller side


class BoundaryDisplay:
    """A model of two features, linear or with a kernel, with the rows that it was learned from.

    The arrow is w, which is perpendicular to the boundary w·x + b = 0 and points to the second class. The
    strip lies between the parallels through the nearest rows; it is drawn if every row is on its own side.
    Its half-width is measured in the plane: the margin of the lifted space, in which the bounds hold, is
    smaller by the factor ‖w‖/‖(w, b/c)‖. With three classes or more, regions are shown, and one arrow per
    class, in the direction in which its score increases relative to the mean of all.

    Parameters
    ----------
    X : array of shape (n, 2)
    labels : array of n indices into `classes`
    classes : list of labels
    coef, intercept : arrays of shape (1 or n_classes, 2) and (1 or n_classes,), or None
    updates : array of n counts, optional
        How often each row caused an update. Such rows are ringed, with a ring that grows with the count.
    score : function of an (m, 2) array, optional
        The scores if there are no weights (a kernel model): an array of shape (m,) for two classes, otherwise
        (m, n_classes). Then only the regions and the curves between them are shown, without w and strip.
    sizes : array of n numbers ≥ 0, optional
        The size of each row's ring, instead of `updates`: Σ|α| of a kernel model.
    names : pair of str, optional
        Of the axes; by default the names of a frame's columns.

    Attributes
    ----------
    ax_, figure_
    strip_ : float or None
        Half the width of the strip.
    wrong_ : array of the rows on the wrong side

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.plots import BoundaryDisplay
    >>> X = np.array([[1.0, 0.0], [-1.0, 1.0]])
    >>> shown = BoundaryDisplay(X, [1, 0], [-1, 1], np.array([[2.0, 0.0]]), np.array([0.0]))
    >>> shown.strip_, shown.wrong_.tolist()
    (1.0, [])
    """

    def __init__(
        self,
        X: Any,
        labels: Any,
        classes: Any,
        coef: Any = None,
        intercept: Any = None,
        *,
        updates: Counts | None = None,
        score: Callable[[Floats], Any] | None = None,
        sizes: Any = None,
        names: Any = None,
    ) -> None:
        self.names = axis_names(names, X)
        self.X, self.labels, self.classes = in_the_plane(X), np.asarray(labels), list(classes)
        self.score, self.updates = score, updates
        self.alpha = None if sizes is None else np.asarray(sizes, dtype=np.float64)
        if score is None:
            self.coef = np.atleast_2d(np.asarray(coef, dtype=np.float64))
            self.intercept = np.atleast_1d(np.asarray(intercept, dtype=np.float64))
            if self.coef.shape[1] != 2:
                raise ValueError(f"the model has {self.coef.shape[1]} features, but a plane has 2.")
        scores = self.scores(self.X)
        if self.is_binary:
            own = np.where(self.labels == 1, 1.0, -1.0) * scores[:, 0]
            self.wrong_: Counts = np.flatnonzero(np.where(self.labels == 1, own < 0, own <= 0))
            norm = float(np.linalg.norm(self.coef)) if score is None else 0.0
            least = float(own.min(initial=np.inf))
            self.strip_ = least / norm if norm and 0 < least < np.inf else None
        else:
            self.wrong_ = np.flatnonzero(scores.argmax(axis=1) != self.labels)
            self.strip_ = None

    @property
    def is_binary(self) -> bool:
        return len(self.classes) == 2

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, trace: Trace | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Draw a fitted model with its rows.

        The support is from a `VotedPerceptron`, or from `trace`, the record of a run. For a kernel model its
        rings show Σ|α| over the classes, if the rows are those that it was fitted to.
        """
        if hasattr(estimator, "dual_coef_"):
            labels = label_indices(y, estimator.classes_)
            places, alpha = estimator.support_, np.abs(np.atleast_2d(estimator.dual_coef_)).sum(axis=0)
            sizes = None
            if places.max(initial=-1) < len(labels):
                sizes = np.bincount(places, weights=alpha, minlength=len(labels))
            score, names = unnamed(estimator.decision_function), axis_names(X, estimator)
            own = cls(X, labels, estimator.classes_, score=score, sizes=sizes, names=names)
            return own.plot(ax, **options)
        coef, intercept = estimator.coef_, estimator.intercept_
        coef = coef.toarray() if hasattr(coef, "toarray") else coef
        labels = label_indices(y, estimator.classes_)
        updates = None
        if trace is not None:
            updates = np.bincount(trace.example, minlength=len(labels))
        elif hasattr(estimator, "update_support_"):
            rows = estimator.support_[estimator.update_support_]
            updates = np.bincount(rows, minlength=len(labels)) if rows.max(initial=-1) < len(labels) else None
        names = axis_names(X, estimator)
        shown = cls(X, labels, estimator.classes_, coef, intercept, updates=updates, names=names)
        return shown.plot(ax, **options)

    @classmethod
    def from_trace(cls, trace: Trace, X: Any, y: Any, *, ax: Any = None, **options: Any) -> Self:
        """Draw the last weights of a run, and the rows that caused its updates."""
        classes = np.unique(np.asarray(y))
        w = np.atleast_2d(trace.w)
        coef, last = (w[:, :-1], trace.bias * w[:, -1]) if trace.bias else (w, np.zeros(len(w)))
        labels = label_indices(y, classes)
        updates = np.bincount(trace.example, minlength=len(labels))
        names = axis_names(X, trace)
        return cls(X, labels, classes, coef, last, updates=updates, names=names).plot(ax, **options)

    # -- drawing
    def plot(
        self,
        ax: Any = None,
        *,
        xlim: tuple[float, float] | None = None,
        ylim: tuple[float, float] | None = None,
        resolution: int = 400,
        legend: bool = True,
    ) -> Self:
        """Draw in `ax`, or in a new figure."""
        ax = new_axes(ax)
        around = window(self.X)
        xlim, ylim = xlim or around[0], ylim or around[1]
        self._regions(ax, xlim, ylim, resolution)
        if self.score is None and self.is_binary:
            self._line(ax, xlim, ylim)
        elif self.score is None:
            self._arrows(ax, xlim, ylim)
        scatter_classes(ax, self.X, self.labels, self.classes)
        self._support(ax)
        if len(self.wrong_):
            at = self.X[self.wrong_]
            caption = f"wrong now ({len(at):,})"
            ax.scatter(at[:, 0], at[:, 1], marker="x", c=INK, s=48, linewidths=1.4, zorder=5, label=caption)
        to_one_scale(ax, xlim, ylim)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        if legend:
            legend_above(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def scores(self, points: Floats) -> Floats:
        """One column for two classes, otherwise one per class."""
        if self.score is None:
            return np.asarray(points @ self.coef.T + self.intercept)
        found = np.asarray(self.score(points), dtype=np.float64)
        return found[:, None] if found.ndim == 1 else found

    def _regions(self, ax: Any, xlim: Any, ylim: Any, resolution: int) -> None:
        from matplotlib.colors import ListedColormap

        *side, points = grid(xlim, ylim, resolution)
        scores = self.scores(points)
        if not scores.any():
            return  # nothing has been learned
        best = (scores[:, 0] >= 0).astype(int) if self.is_binary else scores.argmax(axis=1)
        shades = ListedColormap([colour(k) for k in range(len(self.classes))])
        ax.pcolormesh(
            *side,
            best.reshape(resolution, resolution),
            cmap=shades,
            vmin=-0.5,
            vmax=len(self.classes) - 0.5,
            alpha=0.13,
            shading="nearest",
            rasterized=True,
            zorder=0,
            linewidth=0,
        )
        if self.is_binary and self.score is not None:
            plane = scores.reshape(resolution, resolution)
            if plane.min() < 0 < plane.max():
                ax.contour(*side, plane, [0.0], colors=INK, linewidths=1.6, zorder=2)
                ax.plot([], [], color=INK, lw=1.6, label="score 0")
        if not self.is_binary:
            for k in range(len(self.classes)):  # where one class's score equals the best of the others
                others = np.delete(scores, k, axis=1).max(axis=1)
                lead = (scores[:, k] - others).reshape(resolution, resolution)
                if lead.min() < 0 < lead.max():
                    ax.contour(*side, lead, [0.0], colors=INK, linewidths=1.2, zorder=1)

    def _line(self, ax: Any, xlim: Any, ylim: Any) -> None:
        w, b = self.coef[0], float(self.intercept[0])
        size = float(np.linalg.norm(w))
        if not size:
            return
        u, along = w / size, np.array([-w[1], w[0]]) / size
        centre = np.array([np.mean(xlim), np.mean(ylim)])
        foot = centre - (centre @ w + b) / size * u
        reach = 2 * float(np.hypot(xlim[1] - xlim[0], ylim[1] - ylim[0])) + abs(b) / size
        ends = np.array([foot - reach * along, foot + reach * along])
        ax.plot(ends[:, 0], ends[:, 1], color=INK, lw=1.6, zorder=2, label=r"$w\cdot x + b = 0$")
        if self.strip_ is not None:
            for sign in (-1, 1):
                edge = ends + sign * self.strip_ * u
                caption = f"strip to the nearest rows: ±{count_text(self.strip_)}" if sign > 0 else "_"
                ax.plot(edge[:, 0], edge[:, 1], color=INK, lw=0.9, ls=(0, (5, 3)), zorder=2, label=caption)
            corners = np.concatenate([ends - self.strip_ * u, (ends + self.strip_ * u)[::-1]])
            ax.fill(corners[:, 0], corners[:, 1], color=INK, alpha=0.07, lw=0, zorder=1)
        length = ARROW * min(xlim[1] - xlim[0], ylim[1] - ylim[0])
        self._arrow(ax, foot, length * u, INK, "$w$")

    def _arrows(self, ax: Any, xlim: Any, ylim: Any) -> None:
        away = self.coef - self.coef.mean(axis=0)
        longest = float(np.linalg.norm(away, axis=1).max())
        if not longest:
            return
        length = ARROW * min(xlim[1] - xlim[0], ylim[1] - ylim[0])
        centre = np.array([np.mean(xlim), np.mean(ylim)])
        for k, w in enumerate(away):
            self._arrow(ax, centre, length * w / longest, colour(k), f"$w_{{{self.classes[k]}}}$")

    @staticmethod
    def _arrow(ax: Any, start: Floats, step: Floats, colour: str, name: str) -> None:
        from matplotlib.patches import FancyArrowPatch

        look: dict[str, Any] = {"arrowstyle": "-|>", "color": colour, "lw": 1.8, "mutation_scale": 12}
        ends: Any = tuple(start), tuple(start + step)
        ax.add_patch(FancyArrowPatch(*ends, shrinkA=0, shrinkB=0, zorder=6, **look))
        ax.annotate(
            name,
            xy=start + step,
            xytext=tuple(9 * step / max(float(np.linalg.norm(step)), 1e-300)),
            textcoords="offset points",
            ha="center",
            va="center",
            zorder=7,
            bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.75},
        )

    def _support(self, ax: Any) -> None:
        shown = self.updates if self.alpha is None else self.alpha
        if shown is None or not shown.any():
            return
        rows = np.flatnonzero(shown)
        counts = shown[rows]
        crowd = min(max(60 / len(rows), 0.3), 1.0)  # many rings are drawn smaller and thinner
        at, sizes = self.X[rows], 60 * crowd**0.5 + 240 * crowd * counts / counts.max()
        most = count_text(float(counts.max()))
        caption = f"support: {len(rows):,} rows, 1 to {most} updates each"
        if self.alpha is not None:
            least = count_text(float(counts.min()))
            alpha = f"= {most}" if least == most else f"from {least} to {most}"
            caption = rf"support: {len(rows):,} rows, $|\alpha|$ {alpha}"
        ax.scatter(
            at[:, 0],
            at[:, 1],
            s=sizes,
            facecolors="none",
            edgecolors=RED,
            lw=0.5 + 0.6 * crowd,
            zorder=4,
            label=caption,
        )
