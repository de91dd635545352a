"""How much the number of mistakes depends on the order of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from novikoff.outward import ceil_count, count_text
from novikoff.plots.style import (
    BLUE,
    INK,
    RED,
    Floats,
    colour,
    mark,
    new_axes,
    plain,
    with_commas,
)

FAR = 6.0  # if a bound is more than this multiple of the mistakes, the axis is logarithmic


class OrderDisplay:
    """A dot for every order tried, the quartiles, and the bound that holds for all orders.

    Parameters
    ----------
    mistakes : mapping of name to array
        For each way of learning, the mistakes in each order; an array alone is one way.
    bounds : mapping of name to float, optional
        Bounds that hold for any order.
    what : str
        The counted quantity, for the axis.

    Attributes
    ----------
    ax_, figure_, dots_ : the axes, their figure, the dots of each way

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.plots import OrderDisplay
    >>> OrderDisplay(np.array([3, 5, 4])).names
    ['mistakes']
    """

    def __init__(
        self, mistakes: Any, bounds: Mapping[str, float] | None = None, what: str = "mistakes"
    ) -> None:
        if not isinstance(mistakes, Mapping):
            mistakes = {"mistakes": mistakes}
        self.mistakes: dict[str, Floats] = {k: np.asarray(v, dtype=np.float64) for k, v in mistakes.items()}
        self.bounds = {k: float(v) for k, v in (bounds or {}).items() if v is not None and np.isfinite(v)}
        self.what = what

    @property
    def names(self) -> list[str]:
        return list(self.mistakes)

    def plot(self, ax: Any = None, *, log: bool | None = None) -> Self:
        """Draw in `ax`, or in a new figure; `log` chooses the axis of the counts."""
        ax = new_axes(ax, figsize=(6.4, 1.6 + 0.9 * len(self.mistakes)))
        most = max((float(v.max(initial=0)) for v in self.mistakes.values()), default=0.0)
        furthest = max(self.bounds.values(), default=0.0)
        least = min((float(v.min(initial=most)) for v in self.mistakes.values()), default=0.0)
        if log is None:
            log = least > 0 and furthest > FAR * most
        self.dots_ = []
        for k, (name, values) in enumerate(self.mistakes.items()):
            at = len(self.mistakes) - 1 - k
            height = at + _beside(values)
            self.dots_.append(
                ax.scatter(
                    values,
                    height,
                    s=16,
                    c=colour(k),
                    marker=mark(k),
                    alpha=0.85,
                    lw=0.4 if len(values) < 50 else 0,
                    edgecolors="white",
                    zorder=3,
                )
            )
            low, middle, high = np.percentile(values, [25, 50, 75])
            ax.plot([low, high], [at - 0.36] * 2, color=INK, lw=3, solid_capstyle="butt", zorder=4)
            ax.plot([middle], [at - 0.36], marker="|", ms=11, mew=2, color=INK, zorder=5)
            caption = f"median {count_text(float(middle))}"
            ax.annotate(
                caption,
                (float(middle), at - 0.36),
                xytext=(0, -7),
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize="x-small",
            )
            if name in self.bounds:
                bound = self.bounds[name]
                ax.plot([bound] * 2, [at - 0.4, at + 0.4], color=RED, lw=1.8, ls="--", zorder=4)
                ax.annotate(
                    f"bound {ceil_count(bound)}",
                    (bound, at + 0.4),
                    xytext=(-3, 0),
                    textcoords="offset points",
                    ha="right",
                    va="top",
                    fontsize="x-small",
                    color=RED,
                )
        ax.set_yticks(range(len(self.mistakes) - 1, -1, -1), self.names)
        ax.set_ylim(-0.75, len(self.mistakes) - 0.4)
        ax.tick_params(axis="y", length=0)
        orders = max((len(v) for v in self.mistakes.values()), default=0)
        ax.set_xlabel(f"{self.what}, {orders} orders (bar: middle half)")
        if log:
            ax.set_xscale("log")
        elif least >= 0:
            extent = max(most, furthest, 1.0)
            ax.set_xlim(0 if least < 0.5 * extent else None, extent * 1.05)
        with_commas(ax.xaxis)
        plain(ax)
        ax.spines["left"].set_visible(False)
        ax.grid(axis="x", color=BLUE, alpha=0.12)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _beside(values: Floats) -> Floats:
    """Heights from −0.22 to 0.28 at which close values do not overlap: stacked in 40 bins."""
    low, high = float(values.min(initial=0)), float(values.max(initial=0))
    places = np.floor((values - low) / max(high - low, 1e-300) * 39.999).astype(int) if high > low else 0
    places = np.broadcast_to(np.asarray(places), values.shape)
    rank = np.zeros(len(values))
    for place in np.unique(places):
        own = np.flatnonzero(places == place)
        rank[own] = np.arange(len(own))
    tallest = max(float(rank.max(initial=0)), 8.0)
    return -0.22 + 0.5 * rank / tallest
