"""The proof of a rule's bound as a picture: k·γ ≤ w·u ≤ ‖w‖ ≤ √k·R, and the run in between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from novikoff.plots.style import (
    BLUE,
    GREEN,
    INK,
    PALE,
    RED,
    Floats,
    formula_of,
    mark_bound,
    new_axes,
    plain,
)

if TYPE_CHECKING:
    from novikoff.theory.trace import Trace

FAR = 4.0  # a bound up to this multiple of the updates made is shown on the axis


class SandwichDisplay:
    """‖w‖ after each update, between its lower bound, a line, and its upper bound, a curve.

    Every update adds at least γ to w·u and at most R² to ‖w‖². The line k·γ meets the curve √k·R at
    k = (R/γ)²: no run gets past that point. The margin rule adds at most R² + 2β to ‖w‖²; the normalized rule
    has rows of norm 1. Where u does not separate the rows, the line is that of Freund and Schapire.

    Parameters
    ----------
    norm, along, lower, upper : arrays, one entry per update
        ‖w‖, w·u, the lower line and the upper curve.
    bound : float
        The k at which line and curve meet; infinite when γ ≤ 0.
    rule : {"perceptron", "normalized", "margin"}
        The rule of the proof, for the names of line, curve and bound.
    n_classes : int
    separates : bool
        Whether γ > 0.
    heaviest : float
        The largest weight of a row: c in the names, where it is not 1.

    Attributes
    ----------
    ax_, figure_, lines_ : the axes, their figure, and the curves drawn, by name
    """

    def __init__(
        self,
        norm: Any,
        along: Any,
        lower: Any,
        upper: Any,
        bound: float,
        *,
        rule: str = "perceptron",
        n_classes: int = 2,
        separates: bool = True,
        heaviest: float = 1.0,
    ) -> None:
        self.norm, self.along, self.lower, self.upper = (
            np.asarray(a, dtype=np.float64) for a in (norm, along, lower, upper)
        )
        self.bound = float(bound)
        self.rule, self.n_classes, self.separates, self.heaviest = rule, n_classes, separates, heaviest

    @classmethod
    def from_trace(cls, trace: Trace, *, ax: Any = None, **options: Any) -> Self:
        """Draw the record of a run."""
        separates = trace.gamma > 0
        names: dict[str, Any] = {"rule": trace.rule, "n_classes": len(trace.classes), "separates": separates}
        names["heaviest"] = trace.heaviest
        bound = trace.bound if separates else np.inf
        return cls(trace.norm, trace.wu, trace.lower, trace.upper, bound, **names).plot(ax, **options)

    def _upper(self) -> str:
        two, c = self.n_classes > 2, "" if self.heaviest == 1 else "c"
        curves = {
            "margin": rf"$\sqrt{{k\,(R^2+2{c}\beta)}}$",
            "normalized": rf"${c}\sqrt{{2k}}$" if two else rf"${c}\sqrt{{k}}$",
        }
        return curves.get(self.rule, r"$\sqrt{k}\,R$")

    def _lower(self) -> str:
        if not self.separates:
            return r"$(k-\sqrt{ke}\,\|\mathrm{hinge}\|)\,/\,\|v\|$"
        return r"$k\gamma_n$" if self.rule == "normalized" else r"$k\gamma$"

    def plot(self, ax: Any = None, *, extend: bool | None = None, legend: bool = True) -> Self:
        """Draw in `ax`, or in a new figure.

        `extend`: continue line and curve to where they meet; None does so if that is not far.
        """
        ax = new_axes(ax)
        made = len(self.norm)
        k: Floats = np.arange(made + 1, dtype=np.float64)
        if extend is None:
            extend = bool(np.isfinite(self.bound) and made < self.bound <= FAR * made)
        end = self.bound if extend and np.isfinite(self.bound) else float(made)
        lower, upper = (np.concatenate([[0.0], a]) for a in (self.lower, self.upper))
        ax.fill_between(k, lower, upper, color=PALE, alpha=0.45, lw=0)
        if end > made and made:
            more = np.linspace(made, end, 100)
            slope, scale = lower[-1] / made, upper[-1] / np.sqrt(made)
            ax.fill_between(more, slope * more, scale * np.sqrt(more), color=PALE, alpha=0.2, lw=0)
            ax.plot(more, slope * more, color=GREEN, lw=1, ls="--", alpha=0.55)
            ax.plot(more, scale * np.sqrt(more), color=RED, lw=1, ls="-.", alpha=0.55)
            formula = formula_of(self.rule, self.n_classes, self.heaviest)
            mark_bound(ax, end, self.bound, formula, height=0.02)
        marker = {"marker": ".", "ms": 5} if made <= 40 else {}
        (top,) = ax.plot(k, upper, color=RED, lw=1.5, ls="-.", label=f"{self._upper()}: it cannot be longer")
        (run,) = ax.plot(
            k, np.concatenate([[0.0], self.norm]), color=INK, lw=1.8, label=r"$\|w\|$: the run", **marker
        )
        (along,) = ax.plot(
            k,
            np.concatenate([[0.0], self.along]),
            color=BLUE,
            lw=1.4,
            ls=(0, (1, 1.2)),
            label=r"$w\cdot u$: the part along $u$",
        )
        (low,) = ax.plot(k, lower, color=GREEN, lw=1.5, ls="--", label=f"{self._lower()}: it must be longer")
        self.lines_ = {"upper": top, "norm": run, "along": along, "lower": low}
        ax.set(xlabel="updates $k$", ylabel="length", xlim=(0, max(end, 1) * 1.02))
        ax.set_ylim(min(0.0, float(self.along.min(initial=0)), float(self.lower.min(initial=0))), None)
        plain(ax)
        if legend:
            ax.legend(frameon=False, fontsize="small", loc="upper left")
        self.ax_, self.figure_ = ax, ax.figure
        return self
