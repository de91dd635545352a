"""The columns of a model: their names, and the mapping from features to columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff import _core

State = tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]  # JSON values, and arrays


class Features(ABC):
    """Columns and their names. A model file keeps their `state`."""

    kind: str
    fixed: bool  # whether no new features get columns, as in an existing model
    n_numbers = 0  # how many of the first columns are number columns of a table
    hashed = False  # whether names share columns, which then have no unique names

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """Columns so far."""

    @property
    def grows(self) -> bool:
        """Whether rows determine the number of columns."""
        return not self.fixed

    @abstractmethod
    def names(self, columns: Iterable[int]) -> list[str]:
        """The names of these columns."""

    @abstractmethod
    def state(self) -> State:
        """Everything from which `from_state` makes an equal object."""

    @classmethod
    @abstractmethod
    def from_state(cls, facts: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Features:
        """The object with this `state`."""


class NumberedFeatures(Features):
    """Columns that are only numbered, as in LIBSVM text; a column's name is its number there."""

    kind = "numbered"

    def __init__(
        self, n_columns: int = 0, *, zero_based: bool = False, fixed: bool = False, strict: bool = False
    ) -> None:
        self._n_columns, self.zero_based = n_columns, zero_based
        self.fixed = fixed  # whether larger indices get no column, as in an existing model
        self.strict = strict  # whether they are an error, because the number of columns was declared

    @property
    def n_columns(self) -> int:
        return self._n_columns

    def widen(self, n_columns: int) -> None:
        """Have at least `n_columns` columns."""
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

    With `hash_bits` there are 2**hash_bits columns, and each is named after the first name hashed to it, or
    ``hash_123`` if there is none. The hash is that of `OnlinePerceptron`.

    Parameters
    ----------
    hash_bits : default None
        None for an exact vocabulary.
    seed : default 0
        The seed of the hash; not used without `hash_bits`.
    fixed : default False
        Whether new names get no column (exact) or are not kept (hashed), as in an existing model.

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

        The reader of a stream requests the names of its blocks in the stream's order, one block at a time.
        Calls from several threads are serialized: a name has one column, whichever thread requests it.
        """
        packed = names if isinstance(names, _core.Names) else _core.Names(names)
        return self._vocabulary.place(packed, not self.fixed)

    def names(self, columns: Iterable[int]) -> list[str]:
        return self._vocabulary.names(np.fromiter(columns, np.int64))

    def kept_names(self) -> list[str]:
        """The names that are kept, in order of appearance (exact) or of their columns (hashed)."""
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
        """The object with this `state`, fixed."""
        bits = facts["hash_bits"]
        features = cls(hash_bits=None if bits is None else int(bits), seed=int(facts["seed"]), fixed=True)
        features._vocabulary.load(arrays["names"], arrays["name_offsets"], arrays.get("name_columns"))
        return features

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (*self.state(), self.fixed)

    def some(self, used: npt.NDArray[np.bool_]) -> NamedFeatures:
        """Fixed features with only the used columns, in their order.

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
    """The unpickled object."""
    features = NamedFeatures.from_state(facts, arrays)
    features.fixed = fixed
    return features
