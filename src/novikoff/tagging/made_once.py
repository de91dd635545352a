"""A cached property without a lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class made_once(Generic[T]):
    """An attribute that is computed at its first use and then kept.

    Concurrent threads may each compute it, but all get the value that was kept. Unlike
    `functools.cached_property` in Python 3.11, it holds no lock, on which a forked child could wait forever.

    >>> class Square:
    ...     @made_once
    ...     def area(self):
    ...         return print("once") or 4
    >>> square = Square()
    >>> square.area, square.area
    once
    (4, 4)
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make, self._name, self.__doc__ = make, make.__name__, make.__doc__

    @overload
    def __get__(self, owner: None, kind: type | None = None) -> made_once[T]: ...
    @overload
    def __get__(self, owner: object, kind: type | None = None) -> T: ...
    def __get__(self, owner: object | None, kind: type | None = None) -> made_once[T] | T:
        if owner is None:
            return self
        made: T = vars(owner).setdefault(self._name, self._make(owner))  # shadows this descriptor from now on
        return made
