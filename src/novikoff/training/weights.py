"""A linear model as plain data: weights, running sums, counts; growing, predicting, pickling.

Weights are stored by feature, `weights[j, c]`, so that the weights of a sparse feature for all classes share
a cache line; two classes share one column. `coef` gives the usual (classes, features) view.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff import _core
from novikoff.data.arrays import UnsortedIndices, in_any_order, raise_problem, rows_of
from novikoff.data.threads import results, threads
from novikoff.data.zero_tables import Indices, copied, is_large, side_by_side, spread, used_rows, zeros
from novikoff.outward import LARGEST, UNIT, Enclosure, enclosed_square, root_up
from novikoff.parameters.common import AUTO
from novikoff.parameters.linear import LINEAR_PARAMETERS, PHI, VARIANCE_RULES, phi_of
from novikoff.parameters.parameter import from_parameters
from novikoff.training.averaging import mean_weights
from novikoff.training.ledger import Ledger

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

ORDINARY = 1e-280, 1e280  # squares of numbers that neither vanish nor overflow
AS_GIVEN = _core.Rule("perceptron", bias_square=0.0)  # for weights that only predict
BEYOND = Fraction(2) ** 2300  # above any sum of squares of doubles


@dataclass(frozen=True)
class Settings:
    """The parameters of a learner's rule: its condition for an update, and its step."""

    rule: str = LINEAR_PARAMETERS["rule"].default
    ties: str = LINEAR_PARAMETERS["ties"].default
    margin: float = LINEAR_PARAMETERS["margin"].default
    C: float = LINEAR_PARAMETERS["C"].default
    bias_square: float = LINEAR_PARAMETERS["intercept_scaling"].default ** 2
    average: bool | str = LINEAR_PARAMETERS["average"].default  # "auto": the mean, unless the last are right
    multiclass: str = LINEAR_PARAMETERS["multiclass"].default
    phi: float = PHI  # Φ⁻¹(η) of 'scw'

    @classmethod
    def of(cls, owner: Any) -> Settings:
        """The settings given by the parameters of an estimator or of a command."""
        scale = getattr(owner, "intercept_scaling", LINEAR_PARAMETERS["intercept_scaling"].default)
        square = float(scale) ** 2 if owner.fit_intercept else 0.0
        phi = phi_of(owner.eta) if hasattr(owner, "eta") else PHI
        return from_parameters(cls, owner, bias_square=square, phi=phi)

    @property
    def has_variances(self) -> bool:
        """Whether the rule keeps a variance for each weight."""
        return self.rule in VARIANCE_RULES

    def tables(self) -> list[tuple[str, str]]:
        """The attributes of `Weights` that hold what was learned: of the weights, and of the bias."""
        sums, variances = bool(self.average), self.has_variances
        return (
            [("weights", "bias")]
            + [("weight_sums", "bias_sums")] * sums
            + [("confidences", "bias_confidences")] * variances
        )


