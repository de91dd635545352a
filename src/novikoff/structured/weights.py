"""The weights of a structured perceptron: by name or by index, like its features.

All features of one problem have the same form, so the weights are either a dict or an array. An update is
fl(w + (Φ(x, y) − Φ(x, z))), element by element.

Averaging is lazy. An update Δ after t visits adds t·Δ to u, together with w += Δ; after T visits the mean of
the weights after each visit is (T·w − u)/T, as everywhere in the project.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from copy import copy
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from novikoff.data.zero_tables import Indices, copied, is_large, spread, used_rows, zeros
from novikoff.outward import UNIT, Enclosure, enclosed_square, root_up
from novikoff.structured.features import Sparse
from novikoff.training.averaging import mean_weights

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SPLITTER = 134217729.0  # 2²⁷ + 1, Veltkamp's
PLAIN_LOW, PLAIN_HIGH = 2.0**-450, 2.0**450  # products of such numbers and their errors are normal numbers
WHOLE = 2.0**53


class Weights(dict[Hashable, float]):
    """The weights for a decoder, read-only: the weight of each feature by name, 0.0 if there is none.

    Examples
    --------
    >>> w = Weights({"dog": 2.0})
    >>> w["dog"], w["cat"], w.dot({"dog": 3, "cat": 1})
    (2.0, 0.0, 6.0)
    """

    __slots__ = ()

    def __missing__(self, name: Hashable) -> float:
        return 0.0

    def dot(self, features: Mapping[Hashable, float]) -> float:
        """Σ weight · value over the features of a dict."""
        return float(sum([self[name] * value for name, value in features.items()]))

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("a decoder may read the weights, but not change them.")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)


class PerturbedWeights(Weights):
    """M·w + v for a random whole-number v, which covers names without a weight, too."""

    __slots__ = ("factor", "seed")
    factor: float
    seed: int

    def __getitem__(self, name: Hashable) -> float:
        return self.factor * dict.get(self, name, 0.0) + _drawn(self.seed, name)

    def get(self, name: Hashable, default: Any = None) -> Any:
        return self[name]

    def __contains__(self, name: object) -> bool:
        return True


LARGEST_DRAWN = 1 << 24  # v is drawn from the whole numbers of at most this size


def _drawn(seed: int, name: Hashable) -> float:
    """The coordinate of v for a name; negative seeds give −v."""
    mixed = hash((abs(seed), name)) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
    value = float((mixed >> 39) - LARGEST_DRAWN)  # of 25 bits
    return value if seed > 0 else -value


# ---- weights under training ------------------------------------------------------------------------
class StructuredWeights(ABC):
    """Abstract: weights, their sums for averaging, and the counts of a run."""

    def __init__(self) -> None:
        self.visits = self.updates = self.mistakes = 0
        self.invalid = 0  # updates at which the decoder's output scored less than the right one
        self.radius = 0.0  # the largest ‖Δ‖ of the updates made
        self.largest_loss = 0.0  # and the largest loss
        self.whole = True  # whether every Δ had only whole numbers
        self.dropped: int | None = 0  # updates made after the restored weights; None: unknown

    @property
    @abstractmethod
    def weights(self) -> Any:
        """The last weights, as a decoder sees them."""

    @abstractmethod
    def averaged(self) -> Any:
        """The mean of the weights after each visit."""

    @abstractmethod
    def difference(self, good: Any, bad: Any, where: str) -> Any:
        """Φ(good) − Φ(bad), from features in normal form, as names or indices and values."""

    @abstractmethod
    def _add(self, keys: Any, values: Floats, where: str) -> None: ...

    @abstractmethod
    def values_at(self, keys: Any) -> Floats:
        """The last weights of some features."""

    @abstractmethod
    def norm(self) -> float:
        """‖w‖ of the last weights."""

    @abstractmethod
    def square(self) -> Enclosure:
        """Lower and upper bound of ‖w‖² of the last weights."""

    @abstractmethod
    def copy(self) -> StructuredWeights: ...

    @abstractmethod
    def _take(self, best: Any) -> None:
        """Take over the weights and sums of another object, and their visits."""

    def restore(self, best: Any) -> None:
        """Restore the weights of an earlier copy. Counts stay, and `dropped` counts the updates undone."""
        self._take(best)
        self.dropped = None if best.dropped is None else self.updates - best.updates + best.dropped

    @abstractmethod
    def perturbed(self, factor: float, seed: int) -> Any:
        """factor·w + v for a decoder, with v drawn from the seed; a negative seed gives −v."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """The number of weights."""

    def update(self, delta: tuple[Any, Floats], loss: float, where: str) -> None:
        """w += Δ; `visits` does not yet count the current visit."""
        keys, values = delta
        self._add(keys, values, where)
        self.updates += 1
        if length(values) >= self.radius * (1 - 2.0**-30):
            self.radius = max(self.radius, root_up(enclosed_square(values)[1]))
        self.largest_loss = max(self.largest_loss, loss)
        self.whole = self.whole and bool((values == np.trunc(values)).all())

    def _moved(
        self, weights: Floats, sums: Floats, values: Floats, keys: Any, where: str
    ) -> tuple[Floats, Floats]:
        """Weights and sums after an update, which must be finite."""
        with np.errstate(over="ignore", invalid="ignore"):
            weights, sums = weights + values, sums + float(self.visits) * values
        finite = np.isfinite(weights) & np.isfinite(sums)
        if not finite.all():
            at = int(np.argmin(finite))
            name = at if isinstance(keys, slice) else keys[at]
            raise OverflowError(
                f"the weight of {name!r} would no longer be finite after features({where}): scale the "
                "features down."
            )
        return weights, sums

    @property
    def margin_upper(self) -> float:
        """‖w‖/Στ ≥ γ, rounded up: w is the sum of the Δ of all updates that were not dropped.

        No Δ is longer than R. So ‖w‖ ≤ k·R for k of them, and the rounding error of w is at most
        k·(k + 3)·u·R.
        """
        k, square = 0 if self.dropped is None else self.updates - self.dropped, self.square()[1]
        if not k:
            return math.inf
        if self.whole and square < 2**104:  # every weight is below 2⁵² and was never rounded
            return root_up(square / k**2)
        return root_up(((Fraction(root_up(square)) + k * (k + 3) * UNIT * Fraction(self.radius)) / k) ** 2)

    def score(self, delta: tuple[Any, Floats]) -> float:
        """w·Δ, correctly rounded."""
        keys, values = delta
        return exact_dot(self.values_at(keys), values)


class NamedWeights(StructuredWeights):
    """Weights by name; new names are added when they occur."""

    def __init__(self) -> None:
        super().__init__()
        self._weights = Weights()
        self.sums: dict[Hashable, float] = {}

    @property
    def weights(self) -> Weights:
        return self._weights

    def averaged(self) -> Weights:
        t = float(max(self.visits, 1))
        last = self.values_at(self._weights)
        sums = np.array([self.sums[name] for name in self._weights], dtype=np.float64)
        return Weights(zip(self._weights, mean_weights(last, sums, t).tolist(), strict=True))

    def difference(self, good: Any, bad: Any, where: str) -> tuple[list[Hashable], Floats]:
        if not (isinstance(good, Mapping) and isinstance(bad, Mapping)):
            raise _mixed(where)
        delta = dict(good)
        for name, value in bad.items():
            delta[name] = delta.get(name, 0.0) - value
        kept = {name: value for name, value in delta.items() if value}
        return list(kept), np.fromiter(kept.values(), dtype=np.float64, count=len(kept))

    def values_at(self, keys: Any) -> Floats:
        weights = self._weights
        return np.array([weights[name] for name in keys], dtype=np.float64)

    def _add(self, keys: Any, values: Floats, where: str) -> None:
        old = np.array([self.sums.get(name, 0.0) for name in keys], dtype=np.float64)
        new, sums = self._moved(self.values_at(keys), old, values, list(keys), where)
        dict.update(self._weights, zip(keys, new.tolist(), strict=True))
        self.sums.update(zip(keys, sums.tolist(), strict=True))

    def norm(self) -> float:
        return length(self._values())

    def square(self) -> Enclosure:
        return enclosed_square(self._values())

    def _values(self) -> Floats:
        return np.fromiter(self._weights.values(), dtype=np.float64, count=len(self._weights))

    def copy(self) -> NamedWeights:
        other = copy(self)
        other._weights, other.sums = Weights(self._weights), dict(self.sums)
        return other

    def _take(self, best: NamedWeights) -> None:
        self._weights, self.sums, self.visits = best._weights, best.sums, best.visits

    def perturbed(self, factor: float, seed: int) -> PerturbedWeights:
        shaken = PerturbedWeights(self._weights)
        shaken.factor, shaken.seed = factor, seed
        return shaken

    @property
    def n_features(self) -> int:
        return len(self._weights)


class ArrayWeights(StructuredWeights):
    """Weights by index, in an array of fixed size.

    `used`: all indices of nonzero entries, if the caller knows them and will write them first.
    """

    def __init__(self, size: int, used: Indices | None = None) -> None:
        super().__init__()
        self.array, self.sums = (zeros((size, 1), used=used)[:, 0] for _ in range(2))
        self._view = _read_only(self.array)
        self._known_used = None if used is None else (0, used)  # valid for this number of updates

    def tell_used(self, used: Indices) -> None:
        """Declare that all other weights and sums are zero, until the next update."""
        self._known_used = self.updates, used

    def used(self) -> Indices | None:
        """Indices outside of which all weights and sums are zero; None if they are too many."""
        if self._known_used is not None and self._known_used[0] == self.updates:
            return self._known_used[1]
        if not is_large(self.array):
            return None
        found = used_rows(self.array[:, None], self.sums[:, None])
        return found if 2 * len(found) <= len(self.array) else None

    def _held(self) -> Floats:
        """The weights that contribute to a norm."""
        if not is_large(self.array):
            return self.array
        used = self.used()
        held: Floats = self.array if used is None else self.array[used]
        nonzero: Floats = held[held != 0]
        return nonzero

    @property
    def weights(self) -> Floats:
        return self._view

    def averaged(self) -> Floats:
        t, used = float(max(self.visits, 1)), self.used()
        if used is None:
            return _read_only(mean_weights(self.array, self.sums, t))
        mean = mean_weights(self.array[used], self.sums[used], t)
        return _read_only(spread((len(self.array), 1), used, mean[:, None])[:, 0])

    def difference(self, good: Any, bad: Any, where: str) -> tuple[Any, Floats]:
        sparse = isinstance(good, Sparse)
        if isinstance(good, Mapping) or isinstance(bad, Mapping) or sparse != isinstance(bad, Sparse):
            raise _mixed(where)
        sizes = [f.size for f in (good, bad)]
        if sizes != [len(self.array)] * 2:
            found = next(size for size in sizes if size != len(self.array))
            raise ValueError(f"features({where}) has {found} places: expected {len(self.array)}, as before.")
        if not sparse:
            return slice(None), good - bad
        places, inverse = np.unique(np.concatenate([good.indices, bad.indices]), return_inverse=True)
        values = np.bincount(inverse, np.concatenate([good.values, -bad.values]), len(places))
        kept = values != 0
        return places[kept], values[kept]

    def values_at(self, keys: Any) -> Floats:
        found: Floats = self.array[keys]
        return found

    def _add(self, keys: Any, values: Floats, where: str) -> None:
        self.array[keys], self.sums[keys] = self._moved(
            self.array[keys], self.sums[keys], values, keys, where
        )

    def norm(self) -> float:
        return length(self._held())

    def square(self) -> Enclosure:
        return enclosed_square(np.ravel(self._held()))

    def copy(self) -> ArrayWeights:
        other = copy(self)
        other.array, other.sums = (copied(a[:, None])[:, 0] for a in (self.array, self.sums))
        other._view = _read_only(other.array)
        return other

    def _take(self, best: ArrayWeights) -> None:
        self.array, self.sums, self._view, self.visits = best.array, best.sums, best._view, best.visits

    def perturbed(self, factor: float, seed: int) -> Floats:
        drawn = np.random.default_rng(abs(seed)).integers(-LARGEST_DRAWN, LARGEST_DRAWN, len(self.array))
        return _read_only(factor * self.array + math.copysign(1.0, seed) * drawn)

    @property
    def n_features(self) -> int:
        return len(self.array)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._view = _read_only(self.array)


def weights_for(features: Any) -> StructuredWeights:
    """Zero weights for features of this form."""
    return NamedWeights() if isinstance(features, Mapping) else ArrayWeights(features.size)


def _read_only(array: Floats) -> Floats:
    view = array.view()
    view.flags.writeable = False
    return view


def _mixed(where: str) -> TypeError:
    return TypeError(
        f"features({where}) does not have the same form as before: always return a dict, always an "
        "array, or always a sparse vector."
    )


# ---- sums -------------------------------------------------------------------------------------------
def length(values: Floats) -> float:
    """‖values‖, even if its square would overflow or underflow."""
    largest = float(np.abs(values).max(initial=0.0))
    if not 1e-100 < largest < 1e100:
        return largest and largest * float(np.linalg.norm(values / largest))
    return math.sqrt(float(np.dot(values, values)))


def exact_dot(a: Floats, b: Floats) -> float:
    """a·b, correctly rounded, so it has the sign of the exact sum.

    >>> exact_dot(np.array([1e16, 1.0, -1e16]), np.array([1.0, 0.1, 1.0]))
    0.1
    """
    with np.errstate(all="ignore"):
        p = a * b
        if float(np.abs(p).sum()) < WHOLE and (p == np.trunc(p)).all() and _products_exact(a, b):
            return float(p.sum())
    sizes = np.abs(np.concatenate([a[a != 0], b[b != 0]]))
    if len(sizes) and (sizes.min() < PLAIN_LOW or sizes.max() > PLAIN_HIGH):
        total = sum(
            (Fraction(u) * Fraction(v) for u, v in zip(a.tolist(), b.tolist(), strict=True)), Fraction(0)
        )
        try:
            rounded = total.numerator / total.denominator
        except OverflowError:
            rounded = math.inf if total > 0 else -math.inf
        return rounded or 5e-324 * ((total > 0) - (total < 0))
    # Dekker's product: p + e is a·b exactly, where e is the rounding error of p.
    ah, al = _halves(a)
    bh, bl = _halves(b)
    e = ((ah * bh - p) + ah * bl + al * bh) + al * bl
    return math.fsum(np.concatenate([p, e]).tolist())


def _products_exact(a: Floats, b: Floats) -> bool:
    return bool((a == np.trunc(a)).all() and (b == np.trunc(b)).all())


def _halves(a: Floats) -> tuple[Floats, Floats]:
    c = SPLITTER * a
    high = c - (c - a)
    return high, a - high
