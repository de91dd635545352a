"""Ways to learn, compared."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any, Self

from novikoff.plots.style import BLUE, GREY, INK, legend_above, new_axes, plain


class WaysDisplay:
    """The mean error rate of each way on held-out rows, with its standard error.

    Parameters
    ----------
    rates : mapping of name to (rate, standard error)
    guess : float, optional
        The error rate of always predicting the most frequent class.

    Attributes
    ----------
    ax_, figure_

    Examples
    --------
    >>> from novikoff.plots import WaysDisplay
    >>> WaysDisplay({"perceptron": (0.2, 0.01), "averaged": (0.1, 0.01)}).best
    'averaged'
    """

    def __init__(self, rates: Mapping[str, tuple[float, float]], guess: float | None = None) -> None:
        self.rates, self.guess = dict(rates), guess

    @property
    def best(self) -> str:
        return min(self.rates, key=lambda name: self.rates[name][0])

    def plot(self, ax: Any = None) -> Self:
        """Draw in `ax`, or in a new figure."""
        ax = new_axes(ax)
        names = list(self.rates)
        at = range(len(names) - 1, -1, -1)
        rates = [100 * self.rates[name][0] for name in names]
        doubts = [100 * self.rates[name][1] for name in names]
        ax.errorbar(rates, at, xerr=doubts, fmt="o", color=BLUE, ms=7, capsize=3, lw=1.4)
        top = max(r + d for r, d in zip(rates, doubts, strict=True))
        end = max(top * 1.12, 0.01)
        for rate, doubt, height in zip(rates, doubts, at, strict=True):
            side = "left" if rate < 0.1 * end else "center"  # does not cover the names
            side = "right" if rate > 0.9 * end else side
            ax.annotate(
                f"{rate:.2f} ± {doubt:.2f} %",
                (rate, height),
                (0, 7),
                textcoords="offset points",
                ha=side,
                fontsize="x-small",
                zorder=5,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85},
            )
        if self.guess is not None and 100 * self.guess < 1.5 * end:
            caption = f"always the most frequent class: {100 * self.guess:.2f} %"
            ax.axvline(100 * self.guess, color=INK, lw=1, ls="--", label=caption)
            legend_above(ax)
            end = max(end, 105 * self.guess)
        ax.set_yticks(at, [textwrap.fill(name, 22) for name in names], fontsize="small")
        ax.set_ylim(-0.5, len(names) - 0.4)
        ax.set(xlabel="errors, % of the held-out rows (mean ± standard error)", xlim=(0, end))
        plain(ax)
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="y", color=GREY, alpha=0.15)
        self.ax_, self.figure_ = ax, ax.figure
        return self
