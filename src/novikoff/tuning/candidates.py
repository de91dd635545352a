"""What tuning tries, and how well each of it did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from novikoff.parameters.linear import VARIANCE_RULES
from novikoff.parameters.tuning import TUNING_PARAMETERS
from novikoff.scoring import Tally
from novikoff.shown import Shown
from novikoff.training.weights import Settings

USES_C = ("pa1", "pa2", *VARIANCE_RULES)


@dataclass(frozen=True)
class Candidate:
    """One way to learn."""

    scale: str | None
    rule: str
    C: float  # for rules that use it; otherwise as in the settings
    average: bool
    epochs: int

    @property
    def rule_text(self) -> str:
        """The rule, with C if it uses it."""
        return self.rule + (f" C={self.C:g}" if self.rule in USES_C else "")

    def __str__(self) -> str:
        mean = ", averaged" if self.average else ""
        return f"{self.rule_text}{mean}, {self.epochs} epoch(s), scale {self.scale or 'none'}"


@dataclass(frozen=True)
class Grid:
    """The values to try, in every combination. On a tie the first with the fewest epochs wins."""

    rules: Sequence[str] = TUNING_PARAMETERS["rules"].default
    averages: Sequence[bool] = TUNING_PARAMETERS["averages"].default
    epochs: Sequence[int] = TUNING_PARAMETERS["epochs"].default
    scales: Sequence[str | None] = TUNING_PARAMETERS["scales"].default
    Cs: Sequence[float] = TUNING_PARAMETERS["Cs"].default

    def check(self) -> None:
        """Raise one clear error unless there is something to try and every value is legal."""
        for name, values in vars(self).items():
            TUNING_PARAMETERS[name].check(values)

    def learners(self, settings: Settings) -> list[Settings]:
        """The settings to run: one learner for both the last and the averaged weights."""
        return [
            replace(settings, rule=rule, C=C, average=any(self.averages))
            for rule in dict.fromkeys(self.rules)
            for C in (dict.fromkeys(map(float, self.Cs)) if rule in USES_C else [settings.C])
        ]


@dataclass(frozen=True, repr=False)
class Outcome(Shown):
    """How well a candidate did on held-out rows."""

    candidate: Candidate
    tallies: tuple[Tally, ...]  # per held-out part
    scoring: str = "accuracy"

    def __str__(self) -> str:
        return f"{self.candidate}: {self.scoring} {self.score:.4f}"

    @property
    def correct(self) -> tuple[int, ...]:
        """Right predictions per part."""
        return tuple(tally.n_right for tally in self.tallies)

    @property
    def held_out(self) -> tuple[int, ...]:
        return tuple(tally.n_rows for tally in self.tallies)

    @property
    def accuracy(self) -> float:
        """The share of right predictions on all held-out rows."""
        return sum(self.correct) / sum(self.held_out)

    @cached_property
    def score(self) -> float:
        """What decides: the figure of all held-out rows together; for the area, the mean over the parts."""
        if self.scoring == "auc":
            return sum(self.by_fold) / len(self.by_fold)
        return sum(self.tallies[1:], self.tallies[0]).value(self.scoring)

    @cached_property
    def by_fold(self) -> list[float]:
        """The figure of each part."""
        return [tally.value(self.scoring) for tally in self.tallies]
