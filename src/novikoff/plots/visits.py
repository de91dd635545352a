"""Which rows an epoch goes to, visit by visit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from novikoff.plots.style import BLUE, INK, PALE, colour, mark, new_axes, plain, with_commas
from novikoff.training.plan import Plan

GAP = 0.12  # between two orders, relative to the visits of one


class VisitsDisplay:
    """A dot for every visit, the row above the visit, for one order beside the other.

    Parameters
    ----------
    orders : mapping of name to array
        The row of each visit.
    labels : array, optional
        The class of each row, which determines colours and markers.

    Attributes
    ----------
    ax_, figure_, dots_ : the axes, their figure, the dots of each order and class

    Examples
    --------
    >>> from novikoff.plots import VisitsDisplay
    >>> shown = VisitsDisplay.of_rows(6, ("cyclic", "shuffle"), random_state=1)
    >>> shown.orders["cyclic"].tolist()
    [0, 1, 2, 3, 4, 5]
    """

    def __init__(self, orders: Mapping[str, Any], labels: Any = None) -> None:
        self.orders: dict[str, npt.NDArray[np.int64]] = {k: np.asarray(v) for k, v in orders.items()}
        self.labels = None if labels is None else np.asarray(labels)

    @classmethod
    def of_rows(
        cls,
        n: int,
        orders: Sequence[str] = ("cyclic", "riffle", "shuffle"),
        labels: Any = None,
        random_state: int = 0,
    ) -> Self:
        """The first epoch over n rows in each of these orders."""
        drawn = {}
        for name in orders:
            if name not in ("cyclic", "riffle", "shuffle"):
                raise ValueError(
                    f"the order {name!r} cannot be drawn from the number of rows alone: expected 'cyclic', "
                    "'riffle' or 'shuffle'; others are given as arrays."
                )
            order = Plan(order=name, rng=np.random.default_rng(random_state)).drawn_order(n)
            drawn[name] = np.arange(n) if order is None else order
        return cls(drawn, labels)

    def plot(self, ax: Any = None) -> Self:
        """Draw in `ax`, or in a new figure."""
        ax = new_axes(ax, figsize=(2.4 * len(self.orders), 2.8))
        most = max(map(len, self.orders.values()))
        width, self.dots_, middles = most * (1 + GAP), [], []
        for k, rows in enumerate(self.orders.values()):
            visits = k * width + np.arange(len(rows))
            middles.append(k * width + len(rows) / 2)
            classes = np.zeros(len(rows)) if self.labels is None else self.labels[rows]
            for c, found in enumerate(np.unique(classes)):
                own = classes == found
                self.dots_.append(
                    ax.scatter(visits[own], rows[own], s=5, c=colour(c), marker=mark(c), lw=0, zorder=3)
                )
            if k:
                ax.axvline(k * width - most * GAP / 2, color=PALE, lw=1)
        ax.set_xticks(middles, list(self.orders))
        ax.tick_params(axis="x", length=0, colors=INK)
        ax.set(
            xlabel="the visits of one epoch",
            ylabel="row",
            xlim=(-most * GAP / 2, len(self.orders) * width - most * GAP / 2),
        )
        with_commas(ax.yaxis)
        plain(ax)
        ax.grid(axis="y", color=BLUE, alpha=0.12)
        self.ax_, self.figure_ = ax, ax.figure
        return self
