"""Names of a package that are resolved when they are first used: importing it costs almost nothing."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any


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
    if not name.startswith("_") and _is_module(f"{package}.{name}"):
        return import_module(f"{package}.{name}")
    listed = vars(owner).get("__all__", ())
    known = f"; it has {', '.join(sorted(listed))}" if listed else ""
    raise AttributeError(f"module {package!r} has no attribute {name!r}{known}")


def _is_module(name: str) -> bool:
    from importlib.util import find_spec  # needed for modules only, which are asked for more rarely

    return find_spec(name) is not None
