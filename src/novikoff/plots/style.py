"""The common parts of the pictures: colours, marks and axes.

The colours are Okabe and Ito's, which people with any colour vision can tell apart. Colour is
never the only distinction: classes also differ in their marks and lines in their dashes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.outward import ceil_count

Floats = npt.NDArray[np.float64]

BLUE, ORANGE, GREEN, PURPLE, SKY, RED = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"
INK, GREY, PALE = "#222222", "#777777", "#DDDDDD"
CLASSES = (BLUE, ORANGE, GREEN, PURPLE, SKY, RED)
MARKS = ("o", "s", "^", "D", "v", "P")
ROOM = 0.08  # margin around the data, relative to its extent
SPREAD = 4.0  # extents that differ by less than this factor are drawn to one scale


def need_matplotlib() -> None:
    """One clear error where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError("pictures need matplotlib: pip install 'novikoff[plots]'.") from None


def new_axes(ax: Any, **shape: Any) -> Any:
    """The axes to draw in: those given, or those of a new figure."""
    if ax is not None:
        return ax
    need_matplotlib()
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained", **shape)[1]


def plain(ax: Any) -> None:
    """Remove the top and right spines."""
    ax.spines[["top", "right"]].set_visible(False)


def with_commas(axis: Any) -> None:
    """Write counts as 10,000."""
    from matplotlib.ticker import StrMethodFormatter

    axis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))


def colour(k: int) -> str:
    return CLASSES[k % len(CLASSES)]


def mark(k: int) -> str:
    return MARKS[k % len(MARKS)]


FORMULAS = {  # the bound of each rule, on the updates of 'margin' and on the mistakes of the others
    "perceptron": "$(R/\\gamma)^2$",
    "normalized": "$1/\\gamma_n^2$",
    "margin": "$(R^2+2\\beta)/\\gamma^2$",
}


def formula_of(rule: str, n_classes: int = 2, heaviest: float = 1.0) -> str:
    """The rule's own bound; with three classes or more two vectors of norm 1 move at a normalized update.

    c is the largest weight of a row, where it is not 1.

    >>> formula_of("margin"), formula_of("normalized", 3)
    ('$(R^2+2\\\\beta)/\\\\gamma^2$', '$2/\\\\gamma_n^2$')
    """
    formula = FORMULAS[rule]
    if heaviest != 1:
        formula = formula.replace("$1/", "$c^2/").replace(r"2\beta", r"2c\beta")
    return formula.replace("$1/", "$2/").replace("$c^2/", "$2c^2/") if n_classes > 2 else formula


def mark_bound(ax: Any, k: float, bound: float, formula: str, *, height: float) -> None:
    """A dotted line at the largest possible k, with the bound beside it."""
    ax.axvline(k, color=INK, lw=0.8, ls=":")
    ax.annotate(
        f"{formula[:-1]} = {ceil_count(bound)}$".replace(",", "{,}"),
        (k, height),
        xycoords=("data", "axes fraction"),
        xytext=(-4, 0),
        textcoords="offset points",
        ha="right",
        va="bottom",
        rotation=90,
        fontsize="small",
    )


def in_the_plane(X: Any) -> Floats:
    """X as float64, or an error if it does not have two features."""
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(
            f"a plot in the plane needs rows of 2 features, but X has the shape {X.shape}: "
            "choose two columns."
        )
    points: Floats = X
    return points


def window(X: Floats) -> tuple[tuple[float, float], tuple[float, float]]:
    """The part of the plane with all points in it, and some room."""
    low, high = X.min(axis=0), X.max(axis=0)
    room = ROOM * np.where(high > low, high - low, max(float((high - low).max()), 1.0))
    (x0, y0), (x1, y1) = (low - room).tolist(), (high + room).tolist()
    return (x0, x1), (y0, y1)


def grid(
    xlim: tuple[float, float], ylim: tuple[float, float], resolution: int
) -> tuple[Floats, Floats, Floats]:
    """Points that cover a part of the plane: their two coordinates, and all of them as rows."""
    across, up = np.linspace(xlim[0], xlim[1], resolution), np.linspace(ylim[0], ylim[1], resolution)
    return across, up, np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)


def to_one_scale(ax: Any, xlim: tuple[float, float], ylim: tuple[float, float]) -> None:
    """Show this part of the plane, with equal units on both axes if the extents are similar.

    Only then does w look perpendicular to the boundary.
    """
    ax.set_xlim(*xlim)
    ax.set_ylim(*ylim)
    ratio = (xlim[1] - xlim[0]) / (ylim[1] - ylim[0])
    if 1 / SPREAD < ratio < SPREAD:
        ax.set_aspect("equal", adjustable="box")


def scatter_classes(ax: Any, X: Floats, labels: Any, classes: Any, **options: Any) -> None:
    """The rows, each with the mark and the colour of its class."""
    options = {"s": 26, "linewidths": 0.6, "edgecolors": "white", "zorder": 3} | options
    for k, name in enumerate(classes):
        own = X[labels == k]
        ax.scatter(own[:, 0], own[:, 1], c=colour(k), marker=mark(k), label=f"class {name}", **options)


def legend_above(ax: Any, columns: int = 2) -> Any:
    """The legend above the picture, where it covers nothing."""
    return ax.legend(
        frameon=False,
        fontsize="small",
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=columns,
        borderaxespad=0.2,
        handletextpad=0.6,
    )


def label_indices(y: Any, classes: Any) -> Any:
    """Each row's index among the classes."""
    y, classes = np.asarray(y), np.asarray(classes)
    found = y[:, None] == classes[None, :]
    if not found.any(axis=1).all():
        first = y[~found.any(axis=1)][0].item()
        raise ValueError(f"y has the label {first!r}, which is not one of the classes {classes.tolist()}.")
    return found.argmax(axis=1)
