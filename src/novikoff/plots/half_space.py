"""A half-space from (w, b) alone."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from novikoff.plots.plane import USUAL, Names, around, arrow, boundary, line, origin
from novikoff.plots.style import BLUE, GREY, INK, ORANGE, Floats, legend_above, new_axes, to_one_scale


class HalfSpaceDisplay:
    """The half-plane w·x + b > 0, with w drawn to scale at the point of the boundary nearest the origin.

    w is at a right angle to the boundary and points into the half-space. The boundary is |b|/‖w‖ away from
    the origin. Points on it belong to neither open half-space, but are predicted +.

    Parameters
    ----------
    w : pair of numbers
    b : float
    names : pair of str
        Of the axes.

    Attributes
    ----------
    foot_ : the point of the boundary nearest the origin, −b·w/‖w‖²
    distance_ : of the origin from the boundary
    crossings_ : where the boundary meets each axis; None where it is parallel to it
    has_origin_ : whether the origin is in the half-space
    ax_, figure_

    Examples
    --------
    2x₁ + 3x₂ + 6 > 0 meets the axes at (−3, 0) and (0, −2), at the distance 6/√13 from the origin:

    >>> from novikoff.plots import HalfSpaceDisplay
    >>> shown = HalfSpaceDisplay([2, 3], 6)
    >>> shown.crossings_, round(shown.distance_, 3), shown.has_origin_
    ((-3.0, -2.0), 1.664, True)
    """

    def __init__(self, w: Any, b: float = 0.0, *, names: Names = USUAL) -> None:
        self.w: Floats = np.asarray(w, dtype=np.float64).ravel()
        if self.w.shape != (2,) or not self.w.any() or not np.isfinite([*self.w, b]).all():
            raise ValueError(f"w={w!r}, b={b!r} is no half-plane: expected w ≠ 0 of two finite numbers.")
        self.b, self.names = float(b), names
        size = float(self.w @ self.w)
        self.foot_: Floats = -self.b / size * self.w + 0.0
        self.distance_ = abs(self.b) / float(np.sqrt(size))
        self.crossings_ = tuple(None if not c else -self.b / float(c) + 0.0 for c in self.w)
        self.has_origin_ = self.b > 0

    def plot(self, ax: Any = None, *, xlim: Any = None, ylim: Any = None, legend: bool = True) -> Self:
        """Draw in `ax`, or in a new figure."""
        ax = new_axes(ax)
        crossed = [(c, 0.0) if k == 0 else (0.0, c) for k, c in enumerate(self.crossings_) if c is not None]
        window = around([self.foot_, self.foot_ + self.w, *crossed])
        xlim, ylim = xlim or window[0], ylim or window[1]
        origin(ax)
        ends = boundary(self.w, self.b, xlim, ylim)
        assert ends is not None
        far = self.w / np.linalg.norm(self.w) * 3 * np.hypot(xlim[1] - xlim[0], ylim[1] - ylim[0])
        for side, shade, hatch in ((1, ORANGE, ""), (-1, BLUE, "..")):
            corners = np.concatenate([ends, (ends + side * far)[::-1]])
            sign = ">" if side > 0 else "<"
            ax.fill(
                corners[:, 0],
                corners[:, 1],
                facecolor=(*_rgb(shade), 0.16),
                edgecolor=(*_rgb(shade), 0.35),
                hatch=hatch,
                lw=0,
                zorder=0.5,
                label=f"$w\\cdot x + b {sign} 0$",
            )
        line(ax, self.w, self.b, xlim, ylim, color=INK, lw=1.8, label=r"$w\cdot x + b = 0$")
        for point in crossed:
            ax.plot(*point, "o", color=INK, ms=4, zorder=5)
            ax.annotate(
                f"({point[0]:.4g}, {point[1]:.4g})",
                point,
                (4, 4),
                textcoords="offset points",
                fontsize="small",
            )
        arrow(ax, self.foot_, self.foot_ + self.w, INK, f"$w$ = ({self.w[0]:.4g}, {self.w[1]:.4g})")
        if self.distance_:
            ax.plot([0, self.foot_[0]], [0, self.foot_[1]], color="white", lw=1.2, ls="--", zorder=7)
            ax.annotate(
                rf"$|b|/\|w\|$ = {self.distance_:.4g}",
                tuple(self.foot_ / 2),
                (6, -8),
                textcoords="offset points",
                fontsize="small",
                color=GREY,
            )
        ax.plot(0, 0, "+", color=INK, ms=9, zorder=5)
        to_one_scale(ax, xlim, ylim)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        if legend:
            legend_above(ax, 3)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _rgb(shade: str) -> tuple[float, float, float]:
    red, green, blue = (int(shade[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return red, green, blue
