"""A bound with its ingredients, and the bounds that need no data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from novikoff.outward import ceil_count, ceil_text, floor_count
from novikoff.shown import Shown, in_short, table_html


@dataclass(frozen=True, repr=False)
class Bound(Shown):
    """One bound. `value` is what it allows; if that is known only up to a bracket, its safe end, `upper`.

    `lower` and `upper` are rounded outward. Both are infinite if it was proved that nothing separates the
    rows: then there is no bound.
    """

    name: str
    formula: str
    value: float
    lower: float
    upper: float
    ingredients: dict[str, float]
    holds_for: str  # the learner that is bounded, and the hypotheses
    counts: str  # "mistakes", "updates" or "risk"
    made: float | None = None  # the count of a run that the bound is about, if there is one
    missing: str = ""  # why there is no such count: a hypothesis that the model's run does not meet

    @property
    def holds(self) -> bool | None:
        """Whether the count is within the bound; None if there is no count."""
        return None if self.made is None else self.made <= self.upper

    def to_dict(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self)

    def __str__(self) -> str:
        if self.counts == "risk":
            text = ceil_text(self.value, 4) if self._sign == "≤" else f"{self.value:.4g}"
        elif self.lower == math.inf:
            text = "none: nothing separates these rows (proved)"
        elif not math.isfinite(self.upper):
            known = "nothing known"
            if self.lower:
                known = f"at least {floor_count(self.lower, whole=1000)} if the rows are separable"
            text = f"none ({known})"
        elif self.upper - self.lower > 0.0005 * self.upper:
            text = f"{floor_count(self.lower, whole=1000)} … {ceil_count(self.upper, whole=1000)}"
        else:
            text = ceil_count(self.upper, whole=1000)
        beside = "" if self.made is None else f", {self.made:,} made"
        if self.missing:
            beside = f", without a count: {self.missing}"
        return f"{self.name}: {self.counts} {self._sign} {self.formula} = {text}{beside}; {self.holds_for}"

    @property
    def _sign(self) -> str:
        return "≥" if self.name == "minimax" else "≤"


@dataclass(frozen=True, repr=False)
class Bounds(Shown):
    """All bounds for some rows: iterable, and indexed by name."""

    all: tuple[Bound, ...]
    missing: dict[str, str] = field(default_factory=dict)  # bounds that are not stated, and why

    def __iter__(self) -> Iterator[Bound]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)

    def __getitem__(self, name: str) -> Bound:
        for bound in self.all:
            if bound.name == name:
                return bound
        if name in self.missing:
            raise KeyError(f"{name!r} is not stated: {self.missing[name]}")
        raise KeyError(f"there is no bound {name!r}; there are {', '.join(b.name for b in self.all)}")

    def to_dict(self) -> dict[str, Any]:
        """Every bound by its name."""
        return {bound.name: bound.to_dict() for bound in self.all}

    def __str__(self) -> str:
        unsaid = [f"{name}: not stated: {why}" for name, why in self.missing.items()]
        return "\n".join([*map(str, self.all), *unsaid])

    def __repr__(self) -> str:
        return in_short(f"Bounds: {', '.join(bound.name for bound in self.all) or 'none'}")

    def _repr_html_(self) -> str:
        stated = ((bound.name, str(bound).removeprefix(f"{bound.name}: ")) for bound in self.all)
        return table_html([*stated, *((name, f"not stated: {why}") for name, why in self.missing.items())])


# ---- bounds that need no data ------------------------------------------------------------------------
def majority_bound(n: int, r: int, fit_intercept: bool = False, intercept_scaling: float = 1.0) -> float:
    """Mistakes on rows of n signs whose label is the majority of r of them, r odd: n·r, or (n + c²)·r.

    v with 1 at the r relevant places has |v·x| ≥ 1, as an odd sum of signs, and ‖v‖² = r. R² is n, or n + c²
    with a bias. So R²‖v‖² = n·r, or (n + c²)·r. All rows have the same norm, so normalizing changes nothing.

    >>> majority_bound(50, 5), majority_bound(50, 5, fit_intercept=True)
    (250.0, 255.0)
    """
    if not (isinstance(r, int | np.integer) and r % 2 == 1 and 1 <= r <= n):
        raise ValueError(f"r={r!r} is not possible: expected an odd number from 1 to n={n}.")
    return float((n + (intercept_scaling**2 if fit_intercept else 0)) * r)


def minimax_risk(n: int, d: int) -> float:
    """A lower bound for every learner: for some separable distribution in d dimensions, after n examples,

        E risk ≥ min((n − 1)/(2n), (d − 1)/(2n))·(1 − 1/n)^n.

    Take d orthonormal points, d − 1 of them (at most n − 1) of probability 1/n, with labels drawn by a fair
    coin. Each of these is unseen with probability (1 − 1/n)^n, and then missed with probability 1/2.

    >>> round(minimax_risk(100, 11), 6)
    0.018302
    """
    if n < 1 or d < 1:
        raise ValueError(f"n={n!r} and d={d!r} must be at least 1.")
    return min(n - 1, d - 1) / (2 * n) * (1 - 1 / n) ** n


def online_to_batch(mistakes: int, n: int, *, delta: float = 0.05) -> tuple[Bound, Bound]:
    """From the mistakes M of one pass over n independent examples to the risk of its weights.

    Let w₀ … w_{n−1} be the weights before each visit. Each is tested on an example that it has not seen, so

    - the expected risk of one of them, drawn at random, is E[M]/n ('gibbs');
    - with probability at least 1 − δ, their mean risk is at most M/n + √(ln(1/δ)/(2n)) (Cesa-Bianchi, Conconi
      and Gentile 2004, by the inequality of Azuma and Hoeffding for differences in an interval of length 1);
    - if their vote is wrong about x, at least half of them are: the vote has at most twice the mean risk.
      `VotedPerceptron` counts w₁ … w_n, whose mean risk is at most 1/n larger ('vote').

    This needs independent examples of one distribution and one pass; it does not cover later epochs.

    >>> [round(bound.value, 4) for bound in online_to_batch(100, 10_000)]
    [0.0222, 0.0447]
    """
    _check_counts(mistakes, n)
    if not 0 < delta < 1:
        raise ValueError(f"delta={delta!r} is not possible: expected a number between 0 and 1.")
    mean = mistakes / n
    high = min(mean + math.sqrt(math.log(1 / delta) / (2 * n)), 1.0)
    ingredients = {"M": float(mistakes), "n": float(n), "delta": delta, "mean": mean}
    needs = f"with probability {1 - delta:g}: independent examples, one pass"
    vote = min(2 * (high + 1 / n), 1.0)
    return (
        Bound(
            "online-to-batch",
            "M/n + √(ln(1/δ)/2n)",
            high,
            mean,
            high,
            ingredients,
            f"weights drawn at random from the pass, {needs}",
            "risk",
        ),
        Bound(
            "online-to-batch vote",
            "2·(M/n + √(ln(1/δ)/2n) + 1/n)",
            vote,
            vote,
            vote,
            ingredients,
            f"the vote of the pass, {needs}",
            "risk",
        ),
    )


def leave_one_out(mistakes: int, n: int, *, supports: int | None = None) -> tuple[Bound, ...]:
    """Error bounds by leaving one example out, for n independent examples.

    **vote** (Freund and Schapire 1999, after Helmbold and Warmuth 1995): let M be the mistakes of one pass
    over n examples. The vote of the weights w₀ … w_{n−1} of a pass over n − 1 examples errs on a new one
    with probability at most 2·E[M]/n, and so at most (2/n)·E[min_v (R‖v‖ + ‖hinge(v)‖₂)²].
    (`VotedPerceptron` leaves out w₀ = 0: then it is 2·E[M]/(n − 1).) The value is 2M/n, an unbiased estimate
    of 2·E[M]/n.

    **supports**: run a perceptron in the given order until an epoch passes without a mistake. Leaving out an
    example on which it never erred does not change the run, and the result is right on that example. So of
    the n runs that leave one example out (in the same order, until they converge), at most as many err on it
    as there are examples with updates, and the expected risk after n − 1 examples is at most E[supports]/n.

    >>> [round(bound.value, 3) for bound in leave_one_out(30, 1000, supports=25)]
    [0.06, 0.025]
    """
    _check_counts(mistakes, n)
    value = min(2 * mistakes / n, 1.0)
    needs = "in expectation, after n − 1 independent examples"
    ingredients = {"M": float(mistakes), "n": float(n)}
    found = [
        Bound(
            "leave-one-out vote",
            "2M/n",
            value,
            value,
            value,
            ingredients,
            f"the vote of one pass, {needs}",
            "risk",
        )
    ]
    if supports is not None:
        _check_counts(supports, n)
        share = supports / n
        text = f"the last weights of a cyclic run that converged, {needs}"
        ingredients = {"supports": float(supports), "n": float(n)}
        found.append(Bound("leave-one-out", "supports/n", share, share, share, ingredients, text, "risk"))
    return tuple(found)


def _check_counts(count: int, n: int) -> None:
    if not 0 <= count <= n or n < 1:
        raise ValueError(f"{count!r} of {n!r} examples is not possible: one pass counts each at most once.")
