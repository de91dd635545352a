"""The pictures that illustrate the findings of a diagnosis."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from novikoff.plots.margins import MarginHistogramDisplay
from novikoff.plots.mistakes import MistakesDisplay
from novikoff.plots.orders import OrderDisplay
from novikoff.plots.sandwich import SandwichDisplay
from novikoff.plots.style import need_matplotlib
from novikoff.plots.ways import WaysDisplay

if TYPE_CHECKING:
    from novikoff.theory.findings import Diagnosis

Draw = Callable[[Any], object]

SIZE = (5.6, 4.0)  # inches, of one picture
DRAWABLE = 1e-300, 1e300  # sizes of values that axes can show


class DiagnosisDisplay:
    """The most telling pictures of a diagnosis, in one figure.

    The run between the lines of the proof, or the mistakes of one pass where the rows are not separable; the
    margins of the rows; the mistakes in many orders; the errors on held-out rows.

    Parameters
    ----------
    diagnosis : Diagnosis
        Only its findings are drawn.

    Attributes
    ----------
    figure_, axes_ : the figure, and the axes in it
    ax_ : the first of them; None when there is nothing to show
    titles : the titles of the pictures
    """

    def __init__(self, diagnosis: Diagnosis) -> None:
        self.pictures = pictures(diagnosis)

    @property
    def titles(self) -> list[str]:
        return [title for title, _ in self.pictures]

    @classmethod
    def from_diagnosis(cls, diagnosis: Diagnosis, **options: Any) -> Self:
        """Draw the findings of `theory.diagnose`."""
        return cls(diagnosis).plot(**options)

    def plot(self, figure: Any = None) -> Self:
        """Draw in a figure, or in a new one outside pyplot: save it with `figure_.savefig(path)`."""
        need_matplotlib()
        from matplotlib.figure import Figure

        columns = min(len(self.pictures), 2) or 1
        lines = math.ceil(len(self.pictures) / columns) or 1
        if figure is None:
            figure = Figure(figsize=(SIZE[0] * columns, SIZE[1] * lines), layout="constrained")
        self.figure_, self.axes_ = figure, []
        for k, (title, draw) in enumerate(self.pictures):
            ax = figure.add_subplot(lines, columns, k + 1)
            draw(ax)
            _titled(ax, title)
            self.axes_.append(ax)
        self.ax_ = self.axes_[0] if self.axes_ else None
        return self

    def images(self, dpi: int = 110) -> list[tuple[str, bytes]]:
        """Each picture separately, as (title, PNG)."""
        need_matplotlib()
        from matplotlib.figure import Figure

        made = []
        for title, draw in self.pictures:
            figure = Figure(figsize=SIZE, layout="constrained")
            draw(figure.add_subplot())
            file = io.BytesIO()
            figure.savefig(file, format="png", dpi=dpi, metadata={"Software": None})
            made.append((title, file.getvalue()))
        return made


def _titled(ax: Any, title: str) -> None:
    """A title above the picture and, if present, above its legend."""
    ax.set_title(title, loc="left", fontsize="medium", fontweight="bold", pad=_above(ax))


def _above(ax: Any) -> float:
    """The height in points of a legend above the picture."""
    legend = ax.get_legend()
    if legend is None or getattr(legend, "_loc", None) != 3:  # 3: placed by its lower left corner
        return 6.0
    lines = math.ceil(len(legend.get_texts()) / getattr(legend, "_ncols", 1))
    return 10.0 + 13.0 * lines


def _drawable(values: Any) -> bool:
    """Whether axes can be scaled to the values: their sums and steps must be finite floats."""
    largest = float(np.abs(values).max(initial=0.0))
    return not largest or DRAWABLE[0] < largest < DRAWABLE[1]


def pictures(d: Diagnosis) -> list[tuple[str, Draw]]:
    """The title of each picture, and the function that draws it in given axes."""
    found: list[tuple[str, Draw]] = []
    run = d.trace
    if run is not None and len(run.norm):
        if d.verdict == "separable" and _drawable(run.upper):
            found.append(
                (
                    "The proof, and the run between its lines",
                    lambda ax: SandwichDisplay.from_trace(run, ax=ax),
                )
            )
        elif d.verdict != "separable":
            levels = [(b.name, b.upper) for b in d.bounds]
            shown = MistakesDisplay(run.visit + 1, run.n_visits, levels)
            found.append(("Mistakes of one pass, under the bound", shown.plot))
    if d.margins is not None and _drawable(d.margins):
        gamma = (d.margin.lower, d.margin.upper) if d.verdict == "separable" else None
        some = f" ({len(d.margins):,} of them)" if len(d.margins) < d.n_rows else ""
        histogram = MarginHistogramDisplay(d.margins, gamma)
        found.append((f"How far the rows lie on their own side{some}", histogram.plot))
    if d.orders:
        bounds = {b.name: b.upper for b in d.bounds}
        levels_by_rule = {
            "perceptron": bounds.get("Novikoff", bounds.get("best in hindsight", math.inf)),
            "normalized": bounds.get("normalized", math.inf),
        }
        what = "mistakes of one pass" if d.orders[0].one_pass else "mistakes until there are none"
        display = OrderDisplay({o.rule: o.mistakes for o in d.orders}, levels_by_rule, what)
        found.append(("Does the order matter? Does normalizing help?", display.plot))
    if d.trials:
        rates = {str(t.way): (t.rate, t.doubt) for t in d.trials}
        found.append(("Errors on held-out rows", WaysDisplay(rates, d.guess_rate).plot))
    return found
