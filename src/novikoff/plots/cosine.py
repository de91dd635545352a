"""The cosine of the angle between w and u after each update, which the proof keeps above its floor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from novikoff.plots.style import BLUE, GREEN, PALE, RED, formula_of, mark_bound, new_axes, plain

if TYPE_CHECKING:
    from novikoff.theory.trace import Trace

FAR = 4.0  # the k at which the floor reaches 1 is shown up to this multiple of the updates made


class CosineDisplay:
    """cos(w, u) after each update, above its floor √k·γ/R and below 1.

    A cosine is at most 1, so the floor, which grows with every update, ends the run at k = (R/γ)²: this is
    the proof of the bound by the angle between w and a separating u.

    Parameters
    ----------
    cosine, floor : arrays, one entry per update
    bound : float
        The k at which the floor reaches 1.
    rule, n_classes, heaviest
        Of the run, for the name of its bound, as in `SandwichDisplay`.

    Attributes
    ----------
    ax_, figure_, lines_

    Examples
    --------
    The six points, with u = (1, 0): 1/√5, 2/√5 and 3/√10 above √k/√5.

    >>> from matplotlib.figure import Figure
    >>> from novikoff import datasets
    >>> from novikoff.plots import CosineDisplay
    >>> from novikoff.theory import trace
    >>> data = datasets.six_points()
    >>> run = trace(data.X, data.y, data.u, fit_intercept=False)
    >>> shown = CosineDisplay.from_trace(run, ax=Figure().add_subplot())
    >>> shown.lines_["cosine"].get_ydata().round(3).tolist(), shown.floor.round(3).tolist()
    ([0.447, 0.894, 0.949], [0.447, 0.632, 0.775])
    """

    def __init__(
        self,
        cosine: Any,
        floor: Any,
        bound: float,
        *,
        rule: str = "perceptron",
        n_classes: int = 2,
        heaviest: float = 1.0,
    ) -> None:
        self.cosine, self.floor = (np.asarray(a, dtype=np.float64) for a in (cosine, floor))
        self.bound, self.rule, self.n_classes, self.heaviest = float(bound), rule, n_classes, heaviest

    @classmethod
    def from_trace(cls, trace: Trace, *, ax: Any = None, **options: Any) -> Self:
        """Draw the record of a run whose u separates the rows."""
        if not trace.gamma > 0:
            raise ValueError("u does not separate the rows, so the cosine has no floor: see SandwichDisplay.")
        own: dict[str, Any] = {"rule": trace.rule, "n_classes": len(trace.classes)}
        own["heaviest"] = trace.heaviest
        return cls(trace.cosine, trace.cosine_floor, trace.bound, **own).plot(ax, **options)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw in `ax`, or in a new figure."""
        ax = new_axes(ax)
        made = len(self.cosine)
        k = np.arange(1, made + 1)
        end = self.bound if made < self.bound <= FAR * max(made, 1) else float(max(made, 1))
        more = np.linspace(0, end, 200)
        curve = np.minimum(np.sqrt(more / self.bound), 1.0)
        ax.fill_between(more, curve, 1.0, color=PALE, alpha=0.4, lw=0)
        (top,) = ax.plot([0, end], [1, 1], color=RED, lw=1.5, ls="-.", label="no cosine is above 1")
        floor = r"$\sqrt{k}\,\gamma/R$" if self.rule == "perceptron" else "floor"
        (low,) = ax.plot(more, curve, color=GREEN, lw=1.5, ls="--", label=f"{floor}: it must be larger")
        marker = {"marker": "o", "ms": 4} if made <= 40 else {}
        label = r"$\cos(w, u)$: the run"
        (run,) = ax.plot(k, self.cosine, color=BLUE, lw=1.8, label=label, **marker)
        if end > made:
            formula = formula_of(self.rule, self.n_classes, self.heaviest)
            mark_bound(ax, end, self.bound, formula, height=0.04)
        self.lines_ = {"cosine": run, "floor": low, "one": top}
        ax.set(xlabel="updates $k$", ylabel="cosine", xlim=(0, end * 1.02))
        ax.set_ylim(min(0.0, float(self.cosine.min(initial=0))), 1.08)
        plain(ax)
        if legend:
            ax.legend(frameon=False, fontsize="small", loc="lower right", bbox_to_anchor=(0.93, 0.0))
        self.ax_, self.figure_ = ax, ax.figure
        return self
