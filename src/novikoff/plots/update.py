"""One update: w, x and w ± x, with the boundary before and after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from novikoff.plots.plane import USUAL, Names, around, arrow, axis_names, line, origin
from novikoff.plots.style import GREY, INK, RED, Floats, colour, legend_above, mark, new_axes, to_one_scale

if TYPE_CHECKING:
    from novikoff.theory.trace import Trace


class UpdateDisplay:
    """An update of the perceptron in the plane: w' = w + τ·y·x, with both boundaries.

    Vectors start at the origin and are drawn to scale. The dashed line is the boundary of w, the solid one
    that of w'. After a false negative x is added, after a false positive it is subtracted: y·(w'·x) is larger
    than y·(w·x) by τ·‖x‖², although x need not be on its own side yet.

    Parameters
    ----------
    w, x : pairs of numbers
    y : {-1, 1}
    b : float
        The bias of w.
    step : float
        τ.
    bias : float
        The bias coordinate c, so that b changes by τ·y·c²; 0: there is no bias.
    names : pair of str
        Of the axes.

    Attributes
    ----------
    after_, b_ : w' and its bias
    gain_ : how much y·score has grown
    ax_, figure_

    Examples
    --------
    >>> from novikoff.plots import UpdateDisplay
    >>> shown = UpdateDisplay([1.0, -2.0], [1.0, 1.0], 1)  # the third visit to the six points
    >>> shown.after_.tolist(), shown.gain_
    ([2.0, -1.0], 2.0)
    """

    def __init__(
        self,
        w: Any,
        x: Any,
        y: int,
        b: float = 0.0,
        *,
        step: float = 1.0,
        bias: float = 0.0,
        names: Names = USUAL,
    ) -> None:
        self.w, self.x = (np.asarray(v, dtype=np.float64).ravel() for v in (w, x))
        if self.w.shape != (2,) or self.x.shape != (2,):
            raise ValueError(f"w and x must have two coordinates, but have {len(self.w)} and {len(self.x)}.")
        if y not in (-1, 1):
            raise ValueError(f"y={y!r} is not possible: expected −1 or +1.")
        self.y, self.b, self.step, self.bias, self.names = int(y), float(b), float(step), float(bias), names
        self.after_: Floats = self.w + self.step * self.y * self.x
        self.b_ = self.b + self.step * self.y * self.bias**2
        self.gain_ = self.step * (float(self.x @ self.x) + self.bias**2)

    @classmethod
    def from_trace(cls, trace: Trace, k: int = 0, *, ax: Any = None, **options: Any) -> Self:
        """Draw update k (the first is 0) of a run with two features and two classes."""
        run = trace._with_rows("UpdateDisplay")
        if run.problem.is_joint or run.problem.n_features != 2:
            raise ValueError("an update is drawn for two features and two classes.")
        if not 0 <= k < trace.updates:
            raise ValueError(f"k={k!r} is not possible: the run has the updates 0 to {trace.updates - 1}.")
        row, bias = int(trace.example[k]), trace.bias
        x = run.problem.X[row : row + 1]
        x = np.asarray(x.toarray() if hasattr(x, "toarray") else x, dtype=np.float64)[0]
        w = trace.weights[k]
        y = 1 if run.problem.labels[row] == 1 else -1
        step = 1.0 if trace.step is None else float(trace.step[k])
        lift = {"b": bias * float(w[2]) if bias else 0.0, "bias": bias, "step": step}
        return cls(w[:2], x[:2], y, **lift, names=axis_names(trace)).plot(ax, **options)

    @property
    def kind(self) -> str:
        """Why w changes: 'false negative', 'false positive', 'score 0', or 'right, but by too little'."""
        score = float(self.w @ self.x) + self.b
        what = "add x" if self.y > 0 else "subtract x"
        if self.y * score > 0:
            return f"right, but by too little: {what}"
        if self.y > 0 and not score:
            return f"score 0: {what}"
        return f"false {'negative' if self.y > 0 else 'positive'}: {what}"

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw in `ax`, or in a new figure."""
        ax = new_axes(ax)
        limits = around([self.w, self.x, self.after_])
        origin(ax)
        change = f"{'+' if self.y > 0 else '-'} {'' if self.step == 1 else 'τ'}x"
        look: dict[str, Any] = {"color": GREY, "lw": 1.5, "ls": "--", "label": "boundary of w"}
        line(ax, self.w, self.b, *limits, **look)
        look = {"color": INK, "lw": 1.8, "label": "boundary of w′"}
        line(ax, self.after_, self.b_, *limits, **look)
        k = int(self.y > 0)
        ax.scatter(*self.x, marker=mark(k), s=60, c=colour(k), zorder=5, label=f"x, y = {self.y:+d}")
        arrow(ax, (0, 0), self.x, colour(k), "$x$", lw=1.4)
        if self.w.any():
            arrow(ax, (0, 0), self.w, GREY, "$w$", ls="--")
            step = self.after_ - self.w
            arrow(ax, self.w, self.w + step, colour(k), "", lw=1.0, alpha=0.6)
            middle = tuple(self.w + 0.5 * step)
            ax.annotate(
                f"${change}$", middle, (8, -4), textcoords="offset points", color=colour(k), fontsize="small"
            )
        if self.after_.any():
            arrow(ax, (0, 0), self.after_, RED, f"$w {change}$", lw=2.0)
        to_one_scale(ax, *limits)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        ax.set_title(self.kind, loc="right", fontsize="small", color=GREY)
        if legend:
            legend_above(ax, 1)
        self.ax_, self.figure_ = ax, ax.figure
        return self
