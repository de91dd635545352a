"""An attribute that is worked out when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class made_once(Generic[T]):
    """An attribute that is worked out when it is first asked for, and kept.

    Threads that ask at once may each work it out; all get the one that was kept. No lock is held meanwhile,
    as `functools.cached_property` holds one in Python 3.11: a child forked then would wait for it forever.

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
        made: T = vars(owner).setdefault(self._name, self._make(owner))  # found there from now on
        return made
