"""The weights of a chain in training, as plain arrays, and the scorer made from them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff import _core
from novikoff.data.zero_tables import zeros
from novikoff.outward import Enclosure, enclosed_square
from novikoff.tagging.sequences import Floats, Ids, Offsets
from novikoff.training.averaging import mean_weights

Bytes = npt.NDArray[np.uint8]

LANES = 8  # labels are padded to whole vectors


def stride(n_labels: int) -> int:
    return -(-n_labels // LANES) * LANES


@dataclass(frozen=True, eq=False)
class Allowed:
    """Which label may follow which (row: the label before), begin a sentence, and end one: 1 or 0.

    A sentence without any allowed labelling is decoded as if everything were allowed.
    """

    step: Bytes
    start: Bytes
    end: Bytes

    @classmethod
    def everything(cls, n_labels: int) -> Allowed:
        one = np.ones(n_labels, dtype=np.uint8)
        return cls(np.ones((n_labels, n_labels), dtype=np.uint8), one, one.copy())

    def native(self) -> _core.Allowed:
        return _core.Allowed(np.ascontiguousarray(self.step).reshape(-1), self.start, self.end)


@dataclass
class Counts:
    """Counts of all training so far."""

    visits: int = 0  # of sentences
    mistakes: int = 0  # sentences with a wrong label
    updates: int = 0  # mistakes that moved the weights
    wrong_tokens: int = 0
    norm2: float = 0.0  # ‖w‖²
    radius2: float = 0.0  # the largest ‖Φ(x, y) − Φ(x, ŷ)‖² of an update
    largest: float = 0.0  # an upper bound of |w|, element by element
    dropped: int = 0  # updates made after the weights that early stopping kept
    fractional: int = 0  # 1: some feature value was not a whole number, so sums may be rounded


@dataclass(frozen=True, eq=False)
class Pairs:
    """(feature, label) pairs whose weight is or was not 0, ordered by feature.

    `feature` lists, in increasing order, the features (of `n_features`) that have pairs; the pairs of
    ``feature[i]`` are ``at[i]`` up to ``at[i + 1]``. `w` are the last weights; `u` are the sums from which
    the mean is computed, None without averaging.
    """

    n_features: int
    feature: Offsets
    at: Offsets
    label: Ids
    w: Floats
    u: Floats | None


@dataclass(eq=False)
class ChainWeights:
    """Weights of (feature, label) pairs and label bigrams, running sums, counts: all of a run's state.

    A feature gets a row at its first update: `slots[feature]` is its number, 0 if there is none yet. Row 0
    stays zero. Rows are padded to whole vectors of labels. Weights are int32 while every feature value is 1,
    else float64. After N visits with sums u, the mean of the weights after each visit is (N·w − u)/N.
    """

    n_labels: int
    slots: Ids
    rows: int  # given to features so far
    emissions: npt.NDArray[Any]
    transitions: npt.NDArray[Any]
    emission_sums: Floats | None
    transition_sums: Floats | None
    allowed: Allowed
    counts: Counts = field(default_factory=Counts)

    @classmethod
    def zeros(cls, n_features: int, allowed: Allowed, *, average: bool, whole: bool = True) -> ChainWeights:
        n = len(allowed.start)
        kind = np.int32 if whole else np.float64
        shape, square = (n_features + 1, stride(n)), (n, stride(n))
        sums = [zeros(s) if average else None for s in (shape, square)]
        slots = np.zeros(n_features, dtype=np.int32)
        return cls(n, slots, 0, zeros(shape, kind), zeros(square, kind), sums[0], sums[1], allowed)

    @classmethod
    def from_pairs(
        cls,
        pairs: Pairs,
        transitions: Floats,
        sums: Floats | None,
        allowed: Allowed,
        counts: Counts,
        whole: bool | None = None,
    ) -> ChainWeights:
        """The inverse of `pairs` and `bigrams`. `whole`: as int32; None: as int32 if possible."""
        if whole is None:
            whole = bool((pairs.w == np.trunc(pairs.w)).all() and np.abs(pairs.w).max(initial=0) < 2**30)
        made = cls.zeros(pairs.n_features, allowed, average=pairs.u is not None, whole=whole)
        counts_of = np.diff(pairs.at)
        used = pairs.feature[counts_of > 0]
        made.rows = len(used)
        made.slots[used] = np.arange(1, len(used) + 1)
        rows = np.repeat(made.slots[pairs.feature], counts_of)
        made.emissions[rows, pairs.label] = pairs.w
        made.transitions[:, : made.n_labels] = transitions
        if pairs.u is not None and made.emission_sums is not None and made.transition_sums is not None:
            assert sums is not None
            made.emission_sums[rows, pairs.label] = pairs.u
            made.transition_sums[:, : made.n_labels] = sums
        largest = max(float(np.abs(a).max(initial=0)) for a in (pairs.w, transitions))
        made.counts = replace(counts, largest=max(largest, counts.largest))
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Only nonzero entries are sent to other processes."""
        parts = self.pairs(), *self.bigrams(), self.allowed, self.counts, self.whole
        return ChainWeights.from_pairs, parts

    @property
    def whole(self) -> bool:
        return self.emissions.dtype == np.int32

    def copy(self) -> ChainWeights:
        return self.prepared(len(self.slots), self.allowed, whole=True)

    def prepared(self, n_features: int, allowed: Allowed, *, whole: bool) -> ChainWeights:
        """A copy with room for `n_features`, with `allowed`, and with float64 unless `whole`."""
        grown = ChainWeights.zeros(
            n_features, allowed, average=self.emission_sums is not None, whole=whole and self.whole
        )
        grown.rows, used = self.rows, slice(self.rows + 1)
        given = np.flatnonzero(self.slots)  # writing zeros would commit memory
        grown.slots[given] = self.slots[given]
        grown.emissions[used] = self.emissions[used]
        grown.transitions[...] = self.transitions
        if self.emission_sums is not None and grown.emission_sums is not None:
            grown.emission_sums[used] = self.emission_sums[used]
        if self.transition_sums is not None and grown.transition_sums is not None:
            grown.transition_sums[...] = self.transition_sums
        grown.counts = replace(self.counts)
        return grown

    def dense(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """`emissions` or `emission_sums` as an array (features, labels)."""
        return rows[self.slots, : self.n_labels]

    # -- native ------------------------------------------------------------------------------------
    def learner(self) -> _core.TaggerLearner | _core.WholeTaggerLearner:
        """The native learner, which writes into these arrays."""
        kind = _core.WholeTaggerLearner if self.whole else _core.TaggerLearner
        sums = None
        if self.emission_sums is not None and self.transition_sums is not None:
            sums = self.emission_sums, self.transition_sums
        native = kind(self.slots, self.rows, self.emissions, self.transitions, self.allowed.native(), sums)
        for name in _COUNTS:
            setattr(native, name, getattr(self.counts, name))
        return native

    def take_counts(self, native: _core.TaggerLearner | _core.WholeTaggerLearner) -> None:
        self.rows = native.rows
        for name in _COUNTS:
            setattr(self.counts, name, getattr(native, name))

    def pairs(self) -> Pairs:
        return Pairs(*self.learner().pairs())

    def bigrams(self) -> tuple[Floats, Floats | None]:
        """The weights and sums of label bigrams, without padding."""
        sums = None if self.transition_sums is None else self.transition_sums[:, : self.n_labels].copy()
        return self.transitions[:, : self.n_labels].astype(np.float64), sums


_COUNTS = [
    f.name for f in fields(Counts) if f.name not in ("dropped", "fractional")
]  # counted by native code


class Scorer:
    """Decodes with given weights, in float64; the result is the same for any number of threads.

    Weights and scores are multiplied by `scale`: N·w − u is a whole number where w is, but the mean w̄ need
    not be.
    """

    def __init__(
        self, pairs: Pairs, transitions: Floats, sums: Floats | None, allowed: Allowed, visits: int
    ) -> None:
        """Use the mean of the weights if there are sums, else the last ones."""
        w, a, self.scale = pairs.w, transitions, 1.0
        if pairs.u is not None and sums is not None and visits:
            with np.errstate(over="ignore", invalid="ignore"):
                w, a, self.scale = visits * pairs.w - pairs.u, visits * transitions - sums, float(visits)
            if not (np.isfinite(w).all() and np.isfinite(a).all()):  # the mean itself is finite
                w, a = (mean_weights(*both, visits) for both in ((pairs.w, pairs.u), (transitions, sums)))
                self.scale = 1.0
        self.w, self.a, self.pairs, self.allowed = w, a, pairs, allowed
        self.n_labels = len(allowed.start)
        padded = np.zeros((self.n_labels, stride(self.n_labels)))
        padded[:, : self.n_labels] = a
        emissions = _core.Emissions(pairs.n_features, pairs.feature, pairs.at, pairs.label, w)
        self.native = _core.TaggerScorer(emissions, padded, allowed.native())

    def square(self) -> Enclosure:
        """Lower and upper bound of ‖w‖²."""
        low, high = enclosed_square(np.concatenate([np.ravel(self.w), np.ravel(self.a)]).astype(np.float64))
        return low / Fraction(self.scale) ** 2, high / Fraction(self.scale) ** 2
