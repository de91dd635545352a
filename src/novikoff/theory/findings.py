"""What a diagnosis finds, and how it shows it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from novikoff import __version__
from novikoff.modelfile.json_value import to_json_value
from novikoff.outward import at_least, at_most, ceil_text, floor_text, up
from novikoff.proof.separability import Verdict
from novikoff.shown import Shown
from novikoff.theory.advice import advise
from novikoff.theory.contradictions import Contradictions
from novikoff.theory.formulas import Bound
from novikoff.theory.hindsight import Hindsight
from novikoff.theory.trace import Trace
from novikoff.theory.trials import Orders
from novikoff.theory.ways import Trial
from novikoff.theory.words import PYTHON, Words
from novikoff.training.summary import theorem
from novikoff.training.weights import Floats, Settings

KINDS = ("perceptron", "normalized")


@dataclass(frozen=True)
class Bracket:
    """lower ≤ γ ≤ upper; lower is −∞ if unknown."""

    lower: float
    upper: float

    def __str__(self) -> str:
        if not math.isfinite(self.upper):
            return "nothing is known about γ"
        if self.lower <= 0:
            proved = "γ ≤ 0: nothing separates these rows (proved)"
            return f"γ ≤ {ceil_text(self.upper)}" if self.upper > 0 else proved
        return f"{floor_text(self.lower)} ≤ γ ≤ {ceil_text(self.upper)}"


@dataclass(frozen=True)
class Made:
    """The outcome of a run in the given order of the rows."""

    mistakes: int
    first_epoch: int
    epochs: int
    converged: bool


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Shown):
    """The result of `diagnose`: `str` for people, `to_dict` for programs, `to_html` for a page with pictures.

    Parts that were not reached before the time limit or Ctrl-C are None or empty; `interrupted` records this.
    """

    n_rows: int
    n_features: int
    class_counts: dict[str, int]
    fit_intercept: bool
    intercept_scaling: float
    ties: str
    radius: float  # R, in the lifted space, rounded up
    row_radius: float  # the largest ‖x‖, without the bias coordinate
    spread: float  # the largest distance from the mean row; NaN for sparse rows
    heaviest: float  # the largest weight of a row
    in_runs: bool  # rows of one class are adjacent
    radius_square: tuple[Fraction | float, Fraction | float] = (0.0, math.inf)  # lower and upper bound on R²
    contradictions: Contradictions | None = None
    proof: Verdict | None = None  # the verdict with its witness
    verdict_with_bias: str = "undecided"
    verdict_without_bias: str = "undecided"
    margin: Bracket = field(default_factory=lambda: Bracket(-math.inf, math.inf))
    unit_margin: Bracket = field(default_factory=lambda: Bracket(-math.inf, math.inf))  # γₙ
    run: Made | None = None
    overflow: str = ""  # why there is no run, if the weights would overflow
    orders: list[Orders] = field(default_factory=list)
    hindsight: Hindsight | None = None
    trials: list[Trial] = field(default_factory=list)
    margins: Floats | None = None  # of all or some rows, under the best weights known
    trace: Trace | None = None
    seconds: float = 0.0
    interrupted: bool = False
    asked: dict[str, Any] = field(default_factory=dict)  # n_orders, random_state and time_limit
    words: Words = PYTHON  # of the interface in use

    @property
    def verdict(self) -> str:
        """The verdict with or without a bias, as requested by `fit_intercept`."""
        return self.verdict_with_bias if self.fit_intercept else self.verdict_without_bias

    @property
    def n_classes(self) -> int:
        return len(self.class_counts)

    @property
    def guess_rate(self) -> float:
        """The error rate of always predicting the most frequent class."""
        return 1 - max(self.class_counts.values()) / self.n_rows

    @property
    def best_way(self) -> Trial | None:
        """The way with the fewest errors if it clearly beats the defaults on the same splits; else these."""
        if not self.trials:
            return None
        best, usual = min(self.trials, key=lambda t: t.rate), self.usual
        return best if usual is None or best.clearly_beats(usual) else usual

    @property
    def usual(self) -> Trial | None:
        """The trial of the defaults."""
        return next((t for t in self.trials if not t.way.parameters), None)

    @property
    def options(self) -> dict[str, Any]:
        """The parameters of the diagnosis."""
        own = ("fit_intercept", "intercept_scaling", "ties")
        return {name: getattr(self, name) for name in own} | self.asked

    @property
    def bounds(self) -> list[Bound]:
        """Each bound that applies, with the most mistakes made in any order tried."""
        most = {o.rule: int(o.mistakes.max()) for o in self.orders if len(o.mistakes)}
        found: list[Bound] = []
        if self.verdict == "separable":
            copies = 2 if self.n_classes > 2 else 1
            squares = self.radius_square
            if squares[1] == math.inf:
                squares = 0.0, Fraction(self.radius) ** 2
            if self.run is not None:
                most["perceptron"] = max(most.get("perceptron", 0), self.run.mistakes)
            for rule, name, margin in zip(
                KINDS, ("Novikoff", "normalized"), (self.margin, self.unit_margin), strict=True
            ):
                least, (formula, top) = (
                    theorem(Settings(rule=rule), s, self.heaviest, copies) for s in squares
                )
                low, high = at_least(least[1], margin.upper), at_most(top, margin.lower)
                parts = {"R²": up(top), "gamma_lower": margin.lower, "gamma_upper": margin.upper}
                where = "any order, any number of epochs"
                found.append(Bound(name, formula, high, low, high, parts, where, "mistakes", most.get(rule)))
        if self.hindsight is not None:
            best = self.hindsight
            firsts = [most["perceptron"]] if "perceptron" in most and self.orders[0].one_pass else []
            firsts += [self.run.first_epoch] if self.run is not None else []
            parts = {"R": best.radius, "v_norm": best.v_norm, "loss": best.loss}
            formula, where = "min (R‖v‖ + ‖hinge(v)‖)²", "one pass in any order"
            low, high, made = best.dual_value, best.value, max(firsts, default=None)
            found.append(Bound("best in hindsight", formula, high, low, high, parts, where, "mistakes", made))
        return found

    @property
    def advice(self) -> list[str]:
        """Advice in plain words, the most important first."""
        return advise(self)

    def to_dict(self) -> dict[str, Any]:
        """All findings; every number is finite or None."""
        best = self.best_way
        findings = {
            "version": __version__,
            "options": self.options,
            "rows": self.n_rows,
            "features": self.n_features,
            "classes": self.class_counts,
            "fit_intercept": self.fit_intercept,
            "intercept_scaling": self.intercept_scaling,
            "ties": self.ties,
            "verdict": self.verdict,
            "verdict_with_bias": self.verdict_with_bias,
            "verdict_without_bias": self.verdict_without_bias,
            "proof": None if self.proof is None else _proof(self.proof),
            "contradictions": None if self.contradictions is None else vars(self.contradictions),
            "radius": self.radius,
            "row_radius": self.row_radius,
            "spread": self.spread,
            "classes_in_runs": self.in_runs,
            "margin": vars(self.margin),
            "unit_margin": vars(self.unit_margin),
            "bounds": [bound.to_dict() for bound in self.bounds],
            "run": None if self.run is None else vars(self.run),
            "overflow": self.overflow,
            "orders": [orders.to_dict() for orders in self.orders],
            "hindsight": None if self.hindsight is None else self.hindsight.to_dict(),
            "held_out": [trial.to_dict() for trial in self.trials],
            "best_way": None if best is None else vars(best.way),
            "guess_rate": self.guess_rate,
            "advice": self.advice,
            "seconds": self.seconds,
            "interrupted": self.interrupted,
        }
        found: dict[str, Any] = to_json_value(findings)
        return found

    def __str__(self) -> str:
        from novikoff.theory.diagnosis_text import as_text

        return as_text(self)

    def to_html(self, *, pictures: bool | None = None) -> str:
        """A self-contained page; with pictures if `pictures`, by default if matplotlib is installed."""
        from novikoff.theory.diagnosis_text import as_page

        return as_page(self, pictures)

    def __repr__(self) -> str:
        best = self.best_way
        found = f"{self.n_rows:,} × {self.n_features:,}, {self.n_classes} classes: {self.verdict}"
        if best is not None:
            found += f"; best way: {best.way}, {best} errors"
        return f"<Diagnosis of {found}>"

    def _repr_html_(self) -> str:
        from novikoff.theory.diagnosis_text import as_fragment

        return as_fragment(self)


def _proof(proof: Verdict) -> dict[str, Any]:
    """How it was decided, without the long lists of weights."""
    return {k: v for k, v in proof.to_dict().items() if k not in ("coef", "intercept")}
