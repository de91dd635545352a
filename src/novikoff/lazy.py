"""What is worked out when it is first used: names of a package, so that importing it is cheap; attributes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


def resolve(package: str, name: str, homes: Mapping[str, str]) -> Any:
    """A name of a package: what its home, a module, has under it, or the package's module of that name.

    >>> import novikoff
    >>> resolve("novikoff", "checker", {}) is novikoff.checker
    True
    """
    owner = sys.modules[package]
    if name in homes:
        value = getattr(import_module(homes[name]), name)
        setattr(owner, name, value)
        return value
    if not name.startswith("_") and "__path__" in vars(owner) and _is_module(f"{package}.{name}"):
        return import_module(f"{package}.{name}")
    listed = vars(owner).get("__all__", ())
    known = f"; it has {', '.join(sorted(listed))}" if listed else ""
    raise AttributeError(f"module {package!r} has no attribute {name!r}{known}")


def _is_module(name: str) -> bool:
    from importlib.util import find_spec  # needed for modules only, which are asked for more rarely

    return find_spec(name) is not None


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
