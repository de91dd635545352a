"""The outcome of an experiment of `theory.experiments`: what was measured, beside what theory says."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from novikoff.plots.style import GREY, INK, colour, legend_above, mark, new_axes, plain

if TYPE_CHECKING:
    from novikoff.theory.experiments.experiment import Experiment

DASHES: tuple[Any, ...] = ("--", ":", "-.", (0, (6, 2, 1, 2, 1, 2)))
COLUMNS = 3  # of the legend
WIDE = 60  # from this many values on, a line has no markers


class ExperimentDisplay:
    """Curves with a marker at each value, bounds as dashed lines, and figures as bars.

    Parameters
    ----------
    experiment : a result of `novikoff.theory.experiments`

    Attributes
    ----------
    ax_, figure_
    lines_ : dict of name to what was drawn
        Lines and points of curves, horizontal lines of figures, and bars.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from novikoff.plots import ExperimentDisplay
    >>> from novikoff.theory import experiments
    >>> shown = ExperimentDisplay(experiments.examples((10, 100))).plot(Figure().add_subplot())
    >>> sorted(shown.lines_)
    ['bound', 'mistakes']
    """

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw in `ax`, or in a new figure."""
        ax, found = new_axes(ax), self.experiment
        self.lines_: dict[str, Any] = {}
        picture = found.drawn
        if picture.x is None:
            self._bars(ax)
        else:
            self._curves(ax)
        for k, name in enumerate(picture.levels, start=len(picture.bounds)):
            value, dash = found.figures[name], DASHES[k % len(DASHES)]
            self.lines_[name] = ax.axhline(value, color=INK, lw=1.2, ls=dash, label=f"{name}: {value:.4g}")
        for axis in (["x"] if picture.x else []) + ["y"]:
            _count_axis(ax, axis, log=axis in picture.log)
        plain(ax)
        entries = len(ax.get_legend_handles_labels()[1]) if picture.x or picture.levels else 0
        rows = -(-entries // COLUMNS)
        ax.set_title(fill(found.claim, 70), loc="left", fontsize="small", pad=8 + 16 * rows)
        if legend and entries:
            legend_above(ax, COLUMNS)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _curves(self, ax: Any) -> None:
        picture, curves = self.experiment.drawn, self.experiment.curves
        x = curves[picture.x or ""]
        many = len(x) > WIDE
        if picture.diagonal:
            ends = np.array([min(x), max(x)])
            self.lines_["diagonal"] = ax.plot(ends, ends, color=GREY, lw=1, ls="--", label="the bound")[0]
        for k, name in enumerate((*picture.lines, *picture.points)):
            look: dict[str, Any] = {"color": colour(k), "marker": mark(k), "ms": 5, "label": name}
            look |= {"lw": 1.6} if name in picture.lines else {"lw": 0, "alpha": 0.8}
            look |= {"marker": "", "ls": ("-", "--", "-.", ":")[k % 4]} if many and look["lw"] else {}
            (self.lines_[name],) = ax.plot(x, curves[name], **look)
        for k, name in enumerate(picture.bounds):
            dash = DASHES[k % len(DASHES)]
            (self.lines_[name],) = ax.plot(x, curves[name], color=INK, lw=1.4, ls=dash, label=name)
        ax.set(xlabel=picture.xlabel or picture.x, ylabel=picture.ylabel)

    def _bars(self, ax: Any) -> None:
        picture, figures = self.experiment.drawn, self.experiment.figures
        values = [float(figures[name]) for name in picture.bars]
        at = range(len(values))
        bars = ax.bar(at, values, color=[colour(k) for k in at], width=0.6)
        self.lines_ |= dict(zip(picture.bars, bars, strict=True))
        ax.bar_label(bars, [f"{value:,.4g}" for value in values], fontsize="small", padding=2)
        ax.set_xticks(at, [name.replace(" ", "\n") for name in picture.bars], fontsize="small")
        ax.set_ylabel(picture.ylabel)
        ax.margins(y=0.12)


def _count_axis(ax: Any, name: str, *, log: bool) -> None:
    """Numbers such as 10,000; from 0 on, and whole where all values are; at 1, 2 and 5 of a log scale."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    axis = getattr(ax, f"{name}axis")
    if log:
        ax.set(**{f"{name}scale": "log"})
        low, high = getattr(ax, f"get_{name}lim")()
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 200 * low else (1,)))
        axis.set_minor_formatter(NullFormatter())
    elif name == "y":
        ax.set_ylim(min(0.0, ax.get_ylim()[0]), None)
        if ax.get_ylim()[1] >= 3:
            axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True))
    else:
        axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
