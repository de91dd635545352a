"""The result of an experiment: its claim, its figures, and how they are drawn."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.linear.perceptron import Perceptron
from novikoff.shown import Shown, table_html

Curve = npt.NDArray[Any]


@dataclass(frozen=True)
class Picture:
    """What `Experiment.plot` draws: curves against one of them, or bars of figures.

    Names are those of curves, and of figures for `levels` and `bars`.
    """

    x: str | None = None  # the curve on the horizontal axis; None: bars
    lines: tuple[str, ...] = ()  # what was measured, against x
    points: tuple[str, ...] = ()  # the same as points that are not joined
    bounds: tuple[str, ...] = ()  # what theory says, against x, dashed
    levels: tuple[str, ...] = ()  # figures as horizontal lines, dotted
    bars: tuple[str, ...] = ()  # figures that were measured
    diagonal: bool = False  # the line on which both axes are equal
    xlabel: str = ""
    ylabel: str = ""
    log: str = ""  # the axes that are logarithmic: "x", "y" or "xy"


@dataclass(frozen=True, eq=False, repr=False)
class Experiment(Shown):
    """The claim of an experiment, and its outcome."""

    name: str
    claim: str
    holds: bool
    figures: dict[str, Any]
    curves: dict[str, Curve] = field(default_factory=dict)  # arrays of equal length, for plotting
    picture: Picture | None = None  # None: bars of all figures that are numbers

    def to_dict(self) -> dict[str, Any]:
        """Everything but the picture as JSON values."""
        curves = {name: curve.tolist() for name, curve in self.curves.items()}
        own = {"name": self.name, "claim": self.claim, "holds": self.holds}
        return own | {"figures": dict(self.figures), "curves": curves}

    def plot(self, ax: Any = None) -> Any:
        """Draw the outcome in `ax`, or in a new figure: a `novikoff.plots.ExperimentDisplay`.

        >>> from matplotlib.figure import Figure
        >>> from novikoff.theory import experiments
        >>> shown = experiments.adversarial(5).plot(Figure().add_subplot())
        >>> shown.ax_.get_title(loc="left")
        'mistakes = (R/γ)² = 5'
        """
        from novikoff.plots.experiment import ExperimentDisplay

        return ExperimentDisplay(self).plot(ax)

    @property
    def drawn(self) -> Picture:
        """The picture, or bars of the figures that are numbers."""
        if self.picture is not None:
            return self.picture
        numbers = (name for name, value in self.figures.items() if is_count(value))
        return Picture(bars=tuple(numbers))

    def __str__(self) -> str:
        width = max(map(len, self.figures), default=0)
        lines = [f"  {name:<{width}}  {_shown(value)}" for name, value in self.figures.items()]
        return "\n".join([f"{self.name}: {self.claim}", *lines, f"  {self._outcome}"])

    def __repr__(self) -> str:
        return f"<Experiment {self.name}: {self.claim}: {self._outcome}>"

    def _repr_html_(self) -> str:
        rows = [(name, _shown(value)) for name, value in self.figures.items()]
        return f"<div><b>{escape(f'{self.name}: {self.claim}')}: {self._outcome}</b>{table_html(rows)}</div>"

    @property
    def _outcome(self) -> str:
        return "holds" if self.holds else "FAILS"


def is_count(value: Any) -> bool:
    """Whether a figure is a number."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
    if isinstance(value, list):
        return f"[{', '.join(f'{v:.6g}' if isinstance(v, float) else str(v) for v in value)}]"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def fit(model: Any, X: Any, y: Any) -> Any:
    """Fit the model; here unseparated rows are an outcome, not worth a warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The training rows were not separated")
        return model.fit(X, y)


def plain(rule: str = "perceptron", **options: Any) -> Perceptron:
    """The perceptron as lectures have it: rows in their order until an epoch is clean, the last weights.

    There is no bias and sign(0) = +1, unless `options` say otherwise.
    """
    own: dict[str, Any] = {"fit_intercept": False, "order": "cyclic", "average": False}
    own |= {"max_epochs": 100_000, "scale": None}
    return Perceptron(rule, **(own | options))
