"""The columns of a model: what each is called, and where an example's features go."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

State = tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]  # what JSON can say, and arrays


class Features(ABC):
    """Columns and their names. What a model file keeps of it is `state`."""

    kind: str
    n_numbers = 0  # how many of the first columns are number columns of a table

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """Columns so far."""

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

    def __init__(self, n_columns: int = 0, *, zero_based: bool = False, fixed: bool = False) -> None:
        self._n_columns, self.zero_based = n_columns, zero_based
        self.fixed = fixed  # whether a larger index is an error (a declared or an existing model's width)

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

    With `hash_bits` there are 2**hash_bits columns, and each is called after the first name that led to it.
    """

    kind = "named"

    def __init__(self, *, hash_bits: int | None = None, seed: int = 0) -> None:
        self.hash_bits, self.seed = hash_bits, seed
        self.fixed = False  # whether new names get no column
        raise NotImplementedError

    def place(self, names: Any) -> npt.NDArray[np.int64]:
        """The column of each name, −1 where it has none."""
        raise NotImplementedError
