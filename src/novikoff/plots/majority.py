"""Rows of signs, and the majority of the relevant ones."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from novikoff import datasets
from novikoff.plots.style import BLUE, INK, ORANGE, new_axes

MOST = 40  # rows and columns that can be drawn


class MajorityDisplay:
    """Each row's signs, with a frame around the r relevant ones, their sum, and the label that it gives.

    Parameters
    ----------
    X : array of −1 and +1
    r : int
        The first r columns are relevant; r is odd, so that their sum is never 0.

    Attributes
    ----------
    sums_, labels_ : of each row
    ax_, figure_

    Examples
    --------
    >>> from novikoff.plots import MajorityDisplay
    >>> shown = MajorityDisplay([[1, 1, -1, -1], [-1, 1, -1, 1]], 3)
    >>> shown.sums_.tolist(), shown.labels_.tolist()
    ([1, -1], [1, -1])
    """

    def __init__(self, X: Any, r: int) -> None:
        self.X = np.asarray(X)
        if self.X.ndim != 2 or not np.isin(self.X, (-1, 1)).all() or max(self.X.shape) > MOST:
            raise ValueError(f"expected a table of −1 and +1 with at most {MOST} rows and columns.")
        if not (isinstance(r, int | np.integer) and r % 2 == 1 and 1 <= r <= self.X.shape[1]):
            raise ValueError(f"r={r!r} is not possible: expected an odd number up to {self.X.shape[1]}.")
        self.r = int(r)
        self.sums_ = self.X[:, :r].sum(axis=1).astype(np.int64)
        self.labels_ = np.sign(self.sums_)

    @classmethod
    def of(
        cls, n: int, r: int, n_rows: int = 10, *, random_state: Any = 0, ax: Any = None, **options: Any
    ) -> Self:
        """Draw random rows of n signs, as `datasets.majority` makes them."""
        return cls(datasets.majority(n_rows, n, r, random_state).X, r).plot(ax, **options)

    def plot(self, ax: Any = None) -> Self:
        """Draw in `ax`, or in a new figure."""
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Rectangle

        ax = new_axes(ax)
        rows, n = self.X.shape
        shades = ListedColormap([BLUE, ORANGE])
        ax.pcolormesh(self.X, cmap=shades, vmin=-1, vmax=1, alpha=0.28, edgecolors="white", linewidth=1.5)
        for (i, j), sign in np.ndenumerate(self.X):
            text = "+" if sign > 0 else "−"
            ax.text(j + 0.5, i + 0.5, text, ha="center", va="center", color=INK if j < self.r else "#999999")
        ax.add_patch(Rectangle((0, 0), self.r, rows, fill=False, ec=INK, lw=2, zorder=3))
        for i, (total, label) in enumerate(zip(self.sums_, self.labels_, strict=True)):
            text = f"{total:+d}  →  {'+' if label > 0 else '−'}"
            ax.text(n + 0.3, i + 0.5, text.replace("-", "−"), va="center", ha="left", fontsize="small")
        ax.text(n + 0.3, -0.35, "sum → label", va="center", ha="left", fontsize="small")
        ax.set_xlim(0, n + max(0.35 * n, 2.5))
        ax.set_ylim(rows, -0.8)
        ax.set_xticks([self.r / 2, (self.r + n) / 2][: 1 + (self.r < n)])
        names = [f"{self.r} relevant", f"{n - self.r} others"]
        ax.set_xticklabels(names[: 1 + (self.r < n)])
        ax.set_yticks([])
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
