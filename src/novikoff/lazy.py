"""Names of a package that are resolved on first use, so that importing it costs almost nothing.

The public names are listed once, in the stub next to the package (`__init__.pyi`): one line
``from HOME import NAME as NAME`` per name. Type checkers and editors read them there, and so does `attach`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False  # as in typing, which takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any


def attach(package: str) -> None:
    """Give a package or module the names in its stub and, as attributes, its submodules.

    >>> import novikoff
    >>> novikoff.theory.margin is novikoff.proof.geometry.margin
    True
    """
    sys.modules[package].__class__ = _Lazy


class _Lazy(ModuleType):
    def __getattr__(self, name: str) -> Any:
        homes = _homes(self)
        if name == "__all__" and homes:
            return sorted({*homes, *({"__version__"} & vars(self).keys())})
        if name in homes and homes[name] != self.__name__:
            value = getattr(import_module(homes[name]), name)
            setattr(self, name, value)
            return value
        if not name.startswith("_") and "__path__" in vars(self):
            module = f"{self.__name__}.{name}"
            try:
                return import_module(module)
            except ModuleNotFoundError as error:
                if error.name != module:  # it exists, but something that it imports does not
                    raise
        known = f"; it has {', '.join(sorted(homes))}" if homes else ""
        message = f"module {self.__name__!r} has no attribute {name!r}{known}"
        raise AttributeError(message, name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        """An imported module becomes an attribute of its package, but must not hide a name it provides."""
        hides = isinstance(value, ModuleType) and _homes(self).get(name) == value.__name__
        super().__setattr__(name, getattr(value, name) if hides else value)

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *_homes(self)})


_read: dict[str, dict[str, str]] = {}


def _homes(package: ModuleType) -> dict[str, str]:
    """Each name of the package's stub, and the module that it comes from."""
    if package.__name__ not in _read:
        found: dict[str, str] = {}
        spec: Any = package.__spec__
        try:  # through the loader, which may read from an archive
            stub = spec.loader.get_data(f"{spec.origin.rpartition('.')[0]}.pyi").decode()
        except OSError:  # no stub: submodules are the only names
            stub = ""
        for line in stub.splitlines():
            match line.split():
                case ["from", home, "import", name, "as", _]:
                    found[name] = home
        _read[package.__name__] = found
    return _read[package.__name__]
