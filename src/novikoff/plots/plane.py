"""What the pictures of vectors in the plane share: lines, arrows from the origin, names of axes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from novikoff.plots.style import ROOM, Floats

Names = tuple[str, str]
USUAL: Names = ("$x_1$", "$x_2$")


def axis_names(*sources: Any) -> Names:
    """The names of two columns, from the first frame, fitted estimator or list that has them.

    >>> axis_names(None, ["age", "height"]), axis_names([[1.0, 2.0]])
    (('age', 'height'), ('$x_1$', '$x_2$'))
    """
    for source in sources:
        names = source
        for attribute in ("columns", "feature_names_in_", "names"):
            names = getattr(source, attribute, names)
        if hasattr(names, "__len__") and len(names) == 2 and all(isinstance(name, str) for name in names):
            return names[0], names[1]
    return USUAL


def unnamed(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A method of an estimator for points of a grid, which have no column names."""

    def call(points: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            return function(points)

    return call


def around(points: Iterable[Any], room: float = 2 * ROOM) -> tuple[tuple[float, float], tuple[float, float]]:
    """A square window with all points and the origin in it."""
    every = np.array([(0.0, 0.0), *points])
    low, high = every.min(axis=0), every.max(axis=0)
    centre, half = (low + high) / 2, max(float((high - low).max()) / 2, 0.5) * (1 + 2 * room)
    return (float(centre[0] - half), float(centre[0] + half)), (
        float(centre[1] - half),
        float(centre[1] + half),
    )


def boundary(w: Floats, b: float, xlim: Any, ylim: Any) -> Floats | None:
    """Two points of the line w·x + b = 0 that lie outside the window; None if w = 0."""
    size = float(np.linalg.norm(w))
    if not size:
        return None
    centre = np.array([np.mean(xlim), np.mean(ylim)])
    foot = centre - (centre @ w + b) / size**2 * w
    reach = 2 * float(np.hypot(xlim[1] - xlim[0], ylim[1] - ylim[0])) + float(np.linalg.norm(foot - centre))
    along = np.array([-w[1], w[0]]) / size
    return np.array([foot - reach * along, foot + reach * along])


def line(ax: Any, w: Floats, b: float, xlim: Any, ylim: Any, **look: Any) -> Any:
    """Draw w·x + b = 0; None if w = 0."""
    ends = boundary(w, b, xlim, ylim)
    if ends is None:
        return None
    (drawn,) = ax.plot(ends[:, 0], ends[:, 1], zorder=2, **look)
    return drawn


def arrow(ax: Any, start: Any, end: Any, colour: str, name: str = "", *, lw: float = 1.8, **look: Any) -> Any:
    """An arrow between two points, with its name beyond its tip."""
    from matplotlib.patches import FancyArrowPatch

    start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    options: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 12, "shrinkA": 0, "shrinkB": 0}
    options |= {"posA": tuple(start), "posB": tuple(end), "color": colour, "lw": lw, "zorder": 6}
    drawn = ax.add_patch(FancyArrowPatch(**(options | look)))
    if name:
        step = end - start
        beyond = 11 * step / max(float(np.linalg.norm(step)), 1e-300)
        ax.annotate(
            name,
            xy=end,
            xytext=tuple(beyond),
            textcoords="offset points",
            ha="center",
            va="center",
            zorder=7,
            color=colour,
            bbox={"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none", "alpha": 0.75},
        )
    return drawn


def origin(ax: Any) -> None:
    """The two axes through the origin."""
    ax.axhline(0, color="#DDDDDD", lw=0.8, zorder=0)
    ax.axvline(0, color="#DDDDDD", lw=0.8, zorder=0)
