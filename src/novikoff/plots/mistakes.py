"""The cumulative mistakes of a run, under the bounds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from novikoff.outward import ceil_count
from novikoff.plots.style import (
    GREY,
    INK,
    PALE,
    colour,
    formula_of,
    legend_above,
    new_axes,
    plain,
    with_commas,
)

if TYPE_CHECKING:
    from novikoff.theory.trace import Trace

FAR = 15.0  # if a bound is more than this multiple of the mistakes, the axis is logarithmic
DASHES: tuple[Any, ...] = ("--", "-.", (0, (1, 1.2)), (0, (6, 2)), (0, (4, 1, 1, 1, 1, 1)), (0, (8, 2, 2, 2)))
MOST_EPOCHS = 30  # the most epochs whose ends are marked


class MistakesDisplay:
    """The count of mistakes, or of updates, against visits, with a horizontal line for every bound.

    Parameters
    ----------
    visits : array
        The visit, from 1, of each mistake or update.
    n_visits : int
        The total number of visits.
    bounds : list of (name, value)
        The bounds of the theory; infinite ones are left out.
    n_rows : int, optional
        Visits per epoch; the ends of epochs are marked.
    what : str
        What is counted: "mistakes", or "updates" for a rule whose bound is on these.

    Attributes
    ----------
    ax_, figure_, line_ : the axes, their figure, the curve
    bound_lines_ : list of the horizontal lines

    Examples
    --------
    >>> from novikoff.plots import MistakesDisplay
    >>> MistakesDisplay([1, 3, 5], 18, [("(R/γ)²", 5.0), ("nothing known", float("inf"))]).bounds
    [('(R/γ)²', 5.0)]
    """

    def __init__(
        self,
        visits: Any,
        n_visits: int,
        bounds: Iterable[tuple[str, float]] = (),
        *,
        n_rows: int | None = None,
        what: str = "mistakes",
    ) -> None:
        self.visits = np.asarray(visits, dtype=np.int64)
        self.n_visits, self.n_rows, self.what = int(n_visits), n_rows, what
        self.bounds = sorted(
            ((name, float(v)) for name, v in bounds if v is not None and np.isfinite(v)), key=lambda b: b[1]
        )

    @classmethod
    def from_trace(cls, trace: Trace, bounds: Any = None, *, ax: Any = None, **options: Any) -> Self:
        """Draw a run, under its rule's own bound at its u, or under those in `bounds(X, y)` for the rule.

        Freund and Schapire's bounds are drawn if they are for as many epochs: `bounds(X, y, epochs=…)`.
        Every update of the rules "perceptron" and "normalized" is a mistake; the margin rule's bound is on
        its updates, which are then counted.
        """
        what = "updates" if trace.rule == "margin" else "mistakes"
        if bounds is None:
            name = formula_of(trace.rule, len(trace.classes), trace.heaviest)
            pairs = [(name, trace.bound)] if trace.gamma > 0 else []
        else:
            pairs = [(bound.name, bound.value) for bound in bounds if _is_of(bound, trace, what)]
        visits = np.asarray(trace.visit) + 1
        return cls(visits, trace.n_visits, pairs, n_rows=trace.n_rows, what=what).plot(ax, **options)

    def plot(self, ax: Any = None, *, log: bool | None = None, legend: bool = True) -> Self:
        """Draw in `ax`, or in a new figure; `log` chooses the axis of the mistakes."""
        ax = new_axes(ax)
        made = len(self.visits)
        highest = max([value for _, value in self.bounds], default=0.0)
        if log is None:
            log = highest > FAR * max(made, 1)
        ends: Any = np.arange(self.n_rows, self.n_visits, self.n_rows) if self.n_rows else []
        if len(ends) <= MOST_EPOCHS:
            for end in ends:
                ax.axvline(end, color=PALE, lw=0.8, zorder=0)
        x = np.concatenate([[0], self.visits, [self.n_visits]])
        y = np.concatenate([np.arange(made + 1), [made]])
        (self.line_,) = ax.plot(
            x, y, color=INK, lw=1.8, drawstyle="steps-post", label=f"{self.what} made: {made:,}"
        )
        self.bound_lines_ = []
        for k, (name, value) in enumerate(self.bounds):
            look = {"color": colour(k), "ls": DASHES[k % len(DASHES)], "lw": 1.5}
            self.bound_lines_.append(ax.axhline(value, label=f"{name}: {ceil_count(value)}", **look))
        if log:
            ax.set_yscale("log")
            ax.set_ylim(0.7, max(highest, made, 1) * 2.5)
        else:
            ax.set_ylim(0, max(highest, made, 1) * 1.12)
        caption = "visits (a line at the end of each epoch)" if 0 < len(ends) <= MOST_EPOCHS else "visits"
        ax.set(xlabel=caption, ylabel=self.what, xlim=(0, max(self.n_visits, 1)))
        ax.tick_params(axis="x", color=GREY)
        with_commas(ax.xaxis)
        with_commas(ax.yaxis)
        plain(ax)
        if legend:
            legend_above(ax, 1 if len(self.bounds) < 2 else 2)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _is_of(bound: Any, trace: Trace, what: str) -> bool:
    """Whether a bound of `theory.bounds` is for the run's rule, the counted quantity and enough epochs."""
    if getattr(bound, "counts", what) != what:
        return False
    if bound.name in ("novikoff", "normalized", "margin", "pa", "pa1", "pa2"):
        return bool(bound.name == {"perceptron": "novikoff"}.get(trace.rule, trace.rule))
    copies = int(trace.epoch[-1]) if len(trace.epoch) else 1
    enough = getattr(bound, "ingredients", {}).get("epochs", copies) >= copies  # for Freund and Schapire
    return trace.rule == "perceptron" and bool(enough)
