"""Ways to learn, tried on held-out rows: several times, each with other rows held out and in another order.

How often, and on how many rows, follows from a count of steps and never from the clock, so that the figures
are the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff.data.arrays import is_sparse
from novikoff.data.scaling import Scaling
from novikoff.data.sources.features import Features
from novikoff.parameters.commands import FILE_PARAMETERS
from novikoff.parameters.common import AUTO
from novikoff.parameters.linear import PERCEPTRON_PARAMETERS
from novikoff.proof.problem import Problem
from novikoff.shown import Shown
from novikoff.training.linear import fit
from novikoff.training.plan import Plan
from novikoff.training.weights import Floats, Model, Settings

Rows = npt.NDArray[np.int64]

EPOCHS = 10  # those with which max_epochs="auto" begins
HELD_OUT = 0.25  # of each class
LEAST_SPLITS, MOST_SPLITS = 5, 10
LEAST_ROWS, MOST_ROWS = 1000, 100_000  # of a split
SHARE = 0.4  # of the time limit
VISIT, DENSE, SPARSE = 150.0, 1.0, 10.0  # nominal nanoseconds: of a visit, and of a value for four classes
CLEARLY = 2.0  # standard errors. The splits share rows, so that one standard error says less than it seems
# to: Nadeau and Bengio (2003) double it for ten splits that hold out a quarter


@dataclass(frozen=True)
class Way:
    """A way to learn, as parameters of `Perceptron` (`scale`: also of files); the defaults are theirs."""

    rule: str = PERCEPTRON_PARAMETERS["rule"].default
    average: bool | str = PERCEPTRON_PARAMETERS["average"].default
    scale: str | None = FILE_PARAMETERS["scale"].default

    @property
    def parameters(self) -> dict[str, Any]:
        """Those that are not the defaults."""
        values = ((field, getattr(self, field.name)) for field in fields(self))
        return {field.name: value for field, value in values if value != field.default}

    def __str__(self) -> str:
        own = self.parameters
        parts = [self.rule]
        parts += ["averaged" if self.average else "not averaged"] * ("average" in own)
        parts += [f"scale {self.scale}" if self.scale else "not scaled"] * ("scale" in own)
        return ", ".join(parts) if own else f"{self.rule} (the defaults)"


WAYS = (
    Way(),  # the defaults, unless another way clearly beats them
    Way(average=False),
    Way("normalized"),
    Way("pa1"),
    Way(scale="maxabs"),
    Way(scale="standard"),
    Way("arow"),
    Way("scw"),
)


@dataclass(frozen=True, repr=False)
class Trial(Shown):
    """Errors of a way on the held-out rows of each split."""

    way: Way
    errors: tuple[int, ...]
    rows: tuple[int, ...]

    @property
    def rates(self) -> Floats:
        """The error rate of each split."""
        rates: Floats = np.array(self.errors) / np.array(self.rows)
        return rates

    @property
    def rate(self) -> float:
        """Their mean."""
        return float(self.rates.mean())

    @property
    def doubt(self) -> float:
        """The standard error of the mean over the splits; of one split, that of a binomial distribution."""
        if len(self.errors) > 1:
            return _standard_error(self.rates)
        p = (self.errors[0] + 1) / (self.rows[0] + 2)
        return math.sqrt(p * (1 - p) / self.rows[0])

    def clearly_beats(self, other: Trial) -> bool:
        """Whether the rate is lower, by more than `CLEARLY` standard errors of the mean difference."""
        differences = other.rates - self.rates  # on the same splits
        doubt = math.hypot(self.doubt, other.doubt)
        if len(differences) > 1:
            doubt = _standard_error(differences)
        return bool(differences.mean() > CLEARLY * doubt)

    def to_dict(self) -> dict[str, Any]:
        figures = {"errors": list(self.errors), "rows": list(self.rows)}
        return vars(self.way) | figures | {"rate": self.rate, "standard_error": self.doubt}

    def __repr__(self) -> str:
        return f"<Trial of {self.way}: {self} errors>"

    def __str__(self) -> str:
        return f"{100 * self.rate:.2f} ± {100 * self.doubt:.2f} %"


def _standard_error(values: Floats) -> float:
    return float(values.std(ddof=1) / math.sqrt(len(values)))


class Effort(NamedTuple):
    """How many splits are made, of how many rows, and the seconds that they take on a nominal machine."""

    splits: int
    rows: int
    seconds: float

    @classmethod
    def of(cls, problem: Problem, time_limit: float | None) -> Effort:
        """What a share of the time limit allows on that machine, but at least the least.

        >>> from novikoff.proof.problem import read_problem
        >>> problem = read_problem(np.ones((50_000, 100)), np.arange(50_000) % 2)
        >>> [Effort.of(problem, limit)[:2] for limit in (60.0, 1.0, None)]
        [(10, 50000), (5, 5333), (10, 50000)]
        """
        X, n = problem.X, min(problem.n_rows, MOST_ROWS)
        values = (len(X.data) if is_sparse(X) else X.size) / problem.n_rows
        columns = problem.n_classes if problem.is_joint else 1
        visit = VISIT + values * (SPARSE if is_sparse(X) else DENSE) * -(-columns // 4)
        row = 1e-9 * visit * (1 - HELD_OUT) * EPOCHS * len(WAYS)
        if time_limit is None:
            return cls(MOST_SPLITS, n, row * n * MOST_SPLITS)
        rows = int(SHARE * time_limit / row)  # of all splits
        splits = min(max(rows // n, LEAST_SPLITS), MOST_SPLITS)
        n = min(n, max(rows // splits, LEAST_ROWS))
        return cls(splits, n, row * n * splits)


def split(labels: npt.NDArray[np.int32], rows: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """A random sample of `rows` rows, in parts to learn from and to judge by: a quarter of each class."""
    chosen = np.sort(rng.permutation(len(labels))[:rows])
    of_class = labels[chosen]
    shuffled = rng.permutation(len(chosen))
    by_class = shuffled[np.argsort(of_class[shuffled], kind="stable")]
    sizes = np.bincount(of_class)
    place = np.arange(len(chosen)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    held = np.zeros(len(chosen), dtype=bool)
    held[by_class] = place < np.repeat(np.floor(HELD_OUT * sizes), sizes)
    return chosen[~held], chosen[held]


def held_out(
    problem: Problem,
    ties: str,
    *,
    seed: int,
    time_limit: float | None = None,
    features: Features | None = None,
) -> Iterator[list[Trial]]:
    """Try each way on the same splits, the k-th of which has the order of random_state = seed + k.

    Yields the results after every split. A way is left out if its weights, or the squares in its scaling,
    would overflow.
    """
    splits, rows, _ = Effort.of(problem, time_limit)
    made: dict[Way, list[tuple[int, int]]] = {way: [] for way in WAYS}
    for k in range(splits):
        parts = split(problem.labels, rows, np.random.default_rng((seed, k)))
        learned, judged = map(problem.some, parts)
        if not judged.n_rows or len(np.unique(learned.labels)) < 2:
            return  # too few rows
        for scale in dict.fromkeys(way.scale for way in made):
            ways = [way for way in made if way.scale == scale]
            found = _judged(learned, judged, ways, ties, seed + k, features)
            for way in ways:
                if way in found:
                    made[way].append((found[way], judged.n_rows))
                else:
                    del made[way]
        if not made:
            return
        yield [
            Trial(way, tuple(errors for errors, _ in all), tuple(n for _, n in all))
            for way, all in made.items()
        ]


def _judged(
    learned: Problem, judged: Problem, ways: list[Way], ties: str, seed: int, features: Features | None
) -> dict[Way, int]:
    """The errors of ways with the same scaling."""
    try:
        a, b = _scaled(ways[0].scale, learned.X, judged.X, features)
    except ValueError:  # sums of squares overflow
        return {}
    a, b = replace(learned, X=a).lifted(), replace(judged, X=b).lifted()
    found: dict[Way, int] = {}
    for rule in dict.fromkeys(way.rule for way in ways):
        try:
            model = _model(a, Settings(rule=rule, ties=ties, bias_square=a.bias**2, average=AUTO), seed)
        except OverflowError:
            continue
        for way in ways:
            if way.rule == rule:
                averaged = model.averages if way.average == AUTO else bool(way.average)
                predicted = model.scorer(averaged=averaged).predict(b.X, -1)
                found[way] = int(np.count_nonzero(predicted != judged.labels))
    return found


def _model(problem: Problem, settings: Settings, seed: int) -> Model:
    plan = Plan(max_epochs=EPOCHS, order="riffle", rng=np.random.default_rng(seed))
    model, run = fit(problem.X, problem.labels, problem.n_classes, settings, plan, weights=problem.weights)
    if run.interrupted:
        raise KeyboardInterrupt
    return model


def _scaled(kind: str | None, learned: Any, judged: Any, features: Features | None) -> tuple[Any, Any]:
    if kind is None:
        return learned, judged
    scaling = Scaling.of_rows(kind, learned, features)
    return scaling.of(learned), scaling.of(judged)
