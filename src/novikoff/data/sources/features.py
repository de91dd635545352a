"""The columns of a model: what each is called, and where an example's features go."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff import _core

State = tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]  # what JSON can say, and arrays


class Features(ABC):
    """Columns and their names. What a model file keeps of it is `state`."""

    kind: str
    fixed: bool  # whether nothing new gets a column: so it is with an existing model's
    n_numbers = 0  # how many of the first columns are number columns of a table
    hashed = False  # whether names share columns, which then have none of their own

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """Columns so far."""

    @property
    def grows(self) -> bool:
        """Whether rows decide how many columns there are."""
        return not self.fixed

    @abstractmethod
    def names(self, columns: Iterable[int]) -> list[str]:
        """What these columns are called."""

    @abstractmethod
    def state(self) -> State:
        """Everything needed to make an equal object by `from_state`."""

    @classmethod
    @abstractmethod
    def from_state(cls, facts: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Features:
        """The object that `state` was taken from."""


class NumberedFeatures(Features):
    """Columns that are only numbered, as in LIBSVM text; a column's name is its number there."""

    kind = "numbered"

    def __init__(
        self, n_columns: int = 0, *, zero_based: bool = False, fixed: bool = False, strict: bool = False
    ) -> None:
        self._n_columns, self.zero_based = n_columns, zero_based
        self.fixed = fixed  # whether a larger index has no column, as with an existing model's
        self.strict = strict  # and whether it is an error, as where the number of columns was declared

    @property
    def n_columns(self) -> int:
        return self._n_columns

    def widen(self, n_columns: int) -> None:
        """Have at least so many columns."""
        self._n_columns = max(self._n_columns, n_columns)

    def names(self, columns: Iterable[int]) -> list[str]:
        first = 0 if self.zero_based else 1
        return [str(int(j) + first) for j in columns]

    def state(self) -> State:
        return {"n_columns": self.n_columns, "zero_based": self.zero_based}, {}

    @classmethod
    def from_state(cls, facts: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> NumberedFeatures:
        return cls(int(facts["n_columns"]), zero_based=bool(facts["zero_based"]), fixed=True)


class NamedFeatures(Features):
    """Columns by name: an exact vocabulary in order of appearance, or the hash of a name.

    With `hash_bits` there are 2**hash_bits columns, and each is called after the first name that led to it,
    or ``hash_123`` when none has. The hash is that of `OnlinePerceptron`.

    Parameters
    ----------
    hash_bits : default None
        None for an exact vocabulary.
    seed : default 0
        Chooses the hash; not used without `hash_bits`.
    fixed : default False
        Whether new names get no column (exact) or are not kept (hashed): so it is with an existing model's.

    Examples
    --------
    >>> features = NamedFeatures()
    >>> features.place(["age", "job=cook", "age"]).tolist()
    [0, 1, 0]
    >>> features.n_columns, features.names([1, 0])
    (2, ['job=cook', 'age'])
    """

    kind = "named"

    def __init__(self, *, hash_bits: int | None = None, seed: int = 0, fixed: bool = False) -> None:
        self.hash_bits, self.seed, self.fixed = hash_bits, seed, fixed
        self.hashed = hash_bits is not None
        self._vocabulary = _core.Vocabulary(hash_bits, seed)

    @property
    def n_columns(self) -> int:
        return self._vocabulary.size

    @property
    def grows(self) -> bool:
        return not self.fixed and self.hash_bits is None

    def place(self, names: _core.Names | Iterable[str]) -> npt.NDArray[np.int64]:
        """The column of each name, −1 where it has none.

        Whoever reads a stream asks for the names of its blocks in the stream's order, one block at a time.
        Calls from several threads follow one another: a name has one column, whoever asks.
        """
        packed = names if isinstance(names, _core.Names) else _core.Names(names)
        return self._vocabulary.place(packed, not self.fixed)

    def names(self, columns: Iterable[int]) -> list[str]:
        return self._vocabulary.names(np.fromiter(columns, np.int64))

    def kept_names(self) -> list[str]:
        """The names that are kept, in the order in which they came to be (exact) or of their columns."""
        _, _, columns = self._vocabulary.state()
        return self.names(range(self.n_columns) if columns is None else columns.tolist())

    def state(self) -> State:
        names, offsets, columns = self._vocabulary.state()
        arrays: dict[str, npt.NDArray[Any]] = {"names": names, "name_offsets": offsets}
        if columns is not None:
            arrays["name_columns"] = columns
        return {"hash_bits": self.hash_bits, "seed": self.seed}, arrays

    @classmethod
    def from_state(cls, facts: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> NamedFeatures:
        """The object that `state` was taken from, fixed."""
        bits = facts["hash_bits"]
        features = cls(hash_bits=None if bits is None else int(bits), seed=int(facts["seed"]), fixed=True)
        features._vocabulary.load(arrays["names"], arrays["name_offsets"], arrays.get("name_columns"))
        return features

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (*self.state(), self.fixed)

    def some(self, used: npt.NDArray[np.bool_]) -> NamedFeatures:
        """Fixed features of which only the used ones are left, in their order.

        >>> features = NamedFeatures()
        >>> _ = features.place(["age", "job=cook", "height"])
        >>> features.some(np.array([True, False, True])).names([0, 1])
        ['age', 'height']
        """
        if self.hash_bits is not None:
            raise ValueError("hashed features share their columns: none can be left out.")
        names, offsets, _ = self._vocabulary.state()
        lengths = np.diff(offsets)
        ends = np.concatenate([[0], np.cumsum(lengths[used])])
        kept = NamedFeatures(fixed=True)
        kept._vocabulary.load(names[np.repeat(used, lengths)], ends, None)
        return kept


def _restored(facts: dict[str, Any], arrays: dict[str, npt.NDArray[Any]], fixed: bool) -> NamedFeatures:
    """What was pickled."""
    features = NamedFeatures.from_state(facts, arrays)
    features.fixed = fixed
    return features
