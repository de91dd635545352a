"""The report of a fit: counts with their bounds, the bracket of the margin, the verdict."""

from __future__ import annotations

import html
import math
from dataclasses import asdict, dataclass
from typing import Any

from novikoff.outward import ceil_count, ceil_text, floor_count, floor_text
from novikoff.training.riffle import in_words
from novikoff.training.run import Run


@dataclass(frozen=True)
class Figures:
    """The figures that a family adds to those of every `Run`; see `Report` for each."""

    rule: str
    n_features: int
    n_classes: int | None
    mistakes: int
    updates: int
    radius: float
    margin_upper: float
    bound: str
    bound_lower: float
    bound_upper: float
    margin: float | None = None  # None: as in the run
    settled: tuple[int, int] | None = None  # decisions by compensated sums and by the accumulator, if counted
    what: str = "rows"
    log2_radius: float | None = None
    values_rounded: bool = False
    assumed: str = ""
    missing: str = ""


def report_of(run: Run, figures: Figures, name: str, order: str) -> Report:
    """The report on `run`; `name` and `order` are shown unchanged."""
    timed = bool(run.history) and all("seconds" in record for record in run.history)  # else from a file
    settled = figures.settled if timed and figures.settled is not None else (None, None)
    own = {key: value for key, value in vars(figures).items() if key not in ("margin", "settled")}
    return Report(
        **own,
        model=name,
        n_rows=run.n_rows,
        n_epochs=len(run.history),
        converged=run.converged,
        last_epoch_mistakes=int(run.history[-1]["mistakes"]) if run.history else 0,
        verdict=run.verdict,
        consistent=run.consistent,
        margin=run.margin if figures.margin is None else figures.margin,
        training_errors=run.training_errors,
        compensated=settled[0],
        accumulator=settled[1],
        order=f"{figures.what} in the order of arrival" if run.as_given else in_words(order),
        seconds=sum(record["seconds"] for record in run.history) if timed else None,
        n_shards=run.n_shards,
        mixed=run.mixed if run.n_shards > 1 else None,
    )


