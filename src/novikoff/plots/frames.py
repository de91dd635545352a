"""A run frame by frame: a strip of pictures, an animation, or image files."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from novikoff.outfile import replacing
from novikoff.plots.plane import Names, around, arrow, axis_names, line, origin
from novikoff.plots.style import (
    GREY,
    INK,
    RED,
    need_matplotlib,
    scatter_classes,
    to_one_scale,
)

if TYPE_CHECKING:
    from novikoff.theory.steps import Step, Steps
    from novikoff.theory.trace import Trace

SIDE = 2.5  # inches per frame
ARROW = 0.3  # length of w, relative to the window, if it is longer


class FramesDisplay:
    """One small picture per visit: all rows, the visited one, and the boundary before and after it.

    The visited row has a ring, and a cross if it is a mistake. The dashed line is the boundary before the
    visit, the solid one the boundary after it; the arrow is w after it, in its direction only.

    Parameters
    ----------
    steps : the visits of a run with two features and two classes, from `theory.trace(...).steps()`
    X, labels, classes : all rows, their indices into the classes, and the classes
    updates_only : bool
        Whether visits without an update are left out.
    names : pair of str, optional
        Of the axes.

    Attributes
    ----------
    frames : list of the visits that are drawn
    axes_, figure_ : after `plot`

    Examples
    --------
    >>> from novikoff import datasets
    >>> from novikoff.plots import FramesDisplay
    >>> from novikoff.theory import trace
    >>> data = datasets.six_points()
    >>> run = trace(data.X, data.y, data.u, fit_intercept=False)
    >>> shown = FramesDisplay.of(run, limit=6)
    >>> [frame.visit for frame in shown.frames], shown.title(0)
    ([1, 2, 3, 4, 5, 6], 'visit 1: w·x = 0, mistake')
    """

    def __init__(
        self,
        steps: Steps,
        X: Any,
        labels: Any,
        classes: Any,
        *,
        updates_only: bool = False,
        names: Names | None = None,
    ) -> None:
        self.X, self.labels, self.classes = np.asarray(X, dtype=np.float64), np.asarray(labels), list(classes)
        if self.X.ndim != 2 or self.X.shape[1] != 2 or len(self.classes) != 2:
            raise ValueError("frames are drawn for two features and two classes.")
        self._before: list[tuple[Any, float]] = []
        self.frames: list[Step] = []
        w: tuple[Any, float] = np.zeros(2), 0.0
        for step in steps:
            if step.update or not updates_only:
                self.frames.append(step)
                self._before.append(w)
            w = step.w, float(step.b or 0.0)
        self.names = axis_names(names)
        self.window = around(self.X)

    @classmethod
    def of(cls, trace: Trace, limit: int | None = None, *, updates_only: bool = False) -> Self:
        """The frames of the first visits of a run, not drawn yet; of all visits by default."""
        run = trace._with_rows("FramesDisplay")
        X = run.problem.X
        X = X.toarray() if hasattr(X, "toarray") else X
        steps = trace.steps(None if updates_only else limit)
        own = cls(
            steps,
            X[:, :2] if X.shape[1] == 2 else X,
            run.problem.labels,
            trace.classes.tolist(),
            updates_only=updates_only,
            names=axis_names(trace),
        )
        own.frames, own._before = own.frames[:limit], own._before[:limit]
        return own

    @classmethod
    def from_trace(
        cls, trace: Trace, limit: int | None = 12, *, updates_only: bool = False, **options: Any
    ) -> Self:
        """Draw the first visits of a run, or the visits that made an update, in a strip."""
        return cls.of(trace, limit, updates_only=updates_only).plot(**options)

    def title(self, k: int) -> str:
        """What happens in frame k."""
        step = self.frames[k]
        score = f"{step.score:.4g}".replace("-", "−")
        bias = "" if step.b is None else " + b"
        return f"visit {step.visit}: w·x{bias} = {score}{', ' + step.outcome if step.outcome else ''}"

    def plot(self, axes: Any = None, *, columns: int = 4) -> Self:
        """Draw all frames in the given axes, or in a new figure with this many columns."""
        count = len(self.frames)
        if not count:
            raise ValueError("there is no visit to draw.")
        if axes is None:
            need_matplotlib()
            import matplotlib.pyplot as plt

            columns = min(columns, count)
            lines = -(-count // columns)
            size = SIDE * columns, SIDE * lines + 0.4
            shape: dict[str, Any] = {"figsize": size, "layout": "constrained", "sharex": True, "sharey": True}
            axes = plt.subplots(lines, columns, squeeze=False, **shape)[1]
        flat = np.ravel(axes)
        if len(flat) < count:
            raise ValueError(f"{count} frames do not fit into {len(flat)} axes: pass limit={len(flat)}.")
        for k, ax in enumerate(flat):
            if k < count:
                self.draw(ax, k)
                ax.label_outer()
            else:
                ax.set_visible(False)
        self.axes_, self.ax_, self.figure_ = flat, flat[0], flat[0].figure
        return self

    def draw(self, ax: Any, k: int) -> None:
        """Draw frame k in these axes."""
        step, (w, b) = self.frames[k], self._before[k]
        assert step.w is not None
        origin(ax)
        scatter_classes(ax, self.X, self.labels, self.classes, s=30)
        if step.update:
            line(ax, w, b, *self.window, color=GREY, lw=1.2, ls="--", label="before")
        after, bias = step.w, float(step.b or 0.0)
        line(ax, after, bias, *self.window, color=INK, lw=1.6, label="after")
        size = float(np.linalg.norm(after))
        if size:
            start = -bias / size**2 * after
            reach = ARROW * (self.window[0][1] - self.window[0][0])
            arrow(ax, start, start + after / size * min(size, reach), INK, "$w$", lw=1.4)
        at = np.asarray(step.x)[:2]
        ring = {"facecolors": "none", "edgecolors": RED if step.mistake else INK, "zorder": 6}
        ax.scatter(*at, s=150, lw=1.8 if step.mistake else 1.2, **ring)
        if step.mistake:
            ax.scatter(*at, s=46, marker="x", c=INK, lw=1.4, zorder=7)
        to_one_scale(ax, *self.window)
        ax.set_title(self.title(k), fontsize="small")
        ax.set(xlabel=self.names[0], ylabel=self.names[1])

    # -- moving pictures
    def animation(self, *, interval: int = 900, size: float = 4.0) -> Any:
        """The frames as a `matplotlib.animation.FuncAnimation`, `interval` milliseconds each.

        `animation().to_jshtml()` shows it in a notebook, and `animation().save("run.gif")` writes a file.
        """
        need_matplotlib()
        from matplotlib.animation import FuncAnimation

        figure = self._figure(size)
        ax = figure.add_subplot()

        def show(k: int) -> list[Any]:
            ax.clear()
            self.draw(ax, k)
            return []

        return FuncAnimation(figure, show, frames=len(self.frames), interval=interval, init_func=list)

    def save_frames(self, folder: str | PathLike[str], *, size: float = 4.0, dpi: int = 100) -> list[Path]:
        """Write each frame as frame-001.png, frame-002.png, … into a folder; the same bytes every time."""
        from io import BytesIO

        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        paths, figure = [], self._figure(size)
        ax = figure.add_subplot()
        for k in range(len(self.frames)):
            ax.clear()
            self.draw(ax, k)
            drawn = BytesIO()
            figure.savefig(drawn, format="png", dpi=dpi, metadata={"Software": None})
            paths.append(target / f"frame-{k + 1:03d}.png")
            with replacing(paths[-1]) as file:
                file.write(drawn.getvalue())
        return paths

    @staticmethod
    def _figure(size: float) -> Any:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(size, size), layout="constrained")
        FigureCanvasAgg(figure)
        return figure