def width(n_classes: int) -> int:
    """Columns of the weight array: one for two classes, else padded to a multiple of four."""
    return 1 if n_classes == 2 else -(-n_classes // 4) * 4


class Weights:
    """Weights with their native learner; `n_classes` ≥ 2."""

    COUNTS = (
        "visits",
        "mistakes",
        "updates",
        "ties",
        "step_sum",
        "radius",
        "square_low",
        "square_high",
        "drift",
        "largest_row",
        "most_stored",
        "fallbacks",
    )

    weights: Floats
    bias: Floats
    weight_sums: Floats | None = None  # for the average
    bias_sums: Floats | None = None
    confidences: Floats | None = None  # 1/σ − 1 of each weight, under a rule with variances
    bias_confidences: Floats | None = None
    factors: Floats | None = None  # of the columns, with which rows are learned: see `set_factors`

    def __init__(
        self, n_classes: int, n_features: int, settings: Settings, used: Indices | None = None
    ) -> None:
        """`used`: the only rows that the caller will fill, if known."""
        self.n_classes, self.settings = n_classes, settings
        for table, bias in settings.tables():
            setattr(self, table, zeros((n_features, width(n_classes)), used=used))
            setattr(self, bias, np.zeros(width(n_classes)))
        self._connect(zero=True)

    def _connect(self, *, zero: bool = False) -> None:
        s = self.settings
        rule = _core.Rule(s.rule, s.ties == "mistake", s.margin, s.C, s.bias_square, s.phi)
        sums = None
        if self.weight_sums is not None and self.bias_sums is not None:
            sums = self.weight_sums, self.bias_sums
        self.native = _core.Learner(self.n_classes, self.weights, self.bias, rule, sums, zero)
        if self.factors is not None:
            self.native.set_factors(self.factors)
            if not zero:
                self.native.measure_norm()
        if self.confidences is not None and self.bias_confidences is not None:
            self.native.set_confidences((self.confidences, self.bias_confidences))
        self._norm: tuple[int, float] | None = None  # the norm, after this many updates
        self._used: tuple[int, Indices] | None = None  # the rows used, after this many updates

    def set_factors(self, factors: Floats | None) -> None:
        """From now on, learn rows z whose columns are those of x times these powers of two; None: x itself.

        The weights are still those of x, so that they predict x: w·z = v·x for v = factors·w. Lengths, R and
        margins are those of z and w.
        """
        self.factors = factors
        self.native.set_factors(factors)
        self.reset_norm()

    def unscaled(self, w: Floats, rows: Any = slice(None)) -> Floats:
        """From rows of `weights` to the weights of z."""
        return w if self.factors is None else w / self.factors[rows, None]

    def norm(self) -> float:
        """‖w‖ with the bias, computed again only after an update."""
        if self._norm is None or self._norm[0] != self.native.updates:
            self._norm = self.native.updates, self._measured()
        return self._norm[1]

    def _measured(self) -> float:
        known = self._known_used()
        return self.native.measure_norm() if known is None else self.native.measure_norm_of(known)

    def tell_used(self, rows: Indices) -> None:
        """Record, until the next update, that only these rows of weights and sums may be nonzero."""
        self._norm = None
        self._used = self.native.updates, rows
        self._measured()

    def _known_used(self) -> Indices | None:
        return None if self._used is None or self._used[0] != self.native.updates else self._used[1]

    def used(self) -> Indices | None:
        """The rows outside which all weights and sums are zero; None: all rows may be nonzero."""
        known = self._known_used()
        if known is not None or not is_large(self.weights):
            return known
        found = used_rows(*(getattr(self, table) for table, _ in self.settings.tables()))
        return found if 2 * len(found) <= len(self.weights) else None

    def square(self) -> Enclosure:
        """‖w‖² with the bias, enclosed; exact if it is a double and there are not too many weights."""
        if is_large(self.weights) and (used := self.used()) is not None:
            w = self.unscaled(self.weights[used], used).ravel()
        else:
            w = self.unscaled(self.weights).ravel()
        if is_large(self.weights):
            w = w[w != 0]
        low, high = enclosed_square(w)
        if self.settings.bias_square:
            least, most = bias_square(self.settings)
            biases = sum((Fraction(b) ** 2 for b in self.bias.tolist() if b), Fraction(0))
            low, high = low + biases / most, high + biases / least
        return low, high

    def upper_square(self) -> Fraction | None:
        """(‖w‖/Στ)², rounded up; w is the sum of the τ·y·x up to its rounding errors.

        None: no step, or, under a rule with variances, no such sum.
        """
        native = self.native
        if self.settings.has_variances or not 0 < native.step_sum < math.inf or not native.drift < math.inf:
            return None
        steps = Fraction(native.step_sum)
        if self.settings.rule not in ("perceptron", "margin"):  # their steps are 1, so the sum is exact
            steps *= 1 - native.updates * UNIT
        high = self.square()[1]
        if native.drift:
            length = root_up(high)
            if length == math.inf:
                return None
            high = (Fraction(length) + Fraction(native.drift)) ** 2
        return high / steps**2

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any], settings: Settings, counts: dict[str, Any]) -> Weights:
        """A learner on the caller's arrays, named as its attributes; `counts` also has `n_classes`."""
        learner = object.__new__(cls)
        learner.__setstate__(arrays | {"settings": settings, "counts": counts})
        return learner

    def counts(self) -> dict[str, Any]:
        return {name: getattr(self.native, name) for name in self.COUNTS}

    def __getstate__(self) -> dict[str, Any]:
        state = {k: v for k, v in vars(self).items() if k not in ("native", "_norm", "_used")}
        return state | {"counts": self.counts()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        counts = state.pop("counts")
        for name, value in state.items():  # copy arrays from a read-only map: learning writes
            frozen = isinstance(value, np.ndarray) and not value.flags.writeable
            setattr(self, name, np.array(value) if frozen else value)
        self._connect()
        for name, value in counts.items():
            setattr(self.native, name, value)

    def copy(self) -> Weights:
        """An independent copy."""
        twin = object.__new__(Weights)
        state = self.__getstate__()
        twin.__setstate__({k: copied(v) if isinstance(v, np.ndarray) else v for k, v in state.items()})
        return twin

    def set_weights(self, coef: Floats, intercept: Floats) -> None:
        """Overwrite the weights from (classes, features) and (classes,) arrays."""
        k = coef.shape[0]
        self.weights[:, :k] = coef.T + 0.0  # no negative zeros, which sparse rows would keep
        self.bias[:k] = intercept + 0.0
        self.reset_norm()

    def reset_norm(self) -> None:
        """Discard the cached norm, after the weights were changed from outside."""
        self._norm = self._used = None
        self.native.measure_norm()

    def grow(self, n_classes: int) -> None:
        """Add classes with zero rows; a shared column becomes −w for the first class, +w for the second."""
        k, counts = self.n_classes, self.counts()
        counts["drift"] *= 1 if k > 2 else 2  # two copies of w
        self.n_classes, used = n_classes, self.used()

        def wider(a: Floats, first: float) -> Floats:
            return np.stack([first * a[..., 0] + 0.0, a[..., 0]], axis=-1) if k == 2 else a[..., :k]

        def widened(a: Floats, first: float) -> Floats:
            if a.ndim == 2 and used is not None:
                return spread((len(a), width(n_classes)), used, wider(a[used], first))
            out = np.zeros((*a.shape[:-1], width(n_classes)))
            out[..., : max(k, 2)] = wider(a, first)
            return out

        for names in self.settings.tables():
            for name in names:  # a confidence is the same for w and −w
                setattr(self, name, widened(getattr(self, name), 1.0 if "confidences" in name else -1.0))
        self._connect()
        for name, value in counts.items():
            setattr(self.native, name, value)

    def turn(self) -> None:
        """Change w to what it would be if the only class so far had been the second of two, not the first."""
        self.native.turn()
        self._norm = self._used = None

    def resize(self, n_features: int) -> None:
        """Change the number of columns: new ones are zero, and removed ones must be zero."""
        counts, used = self.counts(), self.used()
        used = None if used is None else used[: np.searchsorted(used, n_features)]
        for name, _ in self.settings.tables():
            old = getattr(self, name)
            new = zeros((n_features, width(self.n_classes)))
            if used is not None:
                new[used] = old[used]
            else:
                kept = min(len(old), n_features)
                new[:kept] = old[:kept]
            setattr(self, name, new)
        if self.factors is not None:
            more = np.ones(max(n_features - len(self.factors), 0))
            self.factors = np.concatenate([self.factors[:n_features], more])
        self._connect()
        for name, value in counts.items():
            setattr(self.native, name, value)

    def averaged(self) -> tuple[Floats, Floats]:
        """The mean of the weights after each visit: (T·w − u)/T."""
        t = float(self.native.visits)
        if self.weight_sums is None or self.bias_sums is None or not t:
            return self.weights, self.bias
        bias, used = mean_weights(self.bias, self.bias_sums, t), self.used()
        if used is None:
            return mean_weights(self.weights, self.weight_sums, t), bias
        mean = mean_weights(self.weights[used], self.weight_sums[used], t)
        return spread(self.weights.shape, used, mean), bias

    def n_columns(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes

    def coef(self, weights: Floats | None = None) -> Floats:
        """(classes, features), or (1, features) for two classes: a view of the weights."""
        view: Floats = (self.weights if weights is None else weights).T[: self.n_columns()]
        return view

    def intercept(self, bias: Floats | None = None) -> Floats:
        view: Floats = (self.bias if bias is None else bias)[: self.n_columns()]
        return view


def bias_square(settings: Settings) -> Enclosure:
    """c², enclosed; `settings` has the rounded value."""
    square = Fraction(settings.bias_square)
    if Fraction(math.sqrt(settings.bias_square)) ** 2 == square:
        return square, square
    return square * (1 - UNIT), square * (1 + UNIT)


class Scorer:
    """Fixed weights, ready to predict; safe to share between threads."""

    def __init__(self, native: _core.Learner, n_classes: int, weights: Floats, bias: Floats) -> None:
        self.native, self.n_classes = native, n_classes
        self.weights, self.bias = weights, bias  # in a learner's layout

    @classmethod
    def from_learner(cls, learner: Weights) -> Scorer:
        """The learner's last weights, not copied."""
        native = learner.native.view()
        if learner.factors is not None:  # lengths are now those of the rows as they are
            native.set_factors(None)
            native.measure_norm()
        return cls(native, learner.n_classes, learner.weights, learner.bias)

    @classmethod
    def from_weights(cls, coef: Floats, intercept: Floats, used: Indices | None = None) -> Scorer:
        """Any (classes, features) and (classes,) arrays; one row means two classes.

        `used`: the columns outside which all weights are zero.
        """
        n_classes = 2 if coef.shape[0] == 1 else coef.shape[0]
        shape = coef.shape[1], width(n_classes)
        if used is None:
            weights = np.zeros(shape)
            weights[:, : coef.shape[0]] = coef.T
        else:
            weights = spread(shape, used, coef[:, used].T)
        bias = np.zeros(shape[1])
        bias[: coef.shape[0]] = intercept
        return cls.from_table(n_classes, weights, bias, used)

    @classmethod
    def from_table(cls, n_classes: int, weights: Floats, bias: Floats, used: Indices | None = None) -> Scorer:
        """Weights and bias in a learner's layout; `used`: the rows outside which all are zero."""
        native = _core.Learner(n_classes, weights, bias, AS_GIVEN, zero=used is not None)
        if used is not None:
            native.measure_norm_of(used)
        return cls(native, n_classes, weights, bias)

    def predict(self, X: Any, n_jobs: int | None = None) -> Ints:
        """The exact class of each row."""
        out: Ints = np.empty(X.shape[0], dtype=np.int32)
        self._run(_core.predict, X, out, n_jobs)
        return out

    def scores(self, X: Any, n_jobs: int | None = None) -> Floats:
        """Scores whose sign, or argmax, is exact."""
        n = X.shape[0]
        out: Floats = np.empty(n if self.n_classes == 2 else (n, self.n_classes))
        self._run(_core.scores, X, out, n_jobs)
        return out

    def _run(self, loop: Callable[..., tuple[str, int]], X: Any, out: Any, n_jobs: int | None) -> None:
        rows, n = rows_of(X), X.shape[0]
        jobs = threads(n_jobs)
        # A native learner counts its fallbacks, so every thread needs a separate one.
        cuts = np.linspace(0, n, min(jobs, max(n // 1000, 1)) + 1).astype(int).tolist()
        calls = [partial(loop, self.native.view(), rows, *part, out) for part in pairwise(cuts)]
        try:
            for problem, row in results(calls, len(calls)):
                raise_problem(problem, row, X)
        except UnsortedIndices:
            self._run(loop, in_any_order(X), out, n_jobs)


class Model:
    """One learner, or one per class against the rest."""

    def __init__(
        self, n_classes: int, n_features: int, settings: Settings, used: Indices | None = None
    ) -> None:
        self.n_classes, self.n_features, self.settings = n_classes, n_features, settings
        self.apart = settings.multiclass == "ovr" and n_classes > 2
        self.learners = [
            Weights(2 if self.apart else n_classes, n_features, settings, used)
            for _ in range(n_classes if self.apart else 1)
        ]
        self.ledger = Ledger()
        self.last_are_right = False  # with average="auto": the last weights make no error on their rows

    @property
    def averages(self) -> bool:
        """Whether the mean of the weights predicts, and not the last ones."""
        return bool(self.settings.average) and not (self.settings.average == AUTO and self.last_are_right)

    @property
    def from_zero(self) -> bool:
        """Whether w = 0 at the start, which the bounds need."""
        return self.ledger.from_zero

    @property
    def factors(self) -> Floats | None:
        """The powers of two by which columns are multiplied before they are learned; None: all are 1."""
        return self.learners[0].factors

    def fold(self, factors: Floats) -> None:
        """From weights of z, the rows times these factors, to weights of the rows as they are."""
        if (factors == 1).all():
            return
        for learner in self.learners:
            for table in (learner.weights, learner.weight_sums):
                if table is not None:
                    table *= factors[:, None]
        self.set_factors(factors)

    def factor_range(self) -> tuple[float, float] | None:
        """The smallest and the largest factor."""
        return None if self.factors is None else (float(self.factors.min()), float(self.factors.max()))

    def set_factors(self, factors: Floats | None) -> None:
        """Learn rows with these factors: see `Weights.set_factors`."""
        for learner in self.learners:
            learner.set_factors(factors)

    def copy(self) -> Model:
        twin = object.__new__(Model)
        vars(twin).update(vars(self))
        twin.learners = [learner.copy() for learner in self.learners]
        return twin

    def start_from(self, coef: Floats, intercept: Floats) -> None:
        """Set the initial weights to these (classes, features) and (classes,) arrays."""
        from_zero = not (coef.any() or intercept.any())
        self.ledger = self.ledger._replace(from_zero=self.from_zero and from_zero)
        for k, learner in enumerate(self.learners):
            part = slice(k, k + 1) if self.apart else slice(None)
            learner.set_weights(coef[part], intercept[part])

    def grow(self, n_classes: int) -> None:
        """Add unseen classes with zero weights; ties are resolved as for the new number of classes."""
        if self.apart:
            self.learners += [
                Weights(2, self.n_features, self.settings) for _ in range(n_classes - self.n_classes)
            ]
            for learner in self.learners[self.n_classes :]:
                learner.set_factors(self.factors)
                learner.native.visits = self.learners[0].native.visits
        elif self.settings.multiclass == "ovr" and n_classes > 2:
            self._part(n_classes)
        else:
            if self.n_classes == 2 and self.total("updates"):
                self.ledger = self.ledger._replace(grown=True)
            self.learners[0].grow(n_classes)
        self.n_classes = n_classes

    def turn(self) -> None:
        """Make the only class so far the second of two, not the first."""
        self.learners[0].turn()
        if self.ledger.calls:  # its rows were recorded as of the first
            self.ledger = self.ledger._replace(learned=None, last=None, first=None)

    def widen(self, n_features: int) -> None:
        """Make room for at least `n_features` columns, with some to spare: a stream adds columns often."""
        if n_features > self.n_features:
            self.resize(max(n_features, 2 * self.n_features, 1024))

    def resize(self, n_features: int) -> None:
        """Change the number of columns to exactly `n_features`."""
        if n_features != self.n_features:
            for learner in self.learners:
                learner.resize(n_features)
            self.n_features = n_features

    def _part(self, n_classes: int) -> None:
        """From one shared vector to one-vs-rest: −w, +w and zeros."""
        second = self.learners[0]
        first = second.copy()
        for a in (first.weights, first.bias, first.weight_sums, first.bias_sums):
            if a is not None:
                used = first.used() if a.ndim == 2 else None
                rows = slice(None) if used is None else used
                a[rows] = 0.0 - a[rows]
        self.apart, self.learners, self.n_classes = True, [first, second], 2
        self.grow(n_classes)

    def labels(self, labels: Ints, part: int) -> Ints:
        return (labels == part).astype(np.int32) if self.apart else labels

    def total(self, count: str) -> int:
        if len(self.learners) == 1:
            return int(getattr(self.learners[0].native, count))
        return sum(getattr(learner.native, count) for learner in self.learners)

    def norm(self) -> float:
        return math.hypot(*(learner.norm() for learner in self.learners))

    @property
    def moves_two(self) -> bool:
        """Whether an update moves two vectors, so that R is √2 times the largest norm."""
        return self.n_classes > 2 and not self.apart

    def radius(self) -> float:
        """R with the bias, rounded up; times √2 for a joint multiclass model, where two vectors move."""
        if self.moves_two:
            return root_up(self.radius_square()[1])
        return float(max(learner.native.radius for learner in self.learners))

    def radius_square(self) -> Enclosure:
        """R², enclosed."""
        copies = 2 if self.moves_two else 1
        low, high = (
            max(getattr(part.native, n) for part in self.learners) for n in ("square_low", "square_high")
        )
        if not ORDINARY[0] < high < ORDINARY[1]:  # beyond the range of doubles
            radius = max(learner.native.radius for learner in self.learners)
            least, most = (
                Fraction(min(radius, LARGEST)) ** 2,
                BEYOND if radius == math.inf else Fraction(radius) ** 2,
            )
            return copies * least * (1 - 8 * UNIT), copies * most
        return copies * Fraction(low), copies * Fraction(high)

    def upper_square(self) -> Fraction | None:
        """`margin_upper` squared; None: infinite."""
        if not self.from_zero:
            return None
        found = [square for part in self.learners if (square := part.upper_square()) is not None]
        return min(found, default=None)

    def margin_upper(self) -> float:
        """‖w‖/Στ ≥ γ of all training rows, rounded up: the length of a convex combination of their y·x."""
        square = self.upper_square()
        return math.inf if square is None else root_up(square)

    def coef(self, *, averaged: bool) -> tuple[Floats, Floats]:
        """(coef, intercept) of the last or the averaged weights."""
        parts = []
        for learner in self.learners:
            weights, bias = learner.averaged() if averaged else (learner.weights, learner.bias)
            parts.append((learner.coef(weights), learner.intercept(bias)))
        if len(parts) == 1:
            return parts[0]
        return side_by_side([c[0] for c, _ in parts], self.used()), np.concatenate([b for _, b in parts])

    def used(self) -> Indices | None:
        """The features outside which all weights and sums are zero; None if that saves little."""
        rows = [learner.used() for learner in self.learners]
        known = [used for used in rows if used is not None]
        return None if len(known) < len(rows) else np.unique(np.concatenate(known))

    def predictor(self) -> Scorer:
        """A scorer with the weights that predict."""
        return self.scorer(averaged=self.averages)

    def scorer(self, *, averaged: bool) -> Scorer:
        """A scorer with the last or the averaged weights."""
        if len(self.learners) > 1:
            return Scorer.from_weights(*self.coef(averaged=averaged), self.used())
        (learner,) = self.learners
        if averaged and learner.weight_sums is not None and learner.native.visits:
            return Scorer.from_table(learner.n_classes, *learner.averaged(), learner.used())
        return Scorer.from_learner(learner)
