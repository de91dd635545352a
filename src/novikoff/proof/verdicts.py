"""The verdicts on a problem: separable, inseparable or undecided, each with its proof."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.outward import ceil_text, floor_text
from novikoff.proof.problem import Pairs
from novikoff.shown import Shown
from novikoff.training.weights import Floats

Integers = npt.NDArray[np.object_]  # of Python's integers
ByPair = dict[tuple[Any, Any], str]

DECIMAL = 10_000  # bits up to which an integer is written in decimal


def _plain(by_pair: ByPair | None) -> list[dict[str, Any]] | None:
    if by_pair is None:
        return None
    return [
        {"classes": [c.item() if hasattr(c, "item") else c for c in pair], "verdict": verdict}
        for pair, verdict in by_pair.items()
    ]


def _whole(number: int) -> str:
    """An integer as text, because JSON readers truncate long ones; in hexadecimal beyond `DECIMAL` bits."""
    return str(number) if abs(number).bit_length() < DECIMAL else f"{number:#x}"


def _numbers(values: Floats | Integers) -> list[Any]:
    if values.dtype != object:
        return values.tolist()  # type: ignore[no-any-return]
    return [_numbers(v) if isinstance(v, np.ndarray) else _whole(v) for v in values]


def _pairs_line(by_pair: ByPair | None) -> str:
    if not by_pair:
        return ""
    counts = [list(by_pair.values()).count(word) for word in ("separable", "inseparable", "undecided")]
    return "; of {} pairs of classes {} separable, {} inseparable, {} undecided".format(len(by_pair), *counts)


@dataclass(frozen=True, eq=False, repr=False)
class Separable(Shown):
    """u·z > 0 for every z: `coef` and `intercept`, the witness, were checked exactly.

    They are floats if the floats found separate the rows, otherwise arrays of Python integers, which may be
    long. `u` is the same vector in floats, up to rounding, with the last coordinate intercept/c. For a kernel
    no witness is given: these arrays are empty, and the margin is not computed (NaN).
    """

    u: Floats  # of the problem's shape, of any length
    coef: Floats | Integers  # (1 or classes, features)
    intercept: Floats | Integers
    margin: float  # of the witness, rounded down, so that margin ≤ γ; 0 if it underflows
    upper: float  # ≥ γ
    how: str
    by_pair: ByPair | None = None  # verdicts for each pair of classes; None with two classes
    consistent: bool = True

    verdict = "separable"

    def to_dict(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "how": self.how,
            "consistent": True,
            "margin": None if math.isnan(self.margin) else self.margin,
            "upper": self.upper if math.isfinite(self.upper) else None,
            "coef": _numbers(self.coef),
            "intercept": _numbers(self.intercept),
            "by_pair": _plain(self.by_pair),
        }

    def __str__(self) -> str:
        bracket = (
            "" if math.isnan(self.margin) else f", {floor_text(self.margin)} ≤ γ ≤ {ceil_text(self.upper)}"
        )
        return f"separable ({self.how}){bracket}{_pairs_line(self.by_pair)}"


@dataclass(frozen=True, eq=False, repr=False)
class Inseparable(Shown):
    """Σ weights·z[pairs] = 0 with positive integers: by Gordan's theorem no u has u·z > 0 for every z."""

    pairs: Pairs  # indices of z, at most dimension + 1; see `problem`
    weights: tuple[int, ...]  # exact, without a common factor
    shape: tuple[int, ...]  # of arrays over the z
    consistent: bool | None  # whether zero errors are possible under the tie rule; None: unknown
    how: str
    by_pair: ByPair | None = None

    verdict = "inseparable"

    @property
    def rows(self) -> Pairs:
        return self.pairs // self.shape[1] if len(self.shape) > 1 else self.pairs

    @property
    def rivals(self) -> Pairs | None:
        """With three classes or more, the class c of each z, which is compared with the row's class."""
        return self.pairs % self.shape[1] if len(self.shape) > 1 else None

    @property
    def alpha(self) -> Floats:
        """The weights as floats that sum to 1, in the shape of arrays over the z."""
        alpha = np.zeros(self.shape)
        total = sum(self.weights)
        alpha.flat[self.pairs] = [weight / total for weight in self.weights]
        return alpha

    def to_dict(self) -> dict[str, Any]:
        rivals = self.rivals
        return {
            "verdict": self.verdict,
            "how": self.how,
            "consistent": self.consistent,
            "rows": self.rows.tolist(),
            "rivals": None if rivals is None else rivals.tolist(),
            "weights": [_whole(weight) for weight in self.weights],
            "by_pair": _plain(self.by_pair),
        }

    def __str__(self) -> str:
        also = {True: ", yet zero errors are possible", False: "", None: ", zero errors: undecided"}
        text = f"inseparable ({self.how}): {len(self.pairs)} weighted rows cancel out"
        return text + also[self.consistent] + _pairs_line(self.by_pair)


@dataclass(frozen=True, eq=False, repr=False)
class Undecided(Shown):
    """A limit was reached before a verdict. lower ≤ γ ≤ upper; `alpha` is the witness of the upper bound."""

    lower: float  # the best γ_u found, or −∞; at most 0
    upper: float
    alpha: Floats
    reason: str
    consistent: bool | None = None
    by_pair: ByPair | None = None
    interrupted: bool = False

    verdict = "undecided"

    def to_dict(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "consistent": self.consistent,
            "lower": self.lower if math.isfinite(self.lower) else None,
            "upper": self.upper if math.isfinite(self.upper) else None,
            "interrupted": self.interrupted,
            "by_pair": _plain(self.by_pair),
        }

    def __str__(self) -> str:
        also = {True: ", zero errors are possible", False: ", zero errors are impossible", None: ""}
        known = f"{floor_text(self.lower)} ≤ " if math.isfinite(self.lower) else ""
        bracket = f"{known}γ ≤ {ceil_text(self.upper)}" if math.isfinite(self.upper) else "γ is not known"
        return f"undecided ({self.reason}): {bracket}{also[self.consistent]}{_pairs_line(self.by_pair)}"


Verdict = Separable | Inseparable | Undecided
