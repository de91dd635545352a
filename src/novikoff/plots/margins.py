"""A histogram of the rows' margins, with γ's bracket."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from novikoff.outward import ceil_count, count_text, floor_count
from novikoff.plots.style import BLUE, GREEN, INK, RED, legend_above, new_axes, plain, with_commas
from novikoff.proof.problem import Problem, read_problem


class MarginHistogramDisplay:
    """The geometric margins y·(w·x)/‖w‖ of all rows under a model, in the lifted space.

    Rows left of 0 are on the wrong side. γ, the largest value of the smallest margin under any weights, lies
    in the marked bracket; the smallest margin of a separating run is at most γ. With three classes
    or more a row's margin is its smallest over the other classes.

    Parameters
    ----------
    margins : array of n numbers
    gamma : (lower, upper), optional
        The bracket of γ.

    Attributes
    ----------
    ax_, figure_, counts_, edges_ : the axes, their figure, the histogram

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.plots import MarginHistogramDisplay
    >>> MarginHistogramDisplay(np.array([-0.5, 0.25, 1.0]), (0.0, 0.3)).n_wrong
    1
    """

    def __init__(self, margins: Any, gamma: tuple[float, float] | None = None) -> None:
        self.margins = np.asarray(margins, dtype=np.float64)
        self.gamma = gamma

    @property
    def n_wrong(self) -> int:
        """The number of rows with margin ≤ 0."""
        return int(np.count_nonzero(self.margins <= 0))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        max_margin: Any = None,
        intercept_scaling: float = 1.0,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the margins of rows under a fitted model; `max_margin` is a result of `theory.max_margin`."""
        coef, intercept = estimator.coef_, np.atleast_1d(np.asarray(estimator.intercept_))
        coef = coef.toarray() if hasattr(coef, "toarray") else np.asarray(coef)
        lifted = bool(getattr(estimator, "fit_intercept", intercept.any()))
        scaling = float(getattr(estimator, "intercept_scaling", intercept_scaling))
        problem = read_problem(X, y, fit_intercept=lifted, intercept_scaling=scaling)
        gamma = None if max_margin is None else (float(max_margin.lower), float(max_margin.upper))
        return cls(row_margins(problem, problem.vector(coef, intercept)), gamma).plot(ax, **options)

    def plot(
        self, ax: Any = None, *, bins: int | str = "auto", log: bool | None = None, legend: bool = True
    ) -> Self:
        """Draw in `ax`, or in a new figure; `log` chooses the axis of the counts."""
        ax = new_axes(ax)
        if bins == "auto":
            bins = int(np.clip(2 * np.sqrt(len(self.margins)), 10, 60))
        self.edges_ = self._edges(int(bins)) if not isinstance(bins, str) else self._edges(40)
        self.counts_, _ = np.histogram(self.margins, self.edges_)
        middle = (self.edges_[1:] + self.edges_[:-1]) / 2
        width = np.diff(self.edges_)
        right, wrong = middle > 0, middle <= 0
        n = len(self.margins)
        ax.bar(
            middle[right],
            self.counts_[right],
            width[right],
            color=BLUE,
            edgecolor="white",
            lw=0.4,
            label=f"correct side: {n - self.n_wrong:,} rows",
        )
        if self.n_wrong:
            ax.bar(
                middle[wrong],
                self.counts_[wrong],
                width[wrong],
                color=RED,
                edgecolor="white",
                lw=0.4,
                hatch="////",
                label=f"wrong side or 0: {self.n_wrong:,} rows",
            )
        ax.axvline(0, color=INK, lw=1)
        if self.gamma is not None:
            self._bracket(ax)
        filled = self.counts_[self.counts_ > 0]
        if log is None:
            log = len(filled) > 0 and filled.max() > 200 * np.median(filled)
        if log:
            ax.set_yscale("log")
            ax.set_ylim(0.7, None)
        ax.set(xlabel=r"margin $y\,(w\cdot x)/\|w\|$", ylabel="rows")
        with_commas(ax.yaxis)
        plain(ax)
        if legend:
            legend_above(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _edges(self, bins: int) -> Any:
        """Bins of equal width with an edge at 0, so that no bin has rows of both sides."""
        low, high = float(self.margins.min(initial=0)), float(self.margins.max(initial=0))
        if self.gamma is not None:
            high = max(high, *(g for g in self.gamma if np.isfinite(g)), 0.0)
        if high <= low:
            low, high = low - 0.5, high + 0.5
        step = (high - low) / bins
        first, last = int(np.floor(low / step)), int(np.ceil(high / step))
        return step * np.arange(first, last + 1)

    def _bracket(self, ax: Any) -> None:
        assert self.gamma is not None
        low, high = self.gamma
        if not np.isfinite(high):
            return
        if low > 0:
            caption = (
                f"{floor_count(low)} ≤ γ ≤ {ceil_count(high)}"
                if count_text(low) != count_text(high)
                else f"γ = {count_text(high)}"
            )
            ax.axvspan(low, high, color=GREEN, alpha=0.25, lw=0)
            ax.axvline(low, color=GREEN, lw=1.4, ls="--")
        else:
            caption = f"γ ≤ {ceil_count(high)}"
        ax.axvline(high, color=GREEN, lw=1.4, ls="--", label=caption)


def row_margins(problem: Problem, u: Any) -> Any:
    """y·(u·x̃)/‖u‖ of every row, the smallest over its pairs."""
    scores = problem.scores(u)
    size = float(np.linalg.norm(u))
    return (scores.min(axis=1) if scores.ndim == 2 else scores) / (size or 1.0)
