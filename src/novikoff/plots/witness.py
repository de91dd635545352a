"""Why no line separates: the point that both classes have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from novikoff.plots.plane import axis_names
from novikoff.plots.style import (
    GREY,
    INK,
    RED,
    Floats,
    colour,
    in_the_plane,
    label_indices,
    legend_above,
    new_axes,
    scatter_classes,
    to_one_scale,
    window,
)

if TYPE_CHECKING:
    from novikoff.proof.separability import Inseparable


class WitnessDisplay:
    """The proof of inseparability in the plane: a few rows, and positive weights α on them.

    With a bias, the weighted mean of the rows of one class equals that of the other class: a point in both
    convex hulls, which rules out a separating line. Without a bias the y·x are shown, all of which would have
    to be on one side of a line through the origin: their weighted mean is the origin.

    Parameters
    ----------
    X : array of shape (n, 2)
    labels : array of n indices into `classes`, of which there are two
    classes : list of labels
    rows : the rows of the witness
    weights : their positive weights
    lifted : bool
        Whether there is a bias.

    Attributes
    ----------
    ax_, figure_
    common_ : the point in both hulls; the origin without a bias

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.plots import WitnessDisplay
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    >>> WitnessDisplay(X, [0, 0, 1, 1], ["a", "b"], [0, 1, 2, 3], [1, 1, 1, 1], True).common_.tolist()
    [0.5, 0.5]
    """

    def __init__(self, X: Any, labels: Any, classes: Any, rows: Any, weights: Any, lifted: bool) -> None:
        self.names = axis_names(X)
        self.X, self.labels, self.classes = in_the_plane(X), np.asarray(labels), list(classes)
        if len(self.classes) != 2:
            raise ValueError(
                f"a witness can be drawn for two classes only, but there are {len(self.classes)}: choose two "
                "classes that are not separable."
            )
        self.rows = np.asarray(rows, dtype=np.int64)
        self.weights: Floats = np.array([float(w) for w in weights]) / float(sum(weights))
        self.lifted = lifted
        if lifted:
            own = self.labels[self.rows] == 1
            self.common_ = self.weights[own] @ self.X[self.rows[own]] / self.weights[own].sum()
        else:
            self.common_ = np.zeros(2)

    @classmethod
    def from_verdict(
        cls,
        verdict: Inseparable,
        X: Any,
        y: Any,
        *,
        fit_intercept: bool | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a verdict of `theory.separability`.

        `fit_intercept` states whether the verdict is about weights with a bias; None assumes a bias if the
        witness proves inseparability with one, that is, if both classes have the same weight.
        """
        if verdict.verdict != "inseparable":
            raise ValueError(f"there is no witness to show: the verdict is {verdict.verdict!r}.")
        classes = np.unique(np.asarray(y))
        labels = label_indices(y, classes)
        rows = np.asarray(verdict.rows)
        balance = sum(
            int(w) if labels[row] == 1 else -int(w)
            for row, w in zip(rows.tolist(), verdict.weights, strict=True)
        )
        if fit_intercept is None:
            fit_intercept = balance == 0
        elif fit_intercept and balance:
            raise ValueError("the witness is about weights without a bias: pass fit_intercept=False.")
        return cls(X, labels, classes, rows, verdict.weights, fit_intercept).plot(ax, **options)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw in `ax`, or in a new figure."""
        ax = new_axes(ax)
        signs = np.where(self.labels == 1, 1.0, -1.0)
        Z = self.X if self.lifted else self.X * signs[:, None]
        names = (
            self.classes
            if self.lifted
            else [f"{c}, as {s}x" for c, s in zip(self.classes, "−+", strict=True)]
        )
        scatter_classes(ax, Z, self.labels, names, alpha=0.6)
        if self.lifted:
            for k in (0, 1):
                own = self.rows[self.labels[self.rows] == k]
                self._hull(ax, Z[own], colour(k), "--" if k else "-")
        else:
            self._hull(ax, Z[self.rows], GREY, "-")
        used = Z[self.rows]
        sizes = 70 + 230 * self.weights / self.weights.max()
        caption = f"witness: {len(self.rows)} rows, wide for large α"
        ax.scatter(
            used[:, 0],
            used[:, 1],
            s=sizes,
            facecolors="none",
            edgecolors=RED,
            lw=1.3,
            zorder=4,
            label=caption,
        )
        caption = "in both hulls" if self.lifted else "the origin, their weighted mean"
        ax.scatter(
            *self.common_, marker="*", s=190, c=INK, edgecolors="white", lw=0.8, zorder=6, label=caption
        )
        to_one_scale(ax, *window(np.concatenate([Z, self.common_[None]])))
        axes = self.names if self.lifted else [self._signed(name) for name in self.names]
        ax.set(xlabel=axes[0], ylabel=axes[1])
        if legend:
            legend_above(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @staticmethod
    def _signed(name: str) -> str:
        return f"$y\\,{name[1:]}" if name.startswith("$") else f"$y$ · {name}"

    @staticmethod
    def _hull(ax: Any, points: Floats, shade: str, dash: str) -> None:
        """The convex hull of a few points: a polygon, a segment or a point."""
        corners = convex_hull(points)
        if len(corners) > 2:
            ax.fill(corners[:, 0], corners[:, 1], color=shade, alpha=0.16, lw=0, zorder=1)
        closed = np.concatenate([corners, corners[:1]])
        ax.plot(closed[:, 0], closed[:, 1], color=shade, lw=1.4, ls=dash, zorder=2)


def convex_hull(points: Floats) -> Floats:
    """The corners of the hull of points in the plane, counterclockwise (Andrew's monotone chain).

    >>> convex_hull(np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5], [1.0, 2.0]])).tolist()
    [[0.0, 0.0], [2.0, 0.0], [1.0, 2.0]]
    """
    points = np.unique(points, axis=0)
    if len(points) < 3:
        return points

    def chain(order: Any) -> list[Any]:
        corners: list[Any] = []
        for p in order:
            while len(corners) > 1:
                (ax, ay), (bx, by) = corners[-2], corners[-1]
                if (bx - ax) * (p[1] - ay) - (by - ay) * (p[0] - ax) > 0:
                    break
                corners.pop()
            corners.append(p)
        return corners

    return np.array(chain(points)[:-1] + chain(points[::-1])[:-1])