@dataclass(frozen=True)
class Report:
    """The outcome of a fit: `str(report)` for people, `report.to_dict()` for programs.

    The bound is known up to a bracket, because training itself brackets the margin γ:
    the witness's margin ≤ γ ≤ ‖w‖/Στ. `bound_upper` is infinite if the data were not separated.
    `bound_lower` is infinite if γ ≤ 0 was proved: then nothing separates the data, and there is no bound.
    Brackets and their printed digits are rounded outward. A bound is stated only if the run meets the
    theorem's hypotheses; otherwise `missing` names one that it does not meet.
    """

    model: str
    rule: str
    n_rows: int
    n_features: int
    n_classes: int | None  # None: the outputs are not classes
    n_epochs: int
    converged: bool
    mistakes: int
    updates: int
    last_epoch_mistakes: int
    verdict: str
    consistent: bool | None
    radius: float
    margin: float
    margin_upper: float
    bound: str  # empty if none holds: with a budget
    bound_lower: float
    bound_upper: float
    training_errors: int | None
    compensated: int | None  # None, like `seconds`, for a report from a file
    accumulator: int | None
    order: str
    seconds: float | None  # None for a model loaded from a file
    log2_radius: float | None = None  # if the radius itself overflows
    n_shards: int = 0  # number of shards whose weights were mixed; 0: no mixing
    mixed: float | None = None  # Σ μ·k, the bounded count: each shard's count times its mixing weight
    what: str = "rows"  # the plural name of the examples
    values_rounded: bool = False  # kernel values were rounded; decisions are exact for the rounded values
    assumed: str = ""  # a hypothesis of the theorem and the margin that cannot be checked; empty: none
    missing: str = ""  # a hypothesis of the theorem that the run does not meet; empty: none

    def to_dict(self) -> dict[str, Any]:
        """All figures by name."""
        return asdict(self)

    def _lines(self) -> list[tuple[str, str]]:
        count = "updates" if self.rule in ("margin", "structured", "cost-augmented") else "mistakes"
        if self.mixed is not None:
            count = f"Σ μ·{count} = {floor_count(self.mixed)}"
        lines = [
            ("data", self._data()),
            ("verdict", self._verdict()),
            ("epochs", f"{self.n_epochs:,} ({self._ending()}), {self.order}{self._time()}"),
            ("mistakes", f"{self.mistakes:,} in all, {self.last_epoch_mistakes:,} in the last epoch"),
            ("updates", f"{self.updates:,}"),
            ("bound", self._bound(count)),
            ("margin", self._margin()),
            (
                "radius",
                f"R = {self.radius:.6g}" if self.log2_radius is None else f"R = 2^{self.log2_radius:.6g}",
            ),
        ]
        if self.training_errors is not None:
            lines.append(("errors", f"{self.training_errors:,} on the training {self.what}"))
        if self.compensated is not None:
            close = f"{self.compensated:,} decision(s) too close for plain floating point, decided exactly"
            lines.append(("exactness", close))
        return lines

    def _data(self) -> str:
        if self.n_classes is None:
            return f"{self.n_rows:,} examples, weights for {self.n_features:,} features"
        shards = f", {self.n_shards:,} shard(s)" if self.n_shards else ""
        return f"{self.n_rows:,} {self.what} × {self.n_features:,} features, {self.n_classes} classes{shards}"

    def _verdict(self) -> str:
        if self.n_classes is None:
            return self._structured_verdict()
        if self.verdict == "separated":
            if self.what == "sentences":
                return "separated: every sentence's own labels are strictly above all others, checked exactly"
            rounded = " for the kernel values as rounded" if self.values_rounded else ""
            return f"separated: every row lies strictly on its own side, checked exactly{rounded}"
        if self.verdict == "inseparable":
            return f"inseparable: no weights put all of these {self.what} on their own sides, as was proved"
        if self.consistent:
            tied = "scores are equal" if self.what == "sentences" else "score is exactly 0"
            return f"undecided: consistent (no training error), but some {tied}"
        if self.consistent is None:
            return f"undecided: the last weights were not checked against the {self.what}"
        return f"undecided: the last weights misclassify some {self.what}"

    def _structured_verdict(self) -> str:
        if self.verdict == "separated":
            return "separated: every right output scores strictly more than any other"
        if self.verdict == "consistent":
            return "consistent: every output is right, but the decoder may miss the best one"
        if self.consistent:
            return "undecided: consistent (every output is right), but another one has the same score"
        if self.consistent is None:
            return "undecided: the last weights were not checked against the examples"
        return "undecided: the last weights still get examples wrong"

    def _ending(self) -> str:
        return "converged" if self.converged else "not converged"

    def _time(self) -> str:
        return "" if self.seconds is None else f", {self.seconds:.3g} s"

    def _bound(self, count: str) -> str:
        if not self.bound:
            return "none: Novikoff's proof needs every update, and a budget removes or projects some"
        if self.missing:
            return f"{self.bound} is not stated: {self.missing}"
        if self._none_separates():
            return (
                f"{self.bound}: none, nothing separates these {self.what} (w = 0 after an update proves it)"
            )
        if not math.isfinite(self.bound_upper) and self.bound_lower == 0:
            return f"{self.bound}: γ is unknown so far"
        low, high = floor_count(self.bound_lower), ceil_count(self.bound_upper)
        assumed = f", {self.assumed}" if self.assumed else ""
        if not math.isfinite(self.bound_upper):
            return f"{count} ≤ {self.bound}{assumed}, if the data are separable: then {self.bound} ≥ {low}"
        return f"{count} ≤ {self.bound}, which lies between {low} and {high}{assumed}"

    def _none_separates(self) -> bool:
        """Whether γ ≤ 0 was proved by a sum of steps that is 0."""
        return self.margin_upper == 0

    def _margin(self) -> str:
        bounded = math.isfinite(self.margin_upper)
        upper = f"γ ≤ {ceil_text(self.margin_upper)}"
        assumed = f", {self.assumed}" if self.assumed else ""
        if self.verdict == "separated" and self.margin >= 0:
            return f"{floor_text(self.margin)} ≤ " + (upper if bounded else "γ") + assumed
        if self._none_separates():
            return f"{upper} (‖w‖/Στ): nothing separates these {self.what}"
        unknown = "no separating weights found yet"
        if self.verdict == "separated":
            unknown = "the gap to the next best outputs is unknown"
            if self.n_classes is not None:
                unknown = (
                    f"the margin of w is unknown: {self.missing or 'the scores are within rounding of 0'}"
                )
        return f"{upper} (‖w‖/Στ){assumed}; {unknown}" if bounded else unknown

    def __str__(self) -> str:
        return "\n".join([self.model, *(f"  {name:<10} {text}" for name, text in self._lines())])

    def _repr_html_(self) -> str:
        left = "style='text-align:left'"
        rows = "".join(
            f"<tr><th {left}>{name}</th><td {left}>{html.escape(text)}</td></tr>"
            for name, text in self._lines()
        )
        caption = f"<caption {left}><b>{html.escape(self.model)}</b></caption>"
        return f"<table>{caption}<tbody>{rows}</tbody></table>"
